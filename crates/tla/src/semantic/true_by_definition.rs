//! Properties that no behaviour of the specification can violate, whatever its actions do: tautologies once all
//! definitions are expanded, parts of the specification's own formula, and predicates over variables that no action
//! changes. Sound but not complete: the answer is "yes" only if it is certain.

use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use crate::Cfg;

use super::expand::Definitions;
use super::parser::parse;
use super::term::{AND, NOT, OR, PRIME, Term, junction, not, truth};

/// Maximum number of visited parts of formulas.
const BUDGET: usize = 400_000;

/// Maximum nesting of case distinctions.
const CASES: usize = 300;
/// Stack in bytes of the thread that decides: it recurses as deep as terms are nested.
const STACK: usize = 32 << 20;

/// Why the specification cannot violate this property of the configuration, if that is certain.
pub fn true_by_definition(text: &str, cfg: &Cfg, property: &str) -> Option<String> {
    on_large_stack(|| decide(text, cfg, property))
}

/// Runs a decision about terms on a stack of its own; `None` if it fails.
pub(super) fn on_large_stack<T: Send>(decide: impl FnOnce() -> Option<T> + Send) -> Option<T> {
    std::thread::scope(|scope| {
        std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, decide).ok()?.join().ok()?
    })
}

fn decide(text: &str, cfg: &Cfg, property: &str) -> Option<String> {
    let module = parse(text).ok()?;
    let replaced: HashMap<&str, &str> =
        cfg.constants.iter().filter_map(|(name, by)| Some((name.as_str(), by.strip_prefix("<- ")?))).collect();
    let definitions = Definitions::new(text, &module, replaced).with_values(cfg);
    // Each formula has a budget of its own, so the order of properties does not matter.
    let formula = simplify(&definitions.definition_term(property)?, &mut { BUDGET });
    if formula == truth(true) {
        return Some("reduces to TRUE when its definitions are expanded".to_owned());
    }
    let assumed = specification_conjuncts(&definitions, cfg);
    let is_temporal = cfg.properties.iter().any(|name| name == property);
    if is_temporal && conjuncts(&formula).iter().all(|part| is_assumed(part, &assumed)) {
        return Some("it is a part of the specification's own formula".to_owned());
    }
    let unchanged = unchanged_variables(&definitions, &assumed, cfg)?;
    let constant = |part: &Rc<Term>| part.variables().is_some_and(|names| names.is_subset(&unchanged));
    let has_variable = |part: &Rc<Term>| part.variables().is_some_and(|names| !names.is_empty());
    let all = conjuncts(&formula);
    let follows = all.iter().all(|part| constant(part) || (is_temporal && is_assumed(part, &assumed)));
    (follows && all.iter().any(has_variable)).then(|| "no action changes a variable that it speaks of".to_owned())
}

pub(super) fn conjuncts(term: &Rc<Term>) -> Vec<Rc<Term>> {
    term.as_apply(AND).map_or_else(|| vec![term.clone()], <[_]>::to_vec)
}

pub(super) fn disjuncts(term: &Rc<Term>) -> Vec<Rc<Term>> {
    term.as_apply(OR).map_or_else(|| vec![term.clone()], <[_]>::to_vec)
}

/// The conjuncts of the specification that the configuration names.
pub(super) fn specification_conjuncts(definitions: &Definitions<'_>, cfg: &Cfg) -> Vec<Rc<Term>> {
    let named = |name: &Option<String>| name.as_ref().and_then(|name| definitions.definition_term(name));
    let parts = named(&cfg.specification).into_iter().chain(named(&cfg.init));
    parts.flat_map(|part| conjuncts(&simplify(&part, &mut { BUDGET }))).collect()
}

