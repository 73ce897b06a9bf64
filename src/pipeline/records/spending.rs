//! Tokens and money: of one call, of a node, of a revision, of the run.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::llm::{Estimate, Usage};

/// Tokens and money.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Spent {
    pub answers: u32,
    /// Calls without an answer.
    #[serde(default)]
    pub failed: u32,
    /// Answers that were recorded for a different prompt, or for other documents.
    pub stale: u32,
    /// Those of them that were recorded for other documents.
    #[serde(default)]
    pub changed_documents: u32,
    /// All kinds of tokens, of calls whose provider counts them.
    pub tokens: u64,
    /// Input tokens that the provider had in its cache, also counted in `tokens`.
    #[serde(default)]
    pub cached: u64,
    /// Seconds from request to answer, retries included.
    #[serde(default)]
    pub seconds: f64,
    /// US dollars of calls whose price is known.
    pub cost_usd: f64,
    /// Calls that used tokens, or may have, at an unknown price.
    pub unpriced: u32,
    /// Estimated tokens of answers whose provider counts none. They count against a budget.
    #[serde(default)]
    pub estimated_tokens: u64,
    /// US dollars of `estimated_tokens`, if the price is known.
    #[serde(default)]
    pub estimated_usd: f64,
    /// Files outside the workspace that a model tried to read.
    #[serde(default)]
    pub refused_reads: u32,
}

impl Spent {
    /// The spending of one call. A call without a known price is unpriced, unless it `failed` before the model began,
    /// which costs nothing.
    pub fn of_call(usage: Option<Usage>, cost_usd: Option<f64>, estimated: Option<Estimate>, failed: bool) -> Self {
        let unpriced = cost_usd.is_none() && !(failed && usage.is_none());
        Self {
            answers: u32::from(!failed),
            failed: u32::from(failed),
            tokens: usage.map_or(0, |usage| usage.total()),
            cached: usage.map_or(0, |usage| usage.cache_read),
            cost_usd: cost_usd.unwrap_or(0.0),
            unpriced: u32::from(unpriced),
            estimated_tokens: estimated.map_or(0, |estimated| estimated.usage.total()),
            estimated_usd: estimated.and_then(|estimated| estimated.cost_usd).unwrap_or(0.0),
            ..Self::default()
        }
    }

    #[must_use]
    pub fn plus(&self, more: &Spent) -> Spent {
        Spent {
            answers: self.answers + more.answers,
            failed: self.failed + more.failed,
            stale: self.stale + more.stale,
            changed_documents: self.changed_documents + more.changed_documents,
            tokens: self.tokens.saturating_add(more.tokens),
            cached: self.cached.saturating_add(more.cached),
            seconds: self.seconds + more.seconds,
            cost_usd: self.cost_usd + more.cost_usd,
            unpriced: self.unpriced + more.unpriced,
            estimated_tokens: self.estimated_tokens.saturating_add(more.estimated_tokens),
            estimated_usd: self.estimated_usd + more.estimated_usd,
            refused_reads: self.refused_reads + more.refused_reads,
        }
    }

    pub fn total(by_node: &BTreeMap<String, Spent>) -> Spent {
        by_node.values().fold(Spent::default(), |all, one| all.plus(one))
    }
}

/// What the run has spent so far, and the models that answered.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Spending {
    /// Over the whole run.
    pub by_lifeline: BTreeMap<String, Spent>,
    /// In the revision in work.
    pub in_revision: BTreeMap<String, Spent>,
    /// Models that answered in the revision in work.
    pub models: Vec<String>,
}

impl Spending {
    pub(in crate::pipeline) fn add(&mut self, lifeline: &str, more: &Spent) {
        for spent in [&mut self.by_lifeline, &mut self.in_revision] {
            let node = spent.entry(lifeline.to_owned()).or_default();
            *node = node.plus(more);
        }
    }

    pub(in crate::pipeline) fn add_model(&mut self, model: &str) {
        if !self.models.iter().any(|known| known == model) {
            self.models.push(model.to_owned());
        }
    }

    pub(in crate::pipeline) fn begin_revision(&mut self) {
        self.models.clear();
        self.in_revision.clear();
    }
}
