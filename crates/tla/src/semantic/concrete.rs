//! Builds the concrete syntax tree of a unit: parses it with the grammar of this folder, and writes a node for every
//! token that has a meaning.

use std::ops::Range;

use crate::syntax::{Field, Id, Node, NodeKind, Tree};

use super::operator::Operator;
use super::parser::{Fault, Parsed, Parser};
use super::token::{Kind, Language, PartLexer, Token};
use super::tree::{
    Assumed, Declared, Definition, FunctionDefinition, Instance, NamedInstance, Sequent, Statement, Theorem, Unit,
};

/// Reads the units of one text.
pub(crate) struct Reader<'a> {
    text: &'a str,
    lexer: PartLexer<'a>,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self { text, lexer: PartLexer::new(text) }
    }

    /// Reads a definition, a statement without its proof, or an INSTANCE. An error leaves the tree empty.
    pub(crate) fn unit(&mut self, range: Range<usize>) -> Tree {
        let tokens = self.lexer.tokens(range.clone(), Language::Tla);
        let mut builder = TreeBuilder::new(self.text, tokens, "definition");
        let read = builder.parser.unit().and_then(|unit| {
            if builder.parser.peek().kind == Kind::Nothing {
                Ok(unit)
            } else {
                builder.parser.unexpected("an operator")
            }
        });
        match read {
            Ok(unit) => {
                builder.open(NodeKind::Root, None);
                builder.unit(&unit, None);
                builder.close();
            }
            Err(fault) => builder.report(fault),
        }
        builder.finish(&range)
    }

    /// Reads an algorithm. A statement with an error is left out, and the rest is read anyway.
    pub(crate) fn algorithm(&mut self, range: Range<usize>) -> Tree {
        let tokens = self.lexer.tokens(range.clone(), Language::PlusCal);
        let mut builder = TreeBuilder::new(self.text, tokens, "algorithm");
        builder.algorithm();
        builder.finish(&range)
    }
}

/// Writes nodes in the order of the text. A node begins with the first token and ends with the last one that is taken
/// while it is open.
pub(super) struct TreeBuilder<'a> {
    pub(super) parser: Parser<'a>,
    /// The index of the next token to write.
    pub(super) next: usize,
    tree: Tree,
    open: Vec<Id>,
}

impl<'a> TreeBuilder<'a> {
    fn new(text: &'a str, tokens: Vec<Token>, what: &'static str) -> Self {
        Self { parser: Parser::new(text, tokens, what), next: 0, tree: Tree::default(), open: Vec::new() }
    }

    fn finish(mut self, range: &Range<usize>) -> Tree {
        for (place, _) in &mut self.tree.errors {
            *place = place.start.clamp(range.start, range.end)..range.end;
        }
        self.tree
    }

    pub(super) fn report(&mut self, fault: Fault) {
        self.tree.errors.push((fault.offset..fault.offset, fault.message));
    }

    pub(super) fn token(&self) -> Token {
        self.parser.token(self.next)
    }

    pub(super) fn spelling(&self) -> &str {
        self.parser.spelling(&self.token())
    }

    pub(super) fn open(&mut self, kind: NodeKind, field: Option<Field>) {
        let id = self.tree.nodes.len();
        let start = self.token().start;
        self.tree.nodes.push(Node { kind, field, start, end: start, children: Vec::new() });
        if let Some(parent) = self.open.last() {
            self.tree.nodes[*parent].children.push(id);
        }
        self.open.push(id);
    }

    pub(super) fn close(&mut self) {
        let Some(id) = self.open.pop() else { return };
        if let Some(last) = self.next.checked_sub(1) {
            let node = &mut self.tree.nodes[id];
            node.end = self.parser.token(last).end.max(node.start);
        }
    }

    /// The number of open nodes, for [`TreeBuilder::close_to`].
    pub(super) fn open_nodes(&self) -> usize {
        self.open.len()
    }

    pub(super) fn close_to(&mut self, count: usize) {
        while self.open.len() > count {
            self.close();
        }
    }

    /// A node of one token.
    pub(super) fn leaf(&mut self, kind: NodeKind, field: Option<Field>) {
        self.open(kind, field);
        self.skip();
        self.close();
    }

    pub(super) fn skip(&mut self) {
        self.next += 1;
    }

    pub(super) fn skip_if(&mut self, mark: &str) -> bool {
        let found = self.token().is(mark);
        self.next += usize::from(found);
        found
    }

    /// Elements separated by commas.
    pub(super) fn list<T>(&mut self, all: &[T], mut write: impl FnMut(&mut Self, &T)) {
        for one in all {
            write(self, one);
            self.skip_if(",");
        }
    }

    /// The symbol of an operator that is applied.
    pub(super) fn symbol(&mut self, operator: Option<&'static Operator>) {
        let kind = operator.map_or(NodeKind::OperatorName, NodeKind::Symbol);
        self.leaf(kind, Some(Field::Symbol));
    }

