//! The third tier: each known bug under the generated properties, and nothing else.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;

use futures_util::{StreamExt, TryStreamExt, stream};

use super::carry::Carrier;
use super::case::{Bug, Case, Target};
use super::outcome::{Fate, Mutant, NotApplicable, Tier3, Unknown, Wrong};
use super::tiers::{beyond, is_property};
use crate::pipeline::Name;
use crate::tla::{Cfg, CheckOutcome, Checker, DEADLOCK, Module, Trace, Verdict, ViolationKind};
use crate::toolchain::{
    BoxFuture, CheckRequest, ParseOutcome, SpecText, ToolContext, ToolError, Toolchain, Translation,
};

/// What a generated property comes to in another module.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Verdicts {
    Violated,
    Holds,
    Unknown(String),
    Lacks(Vec<String>),
}

/// A target under all properties.
struct Judged {
    verdicts: Vec<(String, Verdicts)>,
    /// The checkers that ran on it.
    checkers: BTreeSet<Checker>,
    remark: Option<String>,
}

impl Judged {
    fn of(&self, wanted: &Verdicts) -> Vec<String> {
        let same = self.verdicts.iter().filter(|(_, verdict)| verdict == wanted);
        same.map(|(name, _)| name.clone()).collect()
    }

    fn unknown(&self) -> Vec<Unknown> {
        let reason = |(property, verdict): &(String, Verdicts)| match verdict {
            Verdicts::Unknown(reason) => Some(Unknown { property: property.clone(), reason: reason.clone() }),
            _ => None,
        };
        self.verdicts.iter().filter_map(reason).collect()
    }
}

/// How the absence of deadlock counts in a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Deadlocks {
    /// It is one of the properties.
    Count,
    /// It is none of them.
    Pass,
}

/// What properties are taken from, and what decides.
pub(super) struct Court<'a> {
    pub(super) module: &'a Module,
    pub(super) cfg: &'a Cfg,
    pub(super) case: &'a Case,
    pub(super) tools: &'a dyn Toolchain,
    pub(super) cx: &'a ToolContext<'a>,
    /// Targets at a time.
    pub(super) jobs: usize,
}

