//! The causal reading: recorded scenarios, random charts against the definitions, branches and loops.

use std::sync::Arc;

use crate::causal_oracle::{Oracle, chart, compiled, predicate};
use fastrand::Rng;
use serde_json::Value as Json;
use tlaforge_monitor::causal_json::{clock_from_json, stamp_from_json, stamp_json};
use tlaforge_temporal::causal::{
    EmptyRecord, Event, EventAction, Exports, GuardError, Guards, Monitor, Tracker, VectorClock,
};
use tlaforge_temporal::{
    Atom, Binary, Causal, Comparison, Formula, Formulas, Literal, Number, Record, Term, Unary, UnsupportedError, Value,
};

fn literal(value: &Json) -> Literal {
    match value {
        Json::Null => Literal::Null,
        Json::Bool(value) => Literal::Bool(*value),
        Json::Number(number) => Literal::Number(Number::new(number.as_f64().unwrap()).unwrap()),
        Json::String(text) => Literal::Text(text.as_str().into()),
        other => panic!("{other}"),
    }
}

fn term(value: &Json) -> Term {
    match value.as_array() {
        None => Term::Literal(literal(value)),
        Some(parts) => match parts[0].as_str().unwrap() {
            "here" => Term::Field(parts[1].as_str().unwrap().into()),
            "atf" => Term::FieldAt(parts[1].as_str().unwrap().into(), parts[2].as_str().unwrap().into()),
            other => panic!("{other}"),
        },
    }
}

/// A row's formula, given as its syntax tree.
fn formula(formulas: &mut Formulas, tree: &Json) -> Formula {
    let comparison = match tree[0].as_str().unwrap() {
        "eq" => Some(Comparison::Equal),
        "ne" => Some(Comparison::NotEqual),
        "lt" => Some(Comparison::Less),
        "le" => Some(Comparison::LessOrEqual),
        "gt" => Some(Comparison::Greater),
        "ge" => Some(Comparison::GreaterOrEqual),
        _ => None,
    };
    if let Some(comparison) = comparison {
        return formulas.atomic(Atom::Compare(comparison, term(&tree[1]), term(&tree[2])));
    }
    let name = |i: usize| tree[i].as_str().unwrap();
    match tree[0].as_str().unwrap() {
        "true" => formulas.truth(),
        "false" => formulas.falsity(),
        "not" => {
            let a = formula(formulas, &tree[1]);
            formulas.not(a)
        }
        "Y" => {
            let a = formula(formulas, &tree[1]);
            formulas.unary(Unary::Yesterday, a)
        }
        "P" => {
            let a = formula(formulas, &tree[1]);
            formulas.unary(Unary::Past, a)
        }
        "at" | "PA" => {
            let a = formula(formulas, &tree[2]);
            formulas.causal(if tree[0] == "at" { Causal::At } else { Causal::PastAt }, name(1), a)
        }
        "seen" => formulas.seen(name(1)),
        "on" => formulas.atomic(Atom::Compare(
            Comparison::Equal,
            Term::Field("lifeline".into()),
            Term::Literal(Literal::Text(name(1).into())),
        )),
        "S" | "and" | "or" => {
            let (a, b) = (formula(formulas, &tree[1]), formula(formulas, &tree[2]));
            match tree[0].as_str().unwrap() {
                "S" => formulas.binary(Binary::Since, a, b),
                "and" => formulas.and([a, b]),
                _ => formulas.or([a, b]),
            }
        }
        other => panic!("{other}"),
    }
}

fn event(row: &Json) -> Event {
    let text = |i: usize| row[i].as_str().unwrap();
    let (event, updates) = match text(0) {
        "act" => (Event::act(text(1)), &row[2]),
        "choice" => (Event::choice(text(1)), &row[2]),
        "send" => (Event::send(text(1), text(2), text(3)), &row[4]),
        "recv" => (Event::recv(text(1), text(2)), &row[3]),
        other => panic!("{other}"),
    };
    let updates = updates.as_object().into_iter().flatten();
    updates.fold(event, |event, (name, value)| event.with(name, literal(value)))
}

