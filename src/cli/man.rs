//! `tlaforge man`: manual pages, one for each command.

use std::path::PathBuf;

use clap::{Args as ClapArgs, CommandFactory as _};

use super::args::Args;
use super::failure::Failure;
use super::terminal::print_message;
use crate::exit::Exit;

#[derive(Debug, ClapArgs)]
pub(super) struct ManArgs {
    /// Folder to write the pages to, for example a `man1` folder on the MANPATH; earlier pages there are replaced.
    pub dir: PathBuf,
}

pub(super) fn man(args: &ManArgs) -> Result<Exit, Failure> {
    let dir = args.dir.display();
    let failed = |e: std::io::Error| Failure::usage(format!("cannot write manual pages to {dir}: {e}"));
    std::fs::create_dir_all(&args.dir).map_err(failed)?;
    // A page for `help` itself would only repeat the others.
    clap_mangen::generate_to(Args::command().disable_help_subcommand(true), &args.dir).map_err(failed)?;
    print_message(&format!("wrote the manual pages to {dir}; read one with: man -l {dir}/tlaforge.1"));
    Ok(Exit::Ok)
}
