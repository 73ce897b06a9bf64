//! Whether any run can satisfy formulas: decided on their complete automaton, with what is known of their atoms.
//!
//! Atoms are not independent letters: a field has one value at a time, and an event has one of the known names and is of
//! a lifeline that can have it. Other relations between atoms (sums, two fields compared, which event carries which
//! field) are ignored. So the answer "no" is certain, and "yes" can be too generous.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::pipeline::policy::vocabulary::{event_names, has_field, lifelines_with_event};
use crate::temporal::{
    Atom, AtomId, Binary, Comparison, Dfa, Formula, Formulas, Limits, Literal, Node, Record, Term, Unary, Value,
    ValueTest,
};

/// Larger automata are not built: then nothing is decided.
const LIMITS: Limits = Limits { states: 20_000, nodes: 400_000 };
/// The relation between more atoms than this about one field is ignored: the letters of an automaton are all
/// combinations of atoms.
const MAX_ATOMS_OF_FIELD: usize = 24;

/// What the atoms of a formula are about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scene<'a> {
    /// The events of a journal, one after the other.
    Events,
    /// One moment of this lifeline: a field has the value that the lifeline gave it last, in whichever event.
    MomentOf(&'a str),
}

/// Whether some journal, or some moment in one, satisfies all of these formulas; `None` if that is not decided.
pub(super) fn is_possible(formulas: &mut Formulas, all: &[Formula], scene: Scene<'_>) -> Option<bool> {
    let together = formulas.and(all.iter().copied());
    let known = relations_of_atoms(formulas, together, scene);
    let together = formulas.and([together, known]);
    let dfa = Dfa::build(formulas, together, LIMITS).ok()?;
    // The empty trace is not a journal, so the search starts after the first event.
    let starts = dfa.successors(Dfa::INITIAL);
    Some(starts.into_iter().any(|state| dfa.distance_to_accepting(state).is_some()))
}

/// What holds of the atoms at every position of every journal.
fn relations_of_atoms(formulas: &mut Formulas, formula: Formula, scene: Scene<'_>) -> Formula {
    let mut by_field: BTreeMap<String, Vec<AtomId>> = BTreeMap::new();
    for id in formulas.atoms_of(formula) {
        if let Some(field) = field_of(formulas.atom(id)) {
            // The name of an event and its lifeline depend on each other, so their atoms are looked at together.
            let field = if field == "lifeline" { "name" } else { field };
            by_field.entry(field.to_owned()).or_default().push(id);
        }
    }
    let mut always = Vec::new();
    for (field, mut atoms) in by_field {
        let Some(texts) = texts_for_predicates(formulas, &atoms).or_else(|| {
            // Then what a text contains is taken as independent of the rest.
            let is_predicate = |atom: &Atom| matches!(atom, Atom::Call(call, _) if TEXT_PREDICATES.contains(&&**call));
            atoms.retain(|atom| !is_predicate(formulas.atom(*atom)));
            Some(Vec::new())
        }) else {
            continue;
        };
        if atoms.len() > MAX_ATOMS_OF_FIELD {
            continue;
        }
        let letters: BTreeSet<Vec<bool>> = representatives(formulas, &field, &atoms, scene, &texts)
            .into_iter()
            .map(|record| atoms.iter().map(|atom| formulas.atom(*atom).holds(&record)).collect())
            .collect();
        let letters: Vec<Formula> = letters.into_iter().map(|holds| letter(formulas, &atoms, &holds)).collect();
        always.push(formulas.or(letters));
    }
    let always = formulas.and(always);
    formulas.unary(Unary::Globally, always)
}

/// The conjunction that says of each atom whether it holds.
fn letter(formulas: &mut Formulas, atoms: &[AtomId], holds: &[bool]) -> Formula {
    let mut literals = Vec::new();
    for (atom, holds) in atoms.iter().zip(holds) {
        let atom = formulas.atom(*atom).clone();
        let atom = formulas.atomic(atom);
        literals.push(if *holds { atom } else { formulas.not(atom) });
    }
    formulas.and(literals)
}

