//! Labels: if rules refer to propositions that a model has to judge, each answer is labelled before the rules are
//! evaluated with it. The labeller's own answers are not answers of the run, and rules never see them.

use super::context::{NodeContext, halt_for_template};
use super::sample::{RuleVisibility, Sample};
use crate::journal::{Kind, is_parallel_lifeline};
use crate::llm::{Request, RequestKey};
use crate::monitor::labels::Labels;
use crate::monitor::{LABEL_NODE, LabelingPrompt, Propositions, StepText};
use crate::pipeline::{
    AnswerLabels, AnswerReceived, Attempt, Halt, Labelled, NodeError, RunError, RunEvent, StopReason,
};

impl NodeContext {
    /// Labels an answer, or reuses the labels that the same text got earlier in this run. If the labels cannot be read,
    /// the model is asked once more; then the run stops, because the rules cannot be evaluated. A resumed run asks again.
    pub(super) async fn label(
        &self,
        request: &Request,
        sample: &mut Sample,
        attempt: &Attempt<'_>,
    ) -> Result<(), NodeError> {
        let propositions = attempt.run.label_propositions();
        if propositions.is_empty() {
            return Ok(());
        }
        let tools = sample.received.pending_answer.as_ref().map(|facts| facts.tools.clone()).unwrap_or_default();
        let step = StepText { text: sample.answer.text.clone(), tools };
        let (asked, judged) = (propositions.sha(), step.sha());
        // Labels of other candidates are not reused: which of them finished first depends on the clock, and a replay must
        // send the same requests.
        let entries = attempt.run.entries();
        let mine =
            entries.iter().rev().filter(|e| e.lifeline == attempt.lifeline || !is_parallel_lifeline(&e.lifeline));
        let mut labelled = mine.filter_map(|entry| entry.event.try_as_labelled_ref());
        let before = labelled.find(|labelled| labelled.given.propositions == asked && labelled.step == judged);
        let given = match before {
            Some(before) => before.given.clone(),
            None => {
                let (labels, answers) = self.request_labels(request, &step, &propositions, attempt).await?;
                let answering = answers.last().and_then(|answer| answer.model.clone());
                let by = answering.or_else(|| self.caller.choice(LABEL_NODE).model);
                let given = AnswerLabels {
                    labels: labels.truths().map(ToString::to_string).collect(),
                    propositions: asked,
                    model: by.unwrap_or_else(|| self.caller.name().to_owned()),
                };
                let labelled = Labelled {
                    purpose: request.key.purpose.clone(),
                    sample: request.key.sample,
                    step: judged,
                    given: given.clone(),
                    stale: answers.iter().any(|answer| answer.stale),
                    calls: answers.len(),
                    cost_usd: answers.iter().map(AnswerReceived::cost).sum(),
                    tokens: answers.iter().map(AnswerReceived::tokens).sum(),
                };
                attempt.record(Kind::Act, RunEvent::Labelled(labelled))?;
                given
            }
        };
        sample.labels = Some(given);
        Ok(())
    }

    /// Asks for the labels, and returns them with all answers that it took to get them.
    async fn request_labels(
        &self,
        request: &Request,
        step: &StepText,
        propositions: &Propositions,
        attempt: &Attempt<'_>,
    ) -> Result<(Labels, Vec<AnswerReceived>), NodeError> {
        // An empty folder: the labeller sees the step in its prompt and nothing else.
        let workspace = request.workspace.join(LABEL_NODE);
        crate::files::create_folder_below(attempt.run.root(), &workspace).map_err(|source| RunError::Io {
            what: "create the folder",
            path: workspace.clone(),
            source,
        })?;
        let mut problem = None;
        let mut answers = Vec::new();
        for number in 0.. {
            let purpose = match number {
                0 => format!("label {}", request.key.purpose),
                1 => format!("relabel {}", request.key.purpose),
                more => format!("relabel {more} {}", request.key.purpose),
            };
            let recalled = attempt.has(|event| {
                event
                    .try_as_answer_received_ref()
                    .is_some_and(|answer| answer.purpose == purpose && answer.sample == request.key.sample)
            });
            let prompt = LabelingPrompt::new(&self.prompts, propositions, step, problem.as_deref());
            let asked = prompt.map_err(|e| halt_for_template(&e))?.request(
                RequestKey { purpose: purpose.clone(), ..request.key.clone() },
                0,
                self.caller.choice(LABEL_NODE),
                &workspace,
            );
            let answer = self.sample(asked, attempt, RuleVisibility::OnceAccepted).await?;
            let read = propositions.parse_answer(&answer.answer.text);
            answers.push(answer.received);
            match read {
                Ok(labels) => return Ok((labels, answers)),
                Err(wrong) if number > 0 && !recalled => {
                    let message = format!("the labels of {} cannot be read, after {number} more: {wrong}", request.key);
                    return Err(Halt { reason: StopReason::Provider, message }.into());
                }
                Err(wrong) => problem = Some(wrong),
            }
        }
        unreachable!("the loop returns labels or an error")
    }
}
