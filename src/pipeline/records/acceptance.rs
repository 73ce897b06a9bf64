//! Finds what an approval needs a review to accept by number or name: open points, assumptions, normative sentences without
//! an account, steps without a contract, surviving mutants, and larger bounds with which a property is violated. It also
//! computes whether the mutation score prevents an approval. The review node and the verification of a journal both compute it
//! here.

use std::collections::BTreeSet;

use super::mutants::{JudgedMutant, MutantSample, Tally, why_not_judged};
use super::requirement_status::{RequirementResult, RequirementStatus};
use super::view::RunView;
use crate::mutation::Outcome;
use crate::pipeline::machine::{ALL_MUTANTS, ApprovalFacts, CfgEntry, Review};
use crate::prompt::OpenPoint;
use crate::tla::LargerBound;

/// The first word of the line by which a review accepts a premise that no reachable state is known to satisfy.
pub const PREMISE: &str = "PREMISE";
/// The first words of the line by which a review accepts a property that no state of its types is known to violate.
pub const NOT_FALSIFIED: &str = "NOT FALSIFIED";
/// The first words of the line by which a review accepts a property that notices no mutant of the sample.
pub const NOTICED_NOTHING: &str = "NOTICED NOTHING";
/// In a smaller sample, a good property may notice nothing by chance.
const MIN_DECIDED_MUTANTS: usize = 20;

impl RunView {
    /// The open points that the owner of the protocol has not decided as they are taken.
    pub fn undecided_open_points(&self) -> impl Iterator<Item = &OpenPoint> {
        let decisions = &self.specification.decisions;
        let points = self.specification.open_points.iter();
        points.filter(|point| !decisions.iter().any(|decision| decision.is_followed_by(point)))
    }

    /// The numbers of the open points whose reading the review does not accept. Without a review nothing is accepted.
    pub fn unaccepted_open_points(&self, review: Option<&Review>) -> Vec<String> {
        let decisions = &self.specification.decisions;
        // A reading that is not given cannot be accepted, nor one that a decision contradicts.
        let is_unaccepted = |point: &&OpenPoint| {
            let is_contradicted = decisions.iter().any(|decision| decision.is_contradicted_by(point));
            let is_accepted = review.is_some_and(|r| r.accepts_open_point(&point.id));
            point.taken.is_empty() || is_contradicted || !is_accepted
        };
        self.undecided_open_points().filter(is_unaccepted).map(|point| point.id.clone()).collect()
    }

    pub fn unaccepted_assumptions(&self, review: Option<&Review>) -> Vec<String> {
        let is_accepted = |id: &str| review.is_some_and(|r| r.accepts_assumption(id));
        let ids = self.specification.assumptions.iter().map(|assumption| &assumption.id);
        ids.filter(|id| !is_accepted(id)).cloned().collect()
    }

    /// The normative sentences without an account that the review does not accept, each with its place.
    pub fn unaccounted_sentences(&self, review: Option<&Review>) -> Vec<String> {
        let is_accepted = |id: &str| review.is_some_and(|r| r.accepts_sentence(id));
        let sentences = self.specification.normative_sentences.iter();
        let unaccounted = sentences.filter(|sentence| sentence.account.is_none() && !is_accepted(&sentence.id));
        unaccounted.map(|sentence| format!("{} [{}]", sentence.id, sentence.place)).collect()
    }

    /// The larger bounds that the review has to accept by name: the check found a property violated with them, or did not decide
    /// them.
    pub fn bounds_to_accept(&self) -> impl Iterator<Item = &LargerBound> {
        let larger = self.fresh_check().into_iter().flat_map(|check| &check.larger_bounds);
        let reviews_open = self.settings.routing.requires_bounds_accepted;
        larger.filter(move |bound| bound.violated().is_some() || reviews_open && bound.is_open())
    }

    /// The names of those among them that the review does not accept.
    pub fn unaccepted_bounds(&self, review: Option<&Review>) -> Vec<String> {
        let names = self.bounds_to_accept().map(LargerBound::name);
        names.filter(|name| !review.is_some_and(|r| r.accepts_bound(name))).collect()
    }