/// What an atom is about: its field, or the label itself. Atoms about different things do not exclude each other.
pub(super) fn topic_of(formulas: &Formulas, atom: AtomId) -> String {
    let atom = formulas.atom(atom);
    match field_of(atom) {
        Some("lifeline") => "name".to_owned(),
        Some(field) => field.to_owned(),
        None => formulas.atom_text(atom),
    }
}

/// The predicates that look into a text.
const TEXT_PREDICATES: [&str; 3] = ["contains", "starts_with", "ends_with"];
/// The relation between more predicates on the text of one field is ignored.
const MAX_TEXTS: usize = 4096;

/// The field whose value alone decides an atom, if there is one.
fn field_of(atom: &Atom) -> Option<&str> {
    match atom {
        Atom::Name(name) => Some(name),
        Atom::Compare(_, Term::Field(name), Term::Literal(_))
        | Atom::Compare(_, Term::Literal(_), Term::Field(name)) => Some(name),
        Atom::Call(call, terms) if matches!(&**call, "defined" | "one_of") => match terms.split_first()? {
            (Term::Field(name), rest) if rest.iter().all(|t| matches!(t, Term::Literal(_))) => Some(name),
            _ => None,
        },
        Atom::Call(call, terms) if TEXT_PREDICATES.contains(&&**call) => match &**terms {
            [Term::Field(name), Term::Literal(Literal::Text(_))] => Some(name),
            _ => None,
        },
        _ => None,
    }
}

/// Texts for every combination of truth values that the predicates of a field on texts can have; `None` if there are too
/// many, or if texts are also compared by their order, which depends on what a text contains.
fn texts_for_predicates(formulas: &Formulas, atoms: &[AtomId]) -> Option<Vec<String>> {
    let mut parts: [BTreeSet<&str>; 3] = Default::default();
    let mut is_ordered = false;
    for atom in atoms.iter().map(|atom| formulas.atom(*atom)) {
        match atom {
            Atom::Call(call, terms) => {
                if let (Some(kind), [_, Term::Literal(Literal::Text(text))]) =
                    (TEXT_PREDICATES.iter().position(|name| **name == **call), &**terms)
                {
                    parts[kind].insert(text);
                }
            }
            Atom::Compare(comparison, a, b) if !matches!(comparison, Comparison::Equal | Comparison::NotEqual) => {
                is_ordered |= [a, b].iter().any(|term| matches!(term, Term::Literal(Literal::Text(_))));
            }
            _ => {}
        }
    }
    let [inner, starts, ends] = parts;
    if inner.is_empty() && starts.is_empty() && ends.is_empty() {
        return Some(Vec::new());
    }
    let subsets = 1_usize.checked_shl(u32::try_from(inner.len()).ok()?).filter(|count| *count <= MAX_TEXTS)?;
    if is_ordered || subsets * (starts.len() + 1) * (ends.len() + 1) > MAX_TEXTS {
        return None;
    }
    let literals = atoms.iter().flat_map(|atom| formulas.atom(*atom).terms());
    let used: String = literals
        .filter_map(|term| if let Term::Literal(Literal::Text(text)) = term { Some(&**text) } else { None })
        .collect();
    // A character that no literal has keeps the parts from making up another one.
    let apart = ('\u{1}'..=char::MAX).find(|c| !used.contains(*c))?;
    let mut all = Vec::new();
    for start in starts.iter().map(|text| Some(*text)).chain([None]) {
        for end in ends.iter().map(|text| Some(*text)).chain([None]) {
            for subset in 0..subsets {
                let inner = inner.iter().enumerate().filter(|(at, _)| subset >> at & 1 == 1).map(|(_, text)| *text);
                let mut text = start.unwrap_or_default().to_owned();
                text.push(apart);
                for part in inner {
                    text.push_str(part);
                    text.push(apart);
                }
                all.push(text + end.unwrap_or_default());
            }
        }
    }
    Some(all)
}

