//! A small part of TLA+ with its meaning, written as directly as possible: the oracle for the embedded checker. It knows nothing
//! of the checker's elaboration: an operator's argument and the body of a LET are read where they are used, in the state in which they
//! are read.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Display, Formatter};
use std::rc::Rc;

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Value {
    Number(i64),
    Truth(bool),
    Set(BTreeSet<Value>),
}

/// Variables with their values. `g[0]` is a variable here.
pub(super) type State = BTreeMap<&'static str, Value>;

#[derive(Debug, Clone)]
pub(super) enum Expr {
    Number(i64),
    Truth(bool),
    Range(i64, i64),
    /// A variable, a bound variable, a parameter, or an operator without parameters.
    Name(String),
    Call(String, Vec<Argument>),
    Prime(Box<Expr>),
    Unchanged(Box<Expr>),
    Not(Box<Expr>),
    Binary(&'static str, Box<Expr>, Box<Expr>),
    If(Box<Expr>, Box<Expr>, Box<Expr>),
    Let(String, Box<Expr>, Box<Expr>),
    /// A recursive function over `0..3`: its name, its variable, its value at 0, applied to 2. Each value is one more than the last.
    LetFunction(String, String, Box<Expr>),
    /// `\A` or `\E`.
    Quantified(&'static str, String, Box<Expr>, Box<Expr>),
    Filter(String, Box<Expr>, Box<Expr>),
    Map(String, Box<Expr>, Box<Expr>),
    Pair(Box<Expr>, i64),
    Cardinality(Box<Expr>),
    /// The least number of the set, or 6, by CHOOSE, with names for its two bound variables.
    Least(Box<Expr>, String, String),
    /// A function of `0..6`, applied.
    Applied(String, Box<Expr>, Box<Expr>),
    /// A field of a record after EXCEPT.
    Updated(Box<Expr>),
    Component(Box<Expr>, Box<Expr>, usize),
}

#[derive(Debug, Clone)]
pub(super) enum Argument {
    Value(Expr),
    Lambda(String, Expr),
}

#[derive(Debug, Clone)]
pub(super) struct Definition {
    pub(super) parameters: Vec<String>,
    pub(super) body: Expr,
    /// What the names in it mean, if it is in another module: the index of an instance.
    pub(super) module: usize,
}

impl Display for Expr {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Truth(truth) => write!(f, "{}", if *truth { "TRUE" } else { "FALSE" }),
            Self::Range(from, to) if from > to => write!(f, "{{}}"),
            Self::Range(from, to) => write!(f, "({from}..{to})"),
            Self::Name(name) => write!(f, "{name}"),
            Self::Call(name, arguments) => {
                let arguments: Vec<String> = arguments.iter().map(ToString::to_string).collect();
                write!(f, "{name}({})", arguments.join(", "))
            }
            Self::Prime(inner) => write!(f, "({inner})'"),
            Self::Unchanged(inner) => write!(f, "(UNCHANGED {inner})"),
            Self::Not(inner) => write!(f, "(~{inner})"),
            Self::Binary(sign @ ("+" | "*"), one, other) => write!(f, "(({one} {sign} {other}) % 7)"),
            Self::Binary(sign, one, other) => write!(f, "({one} {sign} {other})"),
            Self::If(test, yes, no) => write!(f, "(IF {test} THEN {yes} ELSE {no})"),
            Self::Let(name, value, body) => write!(f, "(LET {name} == {value} IN {body})"),
            Self::LetFunction(function, name, base) => write!(
                f,
                "(LET {function}[{name} \\in 0..3] == IF {name} = 0 THEN {base} ELSE ({function}[{name} - 1] + 1) % 7 IN \
                 {function}[2])"
            ),
            Self::Quantified(quantifier, name, set, body) => write!(f, "({quantifier} {name} \\in {set} : {body})"),
            Self::Filter(name, set, body) => write!(f, "{{{name} \\in {set} : {body}}}"),
            Self::Map(name, set, body) => write!(f, "{{{body} : {name} \\in {set}}}"),
            Self::Pair(one, other) => write!(f, "{{{one}, {other}}}"),
            Self::Cardinality(set) => write!(f, "Cardinality({set})"),
            Self::Least(set, one, other) => {
                write!(f, "(CHOOSE {one} \\in ({{6}} \\cup {set}) : \\A {other} \\in {set} : {one} \\leq {other})")
            }
            Self::Applied(name, body, argument) => write!(f, "[{name} \\in 0..6 |-> {body}][{argument}]"),
            Self::Updated(one) => write!(f, "[[a |-> {one}, b |-> 1] EXCEPT !.a = (@ + {one}) % 7].a"),
            Self::Component(one, other, place) => write!(f, "<<{one}, {other}>>[{place}]"),
        }
    }
}

