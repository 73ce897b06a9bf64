//! The facts that the guard of a claimed flaw decides on.

use super::larger_bounds::compare_larger_constants;
use super::review_facts::ReviewSubject;
use crate::pipeline::{Citation, Flaw, FlawFacts};
use crate::prompt::{Document, quote};
use crate::tla::{ProbeResult, Verdict, Violation, ViolationKind};

impl ReviewSubject<'_> {
    /// The facts of the flaw guard.
    pub(super) fn flaw_facts(&self, flaw: &Flaw, documents: &[Document], unread: Vec<String>) -> FlawFacts {
        let all = self.fresh_check();
        // Without a match, the facts are about the first violation.
        let claimed = all.and_then(|check| check.violated_name(&flaw.property));
        let focused = all.zip(claimed).and_then(|(check, name)| check.focused_on(name));
        let check = focused.as_ref().or(all);
        let violated = check.and_then(|c| match &c.verdict {
            Verdict::Violated { violated } if c.trace.is_some() => Some(violated),
            _ => None,
        });
        let name = violated.and_then(Violation::property);
        let trace = check.and_then(|c| c.trace.as_ref());
        let covering = name.and_then(|name| self.view.specification.covers.get(name));
        let property = claimed.unwrap_or(&flaw.property);
        let is_first = all.and_then(|check| check.violated_names().next()) == claimed;
        // Cutting off states can cause a deadlock or violate a temporal property. It cannot make a state reachable that
        // violates an invariant.
        let temporal = violated.is_some_and(|v| matches!(v.kind, ViolationKind::Property | ViolationKind::Deadlock));
        let cited = |citation: &Option<Citation>| {
            citation.as_ref().is_some_and(|c| line_exists(&c.file, c.line, documents) && !c.why.trim().is_empty())
        };
        let bounds = check.map(|c| compare_larger_constants(c, cited(&flaw.bound))).unwrap_or_default();
        let mut weakening = if temporal { self.weakening_lines() } else { Vec::new() };
        // Such bounds can hide a violation but cannot cause one.
        let hiding = self.view.lines_to_accept();
        weakening.retain(|line| line != "CHECK_DEADLOCK FALSE" && !hiding.contains(line));
        let lasso = trace.is_some_and(|t| t.lasso.is_some());
        let fair = check.and_then(|c| c.probes.as_ref()).and_then(|p| p.weak_fairness.as_ref());
        let still_there = fair.is_some_and(|f| matches!(f.result, ProbeResult::StillViolated { .. }));
        let changed_since = name.map(|name| self.view.changed_since_violated(name));
        FlawFacts {
            described: true,
            property: property.to_owned(),
            further: claimed.is_some() && !is_first && trace.is_some(),
            covers_requirement: covering.is_some_and(|ids| ids.contains(&flaw.requirement))
                && self.view.specification.requirements.iter().any(|r| r.id == flaw.requirement),
            property_unchanged: changed_since.as_ref().is_some_and(Vec::is_empty),
            changed_since: changed_since.unwrap_or_default(),
            only_bounds: weakening.into_iter().chain(bounds.sole_causes).collect(),
            open_bounds: bounds.open,
            unfair_lasso: lasso && !still_there && !cited(&flaw.unfair),
            under_fairness: lasso.then(|| match fair {
                Some(fair) => fair.sentence(),
                None => "it was not checked under weak fairness".to_owned(),
            }),
            unmapped_steps: trace
                .map(|t| {
                    let is_unmapped =
                        |step: &usize| !is_mapped(*step, flaw, documents, &|id| self.view.can_grant_steps(id));
                    t.steps.iter().map(|s| s.step).filter(is_unmapped).collect()
                })
                .unwrap_or_default(),
            unread,
        }
    }
}

/// Whether the claim maps a step of the trace to places that exist in the documents and say something, or to the reading of
/// an open point.
fn is_mapped(step: usize, flaw: &Flaw, documents: &[Document], can_grant: &dyn Fn(&str) -> bool) -> bool {
    let mut steps = flaw.steps.iter().filter(|s| s.step == step);
    let exists = |place: &String| quote(documents, place, "").is_some();
    steps.any(|s| {
        let is_granted = line_exists(&s.file, s.line, documents) || s.file.is_empty() && s.open_point.is_some();
        is_granted && s.open_point.iter().all(|id| can_grant(id)) && s.also.iter().all(exists)
    })
}

fn line_exists(file: &str, line: usize, documents: &[Document]) -> bool {
    let name = file.trim_start_matches("./");
    let name = name.strip_prefix("docs/").unwrap_or(name);
    // A blank line or a heading grants no step.
    let says = |text: &str| text.chars().any(char::is_alphanumeric) && !text.trim_start().starts_with('#');
    let is_line = |text: &str| line.checked_sub(1).and_then(|at| text.lines().nth(at)).is_some_and(says);
    documents.iter().any(|d| d.path == name && is_line(&d.text))
}
