//! Resources: the guide, and of each run the report, the journal, the specification and the requirements.

use rmcp::model::{Resource, ResourceTemplate};

use super::allowed_folders::{AllowedFolders, AllowedPath, percent_decoded, percent_encoded};
use super::jobs::Jobs;
use super::run_state::{RunState, find_runs};
use crate::cli::failure::Failure;
use crate::cli::run_failure::accepted_drift_failure;
use crate::files;
use crate::pipeline::file::{CFG, DEFAULT_MODULE, INFORMAL, MODULE, visible_name};
use crate::pipeline::read_accepted_drift;
use crate::report::report;

/// Maximum size of a resource, in bytes. The rest is in the file that it names.
const MAX_BYTES: usize = 1 << 20;
/// Runs that are listed.
const MAX_RUNS: usize = 50;
/// Width of a report, in columns.
const WIDTH: usize = 100;

const GUIDE: &str = include_str!("../../../docs/src/pluscal.md");
const GUIDE_URI: &str = "tlaforge:guide";

/// The resources of a run: kind, what it is, media type.
const KINDS: [(&str, &str, &str); 5] = [
    ("report", "The report of the run: outcome, requirements, findings", "text/plain"),
    ("spec", "The specification of the best revision", "text/x-tla"),
    ("config", "Its configuration for the checker", "text/plain"),
    ("requirements", "The informal specification with the numbered requirements", "text/markdown"),
    ("journal", "Every event of the run, one JSON object a line", "application/jsonl"),
];

pub(super) fn list(folders: &AllowedFolders) -> Vec<Resource> {
    let guide = Resource::new(GUIDE_URI, "How to write PlusCal that TLC can check").with_mime_type("text/markdown");
    let runs = find_runs(folders).into_iter().take(MAX_RUNS);
    let of_run = |run: AllowedPath| {
        let state = RunState::read(&run.path).ok()?;
        Some(run_resources(&run, &state))
    };
    std::iter::once(guide).chain(runs.filter_map(of_run).flatten()).collect()
}

pub(super) fn templates() -> Vec<ResourceTemplate> {
    let of_kind = |(kind, what, media): (&str, &str, &str)| {
        ResourceTemplate::new(format!("tlaforge:{kind}{{?job}}"), format!("{kind} of a run"))
            .with_description(format!("{what}. `job` is the run folder"))
            .with_mime_type(media)
    };
    KINDS.into_iter().map(of_kind).collect()
}

/// The resources that a run has by now.
pub(super) fn run_resources(run: &AllowedPath, state: &RunState) -> Vec<Resource> {
    let exists = |kind: &str| kind == "report" || path_of(run, state, kind).is_some_and(|path| path.is_file());
    let resource = |(kind, what, media): (&str, &str, &str)| {
        let uri = format!("tlaforge:{kind}?job={}", percent_encoded(&run.path.display().to_string()));
        Resource::new(uri, format!("{kind} of {}", run.relative())).with_description(what).with_mime_type(media)
    };
    KINDS.into_iter().filter(|(kind, ..)| exists(kind)).map(resource).collect()
}

pub(super) fn path_of(run: &AllowedPath, state: &RunState, kind: &str) -> Option<std::path::PathBuf> {
    let best = state.view.finished.as_ref().and_then(|finished| finished.best);
    let revisions = &state.view.revisions;
    let revision = revisions.iter().rfind(|revision| best.is_none_or(|best| revision.revision == best));
    let module = revision.map_or(DEFAULT_MODULE, |revision| revision.module_name());
    let name = match kind {
        "spec" => visible_name(MODULE, module),
        "config" => visible_name(CFG, module),
        "requirements" => INFORMAL.to_owned(),
        "journal" => "journal.jsonl".to_owned(),
        _ => return None,
    };
    Some(run.path.join(name))
}

/// The text of a resource, and its media type.
pub(super) fn read(folders: &AllowedFolders, jobs: &Jobs, uri: &str) -> Result<(String, &'static str), Failure> {
    if uri == GUIDE_URI {
        return Ok((GUIDE.to_owned(), "text/markdown"));
    }
    let unknown = || {
        Failure::usage(format!("there is no resource {uri:.200}"))
            .hint("resources/list and resources/templates/list name them")
    };
    let (kind, job) = uri.strip_prefix("tlaforge:").and_then(|rest| rest.split_once("?job=")).ok_or_else(unknown)?;
    let job = percent_decoded(job).ok_or_else(unknown)?;
    if kind == "output" {
        let end = jobs.find(&job)?.end().ok_or_else(|| Failure::usage(format!("{job} still runs")))?;
        let ended = end.map_err(Failure::usage)?;
        return Ok((limited(&ended.stdout, None), "application/json"));
    }
    let (_, _, media) = KINDS.into_iter().find(|(known, ..)| *known == kind).ok_or_else(unknown)?;
    let run = folders.existing("job", &job)?;
    let state = RunState::read(&run.path)?;
    let Some(path) = path_of(&run, &state, kind) else {
        let accepted = read_accepted_drift(&run.path).map_err(|error| accepted_drift_failure(&error))?;
        return Ok((limited(report(&state.view, &accepted, WIDTH).as_bytes(), None), media));
    };
    if path.symlink_metadata().is_err() {
        return Err(Failure::usage(format!("{} has no {kind} yet", run.relative()))
            .hint("the run writes it with its first revision; forge_status shows how far the run is"));
    }
    let bytes = files::read_below(&run.path, &path, files::LOG).map_err(|e| {
        Failure::usage(format!("{}: {e}", path.display())).hint("a run writes it with its first revision")
    })?;
    Ok((limited(&bytes, Some(&path)), media))
}

fn limited(bytes: &[u8], path: Option<&std::path::Path>) -> String {
    if bytes.len() <= MAX_BYTES {
        return String::from_utf8_lossy(bytes).into_owned();
    }
    let place = path.map(|path| format!("; all of it is in {}", path.display())).unwrap_or_default();
    let more = bytes.len() - MAX_BYTES;
    format!("{}\n… ({more} more bytes{place})\n", String::from_utf8_lossy(&bytes[..MAX_BYTES]))
}
