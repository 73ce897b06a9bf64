//! Writes contracts of the steps: a fresh conversation sees the documents, the declarations of the specification and the
//! names of its steps, but not the algorithm, and says what the documents demand of each step. The contracts become step
//! properties of the specification. Without feedback, and if its input has not changed, it keeps its contracts and asks no
//! model.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::json;

use super::ask::NodeRequest;
use super::context::NodeContext;
use super::edited::{CorrectionResult, Mistakes, TextToCorrect};
use super::generate_invariants::merge_and_inspect;
use super::inspection::{Inspection, recall_inspection, record_inspection};
use super::single_call::earlier_answer;
use super::workspace::{current, diagnostics_text, documents, number_lines};
use crate::journal::Sha;
use crate::pipeline::{
    Acceptance, Attempt, Event, Facts, Feedback, Halt, NodeError, NodeName, Product, RunView, StopReason, file,
};
use crate::prompt::{
    Document, Problem, Readable, documented_steps, extract_definitions, marked_changes, places_in, section_text,
};
use crate::tla::{
    self, Cfg, Contracts, DeclaredProcess, DeclaredSteps, Members, Module, checked_texts, read_contracts,
    usable_definitions, variable_legend, with_contracts, without_translation,
};

/// The purpose of the request.
pub const PURPOSE: &str = "contracts";
/// The purpose of a request that corrects contracts.
const REPAIR: &str = "contracts_repair";
const ANSWER: &str = file::CONTRACTS_ANSWER;
const INPUT: &str = file::CONTRACTS_INPUT;

pub(super) async fn perform(
    context: &NodeContext,
    view: &RunView,
    attempt: &Attempt<'_>,
) -> Result<Product, NodeError> {
    let text = first_available_text(view, attempt, [file::MERGED, file::MODULE])?;
    let cfg_text = first_available_text(view, attempt, [file::MERGED_CFG, file::CFG])?;
    let unreadable = |what: String| Halt {
        reason: StopReason::Tool,
        message: format!("the accepted module cannot be read back: {what}"),
    };
    let module = context.modules.parse(&text).map_err(|error| unreadable(error.to_string()))?;
    let cfg = Cfg::parse(&cfg_text).map_err(|error| unreadable(error.to_string()))?;
    let Some(steps) = DeclaredSteps::from_module(&module) else {
        return product_without_contracts(attempt, &module, (&text, &cfg_text), &cfg);
    };
    let informal = current(view, attempt, file::INFORMAL)?.unwrap_or_default();
    let mut declarations = declarations(&module, &cfg, &steps, &informal);
    add_decisions(&mut declarations, view, &informal);
    let input = attempt.keep(&declarations)?;
    let previous = current(view, attempt, ANSWER)?;
    let correcting = TextToCorrect::new(NodeName::StepContracts, previous.clone(), previous.clone(), view, attempt)?;
    let has_feedback = view.feedback_for(NodeName::StepContracts).next().is_some();
    let is_repair = correcting.shown().is_some() && has_feedback;
    let mut files = vec![("declarations.md".to_owned(), declarations)];
    if let Some(previous) = correcting.shown() {
        files.push(("previous.md".to_owned(), number_lines(previous)));
    }
    if has_feedback {
        let open = view.feedback_for(NodeName::StepContracts);
        files.push(("feedback.md".to_owned(), correcting.feedback_file(open, "")));
    }
    let ask = NodeRequest {
        prompt_template: "step_contracts/draft".to_owned(),
        template_data: json!({"has_previous": correcting.shown().is_some(), "has_feedback": has_feedback}),
        files,
        offers_documents: true,
        ..NodeRequest::new(NodeName::StepContracts, if is_repair { REPAIR } else { PURPOSE }, attempt)
    };
    // A branch that begins here asks for other contracts.
    let follows = view.attempts.contains_key(&(view.rev, NodeName::GenerateInvariants.name().to_owned()));
    let is_kept = follows && !has_feedback && view.artifact(INPUT) == Some(&input);
    let kept = previous.zip(view.artifact(ANSWER)).filter(|_| is_kept);
    let answer = match kept {
        Some((text, sha)) => earlier_answer(text, sha.clone()),
        None => context.ask(view, ask).await?,
    };
    let documents = documents(view, attempt)?;
    let read = |text: &str, _: bool| read_answer(text, &module, &cfg, &steps, &documents);
    let (contracts, sha) = match correcting.apply_answer(answer, ANSWER, view, &read)? {
        CorrectionResult::Accepted { value, sha } => (value, sha),
        CorrectionResult::SentBack(mut product) => {
            product.artifacts.insert(INPUT.to_owned(), attempt.keep("")?);
            return Ok(product);
        }
    };
    let (merged, merged_cfg) = (attempt.keep(&text)?, attempt.keep(&cfg_text)?);
    let cfg_text = with_contracts(&cfg_text, &cfg, &contracts);
    let inspection = match recall_inspection(attempt)? {
        Some(inspection) => inspection,
        None => {
            let sections =
                tla::Sections { properties: &contracts.definitions, cfg: &cfg_text, ..tla::Sections::default() };
            // The translation is made again after the merge.
            let (inspection, merged) = merge_and_inspect(context, &without_translation(&text), &sections).await?;
            record_inspection(attempt, "merge contracts, translate and parse", &inspection, merged.as_ref())?;
            inspection
        }
    };
    let mut product = product_with_contracts(context, attempt, inspection, &cfg_text, contracts, (sha, input))?;
    // What the contracts were added to: a branch or an older run may lack it.
    product.artifacts.extend([(file::MERGED.to_owned(), merged), (file::MERGED_CFG.to_owned(), merged_cfg)]);
    Ok(product)
}

