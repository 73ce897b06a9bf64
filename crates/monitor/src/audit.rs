//! Audit of a whole log: for each rule of a policy the verdict, the state that decided it, the reason, and the
//! residual.

use std::collections::{BTreeSet, HashMap};

use super::audit_report::AuditReport;
use super::causal_audit::{CausalAudit, CausalAuditError, check_reads_whole_events, is_call_field};
use super::finding::{FAILING_SHOWN, RuleFinding, Verdict};
use super::known_labels::KnownLabels;
use super::log::{
    BUILTIN_PREDICATES, LogError, LogSummary, Mapping, OtherCalls, Plan, ScanOptions, Shape, States, Step, TextStore,
    document_lines, scan_lines, scan_records,
};
use super::policy::{PolicyRule, Scope};
use super::propositions::MODEL;
use super::rule_inputs::{MissingInputs, kinds_read, missing_inputs};
use super::timeline::Timelines;
use super::trac::{Decision, Monitor, MonitorError, Reset};
use tlaforge_temporal::{
    Atom, AtomId, DecisionPoint, FinalVerdict, Formula, Formulas, Labels, Letter, Progression, Reading, Schema,
    UnsupportedError, check_trace,
};

/// Why an audit is not possible.
#[derive(Debug, thiserror::Error)]
pub enum AuditError {
    #[error(transparent)]
    Log(#[from] LogError),
    /// A rule cannot be evaluated on this log.
    #[error("rule `{rule}`: {why}")]
    Rule { rule: String, why: UnsupportedError },
    /// A causal rule cannot be evaluated on this log, or an event is invalid.
    #[error(transparent)]
    Causal(#[from] CausalAuditError),
}

/// Rules that are compiled for logs with a certain mapping.
#[derive(Debug, Clone)]
pub struct Auditor {
    formulas: Formulas,
    rules: Vec<PolicyRule>,
    mapping: Mapping,
    plan: Plan,
    /// The formulas of the rules about the whole trace.
    trace_formulas: Vec<Formula>,
    with_timelines: bool,
}

impl Auditor {
    /// Compiles rules. A rule with a `model:…` atom is refused.
    pub fn new(formulas: Formulas, rules: Vec<PolicyRule>, mapping: Mapping) -> Result<Self, AuditError> {
        Self::compile(formulas, rules, mapping, None)
    }

    /// Compiles rules that may have `model:…` atoms. These atoms are false at a step without known labels.
    pub fn new_with_labels(
        formulas: Formulas,
        rules: Vec<PolicyRule>,
        mapping: Mapping,
        known: KnownLabels,
    ) -> Result<Self, AuditError> {
        Self::compile(formulas, rules, mapping, Some(known))
    }

    fn compile(
        formulas: Formulas,
        rules: Vec<PolicyRule>,
        mapping: Mapping,
        known: Option<KnownLabels>,
    ) -> Result<Self, AuditError> {
        let schema = Schema {
            // Every log has the fields of calls, whatever fields its records have.
            fields: mapping
                .fields
                .as_ref()
                .map(|fields| fields.iter().cloned().chain(call_fields(&formulas)).collect()),
            labels: mapping.label_kinds().chain(known.iter().map(|_| MODEL)).map(str::to_owned).collect(),
            calls: BUILTIN_PREDICATES.iter().map(|name| (*name).to_owned()).collect(),
            lifelines: None,
        };
        let mut read = Vec::new();
        let mut trace_formulas = Vec::new();
        for rule in &rules {
            let fails = |why| AuditError::Rule { rule: rule.id.clone(), why };
            let (reading, when) = match &rule.scope {
                Scope::Trace(_) => (Reading::Finite, None),
                Scope::Causal { when, .. } => (Reading::Causal, *when),
            };
            for formula in std::iter::once(rule.formula).chain(when) {
                formulas.check_reading(formula, reading).map_err(fails)?;
                if reading == Reading::Causal {
                    check_reads_whole_events(&formulas, formula, &rule.id, &mapping)?;
                }
                formulas.check_schema(formula, &schema).map_err(fails)?;
                read.push(formula);
            }
            if reading == Reading::Finite {
                trace_formulas.push(rule.formula);
            }
        }
        let extra_fields: BTreeSet<&str> = [&mapping.lifeline, &mapping.event, &mapping.message, &mapping.time]
            .into_iter()
            .flatten()
            .map(String::as_str)
            .chain(["name"])
            .collect();
        let clock_fields = mapping.clock_fields();
        let clock_fields = clock_fields.iter().map(String::as_str);
        let is_causal = rules.iter().any(|rule| matches!(rule.scope, Scope::Causal { .. }));
        let extra_fields: Vec<&str> = extra_fields.into_iter().chain(clock_fields.filter(|_| is_causal)).collect();
        let plan = Plan::new(&mapping, &formulas, &read, &extra_fields).with_labels(known.unwrap_or_default());
        let uses_calls = kinds_read(&formulas, &rules).contains("tool_call");
        let plan = plan.searching_calls(if uses_calls { treatment_of_other_calls(&mapping) } else { None });
        Ok(Self { formulas, rules, mapping, plan, trace_formulas, with_timelines: false })
    }

    /// Fetches the texts that records name from this store.
    #[must_use]
    pub fn with_text_store(self, text_store: TextStore) -> Self {
        Self { plan: self.plan.with_text_store(text_store), ..self }
    }

    /// Makes a field undefined if a list leads to it. For a run that goes on, an error would end the run.
    #[must_use]
    pub fn tolerating_lists(self) -> Self {
        Self { plan: self.plan.tolerating_lists(), ..self }
    }

    /// Replaces the known labels of steps.
    #[must_use]
    pub fn with_labels(self, known: KnownLabels) -> Self {
        Self { plan: self.plan.with_labels(known), ..self }
    }

    /// Makes the reports of audits say how each rule stood after each state.
    #[must_use]
    pub fn with_timelines(self) -> Self {
        Self { with_timelines: true, ..self }
    }

    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    pub fn formulas(&self) -> &Formulas {
        &self.formulas
    }

    pub fn rules(&self) -> &[PolicyRule] {
        &self.rules
    }

    /// Audits JSON lines.
    pub fn audit_lines(
        &self,
        input: &mut (impl std::io::Read + Send),
        options: ScanOptions,
        reset: Reset,
    ) -> Result<AuditReport, AuditError> {
        let mut audit = RunningAudit::new(self, reset)?;
        let keep_steps = audit.needs_steps();
        let fold = |part: &mut LogPart, states: &States, line: u64| part.push_record(self, keep_steps, states, line);
        let mut appended = Ok(());
        let summary = scan_lines(input, &self.plan, options, fold, |part| {
            if appended.is_ok() {
                appended = audit.append(self, part);
            }
        })?;
        appended?;
        audit.finish(self, summary)
    }

    /// Audits a document, such as a list of messages.
    pub fn audit_list(&self, text: &[u8], reset: Reset) -> Result<AuditReport, AuditError> {
        self.audit_records(&document_lines(text)?, reset)
    }

    /// Audits the records of a document, which are JSON lines already.
    pub fn audit_records(&self, lines: &[u8], reset: Reset) -> Result<AuditReport, AuditError> {
        let mut audit = RunningAudit::new(self, reset)?;
        let keep_steps = audit.needs_steps();
        let mut part = LogPart::default();
        let summary =
            scan_records(lines, &self.plan, |states, number| part.push_record(self, keep_steps, states, number))?;
        audit.append(self, part)?;
        audit.finish(self, summary)
    }

    /// Evaluates a rule about the whole trace.
    fn finding(&self, rule: &PolicyRule, labels: &Labels) -> Result<RuleFinding, AuditError> {
        let fails = |why| AuditError::Rule { rule: rule.id.clone(), why };
        let check = check_trace(&self.formulas, rule.formula, labels).map_err(fails)?;
        let verdict = match (check.holds(), check.decision) {
            (true, DecisionPoint::ByTheEnd) => Verdict::PresumablySatisfied,
            (false, DecisionPoint::ByTheEnd) => Verdict::PresumablyViolated,
            (true, _) => Verdict::Satisfied,
            (false, _) => Verdict::Violated,
        };
        let reasons = check.explanation.iter().flat_map(|explanation| &explanation.reasons);
        let explained_at = reasons.filter_map(|reason| reason.fact.position()).map(|at| at as u64).collect();
        let explanation: Vec<String> = check.explanation.iter().map(|e| e.text(&self.formulas)).collect();
        let inexact = "it may have been decided earlier: with past operators, or very many atoms, the deciding state is not \
                       computed exactly";
        Ok(RuleFinding {
            formula: self.formulas.text(rule.formula),
            verdict,
            decided_at: check
                .violation_position()
                .and_then(|at| at.min(labels.len()).checked_sub(usize::from(at >= labels.len())))
                .map(|at| at as u64),
            failing: check.failing_positions().take(FAILING_SHOWN).map(|at| at as u64).collect(),
            failing_count: check.failing_count() as u64,
            evaluated: None,
            evaluated_at: Vec::new(),
            when: None,
            violations: u64::from(!check.holds()),
            explanation,
            explained_at,
            note: (!check.holds() && !check.decision_is_exact).then(|| inexact.to_owned()),
            warnings: Vec::new(),
            missing_fields: Vec::new(),
            residual: if verdict == Verdict::PresumablyViolated { self.residual(rule.formula, labels) } else { None },
            no_verdict: false,
            untrusted: rule.model_propositions(&self.formulas),
            rule: rule.clone(),
        })
    }

    /// Whether a rule uses `tool_call`, `text` or `stop_reason`.
    pub fn uses(&self, kind: &str) -> bool {
        let label = if kind == "text" { "text_contains" } else { kind };
        self.formulas.atoms().any(|(_, atom)| matches!(atom, Atom::Label { kind, .. } if **kind == *label))
    }

    pub fn mapping(&self) -> &Mapping {
        &self.mapping
    }

    /// What each rule reads and no state of the log has, in the order of the rules.
    pub(super) fn missing_inputs(&self, summary: &LogSummary) -> Vec<MissingInputs> {
        let missing = |rule| missing_inputs(&self.formulas, rule, &self.mapping, &self.plan, summary);
        self.rules.iter().map(missing).collect()
    }

    /// Which of `tool_call`, `text` and `stop_reason` the rules read.
    pub fn kinds_read(&self) -> BTreeSet<&'static str> {
        kinds_read(&self.formulas, &self.rules)
    }

    /// Whether the rule with this id reads calls.
    pub fn reads_calls(&self, rule: &str) -> bool {
        let rule = self.rules.iter().find(|other| other.id == rule);
        rule.is_some_and(|rule| kinds_read(&self.formulas, std::slice::from_ref(rule)).contains("tool_call"))
    }

    /// A monitor of the rules about the whole trace.
    pub(super) fn monitor(&self, reset: Reset) -> Result<Monitor, AuditError> {
        let mut monitor = Monitor::new(reset);
        for rule in self.rules.iter().filter(|rule| matches!(rule.scope, Scope::Trace(_))) {
            monitor.add(&rule.id, &self.formulas, rule.formula).map_err(|error| match error {
                MonitorError::Refused { name, why } => AuditError::Rule { rule: name, why },
                MonitorError::DuplicateName(_) => unreachable!("a policy's names are unique"),
            })?;
        }
        Ok(monitor)
    }

    /// The residual after the whole log, in words; `None` if the formula has operators that progression does not support.
    fn residual(&self, formula: Formula, labels: &Labels) -> Option<String> {
        let mut progression = Progression::new();
        let mut residual = progression.begin(&self.formulas, formula).ok()?;
        // Progression has its own arena: map its atoms to those of `labels`.
        let ours: HashMap<&Atom, AtomId> = self.formulas.atoms().map(|(id, atom)| (atom, id)).collect();
        let atoms: Vec<(AtomId, AtomId)> =
            progression.formulas().atoms().filter_map(|(id, atom)| Some((id, *ours.get(atom)?))).collect();
        let mut letter = Letter::new();
        for position in 0..labels.len() {
            for (theirs, ours) in &atoms {
                letter.set(*theirs, labels.holds_at(*ours, position).unwrap_or(false));
            }
            residual = progression.step(residual, &letter);
            if progression.is_over_capacity() {
                progression.retain([&mut residual]);
            }
        }
        Some(progression.in_words(residual))
    }
}

/// How to treat calls outside of the places that the shape has for them. `None` for a journal, which has fields of its own,
/// and if the user has set the paths of calls, because then calls elsewhere are left out on purpose.
fn treatment_of_other_calls(mapping: &Mapping) -> Option<OtherCalls> {
    let shape = mapping.shape.filter(|shape| *shape != Shape::Journal)?;
    let defaults = Mapping::default().with_shape_defaults(shape);
    let is_default =
        mapping.tool_call == defaults.tool_call && mapping.only == defaults.only && mapping.values == defaults.values;
    is_default.then_some(mapping.other_calls)
}

/// The fields of calls that formulas read.
fn call_fields(formulas: &Formulas) -> impl Iterator<Item = String> {
    let atoms = formulas.atoms().flat_map(|(_, atom)| atom.terms());
    let fields = atoms.flat_map(|term| term.fields()).map(|(_, name)| name.to_owned());
    fields.filter(|name| is_call_field(name))
}

/// The states of a part of a log that one thread has read.
#[derive(Default)]
struct LogPart {
    labels: Option<Labels>,
    /// States that are evaluated one after the other, once the parts are in order.
    states: Vec<KeptState>,
    /// The first time in this part, and its line.
    first_time: Option<(String, u64)>,
    last_time: Option<String>,
    /// The first line whose time is before that of the line before.
    backwards: Option<u64>,
}

/// A state, and the event that it begins.
struct KeptState {
    step: Step,
    line: u64,
    event: StateEvent,
}

/// The event that a state begins: for causal rules an event is one state, however many tools it calls.
enum StateEvent {
    /// The state is the whole event.
    Same,
    /// The state is the first of several; this is the whole event.
    First(Box<Step>),
    /// The event began at an earlier state.
    Earlier,
}

impl LogPart {
    fn push_record(&mut self, auditor: &Auditor, keep_steps: bool, states: &States, line: u64) {
        for (number, step) in states.each().iter().enumerate() {
            self.push(auditor, step, line);
            if keep_steps {
                let event = match number {
                    0 if states.is_divided() => StateEvent::First(Box::new(states.whole().clone())),
                    0 => StateEvent::Same,
                    _ => StateEvent::Earlier,
                };
                self.states.push(KeptState { step: step.clone(), line, event });
            }
        }
    }

