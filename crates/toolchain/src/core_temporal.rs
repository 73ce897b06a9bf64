//! Temporal formulas that `tla-mc` does not check. Each becomes a tree of temporal operators, whose leaves are predicates of
//! states and steps that `tla-mc` evaluates.
//!
//! A leaf is compiled below the quantifiers around it, in a temporal formula of a shape that `tla-mc` knows, because that is
//! how it binds their names. Source: `compile.rs` and `liveness.rs` of tla-mc 0.2.2.

use std::rc::Rc;

use tla_mc::ast::{Ast, Bound, Def};
use tla_mc::compile::Compiler;
use tla_mc::eval::{Act, Bound as CompiledBound, Expr, FairTree, Fairness, Property, TProp};
use tlaforge_tla::semantic::{Core, CoreExpr, CoreForm, Place, Primitive};

use super::core_levels::{Level, Levels};
use super::core_syntax::define;
use super::core_writer::Writer;

/// A temporal formula. Numbers are those of leaves.
pub(super) enum Tree {
    Truth(bool),
    /// A predicate of states.
    State(usize),
    /// `[A]_v`
    Step(usize),
    Not(Box<Tree>),
    And(Vec<Part>),
    Or(Vec<Tree>),
    Always(Box<Tree>),
    Eventually(Box<Tree>),
    /// `\A x \in S : F`, with the leaf of `S`.
    All(usize, Box<Part>),
    /// `\E x \in S : F`, with the leaf of `S`.
    Some(usize, Box<Tree>),
    Fair(Fair),
}

/// A formula with its place in the user's modules.
pub(super) struct Part {
    pub(super) tree: Tree,
    pub(super) place: Place,
}

/// `WF_v(A)` or `SF_v(A)`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fair {
    pub(super) is_strong: bool,
    /// The leaf of `ENABLED <<A>>_v`.
    pub(super) enabled: usize,
    /// The leaf of `[~A]_v`, which is false at the steps that take the action.
    pub(super) not_taken: usize,
}

/// The formulas of a specification that are checked here.
#[derive(Default)]
pub(super) struct TemporalFormulas {
    /// The names of the properties, and what is checked here of them.
    pub(super) properties: Vec<(String, Part)>,
    /// The same for properties that `tla-mc` checks: its counterexamples need not be fair.
    pub(super) shown: Vec<(String, Part)>,
    /// What every behaviour satisfies.
    pub(super) assumed: Vec<Part>,
    leaves: Vec<Leaf>,
    /// The modules, by the number in a [`Place`].
    pub(super) files: Vec<String>,
}

impl TemporalFormulas {
    pub(super) fn leaf(&self, number: usize) -> OpenLeaf<'_> {
        match &self.leaves[number] {
            Leaf::Property(property) => open_property(property),
            Leaf::Fairness(fairness) => open_fairness(fairness),
        }
    }
}

enum Leaf {
    Property(Property),
    Fairness(Fairness),
}

/// A leaf, with the slots of the names of each quantifier around it, outermost first.
pub(super) struct OpenLeaf<'p> {
    pub(super) frame: u32,
    pub(super) slots: Vec<&'p [u32]>,
    pub(super) body: LeafBody<'p>,
}

#[derive(Clone, Copy)]
pub(super) enum LeafBody<'p> {
    State(&'p Expr),
    Set(&'p CompiledBound),
    /// The action, then the subscript.
    Step(&'p Expr, &'p Expr),
    /// ENABLED of the action with the subscript.
    Enabled(&'p Act, &'p Expr),
    Nothing,
}

fn open_property(property: &Property) -> OpenLeaf<'_> {
    let mut slots = Vec::new();
    let mut at = &property.body;
    let body = loop {
        match at {
            TProp::ForAll(bound, inner) => {
                // A leaf for the set of a quantifier is compiled as that quantifier over `[]TRUE`.
                if let TProp::Always(_) = **inner {
                    break LeafBody::Set(bound);
                }
                slots.push(&*bound.slots);
                at = inner;
            }
            TProp::AlwaysEventually(predicate) => break LeafBody::State(predicate),
            TProp::ActionBox(action, subscript) => break LeafBody::Step(action, subscript),
            _ => break LeafBody::Nothing,
        }
    };
    OpenLeaf { frame: property.frame, slots, body }
}

