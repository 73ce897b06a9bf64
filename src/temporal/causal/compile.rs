//! From guards to steps: derived operators are unfolded, and what other lifelines ask for is laid out.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;
use std::sync::Arc;

use super::super::atom::{Atom, Term};
use super::super::formula::{Binary, Causal, Formula, Formulas, Node, Unary};
use super::super::parse::MAX_DEPTH;
use super::super::readings::{Reading, Schema, UnsupportedError};
use super::errors::GuardError;
use super::exports::{Exports, Layout};
use super::program::{Op, Program, RemoteField};

/// How many nodes a guard may have when it is written out.
pub const MAX_GUARD_SIZE: u64 = 100_000;

/// The steps of guards, and what is kept of each lifeline.
pub(super) fn compile(
    formulas: &Formulas,
    guards: &[Formula],
    lifelines: &[&str],
) -> Result<(Program, Layout), GuardError> {
    for (i, name) in lifelines.iter().enumerate() {
        if lifelines[..i].contains(name) {
            return Err(GuardError::DuplicateLifeline((*name).to_owned()));
        }
    }
    let schema = Schema { lifelines: Some(lifelines.iter().map(ToString::to_string).collect()), ..Schema::default() };
    for (i, guard) in guards.iter().enumerate() {
        let refused = |why| GuardError::Unsupported { guard: (guards.len() > 1).then_some(i + 1), why };
        formulas.check_reading(*guard, Reading::Causal).map_err(refused)?;
        formulas.check_lifelines(*guard, &schema).map_err(refused)?;
        bounded(formulas, *guard).map_err(|what| GuardError::TooLarge { guard: i + 1, what })?;
    }
    let mut compiler = Compiler {
        formulas,
        lifelines: lifelines.iter().map(|name| (*name).into()).collect(),
        ops: Vec::new(),
        operands: Vec::new(),
        atoms: Vec::new(),
        steps: HashMap::new(),
        once: HashMap::new(),
        asked: vec![BTreeSet::new(); lifelines.len()],
        everywhere: BTreeSet::new(),
        asked_fields: vec![BTreeSet::new(); lifelines.len()],
        fields: BTreeSet::new(),
    };
    for part in formulas.subformulas_of(guards) {
        compiler.step(part);
    }
    Ok(compiler.lay_out(guards))
}

/// A guard's parts are named by their text, which a shared part makes long and a deep one makes deep.
fn bounded(formulas: &Formulas, guard: Formula) -> Result<(), String> {
    let mut measures: HashMap<Formula, (u64, usize)> = HashMap::new();
    for part in formulas.subformulas(guard) {
        let children = formulas.node(part).children();
        let size = children.iter().fold(1u64, |sum, child| sum.saturating_add(measures[child].0));
        let depth = children.iter().map(|child| measures[child].1).max().unwrap_or(0) + 1;
        if depth > MAX_DEPTH {
            return Err(format!("it nests deeper than {MAX_DEPTH}"));
        }
        if size > MAX_GUARD_SIZE {
            return Err(format!("it has more than {MAX_GUARD_SIZE} parts"));
        }
        measures.insert(part, (size, depth));
    }
    Ok(())
}

struct Compiler<'a> {
    formulas: &'a Formulas,
    lifelines: Vec<Arc<str>>,
    ops: Vec<Op>,
    operands: Vec<u32>,
    atoms: Vec<Atom>,
    steps: HashMap<Formula, u32>,
    /// The step of `O a` by the formula `a`.
    once: HashMap<Formula, u32>,
    /// The steps that others ask of each lifeline, with their text.
    asked: Vec<BTreeSet<(u32, Arc<str>)>>,
    /// The steps that are asked of all.
    everywhere: BTreeSet<(u32, Arc<str>)>,
    asked_fields: Vec<BTreeSet<Arc<str>>>,
    fields: BTreeSet<Arc<str>>,
}

