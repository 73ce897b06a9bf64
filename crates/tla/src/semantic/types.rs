//! Types of TLA+ values, as far as they show which values TLC can compare. They are unified, with levels for
//! generalisation (Rémy, "Extension of ML type system with a sorted equation theory on types", 1992).

use std::collections::{BTreeMap, HashMap};

/// An index into [`Types`].
pub(super) type Type = usize;

#[derive(Debug, Clone)]
pub(super) enum Term {
    /// Not known yet.
    Free,
    Link(Type),
    Int,
    Str,
    Bool,
    /// A typed model value: TLC compares it only with model values of its type, and with those that have none.
    Model(char),
    Set(Type),
    /// Domain and range; a sequence has the domain `Int`.
    Function(Type, Type),
    /// A tuple whose elements have types of their own.
    Tuple(Vec<Type>),
    /// The known fields. TLC can compare records with different fields.
    Record(BTreeMap<String, Type>),
    Operator(Vec<Type>, Type),
}

impl Term {
    fn description(&self) -> &'static str {
        match self {
            Self::Free | Self::Link(_) => "a value",
            Self::Int => "a number",
            Self::Str => "a string",
            Self::Bool => "a truth value",
            Self::Model(_) => "a typed model value",
            Self::Set(_) => "a set",
            Self::Function(..) => "a function",
            Self::Tuple(_) => "a tuple",
            Self::Record(_) => "a record",
            Self::Operator(..) => "an operator",
        }
    }
}

/// The type of a model value: `A` for `A_1`. Source: `ModelValue.java` of TLC.
pub fn model_value_type(name: &str) -> Option<char> {
    let mut characters = name.chars();
    let (first, second) = (characters.next()?, characters.next()?);
    (second == '_' && characters.next().is_some()).then_some(first)
}

/// Two types that cannot be unified, described in words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Clash(pub(super) &'static str, pub(super) &'static str);

/// The level of generalised types: each use gets a copy.
const GENERIC: u32 = u32::MAX;

#[derive(Debug)]
struct Node {
    /// The nesting of definitions in which the type was made, or the smallest from which it is reachable.
    level: u32,
    term: Term,
}

/// All types of a module.
#[derive(Debug, Default)]
pub(super) struct Types {
    nodes: Vec<Node>,
    level: u32,
}

impl Types {
    pub(super) fn make(&mut self, term: Term) -> Type {
        self.nodes.push(Node { level: self.level, term });
        self.nodes.len() - 1
    }

    pub(super) fn new_free(&mut self) -> Type {
        self.make(Term::Free)
    }

    pub(super) fn set(&mut self, element: Type) -> Type {
        self.make(Term::Set(element))
    }

    pub(super) fn enter(&mut self) {
        self.level += 1;
    }

    pub(super) fn leave(&mut self) {
        self.level -= 1;
    }

    /// The type's term, as far as it is known.
    pub(super) fn term(&mut self, ty: Type) -> Term {
        let ty = self.root(ty);
        self.nodes[ty].term.clone()
    }

    fn root(&mut self, ty: Type) -> Type {
        let Term::Link(next) = self.nodes[ty].term else { return ty };
        let root = self.root(next);
        self.nodes[ty].term = Term::Link(root);
        root
    }

    fn parts(&self, ty: Type) -> Vec<Type> {
        match &self.nodes[ty].term {
            Term::Free | Term::Int | Term::Str | Term::Bool | Term::Model(_) => Vec::new(),
            Term::Link(one) | Term::Set(one) => vec![*one],
            Term::Function(domain, range) => vec![*domain, *range],
            Term::Tuple(all) => all.clone(),
            Term::Record(fields) => fields.values().copied().collect(),
            Term::Operator(operands, value) => operands.iter().chain([value]).copied().collect(),
        }
    }

    /// Lowers the level of a type and everything in it, so that it is not generalised above `level`.
    fn lower_level(&mut self, ty: Type, level: u32) {
        let mut left = vec![ty];
        while let Some(next) = left.pop() {
            let next = self.root(next);
            if self.nodes[next].level > level {
                self.nodes[next].level = level;
                left.extend(self.parts(next));
            }
        }
    }

    /// Generalises the parts of a type that were made inside a definition and are not used outside.
    pub(super) fn generalize(&mut self, ty: Type) {
        let mut left = vec![ty];
        while let Some(next) = left.pop() {
            let next = self.root(next);
            let level = self.nodes[next].level;
            if level > self.level && level != GENERIC {
                self.nodes[next].level = GENERIC;
                left.extend(self.parts(next));
            }
        }
    }

    /// A copy of a generalised type for one use.
    pub(super) fn instance(&mut self, ty: Type) -> Type {
        self.copy(ty, &mut HashMap::new())
    }

