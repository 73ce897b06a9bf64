//! Whether a specification compares values that TLC cannot compare. `tla-mc` says that they differ; TLC reports an
//! error. Comparisons that types do not decide are accepted.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::{Cfg, Diagnostic};

use super::elaborate::embedded_diagnostic;
use super::parser::{Fault, parse};
use super::tree::{Bound, Declared, Expr, Form, Instance, Module, Unit};
use super::types::{Clash, Term, Type, Types, model_value_type};

/// Maximum nesting of instances.
const MAX_INSTANCE_NESTING: usize = 8;

/// Two values that TLC cannot compare.
struct Mismatch {
    module: usize,
    /// In bytes.
    offset: usize,
    clash: Clash,
}

/// Finds the first comparison of values that TLC cannot compare, as far as types show. The modules are given by name and
/// text, the root first; `cfg` is the text of the configuration.
///
/// # Errors
///
/// Why a module cannot be parsed.
pub fn find_type_error(modules: &[(&str, &str)], cfg: &str) -> Result<Option<Diagnostic>, Diagnostic> {
    let mut read = Vec::new();
    for (name, text) in modules {
        read.push(
            parse(text).map_err(|Fault { offset, message, .. }| embedded_diagnostic(text, name, offset, &message))?,
        );
    }
    let trees: Vec<(&str, &str, &Module)> =
        modules.iter().zip(&read).map(|((name, text), tree)| (*name, *text, tree)).collect();
    let constants = Cfg::parse(cfg).map(|cfg| cfg.constants).unwrap_or_default();
    let mut typing = Typing::new(&trees, &constants);
    typing.check_substitutions();
    let Some(Mismatch { module, offset, clash: Clash(one, other) }) = typing.found else { return Ok(None) };
    let message =
        format!("type error: {one} is compared with {other}. TLC stops if it evaluates this, so nothing was decided");
    let (name, text) = modules[module];
    Ok(Some(embedded_diagnostic(text, name, offset, &message)))
}

/// The types of the constants and variables of an instance.
type Substitution = HashMap<String, Type>;

pub(super) struct Typing<'a> {
    modules: &'a [(&'a str, &'a str, &'a Module)],
    constants: &'a BTreeMap<String, String>,
    pub(super) types: Types,
    pub(super) names: HashMap<String, Type>,
    /// Earlier meanings of names, innermost last.
    pub(super) undo: Vec<(String, Option<Type>)>,
    extended: BTreeSet<usize>,
    /// Declared `RECURSIVE` and not yet defined.
    recursive: HashMap<String, Type>,
    reading: usize,
    instance_depth: usize,
    found: Option<Mismatch>,
}

