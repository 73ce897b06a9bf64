//! What a person sees while a run goes on: one line for each thing that happened, and on a terminal a line that moves.
//! Progress and advice go to stderr, results to stdout; with `--format json` each event is a line on stdout.

use std::future::Future;
use std::io::{IsTerminal, Write};
use std::sync::{Mutex, OnceLock};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use super::args::Format;
use super::provider::without_secrets;
use crate::journal::Event;
use crate::pipeline::{Judged, ObjectiveStep, Station};
use crate::prompt::{escape_invisible_json, show_invisible};
use crate::report::{
    LONGEST_WHY, candidate_event, counted, intervened_words, labelled_words, mutants_sentence, step_words,
};
use crate::tla::{CheckOutcome, DEFAULT_WIDTH, statistics_sentence, verdict_sentence};
use crate::toolchain::Progress;

/// Whether a display says anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Speech {
    Aloud,
    Silent,
}

/// The display of one run.
pub(super) struct Display {
    format: Format,
    speech: Speech,
    bar: Option<ProgressBar>,
    last: Mutex<Instant>,
    width: usize,
}

impl Display {
    pub(super) fn new(format: Format) -> Self {
        let bar = terminal().then(|| {
            let bar = ProgressBar::new_spinner();
            let style = ProgressStyle::with_template("{spinner} {msg} ({elapsed})");
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
            bar
        });
        Self { format, speech: Speech::Aloud, bar, last: Mutex::new(Instant::now()), width: DEFAULT_WIDTH }
    }

    /// One that says nothing: of a run that is a part of something larger.
    pub(super) fn silent() -> Self {
        let (last, width) = (Mutex::new(Instant::now()), DEFAULT_WIDTH);
        Self { format: Format::Text, speech: Speech::Silent, bar: None, last, width }
    }

    /// Columns for tables.
    pub(super) fn width(&self) -> usize {
        self.width
    }

    /// A line of progress or advice.
    pub(super) fn note(&self, text: &str) {
        match &self.bar {
            _ if self.speech == Speech::Silent => {}
            Some(bar) => bar.suspend(|| advice(text)),
            None => advice(text),
        }
    }

    /// The line that moves.
    fn doing(&self, text: &str) {
        if let Some(bar) = &self.bar {
            bar.enable_steady_tick(Duration::from_millis(120));
            bar.set_message(harmless(text));
        }
    }

    /// Something that may take long: a line of its own where no line moves.
    pub(super) fn begins(&self, what: &str) {
        if self.bar.is_none() && self.speech == Speech::Aloud {
            advice(&format!("{what} \u{2026}"));
        }
    }

    /// The checker's own progress.
    pub(super) fn checking(&self, p: &Progress) {
        self.doing(&format!(
            "model_check, {}: {} states, {} distinct, {} on the queue",
            p.run, p.generated, p.distinct, p.queue
        ));
    }

    /// Something of several that go on side by side.
    pub(super) fn working_on(&self, what: &str) {
        self.doing(what);
    }

    /// One durable event.
    pub(super) fn event(&self, event: &Event) {
        if self.format == Format::Json {
            json_line(event);
        }
        if event.name == "attempt_started" {
            if let Some(bar) = &self.bar {
                bar.reset_elapsed();
            }
            self.doing(&format!("{} (rev {}, attempt {})", event.lifeline, event.rev, event.attempt));
            if event.lifeline == Station::ModelCheck.name() {
                self.begins(&format!("{:<20}checking", event.lifeline));
            }
            if event.lifeline == "mutants" {
                self.begins(&format!("{:<20}judging deliberate flaws", event.lifeline));
            }
        }
        if let Some(line) = self.line(event) {
            self.note(&line);
        }
        if let Ok(mut last) = self.last.lock() {
            *last = Instant::now();
        }
    }

