//! What a person sees while a run goes on: one line for each thing that happened, and on a terminal a line that moves.
//! Progress and advice go to stderr, results to stdout; with `--format json` each event is a line on stdout.

use std::future::Future;
use std::io::{IsTerminal, Write};
use std::sync::{Mutex, OnceLock};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use super::args::Format;
use super::diagnostics;
use super::provider::without_secrets;
use crate::pipeline::{Entry, NodeName};
use crate::prompt::{escape_invisible_json, show_invisible};
use crate::report::progress_line;
use crate::tla::DEFAULT_WIDTH;
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
        let bar = (terminal() && !diagnostics::are_on()).then(|| {
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
    pub(super) fn event(&self, entry: &Entry) {
        if self.format == Format::Json {
            json_line(entry);
        }
        if entry.event.is_attempt_started() {
            if let Some(bar) = &self.bar {
                bar.reset_elapsed();
            }
            self.doing(&format!("{} (rev {}, attempt {})", entry.lifeline, entry.rev, entry.attempt));
            if entry.lifeline == NodeName::ModelCheck.name() {
                self.begins(&format!("{:<20}checking", entry.lifeline));
            }
            if entry.lifeline == "mutants" {
                self.begins(&format!("{:<20}judging deliberate flaws", entry.lifeline));
            }
        }
        if let Some(line) = progress_line(entry, self.elapsed()) {
            self.note(&line);
        }
        if let Ok(mut last) = self.last.lock() {
            *last = Instant::now();
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_of_a_document_never_reach_the_terminal() {
        assert_eq!(harmless("a\tb\nR1 \u{1b}[31mred\u{7} \u{9b}2J"), "a\tb\nR1 \u{fffd}[31mred\u{fffd} \u{fffd}2J");
        assert_eq!(harmless("n \u{202e}txet\u{2066} in\u{200b}visible"), "n <U+202E>txet<U+2066> in<U+200B>visible");
    }
}
