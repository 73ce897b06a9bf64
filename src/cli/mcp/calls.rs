//! From a call to its result: the name of the tool, its arguments, the folders, and the work.

use rmcp::RoleServer;
use rmcp::model::{CallToolRequestParams, CallToolResponse, CreateTaskResult, JsonObject};
use rmcp::service::RequestContext;
use rmcp::task_manager::{TaskExit, TaskOptions};
use serde_json::json;

use super::allowed_folders::{AllowedFolders, AllowedPath};
use super::job_calls;
use super::jobs::Work;
use super::own_program::OwnCommand;
use super::pending_requests::Pending;
use super::question::{self, Asked};
use super::run_state::RunState;
use super::session::{Roots, Shared};
use super::tool_arguments::{
    AnswerArguments, ForgeArguments, NextRequestArguments, ProviderName, QuestionArguments, RequestFileArguments,
    RunArguments, RunFolderArguments, parse,
};
use super::tool_result::{complete, failed, page};
use super::waiting::{Waited, poll_until, requested_wait, wait_with_progress};
use super::{forging, handoff_requests};
use crate::cli::failure::Failure;
use crate::process::Cancel;

pub(super) async fn call(
    shared: &Shared,
    request: CallToolRequestParams,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResponse, Failure> {
    let responses = request.input_responses.as_ref();
    let folders = match shared.folders(context, responses).await {
        Roots::Known(folders) => folders,
        Roots::Ask(result) => return Ok(result.into()),
    };
    let (tool, arguments) = (request.name.as_ref(), request.arguments);
    match tool {
        "check" => {
            let command = job_calls::check(&folders, &parse(tool, arguments)?)?;
            job_calls::run(shared, context, Work::Check, command).await
        }
        "mutate" => {
            let command = job_calls::mutate(&folders, &parse(tool, arguments)?)?;
            job_calls::run(shared, context, Work::Mutate, command).await
        }
        "test" => {
            let command = job_calls::test(&folders, &parse(tool, arguments)?)?;
            job_calls::run(shared, context, Work::Test, command).await
        }
        "drift" => {
            let command = job_calls::drift(&folders, &parse(tool, arguments)?)?;
            job_calls::run(shared, context, Work::Drift, command).await
        }
        "explain_trace" => {
            let command = job_calls::explain(&folders, &parse(tool, arguments)?)?;
            job_calls::run(shared, context, Work::Explain, command).await
        }
        "translate" => {
            let command = job_calls::translate(&folders, &parse(tool, arguments)?)?;
            job_calls::run(shared, context, Work::Translate, command).await
        }
        "audit" => {
            let command = job_calls::audit(&folders, &parse(tool, arguments)?)?;
            job_calls::run(shared, context, Work::Audit, command).await
        }
        "conform" => {
            let command = job_calls::conform(&folders, &parse(tool, arguments)?)?;
            job_calls::run(shared, context, Work::Conform, command).await
        }
        "explore" => {
            let command = job_calls::explore(&folders, &parse(tool, arguments)?)?;
            job_calls::run(shared, context, Work::Explore, command).await
        }
        "formula" => {
            let command = job_calls::formula(&parse(tool, arguments)?)?;
            job_calls::run(shared, context, Work::Formula, command).await
        }
        "job_status" => job_calls::status(shared, context, &parse(tool, arguments)?).await,
        "job_cancel" => job_calls::cancel(shared, &parse(tool, arguments)?).await,
        "answer_question" => {
            let given: QuestionArguments = parse(tool, arguments)?;
            let (run, state) = run_of(&folders, &given.job)?;
            let question = question::open_question(&run, &state)?;
            let answer = match given.answer {
                Some(answer) => answer,
                None => match question::ask_user(&state.view, &question, context, responses).await? {
                    Asked::Answer(answer) => answer,
                    Asked::Unanswered(text) => return Ok(page(text, json!({ "decided": false }), Vec::new()).into()),
                    Asked::Ask(result) => return Ok(*result),
                },
            };
            let _one_at_a_time = shared.starting.lock().await;
            // The user may have taken half an hour: the run may have gone on with another answer.
            let (run, state) = run_of(&folders, &given.job)?;
            if state.is_running || question::open_question(&run, &state)? != question {
                return Err(Failure::usage(format!("{} is running, or has another question now", run.relative()))
                    .hint("forge_status shows where it is"));
            }
            let state = question::resume_with(&folders, &run, &question, &answer).await?;
            let reading = question.readings.iter().find(|reading| answer == reading.choice.to_string());
            let words = reading.map(|reading| format!(": {}", reading.reading)).unwrap_or_default();
            let chosen = format!("decided: {answer}{words}\n");
            Ok(forging::status_after(&chosen, &run, &state).into())
        }
        _ => run_call(shared, &folders, tool, arguments, context).await,
    }
}

/// The tools about runs.
async fn run_call(
    shared: &Shared,
    folders: &AllowedFolders,
    tool: &str,
    arguments: Option<JsonObject>,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResponse, Failure> {
    match tool {
        "forge_start" => {
            let given: ForgeArguments = parse(tool, arguments)?;
            let (command, run) = forging::new_run(folders, &given)?;
            let is_answered_by_client = given.provider == Some(ProviderName::Mcp);
            start(shared, folders, command, run, context, is_answered_by_client).await
        }
        "forge_resume" => {
            let given: RunFolderArguments = parse(tool, arguments)?;
            let (run, state) = run_of(folders, &given.job)?;
            if state.is_running {
                return Err(Failure::usage(format!("{} is already running", run.relative()))
                    .hint("wait for it with forge_status"));
            }
            if !matches!(state.name(&run.path), "stopped" | "interrupted") {
                let outcome = state.name(&run.path);
                return Err(Failure::usage(format!("{} has ended: {outcome}", run.relative()))
                    .hint("forge_result has what it found; answer_question continues the run after an ambiguity"));
            }
            let is_answered_by_client = state.view.settings.command_line["provider"] == "handoff";
            let command = forging::resumed_run(&run).operand(&run.path);
            start(shared, folders, command, run, context, is_answered_by_client).await
        }
        "forge_status" => status(folders, &parse(tool, arguments)?, context).await,
        "forge_result" => {
            let (run, _) = run_of(folders, &parse::<RunFolderArguments>(tool, arguments)?.job)?;
            Ok(forging::result(&run, &cancel_of(context)).await?.into())
        }
        "forge_cancel" => {
            let (run, state) = run_of(folders, &parse::<RunFolderArguments>(tool, arguments)?.job)?;
            if !state.is_running {
                let place = state.line(&run);
                return Err(Failure::usage("there is nothing to stop: no process works on the run").hint(place));
            }
            Ok(forging::stop(&run).await?.into())
        }
        "next_request" => next_request(folders, &parse(tool, arguments)?, context).await,
        "read_request_file" => {
            let given: RequestFileArguments = parse(tool, arguments)?;
            let (run, state) = run_of(folders, &given.job)?;
            Ok(handoff_requests::read_file(&run, &state, &given)?.into())
        }
        "submit_answer" => {
            let given: AnswerArguments = parse(tool, arguments)?;
            let (run, state) = run_of(folders, &given.job)?;
            Ok(handoff_requests::submit(&run, &state, &given)?.into())
        }
        _ => Err(Failure::usage(format!("there is no tool {tool:.100?}")).hint("tools/list names them")),
    }
}

fn run_of(folders: &AllowedFolders, job: &str) -> Result<(AllowedPath, RunState), Failure> {
    let run = folders.existing("job", job)?;
    let state = RunState::read(&run.path)?;
    Ok((run, state))
}

/// Starts or continues a run; a client that knows tasks gets a task that ends with the run, unless it has to answer the
/// requests meanwhile.
async fn start(
    shared: &Shared,
    folders: &AllowedFolders,
    command: OwnCommand,
    run: AllowedPath,
    context: &RequestContext<RoleServer>,
    is_answered_by_client: bool,
) -> Result<CallToolResponse, Failure> {
    let state = {
        // So that the runs are counted before the next one starts.
        let _one_at_a_time = shared.starting.lock().await;
        forging::start(folders, &command, &run).await?
    };
    let knows_tasks = context.client_capabilities().is_some_and(|client| client.supports_tasks());
    if !knows_tasks || is_answered_by_client {
        return Ok(forging::status(&run, &state).into());
    }
    let options = TaskOptions::new()
        .with_ttl_ms(job_calls::TASK_LIFETIME_MS)
        .with_poll_interval_ms(5000)
        .with_status_message(format!("job {}", run.relative()));
    let task = shared.tasks.spawn(options, |task| {
        Box::pin(async move {
            let at_rest = poll_until(|| {
                let state = RunState::read(&run.path).ok()?;
                task.set_status_message(state.line(&run));
                state.is_at_rest(&run.path).then_some(())
            });
            tokio::select! {
                () = at_rest => {
                    let result = forging::result(&run, &Cancel::new()).await;
                    Ok(result.unwrap_or_else(|failure| failed(&failure)))
                }
                () = task.cancelled() => {
                    let _ = forging::stop(&run).await;
                    Err(TaskExit::Cancelled)
                }
            }
        })
    });
    Ok(CallToolResponse::Task(CreateTaskResult::new(task)))
}

/// The status, at once or as soon as something has changed.
async fn status(
    folders: &AllowedFolders,
    given: &RunArguments,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResponse, Failure> {
    let (run, first) = run_of(folders, &given.job)?;
    let wait = requested_wait(given.wait_seconds, 0);
    // A request that waits is what the client waits for.
    if !wait.is_zero() && !first.is_at_rest(&run.path) && first.pending(&run.path).is_empty() {
        let before = first.line(&run);
        let changed = poll_until(|| {
            let state = RunState::read(&run.path).ok()?;
            (state.line(&run) != before).then_some(())
        });
        wait_with_progress(context, wait, &|| describe(&run), changed).await;
    }
    let state = RunState::read(&run.path)?;
    Ok(forging::status(&run, &state).into())
}

fn describe(run: &AllowedPath) -> String {
    RunState::read(&run.path).map_or_else(|failure| failure.message, |state| state.line_with_progress(run))
}

/// The next request of a run, or that there is none.
async fn next_request(
    folders: &AllowedFolders,
    given: &NextRequestArguments,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResponse, Failure> {
    let (run, first) = run_of(folders, &given.job)?;
    let is_wanted = |request: &Pending| given.request.is_none_or(|seq| seq == request.seq);
    if given.request.is_some() && !first.pending(&run.path).iter().any(is_wanted) {
        // It explains why there is none.
        handoff_requests::find_pending(&run, &first, given.request.unwrap_or_default())?;
    }
    let found = poll_until(|| match RunState::read(&run.path) {
        Ok(state) => match state.pending(&run.path).into_iter().find(is_wanted) {
            Some(request) if state.is_running => Some(Some(request)),
            _ => state.is_at_rest(&run.path).then_some(None),
        },
        Err(_) => None,
    });
    let wait = requested_wait(given.wait_seconds, 20);
    match wait_with_progress(context, wait, &|| describe(&run), found).await {
        Waited::Done(Some(request)) => {
            let state = RunState::read(&run.path)?;
            let open: Vec<u64> = state.pending(&run.path).iter().map(|request| request.seq).collect();
            let (offset, is_named) = (given.offset.unwrap_or_default(), given.request.is_some());
            Ok(handoff_requests::request_page(&run, &request, &open, offset, is_named)?.into())
        }
        Waited::Done(None) => {
            let state = RunState::read(&run.path)?;
            Ok(forging::status(&run, &state).into())
        }
        Waited::TimeUp | Waited::Cancelled => {
            let text = format!("{}; no request yet: call next_request again", describe(&run));
            let data = json!({ "job": run.relative(), "state": "running", "request": null });
            Ok(complete(text, data, Vec::new()).into())
        }
    }
}

/// Cancelled with the call.
fn cancel_of(context: &RequestContext<RoleServer>) -> Cancel {
    let (cancel, token) = (Cancel::new(), context.ct.clone());
    let cancelled = cancel.clone();
    tokio::spawn(async move {
        token.cancelled().await;
        cancelled.cancel();
    });
    cancel
}
