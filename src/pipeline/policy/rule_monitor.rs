//! A policy of the user's own, watched over the journal as it grows. What it finds is journaled in the same group as the
//! event that broke a rule, so that the journal tells it whatever happens to the process.

use std::collections::{BTreeMap, BTreeSet};

use super::admission::{AdmissionError, Admitted, admitted};
use super::journal_mapping::kept_texts;
use crate::journal::{ArtifactStore, Kind, Sha};
use crate::monitor::trac::Decision;
use crate::monitor::{AuditError, LiveAudit, InterventionSettings, Intervention, PolicyRule, Propositions, Scope, Verdict};
use crate::pipeline::records::{
    AnswerLabels, Draft, Entry, Owes, Record, RuleEnd, RunEvent, Sampled, Stored, Untrusted, Violation, record,
};
use crate::temporal::{PrefixVerdict, ResidualCost};

/// What an event would come to, if it came next.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Forecast {
    /// The rules that it would violate, in the policy's order.
    pub violated: Vec<Foreseen>,
    /// What all rules would owe after it: how many are violated, and what the others owe at most. Less is better.
    pub debt: (usize, ResidualCost),
}

impl Forecast {
    /// The same in short, as the journal tells it of an answer after which these rules are predicted to be violated.
    pub fn sampled(&self, candidate: u32, predicted: Vec<String>) -> Sampled {
        let (violated, ResidualCost { steps, obligations }) = self.debt;
        let with_intervention = self.violated.iter().filter(|rule| rule.intervention.is_some()).count();
        let owes = Owes { with_intervention, predicted: predicted.len(), violated, steps, obligations };
        Sampled { candidate, violated: self.violated.iter().map(|rule| rule.rule.clone()).collect(), predicted, owes }
    }
}

/// A rule that would be violated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Foreseen {
    /// The rule.
    pub rule: String,
    /// How that is met.
    pub intervention: Option<Intervention>,
    /// What it asks for, in words.
    pub meaning: String,
    /// What it owes before, in words.
    pub owed: String,
}

/// The rules of a policy on their way through the journal.
#[derive(Clone)]
pub(in crate::pipeline) struct Watch {
    follower: LiveAudit,
    intervening: InterventionSettings,
    labels: Propositions,
    /// Who labelled answers so far.
    labelled_by: BTreeSet<String>,
    policy: Sha,
    /// The rules whose violation is journaled.
    told: BTreeSet<String>,
    /// Those whose violation is not journaled yet.
    open: Vec<Violation>,
}

impl Watch {
    /// A policy that the run was put under, before the first event of the journal.
    pub(in crate::pipeline) fn of(stored: &Stored, store: &ArtifactStore) -> Result<Self, WatchError> {
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

    /// How answers are met before they are taken, where some rule asks for that: one that would violate it, or one that has
    /// to be labelled first.
    pub(in crate::pipeline) fn intervening(&self) -> Option<InterventionSettings> {
        let asks = self.follower.rules().iter().any(|rule| rule.intervention.is_some());
        (asks || !self.labels.is_empty()).then(|| self.intervening.clone())
    }

    /// What a model has to judge of each answer.
    pub(in crate::pipeline) fn labels(&self) -> &Propositions {
        &self.labels
    }

    /// That an answer of the journal is labelled with what the rules speak of.
    fn is_labelled(&self, entry: &Entry) -> bool {
        let answer = match &entry.event {
            RunEvent::AnswerReceived(received) => received.answer.as_ref(),
            RunEvent::AnswerAccepted(taken) => Some(&taken.answer),
            _ => None,
        };
        let asked = |labels: &AnswerLabels| labels.propositions == self.labels.sha();
        self.labels.is_empty() || answer.is_none_or(|answer| answer.labels.as_ref().is_some_and(asked))
    }

    /// What the rules about the whole journal ask for, in words.
    pub(in crate::pipeline) fn in_words(&self) -> Vec<(String, String)> {
        let of_all = |rule: &&PolicyRule| matches!(rule.scope, Scope::Trace(_));
        self.follower.rules().iter().filter(of_all).map(|rule| (rule.id.clone(), self.means(rule))).collect()
    }

    /// What this event would come to, if it came next.
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

    /// Takes the next event of the journal.
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

    /// Takes what the journal holds already.
    pub(in crate::pipeline) fn catch_up(&mut self, events: &[Entry]) -> Result<(), WatchError> {
        if let Some(event) = events.iter().find(|event| !self.is_labelled(event)) {
            return Err(WatchError::Unlabelled { seq: event.seq });
        }
        events.iter().try_for_each(|event| self.follow(event).map_err(|error| (event.seq, error).into()))
    }

    /// Takes the events of a group that is to be written, and puts behind them what they break.
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

    /// The policy.
    pub(in crate::pipeline) fn policy(&self) -> &Sha {
        &self.policy
    }

    /// The violations that the journal has not told so far.
    pub(in crate::pipeline) fn open(&self) -> &[Violation] {
        &self.open
    }

    /// The same; they count as told.
    pub(in crate::pipeline) fn take_open(&mut self) -> Vec<Violation> {
        self.told.extend(self.open.iter().map(|violation| violation.rule.clone()));
        std::mem::take(&mut self.open)
    }

    fn foreseen(&self, rule: &PolicyRule) -> Foreseen {
        Foreseen {
            rule: rule.id.clone(),
            intervention: rule.intervention,
            meaning: self.means(rule),
            owed: self.clone().follower.owed(&rule.id).map(|owed| owed + &self.legend(rule)).unwrap_or_default(),
        }
    }

    /// What the propositions ask of which a rule speaks, for whoever has to keep it.
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

    /// The rules that ask for an intervention and are not decided yet.
    pub(in crate::pipeline) fn undecided(&self) -> Vec<Foreseen> {
        let open = |rule: &&PolicyRule| {
            let verdict = self.follower.verdict(&rule.id);
            rule.intervention.is_some() && !matches!(verdict, Verdict::Satisfied | Verdict::Violated)
        };
        self.follower.rules().iter().filter(open).map(|rule| self.foreseen(rule)).collect()
    }

    /// The verdicts on each rule that asks for an intervention after each of these events, of those rules that the first
    /// one leaves undecided.
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

    /// How each rule would stand if the journal ended behind these records.
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

/// Why a run cannot be watched.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WatchError {
    /// The policy cannot be read any more.
    #[error("the policy of the run: {0}")]
    Policy(#[from] AdmissionError),
    /// Its text is not to be had.
    #[error(transparent)]
    Store(#[from] crate::journal::StoreError),
    /// An answer was taken before anybody asked for labels of it.
    #[error(
        "event {seq} holds an answer that was not labelled with what the policy's rules speak of; take another policy, forge \
         again under this one, or audit the run with it"
    )]
    Unlabelled {
        /// Its number.
        seq: u64,
    },
    /// An event cannot be followed.
    #[error("event {seq} cannot be held against the policy: {source}")]
    Event {
        /// Its number.
        seq: u64,
        /// Why not.
        source: AuditError,
    },
}

impl From<(u64, AuditError)> for WatchError {
    fn from((seq, source): (u64, AuditError)) -> Self {
        Self::Event { seq, source }
    }
}
