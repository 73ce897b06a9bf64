//! State predicates that TLC searches for in its main run: a further invariant, which always holds, prints the number of
//! each predicate that a state satisfies, once for each worker. It evaluates no predicate again that it has found, so
//! only those that no state satisfies cost time in every state.

use std::collections::BTreeSet;

use tlaforge_tla::{Reached, Verdict, WitnessOutcome};

use super::CheckRequest;
use super::plan::{self, RunPlan};
use super::targets::Targets;
use super::tlc_witnesses::{FIRST_REGISTER, free_registers, unforgeable_prefix};

pub(super) struct PredicateProbe {
    pub(super) plan: RunPlan,
    prefix: String,
    names: Vec<String>,
}

impl PredicateProbe {
    /// `None` if there are none, or if the specification uses registers itself. Without VIEW: it hides states, and
    /// steps that only those have.
    pub(super) fn new(request: &CheckRequest, targets: &Targets) -> Option<Self> {
        let CheckRequest { spec, cfg, .. } = request;
        if targets.predicates.is_empty() || cfg.view.is_some() || !free_registers(spec) {
            return None;
        }
        let prefix = unforgeable_prefix(request, "TlaforgeTaken");
        let names = targets.predicates.clone();
        let definitions = format!("{}{}", targets.definitions, definitions(&prefix, &names));
        let plan = plan::with_invariants(spec, &plan::safety(cfg), &definitions, &[format!("{prefix}_All")]);
        Some(Self { plan, prefix, names })
    }

    /// What the run showed, if its verdict is this one.
    pub(super) fn outcomes(&self, output: &str, verdict: &Verdict) -> Vec<WitnessOutcome> {
        let parse = |line: &str| -> Option<usize> {
            line.strip_prefix("<<\"")?
                .strip_prefix(&self.prefix)?
                .strip_prefix("\", ")?
                .strip_suffix(">>")?
                .parse()
                .ok()
        };
        let printed: BTreeSet<usize> = output.lines().filter_map(parse).collect();
        let outcome = |(number, name): (usize, &String)| {
            let reached = match verdict {
                // Parallel workers give no length of the path.
                _ if printed.contains(&number) => Reached::Yes { depth: 0 },
                Verdict::Holds => Reached::No,
                _ => return None,
            };
            Some(WitnessOutcome { name: name.clone(), reached, timed_out: false })
        };
        self.names.iter().enumerate().filter_map(outcome).collect()
    }
}

fn definitions(prefix: &str, names: &[String]) -> String {
    let registers: Vec<usize> = (0..names.len()).map(|number| FIRST_REGISTER + number).collect();
    let all = registers.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let see = names.iter().zip(&registers).enumerate();
    let see = see.map(|(number, (name, register))| format!("  /\\ {prefix}_See({number}, {register}, {name})\n"));
    format!(
        "{prefix}_TLC == INSTANCE TLC
ASSUME \\A {prefix}_r \\in {{{all}}} : {prefix}_TLC!TLCSet({prefix}_r, FALSE)
{prefix}_See({prefix}_k, {prefix}_r, {prefix}_p) ==
  IF {prefix}_TLC!TLCGet({prefix}_r) THEN TRUE
  ELSE IF {prefix}_p THEN {prefix}_TLC!PrintT(<<\"{prefix}\", {prefix}_k>>) /\\ {prefix}_TLC!TLCSet({prefix}_r, TRUE)
  ELSE TRUE
{prefix}_All ==
{}",
        see.collect::<String>()
    )
}