    fn line(&self, event: &Event) -> Option<String> {
        let data = &event.data;
        let text = |name: &str| data[name].as_str().unwrap_or("");
        let station = format!("{:<20}", event.lifeline);
        Some(match event.name.as_str() {
            "run_started" => {
                let docs = data["docs"].as_array().map_or(0, Vec::len);
                let skipped = data["skipped"].as_array().map_or(0, Vec::len);
                let skipped = match skipped {
                    0 => String::new(),
                    n => format!(", {} skipped", counted(n, "file")),
                };
                format!("{:<20}{}{skipped}", "run", counted(docs, "document"))
            }
            "branch_started" => {
                let edited = data["edited"].as_array().into_iter().flatten().filter_map(|e| e.as_str());
                let edited: Vec<&str> = edited.collect();
                let with = if edited.is_empty() { String::new() } else { format!(", with your {}", edited.join(", ")) };
                format!("{:<20}branch from rev_{} as rev_{}{with}", "run", data["from"], event.rev)
            }
            "run_resumed" => format!("{:<20}goes on", "run"),
            "request_sent" if data["provider"] == "handoff" => {
                let key = text("purpose");
                let node = data["key"]["node"].as_str().unwrap_or("");
                format!("{station}{key}: waiting for handoff/{:04}-{node}/answer.md", event.seq)
            }
            "request_sent" => return None,
            "answer_received" => {
                let stale = if data["stale"] == true { ", recorded for another wording (stale)" } else { "" };
                format!(
                    "{station}{} answered ({:.1} s{stale})",
                    text("provider"),
                    data["seconds"].as_f64().unwrap_or(0.0)
                )
            }
            "call_failed" => format!("{station}{}", failed(data)),
            "model_switched" => format!("{station}asking {} instead", text("to")),
            "left_out" => format!("{station}asking without {}: {}", text("part"), one_line(text("said"))),
            "read_refused" => format!("{station}read refused: {}", one_line(text("path"))),
            "tool_finished" => {
                let first = &data["diagnostics"][0];
                let what = match (data["accepted"] == true, first["message"].as_str()) {
                    (true, _) => "accepted".to_owned(),
                    (false, Some(message)) => format!("rejected: line {}: {}", first["line"], one_line(message)),
                    (false, None) => "rejected".to_owned(),
                };
                format!("{station}{}: {what} ({:.1} s)", text("tool"), self.elapsed())
            }
            "check_finished" => match serde_json::from_value::<CheckOutcome>(data["outcome"].clone()) {
                Ok(outcome) => format!(
                    "{station}{}\n{:<20}{}",
                    one_line(&verdict_sentence(&outcome)),
                    "",
                    statistics_sentence(&outcome.statistics)
                ),
                Err(_) => format!("{station}check finished"),
            },
            "candidate_finished" | "candidate_given_up" | "leaders_named" | "candidate_chosen" => {
                format!("{station}{}", one_line(&candidate_event(&event.name, data)))
            }
            "mutants_judged" => match serde_json::from_value::<Judged>(data.clone()) {
                Ok(Judged { unfit: Some(why), .. }) => format!("{station}not judged: {}", one_line(&why)),
                Ok(judged) => format!("{station}{}", mutants_sentence(&judged)),
                Err(_) => format!("{station}judged"),
            },
            "routed" => {
                let row = text("row");
                let why = text("why");
                let plain =
                    ["informal_answered", "formalize_answered", "validated", "merged", "checked", "mutants_due"]
                        .contains(&row);
                if plain {
                    return None;
                }
                let why = if why.is_empty() { String::new() } else { format!(": {}", cut(why, LONGEST_WHY)) };
                format!("{station}-> {}{why}", text("to"))
            }
            "labelled" => format!("{station}{}", labelled_words(data)),
            "predicted" => format!("{station}predicted to be violated: {}", one_line(&data["estimates"].to_string())),
            "intervened" => {
                format!("{station}{}", one_line(&intervened_words(&serde_json::from_value(data.clone()).ok()?)))
            }
            "rule_violated" => format!(
                "{:<20}rule {} is violated by event {} [{}]: {}",
                "policy",
                text("rule"),
                data["culprit"],
                text("severity"),
                one_line(data["description"].as_str().unwrap_or(text("means")))
            ),
            "revision_closed" => {
                let step = serde_json::from_value::<ObjectiveStep>(data["objective"].clone());
                let step = step.map_or_else(|_| String::new(), |s| format!("; objective: {}", step_words(&s.step)));
                format!("{:<20}rev_{} written to history/{step}", "run", event.rev)
            }
            "run_finished" if data["outcome"] == "stopped" => format!("{:<20}stopped: {}", "run", text("why")),
            _ => return None,
        })
    }

    /// Seconds since the event before.
    fn elapsed(&self) -> f64 {
        self.last.lock().map_or(0.0, |at| at.elapsed().as_secs_f64())
    }

