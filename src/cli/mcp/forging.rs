//! Starts, continues and stops runs. A run is a process of its own that outlives this server; a later server finds it by its
//! folder.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{Seek as _, SeekFrom};
use std::path::Path;
use std::time::Duration;

use rmcp::model::CallToolResult;
use serde_json::{Value, json};

use super::allowed_folders::{AllowedFolders, AllowedPath};
use super::own_program::OwnCommand;
use super::question_text::question_text;
use super::resources::{path_of, run_resources};
use super::run_state::{RunState, find_runs};
use super::shortened::{shortened_text, shortened_value};
use super::tool_arguments::{Checker, ForgeArguments, ProviderName, checked_text};
use super::tool_result::{complete, verdict_line};
use super::waiting::poll_until;
use crate::cli::failure::{Fails, Failure};
use crate::cli::provider::NO_PROVIDER;
use crate::cli::run_folder::stop_holder;
use crate::exit::Exit;
use crate::files;
use crate::journal::{LockError, RunLock};
use crate::pipeline::Run;
use crate::process::Cancel;
use crate::report::plain_reason;

/// Most runs that go on at the same time below the allowed folders.
const MAX_RUNNING: usize = 8;
/// Longest time until a run has written its first event.
const START_LIMIT: Duration = Duration::from_secs(40);
/// Maximum time to wait until a run has stopped.
const STOP_LIMIT: Duration = Duration::from_secs(15);
/// Messages of the process of a run.
const MESSAGES: &str = "mcp.log";

/// The command of a new run, and its folder.
pub(super) fn new_run(folders: &AllowedFolders, given: &ForgeArguments) -> Result<(OwnCommand, AllowedPath), Failure> {
    let out = folders.existing_or_new("out", &given.out)?;
    let is_empty = |path: &Path| std::fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none());
    if out.path.exists() && !is_empty(&out.path) && !Run::exists(&out.path) {
        return Err(Failure::usage(format!("out: {} exists and is no empty folder", given.out))
            .hint("name a new folder; a run fills it with files"));
    }
    let existing =
        |what: &str, path: &Option<String>| path.as_deref().map(|path| folders.existing(what, path)).transpose();
    let (docs, case) = (existing("docs", &given.docs)?, existing("case", &given.case)?);
    let recording = existing("recording", &given.recording)?;
    if docs.is_some() == case.is_some() {
        return Err(Failure::usage("give either docs or case"));
    }
    let checked = |what: &str, text: &Option<String>| {
        text.as_deref().map(|text| checked_text(what, text).map(str::to_owned)).transpose()
    };
    let provider = given.provider.and_then(ProviderName::flag);
    let mut command = OwnCommand::new("run", &out.root)
        .value("--out", Some(&out.path))
        .value("--format", Some("json"))
        .value("--case", case.map(|case| case.path))
        .value("--provider", provider)
        .value("--recording", recording.map(|recording| recording.path))
        .value("--model", checked("model", &given.model)?)
        .value("--concern", checked("concern", &given.concern)?)
        .value("--module", checked("module", &given.module)?)
        .value("--candidates", given.candidates.map(|n| n.to_string()))
        .value("--max-revisions", given.max_revisions.map(|n| n.to_string()))
        .value("--mutants", given.mutants.map(|n| if n == 0 { "off".to_owned() } else { n.to_string() }))
        .value("--max-cost", given.max_cost.map(|cost| cost.to_string()))
        .value("--max-time", given.max_minutes.map(|minutes| format!("{minutes}m")))
        .value("--checker", given.checker.map(Checker::name))
        .switch("--repair", given.repair);
    if let Some(docs) = docs {
        command = command.operand(docs.path);
    }
    Ok((command, out))
}

