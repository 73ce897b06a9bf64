//! The third tier: each known bug under the generated properties, and nothing else.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use futures_util::{StreamExt, stream};

use super::carry::Carrier;
use super::case::{Bug, Case, Target};
use super::outcome::{Endless, Fate, Mutant, NotApplicable, Tier3, Unknown, Wrong};
use super::trial::{Deadlocks, Judged, Setting, Trial, Verdicts, first, undecided};
use crate::pipeline::Name;
use crate::tla::{Cfg, DEADLOCK, Module};
use crate::toolchain::{BoxFuture, Limits, ParseOutcome, ToolContext, ToolError, Toolchain, Translation};

/// Each run on a known bug gets this many times what the longest reference took,
const TIMES_REFERENCE: u32 = 10;
/// and at least this long: a bug may have more states than the reference, and Java takes seconds to start.
const LEAST_TIME: Duration = Duration::from_secs(10);

/// How many modules have been judged, for a display.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Judging {
    /// Known bugs.
    pub bugs: usize,
    /// References, which are judged before them.
    pub references: usize,
    /// How many of all these are judged.
    pub judged: usize,
    /// The limit of each run on a known bug, once the references are judged.
    pub limit: Option<Duration>,
}

/// What properties are taken from, and what decides.
pub(super) struct Court<'a> {
    pub(super) module: &'a Module,
    pub(super) cfg: &'a Cfg,
    pub(super) case: &'a Case,
    pub(super) tools: &'a dyn Toolchain,
    /// Limits of each run on a reference; each run on a known bug gets at most the same.
    pub(super) cx: &'a ToolContext<'a>,
    /// The time of a complete check of the specification itself.
    pub(super) own_time: Option<Duration>,
    /// Targets at a time.
    pub(super) jobs: usize,
    /// Called as modules are judged.
    pub(super) judging: &'a (dyn Fn(Judging) + Send + Sync),
}

