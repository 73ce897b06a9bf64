//! The prompts of judges and labelers, and the parsing of their answers. Prompts are part of the keys of recordings, so
//! their words must not change.

use std::fmt::Write as _;

use super::judge_plan::{JudgeCase, JudgeKind};
use tlaforge_monitor::synthetic::{Constraint, Synthetic, Wording};

/// For each constraint, whether the trace satisfies it; `None` if unreadable.
pub type Verdicts = Vec<Option<bool>>;

pub(super) const JUDGE: &str = "You judge whether sequences of events keep constraints on their order. Everything that you \
                                need is in the request; you need no file and no tool.";
pub(super) const LABELER: &str = "You say which statements are true of which events. Everything that you need is in the \
                                  request; you need no file and no tool.";

pub(super) fn judge_prompt(judge_case: &JudgeCase, judge: JudgeKind) -> String {
    let entities = judge_case.subject.trace.steps.first().map_or(1, Vec::len);
    let shows = match entities {
        1 => "shows an animal, a shape, a color and a number".to_owned(),
        n => format!("shows {n} entities, Entity 1 to Entity {n}, each with an animal, a shape, a color and a number"),
    };
    let mut text = format!(
        "A trace is a list of steps in the order in which they were observed; each step {shows}. A constraint says in which \
         order things are to be observed. A trace is VALID for a constraint that it keeps from its first step to its last, \
         and INVALID for any other; nothing comes after its last step."
    );
    if judge == JudgeKind::FewShotLabels {
        text.push_str(
            " Behind each step stands which of the statements that the constraints speak of are true of it. They come from \
             a source that makes no mistakes: rely on them.",
        );
    }
    text.push('\n');
    if judge != JudgeKind::ZeroShot {
        text.push_str("\nTwo examples, with constraints and traces of their own:\n");
        for example in &judge_case.examples {
            let _ = write!(text, "\n{}\nAnswer:\n", render_case(example, judge));
            text.push_str(&example_answer(&example.truths));
        }
        text.push_str("\nThis is what is asked for:\n");
    }
    let wanted = (1..=judge_case.subject.constraints.len()).map(|n| format!("Constraint {n}: VALID or INVALID"));
    let _ = write!(
        text,
        "\n{}\nAnswer with these lines and nothing else, each with the word that is right:\n{}\n",
        render_case(&judge_case.subject, judge),
        wanted.collect::<Vec<_>>().join("\n")
    );
    text
}

fn example_answer(truths: &[bool]) -> String {
    (1..).zip(truths).fold(String::new(), |text, (n, truth)| {
        format!("{text}Constraint {n}: {}\n", if *truth { "VALID" } else { "INVALID" })
    })
}

fn render_case(case: &Synthetic, judge: JudgeKind) -> String {
    let mut text = String::new();
    for (n, constraint) in (1..).zip(&case.constraints) {
        let _ = writeln!(text, "Constraint {n}: {}", constraint.wording(Wording::Precise));
    }
    text.push_str("Trace:\n");
    for (sentence, step) in case.trace.sentences().iter().zip(&case.trace.steps) {
        text.push_str(sentence);
        if judge == JudgeKind::FewShotLabels {
            let true_here = |constraint: &Constraint| {
                let words = constraint.propositions_in_words().into_iter().zip(constraint.truths_at(step));
                words.filter(|(_, truth)| *truth).map(|(words, _)| words).collect::<Vec<_>>()
            };
            let here: Vec<String> = case.constraints.iter().flat_map(true_here).collect();
            let here = if here.is_empty() { "none".to_owned() } else { here.join("; ") };
            let _ = write!(text, " [true: {here}]");
        }
        text.push('\n');
    }
    text
}

/// Parses the verdicts of an answer. A constraint with no verdict, or with both, is unreadable. If there is only one
/// constraint, the word alone is enough.
pub fn parse_verdicts(text: &str, constraints: usize) -> Verdicts {
    let word = |text: &str| match text.trim_matches(|c: char| !c.is_alphanumeric()).to_ascii_uppercase().as_str() {
        "VALID" => Some(true),
        "INVALID" => Some(false),
        _ => None,
    };
    let line = |line: &str| -> Option<(usize, bool)> {
        let line = line.trim_matches(|c: char| !c.is_alphanumeric());
        let (head, rest) = line.split_once(':')?;
        let number = head.trim().to_ascii_lowercase().strip_prefix("constraint")?.trim().parse::<usize>().ok()?;
        Some((number, word(rest)?))
    };
    let verdicts: Vec<(usize, bool)> = text.lines().filter_map(line).collect();
    let verdict_on = |number: usize| {
        // A model that contradicts itself has given no verdict.
        let mut all = verdicts.iter().filter(|(n, _)| *n == number).map(|(_, truth)| *truth);
        let first = all.next()?;
        all.all(|truth| truth == first).then_some(first)
    };
    match (constraints, verdicts.is_empty()) {
        (1, true) => vec![word(text)],
        _ => (1..=constraints).map(verdict_on).collect(),
    }
}

