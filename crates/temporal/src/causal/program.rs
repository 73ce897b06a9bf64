//! Compiled guards: their distinct subformulas as a list of steps, operands first, and the evaluation at one event.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use super::super::atom::{Atom, Literal, Record, Value};
use super::event::EventKind;
use super::exports::{ExportedValues, VisibleState};

/// An operation of a step. Numbers refer to earlier steps.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Op {
    Constant(bool),
    /// An index in [`Program::atoms`].
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
    /// The value of a step at the latest visible event of a lifeline, and its index in the values that the lifeline exports.
    At {
        lifeline: u32,
        step: u32,
        index: u32,
    },
    /// Whether a step holds at the latest visible event of some lifeline; the index is the same for all lifelines.
    Anywhere {
        step: u32,
        index: u32,
    },
    Seen(u32),
}

/// A variable of another lifeline that atoms read (`@A.x`), and its index in the exported values.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct RemoteField {
    pub(super) lifeline: Arc<str>,
    pub(super) name: Arc<str>,
    /// The number of the lifeline.
    pub(super) lifeline_number: usize,
    /// The index among the variables that the lifeline exports.
    pub(super) index: usize,
}

/// Everything that evaluation needs, except lifelines that are added later.
#[derive(Debug, Clone, Default)]
pub(super) struct Program {
    pub(super) ops: Box<[Op]>,
    pub(super) operands: Box<[u32]>,
    pub(super) atoms: Box<[Atom]>,
    /// The step of each guard.
    pub(super) guards: Box<[u32]>,
    /// By lifeline, the steps to evaluate at its events, in ascending order. The last entry is for lifelines added later.
    pub(super) needed: Box<[Box<[u32]>]>,
    /// By lifeline, the steps that it exports, for the lifelines that the guards were compiled with.
    pub(super) exported_steps: Box<[Box<[u32]>]>,
    /// By lifeline, the variables that it exports.
    pub(super) exported_fields: Box<[Box<[Arc<str>]>]>,
    /// The steps that every lifeline exports because a `P(…)` reads them. They come first in the exports.
    pub(super) everywhere: Box<[u32]>,
    pub(super) everywhere_texts: Box<[Arc<str>]>,
    /// Sorted by lifeline and name.
    pub(super) remotes: Box<[RemoteField]>,
    /// The fields that atoms read, sorted.
    pub(super) fields: Box<[Arc<str>]>,
}

impl Program {
    pub(super) fn exported_steps(&self, lifeline: usize) -> &[u32] {
        self.exported_steps.get(lifeline).unwrap_or(&self.everywhere)
    }

    /// The steps to evaluate at an event of a lifeline.
    fn needed(&self, lifeline: usize) -> &[u32] {
        self.needed.get(lifeline).or(self.needed.last()).map_or(&[], |steps| steps)
    }

    /// Restricts each lifeline to the steps of the guards that it owns and of its exports. `owners` has the lifeline number
    /// of each guard.
    pub(super) fn restrict_to_owners(&mut self, owners: &[usize]) {
        let lifelines = self.exported_steps.len();
        // One entry more, for lifelines that are added later: they own no guard and only export.
        self.needed = (0..=lifelines)
            .map(|lifeline| {
                let owned =
                    self.guards.iter().zip(owners).filter(|(_, owner)| **owner == lifeline).map(|(step, _)| *step);
                let mut needed: BTreeSet<u32> = owned.chain(self.exported_steps(lifeline).iter().copied()).collect();
                let mut open: Vec<u32> = needed.iter().copied().collect();
                while let Some(step) = open.pop() {
                    open.extend(self.operands_of(step).into_iter().filter(|part| needed.insert(*part)));
                }
                needed.into_iter().collect()
            })
            .collect();
    }

    /// The steps of the same lifeline that a step reads.
    fn operands_of(&self, step: u32) -> Vec<u32> {
        match &self.ops[step as usize] {
            Op::Constant(_) | Op::Atom(_) | Op::Seen(_) => Vec::new(),
            Op::Not(a) | Op::Yesterday(a) | Op::Once(a) | Op::Historically(a) => vec![*a],
            Op::And(range) | Op::Or(range) => self.operands[range.start as usize..range.end as usize].to_vec(),
            Op::Implies(a, b) | Op::Iff(a, b) | Op::Since(a, b) => vec![*a, *b],
            Op::At { step, .. } | Op::Anywhere { step, .. } => vec![*step],
        }
    }

    pub(super) fn exported_fields(&self, lifeline: usize) -> &[Arc<str>] {
        self.exported_fields.get(lifeline).map_or(&[], |fields| fields)
    }

