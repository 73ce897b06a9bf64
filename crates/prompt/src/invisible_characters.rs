//! Makes invisible characters visible: bidirectional controls, zero-width and tag characters. A document or a model can use
//! them so that a person sees a different text than a tool reads. It also finds control characters, such as NUL, which many
//! servers refuse in a request: such a text could never be shown to a model again.

use std::borrow::Cow;
use std::fmt::Write as _;

use super::problem::Problem;

/// Whether a character is a control character that no text needs. Tabs and line ends are none of these.
fn is_control(c: char) -> bool {
    matches!(c, '\0'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' | '\u{7f}')
}

/// A text with its control characters written out, such as `<U+0000>`, so that every server accepts it in a request.
pub fn show_control(text: &str) -> Cow<'_, str> {
    write_out(text, is_control)
}

/// Checks that a text of a model has no control character, and no byte-order mark inside.
///
/// # Errors
///
/// The first such character, with its line and column.
pub fn refuse_control(text: &str) -> Result<(), Problem> {
    let found = text.lines().enumerate().find_map(|(line, text)| {
        let (at, (byte, c)) = text.char_indices().enumerate().find(|(_, (_, c))| is_control(*c) || *c == '\u{feff}')?;
        let before: String = text[..byte].chars().rev().take(30).collect::<Vec<_>>().into_iter().rev().collect();
        Some((line + 1, at + 1, c, before))
    });
    let Some((line, column, c, before)) = found else { return Ok(()) };
    let after = if before.trim().is_empty() { String::new() } else { format!(", after {:?}", before.trim_start()) };
    Err(Problem::new(format!(
        "the answer has the control character U+{:04X} in line {line}, column {column}{after}; leave it out, or write it in \
         words if it is meant",
        u32::from(c)
    )))
}

/// Whether a character is invisible or reorders its neighbours. A zero-width joiner counts even in scripts that need it.
pub(super) fn is_invisible(c: char) -> bool {
    matches!(
        c,
        '\u{ad}'
            | '\u{34f}'
            | '\u{61c}'
            | '\u{115f}'..='\u{1160}'
            | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{3164}'
            | '\u{feff}'
            | '\u{ffa0}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}'
    )
}

/// A letter or digit that looks like one of ASCII, in words: "the Cyrillic letter \u{420} (U+0420)".
pub(super) fn foreign_letter(c: char) -> Option<String> {
    let script = match c {
        '\u{370}'..='\u{3ff}' | '\u{1f00}'..='\u{1fff}' => "Greek letter",
        '\u{400}'..='\u{52f}' | '\u{1c80}'..='\u{1c8f}' | '\u{2de0}'..='\u{2dff}' | '\u{a640}'..='\u{a69f}' => {
            "Cyrillic letter"
        }
        '\u{530}'..='\u{58f}' => "Armenian letter",
        '\u{13a0}'..='\u{13ff}' | '\u{ab70}'..='\u{abbf}' => "Cherokee letter",
        '\u{ff10}'..='\u{ff19}' => "fullwidth digit",
        '\u{ff21}'..='\u{ff3a}' | '\u{ff41}'..='\u{ff5a}' => "fullwidth letter",
        '\u{2100}'..='\u{214f}' | '\u{1d400}'..='\u{1d7ff}' => "mathematical character",
        '\u{2460}'..='\u{24ff}' | '\u{1f100}'..='\u{1f1ff}' => "enclosed character",
        '\u{1d00}'..='\u{1dbf}' | '\u{250}'..='\u{2af}' => "phonetic letter",
        '\u{2070}'..='\u{209f}' | '\u{b2}' | '\u{b3}' | '\u{b9}' => "raised or lowered digit",
        _ => return None,
    };
    Some(format!("the {script} {c} (U+{:04X})", u32::from(c)))
}

/// A text with its invisible characters written out, such as `<U+202E>`.
pub fn show_invisible(text: &str) -> Cow<'_, str> {
    write_out(text, is_invisible)
}

fn write_out(text: &str, hidden: fn(char) -> bool) -> Cow<'_, str> {
    if !text.chars().any(hidden) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if hidden(c) {
            let _ = write!(out, "<U+{:04X}>", u32::from(c));
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

/// JSON with its invisible characters escaped. Its values stay the same: such characters occur only in strings.
pub fn escape_invisible_json(json: &str) -> Cow<'_, str> {
    if !json.chars().any(is_invisible) {
        return Cow::Borrowed(json);
    }
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        if is_invisible(c) {
            // JSON escapes a character beyond the first plane as two units.
            for unit in c.encode_utf16(&mut [0; 2]) {
                let _ = write!(out, "\\u{unit:04x}");
            }
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bidirectional_and_zero_width_characters_are_written_out() {
        assert_eq!(show_invisible("a\u{202e}b\u{200b}c\u{2066}\u{e0041}"), "a<U+202E>b<U+200B>c<U+2066><U+E0041>");
        assert_eq!(show_invisible("\u{e4} \u{3b1}\u{2192}\u{4e2d} \\in\n"), "\u{e4} \u{3b1}\u{2192}\u{4e2d} \\in\n");
    }

    #[test]
    fn control_characters_are_written_out_and_refused_with_their_place() {
        for code in (0..0x20).chain([0x7f]) {
            let c = char::from_u32(code).unwrap();
            let text = format!("one\n  two{c}three\n");
            if matches!(c, '\t' | '\n' | '\r') {
                assert_eq!(show_control(&text), text);
                assert_eq!(refuse_control(&text), Ok(()));
            } else {
                assert_eq!(show_control(&text), format!("one\n  two<U+{code:04X}>three\n"));
                let problem = refuse_control(&text).unwrap_err().what;
                assert!(problem.contains(&format!("U+{code:04X} in line 2, column 6, after \"two\"")), "{problem}");
            }
        }
        assert!(refuse_control("a\u{feff}b").is_err());
        assert_eq!(refuse_control("\u{e4} \u{3b1}\u{1f600} \\in\n"), Ok(()));
    }

    #[test]
    fn json_keeps_its_value() {
        let value = serde_json::json!({"a\u{202e}": "b\u{200b}\u{e0041}\\"});
        let text = value.to_string();
        let escaped = escape_invisible_json(&text);
        assert!(escaped.is_ascii(), "{escaped}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&escaped).unwrap(), value);
    }
}
