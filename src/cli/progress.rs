//! Progress of a long command: one line per event on stderr, and a spinner on a terminal. With `--format json`, each event
//! is a line on stdout instead.

use std::future::Future;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use super::diagnostics;
use super::format::Format;
use super::terminal::{escape_control_characters, is_interactive, print_json_line, print_message, trace_width};
use crate::pipeline::{Entry, NodeName};
use crate::report::progress_line;
use crate::tla::DEFAULT_WIDTH;
use crate::toolchain::Progress;

pub(super) struct Display {
    format: Format,
    is_silent: bool,
    bar: Option<ProgressBar>,
    /// Time of the last event.
    last: Mutex<Instant>,
    width: usize,
    check: CheckProgress,
}

/// The last progress report of the checker in the current attempt.
pub(super) type CheckProgress = Arc<Mutex<Option<Progress>>>;

impl Display {
    pub(super) fn new(format: Format) -> Self {
        let bar = (is_interactive() && !diagnostics::are_on()).then(|| {
            let bar = ProgressBar::new_spinner();
            let style = ProgressStyle::with_template("{spinner} {msg} ({elapsed})");
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
            bar
        });
        Self {
            format,
            is_silent: false,
            bar,
            last: Mutex::new(Instant::now()),
            width: trace_width(),
            check: CheckProgress::default(),
        }
    }

    /// Shows nothing: for a run inside a larger command.
    pub(super) fn silent() -> Self {
        let (last, width) = (Mutex::new(Instant::now()), DEFAULT_WIDTH);
        Self { format: Format::Text, is_silent: true, bar: None, last, width, check: CheckProgress::default() }
    }

    /// Whether it shows nothing.
    #[cfg(feature = "shared-store")]
    pub(super) fn is_silent(&self) -> bool {
        self.is_silent
    }

    /// Number of columns for traces and charts.
    pub(super) fn width(&self) -> usize {
        self.width
    }

    /// Prints a line on stderr, above the spinner if there is one.
    pub(super) fn note(&self, text: &str) {
        match &self.bar {
            _ if self.is_silent => {}
            // Suspended, because the spinner would draw over the line.
            Some(bar) => bar.suspend(|| print_message(text)),
            None => print_message(text),
        }
    }

    /// Prints something else, above the spinner if there is one.
    pub(super) fn suspend(&self, print: impl FnOnce()) {
        match &self.bar {
            Some(bar) => bar.suspend(print),
            None => print(),
        }
    }

    /// Sets the text of the spinner.
    fn set_spinner(&self, text: &str) {
        if let Some(bar) = &self.bar {
            bar.enable_steady_tick(Duration::from_millis(120));
            bar.set_message(escape_control_characters(text));
        }
    }

    /// Announces a long step, if there is no spinner to show it.
    pub(super) fn announce(&self, what: &str) {
        self.note_without_spinner(&format!("{what} \u{2026}"));
    }

    /// Prints a line on stderr, if there is no spinner that shows as much.
    pub(super) fn note_without_spinner(&self, text: &str) {
        if self.bar.is_none() && !self.is_silent {
            print_message(text);
        }
    }

    /// Shows the progress of the checker.
    pub(super) fn show_check_progress(&self, p: &Progress) {
        self.set_check(Some(p.clone()));
        self.set_spinner(&format!(
            "model_check, {}: {} states, {} distinct, {} on the queue",
            p.run, p.generated, p.distinct, p.queue
        ));
    }

    /// Where the last progress report of the checker is found, for the live page.
    pub(super) fn check_progress(&self) -> CheckProgress {
        self.check.clone()
    }

    fn set_check(&self, progress: Option<Progress>) {
        if let Ok(mut check) = self.check.lock() {
            *check = progress;
        }
    }

    /// Shows one of several parallel tasks.
    pub(super) fn show_task(&self, what: &str) {
        self.set_spinner(what);
    }

    /// Shows an event after it is durable.
    pub(super) fn show_event(&self, entry: &Entry, folder: &Path) {
        if self.format == Format::Json {
            print_json_line(entry);
        }
        if entry.event.is_attempt_started() {
            self.set_check(None);
            if let Some(bar) = &self.bar {
                // The spinner shows the time of the attempt, not of the run.
                bar.reset_elapsed();
            }
            self.set_spinner(&format!("{} (rev {}, attempt {})", entry.lifeline, entry.rev, entry.attempt));
            if entry.lifeline == NodeName::ModelCheck.name() {
                self.announce(&format!("{:<20}checking", entry.lifeline));
            }
            if entry.lifeline == "mutants" {
                self.announce(&format!("{:<20}judging mutants", entry.lifeline));
            }
        }
        if let Some(line) = progress_line(entry, self.elapsed(), folder) {
            self.note(&line);
        }
        if let Ok(mut last) = self.last.lock() {
            *last = Instant::now();
        }
    }

    /// Seconds since the previous event.
    fn elapsed(&self) -> f64 {
        self.last.lock().map_or(0.0, |at| at.elapsed().as_secs_f64())
    }

    /// Shows how much of a task is done, on the spinner or as a line.
    pub(super) fn show_status(&self, text: &str) {
        match &self.bar {
            Some(_) => self.set_spinner(text),
            None => self.note(text),
        }
    }

    /// How often to call [`Display::show_status`].
    pub(super) fn status_interval(&self) -> Duration {
        if self.bar.is_some() { SPINNER_INTERVAL } else { LINE_INTERVAL }
    }

    /// Removes the spinner.
    pub(super) fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// Interval of status lines.
const LINE_INTERVAL: Duration = Duration::from_secs(10);
/// Interval of updates of the spinner's text.
const SPINNER_INTERVAL: Duration = Duration::from_secs(1);

/// Waits for `work` and calls `status` in this interval.
pub(super) async fn with_status<T>(work: impl Future<Output = T>, interval: Duration, status: impl Fn()) -> T {
    let mut work = std::pin::pin!(work);
    let mut ticks = tokio::time::interval_at(tokio::time::Instant::now() + interval, interval);
    loop {
        tokio::select! {
            done = &mut work => return done,
            _ = ticks.tick() => status(),
        }
    }
}

/// Formats `3 of 7 judged (12.0 s, about 16 s to go)`; the estimate extrapolates the time of the finished parts.
#[expect(clippy::cast_precision_loss, reason = "a handful of parts")]
pub(super) fn format_progress(done: usize, all: usize, what: &str, began: Instant) -> String {
    let took = began.elapsed().as_secs_f64();
    let left = all.saturating_sub(done);
    let estimate = match done {
        _ if left == 0 => String::new(),
        0 => ", no estimate yet".to_owned(),
        done => format!(", about {:.0} s to go", took / done as f64 * left as f64),
    };
    format!("{done} of {all} {what} ({took:.1} s{estimate})")
}
