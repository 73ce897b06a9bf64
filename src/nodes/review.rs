//! The semantic review: asks a model for a structured review and lets the guards decide on it.

use std::collections::BTreeMap;

use serde_json::json;

use super::ask::{NodeRequest, record_normalisation};
use super::blind_reading::{PURPOSE, read_blindly};
use super::context::{NodeContext, draft_key, parse_schema};
use super::disagreement::{Opinion, is_disagreement, read_disagreements};
use super::review_answer::{ListedNames, ReadOptions, SCHEMA, read_review, with_unchanged_fields};
use super::review_facts::{ReviewSubject, unread_files};
use super::review_mistakes::{claim_mistakes, without_mistakes};
use super::review_text::{issue_origin, quotes, review_text};
use super::workspace::{current, documents, feedback_file, has_marked_changes, number_lines};
use crate::journal::Sha;
use crate::llm::RequestKey;
use crate::pipeline::{
    ApprovalClause, ApprovalFacts, Attempt, Blame, Event, Facts, Feedback, Flaw, FurtherClaim, Issue, NodeError,
    NodeName, Product, Review, ReviewFacts, ReviewVerdict, RevisionRank, RunView, file,
};
use crate::prompt::{
    DISAGREEMENT, Document, Problem, other_concerns, out_of_scope_lines, show_control, show_invisible, without_sections,
};
use crate::tla::{PropertyStatus, UNLIMITED_WIDTH, Verdict, outcome_text, without_translation};

const ANSWER: &str = "review.answer";
/// Sections of the informal specification that `facts.md` repeats item by item, or that say nothing about the module.
const NOT_FOR_THE_REVIEW: [&str; 6] =
    ["requirements", "open points", "assumptions", "out of scope", "other concerns", "witnesses"];
/// The end of `check.md`. The reviewer does not get the raw output: up to 12 kB, mostly TLC's message markers, and
/// verdict, counts, coverage and trace are in `check.md` anyway.
const OUTPUT_POINTER: &str = "\nThe checker's own output is in the run folder, as `tlc_output.txt`.\n";

