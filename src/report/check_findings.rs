//! What a check found, as findings: each violated property at its definition, each error at its position.

use std::path::Path;

use super::findings::{FileLine, Finding, Findings, Level};
use crate::tla::{
    CheckOutcome, Diagnostic, Module, Reached, Verdict, describe_unreached, has_no_behaviour, verdict_sentence,
    verdict_with_bounds,
};

/// The files of a check.
pub struct CheckedSource<'a> {
    pub spec: &'a str,
    pub text: &'a str,
    pub cfg: &'a str,
    pub cfg_text: &'a str,
    /// The files that the module extends or instantiates, with their texts.
    pub modules: &'a [(String, String)],
    /// The place of a diagnostic, if it is known.
    pub place: &'a dyn Fn(&Diagnostic) -> Option<FileLine>,
}

pub fn check_findings(source: &CheckedSource<'_>, outcome: &CheckOutcome) -> Findings {
    let summary = verdict_with_bounds(outcome);
    let in_cfg = |word: &str| FileLine::new(source.cfg, line_with_word(source.cfg_text, word).unwrap_or(1));
    let mut list = match &outcome.verdict {
        Verdict::Violated { .. } => violations(outcome, source.spec, source.text, source.modules),
        Verdict::Invalid { reason, diagnostics, .. } => {
            let place = |d: &Diagnostic| (source.place)(d).unwrap_or_else(|| FileLine::new(source.spec, d.line.max(1)));
            let found =
                diagnostics.iter().map(|d| Finding::new("invalid", Level::Error, d.message.trim()).at(place(d)));
            let without_place =
                || Finding::new("invalid", Level::Error, reason.as_str()).at(FileLine::new(source.spec, 1));
            let mut found: Vec<Finding> = found.collect();
            // SANY reports some errors twice.
            found.dedup();
            if found.is_empty() { vec![without_place()] } else { found }
        }
        Verdict::Inconclusive { .. } => {
            vec![Finding::new("undecided", Level::Error, summary.as_str()).at(FileLine::new(source.cfg, 1))]
        }
        Verdict::Holds => {
            let words = describe_unreached(outcome).unwrap_or_default();
            let missed = outcome.witnesses.iter().filter_map(|witness| match &witness.reached {
                Reached::Yes { .. } => None,
                Reached::No => Some((Level::Error, "not-reached", format!("{}: not reached", witness.name), witness)),
                Reached::Unknown(why) => Some((Level::Error, "undecided", format!("{}: {why}", witness.name), witness)),
            });
            let missed =
                missed.map(|(level, rule, text, witness)| Finding::new(rule, level, text).at(in_cfg(&witness.name)));
            let empty = has_no_behaviour(outcome)
                .then(|| Finding::new("no-behaviour", Level::Error, words).at(FileLine::new(source.spec, 1)));
            missed.chain(empty).collect()
        }
    };
    let warning =
        |text: &String| Finding::new("warning", Level::Warning, text.as_str()).at(FileLine::new(source.spec, 1));
    list.extend(outcome.warnings.iter().map(warning));
    Findings { command: "tlaforge check".to_owned(), summary, list }
}

/// The violated properties of a check, each at its definition; a deadlock and a failed assertion at the last step. Without a
/// known line, the place is the file.
pub(super) fn violations(outcome: &CheckOutcome, spec: &str, text: &str, modules: &[(String, String)]) -> Vec<Finding> {
    let sources =
        || std::iter::once((spec, text)).chain(modules.iter().map(|(file, text)| (file.as_str(), text.as_str())));
    let is_file = |path: &str, name: &str| Path::new(path).file_name().is_some_and(|file| file == name);
    let found: Vec<Finding> = outcome
        .violated_names()
        .map(|name| {
            let trace = outcome.counterexample_to(name);
            let defined = sources().find_map(|(file, text)| Some(FileLine::new(file, definition_line(text, name)?)));
            let last_step = || {
                let source = trace?.steps.last()?.source.as_ref()?;
                let (file, _) = sources().find(|(file, _)| is_file(file, &source.file))?;
                Some(FileLine::new(file, source.place.line))
            };
            let place = defined.or_else(last_step).unwrap_or_else(|| FileLine::new(spec, 0));
            let length =
                trace.map_or_else(String::new, |t| format!(", by a counterexample of {} states", t.steps.len()));
            Finding::new("violated", Level::Error, format!("{name} is violated{length}")).at(place)
        })
        .collect();
    // A violated assumption, for example, has no name.
    let unnamed = || vec![Finding::new("violated", Level::Error, verdict_sentence(outcome)).at(FileLine::new(spec, 0))];
    if found.is_empty() { unnamed() } else { found }
}

/// The line of a definition, also of one in the algorithm.
fn definition_line(text: &str, name: &str) -> Option<usize> {
    let module = Module::parse(text).ok();
    let listed = module.as_ref().and_then(|module| module.definition(name)).map(|definition| definition.line);
    let is_definition =
        |line: &str| line.trim_start().strip_prefix(name).is_some_and(|r| r.trim_start().starts_with("=="));
    listed.or_else(|| text.lines().position(is_definition).map(|line| line + 1))
}

fn line_with_word(text: &str, word: &str) -> Option<usize> {
    let has = |line: &str| line.split(|c: char| !c.is_alphanumeric() && c != '_').any(|part| part == word);
    text.lines().position(has).map(|line| line + 1)
}
