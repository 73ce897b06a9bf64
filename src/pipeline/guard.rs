//! The two guards on a positive ending. Facts go in, the first clause that fails comes out, in words.
//!
//! Facts are gathered from the journal and the artifacts by the caller; nothing here reads a model's opinion except the
//! names that a review accepts explicitly.

use serde::{Deserialize, Serialize};

use super::station::Station;

/// A line of the configuration that makes a check weaker, or a use of randomness in the module.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CfgEntry {
    /// As it must be named to be accepted, e.g. `CONSTRAINT Small` or `CHECK_DEADLOCK FALSE`.
    pub line: String,
    /// Whether the review names it, with a reason.
    pub accepted: bool,
}

/// What is known of one witness.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WitnessState {
    /// Its name.
    pub name: String,
    /// Whether a run reached it.
    pub reached: bool,
    /// Whether it took a step: a state predicate that holds from the start shows nothing.
    #[serde(default)]
    pub by_a_step: bool,
}

/// Everything that an approval rests on (design, section 3, "The approval guard").
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApprovalFacts {
    /// There is an informal specification.
    pub informal_spec: bool,
    /// Steps that the informal specification marks as changed, in a run that repairs no flaw.
    #[serde(default)]
    pub changed_steps: Vec<String>,
    /// The formalized module was accepted by translator and parser.
    pub module_accepted: bool,
    /// The merged module and its configuration were accepted by the last parse.
    pub merged_accepted: bool,
    /// The last check was of exactly this merged module and configuration.
    pub check_is_fresh: bool,
    /// The verdict of the last check: `None` where there is none, else `holds`, `violated`, `invalid`, `inconclusive`.
    pub verdict: Option<CheckVerdict>,
    /// The check ran to completion: nothing left on the queue.
    pub complete: bool,
    /// More than the initial states were explored.
    pub moved: bool,
    /// `TypeOK` was among the checked invariants.
    pub type_ok: bool,
    /// Properties other than `TypeOK` that were checked and cover a requirement.
    pub covering: Vec<String>,
    /// Checked properties and witnesses that are constantly TRUE, with the reason.
    pub constantly_true: Vec<String>,
    /// All witnesses of the configuration.
    pub witnesses: Vec<WitnessState>,
    /// Actions never taken that the review does not name as intended; `None` where the checker gave no coverage.
    pub dead_actions: Option<Vec<String>>,
    /// Lines that weaken the check.
    pub weakening_lines: Vec<CfgEntry>,
    /// Requirements that neither a checked property covers nor the review accepts.
    pub uncovered: Vec<String>,
    /// Changes since the baseline that the review does not accept.
    pub unnamed_changes: Vec<String>,
    /// Files that the reviewer had to read in their present wording and did not.
    pub unread: Vec<String>,
}

/// Class of the last check's verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckVerdict {
    /// All hold.
    Holds,
    /// Something is violated.
    Violated,
    /// It could not be evaluated.
    Invalid,
    /// Not decided.
    Inconclusive,
}

/// The clauses of the approval guard, in the order in which they are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalClause {
    /// An informal specification exists.
    InformalSpecExists,
    /// It changes no step of the documented protocol, unless a confirmed flaw is repaired.
    NotChangedInSilence,
    /// The module was accepted by translator and parser.
    ModuleAccepted,
    /// The merged module and the configuration parse.
    MergedAccepted,
    /// The last check saw this module and configuration.
    CheckIsFresh,
    /// The module could be evaluated.
    Evaluates,
    /// Nothing is violated.
    NothingViolated,
    /// The check came to a verdict.
    Decided,
    /// The exploration was complete.
    Complete,
    /// More than the initial states were explored.
    Moved,
    /// `TypeOK` was checked.
    TypeOkChecked,
    /// Another property that covers a requirement was checked.
    PropertyCovers,
    /// No checked property and no witness is constantly TRUE.
    NoTautology,
    /// At least one witness exists.
    WitnessExists,
    /// Every witness was reached.
    WitnessesReached,
    /// Every action was taken, or is named as intended.
    ActionsTaken,
    /// Every weakening line is accepted by name, with a reason.
    CfgAccepted,
    /// Every requirement is covered, or accepted as uncovered.
    RequirementsCovered,
    /// Every change since the baseline is accepted by name.
    ChangesNamed,
    /// The reviewer read what is approved.
    ReviewerRead,
}

