//! Questions that show whether the premises of the properties that cover a requirement are ever satisfied. Pure.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::cfg::Cfg;
use super::definition::{Definition, DefinitionKind};
use super::module::Module;
use super::references::references;
use super::specification_formula::SpecificationFormula;
use super::syntax::{Field, Id, MAX_DEPTH, NodeKind, Tree};
use super::type_walk::{differs_from_start, has_no_other_module, initial_values};
use super::vacuity::{MAX_QUESTIONS, Question, Subject, free_prefix, plain};

/// What the premises of the properties that cover a requirement ask.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PremiseQuestions {
    pub questions: Vec<Question>,
    /// How many premises, or properties, were left out because of a limit.
    pub left_out: usize,
    /// The properties with a part that no premise restricts, or with a premise that was left out.
    pub unconditional: BTreeSet<String>,
}

/// Asks about the premises of the properties that cover a requirement, and whether an initial state violates `P` if the
/// property is `<>P`. A premise is `A` in `A => B`, `A ~> B`, `~A \/ B` and in the arms of IF and CASE; in `~(A /\ B)`, which is
/// `A => ~B` and `B => ~A`, one of the two; and for a set `{x \in S : A}` below a quantifier or Cardinality, that some element is
/// in it. The forms are found below conjunctions, `[]`, `[…]_v`, LET, definitions and quantifiers over constant sets. `A => FALSE`
/// has none: A must not occur.
pub fn premise_questions(module: &Module, cfg: &Cfg) -> PremiseQuestions {
    let mut asked = PremiseQuestions::default();
    let initial = match &cfg.init {
        Some(init) => Some(init.clone()),
        None => SpecificationFormula::parse(module, cfg).ok().map(|formula| {
            let conjuncts = formula.init.iter().map(|conjunct| format!("({conjunct})"));
            conjuncts.collect::<Vec<_>>().join(" /\\ ")
        }),
    };
    let initial = initial.filter(|initial| !initial.contains('\n'));
    let initial_values = initial_values(module, cfg);
    for name in module.requirements_by_property(cfg).keys() {
        if let Some(definition) = plain(module, name) {
            let prefix = free_prefix(module);
            let mut walk = Premises {
                module,
                property: name,
                prefix,
                initial: initial.as_deref(),
                initial_values: &initial_values,
                enclosing_boxes: 0,
                open: Vec::new(),
                asked: &mut asked,
                visits: MAX_VISITS,
            };
            walk.definition(definition, &[]);
            if walk.visits == 0 {
                asked.left_out += 1;
                asked.unconditional.insert(name.clone());
            }
        }
    }
    asked.left_out += asked.questions.len().saturating_sub(MAX_QUESTIONS);
    // A premise that is not asked about may be satisfied.
    let dropped = asked.questions.split_off(asked.questions.len().min(MAX_QUESTIONS));
    asked.unconditional.extend(dropped.into_iter().map(|question| question.property));
    asked
}

/// Limit on the formulas visited for one property. If each definition of a chain calls the next one twice, the number of
/// visits would otherwise double with every link.
const MAX_VISITS: usize = 5_000;
/// Limit on the conjuncts of `~(A /\ B)`.
const MAX_FORBIDDEN: usize = 12;

pub(super) struct Premises<'a, 'f> {
    pub(super) module: &'a Module,
    property: &'a str,
    prefix: String,
    /// The initial predicate, if it is known.
    initial: Option<&'f str>,
    initial_values: &'f BTreeMap<String, String>,
    /// The number of enclosing `[]`.
    enclosing_boxes: usize,
    open: Vec<&'a str>,
    asked: &'f mut PremiseQuestions,
    /// How many more formulas may be visited.
    pub(super) visits: usize,
}

/// One element of the context of a formula: a quantifier's bounds, the premise of an implication, the definitions of a LET, or a
/// call, which binds a definition's parameters to arguments.
#[derive(Clone)]
pub(super) enum Context {
    Bounds(String),
    Premise { text: String, is_about_step: bool },
    Let(String),
    Call { parameters: String, arguments: String },
}

