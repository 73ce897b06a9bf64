//! The `tlaforge` program; everything is in the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    tlaforge::cli::main()
}