impl ApprovalClause {
    /// All clauses, in order.
    pub const ALL: [ApprovalClause; 20] = [
        ApprovalClause::InformalSpecExists,
        ApprovalClause::NotChangedInSilence,
        ApprovalClause::ModuleAccepted,
        ApprovalClause::MergedAccepted,
        ApprovalClause::CheckIsFresh,
        ApprovalClause::Evaluates,
        ApprovalClause::NothingViolated,
        ApprovalClause::Decided,
        ApprovalClause::Complete,
        ApprovalClause::Moved,
        ApprovalClause::TypeOkChecked,
        ApprovalClause::PropertyCovers,
        ApprovalClause::NoTautology,
        ApprovalClause::WitnessExists,
        ApprovalClause::WitnessesReached,
        ApprovalClause::ActionsTaken,
        ApprovalClause::CfgAccepted,
        ApprovalClause::RequirementsCovered,
        ApprovalClause::ChangesNamed,
        ApprovalClause::ReviewerRead,
    ];

    /// Where a run goes when the clause fails under an approval.
    pub fn station(self) -> Station {
        match self {
            ApprovalClause::InformalSpecExists | ApprovalClause::NotChangedInSilence => Station::InformalSpec,
            ApprovalClause::ModuleAccepted
            | ApprovalClause::Evaluates
            | ApprovalClause::NothingViolated
            | ApprovalClause::Moved
            | ApprovalClause::WitnessesReached
            | ApprovalClause::ActionsTaken => Station::Formalize,
            ApprovalClause::MergedAccepted
            | ApprovalClause::Decided
            | ApprovalClause::Complete
            | ApprovalClause::TypeOkChecked
            | ApprovalClause::PropertyCovers
            | ApprovalClause::NoTautology
            | ApprovalClause::WitnessExists
            | ApprovalClause::CfgAccepted
            | ApprovalClause::RequirementsCovered => Station::GenerateInvariants,
            ApprovalClause::CheckIsFresh => Station::ModelCheck,
            ApprovalClause::ChangesNamed | ApprovalClause::ReviewerRead => Station::Review,
        }
    }

    /// Whether it speaks of what a check of the present module showed, so that it fails where there is none.
    pub fn rests_on_the_check(self) -> bool {
        matches!(
            self,
            ApprovalClause::Evaluates
                | ApprovalClause::NothingViolated
                | ApprovalClause::Decided
                | ApprovalClause::Complete
                | ApprovalClause::Moved
                | ApprovalClause::TypeOkChecked
                | ApprovalClause::PropertyCovers
                | ApprovalClause::WitnessExists
                | ApprovalClause::WitnessesReached
                | ApprovalClause::ActionsTaken
        )
    }

