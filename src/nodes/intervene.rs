//! Interventions: an answer that would violate a rule of the run's policy is met before it is taken, as the rule says.
//!
//! The journal holds every answer; the rules see those that were taken (`answer_accepted`). Whether one would violate a rule
//! is asked of the policy as it stands, with that event next.

use serde_json::{Value, json};

use super::desk::{Desk, Reply, Sample, Seen, prompt_trouble};
use crate::journal::{Kind, Sha};
use crate::llm::Request;
use crate::monitor::{Intervening, Intervention};
use crate::pipeline::{
    AnswerAccepted, AnswerReceived, Attempt, Forecast, ForeseenViolation, Halt, Intervened, NodeError, Record,
    RunEvent, Sampled, StopReason, candidate_lifeline,
};

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
    fn met(&self) -> Option<(&ForeseenViolation, Intervention)> {
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
    ) -> Result<Reply, NodeError> {
        let first = self.try_out(request.clone(), intervening, attempt).await?;
        let Some((rule, which)) = first.met() else {
            attempt.run.append(settled(&first.sample, attempt).into_iter().collect())?;
            return Ok(first.sample.reply);
        };
        let (rule, before) = (rule.clone(), first.forecast.violated.clone());
        let more = if which == Intervention::Resample { intervening.samples - 1 } else { 1 };
        let mut tried = vec![first];
        for number in 1..=more {
            // Candidates that are asked for side by side count their samples apart.
            let candidate = request.key.candidate + number * attempt.sample_stride();
            let next = self.instead(&request, candidate, which, intervening, (&before, attempt))?;
            let sample = self.try_out(next, intervening, attempt).await?;
            let is_good = sample.met().is_none();
            tried.push(sample);
            if is_good {
                break;
            }
        }
        let told = Told { rule: &rule, which, before: &before, purpose: &request.key.purpose };
        let further: Vec<AnswerReceived> = tried.iter().skip(1).map(|tried| tried.sample.received.clone()).collect();
        let samples: Vec<Sampled> = tried.iter().map(|tried| tried.told.clone()).collect();
        let best = tried.swap_remove(Sampled::best(&samples).unwrap_or_else(|| unreachable!("the first one is there")));
        // The answer comes first: it was foreseen as the next event.
        let intervened = told.event(&best, samples, &further, attempt);
        attempt.run.append(settled(&best.sample, attempt).into_iter().chain([intervened]).collect())?;
        Ok(best.sample.reply)
    }

    /// An answer, and what the rules would come to with it; a rule that it leaves open and that is predicted to be violated
    /// counts as violated by it.
    async fn try_out(
        &self,
        request: Request,
        intervening: &Intervening,
        attempt: &Attempt<'_>,
    ) -> Result<Tried, NodeError> {
        let mut sample = self.sample(request.clone(), attempt, Seen::IfTaken).await?;
        self.label(&request, &mut sample, attempt).await?;
        let mut forecast = attempt.run.forecast(as_if_taken(&sample, attempt))?;
        let asks = |rule: &ForeseenViolation| rule.intervention.is_some();
        let mut predicted = Vec::new();
        if let Some(prediction) = intervening.prediction.as_ref().filter(|_| !forecast.violated.iter().any(asks)) {
            let estimates = self.predict(&request, &sample, prediction, attempt).await?;
            predicted = attempt.run.undecided_rules();
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
        (violated, attempt): (&[ForeseenViolation], &Attempt<'_>),
    ) -> Result<Request, NodeError> {
        let mut request = first.clone();
        request.key.candidate = candidate;
        let with = |name: &str, rules: Value| {
            let data = json!({"prompt": first.prompt, "rules": rules});
            self.prompts.render(name, &data).map_err(|e| prompt_trouble(&e))
        };
        match (which, &intervening.fallback_model) {
            (Intervention::Resample, _) => request.choice.temperature = Some(intervening.temperature),
            (Intervention::Inject, _) => {
                let rules = violated.iter().map(|rule| json!({"means": rule.meaning, "owed": rule.owed}));
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

/// That an answer is taken; `None` if it was taken as it came.
pub(super) fn taken(sample: &Sample, attempt: &Attempt<'_>) -> Option<Record> {
    let taken = AnswerAccepted::of(&sample.received, sample.labels.clone())?;
    Some(taken_record(taken, attempt))
}

/// That the taker of the attempt's answers takes one.
pub(super) fn taken_record(taken: AnswerAccepted, attempt: &Attempt<'_>) -> Record {
    let record = attempt.event(Kind::Act, RunEvent::AnswerAccepted(taken));
    Record { lifeline: attempt.accepting_lifeline.to_owned(), ..record }
}

/// What would come with an answer if it were taken now.
pub(super) fn as_if_taken(sample: &Sample, attempt: &Attempt<'_>) -> Vec<Record> {
    attempt.accepted_before.iter().cloned().chain(taken(sample, attempt)).collect()
}

/// That an answer is taken. A candidate's is offered: rules see it when the candidate was chosen.
fn settled(sample: &Sample, attempt: &Attempt<'_>) -> Option<Record> {
    if attempt.candidate == 0 {
        return taken(sample, attempt);
    }
    let taken = AnswerAccepted::of(&sample.received, sample.labels.clone())?;
    Some(attempt.event(Kind::Act, RunEvent::AnswerOffered(taken.into())))
}

/// That a candidate's answer is taken, now that it was chosen; nothing if it was no answer of its own.
pub(super) fn taken_of(attempt: &Attempt<'_>, candidate: u32, answer: &Sha) -> Result<Option<Record>, NodeError> {
    let lifeline = candidate_lifeline(candidate);
    let offered = attempt.run.find_last(lifeline, |entry| match &entry.event {
        RunEvent::AnswerOffered(offered) if offered.artifact == *answer => Some(AnswerAccepted::from(offered.clone())),
        _ => None,
    });
    let received = || {
        attempt.run.find_last(lifeline, |entry| match &entry.event {
            RunEvent::AnswerReceived(received) if received.artifact == *answer => AnswerAccepted::of(received, None),
            _ => None,
        })
    };
    let Some(taken) = offered.or_else(received) else { return Ok(None) };
    let asked = attempt.run.label_propositions();
    if !asked.is_empty() && taken.answer.labels.as_ref().is_none_or(|labels| labels.propositions != asked.sha()) {
        let message = format!(
            "an answer of candidate {candidate} was not labelled with what the policy's rules speak of; go on under the \
             policy under which it was drafted, or forge again under this one"
        );
        return Err(Halt { reason: StopReason::Settings, message }.into());
    }
    Ok(Some(attempt.event(Kind::Act, RunEvent::AnswerAccepted(taken))))
}

/// What an intervention was for.
struct Told<'a> {
    rule: &'a ForeseenViolation,
    which: Intervention,
    /// What the first answer would have violated.
    before: &'a [ForeseenViolation],
    purpose: &'a str,
}

impl Told<'_> {
    /// What it cost, and what it prevented. `further` are the further answers.
    fn event(&self, best: &Tried, samples: Vec<Sampled>, further: &[AnswerReceived], attempt: &Attempt<'_>) -> Record {
        let before = self.before.iter().map(|violated| violated.rule.clone());
        let intervened = Intervened {
            rule: self.rule.rule.clone(),
            intervention: self.which,
            purpose: self.purpose.to_owned(),
            calls: u32::try_from(further.len()).unwrap_or(u32::MAX),
            candidate: best.sample.received.candidate,
            prevented: before.filter(|rule| !best.violates(rule)).collect(),
            violated: best.told.violated.clone(),
            owed: self.rule.owed.clone(),
            cost_usd: further.iter().map(AnswerReceived::cost).sum(),
            tokens: further.iter().map(AnswerReceived::tokens).sum(),
            samples,
        };
        attempt.event(Kind::Choice, RunEvent::Intervened(intervened))
    }
}