impl Compiler<'_> {
    fn push(&mut self, op: Op) -> u32 {
        self.ops.push(op);
        number(self.ops.len() - 1)
    }

    fn step(&mut self, part: Formula) {
        let of = |formula: &Formula| self.steps[formula];
        let op = match self.formulas.node(part) {
            Node::True => Op::Constant(true),
            Node::False => Op::Constant(false),
            Node::Atom(id) => {
                let atom = self.formulas.atom(*id).clone();
                self.read(&atom);
                self.atoms.push(atom);
                Op::Atom(number(self.atoms.len() - 1))
            }
            Node::Not(a) => Op::Not(of(a)),
            Node::And(all) => {
                let all: Vec<u32> = all.iter().map(of).collect();
                Op::And(self.range(&all))
            }
            Node::Or(all) => {
                let all: Vec<u32> = all.iter().map(of).collect();
                Op::Or(self.range(&all))
            }
            Node::Unary(Unary::Yesterday, a) => Op::Yesterday(of(a)),
            Node::Unary(Unary::Historically, a) => Op::Historically(of(a)),
            Node::Unary(Unary::Once, a) => {
                let once = self.once(*a);
                self.steps.insert(part, once);
                return;
            }
            Node::Unary(Unary::Past, a) => {
                let once = self.once(*a);
                let text = self.once_text(*a);
                self.everywhere.insert((once, text));
                // The place is known when all that is asked of every lifeline is.
                Op::Anywhere { step: once, place: 0 }
            }
            Node::Binary(Binary::Implies, [a, b]) => Op::Implies(of(a), of(b)),
            Node::Binary(Binary::Iff, [a, b]) => Op::Iff(of(a), of(b)),
            Node::Binary(Binary::Since, [a, b]) => Op::Since(of(a), of(b)),
            Node::Causal(Causal::At, lifeline, a) => {
                let text = match self.formulas.node(*a) {
                    Node::Unary(Unary::Once, inner) => self.once_text(*inner),
                    _ => self.formulas.text(*a).into(),
                };
                self.at(lifeline, of(a), text)
            }
            Node::Causal(Causal::PastAt, lifeline, a) => {
                let once = self.once(*a);
                let text = self.once_text(*a);
                self.at(lifeline, once, text)
            }
            Node::Seen(lifeline) => Op::Seen(number(self.lifeline(lifeline))),
            Node::Unary(Unary::Next | Unary::WeakNext | Unary::Globally | Unary::Finally, _)
            | Node::Binary(Binary::Until | Binary::WeakUntil | Binary::Release | Binary::StrongRelease, _) => {
                unreachable!("the causal reading refuses the future")
            }
        };
        let step = self.push(op);
        self.steps.insert(part, step);
    }

    fn range(&mut self, all: &[u32]) -> Range<u32> {
        let start = number(self.operands.len());
        self.operands.extend_from_slice(all);
        start..number(self.operands.len())
    }

    /// The step of `O a`, that is of `true S a`.
    fn once(&mut self, a: Formula) -> u32 {
        if let Some(known) = self.once.get(&a) {
            return *known;
        }
        let step = self.push(Op::Once(self.steps[&a]));
        self.once.insert(a, step);
        step
    }

    fn once_text(&self, a: Formula) -> Arc<str> {
        format!("O ({})", self.formulas.text(a)).into()
    }

    fn at(&mut self, lifeline: &str, step: u32, text: Arc<str>) -> Op {
        let lifeline = self.lifeline(lifeline);
        self.asked[lifeline].insert((step, text));
        Op::At { lifeline: number(lifeline), step, place: 0 }
    }

    fn lifeline(&self, name: &str) -> usize {
        self.lifelines.iter().position(|known| &**known == name).expect("unknown lifelines are refused before")
    }

    /// Takes down what an atom reads.
    fn read(&mut self, atom: &Atom) {
        if let Atom::Name(name) = atom {
            self.fields.insert(name.clone());
        }
        for (lifeline, name) in atom.terms().into_iter().flat_map(Term::fields) {
            self.fields.insert(name.into());
            if let Some(lifeline) = lifeline {
                let lifeline = self.lifeline(lifeline);
                self.asked_fields[lifeline].insert(name.into());
            }
        }
    }

    fn lay_out(mut self, guards: &[Formula]) -> (Program, Layout) {
        let (everywhere, everywhere_texts): (Vec<u32>, Vec<Arc<str>>) = self.everywhere.iter().cloned().unzip();
        let mut code = Program::default();
        let mut kept_steps = Vec::new();
        let mut layout = Layout { lifelines: self.lifelines, exports: Vec::new() };
        for (asked, fields) in self.asked.iter().zip(&self.asked_fields) {
            let (mut steps, mut formulas) = (everywhere.clone(), everywhere_texts.clone());
            for (step, text) in asked {
                if !everywhere.contains(step) {
                    steps.push(*step);
                    formulas.push(text.clone());
                }
            }
            kept_steps.push(steps.into_boxed_slice());
            layout.exports.push(Exports { formulas, fields: fields.iter().cloned().collect() });
        }
        let place_in = |steps: &[u32], step: u32| {
            number(steps.iter().position(|kept| *kept == step).expect("what is asked for is kept"))
        };
        for op in &mut self.ops {
            match op {
                Op::At { lifeline, step, place } => *place = place_in(&kept_steps[*lifeline as usize], *step),
                Op::Anywhere { step, place } => *place = place_in(&everywhere, *step),
                _ => {}
            }
        }
        let mut remotes = Vec::new();
        for (at, (lifeline, kept)) in layout.lifelines.iter().zip(&layout.exports).enumerate() {
            for (place, name) in kept.fields.iter().enumerate() {
                remotes.push(RemoteField { lifeline: lifeline.clone(), name: name.clone(), at, place });
            }
        }
        remotes.sort_by(|a, b| (&a.lifeline, &a.name).cmp(&(&b.lifeline, &b.name)));
        code.ops = self.ops.into();
        code.needed = Box::new([(0..number(code.ops.len())).collect()]);
        code.operands = self.operands.into();
        code.atoms = self.atoms.into();
        code.guards = guards.iter().map(|guard| self.steps[guard]).collect();
        code.kept = kept_steps.into();
        code.kept_fields = layout.exports.iter().map(|kept| kept.fields.clone().into_boxed_slice()).collect();
        code.everywhere = everywhere.into();
        code.everywhere_texts = everywhere_texts.into();
        code.remotes = remotes.into();
        code.fields = self.fields.into_iter().collect();
        (code, layout)
    }
}

fn number(at: usize) -> u32 {
    u32::try_from(at).expect("fewer than four thousand million steps")
}

impl Formulas {
    /// That every lifeline that a formula names exists, those in `@A.x` included.
    fn check_lifelines(&self, formula: Formula, schema: &Schema) -> Result<(), UnsupportedError> {
        for part in self.subformulas(formula) {
            match self.node(part) {
                Node::Causal(_, lifeline, _) | Node::Seen(lifeline) => schema.check_lifeline(lifeline)?,
                Node::Atom(atom) => {
                    for (lifeline, _) in self.atom(*atom).terms().into_iter().flat_map(Term::fields) {
                        lifeline.map_or(Ok(()), |lifeline| schema.check_lifeline(lifeline))?;
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }
}
