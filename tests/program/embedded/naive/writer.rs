//! Writes random definitions and expressions: primes on parameters, LET, LAMBDA, bound variables of the same name in caller and callee,
//! an instance, overrides, recursion, EXCEPT. All numbers are from 0 to 6.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use fastrand::Rng;

use super::language::{Argument, Definition, Expr, World};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Number,
    Truth,
    Set,
}

/// The levels of TLA+: constant, state, action.
type Level = u8;
pub(super) const STATE: Level = 1;
pub(super) const ACTION: Level = 2;

#[derive(Clone)]
struct Operator {
    name: String,
    /// For each parameter, the highest level of its arguments.
    parameters: Vec<Level>,
    kind: Kind,
    level: Level,
}

/// A name with the level of its value; all are numbers.
type Local = (String, Level);

pub(super) struct Writer {
    pub(super) random: Rng,
    operators: Vec<Operator>,
    /// The numbers and the sets that are state variables or constants, with their levels.
    numbers: Vec<Local>,
    sets: Vec<Local>,
}

/// What both modules begin with.
const OPERATORS: &str =
    "Ap(F(_), a) == F(a)\nTwice(F(_), a) == F(F(a))\nBoth(b) == (b + 2 * b') % 7\nLate(F(_), a) == Both(F(a))\n";

/// A model without its next-state relation: module `S`, its instance `C`, and the meaning of both.
pub(super) struct Model {
    pub(super) text: String,
    pub(super) inner: String,
    /// `D3 <- D4` lines.
    pub(super) overrides: String,
    pub(super) world: World,
    pub(super) writer: Writer,
}

impl Model {
    pub(super) fn new(seed: u64) -> Self {
        let numbers = vec![("v".to_owned(), STATE), ("K".to_owned(), 0)];
        let random = Rng::with_seed(seed);
        let mut writer = Writer { random, operators: Vec::new(), numbers, sets: Vec::new() };
        let mut inner =
            format!("---- MODULE C ----\nEXTENDS Naturals, FiniteSets\nCONSTANT K\nVARIABLE v\n{OPERATORS}");
        let mut definitions = vec![given(0), given(1)];
        for _ in 0..3 {
            writer.define(&mut inner, &mut definitions[1], 1);
        }
        inner += "====\n";
        for operator in &mut writer.operators {
            let definition = definitions[1][&operator.name].clone();
            operator.name = format!("I!{}", operator.name);
            definitions[0].insert(operator.name.clone(), definition);
        }
        writer.numbers = vec![("x".to_owned(), STATE), ("g[0]".to_owned(), STATE), ("g[1]".to_owned(), STATE)];
        writer.sets = vec![("s".to_owned(), STATE)];
        let of_instance = std::mem::take(&mut writer.operators);
        let (value, _) = writer.expression(Kind::Number, &[], STATE, 2);
        let (constant, _) = writer.expression(Kind::Number, &[], 0, 1);
        writer.operators = of_instance;
        let mut text = format!(
            "---- MODULE S ----\nEXTENDS Naturals, FiniteSets, TLC\nVARIABLES x, s, g\n{OPERATORS}I == INSTANCE C WITH v <- \
             {value}, K <- {constant}\n"
        );
        for _ in 0..5 {
            writer.define(&mut text, &mut definitions[0], 0);
        }
        text += "RECURSIVE Count(_, _)\nCount(n, k0) == IF n = 0 THEN k0 ELSE (Count(n - 1, k0) + 1) % 7\n";
        let parameters = vec![0, ACTION];
        writer.operators.push(Operator { name: "Count".to_owned(), parameters, kind: Kind::Number, level: 0 });
        text += "Init == x = 0 /\\ s = {0} /\\ g = [i \\in 0..1 |-> i]\n";
        let overrides = writer.choose_override(&mut definitions[0]);
        let substitutions = [("v".to_owned(), value), ("K".to_owned(), constant)];
        let world = World { definitions, substitutions: vec![BTreeMap::new(), substitutions.into()] };
        Self { text, inner, overrides, world, writer }
    }
}