/// The propositions of all constraints in words; a shared proposition is listed for each constraint.
pub(super) fn propositions(case: &Synthetic) -> Vec<String> {
    case.constraints.iter().flat_map(Constraint::propositions_in_words).collect()
}

/// The prompt of a labeler for a range of steps, from 0.
pub(super) fn label_prompt(case: &Synthetic, steps: std::ops::Range<usize>) -> String {
    let mut text = String::from("Statements about a single step:\n");
    for (n, words) in (1..).zip(propositions(case)) {
        let _ = writeln!(text, "s{n}: {words}");
    }
    text.push_str("\nSteps:\n");
    for sentence in &case.trace.sentences()[steps] {
        let _ = writeln!(text, "{sentence}");
    }
    text.push_str(
        "\nOf which of these steps is which statement true? Answer with one line for each step of which any is true, such \
         as `Step 7: s1, s3`, in their order, and nothing else; where none is true of any step, with the word `none`.\n",
    );
    text
}

/// Parses the labels of an answer: for each step the numbers of the true statements, from 0. `None` if there is no line, or a
/// line has another form or names a step or statement that was not asked about.
pub fn parse_labels(text: &str, steps: std::ops::Range<usize>, statements: usize) -> Option<Vec<Vec<usize>>> {
    let mut labels = vec![Vec::new(); steps.len()];
    // A model may put its answer into a code block.
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|l| !l.is_empty() && !l.starts_with("```")).collect();
    if lines.is_empty() {
        return None;
    }
    for line in lines {
        let line = line.trim_matches(|c: char| !c.is_alphanumeric());
        if line.eq_ignore_ascii_case("none") {
            continue;
        }
        let (head, rest) = line.split_once(':')?;
        let step: usize = head.trim().to_ascii_lowercase().strip_prefix("step")?.trim().parse().ok()?;
        let step = step.checked_sub(1).filter(|step| steps.contains(step))?;
        if rest.trim().eq_ignore_ascii_case("none") {
            continue;
        }
        for name in rest.split([',', ' ', ';']).map(str::trim).filter(|name| !name.is_empty()) {
            let number: usize = name.to_ascii_lowercase().strip_prefix('s')?.parse().ok()?;
            let number = number.checked_sub(1).filter(|number| *number < statements)?;
            labels[step - steps.start].push(number);
        }
    }
    Some(labels)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_verdicts() {
        let (yes, no) = (Some(true), Some(false));
        for (text, read) in [
            ("Constraint 1: VALID\nConstraint 2: INVALID", vec![yes, no]),
            ("**Constraint 1:** VALID\n- constraint 2: invalid.", vec![yes, no]),
            ("Constraint 2: INVALID\n\nConstraint 1: VALID\nConstraint 1: VALID", vec![yes, no]),
            ("Constraint 1: VALID\nConstraint 1: INVALID\nConstraint 2: VALID", vec![None, yes]),
            ("Constraint 1: VALID or INVALID\nConstraint 2: maybe", vec![None, None]),
            ("VALID", vec![None, None]),
            ("Constraint 3: VALID", vec![None, None]),
            ("I am sorry.", vec![None, None]),
        ] {
            assert_eq!(parse_verdicts(text, 2), read, "{text}");
        }
        for (text, read) in [
            ("INVALID", no),
            ("**Valid.**", yes),
            ("It is valid", None),
            ("Constraint 1: INVALID", no),
            ("not VALID", None),
            ("", None),
        ] {
            assert_eq!(parse_verdicts(text, 1), [read], "{text}");
        }
    }

    #[test]
    fn parses_all_labels_or_none() {
        let read = |text: &str| parse_labels(text, 10..13, 3);
        assert_eq!(read("Step 11: s1, s3\nStep 13: s2"), Some(vec![vec![0, 2], vec![], vec![1]]));
        assert_eq!(read("```\n- Step 12: S2 s3\n```"), Some(vec![vec![], vec![1, 2], vec![]]));
        assert_eq!(read("None."), Some(vec![vec![], vec![], vec![]]));
        assert_eq!(read("Step 11: none"), Some(vec![vec![], vec![], vec![]]));
        for text in ["", "Step 10: s1", "Step 14: s1", "Step 11: s4", "Step 11: s0", "Step 11: the fox", "Sorry.", "s1"]
        {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
