//! A policy of the user's own, watched over the journal as it grows. What it finds is journaled in the same group as the
//! event that broke a rule, so that the journal tells it whatever happens to the process.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::admission::{AdmissionError, Admitted, admitted};
use super::events::{AnswerLabels, Draft, Entry, Record, RunEvent};
use super::lifelines::lifelines;
use super::records::Stored;
use super::run::record;
use crate::journal::{ArtifactStore, Kind, Sha};
use crate::monitor::log::{Mapping, Shape, TextStore};
use crate::monitor::trac::Decision;
use crate::monitor::{
    AuditError, Intervention, InterventionSettings, LiveAudit, PolicyRule, PredictionMethod, Propositions, Scope,
    Severity, Verdict,
};
use crate::temporal::{Debt, Standing};

/// A rule that was violated (`rule_violated`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Violation {
    /// The rule.
    pub rule: String,
    /// `info`, `warning` or `error`.
    pub severity: String,
    /// Its formula.
    pub formula: String,
    /// What it asks for, in words.
    pub means: String,
    /// What it is for, in the words of whoever wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The number of the event that decided it.
    pub culprit: u64,
    /// What was true there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// The policy that the rule is of.
    pub policy: Sha,
    /// What it rests on that a model has judged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub untrusted: Option<Untrusted>,
}

/// Labels that a verdict rests on and a model gave: whoever reads the verdict has to know that.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Untrusted {
    /// The propositions.
    pub propositions: Vec<String>,
    /// Who labelled the answers so far.
    pub by: Vec<String>,
}

impl Untrusted {
    /// In words.
    pub fn words(&self) -> String {
        let all: Vec<String> = self.propositions.iter().map(|name| format!("model:{name}")).collect();
        let by = if self.by.is_empty() { "a model".to_owned() } else { self.by.join(", ") };
        format!("rests on labels by {by}: untrusted ({})", all.join(", "))
    }
}

/// An answer that would have violated a rule was met (`intervened`).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Intervened {
    /// The rule that asked for it.
    pub rule: String,
    /// How.
    pub which: Intervention,
    /// What was asked for.
    pub purpose: String,
    /// Further answers.
    pub calls: u32,
    /// The one that was taken; 0 is the first.
    pub candidate: u32,
    /// The rules that the first answer would have violated and the taken one did not.
    pub prevented: Vec<String>,
    /// The rules that the taken one violated.
    pub violated: Vec<String>,
    /// What the rule owed before the first answer, in words.
    pub owed: String,
    /// US dollars of the further answers, where all their prices are known.
    pub cost_usd: Option<f64>,
    /// Their tokens.
    pub tokens: u64,
    /// What each answer that came would have come to, the first one first.
    #[serde(default)]
    pub samples: Vec<Sampled>,
}

/// What an answer would come to, were it taken (`samples` of `intervened`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Sampled {
    /// Its number.
    pub candidate: u32,
    /// The rules that it would violate.
    pub violated: Vec<String>,
    /// Those with an intervention that it leaves open, and that are predicted to be violated after it.
    pub predicted: Vec<String>,
    /// What the rules would owe.
    pub owes: Owes,
}

/// What rules would owe; less is better, the first number before all others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct Owes {
    /// Rules with an intervention that are violated by the answer.
    pub met: usize,
    /// Those that are predicted to be violated.
    pub predicted: usize,
    /// Rules about the whole journal that are violated in all.
    pub violated: usize,
    /// As of [`Debt`].
    pub steps: u32,
    /// As of [`Debt`].
    pub obligations: u32,
}

impl Sampled {
    /// Which of several is taken: the one that owes least, the earlier of equals.
    pub fn best(all: &[Sampled]) -> Option<usize> {
        (0..all.len()).min_by_key(|at| all[*at].owes)
    }
}

/// What was asked to foresee where an answer leads (`predicted`).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Predicted {
    /// What the answer had been asked for.
    pub purpose: String,
    /// Which answer to that; 0 is the first.
    pub candidate: u32,
    /// How it was predicted.
    pub how: PredictionMethod,
    /// What counts as a violation.
    pub pattern: String,
    /// Steps that are looked ahead.
    pub steps: u32,
    /// The probability from which on a rule counts as violated.
    pub threshold: f64,
    /// How probable it is of each rule.
    pub estimates: BTreeMap<String, f64>,
    /// Further answers that it took.
    pub calls: u32,
    /// US dollars of these, where all their prices are known.
    pub cost_usd: Option<f64>,
    /// Their tokens.
    pub tokens: u64,
}

