//! The finite-trace reading: the conformance rows, a naive oracle by the definitions, when a violation was decided against
//! all continuations, and what is said of a violation. 1,000,000 random pairs in the campaign, a tenth here.

use std::collections::BTreeMap;
use std::time::Instant;

use crate::temporal_random::{Bits, FINITE, Grammar, formula, trace};
use fastrand::Rng;
use serde_json::Value as Json;
use tlaforge_temporal::{
    Atom, Binary, DecisionPoint, Fact, Formula, Formulas, Labels, Node, Reading, Record, Schema, TraceCheck, Unary,
    UnsupportedError, Value, check_trace, eval_all_positions,
};

fn campaign(count: u64, otherwise: u64) -> u64 {
    if std::env::var_os("TLAFORGE_CAMPAIGN").is_some() { count } else { otherwise }
}

/// A position of the conformance rows: true propositions, or a turn of an agent.
struct Turn(Json);

impl Record for Turn {
    fn field(&self, name: &str) -> Option<Value<'_>> {
        self.0.as_array().map(|names| Value::Bool(names.iter().any(|n| n == name)))
    }

    fn label(&self, kind: &str, text: &str) -> Option<bool> {
        let string = |field: &str| self.0[field].as_str().unwrap_or_default();
        Some(match kind {
            "tool_call" => self.0["tools"].as_array().is_some_and(|tools| tools.iter().any(|t| t == text)),
            "stop_reason" => string("stop") == text,
            "text_contains" => string("text").contains(text),
            "extra" => text.split_once('=').is_some_and(|(key, wanted)| match &self.0["extra"][key] {
                Json::Null => wanted.is_empty(),
                Json::String(value) => value == wanted,
                other => *other.to_string() == *wanted,
            }),
            _ => return None,
        })
    }
}

fn schema() -> Schema {
    let all = |names: &[&str]| names.iter().map(ToString::to_string).collect();
    Schema {
        fields: Some(all(&["a", "b", "c", "Ga"])),
        labels: all(&["tool_call", "stop_reason", "text_contains", "extra"]),
        ..Schema::default()
    }
}

fn read(formulas: &mut Formulas, text: &str) -> Result<Formula, String> {
    let formula = formulas.parse(text).map_err(|e| format!("parse error: {e}"))?;
    formulas.check_schema(formula, &schema()).map_err(|e| e.to_string())?;
    Ok(formula)
}

#[test]
fn every_row_of_the_conformance_table_holds() {
    let table: Json = serde_json::from_str(include_str!("../data/ltlf.json")).unwrap();
    let mut errors = BTreeMap::<&str, usize>::new();
    let rows = table["rows"].as_array().unwrap();
    for row in rows {
        let (id, text, expect) = (&row["id"], row["formula"].as_str().unwrap(), &row["expect"]);
        let mut formulas = Formulas::new();
        let found = read(&mut formulas, text);
        if let Some(error) = expect["error"].as_str() {
            let message = found.expect_err(&format!("{id}: `{text}` is refused"));
            let words: &[&str] = match error {
                "parse error" => &["parse error"],
                "unknown atom (closed schema)" => &["unknown atom"],
                "the name needs quoting" | "unknown atom b; the name needs quoting" => &["the name", "needs quoting"],
                "empty name" | "empty text" => &[error],
                _ => panic!("{id}: an error of a new kind: {error}"),
            };
            assert!(words.iter().all(|word| message.contains(word)), "{id}: {error}: {message}");
            *errors.entry(error).or_default() += 1;
            continue;
        }
        let formula = found.unwrap_or_else(|e| panic!("{id}: {e}"));
        let records: Vec<Turn> = row["trace"].as_array().unwrap().iter().cloned().map(Turn).collect();
        let labels = Labels::from_records(&formulas, &[formula], records.iter());
        let column = eval_all_positions(&formulas, formula, &labels).unwrap();
        let values: Vec<bool> = (0..=records.len()).map(|i| column.holds_at(i)).collect();
        assert_eq!(serde_json::json!(values), expect["holds_at"], "{id}: {text}");
        // Where the recorded values are those expected, so is the list of failing suffixes.
        let check = check_trace(&formulas, formula, &labels).unwrap();
        if row["holds_at"] == expect["holds_at"] && !records.is_empty() {
            assert_eq!(
                serde_json::json!(check.failing_positions().collect::<Vec<_>>()),
                row["check_trace_violations"],
                "{id}"
            );
        }
        assert_eq!(check.failing_count(), check.failing_positions().count());
    }
    println!("{} rows, of which refused: {errors:?}", rows.len());
}