    /// Whether the clause holds of the facts.
    pub fn holds(self, facts: &ApprovalFacts) -> bool {
        match self {
            ApprovalClause::InformalSpecExists => facts.informal_spec,
            ApprovalClause::NotChangedInSilence => facts.changed_steps.is_empty(),
            ApprovalClause::ModuleAccepted => facts.module_accepted,
            ApprovalClause::MergedAccepted => facts.merged_accepted,
            ApprovalClause::CheckIsFresh => facts.check_is_fresh && facts.verdict.is_some(),
            ApprovalClause::Evaluates => facts.verdict != Some(CheckVerdict::Invalid),
            ApprovalClause::NothingViolated => facts.verdict != Some(CheckVerdict::Violated),
            // What is violated or invalid is decided, and has clauses of its own.
            ApprovalClause::Decided => facts.verdict.is_some_and(|v| v != CheckVerdict::Inconclusive),
            ApprovalClause::Complete => facts.complete,
            ApprovalClause::Moved => facts.moved,
            ApprovalClause::TypeOkChecked => facts.type_ok,
            ApprovalClause::PropertyCovers => !facts.covering.is_empty(),
            ApprovalClause::NoTautology => facts.constantly_true.is_empty(),
            ApprovalClause::WitnessExists => facts.witnesses.iter().any(|w| w.by_a_step || !w.reached),
            ApprovalClause::WitnessesReached => facts.witnesses.iter().all(|w| w.reached),
            ApprovalClause::ActionsTaken => facts.dead_actions.as_ref().is_some_and(Vec::is_empty),
            ApprovalClause::CfgAccepted => facts.weakening_lines.iter().all(|l| l.accepted),
            ApprovalClause::RequirementsCovered => facts.uncovered.is_empty(),
            ApprovalClause::ChangesNamed => facts.unnamed_changes.is_empty(),
            ApprovalClause::ReviewerRead => facts.unread.is_empty(),
        }
    }

    /// What is wrong when it fails, for a person and for the next prompt.
    pub fn words(self, facts: &ApprovalFacts) -> String {
        let list = |names: &[String]| names.join(", ");
        match self {
            ApprovalClause::InformalSpecExists => "there is no readable informal specification".into(),
            ApprovalClause::NotChangedInSilence => format!(
                "the informal specification marks steps as `CHANGED:`, and no confirmed flaw is being repaired: each must \
                 be as the documents say: {}",
                facts.changed_steps.join("; ")
            ),
            ApprovalClause::ModuleAccepted => {
                "the module was not accepted by the PlusCal translator and the parser".into()
            }
            ApprovalClause::MergedAccepted => {
                "the module merged with its properties, or its configuration, was not accepted".into()
            }
            ApprovalClause::CheckIsFresh => {
                "the module or its configuration is not the one that was checked last".into()
            }
            ApprovalClause::Evaluates => "the model checker could not evaluate the specification".into(),
            ApprovalClause::NothingViolated => "the last check found a violation".into(),
            ApprovalClause::Decided => "the last check came to no verdict; smaller constants may help".into(),
            ApprovalClause::Complete => "the exploration was not complete: states were left on the queue".into(),
            ApprovalClause::Moved => "no state beyond the initial ones was explored".into(),
            ApprovalClause::TypeOkChecked => "TypeOK was not among the checked invariants".into(),
            ApprovalClause::PropertyCovers => {
                "no property other than TypeOK that covers a requirement was checked".into()
            }
            ApprovalClause::NoTautology => format!("constantly TRUE: {}", list(&facts.constantly_true)),
            ApprovalClause::WitnessExists => {
                "there is no witness (`\\* WITNESS Name` in the configuration) that takes a step to reach".into()
            }
            ApprovalClause::WitnessesReached => {
                let unreached: Vec<String> =
                    facts.witnesses.iter().filter(|w| !w.reached).map(|w| w.name.clone()).collect();
                format!("witnesses that no behaviour was shown to reach: {}", list(&unreached))
            }
            ApprovalClause::ActionsTaken => match &facts.dead_actions {
                Some(dead) => format!("actions that are never taken: {}", list(dead)),
                None => "the checker gave no coverage, so it is not known whether every action is taken".into(),
            },
            ApprovalClause::CfgAccepted => {
                let open: Vec<String> =
                    facts.weakening_lines.iter().filter(|l| !l.accepted).map(|l| l.line.clone()).collect();
                format!(
                    "the check is bounded by what no review accepted: {} (each is accepted word for word and with a \
                     reason, as `LINE: reason`)",
                    list(&open)
                )
            }
            ApprovalClause::RequirementsCovered => {
                format!("requirements that no checked property covers: {}", list(&facts.uncovered))
            }
            ApprovalClause::ChangesNamed => {
                format!(
                    "changed since it was first checked, and not accepted by name: {}",
                    list(&facts.unnamed_changes)
                )
            }
            ApprovalClause::ReviewerRead => {
                format!("the reviewer has not read, as they stand now: {}", list(&facts.unread))
            }
        }
    }
}

