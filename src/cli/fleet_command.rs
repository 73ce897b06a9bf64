//! `tlaforge fleet`: what the workers of an engine do, and the limits that they share.

use super::failure::Failure;
use super::fleet_args::FleetArgs;
#[cfg(feature = "restate")]
use super::fleet_args::FleetCommand;
use crate::exit::Exit;

#[cfg(not(feature = "restate"))]
#[expect(clippy::unused_async, reason = "as in a build with the feature")]
pub(super) async fn fleet(_: FleetArgs) -> Result<Exit, Failure> {
    Err(super::engine::missing_feature("fleet"))
}

#[cfg(feature = "restate")]
pub(super) async fn fleet(args: FleetArgs) -> Result<Exit, Failure> {
    match args.command {
        FleetCommand::Status(args) => super::fleet_status::show_status(&args).await,
        FleetCommand::Limits(args) => super::fleet_limits::limits(args).await,
    }
}
