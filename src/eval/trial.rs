//! One module under the generated properties: which runs of a checker that takes, and what they say of each property.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use super::carry::Carrier;
use super::case::Case;
use super::outcome::Unknown;
use super::tiers::{beyond, is_property};
use crate::tla::{Cfg, CheckOutcome, Checker, DEADLOCK, Diagnostic, Trace, Verdict, Violation, ViolationKind};
use crate::toolchain::{CheckRequest, ParseOutcome, SpecText, ToolContext, ToolError, Toolchain};

/// What a generated property comes to in another module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Verdicts {
    Violated,
    Holds,
    Unknown(String),
    Lacks(Vec<String>),
}

/// A target under all properties.
pub(super) struct Judged {
    pub(super) verdicts: Vec<(String, Verdicts)>,
    /// The checkers that ran on it.
    pub(super) checkers: BTreeSet<Checker>,
    pub(super) remark: Option<String>,
    /// The time of the run that tried all properties together.
    pub(super) took: Duration,
    /// The properties that were tried in a run that did not end within its limit.
    pub(super) endless: Vec<String>,
}

impl Judged {
    pub(super) fn of(&self, wanted: &Verdicts) -> Vec<String> {
        let same = self.verdicts.iter().filter(|(_, verdict)| verdict == wanted);
        same.map(|(name, _)| name.clone()).collect()
    }

    pub(super) fn unknown(&self) -> Vec<Unknown> {
        let reason = |(property, verdict): &(String, Verdicts)| match verdict {
            Verdicts::Unknown(reason) => Some(Unknown { property: property.clone(), reason: reason.clone() }),
            _ => None,
        };
        self.verdicts.iter().filter_map(reason).collect()
    }
}

/// How the absence of deadlock counts in a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Deadlocks {
    /// It is one of the properties.
    Count,
    /// It is none of them.
    Pass,
}

/// One module on trial.
pub(super) struct Trial<'a> {
    set: Setting<'a>,
    carrier: Carrier<'a>,
    spec: SpecText,
    /// The module's own configuration.
    cfg: Cfg,
    /// It states no fairness, and is not meant to break liveness: a behaviour that stops says nothing of its bug.
    excused: bool,
    verdicts: Vec<(String, Verdicts)>,
    /// The checkers that ran on it.
    checkers: BTreeSet<Checker>,
    /// The properties that were tried in a run that did not end within its limit.
    endless: Vec<String>,
}

/// What a trial needs besides the module.
pub(super) struct Setting<'a> {
    /// The generated configuration, which lists the properties.
    pub(super) generated: &'a Cfg,
    pub(super) case: &'a Case,
    pub(super) tools: &'a dyn Toolchain,
    pub(super) cx: ToolContext<'a>,
}

/// A run with some properties.
struct Ran {
    /// The outcome, or what kept the module from being checked.
    outcome: Result<CheckOutcome, String>,
    /// What each property is called in the module.
    names: BTreeMap<String, String>,
    took: Duration,
}

/// What a run with several properties says.
enum Together {
    /// All of them hold.
    Hold,
    /// This one (or the absence of deadlock) has this verdict; the run says nothing about the others.
    One(String, Verdicts),
    /// A deadlock that is none of the properties ended the run.
    OtherDeadlock,
    /// No further run would say more about any of them.
    Nothing(String),
    /// The run did not end within its limit.
    Late(String),
    /// Each has to be tried alone: one of them may keep the others from being checked.
    Alone,
}

impl<'a> Trial<'a> {
    /// A module, its own configuration, and what carries properties to it; see [`Trial::excused`].
    pub(super) fn new(set: Setting<'a>, carrier: Carrier<'a>, spec: SpecText, cfg: Cfg, excused: bool) -> Self {
        Self { set, carrier, spec, cfg, excused, verdicts: Vec::new(), checkers: BTreeSet::new(), endless: Vec::new() }
    }