/// The operators that every module has.
fn given(module: usize) -> BTreeMap<String, Definition> {
    let name = |name: &str| Expr::Name(name.to_owned());
    let call = |name: &str, argument| Expr::Call(name.to_owned(), vec![Argument::Value(argument)]);
    let sum = |one, other| Expr::Binary("+", Box::new(one), Box::new(other));
    let twice = Expr::Binary("*", Box::new(Expr::Number(2)), Box::new(Expr::Prime(Box::new(name("b")))));
    let all = [
        ("Ap", vec!["F", "a"], call("F", name("a"))),
        ("Twice", vec!["F", "a"], call("F", call("F", name("a")))),
        ("Both", vec!["b"], sum(name("b"), twice)),
        ("Late", vec!["F", "a"], call("Both", call("F", name("a")))),
        ("Count", vec!["n", "k0"], sum(name("n"), name("k0"))),
    ];
    let owned = |names: Vec<&str>| names.into_iter().map(str::to_owned).collect();
    all.into_iter()
        .map(|(name, parameters, body)| (name.to_owned(), Definition { parameters: owned(parameters), body, module }))
        .collect()
}

fn boxed(expr: Expr) -> Box<Expr> {
    Box::new(expr)
}

impl Writer {
    fn one_of<T: Clone>(&mut self, all: &[T]) -> Option<T> {
        if all.is_empty() { None } else { Some(all[self.random.usize(..all.len())].clone()) }
    }

    /// A name for a bound variable. Definitions use the same names.
    fn bind(scope: &[Local], level: Level) -> (String, Vec<Local>) {
        let name = format!("k{}", scope.len());
        let mut inner = scope.to_vec();
        inner.push((name.clone(), level));
        (name, inner)
    }

    /// The scope with names that an expression may neither use nor bind again.
    fn hidden(scope: &[Local], count: usize) -> Vec<Local> {
        (0..count).fold(scope.to_vec(), |scope, _| Self::bind(&scope, Level::MAX).1)
    }

    /// An expression in the scope of one bound variable, `k0`.
    pub(super) fn of_one(&mut self, kind: Kind, most: Level, depth: usize) -> Expr {
        self.expression(kind, &[("k0".to_owned(), 0)], most, depth).0
    }

    pub(super) fn closed(&mut self, kind: Kind, most: Level, depth: usize) -> Expr {
        self.expression(kind, &[], most, depth).0
    }

    /// An expression of at most this level, and its level.
    fn expression(&mut self, kind: Kind, scope: &[Local], most: Level, depth: usize) -> (Expr, Level) {
        if depth == 0 {
            return self.leaf(kind, scope, most);
        }
        let depth = depth - 1;
        match self.random.u8(..12) {
            0 => return self.leaf(kind, scope, most),
            1 | 2 if most == ACTION => {
                let (inner, _) = self.expression(kind, scope, STATE, depth);
                return (Expr::Prime(boxed(inner)), ACTION);
            }
            3 | 4 => {
                let fitting: Vec<Operator> = self
                    .operators
                    .iter()
                    .filter(|operator| operator.kind == kind && operator.level <= most)
                    .filter(|operator| operator.parameters.iter().all(|level| *level <= most))
                    .cloned()
                    .collect();
                if let Some(operator) = self.one_of(&fitting) {
                    return self.call(&operator, scope, depth);
                }
            }
            5 => {
                let (value, level) = self.expression(Kind::Number, &Self::hidden(scope, 1), most, depth);
                let (name, inner) = Self::bind(scope, level);
                let (body, body_level) = self.expression(kind, &inner, most, depth);
                return (Expr::Let(name, boxed(value), boxed(body)), level.max(body_level));
            }
            6 => {
                let (test, test_level) = self.expression(Kind::Truth, scope, most, depth);
                let (yes, yes_level) = self.expression(kind, scope, most, depth);
                let (no, no_level) = self.expression(kind, scope, most, depth);
                let level = test_level.max(yes_level).max(no_level);
                return (Expr::If(boxed(test), boxed(yes), boxed(no)), level);
            }
            _ => {}
        }
        match kind {
            Kind::Number => self.number(scope, most, depth),
            Kind::Truth => self.truth(scope, most, depth),
            Kind::Set => self.set(scope, most, depth),
        }
    }

    fn leaf(&mut self, kind: Kind, scope: &[Local], most: Level) -> (Expr, Level) {
        let fitting =
            |all: &[Local]| -> Vec<Local> { all.iter().filter(|(_, level)| *level <= most).cloned().collect() };
        let known = match kind {
            Kind::Number => [fitting(scope), fitting(&self.numbers)].concat(),
            Kind::Set => fitting(&self.sets),
            Kind::Truth => Vec::new(),
        };
        match self.one_of(&known) {
            Some((name, level)) if self.random.u8(..4) > 0 => (Expr::Name(name), level),
            _ => match kind {
                Kind::Number => (Expr::Number(i64::from(self.random.u8(..4))), 0),
                Kind::Truth => (Expr::Truth(self.random.bool()), 0),
                Kind::Set => (
                    [Expr::Range(1, 0), Expr::Range(0, 2), Expr::Pair(boxed(Expr::Number(1)), 3)]
                        [self.random.usize(..3)]
                    .clone(),
                    0,
                ),
            },
        }
    }

