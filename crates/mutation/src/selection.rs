//! Selects the mutants to judge. Knows nothing of verdicts, so the same options select the same mutants on every
//! machine.

use std::collections::{BTreeMap, BTreeSet};

use super::{Mutant, Operator};

/// Filters for mutants, applied in the order of the fields. A shard is taken of what they select, so that all machines draw
/// the same sample and each takes its part of it.
#[derive(Debug, Clone, Default)]
pub struct Selection {
    /// Only these operators; all if empty.
    pub operators: Vec<Operator>,
    /// Only mutants that touch these lines.
    pub lines: Option<BTreeSet<usize>>,
    /// A random sample of this size, in which definitions have about the same number of mutants.
    pub sample: Option<usize>,
    /// Seed of the sample: equal seeds select equal mutants.
    pub seed: u64,
}

impl Selection {
    /// The selected mutants, in their order.
    pub fn select(&self, all: Vec<Mutant>, source: &str) -> Vec<Mutant> {
        let wanted = |mutant: &Mutant| {
            let operator = self.operators.is_empty() || self.operators.contains(&mutant.operator);
            operator && self.lines.as_ref().is_none_or(|lines| touches_lines(mutant, source, lines))
        };
        let mut chosen: Vec<Mutant> = all.into_iter().filter(wanted).collect();
        if let Some(sample) = self.sample.filter(|sample| *sample < chosen.len()) {
            let mut rng = fastrand::Rng::with_seed(self.seed);
            let mut places: Vec<usize> = (0..chosen.len()).collect();
            rng.shuffle(&mut places);
            // One mutant of each definition in turn: otherwise a long definition would fill most of a small sample.
            let mut turns: BTreeMap<&str, usize> = BTreeMap::new();
            places.sort_by_cached_key(|place| {
                let turn = turns.entry(&chosen[*place].definition).or_default();
                *turn += 1;
                *turn
            });
            let drawn: BTreeSet<usize> = places.into_iter().take(sample).collect();
            let mut place = 0..;
            chosen.retain(|_| place.next().is_some_and(|at| drawn.contains(&at)));
        }
        chosen
    }
}

fn touches_lines(mutant: &Mutant, source: &str, lines: &BTreeSet<usize>) -> bool {
    let line = |at: usize| source[..at].matches('\n').count() + 1;
    mutant.edits.iter().any(|edit| (line(edit.range.start)..=line(edit.range.end)).any(|at| lines.contains(&at)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_takes_from_each_definition_in_turn() {
        let mutant = |definition: &str, line: usize| Mutant {
            operator: Operator::Constant,
            definition: definition.to_owned(),
            line,
            column: 1,
            what: String::new(),
            edits: Vec::new(),
            variant: String::new(),
            number: 1,
        };
        let long = (1..=90).map(|line| mutant("Long", line));
        let all: Vec<Mutant> =
            long.chain((91..=95).map(|line| mutant("Short", line))).chain([mutant("One", 96)]).collect();
        let sampled = |sample: usize, seed: u64| {
            Selection { sample: Some(sample), seed, ..Selection::default() }.select(all.clone(), "")
        };
        for seed in 0..20 {
            let chosen = sampled(9, seed);
            let of = |definition: &str| chosen.iter().filter(|mutant| mutant.definition == definition).count();
            assert_eq!([of("Long"), of("Short"), of("One")], [4, 4, 1], "seed {seed}");
            assert!(chosen.is_sorted_by_key(|mutant| mutant.line));
            assert_eq!(chosen, sampled(9, seed));
        }
        assert_ne!(sampled(9, 0), sampled(9, 1));
        assert_eq!(sampled(96, 0), all);
    }
}
