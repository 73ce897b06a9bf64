//! The negations of witnesses as invariants after whose violation a run of the embedded checker continues.

use std::collections::BTreeMap;

use tlaforge_tla::{Verdict, WitnessOutcome};

use super::lint::is_name;
use super::past_violations::{self, Continues};
use super::plan::{self, RunPlan, free_name};
use super::targets::Targets;
use super::witnesses::{can_share_a_run, shared_outcome};
use super::{CheckRequest, SpecText};

pub(super) struct Negations {
    /// Each witness by the name of its negation.
    witnesses: BTreeMap<String, String>,
    definitions: String,
}

impl Negations {
    /// `None` if no run can search for them together.
    pub(super) fn new(request: &CheckRequest, targets: &Targets) -> Option<Self> {
        let prefix = free_name(&request.spec, "TlaforgeNot".to_owned());
        let named = targets.names().filter(|name| is_name(name)).enumerate();
        let witnesses: BTreeMap<_, _> = named.map(|(k, name)| (format!("{prefix}{k}"), name.clone())).collect();
        (!witnesses.is_empty() && can_share_a_run(&request.cfg))
            .then(|| Self { witnesses, definitions: targets.definitions.clone() })
    }

    pub(super) fn add_to(&self, spec: &SpecText, plan: &RunPlan) -> RunPlan {
        let definitions = self.witnesses.iter().map(|(negation, witness)| format!("{negation} == ~{witness}\n"));
        let negations: Vec<String> = self.witnesses.keys().cloned().collect();
        plan::with_invariants(
            spec,
            plan,
            &std::iter::once(self.definitions.clone()).chain(definitions).collect::<String>(),
            &negations,
        )
    }

    pub(super) fn continues(&self, ends_after_all: bool) -> Continues {
        Continues::AfterInvariants { names: self.witnesses.keys().cloned().collect(), ends_after_all }
    }

    /// The witnesses that a run decided. `rest` is its verdict about those that it did not reach.
    pub(super) fn outcomes(&self, stdout: &str, rest: Option<&Verdict>) -> Vec<WitnessOutcome> {
        let violated = past_violations::parse(stdout);
        let undecided = past_violations::parse_undecided(stdout);
        let outcome = |(negation, witness): (&String, &String)| {
            let depth = violated.iter().find(|violated| violated.name == *negation).map(|violated| violated.depth);
            shared_outcome(witness, depth, rest.filter(|_| !undecided.contains(negation)))
        };
        self.witnesses.iter().filter_map(outcome).collect()
    }
}
