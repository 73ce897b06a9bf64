//! What the rules of a policy say of a whole log: a verdict for each, where it was decided, why, and what is still owed.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use super::causal_audit::{self, CausalAudit, Misfit, is_of_call};
use super::known_labels::KnownLabels;
use super::labelling::Labelling;
use super::log::{CALLS, Found, KeptTexts, LogError, Manner, Mapping, Plan, States, Step, scan_lines, scan_list};
use super::policy::{PolicyRule, Scope};
use super::propositions::MODEL;
use super::trac::{Decision, Monitor, MonitorError, Reset};
use crate::temporal::{
    Atom, AtomId, DecisionPoint, FinalVerdict, Formula, Formulas, Labels, Letter, Progression, Reading, Schema,
    UnsupportedError, check_trace,
};

/// What became of a rule at the end of a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It holds, however the log had gone on.
    Satisfied,
    /// It does not, however the log had gone on.
    Violated,
    /// It holds as the log ends here; more could have violated it.
    PresumablySatisfied,
    /// It does not hold as the log ends here; more could have satisfied it.
    PresumablyViolated,
}

impl Verdict {
    /// Whether the log as it is keeps the rule.
    pub fn holds(self) -> bool {
        matches!(self, Self::Satisfied | Self::PresumablySatisfied)
    }

    /// As it is written in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Satisfied => "satisfied",
            Self::Violated => "violated",
            Self::PresumablySatisfied => "presumably_satisfied",
            Self::PresumablyViolated => "presumably_violated",
        }
    }
}

/// What an audit found of one rule. Positions count the states from 0.
#[derive(Debug, Clone, PartialEq)]
pub struct RuleFinding {
    /// The rule.
    pub rule: PolicyRule,
    /// Its formula as text.
    pub formula: String,
    /// The verdict.
    pub verdict: Verdict,
    /// The state whose record decided a violation; the last where the end of the log did.
    pub culprit: Option<u64>,
    /// Positions from which the rest of the log breaks the formula; of a causal rule, events at which it is false. The
    /// first of them, at most [`FAILING_SHOWN`].
    pub failing: Vec<u64>,
    /// How many there are in all.
    pub failing_count: u64,
    /// Of a causal rule: at how many events it was asked.
    pub asked: Option<u64>,
    /// How often the rule was violated: once, or with a reset after each verdict as often as it was.
    pub violations: u64,
    /// Why, in sentences.
    pub witness: Vec<String>,
    /// What has to be known of the rest.
    pub note: Option<String>,
    /// What it asks for and no state of the log has.
    pub warnings: Vec<String>,
    /// What would have to follow, in words, where the log ends before it.
    pub owed: Option<String>,
    /// The propositions that it rests on and a model labelled: a verdict that rests on any is untrusted.
    pub untrusted: Vec<Arc<str>>,
}

/// How many failing positions a finding holds.
pub const FAILING_SHOWN: usize = 100;

/// What an audit found.
#[derive(Debug, Clone)]
pub struct Audited {
    /// For each rule, in the policy's order; none if the log has no state.
    pub findings: Vec<RuleFinding>,
    /// The log.
    pub found: Found,
    /// What a person should know of the log besides.
    pub warnings: Vec<String>,
    /// How the labels came about that a model gave, where rules speak of any.
    pub labelling: Option<Labelling>,
}

impl Audited {
    /// What a person should know of the log and of what rules ask of it, each once.
    pub fn all_warnings(&self) -> Vec<&str> {
        let mut all: Vec<&str> = self.warnings.iter().map(String::as_str).collect();
        for warning in self.findings.iter().flat_map(|finding| &finding.warnings) {
            if !all.contains(&warning.as_str()) {
                all.push(warning);
            }
        }
        all
    }
}