/// How a rule stands where a run has ended (`rules` of `run_finished`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RuleEnd {
    /// The rule.
    pub rule: String,
    /// `info`, `warning` or `error`.
    pub severity: String,
    /// `satisfied`, `violated`, `presumably_satisfied` or `presumably_violated`, as an audit of the journal says it.
    pub verdict: String,
    /// What it asks for, in words.
    pub means: String,
    /// What would still have to come, in words, where the journal ends before it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owed: Option<String>,
    /// Of a causal rule, what was false where it failed first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// It would have been broken by the approval, which it has forbidden.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub forbade: bool,
    /// Of a causal rule: the journal has no event to ask it at.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub never_asked: bool,
    /// What it rests on that a model has judged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub untrusted: Option<Untrusted>,
}

impl RuleEnd {
    /// Whether the journal breaks the rule as it ends.
    pub fn is_broken(&self) -> bool {
        self.verdict.ends_with("violated")
    }

    /// Whether that forbids an approval.
    pub(super) fn forbids(&self) -> bool {
        self.is_broken() && self.severity == Severity::Error.name()
    }

    /// Why, in words.
    pub fn words(&self) -> String {
        let owed = self.owed.as_ref().map_or_else(String::new, |owed| format!("; still owed: {owed}"));
        let why = self.why.as_ref().map_or_else(String::new, |why| format!(" ({why})"));
        let untrusted = self.untrusted.as_ref().map_or_else(String::new, |u| format!("; it {}", u.words()));
        format!("rule `{}` is broken: {}{owed}{why}{untrusted}", self.rule, self.means)
    }
}

/// What an event would come to, if it came next.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Forecast {
    /// The rules that it would violate, in the policy's order.
    pub violated: Vec<Foreseen>,
    /// What all rules would owe after it: how many are violated, and what the others owe at most. Less is better.
    pub debt: (usize, Debt),
}

impl Forecast {
    /// The same in short, as the journal tells it of an answer after which these rules are predicted to be violated.
    pub fn sampled(&self, candidate: u32, predicted: Vec<String>) -> Sampled {
        let (violated, Debt { steps, obligations }) = self.debt;
        let met = self.violated.iter().filter(|rule| rule.intervention.is_some()).count();
        let owes = Owes { met, predicted: predicted.len(), violated, steps, obligations };
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
    pub means: String,
    /// What it owes before, in words.
    pub owed: String,
}

/// The rules of a policy on their way through the journal.
#[derive(Clone)]
pub(super) struct Watch {
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
    pub(super) fn of(stored: &Stored, store: &ArtifactStore) -> Result<Self, WatchError> {
        let policy = admitted(&store.text(&stored.sha)?)?;
        Ok(Self::new(policy, stored.sha.clone(), store))
    }