/// The approval guard: the first clause that fails, or `None` where all hold.
pub fn approval(facts: &ApprovalFacts) -> Option<ApprovalClause> {
    ApprovalClause::ALL.into_iter().find(|clause| !clause.holds(facts))
}

/// Everything that a claim of a flaw rests on (design, section 3, "The flaw guard").
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlawFacts {
    /// The review gives the flaw's details.
    pub described: bool,
    /// The last check of this very module and configuration is violated, and has a trace.
    pub violated_now: bool,
    /// The violated property is the one that the review names.
    pub property_is_the_violated_one: bool,
    /// It is not `TypeOK`.
    pub not_type_ok: bool,
    /// It covers the named requirement, and the requirement exists.
    pub covers_the_requirement: bool,
    /// It stood before its violation was known, and neither it, nor what it covers, nor the wording of that has changed
    /// since without an earlier review accepting it by name.
    pub property_unchanged: bool,
    /// What has changed.
    #[serde(default)]
    pub changed_since: Vec<String>,
    /// Bounds that alone could cause the trace: constraints and views; a constant with whose next value the violation
    /// vanishes, or a deadlock comes later and no document is cited for the bound.
    pub only_bounds: Vec<String>,
    /// Larger bounds within which it is not known whether the violation is there: shown to the second reader.
    #[serde(default)]
    pub open_bounds: Vec<String>,
    /// The behaviour was not shown to be possible under weak fairness of every action, and no document is cited for it.
    pub unfair_lasso: bool,
    /// What the tool said of it under weak fairness, where the trace is an infinite behaviour.
    #[serde(default)]
    pub under_fairness: Option<String>,
    /// Steps of the trace that the review maps to no existing line of a document.
    pub unmapped_steps: Vec<usize>,
    /// The reviewer read the module, configuration and outcome as they stand.
    pub unread: Vec<String>,
}

/// The clauses of the flaw guard, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FlawClause {
    /// The review describes the flaw.
    Described,
    /// The last check shows the violation.
    ViolatedNow,
    /// Of the property that the review names.
    NamesTheViolated,
    /// Which is not `TypeOK`.
    NotTypeOk,
    /// And covers the requirement.
    CoversRequirement,
    /// And has not changed.
    PropertyUnchanged,
    /// Bounds alone do not cause it.
    NotOnlyBounds,
    /// Ordinary fairness does not exclude it.
    NotUnfair,
    /// Every step is mapped to the documents.
    StepsMapped,
    /// The reviewer read what it speaks of.
    ReviewerRead,
}

impl FlawClause {
    /// All clauses, in order.
    pub const ALL: [FlawClause; 10] = [
        FlawClause::Described,
        FlawClause::ViolatedNow,
        FlawClause::NamesTheViolated,
        FlawClause::NotTypeOk,
        FlawClause::CoversRequirement,
        FlawClause::PropertyUnchanged,
        FlawClause::NotOnlyBounds,
        FlawClause::NotUnfair,
        FlawClause::StepsMapped,
        FlawClause::ReviewerRead,
    ];

    /// Whether the clause holds of the facts.
    pub fn holds(self, facts: &FlawFacts) -> bool {
        match self {
            FlawClause::Described => facts.described,
            FlawClause::ViolatedNow => facts.violated_now,
            FlawClause::NamesTheViolated => facts.property_is_the_violated_one,
            FlawClause::NotTypeOk => facts.not_type_ok,
            FlawClause::CoversRequirement => facts.covers_the_requirement,
            FlawClause::PropertyUnchanged => facts.property_unchanged,
            FlawClause::NotOnlyBounds => facts.only_bounds.is_empty(),
            FlawClause::NotUnfair => !facts.unfair_lasso,
            FlawClause::StepsMapped => facts.unmapped_steps.is_empty(),
            FlawClause::ReviewerRead => facts.unread.is_empty(),
        }
    }

