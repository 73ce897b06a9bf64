//! Checks the temporal formulas that `tla-mc` does not check, on the complete graph of the states, which is kept in memory.
//!
//! A property is violated if a fair behaviour satisfies its negation. Before such a behaviour is shown, it is evaluated
//! again position by position; if that disagrees, nothing is decided.

use std::collections::HashMap;

use tla_mc::check::Checker;
use tla_mc::eval::{Bufs, Program};
use tla_mc::liveness::{self, FairInst, Sub, eval_env};
use tla_mc::store;
use tla_mc::value::Value;
use tlaforge_temporal::infinite::{Fairness, Formula, Graph, Lasso, SearchError, find_behaviour};
use tlaforge_tla::semantic::Place;

use super::core_temporal::{Fair, LeafBody, Part, TemporalFormulas, Tree};
use super::steps::{State, is_inside, next_states};

/// A violated property.
pub(super) struct Violation {
    pub(super) name: String,
    /// The violated conjunct, if the property has several.
    pub(super) part: Option<Place>,
    pub(super) states: Vec<State>,
    /// The index of the state that follows the last one.
    pub(super) back_to: usize,
}

/// The first violated one of these properties of the formulas.
///
/// # Errors
/// What cannot be evaluated, as `evaluating Live: …`, or a formula that is too large.
pub(super) fn find_violation(
    program: &Program,
    formulas: &TemporalFormulas,
    properties: &[(String, Part)],
) -> Result<Option<Violation>, String> {
    let mut graph = StateGraph::explore(program)?;
    let mut fairness = Vec::new();
    let mut assumed = Vec::new();
    for part in &formulas.assumed {
        graph.collect_assumed(formulas, part, &mut Vec::new(), &mut assumed, &mut fairness)?;
    }
    for (name, property) in properties {
        let mut parts = Vec::new();
        graph.collect_parts(formulas, property, &mut Vec::new(), &mut parts)?;
        let has_several = parts.len() > 1;
        for (part, place) in parts {
            let mut wanted = assumed.clone();
            wanted.push(part.negated());
            let wanted = Formula::And(wanted);
            let found = find_behaviour(&mut graph, &wanted, &fairness).map_err(|error| match error {
                SearchError::Graph(what) => format!("evaluating {name}: {what}"),
                SearchError::FormulaTooLarge => format!("property {name}: {}", SearchError::<String>::FormulaTooLarge),
            })?;
            let Some(lasso) = found else { continue };
            let lasso = without_stuttering(lasso);
            if !lasso.satisfies(&mut graph, &wanted)? || !lasso.is_fair(&mut graph, &fairness)? {
                return Err(format!(
                    "property {name}: a behaviour was found that is no counterexample; this is a defect"
                ));
            }
            let states: Vec<State> =
                lasso.prefix.iter().chain(&lasso.cycle).map(|number| graph.states[*number].clone()).collect();
            let part = has_several.then_some(place);
            return Ok(Some(Violation { name: name.clone(), part, states, back_to: lasso.prefix.len() }));
        }
    }
    Ok(None)
}

/// The same behaviour without steps that change nothing, unless it ends with them.
fn without_stuttering(lasso: Lasso) -> Lasso {
    let Lasso { mut prefix, mut cycle } = lasso;
    cycle.dedup();
    while cycle.len() > 1 && cycle.first() == cycle.last() {
        cycle.pop();
    }
    prefix.dedup();
    // A cycle can begin earlier.
    while cycle.len() > 1 && prefix.last().is_some() && prefix.last() == cycle.last() {
        prefix.pop();
        cycle.rotate_right(1);
    }
    if prefix.last() == cycle.first() {
        prefix.pop();
    }
    Lasso { prefix, cycle }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Known {
    No,
    False,
    True,
}

/// A leaf with the values of the names around it.
struct Atom<'p> {
    frame: u32,
    env: Vec<(u32, Value)>,
    body: LeafBody<'p>,
    /// The value of the leaf where the atom is true.
    sign: bool,
    fair: Option<(FairInst<'p>, Sub)>,
    /// What was evaluated already, by state, or by step.
    known: Vec<Known>,
}

struct StateGraph<'p> {
    program: &'p Program,
    states: Vec<State>,
    initial: Vec<usize>,
    /// Each state comes first among its own successors: a behaviour may stutter.
    successors: Vec<Vec<u32>>,
    /// The number of the first step of each state.
    first_step: Vec<usize>,
    steps: usize,
    atoms: Vec<Atom<'p>>,
    /// The number of each atom, by leaf, sign and values.
    numbers: HashMap<(usize, bool, String), usize>,
    buffers: Bufs,
}

