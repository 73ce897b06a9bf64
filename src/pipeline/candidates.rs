//! Formalizations that are drafted side by side (`--candidates`): what each came to, how they compare, and which of them
//! goes on. Each is a lifeline of its own; `formalize` decides by what it has received.

use std::collections::{BTreeMap, BTreeSet};

use super::claims::CandidateClaims;
use super::driver::closed;
use super::events::{CandidateStarted, Record, RunEvent};
use super::lifelines::CANDIDATE_LIFELINES;
use super::objective::ObjectiveStep;
use super::records::{Product, Standing};
use super::routes::transition;
use super::run::record;
use super::view::RunView;
use crate::journal::{Kind, Sha};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How many formalizations may be drafted side by side.
pub const MAX_CANDIDATES: u32 = 8;
const _: () = assert!(MAX_CANDIDATES as usize == CANDIDATE_LIFELINES.len());

/// How many of the candidates are given properties at most.
pub const LEADERS: usize = 2;

/// The lifeline of a candidate, by its number from 1.
///
/// # Panics
/// Where there is no such candidate: numbers are checked when settings are read.
pub fn lifeline_of(candidate: u32) -> &'static str {
    CANDIDATE_LIFELINES[candidate as usize - 1]
}

/// How far a candidate has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// Drafted, translated, parsed and quickly checked.
    Formalization,
    /// Given properties, and checked with them.
    Properties,
}

/// What a quick check said.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct QuickCheck {
    /// `holds`, `violated`, `invalid` or `inconclusive`.
    pub verdict: String,
    /// What is violated, or why there is no verdict.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// It did not end in time.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub out_of_time: bool,
    /// Distinct states.
    pub distinct: Option<u64>,
    /// Whether more than the initial states was reached.
    pub moved: bool,
    /// Seconds.
    pub seconds: f64,
    /// What the constants stood for.
    pub constants: BTreeMap<String, String>,
    /// What the tool printed.
    pub output: Sha,
}

/// What a candidate came to (`candidate_finished`).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Candidate {
    /// Its number, from 1.
    pub candidate: u32,
    /// How far it has come.
    pub stage: Stage,
    /// The answer that holds its module.
    pub answer: Sha,
    /// The module without its translation, where the answer holds one.
    pub source: Option<Sha>,
    /// The module as the tools accepted it, with its properties where it has some.
    pub module: Option<Sha>,
    /// The answer that holds its properties.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub properties: Option<Sha>,
    /// Their configuration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cfg: Option<Sha>,
    /// What a quick check of it said; `None` where none could be made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quick: Option<QuickCheck>,
    /// How it compares, where it has properties.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub standing: Option<Standing>,
    /// What it would come to under the run's objective.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<ObjectiveStep>,
    /// How long its answer took.
    #[serde(default)]
    pub seconds: f64,
    /// What was found against it, or why it was not checked, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

impl Candidate {
    /// More is better. Without properties: 0 unreadable, 1 rejected, then by its quick check: 2 it cannot be evaluated,
    /// 3 it breaks, 4 not known, 5 nothing was found. With properties 100 and more, in the order of [`Standing::rank`].
    pub fn points(&self) -> u64 {
        if let Some(standing) = &self.standing {
            let flag = |holds: bool, weight: u64| if holds { weight } else { 0 };
            let covered = u64::try_from(standing.covered).unwrap_or(u64::MAX).min(999);
            let flags = flag(standing.parses, 4) + flag(standing.not_vacuous, 2) + flag(standing.holds, 1);
            return 100 + flags * 1_000 + covered;
        }
        match (&self.source, &self.module, &self.quick) {
            (None, _, _) => 0,
            (Some(_), None, _) => 1,
            (_, _, None) => 4,
            (_, _, Some(quick)) => match quick.verdict.as_str() {
                "invalid" => 2,
                "violated" => 3,
                "holds" if quick.moved => 5,
                "holds" => 3,
                _ => 4,
            },
        }
    }

    /// Whether nothing speaks against it: others are waited for only so long.
    pub fn is_good(&self) -> bool {
        match &self.standing {
            Some(standing) => standing.parses && standing.not_vacuous && standing.holds,
            None => self.points() >= 4,
        }
    }

    /// What it came to, in a line.
    pub fn words(&self) -> String {
        let why = self.why.as_deref().and_then(|why| why.trim_start_matches("- ").lines().next()).unwrap_or_default();
        let checked = |quick: &QuickCheck| {
            let states = quick.distinct.map_or_else(String::new, |n| format!(", {n} states"));
            let why = quick.why.as_deref().and_then(|why| why.lines().next()).unwrap_or_default();
            let why = if why.is_empty() { String::new() } else { format!(" ({why})") };
            format!("{}{why}{states}", quick.verdict)
        };
        match (self.stage, &self.standing, &self.quick) {
            (Stage::Properties, Some(standing), Some(quick)) if standing.parses => {
                format!("with its properties {}, requirements covered: {}", checked(quick), standing.covered)
            }
            (Stage::Properties, _, _) => format!("its properties were not accepted: {why}"),
            (_, _, _) if self.source.is_none() => format!("not readable: {why}"),
            (_, _, _) if self.module.is_none() => format!("rejected: {why}"),
            (_, _, Some(quick)) => format!("accepted, quick check {}", checked(quick)),
            (_, _, None) => why.to_owned(),
        }
    }

