//! `tlaforge mcp`, driven as a client does.

mod client;
mod commands;
mod hostile;
mod jobs;
mod runs;
mod suites;