    pub(super) fn new(policy: Admitted, sha: Sha, store: &ArtifactStore) -> Self {
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
    pub(super) fn intervening(&self) -> Option<InterventionSettings> {
        let asks = self.follower.rules().iter().any(|rule| rule.intervention.is_some());
        (asks || !self.labels.is_empty()).then(|| self.intervening.clone())
    }

    /// What a model has to judge of each answer.
    pub(super) fn labels(&self) -> &Propositions {
        &self.labels
    }

    /// That an answer of the journal is labelled with what the rules speak of.
    fn is_labelled(&self, entry: &Entry) -> bool {
        let answer = match &entry.event {
            RunEvent::AnswerReceived(received) => received.told.as_ref(),
            RunEvent::AnswerTaken(taken) => Some(&taken.told),
            _ => None,
        };
        let asked = |labels: &AnswerLabels| labels.asked == self.labels.sha();
        self.labels.is_empty() || answer.is_none_or(|answer| answer.labels.as_ref().is_some_and(asked))
    }

    /// What the rules about the whole journal ask for, in words.
    pub(super) fn in_words(&self) -> Vec<(String, String)> {
        let of_all = |rule: &&PolicyRule| matches!(rule.scope, Scope::Trace(_));
        self.follower.rules().iter().filter(of_all).map(|rule| (rule.id.clone(), self.means(rule))).collect()
    }

    /// What this event would come to, if it came next.
    pub(super) fn forecast(&self, mut draft: Draft, records: Vec<Record>) -> Result<Forecast, (u64, AuditError)> {
        let mut ahead = self.clone();
        draft.extend(records);
        ahead.extend(&mut draft)?;
        let kept_now = |rule: &&PolicyRule| self.follower.verdict(&rule.id) != Verdict::Violated;
        let rules = self.follower.rules().iter().filter(kept_now);
        let violated = rules.filter(|rule| ahead.follower.verdict(&rule.id) == Verdict::Violated);
        Ok(Forecast { violated: violated.map(|rule| self.foreseen(rule)).collect(), debt: ahead.follower.debt() })
    }

    /// Takes the next event of the journal.
    pub(super) fn follow(&mut self, entry: &Entry) -> Result<(), AuditError> {
        match &entry.event {
            RunEvent::RuleViolated(violation) if violation.policy == self.policy => {
                self.open.retain(|open| open.rule != violation.rule);
                self.told.insert(violation.rule.clone());
            }
            RunEvent::Labelled(labelled) => _ = self.labelled_by.insert(labelled.given.by.clone()),
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
    pub(super) fn catch_up(&mut self, events: &[Entry]) -> Result<(), WatchError> {
        if let Some(event) = events.iter().find(|event| !self.is_labelled(event)) {
            return Err(WatchError::Unlabelled { seq: event.seq });
        }
        events.iter().try_for_each(|event| self.follow(event).map_err(|error| (event.seq, error).into()))
    }

    /// Takes the events of a group that is to be written, and puts behind them what they break.
    pub(super) fn extend(&mut self, draft: &mut Draft) -> Result<(), (u64, AuditError)> {
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
    pub(super) fn policy(&self) -> &Sha {
        &self.policy
    }

    /// How a violation of a rule is met.
    pub(super) fn intervention(&self, rule: &str) -> Option<Intervention> {
        self.follower.rules().iter().find(|known| known.id == rule)?.intervention
    }

    /// The violations that the journal has not told so far.
    pub(super) fn open(&self) -> &[Violation] {
        &self.open
    }

    /// The same; they count as told.
    pub(super) fn take_open(&mut self) -> Vec<Violation> {
        self.told.extend(self.open.iter().map(|violation| violation.rule.clone()));
        std::mem::take(&mut self.open)
    }

    fn foreseen(&self, rule: &PolicyRule) -> Foreseen {
        Foreseen {
            rule: rule.id.clone(),
            intervention: rule.intervention,
            means: self.means(rule),
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
        let by = self.labelled_by.iter().cloned().collect();
        (!propositions.is_empty()).then_some(Untrusted { propositions, by })
    }

    /// The rules that ask for an intervention and are not decided yet.
    pub(super) fn undecided(&self) -> Vec<Foreseen> {
        let open = |rule: &&PolicyRule| {
            let verdict = self.follower.verdict(&rule.id);
            rule.intervention.is_some() && !matches!(verdict, Verdict::Satisfied | Verdict::Violated)
        };
        self.follower.rules().iter().filter(open).map(|rule| self.foreseen(rule)).collect()
    }

    /// The verdicts on each rule that asks for an intervention after each of these events, of those rules that the first
    /// one leaves undecided.
    pub(super) fn foresee(
        &self,
        mut draft: Draft,
        records: Vec<Record>,
        before: usize,
    ) -> Result<BTreeMap<String, Vec<Standing>>, (u64, AuditError)> {
        let mut ahead = self.clone();
        let asks = self.follower.rules().iter().filter(|rule| rule.intervention.is_some());
        let mut verdicts: BTreeMap<String, Vec<Standing>> = asks.map(|rule| (rule.id.clone(), Vec::new())).collect();
        draft.extend(records);
        for (at, event) in draft.entries().iter().enumerate() {
            ahead.follow(event).map_err(|error| (event.seq, error))?;
            if at < before {
                continue;
            }
            for (rule, of) in &mut verdicts {
                of.push(match ahead.follower.verdict(rule) {
                    Verdict::Satisfied => Standing::Satisfied,
                    Verdict::Violated => Standing::Violated,
                    Verdict::PresumablySatisfied | Verdict::PresumablyViolated => Standing::Undecided,
                });
            }
        }
        verdicts.retain(|_, of| of.first() == Some(&Standing::Undecided));
        Ok(verdicts)
    }

    /// How each rule would stand if the journal ended behind these records.
    pub(super) fn ends(&self, mut draft: Draft, records: &[Record]) -> Result<Vec<RuleEnd>, (u64, AuditError)> {
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
                means: self.means(rule),
                owed,
                why: ahead.follower.first_failure(&rule.id),
                forbade: false,
                never_asked: ahead.follower.was_evaluated(&rule.id) == Some(false),
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
            means: self.follower.describe(rule),
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

/// Where a run's journal has what formulas speak of; what `mapping` says counts instead.
pub fn journal_mapping(mapping: Mapping) -> Mapping {
    let mapping = mapping.with_shape_defaults(Shape::Journal);
    let told = |field: &str| format!("data.told.{field}");
    Mapping {
        tool_call: mapping.tool_call.or_else(|| Some(vec![told("tools")])),
        stored_text: Some(told("text")),
        stop_reason: mapping.stop_reason.or_else(|| Some(vec![told("stop_reason")])),
        model_labels: Some(told("labels")),
        model_label_source: Some(["told.asked".to_owned(), "told.by".to_owned()]),
        lifelines: mapping.lifelines.or_else(|| Some(lifelines().map(str::to_owned).collect())),
        ..mapping
    }
}

/// The texts that a run keeps: answers of models, by the names that the journal gives them.
pub fn kept_texts(store: ArtifactStore) -> TextStore {
    TextStore::new(move |name| {
        let sha = Sha::deserialize(json!(name)).map_err(|e| e.to_string())?;
        store.text(&sha).map_err(|e| e.to_string())
    })
}
