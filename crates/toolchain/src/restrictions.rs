//! What a specification assumes besides its actions and their fairness, such as `[](x # 3)` or `[]<>(x = 0)`: whether a
//! behaviour satisfies it, and whether a violation is one of such a behaviour. A search for states does not know these conjuncts.

use tlaforge_tla::semantic::find_verdict_limits;
use tlaforge_tla::{Reached, Verdict, Violation, ViolationKind, WitnessOutcome};

use super::explorer::Run;
use super::session::Session;
use super::temporal_limits::limit_liveness_to_constraint;
use super::{CheckRequest, ToolError, plan};

/// The conjuncts of the specification that a path to a violation may break.
pub(super) fn restrictions(request: &CheckRequest) -> Vec<String> {
    let CheckRequest { spec, cfg, .. } = request;
    if cfg.specification.is_none() {
        return Vec::new();
    }
    match find_verdict_limits(&spec.name, &spec.text, &spec.local_modules, cfg) {
        Ok(limits) => limits.restrictions,
        Err(why) => vec![format!("what could not be read: {why}")],
    }
}

/// Why a violation that a search for states found shows nothing.
pub(super) fn not_shown(restrictions: &[String]) -> String {
    format!("that path need not satisfy what the specification assumes ({})", restrictions.join("; "))
}

