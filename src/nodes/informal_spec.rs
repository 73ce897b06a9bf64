//! Documents to an informal specification with numbered requirements.

use std::collections::BTreeMap;

use serde_json::json;

use super::desk::{Ask, Desk, Reply, as_read};
use super::whole;
use super::workspace::{current, documents, exemplar_modules, feedback_file, is_changed, numbered};
use crate::journal::Sha;
use crate::pipeline::{Attempt, Event, Facts, Feedback, NodeError, NodeName, Product, RunView, file};
use crate::prompt::{
    Document, Problem, Readable, Requirement, fences, look_up, lost_requirements, normalise, outside_fences, parts,
    requirements,
};

const ANSWER: &str = "informal_spec.answer";

pub(super) async fn perform(desk: &Desk, view: &RunView, attempt: &Attempt<'_>) -> Result<Product, NodeError> {
    let documents = documents(view, attempt)?;
    let asked_again = view.state.unreadable;
    let answer = current(view, attempt, ANSWER)?;
    // What was sent back for its places is what is to be mended, and not the version before it.
    let sent_back = answer.as_deref().filter(|_| asked_again).and_then(|answer| read(answer).ok());
    let previous = match sent_back {
        Some(read) => Some(read.value.0),
        None => current(view, attempt, file::INFORMAL)?.or(answer),
    };
    let settings = &view.settings;
    let flaw_open = view.state.repaired && view.feedback_for(NodeName::InformalSpec).any(Feedback::is_confirmed_flaw);
    let as_whole = previous.is_none() && whole::is_due(view, attempt);
    let mut data = json!({
        "concern": settings.concern, "interface": settings.interface, "flaw_open": flaw_open,
        "changed": is_changed(view, attempt)?,
    });
    let mut files = Vec::new();
    let purpose = if let Some(previous) = previous {
        files.push(("previous.md".to_owned(), numbered(&previous)));
        let open =
            feedback_file(view.feedback_for(NodeName::InformalSpec), "Nothing in particular: read it once more.");
        files.push(("feedback.md".to_owned(), open));
        "repair"
    } else {
        "draft"
    };
    let mut ask = Ask { files, docs: true, ..Ask::at(NodeName::InformalSpec, purpose, attempt) };
    if as_whole {
        data["exemplars"] = json!(exemplar_modules(view));
        (ask.purpose, ask.exemplars) = (whole::PURPOSE, true);
        (ask.role, ask.prompt) = ("whole/role".to_owned(), "whole/draft".to_owned());
    }
    let reply = desk.ask(view, Ask { data, ..ask }).await?;
    let whole = as_whole.then(|| reply.sha.clone());
    let (answer, read) = if as_whole { own_part(attempt, reply)? } else { (reply.sha, read(&reply.text)) };
    let mut artifacts = BTreeMap::from([(ANSWER.to_owned(), answer)]);
    match read.and_then(|read| placed(read, &documents, asked_again)) {
        Ok(read) => {
            // The other parts were made from this one: without it they are not used.
            artifacts.extend(whole.map(|sha| (whole::ANSWER.to_owned(), sha)));
            let (text, requirements) = as_read(attempt, read)?;
            artifacts.insert(file::INFORMAL.to_owned(), attempt.keep(&text)?);
            let other_concerns = other_concerns(&text);
            let facts = Facts::Informal { requirements, other_concerns };
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

type Read = Result<Readable<(String, Vec<Requirement>)>, Problem>;

/// This node's part of an answer that drafts all at once; the whole answer where it has none.
fn own_part(attempt: &Attempt<'_>, whole: Reply) -> Result<(Sha, Read), NodeError> {
    let mut parts = parts(&whole.text);
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
        normalised.push("line ends or a byte-order mark".to_owned());
    }
    // Some models put the whole document into one fence.
    if requirements(&outside_fences(&text)).is_empty()
        && let Some(fence) = fences(&text).into_iter().find(|f| !requirements(&f.body).is_empty())
    {
        text = fence.body;
        normalised.push("the whole specification inside a fence".to_owned());
    }
    if text.trim().is_empty() {
        return Err(Problem::new("the answer is empty"));
    }
    let found = requirements(&text);
    if found.is_empty() {
        return Err(Problem::new(
            "there is no numbered requirement in it; each needs a line of its own: `R1 [docs/file.md:12-14] …`",
        ));
    }
    let lost = lost_requirements(&text);
    if !lost.is_empty() {
        return Err(Problem::new(format!(
            "these lines look like requirements and are not counted: {}",
            lost.join("; ")
        )));
    }
    if !text.ends_with('\n') {
        text.push('\n');
    }
    Ok(Readable { value: (text, found), normalised })
}

/// Looks up where the requirements say they stand. Wrong places are asked for once more, then taken with a mark.
fn placed(
    mut read: Readable<(String, Vec<Requirement>)>,
    documents: &[Document],
    is_last: bool,
) -> Result<Readable<(String, Vec<Requirement>)>, Problem> {
    let wrong = look_up(&mut read.value.1, documents);
    if wrong.is_empty() || is_last {
        return Ok(read);
    }
    let list = wrong.iter().fold(String::new(), |list, line| list + "- " + line + "\n");
    Err(Problem::new(format!(
        "places of requirements are not in the documents; give each with the file and the lines that say so:\n\n{list}"
    )))
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
        let (text, requirements) = read(GOOD).unwrap().value;
        assert_eq!((text.as_str(), requirements.len()), (GOOD, 1));
        assert_eq!(other_concerns(GOOD), ["Fees: docs/a.md:3"]);
        assert_eq!(read(&format!("```markdown\n{GOOD}```")).unwrap().value.0, GOOD);
        assert!(read("").unwrap_err().what.contains("empty"));
        assert!(read("I cannot help with that.").unwrap_err().what.contains("no numbered requirement"));
    }
}
