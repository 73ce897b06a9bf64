//! One check: which runs it makes, in order, and the outcome that they add up to. A verdict comes only from what a run
//! showed; a run that shows nothing gives an error or "inconclusive".

use std::borrow::Cow;

use tlaforge_tla::semantic::{find_symmetry_fault, find_view_fault};
use tlaforge_tla::{
    Bounds, Cfg, CheckOutcome, Checker, Diagnostic, FurtherVerdict, Module, TERMINATING, Trace, Verdict, Violation,
    ViolationKind, WitnessOutcome,
};

use super::bounds::{check_bounds, configured_bounds};
use super::branches::Branches;
use super::explorer::{Explorer, ParsedOutput, PastViolations, Run, SingleRunCheck};
use super::false_conjuncts::add_false_conjuncts;
use super::further_properties::BeforeFurtherRuns;
use super::lint::{lint_cfg, lint_spec};
use super::plan::{self, RunPlan, SearchOrder};
use super::restrictions::restrictions;
use super::session::Session;
use super::targets::Targets;
use super::temporal_limits::{keeps_symmetry, left_out_for_temporal, limit_liveness_to_constraint};
use super::tlc_output::readable_output;
use super::vacuity::{check_vacuity, find_contradictions};
use super::{CheckReport, CheckRequest, Detail, SeparateVerdicts, ToolContext, ToolError};

pub(crate) async fn check(
    explorer: &dyn Explorer,
    request: &CheckRequest,
    detail: Detail,
    cx: &ToolContext<'_>,
) -> Result<CheckReport, ToolError> {
    if let Some(rejected_report) = refuse_before_run(explorer, request, cx) {
        return Ok(rejected_report);
    }
    let mut warnings = Vec::new();
    let request = &*drop_unsound_reductions(request, &mut warnings);
    let cfg = &request.cfg;
    let mut session = Session { explorer, request, cx, output: String::new() };
    let branches = match detail {
        Detail::Explained => Branches::list(request),
        Detail::VerdictOnly => Ok(None),
    };
    let targets = Targets::new(request, &cfg.witnesses, branches.as_ref().ok().and_then(Option::as_ref));
    let in_one_run = explorer.check_in_one_run(request, &targets, detail, cx).await?;
    let (check_in_one_run, mut safety, decided_witnesses) = match in_one_run {
        Some(SingleRunCheck { safety, temporal, witnesses, output }) => {
            session.output.push_str(&output);
            (temporal, safety, witnesses)
        }
        None => (None, session.run(&plan::safety(cfg)).await?, Vec::new()),
    };
    let no_behaviour = cfg.gives_no_behaviour();
    // Only a finished search reports the number of initial states, and a constraint may cut all of them off.
    if !no_behaviour
        && cfg.constraints.is_empty()
        && safety.verdict == Verdict::Holds
        && safety.parsed.statistics.initial == Some(0)
    {
        warnings.push(
            "no state satisfies the initial predicate: there is no behaviour, so whatever holds, holds vacuously"
                .to_owned(),
        );
    }
    session.settle_violation(&mut safety, &mut warnings).await?;
    let bounds = check_bounds(request);
    if !bounds.assumptions.is_empty() && !no_behaviour && safety.verdict == Verdict::Holds {
        safety.verdict = session.check_behaviour_exists(&bounds.assumptions).await?;
    }
    // A violation or an error ends the check: the temporal properties then count as not checked.
    let ends_here = no_behaviour || matches!(safety.verdict, Verdict::Violated { .. } | Verdict::Invalid { .. });
    let temporal = if cfg.properties.is_empty() || ends_here {
        None
    } else {
        Some(session.check_temporal(check_in_one_run, &mut warnings).await?)
    };
    // A missing coverage means something only after a completed search.
    let complete = !no_behaviour && safety.verdict == Verdict::Holds;
    let witnesses = session.check_witnesses(&safety.verdict, &decided_witnesses).await?;
    let states = safety.parsed.statistics.distinct;
    let branch_coverage = match &branches {
        Ok(Some(branches)) if complete => session.check_branches(branches, states, &decided_witnesses).await?.map(Some),
        Err(why) if complete => Err(why.clone()),
        _ => Ok(None),
    };
    let branch_coverage = branch_coverage.unwrap_or_else(|why| {
        warnings.push(format!("which branches are never taken was not decided: {why}"));
        None
    });
    // Before `safety` is consumed.
    let why_safety_undecided = match &safety.verdict {
        Verdict::Invalid { reason, .. } | Verdict::Inconclusive { reason, .. } => Some(reason.clone()),
        Verdict::Holds | Verdict::Violated { .. } => None,
    };
    let mut outcome = build_outcome(explorer, request, bounds, safety, temporal, witnesses, warnings);
    outcome.branches = branch_coverage;
    if detail == Detail::VerdictOnly {
        return Ok(CheckReport { outcome, output: readable_output(&session.output), second_outcome: None });
    }
    if let Verdict::Violated { violated } = &outcome.verdict {
        let known = BeforeFurtherRuns {
            first: violated,
            why_safety_undecided,
            deadlock_can_occur: outcome.bounds.always_enabled.is_empty(),
        };
        outcome.further = session.check_further(known, &mut outcome.warnings).await?;
        let contradictions = find_contradictions(&mut session, &outcome).await?;
        outcome.warnings.extend(contradictions);
    }
    if let Some(trace) = outcome.trace.take() {
        let named = explorer.name_steps(request, trace, cx).await?;
        let mut trace = session.add_further_runs(named, &mut outcome.warnings);
        if let Verdict::Violated { violated } = &outcome.verdict
            && violated.kind == ViolationKind::Invariant
            && let Some(name) = &violated.name
        {
            let found = add_false_conjuncts(explorer, request, name, &mut trace, cx).await?;
            session.add_further_runs(found, &mut outcome.warnings);
        }
        outcome.trace = Some(trace);
    }
    if complete && outcome.coverage.is_none() {
        let covered = explorer.coverage(request, cx).await?;
        outcome.coverage = session.add_further_runs(covered, &mut outcome.warnings);
    }
    mark_own_terminating(&request.spec.text, &mut outcome);
    let any_property_holds = match &outcome.verdict {
        Verdict::Holds => outcome.is_complete(),
        _ => outcome.further.iter().any(|further| further.verdict == FurtherVerdict::Holds),
    };
    if any_property_holds {
        check_vacuity(&mut session, &mut outcome.bounds).await?;
    }
    Ok(CheckReport { outcome, output: readable_output(&session.output), second_outcome: None })
}