    fn call(&mut self, operator: &Operator, scope: &[Local], depth: usize) -> (Expr, Level) {
        let mut level = operator.level;
        let mut arguments = Vec::new();
        for most in &operator.parameters {
            let (argument, own) = self.expression(Kind::Number, scope, *most, depth);
            level = level.max(own);
            arguments.push(Argument::Value(argument));
        }
        let name = operator.name.clone();
        let call = if arguments.is_empty() { Expr::Name(name) } else { Expr::Call(name, arguments) };
        (call, level)
    }

    fn lambda(applied: &str, name: String, body: Expr, argument: Expr) -> Expr {
        Expr::Call(applied.to_owned(), vec![Argument::Lambda(name, body), Argument::Value(argument)])
    }

    fn number(&mut self, scope: &[Local], most: Level, depth: usize) -> (Expr, Level) {
        let (one, level) = self.expression(Kind::Number, scope, most, depth);
        match self.random.u8(..11) {
            0 | 1 => {
                let (other, other_level) = self.expression(Kind::Number, scope, most, depth);
                let sign = ["+", "*"][self.random.usize(..2)];
                (Expr::Binary(sign, boxed(one), boxed(other)), level.max(other_level))
            }
            2 => {
                let (set, level) = self.expression(Kind::Set, scope, most, depth);
                (Expr::Cardinality(boxed(set)), level)
            }
            // An operator that captures names and is read in both states.
            3 if most == ACTION => {
                let (name, inner) = Self::bind(scope, STATE);
                let (body, _) = self.expression(Kind::Number, &inner, STATE, depth);
                let (argument, _) = self.expression(Kind::Number, scope, STATE, depth);
                (Self::lambda("Late", name, body, argument), ACTION)
            }
            3 | 4 => {
                let passed = self.random.u8(..=most);
                let (name, inner) = Self::bind(scope, passed);
                let (body, body_level) = self.expression(Kind::Number, &inner, most, depth);
                let (argument, argument_level) = self.expression(Kind::Number, scope, passed, depth);
                let applied = if passed < ACTION && body_level < ACTION && self.random.bool() { "Twice" } else { "Ap" };
                // `Twice` passes the value of the body on.
                let applied = if body_level > passed { "Ap" } else { applied };
                let level = body_level.max(argument_level).max(passed);
                (Self::lambda(applied, name, body, argument), level)
            }
            5 => {
                let (name, inner) = Self::bind(scope, 0);
                let (body, body_level) = self.expression(Kind::Number, &inner, most, depth);
                let (argument, argument_level) = self.expression(Kind::Number, scope, most, depth);
                (Expr::Applied(name, boxed(body), boxed(argument)), body_level.max(argument_level))
            }
            6 => {
                let (name, inner) = Self::bind(scope, 0);
                let (base, level) = self.expression(Kind::Number, &Self::hidden(scope, 2), most, depth);
                // Its own name has a number, too, so that LET does not bind it twice.
                let (function, _) = Self::bind(&inner, 0);
                (Expr::LetFunction(function, name, boxed(base)), level)
            }
            7 => (Expr::Updated(boxed(one)), level),
            8 => {
                let (other, other_level) = self.expression(Kind::Number, scope, most, depth);
                let place = self.random.usize(1..3);
                (Expr::Component(boxed(one), boxed(other), place), level.max(other_level))
            }
            9 => {
                let (set, level) = self.expression(Kind::Set, &Self::hidden(scope, 2), most, depth);
                let (name, inner) = Self::bind(scope, 0);
                let (other, _) = Self::bind(&inner, 0);
                (Expr::Least(boxed(set), name, other), level)
            }
            _ => (Expr::Binary("+", boxed(one), boxed(Expr::Number(1))), level),
        }
    }

