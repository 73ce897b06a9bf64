//! The cases of step contracts. A contract allows what the documents describe, and never says that it happens: an algorithm that
//! leaves out a documented case keeps it. So each case is a witness: does any step of the algorithm take it? Pure.

use std::ops::Range;

use super::cfg::Cfg;
use super::contracts::{CONTRACT, EFFECT, GUARD, StepWords};
use super::declared_steps::{DeclaredLabel, DeclaredProcess, DeclaredSteps};
use super::definition::Definition;
use super::module::Module;
use super::syntax::{Field, Id, MAX_DEPTH, NodeKind, Tree};
use super::vacuity::free_prefix;

/// Limit on the number of cases of all steps.
const MAX_CASES: usize = 100;
/// Limit on the number of characters of a case in reports.
const MAX_WORDS: usize = 100;
/// What stands in place of the other cases.
const NEVER: &str = "FALSE";

/// A case of a step, with the question whether any step takes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContractCase {
    pub label: String,
    /// The case in the words of the contract, on one line.
    pub words: String,
    /// The line of the case in the module, from 1.
    pub line: usize,
    /// A definition that `formula` needs, for a module that extends the specification's.
    pub definition: String,
    /// An action: it is true of a step from one state to the next if the step takes this case.
    pub formula: String,
}

/// Finds the cases of the steps whose contract the configuration lists: the disjuncts of guard and effect, and the parts of `IF`
/// and `CASE`. A guard or an effect with a single case has none, because that step is in the coverage. An error says why
/// nothing can be asked.
///
/// # Errors
///
/// There are too many cases.
pub fn contract_cases(module: &Module, cfg: &Cfg) -> Result<Vec<ContractCase>, String> {
    let Some(steps) = DeclaredSteps::from_module(module) else { return Ok(Vec::new()) };
    if !cfg.properties.iter().any(|name| name.starts_with(CONTRACT)) {
        return Ok(Vec::new());
    }
    let prefix = free_prefix(module);
    let mut cases = Vec::new();
    for (process, label) in steps.labels() {
        for part in [GUARD, EFFECT] {
            let Some(definition) = module.definition(&format!("{part}{}", label.name)) else { continue };
            let leaves = Reader { module, tree: &definition.tree, found: Vec::new() }.leaves(definition);
            for leaf in leaves {
                let name = format!("{prefix}Case{}", cases.len());
                cases.push(leaf.case(module, definition, &name, process, label, steps.has_pc));
            }
        }
    }
    if cases.len() > MAX_CASES {
        return Err(format!("the contracts have more than {MAX_CASES} cases"));
    }
    Ok(cases)
}

/// A case of a definition.
#[derive(Debug, Clone)]
struct Leaf {
    id: Id,
    /// The conditions of the `IF`s and `CASE`s around it.
    conditions: Vec<String>,
    /// The other cases.
    others: Vec<Range<usize>>,
}

impl Leaf {
    fn case(
        self,
        module: &Module,
        definition: &Definition,
        name: &str,
        process: &DeclaredProcess,
        label: &DeclaredLabel,
        has_pc: bool,
    ) -> ContractCase {
        let Self { id, conditions, others } = self;
        let tree = &definition.tree;
        let words = if conditions.is_empty() { one_line(tree.text(id, &module.source)) } else { conditions.join(", ") };
        let words: String = if words.chars().count() > MAX_WORDS {
            words.chars().take(MAX_WORDS - 1).chain(['…']).collect()
        } else {
            words
        };
        let range = definition.body().map(|body| tree.range(body)).unwrap_or_default();
        let body = without(&module.source, &range, &others);
        let column = " ".repeat(super::layout::column_of(&module.source, range.start));
        let parameters: Vec<&str> = definition.params.iter().map(|param| param.name.as_str()).collect();
        let parameters = if parameters.is_empty() { String::new() } else { format!("({})", parameters.join(", ")) };
        ContractCase {
            label: label.name.clone(),
            words,
            line: module.place(tree.node(id).start).line,
            definition: format!("{name}{parameters} ==\n{column}{body}\n"),
            formula: StepWords::new(process, label).case(label, name, has_pc),
        }
    }
}

/// The text of `range` in which each of the `others` is FALSE. Everything else stays in its line and column.
fn without(source: &str, range: &Range<usize>, others: &[Range<usize>]) -> String {
    let mut others = others.to_vec();
    others.sort_by_key(|other| other.start);
    let (mut text, mut at) = (String::new(), range.start);
    for other in others {
        text.push_str(&source[at..other.start]);
        text.push_str(NEVER);
        let blank = |c: char| if c == '\n' { '\n' } else { ' ' };
        text.extend(source[other.clone()].chars().skip(NEVER.len()).map(blank));
        at = other.end;
    }
    text.push_str(&source[at..range.end]);
    text
}

fn one_line(text: &str) -> String {
    let lines = text.lines().map(|line| line.split("\\*").next().unwrap_or_default());
    lines.flat_map(str::split_whitespace).collect::<Vec<_>>().join(" ")
}

struct Reader<'a> {
    module: &'a Module,
    tree: &'a Tree,
    found: Vec<Leaf>,
}

