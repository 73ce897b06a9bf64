//! For other programs of this workspace: the frame of a program, the flags and settings of a model, and the output. With
//! it, such a program treats keys, settings, signals and exit statuses exactly as `tlaforge` does.
//!
//! [`run_program`] is the frame. A command in it merges [`ModelArgs::layer`] into settings with [`load_settings`], gets a
//! model with [`create_configured_caller`], and ends with an exit status or a [`Failure`].

pub use super::diagnostics::DiagnosticsArgs;
pub use super::failure::{Fails, Failure};
pub use super::format::Format;
pub use super::model_client::{ModelArgs, create_configured_caller, exit_of_failed_call};
pub use super::program::run_program;
pub use super::settings::load_settings;
pub use super::terminal::{is_interactive, print_json_line, print_message, print_result};
pub use super::value_parsers::parse_positive;
