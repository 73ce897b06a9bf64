//! What became of the rules of the user's own policy.

use std::fmt::Write as _;

use crate::pipeline::{Intervened, Predicted, RunView, Violation};

/// A line for each rule that is broken, and how many are not; nothing where the run is under no policy.
pub(super) fn policy_text(view: &RunView) -> String {
    let Some(policy) = &view.settings.policy else { return String::new() };
    let mut text = format!("\nPolicy {}:\n", policy.path);
    let now: Vec<&Violation> = view.policy_log.violations.iter().filter(|v| v.policy == policy.sha).collect();
    for violation in &now {
        let Violation { rule, severity, culprit, meaning, description, why, .. } = violation;
        let means = description.as_ref().unwrap_or(meaning);
        // Writing to a string cannot fail.
        let _ = writeln!(text, "  {rule} [{severity}]: violated by event {culprit}: {means}");
        if let Some(why) = why {
            let _ = writeln!(text, "      {why}");
        }
        if let Some(untrusted) = &violation.untrusted {
            let _ = writeln!(text, "      {}", untrusted.words());
        }
    }
    for (node, intervened) in &view.policy_log.interventions {
        let _ = writeln!(text, "  {node}: {}", intervened_words(intervened));
    }
    if !view.policy_log.predictions.is_empty() {
        let all: Vec<&Predicted> = view.policy_log.predictions.iter().map(|(_, predicted)| predicted).collect();
        let _ = writeln!(text, "  prediction: {}", predicted_words(&all));
    }
    let ends = view.finished.as_ref().map(|finished| finished.rules.as_slice()).unwrap_or_default();
    for end in ends.iter().filter(|end| end.is_broken() && !now.iter().any(|v| v.rule == end.rule)) {
        let _ = writeln!(text, "  {} [{}]: not satisfied when the run ended: {}", end.rule, end.severity, end.meaning);
        if let Some(owed) = &end.owed {
            let _ = writeln!(text, "      still owed: {owed}");
        }
        if let Some(untrusted) = &end.untrusted {
            let _ = writeln!(text, "      {}", untrusted.words());
        }
    }
    for end in ends.iter().filter(|end| end.forbade_approval && !end.is_broken()) {
        let _ = writeln!(text, "  {} [{}]: forbade the approval: {}", end.rule, end.severity, end.meaning);
    }
    if ends.is_empty() && now.is_empty() {
        text.push_str("  no rule is violated so far\n");
    } else if !ends.is_empty() {
        for end in ends.iter().filter(|end| end.never_evaluated) {
            let _ = writeln!(
                text,
                "  {} [{}]: never asked: no event of the run was one to ask it at",
                end.rule, end.severity
            );
        }
        let rest: Vec<&str> = ends
            .iter()
            .filter(|end| !end.is_broken() && end.untrusted.is_some())
            .map(|end| end.rule.as_str())
            .collect();
        if let Some(untrusted) = ends.iter().find_map(|end| end.untrusted.as_ref().filter(|_| !rest.is_empty())) {
            let by = if untrusted.models.is_empty() { "a model".to_owned() } else { untrusted.models.join(", ") };
            let _ = writeln!(text, "  rest on labels by {by}, untrusted: {}", rest.join(", "));
        }
        let kept = ends.iter().filter(|end| !end.is_broken() && !end.never_evaluated && !end.forbade_approval).count();
        let _ = writeln!(text, "  {kept} of {} kept", super::counted(ends.len(), "rule"));
    }
    text
}

/// What an intervention did, what it prevented and what it cost, in a line.
pub(super) fn intervened_words(intervened: &Intervened) -> String {
    let Intervened {
        rule, intervention: which, purpose, calls, candidate, prevented, violated, cost_usd, tokens, ..
    } = intervened;
    let did = match (prevented.is_empty(), violated.is_empty()) {
        (false, true) => format!("prevented that {} is violated", prevented.join(", ")),
        (true, true) => "could not make it less probable that it is violated".to_owned(),
        (true, false) => format!("could not prevent that {} is violated", violated.join(", ")),
        (false, false) => {
            format!("prevented that {}, and not that {} is violated", prevented.join(", "), violated.join(", "))
        }
    };
    let taken = if *candidate == 0 {
        "the first answer was taken".to_owned()
    } else {
        format!("answer {} was taken", candidate + 1)
    };
    format!("{purpose}: {} for {rule} {did}; {taken}; {}", which.name(), further(*calls, *tokens, *cost_usd))
}

/// What it took to foresee where answers lead.
fn predicted_words(all: &[&Predicted]) -> String {
    let calls = all.iter().map(|predicted| predicted.calls).sum();
    let tokens = all.iter().map(|predicted| predicted.tokens).sum();
    let cost_usd = all.iter().map(|predicted| predicted.cost_usd).sum();
    let asked = super::counted(all.len(), "answer");
    format!("where {asked} would lead; {}", further(calls, tokens, cost_usd))
}

/// What further answers cost.
fn further(calls: u32, tokens: u64, cost_usd: Option<f64>) -> String {
    let cost = cost_usd.map_or_else(|| "price unknown".to_owned(), |usd| format!("{usd:.2} USD"));
    format!("{}, {}, {cost}", super::counted(calls, "further answer"), super::counted(tokens, "token"))
}