impl Reader<'_> {
    /// The cases of the definition, if it has more than one.
    fn leaves(mut self, definition: &Definition) -> Vec<Leaf> {
        if let Some(body) = definition.body().filter(|_| !definition.has_syntax_errors) {
            self.visit(&Leaf { id: body, conditions: Vec::new(), others: Vec::new() }, 0);
        }
        if self.found.len() > 1 { self.found } else { Vec::new() }
    }

    /// Collects the cases in a formula. `around` has its node, and what surrounds it.
    fn visit(&mut self, around: &Leaf, depth: usize) {
        let tree = self.tree;
        let id = tree.strip_parentheses(around.id);
        let inside = |id: Id| Leaf { id, ..around.clone() };
        if depth > MAX_DEPTH || self.found.len() > MAX_CASES {
            return self.found.push(inside(id));
        }
        let field = |name: Field| tree.field(id, name);
        match (tree.kind(id), tree.operator(id)) {
            (NodeKind::DisjunctionList, _) => {
                let parts: Vec<Id> = tree.children(id).map(|item| tree.strip_parentheses(item)).collect();
                self.alternatives(around, id, parts.into_iter().map(|part| (part, None)).collect(), depth);
            }
            (NodeKind::Infix, "\\/") => {
                let parts = [Field::Left, Field::Right].into_iter().filter_map(field);
                self.alternatives(around, id, parts.map(|part| (part, None)).collect(), depth);
            }
            (NodeKind::IfThenElse, _) => {
                let condition = field(Field::Condition).map(|id| self.quoted(id)).unwrap_or_default();
                let parts = [(Field::Then, condition.clone()), (Field::Else, format!("not {condition}"))];
                let parts = parts.into_iter().filter_map(|(part, words)| Some((field(part)?, Some(words))));
                self.alternatives(around, id, parts.collect(), depth);
            }
            (NodeKind::Case, _) => {
                let arm = |arm: Id| {
                    let parts: Vec<Id> = tree.children(arm).collect();
                    let (value, condition) = parts.split_last()?;
                    Some((*value, Some(condition.first().map_or("OTHER".to_owned(), |id| self.quoted(*id)))))
                };
                let arms = tree.children(id).filter_map(arm).collect();
                self.alternatives(around, id, arms, depth);
            }
            // The cases of a conjunction are those of its only conjunct with several. Of two, all combinations may be impossible.
            (NodeKind::ConjunctionList, _) => {
                let parts: Vec<Id> = tree.children(id).collect();
                self.conjuncts(around, id, &parts, depth);
            }
            (NodeKind::Infix, "/\\") => {
                let parts: Vec<Id> = [Field::Left, Field::Right].into_iter().filter_map(field).collect();
                self.conjuncts(around, id, &parts, depth);
            }
            (NodeKind::LetIn, _) => self.inner(around, id, depth),
            (NodeKind::Bounded, _) if tree.is_exists(id) => self.inner(around, id, depth),
            _ => self.found.push(inside(id)),
        }
    }

    /// Visits the body of `id`. If it is a single case, the case is the whole of `id`.
    fn inner(&mut self, around: &Leaf, id: Id, depth: usize) {
        let body = self.tree.field(id, Field::Body).unwrap_or(id);
        let before = self.found.len();
        self.visit(&Leaf { id: body, ..around.clone() }, depth + 1);
        if self.found.len() == before + 1 && self.found[before].conditions == around.conditions {
            self.found[before].id = id;
        }
    }

    fn conjuncts(&mut self, around: &Leaf, id: Id, parts: &[Id], depth: usize) {
        let before = self.found.len();
        for part in parts {
            let start = self.found.len();
            self.visit(&Leaf { id: *part, ..around.clone() }, depth + 1);
            if self.found.len() == start + 1 {
                self.found.pop();
            }
        }
        if self.found.len() == before {
            self.found.push(Leaf { id, ..around.clone() });
        }
    }

    fn alternatives(&mut self, around: &Leaf, id: Id, parts: Vec<(Id, Option<String>)>, depth: usize) {
        let ranges: Vec<Range<usize>> = parts.iter().map(|(part, _)| self.tree.range(*part)).collect();
        // What is shorter than the word that replaces it would move the rest of its line.
        let is_short = |range: &Range<usize>| range.len() < NEVER.len();
        if ranges.iter().any(is_short) {
            return self.found.push(Leaf { id, ..around.clone() });
        }
        for (at, (part, condition)) in parts.into_iter().enumerate() {
            // A part that is FALSE is no case.
            if self.tree.text(self.tree.strip_parentheses(part), &self.module.source).trim() == NEVER {
                continue;
            }
            let mut leaf = around.clone();
            leaf.id = part;
            leaf.conditions.extend(condition);
            leaf.others.extend(ranges.iter().enumerate().filter(|(other, _)| *other != at).map(|(_, r)| r.clone()));
            self.visit(&leaf, depth + 1);
        }
    }

    fn quoted(&self, id: Id) -> String {
        format!("`{}`", one_line(self.tree.text(id, &self.module.source)))
    }
}
