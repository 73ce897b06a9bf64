//! Formalizations that are drafted side by side (`--candidates`): the result of each, and which one was chosen.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::claims::CandidateClaims;
use super::metrics::ObjectiveStep;
use super::rank::RevisionRank;
use crate::journal::Sha;

/// How far a candidate has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// Drafted, translated, parsed and quickly checked.
    Formalization,
    /// With properties, and checked with them.
    Properties,
}

/// The result of a check with small constants.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct QuickCheck {
    /// `holds`, `violated`, `invalid` or `inconclusive`.
    pub verdict: String,
    /// What is violated, or why there is no verdict.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub timed_out: bool,
    /// Distinct states.
    pub distinct: Option<u64>,
    /// Whether more than the initial states was reached.
    pub moved: bool,
    pub seconds: f64,
    /// The value of each constant.
    pub constants: BTreeMap<String, String>,
    /// The output of the tool.
    pub output: Sha,
}

/// The result of a candidate (`candidate_finished`).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Candidate {
    /// The number of the candidate, from 1.
    pub candidate: u32,
    pub stage: Stage,
    /// The answer with its module.
    pub answer: Sha,
    /// The module without its translation, if the answer holds one.
    pub source: Option<Sha>,
    /// The module that the tools accepted, with its properties if it has some.
    pub module: Option<Sha>,
    /// The answer with its properties.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub properties: Option<Sha>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cfg: Option<Sha>,
    /// `None` if no quick check was possible.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quick: Option<QuickCheck>,
    /// The rank with its properties.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rank: Option<RevisionRank>,
    /// The step of the run's objective.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<ObjectiveStep>,
    /// How long its answer took.
    #[serde(default)]
    pub seconds: f64,
    /// What is wrong with it, or why it was not checked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

impl Candidate {
    /// More is better. Without properties: 0 unreadable, 1 rejected, then by its quick check: 2 cannot be evaluated, 3
    /// violated, 4 undecided, 5 nothing found. With properties 100 and more, in the order of
    /// [`RevisionRank::sort_key`].
    pub fn points(&self) -> u64 {
        if let Some(rank) = &self.rank {
            let flag = |holds: bool, weight: u64| if holds { weight } else { 0 };
            let covered = u64::try_from(rank.covered).unwrap_or(u64::MAX).min(999);
            let flags = flag(rank.parses, 4) + flag(rank.not_vacuous, 2) + flag(rank.holds, 1);
            return 100 + flags * 1_000 + covered;
        }
        match (&self.source, &self.module, &self.quick) {
            (None, _, _) => 0,
            (Some(_), None, _) => 1,
            (_, _, None) => 4,
            (_, _, Some(quick)) => match quick.verdict.as_str() {
                "invalid" => 2,
                "violated" => 3,
                "holds" if quick.moved => 5,
                "holds" => 3,
                _ => 4,
            },
        }
    }

    /// Whether it has no known defect. After a good candidate, the others have limited time.
    pub fn is_good(&self) -> bool {
        match &self.rank {
            Some(rank) => rank.parses && rank.not_vacuous && rank.holds,
            None => self.points() >= 4,
        }
    }

    /// The result in one line.
    pub fn words(&self) -> String {
        let why = self.why.as_deref().and_then(|why| why.trim_start_matches("- ").lines().next()).unwrap_or_default();
        let checked = |quick: &QuickCheck| {
            let states = quick.distinct.map_or_else(String::new, |n| format!(", {n} states"));
            let why = quick.why.as_deref().and_then(|why| why.lines().next()).unwrap_or_default();
            let why = if why.is_empty() { String::new() } else { format!(" ({why})") };
            format!("{}{why}{states}", quick.verdict)
        };
        match (self.stage, &self.rank, &self.quick) {
            (Stage::Properties, Some(rank), Some(quick)) if rank.parses => {
                format!("with its properties {}, requirements covered: {}", checked(quick), rank.covered)
            }
            (Stage::Properties, _, _) => format!("its properties were not accepted: {why}"),
            (_, _, _) if self.source.is_none() => format!("not readable: {why}"),
            (_, _, _) if self.module.is_none() => format!("rejected: {why}"),
            (_, _, Some(quick)) => format!("accepted, quick check {}", checked(quick)),
            (_, _, None) => why.to_owned(),
        }
    }