fn open_fairness(fairness: &Fairness) -> OpenLeaf<'_> {
    let mut slots = Vec::new();
    let mut at = &fairness.body;
    let body = loop {
        match at {
            FairTree::ForAll(bound, inner) => {
                slots.push(&*bound.slots);
                at = inner;
            }
            FairTree::And(all) if all.len() == 1 => at = &all[0],
            FairTree::Fair { sub, act, .. } => break LeafBody::Enabled(act, sub),
            _ => break LeafBody::Nothing,
        }
    };
    OpenLeaf { frame: fairness.frame, slots, body }
}

/// What `tla-mc` can do with a conjunct of a property.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Shape {
    /// It is checked in the search.
    Safety,
    /// It is checked on the graph of the search, if that can be done with the fairness, too.
    Liveness,
    Other,
}

/// The formulas, split by who checks them.
pub(super) struct Split {
    /// The properties for `tla-mc`: their names, and those of their definitions.
    pub(super) properties: Vec<(String, String)>,
    /// Whether `tla-mc` needs the fairness.
    pub(super) needs_fairness: bool,
    /// The definitions of these properties and of the leaves.
    pub(super) definitions: Vec<Rc<Def>>,
    own: TemporalFormulas,
    sources: Vec<LeafSource>,
}

type Built<T> = Result<T, (Place, &'static str)>;

enum LeafSource {
    /// The name of a definition.
    Property(String),
    Fairness(Ast),
}

impl Split {
    /// # Errors
    /// What is not checked, and its place.
    pub(super) fn new(core: &Core, writer: &mut Writer) -> Built<Self> {
        let mut levels = Levels::new(core);
        let is_fairness_known = core.fairness.iter().all(|formula| is_fairness(formula, &mut levels));
        // To `tla-mc`, whatever a path leads to is reached, although a conjunct such as `[](x # 3)` may exclude the path.
        let is_search_enough = core.fairness.iter().all(is_any_fairness);
        let mut split = Self {
            properties: Vec::new(),
            needs_fairness: false,
            definitions: Vec::new(),
            own: TemporalFormulas { files: core.files.clone(), ..TemporalFormulas::default() },
            sources: Vec::new(),
        };
        let mut builder = Builder { writer, levels, bounds: Vec::new(), definitions: Vec::new(), split: &mut split };
        for (name, formula) in &core.properties {
            let mut conjuncts = Vec::new();
            collect_conjuncts(formula, &mut conjuncts);
            let (mut known, mut own, mut shown) = (Vec::new(), Vec::new(), Vec::new());
            for conjunct in conjuncts {
                match builder.shape(conjunct) {
                    Shape::Safety if is_search_enough => known.push(builder.writer.expression(conjunct)),
                    Shape::Liveness if is_fairness_known => {
                        builder.split.needs_fairness = true;
                        known.push(builder.writer.expression(conjunct));
                        shown.push(builder.part(conjunct)?);
                    }
                    Shape::Safety | Shape::Liveness | Shape::Other => own.push(builder.part(conjunct)?),
                }
            }
            if !known.is_empty() {
                let body = if known.len() == 1 { known.remove(0) } else { Ast::And(known) };
                let defined = format!("property~{name}");
                builder.split.definitions.push(define(&defined, body));
                builder.split.properties.push((name.clone(), defined));
            }
            for (parts, all) in [(own, &mut builder.split.own.properties), (shown, &mut builder.split.own.shown)] {
                if !parts.is_empty() {
                    all.push((name.clone(), Part { tree: Tree::And(parts), place: formula.place }));
                }
            }
        }
        if !builder.split.own.properties.is_empty() || !builder.split.own.shown.is_empty() {
            for formula in &core.fairness {
                let assumed = builder.part(formula)?;
                builder.split.own.assumed.push(assumed);
            }
        }
        Ok(split)
    }

    /// # Errors
    /// What `tla-mc` refuses, in its words.
    pub(super) fn compile(self, compiler: &mut Compiler) -> Result<TemporalFormulas, String> {
        let mut own = self.own;
        for source in &self.sources {
            own.leaves.push(match source {
                LeafSource::Property(name) => Leaf::Property(compiler.rooted_property(name)?),
                LeafSource::Fairness(formula) => match compiler.rooted_fairness(std::slice::from_ref(formula))? {
                    Some(fairness) => Leaf::Fairness(fairness),
                    None => return Err("a fairness condition without an action".to_owned()),
                },
            });
        }
        Ok(own)
    }
}

fn collect_conjuncts<'f>(formula: &'f CoreExpr, conjuncts: &mut Vec<&'f CoreExpr>) {
    match &formula.form {
        CoreForm::And(all) if is_temporal(formula) => {
            for one in all {
                collect_conjuncts(one, conjuncts);
            }
        }
        _ => conjuncts.push(formula),
    }
}

