//! Counts columns as SANY does, on which the meaning of a bulleted list depends, and writes changed modules so that the order
//! of all columns that matter stays the same. Knows no token and no grammar.
//!
//! SANY 2.15, TLC and the PlusCal translator count the UTF-16 units of a line. A tab reaches to the next multiple of 8,
//! also in a comment or a string. `\n`, `\r` and `\r\n` end a line, and nothing else does: form feed, vertical tab, NUL,
//! U+0085, U+2028, a byte-order mark and a combining mark are one column each.

use std::collections::BTreeMap;

/// The distance of tab stops.
const TAB_WIDTH: usize = 8;

/// The column after a character that begins in this column; columns count from 0.
pub(crate) fn column_after(column: usize, character: char) -> usize {
    match character {
        '\n' | '\r' => 0,
        '\t' => (column / TAB_WIDTH + 1) * TAB_WIDTH,
        _ => column + character.len_utf16(),
    }
}

/// The column of a byte offset in its line, from 0.
pub fn column_of(text: &str, offset: usize) -> usize {
    let before = text.get(..offset).unwrap_or(text);
    let start = before.rfind(['\n', '\r']).map_or(0, |end| end + 1);
    before[start..].chars().fold(0, column_after)
}

/// The byte offset in a line of the character that covers a column, from 0; the length of the line if it is shorter.
pub fn offset_of_column(line: &str, column: usize) -> usize {
    let mut end = 0;
    let covers = |character: char| {
        end = column_after(end, character);
        end > column
    };
    line.find(covers).unwrap_or(line.len())
}

/// The text with line ends as `\n` and blanks in place of tabs, so that a reader with any rule for tabs sees each token in
/// the column that SANY counts.
pub fn expand_tabs(text: &str) -> String {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    if !text.contains('\t') {
        return text;
    }
    let mut out = String::with_capacity(text.len());
    let mut column = 0;
    for character in text.chars() {
        let after = column_after(column, character);
        if character == '\t' {
            out.extend(std::iter::repeat_n(' ', after - column));
        } else {
            out.push(character);
        }
        column = after;
    }
    out
}

/// A word of a text that is written anew: a token, with what is added before and after it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Word {
    /// The line in which it begins, from 0.
    pub(crate) line: usize,
    /// Its column in the original text, from 0.
    pub(crate) column: usize,
    /// Whether white space or a comment is between it and the word before.
    pub(crate) is_apart: bool,
    /// Whether it is `/\` or `\/`, which may begin an item of a list.
    pub(crate) is_bullet: bool,
    /// What is added before it, to the right of every column that is less than its own.
    pub(crate) before: String,
    pub(crate) text: String,
    /// What is added after it.
    pub(crate) after: String,
}

/// Writes words in their lines, so that bulleted lists mean what they meant even if words have become longer or shorter.
///
/// The meaning depends on the columns of bullets and of the first words of lines, the anchors, and only on their order:
/// the first word of a line ends each list whose column is not to its left, and no other word of the line can be further
/// left. So anchors of one column stay in one column, and those further right stay further right. `width` measures a text
/// as the reader of the result does.
pub(crate) fn write_words(words: &[Word], width: fn(&str) -> usize) -> String {
    let margin = words.iter().filter(|word| word.column == 0).map(|word| width(&word.before)).max().unwrap_or(0);
    let (mut out, mut line) = (String::new(), 0);
    // A word in the first column ends every list that is further right, so columns need to agree only up to there.
    let begins_block = |before: &Word, word: &Word| word.column == 0 && word.line != before.line;
    for block in words.chunk_by(|before, word| !begins_block(before, word)) {
        let columns = place_anchors(block, margin, width);
        let mut end = 0;
        for (index, word) in block.iter().enumerate() {
            while line < word.line {
                out.push('\n');
                (line, end) = (line + 1, 0);
            }
            let begin = match columns.get(&word.column).filter(|_| is_anchor(block, index)) {
                Some(column) => column - width(&word.before),
                None => end + usize::from(word.is_apart),
            };
            out.extend(std::iter::repeat_n(' ', begin.saturating_sub(end)));
            end = begin;
            for part in [&word.before, &word.text, &word.after] {
                out.push_str(part);
                end += width(part);
            }
        }
    }
    out
}

