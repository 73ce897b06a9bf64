//! Turns the documents into an informal specification with numbered requirements.

use std::fmt::Write as _;

use serde_json::json;

use super::ask::NodeRequest;
use super::context::NodeContext;
use super::edited::{CorrectionResult, Mistakes, TextToCorrect};
use super::sample::NodeAnswer;
use super::single_call;
use super::workspace::{current, documents, exemplar_modules, feedback_file, has_marked_changes, number_lines};
use crate::pipeline::{Attempt, Decision, Event, Facts, Feedback, NodeError, NodeName, Product, RunView, file};
use crate::prompt::{
    AnswerParts, Assumption, DISAGREEMENT, Document, EARLIER, NORMALISED, OpenPoint, Origin, Problem, Readable,
    Requirement, UnrelatedCitation, account_for, check_places, fences, fixed_names, normalise, other_concerns,
    outside_fences, parse_assumptions, parse_open_points, parse_requirements, places_in, refuse_control, split_answer,
    unaccounted_text, unread_lines, unrelated_citations,
};
use crate::tla::is_module_name;

const ANSWER: &str = "informal_spec.answer";

pub(super) async fn perform(
    context: &NodeContext,
    view: &RunView,
    attempt: &Attempt<'_>,
) -> Result<Product, NodeError> {
    let documents = documents(view, attempt)?;
    let (informal, last_answer) = (current(view, attempt, file::INFORMAL)?, current(view, attempt, ANSWER)?);
    let correcting = TextToCorrect::new(NodeName::InformalSpec, informal, last_answer, view, attempt)?;
    let settings = &view.settings;
    let decisions = &view.specification.decisions;
    let flaw_open = view.state.repaired && view.feedback_for(NodeName::InformalSpec).any(Feedback::is_confirmed_flaw);
    let is_single_call = correcting.shown().is_none() && single_call::is_due(view, attempt);
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
    let purpose = if let Some(previous) = correcting.shown() {
        files.push(("previous.md".to_owned(), number_lines(previous)));
        let task = changed_documents.map(|made_from| made_from.task());
        let open = task.iter().chain(open_feedback(view));
        let if_none = "Nothing in particular: read it once more.";
        // The task to follow newer documents stays, whatever an answer has mended.
        let open = match changed_documents {
            Some(_) => feedback_file(open, if_none),
            None => correcting.feedback_file(open, if_none),
        };
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
    let OwnPart { answer: own, missing, normalised: notes } =
        if is_single_call { take_own_part(attempt, reply)? } else { OwnPart::whole(reply) };
    // The other parts were made from this one. They are used if only its places are corrected.
    let parts = all_parts.filter(|_| missing.is_none() && !parse_requirements(&own.text).is_empty());
    let parts = parts.map(|sha| (single_call::ANSWER.to_owned(), sha));
    let unrelated = |informal: &str| newly_unrelated(correcting.shown(), informal, &documents);
    let read = |text: &str, is_last: bool| {
        let mut read = match &missing {
            None => read(text).map_err(Mistakes::unreadable)?,
            Some(problem) => return Err(Mistakes::unreadable(problem.clone())),
        };
        read.normalised.splice(0..0, notes.iter().cloned());
        let read = if changed_documents.is_some() { without_earlier_places(read)? } else { read };
        require_places(read, &documents, is_last, &unaccounted, &unrelated)
    };
    match correcting.apply_answer(own, ANSWER, view, &read)? {
        CorrectionResult::Accepted { value: (text, requirements, mut open_points, assumptions), sha } => {
            drop_unconfirmed_disagreements(view, &mut open_points);
            let artifacts = [(ANSWER.to_owned(), sha), (file::INFORMAL.to_owned(), attempt.keep(&text)?)];
            let (other_concerns, normative_sentences) = (other_concerns(&text), account(&text));
            let names = fixed_names(&text);
            let facts =
                Facts::Informal { requirements, open_points, assumptions, normative_sentences, names, other_concerns };
            let artifacts = artifacts.into_iter().chain(parts).collect();
            Ok(Product { event: Event::Answered, artifacts, feedback: Vec::new(), facts })
        }
        CorrectionResult::SentBack(mut product) => {
            product.artifacts.extend(parts);
            Ok(product)
        }
    }
}

/// Drops the mark of a disagreement where no review has asked for it, and the point did not have it before.
fn drop_unconfirmed_disagreements(view: &RunView, open_points: &mut [OpenPoint]) {
    let is_asked = view.feedback_for(NodeName::InformalSpec).any(|item| item.text.contains(DISAGREEMENT));
    let had = |point: &OpenPoint| {
        let mut known = view.specification.open_points.iter();
        known.any(|known| {
            (&known.id, &known.place, known.origin) == (&point.id, &point.place, Some(Origin::Disagreement))
        })
    };
    for point in open_points.iter_mut().filter(|point| !is_asked && !had(point)) {
        point.without_disagreement();
    }
}

/// The feedback to act on. A remark about an open point whose readings are exchanged, or that was decided, is left out: the
/// task about the point says what becomes of it.
fn open_feedback(view: &RunView) -> impl Iterator<Item = &Feedback> {
    let settled = view.settled_open_points();
    view.feedback_for(NodeName::InformalSpec)
        .filter(move |item| !item.is_review_issue() || !settled.iter().any(|point| is_only_about(&item.text, point)))
}

/// Whether a remark is about this open point, and names no other item.
fn is_only_about(text: &str, point: &OpenPoint) -> bool {
    let mut ids = text.split(|c: char| !c.is_alphanumeric()).filter(|word| is_item(word)).peekable();
    let question = point.question.trim_end_matches('?');
    let quotes = !question.is_empty() && text.to_lowercase().contains(&question.to_lowercase());
    (ids.peek().is_some() || quotes) && ids.all(|id| id == point.id)
}

/// Whether a word is the number of a requirement, an open point, an assumption or a normative sentence.
fn is_item(word: &str) -> bool {
    let mut chars = word.chars();
    let number = chars.next().is_some_and(|c| matches!(c, 'R' | 'O' | 'A' | 'N')).then_some(chars.as_str());
    number.is_some_and(|number| !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()))
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

/// This node's part of an answer.
struct OwnPart {
    answer: NodeAnswer,
    /// Why the answer has no such part; then `answer` is the whole answer.
    missing: Option<Problem>,
    normalised: Vec<String>,
}

impl OwnPart {
    fn whole(answer: NodeAnswer) -> Self {
        Self { answer, missing: None, normalised: Vec::new() }
    }
}

/// This node's part of a single answer for all nodes.
fn take_own_part(attempt: &Attempt<'_>, whole: NodeAnswer) -> Result<OwnPart, NodeError> {
    let AnswerParts { informal, normalised, .. } = split_answer(&whole.text);
    Ok(match informal {
        Ok(text) => {
            OwnPart { answer: NodeAnswer { sha: attempt.keep(&text)?, text, ..whole }, missing: None, normalised }
        }
        Err(problem) => OwnPart { answer: whole, missing: Some(problem), normalised },
    })
}

fn read(answer: &str) -> Read {
    let mut text = normalise(answer);
    refuse_control(&text)?;
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
    let unread = unread_lines(&text);
    if !unread.is_empty() {
        return Err(Problem::new(format!(
            "these lines are not counted, so what they say would be lost; write each in the required form, or leave it out:\n\n- {}\n",
            unread.join("\n- ")
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
fn without_earlier_places(read: Readable<Informal>) -> Result<Readable<Informal>, Mistakes> {
    let left: Vec<&str> = read.value.0.lines().filter(|line| line.contains(EARLIER)).map(str::trim).collect();
    if left.is_empty() {
        return Ok(read);
    }
    Err(Mistakes::in_usable_text(Problem::new(format!(
        "places of the earlier documents are left in it; cite the lines of the new documents that say so, or take out what rests \
         on them:\n\n- {}\n",
        left.join("\n- ")
    ))))
}

/// The citations of unrelated lines, in words. Leaves out citations that the model kept after it was asked about them: the
/// reviewer decides on those.
fn newly_unrelated(previous: Option<&str>, informal: &str, documents: &[Document]) -> Vec<String> {
    let asked = previous.map(|text| unrelated_citations(text, documents)).unwrap_or_default();
    let is_known =
        |one: &UnrelatedCitation| asked.iter().any(|known| (&known.id, &known.place) == (&one.id, &one.place));
    let found = unrelated_citations(informal, documents).into_iter().filter(|one| !is_known(one));
    found.map(|one| one.words()).collect()
}

/// Checks that all cited places exist, that no open point lacks a reading and no assumption its kind, and that every
/// normative sentence is accounted for. Such errors are sent back once; the second time the answer is accepted, with a mark
/// at each wrong place, and an approval needs the sentences without an account accepted by name.
fn require_places(
    mut read: Readable<Informal>,
    documents: &[Document],
    is_last: bool,
    unaccounted: &dyn Fn(&str) -> Option<String>,
    unrelated: &dyn Fn(&str) -> Vec<String>,
) -> Result<Readable<Informal>, Mistakes> {
    let (text, requirements, open_points, assumptions) = &mut read.value;
    let wrong = check_places(requirements, open_points, assumptions, documents);
    let incomplete: Vec<String> = open_points
        .iter()
        .filter(|point| !point.missing_parts().is_empty())
        .map(|point| format!("{} lacks `{}`", point.id, point.missing_parts().join("` and `")))
        .chain(open_points.iter().filter(|point| lacks_second_place(point, documents)).map(|point| {
            format!(
                "{} is a `(contradiction)`; its place has to name both lines, as `[docs/a.md:3, docs/b.md:9]`",
                point.id
            )
        }))
        .collect();
    let without_kind: Vec<String> =
        assumptions.iter().filter(|assumption| assumption.kind.is_none()).map(Assumption::words).collect();
    if is_last {
        return Ok(read);
    }
    let (unaccounted, unrelated) = (unaccounted(text), unrelated(text));
    let is_complete = wrong.is_empty() && incomplete.is_empty() && without_kind.is_empty();
    if is_complete && unaccounted.is_none() && unrelated.is_empty() {
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
    if !unrelated.is_empty() {
        problem += "these lines have no word in common with what they are cited for. If you meant other lines, give those; a place \
                    that is right may stay as it is:\n\n";
        problem += &list(&unrelated);
    }
    if let Some(unaccounted) = unaccounted {
        problem += "these sentences of the documents demand something, and nothing accounts for them. Cite each where it belongs: in a \
                    requirement, a step, an assumption (`left out` for a promise that matters for the concern), or below \
                    `## Out of scope` as `- [docs/file.md:30-80] <why it does not matter for the concern>`. If a line has several \
                    such sentences, quote words of the one that you mean: `[docs/file.md:12 \"at most once\"]`:\n\n";
        problem += &unaccounted;
    }
    Err(Mistakes::in_usable_text(Problem::new(problem)))
}

/// Whether it is a contradiction, and its place names a single line.
fn lacks_second_place(point: &OpenPoint, documents: &[Document]) -> bool {
    let ranges = places_in(point.place.as_deref().unwrap_or_default(), documents, false);
    point.origin == Some(Origin::Contradiction) && ranges.len() < 2 && ranges.iter().all(|range| range.from == range.to)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str =
        "# Swap\n## Other concerns\n- Fees: docs/a.md:3\n- none\n## Requirements\nR1 [docs/a.md:1] It holds.\n";

    #[test]
    fn a_contradiction_names_two_lines() {
        let document = |path: &str| Document { path: path.into(), text: "One.\nTwo.\nThree.\n".into() };
        let documents = [document("a.md"), document("b.md")];
        for (place, lacks) in [
            ("docs/a.md:1", true),
            ("docs/a.md:1 \"one, two; three and four\"", true),
            ("docs/a.md:1, docs/b.md:2", false),
            ("docs/a.md:1 and docs/b.md:2", false),
            ("docs/a.md:1, 3", false),
            ("docs/a.md:1-3", false),
        ] {
            let text = format!("## Open points\nO1 [{place}] (contradiction) Which? Taken: this. Otherwise: that.\n");
            assert_eq!(lacks_second_place(&parse_open_points(&text)[0], &documents), lacks, "{place}");
        }
    }

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