/// Marks an action that only has the name of the translator's step for the end of the algorithm: it has to be taken.
fn mark_own_terminating(text: &str, outcome: &mut CheckOutcome) {
    for action in outcome.coverage.iter_mut().flatten().filter(|action| action.action == TERMINATING) {
        action.is_own_terminating = !Module::parse(text).is_ok_and(|module| module.is_translators_end(TERMINATING));
    }
}

/// Decides only the verdict, in as few runs as possible, with one thread each.
pub(crate) async fn decide(
    explorer: &dyn Explorer,
    request: &CheckRequest,
    cx: &ToolContext<'_>,
) -> Result<CheckReport, ToolError> {
    Ok(decide_after(explorer, request, AfterViolation::Stop, cx).await?.rest)
}

/// Like [`decide`], but continues after a violation if the checker can: see [`Explorer::run_past_violations`].
pub(crate) async fn decide_each(
    explorer: &dyn Explorer,
    request: &CheckRequest,
    cx: &ToolContext<'_>,
) -> Result<SeparateVerdicts, ToolError> {
    decide_after(explorer, request, AfterViolation::Continue, cx).await
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AfterViolation {
    Stop,
    Continue,
}

async fn decide_after(
    explorer: &dyn Explorer,
    request: &CheckRequest,
    after_violation: AfterViolation,
    cx: &ToolContext<'_>,
) -> Result<SeparateVerdicts, ToolError> {
    if let Some(rest) = refuse_before_run(explorer, request, cx) {
        return Ok(SeparateVerdicts { violated: Vec::new(), rest });
    }
    let mut warnings = Vec::new();
    let request = &*drop_unsound_reductions(request, &mut warnings);
    let cfg = &request.cfg;
    let mut session = Session { explorer, request, cx, output: String::new() };
    // One run for everything, unless SYMMETRY or VIEW would give temporal properties false counterexamples.
    let one_run =
        cfg.properties.is_empty() || (cfg.symmetry.is_empty() && cfg.view.is_none()) || keeps_symmetry(request);
    let plan = if one_run { plan::single_run(cfg) } else { plan::safety(cfg) };
    let plan = RunPlan { coverage: false, order: SearchOrder::SingleThread, ..plan };
    let past_violations = match after_violation {
        AfterViolation::Continue if restrictions(request).is_empty() => {
            explorer.run_past_violations(&request.spec, &plan, cx).await?
        }
        AfterViolation::Stop | AfterViolation::Continue => None,
    };
    let (violated, mut safety) = match past_violations {
        Some(PastViolations { violated, run, output }) => {
            session.output.push_str(&output);
            (violated, run)
        }
        None => (Vec::new(), session.run(&plan).await?),
    };
    let found = safety.verdict.clone();
    session.confirm_violation(&mut safety).await?;
    let temporal = match violation_kind(&safety.verdict) {
        _ if cfg.properties.is_empty() => None,
        // The run ended at what was no violation, before it checked the properties.
        None if found != safety.verdict && safety.verdict == Verdict::Holds => {
            Some(session.check_temporal(None, &mut warnings).await?)
        }
        // A behaviour that violates an invariant was found.
        Some(_) if found != safety.verdict => None,
        None if safety.verdict != Verdict::Holds => None,
        None if one_run => {
            let parsed = ParsedOutput { liveness: safety.parsed.liveness, ..ParsedOutput::default() };
            let held = Run { verdict: Verdict::Holds, parsed, seconds: safety.seconds, workers: 1 };
            Some(session.check_temporal(Some(held), &mut warnings).await?)
        }
        None => Some(session.check_temporal(None, &mut warnings).await?),
        // The single run violated a temporal property. It becomes the temporal run, and everything before it held.
        Some(ViolationKind::Property | ViolationKind::ActionProperty) if is_violated(&safety.verdict) => {
            let parsed = ParsedOutput { statistics: safety.parsed.statistics.clone(), ..ParsedOutput::default() };
            let held = Run { verdict: Verdict::Holds, parsed, seconds: safety.seconds, workers: 1 };
            let mut run = std::mem::replace(&mut safety, held);
            session.limit_step_violation(&mut run);
            if names_property(&run.verdict, cfg) || !is_violated(&run.verdict) {
                Some(run)
            } else {
                Some(session.check_temporal(Some(run), &mut warnings).await?)
            }
        }
        Some(_) => None,
    };
    let outcome = build_outcome(explorer, request, check_bounds(request), safety, temporal, Vec::new(), warnings);
    Ok(SeparateVerdicts {
        violated,
        rest: CheckReport { outcome, output: readable_output(&session.output), second_outcome: None },
    })
}

/// Whether the run named the violated property, so that no property needs a run of its own. Such a run may not end, if the
/// states are infinitely many and the property holds.
fn names_property(verdict: &Verdict, cfg: &Cfg) -> bool {
    matches!(verdict, Verdict::Violated { violated: Violation { name: Some(name), .. } } if cfg.properties.contains(name))
}

/// The request without a SYMMETRY and a VIEW that are not shown to be sound: they may hide a violation.
pub(super) fn drop_unsound_reductions<'a>(
    request: &'a CheckRequest,
    warnings: &mut Vec<String>,
) -> Cow<'a, CheckRequest> {
    let CheckRequest { spec, cfg, .. } = request;
    let mut kept = cfg.clone();
    if let Some(why) = find_symmetry_fault(&spec.name, &spec.text, &spec.local_modules, cfg) {
        let names = cfg.symmetry.join(", ");
        warnings.push(format!("it was checked without SYMMETRY {names}, which is not shown to be sound: {why}"));
        kept.symmetry.clear();
    }
    let local_modules = spec.local_modules.iter().map(|(name, text)| (name.as_str(), text.as_str()));
    let modules: Vec<(&str, &str)> =
        std::iter::once((spec.name.as_str(), spec.text.as_str())).chain(local_modules).collect();
    if let Some(why) = find_view_fault(&modules, cfg) {
        let name = cfg.view.as_deref().unwrap_or_default();
        warnings.push(format!("it was checked without VIEW {name}, which is not shown to be sound: {why}"));
        kept.view = None;
    }
    if kept == *cfg {
        return Cow::Borrowed(request);
    }
    Cow::Owned(CheckRequest { cfg_text: kept.render(), cfg: kept, ..request.clone() })
}

