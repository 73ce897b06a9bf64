//! `tlaforge man`: manual pages, one for each command.

use std::path::PathBuf;

use clap::{Args as ClapArgs, Command};

use super::failure::Failure;
use super::terminal::print_message;
use crate::exit::Exit;

#[derive(Debug, ClapArgs)]
pub(super) struct ManArgs {
    /// Folder to write the pages to, for example a `man1` folder on the MANPATH; earlier pages there are replaced.
    pub dir: PathBuf,
}

pub(super) fn man(args: &ManArgs, command: Command) -> Result<Exit, Failure> {
    let dir = args.dir.display();
    let failed = |e: std::io::Error| Failure::usage(format!("cannot write manual pages to {dir}: {e}"));
    std::fs::create_dir_all(&args.dir).map_err(failed)?;
    clap_mangen::generate_to(command, &args.dir).map_err(failed)?;
    print_message(&format!("wrote the manual pages to {dir}; read one with: man -l {dir}/tlaforge.1"));
    Ok(Exit::Ok)
}
