//! The `tlaforge-experiments` program; everything is in the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    tlaforge_experiments::main()
}
