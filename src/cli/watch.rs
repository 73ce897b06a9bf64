//! `tlaforge watch`: a page on loopback that shows a run while it goes on. Writes nothing to the run folder.

use std::path::PathBuf;

use clap::Args as ClapArgs;

use super::completions::run_folders;
use super::failure::Failure;
use super::live::{LiveServer, WatchedRun};
use super::run_folder::{run_failure, stop_holder};
use super::signals::cancel_on_signals;
use super::terminal::print_result;
use crate::exit::Exit;
use crate::pipeline::{Run, RunError};

#[derive(Debug, ClapArgs)]
pub(super) struct WatchArgs {
    /// Run folder to show.
    #[arg(default_value = "specs", add = run_folders())]
    pub folder: PathBuf,
    /// Port on this machine, or 0 for any free one.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub port: u16,
}

pub(super) async fn watch(args: WatchArgs) -> Result<Exit, Failure> {
    if !Run::exists(&args.folder) {
        return Err(run_failure(&RunError::NoRun { folder: args.folder }));
    }
    let folder = args.folder.clone();
    let run = WatchedRun { folder: args.folder, check: None, stop: Box::new(move || stop_holder(&folder)) };
    let server = LiveServer::start(run, args.port)?;
    print_result(&format!("{}\n", server.address()));
    cancel_on_signals().cancelled().await;
    Ok(Exit::Ok)
}
