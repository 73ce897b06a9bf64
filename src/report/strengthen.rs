//! Renders the mutants of a run: those that author and reviewer were shown, with the rounds of stronger properties, and the
//! sample of other mutants before an approval.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::mutation::Outcome;
use crate::pipeline::{
    ForbiddenExample, Judged, JudgedMutant, MutantSample, NOT_IN_TIME, NoticedIn, Review, Revision, Strengthened,
    unjudged_words,
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

/// For example `39 of 40 noticed, 35 of 40 before stronger properties; 40 of 263 sampled`.
pub(super) fn strengthened_line(strengthened: &Strengthened) -> String {
    let Strengthened { skipped_reason, generated, judged, unjudged_count, unjudged_reasons, rounds, .. } = strengthened;
    if let Some(why) = skipped_reason {
        return format!("not judged: {why}");
    }
    let score = strengthened.score();
    let mut line = score.words();
    if !rounds.is_empty() {
        let _ = write!(line, ", before stronger properties {}", strengthened.score_before().words());
    }
    let Some(judged) = judged else { return line };
    let _ = write!(line, "; {judged} of {generated} sampled");
    let others = judged + unjudged_count - (score.decided() + score.undecided).min(judged + unjudged_count);
    if others > 0 {
        let _ = write!(line, "; not counted: {others} (without new behaviour, invalid, or noticed only by a deadlock)");
    }
    line.push_str(&unjudged_part(*unjudged_count, unjudged_reasons));
    line
}

/// For example `17 of 19 noticed; 40 of 263 sampled; not counted: 12 equivalent, 2 timed out`.
pub(super) fn sample_line(sample: &MutantSample) -> String {
    if let Some(why) = &sample.skipped_reason {
        return format!("not sampled: {why}");
    }
    let mut line = sample.score().words();
    let _ = write!(line, "; {} of {} sampled", sample.sampled, sample.generated);
    if sample.seen > 0 {
        let _ = write!(line, ", besides the {} judged before the review", sample.seen);
    }
    let is_counted = |name: &str| ["killed", "survived"].contains(&name);
    let left_out = sample.counts.iter().filter(|(name, count)| **count > 0 && !is_counted(name));
    let left_out = left_out.map(|(name, count)| format!("{count} {}", name.replace('_', " ")));
    let by_deadlock = Some(sample.killed_only_by_deadlock).filter(|count| *count > 0);
    let by_deadlock = by_deadlock.map(|count| format!("{count} noticed only by a deadlock"));
    let left_out: Vec<String> = left_out.chain(by_deadlock).collect();
    if !left_out.is_empty() {
        let _ = write!(line, "; not counted: {}", left_out.join(", "));
    }
    line.push_str(&unjudged_part(sample.unjudged.len(), &sample.unjudged_reasons));
    line
}

/// The end of a line about a sample of which mutants were not judged.
fn unjudged_part(count: usize, reasons: &BTreeMap<String, String>) -> String {
    match unjudged_words(count, reasons) {
        None => String::new(),
        Some(_) if reasons.values().all(|why| why == NOT_IN_TIME) => format!("; {count} more drawn, {NOT_IN_TIME}"),
        Some(words) => format!("; {count} more drawn: {words}"),
    }
}

/// What the properties of a revision protect against, in one line; `None` if no mutant was drawn. The score is that of mutants
/// that neither author nor reviewer has seen, if there are any.
pub(super) fn mutants_line(revision: &Revision) -> Option<String> {
    let shown = revision.strengthened.as_ref().filter(|shown| shown.skipped_reason.is_none());
    match (&revision.mutant_sample, shown) {
        (Some(sample), Some(shown)) => {
            Some(format!("{}; before the review: {}", sample_line(sample), shown_words(shown)))
        }
        (Some(sample), None) => Some(sample_line(sample)),
        (None, _) => revision.strengthened.as_ref().map(strengthened_line),
    }
}

fn shown_words(shown: &Strengthened) -> String {
    let before = if shown.rounds.is_empty() {
        String::new()
    } else {
        format!(", before stronger properties {}", shown.score_before().words())
    };
    format!("{}{before}", shown.score().words())
}

/// A section of the summary. `review` has accepted mutants.
pub(super) fn mutants_text(revision: &Revision, review: Option<&Review>) -> String {
    let Some(line) = mutants_line(revision) else { return String::new() };
    let mut text = format!("\nMutants: {line}\n");
    if let Some(strengthened) = &revision.strengthened {
        text.push_str(&rounds_text(strengthened));
    }
    let survivors = survivor_sentences(revision, review);
    for sentence in survivors.iter().take(LISTED) {
        let _ = writeln!(text, "  {sentence}");
    }
    if let Some(more) = survivors.len().checked_sub(LISTED).filter(|more| *more > 0) {
        let _ = writeln!(text, "  and {more} more, in meta.json");
    }
    if let Some(sample) = &revision.mutant_sample {
        text.push_str(&examples_text(sample));
    }
    text
}

fn rounds_text(strengthened: &Strengthened) -> String {
    let mut text = String::new();
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
    text
}

fn examples_text(sample: &MutantSample) -> String {
    let mut text = String::new();
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

/// What nothing notices, one sentence for each surviving mutant. `review` may have accepted some.
pub(super) fn survivor_sentences(revision: &Revision, review: Option<&Review>) -> Vec<String> {
    let shown = revision.strengthened.iter().flat_map(|shown| &shown.surviving);
    let sampled = revision.mutant_sample.iter().flat_map(|sample| &sample.surviving);
    let sentence = |mutant: &JudgedMutant| {
        let JudgedMutant { definition, what, .. } = mutant;
        let accepted = review.and_then(|review| mutant.acceptance(review));
        let accepted = accepted.map_or_else(String::new, |reason| format!("; accepted by the review: {reason}"));
        format!("nothing notices if `{definition}` {what} ({}){accepted}", mutant.place_or_name())
    };
    shown.chain(sampled).map(sentence).collect()
}
