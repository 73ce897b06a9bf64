//! The types of operator applications: built-in operators, standard modules, and a module's own definitions.

use std::collections::BTreeMap;

use super::operator::Operator;
use super::tree::{Component, Expr, Form, Segment, SegmentKind, Update};
use super::types::{Term, Type, Types};
use super::typing::Typing;

impl<'a> Typing<'a> {
    pub(super) fn path(&mut self, segments: &'a [Segment], offset: usize) -> Type {
        let mut arguments = Vec::new();
        let mut name = String::new();
        let mut plain = true;
        for (index, segment) in segments.iter().enumerate() {
            let own = segment.arguments.as_deref().map(|arguments| self.types_of(arguments));
            plain &= segment.kind == SegmentKind::Name && (own.is_none() || index + 1 == segments.len());
            arguments.extend(own.into_iter().flatten());
            name.push_str(if index == 0 { "" } else { "!" });
            name.push_str(&segment.name.text);
        }
        if !plain {
            return self.types.new_free();
        }
        match self.names.get(&name).copied() {
            Some(own) => {
                let own = self.types.instance(own);
                self.call(own, arguments, offset)
            }
            None => self.standard(&name, &arguments, offset),
        }
    }

    fn call(&mut self, operator: Type, arguments: Vec<Type>, offset: usize) -> Type {
        if arguments.is_empty() {
            return operator;
        }
        let value = self.types.new_free();
        let wanted = self.types.make(Term::Operator(arguments, value));
        self.unify(operator, wanted, offset);
        value
    }

    /// The operators of the standard modules; the value of one that is not listed may have any type.
    fn standard(&mut self, name: &str, arguments: &[Type], offset: usize) -> Type {
        let set_of = |types: &mut Types, term: Term| {
            let element = types.make(term);
            types.set(element)
        };
        match (name, arguments) {
            ("TRUE" | "FALSE", []) => self.types.make(Term::Bool),
            ("BOOLEAN", []) => set_of(&mut self.types, Term::Bool),
            ("STRING", []) => set_of(&mut self.types, Term::Str),
            ("Nat" | "Int", []) => set_of(&mut self.types, Term::Int),
            ("Len", [_]) => self.types.make(Term::Int),
            ("Cardinality", [set]) => {
                let element = self.types.new_free();
                let wanted = self.types.set(element);
                self.unify(*set, wanted, offset);
                self.types.make(Term::Int)
            }
            ("Seq", [set]) => {
                let (element, key) = (self.types.new_free(), self.types.make(Term::Int));
                let wanted = self.types.set(element);
                self.unify(*set, wanted, offset);
                let sequence = self.types.make(Term::Function(key, element));
                self.types.set(sequence)
            }
            ("Head", [sequence]) => self.sequence_types(*sequence, offset).1,
            ("Tail", [sequence]) | ("SubSeq", [sequence, _, _]) => self.sequence_types(*sequence, offset).0,
            ("Append", [sequence, item]) => {
                let (sequence, items) = self.sequence_types(*sequence, offset);
                self.unify(items, *item, offset);
                sequence
            }
            ("SelectSeq", [sequence, test]) => {
                let (sequence, items) = self.sequence_types(*sequence, offset);
                let value = self.types.make(Term::Bool);
                let wanted = self.types.make(Term::Operator(vec![items], value));
                self.unify(*test, wanted, offset);
                sequence
            }
            ("ToString", [_]) => self.types.make(Term::Str),
            ("Assert" | "PrintT" | "IsFiniteSet", _) => self.types.make(Term::Bool),
            ("Print", [_, value]) => *value,
            _ => self.types.new_free(),
        }
    }

    fn expect_numbers(&mut self, all: &'a [Expr]) {
        for one in all {
            self.expect(one, Term::Int);
        }
    }

    /// The types of a sequence and of its items. A string is a sequence too, whose items are no TLA+ values.
    fn sequence_types(&mut self, sequence: Type, offset: usize) -> (Type, Type) {
        let items = self.types.new_free();
        if matches!(self.types.term(sequence), Term::Str) {
            return (sequence, items);
        }
        let key = self.types.make(Term::Int);
        let wanted = self.types.make(Term::Function(key, items));
        self.unify(sequence, wanted, offset);
        (sequence, items)
    }