/// The report on a request that no checker gets.
pub(super) fn refuse_before_run(
    explorer: &dyn Explorer,
    request: &CheckRequest,
    cx: &ToolContext<'_>,
) -> Option<CheckReport> {
    let mut refused = lint_spec(&request.spec, &cx.limits.allowed_modules);
    refused.extend(lint_cfg(&request.cfg, &request.spec));
    if !refused.is_empty() {
        return Some(rejected_report(explorer, request, "it was refused before any tool ran", refused));
    }
    let unknown = explorer.unknown_keywords(request);
    (!unknown.is_empty())
        .then(|| rejected_report(explorer, request, "this TLC does not know a keyword of the configuration", unknown))
}

fn rejected_report(
    explorer: &dyn Explorer,
    request: &CheckRequest,
    why: &str,
    diagnostics: Vec<Diagnostic>,
) -> CheckReport {
    let violated = Violation { kind: ViolationKind::Parse, name: None };
    let reason = diagnostics.first().map_or_else(|| why.to_owned(), |first| first.message.clone());
    let witnesses = request.cfg.witnesses.iter().map(|name| WitnessOutcome::undecided(name, why));
    CheckReport {
        outcome: CheckOutcome {
            verdict: Verdict::Invalid { violated, reason, diagnostics },
            statistics: tlaforge_tla::Statistics::default(),
            bounds: configured_bounds(&request.cfg),
            coverage: None,
            branches: None,
            trace: None,
            invariants: Vec::new(),
            properties: Vec::new(),
            further: Vec::new(),
            probes: None,
            larger_bounds: Vec::new(),
            witnesses: witnesses.collect(),
            warnings: Vec::new(),
            checker: explorer.checker(),
            version: explorer.version(),
            confirmation: None,
        },
        output: String::new(),
        second_outcome: None,
    }
}

