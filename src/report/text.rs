//! Renders the report of a run as text. Decides nothing: outcomes and reasons come from the view.

use std::fmt::Write as _;

use super::accepted::accepted_without_tools;
use super::candidates::candidates_text;
use super::contracts::contracts_text;
use super::count::counted;
use super::cut::cut;
use super::drift_text::accepted_drift_lines;
use super::lines::{in_one_line, writeln};
use super::made_from::made_from_lines;
use super::objective::objective_text;
use super::policy::policy_text;
use super::strengthen::{mutants_line, mutants_text};
use crate::pipeline::{
    AcceptedDrift, Citation, Decision, Feedback, Flaw, Outcome, Position, Question, Reading, RequirementResult,
    RequirementStatus, Review, ReviewVerdict, Revision, RunView, Spent, ViolationJudgement,
};
use crate::prompt::{Account, OpenPoint, Origin, Skipped};
use crate::tla::{
    CheckOutcome, Verdict, WITHOUT_JAVA, bounds_sentence, larger_bounds_lines, never_taken_actions,
    never_taken_branches, probe_lines, statistics_sentence, status_sentence, step_lines, trace_table,
    undecided_branches, verdict_sentence, with_checker, witness_lines,
};

/// Maximum number of other concerns that are listed.
const MOST_OTHER_CONCERNS: usize = 8;
/// Maximum number of reached witnesses that are listed one by one.
const MOST_WITNESSES: usize = 5;

/// Maximum number of characters for the reason of a decision: enough for every value that a guard compares.
pub const LONGEST_WHY: usize = 400;

/// The status of the run in one line.
pub fn heading(view: &RunView) -> String {
    let check = decisive_revision(view).and_then(|r| r.check.as_ref());
    // A run that was not checked yet has no checker, only its setting.
    if check.is_none() && view.settings.command_line["checker"] == "embedded" {
        format!("{} ({WITHOUT_JAVA})", status(view))
    } else {
        // What is not approved is not confirmed, either.
        let is_shown = has_verdict(view) || check.is_some_and(CheckOutcome::is_without_reference);
        with_checker(status(view), check.filter(|_| is_shown))
    }
}

/// Whether the run ended with a verdict about the protocol.
fn has_verdict(view: &RunView) -> bool {
    let outcome = view.finished.as_ref().map(|finished| finished.outcome);
    matches!(outcome, Some(Outcome::Approved | Outcome::ApprovedRepaired | Outcome::FlawFound))
}

pub(super) fn status(view: &RunView) -> String {
    match (&view.finished, view.state.position) {
        (Some(finished), _) => match finished.outcome {
            Outcome::Approved => "approved".into(),
            Outcome::ApprovedRepaired => "approved as repaired: the protocol was changed after a flaw".into(),
            Outcome::FlawFound => match decisive_revision(view).filter(|r| r.repaired) {
                None => "flaw found: the protocol as documented breaks one of its own requirements".into(),
                Some(revision) => format!(
                    "flaw found: the protocol as repaired still breaks one of its own requirements{}",
                    first_flaw(view, revision)
                ),
            },
            Outcome::AmbiguityFound => {
                let origin = view.open_question().and_then(|question| question.open_point.origin);
                let why = origin.map_or_else(String::new, |origin| format!("; {}", origin.words()));
                format!("ambiguity found: a requirement breaks under one reading of the documents{why}")
            }
            Outcome::NotApproved => "not approved".into(),
            Outcome::Undecided => "undecided".into(),
            Outcome::Stopped => "stopped, can be resumed".into(),
        },
        (None, Position::Node(node)) => format!("not finished: at {node}"),
        (None, _) => "not finished".into(),
    }
}

/// What is known of the requirement under one reading of a question.
pub fn known_words(requirement: &str, reading: &Reading) -> String {
    let in_steps = reading.states.map_or_else(String::new, |n| format!(", in {}", counted(n, "state")));
    match (&reading.status, reading.revision) {
        (Some(status), Some(rev)) => format!("{requirement} {}{in_steps} (rev_{rev})", status.words()),
        (None, Some(rev)) => format!("rev_{rev} has no such requirement"),
        (_, None) => "no revision takes it".to_owned(),
    }
}

