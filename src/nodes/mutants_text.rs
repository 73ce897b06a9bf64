//! Describes surviving mutants to the model that writes the properties, and to the reviewer.

use std::fmt::Write as _;

use crate::mutation::Outcome;
use crate::pipeline::{JudgedMutant, Round, Strengthened, Strengthening, Tally, unjudged_words};
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
        tally_words(now.tally())
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

/// For example `81 % (13 of 16 noticed)`. Recordings hold hashes of these files, so the word for `killed` stays.
fn tally_words(tally: Tally) -> String {
    tally.words().replace(" killed)", " noticed)")
}

/// The reviewer's section of `facts.md`.
pub(super) fn mutants_facts(strengthened: &Strengthened) -> String {
    let Strengthened {
        skipped_reason: unfit,
        generated: made,
        unjudged_count: late,
        unjudged_reasons,
        before,
        after,
        rounds,
        surviving,
        ..
    } = strengthened;
    let mut text = String::from("## Mutants: deliberate flaws, and whether the properties notice them\n\n");
    if let Some(why) = unfit {
        let _ = writeln!(text, "- not judged: {why}");
        return text;
    }
    let _ = writeln!(text, "- of {made} flaws that can be made, a sample was judged: {}", tally_words(*after));
    if let Some(words) = unjudged_words(*late, unjudged_reasons) {
        let _ = writeln!(text, "- of the sample, {words}");
    }
    if !rounds.is_empty() {
        let _ = writeln!(text, "- before stronger properties were asked for: {}", tally_words(*before));
        text.push_str(&rounds_text(rounds));
    }
    if !surviving.is_empty() {
        text.push_str(
            "\nThese still go unnoticed. Whether a requirement forbids one of them is for you to judge: where one does, its \
             property says less than the requirement.\n",
        );
        text.push_str(&list_by_definition(&surviving.iter().collect::<Vec<_>>()));
    }
    text
}

/// Lists mutants grouped by definition, in the order of the source.
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
            let _ = writeln!(text, "- no property notices when `{definition}` {}\n", mutant.what);
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
