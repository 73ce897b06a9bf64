//! The verdicts of all properties other than the first violated one. A violated property is set aside and the rest is
//! checked again, until each has its verdict or the time is up.

use std::collections::BTreeMap;
use std::time::Duration;

use tlaforge_tla::{ASSERTION, DEADLOCK, FurtherProperty, FurtherVerdict, Trace, Verdict, Violation, ViolationKind};

use super::bounds::check_bounds;
use super::explorer::{PastViolations, Run};
use super::false_conjuncts::add_false_conjuncts;
use super::plan::{self, RunPlan};
use super::restrictions::{not_shown, restrictions};
use super::session::{NO_TIME_LEFT, Session};
use super::temporal_limits::{left_out_for_temporal, limit_liveness_to_constraint};
use super::{CheckRequest, Limits, ToolContext, ToolError};

/// The time of all further runs together, unless a check has less; their counterexamples get as much again.
const MAX_FURTHER_TIME: Duration = Duration::from_secs(120);

/// What is known before the further runs.
pub(super) struct BeforeFurtherRuns<'a> {
    pub(super) first: &'a Violation,
    /// Why the run for invariants and deadlock has no verdict. A temporal property can be violated nevertheless.
    pub(super) why_safety_undecided: Option<String>,
    /// Whether a deadlock is possible at all.
    pub(super) deadlock_can_occur: bool,
}

impl Session<'_> {
    /// The verdicts in the order of the configuration: invariants, deadlock, a failed assertion, temporal properties. Empty
    /// if nothing can be set aside: after a violated assumption every property holds of nothing.
    pub(super) async fn check_further(
        &mut self,
        known: BeforeFurtherRuns<'_>,
        warnings: &mut Vec<String>,
    ) -> Result<Vec<FurtherProperty>, ToolError> {
        use ViolationKind::{ActionProperty, Assertion, Deadlock, Invariant, Property};
        let CheckRequest { cfg, .. } = self.request;
        let BeforeFurtherRuns { first, why_safety_undecided, deadlock_can_occur } = known;
        let (Invariant | Property | ActionProperty | Deadlock | Assertion, Some(name)) = (first.kind, first.property())
        else {
            return Ok(Vec::new());
        };
        let without_first =
            |names: &[String]| -> Vec<String> { names.iter().filter(|n| **n != name).cloned().collect() };
        let (invariants, mut properties) = (without_first(&cfg.invariants), without_first(&cfg.properties));
        // In every state, and not only in the initial ones.
        properties.retain(|property| !invariants.contains(property));
        let deadlock = deadlock_can_occur && cfg.check_deadlock != Some(false) && first.kind != Deadlock;
        // `[]P` under PROPERTY is reported as a violated invariant.
        let is_temporal = cfg.properties.iter().any(|p| p == name) && !cfg.invariants.iter().any(|i| i == name);
        let left = self.cx.limits.check.min(MAX_FURTHER_TIME);
        let mut rest = RemainingProperties { session: self, left, left_for_traces: left, found: BTreeMap::new() };
        let safety = [&invariants[..], &deadlock_name(deadlock)[..]].concat();
        let restrictions = restrictions(rest.session.request);
        if !restrictions.is_empty() {
            let why = format!("no further search was made, because {}", not_shown(&restrictions));
            rest.set_all(&[&safety[..], &properties[..]].concat(), &undecided(&why));
        } else if first.kind == Assertion {
            rest.set_all(
                &[&safety[..], &properties[..]].concat(),
                &undecided("no run continues after a failed assertion"),
            );
        } else if is_temporal {
            let verdict = why_safety_undecided.map_or(FurtherVerdict::Holds, |why| undecided(&why));
            rest.set_all(&safety, &verdict);
            rest.check_each_temporal(&properties).await?;
        } else {
            rest.check_safety(invariants.clone(), deadlock).await?;
            warnings.extend(left_out_for_temporal(cfg).filter(|_| !properties.is_empty()));
            rest.check_temporal(&properties).await?;
        }
        let mut found = rest.found;
        let names = [safety, vec![ASSERTION.to_owned()], properties].concat();
        let mut further = Vec::new();
        for name in names {
            // A name that is listed twice is in the result once.
            let Some(mut verdict) = found.remove(&name) else { continue };
            if let FurtherVerdict::Violated { trace: Some(trace), kind, .. } = &mut verdict {
                let steps = self.explorer.name_steps(self.request, std::mem::take(trace), self.cx).await?;
                *trace = self.add_further_runs(steps, warnings);
                if *kind == ViolationKind::Invariant {
                    let found = add_false_conjuncts(self.explorer, self.request, &name, trace, self.cx).await?;
                    self.add_further_runs(found, warnings);
                }
            }
            further.push(FurtherProperty { name, verdict });
        }
        Ok(further)
    }
}

