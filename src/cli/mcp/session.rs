//! The state shared by all calls of a client, and the folders that it may use: its roots and those of `--allow`.
#![expect(deprecated, reason = "roots are how the clients of today name their folders")]

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{
    ClientResult, InputRequest, InputRequiredResult, InputResponses, ListRootsRequest, ListRootsResult,
    ProtocolVersion, ServerRequest,
};
use rmcp::service::RequestContext;
use rmcp::task_manager::TaskManager;

use super::allowed_folders::{AllowedFolders, folder_of_uri};
use super::jobs::Jobs;

/// Longest time for the client's list of roots.
const ROOTS_LIMIT: Duration = Duration::from_secs(10);
/// The key of the roots in the answers of a client of the protocol of 2026.
const ROOTS: &str = "roots";

/// The state shared by all calls.
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

    /// Drops the known roots; the next call requests them again.
    pub(super) fn forget_roots(&self) {
        *self.named.lock().unwrap_or_else(PoisonError::into_inner) = None;
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
        if context.client_capabilities().is_none_or(|client| client.roots.is_none()) {
            return Ok(Vec::new());
        }
        let request = ListRootsRequest::default;
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