    fn push(&mut self, auditor: &Auditor, step: &Step, line: u64) {
        let labels = self.labels.get_or_insert_with(|| Labels::new(&auditor.formulas, &auditor.trace_formulas));
        labels.push(&auditor.formulas, step);
        if let Some(time) = auditor.mapping.time.as_deref().and_then(|name| step.text_of(name)) {
            if self.last_time.as_deref().is_some_and(|before| is_earlier(&time, before)) {
                self.backwards = self.backwards.or(Some(line));
            }
            match &mut self.last_time {
                Some(last) => time.as_ref().clone_into(last),
                None => {
                    self.first_time = Some((time.clone().into_owned(), line));
                    self.last_time = Some(time.into_owned());
                }
            }
        }
    }
}

/// Whether one time is before another, as numbers or in RFC 3339; false for any other text.
fn is_earlier(time: &str, before: &str) -> bool {
    if is_ordered_text(time, before) {
        return false;
    }
    if let (Ok(time), Ok(before)) = (time.parse::<f64>(), before.parse::<f64>()) {
        return time < before;
    }
    match (time.parse::<jiff::Timestamp>(), before.parse::<jiff::Timestamp>()) {
        (Ok(time), Ok(before)) => time < before,
        _ => false,
    }
}

/// Whether two times in UTC have the same format and are in order as texts. This is the usual case, and needs no parsing.
fn is_ordered_text(time: &str, before: &str) -> bool {
    let same_format = |(a, b): (u8, u8)| a == b || (a.is_ascii_digit() && b.is_ascii_digit());
    time.ends_with('Z')
        && time.len() == before.len()
        && time >= before
        && time.bytes().zip(before.bytes()).all(same_format)
}

/// An audit of the parts of a log, in order.
struct RunningAudit {
    labels: Labels,
    causal: Option<CausalAudit>,
    resetting: Option<ResettingAudit>,
    timelines: Option<Timelines>,
    states: u64,
    last_time: Option<String>,
    backwards: Option<u64>,
}

impl RunningAudit {
    fn new(auditor: &Auditor, reset: Reset) -> Result<Self, AuditError> {
        let resetting = match reset {
            Reset::AfterVerdict => {
                Some(ResettingAudit { monitor: auditor.monitor(reset)?, violated_at: HashMap::new() })
            }
            Reset::Never => None,
        };
        Ok(Self {
            labels: Labels::new(&auditor.formulas, &auditor.trace_formulas),
            causal: CausalAudit::new(&auditor.formulas, &auditor.rules, &auditor.mapping)?,
            resetting,
            timelines: auditor.with_timelines.then(|| Timelines::new(&auditor.formulas, &auditor.rules, reset)),
            states: 0,
            last_time: None,
            backwards: None,
        })
    }

