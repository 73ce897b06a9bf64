//! A log that is still being written, watched record by record.

use std::sync::Arc;

use super::audit::{AuditError, Auditor, Verdict};
use super::causal_audit::CausalAudit;
use super::log::{Found, KeptTexts, LogError, RecordError, States};
use super::policy::{PolicyRule, Scope};
use super::trac::{Decision, Monitor, Reset, Witness};
use crate::temporal::{FinalVerdict, Formulas, ResidualCost};

/// A verdict that fell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fallen {
    /// The rule.
    pub rule: String,
    /// The verdict.
    pub decision: Decision,
    /// The state that decided it, from 0.
    pub state: u64,
    /// Its line, from 1.
    pub line: u64,
    /// Why, where that is known.
    pub why: Option<String>,
}

/// Rules on their way through a log that grows. A copy goes its own way.
#[derive(Clone)]
pub struct Follower {
    auditor: Arc<Auditor>,
    monitor: Monitor,
    causal: Option<CausalAudit>,
    read: States,
    states: u64,
    found: Found,
}

impl Follower {
    /// Before the first record. Refused: rules with past operators, which progression does not read.
    pub fn new(auditor: Arc<Auditor>) -> Result<Self, AuditError> {
        Ok(Self {
            monitor: auditor.watched(Reset::Never)?,
            causal: CausalAudit::new(auditor.formulas(), auditor.rules(), auditor.mapping())?,
            read: auditor.plan().states(),
            states: 0,
            found: Found::of(auditor.plan()),
            auditor,
        })
    }

    /// What was found of the log so far.
    pub fn found(&self) -> &Found {
        &self.found
    }

    /// What each rule asks for and no state has had so far: the rule's name, and sentences.
    pub fn unseen(&self) -> Vec<(&str, Vec<String>)> {
        let ids = self.auditor.rules().iter().map(|rule| rule.id.as_str());
        ids.zip(self.auditor.unseen_by_rule(&self.found)).collect()
    }

    /// How many states there were.
    pub fn states(&self) -> u64 {
        self.states
    }

    /// The rules.
    pub fn rules(&self) -> &[PolicyRule] {
        self.auditor.rules()
    }

    /// Where the rules' formulas are.
    pub fn formulas(&self) -> &Formulas {
        self.auditor.formulas()
    }

    /// A rule's formula as text.
    pub fn formula(&self, rule: &PolicyRule) -> String {
        self.auditor.formulas().text(rule.formula)
    }

    /// What a rule asks for, in words.
    pub fn means(&self, rule: &PolicyRule) -> String {
        let formulas = self.auditor.formulas();
        match &rule.scope {
            Scope::Trace(_) => formulas.in_words(rule.formula),
            // A guard speaks of a moment and of what came before it, and is told best as it is written.
            Scope::Causal { owner, when } => {
                let at = when.map_or_else(String::new, |when| format!(" where `{}`", formulas.text(when)));
                format!("at each event of {owner}{at}: `{}`", formulas.text(rule.formula))
            }
        }
    }

    /// Of a causal rule that has failed, what was false where it failed first.
    pub fn why(&self, rule: &str) -> Option<String> {
        let mut failures = self.causal.iter().flat_map(CausalAudit::failures);
        failures.find(|(id, ..)| *id == rule)?.2.map(str::to_owned)
    }