/// The question that an ambiguity raises, with what is known under each reading.
fn question_text(question: &Question) -> String {
    let Question { open_point: point, requirement, readings } = question;
    let mut text = String::new();
    let _ = writeln!(text, "\nQuestion {} [{}]: {}", point.id, point.place_words(), point.question);
    for reading in readings {
        let known = known_words(requirement, reading);
        let _ = writeln!(text, "  {}. {}\n      {known}", reading.choice, reading.reading);
    }
    text
}

/// What the model takes for granted or leaves out.
fn append_assumptions(text: &mut String, revision: &Revision) {
    if !revision.assumptions.is_empty() {
        text.push_str("\nAssumptions of the model:\n");
    }
    for assumption in &revision.assumptions {
        let _ = writeln!(text, "  {}", assumption.words());
    }
}

/// How many normative sentences of the documents are accounted for in which way: `3 in requirements`.
pub(super) fn normative_counts(revision: &Revision) -> Vec<String> {
    let sentences = &revision.normative_sentences;
    let count = |is_meant: &dyn Fn(&Option<Account>) -> bool| sentences.iter().filter(|s| is_meant(&s.account)).count();
    let parts = [
        (count(&|account| matches!(account, Some(Account::Requirements(_)))), "in requirements"),
        (count(&|account| matches!(account, Some(Account::Behaviour))), "only in steps"),
        (count(&|account| matches!(account, Some(Account::Assumptions(_)))), "in assumptions"),
        (count(&|account| matches!(account, Some(Account::OpenPoints(_)))), "in open points"),
        (count(&|account| matches!(account, Some(Account::OutOfScope(_)))), "out of scope"),
        (count(&Option::is_none), "not accounted for"),
    ];
    parts.into_iter().filter(|(n, _)| *n > 0).map(|(n, words)| format!("{n} {words}")).collect()
}

/// How the normative sentences of the documents are accounted for; those without an account are quoted.
fn append_normative_sentences(text: &mut String, revision: &Revision) {
    let sentences = &revision.normative_sentences;
    if sentences.is_empty() {
        return;
    }
    let _ = writeln!(text, "\nNormative sentences of the documents: {}", normative_counts(revision).join(", "));
    for sentence in sentences.iter().filter(|sentence| sentence.account.is_none()) {
        let _ = writeln!(text, "  not accounted for: {}", sentence.words());
    }
    // One line for each passage: a large set of documents has hundreds of such sentences.
    let mut passages: Vec<(&String, usize)> = Vec::new();
    for sentence in sentences {
        let Some(Account::OutOfScope(reason)) = &sentence.account else { continue };
        match passages.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, count)) => *count += 1,
            None => passages.push((reason, 1)),
        }
    }
    for (reason, count) in passages {
        let _ = writeln!(text, "  out of scope: {reason} ({})", counted(count, "sentence"));
    }
}

/// Readings that the owner of the protocol decided.
fn append_decisions(text: &mut String, revision: &Revision) {
    if !revision.decisions.is_empty() {
        text.push_str("\nDecided by the owner of the protocol:\n");
    }
    for Decision { open_point, reading } in &revision.decisions {
        let _ = writeln!(text, "  [{}] {}\n      {reading}", open_point.place_words(), open_point.question);
    }
}

/// The revision that decides the outcome.
pub fn decisive_revision(view: &RunView) -> Option<&Revision> {
    let best = view.finished.as_ref().and_then(|f| f.best);
    // An unfinished run has no outcome; the parent of its next revision is the latest result.
    let rests_on = best.or(view.parent);
    rests_on.and_then(|n| view.revisions.iter().find(|r| r.revision == n)).or(view.revisions.last())
}