#[test]
fn recorded_scenarios_have_their_values_from_tree_and_text() {
    let rows: Json = serde_json::from_str(include_str!("../data/cpl.json")).unwrap();
    let rows = rows["rows"].as_array().unwrap();
    for row in rows {
        let id = row["id"].as_str().unwrap();
        let mut lifelines: Vec<&str> =
            row["lifelines"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
        let mut formulas = Formulas::new();
        let guard = formula(&mut formulas, &row["formula"]);
        let text = formulas.text(guard);
        assert_eq!(formulas.parse(&text).unwrap(), guard, "{id}: {text}");
        let loaded = Guards::new(&formulas, &[guard], &lifelines);
        if id.starts_with("unknown_") {
            let Err(GuardError::Unsupported { why: UnsupportedError::Lifeline { lifeline, known }, .. }) = loaded
            else {
                panic!("{id}");
            };
            assert_eq!((lifeline.as_str(), known.as_str()), ("Z", "A, B"));
            if row["expect"].get("error").is_some() {
                continue;
            }
            // Of a lifeline that exists and never does anything, the value is as recorded.
            lifelines.push("Z");
        }
        let guards = Guards::new(&formulas, &[guard], &lifelines).unwrap();
        let chart = chart(&lifelines, row["events"].as_array().unwrap().iter().map(event));
        let expected: Vec<bool> =
            row["expect"]["value_at_event"].as_array().unwrap().iter().map(|value| value.as_bool().unwrap()).collect();
        let values: Vec<bool> = chart.values(&guards).unwrap().into_iter().map(|guards| guards[0]).collect();
        assert_eq!(values, expected, "{id}: {text}");
        let oracle = Oracle::new(&formulas, &chart);
        let defined: Vec<bool> = (0..chart.events().len()).map(|at| oracle.holds(guard, at)).collect();
        assert_eq!(defined, expected, "{id}: by definition");
        let mut monitor = Monitor::new(&guards);
        for (event, clock) in chart.events().iter().zip(row["vector_clock"].as_array().unwrap()) {
            monitor.on_event(event, &EmptyRecord).unwrap();
            let clock = clock_from_json(guards.lifelines(), clock).unwrap();
            assert_eq!(monitor.clock(&event.lifeline).unwrap(), clock, "{id}");
        }
    }
    println!("{} scenarios", rows.len());
    assert_eq!(rows.len(), 49);
}

/// The application's predicates, and no fields.
struct Predicates;

impl Record for Predicates {
    fn field(&self, _: &str) -> Option<Value<'_>> {
        None
    }

    fn call(&self, name: &str, arguments: &[Value<'_>]) -> Option<bool> {
        let values: Option<Vec<Literal>> = arguments.iter().map(Literal::from_value).collect();
        predicate(name, &values?)
    }
}

fn campaign(full: u64) -> u64 {
    if std::env::var_os("TLAFORGE_CAMPAIGN").is_some() { full } else { full / 10 }
}

#[test]
fn monitor_agrees_with_the_definitions_on_random_charts() {
    let charts = campaign(100_000);
    let (mut events, mut held) = (0u64, 0u64);
    for seed in 0..charts {
        let mut rng = Rng::with_seed(seed);
        let chart = crate::causal_random::chart(&mut rng);
        let mut formulas = Formulas::new();
        let count = rng.usize(1..=3);
        let guards: Vec<Formula> =
            (0..count).map(|_| crate::causal_random::formula(&mut rng, &mut formulas, &chart, 4)).collect();
        let lifelines: Vec<&str> = chart.lifelines().iter().map(|name| &**name).collect();
        let compiled = Guards::new(&formulas, &guards, &lifelines).unwrap();
        let oracle = Oracle::new(&formulas, &chart);
        let mut monitor = Monitor::new(&compiled);
        let mut clocks: Vec<VectorClock> = Vec::new();
        let mut by_clock = Monitor::new(&compiled);
        // Each guard is evaluated at one lifeline only; its values there must not change.
        let owners: Vec<usize> = guards.iter().map(|_| rng.usize(..lifelines.len())).collect();
        let mut owned = Monitor::new(&compiled.restrict_to_owners(&owners));
        for (at, event) in chart.events().iter().enumerate() {
            let values = monitor.on_event(event, &Predicates).unwrap().all();
            let defined: Vec<bool> = guards.iter().map(|guard| oracle.holds(*guard, at)).collect();
            let texts = || guards.iter().map(|guard| formulas.text(*guard)).collect::<Vec<_>>();
            assert_eq!(values, defined, "seed {seed}, event {at}: {:?}\n{:#?}", texts(), chart.events());
            let clock = monitor.clock(&event.lifeline).unwrap();
            assert_eq!(clock.0, oracle.clock(at), "seed {seed}, event {at}");
            let clocked = by_clock.on_event_with_clock(event, &clock, &Predicates).unwrap().all();
            assert_eq!(clocked, values, "seed {seed}, event {at}, by its clock: {:?}", texts());
            let asked = owned.on_event_with_clock(event, &clock, &Predicates).unwrap().all();
            for (guard, owner) in owners.iter().enumerate().filter(|(_, owner)| *lifelines[**owner] == *event.lifeline)
            {
                assert_eq!(asked[guard], values[guard], "seed {seed}, event {at}, of {owner} alone: {:?}", texts());
            }
            for (earlier, other) in clocks.iter().enumerate() {
                assert_eq!(*other <= clock, oracle.is_before(earlier, at), "seed {seed}, {earlier} and {at}");
                assert!(other != &clock, "two events have one clock");
            }
            clocks.push(clock);
            held += values.iter().filter(|value| **value).count() as u64;
            events += values.len() as u64;
        }
    }
    println!("{charts} charts, each with an overtaken message; {events} values, {held} true; no disagreement");
    assert!(held * 5 > events && held * 5 < 4 * events, "the charts say too little");
}

/// A lifeline on its own.
struct Site {
    guards: Guards,
    tracker: Tracker,
    store: Vec<(Arc<str>, Literal)>,
}

/// The lifeline's variables as a distributed program would hold them, with the application's predicates.
struct Store<'a>(&'a Event, &'a [(Arc<str>, Literal)]);

impl Record for Store<'_> {
    fn field(&self, name: &str) -> Option<Value<'_>> {
        match (name, &self.0.name) {
            ("name", Some(name)) => Some(Value::Text((&**name).into())),
            _ => self.1.iter().rev().find(|(known, _)| **known == *name).map(|(_, value)| value.value()),
        }
    }

    fn call(&self, name: &str, arguments: &[Value<'_>]) -> Option<bool> {
        Predicates.call(name, arguments)
    }
}

