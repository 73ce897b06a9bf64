//! Splits a next-state relation into its actions, each as a formula for a module that extends the specification's: for
//! checkers that do not name the action of a step themselves. It splits and names them as TLC does: disjunctions
//! always, `\E p \in S : A(p)` if `S` is constant, a definition if its arguments are constant.

use std::fmt::Write as _;
use std::ops::Range;

use super::branches::{ActionBranch, Helpers, can_be_rewritten, find_branches};
use super::cfg::Cfg;
use super::definition::Definition;
use super::module::Module;
use super::next_relation::NextRelation;
use super::outcome::action_part_label;
use super::place::Place;
use super::syntax::{Field, Id, MAX_DEPTH, NodeKind, Tree};

/// Limit on the number of actions; no hand-written specification has more.
const MAX_ACTIONS: usize = 500;

/// The actions of a next-state relation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Disjuncts {
    /// Definitions for a module that extends the specification's; the formulas use them.
    pub definitions: String,
    /// The actions, in the order of the text.
    pub actions: Vec<Disjunct>,
}

/// One action of a next-state relation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Disjunct {
    /// The definition that the action is, or is a part of.
    pub name: String,
    /// Its label in reports: the name, with the position if it is only a part of the definition.
    pub label: String,
    /// Where the part begins; `None` if the action is the whole definition.
    pub place: Option<Place>,
    pub formula: String,
    /// The set of the arguments, each a tuple, with which the action explains a step; `None` if it has none.
    pub arguments: Option<String>,
    /// The bytes of the part; `None` if the action is the whole definition.
    pub range: Option<Range<usize>>,
    /// Its branches, if they were asked for.
    pub branches: Vec<ActionBranch>,
}

impl Disjuncts {
    /// Splits the next-state relation. The names of helper definitions begin with `prefix`. An error says why there is
    /// no next-state relation to split.
    pub fn split(module: &Module, cfg: &Cfg, prefix: &str) -> Result<Self, String> {
        Self::split_to(module, cfg, prefix, CalledDefinitions::Split, false)
    }

    /// Like [`Disjuncts::split`], with the branches of each action.
    pub fn split_with_branches(module: &Module, cfg: &Cfg, prefix: &str) -> Result<Self, String> {
        Self::split_to(module, cfg, prefix, CalledDefinitions::Split, true)
    }

    /// Like [`Disjuncts::split`], but each definition that the next-state relation calls is one action: for an algorithm
    /// these are its processes.
    pub(super) fn split_outermost(module: &Module, cfg: &Cfg, prefix: &str) -> Result<Self, String> {
        Self::split_to(module, cfg, prefix, CalledDefinitions::Keep, false)
    }

    fn split_to(
        module: &Module,
        cfg: &Cfg,
        prefix: &str,
        called: CalledDefinitions,
        with_branches: bool,
    ) -> Result<Self, String> {
        let NextRelation { next, .. } = NextRelation::find(module, cfg)?;
        let mut walk = Walk {
            module,
            cfg,
            prefix,
            called,
            with_branches,
            definitions: String::new(),
            helpers: 0,
            parts: 0,
            open: Vec::new(),
        };
        let definition = module.definition(&next).filter(|d| can_be_rewritten(d, cfg) && d.params.is_empty());
        let definition =
            definition.ok_or_else(|| format!("the next-state relation `{next}` is no plain definition"))?;
        let parts = walk.definition(definition);
        if walk.parts > MAX_ACTIONS {
            return Err(format!("the next-state relation holds more than {MAX_ACTIONS} actions"));
        }
        let definitions = walk.definitions;
        let is_on_line = |line: usize, part: &Part| part.place.is_some_and(|place| place.line == line);
        let label = |part: &Part| {
            part.place.map_or_else(
                || part.name.clone(),
                |place| {
                    let same = parts.iter().filter(|other| other.name == part.name && is_on_line(place.line, other));
                    action_part_label(&part.name, place, same.count() == 1)
                },
            )
        };
        let actions = parts.iter().map(|part| Disjunct {
            name: part.name.clone(),
            label: label(part),
            place: part.place,
            formula: part.formula.clone().unwrap_or_else(|| part.name.clone()),
            arguments: part.arguments.clone(),
            range: part.range.clone(),
            branches: part.branches.clone(),
        });
        let actions = actions.collect();
        Ok(Self { definitions, actions })
    }
}

