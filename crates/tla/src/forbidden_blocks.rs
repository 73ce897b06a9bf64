//! Rejects text in a model's answer that a reviewer could mistake for what is checked: translation marks, whose content
//! the reviewer does not see, and a second algorithm. It searches the raw text including strings and comments, because
//! the translators do so too.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;

use super::diagnostic::{Diagnostic, Stage};
use super::lexer::Lines;

static MARK: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(BEGIN|END)[\s\u{200b}-\u{200f}\u{2060}\u{feff}]*TRANSLATION").expect("a valid pattern")
});
/// Also matches blanks after the dashes: no translator reads such an algorithm, but a reader may.
static ALGORITHM: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"(?i)(?:^|[^-])(--\s*(?:fair\b\s*\+?\s*)?algorithm\s+\w)").expect("a valid pattern"));
static EXACT: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"--algorithm\s|--fair\s+algorithm\s").expect("a valid pattern"));
/// Both translators start at the first match, whatever is around it (`pcal/trans.java` uses `indexOf`).
static BEGIN: LazyLock<Regex> = LazyLock::new(|| Regex::new("--algorithm|--fair").expect("a valid pattern"));

/// Reports translation marks, and any algorithm besides the one that a translator reads. `text` is a module before its
/// translation.
pub fn forbidden_blocks(text: &str) -> Vec<Diagnostic> {
    let lines = Lines::new(text);
    let refused = |offset: usize, message: String| {
        let (line, column) = lines.position(text, offset);
        Diagnostic { stage: Stage::Lint, line, column, message }
    };
    let mut found: Vec<Diagnostic> = MARK
        .find_iter(text)
        .map(|mark| {
            let message = format!(
                "`{}` is not allowed: only the translator writes such marks; remove them and the text between them",
                mark.as_str().split_whitespace().collect::<Vec<_>>().join(" ")
            );
            refused(mark.start(), message)
        })
        .collect();
    let readable = ALGORITHM.captures_iter(text).filter_map(|found| found.get(1)).map(|begin| begin.start());
    let algorithms: BTreeSet<usize> = readable.chain(BEGIN.find_iter(text).map(|begin| begin.start())).collect();
    let algorithms: Vec<usize> = algorithms.into_iter().collect();
    match algorithms[..] {
        [] => {}
        [only] if !EXACT.is_match(&text[only..]) => {
            found.push(refused(only, "this is not how an algorithm begins: write `--algorithm Name`".to_owned()));
        }
        [_] => {}
        [_, second, ..] => found.push(refused(
            second,
            format!(
                "the module holds {} algorithms, comments included: only one can be checked, so write only one",
                algorithms.len()
            ),
        )),
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_and_second_algorithms_are_found_anywhere() {
        for (text, expected) in [
            ("(* --algorithm A\nbegin skip; end algorithm; *)", 0),
            ("(* --fair algorithm A { { skip } } *)", 0),
            ("(* the algorithm A *)\n\\* ---- algorithm A ----\n", 0),
            ("\\* END OF TRANSLATION, BEGIN the TRANSLATION\n", 0),
            ("\\* BEGIN \t TRANSLATION\n", 1),
            ("x == \"END TRANSLATION\"\n", 1),
            ("(* BEGIN\nTRANSLATION *)", 1),
            ("(* --algorithm A\n *)\n(* --algorithm B\n*)", 1),
            ("(* --algorithm A\n *)\n\\* --Fair Algorithm B\n", 1),
            ("(* -- algorithm A\n*)", 1),
            ("(* ---algorithm A\n*)\n(* --algorithm B\n*)", 1),
            ("(* --algorithm (* c *) A\n*)\n(* --algorithm B\n*)", 1),
            ("(* --fair (* c *) algorithm A\n*)\n(* --algorithm B\n*)", 1),
            ("(* --algorithm A\n*)\n\\* --fair\n", 1),
        ] {
            assert_eq!(forbidden_blocks(text).len(), expected, "{text}: {:?}", forbidden_blocks(text));
        }
    }
}
