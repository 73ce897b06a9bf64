//! Generates `TypeOK`, invariants, temporal properties, witnesses and the configuration, merges them into the module,
//! and parses the result. Without feedback, and if its input has not changed, it keeps its properties and asks no model.

use std::collections::BTreeMap;

use serde_json::json;

use super::ask::{NodeRequest, record_normalisation};
use super::context::{NodeContext, halt_for_tool};
use super::edited::{Repaired, repaired};
use super::inspection::{Inspection, recall_inspection, record_inspection};
use super::mutants_text::survivors_file;
use super::single_call;
use super::workspace::{NOT_FOR_PROPERTIES, current, diagnostics_text, feedback_file, number_lines, offer_check};
use crate::journal::Sha;
use crate::pipeline::{Acceptance, Attempt, Event, Facts, Feedback, NodeError, NodeName, Product, RunView, file};
use crate::prompt::{Sections, extract_sections, without_sections};
use crate::tla::{self, Cfg, Merged, Module, check_cfg_names, checked_texts, merge, without_translation};
use crate::toolchain::{SpecText, lint_cfg};

pub(super) const ANSWER: &str = file::PROPERTIES_ANSWER;
/// The informal specification and the module that the current properties were made from.
const INPUT: &str = file::PROPERTIES_INPUT;

pub(super) async fn perform(
    context: &NodeContext,
    view: &RunView,
    attempt: &Attempt<'_>,
) -> Result<Product, NodeError> {
    let previous = current(view, attempt, ANSWER)?;
    let source = current(view, attempt, file::SOURCE)?.unwrap_or_default();
    let has_feedback = view.feedback_for(NodeName::GenerateInvariants).next().is_some();
    let on_trial = view.strengthening.as_ref().filter(|_| view.state.on_trial);
    let mut data = json!({"has_previous": previous.is_some(), "has_feedback": has_feedback});
    let informal = current(view, attempt, file::INFORMAL)?.unwrap_or_default();
    let mut files = vec![
        ("informal_spec.md".to_owned(), without_sections(&informal, &NOT_FOR_PROPERTIES)),
        // The model edits definitions, and the translation is made again after the merge.
        ("Spec.tla".to_owned(), without_translation(&source)),
    ];
    let input_sha = attempt.keep(&files.iter().map(|(_, text)| text.as_str()).collect::<String>())?;
    if has_feedback {
        files.push(("feedback.md".to_owned(), feedback_file(view.feedback_for(NodeName::GenerateInvariants), "")));
    }
    let purpose = match on_trial {
        Some(_) => "strengthen",
        None if previous.is_some() && has_feedback => "repair",
        None => "draft",
    };
    files.extend(on_trial.map(|mutants| ("survivors.md".to_owned(), survivors_file(mutants))));
    if let Some(previous) = &previous {
        files.push(("previous.md".to_owned(), number_lines(previous)));
    }
    if purpose == "repair" {
        offer_check(view, &mut data, &mut files);
    }
    let ask =
        NodeRequest { template_data: data, files, ..NodeRequest::new(NodeName::GenerateInvariants, purpose, attempt) };
    let part = match single_call::take_candidate_properties(view, attempt, ANSWER)? {
        None => single_call::take_part(view, attempt, NodeName::GenerateInvariants, ANSWER)?,
        part => part,
    };
    // A branch that begins here asks for other properties.
    let follows = view.attempts.contains_key(&(view.rev, NodeName::Formalize.name().to_owned()));
    let is_kept = follows && purpose == "draft" && view.artifact(INPUT) == Some(&input_sha);
    let kept = previous.as_ref().zip(view.artifact(ANSWER)).filter(|_| is_kept);
    let answer = match (part, kept) {
        (Some(part), _) => part,
        (None, Some((text, sha))) => single_call::earlier_answer(text.clone(), sha.clone()),
        (None, None) => context.ask(view, ask).await?,
    };
    let repairs = previous.as_deref().filter(|_| purpose == "repair");
    let Repaired { sha, text, mut normalised } = repaired(repairs, answer, attempt)?;
    // After edits that do not fit, the next attempt repairs the same text.
    let mut artifacts: BTreeMap<String, Sha> = text.is_ok().then(|| (ANSWER.to_owned(), sha)).into_iter().collect();
    // Until the answer is accepted: one that was not is never kept.
    artifacts.insert(INPUT.to_owned(), attempt.keep("")?);
    let read = match text.and_then(|text| extract_sections(&text)) {
        Ok(mut read) => {
            read.normalised.append(&mut normalised);
            record_normalisation(attempt, read)?
        }
        Err(problem) => {
            return Ok(Product {
                event: Event::Unreadable,
                artifacts,
                feedback: vec![feedback("your last answer could not be read", problem.what)],
                facts: Facts::Nothing,
            });
        }
    };
    // Also if the merge is rejected: the reviewer and a person see the configuration that was rejected.
    artifacts.insert(file::CFG.to_owned(), attempt.keep(&read.cfg)?);
    let inspection = match recall_inspection(attempt)? {
        Some(inspection) => inspection,
        None => {
            let (inspection, merged) = merge_and_inspect(context, &source, &read).await?;
            record_inspection(attempt, "merge, translate and parse", &inspection, merged.as_ref())?;
            inspection
        }
    };
    match inspection.module {
        Some(module) => {
            artifacts.extend([(file::MODULE.to_owned(), attempt.keep(&module)?), (INPUT.to_owned(), input_sha)]);
            let parsed = context.modules.parse(&module).ok().zip(Cfg::parse(&read.cfg).ok());
            let (covers, texts) = parsed
                .map(|(module, cfg)| (module.requirements_by_property(&cfg), checked_texts(&module, &cfg)))
                .unwrap_or_default();
            Ok(Product {
                event: Event::Merged(Acceptance::Accepted),
                artifacts,
                feedback: Vec::new(),
                facts: Facts::Merged { covers, texts },
            })
        }
        None => Ok(Product {
            event: Event::Merged(Acceptance::Rejected),
            artifacts,
            feedback: vec![feedback(
                "merging your answer into the module",
                format!(
                    "The module with your definitions, or the configuration, was rejected.\n\n{}",
                    diagnostics_text(&inspection.diagnostics)
                ),
            )],
            facts: Facts::Rejected { diagnostics: inspection.diagnostics },
        }),
    }
}

