//! Turns the documents into an informal specification with numbered requirements.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::json;

use super::ask::{NodeRequest, record_normalisation};
use super::context::NodeContext;
use super::edited::{Repaired, repaired};
use super::sample::NodeAnswer;
use super::single_call;
use super::workspace::{current, documents, exemplar_modules, feedback_file, has_marked_changes, number_lines};
use crate::journal::Sha;
use crate::pipeline::{Attempt, Decision, Event, Facts, Feedback, NodeError, NodeName, Product, RunView, file};
use crate::prompt::{
    Assumption, Document, EARLIER, NORMALISED, OpenPoint, Problem, Readable, Requirement, account_for, check_places,
    fences, fixed_names, malformed_assumptions, malformed_open_points, malformed_requirements, normalise,
    outside_fences, parse_assumptions, parse_open_points, parse_requirements, split_answer, unaccounted_text,
};
use crate::tla::is_module_name;

const ANSWER: &str = "informal_spec.answer";

pub(super) async fn perform(
    context: &NodeContext,
    view: &RunView,
    attempt: &Attempt<'_>,
) -> Result<Product, NodeError> {
    let documents = documents(view, attempt)?;
    let is_retry = view.state.unreadable;
    let answer = current(view, attempt, ANSWER)?;
    // An answer that was sent back for wrong places is the text to correct, not the version before it.
    let sent_back = answer.as_deref().filter(|_| is_retry).and_then(|answer| read(answer).ok());
    let previous = match sent_back {
        Some(read) => Some(read.value.0),
        None => current(view, attempt, file::INFORMAL)?.or(answer),
    };
    let settings = &view.settings;
    let decisions = &view.specification.decisions;
    let flaw_open = view.state.repaired && view.feedback_for(NodeName::InformalSpec).any(Feedback::is_confirmed_flaw);
    let is_single_call = previous.is_none() && single_call::is_due(view, attempt);
    // Until a specification for the new documents is accepted, also after a review of unreadable answers.
    let changed_documents = settings.made_from.as_ref().filter(|_| view.specification.origin.informal == 0);
    let mut data = json!({
        "drift": changed_documents.is_some(),
        "concern": settings.concern, "module": settings.module, "interface": settings.interface, "flaw_open": flaw_open,
        "changed": has_marked_changes(view, attempt)?, "decided": !decisions.is_empty(),
    });
    let mut files = Vec::new();
    if !decisions.is_empty() {
        files.push(("decided.md".to_owned(), decided_file(decisions)));
    }
    let purpose = if let Some(previous) = &previous {
        files.push(("previous.md".to_owned(), number_lines(previous)));
        let task = changed_documents.map(|made_from| made_from.task());
        let open = task.iter().chain(view.feedback_for(NodeName::InformalSpec));
        let open = feedback_file(open, "Nothing in particular: read it once more.");
        files.push(("feedback.md".to_owned(), open));
        "repair"
    } else {
        files.push(("normative.md".to_owned(), normative_lines(&documents, &settings.normative_words)));
        "draft"
    };
    let mut ask =
        NodeRequest { files, offers_documents: true, ..NodeRequest::new(NodeName::InformalSpec, purpose, attempt) };
    if is_single_call {
        data["exemplars"] = json!(exemplar_modules(view));
        (ask.purpose, ask.offers_exemplars) = (single_call::PURPOSE, true);
        (ask.role_template, ask.prompt_template) = ("single_call/role".to_owned(), "single_call/draft".to_owned());
    }
    let reply = context.ask(view, NodeRequest { template_data: data, ..ask }).await?;
    let all_parts = is_single_call.then(|| reply.sha.clone());
    // The view of this attempt began before its answer.
    let now: Vec<String> =
        reply.reads.iter().filter_map(|read| read.path.strip_prefix("docs/").map(str::to_owned)).collect();
    let is_document = |path: &String| documents.iter().any(|document| document.path == *path);
    let reads_one = now.iter().any(is_document);
    let was_read = |path: &str| {
        let before = &view.specification.read_documents;
        now.iter().any(|read| read == path) || before.contains(path) || (!reads_one && before.is_empty())
    };
    let account = |informal: &str| account_for(informal, &documents, was_read, &settings.normative_words);
    let reviews = || view.reviews.by_revision.values().flatten().map(|(review, _)| review);
    let unaccounted = |informal: &str| {
        let mut sentences = account(informal);
        sentences.retain(|sentence| !reviews().any(|review| review.accepts_sentence(&sentence.id)));
        unaccounted_text(&sentences)
    };
    // After edits that do not fit, the next attempt repairs the same text.
    let mut fits = true;
    let (answer, read) = if is_single_call {
        take_own_part(attempt, reply)?
    } else {
        let Repaired { sha, text, mut normalised } = repaired(previous.as_deref(), reply, attempt)?;
        fits = text.is_ok();
        let read = text.and_then(|text| read(&text)).map(|mut read| {
            read.normalised.append(&mut normalised);
            read
        });
        let read = if changed_documents.is_some() { read.and_then(without_earlier_places) } else { read };
        (sha, read)
    };
    let mut artifacts: BTreeMap<String, Sha> = fits.then(|| (ANSWER.to_owned(), answer)).into_iter().collect();
    match read.and_then(|read| require_places(read, &documents, is_retry, &unaccounted)) {
        Ok(read) => {
            // The other parts were derived from this one, so they are used only if it could be read.
            artifacts.extend(all_parts.map(|sha| (single_call::ANSWER.to_owned(), sha)));
            let (text, requirements, open_points, assumptions) = record_normalisation(attempt, read)?;
            artifacts.insert(file::INFORMAL.to_owned(), attempt.keep(&text)?);
            let (other_concerns, normative_sentences) = (other_concerns(&text), account(&text));
            let names = fixed_names(&text);
            let facts =
                Facts::Informal { requirements, open_points, assumptions, normative_sentences, names, other_concerns };
            Ok(Product { event: Event::Answered, artifacts, feedback: Vec::new(), facts })
        }
        Err(problem) => Ok(Product {
            event: Event::Unreadable,
            artifacts,
            feedback: vec![Feedback {
                node: NodeName::InformalSpec,
                from: "your last answer could not be read".into(),
                text: problem.what,
            }],
            facts: Facts::Nothing,
        }),
    }
}

