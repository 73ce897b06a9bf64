//! The concrete syntax tree of expressions.

use crate::syntax::{Field, NodeKind};

use super::concrete::TreeBuilder;
use super::operator::Operator;
use super::token::Kind;
use super::tree::{Bound, Component, Expr, Form, Name, Quantifier, Segment, SegmentKind, Subscripted, Update};

impl TreeBuilder<'_> {
    #[expect(clippy::too_many_lines, reason = "one arm for each form")]
    pub(super) fn expression(&mut self, expression: &Expr, field: Option<Field>) {
        match &expression.form {
            Form::Literal => self.literal(field),
            Form::Path(segments) => self.path(segments, field),
            Form::Apply(operator, operands) => self.application_of_operator(operator, operands, field),
            Form::Product(factors) => self.infix(factors, field),
            Form::List(items, operator) => self.bulleted(items, operator, field),
            Form::Parenthesis(inner) => {
                self.open(NodeKind::Parentheses, field);
                self.skip();
                self.expression(inner, None);
                self.skip();
                self.close();
            }
            Form::Tuple(elements) => {
                self.open(NodeKind::TupleLiteral, field);
                self.skip();
                self.expressions(elements);
                self.skip();
                self.close();
            }
            Form::Set(elements) => self.bracketed(NodeKind::SetLiteral, elements, field),
            Form::Arguments(elements) => self.bracketed(NodeKind::ExceptIndex, elements, field),
            Form::Filter(bound, body) => {
                self.open(NodeKind::SetFilter, field);
                self.skip();
                self.bound(bound, Some(Field::Generator));
                self.skip();
                self.expression(body, None);
                self.skip();
                self.close();
            }
            Form::Map(body, bounds) => {
                self.open(NodeKind::SetMap, field);
                self.skip();
                self.expression(body, None);
                self.skip();
                self.list(bounds, |builder, bound| builder.bound(bound, Some(Field::Generator)));
                self.skip();
                self.close();
            }
            Form::Function(bounds, body) => {
                self.open(NodeKind::FunctionLiteral, field);
                self.skip();
                self.list(bounds, |builder, bound| builder.bound(bound, None));
                self.skip();
                self.expression(body, None);
                self.skip();
                self.close();
            }
            Form::FunctionSet(two) => {
                self.open(NodeKind::FunctionSet, field);
                self.skip();
                self.expression(&two.0, None);
                self.skip();
                self.expression(&two.1, None);
                self.skip();
                self.close();
            }
            Form::Record(fields) => self.fields(NodeKind::RecordLiteral, fields, field),
            Form::RecordSet(fields) => self.fields(NodeKind::RecordSet, fields, field),
            Form::Except(base, updates) => {
                self.open(NodeKind::Except, field);
                self.skip();
                self.expression(base, Some(Field::Updated));
                self.skip();
                self.list(updates, Self::update);
                self.skip();
                self.close();
            }
            Form::Application(function, arguments) => {
                self.open(NodeKind::FunctionApplication, field);
                self.expression(function, None);
                self.skip();
                self.expressions(arguments);
                self.skip();
                self.close();
            }
            Form::Field(record, _) => {
                self.open(NodeKind::FieldAccess, field);
                self.expression(record, None);
                self.skip();
                self.leaf(NodeKind::Reference, None);
                self.close();
            }
            Form::Action(kind, two) => self.action(*kind, &two.0, &two.1, field),
            Form::Bounded(_, bounds, body) => {
                self.open(NodeKind::Bounded, field);
                let exists = self.token().is("\\E");
                self.leaf(if exists { NodeKind::Exists } else { NodeKind::ForAll }, Some(Field::Quantifier));
                self.list(bounds, |builder, bound| builder.bound(bound, None));
                self.skip();
                self.expression(body, Some(Field::Body));
                self.close();
            }
            Form::Unbounded(quantifier, names, body) => {
                self.open(NodeKind::Unbounded, field);
                let kind = match quantifier {
                    Quantifier::All => NodeKind::ForAll,
                    Quantifier::Some => NodeKind::Exists,
                    Quantifier::TemporalAll => NodeKind::TemporalForAll,
                    Quantifier::TemporalSome => NodeKind::TemporalExists,
                };
                self.leaf(kind, Some(Field::Quantifier));
                self.list(names, |builder, _| builder.leaf(NodeKind::Identifier, None));
                self.skip();
                self.expression(body, Some(Field::Body));
                self.close();
            }
            Form::Choose(names, _, set, body) => {
                self.open(NodeKind::Choose, field);
                self.skip();
                self.names(names);
                if let Some(set) = set {
                    self.skip();
                    self.expression(set, Some(Field::Set));
                }
                self.skip();
                self.expression(body, Some(Field::Body));
                self.close();
            }
            Form::If(three) => {
                self.open(NodeKind::IfThenElse, field);
                for (part, field) in [(&three.0, Field::Condition), (&three.1, Field::Then), (&three.2, Field::Else)] {
                    self.skip();
                    self.expression(part, Some(field));
                }
                self.close();
            }
            Form::Case(arms, other) => self.case(arms, other.as_deref(), field),
            Form::Let(units, body) => {
                self.open(NodeKind::LetIn, field);
                self.skip();
                for unit in units {
                    self.unit(unit, None);
                }
                self.skip();
                self.expression(body, Some(Field::Body));
                self.close();
            }
            Form::Label(_, parameters, body) => {
                self.open(NodeKind::Label, field);
                self.leaf(NodeKind::Identifier, Some(Field::Name));
                self.skip_if("(");
                self.list(parameters, |builder, _| builder.leaf(NodeKind::Reference, Some(Field::Parameter)));
                self.skip_if(")");
                self.skip();
                self.expression(body, Some(Field::Body));
                self.close();
            }
            Form::Operator(_) => self.leaf(NodeKind::OperatorName, field),
            Form::Lambda(names, body) => {
                self.open(NodeKind::Lambda, field);
                self.skip();
                self.list(names, |builder, _| builder.leaf(NodeKind::Identifier, None));
                self.skip();
                self.expression(body, None);
                self.close();
            }
        }
    }

    fn expressions(&mut self, all: &[Expr]) {
        self.list(all, |builder, one| builder.expression(one, None));
    }

    /// Expressions between two brackets.
    fn bracketed(&mut self, kind: NodeKind, elements: &[Expr], field: Option<Field>) {
        self.open(kind, field);
        self.skip();
        self.expressions(elements);
        self.skip();
        self.close();
    }

    fn literal(&mut self, field: Option<Field>) {
        let decimal = self.parser.token(self.next + 1).is(".") && self.parser.token(self.next + 2).kind == Kind::Number;
        match self.token().kind {
            Kind::Text => self.leaf(NodeKind::Text, field),
            _ if decimal => {
                self.open(NodeKind::OtherNumber, field);
                self.next += 3;
                self.close();
            }
            _ if self.spelling().starts_with('\\') => self.leaf(NodeKind::OtherNumber, field),
            _ => self.leaf(NodeKind::Number, field),
        }
    }

    fn application_of_operator(&mut self, operator: &'static Operator, operands: &[Expr], field: Option<Field>) {
        let [first, rest @ ..] = operands else { return };
        if operator.is_prefix() {
            self.open(NodeKind::Prefix, field);
            self.symbol(Some(operator));
            self.expression(first, Some(Field::Right));
            self.close();
        } else if rest.is_empty() {
            self.open(NodeKind::Postfix, field);
            self.expression(first, Some(Field::Left));
            self.symbol(self.token().operator());
            self.close();
        } else {
            self.infix(operands, field);
        }
    }

    /// A chain of infix operators, which the tree nests to the left.
    fn infix(&mut self, operands: &[Expr], field: Option<Field>) {
        let [first, rest @ ..] = operands else { return };
        for index in 0..rest.len() {
            self.open(NodeKind::Infix, if index == 0 { field } else { Some(Field::Left) });
        }
        self.expression(first, if rest.is_empty() { field } else { Some(Field::Left) });
        for operand in rest {
            self.symbol(self.token().operator());
            self.expression(operand, Some(Field::Right));
            self.close();
        }
    }

    fn bulleted(&mut self, items: &[Expr], operator: &Operator, field: Option<Field>) {
        let (list, item) = if operator.name == "/\\" {
            (NodeKind::ConjunctionList, NodeKind::ConjunctionItem)
        } else {
            (NodeKind::DisjunctionList, NodeKind::DisjunctionItem)
        };
        self.open(list, field);
        for content in items {
            self.open(item, None);
            self.leaf(NodeKind::Bullet, None);
            self.expression(content, None);
            self.close();
        }
        self.close();
    }

    /// `x, y \in S`, `<<x, y>> \in S`
    pub(super) fn bound(&mut self, bound: &Bound, field: Option<Field>) {
        self.open(NodeKind::Bound, field);
        self.names(&bound.names);
        self.skip();
        self.expression(&bound.set, Some(Field::Set));
        self.close();
    }

    fn names(&mut self, names: &[Name]) {
        if !self.token().is("<<") {
            return self.list(names, |builder, _| builder.leaf(NodeKind::Identifier, None));
        }
        self.open(NodeKind::IdentifierTuple, None);
        self.skip();
        self.list(names, |builder, _| builder.leaf(NodeKind::Identifier, None));
        self.skip();
        self.close();
    }

    fn fields(&mut self, kind: NodeKind, fields: &[(Name, Expr)], field: Option<Field>) {
        self.open(kind, field);
        self.skip();
        self.list(fields, |builder, (_, value)| {
            builder.leaf(NodeKind::Identifier, None);
            builder.skip();
            builder.expression(value, None);
        });
        self.skip();
        self.close();
    }

    /// `![a].b = c`
    fn update(&mut self, update: &Update) {
        self.open(NodeKind::ExceptUpdate, None);
        self.skip();
        self.open(NodeKind::ExceptPath, Some(Field::Path));
        for component in &update.path {
            match component {
                Component::Field(_) => {
                    self.open(NodeKind::ExceptField, None);
                    self.skip();
                    self.leaf(NodeKind::Reference, None);
                    self.close();
                }
                Component::Index(index) => self.bracketed(NodeKind::ExceptIndex, index, None),
            }
        }
        self.close();
        self.skip();
        self.expression(&update.value, Some(Field::Value));
        self.close();
    }

    fn action(&mut self, kind: Subscripted, action: &Expr, subscript: &Expr, field: Option<Field>) {
        match kind {
            Subscripted::Square => {
                self.open(NodeKind::BoxAction, field);
                self.skip();
                self.expression(action, None);
                self.skip();
                self.expression(subscript, None);
            }
            Subscripted::Angle => {
                self.open(NodeKind::AngleAction, field);
                self.skip();
                self.expression(action, None);
                self.skip();
                self.expression(subscript, None);
            }
            Subscripted::Weak | Subscripted::Strong => {
                self.open(NodeKind::Fairness, field);
                self.skip();
                self.expression(subscript, None);
                self.skip();
                self.expression(action, None);
                self.skip();
            }
        }
        self.close();
    }

    fn case(&mut self, arms: &[(Expr, Expr)], other: Option<&Expr>, field: Option<Field>) {
        self.open(NodeKind::Case, field);
        for (guard, value) in arms {
            self.skip();
            self.open(NodeKind::CaseArm, None);
            self.expression(guard, None);
            self.skip();
            self.expression(value, None);
            self.close();
        }
        if let Some(other) = other {
            self.skip();
            self.open(NodeKind::OtherArm, None);
            self.skip();
            self.skip();
            self.expression(other, None);
            self.close();
        }
        self.close();
    }

    fn path(&mut self, segments: &[Segment], field: Option<Field>) {
        let Some((last, before)) = segments.split_last() else { return };
        if before.is_empty() {
            return self.segment(last, field);
        }
        let is_selector = last.kind == SegmentKind::Selector;
        self.open(if is_selector { NodeKind::Subexpression } else { NodeKind::ForeignCall }, field);
        self.open(NodeKind::ForeignPrefix, None);
        for segment in before {
            match (self.token().kind, segment.kind) {
                (Kind::Step, _) => self.leaf(NodeKind::StepReference, None),
                (_, SegmentKind::Selector) => self.selector(segment),
                (_, SegmentKind::Name) => {
                    self.open(NodeKind::ForeignComponent, None);
                    self.segment(segment, None);
                    self.close();
                }
            }
            self.skip();
        }
        self.close();
        if is_selector {
            self.selector(last);
        } else {
            self.segment(last, Some(Field::Callee));
        }
        self.close();
    }

    fn selector(&mut self, segment: &Segment) {
        match &segment.arguments {
            Some(arguments) => self.bracketed(NodeKind::Selector, arguments, None),
            None => self.leaf(NodeKind::Selector, None),
        }
    }

    fn segment(&mut self, segment: &Segment, field: Option<Field>) {
        let is_symbol = self.token().operator().is_some();
        let Some(arguments) = &segment.arguments else {
            if is_symbol {
                return self.leaf(NodeKind::OperatorName, field);
            }
            let kind = match self.spelling() {
                _ if self.token().kind == Kind::Step => NodeKind::StepReference,
                "TRUE" | "FALSE" => NodeKind::Boolean,
                "BOOLEAN" => NodeKind::BooleanSet,
                "STRING" => NodeKind::StringSet,
                "Nat" | "\u{2115}" => NodeKind::NumberSet,
                "Int" | "\u{2124}" => NodeKind::NumberSet,
                "Real" | "\u{211d}" => NodeKind::NumberSet,
                "@" => NodeKind::PreviousValue,
                _ => NodeKind::Reference,
            };
            return self.leaf(kind, field);
        };
        if is_symbol {
            self.open(NodeKind::SymbolCall, field);
            self.leaf(NodeKind::OperatorName, Some(Field::Symbol));
            self.skip();
            self.expressions(arguments);
        } else {
            self.open(NodeKind::Call, field);
            self.leaf(NodeKind::Reference, Some(Field::Name));
            self.skip();
            self.list(arguments, |builder, argument| builder.expression(argument, Some(Field::Parameter)));
        }
        self.skip();
        self.close();
    }
}