    /// What is wrong when it fails.
    pub fn words(self, facts: &FlawFacts) -> String {
        match self {
            FlawClause::Described => "the review claims a flaw without naming requirement, property and steps".into(),
            FlawClause::ViolatedNow => "the last check of this module shows no violation with a trace".into(),
            FlawClause::NamesTheViolated => "the property that the review names is not the one that is violated".into(),
            FlawClause::NotTypeOk => "a violated TypeOK is a defect of the specification, not of the protocol".into(),
            FlawClause::CoversRequirement => "the violated property does not cover the named requirement".into(),
            FlawClause::PropertyUnchanged => {
                let what = if facts.changed_since.is_empty() {
                    "the violated property".to_owned()
                } else {
                    facts.changed_since.join(", ")
                };
                format!(
                    "changed after the violation was first known, and accepted by name in no review before this one: {what}"
                )
            }
            FlawClause::NotOnlyBounds => {
                format!("bounds of the model may cause the trace: {}", facts.only_bounds.join(", "))
            }
            FlawClause::NotUnfair => format!(
                "it was not shown that the behaviour of the trace is possible where every action is weakly fair, and no \
                 line of the documents is cited in `flaw.unfair`: {}",
                facts.under_fairness.as_deref().unwrap_or("not decided")
            ),
            FlawClause::StepsMapped => {
                let steps: Vec<String> = facts.unmapped_steps.iter().map(ToString::to_string).collect();
                format!("steps of the trace that are mapped to no line of the documents: {}", steps.join(", "))
            }
            FlawClause::ReviewerRead => {
                format!("the reviewer has not read, as they stand now: {}", facts.unread.join(", "))
            }
        }
    }
}

