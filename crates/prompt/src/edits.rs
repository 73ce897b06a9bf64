//! Edits: an answer can name the lines of a text that it changes instead of repeating the whole text.

use super::invisible_characters::show_control;
use super::problem::Problem;

/// An edit: these lines are replaced by those.
struct Edit {
    search: Vec<String>,
    replace: Vec<String>,
}

/// A text after the edits of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edited {
    pub text: String,
    /// How many edits are in the text now, those that were in it before included.
    pub applied: usize,
    /// The edits that could not be applied, each with the reason.
    pub left: Vec<String>,
}

impl Edited {
    /// What was applied and what is left, in words for the model; `None` if nothing is left.
    pub fn problem(&self) -> Option<Problem> {
        if self.left.is_empty() {
            return None;
        }
        let applied = match self.applied {
            0 => "none of your edits was applied".to_owned(),
            1 => "1 edit was applied, and `previous.md` has it already: do not repeat it".to_owned(),
            n => format!("{n} edits were applied, and `previous.md` has them already: do not repeat them"),
        };
        let these = if self.left.len() == 1 { "this one was not applied" } else { "these were not applied" };
        Some(Problem::new(format!(
            "{applied}; {these}. Give what is left with lines that occur once in `previous.md`, or answer with the whole \
             text:\n\n- {}",
            self.left.join("\n- ")
        )))
    }
}

/// Applies the edits in an answer to the text that it repairs. `None` if the answer holds no edits. `before` is the text
/// before earlier edits of the same task, so that an edit that the model repeats is recognised.
///
/// An edit is a block of lines, wherever it is in the answer:
///
/// ```text
/// <<<<<<< SEARCH
/// lines of the text
/// =======
/// the lines in their place
/// >>>>>>> REPLACE
/// ```
///
/// An edit whose result is in the text already counts as applied. One whose lines occur nowhere or more than once is left.
///
/// # Errors
///
/// A block is not complete. Nothing is applied then.
pub fn apply_edits(previous: &str, before: Option<&str>, answer: &str) -> Option<Result<Edited, Problem>> {
    if !answer.lines().any(is_start) {
        return None;
    }
    Some(parse(answer).map(|edits| apply(previous, before, &edits)))
}

fn is_start(line: &str) -> bool {
    line.trim_end() == "<<<<<<< SEARCH"
}

fn parse(answer: &str) -> Result<Vec<Edit>, Problem> {
    let mut edits: Vec<Edit> = Vec::new();
    let mut lines = answer.lines();
    while lines.by_ref().any(is_start) {
        let number = edits.len() + 1;
        let mut part = |end: &dyn Fn(&str) -> bool, word: &str| {
            let mut found = Vec::new();
            loop {
                match lines.next() {
                    Some(line) if end(line.trim_end()) => return Ok(found),
                    Some(line) if !is_start(line) => found.push(line.to_owned()),
                    _ => return Err(Problem::new(format!("edit {number} has no line `{word}`"))),
                }
            }
        };
        let search = part(&|line| line == "=======", "=======")?;
        let replace = part(&|line| line.starts_with(">>>>>>>"), ">>>>>>> REPLACE")?;
        edits.push(Edit { search, replace });
    }
    Ok(edits)
}

fn apply(previous: &str, before: Option<&str>, edits: &[Edit]) -> Edited {
    // As the model was shown them.
    let (previous, before) = (show_control(previous), before.map(show_control));
    let mut lines: Vec<String> = previous.lines().map(str::to_owned).collect();
    let before: Vec<String> = before.iter().flat_map(|text| text.lines()).map(str::to_owned).collect();
    let (mut applied, mut left) = (0, Vec::new());
    for (i, edit) in edits.iter().enumerate() {
        match apply_one(&mut lines, &before, edit) {
            Ok(()) => applied += 1,
            Err(why) => left.push(format!("edit {}: {why}", i + 1)),
        }
    }
    Edited { text: lines.join("\n") + "\n", applied, left }
}

