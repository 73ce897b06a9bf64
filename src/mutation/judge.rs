//! Judges mutants by the properties of the specification itself; see the classes in [`Outcome`].

use std::time::{Duration, Instant};

use crate::journal::Sha;
use crate::tla::{
    ASSERTION, Cfg, CheckOutcome, DEADLOCK, Module, Reached, SpecificationFormula, Verdict, Violation, ViolationKind,
};
use crate::toolchain::{
    CheckReport, CheckRequest, Limits, ParseOutcome, SpecText, ToolContext, ToolError, Toolchain, Translation,
};

use super::inclusion::{Inclusion, Side, bound_otherwise};
use super::split::NewLabel;
use super::{Judgement, Mutant, Outcome};

/// A mutant gets at least so long.
const LEAST_TIME: Duration = Duration::from_secs(5);
/// And so many times what the specification itself took.
const TIMES_BASELINE: u32 = 10;

/// The specification whose mutants are judged.
#[derive(Debug, Clone)]
pub struct Subject {
    /// Its file's name, for the names of mutants.
    pub file: String,
    /// The text as the user wrote it.
    pub source: String,
    /// Its module, translated where there is an algorithm.
    pub module: Module,
    /// The modules beside it.
    pub beside: Vec<(String, String)>,
    /// The configuration.
    pub cfg: Cfg,
    /// Its text.
    pub cfg_text: String,
    side: Result<Side, String>,
}

/// Why there is nothing to mutate, or nothing to judge by.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BaselineError {
    /// The specification does not hold, or holds for want of anything that could fail.
    #[error("{reason}")]
    Bad {
        /// Why, in words.
        reason: String,
        /// Its check, where it came so far.
        outcome: Option<Box<CheckOutcome>>,
    },
    /// Not even that could be decided.
    #[error(transparent)]
    Tool(#[from] ToolError),
}

impl Subject {
    /// Translates, parses and checks the specification itself. Mutants are judged only by properties that hold of it.
    pub async fn prepare(
        tools: &dyn Toolchain,
        file: String,
        spec: SpecText,
        cfg_text: String,
        cx: &ToolContext<'_>,
    ) -> Result<(Self, CheckOutcome), BaselineError> {
        let began = Instant::now();
        let bad = |reason: String| BaselineError::Bad { reason, outcome: None };
        let cfg = Cfg::parse(&cfg_text).map_err(|d| bad(format!("the configuration cannot be read: {d}")))?;
        let source = spec.text.clone();
        let spec = match translated(tools, spec, cx).await? {
            Ok(spec) => spec,
            Err(why) => return Err(bad(why)),
        };
        let module = Module::parse(&spec.text).map_err(|e| bad(e.to_string()))?;
        let request = CheckRequest { spec, cfg_text, cfg };
        let CheckReport { mut outcome, .. } = tools.check(&request, cx).await?;
        outcome.statistics.total_seconds = Some(began.elapsed().as_secs_f64());
        let CheckRequest { spec, cfg_text, cfg } = request;
        if let Some(reason) = unfit(&outcome, &cfg) {
            return Err(BaselineError::Bad { reason, outcome: Some(Box::new(outcome)) });
        }
        let side = SpecificationFormula::parse(&module, &cfg).map(|behaviour| Side { module: module.clone(), behaviour });
        Ok((Self { file, source, module, beside: spec.local_modules, cfg, cfg_text, side }, outcome))
    }

    /// How long each run of a mutant may take, after the time that the specification itself took.
    pub fn deadline(baseline: &CheckOutcome) -> Duration {
        let took = Duration::try_from_secs_f64(baseline.statistics.seconds).unwrap_or_default();
        (took * TIMES_BASELINE).max(LEAST_TIME)
    }
}

