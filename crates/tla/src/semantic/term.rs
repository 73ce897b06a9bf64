//! Expressions in a normal form with all definitions expanded, so that they can be compared by meaning rather than by
//! text. What cannot be expanded stays an opaque part. Equal terms always have the same meaning.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// One expression. The derived order sorts the operands of commutative operators.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Term {
    Truth(bool),
    /// A number, a string, or a field's name.
    Literal(String),
    Constant(String),
    Variable(String),
    /// By the number of names bound around it.
    Bound(usize),
    /// A quantifier, set or function that binds names: kind, sets, body.
    Binder(String, Vec<Rc<Term>>, Rc<Term>),
    Apply(String, Vec<Rc<Term>>),
    /// Something with unknown meaning: of another module, recursive, or too large.
    Opaque(String, Vec<Rc<Term>>),
}

pub(super) const AND: &str = "/\\";
pub(super) const OR: &str = "\\/";
pub(super) const NOT: &str = "~";
pub(super) const PRIME: &str = "'";

/// How the name of a constant begins that is a model value of the configuration.
pub(super) const MODEL_VALUE: &str = "model value ";

impl Term {
    pub(super) fn parts(&self) -> Vec<&Rc<Term>> {
        match self {
            Term::Binder(_, sets, body) => sets.iter().chain([body]).collect(),
            Term::Apply(_, parts) | Term::Opaque(_, parts) => parts.iter().collect(),
            _ => Vec::new(),
        }
    }

    /// What is left of this budget of parts after the term; 0 if the term is larger.
    pub(super) fn charged(&self, left: usize) -> usize {
        self.parts()
            .into_iter()
            .fold(left.saturating_sub(1), |left, part| if left == 0 { 0 } else { part.charged(left) })
    }

    /// Calls `call` for this term and everything within it.
    pub(super) fn visit(&self, call: &mut dyn FnMut(&Term)) {
        call(self);
        for part in self.parts() {
            part.visit(call);
        }
    }

    /// The variables in the term, or `None` if it has an opaque part.
    pub(super) fn variables(&self) -> Option<BTreeSet<&str>> {
        match self {
            Term::Opaque(..) => None,
            Term::Variable(name) => Some(BTreeSet::from([name.as_str()])),
            _ => self.parts().into_iter().try_fold(BTreeSet::new(), |mut all, part| {
                all.extend(part.variables()?);
                Some(all)
            }),
        }
    }

    pub(super) fn as_apply(&self, operator: &str) -> Option<&[Rc<Term>]> {
        match self {
            Term::Apply(name, parts) if name == operator => Some(parts),
            _ => None,
        }
    }
}

pub(super) fn truth(value: bool) -> Rc<Term> {
    Rc::new(Term::Truth(value))
}

pub(super) fn not(term: &Rc<Term>) -> Rc<Term> {
    match &**term {
        Term::Truth(value) => truth(!value),
        Term::Apply(name, parts) if name == NOT => parts[0].clone(),
        _ => Rc::new(Term::Apply(NOT.to_owned(), vec![term.clone()])),
    }
}

/// A conjunction or disjunction: flat, sorted, without duplicates.
pub(super) fn junction(operator: &str, operands: impl IntoIterator<Item = Rc<Term>>) -> Rc<Term> {
    let neutral = operator == AND;
    let mut flat = BTreeSet::new();
    let mut open: Vec<Rc<Term>> = operands.into_iter().collect();
    while let Some(operand) = open.pop() {
        match &*operand {
            Term::Truth(value) if *value == neutral => {}
            Term::Truth(_) => return operand,
            Term::Apply(name, parts) if name == operator => open.extend(parts.iter().cloned()),
            _ => {
                flat.insert(operand);
            }
        }
    }
    match flat.len() {
        0 => truth(neutral),
        1 => flat.pop_first().unwrap_or_else(|| truth(neutral)),
        _ => Rc::new(Term::Apply(operator.to_owned(), flat.into_iter().collect())),
    }
}

/// `a = b`; tuples are equal if their elements are.
pub(super) fn equal(one: &Rc<Term>, other: &Rc<Term>) -> Rc<Term> {
    if one == other {
        return truth(true);
    }
    match (&**one, &**other) {
        (Term::Apply(a, ones), Term::Apply(b, others)) if a == "<<>>" && b == "<<>>" => {
            if ones.len() != others.len() {
                return truth(false);
            }
            return junction(AND, ones.iter().zip(others).map(|(one, other)| equal(one, other)));
        }
        (Term::Literal(a), Term::Literal(b)) if a != b && same_kind(a, b) => return truth(false),
        _ if is_sum(one) || is_sum(other) => {
            if let Some(difference) = difference(one, other) {
                return truth(difference == 0);
            }
        }
        _ => {}
    }
    let mut sides = vec![one.clone(), other.clone()];
    sides.sort();
    Rc::new(Term::Apply("=".to_owned(), sides))
}

