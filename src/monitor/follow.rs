//! A log that is still being written, watched record by record.

use super::audit::{AuditError, Auditor};
use super::causal_audit::CausalAudit;
use super::log::{LogError, Step};
use super::trac::{Decision, Monitor, Reset};
use crate::temporal::Ending;

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

/// Rules on their way through a log that grows.
pub struct Follower<'a> {
    auditor: &'a Auditor,
    monitor: Monitor,
    causal: Option<CausalAudit>,
    step: Step,
    states: u64,
}

impl<'a> Follower<'a> {
    /// Before the first record. Refused: rules with past operators, which progression does not read.
    pub fn new(auditor: &'a Auditor) -> Result<Self, AuditError> {
        Ok(Self {
            monitor: auditor.watched(Reset::Never)?,
            causal: CausalAudit::new(auditor.formulas(), auditor.rules(), auditor.mapping())?,
            step: auditor.plan().step(),
            states: 0,
            auditor,
        })
    }

    /// How many states there were.
    pub fn states(&self) -> u64 {
        self.states
    }

    /// Reads the record of a line; the verdicts that fall with it.
    pub fn record(&mut self, json: &[u8], line: u64) -> Result<Vec<Fallen>, AuditError> {
        let is_state = self
            .auditor
            .plan()
            .read(json, &mut self.step)
            .map_err(|error| LogError::Line { line, message: format!("not a JSON record: {error}") })?;
        if !is_state {
            return Ok(Vec::new());
        }
        let state = self.states;
        self.states += 1;
        let mut fallen = Vec::new();
        let names: Vec<String> = self.monitor.rules().iter().map(|rule| rule.name().to_owned()).collect();
        for (rule, report) in names.into_iter().zip(self.monitor.step_record(&self.step)) {
            if let Some(decision) = report.decision {
                fallen.push(Fallen { rule, decision, state, line, why: None });
            }
        }
        if let Some(causal) = &mut self.causal {
            let before: Vec<u64> = causal.failures().map(|(_, count, _)| count).collect();
            causal.event(self.auditor.mapping(), &self.step, state, line)?;
            for ((rule, count, why), before) in causal.failures().zip(before) {
                if count > before && before == 0 {
                    let (rule, why) = (rule.to_owned(), why.map(str::to_owned));
                    fallen.push(Fallen { rule, decision: Decision::Violated, state, line, why });
                }
            }
        }
        Ok(fallen)
    }

    /// How each rule about the trace stands if the log ends here, with what it still owes in words.
    pub fn endings(&mut self) -> Vec<(String, Ending, Option<String>)> {
        let names: Vec<String> = self.monitor.rules().iter().map(|rule| rule.name().to_owned()).collect();
        let mut endings = Vec::new();
        for name in names {
            let ending = self.monitor.ending(&name).expect("it is watched");
            let owed = if ending == Ending::PresumablyViolated { self.monitor.owed_in_words(&name) } else { None };
            endings.push((name, ending, owed));
        }
        endings
    }

    /// The causal rules that have failed.
    pub fn failed(&self) -> Vec<String> {
        let failures = self.causal.iter().flat_map(CausalAudit::failures);
        failures.filter(|(_, count, _)| *count > 0).map(|(rule, ..)| rule.to_owned()).collect()
    }
}
