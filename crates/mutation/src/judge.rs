//! Judges mutants by the properties of their specification. [`Outcome`] lists the classes; `docs/src/mutation-operators.md` describes the
//! procedure.

use std::time::{Duration, Instant};

use tlaforge_files::Sha;
use tlaforge_tla::semantic::find_type_error;
use tlaforge_tla::{
    ASSERTION, Cfg, CheckOutcome, Checker, DEADLOCK, Module, SpecificationFormula, Verdict, Violation, ViolationKind,
};
use tlaforge_toolchain::{
    CheckRequest, Limits, PastViolationLimits, SeparateVerdicts, SpecText, ToolContext, ToolError, Toolchain,
};

use super::inclusion::{Inclusion, ParsedSpec, find_differing_binding};
use super::new_label::NewLabel;
use super::subject::{MIN_DEADLINE, Subject, translate_and_parse};
use super::{Judgement, Mutant, Outcome};

/// How many states a run finds that looks for the other properties which a mutant violates: a multiple of those that were found
/// before the first violation, and more. A number of states, so that the result rarely depends on the speed of the machine.
const STATES_FACTOR: u64 = 20;
const MORE_STATES: u64 = 10_000;
/// The same for the steps from an initial state, relative to the steps to the first violation.
const DEPTH_FACTOR: u64 = 4;
const MORE_DEPTH: u64 = 50;

pub struct Judge<'a> {
    pub tools: &'a dyn Toolchain,
    pub subject: &'a Subject,
    /// What distinguishes these tools from others, for the key of a judgement.
    pub version: &'a str,
    /// Also finds all properties that notice a mutant, and the witnesses that a surviving one no longer reaches. This takes
    /// further runs; the class of the mutant is the same without them.
    pub thorough: bool,
    /// Time limit of the run on a killed mutant that looks for further properties which notice it.
    pub further_time: Duration,
}

impl<'a> Judge<'a> {
    /// A judge that finds everything, as `tlaforge mutate` does.
    pub fn thorough(tools: &'a dyn Toolchain, subject: &'a Subject, version: &'a str) -> Self {
        Self { tools, subject, version, thorough: true, further_time: MIN_DEADLINE }
    }
}

/// A class with its evidence.
#[derive(Default)]
struct Classification {
    outcome: Option<Outcome>,
    killed_by: Vec<String>,
    has_all_killers: bool,
    kind: Option<ViolationKind>,
    trace: Option<tlaforge_tla::Trace>,
    lost_witnesses: Vec<String>,
    reason: Option<String>,
    checker: Option<Checker>,
    is_transient: bool,
}

impl Classification {
    fn killed(violated: Violation, trace: Option<tlaforge_tla::Trace>) -> Self {
        let killed_by = vec![violation_name(&violated)];
        // The text or place of an assertion is no stable name, because it changes with the mutated text.
        let reason = violated.name.filter(|_| violated.kind == ViolationKind::Assertion);
        let (outcome, kind) = (Some(Outcome::Killed), Some(violated.kind));
        Self { outcome, killed_by, kind, trace, reason, ..Self::default() }
    }

    fn with_reason(outcome: Outcome, reason: impl Into<String>) -> Self {
        Self { outcome: Some(outcome), reason: Some(reason.into()), ..Self::default() }
    }
}

/// A behaviour that one specification has and the other does not.
struct NewBehaviour {
    /// Its last step, or its only state, is what the other one cannot do.
    trace: Option<tlaforge_tla::Trace>,
}

/// The witnesses that a mutant no longer reaches.
#[derive(Default)]
struct LostWitnesses {
    names: Vec<String>,
    /// See [`Judgement::is_transient`].
    is_transient: bool,
}

impl LostWitnesses {
    fn class(self, outcome: Outcome) -> Classification {
        let Self { names: lost_witnesses, is_transient } = self;
        Classification { outcome: Some(outcome), lost_witnesses, is_transient, ..Classification::default() }
    }
}

/// An inclusion check without a verdict.
struct Undecided {
    outcome: Outcome,
    why: String,
    /// See [`Judgement::is_transient`].
    is_transient: bool,
}

impl Undecided {
    fn new(why: impl Into<String>) -> Self {
        Self { outcome: Outcome::Inconclusive, why: why.into(), is_transient: false }
    }

