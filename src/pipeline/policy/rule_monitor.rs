//! The user's policy, evaluated on each event of a run. A violation is journaled in the same group as the event that
//! caused it, so that a crash cannot lose it.

use std::collections::{BTreeMap, BTreeSet};

use super::admission::{AdmissionError, Admitted, admitted};
use super::journal_mapping::kept_texts;
use crate::journal::{ArtifactStore, Kind, Sha};
use crate::monitor::trac::Decision;
use crate::monitor::{
    AuditError, Intervention, InterventionSettings, LiveAudit, PolicyRule, Propositions, Scope, Verdict,
};
use crate::pipeline::records::{
    AnswerLabels, Draft, Entry, Owes, Record, RuleEnd, RunEvent, Sampled, StoredFile, Untrusted, Violation, record,
};
use crate::temporal::{PrefixVerdict, ResidualCost};

/// What the rules would come to after an event.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Forecast {
    /// The rules that it would violate, in the order of the policy.
    pub violated: Vec<ForeseenViolation>,
    /// How many rules are violated, and what the others still demand at most. Less is better.
    pub debt: (usize, ResidualCost),
}

impl Forecast {
    /// The same for the journal, with the rules that are predicted to be violated after it.
    pub fn sampled(&self, candidate: u32, predicted: Vec<String>) -> Sampled {
        let (violated, ResidualCost { steps, obligations }) = self.debt;
        let with_intervention = self.violated.iter().filter(|rule| rule.intervention.is_some()).count();
        let owes = Owes { with_intervention, predicted: predicted.len(), violated, steps, obligations };
        Sampled { candidate, violated: self.violated.iter().map(|rule| rule.rule.clone()).collect(), predicted, owes }
    }
}

/// A rule that an answer would violate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForeseenViolation {
    pub rule: String,
    pub intervention: Option<Intervention>,
    /// The rule in words.
    pub meaning: String,
    /// What it demands before the answer, in words.
    pub owed: String,
}

/// The rules of a policy with their state after the events so far.
#[derive(Clone)]
pub(in crate::pipeline) struct RuleMonitor {
    follower: LiveAudit,
    intervening: InterventionSettings,
    labels: Propositions,
    /// The models that have labelled answers so far.
    labelled_by: BTreeSet<String>,
    policy: Sha,
    /// The rules whose violation is journaled.
    told: BTreeSet<String>,
    /// Violations that are not journaled yet.
    open: Vec<Violation>,
}

impl RuleMonitor {
    /// The policy of a run, before the first event of its journal.
    pub(in crate::pipeline) fn of(stored: &StoredFile, store: &ArtifactStore) -> Result<Self, RuleMonitorError> {
        let policy = admitted(&store.text(&stored.sha)?)?;
        Ok(Self::new(policy, stored.sha.clone(), store))
    }

    pub(in crate::pipeline) fn new(policy: Admitted, sha: Sha, store: &ArtifactStore) -> Self {
        let follower = policy.follower.with_text_store(kept_texts(store.clone()));
        Self {
            follower,
            intervening: policy.intervening,
            labels: policy.labels,
            labelled_by: BTreeSet::new(),
            policy: sha,
            told: BTreeSet::new(),
            open: Vec::new(),
        }
    }

    /// The settings of interventions; `None` if no rule has an intervention and none uses labels.
    pub(in crate::pipeline) fn intervening(&self) -> Option<InterventionSettings> {
        let asks = self.follower.rules().iter().any(|rule| rule.intervention.is_some());
        (asks || !self.labels.is_empty()).then(|| self.intervening.clone())
    }

    /// The propositions that a model has to judge for each answer.
    pub(in crate::pipeline) fn labels(&self) -> &Propositions {
        &self.labels
    }

    /// Whether an answer has the labels that the rules use.
    fn is_labelled(&self, entry: &Entry) -> bool {
        let answer = match &entry.event {
            RunEvent::AnswerReceived(received) => received.answer.as_ref(),
            RunEvent::AnswerAccepted(taken) => Some(&taken.answer),
            _ => None,
        };
        let asked = |labels: &AnswerLabels| labels.propositions == self.labels.sha();
        self.labels.is_empty() || answer.is_none_or(|answer| answer.labels.as_ref().is_some_and(asked))
    }

    /// The rules about the whole journal with their meaning.
    pub(in crate::pipeline) fn in_words(&self) -> Vec<(String, String)> {
        let of_all = |rule: &&PolicyRule| matches!(rule.scope, Scope::Trace(_));
        self.follower.rules().iter().filter(of_all).map(|rule| (rule.id.clone(), self.means(rule))).collect()
    }