    /// Tries all properties together. One that is violated is left out of the next run, so that there are about as many
    /// runs as violated properties; what each costs alone is paid only if one of them cannot be checked at all.
    pub(super) async fn judge(mut self, properties: &[String], deadlocks: Deadlocks) -> Result<Judged, ToolError> {
        let mut open: Vec<&str> = Vec::new();
        for property in properties {
            match self.carrier.needed(property) {
                Ok(_) => open.push(property),
                Err(missing) => self.note(property, Verdicts::Lacks(missing)),
            }
        }
        let mut check_deadlock = self.cfg.check_deadlock;
        if deadlocks == Deadlocks::Count {
            open.push(DEADLOCK);
            check_deadlock = Some(true);
        }
        let (mut remark, mut took) = (None, Duration::ZERO);
        while !open.is_empty() {
            let ran = self.check(&open, check_deadlock).await?;
            took = took.max(ran.took);
            match self.together(&ran, &open, check_deadlock) {
                Together::Hold => self.note_all(&mut open, &Verdicts::Holds),
                Together::Nothing(why) => {
                    if let Ok(CheckOutcome { verdict: Verdict::Violated { violated }, .. }) = &ran.outcome {
                        remark.get_or_insert(otherwise(violated));
                    }
                    self.note_all(&mut open, &Verdicts::Unknown(why));
                }
                Together::One(name, verdict) => {
                    open.retain(|known| *known != name);
                    if name == DEADLOCK {
                        check_deadlock = Some(false);
                    }
                    self.note(&name, verdict);
                }
                Together::OtherDeadlock => {
                    if let Ok(CheckOutcome { verdict: Verdict::Violated { violated }, .. }) = &ran.outcome {
                        remark.get_or_insert(otherwise(violated));
                    }
                    check_deadlock = Some(false);
                }
                Together::Late(why) => self.in_parts(std::mem::take(&mut open), &why).await?,
                Together::Alone => {
                    for name in std::mem::take(&mut open) {
                        let verdict = self.alone(name).await?;
                        self.note(name, verdict);
                    }
                }
            }
        }
        let place = |name: &str| properties.iter().position(|p| p == name).unwrap_or(properties.len());
        self.verdicts.sort_by_key(|(name, _)| place(name));
        let Self { verdicts, checkers, endless, .. } = self;
        Ok(Judged { verdicts, checkers, remark, took, endless })
    }

    fn note(&mut self, name: &str, verdict: Verdicts) {
        self.verdicts.push((name.to_owned(), verdict));
    }

    fn note_all(&mut self, names: &mut Vec<&str>, verdict: &Verdicts) {
        for name in names.drain(..) {
            self.note(name, verdict.clone());
        }
    }

    /// After a run with all of them that did not end. A bug that is noticed needs no more runs. Otherwise a temporal
    /// property may be what takes the time: the others are tried without them, and each of them alone.
    async fn in_parts(&mut self, open: Vec<&str>, why: &str) -> Result<(), ToolError> {
        self.endless.extend(open.iter().map(|name| (*name).to_owned()));
        let temporal = |name: &&str| self.set.generated.properties.iter().any(|known| known == name);
        let (alone, together): (Vec<&str>, Vec<&str>) = open.iter().partition(|name| temporal(name));
        let mut parts: Vec<Vec<&str>> = Vec::new();
        if open.len() > 1 && !alone.is_empty() {
            parts.extend((!together.is_empty()).then_some(together));
            parts.extend(alone.into_iter().map(|name| vec![name]));
        } else {
            self.note_all(&mut open.clone(), &Verdicts::Unknown(why.to_owned()));
        }
        for mut part in parts {
            if self.verdicts.iter().any(|(_, verdict)| *verdict == Verdicts::Violated) {
                self.note_all(&mut part, &Verdicts::Unknown(why.to_owned()));
                continue;
            }
            let ran = self.check(&part, Some(part.contains(&DEADLOCK))).await?;
            match self.together(&ran, &part, Some(false)) {
                Together::Hold => self.note_all(&mut part, &Verdicts::Holds),
                Together::One(name, verdict) => {
                    part.retain(|known| *known != name);
                    self.note(&name, verdict);
                    self.note_all(&mut part, &Verdicts::Unknown(why.to_owned()));
                }
                Together::Nothing(why) | Together::Late(why) => self.note_all(&mut part, &Verdicts::Unknown(why)),
                Together::OtherDeadlock | Together::Alone => {
                    self.note_all(&mut part, &Verdicts::Unknown(why.to_owned()));
                }
            }
        }
        Ok(())
    }

    /// One property in a run of its own.
    async fn alone(&mut self, name: &str) -> Result<Verdicts, ToolError> {
        let ran = self.check(&[name], Some(name == DEADLOCK)).await?;
        let outcome = match &ran.outcome {
            Ok(outcome) => outcome,
            Err(why) => return Ok(Verdicts::Unknown(why.clone())),
        };
        if self.is_late(&ran) {
            self.endless.push(name.to_owned());
        }
        Ok(match &outcome.verdict {
            Verdict::Violated { violated } if name == DEADLOCK && violated.kind == ViolationKind::Deadlock => {
                Verdicts::Violated
            }
            Verdict::Violated { violated } if name == DEADLOCK || !is_property(violated) => {
                Verdicts::Unknown(format!("it ends otherwise: {}", violated.description()))
            }
            Verdict::Violated { .. } => self.of_violation(outcome),
            Verdict::Holds => match beyond(outcome, self.set.case) {
                Some(why) => Verdicts::Unknown(why),
                None => Verdicts::Holds,
            },
            Verdict::Invalid { reason, .. } => Verdicts::Unknown(format!("it cannot be evaluated: {}", line(reason))),
            Verdict::Inconclusive { reason, .. } => Verdicts::Unknown(line(reason)),
        })
    }