/// An action of the definition that is being split.
struct Part {
    name: String,
    place: Option<Place>,
    /// In terms of the definition's parameters; `None` if the action is the whole definition.
    formula: Option<String>,
    /// See [`Disjunct::arguments`].
    arguments: Option<String>,
    range: Option<Range<usize>>,
    branches: Vec<ActionBranch>,
}

impl Part {
    /// A call with these arguments, if no call inside of it has some.
    fn with_arguments(mut self, definition: &str, arguments: &str) -> Self {
        let has_arguments = !arguments.is_empty() && !arguments.contains('\n');
        if let Some(formula) = self.formula.as_ref().filter(|_| has_arguments && self.name == definition) {
            self.arguments.get_or_insert_with(|| format!("(IF {formula} THEN {{<<{arguments}>>}} ELSE {{}})"));
        }
        self
    }

    /// Rewrites the formulas of the action and of its branches; a whole definition has none.
    fn map_formulas(mut self, mut rewrite: impl FnMut(String) -> String) -> Self {
        self.formula = self.formula.map(&mut rewrite);
        for branch in &mut self.branches {
            branch.formula = branch.formula.take().map(&mut rewrite);
        }
        self
    }
}

struct Walk<'a> {
    module: &'a Module,
    cfg: &'a Cfg,
    prefix: &'a str,
    called: CalledDefinitions,
    with_branches: bool,
    definitions: String,
    /// Number of helper definitions written so far.
    helpers: usize,
    /// Number of actions found so far.
    parts: usize,
    /// Definitions being split, so that a recursive one is not entered twice.
    open: Vec<&'a str>,
}

impl<'a> Walk<'a> {
    fn definition(&mut self, definition: &'a Definition) -> Vec<Part> {
        let whole = Part {
            name: definition.name.clone(),
            place: None,
            formula: None,
            arguments: None,
            range: None,
            branches: Vec::new(),
        };
        let Some(body) = definition.body() else { return vec![whole] };
        self.open.push(&definition.name);
        let parts = self.visit(&definition.tree, body, definition, Extent::Whole, 0);
        self.open.pop();
        parts
    }

    fn visit(&mut self, tree: &'a Tree, id: Id, owner: &'a Definition, extent: Extent, depth: usize) -> Vec<Part> {
        let id = tree.strip_parentheses(id);
        if depth > MAX_DEPTH || self.parts > MAX_ACTIONS {
            return self.leaf(tree, id, owner, extent);
        }
        match tree.kind(id) {
            NodeKind::DisjunctionList => {
                let items: Vec<Id> = tree.children(id).collect();
                items.into_iter().flat_map(|item| self.visit(tree, item, owner, Extent::Part, depth + 1)).collect()
            }
            NodeKind::Infix if tree.operator(id) == "\\/" => {
                let sides = [Field::Left, Field::Right].into_iter().filter_map(|side| tree.field(id, side));
                sides.flat_map(|side| self.visit(tree, side, owner, Extent::Part, depth + 1)).collect()
            }
            NodeKind::Bounded if tree.is_exists(id) => {
                let (Some(bounds), Some(inner)) = (self.constant_bounds(tree, id), tree.field(id, Field::Body)) else {
                    return self.leaf(tree, id, owner, extent);
                };
                let parts = self.visit(tree, inner, owner, Extent::Part, depth + 1);
                let quantify = |formula: String| format!("(\\E {bounds} : ({formula}))");
                let united = |arguments: String| format!("(UNION {{{arguments} : {bounds}}})");
                let quantified = parts
                    .into_iter()
                    .map(|part| Part { arguments: part.arguments.clone().map(united), ..part.map_formulas(quantify) });
                quantified.collect()
            }
            NodeKind::Reference | NodeKind::Call => {
                self.call(tree, id).unwrap_or_else(|| self.leaf(tree, id, owner, extent))
            }
            _ => self.leaf(tree, id, owner, extent),
        }
    }