/// Starts the process of a run, and waits until it has written an event: wrong arguments and settings are reported before
/// the first one.
pub(super) async fn start(
    folders: &AllowedFolders,
    command: &OwnCommand,
    run: &AllowedPath,
) -> Result<RunState, Failure> {
    let running: Vec<String> = find_runs(folders)
        .iter()
        .filter(|run| RunLock::holder(&run.path).is_some())
        .map(AllowedPath::relative)
        .collect();
    if running.len() >= MAX_RUNNING {
        return Err(Failure::usage(format!("{MAX_RUNNING} runs are running already: {}", running.join(", ")))
            .hint("wait for one (forge_status), or stop one (forge_cancel)"));
    }
    let is_new = !run.path.exists();
    std::fs::create_dir_all(&run.path).fails(Exit::Tool)?;
    let before = RunState::read(&run.path).map_or(0, |state| state.entries.len());
    let had_messages = run.path.join(MESSAGES).exists();
    let (messages, begin) = open_messages(&run.path)?;
    let mut child = command.start(messages)?;
    let started = poll_until(|| {
        let exit = child.try_wait().ok().flatten();
        let is_holder = || matches!(RunLock::holder(&run.path), Some(LockError::Held { pid, .. }) if pid == child.id());
        // Another process may be at work on this run: its events are no sign that this one began.
        let has_begun = exit.map_or_else(is_holder, |exit| exit.code() != Some(i32::from(Exit::Usage.code())));
        let state = RunState::read(&run.path).ok().filter(|state| has_begun && state.entries.len() > before);
        (state.is_some() || exit.is_some()).then_some(state)
    });
    let started = tokio::time::timeout(START_LIMIT, started).await;
    if let Ok(None) = started {
        let messages = read_messages(&run.path, begin);
        if !had_messages {
            let _ = std::fs::remove_file(run.path.join(MESSAGES));
        }
        if is_new {
            // Only if the run has left nothing else.
            let _ = std::fs::remove_dir(&run.path);
        }
        if messages.contains(NO_PROVIDER) {
            return Err(Failure::usage("no model is set up on this machine")
                .hint("with `provider` \"mcp\" you answer the requests yourself, or your sub-agents do")
                .hint("or the user logs in to Claude Code, or sets a key in the environment of the server"));
        }
        return Err(Failure::usage(shortened_text(messages.trim(), 4000)));
    }
    // Otherwise it would remain as a zombie.
    std::thread::spawn(move || child.wait());
    match started {
        Ok(Some(state)) => Ok(state),
        _ => RunState::read(&run.path).map_err(|f| f.hint("it has not written anything yet: ask with forge_status")),
    }
}

/// The file for the messages of the process, and where they begin.
fn open_messages(run: &Path) -> Result<(File, u64), Failure> {
    let mut file = files::open_own(&run.join(MESSAGES)).fails(Exit::Tool)?;
    let begin = file.seek(SeekFrom::End(0)).fails(Exit::Tool)?;
    Ok((file, begin))
}

fn read_messages(run: &Path, begin: u64) -> String {
    let bytes = files::read_below(run, &run.join(MESSAGES), files::LARGE).unwrap_or_default();
    let from = usize::try_from(begin).unwrap_or_default().min(bytes.len());
    String::from_utf8_lossy(&bytes[from..]).into_owned()
}

/// The command that continues a run.
pub(super) fn resumed_run(run: &AllowedPath) -> OwnCommand {
    OwnCommand::new("resume", &run.root).value("--format", Some("json"))
}

/// Asks the process of a run to stop, and waits until it has.
pub(super) async fn stop(run: &AllowedPath) -> Result<CallToolResult, Failure> {
    RunState::read(&run.path)?;
    stop_holder(&run.path).map_err(Failure::usage)?;
    let stopped = poll_until(|| RunLock::holder(&run.path).is_none().then_some(()));
    let _ = tokio::time::timeout(STOP_LIMIT, stopped).await;
    let state = RunState::read(&run.path)?;
    Ok(status(run, &state))
}

pub(super) fn status(run: &AllowedPath, state: &RunState) -> CallToolResult {
    status_after("", run, state)
}