impl<'a> Typing<'a> {
    /// Infers the types of the modules, the root first.
    pub(super) fn new(modules: &'a [(&'a str, &'a str, &'a Module)], constants: &'a BTreeMap<String, String>) -> Self {
        let mut typing = Self {
            modules,
            constants,
            types: Types::default(),
            names: HashMap::new(),
            undo: Vec::new(),
            extended: BTreeSet::new(),
            recursive: HashMap::new(),
            reading: 0,
            instance_depth: 0,
            found: None,
        };
        typing.module(0);
        typing
    }

    fn module_index(&self, name: &str) -> Option<usize> {
        self.modules.iter().position(|(known, _, _)| *known == name)
    }

    pub(super) fn bind(&mut self, name: &str, to: Type) {
        let before = self.names.insert(name.to_owned(), to);
        self.undo.push((name.to_owned(), before));
    }

    pub(super) fn restore_names(&mut self, to: usize) {
        while self.undo.len() > to {
            let Some((name, before)) = self.undo.pop() else { break };
            match before {
                Some(before) => self.names.insert(name, before),
                None => self.names.remove(&name),
            };
        }
    }

    pub(super) fn unify(&mut self, a: Type, b: Type, offset: usize) {
        if let Err(clash) = self.types.unify(a, b) {
            self.found.get_or_insert(Mismatch { module: self.reading, offset, clash });
        }
    }

    pub(super) fn expect(&mut self, expression: &'a Expr, term: Term) {
        let (found, wanted) = (self.expression(expression), self.types.make(term));
        self.unify(found, wanted, expression.start());
    }

    /// The type of a set's elements.
    pub(super) fn element_type(&mut self, set: &'a Expr) -> Type {
        let (found, element) = (self.expression(set), self.types.new_free());
        let wanted = self.types.set(element);
        self.unify(found, wanted, set.start());
        element
    }

    pub(super) fn types_of(&mut self, expressions: &'a [Expr]) -> Vec<Type> {
        expressions.iter().map(|expression| self.expression(expression)).collect()
    }

    /// The common type of all these expressions.
    pub(super) fn common_type(&mut self, expressions: impl IntoIterator<Item = &'a Expr>) -> Type {
        let one = self.types.new_free();
        for expression in expressions {
            let found = self.expression(expression);
            self.unify(found, one, expression.start());
        }
        one
    }

    fn module(&mut self, module: usize) {
        let before = std::mem::replace(&mut self.reading, module);
        let tree = self.modules[module].2;
        for extended in &tree.extends {
            if let Some(extended) = self.module_index(&extended.text)
                && self.extended.insert(extended)
            {
                self.module(extended);
            }
        }
        self.units(&tree.units, &Substitution::new());
        self.reading = before;
    }

    fn units(&mut self, units: &'a [Unit], substituted: &Substitution) {
        for unit in units {
            match unit {
                Unit::Variables(names, _) => {
                    for name in names {
                        let own = substituted.get(&name.text).copied().unwrap_or_else(|| self.types.new_free());
                        self.bind(&name.text, own);
                    }
                }
                Unit::Constants(declared, _) => {
                    for declared in declared {
                        let given = substituted.get(&declared.name.text).copied();
                        let own = given.unwrap_or_else(|| self.constant_type(declared));
                        self.bind(&declared.name.text, own);
                    }
                }
                Unit::Recursive(declared) => {
                    for declared in declared {
                        self.types.enter();
                        let own = self.declared_type(declared.arity);
                        self.types.leave();
                        self.bind(&declared.name.text, own);
                        self.recursive.insert(declared.name.text.clone(), own);
                    }
                }
                Unit::Operator(definition) => {
                    let name = &definition.name.text;
                    let recursive = self.recursive.remove(name);
                    self.types.enter();
                    let depth = self.undo.len();
                    let operands: Vec<Type> =
                        definition.parameters.iter().map(|p| self.declared_type(p.arity)).collect();
                    for (parameter, operand) in definition.parameters.iter().zip(&operands) {
                        self.bind(&parameter.name.text, *operand);
                    }
                    // A definition that the configuration substitutes is not evaluated.
                    let replaced = self.constants.get(name).is_some_and(|value| value.starts_with("<- "));
                    let value = if replaced { self.types.new_free() } else { self.expression(&definition.body) };
                    self.restore_names(depth);
                    let own =
                        if operands.is_empty() { value } else { self.types.make(Term::Operator(operands, value)) };
                    if let Some(recursive) = recursive {
                        self.unify(recursive, own, definition.name.offset);
                    }
                    self.types.leave();
                    // Each use of a definition may have another type.
                    self.types.generalize(own);
                    self.bind(name, own);
                }
                Unit::Function(definition) => {
                    let name = &definition.name.text;
                    self.types.enter();
                    let own = self.types.new_free();
                    let depth = self.undo.len();
                    // In its own body, a function has one type.
                    self.bind(name, own);
                    let found = self.function(&definition.bounds, &definition.body);
                    self.unify(found, own, definition.name.offset);
                    self.restore_names(depth);
                    self.types.leave();
                    self.types.generalize(own);
                    self.bind(name, own);
                }
                Unit::Instance(instance, _) => {
                    for (name, own) in self.instance(instance) {
                        self.bind(&name, own);
                    }
                }
                // The checker does not support instances with parameters.
                Unit::NamedInstance(named) if named.parameters.is_empty() => {
                    for (name, own) in self.instance(&named.instance) {
                        self.bind(&format!("{}!{name}", named.name.text), own);
                    }
                }
                Unit::Assumption(_, formula, _) => self.expect(formula, Term::Bool),
                Unit::NamedInstance(_) | Unit::Theorem(_) | Unit::Module(_) | Unit::Use(_) => {}
            }
        }
    }

    fn declared_type(&mut self, arity: usize) -> Type {
        if arity == 0 {
            return self.types.new_free();
        }
        let operands = (0..arity).map(|_| self.types.new_free()).collect();
        let value = self.types.new_free();
        self.types.make(Term::Operator(operands, value))
    }

    fn constant_type(&mut self, declared: &Declared) -> Type {
        let value = self.constants.get(&declared.name.text).filter(|value| !value.starts_with("<- "));
        let Some(value) = value else { return self.declared_type(declared.arity) };
        // A model value without a type can be compared with any value, so each use gets a type of its own.
        self.types.enter();
        let own = self.value_type(value);
        self.types.leave();
        self.types.generalize(own);
        own
    }

    /// The type of a value in a configuration. A set can have typed model values of several types, or sets of several sizes.
    fn value_type(&mut self, value: &str) -> Type {
        let value = value.trim();
        let Some(inner) = value.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')) else {
            return self.types.make(match value {
                "TRUE" | "FALSE" => Term::Bool,
                _ if value.starts_with('"') => Term::Str,
                _ if value.trim_start_matches('-').bytes().all(|b| b.is_ascii_digit()) => Term::Int,
                _ => model_value_type(value).map_or(Term::Free, Term::Model),
            });
        };
        let element = self.types.new_free();
        let mut depth = 0_u32;
        let between = |char: char| {
            match char {
                '{' => depth += 1,
                '}' => depth = depth.saturating_sub(1),
                _ => {}
            }
            char == ',' && depth == 0
        };
        for part in inner.split(between).filter(|part| !part.trim().is_empty()) {
            let found = self.value_type(part);
            self.unify(found, element, 0);
        }
        self.types.set(element)
    }

    /// A definition that the configuration substitutes for a constant must have the constant's type.
    fn check_substitutions(&mut self) {
        for (name, value) in self.constants {
            let Some(definition) = value.strip_prefix("<- ").and_then(|name| self.names.get(name.trim())) else {
                continue;
            };
            if let Some(constant) = self.names.get(name).copied() {
                let definition = self.types.instance(*definition);
                let constant = self.types.instance(constant);
                self.unify(constant, definition, 0);
            }
        }
    }

    /// The definitions of an instance with their types.
    fn instance(&mut self, instance: &'a Instance) -> Vec<(String, Type)> {
        let Some(module) =
            self.module_index(&instance.module.text).filter(|_| self.instance_depth < MAX_INSTANCE_NESTING)
        else {
            return Vec::new();
        };
        let mut substituted = self.names.clone();
        for (name, value) in &instance.substitutions {
            let own = self.expression(value);
            substituted.insert(name.text.clone(), own);
        }
        let (before, depth) = (self.reading, self.undo.len());
        // What the module of the instance extends is read again, with the values of this instance.
        let extended = std::mem::take(&mut self.extended);
        (self.reading, self.instance_depth) = (module, self.instance_depth + 1);
        for extended in &self.modules[module].2.extends {
            if let Some(extended) = self.module_index(&extended.text) {
                self.reading = extended;
                self.units(&self.modules[extended].2.units, &substituted);
                self.reading = module;
            }
        }
        self.units(&self.modules[module].2.units, &substituted);
        (self.reading, self.instance_depth) = (before, self.instance_depth - 1);
        self.extended = extended;
        let made: BTreeSet<String> = self.undo[depth..].iter().map(|(name, _)| name.clone()).collect();
        let made = made.into_iter().filter_map(|name| self.names.get(&name).map(|own| (name, *own))).collect();
        self.restore_names(depth);
        made
    }

    pub(super) fn text(&self, from: usize, to: usize) -> &'a str {
        self.modules[self.reading].1.get(from..to).unwrap_or("")
    }

    /// Binds names, and returns the type of each name, or of the tuple of them.
    fn bind_names(&mut self, bound: &'a Bound) -> Vec<Type> {
        let element = self.element_type(&bound.set);
        let first = bound.names.first().map_or(0, |name| name.offset);
        // Whether the names are a tuple is not in the tree, only in the text before them.
        let before = self.text(0, first).trim_end();
        if before.ends_with("<<") || before.ends_with('\u{27e8}') {
            let parts: Vec<Type> = bound.names.iter().map(|_| self.types.new_free()).collect();
            for (name, part) in bound.names.iter().zip(&parts) {
                self.bind(&name.text, *part);
            }
            let tuple = self.types.make(Term::Tuple(parts));
            self.unify(element, tuple, bound.set.start());
            return vec![element];
        }
        for name in &bound.names {
            self.bind(&name.text, element);
        }
        vec![element; bound.names.len()]
    }

    fn with_bounds<T>(&mut self, bounds: &'a [Bound], inner: impl FnOnce(&mut Self, Vec<Type>) -> T) -> T {
        let depth = self.undo.len();
        let bound = bounds.iter().flat_map(|bound| self.bind_names(bound)).collect();
        let made = inner(self, bound);
        self.restore_names(depth);
        made
    }

    fn function(&mut self, bounds: &'a [Bound], body: &'a Expr) -> Type {
        self.with_bounds(bounds, |typing, bound| {
            let domain = typing.argument_type(bound);
            let range = typing.expression(body);
            typing.types.make(Term::Function(domain, range))
        })
    }

    /// Several arguments are a tuple.
    pub(super) fn argument_type(&mut self, mut arguments: Vec<Type>) -> Type {
        if arguments.len() == 1 { arguments.remove(0) } else { self.types.make(Term::Tuple(arguments)) }
    }

    pub(super) fn expression(&mut self, expression: &'a Expr) -> Type {
        match &expression.form {
            Form::Literal => {
                let text = self.text(expression.offset, expression.end);
                self.types.make(if text.starts_with('"') { Term::Str } else { Term::Int })
            }
            Form::Path(segments) => self.path(segments, expression.offset),
            Form::Apply(operator, operands) => self.apply(operator, operands, expression),
            Form::Product(factors) => {
                let elements = factors.iter().map(|factor| self.element_type(factor)).collect();
                let tuple = self.types.make(Term::Tuple(elements));
                self.types.set(tuple)
            }
            Form::List(items, _) => self.expect_booleans(items),
            Form::Parenthesis(inner) | Form::Label(_, _, inner) => self.expression(inner),
            Form::Tuple(elements) => {
                let elements = self.types_of(elements);
                self.types.make(Term::Tuple(elements))
            }
            Form::Set(elements) => {
                let one = self.common_type(elements);
                self.types.set(one)
            }
            Form::FunctionSet(two) => {
                let (domain, range) = (self.element_type(&two.0), self.element_type(&two.1));
                let function = self.types.make(Term::Function(domain, range));
                self.types.set(function)
            }
            Form::Record(fields) => {
                let fields = fields.iter().map(|(name, value)| (name.text.clone(), self.expression(value))).collect();
                self.types.make(Term::Record(fields))
            }
            Form::RecordSet(fields) => {
                let fields = fields.iter().map(|(name, set)| (name.text.clone(), self.element_type(set))).collect();
                let record = self.types.make(Term::Record(fields));
                self.types.set(record)
            }
            Form::Except(base, updates) => self.except(base, updates),
            Form::Application(function, arguments) => {
                let function = self.expression(function);
                self.apply_function(function, arguments, expression.offset)
            }
            Form::Field(record, name) => {
                let record = self.expression(record);
                self.field(record, &name.text, expression.offset)
            }
            Form::Action(_, two) => {
                // In `[A]_v` and `WF_v(A)`, `v` may have any type.
                self.expression(&two.0);
                self.expression(&two.1);
                self.types.make(Term::Bool)
            }
            Form::If(three) => {
                self.expect(&three.0, Term::Bool);
                self.common_type([&three.1, &three.2])
            }
            Form::Case(arms, other) => {
                for (condition, _) in arms {
                    self.expect(condition, Term::Bool);
                }
                self.common_type(arms.iter().map(|(_, value)| value).chain(other.as_deref()))
            }
            _ => self.binder(expression),
        }
    }

    /// Expressions that bind names.
    fn binder(&mut self, expression: &'a Expr) -> Type {
        match &expression.form {
            Form::Filter(bound, condition) => {
                let element = self.with_bounds(std::slice::from_ref(&**bound), |typing, bound| {
                    typing.expect(condition, Term::Bool);
                    bound.first().copied()
                });
                let element = element.unwrap_or_else(|| self.types.new_free());
                self.types.set(element)
            }
            Form::Map(value, bounds) => {
                let element = self.with_bounds(bounds, |typing, _| typing.expression(value));
                self.types.set(element)
            }
            Form::Function(bounds, body) => self.function(bounds, body),
            Form::Bounded(_, bounds, body) => {
                self.with_bounds(bounds, |typing, _| typing.expect(body, Term::Bool));
                self.types.make(Term::Bool)
            }
            Form::Unbounded(_, names, body) => {
                let depth = self.undo.len();
                for name in names {
                    let free = self.types.new_free();
                    self.bind(&name.text, free);
                }
                self.expect(body, Term::Bool);
                self.restore_names(depth);
                self.types.make(Term::Bool)
            }
            Form::Choose(names, _, set, body) => {
                let element = set.as_ref().map(|set| self.element_type(set));
                let depth = self.undo.len();
                let chosen: Vec<Type> = match (element, &names[..]) {
                    (Some(element), [_]) => vec![element],
                    _ => names.iter().map(|_| self.types.new_free()).collect(),
                };
                for (name, own) in names.iter().zip(&chosen) {
                    self.bind(&name.text, *own);
                }
                self.expect(body, Term::Bool);
                self.restore_names(depth);
                match (element, &chosen[..]) {
                    (_, [one]) => *one,
                    (Some(element), _) => element,
                    (None, _) => self.types.new_free(),
                }
            }
            Form::Let(units, body) => {
                let depth = self.undo.len();
                self.units(units, &Substitution::new());
                let value = self.expression(body);
                self.restore_names(depth);
                value
            }
            Form::Lambda(names, body) => {
                let depth = self.undo.len();
                let operands: Vec<Type> = names.iter().map(|_| self.types.new_free()).collect();
                for (name, operand) in names.iter().zip(&operands) {
                    self.bind(&name.text, *operand);
                }
                let value = self.expression(body);
                self.restore_names(depth);
                self.types.make(Term::Operator(operands, value))
            }
            _ => self.types.new_free(),
        }
    }

    pub(super) fn expect_booleans(&mut self, all: &'a [Expr]) -> Type {
        for one in all {
            self.expect(one, Term::Bool);
        }
        self.types.make(Term::Bool)
    }
}