fn apply_one(lines: &mut Vec<String>, before: &[String], edit: &Edit) -> Result<(), String> {
    let search = without_line_numbers(&edit.search);
    if search.iter().all(|line| line.trim().is_empty()) {
        return Err("it searches for nothing; name the lines before the new ones".to_owned());
    }
    let is_numbered = search.iter().zip(&edit.search).any(|(text, line)| text.len() < line.len());
    let text_of = |line: &String| match line_text(line).filter(|_| is_numbered) {
        Some(text) => text.to_owned(),
        None => line.clone(),
    };
    let replace: Vec<String> = edit.replace.iter().map(text_of).collect();
    let found = occurrences(lines, &search);
    if is_applied(lines, before, &search, &replace, &found) {
        return Ok(());
    }
    let [at] = found.as_slice() else {
        let times = if found.is_empty() { "nowhere".to_owned() } else { format!("{} times", found.len()) };
        let first = search.first().copied().unwrap_or_default().trim();
        return Err(format!("its lines occur {times} in `previous.md`, beginning with `{first}`"));
    };
    lines.splice(*at..at + search.len(), replace);
    Ok(())
}

/// Whether the text has the result of an edit already, because the model repeats an edit of an earlier answer.
fn is_applied(lines: &[String], before: &[String], search: &[&str], replace: &[String], found: &[usize]) -> bool {
    let result: Vec<&str> = replace.iter().map(String::as_str).collect();
    let is_result_there = || !result.is_empty() && !occurrences(lines, &result).is_empty();
    match found {
        // What it searches for was in the text before.
        [] => occurrences(before, search).len() == 1 && (result.is_empty() || is_result_there()),
        // The new lines contain the old ones, and are there as a whole.
        [at] => {
            let offset = occurrences_in(&result, search).into_iter().next();
            let start = offset.filter(|_| result.len() > search.len()).and_then(|offset| at.checked_sub(offset));
            start.is_some_and(|start| occurrences(lines, &result).contains(&start))
        }
        _ => false,
    }
}

/// Where these lines begin, without regard to white space at the end of a line.
fn occurrences(lines: &[String], wanted: &[&str]) -> Vec<usize> {
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    occurrences_in(&lines, wanted)
}

fn occurrences_in(lines: &[&str], wanted: &[&str]) -> Vec<usize> {
    let is_here = |at: &usize| lines[*at..].iter().zip(wanted).all(|(is, wanted)| is.trim_end() == wanted.trim_end());
    let last = (lines.len() + 1).saturating_sub(wanted.len());
    (0..last).filter(is_here).collect()
}

/// The lines without the numbers that they have in `previous.md` (`12 | text`), if each has one.
fn without_line_numbers(lines: &[String]) -> Vec<&str> {
    let numbered: Option<Vec<&str>> = lines.iter().map(|line| line_text(line)).collect();
    numbered.filter(|lines| !lines.is_empty()).unwrap_or_else(|| lines.iter().map(String::as_str).collect())
}

