//! Step contracts: what the documents say that each step of an algorithm does, written by an author who has not seen the
//! algorithm. They become step properties over `pc` and the variables, and never name an action of the translation: a
//! change of the algorithm cannot change its own contract.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::cfg::Cfg;
use super::declared_steps::{DeclaredLabel, DeclaredProcess, DeclaredSteps, Members};
use super::definition::Definition;
use super::module::Module;
use super::settled_variables::settled_variables;

/// How the name of an author's formula on the state before a step begins.
pub(crate) const GUARD: &str = "Guard_";
/// How the name of an author's formula on a step begins.
pub const EFFECT: &str = "Effect_";
/// The author's formula on the initial states.
const INITIALLY: &str = "Initially";
/// How the names of the author's helper definitions begin.
const HELPER: &str = "C_";
/// How the names of the step properties begin.
pub const CONTRACT: &str = "Contract_";
/// The property about steps that leave `pc` as it is: `pc` does not say who takes them.
pub const SAME_LABEL: &str = "Contract_at_the_same_label";
/// The property about the initial states.
pub(crate) const START: &str = "Contract_at_the_start";
/// The property about all steps of an algorithm without `pc`.
pub const ANY_STEP: &str = "Contract_of_any_step";
/// The variables of the translator.
const CONTROL: [&str; 2] = ["pc", "stack"];

/// What an author says about one step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StepContract {
    /// The label, or `Initially` for the initial state.
    pub label: String,
    /// The process that takes the step; empty for the initial state.
    pub process: String,
    /// The comments above guard and effect, without their markers.
    pub comment: String,
    /// Variables that it leaves free after the step.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub free_variables: Vec<String>,
    /// The step properties that check it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checked_by: Vec<String>,
    /// Whether the effect is TRUE, so that nothing is checked.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_free: bool,
}

impl StepContract {
    /// Why the author leaves the step free, in the words of the comment.
    pub fn free_words(&self) -> String {
        let words = self.comment.lines().filter_map(after_free).map(str::trim);
        words.collect::<Vec<_>>().join("; ")
    }
}

impl Contracts {
    /// The contracts of a specification that has no algorithm whose labels are all written out: one that is free.
    pub fn of_unlabelled() -> Vec<StepContract> {
        vec![StepContract {
            label: "the specification".to_owned(),
            process: "none".to_owned(),
            comment: "free: it has no PlusCal algorithm with a label at each of its steps".to_owned(),
            free_variables: Vec::new(),
            checked_by: Vec::new(),
            is_free: true,
        }]
    }
}

/// The contracts of all steps of an algorithm.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contracts {
    /// One for the initial state, then one for each label in the order of the algorithm.
    pub steps: Vec<StepContract>,
    /// The names of the properties that are checked.
    pub properties: Vec<String>,
    /// The author's definitions, and the properties.
    pub definitions: String,
}

/// Whether a definition of this name is one of the author's, or a step property.
pub fn is_part_of_a_contract(name: &str) -> bool {
    name == INITIALLY || [GUARD, EFFECT, HELPER, CONTRACT].iter().any(|prefix| name.starts_with(prefix))
}

/// Definitions of the specification that a contract may use: constants of its model, such as a set of requests, and the
/// operators that they and `TypeOK` are made of, such as one that builds a message.
pub fn usable_definitions(module: &Module) -> Vec<&Definition> {
    let is_pure = |definition: &&Definition| {
        !module.in_translation(definition.code.start)
            && !definition.has_syntax_errors
            && !definition.references.foreign
            && !is_part_of_a_contract(&definition.name)
            && module.variables_of(&definition.name, |_| true).is_empty()
    };
    let is_truth = |definition: &Definition| {
        definition.body().is_some_and(|body| is_truth_value(definition.tree.text(body, &module.source)))
    };
    let is_used = |name: &str| module.definitions.iter().any(|other| other.references.names.contains(name));
    let is_constant =
        |definition: &&&Definition| definition.arity() == 0 && !is_truth(definition) && is_used(&definition.name);
    let pure: Vec<&Definition> = module.definitions.iter().filter(is_pure).collect();
    let mut names: BTreeSet<String> = pure.iter().filter(is_constant).map(|d| d.name.clone()).collect();
    let parts: Vec<String> = names.iter().flat_map(|name| module.closure(name)).collect();
    names.extend(parts);
    names.extend(module.closure("TypeOK"));
    pure.into_iter().filter(|definition| names.contains(&definition.name)).collect()
}

