//! Edits: an answer can name the lines of a text that it changes instead of repeating the whole text.

use super::problem::Problem;

/// An edit: these lines are replaced by those.
struct Edit {
    search: Vec<String>,
    replace: Vec<String>,
}

/// Applies the edits in an answer to the text that it repairs. `None` if the answer holds no edits.
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
/// # Errors
///
/// The lines of an edit occur nowhere in the text, or more than once, or a block is not complete. Nothing is applied then.
pub fn apply_edits(previous: &str, answer: &str) -> Option<Result<String, Problem>> {
    if !answer.lines().any(is_start) {
        return None;
    }
    Some(parse(answer).and_then(|edits| apply(previous, &edits)))
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

fn apply(previous: &str, edits: &[Edit]) -> Result<String, Problem> {
    let mut lines: Vec<String> = previous.lines().map(str::to_owned).collect();
    for (i, edit) in edits.iter().enumerate() {
        let number = i + 1;
        let search = without_line_numbers(&edit.search);
        if search.iter().all(|line| line.trim().is_empty()) {
            return Err(Problem::new(format!(
                "edit {number} searches for nothing; name the lines before the new ones"
            )));
        }
        let is_here =
            |at: &usize| lines[*at..].iter().zip(&search).all(|(is, wanted)| is.trim_end() == wanted.trim_end());
        let last = (lines.len() + 1).saturating_sub(search.len());
        let found: Vec<usize> = (0..last).filter(is_here).collect();
        match found.as_slice() {
            [at] => {
                let is_numbered = search.iter().zip(&edit.search).any(|(text, line)| text.len() < line.len());
                let text_of = |line: &String| match line_text(line).filter(|_| is_numbered) {
                    Some(text) => text.to_owned(),
                    None => line.clone(),
                };
                let replace: Vec<String> = edit.replace.iter().map(text_of).collect();
                lines.splice(*at..at + search.len(), replace);
            }
            found => {
                let times = if found.is_empty() { "nowhere".to_owned() } else { format!("{} times", found.len()) };
                return Err(Problem::new(format!(
                    "edit {number} was not applied, and none of them was: its lines occur {times} in `previous.md`, beginning \
                     with `{}`. Repeat all edits, each with lines that occur once, or answer with the whole text",
                    search.first().copied().unwrap_or_default().trim()
                )));
            }
        }
    }
    Ok(lines.join("\n") + "\n")
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
            assert_eq!(apply_edits(TEXT, &answer).unwrap().unwrap(), expected, "{answer}");
        }
        assert!(apply_edits(TEXT, "the whole text\n=======\n").is_none());
    }

    #[test]
    fn an_edit_that_does_not_fit_applies_nothing_and_says_why() {
        for (answer, why) in [
            (edit("two\n", "2\n"), "edit 1 was not applied, and none of them was: its lines occur 2 times"),
            (
                edit("one\n", "1\n") + &edit("four\n", ""),
                "edit 2 was not applied, and none of them was: its lines occur nowhere",
            ),
            (edit("", "0\n"), "searches for nothing"),
            (edit("o\n", "0\n"), "occur nowhere"),
            ("<<<<<<< SEARCH\none\n".to_owned(), "edit 1 has no line `=======`"),
            ("<<<<<<< SEARCH\none\n=======\n1\n".to_owned(), "edit 1 has no line `>>>>>>> REPLACE`"),
            (
                "<<<<<<< SEARCH\none\n<<<<<<< SEARCH\n=======\n>>>>>>> REPLACE\n".to_owned(),
                "edit 1 has no line `=======`",
            ),
        ] {
            let problem = apply_edits(TEXT, &answer).unwrap().unwrap_err();
            assert!(problem.what.contains(why), "{answer}: {}", problem.what);
        }
        assert!(apply_edits("", &edit("one\n", "")).unwrap().is_err());
    }
}