impl<'p> StateGraph<'p> {
    fn explore(program: &'p Program) -> Result<Self, String> {
        let mut graph = Self {
            program,
            states: Vec::new(),
            initial: Vec::new(),
            successors: Vec::new(),
            first_step: Vec::new(),
            steps: 0,
            atoms: Vec::new(),
            numbers: HashMap::new(),
            buffers: Bufs::default(),
        };
        let mut known: HashMap<Vec<u64>, Option<usize>> = HashMap::new();
        let checker = Checker::new(program, program, 1)?;
        for state in checker.init_states(&mut Bufs::default())? {
            if let Some(number) = graph.add(state, &mut known)?
                && !graph.initial.contains(&number)
            {
                graph.initial.push(number);
            }
        }
        let mut at = 0;
        while let Some(state) = graph.states.get(at).cloned() {
            let mut successors = vec![graph.number(at)?];
            for state in next_states(program, &state)? {
                if let Some(number) = graph.add(state, &mut known)? {
                    let number = graph.number(number)?;
                    if !successors.contains(&number) {
                        successors.push(number);
                    }
                }
            }
            graph.first_step.push(graph.steps);
            graph.steps += successors.len();
            graph.successors.push(successors);
            at += 1;
        }
        Ok(graph)
    }

    fn number(&self, state: usize) -> Result<u32, String> {
        u32::try_from(state).map_err(|_| format!("the states are too many: {}", self.states.len()))
    }

    /// The number of a state; `None` if a constraint cuts it off.
    fn add(&mut self, state: State, known: &mut HashMap<Vec<u64>, Option<usize>>) -> Result<Option<usize>, String> {
        let key: Vec<u64> = state.iter().map(store::hash_shared).collect();
        if let Some(number) = known.get(&key) {
            return Ok(*number);
        }
        if !is_inside(self.program, &state, &mut self.buffers)? {
            known.insert(key, None);
            return Ok(None);
        }
        let number = self.states.len();
        known.insert(key, Some(number));
        self.states.push(state);
        Ok(Some(number))
    }

    /// The conjuncts of a property, each with its place.
    fn collect_parts(
        &mut self,
        formulas: &'p TemporalFormulas,
        part: &Part,
        values: &mut Vec<Vec<Value>>,
        parts: &mut Vec<(Formula, Place)>,
    ) -> Result<(), String> {
        match &part.tree {
            Tree::And(all) => all.iter().try_for_each(|one| self.collect_parts(formulas, one, values, parts)),
            Tree::All(set, body) => {
                for element in self.elements(formulas, *set, values)? {
                    values.push(element);
                    self.collect_parts(formulas, body, values, parts)?;
                    values.pop();
                }
                Ok(())
            }
            tree => {
                let formula = self.formula(formulas, tree, values)?;
                parts.push((formula, part.place));
                Ok(())
            }
        }
    }

    /// What every behaviour satisfies: fairness conditions, and other formulas.
    fn collect_assumed(
        &mut self,
        formulas: &'p TemporalFormulas,
        part: &Part,
        values: &mut Vec<Vec<Value>>,
        assumed: &mut Vec<Formula>,
        fairness: &mut Vec<Fairness>,
    ) -> Result<(), String> {
        match &part.tree {
            Tree::And(all) => {
                all.iter().try_for_each(|one| self.collect_assumed(formulas, one, values, assumed, fairness))
            }
            Tree::All(set, body) => {
                for element in self.elements(formulas, *set, values)? {
                    values.push(element);
                    self.collect_assumed(formulas, body, values, assumed, fairness)?;
                    values.pop();
                }
                Ok(())
            }
            Tree::Fair(fair) => {
                let (enabled, taken) = self.fair_atoms(formulas, *fair, values)?;
                fairness.push(Fairness { is_strong: fair.is_strong, enabled, taken });
                Ok(())
            }
            tree => {
                assumed.push(self.formula(formulas, tree, values)?);
                Ok(())
            }
        }
    }