fn is_truth_value(text: &str) -> bool {
    ["TRUE", "FALSE"].contains(&text.trim())
}

/// Reads the definitions of an author, and adds the step properties. `module` is translated.
///
/// # Errors
///
/// Everything that the author has to mend, in words.
pub fn read_contracts(module: &Module, cfg: &Cfg, steps: &DeclaredSteps, text: &str) -> Result<Contracts, Vec<String>> {
    let source = format!("---- MODULE Contracts ----\n{text}\n====\n");
    let answer = Module::parse(&source).map_err(|error| vec![error.to_string()])?;
    let reader = Reader { module, answer: &answer, steps };
    let mut mistakes = reader.name_mistakes();
    let mut contracts = Vec::new();
    match reader.initial() {
        Ok(contract) => contracts.push(contract),
        Err(why) => mistakes.push(why),
    }
    for (process, label) in steps.labels() {
        match reader.step(process, label) {
            Ok(contract) => contracts.push(contract),
            Err(mut found) => mistakes.append(&mut found),
        }
    }
    if !mistakes.is_empty() {
        return Err(mistakes);
    }
    let (properties, formulas) = write_properties(module, cfg, steps, &mut contracts);
    Ok(Contracts { steps: contracts, properties, definitions: format!("{}\n\n{formulas}", text.trim_end()) })
}

struct Reader<'a> {
    module: &'a Module,
    answer: &'a Module,
    steps: &'a DeclaredSteps,
}