fn is_temporal(formula: &CoreExpr) -> bool {
    match &formula.form {
        // It is a predicate of states, however its action is written.
        CoreForm::Enabled(_) => false,
        form => form.is_temporal() || form.parts().into_iter().any(is_temporal),
    }
}

/// Whether `tla-mc` understands a formula as fairness.
fn is_fairness<'c>(formula: &'c CoreExpr, levels: &mut Levels<'c>) -> bool {
    match &formula.form {
        CoreForm::WeakFairness(_) | CoreForm::StrongFairness(_) => true,
        CoreForm::And(all) => all.iter().all(|one| is_fairness(one, levels)),
        CoreForm::All(bounds, body) => {
            let mut sets = bounds.iter().filter_map(|bound| bound.set.as_ref());
            sets.all(|set| levels.of(set) == Level::Constant) && is_fairness(body, levels)
        }
        _ => false,
    }
}

/// Whether a formula is a conjunction of fairness conditions.
fn is_any_fairness(formula: &CoreExpr) -> bool {
    match &formula.form {
        CoreForm::WeakFairness(_) | CoreForm::StrongFairness(_) => true,
        CoreForm::And(all) => all.iter().all(is_any_fairness),
        CoreForm::All(_, body) => is_any_fairness(body),
        _ => false,
    }
}

struct Builder<'c, 'w> {
    writer: &'w mut Writer,
    levels: Levels<'c>,
    /// The quantifiers around, outermost first.
    bounds: Vec<Bound>,
    /// The LET definitions around.
    definitions: Vec<Rc<Def>>,
    split: &'w mut Split,
}

