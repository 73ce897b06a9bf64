//! The actions of a specification as formulas in a generated module, for runs that find out what the checker does not
//! report by itself. It starts no run.

use std::collections::BTreeSet;

use tlaforge_tla::{ActionCoverage, Disjuncts, Module, Verdict, model_values, tuple_elements};

use super::branches::Branches;
use super::explorer::{Finding, ParsedOutput};
use super::{CheckRequest, SpecText};

/// The actions of a specification, and a prefix that its modules do not use.
pub(super) struct Actions {
    pub(super) disjuncts: Disjuncts,
    pub(super) variables: Vec<String>,
    /// The name of the generated module, and the prefix of the definitions in it.
    pub(super) prefix: String,
    /// Model values that the configuration writes and the module does not declare.
    pub(super) model_values: Vec<String>,
    /// The branches of the actions, if they are evaluated as well.
    pub(super) branches: Option<Branches>,
}

impl Actions {
    pub(super) fn list(request: &CheckRequest) -> Result<Self, String> {
        let module = Module::parse(&request.spec.text).map_err(|e| e.to_string())?;
        let texts = || {
            std::iter::once(request.spec.text.as_str())
                .chain(request.spec.local_modules.iter().map(|(_, text)| text.as_str()))
        };
        let mut prefix = "TlaforgeAction".to_owned();
        // Longer until it occurs nowhere, not even in a comment: a search in the text is enough, and no scope has to
        // be known.
        while texts().any(|text| text.contains(&prefix)) || request.cfg_text.contains(&prefix) {
            prefix.push('_');
        }
        // `PrintT` of the module would print something else, or nothing.
        if module.definition("PrintT").is_some() {
            return Err("the module defines `PrintT`".to_owned());
        }
        let disjuncts = Disjuncts::split(&module, &request.cfg, &prefix)?;
        let variables: Vec<String> = module.variables.iter().map(|variable| variable.name.clone()).collect();
        let model_values = model_values(&request.cfg, &module);
        // Inside the module that name would mean the definition, not the model value that the trace prints.
        if let Some(value) = model_values.iter().find(|v| module.definition(v).is_some() || variables.contains(v)) {
            return Err(format!("the configuration gives `{value}` as a value, and the module defines it"));
        }
        Ok(Self { disjuncts, variables, prefix, model_values, branches: None })
    }

    pub(super) fn module(&self, spec: &SpecText, body: &str) -> (String, String) {
        let Self { prefix, disjuncts, branches, .. } = self;
        let definitions = branches.as_ref().map_or("", |branches| branches.definitions.as_str());
        // `Naturals` for the number of the step, `TLC` for `PrintT`.
        let text = format!(
            "---- MODULE {prefix} ----\nEXTENDS {}, Naturals, TLC\n{}{definitions}{body}====\n",
            spec.name, disjuncts.definitions
        );
        (prefix.clone(), text)
    }

    pub(super) fn coverage_entries(&self, taken: &BTreeSet<usize>) -> Vec<ActionCoverage> {
        let coverage_entries = self.disjuncts.actions.iter().enumerate().map(|(index, action)| ActionCoverage {
            action: action.label.clone(),
            // Only whether it is taken is known, not how often.
            taken: u64::from(taken.contains(&index)),
            distinct: 0,
            place: action.place,
            is_lower_bound: taken.contains(&index),
            is_own_terminating: false,
        });
        merge_by_label(coverage_entries)
    }

    pub(super) fn formula(&self, index: usize) -> &str {
        &self.disjuncts.actions[index].formula
    }

    /// Parses a line such as `<<"TlaforgeAction", 2, TRUE, FALSE>>`: the step and the truth value of each action.
    pub(super) fn parse_printed_line(&self, line: &str) -> Option<(usize, Vec<bool>)> {
        let (step, values) = self.parse_printed_values(line)?;
        Some((step, values.into_iter().map(|value| value == "TRUE").collect()))
    }

    /// Like [`Actions::parse_printed_line`], with the values as text.
    pub(super) fn parse_printed_values<'a>(&self, line: &'a str) -> Option<(usize, Vec<&'a str>)> {
        if !line.starts_with(&format!("<<\"{}\"", self.prefix)) {
            return None;
        }
        let values = tuple_elements(line)?;
        Some((values.get(1)?.parse().ok()?, values.into_iter().skip(2).collect()))
    }
}

/// One entry for each label: an action that occurs in several places is taken if any occurrence is.
fn merge_by_label(all: impl Iterator<Item = ActionCoverage>) -> Vec<ActionCoverage> {
    let mut found: Vec<ActionCoverage> = Vec::new();
    for action in all {
        match found.iter_mut().find(|known| known.action == action.action) {
            Some(known) => {
                known.taken = known.taken.max(action.taken);
                known.is_lower_bound |= action.is_lower_bound;
            }
            None => found.push(action),
        }
    }
    found
}

/// Why a run did not finish, in the checker's words.
pub(super) fn unfinished_reason(parsed: &ParsedOutput) -> String {
    match &parsed.finding {
        Some(Finding::Undecided(words) | Finding::Exhausted(words) | Finding::Broke(words)) => words.clone(),
        Some(Finding::Verdict(Verdict::Invalid { reason, .. })) => reason.clone(),
        Some(Finding::Verdict(_)) | None => "its run ended early".to_owned(),
    }
}
