//! Describes surviving mutants to the model that writes the properties, and to the reviewer.

use std::fmt::Write as _;

use crate::mutation::Outcome;
use crate::pipeline::{
    ALL_MUTANTS, JudgedMutant, Round, RunView, Strengthened, Strengthening, unjudged_words, why_not_judged,
};
use crate::tla::{UNLIMITED_WIDTH, trace_table};

/// Maximum number of mutants listed per kind of hint.
const MAX_HINTS: usize = 20;

/// The text of `survivors.md`: the surviving mutants.
pub(super) fn survivors_file(mutants: &Strengthening) -> String {
    let now = &mutants.now;
    let survivors: Vec<&JudgedMutant> = now.with_outcome(Outcome::Survived).collect();
    let mut text = format!(
        "# These flaws go unnoticed\n\nOne deliberate flaw at a time was put into the module, and the module checked with \
         the properties that stand. Of those that do something new, {}. For each of the others below, every property \
         holds all the same. A line begins with its number in `Spec.tla`: `-` is what stands there, `+` what stood \
         there in its place.\n",
        now.score().words()
    );
    text.push_str(&list_by_definition(&survivors));
    let mut hints = |outcome: Outcome, heading: &str| {
        let all: Vec<&JudgedMutant> = now.with_outcome(outcome).filter(|m| m.lost_witnesses.is_empty()).collect();
        if all.is_empty() {
            return;
        }
        let _ = writeln!(text, "\n# {heading}\n");
        for mutant in all.iter().take(MAX_HINTS) {
            let _ = writeln!(text, "- `{}` {}", mutant.definition, mutant.what);
        }
        if let Some(more) = all.len().checked_sub(MAX_HINTS).filter(|more| *more > 0) {
            let _ = writeln!(text, "- and {more} more");
        }
    };
    hints(
        Outcome::Restricting,
        "These only take behaviour away: no invariant can notice, a temporal property or a witness may",
    );
    hints(Outcome::FairnessOnly, "These only weaken fairness: a temporal property may notice");
    if !mutants.rounds.is_empty() {
        text.push_str("\n# What came of former rounds\n\n");
        text.push_str(&rounds_text(&mutants.rounds));
    }
    text
}

/// The reviewer's section of `facts.md`; `None` if no mutants were drawn, or if none could be drawn because the check did not
/// hold.
pub(super) fn mutants_facts(view: &RunView) -> Option<String> {
    if view.survivors_to_accept() == [ALL_MUTANTS] {
        let why = view.strengthened().and_then(|mutants| mutants.skipped_reason);
        return Some(format!(
            "## Mutants\n\n- no mutant was judged: {}. So nothing shows what the properties would notice. Accept `{ALL_MUTANTS}` in \
             `accepted_survivors`, with the reason why that is enough, or ask for a smaller model (`state_explosion_risk`)\n",
            why.as_deref().unwrap_or("this branch begins at the review")
        ));
    }
    let strengthened = &view.strengthened()?;
    let is_due = view.settings.routing.strengthen > 0 || why_not_judged(view.fresh_check()).is_none();
    if !is_due {
        return None;
    }
    let Strengthened {
        skipped_reason: unfit,
        generated: made,
        unjudged_count: late,
        unjudged_reasons,
        rounds,
        surviving,
        ..
    } = strengthened;
    let mut text = String::from("## Mutants: deliberate flaws, and whether the properties notice them\n\n");
    if let Some(why) = unfit {
        let _ = writeln!(text, "- not judged: {why}");
        return Some(text);
    }
    let _ = writeln!(text, "- of {made} flaws that can be made, a sample was judged: {}", strengthened.score().words());
    if let Some(words) = unjudged_words(*late, unjudged_reasons) {
        let _ = writeln!(text, "- of the sample, {words}");
    }
    if !rounds.is_empty() {
        let _ = writeln!(text, "- before stronger properties were asked for: {}", strengthened.score_before().words());
        text.push_str(&rounds_text(rounds));
    }
    let undecided = view.strengthening.iter().flat_map(|mutants| mutants.now.undecided_mutants());
    for mutant in undecided.take(MAX_HINTS) {
        let why = mutant.reason.as_deref().and_then(|why| why.lines().next()).unwrap_or("no verdict");
        let _ = writeln!(text, "- not decided: `{}`: {why}", mutant.name);
    }
    let ranked = view.survivors();
    if !ranked.is_empty() {
        text.push_str(
            "\nNo property notices these mutants; the most important are first. Read what the documents say about each. If a line \
             forbids the change, raise an issue: its property says less than the requirement (`wrong_invariant`), a requirement \
             is missing (`missing_invariant`), or the contract of the step is too weak (`wrong_invariant`, blame `contract`). If \
             no line forbids it, accept it by its full name in `accepted_survivors`; the reason cites the line that leaves it \
             free, as `docs/file.md:12`, or says `no line`.\n",
        );
        text.push_str(&list_by_definition(&ranked));
    } else if !surviving.is_empty() {
        text.push_str(
            "\nThese still go unnoticed. Whether a requirement forbids one of them is for you to judge: where one does, its \
             property says less than the requirement.\n",
        );
        text.push_str(&list_by_definition(&surviving.iter().collect::<Vec<_>>()));
    }
    Some(text)
}

/// Lists mutants grouped by definition, in the order given.
fn list_by_definition(mutants: &[&JudgedMutant]) -> String {
    let mut text = String::new();
    let mut seen: Vec<&str> = Vec::new();
    for first in mutants {
        let definition = first.definition.as_str();
        if seen.contains(&definition) {
            continue;
        }
        seen.push(definition);
        let touches = match first.touches.as_slice() {
            [] => String::new(),
            ids => format!(" (properties of {} speak of the same variables)", ids.join(", ")),
        };
        let _ = writeln!(text, "\n### `{definition}`{touches}\n");
        for mutant in mutants.iter().filter(|m| m.definition == definition) {
            let place = if mutant.place.is_empty() { String::new() } else { format!(" ({})", mutant.place) };
            let lost = match mutant.lost_witnesses.as_slice() {
                [] => String::new(),
                names => format!("; {} can no longer be reached", names.join(", ")),
            };
            let _ = writeln!(
                text,
                "- `{}`{place}: no property notices when `{definition}` {}{lost}\n",
                mutant.name, mutant.what
            );
            for line in mutant.diff.lines() {
                let _ = writeln!(text, "      {line}");
            }
            text.push('\n');
        }
    }
    text
}

fn rounds_text(rounds: &[Round]) -> String {
    let mut text = String::new();
    for (index, round) in rounds.iter().enumerate() {
        let _ = writeln!(text, "- round {}: {}", index + 1, round.why);
        let Some(violated) = &round.violated else { continue };
        let covers = if violated.covers.is_empty() { "nothing".to_owned() } else { violated.covers.join(", ") };
        let _ = writeln!(
            text,
            "  The property is gone again. Either it says more than the documents, or it shows that the specification, \
             or the protocol, does not do what they demand. `{}` covers {covers}:\n",
            violated.property
        );
        for line in violated.text.iter().flat_map(|text| text.lines()) {
            let _ = writeln!(text, "      {line}");
        }
        if let Some(trace) = &violated.check.trace {
            text.push('\n');
            for line in trace_table(trace, UNLIMITED_WIDTH).lines() {
                let _ = writeln!(text, "      {line}");
            }
        }
        text.push('\n');
    }
    text
}