/// The meaning of each operator, word for word, with what was found already.
struct Oracle<'a> {
    formulas: &'a Formulas,
    trace: &'a [Bits],
    known: Vec<Option<bool>>,
}

impl<'a> Oracle<'a> {
    fn new(formulas: &'a Formulas, trace: &'a [Bits]) -> Self {
        Self { formulas, trace, known: vec![None; formulas.len() * (trace.len() + 1)] }
    }

    fn holds(&mut self, formula: Formula, i: usize) -> bool {
        let at = formula.index() * (self.trace.len() + 1) + i;
        if let Some(known) = self.known[at] {
            return known;
        }
        let value = self.meaning(formula, i);
        self.known[at] = Some(value);
        value
    }

    fn meaning(&mut self, formula: Formula, i: usize) -> bool {
        let n = self.trace.len();
        match self.formulas.node(formula).clone() {
            Node::True => true,
            Node::False => false,
            Node::Atom(atom) => i < n && self.formulas.atom(atom).holds(&self.trace[i]),
            Node::Not(a) => !self.holds(a, i),
            Node::And(all) => all.iter().all(|a| self.holds(*a, i)),
            Node::Or(all) => all.iter().any(|a| self.holds(*a, i)),
            Node::Unary(operator, a) => match operator {
                Unary::Next => i + 1 < n && self.holds(a, i + 1),
                Unary::WeakNext => i + 1 >= n || self.holds(a, i + 1),
                Unary::Globally => (i..n).all(|j| self.holds(a, j)),
                Unary::Finally => (i..n).any(|j| self.holds(a, j)),
                Unary::Yesterday => i > 0 && self.holds(a, i - 1),
                Unary::Once => (0..n.min(i + 1)).any(|j| self.holds(a, j)),
                Unary::Historically => (0..n.min(i + 1)).all(|j| self.holds(a, j)),
                Unary::Past => unreachable!(),
            },
            Node::Binary(operator, [l, r]) => {
                let until = |o: &mut Self, l, r| (i..n).any(|j| o.holds(r, j) && (i..j).all(|k| o.holds(l, k)));
                let both = |o: &mut Self| (i..n).any(|j| o.holds(l, j) && (i..=j).all(|k| o.holds(r, k)));
                match operator {
                    Binary::Implies => !self.holds(l, i) || self.holds(r, i),
                    Binary::Iff => self.holds(l, i) == self.holds(r, i),
                    Binary::Until => until(self, l, r),
                    Binary::WeakUntil => until(self, l, r) || (i..n).all(|j| self.holds(l, j)),
                    Binary::StrongRelease => both(self),
                    Binary::Release => both(self) || (i..n).all(|j| self.holds(r, j)),
                    Binary::Since => {
                        let last = n.min(i + 1);
                        (0..last).any(|j| self.holds(r, j) && (j + 1..last).all(|k| self.holds(l, k)))
                    }
                }
            }
            Node::Causal(..) | Node::Seen(_) => unreachable!(),
        }
    }
}

fn length(rng: &mut Rng) -> usize {
    match rng.u8(..100) {
        0 => rng.usize(..260),
        1..6 => [63, 64, 65, 127, 128, 129][rng.usize(..6)],
        6..16 => rng.usize(..70),
        _ => rng.usize(..9),
    }
}