/// The text after a line number; `None` without one.
fn line_text(line: &str) -> Option<&str> {
    let (number, text) = line.split_once(" |")?;
    let is_number = !number.trim().is_empty() && number.trim().bytes().all(|b| b.is_ascii_digit());
    is_number.then(|| text.strip_prefix(' ').unwrap_or(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "one\ntwo  \nthree\ntwo\n====\n";

    fn edit(search: &str, replace: &str) -> String {
        format!("Here:\n```\n<<<<<<< SEARCH\n{search}=======\n{replace}>>>>>>> REPLACE\n```\n")
    }

    #[test]
    fn edits_replace_whole_lines_that_occur_once() {
        for (answer, expected) in [
            (edit("three\n", "3\n3b\n"), "one\ntwo  \n3\n3b\ntwo\n====\n"),
            (edit("one\ntwo\n", "1\n"), "1\nthree\ntwo\n====\n"),
            (edit("three\ntwo\n", ""), "one\ntwo  \n====\n"),
            (edit("3 | three\n", "3 | three\nnew\n"), "one\ntwo  \nthree\nnew\ntwo\n====\n"),
            (edit("3 | three\n4 | two\n", "three\n"), "one\ntwo  \nthree\n====\n"),
            (edit("one\n", "0\n") + &edit("0\n", "zero\n"), "zero\ntwo  \nthree\ntwo\n====\n"),
        ] {
            let edited = apply_edits(TEXT, None, &answer).unwrap().unwrap();
            assert_eq!((edited.text.as_str(), edited.problem()), (expected, None), "{answer}");
        }
        assert!(apply_edits(TEXT, None, "the whole text\n=======\n").is_none());
    }

    #[test]
    fn edits_that_do_not_fit_are_left_and_the_others_applied() {
        for (answer, expected, why) in [
            (edit("two\n", "2\n"), TEXT, "none of your edits was applied; this one was not applied."),
            (edit("two\n", "2\n"), TEXT, "- edit 1: its lines occur 2 times"),
            (edit("one\n", "1\n") + &edit("four\n", ""), "1\ntwo  \nthree\ntwo\n====\n", "1 edit was applied, and"),
            (
                edit("four\n", "") + &edit("one\n", "1\n"),
                "1\ntwo  \nthree\ntwo\n====\n",
                "- edit 1: its lines occur nowhere",
            ),
            (edit("", "0\n"), TEXT, "searches for nothing"),
            (edit("o\n", "0\n"), TEXT, "occur nowhere"),
        ] {
            let edited = apply_edits(TEXT, None, &answer).unwrap().unwrap();
            let problem = edited.problem().unwrap().what;
            assert!(edited.text == expected && problem.contains(why), "{answer}: {edited:?} {problem}");
        }
        let empty = apply_edits("", None, &edit("one\n", "")).unwrap().unwrap();
        assert_eq!((empty.applied, empty.left.len()), (0, 1));
    }

    #[test]
    fn an_incomplete_edit_applies_nothing() {
        for (answer, why) in [
            ("<<<<<<< SEARCH\none\n", "edit 1 has no line `=======`"),
            ("<<<<<<< SEARCH\none\n=======\n1\n", "edit 1 has no line `>>>>>>> REPLACE`"),
            ("<<<<<<< SEARCH\none\n<<<<<<< SEARCH\n=======\n>>>>>>> REPLACE\n", "edit 1 has no line `=======`"),
        ] {
            let problem = apply_edits(TEXT, None, answer).unwrap().unwrap_err();
            assert!(problem.what.contains(why), "{answer}: {}", problem.what);
        }
    }

    /// Whichever edits of an answer fitted, the same answer once more changes nothing and leaves the same edits.
    #[test]
    fn repeated_edits_are_recognised() {
        let all = [
            edit("one\n", "1\n"),
            edit("three\n", "three\nfour\n"),
            edit("two\nthree\n", "three\n"),
            edit("====\n", "five\n====\n"),
            edit("three\n", ""),
            edit("nowhere\n", "x\n"),
        ];
        for chosen in 1..1u32 << all.len() {
            let answer: String = (0..all.len()).filter(|i| chosen & 1 << i != 0).map(|i| all[i].as_str()).collect();
            let first = apply_edits(TEXT, None, &answer).unwrap().unwrap();
            let again = apply_edits(&first.text, Some(TEXT), &answer).unwrap().unwrap();
            // The fifth edit removes what the second and the third one made.
            if chosen & 0b1_0000 == 0 || chosen & 0b0_0110 == 0 {
                assert_eq!((&again.text, again.applied), (&first.text, first.applied), "{answer}");
            }
        }
    }

    #[test]
    fn a_control_character_is_edited_as_it_is_shown() {
        let edited = apply_edits("a\u{0}b\nc\n", None, &edit("a<U+0000>b\n", "ab\n")).unwrap().unwrap();
        assert_eq!((edited.text.as_str(), edited.left.len()), ("ab\nc\n", 0));
    }
}
