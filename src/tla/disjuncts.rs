//! The actions that a next-state relation is made of, each as a formula that can stand in a module extending the
//! specification's: for checkers that do not name the actions of a step themselves. They are told apart, and named, as
//! TLC does it: disjunctions always; `\E p \in S : A(p)` where `S` is constant; a definition where its arguments are.

use std::fmt::Write as _;

use super::cfg::Cfg;
use super::definition::{Definition, DefinitionKind};
use super::fairness::{bare, body, callee, is_constant, next_state};
use super::module::Module;
use super::outcome::{Place, part_of};
use super::syntax::{Id, MAX_DEPTH, Tree};

/// More actions than that are no specification that a person wrote.
const MOST: usize = 500;

/// The actions of a next-state relation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Disjuncts {
    /// Definitions for a module that extends the specification's; the formulas use them.
    pub definitions: String,
    /// The actions, in the order of the text.
    pub actions: Vec<Disjunct>,
}

/// One action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Disjunct {
    /// The definition that it is, or is a part of.
    pub name: String,
    /// What it is called in a report: the name, and the place of a part.
    pub label: String,
    /// Where such a part begins.
    pub place: Option<Place>,
    /// The action as a formula.
    pub formula: String,
}

impl Disjuncts {
    /// Takes the next-state relation apart. Names of definitions begin with `prefix`. An error says why there is no
    /// next-state relation to take apart.
    pub fn of(module: &Module, cfg: &Cfg, prefix: &str) -> Result<Self, String> {
        Self::apart(module, cfg, prefix, Definitions::Entered)
    }

    /// As [`Disjuncts::of`], but a definition that the next-state relation uses is one action: of an algorithm these are
    /// its processes.
    pub(super) fn outermost(module: &Module, cfg: &Cfg, prefix: &str) -> Result<Self, String> {
        Self::apart(module, cfg, prefix, Definitions::Whole)
    }

    fn apart(module: &Module, cfg: &Cfg, prefix: &str, used: Definitions) -> Result<Self, String> {
        let (next, ..) = next_state(module, cfg)?;
        let mut walk =
            Walk { module, cfg, prefix, used, definitions: String::new(), helpers: 0, parts: 0, open: Vec::new() };
        let definition = module.definition(&next).filter(|d| walk.can_be_entered(d) && d.params.is_empty());
        let definition =
            definition.ok_or_else(|| format!("the next-state relation `{next}` is no plain definition"))?;
        let parts = walk.definition(definition);
        if walk.parts > MOST {
            return Err(format!("the next-state relation holds more than {MOST} actions"));
        }
        let definitions = walk.definitions;
        let in_line = |at: &Place, other: &Part| other.place.is_some_and(|place| place.line == at.line);
        let label = |part: &Part| {
            part.place.map_or_else(
                || part.name.clone(),
                |place| {
                    let same = parts.iter().filter(|other| other.name == part.name && in_line(&place, other));
                    part_of(&part.name, place, same.count() == 1)
                },
            )
        };
        let actions = parts.iter().map(|part| Disjunct {
            name: part.name.clone(),
            label: label(part),
            place: part.place,
            formula: part.formula.clone().unwrap_or_else(|| part.name.clone()),
        });
        let actions = actions.collect();
        Ok(Self { definitions, actions })
    }
}

/// An action, seen from the definition that is being taken apart.
struct Part {
    name: String,
    place: Option<Place>,
    /// In terms of that definition's parameters; `None` where the action is the whole of it.
    formula: Option<String>,
}

struct Walk<'a> {
    module: &'a Module,
    cfg: &'a Cfg,
    prefix: &'a str,
    used: Definitions,
    definitions: String,
    helpers: usize,
    parts: usize,
    /// Definitions in work: a recursive one is not entered again.
    open: Vec<&'a str>,
}

impl<'a> Walk<'a> {
    fn can_be_entered(&self, definition: &Definition) -> bool {
        definition.kind == DefinitionKind::Operator
            && !definition.damaged
            && definition.params.iter().all(|param| param.arity == 0)
            && definition.name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
            && !self.cfg.constants.get(&definition.name).is_some_and(|by| by.starts_with("<-"))
    }