pub(super) async fn perform(
    context: &NodeContext,
    view: &RunView,
    attempt: &Attempt<'_>,
) -> Result<Product, NodeError> {
    let module = current(view, attempt, file::MODULE)?;
    let cfg = current(view, attempt, file::CFG)?;
    let parsed = module.as_deref().and_then(|text| context.modules.parse(text).ok());
    let informal = current(view, attempt, file::INFORMAL)?;
    let subject = ReviewSubject::new(view, parsed, cfg.as_deref(), informal.as_deref().unwrap_or_default());
    // As they are written into the workspace, or the reviewer would not have read them.
    let shown = |text: &str| show_control(text).into_owned();
    // Contracts that hold would make the module much longer, and `facts.md` says all that the review needs of them.
    let (own_module, own_cfg) = if subject.has_violated_contract() {
        (None, None)
    } else {
        (text_before_contracts(view, attempt, file::MERGED)?, text_before_contracts(view, attempt, file::MERGED_CFG)?)
    };
    let (own_module, own_cfg) = (own_module.or(module), own_cfg.or(cfg));
    let shown_module = shown(&without_translation(own_module.as_deref().unwrap_or("There is no module yet.\n")));
    let shown_cfg = shown(own_cfg.as_deref().unwrap_or("There is no configuration yet.\n"));
    let check_text = shown(&check_text(view, &subject));
    let informal = informal.unwrap_or_else(|| "There is none yet.\n".to_owned());
    // As if nothing were accepted and everything read: the reviewer learns what it would have to accept by name.
    let check_sha = Sha::digest(&check_text);
    let mut before = subject.approval_facts(None, Vec::new());
    let mut judgement = attempt.run.judge(view, &before, None)?;
    let is_approvable =
        ApprovalClause::ALL.iter().all(|clause| judgement.holds(*clause) || clause.is_up_to_the_review());
    let to_read = properties_to_read(context, attempt, &subject, &before, is_approvable);
    if let Some(module) = subject.module.as_ref().filter(|_| !to_read.is_empty()) {
        let plain = text_before_contracts(view, attempt, file::MERGED)?;
        let plain = plain.and_then(|text| context.modules.parse(&text).ok());
        read_blindly(context, view, attempt, plain.as_ref().unwrap_or(module), &to_read).await?;
    }
    // With what the blind reader said.
    let view = &*attempt.run.view();
    let knows_out_of_scope = knows_out_of_scope(view, attempt, &subject)?;
    let subject = ReviewSubject { view, knows_out_of_scope, ..subject };
    if is_approvable {
        before = subject.approval_facts(None, Vec::new());
        judgement = attempt.run.judge(view, &before, None)?;
    }
    let documents = documents(view, attempt)?;
    let mut files = vec![
        ("facts.md".to_owned(), subject.facts_text(&before, &judgement, &documents)),
        ("informal_spec.md".to_owned(), without_sections(&informal, &NOT_FOR_THE_REVIEW)),
        ("Spec.tla".to_owned(), shown_module.clone()),
        ("Spec.cfg".to_owned(), shown_cfg.clone()),
        ("check.md".to_owned(), check_text),
    ];
    let sent_back = view.feedback_for(NodeName::Review).next().is_some();
    let corrected = current(view, attempt, ANSWER)?.filter(|_| sent_back);
    if let Some(previous) = &corrected {
        files.push(("previous.md".to_owned(), number_lines(previous)));
        files.push(("feedback.md".to_owned(), feedback_file(view.feedback_for(NodeName::Review), "")));
    }
    let purpose = if corrected.is_some() { "repair" } else { "draft" };
    let ask = NodeRequest {
        template_data: template_data(view, attempt)?,
        files,
        offers_documents: true,
        schema: Some(parse_schema(SCHEMA)),
        ..NodeRequest::new(NodeName::Review, purpose, attempt)
    };
    let answer = context.ask(view, ask).await?;
    let (module_sha, cfg_sha) = (Sha::digest(&shown_module), Sha::digest(&shown_cfg));
    // A recorded reader read the check of the recorded run. Its text contains times, so this run's text differs.
    let check_sha = Some(&check_sha).filter(|_| !answer.replayed);
    let mut unread = unread_files(
        &answer.reads,
        &[("Spec.tla", Some(&module_sha)), ("Spec.cfg", Some(&cfg_sha)), ("check.md", check_sha)],
    );
    // A recorded reviewer of other documents accepts nothing of these.
    unread.extend(answer.changed_documents.iter().map(ToString::to_string));
    let (text, sha) = match corrected.and_then(|previous| with_unchanged_fields(&answer.text, &previous)) {
        Some(whole) => (whole.clone(), attempt.keep(&whole)?),
        None => (answer.text, answer.sha),
    };
    let artifacts = BTreeMap::from([(ANSWER.to_owned(), sha)]);
    let listed = ListedNames::new(&subject, &before, answer.replayed);
    let reading = ReadOptions {
        is_replayed: answer.replayed,
        is_under_earlier_rules: answer.replayed
            && (context.replays_earlier_version() || !answer.changed_documents.is_empty()),
        is_correction: view.state.unreadable,
    };
    let review = read_review(&text, &listed, reading);
    let review = review.and_then(|review| without_mistakes(review, &subject, &documents, &unread, reading));
    match review {
        Ok(review) => {
            let review = record_normalisation(attempt, review)?;
            let second = read_disagreements(context, view, attempt, &subject, &review).await?;
            let mut product = judge(attempt, &subject, review, &unread, &documents, artifacts, &second)?;
            if let Some(text) = render_review(&product, view) {
                let text = text + &second.iter().map(Opinion::words).collect::<String>();
                product.artifacts.insert(file::REVIEW.to_owned(), attempt.keep(&show_invisible(&text))?);
            }
            Ok(product)
        }
        Err(problem) => unreadable_product(attempt, &subject, problem, unread, artifacts),
    }
}

