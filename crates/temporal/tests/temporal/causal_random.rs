//! Random charts, with messages that overtake each other, and random formulas over them.

use fastrand::Rng;
use tlaforge_temporal::causal::{Chart, Event, EventAction};
use tlaforge_temporal::{
    Arithmetic, Atom, Binary, Causal, Comparison, Formula, Formulas, Literal, Number, Term, Unary,
};

const LIFELINES: [&str; 5] = ["A", "B", "C", "D", "a lifeline.with a name"];
const VARIABLES: [&str; 3] = ["x", "y", "ok"];

/// 3 to 5 lifelines, 5 to 30 events; a message arrives at any time after it was sent, or never, and one at least before
/// another that was sent earlier between the same two lifelines.
pub(crate) fn chart(rng: &mut Rng) -> Chart {
    loop {
        let chart = any_chart(rng);
        if overtakes(&chart) {
            return chart;
        }
    }
}

fn overtakes(chart: &Chart) -> bool {
    let mut under_way: Vec<&Event> = Vec::new();
    for event in chart.events() {
        match &event.action {
            EventAction::Send { .. } => under_way.push(event),
            EventAction::Recv { message: Some(name) } => {
                let is_this =
                    |sent: &Event| matches!(&sent.action, EventAction::Send { message, .. } if message == name);
                let at = under_way.iter().position(|sent| is_this(sent)).unwrap();
                let ends = |sent: &Event| match &sent.action {
                    EventAction::Send { to, .. } => (sent.lifeline.clone(), to.clone()),
                    _ => unreachable!(),
                };
                let these = ends(under_way.remove(at));
                if under_way[..at].iter().any(|earlier| ends(earlier) == these) {
                    return true;
                }
            }
            _ => {}
        }
    }
    false
}

fn any_chart(rng: &mut Rng) -> Chart {
    let lifelines = &LIFELINES[..rng.usize(3..=5)];
    let mut chart = Chart::new(lifelines).unwrap();
    let mut under_way: Vec<(String, &str)> = Vec::new();
    for n in 0..rng.usize(5..=30) {
        let own = lifelines[rng.usize(..lifelines.len())];
        let mut event = match rng.u8(..10) {
            0..=2 => Event::act(own),
            3 => Event::choice(own),
            4..=6 => {
                let others: Vec<&str> = lifelines.iter().copied().filter(|l| *l != own).collect();
                let (to, message) = (others[rng.usize(..others.len())], format!("m{n}"));
                under_way.push((message.clone(), to));
                Event::send(own, to, &message)
            }
            _ if under_way.is_empty() => Event::act(own),
            _ => {
                let (message, to) = under_way.swap_remove(rng.usize(..under_way.len()));
                Event::recv(to, &message)
            }
        };
        for _ in 0..[0, 0, 1, 1, 2][rng.usize(..5)] {
            event = event.with(VARIABLES[rng.usize(..3)], literal(rng));
        }
        if rng.u8(..4) == 0 {
            event = event.named("tick");
        }
        chart.push(event).unwrap();
    }
    chart
}

fn literal(rng: &mut Rng) -> Literal {
    match rng.u8(..10) {
        0 => Literal::Null,
        1 | 2 => Literal::Bool(rng.bool()),
        3 => Literal::Text(["a", "b"][rng.usize(..2)].into()),
        _ => Literal::Number(Number::new(f64::from(rng.i8(0..4))).unwrap()),
    }
}

fn lifeline<'a>(rng: &mut Rng, chart: &'a Chart) -> &'a str {
    &chart.lifelines()[rng.usize(..chart.lifelines().len())]
}

fn term(rng: &mut Rng, chart: &Chart, depth: u32) -> Term {
    match rng.u8(..12) {
        0..=3 => Term::Field(VARIABLES[rng.usize(..3)].into()),
        4..=8 => Term::FieldAt(lifeline(rng, chart).into(), VARIABLES[rng.usize(..3)].into()),
        9 if depth > 0 => Term::Negate(Box::new(Term::Field("x".into()))),
        10 if depth > 0 => {
            let operators = [Arithmetic::Add, Arithmetic::Subtract, Arithmetic::Multiply, Arithmetic::Divide];
            let (a, b) = (term(rng, chart, depth - 1), term(rng, chart, depth - 1));
            Term::Arithmetic(operators[rng.usize(..4)], Box::new(a), Box::new(b))
        }
        _ => Term::Literal(literal(rng)),
    }
}

fn atom(rng: &mut Rng, chart: &Chart) -> Atom {
    let comparisons = [
        Comparison::Equal,
        Comparison::NotEqual,
        Comparison::Less,
        Comparison::LessOrEqual,
        Comparison::Greater,
        Comparison::GreaterOrEqual,
    ];
    let text = |name: &str, value: &str| {
        Atom::Compare(Comparison::Equal, Term::Field(name.into()), Term::Literal(Literal::Text(value.into())))
    };
    match rng.u8(..16) {
        0 => text("kind", ["act", "choice", "send", "recv"][rng.usize(..4)]),
        1 => text("lifeline", lifeline(rng, chart)),
        2 => text("name", "tick"),
        3 => Atom::Call("same".into(), [term(rng, chart, 1), term(rng, chart, 1)].into()),
        4 => Atom::Call("even".into(), [term(rng, chart, 1)].into()),
        5 | 6 => Atom::Name("ok".into()),
        _ => Atom::Compare(comparisons[rng.usize(..6)], term(rng, chart, 2), term(rng, chart, 2)),
    }
}

/// A formula of the causal reading, nested up to `depth` operators deep.
pub(crate) fn formula(rng: &mut Rng, formulas: &mut Formulas, chart: &Chart, depth: u32) -> Formula {
    if depth == 0 || rng.u8(..8) == 0 {
        return match rng.u8(..12) {
            0 => formulas.truth(),
            1 => formulas.falsity(),
            2 | 3 => formulas.seen(lifeline(rng, chart)),
            _ => {
                let atom = atom(rng, chart);
                formulas.atomic(atom)
            }
        };
    }
    let a = formula(rng, formulas, chart, depth - 1);
    let mut next = |rng: &mut Rng| formula(rng, formulas, chart, depth - 1);
    match rng.u8(..16) {
        0 => formulas.not(a),
        1 => {
            let all = [a, next(rng), next(rng)];
            formulas.and(all)
        }
        2 => {
            let all = [a, next(rng), next(rng)];
            formulas.or(all)
        }
        3 => {
            let b = next(rng);
            formulas.binary([Binary::Implies, Binary::Iff][rng.usize(..2)], a, b)
        }
        4 | 5 => formulas.unary(Unary::Yesterday, a),
        6 => formulas.unary(Unary::Once, a),
        7 => formulas.unary(Unary::Historically, a),
        8 => formulas.unary(Unary::Past, a),
        9..=11 => {
            let b = next(rng);
            formulas.binary(Binary::Since, a, b)
        }
        12 => formulas.causal(Causal::PastAt, lifeline(rng, chart), a),
        _ => formulas.causal(Causal::At, lifeline(rng, chart), a),
    }
}