    /// The mutants that no property notices, those first that matter most: a witness is lost, one requirement alone is
    /// touched, a step is changed, and only then initial values and definitions. None if the run does not judge mutants before
    /// each review.
    pub fn survivors(&self) -> Vec<&JudgedMutant> {
        let judged = self.strengthening.as_ref().filter(|_| self.settings.routing.judges_mutants);
        let coverage = self.fresh_check().and_then(|check| check.coverage.as_ref());
        let is_step = |name: &str| coverage.is_some_and(|actions| actions.iter().any(|action| action.name() == name));
        let mut survivors: Vec<&JudgedMutant> =
            judged.into_iter().flat_map(|mutants| mutants.now.with_outcome(Outcome::Survived)).collect();
        survivors.sort_by_key(|mutant| {
            (mutant.lost_witnesses.is_empty(), mutant.touches.len() != 1, !is_step(&mutant.definition))
        });
        survivors
    }

    /// What a review has to accept by name about mutants: the surviving ones, or that none were judged although the check would
    /// have allowed it.
    pub fn survivors_to_accept(&self) -> Vec<String> {
        if !self.settings.routing.judges_mutants || why_not_judged(self.fresh_check()).is_some() {
            return Vec::new();
        }
        match &self.strengthening {
            Some(mutants) if mutants.first.skipped_reason.is_none() => {
                self.survivors().into_iter().map(|mutant| mutant.name.clone()).collect()
            }
            _ => vec![ALL_MUTANTS.to_owned()],
        }
    }

    /// Those among them that the review does not accept.
    pub fn unaccepted_survivors(&self, review: Option<&Review>) -> Vec<String> {
        let accepted: BTreeSet<&str> = match review {
            Some(review) => {
                let named = self.survivors().into_iter().filter(|mutant| mutant.acceptance(review).is_some());
                let all = review.accepts_survivor(ALL_MUTANTS).then_some(ALL_MUTANTS);
                named.map(|mutant| mutant.name.as_str()).chain(all).collect()
            }
            None => BTreeSet::new(),
        };
        self.survivors_to_accept().into_iter().filter(|name| !accepted.contains(name.as_str())).collect()
    }

    /// The properties that cover a requirement and notice no mutant of the sample, if the sample is large enough to say so.
    /// A mutant that was not judged counts as one that they do not notice.
    pub fn properties_that_noticed_nothing(&self) -> Vec<String> {
        let judged = self.strengthening.as_ref().filter(|_| self.settings.routing.judges_mutants);
        let (Some(mutants), Some(check)) = (judged, self.fresh_check()) else { return Vec::new() };
        let Tally { killed, survived, .. } = mutants.now.tally();
        if killed + survived < MIN_DECIDED_MUTANTS {
            return Vec::new();
        }
        let exists = |id: &String| self.specification.requirements.iter().any(|requirement| requirement.id == *id);
        let covers = |name: &str| self.specification.covers.get(name).is_some_and(|ids| ids.iter().any(exists));
        let notices = |name: &String| mutants.now.mutants.iter().any(|mutant| mutant.killed_by.contains(name));
        let names = check.checked_names().filter(|name| name.as_str() != "TypeOK" && covers(name));
        names.filter(|name| check.why_vacuous(name).is_none() && !notices(name)).cloned().collect()
    }

