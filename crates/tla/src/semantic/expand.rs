//! Turns parsed expressions into terms: operators of the module and of LET are expanded, bound names are numbered.

use std::cell::Cell;
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use crate::Cfg;
use crate::references::canonical;

use super::impure::is_impure_name;
use super::standard::exported_names;
use super::term::{MODEL_VALUE, Term, apply, junction, square, truth};
use super::tree::{Bound, Component, Expr, Form, Module, Quantifier, Segment, Subscripted, Unit};

/// Maximum number of parts of a term; the rest stays opaque.
const BUDGET: usize = 40_000;
/// Maximum nesting of expressions and expanded operators.
const DEPTH: usize = 300;

pub(super) struct Definitions<'a> {
    text: &'a str,
    operators: HashMap<&'a str, Operator<'a>>,
    constants: BTreeSet<&'a str>,
    /// The values that the configuration gives to constants, as far as they are known here.
    values: HashMap<String, Rc<Term>>,
    variables: BTreeSet<&'a str>,
    /// Operators that the configuration substitutes by others.
    replaced: HashMap<&'a str, &'a str>,
    standard: BTreeSet<String>,
    /// Number of parts that exceeded the limits so far.
    beyond: Cell<usize>,
}

#[derive(Clone)]
pub(super) struct Operator<'a> {
    parameters: Rc<[&'a str]>,
    body: &'a Expr,
    /// The names known at the definition, if it is in a LET.
    scope: Scope<'a>,
}

#[derive(Clone)]
pub(super) enum Meaning<'a> {
    Value(Rc<Term>),
    Operator(Operator<'a>),
    Unknown,
}

/// Names besides those of the module, the innermost first.
pub(super) type Scope<'a> = Option<Rc<ScopeEntry<'a>>>;

pub(super) struct ScopeEntry<'a> {
    name: &'a str,
    meaning: Meaning<'a>,
    outer: Scope<'a>,
}

/// An expansion in progress, with its remaining budget.
pub(super) struct Expansion<'d, 'a> {
    definitions: &'d Definitions<'a>,
    left: usize,
    open: Vec<*const Expr>,
    binders: usize,
    depth: usize,
}

impl<'a> Definitions<'a> {
    pub(super) fn new(text: &'a str, module: &'a Module, replaced: HashMap<&'a str, &'a str>) -> Self {
        // Another module may give any name a meaning.
        let is_other = |unit: &Unit| match unit {
            Unit::Instance(instance, _) => super::standard::text(&instance.module.text).is_none(),
            Unit::Module(_) => true,
            _ => false,
        };
        let extends_standard = module.extends.iter().all(|name| super::standard::text(&name.text).is_some());
        let alone = extends_standard && !module.units.iter().any(is_other);
        let standard =
            ["Integers", "Sequences", "FiniteSets", "TLC", "Bags"].into_iter().filter_map(exported_names).flatten();
        let mut found = Self {
            text,
            operators: HashMap::new(),
            constants: BTreeSet::new(),
            values: HashMap::new(),
            variables: BTreeSet::new(),
            replaced,
            standard: standard.filter(|name| alone && !is_impure_name(name)).collect(),
            beyond: Cell::new(0),
        };
        for unit in &module.units {
            match unit {
                Unit::Variables(names, _) => found.variables.extend(names.iter().map(|name| name.text.as_str())),
                Unit::Constants(all, _) => found.constants.extend(all.iter().map(|one| one.name.text.as_str())),
                _ => {
                    if let Some((name, operator)) = operator(unit, &None) {
                        found.operators.insert(name, operator);
                    }
                }
            }
        }
        found
    }

    /// With the values that a configuration gives to constants.
    pub(super) fn with_values(mut self, cfg: &Cfg) -> Self {
        let values = cfg.constants.iter().filter_map(|(name, value)| Some((name.clone(), constant_value(value)?)));
        self.values = values.collect();
        self
    }