    pub(super) fn apply(&mut self, operator: &Operator, operands: &'a [Expr], whole: &'a Expr) -> Type {
        if let Some(own) = self.names.get(operator.name).copied() {
            let own = self.types.instance(own);
            let arguments = self.types_of(operands);
            return self.call(own, arguments, whole.offset);
        }
        match (operator.name, operands) {
            ("'", [one]) => self.expression(one),
            ("/\\" | "\\/" | "=>" | "<=>" | "~" | "[]" | "<>" | "~>" | "ENABLED", all) => self.expect_booleans(all),
            ("UNCHANGED", [one]) => {
                self.expression(one);
                self.types.make(Term::Bool)
            }
            ("=" | "/=", [a, b]) => {
                let (a, b) = (self.expression(a), self.expression(b));
                self.unify(a, b, whole.offset);
                self.types.make(Term::Bool)
            }
            ("\\in" | "\\notin", [one, set]) => {
                let (one, element) = (self.expression(one), self.element_type(set));
                self.unify(one, element, whole.offset);
                self.types.make(Term::Bool)
            }
            ("\\subseteq" | "\\cup" | "\\cap" | "\\", [a, b]) => {
                let (one, other) = (self.element_type(a), self.element_type(b));
                self.unify(one, other, whole.offset);
                if operator.name == "\\subseteq" { self.types.make(Term::Bool) } else { self.types.set(one) }
            }
            ("SUBSET", [set]) => {
                let element = self.element_type(set);
                let subset = self.types.set(element);
                self.types.set(subset)
            }
            ("UNION", [sets]) => {
                let (set, element) = (self.element_type(sets), self.types.new_free());
                let wanted = self.types.set(element);
                self.unify(set, wanted, sets.start());
                set
            }
            ("DOMAIN", [function]) => {
                let function = self.expression(function);
                let key = match self.types.term(function) {
                    Term::Function(domain, _) => domain,
                    Term::Record(_) => self.types.make(Term::Str),
                    Term::Tuple(_) => self.types.make(Term::Int),
                    _ => self.types.new_free(),
                };
                self.types.set(key)
            }
            ("+" | "-" | "*" | "\\div" | "%" | "^" | "-.", all) => {
                self.expect_numbers(all);
                self.types.make(Term::Int)
            }
            ("<" | ">" | "\\leq" | "\\geq", all) => {
                self.expect_numbers(all);
                self.types.make(Term::Bool)
            }
            ("..", all) => {
                self.expect_numbers(all);
                let number = self.types.make(Term::Int);
                self.types.set(number)
            }
            ("\\o", [a, b]) => {
                let (a, b) = (self.expression(a), self.expression(b));
                let (a, one) = self.sequence_types(a, whole.offset);
                let (_, other) = self.sequence_types(b, whole.offset);
                self.unify(one, other, whole.offset);
                a
            }
            (":>", [key, value]) => {
                let (key, value) = (self.expression(key), self.expression(value));
                self.types.make(Term::Function(key, value))
            }
            ("@@", all) => self.common_type(all),
            (_, all) => {
                self.types_of(all);
                self.types.new_free()
            }
        }
    }

    /// `f[x]`
    pub(super) fn apply_function(&mut self, function: Type, arguments: &'a [Expr], offset: usize) -> Type {
        // A literal argument shows which field or element is meant, so each can have a type of its own.
        let literal = match arguments {
            [one] if matches!(one.form, Form::Literal) => Some(self.text(one.offset, one.end)),
            _ => None,
        };
        let own = self.types_of(arguments);
        let known = self.types.term(function);
        match (literal, known) {
            (Some(text), Term::Record(_) | Term::Free) if text.starts_with('"') => {
                self.field(function, text.trim_matches('"'), offset)
            }
            (Some(text), Term::Tuple(_) | Term::Free) if text.parse::<usize>().is_ok_and(|n| (1..=64).contains(&n)) => {
                let index = text.parse::<usize>().unwrap_or(1);
                let parts: Vec<Type> = (0..index).map(|_| self.types.new_free()).collect();
                let part = parts[index - 1];
                let tuple = self.types.make(Term::Tuple(parts));
                self.unify(function, tuple, offset);
                part
            }
            _ => {
                let (key, value) = (self.argument_type(own), self.types.new_free());
                let wanted = self.types.make(Term::Function(key, value));
                self.unify(function, wanted, offset);
                value
            }
        }
    }

    pub(super) fn field(&mut self, record: Type, name: &str, offset: usize) -> Type {
        let value = self.types.new_free();
        let wanted = self.types.make(Term::Record(BTreeMap::from([(name.to_owned(), value)])));
        self.unify(record, wanted, offset);
        value
    }

    pub(super) fn except(&mut self, base: &'a Expr, updates: &'a [Update]) -> Type {
        let own = self.expression(base);
        for update in updates {
            let offset = update.value.start();
            let mut part = own;
            for component in &update.path {
                part = match component {
                    Component::Field(name) => self.field(part, name, offset),
                    Component::Index(arguments) => self.apply_function(part, arguments, offset),
                };
            }
            let depth = self.undo.len();
            self.bind("@", part);
            let value = self.expression(&update.value);
            self.restore_names(depth);
            self.unify(part, value, offset);
        }
        own
    }
}