/// The flaw that caused the first repair before this revision.
fn first_flaw(view: &RunView, revision: &Revision) -> String {
    let parent = |r: &Revision| view.revisions.iter().find(|p| Some(p.revision) == r.parent);
    let before = std::iter::successors(parent(revision), |r| parent(r));
    // From new to old, so the last one is the first flaw.
    let flawed = before.filter(|r| r.open_feedback.iter().any(Feedback::is_confirmed_flaw)).last();
    let Some(flawed) = flawed else { return String::new() };
    let violated = flawed.check.as_ref().and_then(|check| match &check.verdict {
        Verdict::Violated { violated } => violated.property(),
        _ => None,
    });
    let named = violated.map_or_else(String::new, |property| {
        let broken = view.results_of(flawed).into_iter().filter(|r| r.status.is_broken());
        let ids: Vec<String> = broken.map(|r| r.requirement.id).collect();
        format!(": {property} ({})", ids.join(", "))
    });
    format!("; the first flaw, of the protocol as documented, is in rev_{}{named}", flawed.revision)
}

/// The summary that is printed if the user interrupts a run: the report has the rest.
pub fn interrupted_summary(view: &RunView) -> String {
    let why = view.finished.as_ref().map_or("", |finished| &finished.why);
    format!("Outcome: {}\nWhy: {}\n{}\n", heading(view), in_one_line(why), cost(view))
}

/// The summary that is printed when a run ends.
pub fn summary(view: &RunView, width: usize) -> String {
    let mut text = format!("Outcome: {}\n", heading(view));
    if let Some(finished) = &view.finished {
        let _ = writeln!(text, "Why: {}", finished.why);
        if matches!(finished.outcome, Outcome::NotApproved | Outcome::Undecided)
            && let Some(best) = finished.best
        {
            let objective = if view.objective().is_some() { "closer to the objective, " } else { "" };
            let _ = writeln!(
                text,
                "Best revision: rev_{best}, whose files are at the top of the folder (order: {objective}parses, not \
                 vacuous, holds, requirements covered, fewer blockers, fewer majors; the later one if equal; an approved revision first)"
            );
        }
    }
    for (at, line) in made_from_lines(view, decisive_revision(view)).into_iter().enumerate() {
        let _ = if at == 0 { writeln!(text, "Made from {line}") } else { writeln!(text, "  {line}") };
    }
    let shown = decisive_revision(view).map_or(view.rev, |revision| revision.revision);
    if let Some(candidates) = view.candidates.get(&shown) {
        let _ = writeln!(text, "\nCandidates:\n{}", candidates_text(candidates).trim_end());
    }
    if let Some(revision) = decisive_revision(view) {
        let question = view.open_question();
        text.push_str(&question.as_ref().map(question_text).unwrap_or_default());
        // Otherwise a reader would take the check below for that of the visible files.
        if !matches!(view.state.position, Position::Done(_)) {
            let _ = writeln!(
                text,
                "The files at the top of the folder are those of rev_{}, which is in progress; the rest of this report is about rev_{}",
                view.rev, revision.revision
            );
        }
        requirements(&mut text, view, revision);
        text.push_str(&objective_text(view, revision.revision));
        check(&mut text, revision, width);
        text.push_str(&contracts_text(revision));
        text.push_str(&mutants_text(revision, view.reviews.last_of(revision.revision)));
        open_points(&mut text, revision);
        append_decisions(&mut text, revision);
        append_assumptions(&mut text, revision);
        append_normative_sentences(&mut text, revision);
        accepted_without_tools(&mut text, view, revision);
        text.push_str(&policy_text(view));
        // The other reading has no counterexample, or another one.
        let broken = question
            .and_then(|question| question.readings[0].revision)
            .and_then(|n| view.revisions.iter().find(|r| r.revision == n));
        flaw(&mut text, view, broken.unwrap_or(revision), width);
    }
    if !view.specification.other_concerns.is_empty() {
        text.push_str("\nOther concerns in the documents, for further runs with --concern:\n");
        let concerns = &view.specification.other_concerns;
        for concern in concerns.iter().take(MOST_OTHER_CONCERNS) {
            let _ = writeln!(text, "  - {concern}");
        }
        if concerns.len() > MOST_OTHER_CONCERNS {
            let _ = writeln!(text, "  - and {} more, in informal_spec.md", concerns.len() - MOST_OTHER_CONCERNS);
        }
    }
    let _ = writeln!(text, "\n{}", cost(view));
    text
}