    /// The verdict on a property that a run found violated.
    fn of_violation(&self, outcome: &CheckOutcome) -> Verdicts {
        let endless = outcome.trace.as_ref().is_some_and(|Trace { lasso, .. }| lasso.is_some());
        if endless && self.excused {
            let why = "violated by a behaviour that stops or goes round, and the module states no fairness";
            return Verdicts::Unknown(why.to_owned());
        }
        Verdicts::Violated
    }

    fn is_late(&self, ran: &Ran) -> bool {
        let undecided = ran.outcome.as_ref().is_ok_and(|o| matches!(o.verdict, Verdict::Inconclusive { .. }));
        undecided && ran.took >= self.set.cx.limits.check
    }

    /// What a run says of several properties.
    fn together(&self, ran: &Ran, open: &[&str], check_deadlock: Option<bool>) -> Together {
        let Ok(outcome) = &ran.outcome else { return Together::Alone };
        match &outcome.verdict {
            Verdict::Holds => match beyond(outcome, self.set.case) {
                Some(why) => Together::Nothing(why),
                None => Together::Hold,
            },
            Verdict::Violated { violated } if is_property(violated) => {
                let is_it = |known: &&&str| {
                    ran.names.get(**known).is_some_and(|called| Some(called.as_str()) == violated.property())
                };
                match open.iter().find(is_it) {
                    Some(name) => Together::One((*name).to_owned(), self.of_violation(outcome)),
                    None => Together::Alone,
                }
            }
            Verdict::Violated { violated } if violated.kind == ViolationKind::Deadlock => {
                if open.contains(&DEADLOCK) {
                    Together::One(DEADLOCK.to_owned(), Verdicts::Violated)
                } else if check_deadlock == Some(false) {
                    Together::Nothing(format!("it ends otherwise: {}", violated.description()))
                } else {
                    Together::OtherDeadlock
                }
            }
            Verdict::Violated { violated } => {
                Together::Nothing(format!("it ends otherwise: {}", violated.description()))
            }
            Verdict::Inconclusive { reason, .. } if self.is_late(ran) => Together::Late(line(reason)),
            Verdict::Invalid { .. } | Verdict::Inconclusive { .. } => Together::Alone,
        }
    }

    /// The module with these properties, parsed and checked. What keeps it from being checked is no verdict.
    async fn check(&mut self, properties: &[&str], check_deadlock: Option<bool>) -> Result<Ran, ToolError> {
        let began = Instant::now();
        let properties: Vec<&str> = properties.iter().copied().filter(|name| *name != DEADLOCK).collect();
        let failed = |why: String| Ran { outcome: Err(why), names: BTreeMap::new(), took: began.elapsed() };
        let Some(put) = self.carrier.put(&properties) else {
            return Ok(failed("there is no place for it, or no name".to_owned()));
        };
        let called = |listed: &[String]| -> Vec<String> {
            let wanted = listed.iter().filter(|name| properties.contains(&name.as_str()));
            wanted.filter_map(|name| put.names.get(name).cloned()).collect()
        };
        let (invariants, temporal) = (called(&self.set.generated.invariants), called(&self.set.generated.properties));
        let cfg = Cfg { invariants, properties: temporal, check_deadlock, ..self.cfg.clone() };
        let spec = SpecText { text: put.text, ..self.spec.clone() };
        match self.set.tools.parse(&spec, &self.set.cx).await {
            Ok(ParseOutcome::Accepted { .. }) => {}
            Ok(ParseOutcome::Rejected(diagnostics)) => {
                return Ok(failed(format!("with it the module does not parse: {}", first(&diagnostics))));
            }
            Err(error) => return Ok(failed(undecided(error)?)),
        }
        let request = CheckRequest { spec, cfg_text: cfg.render(), cfg };
        let began = Instant::now();
        let outcome = match self.set.tools.decide(&request, &self.set.cx).await {
            Ok(checked) => {
                self.checkers.insert(checked.outcome.checker);
                self.checkers.extend(checked.second_outcome.map(|second| second.checker));
                Ok(checked.outcome)
            }
            Err(error) => Err(undecided(error)?),
        };
        Ok(Ran { outcome, names: put.names, took: began.elapsed() })
    }
}

fn otherwise(violated: &Violation) -> String {
    format!("it ends otherwise than the case says: {}", violated.description())
}

/// A tool that broke on one module has decided nothing about it; one that is not there decides nothing at all.
pub(super) fn undecided(error: ToolError) -> Result<String, ToolError> {
    match error {
        ended if ended.is_fatal() => Err(ended),
        error => Ok(line(&error.to_string())),
    }
}

/// The first line of a tool's words.
fn line(text: &str) -> String {
    text.trim().lines().next().unwrap_or_default().to_owned()
}

pub(super) fn first(diagnostics: &[Diagnostic]) -> String {
    diagnostics.first().map_or_else(|| "it is rejected".to_owned(), ToString::to_string)
}