fn is_anchor(words: &[Word], index: usize) -> bool {
    words[index].is_bullet || index == 0 || words[index - 1].line != words[index].line
}

/// An anchor with the anchor before it in its line, and the width from there to this one.
struct Anchor<'a> {
    word: &'a Word,
    follows: Option<(usize, usize)>,
}

/// The new column of each column of an anchor; `margin` is that of the first one.
fn place_anchors(words: &[Word], margin: usize, width: fn(&str) -> usize) -> BTreeMap<usize, usize> {
    let mut anchors: BTreeMap<usize, Vec<Anchor<'_>>> = BTreeMap::new();
    // The anchor before and the width since then.
    let mut follows: Option<(usize, usize)> = None;
    for (index, word) in words.iter().enumerate() {
        if index > 0 && words[index - 1].line != word.line {
            follows = None;
        }
        let gap = usize::from(word.is_apart) + width(&word.before);
        let here = follows.map(|(column, since)| (column, since + gap));
        let own = width(&word.text) + width(&word.after);
        follows = if is_anchor(words, index) {
            anchors.entry(word.column).or_default().push(Anchor { word, follows: here });
            Some((word.column, own))
        } else {
            here.map(|(column, since)| (column, since + own))
        };
    }
    let mut placed: BTreeMap<usize, usize> = BTreeMap::new();
    let mut free = 0;
    for (column, anchors) in anchors {
        let mut least = if column == 0 { margin } else { free.max(margin + 1) };
        let room = least;
        for Anchor { word, follows } in anchors {
            if column > 0 {
                least = least.max(room + width(&word.before));
            }
            least = least.max(match follows {
                // The indentation stays, so that the text looks as before.
                None => column,
                Some((before, since)) => placed[&before] + since,
            });
        }
        placed.insert(column, least);
        free = least + 1;
    }
    placed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_those_of_sany() {
        for (text, column) in [
            ("X", 0),
            ("\tX", 8),
            ("       \tX", 8),
            ("        \tX", 16),
            ("a\tX", 8),
            ("(*\t*)X", 10),
            ("(*\u{1f600}*)X", 6),
            ("(*e\u{301}*)X", 6),
            ("(*\u{c}\u{b}\0\u{85}\u{2028}\u{feff}*)X", 10),
            ("a\nX", 0),
            ("a\rX", 0),
            ("a\r\n X", 1),
        ] {
            let offset = text.find('X').unwrap();
            assert_eq!(column_of(text, offset), column, "{text:?}");
            let line = text.rsplit(['\n', '\r']).next().unwrap();
            assert_eq!(&line[offset_of_column(line, column)..], "X", "{text:?}");
            let expanded = expand_tabs(text);
            assert!(!expanded.contains(['\t', '\r']));
            assert_eq!(column_of(&expanded, expanded.find('X').unwrap()), column, "{text:?}");
        }
        assert_eq!(offset_of_column("ab", 9), 2);
        assert_eq!(expand_tabs("a\r\nb\rc\n"), "a\nb\nc\n");
    }

    #[test]
    fn the_order_of_columns_outlasts_other_lengths() {
        let word = |line, column, before: &str, text: &str| Word {
            line,
            column,
            is_apart: true,
            is_bullet: text == "/\\",
            before: before.to_owned(),
            text: text.to_owned(),
            after: String::new(),
        };
        let words = [
            word(0, 0, "", "Longer"),
            word(0, 2, "", "/\\"),
            word(1, 2, "((", "/\\"),
            word(1, 3, "", "x"),
            word(3, 1, "", "y"),
            word(3, 2, "", "/\\"),
        ];
        assert_eq!(write_words(&words, str::len), "Longer /\\\n     ((/\\ x\n\n y     /\\");
    }
}