/// `accepted` are the changes of the documents that were accepted since.
pub fn report(view: &RunView, accepted: &[AcceptedDrift], width: usize) -> String {
    let mut text = summary(view, width);
    if !view.revisions.is_empty() {
        text.push_str("\nRevisions:\n");
    }
    for r in &view.revisions {
        let parent = r.parent.map_or_else(String::new, |p| format!(", from rev_{p}"));
        let attempts: Vec<String> = r.attempts.iter().map(|(node, n)| format!("{node} {n}")).collect();
        let to = r.routed_to.map_or_else(String::new, |s| format!(" -> {s}"));
        let _ = writeln!(text, "  rev_{}{parent}: {}{to}", r.revision, r.outcome);
        if !r.why.is_empty() {
            let _ = writeln!(text, "      why: {}", first_line(&r.why));
        }
        if let Some((review, _)) = view.reviews.by_revision.get(&r.revision).and_then(|all| all.last()) {
            let _ = writeln!(text, "      review: {}", review_words(review, r));
        }
        let verdict = r.check.as_ref().map_or_else(|| "not checked".into(), verdict_sentence);
        let _ = writeln!(text, "      check: {verdict}");
        text.push_str(&view.candidates.get(&r.revision).map(candidates_text).unwrap_or_default());
        if let Some(line) = mutants_line(r) {
            let _ = writeln!(text, "      mutants: {line}");
        }
        let _ = writeln!(text, "      attempts: {}", attempts.join(", "));
        if !r.edited.is_empty() {
            let _ = writeln!(text, "      edited by hand: {}", r.edited.join(", "));
        }
    }
    append_blind_readings(&mut text, view);
    if !accepted.is_empty() {
        text.push_str("\nChanges of the documents that were accepted without a new run:\n");
    }
    for line in accepted_drift_lines(accepted) {
        let _ = writeln!(text, "  {line}");
    }
    text.push_str("\nAnswers by node:\n");
    for (node, spent) in &view.spending.by_lifeline {
        let _ = writeln!(text, "  {node}: {}, {:.0} s", amounts(spent, is_replayed(view)), spent.seconds);
    }
    let docs = &view.settings.docs;
    let bytes: u64 = docs.iter().map(|d| d.bytes).sum();
    let _ = writeln!(text, "\nDocuments: {}, {bytes} bytes", counted(docs.len(), "file"));
    for line in skipped_lines(&view.settings.skipped, usize::MAX) {
        let _ = writeln!(text, "  {line}");
    }
    text
}

/// What the last review of a revision says, in short.
pub(super) fn review_words(review: &Review, revision: &Revision) -> &'static str {
    match review.verdict {
        ReviewVerdict::Approved if revision.outcome == Outcome::AmbiguityFound.name() => {
            "approved under this reading, so the run ends as ambiguity found"
        }
        // A review can only ask for an approval; the guard and the policy can refuse it.
        ReviewVerdict::Approved if revision.outcome.starts_with("approved") => "approved",
        ReviewVerdict::Approved => "approved, and refused by the checks of the program or by the policy",
        ReviewVerdict::Revise => "asks for a revision",
        ReviewVerdict::Flaw => "claims a flaw",
    }
}

/// The skipped files, one a line. If more than `max_listed` have the same reason, they share a line that names
/// the first `max_listed`.
pub fn skipped_lines(skipped: &[Skipped], max_listed: usize) -> Vec<String> {
    let mut by_reason: Vec<(&str, Vec<&str>)> = Vec::new();
    for Skipped { path, reason } in skipped {
        match by_reason.iter_mut().find(|(known, _)| known == reason) {
            Some((_, paths)) => paths.push(path),
            None => by_reason.push((reason, vec![path])),
        }
    }
    let line = |(reason, paths): (&str, Vec<&str>)| match paths.as_slice() {
        many if many.len() > max_listed => {
            vec![format!("skipped {} files, {reason}: {}, …", many.len(), many[..max_listed].join(", "))]
        }
        paths => paths.iter().map(|path| format!("skipped {path}: {reason}")).collect(),
    };
    by_reason.into_iter().flat_map(line).collect()
}

