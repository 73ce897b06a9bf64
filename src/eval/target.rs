//! Checks one target module (a known bug or a reference) with the generated properties, in as few checker runs as
//! possible.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use super::carry::Carrier;
use super::case::Case;
use super::outcome::Undecided;
use super::tiers::{exceeds_case_limit, is_property};
use crate::tla::{Cfg, CheckOutcome, Checker, DEADLOCK, Diagnostic, Trace, Verdict, Violation, ViolationKind};
use crate::toolchain::{CheckRequest, ParseOutcome, SeparateVerdicts, SpecText, ToolContext, ToolError, Toolchain};

/// The verdict on a generated property in a target module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PropertyVerdict {
    Violated,
    Holds,
    Unknown(String),
    /// These names are missing in the target.
    NotApplicable(Vec<String>),
}

/// The verdicts on all properties in a target.
pub(super) struct TargetResult {
    pub(super) verdicts: Vec<(String, PropertyVerdict)>,
    pub(super) checkers: BTreeSet<Checker>,
    pub(super) remark: Option<String>,
    /// Time of the run with all properties.
    pub(super) took: Duration,
    /// Properties of a run that reached its time limit.
    pub(super) timed_out: Vec<String>,
}

impl TargetResult {
    pub(super) fn properties_with(&self, wanted: &PropertyVerdict) -> Vec<String> {
        let same = self.verdicts.iter().filter(|(_, verdict)| verdict == wanted);
        same.map(|(name, _)| name.clone()).collect()
    }

    pub(super) fn undecided(&self) -> Vec<Undecided> {
        let reason = |(property, verdict): &(String, PropertyVerdict)| match verdict {
            PropertyVerdict::Unknown(reason) => Some(Undecided { property: property.clone(), reason: reason.clone() }),
            _ => None,
        };
        self.verdicts.iter().filter_map(reason).collect()
    }
}

/// Whether the absence of deadlock is one of the properties of a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DeadlockProperty {
    Included,
    Excluded,
}

pub(super) struct TargetJudge<'a> {
    context: TargetContext<'a>,
    carrier: Carrier<'a>,
    spec: SpecText,
    /// The module's own configuration.
    cfg: Cfg,
    /// Whether violations by infinite stuttering or cycles are ignored: the module states no fairness, and its bug is not
    /// about liveness.
    ignores_unfair: bool,
    verdicts: Vec<(String, PropertyVerdict)>,
    checkers: BTreeSet<Checker>,
    /// Properties of a run that reached its time limit.
    timed_out: Vec<String>,
}

/// What judging needs besides the module.
pub(super) struct TargetContext<'a> {
    /// The generated configuration, which lists the properties.
    pub(super) generated: &'a Cfg,
    pub(super) case: &'a Case,
    pub(super) tools: &'a dyn Toolchain,
    pub(super) cx: ToolContext<'a>,
    /// Called before each run of the checker.
    pub(super) on_check: &'a (dyn Fn() + Send + Sync),
}

/// A checker run with some of the properties.
struct CheckRun {
    /// Properties that the run found violated on its way; the outcome is about the others.
    violated: Vec<String>,
    /// The outcome, or why the module could not be checked.
    outcome: Result<CheckOutcome, String>,
    /// The name of each property in the target module.
    names: BTreeMap<String, String>,
    took: Duration,
}

/// Whether a run continues after a violation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AfterViolation {
    Stop,
    /// If the checker can.
    Continue,
}

/// The result of a run with several properties.
enum GroupResult {
    AllHold,
    /// This property (or the absence of deadlock) is decided; the run says nothing about the others.
    Decided(String, PropertyVerdict),
    /// The run ended with a deadlock that is not one of the properties.
    OtherDeadlock,
    /// No further run can decide any of them.
    Unknown(String),
    TimedOut(String),
    /// Each property needs a run of its own, because one of them may prevent checking the others.
    CheckSeparately,
}

impl<'a> TargetJudge<'a> {
    pub(super) fn new(
        context: TargetContext<'a>,
        carrier: Carrier<'a>,
        spec: SpecText,
        cfg: Cfg,
        ignores_unfair: bool,
    ) -> Self {
        Self {
            context,
            carrier,
            spec,
            cfg,
            ignores_unfair,
            verdicts: Vec::new(),
            checkers: BTreeSet::new(),
            timed_out: Vec::new(),
        }
    }

