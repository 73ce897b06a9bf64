//! Compiles guards to steps: expands derived operators, and determines what each lifeline exports.

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

/// Maximum number of nodes of a guard as a tree. Exported subformulas are identified by their text, which shared
/// subformulas can make exponentially long.
pub const MAX_GUARD_SIZE: u64 = 100_000;

/// Compiles guards over these lifelines.
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
    // Fields and predicates are not checked here: only the caller knows them.
    let schema = Schema { lifelines: Some(lifelines.iter().map(ToString::to_string).collect()), ..Schema::default() };
    for (i, guard) in guards.iter().enumerate() {
        // The number helps only if there are several guards.
        let refused = |why| GuardError::Unsupported { guard: (guards.len() > 1).then_some(i + 1), why };
        formulas.check_reading(*guard, Reading::Causal).map_err(refused)?;
        formulas.check_lifelines(*guard, &schema).map_err(refused)?;
        check_size(formulas, *guard).map_err(|what| GuardError::TooLarge { guard: i + 1, what })?;
    }
    let mut compiler = Compiler {
        formulas,
        lifelines: lifelines.iter().map(|name| (*name).into()).collect(),
        ops: Vec::new(),
        operands: Vec::new(),
        atoms: Vec::new(),
        steps: HashMap::new(),
        once_steps: HashMap::new(),
        exported_steps: vec![BTreeSet::new(); lifelines.len()],
        everywhere: BTreeSet::new(),
        exported_fields: vec![BTreeSet::new(); lifelines.len()],
        fields: BTreeSet::new(),
    };
    for part in formulas.subformulas_of(guards) {
        compiler.compile_step(part);
    }
    Ok(compiler.lay_out(guards))
}

/// Checks the size and depth of a guard as a tree, because exported subformulas are identified by their text.
fn check_size(formulas: &Formulas, guard: Formula) -> Result<(), String> {
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
    once_steps: HashMap<Formula, u32>,
    /// By lifeline, the steps that others read, with their text. Ordered, because sender and receiver compile separately
    /// and must agree on the layout.
    exported_steps: Vec<BTreeSet<(u32, Arc<str>)>>,
    /// The steps that are read of all lifelines.
    everywhere: BTreeSet<(u32, Arc<str>)>,
    exported_fields: Vec<BTreeSet<Arc<str>>>,
    fields: BTreeSet<Arc<str>>,
}