impl Court<'_> {
    /// Judges every known bug of the case.
    pub(super) async fn judge(&self) -> Result<Tier3, ToolError> {
        let case = self.case;
        let listed: Vec<String> = self.cfg.invariants.iter().chain(&self.cfg.properties).cloned().collect();
        let asked =
            case.bugs.iter().any(|bug| bug.should_violate == DEADLOCK) && self.cfg.check_deadlock != Some(false);
        let counts = |asked: bool| if asked { Deadlocks::Count } else { Deadlocks::Pass };
        let references: Vec<BoxFuture<'_, _>> = case
            .references
            .iter()
            .map(|target| {
                let silent = target.cfg.as_ref().is_some_and(|cfg| cfg.check_deadlock == Some(false));
                Box::pin(self.target(target, &listed, counts(asked && !silent), false)) as _
            })
            .collect();
        let references: Vec<Judged> = stream::iter(references).buffered(self.jobs.max(1)).try_collect().await?;
        let mut wrong = Vec::new();
        let mut lacks: Vec<NotApplicable> = Vec::new();
        for (target, judged) in case.references.iter().zip(&references) {
            let violated = judged.of(&Verdicts::Violated).into_iter();
            wrong.extend(violated.map(|property| Wrong { property, reference: target.file.clone() }));
            note_lacks(&mut lacks, target, judged);
        }
        let kept: Vec<String> =
            listed.iter().filter(|name| !wrong.iter().any(|wrong| wrong.property == **name)).cloned().collect();
        let right_deadlock = !wrong.iter().any(|wrong| wrong.property == DEADLOCK);
        let bugs: Vec<BoxFuture<'_, _>> = case
            .bugs
            .iter()
            .map(|bug| {
                let deadlocks = counts(asked && right_deadlock && bug.should_violate == DEADLOCK);
                Box::pin(self.target(&bug.target, &kept, deadlocks, bug.breaks_liveness)) as _
            })
            .collect();
        let bugs: Vec<Judged> = stream::iter(bugs).buffered(self.jobs.max(1)).try_collect().await?;
        let mut mutants = Vec::new();
        for (bug, judged) in case.bugs.iter().zip(&bugs) {
            note_lacks(&mut lacks, &bug.target, judged);
            mutants.push(self.mutant(bug, judged, &listed));
        }
        Ok(tier(mutants, wrong, untried(&listed, &references), lacks))
    }

    fn mutant(&self, bug: &Bug, judged: &Judged, listed: &[String]) -> Mutant {
        let killed_by = judged.of(&Verdicts::Violated);
        let inconclusive = judged.unknown();
        let tried = judged.verdicts.iter().any(|(_, verdict)| !matches!(verdict, Verdicts::Lacks(_)));
        let outcome = match () {
            () if !killed_by.is_empty() => Fate::Killed,
            () if !inconclusive.is_empty() => Fate::Inconclusive,
            () if tried => Fate::Survived,
            () => Fate::NotApplicable,
        };
        let types = |name: &String| self.case.checklist.is_type_invariant(name);
        let is_named = listed.contains(&bug.should_violate) || bug.should_violate == DEADLOCK;
        Mutant {
            file: bug.target.file.clone(),
            description: bug.description.clone(),
            should_violate: bug.should_violate.clone(),
            outcome,
            by_types_alone: !killed_by.is_empty() && killed_by.iter().all(types),
            by_named: is_named.then(|| killed_by.contains(&bug.should_violate)),
            killed_by,
            inconclusive,
            checkers: judged.checkers.clone(),
            remark: judged.remark.clone(),
        }
    }

    /// One target under properties. `fair`: a behaviour that only a lack of fairness allows is a violation, too.
    async fn target(
        &self,
        target: &Target,
        properties: &[String],
        deadlocks: Deadlocks,
        fair: bool,
    ) -> Result<Judged, ToolError> {
        let all = |why: &str| {
            let unknown = |name: &String| (name.clone(), Verdicts::Unknown(why.to_owned()));
            let verdicts = properties.iter().map(unknown).collect();
            Ok(Judged { verdicts, checkers: BTreeSet::new(), remark: Some(why.to_owned()) })
        };
        let mut spec = target.spec.clone();
        match self.tools.translate(&spec, self.cx).await {
            Ok(Translation::NoAlgorithm) => {}
            Ok(Translation::Translated(text)) => spec.text = text,
            Ok(Translation::Rejected(diagnostics)) => {
                return all(&format!("{}: {}", target.file, first(&diagnostics)));
            }
            Err(error) => {
                if let Err(why) = undecided(error)? {
                    return all(&format!("{}: {why}", target.file));
                }
            }
        }
        // What does not parse by itself is told once, and not for each property.
        match self.tools.parse(&spec, self.cx).await {
            Ok(ParseOutcome::Rejected(diagnostics)) => {
                return all(&format!("{}: {}", target.file, first(&diagnostics)));
            }
            Ok(ParseOutcome::Accepted { .. }) => {}
            Err(error) => {
                if let Err(why) = undecided(error)? {
                    return all(&format!("{}: {why}", target.file));
                }
            }
        }
        let Ok(module) = Module::parse(&spec.text) else { return all(&format!("{}: no module", target.file)) };
        let beside: Vec<Module> = spec.beside.iter().filter_map(|(_, text)| Module::parse(text).ok()).collect();
        let agreed: Vec<String> =
            self.case.checklist.interface.variables.iter().map(|name| Name::name(name).to_owned()).collect();
        let carrier = Carrier::new(self.module, &module, &beside, &agreed);
        let cfg = target.cfg.clone().unwrap_or_else(|| self.borrowed(&module));
        let states_fairness = states_fairness(&module, &cfg);
        let excused = !fair && !states_fairness;
        let trial = Trial { court: self, carrier, spec, cfg, excused, checkers: Mutex::default() };
        trial.judge(properties, deadlocks).await
    }

    /// The configuration of a mutant that has none: the behaviour and the constants of the generated one.
    fn borrowed(&self, module: &Module) -> Cfg {
        let declared = |name: &String| module.constants.iter().any(|constant| constant.name == *name);
        let constants = self.cfg.constants.iter().filter(|(name, _)| declared(name));
        Cfg {
            specification: self.cfg.specification.clone(),
            init: self.cfg.init.clone(),
            next: self.cfg.next.clone(),
            constants: constants.map(|(name, value)| (name.clone(), value.clone())).collect(),
            check_deadlock: self.cfg.check_deadlock,
            ..Cfg::default()
        }
    }
}

fn first(diagnostics: &[crate::tla::Diagnostic]) -> String {
    diagnostics.first().map_or_else(|| "it is rejected".to_owned(), ToString::to_string)
}

fn states_fairness(module: &Module, cfg: &Cfg) -> bool {
    let Some(specification) = &cfg.specification else { return false };
    let mut names = module.closure(specification);
    names.insert(specification.clone());
    names.iter().any(|name| module.definition(name).is_some_and(crate::tla::Definition::states_fairness))
}

/// One module on trial.
struct Trial<'a> {
    court: &'a Court<'a>,
    carrier: Carrier<'a>,
    spec: SpecText,
    cfg: Cfg,
    /// It states no fairness, and is not meant to break liveness: a behaviour that stops says nothing of its bug.
    excused: bool,
    /// The checkers that ran on it.
    checkers: Mutex<BTreeSet<Checker>>,
}

