//! `translate`, `parse` and `check` behind one trait.

mod contract;

pub use contract::{
    BoxFuture, CheckRequest, Checked, Limits, ParseOutcome, Progress, SpecText, ToolContext, ToolError, Toolchain,
    ToolchainInfo, Translation,
};
