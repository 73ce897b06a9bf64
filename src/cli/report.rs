//! `tlaforge report`: prints the report or the chart of a run. Reads the journal and changes nothing.

use std::path::PathBuf;

use clap::{Args as ClapArgs, ValueEnum};

use super::completions::run_folders;
use super::failure::{Fails, Failure};
use super::forge::answer_command;
use super::format::{Format, value_names};
use super::page::PageArgs;
use super::progress::Display;
use super::run_failure::accepted_drift_failure;
use super::run_place::RunPlace;
use super::telemetry::name_run_in;
use super::terminal::{print_json_line, print_message, print_result};
use crate::exit::Exit;
use crate::pipeline::{RunView, changed_files, read_accepted_drift};
use crate::report::{self, Chart};

/// Mermaid's default `maxTextSize`, in characters.
const MERMAID_MAX_TEXT: usize = 50_000;

#[derive(Debug, ClapArgs)]
pub(super) struct ReportArgs {
    /// Run to report on: its folder, or its address in a shared store.
    #[arg(default_value = "specs", add = run_folders())]
    pub folder: PathBuf,
    /// Print the message sequence chart of the run instead: requests, answers, tool results, guards and routes between
    /// the lifelines; as `text` for a terminal, or as a `mermaid` diagram.
    #[arg(long, value_enum, value_name = value_names::<ChartChoice>(), hide_possible_values = true, conflicts_with = "format")]
    pub chart: Option<ChartChoice>,
    /// Output format; `json` prints one object.
    #[arg(long, value_enum, default_value = "text", hide_possible_values = true, value_name = value_names::<Format>())]
    pub format: Format,
    /// Print the counterexamples in sentences instead, each ending with the sentence of the documents that it breaks.
    #[arg(long, conflicts_with_all = ["format", "chart"])]
    pub explain: bool,
    #[command(flatten)]
    pub page: PageArgs,
}

/// How a chart is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum ChartChoice {
    /// For a terminal of 100 columns.
    Text,
    /// A sequence diagram of Mermaid.
    Mermaid,
}

pub(super) async fn report(args: &ReportArgs) -> Result<Exit, Failure> {
    let place = RunPlace::find_existing(&args.folder)?;
    let folder = place.folder();
    name_run_in(folder);
    args.page.check(None)?;
    let events = crate::journal::read(&folder.join("journal.jsonl")).fails(Exit::Usage)?;
    let view = RunView::from_entries(&events);
    for changed in changed_files(folder, &view, &events) {
        print_message(&format!("warning: {}: {changed}", args.folder.display()));
    }
    let accepted = read_accepted_drift(folder).map_err(|error| accepted_drift_failure(&error))?;
    let display = Display::new(args.format);
    args.page.write_run(folder, &view, &events).await?;
    if let Some(choice) = args.chart {
        let chart = Chart::new(&events).fails(Exit::Usage)?;
        match choice {
            ChartChoice::Text => print_result(&report::chart_text(&chart, display.width())),
            ChartChoice::Mermaid => {
                let text = report::chart_mermaid(&chart);
                if text.chars().count() > MERMAID_MAX_TEXT {
                    print_message(
                        "warning: the chart is longer than Mermaid's default maxTextSize; raise it to render the chart",
                    );
                }
                print_result(&text);
            }
        }
        return Ok(Exit::Ok);
    }
    if args.explain {
        print_result(&format!("{}\n", report::heading(&view)));
        print_result(&report::explain_run(&view));
        return Ok(Exit::Ok);
    }
    match args.format {
        Format::Text => {
            print_result(&report::report(&view, &accepted, display.width()));
            if let Some(question) = view.open_question().filter(|_| view.finished.is_some()) {
                display.note(&format!("answer it with: {}", answer_command(&question, &args.folder)));
            }
        }
        Format::Json => {
            let revisions: Vec<_> = view.revisions.iter().map(|revision| view.revision_json(revision)).collect();
            let object = serde_json::json!({
                "schema": 2,
                "outcome": view.finished.as_ref().map(|f| f.outcome),
                "finished": view.finished,
                "revisions": revisions,
                "question": view.open_question(),
                "other_concerns": view.specification.other_concerns,
                "spent": view.spending.by_lifeline,
                "spent_total": view.spent_total(),
                "policy": view.settings.policy,
                "violations": view.policy_log.violations,
                "interventions": view.policy_log.interventions,
                "predictions": view.policy_log.predictions,
                "flaw": view.reviews.last.as_ref().and_then(|r| r.flaw.as_ref()),
                "objective": report::objective_json(&view),
                "documents": view.settings.docs,
                "made_from": view.settings.made_from,
                "accepted_drift": accepted,
                "skipped": view.settings.skipped,
            });
            print_json_line(&object);
        }
    }
    Ok(Exit::Ok)
}
