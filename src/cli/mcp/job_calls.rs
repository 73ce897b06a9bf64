//! The tools that run one command: each as a job. A short one is answered at once. A long one goes on as a task if the
//! client knows tasks, otherwise as a job that the client asks for.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{CallToolResponse, CreateTaskResult};
use rmcp::service::RequestContext;
use rmcp::task_manager::{TaskExit, TaskOptions};
use serde_json::json;

use super::allowed_folders::AllowedFolders;
use super::jobs::{Job, Work};
use super::own_program::OwnCommand;
use super::session::Shared;
use super::tool_arguments::{
    AuditArguments, CheckArguments, Checker, ConformArguments, DriftArguments, ExplainArguments, ExploreArguments,
    FormulaArguments, JobArguments, MutateArguments, TestArguments, TranslateArguments, checked_text,
};
use super::tool_result::{complete, ended, running};
use super::waiting::{Waited, requested_wait, wait_with_progress};
use crate::cli::failure::Failure;
use crate::process::Status;

/// Time after which the call of a client with tasks becomes a task.
const TASK_AFTER: Duration = Duration::from_secs(3);
/// Maximum length of a list of texts in one call.
const MAX_LIST: usize = 100;
/// Time for which a task is kept.
pub(super) const TASK_LIFETIME_MS: u64 = 24 * 60 * 60 * 1000;

pub(super) fn check(folders: &AllowedFolders, given: &CheckArguments) -> Result<OwnCommand, Failure> {
    let spec = folders.modules("spec", &given.spec)?;
    let config = given.config.as_deref().map(|path| folders.existing("config", path)).transpose()?;
    Ok(OwnCommand::new("check", &spec.root)
        .value("--format", Some("json"))
        .value("--config", config.map(|config| config.path))
        .value("--checker", given.checker.map(Checker::name))
        .value("--tlc-timeout", given.timeout_seconds.map(|seconds| seconds.to_string()))
        .switch("--keep-translation", given.keep_translation)
        .values("--library", libraries(folders, &given.libraries)?)
        .operand(spec.path))
}

pub(super) fn explain(folders: &AllowedFolders, given: &ExplainArguments) -> Result<OwnCommand, Failure> {
    let (spec, subcommand) = match (&given.spec, &given.job) {
        (Some(spec), None) => (folders.modules("spec", spec)?, "check"),
        (None, Some(job)) => (folders.existing("job", job)?, "report"),
        _ => return Err(Failure::usage("give either spec or job")),
    };
    let config = given.config.as_deref().map(|path| folders.existing("config", path)).transpose()?;
    let command = OwnCommand::new(subcommand, &spec.root);
    if subcommand == "report" {
        if given.config.is_some()
            || given.checker.is_some()
            || given.timeout_seconds.is_some()
            || !given.libraries.is_empty()
        {
            return Err(Failure::usage(
                "config, checker, timeout_seconds and libraries are for spec: a run has been checked",
            ));
        }
        return Ok(command.switch("--explain", Some(true)).operand(spec.path));
    }
    Ok(command
        .switch("--explain", Some(true))
        .value("--tlc-timeout", given.timeout_seconds.map(|seconds| seconds.to_string()))
        .values("--library", libraries(folders, &given.libraries)?)
        .value("--config", config.map(|config| config.path))
        .value("--checker", given.checker.map(Checker::name))
        .operand(spec.path))
}

pub(super) fn mutate(folders: &AllowedFolders, given: &MutateArguments) -> Result<OwnCommand, Failure> {
    let spec = folders.modules("spec", &given.spec)?;
    let config = given.config.as_deref().map(|path| folders.existing("config", path)).transpose()?;
    let beside = spec.path.with_file_name("mutants.out");
    let out = folders.existing_or_new("out", given.out.as_deref().unwrap_or(&beside.to_string_lossy()))?;
    if out.path.exists() && !out.path.is_dir() {
        return Err(Failure::usage(format!("out: {} is no folder", out.path.display())));
    }
    Ok(OwnCommand::new("mutate", &spec.root)
        .value("--format", Some("json"))
        .value("--out", Some(out.path))
        .value("--config", config.map(|config| config.path))
        .value("--sample", given.sample.map(|sample| sample.to_string()))
        .values("--library", libraries(folders, &given.libraries)?)
        .value("--checker", given.checker.map(Checker::name))
        .operand(spec.path))
}

