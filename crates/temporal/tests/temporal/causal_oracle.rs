//! What a formula means at an event of a chart, straight from the definitions: causality is reachability over local
//! succession and messages, the latest visible event is looked for, and formulas are evaluated by recursion. It shares
//! nothing with the monitor but the chart and the shape of formulas.
#![allow(dead_code, reason = "each test uses its part")]

use std::collections::HashMap;

use tlaforge_temporal::causal::{Chart, Event, EventAction, Guards};
use tlaforge_temporal::{Arithmetic, Atom, Binary, Causal, Comparison, Formula, Formulas, Literal, Node, Term, Unary};

/// A chart with its causal order.
pub(crate) struct Oracle<'a> {
    formulas: &'a Formulas,
    events: &'a [Event],
    /// The lifelines' names.
    lifelines: Vec<String>,
    /// The local predecessor.
    before: Vec<Option<usize>>,
    /// The variables after each event.
    values: Vec<HashMap<String, Literal>>,
    /// Whether the second event is visible from the first.
    visible: Vec<Vec<bool>>,
}

impl<'a> Oracle<'a> {
    pub(crate) fn new(formulas: &'a Formulas, chart: &'a Chart) -> Self {
        let events = chart.events();
        let n = events.len();
        let mut before = vec![None; n];
        let mut values: Vec<HashMap<String, Literal>> = Vec::new();
        let mut visible = vec![vec![false; n]; n];
        for (i, event) in events.iter().enumerate() {
            before[i] = (0..i).rev().find(|j| events[*j].lifeline == event.lifeline);
            let mut store = before[i].map_or_else(HashMap::new, |j| values[j].clone());
            for (name, value) in &event.updates {
                store.insert(name.to_string(), value.clone());
            }
            values.push(store);
        }
        for (i, row) in visible.iter_mut().enumerate() {
            // Depth first, backwards over both kinds of edges.
            let mut open = vec![i];
            while let Some(at) = open.pop() {
                if std::mem::replace(&mut row[at], true) {
                    continue;
                }
                open.extend(before[at]);
                if let EventAction::Recv { message: Some(message) } = &events[at].action {
                    open.extend((0..n).find(
                        |j| matches!(&events[*j].action, EventAction::Send { message: sent, .. } if sent == message),
                    ));
                }
            }
        }
        let lifelines = chart.lifelines().iter().map(ToString::to_string).collect();
        Self { formulas, events, lifelines, before, values, visible }
    }

    /// How many events of each lifeline are visible from an event.
    pub(crate) fn clock(&self, at: usize) -> Vec<u64> {
        let count = |name: &String| {
            (0..self.events.len()).filter(|j| self.visible[at][*j] && *self.events[*j].lifeline == **name).count()
                as u64
        };
        self.lifelines.iter().map(count).collect()
    }

    /// Whether the first event is causally before the second, or is it.
    pub(crate) fn is_before(&self, first: usize, second: usize) -> bool {
        self.visible[second][first]
    }

    fn latest(&self, lifeline: &str, at: usize) -> Option<usize> {
        (0..self.events.len()).filter(|j| *self.events[*j].lifeline == *lifeline && self.visible[at][*j]).max()
    }

    /// Whether the formula holds at an event. Definition 3.
    pub(crate) fn holds(&self, formula: Formula, at: usize) -> bool {
        let holds = |formula: Formula| self.holds(formula, at);
        match self.formulas.node(formula) {
            Node::True => true,
            Node::False => false,
            Node::Atom(atom) => self.atom(self.formulas.atom(*atom), at),
            Node::Not(a) => !holds(*a),
            Node::And(all) => all.iter().all(|a| holds(*a)),
            Node::Or(all) => all.iter().any(|a| holds(*a)),
            Node::Binary(Binary::Implies, [a, b]) => !holds(*a) || holds(*b),
            Node::Binary(Binary::Iff, [a, b]) => holds(*a) == holds(*b),
            Node::Unary(Unary::Yesterday, a) => self.before[at].is_some_and(|j| self.holds(*a, j)),
            Node::Binary(Binary::Since, [a, b]) => self.since(Some(*a), *b, at),
            Node::Unary(Unary::Once, a) => self.since(None, *a, at),
            Node::Unary(Unary::Historically, a) => {
                let mut j = Some(at);
                while let Some(here) = j {
                    if !self.holds(*a, here) {
                        return false;
                    }
                    j = self.before[here];
                }
                true
            }
            Node::Causal(Causal::At, lifeline, a) => self.latest(lifeline, at).is_some_and(|j| self.holds(*a, j)),
            Node::Causal(Causal::PastAt, lifeline, a) => (0..self.events.len())
                .any(|j| *self.events[j].lifeline == **lifeline && self.visible[at][j] && self.holds(*a, j)),
            Node::Unary(Unary::Past, a) => (0..self.events.len()).any(|j| self.visible[at][j] && self.holds(*a, j)),
            Node::Seen(lifeline) => self.latest(lifeline, at).is_some(),
            other => panic!("{other:?} speaks of the future"),
        }
    }