    /// Checks all properties together, and again without the violated ones as long as the run decides only some of them.
    /// A checker that continues after violations needs about one run, any other about as many as there are violated
    /// properties. Checks each property separately only if the common run fails.
    pub(super) async fn judge(
        mut self,
        properties: &[String],
        deadlocks: DeadlockProperty,
    ) -> Result<TargetResult, ToolError> {
        let mut open: Vec<&str> = Vec::new();
        for property in properties {
            match self.carrier.needed_definitions(property) {
                Ok(_) => open.push(property),
                Err(missing) => self.record(property, PropertyVerdict::NotApplicable(missing)),
            }
        }
        let mut check_deadlock = self.cfg.check_deadlock;
        if deadlocks == DeadlockProperty::Included {
            open.push(DEADLOCK);
            check_deadlock = Some(true);
        }
        let (mut remark, mut took) = (None, Duration::ZERO);
        while !open.is_empty() {
            let ran = self.check(&open, check_deadlock, AfterViolation::Continue).await?;
            took = took.max(ran.took);
            for name in &ran.violated {
                open.retain(|known| known != name);
                self.record(name, PropertyVerdict::Violated);
            }
            if open.is_empty() {
                break;
            }
            if is_failure_with_violations(&ran, &open) {
                continue;
            }
            match self.interpret_group(&ran, &open, check_deadlock) {
                GroupResult::AllHold => self.record_all(&mut open, &PropertyVerdict::Holds),
                GroupResult::Unknown(why) => {
                    if let Ok(CheckOutcome { verdict: Verdict::Violated { violated }, .. }) = &ran.outcome {
                        remark.get_or_insert(other_violation(violated));
                    }
                    self.record_all(&mut open, &PropertyVerdict::Unknown(why));
                }
                GroupResult::Decided(name, verdict) => {
                    open.retain(|known| *known != name);
                    if name == DEADLOCK {
                        // A deadlock ends every run, so it would hide the remaining properties.
                        check_deadlock = Some(false);
                    }
                    self.record(&name, verdict);
                }
                GroupResult::OtherDeadlock => {
                    if let Ok(CheckOutcome { verdict: Verdict::Violated { violated }, .. }) = &ran.outcome {
                        remark.get_or_insert(other_violation(violated));
                    }
                    check_deadlock = Some(false);
                }
                GroupResult::TimedOut(why) => self.check_in_parts(std::mem::take(&mut open), &why).await?,
                GroupResult::CheckSeparately => {
                    for name in std::mem::take(&mut open) {
                        let verdict = self.check_alone(name).await?;
                        self.record(name, verdict);
                    }
                }
            }
        }
        let place = |name: &str| properties.iter().position(|p| p == name).unwrap_or(properties.len());
        self.verdicts.sort_by_key(|(name, _)| place(name));
        let Self { verdicts, checkers, timed_out, .. } = self;
        Ok(TargetResult { verdicts, checkers, remark, took, timed_out })
    }

    fn record(&mut self, name: &str, verdict: PropertyVerdict) {
        self.verdicts.push((name.to_owned(), verdict));
    }

    fn record_all(&mut self, names: &mut Vec<&str>, verdict: &PropertyVerdict) {
        for name in names.drain(..) {
            self.record(name, verdict.clone());
        }
    }

    /// Splits the properties after a common run that timed out, because a temporal property may be what takes the time:
    /// checks the invariants together, then each temporal property alone. Stops at the first violation.
    async fn check_in_parts(&mut self, open: Vec<&str>, why: &str) -> Result<(), ToolError> {
        self.timed_out.extend(open.iter().map(|name| (*name).to_owned()));
        let temporal = |name: &&str| self.context.generated.properties.iter().any(|known| known == name);
        let (alone, together): (Vec<&str>, Vec<&str>) = open.iter().partition(|name| temporal(name));
        let mut parts: Vec<Vec<&str>> = Vec::new();
        if open.len() > 1 && !alone.is_empty() {
            parts.extend((!together.is_empty()).then_some(together));
            parts.extend(alone.into_iter().map(|name| vec![name]));
        } else {
            self.record_all(&mut open.clone(), &PropertyVerdict::Unknown(why.to_owned()));
        }
        for mut part in parts {
            // The bug is detected, so further runs would only take time.
            if self.verdicts.iter().any(|(_, verdict)| *verdict == PropertyVerdict::Violated) {
                self.record_all(&mut part, &PropertyVerdict::Unknown(why.to_owned()));
                continue;
            }
            let ran = self.check(&part, Some(part.contains(&DEADLOCK)), AfterViolation::Stop).await?;
            match self.interpret_group(&ran, &part, Some(false)) {
                GroupResult::AllHold => self.record_all(&mut part, &PropertyVerdict::Holds),
                GroupResult::Decided(name, verdict) => {
                    part.retain(|known| *known != name);
                    self.record(&name, verdict);
                    self.record_all(&mut part, &PropertyVerdict::Unknown(why.to_owned()));
                }
                GroupResult::Unknown(why) | GroupResult::TimedOut(why) => {
                    self.record_all(&mut part, &PropertyVerdict::Unknown(why));
                }
                GroupResult::OtherDeadlock | GroupResult::CheckSeparately => {
                    self.record_all(&mut part, &PropertyVerdict::Unknown(why.to_owned()));
                }
            }
        }
        Ok(())
    }

