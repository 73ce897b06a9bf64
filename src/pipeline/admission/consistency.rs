//! Whether any run can satisfy a rule: decided on its complete automaton, together with what is known of the atoms.
//!
//! Atoms are no independent letters: a field has one value at a time, an event has one of the names that events have,
//! is of a lifeline that makes such events, and carries the fields that its name says. What is not known of (sums, two
//! fields compared, texts that contain each other) stays free, so "no" is sure, and "yes" may be too generous.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::pipeline::vocabulary::{carriers, event_names, has_field, makers};
use crate::temporal::{
    Atom, AtomId, Binary, Comparison, Dfa, Formula, Formulas, Limits, Literal, Node, Record, Term, Unary, Value,
    ValueTest,
};

/// Beyond this an automaton is not built, and nothing is known.
const LIMITS: Limits = Limits { states: 20_000, nodes: 400_000 };
/// More atoms on one field than this stay free.
const MOST: usize = 24;
/// The one tool of a model.
const TOOL: &str = "Read";
/// The events that tell what a model answered.
const TELLING: [&str; 2] = ["answer_received", "answer_taken"];

/// What the atoms of a formula are about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Over<'a> {
    /// The events of a journal, one after the other.
    Events,
    /// One moment of this lifeline: fields are what was said last, whichever event said it.
    Moment(&'a str),
}

/// The journals that are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Journals<'a> {
    /// What is asked of them.
    pub over: Over<'a>,
    /// Lifelines that do nothing in them.
    pub without: &'a [&'static str],
}

impl<'a> Journals<'a> {
    /// All of them, event by event.
    pub(super) const EVENTS: Journals<'static> = Journals { over: Over::Events, without: &[] };

    /// All of them, at the moments of one lifeline.
    pub(super) fn moments_of(owner: &'a str) -> Self {
        Self { over: Over::Moment(owner), without: &[] }
    }

    /// Who makes events of this name.
    fn makers(self, event: &str) -> impl Iterator<Item = &'static str> {
        makers(event).filter(move |maker| !self.without.contains(maker))
    }

    /// Every event that can be, with whose it is.
    fn acts(self) -> impl Iterator<Item = (&'static str, &'static str)> {
        event_names().flat_map(move |event| self.makers(event).map(move |maker| (event, maker)))
    }
}

/// Whether one of these journals (or a moment in one) satisfies all of these; `None` where that was not found out.
pub(super) fn possible(formulas: &mut Formulas, all: &[Formula], journals: Journals<'_>) -> Option<bool> {
    let together = formulas.and(all.iter().copied());
    let known = known(formulas, together, journals);
    let together = formulas.and([together, known]);
    let dfa = Dfa::build(formulas, together, LIMITS).ok()?;
    // The empty trace is no journal: nothing is asked of it.
    let starts = dfa.successors(Dfa::INITIAL);
    Some(starts.into_iter().any(|state| dfa.distance_to_accepting(state).is_some()))
}