impl Compiler<'_> {
    fn push(&mut self, op: Op) -> u32 {
        self.ops.push(op);
        to_u32(self.ops.len() - 1)
    }

    fn compile_step(&mut self, part: Formula) {
        let of = |formula: &Formula| self.steps[formula];
        let op = match self.formulas.node(part) {
            Node::True => Op::Constant(true),
            Node::False => Op::Constant(false),
            Node::Atom(id) => {
                let atom = self.formulas.atom(*id).clone();
                self.record_fields(&atom);
                self.atoms.push(atom);
                Op::Atom(to_u32(self.atoms.len() - 1))
            }
            Node::Not(a) => Op::Not(of(a)),
            Node::And(all) => {
                let all: Vec<u32> = all.iter().map(of).collect();
                Op::And(self.push_operands(&all))
            }
            Node::Or(all) => {
                let all: Vec<u32> = all.iter().map(of).collect();
                Op::Or(self.push_operands(&all))
            }
            Node::Unary(Unary::Yesterday, a) => Op::Yesterday(of(a)),
            Node::Unary(Unary::Historically, a) => Op::Historically(of(a)),
            Node::Unary(Unary::Once, a) => {
                let once_steps = self.compile_once(*a);
                self.steps.insert(part, once_steps);
                return;
            }
            Node::Unary(Unary::Past, a) => {
                let once_steps = self.compile_once(*a);
                let text = self.once_text(*a);
                self.everywhere.insert((once_steps, text));
                // The index is set in `lay_out`, when all exports are known.
                Op::Anywhere { step: once_steps, index: 0 }
            }
            Node::Binary(Binary::Implies, [a, b]) => Op::Implies(of(a), of(b)),
            Node::Binary(Binary::Iff, [a, b]) => Op::Iff(of(a), of(b)),
            Node::Binary(Binary::Since, [a, b]) => Op::Since(of(a), of(b)),
            Node::Causal(Causal::At, lifeline, a) => {
                let text = match self.formulas.node(*a) {
                    // `@A(O f)` shares its step with `P@A(f)`, and one step must be exported under one text.
                    Node::Unary(Unary::Once, inner) => self.once_text(*inner),
                    _ => self.formulas.text(*a).into(),
                };
                self.compile_at(lifeline, of(a), text)
            }
            Node::Causal(Causal::PastAt, lifeline, a) => {
                let once_steps = self.compile_once(*a);
                let text = self.once_text(*a);
                self.compile_at(lifeline, once_steps, text)
            }
            Node::Seen(lifeline) => Op::Seen(to_u32(self.lifeline_number(lifeline))),
            Node::Unary(Unary::Next | Unary::WeakNext | Unary::Globally | Unary::Finally, _)
            | Node::Binary(Binary::Until | Binary::WeakUntil | Binary::Release | Binary::StrongRelease, _) => {
                unreachable!("the causal reading refuses future operators")
            }
        };
        let step = self.push(op);
        self.steps.insert(part, step);
    }

    fn push_operands(&mut self, all: &[u32]) -> Range<u32> {
        let start = to_u32(self.operands.len());
        self.operands.extend_from_slice(all);
        start..to_u32(self.operands.len())
    }

    /// The step of `O a`, which is `true S a`.
    fn compile_once(&mut self, a: Formula) -> u32 {
        if let Some(known) = self.once_steps.get(&a) {
            return *known;
        }
        let step = self.push(Op::Once(self.steps[&a]));
        self.once_steps.insert(a, step);
        step
    }

    fn once_text(&self, a: Formula) -> Arc<str> {
        format!("O ({})", self.formulas.text(a)).into()
    }

    fn compile_at(&mut self, lifeline: &str, step: u32, text: Arc<str>) -> Op {
        let lifeline = self.lifeline_number(lifeline);
        self.exported_steps[lifeline].insert((step, text));
        Op::At { lifeline: to_u32(lifeline), step, index: 0 }
    }

    fn lifeline_number(&self, name: &str) -> usize {
        self.lifelines.iter().position(|known| &**known == name).expect("unknown lifelines are refused above")
    }

    /// Records the fields that an atom reads.
    fn record_fields(&mut self, atom: &Atom) {
        if let Atom::Name(name) = atom {
            self.fields.insert(name.clone());
        }
        for (lifeline, name) in atom.terms().into_iter().flat_map(Term::fields) {
            self.fields.insert(name.into());
            if let Some(lifeline) = lifeline {
                let lifeline = self.lifeline_number(lifeline);
                self.exported_fields[lifeline].insert(name.into());
            }
        }
    }

    fn lay_out(mut self, guards: &[Formula]) -> (Program, Layout) {
        let (everywhere, everywhere_texts): (Vec<u32>, Vec<Arc<str>>) = self.everywhere.iter().cloned().unzip();
        let mut code = Program::default();
        let mut exported = Vec::new();
        let mut layout = Layout { lifelines: self.lifelines, exports: Vec::new() };
        for (exported_steps, fields) in self.exported_steps.iter().zip(&self.exported_fields) {
            // Those of `P(…)` first, so that they have the same index at every lifeline, also at one that is added
            // later.
            let (mut steps, mut formulas) = (everywhere.clone(), everywhere_texts.clone());
            for (step, text) in exported_steps {
                if !everywhere.contains(step) {
                    steps.push(*step);
                    formulas.push(text.clone());
                }
            }
            exported.push(steps.into_boxed_slice());
            layout.exports.push(Exports { formulas, fields: fields.iter().cloned().collect() });
        }
        let index_in = |steps: &[u32], step: u32| {
            to_u32(steps.iter().position(|kept| *kept == step).expect("every step that is read is exported"))
        };
        for op in &mut self.ops {
            match op {
                Op::At { lifeline, step, index } => *index = index_in(&exported[*lifeline as usize], *step),
                Op::Anywhere { step, index } => *index = index_in(&everywhere, *step),
                _ => {}
            }
        }
        let mut remotes = Vec::new();
        for (at, (lifeline, kept)) in layout.lifelines.iter().zip(&layout.exports).enumerate() {
            for (index, name) in kept.fields.iter().enumerate() {
                remotes.push(RemoteField {
                    lifeline: lifeline.clone(),
                    name: name.clone(),
                    lifeline_number: at,
                    index,
                });
            }
        }
        // Sorted for the binary search of `Program::remote`.
        remotes.sort_by(|a, b| (&a.lifeline, &a.name).cmp(&(&b.lifeline, &b.name)));
        code.ops = self.ops.into();
        // One entry for all lifelines: without owners, each evaluates every step.
        code.needed = Box::new([(0..to_u32(code.ops.len())).collect()]);
        code.operands = self.operands.into();
        code.atoms = self.atoms.into();
        code.guards = guards.iter().map(|guard| self.steps[guard]).collect();
        code.exported_steps = exported.into();
        code.exported_fields = layout.exports.iter().map(|kept| kept.fields.clone().into_boxed_slice()).collect();
        code.everywhere = everywhere.into();
        code.everywhere_texts = everywhere_texts.into();
        code.remotes = remotes.into();
        code.fields = self.fields.into_iter().collect();
        (code, layout)
    }
}

fn to_u32(index: usize) -> u32 {
    u32::try_from(index).expect("fewer than 2^32 steps")
}

impl Formulas {
    /// Checks that every lifeline of a formula exists, including those of `@A.x`.
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