impl Trial<'_> {
    async fn judge(&self, properties: &[String], deadlocks: Deadlocks) -> Result<Judged, ToolError> {
        let mut verdicts: Vec<(String, Verdicts)> = Vec::new();
        let mut open: Vec<&str> = Vec::new();
        for property in properties {
            match self.carrier.needed(property) {
                Ok(_) => open.push(property),
                Err(missing) => verdicts.push((property.clone(), Verdicts::Lacks(missing))),
            }
        }
        let mut remark = None;
        let own_deadlocks = self.cfg.check_deadlock;
        if !open.is_empty() || deadlocks == Deadlocks::Count {
            let check_deadlock = if deadlocks == Deadlocks::Count { Some(true) } else { own_deadlocks };
            let together = self.check(&open, check_deadlock).await?;
            if let Ok(outcome) = &together
                && outcome.verdict == Verdict::Holds
                && beyond(outcome, self.court.case).is_none()
            {
                verdicts.extend(open.iter().map(|name| ((*name).to_owned(), Verdicts::Holds)));
                if deadlocks == Deadlocks::Count {
                    verdicts.push((DEADLOCK.to_owned(), Verdicts::Holds));
                }
            } else {
                if let Ok(CheckOutcome { verdict: Verdict::Violated { violated }, .. }) = &together
                    && !is_property(violated)
                    && !(violated.kind == ViolationKind::Deadlock && deadlocks == Deadlocks::Count)
                {
                    remark = Some(format!("it ends otherwise than the case says: {}", violated.words()));
                }
                for name in open {
                    let alone = self.check(&[name], Some(false)).await?;
                    verdicts.push((name.to_owned(), self.verdict(alone)));
                }
                if deadlocks == Deadlocks::Count {
                    let alone = self.check(&[], Some(true)).await?;
                    verdicts.push((DEADLOCK.to_owned(), of_deadlock(alone)));
                }
            }
        }
        let place = |name: &str| properties.iter().position(|p| p == name).unwrap_or(properties.len());
        verdicts.sort_by_key(|(name, _)| place(name));
        let checkers = self.checkers.lock().map(|seen| seen.clone()).unwrap_or_default();
        Ok(Judged { verdicts, checkers, remark })
    }

    /// The module with these properties, parsed and checked. What keeps it from being checked is no verdict.
    async fn check(
        &self,
        properties: &[&str],
        check_deadlock: Option<bool>,
    ) -> Result<Result<CheckOutcome, String>, ToolError> {
        let Some(put) = self.carrier.put(properties) else {
            return Ok(Err("there is no place for it, or no name".to_owned()));
        };
        let called = |listed: &[String]| -> Vec<String> {
            let wanted = listed.iter().filter(|name| properties.contains(&name.as_str()));
            wanted.filter_map(|name| put.names.get(name).cloned()).collect()
        };
        let (invariants, temporal) = (called(&self.court.cfg.invariants), called(&self.court.cfg.properties));
        let cfg = Cfg { invariants, properties: temporal, check_deadlock, ..self.cfg.clone() };
        let spec = SpecText { text: put.text, ..self.spec.clone() };
        let cx = self.court.cx;
        match self.court.tools.parse(&spec, cx).await {
            Ok(ParseOutcome::Accepted { .. }) => {}
            Ok(ParseOutcome::Rejected(diagnostics)) => {
                return Ok(Err(format!("with it the module does not parse: {}", first(&diagnostics))));
            }
            Err(error) => return undecided(error),
        }
        let request = CheckRequest { spec, cfg_text: cfg.render(), cfg };
        match self.court.tools.check(&request, cx).await {
            Ok(checked) => {
                if let Ok(mut seen) = self.checkers.lock() {
                    seen.insert(checked.outcome.checker);
                    seen.extend(checked.second.map(|second| second.checker));
                }
                Ok(Ok(checked.outcome))
            }
            Err(error) => undecided(error),
        }
    }

    fn verdict(&self, outcome: Result<CheckOutcome, String>) -> Verdicts {
        let outcome = match outcome {
            Ok(outcome) => outcome,
            Err(why) => return Verdicts::Unknown(why),
        };
        match &outcome.verdict {
            Verdict::Violated { violated } if is_property(violated) => {
                let endless = outcome.trace.as_ref().is_some_and(|Trace { lasso, .. }| lasso.is_some());
                if endless && self.excused {
                    let why = "violated by a behaviour that stops or goes round, and the module states no fairness";
                    return Verdicts::Unknown(why.to_owned());
                }
                Verdicts::Violated
            }
            Verdict::Violated { violated } => Verdicts::Unknown(format!("it ends otherwise: {}", violated.words())),
            Verdict::Holds => match beyond(&outcome, self.court.case) {
                Some(why) => Verdicts::Unknown(why),
                None => Verdicts::Holds,
            },
            Verdict::Invalid { reason, .. } => Verdicts::Unknown(format!("it cannot be evaluated: {}", line(reason))),
            Verdict::Inconclusive { reason } => Verdicts::Unknown(line(reason)),
        }
    }
}