#[test]
fn random_formulas_agree_with_the_definitions_at_every_position() {
    let (count, began) = (campaign(1_000_000, 100_000), Instant::now());
    let (mut positions, mut longest) = (0, 0);
    for seed in 0..count {
        let mut rng = Rng::with_seed(seed);
        let mut formulas = Formulas::new();
        let depth = rng.usize(1..6);
        let grammar = Grammar { past: rng.u8(..4) > 0, ..FINITE };
        let formula = formula(&mut rng, &mut formulas, grammar, depth);
        let length = length(&mut rng);
        let trace = trace(&mut rng, 3, length);
        let labels = Labels::from_records(&formulas, &[formula], &trace);
        let column = eval_all_positions(&formulas, formula, &labels).unwrap();
        let mut oracle = Oracle::new(&formulas, &trace);
        for i in 0..=length {
            let expected = oracle.holds(formula, i);
            assert_eq!(column.holds_at(i), expected, "seed {seed}: {} at {i} of {trace:?}", formulas.text(formula));
        }
        let failing: Vec<usize> = (0..length).filter(|i| !column.holds_at(*i)).collect();
        assert_eq!(column.failing_positions().collect::<Vec<_>>(), failing, "seed {seed}");
        assert_eq!(column.failing_count(), failing.len(), "seed {seed}");
        (positions, longest) = (positions + length + 1, longest.max(formulas.len()));
    }
    println!("{count} pairs, {positions} positions, up to {longest} nodes, {:.1} s", began.elapsed().as_secs_f64());
}

fn check(formulas: &Formulas, formula: Formula, trace: &[Bits]) -> TraceCheck {
    check_trace(formulas, formula, &Labels::from_records(formulas, &[formula], trace)).unwrap()
}

/// Whether some continuation, of at most `more` records, gives the other verdict.
fn some_continuation_changes_verdict(
    formulas: &Formulas,
    formula: Formula,
    names: u8,
    prefix: &mut Vec<Bits>,
    verdict: bool,
    more: usize,
) -> bool {
    let labels = Labels::from_records(formulas, &[formula], prefix.iter());
    if eval_all_positions(formulas, formula, &labels).unwrap().verdict() != verdict {
        return true;
    }
    more > 0
        && (0..1 << names).any(|letter| {
            prefix.push(Bits(letter));
            let found = some_continuation_changes_verdict(formulas, formula, names, prefix, verdict, more - 1);
            prefix.pop();
            found
        })
}

#[test]
fn the_decision_point_is_the_first_record_after_which_no_continuation_changes_the_verdict() {
    let (count, began) = (campaign(30_000, 3_000), Instant::now());
    let (mut exact, mut kinds) = (0, BTreeMap::<&str, u64>::new());
    for seed in 0..count {
        let mut rng = Rng::with_seed(seed);
        let mut formulas = Formulas::new();
        let grammar = Grammar { past: rng.u8(..4) == 0, names: 2, ..FINITE };
        let formula = formula(&mut rng, &mut formulas, grammar, 3);
        let length = rng.usize(..7);
        let trace = trace(&mut rng, 2, length);
        let check = check(&formulas, formula, &trace);
        let told = format!("seed {seed}: {} on {trace:?}: {:?}", formulas.text(formula), check.decision);
        let (kind, decided_after) = match check.decision {
            DecisionPoint::FromTheStart => ("from the start", Some(0)),
            DecisionPoint::ByRecord(position) => ("by a record", Some(position + 1)),
            DecisionPoint::ByTheEnd => ("by the end", None),
        };
        if let Some(after) = decided_after {
            assert!(
                !some_continuation_changes_verdict(
                    &formulas,
                    formula,
                    2,
                    &mut trace[..after].to_vec(),
                    check.holds(),
                    4
                ),
                "{told} too early"
            );
        }
        // Nothing is open before the first record.
        let before = decided_after.map_or(length, |after| after.saturating_sub(1));
        if check.decision_is_exact && decided_after != Some(0) {
            assert!(
                some_continuation_changes_verdict(
                    &formulas,
                    formula,
                    2,
                    &mut trace[..before].to_vec(),
                    check.holds(),
                    5
                ),
                "{told} too late"
            );
        }
        *kinds.entry(kind).or_default() += 1;
        exact += u64::from(check.decision_is_exact);
    }
    println!("{count} verdicts, {exact} decided exactly, {kinds:?}, {:.1} s", began.elapsed().as_secs_f64());
}