    fn definition(&mut self, definition: &'a Definition) -> Vec<Part> {
        let whole = Part { name: definition.name.clone(), place: None, formula: None };
        let Some(body) = body(definition) else { return vec![whole] };
        self.open.push(&definition.name);
        let parts = self.visit(&definition.tree, body, definition, Whole::Yes, 0);
        self.open.pop();
        parts
    }

    fn visit(&mut self, tree: &'a Tree, id: Id, of: &'a Definition, whole: Whole, depth: usize) -> Vec<Part> {
        let id = bare(tree, id);
        let is = |field: &str, kind: &str| tree.field(id, field).is_some_and(|child| tree.node(child).kind == kind);
        if depth > MAX_DEPTH || self.parts > MOST {
            return self.leaf(tree, id, of, whole);
        }
        match tree.node(id).kind {
            "disj_list" => {
                let items: Vec<Id> = tree.children(id).collect();
                items.into_iter().flat_map(|item| self.visit(tree, item, of, Whole::No, depth + 1)).collect()
            }
            "bound_infix_op" if is("symbol", "lor") => {
                let sides = ["lhs", "rhs"].into_iter().filter_map(|side| tree.field(id, side));
                sides.flat_map(|side| self.visit(tree, side, of, Whole::No, depth + 1)).collect()
            }
            "bounded_quantification" if is("quantifier", "exists") => {
                let (Some(bounds), Some(inner)) = (self.constant_bounds(tree, id), tree.field(id, "expression")) else {
                    return self.leaf(tree, id, of, whole);
                };
                let parts = self.visit(tree, inner, of, Whole::No, depth + 1);
                let bound = |part: Part| Part {
                    formula: part.formula.map(|formula| format!("(\\E {bounds} : ({formula}))")),
                    ..part
                };
                parts.into_iter().map(bound).collect()
            }
            "identifier_ref" | "bound_op" => self.call(tree, id).unwrap_or_else(|| self.leaf(tree, id, of, whole)),
            _ => self.leaf(tree, id, of, whole),
        }
    }

    /// A definition that is used: what it is made of, where its arguments are constant.
    fn call(&mut self, tree: &'a Tree, id: Id) -> Option<Vec<Part>> {
        let source = &self.module.source;
        let name_at = callee(tree, id)?;
        let name = tree.text(name_at, source);
        let definition = self.module.definition(name)?;
        let arguments: Vec<Id> = tree.children(id).filter(|child| *child != name_at).collect();
        let text = self.formula(tree, id);
        let constant = arguments.iter().all(|argument| is_constant(self.module, tree, *argument));
        if !constant {
            self.parts += 1;
            return Some(vec![Part { name: name.to_owned(), place: Some(self.place(tree, id)), formula: Some(text) }]);
        }
        if self.used == Definitions::Whole
            || !self.can_be_entered(definition)
            || definition.params.len() != arguments.len()
            || self.open.contains(&definition.name.as_str())
        {
            self.parts += 1;
            return Some(vec![Part { name: name.to_owned(), place: None, formula: Some(text) }]);
        }
        let parts = self.definition(definition);
        let params: Vec<&str> = definition.params.iter().map(|param| param.name.as_str()).collect();
        let called = tree.node(name_at).end..tree.node(id).end;
        let arguments = source.get(called).unwrap_or("").trim();
        let here = |part: Part| {
            let formula = match part.formula {
                None => text.clone(),
                Some(formula) if params.is_empty() => formula,
                Some(formula) => {
                    self.helpers += 1;
                    let helper = format!("{}{}", self.prefix, self.helpers);
                    // Writing to a string cannot fail.
                    let _ = writeln!(self.definitions, "{helper}({}) ==\n  {formula}", params.join(", "));
                    format!("{helper}{arguments}")
                }
            };
            Part { formula: Some(formula), ..part }
        };
        Some(parts.into_iter().map(here).collect())
    }

    fn leaf(&mut self, tree: &Tree, id: Id, of: &Definition, whole: Whole) -> Vec<Part> {
        self.parts += 1;
        let (place, formula) = match whole {
            Whole::Yes => (None, None),
            Whole::No => (Some(self.place(tree, id)), Some(self.formula(tree, id))),
        };
        vec![Part { name: of.name.clone(), place, formula }]
    }