impl<'a> Premises<'a, '_> {
    fn definition(&mut self, definition: &'a Definition, context: &[Context]) {
        if self.open.contains(&definition.name.as_str()) {
            return;
        }
        if let Some(body) = definition.body() {
            self.open.push(&definition.name);
            self.visit(&definition.tree, body, context, 0);
            self.open.pop();
        }
    }

    fn visit(&mut self, tree: &'a Tree, id: Id, context: &[Context], depth: usize) {
        let id = tree.strip_parentheses(id);
        super::step_counter::count_step();
        self.visits = self.visits.saturating_sub(1);
        if depth > MAX_DEPTH || self.visits == 0 {
            return;
        }
        let symbol = tree.operator(id);
        let (lhs, rhs) = (tree.field(id, Field::Left), tree.field(id, Field::Right));
        match (tree.kind(id), symbol, lhs, rhs) {
            (NodeKind::ConjunctionList, ..) => {
                for item in tree.children(id) {
                    self.visit(tree, item, context, depth + 1);
                }
            }
            (NodeKind::Infix, "/\\", Some(lhs), Some(rhs)) => {
                self.visit(tree, lhs, context, depth + 1);
                self.visit(tree, rhs, context, depth + 1);
            }
            (NodeKind::Infix, "=>" | "~>", Some(lhs), Some(rhs)) => {
                let mut inner = context.to_vec();
                if self.is_truth(tree, rhs, "FALSE") || !self.premise(tree, lhs, "", &mut inner) {
                    return self.leaf(tree, id, context);
                }
                // What follows `A ~>` has to come true later, whatever is true at the start.
                let later = usize::from(symbol == "~>");
                self.enclosing_boxes += later;
                self.visit(tree, rhs, &inner, depth + 1);
                self.enclosing_boxes -= later;
            }
            (NodeKind::DisjunctionList, ..) | (NodeKind::Infix, "\\/", ..) => {
                self.disjunction(tree, id, context, depth);
            }
            (NodeKind::Prefix, "~", _, Some(operand)) => self.forbidden(tree, id, operand, context),
            (NodeKind::IfThenElse, ..) => {
                let field = |name| tree.field(id, name);
                let (Some(test), Some(yes), Some(no)) =
                    (field(Field::Condition), field(Field::Then), field(Field::Else))
                else {
                    return;
                };
                for (arm, sign) in [(yes, ""), (no, "~")] {
                    self.arm(tree, test, sign, arm, context, depth);
                }
            }
            (NodeKind::Case, ..) => {
                for arm in tree.children(id).filter(|arm| tree.kind(*arm) == NodeKind::CaseArm) {
                    let mut parts = tree.children(arm);
                    if let (Some(guard), Some(value)) = (parts.next(), parts.next()) {
                        self.arm(tree, guard, "", value, context, depth);
                    }
                }
                // OTHER has no premise of its own.
                for other in tree.children(id).filter(|arm| tree.kind(*arm) == NodeKind::OtherArm) {
                    if let Some(value) = tree.children(other).last().filter(|value| !self.is_decided(tree, *value)) {
                        self.leaf(tree, value, context);
                    }
                }
            }
            (NodeKind::LetIn, ..) => {
                if let Some(body) = tree.field(id, Field::Body) {
                    let mut inner = context.to_vec();
                    inner.push(Context::Let(self.let_text(tree, id, body)));
                    self.visit(tree, body, &inner, depth + 1);
                }
            }
            (NodeKind::Bounded, ..) => self.quantified(tree, id, context, depth),
            (NodeKind::Prefix, "[]", _, Some(operand)) => {
                self.enclosing_boxes += 1;
                self.visit(tree, operand, context, depth + 1);
                self.enclosing_boxes -= 1;
            }
            (NodeKind::BoxAction, ..) => {
                if let Some(action) = tree.children(id).next() {
                    self.visit(tree, action, context, depth + 1);
                }
            }
            (NodeKind::Prefix, "<>", _, Some(operand)) if self.enclosing_boxes == 0 => {
                let is_asked = self.initial.is_some_and(|initial| self.eventuality(tree, operand, initial, context));
                if !is_asked {
                    self.leaf(tree, id, context);
                }
            }
            (NodeKind::Reference | NodeKind::Call, ..) => self.call(tree, id, context),
            _ => self.leaf(tree, id, context),
        }
    }

    /// A formula that is not taken apart: only the sets in it can be without elements.
    fn leaf(&mut self, tree: &'a Tree, id: Id, context: &[Context]) {
        let before = self.asked.questions.len();
        self.filters(tree, id, context);
        if self.asked.questions.len() == before {
            self.note_unconditional(context);
        }
    }

    fn note_unconditional(&mut self, context: &[Context]) {
        if !context.iter().any(|one| matches!(one, Context::Premise { .. })) {
            self.asked.unconditional.insert(self.property.to_owned());
        }
    }

    /// One arm of IF or CASE. An arm that is TRUE says nothing, and with one that is FALSE, the test must not be true.
    fn arm(&mut self, tree: &'a Tree, test: Id, sign: &str, arm: Id, context: &[Context], depth: usize) {
        if self.is_truth(tree, arm, "TRUE") {
            return;
        }
        let mut inner = context.to_vec();
        if self.is_truth(tree, arm, "FALSE") || !self.premise(tree, test, sign, &mut inner) {
            return self.leaf(tree, test, context);
        }
        self.visit(tree, arm, &inner, depth + 1);
    }

    fn is_truth(&self, tree: &Tree, id: Id, value: &str) -> bool {
        tree.text(tree.strip_parentheses(id), &self.module.source).trim() == value
    }

    fn is_decided(&self, tree: &Tree, id: Id) -> bool {
        self.is_truth(tree, id, "TRUE") || self.is_truth(tree, id, "FALSE")
    }

    /// `~A \/ B` is `A => B`.
    fn disjunction(&mut self, tree: &'a Tree, id: Id, context: &[Context], depth: usize) {
        let (mut open, mut items) = (vec![id], Vec::new());
        while let Some(id) = open.pop() {
            let id = tree.strip_parentheses(id);
            let symbol = tree.operator(id);
            match (tree.kind(id), symbol) {
                (NodeKind::DisjunctionList, _) => open.extend(tree.children(id)),
                (NodeKind::Infix, "\\/") => {
                    open.extend([Field::Left, Field::Right].into_iter().filter_map(|side| tree.field(id, side)));
                }
                _ => items.push(id),
            }
        }
        let (negated, mut rest): (Vec<Id>, Vec<Id>) =
            items.into_iter().partition(|id| tree.operand_of(*id, "~").is_some());
        rest.retain(|id| !self.is_truth(tree, *id, "FALSE"));
        let operands: Vec<Id> = negated.into_iter().rev().filter_map(|id| tree.operand_of(id, "~")).collect();
        if rest.is_empty() {
            return self.never_together(tree, id, &operands, context);
        }
        if operands.is_empty() {
            return self.leaf(tree, id, context);
        }
        let mut inner = context.to_vec();
        for operand in operands {
            if !self.premise(tree, operand, "", &mut inner) {
                return self.note_unconditional(context);
            }
        }
        if let [only] = rest.as_slice() {
            self.visit(tree, *only, &inner, depth + 1);
        }
    }

    /// `~(A /\ B)` and `~\E x \in S : A /\ B`.
    fn forbidden(&mut self, tree: &'a Tree, id: Id, operand: Id, context: &[Context]) {
        let mut inner = context.to_vec();
        let mut operand = tree.strip_parentheses(operand);
        while tree.is_exists(operand)
            && let Some(bounds) = self.bounds_text(tree, operand, &inner)
            && let Some(body) = tree.field(operand, Field::Body)
        {
            self.bound_filters(tree, operand, &inner);
            inner.push(Context::Bounds(bounds));
            operand = tree.strip_parentheses(body);
        }
        let (mut open, mut parts) = (vec![operand], Vec::new());
        while let Some(part) = open.pop() {
            let part = tree.strip_parentheses(part);
            match (tree.kind(part), tree.operator(part)) {
                (NodeKind::ConjunctionList, _) => open.extend(tree.children(part).rev()),
                (NodeKind::Infix, "/\\") => {
                    open.extend([Field::Right, Field::Left].into_iter().filter_map(|side| tree.field(part, side)));
                }
                _ => parts.push(part),
            }
        }
        if parts.len() < 2 {
            return self.leaf(tree, id, context);
        }
        self.never_together(tree, id, &parts, &inner);
    }

    /// `~(A /\ B /\ C)` says nothing unless all but one of them are true together in some state, and what that one reads changes.
    fn never_together(&mut self, tree: &'a Tree, id: Id, parts: &[Id], context: &[Context]) {
        if parts.len() < 2 || parts.len() > MAX_FORBIDDEN {
            return self.leaf(tree, id, context);
        }
        let mut alternatives = Vec::new();
        let (mut definitions, mut is_about_steps) = (String::new(), false);
        for without in parts {
            let mut inner = context.to_vec();
            for part in parts.iter().filter(|part| *part != without) {
                let Some(premise) = self.premise_text(tree, *part, "") else { return };
                inner.push(premise);
            }
            let asked = self.ask(&inner, alternatives.len());
            definitions.push_str(&asked.definitions);
            is_about_steps |= asked.is_about_steps;
            let changes = references(tree, &self.module.source, *without, &[]);
            let changes = self
                .module
                .is_self_contained()
                .then(|| differs_from_start(self.initial_values, &self.module.variables_among(&changes)))
                .flatten();
            alternatives.push(std::iter::once(asked.predicate).chain(changes).collect());
        }
        let text = tree.text(id, &self.module.source).split_whitespace().collect::<Vec<_>>().join(" ");
        self.asked.questions.push(Question {
            subject: Subject::Premise,
            property: self.property.to_owned(),
            label: format!("{}: `{text}` without any one of its conjuncts", self.property),
            alternatives,
            is_about_steps,
            subscript: self.subscript(),
            definitions,
        });
    }

    /// Visits a called definition. Names bound in the context have no meaning inside it, except through its parameters.
    fn call(&mut self, tree: &'a Tree, id: Id, context: &[Context]) {
        let Some(name) = tree.called_name(id) else { return };
        let source = &self.module.source;
        let Some(definition) = self.module.definition(tree.text(name, source)) else {
            return self.leaf(tree, id, context);
        };
        let count = tree.children(id).filter(|child| *child != name).count();
        let can_be_entered = definition.kind == DefinitionKind::Operator
            && !definition.has_syntax_errors
            && !definition.local
            && definition.params.iter().all(|param| param.arity == 0)
            && (id == name || definition.params.len() == count);
        let arguments = source[tree.node(name).end..tree.node(id).end].trim();
        if !can_be_entered || arguments.contains('\n') {
            return self.leaf(tree, id, context);
        }
        let params: Vec<&str> = definition.params.iter().map(|param| param.name.as_str()).collect();
        let parameters = if params.is_empty() { String::new() } else { format!("({})", params.join(", ")) };
        let mut inner = context.to_vec();
        if !context.is_empty() || !params.is_empty() {
            inner.push(Context::Call { parameters, arguments: arguments.to_owned() });
        }
        self.definition(definition, &inner);
    }

    fn quantified(&mut self, tree: &'a Tree, id: Id, context: &[Context], depth: usize) {
        let before = self.asked.questions.len();
        self.bound_filters(tree, id, context);
        let Some(inner) = tree.field(id, Field::Body) else { return };
        match self.bounds_text(tree, id, context) {
            Some(text) if tree.is_for_all(id) => {
                let mut inner_context = context.to_vec();
                inner_context.push(Context::Bounds(text));
                if self.asked.questions.len() > before {
                    // An element of the set is the premise.
                    inner_context.push(Context::Premise { text: "TRUE".to_owned(), is_about_step: false });
                }
                self.visit(tree, inner, &inner_context, depth + 1);
            }
            // The names that it binds have no meaning in a question.
            _ => self.note_unconditional(context),
        }
    }

    /// The bounds of a quantifier, if they can be repeated elsewhere.
    fn bounds_text(&self, tree: &Tree, id: Id, context: &[Context]) -> Option<String> {
        let bounds: Vec<Id> = tree.children(id).filter(|child| tree.kind(*child) == NodeKind::Bound).collect();
        let constant =
            |bound: &Id| tree.field(*bound, Field::Set).is_some_and(|set| self.module.is_constant(tree, set));
        let text = &self.module.source[tree.node(*bounds.first()?).start..tree.node(*bounds.last()?).end];
        let text = joined_lines(text)?;
        (context.is_empty() || bounds.iter().all(constant)).then_some(text)
    }

    /// Asks whether an initial state violates `P` of `<>P`. If none does, `<>P` always holds.
    fn eventuality(&mut self, tree: &Tree, id: Id, initial: &str, context: &[Context]) -> bool {
        let mut inner = context.to_vec();
        inner.push(Context::Premise { text: initial.to_owned(), is_about_step: false });
        let before = self.asked.questions.len();
        let is_asked = self.premise(tree, id, "~", &mut inner);
        if let Some(question) = self.asked.questions.get_mut(before) {
            let text = tree.text(tree.strip_parentheses(id), &self.module.source);
            let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
            question.subject = Subject::Eventuality;
            question.label = format!("PROPERTY {} (initial states only: <>({text}))", self.property);
        }
        is_asked
    }

    /// Asks about a premise and adds it to the context. Returns false if it is neither a state predicate nor an action, which a
    /// checker could not evaluate in a single state or step.
    pub(super) fn premise(&mut self, tree: &Tree, id: Id, sign: &str, context: &mut Vec<Context>) -> bool {
        let id = tree.strip_parentheses(id);
        let Some(premise) = self.premise_text(tree, id, sign) else { return false };
        context.push(premise);
        // Whether a constant formula is true says nothing of the states.
        let reads = self.module.variables_among(&references(tree, &self.module.source, id, &[]));
        let may_read = |one: &Context| matches!(one, Context::Call { .. } | Context::Let(_));
        if reads.is_empty() && has_no_other_module(self.module) && !context.iter().any(may_read) {
            return true;
        }
        let label = tree.text(id, &self.module.source).split_whitespace().collect::<Vec<_>>().join(" ");
        let label = if sign.is_empty() { label } else { format!("{sign}({label})") };
        let Asked { predicate, definitions, is_about_steps } = self.ask(context, 0);
        self.asked.questions.push(Question {
            subject: Subject::Premise,
            property: self.property.to_owned(),
            label: format!("{}: `{label}`", self.property),
            alternatives: vec![vec![predicate]],
            is_about_steps,
            subscript: self.subscript(),
            definitions,
        });
        true
    }

    fn premise_text(&self, tree: &Tree, id: Id, sign: &str) -> Option<Context> {
        let id = tree.strip_parentheses(id);
        let node = tree.node(id);
        let inside =
            || tree.ids().map(|id| tree.node(id)).filter(|inner| (node.start..node.end).contains(&inner.start));
        if inside().any(|inner| inner.kind.is_temporal()) {
            return None;
        }
        let text = tree.text(id, &self.module.source);
        let text =
            if text.contains('\n') { format!("\n{}\n", self.module.text_in_column(tree, id)) } else { text.to_owned() };
        let text = if sign.is_empty() { text } else { format!("{sign}({text})") };
        Some(Context::Premise { text, is_about_step: self.is_about_step(tree, id) })
    }

    /// Whether the formula, or a definition that it uses, has a prime.
    fn is_about_step(&self, tree: &Tree, id: Id) -> bool {
        let has_prime = |tree: &Tree, range: std::ops::Range<usize>| {
            tree.ids().map(|id| tree.node(id)).any(|node| range.contains(&node.start) && node.kind.is_next_state())
        };
        let used = self.module.closure_of([&references(tree, &self.module.source, id, &[])]);
        has_prime(tree, tree.range(id))
            || used
                .iter()
                .filter_map(|name| self.module.definition(name))
                .any(|definition| has_prime(&definition.tree, definition.code.clone()))
    }

    /// `LET … IN`, with the columns of the module.
    fn let_text(&self, tree: &Tree, id: Id, body: Id) -> String {
        let whole = self.module.text_in_column(tree, id);
        let after = tree.node(id).end - tree.node(body).start;
        format!("\n{}", &whole[..whole.len() - after])
    }

    fn subscript(&self) -> String {
        self.module.variables.iter().map(|variable| variable.name.as_str()).collect::<Vec<_>>().join(", ")
    }

    /// Writes the conjunction of the premises in the context as one predicate. `number` is that of the predicate in its question, for
    /// the names of its definitions.
    fn ask(&self, context: &[Context], number: usize) -> Asked {
        let mut definitions = String::new();
        let mut helpers = 0;
        let mut is_about_steps = false;
        let first = self.asked.questions.len();
        let predicate = context.iter().rev().fold(String::from("TRUE"), |inner, one| match one {
            Context::Bounds(bounds) => format!("\\E {bounds} : ({inner})"),
            Context::Premise { text, is_about_step } => {
                is_about_steps |= is_about_step;
                if inner == "TRUE" { text.clone() } else { format!("({text}) /\\ ({inner})") }
            }
            Context::Let(text) => format!("({text} ({inner}))"),
            Context::Call { parameters, arguments } => {
                helpers += 1;
                let name = format!("{}{first}_{number}_{helpers}", self.prefix);
                // Writing to a string cannot fail.
                let _ = writeln!(definitions, "{name}{parameters} ==\n  ({inner})");
                format!("{name}{arguments}")
            }
        });
        Asked { predicate, definitions, is_about_steps }
    }
}

