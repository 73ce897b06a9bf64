//! A trace as a module and a configuration: with them TLC takes only the steps of the trace, and finds its violation again.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::cfg::Cfg;
use super::lexer::{Kind, lex};
use super::module::Module;
use super::outcome::Trace;
use super::value_text::one_line;

/// A module that replays a trace of another one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplayModule {
    /// The text of the module.
    pub module: String,
    /// The text of its configuration.
    pub cfg: String,
}

/// The beginning of the first comment.
const MARK: &str = "\\* A counterexample of ";

impl ReplayModule {
    /// Whether a text is such a module.
    pub fn is_one(text: &str) -> bool {
        text.lines().nth(1).is_some_and(|line| line.starts_with(MARK))
    }

    /// A module of this name. It extends the specification, so TLC needs both in one folder; a `PlusCal` algorithm has to be
    /// translated in the file. Constraints let TLC follow the trace, so it needs no name of the next-state relation.
    pub fn new(name: &str, specification: &Module, cfg: &Cfg, trace: &Trace) -> Self {
        let values = model_values(cfg, specification);
        // Not those of the module: its algorithm may not be translated.
        let variables: Vec<&str> =
            trace.steps.first().map(|step| step.state.keys().map(String::as_str).collect()).unwrap_or_default();
        let names =
            ["TraceStates", "TraceState", "TraceStep", "TraceIndex"].map(|name| free(name, specification, &values));
        let [states, is_state, is_step, index] = &names;
        let mut text = format!("---- MODULE {name} ----\n");
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{MARK}{0}, with {0}.tla in the same folder:", specification.name);
        let deadlock = if cfg.check_deadlock == Some(false) { "-deadlock " } else { "" };
        let _ = writeln!(text, "\\*   java -cp tla2tools.jar tlc2.TLC {deadlock}-config {name}.cfg {name}");
        // `Naturals` for `..`, and `TLC` for `:>` and `@@`.
        let _ = writeln!(text, "EXTENDS {}, Naturals, TLC", specification.name);
        if !values.is_empty() {
            let _ = writeln!(text, "CONSTANTS {}", values.join(", "));
        }
        let _ = writeln!(text, "\n{states} == <<");
        for (at, step) in trace.steps.iter().enumerate() {
            let values =
                variables.iter().map(|name| step.state.get(*name).map_or("0".to_owned(), |value| one_line(value)));
            let comma = if at + 1 < trace.steps.len() { "," } else { "" };
            let what = step.call().map(|call| format!("  \\* {call}")).unwrap_or_default();
            let _ = writeln!(text, "  << {} >>{comma}{what}", values.collect::<Vec<_>>().join(", "));
        }
        let tuple = |prime: &str| {
            format!("<<{}>>", variables.iter().map(|v| format!("{v}{prime}")).collect::<Vec<_>>().join(", "))
        };
        let (now, next) = (tuple(""), tuple("'"));
        let last = trace.steps.len().saturating_sub(1);
        let _ = writeln!(text, ">>\n");
        let _ = writeln!(text, "{is_state} == \\E {index} \\in 1..{} : {now} = {states}[{index}]", last + 1);
        let _ = writeln!(
            text,
            "{is_step} == \\E {index} \\in 1..{last} : {now} = {states}[{index}] /\\ {next} = {states}[{index} + 1]"
        );
        text.push_str("====\n");
        let mut cfg = cfg.clone();
        cfg.constants.extend(values.iter().map(|value| (value.clone(), value.clone())));
        cfg.constraints.push(is_state.clone());
        cfg.action_constraints.push(is_step.clone());
        // Under SYMMETRY, TLC may keep another state of the same orbit.
        cfg.symmetry.clear();
        // TLC 2.15 takes the keyword for a name.
        cfg.check_deadlock = None;
        Self { module: text, cfg: cfg.render() }
    }
}

/// The name, longer until the specification does not mention it.
fn free(name: &str, specification: &Module, values: &[String]) -> String {
    let mut name = name.to_owned();
    while specification.source.contains(&name) || values.contains(&name) {
        name.push('_');
    }
    name
}

/// Model values that a configuration writes, as in `P = {p1, p2}`, and that the module does not declare.
pub fn model_values(cfg: &Cfg, module: &Module) -> Vec<String> {
    let mut found = BTreeSet::new();
    for value in cfg.constants.values().filter(|value| !value.starts_with("<-")) {
        for token in lex(value, 0..value.len()) {
            let word = token.text(value);
            let own = module.constants.iter().any(|constant| constant.name == word);
            let is_name = token.kind == Kind::Word && word.bytes().any(|b| b.is_ascii_alphabetic());
            if is_name && !matches!(word, "TRUE" | "FALSE") && !own {
                found.insert(word.to_owned());
            }
        }
    }
    found.into_iter().collect()
}
