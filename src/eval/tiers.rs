//! The first two tiers: runs the tools on the specification itself. Knows nothing of known bugs.

use super::case::Case;
use super::outcome::{Criterion, Status, Tier1, Tier2};
use super::specs::Specs;
use crate::pipeline::Outcome;
use crate::tla::{
    Cfg, CheckOutcome, Checker, Confirmation, Module, Reached, Verdict, Violation, ViolationKind,
    constantly_true_under, verdict_with_bounds,
};
use crate::toolchain::{
    CheckRequest, Detail, Examination, LastStage, ToolContext, ToolError, Toolchain, TranslationMode, examine,
};

/// The first two tiers, with the parsed specification.
pub(super) struct SpecificationResult {
    pub(super) tier1: Tier1,
    pub(super) tier2: Tier2,
    /// The verdict with its bounds.
    pub(super) verdict: String,
    /// The checker that decided.
    pub(super) checker: Checker,
    pub(super) version: String,
    pub(super) second: Option<Checker>,
    /// The translated module and its configuration, if both can be parsed.
    pub(super) parsed: Option<(Module, Cfg)>,
    /// The properties that the check found violated.
    pub(super) violated: Vec<String>,
}

impl SpecificationResult {
    /// Decides the last criterion of the first tier anew.
    pub(super) fn replace_invariants(&mut self, criterion: Criterion) {
        self.tier1.invariants = criterion;
        if !self.tier1.passed() {
            self.tier2.efficiency = 0.0;
        }
    }
}

/// Runs the tools on the specification.
pub(super) async fn check_specification(
    specs: &Specs,
    case: &Case,
    tools: &dyn Toolchain,
    cx: &ToolContext<'_>,
) -> Result<SpecificationResult, ToolError> {
    let (spec, cfg_text) = (specs.spec.clone(), specs.cfg_text.clone());
    // No report shows a trace, coverage or vacuous premises of the specification.
    let examined = examine(tools, spec, cfg_text, TranslationMode::Translate, Detail::VerdictOnly, cx).await?;
    let outcome = &examined.checked.outcome;
    let cfg = Cfg::parse(&specs.cfg_text).ok();
    let module = Module::parse(&examined.spec.text).ok();
    let read = module.zip(cfg);
    let mut tier1 = criteria(&examined, case, read.as_ref().map(|(_, cfg)| cfg));
    if examined.last_stage == LastStage::Check
        && let Some((_, cfg)) = &read
    {
        match &outcome.verdict {
            // If the protocol is flawed, a correct specification violates a property.
            Verdict::Violated { violated } if is_expected_flaw(specs, case) => accept_flaw(&mut tier1, violated, case),
            // The specification hides the flaw, unless the run repaired the protocol.
            Verdict::Holds if case.checklist.expects_flaw() && !is_repaired(specs) => {
                let what = "the protocol as documented breaks one of its requirements, and every property holds";
                tier1.invariants = Criterion::because(Status::Failed, what);
            }
            _ => {}
        }
        if tier1.type_ok.status == Status::Undecided
            && let Some(alone) = check_type_invariants(&examined, case, cfg, tools, cx).await?
        {
            tier1.type_ok = alone;
        }
    }
    tier1.vacuous = vacuity_reasons(outcome, examined.last_stage, read.as_ref());
    let statistics = &outcome.statistics;
    let listed = |name: &&str| {
        read.as_ref().is_some_and(|(_, cfg)| cfg.invariants.iter().chain(&cfg.properties).any(|listed| listed == name))
    };
    let required = case.checklist.required_invariants.iter().map(|wanted| wanted.name.as_str()).filter(listed);
    let tier2 = Tier2 {
        complete: outcome.is_complete(),
        distinct_states: statistics.distinct,
        generated_states: statistics.generated,
        depth: statistics.depth,
        seconds: statistics.reported_seconds(),
        invariants: read.as_ref().map_or(0, |(_, cfg)| cfg.invariants.len()),
        properties: read.as_ref().map_or(0, |(_, cfg)| cfg.properties.len()),
        revisions: specs.run.as_ref().map(|run| run.revisions),
        required_by_name: required.map(str::to_owned).collect(),
        efficiency: if tier1.passed() { Tier2::efficiency_of(statistics.distinct) } else { 0.0 },
    };
    // Properties of a rejected specification are not carried over.
    let read = read.filter(|_| examined.last_stage >= LastStage::Names);
    let beside = examined.checked.second_outcome.as_ref().map(|second| second.checker);
    let confirmed = matches!(outcome.confirmation, Some(Confirmation::By(_))).then_some(Checker::Tlc);
    let (version, second) = (outcome.version.clone(), beside.or(confirmed));
    let verdict = verdict_with_bounds(outcome);
    let violated = outcome.violated_names().map(str::to_owned).collect();
    let checker = outcome.checker;
    Ok(SpecificationResult { tier1, tier2, verdict, checker, version, second, parsed: read, violated })
}