/// The text on one line; `None` if its lines are those of a bulleted list.
pub(super) fn joined_lines(text: &str) -> Option<String> {
    let is_list = text.contains('\n') && ["/\\", "\\/", "\\*", "(*"].iter().any(|mark| text.contains(mark));
    (!is_list).then(|| text.split_whitespace().collect::<Vec<_>>().join(" "))
}

struct Asked {
    predicate: String,
    definitions: String,
    is_about_steps: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn module(body: &str) -> Module {
        Module::parse(&format!("---- MODULE M ----\nEXTENDS Naturals\nCONSTANT P\nVARIABLES n, m\n{body}\n====\n"))
            .unwrap()
    }

    #[test]
    fn a_chain_of_definitions_that_call_the_next_one_twice_is_visited_within_the_limit() {
        let define = |at: usize| format!("D{at} == D{} /\\ D{}\n", at - 1, at - 1);
        let chain: String = (1..=60).map(define).collect();
        let module = module(&format!("D0 == n < 9\n{chain}\\* covers R1\nSafe == IF n < 5 THEN n < 6 ELSE D60"));
        let cfg = Cfg::parse("SPECIFICATION Spec\nINVARIANT Safe\n").unwrap();
        let steps = crate::step_counter::steps_of(|| assert_eq!(premise_questions(&module, &cfg).left_out, 1));
        assert!(steps <= 2 * MAX_VISITS as u64, "{steps}");
    }