/// The flaw guard: the first clause that fails, or `None` where all hold. The second reading comes after it.
pub fn flaw(facts: &FlawFacts) -> Option<FlawClause> {
    FlawClause::ALL.into_iter().find(|clause| !clause.holds(facts))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn good() -> ApprovalFacts {
        ApprovalFacts {
            informal_spec: true,
            module_accepted: true,
            merged_accepted: true,
            check_is_fresh: true,
            verdict: Some(CheckVerdict::Holds),
            complete: true,
            moved: true,
            type_ok: true,
            covering: vec!["Safe".into()],
            witnesses: vec![WitnessState { name: "WitnessPaid".into(), reached: true, by_a_step: true }],
            dead_actions: Some(Vec::new()),
            ..ApprovalFacts::default()
        }
    }

    /// One way to break each clause and nothing else that comes before it.
    type Breaker<C, F> = (C, fn(&mut F));

    fn breakers() -> Vec<Breaker<ApprovalClause, ApprovalFacts>> {
        vec![
            (ApprovalClause::InformalSpecExists, |f| f.informal_spec = false),
            (ApprovalClause::NotChangedInSilence, |f| f.changed_steps.push("- Add: CHANGED: by two".into())),
            (ApprovalClause::ModuleAccepted, |f| f.module_accepted = false),
            (ApprovalClause::MergedAccepted, |f| f.merged_accepted = false),
            (ApprovalClause::CheckIsFresh, |f| f.check_is_fresh = false),
            (ApprovalClause::Evaluates, |f| f.verdict = Some(CheckVerdict::Invalid)),
            (ApprovalClause::NothingViolated, |f| f.verdict = Some(CheckVerdict::Violated)),
            (ApprovalClause::Decided, |f| f.verdict = Some(CheckVerdict::Inconclusive)),
            (ApprovalClause::Complete, |f| f.complete = false),
            (ApprovalClause::Moved, |f| f.moved = false),
            (ApprovalClause::TypeOkChecked, |f| f.type_ok = false),
            (ApprovalClause::PropertyCovers, |f| f.covering.clear()),
            (ApprovalClause::NoTautology, |f| f.constantly_true.push("Safe".into())),
            (ApprovalClause::WitnessExists, |f| f.witnesses.clear()),
            (ApprovalClause::WitnessesReached, |f| {
                f.witnesses.push(WitnessState { name: "W".into(), reached: false, by_a_step: false });
            }),
            (ApprovalClause::ActionsTaken, |f| f.dead_actions = Some(vec!["Act".into()])),
            (ApprovalClause::CfgAccepted, |f| {
                f.weakening_lines.push(CfgEntry { line: "VIEW V".into(), accepted: false });
            }),
            (ApprovalClause::RequirementsCovered, |f| f.uncovered.push("R2".into())),
            (ApprovalClause::ChangesNamed, |f| f.unnamed_changes.push("Safe".into())),
            (ApprovalClause::ReviewerRead, |f| f.unread.push("Spec.tla".into())),
        ]
    }

    #[test]
    fn the_approval_guard_holds_only_where_every_clause_does_over_all_combinations() {
        let breakers = breakers();
        assert_eq!(breakers.len(), ApprovalClause::ALL.len());
        let mut holding = 0;
        for mask in 0..1u32 << breakers.len() {
            let mut facts = good();
            for (i, (_, apply)) in breakers.iter().enumerate() {
                if mask & (1 << i) != 0 {
                    apply(&mut facts);
                }
            }
            let failed = approval(&facts);
            assert_eq!(failed.is_none(), mask == 0);
            holding += u32::from(failed.is_none());
            if mask.is_power_of_two() {
                assert_eq!(failed, Some(breakers[mask.trailing_zeros() as usize].0));
                assert!(!failed.unwrap().words(&facts).is_empty());
            }
        }
        assert_eq!(holding, 1);
    }

    #[test]
    fn a_check_without_coverage_does_not_pass_as_one_without_dead_actions() {
        assert_eq!(approval(&ApprovalFacts { dead_actions: None, ..good() }), Some(ApprovalClause::ActionsTaken));
    }

    #[test]
    fn the_flaw_guard_names_the_first_clause_that_fails() {
        let good = FlawFacts {
            described: true,
            violated_now: true,
            property_is_the_violated_one: true,
            not_type_ok: true,
            covers_the_requirement: true,
            property_unchanged: true,
            ..FlawFacts::default()
        };
        assert_eq!(flaw(&good), None);
        let breakers: [Breaker<FlawClause, FlawFacts>; 10] = [
            (FlawClause::Described, |f| f.described = false),
            (FlawClause::ViolatedNow, |f| f.violated_now = false),
            (FlawClause::NamesTheViolated, |f| f.property_is_the_violated_one = false),
            (FlawClause::NotTypeOk, |f| f.not_type_ok = false),
            (FlawClause::CoversRequirement, |f| f.covers_the_requirement = false),
            (FlawClause::PropertyUnchanged, |f| f.property_unchanged = false),
            (FlawClause::NotOnlyBounds, |f| f.only_bounds.push("CONSTRAINT C".into())),
            (FlawClause::NotUnfair, |f| f.unfair_lasso = true),
            (FlawClause::StepsMapped, |f| f.unmapped_steps.push(3)),
            (FlawClause::ReviewerRead, |f| f.unread.push("Spec.tla".into())),
        ];
        for mask in 0..1u32 << breakers.len() {
            let mut facts = good.clone();
            for (i, (_, apply)) in breakers.iter().enumerate() {
                if mask & (1 << i) != 0 {
                    apply(&mut facts);
                }
            }
            let first = (mask != 0).then(|| breakers[mask.trailing_zeros() as usize].0);
            assert_eq!(flaw(&facts), first);
        }
    }
}