/// The properties that have no verdict yet, and the time left for all runs together.
struct RemainingProperties<'s, 'a> {
    session: &'s mut Session<'a>,
    left: Duration,
    /// For runs that end at a violation which is known already: a run that finds no end must not take their time.
    left_for_traces: Duration,
    found: BTreeMap<String, FurtherVerdict>,
}

impl RemainingProperties<'_, '_> {
    fn set_all(&mut self, names: &[String], verdict: &FurtherVerdict) {
        self.found.extend(names.iter().map(|name| (name.clone(), verdict.clone())));
    }

    fn set_violated(&mut self, name: &str, kind: ViolationKind, trace: Option<Trace>) {
        self.found.insert(name.to_owned(), FurtherVerdict::Violated { kind, trace, probes: None });
    }

    async fn check_safety(&mut self, mut invariants: Vec<String>, mut deadlock: bool) -> Result<(), ToolError> {
        while deadlock || !invariants.is_empty() {
            let plan = plan::part_of_safety(&self.session.request.cfg, &invariants, deadlock);
            let (violated, run) = match self.run_past_violations(&plan).await? {
                Ok(done) => done,
                Err(why) => {
                    self.set_all(&[invariants, deadlock_name(deadlock)].concat(), &undecided(&why));
                    return Ok(());
                }
            };
            for name in violated {
                invariants.retain(|open| *open != name);
                let trace = self.derive_trace(&name).await?;
                self.set_violated(&name, ViolationKind::Invariant, trace);
            }
            let remaining = [&invariants[..], &deadlock_name(deadlock)[..]].concat();
            let verdict = match &run.verdict {
                Verdict::Holds => FurtherVerdict::Holds,
                Verdict::Violated { violated } => match (violated.kind, &violated.name) {
                    (ViolationKind::Deadlock, _) if deadlock => {
                        deadlock = false;
                        self.set_violated(DEADLOCK, ViolationKind::Deadlock, run.parsed.trace);
                        continue;
                    }
                    (ViolationKind::Invariant, Some(name)) if invariants.contains(name) => {
                        invariants.retain(|open| open != name);
                        self.set_violated(name, ViolationKind::Invariant, run.parsed.trace);
                        continue;
                    }
                    (ViolationKind::Assertion, _) => {
                        self.set_violated(ASSERTION, ViolationKind::Assertion, run.parsed.trace);
                        ended_otherwise(violated)
                    }
                    _ => ended_otherwise(violated),
                },
                // One that cannot be evaluated must not leave the others undecided.
                Verdict::Invalid { .. } if remaining.len() > 1 => {
                    for name in &invariants {
                        Box::pin(self.check_safety(vec![name.clone()], false)).await?;
                    }
                    return Box::pin(self.check_safety(Vec::new(), deadlock)).await;
                }
                verdict @ (Verdict::Invalid { reason, .. } | Verdict::Inconclusive { reason, .. }) => {
                    undecided_by(verdict, reason)
                }
            };
            self.set_all(&remaining, &verdict);
            return Ok(());
        }
        Ok(())
    }

    async fn check_temporal(&mut self, properties: &[String]) -> Result<(), ToolError> {
        let CheckRequest { cfg, .. } = self.session.request;
        if !check_bounds(self.session.request).assumptions.is_empty() {
            let why = "whether any behaviour satisfies the specification was not checked after a violation";
            self.set_all(properties, &undecided(why));
        } else if properties.len() < 2 {
            self.check_each_temporal(properties).await?;
        } else {
            let plan = plan::temporal(cfg, properties);
            match self.session.run_in_time_left(&plan, &mut self.left).await? {
                Ok(mut run) => {
                    limit_liveness_to_constraint(cfg, &mut run);
                    match &run.verdict {
                        Verdict::Holds => self.set_all(properties, &FurtherVerdict::Holds),
                        verdict @ Verdict::Inconclusive { reason, timed_out: true } => {
                            self.set_all(properties, &undecided_by(verdict, reason));
                        }
                        _ => self.check_each_temporal(properties).await?,
                    }
                }
                Err(why) => self.set_all(properties, &undecided(&why)),
            }
        }
        Ok(())
    }