    pub(super) fn variables(&self) -> &BTreeSet<&'a str> {
        &self.variables
    }

    /// The term of a definition without parameters.
    pub(super) fn definition_term(&self, name: &str) -> Option<Rc<Term>> {
        let name = self.replaced.get(name).copied().unwrap_or(name);
        let operator = self.operators.get(name).filter(|operator| operator.parameters.is_empty())?;
        let mut expansion = Expansion { definitions: self, left: BUDGET, open: Vec::new(), binders: 0, depth: 0 };
        Some(expansion.term(operator.body, &None))
    }
}

fn operator<'a>(unit: &'a Unit, scope: &Scope<'a>) -> Option<(&'a str, Operator<'a>)> {
    let Unit::Operator(definition) = unit else { return None };
    let parameters = definition.parameters.iter();
    // The argument for a parameter with operands is an operator, which is not expanded.
    if parameters.clone().any(|parameter| parameter.arity > 0) {
        return None;
    }
    let parameters = parameters.map(|parameter| parameter.name.text.as_str()).collect();
    Some((definition.name.text.as_str(), Operator { parameters, body: &definition.body, scope: scope.clone() }))
}

#[allow(clippy::unnecessary_wraps, reason = "a scope is empty or has a name, and this one has")]
fn with_name<'a>(scope: &Scope<'a>, name: &'a str, meaning: Meaning<'a>) -> Scope<'a> {
    Some(Rc::new(ScopeEntry { name, meaning, outer: scope.clone() }))
}