fn feedback(from: &str, text: String) -> Feedback {
    Feedback { node: NodeName::GenerateInvariants, from: from.to_owned(), text }
}

/// Merges the answer into the module by parse tree, translates and parses the result, and looks up every name that the
/// configuration lists.
async fn merge_and_inspect(
    context: &NodeContext,
    source: &str,
    read: &Sections,
) -> Result<(Inspection, Option<Merged>), NodeError> {
    let sections = tla::Sections {
        invariants: &read.invariants,
        properties: &read.properties,
        witnesses: &read.witnesses,
        cfg: &read.cfg,
    };
    let merged = match merge(source, &sections) {
        Ok(merged) => merged,
        Err(diagnostics) => return Ok((Inspection { module: None, diagnostics }, None)),
    };
    let mut inspection = context.inspect(&merged.text).await.map_err(|e| halt_for_tool(&e))?;
    // The translation declares names of its own (`defaultInitValue`), so the names are looked up in the translated module
    // if there is one.
    let names = match context.modules.parse(inspection.module.as_deref().unwrap_or(&merged.text)) {
        Ok(module) => check_cfg_names(&module, &merged.cfg),
        Err(_) => Vec::new(),
    };
    let spec = SpecText::alone(merged.text.clone());
    let names = names.into_iter().chain(lint_cfg(&merged.cfg, &spec)).collect::<Vec<_>>();
    if !names.is_empty() {
        inspection.module = None;
        inspection.diagnostics.extend(names);
    }
    if let Some(text) = &inspection.module {
        let refused = context.refusal(text, &merged.cfg).await.map_err(|e| halt_for_tool(&e))?;
        let failed = match refused {
            Some(refused) => vec![refused],
            None => context.unevaluable_invariants(text, &merged.cfg).await.map_err(|e| halt_for_tool(&e))?,
        };
        if !failed.is_empty() {
            inspection = Inspection { module: None, diagnostics: failed };
        }
    }
    Ok((inspection, Some(merged)))
}

/// The requirements that each property covers, by property name. Empty if the configuration cannot be parsed.
pub fn covered_requirements(module: &Module, cfg_text: &str) -> BTreeMap<String, Vec<String>> {
    Cfg::parse(cfg_text).map(|cfg| module.requirements_by_property(&cfg)).unwrap_or_default()
}
