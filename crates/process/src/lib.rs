//! Starts child processes, each in its own process group and with a clean environment, under a deadline and a cancel
//! signal. Nothing is left behind even if our own process is killed, except by [`start_detached`]. It knows nothing of Java,
//! models or specifications.

mod cancel;
mod command;
mod detached;
mod lifeline;
mod open_files;
mod terminal_child;
mod unfinished_span;
mod watch;

pub use cancel::Cancel;
pub use command::{Command, Ended, ProcessError, Status};
pub use detached::start_detached;
pub use lifeline::run_while_parent_lives;
pub use open_files::allow_many_open_files;
pub use terminal_child::run_in_terminal;
pub use unfinished_span::UnfinishedSpan;
pub use watch::{Scratch, remove_folder};
