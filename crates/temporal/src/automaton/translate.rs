//! Translation of a formula to an automaton. A state is the obligation on the rest of the trace, a Boolean function of
//! subformulas.
//!
//! Each subformula `f` that is not a Boolean combination has a variable for "`f` holds on the suffix from here". The
//! obligation after a letter is one substitution: every variable is replaced by the diagram of its subformula's step.
//! Atoms are above the variables in the order, so the part of the diagram below the atoms is the next state, and equal
//! functions are the same state.
//! (De Giacomo and Vardi 2013 for the steps; diagrams with states below atoms as in Henriksen et al. 1995.)

use std::collections::HashMap;

use super::super::formula::{AtomId, Binary, Connective, Formula, Formulas, Node, Unary};
use super::super::readings::Reading;
use super::bdd::{DecisionDiagrams, FALSE, TRUE};
use super::dfa::{Dfa, Diagram, Target};
use super::limits::{AutomatonError, Limits, MAX_LEVELS, check_limit};
use super::product::combined;

impl Dfa {
    /// Builds the complete minimal deterministic automaton of the finite traces that satisfy `formula`.
    ///
    /// The operands of an outermost conjunction or disjunction are translated and minimized one by one, then multiplied.
    ///
    /// # Errors
    /// An operator that automata do not support (past, causal); more states or nodes than `limits` allows.
    ///
    /// # Examples
    /// ```
    /// use tlaforge_temporal::{AutomatonError, Dfa, Formulas, Limits};
    ///
    /// let mut formulas = Formulas::new();
    /// let (rule, same) = (formulas.parse("F a & F b")?, formulas.parse("F b & F a")?);
    /// let dfa = Dfa::build(&formulas, rule, Limits::default())?;
    /// assert_eq!(dfa.states(), 4);
    /// // The automaton depends on the traces only, so equivalent formulas have the same one.
    /// assert_eq!(dfa.dot(&formulas), Dfa::build(&formulas, same, Limits::default())?.dot(&formulas));
    ///
    /// let past = formulas.parse("G (a -> O b)")?;
    /// assert!(matches!(Dfa::build(&formulas, past, Limits::default()), Err(AutomatonError::Unsupported(_))));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn build(formulas: &Formulas, formula: Formula, limits: Limits) -> Result<Self, AutomatonError> {
        formulas.check_reading(formula, Reading::Automaton)?;
        let (parts, connective) = match formulas.node(formula) {
            Node::And(parts) => (parts, Connective::And),
            Node::Or(parts) => (parts, Connective::Or),
            _ => return Self::build_monolithic(formulas, formula, limits),
        };
        let built =
            parts.iter().map(|p| Self::build_monolithic(formulas, *p, limits)).collect::<Result<Vec<_>, _>>()?;
        combined(&built.iter().collect::<Vec<_>>(), connective, limits)
    }

    /// [`Dfa::build`] without splitting the outermost operator.
    pub(super) fn build_monolithic(
        formulas: &Formulas,
        formula: Formula,
        limits: Limits,
    ) -> Result<Self, AutomatonError> {
        let mut translation = Translation::new(formulas, formula, limits)?;
        let raw = translation.explore(limits)?;
        raw.minimized(limits)
    }
}

/// The state of translation of one subformula.
#[derive(Debug, Clone, Copy, Default)]
struct Subformula {
    /// Whether its variable, or its function of variables, is needed.
    is_owed: bool,
    /// Whether its step is needed.
    is_stepped: bool,
    /// Its value on the empty suffix.
    at_end: bool,
    /// The function of variables for its value on the next suffix.
    next: u32,
    /// The diagram of its value here: atoms of this position above variables of the next suffix.
    step: u32,
}

struct Translation {
    decisions: DecisionDiagrams,
    atoms: Vec<AtomId>,
    /// By variable: the value on the empty suffix, and the step.
    variables: Vec<(bool, u32)>,
    initial: u32,
    substituted: HashMap<u32, u32>,
}

