//! `tlaforge watch`: a page on loopback that shows a run while it goes on, or a fleet. Writes nothing to the run folder.

use std::path::PathBuf;

use clap::Args as ClapArgs;

use super::completions::run_folders;
use super::failure::Failure;
use super::live::{LiveServer, WatchedRun};
use super::run_folder::{name_of_run, stop_holder};
use super::run_place::RunPlace;
use super::signals::cancel_on_signals;
use super::telemetry::name_run_in;
use super::terminal::{print_message, print_result};
use crate::exit::Exit;
use crate::shell::shell_word;

#[derive(Debug, ClapArgs)]
pub(super) struct WatchArgs {
    /// Run to show: its folder, or its address in a shared store.
    #[arg(default_value = "specs", add = run_folders())]
    pub folder: PathBuf,
    /// Show the fleet of this Restate server instead of a run: its runs, keys and workers. The address of its admin API, such as
    /// `http://127.0.0.1:9070`.
    #[arg(long, value_name = "URL", conflicts_with = "folder")]
    pub engine: Option<String>,
    /// Port on this machine, or 0 for any free one.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub port: u16,
}

pub(super) async fn watch(args: WatchArgs) -> Result<Exit, Failure> {
    if let Some(engine) = &args.engine {
        return watch_fleet(engine, args.port).await;
    }
    let place = RunPlace::find_existing(&args.folder)?;
    let folder = place.folder().to_owned();
    name_run_in(&folder);
    let following = place.follow();
    let address = Some(name_of_run(&folder)).filter(|name| *name != folder);
    if let (Some(address), false) = (&address, place.is_shared()) {
        let command = format!("tlaforge watch {}", shell_word(address));
        print_message(&format!(
            "note: only a process that works in this folder updates it; to follow the run: {command}"
        ));
    }
    let update_error = following.error.clone();
    let (watched, is_shared) = (folder.clone(), address.is_some());
    let stop = Box::new(move || stop_holder(&folder));
    let run = WatchedRun { folder: watched, is_shared, update_error, check: None, stop };
    let cancel = cancel_on_signals();
    let server = LiveServer::start(run, args.port)?;
    print_result(&format!("{}\n", server.address()));
    cancel.cancelled().await;
    Ok(Exit::Ok)
}

#[cfg(feature = "restate")]
async fn watch_fleet(engine: &str, port: u16) -> Result<Exit, Failure> {
    use super::fleet::parse_address;
    use super::fleet_status::FleetReader;
    use super::live::WatchedFleet;

    let engine = parse_address(engine)?;
    let fleet = WatchedFleet::new(engine.to_string());
    let reader = FleetReader::new(engine)?;
    let cancel = cancel_on_signals();
    let server = LiveServer::serve(Box::new(fleet.clone()), port)?;
    print_result(&format!("{}\n", server.address()));
    tokio::select! {
        () = cancel.cancelled() => {}
        () = fleet.follow(reader) => {}
    }
    Ok(Exit::Ok)
}

#[cfg(not(feature = "restate"))]
#[expect(clippy::unused_async, reason = "as in a build with the feature")]
async fn watch_fleet(_: &str, _: u16) -> Result<Exit, Failure> {
    Err(super::engine::missing_feature("--engine"))
}