/// What larger bounds showed, with a trace for each that broke a property.
fn larger_bounds(text: &mut String, check: &CheckOutcome, width: usize) {
    for line in larger_bounds_lines(&check.larger_bounds) {
        let _ = writeln!(text, "  larger bounds: {line}");
    }
    for bound in &check.larger_bounds {
        let Some(words) = bound.violated_words(&check.bounds) else { continue };
        let _ = writeln!(text, "  larger bounds: {words}");
        if let Some((_, Some(trace))) = bound.violated() {
            let _ = std::writeln!(text, "\n{}\n", trace_table(trace, width).trim_end());
        }
    }
}

fn check(text: &mut String, revision: &Revision, width: usize) {
    match &revision.check {
        Some(outcome) => {
            let _ = writeln!(text, "\nCheck ({}): {}", outcome.version.trim(), verdict_sentence(outcome));
            if let Some(each) = status_sentence(outcome) {
                let _ = writeln!(text, "  each property: {each}");
            }
            let _ = writeln!(text, "  {}", statistics_sentence(&outcome.statistics));
            let _ = writeln!(text, "  within: {}", bounds_sentence(&outcome.bounds));
            larger_bounds(text, outcome, width);
            append_witnesses(text, outcome);
            let never = never_taken_actions(outcome);
            if !never.is_empty() {
                let _ = writeln!(text, "  never taken: {}", never.join(", "));
            }
            for branch in never_taken_branches(outcome) {
                let _ = writeln!(text, "  branch never taken: {branch}");
            }
            for branch in undecided_branches(outcome) {
                let _ = writeln!(text, "  branch for which it is not known whether a step takes it: {branch}");
            }
        }
        None => text.push_str("\nCheck: this revision was not checked\n"),
    }
}

/// The blind readings of the shown revision.
fn append_blind_readings(text: &mut String, view: &RunView) {
    let Some(revision) = decisive_revision(view) else { return };
    let readings = view.blind_readings_of(revision);
    if !readings.is_empty() {
        let _ = writeln!(text, "\nBlind readings of rev_{}, by a reader who saw only the formulas:", revision.revision);
    }
    for (property, said) in readings {
        let _ = writeln!(text, "  {property}: {said}");
    }
}

/// The witnesses that were not reached, and how many were.
fn append_witnesses(text: &mut String, outcome: &CheckOutcome) {
    let depths: Vec<usize> = outcome.witnesses.iter().filter_map(|witness| witness.reached.depth()).collect();
    match (depths.iter().min(), depths.iter().max()) {
        (Some(least), Some(most)) if depths.len() > MOST_WITNESSES => {
            let all = if depths.len() == outcome.witnesses.len() { "all " } else { "" };
            let _ = writeln!(text, "  witnesses: {all}{} reached, after {least} to {most} states", depths.len());
            let open = witness_lines(outcome).into_iter().zip(&outcome.witnesses);
            for (line, _) in open.filter(|(_, witness)| witness.reached.depth().is_none()) {
                let _ = writeln!(text, "  witness {line}");
            }
        }
        _ => {
            for line in witness_lines(outcome) {
                let _ = writeln!(text, "  witness {line}");
            }
        }
    }
}

/// The requirements with their status, the broken ones first.
fn requirements(text: &mut String, view: &RunView, revision: &Revision) {
    let results = view.results_of(revision);
    if !results.is_empty() {
        text.push_str("\nRequirements:\n");
    }
    let quotes = view.reviews.by_revision.get(&revision.revision).and_then(|all| all.last()).map(|(_, quotes)| quotes);
    let violations = view.judged_violations(revision);
    let claimed = view.reviews.last_of(revision.revision).and_then(|review| review.flaw.as_ref());
    let is_main = |property: &str| claimed.is_some_and(|flaw| flaw.property.eq_ignore_ascii_case(property));
    let mut previous_reason: Option<String> = None;
    for RequirementResult { requirement, status } in results {
        let _ = writeln!(text, "  {} [{}] {}", requirement.id, requirement.place_words(), requirement.text);
        let sentences = quotes.zip(requirement.place.as_ref()).and_then(|(quotes, place)| quotes.0.get(place));
        if let Some(sentences) = sentences.filter(|_| status.is_broken()) {
            let _ = writeln!(text, "      documents: \"{sentences}\"");
        }
        let _ = writeln!(text, "      {}", status.words_without_repeated_reason(previous_reason.as_deref()));
        previous_reason = status.reason().map(str::to_owned).or(previous_reason);
        let RequirementStatus::Broken { by } = &status else { continue };
        for violation in violations.iter().filter(|violation| by.contains(&violation.property)) {
            let words = match &violation.judgement {
                // What the second reader says is below the counterexample.
                ViolationJudgement::Flaw { .. } if is_main(&violation.property) => violation.judgement.short_words(),
                judgement => judgement.words(),
            };
            let _ = writeln!(text, "        {}: {words}", violation.property);
        }
    }
}