    fn copy(&mut self, ty: Type, made: &mut HashMap<Type, Type>) -> Type {
        let ty = self.root(ty);
        if self.nodes[ty].level != GENERIC {
            return ty;
        }
        if let Some(known) = made.get(&ty) {
            return *known;
        }
        let new = self.new_free();
        // Before its parts, because a type can contain itself.
        made.insert(ty, new);
        let term = match self.nodes[ty].term.clone() {
            Term::Set(one) => Term::Set(self.copy(one, made)),
            Term::Function(domain, range) => Term::Function(self.copy(domain, made), self.copy(range, made)),
            Term::Tuple(all) => Term::Tuple(all.into_iter().map(|one| self.copy(one, made)).collect()),
            Term::Record(fields) => {
                Term::Record(fields.into_iter().map(|(name, one)| (name, self.copy(one, made))).collect())
            }
            Term::Operator(operands, value) => {
                let operands = operands.into_iter().map(|one| self.copy(one, made)).collect();
                Term::Operator(operands, self.copy(value, made))
            }
            other => other,
        };
        self.nodes[new].term = term;
        new
    }

    pub(super) fn unify(&mut self, a: Type, b: Type) -> Result<(), Clash> {
        let (a, b) = (self.root(a), self.root(b));
        if a == b {
            return Ok(());
        }
        // What a definition shares with one around it must not be generalised, so both get the lower level.
        let level = self.nodes[a].level.min(self.nodes[b].level);
        self.lower_level(a, level);
        self.lower_level(b, level);
        match (self.nodes[a].term.clone(), self.nodes[b].term.clone()) {
            (Term::Free, _) => self.link(a, b),
            (_, Term::Free) => self.link(b, a),
            (Term::Int, Term::Int) | (Term::Str, Term::Str) | (Term::Bool, Term::Bool) => self.link(a, b),
            (Term::Model(one), Term::Model(other)) if one == other => self.link(a, b),
            // Types are linked before their parts are unified, so that a type that contains itself comes to an end.
            (Term::Set(one), Term::Set(other)) => {
                self.link(a, b);
                return self.unify(one, other);
            }
            (Term::Function(domain, range), Term::Function(other, its)) => {
                self.link(a, b);
                self.unify(domain, other)?;
                return self.unify(range, its);
            }
            (Term::Record(left), Term::Record(right)) => {
                let mut all = right.clone();
                all.extend(left.clone());
                self.nodes[b].term = Term::Record(all);
                self.link(a, b);
                let both = left.into_iter().filter_map(|(name, one)| Some((one, *right.get(&name)?)));
                for (one, other) in both.collect::<Vec<_>>() {
                    self.unify(one, other)?;
                }
            }
            (Term::Tuple(left), Term::Tuple(right)) => {
                // TLC can compare tuples of different lengths: they differ.
                let longer = if left.len() > right.len() { &left } else { &right };
                self.nodes[b].term = Term::Tuple(longer.clone());
                self.link(a, b);
                for (one, other) in left.into_iter().zip(right) {
                    self.unify(one, other)?;
                }
            }
            (Term::Record(fields), Term::Function(domain, range)) => {
                self.link(b, a);
                return self.unify_as_function(fields.into_values(), Term::Str, domain, range);
            }
            (Term::Function(domain, range), Term::Record(fields)) => {
                self.link(a, b);
                return self.unify_as_function(fields.into_values(), Term::Str, domain, range);
            }
            (Term::Tuple(elements), Term::Function(domain, range)) => {
                self.link(a, b);
                return self.unify_as_function(elements.into_iter(), Term::Int, domain, range);
            }
            (Term::Function(domain, range), Term::Tuple(elements)) => {
                self.link(b, a);
                return self.unify_as_function(elements.into_iter(), Term::Int, domain, range);
            }
            // The empty function equals no record, and TLC can compare them.
            (Term::Tuple(none), Term::Record(_)) if none.is_empty() => self.link(a, b),
            (Term::Record(_), Term::Tuple(none)) if none.is_empty() => self.link(b, a),
            (Term::Operator(operands, value), Term::Operator(others, its)) if operands.len() == others.len() => {
                self.link(a, b);
                for (one, other) in operands.into_iter().zip(others) {
                    self.unify(one, other)?;
                }
                return self.unify(value, its);
            }
            (one, other) => return Err(Clash(one.description(), other.description())),
        }
        Ok(())
    }

    fn link(&mut self, from: Type, to: Type) {
        self.nodes[from].term = Term::Link(to);
    }

    fn unify_as_function(
        &mut self,
        mut values: impl Iterator<Item = Type>,
        key: Term,
        domain: Type,
        range: Type,
    ) -> Result<(), Clash> {
        let key = self.make(key);
        self.unify(domain, key)?;
        values.try_for_each(|value| self.unify(value, range))
    }
}