fn is_sum(term: &Term) -> bool {
    term.as_apply("+").or_else(|| term.as_apply("-")).is_some_and(|operands| operands.len() == 2)
}

/// `a - b` for sums, if the difference is a number.
fn difference(one: &Term, other: &Term) -> Option<i64> {
    let (mut parts, mut number) = (BTreeMap::new(), 0);
    add(one, 1, &mut parts, &mut number)?;
    add(other, -1, &mut parts, &mut number)?;
    parts.values().all(|count| *count == 0).then_some(number)
}

fn add<'t>(term: &'t Term, sign: i64, parts: &mut BTreeMap<&'t Term, i64>, number: &mut i64) -> Option<()> {
    match term {
        Term::Apply(name, operands) if is_sum(term) => {
            add(&operands[0], sign, parts, number)?;
            add(&operands[1], if name == "-" { -sign } else { sign }, parts, number)
        }
        Term::Literal(text) if text.bytes().all(|b| b.is_ascii_digit()) => {
            *number = number.checked_add(sign.checked_mul(text.parse().ok()?)?)?;
            Some(())
        }
        // Two equal opaque parts need not have the same value.
        Term::Opaque(..) => None,
        _ => {
            *parts.entry(term).or_default() += sign;
            Some(())
        }
    }
}

/// Two decimal numbers, or two strings without escapes: different texts are different values.
fn same_kind(a: &str, b: &str) -> bool {
    let number = |text: &str| text.bytes().all(|b| b.is_ascii_digit()) && (text == "0" || !text.starts_with('0'));
    let string = |text: &str| text.starts_with('"') && !text.contains('\\');
    (number(a) && number(b)) || (string(a) && string(b))
}

/// The value in the next state: the prime moves to the variables.
pub(super) fn primed(term: &Rc<Term>) -> Rc<Term> {
    let all = |parts: &[Rc<Term>]| parts.iter().map(primed).collect::<Vec<_>>();
    match &**term {
        Term::Variable(_) => Rc::new(Term::Apply(PRIME.to_owned(), vec![term.clone()])),
        Term::Truth(_) | Term::Literal(_) | Term::Constant(_) | Term::Bound(_) => term.clone(),
        Term::Binder(kind, sets, body) => Rc::new(Term::Binder(kind.clone(), all(sets), primed(body))),
        Term::Apply(name, parts) if is_logic(name) => junction(name, all(parts)),
        Term::Apply(name, parts) if name == "=" && parts.len() == 2 => equal(&primed(&parts[0]), &primed(&parts[1])),
        Term::Apply(name, parts) => Rc::new(Term::Apply(name.clone(), all(parts))),
        // Its variables are not known, so the prime stays outside.
        Term::Opaque(..) => Rc::new(Term::Opaque(PRIME.to_owned(), vec![term.clone()])),
    }
}

fn is_logic(name: &str) -> bool {
    name == AND || name == OR
}

/// `[A]_v`
pub(super) fn square(action: &Rc<Term>, subscript: &Rc<Term>) -> Rc<Term> {
    junction(OR, [action.clone(), equal(&primed(subscript), subscript)])
}

