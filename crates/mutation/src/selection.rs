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

/// The lines of a file that a unified diff adds or changes, and the neighbours of deleted lines. `None` if the diff does
/// not contain the file, which is identified by the last component of its path.
pub fn changed_lines(diff: &str, file: &str) -> Option<BTreeSet<usize>> {
    let mut found: Option<BTreeSet<usize>> = None;
    let (mut is_our_file, mut line, mut left) = (false, 0, (0_usize, 0_usize));
    // Lines were deleted, and so far no line replaces them.
    let mut deleted = false;
    for text in diff.lines() {
        // Inside a hunk a line that begins with `+++` is an added line.
        if left == (0, 0) {
            if let Some(path) = text.strip_prefix("+++ ") {
                let path = path.split('\t').next().unwrap_or(path).trim();
                // By the last component, because the paths of a diff begin with `b/` or with the root of the
                // repository.
                is_our_file = path.rsplit('/').next() == file.rsplit('/').next();
                if is_our_file {
                    found.get_or_insert_default();
                }
            } else if let Some(range) = text.strip_prefix("@@ -") {
                let counts = |part: &str| {
                    let (start, count) = part.split_once(',').unwrap_or((part, "1"));
                    (start.parse().unwrap_or(0), count.parse().unwrap_or(0))
                };
                let mut parts = range.split_whitespace();
                let old = counts(parts.next().unwrap_or(""));
                let new: (usize, usize) = counts(parts.next().unwrap_or("").trim_start_matches('+'));
                // `+9,0` means after line 9.
                (line, left) = (new.0 + usize::from(new.1 == 0), (old.1, new.1));
            }
            continue;
        }
        let sign = text.bytes().next();
        if is_our_file && let Some(found) = &mut found {
            if sign == Some(b'+') {
                found.insert(line);
            } else if deleted && !matches!(sign, Some(b'-' | b'\\')) {
                found.extend([line.saturating_sub(1), line]);
            }
        }
        deleted = match sign {
            Some(b'-') => true,
            Some(b'\\') => deleted,
            _ => false,
        };
        match sign {
            Some(b'+') => {
                line += 1;
                left.1 = left.1.saturating_sub(1);
            }
            Some(b'-') => left.0 = left.0.saturating_sub(1),
            Some(b'\\') => {}
            _ => {
                line += 1;
                left = (left.0.saturating_sub(1), left.1.saturating_sub(1));
            }
        }
        if left == (0, 0) && std::mem::take(&mut deleted) && is_our_file {
            found.get_or_insert_default().extend([line.saturating_sub(1), line]);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_a_diff_are_those_of_the_new_file() {
        let diff = "diff --git a/s/Spec.tla b/s/Spec.tla\n--- a/s/Spec.tla\n+++ b/s/Spec.tla\n@@ -1,3 +1,4 @@\n a\n-b\n+B\n+C\n c\n@@ -10 +11,2 @@\n-x\n+++ y\n+z\n--- a/O.tla\n+++ b/O.tla\n@@ -1 +1 @@\n-1\n+2\n";
        assert_eq!(changed_lines(diff, "Spec.tla"), Some(BTreeSet::from([2, 3, 11, 12])));
        assert_eq!(changed_lines(diff, "O.tla"), Some(BTreeSet::from([1])));
        assert_eq!(changed_lines(diff, "None.tla"), None);
    }

    #[test]
    fn a_deletion_touches_its_neighbours() {
        let of = |hunk: &str| changed_lines(&format!("--- a/S.tla\n+++ b/S.tla\n{hunk}"), "S.tla");
        assert_eq!(of("@@ -1,4 +1,3 @@\n a\n-b\n c\n d\n"), Some(BTreeSet::from([1, 2])));
        assert_eq!(of("@@ -10,2 +9,0 @@\n-x\n-y\n"), Some(BTreeSet::from([9, 10])));
        assert_eq!(of("@@ -1,4 +1,3 @@\n a\n-b\n-c\n+C\n d\n"), Some(BTreeSet::from([2])));
        assert_eq!(of("@@ -8,3 +8,2 @@\n a\n b\n-c\n\\ No newline at end of file\n"), Some(BTreeSet::from([9, 10])));
    }

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
