//! The letters of an edge as a short formula: irredundant sums of products (Minato 1993) of the guard or its negation.

use std::collections::HashMap;

use super::super::formula::{AtomId, Formula, Formulas};
use super::bdd::{DecisionDiagrams, FALSE, TRUE};
use super::dfa::{Dfa, Target};
use super::limits::{AutomatonError, Limits};

/// More terms than this are no use to a reader.
const MOST_TERMS: usize = 256;

/// An edge from some state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edge {
    /// Where it leads.
    pub to: usize,
    /// By which letters.
    pub guard: Guard,
}

/// The letters of an edge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Guard {
    /// One of these products of literals: an atom, and whether it is true. Without a literal, any letter.
    AnyOf(Vec<Vec<(AtomId, bool)>>),
    /// All of these sums of literals.
    AllOf(Vec<Vec<(AtomId, bool)>>),
    /// Neither has few terms.
    Long {
        /// How many decisions the guard's diagram has.
        decisions: usize,
    },
}

impl Dfa {
    /// The edges of a state, one for each state that some letter leads to, in the order of their numbers.
    pub fn edges(&self, state: usize) -> Vec<Edge> {
        self.successors(state).into_iter().map(|to| Edge { to, guard: self.guard(state, to) }).collect()
    }

    /// The letters that lead from one state to another; [`Guard::AnyOf`] nothing where none does.
    pub fn guard(&self, from: usize, to: usize) -> Guard {
        // A guard has no more nodes than its state's diagram; the limit is for the sums made of it.
        let limits = Limits { states: 1, nodes: self.nodes().saturating_mul(8).saturating_add(100_000) };
        let mut decisions = DecisionDiagrams::new(limits);
        let mut made = HashMap::new();
        let guard = self.letters(self.root(from), to, &mut decisions, &mut made);
        let long = Guard::Long { decisions: made.len() };
        let Ok(guard) = guard else { return long };
        let any = self.terms(&mut decisions, guard);
        let all = decisions.not(guard).ok().and_then(|other| self.terms(&mut decisions, other));
        let size = |terms: &[Term]| terms.iter().map(|t| t.len() + 1).sum::<usize>();
        match (any, all) {
            (Some(any), Some(all)) if size(&any) <= size(&all) || all.is_empty() => Guard::AnyOf(any),
            (Some(any), None) => Guard::AnyOf(any),
            (_, Some(all)) => Guard::AllOf(negated(all)),
            (None, None) => long,
        }
    }

    /// The diagram that is true of the letters leading from a target to a state; levels are places in `atoms`.
    fn letters(
        &self,
        from: Target,
        to: usize,
        decisions: &mut DecisionDiagrams,
        made: &mut HashMap<Target, u32>,
    ) -> Result<u32, AutomatonError> {
        if let Some(known) = made.get(&from) {
            return Ok(*known);
        }
        let letters = match self.decision(from) {
            None => {
                if from.as_state() == Some(to) {
                    TRUE
                } else {
                    FALSE
                }
            }
            Some(decision) => {
                let low = self.letters(decision.low, to, decisions, made)?;
                let high = self.letters(decision.high, to, decisions, made)?;
                let level = u32::try_from(self.diagram.place_of(decision.atom)).expect("few atoms");
                decisions.choice(level, low, high)?
            }
        };
        made.insert(from, letters);
        Ok(letters)
    }

    /// An irredundant sum of products; `None` where it has too many.
    fn terms(&self, decisions: &mut DecisionDiagrams, f: u32) -> Option<Vec<Term>> {
        let mut sum = Sum { decisions, atoms: self.atoms(), terms: Vec::new(), term: Vec::new() };
        sum.between(f, f)?;
        // Short terms first read best.
        sum.terms.sort_by_key(Vec::len);
        Some(sum.terms)
    }
}

type Term = Vec<(AtomId, bool)>;

fn negated(terms: Vec<Term>) -> Vec<Term> {
    terms.into_iter().map(|term| term.into_iter().map(|(atom, value)| (atom, !value)).collect()).collect()
}

struct Sum<'a> {
    decisions: &'a mut DecisionDiagrams,
    atoms: &'a [AtomId],
    terms: Vec<Term>,
    term: Term,
}

impl Sum<'_> {
    /// Adds terms whose sum lies between two functions; gives the sum.
    fn between(&mut self, least: u32, most: u32) -> Option<u32> {
        if least == FALSE {
            return Some(FALSE);
        }
        if most == TRUE {
            if self.terms.len() == MOST_TERMS {
                return None;
            }
            self.terms.push(self.term.clone());
            return Some(TRUE);
        }
        let level = self.decisions.node(least)[0].min(self.decisions.node(most)[0]);
        let [least0, least1] = self.decisions.below(least, level);
        let [most0, most1] = self.decisions.below(most, level);
        let low = self.literal(level, false, least0, most1, most0)?;
        let high = self.literal(level, true, least1, most0, most1)?;
        let rest0 = self.without(least0, low)?;
        let rest1 = self.without(least1, high)?;
        let rest = self.decisions.or(rest0, rest1).ok()?;
        let most_of_both = self.decisions.and(most0, most1).ok()?;
        let both = self.between(rest, most_of_both)?;
        let low = self.decisions.or(low, both).ok()?;
        let high = self.decisions.or(high, both).ok()?;
        self.decisions.choice(level, low, high).ok()
    }

    /// The terms that need the literal: those of `least` that the other side does not allow.
    fn literal(&mut self, level: u32, value: bool, least: u32, other: u32, most: u32) -> Option<u32> {
        let needed = self.without(least, other)?;
        self.term.push((self.atoms[level as usize], value));
        let sum = self.between(needed, most);
        self.term.pop();
        sum
    }

    fn without(&mut self, f: u32, g: u32) -> Option<u32> {
        self.decisions.ite(g, FALSE, f).ok()
    }
}

impl Guard {
    /// The guard as a formula; `None` for a long one.
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
                        let of = formulas.atom(*atom).clone();
                        let positive = formulas.atomic(of);
                        if *value { positive } else { formulas.not(positive) }
                    })
                    .collect();
                if any { formulas.and(literals) } else { formulas.or(literals) }
            })
            .collect();
        Some(if any { formulas.or(terms) } else { formulas.and(terms) })
    }

    /// The guard as text in the formula language.
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
