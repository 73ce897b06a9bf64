//! `tlaforge worker`: a stateless worker of an engine.

use std::net::SocketAddr;
use std::num::NonZeroUsize;

use clap::Args as ClapArgs;

use super::failure::Failure;
use super::tool_args::ToolArgs;
use super::value_parsers::parse_positive;
use crate::exit::Exit;

#[derive(Debug, ClapArgs)]
pub(super) struct WorkerArgs {
    /// Restate server to work for: the address of its admin API, such as http://127.0.0.1:9070.
    #[arg(long, value_name = "URL")]
    pub engine: String,
    /// Address to listen on; the server opens connections to it. Port 0 takes any free port.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:9080")]
    pub listen: SocketAddr,
    /// Where the server reaches this worker, or the load balancer in front of several workers [default: the address to listen
    /// on].
    #[arg(long, value_name = "URL")]
    pub advertise: Option<String>,
    /// Maximum number of jobs at a time [default: one per processor].
    #[arg(long, value_name = "N", value_parser = parse_positive::<NonZeroUsize>)]
    pub capacity: Option<NonZeroUsize>,
    /// Only accept jobs that are signed by the server with this public identity key (`publickeyv1_…`); can be repeated.
    #[arg(long, value_name = "KEY")]
    pub identity_key: Vec<String>,
    #[command(flatten)]
    pub tools: ToolArgs,
}

#[cfg(not(feature = "restate"))]
#[expect(clippy::unused_async, reason = "as in a build with the feature")]
pub(super) async fn worker(_: WorkerArgs) -> Result<Exit, Failure> {
    Err(super::engine::missing_feature("worker"))
}

#[cfg(feature = "restate")]
pub(super) async fn worker(args: WorkerArgs) -> Result<Exit, Failure> {
    use std::sync::Arc;

    use tlaforge_restate::{TICK, Worker, WorkerError};

    use super::fleet::{JOB, MutantWorker, PROGRAM, VERSION, parse_address};
    use super::settings::load_settings;
    use super::signals::cancel_on_signals;
    use super::terminal::print_message;

    let engine = parse_address(&args.engine)?;
    let advertise = args.advertise.as_deref().map(parse_address).transpose()?;
    if advertise.is_none() && args.listen.ip().is_unspecified() {
        return Err(Failure::usage(format!("{} is not an address that the server can connect to", args.listen))
            .hint("give the address of this machine or of its load balancer: --advertise http://HOST:PORT"));
    }
    if args.identity_key.is_empty() && !args.listen.ip().is_loopback() {
        print_message(
            "warning: without --identity-key, everyone who reaches this port can send jobs; see the page on fleets in the book",
        );
    }
    let judge = Arc::new(MutantWorker::new(load_settings(args.tools.layer())?));
    let cancel = cancel_on_signals();
    let worker = Worker {
        engine,
        listen: args.listen,
        advertise,
        capacity: args.capacity.map_or_else(super::mutate::processors, NonZeroUsize::get),
        identity_keys: args.identity_key,
        program: PROGRAM,
        version: VERSION.to_owned(),
        job: JOB,
        work: Arc::new(move |request| {
            let judge = judge.clone();
            Box::pin(async move { judge.judge(&request).await })
        }),
        tick: TICK,
    };
    worker.serve(&cancel, &print_message).await.map_err(|error| match error {
        WorkerError::Refused { .. } | WorkerError::Client(_) => Failure::new(Exit::Tool, error.to_string()),
        WorkerError::Listen { .. } | WorkerError::IdentityKey { .. } => Failure::usage(error.to_string()),
    })?;
    Ok(Exit::Ok)
}