pub(super) fn conform(folders: &AllowedFolders, given: &ConformArguments) -> Result<OwnCommand, Failure> {
    let spec = folders.modules("spec", &given.spec)?;
    if given.logs.len() > MAX_LIST {
        return Err(Failure::usage(format!("at most {MAX_LIST} logs in one call")));
    }
    let config = given.config.as_deref().map(|path| folders.existing("config", path)).transpose()?;
    let mut command = OwnCommand::new("conform", &spec.root)
        .value("--format", Some("json"))
        .value("--map", Some(folders.existing("map", &given.map)?.path))
        .value("--config", config.map(|config| config.path))
        .switch("--windows", given.windows)
        .operand(spec.path);
    for log in &given.logs {
        command = command.further_operand(folders.existing("logs", log)?.path);
    }
    Ok(command)
}

pub(super) fn explore(folders: &AllowedFolders, given: &ExploreArguments) -> Result<OwnCommand, Failure> {
    let spec = folders.modules("spec", &given.spec)?;
    if given.commands.is_empty() || given.commands.len() > MAX_LIST {
        return Err(Failure::usage(format!("commands: give 1 to {MAX_LIST}")));
    }
    for command in &given.commands {
        // It would write outside of the folders.
        if command.split_whitespace().next() == Some("save") {
            return Err(Failure::usage("commands: `save` is not available here; `path` returns the path"));
        }
        checked_text("a command", command)?;
    }
    let config = given.config.as_deref().map(|path| folders.existing("config", path)).transpose()?;
    Ok(OwnCommand::new("explore", &spec.root)
        .value("--format", Some("json"))
        .value("--config", config.map(|config| config.path))
        .values("--do", &given.commands)
        .operand(spec.path))
}

pub(super) fn test(folders: &AllowedFolders, given: &TestArguments) -> Result<OwnCommand, Failure> {
    let folder = folders.models("folder", &given.folder)?;
    if given.names.len() > MAX_LIST {
        return Err(Failure::usage(format!("at most {MAX_LIST} names in one call")));
    }
    let mut command = OwnCommand::new("test", &folder.root)
        .value("--format", Some("json"))
        .value("--checker", given.checker.map(Checker::name))
        .value("--tlc-timeout", given.timeout_seconds.map(|seconds| seconds.to_string()))
        .values("--library", libraries(folders, &given.libraries)?)
        .operand(folder.path);
    for name in &given.names {
        command = command.further_operand(checked_text("a name", name)?);
    }
    Ok(command)
}

/// Accepts no change: only the owner of the specification can say that it is still right.
pub(super) fn drift(folders: &AllowedFolders, given: &DriftArguments) -> Result<OwnCommand, Failure> {
    let run = folders.existing("job", &given.job)?;
    let docs = folders.existing("docs", &given.docs)?;
    Ok(OwnCommand::new("drift", &run.root)
        .value("--format", Some("json"))
        .value("--docs", Some(docs.path))
        .operand(run.path))
}

/// Folders of modules. A jar is refused: TLC would run the code in it.
fn libraries(folders: &AllowedFolders, given: &[String]) -> Result<Vec<PathBuf>, Failure> {
    let library = |path: &String| {
        let library = folders.modules("libraries", path)?;
        if library.path.is_dir() {
            // The slash keeps it a folder: a jar that replaces it meanwhile cannot be opened by this path.
            return Ok(library.path.join(""));
        }
        Err(Failure::usage(format!("libraries: {path} is no folder"))
            .hint("the user can name a jar for the whole server, by TLA_PATH in its environment"))
    };
    given.iter().map(library).collect()
}

pub(super) fn translate(folders: &AllowedFolders, given: &TranslateArguments) -> Result<OwnCommand, Failure> {
    let spec = folders.modules("spec", &given.spec)?;
    let command = OwnCommand::new("translate", &spec.root).value("--format", Some("json"));
    Ok(command.switch("--in-place", given.write).operand(spec.path))
}

