//! One check: the runs of its plan, in order, and the outcome that they add up to. A verdict comes only from what a run
//! showed; an end that shows nothing is an error or inconclusive, never a verdict.

use std::borrow::Cow;

use futures_util::{StreamExt, TryStreamExt, stream};

use crate::tla::semantic::{claims, symmetry_fault};
use crate::tla::{
    Bounds, Cfg, CheckOutcome, Diagnostic, Reached, Trace, Verdict, Violation, ViolationKind, WitnessOutcome,
};

use super::explorer::{AtOnce, Explorer, Learned, Reading, Run};
use super::lint::{lint_cfg, lint_spec};
use super::plan::{self, Order, RunPlan, Symmetry, processors};
use super::{BoxFuture, CheckRequest, Checked, ToolContext, ToolError};

/// Checks a module against its configuration.
pub(crate) async fn check(
    explorer: &dyn Explorer,
    request: &CheckRequest,
    cx: &ToolContext<'_>,
) -> Result<Checked, ToolError> {
    if let Some(rejected) = refused(explorer, request, cx) {
        return Ok(rejected);
    }
    let mut warnings = Vec::new();
    let request = &*with_sound_symmetry(request, &mut warnings);
    let cfg = &request.cfg;
    let mut session = Session { explorer, request, cx, output: String::new() };
    let (at_once, mut safety) = match explorer.at_once(request, cx).await? {
        Some(AtOnce { safety, temporal, output }) => {
            session.output.push_str(&output);
            (temporal, safety)
        }
        None => (None, session.run(&plan::safety(cfg)).await?),
    };
    let no_behaviour = cfg.gives_no_behaviour();
    // Only a search that came to its end says how many initial states there are, and a constraint may cut all of them off.
    if !no_behaviour
        && cfg.constraints.is_empty()
        && safety.verdict == Verdict::Holds
        && safety.read.statistics.initial == Some(0)
    {
        warnings
            .push("no state satisfies the initial predicate: whatever holds, holds for want of behaviours".to_owned());
    }
    if is_violated(&safety.verdict) || kind_of(&safety.verdict) == Some(ViolationKind::Evaluation) {
        session.settle_trace(&plan::safety(cfg), &mut safety, &mut warnings).await?;
    }
    let bounds = bounds_of(request);
    if !bounds.assumptions.is_empty() && !no_behaviour && safety.verdict == Verdict::Holds {
        safety.verdict = session.behaviour(&bounds.assumptions).await?;
    }
    let ends_here = no_behaviour || matches!(safety.verdict, Verdict::Violated { .. } | Verdict::Invalid { .. });
    let temporal = if cfg.properties.is_empty() || ends_here {
        None
    } else {
        Some(session.temporal(at_once, &mut warnings).await?)
    };
    let witnesses = session.witnesses(&safety.verdict).await?;
    let complete = !no_behaviour && safety.verdict == Verdict::Holds;
    let mut outcome = finish(explorer, request, bounds, safety, temporal, witnesses, warnings);
    if let Some(trace) = outcome.trace.take() {
        let named = explorer.name_steps(request, trace, cx).await?;
        outcome.trace = Some(session.learn(named, &mut outcome.warnings));
    }
    if complete && outcome.coverage.is_none() {
        let covered = explorer.coverage(request, cx).await?;
        outcome.coverage = session.learn(covered, &mut outcome.warnings);
    }
    if outcome.is_complete() && outcome.verdict == Verdict::Holds {
        session.check_vacuity(&mut outcome.bounds).await?;
    }
    Ok(Checked { outcome, output: session.output, second: None })
}