    /// Whether steps are evaluated one after the other, so that parts have to keep them.
    fn needs_steps(&self) -> bool {
        self.causal.is_some() || self.resetting.is_some() || self.timelines.is_some()
    }

    fn append(&mut self, auditor: &Auditor, part: LogPart) -> Result<(), AuditError> {
        if let (Some((first, line)), Some(before)) = (&part.first_time, &self.last_time)
            && is_earlier(first, before)
        {
            self.backwards = self.backwards.or(Some(*line));
        }
        self.backwards = self.backwards.or(part.backwards);
        self.last_time = part.last_time.or(self.last_time.take());
        for (state, KeptState { step, line, event }) in (self.states..).zip(&part.states) {
            let event = match event {
                StateEvent::Same => Some(step),
                StateEvent::First(whole) => Some(&**whole),
                StateEvent::Earlier => None,
            };
            if let (Some(causal), Some(event)) = (&mut self.causal, event) {
                causal.add_event(&auditor.mapping, event, state, *line)?;
            }
            if let Some(resetting) = &mut self.resetting {
                resetting.step(step, state);
            }
            if let Some(timelines) = &mut self.timelines {
                timelines.step(step, state);
            }
        }
        if let Some(labels) = &part.labels {
            self.states += labels.len() as u64;
            self.labels.append(labels);
        }
        Ok(())
    }

