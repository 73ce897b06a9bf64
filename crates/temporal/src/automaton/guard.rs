//! The guard of an edge as a short formula.

use std::collections::HashMap;

use super::super::formula::{AtomId, Formula, Formulas};
use super::bdd::{DecisionDiagrams, FALSE, TRUE};
use super::dfa::{Dfa, Target};
use super::limits::{AutomatonError, Limits};

/// Maximum number of terms of a guard that is shown; a longer formula helps no reader.
const MAX_TERMS: usize = 256;

/// An edge of the automaton.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edge {
    /// The number of the target state.
    pub to: usize,
    /// The letters that take the edge.
    pub guard: Guard,
}

/// The set of letters of an edge, as a formula: an irredundant sum of products (Minato 1993) of the guard or of its
/// negation, whichever is shorter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Guard {
    /// A disjunction of conjunctions of literals; a literal is an atom and its value. The empty conjunction is any letter.
    AnyOf(Vec<Vec<(AtomId, bool)>>),
    /// A conjunction of disjunctions of literals.
    AllOf(Vec<Vec<(AtomId, bool)>>),
    /// Both forms have more than 256 terms.
    Long {
        /// The number of decision nodes of the guard.
        decisions: usize,
    },
}

impl Dfa {
    /// The edges from a state, one for each successor, in ascending order of the successors.
    ///
    /// # Panics
    /// If there is no such state.
    ///
    /// # Examples
    /// ```
    /// use tlaforge_temporal::{Dfa, Formulas, Guard, Limits};
    ///
    /// let mut formulas = Formulas::new();
    /// let rule = formulas.parse("F (a | b)")?;
    /// let dfa = Dfa::build(&formulas, rule, Limits::default())?;
    /// let edges = dfa.edges(Dfa::INITIAL);
    /// let texts: Vec<String> = edges.iter().map(|edge| edge.guard.text(&formulas)).collect();
    /// assert_eq!(texts, ["!a & !b", "a | b"]);
    /// let guard = edges[1].guard.formula(&mut formulas).expect("a short guard");
    /// assert_eq!(formulas.text(guard), "a | b");
    /// assert_eq!(dfa.guard(1, 0), Guard::AnyOf(Vec::new()), "no letter leads back");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn edges(&self, state: usize) -> Vec<Edge> {
        self.successors(state).into_iter().map(|to| Edge { to, guard: self.guard(state, to) }).collect()
    }

    /// The letters that lead from one state to another; an empty [`Guard::AnyOf`] if no letter does.
    pub fn guard(&self, from: usize, to: usize) -> Guard {
        // The guard has at most as many nodes as the diagram of its state; the limit bounds the sums of products.
        let limits = Limits { states: 1, nodes: self.nodes().saturating_mul(8).saturating_add(100_000) };
        let mut diagrams = DecisionDiagrams::new(limits);
        let mut made = HashMap::new();
        let guard = self.letters_diagram(self.root(from), to, &mut diagrams, &mut made);
        let long = Guard::Long { decisions: made.len() };
        let Ok(guard) = guard else { return long };
        let any = self.terms(&mut diagrams, guard);
        let all = diagrams.not(guard).ok().and_then(|other| self.terms(&mut diagrams, other));
        // Each literal counts, and each term once more for what separates it from the next.
        let size = |terms: &[Term]| terms.iter().map(|t| t.len() + 1).sum::<usize>();
        match (any, all) {
            // An empty negation is the guard `true`, which the first form writes as one empty term.
            (Some(any), Some(all)) if size(&any) <= size(&all) || all.is_empty() => Guard::AnyOf(any),
            (Some(any), None) => Guard::AnyOf(any),
            (_, Some(all)) => Guard::AllOf(negate_literals(all)),
            (None, None) => long,
        }
    }

    /// The diagram of the letters that lead from a target to a state; levels are indices in `atoms`.
    fn letters_diagram(
        &self,
        from: Target,
        to: usize,
        diagrams: &mut DecisionDiagrams,
        made: &mut HashMap<Target, u32>,
    ) -> Result<u32, AutomatonError> {
        if let Some(known) = made.get(&from) {
            return Ok(*known);
        }
        let diagram = match self.decision(from) {
            None => {
                if from.as_state() == Some(to) {
                    TRUE
                } else {
                    FALSE
                }
            }
            Some(decision) => {
                let low = self.letters_diagram(decision.low, to, diagrams, made)?;
                let high = self.letters_diagram(decision.high, to, diagrams, made)?;
                let level = u32::try_from(self.diagram.atom_index(decision.atom)).expect("few atoms");
                diagrams.choice(level, low, high)?
            }
        };
        made.insert(from, diagram);
        Ok(diagram)
    }

    /// An irredundant sum of products; `None` if it has too many terms.
    fn terms(&self, diagrams: &mut DecisionDiagrams, f: u32) -> Option<Vec<Term>> {
        let mut sum = SumOfProducts { diagrams, atoms: self.atoms(), terms: Vec::new(), term: Vec::new() };
        sum.cover_between(f, f)?;
        // Short terms first, because they are easier to read.
        sum.terms.sort_by_key(Vec::len);
        Some(sum.terms)
    }
}