/// Whether a conjunct of a temporal property is one of the specification's, or allows every step of its next-state
/// relation.
fn is_assumed(part: &Rc<Term>, assumed: &[Rc<Term>]) -> bool {
    if assumed.contains(part) {
        return true;
    }
    let Some([allowed]) = part.as_apply("[]") else { return false };
    let allowed = disjuncts(allowed);
    let steps = assumed.iter().filter_map(|assumed| match assumed.as_apply("[]") {
        Some([steps]) => Some(disjuncts(steps)),
        _ => None,
    });
    let is_allowed = |step: &Rc<Term>| {
        allowed.contains(step)
            || allowed.iter().any(|one| {
                // A stuttering disjunct also allows the steps that leave more variables unchanged.
                let (fewer, more) = (conjuncts(one), conjuncts(step));
                fewer.iter().chain(&more).all(is_unchanged) && fewer.iter().all(|one| more.contains(one))
            })
    };
    steps.into_iter().any(|steps| steps.iter().all(is_allowed))
}

/// `v' = v`
pub(super) fn is_unchanged(term: &Rc<Term>) -> bool {
    unchanged_variable(term).is_some()
}

fn unchanged_variable(term: &Term) -> Option<&str> {
    let [one, other] = term.as_apply("=")? else { return None };
    let same =
        |primed: &Rc<Term>, plain: &Rc<Term>| primed.as_apply(PRIME).is_some_and(|parts| parts.first() == Some(plain));
    match (&**one, &**other) {
        (Term::Variable(name), _) if same(other, one) => Some(name),
        (_, Term::Variable(name)) if same(one, other) => Some(name),
        _ => None,
    }
}

/// Variables that no step changes; `None` if the next-state relation cannot be expanded.
fn unchanged_variables<'d>(
    definitions: &'d Definitions<'_>,
    assumed: &[Rc<Term>],
    cfg: &Cfg,
) -> Option<BTreeSet<&'d str>> {
    let mut steps: Vec<Rc<Term>> = cfg.next.iter().filter_map(|next| definitions.definition_term(next)).collect();
    let boxed = assumed.iter().filter_map(|part| part.as_apply("[]")).flatten().cloned();
    steps.extend(boxed.filter(|step| !disjuncts(step).iter().all(|one| conjuncts(one).iter().all(is_unchanged))));
    if steps.is_empty() || steps.iter().any(|step| step.variables().is_none()) {
        return None;
    }
    let mut changed = BTreeSet::new();
    for step in &steps {
        collect_changed(step, &mut changed);
    }
    Some(definitions.variables().iter().copied().filter(|name| !changed.contains(*name)).collect())
}

fn collect_changed(term: &Term, changed: &mut BTreeSet<String>) {
    if unchanged_variable(term).is_some() {
        return;
    }
    // Under a negation, `v' = v` does not keep the value, so every primed variable counts as changed.
    if term.as_apply(NOT).is_some() || term.as_apply(PRIME).is_some() {
        term.visit(&mut |part| {
            if let Some([variable]) = part.as_apply(PRIME)
                && let Term::Variable(name) = &**variable
            {
                changed.insert(name.clone());
            }
        });
        return;
    }
    term.parts().into_iter().for_each(|part| collect_changed(part, changed));
}

/// Simplifies a formula: replaces each tautological part by TRUE.
fn simplify(term: &Rc<Term>, left: &mut usize) -> Rc<Term> {
    *left = left.saturating_sub(1);
    if *left == 0 {
        return term.clone();
    }
    let rebuilt = match &**term {
        Term::Apply(name, parts) if name == AND || name == OR => {
            let parts: Vec<Rc<Term>> = parts.iter().map(|part| simplify(part, left)).collect();
            junction(name, parts)
        }
        Term::Apply(name, parts) if name == NOT => not(&simplify(&parts[0], left)),
        Term::Apply(name, parts) if name == "IF" && parts.len() == 3 => {
            let (yes, no) = (simplify(&parts[1], left), simplify(&parts[2], left));
            let test = simplify(&parts[0], left);
            match *test {
                Term::Truth(true) => yes,
                Term::Truth(false) => no,
                _ if yes == no => yes,
                _ => Rc::new(Term::Apply(name.clone(), vec![test, yes, no])),
            }
        }
        Term::Apply(name, parts) if name == "[]" || name == "<>" => {
            let inner = simplify(&parts[0], left);
            let decided = matches!(*inner, Term::Truth(_));
            if decided { inner } else { super::term::apply(name, vec![inner]) }
        }
        Term::Apply(name, parts) if name == "~>" && parts.len() == 2 => {
            // `P ~> Q` is `[](P => <>Q)`, so `P => Q` is sufficient.
            let implies = junction(OR, [not(&parts[0]), parts[1].clone()]);
            if simplify(&implies, left) == truth(true) { truth(true) } else { term.clone() }
        }
        Term::Binder(kind, sets, body) if kind.starts_with("\\A ") => {
            let body = simplify(&without_known(body, &memberships(kind, sets)), left);
            let holds = *body == Term::Truth(true);
            if holds { body } else { Rc::new(Term::Binder(kind.clone(), sets.clone(), body)) }
        }
        _ => return term.clone(),
    };
    if is_tautology(&unroll_temporal(&rebuilt, left), left, 0) { truth(true) } else { rebuilt }
}