    /// The actions of a called definition, if the arguments are constant; otherwise the call is one action.
    fn call(&mut self, tree: &'a Tree, id: Id) -> Option<Vec<Part>> {
        let source = &self.module.source;
        let name_at = tree.called_name(id)?;
        let name = tree.text(name_at, source);
        let definition = self.module.definition(name)?;
        let arguments: Vec<Id> = tree.children(id).filter(|child| *child != name_at).collect();
        let text = self.formula(tree, id);
        let range = tree.node(name_at).end..tree.node(id).end;
        let argument_list = source.get(range).unwrap_or("").trim();
        let between = argument_list.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')).unwrap_or("");
        let has_constant_arguments = arguments.iter().all(|argument| self.module.is_constant(tree, *argument));
        if !has_constant_arguments {
            self.parts += 1;
            let part = Part {
                name: name.to_owned(),
                place: Some(self.module.place(tree.node(id).start)),
                formula: Some(text),
                arguments: None,
                range: Some(tree.range(id)),
                branches: self.branches(tree, id),
            };
            return Some(vec![part.with_arguments(name, between)]);
        }
        if self.called == CalledDefinitions::Keep
            || !can_be_rewritten(definition, self.cfg)
            || definition.params.len() != arguments.len()
            || self.open.contains(&definition.name.as_str())
        {
            self.parts += 1;
            let branches = self.branches(tree, id);
            let formula = Some(text);
            let part = Part { name: name.to_owned(), place: None, formula, arguments: None, range: None, branches };
            return Some(vec![part.with_arguments(name, between)]);
        }
        let parts = self.definition(definition);
        let params: Vec<&str> = definition.params.iter().map(|param| param.name.as_str()).collect();
        let mut instantiate = |formula: String| {
            if params.is_empty() {
                return formula;
            }
            self.helpers += 1;
            let helper = format!("{}{}", self.prefix, self.helpers);
            // Writing to a string cannot fail.
            let _ = writeln!(self.definitions, "{helper}({}) ==\n  {formula}", params.join(", "));
            format!("{helper}{argument_list}")
        };
        let instantiated = parts.into_iter().map(|part| {
            let mut part = part.map_formulas(&mut instantiate);
            part.arguments = part.arguments.map(&mut instantiate);
            Part { formula: Some(part.formula.unwrap_or_else(|| text.clone())), ..part }.with_arguments(name, between)
        });
        Some(instantiated.collect())
    }

    fn branches(&mut self, tree: &'a Tree, id: Id) -> Vec<ActionBranch> {
        if !self.with_branches {
            return Vec::new();
        }
        let helpers = Helpers { prefix: self.prefix, count: &mut self.helpers, definitions: &mut self.definitions };
        find_branches(self.module, self.cfg, helpers, (tree, id))
    }

    fn leaf(&mut self, tree: &'a Tree, id: Id, owner: &Definition, extent: Extent) -> Vec<Part> {
        self.parts += 1;
        let part = Part {
            name: owner.name.clone(),
            place: None,
            formula: None,
            arguments: None,
            range: None,
            branches: self.branches(tree, id),
        };
        vec![match extent {
            Extent::Whole => part,
            Extent::Part => Part {
                place: Some(self.module.place(tree.node(id).start)),
                formula: Some(self.formula(tree, id)),
                range: Some(tree.range(id)),
                ..part
            },
        }]
    }

    /// The text of a formula, in parentheses if it has several lines.
    fn formula(&self, tree: &Tree, id: Id) -> String {
        let text = tree.text(id, &self.module.source);
        if text.contains('\n') { format!("(\n{}\n)", self.module.text_in_column(tree, id)) } else { text.to_owned() }
    }

