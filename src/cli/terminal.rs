//! Writes to stdout and stderr: results to stdout, messages to stderr. Everything for reading passes through here, so that
//! keys and control characters never reach the terminal.

use std::borrow::Cow;
use std::io::{IsTerminal, Write};
use std::sync::OnceLock;

use anstream::{AutoStream, ColorChoice};

use clap::ValueEnum;

use super::secrets::hide_secrets;
use crate::prompt::{escape_invisible_json, show_invisible};
use crate::tla::{DEFAULT_WIDTH, UNLIMITED_WIDTH};

/// Whether stderr is a terminal outside of CI, so that a progress bar makes sense.
pub fn is_interactive() -> bool {
    std::io::stderr().is_terminal() && std::env::var_os("CI").is_none()
}

/// Width of traces in columns, if a flag gives it; a static because the process has one stdout.
static WIDTH: OnceLock<usize> = OnceLock::new();

/// Sets the width of traces for this process.
pub(super) fn set_trace_width(width: usize) {
    let _ = WIDTH.set(width);
}

/// Width of traces in columns: that of the terminal, or without limit if the result goes elsewhere.
pub(super) fn trace_width() -> usize {
    let stdout = std::io::stdout();
    let of_terminal = || {
        let columns = rustix::termios::tcgetwinsize(&stdout).map_or(0, |size| usize::from(size.ws_col));
        if columns == 0 { DEFAULT_WIDTH } else { columns }
    };
    match WIDTH.get() {
        Some(width) => *width,
        None if stdout.is_terminal() => of_terminal(),
        None => UNLIMITED_WIDTH,
    }
}

/// When to write colours.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum Color {
    /// To terminals, unless `NO_COLOR` is set.
    #[default]
    Auto,
    /// To files and pipes as well.
    Always,
    /// Nowhere.
    Never,
}

impl Color {
    /// Sets it for this process.
    pub(super) fn apply(self) {
        match self {
            Self::Auto => ColorChoice::Auto,
            Self::Always => ColorChoice::Always,
            Self::Never => ColorChoice::Never,
        }
        .write_global();
    }
}

/// Whether to write colours to a stream: only to a terminal, and not with `NO_COLOR` (as `--help` does), unless a flag says
/// otherwise.
pub(super) fn is_colored(stream: &impl anstream::stream::RawStream) -> bool {
    AutoStream::choice(stream) != ColorChoice::Never
}

/// The first error of a write to stdout; a static because the process has one stdout.
static STDOUT_ERROR: OnceLock<String> = OnceLock::new();

/// Why a part of the result is missing on stdout; `None` if everything was written.
pub(super) fn stdout_error() -> Option<&'static str> {
    STDOUT_ERROR.get().map(String::as_str)
}

/// Writes bytes to stdout unchanged. A closed pipe is not an error; other errors are reported when the program ends.
pub(super) fn write_stdout(bytes: &[u8]) {
    let mut out = std::io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => _ = STDOUT_ERROR.set(error.to_string()),
        _ => {}
    }
}

/// Prints a result for reading.
pub fn print_result(text: &str) {
    write_stdout(escape_control_characters(text).as_bytes());
}

/// Prints commands for GitHub Actions, one a line, in which every inserted text is escaped already.
pub(super) fn print_workflow_commands(text: &str) {
    write_stdout(replace_control_characters(text).as_bytes());
}

/// Prints a result for programs, as one line.
pub fn print_json_line(value: &impl serde::Serialize) {
    let line = serde_json::to_string(value).unwrap_or_default();
    write_stdout(format!("{}\n", escape_json(&line)).as_bytes());
}

/// JSON whose strings have no effect on a terminal or a build server, which would take `##[` for a command wherever it is in a
/// line. Its values stay the same: all of these occur only in strings.
fn escape_json(json: &str) -> String {
    let json = escape_invisible_json(json).replace("##[", "#\\u0023[").replace("##vso[", "#\\u0023vso[");
    // `serde_json` escapes the control characters below the blank.
    let escaped = |c: char| if c.is_control() { format!("\\u{:04x}", u32::from(c)) } else { c.to_string() };
    if json.contains(char::is_control) { json.chars().map(escaped).collect() } else { json }
}

/// Makes a text safe to write: replaces control characters, writes out invisible ones, and escapes commands for build
/// servers. All of these can come from documents, models and file names.
pub(super) fn escape_control_characters(text: &str) -> String {
    escape_commands(&replace_control_characters(text)).into_owned()
}

