//! What operators make of the types of their operands: those of the language, of the standard modules, and a module's own.

use std::collections::BTreeMap;

use super::operator::Operator;
use super::tree::{Component, Expr, Form, Segment, SegmentKind, Update};
use super::types::{Term, Type, Types};
use super::typing::Typing;

impl<'a> Typing<'a> {
    pub(super) fn path(&mut self, segments: &'a [Segment], at: usize) -> Type {
        let mut arguments = Vec::new();
        let mut name = String::new();
        let mut plain = true;
        for (index, segment) in segments.iter().enumerate() {
            let own = segment.arguments.as_deref().map(|arguments| self.all(arguments));
            plain &= segment.kind == SegmentKind::Name && (own.is_none() || index + 1 == segments.len());
            arguments.extend(own.into_iter().flatten());
            name.push_str(if index == 0 { "" } else { "!" });
            name.push_str(&segment.name.text);
        }
        if !plain {
            return self.types.free();
        }
        match self.names.get(&name).copied() {
            Some(own) => {
                let own = self.types.instance(own);
                self.call(own, arguments, at)
            }
            None => self.standard(&name, &arguments, at),
        }
    }

    fn call(&mut self, operator: Type, arguments: Vec<Type>, at: usize) -> Type {
        if arguments.is_empty() {
            return operator;
        }
        let value = self.types.free();
        let wanted = self.types.make(Term::Operator(arguments, value));
        self.same(operator, wanted, at);
        value
    }

