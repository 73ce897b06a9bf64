//! `translate`, `parse` and `check` behind one trait.

mod beside;
mod both;
mod check;
mod contract;
mod discover;
mod embedded;
mod embedded_actions;
mod embedded_child;
mod embedded_output;
mod embedded_run;
mod examine;
mod explorer;
mod fallback;
mod fetch;
mod installation;
mod java;
mod lint;
mod logged;
mod pcal_output;
mod plan;
mod positions;
mod probe;
mod run;
mod sany_output;
mod scan;
mod static_checks;
mod tlc;
mod tlc_output;
mod trouble;
mod vacuity;

pub use beside::beside;
pub use both::{BothToolchains, Contradiction, Reporter, second_opinion};
pub use check::bounds;
pub use contract::{
    BoxFuture, CheckRequest, Checked, Limits, ParseOutcome, Probed, Progress, SpecText, ToolContext, ToolError,
    Toolchain, ToolchainInfo, Translation,
};
pub use discover::ToolPaths;
pub use embedded::EmbeddedToolchain;
pub use embedded_child::{CHECKER_MARKER, become_checker};
pub use embedded_run::memory_mib;
pub use examine::{Algorithm, EndedAt, Examined, examine};
pub use fallback::FallbackToolchain;
pub use fetch::{FETCHED_JAR_SHA256, FETCHED_PACKAGE, fetch_tools};
pub use installation::JavaToolchain;
pub use lint::{lint_cfg, lint_spec};
pub use logged::LoggedToolchain;
pub use scan::holds_algorithm;