    #[test]
    fn an_eventuality_must_be_false_in_an_initial_state() {
        let body = "vars == <<n, m>>\nInit == n = 0 /\\ m = 0\nSpec == Init /\\ [][n' = n]_vars\n\\* covers R1\n\
                    Live == <>(n = 1) /\\ [](<>(m = 1)) /\\ (m = 2 => <>(m = 3)) /\\ (m = 4 ~> <>(m = 5))\n\\* covers R2\nStep == [][n > 5 => n' = 6]_vars";
        let cfg = Cfg::parse("SPECIFICATION Spec\nPROPERTIES Live Step\n").unwrap();
        let asked = premise_questions(&module(body), &cfg).questions;
        let asked: Vec<(Subject, String)> =
            asked.into_iter().map(|q| (q.subject, q.alternatives.concat().concat())).collect();
        assert_eq!(
            asked,
            [
                (Subject::Eventuality, "((Init)) /\\ (~(n = 1))".to_owned()),
                (Subject::Premise, "m = 2".to_owned()),
                (Subject::Eventuality, "(m = 2) /\\ (((Init)) /\\ (~(m = 3)))".to_owned()),
                (Subject::Premise, "m = 4".to_owned()),
                (Subject::Premise, "n > 5".to_owned()),
            ]
        );
    }