/// The product of contracts that were merged. The last argument has the hashes of the answer and of the declarations that it
/// was written from.
fn product_with_contracts(
    context: &NodeContext,
    attempt: &Attempt<'_>,
    inspection: Inspection,
    cfg_text: &str,
    contracts: Contracts,
    (answer, input): (Sha, Sha),
) -> Result<Product, NodeError> {
    let Some(text) = inspection.module else {
        let text = format!(
            "The specification with your definitions was rejected.\n\n{}",
            diagnostics_text(&inspection.diagnostics)
        );
        let from = "merging your contracts into the specification".to_owned();
        return Ok(Product {
            event: Event::Merged(Acceptance::Rejected),
            // Rejected contracts are never kept.
            artifacts: BTreeMap::from([(ANSWER.to_owned(), answer), (INPUT.to_owned(), attempt.keep("")?)]),
            feedback: vec![Feedback { node: NodeName::StepContracts, from, text }],
            facts: Facts::Rejected { diagnostics: inspection.diagnostics },
        });
    };
    let (covers, texts) = match (context.modules.parse(&text), Cfg::parse(cfg_text)) {
        (Ok(module), Ok(cfg)) => (module.requirements_by_property(&cfg), checked_texts(&module, &cfg)),
        _ => (BTreeMap::new(), BTreeMap::new()),
    };
    Ok(Product {
        event: Event::Merged(Acceptance::Accepted),
        artifacts: BTreeMap::from([
            (ANSWER.to_owned(), answer),
            (INPUT.to_owned(), input),
            (file::MODULE.to_owned(), attempt.keep(&text)?),
            (file::CFG.to_owned(), attempt.keep(cfg_text)?),
        ]),
        feedback: Vec::new(),
        facts: Facts::Contracted { covers, texts, contracts: contracts.steps },
    })
}

/// The product for a specification without a translated algorithm that has labels: it needs no contracts.
fn product_without_contracts(
    attempt: &Attempt<'_>,
    module: &Module,
    (text, cfg_text): (&str, &str),
    cfg: &Cfg,
) -> Result<Product, NodeError> {
    Ok(Product {
        event: Event::Merged(Acceptance::Accepted),
        artifacts: BTreeMap::from([
            (file::MODULE.to_owned(), attempt.keep(text)?),
            (file::CFG.to_owned(), attempt.keep(cfg_text)?),
            (file::MERGED.to_owned(), attempt.keep(text)?),
            (file::MERGED_CFG.to_owned(), attempt.keep(cfg_text)?),
        ]),
        feedback: Vec::new(),
        facts: Facts::Contracted {
            covers: module.requirements_by_property(cfg),
            texts: checked_texts(module, cfg),
            contracts: Contracts::of_unlabelled(),
        },
    })
}

/// The text of the first of these artifacts that the run has.
fn first_available_text(view: &RunView, attempt: &Attempt<'_>, names: [&str; 2]) -> Result<String, NodeError> {
    for name in names {
        if let Some(text) = current(view, attempt, name)? {
            return Ok(text);
        }
    }
    Ok(String::new())
}