/// The open points that no decision of the owner of the protocol settled: first those on which two authors disagreed, then
/// contradictions of the documents, then the questions of one author.
pub(super) fn undecided_open_points(revision: &Revision) -> Vec<&OpenPoint> {
    let is_decided = |point: &&OpenPoint| revision.decisions.iter().any(|decision| decision.is_followed_by(point));
    let mut open: Vec<&OpenPoint> = revision.open_points.iter().filter(|point| !is_decided(point)).collect();
    open.sort_by_key(|point| (point.origin.is_none(), point.origin));
    open
}

fn open_points(text: &mut String, revision: &Revision) {
    let open = undecided_open_points(revision);
    if open.is_empty() {
        return;
    }
    let mut title = "";
    for point in open {
        let own_title = match point.origin {
            Some(Origin::Disagreement) => "Disagreements of two authors, where the documents allow both readings",
            Some(Origin::Contradiction) => "Contradictions in the documents, as the informal specification reads them",
            None => "Questions that the documents leave open",
        };
        if own_title != title {
            let _ = writeln!(text, "\n{own_title}:");
            title = own_title;
        }
        let _ = writeln!(text, "  {} [{}] {}", point.id, point.place_words(), point.question);
        for (label, part) in open_point_parts(point) {
            let _ = writeln!(text, "      {label}: {part}");
        }
    }
}

/// What an open point says besides its question, with labels.
pub(super) fn open_point_parts(point: &OpenPoint) -> Vec<(&'static str, String)> {
    let parts = [
        ("taken", point.taken.clone()),
        ("otherwise", point.otherwise.clone()),
        ("affects", point.affects.join(", ")),
        ("because", point.origin.map_or_else(String::new, |origin| origin.words().to_owned())),
    ];
    parts.into_iter().filter(|(_, part)| !part.is_empty()).collect()
}

/// The lines of the documents by which a counterexample is one although it assumes no fairness, or exceeds a bound.
pub(super) fn granted(flaw: &Flaw) -> impl Iterator<Item = (&'static str, &Citation)> {
    let all = [
        ("the documents allow this behaviour to continue", &flaw.unfair),
        ("the documents grant the bound", &flaw.bound),
    ];
    all.into_iter().filter_map(|(what, cited)| Some((what, cited.as_ref()?)))
}

