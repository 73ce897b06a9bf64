//! A specification from its text to its verdict: translated in a copy, parsed, its configuration held against it, and
//! checked. What is rejected on the way is an outcome as well, and says where.

use std::time::Instant;

use crate::tla::{Bounds, Cfg, CheckOutcome, Diagnostic, Module, Stage, Verdict, keyword_hint};

use super::{CheckRequest, Checked, ParseOutcome, SpecText, ToolContext, ToolError, Toolchain, Translation, bounds};

/// How far a specification came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum EndedAt {
    /// Its configuration cannot be read.
    Configuration,
    /// The translator rejects its algorithm.
    Translation,
    /// The parser rejects it, or does not know.
    Parse,
    /// Its configuration speaks of other names.
    Names,
    /// It was checked.
    Check,
}

/// A specification that was looked at.
#[derive(Debug, Clone)]
pub struct Examined {
    /// What came of it.
    pub checked: Checked,
    /// How far it came.
    pub ended_at: EndedAt,
    /// Whether it has an algorithm that was translated.
    pub algorithm: bool,
    /// The module with its translation, as far as it came.
    pub spec: SpecText,
}

/// Translates, parses and checks.
pub async fn examine(
    tools: &dyn Toolchain,
    spec: SpecText,
    cfg_text: String,
    cx: &ToolContext<'_>,
) -> Result<Examined, ToolError> {
    let began = Instant::now();
    let mut examined = examine_now(tools, spec, cfg_text, cx).await?;
    if examined.ended_at == EndedAt::Check {
        examined.checked.outcome.statistics.waited_seconds = Some(began.elapsed().as_secs_f64());
    }
    Ok(examined)
}

async fn examine_now(
    tools: &dyn Toolchain,
    mut spec: SpecText,
    cfg_text: String,
    cx: &ToolContext<'_>,
) -> Result<Examined, ToolError> {
    let invalid = |bounds, diagnostics| {
        let outcome = CheckOutcome::rejected(tools.checker(), bounds, diagnostics);
        Checked { outcome, output: String::new(), second: None }
    };
    let ended = |checked, ended_at, algorithm, spec| Ok(Examined { checked, ended_at, algorithm, spec });
    let cfg = match Cfg::parse(&cfg_text) {
        Ok(cfg) => cfg,
        Err(diagnostic) => {
            return ended(invalid(Bounds::default(), vec![diagnostic]), EndedAt::Configuration, false, spec);
        }
    };
    let mut lines = Lines { original: spec.text.clone(), translated: None };
    let algorithm = match tools.translate(&spec, cx).await? {
        Translation::NoAlgorithm => false,
        Translation::Translated(text) => {
            lines.translated = (text != spec.text).then(|| text.clone());
            spec.text = text;
            true
        }
        Translation::Rejected(diagnostics) => {
            return ended(invalid(bounds(&cfg), diagnostics), EndedAt::Translation, true, spec);
        }
    };
    match tools.parse(&spec, cx).await {
        Ok(ParseOutcome::Accepted { .. }) => {}
        Ok(ParseOutcome::Rejected(mut diagnostics)) => {
            lines.put_back(&mut diagnostics);
            return ended(invalid(bounds(&cfg), diagnostics), EndedAt::Parse, algorithm, spec);
        }
        Err(undecided @ ToolError::NotAnalysed { .. }) => {
            let mut checked = invalid(bounds(&cfg), Vec::new());
            checked.outcome.verdict = Verdict::Inconclusive { reason: undecided.to_string() };
            return ended(checked, EndedAt::Parse, algorithm, spec);
        }
        Err(e) => return Err(e),
    }
    let undeclared = undeclared(&spec.text, &cfg, &cfg_text);
    if !undeclared.is_empty() {
        return ended(invalid(bounds(&cfg), undeclared), EndedAt::Names, algorithm, spec);
    }
    let request = CheckRequest { spec, cfg_text, cfg };
    let mut checked = tools.check(&request, cx).await?;
    if let Verdict::Invalid { diagnostics, reason, .. } = &mut checked.outcome.verdict {
        let said = diagnostics.first().is_some_and(|first| first.message == *reason);
        lines.put_back(diagnostics);
        if said && let Some(first) = diagnostics.first() {
            reason.clone_from(&first.message);
        }
    }
    ended(checked, EndedAt::Check, algorithm, request.spec)
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
