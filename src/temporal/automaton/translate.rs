//! From a formula to its states: a state is what is owed to the rest of the trace, a Boolean function of subformulas.
//!
//! Quantified subformula `f` that is no Boolean combination has a variable that stands for "`f` holds of the suffix from
//! here". What a state owes after a letter is one substitution: every variable by the diagram of its subformula's step.
//! Atoms stand above the variables, so the part below the atoms is the next state, and equal functions are one state.
//! (De Giacomo and Vardi 2013 for the steps; diagrams with states below atoms as in Henriksen et al. 1995.)

use std::collections::HashMap;

use super::super::formula::{AtomId, Binary, Connective, Formula, Formulas, Node, Unary};
use super::super::readings::Reading;
use super::bdd::{DecisionDiagrams, FALSE, TRUE};
use super::dfa::{Dfa, Diagram, Target};
use super::limits::{AutomatonError, Limits, MAX_LEVELS, check_limit};
use super::product::combined;

impl Dfa {
    /// The complete minimal deterministic automaton of the finite traces of which `formula` holds.
    ///
    /// Conjunctions and disjunctions at the top are built part by part and minimised in between.
    ///
    /// # Errors
    /// An operator that automata do not read (past, causal); more states or nodes than `limits` allows.
    pub fn build(formulas: &Formulas, formula: Formula, limits: Limits) -> Result<Self, AutomatonError> {
        formulas.check_reading(formula, Reading::Automaton)?;
        let (parts, connective) = match formulas.node(formula) {
            Node::And(parts) => (parts, Connective::And),
            Node::Or(parts) => (parts, Connective::Or),
            _ => return Self::directly(formulas, formula, limits),
        };
        let built = parts.iter().map(|p| Self::directly(formulas, *p, limits)).collect::<Result<Vec<_>, _>>()?;
        combined(&built.iter().collect::<Vec<_>>(), connective, limits)
    }

    /// As [`Dfa::build`], in one piece.
    pub(super) fn directly(formulas: &Formulas, formula: Formula, limits: Limits) -> Result<Self, AutomatonError> {
        let mut translation = Translation::new(formulas, formula, limits)?;
        let raw = translation.explore(limits)?;
        raw.minimized(limits)
    }
}

/// What a subformula is while it is translated.
#[derive(Debug, Clone, Copy, Default)]
struct Part {
    /// Whether its variable, or the combination of variables that it is, is needed.
    owed: bool,
    /// Whether its step is needed.
    stepped: bool,
    /// Its value at the empty suffix.
    at_end: bool,
    /// The function of variables that says it of the next suffix.
    next: u32,
    /// The diagram of its value, atoms of this position above variables of the next suffix.
    step: u32,
}

struct Translation {
    decisions: DecisionDiagrams,
    atoms: Vec<AtomId>,
    /// By variable: its value at the end, and its step.
    variables: Vec<(bool, u32)>,
    initial: u32,
    substituted: HashMap<u32, u32>,
}

impl Translation {
    fn new(formulas: &Formulas, formula: Formula, limits: Limits) -> Result<Self, AutomatonError> {
        let all = formulas.subformulas(formula);
        let atoms = formulas.atoms_of(formula);
        let mut parts: HashMap<Formula, Part> = HashMap::with_capacity(all.len());
        mark(formulas, &all, formula, &mut parts);
        let owed = all.iter().filter(|f| parts[f].owed && !is_boolean(formulas.node(**f))).count();
        check_limit("atoms and owed subformulas", atoms.len() + owed + 1, MAX_LEVELS)?;

        let mut this = Self {
            decisions: DecisionDiagrams::new(limits),
            atoms,
            // The first variable says that the suffix is not empty.
            variables: vec![(false, TRUE)],
            initial: FALSE,
            substituted: HashMap::new(),
        };
        for f in &all {
            let part = this.part(formulas, *f, &parts)?;
            parts.insert(*f, part);
        }
        this.initial = parts[&formula].next;
        Ok(this)
    }

    fn level_of(&self, variable: usize) -> u32 {
        u32::try_from(self.atoms.len() + variable).expect("few levels")
    }

    fn part(
        &mut self,
        formulas: &Formulas,
        f: Formula,
        parts: &HashMap<Formula, Part>,
    ) -> Result<Part, AutomatonError> {
        let mut part = parts[&f];
        let node = formulas.node(f);
        let operands: Vec<Part> = node.children().iter().map(|c| parts[c]).collect();
        part.at_end = node.value_on_empty_trace(|f| parts[f].at_end);
        if part.owed {
            part.next = if is_boolean(node) {
                let of: Vec<u32> = operands.iter().map(|o| o.next).collect();
                self.combine(node, &of)?
            } else {
                let level = self.level_of(self.variables.len());
                self.variables.push((part.at_end, FALSE));
                self.decisions.variable(level)?
            };
        }
        if part.stepped {
            part.step = self.step(node, part, &operands)?;
            if part.owed && !is_boolean(node) {
                self.variables.last_mut().expect("its own was just added").1 = part.step;
            }
        }
        Ok(part)
    }

    fn combine(&mut self, node: &Node, of: &[u32]) -> Result<u32, AutomatonError> {
        let d = &mut self.decisions;
        match (node, of) {
            (Node::True, _) => Ok(TRUE),
            (Node::Not(_), [a]) => d.not(*a),
            (Node::And(_), all) => all.iter().rev().try_fold(TRUE, |whole, a| d.and(*a, whole)),
            (Node::Or(_), all) => all.iter().rev().try_fold(FALSE, |whole, a| d.or(*a, whole)),
            (Node::Binary(Binary::Implies, _), [a, b]) => d.ite(*a, *b, TRUE),
            (Node::Binary(Binary::Iff, _), [a, b]) => {
                let not_b = d.not(*b)?;
                d.ite(*a, *b, not_b)
            }
            _ => Ok(FALSE),
        }
    }

