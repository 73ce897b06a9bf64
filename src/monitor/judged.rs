//! What a model has to judge of a log: the steps that rules speak of, and those that read alike only once.

use std::collections::HashMap;

use super::audit::{AuditError, Auditor};
use super::labels::Labels;
use super::log::{FoundTrue, Manner, Places, States, Step, scan_lines, scan_list};
use super::propositions::StepText;
use crate::journal::Sha;

/// One state of a log, as far as labels go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JudgedState {
    /// It has neither text nor tool call: nothing is true of it, and nobody is asked.
    Nothing,
    /// The log tells its labels itself.
    Told(FoundTrue),
    /// What is to be judged, by its name.
    Text(Sha),
}

/// All states of a log.
#[derive(Debug, Clone, Default)]
pub struct Judged {
    /// In the log's order.
    pub states: Vec<JudgedState>,
    /// What is to be judged, by its name.
    pub texts: HashMap<Sha, StepText>,
    /// States without labels that name a text which is not to be had.
    pub unfetched: u64,
    /// Where each state stands.
    pub places: Places,
}

impl Judged {
    /// What is to be judged, each once, with the number of the first state that reads so (from 1), in the log's order.
    pub fn open(&self) -> Vec<(u32, &Sha, &StepText)> {
        let mut seen = std::collections::HashSet::new();
        let mut open = Vec::new();
        for (number, state) in (1..).zip(&self.states) {
            if let JudgedState::Text(sha) = state
                && seen.insert(sha)
            {
                open.push((number, sha, &self.texts[sha]));
            }
        }
        open
    }

    /// Whether a proposition is true of a state, with these labels of what was judged.
    pub fn holds(&self, state: usize, proposition: &str, labels: &HashMap<Sha, Labels>) -> bool {
        match self.states.get(state) {
            None | Some(JudgedState::Nothing) => false,
            Some(JudgedState::Told(found)) => found.names.iter().any(|name| **name == *proposition),
            Some(JudgedState::Text(sha)) => labels.get(sha).is_some_and(|labels| labels.holds(proposition)),
        }
    }

    fn push(&mut self, state: (Option<FoundTrue>, StepText, bool)) {
        let (told, text, lacks_text) = state;
        self.unfetched += u64::from(told.is_none() && lacks_text);
        self.states.push(match told {
            Some(found) => JudgedState::Told(found),
            None if text.is_empty() => JudgedState::Nothing,
            None => {
                let sha = text.sha();
                self.texts.entry(sha.clone()).or_insert(text);
                JudgedState::Text(sha)
            }
        });
    }
}

fn read(step: &Step) -> (Option<FoundTrue>, StepText, bool) {
    (step.labels().cloned(), step.judged(), step.lacks_text())
}

impl Auditor {
    /// What is to be judged of JSON lines.
    pub fn judged_lines(&self, input: &mut (impl std::io::Read + Send), manner: Manner) -> Result<Judged, AuditError> {
        let mut judged = Judged::default();
        let fold = |part: &mut Vec<_>, states: &States, _: u64| part.extend(states.each().iter().map(read));
        let found = scan_lines(input, self.plan(), manner, fold, |part| part.into_iter().for_each(|s| judged.push(s)))?;
        judged.places = found.places;
        Ok(judged)
    }

    /// What is to be judged of a list of messages.
    pub fn judged_list(&self, text: &[u8]) -> Result<Judged, AuditError> {
        let mut judged = Judged::default();
        let found =
            scan_list(text, self.plan(), |states, _| states.each().iter().for_each(|step| judged.push(read(step))))?;
        judged.places = found.places;
        Ok(judged)
    }
}