    async fn check_each_temporal(&mut self, properties: &[String]) -> Result<(), ToolError> {
        use ViolationKind::{ActionProperty, Invariant, Property};
        let CheckRequest { cfg, .. } = self.session.request;
        for property in properties {
            let plan = plan::for_trace(&plan::temporal(cfg, std::slice::from_ref(property)));
            let verdict = match self.session.run_in_time_left(&plan, &mut self.left).await? {
                Ok(mut run) => {
                    limit_liveness_to_constraint(cfg, &mut run);
                    match &run.verdict {
                        Verdict::Holds => FurtherVerdict::Holds,
                        Verdict::Violated { violated } => match violated.kind {
                            kind @ (Invariant | Property | ActionProperty) => {
                                FurtherVerdict::Violated { kind, trace: run.parsed.trace, probes: None }
                            }
                            _ => ended_otherwise(violated),
                        },
                        verdict @ (Verdict::Invalid { reason, .. } | Verdict::Inconclusive { reason, .. }) => {
                            undecided_by(verdict, reason)
                        }
                    }
                }
                Err(why) => undecided(&why),
            };
            self.found.insert(property.clone(), verdict);
        }
        Ok(())
    }

    /// The counterexample to an invariant that is known to be violated.
    async fn derive_trace(&mut self, invariant: &str) -> Result<Option<Trace>, ToolError> {
        let violation = Violation { kind: ViolationKind::Invariant, name: Some(invariant.to_owned()) };
        let Some(plan) = plan::single_violation(&self.session.request.cfg, &violation) else { return Ok(None) };
        let run = self.session.run_in_time_left(&plan, &mut self.left_for_traces).await?;
        let is_same = |run: &Run| matches!(&run.verdict, Verdict::Violated { violated } if *violated == violation);
        Ok(run.ok().filter(is_same).and_then(|run| run.parsed.trace))
    }

    /// Violated invariants if the checker can continue after them, and the result for everything else. The inner error
    /// says why there is no result.
    async fn run_past_violations(&mut self, plan: &RunPlan) -> Result<Result<(Vec<String>, Run), String>, ToolError> {
        let Session { explorer, request, cx, .. } = *self.session;
        if self.left.is_zero() {
            return Ok(Err(NO_TIME_LEFT.to_owned()));
        }
        let limits = Limits { check: self.left, ..cx.limits.clone() };
        let in_time = ToolContext { limits: &limits, ..*cx };
        match explorer.run_past_violations(&request.spec, plan, &in_time).await {
            Ok(Some(PastViolations { violated, run, output })) => {
                self.session.output.push_str(&output);
                self.left = self.left.saturating_sub(Duration::from_secs_f64(run.seconds));
                Ok(Ok((violated, run)))
            }
            Ok(None) => {
                let run = self.session.run_in_time_left(plan, &mut self.left).await?;
                Ok(run.map(|run| (Vec::new(), run)))
            }
            Err(error) if error.is_fatal() => Err(error),
            Err(error) => Ok(Err(error.to_string())),
        }
    }
}

fn undecided(reason: &str) -> FurtherVerdict {
    FurtherVerdict::Undecided { reason: reason.to_owned(), timed_out: reason == NO_TIME_LEFT }
}

/// The verdict of a run that decided nothing, with its reason.
fn undecided_by(verdict: &Verdict, reason: &str) -> FurtherVerdict {
    FurtherVerdict::Undecided { reason: reason.to_owned(), timed_out: verdict.is_timed_out() }
}

fn ended_otherwise(violated: &Violation) -> FurtherVerdict {
    undecided(&format!("its run ended with another violation: {}", violated.description()))
}

fn deadlock_name(is_open: bool) -> Vec<String> {
    if is_open { vec![DEADLOCK.to_owned()] } else { Vec::new() }
}
