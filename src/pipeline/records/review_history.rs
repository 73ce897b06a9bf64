//! The reviews and second readings of a run.

use std::collections::BTreeMap;

use super::ambiguity::Ambiguity;
use super::event_data::BlindReading;
use super::product::{Facts, FurtherClaim, FurtherReading, Quotes, ReplacedClaim};
use super::rank::RevisionRank;
use crate::journal::Sha;
use crate::pipeline::machine::Review;

#[derive(Debug, Clone, Default, PartialEq)]
pub struct ReviewHistory {
    /// The last readable review of the revision in work.
    pub last: Option<Review>,
    /// Every readable review by revision, each with the lines that it cites.
    pub by_revision: BTreeMap<u32, Vec<(Review, Quotes)>>,
    /// What became of the claims of flaws, by revision.
    claims: BTreeMap<u32, JudgedClaims>,
    /// The rank that the last review of the revision in work gave it.
    pub rank: RevisionRank,
    /// Confirmed flaws by the revision that ended in them.
    confirmed_flaws: BTreeMap<u32, ConfirmedFlaw>,
    /// Confirmed claims that rest on the reading of an open point, by the revision that made them.
    pub ambiguities: BTreeMap<u32, Ambiguity>,
    /// What the properties of each module forbid, by those that were read blindly.
    pub(super) blind_readings: BTreeMap<Sha, BTreeMap<String, String>>,
    /// What a property forbids, by its hash in [`BlindReading::formulas`]. A later module with the same formula reuses it.
    pub read_formulas: BTreeMap<Sha, String>,
}

/// What became of the claims of flaws in the last review of a revision.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct JudgedClaims {
    /// The claims beside the one that the run rests on.
    pub further: Vec<FurtherClaim>,
    /// The second reading of the claim that the run rests on: whether it agrees, and why.
    pub second_reading: Option<(bool, String)>,
    /// The second readings of the other claims.
    pub further_readings: Vec<FurtherReading>,
}

/// A flaw with which the second reader agreed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfirmedFlaw {
    pub revision: u32,
    pub requirement: String,
    pub property: String,
}

impl ReviewHistory {
    pub(super) fn begin_revision(&mut self) {
        self.last = None;
        self.rank = RevisionRank::default();
    }

    pub(super) fn absorb(&mut self, revision: u32, facts: &Facts) {
        match facts {
            Facts::Reviewed { review, rank, quotes, further, .. } => {
                let claims = JudgedClaims { further: further.clone(), ..JudgedClaims::default() };
                self.claims.insert(revision, claims);
                self.by_revision.entry(revision).or_default().push(((**review).clone(), quotes.clone()));
                self.last = Some((**review).clone());
                self.rank = *rank;
            }
            Facts::ReviewUnreadable { rank, .. } => self.rank = *rank,
            Facts::SecondRead { agrees, why, replaced, open_point, further } => {
                let mut further = further.clone();
                if let Some(replaced) = replaced {
                    self.exchange_main_claim(revision, replaced, &mut further);
                }
                if let Some(flaw) = self.last.as_ref().and_then(|r| r.flaw.as_ref()).filter(|_| *agrees) {
                    let (requirement, property) = (flaw.requirement.clone(), flaw.property.clone());
                    match open_point.clone() {
                        Some(open_point) => {
                            let why = why.clone();
                            let ambiguity = Ambiguity { revision, requirement, property, open_point, why };
                            self.ambiguities.insert(revision, ambiguity);
                        }
                        None => {
                            let flaw = ConfirmedFlaw { revision, requirement, property };
                            self.confirmed_flaws.insert(revision, flaw);
                        }
                    }
                }
                let claims = self.claims.entry(revision).or_default();
                claims.second_reading = Some((*agrees, why.clone()));
                claims.further_readings = further;
            }
            Facts::Nothing
            | Facts::Informal { .. }
            | Facts::Validated { .. }
            | Facts::Rejected { .. }
            | Facts::Merged { .. }
            | Facts::Contracted { .. } => {}
        }
    }

    /// Makes a confirmed further claim the main one, and the main one, with its reading, a further claim.
    fn exchange_main_claim(&mut self, revision: u32, replaced: &ReplacedClaim, readings: &mut [FurtherReading]) {
        let stored = self.by_revision.get_mut(&revision).and_then(|reviews| reviews.last_mut());
        for review in self.last.iter_mut().chain(stored.map(|(review, _)| review)) {
            review.make_main_claim(&replaced.by);
        }
        for reading in readings.iter_mut().filter(|reading| reading.property == replaced.by) {
            reading.clone_from(&replaced.reading);
        }
    }

    pub(super) fn add_blind_reading(&mut self, reading: &BlindReading) {
        self.blind_readings.entry(reading.module.clone()).or_default().extend(reading.forbids.clone());
        let read = reading.formulas.iter().filter_map(|(name, formula)| Some((formula, reading.forbids.get(name)?)));
        self.read_formulas.extend(read.map(|(formula, sentence)| (formula.clone(), sentence.clone())));
    }

    pub(super) fn confirmed_flaw(&self, revision: u32) -> Option<&ConfirmedFlaw> {
        self.confirmed_flaws.get(&revision)
    }

    pub fn claims_of(&self, revision: u32) -> Option<&JudgedClaims> {
        self.claims.get(&revision)
    }

    pub fn last_of(&self, revision: u32) -> Option<&Review> {
        self.by_revision.get(&revision)?.last().map(|(review, _)| review)
    }
}
