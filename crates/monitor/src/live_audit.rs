//! Audit of a log that is still being written, record by record.

use std::sync::Arc;

use super::audit::{AuditError, Auditor};
use super::causal_audit::CausalAudit;
use super::finding::Verdict;
use super::log::{LiveLines, LogError, LogSummary, RecordError, States, TextStore};
use super::policy::{PolicyRule, Scope};
use super::trac::{Decision, Explanation, Monitor, Reset};
use tlaforge_temporal::{FinalVerdict, Formulas, ResidualCost};

/// A verdict that is final: no continuation of the log changes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettledVerdict {
    pub rule: String,
    pub decision: Decision,
    /// The state that decided, from 0.
    pub state: u64,
    /// The line of this state, from 1.
    pub line: u64,
    /// The reason for a violation, if known.
    pub why: Option<String>,
}

/// Evaluates rules while a log grows. A clone continues independently, so that a caller can try out records.
#[derive(Clone)]
pub struct LiveAudit {
    auditor: Arc<Auditor>,
    monitor: Monitor,
    causal: Option<CausalAudit>,
    /// Buffer for the record that is being read.
    buffer: States,
    states: u64,
    log: LogSummary,
    lines: LiveLines,
}

impl LiveAudit {
    /// Starts before the first record. Rules with past operators are refused: progression does not support them.
    pub fn new(auditor: Arc<Auditor>) -> Result<Self, AuditError> {
        Ok(Self {
            monitor: auditor.monitor(Reset::Never)?,
            causal: CausalAudit::new(auditor.formulas(), auditor.rules(), auditor.mapping())?,
            buffer: auditor.plan().new_states(),
            states: 0,
            log: LogSummary::new(auditor.plan()),
            lines: LiveLines::default(),
            auditor,
        })
    }

    /// The summary of the log so far.
    pub fn log(&self) -> &LogSummary {
        &self.log
    }

    /// What each rule reads and no state has had so far: the id of the rule, and sentences.
    pub fn missing_inputs(&self) -> Vec<(&str, Vec<String>)> {
        let ids = self.auditor.rules().iter().map(|rule| rule.id.as_str());
        ids.zip(self.auditor.missing_inputs(&self.log).into_iter().map(|missing| missing.sentences)).collect()
    }

    /// How many states there were.
    pub fn states(&self) -> u64 {
        self.states
    }

    pub fn rules(&self) -> &[PolicyRule] {
        self.auditor.rules()
    }

    pub fn formulas(&self) -> &Formulas {
        self.auditor.formulas()
    }

    /// The formula of a rule as text.
    pub fn formula_text(&self, rule: &PolicyRule) -> String {
        self.auditor.formulas().text(rule.formula)
    }

    /// What a rule requires, in words.
    pub fn describe(&self, rule: &PolicyRule) -> String {
        let formulas = self.auditor.formulas();
        match &rule.scope {
            Scope::Trace(_) => formulas.in_words(rule.formula),
            // Past-time formulas have no rendering in words.
            Scope::Causal { owner, when } => {
                let at = when.map_or_else(String::new, |when| format!(" where `{}`", formulas.text(when)));
                format!("at each event of {owner}{at}: `{}`", formulas.text(rule.formula))
            }
        }
    }

    /// Why a causal rule failed for the first time; `None` if it has not failed.
    pub fn first_failure(&self, rule: &str) -> Option<String> {
        let mut failures = self.causal.iter().flat_map(CausalAudit::failures);
        failures.find(|(id, ..)| *id == rule)?.2.map(str::to_owned)
    }

    /// Reads the record of a line; returns the verdicts that it makes final.
    pub fn add_record(&mut self, json: &[u8], line: u64) -> Result<Vec<SettledVerdict>, AuditError> {
        let read = self.lines.read(self.auditor.plan(), json, line, &mut self.buffer, &mut self.log);
        if read.map_err(|error| error_at(error, line))? { self.add_states(line) } else { Ok(Vec::new()) }
    }

    /// Adds the calls that the log has begun and does not end; returns the verdicts that they make final.
    pub fn end_of_log(&mut self, line: u64) -> Result<Vec<SettledVerdict>, AuditError> {
        let read = self.lines.finish(self.auditor.plan(), line, &mut self.buffer, &mut self.log);
        if read.map_err(|error| error_at(error, line))? { self.add_states(line) } else { Ok(Vec::new()) }
    }