impl<'a> Expansion<'_, 'a> {
    fn terms(&mut self, expressions: &'a [Expr], scope: &Scope<'a>) -> Vec<Rc<Term>> {
        expressions.iter().map(|expression| self.term(expression, scope)).collect()
    }

    /// A part with unknown meaning: its position, and the values of all names that it may use.
    fn opaque(&mut self, expression: &Expr, scope: &Scope<'a>) -> Rc<Term> {
        let mut values = Vec::new();
        let mut known = scope.as_ref();
        while let Some(one) = known {
            if let Meaning::Value(value) = &one.meaning {
                self.charge_budget(value);
                values.push(value.clone());
            }
            known = one.outer.as_ref();
        }
        Rc::new(Term::Opaque(format!("{} {}", expression.offset, expression.end), values))
    }

    /// A part that exceeds the limits; it equals nothing else.
    fn over_limit(&self) -> Rc<Term> {
        let number = self.definitions.beyond.get() + 1;
        self.definitions.beyond.set(number);
        Rc::new(Term::Opaque(format!("beyond {number}"), Vec::new()))
    }

    /// Each use of a value counts with all its parts, so that a term never exceeds the budget.
    fn charge_budget(&mut self, value: &Term) {
        self.left = value.charged(self.left);
    }

    pub(super) fn term(&mut self, expression: &'a Expr, scope: &Scope<'a>) -> Rc<Term> {
        self.left = self.left.saturating_sub(1);
        if self.left == 0 || self.depth > DEPTH {
            return self.over_limit();
        }
        self.depth += 1;
        let term = self.form(expression, scope);
        self.depth -= 1;
        term
    }

    fn form(&mut self, expression: &'a Expr, scope: &Scope<'a>) -> Rc<Term> {
        let plain = |name: &str, operands: Vec<Rc<Term>>| Rc::new(Term::Apply(name.to_owned(), operands));
        match &expression.form {
            Form::Literal => {
                let text = self.definitions.text.get(expression.offset..expression.end).unwrap_or("");
                if text.is_empty() { self.opaque(expression, scope) } else { Rc::new(Term::Literal(text.to_owned())) }
            }
            Form::Path(segments) => self.path(segments, expression, scope),
            Form::Apply(operator, operands) => {
                let operands = self.terms(operands, scope);
                self.operation(operator.name, operands, expression, scope)
            }
            Form::Product(factors) => plain("\\X", self.terms(factors, scope)),
            Form::List(items, operator) => junction(operator.name, self.terms(items, scope)),
            Form::Parenthesis(inner) | Form::Label(_, _, inner) => self.term(inner, scope),
            Form::Tuple(elements) => plain("<<>>", self.terms(elements, scope)),
            Form::Set(elements) => {
                let mut elements = self.terms(elements, scope);
                // A set has no order and no repetitions; equal sets must be equal terms.
                elements.sort();
                elements.dedup();
                plain("{}", elements)
            }
            Form::Filter(bound, body) => self.binder("filter", std::slice::from_ref(&**bound), body, scope),
            Form::Map(body, bounds) => self.binder("map", bounds, body, scope),
            Form::Function(bounds, body) => self.binder("function", bounds, body, scope),
            Form::FunctionSet(two) => plain("->", vec![self.term(&two.0, scope), self.term(&two.1, scope)]),
            Form::Record(fields) => self.record("record", fields, scope),
            Form::RecordSet(fields) => self.record("records", fields, scope),
            Form::Except(base, updates) => {
                let mut operands = vec![self.term(base, scope)];
                for update in updates {
                    for component in &update.path {
                        match component {
                            Component::Field(name) => operands.push(Rc::new(Term::Literal(format!(".{name}")))),
                            Component::Index(index) => operands.push(plain("index", self.terms(index, scope))),
                        }
                    }
                    operands.push(plain("update", vec![self.term(&update.value, scope)]));
                }
                plain("EXCEPT", operands)
            }
            Form::Application(function, arguments) => {
                let mut operands = vec![self.term(function, scope)];
                operands.extend(self.terms(arguments, scope));
                apply("[", operands)
            }
            Form::Action(kind, two) => {
                let (action, subscript) = (self.term(&two.0, scope), self.term(&two.1, scope));
                match kind {
                    Subscripted::Square => square(&action, &subscript),
                    Subscripted::Angle => plain("<<A>>_", vec![action, subscript]),
                    Subscripted::Weak => plain("WF", vec![action, subscript]),
                    Subscripted::Strong => plain("SF", vec![action, subscript]),
                }
            }
            Form::Bounded(quantifier, bounds, body) => self.quantified(*quantifier, bounds, body, scope),
            Form::If(three) => {
                let operands = vec![self.term(&three.0, scope), self.term(&three.1, scope), self.term(&three.2, scope)];
                apply("IF", operands)
            }
            Form::Case(arms, other) => self.case(arms, other.as_deref(), scope),
            Form::Let(units, body) => self.let_in(units, body, scope),
            Form::Field(..)
            | Form::Unbounded(..)
            | Form::Choose(..)
            | Form::Operator(_)
            | Form::Lambda(..)
            | Form::Arguments(_) => self.compare_by_text(expression, scope),
        }
    }

    /// Forms that are compared by their text. They are opaque, so nothing is concluded from their variables.
    fn compare_by_text(&mut self, expression: &'a Expr, scope: &Scope<'a>) -> Rc<Term> {
        match &expression.form {
            Form::Field(record, name) => {
                let field = Rc::new(Term::Literal(format!(".{}", name.text)));
                Rc::new(Term::Apply(".".to_owned(), vec![self.term(record, scope), field]))
            }
            _ => self.opaque(expression, scope),
        }
    }

    fn record(&mut self, kind: &str, fields: &'a [(super::tree::Name, Expr)], scope: &Scope<'a>) -> Rc<Term> {
        let mut parts: Vec<Rc<Term>> = Vec::new();
        for (name, value) in fields {
            let value = self.term(value, scope);
            parts.push(Rc::new(Term::Apply(format!(".{}", name.text), vec![value])));
        }
        // The order of fields does not matter either.
        parts.sort();
        Rc::new(Term::Apply(kind.to_owned(), parts))
    }

    fn bounds(&mut self, bounds: &'a [Bound], scope: &Scope<'a>) -> (Vec<Rc<Term>>, Scope<'a>) {
        let mut inner = scope.clone();
        let mut sets = Vec::new();
        for bound in bounds {
            let set = self.term(&bound.set, scope);
            // `x, y \in S` and `<<x, y>> \in S` have the same names, so the term must distinguish them.
            let count = Rc::new(Term::Literal(format!("{} {}", bound.names.len(), bound.is_tuple)));
            sets.push(Rc::new(Term::Apply("over".to_owned(), vec![set, count])));
            for name in &bound.names {
                inner = with_name(&inner, &name.text, Meaning::Value(Rc::new(Term::Bound(self.binders))));
                self.binders += 1;
            }
        }
        (sets, inner)
    }

    fn binder(&mut self, kind: &str, bounds: &'a [Bound], body: &'a Expr, scope: &Scope<'a>) -> Rc<Term> {
        let before = self.binders;
        let (sets, inner) = self.bounds(bounds, scope);
        let body = self.term(body, &inner);
        self.binders = before;
        // The number of the first bound name distinguishes the binder from an equal one at another depth.
        Rc::new(Term::Binder(format!("{kind} {before}"), sets, body))
    }

    fn quantified(
        &mut self,
        quantifier: Quantifier,
        bounds: &'a [Bound],
        body: &'a Expr,
        scope: &Scope<'a>,
    ) -> Rc<Term> {
        let (kind, neutral) = match quantifier {
            Quantifier::All => ("\\A", true),
            Quantifier::Some => ("\\E", false),
            Quantifier::TemporalAll => ("\\AA", true),
            Quantifier::TemporalSome => ("\\EE", false),
        };
        let term = self.binder(kind, bounds, body, scope);
        match &*term {
            Term::Binder(_, _, body) if **body == Term::Truth(neutral) => truth(neutral),
            Term::Binder(_, sets, _) if sets.iter().any(|set| is_over_empty_set(set)) => truth(neutral),
            _ => term,
        }
    }

    fn case(&mut self, arms: &'a [(Expr, Expr)], other: Option<&'a Expr>, scope: &Scope<'a>) -> Rc<Term> {
        let (mut operands, mut values) = (Vec::new(), Vec::new());
        for (guard, value) in arms {
            let (guard, value) = (self.term(guard, scope), self.term(value, scope));
            if *guard == Term::Truth(false) && other.is_some() {
                continue;
            }
            values.push(value.clone());
            operands.push(Rc::new(Term::Apply("arm".to_owned(), vec![guard, value])));
        }
        if let Some(other) = other {
            let value = self.term(other, scope);
            values.push(value.clone());
            operands.push(Rc::new(Term::Apply("OTHER".to_owned(), vec![value])));
        }
        values.dedup();
        match values.as_slice() {
            [only] => only.clone(),
            _ => Rc::new(Term::Apply("CASE".to_owned(), operands)),
        }
    }

    fn let_in(&mut self, units: &'a [Unit], body: &'a Expr, scope: &Scope<'a>) -> Rc<Term> {
        let mut inner = scope.clone();
        for unit in units {
            let (name, meaning) = match unit {
                Unit::Operator(definition) => {
                    let name = definition.name.text.as_str();
                    (name, operator(unit, &inner).map_or(Meaning::Unknown, |(_, operator)| Meaning::Operator(operator)))
                }
                Unit::Function(definition) => (definition.name.text.as_str(), Meaning::Unknown),
                Unit::NamedInstance(named) => (named.name.text.as_str(), Meaning::Unknown),
                _ => continue,
            };
            inner = with_name(&inner, name, meaning);
        }
        self.term(body, &inner)
    }

    fn path(&mut self, segments: &'a [Segment], expression: &'a Expr, scope: &Scope<'a>) -> Rc<Term> {
        let [segment] = segments else { return self.opaque(expression, scope) };
        let name = segment.name.text.as_str();
        let operands = segment.arguments.as_deref().unwrap_or(&[]);
        // An operator given as an argument cannot be expanded.
        let operands = self.terms(operands, scope);
        self.operation(name, operands, expression, scope)
    }

    fn operation(&mut self, name: &str, operands: Vec<Rc<Term>>, expression: &'a Expr, scope: &Scope<'a>) -> Rc<Term> {
        let mut known = scope.as_ref();
        while let Some(one) = known {
            if one.name == name {
                return match one.meaning.clone() {
                    Meaning::Value(value) if operands.is_empty() => {
                        self.charge_budget(&value);
                        value
                    }
                    Meaning::Operator(operator) => self.expand_operator(&operator, operands, expression, scope),
                    Meaning::Value(_) | Meaning::Unknown => self.opaque(expression, scope),
                };
            }
            known = one.outer.as_ref();
        }
        let definitions = self.definitions;
        let name = definitions.replaced.get(name).copied().unwrap_or(name);
        if let Some(operator) = definitions.operators.get(name).cloned() {
            return self.expand_operator(&operator, operands, expression, scope);
        }
        match name {
            "TRUE" | "FALSE" => truth(name == "TRUE"),
            _ if definitions.variables.contains(name) && operands.is_empty() => {
                Rc::new(Term::Variable(name.to_owned()))
            }
            _ if definitions.constants.contains(name) && operands.is_empty() => {
                let value = definitions.values.get(name).cloned();
                let value = value.unwrap_or_else(|| Rc::new(Term::Constant(name.to_owned())));
                self.charge_budget(&value);
                value
            }
            _ if super::builtin::is_named(name) || definitions.standard.contains(canonical(name)) => {
                apply(name, operands)
            }
            _ => self.opaque(expression, scope),
        }
    }

    fn expand_operator(
        &mut self,
        operator: &Operator<'a>,
        operands: Vec<Rc<Term>>,
        expression: &'a Expr,
        outer: &Scope<'a>,
    ) -> Rc<Term> {
        let body: *const Expr = operator.body;
        // A recursive operator is not expanded.
        if operator.parameters.len() != operands.len() || self.open.contains(&body) {
            return self.opaque(expression, outer);
        }
        let mut scope = operator.scope.clone();
        for (parameter, operand) in operator.parameters.iter().zip(operands) {
            scope = with_name(&scope, parameter, Meaning::Value(operand));
        }
        self.open.push(body);
        let term = self.term(operator.body, &scope);
        self.open.pop();
        term
    }
}

