//! Lines of a report, in which a text of a model, a document or another person stays on the line that it was written to. A
//! line break in such a text would begin a line that looks like one of ours.

use std::fmt::{Arguments, format};

use super::cut::on_one_line;

/// Like [`std::writeln`], for a `String`: a line break in a value becomes a blank. The line breaks of the format itself stay. A
/// value that has several lines on purpose needs `std::writeln`.
macro_rules! writeln {
    ($out:expr, $format:literal $($values:tt)*) => {
        $out.write_str(&$crate::report::lines::lines_of($format, format_args!($format $($values)*)))
    };
}
pub(super) use writeln;

/// The lines of a format with its values, and a line end.
pub(super) fn lines_of(format_text: &str, values: Arguments<'_>) -> String {
    let text = format(values);
    let own_breaks = format_text.matches('\n').count();
    if text.matches('\n').count() == own_breaks && !text.contains('\r') {
        return text + "\n";
    }
    let own = format_text.len() - format_text.trim_start_matches('\n').len();
    let (before, rest) = text.split_at(own);
    if own == own_breaks {
        return format!("{before}{}\n", in_one_line(rest));
    }
    // The line breaks of the format cannot be distinguished from those of the values. Every further line is indented, so that
    // no line of a value looks like the beginning of one of ours.
    let mut lines = rest.lines();
    let first = lines.next().unwrap_or_default().to_owned();
    let indented = lines.fold(first, |text, line| {
        let indent = if line.is_empty() || line.starts_with(' ') { "" } else { "    " };
        text + "\n" + indent + line
    });
    format!("{before}{indented}\n")
}

/// A text without line breaks, indented as before; a text without any stays as it is.
pub(super) fn in_one_line(text: &str) -> String {
    if !text.contains(['\n', '\r']) {
        return text.to_owned();
    }
    let indent = text.len() - text.trim_start_matches(' ').len();
    format!("{}{}", &text[..indent], on_one_line(text))
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    #[test]
    fn a_line_break_in_a_value_begins_no_line() {
        let (hostile, plain) = ("x\n::error::y\r\n  R1 holds\n", "two  blanks");
        let mut out = String::new();
        let _ = writeln!(out, "  R1: {hostile}, {}", plain);
        let _ = writeln!(out, "\n{hostile}");
        let _ = writeln!(out, "  {plain}\n      {}", plain);
        let _ = writeln!(out, "a: {hostile}\nWhy: {plain}");
        assert_eq!(
            out,
            "  R1: x ::error::y R1 holds , two blanks\n\nx ::error::y R1 holds\n  two  blanks\n      two  blanks\n\
             a: x\n    ::error::y\n  R1 holds\n\n    Why: two  blanks\n"
        );
    }
}
