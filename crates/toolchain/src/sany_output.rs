//! Parses SANY's output into diagnostics. Pure. SANY exits 0 on semantic errors, so only its text decides. TLC's output
//! contains the same text.

use tlaforge_tla::{Diagnostic, Stage};

#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct SanyFindings {
    pub errors: Vec<Diagnostic>,
    pub warnings: Vec<Diagnostic>,
    /// Whether SANY processed the module to its end.
    pub processed: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Section {
    None,
    Errors,
    Aborts,
    Warnings,
}

/// Parses SANY's output for module `main`.
pub(crate) fn parse(text: &str, main: &str) -> SanyFindings {
    let mut found = SanyFindings::default();
    let mut aborts = Vec::new();
    let mut section = Section::None;
    let mut entry: Option<Diagnostic> = None;
    let lines: Vec<&str> = text.lines().collect();
    for (index, line) in lines.iter().map(|l| l.trim_end()).enumerate() {
        let begins = if line.starts_with("*** Errors:") {
            Some(Section::Errors)
        } else if line.starts_with("*** Abort messages:") {
            Some(Section::Aborts)
        } else if line.starts_with("*** Warnings:") {
            Some(Section::Warnings)
        } else {
            None
        };
        if let Some(begins) = begins {
            finish_entry(section, &mut entry, &mut found, &mut aborts);
            section = begins;
        } else if let Some(module) = line.strip_prefix("Semantic processing of module ") {
            found.processed |= module == main;
        } else if section != Section::None
            && let Some(parse_position) = parse_position(line, main)
        {
            finish_entry(section, &mut entry, &mut found, &mut aborts);
            entry = Some(parse_position);
        } else if section != Section::None {
            if let Some(entry) = &mut entry
                && !line.is_empty()
            {
                append_line(&mut entry.message, line);
            }
        // Grammar errors are outside the sections; the line above lists what was expected.
        } else if line.starts_with("Encountered \"") || line.starts_with("Lexical error at line") {
            let (line_number, column) = numbers_after(line, "at line ", "column ");
            let before = index.checked_sub(1).and_then(|before| lines.get(before));
            let expected = before.filter(|l| l.starts_with("Was expecting")).map_or("", |l| l.trim());
            let message = if expected.is_empty() { (*line).to_owned() } else { format!("{expected}; {line}") };
            found.errors.push(diagnostic(line_number, column, message));
        } else if line.starts_with("***Parse Error***") && !lines[index..].iter().any(|l| l.starts_with("Encountered"))
        {
            let rest = lines[index + 1..].iter().map(|l| l.trim()).take_while(|l| !l.starts_with("Residual stack"));
            let message = rest.filter(|l| !l.is_empty()).take(4).collect::<Vec<_>>().join(" ");
            let column = if message.contains("column ") { "column " } else { "col " };
            let (line_number, column) = numbers_after(&message, "line ", column);
            found.errors.push(diagnostic(line_number, column, message));
        }
    }
    finish_entry(section, &mut entry, &mut found, &mut aborts);
    // An abort message repeats an error above it; if it is alone, it is the error.
    if found.errors.is_empty() {
        found.errors = aborts;
    }
    found
}

fn finish_entry(
    section: Section,
    entry: &mut Option<Diagnostic>,
    found: &mut SanyFindings,
    aborts: &mut Vec<Diagnostic>,
) {
    if let Some(entry) = entry.take().filter(|e| !e.message.is_empty()) {
        match section {
            Section::Errors => found.errors.push(entry),
            Section::Warnings => found.warnings.push(entry),
            Section::Aborts => aborts.push(entry),
            Section::None => {}
        }
    }
}

/// Parses `line 4, col 13 to line 4, col 13 of module S`, `In module S`, `Unknown location`.
fn parse_position(line: &str, main: &str) -> Option<Diagnostic> {
    if line == "Unknown location" || line.strip_prefix("In module ").is_some_and(|m| !m.contains(' ')) {
        return Some(diagnostic(0, 0, String::new()));
    }
    let module = line.strip_prefix("line ").and(line.rsplit_once(" of module ")).map(|(_, module)| module)?;
    if module.is_empty() || module.ends_with('.') || module.contains(' ') {
        return None;
    }
    let (number, column) = numbers_after(line, "line ", "col ");
    let message = if module == main { String::new() } else { format!("in module {module}:") };
    Some(diagnostic(number, column, message))
}

fn append_line(message: &mut String, line: &str) {
    if !message.is_empty() {
        message.push(' ');
    }
    message.push_str(line.trim());
}

/// The first number after `line_word`, and the first after `column_word` behind it; 0 if missing.
pub(crate) fn numbers_after(text: &str, line_word: &str, column_word: &str) -> (usize, usize) {
    let Some((_, rest)) = text.split_once(line_word) else { return (0, 0) };
    let line = leading_number(rest);
    let column = rest.split_once(column_word).map_or(0, |(_, rest)| leading_number(rest));
    (line, column)
}

/// The text between two others, without blanks around it.
pub(crate) fn between(text: &str, before: &str, after: &str) -> Option<String> {
    let (_, rest) = text.split_once(before)?;
    rest.split_once(after).map(|(name, _)| name.trim().to_owned()).filter(|name| !name.is_empty())
}

fn leading_number(text: &str) -> usize {
    let end = text.bytes().take_while(u8::is_ascii_digit).count();
    text[..end].parse().unwrap_or(0)
}

fn diagnostic(line: usize, column: usize, message: String) -> Diagnostic {
    Diagnostic { stage: Stage::Parse, line, column, message }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn errors(text: &str) -> Vec<(usize, usize, String)> {
        parse(text, "S").errors.into_iter().map(|d| (d.line, d.column, d.message)).collect()
    }

    #[test]
    fn a_correct_module_has_no_finding() {
        let found = parse(include_str!("../../../tests/data/toolchain/sany_accepted.txt"), "S");
        assert_eq!(found, SanyFindings { processed: true, ..SanyFindings::default() });
    }

    #[test]
    fn semantic_errors_are_located() {
        assert_eq!(
            errors(include_str!("../../../tests/data/toolchain/sany_semantic.txt")),
            [(4, 13, "Unknown operator: `y'.".to_owned()), (5, 14, "Unknown operator: `Foo'.".to_owned())]
        );
    }

    #[test]
    fn grammar_and_lexical_errors_are_located() {
        let grammar = errors(include_str!("../../../tests/data/toolchain/sany_grammar.txt"));
        assert_eq!(grammar.len(), 1, "{grammar:?}");
        assert_eq!((grammar[0].0, grammar[0].1), (5, 1));
        let lexical = errors(include_str!("../../../tests/data/toolchain/sany_lexical.txt"));
        assert_eq!((lexical[0].0, lexical[0].1, lexical.len()), (4, 17, 1));
    }

    #[test]
    fn an_abort_alone_is_the_error() {
        let found = errors(include_str!("../../../tests/data/toolchain/sany_missing_module.txt"));
        assert_eq!(found, [(0, 0, "Cannot find source file for module Bluh imported in module S.".to_owned())]);
    }

    #[test]
    fn errors_and_warnings_are_separate_and_complete() {
        let found = parse(include_str!("../../../tests/data/toolchain/sany_duplicates.txt"), "S");
        assert_eq!((found.errors.len(), found.warnings.len()), (4, 1));
        assert_eq!(
            found.errors[1].message,
            "Multiply-defined symbol 'x': this definition or declaration conflicts with the one at line 3, col 11 to line \
             3, col 11 of module S."
        );
        assert_eq!((found.warnings[0].line, found.warnings[0].column), (5, 1));
    }
}