impl Display for Argument {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Value(value) => write!(f, "{value}"),
            Self::Lambda(name, body) => write!(f, "LAMBDA {name} : {body}"),
        }
    }
}

impl Display for Value {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Truth(truth) => write!(f, "{}", if *truth { "TRUE" } else { "FALSE" }),
            Self::Set(elements) => {
                let elements: Vec<String> = elements.iter().map(ToString::to_string).collect();
                write!(f, "{{{}}}", elements.join(", "))
            }
        }
    }
}

/// What a name means.
#[derive(Clone)]
enum Meaning {
    Value(Value),
    /// An expression with its scope and the module of its operators, read again at each use.
    Unread(Rc<(Expr, Scope)>),
    Lambda(Rc<(String, Expr, Scope)>),
}

/// The names that are in scope, and the module whose operators are.
#[derive(Clone, Default)]
pub(super) struct Scope {
    names: BTreeMap<String, Meaning>,
    module: usize,
}

/// The two states of a step; `primed` is whether variables are read in the second one.
#[derive(Clone, Copy)]
pub(super) struct Step<'a> {
    pub(super) now: &'a State,
    pub(super) next: &'a State,
    pub(super) primed: bool,
}

/// The operators of each module by name, and what the declared names of an instance are replaced with.
#[derive(Default)]
pub(super) struct World {
    pub(super) definitions: Vec<BTreeMap<String, Definition>>,
    /// For each module: names of its variables and constants, with their expressions in the first module.
    pub(super) substitutions: Vec<BTreeMap<String, Expr>>,
}

impl World {
    pub(super) fn evaluate(&self, expr: &Expr, step: Step<'_>) -> Value {
        self.value(expr, &Scope::default(), step)
    }

    pub(super) fn is_true(&self, expr: &Expr, step: Step<'_>) -> bool {
        self.evaluate(expr, step) == Value::Truth(true)
    }

    fn value(&self, expr: &Expr, scope: &Scope, step: Step<'_>) -> Value {
        let value = |expr: &Expr| self.value(expr, scope, step);
        let number = |expr: &Expr| self.number(expr, scope, step);
        let truth = |expr: &Expr| self.truth(expr, scope, step);
        match expr {
            Expr::Number(number) => Value::Number(*number),
            Expr::Truth(truth) => Value::Truth(*truth),
            Expr::Range(from, to) => Value::Set((*from..=*to).map(Value::Number).collect()),
            Expr::Name(name) => self.named(name, scope, step),
            Expr::Call(name, arguments) => self.call(name, arguments, scope, step),
            Expr::Prime(inner) => self.value(inner, scope, Step { primed: true, ..step }),
            Expr::Unchanged(inner) => {
                let next = self.value(inner, scope, Step { primed: true, ..step });
                Value::Truth(next == value(inner))
            }
            Expr::Not(inner) => Value::Truth(!truth(inner)),
            Expr::Binary(sign, one, other) => match *sign {
                "+" => Value::Number((number(one) + number(other)) % 7),
                "*" => Value::Number((number(one) * number(other)) % 7),
                "<" => Value::Truth(number(one) < number(other)),
                "=" | "<=>" => Value::Truth(value(one) == value(other)),
                "#" => Value::Truth(value(one) != value(other)),
                "\\in" => Value::Truth(self.set(other, scope, step).contains(&value(one))),
                "/\\" => Value::Truth(truth(one) && truth(other)),
                "\\/" => Value::Truth(truth(one) || truth(other)),
                "=>" => Value::Truth(!truth(one) || truth(other)),
                sign => {
                    let (one, other) = (self.set(one, scope, step), self.set(other, scope, step));
                    Value::Set(match sign {
                        "\\cup" => one.union(&other).cloned().collect(),
                        "\\cap" => one.intersection(&other).cloned().collect(),
                        _ => one.difference(&other).cloned().collect(),
                    })
                }
            },
            Expr::If(test, yes, no) => value(if truth(test) { yes } else { no }),
            Expr::Let(name, bound, body) => {
                let meaning = Meaning::Unread(Rc::new(((**bound).clone(), scope.clone())));
                self.value(body, &scope.with(name, meaning), step)
            }
            Expr::LetFunction(_, _, base) => Value::Number((number(base) + 2) % 7),
            Expr::Quantified(quantifier, name, set, body) => {
                let mut each = self.elements(name, set, scope, step);
                let holds = |scope: Scope| self.truth(body, &scope, step);
                Value::Truth(if *quantifier == "\\A" { each.all(holds) } else { each.any(holds) })
            }
            Expr::Filter(name, set, body) => {
                let all = self.set(set, scope, step).into_iter();
                let holds = |one: &Value| self.truth(body, &scope.with(name, Meaning::Value(one.clone())), step);
                Value::Set(all.filter(holds).collect())
            }
            Expr::Map(name, set, body) => {
                let each = self.elements(name, set, scope, step);
                Value::Set(each.map(|scope| self.value(body, &scope, step)).collect())
            }
            Expr::Pair(one, other) => Value::Set([value(one), Value::Number(*other)].into()),
            Expr::Cardinality(set) => Value::Number(self.set(set, scope, step).len().try_into().unwrap_or(i64::MAX)),
            Expr::Least(set, ..) => self.set(set, scope, step).first().cloned().unwrap_or(Value::Number(6)),
            Expr::Applied(name, body, argument) => {
                let argument = Meaning::Value(value(argument));
                self.value(body, &scope.with(name, argument), step)
            }
            Expr::Updated(one) => Value::Number((2 * number(one)) % 7),
            Expr::Component(one, other, place) => value(if *place == 1 { one } else { other }),
        }
    }