    fn since(&self, left: Option<Formula>, right: Formula, at: usize) -> bool {
        let mut j = Some(at);
        while let Some(here) = j {
            if self.holds(right, here) {
                return true;
            }
            if left.is_some_and(|left| !self.holds(left, here)) {
                return false;
            }
            j = self.before[here];
        }
        false
    }

    fn atom(&self, atom: &Atom, at: usize) -> bool {
        match atom {
            Atom::Name(name) => self.field(name, at) == Some(Literal::Bool(true)),
            Atom::Compare(comparison, a, b) => match (self.term(a, at), self.term(b, at)) {
                (Some(a), Some(b)) => compare(*comparison, &a, &b),
                _ => false,
            },
            Atom::Call(name, terms) => {
                let values: Option<Vec<Literal>> = terms.iter().map(|term| self.term(term, at)).collect();
                values.is_some_and(|values| predicate(name, &values) == Some(true))
            }
            Atom::Label { .. } | Atom::Quantity(_) | Atom::Quantified(..) => false,
        }
    }

    fn field(&self, name: &str, at: usize) -> Option<Literal> {
        let event = &self.events[at];
        match name {
            "kind" => Some(Literal::Text(
                match event.action {
                    EventAction::Act => "act",
                    EventAction::Choice => "choice",
                    EventAction::Send { .. } => "send",
                    EventAction::Recv { .. } => "recv",
                }
                .into(),
            )),
            "lifeline" => Some(Literal::Text(event.lifeline.clone())),
            "name" if event.name.is_some() => event.name.clone().map(Literal::Text),
            _ => self.values[at].get(name).cloned(),
        }
    }

    fn term(&self, term: &Term, at: usize) -> Option<Literal> {
        match term {
            Term::Field(name) => self.field(name, at),
            Term::FieldAt(lifeline, name) => self.field(name, self.latest(lifeline, at)?),
            Term::Literal(literal) => Some(literal.clone()),
            Term::Negate(a) => number(-self.number(a, at)?),
            Term::Arithmetic(operator, a, b) => {
                let (a, b) = (self.number(a, at)?, self.number(b, at)?);
                number(match operator {
                    Arithmetic::Add => a + b,
                    Arithmetic::Subtract => a - b,
                    Arithmetic::Multiply => a * b,
                    Arithmetic::Divide => a / b,
                })
            }
        }
    }

    fn number(&self, term: &Term, at: usize) -> Option<f64> {
        match self.term(term, at)? {
            Literal::Number(number) => Some(number.get()),
            _ => None,
        }
    }
}

fn number(value: f64) -> Option<Literal> {
    tlaforge_temporal::Number::new(value).map(Literal::Number)
}

fn compare(comparison: Comparison, a: &Literal, b: &Literal) -> bool {
    let (less, equal) = match (a, b) {
        (Literal::Number(a), Literal::Number(b)) => (a.get() < b.get(), a == b),
        (Literal::Text(a), Literal::Text(b)) => (a < b, a == b),
        (Literal::Bool(a), Literal::Bool(b)) => (!a & b, a == b),
        (Literal::Null, Literal::Null) => (false, true),
        _ => return false,
    };
    match comparison {
        Comparison::Equal => equal,
        Comparison::NotEqual => !equal,
        Comparison::Less => less,
        Comparison::LessOrEqual => less || equal,
        Comparison::Greater => !less && !equal,
        Comparison::GreaterOrEqual => !less,
    }
}

/// The application's predicates: `same(a, b)` of any values, `even(n)` of a number.
pub(crate) fn predicate(name: &str, values: &[Literal]) -> Option<bool> {
    match (name, values) {
        ("same", [a, b]) => Some(a == b),
        ("even", [Literal::Number(n)]) => Some(n.get() % 2.0 == 0.0),
        _ => None,
    }
}

/// A chart of these events.
pub(crate) fn chart(lifelines: &[&str], events: impl IntoIterator<Item = Event>) -> Chart {
    let mut chart = Chart::new(lifelines).unwrap();
    for event in events {
        chart.push(event).unwrap();
    }
    chart
}

/// The guards of one formula.
pub(crate) fn compiled(text: &str, lifelines: &[&str]) -> Guards {
    let mut formulas = Formulas::new();
    let guard = formulas.parse(text).unwrap();
    Guards::new(&formulas, &[guard], lifelines).unwrap()
}