/// The properties whose formulas a blind reader says in words before the review: all that cover a requirement if an approval is
/// possible, and those that hold beside a violation, so that a reported flaw vouches for the others no more than was read.
fn properties_to_read(
    context: &NodeContext,
    attempt: &Attempt<'_>,
    subject: &ReviewSubject<'_>,
    facts: &ApprovalFacts,
    is_approvable: bool,
) -> Vec<String> {
    let key = RequestKey { purpose: PURPOSE.to_owned(), ..draft_key(attempt, NodeName::Review) };
    let violated = subject.fresh_check().filter(|check| matches!(check.verdict, Verdict::Violated { .. }));
    // Recordings of earlier versions have none beside a violation.
    let can_read = !context.replays_earlier_version() || context.caller.has_answer(&key);
    let holds =
        |name: &&String| can_read && violated.is_some_and(|check| check.property_status(name) == PropertyStatus::Holds);
    match subject.view.settings.blind_reading {
        false => Vec::new(),
        true if is_approvable => facts.covering.clone(),
        true => facts.covering.iter().filter(holds).cloned().collect(),
    }
}

/// The text of `review.md`.
fn render_review(product: &Product, view: &RunView) -> Option<String> {
    let Facts::Reviewed { review, approval, flaw, quotes, .. } = &product.facts else { return None };
    let refused = (
        product.event.refused_by().map(|clause| clause.words(approval)),
        product.event.flaw_refused_by().zip(flaw.as_deref()).map(|(clause, facts)| clause.words(facts)),
    );
    Some(review_text(review, refused, quotes, view.fresh_check()))
}

/// Whether an earlier review has read the same list of what is out of scope: the one that is corrected, or that of the revision before.
fn knows_out_of_scope(view: &RunView, attempt: &Attempt<'_>, subject: &ReviewSubject<'_>) -> Result<bool, NodeError> {
    if view.feedback_for(NodeName::Review).next().is_some() && current(view, attempt, ANSWER)?.is_some() {
        return Ok(true);
    }
    let reviewed = view.parent.filter(|parent| view.reviews.last_of(*parent).is_some());
    let revision = reviewed.and_then(|parent| view.revisions.iter().find(|revision| revision.revision == parent));
    let informal = revision.and_then(|revision| attempt.run.store().text(revision.hashes.get(file::INFORMAL)?).ok());
    // Lines about other concerns account for sentences, too.
    let list = |informal: &str| (out_of_scope_lines(informal), other_concerns(informal));
    Ok(informal.is_some_and(|informal| list(&informal) == list(&subject.informal)))
}

/// What the prompt depends on.
fn template_data(view: &RunView, attempt: &Attempt<'_>) -> Result<serde_json::Value, NodeError> {
    Ok(json!({
        "changed": has_marked_changes(view, attempt)?,
        "objective": objective_data(view),
        "contracts": view.specification.contracts.is_some(),
        "survivors": !view.survivors_to_accept().is_empty(),
    }))
}

/// The text of `check.md`.
fn check_text(view: &RunView, subject: &ReviewSubject<'_>) -> String {
    match (subject.fresh_check(), view.check()) {
        (Some(outcome), _) => outcome_text(outcome, UNLIMITED_WIDTH) + OUTPUT_POINTER,
        (None, Some(_)) => "The module or its configuration changed since the last check.\n".to_owned(),
        (None, None) => "No check was made.\n".to_owned(),
    }
}

/// The module or the configuration to which contracts were added; `None` if none were.
fn text_before_contracts(view: &RunView, attempt: &Attempt<'_>, name: &str) -> Result<Option<String>, NodeError> {
    if view.specification.contracts.is_some() { current(view, attempt, name) } else { Ok(None) }
}

/// The objective that the revision should come nearer to, for the prompt; null if the run has none.
fn objective_data(view: &RunView) -> serde_json::Value {
    let (Some(objective), Some(residual)) = (view.objective(), view.residual_after(view.parent)) else {
        return json!(null);
    };
    let before = view.parent.and_then(|n| Some((n, view.objective_step(n)?)));
    json!({
        "goal": objective.goal,
        "meanings": objective.meanings(),
        "owed": residual,
        "distance": view.distance_after(view.parent),
        "last": before.map(|(n, step)| format!("rev_{n}, {}", view.predicates_words(n, &step.step))),
    })
}

/// Whether the check of the best revision so far, this one included, is inconclusive.
fn best_inconclusive(view: &RunView, here: RevisionRank) -> bool {
    view.best(Some(here)).is_some_and(|(_, best)| best.inconclusive)
}