fn criteria(examined: &Examination, case: &Case, cfg: Option<&Cfg>) -> Tier1 {
    let outcome = &examined.checked.outcome;
    let reason = match &outcome.verdict {
        Verdict::Invalid { diagnostics, reason, .. } => {
            diagnostics.first().map_or_else(|| reason.clone(), ToString::to_string)
        }
        Verdict::Inconclusive { reason, .. } => reason.clone(),
        Verdict::Violated { violated } => violated.description(),
        Verdict::Holds => String::new(),
    };
    let not_checked = |what: &str| Criterion::because(Status::Undecided, format!("not checked: {what}"));
    // A tool that could not decide says nothing about the specification.
    let rejected = match outcome.verdict {
        Verdict::Inconclusive { .. } => Criterion::because(Status::Undecided, &*reason),
        _ => Criterion::because(Status::Failed, &*reason),
    };
    let pluscal = if examined.algorithm {
        Criterion::passed()
    } else {
        Criterion::because(Status::NotApplicable, "there is no algorithm")
    };
    let mut tier1 = Tier1 {
        parse: Criterion::passed(),
        pluscal,
        check: Criterion::passed(),
        type_ok: Criterion::passed(),
        invariants: Criterion::passed(),
        vacuous: Vec::new(),
    };
    let stopped = match examined.last_stage {
        LastStage::Configuration => {
            (tier1.parse, tier1.pluscal) = (not_checked("the configuration"), not_checked("the configuration"));
            tier1.check = rejected.clone();
            "the configuration cannot be read"
        }
        LastStage::Translation => {
            tier1.pluscal = rejected.clone();
            tier1.parse = not_checked("the algorithm is rejected");
            tier1.check = not_checked("the algorithm is rejected");
            "the algorithm is rejected"
        }
        LastStage::Parse => {
            tier1.parse = rejected.clone();
            tier1.check = not_checked("the module is rejected");
            "the module is rejected"
        }
        LastStage::Names => {
            tier1.check = rejected.clone();
            "the configuration does not fit the module"
        }
        LastStage::Check => "",
    };
    if !stopped.is_empty() {
        (tier1.type_ok, tier1.invariants) = (not_checked(stopped), not_checked(stopped));
        return tier1;
    }
    tier1.check = completed(outcome, case, rejected);
    let types: Vec<&str> = cfg.map(|cfg| type_invariants(cfg, case)).unwrap_or_default();
    let broken = outcome.violated_names().find(|name| types.contains(name));
    tier1.type_ok = match broken {
        _ if types.is_empty() => Criterion::because(Status::Failed, "TypeOK is not among the invariants"),
        Some(name) => Criterion::because(Status::Failed, format!("invariant {name}")),
        _ if types.iter().all(|name| outcome.decided(name)) => Criterion::passed(),
        _ => Criterion::because(Status::Undecided, format!("the check did not decide it: {reason}")),
    };
    tier1.invariants = match &outcome.verdict {
        Verdict::Holds => Criterion::passed(),
        Verdict::Violated { violated } if is_property(violated) => Criterion::because(Status::Failed, reason),
        _ => Criterion::because(Status::Undecided, format!("the check did not decide them: {reason}")),
    };
    tier1
}

/// Whether the check completed within the limits of the case. A violated property is a completed check too.
fn completed(outcome: &CheckOutcome, case: &Case, rejected: Criterion) -> Criterion {
    match &outcome.verdict {
        Verdict::Violated { violated } if is_property(violated) => Criterion::passed(),
        Verdict::Holds => match exceeds_case_limit(outcome, case) {
            Some(why) => Criterion::because(Status::Undecided, why),
            None => Criterion::passed(),
        },
        _ => rejected,
    }
}

/// Why a complete check exceeded the limits of its case.
pub(super) fn exceeds_case_limit(outcome: &CheckOutcome, case: &Case) -> Option<String> {
    let (distinct, limit) = (outcome.statistics.distinct?, case.checklist.tlc_constraints.max_states?);
    (distinct > limit).then(|| format!("{distinct} distinct states exceed the case's limit of {limit}"))
}