    /// Reads the record of a line; the verdicts that fall with it.
    pub fn record(&mut self, json: &[u8], line: u64) -> Result<Vec<Fallen>, AuditError> {
        let is_state = self.auditor.plan().read(json, &mut self.read).map_err(|error| match error {
            RecordError::Json(error) => LogError::Line { line, message: format!("not a JSON record: {error}") },
            RecordError::List(message) => LogError::List { place: format!("line {line}"), message },
            RecordError::Text(message) => LogError::Line { line, message },
        })?;
        self.found.note_missed(self.auditor.plan(), json, is_state, &self.read, line);
        if !is_state {
            return Ok(Vec::new());
        }
        let first = self.states;
        let mut fallen = Vec::new();
        let names: Vec<String> = self.monitor.rules().iter().map(|rule| rule.name().to_owned()).collect();
        self.found.records += 1;
        self.found.note(&self.read, line);
        for step in self.read.each() {
            let state = self.states;
            self.states += 1;
            for (rule, report) in names.iter().zip(self.monitor.step_record(step)) {
                if let Some(decision) = report.decision {
                    let why = report.witness.as_ref().and_then(last_step).filter(|_| decision == Decision::Violated);
                    fallen.push(Fallen { rule: rule.clone(), decision, state, line, why });
                }
            }
        }
        if let Some(causal) = &mut self.causal {
            let before: Vec<u64> = causal.failures().map(|(_, count, _)| count).collect();
            causal.event(self.auditor.mapping(), self.read.whole(), first, line)?;
            for ((rule, count, why), before) in causal.failures().zip(before) {
                if count > before && before == 0 {
                    let (rule, why) = (rule.to_owned(), why.map(str::to_owned));
                    fallen.push(Fallen { rule, decision: Decision::Violated, state: first, line, why });
                }
            }
        }
        Ok(fallen)
    }

    /// How each rule about the trace stands if the log ends here, with what it still owes in words.
    pub fn endings(&mut self) -> Vec<(String, FinalVerdict, Option<String>)> {
        let names: Vec<String> = self.monitor.rules().iter().map(|rule| rule.name().to_owned()).collect();
        let mut endings = Vec::new();
        for name in names {
            let ending = self.monitor.ending(&name).expect("it is watched");
            let owed =
                if ending == FinalVerdict::PresumablyViolated { self.monitor.owed_in_words(&name) } else { None };
            endings.push((name, ending, owed));
        }
        endings
    }

    /// How a rule stands if the log ends here.
    pub fn verdict(&self, rule: &str) -> Verdict {
        match self.monitor.ending(rule) {
            Some(FinalVerdict::Satisfied) => Verdict::Satisfied,
            Some(FinalVerdict::Violated) => Verdict::Violated,
            Some(FinalVerdict::PresumablySatisfied) => Verdict::PresumablySatisfied,
            Some(FinalVerdict::PresumablyViolated) => Verdict::PresumablyViolated,
            None if self.failed().iter().any(|failed| failed == rule) => Verdict::Violated,
            None => Verdict::PresumablySatisfied,
        }
    }

    /// The same, for a log beside which texts are kept.
    #[must_use]
    pub fn with_texts(self, kept: KeptTexts) -> Self {
        Self { auditor: Arc::new((*self.auditor).clone().with_texts(kept)), ..self }
    }

    /// What a rule about the trace still owes, in words.
    pub fn owed(&mut self, rule: &str) -> Option<String> {
        self.monitor.owed_in_words(rule)
    }

    /// What the rules about the trace owe together: how many are violated, and what the others owe at most. Less is
    /// better.
    pub fn debt(&mut self) -> (usize, ResidualCost) {
        self.monitor.debt()
    }

    /// Whether a causal rule was asked at any event; `None` of other rules.
    pub fn was_asked(&self, rule: &str) -> Option<bool> {
        self.causal.iter().find_map(|causal| causal.was_asked(rule))
    }

    /// The causal rules that have failed.
    pub fn failed(&self) -> Vec<String> {
        let failures = self.causal.iter().flat_map(CausalAudit::failures);
        failures.filter(|(_, count, _)| *count > 0).map(|(rule, ..)| rule.to_owned()).collect()
    }
}

/// The step that decided, in words. States count from 0.
fn last_step(witness: &Witness) -> Option<String> {
    let entry = witness.entries.back()?;
    let state = entry.step.saturating_sub(1);
    let held = match entry.labels.as_ref() {
        [] => "nothing that it speaks of".to_owned(),
        all => all.iter().map(|label| format!("`{label}`")).collect::<Vec<_>>().join(", "),
    };
    Some(format!("at state {state}, {held} was true, where `{}` was owed", entry.before))
}
