//! `tlaforge translate`: translates the `PlusCal` algorithm of a module to TLA+.

use clap::{Args as ClapArgs, ValueEnum};
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};

use serde_json::json;

use super::failure::{Fails, Failure};
use super::format::{Format, value_names};
use super::settings::load_settings;
use super::signals::cancel_on_signals;
use super::snippet::Snippet;
use super::snippet_text::render;
use super::spec_files::{read_spec_verbatim, with_newlines};
use super::terminal::{is_colored, print_json_line, print_message, print_result, write_stderr, write_stdout};
use super::tools::{discover_java_tools, tool_failure, tool_limits};
use crate::config::Layer;
use crate::exit::Exit;
use crate::pluscal::{Compat, Options};
use crate::tla::{Diagnostic, Module};
use crate::toolchain::translate_pluscal;
use crate::toolchain::{SpecText, ToolContext, Toolchain, Translation};

/// Translator of PlusCal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum TranslatorChoice {
    /// The embedded translator; no Java needed.
    Embedded,
    /// `pcal.trans` of tla2tools.jar.
    Java,
}

/// Version of `pcal.trans` whose output the embedded translator reproduces.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum PcalVersion {
    /// The current `pcal.trans`.
    Today,
    /// The version of 2020, which the jar on PyPI contains.
    #[value(name = "2020")]
    Year2020,
}

#[derive(Debug, ClapArgs)]
pub(super) struct TranslateArgs {
    /// Module to translate. It is printed with the translation inserted.
    pub spec: PathBuf,
    /// Translator to use.
    #[arg(long, value_enum, default_value = "embedded")]
    pub translator: TranslatorChoice,
    /// Write the translation into the file instead of printing it. A rejected file is not changed.
    #[arg(long)]
    pub in_place: bool,
    /// Version of `pcal.trans` that the embedded translator follows where versions differ [default: today].
    #[arg(long, value_enum, value_name = "VERSION")]
    pub compat: Option<PcalVersion>,
    /// Path of tla2tools.jar, for --translator java [env: `TLA_TOOLS_JAR`, `TLA_JAR`].
    #[arg(long, value_name = "JAR")]
    pub tla_tools: Option<PathBuf>,
    /// Output format; `json` prints one object with outcome, module, diagnostics and warnings.
    #[arg(long, value_enum, default_value = "text", hide_possible_values = true, value_name = value_names::<Format>())]
    pub format: Format,
}

pub(super) async fn translate(args: TranslateArgs) -> Result<Exit, Failure> {
    if args.translator == TranslatorChoice::Java && args.compat.is_some() {
        return Err(Failure::usage("--compat only applies to the embedded translator")
            .hint("with --translator java, choose the version with the jar: --tla-tools JAR"));
    }
    let text = read_spec_verbatim(&args.spec)?;
    let (made, warnings) = match args.translator {
        TranslatorChoice::Embedded => translate_embedded(&text, args.compat),
        TranslatorChoice::Java => (translate_java(&args, text.clone()).await?, Vec::new()),
    };
    if args.in_place
        && let Translation::Translated(module) = &made
        && *module != text
    {
        replace_file(&args.spec, module)?;
    }
    match args.format {
        Format::Text => print_translation(&args, &text, &made, &warnings),
        Format::Json => print_json_line(&translation_json(&args, &made, &warnings)),
    }
    Ok(match made {
        Translation::Translated(_) => Exit::Ok,
        Translation::NoAlgorithm | Translation::Rejected(_) => Exit::Negative,
    })
}

fn translate_embedded(text: &str, version: Option<PcalVersion>) -> (Translation, Vec<String>) {
    let compat = match version.unwrap_or(PcalVersion::Today) {
        PcalVersion::Today => Compat::Today,
        PcalVersion::Year2020 => Compat::Y2020,
    };
    match translate_pluscal(text, &Options { compat, ..Options::default() }) {
        Ok(Some(translated)) => (Translation::Translated(translated.text), translated.warnings),
        Ok(None) => (Translation::NoAlgorithm, Vec::new()),
        Err(diagnostics) => (Translation::Rejected(diagnostics), Vec::new()),
    }
}

async fn translate_java(args: &TranslateArgs, text: String) -> Result<Translation, Failure> {
    let module = Module::parse(&text)
        .map_err(|e| Failure::usage(format!("{}: {e}", args.spec.display())).hint("give a file with a TLA+ module"))?;
    let settings = load_settings(Layer { tla_tools: args.tla_tools.clone(), ..Layer::default() })?;
    let tools = discover_java_tools(&settings).map_err(|e| tool_failure(&e))?;
    let (limits, cancel) = (tool_limits(&settings)?, cancel_on_signals());
    let cx = ToolContext { limits: &limits, cancel: &cancel, progress: &|_| {} };
    let spec = SpecText { name: module.name, text, local_modules: Vec::new() };
    tools.translate(&spec, &cx).await.map_err(|e| tool_failure(&e))
}

/// Replaces the file atomically by renaming a temporary file, so that a reader never sees a partial text.
fn replace_file(spec: &Path, module: &str) -> Result<(), Failure> {
    let cannot = |e: std::io::Error| Failure::usage(format!("cannot write {}: {e}", spec.display()));
    // Write to the target of a symbolic link, to keep the link.
    let file = spec.canonicalize().map_err(cannot)?;
    let permissions = std::fs::metadata(&file).map_err(cannot)?.permissions();
    if permissions.readonly() {
        return Err(Failure::usage(format!("cannot write {}: it is read-only", spec.display())));
    }
    let folder = file.parent().unwrap_or(Path::new("."));
    // In the same folder, because a rename is atomic only within a file system.
    let mut new = tempfile::NamedTempFile::new_in(folder).map_err(cannot)?;
    new.write_all(module.as_bytes()).and_then(|()| new.as_file().sync_all()).map_err(cannot)?;
    // Only the owner can read a temporary file.
    std::fs::set_permissions(new.path(), permissions).map_err(cannot)?;
    new.persist(&file).fails(Exit::Usage)?;
    Ok(())
}

fn print_translation(args: &TranslateArgs, text: &str, made: &Translation, warnings: &[String]) {
    let file = args.spec.display();
    for warning in warnings {
        print_message(&format!("warning: {file}: {warning}"));
    }
    match made {
        Translation::Translated(_) if args.in_place => print_message(&format!("{file}: translated")),
        // Unchanged, including line ends, except for a terminal, where control characters are replaced.
        Translation::Translated(module) if std::io::stdout().is_terminal() => print_result(module),
        Translation::Translated(module) => write_stdout(module.as_bytes()),
        Translation::NoAlgorithm => print_message(&format!("{file}: no PlusCal algorithm, nothing to translate")),
        Translation::Rejected(diagnostics) => {
            let text = with_newlines(text);
            for diagnostic in diagnostics {
                match diagnostic.span(&text) {
                    Some(span) => {
                        let snippet = Snippet::new(file.to_string(), &text, span);
                        let shown =
                            render(&snippet, Some(&diagnostic.without_position()), &[], is_colored(&std::io::stderr()));
                        write_stderr(&format!("{shown}\n"));
                    }
                    None => print_message(&format!("error: {file}: {diagnostic}")),
                }
            }
        }
    }
}

fn translation_json(args: &TranslateArgs, made: &Translation, warnings: &[String]) -> serde_json::Value {
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
