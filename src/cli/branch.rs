//! Starts a branch from a revision. Files in `history/rev_N/` that a person edited become its artifacts; an edited module
//! is parsed before any node reads it.

use std::collections::BTreeMap;

use super::failure::Failure;
use super::progress::Display;
use super::run_failure::run_failure;
use super::tools::tool_failure;
use crate::exit::Exit;
use crate::files;
use crate::journal::{Kind, Sha};
use crate::nodes::{NodeContext, covered_requirements};
use crate::pipeline::{
    self, Branch, Carried, Changed, Decision, Feedback, NodeName, Outcome, Position, Revision, Run, RunView, State,
    begin_branch, file,
};
use crate::prompt::{
    Assumption, Document, FixedNames, NormativeSentence, OpenPoint, Requirement, account_for, check_places,
    fixed_names, normalise, parse_assumptions, parse_open_points, parse_requirements, unread_lines,
};
use crate::tla::{Cfg, Diagnostic, Module, check_cfg_names, without_translation};

/// Journals the start of a branch; changes nothing if it cannot start. Returns whether the branch does what the run itself
/// would have done next: only then does a replay of the recording give the same result.
#[expect(clippy::too_many_lines, reason = "the checks before a branch, in their order")]
pub(super) async fn start_branch(
    run: &Run,
    context: &NodeContext,
    from: &str,
    at: Option<&str>,
    decisions: Vec<Decision>,
    changed: Changed,
) -> Result<bool, Failure> {
    let view = run.view();
    let parent = find_revision(&view, from)?;
    let repair = changed.routing.unwrap_or(view.settings.routing).repair;
    let node = choose_node(parent, at, repair)?;
    let mut artifacts = parent.hashes.clone();
    let edited = store_edits(run, parent, &mut artifacts)?;
    let repairs = repair && parent.outcome == Outcome::FlawFound.name() && node == NodeName::InformalSpec;
    let is_straight = edited.is_empty() && decisions.is_empty() && (parent.routed_to == Some(node) || repairs);
    let text = |name: &str| -> Result<Option<String>, Failure> {
        let read = artifacts.get(name).map(|sha| run.store().text(sha)).transpose();
        read.map_err(|e| Failure::usage(e.to_string()))
    };
    let (module, cfg, informal) = (text(file::MODULE)?, text(file::CFG)?, text(file::INFORMAL)?);
    let is_edited = |name: &str| edited.iter().any(|e| e == name);
    let flawed =
        parent.outcome == Outcome::FlawFound.name() || parent.open_feedback.iter().any(Feedback::is_confirmed_flaw);
    let by_hand = flawed && !repair && is_corrected(run, parent, &artifacts)?;
    // Only a reading that the flaw rests on, decided otherwise, makes it another protocol.
    let lifts_flaw = decisions.iter().any(|decision| rests_on(&view, parent, decision));
    if flawed && !repair && !by_hand && !lifts_flaw {
        return Err(confirmed_flaw_failure(parent));
    }

    // Module and merged module: a merged module that parses was made from a module that was accepted.
    let mut accepted = (parent.rank.parses, parent.rank.parses);
    let mut covers = coverage_before(parent);
    if is_edited(file::MODULE) || is_edited(file::CFG) {
        // The edited module becomes the source of everything later.
        artifacts.remove(file::MERGED);
        artifacts.remove(file::MERGED_CFG);
        let Some(edited_text) = &module else {
            return Err(Failure::usage(format!("{from} has no module for its edited {}", file::CFG))
                .hint(format!("add a {} in the same folder, or remove it and begin at formalize", file::MODULE)));
        };
        let source = without_translation(edited_text);
        artifacts.insert(file::SOURCE.into(), store_text(run, &source)?);
        accepted = (false, false);
        // A branch that begins earlier parses the module in `validate` anyway.
        if node > NodeName::Validate {
            let merged =
                inspect_edits(context, &source, cfg.as_deref().filter(|_| node > NodeName::GenerateInvariants)).await?;
            // The edit may have added, removed or renamed properties.
            covers = context
                .modules
                .parse(&merged)
                .map(|m| self::covered_requirements(&m, cfg.as_deref().unwrap_or_default()))
                .unwrap_or_default();
            artifacts.insert(file::MODULE.into(), store_text(run, &merged)?);
            accepted = (true, node > NodeName::GenerateInvariants && cfg.is_some());
        }
    } else if artifacts.contains_key(file::VALIDATED) {
        // The module was accepted even if its merge with the properties was not.
        accepted.0 = true;
    }
    if node > NodeName::Formalize && !artifacts.contains_key(file::SOURCE) {
        return Err(Failure::usage(format!("{from} has no module, so a branch cannot begin at {node}"))
            .hint("begin at formalize or informal_spec"));
    }
    if is_edited(file::INFORMAL) && informal.as_deref().is_none_or(|text| parse_requirements(text).is_empty()) {
        return Err(Failure::new(Exit::Negative, "the edited informal_spec.md has no numbered requirement")
            .hint("each needs a line of its own: R1 [docs/file.md:12-14] …"));
    }
    let unread = informal.as_deref().filter(|_| is_edited(file::INFORMAL)).map(unread_lines).unwrap_or_default();
    if !unread.is_empty() {
        let lines = unread.join("\n  ");
        return Err(Failure::new(
            Exit::Negative,
            format!("lines of the edited informal_spec.md are not counted:\n  {lines}"),
        )
        .hint("write each in the form that the message names, or remove it"));
    }
    // A decision about another open point leaves the question open.
    let question = view.question(parent.revision);
    let settles = |decision: &Decision| question.as_ref().is_some_and(|q| decision.is_about(&q.open_point));
    let is_settled = decisions.iter().any(settles);
    let carried = Carried {
        informal: informal.is_some(),
        module_accepted: accepted.0,
        merged_accepted: accepted.1,
        // After a confirmed flaw, every repair changes the protocol, whichever node makes it.
        repaired: parent.repaired || (flawed && repair && !lifts_flaw),
        other_reading: !is_settled && parent.has_open_question(),
    };
    let state = State::branch(node, carried);
    // `State::branch` moves to an earlier node if an input is missing. The user chose this node, so that is an error
    // here.
    if state.position != Position::Node(node) {
        let has_source = artifacts.contains_key(file::SOURCE);
        return Err(missing_input_failure(from, node, carried, has_source));
    }
    let NumberedItems { requirements, open_points, assumptions, normative_sentences, names } =
        locate_items(run, &view, informal.as_deref())?;
    // A correction by hand means that the flaw was in the specification and not in the protocol, so no node repairs it.
    let open_feedback = parent.open_feedback.iter().filter(|f| {
        let is_obsolete = (by_hand || lifts_flaw) && f.is_confirmed_flaw() || is_settled && f.is_other_reading();
        !is_obsolete
    });
    let feedback = open_feedback
        .cloned()
        .chain(decisions.iter().filter_map(|decision| decision_feedback(&view, parent, decision)));
    let branch = Branch {
        from: parent.revision,
        state,
        requirements,
        open_points,
        assumptions,
        normative_sentences,
        names,
        covers,
        contracts: parent.contracts.clone().filter(|_| artifacts.contains_key(file::MERGED)),
        artifacts,
        edited,
        feedback: feedback.collect(),
        decisions: merge_decisions(&parent.decisions, &decisions),
        changed,
    };
    begin_branch(run, &branch, Kind::Choice).map_err(|e| run_failure(&e))?;
    Ok(is_straight)
}

