//! The text of a module with changes that keep the order of all columns, because it matters in bulleted lists.

use super::token::{Kind, Token};
use crate::layout::{Word, write_words};

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

    /// The text with these changes, and with `more` before the end of the module. It has no tab, no comment and no
    /// other line end than `\n`, so that the checker, which counts bytes, orders columns as SANY does.
    pub(super) fn rewrite(text: &str, tokens: &[Token], mut changes: Changes, more: &str) -> Self {
        changes.sort();
        let Changes { before, after, replacements } = changes;
        let (mut before, mut after, mut replacements) =
            (before.into_iter().peekable(), after.into_iter().peekable(), replacements.into_iter().peekable());
        let mut words: Vec<Word> = Vec::with_capacity(tokens.len());
        let mut was_replaced = false;
        let (mut line, mut offset) = (0, 0);
        for token in tokens {
            // No token holds a line end.
            let gap = text.get(offset..token.start).unwrap_or("");
            line += count_line_ends(gap);
            let mut word = Word {
                line,
                column: token.column - 1,
                is_apart: !gap.is_empty(),
                is_bullet: matches!(token.kind, Kind::Bullet(_)),
                ..Word::default()
            };
            while let Some((_, open)) = before.next_if(|(place, _)| *place <= token.start) {
                word.before += &open;
            }
            let other = replacements.next_if(|(place, _)| *place <= token.start).map(|(_, other)| other);
            let is_replaced = other.is_some();
            word.text = other.unwrap_or_else(|| text.get(token.start..token.end).unwrap_or("").to_owned());
            while let Some((_, close)) = after.next_if(|(end, _)| *end <= token.end) {
                word.after += &close;
            }
            // `q∈r` becomes `q\in r`; `WF_vars` is two tokens, and stays as it is.
            word.is_apart |= (is_replaced || was_replaced) && words.last().is_some_and(|last| would_join(last, &word));
            was_replaced = is_replaced;
            offset = token.end;
            words.push(word);
        }
        let ends = words.len() - usize::from(tokens.last().is_some_and(|token| token.kind == Kind::End));
        let end = words.split_off(ends);
        let mut out = write_words(&words, str::len);
        let mut lines: Vec<usize> = (1..=out.matches('\n').count() + 1).collect();
        for word in end {
            // The last word is in a line of its own, behind the definitions that are added.
            let added = format!("\n{more}{}\n", word.text);
            lines.extend(std::iter::repeat_n(word.line + 1, added.matches('\n').count()));
            out.push_str(&added);
        }
        Self { text: out, lines }
    }
}

/// Whether two words that touch would be read as one.
fn would_join(one: &Word, other: &Word) -> bool {
    let is_letter = |c: char| c.is_alphanumeric() || c == '_';
    let ends = one.text.ends_with(is_letter) && one.after.is_empty();
    ends && other.text.starts_with(is_letter) && other.before.is_empty()
}

/// The number of line ends, as SANY counts them.
fn count_line_ends(text: &str) -> usize {
    text.matches('\n').count() + text.matches('\r').count() - text.matches("\r\n").count()
}
