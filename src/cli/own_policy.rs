//! A policy file of the user's own that a run is put under.

use std::path::Path;

use super::failure::Failure;
use super::forge::run_failure;
use super::provider::refuse_secrets;
use crate::files;
use crate::pipeline::{AdmissionError, Admitted, Run, StoredFile, admit};
use crate::report::counted;

/// A policy that can govern a run.
pub(super) struct OwnPolicy {
    name: String,
    text: String,
    /// On the heap: the commands hold it while they wait.
    rules: Box<Admitted>,
}

impl OwnPolicy {
    /// Reads it, and refuses a policy that cannot govern a run before anything is made or paid for.
    pub(super) fn read(path: &Path) -> Result<Self, Failure> {
        let name = path.display().to_string();
        let cannot = |e: &dyn std::fmt::Display| Failure::usage(format!("{name}: {e}"));
        let text = read(path).map_err(|e| cannot(&e).hint("--policy takes a file of rules"))?;
        refuse_secrets(&name, &text)?;
        let rules = admit(&text).map_err(|e| cannot(&e).hint(advice(&e)))?;
        if rules.not_compared() > 0 {
            let pairs = counted(rules.not_compared(), "pair");
            super::progress::advice(&format!(
                "warning: {name}: {pairs} of rules were not checked for a contradiction: there are too many"
            ));
        }
        Ok(Self { name, text, rules: Box::new(rules) })
    }

    /// Puts a run under it; how it is kept, for the journal.
    pub(super) fn govern(self, run: &Run) -> Result<StoredFile, Failure> {
        let stored = run.keep(&self.name, &self.text).map_err(|e| run_failure(&e))?;
        run.set_policy(&stored, *self.rules).map_err(|e| run_failure(&e))?;
        Ok(stored)
    }
}

/// No policy of rules is larger, in bytes.
const LARGEST: u64 = 1 << 20;

/// Reads a policy file.
pub(super) fn read(path: &Path) -> std::io::Result<String> {
    files::read_text(path, LARGEST)
}

fn advice(error: &AdmissionError) -> &'static str {
    match error {
        AdmissionError::Unknown { .. } | AdmissionError::NotItsOwn { .. } | AdmissionError::NeverAsked { .. } => {
            "docs/policies.md lists the nodes of a run, and the events of each with their fields"
        }
        AdmissionError::Impossible { .. } | AdmissionError::NeverHolds { .. } => {
            "docs/policies.md lists whose events are whose; a comparison is false where its field is undefined: write `G !(x = \"a\")` for `G x != \"a\"`, and `defined(x)` for `x != null`"
        }
        AdmissionError::Contradicts { .. } => {
            "`tlaforge policy show` prints the laws; a rule of `severity = \"warning\"` may contradict them, and is reported"
        }
        AdmissionError::Together { .. } => {
            "leave one of them out, or give it `severity = \"warning\"`: then it is reported and forbids no approval"
        }
        AdmissionError::Unfit(_) => {
            "a rule that looks back (`Y S O H`) or at other nodes (`@A`) needs an `owner`: it is then asked at that node's events"
        }
        AdmissionError::Log => "a run's journal needs no [log]",
        _ => "docs/policies.md has examples",
    }
}
