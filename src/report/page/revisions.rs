//! The revisions of a run: what forced each, and what changed in its texts.

use serde::Serialize;

use super::diff::{DiffLine, unified_diff};
use super::frame::{Section, Tone, render};
use super::run_context::RunContext;
use crate::pipeline::{Feedback, Outcome, Revision, file};
use crate::report::text::review_words;
use crate::tla::{verdict_sentence, without_translation};

/// With more revisions, only each with its parent is compared.
const MOST_COMPARED: usize = 5;

#[derive(Serialize)]
struct RevisionRow {
    revision: u32,
    parent: Option<u32>,
    outcome: String,
    tone: Tone,
    why: String,
    review: Option<&'static str>,
    check: Option<String>,
    attempts: String,
    edited: String,
    open: Vec<String>,
    diffs: Vec<Diff>,
}

#[derive(Serialize)]
struct Diff {
    title: String,
    added: usize,
    removed: usize,
    lines: Vec<DiffLine>,
}

pub(super) fn revisions(context: &RunContext<'_>) -> Option<Section> {
    let rows: Vec<RevisionRow> = context.view.revisions.iter().map(|revision| row(context, revision)).collect();
    let pairs = pairs(context);
    (!rows.is_empty()).then(|| Section {
        id: "revisions",
        title: "Revisions".to_owned(),
        note: Some(rows.len().to_string()),
        body: render("revisions", minijinja::context! { rows, pairs }),
    })
}

/// The differences of all revisions that are not parent and child.
fn pairs(context: &RunContext<'_>) -> Vec<(u32, u32, Vec<Diff>)> {
    let all = &context.view.revisions;
    if all.len() > MOST_COMPARED {
        return Vec::new();
    }
    let pairs = all.iter().enumerate().flat_map(|(at, old)| all[at + 1..].iter().map(move |new| (old, new)));
    let others = pairs.filter(|(old, new)| new.parent != Some(old.revision));
    others.map(|(old, new)| (old.revision, new.revision, diffs(context, old, new))).collect()
}

fn row(context: &RunContext<'_>, revision: &Revision) -> RevisionRow {
    let parent = context.view.revisions.iter().find(|known| Some(known.revision) == revision.parent);
    let review = context.view.reviews.last_of(revision.revision);
    let attempts: Vec<String> = revision.attempts.iter().map(|(node, n)| format!("{node} {n}")).collect();
    RevisionRow {
        revision: revision.revision,
        parent: revision.parent,
        outcome: revision.outcome.replace('_', " "),
        tone: match revision.outcome.as_str() {
            "revised" => Tone::Plain,
            approved if approved.starts_with("approved") => Tone::Good,
            flaw if flaw == Outcome::FlawFound.name() => Tone::Bad,
            _ => Tone::Open,
        },
        why: revision.why.clone(),
        review: review.map(|review| review_words(review, revision)),
        check: revision.check.as_ref().map(verdict_sentence),
        attempts: attempts.join(", "),
        edited: revision.edited.join(", "),
        open: revision
            .open_feedback
            .iter()
            .map(|Feedback { node, from, text }| format!("for {node}, from {from}: {text}"))
            .collect(),
        diffs: parent.map(|parent| diffs(context, parent, revision)).unwrap_or_default(),
    }
}

fn diffs(context: &RunContext<'_>, parent: &Revision, revision: &Revision) -> Vec<Diff> {
    let text = |revision: &Revision, name: &str| {
        let text = context.text(revision, name).unwrap_or_default();
        // The translation follows from the algorithm.
        if name == file::MODULE { without_translation(&text) } else { text }
    };
    [file::INFORMAL, file::MODULE, file::CFG]
        .into_iter()
        .filter_map(|name| {
            let lines = unified_diff(&text(parent, name), &text(revision, name));
            let count = |kind: &str| lines.iter().filter(|line| line.kind == kind).count();
            let title = file::visible_name(name, revision.module_name());
            let (added, removed) = (count("new"), count("old"));
            (!lines.is_empty()).then_some(Diff { title, added, removed, lines })
        })
        .collect()
}
