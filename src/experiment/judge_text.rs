//! What judges and labelers are asked, and what they answered.

use std::fmt::Write as _;

use super::judge::{Judging, Way};
use crate::monitor::synthetic::{Constraint, Synthetic, Wording};

/// Of each constraint, what was said of it; `None` where that could not be read.
pub type Verdicts = Vec<Option<bool>>;

pub(super) const JUDGE: &str = "You judge whether sequences of events keep constraints on their order. Everything that you \
                                need is in the request; you need no file and no tool.";
pub(super) const LABELER: &str = "You say which statements are true of which events. Everything that you need is in the \
                                  request; you need no file and no tool.";

/// The prompt of a judge.
pub(super) fn judge_prompt(judging: &Judging, way: Way) -> String {
    let entities = judging.judged.trace.steps.first().map_or(1, Vec::len);
    let shows = match entities {
        1 => "shows an animal, a shape, a color and a number".to_owned(),
        n => format!("shows {n} entities, Entity 1 to Entity {n}, each with an animal, a shape, a color and a number"),
    };
    let mut text = format!(
        "A trace is a list of steps in the order in which they were observed; each step {shows}. A constraint says in which \
         order things are to be observed. A trace is VALID for a constraint that it keeps from its first step to its last, \
         and INVALID for any other; nothing comes after its last step."
    );
    if way == Way::FewShotLabels {
        text.push_str(
            " Behind each step stands which of the statements that the constraints speak of are true of it. They come from \
             a source that makes no mistakes: rely on them.",
        );
    }
    text.push('\n');
    if way != Way::ZeroShot {
        text.push_str("\nTwo examples, with constraints and traces of their own:\n");
        for example in &judging.examples {
            let _ = write!(text, "\n{}\nAnswer:\n", case(example, way));
            text.push_str(&answer(&example.truths));
        }
        text.push_str("\nThis is what is asked for:\n");
    }
    let wanted = (1..=judging.judged.constraints.len()).map(|n| format!("Constraint {n}: VALID or INVALID"));
    let _ = write!(
        text,
        "\n{}\nAnswer with these lines and nothing else, each with the word that is right:\n{}\n",
        case(&judging.judged, way),
        wanted.collect::<Vec<_>>().join("\n")
    );
    text
}

fn answer(truths: &[bool]) -> String {
    (1..).zip(truths).fold(String::new(), |text, (n, truth)| {
        format!("{text}Constraint {n}: {}\n", if *truth { "VALID" } else { "INVALID" })
    })
}

fn case(case: &Synthetic, way: Way) -> String {
    let mut text = String::new();
    for (n, constraint) in (1..).zip(&case.constraints) {
        let _ = writeln!(text, "Constraint {n}: {}", constraint.wording(Wording::Precise));
    }
    text.push_str("Trace:\n");
    for (sentence, step) in case.trace.sentences().iter().zip(&case.trace.steps) {
        text.push_str(sentence);
        if way == Way::FewShotLabels {
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

/// What an answer says of each constraint. A constraint of which it says nothing, or both, is not read; where there is one
/// constraint, the bare word will do.
pub fn verdicts_in(text: &str, constraints: usize) -> Verdicts {
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
    let said: Vec<(usize, bool)> = text.lines().filter_map(line).collect();
    let of = |number: usize| {
        let mut of_it = said.iter().filter(|(n, _)| *n == number).map(|(_, truth)| *truth);
        let first = of_it.next()?;
        of_it.all(|truth| truth == first).then_some(first)
    };
    match (constraints, said.is_empty()) {
        (1, true) => vec![word(text)],
        _ => (1..=constraints).map(of).collect(),
    }
}

/// The propositions of all constraints, in words; what two of them share stands once for each.
pub(super) fn propositions(of: &Synthetic) -> Vec<String> {
    of.constraints.iter().flat_map(Constraint::propositions_in_words).collect()
}

/// The prompt of a labeler for some steps, which are numbered from 0.
pub(super) fn label_prompt(of: &Synthetic, steps: std::ops::Range<usize>) -> String {
    let mut text = String::from("Statements about a single step:\n");
    for (n, words) in (1..).zip(propositions(of)) {
        let _ = writeln!(text, "s{n}: {words}");
    }
    text.push_str("\nSteps:\n");
    for sentence in &of.trace.sentences()[steps] {
        let _ = writeln!(text, "{sentence}");
    }
    text.push_str(
        "\nOf which of these steps is which statement true? Answer with one line for each step of which any is true, such \
         as `Step 7: s1, s3`, in their order, and nothing else; where none is true of any step, with the word `none`.\n",
    );
    text
}

/// The statements, from 0, that an answer says are true at each of some steps; `None` where it cannot be read: a line says
/// something else, names a step or a statement that was not asked about, or there is no line.
pub fn labels_in(text: &str, steps: std::ops::Range<usize>, statements: usize) -> Option<Vec<Vec<usize>>> {
    let mut labels = vec![Vec::new(); steps.len()];
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
    fn a_verdict_is_read_or_it_is_none() {
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
            assert_eq!(verdicts_in(text, 2), read, "{text}");
        }
        for (text, read) in [
            ("INVALID", no),
            ("**Valid.**", yes),
            ("It is valid", None),
            ("Constraint 1: INVALID", no),
            ("not VALID", None),
            ("", None),
        ] {
            assert_eq!(verdicts_in(text, 1), [read], "{text}");
        }
    }

    #[test]
    fn labels_are_read_whole_or_not_at_all() {
        let read = |text: &str| labels_in(text, 10..13, 3);
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