    fn finish(mut self, auditor: &Auditor, log: LogSummary) -> Result<AuditReport, AuditError> {
        // A log without states has no verdicts.
        let rules: &[PolicyRule] = if self.states > 0 { &auditor.rules } else { &[] };
        let mut causal = match self.causal.take().filter(|_| self.states > 0) {
            Some(causal) => causal.findings(&auditor.formulas)?,
            None => HashMap::new(),
        };
        let mut findings = Vec::new();
        for (number, rule) in rules.iter().enumerate() {
            findings.push(match causal.remove(&number) {
                Some(finding) => finding,
                None => match &mut self.resetting {
                    Some(resetting) => resetting.finding(auditor, rule),
                    None => auditor.finding(rule, &self.labels)?,
                },
            });
        }
        let mut warnings = Vec::new();
        if let Some(line) = log.torn {
            warnings.push(format!("line {line} is incomplete and is left out"));
        }
        for (line, message) in &log.invalid {
            warnings.push(format!("line {line}: {message}; left out"));
        }
        let not_shown = log.invalid_count - log.invalid.len() as u64;
        if not_shown > 0 {
            warnings.push(format!("{not_shown} more lines are not records and are left out"));
        }
        let place = if log.places.is_list() { "message" } else { "line" };
        if log.cut_off_calls > 0 {
            warnings.push(format!(
                "the log ends within {} {}: its arguments are incomplete",
                log.cut_off_calls,
                if log.cut_off_calls == 1 { "call" } else { "calls" }
            ));
        }
        if let Some(at) = log.conflicting_calls {
            warnings.push(format!("{place} {at}: a call has the identifier of an earlier, different call; both count"));
        }
        if let Some(line) = self.backwards {
            warnings.push(format!("{place} {line}: time goes backwards; the audit uses the order of the {place}s"));
        }
        if self.states > 0 {
            for (finding, missing) in findings.iter_mut().zip(auditor.missing_inputs(&log)) {
                finding.warnings = missing.sentences;
                finding.missing_fields = missing.fields;
            }
        }
        let timelines = self.timelines.take().filter(|_| self.states > 0).map_or_else(Vec::new, Timelines::finish);
        Ok(AuditReport { findings, log, warnings, timelines, labelling: None })
    }
}

/// An audit in which each rule is reset after each verdict.
struct ResettingAudit {
    monitor: Monitor,
    violated_at: HashMap<usize, Vec<u64>>,
}

impl ResettingAudit {
    fn step(&mut self, step: &Step, state: u64) {
        for (number, report) in self.monitor.step_record(step).into_iter().enumerate() {
            if report.decision == Some(Decision::Violated) {
                let at = self.violated_at.entry(number).or_default();
                if at.len() < FAILING_SHOWN {
                    at.push(state);
                }
            }
        }
    }