#[test]
fn distributed_trackers_agree_with_the_monitor_and_can_be_rebuilt_by_replay() {
    let charts = campaign(20_000);
    let mut rebuilt = 0;
    for seed in 0..charts {
        let mut rng = Rng::with_seed(seed ^ 0x5eed);
        let chart = crate::causal_random::chart(&mut rng);
        let mut formulas = Formulas::new();
        let guard = crate::causal_random::formula(&mut rng, &mut formulas, &chart, 4);
        let text = formulas.text(guard);
        let lifelines: Vec<&str> = chart.lifelines().iter().map(|name| &**name).collect();
        // Each lifeline parses the guards itself, as if it were a separate process.
        let load = || compiled(&text, &lifelines);
        let site =
            |name: &&str| Site { guards: load(), tracker: Tracker::new(&load(), name).unwrap(), store: Vec::new() };
        let mut sites: Vec<Site> = lifelines.iter().map(site).collect();
        let mut messages: Vec<(Arc<str>, String)> = Vec::new();
        let mut history: Vec<(usize, &Event, Option<String>)> = Vec::new();
        let expected = {
            let mut monitor = Monitor::new(&load());
            let take = |event: &Event| monitor.on_event(event, &Predicates).unwrap().holds(0);
            chart.events().iter().map(take).collect::<Vec<bool>>()
        };
        for (event, expected) in chart.events().iter().zip(expected) {
            let own = lifelines.iter().position(|name| *name == &*event.lifeline).unwrap();
            let Site { guards, tracker, store } = &mut sites[own];
            store.extend(event.updates.iter().cloned());
            let carried = match &event.action {
                EventAction::Recv { message: Some(message) } => {
                    let at = messages.iter().position(|(name, _)| name == message).unwrap();
                    Some(messages.swap_remove(at).1)
                }
                _ => None,
            };
            let value = follow(guards, tracker, event, store, carried.as_deref(), &mut messages);
            assert_eq!(value, expected, "seed {seed}: {text}");
            history.push((own, event, carried));
        }
        // Every lifeline once more, from its own events and what was written on the messages that it received.
        for (own, Site { guards, tracker, .. }) in sites.iter().enumerate() {
            let mut again = Tracker::new(guards, lifelines[own]).unwrap();
            let mut store = Vec::new();
            for (_, event, carried) in history.iter().filter(|(whose, ..)| *whose == own) {
                store.extend(event.updates.iter().cloned());
                follow(guards, &mut again, event, &store, carried.as_deref(), &mut Vec::new());
            }
            assert_eq!(again.clock(), tracker.clock(), "seed {seed}");
            assert_eq!(again.values().all(), tracker.values().all());
            assert_eq!(again.send(&EmptyRecord), tracker.clone().send(&EmptyRecord), "and all that it has seen");
            rebuilt += 1;
        }
    }
    println!("{charts} charts, {rebuilt} lifelines rebuilt");
}

