//! The `tlaforge` program. Everything it does is in the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    tlaforge::cli::main()
}