pub(super) fn audit(folders: &AllowedFolders, given: &AuditArguments) -> Result<OwnCommand, Failure> {
    let log = folders.existing("log", &given.log)?;
    let mut command = OwnCommand::new("audit", &log.root).value("--format", Some("json"));
    command = match given.policy.as_deref() {
        Some("default") => command.value("--policy", Some("default")),
        Some(policy) => command.value("--policy", Some(folders.existing("policy", policy)?.path)),
        None => command,
    };
    if given.policy.is_none() && given.formulas.is_empty() {
        return Err(Failure::usage("give policy, formulas, or both")
            .hint("for a run folder, policy \"default\" are the rules that govern every run"));
    }
    if given.formulas.len() > MAX_LIST {
        return Err(Failure::usage(format!("at most {MAX_LIST} formulas in one call")));
    }
    for formula in &given.formulas {
        command = command.value("--formula", Some(checked_text("a formula", formula)?));
    }
    Ok(command.operand(log.path))
}

pub(super) fn formula(given: &FormulaArguments) -> Result<OwnCommand, Failure> {
    let trace = given.trace.as_deref().map(|trace| checked_text("the trace", trace)).transpose()?;
    // It reads no file, so it needs no folder.
    Ok(OwnCommand::new("formula", std::path::Path::new("/"))
        .value("--format", Some("json"))
        .value("--trace", trace)
        .value("--dfa", (given.automaton == Some(true)).then_some("table"))
        .operand(checked_text("the formula", &given.formula)?))
}

/// Runs a command as a job, and answers the call.
pub(super) async fn run(
    shared: &Shared,
    context: &RequestContext<RoleServer>,
    work: Work,
    command: OwnCommand,
) -> Result<CallToolResponse, Failure> {
    let job = shared.jobs.start(work, command)?;
    let knows_tasks = context.client_capabilities().is_some_and(|client| client.supports_tasks());
    let limit = if knows_tasks { TASK_AFTER } else { shared.answer_within };
    match wait_for(context, &job, limit).await {
        Waited::Done(end) => Ok(ended(&job, &end).into()),
        Waited::TimeUp if knows_tasks => Ok(CallToolResponse::Task(as_task(shared, job))),
        Waited::TimeUp => Ok(running(&job).into()),
        Waited::Cancelled => {
            job.cancel.cancel();
            Err(Failure::usage("the call was cancelled"))
        }
    }
}

/// A task that ends with the job.
fn as_task(shared: &Shared, job: Arc<Job>) -> CreateTaskResult {
    let options = TaskOptions::new().with_ttl_ms(TASK_LIFETIME_MS).with_status_message(format!("job {}", job.id));
    let task = shared.tasks.spawn(options, |task| {
        Box::pin(async move {
            tokio::select! {
                end = job.wait() => Ok(ended(&job, &end)),
                () = task.cancelled() => {
                    job.cancel.cancel();
                    Err(TaskExit::Cancelled)
                }
            }
        })
    });
    CreateTaskResult::new(task)
}

/// The result of a job, or that it still runs.
pub(super) async fn status(
    shared: &Shared,
    context: &RequestContext<RoleServer>,
    given: &JobArguments,
) -> Result<CallToolResponse, Failure> {
    let job = shared.jobs.find(&given.job)?;
    match wait_for(context, &job, requested_wait(given.wait_seconds, 0)).await {
        Waited::Done(end) => Ok(ended(&job, &end).into()),
        Waited::TimeUp | Waited::Cancelled => Ok(running(&job).into()),
    }
}

/// Ends a job. One that has ended keeps its result, and another call returns it.
pub(super) async fn cancel(shared: &Shared, given: &JobArguments) -> Result<CallToolResponse, Failure> {
    let job = shared.jobs.find(&given.job)?;
    if job.end().is_some() {
        let text = format!("{} had ended already: job_status returns its result", job.id);
        return Ok(complete(text, json!({ "job": job.id, "state": "ended" }), Vec::new()).into());
    }
    job.cancel.cancel();
    let end = job.wait().await;
    if end.is_ok_and(|ended| ended.status != Status::Cancelled) {
        let text = format!("{} ended before it could be cancelled: job_status returns its result", job.id);
        return Ok(complete(text, json!({ "job": job.id, "state": "ended" }), Vec::new()).into());
    }
    job.mark_delivered();
    let text = format!("{} is cancelled: it has no verdict", job.id);
    Ok(complete(text, json!({ "job": job.id, "state": "cancelled" }), Vec::new()).into())
}

async fn wait_for(context: &RequestContext<RoleServer>, job: &Job, limit: Duration) -> Waited<super::jobs::JobEnd> {
    let describe = || format!("{}: {} s", job.id, job.started.elapsed().as_secs());
    wait_with_progress(context, limit, &describe, job.wait()).await
}
