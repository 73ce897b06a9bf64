//! The causal reading: what is refused, and changes nothing then; stamps as they travel, late lifelines, clocks.

use crate::causal_oracle::{chart, compiled};
use serde_json::{Value as Json, json};
use tlaforge_monitor::causal_json::{StampError, clock_json, stamp_from_json, stamp_json};
use tlaforge_temporal::causal::{
    CausalError, EmptyRecord, Event, EventAction, GuardError, Guards, Monitor, Stamp, Tracker, VectorClock,
};
use tlaforge_temporal::{Binary, Formula, Formulas, Literal, Number, Record, Unary, Value};

#[test]
fn unsupported_guards_are_refused_at_compilation() {
    let refused = |texts: &[&str], lifelines: &[&str]| {
        let mut formulas = Formulas::new();
        let guards: Vec<Formula> = texts.iter().map(|text| formulas.parse(text).unwrap()).collect();
        Guards::new(&formulas, &guards, lifelines).unwrap_err().to_string()
    };
    assert_eq!(
        refused(&["a & F b"], &["A"]),
        "`F` has no meaning in the causal reading: a guard sees only the past (`Y S O H P @`)"
    );
    for (text, operator) in [("X a", "X"), ("N a", "N"), ("G a", "G"), ("a U b", "U"), ("a W b", "W"), ("a R b", "R")] {
        assert!(refused(&["a", text], &["A"]).starts_with(&format!("in guard 2: `{operator}` has no meaning")));
    }
    for text in ["@Z(a)", "P@Z(a)", "Seen@Z", "@Z.v = 1", "x + @Z.v < 3", "p(1, -@Z.v)", "@A(Y @A(@Z.v = 1))"] {
        assert_eq!(refused(&[text], &["A", "B"]), "unknown lifeline `Z` (known: A, B)", "{text}");
    }
    assert_eq!(refused(&["a"], &["A", "B", "A"]), "the lifeline `A` is named twice");
    let mut formulas = Formulas::new();
    let mut wide = formulas.name("a");
    let mut deep = wide;
    for _ in 0..64 {
        wide = formulas.binary(Binary::Iff, wide, wide);
    }
    assert_eq!(
        Guards::new(&formulas, &[wide], &["A"]).unwrap_err().to_string(),
        "guard 1 is too large: it has more than 100000 parts"
    );
    for _ in 0..100_000 {
        deep = formulas.unary(Unary::Yesterday, deep);
    }
    assert_eq!(
        Guards::new(&formulas, &[deep], &["A"]).unwrap_err().to_string(),
        "guard 1 is too large: it nests deeper than 1000"
    );
}

#[test]
fn a_refused_event_changes_nothing() {
    let guards = compiled("@A.x = x & P(x = 1) & @B(Y x = 1)", &["A", "B", "C"]);
    let mut monitor = Monitor::new(&guards);
    let one = || Literal::Number(Number::new(1.0).unwrap());
    monitor.on_event(&Event::send("A", "B", "m").with("x", one()), &EmptyRecord).unwrap();
    let text = |name: &str| name.to_owned();
    let wrong = [
        (Event::act("Z"), CausalError::Lifeline { lifeline: text("Z"), known: text("A, B, C") }),
        (Event::send("A", "Z", "n"), CausalError::Lifeline { lifeline: text("Z"), known: text("A, B, C") }),
        (Event::send("A", "A", "n"), CausalError::ToItself(text("A"))),
        (Event::send("B", "C", "m"), CausalError::SentTwice(text("m"))),
        (Event::recv("B", "n"), CausalError::NotSent(text("n"))),
        (Event::recv("C", "m"), CausalError::WrongReceiver { message: text("m"), to: text("B"), at: text("C") }),
        (Event::recv("A", "m"), CausalError::ToItself(text("A"))),
    ];
    let shown = |monitor: &Monitor| format!("{monitor:?}");
    for (event, error) in wrong {
        let before = shown(&monitor);
        let event = event.with("x", Literal::Null);
        assert_eq!(monitor.on_event(&event, &EmptyRecord).unwrap_err(), error);
        assert_eq!(shown(&monitor), before, "{error}");
        let mut chart = chart(&["A", "B", "C"], [Event::send("A", "B", "m")]);
        assert_eq!(chart.push(event).unwrap_err(), error);
        assert_eq!(chart.events().len(), 1);
    }
    monitor.on_event(&Event::recv("B", "m").with("x", one()), &EmptyRecord).unwrap();
    assert_eq!(monitor.on_event(&Event::recv("B", "m"), &EmptyRecord).unwrap_err(), CausalError::NotSent(text("m")));
    assert_eq!(monitor.clock("B").unwrap().0, [1, 1, 0]);
}

