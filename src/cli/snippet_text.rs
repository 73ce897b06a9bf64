//! The line that an error is about, with carets below the wrong part, in the manner of rustc. Every error with a position
//! is shown by this file; other layers only know the position.

use std::ops::Range;

use annotate_snippets::renderer::Renderer;
use annotate_snippets::{AnnotationKind, Group, Level, Origin, Snippet as SourceLine};
use unicode_width::UnicodeWidthStr as _;

use super::failure::Failure;
use super::secrets::{hide_secrets, scrub_secrets};
use super::snippet::Snippet;
use super::terminal::{escape_control_characters, is_colored, print_message, write_stderr};
use crate::tla::DEFAULT_WIDTH;

/// Maximum number of columns of a source line; the rest of a line is for its number.
const MAX_COLUMNS: usize = DEFAULT_WIDTH - 10;

/// Prints an error and its hints on stderr, with its line if it has one.
pub(super) fn print_failure(failure: &Failure) {
    let message = scrub_secrets(&failure.message);
    match &failure.snippet {
        Some(snippet) => {
            let text = render(snippet, Some(&message), &failure.hints, is_colored(&std::io::stderr()));
            write_stderr(&format!("{text}\n"));
        }
        None => {
            print_message(&format!("error: {message}"));
            for hint in &failure.hints {
                print_message(&format!("hint: {hint}"));
            }
        }
    }
}

/// Renders an error, its place and its hints. Without a message, only the place.
pub(super) fn render(snippet: &Snippet, message: Option<&str>, hints: &[String], color: bool) -> String {
    let message = message.map(|message| escape_control_characters(&hide_secrets(message)));
    // A line end in a path would begin a line that looks like one of ours.
    let path = escape_control_characters(&hide_secrets(&snippet.path)).replace('\n', "\u{fffd}");
    let hints: Vec<String> = hints.iter().map(|hint| escape_control_characters(&hide_secrets(hint))).collect();
    let group = match &message {
        Some(message) => Group::with_title(Level::ERROR.primary_title(message)),
        None => Group::with_level(Level::ERROR),
    };
    // The whole line is compared, because a part of a key is not recognized.
    let source = snippet.source.as_ref().filter(|(line, _)| scrub_secrets(line) == *line);
    let excerpt = source.map(|(line, range)| Excerpt::new(line, range.clone()));
    let group = match &excerpt {
        Some(Excerpt { before, marked, after }) => {
            let marked_range = before.len()..before.len() + marked.len();
            group.element(
                SourceLine::source(format!("{before}{marked}{after}"))
                    .path(&path)
                    .line_start(snippet.line)
                    .annotation(AnnotationKind::Primary.span(marked_range)),
            )
        }
        None => group.element(Origin::path(&path).line(snippet.line).char_column(snippet.column)),
    };
    let hint = |hint| Level::HELP.with_name("hint").message(hint);
    let group = group.elements(hints.iter().map(hint));
    let renderer = if color { Renderer::styled().hyperlink(false) } else { Renderer::plain() };
    // Excerpts are cut already; with its own width, the renderer would cut once more.
    let text = renderer.term_width(10 * MAX_COLUMNS).render(&[group]);
    let Some(Excerpt { before, .. }) = &excerpt else { return text };
    // The renderer counts the columns of the excerpt.
    let place = |column: usize| format!("{path}:{}:{column}\n", snippet.line);
    let arrow = text.find("-->").unwrap_or_default();
    let (title, rest) = text.split_at(arrow);
    title.to_owned() + &rest.replacen(&place(before.chars().count() + 1), &place(snippet.column), 1)
}

/// The part of a line around a place, ready to be shown: without control characters, invisible characters written out.
struct Excerpt {
    before: String,
    marked: String,
    after: String,
}

impl Excerpt {
    /// Cuts a line around a range, so that a line of megabytes is neither shown nor processed as a whole.
    fn new(line: &str, range: Range<usize>) -> Self {
        let (before, marked, after) = (&line[..range.start], &line[range.clone()], &line[range.end..]);
        let marked = Taken::new(marked.chars(), MAX_COLUMNS / 2);
        let after = if marked.is_cut { "" } else { after };
        let rest = MAX_COLUMNS - marked.columns;
        // What one side does not need, the other side gets.
        let left = Taken::new(before.chars().rev(), rest).columns;
        let right = Taken::new(after.chars(), (rest / 2).max(rest.saturating_sub(left)));
        let left = Taken::new(before.chars().rev(), (rest / 2).max(rest.saturating_sub(right.columns)));
        Self {
            before: left.shown.into_iter().rev().collect(),
            marked: marked.shown.concat(),
            after: right.shown.concat(),
        }
    }
}

/// Characters that fit into a number of columns.
struct Taken {
    /// Each as it is shown; the last one is `…` if not all fit.
    shown: Vec<String>,
    columns: usize,
    is_cut: bool,
}

impl Taken {
    fn new(characters: impl Iterator<Item = char>, max: usize) -> Self {
        let mut taken = Self { shown: Vec::new(), columns: 0, is_cut: false };
        for character in characters {
            let shown = escape_control_characters(character.encode_utf8(&mut [0; 4]));
            // The renderer shows a tab as four blanks.
            let width = if character == '\t' { 4 } else { shown.width() };
            // Combining characters have no width, so their number needs a limit of its own.
            if taken.columns + width > max || taken.shown.len() > 4 * max {
                taken.shown.push("…".to_owned());
                return Self { columns: taken.columns + 1, is_cut: true, ..taken };
            }
            taken.columns += width;
            taken.shown.push(shown);
        }
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str, span: Range<usize>) -> String {
        render(&Snippet::new("M.tla", text, span), Some("wrong"), &[], false)
    }

