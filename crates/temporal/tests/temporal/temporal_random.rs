//! Random formulas over every kind of node, atom and term, and random traces.
#![allow(dead_code, clippy::unwrap_used, clippy::struct_excessive_bools, reason = "each test uses its part")]

use fastrand::Rng;
use tlaforge_temporal::{
    Arithmetic, Atom, Binary, Causal, Comparison, Formula, Formulas, Literal, Number, Quantifier, Record, Term, Unary,
    Value, ValueTest,
};

pub(crate) const FUTURE: [Unary; 4] = [Unary::Next, Unary::WeakNext, Unary::Globally, Unary::Finally];
pub(crate) const PAST: [Unary; 3] = [Unary::Yesterday, Unary::Once, Unary::Historically];
const LOGIC: [Binary; 2] = [Binary::Implies, Binary::Iff];
const FUTURE_BINARY: [Binary; 4] = [Binary::Until, Binary::WeakUntil, Binary::Release, Binary::StrongRelease];

/// What a random formula is made of.
#[derive(Clone, Copy)]
pub(crate) struct Grammar {
    pub(crate) future: bool,
    pub(crate) past: bool,
    pub(crate) causal: bool,
    /// Atoms of every kind and any text instead of `a`, `b`, `c`, …
    pub(crate) strange_atoms: bool,
    /// Bare terms are quantities.
    pub(crate) quantities: bool,
    /// How many plain atoms there are.
    pub(crate) names: u8,
}

pub(crate) const FINITE: Grammar =
    Grammar { future: true, past: true, causal: false, strange_atoms: false, quantities: false, names: 3 };

pub(crate) fn plain_name(i: u8) -> String {
    char::from(b'a' + i).to_string()
}

/// A formula nesting at most `depth` deep.
pub(crate) fn formula(rng: &mut Rng, formulas: &mut Formulas, grammar: Grammar, depth: usize) -> Formula {
    if depth == 0 || rng.u8(..8) == 0 {
        return leaf(rng, formulas, grammar);
    }
    let mut operand = |rng: &mut Rng| formula(rng, formulas, grammar, depth - 1);
    match rng.u8(..10) {
        0 => {
            let a = operand(rng);
            formulas.not(a)
        }
        1 | 2 => {
            let parts: Vec<Formula> = (0..rng.usize(2..4)).map(|_| operand(rng)).collect();
            if rng.bool() { formulas.and(parts) } else { formulas.or(parts) }
        }
        3 => {
            let (a, b) = (operand(rng), operand(rng));
            formulas.binary(*rng.choice(&LOGIC).unwrap(), a, b)
        }
        4 if grammar.causal => {
            let a = operand(rng);
            let lifeline = text(rng, true);
            match rng.u8(..4) {
                0 => formulas.unary(Unary::Past, a),
                1 => formulas.seen(&lifeline),
                2 => formulas.causal(Causal::At, &lifeline, a),
                _ => formulas.causal(Causal::PastAt, &lifeline, a),
            }
        }
        n => {
            let past = if grammar.future && grammar.past { rng.u8(..3) == 0 } else { grammar.past };
            let unary = n < 7;
            let a = operand(rng);
            if unary {
                let operator = if past { rng.choice(&PAST) } else { rng.choice(&FUTURE) };
                return formulas.unary(*operator.unwrap(), a);
            }
            let b = operand(rng);
            let operator = if past { Binary::Since } else { *rng.choice(&FUTURE_BINARY).unwrap() };
            formulas.binary(operator, a, b)
        }
    }
}

fn leaf(rng: &mut Rng, formulas: &mut Formulas, grammar: Grammar) -> Formula {
    if rng.u8(..10) == 0 {
        return formulas.constant(rng.bool());
    }
    if !grammar.strange_atoms {
        return formulas.name(&plain_name(rng.u8(..grammar.names)));
    }
    let atom = match rng.u8(..5) {
        0 => {
            let kind = ["tool_call", "stop_reason", "text_contains", "extra", "G", "a.b"][rng.usize(..6)];
            Atom::Label { kind: kind.into(), text: text(rng, false).into() }
        }
        1 | 2 => Atom::Compare(comparison(rng), term(rng, 3), term(rng, 3)),
        3 if rng.bool() => {
            let quantifier = if rng.bool() { Quantifier::Any } else { Quantifier::Every };
            let test = if rng.bool() {
                ValueTest::Compare(comparison(rng), term(rng, 2))
            } else {
                ValueTest::Call(text(rng, true).into(), (0..rng.usize(..3)).map(|_| term(rng, 2)).collect())
            };
            Atom::Quantified(quantifier, Term::Field(text(rng, true).into()), test)
        }
        3 => Atom::Call(text(rng, true).into(), (0..rng.usize(..3)).map(|_| term(rng, 2)).collect()),
        _ if grammar.quantities => match term(rng, 3) {
            Term::Literal(Literal::Null | Literal::Text(_) | Literal::Bool(_)) => {
                Atom::Quantity(Term::Field("x".into()))
            }
            term => Atom::Quantity(term),
        },
        _ => Atom::Name(text(rng, true).into()),
    };
    formulas.atomic(atom)
}