/// A value of the configuration that is a truth value, a number, a model value or a set of such.
fn constant_value(text: &str) -> Option<Rc<Term>> {
    let text = text.trim();
    let is_word =
        |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if let Some(inner) = text.strip_prefix('{').and_then(|text| text.strip_suffix('}')) {
        let elements = inner.split(',').filter(|one| !inner.trim().is_empty() || !one.trim().is_empty());
        let mut elements = elements.map(constant_value).collect::<Option<Vec<_>>>()?;
        elements.sort();
        elements.dedup();
        return Some(Rc::new(Term::Apply("{}".to_owned(), elements)));
    }
    Some(match text {
        "TRUE" | "FALSE" => truth(text == "TRUE"),
        _ if !is_word(text) => return None,
        _ if text.bytes().all(|byte| byte.is_ascii_digit()) => Rc::new(Term::Literal(text.to_owned())),
        _ if text.starts_with(|first: char| first.is_ascii_digit()) => return None,
        // No name of a module has a blank.
        _ => Rc::new(Term::Constant(format!("{MODEL_VALUE}{text}"))),
    })
}

fn is_over_empty_set(set: &Term) -> bool {
    let number = |term: &Term| match term {
        Term::Literal(text) => text.parse::<u64>().ok(),
        _ => None,
    };
    let Some([set, ..]) = set.as_apply("over") else { return false };
    match set.as_apply("..") {
        Some([from, to]) => matches!((number(from), number(to)), (Some(from), Some(to)) if from > to),
        _ => set.as_apply("{}").is_some_and(<[_]>::is_empty),
    }
}