/// What the bounds of a quantifier say of its names: `x \in S`.
fn memberships(kind: &str, sets: &[Rc<Term>]) -> Vec<Term> {
    let Some(mut next) = kind.rsplit(' ').next().and_then(|first| first.parse::<usize>().ok()) else {
        return Vec::new();
    };
    let mut known = Vec::new();
    for over in sets {
        let Some([set, count]) = over.as_apply("over") else { return known };
        let Term::Literal(count) = &**count else { return known };
        let (names, is_tuple) = count.split_once(' ').unwrap_or((count, "false"));
        for _ in 0..names.parse::<usize>().unwrap_or_default() {
            if is_tuple == "false" {
                known.push(Term::Apply("\\in".to_owned(), vec![Rc::new(Term::Bound(next)), set.clone()]));
            }
            next += 1;
        }
    }
    known
}

/// The formula with TRUE in place of each part that is known.
fn without_known(term: &Rc<Term>, known: &[Term]) -> Rc<Term> {
    if known.contains(term) {
        return truth(true);
    }
    match &**term {
        Term::Apply(name, parts) if name == AND || name == OR => {
            junction(name, parts.iter().map(|part| without_known(part, known)))
        }
        Term::Apply(name, parts) if name == NOT => not(&without_known(&parts[0], known)),
        Term::Binder(kind, sets, body) => Rc::new(Term::Binder(kind.clone(), sets.clone(), without_known(body, known))),
        _ => term.clone(),
    }
}

/// The formula with `<>P` as `P \/ <>P` and `[]P` as `P /\ []P`.
fn unroll_temporal(term: &Rc<Term>, left: &mut usize) -> Rc<Term> {
    *left = left.saturating_sub(1);
    if *left == 0 {
        return term.clone();
    }
    let Term::Apply(name, parts) = &**term else { return term.clone() };
    let mut all = || parts.iter().map(|part| unroll_temporal(part, left)).collect::<Vec<_>>();
    match (name.as_str(), parts.as_slice()) {
        (AND | OR, _) => junction(name, all()),
        (NOT, [one]) => not(&unroll_temporal(one, left)),
        ("IF", [_, _, _]) => super::term::apply("IF", all()),
        ("<>", [one]) => junction(OR, [unroll_temporal(one, left), term.clone()]),
        ("[]", [one]) => junction(AND, [unroll_temporal(one, left), term.clone()]),
        _ => term.clone(),
    }
}

/// Whether a formula is true for all values of its atoms, by a case distinction on one atom after the other.
fn is_tautology(term: &Rc<Term>, left: &mut usize, cases: usize) -> bool {
    if cases > CASES {
        return false;
    }
    if let Term::Truth(value) = **term {
        return value;
    }
    let Some(atom) = first_atom(term) else { return false };
    [true, false].into_iter().all(|value| {
        let case = assign_atom(term, &atom, value, left);
        *left > 0 && is_tautology(&case, left, cases + 1)
    })
}

