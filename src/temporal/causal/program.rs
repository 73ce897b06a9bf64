//! The distinct subformulas of the guards as steps, each after those it is made of, and their evaluation at one event.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use super::super::atom::{Atom, Literal, Record, Value};
use super::event::EventKind;
use super::exports::{ExportedValues, VisibleState};

/// How one value is found from earlier ones; numbers are those of steps.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Op {
    Constant(bool),
    /// A number in [`Program::atoms`].
    Atom(u32),
    Not(u32),
    /// A range in [`Program::operands`].
    And(Range<u32>),
    Or(Range<u32>),
    Implies(u32, u32),
    Iff(u32, u32),
    Yesterday(u32),
    Once(u32),
    Historically(u32),
    Since(u32, u32),
    /// At the latest visible event of a lifeline: the step, and its place among the values kept of that lifeline.
    At {
        lifeline: u32,
        step: u32,
        place: u32,
    },
    /// At the latest visible event of some lifeline; the place is the same for all.
    Anywhere {
        step: u32,
        place: u32,
    },
    Seen(u32),
}

/// A variable of another lifeline that atoms read, and where its value is kept.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct RemoteField {
    pub(super) lifeline: Arc<str>,
    pub(super) name: Arc<str>,
    /// The lifeline's number.
    pub(super) at: usize,
    /// The place among the variables kept of that lifeline.
    pub(super) place: usize,
}

/// All that evaluation needs, but for lifelines that came later.
#[derive(Debug, Clone, Default)]
pub(super) struct Program {
    pub(super) ops: Box<[Op]>,
    pub(super) operands: Box<[u32]>,
    pub(super) atoms: Box<[Atom]>,
    /// The step of each guard.
    pub(super) guards: Box<[u32]>,
    /// The steps that are evaluated at events of each lifeline, ascending; of lifelines that came later, the last.
    pub(super) needed: Box<[Box<[u32]>]>,
    /// The steps kept of each lifeline, for lifelines that guards were compiled with.
    pub(super) kept: Box<[Box<[u32]>]>,
    /// The variables kept of each lifeline.
    pub(super) kept_fields: Box<[Box<[Arc<str>]>]>,
    /// The steps kept of every lifeline, because a `P` asks for them; they come first in `kept`.
    pub(super) everywhere: Box<[u32]>,
    pub(super) everywhere_texts: Box<[Arc<str>]>,
    /// Ascending by lifeline and name.
    pub(super) remotes: Box<[RemoteField]>,
    /// The fields that atoms read, ascending.
    pub(super) fields: Box<[Arc<str>]>,
}

impl Program {
    pub(super) fn kept(&self, lifeline: usize) -> &[u32] {
        self.kept.get(lifeline).unwrap_or(&self.everywhere)
    }

    /// What is to be evaluated at an event of a lifeline.
    fn needed(&self, lifeline: usize) -> &[u32] {
        self.needed.get(lifeline).or(self.needed.last()).map_or(&[], |steps| steps)
    }

    /// Leaves to each lifeline what the guards that it owns and what others ask of it are made of. `owners` are the numbers
    /// of lifelines, one for each guard.
    pub(super) fn restrict_to_owners(&mut self, owners: &[usize]) {
        let lifelines = self.kept.len();
        self.needed = (0..=lifelines)
            .map(|lifeline| {
                let owned =
                    self.guards.iter().zip(owners).filter(|(_, owner)| **owner == lifeline).map(|(step, _)| *step);
                let mut needed: BTreeSet<u32> = owned.chain(self.kept(lifeline).iter().copied()).collect();
                let mut open: Vec<u32> = needed.iter().copied().collect();
                while let Some(step) = open.pop() {
                    open.extend(self.operands_of(step).into_iter().filter(|part| needed.insert(*part)));
                }
                needed.into_iter().collect()
            })
            .collect();
    }

    /// The steps that a step is found from at the same lifeline.
    fn operands_of(&self, step: u32) -> Vec<u32> {
        match &self.ops[step as usize] {
            Op::Constant(_) | Op::Atom(_) | Op::Seen(_) => Vec::new(),
            Op::Not(a) | Op::Yesterday(a) | Op::Once(a) | Op::Historically(a) => vec![*a],
            Op::And(range) | Op::Or(range) => self.operands[range.start as usize..range.end as usize].to_vec(),
            Op::Implies(a, b) | Op::Iff(a, b) | Op::Since(a, b) => vec![*a, *b],
            Op::At { step, .. } | Op::Anywhere { step, .. } => vec![*step],
        }
    }

    pub(super) fn kept_fields(&self, lifeline: usize) -> &[Arc<str>] {
        self.kept_fields.get(lifeline).map_or(&[], |fields| fields)
    }