    #[test]
    fn carets_are_below_the_wrong_part() {
        for (text, marked, line, expected) in [
            ("a\nInv == Lenght(x)\nb", "Lenght", "2:8", "2 | Inv == Lenght(x)\n  |        ^^^^^^"),
            ("a\r\nb == c\r\n", "c", "2:6", "2 | b == c\n  |      ^"),
            // The end of a line, of the text, and of an empty text.
            ("a ==\r\nb", "\r", "1:5", "1 | a ==\n  |     ^"),
            ("a ==", "", "1:1", "1 | a ==\n  | ^"),
            ("", "", "1:1", "1 |\n  | ^"),
            // Several lines.
            ("x (a\nb) y", "(a\nb)", "1:3", "1 | x (a\n  |   ^^"),
            // A tab is shown as four blanks, a wide character takes two columns and a combining one none.
            ("\tx\t== y", "y", "1:7", "1 |     x    == y\n  |             ^"),
            ("中文 == e\u{302}x", "e\u{302}x", "1:7", "1 | 中文 == e\u{302}x\n  |         ^^"),
            ("x == 中文", "中文", "1:6", "1 | x == 中文\n  |      ^^^^"),
            // Characters that would hide or reorder others.
            ("a \u{202e}b\u{200b} c", "c", "1:7", "1 | a <U+202E>b<U+200B> c\n  |                     ^"),
            ("a \u{1b}[31mb", "b", "1:8", "1 | a \u{fffd}[31mb\n  |        ^"),
            ("a \u{202e} b", "\u{202e}", "1:3", "1 | a <U+202E> b\n  |   ^^^^^^^^"),
        ] {
            let start = text.find(marked).unwrap();
            let text_shown = shown(text, start..start + marked.len());
            let expected = format!("error: wrong\n --> M.tla:{line}\n  |\n{expected}");
            assert_eq!(text_shown, expected, "{text:?}\n{text_shown}");
        }
    }

    #[test]
    fn a_path_stays_on_its_line() {
        let text = render(&Snippet::new("d\nerror: fake/M.tla", "x", 0..1), Some("wrong"), &[], false);
        assert!(text.contains(" --> d\u{fffd}error: fake/M.tla:1:1\n"), "{text}");
    }

    #[test]
    fn every_range_can_be_shown() {
        let text = "a中\u{301}\t\u{202e}\r\n\n🙂 b\n";
        for start in 0..=text.len() + 2 {
            for end in 0..=text.len() + 2 {
                let shown = shown(text, start..end);
                assert!(
                    shown.contains('^') && shown.starts_with("error: wrong\n --> M.tla:"),
                    "{start}..{end}: {shown}"
                );
            }
        }
    }

    #[test]
    fn a_long_line_is_cut_around_the_carets() {
        for (before, marked, after) in [
            (0, 3, 2_000_000),
            (2_000_000, 3, 0),
            (2_000_000, 3, 2_000_000),
            (10, 2_000_000, 10),
            (0, 0, 200),
            (80, 3, 80),
        ] {
            for filler in ["x", "中", "\t", "\u{301}", "\u{202e}"] {
                let text = filler.repeat(before) + &"y".repeat(marked) + &filler.repeat(after);
                let start = filler.len() * before;
                let shown = shown(&text, start..start + marked);
                let lines: Vec<&str> = shown.lines().collect();
                assert_eq!(lines[1], format!(" --> M.tla:1:{}", before + 1));
                assert!(lines.len() == 5 && shown.len() < 4_000, "{before} {filler:?}: {} bytes", shown.len());
                assert!(lines.iter().all(|line| line.width() <= DEFAULT_WIDTH), "{shown}");
                let carets = lines[4].matches('^').count();
                if filler == "x" {
                    assert_eq!(carets, marked.clamp(1, MAX_COLUMNS / 2 + 1), "{before}: {shown}");
                    // The carets are below the marked part.
                    let at = lines[4].find('^').unwrap();
                    let above: String = lines[3].chars().skip(at).take(marked.min(3)).collect();
                    assert_eq!(above, "y".repeat(marked.min(3)), "{shown}");
                }
            }
        }
    }

    #[test]
    fn a_place_without_its_line_is_shown_alone() {
        let snippet = Snippet::new("p.toml", "secret = 1\n", 9..10).without_source();
        assert_eq!(
            render(&snippet, Some("wrong"), &["do".into()], false),
            "error: wrong\n--> p.toml:1:10\n = hint: do"
        );
        let keyed = Snippet::new("p.toml", "key = \"sk-ant-api03-abcdefghijklmnop\"\n", 0..3);
        assert_eq!(render(&keyed, Some("wrong"), &[], false), "error: wrong\n--> p.toml:1:1");
    }

    #[test]
    fn colours_are_only_written_on_request() {
        let snippet = Snippet::new("M.tla", "a b", 2..3);
        assert!(!render(&snippet, Some("wrong"), &[], false).contains('\u{1b}'));
        let colored = render(&snippet, Some("wro\u{1b}[2Jng"), &["a\u{1b}[2Jb".into()], true);
        assert!(colored.contains("\u{1b}[") && !colored.contains("\u{1b}[2J"), "{colored:?}");
    }
}