    pub(super) fn unit(&mut self, unit: &Unit, field: Option<Field>) {
        let local = self.token().is("LOCAL");
        if local {
            self.open(NodeKind::LocalDefinition, field);
            self.skip();
        }
        let field = if local { None } else { field };
        match unit {
            Unit::Operator(Definition { parameters, body, .. }) => {
                self.open(NodeKind::OperatorDefinition, field);
                self.left_hand_side(parameters);
                self.expression(body, Some(Field::Definition));
                self.close();
            }
            Unit::Function(FunctionDefinition { bounds, body, .. }) => {
                self.open(NodeKind::FunctionDefinition, field);
                self.leaf(NodeKind::Identifier, Some(Field::Name));
                self.skip();
                self.list(bounds, |builder, bound| builder.bound(bound, None));
                self.skip();
                self.skip();
                self.expression(body, Some(Field::Definition));
                self.close();
            }
            Unit::NamedInstance(NamedInstance { parameters, instance, .. }) => {
                self.open(NodeKind::ModuleDefinition, field);
                self.left_hand_side(parameters);
                self.instance(instance, Some(Field::Definition));
                self.close();
            }
            Unit::Instance(instance, _) => self.instance(instance, field),
            Unit::Recursive(declared) => {
                self.open(NodeKind::RecursiveDeclaration, field);
                self.skip();
                self.list(declared, |builder, _| builder.declared(None));
                self.close();
            }
            Unit::Assumption(name, formula, _) => {
                self.open(NodeKind::Assumption, field);
                self.skip();
                self.statement_name(name.is_some());
                self.expression(formula, None);
                self.close();
            }
            Unit::Theorem(Theorem { name, statement, .. }) => {
                self.open(NodeKind::Theorem, field);
                self.skip();
                self.statement_name(name.is_some());
                match statement {
                    Statement::Formula(formula) => self.expression(formula, None),
                    Statement::Sequent(sequent) => self.sequent(sequent, None),
                }
                self.close();
            }
            Unit::Variables(..) | Unit::Constants(..) | Unit::Module(_) | Unit::Use(_) => {}
        }
        if local {
            self.close();
        }
    }

    fn statement_name(&mut self, named: bool) {
        if named {
            self.leaf(NodeKind::Identifier, Some(Field::Name));
            self.skip();
        }
    }

    /// `F(x, G(_)) ==`, `a ++ b ==`, `-. a ==`
    fn left_hand_side(&mut self, parameters: &[Declared]) {
        if self.token().kind == Kind::Identifier && self.parser.token(self.next + 1).operator().is_none() {
            self.leaf(NodeKind::Identifier, Some(Field::Name));
            self.skip_if("(");
            self.list(parameters, |builder, _| builder.declared(Some(Field::Parameter)));
            self.skip_if(")");
        } else {
            while !matches!(self.token().kind, Kind::Mark(_) | Kind::Nothing) {
                if self.token().operator().is_some() {
                    self.leaf(NodeKind::OperatorName, Some(Field::Name));
                } else {
                    self.leaf(NodeKind::Identifier, Some(Field::Parameter));
                }
            }
        }
        self.skip();
    }

    /// `a`, `F(_, _)`, `_ + _`, `-. _`
    fn declared(&mut self, field: Option<Field>) {
        if self.token().kind == Kind::Identifier && !self.parser.token(self.next + 1).is("(") {
            return self.leaf(NodeKind::Identifier, field);
        }
        self.open(NodeKind::OperatorDeclaration, field);
        if self.token().kind == Kind::Identifier {
            self.leaf(NodeKind::Identifier, Some(Field::Name));
            self.skip();
            while self.token().is("_") {
                self.skip();
                self.skip();
            }
        } else {
            while self.token().is("_") || self.token().operator().is_some() {
                if self.token().is("_") {
                    self.skip();
                } else {
                    self.leaf(NodeKind::OperatorName, Some(Field::Name));
                }
            }
        }
        self.close();
    }

    fn instance(&mut self, instance: &Instance, field: Option<Field>) {
        self.open(NodeKind::Instance, field);
        self.skip();
        self.leaf(NodeKind::Reference, None);
        self.skip_if("WITH");
        self.list(&instance.substitutions, |builder, (_, value)| {
            builder.open(NodeKind::Substitution, None);
            if builder.token().operator().is_some() {
                builder.leaf(NodeKind::OperatorName, None);
            } else {
                builder.leaf(NodeKind::Reference, None);
            }
            builder.skip();
            builder.expression(value, None);
            builder.close();
        });
        self.close();
    }

    fn sequent(&mut self, sequent: &Sequent, field: Option<Field>) {
        self.open(NodeKind::Sequent, field);
        self.skip();
        self.list(&sequent.assumptions, Self::assumed);
        self.skip();
        self.expression(&sequent.goal, None);
        self.close();
    }

    fn assumed(&mut self, assumed: &Assumed) {
        match assumed {
            Assumed::Formula(formula) => self.expression(formula, None),
            Assumed::Sequent(sequent) => {
                self.open(NodeKind::InnerSequent, None);
                if self.token().kind == Kind::Identifier {
                    self.leaf(NodeKind::Identifier, None);
                    self.skip();
                }
                self.sequent(sequent, None);
                self.close();
            }
            Assumed::New { set, .. } => {
                self.open(NodeKind::NewSymbol, None);
                self.skip_if("NEW");
                if matches!(self.token().kind, Kind::Word(_)) {
                    self.skip();
                }
                self.declared(None);
                if let Some(set) = set {
                    self.skip();
                    self.expression(set, None);
                }
                self.close();
            }
        }
    }

    /// Parses with the parser of this folder what begins at the next token.
    pub(super) fn parse<T>(&mut self, read: impl FnOnce(&mut Parser<'a>) -> Parsed<T>) -> Parsed<T> {
        self.parser.position = self.next;
        self.parser.lists.clear();
        self.parser.closed.clear();
        read(&mut self.parser)
    }
}