    /// A variable of another lifeline, as far as that was seen.
    pub(super) fn remote<'a>(&self, seen: &'a [VisibleState], lifeline: &str, name: &str) -> Option<Value<'a>> {
        let found = self.remotes.binary_search_by(|r| (&*r.lifeline, &*r.name).cmp(&(lifeline, name))).ok()?;
        let remote = &self.remotes[found];
        let view = seen.get(remote.at)?.view.as_ref()?;
        view.fields.get(remote.place)?.as_ref().map(Literal::value)
    }
}

/// An event as atoms read it.
pub(super) struct EventContext<'a> {
    pub(super) code: &'a Program,
    /// The number and the name of its lifeline.
    pub(super) own: usize,
    pub(super) lifeline: &'a str,
    pub(super) kind: EventKind,
    /// The variables of the lifeline after the event, and the application's labels and predicates.
    pub(super) record: &'a dyn Record,
    /// What is visible of the other lifelines.
    pub(super) seen: &'a [VisibleState],
}

impl Record for EventContext<'_> {
    fn field(&self, name: &str) -> Option<Value<'_>> {
        match name {
            "kind" => Some(Value::Text(self.kind.name().into())),
            "lifeline" => Some(Value::Text(self.lifeline.into())),
            _ => self.record.field(name),
        }
    }

    fn label(&self, kind: &str, text: &str) -> Option<bool> {
        self.record.label(kind, text)
    }

    fn call(&self, name: &str, arguments: &[Value<'_>]) -> Option<bool> {
        self.record.call(name, arguments)
    }

    fn values(&self, name: &str) -> Vec<Option<Value<'_>>> {
        self.record.values(name)
    }

    fn has(&self, name: &str) -> bool {
        self.record.has(name)
    }

    fn field_at(&self, lifeline: &str, name: &str) -> Option<Value<'_>> {
        if lifeline == self.lifeline {
            // What is not finite is undefined, here as in a view.
            return self.field(name).filter(|value| !matches!(value, Value::Number(number) if !number.is_finite()));
        }
        self.code.remote(self.seen, lifeline, name)
    }
}

impl EventContext<'_> {
    /// The value of every step that is needed at this event, given those at the lifeline's previous event (`before`), if there is one.
    /// Algorithm 2; `P` and `O` only ever become true.
    pub(super) fn evaluate(&self, is_first: bool, before: &[bool], now: &mut [bool]) {
        let code = self.code;
        for i in code.needed(self.own).iter().map(|step| *step as usize) {
            let op = &code.ops[i];
            let at = |step: &u32| now[*step as usize];
            let operands = |range: &Range<u32>| &code.operands[range.start as usize..range.end as usize];
            now[i] = match op {
                Op::Constant(value) => *value,
                Op::Atom(atom) => code.atoms[*atom as usize].holds(self),
                Op::Not(a) => !at(a),
                Op::And(range) => operands(range).iter().all(at),
                Op::Or(range) => operands(range).iter().any(at),
                Op::Implies(a, b) => !at(a) || at(b),
                Op::Iff(a, b) => at(a) == at(b),
                Op::Yesterday(a) => before[*a as usize],
                Op::Once(a) => at(a) || before[i],
                Op::Historically(a) => at(a) && (is_first || before[i]),
                Op::Since(a, b) => at(b) || (at(a) && before[i]),
                Op::At { lifeline, step, .. } if *lifeline as usize == self.own => at(step),
                Op::At { lifeline, place, .. } => self.visible(*lifeline as usize, *place),
                Op::Anywhere { step, place } => {
                    before[i] || at(step) || (0..self.seen.len()).any(|b| b != self.own && self.visible(b, *place))
                }
                Op::Seen(lifeline) => {
                    let lifeline = *lifeline as usize;
                    lifeline == self.own || self.seen.get(lifeline).is_some_and(|seen| seen.count > 0)
                }
            };
        }
    }

    fn visible(&self, lifeline: usize, place: u32) -> bool {
        let view = self.seen.get(lifeline).and_then(|seen| seen.view.as_ref());
        view.and_then(|view| view.values.get(place as usize)).copied().unwrap_or(false)
    }

    /// What other lifelines may ask of this event. `last` is returned again where nothing has changed since.
    pub(super) fn view(&self, now: &[bool], last: Option<&Arc<ExportedValues>>) -> Option<Arc<ExportedValues>> {
        let (steps, fields) = (self.code.kept(self.own), self.code.kept_fields(self.own));
        if steps.is_empty() && fields.is_empty() {
            return None;
        }
        if let Some(last) = last
            && steps.iter().zip(&last.values).all(|(step, was)| now[*step as usize] == *was)
            && fields.iter().zip(&last.fields).all(|(name, was)| match (self.field(name), was) {
                (value, Some(was)) => value == Some(was.value()),
                (value, None) => value.is_none_or(|value| Literal::from_value(&value).is_none()),
            })
        {
            return Some(last.clone());
        }
        let values = steps.iter().map(|step| now[*step as usize]).collect();
        let fields = fields.iter().map(|name| self.field(name).and_then(|value| Literal::from_value(&value))).collect();
        Some(Arc::new(ExportedValues { values, fields }))
    }
}
