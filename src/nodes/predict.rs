//! Prediction: how probable it is that a rule will be violated, where an answer that violates none is taken. Either the
//! model says several times how the run goes on, and the rules are asked of that, or it is asked for the probability.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::desk::{Desk, Sample, Seen, prompt_trouble};
use super::intervene::{as_if_taken, taken_record};
use super::workspace::{offer, withdraw};
use crate::journal::Kind;
use crate::llm::{ModelChoice, Request, RequestKey};
use crate::monitor::{How, Prediction};
use crate::pipeline::{AnswerAccepted, AnswerFacts, AnswerReceived, Attempt, NodeError, Predicted, RunEvent};
use crate::prompt::json_object;
use crate::temporal::Standing;

/// An answer as a file.
const ANSWER: &str = "answer.md";
const REQUEST: &str = "request.md";

impl Desk {
    /// The rules that are predicted to be violated (or to come to the pattern that the policy names) after this answer,
    /// with the probability. What was predicted is journaled.
    pub(super) async fn predict(
        &self,
        request: &Request,
        sample: &Sample,
        prediction: &Prediction,
        attempt: &Attempt<'_>,
    ) -> Result<BTreeMap<String, f64>, NodeError> {
        let undecided = attempt.run.foresee(as_if_taken(sample, attempt), attempt.accepted_before.len())?;
        if undecided.is_empty() {
            return Ok(BTreeMap::new());
        }
        let candidate = request.key.candidate;
        let mut estimates: BTreeMap<String, f64> = BTreeMap::new();
        let samples = if prediction.how == How::Ask { 1 } else { prediction.samples };
        let mut said = Vec::new();
        for number in 0..samples {
            let asked = self.ahead(request, sample, prediction, (number, &undecided), attempt)?;
            let answer = self.sample(asked, attempt, Seen::IfTaken).await?;
            let share = |holds: bool| if holds { 1.0 / f64::from(samples) } else { 0.0 };
            match prediction.how {
                How::Ask => estimates.extend(probabilities(&answer.reply.text, &undecided)),
                How::Sampling => {
                    let mut records = as_if_taken(sample, attempt);
                    for text in answers(&answer.reply.text, prediction.steps) {
                        let text = attempt.keep(&text)?;
                        let told =
                            AnswerFacts { text: text.clone(), tools: Vec::new(), stop_reason: None, labels: None };
                        let taken = AnswerAccepted {
                            // For what it would be asked is not known.
                            purpose: String::new(),
                            candidate: 0,
                            artifact: text,
                            provider: self.caller.name().to_owned(),
                            reads: Vec::new(),
                            answer: told,
                        };
                        records.push(taken_record(taken, attempt));
                    }
                    for (rule, verdicts) in attempt.run.foresee(records, attempt.accepted_before.len())? {
                        *estimates.entry(rule).or_default() += share(prediction.matches(&verdicts));
                    }
                }
            }
            said.push(answer.received);
        }
        // Whoever is asked again must not find there what others have answered.
        for path in [REQUEST, ANSWER] {
            withdraw(attempt, path)?;
        }
        let is_this = |event: &RunEvent| {
            let predicted = event.try_as_predicted_ref();
            predicted.is_some_and(|p| p.purpose == request.key.purpose && p.candidate == candidate)
        };
        if !attempt.has(is_this) {
            let predicted = Predicted {
                purpose: request.key.purpose.clone(),
                candidate,
                how: prediction.how,
                pattern: prediction.pattern.clone(),
                steps: prediction.steps,
                threshold: prediction.threshold,
                estimates: estimates.clone(),
                calls: u32::try_from(said.len()).unwrap_or(u32::MAX),
                cost_usd: said.iter().map(AnswerReceived::cost).sum(),
                tokens: said.iter().map(AnswerReceived::tokens).sum(),
            };
            attempt.record(Kind::Act, RunEvent::Predicted(predicted))?;
        }
        estimates.retain(|_, estimate| *estimate >= prediction.threshold - f64::EPSILON);
        Ok(estimates)
    }

    /// The request for one look ahead.
    fn ahead(
        &self,
        request: &Request,
        sample: &Sample,
        prediction: &Prediction,
        (number, rules): (u32, &BTreeMap<String, Vec<Standing>>),
        attempt: &Attempt<'_>,
    ) -> Result<Request, NodeError> {
        let words = attempt.run.rules_in_words();
        let rules = words.iter().filter(|(rule, _)| rules.contains_key(rule));
        let rules: Vec<Value> = rules.map(|(rule, means)| json!({"rule": rule, "means": means})).collect();
        let (purpose, data) = match prediction.how {
            How::Sampling => ("foresee", json!({"steps": prediction.steps, "node": request.key.node})),
            How::Ask => ("predict", json!({"steps": prediction.steps, "node": request.key.node, "rules": rules})),
        };
        let mut offered = request.offered.clone();
        offered.retain(|file| file.path != ANSWER && file.path != REQUEST);
        offered.push(offer(attempt, REQUEST, &request.prompt)?);
        offered.push(offer(attempt, ANSWER, &sample.reply.text)?);
        let temperature = match prediction.how {
            How::Sampling => Some(prediction.temperature),
            How::Ask => request.choice.temperature,
        };
        Ok(Request {
            key: RequestKey {
                purpose: format!("{purpose} {}", request.key.purpose),
                candidate: request.key.candidate * prediction.samples + number,
                ..request.key.clone()
            },
            prompt: self.prompts.render(&format!("policy/{purpose}"), &data).map_err(|e| prompt_trouble(&e))?,
            offered,
            choice: ModelChoice { temperature, ..request.choice.clone() },
            schema: None,
            ..request.clone()
        })
    }
}

/// The answers that are said to come next, at most so many; what cannot be read foresees nothing.
fn answers(text: &str, steps: u32) -> Vec<String> {
    let Ok(read) = json_object(text) else { return Vec::new() };
    let all = read.value["answers"].as_array().cloned().unwrap_or_default();
    let texts = all.iter().filter_map(|answer| answer.as_str().map(str::to_owned));
    texts.take(usize::try_from(steps).unwrap_or(usize::MAX)).collect()
}

/// The probabilities that are said of the rules; of a rule of which nothing readable is said, nothing is predicted.
fn probabilities<T>(text: &str, rules: &BTreeMap<String, T>) -> Vec<(String, f64)> {
    let Ok(read) = json_object(text) else { return Vec::new() };
    let of = |rule: &String| {
        let said = read.value["violated"][rule.as_str()].as_f64()?;
        (0.0..=1.0).contains(&said).then(|| (rule.clone(), said))
    };
    rules.keys().filter_map(of).collect()
}
