//! An ambiguity's question in words, for a person.

use std::fmt::Write as _;

use crate::pipeline::{Question, RunView};
use crate::report::known_words;

/// Columns that clients show without cutting.
const WIDTH: usize = 100;

/// The question with the requirement that depends on it and its two readings, in short lines.
pub(super) fn question_text(view: &RunView, question: &Question) -> String {
    let id = &question.requirement;
    let mut text = format!("The documents can be read in two ways, and {id} depends on it.\n");
    if let Some(requirement) = view.specification.requirements.iter().find(|requirement| requirement.id == *id) {
        let place = requirement.place.as_ref().map(|place| format!(" [{place}]")).unwrap_or_default();
        write_wrapped(&mut text, &format!("{id}{place}: {}", requirement.text));
    }
    write_wrapped(&mut text, &format!("{}: {}", question.open_point.id, question.open_point.question));
    for reading in &question.readings {
        let known = known_words(id, reading);
        write_wrapped(&mut text, &format!("{}: {} (Under this reading: {known}.)", reading.choice, reading.reading));
    }
    text.trim_end().to_owned()
}

fn write_wrapped(out: &mut String, text: &str) {
    let mut column = 0;
    for word in text.split_whitespace() {
        let length = word.chars().count();
        if column > 0 && column + 1 + length > WIDTH {
            out.push_str("\n   ");
            column = 3;
        } else if column > 0 {
            out.push(' ');
            column += 1;
        }
        let _ = write!(out, "{word}");
        column += length;
    }
    out.push('\n');
}