/// What holds of the atoms at every position, whatever the journal is.
fn known(formulas: &mut Formulas, of: Formula, journals: Journals<'_>) -> Formula {
    let mut always = Vec::new();
    if journals.over == Over::Events {
        for id in formulas.atoms_of(of) {
            let atom = formulas.atom(id).clone();
            let events: Vec<&str> = match &atom {
                Atom::Label { kind, text } if &**kind == "tool_call" && &**text != TOOL => Vec::new(),
                Atom::Label { kind, .. } if &**kind != "extra" => TELLING.to_vec(),
                _ => match field_of(&atom).map(carriers) {
                    Some(Some(events)) if events.len() < 8 => events,
                    _ => continue,
                },
            };
            let there = formulas.atomic(atom);
            let any: Vec<Formula> = events.into_iter().map(|event| named(formulas, event)).collect();
            let any = formulas.or(any);
            always.push(formulas.implies(there, any));
        }
    }
    let so_far = formulas.and(always.iter().copied().chain([of]));
    let mut by_field: BTreeMap<String, Vec<AtomId>> = BTreeMap::new();
    for id in formulas.atoms_of(so_far) {
        if let Some(field) = field_of(formulas.atom(id)) {
            // What happened and whose it was go together.
            let field = if field == "lifeline" { "name" } else { field };
            by_field.entry(field.to_owned()).or_default().push(id);
        }
    }
    for (field, atoms) in by_field.into_iter().filter(|(_, atoms)| atoms.len() <= MOST) {
        let ways: BTreeSet<Vec<bool>> = candidates(formulas, &field, &atoms, journals)
            .into_iter()
            .map(|record| atoms.iter().map(|atom| formulas.atom(*atom).holds(&record)).collect())
            .collect();
        let ways: Vec<Formula> = ways.into_iter().map(|way| letter(formulas, &atoms, &way)).collect();
        always.push(formulas.or(ways));
    }
    let always = formulas.and(always);
    formulas.unary(Unary::Globally, always)
}

fn letter(formulas: &mut Formulas, atoms: &[AtomId], way: &[bool]) -> Formula {
    let mut literals = Vec::new();
    for (atom, holds) in atoms.iter().zip(way) {
        let atom = formulas.atom(*atom).clone();
        let atom = formulas.atomic(atom);
        literals.push(if *holds { atom } else { formulas.not(atom) });
    }
    formulas.and(literals)
}

fn named(formulas: &mut Formulas, event: &str) -> Formula {
    let literal = Term::Literal(Literal::Text(event.into()));
    formulas.atomic(Atom::Compare(Comparison::Equal, Term::Field("name".into()), literal))
}

/// The one field that an atom is about, where its value alone decides it.
fn field_of(atom: &Atom) -> Option<&str> {
    match atom {
        Atom::Name(name) => Some(name),
        Atom::Compare(_, Term::Field(name), Term::Literal(_))
        | Atom::Compare(_, Term::Literal(_), Term::Field(name)) => Some(name),
        Atom::Call(call, terms) if matches!(&**call, "defined" | "one_of") => match terms.split_first()? {
            (Term::Field(name), rest) if rest.iter().all(|t| matches!(t, Term::Literal(_))) => Some(name),
            _ => None,
        },
        _ => None,
    }
}

/// Records of a field, with which its atoms can come out in every way in which they can.
fn candidates<'a>(formulas: &Formulas, field: &'a str, atoms: &[AtomId], journals: Journals<'_>) -> Vec<Few<'a>> {
    let acts = |of: Option<&str>| -> Vec<Few<'a>> {
        let acts = journals.acts().filter(|(_, maker)| of.is_none_or(|of| of == *maker));
        acts.map(|(event, maker)| Few(vec![("name", Some(text(event))), ("lifeline", Some(text(maker)))])).collect()
    };
    if field == "name" {
        return match journals.over {
            Over::Events => acts(None),
            Over::Moment(owner) => acts(Some(owner)),
        };
    }
    let one = |value| Few(vec![(field, value)]);
    if let (Over::Moment(_), Some((name, lifeline))) = (journals.over, field.rsplit_once(" of ")) {
        if journals.without.contains(&lifeline) || !has_field(lifeline, name) {
            return vec![one(None)];
        }
        match name {
            "name" => {
                let events = journals.acts().filter(|(_, maker)| *maker == lifeline);
                return events.map(|(event, _)| one(Some(text(event)))).chain([one(None)]).collect();
            }
            "lifeline" => return vec![one(None), one(Some(text(lifeline)))],
            _ => {}
        }
    }
    let mut all = vec![None, Some(Value::Null), Some(Value::Bool(true)), Some(Value::Bool(false)), Some(text(""))];
    let mut numbers = vec![0.0];
    let terms = atoms.iter().flat_map(|atom| formulas.atom(*atom).terms());
    for literal in terms.filter_map(|term| if let Term::Literal(literal) = term { Some(literal) } else { None }) {
        match literal {
            // The next text after this one, and whatever is between two of them.
            Literal::Text(text) => {
                all.extend([Some(self::text(text)), Some(self::text(&format!("{text}\0")))]);
            }
            Literal::Number(number) => numbers.push(number.get()),
            Literal::Integer(integer) => {
                all.extend([-1, 0, 1].map(|by| Some(Value::integer(integer.saturating_add(by)))));
            }
            Literal::Null | Literal::Bool(_) => {}
        }
    }
    numbers.sort_by(f64::total_cmp);
    let between: Vec<f64> = numbers.windows(2).map(|pair| f64::midpoint(pair[0], pair[1])).collect();
    let (least, most) = (numbers[0] - 1.0, numbers[numbers.len() - 1] + 1.0);
    all.extend(numbers.into_iter().chain(between).chain([least, most]).map(|n| Some(Value::Number(n))));
    all.into_iter().map(one).collect()
}

