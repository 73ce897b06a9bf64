//! Prediction: the probability that a rule is violated later, if an answer that violates none is accepted. Either the
//! model writes several possible continuations of the run, on which the rules are evaluated, or it estimates the
//! probability itself.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::acceptance::{accept_at_taker, records_if_accepted};
use super::context::{NodeContext, halt_for_template};
use super::sample::{RuleVisibility, Sample};
use super::workspace::{offer, withdraw};
use crate::journal::Kind;
use crate::llm::{ModelChoice, Request, RequestKey};
use crate::monitor::{Prediction, PredictionMethod};
use crate::pipeline::{AnswerAccepted, AnswerFacts, AnswerReceived, Attempt, NodeError, Predicted, RunEvent};
use crate::prompt::extract_json_object;
use crate::temporal::PrefixVerdict;

/// The workspace file with the answer that is judged.
const ANSWER: &str = "answer.md";
/// The workspace file with the request that it answers.
const REQUEST: &str = "request.md";

impl NodeContext {
    /// The rules that are predicted to be violated after this answer, or to show the pattern of verdicts that the policy
    /// names, each with its probability. Journals the prediction.
    pub(super) async fn predict(
        &self,
        request: &Request,
        sample: &Sample,
        prediction: &Prediction,
        attempt: &Attempt<'_>,
    ) -> Result<BTreeMap<String, f64>, NodeError> {
        let undecided =
            attempt.run.predict_verdicts(records_if_accepted(sample, attempt), attempt.accepted_before.len())?;
        if undecided.is_empty() {
            return Ok(BTreeMap::new());
        }
        let sample_number = request.key.sample;
        let mut estimates: BTreeMap<String, f64> = BTreeMap::new();
        let samples = if prediction.method == PredictionMethod::Ask { 1 } else { prediction.samples };
        let mut received = Vec::new();
        for number in 0..samples {
            let asked = self.prediction_request(request, sample, prediction, (number, &undecided), attempt)?;
            let answer = self.sample(asked, attempt, RuleVisibility::OnceAccepted).await?;
            let share = |holds: bool| if holds { 1.0 / f64::from(samples) } else { 0.0 };
            match prediction.method {
                PredictionMethod::Ask => estimates.extend(probabilities(&answer.answer.text, &undecided)),
                PredictionMethod::Sampling => {
                    let mut records = records_if_accepted(sample, attempt);
                    for text in continuation(&answer.answer.text, prediction.steps) {
                        let text = attempt.keep(&text)?;
                        let facts =
                            AnswerFacts { text: text.clone(), tools: Vec::new(), stop_reason: None, labels: None };
                        let taken = AnswerAccepted {
                            // The request that it would answer is unknown.
                            purpose: String::new(),
                            sample: 0,
                            artifact: text,
                            provider: self.caller.name().to_owned(),
                            reads: Vec::new(),
                            answer: facts,
                        };
                        records.push(accept_at_taker(taken, attempt));
                    }
                    for (rule, verdicts) in attempt.run.predict_verdicts(records, attempt.accepted_before.len())? {
                        *estimates.entry(rule).or_default() += share(prediction.matches(&verdicts));
                    }
                }
            }
            received.push(answer.received);
        }
        // The next request of this node must not be able to read the answer that it may replace.
        for path in [REQUEST, ANSWER] {
            withdraw(attempt, path)?;
        }
        let is_this = |event: &RunEvent| {
            let predicted = event.try_as_predicted_ref();
            predicted.is_some_and(|p| p.purpose == request.key.purpose && p.sample == sample_number)
        };
        if !attempt.has(is_this) {
            let predicted = Predicted {
                purpose: request.key.purpose.clone(),
                sample: sample_number,
                how: prediction.method,
                pattern: prediction.pattern.clone(),
                steps: prediction.steps,
                threshold: prediction.threshold,
                estimates: estimates.clone(),
                calls: u32::try_from(received.len()).unwrap_or(u32::MAX),
                cost_usd: received.iter().map(AnswerReceived::cost).sum(),
                tokens: received.iter().map(AnswerReceived::tokens).sum(),
            };
            attempt.record(Kind::Act, RunEvent::Predicted(predicted))?;
        }
        // Ten shares of 0.1 add up to slightly less than 1.
        estimates.retain(|_, estimate| *estimate >= prediction.threshold - f64::EPSILON);
        Ok(estimates)
    }

    /// The request for one continuation, or for the probabilities.
    fn prediction_request(
        &self,
        request: &Request,
        sample: &Sample,
        prediction: &Prediction,
        (number, rules): (u32, &BTreeMap<String, Vec<PrefixVerdict>>),
        attempt: &Attempt<'_>,
    ) -> Result<Request, NodeError> {
        let words = attempt.run.rules_in_words();
        let rules = words.iter().filter(|(rule, _)| rules.contains_key(rule));
        let rules: Vec<Value> = rules.map(|(rule, means)| json!({"rule": rule, "means": means})).collect();
        let (purpose, data) = match prediction.method {
            PredictionMethod::Sampling => ("foresee", json!({"steps": prediction.steps, "node": request.key.node})),
            PredictionMethod::Ask => {
                ("predict", json!({"steps": prediction.steps, "node": request.key.node, "rules": rules}))
            }
        };
        let mut offered = request.offered.clone();
        offered.retain(|file| file.path != ANSWER && file.path != REQUEST);
        offered.push(offer(attempt, REQUEST, &request.prompt)?);
        offered.push(offer(attempt, ANSWER, &sample.answer.text)?);
        let temperature = match prediction.method {
            PredictionMethod::Sampling => Some(prediction.temperature),
            PredictionMethod::Ask => request.choice.temperature,
        };
        Ok(Request {
            key: RequestKey {
                purpose: format!("{purpose} {}", request.key.purpose),
                // Disjoint for each sample of an intervention, because the key identifies the answer in a recording.
                sample: request.key.sample * prediction.samples + number,
                ..request.key.clone()
            },
            prompt: self.prompts.render(&format!("policy/{purpose}"), &data).map_err(|e| halt_for_template(&e))?,
            offered,
            choice: ModelChoice { temperature, ..request.choice.clone() },
            schema: None,
            ..request.clone()
        })
    }
}

/// The next answers of a continuation, at most `steps`. A continuation that cannot be read is empty.
fn continuation(text: &str, steps: u32) -> Vec<String> {
    let Ok(read) = extract_json_object(text) else { return Vec::new() };
    let all = read.value["answers"].as_array().cloned().unwrap_or_default();
    let texts = all.iter().filter_map(|answer| answer.as_str().map(str::to_owned));
    texts.take(usize::try_from(steps).unwrap_or(usize::MAX)).collect()
}

/// The probability that the model gives for each rule. Rules without a readable number from 0 to 1 are left out.
fn probabilities<T>(text: &str, rules: &BTreeMap<String, T>) -> Vec<(String, f64)> {
    let Ok(read) = extract_json_object(text) else { return Vec::new() };
    let probability = |rule: &String| {
        let probability = read.value["violated"][rule.as_str()].as_f64()?;
        (0.0..=1.0).contains(&probability).then(|| (rule.clone(), probability))
    };
    rules.keys().filter_map(probability).collect()
}
