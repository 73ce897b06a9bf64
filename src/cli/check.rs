//! `tlaforge check`: one specification, one verdict.

use std::path::Path;

use serde_json::{Value, json};

use super::args::{CheckArgs, Format};
use super::failure::Failure;
use super::forge::settings;
use super::progress::{Display, json_line, result};
use super::surroundings::{DEFECTS, Tools, cancel_on_signals, limits, tool_failure, toolchain};
use crate::exit::Exit;
use crate::files;
use crate::tla::{
    Bounds, CheckOutcome, Checker, Diagnostic, Lasso, Module, Reached, Stage, Verdict, WITHOUT_JAVA,
    describe_unreached, has_no_behaviour, outcome_text,
};
use crate::toolchain::{CheckReport, SpecText, ToolContext, TranslationMode, examine, local_modules, second_opinion};

pub(super) async fn check(args: CheckArgs) -> Result<Exit, Failure> {
    let text = read(&args.spec)?;
    let module = Module::parse(&text)
        .map_err(|e| Failure::usage(format!("{}: {e}", args.spec.display())).hint("give a file with a TLA+ module"))?;
    let cfg_path = args.config.clone().unwrap_or_else(|| args.spec.with_extension("cfg"));
    let cfg_text = read(&cfg_path).map_err(|f| f.hint("name the configuration with --config FILE"))?;
    let spec = SpecText { name: module.name.clone(), local_modules: local_modules(&args.spec, &module), text };
    let settings = settings(args.tools.layer())?;
    let Tools { toolchain, defects, .. } = toolchain(&settings, Path::new(DEFECTS))?;
    let limits = limits(&settings);
    let cancel = cancel_on_signals();
    let display = Display::new(args.format);
    let cx = ToolContext { limits: &limits, cancel: &cancel, progress: &|p| display.checking(&p) };

    let algorithm = if args.keep_translation { TranslationMode::KeepExisting } else { TranslationMode::Translate };
    display.begins(&format!("checking {} with {}", args.spec.display(), cfg_path.display()));
    let checked = match misnamed(&args.spec, &spec) {
        Some(diagnostic) => {
            let outcome = CheckOutcome::rejected(toolchain.checker(), Bounds::default(), vec![diagnostic]);
            Ok(CheckReport { outcome, output: String::new(), second_outcome: None })
        }
        None => examine(&*toolchain, spec, cfg_text, algorithm, &cx).await.map(|examined| examined.checked),
    };
    display.finish();
    let CheckReport { outcome, second_outcome: second, .. } = checked.map_err(|e| tool_failure(&e))?;
    match args.format {
        Format::Text => {
            let second = second.as_ref().map(|second| second_opinion(&outcome, second) + "\n").unwrap_or_default();
            result(&(outcome_text(&outcome, display.width()) + &second));
        }
        Format::Json => {
            let mut object = json_of(&outcome);
            if let Some(second) = &second {
                object["second"] = json_of(second);
            }
            json_line(&object);
        }
    }
    if defects.any() {
        return Ok(Exit::Defect);
    }
    let reached = |wanted: fn(&Reached) -> bool| outcome.witnesses.iter().any(|w| wanted(&w.reached));
    Ok(match outcome.verdict {
        // A state was asked for as well, and it cannot be reached; or nobody knows.
        Verdict::Holds if reached(|r| matches!(r, Reached::No)) => Exit::Negative,
        Verdict::Holds if has_no_behaviour(&outcome) => Exit::Negative,
        Verdict::Holds if reached(|r| matches!(r, Reached::Unknown(_))) => Exit::Undecided,
        Verdict::Holds => Exit::Ok,
        Verdict::Violated { .. } | Verdict::Invalid { .. } => Exit::Negative,
        Verdict::Inconclusive { .. } => Exit::Undecided,
    })
}

/// A module stands in a file of its name: nobody could extend it otherwise, and SANY takes it for no module at all.
fn misnamed(path: &Path, spec: &SpecText) -> Option<Diagnostic> {
    let stem = path.file_stem().filter(|_| path.extension().is_some_and(|extension| extension == "tla"))?;
    let stem = stem.to_string_lossy();
    let line = spec.text.lines().position(|line| line.contains("MODULE"))?;
    let (before, rest) = spec.text.lines().nth(line)?.split_once("MODULE")?;
    let column = before.chars().count() + "MODULE".len() + rest.len() - rest.trim_start().len() + 1;
    (stem != spec.name).then(|| Diagnostic {
        stage: Stage::Lint,
        line: line + 1,
        column,
        message: format!("the module is named {} and its file {stem}.tla: they must be the same", spec.name),
    })
}

/// Reads a file that will be written again, with its line ends.
pub(super) fn read_untouched(path: &Path) -> Result<String, Failure> {
    files::read_text(path, files::MEDIUM).map_err(|e| Failure::usage(format!("cannot read {}: {e}", path.display())))
}

/// Reads a module or a configuration. A lone carriage return ends a line for TLC, and so does it here.
pub(super) fn read(path: &Path) -> Result<String, Failure> {
    let text = read_untouched(path)?;
    Ok(if text.contains('\r') { text.replace("\r\n", "\n").replace('\r', "\n") } else { text })
}

/// The object that others build on (design, section 9).
pub(super) fn json_of(outcome: &CheckOutcome) -> Value {
    let (violated, reason) = match &outcome.verdict {
        Verdict::Holds => (None, describe_unreached(outcome)),
        Verdict::Violated { violated } => (Some(violated), None),
        Verdict::Invalid { violated, reason, .. } => (Some(violated), Some(reason.clone())),
        Verdict::Inconclusive { reason, .. } => (None, Some(reason.clone())),
    };
    let diagnostics = match &outcome.verdict {
        Verdict::Invalid { diagnostics, .. } => diagnostics.as_slice(),
        _ => &[],
    };
    let lasso = outcome.trace.as_ref().and_then(|t| t.lasso).map(|lasso| match lasso {
        Lasso::BackTo(step) => json!({"back_to": step}),
        Lasso::Stuttering(s) => json!({"stuttering": s}),
    });
    json!({
        "schema": 1,
        "verdict": outcome.verdict.name(),
        "reason": reason,
        "violated": violated,
        "diagnostics": diagnostics,
        "statistics": outcome.statistics,
        "bounds": outcome.bounds,
        "trace": outcome.trace.as_ref().map(|t| t.steps.as_slice()).unwrap_or_default(),
        "lasso": lasso,
        "coverage": outcome.coverage,
        "invariants": outcome.invariants,
        "properties": outcome.properties,
        "witnesses": outcome.witnesses,
        "warnings": outcome.warnings,
        "checker": outcome.checker,
        "note": (outcome.checker == Checker::Embedded).then_some(WITHOUT_JAVA),
        "version": outcome.version,
    })
}