pub(super) fn is_property(violated: &Violation) -> bool {
    matches!(violated.kind, ViolationKind::Invariant | ViolationKind::Property | ViolationKind::ActionProperty)
}

fn type_invariants<'a>(cfg: &'a Cfg, case: &Case) -> Vec<&'a str> {
    cfg.invariants.iter().map(String::as_str).filter(|name| case.checklist.is_type_invariant(name)).collect()
}

fn is_repaired(specs: &Specs) -> bool {
    specs.run.as_ref().is_some_and(|run| run.outcome == Some(Outcome::ApprovedRepaired))
}

/// Whether the case has a flawed protocol and the run, if there is one, found a flaw.
pub(super) fn is_expected_flaw(specs: &Specs, case: &Case) -> bool {
    let found = specs.run.as_ref().is_none_or(|run| run.outcome == Some(Outcome::FlawFound));
    case.checklist.expects_flaw() && found
}

/// A good specification of a flawed protocol violates a property.
fn accept_flaw(tier1: &mut Tier1, violated: &Violation, case: &Case) {
    if let Some(name) = violated.property().filter(|_| is_property(violated))
        && !case.checklist.is_type_invariant(name)
    {
        let why = format!("{name} is violated, and the protocol as documented breaks one of its requirements");
        tier1.invariants = Criterion::because(Status::Passed, why);
    }
}

/// Checks the type invariants alone, if another violation ended the check before they were decided.
async fn check_type_invariants(
    examined: &Examination,
    case: &Case,
    cfg: &Cfg,
    tools: &dyn Toolchain,
    cx: &ToolContext<'_>,
) -> Result<Option<Criterion>, ToolError> {
    if !matches!(&examined.checked.outcome.verdict, Verdict::Violated { .. }) {
        return Ok(None);
    }
    let invariants: Vec<String> = type_invariants(cfg, case).into_iter().map(str::to_owned).collect();
    let cfg =
        // Without deadlock: it would end this check early, too.
        Cfg { invariants, properties: Vec::new(), witnesses: Vec::new(), check_deadlock: Some(false), ..cfg.clone() };
    let request = CheckRequest { spec: examined.spec.clone(), cfg_text: cfg.render(), cfg };
    let alone = tools.check_without_details(&request, cx).await?.outcome;
    Ok(match &alone.verdict {
        Verdict::Holds => Some(Criterion::passed()),
        Verdict::Violated { violated } => Some(Criterion::because(Status::Failed, violated.description())),
        _ => None,
    })
}

/// Why the specification is vacuous: its properties would hold whatever the protocol does.
fn vacuity_reasons(outcome: &CheckOutcome, last_stage: LastStage, read: Option<&(Module, Cfg)>) -> Vec<String> {
    let mut reasons = Vec::new();
    if let Some((module, cfg)) = read {
        if cfg.invariants.is_empty() && cfg.properties.is_empty() {
            reasons.push("no property is checked: the configuration lists no INVARIANT and no PROPERTY".to_owned());
        }
        let violated: Vec<&str> = outcome.violated_names().collect();
        // A violated property is not constantly true, and one of the initial states alone may be implied by the initial predicate.
        let is_examined = |name: &&String| !violated.contains(&name.as_str()) && !outcome.is_initial_only(name);
        for name in cfg.invariants.iter().chain(&cfg.properties).filter(is_examined) {
            if let Some(why) = constantly_true_under(module, cfg, name) {
                reasons.push(format!(
                    "{name} {}",
                    if why.starts_with("reduces") { format!("is always TRUE: it {why}") } else { why }
                ));
            }
        }
    }
    let vacuous = outcome.bounds.vacuous_properties.iter();
    reasons.extend(vacuous.map(|(name, why)| format!("{name} is vacuous: {why}")));
    let explored = outcome.is_complete() || matches!(&outcome.verdict, Verdict::Violated { .. });
    if last_stage == LastStage::Check && explored && !outcome.has_steps() {
        let deadlock =
            matches!(&outcome.verdict, Verdict::Violated { violated } if violated.kind == ViolationKind::Deadlock);
        // A violation in an initial state ends the check before the first step.
        if outcome.is_complete() || deadlock {
            reasons.push("only the initial states are reachable: no step is ever taken".to_owned());
        }
    }
    for witness in &outcome.witnesses {
        if witness.reached == Reached::No {
            reasons.push(format!("the witness {} is not reached", witness.name));
        }
    }
    reasons
}
