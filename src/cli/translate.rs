//! `tlaforge translate`: the `PlusCal` algorithm of one module, translated. It decides nothing about specifications.

use clap::{Args as ClapArgs, ValueEnum};
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};

use serde_json::json;

use super::failure::{Fails, Failure};
use super::format::Format;
use super::settings::load_settings;
use super::signals::cancel_on_signals;
use super::spec_files::read_spec_verbatim;
use super::terminal::{print_json_line, print_message, print_result, write_stdout};
use super::tools::{discover_java_tools, tool_failure, tool_limits};
use crate::config::Layer;
use crate::exit::Exit;
use crate::pluscal::{self, Compat, Options};
use crate::tla::{Diagnostic, Module};
use crate::toolchain::{SpecText, ToolContext, Toolchain, Translation};

/// What translates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum TranslatorChoice {
    /// Our own, without Java.
    Embedded,
    /// `pcal.trans` of tla2tools.jar.
    Java,
}

/// Whose translation the embedded translator follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Whose {
    /// That of today's `pcal.trans`.
    Today,
    /// That of 2020, which the jar of the registries holds.
    #[value(name = "2020")]
    Of2020,
}

#[derive(Debug, ClapArgs)]
pub(super) struct TranslateArgs {
    /// The module. It is printed with its translation in place.
    pub spec: PathBuf,
    /// What translates.
    #[arg(long, value_enum, default_value = "embedded")]
    pub translator: TranslatorChoice,
    /// Write the translation into the file instead of printing it; a file that is rejected stays as it is.
    #[arg(long)]
    pub in_place: bool,
    /// Whose translation the embedded translator follows where the two differ [default: today].
    #[arg(long, value_enum, value_name = "WHOSE")]
    pub compat: Option<Whose>,
    /// tla2tools.jar, for --translator java [env: `TLA_TOOLS_JAR`, `TLA_JAR`].
    #[arg(long, value_name = "JAR")]
    pub tla_tools: Option<PathBuf>,
    /// `json` prints one object: outcome, module, diagnostics, warnings.
    #[arg(long, value_enum, default_value = "text", hide_possible_values = true, value_name = "text|json")]
    pub format: Format,
}

pub(super) async fn translate(args: TranslateArgs) -> Result<Exit, Failure> {
    if args.translator == TranslatorChoice::Java && args.compat.is_some() {
        return Err(Failure::usage("--compat chooses whose translation the embedded translator follows")
            .hint("with --translator java, the jar is the choice: --tla-tools JAR"));
    }
    let text = read_spec_verbatim(&args.spec)?;
    let (made, warnings) = match args.translator {
        TranslatorChoice::Embedded => embedded(&text, args.compat),
        TranslatorChoice::Java => (java(&args, text.clone()).await?, Vec::new()),
    };
    if args.in_place
        && let Translation::Translated(module) = &made
        && *module != text
    {
        replace(&args.spec, module)?;
    }
    match args.format {
        Format::Text => tell(&args, &made, &warnings),
        Format::Json => print_json_line(&object(&args, &made, &warnings)),
    }
    Ok(match made {
        Translation::Translated(_) => Exit::Ok,
        Translation::NoAlgorithm | Translation::Rejected(_) => Exit::Negative,
    })
}

fn embedded(text: &str, whose: Option<Whose>) -> (Translation, Vec<String>) {
    let compat = match whose.unwrap_or(Whose::Today) {
        Whose::Today => Compat::Today,
        Whose::Of2020 => Compat::Y2020,
    };
    match pluscal::translate(text, &Options { compat, ..Options::default() }) {
        Ok(Some(translated)) => (Translation::Translated(translated.text), translated.warnings),
        Ok(None) => (Translation::NoAlgorithm, Vec::new()),
        Err(diagnostics) => (Translation::Rejected(diagnostics), Vec::new()),
    }
}

async fn java(args: &TranslateArgs, text: String) -> Result<Translation, Failure> {
    let module = Module::parse(&text)
        .map_err(|e| Failure::usage(format!("{}: {e}", args.spec.display())).hint("give a file with a TLA+ module"))?;
    let settings = load_settings(Layer { tla_tools: args.tla_tools.clone(), ..Layer::default() })?;
    let tools = discover_java_tools(&settings).map_err(|e| tool_failure(&e))?;
    let (limits, cancel) = (tool_limits(&settings), cancel_on_signals());
    let cx = ToolContext { limits: &limits, cancel: &cancel, progress: &|_| {} };
    let spec = SpecText { name: module.name, text, local_modules: Vec::new() };
    tools.translate(&spec, &cx).await.map_err(|e| tool_failure(&e))
}

/// Writes the module beside its file and renames it: a reader sees the old text or the new one.
fn replace(spec: &Path, module: &str) -> Result<(), Failure> {
    let cannot = |e: std::io::Error| Failure::usage(format!("cannot write {}: {e}", spec.display()));
    // A link stays one.
    let file = spec.canonicalize().map_err(cannot)?;
    let permissions = std::fs::metadata(&file).map_err(cannot)?.permissions();
    if permissions.readonly() {
        return Err(Failure::usage(format!("cannot write {}: it is read-only", spec.display())));
    }
    let folder = file.parent().unwrap_or(Path::new("."));
    let mut new = tempfile::NamedTempFile::new_in(folder).map_err(cannot)?;
    new.write_all(module.as_bytes()).and_then(|()| new.as_file().sync_all()).map_err(cannot)?;
    std::fs::set_permissions(new.path(), permissions).map_err(cannot)?;
    new.persist(&file).fails(Exit::Usage)?;
    Ok(())
}

fn tell(args: &TranslateArgs, made: &Translation, warnings: &[String]) {
    let file = args.spec.display();
    for warning in warnings {
        print_message(&format!("warning: {file}: {warning}"));
    }
    match made {
        Translation::Translated(_) if args.in_place => print_message(&format!("{file}: translated")),
        // As it stands, line ends included, unless a terminal would act on it.
        Translation::Translated(module) if std::io::stdout().is_terminal() => print_result(module),
        Translation::Translated(module) => write_stdout(module.as_bytes()),
        Translation::NoAlgorithm => print_message(&format!("{file}: no PlusCal algorithm, nothing to translate")),
        Translation::Rejected(diagnostics) => {
            for diagnostic in diagnostics {
                print_message(&format!("{file}: {diagnostic}"));
            }
        }
    }
}

fn object(args: &TranslateArgs, made: &Translation, warnings: &[String]) -> serde_json::Value {
    let (outcome, module, diagnostics): (_, _, &[Diagnostic]) = match made {
        Translation::Translated(module) => ("translated", (!args.in_place).then_some(module), &[]),
        Translation::NoAlgorithm => ("no_algorithm", None, &[]),
        Translation::Rejected(diagnostics) => ("rejected", None, diagnostics),
    };
    json!({
        "schema": 1,
        "outcome": outcome,
        "translator": match args.translator {
            TranslatorChoice::Embedded => "embedded",
            TranslatorChoice::Java => "java",
        },
        "module": module,
        "diagnostics": diagnostics,
        "warnings": warnings,
    })
}