/// Whether a step of the flaw that the revision ended in rests on the open point, or on an earlier decision about it.
fn rests_on(view: &RunView, parent: &Revision, decision: &Decision) -> bool {
    let review = view.reviews.by_revision.get(&parent.revision).and_then(|all| all.last());
    let steps =
        review.and_then(|(review, _)| review.flaw.as_ref()).map(|flaw| flaw.steps.as_slice()).unwrap_or_default();
    let earlier = parent.decisions.iter().map(|earlier| &earlier.open_point);
    let mut points = parent.open_points.iter().chain(earlier).filter(|point| decision.is_about(point));
    points.any(|point| steps.iter().any(|step| step.open_point.as_deref() == Some(point.id.as_str())))
}

/// A new decision replaces an earlier one to the same question.
fn merge_decisions(earlier: &[Decision], new: &[Decision]) -> Vec<Decision> {
    let is_replaced = |old: &Decision| new.iter().any(|decision| decision.is_about(&old.open_point));
    earlier.iter().filter(|old| !is_replaced(old)).chain(new).cloned().collect()
}

/// The task of taking an answered reading; `None` if the revision takes it already.
fn decision_feedback(view: &RunView, parent: &Revision, decision: &Decision) -> Option<Feedback> {
    let Decision { open_point, reading } = decision;
    let text = format!(
        "{} [{}] {} The owner of the protocol decided: {reading} Take this reading in every step and requirement that \
         depends on it, change nothing else, and list the point no longer among the open points.",
        open_point.id,
        open_point.place_words(),
        open_point.question
    );
    let from = Feedback::DECISION.to_owned();
    (!view.takes_decision(parent, decision)).then_some(Feedback { node: NodeName::InformalSpec, from, text })
}