    /// Its claims, for formulas.
    pub fn claims(&self) -> CandidateClaims {
        CandidateClaims {
            points: self.points(),
            source: self.source.clone(),
            module: self.module.clone(),
            cfg: self.cfg.clone(),
            accepted: self.module.is_some(),
            verdict: self.quick.as_ref().map(|quick| quick.verdict.clone()),
        }
    }
}

/// What the choice rested on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ChosenBy {
    /// What the tools said of each.
    Points,
    /// The run's objective, and then the points.
    Objective,
}

/// Which candidate goes on (`candidate_chosen`).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Chosen {
    /// Its number.
    pub chosen: u32,
    /// What the choice rested on.
    pub by: ChosenBy,
    /// The candidates whose results had been received, each with its points.
    pub received: BTreeMap<u32, u64>,
    /// Those that had not come, or gave none.
    pub missing: Vec<u32>,
    /// In words.
    pub why: String,
}

/// The best of those that were received: by the objective where each has a step of it, then by points, then the one with the
/// smaller number.
///
/// # Errors
/// `None` where there is none.
pub fn best(received: &[Candidate]) -> Option<(&Candidate, ChosenBy)> {
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

/// Those that are given properties: of the best by what the tools said, where several are equally good.
pub fn leaders(received: &[Candidate]) -> Vec<u32> {
    let most = received.iter().map(Candidate::points).max().unwrap_or_default();
    let mut equal: Vec<&Candidate> =
        received.iter().filter(|one| one.module.is_some() && one.points() == most).collect();
    equal.sort_by_key(|one| one.candidate);
    // Word for word the same module is one.
    let mut known = BTreeSet::new();
    equal.retain(|one| known.insert(one.source.as_ref().map(Sha::as_str)));
    equal.into_iter().map(|one| one.candidate).take(LEADERS).collect()
}

/// The candidates of one revision.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Candidates {
    /// How many were to be drafted when it began.
    #[serde(default)]
    pub of: u32,
    /// What each came to, the last word of each.
    pub all: Vec<Candidate>,
    /// Which one went on.
    pub chosen: Option<Chosen>,
    /// Those that came to nothing more.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub given_up: BTreeMap<u32, GivenUp>,
    /// Those that have begun and not come to their end.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub open: BTreeSet<u32>,
}

impl Candidates {
    /// A candidate begins, or is given properties.
    pub(super) fn begin(&mut self, CandidateStarted { candidate, of }: CandidateStarted) {
        self.of = self.of.max(of);
        self.given_up.remove(&candidate);
        self.open.insert(candidate);
    }

    /// A candidate has come to the end of a stage.
    pub(super) fn finish(&mut self, one: Candidate) {
        let number = one.candidate;
        self.all.retain(|other| other.candidate != number);
        self.all.push(one);
        self.all.sort_by_key(|one| one.candidate);
        self.open.remove(&number);
        self.given_up.remove(&number);
    }

    /// A candidate ends without a result.
    pub(super) fn give_up(&mut self, one: GivenUp) {
        self.open.remove(&one.candidate);
        self.given_up.insert(one.candidate, one);
    }

    /// All that have begun.
    pub fn begun(&self) -> BTreeSet<u32> {
        let finished = self.all.iter().map(|one| one.candidate);
        finished.chain(self.open.iter().copied()).chain(self.given_up.keys().copied()).collect()
    }

    /// What is kept of each in the history, by file name: its module, else its answer, and its configuration.
    pub(super) fn files(&self) -> impl Iterator<Item = (String, &Sha)> {
        let kept = self.all.iter().flat_map(|one| {
            let number = one.candidate;
            let drafted = match one.module.as_ref().or(one.source.as_ref()) {
                Some(module) => (format!("{number}.tla"), module),
                None => (format!("{number}.md"), &one.answer),
            };
            let properties = match (&one.cfg, &one.properties) {
                (Some(cfg), _) => Some((format!("{number}.cfg"), cfg)),
                (None, Some(answer)) => Some((format!("{number}.properties.md"), answer)),
                (None, None) => None,
            };
            std::iter::once(drafted).chain(properties)
        });
        let unread = self.given_up.values().filter(|one| self.all.iter().all(|other| other.candidate != one.candidate));
        kept.chain(unread.filter_map(|one| Some((format!("{}.md", one.candidate), one.answer.as_ref()?))))
    }
}

/// That a candidate came to nothing more (`candidate_given_up`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GivenUp {
    /// Its number.
    pub candidate: u32,
    /// In words.
    pub why: String,
    /// An answer that nobody has looked at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<Sha>,
}

