//! The command `tlaforge mcp`: its flags, and the life of the server.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::Args as ClapArgs;
use rmcp::ServiceExt as _;

use super::server::McpServer;
use super::session::Shared;
use super::transport::StdioTransport;
use crate::cli::failure::{Fails, Failure};
use crate::cli::signals::cancel_on_signals;
use crate::exit::Exit;

#[derive(Debug, ClapArgs)]
pub(in crate::cli) struct McpArgs {
    /// Folder that the client may read and write, besides the roots that it names itself; can be repeated. The working folder
    /// is not allowed unless it is named [default: none].
    #[arg(long, value_name = "DIR")]
    pub allow: Vec<PathBuf>,
    /// Seconds after which a check or a mutation run that goes on is answered with a job id. Less than the client's limit for
    /// a call.
    #[arg(long, value_name = "SECONDS", default_value_t = 45)]
    pub answer_within: u64,
}

pub(in crate::cli) async fn mcp(args: McpArgs) -> Result<Exit, Failure> {
    for folder in &args.allow {
        if !folder.is_dir() {
            return Err(Failure::usage(format!("--allow {}: there is no such folder", folder.display())));
        }
    }
    let shared = Arc::new(Shared::new(args.allow, Duration::from_secs(args.answer_within)));
    let cancel = cancel_on_signals();
    let transport = StdioTransport::start().fails(Exit::Tool)?;
    let serve = async {
        // It fails only if the client goes before it has begun.
        if let Ok(service) = Box::pin(McpServer(shared.clone()).serve(transport)).await {
            let _ = service.waiting().await;
        }
    };
    let exit = tokio::select! {
        () = serve => Exit::Ok,
        () = cancel.cancelled() => Exit::Interrupted,
    };
    // Checks end with the server; runs go on.
    shared.jobs.cancel_all();
    Ok(exit)
}