fn comparison(rng: &mut Rng) -> Comparison {
    use Comparison::{Equal, Greater, GreaterOrEqual, Less, LessOrEqual, NotEqual};
    [Equal, NotEqual, Less, LessOrEqual, Greater, GreaterOrEqual][rng.usize(..6)]
}

fn term(rng: &mut Rng, depth: usize) -> Term {
    let shallow = depth == 0;
    match rng.u8(..if shallow { 5 } else { 8 }) {
        0 => Term::FieldAt(text(rng, true).into(), text(rng, true).into()),
        1 => Term::Literal(match rng.u8(..4) {
            0 => Literal::Null,
            1 => Literal::Bool(rng.bool()),
            _ => Literal::Text(text(rng, true).into()),
        }),
        2 => Term::Literal(Literal::Number(number(rng))),
        3 | 4 => Term::Field(text(rng, true).into()),
        5 => Term::Negate(Box::new(term(rng, depth - 1))),
        _ => {
            use Arithmetic::{Add, Divide, Multiply, Subtract};
            let operator = [Add, Subtract, Multiply, Divide][rng.usize(..4)];
            Term::Arithmetic(operator, Box::new(term(rng, depth - 1)), Box::new(term(rng, depth - 1)))
        }
    }
}

fn number(rng: &mut Rng) -> Number {
    let value = match rng.u8(..4) {
        0 => f64::from(rng.i32(-3..4)),
        1 => f64::from(rng.i32(..)) / 7.0,
        2 => (rng.f64() - 0.5) * 1e-300,
        _ => f64::from_bits(rng.u64(..)),
    };
    Number::new(value).unwrap_or(Number::new(1.5).unwrap())
}

/// A name or text: plain, a reserved word, or full of what needs quoting.
pub(crate) fn text(rng: &mut Rng, empty: bool) -> String {
    const WORDS: [&str; 24] = [
        "X",
        "U",
        "P",
        "Seen",
        "true",
        "FALSE",
        "null",
        "a.b",
        "a.1",
        "a.²",
        ".5",
        "x1",
        "1x",
        "_",
        "ä",
        "日本",
        "a->b",
        "k=v",
        "k=",
        "hello world",
        "f(x)",
        "get-weather",
        "\\",
        "*:/+",
    ];
    const CHARS: [char; 30] = [
        'a', 'Z', '0', '_', '.', '-', '>', '<', '=', '!', '&', '|', '(', ')', '"', '`', '\\', '\n', '\t', '\r', ' ',
        ',', '@', ':', '+', '*', '/', '\u{301}', '😀', '\u{a0}',
    ];
    if rng.bool() {
        return WORDS[rng.usize(..WORDS.len())].to_owned();
    }
    let least = usize::from(!empty);
    (0..rng.usize(least..6)).map(|_| CHARS[rng.usize(..CHARS.len())]).collect()
}

/// A record of which the bits say which of the atoms `a`, `b`, … hold.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bits(pub(crate) u8);

impl Record for Bits {
    fn field(&self, name: &str) -> Option<Value<'_>> {
        let bit = name.bytes().next()?.checked_sub(b'a')?;
        Some(Value::Bool(self.0 >> bit & 1 == 1))
    }
}

/// A trace over `names` atoms; each atom is true as often as a random choice for the whole trace says.
pub(crate) fn trace(rng: &mut Rng, names: u8, length: usize) -> Vec<Bits> {
    let often: Vec<u8> = (0..names).map(|_| [1, 8, 32, 64, 96, 120, 127][rng.usize(..7)]).collect();
    (0..length)
        .map(|_| {
            Bits(often.iter().enumerate().fold(0, |bits, (i, often)| bits | u8::from(rng.u8(..128) < *often) << i))
        })
        .collect()
}