    /// The operators of the standard modules; of those that are not listed nothing is known.
    fn standard(&mut self, name: &str, arguments: &[Type], at: usize) -> Type {
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
                let element = self.types.free();
                let wanted = self.types.set(element);
                self.same(*set, wanted, at);
                self.types.make(Term::Int)
            }
            ("Seq", [set]) => {
                let (element, key) = (self.types.free(), self.types.make(Term::Int));
                let wanted = self.types.set(element);
                self.same(*set, wanted, at);
                let sequence = self.types.make(Term::Function(key, element));
                self.types.set(sequence)
            }
            ("Head", [sequence]) => self.items(*sequence, at).1,
            ("Tail", [sequence]) | ("SubSeq", [sequence, _, _]) => self.items(*sequence, at).0,
            ("Append", [sequence, item]) => {
                let (sequence, items) = self.items(*sequence, at);
                self.same(items, *item, at);
                sequence
            }
            ("SelectSeq", [sequence, test]) => {
                let (sequence, items) = self.items(*sequence, at);
                let value = self.types.make(Term::Bool);
                let wanted = self.types.make(Term::Operator(vec![items], value));
                self.same(*test, wanted, at);
                sequence
            }
            ("ToString", [_]) => self.types.make(Term::Str),
            ("Assert" | "PrintT" | "IsFiniteSet", _) => self.types.make(Term::Bool),
            ("Print", [_, value]) => *value,
            _ => self.types.free(),
        }
    }

    fn numbers(&mut self, all: &'a [Expr]) {
        for one in all {
            self.is(one, Term::Int);
        }
    }

    /// A sequence and what its items are. Strings are sequences too, of what TLA+ has no value for.
    fn items(&mut self, sequence: Type, at: usize) -> (Type, Type) {
        let items = self.types.free();
        if matches!(self.types.term(sequence), Term::Str) {
            return (sequence, items);
        }
        let key = self.types.make(Term::Int);
        let wanted = self.types.make(Term::Function(key, items));
        self.same(sequence, wanted, at);
        (sequence, items)
    }

    pub(super) fn apply(&mut self, operator: &Operator, operands: &'a [Expr], whole: &'a Expr) -> Type {
        if let Some(own) = self.names.get(operator.name).copied() {
            let own = self.types.instance(own);
            let arguments = self.all(operands);
            return self.call(own, arguments, whole.at);
        }
        match (operator.name, operands) {
            ("'", [one]) => self.expression(one),
            ("/\\" | "\\/" | "=>" | "<=>" | "~" | "[]" | "<>" | "~>" | "ENABLED", all) => self.truth(all),
            ("UNCHANGED", [one]) => {
                self.expression(one);
                self.types.make(Term::Bool)
            }
            ("=" | "/=", [a, b]) => {
                let (a, b) = (self.expression(a), self.expression(b));
                self.same(a, b, whole.at);
                self.types.make(Term::Bool)
            }
            ("\\in" | "\\notin", [one, set]) => {
                let (one, element) = (self.expression(one), self.element(set));
                self.same(one, element, whole.at);
                self.types.make(Term::Bool)
            }
            ("\\subseteq" | "\\cup" | "\\cap" | "\\", [a, b]) => {
                let (one, other) = (self.element(a), self.element(b));
                self.same(one, other, whole.at);
                if operator.name == "\\subseteq" { self.types.make(Term::Bool) } else { self.types.set(one) }
            }
            ("SUBSET", [set]) => {
                let element = self.element(set);
                let subset = self.types.set(element);
                self.types.set(subset)
            }
            ("UNION", [sets]) => {
                let (set, element) = (self.element(sets), self.types.free());
                let wanted = self.types.set(element);
                self.same(set, wanted, sets.start());
                set
            }
            ("DOMAIN", [function]) => {
                let function = self.expression(function);
                let key = match self.types.term(function) {
                    Term::Function(domain, _) => domain,
                    Term::Record(_) => self.types.make(Term::Str),
                    Term::Tuple(_) => self.types.make(Term::Int),
                    _ => self.types.free(),
                };
                self.types.set(key)
            }
            ("+" | "-" | "*" | "\\div" | "%" | "^" | "-.", all) => {
                self.numbers(all);
                self.types.make(Term::Int)
            }
            ("<" | ">" | "\\leq" | "\\geq", all) => {
                self.numbers(all);
                self.types.make(Term::Bool)
            }
            ("..", all) => {
                self.numbers(all);
                let number = self.types.make(Term::Int);
                self.types.set(number)
            }
            ("\\o", [a, b]) => {
                let (a, b) = (self.expression(a), self.expression(b));
                let (a, one) = self.items(a, whole.at);
                let (_, other) = self.items(b, whole.at);
                self.same(one, other, whole.at);
                a
            }
            (":>", [key, value]) => {
                let (key, value) = (self.expression(key), self.expression(value));
                self.types.make(Term::Function(key, value))
            }
            ("@@", all) => self.one(all),
            (_, all) => {
                self.all(all);
                self.types.free()
            }
        }
    }

    /// `f[x]`
    pub(super) fn applied(&mut self, function: Type, arguments: &'a [Expr], at: usize) -> Type {
        let literal = match arguments {
            [one] if matches!(one.form, Form::Literal) => Some(self.text(one.at, one.end)),
            _ => None,
        };
        let own = self.all(arguments);
        let known = self.types.term(function);
        match (literal, known) {
            (Some(text), Term::Record(_) | Term::Free) if text.starts_with('"') => {
                self.field(function, text.trim_matches('"'), at)
            }
            (Some(text), Term::Tuple(_) | Term::Free) if text.parse::<usize>().is_ok_and(|n| (1..=64).contains(&n)) => {
                let index = text.parse::<usize>().unwrap_or(1);
                let parts: Vec<Type> = (0..index).map(|_| self.types.free()).collect();
                let part = parts[index - 1];
                let tuple = self.types.make(Term::Tuple(parts));
                self.same(function, tuple, at);
                part
            }
            _ => {
                let (key, value) = (self.key(own), self.types.free());
                let wanted = self.types.make(Term::Function(key, value));
                self.same(function, wanted, at);
                value
            }
        }
    }

    pub(super) fn field(&mut self, record: Type, name: &str, at: usize) -> Type {
        let value = self.types.free();
        let wanted = self.types.make(Term::Record(BTreeMap::from([(name.to_owned(), value)])));
        self.same(record, wanted, at);
        value
    }

    pub(super) fn except(&mut self, base: &'a Expr, updates: &'a [Update]) -> Type {
        let own = self.expression(base);
        for update in updates {
            let at = update.value.start();
            let mut part = own;
            for component in &update.path {
                part = match component {
                    Component::Field(name) => self.field(part, name, at),
                    Component::Index(arguments) => self.applied(part, arguments, at),
                };
            }
            let depth = self.undo.len();
            self.bind("@", part);
            let value = self.expression(&update.value);
            self.forget(depth);
            self.same(part, value, at);
        }
        own
    }
}