/// The verdict alone, in as few runs of one thread as it takes.
pub(crate) async fn decide(
    explorer: &dyn Explorer,
    request: &CheckRequest,
    cx: &ToolContext<'_>,
) -> Result<Checked, ToolError> {
    if let Some(rejected) = refused(explorer, request, cx) {
        return Ok(rejected);
    }
    let mut warnings = Vec::new();
    let request = &*with_sound_symmetry(request, &mut warnings);
    let cfg = &request.cfg;
    let mut session = Session { explorer, request, cx, output: String::new() };
    let one_run = cfg.properties.is_empty() || (cfg.symmetry.is_empty() && cfg.view.is_none());
    let plan = if one_run { plan::whole(cfg) } else { plan::safety(cfg) };
    let mut safety = session.run(&RunPlan { coverage: false, order: Order::Fixed, ..plan }).await?;
    let temporal = match kind_of(&safety.verdict) {
        _ if cfg.properties.is_empty() => None,
        None if safety.verdict != Verdict::Holds => None,
        None if one_run => {
            let read = Reading { liveness: safety.read.liveness, ..Reading::default() };
            let held = Run { verdict: Verdict::Holds, read, seconds: safety.seconds, workers: 1 };
            Some(session.temporal(Some(held), &mut warnings).await?)
        }
        None => Some(session.temporal(None, &mut warnings).await?),
        Some(ViolationKind::Property | ViolationKind::ActionProperty) if is_violated(&safety.verdict) => {
            let read = Reading { statistics: safety.read.statistics.clone(), ..Reading::default() };
            let held = Run { verdict: Verdict::Holds, read, seconds: safety.seconds, workers: 1 };
            Some(session.temporal(Some(std::mem::replace(&mut safety, held)), &mut warnings).await?)
        }
        Some(_) => None,
    };
    let outcome = finish(explorer, request, bounds_of(request), safety, temporal, Vec::new(), warnings);
    Ok(Checked { outcome, output: session.output, second: None })
}

/// The request without its SYMMETRY, unless the text shows that it is sound: a check with an unsound one misses states.
pub(super) fn with_sound_symmetry<'a>(request: &'a CheckRequest, warnings: &mut Vec<String>) -> Cow<'a, CheckRequest> {
    let CheckRequest { spec, cfg, .. } = request;
    let Some(why) = symmetry_fault(&spec.name, &spec.text, &spec.beside, cfg) else { return Cow::Borrowed(request) };
    warnings.push(format!(
        "it was checked without SYMMETRY {}, which is not shown to be sound: {why}",
        cfg.symmetry.join(", ")
    ));
    let mut request = request.clone();
    request.cfg.symmetry.clear();
    request.cfg_text = request.cfg.render();
    Cow::Owned(request)
}

/// What is not handed to any checker.
fn refused(explorer: &dyn Explorer, request: &CheckRequest, cx: &ToolContext<'_>) -> Option<Checked> {
    let mut refused = lint_spec(&request.spec, &cx.limits.allowed_modules);
    refused.extend(lint_cfg(&request.cfg, &request.spec));
    if !refused.is_empty() {
        return Some(rejected(explorer, request, "it was refused before any tool ran", refused));
    }
    let unknown = explorer.unknown_keywords(request);
    (!unknown.is_empty())
        .then(|| rejected(explorer, request, "this TLC does not know a keyword of the configuration", unknown))
}

fn rejected(explorer: &dyn Explorer, request: &CheckRequest, why: &str, diagnostics: Vec<Diagnostic>) -> Checked {
    let violated = Violation { kind: ViolationKind::Parse, name: None };
    let reason = diagnostics.first().map_or_else(|| why.to_owned(), |first| first.message.clone());
    let witnesses = request.cfg.witnesses.iter().map(|name| WitnessOutcome::undecided(name, why));
    Checked {
        outcome: CheckOutcome {
            verdict: Verdict::Invalid { violated, reason, diagnostics },
            statistics: crate::tla::Statistics::default(),
            bounds: bounds(&request.cfg),
            coverage: None,
            trace: None,
            invariants: Vec::new(),
            properties: Vec::new(),
            probes: None,
            witnesses: witnesses.collect(),
            warnings: Vec::new(),
            checker: explorer.checker(),
            version: explorer.version(),
        },
        output: String::new(),
        second: None,
    }
}

/// The runs of one check, and what they printed so far.
pub(super) struct Session<'a> {
    pub(super) explorer: &'a dyn Explorer,
    pub(super) request: &'a CheckRequest,
    pub(super) cx: &'a ToolContext<'a>,
    pub(super) output: String,
}