    fn class(self, what: &str) -> Classification {
        let reason = format!("{what}: {}", self.why);
        Classification { is_transient: self.is_transient, ..Classification::with_reason(self.outcome, reason) }
    }
}

impl Judge<'_> {
    /// The key of the judgement of a mutant: SHA-256 of everything that determines it.
    pub fn key(&self, mutant: &Mutant) -> String {
        let Subject { source, cfg_text, local_modules, .. } = self.subject;
        // NUL separates the parts, so that text that moves from one part to the next changes the key.
        let mut all = format!("{}\0{}\0{cfg_text}\0{source}", self.version, mutant.apply(source));
        for (name, text) in local_modules {
            all.push('\0');
            all.push_str(name);
            all.push('\0');
            all.push_str(text);
        }
        Sha::digest(all).as_str().to_owned()
    }

    /// Judges one mutant. `cx.limits.check` limits each of its runs.
    pub async fn judge(&self, mutant: &Mutant, cx: &ToolContext<'_>) -> Result<Judgement, ToolError> {
        let began = Instant::now();
        let found = match self.classify(mutant, cx).await {
            Ok(found) => found,
            Err(error) if error.is_fatal() => return Err(error),
            // A tool that fails on one mutant must not stop the judgement of the others.
            Err(error) => {
                let is_transient = !error.is_caused_by_input();
                Classification { is_transient, ..Classification::with_reason(Outcome::Inconclusive, error.to_string()) }
            }
        };
        Ok(Judgement {
            name: mutant.name(),
            place: mutant.place(&self.subject.file),
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
            has_all_killers: found.has_all_killers,
            kind: found.kind,
            trace: found.trace,
            lost_witnesses: found.lost_witnesses,
            reason: found.reason,
            checker: found.checker,
            seconds: began.elapsed().as_secs_f64(),
            deadline: (found.outcome == Some(Outcome::Timeout)).then_some(cx.limits.check.as_secs_f64()),
            is_transient: found.is_transient,
            key: self.key(mutant),
        })
    }

    async fn classify(&self, mutant: &Mutant, cx: &ToolContext<'_>) -> Result<Classification, ToolError> {
        let subject = self.subject;
        let text = mutant.apply(&subject.source);
        let spec = SpecText { name: subject.module.name.clone(), text, local_modules: subject.local_modules.clone() };
        let spec = match translate_and_parse(self.tools, spec, cx).await? {
            Ok(spec) => spec,
            Err(why) => return Ok(Classification::with_reason(Outcome::Invalid, why.reason)),
        };
        let request = CheckRequest { spec, cfg_text: subject.cfg_text.clone(), cfg: subject.cfg.clone() };
        let CheckOutcome { verdict, trace, checker, statistics, .. } = self.tools.decide(&request, cx).await?.outcome;
        let found = match verdict {
            // An assumption is about constants, not about behaviour, so this is no kill.
            Verdict::Violated { violated } if violated.kind == ViolationKind::Assumption => {
                Classification::with_reason(Outcome::Invalid, "an assumption is false")
            }
            Verdict::Violated { violated } => match NewLabel::from_mutant(mutant, &request) {
                Some(label) if label.may_explain(&violated, trace.as_ref()) => {
                    self.classify_with_new_label(&label, &request, violation_name(&violated), cx).await?
                }
                // The Java tools end at the first violation. Behind a deadlock, a property may be violated, too, and only then does
                // the mutant count in the score.
                _ if (self.thorough || violated.kind == ViolationKind::Deadlock) && checker == Checker::Embedded => {
                    let (states, depth) = (statistics.distinct.unwrap_or(0), statistics.depth.unwrap_or(0));
                    let limits = (states * STATES_FACTOR + MORE_STATES, depth * DEPTH_FACTOR + MORE_DEPTH);
                    self.with_all_killers(Classification::killed(violated, trace), &request, limits, cx).await?
                }
                _ => Classification::killed(violated, trace),
            },
            Verdict::Invalid { reason, .. } => Classification::with_reason(Outcome::Invalid, reason),
            Verdict::Inconclusive { reason, timed_out: true } => Classification::with_reason(Outcome::Timeout, reason),
            // The original has no comparison of this kind, or it would not have been decided either.
            Verdict::Inconclusive { reason, .. } => match type_error(&request) {
                Some(error) => Classification::with_reason(Outcome::Invalid, error),
                None => Classification::with_reason(Outcome::Inconclusive, reason),
            },
            Verdict::Holds => self.classify_unviolated(&request, cx).await?,
        };
        Ok(Classification { checker: Some(checker), ..found })
    }

    /// Adds the other properties that are violated, by a run that continues after violations, with limits of states and steps: those
    /// of a mutant without a guard are often infinitely many, and ever larger.
    async fn with_all_killers(
        &self,
        mut killed: Classification,
        request: &CheckRequest,
        (states, depth): (u64, u64),
        cx: &ToolContext<'_>,
    ) -> Result<Classification, ToolError> {
        let check = cx.limits.check.min(self.further_time);
        let mut limits = Limits { check, ..cx.limits.clone() };
        limits.past_violations =
            PastViolationLimits { states: Some(states), depth: Some(depth), ends_after_all: false };
        let cx = ToolContext { limits: &limits, cancel: cx.cancel, progress: cx.progress };
        // The checker cannot continue after a violation with SYMMETRY.
        let cfg = Cfg { symmetry: Vec::new(), ..request.cfg.clone() };
        let request = CheckRequest { spec: request.spec.clone(), cfg_text: cfg.render(), cfg };
        let SeparateVerdicts { violated, rest } = match self.tools.decide_each(&request, &cx).await {
            Ok(verdicts) => verdicts,
            Err(error) if error.is_fatal() => return Err(error),
            Err(error) => return Ok(Classification { is_transient: !error.is_caused_by_input(), ..killed }),
        };
        let verdict = rest.outcome.verdict;
        let last = match &verdict {
            Verdict::Violated { violated } => Some(violation_name(violated)),
            _ => None,
        };
        for name in violated.into_iter().chain(last) {
            if !killed.killed_by.contains(&name) {
                killed.killed_by.push(name);
            }
        }
        // Deadlock and assertions notice mutants, too, and only a finished run decides them.
        let mut properties = request.cfg.invariants.iter().chain(&request.cfg.properties);
        let decides_nothing_else = request.cfg.check_deadlock == Some(false)
            && !["Assert", "assert"].iter().any(|word| request.spec.text.contains(word));
        killed.has_all_killers = verdict == Verdict::Holds
            || (decides_nothing_else && properties.all(|name| killed.killed_by.contains(name)));
        Ok(killed)
    }

    /// The class of a mutant whose violated property reads labels, in a state with the new label: the property could not
    /// list a label that did not exist. The mutant is judged again, first with the new label added next to the old one in
    /// sets of labels, then by the properties that do not read labels.
    async fn classify_with_new_label(
        &self,
        label: &NewLabel,
        request: &CheckRequest,
        mut by: String,
        cx: &ToolContext<'_>,
    ) -> Result<Classification, ToolError> {
        let mut requests = Vec::new();
        if let Some(text) = label.with_label_listed() {
            let spec = SpecText { text, ..request.spec.clone() };
            requests.push(CheckRequest { spec, ..request.clone() });
        }
        let cfg = label.without_label_properties(&request.cfg);
        let checks_any = !cfg.invariants.is_empty() || !cfg.properties.is_empty() || cfg.check_deadlock != Some(false);
        if checks_any {
            requests.push(CheckRequest { spec: request.spec.clone(), cfg_text: cfg.render(), cfg });
        }
        let mut open = None;
        for other in requests {
            let CheckOutcome { verdict, trace, .. } = match self.tools.decide(&other, cx).await {
                Ok(checked) => checked.outcome,
                Err(error) if error.is_fatal() => return Err(error),
                Err(error) => {
                    open = Some((Outcome::Inconclusive, error.to_string()));
                    continue;
                }
            };
            match verdict {
                Verdict::Violated { violated } if label.may_explain(&violated, trace.as_ref()) => {
                    by = violation_name(&violated);
                }
                Verdict::Violated { violated } => return Ok(Classification::killed(violated, trace)),
                // With all properties, and nothing changed except longer lists of labels.
                Verdict::Holds if other.cfg == request.cfg => return self.classify_unviolated(request, cx).await,
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
            Some((outcome, why)) => Classification::with_reason(
                outcome,
                format!("{first}; whether it violates anything else was not decided: {why}"),
            ),
            None => Classification::with_reason(
                Outcome::Inconclusive,
                format!("{first}; it violates nothing that reads no label"),
            ),
        })
    }

    /// The class of a mutant that violates nothing, by inclusion of behaviours both ways.
    async fn classify_unviolated(
        &self,
        request: &CheckRequest,
        cx: &ToolContext<'_>,
    ) -> Result<Classification, ToolError> {
        let undecided_by =
            |why: Undecided| Ok(why.class("every property holds; whether it does anything new was not decided"));
        let undecided = |why: &str| undecided_by(Undecided::new(why));
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
        let ours = ParsedSpec { module, behaviour };
        let inclusion = match Inclusion::new(&subject.cfg, &subject.local_modules, [&ours, theirs]) {
            Ok(inclusion) => inclusion,
            Err(why) => return undecided(&why),
        };
        let other_variables = "the two have different variables";
        if !Inclusion::has_variables_of(&ours, theirs) {
            return undecided(other_variables);
        }
        // First whether the mutant does anything new: that alone shows that a property is missing.
        match self.find_violation(&inclusion.request(&ours, theirs), cx).await? {
            // An additional variable (`pc`, if a label was added) can carry state that the original cannot express.
            Ok(None) if !Inclusion::has_variables_of(theirs, &ours) => return undecided(other_variables),
            Ok(None) => {}
            Ok(Some(NewBehaviour { trace })) => {
                let lost =
                    if self.thorough { self.lost_witnesses(request, cx).await? } else { LostWitnesses::default() };
                return Ok(Classification {
                    // Only for reports, so the quick judgement of a sample does not keep it.
                    trace: trace.filter(|_| self.thorough),
                    ..lost.class(Outcome::Survived)
                });
            }
            Err(why) => return undecided_by(why),
        }
        match self.check_holds(&inclusion.request(theirs, &ours), cx).await? {
            Ok(true) => self.classify_by_fairness(&inclusion, &ours, theirs, cx).await,
            Ok(false) => Ok(self.lost_witnesses(request, cx).await?.class(Outcome::Restricting)),
            Err(why) => undecided_by(why),
        }
    }

    /// The class of a mutant with the same states and steps, by comparing fairness.
    async fn classify_by_fairness(
        &self,
        inclusion: &Inclusion<'_>,
        ours: &ParsedSpec,
        theirs: &ParsedSpec,
        cx: &ToolContext<'_>,
    ) -> Result<Classification, ToolError> {
        let texts = |side: &ParsedSpec| -> Vec<String> {
            let mut all: Vec<String> = side.behaviour.fairness.iter().map(|f| f.normalised.clone()).collect();
            // A conjunction does not depend on the order of its conjuncts.
            all.sort();
            all
        };
        if texts(ours) != texts(theirs) {
            return Ok(Classification { outcome: Some(Outcome::FairnessOnly), ..Classification::default() });
        }
        let by_steps = "the same reachable states and steps, by inclusion both ways";
        if ours.behaviour.fairness.is_empty() {
            return Ok(Classification::with_reason(Outcome::Equivalent, by_steps));
        }
        let undecided = "it has the same reachable states and steps; whether its fairness is the same was not decided";
        let actions: Option<Vec<_>> = ours.behaviour.fairness.iter().map(|f| f.actions.clone()).collect();
        let actions = actions.unwrap_or_default().concat();
        let has_disjunct =
            |side: &ParsedSpec| actions.iter().all(|fair| side.behaviour.has_disjunct(&side.module, fair));
        // `same_actions` compares the actions on the steps of `Next`. That covers all their steps only if they are
        // disjuncts of it.
        if actions.is_empty() || !has_disjunct(ours) || !has_disjunct(theirs) {
            return Ok(Classification::with_reason(Outcome::Inconclusive, undecided));
        }
        // The same text can mean something else if a definition in it differs.
        if let Some(name) = find_differing_binding([ours, theirs], &actions) {
            let why = format!("{undecided}: it is bound to `{name}`, which is not the same");
            return Ok(Classification::with_reason(Outcome::Inconclusive, why));
        }
        Ok(match self.check_holds(&inclusion.same_actions(ours, theirs, &actions), cx).await? {
            Ok(true) => Classification::with_reason(
                Outcome::Equivalent,
                format!("{by_steps}, and the same steps of each fair action"),
            ),
            Ok(false) => Classification { outcome: Some(Outcome::FairnessOnly), ..Classification::default() },
            Err(why) => why.class(undecided),
        })
    }

    /// Whether a check holds; the inner error says why it was not decided.
    async fn check_holds(
        &self,
        request: &CheckRequest,
        cx: &ToolContext<'_>,
    ) -> Result<Result<bool, Undecided>, ToolError> {
        Ok(self.find_violation(request, cx).await?.map(|found| found.is_none()))
    }

    /// A behaviour that violates a check, if there is one; the inner error says why it was not decided.
    async fn find_violation(
        &self,
        request: &CheckRequest,
        cx: &ToolContext<'_>,
    ) -> Result<Result<Option<NewBehaviour>, Undecided>, ToolError> {
        let undecided = match self.tools.decide(request, cx).await {
            Ok(checked) => match checked.outcome.verdict {
                Verdict::Holds => return Ok(Ok(None)),
                Verdict::Violated { .. } => return Ok(Ok(Some(NewBehaviour { trace: checked.outcome.trace }))),
                Verdict::Inconclusive { reason, timed_out: true } => {
                    Undecided { outcome: Outcome::Timeout, ..Undecided::new(reason) }
                }
                Verdict::Invalid { reason, .. } | Verdict::Inconclusive { reason, .. } => Undecided::new(reason),
            },
            Err(error) if error.is_fatal() => return Err(error),
            Err(error) => Undecided { is_transient: !error.is_caused_by_input(), ..Undecided::new(error.to_string()) },
        };
        Ok(Err(undecided))
    }

    /// The witnesses that the mutant does not reach; undecided ones are left out.
    async fn lost_witnesses(&self, request: &CheckRequest, cx: &ToolContext<'_>) -> Result<LostWitnesses, ToolError> {
        let mut lost = LostWitnesses::default();
        let CheckRequest { spec, cfg, .. } = request;
        for witness in &cfg.witnesses {
            let mut name = "TlaforgeWitness".to_owned();
            // A name that the specification does not use.
            while spec.text.contains(&name) {
                name.push('_');
            }
            let text = format!("---- MODULE {name} ----\nEXTENDS {}\n{name}Never == ~({witness})\n====\n", spec.name);
            let mut local_modules = spec.local_modules.clone();
            local_modules.push((spec.name.clone(), spec.text.clone()));
            let cfg = Cfg {
                invariants: vec![format!("{name}Never")],
                properties: Vec::new(),
                witnesses: Vec::new(),
                // With SYMMETRY or VIEW, the checker skips states that it takes for equal, and a witness may
                // distinguish them.
                symmetry: Vec::new(),
                view: None,
                check_deadlock: Some(false),
                ..cfg.clone()
            };
            let spec = SpecText { name, text, local_modules };
            match self.check_holds(&CheckRequest { spec, cfg_text: cfg.render(), cfg }, cx).await? {
                Ok(true) => lost.names.push(witness.clone()),
                Ok(false) => {}
                Err(undecided) => lost.is_transient |= undecided.is_transient,
            }
        }
        Ok(lost)
    }
}

fn violation_name(violated: &Violation) -> String {
    match (violated.kind, &violated.name) {
        (ViolationKind::Assertion, _) => ASSERTION.to_owned(),
        (_, Some(name)) => name.clone(),
        (ViolationKind::Deadlock, None) => DEADLOCK.to_owned(),
        (_, None) => "a property".to_owned(),
    }
}

/// What a module compares that TLC cannot compare.
fn type_error(request: &CheckRequest) -> Option<String> {
    let CheckRequest { spec, cfg_text, .. } = request;
    let local = spec.local_modules.iter().map(|(name, text)| (name.as_str(), text.as_str()));
    let modules: Vec<(&str, &str)> = [(spec.name.as_str(), spec.text.as_str())].into_iter().chain(local).collect();
    find_type_error(&modules, cfg_text).ok().flatten().map(|error| error.message)
}