impl Translation {
    fn new(formulas: &Formulas, formula: Formula, limits: Limits) -> Result<Self, AutomatonError> {
        let all = formulas.subformulas(formula);
        let atoms = formulas.atoms_of(formula);
        let mut parts: HashMap<Formula, Subformula> = HashMap::with_capacity(all.len());
        mark_needed(formulas, &all, formula, &mut parts);
        let variables = all.iter().filter(|f| parts[f].is_owed && !is_boolean(formulas.node(**f))).count();
        // One more for variable 0.
        check_limit("atoms and owed subformulas", atoms.len() + variables + 1, MAX_LEVELS)?;

        let mut translation = Self {
            decisions: DecisionDiagrams::new(limits),
            atoms,
            // Variable 0 is "the suffix is not empty".
            variables: vec![(false, TRUE)],
            initial: FALSE,
            substituted: HashMap::new(),
        };
        for f in &all {
            let subformula = translation.subformula(formulas, *f, &parts)?;
            parts.insert(*f, subformula);
        }
        // Before the first letter, the obligation is the formula itself.
        translation.initial = parts[&formula].next;
        Ok(translation)
    }

    fn level_of(&self, variable: usize) -> u32 {
        u32::try_from(self.atoms.len() + variable).expect("few levels")
    }

    fn subformula(
        &mut self,
        formulas: &Formulas,
        f: Formula,
        parts: &HashMap<Formula, Subformula>,
    ) -> Result<Subformula, AutomatonError> {
        let mut subformula = parts[&f];
        let node = formulas.node(f);
        let operands: Vec<Subformula> = node.children().iter().map(|c| parts[c]).collect();
        subformula.at_end = node.value_on_empty_trace(|f| parts[f].at_end);
        if subformula.is_owed {
            subformula.next = if is_boolean(node) {
                let of: Vec<u32> = operands.iter().map(|o| o.next).collect();
                self.combine(node, &of)?
            } else {
                let level = self.level_of(self.variables.len());
                // The step is not known yet: it can contain the variable itself.
                self.variables.push((subformula.at_end, FALSE));
                self.decisions.variable(level)?
            };
        }
        if subformula.is_stepped {
            subformula.step = self.step(node, subformula, &operands)?;
            if subformula.is_owed && !is_boolean(node) {
                self.variables.last_mut().expect("its own was just added").1 = subformula.step;
            }
        }
        Ok(subformula)
    }

    fn combine(&mut self, node: &Node, of: &[u32]) -> Result<u32, AutomatonError> {
        let d = &mut self.decisions;
        match (node, of) {
            (Node::True, _) => Ok(TRUE),
            (Node::Not(_), [a]) => d.not(*a),
            (Node::And(_), all) => all.iter().rev().try_fold(TRUE, |result, a| d.and(*a, result)),
            (Node::Or(_), all) => all.iter().rev().try_fold(FALSE, |result, a| d.or(*a, result)),
            (Node::Binary(Binary::Implies, _), [a, b]) => d.ite(*a, *b, TRUE),
            (Node::Binary(Binary::Iff, _), [a, b]) => {
                let not_b = d.not(*b)?;
                d.ite(*a, *b, not_b)
            }
            _ => Ok(FALSE),
        }
    }