impl Session<'_> {
    /// Derives the trace of what the main run found, and keeps only a violation by a behaviour of the specification.
    async fn settle_violation(&mut self, safety: &mut Run, warnings: &mut Vec<String>) -> Result<(), ToolError> {
        if is_violated(&safety.verdict) || violation_kind(&safety.verdict) == Some(ViolationKind::Evaluation) {
            self.derive_trace(&plan::safety(&self.request.cfg), safety, warnings).await?;
        }
        self.confirm_violation(safety).await
    }

    /// Derives the trace again with one worker: with several workers, which error is found first and by which trace
    /// varies from run to run.
    async fn derive_trace(
        &mut self,
        plan: &RunPlan,
        run: &mut Run,
        warnings: &mut Vec<String>,
    ) -> Result<(), ToolError> {
        let kind = violation_kind(&run.verdict);
        let shows_trace = run.parsed.trace.is_some() || kind == Some(ViolationKind::Evaluation);
        // The verdict of the second run replaces the first, so that verdict and trace belong together.
        if run.workers > 1 && shows_trace {
            let rerun = self.run(&plan::for_trace(plan)).await?;
            if is_violated(&rerun.verdict) || violation_kind(&rerun.verdict) == Some(ViolationKind::Evaluation) {
                run.verdict = rerun.verdict;
                run.parsed.trace = rerun.parsed.trace;
            } else {
                warnings.push("the run that derives the trace did not find the error again: the next check may show another trace".to_owned());
            }
        }
        if run.parsed.trace.is_none() && violation_kind(&run.verdict) == Some(ViolationKind::Assertion) {
            // The failing step starts in the deepest level reached, or in the one before it.
            let depth = run.parsed.statistics.depth.unwrap_or(1) + 2;
            let rerun = self.run(&plan::for_assertion(plan, depth)).await?;
            match rerun.parsed.trace.filter(|_| rerun.verdict == run.verdict) {
                Some(trace) => run.parsed.trace = Some(trace),
                None => warnings.push("the states that lead to the failed assertion could not be derived".to_owned()),
            }
        }
        Ok(())
    }

    /// `known` is the run if it was made already.
    async fn check_temporal(&mut self, known: Option<Run>, warnings: &mut Vec<String>) -> Result<Run, ToolError> {
        let cfg = &self.request.cfg;
        let plan = if keeps_symmetry(self.request) {
            plan::steps(cfg)
        } else {
            warnings.extend(left_out_for_temporal(cfg));
            plan::temporal(cfg, &cfg.properties)
        };
        let mut run = match known {
            Some(run) => run,
            None => self.run(&plan).await?,
        };
        if is_violated(&run.verdict) {
            match cfg.properties.as_slice() {
                [only] => {
                    self.derive_trace(&plan, &mut run, warnings).await?;
                    set_property_name(&mut run.verdict, only);
                }
                _ => self.find_violated_property(&mut run, warnings).await?,
            }
        } else {
            limit_liveness_to_constraint(cfg, &mut run);
        }
        self.limit_step_violation(&mut run);
        Ok(run)
    }

    /// TLC does not name the violated property, so each property is checked alone until one is violated.
    async fn find_violated_property(&mut self, run: &mut Run, warnings: &mut Vec<String>) -> Result<(), ToolError> {
        let cfg = &self.request.cfg;
        for property in &cfg.properties {
            let alone = plan::for_trace(&plan::temporal(cfg, std::slice::from_ref(property)));
            let alone = self.run(&alone).await?;
            if is_violated(&alone.verdict) {
                run.verdict = alone.verdict;
                run.parsed.trace = alone.parsed.trace;
                set_property_name(&mut run.verdict, property);
                return Ok(());
            }
        }
        warnings.push("it is unknown which property is violated: none of them was when checked alone".to_owned());
        Ok(())
    }
}

