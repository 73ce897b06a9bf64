//! Interventions: an answer that would violate a rule of the run's policy is met before it is taken, as the rule says.
//!
//! The journal holds every answer; the rules see those that were taken (`answer_taken`). Whether one would violate a rule
//! is asked of the policy as it stands, with that event next.

use serde_json::{Value, json};

use super::desk::{Desk, HELD, Reply, Sample, TOLD, prompt_trouble};
use crate::journal::{Event, Kind, Record, Sha};
use crate::llm::Request;
use crate::monitor::{Intervening, Intervention};
use crate::pipeline::{Attempt, Forecast, Foreseen, Halt, Sampled, StationError, StopReason, lifeline_of, taken_data};

/// A sample, and what taking it would come to.
struct Tried {
    sample: Sample,
    /// With the rules that are predicted to be violated later behind those that it would violate.
    forecast: Forecast,
    /// The same in short.
    told: Sampled,
}

impl Tried {
    /// The first rule that it would violate and that asks for an intervention, and which.
    fn met(&self) -> Option<(&Foreseen, Intervention)> {
        self.forecast.violated.iter().find_map(|rule| Some((rule, rule.intervention?)))
    }

    fn violates(&self, rule: &str) -> bool {
        self.forecast.violated.iter().any(|violated| violated.rule == rule)
    }
}

impl Desk {
    /// Asks, and takes the first answer unless it would violate a rule that asks for an intervention. Of the answers that
    /// came then, the one that owes least is taken, the earlier of equals.
    pub(super) async fn ask_under_policy(
        &self,
        request: Request,
        attempt: &Attempt<'_>,
        intervening: &Intervening,
    ) -> Result<Reply, StationError> {
        let first = self.try_out(request.clone(), intervening, attempt).await?;
        let Some((rule, which)) = first.met() else {
            attempt.run.append(vec![settled(&first.sample, attempt)])?;
            return Ok(first.sample.reply);
        };
        let (rule, before) = (rule.clone(), first.forecast.violated.clone());
        let more = if which == Intervention::Resample { intervening.samples - 1 } else { 1 };
        let mut tried = vec![first];
        for number in 1..=more {
            // Candidates that are asked for side by side count their samples apart.
            let candidate = request.key.candidate + number * attempt.of();
            let next = self.instead(&request, candidate, which, intervening, (&before, attempt))?;
            let sample = self.try_out(next, intervening, attempt).await?;
            let is_good = sample.met().is_none();
            tried.push(sample);
            if is_good {
                break;
            }
        }
        let told = Told { rule: &rule, which, before: &before, purpose: &request.key.purpose };
        let all: Vec<Value> = tried.iter().skip(1).map(|tried| tried.sample.event.data.clone()).collect();
        let samples: Vec<Sampled> = tried.iter().map(|tried| tried.told.clone()).collect();
        let best = tried.swap_remove(Sampled::best(&samples).unwrap_or_else(|| unreachable!("the first one is there")));
        // The answer comes first: it was foreseen as the next event.
        let group = vec![settled(&best.sample, attempt), told.event(&best, &samples, &all, attempt)];
        attempt.run.append(group)?;
        Ok(best.sample.reply)
    }

    /// An answer, and what the rules would come to with it; a rule that it leaves open and that is predicted to be violated
    /// counts as violated by it.
    async fn try_out(
        &self,
        request: Request,
        intervening: &Intervening,
        attempt: &Attempt<'_>,
    ) -> Result<Tried, StationError> {
        let mut sample = self.sample(request.clone(), attempt, HELD).await?;
        self.label(&request, &mut sample, attempt).await?;
        let mut forecast = attempt.run.forecast(as_if_taken(&sample, attempt))?;
        let asks = |rule: &Foreseen| rule.intervention.is_some();
        let mut predicted = Vec::new();
        if let Some(prediction) = intervening.prediction.as_ref().filter(|_| !forecast.violated.iter().any(asks)) {
            let estimates = self.predict(&request, &sample, prediction, attempt).await?;
            predicted = attempt.run.undecided();
            predicted.retain(|rule| estimates.contains_key(&rule.rule));
        }
        let told = forecast.sampled(request.key.candidate, predicted.iter().map(|rule| rule.rule.clone()).collect());
        forecast.violated.extend(predicted);
        Ok(Tried { sample, forecast, told })
    }

