//! Why a policy cannot govern a run.

use crate::monitor::{AuditError, PolicyError};
use crate::pipeline::machine::CANDIDATE_LIFELINES;

/// Why a policy cannot govern a run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AdmissionError {
    /// It cannot be read.
    #[error(transparent)]
    Policy(#[from] PolicyError),
    /// It says where an agent's log keeps things.
    #[error("[log] says where an agent's log keeps things, and a run is watched by its own journal; take it out")]
    Log,
    /// What is foreseen has no labels.
    #[error(
        "line {line}: rule `{rule}` speaks of `model:{name}`, and answers that are foreseen are not labelled; let [prediction] \
         say `how = \"ask\"`, or take its `intervention` out"
    )]
    Foreseen {
        /// Where it begins, from 1.
        line: usize,
        /// Its name.
        rule: String,
        /// The proposition.
        name: String,
    },
    /// A rule speaks of what no run has.
    #[error("line {line}: rule `{rule}`: {what} `{name}`{}", told_near(.similar_names))]
    Unknown {
        /// Where it begins, from 1.
        line: usize,
        /// Its name.
        rule: String,
        /// A kind of thing, and that there is none of that name.
        what: &'static str,
        /// The name.
        name: String,
        /// What is written much alike, or all there are.
        similar_names: Vec<String>,
    },
    /// A rule reads a list as one value.
    #[error("line {line}: rule `{rule}`: the field `{field}` holds a list: write `{spelling}`, or `every(…)`")]
    List {
        /// Where it begins, from 1.
        line: usize,
        /// Its name.
        rule: String,
        /// The field.
        field: String,
        /// What to write.
        spelling: String,
    },
    /// A rule asks a node for what another one has.
    #[error("line {line}: rule `{rule}`: no event of `{lifeline}` has a field `{field}` ({})", told_owners(.of))]
    NotItsOwn {
        /// Where it begins, from 1.
        line: usize,
        /// Its name.
        rule: String,
        /// The node.
        lifeline: String,
        /// The field.
        field: String,
        /// Whose it is.
        of: Vec<&'static str>,
    },
    /// A rule cannot be watched.
    #[error(transparent)]
    Unfit(#[from] AuditError),
    /// No run satisfies a rule.
    #[error("line {line}: rule `{rule}`: no run can satisfy it: {words}")]
    Impossible {
        /// Where it begins, from 1.
        line: usize,
        /// Its name.
        rule: String,
        /// What it asks for.
        words: String,
    },
    /// A causal rule is asked of every approval, and never holds.
    #[error("line {line}: rule `{rule}` can hold at no event, so no run could ever be approved: {words}")]
    NeverHolds {
        /// Where it begins, from 1.
        line: usize,
        /// Its name.
        rule: String,
        /// What it asks for.
        words: String,
    },
    /// Two rules that no approved run may break, and no run satisfies together.
    #[error(
        "line {line}: rule `{rule}` contradicts rule `{other}`: no run can satisfy both, so none could ever be approved"
    )]
    Together {
        /// Where the later one begins, from 1.
        line: usize,
        /// Its name.
        rule: String,
        /// The earlier one's.
        other: String,
    },
    /// A causal rule is never asked.
    #[error("line {line}: rule `{rule}`: its `when` holds at no event of `{owner}`, so it would never be asked")]
    NeverAsked {
        /// Where it begins, from 1.
        line: usize,
        /// Its name.
        rule: String,
        /// At whose events it would be asked.
        owner: String,
    },
    /// No approved run satisfies a rule that no approved run may break.
    #[error(
        "line {line}: rule `{rule}` contradicts the default policy, so no run could ever be approved: {law} ({words})"
    )]
    Contradicts {
        /// Where it begins, from 1.
        line: usize,
        /// Its name.
        rule: String,
        /// The law that it contradicts.
        law: String,
        /// What that law asks for.
        words: String,
    },
}

fn told_near(similar_names: &[String]) -> String {
    match similar_names {
        [] => String::new(),
        names => format!(" (near it: {})", names.join(", ")),
    }
}

/// Whose a field is: of the candidates, that they have it.
fn told_owners(of: &[&str]) -> String {
    let (candidates, nodes): (Vec<&str>, Vec<&str>) = of.iter().partition(|name| CANDIDATE_LIFELINES.contains(name));
    let mut names: Vec<&str> = nodes;
    if !candidates.is_empty() {
        names.push("candidates");
    }
    format!("those of {} have", names.join(", "))
}
