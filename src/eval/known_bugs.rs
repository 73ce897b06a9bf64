//! The third tier: checks each known bug with the generated properties. References come first, because they limit the
//! time of the bugs; the specification itself is not checked here.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::try_join_all;

use super::carry::Carrier;
use super::case::{Bug, Case, Target};
use super::outcome::{BugOutcome, KnownBugResult, NotApplicable, Tier3, TimedOut, Undecided, WrongProperty};
use super::slots::CheckerSlots;
use super::target::{
    DeadlockProperty, PropertyVerdict, TargetContext, TargetJudge, TargetResult, first_diagnostic, reason_or_fatal,
};
use crate::pipeline::Name;
use crate::tla::{Cfg, DEADLOCK, Module};
use crate::toolchain::{BoxFuture, Limits, ParseOutcome, ToolContext, ToolError, Toolchain, Translation};

/// The time limit of a run on a known bug is this multiple of the time of the slowest reference,
const REFERENCE_TIME_FACTOR: u32 = 10;
/// but at least this: a bug can have more states than the reference, and Java takes seconds to start.
const MIN_TIME: Duration = Duration::from_secs(10);

/// How many modules have been judged so far, and in how many checks, for a display.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JudgingProgress {
    pub bugs: usize,
    /// References are judged before the known bugs.
    pub references: usize,
    /// Number of judged references and bugs.
    pub judged: usize,
    /// Number of checks so far. Most modules need one.
    pub checks: usize,
    /// The limit of each run on a known bug, once the references are judged.
    pub limit: Option<Duration>,
}

/// Judges the known bugs of a case with the properties of a generated module.
pub(super) struct KnownBugJudge<'a> {
    pub(super) module: &'a Module,
    pub(super) cfg: &'a Cfg,
    pub(super) case: &'a Case,
    pub(super) tools: &'a dyn Toolchain,
    /// Limits of each run on a reference; each run on a known bug gets at most the same.
    pub(super) cx: &'a ToolContext<'a>,
    /// The time of a complete check of the specification itself.
    pub(super) own_time: Option<Duration>,
    pub(super) slots: &'a CheckerSlots,
    pub(super) progress: ProgressReport<'a>,
}

/// The progress so far, and its reader.
pub(super) struct ProgressReport<'a> {
    latest: Mutex<JudgingProgress>,
    /// Called after each change.
    on_progress: &'a (dyn Fn(JudgingProgress) + Send + Sync),
}

impl<'a> ProgressReport<'a> {
    pub(super) fn new(case: &Case, on_progress: &'a (dyn Fn(JudgingProgress) + Send + Sync)) -> Self {
        let (bugs, references) = (case.bugs.len(), case.references.len());
        let latest = Mutex::new(JudgingProgress { bugs, references, judged: 0, checks: 0, limit: None });
        Self { latest, on_progress }
    }

    fn update(&self, change: impl FnOnce(&mut JudgingProgress)) {
        if let Ok(mut latest) = self.latest.lock() {
            change(&mut latest);
            (self.on_progress)(*latest);
        }
    }
}