pub(super) fn build_outcome(
    explorer: &dyn Explorer,
    request: &CheckRequest,
    mut bounds: Bounds,
    safety: Run,
    temporal: Option<Run>,
    witnesses: Vec<WitnessOutcome>,
    warnings: Vec<String>,
) -> CheckOutcome {
    let cfg = &request.cfg;
    let checked =
        |run: &Run| !cfg.gives_no_behaviour() && matches!(run.verdict, Verdict::Holds | Verdict::Violated { .. });
    let invariants = if checked(&safety) { cfg.invariants.clone() } else { Vec::new() };
    let properties = if temporal.as_ref().is_some_and(checked) { cfg.properties.clone() } else { Vec::new() };
    let mut statistics = safety.parsed.statistics;
    statistics.seconds = safety.seconds;
    // Either run can have missed a state; the larger probability bounds both.
    let collisions = [safety.parsed.collision, temporal.as_ref().and_then(|t| t.parsed.collision)];
    bounds.collision_probability = collisions.into_iter().flatten().reduce(f64::max);
    let mut all_warnings = safety.parsed.warnings;
    if let Some(temporal) = &temporal {
        all_warnings.extend(temporal.parsed.warnings.iter().cloned());
    }
    all_warnings.extend(warnings);
    let mut seen = std::collections::BTreeSet::new();
    all_warnings.retain(|w| seen.insert(w.clone()));
    let (verdict, trace) =
        more_severe((safety.verdict, safety.parsed.trace), temporal.map(|t| (t.verdict, t.parsed.trace)));
    let trace = if matches!(verdict, Verdict::Violated { .. } | Verdict::Invalid { .. }) { trace } else { None };
    let mut verdict = limit_to_conditions(verdict, cfg, explorer.checker());
    take_place(&mut verdict, &request.spec.name);
    CheckOutcome {
        verdict,
        statistics,
        bounds,
        coverage: safety.parsed.coverage,
        branches: None,
        trace,
        invariants,
        properties,
        further: Vec::new(),
        probes: None,
        larger_bounds: Vec::new(),
        witnesses,
        warnings: all_warnings,
        checker: explorer.checker(),
        version: safety.parsed.version.unwrap_or_else(|| explorer.version()),
        confirmation: None,
    }
}

