//! The server's side of the protocol: what it can do, the folders of its client, and every request.
#![expect(deprecated, reason = "roots are how the clients of today name their folders")]

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CancelTaskParams, ClientResult, ErrorData, GetTaskParams, GetTaskResult,
    Implementation, InputRequest, InputRequiredResult, InputResponses, ListResourceTemplatesResult,
    ListResourcesResult, ListRootsRequest, ListRootsResult, ListToolsResult, PaginatedRequestParams, ProtocolVersion,
    ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, ResourceContents, ServerCapabilities,
    ServerConfig, ServerRequest, UpdateTaskParams,
};
use rmcp::service::{NotificationContext, RequestContext};
use rmcp::task_manager::TaskManager;
use rmcp::{RoleServer, ServerHandler};
use serde_json::Value;

use super::allowed_folders::{AllowedFolders, folder_of_uri};
use super::jobs::Jobs;
use super::tool_list::tools;
use super::tool_result::failed;
use super::{calls, resources};

/// Longest time for the client's list of roots.
const ROOTS_LIMIT: Duration = Duration::from_secs(10);
/// The key of the roots in the answers of a client of the protocol of 2026.
const ROOTS: &str = "roots";

const INSTRUCTIONS: &str = "Checks TLA+ specifications, tests their properties by mutation, and forges a model-checked \
    specification from documents. A verdict holds for the bounds that it names; \"inconclusive\" is never \"holds\". Paths are \
    absolute, or relative to a root. Read the resource tlaforge:guide before you write PlusCal.";

/// What all calls share.
pub(super) struct Shared {
    /// The folders of `--allow`.
    pub allow: Vec<PathBuf>,
    /// The roots of the client, once it was asked.
    pub named: Mutex<Option<Vec<PathBuf>>>,
    pub jobs: Jobs,
    pub tasks: TaskManager,
    /// Held while a run starts.
    pub starting: tokio::sync::Mutex<()>,
    /// Time after which a check or mutation run becomes a job.
    pub answer_within: Duration,
}

/// The folders of a call, or the result that asks the client for its roots.
pub(super) enum Roots {
    Known(AllowedFolders),
    Ask(InputRequiredResult),
}

/// Whether the client speaks the protocol of 2026, in which a server sends no requests: it asks in its result.
pub(super) fn forbids_server_requests(context: &RequestContext<RoleServer>) -> bool {
    context.protocol_version().is_some_and(|version| version >= ProtocolVersion::V_2026_07_28)
}

impl Shared {
    pub(super) fn new(allow: Vec<PathBuf>, answer_within: Duration) -> Self {
        Self {
            allow,
            named: Mutex::default(),
            jobs: Jobs::default(),
            tasks: TaskManager::new(),
            starting: tokio::sync::Mutex::default(),
            answer_within,
        }
    }

    /// The roots of the client and the folders of `--allow`.
    pub(super) async fn folders(
        &self,
        context: &RequestContext<RoleServer>,
        responses: Option<&InputResponses>,
    ) -> Roots {
        let known = self.named.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let named = match known {
            Some(named) => named,
            None => match self.ask_for_roots(context, responses).await {
                Ok(named) => named,
                Err(ask) => return Roots::Ask(ask),
            },
        };
        Roots::Known(AllowedFolders::new(named.into_iter().chain(self.allow.iter().cloned())))
    }

    async fn ask_for_roots(
        &self,
        context: &RequestContext<RoleServer>,
        responses: Option<&InputResponses>,
    ) -> Result<Vec<PathBuf>, InputRequiredResult> {
        if !context.client_capabilities().is_some_and(|client| client.roots.is_some()) {
            return Ok(Vec::new());
        }
        let request = || ListRootsRequest { method: Default::default(), extensions: Default::default() };
        let list: Option<ListRootsResult> = if forbids_server_requests(context) {
            let Some(response) = responses.and_then(|responses| responses.get(ROOTS)) else {
                let requests = BTreeMap::from([(ROOTS.to_owned(), InputRequest::ListRoots(request()))]);
                return Err(InputRequiredResult::from_input_requests(requests));
            };
            serde_json::from_value(response.clone()).ok()
        } else {
            let sent = context.peer.send_request(ServerRequest::ListRootsRequest(request()));
            match tokio::time::timeout(ROOTS_LIMIT, sent).await {
                Ok(Ok(ClientResult::ListRootsResult(list))) => Some(list),
                _ => None,
            }
        };
        let Some(list) = list else { return Ok(Vec::new()) };
        let named: Vec<PathBuf> = list.roots.iter().filter_map(|root| folder_of_uri(&root.uri)).collect();
        *self.named.lock().unwrap_or_else(PoisonError::into_inner) = Some(named.clone());
        Ok(named)
    }
}

/// The server of one client.
#[derive(Clone)]
pub(super) struct McpServer(pub Arc<Shared>);

fn task_error(error: ErrorData) -> ErrorData {
    let hint = "tasks end with their server; a run is found again with forge_status";
    ErrorData::invalid_params(format!("{}; {hint}", error.message), None)
}

impl ServerHandler for McpServer {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_resources().enable_tools().enable_tasks().build();
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("tlaforge", env!("CARGO_PKG_VERSION")))
            .with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(tools()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if !tools().iter().any(|tool| tool.name == request.name) {
            return Err(ErrorData::invalid_params(format!("unknown tool: {:.100}", request.name), None));
        }
        let called = calls::call(&self.0, request, &context).await;
        Ok(called.unwrap_or_else(|failure| failed(&failure).into()))
    }

    async fn list_resources(
        &self,
        _request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let folders = match self.0.folders(&context, None).await {
            Roots::Known(folders) => folders,
            // A list cannot ask; a call of a tool does.
            Roots::Ask(_) => AllowedFolders::new(self.0.allow.iter().cloned()),
        };
        Ok(ListResourcesResult::with_all_items(resources::list(&folders)))
    }

    async fn list_resource_templates(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(ListResourceTemplatesResult::with_all_items(resources::templates()))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let folders = match self.0.folders(&context, request.input_responses.as_ref()).await {
            Roots::Known(folders) => folders,
            Roots::Ask(result) => return Ok(result.into()),
        };
        match resources::read(&folders, &self.0.jobs, &request.uri) {
            Ok((text, media)) => {
                let contents = ResourceContents::text(text, request.uri).with_mime_type(media);
                Ok(ReadResourceResult::new(vec![contents]).into())
            }
            Err(failure) => {
                let data = (!failure.hints.is_empty()).then(|| Value::from(failure.hints.join("; ")));
                Err(ErrorData::resource_not_found(failure.one_line(), data))
            }
        }
    }

    async fn on_roots_list_changed(&self, _context: NotificationContext<RoleServer>) {
        *self.0.named.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        self.0.tasks.get_task(&request.task_id).map(GetTaskResult::new).map_err(task_error)
    }

    async fn update_task(
        &self,
        request: UpdateTaskParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.0.tasks.update_task(&request.task_id, request.input_responses).map_err(task_error)
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.0.tasks.cancel_task(&request.task_id).map_err(task_error)
    }
}