/// Why mutants cannot be judged by this check.
fn unfit(outcome: &CheckOutcome, cfg: &Cfg) -> Option<String> {
    match &outcome.verdict {
        Verdict::Holds => {}
        Verdict::Violated { violated } => {
            return Some(format!("the specification itself violates {}", violated.name.as_deref().unwrap_or(DEADLOCK)));
        }
        Verdict::Invalid { reason, .. } => return Some(format!("the specification is invalid: {reason}")),
        Verdict::Inconclusive { reason, .. } => return Some(format!("the specification was not decided: {reason}")),
    }
    if cfg.invariants.is_empty() && cfg.properties.is_empty() {
        return Some("the configuration lists no invariant and no property: nothing could notice a mutant".to_owned());
    }
    let statistics = &outcome.statistics;
    if statistics.distinct.is_some() && statistics.distinct == statistics.initial {
        return Some("no state but the initial ones is reachable: whatever holds, holds for want of steps".to_owned());
    }
    let unreached = outcome.witnesses.iter().find(|w| w.reached == Reached::No)?;
    Some(format!("the witness {} is not reachable", unreached.name))
}

async fn translated(
    tools: &dyn Toolchain,
    mut spec: SpecText,
    cx: &ToolContext<'_>,
) -> Result<Result<SpecText, String>, ToolError> {
    match tools.translate(&spec, cx).await? {
        Translation::NoAlgorithm => {}
        Translation::Translated(text) => spec.text = text,
        Translation::Rejected(why) => {
            return Ok(Err(why.first().map_or_else(|| "it does not translate".to_owned(), ToString::to_string)));
        }
    }
    Ok(match tools.parse(&spec, cx).await? {
        ParseOutcome::Accepted { .. } => Ok(spec),
        ParseOutcome::Rejected(why) => {
            Err(why.first().map_or_else(|| "it does not parse".to_owned(), ToString::to_string))
        }
    })
}

/// Judges mutants of one specification.
pub struct Judge<'a> {
    /// What translates, parses and decides.
    pub tools: &'a dyn Toolchain,
    /// The specification.
    pub subject: &'a Subject,
    /// What distinguishes these tools from others, for the key of a judgement.
    pub version: &'a str,
}

/// A class with what belongs to it.
#[derive(Default)]
struct Found {
    outcome: Option<Outcome>,
    killed_by: Vec<String>,
    kind: Option<ViolationKind>,
    trace: Option<crate::tla::Trace>,
    noticed_by: Vec<String>,
    reason: Option<String>,
    checker: Option<crate::tla::Checker>,
}

impl Found {
    fn killed(violated: Violation, trace: Option<crate::tla::Trace>) -> Self {
        let killed_by = vec![killer(&violated)];
        // What an assertion says, or its place, is no name: it moves with the text.
        let reason = violated.name.filter(|_| violated.kind == ViolationKind::Assertion);
        let (outcome, kind) = (Some(Outcome::Killed), Some(violated.kind));
        Self { outcome, killed_by, kind, trace, reason, ..Self::default() }
    }

    fn because(outcome: Outcome, reason: impl Into<String>) -> Self {
        Self { outcome: Some(outcome), reason: Some(reason.into()), ..Self::default() }
    }
}

/// A question that a checker did not answer.
struct Undecided {
    outcome: Outcome,
    why: String,
}

