//! Asks a model for a node: lays out the files, renders the prompt, and gets an answer, under the interventions of the
//! run's policy if it has any.

use serde_json::{Value, json};

use super::acceptance::acceptance_record;
use super::context::{NodeContext, halt_for_template};
use super::sample::{NodeAnswer, RuleVisibility};
use super::workspace::lay_out;
use crate::journal::Kind;
use crate::llm::{Request, RequestKey};
use crate::pipeline::{AnswerNormalised, Attempt, NodeError, NodeName, RunEvent, RunView};
use crate::prompt::{Readable, index_path};

/// A question of a node to a model, before its templates are rendered.
pub(super) struct NodeRequest<'a> {
    /// `draft`, `repair`, `second_reading`, ….
    pub purpose: &'static str,
    /// The node in the request's key.
    pub node: &'static str,
    pub role_template: String,
    pub prompt_template: String,
    /// The values that the prompt is rendered with.
    pub template_data: Value,
    /// Files in the workspace besides documents and exemplars: path and text.
    pub files: Vec<(String, String)>,
    pub offers_documents: bool,
    pub offers_exemplars: bool,
    /// The JSON schema of the answer, for models that can be constrained to one.
    pub schema: Option<Value>,
    pub attempt: &'a Attempt<'a>,
}

impl<'a> NodeRequest<'a> {
    /// A request with the node's own role and its prompt for this purpose, and no files.
    pub(super) fn new(node: NodeName, purpose: &'static str, attempt: &'a Attempt<'a>) -> Self {
        let node = node.name();
        Self {
            purpose,
            node,
            role_template: format!("{node}/role"),
            prompt_template: format!("{node}/{purpose}"),
            template_data: json!({}),
            files: Vec::new(),
            offers_documents: false,
            offers_exemplars: false,
            schema: None,
            attempt,
        }
    }
}

impl NodeContext {
    /// Asks, unless the journal holds the answer already.
    pub(super) async fn ask(&self, view: &RunView, ask: NodeRequest<'_>) -> Result<NodeAnswer, NodeError> {
        let attempt = ask.attempt;
        // From the most to the least final record of the same request.
        let accepted = attempt.recall(|event| match event {
            RunEvent::AnswerAccepted(a) if a.purpose == ask.purpose => Some((&a.artifact, &a.provider, &a.reads)),
            _ => None,
        });
        let offered = || {
            attempt.recall(|event| match event {
                RunEvent::AnswerOffered(a) if a.purpose == ask.purpose => Some((&a.artifact, &a.provider, &a.reads)),
                _ => None,
            })
        };
        // An answer that was still held back at a crash is not final: the intervention decides on it once more.
        let received = || {
            attempt.recall(|event| match event {
                RunEvent::AnswerReceived(a) if a.purpose == ask.purpose && a.pending_answer.is_none() => {
                    Some((&a.artifact, &a.provider, &a.reads))
                }
                _ => None,
            })
        };
        if let Some((artifact, provider, reads)) = accepted.or_else(offered).or_else(received) {
            return self.recall_answer(artifact, provider, reads, attempt);
        }
        let request = self.render_request(view, ask)?;
        match attempt.run.intervention_settings() {
            // A candidate's answer is accepted when the candidate is chosen.
            None if attempt.candidate > 0 => {
                Ok(self.sample(request, attempt, RuleVisibility::OnceAccepted).await?.answer)
            }
            None => {
                let sample = self.sample(request, attempt, RuleVisibility::OnArrival).await?;
                // It is still pending if it arrived under a policy with interventions that was removed since.
                attempt.run.append(acceptance_record(&sample, attempt).into_iter().collect())?;
                Ok(sample.answer)
            }
            Some(intervening) => self.ask_under_policy(request, attempt, &intervening).await,
        }
    }

    /// Lays out the files and renders the templates.
    fn render_request(&self, view: &RunView, ask: NodeRequest<'_>) -> Result<Request, NodeError> {
        let attempt = ask.attempt;
        let offered = lay_out(view, attempt, ask.files, ask.offers_documents, ask.offers_exemplars)?;
        let mut data = ask.template_data;
        if ask.offers_documents {
            data["index"] = json!(index_path(view.settings.docs.iter().map(|d| d.path.as_str())));
        }
        let key = RequestKey {
            node: ask.node.to_owned(),
            branch_index: attempt.branch_index,
            attempt: attempt.attempt,
            purpose: ask.purpose.to_owned(),
            sample: attempt.candidate,
        };
        Ok(Request {
            key,
            // Set when the request is journaled.
            seq: 0,
            role: self.prompts.render(&ask.role_template, &json!({})).map_err(|e| halt_for_template(&e))?,
            prompt: self.prompts.render(&ask.prompt_template, &data).map_err(|e| halt_for_template(&e))?,
            workspace: attempt.workspace(),
            offered,
            choice: self.caller.choice(ask.node),
            schema: ask.schema,
        })
    }
}

/// Journals what the reader of an answer had to correct or set aside, and returns the value that it read.
pub(super) fn record_normalisation<T>(attempt: &Attempt<'_>, read: Readable<T>) -> Result<T, NodeError> {
    // A resumed attempt reads the same answer again.
    if !read.normalised.is_empty() && !attempt.has(RunEvent::is_answer_normalised) {
        let normalised = AnswerNormalised { removed: read.normalised };
        attempt.record(Kind::Act, RunEvent::AnswerNormalised(normalised))?;
    }
    Ok(read.value)
}
