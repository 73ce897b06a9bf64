//! A model as a labeler: one request for all propositions of a step, a second one if the answer is invalid, and then an
//! error. The model sees neither rules nor other steps.

use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;

use super::label_accuracy::LabelAccuracy;
use super::label_cache::{CacheError, CachedAnswer, LabelCache};
use super::label_plan::{LabelPlan, LabelSource};
use super::labels::Labels;
use super::propositions::{LabelingPrompt, Propositions, StepText};
use tlaforge_files::Sha;
use tlaforge_llm::{Answer, ModelChoice, Request, RequestKey};
use tlaforge_prompt::{PromptError, PromptLibrary};

/// The node name in the keys of labelling requests.
pub const LABEL_NODE: &str = "label";

/// Asks a model for the labels of steps.
pub struct ModelLabeler<'a> {
    pub prompts: &'a PromptLibrary,
    pub propositions: &'a Propositions,
    /// The name of the provider.
    pub provider: &'static str,
    pub choice: ModelChoice,
    /// An empty folder: labelling needs no files.
    pub workspace: PathBuf,
    /// Answers are not cached without it.
    pub cache: Option<LabelCache>,
}

/// The labels of one step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepLabels {
    pub labels: Labels,
    /// The model.
    pub model: String,
    /// The number of requests; 0 if the answer was cached.
    pub requests: u32,
}

/// Why a step has no labels. `E` is the error of the provider.
#[derive(Debug, thiserror::Error)]
pub enum LabellingError<E> {
    #[error(transparent)]
    Prompt(#[from] PromptError),
    #[error(transparent)]
    Cache(#[from] CacheError),
    #[error("{0}")]
    Ask(E),
    /// Both answers are invalid.
    #[error("two answers of the model are invalid: {problem}")]
    Unreadable {
        /// What is wrong with the second answer.
        problem: String,
        /// The cache files of both answers.
        files: Vec<PathBuf>,
    },
}

impl ModelLabeler<'_> {
    /// Labels a step. `number` (from 1) makes the requests of steps distinct. An empty step needs no request.
    pub async fn label<E>(
        &self,
        step: &StepText,
        number: u32,
        ask: &mut impl AsyncFnMut(Request) -> Result<Answer, E>,
    ) -> Result<StepLabels, LabellingError<E>> {
        let mut result = StepLabels { labels: Labels::new(), model: String::new(), requests: 0 };
        if step.is_empty() {
            return Ok(result);
        }
        let mut problem: Option<String> = None;
        let mut files = Vec::new();
        for (purpose, seq) in [("label", u64::from(number) * 2 - 1), ("repair", u64::from(number) * 2)] {
            let key = RequestKey {
                node: LABEL_NODE.to_owned(),
                branch_index: 0,
                attempt: number,
                purpose: purpose.to_owned(),
                sample: 0,
            };
            let prompt = LabelingPrompt::new(self.prompts, self.propositions, step, problem.as_deref())?;
            let request = prompt.request(key, seq, self.choice.clone(), &self.workspace);
            let key = LabelCache::key(self.provider, &request);
            let cached = self.cache.as_ref().map(|cache| cache.get(&key)).transpose()?.flatten();
            let answer = match cached {
                Some(answer) => answer,
                None => {
                    let answer = self.cached_answer(step, ask(request).await.map_err(LabellingError::Ask)?);
                    result.requests += 1;
                    if let Some(cache) = &self.cache {
                        // Before the answer is read: it is paid for even if it is invalid.
                        cache.put(&key, &answer)?;
                    }
                    answer
                }
            };
            match self.propositions.parse_answer(&answer.answer) {
                Ok(labels) => return Ok(StepLabels { labels, model: answer.by, ..result }),
                Err(error) => problem = Some(error),
            }
            files.extend(self.cache.as_ref().map(|cache| cache.path(&key)));
        }
        Err(LabellingError::Unreadable { problem: problem.unwrap_or_default(), files })
    }

    fn cached_answer(&self, step: &StepText, answer: Answer) -> CachedAnswer {
        let by = answer.model.or_else(|| self.choice.model.clone()).unwrap_or_else(|| self.provider.to_owned());
        CachedAnswer {
            v: 1,
            by,
            step: step.render().chars().take(80).collect(),
            usage: answer.usage,
            cost_usd: answer.cost_usd,
            answer: answer.text,
        }
    }
}

/// Statistics about the labels of a log.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Labelling {
    /// The models that gave them.
    pub models: BTreeSet<String>,
    /// States that a model labelled, in this audit or before.
    pub labelled: u64,
    /// States whose labels the log itself holds.
    pub recorded: u64,
    /// States with nothing to judge.
    pub empty: u64,
    /// Distinct texts that were labelled in this audit.
    pub asked: u64,
    /// Distinct texts whose labels were cached.
    pub cached: u64,
    /// Requests of this audit, including second ones.
    pub requests: u64,
    /// Tokens of these requests.
    pub tokens: u64,
    /// US dollars of these requests; `None` if a price is unknown.
    pub cost_usd: Option<f64>,
    /// Agreement with reference labels, if there are any.
    pub accuracy: Option<LabelAccuracy>,
}

impl Labelling {
    /// The statistics before any request.
    pub fn new(plan: &LabelPlan) -> Self {
        let mut all = Self { cost_usd: Some(0.0), ..Self::default() };
        for state in &plan.states {
            if let LabelSource::Recorded(labels) = state {
                all.models.extend(labels.model.clone());
            }
            *match state {
                LabelSource::Empty => &mut all.empty,
                LabelSource::Recorded(_) => &mut all.recorded,
                LabelSource::Model(_) => &mut all.labelled,
            } += 1;
        }
        all
    }

    /// Counts a labelled step and adds its labels to `into`.
    pub fn add_step(&mut self, sha: &Sha, step: StepLabels, into: &mut HashMap<Sha, Labels>) {
        self.models.insert(step.model);
        self.requests += u64::from(step.requests);
        *if step.requests > 0 { &mut self.asked } else { &mut self.cached } += 1;
        into.insert(sha.clone(), step.labels);
    }
}