    fn finding(&mut self, auditor: &Auditor, rule: &PolicyRule) -> RuleFinding {
        let number = self.monitor.rules().iter().position(|r| r.name() == rule.id).expect("every rule is monitored");
        let state = &self.monitor.rules()[number];
        let (violations, satisfactions) = (state.violations(), state.satisfactions());
        let failing = self.violated_at.remove(&number).unwrap_or_default();
        let ending = self.monitor.ending(&rule.id).expect("every rule is monitored");
        // The rule was satisfied at its last verdict and has just been reset, so nothing is open.
        let was_satisfied = violations == 0 && satisfactions > 0 && state.is_fresh();
        let verdict = match (violations, ending) {
            _ if was_satisfied => Verdict::Satisfied,
            (1.., _) | (_, FinalVerdict::Violated) => Verdict::Violated,
            (0, FinalVerdict::PresumablyViolated) => Verdict::PresumablyViolated,
            (0, FinalVerdict::PresumablySatisfied) => Verdict::PresumablySatisfied,
            (0, FinalVerdict::Satisfied) => Verdict::Satisfied,
        };
        let times = |n: u64, verdict: &str| match n {
            1 => format!("{verdict} once"),
            n => format!("{verdict} {n} times"),
        };
        let counted = format!(
            "it was {} and {}, and was reset each time",
            times(violations, "violated"),
            times(satisfactions, "satisfied")
        );
        RuleFinding {
            formula: auditor.formulas.text(rule.formula),
            verdict,
            decided_at: failing.first().copied(),
            failing_count: violations,
            failing,
            evaluated: None,
            evaluated_at: Vec::new(),
            when: None,
            violations,
            explanation: if violations + satisfactions > 0 { vec![counted] } else { Vec::new() },
            explained_at: Vec::new(),
            note: None,
            warnings: Vec::new(),
            missing_fields: Vec::new(),
            residual: if ending.holds() || was_satisfied { None } else { self.monitor.residual_in_words(&rule.id) },
            no_verdict: false,
            untrusted: rule.model_propositions(&auditor.formulas),
            rule: rule.clone(),
        }
    }
}
