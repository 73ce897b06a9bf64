//! The live page, served on loopback. Of a run: what it does now, and below it the page that `report --html` writes; `tlaforge
//! watch` serves it for a run of another process, `run --watch` for its own. Of a fleet: its runs, keys and workers.

mod followed_run;
mod live_run;
mod run_snapshot;
mod server;
mod status;
mod subject;
#[cfg(feature = "restate")]
mod watched_fleet;
mod watched_run;

pub(super) use server::LiveServer;
pub(super) use status::Status;
#[cfg(feature = "restate")]
pub(super) use watched_fleet::WatchedFleet;
pub(super) use watched_run::WatchedRun;