impl Reader<'_> {
    fn name_mistakes(&self) -> Vec<String> {
        let mut mistakes = Vec::new();
        let usable: BTreeSet<&str> = usable_definitions(self.module).into_iter().map(|d| d.name.as_str()).collect();
        let constants = self.module.constants.iter().map(|constant| constant.name.as_str());
        let taken: BTreeSet<&str> = constants.chain(self.module.variable_names()).collect();
        let mut seen = BTreeSet::new();
        for definition in &self.answer.definitions {
            let name = definition.name.as_str();
            if !seen.insert(name) {
                mistakes.push(format!("{name} is defined twice"));
            }
            let label = [GUARD, EFFECT].iter().find_map(|prefix| name.strip_prefix(prefix));
            match label {
                Some(label) if self.steps.label(label).is_none() => {
                    mistakes.push(format!("{name}: declarations.md has no label {label}"));
                }
                Some(_) => {}
                None if name == INITIALLY => {}
                None if !name.starts_with(HELPER) => {
                    mistakes.push(format!(
                        "{name}: define only `{INITIALLY}`, `{GUARD}<label>`, `{EFFECT}<label>` and helpers whose names begin with `{HELPER}`"
                    ));
                }
                None => {}
            }
            let names = definition.references.names.iter().map(String::as_str);
            let strange = names.filter(|name| {
                let is_own = self.answer.definition(name).is_some() || taken.contains(name);
                !is_own && !usable.contains(name) && is_defined_by(self.module, name)
            });
            mistakes.extend(strange.map(|used| {
                format!(
                    "{name} uses {used}, which the specification defines: write it yourself as a helper `{HELPER}…`, or use a definition that declarations.md lists"
                )
            }));
        }
        mistakes
    }

    /// What the author says of the initial states.
    fn initial(&self) -> Result<StepContract, String> {
        let Some(definition) = self.answer.definition(INITIALLY) else {
            return Err(format!("`{INITIALLY}` is missing: the initial state according to the documents"));
        };
        if definition.arity() > 0 || self.mentions_next_state(INITIALLY) {
            return Err(format!("{INITIALLY} must have no parameter, no primed variable and no UNCHANGED"));
        }
        let comment = comment_words(&definition.comment);
        let is_free = self.is_true(definition);
        if is_free && free_words(&comment).len() < 3 {
            return Err(unexplained(definition));
        }
        let (label, process) = (INITIALLY.to_owned(), String::new());
        Ok(StepContract { label, process, comment, free_variables: Vec::new(), checked_by: Vec::new(), is_free })
    }

    fn is_true(&self, definition: &Definition) -> bool {
        let tree = &definition.tree;
        definition
            .body()
            .is_some_and(|body| tree.text(tree.strip_parentheses(body), &self.answer.source).trim() == "TRUE")
    }

    /// The contract of one label.
    fn step(&self, process: &DeclaredProcess, label: &DeclaredLabel) -> Result<StepContract, Vec<String>> {
        let arity = usize::from(process.members != Members::Alone);
        let find = |prefix: &str| {
            let name = format!("{prefix}{}", label.name);
            let parameters = if arity == 1 { "(self)" } else { "" };
            match self.answer.definition(&name) {
                Some(definition) if definition.arity() == arity => Ok(definition),
                Some(_) => Err(format!("write it as `{name}{parameters} == …`")),
                None => Err(format!("`{name}{parameters}` is missing")),
            }
        };
        let (guard, effect) = match (find(GUARD), find(EFFECT)) {
            (Ok(guard), Ok(effect)) => (guard, effect),
            (guard, effect) => return Err([guard.err(), effect.err()].into_iter().flatten().collect()),
        };
        let mut mistakes = Vec::new();
        if self.mentions_next_state(&guard.name) {
            mistakes.push(format!(
                "{} must have no primed variable and no UNCHANGED: it is about the state before the step",
                guard.name
            ));
        }
        let comment = [&guard.comment, &effect.comment].map(|comment| comment_words(comment)).join("\n");
        let free = free_words(&comment);
        let is_true = |definition: &Definition| self.is_true(definition);
        let variables: Vec<&str> =
            self.module.variable_names().into_iter().filter(|name| !CONTROL.contains(name)).collect();
        let settled = settled_variables(self.answer, &effect.name, &variables.iter().copied().collect());
        let free_variables: Vec<String> =
            variables.into_iter().filter(|name| !settled.contains(*name)).map(str::to_owned).collect();
        let unsaid: Vec<&str> =
            free_variables.iter().map(String::as_str).filter(|name| !free.contains(*name)).collect();
        if !unsaid.is_empty() && !is_true(effect) {
            mistakes.push(format!(
                "{} does not say in each case what becomes of {}: give the value after the step, or UNCHANGED, in each disjunct and in each part of IF and CASE (not as `A => B`), or write `\\* free: <variables>: <why>` above it",
                effect.name,
                unsaid.join(", ")
            ));
        }
        for definition in [guard, effect].into_iter().filter(|definition| is_true(definition)) {
            if free_words(&comment_words(&definition.comment)).len() < 3 {
                mistakes.push(unexplained(definition));
            }
        }
        if !mistakes.is_empty() {
            return Err(mistakes);
        }
        let is_free = is_true(effect);
        Ok(StepContract {
            label: label.name.clone(),
            process: process.name.clone(),
            comment,
            free_variables,
            checked_by: Vec::new(),
            is_free,
        })
    }

    /// This definition and those of the answer that it uses.
    fn with_helpers(&self, name: &str) -> impl Iterator<Item = &Definition> {
        let mut names = self.answer.closure(name);
        names.insert(name.to_owned());
        names.into_iter().filter_map(|name| self.answer.definition(&name))
    }

    fn mentions_next_state(&self, name: &str) -> bool {
        let mut names = self.with_helpers(name).flat_map(|definition| &definition.references.names);
        names.any(|name| name == "'" || name == "UNCHANGED")
    }
}

/// Whether the specification defines the name, in the module or in its algorithm.
fn is_defined_by(module: &Module, name: &str) -> bool {
    let in_algorithm = module.algorithm.as_ref().is_some_and(|algorithm| algorithm.definition(name).is_some());
    in_algorithm || module.definition(name).is_some()
}

/// A comment without its markers, one line a line.
fn comment_words(comment: &str) -> String {
    let lines =
        comment.lines().map(|line| line.trim().trim_start_matches(['\\', '(', '*']).trim_end_matches("*)").trim());
    lines.filter(|line| !line.is_empty() && !line.chars().all(|c| c == '-')).collect::<Vec<_>>().join("\n")
}