fn follow(
    guards: &Guards,
    tracker: &mut Tracker,
    event: &Event,
    store: &[(Arc<str>, Literal)],
    carried: Option<&str>,
    messages: &mut Vec<(Arc<str>, String)>,
) -> bool {
    let record = Store(event, store);
    match &event.action {
        EventAction::Act => tracker.act(&record).holds(0),
        EventAction::Choice => tracker.choice(&record).holds(0),
        EventAction::Send { message, .. } => {
            let stamp = tracker.send(&record);
            let written = stamp_json(guards, &stamp).to_string();
            let read = stamp_from_json(guards, &serde_json::from_str(&written).unwrap()).unwrap();
            assert_eq!(read, stamp, "{written}");
            messages.push((message.clone(), written));
            tracker.values().holds(0)
        }
        EventAction::Recv { .. } => {
            let stamp = carried.map(|text| stamp_from_json(guards, &serde_json::from_str(text).unwrap()).unwrap());
            tracker.recv(stamp.as_ref(), &record).unwrap().holds(0)
        }
    }
}

#[test]
fn pipeline_guard_requires_a_passed_check_of_the_same_revision() {
    let guard = r#"@model_check.spec = spec & @model_check(status != "failed" S status = "passed")"#;
    let guards = compiled(guard, &["formalize", "model_check", "review"]);
    assert_eq!(guards.fields().iter().map(|f| &**f).collect::<Vec<_>>(), ["spec", "status"]);
    let kept = &guards.exports()[1];
    assert_eq!(*kept.formulas, [Arc::from(r#"status != "failed" S status = "passed""#)]);
    assert_eq!(*kept.fields, [Arc::from("spec")]);
    assert_eq!(guards.exports()[2], Exports::default(), "nothing is carried that no guard asks for");
    let text = |text: &str| Literal::Text(text.into());
    let mut monitor = Monitor::new(&guards);
    let mut holds = |event: Event| monitor.on_event(&event, &EmptyRecord).unwrap().holds(0);
    holds(Event::act("model_check").with("spec", text("s1")).with("status", text("passed")));
    holds(Event::send("model_check", "review", "result"));
    assert!(!holds(Event::choice("review").with("spec", text("s1"))), "the result is still under way");
    assert!(holds(Event::recv("review", "result")));
    assert!(!holds(Event::choice("review").with("spec", text("s2"))), "the review reads another revision");
    holds(Event::act("model_check").with("status", text("failed")));
    holds(Event::send("model_check", "review", "later"));
    assert!(holds(Event::choice("review").with("spec", text("s1"))), "the failure is under way");
    assert!(!holds(Event::recv("review", "later")));
}

#[test]
fn choice_takes_the_first_branch_that_holds_and_a_loop_checks_before_each_round() {
    let mut formulas = Formulas::new();
    let guards: Vec<Formula> = ["@T(failed)", "@T(passed)", "Seen@T", "rounds < 3"]
        .into_iter()
        .map(|guard| formulas.parse(guard).unwrap())
        .collect();
    let guards = Guards::new(&formulas, &guards, &["T", "C"]).unwrap();
    let mut monitor = Monitor::new(&guards);
    let branch = |monitor: &mut Monitor| {
        let event = Event::choice("C");
        monitor.on_event(&event, &EmptyRecord).unwrap().first_holding(&[0, 1, 2])
    };
    let tell = |monitor: &mut Monitor, event: Event| {
        monitor.on_event(&event, &EmptyRecord).unwrap();
    };
    assert_eq!(branch(&mut monitor), None, "the branch without a guard");
    let yes = Literal::Bool(true);
    for (n, (event, expected)) in [
        (Event::act("T"), Some(2)),
        (Event::act("T").with("passed", yes.clone()), Some(1)),
        (Event::act("T").with("failed", yes), Some(0)),
    ]
    .into_iter()
    .enumerate()
    {
        tell(&mut monitor, event);
        tell(&mut monitor, Event::send("T", "C", &n.to_string()));
        tell(&mut monitor, Event::recv("C", &n.to_string()));
        assert_eq!(branch(&mut monitor), expected);
    }
    let mut rounds = 0;
    loop {
        let count = Literal::Number(Number::new(f64::from(rounds)).unwrap());
        let event = Event::choice("C").with("rounds", count);
        if !monitor.on_event(&event, &EmptyRecord).unwrap().holds(3) {
            break;
        }
        rounds += 1;
    }
    assert_eq!(rounds, 3);
    assert_eq!(monitor.clock("C").unwrap().get(1), 3 + 4 + 4, "each question is an event");
    assert!(!monitor.values("C").unwrap().holds(99), "a guard that does not exist does not hold");
}