/// A message of the embedded checker has the place of a failed evaluation in words: it becomes the place of the diagnostic. If
/// it is in another module, the message keeps it.
fn take_place(verdict: &mut Verdict, module: &str) {
    let Verdict::Invalid { reason, diagnostics, .. } = verdict else { return };
    let [diagnostic] = &mut diagnostics[..] else { return };
    let parse = |text: &str| {
        let start = text.rfind(" (line ")?;
        let (line, rest) = text[start + " (line ".len()..].split_once(", column ")?;
        let (column, rest) = rest.split_once(" of module ")?;
        let (named, rest) = rest.split_once(')')?;
        let message = if named == module { format!("{}{rest}", &text[..start]) } else { text.to_owned() };
        Some((line.parse().ok()?, column.parse().ok()?, message))
    };
    if diagnostic.line == 0
        && diagnostic.message == *reason
        && let Some((line, column, message)) = parse(reason)
    {
        *diagnostic = Diagnostic { line, column, message: message.clone(), ..diagnostic.clone() };
        *reason = message;
    }
}

/// The verdict of a configuration with conditions that were not checked: a violation remains one, and "holds" becomes
/// "inconclusive".
fn limit_to_conditions(verdict: Verdict, cfg: &Cfg, checker: Checker) -> Verdict {
    let mut open = cfg.not_checked.clone();
    if checker == Checker::Embedded {
        open.extend(cfg.postcondition.iter().map(|name| format!("POSTCONDITION {name}")));
    }
    match verdict {
        Verdict::Holds if !open.is_empty() => Verdict::inconclusive(format!(
            "no violation was found, but these conditions of the configuration were not checked: {}",
            open.join(", ")
        )),
        verdict => verdict,
    }
}

type VerdictAndTrace = (Verdict, Option<Trace>);

fn more_severe(first: VerdictAndTrace, second: Option<VerdictAndTrace>) -> VerdictAndTrace {
    // Invalid before violated: a specification that cannot be evaluated has no reliable counterexample.
    let rank = |verdict: &Verdict| match verdict {
        Verdict::Invalid { .. } => 3,
        Verdict::Violated { .. } => 2,
        Verdict::Inconclusive { .. } => 1,
        Verdict::Holds => 0,
    };
    match second {
        Some(second) if rank(&second.0) > rank(&first.0) => second,
        _ => first,
    }
}

fn is_violated(verdict: &Verdict) -> bool {
    matches!(verdict, Verdict::Violated { .. })
}

fn violation_kind(verdict: &Verdict) -> Option<ViolationKind> {
    match verdict {
        Verdict::Violated { violated } | Verdict::Invalid { violated, .. } => Some(violated.kind),
        Verdict::Holds | Verdict::Inconclusive { .. } => None,
    }
}

fn set_property_name(verdict: &mut Verdict, property: &str) {
    if let Verdict::Violated { violated } = verdict
        && matches!(violated.kind, ViolationKind::Property | ViolationKind::ActionProperty)
    {
        violated.name = Some(property.to_owned());
    }
}