    fn formula(
        &mut self,
        formulas: &'p TemporalFormulas,
        tree: &Tree,
        values: &mut Vec<Vec<Value>>,
    ) -> Result<Formula, String> {
        let again = |one: Formula| Formula::Always(Box::new(Formula::Eventually(Box::new(one))));
        let at_last = |one: Formula| Formula::Eventually(Box::new(Formula::Always(Box::new(one))));
        Ok(match tree {
            Tree::Truth(value) => Formula::Truth(*value),
            Tree::State(leaf) | Tree::Step(leaf) => Formula::Atom(self.atom(formulas, *leaf, values)?),
            Tree::Not(one) => self.formula(formulas, one, values)?.negated(),
            Tree::And(all) => {
                let all = all.iter().map(|one| self.formula(formulas, &one.tree, values));
                Formula::And(all.collect::<Result<_, _>>()?)
            }
            Tree::Or(all) => {
                let all = all.iter().map(|one| self.formula(formulas, one, values));
                Formula::Or(all.collect::<Result<_, _>>()?)
            }
            Tree::Always(one) => Formula::Always(Box::new(self.formula(formulas, one, values)?)),
            Tree::Eventually(one) => Formula::Eventually(Box::new(self.formula(formulas, one, values)?)),
            Tree::All(set, body) => Formula::And(self.for_each(formulas, *set, &body.tree, values)?),
            Tree::Some(set, body) => Formula::Or(self.for_each(formulas, *set, body, values)?),
            Tree::Fair(fair) => {
                let (enabled, taken) = self.fair_atoms(formulas, *fair, values)?;
                let disabled = Formula::Atom(enabled).negated();
                let disabled = if fair.is_strong { at_last(disabled) } else { again(disabled) };
                Formula::Or(vec![disabled, again(Formula::Atom(taken))])
            }
        })
    }

    fn for_each(
        &mut self,
        formulas: &'p TemporalFormulas,
        set: usize,
        body: &Tree,
        values: &mut Vec<Vec<Value>>,
    ) -> Result<Vec<Formula>, String> {
        let mut all = Vec::new();
        for element in self.elements(formulas, set, values)? {
            values.push(element);
            all.push(self.formula(formulas, body, values)?);
            values.pop();
        }
        Ok(all)
    }

    /// The values of the names of a quantifier, for each element of its set.
    fn elements(
        &mut self,
        formulas: &'p TemporalFormulas,
        set: usize,
        values: &[Vec<Value>],
    ) -> Result<Vec<Vec<Value>>, String> {
        let leaf = formulas.leaf(set);
        let LeafBody::Set(bound) = leaf.body else { return Err("a quantifier without a set".to_owned()) };
        let env = environment(&leaf.slots, values);
        let set = eval_env(self.program, &bound.set, leaf.frame, &env, &[], None, &mut self.buffers)?;
        let mut elements = Vec::new();
        for element in set.elems()?.iter() {
            match element {
                Value::Seq(parts) if bound.tuple && parts.len() == bound.slots.len() => elements.push(parts.to_vec()),
                _ if bound.tuple => return Err(format!("cannot destructure {element}")),
                _ => elements.push(vec![element.clone()]),
            }
        }
        Ok(elements)
    }

    /// The atoms of ENABLED and of the steps that take the action.
    fn fair_atoms(
        &mut self,
        formulas: &'p TemporalFormulas,
        fair: Fair,
        values: &[Vec<Value>],
    ) -> Result<(usize, usize), String> {
        let enabled = self.atom(formulas, fair.enabled, values)?;
        Ok((enabled, self.signed_atom(formulas, fair.not_taken, false, values)?))
    }

