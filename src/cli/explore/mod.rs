//! `tlaforge explore`: steps through a specification at a prompt, or by commands of a file or of the command line. The states are those
//! of a child of this program (`toolchain`); here are the commands and their output.

mod command;
mod commands;
mod exploration;
mod output;
mod prompt;

pub(super) use command::{ExploreArgs, explore};