    /// The request that the intervention makes of the first one.
    fn instead(
        &self,
        first: &Request,
        candidate: u32,
        which: Intervention,
        intervening: &Intervening,
        (violated, attempt): (&[Foreseen], &Attempt<'_>),
    ) -> Result<Request, StationError> {
        let mut request = first.clone();
        request.key.candidate = candidate;
        let with = |name: &str, rules: Value| {
            let data = json!({"prompt": first.prompt, "rules": rules});
            self.prompts.render(name, &data).map_err(|e| prompt_trouble(&e))
        };
        match (which, &intervening.fallback_model) {
            (Intervention::Resample, _) => request.choice.temperature = Some(intervening.temperature),
            (Intervention::Inject, _) => {
                let rules = violated.iter().map(|rule| json!({"means": rule.means, "owed": rule.owed}));
                request.prompt = with("policy/inject", rules.collect())?;
            }
            (Intervention::Switch, Some(model)) => request.choice.model = Some(model.clone()),
            (Intervention::Switch, None) => {
                let rules = attempt.run.rules_in_words().into_iter().map(|(_, means)| means);
                request.prompt = with("policy/constraints", rules.collect())?;
            }
        }
        Ok(request)
    }
}

/// That an answer is taken: what the rules see of it.
pub(super) fn taken(sample: &Sample, attempt: &Attempt<'_>) -> Record {
    let data = taken_data(&sample.event.data, sample.labels.as_ref());
    let mut record = attempt.event(Kind::Act, "answer_taken", data);
    attempt.taker.clone_into(&mut record.lifeline);
    record
}

/// What would come with an answer if it were taken now.
pub(super) fn as_if_taken(sample: &Sample, attempt: &Attempt<'_>) -> Vec<Record> {
    attempt.taken_before.iter().cloned().chain([taken(sample, attempt)]).collect()
}

/// The same, or of a candidate, that it is what would be taken: the rules see it when the candidate was chosen.
fn settled(sample: &Sample, attempt: &Attempt<'_>) -> Record {
    let mut record = taken(sample, attempt);
    if attempt.candidate > 0 {
        record.name = "answer_offered";
        attempt.lifeline.clone_into(&mut record.lifeline);
        let told = record.data[TOLD].take();
        record.data[HELD] = told;
        if let Some(data) = record.data.as_object_mut() {
            data.remove(TOLD);
        }
    }
    record
}

/// That a candidate's answer is taken, now that it was chosen; nothing where it was no answer of its own.
pub(super) fn taken_of(attempt: &Attempt<'_>, candidate: u32, answer: &Sha) -> Result<Option<Record>, StationError> {
    let is_it = |event: &Event| event.data["artifact"] == *answer.as_str() && !event.data[HELD].is_null();
    let found = ["answer_offered", "answer_received"]
        .iter()
        .find_map(|name| attempt.run.last_where(lifeline_of(candidate), name, is_it));
    let Some(Event { data, .. }) = found else { return Ok(None) };
    let asked = attempt.run.labels();
    if !asked.is_empty() && data[HELD]["asked"] != *asked.sha().as_str() {
        let message = format!(
            "an answer of candidate {candidate} was not labelled with what the policy's rules speak of; go on under the \
             policy under which it was drafted, or forge again under this one"
        );
        return Err(Halt { reason: StopReason::Settings, message }.into());
    }
    Ok(Some(attempt.event(Kind::Act, "answer_taken", taken_data(&data, None))))
}

/// What an intervention was for.
struct Told<'a> {
    rule: &'a Foreseen,
    which: Intervention,
    /// What the first answer would have violated.
    before: &'a [Foreseen],
    purpose: &'a str,
}

impl Told<'_> {
    /// What it cost, and what it prevented. `further` are the events of the further answers.
    fn event(&self, best: &Tried, samples: &[Sampled], further: &[Value], attempt: &Attempt<'_>) -> Record {
        let before: Vec<&str> = self.before.iter().map(|violated| violated.rule.as_str()).collect();
        let prevented: Vec<&str> = before.iter().copied().filter(|rule| !best.violates(rule)).collect();
        let cost_usd: Option<f64> = further.iter().map(cost).sum();
        attempt.event(
            Kind::Choice,
            "intervened",
            json!({
                "rule": self.rule.rule, "which": self.which, "purpose": self.purpose, "calls": further.len(),
                "candidate": best.sample.event.data["candidate"], "prevented": prevented, "violated": best.told.violated,
                "owed": self.rule.owed, "cost_usd": cost_usd, "tokens": further.iter().map(tokens).sum::<u64>(),
                "samples": samples,
            }),
        )
    }
}

/// US dollars of an answer, with the estimate of what was not counted; `None` if neither is known.
pub(super) fn cost(data: &Value) -> Option<f64> {
    let (counted, estimated) = (data["cost_usd"].as_f64(), data["estimated"]["cost_usd"].as_f64());
    counted.or(estimated).map(|_| counted.unwrap_or(0.0) + estimated.unwrap_or(0.0))
}

/// Tokens of an answer, with the estimate of what was not counted.
pub(super) fn tokens(data: &Value) -> u64 {
    let counts = [&data["usage"], &data["estimated"]["usage"]].into_iter().filter_map(Value::as_object).flatten();
    counts.filter_map(|(_, n)| n.as_u64()).fold(0, u64::saturating_add)
}