impl KnownBugJudge<'_> {
    /// Judges every known bug of the case.
    pub(super) async fn judge(&self) -> Result<Tier3, ToolError> {
        let case = self.case;
        let listed: Vec<String> = self.cfg.invariants.iter().chain(&self.cfg.properties).cloned().collect();
        let checks_deadlock =
            case.bugs.iter().any(|bug| bug.should_violate == DEADLOCK) && self.cfg.check_deadlock != Some(false);
        let deadlock_property =
            |is_included: bool| if is_included { DeadlockProperty::Included } else { DeadlockProperty::Excluded };
        self.progress.update(|_| {});
        let limits = self.cx.limits;
        let references: Vec<BoxFuture<'_, _>> = case
            .references
            .iter()
            .map(|target| {
                // A reference with `CHECK_DEADLOCK FALSE` may end by design.
                let silent = target.cfg.as_ref().is_some_and(|cfg| cfg.check_deadlock == Some(false));
                Box::pin(self.judge_target(
                    target,
                    &listed,
                    deadlock_property(checks_deadlock && !silent),
                    false,
                    limits,
                )) as _
            })
            .collect();
        // References first: their times limit the runs on bugs, and a property that a reference violates is wrong, so
        // it must not kill a bug.
        let references = self.judge_targets(references).await?;
        let limits = Limits { check: self.bug_time_limit(&references), ..limits.clone() };
        self.progress.update(|progress| progress.limit = Some(limits.check));
        let mut wrong = Vec::new();
        let mut lacks: Vec<NotApplicable> = Vec::new();
        for (target, judged) in case.references.iter().zip(&references) {
            let violated = judged.properties_with(&PropertyVerdict::Violated).into_iter();
            wrong.extend(violated.map(|property| WrongProperty { property, reference: target.file.clone() }));
            add_not_applicable(&mut lacks, target, judged);
        }
        let kept: Vec<String> =
            listed.iter().filter(|name| !wrong.iter().any(|wrong| wrong.property == **name)).cloned().collect();
        let right_deadlock = !wrong.iter().any(|wrong| wrong.property == DEADLOCK);
        let bugs: Vec<BoxFuture<'_, _>> = case
            .bugs
            .iter()
            .map(|bug| {
                let deadlocks = deadlock_property(checks_deadlock && right_deadlock && bug.should_violate == DEADLOCK);
                Box::pin(self.judge_target(&bug.target, &kept, deadlocks, bug.breaks_liveness, &limits)) as _
            })
            .collect();
        let bugs = self.judge_targets(bugs).await?;
        let mut known_bugs = Vec::new();
        for (bug, judged) in case.bugs.iter().zip(&bugs) {
            add_not_applicable(&mut lacks, &bug.target, judged);
            known_bugs.push(self.bug_result(bug, judged, &listed, limits.check));
        }
        Ok(tier(known_bugs, wrong, untested_properties(&listed, &references), lacks))
    }

    async fn judge_targets(
        &self,
        targets: Vec<BoxFuture<'_, Result<TargetResult, ToolError>>>,
    ) -> Result<Vec<TargetResult>, ToolError> {
        let count = |judged| {
            self.progress.update(|progress| progress.judged += 1);
            judged
        };
        // All targets wait for a slot from the beginning, so that a slow one leaves no slot empty.
        try_join_all(targets.into_iter().map(|target| self.slots.occupy(target).map(count))).await
    }

    /// The time limit of each run on a known bug. A bug with an infinite state space must not use up the limit of a whole
    /// check; a reference has about as many states as a bug should have.
    fn bug_time_limit(&self, references: &[TargetResult]) -> Duration {
        let most = self.cx.limits.check;
        let took = references.iter().map(|judged| judged.took).filter(|took| !took.is_zero());
        match took.chain(self.own_time).max() {
            Some(took) => (took * REFERENCE_TIME_FACTOR).max(MIN_TIME).min(most),
            None => most,
        }
    }

    fn bug_result(&self, bug: &Bug, judged: &TargetResult, listed: &[String], limit: Duration) -> KnownBugResult {
        let killed_by = judged.properties_with(&PropertyVerdict::Violated);
        let inconclusive = judged.undecided();
        let was_tested =
            judged.verdicts.iter().any(|(_, verdict)| !matches!(verdict, PropertyVerdict::NotApplicable(_)));
        let outcome = match () {
            () if !killed_by.is_empty() => BugOutcome::Killed,
            () if !inconclusive.is_empty() => BugOutcome::Inconclusive,
            () if was_tested => BugOutcome::Survived,
            () => BugOutcome::NotApplicable,
        };
        let types = |name: &String| self.case.checklist.is_type_invariant(name);
        let is_named = listed.contains(&bug.should_violate) || bug.should_violate == DEADLOCK;
        KnownBugResult {
            file: bug.target.file.clone(),
            description: bug.description.clone(),
            should_violate: bug.should_violate.clone(),
            outcome,
            killed_by_types_only: !killed_by.is_empty() && killed_by.iter().all(types),
            killed_by_expected: is_named.then(|| killed_by.contains(&bug.should_violate)),
            killed_by,
            inconclusive,
            checkers: judged.checkers.clone(),
            timed_out: (!judged.timed_out.is_empty())
                .then(|| TimedOut { limit_seconds: limit.as_secs_f64(), properties: judged.timed_out.clone() }),
            remark: judged.remark.clone(),
        }
    }

    /// Judges one target. With `fair`, a behaviour that only a lack of fairness allows counts as a violation.
    async fn judge_target(
        &self,
        target: &Target,
        properties: &[String],
        deadlocks: DeadlockProperty,
        fair: bool,
        limits: &Limits,
    ) -> Result<TargetResult, ToolError> {
        let all = |why: &str| {
            let unknown = |name: &String| (name.clone(), PropertyVerdict::Unknown(why.to_owned()));
            let verdicts = properties.iter().map(unknown).collect();
            let remark = Some(why.to_owned());
            Ok(TargetResult {
                verdicts,
                checkers: BTreeSet::new(),
                remark,
                took: Duration::ZERO,
                timed_out: Vec::new(),
            })
        };
        let mut spec = target.spec.clone();
        match self.tools.translate(&spec, self.cx).await {
            Ok(Translation::NoAlgorithm) => {}
            Ok(Translation::Translated(text)) => spec.text = text,
            Ok(Translation::Rejected(diagnostics)) => {
                return all(&format!("{}: {}", target.file, first_diagnostic(&diagnostics)));
            }
            Err(error) => {
                return all(&format!("{}: {}", target.file, reason_or_fatal(error)?));
            }
        }
        // Parse the target alone first, so that a syntax error is reported once and not for each property.
        match self.tools.parse(&spec, self.cx).await {
            Ok(ParseOutcome::Rejected(diagnostics)) => {
                return all(&format!("{}: {}", target.file, first_diagnostic(&diagnostics)));
            }
            Ok(ParseOutcome::Accepted { .. }) => {}
            Err(error) => {
                return all(&format!("{}: {}", target.file, reason_or_fatal(error)?));
            }
        }
        let Ok(module) = Module::parse(&spec.text) else { return all(&format!("{}: no module", target.file)) };
        let local_modules: Vec<Module> =
            spec.local_modules.iter().filter_map(|(_, text)| Module::parse(text).ok()).collect();
        let interface: Vec<String> =
            self.case.checklist.interface.variables.iter().map(|name| Name::name(name).to_owned()).collect();
        let carrier = Carrier::new(self.module, &module, &local_modules, &interface);
        let cfg = target.cfg.clone().unwrap_or_else(|| self.default_cfg(&module));
        let states_fairness = states_fairness(&module, &cfg);
        let cx = ToolContext { limits, ..*self.cx };
        let on_check = || self.progress.update(|progress| progress.checks += 1);
        let context =
            TargetContext { generated: self.cfg, case: self.case, tools: self.tools, cx, on_check: &on_check };
        let target_judge = TargetJudge::new(context, carrier, spec, cfg, !fair && !states_fairness);
        target_judge.judge(properties, deadlocks).await
    }

    /// The configuration of a target that has none: behaviour and constants of the generated configuration.
    fn default_cfg(&self, module: &Module) -> Cfg {
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
    // Fairness is often behind a name.
    let mut names = module.closure(specification);
    names.insert(specification.clone());
    names.iter().any(|name| module.definition(name).is_some_and(crate::tla::Definition::states_fairness))
}

