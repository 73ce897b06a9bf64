//! The comment `\* covers R1, R3`, by which a definition names the requirements it covers, and its variant in a
//! configuration, `\* Deadlock covers R4`. Works on single lines and knows neither modules nor configurations.

use super::outcome::{ASSERTION, DEADLOCK};

/// What a line of a comment says about requirements that are covered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum CoverLine {
    /// `covers` and requirements, each once, and nothing else.
    Covers(Vec<String>),
    /// `covers nothing`, perhaps with a reason, or a line about something else.
    Nothing,
    /// It speaks of covering, and what it covers is not certain: `covers R1 no longer`, `does not cover R1`.
    Unclear,
}

/// Reads a line without the marks of its comment.
pub(super) fn read_cover_line(line: &str) -> CoverLine {
    let line = line.trim();
    let begins = |word: &str, with: &str| word.get(..with.len()).is_some_and(|start| start.eq_ignore_ascii_case(with));
    if let Some(list) = after_covers(line) {
        if let Some(ids) = read_list(list) {
            return CoverLine::Covers(ids);
        }
        let reason = list.strip_prefix("nothing");
        if reason.is_some_and(|reason| reason.is_empty() || reason.trim_start().starts_with([':', '(', '.', ',', ';']))
        {
            return CoverLine::Nothing;
        }
    }
    let names_requirement = || {
        let is_id = |word: &str| requirement_id(&word.to_uppercase()).is_some();
        line.split(is_separator).any(is_id)
    };
    let speaks_of_covering = line.split(is_separator).any(|word| begins(word, "cover"));
    let first = line.split(is_separator).next().unwrap_or_default().to_ascii_lowercase();
    let begins_a_claim = ["cover", "covers", "covering"].contains(&first.as_str());
    if begins_a_claim || (speaks_of_covering && names_requirement()) {
        return CoverLine::Unclear;
    }
    CoverLine::Nothing
}

/// Reads the lines of one comment, without its marks. A list of requirements that the line before or after it restricts
/// (`covers R1` above `no longer`) is not certain.
pub(super) fn read_cover_lines(lines: &[&str]) -> Vec<CoverLine> {
    let read = |at: usize| match read_cover_line(lines[at]) {
        CoverLine::Covers(_)
            if lines.get(at + 1).is_some_and(|next| begins_with_restriction(next))
                || at.checked_sub(1).is_some_and(|before| ends_with_negation(lines[before])) =>
        {
            CoverLine::Unclear
        }
        other => other,
    };
    (0..lines.len()).map(read).collect()
}

/// Whether a line restricts the list above it. `no two clients hold the lock` describes the property, and so does a sentence
/// such as "Until the lease ends, …".
fn begins_with_restriction(line: &str) -> bool {
    const PHRASES: [&str; 9] =
        ["no longer", "but", "except", "excluding", "partly", "partially", "in part", "only in part", "only partly"];
    const BEFORE_A_CLAUSE: [&str; 3] = ["not", "unless", "until"];
    let line = line.trim_start_matches(is_separator);
    let is_sentence = line.starts_with(char::is_uppercase);
    let line = line.to_lowercase();
    let ends_at_word = |rest: &str| !rest.starts_with(char::is_alphanumeric);
    let begins = |phrase: &&str| line.strip_prefix(*phrase).is_some_and(ends_at_word);
    PHRASES.iter().any(begins) || !is_sentence && BEFORE_A_CLAUSE.iter().any(begins)
}

/// Whether a line denies the list below it. A mark after the last word ends the sentence.
fn ends_with_negation(line: &str) -> bool {
    const WORDS: [&str; 7] = ["not", "never", "longer", "cannot", "neither", "nor", "hardly"];
    let word = line.split_whitespace().last().unwrap_or_default().to_lowercase();
    WORDS.contains(&word.as_str()) || word.ends_with("n't") || word.ends_with("n\u{2019}t")
}

fn is_separator(c: char) -> bool {
    !c.is_alphanumeric()
}

/// What follows `covers` or `Covers:` at the start of a line.
fn after_covers(line: &str) -> Option<&str> {
    let (head, rest) = line.split_at_checked("covers".len())?;
    let rest = rest.strip_prefix(':').unwrap_or(rest);
    (head.eq_ignore_ascii_case("covers") && rest.starts_with([' ', '\t'])).then(|| rest.trim())
}

/// A list of requirements: commas, `and`, `&` and blanks between them, perhaps a full stop after the last one.
fn read_list(list: &str) -> Option<Vec<String>> {
    let list = list.strip_suffix('.').unwrap_or(list);
    let mut found = Vec::new();
    // Whether a requirement must follow: at the start and after `,` and `and`.
    let mut is_open = true;
    let spaced = list.replace(',', " , ");
    for word in spaced.split([' ', '\t']).filter(|word| !word.is_empty()) {
        match word {
            // `R1, and R2`
            "and" | "&" if found.is_empty() => return None,
            "and" | "&" => is_open = true,
            "," if is_open => return None,
            "," => is_open = true,
            _ => {
                let id = requirement_id(word)?;
                is_open = false;
                add_new(&mut found, vec![id]);
            }
        }
    }
    (!is_open).then_some(found)
}

