//! The `--policy` file of a run: read, checked, and applied. `pipeline` decides which rules it admits.

use std::ops::Range;
use std::path::Path;

use super::failure::Failure;
use super::run_failure::run_failure;
use super::secrets::refuse_secrets;
use super::snippet::Snippet;
use super::terminal::print_message;
use crate::files;
use crate::monitor::{Policy, PolicyError, PolicyRule};
use crate::pipeline::{AdmissionError, Admitted, Run, StoredFile, admit};
use crate::report::counted;
use crate::temporal::Formulas;

/// A policy that a run can be monitored with.
pub(super) struct PolicyFile {
    name: String,
    text: String,
    /// Boxed, because the commands hold it across await points.
    rules: Box<Admitted>,
}

impl PolicyFile {
    /// Reads and checks the file, before the run creates or pays for anything.
    pub(super) fn read(path: &Path) -> Result<Self, Failure> {
        let name = path.display().to_string();
        let text = read_policy_text(path)
            .map_err(|e| Failure::usage(format!("cannot read {name}: {e}")).hint("--policy takes a policy file"))?;
        Self::check(name, text)
    }

    /// Checks the text of a policy.
    pub(super) fn check(name: String, text: String) -> Result<Self, Failure> {
        refuse_secrets(&name, &text)?;
        let rules = admit(&text).map_err(|e| admission_failure(&name, &text, &e).hint(hint_for(&e)))?;
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

/// The error of a policy file with its line.
pub(super) fn policy_failure(name: &str, text: &str, error: &PolicyError) -> Failure {
    let Some(place) = error.place() else { return Failure::usage(format!("{name}: {error}")) };
    let (message, hint) = error.without_place();
    let failure = Failure::usage(message).at(Snippet::new(name, text, place.span.clone()));
    hint.into_iter().fold(failure, Failure::hint)
}

/// Why a policy is refused for a run, with the line of the formula or name that is wrong.
pub(super) fn admission_failure(name: &str, text: &str, error: &AdmissionError) -> Failure {
    if let AdmissionError::Policy(error) = error {
        return policy_failure(name, text, error);
    }
    let policy = Policy::read(text, &mut Formulas::new()).ok();
    let rule = error.rule().and_then(|id| policy.as_ref()?.rules.iter().find(|rule| rule.id == id));
    let Some(rule) = rule else { return Failure::usage(format!("{name}: {error}")) };
    let span = error.name().and_then(|name| find_name_of_rule(text, rule, name)).unwrap_or(rule.span.clone());
    let message = error.to_string();
    let message = message.strip_prefix(&format!("line {}: ", rule.line)).unwrap_or(&message);
    Failure::usage(message).at(Snippet::new(name, text, span))
}

/// The first place of a name in the formula of a rule, otherwise in its `owner` or `when`.
fn find_name_of_rule(text: &str, rule: &PolicyRule, name: &str) -> Option<Range<usize>> {
    let find = |range: Range<usize>| find_name(text.get(range.clone())?, name).map(|at| range.start + at);
    let mut end = 0;
    let lines = text.split_inclusive('\n').map(|line| {
        end += line.len();
        end - line.len()..end
    });
    let own_lines = lines.skip(rule.line).take_while(|line| !text[line.clone()].starts_with("[["));
    let mut owners = own_lines.filter(|line| ["owner", "when"].iter().any(|key| text[line.clone()].starts_with(key)));
    let start = find(rule.span.clone()).or_else(|| owners.find_map(find))?;
    Some(start..start + name.len())
}

/// The first place of a name that is not part of a longer one.
fn find_name(text: &str, name: &str) -> Option<usize> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let is_whole = |at: &usize| !text[..*at].ends_with(is_part) && !text[*at + name.len()..].starts_with(is_part);
    text.match_indices(name).map(|(at, _)| at).find(is_whole)
}

fn hint_for(error: &AdmissionError) -> &'static str {
    match error {
        AdmissionError::Unknown { .. }
        | AdmissionError::List { .. }
        | AdmissionError::NotItsOwn { .. }
        | AdmissionError::NeverEvaluated { .. } => {
            "docs/src/events.md lists the nodes of a run, and the events of each with their fields"
        }
        AdmissionError::Impossible { .. } | AdmissionError::NeverHolds { .. } => {
            "docs/src/events.md lists the events of each node; a comparison with an undefined field is false: write `G !(x = \"a\")` for `G x != \"a\"`, and `defined(x)` for `x != null`"
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
        AdmissionError::Policy(_) | AdmissionError::UnlabelledPrediction { .. } => "docs/src/policies.md has examples",
    }
}
