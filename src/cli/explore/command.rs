//! The command: its arguments, and its commands one after the other.

use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};

use clap::Args as ClapArgs;

use super::commands::Command;
use super::exploration::Exploration;
use super::output::{CommandOutput, overview, run_command};
use super::prompt;
use crate::cli::checking::LoadedSpec;
use crate::cli::failure::Failure;
use crate::cli::format::Format;
use crate::cli::progress::Display;
use crate::cli::settings::load_settings;
use crate::cli::signals::cancel_on_signals;
use crate::cli::spec_files::read_spec;
use crate::cli::terminal::{print_json_line, print_message, print_result};
use crate::cli::tool_args::ToolArgs;
use crate::cli::tools::{embedded_tools, tool_limits};
use crate::cli::translated::{require_parsed, translate};
use crate::exit::Exit;
use crate::toolchain::{CheckRequest, ToolContext};

#[derive(Debug, ClapArgs)]
pub(in crate::cli) struct ExploreArgs {
    /// Module of the specification, or a run.
    #[arg(value_name = "SPEC|RUN")]
    pub spec: PathBuf,
    /// Configuration file [default: the .cfg file with the name of the module, in the same folder].
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Run the commands of this file, one on a line, instead of asking for them; `-` is standard input.
    #[arg(long, value_name = "FILE")]
    pub steps: Option<PathBuf>,
    /// Run this command instead of asking. Can be repeated.
    #[arg(long = "do", value_name = "COMMAND", conflicts_with = "steps")]
    pub commands: Vec<String>,
    #[command(flatten)]
    pub tools: ToolArgs,
    /// Output format; `json` prints an object for each command.
    #[arg(long, value_enum, default_value = "text", value_name = "FORMAT")]
    pub format: Format,
}

pub(in crate::cli) async fn explore(args: ExploreArgs) -> Result<Exit, Failure> {
    let settings = load_settings(args.tools.layer())?;
    let limits = tool_limits(&settings)?;
    let commands = match &args.steps {
        Some(file) => Some(read_commands(file)?),
        None if !args.commands.is_empty() => Some(args.commands.clone()),
        None if !std::io::stdin().is_terminal() => Some(read_commands(Path::new("-"))?),
        None => None,
    };
    let (mut loaded, _) = LoadedSpec::read_with_run(&args.spec, args.config.as_deref(), &limits.libraries)?;
    let cfg = loaded.behaviour_cfg()?;
    let cancel = cancel_on_signals();
    let display = Display::new(args.format);
    let cx = ToolContext { limits: &limits, cancel: &cancel, progress: &|p| display.show_check_progress(&p) };
    let tools = embedded_tools()?;
    translate(&mut loaded, &tools, &cx).await?;
    require_parsed(&loaded, &tools, &cx).await?;
    let request = CheckRequest { spec: loaded.spec.clone(), cfg_text: loaded.cfg_text.clone(), cfg };
    let mut exploration = Exploration::start(&tools, request, &cx).await?;
    let Some(commands) = commands else { return prompt::ask(&mut exploration).await };
    let mut exit = Exit::Ok;
    let first = overview(&exploration);
    print_output(args.format, None, &Ok(first));
    for text in commands {
        if text.trim().is_empty() || text.trim_start().starts_with('#') {
            continue;
        }
        let output = match Command::parse(&text) {
            Ok(Command::Quit) => break,
            Ok(command) => run_command(&mut exploration, &command).await,
            Err(why) => Err(why),
        };
        if output.is_err() {
            exit = Exit::Usage;
        }
        print_output(args.format, Some(text.trim()), &output);
    }
    Ok(exit)
}

/// Prints the output of a command, after the command itself.
fn print_output(format: Format, command: Option<&str>, output: &Result<CommandOutput, String>) {
    match (format, output) {
        (Format::Json, Ok(output)) => {
            let mut value = serde_json::to_value(output).unwrap_or_default();
            if let (Some(object), Some(command)) = (value.as_object_mut(), command) {
                object.insert("command".to_owned(), command.into());
            }
            print_json_line(&value);
        }
        (Format::Json, Err(why)) => print_json_line(&serde_json::json!({ "command": command, "error": why })),
        (Format::Text, output) => {
            if let Some(command) = command {
                print_result(&format!("> {command}\n"));
            }
            match output {
                Ok(output) => print_result(&(output.text() + "\n")),
                Err(why) => print_message(&format!("error: {why}")),
            }
        }
    }
}

fn read_commands(file: &Path) -> Result<Vec<String>, Failure> {
    let text = if file == Path::new("-") {
        std::io::read_to_string(std::io::stdin())
            .map_err(|e| Failure::usage(format!("cannot read standard input: {e}")))?
    } else {
        read_spec(file)?
    };
    Ok(text.lines().map(str::to_owned).collect())
}
