//! `--engine`: where checks run. In this process by default; a build with the feature `restate` can also send them to workers
//! (`fleet`).

use std::num::NonZeroUsize;
use std::sync::Arc;

pub(super) use super::engine_args::EngineArgs;
use super::engine_args::refuse_both;
use super::failure::Failure;
use crate::config::{CheckerChoice, Settings};
use crate::mutation::{Engine, Judge, LocalEngine};
use crate::toolchain::{Limits, RemoteWorkers, ToolContext, Toolchain, WorkerPlacement};

/// Refuses what cannot work with the engine, before anything is checked.
pub(super) fn check_engine(args: &EngineArgs, settings: &Settings) -> Result<(), Failure> {
    if args.engine.is_some() {
        refuse_both(Some(settings.checker))?;
    }
    connect::check(args)
}

/// Where mutants are judged.
pub(super) fn create_engine<'a>(
    args: &EngineArgs,
    judge: &'a Judge<'a>,
    checker: CheckerChoice,
    cx: &'a ToolContext<'a>,
) -> Result<Box<dyn Engine + 'a>, Failure> {
    Ok(match connect::connect(args, checker, cx.limits)? {
        None => Box::new(LocalEngine { judge, cx }),
        Some(connection) => connection.mutant_engine(judge, cx),
    })
}

/// Tools whose checks run on workers with `--engine`, and in this process without. They translate and parse here.
pub(super) struct EngineTools {
    pub toolchain: Box<dyn Toolchain>,
    connection: Option<Arc<connect::Connection>>,
}

impl EngineTools {
    pub(super) fn new(
        args: &EngineArgs,
        checker: CheckerChoice,
        limits: &Limits,
        local: Box<dyn Toolchain>,
    ) -> Result<Self, Failure> {
        Ok(match connect::connect(args, checker, limits)?.map(Arc::new) {
            None => Self { toolchain: local, connection: None },
            Some(connection) => {
                Self { toolchain: remote_toolchain(connection.clone(), local), connection: Some(connection) }
            }
        })
    }

    /// Ends what was submitted and is not finished, after a failure or an interruption.
    pub(super) async fn cancel_submitted(&self) {
        if let Some(connection) = &self.connection {
            connection.cancel_submitted().await;
        }
    }
}

/// Workers of an engine in a search of TLC's distributed mode. Without `--engine`, the user starts them.
#[derive(Default)]
pub(super) struct SearchWorkers {
    pub remote: Option<Box<dyn RemoteWorkers>>,
    connection: Option<Arc<connect::Connection>>,
}

impl SearchWorkers {
    /// `count` workers for this server.
    pub(super) fn new(
        args: &EngineArgs,
        count: NonZeroUsize,
        server: &WorkerPlacement,
        settings: &Settings,
        limits: &Limits,
    ) -> Result<Self, Failure> {
        let connected = connect_search(args, count, server, settings, limits)?;
        let (remote, connection) = connected.map(|search| (search.remote, search.connection)).unzip();
        Ok(Self { remote, connection })
    }

    /// Cancels jobs that still wait for a server that has ended.
    pub(super) async fn cancel_submitted(&self) {
        if let Some(connection) = &self.connection {
            connection.cancel_submitted().await;
        }
    }
}

#[cfg(feature = "restate")]
use super::{fleet as connect, fleet_search::connect_search, fleet_tools::remote_toolchain};
#[cfg(not(feature = "restate"))]
use connect::{connect_search, remote_toolchain};

/// The same functions in a build without the feature.
#[cfg(not(feature = "restate"))]
mod connect {
    use super::{
        Arc, CheckerChoice, Engine, EngineArgs, Failure, Judge, Limits, NonZeroUsize, RemoteWorkers, Settings,
        ToolContext, Toolchain, WorkerPlacement, missing_feature,
    };

    pub(super) enum Connection {}

    pub(super) fn check(args: &EngineArgs) -> Result<(), Failure> {
        if args.engine.is_some() { Err(missing_feature("--engine")) } else { Ok(()) }
    }

    pub(super) fn connect(args: &EngineArgs, _: CheckerChoice, _: &Limits) -> Result<Option<Connection>, Failure> {
        check(args).map(|()| None)
    }

    pub(super) struct SearchConnection {
        pub remote: Box<dyn RemoteWorkers>,
        pub connection: Arc<Connection>,
    }

    pub(super) fn connect_search(
        args: &EngineArgs,
        _: NonZeroUsize,
        _: &WorkerPlacement,
        _: &Settings,
        _: &Limits,
    ) -> Result<Option<SearchConnection>, Failure> {
        check(args).map(|()| None)
    }

    #[expect(clippy::needless_pass_by_value, reason = "as in a build with the feature")]
    pub(super) fn remote_toolchain(connection: Arc<Connection>, _: Box<dyn Toolchain>) -> Box<dyn Toolchain> {
        match *connection {}
    }

    impl Connection {
        pub(super) fn mutant_engine<'a>(self, _: &'a Judge<'a>, _: &'a ToolContext<'a>) -> Box<dyn Engine + 'a> {
            match self {}
        }

        #[expect(clippy::unused_async, reason = "as in a build with the feature")]
        pub(super) async fn cancel_submitted(&self) {
            match *self {}
        }
    }
}

#[cfg(not(feature = "restate"))]
pub(super) fn missing_feature(what: &str) -> Failure {
    Failure::usage(format!("this build of tlaforge has no {what}"))
        .hint("build it with the feature `restate`: cargo install --path . --features restate")
}
