//! `tlaforge check`: one specification, one verdict.

use std::path::Path;

use serde_json::{Value, json};

use super::args::{CheckArgs, Format};
use super::failure::Failure;
use super::forge::settings;
use super::progress::{Display, json_line, result};
use super::surroundings::{DEFECTS, Tools, cancel_on_signals, limits, tool_failure, toolchain};
use crate::exit::Exit;
use crate::tla::{
    Bounds, Cfg, CheckOutcome, Checker, Diagnostic, Lasso, Module, Reached, Stage, Verdict, WITHOUT_JAVA, keyword_hint,
    outcome_text, unreached,
};
use crate::toolchain::{
    CheckRequest, Checked, ParseOutcome, SpecText, ToolContext, ToolError, Toolchain, Translation, bounds,
};

pub(super) async fn check(args: CheckArgs) -> Result<Exit, Failure> {
    let text = read(&args.spec)?;
    let module = Module::parse(&text)
        .map_err(|e| Failure::usage(format!("{}: {e}", args.spec.display())).hint("give a file with a TLA+ module"))?;
    let cfg_path = args.config.clone().unwrap_or_else(|| args.spec.with_extension("cfg"));
    let cfg_text = read(&cfg_path).map_err(|f| f.hint("name the configuration with --config FILE"))?;
    let spec = SpecText { name: module.name.clone(), beside: beside(&args.spec, &module), text };
    let settings = settings(args.tools.layer())?;
    let Tools { toolchain, defects, .. } = toolchain(&settings, Path::new(DEFECTS))?;
    let limits = limits(&settings);
    let cancel = cancel_on_signals();
    let display = Display::new(args.format);
    let cx = ToolContext { limits: &limits, cancel: &cancel, progress: &|p| display.checking(&p) };

    display.begins(&format!("checking {} with {}", args.spec.display(), cfg_path.display()));
    let checked = run(&*toolchain, spec, cfg_text, &cx).await;
    display.finish();
    let Checked { outcome, second, .. } = checked?;
    match args.format {
        Format::Text => result(&outcome_text(&outcome, display.width())),
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
        Verdict::Holds if reached(|r| matches!(r, Reached::Unknown(_))) => Exit::Undecided,
        Verdict::Holds => Exit::Ok,
        Verdict::Violated { .. } | Verdict::Invalid { .. } => Exit::Negative,
        Verdict::Inconclusive { .. } => Exit::Undecided,
    })
}

async fn run(
    tools: &dyn Toolchain,
    mut spec: SpecText,
    cfg_text: String,
    cx: &ToolContext<'_>,
) -> Result<Checked, Failure> {
    let invalid = |bounds, diagnostics| {
        let outcome = CheckOutcome::rejected(tools.checker(), bounds, diagnostics);
        Checked { outcome, output: String::new(), second: None }
    };
    let cfg = match Cfg::parse(&cfg_text) {
        Ok(cfg) => cfg,
        Err(diagnostic) => return Ok(invalid(Bounds::default(), vec![diagnostic])),
    };
    let mut lines = Lines { original: spec.text.clone(), translated: None };
    match tools.translate(&spec, cx).await.map_err(|e| tool_failure(&e))? {
        Translation::NoAlgorithm => {}
        Translation::Translated(text) => {
            lines.translated = (text != spec.text).then(|| text.clone());
            spec.text = text;
        }
        Translation::Rejected(diagnostics) => return Ok(invalid(bounds(&cfg), diagnostics)),
    }
    match tools.parse(&spec, cx).await {
        Ok(ParseOutcome::Accepted { .. }) => {}
        Ok(ParseOutcome::Rejected(mut diagnostics)) => {
            lines.put_back(&mut diagnostics);
            return Ok(invalid(bounds(&cfg), diagnostics));
        }
        Err(undecided @ ToolError::NotAnalysed { .. }) => {
            let mut checked = invalid(bounds(&cfg), Vec::new());
            checked.outcome.verdict = Verdict::Inconclusive { reason: undecided.to_string() };
            return Ok(checked);
        }
        Err(e) => return Err(tool_failure(&e)),
    }
    let undeclared = undeclared(&spec.text, &cfg, &cfg_text);
    if !undeclared.is_empty() {
        return Ok(invalid(bounds(&cfg), undeclared));
    }
    let request = CheckRequest { spec, cfg_text, cfg };
    let mut checked = tools.check(&request, cx).await.map_err(|e| tool_failure(&e))?;
    if let Verdict::Invalid { diagnostics, reason, .. } = &mut checked.outcome.verdict {
        let said = diagnostics.first().is_some_and(|first| first.message == *reason);
        lines.put_back(diagnostics);
        if said && let Some(first) = diagnostics.first() {
            reason.clone_from(&first.message);
        }
    }
    Ok(checked)
}

/// The user's own text and its translated copy: tools count lines in the copy.
struct Lines {
    original: String,
    /// Where it differs.
    translated: Option<String>,
}

