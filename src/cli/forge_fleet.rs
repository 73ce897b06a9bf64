//! `forge-all --engine`: what a run on a fleet starts from, and how it ended.

use serde::{Deserialize, Serialize};

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

/// How a run is when its process on a worker ends. The process prints it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct RunEnd {
    /// Whether nothing is left to do. Otherwise the run has stopped, and can be continued.
    pub has_ended: bool,
    /// In one line.
    pub outcome: String,
}

/// How the process of a run on a worker ended.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct JobEnd {
    /// The exit status of the run.
    pub status: u8,
    /// The state of the run when the process ended; `None` if it failed before it could say so.
    #[serde(default)]
    pub run: Option<RunEnd>,
    /// What it printed on standard error.
    pub errors: String,
}

impl JobEnd {
    /// Whether the process of the run reported how the run is. Otherwise the journal may not show why the job ended.
    pub(super) fn has_outcome(&self) -> bool {
        self.run.is_some()
    }

    /// The failure of a run that could not begin or continue.
    pub(super) fn into_failure(self) -> Failure {
        let exit = Exit::ALL.into_iter().map(|(exit, _)| exit).find(|exit| exit.code() == self.status);
        // A run that ended well has events.
        let exit = exit.filter(|exit| *exit != Exit::Ok).unwrap_or(Exit::Tool);
        Failure::new(
            exit,
            format!("a worker, with its own keys and flags, could not work on the run: {}", self.errors.trim()),
        )
    }
}
