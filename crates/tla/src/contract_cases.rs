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

/// Limit on the number of cases of a definition; the rest of it is one case.
const MAX_CASES: usize = 300;
/// Limit on the number of characters of a case in reports.
const MAX_TEXT: usize = 160;
/// Limit on the number of characters of a longer case, and of what surrounds it.
const MAX_PART: usize = 90;
/// Replaces the other cases. It is shorter than any formula about a step.
const NEVER: &str = "0=1";

/// A case of a step, with the question whether any step takes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContractCase {
    pub label: String,
    /// The case on one line, within the formula that contains it; each other case of that formula is shown as `…`.
    pub text: String,
    /// The line of the case in the module, from 1.
    pub line: usize,
    /// A definition that `formula` needs, for a module that extends the specification's.
    pub definition: String,
    /// An action: it is true of a step from one state to the next if the step takes this case.
    pub formula: String,
    /// The same for a step that leaves `pc` as it is, with a value for `pc'`, so that a checker can tell whether it is enabled.
    pub staying: String,
}

/// Finds the cases of the steps whose contract the configuration lists: the disjuncts of guard and effect, and the parts of `IF`
/// and `CASE`. A guard or an effect with a single case is left out: coverage shows whether its step is taken.
pub fn contract_cases(module: &Module, cfg: &Cfg) -> Vec<ContractCase> {
    let Some(steps) = DeclaredSteps::from_module(module) else { return Vec::new() };
    if !cfg.properties.iter().any(|name| name.starts_with(CONTRACT)) {
        return Vec::new();
    }
    let prefix = free_prefix(module);
    let mut cases = Vec::new();
    for (process, label) in steps.labels() {
        for part in [GUARD, EFFECT] {
            let Some(definition) = module.definition(&format!("{part}{}", label.name)) else { continue };
            let leaves = Reader { module, tree: &definition.tree, found: Vec::new() }.leaves(definition);
            for leaf in leaves {
                let name = format!("{prefix}Case{}", cases.len());
                cases.push(leaf.case(module, definition, part, &name, (process, label), steps.has_pc));
            }
        }
    }
    cases
}

/// A case of a definition.
#[derive(Debug, Clone)]
struct Leaf {
    id: Id,
    /// The outermost disjunct, conjunction, `IF` or `CASE` that contains the case.
    whole: Option<Id>,
    /// The other cases.
    others: Vec<Range<usize>>,
}

impl Leaf {
    fn case(
        self,
        module: &Module,
        definition: &Definition,
        part: &str,
        name: &str,
        (process, label): (&DeclaredProcess, &DeclaredLabel),
        has_pc: bool,
    ) -> ContractCase {
        let words = StepWords::new(process, label);
        let tree = &definition.tree;
        let range = definition.body().map(|body| tree.range(body)).unwrap_or_default();
        let body = replaced(&module.source, &range, &self.others, |other| {
            let blank = |c: char| if c == '\n' { '\n' } else { ' ' };
            NEVER.chars().chain(other.chars().skip(NEVER.len()).map(blank)).collect()
        });
        let column = " ".repeat(super::layout::column_of(&module.source, range.start));
        let parameters: Vec<&str> = definition.params.iter().map(|param| param.name.as_str()).collect();
        let parameters = if parameters.is_empty() { String::new() } else { format!("({})", parameters.join(", ")) };
        ContractCase {
            label: label.name.clone(),
            text: self.text(module, tree),
            line: module.place(tree.node(self.id).start).line,
            definition: format!("{name}{parameters} ==\n{column}{body}\n"),
            formula: words.case(label, part, name, has_pc),
            staying: words.staying_case(label, part, name, has_pc),
        }
    }

    /// The case with what surrounds it; if that is too long, the case and the beginning of what surrounds it, in backticks.
    fn text(&self, module: &Module, tree: &Tree) -> String {
        let own = one_line(tree.text(self.id, &module.source));
        let Some(whole) = self.whole else { return shortened(&own, MAX_TEXT) };
        let range = tree.range(whole);
        let inside: Vec<Range<usize>> = self
            .others
            .iter()
            .filter(|other| range.contains(&other.start) && other.end <= range.end)
            .cloned()
            .collect();
        let whole = one_line(&replaced(&module.source, &range, &inside, |_| "…".to_owned()));
        if whole.chars().count() <= MAX_TEXT || whole == own {
            return shortened(&whole, MAX_TEXT);
        }
        format!("`{}`, in `{}`", shortened(&own, MAX_PART), shortened(&whole, MAX_PART))
    }
}

