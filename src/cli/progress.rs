//! What a person sees while a run goes on: one line for each thing that happened, and on a terminal a line that moves.
//! Progress and advice go to stderr, results to stdout; with `--format json` each event is a line on stdout.

use std::future::Future;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use super::diagnostics;
use super::format::Format;
use super::terminal::{escape_control_characters, is_interactive, print_json_line, print_message};
use crate::pipeline::{Entry, NodeName};
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
        let bar = (is_interactive() && !diagnostics::are_on()).then(|| {
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
            Some(bar) => bar.suspend(|| print_message(text)),
            None => print_message(text),
        }
    }

    /// The line that moves.
    fn doing(&self, text: &str) {
        if let Some(bar) = &self.bar {
            bar.enable_steady_tick(Duration::from_millis(120));
            bar.set_message(escape_control_characters(text));
        }
    }

    /// Something that may take long: a line of its own where no line moves.
    pub(super) fn begins(&self, what: &str) {
        if self.bar.is_none() && self.speech == Speech::Aloud {
            print_message(&format!("{what} \u{2026}"));
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
            print_json_line(entry);
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