/// Records that hold one field each, with a value for every combination of truth values that the atoms can have.
fn representatives<'a>(
    formulas: &Formulas,
    field: &'a str,
    atoms: &[AtomId],
    scene: Scene<'_>,
    texts: &[String],
) -> Vec<FewFields<'a>> {
    if field == "name" {
        let events = event_names().flat_map(|event| lifelines_with_event(event).map(move |lifeline| (event, lifeline)));
        let events = events.filter(|(_, lifeline)| match scene {
            Scene::Events => true,
            Scene::MomentOf(owner) => *lifeline == owner,
        });
        let record = |(event, lifeline)| vec![("name", Some(text(event))), ("lifeline", Some(text(lifeline)))];
        return events.map(record).map(FewFields).collect();
    }
    let one = |value| FewFields(vec![(field, value)]);
    if let (Scene::MomentOf(_), Some((name, lifeline))) = (scene, field.rsplit_once(" of "))
        && !has_field(lifeline, name)
    {
        return vec![one(None)];
    }
    let mut all = vec![None, Some(Value::Null), Some(Value::Bool(true)), Some(Value::Bool(false)), Some(text(""))];
    all.extend(texts.iter().map(|value| Some(text(value))));
    let mut numbers = vec![0.0];
    let terms = atoms.iter().flat_map(|atom| formulas.atom(*atom).terms());
    for literal in terms.filter_map(|term| if let Term::Literal(literal) = term { Some(literal) } else { None }) {
        match literal {
            // The text itself, and the next larger one, which stands for all texts up to the next literal.
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

struct FewFields<'a>(Vec<(&'a str, Option<Value<'static>>)>);

impl Record for FewFields<'_> {
    fn field(&self, name: &str) -> Option<Value<'_>> {
        self.0.iter().find(|(field, _)| name == *field).and_then(|(_, value)| value.clone())
    }

    fn call(&self, name: &str, arguments: &[Value<'_>]) -> Option<bool> {
        match (name, arguments) {
            ("defined", [_]) => Some(true),
            ("one_of", [value, choices @ ..]) => Some(choices.contains(value)),
            ("contains", [Value::Text(text), Value::Text(part)]) => Some(text.contains(part.as_ref())),
            ("starts_with", [Value::Text(text), Value::Text(part)]) => Some(text.starts_with(part.as_ref())),
            ("ends_with", [Value::Text(text), Value::Text(part)]) => Some(text.ends_with(part.as_ref())),
            _ => None,
        }
    }
}

/// A formula of the causal past as a formula about one moment of its owner. What speaks of the past or of what others
/// have seen becomes a proposition of its own, and every field is named together with its lifeline.
pub(super) fn at_moment(from: &Formulas, formula: Formula, owner: &str, into: &mut Formulas) -> Formula {
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
            _ => into.name(&format!("{owner}: {}", from.text(part))),
        };
        made.insert(part, whole);
    }
    made[&formula]
}

