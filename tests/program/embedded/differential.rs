//! Random definitions and expressions, evaluated by the embedded checker and by TLC in each step of a small model: primes on
//! parameters, LET, LAMBDA, bound variables of the same name in caller and callee, instances, recursion, EXCEPT.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use fastrand::Rng;
use tlaforge::tla::{Cfg, Verdict};
use tlaforge::toolchain::{CheckRequest, SpecText};

use super::bench::{Bench, verdict};

/// Expressions in one module: the start of TLC costs more than their evaluation.
const EXPRESSIONS: usize = 60;
const CFG: &str = "INIT Init\nNEXT Next\nCHECK_DEADLOCK FALSE\n";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Number,
    Truth,
    Set,
}

/// The levels of TLA+: constant, state, action.
type Level = u8;
const STATE: Level = 1;
const ACTION: Level = 2;

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

struct Writer {
    random: Rng,
    operators: Vec<Operator>,
    /// The numbers and the sets that are state variables or constants, with their levels.
    numbers: Vec<Local>,
    sets: Vec<Local>,
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

    /// An expression of at most this level, and its level.
    fn expression(&mut self, kind: Kind, scope: &[Local], most: Level, depth: usize) -> (String, Level) {
        if depth == 0 {
            return self.leaf(kind, scope, most);
        }
        let depth = depth - 1;
        match self.random.u8(..12) {
            0 => return self.leaf(kind, scope, most),
            1 | 2 if most == ACTION => {
                let (inner, _) = self.expression(kind, scope, STATE, depth);
                return (format!("({inner})'"), ACTION);
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
                return (format!("(LET {name} == {value} IN {body})"), level.max(body_level));
            }
            6 => {
                let (test, test_level) = self.expression(Kind::Truth, scope, most, depth);
                let (yes, yes_level) = self.expression(kind, scope, most, depth);
                let (no, no_level) = self.expression(kind, scope, most, depth);
                return (format!("(IF {test} THEN {yes} ELSE {no})"), test_level.max(yes_level).max(no_level));
            }
            _ => {}
        }
        match kind {
            Kind::Number => self.number(scope, most, depth),
            Kind::Truth => self.truth(scope, most, depth),
            Kind::Set => self.set(scope, most, depth),
        }
    }

    fn leaf(&mut self, kind: Kind, scope: &[Local], most: Level) -> (String, Level) {
        let fitting =
            |all: &[Local]| -> Vec<Local> { all.iter().filter(|(_, level)| *level <= most).cloned().collect() };
        let known = match kind {
            Kind::Number => [fitting(scope), fitting(&self.numbers)].concat(),
            Kind::Set => fitting(&self.sets),
            Kind::Truth => Vec::new(),
        };
        match self.one_of(&known) {
            Some(found) if self.random.u8(..4) > 0 => found,
            _ => match kind {
                Kind::Number => (self.random.u8(..4).to_string(), 0),
                Kind::Truth => (["TRUE", "FALSE"][self.random.usize(..2)].to_owned(), 0),
                Kind::Set => (["{}", "0..2", "{1, 3}"][self.random.usize(..3)].to_owned(), 0),
            },
        }
    }

    fn call(&mut self, operator: &Operator, scope: &[Local], depth: usize) -> (String, Level) {
        let mut level = operator.level;
        let arguments: Vec<String> = operator
            .parameters
            .iter()
            .map(|most| {
                let (argument, own) = self.expression(Kind::Number, scope, *most, depth);
                level = level.max(own);
                argument
            })
            .collect();
        // With a parameter that may be of any level, the level of the body counts the parameter's.
        let call = if arguments.is_empty() {
            operator.name.clone()
        } else {
            format!("{}({})", operator.name, arguments.join(", "))
        };
        (call, level)
    }

