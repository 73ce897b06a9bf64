//! `tlaforge watch`: a page on loopback that shows a run while it goes on. Writes nothing to the run folder.

use std::path::PathBuf;

use clap::Args as ClapArgs;

use super::completions::run_folders;
use super::failure::Failure;
use super::live::{LiveServer, WatchedRun};
use super::run_folder::stop_holder;
use super::run_place::RunPlace;
use super::signals::cancel_on_signals;
use super::terminal::print_result;
use crate::exit::Exit;

#[derive(Debug, ClapArgs)]
pub(super) struct WatchArgs {
    /// Run to show: its folder, or its address in a shared store.
    #[arg(default_value = "specs", add = run_folders())]
    pub folder: PathBuf,
    /// Port on this machine, or 0 for any free one.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub port: u16,
}

pub(super) async fn watch(args: WatchArgs) -> Result<Exit, Failure> {
    let place = RunPlace::find_existing(&args.folder)?;
    let folder = place.folder().to_owned();
    let _following = place.follow();
    let run = WatchedRun { folder: folder.clone(), check: None, stop: Box::new(move || stop_holder(&folder)) };
    let server = LiveServer::start(run, args.port)?;
    print_result(&format!("{}\n", server.address()));
    cancel_on_signals().cancelled().await;
    Ok(Exit::Ok)
}
