//! Renders the rules of a run's policy: violations, interventions and predictions.

use std::fmt::Write as _;

use super::count::counted;
use super::lines::writeln;
use crate::pipeline::{Intervened, Predicted, RunView, Violation};

/// One line per violated rule, and the number of kept rules; empty without a policy.
pub(super) fn policy_text(view: &RunView) -> String {
    let Some(policy) = &view.settings.policy else { return String::new() };
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = writeln!(text, "\nPolicy {}:", policy.path);
    // A resumed run can have another policy; the violations of the earlier one stay in the journal.
    let now: Vec<&Violation> = view.policy_log.violations.iter().filter(|v| v.policy == policy.sha).collect();
    for violation in &now {
        let Violation { rule, severity, decided_at, meaning, description, why, .. } = violation;
        let means = description.as_ref().unwrap_or(meaning);
        let _ = writeln!(text, "  {rule} [{severity}]: violated by event {decided_at}: {means}");
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
        let _ =
            writeln!(text, "  {} [{}]: not satisfied at the end of the run: {}", end.rule, end.severity, end.meaning);
        if let Some(residual) = &end.residual {
            let _ = writeln!(text, "      residual: {residual}");
        }
        if let Some(untrusted) = &end.untrusted {
            let _ = writeln!(text, "      {}", untrusted.words());
        }
    }
    for end in ends.iter().filter(|end| end.prevented_approval && !end.is_broken()) {
        let _ = writeln!(text, "  {} [{}]: prevented the approval: {}", end.rule, end.severity, end.meaning);
    }
    // The end of a run decides every rule; before it, `ends` is empty.
    if ends.is_empty() && now.is_empty() {
        text.push_str("  no rule is violated so far\n");
    } else if !ends.is_empty() {
        for end in ends.iter().filter(|end| end.never_evaluated) {
            let _ = writeln!(
                text,
                "  {} [{}]: never evaluated: the run had no event that it applies to",
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
            let _ = writeln!(text, "  depend on labels by {by}, untrusted: {}", rest.join(", "));
        }
        let kept =
            ends.iter().filter(|end| !end.is_broken() && !end.never_evaluated && !end.prevented_approval).count();
        let _ = writeln!(text, "  {kept} of {} kept", counted(ends.len(), "rule"));
    }
    text
}

/// One line for an intervention: its effect and its cost.
pub(super) fn intervened_words(intervened: &Intervened) -> String {
    let Intervened {
        rule,
        intervention: which,
        purpose,
        calls,
        sample,
        prevented_violations: prevented,
        violated,
        cost_usd,
        tokens,
        ..
    } = intervened;
    let did = match (prevented.is_empty(), violated.is_empty()) {
        (false, true) => format!("prevented a violation of {}", prevented.join(", ")),
        (true, true) => "could not make a violation less likely".to_owned(),
        (true, false) => format!("could not prevent a violation of {}", violated.join(", ")),
        (false, false) => {
            format!("prevented a violation of {}, but not of {}", prevented.join(", "), violated.join(", "))
        }
    };
    let taken = if *sample == 0 {
        "the first answer was accepted".to_owned()
    } else {
        format!("answer {} was taken", sample + 1)
    };
    format!("{purpose}: {} for {rule} {did}; {taken}; {}", which.name(), further_cost(*calls, *tokens, *cost_usd))
}

fn predicted_words(all: &[&Predicted]) -> String {
    let calls = all.iter().map(|predicted| predicted.calls).sum();
    let tokens = all.iter().map(|predicted| predicted.tokens).sum();
    let cost_usd = all.iter().map(|predicted| predicted.cost_usd).sum();
    let asked = counted(all.len(), "answer");
    format!("for {asked}; {}", further_cost(calls, tokens, cost_usd))
}

fn further_cost(calls: u32, tokens: u64, cost_usd: Option<f64>) -> String {
    let cost = cost_usd.map_or_else(|| "price unknown".to_owned(), |usd| format!("{usd:.2} USD"));
    format!("{}, {}, {cost}", counted(calls, "further answer"), counted(tokens, "token"))
}