/// Lets the guards decide on a review.
fn judge(
    attempt: &Attempt<'_>,
    subject: &ReviewSubject<'_>,
    review: Review,
    unread: &[String],
    documents: &[Document],
    artifacts: BTreeMap<String, Sha>,
    second: &[Opinion],
) -> Result<Product, NodeError> {
    let facts = subject.approval_facts(Some(&review), unread.to_vec());
    let claims = |flaw: &Flaw| subject.flaw_facts(flaw, documents, unread.to_vec());
    let is_flaw = review.verdict == ReviewVerdict::Flaw;
    let flaw_facts = review.flaw.as_ref().filter(|_| is_flaw).map(claims);
    let judgement = attempt.run.judge(subject.view, &facts, flaw_facts.as_ref())?;
    let mut further = Vec::new();
    for claim in review.further_flaws.iter().filter(|_| is_flaw).map(claims) {
        let refused_by = attempt.run.judge(subject.view, &facts, Some(&claim))?.flaw();
        further.push(FurtherClaim { facts: claim, refused_by });
    }
    let rank = subject.rank(&judgement, Some(&review));
    let routing = ReviewFacts {
        verdict: review.verdict,
        earliest: review.earliest(),
        approval_refused_by: judgement.approval(),
        flaw_refused_by: flaw_facts.as_ref().and_then(|_| judgement.flaw()),
        best_inconclusive: best_inconclusive(subject.view, rank),
        objective_lost: false,
        // The run decides this later, when it is about to journal the approval.
        violates_policy: false,
    };
    let mut feedback: Vec<Feedback> = issues_feedback(&review, second);
    match routing {
        ReviewFacts { verdict: ReviewVerdict::Flaw, flaw_refused_by: Some(clause), .. } => {
            let all = claim_mistakes(subject, &review, documents, unread);
            let why = match (all.as_slice(), &flaw_facts) {
                ([], Some(facts)) => clause.words(facts),
                (all, _) => all.join("\n"),
            };
            feedback.push(Feedback {
                node: NodeName::Formalize,
                from: "a claim of a flaw in the protocol was refused".into(),
                text: format!("{why}\n\nThe review said: {}", review.summary),
            });
        }
        // The second reader decides on this claim, so no node gets feedback on the violation yet.
        ReviewFacts { verdict: ReviewVerdict::Flaw, flaw_refused_by: None, .. } => {}
        // Feedback for the review would refer to this review. Another node works first and changes what is reviewed.
        ReviewFacts {
            verdict: ReviewVerdict::Revise, earliest: Some(_), approval_refused_by: Some(clause), ..
        } if clause.node() == NodeName::Review => {}
        // The review names the nodes that must correct it; the author of the module may not be one of them.
        ReviewFacts {
            verdict: ReviewVerdict::Revise,
            approval_refused_by: Some(ApprovalClause::NothingViolated),
            ..
        } if names_all_violations(&review, subject) => {}
        ReviewFacts { approval_refused_by: Some(clause), .. } => feedback.push(guard_feedback(clause, &facts, subject)),
        _ => {}
    }
    Ok(Product {
        event: Event::Reviewed(routing),
        artifacts,
        feedback,
        facts: Facts::Reviewed {
            quotes: quotes(&review, &subject.view.requirement_results(None), documents),
            review: Box::new(review),
            approval: Box::new(facts),
            flaw: flaw_facts.map(Box::new),
            further,
            rank,
        },
    })
}

/// The product of a review that cannot be read, which accepts nothing.
fn unreadable_product(
    attempt: &Attempt<'_>,
    subject: &ReviewSubject<'_>,
    problem: Problem,
    unread: Vec<String>,
    artifacts: BTreeMap<String, Sha>,
) -> Result<Product, NodeError> {
    let facts = subject.approval_facts(None, unread);
    let judgement = attempt.run.judge(subject.view, &facts, None)?;
    let rank = subject.rank(&judgement, None);
    let clause = judgement.approval();
    let feedback = if subject.view.state.unreadable {
        // The next review starts anew, and `facts.md` tells it which clauses refuse.
        let clause = clause.filter(|clause| clause.node() != NodeName::Review);
        clause.map(|clause| guard_feedback(clause, &facts, subject)).into_iter().collect()
    } else {
        let from = "your last review could not be used".to_owned();
        vec![Feedback { node: NodeName::Review, from, text: problem.what }]
    };
    let best_inconclusive = best_inconclusive(subject.view, rank);
    Ok(Product {
        event: Event::ReviewUnreadable { approval_refused_by: clause, best_inconclusive, objective_lost: false },
        artifacts,
        feedback,
        facts: Facts::ReviewUnreadable { approval: Box::new(facts), rank },
    })
}

