//! The user's policy, evaluated on each event of a run. A violation is journaled in the same group as the event that
//! caused it, so that a crash cannot lose it.

use std::collections::{BTreeMap, BTreeSet};

use super::admission::{AdmissionError, Admitted, load_unchecked};
use super::journal_mapping::kept_texts;
use crate::journal::{ArtifactStore, Kind, Sha};
use crate::monitor::trac::Decision;
use crate::monitor::{
    AuditError, Intervention, InterventionSettings, LiveAudit, PolicyRule, Propositions, Scope, Verdict,
};
use crate::pipeline::records::{
    AnswerLabels, Draft, Entry, Record, RuleEnd, RunEvent, SampleResidual, Sampled, StoredFile, Untrusted, Violation,
    record,
};
use crate::temporal::{PrefixVerdict, ResidualCost};

/// The verdicts on the rules if some events came next.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PredictedVerdicts {
    /// The rules that they would violate, in the order of the policy.
    pub violated: Vec<PredictedViolation>,
    /// How many rules are violated, and the residual cost of the others. Less is better.
    pub residual_cost: (usize, ResidualCost),
}

impl PredictedVerdicts {
    /// The same for the journal, with the rules that are predicted to be violated after it.
    pub fn sampled(&self, sample: u32, predicted: Vec<String>) -> Sampled {
        let (violated, ResidualCost { steps, obligations }) = self.residual_cost;
        let with_intervention = self.violated.iter().filter(|rule| rule.intervention.is_some()).count();
        let residual = SampleResidual { with_intervention, predicted: predicted.len(), violated, steps, obligations };
        Sampled { sample, violated: self.violated.iter().map(|rule| rule.rule.clone()).collect(), predicted, residual }
    }
}

/// A rule that an answer would violate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PredictedViolation {
    pub rule: String,
    pub intervention: Option<Intervention>,
    /// The rule in words.
    pub meaning: String,
    /// Its residual before the answer, in words.
    pub residual: String,
}

/// The rules of a policy with their state after the events so far.
#[derive(Clone)]
pub(in crate::pipeline) struct RuleMonitor {
    audit: LiveAudit,
    intervening: InterventionSettings,
    labels: Propositions,
    /// The models that have labelled answers so far.
    labelled_by: BTreeSet<String>,
    policy: Sha,
    /// The rules whose violation is journaled.
    journaled: BTreeSet<String>,
    /// Violations that are not journaled yet.
    open: Vec<Violation>,
}

impl RuleMonitor {
    /// The policy of a run, before the first event of its journal.
    pub(in crate::pipeline) fn load(stored: &StoredFile, store: &ArtifactStore) -> Result<Self, RuleMonitorError> {
        let policy = load_unchecked(&store.text(&stored.sha)?)?;
        Ok(Self::new(policy, stored.sha.clone(), store))
    }

    pub(in crate::pipeline) fn new(policy: Admitted, sha: Sha, store: &ArtifactStore) -> Self {
        let audit = policy.audit.with_text_store(kept_texts(store.clone()));
        Self {
            audit,
            intervening: policy.intervening,
            labels: policy.labels,
            labelled_by: BTreeSet::new(),
            policy: sha,
            journaled: BTreeSet::new(),
            open: Vec::new(),
        }
    }

