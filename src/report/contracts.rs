//! How the steps of a revision compare with their contracts, in words.

use std::fmt::Write as _;

use super::lines::writeln;
use crate::pipeline::{Agreement, Revision, agreement_line};

/// The line about all steps, one for each that does not agree, and one for each that is compared in part; empty without
/// contracts.
pub(super) fn contracts_text(revision: &Revision) -> String {
    let Some(steps) = revision.step_agreements().filter(|steps| !steps.is_empty()) else { return String::new() };
    let mut text = String::new();
    let _ = writeln!(text, "What each step does: {}", agreement_line(&steps));
    for step in steps.iter().filter(|step| step.agreement != Agreement::Agrees) {
        let _ = writeln!(text, "  {} {}", step.step, step.agreement.words());
    }
    for step in &steps {
        for case in &step.untaken_cases {
            let _ = writeln!(text, "  {}: no step is known to take the documented case {case}", step.step);
        }
    }
    for step in steps.iter().filter(|step| step.agreement == Agreement::Agrees && !step.free_variables.is_empty()) {
        let _ = writeln!(
            text,
            "  {} is not compared in {}: its contract leaves that free",
            step.step,
            step.free_variables.join(", ")
        );
    }
    text
}
