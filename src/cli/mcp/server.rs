//! The server's side of the protocol: what it can do, the folders of its client, and every request.

use std::sync::Arc;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CancelTaskParams, ErrorData, GetTaskParams, GetTaskResult, Implementation,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, ResourceContents, ServerCapabilities,
    ServerConfig, UpdateTaskParams,
};
use rmcp::service::{NotificationContext, RequestContext};
use rmcp::{RoleServer, ServerHandler};
use serde_json::Value;

use super::allowed_folders::AllowedFolders;
use super::session::{Roots, Shared};
use super::tool_list::tools;
use super::tool_result::failed;
use super::{calls, resources};

const INSTRUCTIONS: &str = "Checks TLA+ specifications, tests their properties by mutation, and forges a model-checked \
    specification from documents. A verdict holds for the bounds that it names; \"inconclusive\" is never \"holds\". Paths are \
    absolute, or relative to a root. Read the resource tlaforge:guide before you write PlusCal.";

/// The server of one client.
#[derive(Clone)]
pub(super) struct McpServer(pub Arc<Shared>);

fn task_error(error: &ErrorData) -> ErrorData {
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
        self.0.forget_roots();
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        self.0.tasks.get_task(&request.task_id).map(GetTaskResult::new).map_err(|error| task_error(&error))
    }

    async fn update_task(
        &self,
        request: UpdateTaskParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.0.tasks.update_task(&request.task_id, request.input_responses).map_err(|error| task_error(&error))
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.0.tasks.cancel_task(&request.task_id).map_err(|error| task_error(&error))
    }
}
