//! Compares our translator with the reference on one module for each construct of the PlusCal manuals and one for each
//! mistake. The results of today's reference are stored in `tests/program/pluscal/today`; the reference of 2020 is run.

use std::collections::BTreeMap;

use crate::pluscal::reference::Comparison::{Different, Layout, Same};
use crate::pluscal::reference::{
    Made, Reference, Table, block, checksums, compare, compare_blocks, in_two_threads, modules, ours, tokens,
};
use crate::support::project;
use tlaforge::pluscal::Compat;

/// Cases in which the reference reports the start of a statement or string, and our translator the place of the error in
/// it.
const OURS_IS_CLOSER: [&str; 7] = [
    "assert_empty",
    "assignment_without_value",
    "await_empty",
    "empty_body_c",
    "print_empty",
    "unicode_in_string",
    "variable_named_keyword",
];

/// The positions that today's reference reports for each module of `bad`.
fn rejected_today() -> BTreeMap<String, Vec<(usize, usize)>> {
    let text = std::fs::read_to_string(project().join("tests/program/pluscal/today/rejected.tsv")).unwrap();
    let place = |p: &str| {
        let (line, column) = p.split_once(':').unwrap();
        (line.parse().unwrap(), column.parse().unwrap())
    };
    text.lines()
        .map(|line| {
            let mut fields = line.split('\t');
            (fields.next().unwrap().to_owned(), fields.map(place).collect())
        })
        .collect()
}

#[test]
fn every_case_is_translated_as_todays_translator_does() {
    let (cases, expected) = (modules("cases"), modules("today"));
    assert!(cases.len() >= 200 && cases.keys().eq(expected.keys()), "{} cases", cases.len());
    let mut table = Table::default();
    for (name, text) in &cases {
        let made = ours(text, Compat::Today);
        let as_theirs = |block: &str| format!("\\* BEGIN TRANSLATION\n{block}\\* END TRANSLATION\n");
        let theirs = Made::Translated(as_theirs(&expected[name]));
        table.add(name, compare(text, &made, &theirs));
    }
    println!("today, {} cases: {}\n{}", cases.len(), table.figures(), table.differences.join("\n"));
    table.assert_same_tokens();
}

#[test]
fn the_checksums_of_every_case_are_those_of_todays_translator() {
    let text = std::fs::read_to_string(project().join("tests/program/pluscal/today/checksums.tsv")).unwrap();
    let expected: Vec<(&str, &str)> = text.lines().map(|line| line.split_once('\t').unwrap()).collect();
    let cases = modules("cases");
    assert!(expected.len() >= 200);
    for (name, expected) in expected {
        let Made::Translated(made) = ours(&cases[name], Compat::Today) else { panic!("{name} is rejected") };
        assert_eq!(checksums(&made), Some(expected), "{name}");
    }
}

#[test]
fn every_case_is_translated_as_the_translator_of_2020_does() {
    let (reference, mut table) = (Reference::of_2020(), Table::default());
    let cases: Vec<(String, String)> = modules("cases").into_iter().collect();
    let compared = in_two_threads(&cases, |(name, text)| {
        compare(text, &ours(text, reference.compat), &reference.translate(name, text))
    });
    for ((name, _), compared) in cases.iter().zip(compared) {
        table.add(name, compared);
    }
    println!("2020, {} cases: {}\n{}", cases.len(), table.figures(), table.differences.join("\n"));
    table.assert_same_tokens();
}

#[test]
fn every_mistake_is_rejected_at_the_position_of_the_reference() {
    let (modules, expected) = (modules("bad"), rejected_today());
    assert!(modules.len() >= 90 && modules.keys().eq(expected.keys()), "{} mistakes", modules.len());
    let mut wrong = Vec::new();
    for (name, text) in &modules {
        let places = &expected[name];
        for compat in [Compat::Today, Compat::Y2020] {
            match ours(text, compat) {
                Made::Rejected(found, message) => {
                    // Our translator must report a position even if the reference does not.
                    let located = found.iter().all(|(line, column)| *line > 0 && *column > 0);
                    let there = match places.as_slice() {
                        [] => true,
                        [(line, column), ..] if OURS_IS_CLOSER.contains(&name.as_str()) => {
                            found[0].0 == *line && found[0].1 > *column
                        }
                        places => *places == found,
                    };
                    if !located || !there {
                        wrong.push(format!("{name}: {places:?} expected, {message}"));
                    }
                }
                other => wrong.push(format!("{name}: accepted: {other:?}")),
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn the_translator_of_2020_rejects_every_mistake_too() {
    let reference = Reference::of_2020();
    let bad: Vec<(String, String)> = modules("bad").into_iter().collect();
    let made = in_two_threads(&bad, |(name, text)| reference.translate(name, text));
    for ((name, _), made) in bad.iter().zip(made) {
        assert!(matches!(made, Made::Rejected(..)), "{name}");
    }
}

#[test]
fn translating_a_translation_again_changes_nothing() {
    for (name, text) in modules("cases") {
        let Made::Translated(once) = ours(&text, Compat::Today) else { panic!("{name} is rejected") };
        let Made::Translated(twice) = ours(&once, Compat::Today) else { panic!("{name} is rejected the second time") };
        assert_eq!(once, twice, "{name}");
    }
}

#[test]
fn a_case_with_other_line_ends_has_the_same_tokens() {
    for (name, text) in modules("cases").into_iter().filter(|(_, text)| !text.contains('\r')) {
        let other = ours(&text.replace('\n', "\r\n"), Compat::Today);
        let (Made::Translated(ours), Made::Translated(other)) = (ours(&text, Compat::Today), other) else {
            panic!("{name} is rejected")
        };
        let tokens_of = |text: &str| tokens(block(text).unwrap());
        assert_eq!(tokens_of(&ours), tokens_of(&other), "{name}");
    }
}

#[test]
fn the_comparison_detects_differences() {
    let block = "Init == /\\ x = 0\n        /\\ pc = \"L\"\n";
    let kind = |other: &str| compare_blocks(block, other).0;
    assert_eq!(kind(block), Same);
    assert_eq!(kind(&block.replace("        ", "  ")), Layout);
    assert_eq!(kind(&block.replace("x = 0", "x=0")), Layout);
    assert_eq!(kind(&block.replace("x = 0", "x == 0")), Different);
    assert_eq!(kind(&block.replace("\"L\"", "\"L \"")), Different);
    assert_eq!(kind(&block.replace("/\\ pc", "/ \\ pc")), Different);
    assert_eq!(kind(&block.replace("/\\ pc = \"L\"", "")), Different);
    assert_eq!(kind(&(block.to_owned() + "\\* a remark\n")), Different);
    assert_eq!(tokens("x'=[f EXCEPT![1]=@]"), ["x", "'", "=", "[", "f", "EXCEPT", "!", "[", "1", "]", "=", "@", "]"]);
    assert_eq!(tokens("<<a>>\\in[]_v \"a\\\"b\" |->"), ["<<", "a", ">>", "\\in", "[]", "_v", "\"a\\\"b\"", "|->"]);
}