    fn step(&mut self, node: &Node, part: Part, operands: &[Part]) -> Result<u32, AutomatonError> {
        let of: Vec<u32> = operands.iter().map(|o| o.step).collect();
        match (node, of.as_slice()) {
            (Node::Atom(atom), _) => {
                let at = self.atoms.binary_search(atom).expect("an atom of the formula");
                self.decisions.variable(u32::try_from(at).expect("few levels"))
            }
            (Node::Unary(Unary::Next, _), _) => {
                // What is false of the empty suffix already says that the suffix is not empty.
                let more = if operands[0].at_end { self.decisions.variable(self.level_of(0))? } else { TRUE };
                self.decisions.and(operands[0].next, more)
            }
            (Node::Unary(Unary::WeakNext, _), _) => {
                let more = if operands[0].at_end { TRUE } else { self.decisions.variable(self.level_of(0))? };
                self.decisions.ite(more, operands[0].next, TRUE)
            }
            (Node::Unary(Unary::Globally, _), [a]) => self.decisions.and(*a, part.next),
            (Node::Unary(Unary::Finally, _), [a]) => self.decisions.or(*a, part.next),
            (Node::Binary(Binary::Until | Binary::WeakUntil, _), [a, b]) => {
                let stays = self.decisions.and(*a, part.next)?;
                self.decisions.or(*b, stays)
            }
            (Node::Binary(Binary::Release | Binary::StrongRelease, _), [a, b]) => {
                let stays = self.decisions.or(*a, part.next)?;
                self.decisions.and(*b, stays)
            }
            (node, of) => self.combine(node, of),
        }
    }

    /// What a state owes, as a diagram: the substitution of every variable by its step.
    fn substitute(&mut self, state: u32) -> Result<u32, AutomatonError> {
        if state <= TRUE {
            return Ok(state);
        }
        if let Some(known) = self.substituted.get(&state) {
            return Ok(*known);
        }
        let [level, low, high] = self.decisions.node(state);
        let low = self.substitute(low)?;
        let high = self.substitute(high)?;
        let step = self.variables[level as usize - self.atoms.len()].1;
        let whole = self.decisions.ite(step, high, low)?;
        self.substituted.insert(state, whole);
        Ok(whole)
    }

    fn accepts(&self, mut state: u32) -> bool {
        while state > TRUE {
            let [level, low, high] = self.decisions.node(state);
            state = if self.variables[level as usize - self.atoms.len()].0 { high } else { low };
        }
        state == TRUE
    }

    fn explore(&mut self, limits: Limits) -> Result<Diagram, AutomatonError> {
        let mut raw = Diagram::new(self.atoms.clone());
        let mut states = vec![self.initial];
        let mut numbers = HashMap::from([(self.initial, 0)]);
        let mut targets: HashMap<u32, Target> = HashMap::new();
        let mut at = 0;
        while at < states.len() {
            let whole = self.substitute(states[at])?;
            let root = self.target(whole, &mut raw, &mut targets, &mut states, &mut numbers)?;
            raw.roots.push(root);
            raw.accepting.push(self.accepts(states[at]));
            check_limit("states", states.len(), limits.states)?;
            at += 1;
        }
        Ok(raw)
    }

    /// The atoms' part of a diagram, whose leaves are states.
    fn target(
        &self,
        f: u32,
        raw: &mut Diagram,
        targets: &mut HashMap<u32, Target>,
        states: &mut Vec<u32>,
        numbers: &mut HashMap<u32, usize>,
    ) -> Result<Target, AutomatonError> {
        if let Some(known) = targets.get(&f) {
            return Ok(*known);
        }
        let [level, low, high] = self.decisions.node(f);
        let target = match self.atoms.get(level as usize) {
            Some(atom) => {
                let low = self.target(low, raw, targets, states, numbers)?;
                let high = self.target(high, raw, targets, states, numbers)?;
                raw.decide(*atom, low, high)
            }
            None => Target::state(*numbers.entry(f).or_insert_with(|| {
                states.push(f);
                states.len() - 1
            })),
        };
        targets.insert(f, target);
        Ok(target)
    }
}

/// Marks what is needed of each subformula, from the formula down.
fn mark(formulas: &Formulas, all: &[Formula], formula: Formula, parts: &mut HashMap<Formula, Part>) {
    for f in all {
        parts.insert(*f, Part::default());
    }
    parts.get_mut(&formula).expect("its own subformula").owed = true;
    for f in all.iter().rev() {
        let node = formulas.node(*f);
        let part = parts.get_mut(f).expect("each has an entry");
        let boolean = is_boolean(node);
        // A variable is replaced by its step some time.
        part.stepped |= part.owed && !boolean;
        let again =
            part.stepped && !boolean && !matches!(node, Node::Atom(_) | Node::Unary(Unary::Next | Unary::WeakNext, _));
        part.owed |= again;
        let Part { owed, stepped, .. } = *part;
        let next = matches!(node, Node::Unary(Unary::Next | Unary::WeakNext, _));
        for child in node.children() {
            let child = parts.get_mut(child).expect("each has an entry");
            child.owed |= (boolean && owed) || (next && stepped);
            child.stepped |= stepped && !next;
        }
    }
}

fn is_boolean(node: &Node) -> bool {
    matches!(
        node,
        Node::True
            | Node::False
            | Node::Not(_)
            | Node::And(_)
            | Node::Or(_)
            | Node::Binary(Binary::Implies | Binary::Iff, _)
    )
}