    fn step(&mut self, node: &Node, subformula: Subformula, operands: &[Subformula]) -> Result<u32, AutomatonError> {
        let of: Vec<u32> = operands.iter().map(|o| o.step).collect();
        match (node, of.as_slice()) {
            (Node::Atom(atom), _) => {
                let index = self.atoms.binary_search(atom).expect("an atom of the formula");
                self.decisions.variable(u32::try_from(index).expect("few levels"))
            }
            (Node::Unary(Unary::Next, _), _) => {
                // An operand that is false on the empty suffix already implies that the suffix is not empty.
                let more = if operands[0].at_end { self.decisions.variable(self.level_of(0))? } else { TRUE };
                self.decisions.and(operands[0].next, more)
            }
            (Node::Unary(Unary::WeakNext, _), _) => {
                let more = if operands[0].at_end { TRUE } else { self.decisions.variable(self.level_of(0))? };
                self.decisions.ite(more, operands[0].next, TRUE)
            }
            // The expansion laws: `G a` is `a` now and `G a` next, and so on. Strong and weak forms differ at the end
            // only, by `at_end`.
            (Node::Unary(Unary::Globally, _), [a]) => self.decisions.and(*a, subformula.next),
            (Node::Unary(Unary::Finally, _), [a]) => self.decisions.or(*a, subformula.next),
            (Node::Binary(Binary::Until | Binary::WeakUntil, _), [a, b]) => {
                let holds_on = self.decisions.and(*a, subformula.next)?;
                self.decisions.or(*b, holds_on)
            }
            (Node::Binary(Binary::Release | Binary::StrongRelease, _), [a, b]) => {
                let holds_on = self.decisions.or(*a, subformula.next)?;
                self.decisions.and(*b, holds_on)
            }
            (node, of) => self.combine(node, of),
        }
    }

    /// The diagram of the steps from a state: every variable substituted by its step.
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
        let result = self.decisions.ite(step, high, low)?;
        self.substituted.insert(state, result);
        Ok(result)
    }

    fn accepts(&self, mut state: u32) -> bool {
        while state > TRUE {
            let [level, low, high] = self.decisions.node(state);
            // If the trace ends here, each obligation has its value on the empty suffix.
            state = if self.variables[level as usize - self.atoms.len()].0 { high } else { low };
        }
        state == TRUE
    }

    fn explore(&mut self, limits: Limits) -> Result<Diagram, AutomatonError> {
        let mut raw = Diagram::new(self.atoms.clone());
        let mut states = vec![self.initial];
        let mut numbers = HashMap::from([(self.initial, 0)]);
        let mut targets: HashMap<u32, Target> = HashMap::new();
        let mut index = 0;
        while index < states.len() {
            // States are found while they are explored; `target` adds the new ones.
            let result = self.substitute(states[index])?;
            let root = self.target(result, &mut raw, &mut targets, &mut states, &mut numbers)?;
            raw.roots.push(root);
            raw.accepting.push(self.accepts(states[index]));
            check_limit("states", states.len(), limits.states)?;
            index += 1;
        }
        Ok(raw)
    }

    /// Copies the part of a diagram that reads atoms to `raw`; its leaves become states.
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

/// Marks which parts of each subformula are needed, top-down from the formula.
fn mark_needed(formulas: &Formulas, all: &[Formula], formula: Formula, parts: &mut HashMap<Formula, Subformula>) {
    for f in all {
        parts.insert(*f, Subformula::default());
    }
    parts.get_mut(&formula).expect("its own subformula").is_owed = true;
    for f in all.iter().rev() {
        let node = formulas.node(*f);
        let subformula = parts.get_mut(f).expect("each has an entry");
        let boolean = is_boolean(node);
        // Substitution replaces each variable by its step.
        subformula.is_stepped |= subformula.is_owed && !boolean;
        // `X` and `N` pass their operand on; all other temporal operators stay an obligation themselves.
        let refers_to_itself = subformula.is_stepped
            && !boolean
            && !matches!(node, Node::Atom(_) | Node::Unary(Unary::Next | Unary::WeakNext, _));
        subformula.is_owed |= refers_to_itself;
        let Subformula { is_owed, is_stepped, .. } = *subformula;
        let next = matches!(node, Node::Unary(Unary::Next | Unary::WeakNext, _));
        for child in node.children() {
            let child = parts.get_mut(child).expect("each has an entry");
            child.is_owed |= (boolean && is_owed) || (next && is_stepped);
            child.is_stepped |= is_stepped && !next;
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
