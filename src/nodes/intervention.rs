//! Interventions: an answer that would violate a rule of the run's policy is replaced before it is accepted, in the way
//! that the rule names (ask again, add the rules to the prompt, switch the model).
//!
//! The journal holds every answer, but rules see only those that were accepted (`answer_accepted`). Whether an answer would
//! violate a rule is decided by evaluating the policy with that event appended.

use serde_json::{Value, json};

use super::acceptance::{accept_or_offer, records_if_accepted};
use super::context::{NodeContext, halt_for_template};
use super::sample::{NodeAnswer, RuleVisibility, Sample};
use crate::journal::Kind;
use crate::llm::Request;
use crate::monitor::{Intervention, InterventionSettings};
use crate::pipeline::{
    AnswerReceived, Attempt, Intervened, NodeError, PredictedVerdicts, PredictedViolation, Record, RunEvent, Sampled,
};

/// An answer, and the verdicts of the rules if it were accepted.
struct PredictedSample {
    sample: Sample,
    /// First the rules that the answer would violate, then those that are predicted to be violated later.
    verdicts: PredictedVerdicts,
    /// The same in short, for the journal.
    summary: Sampled,
}

impl PredictedSample {
    /// The first violated rule that asks for an intervention, and which one.
    fn required_intervention(&self) -> Option<(&PredictedViolation, Intervention)> {
        self.verdicts.violated.iter().find_map(|rule| Some((rule, rule.intervention?)))
    }

    fn violates(&self, rule: &str) -> bool {
        self.verdicts.violated.iter().any(|violated| violated.rule == rule)
    }
}

impl NodeContext {
    /// Asks, and accepts the first answer unless it would violate a rule that asks for an intervention. Then it asks
    /// further, and accepts the answer that leaves the fewest obligations open; among equals, the earliest.
    pub(super) async fn ask_under_policy(
        &self,
        request: Request,
        attempt: &Attempt<'_>,
        intervening: &InterventionSettings,
    ) -> Result<NodeAnswer, NodeError> {
        let first = self.sample_and_predict(request.clone(), intervening, attempt).await?;
        let Some((rule, intervention)) = first.required_intervention() else {
            attempt.run.append(accept_or_offer(&first.sample, attempt).into_iter().collect())?;
            return Ok(first.sample.answer);
        };
        let (rule, before) = (rule.clone(), first.verdicts.violated.clone());
        // Only resampling can give another answer each time; the other two change the request once.
        let further_calls = if intervention == Intervention::Resample { intervening.samples - 1 } else { 1 };
        let mut tried = vec![first];
        for number in 1..=further_calls {
            // Candidates run side by side, so their further samples need disjoint numbers.
            let number_of_sample = request.key.sample + number * attempt.sample_stride();
            let next =
                self.changed_request(&request, number_of_sample, intervention, intervening, (&before, attempt))?;
            let sample = self.sample_and_predict(next, intervening, attempt).await?;
            let is_good = sample.required_intervention().is_none();
            tried.push(sample);
            if is_good {
                break;
            }
        }
        let cause = InterventionCause { rule: &rule, intervention, before: &before, purpose: &request.key.purpose };
        let further: Vec<AnswerReceived> = tried.iter().skip(1).map(|tried| tried.sample.received.clone()).collect();
        let samples: Vec<Sampled> = tried.iter().map(|tried| tried.summary.clone()).collect();
        let best = tried.swap_remove(Sampled::best(&samples).unwrap_or_else(|| unreachable!("the first one is there")));
        // The acceptance comes first: the verdicts was made with it as the next event.
        let intervened = cause.record(&best, samples, &further, attempt);
        attempt.run.append(accept_or_offer(&best.sample, attempt).into_iter().chain([intervened]).collect())?;
        Ok(best.sample.answer)
    }