/// Reads an answer: its definitions, and the lines of the documents that each contract cites.
fn read_answer(
    text: &str,
    module: &Module,
    cfg: &Cfg,
    steps: &DeclaredSteps,
    documents: &[Document],
) -> Result<Readable<Contracts>, Mistakes> {
    let Readable { value, normalised } = extract_definitions(text).map_err(Mistakes::unreadable)?;
    let usable = |mistakes: &[String]| Mistakes::in_usable_text(Problem::of_mistakes(mistakes));
    let contracts = read_contracts(module, cfg, steps, &value).map_err(|mistakes| usable(&mistakes))?;
    let is_uncited = |comment: &str| places_in(comment, documents, false).is_empty();
    let uncited = contracts.steps.iter().filter(|step| !step.is_free && is_uncited(&step.comment));
    let mistakes: Vec<String> =
        uncited.map(|step| format!("what you say of {} cites no line of the documents", step.label)).collect();
    if mistakes.is_empty() { Ok(Readable { value: contracts, normalised }) } else { Err(usable(&mistakes)) }
}

/// The text of `declarations.md`: the declarations, `TypeOK`, which labels follow each other, and the lines that the documented
/// steps cite. It has no statement of the algorithm, no other property, and nothing of what a step does.
fn declarations(module: &Module, cfg: &Cfg, steps: &DeclaredSteps, informal: &str) -> String {
    let mut text = String::from("# Declarations of the specification\n\nIts algorithm is not shown.\n");
    let _ = writeln!(text, "\n- extends: {}", module.extends.join(", "));
    for constant in &module.constants {
        let value = cfg.constants.get(&constant.name).map_or("no value", String::as_str);
        let _ = writeln!(text, "- constant `{}`: here `{value}`", constant.name);
    }
    text.push_str("\n## Variables\n\n");
    for (name, meaning) in variable_legend(module) {
        let _ = writeln!(text, "- `{name}`: {}", meaning.as_deref().unwrap_or("see below"));
    }
    if let Some(types) = module.definition("TypeOK") {
        let _ = writeln!(text, "\n```tla\n{}\n```", &module.source[types.code.clone()]);
    }
    if let Some(state) = section_text(informal, "state") {
        let _ = writeln!(text, "\nWhat the author of the specification says of them:\n\n{}", state.trim());
    }
    let usable = usable_definitions(module);
    if !usable.is_empty() {
        text.push_str("\n## Definitions that you may use\n\n```tla\n");
        for definition in usable {
            let _ = writeln!(text, "{}", &module.source[definition.code.clone()]);
        }
        text.push_str("```\n");
    }
    text.push_str("\n## Labels\n");
    for process in &steps.processes {
        let _ = writeln!(text, "\n{}:\n", process_words(process));
        for label in &process.labels {
            let next = match (steps.has_pc, label.next.is_empty()) {
                (false, _) => "the step is repeated without end".to_owned(),
                (true, true) => "what follows is not known".to_owned(),
                (true, false) => format!("then `pc` is {}", label.next.join(" or ")),
            };
            let _ = writeln!(text, "- {}: {next}", label.name);
        }
    }
    text.push_str(
        "\n## Documented steps\n\nTheir names, and the lines that the author of the specification cites for each:\n\n",
    );
    for (name, places) in documented_steps(informal) {
        let _ = writeln!(text, "- {name}: {}", places.join(", "));
    }
    text
}

/// Adds what replaces the documents: decisions of the owner of the protocol, and changed steps of a run that repairs a flaw.
fn add_decisions(text: &mut String, view: &RunView, informal: &str) {
    let decisions = &view.specification.decisions;
    if !decisions.is_empty() {
        text.push_str("\n## Decided by the owner of the protocol (counts as documented)\n\n");
    }
    for decision in decisions {
        let _ = writeln!(text, "- {} {}", decision.open_point.id, decision.words());
    }
    let changed = if view.state.repaired { marked_changes(informal) } else { Vec::new() };
    if !changed.is_empty() {
        text.push_str("\n## Changed after a flaw was found (replaces what the documents say)\n\n");
    }
    for passage in changed {
        let _ = writeln!(text, "{passage}\n");
    }
}

fn process_words(process: &DeclaredProcess) -> String {
    match &process.members {
        Members::Alone => {
            "The algorithm has no processes, and `pc` is a label; write operators without a parameter".to_owned()
        }
        Members::One(id) => format!("Process {}, `self` is `{id}`", process.name),
        Members::Each(set) => format!("Process {}, for each `self \\in {set}`", process.name),
    }
}
