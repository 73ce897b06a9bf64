//! The live page: what a run does now, and below it the page that `report --html` writes, served on loopback while the
//! run goes on. `tlaforge watch` serves it for a run of another process, `run --watch` for its own.

mod followed_run;
mod run_snapshot;
mod server;
mod status;
mod watched_run;

pub(super) use server::LiveServer;
pub(super) use status::Status;
pub(super) use watched_run::WatchedRun;