/// The words after `free:` in a comment.
fn free_words(comment: &str) -> BTreeSet<&str> {
    let words = comment.lines().filter_map(after_free);
    words.flat_map(|line| line.split(|c: char| !c.is_alphanumeric() && c != '_')).filter(|w| !w.is_empty()).collect()
}

/// The rest of a line that begins with `free:`.
fn after_free(line: &str) -> Option<&str> {
    let start = line.get(..5)?;
    start.eq_ignore_ascii_case("free:").then(|| &line[5..])
}

/// The names and the definitions of the step properties. Sets which of them check each contract.
fn write_properties(
    module: &Module,
    cfg: &Cfg,
    steps: &DeclaredSteps,
    contracts: &mut [StepContract],
) -> (Vec<String>, String) {
    let variables = module.variable_names();
    let others: Vec<&str> = variables.into_iter().filter(|name| !CONTROL.contains(name)).collect();
    let unchanged = format!("UNCHANGED << {} >>", others.join(", "));
    let mut written = Written::default();
    let Some((initial, contracts)) = contracts.split_first_mut() else {
        return (written.names, written.text);
    };
    // A constraint may cut off initial states, which the embedded checker then does not compare.
    if !initial.is_free && cfg.constraints.is_empty() {
        let _ = write!(
            written.text,
            "\\* covers nothing: what the documents say of the initial state\n{START} == {INITIALLY}\n\n"
        );
        written.names.push(START.to_owned());
        initial.checked_by.push(START.to_owned());
    }
    // The steps that may end at their own label, and those of an algorithm without `pc`.
    let (mut stays, mut any) = (Vec::new(), Vec::new());
    let has_free = contracts.iter().any(|contract| contract.is_free);
    // A step at one of these labels may be any step, and `pc` does not say whose step it is.
    let mut pairs = steps.labels().zip(contracts.iter());
    let has_free_stay = pairs.any(|((_, label), contract)| label.may_stay() && contract.is_free);
    for ((process, label), contract) in steps.labels().zip(contracts.iter_mut()) {
        let words = StepWords::new(process, label);
        any.push(words.some(&words.both));
        if label.may_stay() {
            stays.push(words.some(&format!("{} = \"{}\" /\\ {}", words.pc, label.name, words.both)));
        }
        if contract.is_free || has_free_stay && label.may_stay() {
            continue;
        }
        if !steps.has_pc {
            contract.checked_by.extend((!has_free).then(|| ANY_STEP.to_owned()));
            continue;
        }
        contract.checked_by.extend(label.may_stay().then(|| SAME_LABEL.to_owned()));
        if label.may_move() {
            let name = format!("{CONTRACT}{}", label.name);
            let comment = format!("covers nothing: what the documents say of {}", label.name);
            written.define(&name, &comment, &words.contract(label, &unchanged));
            contract.checked_by.push(name);
        }
    }
    if !steps.has_pc && !has_free {
        written.define(ANY_STEP, "covers nothing: every step is one that the documents describe", &disjunction(&any));
    }
    if steps.has_pc && !stays.is_empty() && !has_free_stay {
        let formula = format!("(pc' = pc) =>\n        ({})", disjunction(&stays));
        written.define(
            SAME_LABEL,
            "covers nothing: the documents describe each step that ends at its own label",
            &formula,
        );
    }
    (written.names, written.text)
}

/// Step properties.
#[derive(Default)]
struct Written {
    names: Vec<String>,
    text: String,
}

impl Written {
    fn define(&mut self, name: &str, comment: &str, formula: &str) {
        let _ = write!(self.text, "\\* {comment}\n{name} ==\n    [][{formula}]_vars\n\n");
        self.names.push(name.to_owned());
    }
}

/// The parts of formulas about the steps of one label.
pub(crate) struct StepWords {
    /// The label of the acting process.
    pc: &'static str,
    /// The bound of the acting process, if there are several.
    bound: Option<String>,
    /// Guard and effect.
    both: String,
}