    /// What the rules would come to if these events came next.
    pub(in crate::pipeline) fn forecast(
        &self,
        mut draft: Draft,
        records: Vec<Record>,
    ) -> Result<Forecast, (u64, AuditError)> {
        let mut ahead = self.clone();
        draft.extend(records);
        ahead.extend(&mut draft)?;
        let kept_now = |rule: &&PolicyRule| self.follower.verdict(&rule.id) != Verdict::Violated;
        let rules = self.follower.rules().iter().filter(kept_now);
        let violated = rules.filter(|rule| ahead.follower.verdict(&rule.id) == Verdict::Violated);
        Ok(Forecast { violated: violated.map(|rule| self.foreseen(rule)).collect(), debt: ahead.follower.debt() })
    }

    /// Evaluates the rules on the next event.
    pub(in crate::pipeline) fn follow(&mut self, entry: &Entry) -> Result<(), AuditError> {
        match &entry.event {
            RunEvent::RuleViolated(violation) if violation.policy == self.policy => {
                self.open.retain(|open| open.rule != violation.rule);
                self.told.insert(violation.rule.clone());
            }
            RunEvent::Labelled(labelled) => _ = self.labelled_by.insert(labelled.given.model.clone()),
            _ => {}
        }
        let line = serde_json::to_vec(entry).expect("an event has string keys only");
        let fallen = self.follower.add_record(&line, entry.seq)?;
        for fallen in fallen.into_iter().filter(|fallen| fallen.decision == Decision::Violated) {
            let rule = self.follower.rules().iter().find(|rule| rule.id == fallen.rule);
            let rule = rule.expect("what falls is one of the rules");
            if !self.told.contains(&fallen.rule) {
                self.open.push(self.violation(rule, entry.seq, fallen.why));
            }
        }
        Ok(())
    }

    /// Evaluates the rules on the events that the journal already holds.
    pub(in crate::pipeline) fn catch_up(&mut self, events: &[Entry]) -> Result<(), RuleMonitorError> {
        if let Some(event) = events.iter().find(|event| !self.is_labelled(event)) {
            return Err(RuleMonitorError::Unlabelled { seq: event.seq });
        }
        events.iter().try_for_each(|event| self.follow(event).map_err(|error| (event.seq, error).into()))
    }

    /// Evaluates the rules on a group before it is written, and appends a `rule_violated` for each violation.
    pub(in crate::pipeline) fn extend(&mut self, draft: &mut Draft) -> Result<(), (u64, AuditError)> {
        let mut at = 0;
        loop {
            while let Some(event) = draft.entries().get(at) {
                self.follow(event).map_err(|error| (event.seq, error))?;
                at += 1;
            }
            if self.open.is_empty() {
                return Ok(());
            }
            let rev = draft.entries().last().map_or(0, |event| event.rev);
            let found = self.open.iter().map(|violation| {
                record("run", Kind::Act, rev, 0, RunEvent::RuleViolated(violation.clone())).after_all()
            });
            draft.extend(found.collect());
        }
    }

    pub(in crate::pipeline) fn policy(&self) -> &Sha {
        &self.policy
    }

    /// Violations that are not journaled yet.
    pub(in crate::pipeline) fn open(&self) -> &[Violation] {
        &self.open
    }

    /// The same; they count as journaled from now on.
    pub(in crate::pipeline) fn take_open(&mut self) -> Vec<Violation> {
        self.told.extend(self.open.iter().map(|violation| violation.rule.clone()));
        std::mem::take(&mut self.open)
    }

    fn foreseen(&self, rule: &PolicyRule) -> ForeseenViolation {
        ForeseenViolation {
            rule: rule.id.clone(),
            intervention: rule.intervention,
            meaning: self.means(rule),
            owed: self.clone().follower.owed(&rule.id).map(|owed| owed + &self.legend(rule)).unwrap_or_default(),
        }
    }

    /// The wording of the propositions that a rule uses.
    fn legend(&self, rule: &PolicyRule) -> String {
        let names = rule.model_propositions(self.follower.formulas());
        let asked = self.labels.iter().filter(|p| names.contains(&p.name));
        let words: Vec<String> = asked.map(|p| format!("`model:{}`: {}", p.name, p.asks)).collect();
        if words.is_empty() { String::new() } else { format!(" ({})", words.join("; ")) }
    }