/// Escapes commands for build servers with a backslash. GitHub Actions executes a line of the log that begins with `::`, also
/// after blanks, or has `##[` anywhere; Azure Pipelines executes a line that has `##vso[`.
fn escape_commands(text: &str) -> Cow<'_, str> {
    if !text.contains("::") && !text.contains("##") {
        return Cow::Borrowed(text);
    }
    let disarm = |line: &str| {
        let line = line.replace("##[", "#\\#[").replace("##vso[", "#\\#vso[");
        let start = line.len() - line.trim_start().len();
        if line[start..].starts_with("::") { format!("{}\\{}", &line[..start], &line[start..]) } else { line }
    };
    Cow::Owned(text.split_inclusive('\n').map(disarm).collect())
}

/// Replaces control characters, which could move the cursor or change colours, and writes out invisible characters, which
/// make a text look different from what tools read.
fn replace_control_characters(text: &str) -> String {
    let text = show_invisible(text);
    text.chars().map(|c| if c.is_control() && c != '\n' && c != '\t' { '\u{fffd}' } else { c }).collect()
}

/// Writes a text with our own colours, whose parts are escaped already, to stdout.
pub(super) fn print_painted(text: &str) {
    write_stdout(escape_commands(text).as_bytes());
}

/// Writes a text with our own colours, whose parts are escaped already, to stderr. A closed pipe is not an error, as below.
pub(super) fn write_stderr(text: &str) {
    let _ = std::io::stderr().lock().write_all(escape_commands(text).as_bytes());
}

/// Prints a message on stderr. A closed pipe is not an error: it must not stop a run before its end.
pub fn print_message(message: &str) {
    let mut err = std::io::stderr().lock();
    let _ = writeln!(err, "{}", escape_control_characters(&indent_continuation(&hide_secrets(message))));
}

/// A message whose further lines begin with a blank: a line break in the name of a file, or in the words of a server, must
/// not begin a line that looks like one of ours.
fn indent_continuation(message: &str) -> String {
    let mut lines = message.split('\n');
    let first = lines.next().unwrap_or_default().to_owned();
    lines.fold(first, |text, line| {
        let indent = if line.is_empty() || line.starts_with([' ', '\t']) { "" } else { "  " };
        text + "\n" + indent + line
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_keeps_its_value_and_has_no_effect() {
        let value = serde_json::json!({"##[a": "##vso[b]\u{9b}2J\u{7f}\u{1b}\u{202e}\n::error::x \u{e4}"});
        let json = escape_json(&value.to_string());
        assert!(!json.contains(char::is_control) && !json.contains("##") && !json.contains('\u{202e}'), "{json}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&json).unwrap(), value);
    }

    #[test]
    fn no_line_is_a_command_for_a_build_server() {
        for (text, expected) in [
            ("x\n::error file=a::b\n", "x\n\\::error file=a::b\n"),
            ("::stop-commands::x", "\\::stop-commands::x"),
            ("a\n \t ::add-mask::b", "a\n \t \\::add-mask::b"),
            ("a ##[error]b ##[group]", "a #\\#[error]b #\\#[group]"),
            ("a\n##vso[task.complete result=Failed;]", "a\n#\\#vso[task.complete result=Failed;]"),
            ("###[x]", "##\\#[x]"),
            // The characters before it are removed, but the line break stays one.
            ("a\r::error::b", "a\u{fffd}::error::b"),
            ("a\u{2028}::error::b", "a<U+2028>::error::b"),
            // Nothing to do.
            ("Spec::Inv, a :: b, ## Heading, #[x]\n", "Spec::Inv, a :: b, ## Heading, #[x]\n"),
        ] {
            assert_eq!(escape_control_characters(text), expected);
        }
        // No form feed or other blank before it hides it.
        for blank in (0..=0x3000).filter_map(char::from_u32).filter(|c| c.is_whitespace() || c.is_control()) {
            let shown = escape_control_characters(&format!("a\n{blank}::error::b"));
            let last = shown.lines().last().unwrap().trim_start();
            assert!(!last.starts_with("::"), "{blank:?}: {shown:?}");
        }
    }

    #[test]
    fn control_characters_of_a_document_never_reach_the_terminal() {
        assert_eq!(
            escape_control_characters("a\tb\nR1 \u{1b}[31mred\u{7} \u{9b}2J"),
            "a\tb\nR1 \u{fffd}[31mred\u{fffd} \u{fffd}2J"
        );
        assert_eq!(
            escape_control_characters("n \u{202e}txet\u{2066} in\u{200b}visible"),
            "n <U+202E>txet<U+2066> in<U+200B>visible"
        );
    }
}