impl Judge<'_> {
    /// The key of a mutant's judgement.
    pub fn key(&self, mutant: &Mutant) -> String {
        let Subject { source, cfg_text, beside, .. } = self.subject;
        let mut all = format!("{}\0{}\0{cfg_text}\0{source}", self.version, mutant.apply(source));
        for (name, text) in beside {
            all.push('\0');
            all.push_str(name);
            all.push('\0');
            all.push_str(text);
        }
        Sha::of(all).as_str().to_owned()
    }

    /// Judges one mutant. `cx.limits.check` bounds each of its runs.
    pub async fn judge(&self, mutant: &Mutant, cx: &ToolContext<'_>) -> Result<Judgement, ToolError> {
        let began = Instant::now();
        let found = self.find(mutant, cx).await?;
        Ok(Judgement {
            name: mutant.name(&self.subject.file),
            operator: mutant.operator,
            definition: mutant.definition.clone(),
            line: mutant.line,
            column: mutant.column,
            start: mutant.start(&self.subject.source),
            end: mutant.end(&self.subject.source),
            replacement: mutant.replacement(&self.subject.source),
            what: mutant.what.clone(),
            diff: mutant.diff(&self.subject.source),
            outcome: found.outcome.unwrap_or(Outcome::Inconclusive),
            killed_by: found.killed_by,
            kind: found.kind,
            trace: found.trace,
            noticed_by: found.noticed_by,
            reason: found.reason,
            checker: found.checker,
            seconds: began.elapsed().as_secs_f64(),
            deadline: (found.outcome == Some(Outcome::Timeout)).then_some(cx.limits.check.as_secs_f64()),
            key: self.key(mutant),
        })
    }

    async fn find(&self, mutant: &Mutant, cx: &ToolContext<'_>) -> Result<Found, ToolError> {
        let subject = self.subject;
        let text = mutant.apply(&subject.source);
        let spec = SpecText { name: subject.module.name.clone(), text, local_modules: subject.beside.clone() };
        let spec = match translated(self.tools, spec, cx).await {
            Ok(Ok(spec)) => spec,
            Ok(Err(why)) => return Ok(Found::because(Outcome::Invalid, why)),
            Err(undecided) if undecided.is_caused_by_input() => {
                return Ok(Found::because(Outcome::Inconclusive, undecided.to_string()));
            }
            Err(error) => return Err(error),
        };
        let request = CheckRequest { spec, cfg_text: subject.cfg_text.clone(), cfg: subject.cfg.clone() };
        let CheckOutcome { verdict, trace, checker, .. } = match self.tools.decide(&request, cx).await {
            Ok(checked) => checked.outcome,
            Err(error) if error.is_fatal() => return Err(error),
            // A checker that breaks on a mutant has shown nothing about it; the others go on.
            Err(error) => return Ok(Found::because(Outcome::Inconclusive, error.to_string())),
        };
        let found = match verdict {
            // That is no property of what it does.
            Verdict::Violated { violated } if violated.kind == ViolationKind::Assumption => {
                Found::because(Outcome::Invalid, "an assumption is false")
            }
            Verdict::Violated { violated } => match NewLabel::of(mutant, &request) {
                Some(label) if label.may_be_all(&violated, trace.as_ref()) => {
                    self.labelled(&label, &request, killer(&violated), cx).await?
                }
                _ => Found::killed(violated, trace),
            },
            Verdict::Invalid { reason, .. } => Found::because(Outcome::Invalid, reason),
            Verdict::Inconclusive { reason, timed_out: true } => Found::because(Outcome::Timeout, reason),
            Verdict::Inconclusive { reason, .. } => Found::because(Outcome::Inconclusive, reason),
            Verdict::Holds => self.unnoticed(&request, cx).await?,
        };
        Ok(Found { checker: Some(checker), ..found })
    }

    /// The class of a mutant that violates a property which reads labels, in a state that holds a new one: the property
    /// cannot have known it. Judged again with the new label where the old one is listed, then by the other properties.
    async fn labelled(
        &self,
        label: &NewLabel,
        request: &CheckRequest,
        mut by: String,
        cx: &ToolContext<'_>,
    ) -> Result<Found, ToolError> {
        let mut again = Vec::new();
        if let Some(text) = label.listed() {
            let spec = SpecText { text, ..request.spec.clone() };
            again.push(CheckRequest { spec, ..request.clone() });
        }
        let cfg = label.others(&request.cfg);
        let checks_any = !cfg.invariants.is_empty() || !cfg.properties.is_empty() || cfg.check_deadlock != Some(false);
        if checks_any {
            again.push(CheckRequest { spec: request.spec.clone(), cfg_text: cfg.render(), cfg });
        }
        let mut open = None;
        for other in again {
            let CheckOutcome { verdict, trace, .. } = match self.tools.decide(&other, cx).await {
                Ok(checked) => checked.outcome,
                Err(error) if error.is_fatal() => return Err(error),
                Err(error) => {
                    open = Some((Outcome::Inconclusive, error.to_string()));
                    continue;
                }
            };
            match verdict {
                Verdict::Violated { violated } if label.may_be_all(&violated, trace.as_ref()) => by = killer(&violated),
                Verdict::Violated { violated } => return Ok(Found::killed(violated, trace)),
                // Every property, and only lists of labels are longer than they were.
                Verdict::Holds if other.cfg == request.cfg => return self.unnoticed(request, cx).await,
                Verdict::Holds => {}
                Verdict::Inconclusive { reason, timed_out: true } => open = Some((Outcome::Timeout, reason)),
                Verdict::Invalid { reason, .. } | Verdict::Inconclusive { reason, .. } => {
                    open = Some((Outcome::Inconclusive, reason));
                }
            }
        }
        let first =
            format!("it violates `{by}`, which reads labels and cannot have known the new one, `{}`", label.name());
        Ok(match open {
            Some((outcome, why)) => {
                Found::because(outcome, format!("{first}; whether it violates anything else was not decided: {why}"))
            }
            None => Found::because(Outcome::Inconclusive, format!("{first}; it violates nothing that reads no label")),
        })
    }

    /// The class of a mutant of which everything holds.
    async fn unnoticed(&self, request: &CheckRequest, cx: &ToolContext<'_>) -> Result<Found, ToolError> {
        let undecided_as = |outcome: Outcome, why: &str| {
            let reason = format!("every property holds; whether it does anything new was not decided: {why}");
            Ok(Found::because(outcome, reason))
        };
        let undecided = |why: &str| undecided_as(Outcome::Inconclusive, why);
        let subject = self.subject;
        let theirs = match &subject.side {
            Ok(side) => side,
            Err(why) => return undecided(why),
        };
        let module = match Module::parse(&request.spec.text) {
            Ok(module) => module,
            Err(why) => return undecided(&why.to_string()),
        };
        let behaviour = match SpecificationFormula::parse(&module, &subject.cfg) {
            Ok(behaviour) => behaviour,
            Err(why) => return undecided(&why),
        };
        let ours = Side { module, behaviour };
        let inclusion = match Inclusion::new(&subject.cfg, &subject.beside, [&ours, theirs]) {
            Ok(inclusion) => inclusion,
            Err(why) => return undecided(&why),
        };
        let other_variables = "the two have different variables";
        if !Inclusion::covers(&ours, theirs) {
            return undecided(other_variables);
        }
        match self.holds(&inclusion.request(&ours, theirs), cx).await? {
            // A variable more (`pc`, where a label came in) can hold what the other has no word for.
            Ok(true) if !Inclusion::covers(theirs, &ours) => return undecided(other_variables),
            Ok(true) => {}
            Ok(false) => return Ok(Found { outcome: Some(Outcome::Survived), ..Found::default() }),
            Err(Undecided { outcome, why }) => return undecided_as(outcome, &why),
        }
        match self.holds(&inclusion.request(theirs, &ours), cx).await? {
            Ok(true) => self.same_steps(&inclusion, &ours, theirs, cx).await,
            Ok(false) => {
                let noticed_by = self.lost_witnesses(request, cx).await?;
                Ok(Found { outcome: Some(Outcome::Restricting), noticed_by, ..Found::default() })
            }
            Err(Undecided { outcome, why }) => undecided_as(outcome, &why),
        }
    }

    /// The class of a mutant with the same steps: fairness decides.
    async fn same_steps(
        &self,
        inclusion: &Inclusion<'_>,
        ours: &Side,
        theirs: &Side,
        cx: &ToolContext<'_>,
    ) -> Result<Found, ToolError> {
        let texts = |side: &Side| -> Vec<String> {
            let mut all: Vec<String> = side.behaviour.fairness.iter().map(|f| f.normalised.clone()).collect();
            all.sort();
            all
        };
        if texts(ours) != texts(theirs) {
            return Ok(Found { outcome: Some(Outcome::FairnessOnly), ..Found::default() });
        }
        let by_steps = "the same reachable states and steps, by inclusion both ways";
        if ours.behaviour.fairness.is_empty() {
            return Ok(Found::because(Outcome::Equivalent, by_steps));
        }
        let undecided = "it has the same reachable states and steps; whether its fairness is the same was not decided";
        let actions: Option<Vec<_>> = ours.behaviour.fairness.iter().map(|f| f.actions.clone()).collect();
        let actions = actions.unwrap_or_default().concat();
        let has_disjunct = |side: &Side| actions.iter().all(|fair| side.behaviour.has_disjunct(&side.module, fair));
        if actions.is_empty() || !has_disjunct(ours) || !has_disjunct(theirs) {
            return Ok(Found::because(Outcome::Inconclusive, undecided));
        }
        if let Some(name) = bound_otherwise([ours, theirs], &actions) {
            let why = format!("{undecided}: it is bound to `{name}`, which is not the same");
            return Ok(Found::because(Outcome::Inconclusive, why));
        }
        Ok(match self.holds(&inclusion.same_actions(ours, theirs, &actions), cx).await? {
            Ok(true) => {
                Found::because(Outcome::Equivalent, format!("{by_steps}, and the same steps of each fair action"))
            }
            Ok(false) => Found { outcome: Some(Outcome::FairnessOnly), ..Found::default() },
            Err(Undecided { outcome, why }) => Found::because(outcome, format!("{undecided}: {why}")),
        })
    }

    /// Whether a check holds; the inner error says why that was not decided.
    async fn holds(&self, request: &CheckRequest, cx: &ToolContext<'_>) -> Result<Result<bool, Undecided>, ToolError> {
        let (outcome, why) = match self.tools.decide(request, cx).await {
            Ok(checked) => match checked.outcome.verdict {
                Verdict::Holds => return Ok(Ok(true)),
                Verdict::Violated { .. } => return Ok(Ok(false)),
                Verdict::Inconclusive { reason, timed_out: true } => (Outcome::Timeout, reason),
                Verdict::Invalid { reason, .. } | Verdict::Inconclusive { reason, .. } => {
                    (Outcome::Inconclusive, reason)
                }
            },
            Err(error) if error.is_fatal() => return Err(error),
            Err(error) => (Outcome::Inconclusive, error.to_string()),
        };
        Ok(Err(Undecided { outcome, why }))
    }

    /// Witnesses that the mutant does not reach. One whose run came to no verdict is not among them.
    async fn lost_witnesses(&self, request: &CheckRequest, cx: &ToolContext<'_>) -> Result<Vec<String>, ToolError> {
        let mut lost = Vec::new();
        let CheckRequest { spec, cfg, .. } = request;
        for witness in &cfg.witnesses {
            let mut name = "TlaforgeWitness".to_owned();
            while spec.text.contains(&name) {
                name.push('_');
            }
            let text = format!("---- MODULE {name} ----\nEXTENDS {}\n{name}Never == ~({witness})\n====\n", spec.name);
            let mut beside = spec.local_modules.clone();
            beside.push((spec.name.clone(), spec.text.clone()));
            let cfg = Cfg {
                invariants: vec![format!("{name}Never")],
                properties: Vec::new(),
                witnesses: Vec::new(),
                symmetry: Vec::new(),
                view: None,
                check_deadlock: Some(false),
                ..cfg.clone()
            };
            let spec = SpecText { name, text, local_modules: beside };
            if matches!(self.holds(&CheckRequest { spec, cfg_text: cfg.render(), cfg }, cx).await?, Ok(true)) {
                lost.push(witness.clone());
            }
        }
        Ok(lost)
    }
}

fn killer(violated: &Violation) -> String {
    match (violated.kind, &violated.name) {
        (ViolationKind::Assertion, _) => ASSERTION.to_owned(),
        (_, Some(name)) => name.clone(),
        (ViolationKind::Deadlock, None) => DEADLOCK.to_owned(),
        (_, None) => "a property".to_owned(),
    }
}

/// Limits for the runs of one mutant among several at a time.
pub fn limits_of_one(limits: &Limits, deadline: Duration) -> Limits {
    Limits { check: deadline, workers: Some(1), ..limits.clone() }
}