impl Court<'_> {
    /// Judges every known bug of the case.
    pub(super) async fn judge(&self) -> Result<Tier3, ToolError> {
        let case = self.case;
        let listed: Vec<String> = self.cfg.invariants.iter().chain(&self.cfg.properties).cloned().collect();
        let asked =
            case.bugs.iter().any(|bug| bug.should_violate == DEADLOCK) && self.cfg.check_deadlock != Some(false);
        let counts = |asked: bool| if asked { Deadlocks::Count } else { Deadlocks::Pass };
        let all = Judging { bugs: case.bugs.len(), references: case.references.len(), judged: 0, limit: None };
        (self.judging)(all);
        let limits = self.cx.limits;
        let references: Vec<BoxFuture<'_, _>> = case
            .references
            .iter()
            .map(|target| {
                let silent = target.cfg.as_ref().is_some_and(|cfg| cfg.check_deadlock == Some(false));
                Box::pin(self.target(target, &listed, counts(asked && !silent), false, limits)) as _
            })
            .collect();
        let references = self.each(references, all).await?;
        let limits = Limits { check: self.limit_of_bugs(&references), ..limits.clone() };
        let all = Judging { judged: references.len(), limit: Some(limits.check), ..all };
        (self.judging)(all);
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
                Box::pin(self.target(&bug.target, &kept, deadlocks, bug.breaks_liveness, &limits)) as _
            })
            .collect();
        let bugs = self.each(bugs, all).await?;
        let mut mutants = Vec::new();
        for (bug, judged) in case.bugs.iter().zip(&bugs) {
            note_lacks(&mut lacks, &bug.target, judged);
            mutants.push(self.mutant(bug, judged, &listed, limits.check));
        }
        Ok(tier(mutants, wrong, untried(&listed, &references), lacks))
    }

    /// Judges several modules at a time, and tells the display after each.
    async fn each(
        &self,
        targets: Vec<BoxFuture<'_, Result<Judged, ToolError>>>,
        begun: Judging,
    ) -> Result<Vec<Judged>, ToolError> {
        let mut results = Vec::new();
        let mut targets = stream::iter(targets).buffered(self.jobs.max(1));
        while let Some(judged) = targets.next().await {
            results.push(judged?);
            (self.judging)(Judging { judged: begun.judged + results.len(), ..begun });
        }
        Ok(results)
    }

    /// The limit of each run on a known bug. A bug without end must not cost the whole limit of a check, which is made
    /// for specifications; a reference has about the states that the bug should have.
    fn limit_of_bugs(&self, references: &[Judged]) -> Duration {
        let most = self.cx.limits.check;
        let took = references.iter().map(|judged| judged.took).filter(|took| !took.is_zero());
        match took.chain(self.own_time).max() {
            Some(took) => (took * TIMES_REFERENCE).max(LEAST_TIME).min(most),
            None => most,
        }
    }

    fn mutant(&self, bug: &Bug, judged: &Judged, listed: &[String], limit: Duration) -> Mutant {
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
            endless: (!judged.endless.is_empty())
                .then(|| Endless { limit: limit.as_secs_f64(), properties: judged.endless.clone() }),
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
        limits: &Limits,
    ) -> Result<Judged, ToolError> {
        let all = |why: &str| {
            let unknown = |name: &String| (name.clone(), Verdicts::Unknown(why.to_owned()));
            let verdicts = properties.iter().map(unknown).collect();
            let remark = Some(why.to_owned());
            Ok(Judged { verdicts, checkers: BTreeSet::new(), remark, took: Duration::ZERO, endless: Vec::new() })
        };
        let mut spec = target.spec.clone();
        match self.tools.translate(&spec, self.cx).await {
            Ok(Translation::NoAlgorithm) => {}
            Ok(Translation::Translated(text)) => spec.text = text,
            Ok(Translation::Rejected(diagnostics)) => {
                return all(&format!("{}: {}", target.file, first(&diagnostics)));
            }
            Err(error) => {
                return all(&format!("{}: {}", target.file, undecided(error)?));
            }
        }
        // What does not parse by itself is told once, and not for each property.
        match self.tools.parse(&spec, self.cx).await {
            Ok(ParseOutcome::Rejected(diagnostics)) => {
                return all(&format!("{}: {}", target.file, first(&diagnostics)));
            }
            Ok(ParseOutcome::Accepted { .. }) => {}
            Err(error) => {
                return all(&format!("{}: {}", target.file, undecided(error)?));
            }
        }
        let Ok(module) = Module::parse(&spec.text) else { return all(&format!("{}: no module", target.file)) };
        let beside: Vec<Module> = spec.local_modules.iter().filter_map(|(_, text)| Module::parse(text).ok()).collect();
        let agreed: Vec<String> =
            self.case.checklist.interface.variables.iter().map(|name| Name::name(name).to_owned()).collect();
        let carrier = Carrier::new(self.module, &module, &beside, &agreed);
        let cfg = target.cfg.clone().unwrap_or_else(|| self.borrowed(&module));
        let states_fairness = states_fairness(&module, &cfg);
        let cx = ToolContext { limits, ..*self.cx };
        let set = Setting { generated: self.cfg, case: self.case, tools: self.tools, cx };
        let trial = Trial::new(set, carrier, spec, cfg, !fair && !states_fairness);
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

fn states_fairness(module: &Module, cfg: &Cfg) -> bool {
    let Some(specification) = &cfg.specification else { return false };
    let mut names = module.closure(specification);
    names.insert(specification.clone());
    names.iter().any(|name| module.definition(name).is_some_and(crate::tla::Definition::states_fairness))
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
        endless: None,
        remark: Some(why.to_owned()),
    };
    let tier = tier(case.bugs.iter().map(mutant).collect(), Vec::new(), Vec::new(), Vec::new());
    Tier3 { inapplicable: false, rate: rate(0, tier.total), ..tier }
}
