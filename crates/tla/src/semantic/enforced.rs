//! Finds properties that the specification itself enforces: a step is allowed only if the property, or a condition on the same
//! variables, holds after it. Such a property cannot be violated, and says nothing about the steps without that guard.
//!
//! A correct specification can do the same, for example if a clock may not pass a deadline. So this module only reports such
//! properties, and the user or the review decides. A guard on the present state (`holders = {}` before a client becomes the
//! holder) is never reported.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use crate::Cfg;

use super::expand::Definitions;
use super::parser::parse;
use super::term::{AND, NOT, OR, PRIME, Term, apply, junction, not, primed};
use super::true_by_definition::{conjuncts, disjuncts, is_unchanged, on_large_stack, specification_conjuncts};

/// Maximum number of visited parts of the next-state relation.
const MAX_VISITED_PARTS: usize = 20_000;

/// The properties of the configuration that the specification itself enforces, each with a phrase that says how.
pub fn enforced_properties(text: &str, cfg: &Cfg) -> BTreeMap<String, String> {
    on_large_stack(|| Some(find_enforced(text, cfg))).unwrap_or_default()
}

/// A part of a property.
#[derive(Clone)]
enum Part {
    /// It holds in every state: the formula, and the same of the next state.
    State(Rc<Term>, Rc<Term>),
    /// It holds of every step that changes something.
    Step(Rc<Term>),
}

struct Property<'a> {
    name: &'a str,
    parts: Vec<Part>,
}

fn find_enforced(text: &str, cfg: &Cfg) -> BTreeMap<String, String> {
    let Ok(module) = parse(text) else { return BTreeMap::new() };
    let replaced: HashMap<&str, &str> =
        cfg.constants.iter().filter_map(|(name, by)| Some((name.as_str(), by.strip_prefix("<- ")?))).collect();
    let definitions = Definitions::new(text, &module, replaced);
    let parts = |name: &String, is_invariant: bool| {
        let mut parts = Vec::new();
        if let Some(term) = definitions.definition_term(name) {
            collect_parts(&term, is_invariant, &mut parts);
        }
        parts
    };
    let invariants = cfg.invariants.iter().map(|name| Property { name, parts: parts(name, true) });
    let temporal = cfg.properties.iter().map(|name| Property { name, parts: parts(name, false) });
    let mut search =
        Search { properties: invariants.chain(temporal).collect(), found: BTreeMap::new(), left: MAX_VISITED_PARTS };

    let mut steps: Vec<Rc<Term>> = cfg.next.iter().filter_map(|next| definitions.definition_term(next)).collect();
    let assumed = specification_conjuncts(&definitions, cfg);
    steps.extend(assumed.iter().filter_map(|part| part.as_apply("[]")).flatten().cloned());
    for step in &steps {
        search.visit(step, &Context::default());
    }
    for (keyword, names) in [("CONSTRAINT", &cfg.constraints), ("ACTION_CONSTRAINT", &cfg.action_constraints)] {
        for name in names {
            let Some(term) = definitions.definition_term(name) else { continue };
            for part in conjuncts(&term) {
                search.compare_constraint(&part, &format!("{keyword} {name} leaves out what would violate it"));
            }
        }
    }
    search.found
}

fn collect_parts(term: &Rc<Term>, is_state: bool, parts: &mut Vec<Part>) {
    for part in conjuncts(term) {
        match part.as_apply("[]") {
            Some([inner]) if !is_state => {
                for inner in conjuncts(inner) {
                    if primed_variables(&inner).is_empty() {
                        collect_parts(&inner, true, parts);
                    } else {
                        let action =
                            disjuncts(&inner).into_iter().filter(|one| !conjuncts(one).iter().all(is_unchanged));
                        let steps = [junction(OR, action), inner];
                        let is_step = |part: &Rc<Term>| !primed_variables(part).is_empty();
                        parts.extend(steps.iter().flat_map(conjuncts).filter(is_step).map(Part::Step));
                    }
                }
            }
            _ if is_state && !is_temporal(&part) && !variables(&part).is_empty() => {
                let next = primed(&part);
                parts.push(Part::State(part, next));
            }
            _ => {}
        }
    }
}