    /// A variable of another lifeline at its latest visible event.
    pub(super) fn remote<'a>(&self, seen: &'a [VisibleState], lifeline: &str, name: &str) -> Option<Value<'a>> {
        let found = self.remotes.binary_search_by(|r| (&*r.lifeline, &*r.name).cmp(&(lifeline, name))).ok()?;
        let remote = &self.remotes[found];
        let exported = seen.get(remote.lifeline_number)?.exported.as_ref()?;
        exported.fields.get(remote.index)?.as_ref().map(Literal::value)
    }
}

/// An event, as atoms read it.
pub(super) struct EventContext<'a> {
    pub(super) program: &'a Program,
    /// The number and the name of the lifeline.
    pub(super) own: usize,
    pub(super) lifeline: &'a str,
    pub(super) kind: EventKind,
    /// The variables of the lifeline after the event, and the labels and predicates of the application.
    pub(super) record: &'a dyn Record,
    /// What is visible of the other lifelines, by their numbers.
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
            // A number that is not finite is undefined, as it is in exported values.
            return self.field(name).filter(|value| !matches!(value, Value::Number(number) if !number.is_finite()));
        }
        self.program.remote(self.seen, lifeline, name)
    }
}

impl EventContext<'_> {
    /// Evaluates every step that is needed at this event, given the values at the previous event of the lifeline
    /// (Algorithm 2). At the first event `previous` must be all false.
    pub(super) fn evaluate(&self, is_first: bool, previous: &[bool], values: &mut [bool]) {
        let program = self.program;
        for i in program.needed(self.own).iter().map(|step| *step as usize) {
            let op = &program.ops[i];
            let value_of = |step: &u32| values[*step as usize];
            let operands = |range: &Range<u32>| &program.operands[range.start as usize..range.end as usize];
            values[i] = match op {
                Op::Constant(value) => *value,
                Op::Atom(atom) => program.atoms[*atom as usize].holds(self),
                Op::Not(a) => !value_of(a),
                Op::And(range) => operands(range).iter().all(value_of),
                Op::Or(range) => operands(range).iter().any(value_of),
                Op::Implies(a, b) => !value_of(a) || value_of(b),
                Op::Iff(a, b) => value_of(a) == value_of(b),
                Op::Yesterday(a) => previous[*a as usize],
                Op::Once(a) => value_of(a) || previous[i],
                // The only operator of the past that is true without a previous event.
                Op::Historically(a) => value_of(a) && (is_first || previous[i]),
                Op::Since(a, b) => value_of(b) || (value_of(a) && previous[i]),
                // At its own lifeline, the latest visible event is this one.
                Op::At { lifeline, step, .. } if *lifeline as usize == self.own => value_of(step),
                Op::At { lifeline, index, .. } => self.visible(*lifeline as usize, *index),
                // Once true, it stays true: the causal past only grows.
                Op::Anywhere { step, index } => {
                    previous[i]
                        || value_of(step)
                        || (0..self.seen.len()).any(|b| b != self.own && self.visible(b, *index))
                }
                Op::Seen(lifeline) => {
                    let lifeline = *lifeline as usize;
                    // This event is in its own causal past.
                    lifeline == self.own || self.seen.get(lifeline).is_some_and(|seen| seen.count > 0)
                }
            };
        }
    }

    fn visible(&self, lifeline: usize, index: u32) -> bool {
        let exported = self.seen.get(lifeline).and_then(|seen| seen.exported.as_ref());
        exported.and_then(|exported| exported.values.get(index as usize)).copied().unwrap_or(false)
    }

    /// The exported values of this event. Returns `last` if nothing has changed since, so that stamps share memory.
    pub(super) fn export_values(
        &self,
        values: &[bool],
        last: Option<&Arc<ExportedValues>>,
    ) -> Option<Arc<ExportedValues>> {
        let (steps, fields) = (self.program.exported_steps(self.own), self.program.exported_fields(self.own));
        if steps.is_empty() && fields.is_empty() {
            return None;
        }
        if let Some(last) = last
            && steps.iter().zip(&last.values).all(|(step, was)| values[*step as usize] == *was)
            && fields.iter().zip(&last.fields).all(|(name, was)| match (self.field(name), was) {
                (value, Some(was)) => value == Some(was.value()),
                // A number that is not finite has no literal, so it was exported as undefined.
                (value, None) => value.is_none_or(|value| Literal::from_value(&value).is_none()),
            })
        {
            return Some(last.clone());
        }
        let values = steps.iter().map(|step| values[*step as usize]).collect();
        let fields = fields.iter().map(|name| self.field(name).and_then(|value| Literal::from_value(&value))).collect();
        Some(Arc::new(ExportedValues { values, fields }))
    }
}
