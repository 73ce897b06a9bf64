//! A model as a labeler: one request for all propositions of a step, once more where its answer labels something else, and
//! then an error. It is told neither rules nor other steps.

use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;

use super::judged::{Judged, JudgedState};
use super::label_accuracy::LabelAccuracy;
use super::label_cache::{CacheError, KeptAnswer, LabelCache};
use super::labels::Labels;
use super::propositions::{LabelingPrompt, Propositions, StepText};
use crate::journal::Sha;
use crate::llm::{Answer, ModelChoice, Request, RequestKey};
use crate::prompt::{PromptError, PromptLibrary};

/// The node in the keys of requests for labels of a log.
pub const LABEL_NODE: &str = "label";

/// Asks a model for the labels of steps.
pub struct ModelLabeler<'a> {
    /// The prompts.
    pub prompts: &'a PromptLibrary,
    /// What is asked of each step.
    pub propositions: &'a Propositions,
    /// The provider's name.
    pub provider: &'static str,
    /// Who answers.
    pub choice: ModelChoice,
    /// An empty folder.
    pub workspace: PathBuf,
    /// Where answers are kept; without it they are not.
    pub cache: Option<LabelCache>,
}

/// The labels of one step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepLabels {
    /// The labels.
    pub labels: Labels,
    /// Who gave them.
    pub by: String,
    /// How many requests that took; none where they were kept.
    pub requests: u32,
}

/// Why there are no labels. `E` is why a model could not be asked.
#[derive(Debug, thiserror::Error)]
pub enum LabellingError<E> {
    /// A prompt cannot be rendered.
    #[error(transparent)]
    Prompt(#[from] PromptError),
    /// An answer cannot be kept or found.
    #[error(transparent)]
    Cache(#[from] CacheError),
    /// There is no answer.
    #[error("{0}")]
    Ask(E),
    /// Two answers to the same question label something else than what was asked.
    #[error("twice the model's answer could not be used: {problem}")]
    Unreadable {
        /// What is wrong with the second.
        problem: String,
        /// Where both are kept.
        kept: Vec<PathBuf>,
    },
}

impl ModelLabeler<'_> {
    /// The labels of a step. `number` tells its requests from those of others. A step with nothing to judge is not asked.
    pub async fn label<E>(
        &self,
        step: &StepText,
        number: u32,
        ask: &mut impl AsyncFnMut(Request) -> Result<Answer, E>,
    ) -> Result<StepLabels, LabellingError<E>> {
        let mut done = StepLabels { labels: Labels::new(), by: String::new(), requests: 0 };
        if step.is_empty() {
            return Ok(done);
        }
        let mut problem: Option<String> = None;
        let mut kept = Vec::new();
        for (purpose, seq) in [("label", u64::from(number) * 2 - 1), ("repair", u64::from(number) * 2)] {
            let key = RequestKey {
                node: LABEL_NODE.to_owned(),
                place: 0,
                attempt: number,
                purpose: purpose.to_owned(),
                candidate: 0,
            };
            let prompt = LabelingPrompt::new(self.prompts, self.propositions, step, problem.as_deref())?;
            let request = prompt.request(key, seq, self.choice.clone(), &self.workspace);
            let name = LabelCache::name(self.provider, &request);
            let there = self.cache.as_ref().map(|cache| cache.get(&name)).transpose()?.flatten();
            let answer = match there {
                Some(answer) => answer,
                None => {
                    let answer = self.kept(step, ask(request).await.map_err(LabellingError::Ask)?);
                    done.requests += 1;
                    if let Some(cache) = &self.cache {
                        cache.keep(&name, &answer)?;
                    }
                    answer
                }
            };
            match self.propositions.read(&answer.answer) {
                Ok(labels) => return Ok(StepLabels { labels, by: answer.by, ..done }),
                Err(wrong) => problem = Some(wrong),
            }
            kept.extend(self.cache.as_ref().map(|cache| cache.dir().join(format!("{name}.json"))));
        }
        Err(LabellingError::Unreadable { problem: problem.unwrap_or_default(), kept })
    }

    fn kept(&self, step: &StepText, answer: Answer) -> KeptAnswer {
        let by = answer.model.or_else(|| self.choice.model.clone()).unwrap_or_else(|| self.provider.to_owned());
        KeptAnswer {
            v: 1,
            by,
            step: step.shown().chars().take(80).collect(),
            usage: answer.usage,
            cost_usd: answer.cost_usd,
            answer: answer.text,
        }
    }
}

/// How the labels of a log came about.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Labelling {
    /// Who gave them, by name.
    pub by: BTreeSet<String>,
    /// States that were labelled: the model was asked, now or before.
    pub labelled: u64,
    /// States whose labels the log tells itself.
    pub told: u64,
    /// States with nothing to judge.
    pub empty: u64,
    /// Steps that read differently and were asked now.
    pub asked: u64,
    /// Steps that read differently and whose labels were kept.
    pub cached: u64,
    /// Requests, those that were asked again among them.
    pub requests: u64,
    /// Tokens of these requests.
    pub tokens: u64,
    /// US dollars of these requests; `None` where some price is not known.
    pub cost_usd: Option<f64>,
    /// How they agree with a reference, where there is one.
    pub accuracy: Option<LabelAccuracy>,
}

impl Labelling {
    /// Before anybody was asked, by what is to be judged.
    pub fn of(judged: &Judged) -> Self {
        let mut all = Self { cost_usd: Some(0.0), ..Self::default() };
        for state in &judged.states {
            if let JudgedState::Told(found) = state {
                all.by.extend(found.by.clone());
            }
            *match state {
                JudgedState::Nothing => &mut all.empty,
                JudgedState::Told(_) => &mut all.told,
                JudgedState::Text(_) => &mut all.labelled,
            } += 1;
        }
        all
    }

    /// Takes the labels of one step.
    pub fn take(&mut self, sha: &Sha, step: StepLabels, into: &mut HashMap<Sha, Labels>) {
        self.by.insert(step.by);
        self.requests += u64::from(step.requests);
        *if step.requests > 0 { &mut self.asked } else { &mut self.cached } += 1;
        into.insert(sha.clone(), step.labels);
    }
}