    fn atom(&mut self, formulas: &'p TemporalFormulas, leaf: usize, values: &[Vec<Value>]) -> Result<usize, String> {
        self.signed_atom(formulas, leaf, true, values)
    }

    fn signed_atom(
        &mut self,
        formulas: &'p TemporalFormulas,
        leaf: usize,
        sign: bool,
        values: &[Vec<Value>],
    ) -> Result<usize, String> {
        let open = formulas.leaf(leaf);
        let env = environment(&open.slots, values);
        let key = (leaf, sign, format!("{env:?}"));
        if let Some(known) = self.numbers.get(&key) {
            return Ok(*known);
        }
        let fair = match open.body {
            LeafBody::Enabled(act, sub) => {
                let (env, label) = (env.clone(), String::new());
                let fair = FairInst { strong: false, sub, act, act_id: 0, env, frame: open.frame, label };
                let reads = liveness::sub_vars(self.program, std::slice::from_ref(&fair)).pop();
                Some((fair, reads.ok_or("a fairness condition without a subscript")?))
            }
            LeafBody::Set(_) | LeafBody::Nothing => return Err("a temporal formula was compiled to another".to_owned()),
            LeafBody::State(_) | LeafBody::Step(..) => None,
        };
        let size = if matches!(open.body, LeafBody::Step(..)) { self.steps } else { self.states.len() };
        self.atoms.push(Atom { frame: open.frame, env, body: open.body, sign, fair, known: vec![Known::No; size] });
        self.numbers.insert(key, self.atoms.len() - 1);
        Ok(self.atoms.len() - 1)
    }
}

/// The slots of the names around a leaf, with their values.
fn environment(slots: &[&[u32]], values: &[Vec<Value>]) -> Vec<(u32, Value)> {
    slots.iter().zip(values).flat_map(|(slots, values)| slots.iter().copied().zip(values.iter().cloned())).collect()
}

impl Atom<'_> {
    fn evaluate(&self, program: &Program, from: &[Value], to: &[Value], buffers: &mut Bufs) -> Result<bool, String> {
        let (frame, env) = (self.frame, &self.env);
        match (self.body, &self.fair) {
            (LeafBody::State(predicate), _) => eval_env(program, predicate, frame, env, from, None, buffers)?.as_bool(),
            (LeafBody::Step(action, subscript), _) => {
                let before = eval_env(program, subscript, frame, env, from, None, buffers)?;
                let after = eval_env(program, subscript, frame, env, to, None, buffers)?;
                Ok(before == after || eval_env(program, action, frame, env, from, Some(to), buffers)?.as_bool()?)
            }
            (LeafBody::Enabled(..), Some((fair, reads))) => {
                liveness::enabled(program, program, fair, reads, from, buffers)
            }
            _ => Err("a part of a temporal formula that is no predicate".to_owned()),
        }
    }
}

impl Graph for StateGraph<'_> {
    type Error = String;

    fn initial(&self) -> Vec<usize> {
        self.initial.clone()
    }

    fn successors(&mut self, node: usize) -> Result<Vec<usize>, String> {
        Ok(self.successors[node].iter().map(|to| *to as usize).collect())
    }

    fn holds(&mut self, atom: usize, from: usize, to: usize) -> Result<bool, String> {
        let atom = &mut self.atoms[atom];
        let at = match atom.body {
            LeafBody::Step(..) => {
                let known_step = self.successors[from].iter().position(|known| *known as usize == to);
                let step = known_step.ok_or("a step that is none of the graph")?;
                self.first_step[from] + step
            }
            _ => from,
        };
        if atom.known[at] == Known::No {
            let value =
                atom.evaluate(self.program, &self.states[from], &self.states[to], &mut self.buffers)? == atom.sign;
            atom.known[at] = if value { Known::True } else { Known::False };
        }
        Ok(atom.known[at] == Known::True)
    }
}