#[test]
fn every_reason_for_a_violation_is_true_of_the_trace() {
    let (count, began) = (campaign(200_000, 20_000), Instant::now());
    let mut reasons = 0;
    for seed in 0..count {
        let mut rng = Rng::with_seed(seed);
        let mut formulas = Formulas::new();
        let formula = formula(&mut rng, &mut formulas, FINITE, 4);
        let length = length(&mut rng).min(80);
        let trace = trace(&mut rng, 3, length);
        let check = check(&formulas, formula, &trace);
        let Some(explanation) = &check.explanation else {
            assert!(check.holds());
            continue;
        };
        assert!(!check.holds() && !explanation.reasons.is_empty());
        assert!(!explanation.text(&formulas).is_empty());
        let mut oracle = Oracle::new(&formulas, &trace);
        for reason in &explanation.reasons {
            let mut holds = |i| oracle.holds(reason.formula, i);
            let is_so = match reason.fact {
                Fact::Holds(i) => holds(i),
                Fact::Fails(i) => !holds(i),
                Fact::AlwaysFrom(i) => (i..length).all(holds),
                Fact::NeverFrom(i) => !(i..length).any(holds),
                Fact::NeverWithin(i, j) => !(i..=j).any(holds),
                Fact::AlwaysWithin(i, j) => (i..=j).all(holds),
                Fact::AlwaysTo(i) => (0..=i).all(holds),
                Fact::NeverTo(i) => !(0..=i).any(holds),
                Fact::NoNext(i) => i + 1 == length,
                Fact::NoPrevious => true,
                Fact::NoRecord => length == 0,
            };
            assert!(is_so, "seed {seed}: {} on {trace:?}: {reason:?}", formulas.text(formula));
            reasons += 1;
        }
    }
    println!("{reasons} reasons in {count} pairs, {:.1} s", began.elapsed().as_secs_f64());
}

/// A trace in letters: `ab - b` has three records.
fn explain_violation(formula: &str, trace: &str) -> (Option<usize>, DecisionPoint, bool, String) {
    let mut formulas = Formulas::new();
    let formula = formulas.parse(formula).unwrap();
    let records: Vec<Bits> = trace
        .split_whitespace()
        .map(|names| Bits(names.bytes().filter(|c| *c != b'-').fold(0, |bits, c| bits | 1 << (c - b'a'))))
        .collect();
    let check = check(&formulas, formula, &records);
    let why = check.explanation.as_ref().map(|e| e.text(&formulas)).unwrap_or_default();
    (check.violation_position(), check.decision, check.decision_is_exact, why)
}

#[test]
fn violations_have_a_position_and_an_explanation() {
    use DecisionPoint::{ByRecord, ByTheEnd, FromTheStart};
    for (formula, trace, position, decided, exact, why) in [
        ("G !a", "b a b", 1, ByRecord(1), true, "at 1 `a` holds"),
        ("G !a", "a b a", 0, ByRecord(0), true, "at 0 `a` holds"),
        ("G (a -> F b)", "- a b a -", 5, ByTheEnd, true, "at 3 `a` holds, and from there on `b` never holds"),
        ("G (a -> X b)", "a b a -", 3, ByRecord(3), true, "at 2 `a` holds, and at 3 `b` does not hold"),
        (
            "G (a -> X b)",
            "a",
            1,
            ByTheEnd,
            true,
            "at 0 `a` holds, and 0 is the last position, and `X b` refers to the next",
        ),
        ("!a W b", "- - a b", 2, ByRecord(2), true, "from 0 to 2 `b` does not hold, and at 2 `a` holds"),
        ("!a U b", "- - -", 3, ByTheEnd, true, "from 0 on `b` never holds"),
        ("G a & F !a", "a a -", 0, FromTheStart, true, "at 2 `a` does not hold"),
        ("X a & X !a", "- -", 0, FromTheStart, true, "at 1 `a` does not hold"),
        ("F a", "", 0, ByTheEnd, true, "the trace is empty, so `F a` does not hold"),
        ("F a & G (a -> N G !a)", "- a - a b", 3, ByRecord(3), true, "at 1 `a` holds, and at 3 `a` holds"),
        ("G (a -> Y O b)", "- b a", 3, ByTheEnd, false, ""),
        ("G (a -> O b)", "- a b", 1, ByRecord(1), false, "at 1 `a` holds, and up to 1 `b` never holds"),
        (
            "G (a -> !b S c)",
            "c bc b a",
            3,
            ByRecord(3),
            false,
            "at 3 `a` holds, and at 1 `c` holds, and at 2 `b` holds",
        ),
        ("O (a & F b)", "a - -", 3, ByTheEnd, false, "up to 0 `a & F b` never holds"),
    ] {
        let (found, by, exactly, said) = explain_violation(formula, trace);
        if why.is_empty() {
            assert_eq!(found, None, "{formula} on {trace}");
            continue;
        }
        assert_eq!((found, by, exactly, &*said), (Some(position), decided, exact, why), "{formula} on {trace}");
    }
}