    fn untrusted(&self, rule: &PolicyRule) -> Option<Untrusted> {
        let propositions: Vec<String> =
            rule.model_propositions(self.follower.formulas()).iter().map(ToString::to_string).collect();
        let models = self.labelled_by.iter().cloned().collect();
        (!propositions.is_empty()).then_some(Untrusted { propositions, models })
    }

    /// The undecided rules that have an intervention.
    pub(in crate::pipeline) fn undecided(&self) -> Vec<ForeseenViolation> {
        let open = |rule: &&PolicyRule| {
            let verdict = self.follower.verdict(&rule.id);
            rule.intervention.is_some() && !matches!(verdict, Verdict::Satisfied | Verdict::Violated)
        };
        self.follower.rules().iter().filter(open).map(|rule| self.foreseen(rule)).collect()
    }

    /// See [`Run::foresee`](crate::pipeline::Run::foresee).
    pub(in crate::pipeline) fn foresee(
        &self,
        mut draft: Draft,
        records: Vec<Record>,
        before: usize,
    ) -> Result<BTreeMap<String, Vec<PrefixVerdict>>, (u64, AuditError)> {
        let mut ahead = self.clone();
        let asks = self.follower.rules().iter().filter(|rule| rule.intervention.is_some());
        let mut verdicts: BTreeMap<String, Vec<PrefixVerdict>> =
            asks.map(|rule| (rule.id.clone(), Vec::new())).collect();
        draft.extend(records);
        for (at, event) in draft.entries().iter().enumerate() {
            ahead.follow(event).map_err(|error| (event.seq, error))?;
            if at < before {
                continue;
            }
            for (rule, of) in &mut verdicts {
                of.push(match ahead.follower.verdict(rule) {
                    Verdict::Satisfied => PrefixVerdict::Satisfied,
                    Verdict::Violated => PrefixVerdict::Violated,
                    Verdict::PresumablySatisfied | Verdict::PresumablyViolated => PrefixVerdict::Undecided,
                });
            }
        }
        verdicts.retain(|_, of| of.first() == Some(&PrefixVerdict::Undecided));
        Ok(verdicts)
    }

    /// The verdicts on the rules if the journal ended after these records.
    pub(in crate::pipeline) fn ends(
        &self,
        mut draft: Draft,
        records: &[Record],
    ) -> Result<Vec<RuleEnd>, (u64, AuditError)> {
        let mut ahead = self.clone();
        draft.extend(records.to_vec());
        ahead.extend(&mut draft)?;
        let rules = ahead.follower.rules().to_vec();
        let end = |rule: &PolicyRule| {
            let verdict = ahead.follower.verdict(&rule.id);
            let owed = if verdict == Verdict::PresumablyViolated { ahead.follower.owed(&rule.id) } else { None };
            RuleEnd {
                rule: rule.id.clone(),
                severity: rule.severity.name().to_owned(),
                verdict: verdict.name().to_owned(),
                meaning: self.means(rule),
                owed,
                why: ahead.follower.first_failure(&rule.id),
                forbade_approval: false,
                never_evaluated: ahead.follower.was_evaluated(&rule.id) == Some(false),
                untrusted: ahead.untrusted(rule),
            }
        };
        Ok(rules.iter().map(end).collect())
    }

    fn means(&self, rule: &PolicyRule) -> String {
        rule.description.clone().unwrap_or_else(|| self.follower.describe(rule) + &self.legend(rule))
    }

    fn violation(&self, rule: &PolicyRule, culprit: u64, why: Option<String>) -> Violation {
        Violation {
            rule: rule.id.clone(),
            severity: rule.severity.name().to_owned(),
            formula: self.follower.formula_text(rule),
            meaning: self.follower.describe(rule),
            description: rule.description.clone(),
            culprit,
            why,
            policy: self.policy.clone(),
            untrusted: self.untrusted(rule),
        }
    }
}

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RuleMonitorError {
    /// The policy cannot be read any more.
    #[error("the policy of the run: {0}")]
    Policy(#[from] AdmissionError),
    /// Its text is not available.
    #[error(transparent)]
    Store(#[from] crate::journal::StoreError),
    /// An answer was accepted without labels.
    #[error(
        "event {seq} has an answer without the labels that the policy needs; use another policy, start a new run with this \
         one, or audit the run with it"
    )]
    Unlabelled { seq: u64 },
    #[error("event {seq} cannot be evaluated under the policy: {source}")]
    Event { seq: u64, source: AuditError },
}

impl From<(u64, AuditError)> for RuleMonitorError {
    fn from((seq, source): (u64, AuditError)) -> Self {
        Self::Event { seq, source }
    }
}