/// The lines of the normative sentences, by document.
fn normative_lines(documents: &[Document], words: &[String]) -> String {
    let mut text = String::from("# Lines of the sentences that demand something\n");
    let mut document = None;
    for sentence in account_for("", documents, |_| true, words) {
        let (path, lines) = sentence.place.rsplit_once(':').unwrap_or((&sentence.place, ""));
        let is_same = document.as_deref() == Some(path);
        let _ = if is_same { write!(text, ", {lines}") } else { write!(text, "\n- {path}: {lines}") };
        document = Some(path.to_owned());
    }
    if document.is_none() {
        text += "\nThere are none.";
    }
    text + "\n"
}

/// The readings that the owner of the protocol decided.
fn decided_file(decisions: &[Decision]) -> String {
    let lines: Vec<String> = decisions.iter().map(|decision| format!("- {}\n", decision.words())).collect();
    format!("# Decided by the owner of the protocol\n\n{}", lines.concat())
}

/// The text with its requirements, open points and assumptions.
type Informal = (String, Vec<Requirement>, Vec<OpenPoint>, Vec<Assumption>);
type Read = Result<Readable<Informal>, Problem>;

/// This node's part of a single answer for all nodes; the whole answer if the part is missing.
fn take_own_part(attempt: &Attempt<'_>, whole: NodeAnswer) -> Result<(Sha, Read), NodeError> {
    let mut parts = split_answer(&whole.text);
    match parts.informal {
        Ok(text) => {
            let read = read(&text).map(|mut read| {
                parts.normalised.append(&mut read.normalised);
                Readable { normalised: parts.normalised, ..read }
            });
            Ok((attempt.keep(&text)?, read))
        }
        Err(problem) => Ok((whole.sha, Err(problem))),
    }
}

fn read(answer: &str) -> Read {
    let mut text = normalise(answer);
    let mut normalised = Vec::new();
    if text != answer {
        normalised.push(NORMALISED.to_owned());
    }
    // Some models put the whole document into one code fence.
    if parse_requirements(&outside_fences(&text)).is_empty()
        && let Some(fence) = fences(&text).into_iter().find(|f| !parse_requirements(&f.body).is_empty())
    {
        text = fence.body;
        normalised.push("the whole specification inside a fence".to_owned());
    }
    if text.trim().is_empty() {
        return Err(Problem::new("the answer is empty"));
    }
    let found = parse_requirements(&text);
    if found.is_empty() {
        return Err(Problem::new(
            "there is no numbered requirement in it; each needs a line of its own: `R1 [docs/file.md:12-14] …`",
        ));
    }
    let lost = malformed_requirements(&text);
    if !lost.is_empty() {
        return Err(Problem::new(format!(
            "these lines look like requirements and are not counted: {}",
            lost.join("; ")
        )));
    }
    let lost = malformed_open_points(&text);
    if !lost.is_empty() {
        return Err(Problem::new(format!(
            "these lines look like open points and are not counted: {}",
            lost.join("; ")
        )));
    }
    let lost = malformed_assumptions(&text);
    if !lost.is_empty() {
        return Err(Problem::new(format!(
            "these lines look like assumptions and are not counted: {}",
            lost.join("; ")
        )));
    }
    if let Some(module) = fixed_names(&text).module.filter(|name| !is_module_name(name)) {
        return Err(Problem::new(format!(
            "`## Names` names the module `{module}`, which no module can be called; without a usable name, leave the line out and \
             list it as an assumption (`interface`)"
        )));
    }
    if !text.ends_with('\n') {
        text.push('\n');
    }
    let (open_points, assumptions) = (parse_open_points(&text), parse_assumptions(&text));
    Ok(Readable { value: (text, found, open_points, assumptions), normalised })
}