/// Adds the requirements that are not there yet.
pub(super) fn add_new(found: &mut Vec<String>, ids: Vec<String>) {
    for id in ids {
        if !found.contains(&id) {
            found.push(id);
        }
    }
}

/// What a comment of a configuration says of `Deadlock` or `Assertion`, the two properties that have no definition:
/// `\* Deadlock covers R4`. `None` for a comment about something else, an error for one whose meaning is not certain.
pub(super) fn read_builtin_cover(comment: &str) -> Result<Option<(&'static str, Vec<String>)>, ()> {
    let line = comment.trim_start_matches("\\*").trim();
    for name in [DEADLOCK, ASSERTION] {
        if let Some(rest) = line.strip_prefix(name).filter(|rest| rest.starts_with([' ', '\t'])) {
            return match read_cover_line(rest) {
                CoverLine::Covers(ids) => Ok(Some((name, ids))),
                CoverLine::Nothing => Ok(None),
                CoverLine::Unclear => Err(()),
            };
        }
    }
    match read_cover_line(line) {
        CoverLine::Nothing => Ok(None),
        CoverLine::Covers(_) | CoverLine::Unclear => Err(()),
    }
}

/// A requirement's number in its usual spelling: `R4` for `R04`. `None` for any other word.
pub fn requirement_id(word: &str) -> Option<String> {
    let digits = word.strip_prefix('R').filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))?;
    digits.parse::<u32>().ok().map(|number| format!("R{number}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_list_of_requirements_after_the_word_covers_any() {
        for (line, covered) in [
            ("covers R1", &["R1"][..]),
            ("Covers: R1, R02 and R3.", &["R1", "R2", "R3"]),
            ("covers R1 R2 & R1", &["R1", "R2"]),
            ("covers R1, and R2", &["R1", "R2"]),
        ] {
            let covered = covered.iter().map(|id| (*id).to_owned()).collect();
            assert_eq!(read_cover_line(line), CoverLine::Covers(covered), "{line}");
        }
        for line in [
            "covers nothing",
            "covers nothing: the types of R1",
            "see R1",
            "a cover sheet",
            "what R1 demands",
            "covered at the opening, no longer covered later",
        ] {
            assert_eq!(read_cover_line(line), CoverLine::Nothing, "{line}");
        }
        for line in [
            "covers R1 no longer",
            "covers R1?",
            "covers R1!",
            "covers R1 partly",
            "covers R1, but not R2",
            "covers R1 (safety)",
            "covers R1: all of it",
            "covers R1; R2",
            "covers R1, R2,",
            "covers R1,, R2",
            "covers , R1",
            "covers and R1",
            "covers R1 and",
            "covers R1-R3",
            "covers R1 to R3",
            "covers R1 because of R2",
            "covers R1\u{200b}",
            "covers\u{a0}R1",
            "covers\u{200b} R1",
            "covers r1",
            "covers R1a",
            "covers requirement 1",
            "covers",
            "covers nothing of R1",
            "cover R1",
            "covered: R1",
            "no longer covers R1",
            "does not cover R1",
            "R1: covered below",
            "- covers R1",
            "TODO covers R1",
        ] {
            assert_eq!(read_cover_line(line), CoverLine::Unclear, "{line}");
        }
    }

    #[test]
    fn a_list_that_the_line_before_or_after_it_restricts_covers_nothing() {
        for lines in [
            ["covers R1", "no longer"],
            ["covers R1", "But not when the lease ends."],
            ["covers R1", "(only in part)"],
            ["This does not", "covers R1"],
            ["It doesn't", "covers R1"],
            ["This does NOT", "covers R1"],
            ["covers R1", "- until the lease ends"],
        ] {
            let read = read_cover_lines(&lines);
            assert!(read.contains(&CoverLine::Unclear), "{lines:?}");
            assert!(!read.iter().any(|line| matches!(line, CoverLine::Covers(_))), "{lines:?}");
        }
        for lines in
            [["covers R1", "No two clients hold the lock."], ["What must never be:", "covers R1"], ["covers R1", ""]]
        {
            assert!(read_cover_lines(&lines).contains(&CoverLine::Covers(vec!["R1".to_owned()])), "{lines:?}");
        }
    }

    #[test]
    fn a_configuration_says_what_deadlock_and_assertion_cover() {
        assert_eq!(
            read_builtin_cover("\\* Deadlock covers R4, R05"),
            Ok(Some((DEADLOCK, vec!["R4".into(), "R5".into()])))
        );
        assert_eq!(read_builtin_cover("\\*  Assertion covers: R6"), Ok(Some((ASSERTION, vec!["R6".into()]))));
        for comment in ["\\* Deadlock is checked", "\\* WITNESS R1", "\\* as R1 says", "\\* Deadlock covers nothing"] {
            assert_eq!(read_builtin_cover(comment), Ok(None), "{comment}");
        }
        for comment in [
            "\\* Deadlock covers R4 no longer",
            "\\* Deadlock does not cover R4",
            "\\* Deadlok covers R4",
            "\\* Mutex covers R1",
            "\\* covers R1",
        ] {
            assert_eq!(read_builtin_cover(comment), Err(()), "{comment}");
        }
    }
}
