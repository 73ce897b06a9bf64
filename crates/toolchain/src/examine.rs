//! A specification from its text to its verdict: translated in a copy, parsed, compared with its configuration, and
//! checked. A rejection on the way is an outcome too, with its position.

use std::time::Instant;

use tlaforge_tla::semantic::impure_operators;
use tlaforge_tla::{Bounds, Cfg, CheckOutcome, Diagnostic, Module, Stage, Verdict, keyword_hint, property_remarks};

use super::bounds::configured_bounds;
use super::lint::too_long;
use super::positions::{Positions, same_lines, translations};
use super::{
    CheckReport, CheckRequest, Detail, ParseOutcome, SpecText, ToolContext, ToolError, Toolchain, Translation,
};

/// The last stage that a specification reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LastStage {
    /// The configuration cannot be parsed.
    Configuration,
    /// The translator rejects the algorithm.
    Translation,
    /// The parser rejects the module or cannot decide.
    Parse,
    /// The configuration uses names that the module does not have.
    Names,
    /// The specification was checked.
    Check,
}

#[derive(Debug, Clone)]
pub struct Examination {
    pub checked: CheckReport,
    pub last_stage: LastStage,
    /// Whether the module has an algorithm that was translated.
    pub algorithm: bool,
    /// The module with its translation, if it got that far.
    pub spec: SpecText,
}

/// Which translation of a PlusCal algorithm is checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TranslationMode {
    /// A new translation, made in a copy.
    Translate,
    /// The translation that the file already has.
    KeepExisting,
}

/// Translates, parses and checks. All positions in the outcome refer to the given text.
pub async fn examine(
    tools: &dyn Toolchain,
    spec: SpecText,
    cfg_text: String,
    mode: TranslationMode,
    detail: Detail,
    cx: &ToolContext<'_>,
) -> Result<Examination, ToolError> {
    // The checker counts the time of its own runs; a user waits for translation and parsing as well.
    let began = Instant::now();
    let (name, original) = (spec.name.clone(), spec.text.clone());
    let mut examined = run_stages(tools, spec, cfg_text, mode, detail, cx).await?;
    if examined.last_stage == LastStage::Check {
        examined.checked.outcome.statistics.total_seconds = Some(began.elapsed().as_secs_f64());
    }
    let Some(positions) = Positions::new(&name, &original, &examined.spec.text) else { return Ok(examined) };
    let checked = &mut examined.checked;
    for outcome in std::iter::once(&mut checked.outcome).chain(checked.second_outcome.as_deref_mut()) {
        positions.restore_all(outcome);
    }
    if has_another_translation(&original, &examined.spec.text) {
        checked.outcome.warnings.push(OTHER_TRANSLATION.to_owned());
    }
    Ok(examined)
}

async fn run_stages(
    tools: &dyn Toolchain,
    mut spec: SpecText,
    cfg_text: String,
    mode: TranslationMode,
    detail: Detail,
    cx: &ToolContext<'_>,
) -> Result<Examination, ToolError> {
    let invalid = |bounds, diagnostics| {
        let outcome = CheckOutcome::rejected(tools.checker(), bounds, diagnostics);
        CheckReport { outcome, output: String::new(), second_outcome: None }
    };
    let ended = |checked, last_stage, algorithm, spec| Ok(Examination { checked, last_stage, algorithm, spec });
    let cfg = match Cfg::parse(&cfg_text) {
        Ok(cfg) => cfg,
        Err(diagnostic) => {
            return ended(invalid(Bounds::default(), vec![diagnostic]), LastStage::Configuration, false, spec);
        }
    };
    let undecided = |error: &ToolError| {
        let mut checked = invalid(configured_bounds(&cfg), Vec::new());
        checked.outcome.verdict = Verdict::inconclusive(error.to_string());
        checked
    };
    // Our own size limit is no verdict on the module.
    if let Some(what) = too_long(&spec) {
        return ended(undecided(&ToolError::NotAnalysed { what }), LastStage::Translation, false, spec);
    }
    let translation = match mode {
        TranslationMode::Translate => tools.translate(&spec, cx).await,
        TranslationMode::KeepExisting => Ok(Translation::NoAlgorithm),
    };
    let algorithm = match translation {
        Ok(Translation::NoAlgorithm) => false,
        Ok(Translation::Translated(text)) => {
            spec.text = text;
            true
        }
        Ok(Translation::Rejected(diagnostics)) => {
            return ended(invalid(configured_bounds(&cfg), diagnostics), LastStage::Translation, true, spec);
        }
        Err(error) if error.is_caused_by_input() => {
            return ended(undecided(&error), LastStage::Translation, true, spec);
        }
        Err(error) => return Err(error),
    };
    match tools.parse(&spec, cx).await {
        Ok(ParseOutcome::Accepted { .. }) => {}
        Ok(ParseOutcome::Rejected(diagnostics)) => {
            return ended(invalid(configured_bounds(&cfg), diagnostics), LastStage::Parse, algorithm, spec);
        }
        Err(error) if error.is_caused_by_input() => return ended(undecided(&error), LastStage::Parse, algorithm, spec),
        Err(error) => return Err(error),
    }
    let (undeclared, ignored) = undeclared(&spec.text, &cfg, &cfg_text);
    if !undeclared.is_empty() {
        return ended(invalid(configured_bounds(&cfg), undeclared), LastStage::Names, algorithm, spec);
    }
    let mut cfg = cfg;
    // A value without effect is no bound.
    cfg.constants.retain(|name, _| !ignored.contains(name));
    let request = CheckRequest { spec, cfg_text, cfg };
    let mut checked = match detail {
        Detail::Explained => tools.check(&request, cx).await?,
        Detail::VerdictOnly => tools.check_without_details(&request, cx).await?,
    };
    checked.outcome.warnings.extend(input_warnings(&request));
    checked.outcome.warnings.extend(ignored.iter().map(|name| {
        format!("a value is given to the constant {name}, which the module does not declare: it has no effect")
    }));
    checked
        .outcome
        .warnings
        .extend(Cfg::parse_with_remarks(&request.cfg_text).map(|(_, remarks)| remarks).unwrap_or_default());
    ended(checked, LastStage::Check, algorithm, request.spec)
}