impl Lines {
    /// Puts places in the copy back to the lines of the user's file; what stands only in the copy is quoted.
    fn put_back(&self, diagnostics: &mut [Diagnostic]) {
        let Some(translated) = &self.translated else { return };
        let (ours, theirs): (Vec<&str>, Vec<&str>) = (self.original.lines().collect(), translated.lines().collect());
        let same = |pairs: &mut dyn Iterator<Item = (&&str, &&str)>| pairs.take_while(|(a, b)| a == b).count();
        let before = same(&mut ours.iter().zip(&theirs));
        let behind = same(&mut ours[before..].iter().rev().zip(theirs[before..].iter().rev()));
        // The place of a module beside it is one of that file.
        for diagnostic in diagnostics.iter_mut().filter(|d| d.line > before && !d.message.starts_with("in module ")) {
            if diagnostic.line > theirs.len() - behind {
                diagnostic.line = (diagnostic.line + ours.len()).saturating_sub(theirs.len());
            } else if let Some(text) = theirs.get(diagnostic.line - 1) {
                diagnostic.message =
                    format!("{} (in the translation of the algorithm: `{}`)", diagnostic.message.trim(), text.trim());
                (diagnostic.line, diagnostic.column) = (0, 0);
            }
        }
    }
}

/// Names of the configuration that TLC passes over in silence though the module has none such. A value for a constant
/// that is not there: the verdict would name a bound that bounds nothing (a model value that only names itself does no
/// harm). A witness that is not there: nothing would be looked for.
fn undeclared(text: &str, cfg: &Cfg, cfg_text: &str) -> Vec<Diagnostic> {
    let Ok(module) = Module::parse(text) else { return Vec::new() };
    if !module.is_self_contained() {
        return Vec::new();
    }
    let variables = module.variable_names();
    let own = |name: &str| {
        module.constants.iter().any(|c| c.name == name) || module.definition(name).is_some() || variables.contains(name)
    };
    let is_name = |key: &str| key.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    let found = |name: &str, message: String| {
        let mentions = |line: &str| line.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == name);
        let line = cfg_text.lines().position(mentions).map_or(0, |at| at + 1);
        Diagnostic { stage: Stage::Config, line, column: usize::from(line > 0), message }
    };
    let values = cfg
        .constants
        .iter()
        .filter(|(key, value)| is_name(key) && !value.starts_with("<-") && value != key && !own(key));
    let values = values.map(|(key, _)| {
        found(key, format!("a value is given to the constant {key}, which the module does not declare"))
    });
    let witnesses = cfg.witnesses.iter().filter(|name| !own(name));
    let witnesses = witnesses.map(|name| found(name, format!("the witness {name} is not defined in the module")));
    // TLC names such a word as a property that is not defined, and says nothing of the one behind it.
    let keywords = cfg.listed().into_iter().filter(|(role, name)| *role != "WITNESS" && !own(name));
    let keywords = keywords.filter_map(|(role, name)| {
        let hint = keyword_hint(name)?;
        Some(found(name, format!("{name}, listed as {role}, is not defined in the module; {hint}")))
    });
    values.chain(witnesses).chain(keywords).collect()
}

pub(super) fn read(path: &Path) -> Result<String, Failure> {
    std::fs::read_to_string(path).map_err(|e| Failure::usage(format!("cannot read {}: {e}", path.display())))
}

/// Modules in the same folder that the module names, and those that they name.
pub(super) fn beside(spec: &Path, module: &Module) -> Vec<(String, String)> {
    let dir = spec.parent().unwrap_or(Path::new("."));
    let mut found: Vec<(String, String)> = Vec::new();
    let mut wanted = needs(module);
    while let Some(name) = wanted.pop() {
        if name == module.name || found.iter().any(|(known, _)| *known == name) {
            continue;
        }
        let Ok(text) = std::fs::read_to_string(dir.join(format!("{name}.tla"))) else { continue };
        if let Ok(other) = Module::parse(&text) {
            wanted.extend(needs(&other));
        }
        found.push((name, text));
    }
    found
}

fn needs(module: &Module) -> Vec<String> {
    let mut names: Vec<String> = module.extends.iter().chain(&module.instances).cloned().collect();
    // `M == INSTANCE Other WITH …` names its module in its text.
    for definition in &module.definitions {
        let mut words = definition.text.split_whitespace();
        while let Some(word) = words.next() {
            if word == "INSTANCE" {
                names.extend(words.next().map(str::to_owned));
            }
        }
    }
    names
}

/// The object that others build on (design, section 9).
pub(super) fn json_of(outcome: &CheckOutcome) -> Value {
    let (violated, reason) = match &outcome.verdict {
        Verdict::Holds => (None, unreached(outcome)),
        Verdict::Violated { violated } => (Some(violated), None),
        Verdict::Invalid { violated, reason, .. } => (Some(violated), Some(reason.clone())),
        Verdict::Inconclusive { reason } => (None, Some(reason.clone())),
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