    /// The claims for formulas.
    pub fn claims(&self) -> CandidateClaims {
        CandidateClaims {
            points: self.points(),
            source: self.source.clone(),
            module: self.module.clone(),
            cfg: self.cfg.clone(),
            accepted: self.module.is_some(),
            verdict: self.quick.as_ref().map(|quick| quick.verdict.clone()),
        }
    }
}

/// What a choice depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ChosenBy {
    /// The results of the tools.
    Points,
    /// The run's objective, then the points.
    Objective,
}

/// The candidate that goes on (`candidate_chosen`).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Chosen {
    pub chosen: u32,
    pub criterion: ChosenBy,
    /// The points of the received candidates.
    pub received: BTreeMap<u32, u64>,
    /// Candidates that had not finished, or had no result.
    pub missing: Vec<u32>,
    pub why: String,
}

/// The candidates of one revision.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Candidates {
    /// How many candidates were to be drafted.
    #[serde(default)]
    pub total: u32,
    /// The last result of each candidate.
    pub all: Vec<Candidate>,
    pub chosen: Option<Chosen>,
    /// Candidates without a result.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub abandoned: BTreeMap<u32, AbandonedCandidate>,
    /// Candidates that have begun and not finished.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub unfinished: BTreeSet<u32>,
}

impl Candidates {
    /// A candidate begins a stage.
    pub(in crate::pipeline) fn begin(&mut self, candidate: u32, total: u32) {
        self.total = self.total.max(total);
        self.abandoned.remove(&candidate);
        self.unfinished.insert(candidate);
    }

    /// A candidate finishes a stage.
    pub(in crate::pipeline) fn finish(&mut self, one: Candidate) {
        let number = one.candidate;
        self.all.retain(|other| other.candidate != number);
        self.all.push(one);
        self.all.sort_by_key(|one| one.candidate);
        self.unfinished.remove(&number);
        self.abandoned.remove(&number);
    }

    pub(in crate::pipeline) fn abandon(&mut self, one: AbandonedCandidate) {
        self.unfinished.remove(&one.candidate);
        self.abandoned.insert(one.candidate, one);
    }

    /// All candidates that have begun.
    pub fn begun(&self) -> BTreeSet<u32> {
        let finished = self.all.iter().map(|one| one.candidate);
        finished.chain(self.unfinished.iter().copied()).chain(self.abandoned.keys().copied()).collect()
    }

    /// The files for the history, by name: the module of each candidate, or else its answer, and its configuration.
    pub(in crate::pipeline) fn files(&self) -> impl Iterator<Item = (String, &Sha)> {
        let kept = self.all.iter().flat_map(|one| {
            let number = one.candidate;
            let drafted = match one.module.as_ref().or(one.source.as_ref()) {
                Some(module) => (format!("{number}.tla"), module),
                None => (format!("{number}.md"), &one.answer),
            };
            let properties = match (&one.cfg, &one.properties) {
                (Some(cfg), _) => Some((format!("{number}.cfg"), cfg)),
                (None, Some(answer)) => Some((format!("{number}.properties.md"), answer)),
                (None, None) => None,
            };
            std::iter::once(drafted).chain(properties)
        });
        let unread =
            self.abandoned.values().filter(|one| self.all.iter().all(|other| other.candidate != one.candidate));
        kept.chain(unread.filter_map(|one| Some((format!("{}.md", one.candidate), one.answer.as_ref()?))))
    }
}

/// A candidate without a result (`candidate_abandoned`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AbandonedCandidate {
    pub candidate: u32,
    pub why: String,
    /// An answer that no node has read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<Sha>,
}