    #[test]
    fn premises_are_found_below_conjunctions_and_quantifiers() {
        let cfg = Cfg::parse("SPECIFICATION Spec\nINVARIANT Safe\nPROPERTY Live\n").unwrap();
        let module = module(
            "\\* covers R1\nSafe == /\\ n = 9 => m = 1\n        /\\ \\A p \\in P : n = p => (m = p => n > 1)\n\
             Part == m > 7 => n > 7\n\\* covers R2\nLive == [](n = 8 => m = 8) /\\ Part /\\ (n = 7 ~> m = 7)\n\
             Other == n = 6 => m = 6",
        );
        let asked: Vec<String> =
            premise_questions(&module, &cfg).questions.into_iter().map(|q| q.alternatives.concat().concat()).collect();
        assert_eq!(
            asked,
            ["n = 8", "m > 7", "n = 7", "n = 9", "\\E p \\in P : (n = p)", "\\E p \\in P : ((n = p) /\\ (m = p))"]
        );
    }

    /// Returns the predicates of the questions, and whether the property has a part without premise.
    fn asked(property: &str) -> (Vec<String>, bool) {
        let body = format!(
            "vars == <<n, m>>\nInit == n = 0 /\\ m = 0\nSpec == Init /\\ [][n' = n]_vars\n\\* covers R1\nSafe == {property}"
        );
        let role = if property.contains("[]") && !property.starts_with("CASE") { "PROPERTY" } else { "INVARIANT" };
        let asked =
            premise_questions(&module(&body), &Cfg::parse(&format!("SPECIFICATION Spec\n{role} Safe\n")).unwrap());
        let predicate = |question: Question| {
            let steps = if question.is_about_steps { " (step)" } else { "" };
            let alternatives: Vec<String> = question.alternatives.iter().map(|all| all.join(" & ")).collect();
            let text = alternatives.join(" | ").split_whitespace().collect::<Vec<_>>().join(" ");
            format!("{text}{steps}")
        };
        (asked.questions.into_iter().map(predicate).collect(), asked.unconditional.contains("Safe"))
    }

