//! The outcome of a check as JSON.

use serde_json::{Value, json};

use crate::tla::{CheckOutcome, Lasso, Verdict, WITHOUT_JAVA, describe_unreached};

/// The object of `check --json`; `mutate` uses it for its baseline.
pub fn check_json(outcome: &CheckOutcome) -> Value {
    let (violated, reason) = match &outcome.verdict {
        Verdict::Holds => (None, describe_unreached(outcome)),
        Verdict::Violated { violated } => (Some(violated), None),
        Verdict::Invalid { violated, reason, .. } => (Some(violated), Some(reason.clone())),
        Verdict::Inconclusive { reason, .. } => (None, Some(reason.clone())),
    };
    let diagnostics = match &outcome.verdict {
        Verdict::Invalid { diagnostics, .. } => diagnostics.as_slice(),
        _ => &[],
    };
    let lasso = outcome.trace.as_ref().and_then(|t| t.lasso).map(|lasso| match lasso {
        Lasso::BackTo(step) => json!({"back_to": step}),
        Lasso::Stuttering(s) => json!({"stuttering": s}),
    });
    json!({
        "schema": 2,
        "verdict": outcome.verdict.name(),
        "reason": reason,
        "violated": violated,
        "diagnostics": diagnostics,
        "statistics": outcome.statistics,
        "bounds": outcome.bounds,
        "trace": outcome.trace.as_ref().map(|t| t.steps.as_slice()).unwrap_or_default(),
        "lasso": lasso,
        "coverage": outcome.coverage,
        "branches": outcome.branches,
        "invariants": outcome.invariants,
        "properties": outcome.properties,
        "further": outcome.further,
        "witnesses": outcome.witnesses,
        "warnings": outcome.warnings,
        "checker": outcome.checker,
        "confirmation": outcome.confirmation,
        "note": (outcome.is_without_reference() && outcome.confirmation.is_none()).then_some(WITHOUT_JAVA),
        "version": outcome.version,
    })
}