/// Checks that no place of the earlier documents is left: a later reader would take what rests on it for documented.
fn without_earlier_places(read: Readable<Informal>) -> Read {
    let left: Vec<&str> = read.value.0.lines().filter(|line| line.contains(EARLIER)).map(str::trim).collect();
    if left.is_empty() {
        return Ok(read);
    }
    Err(Problem::new(format!(
        "places of the earlier documents are left in it; cite the lines of the new documents that say so, or take out what rests \
         on them:\n\n- {}\n",
        left.join("\n- ")
    )))
}

/// Checks that all cited places exist, that no open point lacks a reading and no assumption its kind, and that every
/// normative sentence is accounted for. Such errors are sent back once; the second time the answer is accepted, with a mark
/// at each wrong place, and an approval needs the sentences without an account accepted by name.
fn require_places(
    mut read: Readable<Informal>,
    documents: &[Document],
    is_retry: bool,
    unaccounted: &dyn Fn(&str) -> Option<String>,
) -> Read {
    let (text, requirements, open_points, assumptions) = &mut read.value;
    let wrong = check_places(requirements, open_points, assumptions, documents);
    let incomplete: Vec<String> = open_points
        .iter()
        .filter(|point| !point.missing_parts().is_empty())
        .map(|point| format!("{} lacks `{}`", point.id, point.missing_parts().join("` and `")))
        .collect();
    let without_kind: Vec<String> =
        assumptions.iter().filter(|assumption| assumption.kind.is_none()).map(Assumption::words).collect();
    if is_retry {
        return Ok(read);
    }
    let unaccounted = unaccounted(text);
    if wrong.is_empty() && incomplete.is_empty() && without_kind.is_empty() && unaccounted.is_none() {
        return Ok(read);
    }
    let list = |lines: &[String]| lines.iter().fold(String::new(), |list, line| list + "- " + line + "\n");
    let mut problem = String::new();
    if !wrong.is_empty() {
        problem += "places of requirements, open points or assumptions are not in the documents; give each with the file and the lines \
                    that say so:\n\n";
        problem += &list(&wrong);
    }
    if !incomplete.is_empty() {
        problem += "each open point needs the reading taken and the other reading, as `O1 [docs/file.md:12] <question>? Taken: …. \
                    Otherwise: …. Affects: …`:\n\n";
        problem += &list(&incomplete);
    }
    if !without_kind.is_empty() {
        problem += "each assumption needs its kind (fairness, bound, narrowed, left out or interface), as `A1 [docs/file.md:12] \
                    (fairness) …`:\n\n";
        problem += &list(&without_kind);
    }
    if let Some(unaccounted) = unaccounted {
        problem += "these sentences of the documents demand something, and nothing cites them. Cite each where it belongs: in a \
                    requirement, a step, an assumption (`left out` for a promise that matters for the concern), or below \
                    `## Out of scope` as `- [docs/file.md:30-80] <why it does not matter for the concern>`:\n\n";
        problem += &unaccounted;
    }
    Err(Problem::new(problem))
}

/// The list below the heading "Other concerns".
fn other_concerns(text: &str) -> Vec<String> {
    text.lines()
        .skip_while(|l| !(l.starts_with('#') && l.to_lowercase().contains("other concerns")))
        .skip(1)
        .take_while(|l| !l.starts_with('#'))
        .filter_map(|l| l.trim().strip_prefix("- ").map(|l| l.trim().to_owned()))
        .filter(|l| !l.eq_ignore_ascii_case("none") && !l.eq_ignore_ascii_case("none."))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str =
        "# Swap\n## Other concerns\n- Fees: docs/a.md:3\n- none\n## Requirements\nR1 [docs/a.md:1] It holds.\n";

    #[test]
    fn an_informal_specification_needs_numbered_requirements() {
        let (text, requirements, ..) = read(GOOD).unwrap().value;
        assert_eq!((text.as_str(), requirements.len()), (GOOD, 1));
        assert_eq!(other_concerns(GOOD), ["Fees: docs/a.md:3"]);
        assert_eq!(read(&format!("```markdown\n{GOOD}```")).unwrap().value.0, GOOD);
        assert!(read("").unwrap_err().what.contains("empty"));
        assert!(read("I cannot help with that.").unwrap_err().what.contains("no numbered requirement"));
    }
}