    /// What check and mutants did not show in full, in the wording that a review has to repeat to accept it.
    pub fn lines_to_accept<'a>(&'a self) -> Vec<String> {
        let Some(check) = self.fresh_check() else { return Vec::new() };
        let bounds = &check.bounds;
        // Without the reason, which may depend on how fast a machine is.
        let name = |line: &'a str| {
            let reasons = [" (never satisfied)", " (not decided", " (evaluated by no reachable step)"];
            reasons.iter().filter_map(|reason| line.find(reason)).min().map_or(line, |at| &line[..at])
        };
        let premises = bounds.vacuous_premises.iter().map(|premise| format!("{PREMISE} {}", name(premise)));
        let never_false = bounds.not_falsified.iter();
        let never_false = never_false.filter_map(|line| Some(format!("{NOT_FALSIFIED} {}", line.split(" (").next()?)));
        let as_they_are = bounds.initial_state_parts.iter().chain(&bounds.assumptions).cloned();
        let idle = self.properties_that_noticed_nothing().into_iter().map(|name| format!("{NOTICED_NOTHING} {name}"));
        as_they_are.chain(premises).chain(never_false).chain(idle).collect()
    }

    /// The requirements that no checked property covers and that the review does not accept as they are, each with the reason if
    /// there is a property for it.
    pub fn uncovered_requirements(&self, review: Option<&Review>) -> Vec<String> {
        let results = self.requirement_results(review).into_iter();
        let words = |RequirementResult { requirement, status }: RequirementResult| match status {
            RequirementStatus::NotChecked { by, why } => format!("{} ({}: {why})", requirement.id, by.join(", ")),
            _ => requirement.id,
        };
        results.filter(|result| result.status.lacks_check()).map(words).collect()
    }

    /// Removes the vacuous properties: see [`CheckOutcome::why_vacuous`]. One that is constantly true by its text stays, because it
    /// has an approval clause of its own.
    ///
    /// [`CheckOutcome::why_vacuous`]: crate::tla::CheckOutcome::why_vacuous
    pub fn without_vacuous(&self, covering: Vec<String>, constantly_true: &[String]) -> Vec<String> {
        let is_vacuous = |name: &str| self.fresh_check().is_some_and(|check| check.why_vacuous(name).is_some());
        let is_constant = |name: &str| constantly_true.iter().any(|one| one.starts_with(&format!("{name} (")));
        covering.into_iter().filter(|name| !is_vacuous(name) || is_constant(name)).collect()
    }

    /// Why the score of the sampled mutants prevents an approval, if the run asks for a score. Undecided mutants count as
    /// survivors.
    pub(in crate::pipeline) fn low_score_reason(&self) -> Option<String> {
        let least = self.settings.routing.min_score;
        if least == 0 {
            return None;
        }
        let wanted = f64::from(least) / 10.0;
        let missing = |why: &str| format!("`--min-score` requires {wanted} %, and no mutant was judged: {why}");
        // The first sample counts only if the second has no mutant that counts.
        let strengthened = self.strengthened();
        let says_something = |sample: &&MutantSample| {
            sample.skipped_reason.is_some() || sample.score().decided() + sample.score().undecided > 0
        };
        let (skipped, score) = match (self.mutant_sample.as_ref().filter(says_something), &strengthened) {
            (Some(sample), _) => (&sample.skipped_reason, sample.score()),
            (None, Some(all)) => (&all.skipped_reason, all.score()),
            (None, None) => return Some(missing("no sample is in the journal")),
        };
        if let Some(why) = skipped {
            return Some(missing(why));
        }
        let all = score.decided() + score.undecided;
        let is_enough = score.noticed * 1000 >= all * least as usize && all > 0;
        (!is_enough).then(|| {
            format!(
                "the properties notice only {} of {all} mutants (undecided ones count as not noticed), and `--min-score` requires {wanted} %",
                score.noticed
            )
        })
    }

    /// The journaled facts with what this view and the review say of these items, so that a journal cannot leave one out.
    pub(in crate::pipeline) fn with_acceptance(&self, facts: &ApprovalFacts, review: Option<&Review>) -> ApprovalFacts {
        let limits = self.lines_to_accept();
        let own = facts.weakening_lines.iter().filter(|entry| !limits.contains(&entry.line)).cloned();
        let accepted = |line: &String| review.is_some_and(|review| review.accepts_cfg(line));
        let limits = limits.iter().map(|line| CfgEntry { line: line.clone(), accepted: accepted(line) });
        ApprovalFacts {
            covering: self.without_vacuous(facts.covering.clone(), &facts.constantly_true),
            weakening_lines: own.chain(limits).collect(),
            uncovered: self.uncovered_requirements(review),
            unaccepted_open_points: self.unaccepted_open_points(review),
            unaccepted_assumptions: self.unaccepted_assumptions(review),
            unaccounted_sentences: self.unaccounted_sentences(review),
            steps_without_contract: self.steps_without_contract(review),
            unaccepted_survivors: self.unaccepted_survivors(review),
            unaccepted_bounds: self.unaccepted_bounds(review),
            ..facts.clone()
        }
    }
}