impl Session<'_> {
    fn learn<T>(&mut self, learned: Learned<T>, warnings: &mut Vec<String>) -> T {
        self.output.push_str(&learned.output);
        warnings.extend(learned.warnings);
        learned.what
    }

    async fn run(&mut self, plan: &RunPlan) -> Result<Run, ToolError> {
        let (run, output) = self.execute(plan).await?;
        self.output.push_str(&output);
        Ok(run)
    }

    /// One run, and what it printed under a heading.
    pub(super) async fn execute(&self, plan: &RunPlan) -> Result<(Run, String), ToolError> {
        self.explorer.run(&self.request.spec, plan, self.cx).await
    }

    /// With several workers it varies from run to run what is found first, and by which trace: both are derived again with
    /// one.
    async fn settle_trace(
        &mut self,
        plan: &RunPlan,
        run: &mut Run,
        warnings: &mut Vec<String>,
    ) -> Result<(), ToolError> {
        let kind = kind_of(&run.verdict);
        let shows_trace = run.read.trace.is_some() || kind == Some(ViolationKind::Evaluation);
        if run.workers > 1 && shows_trace {
            let again = self.run(&plan::for_trace(plan)).await?;
            if is_violated(&again.verdict) || kind_of(&again.verdict) == Some(ViolationKind::Evaluation) {
                run.verdict = again.verdict;
                run.read.trace = again.read.trace;
            } else {
                warnings.push("the error was not found again in the run that derives the trace: another trace may be shown next time".to_owned());
            }
        }
        if run.read.trace.is_none() && kind_of(&run.verdict) == Some(ViolationKind::Assertion) {
            // The failing step starts in the deepest level that was reached, or the one before.
            let depth = run.read.statistics.depth.unwrap_or(1) + 2;
            let again = self.run(&plan::for_assertion(plan, depth)).await?;
            match again.read.trace.filter(|_| again.verdict == run.verdict) {
                Some(trace) => run.read.trace = Some(trace),
                None => warnings.push("the states that lead to the failed assertion could not be derived".to_owned()),
            }
        }
        Ok(())
    }

    /// `known`: the run, where it was made already.
    async fn temporal(&mut self, known: Option<Run>, warnings: &mut Vec<String>) -> Result<Run, ToolError> {
        let cfg = &self.request.cfg;
        for (what, given) in [("SYMMETRY", !cfg.symmetry.is_empty()), ("VIEW", cfg.view.is_some())] {
            if given {
                warnings.push(format!(
                    "temporal properties were checked without {what}, which gives false counterexamples"
                ));
            }
        }
        let plan = plan::temporal(cfg, &cfg.properties);
        let mut run = match known {
            Some(run) => run,
            None => self.run(&plan).await?,
        };
        if is_violated(&run.verdict) {
            match cfg.properties.as_slice() {
                [only] => {
                    self.settle_trace(&plan, &mut run, warnings).await?;
                    name_property(&mut run.verdict, only);
                }
                _ => self.blame(&mut run, warnings).await?,
            }
        } else if run.verdict == Verdict::Holds
            && run.read.liveness
            && !(cfg.constraints.is_empty() && cfg.action_constraints.is_empty())
        {
            let names: Vec<&str> = cfg.constraints.iter().chain(&cfg.action_constraints).map(String::as_str).collect();
            run.verdict = Verdict::inconclusive(format!(
                "no violation of a temporal property was found, but a constraint ({}) can hide violations of temporal \
                 properties",
                names.join(", ")
            ));
        }
        Ok(run)
    }

    /// Whether any behaviour satisfies what the specification assumes: `[]<>FALSE` holds of none.
    async fn behaviour(&mut self, assumptions: &[String]) -> Result<Verdict, ToolError> {
        let cfg = &self.request.cfg;
        let run = self.run(&plan::no_behaviour(&self.request.spec, cfg)).await?;
        let undecided = |why: &str, timed_out: bool| Verdict::Inconclusive {
            reason: format!(
                "whether any behaviour satisfies the specification was not decided ({}): {why}",
                assumptions.join("; ")
            ),
            timed_out,
        };
        let timed_out = run.verdict.is_timed_out();
        Ok(match run.verdict {
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

    /// TLC does not say which of several properties is violated: each is checked alone until one is.
    async fn blame(&mut self, run: &mut Run, warnings: &mut Vec<String>) -> Result<(), ToolError> {
        let cfg = &self.request.cfg;
        for property in &cfg.properties {
            let alone = plan::for_trace(&plan::temporal(cfg, std::slice::from_ref(property)));
            let alone = self.run(&alone).await?;
            if is_violated(&alone.verdict) {
                run.verdict = alone.verdict;
                run.read.trace = alone.read.trace;
                name_property(&mut run.verdict, property);
                return Ok(());
            }
        }
        warnings
            .push("which of the properties is violated could not be told: none of them was, checked alone".to_owned());
        Ok(())
    }

    async fn witnesses(&mut self, safety: &Verdict) -> Result<Vec<WitnessOutcome>, ToolError> {
        let names = &self.request.cfg.witnesses;
        if matches!(safety, Verdict::Invalid { .. }) {
            let undecided = |name: &String| WitnessOutcome::undecided(name, "the specification is invalid");
            return Ok(names.iter().map(undecided).collect());
        }
        // Each run is one thread and mostly the start of a JVM, so they go side by side; the order stays that of the
        // configuration.
        let jobs = self.cx.limits.workers.map_or_else(processors, |workers| workers.max(1));
        let this = &*self;
        let runs: Vec<BoxFuture<'_, _>> = names.iter().map(|name| Box::pin(this.witness(name)) as _).collect();
        let runs: Vec<(WitnessOutcome, String)> = stream::iter(runs).buffered(jobs).try_collect().await?;
        Ok(runs
            .into_iter()
            .map(|(outcome, output)| {
                self.output.push_str(&output);
                outcome
            })
            .collect())
    }

    async fn witness(&self, name: &str) -> Result<(WitnessOutcome, String), ToolError> {
        let (mut outcome, mut output) = self.witness_run(name, Symmetry::Kept).await?;
        if outcome.reached == Reached::No && !self.request.cfg.symmetry.is_empty() {
            let (again, more) = self.witness_run(name, Symmetry::LeftOut).await?;
            outcome = again;
            output += &more;
        }
        Ok((outcome, output))
    }

    async fn witness_run(&self, name: &str, symmetry: Symmetry) -> Result<(WitnessOutcome, String), ToolError> {
        let Some(plan) = plan::witness(&self.request.spec, &self.request.cfg, name, symmetry) else {
            let why = format!("`{name}` is not the name of an operator");
            return Ok((WitnessOutcome::undecided(name, why), String::new()));
        };
        let (run, output) = self.execute(&plan).await?;
        let timed_out = run.verdict.is_timed_out();
        Ok((WitnessOutcome { name: name.to_owned(), reached: reached(run), timed_out }, output))
    }
}

/// What a run whose only invariant is a predicate's negation says of the predicate.
pub(super) fn reached(run: Run) -> Reached {
    match run.verdict {
        Verdict::Holds => Reached::No,
        Verdict::Violated { violated } if violated.kind == ViolationKind::Invariant => {
            Reached::Yes { depth: run.read.trace.map_or(1, |trace| trace.steps.len().max(1)) }
        }
        Verdict::Violated { violated } => {
            Reached::Unknown(format!("its run ended with another violation: {}", kind_in_words(violated.kind)))
        }
        Verdict::Invalid { reason, .. } | Verdict::Inconclusive { reason, .. } => Reached::Unknown(reason),
    }
}

fn finish(
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
    let mut statistics = safety.read.statistics;
    statistics.seconds = safety.seconds;
    let collisions = [safety.read.collision, temporal.as_ref().and_then(|t| t.read.collision)];
    bounds.collision_probability = collisions.into_iter().flatten().reduce(f64::max);
    let mut all_warnings = safety.read.warnings;
    if let Some(temporal) = &temporal {
        all_warnings.extend(temporal.read.warnings.iter().cloned());
    }
    all_warnings.extend(warnings);
    let mut seen = std::collections::BTreeSet::new();
    all_warnings.retain(|w| seen.insert(w.clone()));
    let (verdict, trace) = worst((safety.verdict, safety.read.trace), temporal.map(|t| (t.verdict, t.read.trace)));
    let trace = if matches!(verdict, Verdict::Violated { .. } | Verdict::Invalid { .. }) { trace } else { None };
    CheckOutcome {
        verdict,
        statistics,
        bounds,
        coverage: safety.read.coverage,
        trace,
        invariants,
        properties,
        probes: None,
        witnesses,
        warnings: all_warnings,
        checker: explorer.checker(),
        version: safety.read.version.unwrap_or_else(|| explorer.version()),
    }
}

type Judged = (Verdict, Option<Trace>);

fn worst(first: Judged, second: Option<Judged>) -> Judged {
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

/// The bounds that a configuration sets.
pub fn bounds(cfg: &Cfg) -> Bounds {
    Bounds {
        constants: cfg.constants.clone(),
        constraints: cfg.constraints.iter().chain(&cfg.action_constraints).cloned().collect(),
        view: cfg.view.clone(),
        symmetry: cfg.symmetry.clone(),
        initial_state_properties: Vec::new(),
        initial_state_parts: Vec::new(),
        assumptions: Vec::new(),
        always_enabled: Vec::new(),
        vacuous_premises: Vec::new(),
        deadlock_checked: cfg.check_deadlock != Some(false) && !cfg.gives_no_behaviour(),
        assumptions_only: cfg.gives_no_behaviour(),
        collision_probability: None,
    }
}

/// The bounds of a check: those of its configuration, and what its module says of the properties.
fn bounds_of(request: &CheckRequest) -> Bounds {
    let (spec, cfg) = (&request.spec, &request.cfg);
    let mut bounds = bounds(cfg);
    match claims(&spec.name, &spec.text, &spec.beside, cfg) {
        Ok(claims) => {
            let line = |(property, part)| format!("PROPERTY {property} (initial states only: {part})");
            bounds.initial_state_properties = claims.initial_only;
            bounds.initial_state_parts = claims.initial_parts.into_iter().map(line).collect();
            let specification = cfg.specification.as_deref().unwrap_or_default();
            let line = |assumption: String| format!("{specification} assumes {assumption}");
            bounds.assumptions = claims.assumptions.into_iter().map(line).collect();
            if bounds.deadlock_checked {
                let line = |step: String| format!("{step} (possible in any state)");
                bounds.always_enabled = claims.total_step.into_iter().map(line).collect();
            }
        }
        // Nothing is known of the properties: each is accepted by name, or covers nothing.
        Err(why) => {
            let line = |property: &String| format!("PROPERTY {property} (perhaps initial states only: {why})");
            bounds.initial_state_parts = cfg.properties.iter().map(line).collect();
            let line = |name: &String| format!("{name} assumes what could not be read: {why}");
            bounds.assumptions = cfg.specification.iter().map(line).collect();
        }
    }
    bounds
}

fn is_violated(verdict: &Verdict) -> bool {
    matches!(verdict, Verdict::Violated { .. })
}

fn kind_of(verdict: &Verdict) -> Option<ViolationKind> {
    match verdict {
        Verdict::Violated { violated } | Verdict::Invalid { violated, .. } => Some(violated.kind),
        Verdict::Holds | Verdict::Inconclusive { .. } => None,
    }
}

fn name_property(verdict: &mut Verdict, property: &str) {
    if let Verdict::Violated { violated } = verdict
        && matches!(violated.kind, ViolationKind::Property | ViolationKind::ActionProperty)
    {
        violated.name = Some(property.to_owned());
    }
}

fn kind_in_words(kind: ViolationKind) -> &'static str {
    match kind {
        ViolationKind::Invariant => "an invariant",
        ViolationKind::Property => "a temporal property",
        ViolationKind::ActionProperty => "an action property",
        ViolationKind::Deadlock => "a deadlock",
        ViolationKind::NoBehaviour => "no behaviour",
        ViolationKind::Assumption => "an assumption",
        ViolationKind::Assertion => "an assertion",
        ViolationKind::Evaluation => "an evaluation",
        ViolationKind::Parse => "the module",
    }
}