/// An application predicate with a defect.
struct Broken;

impl Record for Broken {
    fn field(&self, _: &str) -> Option<Value<'_>> {
        None
    }

    fn call(&self, _: &str, _: &[Value<'_>]) -> Option<bool> {
        panic!("a defect of the application")
    }
}

#[test]
fn a_panicking_predicate_leaves_the_monitor_unchanged() {
    let guards = compiled("O broken(x) | @A(O x = 1)", &["A", "B"]);
    let mut monitor = Monitor::new(&guards);
    let one = Literal::Number(Number::new(1.0).unwrap());
    monitor.on_event(&Event::send("A", "B", "m").with("x", one.clone()), &EmptyRecord).unwrap();
    for event in [Event::act("B"), Event::recv("B", "m"), Event::send("B", "A", "n")] {
        let event = event.with("x", one.clone());
        let before = monitor.clone();
        let panicked =
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| monitor.on_event(&event, &Broken).is_ok()));
        assert!(panicked.is_err());
        assert_eq!(monitor.clock("B").unwrap(), before.clock("B").unwrap());
        assert_eq!(monitor.values("B").unwrap().all(), before.values("B").unwrap().all());
        // The same event once more, on both.
        let again: Vec<bool> = [monitor.clone(), before]
            .iter_mut()
            .map(|monitor| monitor.on_event(&event, &EmptyRecord).unwrap().holds(0))
            .collect();
        assert_eq!(again[0], again[1]);
    }
    assert!(monitor.on_event(&Event::recv("B", "m"), &EmptyRecord).unwrap().holds(0));
}

