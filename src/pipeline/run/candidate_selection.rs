//! Which candidates are given properties, which one goes on, and which are no longer waited for.

use std::collections::BTreeSet;

use crate::journal::{Kind, Sha};
use crate::pipeline::machine::candidate_lifeline;
use crate::pipeline::records::{AbandonedCandidate, Candidate, ChosenBy, Record, RunEvent, RunView, record};

/// How many candidates get properties at most.
pub const MAX_LEADERS: usize = 2;

/// The best of the received candidates: by the objective if each has a step of it, then by points, then the smallest
/// number. `None` if there is none.
pub fn select_best(received: &[Candidate]) -> Option<(&Candidate, ChosenBy)> {
    let has_steps = received.len() > 1 && received.iter().all(|one| one.step.is_some());
    let by = if has_steps { ChosenBy::Objective } else { ChosenBy::Points };
    let goal = |a: &Candidate, b: &Candidate| match (&a.step, &b.step) {
        (Some(a), Some(b)) if by == ChosenBy::Objective => a.step.compare(&b.step),
        _ => std::cmp::Ordering::Equal,
    };
    let better = |a: &&Candidate, b: &&Candidate| {
        goal(a, b).then(a.points().cmp(&b.points())).then(b.candidate.cmp(&a.candidate))
    };
    received.iter().max_by(better).map(|one| (one, by))
}

/// The candidates that get properties: those with the most points, each module once.
pub fn select_leaders(received: &[Candidate]) -> Vec<u32> {
    let most = received.iter().map(Candidate::points).max().unwrap_or_default();
    let mut equal: Vec<&Candidate> =
        received.iter().filter(|one| one.module.is_some() && one.points() == most).collect();
    equal.sort_by_key(|one| one.candidate);
    // The same module, word for word, needs properties only once.
    let mut known = BTreeSet::new();
    equal.retain(|one| known.insert(one.source.as_ref().map(Sha::as_str)));
    equal.into_iter().map(|one| one.candidate).take(MAX_LEADERS).collect()
}

/// The events that abandon unfinished candidates. `answer` gives the last answer of a lifeline.
pub(super) fn abandon_unfinished(view: &RunView, answer: impl Fn(&str) -> Option<Sha>) -> Vec<Record> {
    let unfinished = view.candidates.get(&view.rev).map(|candidates| candidates.unfinished.clone()).unwrap_or_default();
    let abandon = |candidate| {
        let lifeline = candidate_lifeline(candidate);
        let answer = answer(lifeline);
        let why = match answer {
            Some(_) => "an answer came, but the run ended before it was read",
            None => "the run no longer waited for its answer",
        };
        let event = RunEvent::CandidateAbandoned(AbandonedCandidate { candidate, why: why.to_owned(), answer });
        record(lifeline, Kind::Act, view.rev, 0, event)
    };
    unfinished.into_iter().map(abandon).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::pipeline::machine::{MAX_CANDIDATES, NODE_LIFELINES};
    use crate::pipeline::records::{QuickCheck, RevisionRank, Stage};

    fn candidate(number: u32) -> Candidate {
        Candidate {
            candidate: number,
            stage: Stage::Formalization,
            answer: Sha::digest("answer"),
            source: None,
            module: None,
            properties: None,
            cfg: None,
            quick: None,
            rank: None,
            step: None,
            seconds: 1.0,
            why: None,
        }
    }

    fn checked(number: u32, verdict: &str, moved: bool) -> Candidate {
        let quick = QuickCheck {
            verdict: verdict.to_owned(),
            why: None,
            timed_out: false,
            distinct: Some(1),
            moved,
            seconds: 0.0,
            constants: BTreeMap::new(),
            output: Sha::digest("output"),
        };
        let (source, module) = (Some(Sha::digest("source")), Some(Sha::digest("module")));
        Candidate { source, module, quick: Some(quick), ..candidate(number) }
    }

    fn rank(parses: bool, not_vacuous: bool, holds: bool, covered: usize) -> RevisionRank {
        RevisionRank { parses, not_vacuous, holds, covered, ..RevisionRank::default() }
    }

    #[test]
    fn points_grow_with_the_progress_of_a_candidate() {
        let rejected = Candidate { source: Some(Sha::digest("source")), ..candidate(1) };
        let unchecked = Candidate { quick: None, ..checked(1, "holds", true) };
        let way = [
            candidate(1),
            rejected,
            checked(1, "invalid", false),
            checked(1, "violated", true),
            unchecked,
            checked(1, "holds", true),
        ];
        let points: Vec<u64> = way.iter().map(Candidate::points).collect();
        assert_eq!(points, [0, 1, 2, 3, 4, 5]);
        assert_eq!(checked(1, "inconclusive", true).points(), 4);
        assert_eq!(checked(1, "holds", false).points(), 3, "initial states alone show nothing");
    }

    #[test]
    fn candidates_with_properties_are_ordered_like_revisions() {
        let bits = [false, true];
        let mut all = Vec::new();
        for (parses, not_vacuous, holds) in
            bits.into_iter().flat_map(|a| bits.into_iter().flat_map(move |b| bits.into_iter().map(move |c| (a, b, c))))
        {
            for covered in [0, 1, 7, 998] {
                all.push(rank(parses, not_vacuous, holds, covered));
            }
        }
        let points = |s: &RevisionRank| Candidate { rank: Some(*s), ..checked(1, "holds", true) }.points();
        for a in &all {
            for b in &all {
                let ranks = [a, b].map(|s| (s.parses, s.not_vacuous, s.holds, s.covered));
                assert_eq!(points(a).cmp(&points(b)), ranks[0].cmp(&ranks[1]), "{a:?} {b:?}");
            }
            assert!(points(a) > checked(1, "holds", true).points());
        }
    }

    #[test]
    fn the_first_of_equals_is_best_and_two_leaders_get_properties() {
        let all = [candidate(1), checked(4, "holds", true), checked(2, "holds", true), checked(3, "holds", true)];
        let mut all = all;
        all[1].source = Some(Sha::digest("another"));
        all[3].source = Some(Sha::digest("a third"));
        assert_eq!(select_best(&all).map(|(one, by)| (one.candidate, by)), Some((2, ChosenBy::Points)));
        assert_eq!(select_leaders(&all), [2, 3]);
        let same = [checked(1, "holds", true), checked(2, "holds", true)];
        assert_eq!(select_leaders(&same), [1], "the same module once");
        assert_eq!(select_leaders(&[candidate(1), candidate(2)]), [0_u32; 0], "what has no module has no properties");
        assert_eq!(select_leaders(&[candidate(1), checked(2, "violated", true)]), [2]);
        assert_eq!(select_best(&[]), None);
    }

    #[test]
    fn each_candidate_has_a_numbered_lifeline() {
        for number in 1..=MAX_CANDIDATES {
            assert_eq!(candidate_lifeline(number), format!("formalize_{number}"));
            assert!(crate::journal::is_parallel_lifeline(candidate_lifeline(number)));
        }
        assert!(!NODE_LIFELINES.iter().any(|name| crate::journal::is_parallel_lifeline(name)));
    }
}