    /// The settings of interventions; `None` if no rule has an intervention and none uses labels.
    pub(in crate::pipeline) fn intervening(&self) -> Option<InterventionSettings> {
        let asks = self.audit.rules().iter().any(|rule| rule.intervention.is_some());
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
            RunEvent::AnswerAccepted(accepted) => Some(&accepted.answer),
            RunEvent::RunStarted(_)
            | RunEvent::RunResumed(_)
            | RunEvent::BranchStarted(_)
            | RunEvent::AttemptStarted(_)
            | RunEvent::RequestSent(_)
            | RunEvent::AnswerOffered(_)
            | RunEvent::Labelled(_)
            | RunEvent::Intervened(_)
            | RunEvent::Predicted(_)
            | RunEvent::AnswerNormalised(_)
            | RunEvent::PartTaken(_)
            | RunEvent::PartMissing(_)
            | RunEvent::CallFailed(_)
            | RunEvent::ModelSwitched(_)
            | RunEvent::RequestPartOmitted(_)
            | RunEvent::ReadRefused(_)
            | RunEvent::AnswerUnreadable(_)
            | RunEvent::ToolFinished(_)
            | RunEvent::CheckFinished(_)
            | RunEvent::CandidateStarted(_)
            | RunEvent::QuickCheckFinished(_)
            | RunEvent::CandidateFinished(_)
            | RunEvent::CandidateReceived(_)
            | RunEvent::CandidateAbandoned(_)
            | RunEvent::LeadersSelected(_)
            | RunEvent::LeaderNotified(_)
            | RunEvent::CandidateChosen(_)
            | RunEvent::MutantsJudged(_)
            | RunEvent::MutantsSampled(_)
            | RunEvent::PropertiesRead(_)
            | RunEvent::AttemptFinished(_)
            | RunEvent::GuardEvaluated(_)
            | RunEvent::Routed(_)
            | RunEvent::ClaimsRestored(_)
            | RunEvent::RevisionClosed(_)
            | RunEvent::RunFinished(_)
            | RunEvent::RuleViolated(_) => None,
        };
        let asked = |labels: &AnswerLabels| labels.propositions == self.labels.sha();
        self.labels.is_empty() || answer.is_none_or(|answer| answer.labels.as_ref().is_some_and(asked))
    }

    /// The rules about the whole journal with their meaning.
    pub(in crate::pipeline) fn in_words(&self) -> Vec<(String, String)> {
        let of_all = |rule: &&PolicyRule| matches!(rule.scope, Scope::Trace(_));
        self.audit.rules().iter().filter(of_all).map(|rule| (rule.id.clone(), self.means(rule))).collect()
    }

    /// The verdicts on the rules if these events came next.
    pub(in crate::pipeline) fn predict(
        &self,
        mut draft: Draft,
        records: Vec<Record>,
    ) -> Result<PredictedVerdicts, (u64, AuditError)> {
        let mut ahead = self.clone();
        draft.extend(records);
        ahead.extend(&mut draft)?;
        let kept_now = |rule: &&PolicyRule| self.audit.verdict(&rule.id) != Verdict::Violated;
        let rules = self.audit.rules().iter().filter(kept_now);
        let violated = rules.filter(|rule| ahead.audit.verdict(&rule.id) == Verdict::Violated);
        let violated = self.predicted_violations(violated);
        Ok(PredictedVerdicts { violated, residual_cost: ahead.audit.residual_cost() })
    }

    /// Evaluates the rules on the next event.
    pub(in crate::pipeline) fn add_event(&mut self, entry: &Entry) -> Result<(), AuditError> {
        match &entry.event {
            // Violations of an earlier policy of the run say nothing about this one.
            RunEvent::RuleViolated(violation) => {
                if violation.policy == self.policy {
                    self.open.retain(|open| open.rule != violation.rule);
                    self.journaled.insert(violation.rule.clone());
                }
            }
            RunEvent::Labelled(labelled) => _ = self.labelled_by.insert(labelled.given.model.clone()),
            RunEvent::RunStarted(_)
            | RunEvent::RunResumed(_)
            | RunEvent::BranchStarted(_)
            | RunEvent::AttemptStarted(_)
            | RunEvent::RequestSent(_)
            | RunEvent::AnswerReceived(_)
            | RunEvent::AnswerAccepted(_)
            | RunEvent::AnswerOffered(_)
            | RunEvent::Intervened(_)
            | RunEvent::Predicted(_)
            | RunEvent::AnswerNormalised(_)
            | RunEvent::PartTaken(_)
            | RunEvent::PartMissing(_)
            | RunEvent::CallFailed(_)
            | RunEvent::ModelSwitched(_)
            | RunEvent::RequestPartOmitted(_)
            | RunEvent::ReadRefused(_)
            | RunEvent::AnswerUnreadable(_)
            | RunEvent::ToolFinished(_)
            | RunEvent::CheckFinished(_)
            | RunEvent::CandidateStarted(_)
            | RunEvent::QuickCheckFinished(_)
            | RunEvent::CandidateFinished(_)
            | RunEvent::CandidateReceived(_)
            | RunEvent::CandidateAbandoned(_)
            | RunEvent::LeadersSelected(_)
            | RunEvent::LeaderNotified(_)
            | RunEvent::CandidateChosen(_)
            | RunEvent::MutantsJudged(_)
            | RunEvent::MutantsSampled(_)
            | RunEvent::PropertiesRead(_)
            | RunEvent::AttemptFinished(_)
            | RunEvent::GuardEvaluated(_)
            | RunEvent::Routed(_)
            | RunEvent::ClaimsRestored(_)
            | RunEvent::RevisionClosed(_)
            | RunEvent::RunFinished(_) => {}
        }
        let line = serde_json::to_vec(entry).expect("an event has string keys only");
        let settled = self.audit.add_record(&line, entry.seq)?;
        for settled in settled.into_iter().filter(|settled| settled.decision == Decision::Violated) {
            let rule = self.audit.rules().iter().find(|rule| rule.id == settled.rule);
            let rule = rule.expect("a settled verdict is about one of the rules");
            if !self.journaled.contains(&settled.rule) {
                self.open.push(self.violation(rule, entry.seq, settled.why));
            }
        }
        Ok(())
    }

    /// Evaluates the rules on the events that the journal already holds.
    pub(in crate::pipeline) fn catch_up(&mut self, events: &[Entry]) -> Result<(), RuleMonitorError> {
        if let Some(event) = events.iter().find(|event| !self.is_labelled(event)) {
            return Err(RuleMonitorError::Unlabelled { seq: event.seq });
        }
        events.iter().try_for_each(|event| self.add_event(event).map_err(|error| (event.seq, error).into()))
    }

    /// Evaluates the rules on a group before it is written, and appends a `rule_violated` for each violation.
    pub(in crate::pipeline) fn extend(&mut self, draft: &mut Draft) -> Result<(), (u64, AuditError)> {
        let mut at = 0;
        loop {
            while let Some(event) = draft.entries().get(at) {
                self.add_event(event).map_err(|error| (event.seq, error))?;
                at += 1;
            }
            if self.open.is_empty() {
                return Ok(());
            }
            let rev = draft.entries().last().map_or(0, |event| event.rev);
            let found = self.open.iter().map(|violation| {
                record("run", Kind::Act, rev, 0, RunEvent::RuleViolated(violation.clone())).with_journal_past()
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
        self.journaled.extend(self.open.iter().map(|violation| violation.rule.clone()));
        std::mem::take(&mut self.open)
    }

    fn predicted_violations<'a>(&self, rules: impl Iterator<Item = &'a PolicyRule>) -> Vec<PredictedViolation> {
        let mut rules = rules.peekable();
        if rules.peek().is_none() {
            return Vec::new();
        }
        // The audit caches the texts of residuals, so it is copied once for all rules.
        let mut audit = self.audit.clone();
        let predicted = rules.map(|rule| PredictedViolation {
            rule: rule.id.clone(),
            intervention: rule.intervention,
            meaning: self.means(rule),
            residual: audit.residual(&rule.id).map(|residual| residual + &self.legend(rule)).unwrap_or_default(),
        });
        predicted.collect()
    }

    /// The wording of the propositions that a rule uses.
    fn legend(&self, rule: &PolicyRule) -> String {
        let names = rule.model_propositions(self.audit.formulas());
        let asked = self.labels.iter().filter(|p| names.contains(&p.name));
        let words: Vec<String> = asked.map(|p| format!("`model:{}`: {}", p.name, p.asks)).collect();
        if words.is_empty() { String::new() } else { format!(" ({})", words.join("; ")) }
    }

    fn untrusted(&self, rule: &PolicyRule) -> Option<Untrusted> {
        let propositions: Vec<String> =
            rule.model_propositions(self.audit.formulas()).iter().map(ToString::to_string).collect();
        let models = self.labelled_by.iter().cloned().collect();
        (!propositions.is_empty()).then_some(Untrusted { propositions, models })
    }

    /// The undecided rules that have an intervention.
    pub(in crate::pipeline) fn undecided(&self) -> Vec<PredictedViolation> {
        let open = |rule: &&PolicyRule| {
            let verdict = self.audit.verdict(&rule.id);
            rule.intervention.is_some() && !matches!(verdict, Verdict::Satisfied | Verdict::Violated)
        };
        self.predicted_violations(self.audit.rules().iter().filter(open))
    }

    /// See [`Run::predict_verdicts`](crate::pipeline::Run::predict_verdicts).
    pub(in crate::pipeline) fn predict_verdicts(
        &self,
        mut draft: Draft,
        records: Vec<Record>,
        before: usize,
    ) -> Result<BTreeMap<String, Vec<PrefixVerdict>>, (u64, AuditError)> {
        let mut ahead = self.clone();
        let asks = self.audit.rules().iter().filter(|rule| rule.intervention.is_some());
        let mut verdicts: BTreeMap<String, Vec<PrefixVerdict>> =
            asks.map(|rule| (rule.id.clone(), Vec::new())).collect();
        draft.extend(records);
        for (at, event) in draft.entries().iter().enumerate() {
            ahead.add_event(event).map_err(|error| (event.seq, error))?;
            if at < before {
                continue;
            }
            for (rule, of) in &mut verdicts {
                of.push(match ahead.audit.verdict(rule) {
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
        let rules = ahead.audit.rules().to_vec();
        let end = |rule: &PolicyRule| {
            let verdict = ahead.audit.verdict(&rule.id);
            let residual = if verdict == Verdict::PresumablyViolated { ahead.audit.residual(&rule.id) } else { None };
            RuleEnd {
                rule: rule.id.clone(),
                severity: rule.severity.name().to_owned(),
                verdict: verdict.name().to_owned(),
                meaning: self.means(rule),
                residual,
                why: ahead.audit.first_failure(&rule.id),
                prevented_approval: false,
                never_evaluated: ahead.audit.was_evaluated(&rule.id) == Some(false),
                untrusted: ahead.untrusted(rule),
            }
        };
        Ok(rules.iter().map(end).collect())
    }

    fn means(&self, rule: &PolicyRule) -> String {
        rule.description.clone().unwrap_or_else(|| self.audit.describe(rule) + &self.legend(rule))
    }

    fn violation(&self, rule: &PolicyRule, decided_at: u64, why: Option<String>) -> Violation {
        Violation {
            rule: rule.id.clone(),
            severity: rule.severity.name().to_owned(),
            formula: self.audit.formula_text(rule),
            meaning: self.audit.describe(rule),
            description: rule.description.clone(),
            decided_at,
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