    /// Checks one property in a run of its own.
    async fn check_alone(&mut self, name: &str) -> Result<PropertyVerdict, ToolError> {
        let ran = self.check(&[name], Some(name == DEADLOCK), AfterViolation::Stop).await?;
        let outcome = match &ran.outcome {
            Ok(outcome) => outcome,
            Err(why) => return Ok(PropertyVerdict::Unknown(why.clone())),
        };
        if is_timed_out(&ran) {
            self.timed_out.push(name.to_owned());
        }
        Ok(match &outcome.verdict {
            Verdict::Violated { violated } if name == DEADLOCK && violated.kind == ViolationKind::Deadlock => {
                PropertyVerdict::Violated
            }
            Verdict::Violated { violated } if name == DEADLOCK || !is_property(violated) => {
                PropertyVerdict::Unknown(format!("the run ends with another violation: {}", violated.description()))
            }
            Verdict::Violated { .. } => self.verdict_of_violation(outcome),
            Verdict::Holds => match exceeds_case_limit(outcome, self.context.case) {
                Some(why) => PropertyVerdict::Unknown(why),
                None => PropertyVerdict::Holds,
            },
            Verdict::Invalid { reason, .. } => {
                PropertyVerdict::Unknown(format!("it cannot be evaluated: {}", first_line(reason)))
            }
            Verdict::Inconclusive { reason, .. } => PropertyVerdict::Unknown(first_line(reason)),
        })
    }

    /// The verdict on a property that a run found violated.
    fn verdict_of_violation(&self, outcome: &CheckOutcome) -> PropertyVerdict {
        let is_infinite = outcome.trace.as_ref().is_some_and(|Trace { lasso, .. }| lasso.is_some());
        if is_infinite && self.ignores_unfair {
            let why = "violated only by a behaviour that stops or cycles, and the module states no fairness";
            return PropertyVerdict::Unknown(why.to_owned());
        }
        PropertyVerdict::Violated
    }

    /// Interprets a run with several properties.
    fn interpret_group(&self, ran: &CheckRun, open: &[&str], check_deadlock: Option<bool>) -> GroupResult {
        let Ok(outcome) = &ran.outcome else { return GroupResult::CheckSeparately };
        match &outcome.verdict {
            Verdict::Holds => match exceeds_case_limit(outcome, self.context.case) {
                Some(why) => GroupResult::Unknown(why),
                None => GroupResult::AllHold,
            },
            Verdict::Violated { violated } if is_property(violated) => {
                match open.iter().find(|name| is_violation_of(ran, name, violated)) {
                    Some(name) => GroupResult::Decided((*name).to_owned(), self.verdict_of_violation(outcome)),
                    None => GroupResult::CheckSeparately,
                }
            }
            Verdict::Violated { violated } if violated.kind == ViolationKind::Deadlock => {
                if open.contains(&DEADLOCK) {
                    GroupResult::Decided(DEADLOCK.to_owned(), PropertyVerdict::Violated)
                } else if check_deadlock == Some(false) {
                    GroupResult::Unknown(format!("the run ends with another violation: {}", violated.description()))
                } else {
                    GroupResult::OtherDeadlock
                }
            }
            Verdict::Violated { violated } => {
                GroupResult::Unknown(format!("the run ends with another violation: {}", violated.description()))
            }
            Verdict::Inconclusive { reason, .. } if is_timed_out(ran) => GroupResult::TimedOut(first_line(reason)),
            // One property that cannot be evaluated makes the whole run invalid.
            Verdict::Invalid { .. } | Verdict::Inconclusive { .. } => GroupResult::CheckSeparately,
        }
    }