fn add_not_applicable(lacks: &mut Vec<NotApplicable>, target: &Target, judged: &TargetResult) {
    for (property, verdict) in &judged.verdicts {
        let PropertyVerdict::NotApplicable(missing) = verdict else { continue };
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

/// Properties that no reference decided, if there are references.
fn untested_properties(listed: &[String], references: &[TargetResult]) -> Vec<Undecided> {
    let decided = |name: &str| {
        let all = references.iter().flat_map(|judged| &judged.verdicts);
        all.filter(|(property, _)| property == name)
            .any(|(_, verdict)| matches!(verdict, PropertyVerdict::Holds | PropertyVerdict::Violated))
    };
    let why = |name: &str| {
        let all = references.iter().flat_map(|judged| &judged.verdicts).filter(|(property, _)| property == name);
        let words = all.map(|(_, verdict)| match verdict {
            PropertyVerdict::NotApplicable(missing) => format!("the reference lacks {}", missing.join(", ")),
            PropertyVerdict::Unknown(why) => why.clone(),
            PropertyVerdict::Holds | PropertyVerdict::Violated => String::new(),
        });
        words.collect::<Vec<_>>().join("; ")
    };
    let open = listed.iter().filter(|name| !references.is_empty() && !decided(name));
    open.map(|name| Undecided { property: name.clone(), reason: why(name) }).collect()
}

fn tier(
    known_bugs: Vec<KnownBugResult>,
    wrong_properties: Vec<WrongProperty>,
    untested: Vec<Undecided>,
    not_applicable: Vec<NotApplicable>,
) -> Tier3 {
    let detected = known_bugs.iter().filter(|bug| bug.outcome == BugOutcome::Killed).count();
    let detected_by_types_only = known_bugs.iter().filter(|bug| bug.killed_by_types_only).count();
    let total = known_bugs.len();
    let mut judged_by = BTreeMap::new();
    for checker in known_bugs.iter().flat_map(|bug| &bug.checkers) {
        *judged_by.entry(*checker).or_default() += 1;
    }
    // Then the specification is probably about something else, and a rate of 0 would say that its properties are bad.
    let inapplicable = total > 0 && known_bugs.iter().all(|bug| bug.outcome == BugOutcome::NotApplicable);
    let undecided = known_bugs.iter().filter(|bug| bug.outcome == BugOutcome::Inconclusive).count();
    let rate_at_most = rate(detected + undecided, total).filter(|_| !inapplicable);
    let rate = rate(detected, total).filter(|_| !inapplicable);
    Tier3 {
        detected,
        detected_by_types_only,
        total,
        inapplicable,
        undecided,
        rate,
        rate_at_most,
        judged_by,
        known_bugs,
        wrong_properties,
        untested,
        not_applicable,
    }
}

#[expect(clippy::cast_precision_loss, reason = "a handful of bugs")]
fn rate(detected: usize, total: usize) -> Option<f64> {
    (total > 0).then(|| detected as f64 / total as f64)
}

/// The third tier of an unreadable specification: every known bug is missed.
pub(super) fn all_missed(case: &Case, why: &str) -> Tier3 {
    let missed = |bug: &Bug| KnownBugResult {
        file: bug.target.file.clone(),
        description: bug.description.clone(),
        should_violate: bug.should_violate.clone(),
        outcome: BugOutcome::NotApplicable,
        killed_by: Vec::new(),
        killed_by_types_only: false,
        killed_by_expected: None,
        inconclusive: Vec::new(),
        checkers: BTreeSet::new(),
        timed_out: None,
        remark: Some(why.to_owned()),
    };
    let tier = tier(case.bugs.iter().map(missed).collect(), Vec::new(), Vec::new(), Vec::new());
    let rate = rate(0, tier.total);
    Tier3 { inapplicable: false, rate, rate_at_most: rate, ..tier }
}
