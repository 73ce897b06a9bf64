//! The question that an ambiguity leaves to the owner of the protocol. If the client can ask its user, the user answers;
//! otherwise the answer is an argument.

use std::collections::BTreeMap;
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{
    CallToolResponse, ClientResult, ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction,
    ElicitationSchema, InputRequest, InputRequiredResult, InputResponses, ServerRequest,
};
use rmcp::service::RequestContext;
use serde_json::{Value, json};

use super::allowed_folders::{AllowedFolders, AllowedPath};
use super::forging;
use super::question_text::question_text;
use super::run_state::RunState;
use super::session::forbids_server_requests;
use super::tool_arguments::checked_text;
use crate::cli::failure::{Fails, Failure};
use crate::exit::Exit;
use crate::pipeline::{Question, RunView};

/// The key of the question in the answers of a client of the protocol of 2026.
const KEY: &str = "answer";
/// Longest time for the user's answer.
const LIMIT: Duration = Duration::from_secs(30 * 60);

/// An answer, or the result that asks the client for one.
pub(super) enum Asked {
    Answer(String),
    /// The user gave no answer; the text says what to do. Not an error, because clients retry failed calls.
    Unanswered(String),
    Ask(Box<CallToolResponse>),
}

pub(super) fn open_question(run: &AllowedPath, state: &RunState) -> Result<Question, Failure> {
    let question = state.view.open_question().filter(|_| state.view.finished.is_some());
    question.ok_or_else(|| {
        Failure::usage(format!("{} has no open question", run.relative())).hint("forge_status shows where it is")
    })
}

/// Gets the answer from the user.
pub(super) async fn ask_user(
    view: &RunView,
    question: &Question,
    context: &RequestContext<RoleServer>,
    responses: Option<&InputResponses>,
) -> Result<Asked, Failure> {
    let can_ask = context.client_capabilities().is_some_and(|client| client.elicitation.is_some());
    let unanswered = |why: &str| {
        Asked::Unanswered(format!(
            "{why}; the run stays as it is. Only the user can decide this: ask, do not choose. Then call answer_question again \
             with `answer`: a, b, or the user's own reading.\n\n{}",
            question_text(view, question)
        ))
    };
    if !can_ask {
        return Ok(unanswered("This client cannot ask its user"));
    }
    let request = request(view, question)?;
    let given: ElicitResult = if forbids_server_requests(context) {
        let Some(response) = responses.and_then(|responses| responses.get(KEY)) else {
            let requests = BTreeMap::from([(KEY.to_owned(), InputRequest::Elicitation(request))]);
            return Ok(Asked::Ask(Box::new(InputRequiredResult::from_input_requests(requests).into())));
        };
        serde_json::from_value(response.clone()).fails(Exit::Usage)?
    } else {
        let sent = context.peer.send_request(ServerRequest::ElicitRequest(request));
        let answered = tokio::select! {
            answered = tokio::time::timeout(LIMIT, sent) => answered,
            () = context.ct.cancelled() => return Err(Failure::usage("the call was cancelled; the run stays as it is")),
        };
        match answered {
            Ok(Ok(ClientResult::ElicitResult(result))) => result,
            Ok(Ok(_)) => return Err(Failure::usage("the client answered the question with something else")),
            Ok(Err(e)) => return Err(Failure::usage(format!("the client could not ask its user: {e}"))),
            Err(_) => return Err(Failure::usage("the user did not answer within 30 minutes")),
        }
    };
    let answer = given.content.as_ref().and_then(|content| content[KEY].as_str()).unwrap_or_default();
    match given.action {
        ElicitationAction::Accept => Ok(Asked::Answer(checked_text("the answer", answer.trim())?.to_owned())),
        _ => Ok(unanswered("The user did not answer the question")),
    }
}

fn request(view: &RunView, question: &Question) -> Result<ElicitRequest, Failure> {
    let schema: Value = json!({
        "type": "object",
        "properties": { KEY: {
            "type": "string",
            "title": "Reading",
            "description": "a, b, or the reading in your own words",
        } },
        "required": [KEY],
    });
    let schema: ElicitationSchema = serde_json::from_value(schema).fails(Exit::Defect)?;
    Ok(ElicitRequest::new(ElicitRequestParams::FormElicitationParams {
        meta: None,
        message: question_text(view, question),
        requested_schema: schema,
    }))
}

/// Continues the run with the answer.
pub(super) async fn resume_with(
    folders: &AllowedFolders,
    run: &AllowedPath,
    question: &Question,
    answer: &str,
) -> Result<RunState, Failure> {
    let answer = format!("{}={}", question.open_point.id, checked_text("the answer", answer)?);
    let command = forging::resumed_run(run).value("--answer", Some(answer)).operand(&run.path);
    forging::start(folders, &command, run).await
}