fn of_deadlock(outcome: Result<CheckOutcome, String>) -> Verdicts {
    match outcome.map(|outcome| outcome.verdict) {
        Ok(Verdict::Violated { violated }) if violated.kind == ViolationKind::Deadlock => Verdicts::Violated,
        Ok(Verdict::Holds) => Verdicts::Holds,
        Ok(Verdict::Violated { violated }) => Verdicts::Unknown(format!("it ends otherwise: {}", violated.words())),
        Ok(Verdict::Invalid { reason, .. } | Verdict::Inconclusive { reason }) => Verdicts::Unknown(line(&reason)),
        Err(why) => Verdicts::Unknown(why),
    }
}

/// A tool that broke on one module has decided nothing about it; one that is not there decides nothing at all.
fn undecided(error: ToolError) -> Result<Result<CheckOutcome, String>, ToolError> {
    match error {
        ended if ended.ends_the_work() => Err(ended),
        error => Ok(Err(line(&error.to_string()))),
    }
}

/// The first line of a tool's words.
fn line(text: &str) -> String {
    text.trim().lines().next().unwrap_or_default().to_owned()
}

fn note_lacks(lacks: &mut Vec<NotApplicable>, target: &Target, judged: &Judged) {
    for (property, verdict) in &judged.verdicts {
        let Verdicts::Lacks(missing) = verdict else { continue };
        match lacks.iter_mut().find(|known| known.property == *property && known.missing == *missing) {
            Some(known) => known.files.push(target.file.clone()),
            None => lacks.push(NotApplicable {
                property: property.clone(),
                files: vec![target.file.clone()],
                missing: missing.clone(),
            }),
        }
    }
}

/// Properties that no reference decided, where there is any reference.
fn untried(listed: &[String], references: &[Judged]) -> Vec<Unknown> {
    let decided = |name: &str| {
        let all = references.iter().flat_map(|judged| &judged.verdicts);
        all.filter(|(property, _)| property == name)
            .any(|(_, verdict)| matches!(verdict, Verdicts::Holds | Verdicts::Violated))
    };
    let why = |name: &str| {
        let all = references.iter().flat_map(|judged| &judged.verdicts).filter(|(property, _)| property == name);
        let words = all.map(|(_, verdict)| match verdict {
            Verdicts::Lacks(missing) => format!("the reference lacks {}", missing.join(", ")),
            Verdicts::Unknown(why) => why.clone(),
            Verdicts::Holds | Verdicts::Violated => String::new(),
        });
        words.collect::<Vec<_>>().join("; ")
    };
    let open = listed.iter().filter(|name| !references.is_empty() && !decided(name));
    open.map(|name| Unknown { property: name.clone(), reason: why(name) }).collect()
}

fn tier(mutants: Vec<Mutant>, wrong: Vec<Wrong>, untried: Vec<Unknown>, not_applicable: Vec<NotApplicable>) -> Tier3 {
    let detected = mutants.iter().filter(|mutant| mutant.outcome == Fate::Killed).count();
    let by_types_alone = mutants.iter().filter(|mutant| mutant.by_types_alone).count();
    let total = mutants.len();
    let mut judged_by = BTreeMap::new();
    for checker in mutants.iter().flat_map(|mutant| &mutant.checkers) {
        *judged_by.entry(*checker).or_default() += 1;
    }
    let inapplicable = total > 0 && mutants.iter().all(|mutant| mutant.outcome == Fate::NotApplicable);
    let rate = rate(detected, total).filter(|_| !inapplicable);
    Tier3 { detected, by_types_alone, total, inapplicable, rate, judged_by, mutants, wrong, untried, not_applicable }
}

#[expect(clippy::cast_precision_loss, reason = "a handful of mutants")]
fn rate(detected: usize, total: usize) -> Option<f64> {
    (total > 0).then(|| detected as f64 / total as f64)
}

/// The third tier of a specification that cannot be read: every known bug is missed.
pub(super) fn missed(case: &Case, why: &str) -> Tier3 {
    let mutant = |bug: &Bug| Mutant {
        file: bug.target.file.clone(),
        description: bug.description.clone(),
        should_violate: bug.should_violate.clone(),
        outcome: Fate::NotApplicable,
        killed_by: Vec::new(),
        by_types_alone: false,
        by_named: None,
        inconclusive: Vec::new(),
        checkers: BTreeSet::new(),
        remark: Some(why.to_owned()),
    };
    let tier = tier(case.bugs.iter().map(mutant).collect(), Vec::new(), Vec::new(), Vec::new());
    Tier3 { inapplicable: false, rate: rate(0, tier.total), ..tier }
}
