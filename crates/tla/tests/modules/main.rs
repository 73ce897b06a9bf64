//! The `tla` module: modules, configurations, merging, properties.
#![allow(clippy::unwrap_used, reason = "a test fails where its own preparation does")]

mod cfg;
mod merge;
mod module;
mod properties;