/// What the issues ask of the nodes that they blame. The opinions are about the disagreements among them, in their order.
fn issues_feedback(review: &Review, opinions: &[Opinion]) -> Vec<Feedback> {
    let mut opinions = opinions.iter();
    let opinion_on = |issue: &Issue| if is_disagreement(issue) { opinions.next() } else { None };
    let with_opinions: Vec<_> = review.issues.iter().map(opinion_on).collect();
    review.issues.iter().zip(with_opinions).flat_map(|(issue, opinion)| issue_feedback(issue, opinion)).collect()
}

/// What an issue asks of the node that it blames. If the documents allow both readings, the author of the contracts learns it, too, and
/// both learn what a second reader says of that.
fn issue_feedback(issue: &Issue, opinion: Option<&Opinion>) -> Vec<Feedback> {
    let text = format!("{}\n\nSuggestion: {}", issue.description, issue.suggestion);
    let to = |node: NodeName, first: &str| {
        let text = if first.is_empty() { text.clone() } else { format!("{first}\n\n{text}") };
        Feedback { node, from: issue_origin(issue), text }
    };
    if issue.blame != Some(Blame::Documents) {
        return vec![to(issue.node(), "")];
    }
    if let Some(Opinion::Decided(why)) = opinion {
        let decided = format!(
            "A reviewer took the documents to allow what the specification does and what the contract of the step says. A second \
             reader does not: {why}\nRead the lines again, and follow the reading that the documents decide."
        );
        return vec![to(issue.node(), &decided), to(NodeName::StepContracts, &decided)];
    }
    let open = "The documents allow what the specification does and what the contract of the step says. List it among the open points, \
                with both readings";
    let open = match opinion {
        Some(Opinion::Both(why)) => format!(
            "{open}, and mark it: `O1 [docs/file.md:12] {DISAGREEMENT} <the question>? Taken: …`. A second reader confirms it: {why}"
        ),
        Some(Opinion::Unknown(why)) => format!("{open}. No second reader confirms it: {why}"),
        _ => format!("{open}."),
    };
    let both = "The documents allow what you wrote and what the specification does: allow both, as a disjunction.";
    vec![to(issue.node(), &open), to(NodeName::StepContracts, both)]
}

/// Whether each violated property is in the text of an issue above minor.
fn names_all_violations(review: &Review, subject: &ReviewSubject<'_>) -> bool {
    let issues: Vec<&Issue> = review.issues.iter().filter(|issue| issue.routes()).collect();
    let is_named = |name: &str| issues.iter().any(|issue| issue.mentions(name));
    subject.fresh_check().is_some_and(|check| check.violated_names().all(is_named))
}

fn guard_feedback(clause: ApprovalClause, facts: &ApprovalFacts, subject: &ReviewSubject<'_>) -> Feedback {
    let mut text = clause.words(facts);
    if clause == ApprovalClause::NothingViolated
        && let Some(check) = subject.fresh_check()
    {
        let covers = &subject.view.specification.covers;
        let named = check.violated_names().map(|name| match covers.get(name) {
            Some(ids) => format!("{name} (covers {})", ids.join(", ")),
            None => name.to_owned(),
        });
        text = format!("{text}: {}", named.collect::<Vec<_>>().join(", "));
    }
    if clause == ApprovalClause::Decided
        && let Some(Verdict::Inconclusive { reason, timed_out }) = subject.fresh_check().map(|check| &check.verdict)
    {
        text = format!("{text}: {reason}");
        if *timed_out {
            text.push_str("; smaller constants may help");
        }
    }
    Feedback { node: clause.node(), from: "what an approval needs".into(), text }
}
