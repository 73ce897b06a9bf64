//! The `--policy` file of a run: read, checked, and applied.

use std::path::Path;

use super::failure::Failure;
use super::run_folder::run_failure;
use super::secrets::refuse_secrets;
use super::terminal::print_message;
use crate::files;
use crate::pipeline::{AdmissionError, Admitted, Run, StoredFile, admit};
use crate::report::counted;

/// A policy that a run can be monitored with.
pub(super) struct PolicyFile {
    name: String,
    text: String,
    /// Boxed, because the commands hold it across await points.
    rules: Box<Admitted>,
}

impl PolicyFile {
    /// Reads and checks the file, before the run creates or pays for anything. `idle` are the nodes that never work in
    /// this run: a rule must not depend on them.
    pub(super) fn read(path: &Path) -> Result<Self, Failure> {
        let name = path.display().to_string();
        let cannot = |e: &dyn std::fmt::Display| Failure::usage(format!("{name}: {e}"));
        let text = read_policy_text(path).map_err(|e| cannot(&e).hint("--policy takes a policy file"))?;
        refuse_secrets(&name, &text)?;
        let rules = admit(&text).map_err(|e| cannot(&e).hint(hint_for(&e)))?;
        if rules.not_compared() > 0 {
            let pairs = counted(rules.not_compared(), "pair");
            print_message(&format!(
                "warning: {name}: {pairs} of rules were not checked for contradictions: there are too many pairs"
            ));
        }
        Ok(Self { name, text, rules: Box::new(rules) })
    }

    /// Applies the policy to a run, and returns the stored file for the journal.
    pub(super) fn apply_to(self, run: &Run) -> Result<StoredFile, Failure> {
        let stored = run.keep(&self.name, &self.text).map_err(|e| run_failure(&e))?;
        run.set_policy(&stored, *self.rules).map_err(|e| run_failure(&e))?;
        Ok(stored)
    }
}

/// Maximum size of a policy file in bytes.
const MAX_SIZE: u64 = 1 << 20;

pub(super) fn read_policy_text(path: &Path) -> std::io::Result<String> {
    files::read_text(path, MAX_SIZE)
}

fn hint_for(error: &AdmissionError) -> &'static str {
    match error {
        AdmissionError::Unknown { .. } | AdmissionError::NotItsOwn { .. } | AdmissionError::NeverEvaluated { .. } => {
            "docs/policies.md lists the nodes of a run, and the events of each with their fields"
        }
        AdmissionError::Impossible { .. } | AdmissionError::NeverHolds { .. } => {
            "docs/policies.md lists the events of each node; a comparison with an undefined field is false: write `G !(x = \"a\")` for `G x != \"a\"`, and `defined(x)` for `x != null`"
        }
        AdmissionError::Contradicts { .. } => {
            "`tlaforge policy show` prints the default policy; a rule with `severity = \"warning\"` may contradict it, and is only reported"
        }
        AdmissionError::Together { .. } => {
            "remove one of them, or give it `severity = \"warning\"`: then it is reported and does not prevent an approval"
        }
        AdmissionError::Unfit(_) => {
            "a rule about the past (`Y S O H`) or about other nodes (`@A`) needs an `owner`: it is evaluated at the events of that node"
        }
        AdmissionError::Log => "remove the [log] table: it is not used for the journal of a run",
        _ => "docs/policies.md has examples",
    }
}