pub(super) fn find_revision<'a>(view: &'a RunView, from: &str) -> Result<&'a Revision, Failure> {
    let known = || {
        let names: Vec<String> = view.revisions.iter().map(|r| format!("rev_{}", r.revision)).collect();
        if names.is_empty() {
            "the run has no closed revision yet".to_owned()
        } else {
            format!("its revisions are {}", names.join(", "))
        }
    };
    // `--from 1` is accepted, too.
    let number = from.strip_prefix("rev_").unwrap_or(from).parse::<u32>().ok();
    number
        .and_then(|n| view.revisions.iter().find(|r| r.revision == n))
        .ok_or_else(|| Failure::usage(format!("there is no revision {from:?}")).hint(known()))
}

fn choose_node(parent: &Revision, at: Option<&str>, repair: bool) -> Result<NodeName, Failure> {
    let names = NodeName::ALL.map(NodeName::name).join(", ");
    match at {
        Some(name) => NodeName::parse(name)
            .ok_or_else(|| Failure::usage(format!("there is no node {name:?}")).hint(format!("its nodes are {names}"))),
        // A repair of a flaw starts with the informal specification.
        None if repair && parent.outcome == Outcome::FlawFound.name() => Ok(NodeName::InformalSpec),
        None => parent.routed_to.ok_or_else(|| {
            Failure::usage(format!(
                "rev_{} ended the run ({}), so there is no next node",
                parent.revision, parent.outcome
            ))
            .hint(format!("choose a node with --at: {names}"))
        }),
    }
}

/// Stores the files in the revision's folder that differ from its artifacts, and returns their names.
fn store_edits(run: &Run, parent: &Revision, artifacts: &mut BTreeMap<String, Sha>) -> Result<Vec<String>, Failure> {
    let dir = run.root().join("history").join(format!("rev_{}", parent.revision));
    let mut edited = Vec::new();
    for name in [file::INFORMAL, file::MODULE, file::CFG] {
        let path = dir.join(file::visible_name(name, parent.module_name()));
        // Within the run folder: in a folder from another person, a link must not send a file of this machine to a
        // model.
        let text = match files::read_text_below(run.root(), &path, files::MEDIUM) {
            Ok(text) => text,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => continue,
            Err(e) => return Err(Failure::usage(format!("cannot read {}: {e}", path.display()))),
        };
        let is_stored = |text: &str| artifacts.get(name) == Some(&Sha::digest(text));
        // Everyone reads an edited file in the same columns, as an answer of a model.
        let normal = normalise(&text);
        if !is_stored(&text) && !is_stored(&normal) {
            artifacts.insert(name.to_owned(), store_text(run, &normal)?);
            edited.push(name.to_owned());
        }
    }
    Ok(edited)
}

/// Says before the branch starts that it ignores edits at the top of the run folder.
pub(super) fn note_ignored_edits(run: &Run, from: &str, display: &Display) -> Result<(), Failure> {
    let view = run.view();
    let parent = find_revision(&view, from)?;
    for path in pipeline::edited_visible_files(run) {
        let (Some(name), root) = (path.file_name(), run.root()) else { continue };
        let used = root.join("history").join(format!("rev_{}", parent.revision)).join(name);
        // The user has made the same edit in both places.
        let read = |path| files::read_below(root, path, files::LARGE).ok();
        if read(&path) != read(&used) {
            display.note(&format!(
                "your edit of {} is not part of this branch, which takes {}",
                path.display(),
                used.display()
            ));
        }
    }
    Ok(())
}