impl RunView {
    /// The candidate that went on in the revision in work.
    pub fn chosen(&self) -> Option<&Candidate> {
        let here = self.candidates.get(&self.rev)?;
        let chosen = here.chosen.as_ref()?.chosen;
        here.all.iter().find(|one| one.candidate == chosen)
    }

    /// The run with what a node made, and where it goes then: for a candidate, which goes its own way beside it.
    #[must_use]
    pub fn as_if(&self, product: Product) -> Self {
        let t = transition(&self.settings.rules, &self.state, &product.event);
        let mut after = self.clone();
        after.absorb(product);
        after.move_on(&t);
        after
    }

    /// That the candidates which have not come to their end are not waited for any longer.
    ///
    /// `answer` gives the last answer of a lifeline.
    pub(super) fn given_up(&self, answer: impl Fn(&str) -> Option<Sha>) -> Vec<Record> {
        let open = self.candidates.get(&self.rev).map(|here| here.open.clone()).unwrap_or_default();
        let record = |candidate| {
            let lifeline = lifeline_of(candidate);
            let answer = answer(lifeline);
            let why = match answer {
                Some(_) => "an answer came, and the run ended before anybody looked at it",
                None => "its answer was not waited for any longer",
            };
            let event = RunEvent::CandidateGivenUp(GivenUp { candidate, why: why.to_owned(), answer });
            record(lifeline, Kind::Act, self.rev, 0, event)
        };
        open.into_iter().map(record).collect()
    }

    /// What the run would come to under its objective if its revision closed as it is; `None` without an objective.
    pub fn step_here(&self) -> Option<ObjectiveStep> {
        self.objective()?;
        let mut with_this = self.clone();
        with_this.take_closed(closed(self, self));
        with_this.objective_step(self.rev)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidate(number: u32) -> Candidate {
        Candidate {
            candidate: number,
            stage: Stage::Formalization,
            answer: Sha::of("answer"),
            source: None,
            module: None,
            properties: None,
            cfg: None,
            quick: None,
            standing: None,
            step: None,
            seconds: 1.0,
            why: None,
        }
    }

    fn checked(number: u32, verdict: &str, moved: bool) -> Candidate {
        let quick = QuickCheck {
            verdict: verdict.to_owned(),
            why: None,
            out_of_time: false,
            distinct: Some(1),
            moved,
            seconds: 0.0,
            constants: BTreeMap::new(),
            output: Sha::of("output"),
        };
        let (source, module) = (Some(Sha::of("source")), Some(Sha::of("module")));
        Candidate { source, module, quick: Some(quick), ..candidate(number) }
    }

    fn standing(parses: bool, not_vacuous: bool, holds: bool, covered: usize) -> Standing {
        Standing { parses, not_vacuous, holds, covered, ..Standing::default() }
    }

    #[test]
    fn the_points_go_the_way_that_a_candidate_goes() {
        let rejected = Candidate { source: Some(Sha::of("source")), ..candidate(1) };
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
    fn with_properties_the_order_is_that_of_revisions() {
        let bits = [false, true];
        let mut all = Vec::new();
        for (parses, not_vacuous, holds) in
            bits.into_iter().flat_map(|a| bits.into_iter().flat_map(move |b| bits.into_iter().map(move |c| (a, b, c))))
        {
            for covered in [0, 1, 7, 998] {
                all.push(standing(parses, not_vacuous, holds, covered));
            }
        }
        let points = |s: &Standing| Candidate { standing: Some(*s), ..checked(1, "holds", true) }.points();
        for a in &all {
            for b in &all {
                let ranks = [a, b].map(|s| (s.parses, s.not_vacuous, s.holds, s.covered));
                assert_eq!(points(a).cmp(&points(b)), ranks[0].cmp(&ranks[1]), "{a:?} {b:?}");
            }
            assert!(points(a) > checked(1, "holds", true).points());
        }
    }

    #[test]
    fn of_equals_the_first_is_the_best_and_two_are_given_properties() {
        let all = [candidate(1), checked(4, "holds", true), checked(2, "holds", true), checked(3, "holds", true)];
        let mut all = all;
        all[1].source = Some(Sha::of("another"));
        all[3].source = Some(Sha::of("a third"));
        assert_eq!(best(&all).map(|(one, by)| (one.candidate, by)), Some((2, ChosenBy::Points)));
        assert_eq!(leaders(&all), [2, 3]);
        let same = [checked(1, "holds", true), checked(2, "holds", true)];
        assert_eq!(leaders(&same), [1], "the same module once");
        assert_eq!(leaders(&[candidate(1), candidate(2)]), [0_u32; 0], "what has no module has no properties");
        assert_eq!(leaders(&[candidate(1), checked(2, "violated", true)]), [2]);
        assert_eq!(best(&[]), None);
    }

    #[test]
    fn each_candidate_has_a_lifeline_that_stands_apart() {
        for number in 1..=MAX_CANDIDATES {
            assert_eq!(lifeline_of(number), format!("formalize_{number}"));
            assert!(crate::journal::is_apart(lifeline_of(number)));
        }
        assert!(!crate::pipeline::NODE_LIFELINES.iter().any(|name| crate::journal::is_apart(name)));
    }
}
