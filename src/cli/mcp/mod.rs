//! `tlaforge mcp`: a server of the Model Context Protocol on standard input and output, so that an agent can check, mutate
//! and forge. `transport` carries the lines, `server` answers the protocol, `calls` maps each tool to its work; every command
//! runs as a child (`own_program`), because standard output belongs to the protocol.

mod allowed_folders;
mod calls;
mod command;
mod forging;
mod handoff_requests;
mod job_calls;
mod jobs;
mod own_program;
mod pending_requests;
mod question;
mod question_text;
mod resources;
mod run_state;
mod server;
mod session;
mod shortened;
mod tool_arguments;
mod tool_list;
mod tool_result;
mod transport;
mod waiting;

pub(super) use command::{McpArgs, mcp};