    fn named(&self, name: &str, scope: &Scope, step: Step<'_>) -> Value {
        match scope.names.get(name) {
            Some(Meaning::Value(value)) => return value.clone(),
            Some(Meaning::Unread(unread)) => return self.value(&unread.0, &unread.1, step),
            Some(Meaning::Lambda(_)) => unreachable!("{name} needs an argument"),
            None => {}
        }
        if let Some(substituted) = self.substitutions[scope.module].get(name) {
            return self.value(substituted, &Scope::default(), step);
        }
        let state = if step.primed { step.next } else { step.now };
        match state.get(name) {
            Some(value) => value.clone(),
            None => self.call(name, &[], scope, step),
        }
    }

    fn call(&self, name: &str, arguments: &[Argument], scope: &Scope, step: Step<'_>) -> Value {
        if let Some(Meaning::Lambda(lambda)) = scope.names.get(name) {
            let [argument] = arguments else { unreachable!("{name} has one parameter") };
            let (parameter, body, inner) = &**lambda;
            return self.value(body, &inner.with(parameter, meaning(argument, scope)), step);
        }
        let definition = self.definitions[scope.module].get(name).unwrap_or_else(|| panic!("{name} is not defined"));
        let mut inner = Scope { module: definition.module, ..Scope::default() };
        for (parameter, argument) in definition.parameters.iter().zip(arguments) {
            inner.names.insert(parameter.clone(), meaning(argument, scope));
        }
        self.value(&definition.body, &inner, step)
    }

    /// The scope for each element of a set.
    fn elements<'a>(
        &'a self,
        name: &'a str,
        set: &Expr,
        scope: &'a Scope,
        step: Step<'_>,
    ) -> impl Iterator<Item = Scope> + 'a {
        self.set(set, scope, step).into_iter().map(|one| scope.with(name, Meaning::Value(one)))
    }

    fn number(&self, expr: &Expr, scope: &Scope, step: Step<'_>) -> i64 {
        match self.value(expr, scope, step) {
            Value::Number(number) => number,
            other => panic!("{other} is no number: {expr}"),
        }
    }

    fn truth(&self, expr: &Expr, scope: &Scope, step: Step<'_>) -> bool {
        match self.value(expr, scope, step) {
            Value::Truth(truth) => truth,
            other => panic!("{other} is no truth value: {expr}"),
        }
    }

    fn set(&self, expr: &Expr, scope: &Scope, step: Step<'_>) -> BTreeSet<Value> {
        match self.value(expr, scope, step) {
            Value::Set(elements) => elements,
            other => panic!("{other} is no set: {expr}"),
        }
    }
}

fn meaning(argument: &Argument, scope: &Scope) -> Meaning {
    match argument {
        Argument::Value(value) => Meaning::Unread(Rc::new((value.clone(), scope.clone()))),
        Argument::Lambda(name, body) => Meaning::Lambda(Rc::new((name.clone(), body.clone(), scope.clone()))),
    }
}

impl Scope {
    fn with(&self, name: &str, meaning: Meaning) -> Self {
        let mut scope = self.clone();
        scope.names.insert(name.to_owned(), meaning);
        scope
    }
}