    fn number(&mut self, scope: &[Local], most: Level, depth: usize) -> (String, Level) {
        let (one, level) = self.expression(Kind::Number, scope, most, depth);
        match self.random.u8(..11) {
            0 | 1 => {
                let (other, other_level) = self.expression(Kind::Number, scope, most, depth);
                let sign = ["+", "*"][self.random.usize(..2)];
                (format!("(({one} {sign} {other}) % 7)"), level.max(other_level))
            }
            2 => {
                let (set, level) = self.expression(Kind::Set, scope, most, depth);
                (format!("Cardinality({set})"), level)
            }
            // An operator that captures names and is read in both states.
            3 if most == ACTION => {
                let (name, inner) = Self::bind(scope, STATE);
                let (body, _) = self.expression(Kind::Number, &inner, STATE, depth);
                let (argument, _) = self.expression(Kind::Number, scope, STATE, depth);
                (format!("Late(LAMBDA {name} : {body}, {argument})"), ACTION)
            }
            3 | 4 => {
                let passed = self.random.u8(..=most);
                let (name, inner) = Self::bind(scope, passed);
                let (body, body_level) = self.expression(Kind::Number, &inner, most, depth);
                let (argument, argument_level) = self.expression(Kind::Number, scope, passed, depth);
                let applied = if passed < ACTION && body_level < ACTION && self.random.bool() { "Twice" } else { "Ap" };
                // `Twice` passes the value of the body on.
                let applied = if body_level > passed { "Ap" } else { applied };
                (format!("{applied}(LAMBDA {name} : {body}, {argument})"), body_level.max(argument_level).max(passed))
            }
            5 => {
                let (name, inner) = Self::bind(scope, 0);
                let (body, body_level) = self.expression(Kind::Number, &inner, most, depth);
                let (argument, argument_level) = self.expression(Kind::Number, scope, most, depth);
                (format!("[{name} \\in 0..6 |-> {body}][{argument}]"), body_level.max(argument_level))
            }
            6 => {
                let (name, inner) = Self::bind(scope, 0);
                let (base, base_level) = self.expression(Kind::Number, &Self::hidden(scope, 2), most, depth);
                // Its own name has a number, too, so that LET does not bind it twice.
                let (function, _) = Self::bind(&inner, 0);
                (
                    format!(
                        "(LET {function}[{name} \\in 0..3] == IF {name} = 0 THEN {base} ELSE ({function}[{name} - 1] + 1) % 7 IN {function}[2])"
                    ),
                    base_level,
                )
            }
            7 => (format!("[[{0} |-> {one}, b |-> 1] EXCEPT !.{0} = (@ + {one}) % 7].{0}", "a"), level),
            8 => {
                let (other, other_level) = self.expression(Kind::Number, scope, most, depth);
                (format!("<<{one}, {other}>>[{}]", self.random.u8(1..3)), level.max(other_level))
            }
            9 => {
                let (set, set_level) = self.expression(Kind::Set, &Self::hidden(scope, 2), most, depth);
                let (name, inner) = Self::bind(scope, 0);
                let (other, _) = Self::bind(&inner, 0);
                (
                    format!("(CHOOSE {name} \\in ({{9}} \\cup {set}) : \\A {other} \\in {set} : {name} \\leq {other})"),
                    set_level,
                )
            }
            _ => (format!("(({one} + 1) % 7)"), level),
        }
    }

    fn truth(&mut self, scope: &[Local], most: Level, depth: usize) -> (String, Level) {
        let (one, level) = self.expression(Kind::Number, scope, most, depth);
        match self.random.u8(..9) {
            0 => {
                let (set, set_level) = self.expression(Kind::Set, scope, most, depth);
                (format!("({one} \\in {set})"), level.max(set_level))
            }
            1 | 2 => {
                let (a, a_level) = self.expression(Kind::Truth, scope, most, depth);
                let (b, b_level) = self.expression(Kind::Truth, scope, most, depth);
                let sign = ["/\\", "\\/", "=>", "<=>"][self.random.usize(..4)];
                (format!("({a} {sign} {b})"), a_level.max(b_level))
            }
            3 => {
                let (a, a_level) = self.expression(Kind::Truth, scope, most, depth);
                (format!("(~{a})"), a_level)
            }
            4 | 5 => {
                let (set, set_level) = self.expression(Kind::Set, scope, most, depth);
                let (name, inner) = Self::bind(scope, 0);
                let (body, body_level) = self.expression(Kind::Truth, &inner, most, depth);
                let quantifier = ["\\A", "\\E"][self.random.usize(..2)];
                (format!("({quantifier} {name} \\in {set} : {body})"), set_level.max(body_level))
            }
            6 if most == ACTION => {
                let (inner, _) = self.expression(Kind::Number, scope, STATE, depth);
                (format!("(UNCHANGED {inner})"), ACTION)
            }
            _ => {
                let (other, other_level) = self.expression(Kind::Number, scope, most, depth);
                let sign = ["=", "<", "#"][self.random.usize(..3)];
                (format!("({one} {sign} {other})"), level.max(other_level))
            }
        }
    }

