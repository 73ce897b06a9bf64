//! The facts that the guard of a claimed flaw decides on.

use super::larger_bounds::compare_larger_constants;
use super::review_facts::ReviewSubject;
use crate::pipeline::{Citation, Flaw, FlawFacts, FlawStep, is_reason};
use crate::prompt::{Document, quote, shares_words_with};
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

/// The steps of a claim whose reason says nothing, or has no word in common with the lines that it cites. If none of at least three
/// reasons has one, the documents are in another language, and only the empty reasons count.
pub(super) fn unfit_steps(flaw: &Flaw, documents: &[Document]) -> Vec<String> {
    let cited = |step: &FlawStep| {
        let own = format!("{}:{}", step.file, step.line);
        let places = if step.file.is_empty() { Vec::new() } else { vec![own] };
        places.into_iter().chain(step.also.iter().cloned()).collect::<Vec<_>>()
    };
    let mut empty = Vec::new();
    let mut unrelated = Vec::new();
    let mut related = false;
    for step in &flaw.steps {
        let places = cited(step);
        if !is_reason(&step.why) {
            empty.push(format!("step {} has no reason", step.step));
            continue;
        }
        let shares: Vec<bool> =
            places.iter().filter_map(|place| shares_words_with(documents, place, &step.why)).collect();
        if shares.iter().any(|shared| *shared) {
            related = true;
        } else if !shares.is_empty() {
            let said =
                places.iter().filter_map(|place| quote(documents, place, &step.why)).collect::<Vec<_>>().join(" ");
            unrelated.push(format!(
                "step {} cites {}, which says \"{said}\", and its reason has no word in common with that",
                step.step,
                places.join(", ")
            ));
        }
    }
    if related || unrelated.len() < 3 {
        empty.extend(unrelated);
    }
    empty
}

fn line_exists(file: &str, line: usize, documents: &[Document]) -> bool {
    let name = file.trim_start_matches("./");
    let name = name.strip_prefix("docs/").unwrap_or(name);
    // A blank line or a heading grants no step.
    let says = |text: &str| text.chars().any(char::is_alphanumeric) && !text.trim_start().starts_with('#');
    let is_line = |text: &str| line.checked_sub(1).and_then(|at| text.lines().nth(at)).is_some_and(says);
    documents.iter().any(|d| d.path == name && is_line(&d.text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_cites_a_line_that_its_reason_is_about() {
        let text = "# Locks\nA client takes the lock.\nIt waits until the lease ends.\nFees are paid in advance.\n";
        let documents = [Document { path: "a.md".to_owned(), text: text.to_owned() }];
        let unfit = |steps: &[(usize, &str, &[&str])]| {
            let steps = steps.iter().zip(1..).map(|((line, why, also), step)| FlawStep {
                step,
                file: "docs/a.md".to_owned(),
                line: *line,
                open_point: None,
                also: also.iter().map(|place| (*place).to_owned()).collect(),
                why: (*why).to_owned(),
            });
            let flaw = Flaw {
                requirement: "R1".to_owned(),
                property: "Safe".to_owned(),
                steps: steps.collect(),
                unfair: None,
                bound: None,
            };
            unfit_steps(&flaw, &documents).join("; ")
        };
        let good = (2, "the client takes it", &[][..]);
        assert_eq!(unfit(&[good, (3, "the lease is over", &[]), (4, "its lease", &["docs/a.md:3"])]), "");
        let wrong = unfit(&[good, (4, "the client takes the lock", &[]), (3, " - ", &[])]);
        assert!(
            wrong.starts_with("step 3 has no reason; step 2 cites docs/a.md:4, which says \"Fees are paid"),
            "{wrong}"
        );
        // Reasons in another language than the documents.
        let foreign = [(2, "der Kunde nimmt es", &[][..]), (3, "er wartet", &[]), (4, "das Geld", &[])];
        assert_eq!(unfit(&foreign), "");
    }
}