impl Session<'_> {
    /// Replaces a violation, found by a search for states, by one of a behaviour that satisfies all assumptions. If no invariant
    /// is violated by such a behaviour, all hold.
    pub(super) async fn confirm_violation(&mut self, safety: &mut Run) -> Result<(), ToolError> {
        use ViolationKind::{Assertion, Deadlock, Invariant};
        let Verdict::Violated { violated: Violation { kind: kind @ (Assertion | Deadlock | Invariant), name } } =
            &safety.verdict
        else {
            if let Verdict::Invalid { .. } = safety.verdict {
                self.limit_step_violation(safety);
            }
            return Ok(());
        };
        let restrictions = restrictions(self.request);
        if restrictions.is_empty() {
            return Ok(());
        }
        let undecided =
            |what: &str, why: &str| Verdict::inconclusive(format!("{what}, but {}{why}", not_shown(&restrictions)));
        let Some(name) = name.clone().filter(|_| *kind == Invariant) else {
            let what = if *kind == Deadlock { "a path leads to a deadlock" } else { "a path fails an assertion" };
            safety.verdict = undecided(what, "");
            return Ok(());
        };
        let CheckRequest { spec, cfg, .. } = self.request;
        let others = cfg.invariants.iter().filter(|other| **other != name);
        for invariant in std::iter::once(&name).chain(others) {
            let mut run = self.run(&plan::under_assumptions(spec, cfg, &format!("~{invariant}"))).await?;
            limit_liveness_to_constraint(cfg, &mut run);
            match run.verdict {
                Verdict::Holds => {}
                // An assertion can fail in a state that no behaviour has.
                Verdict::Violated { violated } if violated.kind != ViolationKind::Property => {
                    let why = format!("; about {invariant} it was not decided: {}", violated.description());
                    safety.verdict = undecided(&format!("a path violates {name}"), &why);
                    return Ok(());
                }
                Verdict::Violated { .. } => {
                    let violated = Violation { kind: ViolationKind::Property, name: Some(invariant.clone()) };
                    safety.verdict = Verdict::Violated { violated };
                    safety.parsed.trace = run.parsed.trace;
                    return Ok(());
                }
                Verdict::Invalid { reason, .. } | Verdict::Inconclusive { reason, .. } => {
                    let what = format!("a path violates {name}");
                    safety.verdict = undecided(&what, &format!("; about {invariant} it was not decided: {reason}"));
                    return Ok(());
                }
            }
        }
        let mut rest = self.run(&plan::part_of_safety(cfg, &[], cfg.check_deadlock != Some(false))).await?;
        if let Verdict::Violated { .. } = rest.verdict {
            rest.verdict = undecided("a path leads to a deadlock or fails an assertion", "");
        }
        rest.seconds += safety.seconds;
        *safety = rest;
        Ok(())
    }

    /// Decides whether a behaviour that satisfies all assumptions comes to a witness, to which a path of `depth` states leads. Such a
    /// behaviour may need more states, but never fewer.
    pub(super) async fn confirm_witness(
        &mut self,
        name: &str,
        depth: usize,
        restrictions: &[String],
    ) -> Result<WitnessOutcome, ToolError> {
        let CheckRequest { spec, cfg, .. } = self.request;
        let mut run = self.run(&plan::under_assumptions(spec, cfg, name)).await?;
        limit_liveness_to_constraint(cfg, &mut run);
        let timed_out = run.verdict.is_timed_out();
        let why = match run.verdict {
            Verdict::Holds => return Ok(WitnessOutcome { name: name.to_owned(), reached: Reached::No, timed_out }),
            Verdict::Violated { violated } if violated.kind == ViolationKind::Property => {
                return Ok(WitnessOutcome { name: name.to_owned(), reached: Reached::Yes { depth }, timed_out });
            }
            Verdict::Violated { violated } => violated.description(),
            Verdict::Invalid { reason, .. } | Verdict::Inconclusive { reason, .. } => reason,
        };
        let why = format!("a path leads to it, but {}; about such a behaviour: {why}", not_shown(restrictions));
        Ok(WitnessOutcome { timed_out, ..WitnessOutcome::undecided(name, why) })
    }

    /// What a search for states found in one state or step (a violated `[]P` or `[][A]_v` under PROPERTY, a failed assertion or
    /// evaluation) decides nothing if the specification assumes more.
    pub(super) fn limit_step_violation(&self, run: &mut Run) {
        use ViolationKind::{ActionProperty, Assertion, Deadlock, Evaluation, Invariant};
        let what = match &run.verdict {
            Verdict::Violated { violated } => match violated.kind {
                ActionProperty | Invariant => {
                    format!("a path violates {}", violated.name.as_deref().unwrap_or("a property"))
                }
                Assertion | Deadlock => format!("a path leads to this: {}", violated.description()),
                _ => return,
            },
            Verdict::Invalid { violated, reason, .. } if violated.kind == Evaluation => {
                format!("a path leads to a state or step that cannot be evaluated ({reason})")
            }
            _ => return,
        };
        let restrictions = restrictions(self.request);
        if !restrictions.is_empty() {
            run.verdict = Verdict::inconclusive(format!("{what}, but {}", not_shown(&restrictions)));
        }
    }

    /// Checks that some behaviour satisfies what the specification assumes: `[]<>FALSE` holds only if there is no
    /// behaviour.
    pub(super) async fn check_behaviour_exists(&mut self, assumptions: &[String]) -> Result<Verdict, ToolError> {
        let cfg = &self.request.cfg;
        let run = self.run(&plan::behaviour_existence(&self.request.spec, cfg)).await?;
        let undecided = |why: &str, timed_out: bool| Verdict::Inconclusive {
            reason: format!(
                "whether any behaviour satisfies the specification was not decided ({}): {why}",
                assumptions.join("; ")
            ),
            timed_out,
        };
        let timed_out = run.verdict.is_timed_out();
        Ok(match run.verdict {
            // The counterexample to `[]<>FALSE` is a behaviour.
            Verdict::Violated { .. } => Verdict::Holds,
            Verdict::Holds if !cfg.constraints.is_empty() || !cfg.action_constraints.is_empty() => {
                undecided("a constraint can hide behaviours", false)
            }
            Verdict::Holds => {
                Verdict::Violated { violated: Violation { kind: ViolationKind::NoBehaviour, name: None } }
            }
            Verdict::Invalid { reason, .. } | Verdict::Inconclusive { reason, .. } => undecided(&reason, timed_out),
        })
    }
}
