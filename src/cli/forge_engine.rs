//! The fleet of `forge-all --engine`. In a build without the feature `restate` there is none.

use super::engine_args::EngineArgs;
use super::failure::Failure;

/// The fleet of `--engine`, for runs below the address `runs`.
pub(super) fn connect_fleet(args: &EngineArgs, runs: Option<&str>) -> Result<Option<Fleet>, Failure> {
    match (&args.engine, runs) {
        (None, _) => Ok(None),
        (Some(_), Some(runs)) => Fleet::connect(args, runs).map(Some),
        (Some(_), None) => Err(Failure::usage("--engine needs --runs, the address of the runs in the shared store").hint(
            "add --runs ADDRESS, such as s3://BUCKET/runs or file:///FOLDER; workers are started with the same flag",
        )),
    }
}

#[cfg(feature = "restate")]
pub(super) use super::fleet_runs::Fleet;
#[cfg(not(feature = "restate"))]
pub(super) use without_fleet::Fleet;

/// The same functions in a build without the feature.
#[cfg(not(feature = "restate"))]
mod without_fleet {
    use std::path::Path;

    use super::{EngineArgs, Failure};
    use crate::cli::engine::missing_feature;
    use crate::cli::forge_fleet::{JobEnd, NewWork};
    use crate::cli::run_place::RunPlace;
    use crate::process::Cancel;

    pub(in crate::cli) enum Fleet {}

    impl Fleet {
        pub(super) fn connect(_: &EngineArgs, _: &str) -> Result<Self, Failure> {
            Err(missing_feature("--engine"))
        }

        pub(in crate::cli) fn place(&self, _: &str, _: &Path) -> Result<RunPlace, Failure> {
            match *self {}
        }

        #[expect(clippy::unused_async, reason = "as in a build with the feature")]
        pub(in crate::cli) async fn forge(&self, _: &RunPlace, _: NewWork, _: &Cancel) -> Result<JobEnd, Failure> {
            match *self {}
        }

        #[expect(clippy::unused_async, reason = "as in a build with the feature")]
        pub(in crate::cli) async fn cancel_submitted(&self) {
            match *self {}
        }
    }
}
