//! The text of a module with changes that keep every other token in its column, because columns matter in bulleted
//! lists. If a line has no room, its rest goes to a new line.

use super::token::{Kind, Token};

#[derive(Debug, Default)]
pub(super) struct Changes {
    /// Insertions before the token that begins here, outer ones first.
    before: Vec<(usize, String)>,
    /// Insertions after the token that ends here, inner ones first.
    after: Vec<(usize, String)>,
    /// Replacements of the token that begins here.
    replacements: Vec<(usize, String)>,
}

impl Changes {
    pub(super) fn insert_before(&mut self, offset: usize, text: &str) {
        self.before.push((offset, text.to_owned()));
    }

    pub(super) fn insert_after(&mut self, end: usize, text: &str) {
        self.after.push((end, text.to_owned()));
    }

    pub(super) fn replace(&mut self, offset: usize, text: String) {
        self.replacements.push((offset, text));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.before.is_empty() && self.after.is_empty() && self.replacements.is_empty()
    }

    fn sort(&mut self) {
        for all in [&mut self.before, &mut self.after, &mut self.replacements] {
            all.sort_by_key(|(offset, _)| *offset);
        }
    }
}

/// A rewritten text with the original line of each of its lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckerText {
    pub text: String,
    /// For each line, counted from 0, the original line, counted from 1.
    pub lines: Vec<usize>,
}

impl CheckerText {
    pub(super) fn unchanged(text: &str) -> Self {
        let lines = (1..=text.matches('\n').count() + 1).collect();
        Self { text: text.to_owned(), lines }
    }

    /// The text with these changes, and with `more` before the end of the module.
    pub(super) fn rewrite(text: &str, tokens: &[Token], mut changes: Changes, more: &str) -> Self {
        changes.sort();
        let mut page = Page { out: String::new(), column: 1, lines: vec![1], original: 1 };
        let Changes { before, after, replacements } = changes;
        let (mut before, mut after, mut replacements) =
            (before.into_iter().peekable(), after.into_iter().peekable(), replacements.into_iter().peekable());
        let mut offset = 0;
        for (index, token) in tokens.iter().enumerate() {
            // Text before the module is not TLA+.
            page.copy_gap(text.get(offset..token.start).unwrap_or(""), index > 0);
            let mut opening = String::new();
            while let Some((_, open)) = before.next_if(|(place, _)| *place <= token.start) {
                opening += &open;
            }
            if index + 1 == tokens.len() && token.kind == Kind::End && !more.is_empty() {
                page.start_line(1);
                page.write(more);
            }
            let other = replacements.next_if(|(place, _)| *place <= token.start).map(|(_, other)| other);
            let own = other.as_deref().unwrap_or_else(|| text.get(token.start..token.end).unwrap_or(""));
            page.move_to_column(token.column, &opening, own);
            page.write(own);
            while let Some((_, close)) = after.next_if(|(end, _)| *end <= token.end) {
                page.write(&close);
            }
            offset = token.end;
        }
        page.write("\n");
        Self { text: page.out, lines: page.lines }
    }
}

struct Page {
    out: String,
    /// The next column, as the checker counts: bytes, with tab stops every eight.
    column: usize,
    lines: Vec<usize>,
    original: usize,
}

impl Page {
    fn write(&mut self, text: &str) {
        for byte in text.bytes() {
            self.column = match byte {
                b'\n' => {
                    self.lines.push(self.original);
                    1
                }
                b'\t' => (self.column - 1) / 8 * 8 + 9,
                _ => self.column + 1,
            };
        }
        self.out.push_str(text);
    }

    /// Copies white space and comments. Non-ASCII characters of a comment become `?`, because the checker counts bytes.
    fn copy_gap(&mut self, text: &str, inside: bool) {
        for char in text.chars() {
            if char == '\n' {
                self.original += 1;
            }
            match char {
                '\n' | '\r' | '\t' | ' ' => self.write(char.encode_utf8(&mut [0; 4])),
                _ if !inside => {}
                _ if char.is_ascii() => self.write(char.encode_utf8(&mut [0; 4])),
                _ => self.write("?"),
            }
        }
    }

    fn start_line(&mut self, column: usize) {
        self.write("\n");
        self.write(&" ".repeat(column - 1));
    }

    /// Moves to this column, where `next` follows, with `opening` somewhere before it.
    fn move_to_column(&mut self, column: usize, opening: &str, next: &str) {
        let line = self.out.rfind('\n').map_or(0, |newline| newline + 1);
        if opening.is_empty() && self.column == column {
            return;
        }
        // Spaces that can be removed: those after the last token or comment of this line, except one that separates
        // words.
        let kept = self.out.trim_end_matches(' ');
        let blank = self.out.len() - kept.len();
        let word = |char: char| char.is_ascii_alphanumeric() || char == '_';
        let apart = kept.ends_with(word) && if opening.is_empty() { next } else { opening }.starts_with(word);
        let room = if kept.len() <= line { 0 } else { blank.saturating_sub(usize::from(apart)) };
        let wanted = (self.column + opening.len()).saturating_sub(column);
        if self.column + opening.len() >= column && wanted <= room {
            self.out.truncate(self.out.len() - wanted);
            self.column -= wanted;
            return self.write(opening);
        }
        // The opening may not be further left than the token, or it would leave a bulleted list.
        if !opening.is_empty() {
            if self.out[line..].trim_matches(' ').is_empty() && self.column == column {
                self.write(opening);
            } else {
                self.start_line(column);
                self.write(opening);
            }
        } else if self.column < column {
            return self.write(&" ".repeat(column - self.column));
        }
        self.start_line(column);
    }
}
