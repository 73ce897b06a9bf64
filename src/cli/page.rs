//! `--html FILE`: the page of a command for a browser.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args as ClapArgs;

use super::failure::{Fails, Failure};
use super::output_file::unwritable_reason;
use super::progress::Display;
use super::run_failure::accepted_drift_failure;
use super::run_folder::name_of_run;
use super::signals::cancel_on_signals;
use super::terminal::print_message;
use super::tools::embedded_tools;
use crate::exit::Exit;
use crate::files;
use crate::journal::Sha;
use crate::pipeline::{Entry, RunView, read_accepted_drift};
use crate::process::Cancel;
use crate::report::{PAGE_MARK, Page, RunSource, run_page, witness_request};
use crate::shell::shell_word;
use crate::toolchain::{CheckRequest, GraphLimits, Limits, StateGraph, ToolContext};

/// States that are explored for the paths to the witnesses of a run. A number of states and not a time, so that the page does
/// not depend on the speed of the machine.
const WITNESS_LIMITS: GraphLimits = GraphLimits { shown: 0, explored: 50_000, ends_with_witnesses: true };
/// Longest time for a list of states, which only a page needs: the limits above are reached much earlier.
const MAX_LISTING: Duration = Duration::from_secs(60);

#[derive(Debug, Clone, Default, ClapArgs)]
pub(super) struct PageArgs {
    /// File to write the result to as well, as one HTML page for a browser; an earlier file is replaced [default: none].
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
}

/// The pages of a run.
#[derive(Debug, Clone, Default, ClapArgs)]
pub(super) struct RunPageArgs {
    #[command(flatten)]
    pub page: PageArgs,
    /// Serve the page while the run goes on, on this machine only: prints its address.
    #[arg(long)]
    pub watch: bool,
}

impl PageArgs {
    /// Refuses a file that cannot be written, before any work begins. `created` is a folder that the command will create.
    pub(super) fn check(&self, created: Option<&Path>) -> Result<(), Failure> {
        let Some(path) = &self.html else { return Ok(()) };
        let refused = |why: String| {
            Err(Failure::usage(why).hint("--html takes a new file, or an earlier page, in an existing folder"))
        };
        let shown = path.display();
        let folder = folder_of(path);
        if path.exists() && !path.is_dir() && !is_page(path) {
            return refused(format!("{shown} exists, and is no page that tlaforge wrote: it is not replaced"));
        }
        let is_same = |created: &Path| std::path::absolute(created).ok() == std::path::absolute(&folder).ok();
        if created.is_some_and(|created| is_same(created) && !created.exists()) {
            return Ok(());
        }
        match unwritable_reason(path) {
            None => Ok(()),
            Some(why) => refused(format!("cannot write the page {shown}: {why}")),
        }
    }

    /// Writes the page of a run with the paths to its witnesses, if one is wanted.
    pub(super) async fn write_run(&self, folder: &Path, view: &RunView, entries: &[Entry]) -> Result<(), Failure> {
        if self.html.is_none() {
            return Ok(());
        }
        self.write_run_until(&cancel_on_signals(), folder, view, entries).await
    }

    /// The same, without the paths if it is cancelled before they are found: the user waits for the end.
    pub(super) async fn write_run_until(
        &self,
        cancel: &Cancel,
        folder: &Path,
        view: &RunView,
        entries: &[Entry],
    ) -> Result<(), Failure> {
        let Some(path) = &self.html else { return Ok(()) };
        let read = |sha: &Sha| read_artifact(folder, sha);
        let mut graph = None;
        if let Some(request) = witness_request(view, &read) {
            let limits = Limits::default();
            let cx = ToolContext { limits: &limits, cancel, progress: &|_| {} };
            let interrupted = || {
                let folder = shell_word(&name_of_run(folder));
                Err(format!(
                    "it was interrupted before; `tlaforge report {folder} --html FILE` writes a page with them"
                ))
            };
            graph = Some(if cancel.is_cancelled() {
                interrupted()
            } else {
                let listed = list_states(&request, WITNESS_LIMITS, &cx).await?;
                if cancel.is_cancelled() { listed.or_else(|_| interrupted()) } else { listed }
            });
        }
        let accepted = &read_accepted_drift(folder).map_err(|error| accepted_drift_failure(&error))?;
        let folder = &name_of_run(folder).display().to_string();
        let source = RunSource { view, entries, read: &read, folder, accepted, graph: graph.as_ref() };
        write_page(path, &run_page(&source).fails(Exit::Usage)?)
    }
}

/// The page of the run in `folder`, without the paths to its witnesses.
pub(super) fn page_of_run(folder: &Path, view: &RunView, entries: &[Entry]) -> Result<Page, Failure> {
    let read = |sha: &Sha| read_artifact(folder, sha);
    let accepted = &read_accepted_drift(folder).map_err(|error| accepted_drift_failure(&error))?;
    let folder = &name_of_run(folder).display().to_string();
    let source = RunSource { view, entries, read: &read, folder, accepted, graph: None };
    run_page(&source).fails(Exit::Usage)
}

pub(super) fn read_artifact(folder: &Path, sha: &Sha) -> Option<String> {
    let bytes = files::read_below(folder, &folder.join("artifacts").join(sha.as_str()), files::LARGE).ok()?;
    (Sha::digest(&bytes) == *sha).then(|| String::from_utf8(bytes).ok())?
}

/// Lists reachable states for a page, always with the embedded checker. The inner error says why it could not; that is no
/// verdict.
pub(super) async fn list_states(
    request: &CheckRequest,
    graph_limits: GraphLimits,
    cx: &ToolContext<'_>,
) -> Result<Result<StateGraph, String>, Failure> {
    let limits = Limits { check: cx.limits.check.min(MAX_LISTING), ..cx.limits.clone() };
    let cx = ToolContext { limits: &limits, ..*cx };
    let listed = embedded_tools()?.state_graph(request, graph_limits, &cx).await;
    Ok(listed.unwrap_or_else(|error| Err(error.to_string())))
}

/// Writes a page and says so.
pub(super) fn write_page(path: &Path, page: &Page) -> Result<(), Failure> {
    // With its folder, because the page is written beside its final name first.
    let target = folder_of(path).join(path.file_name().unwrap_or_default());
    files::write_atomically(&target, page.html().as_bytes())
        .map_err(|error| Failure::new(Exit::Tool, format!("cannot write the page {}: {error}", path.display())))?;
    print_message(&format!("note: the page is {}; open it in a browser", path.display()));
    Ok(())
}

/// Says how to make the page of a run.
pub(super) fn note_page_command(display: &Display, folder: &Path) {
    let (page, folder) = (shell_word(&folder.join("report.html")), shell_word(folder));
    display.note(&format!("see it in a browser: tlaforge report {folder} --html {page}"));
}

/// Whether a file is a page of this program. Anything else may be a file that the user needs.
fn is_page(path: &Path) -> bool {
    let mut start = Vec::new();
    let read = files::open(path).and_then(|file| file.take(8 * 1024).read_to_end(&mut start));
    read.is_ok() && String::from_utf8_lossy(&start).contains(PAGE_MARK)
}

fn folder_of(path: &Path) -> PathBuf {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
        _ => PathBuf::from("."),
    }
}
