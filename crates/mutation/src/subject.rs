//! The specification whose mutants are judged: only one that satisfies its own properties can judge.

use std::time::{Duration, Instant};

use tlaforge_tla::{
    Cfg, CheckOutcome, DEADLOCK, Diagnostic, Module, Reached, SpecificationFormula, Verdict, property_remarks,
};
use tlaforge_toolchain::{
    CheckReport, CheckRequest, ParseOutcome, SpecText, ToolContext, ToolError, Toolchain, Translation,
};

use super::inclusion::ParsedSpec;

/// Minimum time limit of a mutant's run.
pub const MIN_DEADLINE: Duration = Duration::from_secs(5);
/// The time limit of a mutant's run, as a multiple of the run time of the original.
const BASELINE_FACTOR: u32 = 10;

/// The specification whose mutants are judged.
#[derive(Debug, Clone)]
pub struct Subject {
    /// The file name, used in the names of mutants.
    pub file: String,
    /// The text as the user wrote it.
    pub source: String,
    /// The parsed module, with its translation if it has an algorithm.
    pub module: Module,
    /// Name and text of the modules in the same folder.
    pub local_modules: Vec<(String, String)>,
    pub cfg: Cfg,
    pub cfg_text: String,
    pub(super) side: Result<ParsedSpec, String>,
}

/// Why mutants of a specification cannot be judged.
#[derive(Debug, thiserror::Error)]
pub enum BaselineError {
    /// The original violates a property, or its check says nothing (no property, no step, an unreachable witness).
    #[error("{reason}")]
    Bad {
        reason: String,
        /// The result of its check, if one ran.
        outcome: Option<Box<CheckOutcome>>,
        /// Why it was rejected before a check, with a position in the text that was given.
        diagnostic: Option<Diagnostic>,
    },
    #[error(transparent)]
    Tool(#[from] ToolError),
}

impl Subject {
    /// Translates, parses and checks the original. Mutants can be judged only by properties that it satisfies.
    pub async fn prepare(
        tools: &dyn Toolchain,
        file: String,
        spec: SpecText,
        cfg_text: String,
        cx: &ToolContext<'_>,
    ) -> Result<(Self, CheckOutcome), BaselineError> {
        let began = Instant::now();
        let bad = |reason: String| BaselineError::Bad { reason, outcome: None, diagnostic: None };
        let cfg = Cfg::parse(&cfg_text).map_err(|d| bad(format!("the configuration cannot be read: {d}")))?;
        let source = spec.text.clone();
        let spec = match translate_and_parse(tools, spec, cx).await? {
            Ok(spec) => spec,
            Err(Rejection { reason, diagnostic }) => {
                return Err(BaselineError::Bad { reason, outcome: None, diagnostic });
            }
        };
        let module = Module::parse(&spec.text).map_err(|e| bad(e.to_string()))?;
        let request = CheckRequest { spec, cfg_text, cfg };
        // `check` and not `decide`, because the witnesses of the original matter, too.
        let CheckReport { mut outcome, .. } = tools.check(&request, cx).await?;
        // With translation and parsing, which the checker does not count.
        outcome.statistics.total_seconds = Some(began.elapsed().as_secs_f64());
        let CheckRequest { spec, cfg_text, cfg } = request;
        outcome.warnings.extend(property_remarks(&module, &cfg));
        if let Some(reason) = baseline_problem(&outcome, &cfg) {
            return Err(BaselineError::Bad { reason, outcome: Some(Box::new(outcome)), diagnostic: None });
        }
        let side = parse_side(&module, &cfg);
        Ok((Self { file, source, module, local_modules: spec.local_modules, cfg, cfg_text, side }, outcome))
    }

    /// The time limit of each run of a mutant, from the run time of the original: ten times as long, at least 5 seconds.
    pub fn deadline(baseline: &CheckOutcome) -> Duration {
        let took = Duration::try_from_secs_f64(baseline.statistics.seconds).unwrap_or_default();
        (took * BASELINE_FACTOR).max(MIN_DEADLINE)
    }
}

/// Only a mutant that violates nothing is compared with the original, so an error is not yet the end.
pub(super) fn parse_side(module: &Module, cfg: &Cfg) -> Result<ParsedSpec, String> {
    SpecificationFormula::parse(module, cfg).map(|behaviour| ParsedSpec { module: module.clone(), behaviour })
}

/// The reason why mutants cannot be judged against this check of the original.
fn baseline_problem(outcome: &CheckOutcome, cfg: &Cfg) -> Option<String> {
    match &outcome.verdict {
        Verdict::Holds => {}
        Verdict::Violated { violated } => {
            return Some(format!("the specification itself violates {}", violated.name.as_deref().unwrap_or(DEADLOCK)));
        }
        Verdict::Invalid { reason, .. } => return Some(format!("the specification is invalid: {reason}")),
        Verdict::Inconclusive { reason, .. } => return Some(format!("the specification was not decided: {reason}")),
    }
    if cfg.invariants.is_empty() && cfg.properties.is_empty() {
        return Some("the configuration lists no invariant and no property: nothing could notice a mutant".to_owned());
    }
    let statistics = &outcome.statistics;
    if statistics.distinct.is_some() && statistics.distinct == statistics.initial {
        return Some("no state but the initial ones is reachable: whatever holds, holds for want of steps".to_owned());
    }
    let unreached = outcome.witnesses.iter().find(|w| w.reached == Reached::No)?;
    Some(format!("the witness {} is not reachable", unreached.name))
}

/// The reason why a module was rejected before its check.
pub(super) struct Rejection {
    pub(super) reason: String,
    /// The first diagnostic; `None` if its position refers to the translation.
    diagnostic: Option<Diagnostic>,
}

impl Rejection {
    fn new(why: Vec<Diagnostic>, otherwise: &str, is_translated: bool) -> Self {
        let reason = why.first().map_or_else(|| otherwise.to_owned(), ToString::to_string);
        Self { reason, diagnostic: why.into_iter().next().filter(|_| !is_translated) }
    }
}

/// Translates and parses a module; the inner error says why it was rejected.
pub(super) async fn translate_and_parse(
    tools: &dyn Toolchain,
    mut spec: SpecText,
    cx: &ToolContext<'_>,
) -> Result<Result<SpecText, Rejection>, ToolError> {
    let is_translated = match tools.translate(&spec, cx).await? {
        Translation::NoAlgorithm => false,
        Translation::Translated(text) => {
            spec.text = text;
            true
        }
        Translation::Rejected(why) => return Ok(Err(Rejection::new(why, "it does not translate", false))),
    };
    Ok(match tools.parse(&spec, cx).await? {
        ParseOutcome::Accepted { .. } => Ok(spec),
        ParseOutcome::Rejected(why) => Err(Rejection::new(why, "it does not parse", is_translated)),
    })
}
