//! Diagnostics on stderr, enabled by `-v` or `TLAFORGE_LOG`.
//!
//! Lower layers emit events with `tracing`. Only this file decides which events are shown and where; it removes keys from
//! every line.

use std::io::{self, Write};
use std::sync::OnceLock;

use clap::{ArgAction, Args as ClapArgs};
use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt;
use tracing_subscriber::layer::{Layer as _, SubscriberExt as _};
use tracing_subscriber::util::SubscriberInitExt as _;

use super::environment::nonempty_variable;
use super::failure::Failure;
use super::format::value_names;
use super::secrets::scrub_secrets;
use super::telemetry;
use super::terminal::{Color, print_message};
use crate::exit::Exit;

/// After the flags of the command itself; clap would show a global flag among the first.
const LAST: usize = 1_000;

/// Flags of every command.
#[derive(Debug, Clone, Copy, ClapArgs)]
pub struct DiagnosticsArgs {
    /// Print diagnostics on stderr: -v shows tools, model calls, retries and routes, -vv also arguments, settings and
    /// journal writes [default: off] [env: `TLAFORGE_LOG`, a level such as `debug`; `trace` also shows prompts and answers].
    #[arg(short, long, global = true, action = ArgAction::Count, display_order = LAST)]
    verbose: u8,
    /// Colour the output: `auto` colours terminals unless `NO_COLOR` is set [default: auto].
    #[arg(
        long,
        global = true,
        value_enum,
        default_value = "auto",
        hide_default_value = true,
        hide_possible_values = true,
        value_name = value_names::<Color>(),
        display_order = LAST
    )]
    color: Color,
}

/// Sets the levels, unless `-v` is given.
const LOG_VARIABLE: &str = "TLAFORGE_LOG";
/// The target of a level without a target.
const DEFAULT_TARGET: &str = "tlaforge";
const EXAMPLE: &str = "write off, error, warn, info, debug or trace, or a level for a part of the program, like \
                       info,tlaforge_llm=trace; unset it for no diagnostics";

/// The most detailed level that is shown.
static LEVEL: OnceLock<LevelFilter> = OnceLock::new();

/// Whether diagnostics are shown; they would break up a spinner.
pub(super) fn are_on() -> bool {
    LEVEL.get().is_some_and(|level| *level != LevelFilter::OFF)
}

/// Enables diagnostics according to the flag and the environment, and telemetry. Called once, before any command.
pub(super) fn start(args: DiagnosticsArgs) -> Result<(), Failure> {
    args.color.apply();
    let targets = match (args.verbose, nonempty_variable(LOG_VARIABLE)) {
        (0, None) => None,
        (0, Some(filter)) => Some(parse_targets(&filter)?),
        (1, _) => Some(Targets::new().with_target(DEFAULT_TARGET, LevelFilter::INFO)),
        // No flag enables `trace`, because it shows prompts and answers.
        (_, _) => Some(Targets::new().with_target(DEFAULT_TARGET, LevelFilter::DEBUG)),
    };
    let shown = targets.map(|targets| {
        let most = targets.iter().map(|(_, level)| level).max();
        let _ = LEVEL.set(most.unwrap_or(LevelFilter::OFF));
        fmt::layer().with_writer(|| Scrubbing).with_filter(targets).boxed()
    });
    let layers: Vec<telemetry::BoxedLayer> = shown.into_iter().chain(telemetry::start()).collect();
    if layers.is_empty() {
        return Ok(());
    }
    tracing_subscriber::registry()
        .with(layers)
        .try_init()
        .map_err(|e| Failure::new(Exit::Defect, format!("cannot start the diagnostics: {e}")))
}

/// Parses a list of `LEVEL` and `TARGET=LEVEL`. The parser of `Targets` would read a misspelled level as a target.
fn parse_targets(filter: &str) -> Result<Targets, Failure> {
    let mut targets = Targets::new();
    for part in filter.split(',').map(str::trim).filter(|part| !part.is_empty()) {
        let (target, level) = part.split_once('=').unwrap_or((DEFAULT_TARGET, part));
        let level: LevelFilter = level.trim().parse().map_err(|_| {
            Failure::usage(format!("{LOG_VARIABLE} is {filter:?}, and {:?} is not a level", level.trim())).hint(EXAMPLE)
        })?;
        if target.trim().is_empty() {
            return Err(
                Failure::usage(format!("{LOG_VARIABLE} is {filter:?}, and {part:?} names no target")).hint(EXAMPLE)
            );
        }
        targets = targets.with_target(target.trim(), level);
    }
    Ok(targets)
}

/// Writes a formatted event to stderr as one line without keys. The formatter passes each event in a single write.
struct Scrubbing;

impl Write for Scrubbing {
    fn write(&mut self, event: &[u8]) -> io::Result<usize> {
        // One line for each event, whatever a server puts into its messages.
        let line = String::from_utf8_lossy(event).trim_end().replace('\n', " ");
        print_message(&scrub_secrets(&line));
        Ok(event.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_without_a_target_applies_to_this_program() {
        for (filter, on, off) in [
            ("debug", ("tlaforge_llm", tracing::Level::DEBUG), ("h2", tracing::Level::ERROR)),
            ("INFO", ("tlaforge", tracing::Level::INFO), ("tlaforge", tracing::Level::DEBUG)),
            ("warn, tlaforge_llm=trace", ("tlaforge_llm", tracing::Level::TRACE), ("tlaforge", tracing::Level::INFO)),
            ("off,h2=debug", ("h2::codec", tracing::Level::DEBUG), ("tlaforge", tracing::Level::ERROR)),
        ] {
            let targets = parse_targets(filter).expect("a filter");
            assert!(targets.would_enable(on.0, &on.1) && !targets.would_enable(off.0, &off.1), "{filter}");
        }
    }

    #[test]
    fn an_invalid_filter_is_refused_and_names_the_invalid_part() {
        for (filter, part) in [
            ("inof", "inof"),
            ("debug,tlaforge_llm=loud", "loud"),
            ("=debug", "=debug"),
            ("tlaforge_llm", "tlaforge_llm"),
        ] {
            let failure = parse_targets(filter).expect_err(filter);
            assert_eq!(failure.exit, Exit::Usage);
            assert!(failure.message.contains(&format!("{part:?}")), "{}", failure.message);
            assert!(!failure.hints.is_empty());
        }
    }
}