/// Warnings about the module and its configuration that a reader of the verdict needs.
fn input_warnings(request: &CheckRequest) -> Vec<String> {
    let CheckRequest { spec, cfg, .. } = request;
    let mut all = Vec::new();
    if let Ok(module) = Module::parse(&spec.text) {
        let defined = |name: &str| module.definition(name).is_some() && !module.declares_constant(name);
        let replaced = cfg.constants.iter().filter(|(name, by)| defined(name) && !by.starts_with("<-"));
        all.extend(replaced.map(|(name, by)| {
            format!("{name} is a definition of the module, which the configuration replaces by {by}")
        }));
        all.extend(property_remarks(&module, cfg));
    }
    // `impure_operators` gets no local modules, and without them it could only compare words.
    let impure: Vec<&str> = if spec.local_modules.is_empty() {
        impure_operators(&spec.name, &spec.text, Some(cfg)).into_iter().collect()
    } else {
        Vec::new()
    };
    if !impure.is_empty() {
        let list = impure.join(", ");
        all.push(format!("the module uses {list}, whose values depend on more than the state: another run may differ"));
    }
    all
}

/// The warning if the translation in a file differs from that of its algorithm.
const OTHER_TRANSLATION: &str = "the translation in the file differs from what its algorithm translates to: the \
    algorithm was checked, not that translation (--keep-translation checks the file as it is)";

/// Whether a file has a translation that neither the tool nor our own translator produces from its algorithm.
fn has_another_translation(original: &str, copy: &str) -> bool {
    let block = |text: &str| {
        let begins = text.lines().position(|line| line.contains("BEGIN TRANSLATION"));
        let ends = text.lines().position(|line| line.contains("END TRANSLATION"));
        begins
            .zip(ends)
            .is_some_and(|(begin, end)| text.lines().take(end).skip(begin + 1).any(|line| !line.trim().is_empty()))
    };
    block(original)
        && !same_lines(original, copy)
        && !translations(original).any(|translated| same_lines(original, &translated.text))
}

/// Names of the configuration that the module does not declare: errors for those that would never be searched for, and
/// the constants whose values have no effect. A model value that only names itself is harmless.
fn undeclared(text: &str, cfg: &Cfg, cfg_text: &str) -> (Vec<Diagnostic>, Vec<String>) {
    let Ok(module) = Module::parse(text) else { return Default::default() };
    // An extended module may declare the name.
    if !module.is_self_contained() {
        return Default::default();
    }
    let variables = module.variable_names();
    let own = |name: &str| {
        module.constants.iter().any(|c| c.name == name) || module.definition(name).is_some() || variables.contains(name)
    };
    let is_name = |key: &str| key.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    // The first line with the name as a word: the parsed configuration has no positions.
    let found = |name: &str, message: String| {
        let mentions = |line: &str| line.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == name);
        let line = cfg_text.lines().position(mentions).map_or(0, |at| at + 1);
        Diagnostic { stage: Stage::Config, line, column: usize::from(line > 0), message }
    };
    let values = cfg
        .constants
        .iter()
        .filter(|(key, value)| is_name(key) && !value.starts_with("<-") && value != key && !own(key));
    let ignored = values.map(|(key, _)| key.clone());
    let witnesses = cfg.witnesses.iter().filter(|name| !own(name));
    let witnesses = witnesses.map(|name| found(name, format!("the witness {name} is not defined in the module")));
    // TLC reports such a keyword as an undefined property and ignores the one after it.
    let keywords = cfg.listed_names().into_iter().filter(|(role, name)| *role != "WITNESS" && !own(name));
    let keywords = keywords.filter_map(|(role, name)| {
        let hint = keyword_hint(name)?;
        Some(found(name, format!("{name}, listed as {role}, is not defined in the module; {hint}")))
    });
    (witnesses.chain(keywords).collect(), ignored.collect())
}