    #[test]
    fn premises_are_found_in_other_forms() {
        for (property, wanted, unconditional) in [
            ("~(n = 1 /\\ m = 2)", &["m = 2 & (n # (0)) | n = 1 & (m # (0))"][..], false),
            (
                "~\\E p \\in P : n = p /\\ m = p",
                &["\\E p \\in P : (m = p) & (n # (0)) | \\E p \\in P : (n = p) & (m # (0))"],
                false,
            ),
            ("~(n = 1) \\/ ~(m = 2)", &["m = 2 & (n # (0)) | n = 1 & (m # (0))"], false),
            ("CASE n = 1 -> m = 1 [] n = 2 -> FALSE [] OTHER -> TRUE", &["n = 1"], true),
            ("LET k == n + 1 IN k = 2 => m = 1", &["( LET k == n + 1 IN (k = 2))"], false),
            ("\\A p \\in {r \\in P : n = r} : m = p", &["\\E r \\in P : (n = r)"], false),
            ("Cardinality({r \\in P : r < n}) <= 1", &["\\E r \\in P : (r < n)"], false),
            ("2 > Cardinality({r \\in P : r < n})", &["\\E r \\in P : (r < n)"], false),
            ("\\A a,\n   b \\in {r \\in P : r < n} : a = b", &["\\E r \\in P : (r < n)"], false),
            ("Cardinality({r \\in P : r < n}) < 1", &[], true),
            ("\\A a \\in {r \\in P : r < n} : FALSE", &[], true),
            ("[][n = 1 /\\ n' = 2 => m' = 1]_vars", &["n = 1 /\\ n' = 2 (step)"], false),
            // A state that must not occur is no premise.
            ("n = 1 => FALSE", &[], true),
            ("~(n = 1)", &[], true),
            ("{r \\in P : n = r} = {}", &[], true),
            ("Cardinality({r \\in P : n = r}) = 0", &[], true),
            ("n = 1 => m = 1 /\\ n < 9", &["n = 1"], false),
            ("n < 9 /\\ (n = 1 => m = 1)", &["n = 1"], true),
        ] {
            let wanted: Vec<String> = wanted.iter().map(|text| (*text).to_owned()).collect();
            assert_eq!(asked(property), (wanted, unconditional), "{property}");
        }
    }
}
