//! Generates `TypeOK`, invariants, temporal properties, witnesses and the configuration, merges them into the module,
//! and parses the result. Without feedback, and if its input has not changed, it keeps its properties and asks no model.

use std::collections::BTreeMap;

use serde_json::json;

use super::ask::NodeRequest;
use super::context::{NodeContext, halt_for_tool};
use super::edited::{CorrectionResult, Mistakes, TextToCorrect};
use super::inspection::{Inspection, recall_inspection, record_inspection};
use super::mutants_text::survivors_file;
use super::single_call;
use super::workspace::{NOT_FOR_PROPERTIES, current, diagnostics_text, number_lines, offer_check};
use crate::journal::Sha;
use crate::pipeline::{
    Acceptance, Attempt, Event, Facts, Feedback, NodeError, NodeName, Product, Review, RunView, Specification, file,
};
use crate::prompt::{Problem, Readable, Sections, extract_sections, without_sections};
use crate::tla::{
    self, Cfg, Merged, Module, check_cfg_names, checked_texts, merge, unknown_labels, without_translation,
};
use crate::toolchain::{SpecText, lint_cfg};

/// The purpose of a request for properties that notice more mutants.
pub const STRENGTHEN: &str = "strengthen";
pub(super) const ANSWER: &str = file::PROPERTIES_ANSWER;
/// The informal specification and the module that the current properties were made from.
const INPUT: &str = file::PROPERTIES_INPUT;

/// The requirements, such as new ones, that no property says it covers, and of which the last review does not accept that; `None` if
/// there are none.
fn uncovered_requirements(view: &RunView) -> Option<String> {
    let Specification { requirements, covers, .. } = &view.specification;
    let is_open = |id: &&str| {
        let mut covered = covers.values().flatten();
        let accepts = |review: &Review| review.uncovered_reason(id).is_some();
        !covered.any(|covered| covered == id) && !view.reviews.last.as_ref().is_some_and(accepts)
    };
    let open: Vec<&str> = requirements.iter().map(|requirement| requirement.id.as_str()).filter(is_open).collect();
    (!open.is_empty()).then(|| open.join(", "))
}

pub(super) async fn perform(
    context: &NodeContext,
    view: &RunView,
    attempt: &Attempt<'_>,
) -> Result<Product, NodeError> {
    let previous = current(view, attempt, ANSWER)?;
    // The sections could be read if there is a configuration.
    let accepted = previous.clone().filter(|_| view.artifact(file::CFG).is_some());
    let correcting = TextToCorrect::new(NodeName::GenerateInvariants, accepted, previous.clone(), view, attempt)?;
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
        let open = view.feedback_for(NodeName::GenerateInvariants);
        files.push(("feedback.md".to_owned(), correcting.feedback_file(open, "")));
    }
    let purpose = match on_trial {
        Some(_) => STRENGTHEN,
        None if correcting.shown().is_some() && has_feedback => "repair",
        None => "draft",
    };
    files.extend(on_trial.map(|mutants| ("survivors.md".to_owned(), survivors_file(mutants))));
    if let Some(previous) = correcting.shown() {
        files.push(("previous.md".to_owned(), number_lines(previous)));
    }
    if purpose == "repair" {
        offer_check(view, &mut data, &mut files);
        data["uncovered"] = json!(uncovered_requirements(view));
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
    let read =
        |text: &str, _: bool| extract_sections(text).and_then(with_listed_witnesses).map_err(Mistakes::unreadable);
    let (read, sha) = match correcting.apply_answer(answer, ANSWER, view, &read)? {
        CorrectionResult::Accepted { value, sha } => (value, sha),
        CorrectionResult::SentBack(mut product) => {
            // An answer that was not accepted is never kept.
            product.artifacts.insert(INPUT.to_owned(), attempt.keep("")?);
            return Ok(product);
        }
    };
    // Until the merge is accepted, too.
    let mut artifacts: BTreeMap<String, Sha> =
        BTreeMap::from([(ANSWER.to_owned(), sha), (INPUT.to_owned(), attempt.keep("")?)]);
    // Also if the merge is rejected: the reviewer and a person see the configuration that was rejected.
    artifacts.insert(file::CFG.to_owned(), attempt.keep(&read.cfg)?);
    let inspection = match recall_inspection(attempt)? {
        Some(inspection) => inspection,
        None => {
            let (inspection, merged) = merge_and_inspect(context, &source, &sections(&read)).await?;
            record_inspection(attempt, "merge, translate and parse", &inspection, merged.as_ref())?;
            inspection
        }
    };
    match inspection.module {
        Some(module) => {
            let merged = attempt.keep(&module)?;
            // Also to replace that of an earlier revision with contracts.
            if view.settings.routing.contracts || view.artifact(file::MERGED).is_some() {
                let cfg = attempt.keep(&read.cfg)?;
                artifacts.extend([(file::MERGED.to_owned(), merged.clone()), (file::MERGED_CFG.to_owned(), cfg)]);
            }
            artifacts.extend([(file::MODULE.to_owned(), merged), (INPUT.to_owned(), input_sha)]);
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

/// Checks that no comment of the configuration names a witness that is not read from it, such as `\* WITNESS Full: the buffer
/// is full`: it would never be checked.
fn with_listed_witnesses(read: Readable<Sections>) -> Result<Readable<Sections>, Problem> {
    let Ok(cfg) = Cfg::parse(&read.value.cfg) else { return Ok(read) };
    let is_defined = |name: &str| {
        let mut lines = read.value.witnesses.lines();
        lines.any(|line| line.strip_prefix(name).is_some_and(|rest| rest.trim_start().starts_with("==")))
    };
    let is_lost = |word: &str| is_defined(word) && !cfg.witnesses.iter().any(|name| name == word);
    let names_lost = |line: &&str| {
        let comment = line.find("\\*").map_or("", |at| &line[at..]);
        let mut words = comment.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').filter(|word| !word.is_empty());
        let begins_a_list =
            words.next().is_some_and(|first| ["witness", "witnesses"].contains(&first.to_lowercase().as_str()));
        begins_a_list && words.any(is_lost)
    };
    match read.value.cfg.lines().find(names_lost) {
        None => Ok(read),
        Some(line) => Err(Problem::new(format!(
            "`{}` lists no witness, so it would not be checked; write `\\* WITNESS Name` with nothing after the name",
            line.trim()
        ))),
    }
}

fn sections(read: &Sections) -> tla::Sections<'_> {
    tla::Sections {
        invariants: &read.invariants,
        properties: &read.properties,
        witnesses: &read.witnesses,
        cfg: &read.cfg,
    }
}

/// Merges sections into the module by parse tree, translates and parses the result, and looks up every name that the
/// configuration lists.
pub(super) async fn merge_and_inspect(
    context: &NodeContext,
    source: &str,
    sections: &tla::Sections<'_>,
) -> Result<(Inspection, Option<Merged>), NodeError> {
    let merged = match merge(source, sections) {
        Ok(merged) => merged,
        Err(diagnostics) => return Ok((Inspection { module: None, diagnostics }, None)),
    };
    let mut inspection = context.inspect(&merged.text).await.map_err(|e| halt_for_tool(&e))?;
    // The translation declares names of its own (`defaultInitValue`), so the names are looked up in the translated module
    // if there is one.
    let names = match context.modules.parse(inspection.module.as_deref().unwrap_or(&merged.text)) {
        Ok(module) => {
            let unknown = unknown_labels(&module, &merged.cfg);
            check_cfg_names(&module, &merged.cfg).into_iter().chain(unknown).collect()
        }
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