/// Whether an edit changed more than white space.
fn is_corrected(run: &Run, parent: &Revision, artifacts: &BTreeMap<String, Sha>) -> Result<bool, Failure> {
    // Otherwise a blank at the end of a line would count as a correction of the flaw.
    let words = |sha: Option<&Sha>| -> Result<Vec<String>, Failure> {
        let text = sha.map(|sha| run.store().text(sha)).transpose().map_err(|e| Failure::usage(e.to_string()))?;
        Ok(text.unwrap_or_default().split_whitespace().map(str::to_owned).collect())
    };
    for name in [file::INFORMAL, file::MODULE, file::CFG] {
        if words(artifacts.get(name))? != words(parent.hashes.get(name))? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn confirmed_flaw_failure(parent: &Revision) -> Failure {
    let (n, module) = (parent.revision, parent.module_name());
    Failure::usage(format!("rev_{n} ended in a confirmed flaw of the documented protocol")).hint(format!(
        "to repair the protocol, add --repair (the best possible outcome is then approved_repaired); if the \
         specification is wrong, first correct informal_spec.md, {module}.tla or {module}.cfg in history/rev_{n}; if the \
         documents are wrong, correct them and start a new run"
    ))
}

/// The numbered items of an informal specification.
struct NumberedItems {
    requirements: Vec<Requirement>,
    open_points: Vec<OpenPoint>,
    assumptions: Vec<Assumption>,
    normative_sentences: Vec<NormativeSentence>,
    names: FixedNames,
}

/// Parses the requirements, open points and assumptions, looks up the places that they cite in the documents, and how the
/// normative sentences of the documents that were read are accounted for.
fn locate_items(run: &Run, view: &RunView, informal: Option<&str>) -> Result<NumberedItems, Failure> {
    let mut documents = Vec::new();
    for stored in &view.settings.docs {
        let text = run.store().text(&stored.sha).map_err(|e| Failure::usage(e.to_string()))?;
        documents.push(Document { path: stored.path.clone(), text });
    }
    let mut requirements = informal.map(parse_requirements).unwrap_or_default();
    let mut open_points = informal.map(parse_open_points).unwrap_or_default();
    let mut assumptions = informal.map(parse_assumptions).unwrap_or_default();
    check_places(&mut requirements, &mut open_points, &mut assumptions, &documents);
    let was_read = |path: &str| view.specification.was_read(path);
    let words = &view.settings.normative_words;
    let normative_sentences = informal.map(|text| account_for(text, &documents, was_read, words)).unwrap_or_default();
    let names = informal.map(fixed_names).unwrap_or_default();
    Ok(NumberedItems { requirements, open_points, assumptions, normative_sentences, names })
}

fn store_text(run: &Run, text: &str) -> Result<Sha, Failure> {
    run.store().put(text).map_err(|e| Failure::new(Exit::Defect, e.to_string()))
}

/// The node cannot start without an earlier result; the hint names the latest node that can.
fn missing_input_failure(from: &str, node: NodeName, carried: Carried, has_source: bool) -> Failure {
    let missing = match node {
        NodeName::StepContracts | NodeName::ModelCheck => "merged module and configuration that were accepted",
        NodeName::GenerateInvariants => "module that was accepted",
        _ => "informal specification",
    };
    let begins = |s: &NodeName| {
        State::branch(*s, carried).position == Position::Node(*s) && (*s <= NodeName::Formalize || has_source)
    };
    let instead = NodeName::ALL.into_iter().rev().filter(|s| *s < node).find(begins).unwrap_or(NodeName::InformalSpec);
    Failure::usage(format!("{from} has no {missing}, so a branch cannot begin at {node}"))
        .hint(format!("begin earlier: --at {instead}"))
}

fn coverage_before(parent: &Revision) -> BTreeMap<String, Vec<String>> {
    let mut covers: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for r in &parent.requirements {
        for name in r.claims() {
            covers.entry(name.clone()).or_default().push(r.requirement.id.clone());
        }
    }
    covers
}

/// Translates and parses the edited module.
///
/// # Errors
/// The diagnostics of a rejected module or configuration.
async fn inspect_edits(context: &NodeContext, source: &str, cfg: Option<&str>) -> Result<String, Failure> {
    let inspection = context.inspect(source).await.map_err(|e| tool_failure(&e))?;
    let mut diagnostics = inspection.diagnostics;
    if let (Some(cfg), Ok(module)) = (cfg, Module::parse(inspection.module.as_deref().unwrap_or(source))) {
        match Cfg::parse(cfg) {
            Ok(cfg) => diagnostics.extend(check_cfg_names(&module, &cfg)),
            Err(diagnostic) => diagnostics.push(diagnostic),
        }
    }
    match inspection.module {
        Some(module) if diagnostics.is_empty() => Ok(module),
        _ => Err(rejected_failure(&diagnostics)),
    }
}

fn rejected_failure(diagnostics: &[Diagnostic]) -> Failure {
    let list: Vec<String> = diagnostics.iter().map(ToString::to_string).collect();
    Failure::new(Exit::Negative, format!("the edited module or configuration was rejected:\n  {}", list.join("\n  ")))
        .hint("correct it, or begin at validate so that formalize receives the rejection")
}