fn is_temporal(term: &Term) -> bool {
    let mut found = false;
    term.visit(&mut |part| {
        found |=
            matches!(part, Term::Apply(name, _) if ["[]", "<>", "~>", "WF", "SF", "ENABLED"].contains(&name.as_str()));
    });
    found
}

fn variables(term: &Term) -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    term.visit(&mut |part| {
        if let Term::Variable(name) = part {
            all.insert(name.clone());
        }
    });
    all
}

fn primed_variables(term: &Term) -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    term.visit(&mut |part| match part {
        Term::Apply(name, parts) if name == PRIME => all.extend(parts.iter().flat_map(|part| variables(part))),
        Term::Opaque(name, parts) if name == PRIME => all.extend(parts.iter().flat_map(|part| variables(part))),
        _ => {}
    });
    all
}

/// `v'`
fn primed_variable(term: &Term) -> Option<&str> {
    match term.as_apply(PRIME)?.first()?.as_ref() {
        Term::Variable(name) => Some(name),
        _ => None,
    }
}

/// `v' = e` or `v' \in S`, as variable and value.
fn assignments(term: &Term) -> Vec<(&str, Option<&Rc<Term>>)> {
    if let Some([one, other]) = term.as_apply("=") {
        let sides = [(one, other), (other, one)].into_iter();
        // `n' = n' % 3` gives no value to `n`.
        let is_value = |name: &str, value: &Term| !primed_variables(value).contains(name);
        return sides
            .filter_map(|(left, right)| Some((primed_variable(left)?, right)))
            .filter(|(name, value)| is_value(name, value))
            .map(|(name, value)| (name, Some(value)))
            .collect();
    }
    match term.as_apply("\\in") {
        Some([one, _]) => primed_variable(one).map(|name| (name, None)).into_iter().collect(),
        _ => Vec::new(),
    }
}

/// The variables to which a step gives a value, also in one of its branches only.
fn assigned(term: &Term, all: &mut BTreeSet<String>) {
    match term {
        Term::Apply(name, parts) if name == AND || name == OR || name == "CASE" || name == "OTHER" => {
            for part in parts {
                assigned(part, all);
            }
        }
        Term::Apply(name, parts) if name == "IF" || name == "arm" => {
            parts.iter().skip(1).for_each(|part| assigned(part, all));
        }
        Term::Binder(kind, _, body) if kind.starts_with("\\E ") => assigned(body, all),
        _ => all.extend(assignments(term).into_iter().map(|(name, _)| name.to_owned())),
    }
}

/// What else holds of a step, around one of its parts.
#[derive(Clone, Default)]
struct Context {
    assigned: BTreeSet<String>,
    values: Vec<(String, Rc<Term>)>,
    guards: BTreeSet<Rc<Term>>,
    /// Conditions of IF and CASE. A step that takes the larger of two values has one as well, so they count only if they are
    /// the whole property.
    conditions: BTreeSet<Rc<Term>>,
}

struct Search<'a> {
    properties: Vec<Property<'a>>,
    found: BTreeMap<String, String>,
    left: usize,
}

const FALSE: Term = Term::Truth(false);