    fn set(&mut self, scope: &[Local], most: Level, depth: usize) -> (String, Level) {
        let (one, level) = self.expression(Kind::Number, scope, most, depth);
        match self.random.u8(..5) {
            0 => (format!("{{{one}, 2}}"), level),
            1 => {
                let (set, set_level) = self.expression(Kind::Set, scope, most, depth);
                let (name, inner) = Self::bind(scope, 0);
                let (body, body_level) = self.expression(Kind::Truth, &inner, most, depth);
                (format!("{{{name} \\in {set} : {body}}}"), set_level.max(body_level))
            }
            2 => {
                let (set, set_level) = self.expression(Kind::Set, scope, most, depth);
                let (name, inner) = Self::bind(scope, 0);
                let (body, body_level) = self.expression(Kind::Number, &inner, most, depth);
                (format!("{{{body} : {name} \\in {set}}}"), set_level.max(body_level))
            }
            _ => {
                let (a, a_level) = self.expression(Kind::Set, scope, most, depth);
                let (b, b_level) = self.expression(Kind::Set, scope, most, depth);
                let sign = ["\\cup", "\\cap", "\\"][self.random.usize(..3)];
                (format!("({a} {sign} {b})"), a_level.max(b_level))
            }
        }
    }

    /// Adds a definition and returns its text. Its parameters have the names of bound variables elsewhere.
    fn define(&mut self, prefix: &str, text: &mut String, most: Level) {
        let number = self.operators.len();
        let kind = [Kind::Number, Kind::Truth, Kind::Set][self.random.usize(..3)];
        let count = self.random.usize(..3);
        let mut scope: Vec<Local> = Vec::new();
        for _ in 0..count {
            let level = self.random.u8(..=most);
            (_, scope) = Self::bind(&scope, level);
        }
        let (body, level) = self.expression(kind, &scope, most, 3);
        let parameters: Vec<&str> = scope.iter().map(|(name, _)| name.as_str()).collect();
        let head = if parameters.is_empty() { String::new() } else { format!("({})", parameters.join(", ")) };
        writeln!(text, "D{number}{head} == {body}").unwrap();
        let parameters = scope.into_iter().map(|(_, level)| level).collect();
        self.operators.push(Operator { name: format!("{prefix}D{number}"), parameters, kind, level });
    }
}

