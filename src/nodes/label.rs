//! Labels of an answer that is held: where rules speak of what a model has to judge, each answer is labelled before anybody
//! asks what the rules would come to with it. An answer with labels is no answer of the run: no rule sees it as one.

use serde_json::{Value, json};

use super::desk::{Desk, HELD, Sample, prompt_trouble};
use super::intervene::{cost, tokens};
use crate::journal::{Event, Kind, is_apart};
use crate::llm::{Request, RequestKey};
use crate::monitor::labels::Labels;
use crate::monitor::{LABEL_NODE, LabelingPrompt, Propositions, StepText};
use crate::pipeline::{Attempt, Halt, RunError, StationError, StopReason};

impl Desk {
    /// Labels an answer, unless one that reads the same was labelled before in this run. What cannot be read is asked once
    /// more; then the run stops, for nothing is known of the answer. A run that goes on asks again.
    pub(super) async fn label(
        &self,
        request: &Request,
        sample: &mut Sample,
        attempt: &Attempt<'_>,
    ) -> Result<(), StationError> {
        let propositions = attempt.run.labels();
        if propositions.is_empty() {
            return Ok(());
        }
        let tools = sample.event.data[HELD]["tools"].as_array().into_iter().flatten();
        let step = StepText {
            text: sample.reply.text.clone(),
            tools: tools.filter_map(Value::as_str).map(str::to_owned).collect(),
        };
        let (asked, judged) = (propositions.sha(), step.sha());
        let same = |data: &Value| data["asked"] == *asked.as_str() && data["step"] == *judged.as_str();
        // What candidates side by side were given depends on who came first: each asks for itself.
        let mine = |event: &Event| event.lifeline == attempt.lifeline || !is_apart(&event.lifeline);
        let known = |event: &Event| event.name == "labelled" && mine(event) && same(&event.data);
        let before = attempt.run.events().into_iter().rfind(known);
        let data = match before {
            Some(event) => event.data,
            None => {
                let (labels, answers) = self.labels(request, &step, &propositions, attempt).await?;
                let (who, choice) = (&answers[answers.len() - 1]["model"], self.caller.choice(LABEL_NODE).model);
                let by = who.as_str().map(str::to_owned).or(choice).unwrap_or_else(|| self.caller.name().to_owned());
                let cost_usd: Option<f64> = answers.iter().map(cost).sum();
                let stale = answers.iter().any(|data| data["stale"] == true);
                let data = json!({
                    "purpose": request.key.purpose, "candidate": request.key.candidate, "step": judged, "asked": asked,
                    "labels": labels.truths().collect::<Vec<_>>(), "by": by, "stale": stale, "calls": answers.len(),
                    "cost_usd": cost_usd, "tokens": answers.iter().map(tokens).sum::<u64>(),
                });
                attempt.record(Kind::Act, "labelled", data)?.data
            }
        };
        sample.labels = Some(json!({"labels": data["labels"], "asked": data["asked"], "by": data["by"]}));
        Ok(())
    }

    /// Asks for the labels; the events of all answers with it.
    async fn labels(
        &self,
        request: &Request,
        step: &StepText,
        propositions: &Propositions,
        attempt: &Attempt<'_>,
    ) -> Result<(Labels, Vec<Value>), StationError> {
        // Whoever labels has nothing to read but the step.
        let workspace = request.workspace.join(LABEL_NODE);
        std::fs::create_dir_all(&workspace).map_err(|source| RunError::Io {
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
            let is_there = |data: &Value| data["purpose"] == purpose && data["candidate"] == request.key.candidate;
            let recalled = attempt.recall("answer_received", is_there).is_some();
            let prompt = LabelingPrompt::new(&self.prompts, propositions, step, problem.as_deref());
            let asked = prompt.map_err(|e| prompt_trouble(&e))?.request(
                RequestKey { purpose: purpose.clone(), ..request.key.clone() },
                0,
                self.caller.choice(LABEL_NODE),
                &workspace,
            );
            let answer = self.sample(asked, attempt, HELD).await?;
            let read = propositions.read(&answer.reply.text);
            answers.push(answer.event.data);
            match read {
                Ok(labels) => return Ok((labels, answers)),
                Err(wrong) if number > 0 && !recalled => {
                    let message = format!("the labels of {} cannot be read, after {number} more: {wrong}", request.key);
                    return Err(Halt { reason: StopReason::Provider, message }.into());
                }
                Err(wrong) => problem = Some(wrong),
            }
        }
        unreachable!("it ends with labels or stops")
    }
}