/// The status, after what has just been done.
pub(super) fn status_after(done: &str, run: &AllowedPath, state: &RunState) -> CallToolResult {
    complete(
        format!("{done}{}", state.line_with_progress(run)),
        shortened_value(&without_nulls(state.json(run))).0,
        Vec::new(),
    )
}

/// A member that is null says nothing, and costs its reader tokens.
fn without_nulls(mut data: Value) -> Value {
    if let Some(members) = data.as_object_mut() {
        members.retain(|_, member| !member.is_null());
    }
    data
}

/// What a run has found.
pub(super) async fn result(run: &AllowedPath, cancel: &Cancel) -> Result<CallToolResult, Failure> {
    let state = RunState::read(&run.path)?;
    let report = OwnCommand::new("report", &run.root).value("--format", Some("json")).operand(&run.path);
    let ended = report.run(Duration::from_secs(40), cancel).await?;
    let whole: Value = serde_json::from_slice(&ended.stdout)
        .map_err(|_| Failure::usage(shortened_text(String::from_utf8_lossy(&ended.stderr).trim(), 4000)))?;
    let finished = &whole["finished"];
    let best = finished["best"].as_u64();
    let revisions = whole["revisions"].as_array().map(Vec::as_slice).unwrap_or_default();
    let revision = revisions.iter().rfind(|revision| best.is_none() || revision["revision"].as_u64() == best);
    let revision = revision.cloned().unwrap_or_default();
    let mut text = match (whole["outcome"].as_str(), finished["why"].as_str()) {
        (Some(outcome), Some(why)) => {
            format!("{}: {}: {}", run.relative(), outcome.replace('_', " "), plain_reason(why))
        }
        _ => state.line(run),
    };
    let check = &revision["check"];
    // A question has two revisions, one for each reading.
    let asked = state.view.open_question();
    let of_question = asked.iter().flat_map(|question| &question.readings);
    let mut shown: Vec<(Option<u64>, String)> = of_question
        .map(|reading| (reading.revision.map(u64::from), format!(", with reading {}", reading.choice)))
        .collect();
    if shown.is_empty() {
        shown.push((revision["revision"].as_u64(), String::new()));
    }
    for (number, reading) in shown.iter().filter(|(number, _)| number.is_some()) {
        let checked = revisions.iter().rfind(|revision| revision["revision"].as_u64() == *number);
        if let Some(check) = checked.map(|revision| &revision["check"]).filter(|check| check.is_object()) {
            let _ = write!(text, "\ncheck of rev_{}{reading}: {}", number.unwrap_or_default(), verdict_line(check));
        }
    }
    if let Some(question) = &asked {
        let _ = write!(text, "\n{}", question_text(&state.view, question));
    }
    // Times, costs of each node and hashes are in the journal. The requirements, the steps of a flaw and what was assumed
    // are what the user has to read.
    let [requirements, violations, open_points, assumptions, mutants] =
        ["requirements", "violations", "open_points", "assumptions", "mutant_sample"].map(|name| &revision[name]);
    let file = |kind| path_of(run, &state, kind).filter(|path| path.is_file());
    let data = json!({
        "job": run.relative(), "folder": run.path, "state": state.name(&run.path), "outcome": whole["outcome"],
        "revision": revision["revision"], "spec": file("spec"), "config": file("config"),
        "requirements": requirements, "flaw": whole["flaw"], "violations": violations, "question": whole["question"],
        "open_points": open_points, "assumptions": assumptions, "mutants": mutants, "spent": whole["spent_total"],
        "check": check.is_object().then(|| json!({
            "verdict": check["verdict"], "violated": check["violated"], "bounds": check["bounds"],
            "checker": check["checker"], "version": check["version"], "statistics": check["statistics"],
        })),
    });
    Ok(complete(text, shortened_value(&without_nulls(data)).0, run_resources(run, &state)))
}