#[test]
fn a_message_without_a_stamp_carries_no_knowledge_and_nan_is_undefined() {
    struct NotANumber;
    impl Record for NotANumber {
        fn field(&self, name: &str) -> Option<Value<'_>> {
            (name == "x").then_some(Value::Number(f64::NAN))
        }

        fn call(&self, _: &str, _: &[Value<'_>]) -> Option<bool> {
            Some(true)
        }
    }
    let mut formulas = Formulas::new();
    let guards: Vec<Formula> =
        ["Seen@A", r#"kind = "recv""#, "x != x | x = x | x < 1", "defined(@A.x)", "@A(defined(@A.x))"]
            .into_iter()
            .map(|guard| formulas.parse(guard).unwrap())
            .collect();
    let guards = Guards::new(&formulas, &guards, &["A", "B"]).unwrap();
    let mut b = Tracker::new(&guards, "B").unwrap();
    assert_eq!(b.recv(None, &NotANumber).unwrap().all(), [false, true, false, false, false]);
    let mut a = Tracker::new(&guards, "A").unwrap();
    assert_eq!(a.act(&NotANumber).all(), [true, false, false, false, false]);
    let stamp = a.send(&NotANumber);
    assert_eq!(b.recv(Some(&stamp), &NotANumber).unwrap().all(), [true, true, false, false, false]);
    assert_eq!((b.lifeline(), b.clock().0), ("B", vec![2, 2]));
}

#[test]
fn a_stamp_of_other_guards_is_refused_with_the_difference() {
    let ours = compiled("@A(x = 1) & @A.spec = spec", &["A", "B"]);
    let record = EmptyRecord;
    let stamp = |text: &str, lifelines: &[&str]| Tracker::new(&compiled(text, lifelines), "A").unwrap().send(&record);
    let refused = |stamp: &Stamp| {
        let mut b = Tracker::new(&ours, "B").unwrap();
        let error = b.recv(Some(stamp), &record).unwrap_err();
        assert_eq!(b.clock().0, [0, 0], "nothing has moved");
        error.to_string()
    };
    let fits = stamp(r#"@A(x = 1) & @A.spec = "other""#, &["A", "B"]);
    assert!(Tracker::new(&ours, "B").unwrap().recv(Some(&fits), &record).is_ok(), "what is kept is the same");
    assert_eq!(
        refused(&stamp("@A(x = 2) & @A.spec = spec", &["A", "B"])),
        "the message was stamped for other guards: they differ in `x = 1` at `A`"
    );
    assert_eq!(
        refused(&stamp("@A(x = 1)", &["A", "B"])),
        "the message was stamped for other guards: they differ in `@A.spec`"
    );
    assert_eq!(
        refused(&stamp("@A(x = 1) & @A.spec = spec", &["C", "A", "B"])),
        "the message was stamped for other guards: it has the lifeline `C` where `A` is expected"
    );
    assert_eq!(
        refused(&stamp("@A(x = 1) & @A.spec = spec", &["A", "B", "C"])),
        "the message was stamped for other guards: it has a lifeline `C`"
    );
    let own = Tracker::new(&ours, "B").unwrap().send(&record);
    assert_eq!(refused(&own), "`B` exchanges a message with itself");
    let ahead = Stamp::new(&ours, &VectorClock(vec![0, 5]), Vec::new()).unwrap();
    assert_eq!(refused(&ahead), "the message has seen 5 events of `B`, which has had 0");
}

#[test]
fn stamps_survive_serialization_and_errors_name_the_wrong_part() {
    struct Odd;
    impl Record for Odd {
        fn field(&self, name: &str) -> Option<Value<'_>> {
            match name {
                "big" => Some(Value::Number(1e300)),
                "third" => Some(Value::Number(0.1 + 0.2)),
                "large" => Some(Value::integer(1_234_567_890_123_456_789)),
                "huge" => Some(Value::integer((1 << 100) + 1)),
                "none" => Some(Value::Null),
                "said" => Some(Value::Text("\"}\n".into())),
                _ => None,
            }
        }
    }
    let text = r#"@A(said = "\"}\n") & p(@A.big, @A.third, @A.large, @A.huge, @A.none, @A.said, @A.missing) & P(x = 1) & P@A(Y x = 1)"#;
    let guards = compiled(text, &["A", "B"]);
    let stamp = Tracker::new(&guards, "A").unwrap().send(&Odd);
    let written = stamp_json(&guards, &stamp);
    assert_eq!(
        written,
        json!({"vc": {"A": 1}, "views": {"A": {
            "holds": {"O (x = 1)": false, "said = \"\\\"}\\n\"": true, "O (Y x = 1)": false},
            "fields": {
                "big": 1e300, "third": 0.1 + 0.2, "large": 1_234_567_890_123_456_789_u64,
                "huge": {"integer": "1267650600228229401496703205377"}, "none": null, "said": "\"}\n",
            },
        }}})
    );
    let read = |value: &Json| stamp_from_json(&guards, &serde_json::from_str(&value.to_string()).unwrap());
    assert_eq!(read(&written).unwrap(), stamp);
    let names = |path: &str, value: Json| {
        let mut damaged = written.clone();
        let (parent, last) = path.rsplit_once('/').unwrap();
        damaged.pointer_mut(parent).unwrap()[last] = value;
        read(&damaged).unwrap_err().to_string()
    };
    assert_eq!(names("/vc/Z", json!(1)), "a stamp names an unknown lifeline `Z`");
    assert_eq!(names("/vc/A", json!(-1)), "a stamp is damaged: its clock has no count of `A`");
    assert_eq!(names("/views/Z", json!({})), "a stamp names an unknown lifeline `Z`");
    assert_eq!(names("/views", json!([])), "a stamp is damaged: it has no views");
    assert_eq!(names("/views", json!({})), "a stamp was made for other guards: it lacks `O (x = 1)` of `A`");
    assert_eq!(names("/views/A/holds/q", json!(true)), "a stamp was made for other guards: it has `q` of `A`");
    assert_eq!(
        names("/views/A/holds/O (x = 1)", json!(1)),
        "a stamp is damaged: `O (x = 1)` is neither true nor false"
    );
    assert_eq!(names("/views/A/fields/z", json!(1)), "a stamp was made for other guards: it has `z` of `A`");
    assert_eq!(names("/views/A/fields/big", json!([1])), "a stamp is damaged: `big` has no readable value");
    assert_eq!(
        names("/views/A/fields/big", json!({"bits": "7ff8000000000000"})),
        "a stamp is damaged: `big` has no readable value"
    );
    assert_eq!(read(&json!({"vc": 3, "views": {}})), Err(StampError::Damaged("its clock is no object".to_owned())));
    assert_eq!(clock_json(guards.lifelines(), &VectorClock(vec![2, 0])), json!({"A": 2}));
}

#[test]
fn an_added_lifeline_becomes_visible_through_messages() {
    let mut monitor = Monitor::new(&compiled("P(x = 1)", &["A"]));
    monitor.on_event(&Event::new("A", EventAction::Send { to: None, message: "early".into() }), &EmptyRecord).unwrap();
    monitor.add_lifeline("B").unwrap();
    assert_eq!(monitor.add_lifeline("B"), Err(GuardError::DuplicateLifeline("B".to_owned())));
    let one = Literal::Number(Number::new(1.0).unwrap());
    let holds = |monitor: &mut Monitor, event: Event| monitor.on_event(&event, &EmptyRecord).unwrap().holds(0);
    assert!(!holds(&mut monitor, Event::recv("B", "early")), "a stamp from before is read");
    assert!(holds(&mut monitor, Event::act("B").with("x", one)));
    assert!(!holds(&mut monitor, Event::act("A")));
    assert!(holds(&mut monitor, Event::send("B", "A", "late")));
    assert!(holds(&mut monitor, Event::recv("A", "late")));
    assert_eq!(monitor.clock("A").unwrap().0, [3, 3]);
    assert_eq!(monitor.guards().lifelines().len(), 2);
}

#[test]
fn an_inconsistent_clock_is_refused() {
    let guards = compiled("@A(x = 1)", &["A", "B"]);
    let mut monitor = Monitor::new(&guards);
    let take = |monitor: &mut Monitor, lifeline: &str, counts: [u64; 2]| {
        let one = Literal::Number(Number::new(1.0).unwrap());
        let event = Event::act(lifeline).with("x", one);
        monitor.on_event_with_clock(&event, &VectorClock(counts.to_vec()), &EmptyRecord).map(|values| values.holds(0))
    };
    assert_eq!(take(&mut monitor, "A", [1, 0]), Ok(true));
    assert_eq!(take(&mut monitor, "A", [2, 0]), Ok(true));
    assert_eq!(take(&mut monitor, "B", [0, 1]), Ok(false), "without a clock that has seen it, it is not visible");
    assert_eq!(take(&mut monitor, "B", [2, 2]), Ok(true));
    for (lifeline, counts, message) in [
        ("B", [2, 2], "the clock of an event of `B` counts 2 events of `B`, expected 3"),
        ("B", [2, 4], "the clock of an event of `B` counts 4 events of `B`, expected 3"),
        ("B", [1, 3], "the clock of an event of `B` counts 1 events of `A`, expected 2"),
        ("B", [3, 3], "the clock of an event of `B` counts 3 events of `A`, expected 2"),
        ("A", [3, 3], "the clock of an event of `A` counts 3 events of `B`, expected 0 to 2"),
    ] {
        let before = format!("{monitor:?}");
        assert_eq!(take(&mut monitor, lifeline, counts).unwrap_err().to_string(), message);
        assert_eq!(format!("{monitor:?}"), before);
    }
    assert_eq!(take(&mut monitor, "B", [2, 3]), Ok(true));
}