fn text(text: &str) -> Value<'static> {
    Value::Text(text.to_owned().into())
}

/// A few fields with their values.
struct Few<'a>(Vec<(&'a str, Option<Value<'static>>)>);

impl Record for Few<'_> {
    fn field(&self, name: &str) -> Option<Value<'_>> {
        self.0.iter().find(|(field, _)| name == *field).and_then(|(_, value)| value.clone())
    }

    fn call(&self, name: &str, arguments: &[Value<'_>]) -> Option<bool> {
        match (name, arguments) {
            ("defined", [_]) => Some(true),
            ("one_of", [value, choices @ ..]) => Some(choices.contains(value)),
            _ => None,
        }
    }
}

/// A formula of the causal past as one about a single moment of its owner, where some lifelines do nothing: what speaks of
/// the past or of what others have seen is a proposition of its own, and every field tells whose it is.
pub(super) fn moment(
    from: &Formulas,
    formula: Formula,
    (owner, without): (&str, &[&'static str]),
    into: &mut Formulas,
) -> Formula {
    let mut made: HashMap<Formula, Formula> = HashMap::new();
    for part in from.subformulas(formula) {
        let of = |f: &Formula| made[f];
        let whole = match from.node(part) {
            Node::True => into.truth(),
            Node::False => into.falsity(),
            Node::Atom(atom) => {
                let atom = owned(from.atom(*atom), owner);
                into.atomic(atom)
            }
            Node::Not(a) => {
                let a = of(a);
                into.not(a)
            }
            Node::And(all) => {
                let all: Vec<Formula> = all.iter().map(of).collect();
                into.and(all)
            }
            Node::Or(all) => {
                let all: Vec<Formula> = all.iter().map(of).collect();
                into.or(all)
            }
            Node::Binary(operator @ (Binary::Implies | Binary::Iff), [a, b]) => {
                let (a, b) = (of(a), of(b));
                into.binary(*operator, a, b)
            }
            Node::Causal(_, lifeline, _) | Node::Seen(lifeline) if without.contains(&&**lifeline) => into.falsity(),
            _ => into.name(&format!("{owner}: {}", from.text(part))),
        };
        made.insert(part, whole);
    }
    made[&formula]
}

/// How a field of a lifeline is called where all of them are looked at together. That of the event itself, by which a
/// rule says when it is asked, keeps its name.
fn field_at(lifeline: &str, field: &str) -> String {
    if matches!(field, "name" | "lifeline") { field.to_owned() } else { format!("{field} of {lifeline}") }
}

fn owned(atom: &Atom, owner: &str) -> Atom {
    match atom {
        Atom::Name(name) => Atom::Name(field_at(owner, name).into()),
        Atom::Compare(comparison, a, b) => Atom::Compare(*comparison, owned_term(a, owner), owned_term(b, owner)),
        Atom::Call(name, terms) => Atom::Call(name.clone(), terms.iter().map(|t| owned_term(t, owner)).collect()),
        Atom::Quantity(term) => Atom::Quantity(owned_term(term, owner)),
        Atom::Quantified(quantifier, path, test) => {
            let test = match test {
                ValueTest::Compare(comparison, term) => ValueTest::Compare(*comparison, owned_term(term, owner)),
                ValueTest::Call(name, terms) => {
                    ValueTest::Call(name.clone(), terms.iter().map(|t| owned_term(t, owner)).collect())
                }
            };
            Atom::Quantified(*quantifier, owned_term(path, owner), test)
        }
        Atom::Label { .. } => atom.clone(),
    }
}

fn owned_term(term: &Term, owner: &str) -> Term {
    match term {
        Term::Field(name) => Term::Field(field_at(owner, name).into()),
        // The name of another's latest event is not that of this one.
        Term::FieldAt(lifeline, name) => Term::Field(format!("{name} of {lifeline}").into()),
        Term::Literal(_) => term.clone(),
        Term::Negate(a) => Term::Negate(Box::new(owned_term(a, owner))),
        Term::Arithmetic(operator, a, b) => {
            Term::Arithmetic(*operator, Box::new(owned_term(a, owner)), Box::new(owned_term(b, owner)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn over_events(text: &str) -> Option<bool> {
        let mut formulas = Formulas::new();
        let formula = formulas.parse(text).unwrap();
        possible(&mut formulas, &[formula], Journals::EVENTS)
    }

    #[test]
    fn what_no_journal_satisfies_is_told_from_what_some_do() {
        for text in [
            "false",
            "F (name = \"routed\" & name = \"restored\")",
            "F rev < 0 & G rev >= 0",
            "F (rev = 2 & rev > 2.5)",
            "F name = \"approved\"",
            "F (name = \"check_finished\" & row = \"approved\")",
            "F tool_call:Bash",
            "F (tool_call:Read & name = \"routed\")",
            "G (name = \"routed\" -> X name = \"routed\") & F name = \"routed\"",
            "F (candidate > 1 & !defined(candidate))",
            "F (lifeline = \"reviewer\")",
            "F (lifeline = \"review\" & name = \"check_finished\")",
            "F (lifeline != \"run\" & name = \"run_finished\")",
        ] {
            assert_eq!(over_events(text), Some(false), "{text}");
        }
        for text in [
            "true",
            "G !tool_call:Bash",
            "F (name = \"routed\" & row = \"approved\")",
            "F (rev > 2 & rev < 3)",
            "F (name = \"answer_received\" & tool_call:Read & text_contains:\"x\")",
            "F (outcome != \"approved\") & F outcome = \"approved\"",
            "F why < \"m\" & F why > \"m\"",
            "F (outcome.statistics.distinct + 1 < 0)",
            "F contains(why, \"a\")",
            "F (candidate = 9007199254740993)",
        ] {
            assert_eq!(over_events(text), Some(true), "{text}");
        }
    }

    #[test]
    fn a_moment_knows_whose_a_field_is_and_leaves_the_past_free() {
        let mut formulas = Formulas::new();
        let mut parse = |text: &str| formulas.parse(text).unwrap();
        let guard = parse("@model_check.says.verdict = \"holds\" & says.unread = 0");
        let same = parse("@model_check.says.verdict = \"violated\"");
        let other = parse("says.unread < 1 & @model_check(O name = \"routed\") & !(Y true)");
        let mut into = Formulas::new();
        let [guard, same, other] = [guard, same, other].map(|f| moment(&formulas, f, ("review", &[]), &mut into));
        assert_eq!(possible(&mut into, &[guard, same], Journals::moments_of("review")), Some(false));
        assert_eq!(possible(&mut into, &[guard, other], Journals::moments_of("review")), Some(true));
    }
}