    /// The text of a formula. Bulleted lists live by their columns.
    fn formula(&self, tree: &Tree, id: Id) -> String {
        let source = &self.module.source;
        let text = tree.text(id, source);
        if !text.contains('\n') {
            return text.to_owned();
        }
        let start = tree.node(id).start;
        let line = source[..start].rfind('\n').map_or(0, |at| at + 1);
        let column = source[line..start].chars().count();
        format!("(\n{}{text}\n)", " ".repeat(column))
    }

    /// The bounds of a quantifier, where TLC can list the elements of each of its sets.
    fn constant_bounds(&self, tree: &Tree, id: Id) -> Option<String> {
        let source = &self.module.source;
        let bounds: Vec<Id> = tree.children(id).filter(|child| tree.node(*child).kind == "quantifier_bound").collect();
        let listable = |bound: &Id| {
            let Some(set) = tree.field(*bound, "set") else { return false };
            let replaced = |name: &str| self.cfg.constants.contains_key(name);
            let endless = |name: &str| matches!(name, "Nat" | "Int" | "Real" | "STRING") && !replaced(name);
            is_constant(self.module, tree, set) && !endless(tree.text(set, source).trim())
        };
        let range = tree.node(*bounds.first()?).start..tree.node(*bounds.last()?).end;
        let text = source.get(range)?;
        (!text.contains('\n') && bounds.iter().all(listable)).then(|| text.to_owned())
    }

    fn place(&self, tree: &Tree, id: Id) -> Place {
        let before = &self.module.source[..tree.node(id).start];
        let line = &before[before.rfind('\n').map_or(0, |at| at + 1)..];
        Place { line: before.matches('\n').count() + 1, column: line.chars().count() + 1 }
    }
}

/// What becomes of the definitions that the next-state relation uses.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Definitions {
    Entered,
    Whole,
}

/// Whether a formula is the whole of a definition.
#[derive(Clone, Copy)]
enum Whole {
    Yes,
    No,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn apart(next: &str) -> Disjuncts {
        let text = format!(
            "---- MODULE M ----\nVARIABLE x\nCONSTANTS P, Q\nSend(p) == x' = p\n\
             Both(p) == \\/ x' = p\n           \\/ /\\ x = 1\n              /\\ x' = x\n\
             Loop(p) == Loop(p)\nInit == x = 0\nNext == {next}\nSpec == Init /\\ [][Next]_x\n====\n"
        );
        let cfg = Cfg::parse("SPECIFICATION Spec\n").expect("a configuration");
        Disjuncts::of(&Module::parse(&text).expect("a module"), &cfg, "T_").expect("a relation")
    }

    fn labels(next: &str) -> Vec<String> {
        apart(next).actions.into_iter().map(|action| action.label).collect()
    }

    fn formulas(next: &str) -> Vec<String> {
        apart(next).actions.into_iter().map(|action| action.formula).collect()
    }

    #[test]
    fn definitions_are_actions_under_their_names() {
        assert_eq!(formulas("Send(1) \\/ Send(2)"), ["Send(1)", "Send(2)"]);
        assert_eq!(labels("x' = 1"), ["Next"]);
        assert_eq!(formulas("x' = 1"), ["Next"]);
        assert_eq!(formulas("\\E p \\in P : Send(p)"), ["(\\E p \\in P : (Send(p)))"]);
        assert_eq!(labels("Loop(1)"), ["Loop"]);
    }

    #[test]
    fn parts_of_a_definition_keep_their_place_and_their_columns() {
        assert_eq!(labels("\\E p \\in P : Both(p)"), ["Both (line 5)", "Both (line 6)"]);
        let both = apart("\\E q \\in P : Both(q)");
        assert_eq!(
            both.definitions,
            "T_1(p) ==\n  x' = p\nT_2(p) ==\n  (\n              /\\ x = 1\n              /\\ x' = x\n)\n"
        );
        assert_eq!(both.actions[1].formula, "(\\E q \\in P : (T_2(q)))");
        assert_eq!(labels("x' = 1 \\/ x' = 2"), ["Next (line 10, column 9)", "Next (line 10, column 19)"]);
    }

    #[test]
    fn what_tlc_cannot_list_stays_whole() {
        assert_eq!(labels("\\E p \\in {x} : Send(p)"), ["Next"]);
        assert_eq!(labels("\\E p \\in Nat : Send(p)"), ["Next"]);
        assert_eq!(labels("Both(x) \\/ x' = 3"), ["Both (line 10)", "Next (line 10)"]);
    }
}