    /// The bounds of a quantifier, if TLC can list the elements of each of its sets.
    fn constant_bounds(&self, tree: &Tree, id: Id) -> Option<String> {
        let source = &self.module.source;
        let bounds: Vec<Id> = tree.children(id).filter(|child| tree.kind(*child) == NodeKind::Bound).collect();
        let is_enumerable = |bound: &Id| {
            let Some(set) = tree.field(*bound, Field::Set) else { return false };
            let is_replaced = |name: &str| self.cfg.constants.contains_key(name);
            let is_infinite = |name: &str| matches!(name, "Nat" | "Int" | "Real" | "STRING") && !is_replaced(name);
            self.module.is_constant(tree, set) && !is_infinite(tree.text(set, source).trim())
        };
        let range = tree.node(*bounds.first()?).start..tree.node(*bounds.last()?).end;
        let text = source.get(range)?;
        (!text.contains('\n') && bounds.iter().all(is_enumerable)).then(|| text.to_owned())
    }
}

/// What happens to the definitions that the next-state relation calls.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CalledDefinitions {
    Split,
    Keep,
}

/// Whether a formula is a whole definition or a part of it.
#[derive(Clone, Copy)]
enum Extent {
    Whole,
    Part,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(next: &str) -> Disjuncts {
        let text = format!(
            "---- MODULE M ----\nVARIABLE x\nCONSTANTS P, Q\nSend(p) == x' = p\n\
             Both(p) == \\/ x' = p\n           \\/ /\\ x = 1\n              /\\ x' = x\n\
             Loop(p) == Loop(p)\nInit == x = 0\nNext == {next}\nSpec == Init /\\ [][Next]_x\n====\n"
        );
        let cfg = Cfg::parse("SPECIFICATION Spec\n").expect("a configuration");
        Disjuncts::split(&Module::parse(&text).expect("a module"), &cfg, "T_").expect("a relation")
    }

    fn labels(next: &str) -> Vec<String> {
        split(next).actions.into_iter().map(|action| action.label).collect()
    }

    fn formulas(next: &str) -> Vec<String> {
        split(next).actions.into_iter().map(|action| action.formula).collect()
    }

    #[test]
    fn an_action_has_the_name_of_its_definition() {
        assert_eq!(formulas("Send(1) \\/ Send(2)"), ["Send(1)", "Send(2)"]);
        assert_eq!(labels("x' = 1"), ["Next"]);
        assert_eq!(formulas("x' = 1"), ["Next"]);
        assert_eq!(formulas("\\E p \\in P : Send(p)"), ["(\\E p \\in P : (Send(p)))"]);
        assert_eq!(labels("Loop(1)"), ["Loop"]);
    }

    #[test]
    fn parts_of_a_definition_keep_their_position_and_columns() {
        assert_eq!(labels("\\E p \\in P : Both(p)"), ["Both (line 5)", "Both (line 6)"]);
        let both = split("\\E q \\in P : Both(q)");
        assert_eq!(
            both.definitions,
            "T_1(p) ==\n  x' = p\nT_2(p) ==\n  (\n              /\\ x = 1\n              /\\ x' = x\n)\n"
        );
        assert_eq!(both.actions[1].formula, "(\\E q \\in P : (T_2(q)))");
        assert_eq!(labels("x' = 1 \\/ x' = 2"), ["Next (line 10, column 9)", "Next (line 10, column 19)"]);
    }

    #[test]
    fn sets_that_tlc_cannot_enumerate_are_not_split() {
        assert_eq!(labels("\\E p \\in {x} : Send(p)"), ["Next"]);
        assert_eq!(labels("\\E p \\in Nat : Send(p)"), ["Next"]);
        assert_eq!(labels("Both(x) \\/ x' = 3"), ["Both (line 10)", "Next (line 10)"]);
    }
}
