//! Which states of a log a model has to label. States with the same text are labelled once.

use std::collections::{HashMap, HashSet};

use super::labels::Labels;
use super::log::{LogError, ModelLabels, Plan, ScanOptions, StatePlaces, States, Step, scan_lines, scan_records};
use super::propositions::StepText;
use tlaforge_files::Sha;

/// Where the labels of a state come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LabelSource {
    /// The state has neither text nor tool call: no proposition is true, and no model is asked.
    Empty,
    /// The log itself holds the labels.
    Recorded(ModelLabels),
    /// A model labels the text with this hash.
    Model(Sha),
}

/// Where the labels of all states of a log come from.
#[derive(Debug, Clone, Default)]
pub struct LabelPlan {
    /// In the order of the log.
    pub states: Vec<LabelSource>,
    /// The texts that a model labels, by hash.
    pub texts: HashMap<Sha, StepText>,
    /// States without recorded labels whose stored text was not fetched.
    pub unfetched: u64,
    pub places: StatePlaces,
}

impl LabelPlan {
    /// Plans the labels of JSON lines.
    pub fn of_lines(
        plan: &Plan,
        input: &mut (impl std::io::Read + Send),
        options: ScanOptions,
    ) -> Result<Self, LogError> {
        let mut labels = Self::default();
        let fold = |part: &mut Vec<_>, states: &States, _: u64| part.extend(states.each().iter().map(LabelInput::new));
        let summary = scan_lines(input, plan, options, fold, |part| {
            for input in part {
                labels.push(input);
            }
        })?;
        labels.places = summary.places;
        Ok(labels)
    }

    /// Plans the labels of the records of a document, which are JSON lines already.
    pub fn of_records(plan: &Plan, lines: &[u8]) -> Result<Self, LogError> {
        let mut labels = Self::default();
        let summary = scan_records(lines, plan, |states, _| {
            states.each().iter().for_each(|step| labels.push(LabelInput::new(step)));
        })?;
        labels.places = summary.places;
        Ok(labels)
    }

    /// The texts that a model has to label, each once, in the order of the log, with the number of the first state that
    /// has it (from 1).
    pub fn texts_to_label(&self) -> Vec<(u32, &Sha, &StepText)> {
        let mut seen = HashSet::new();
        let mut texts = Vec::new();
        for (number, state) in (1..).zip(&self.states) {
            if let LabelSource::Model(sha) = state
                && seen.insert(sha)
            {
                texts.push((number, sha, &self.texts[sha]));
            }
        }
        texts
    }

    /// Whether a proposition is true of a state, given the labels of the texts.
    pub fn holds(&self, state: usize, proposition: &str, labels: &HashMap<Sha, Labels>) -> bool {
        match self.states.get(state) {
            None | Some(LabelSource::Empty) => false,
            Some(LabelSource::Recorded(labels)) => labels.names.iter().any(|name| **name == *proposition),
            Some(LabelSource::Model(sha)) => labels.get(sha).is_some_and(|labels| labels.holds(proposition)),
        }
    }

    fn push(&mut self, input: LabelInput) {
        let LabelInput { recorded, text, lacks_text } = input;
        self.unfetched += u64::from(recorded.is_none() && lacks_text);
        self.states.push(match recorded {
            Some(labels) => LabelSource::Recorded(labels),
            None if text.is_empty() => LabelSource::Empty,
            None => {
                let sha = text.sha();
                self.texts.entry(sha.clone()).or_insert(text);
                LabelSource::Model(sha)
            }
        });
    }
}

/// What labelling needs of one state.
struct LabelInput {
    recorded: Option<ModelLabels>,
    text: StepText,
    lacks_text: bool,
}

impl LabelInput {
    fn new(step: &Step) -> Self {
        Self { recorded: step.model_labels().cloned(), text: step.text_to_judge(), lacks_text: step.lacks_text() }
    }
}
