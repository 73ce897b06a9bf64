//! Peers written in Python, where `TLAFORGE_PEERS` names a Python that has them.

use std::ffi::OsStr;
use std::process::Command;

/// The lines that a script prints; `None`, with a line that says why, where the package is not there or fails.
pub(crate) fn python(package: &str, script: &str, arguments: &[&OsStr]) -> Option<Vec<String>> {
    let Some(python) = std::env::var_os("TLAFORGE_PEERS") else {
        println!("{package}: not asked, for TLAFORGE_PEERS names no Python");
        return None;
    };
    let output = match Command::new(&python).args(["-W", "ignore", "-c", script]).args(arguments).output() {
        Ok(output) => output,
        Err(error) => {
            println!("{package}: {} does not run: {error}", python.to_string_lossy());
            return None;
        }
    };
    let said = String::from_utf8_lossy(&output.stderr);
    if said.contains("ModuleNotFoundError") {
        println!("{package}: not installed there (PyPI `{package}`)");
        return None;
    }
    if !output.status.success() {
        println!("{package}: {}", said.lines().last().unwrap_or("it failed"));
        return None;
    }
    Some(String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect())
}
