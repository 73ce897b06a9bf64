//! The page of a run: what came out, why, and what it rests on. Everything comes from the view and the artifacts that the
//! journal names; nothing is decided here.

use serde_json::{Map, Value};

use super::course::course;
use super::findings::findings;
use super::frame::{Page, Section, Tone, render};
use super::grounds::grounds;
use super::headline::{heading_sentence, lead, question};
use super::listing::{Cited, Mark, cited_lines, document_listings, module_listing};
use super::requirements::requirements;
use super::revisions::revisions;
use super::run_context::{RunContext, RunSource, module_id};
use super::witnesses::witnesses;
use crate::pipeline::{Outcome, Revision, RunView, file};

/// The page of a run.
///
/// # Errors
/// The journal has an invalid vector clock.
pub fn run_page(source: &RunSource<'_>) -> Result<Page, crate::report::ChartError> {
    let context = RunContext::new(source);
    let mut marks = marks_of(&context);
    let mut traces = Map::new();
    let mut sections = Vec::new();
    sections.extend(question(&context));
    sections.extend(findings(&context, &mut traces, &mut marks));
    sections.extend(requirements(&context));
    sections.extend(grounds(&context));
    sections.extend(witnesses(&context, &mut traces));
    sections.extend(document_section(&context, &marks));
    sections.extend(module_section(&context));
    sections.extend(revisions(&context));
    sections.extend(course(&context)?);
    let concern = context.view.settings.concern.clone();
    Ok(Page {
        kind: concern
            .map_or_else(|| format!("Run {}", source.folder), |concern| format!("Run {}: {concern}", source.folder)),
        title: format!("{} \u{2013} {}", outcome_name(context.view), source.folder),
        heading: heading_sentence(&context),
        tone: tone(context.view),
        lead: lead(&context),
        sections,
        data: serde_json::json!({ "traces": Value::Object(traces) }),
    })
}

fn outcome_name(view: &RunView) -> String {
    view.finished
        .as_ref()
        .map_or_else(|| "Not finished".to_owned(), |finished| finished.outcome.name().replace('_', " "))
}

fn tone(view: &RunView) -> Tone {
    match view.finished.as_ref().map(|finished| finished.outcome) {
        Some(Outcome::Approved | Outcome::ApprovedRepaired) => Tone::Good,
        Some(Outcome::FlawFound | Outcome::NotApproved) => Tone::Bad,
        Some(Outcome::AmbiguityFound | Outcome::Undecided) => Tone::Open,
        Some(Outcome::Stopped) | None => Tone::Plain,
    }
}

/// What cites the documents: requirements, open points and assumptions. Steps of counterexamples are added later.
fn marks_of(context: &RunContext<'_>) -> Vec<(Cited, Mark)> {
    let Some(revision) = context.decisive else { return Vec::new() };
    let requirements = revision.requirements.iter().map(|r| (&r.requirement.id, &r.requirement.place));
    let points = revision.open_points.iter().map(|point| (&point.id, &point.place));
    let assumptions = revision.assumptions.iter().map(|assumption| (&assumption.id, &assumption.place));
    let all = requirements.chain(points).chain(assumptions);
    let cited = all.filter_map(|(id, place)| Some((id, place.as_ref()?)));
    cited
        .flat_map(|(id, place)| {
            let mark = Mark { label: id.clone(), target: id.clone() };
            cited_lines(place, &context.documents).into_iter().map(move |cited| (cited, mark.clone()))
        })
        .collect()
}

fn document_section(context: &RunContext<'_>, marks: &[(Cited, Mark)]) -> Option<Section> {
    let listings = document_listings(&context.documents, marks);
    if listings.is_empty() {
        return None;
    }
    let others = context.documents.len() - listings.len();
    let after = (others > 0).then(|| {
        format!(
            "{} not cited and not shown.",
            if others == 1 { "1 more document is".to_owned() } else { format!("{others} more documents are") }
        )
    });
    Some(Section {
        id: "documents",
        title: "Documents".to_owned(),
        note: Some(listings.len().to_string()),
        body: render("listings", minijinja::context! { listings, after }),
    })
}

fn module_section(context: &RunContext<'_>) -> Option<Section> {
    let listing = |revision: &&Revision| {
        let text = context.text(revision, file::MODULE)?;
        let title = format!("{}, rev_{}", file::visible_name(file::MODULE, revision.module_name()), revision.revision);
        Some(module_listing(module_id(revision), title, &text))
    };
    let listings: Vec<_> = context.shown_revisions().iter().filter_map(listing).collect();
    let cfg = context.decisive.and_then(|revision| {
        let text = context.text(revision, file::CFG)?;
        let (witnesses, other): (Vec<&str>, Vec<&str>) = text.lines().partition(|line| line.starts_with("\\* WITNESS"));
        let name = file::visible_name(file::CFG, revision.module_name());
        Some((name, other.join("\n"), witnesses.len(), witnesses.join("\n")))
    });
    (!listings.is_empty()).then(|| Section {
        id: "model",
        title: "Specification".to_owned(),
        note: None,
        body: render("model", minijinja::context! { listings => render("listings", minijinja::context! { listings, after => None::<String> }), cfg }),
    })
}
