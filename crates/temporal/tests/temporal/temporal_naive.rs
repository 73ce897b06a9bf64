//! The finite and the infinite semantics of the future operators, written down as they are defined, and random formulas
//! and runs to try them on. Names are `a`, `b`, …; a step is the set of those that are true, one bit each.

use fastrand::Rng;
use tlaforge_temporal::{Atom, Binary, Formula, Formulas, Letter, Node, Progression, Unary};

/// A run from some position on: finite, or, where it goes back to one of its steps, infinite.
#[derive(Debug, Clone)]
pub(crate) struct Continuation {
    pub(crate) steps: Vec<u8>,
    pub(crate) back_to: Option<usize>,
}

impl Continuation {
    pub(crate) fn random(rng: &mut Rng, atoms: u8) -> Self {
        let steps: Vec<u8> = (0..rng.usize(1..=6)).map(|_| random_letter(rng, atoms)).collect();
        let back_to = rng.bool().then(|| rng.usize(0..steps.len()));
        Self { steps, back_to }
    }
}

pub(crate) fn random_letter(rng: &mut Rng, atoms: u8) -> u8 {
    rng.u8(0..1 << atoms)
}

pub(crate) fn as_letter(progression: &Progression, step: u8) -> Letter {
    let is_true = |atom: &Atom| matches!(atom, Atom::Name(name) if step >> (name.as_bytes()[0] - b'a') & 1 == 1);
    progression.formulas().atoms().filter(|(_, atom)| is_true(atom)).map(|(id, _)| id).collect()
}

pub(crate) fn random_formula(formulas: &mut Formulas, rng: &mut Rng, depth: usize, atoms: u8) -> Formula {
    if depth == 0 || rng.u8(0..8) == 0 {
        return match rng.u8(0..10) {
            0 => formulas.truth(),
            1 => formulas.falsity(),
            _ => {
                let name = char::from(b'a' + rng.u8(0..atoms)).to_string();
                formulas.name(&name)
            }
        };
    }
    let a = random_formula(formulas, rng, depth - 1, atoms);
    let unary = [Unary::Next, Unary::WeakNext, Unary::Globally, Unary::Finally];
    let binary = [Binary::Until, Binary::WeakUntil, Binary::Release, Binary::StrongRelease];
    match rng.usize(0..16) {
        0 | 1 => formulas.not(a),
        i @ 2..=5 => formulas.unary(unary[i - 2], a),
        i => {
            let b = random_formula(formulas, rng, depth - 1, atoms);
            match i {
                6..=9 => formulas.binary(binary[i - 6], a, b),
                10 | 11 => formulas.and([a, b]),
                12 | 13 => formulas.or([a, b]),
                14 => formulas.implies(a, b),
                _ => formulas.binary(Binary::Iff, a, b),
            }
        }
    }
}

/// The value of a formula at the start of a run.
pub(crate) fn value(formulas: &Formulas, formula: Formula, run: &Continuation) -> bool {
    at(formulas, formula, run)[0]
}

/// Its values at all positions; in a finite run, the empty suffix is the last.
fn at(formulas: &Formulas, formula: Formula, run: &Continuation) -> Vec<bool> {
    let n = run.steps.len();
    let positions = if run.back_to.is_some() { n } else { n + 1 };
    let of = |f: &Formula| at(formulas, *f, run);
    let each = |value: &dyn Fn(usize) -> bool| (0..positions).map(value).collect::<Vec<bool>>();
    let real = |i: usize| i < n;
    match formulas.node(formula) {
        Node::True => each(&|_| true),
        Node::False => each(&|_| false),
        Node::Atom(atom) => {
            let Atom::Name(name) = formulas.atom(*atom) else { panic!("only names") };
            let bit = name.as_bytes()[0] - b'a';
            each(&|i| real(i) && run.steps[i] >> bit & 1 == 1)
        }
        Node::Not(a) => of(a).into_iter().map(|v| !v).collect(),
        Node::And(all) => {
            let all: Vec<_> = all.iter().map(of).collect();
            each(&|i| all.iter().all(|a| a[i]))
        }
        Node::Or(all) => {
            let all: Vec<_> = all.iter().map(of).collect();
            each(&|i| all.iter().any(|a| a[i]))
        }
        Node::Unary(Unary::Next, a) => {
            let a = of(a);
            each(&|i| real(i) && next(run, i).is_some_and(|j| a[j]))
        }
        Node::Unary(Unary::WeakNext, a) => {
            let a = of(a);
            each(&|i| !real(i) || next(run, i).is_none_or(|j| a[j]))
        }
        Node::Unary(Unary::Finally, a) => {
            let a = of(a);
            each(&|i| reachable(run, i).into_iter().any(|j| a[j]))
        }
        Node::Unary(Unary::Globally, a) => {
            let a = of(a);
            each(&|i| reachable(run, i).into_iter().all(|j| a[j]))
        }
        Node::Binary(Binary::Implies, [a, b]) => {
            let (a, b) = (of(a), of(b));
            each(&|i| !a[i] || b[i])
        }
        Node::Binary(Binary::Iff, [a, b]) => {
            let (a, b) = (of(a), of(b));
            each(&|i| a[i] == b[i])
        }
        Node::Binary(operator, [a, b]) => {
            let (a, b) = (of(a), of(b));
            each(&|i| {
                let path = reachable(run, i);
                let until = |hold: &[bool], come: &dyn Fn(usize) -> bool, weak: bool| match path
                    .iter()
                    .position(|j| come(*j))
                {
                    Some(k) => path[..k].iter().all(|j| hold[*j]),
                    None => weak && path.iter().all(|j| hold[*j]),
                };
                match operator {
                    Binary::Until => until(&a, &|j| b[j], false),
                    Binary::WeakUntil => until(&a, &|j| b[j], true),
                    Binary::Release => until(&b, &|j| a[j] && b[j], true),
                    Binary::StrongRelease => until(&b, &|j| a[j] && b[j], false),
                    other => panic!("{other:?} is no operator of the future"),
                }
            })
        }
        other => panic!("{other:?} is no operator of the future"),
    }
}

/// The position after one, where there is one.
fn next(run: &Continuation, i: usize) -> Option<usize> {
    if i + 1 < run.steps.len() { Some(i + 1) } else { run.back_to }
}

/// The positions from one on, each once, in the order in which they come first.
fn reachable(run: &Continuation, i: usize) -> Vec<usize> {
    let mut path = Vec::new();
    let mut at = (i < run.steps.len()).then_some(i);
    while let Some(j) = at.filter(|j| !path.contains(j)) {
        path.push(j);
        at = next(run, j);
    }
    path
}