impl StepWords {
    pub(crate) fn new(process: &DeclaredProcess, label: &DeclaredLabel) -> Self {
        let bound = match &process.members {
            Members::Alone => None,
            Members::One(id) => Some(format!("self \\in {{{id}}} : ")),
            Members::Each(set) => Some(format!("self \\in {set} : ")),
        };
        let (pc, argument) = if bound.is_some() { ("pc[self]", "(self)") } else { ("pc", "") };
        let name = &label.name;
        Self { pc, bound, both: format!("{GUARD}{name}{argument} /\\ {EFFECT}{name}{argument}") }
    }

    fn next_pc(&self) -> &'static str {
        if self.bound.is_some() { "pc'[self]" } else { "pc'" }
    }

    /// The formula for some acting process.
    fn some(&self, formula: &str) -> String {
        self.bound.as_ref().map_or_else(|| formula.to_owned(), |bound| format!("\\E {bound}{formula}"))
    }

    /// Says that a step takes the case `case` of this part of the contract. The other part has to be true as well.
    pub(crate) fn case(&self, label: &DeclaredLabel, part: &str, case: &str, has_pc: bool) -> String {
        let (Self { pc, .. }, next, name) = (self, self.next_pc(), &label.name);
        let stays = if label.may_stay() { " \\/ pc' = pc" } else { "" };
        let leaves =
            if has_pc { format!("{pc} = \"{name}\" /\\ ({next} # \"{name}\"{stays}) /\\ ") } else { String::new() };
        self.some(&format!("{leaves}{}", self.part_as_case(label, part, case)))
    }

    /// The same for a step that leaves `pc` as it is, with a value for `pc'`, so that a checker can tell whether it is enabled.
    pub(crate) fn staying_case(&self, label: &DeclaredLabel, part: &str, case: &str, has_pc: bool) -> String {
        let (Self { pc, .. }, name) = (self, &label.name);
        let stays = if has_pc { format!("{pc} = \"{name}\" /\\ pc' = pc /\\ ") } else { String::new() };
        self.some(&format!("{stays}{}", self.part_as_case(label, part, case)))
    }

    /// Guard and effect, one of them replaced by a case of it.
    fn part_as_case(&self, label: &DeclaredLabel, part: &str, case: &str) -> String {
        let argument = if self.bound.is_some() { "(self)" } else { "" };
        let name = &label.name;
        if part == GUARD {
            format!("{case}{argument} /\\ {EFFECT}{name}{argument}")
        } else {
            format!("{GUARD}{name}{argument} /\\ {case}{argument}")
        }
    }

    /// Says that each step that leaves the label is as the contract says, or only ends the process or a loop.
    fn contract(&self, label: &DeclaredLabel, unchanged: &str) -> String {
        let (Self { pc, both, .. }, next, name) = (self, self.next_pc(), &label.name);
        let ends: Vec<String> = label.silent_exits().iter().map(|end| format!("\"{end}\"")).collect();
        let leaves = if ends.is_empty() {
            String::new()
        } else {
            format!(" \\/ ({next} \\in {{{}}} /\\ {unchanged})", ends.join(", "))
        };
        let formula = format!("({pc} = \"{name}\" /\\ {next} # \"{name}\") => (({both}){leaves})");
        self.bound.as_ref().map_or_else(|| formula.clone(), |bound| format!("\\A {bound}{formula}"))
    }
}

fn disjunction(formulas: &[String]) -> String {
    formulas.iter().map(|formula| format!("({formula})")).collect::<Vec<_>>().join("\n        \\/ ")
}

/// The text of a configuration with the contracts among its properties.
pub fn with_contracts(cfg_text: &str, cfg: &Cfg, contracts: &Contracts) -> String {
    let new: Vec<&String> = contracts.properties.iter().filter(|name| !cfg.properties.contains(name)).collect();
    if new.is_empty() {
        return cfg_text.to_owned();
    }
    let mut text = format!("{}\n\\* What the documents say of each step\nPROPERTIES\n", cfg_text.trim_end());
    for name in new {
        let _ = writeln!(text, "    {name}");
    }
    text
}

/// Says what to send back for a definition that is `TRUE` without a reason.
fn unexplained(definition: &Definition) -> String {
    let name = &definition.name;
    format!("{name} is TRUE: say why the documents leave it free, as `\\* free: <why>` above it")
}