type Term = Vec<(AtomId, bool)>;

fn negate_literals(terms: Vec<Term>) -> Vec<Term> {
    terms.into_iter().map(|term| term.into_iter().map(|(atom, value)| (atom, !value)).collect()).collect()
}

struct SumOfProducts<'a> {
    diagrams: &'a mut DecisionDiagrams,
    atoms: &'a [AtomId],
    terms: Vec<Term>,
    term: Term,
}

impl SumOfProducts<'_> {
    /// Adds terms whose sum is implied by `least` and implies `most`, and returns the sum: Minato's recursion on the top
    /// variable. The freedom between the two functions makes the terms short.
    fn cover_between(&mut self, least: u32, most: u32) -> Option<u32> {
        if least == FALSE {
            return Some(FALSE);
        }
        if most == TRUE {
            if self.terms.len() == MAX_TERMS {
                return None;
            }
            self.terms.push(self.term.clone());
            return Some(TRUE);
        }
        let level = self.diagrams.node(least)[0].min(self.diagrams.node(most)[0]);
        let [least0, least1] = self.diagrams.cofactors(least, level);
        let [most0, most1] = self.diagrams.cofactors(most, level);
        // The terms with the negative literal, those with the positive one, and then what is left for terms without
        // either.
        let low = self.literal(level, false, least0, most1, most0)?;
        let high = self.literal(level, true, least1, most0, most1)?;
        let rest0 = self.difference(least0, low)?;
        let rest1 = self.difference(least1, high)?;
        let rest = self.diagrams.or(rest0, rest1).ok()?;
        let most_of_both = self.diagrams.and(most0, most1).ok()?;
        let both = self.cover_between(rest, most_of_both)?;
        let low = self.diagrams.or(low, both).ok()?;
        let high = self.diagrams.or(high, both).ok()?;
        self.diagrams.choice(level, low, high).ok()
    }

    /// Adds the terms that need the literal: the part of `least` that the other branch does not allow.
    fn literal(&mut self, level: u32, value: bool, least: u32, other: u32, most: u32) -> Option<u32> {
        let needed = self.difference(least, other)?;
        self.term.push((self.atoms[level as usize], value));
        let sum = self.cover_between(needed, most);
        self.term.pop();
        sum
    }

    fn difference(&mut self, f: u32, g: u32) -> Option<u32> {
        self.diagrams.ite(g, FALSE, f).ok()
    }
}

impl Guard {
    /// The guard as a formula in an arena that has its atoms; `None` for [`Guard::Long`].
    pub fn formula(&self, formulas: &mut Formulas) -> Option<Formula> {
        let (terms, any) = match self {
            Self::AnyOf(terms) => (terms, true),
            Self::AllOf(terms) => (terms, false),
            Self::Long { .. } => return None,
        };
        let terms: Vec<Formula> = terms
            .iter()
            .map(|term| {
                let literals: Vec<Formula> = term
                    .iter()
                    .map(|(atom, value)| {
                        let atom = formulas.atom(*atom).clone();
                        let positive = formulas.atomic(atom);
                        if *value { positive } else { formulas.not(positive) }
                    })
                    .collect();
                if any { formulas.and(literals) } else { formulas.or(literals) }
            })
            .collect();
        Some(if any { formulas.or(terms) } else { formulas.and(terms) })
    }

    /// The guard as text in the formula language; of [`Guard::Long`] only the number of decisions.
    pub fn text(&self, formulas: &Formulas) -> String {
        let literal = |(atom, value): &(AtomId, bool)| {
            let text = formulas.atom_text(formulas.atom(*atom));
            if *value { text } else { format!("!{text}") }
        };
        let (terms, inner, outer, none) = match self {
            Self::AnyOf(terms) => (terms, " & ", " | ", ["false", "true"]),
            Self::AllOf(terms) => (terms, " | ", " & ", ["true", "false"]),
            Self::Long { decisions } => return format!("… ({decisions} decisions)"),
        };
        let parts: Vec<String> = terms
            .iter()
            .map(|term| {
                let text = term.iter().map(literal).collect::<Vec<_>>().join(inner);
                match term.len() {
                    0 => none[1].to_owned(),
                    2.. if terms.len() > 1 && matches!(self, Self::AllOf(_)) => format!("({text})"),
                    _ => text,
                }
            })
            .collect();
        if parts.is_empty() { none[0].to_owned() } else { parts.join(outer) }
    }
}