    fn truth(&mut self, scope: &[Local], most: Level, depth: usize) -> (Expr, Level) {
        let (one, level) = self.expression(Kind::Number, scope, most, depth);
        match self.random.u8(..9) {
            0 => {
                let (set, set_level) = self.expression(Kind::Set, scope, most, depth);
                (Expr::Binary("\\in", boxed(one), boxed(set)), level.max(set_level))
            }
            1 | 2 => {
                let (a, a_level) = self.expression(Kind::Truth, scope, most, depth);
                let (b, b_level) = self.expression(Kind::Truth, scope, most, depth);
                let sign = ["/\\", "\\/", "=>", "<=>"][self.random.usize(..4)];
                (Expr::Binary(sign, boxed(a), boxed(b)), a_level.max(b_level))
            }
            3 => {
                let (a, level) = self.expression(Kind::Truth, scope, most, depth);
                (Expr::Not(boxed(a)), level)
            }
            4 | 5 => {
                let (set, set_level) = self.expression(Kind::Set, scope, most, depth);
                let (name, inner) = Self::bind(scope, 0);
                let (body, body_level) = self.expression(Kind::Truth, &inner, most, depth);
                let quantifier = ["\\A", "\\E"][self.random.usize(..2)];
                (Expr::Quantified(quantifier, name, boxed(set), boxed(body)), set_level.max(body_level))
            }
            6 if most == ACTION => {
                let (inner, _) = self.expression(Kind::Number, scope, STATE, depth);
                (Expr::Unchanged(boxed(inner)), ACTION)
            }
            _ => {
                let (other, other_level) = self.expression(Kind::Number, scope, most, depth);
                let sign = ["=", "<", "#"][self.random.usize(..3)];
                (Expr::Binary(sign, boxed(one), boxed(other)), level.max(other_level))
            }
        }
    }

    fn set(&mut self, scope: &[Local], most: Level, depth: usize) -> (Expr, Level) {
        let (one, level) = self.expression(Kind::Number, scope, most, depth);
        match self.random.u8(..5) {
            0 => (Expr::Pair(boxed(one), 2), level),
            1 => {
                let (set, set_level) = self.expression(Kind::Set, scope, most, depth);
                let (name, inner) = Self::bind(scope, 0);
                let (body, body_level) = self.expression(Kind::Truth, &inner, most, depth);
                (Expr::Filter(name, boxed(set), boxed(body)), set_level.max(body_level))
            }
            2 => {
                let (set, set_level) = self.expression(Kind::Set, scope, most, depth);
                let (name, inner) = Self::bind(scope, 0);
                let (body, body_level) = self.expression(Kind::Number, &inner, most, depth);
                (Expr::Map(name, boxed(set), boxed(body)), set_level.max(body_level))
            }
            _ => {
                let (a, a_level) = self.expression(Kind::Set, scope, most, depth);
                let (b, b_level) = self.expression(Kind::Set, scope, most, depth);
                let sign = ["\\cup", "\\cap", "\\"][self.random.usize(..3)];
                (Expr::Binary(sign, boxed(a), boxed(b)), a_level.max(b_level))
            }
        }
    }

    /// Adds a definition. Its parameters have the names of bound variables elsewhere.
    fn define(&mut self, text: &mut String, definitions: &mut BTreeMap<String, Definition>, module: usize) {
        let name = format!("D{}", self.operators.len());
        let kind = [Kind::Number, Kind::Truth, Kind::Set][self.random.usize(..3)];
        let count = self.random.usize(..3);
        let mut scope: Vec<Local> = Vec::new();
        for _ in 0..count {
            let level = self.random.u8(..=ACTION);
            (_, scope) = Self::bind(&scope, level);
        }
        let (body, level) = self.expression(kind, &scope, ACTION, 3);
        let parameters: Vec<String> = scope.iter().map(|(name, _)| name.clone()).collect();
        let head = if parameters.is_empty() { String::new() } else { format!("({})", parameters.join(", ")) };
        writeln!(text, "{name}{head} == {body}").unwrap();
        definitions.insert(name.clone(), Definition { parameters, body, module });
        let parameters = scope.into_iter().map(|(_, level)| level).collect();
        self.operators.push(Operator { name, parameters, kind, level });
    }

    /// Replaces an operator by an earlier one of the same kind, if there is one.
    fn choose_override(&mut self, definitions: &mut BTreeMap<String, Definition>) -> String {
        let own: Vec<&Operator> = self.operators.iter().filter(|operator| operator.name.starts_with('D')).collect();
        let mut pairs = Vec::new();
        for (place, later) in own.iter().enumerate() {
            for earlier in &own[..place] {
                let fits = (earlier.kind, &earlier.parameters) == (later.kind, &later.parameters);
                if fits && earlier.level <= later.level {
                    pairs.push((later.name.clone(), earlier.name.clone()));
                }
            }
        }
        let Some((later, earlier)) = self.one_of(&pairs) else { return String::new() };
        definitions.insert(later.clone(), definitions[&earlier].clone());
        format!("CONSTANT {later} <- {earlier}\n")
    }
}
