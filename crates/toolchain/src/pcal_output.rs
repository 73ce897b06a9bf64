//! Parses the output of the PlusCal translator into diagnostics. Pure.

use tlaforge_tla::{Diagnostic, Stage};

use super::sany_output::numbers_after;

/// One diagnostic for each position that the translator names.
pub(crate) fn parse(text: &str) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let mut text_so_far: Option<String> = None;
    // The empty line at the end finishes the last message.
    for line in text.lines().map(str::trim).chain([""]) {
        if let Some(first) = line.strip_prefix("-- ") {
            finish_message(&mut text_so_far, &mut found);
            text_so_far = Some(first.to_owned());
        } else if line.is_empty() {
            finish_message(&mut text_so_far, &mut found);
        } else if let Some(text_so_far) = &mut text_so_far {
            text_so_far.push('\n');
            text_so_far.push_str(line);
        }
    }
    found
}

fn finish_message(text_so_far: &mut Option<String>, found: &mut Vec<Diagnostic>) {
    let Some(text_so_far) = text_so_far.take() else { return };
    let message = text_so_far.replace('\n', " ");
    let message = message.trim_end_matches('.').to_owned();
    let mut places: Vec<(usize, usize)> = text_so_far
        .match_indices("line ")
        .map(|(at, _)| numbers_after(&text_so_far[at..], "line ", "column "))
        .collect();
    places.retain(|place| *place != (0, 0));
    if places.is_empty() {
        places.push((0, 0));
    }
    for (line, column) in places {
        found.push(Diagnostic { stage: Stage::Translate, line, column, message: message.clone() });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(text: &str) -> Vec<(usize, usize)> {
        parse(text).into_iter().map(|d| (d.line, d.column)).collect()
    }

    #[test]
    fn errors_are_located() {
        assert_eq!(places(include_str!("../../../tests/data/toolchain/pcal_expected.txt")), [(7, 7)]);
        assert_eq!(places(include_str!("../../../tests/data/toolchain/pcal_unmatched.txt")), [(4, 41)]);
        let found = parse(include_str!("../../../tests/data/toolchain/pcal_expected.txt"));
        assert_eq!(found[0].message, "Expected \";\" but found \":=\" line 7, column 7");
    }

    #[test]
    fn each_missing_label_has_its_position() {
        assert_eq!(places(include_str!("../../../tests/data/toolchain/pcal_labels.txt")), [(7, 2), (7, 10)]);
    }

    #[test]
    fn an_error_without_position_is_kept() {
        let found = parse(include_str!("../../../tests/data/toolchain/pcal_unterminated.txt"));
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].line, found[0].message.as_str()), (0, "Algorithm not in properly terminated comment"));
    }

    #[test]
    fn a_success_has_no_diagnostics() {
        assert_eq!(parse("pcal.trans Version 1.9 of 10 July 2019\nParsing completed.\nTranslation completed.\n"), []);
    }
}
