//! Renders the mutants of a run: those of strengthening with its rounds, and the sample of an approved specification.

use std::fmt::Write as _;

use crate::mutation::Outcome;
use crate::pipeline::{
    ForbiddenExample, Judged, JudgedMutant, MutantSample, NOT_IN_TIME, NoticedIn, Strengthened, Tally, unjudged_words,
};

use super::count::counted;
use super::lines::writeln;

/// Number of survivors in a summary; `meta.json` lists all of them.
const LISTED: usize = 10;

pub fn mutants_sentence(judged: &Judged) -> String {
    let classes = Outcome::ALL.into_iter().map(|outcome| (judged.with_outcome(outcome).count(), outcome));
    let classes: Vec<String> =
        classes.filter(|(n, _)| *n > 0).map(|(n, outcome)| format!("{n} {}", outcome.words())).collect();
    let unjudged = unjudged_words(judged.unjudged_count, &judged.unjudged_reasons);
    let late = unjudged.map_or_else(String::new, |words| format!(", {words}"));
    format!("{} of {}: {}{late}", judged.mutants.len(), counted(judged.generated, "mutant"), classes.join(", "))
}

pub(super) fn strengthened_line(strengthened: &Strengthened) -> String {
    let Strengthened {
        skipped_reason: unfit,
        generated: made,
        judged,
        unjudged_count: late,
        unjudged_reasons,
        undecided_before,
        undecided,
        before,
        after,
        rounds,
        ..
    } = strengthened;
    if let Some(why) = unfit {
        return format!("not judged: {why}");
    }
    let mut line = after.words();
    if !rounds.is_empty() {
        let _ = write!(line, ", before {}", before.words());
    }
    let Some(judged) = judged else { return line };
    let _ = write!(line, "; {judged} judged of {} drawn ({made} in all); not decided: {undecided}", judged + late);
    if !rounds.is_empty() {
        let _ = write!(line, ", before {undecided_before}");
    }
    if let Some(words) = unjudged_words(*late, unjudged_reasons).filter(|_| !unjudged_reasons.is_empty()) {
        let _ = write!(line, "; {words}");
    }
    line
}

/// A section of the summary.
pub(super) fn strengthened_text(strengthened: &Strengthened) -> String {
    let mut text = format!("\nMutants: {}\n", strengthened_line(strengthened));
    for (at, round) in strengthened.rounds.iter().enumerate() {
        let _ = writeln!(text, "  round {}: {}", at + 1, round.why);
        if let Some(violated) = &round.violated {
            let covers = match violated.covers.as_slice() {
                [] => String::new(),
                ids => format!(", said to cover {},", ids.join(", ")),
            };
            let _ = writeln!(
                text,
                "      {}{covers} is violated by the specification itself, so one of the two is wrong; the trace is in \
                 meta.json",
                violated.property
            );
        }
    }
    if !strengthened.surviving.is_empty() {
        text.push_str("  still surviving:\n");
    }
    text.push_str(&list_mutants(&strengthened.surviving));
    text
}

/// For example `17 of 19 noticed; 40 of 263 sampled; not counted: 12 equivalent, 2 timed out`.
pub(super) fn sample_line(sample: &MutantSample) -> String {
    if let Some(why) = &sample.skipped_reason {
        return format!("not sampled: {why}");
    }
    let Tally { killed, survived, .. } = sample.tally;
    let mut line = match killed + survived {
        0 => "none was killed, none survived".to_owned(),
        all => format!("{killed} of {all} noticed{}", undecided_range(sample, killed, all)),
    };
    let _ = write!(line, "; {} of {} sampled", sample.sampled, sample.generated);
    let is_counted = |name: &str| ["killed", "survived"].contains(&name);
    let left_out = sample.counts.iter().filter(|(name, count)| **count > 0 && !is_counted(name));
    let left_out: Vec<String> = left_out.map(|(name, count)| format!("{count} {}", name.replace('_', " "))).collect();
    if !left_out.is_empty() {
        let _ = write!(line, "; not counted: {}", left_out.join(", "));
    }
    match (sample.unjudged.len(), unjudged_words(sample.unjudged.len(), &sample.unjudged_reasons)) {
        (_, None) => {}
        (more, _) if sample.unjudged_reasons.values().all(|why| why == NOT_IN_TIME) => {
            let _ = write!(line, "; {more} more drawn, {NOT_IN_TIME}");
        }
        (more, Some(words)) => {
            let _ = write!(line, "; {more} more drawn: {words}");
        }
    }
    line
}

/// The range of the score if undecided mutants counted: ` (17 to 20 of 22 with those that were not decided)`.
fn undecided_range(sample: &MutantSample, killed: usize, all: usize) -> String {
    let undecided: usize = ["inconclusive", "timed_out"].iter().filter_map(|name| sample.counts.get(*name)).sum();
    match undecided {
        0 => String::new(),
        more => format!(" ({killed} to {} of {} with those that were not decided)", killed + more, all + more),
    }
}

/// A section of the summary.
pub(super) fn sample_text(sample: &MutantSample) -> String {
    let mut text = format!("\nMutants: {}\n", sample_line(sample));
    if !sample.surviving.is_empty() {
        text.push_str("  not noticed:\n");
    }
    text.push_str(&list_mutants(&sample.surviving));
    if !sample.examples.is_empty() {
        text.push_str("  what the properties forbid, for example:\n");
    }
    for ForbiddenExample { property, definition, what, noticed_in: NoticedIn { step, values } } in &sample.examples {
        let _ = writeln!(text, "    {property}: if `{definition}` {what}, then state {step} has {values}");
    }
    let mut undecided: Vec<&str> = sample.undecided.iter().filter_map(|mutant| mutant.reason.as_deref()).collect();
    undecided.sort_unstable();
    undecided.dedup();
    for reason in undecided.into_iter().take(LISTED) {
        let _ = writeln!(text, "  not decided: {}", reason.lines().next().unwrap_or_default());
    }
    text
}

fn list_mutants(mutants: &[JudgedMutant]) -> String {
    let mut text = String::new();
    for mutant in mutants.iter().take(LISTED) {
        let _ = writeln!(text, "    {}: `{}` {}", mutant.name, mutant.definition, mutant.what);
    }
    if let Some(more) = mutants.len().checked_sub(LISTED).filter(|more| *more > 0) {
        let _ = writeln!(text, "    and {more} more, in meta.json");
    }
    text
}