/// The counterexample; for a flaw, with quotes from the documents.
fn flaw(text: &mut String, view: &RunView, revision: &Revision, width: usize) {
    let Some(check) = &revision.check else { return };
    let claimed = view.reviews.last_of(revision.revision).and_then(|review| review.flaw.as_ref());
    let claimed = claimed.and_then(|flaw| check.violated_name(&flaw.property));
    let focused = claimed.and_then(|name| check.focused_on(name));
    let check = focused.as_ref().unwrap_or(check);
    let Some(trace) = &check.trace else { return };
    let mut probes = probe_lines(check).into_iter().fold(String::new(), |text, line| text + "  - " + &line + "\n");
    if !probes.is_empty() {
        probes.insert_str(0, "\nThe violation, checked again:\n");
    }
    let reviewed = view.reviews.by_revision.get(&revision.revision).and_then(|all| all.last());
    let is_asked = view.open_question().is_some();
    let ambiguity = view.reviews.ambiguities.get(&revision.revision).filter(|_| is_asked);
    let flaw_review = reviewed.filter(|_| revision.outcome == Outcome::FlawFound.name() || ambiguity.is_some());
    let Some((flaw, quotes)) = flaw_review.and_then(|(review, quotes)| Some((review.flaw.as_ref()?, quotes))) else {
        let _ = std::writeln!(text, "\nCounterexample:\n\n{}\n{probes}", trace_table(trace, width).trim_end());
        return;
    };
    let requirement = revision.requirements.iter().find(|r| r.requirement.id == flaw.requirement);
    let said = requirement.map_or("", |r| &r.requirement.text);
    let what = ambiguity.map_or_else(|| "Flaw".to_owned(), |a| format!("Under reading a of {}", a.open_point.id));
    let _ = writeln!(
        text,
        "\n{what}: {} is violated ({said}), shown by {}",
        flaw.requirement,
        claimed.unwrap_or(&flaw.property)
    );
    let mut previous = None;
    for step in &trace.steps {
        let _ = write!(text, "\n{}", step_lines(previous, step, width));
        previous = Some(step);
        for told in flaw.steps.iter().filter(|s| s.step == step.step) {
            let cited = quotes.cite_step(told).join("\n                ");
            let _ = writeln!(text, "     documents: {cited}\n                {}", told.why.trim());
        }
    }
    text.push_str(&probes);
    for (what, cited) in granted(flaw) {
        let said = quotes.cite(&cited.file, cited.line);
        let _ = writeln!(text, "  - {what}: {said}\n    {}", cited.why.trim());
    }
    let claims = view.reviews.claims_of(revision.revision);
    if let Some((agrees, why)) = claims.and_then(|claims| claims.second_reading.as_ref()) {
        let _ = writeln!(text, "\nThe second reader {}: {why}", if *agrees { "agrees" } else { "disagrees" });
    }
}

fn cost(view: &RunView) -> String {
    let spent = view.spent_total();
    format!("Cost: {}{}", amounts(&spent, is_replayed(view)), stale_words(&spent))
}

/// How many answers were recorded for something else; empty if none was.
pub(super) fn stale_words(spent: &Spent) -> String {
    let other_documents = spent.changed_documents;
    let older_prompt = match spent.stale.saturating_sub(other_documents) {
        0 => String::new(),
        n => format!("; {n} of them recorded for an older prompt, used anyway"),
    };
    let other_documents = match other_documents {
        0 => String::new(),
        n => format!("; {n} of them recorded for other documents: none of these accepts or confirms anything"),
    };
    older_prompt + &other_documents
}

/// Whether the answers come from a recording, which costs nothing.
pub(super) fn is_replayed(view: &RunView) -> bool {
    view.settings.command_line["provider"] == "replay"
}

/// Answers, tokens and money.
pub(super) fn amounts(spent: &Spent, is_replayed: bool) -> String {
    let failed = if spent.failed > 0 { format!(", {}", counted(spent.failed, "failed call")) } else { String::new() };
    let cached = if spent.cached > 0 { format!(" ({} from the cache)", spent.cached) } else { String::new() };
    let cost = match spent.unpriced {
        0 => format!("{:.2} USD", spent.cost_usd),
        // If no answer has a price, `0.00 USD` would be misleading.
        n if n >= spent.answers && is_replayed => "no cost: recorded answers".to_owned(),
        n if n >= spent.answers => "price unknown".to_owned(),
        n => format!("{:.2} USD and {} of unknown price", spent.cost_usd, counted(n, "call")),
    };
    let guessed = match spent.estimated_tokens {
        0 => String::new(),
        n => format!(", about {} estimated", counted(n, "token")),
    };
    let refused = match spent.refused_reads {
        0 => String::new(),
        n => format!(", {} outside the workspace refused", counted(n, "read")),
    };
    let tokens = tokens(spent.tokens);
    format!("{}{failed}{tokens}{cached}{guessed}{refused}, {cost}", counted(spent.answers, "answer"))
}

/// `, 12 tokens`; empty if no provider reported any.
fn tokens(n: u64) -> String {
    if n == 0 { String::new() } else { format!(", {}", counted(n, "token")) }
}

fn first_line(text: &str) -> String {
    let line = text.lines().next().unwrap_or("");
    let more = if line.len() < text.trim_end().len() { "…" } else { "" };
    cut(&format!("{line}{more}"), LONGEST_WHY)
}