    /// Evaluates the states in the buffer.
    fn add_states(&mut self, line: u64) -> Result<Vec<SettledVerdict>, AuditError> {
        let first = self.states;
        let mut verdicts = Vec::new();
        let names: Vec<String> = self.monitor.rules().iter().map(|rule| rule.name().to_owned()).collect();
        self.log.records += 1;
        self.log.add(&self.buffer, line);
        for step in self.buffer.each() {
            let state = self.states;
            self.states += 1;
            for (rule, report) in names.iter().zip(self.monitor.step_record(step)) {
                if let Some(decision) = report.decision {
                    let why = report
                        .explanation
                        .as_ref()
                        .and_then(describe_last_step)
                        .filter(|_| decision == Decision::Violated);
                    verdicts.push(SettledVerdict { rule: rule.clone(), decision, state, line, why });
                }
            }
        }
        if let Some(causal) = &mut self.causal {
            let before: Vec<u64> = causal.failures().map(|(_, count, _)| count).collect();
            causal.add_event(self.auditor.mapping(), self.buffer.whole(), first, line)?;
            for ((rule, count, why), before) in causal.failures().zip(before) {
                if count > before && before == 0 {
                    let (rule, why) = (rule.to_owned(), why.map(str::to_owned));
                    verdicts.push(SettledVerdict { rule, decision: Decision::Violated, state: first, line, why });
                }
            }
        }
        Ok(verdicts)
    }

    /// The verdict on each rule about the trace if the log ends here, with its residual in words.
    pub fn endings(&mut self) -> Vec<(String, FinalVerdict, Option<String>)> {
        let names: Vec<String> = self.monitor.rules().iter().map(|rule| rule.name().to_owned()).collect();
        let mut endings = Vec::new();
        for name in names {
            let ending = self.monitor.ending(&name).expect("the name is one of its rules");
            let residual =
                if ending == FinalVerdict::PresumablyViolated { self.monitor.residual_in_words(&name) } else { None };
            endings.push((name, ending, residual));
        }
        endings
    }

    /// The verdict on a rule if the log ends here.
    pub fn verdict(&self, rule: &str) -> Verdict {
        match self.monitor.ending(rule) {
            Some(FinalVerdict::Satisfied) => Verdict::Satisfied,
            Some(FinalVerdict::Violated) => Verdict::Violated,
            Some(FinalVerdict::PresumablySatisfied) => Verdict::PresumablySatisfied,
            Some(FinalVerdict::PresumablyViolated) => Verdict::PresumablyViolated,
            None if self.failed_causal_rules().iter().any(|failed| failed == rule) => Verdict::Violated,
            None => Verdict::PresumablySatisfied,
        }
    }

    /// Fetches the texts that records name from this store.
    #[must_use]
    pub fn with_text_store(self, text_store: TextStore) -> Self {
        Self { auditor: Arc::new((*self.auditor).clone().with_text_store(text_store)), ..self }
    }

    /// The residual of a rule about the trace, in words.
    pub fn residual(&mut self, rule: &str) -> Option<String> {
        self.monitor.residual_in_words(rule)
    }

    /// The number of violated rules about the trace, and the residual cost of the others together. Less is
    /// better.
    pub fn residual_cost(&mut self) -> (usize, ResidualCost) {
        self.monitor.residual_cost()
    }

    /// Whether a causal rule was evaluated at any event; `None` for other rules.
    pub fn was_evaluated(&self, rule: &str) -> Option<bool> {
        self.causal.iter().find_map(|causal| causal.was_evaluated(rule))
    }

    /// The ids of the causal rules that have failed.
    pub fn failed_causal_rules(&self) -> Vec<String> {
        let failures = self.causal.iter().flat_map(CausalAudit::failures);
        failures.filter(|(_, count, _)| *count > 0).map(|(rule, ..)| rule.to_owned()).collect()
    }
}

fn error_at(error: RecordError, line: u64) -> LogError {
    match error {
        RecordError::Json(error) => LogError::Line { line, message: format!("not a JSON record: {error}") },
        RecordError::List(message) => LogError::List { place: format!("line {line}"), message },
        RecordError::Text(message) => LogError::Line { line, message },
    }
}

/// The deciding step of an explanation, in words. States count from 0.
fn describe_last_step(explanation: &Explanation) -> Option<String> {
    let entry = explanation.entries.back()?;
    let state = entry.step.saturating_sub(1);
    let labels = match entry.labels.as_ref() {
        [] => "nothing that it speaks of".to_owned(),
        all => all.iter().map(|label| format!("`{label}`")).collect::<Vec<_>>().join(", "),
    };
    Some(format!("at state {state}, {labels} was true; the residual was `{}`", entry.before))
}