/// Why an audit cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum AuditError {
    /// The log.
    #[error(transparent)]
    Log(#[from] LogError),
    /// A rule does not fit.
    #[error("rule `{rule}`: {why}")]
    Rule {
        /// Its name.
        rule: String,
        /// Why.
        why: UnsupportedError,
    },
    /// A causal rule or an event does not fit.
    #[error(transparent)]
    Causal(#[from] Misfit),
}

/// Rules that are ready for a log of a certain shape.
#[derive(Debug, Clone)]
pub struct Auditor {
    formulas: Formulas,
    rules: Vec<PolicyRule>,
    mapping: Mapping,
    plan: Plan,
    traced: Vec<Formula>,
}

impl Auditor {
    /// Rules, and where the log keeps what they speak of. Refused: a rule that speaks of what a model has to judge.
    pub fn new(formulas: Formulas, rules: Vec<PolicyRule>, mapping: Mapping) -> Result<Self, AuditError> {
        Self::of(formulas, rules, mapping, None)
    }

    /// The same, where rules may speak of what a model has judged. A step that it did not label has none of the
    /// propositions.
    pub fn labelled(
        formulas: Formulas,
        rules: Vec<PolicyRule>,
        mapping: Mapping,
        known: KnownLabels,
    ) -> Result<Self, AuditError> {
        Self::of(formulas, rules, mapping, Some(known))
    }

    fn of(
        formulas: Formulas,
        rules: Vec<PolicyRule>,
        mapping: Mapping,
        known: Option<KnownLabels>,
    ) -> Result<Self, AuditError> {
        let schema = Schema {
            // The fields of calls are no matter of what records have.
            fields: mapping
                .fields
                .as_ref()
                .map(|fields| fields.iter().cloned().chain(fields_of_calls(&formulas)).collect()),
            labels: mapping.labels().chain(known.iter().map(|_| MODEL)).map(str::to_owned).collect(),
            calls: CALLS.iter().map(|name| (*name).to_owned()).collect(),
            lifelines: None,
        };
        let mut wanted = Vec::new();
        let mut traced = Vec::new();
        for rule in &rules {
            let fails = |why| AuditError::Rule { rule: rule.id.clone(), why };
            let (reading, also) = match &rule.scope {
                Scope::Trace(_) => (Reading::Finite, None),
                Scope::Causal { when, .. } => (Reading::Causal, *when),
            };
            for formula in std::iter::once(rule.formula).chain(also) {
                formulas.check_reading(formula, reading).map_err(fails)?;
                if reading == Reading::Causal {
                    causal_audit::sees_events_whole(&formulas, formula, &rule.id, &mapping)?;
                }
                formulas.check_schema(formula, &schema).map_err(fails)?;
                wanted.push(formula);
            }
            if reading == Reading::Finite {
                traced.push(rule.formula);
            }
        }
        let besides: BTreeSet<&str> = [&mapping.lifeline, &mapping.event, &mapping.message, &mapping.time]
            .into_iter()
            .flatten()
            .map(String::as_str)
            .chain(["name"])
            .collect();
        let clock = mapping.clock_fields();
        let clock = clock.iter().map(String::as_str);
        let causal = rules.iter().any(|rule| matches!(rule.scope, Scope::Causal { .. }));
        let besides: Vec<&str> = besides.into_iter().chain(clock.filter(|_| causal)).collect();
        let plan = Plan::new(&mapping, &formulas, &wanted, &besides).with_labels(known.unwrap_or_default());
        let auditor = Self { formulas, rules, mapping, plan, traced };
        if !auditor.asked_kinds().contains("tool_call") {
            return Ok(auditor);
        }
        Ok(Self { plan: auditor.plan.clone().noting_missed_calls(&auditor.mapping), ..auditor })
    }

    /// The same, for a log beside which texts are kept.
    #[must_use]
    pub fn with_texts(self, kept: KeptTexts) -> Self {
        Self { plan: self.plan.with_texts(kept), ..self }
    }

    /// The same for a run that goes on: a field that a list leads to is undefined, and does not end the run.
    #[must_use]
    pub fn tolerating_lists(self) -> Self {
        Self { plan: self.plan.tolerating_lists(), ..self }
    }

    /// The same, with these labels of the steps.
    #[must_use]
    pub fn with_labels(self, known: KnownLabels) -> Self {
        Self { plan: self.plan.with_labels(known), ..self }
    }

    /// What is read of each record.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The rules' formulas.
    pub fn formulas(&self) -> &Formulas {
        &self.formulas
    }

    /// The rules.
    pub fn rules(&self) -> &[PolicyRule] {
        &self.rules
    }

    /// Audits JSON lines.
    pub fn lines(
        &self,
        input: &mut (impl std::io::Read + Send),
        manner: Manner,
        reset: Reset,
    ) -> Result<Audited, AuditError> {
        let mut whole = Whole::new(self, reset)?;
        let events = whole.follows_events();
        let fold = |part: &mut Part, states: &States, line: u64| part.push_record(self, events, states, line);
        let mut failed = Ok(());
        let found = scan_lines(input, &self.plan, manner, fold, |part| {
            if failed.is_ok() {
                failed = whole.append(self, part);
            }
        })?;
        failed?;
        whole.finish(self, found)
    }

    /// Audits a list of messages.
    pub fn list(&self, text: &[u8], reset: Reset) -> Result<Audited, AuditError> {
        let mut whole = Whole::new(self, reset)?;
        let events = whole.follows_events();
        let mut part = Part::default();
        let mut found = scan_list(text, &self.plan, |states, number| part.push_record(self, events, states, number))?;
        found.note_missed_of_list(&self.plan, text);
        whole.append(self, part)?;
        whole.finish(self, found)
    }

    fn finding(&self, rule: &PolicyRule, labels: &Labels) -> Result<RuleFinding, AuditError> {
        let fails = |why| AuditError::Rule { rule: rule.id.clone(), why };
        let check = check_trace(&self.formulas, rule.formula, labels).map_err(fails)?;
        let verdict = match (check.holds(), check.decision) {
            (true, DecisionPoint::ByTheEnd) => Verdict::PresumablySatisfied,
            (false, DecisionPoint::ByTheEnd) => Verdict::PresumablyViolated,
            (true, _) => Verdict::Satisfied,
            (false, _) => Verdict::Violated,
        };
        let witness: Vec<String> = check.explanation.iter().map(|e| e.text(&self.formulas)).collect();
        let inexact =
            "it may have been decided earlier: with past operators, or very many atoms, that is not told exactly";
        Ok(RuleFinding {
            formula: self.formulas.text(rule.formula),
            verdict,
            culprit: check
                .violation_position()
                .and_then(|at| at.min(labels.len()).checked_sub(usize::from(at >= labels.len())))
                .map(|at| at as u64),
            failing: check.failing_positions().take(FAILING_SHOWN).map(|at| at as u64).collect(),
            failing_count: check.failing_count() as u64,
            asked: None,
            violations: u64::from(!check.holds()),
            witness,
            note: (!check.holds() && !check.decision_is_exact).then(|| inexact.to_owned()),
            warnings: Vec::new(),
            owed: if verdict == Verdict::PresumablyViolated { self.owed(rule.formula, labels) } else { None },
            untrusted: rule.rests_on(&self.formulas),
            rule: rule.clone(),
        })
    }

    /// Whether a rule uses labels of a kind.
    pub fn asks_for(&self, kind: &str) -> bool {
        let label = if kind == "text" { "text_contains" } else { kind };
        self.formulas.atoms().any(|(_, atom)| matches!(atom, Atom::Label { kind, .. } if **kind == *label))
    }

    /// Where the records keep what.
    pub fn mapping(&self) -> &Mapping {
        &self.mapping
    }

    /// The rules about the whole trace, each to be watched step by step.
    pub(super) fn watched(&self, reset: Reset) -> Result<Monitor, AuditError> {
        let mut monitor = Monitor::new(reset);
        for rule in self.rules.iter().filter(|rule| matches!(rule.scope, Scope::Trace(_))) {
            monitor.add(&rule.id, &self.formulas, rule.formula).map_err(|error| match error {
                MonitorError::Refused { name, why } => AuditError::Rule { rule: name, why },
                MonitorError::Taken(_) => unreachable!("a policy's names are unique"),
            })?;
        }
        Ok(monitor)
    }

    /// What is owed after the whole log, in words; nothing where progression does not read the formula.
    fn owed(&self, formula: Formula, labels: &Labels) -> Option<String> {
        let mut progression = Progression::new();
        let mut owed = progression.begin(&self.formulas, formula).ok()?;
        let ours: HashMap<&Atom, AtomId> = self.formulas.atoms().map(|(id, atom)| (atom, id)).collect();
        let atoms: Vec<(AtomId, AtomId)> =
            progression.formulas().atoms().filter_map(|(id, atom)| Some((id, *ours.get(atom)?))).collect();
        let mut letter = Letter::new();
        for position in 0..labels.len() {
            for (theirs, ours) in &atoms {
                letter.set(*theirs, labels.holds_at(*ours, position).unwrap_or(false));
            }
            owed = progression.step(owed, &letter);
            if progression.is_over_capacity() {
                progression.retain([&mut owed]);
            }
        }
        Some(progression.in_words(owed))
    }
}

/// The fields of calls that formulas speak of.
fn fields_of_calls(formulas: &Formulas) -> impl Iterator<Item = String> {
    let atoms = formulas.atoms().flat_map(|(_, atom)| atom.terms());
    let fields = atoms.flat_map(|term| term.fields()).map(|(_, name)| name.to_owned());
    fields.filter(|name| is_of_call(name))
}

/// States of one part of a log.
#[derive(Default)]
struct Part {
    labels: Option<Labels>,
    /// States to be looked at one after the other.
    events: Vec<Watched>,
    first_time: Option<(String, u64)>,
    last_time: Option<String>,
    backwards: Option<u64>,
}

/// A state, and the event whose first state it is.
struct Watched {
    step: Step,
    line: u64,
    event: StateEvent,
}

/// The event that a state begins: causal rules see an event as one state, however many tools it calls.
enum StateEvent {
    This,
    Whole(Box<Step>),
    Earlier,
}

impl Part {
    fn push_record(&mut self, auditor: &Auditor, events: bool, states: &States, line: u64) {
        for (number, step) in states.each().iter().enumerate() {
            self.push(auditor, step, line);
            if events {
                let event = match number {
                    0 if states.is_divided() => StateEvent::Whole(Box::new(states.whole().clone())),
                    0 => StateEvent::This,
                    _ => StateEvent::Earlier,
                };
                self.events.push(Watched { step: step.clone(), line, event });
            }
        }
    }

    fn push(&mut self, auditor: &Auditor, step: &Step, line: u64) {
        let labels = self.labels.get_or_insert_with(|| Labels::new(&auditor.formulas, &auditor.traced));
        labels.push(&auditor.formulas, step);
        if let Some(time) = auditor.mapping.time.as_deref().and_then(|name| step.text_of(name)) {
            if self.last_time.as_deref().is_some_and(|before| earlier(&time, before)) {
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

/// Whether one time is before another, as numbers or as RFC 3339; of other texts nobody knows.
fn earlier(time: &str, before: &str) -> bool {
    if in_order(time, before) {
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

/// Whether two times of one form, in UTC, are in the order of their texts, which is the usual case and told without
/// reading them.
fn in_order(time: &str, before: &str) -> bool {
    let alike = |(a, b): (u8, u8)| a == b || (a.is_ascii_digit() && b.is_ascii_digit());
    time.ends_with('Z') && time.len() == before.len() && time >= before && time.bytes().zip(before.bytes()).all(alike)
}

/// All that has been read.
struct Whole {
    labels: Labels,
    causal: Option<CausalAudit>,
    counted: Option<Counted>,
    states: u64,
    last_time: Option<String>,
    backwards: Option<u64>,
}

impl Whole {
    fn new(auditor: &Auditor, reset: Reset) -> Result<Self, AuditError> {
        let counted = match reset {
            Reset::AfterVerdict => Some(Counted { monitor: auditor.watched(reset)?, violated_at: HashMap::new() }),
            Reset::Never => None,
        };
        Ok(Self {
            labels: Labels::new(&auditor.formulas, &auditor.traced),
            causal: CausalAudit::new(&auditor.formulas, &auditor.rules, &auditor.mapping)?,
            counted,
            states: 0,
            last_time: None,
            backwards: None,
        })
    }

    fn follows_events(&self) -> bool {
        self.causal.is_some() || self.counted.is_some()
    }

    fn append(&mut self, auditor: &Auditor, part: Part) -> Result<(), AuditError> {
        if let (Some((first, line)), Some(before)) = (&part.first_time, &self.last_time)
            && earlier(first, before)
        {
            self.backwards = self.backwards.or(Some(*line));
        }
        self.backwards = self.backwards.or(part.backwards);
        self.last_time = part.last_time.or(self.last_time.take());
        for (state, Watched { step, line, event }) in (self.states..).zip(&part.events) {
            let event = match event {
                StateEvent::This => Some(step),
                StateEvent::Whole(whole) => Some(&**whole),
                StateEvent::Earlier => None,
            };
            if let (Some(causal), Some(event)) = (&mut self.causal, event) {
                causal.event(&auditor.mapping, event, state, *line)?;
            }
            if let Some(counted) = &mut self.counted {
                counted.step(step, state);
            }
        }
        if let Some(labels) = &part.labels {
            self.states += labels.len() as u64;
            self.labels.append(labels);
        }
        Ok(())
    }

    fn finish(mut self, auditor: &Auditor, found: Found) -> Result<Audited, AuditError> {
        // Without a state there is nothing to judge.
        let rules: &[PolicyRule] = if self.states > 0 { &auditor.rules } else { &[] };
        let mut causal = match self.causal.take().filter(|_| self.states > 0) {
            Some(causal) => causal.findings(&auditor.formulas)?,
            None => HashMap::new(),
        };
        let mut findings = Vec::new();
        for (number, rule) in rules.iter().enumerate() {
            findings.push(match causal.remove(&number) {
                Some(finding) => finding,
                None => match &mut self.counted {
                    Some(counted) => counted.finding(auditor, rule),
                    None => auditor.finding(rule, &self.labels)?,
                },
            });
        }
        let mut warnings = Vec::new();
        if let Some(line) = found.torn {
            warnings.push(format!("line {line} was never finished and is left out"));
        }
        for (line, message) in &found.invalid {
            warnings.push(format!("line {line}: {message}; left out"));
        }
        if found.invalid_count > found.invalid.len() as u64 {
            warnings.push(format!(
                "{} more lines are no records and are left out",
                found.invalid_count - found.invalid.len() as u64
            ));
        }
        if let Some(line) = self.backwards {
            let place = if found.places.listed() { "message" } else { "line" };
            warnings.push(format!("{place} {line}: time goes backwards; the order of the {place}s is what counts"));
        }
        if self.states > 0 {
            for (finding, unseen) in findings.iter_mut().zip(auditor.unseen_by_rule(&found)) {
                finding.warnings = unseen;
            }
        }
        Ok(Audited { findings, found, warnings, labelling: None })
    }
}

/// Rules that begin anew after each verdict.
struct Counted {
    monitor: Monitor,
    violated_at: HashMap<usize, Vec<u64>>,
}

impl Counted {
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
        let number = self.monitor.rules().iter().position(|r| r.name() == rule.id).expect("every rule is watched");
        let state = &self.monitor.rules()[number];
        let (violations, satisfactions) = (state.violations(), state.satisfactions());
        let failing = self.violated_at.remove(&number).unwrap_or_default();
        let ending = self.monitor.ending(&rule.id).expect("every rule is watched");
        // Nothing is open: the last verdict was that it is satisfied, and it has just begun anew.
        let at_rest = violations == 0 && satisfactions > 0 && state.is_fresh();
        let verdict = match (violations, ending) {
            _ if at_rest => Verdict::Satisfied,
            (1.., _) | (_, FinalVerdict::Violated) => Verdict::Violated,
            (0, FinalVerdict::PresumablyViolated) => Verdict::PresumablyViolated,
            (0, FinalVerdict::PresumablySatisfied) => Verdict::PresumablySatisfied,
            (0, FinalVerdict::Satisfied) => Verdict::Satisfied,
        };
        let times = |n: u64, what: &str| match n {
            1 => format!("{what} once"),
            n => format!("{what} {n} times"),
        };
        let counted = format!(
            "it was {} and {}, begun anew each time",
            times(violations, "violated"),
            times(satisfactions, "satisfied")
        );
        RuleFinding {
            formula: auditor.formulas.text(rule.formula),
            verdict,
            culprit: failing.first().copied(),
            failing_count: violations,
            failing,
            asked: None,
            violations,
            witness: if violations + satisfactions > 0 { vec![counted] } else { Vec::new() },
            note: None,
            warnings: Vec::new(),
            owed: if ending.holds() || at_rest { None } else { self.monitor.owed_in_words(&rule.id) },
            untrusted: rule.rests_on(&auditor.formulas),
            rule: rule.clone(),
        }
    }
}