/// The name of a lifeline's field among the fields of all lifelines. The name and the lifeline of the event itself, by
/// which a rule says when it is evaluated, keep their names.
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
        is_possible(&mut formulas, &[formula], Scene::Events)
    }

    #[test]
    fn possible_formulas_are_told_from_impossible_ones() {
        for text in [
            "false",
            "F (name = \"routed\" & name = \"claims_restored\")",
            "F rev < 0 & G rev >= 0",
            "F (rev = 2 & rev > 2.5)",
            "F name = \"approved\"",
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

    /// Whether some trace of at most four of these values satisfies a formula: by trying all of them.
    fn is_possible_by_trial(formulas: &Formulas, formula: Formula, values: &[Option<Value<'static>>]) -> bool {
        // Values of which every atom says the same are tried once.
        let atoms = formulas.atoms_of(formula);
        let truth = |record: &FewFields<'_>| -> Vec<bool> {
            atoms.iter().map(|atom| formulas.atom(*atom).holds(record)).collect()
        };
        let records: BTreeMap<Vec<bool>, FewFields<'_>> = values
            .iter()
            .map(|value| FewFields(vec![("why", value.clone())]))
            .map(|record| (truth(&record), record))
            .collect();
        let records: Vec<FewFields<'_>> = records.into_values().collect();
        let mut traces: Vec<Vec<usize>> = vec![Vec::new()];
        for _ in 0..4 {
            traces = traces
                .iter()
                .flat_map(|trace| (0..records.len()).map(move |next| [&trace[..], &[next]].concat()))
                .collect();
            let satisfies = |trace: &Vec<usize>| {
                let mut labels = crate::temporal::Labels::new(formulas, &[formula]);
                for at in trace {
                    labels.push(formulas, &records[*at]);
                }
                crate::temporal::check_trace(formulas, formula, &labels).unwrap().holds()
            };
            if traces.iter().any(satisfies) {
                return true;
            }
        }
        false
    }

    #[test]
    fn literals_over_one_field_are_decided_as_by_trying_all_small_traces() {
        let literals = [
            "why = \"a\"",
            "why != \"a\"",
            "why = \"ab\"",
            "why != \"c\"",
            "one_of(why, \"a\", \"c\")",
            "contains(why, \"a\")",
            "contains(why, \"b\")",
            "starts_with(why, \"a\")",
            "ends_with(why, \"b\")",
            "why < 2",
            "why >= 2",
            "why = 1",
            "defined(why)",
        ];
        // All texts of up to three letters, of which the literals have all but `d`; each number, and one below, between and
        // above them.
        let mut texts = vec![String::new()];
        for from in [0, 1, 5] {
            let longer = |text: &String| ["a", "b", "c", "d"].map(|letter| text.clone() + letter);
            texts.extend(texts[from..].iter().flat_map(longer).collect::<Vec<_>>());
        }
        assert_eq!(texts.len(), 85);
        let texts = texts.iter().map(|value| Some(text(value)));
        let numbers = [0.0, 1.0, 1.5, 2.0, 3.0].map(|number| Some(Value::Number(number)));
        let others = [Some(Value::Null), Some(Value::Bool(true)), Some(Value::Bool(false)), None];
        let values: Vec<_> = texts.into_iter().chain(numbers).chain(others).collect();
        let count = if std::env::var_os("TLAFORGE_CAMPAIGN").is_some() { 5_000 } else { 250 };
        let mut rng = fastrand::Rng::with_seed(46);
        let (mut yes, mut no) = (0, 0);
        for _ in 0..count {
            let literal = |rng: &mut fastrand::Rng| {
                let literal = *rng.choice(&literals).unwrap();
                if rng.bool() { literal.to_owned() } else { format!("!({literal})") }
            };
            let part = |rng: &mut fastrand::Rng| {
                let (a, b) = (literal(rng), literal(rng));
                match rng.u8(..6) {
                    0 | 1 => format!("G {a}"),
                    2 => format!("F ({a} & {b})"),
                    3 => format!("X {a}"),
                    4 => format!("({a} U {b})"),
                    _ => format!("F {a}"),
                }
            };
            let whole = (0..rng.usize(2..4)).map(|_| part(&mut rng)).collect::<Vec<_>>().join(" & ");
            let mut formulas = Formulas::new();
            let formula = formulas.parse(&whole).unwrap();
            let expected = is_possible_by_trial(&formulas, formula, &values);
            assert_eq!(is_possible(&mut formulas, &[formula], Scene::Events), Some(expected), "{whole}");
            (yes, no) = (yes + u32::from(expected), no + u32::from(!expected));
        }
        assert!(yes > 20 && no > 20, "{yes} possible, {no} impossible");
    }

    #[test]
    fn a_moment_has_the_fields_of_each_lifeline_and_any_past() {
        let mut formulas = Formulas::new();
        let mut parse = |text: &str| formulas.parse(text).unwrap();
        let guard = parse("@model_check.claims.verdict = \"holds\" & claims.unread = 0");
        let same = parse("@model_check.claims.verdict = \"violated\"");
        let other = parse("claims.unread < 1 & @model_check(O name = \"routed\") & !(Y true)");
        let mut into = Formulas::new();
        let [guard, same, other] = [guard, same, other].map(|f| at_moment(&formulas, f, "review", &mut into));
        assert_eq!(is_possible(&mut into, &[guard, same], Scene::MomentOf("review")), Some(false));
        assert_eq!(is_possible(&mut into, &[guard, other], Scene::MomentOf("review")), Some(true));
    }
}
