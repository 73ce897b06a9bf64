//! Decides when an argument must not be evaluated before a call. TLC evaluates an argument when the body needs it, and the
//! checker before the call: `If(x > 0, 10 \div x, 0)` has a value for `x = 0` only in TLC. So an argument that may have
//! no value gets a LET, which is evaluated on demand, unless the body needs it in any case.

use super::builtin::{BUILT_INS, BuiltInForm as F};
use super::elaborate_scope::{Binding, Env, Meaning};
use super::elaborator::Elaborator;
use super::graph::{Application, Node, NodeId, SymbolId, SymbolKind};
use super::standard::is_written_out;

/// Operators of the standard modules that have a value for all operands of the right kind.
const TOTAL: [&str; 24] = [
    "Nat",
    "Int",
    "+",
    "-",
    "*",
    "-.",
    "<",
    ">",
    "\\leq",
    "\\geq",
    "..",
    "Seq",
    "Len",
    "\\o",
    "Append",
    "IsFiniteSet",
    "Cardinality",
    ":>",
    "@@",
    "Permutations",
    "PrintT",
    "TLCEval",
    "BOOLEAN",
    "STRING",
];

impl Elaborator<'_> {
    /// Whether the evaluation of a definition evaluates this parameter in any case.
    pub(super) fn is_strict(&mut self, symbol: SymbolId, position: usize) -> bool {
        if let Some(known) = self.strict.get(&(symbol, position)) {
            return *known;
        }
        // A recursive use ends in one that is none.
        self.strict.insert((symbol, position), true);
        let definition = self.model.graph.symbol(symbol);
        let parts = definition.body.zip(definition.parameters.get(position).copied());
        let is_strict = parts.is_some_and(|(body, parameter)| self.needs(body, parameter));
        self.strict.insert((symbol, position), is_strict);
        is_strict
    }

    /// Whether the evaluation of an expression evaluates a name in any case.
    fn needs(&mut self, node: NodeId, name: SymbolId) -> bool {
        match self.model.graph.node(node).clone() {
            Node::Literal | Node::At(_) | Node::Operator(_) | Node::Sequent { .. } => false,
            Node::Let { body, .. } | Node::Substituted { body, .. } => self.needs(body, name),
            Node::Apply(application) => application.operator == name || self.application_needs(&application, name),
        }
    }

    fn application_needs(&mut self, application: &Application, name: SymbolId) -> bool {
        let operands: Vec<NodeId> = application.operands.iter().copied().flatten().collect();
        let SymbolKind::BuiltIn(row) = self.model.graph.symbol(application.operator).kind else {
            let symbol = self.model.replacement(application.operator).flatten().unwrap_or(application.operator);
            let is_primitive = self.model.standard(symbol).is_some_and(|(module, name)| !is_written_out(module, name));
            return operands.iter().enumerate().any(|(position, operand)| {
                self.needs(*operand, name) && (is_primitive || self.is_strict(symbol, position))
            });
        };
        let mut any = |nodes: &[NodeId]| nodes.iter().any(|node| self.needs(*node, name));
        match (F::of_row(row), &*operands) {
            (Some(F::Conjunction | F::Disjunction | F::Case | F::CaseArm), [first, ..]) => any(&[*first]),
            (None, [first, _]) if matches!(BUILT_INS[row].name, "/\\" | "\\/" | "=>") => any(&[*first]),
            (Some(F::If), [test, yes, no]) => any(&[*test]) || (any(&[*yes]) && any(&[*no])),
            (Some(_), _) if !application.bound.is_empty() => any(&application.ranges),
            _ => any(&operands),
        }
    }

    /// Whether an expression may have no value although its parts have the right kinds.
    pub(super) fn may_fail(&mut self, node: NodeId, env: &Env) -> bool {
        match self.model.graph.node(node).clone() {
            Node::Literal | Node::At(_) | Node::Operator(_) => false,
            Node::Sequent { .. } => true,
            Node::Let { body, .. } | Node::Substituted { body, .. } => self.may_fail(body, env),
            Node::Apply(application) => {
                match self.meaning(application.operator, env) {
                    Meaning::Bound(Binding::Expression(value, inner)) => return self.may_fail(value, &inner),
                    Meaning::Bound(Binding::Operator(..)) => return true,
                    Meaning::Member(group, index) => {
                        let value = group.members[index].node;
                        // A recursive definition of a LET adds nothing to itself.
                        if self.measured.insert(value) {
                            let may_fail = self.may_fail(value, &group.scope());
                            self.measured.remove(&value);
                            if may_fail {
                                return true;
                            }
                        }
                    }
                    Meaning::Bound(_) | Meaning::Global => {}
                }
                let parts = application.operands.iter().flatten().chain(&application.ranges);
                let parts: Vec<NodeId> = parts.copied().collect();
                self.operator_may_fail(application.operator) || parts.into_iter().any(|part| self.may_fail(part, env))
            }
        }
    }

    fn operator_may_fail(&mut self, symbol: SymbolId) -> bool {
        let symbol = self.model.replacement(symbol).flatten().unwrap_or(symbol);
        if let Some((module, name)) = self.model.standard(symbol)
            && !is_written_out(module, name)
        {
            return !TOTAL.contains(&name);
        }
        let definition = self.model.graph.symbol(symbol);
        if let SymbolKind::BuiltIn(row) = definition.kind {
            return matches!(
                F::of_row(row),
                Some(F::Application | F::Selection | F::Except | F::Case | F::Choose | F::FunctionDefinition)
            );
        }
        let (is_function, body) = (definition.function.is_some(), definition.body);
        if let Some(known) = self.failing.get(&symbol) {
            return *known;
        }
        self.failing.insert(symbol, false);
        // The value of a function is computed for each argument.
        let may_fail = !is_function && body.is_some_and(|body| self.may_fail(body, &Env::default()));
        self.failing.insert(symbol, may_fail);
        may_fail
    }
}
