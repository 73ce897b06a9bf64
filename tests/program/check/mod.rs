//! `tlaforge check`, with TLC.
#![allow(clippy::unwrap_used, reason = "a test fails where its own preparation does")]

mod advice;
mod branches;
mod command;
mod distributed;
mod each_property;
mod errors;
mod files;
mod places;
mod positions;
mod times;
mod traces;
