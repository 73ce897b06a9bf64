//! `forge-all --engine`: what a run on a fleet starts from, and how it ended. In a build without the feature `restate` there is
//! no fleet.

use serde::{Deserialize, Serialize};

use super::engine_args::EngineArgs;
use super::failure::Failure;
use crate::config::Layer;
use crate::exit::Exit;
use crate::monitor::RunObjective;
use crate::pipeline::Interface;
use crate::prompt::Documents;

/// What a run on a fleet starts from.
#[cfg_attr(not(feature = "restate"), expect(dead_code, reason = "there is no fleet to read it"))]
pub(super) struct NewWork {
    pub documents: Documents,
    pub interface: Interface,
    pub settings: Layer,
    pub objective: Option<RunObjective>,
    /// Name and text of the policy file.
    pub policy: Option<(String, String)>,
}

/// How the process of a run on a worker ended.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct JobEnd {
    /// The exit status of the run.
    pub status: u8,
    /// What it printed on standard error.
    pub errors: String,
}

impl JobEnd {
    /// The failure of a run that could not begin or continue.
    pub(super) fn into_failure(self) -> Failure {
        let exit = Exit::ALL.into_iter().map(|(exit, _)| exit).find(|exit| exit.code() == self.status);
        // A run that ended well has events.
        let exit = exit.filter(|exit| *exit != Exit::Ok).unwrap_or(Exit::Tool);
        Failure::new(exit, format!("a worker could not work on the run: {}", self.errors.trim()))
    }
}

/// The fleet of `--engine`, for runs below the address `runs`.
pub(super) fn connect_fleet(args: &EngineArgs, runs: Option<&str>) -> Result<Option<Fleet>, Failure> {
    match (&args.engine, runs) {
        (None, _) => Ok(None),
        (Some(_), Some(runs)) => Fleet::connect(args, runs).map(Some),
        (Some(_), None) => Err(Failure::usage("--engine needs the address where the workers have the runs").hint(
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

    use super::{EngineArgs, Failure, JobEnd, NewWork};
    use crate::cli::engine::missing_feature;
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