fn first_atom(term: &Rc<Term>) -> Option<Rc<Term>> {
    match &**term {
        Term::Truth(_) => None,
        Term::Apply(name, parts) if name == AND || name == OR || name == NOT => parts.iter().find_map(first_atom),
        Term::Apply(name, parts) if name == "IF" && parts.len() == 3 => first_atom(&parts[0]),
        _ => Some(term.clone()),
    }
}

/// The formula if one of its atoms has this value.
fn assign_atom(term: &Rc<Term>, atom: &Rc<Term>, value: bool, left: &mut usize) -> Rc<Term> {
    *left = left.saturating_sub(1);
    if *left == 0 {
        return term.clone();
    }
    if term == atom {
        return truth(value);
    }
    match &**term {
        Term::Apply(name, parts) if name == AND || name == OR => {
            let parts: Vec<Rc<Term>> = parts.iter().map(|part| assign_atom(part, atom, value, left)).collect();
            junction(name, parts)
        }
        Term::Apply(name, parts) if name == NOT => not(&assign_atom(&parts[0], atom, value, left)),
        Term::Apply(name, parts) if name == "IF" && parts.len() == 3 => {
            let parts: Vec<Rc<Term>> = parts.iter().map(|part| assign_atom(part, atom, value, left)).collect();
            super::term::apply("IF", parts)
        }
        _ => term.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether `P` as an invariant, and as a property, is true by definition in a small specification.
    fn answers(definitions: &str) -> (bool, bool) {
        let text = format!(
            "---- MODULE M ----\nEXTENDS Naturals, FiniteSets, Sequences, TLC\nCONSTANTS Max, S\nVARIABLES n, m, ghost\n\
             vars == <<n, m, ghost>>\nInit == n = 0 /\\ m = 0 /\\ ghost \\in {{0, 1}}\n\
             Inc == n < Max /\\ n' = n + 1 /\\ UNCHANGED <<m, ghost>>\n\
             Dec == /\\ n > 0\n       /\\ n' = n - 1\n       /\\ m' = 1\n       /\\ ghost' = ghost\n\
             Next == Inc \\/ Dec\nSpec == Init /\\ [][Next]_vars /\\ WF_vars(Next)\n{definitions}\n====\n"
        );
        let of = |role: &str| {
            let cfg = Cfg::parse(&format!("SPECIFICATION Spec\nCONSTANTS Max = 2 S = {{1}}\n{role} P\n")).unwrap();
            true_by_definition(&text, &cfg, "P").is_some()
        };
        (of("INVARIANT"), of("PROPERTY"))
    }

    #[test]
    fn parts_of_the_specification_are_no_properties() {
        for definitions in [
            "P == Spec",
            "P == Init",
            "P == n = 0",
            "P == [][Next]_vars",
            "P == [][Dec \\/ Inc]_<<n, m, ghost>>",
            "P == [][Next]_n",
            "P == [][Next \\/ n' = 7]_vars",
            "P == WF_vars(Inc \\/ Dec)",
            "Q == Init /\\ [][Next]_vars\nP == Q",
            "C(a) == CHOOSE x \\in {a} : TRUE\nQ == [](C(n) = 1) \\/ Spec\nP == Spec /\\ Init",
        ] {
            assert_eq!(answers(definitions), (false, true), "{definitions}");
        }
    }

    #[test]
    fn a_tautology_is_found_through_definitions() {
        for definitions in [
            "P == [][vars' # vars]_vars",
            "P == [][~UNCHANGED vars]_vars",
            "P == [](n = 1 => n = 1)",
            "P == \\A x \\in {n} : x \\in {n}",
            "P == \\A x, y \\in 0..n : x > 3 => y \\in 0..n",
            "P == (0..n) \\cap (0..n) = 0..n",
            "P == {n} \\ {1} \\subseteq {n} \\cup {2}",
            "P == n \\in {1, n}",
            "P == (0..n) \\ (0..n) = {}",
        ] {
            assert_eq!(answers(definitions), (true, true), "{definitions}");
        }
        for definitions in [
            "P == LET x == n IN x = n",
            "Same(a) == a\nP == Same(n) = n",
            "Same(a) == LET b == a IN b\nP == n <= Same(n)",
            "P == (IF n > 1 THEN m ELSE m) = m",
            "P == IF n > 1 THEN m = 1 \\/ m # 1 ELSE m = m",
            "A == n > 1\nB == 1 < n\nP == A <=> B",
            "A == n > 1\nP == (A /\\ m = 1) => (m = 1 /\\ (A \\/ m = 2))",
            "P == \\A x \\in S : x = n => n = x",
            "P == \\A x \\in {} : x = n",
            "P == n \\in Any",
            "P == Cardinality(0..n) >= 0",
            "P == CASE n = 1 -> TRUE [] OTHER -> TRUE",
            "P == PrintT(n)",
            "P == n = 1 \\/ Max = 2",
            "P == \\A x \\in 3..Max : x = n",
            "P == Cardinality(S) > 1 => n = 1",
            "P == CASE Cardinality(S) > 5 -> n = 1 [] OTHER -> TRUE",
            "P == n <= n + 1",
            "P == n + m + 2 > 1 + (m + n)",
            "P == (n + 1) - m = n - m + 1",
            "P == <<n, m>>[1] = n",
            "P == [](n = 1 => <>(n = 1))",
            "P == []([](n = 1) => n = 1 \\/ m = 1)",
        ] {
            assert_eq!(answers(definitions), (true, true), "{definitions}");
        }
    }

    #[test]
    fn a_predicate_that_no_action_can_change_is_found() {
        for definitions in ["P == ghost \\in {0, 1}", "P == ghost < 2 /\\ Max = 2 /\\ \\E x \\in S : x >= ghost"] {
            assert_eq!(answers(definitions), (true, true), "{definitions}");
        }
    }

    #[test]
    fn properties_that_can_be_violated_are_not_reported() {
        for definitions in [
            "P == n <= Max",
            "P == n = m",
            "P == n = 1 \\/ Max = 3",
            "P == \\A x \\in 2..Max : x = n",
            "P == CASE Cardinality(S) = 1 -> n = 1 [] OTHER -> TRUE",
            "P == n <= n + m",
            "P == n < n + 1 - 1",
            "P == n + m = n - m",
            "P == <<n, m>>[2] = n",
            "P == <<n, m>>[n] = n",
            "P == n = 1 => n = 2",
            "F(a) == CHOOSE x \\in {a} : TRUE\nP == F(n) = F(m)",
            "F(a) == {x \\in S : x > a}\nP == F(n) = F(m)",
            "G(p) == \\A y \\in S : (p <=> (\\E x \\in S : y = 1))\nP == G(\\E x \\in S : x = 1)",
            "P == ghost = 0 \\/ n < 2",
            "RECURSIVE R(_)\nR(a) == IF a = 0 THEN 0 ELSE R(a - 1)\nP == R(n) = R(m)",
            "f[a \\in S] == a\nP == f[n] = f[m]",
            "P == \\E x \\in S : x = x",
            "P == LET x == n IN LET y == m IN x = y",
            "P == [n |-> n] = [n |-> m]",
            "P == n = \"0\" \\/ n = 0",
            "P == RandomElement({n}) = n",
            "C(a) == CHOOSE x \\in {a} : TRUE\nP == C(n) = C(n) + 0 * m \\/ m = C(m)",
        ] {
            assert!(!answers(definitions).0, "{definitions}");
        }
        for definitions in [
            "P == [][n' > n]_n",
            "P == [][Inc]_vars",
            "P == [][Inc]_n",
            "P == [](n <= Max)",
            "P == <>(n = 1)",
            "P == [](n = 1 => <>(n = 2))",
            "P == [](<>(n = 1) => n = 1)",
            "P == [](n = 1 => [](n = 1))",
            "P == n = 1 ~> n = 0",
            "P == WF_vars(Inc)",
            "P == [][n' = n]_m",
            "P == []Init",
        ] {
            assert!(!answers(definitions).1, "{definitions}");
        }
    }
}