/// A record of which one field is true.
struct Named(&'static str);

impl Record for Named {
    fn field(&self, name: &str) -> Option<Value<'_>> {
        Some(Value::Bool(self.0 == name))
    }
}

#[test]
fn a_large_conjunction_is_decided_by_its_operands() {
    let mut formulas = Formulas::new();
    let parts: Vec<String> = (0..30).map(|i| format!("G (p{i} -> F q{i})")).collect();
    let formula = formulas.parse(&format!("{} & G !x & (X y & X !y)", parts.join(" & "))).unwrap();
    let labels = Labels::from_records(&formulas, &[formula], ["p1", "q1", "x", "p3"].map(Named));
    let check = check_trace(&formulas, formula, &labels).unwrap();
    assert_eq!((check.decision, check.decision_is_exact), (DecisionPoint::ByRecord(1), false));
    let just_x = formulas.parse(&format!("{} & G !x", parts.join(" & "))).unwrap();
    let check = check_trace(&formulas, just_x, &labels).unwrap();
    assert_eq!((check.violation_position(), check.decision_is_exact), (Some(2), false));
    assert!(check.explanation.unwrap().text(&formulas).starts_with("at 3 `p3` holds, and from there on `q3` never"));
}

#[test]
fn unsupported_operators_and_unlabelled_atoms_are_named_in_the_error() {
    let mut formulas = Formulas::new();
    for (text, operator) in [("F @A(a)", "@"), ("P(a)", "P(…)"), ("Seen@A", "Seen@"), ("@A.x = 3", "@A.…")] {
        let formula = formulas.parse(text).unwrap();
        let labels = Labels::new(&formulas, &[formula]);
        match eval_all_positions(&formulas, formula, &labels) {
            Err(UnsupportedError::Operator { operator: found, .. }) => assert_eq!(found, operator),
            other => panic!("{text}: {other:?}"),
        }
        assert!(check_trace(&formulas, formula, &labels).is_err());
        assert!(formulas.check_reading(formula, Reading::Finite).is_err());
    }
    let (a, b) = (formulas.parse("F a").unwrap(), formulas.parse("F b").unwrap());
    let labels = Labels::new(&formulas, &[a]);
    assert!(eval_all_positions(&formulas, a, &labels).is_ok());
    assert!(matches!(eval_all_positions(&formulas, b, &labels), Err(UnsupportedError::Atom { .. })));
}

#[test]
fn labels_store_one_bit_for_each_atom_and_record() {
    let mut formulas = Formulas::new();
    let formula = formulas.parse("G (a -> F b)").unwrap();
    let mut labels = Labels::new(&formulas, &[formula]);
    let a = formulas.atom_id(Atom::Name("a".into()));
    for i in 0..200 {
        assert_eq!((labels.len(), labels.holds_at(a, i)), (i, Some(false)));
        labels.push_values(|atom| (atom == a) == (i % 3 == 0));
        let column = eval_all_positions(&formulas, formula, &labels).unwrap();
        assert_eq!(column.verdict(), i % 3 != 0, "{i}");
        assert_eq!(labels.holds_at(a, i), Some(i % 3 == 0));
    }
    assert_eq!(labels.atoms().len(), 2);
}

#[test]
fn deep_and_shared_formulas_take_one_sweep_for_each_distinct_subformula() {
    let mut formulas = Formulas::new();
    let a = formulas.name("a");
    let mut deep = a;
    for _ in 0..100_000 {
        deep = formulas.unary(Unary::Next, deep);
    }
    let mut shared = a;
    for _ in 0..60 {
        let next = formulas.unary(Unary::Finally, shared);
        let other = formulas.unary(Unary::Globally, shared);
        shared = formulas.or([next, other]);
    }
    let trace = vec![Bits(1); 500];
    assert!(!check(&formulas, deep, &trace).holds());
    assert!(check(&formulas, shared, &trace).holds());
}
