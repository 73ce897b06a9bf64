//! One step of the causal monitor: a message is sent and received, and the guard is evaluated at both and at a choice.

use std::time::Instant;

use tlaforge::temporal::causal::{EmptyRecord, Event, Guards, Monitor, Tracker};
use tlaforge::temporal::{Formulas, Literal, Record, Value};

/// The guard of the merge decision: both reviewers' latest visible states concern this candidate, and are still good.
const MERGE: &str = r#"@T.cand = cand & @T(status != "failed" S status = "passed")
    & @Sec.cand = cand & @Sec(status != "critical" S status = "cleared")"#;

/// Twelve variables, of which the guard reads two.
struct Variables;

impl Record for Variables {
    fn field(&self, name: &str) -> Option<Value<'_>> {
        match name {
            "cand" => Some(Value::Text("c1".into())),
            "status" => Some(Value::Text("passed".into())),
            _ => None,
        }
    }
}

/// Microseconds per step at 4, 16 and 64 lifelines, the best of some rounds.
pub(crate) fn causal() {
    println!("causal: send + receive + choice, the guard of the merge decision evaluated at each, best of 9 rounds");
    for count in [4, 16, 64] {
        let mut lifelines = vec!["O".to_owned(), "T".to_owned(), "Sec".to_owned(), "C".to_owned()];
        lifelines.extend((4..count).map(|n| format!("worker{n}")));
        let lifelines: Vec<&str> = lifelines.iter().map(String::as_str).collect();
        let mut formulas = Formulas::new();
        let guard = formulas.parse(MERGE).expect("a formula");
        let guards = Guards::new(&formulas, &[guard], &lifelines).expect("all lifelines are there");
        let alone = best(|steps| trackers(&guards, &lifelines, steps));
        let together = best(|steps| monitor(&guards, &lifelines, steps));
        let act = best(|steps| acts(&guards, steps));
        println!(
            "{count:>3} lifelines, {} subformulas: {alone:>6.3} us by trackers, {together:>6.3} us by the monitor \
             (variables and messages by name); a local action {act:.3} us",
            guards.subformula_count()
        );
    }
}

fn best(run: impl Fn(u32)) -> f64 {
    const STEPS: u32 = 20_000;
    let round = || {
        let began = Instant::now();
        run(STEPS);
        began.elapsed().as_secs_f64() * 1e6 / f64::from(STEPS)
    };
    (0..9).map(|_| round()).fold(f64::INFINITY, f64::min)
}

/// Where the message of a step goes: one, two or three lifelines on, so that each receive tells of several others.
fn receiver(step: u32, from: usize, count: usize) -> usize {
    (from + 1 + step as usize % 3) % count
}

fn trackers(guards: &Guards, lifelines: &[&str], steps: u32) {
    let mut trackers: Vec<Tracker> =
        lifelines.iter().map(|name| Tracker::new(guards, name).expect("it is there")).collect();
    let (mut from, n) = (0, trackers.len());
    for step in 0..steps {
        let to = receiver(step, from, n);
        let stamp = trackers[from].send(&Variables);
        trackers[to].recv(Some(&stamp), &Variables).expect("the same guards");
        std::hint::black_box(trackers[to].choice(&Variables).holds(0));
        from = to;
    }
}

fn monitor(guards: &Guards, lifelines: &[&str], steps: u32) {
    let mut monitor = Monitor::new(guards);
    let text = |text: &str| Literal::Text(text.into());
    let count = lifelines.len();
    let events = |step, from| {
        let to = receiver(step, from, count);
        [
            Event::send(lifelines[from], lifelines[to], "m"),
            Event::recv(lifelines[to], "m").with("cand", text("c1")).with("status", text("passed")),
            Event::choice(lifelines[to]),
        ]
    };
    // Made before the clock runs, as a log's reader makes them once.
    let all: Vec<Vec<[Event; 3]>> = (0..3).map(|step| (0..count).map(|from| events(step, from)).collect()).collect();
    let mut from = 0;
    for step in 0..steps {
        for event in &all[step as usize % 3][from] {
            std::hint::black_box(monitor.on_event(event, &EmptyRecord).expect("a chart").holds(0));
        }
        from = receiver(step, from, count);
    }
}

fn acts(guards: &Guards, steps: u32) {
    let mut tracker = Tracker::new(guards, "C").expect("it is there");
    for _ in 0..steps {
        std::hint::black_box(tracker.act(&Variables).holds(0));
    }
}