fn shortened(text: &str, limit: usize) -> String {
    if text.chars().count() <= limit {
        return text.to_owned();
    }
    text.chars().take(limit - 1).chain(['…']).collect()
}

/// The text of `range` in which each of these parts of it is replaced.
fn replaced(source: &str, range: &Range<usize>, parts: &[Range<usize>], by: impl Fn(&str) -> String) -> String {
    let mut parts = parts.to_vec();
    parts.sort_by_key(|part| part.start);
    let (mut text, mut at) = (String::new(), range.start);
    for part in parts {
        text.push_str(&source[at..part.start]);
        text.push_str(&by(&source[part.clone()]));
        at = part.end;
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
            self.visit(&Leaf { id: body, whole: None, others: Vec::new() }, 0);
        }
        if self.found.len() > 1 { self.found } else { Vec::new() }
    }

    /// Collects the cases of the formula that `context` is about.
    fn visit(&mut self, context: &Leaf, depth: usize) {
        let tree = self.tree;
        let id = tree.strip_parentheses(context.id);
        let field = |name: Field| tree.field(id, name);
        if depth > MAX_DEPTH || self.found.len() > MAX_CASES {
            return self.found.push(Leaf { id, ..context.clone() });
        }
        let parts: Vec<Id> = match (tree.kind(id), tree.operator(id)) {
            (NodeKind::DisjunctionList, _) => tree.children(id).map(|item| tree.strip_parentheses(item)).collect(),
            (NodeKind::Infix, "\\/") => [Field::Left, Field::Right].into_iter().filter_map(field).collect(),
            (NodeKind::IfThenElse, _) => [Field::Then, Field::Else].into_iter().filter_map(field).collect(),
            (NodeKind::Case, _) => tree.children(id).filter_map(|arm| tree.children(arm).next_back()).collect(),
            (NodeKind::ConjunctionList, _) => {
                let conjuncts: Vec<Id> = tree.children(id).collect();
                return self.conjuncts(context, id, &conjuncts, depth);
            }
            (NodeKind::Infix, "/\\") => {
                let conjuncts: Vec<Id> = [Field::Left, Field::Right].into_iter().filter_map(field).collect();
                return self.conjuncts(context, id, &conjuncts, depth);
            }
            (NodeKind::LetIn, _) => return self.body(context, id, depth),
            (NodeKind::Bounded, _) if tree.is_exists(id) => return self.body(context, id, depth),
            _ => return self.found.push(Leaf { id, ..context.clone() }),
        };
        self.alternatives(context, id, &parts, depth);
    }

    /// Visits the body of a quantifier or LET. If that is a single case, the case is the whole of it.
    fn body(&mut self, context: &Leaf, id: Id, depth: usize) {
        let body = self.tree.field(id, Field::Body).unwrap_or(id);
        self.conjuncts(context, id, &[body], depth);
    }

    /// Collects the cases of each conjunct that has several. If none has, the conjunction is one case.
    fn conjuncts(&mut self, context: &Leaf, id: Id, conjuncts: &[Id], depth: usize) {
        let before = self.found.len();
        let whole = context.whole.or(Some(id));
        for conjunct in conjuncts {
            let start = self.found.len();
            self.visit(&Leaf { id: *conjunct, whole, ..context.clone() }, depth + 1);
            if self.found.len() == start + 1 {
                self.found.pop();
            }
        }
        if self.found.len() == before {
            self.found.push(Leaf { id, ..context.clone() });
        }
    }

    fn alternatives(&mut self, context: &Leaf, id: Id, parts: &[Id], depth: usize) {
        let tree = self.tree;
        let ranges: Vec<Range<usize>> = parts.iter().map(|part| tree.range(*part)).collect();
        // A shorter part cannot be replaced without moving the rest of its line.
        if ranges.iter().any(|range| range.len() < NEVER.len()) {
            return self.found.push(Leaf { id, ..context.clone() });
        }
        let is_choice = matches!(tree.kind(id), NodeKind::IfThenElse | NodeKind::Case);
        for (at, part) in parts.iter().enumerate() {
            let inner = tree.strip_parentheses(*part);
            // A part that is FALSE is no case.
            if tree.text(inner, &self.module.source).trim() == "FALSE" {
                continue;
            }
            let whole = context.whole.or(Some(if is_choice { id } else { *part }));
            let others = ranges.iter().enumerate().filter(|(other, _)| *other != at).map(|(_, range)| range.clone());
            let others = context.others.iter().cloned().chain(others).collect();
            self.visit(&Leaf { id: *part, whole, others }, depth + 1);
        }
    }
}