    /// How far something of several parts is: the moving line, or a line of its own.
    pub(super) fn status(&self, text: &str) {
        match &self.bar {
            Some(_) => self.doing(text),
            None => self.note(text),
        }
    }

    /// Takes the moving line away.
    pub(super) fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// How often a long command says how far it is.
const STATUS_EVERY: Duration = Duration::from_secs(10);

/// Waits for some work and calls `status` now and then.
pub(super) async fn with_status<T>(work: impl Future<Output = T>, status: impl Fn()) -> T {
    let mut work = std::pin::pin!(work);
    let mut ticks = tokio::time::interval_at(tokio::time::Instant::now() + STATUS_EVERY, STATUS_EVERY);
    loop {
        tokio::select! {
            done = &mut work => return done,
            _ = ticks.tick() => status(),
        }
    }
}

/// `3 of 7 judged (12.0 s, about 16 s to go)`: an estimate from the time that the finished parts took.
#[expect(clippy::cast_precision_loss, reason = "a handful of parts")]
pub(super) fn so_far(done: usize, all: usize, what: &str, began: Instant) -> String {
    let took = began.elapsed().as_secs_f64();
    let left = all.saturating_sub(done);
    let estimate = match done {
        _ if left == 0 => String::new(),
        0 => ", no estimate yet".to_owned(),
        done => format!(", about {:.0} s to go", took / done as f64 * left as f64),
    };
    format!("{done} of {all} {what} ({took:.1} s{estimate})")
}

/// Whether somebody watches.
pub(super) fn terminal() -> bool {
    std::io::stderr().is_terminal() && std::env::var_os("CI").is_none()
}

/// Why a part of the result could not be written. The process has one stdout, so this is one for the process.
static LOST: OnceLock<String> = OnceLock::new();

/// Why a part of the result is missing on stdout; `None` where all was written.
pub(super) fn lost() -> Option<&'static str> {
    LOST.get().map(String::as_str)
}

/// Writes to stdout as it stands. A reader that went away is no error; what else goes wrong is kept for the end.
pub(super) fn write_out(bytes: &[u8]) {
    let mut out = std::io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => _ = LOST.set(error.to_string()),
        _ => {}
    }
}

/// A result for a person.
pub(super) fn result(text: &str) {
    write_out(harmless(text).as_bytes());
}

/// A result for a program: one line.
pub(super) fn json_line(value: &impl serde::Serialize) {
    let line = serde_json::to_string(value).unwrap_or_default();
    write_out(format!("{}\n", escape_invisible_json(&line)).as_bytes());
}

/// Documents and models may hold control characters that move a terminal's cursor or change its colours, and invisible
/// ones that show another text than a tool reads.
fn harmless(text: &str) -> String {
    let text = show_invisible(text);
    text.chars().map(|c| if c.is_control() && c != '\n' && c != '\t' { '\u{fffd}' } else { c }).collect()
}

/// A line of progress or advice on stderr. A reader that went away is no error there either: a run that is cut short by
/// a closed pipe would lose its end.
pub(super) fn advice(line: &str) {
    let mut err = std::io::stderr().lock();
    let _ = writeln!(err, "{}", harmless(&without_secrets(line)));
}

/// A try that failed, and when it is made again.
fn failed(data: &serde_json::Value) -> String {
    let then = match data["wait_seconds"].as_f64() {
        Some(wait) => format!("again in {wait:.0} s"),
        None => "not tried again".to_owned(),
    };
    let message = data["message"].as_str().unwrap_or_default();
    format!("call {} failed: {}; {then}", data["attempt"], one_line(message))
}

/// The first 160 characters on one line.
fn one_line(text: &str) -> String {
    cut(text, 160)
}

fn cut(text: &str, longest: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let short: String = line.chars().take(longest).collect();
    if short.len() < line.len() { format!("{short}…") } else { line }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_of_a_document_never_reach_the_terminal() {
        assert_eq!(harmless("a\tb\nR1 \u{1b}[31mred\u{7} \u{9b}2J"), "a\tb\nR1 \u{fffd}[31mred\u{fffd} \u{fffd}2J");
        assert_eq!(harmless("n \u{202e}txet\u{2066} in\u{200b}visible"), "n <U+202E>txet<U+2066> in<U+200B>visible");
    }
}
