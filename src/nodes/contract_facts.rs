//! The facts about the contracts of the steps, for the reviewer.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::review_facts::ReviewSubject;
use crate::pipeline::{Agreement, StepAgreement, agreement_line};
use crate::tla::{Definition, Module, is_part_of_a_contract};

impl ReviewSubject<'_> {
    /// Whether the last check found a contract violated.
    pub(super) fn has_violated_contract(&self) -> bool {
        !self.violated_contracts().is_empty()
    }

    /// Writes how the steps compare with their contracts, if the specification has any.
    pub(super) fn write_contracts(&self, text: &mut String) {
        let Some(steps) = self.view.step_agreements().filter(|steps| !steps.is_empty()) else { return };
        let _ = writeln!(
            text,
            "\n## Contracts (what another author, who has not seen the algorithm, read in the documents)\n\n- {}",
            agreement_line(&steps)
        );
        for StepAgreement { step, agreement, .. } in steps.iter().filter(|step| step.agreement != Agreement::Agrees) {
            let _ = writeln!(text, "- {step} {}", agreement.words());
        }
        for step in steps.iter().filter(|step| !step.free_variables.is_empty()) {
            let _ = writeln!(text, "- the contract of {} leaves free: {}", step.step, step.free_variables.join(", "));
        }
        for step in &steps {
            for case in &step.untaken_cases {
                let _ = writeln!(
                    text,
                    "- {}: no step is known to take the case {case} of its contract. If the documents describe it and these \
                     constants allow it, the algorithm leaves it out",
                    step.step
                );
            }
        }
        let violated = self.violated_contracts();
        if !violated.is_empty() {
            let definitions = self.contract_definitions(&violated);
            let _ = writeln!(text, "\nThe contracts that are violated:\n\n```tla\n{definitions}```");
        }
    }

    /// The names of the violated contracts.
    pub(super) fn violated_contracts(&self) -> Vec<String> {
        let steps = self.view.step_agreements().unwrap_or_default().into_iter();
        let violated = steps.filter_map(|step| match step.agreement {
            Agreement::Disagrees { violated } => Some(violated),
            _ => None,
        });
        violated.flatten().collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// The definitions of these contracts, with their comments.
    pub(super) fn contract_definitions(&self, names: &[String]) -> String {
        self.module.as_ref().map(|module| definitions_behind(module, names.iter())).unwrap_or_default()
    }
}

/// The definitions of these contracts and of what they use, with their comments, in the order of the module.
fn definitions_behind<'a>(module: &Module, contracts: impl Iterator<Item = &'a String>) -> String {
    let mut names = BTreeSet::new();
    for contract in contracts {
        names.extend(module.closure(contract));
        names.insert(contract.clone());
    }
    let is_shown =
        |definition: &&Definition| names.contains(&definition.name) && is_part_of_a_contract(&definition.name);
    module.definitions.iter().filter(is_shown).fold(String::new(), |mut text, definition| {
        let _ = writeln!(text, "{}\n", definition.text);
        text
    })
}