fn model(seed: u64) -> (String, String) {
    let random = Rng::with_seed(seed);
    let numbers = vec![("v".to_owned(), STATE), ("K".to_owned(), 0)];
    let mut writer = Writer { random, operators: Vec::new(), numbers, sets: Vec::new() };
    let mut inner = "---- MODULE C ----\nEXTENDS Naturals, FiniteSets\nCONSTANT K\nVARIABLE v\nAp(F(_), a) == F(a)\nTwice(F(_), a) == F(F(a))\nBoth(b) == (b + 2 * b') % 7\nLate(F(_), a) == Both(F(a))\n".to_owned();
    for _ in 0..3 {
        writer.define("", &mut inner, ACTION);
    }
    inner += "====\n";
    for operator in &mut writer.operators {
        operator.name = format!("I!{}", operator.name);
    }
    writer.numbers = vec![("x".to_owned(), STATE), ("g[0]".to_owned(), STATE), ("g[1]".to_owned(), STATE)];
    writer.sets = vec![("s".to_owned(), STATE)];
    let of_instance = std::mem::take(&mut writer.operators);
    let (value, _) = writer.expression(Kind::Number, &[], STATE, 2);
    let (constant, _) = writer.expression(Kind::Number, &[], 0, 1);
    writer.operators = of_instance;
    let mut text = format!(
        "---- MODULE S ----\nEXTENDS Naturals, FiniteSets, TLC\nVARIABLES x, s, g\nAp(F(_), a) == F(a)\nTwice(F(_), a) == F(F(a))\nBoth(b) == (b + 2 * b') % 7\nLate(F(_), a) == Both(F(a))\n\
         I == INSTANCE C WITH v <- {value}, K <- {constant}\n"
    );
    for _ in 0..5 {
        writer.define("", &mut text, ACTION);
    }
    text += "RECURSIVE Count(_, _)\nCount(n, k0) == IF n = 0 THEN k0 ELSE (Count(n - 1, k0) + 1) % 7\n";
    let level = ACTION;
    writer.operators.push(Operator {
        name: "Count".to_owned(),
        parameters: vec![0, level],
        kind: Kind::Number,
        level: 0,
    });
    text += "Init == x = 0 /\\ s = {0} /\\ g = [i \\in 0..1 |-> i]\nNext == /\\ x < 3 /\\ x' = x + 1 /\\ s' = {x, x + 1}\n        /\\ g' = [g EXCEPT ![x % 2] = x + 2]\n";
    for number in 0..EXPRESSIONS {
        let kind = if writer.random.bool() { Kind::Number } else { Kind::Truth };
        let (expression, _) = writer.expression(kind, &[], ACTION, 4);
        writeln!(text, "        /\\ PrintT(<<\"v\", {number}, {expression}>>)").unwrap();
    }
    (text + "====\n", inner)
}

fn printed(output: &str) -> BTreeSet<&str> {
    output.lines().map(str::trim).filter(|line| line.starts_with("<<\"v\", ")).collect()
}

#[tokio::test]
async fn random_expressions_have_the_values_that_tlc_computes() {
    let bench = Bench::new();
    let count: u64 = if std::env::var_os("TLAFORGE_CAMPAIGN").is_some() { 60 } else { 4 };
    let mut compared = 0;
    let mut undecided = Vec::new();
    for seed in 0..count {
        let (text, inner) = model(seed);
        let spec = SpecText { name: "S".into(), text, local_modules: vec![("C".into(), inner)] };
        let request = CheckRequest { spec, cfg_text: CFG.into(), cfg: Cfg::parse(CFG).unwrap() };
        let embedded = bench.check_with(&bench.embedded(), &request).await.unwrap();
        if let Verdict::Inconclusive { reason, .. } = &embedded.outcome.verdict {
            undecided.push(format!("{seed}: {reason}"));
            continue;
        }
        let tlc = bench.check_with(&bench.java(), &request).await.unwrap();
        let show = || format!("seed {seed}\n{}\n{}", request.spec.text, request.spec.local_modules[0].1);
        assert_eq!(verdict(&embedded.outcome), verdict(&tlc.outcome), "{}", show());
        let (own, expected) = (printed(&embedded.output), printed(&tlc.output));
        let different: Vec<&&str> = own.symmetric_difference(&expected).collect();
        assert!(different.is_empty(), "{different:#?}\n{}", show());
        compared += own.len();
        // Where values of different kinds might be compared, another engine evaluates.
        let mut mixed = request.clone();
        mixed.spec.text = mixed.spec.text.replace("\nInit ==", "\nMixed == TRUE \\/ 1 = \"a\"\nInit ==");
        mixed.cfg_text = format!("{CFG}INVARIANT Mixed\n");
        mixed.cfg = Cfg::parse(&mixed.cfg_text).unwrap();
        let mixed = bench.check_with(&bench.embedded(), &mixed).await.unwrap();
        assert_eq!(verdict(&mixed.outcome), verdict(&tlc.outcome), "{:?}\n{}", mixed.outcome.verdict, show());
        let own = printed(&mixed.output);
        let different: Vec<&&str> = own.symmetric_difference(&expected).collect();
        assert!(different.is_empty(), "{different:#?}\n{}", show());
        assert!(mixed.outcome.warnings.iter().any(|warning| warning.contains("type error")), "{}", mixed.output);
    }
    assert!(undecided.len() as u64 <= count / 4, "{undecided:#?}");
    assert!(compared as u64 >= count * 30, "{compared}");
}