/// Applies a built-in operator, or one of a standard module, with simplifications.
pub(super) fn apply(name: &str, operands: Vec<Rc<Term>>) -> Rc<Term> {
    let plain = |operands: Vec<Rc<Term>>| Rc::new(Term::Apply(name.to_owned(), operands));
    match (name, operands.as_slice()) {
        ("/\\" | "\\/", _) => junction(name, operands),
        ("~", [one]) => not(one),
        ("=>", [one, other]) => junction(OR, [not(one), other.clone()]),
        ("=", [one, other]) => equal(one, other),
        ("<=>", [one, other]) if one == other => truth(true),
        ("<=>", [one, other]) => {
            let both = junction(AND, [one.clone(), other.clone()]);
            junction(OR, [both, junction(AND, [not(one), not(other)])])
        }
        ("/=", [one, other]) => not(&equal(one, other)),
        ("\\in", [_, set]) if **set == Term::Apply("Any".to_owned(), Vec::new()) => truth(true),
        ("\\notin", [element, set]) => not(&apply("\\in", vec![element.clone(), set.clone()])),
        // The other comparisons of numbers are expressed by `<`.
        (">", [one, other]) => apply("<", vec![other.clone(), one.clone()]),
        ("\\geq", [one, other]) => not(&apply("<", vec![one.clone(), other.clone()])),
        ("\\leq", [one, other]) => not(&apply("<", vec![other.clone(), one.clone()])),
        ("<", [one, other]) if one == other => truth(false),
        ("<", [one, other]) if difference(one, other).is_some() => truth(difference(one, other) < Some(0)),
        ("[", [tuple, index]) => {
            tuple.as_apply("<<>>").and_then(|parts| element(parts, index)).unwrap_or_else(|| plain(operands))
        }
        ("<", [one, zero]) if **zero == Term::Literal("0".to_owned()) && is_size(one) => truth(false),
        ("\\subseteq", [one, other]) if is_within(one, other) => truth(true),
        ("\\in", [element, set]) if set.as_apply("{}").is_some_and(|all| all.contains(element)) => truth(true),
        ("\\cup" | "\\cap", [one, other]) if one == other => one.clone(),
        ("\\", [one, other]) if one == other => Rc::new(Term::Apply("{}".to_owned(), Vec::new())),
        ("\\supseteq", [one, other]) => apply("\\subseteq", vec![other.clone(), one.clone()]),
        ("'", [one]) => primed(one),
        ("UNCHANGED", [one]) => equal(&primed(one), one),
        ("[]" | "<>", [one]) if matches!(**one, Term::Truth(_)) => one.clone(),
        ("[]", [one]) => match one.as_apply(AND) {
            Some(conjuncts) => junction(AND, conjuncts.iter().map(|one| apply("[]", vec![one.clone()]))),
            None => plain(operands),
        },
        ("~>", [one, other]) if one == other => truth(true),
        ("IF", [test, yes, no]) => match **test {
            Term::Truth(true) => yes.clone(),
            Term::Truth(false) => no.clone(),
            _ if yes == no => yes.clone(),
            _ => plain(operands),
        },
        ("Cardinality", [set]) => match set.as_apply("{}").and_then(known_size) {
            Some(size) => Rc::new(Term::Literal(size.to_string())),
            None => plain(operands),
        },
        ("TLCEval", [one]) => one.clone(),
        ("PrintT", [_]) => truth(true),
        ("Print", [_, value]) => value.clone(),
        ("Assert", [one, _]) if **one == Term::Truth(true) => one.clone(),
        // Commutative operators have sorted operands.
        ("\\cup" | "\\cap" | "+" | "*", [one, other]) if one > other => plain(vec![other.clone(), one.clone()]),
        _ => plain(operands),
    }
}

/// Whether a set is a part of another one by its form: `S \cap T` and `S \ T` of `S`, and `S` of `S \cup T`.
fn is_within(one: &Rc<Term>, other: &Rc<Term>) -> bool {
    one == other
        || one.as_apply("{}").is_some_and(<[_]>::is_empty)
        || one.as_apply("\\cap").is_some_and(|parts| parts.iter().any(|part| is_within(part, other)))
        || one.as_apply("\\cup").is_some_and(|parts| parts.iter().all(|part| is_within(part, other)))
        || one.as_apply("\\").is_some_and(|parts| is_within(&parts[0], other))
        || other.as_apply("\\cup").is_some_and(|parts| parts.iter().any(|part| is_within(one, part)))
}

/// The number of elements of a set, if they are known to be different.
fn known_size(elements: &[Rc<Term>]) -> Option<usize> {
    let is_model_value = |term: &Rc<Term>| matches!(&**term, Term::Constant(name) if name.starts_with(MODEL_VALUE));
    let is_number = |term: &Rc<Term>| matches!(&**term, Term::Literal(text) if same_kind(text, "0"));
    (elements.iter().all(is_model_value) || elements.iter().all(is_number)).then_some(elements.len())
}

/// The element of a tuple at a literal index.
fn element(parts: &[Rc<Term>], index: &Term) -> Option<Rc<Term>> {
    let Term::Literal(text) = index else { return None };
    parts.get(text.parse::<usize>().ok()?.checked_sub(1)?).cloned()
}

/// A number that is never negative.
fn is_size(term: &Term) -> bool {
    term.as_apply("Cardinality").is_some() || term.as_apply("Len").is_some()
}