impl Search<'_> {
    fn visit(&mut self, step: &Rc<Term>, context: &Context) {
        let parts: Vec<Rc<Term>> = conjuncts(step).into_iter().filter(|part| !is_assertion(part)).collect();
        self.left = self.left.saturating_sub(parts.len());
        if self.left == 0 {
            return;
        }
        let own: Vec<BTreeSet<String>> = parts
            .iter()
            .map(|part| {
                let mut all = BTreeSet::new();
                assigned(part, &mut all);
                all
            })
            .collect();
        let mut inner = context.clone();
        for part in &parts {
            let values = assignments(part).into_iter();
            inner.values.extend(values.filter_map(|(name, value)| Some((name.to_owned(), value?.clone()))));
            if !is_branching(part) && primed_variables(part).is_empty() {
                inner.guards.insert(part.clone());
            }
        }
        self.compare_assigned_values(&inner);
        for (at, part) in parts.iter().enumerate() {
            let others = own.iter().enumerate().filter(|(other, _)| *other != at).flat_map(|(_, names)| names);
            let around: BTreeSet<String> = context.assigned.iter().chain(others).cloned().collect();
            let changed = primed_variables(part);
            let is_guard = !changed.is_empty() && changed.is_subset(&around);
            let chosen = assignments(part);
            // `n' \in S` chooses a value, unless the step gives `n` one elsewhere.
            let is_filter = is_guard && chosen.iter().all(|(_, value)| value.is_none());
            if is_guard || chosen.is_empty() {
                self.compare_next_state(part, is_filter);
            }
            if !is_guard {
                self.descend(part, &Context { assigned: around, ..inner.clone() });
            }
        }
    }

    fn descend(&mut self, part: &Rc<Term>, context: &Context) {
        let with = |guard: &Rc<Term>| {
            let mut inner = context.clone();
            inner.conditions.extend(conjuncts(guard));
            inner
        };
        match &**part {
            Term::Apply(name, branches) if name == OR => branches.iter().for_each(|branch| self.visit(branch, context)),
            Term::Binder(kind, _, body) if kind.starts_with("\\E ") => self.visit(body, context),
            Term::Apply(name, three) if name == "IF" && three.len() == 3 => {
                let (yes, no) = (&three[1], &three[2]);
                self.compare_next_state(&three[0], **no == FALSE && !primed_variables(&three[0]).is_empty());
                self.visit(yes, &with(&three[0]));
                self.visit(no, &with(&not(&three[0])));
            }
            Term::Apply(name, arms) if name == "CASE" => {
                for arm in arms {
                    match (arm.as_apply("arm"), arm.as_apply("OTHER")) {
                        (Some([guard, value]), _) => {
                            self.compare_next_state(guard, false);
                            self.visit(value, &with(guard));
                        }
                        (_, Some([value])) => self.visit(value, context),
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }

    fn name(&mut self, at: usize, how: &str) {
        self.found.entry(self.properties[at].name.to_owned()).or_insert_with(|| how.to_owned());
    }

    /// Compares the properties with a condition on the state after the step, or on both states.
    fn compare_next_state(&mut self, condition: &Rc<Term>, is_filter: bool) {
        let changed = primed_variables(condition);
        let mut named = Vec::new();
        for (at, property) in self.properties.iter().enumerate() {
            let is_equal = |part: &Part| match part {
                Part::State(state, next) => next == condition && (is_filter || !is_type(state)),
                Part::Step(step) => step == condition,
            };
            if property.parts.iter().any(is_equal) {
                named.push((at, "a step is allowed only if this holds after it"));
            } else if is_filter
                && !is_frame(condition)
                && speaks_of_next_state_only(condition)
                && property.parts.iter().any(|part| speaks_only_of(part, &changed))
            {
                named.push((at, "a step is allowed only if a condition on the same variables holds after it"));
            }
        }
        for (at, how) in named {
            self.name(at, how);
        }
    }

    /// Compares the guards of a step with the properties, with the values that the step assigns in place of the variables.
    fn compare_assigned_values(&mut self, context: &Context) {
        let mut named = Vec::new();
        for (at, property) in self.properties.iter().enumerate() {
            let is_demanded = |part: &Part| {
                let Part::State(state, _) = part else { return false };
                let is_guard = |before: &Rc<Term>, after: &Rc<Term>| {
                    after != before
                        && !matches!(**after, Term::Truth(_))
                        && conjuncts(after).iter().all(|part| {
                            context.guards.contains(part)
                                || (property.parts.len() == 1 && context.conditions.contains(part))
                        })
                };
                is_guard(state, &with_values(state, &context.values, None))
                    || instances(state, &context.values).any(|(body, with)| {
                        is_guard(&with_values(body, &[], Some(with)), &with_values(body, &context.values, Some(with)))
                    })
            };
            if property.parts.iter().any(is_demanded) {
                named.push(at);
            }
        }
        for at in named {
            self.name(at, "a guard demands this of the values that the step assigns");
        }
    }

    fn compare_constraint(&mut self, condition: &Rc<Term>, how: &str) {
        let is_equal = |part: &Part| match part {
            Part::State(state, next) => !is_type(state) && (state == condition || next == condition),
            Part::Step(step) => step == condition,
        };
        let named: Vec<usize> =
            (0..self.properties.len()).filter(|at| self.properties[*at].parts.iter().any(is_equal)).collect();
        for at in named {
            self.name(at, how);
        }
    }
}

fn is_branching(part: &Term) -> bool {
    matches!(part, Term::Apply(name, _) if name == OR || name == "IF" || name == "CASE")
        || matches!(part, Term::Binder(kind, ..) if kind.starts_with("\\E "))
}

/// Whether `v \in S` or `v \subseteq S` only gives the type of a variable. An interval is a bound, not a type.
fn is_type(state: &Term) -> bool {
    let sides = state.as_apply("\\in").or_else(|| state.as_apply("\\subseteq"));
    let is_interval = |set: &Term| set.as_apply("..").is_some();
    matches!(sides, Some([one, set])
        if matches!(**one, Term::Variable(_)) && variables(set).is_empty() && !is_interval(set))
}

/// Whether a condition is an assertion of the algorithm. It forbids no step: a step that breaks it is an error.
fn is_assertion(part: &Term) -> bool {
    matches!(part, Term::Apply(name, _) | Term::Opaque(name, _) if name == "Assert")
}

/// Whether every variable in a condition is primed. A comparison with the present state is often how a step computes its values.
fn speaks_of_next_state_only(condition: &Term) -> bool {
    match condition {
        Term::Variable(_) => false,
        Term::Apply(name, _) | Term::Opaque(name, _) if name == PRIME => true,
        _ => condition.parts().into_iter().all(|part| speaks_of_next_state_only(part)),
    }
}

/// Whether a condition says of some part of the state only that it stays as it is.
fn is_frame(condition: &Rc<Term>) -> bool {
    match &**condition {
        Term::Binder(kind, _, body) if kind.starts_with("\\A ") => is_frame(body),
        Term::Apply(name, parts) if name == AND => parts.iter().all(is_frame),
        // `i = self \/ v'[i] = v[i]`
        Term::Apply(name, parts) if name == OR => parts.iter().any(is_frame),
        _ => match condition.as_apply("=") {
            Some([one, other]) => primed(one) == *other || primed(other) == *one,
            _ => false,
        },
    }
}

/// Whether a part of a property speaks only of these variables, and is more than a type.
fn speaks_only_of(part: &Part, changed: &BTreeSet<String>) -> bool {
    let (Part::State(term, _) | Part::Step(term)) = part;
    let own = variables(term);
    !is_type(term) && !own.is_empty() && own.is_subset(changed)
}

/// For `\A x \in S : P`, the formula `P` with each index at which the step changes a function, as the value of `x`.
fn instances<'t>(
    state: &'t Rc<Term>,
    values: &'t [(String, Rc<Term>)],
) -> impl Iterator<Item = (&'t Rc<Term>, &'t Rc<Term>)> {
    let body = match &**state {
        Term::Binder(kind, _, body) if kind == "\\A 0" => Some(body),
        _ => None,
    };
    let indices = values.iter().filter_map(|(_, value)| match value.as_apply("EXCEPT")? {
        [_, index, _] => index.as_apply("index")?.first(),
        _ => None,
    });
    body.into_iter().flat_map(move |body| indices.clone().map(move |index| (body, index)))
}

/// The value of a function at an index, if the function was just changed there.
fn value_at(function: &Term, index: &Rc<Term>) -> Option<Rc<Term>> {
    match function.as_apply("EXCEPT")? {
        [_, changed, update] if changed.as_apply("index") == Some(std::slice::from_ref(index)) => {
            update.as_apply("update")?.first().cloned()
        }
        _ => None,
    }
}

/// The term with these values in place of variables, and with `first` in place of the name that is bound outside of it.
fn with_values(term: &Rc<Term>, values: &[(String, Rc<Term>)], first: Option<&Rc<Term>>) -> Rc<Term> {
    let all = |parts: &[Rc<Term>]| parts.iter().map(|part| with_values(part, values, first)).collect::<Vec<_>>();
    match &**term {
        Term::Bound(0) => first.unwrap_or(term).clone(),
        Term::Apply(name, parts) if name == "[" && parts.len() == 2 => {
            let parts = all(parts);
            value_at(&parts[0], &parts[1]).unwrap_or_else(|| apply("[", parts))
        }
        Term::Variable(name) => {
            // A value that depends on the state after the step is no value to compare with.
            let value = values.iter().find(|(known, value)| known == name && primed_variables(value).is_empty());
            value.map_or_else(|| term.clone(), |(_, value)| value.clone())
        }
        Term::Apply(name, parts) if name == NOT => not(&with_values(&parts[0], values, first)),
        Term::Apply(name, parts) => apply(name, all(parts)),
        Term::Binder(kind, sets, body) => {
            Rc::new(Term::Binder(kind.clone(), all(sets), with_values(body, values, first)))
        }
        Term::Opaque(name, parts) => Rc::new(Term::Opaque(name.clone(), all(parts))),
        _ => term.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOCK: &str = "---- MODULE M ----\nEXTENDS Naturals, FiniteSets, TLC\nCONSTANTS Clients, Limit\nVARIABLES holders, n\n\
        vars == <<holders, n>>\nOneHolder == Cardinality(holders) <= 1\nBelow == n <= Limit /\\ Cardinality(holders) <= 1\n\
        Init == holders = {} /\\ n = 0\n\
        Acquire(c) == ACQUIRE holders' = holders \\cup {c} /\\ UNCHANGED n\n\
        Release(c) == c \\in holders /\\ holders' = holders \\ {c} /\\ n' = n + 1\n\
        Steps == \\E c \\in Clients : Acquire(c) \\/ Release(c)\nNext == NEXT\nMORE\n\
        Spec == Init /\\ [][Next]_vars\n====\n";

    fn named(acquire: &str, next: &str, more: &str, cfg: &str) -> Vec<String> {
        let text = LOCK.replace("ACQUIRE", acquire).replace("NEXT", next).replace("MORE", more);
        assert!(parse(&text).is_ok(), "{text}");
        let cfg = Cfg::parse(&format!("SPECIFICATION Spec\nCONSTANTS Clients = {{a, b}} Limit = 3\n{cfg}\n")).unwrap();
        enforced_properties(&text, &cfg).into_keys().collect()
    }

    #[test]
    fn a_property_that_each_step_has_to_keep_is_named() {
        for next in [
            "Steps /\\ OneHolder'",
            "OneHolder' /\\ Steps",
            "/\\ Steps\n        /\\ (Cardinality(holders) <= 1)'",
            "Steps /\\ Cardinality(holders') <= 1",
            "Steps /\\ ~(Cardinality(holders') > 1)",
            "Steps /\\ 1 >= Cardinality(holders')",
            "Steps /\\ \\A a, b \\in holders' : a = b",
            "Steps /\\ (n' = 7 \\/ OneHolder')",
            "Steps /\\ LET h == holders' IN Cardinality(h) <= 1",
            "Steps /\\ IF OneHolder' THEN TRUE ELSE FALSE",
            "IF OneHolder' THEN Steps ELSE FALSE",
            "Steps /\\ CASE OneHolder' -> TRUE [] OTHER -> FALSE",
            "\\E c \\in Clients : (Acquire(c) \\/ Release(c)) /\\ OneHolder'",
            "\\/ \\E c \\in Clients : Acquire(c) /\\ OneHolder'\n        \\/ \\E c \\in Clients : Release(c)",
            "Steps /\\ Safe'",
            "Steps /\\ Holds(holders')",
            "Steps /\\ holders' \\in {{}} \\cup {{c} : c \\in Clients} /\\ OneHolder'",
        ] {
            let more = "Safe == Cardinality(holders) <= 1\nHolds(h) == Cardinality(h) <= 1";
            assert_eq!(named("", next, more, "INVARIANT OneHolder"), ["OneHolder"], "{next}");
            assert_eq!(
                named("", next, &format!("{more}\nAlways == []OneHolder"), "PROPERTY Always"),
                ["Always"],
                "{next}"
            );
            assert_eq!(named("", next, more, "INVARIANT Below"), ["Below"], "a part of it: {next}");
        }
    }

    #[test]
    fn a_membership_of_a_variable_that_has_a_value_is_a_guard() {
        let small = "Small == n \\in 0..2\nLow == n <= 2\nOne == n \\in {0, 1, 2}";
        for (guard, names) in [
            ("n' \\in 0..2", &["Low", "Small"][..]),
            ("n' <= 2", &["Low", "Small"]),
            ("~(n' \\notin 0..2)", &["Low", "Small"]),
            ("n' \\in {0, 1, 2}", &["Low", "One", "Small"]),
            ("n' = n' % 3", &["Low", "Small"]),
            ("Small'", &["Low", "Small"]),
        ] {
            let found = named("", &format!("Steps /\\ {guard}"), small, "INVARIANTS Small Low One");
            assert!(names.iter().all(|name| found.iter().any(|one| one == name)), "{guard}: {found:?}");
        }
        for next in ["Steps", "Steps \\/ (n' \\in 0..2 /\\ UNCHANGED holders)"] {
            assert_eq!(named("", next, small, "INVARIANTS Small Low One"), [""; 0], "{next}");
        }
    }

    #[test]
    fn a_guard_on_the_values_that_a_step_assigns_is_named() {
        for acquire in [
            "Cardinality(holders \\cup {c}) <= 1 /\\",
            "~(1 < Cardinality(holders \\cup {c})) /\\",
            "(LET after == holders \\cup {c} IN Cardinality(after) <= 1) /\\",
            "Fits(holders \\cup {c}) /\\",
        ] {
            let more = "Fits(h) == Cardinality(h) <= 1";
            assert_eq!(named(acquire, "Steps", more, "INVARIANT OneHolder"), ["OneHolder"], "{acquire}");
        }
        let inside =
            "IF Cardinality(holders \\cup {c}) <= 1 THEN holders' = holders \\cup {c} /\\ n' = n ELSE UNCHANGED vars";
        let next = format!("\\E c \\in Clients : ({inside}) \\/ Release(c)");
        assert_eq!(named("", &next, "", "INVARIANT OneHolder"), ["OneHolder"]);
    }

    #[test]
    fn a_guard_on_the_new_value_of_a_function_is_named() {
        let text = "---- MODULE M ----\nEXTENDS Naturals, FiniteSets\nCONSTANTS Clients, Locks\nVARIABLE held\n\
            One == \\A l \\in Locks : Cardinality(held[l]) <= 1\nInit == held = [l \\in Locks |-> {}]\n\
            Acquire(c, l) == GUARD /\\ held' = [held EXCEPT ![l] = held[l] \\cup {c}]\n\
            Next == \\E c \\in Clients, l \\in Locks : Acquire(c, l)\nSpec == Init /\\ [][Next]_held\n====\n";
        let cfg = Cfg::parse("SPECIFICATION Spec\nINVARIANT One\n").unwrap();
        let named = |guard: &str| enforced_properties(&text.replace("GUARD", guard), &cfg).len();
        assert_eq!(named("Cardinality(held[l] \\cup {c}) <= 1"), 1);
        assert_eq!(named("Cardinality(held[l]) < 1"), 0);
        assert_eq!(named("held[l] = {}"), 0);
    }

    #[test]
    fn a_step_property_and_a_constraint_are_named() {
        let more = "Grows == [][n' >= n]_vars";
        assert_eq!(named("", "Steps /\\ n' >= n", more, "PROPERTY Grows"), ["Grows"]);
        assert_eq!(named("", "Steps", more, "PROPERTY Grows"), [""; 0]);
        assert_eq!(named("", "Steps", "", "INVARIANT OneHolder\nCONSTRAINT OneHolder"), ["OneHolder"]);
        let more = "Kept == Cardinality(holders') <= 1\nSame == Cardinality(holders) < 2";
        assert_eq!(named("", "Steps", more, "INVARIANT OneHolder\nACTION_CONSTRAINT Kept"), ["OneHolder"]);
        assert_eq!(named("", "Steps", "Few == n <= 5", "INVARIANT OneHolder\nCONSTRAINT Few"), [""; 0]);
    }

    #[test]
    fn an_honest_guard_is_not_named() {
        for (acquire, next) in [
            ("", "Steps"),
            ("holders = {} /\\", "Steps"),
            ("Cardinality(holders) < 1 /\\", "Steps"),
            ("n < Limit /\\", "Steps"),
            ("n + 1 <= Limit /\\", "Steps"),
            ("", "Steps \\/ (n = Limit /\\ n' = 0 /\\ UNCHANGED holders)"),
            ("", "\\/ Steps\n        \\/ holders' = {} /\\ n' = IF holders' = {} THEN 0 ELSE 1"),
            ("OneHolder /\\", "Steps"),
            ("", "Steps /\\ UNCHANGED <<>>"),
            ("n = 0 /\\", "Steps"),
            ("", "Steps /\\ Assert(OneHolder', \"two holders\")"),
            ("Assert(Cardinality(holders \\cup {c}) <= 1, \"two\") /\\", "Steps"),
        ] {
            assert_eq!(named(acquire, next, "", "INVARIANTS OneHolder Below"), [""; 0], "{acquire} {next}");
            let more = "Stays == [][n # 0 => n' = n]_n";
            assert_eq!(named(acquire, next, more, "PROPERTY Stays"), [""; 0], "{acquire} {next}");
        }
    }

    #[test]
    fn a_type_beside_a_property_is_not_named() {
        let more = "TypeOK == holders \\subseteq Clients /\\ n \\in Nat";
        assert_eq!(named("", "Steps /\\ OneHolder'", more, "INVARIANTS TypeOK OneHolder"), ["OneHolder"]);
    }

    #[test]
    fn no_property_of_a_correct_specification_is_named() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let mut checked = 0;
        let files = ["exemplars", "evals"].map(|folder| tla_files(&root.join(folder)));
        for path in files.into_iter().flatten() {
            let Ok(text) = std::fs::read_to_string(&path) else { continue };
            let Ok(cfg) = std::fs::read_to_string(path.with_extension("cfg")) else { continue };
            let Ok(cfg) = Cfg::parse(&cfg) else { continue };
            let named: Vec<String> = enforced_properties(&text, &cfg).into_keys().collect();
            assert_eq!(named, [""; 0], "{}", path.display());
            checked += 1;
        }
        assert!(checked > 10, "{checked}");
    }

    fn tla_files(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
        let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
        let paths = entries.flatten().map(|entry| entry.path());
        paths
            .flat_map(|path| {
                let is_module = path.extension().is_some_and(|extension| extension == "tla");
                if path.is_dir() { tla_files(&path) } else { is_module.then_some(path).into_iter().collect() }
            })
            .collect()
    }
}