impl<'c> Builder<'c, '_> {
    fn shape(&mut self, formula: &'c CoreExpr) -> Shape {
        let plain = |one: &CoreExpr| !is_temporal(one);
        match &formula.form {
            _ if plain(formula) => Shape::Safety,
            CoreForm::AlwaysStep(_) => Shape::Safety,
            CoreForm::And(all) => all.iter().map(|one| self.shape(one)).max().unwrap_or(Shape::Safety),
            CoreForm::All(bounds, body) => {
                let mut sets = bounds.iter().filter_map(|bound| bound.set.as_ref());
                if sets.all(|set| self.levels.of(set) == Level::Constant) { self.shape(body) } else { Shape::Other }
            }
            // What must hold only after some initial states is no safety property for it.
            CoreForm::If(three) if plain(&three.0) => match (self.shape(&three.1), self.shape(&three.2)) {
                (Shape::Liveness, Shape::Liveness) => Shape::Liveness,
                _ => Shape::Other,
            },
            CoreForm::LeadsTo(two) if plain(&two.0) && plain(&two.1) => Shape::Liveness,
            CoreForm::Always(inner) => match &inner.form {
                _ if plain(inner) => Shape::Safety,
                CoreForm::Eventually(predicate) if plain(predicate) => Shape::Liveness,
                CoreForm::Primitive(Primitive::Implies, two) if plain(&two[0]) => match &two[1].form {
                    CoreForm::Eventually(predicate) if plain(predicate) => Shape::Liveness,
                    _ => Shape::Other,
                },
                _ => Shape::Other,
            },
            CoreForm::Eventually(inner) => match &inner.form {
                _ if plain(inner) => Shape::Liveness,
                CoreForm::Always(predicate) if plain(predicate) => Shape::Liveness,
                _ => Shape::Other,
            },
            _ => Shape::Other,
        }
    }

    fn part(&mut self, formula: &'c CoreExpr) -> Built<Part> {
        Ok(Part { tree: self.tree(formula)?, place: formula.place })
    }

    fn tree(&mut self, formula: &'c CoreExpr) -> Built<Tree> {
        if !is_temporal(formula) {
            return match (&formula.form, self.levels.of(formula)) {
                (CoreForm::Boolean(value), _) => Ok(Tree::Truth(*value)),
                (_, Level::Action) => Err((formula.place, "an action outside of [][A]_v and <><<A>>_v")),
                _ => {
                    let predicate = self.writer.expression(formula);
                    Ok(Tree::State(self.state_leaf(predicate)))
                }
            };
        }
        let not = |tree: Tree| Tree::Not(Box::new(tree));
        Ok(match &formula.form {
            CoreForm::And(all) => Tree::And(all.iter().map(|one| self.part(one)).collect::<Result<_, _>>()?),
            CoreForm::Or(all) => Tree::Or(all.iter().map(|one| self.tree(one)).collect::<Result<_, _>>()?),
            CoreForm::Primitive(Primitive::Not, operands) => not(self.tree(&operands[0])?),
            CoreForm::Primitive(Primitive::Implies, operands) => {
                Tree::Or(vec![not(self.tree(&operands[0])?), self.tree(&operands[1])?])
            }
            CoreForm::Primitive(Primitive::Equivalent, operands) => {
                let (one, other) = (&operands[0], &operands[1]);
                let both = Tree::And(vec![self.part(one)?, self.part(other)?]);
                Tree::Or(vec![both, not(Tree::Or(vec![self.tree(one)?, self.tree(other)?]))])
            }
            CoreForm::If(three) => {
                let yes = Tree::And(vec![self.part(&three.0)?, self.part(&three.1)?]);
                let test = Part { tree: not(self.tree(&three.0)?), place: three.0.place };
                Tree::Or(vec![yes, Tree::And(vec![test, self.part(&three.2)?])])
            }
            CoreForm::Case(arms, Some(other)) => {
                let mut chosen = self.tree(other)?;
                for (guard, formula) in arms.iter().rev() {
                    let yes = Tree::And(vec![self.part(guard)?, self.part(formula)?]);
                    let no = Part { tree: not(self.tree(guard)?), place: guard.place };
                    let rest = Part { tree: chosen, place: other.place };
                    chosen = Tree::Or(vec![yes, Tree::And(vec![no, rest])]);
                }
                chosen
            }
            CoreForm::Let(definitions, body) => {
                let before = self.definitions.len();
                for definition in definitions {
                    let written = self.writer.definition(definition);
                    self.definitions.extend(written);
                }
                let tree = self.tree(body);
                self.definitions.truncate(before);
                tree?
            }
            CoreForm::All(bounds, body) | CoreForm::Some(bounds, body) => {
                for set in bounds.iter().filter_map(|bound| bound.set.as_ref()) {
                    if self.levels.of(set) != Level::Constant {
                        return Err((set.place, "a set that depends on the state, for a temporal formula,"));
                    }
                }
                let is_all = matches!(formula.form, CoreForm::All(..));
                let before = self.bounds.len();
                let mut sets = Vec::new();
                for bound in self.writer.bounds(bounds) {
                    // No set sees the names of the quantifier.
                    let bound = Bound { set: self.with_definitions(bound.set), ..bound };
                    sets.push(self.set_leaf(&bound));
                    self.bounds.push(bound);
                }
                let body = self.part(body);
                self.bounds.truncate(before);
                let quantified = |inner: Part, set: usize| {
                    let place = inner.place;
                    let tree =
                        if is_all { Tree::All(set, Box::new(inner)) } else { Tree::Some(set, Box::new(inner.tree)) };
                    Part { tree, place }
                };
                sets.into_iter().rev().fold(body?, quantified).tree
            }
            CoreForm::Always(inner) => Tree::Always(Box::new(self.tree(inner)?)),
            CoreForm::Eventually(inner) => Tree::Eventually(Box::new(self.tree(inner)?)),
            CoreForm::LeadsTo(two) => {
                let later = Tree::Eventually(Box::new(self.tree(&two.1)?));
                Tree::Always(Box::new(Tree::Or(vec![not(self.tree(&two.0)?), later])))
            }
            CoreForm::AlwaysStep(two) => {
                let (action, subscript) = (self.writer.expression(&two.0), self.writer.expression(&two.1));
                Tree::Always(Box::new(Tree::Step(self.step_leaf(action, subscript))))
            }
            CoreForm::Angle(two) => {
                let (action, subscript) = (self.writer.expression(&two.0), self.writer.expression(&two.1));
                not(Tree::Step(self.step_leaf(Ast::Not(Box::new(action)), subscript)))
            }
            CoreForm::WeakFairness(two) | CoreForm::StrongFairness(two) => {
                let is_strong = matches!(formula.form, CoreForm::StrongFairness(_));
                let (action, subscript) = (self.writer.expression(&two.0), self.writer.expression(&two.1));
                let enabled = self.enabled_leaf(action.clone(), subscript.clone());
                let not_taken = self.step_leaf(Ast::Not(Box::new(action)), subscript);
                Tree::Fair(Fair { is_strong, enabled, not_taken })
            }
            _ => return Err((formula.place, "a temporal formula in this place")),
        })
    }

    fn with_definitions(&self, body: Ast) -> Ast {
        if self.definitions.is_empty() { body } else { Ast::Let(self.definitions.clone(), Box::new(body)) }
    }

    fn below_quantifiers(&self, body: Ast) -> Ast {
        if self.bounds.is_empty() { body } else { Ast::Quant(true, self.bounds.clone(), Box::new(body)) }
    }

    fn property_leaf(&mut self, formula: Ast) -> usize {
        let number = self.split.sources.len();
        let name = format!("temporal~{number}");
        self.split.definitions.push(define(&name, formula));
        self.split.sources.push(LeafSource::Property(name));
        number
    }

    fn state_leaf(&mut self, predicate: Ast) -> usize {
        let predicate = self.with_definitions(predicate);
        let again = Ast::Temporal("[]", vec![Ast::Temporal("<>", vec![predicate])]);
        self.property_leaf(self.below_quantifiers(again))
    }

    fn set_leaf(&mut self, bound: &Bound) -> usize {
        let marker = Ast::Temporal("[]", vec![Ast::Bool(true)]);
        let quantified = Ast::Quant(true, vec![bound.clone()], Box::new(marker));
        self.property_leaf(self.below_quantifiers(quantified))
    }

    fn step_leaf(&mut self, action: Ast, subscript: Ast) -> usize {
        let (action, subscript) = (self.with_definitions(action), self.with_definitions(subscript));
        let step = Ast::Temporal("[]", vec![Ast::BoxAction(Box::new(action), Box::new(subscript))]);
        self.property_leaf(self.below_quantifiers(step))
    }

    fn enabled_leaf(&mut self, action: Ast, subscript: Ast) -> usize {
        let (action, subscript) = (self.with_definitions(action), self.with_definitions(subscript));
        let fair = self.below_quantifiers(Ast::Temporal("WF", vec![subscript, action]));
        self.split.sources.push(LeafSource::Fairness(fair));
        self.split.sources.len() - 1
    }
}