    /// Parses and checks the module with these properties. A failure to do so is not a verdict.
    async fn check(
        &mut self,
        properties: &[&str],
        check_deadlock: Option<bool>,
        after_violation: AfterViolation,
    ) -> Result<CheckRun, ToolError> {
        (self.context.on_check)();
        let began = Instant::now();
        let properties: Vec<&str> = properties.iter().copied().filter(|name| *name != DEADLOCK).collect();
        let failed = |why: String| CheckRun {
            violated: Vec::new(),
            outcome: Err(why),
            names: BTreeMap::new(),
            took: began.elapsed(),
        };
        let Some(inserted) = self.carrier.insert_properties(&properties) else {
            return Ok(failed("it cannot be inserted: the module has no end, or no name is free".to_owned()));
        };
        let called = |listed: &[String]| -> Vec<String> {
            let wanted = listed.iter().filter(|name| properties.contains(&name.as_str()));
            wanted.filter_map(|name| inserted.names.get(name).cloned()).collect()
        };
        let (invariants, temporal) =
            (called(&self.context.generated.invariants), called(&self.context.generated.properties));
        let cfg = Cfg { invariants, properties: temporal, check_deadlock, ..self.cfg.clone() };
        let spec = SpecText { text: inserted.text, ..self.spec.clone() };
        match self.context.tools.parse(&spec, &self.context.cx).await {
            Ok(ParseOutcome::Accepted { .. }) => {}
            Ok(ParseOutcome::Rejected(diagnostics)) => {
                return Ok(failed(format!("the module does not parse with it: {}", first_diagnostic(&diagnostics))));
            }
            Err(error) => return Ok(failed(reason_or_fatal(error)?)),
        }
        let request = CheckRequest { spec, cfg_text: cfg.render(), cfg };
        let began = Instant::now();
        let TargetContext { tools, cx, .. } = &self.context;
        let decided = match after_violation {
            AfterViolation::Continue => tools.decide_each(&request, cx).await,
            AfterViolation::Stop => {
                tools.decide(&request, cx).await.map(|rest| SeparateVerdicts { violated: Vec::new(), rest })
            }
        };
        let (violated, outcome) = match decided {
            Ok(SeparateVerdicts { violated, rest }) => {
                self.checkers.insert(rest.outcome.checker);
                self.checkers.extend(rest.second_outcome.map(|second| second.checker));
                (violated, Ok(rest.outcome))
            }
            Err(error) => (Vec::new(), Err(reason_or_fatal(error)?)),
        };
        // A worker measures the check itself, without the time that it waited for its turn.
        let measured = outcome.as_ref().ok().and_then(|outcome| outcome.statistics.total_seconds);
        let measured = measured.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        let took = measured.unwrap_or_else(|| began.elapsed());
        let own_name = |called: &String| {
            let (name, _) = inserted.names.iter().find(|(_, known)| *known == called)?;
            properties.contains(&name.as_str()).then(|| name.clone())
        };
        Ok(CheckRun { violated: violated.iter().filter_map(own_name).collect(), outcome, names: inserted.names, took })
    }
}

fn is_timed_out(ran: &CheckRun) -> bool {
    ran.outcome.as_ref().is_ok_and(|outcome| outcome.verdict.is_timed_out())
}

/// Whether a run that found violated properties failed to decide the others, which a run without the violated ones
/// might decide.
fn is_failure_with_violations(ran: &CheckRun, open: &[&str]) -> bool {
    let is_failure = match &ran.outcome {
        Err(_) => true,
        Ok(CheckOutcome { verdict: Verdict::Violated { violated }, .. }) if is_property(violated) => {
            // A property can be violated by a step and, elsewhere, by a behaviour.
            !open.iter().any(|name| is_violation_of(ran, name, violated))
        }
        Ok(CheckOutcome { verdict: Verdict::Invalid { .. }, .. }) => true,
        Ok(CheckOutcome { verdict: Verdict::Inconclusive { .. }, .. }) => !is_timed_out(ran),
        Ok(_) => false,
    };
    !ran.violated.is_empty() && is_failure
}

/// Whether this is a violation of the property with this name in the generated module.
fn is_violation_of(ran: &CheckRun, name: &str, violated: &Violation) -> bool {
    ran.names.get(name).is_some_and(|called| Some(called.as_str()) == violated.property())
}

fn other_violation(violated: &Violation) -> String {
    format!("the run ends with a violation that the case does not name: {}", violated.description())
}

/// The reason for a missing verdict, if a tool failed on this module only; the error if the tool cannot be used at all.
pub(super) fn reason_or_fatal(error: ToolError) -> Result<String, ToolError> {
    match error {
        ended if ended.is_fatal() => Err(ended),
        error => Ok(first_line(&error.to_string())),
    }
}

fn first_line(text: &str) -> String {
    text.trim().lines().next().unwrap_or_default().to_owned()
}

pub(super) fn first_diagnostic(diagnostics: &[Diagnostic]) -> String {
    diagnostics.first().map_or_else(|| "it is rejected".to_owned(), ToString::to_string)
}
