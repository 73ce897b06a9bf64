//! Writes to stdout and stderr. Results go to stdout, messages to stderr.

use std::io::{IsTerminal, Write};
use std::sync::OnceLock;

use super::failure::Failure;
use super::secrets::{hide_secrets, scrub_secrets};
use crate::prompt::{escape_invisible_json, show_invisible};

/// Whether somebody watches.
pub(super) fn is_interactive() -> bool {
    std::io::stderr().is_terminal() && std::env::var_os("CI").is_none()
}

/// Why a part of the result could not be written. The process has one stdout, so this is one for the process.
static LOST: OnceLock<String> = OnceLock::new();

/// Why a part of the result is missing on stdout; `None` where all was written.
pub(super) fn stdout_error() -> Option<&'static str> {
    LOST.get().map(String::as_str)
}

/// Writes to stdout as it stands. A reader that went away is no error; what else goes wrong is kept for the end.
pub(super) fn write_stdout(bytes: &[u8]) {
    let mut out = std::io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => _ = LOST.set(error.to_string()),
        _ => {}
    }
}

/// A result for a person.
pub(super) fn print_result(text: &str) {
    write_stdout(escape_control_characters(text).as_bytes());
}

/// A result for a program: one line.
pub(super) fn print_json_line(value: &impl serde::Serialize) {
    let line = serde_json::to_string(value).unwrap_or_default();
    write_stdout(format!("{}\n", escape_invisible_json(&line)).as_bytes());
}

/// Documents and models may hold control characters that move a terminal's cursor or change its colours, and invisible
/// ones that show another text than a tool reads.
pub(super) fn escape_control_characters(text: &str) -> String {
    let text = show_invisible(text);
    text.chars().map(|c| if c.is_control() && c != '\n' && c != '\t' { '\u{fffd}' } else { c }).collect()
}

/// A line of progress or advice on stderr. A reader that went away is no error there either: a run that is cut short by
/// a closed pipe would lose its end.
pub(super) fn print_message(line: &str) {
    let mut err = std::io::stderr().lock();
    let _ = writeln!(err, "{}", escape_control_characters(&hide_secrets(line)));
}

/// Prints an error and its hints on stderr.
pub(super) fn print_failure(failure: &Failure) {
    print_message(&format!("error: {}", scrub_secrets(&failure.message)));
    for hint in &failure.hints {
        print_message(&format!("hint: {hint}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
