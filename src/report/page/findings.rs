//! The violated properties of a run: the requirement in the documents' words, the counterexample, and what reviews made of it.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Map, Value};

use super::frame::{Html, Section, Tone, render};
use super::listing::{Cited, Mark, cited_lines};
use super::run_context::{RunContext, module_id};
use super::trace::{StepCitation, StepQuote, TraceSource, trace_view};
use crate::pipeline::{Citation, Flaw, JudgedViolation, Quotes, Revision, ViolationJudgement};
use crate::prompt::Requirement;
use crate::report::run_explanation::{broken_requirements, explain_violation};
use crate::report::text::granted;
use crate::tla::{CheckOutcome, Lasso, Module, probe_lines};

#[derive(Serialize)]
struct Finding {
    id: String,
    property: String,
    revision: u32,
    tone: Tone,
    judgement: String,
    why: String,
    requirements: Vec<BrokenRequirement>,
    formula: Option<String>,
    trace: Option<Html>,
    /// The counterexample in sentences.
    sentences: Option<String>,
    /// How the behaviour goes on, and what further runs showed.
    remarks: Vec<String>,
}

#[derive(Serialize)]
struct BrokenRequirement {
    id: String,
    text: String,
    place: String,
    quote: Option<String>,
    lines: Vec<Cited>,
}

/// The findings of all shown revisions; adds their traces to the data, and the steps that cite documents to the marks.
pub(super) fn findings(
    context: &RunContext<'_>,
    traces: &mut Map<String, Value>,
    marks: &mut Vec<(Cited, Mark)>,
) -> Option<Section> {
    let mut found: Vec<Finding> = Vec::new();
    for revision in context.shown_revisions() {
        let Some(check) = &revision.check else { continue };
        let module = context.module(revision);
        for violation in context.view.judged_violations(revision) {
            let id = if found.iter().any(|known| known.revision == revision.revision) {
                format!("findings-{}-{}", revision.revision, found.len())
            } else {
                format!("findings-{}", revision.revision)
            };
            let subject = Subject { context, revision, check, module: module.as_ref(), violation, id };
            found.push(subject.finding(traces, marks));
        }
    }
    let is_one_revision = found.iter().all(|finding| finding.revision == found[0].revision);
    (!found.is_empty()).then(|| Section {
        id: "findings",
        title: if found.len() == 1 { "Finding".to_owned() } else { "Findings".to_owned() },
        note: (found.len() > 1).then(|| found.len().to_string()),
        body: render("findings", minijinja::context! { found, is_one_revision }),
    })
}

struct Subject<'a> {
    context: &'a RunContext<'a>,
    revision: &'a Revision,
    check: &'a CheckOutcome,
    module: Option<&'a Module>,
    violation: JudgedViolation,
    id: String,
}

impl Subject<'_> {
    fn finding(&self, traces: &mut Map<String, Value>, marks: &mut Vec<(Cited, Mark)>) -> Finding {
        let property = &self.violation.property;
        let claim = self.context.claim(self.revision, property);
        let judgement = &self.violation.judgement;
        let focused = self.check.focused_on(property);
        let trace = self.check.counterexample_to(property).map(|trace| {
            let citations = claim.map(|(flaw, quotes)| self.citations(flaw, quotes)).unwrap_or_default();
            for (step, citation) in citations.iter().flat_map(|(step, all)| all.iter().map(move |one| (step, one))) {
                let mark = Mark { label: format!("{property}, step {step}"), target: self.id.clone() };
                marks.extend(citation.lines.iter().map(|cited| (cited.clone(), mark.clone())));
            }
            let source = TraceSource {
                id: self.id.clone(),
                what: format!("the counterexample to {property}"),
                trace,
                module: self.module,
                listing: module_id(self.revision),
                citations,
            };
            let (html, data) = trace_view(&source);
            traces.insert(self.id.clone(), data);
            html
        });
        let mut remarks = focused.as_ref().map(probe_lines).unwrap_or_default();
        let cited = claim.into_iter().flat_map(|(flaw, quotes)| {
            let line = |(what, cited): (&str, &Citation)| {
                format!("{what}: {} {}", quotes.cite(&cited.file, cited.line), cited.why.trim())
            };
            granted(flaw).map(line)
        });
        remarks.extend(cited);
        if trace.is_none() {
            remarks.push("no counterexample was derived in time".to_owned());
        }
        if matches!(self.check.counterexample_to(property).and_then(|trace| trace.lasso), Some(Lasso::BackTo(_))) {
            remarks
                .insert(0, "the property is violated by a whole behaviour, whose last steps repeat forever".to_owned());
        }
        Finding {
            id: self.id.clone(),
            property: property.clone(),
            revision: self.revision.revision,
            tone: tone_of(judgement),
            judgement: judgement.short_words(),
            why: judgement.why().to_owned(),
            requirements: self.requirements(),
            formula: self.module.and_then(|module| Some(module.definition(property)?.text.clone())),
            trace,
            sentences: explain_violation(self.context.view, self.revision, property),
            remarks,
        }
    }

    fn citations(&self, flaw: &Flaw, quotes: &Quotes) -> BTreeMap<usize, Vec<StepCitation>> {
        let mut by_step: BTreeMap<usize, Vec<StepCitation>> = BTreeMap::new();
        for step in &flaw.steps {
            let own = (!step.file.is_empty()).then(|| format!("{}:{}", step.file, step.line));
            let lines =
                own.iter().chain(&step.also).flat_map(|place| cited_lines(place, &self.context.documents)).collect();
            let quote = |text: String| {
                let text = text.replace("**", "");
                // The place is before the sentence.
                let place = text.split_once(": ").map_or(text.as_str(), |(place, _)| place).replace(", line ", ":");
                let cited = cited_lines(&place, &self.context.documents).into_iter().next();
                StepQuote {
                    from: cited.as_ref().map_or(0, |cited| cited.from),
                    listing: cited.map(|cited| cited.listing),
                    text,
                }
            };
            let quotes = quotes.cite_step(step).into_iter().map(quote).collect();
            let citation = StepCitation { why: step.why.trim().to_owned(), quotes, lines };
            by_step.entry(step.step).or_default().push(citation);
        }
        by_step
    }

    fn requirements(&self) -> Vec<BrokenRequirement> {
        let words = |requirement: Requirement| {
            let place = requirement.place.as_ref();
            BrokenRequirement {
                quote: self.context.sentence(self.revision, &requirement),
                lines: place.map(|place| cited_lines(place, &self.context.documents)).unwrap_or_default(),
                place: requirement.place_words(),
                id: requirement.id,
                text: requirement.text,
            }
        };
        let broken = broken_requirements(self.context.view, self.revision, &self.violation.property).into_iter();
        broken.map(words).collect()
    }
}

fn tone_of(judgement: &ViolationJudgement) -> Tone {
    use ViolationJudgement as J;
    match judgement {
        J::Flaw { .. } => Tone::Bad,
        J::Ambiguity { .. } | J::ClaimRefused { .. } | J::ClaimUndecided { .. } => Tone::Open,
        J::SpecificationWrong { .. }
        | J::PropertyWrong { .. }
        | J::RequirementWrong { .. }
        | J::ContractWrong { .. }
        | J::BothAllowed { .. }
        | J::SentBack { .. }
        | J::NotJudged => Tone::Plain,
    }
}