    /// Gets an answer and evaluates the rules as if it were accepted. A rule that stays undecided and is predicted to be
    /// violated counts as violated.
    async fn sample_and_predict(
        &self,
        request: Request,
        intervening: &InterventionSettings,
        attempt: &Attempt<'_>,
    ) -> Result<PredictedSample, NodeError> {
        let mut sample = self.sample(request.clone(), attempt, RuleVisibility::OnceAccepted).await?;
        self.label(&request, &mut sample, attempt).await?;
        let mut verdicts = attempt.run.predict(records_if_accepted(&sample, attempt))?;
        let intervenes = |rule: &PredictedViolation| rule.intervention.is_some();
        let mut predicted = Vec::new();
        // A prediction costs model calls. It is of no use if the answer already violates such a rule.
        let is_open = !verdicts.violated.iter().any(intervenes);
        if let Some(prediction) = intervening.prediction.as_ref().filter(|_| is_open) {
            let estimates = self.predict(&request, &sample, prediction, attempt).await?;
            predicted = attempt.run.undecided_rules();
            predicted.retain(|rule| estimates.contains_key(&rule.rule));
        }
        let summary = verdicts.sampled(request.key.sample, predicted.iter().map(|rule| rule.rule.clone()).collect());
        verdicts.violated.extend(predicted);
        Ok(PredictedSample { sample, verdicts, summary })
    }

    /// The first request, changed as the intervention says.
    fn changed_request(
        &self,
        first: &Request,
        number_of_sample: u32,
        intervention: Intervention,
        intervening: &InterventionSettings,
        (violated, attempt): (&[PredictedViolation], &Attempt<'_>),
    ) -> Result<Request, NodeError> {
        let mut request = first.clone();
        request.key.sample = number_of_sample;
        let render = |name: &str, rules: Value| {
            let data = json!({"prompt": first.prompt, "rules": rules});
            self.prompts.render(name, &data).map_err(|e| halt_for_template(&e))
        };
        match (intervention, &intervening.fallback_model) {
            (Intervention::Resample, _) => request.choice.temperature = Some(intervening.temperature),
            (Intervention::Inject, _) => {
                let rules = violated.iter().map(|rule| json!({"means": rule.meaning, "owed": rule.residual}));
                request.prompt = render("policy/inject", rules.collect())?;
            }
            (Intervention::Switch, Some(model)) => request.choice.model = Some(model.clone()),
            // Without another model, all rules become part of the prompt.
            (Intervention::Switch, None) => {
                let rules = attempt.run.rules_in_words().into_iter().map(|(_, means)| means);
                request.prompt = render("policy/constraints", rules.collect())?;
            }
        }
        Ok(request)
    }
}

/// The reason for an intervention.
struct InterventionCause<'a> {
    rule: &'a PredictedViolation,
    intervention: Intervention,
    /// The rules that the first answer would have violated.
    before: &'a [PredictedViolation],
    purpose: &'a str,
}

impl InterventionCause<'_> {
    /// The `intervened` event: what the intervention cost and prevented. `further` are the answers after the first.
    fn record(
        &self,
        best: &PredictedSample,
        samples: Vec<Sampled>,
        further: &[AnswerReceived],
        attempt: &Attempt<'_>,
    ) -> Record {
        let before = self.before.iter().map(|violated| violated.rule.clone());
        let intervened = Intervened {
            rule: self.rule.rule.clone(),
            intervention: self.intervention,
            purpose: self.purpose.to_owned(),
            calls: u32::try_from(further.len()).unwrap_or(u32::MAX),
            sample: best.sample.received.sample,
            prevented_violations: before.filter(|rule| !best.violates(rule)).collect(),
            violated: best.summary.violated.clone(),
            residual: self.rule.residual.clone(),
            cost_usd: further.iter().map(AnswerReceived::cost).sum(),
            tokens: further.iter().map(AnswerReceived::tokens).sum(),
            samples,
        };
        attempt.event(Kind::Choice, RunEvent::Intervened(intervened))
    }
}
