//! The guards of an approval and of a flaw: their clauses as formulas of causal past logic, owned by the lifeline `review`,
//! and the message for a clause that fails.
//!
//! Clauses read the claims of the other nodes from the causal past (`@model_check.claims.module`). What depends on the
//! names that the review accepts is a count in its own claims (`claims.uncovered`); the facts here are the lists behind
//! those counts.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::node_name::NodeName;

/// A line of the configuration that makes a check weaker, or a use of randomness in the module.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CfgEntry {
    /// The text by which a review accepts it, such as `CONSTRAINT Small` or `CHECK_DEADLOCK FALSE`.
    pub line: String,
    /// Whether the review accepts it, with a reason.
    pub accepted: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WitnessState {
    pub name: String,
    /// Whether the check reached it.
    pub reached: bool,
    /// Whether reaching it took a step. A state predicate that holds in an initial state shows nothing.
    #[serde(default)]
    pub by_a_step: bool,
}

/// The lists behind the counts that the approval guard reads.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ApprovalFacts {
    /// Steps that the informal specification marks as changed, in a run that repairs no flaw.
    #[serde(default)]
    pub changed_steps: Vec<String>,
    /// Properties other than `TypeOK` that were checked and cover a requirement.
    pub covering: Vec<String>,
    /// Checked properties and witnesses that are constantly TRUE, with the reason.
    pub constantly_true: Vec<String>,
    /// All witnesses of the configuration.
    pub witnesses: Vec<WitnessState>,
    /// Actions that are never taken and that the review does not accept; `None` if the checker reported no coverage.
    pub dead_actions: Option<Vec<String>>,
    /// Lines that weaken the check.
    pub weakening_lines: Vec<CfgEntry>,
    /// Requirements that neither a checked property covers nor the review accepts.
    pub uncovered: Vec<String>,
    /// Open points whose reading the review does not accept.
    #[serde(default)]
    pub unaccepted_open_points: Vec<String>,
    /// Assumptions that the review does not accept.
    #[serde(default)]
    pub unaccepted_assumptions: Vec<String>,
    /// Normative sentences that the informal specification does not account for and the review does not accept, each with
    /// its place.
    #[serde(default)]
    pub unaccounted_sentences: Vec<String>,
    /// Properties that cover a requirement and whose blind reading the review does not accept, or that no blind reader has
    /// read.
    #[serde(default)]
    pub unaccepted_readings: Vec<String>,
    /// Steps without a contract that is checked, unless the review accepts that.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps_without_contract: Vec<String>,
    /// Mutants that the checked properties do not notice and that the review does not accept.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unaccepted_survivors: Vec<String>,
    /// Larger bounds with which a property is violated, or that were not decided or not tried, and that the review does not accept: `N = 3`.
    #[serde(default)]
    pub unaccepted_bounds: Vec<String>,
    /// Changes since the baseline that the review does not accept.
    pub unnamed_changes: Vec<String>,
    /// Files that the reviewer had to read in their current version and did not.
    pub unread: Vec<String>,
}

/// Listed in place of the steps if no contracts were added to the module.
pub(in crate::pipeline) const ALL_STEPS: &str = "every step";

/// What a review accepts by this name if no mutants were judged although the run judges mutants.
pub const ALL_MUTANTS: &str = "no mutant was judged";

/// The clauses of the approval guard, in the order in which they are evaluated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalClause {
    InformalSpecExists,
    NotChangedInSilence,
    ModuleAccepted,
    MergedAccepted,
    CheckIsFresh,
    Evaluates,
    NothingViolated,
    Decided,
    Complete,
    Moved,
    TypeOkChecked,
    PropertyCovers,
    NoTautology,
    WitnessExists,
    WitnessesReached,
    ActionsTaken,
    CfgAccepted,
    RequirementsCovered,
    OpenPointsAccepted,
    AssumptionsAccepted,
    SentencesAccounted,
    ReadingsAccepted,
    StepsHaveContracts,
    SurvivorsAccepted,
    LargerBoundsAccepted,
    ChangesNamed,
    ReviewerRead,
}

impl ApprovalClause {
    pub const ALL: [ApprovalClause; 27] = [
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
        ApprovalClause::OpenPointsAccepted,
        ApprovalClause::AssumptionsAccepted,
        ApprovalClause::SentencesAccounted,
        ApprovalClause::ReadingsAccepted,
        ApprovalClause::StepsHaveContracts,
        ApprovalClause::SurvivorsAccepted,
        ApprovalClause::LargerBoundsAccepted,
        ApprovalClause::ChangesNamed,
        ApprovalClause::ReviewerRead,
    ];

    pub fn name(self) -> String {
        name_of(&self)
    }

    /// The node that can repair a failing clause.
    pub fn node(self) -> NodeName {
        match self {
            ApprovalClause::InformalSpecExists
            | ApprovalClause::NotChangedInSilence
            | ApprovalClause::SentencesAccounted => NodeName::InformalSpec,
            ApprovalClause::ModuleAccepted
            | ApprovalClause::Evaluates
            | ApprovalClause::NothingViolated
            | ApprovalClause::Moved
            | ApprovalClause::WitnessesReached
            | ApprovalClause::ActionsTaken => NodeName::Formalize,
            ApprovalClause::MergedAccepted
            | ApprovalClause::Decided
            | ApprovalClause::Complete
            | ApprovalClause::TypeOkChecked
            | ApprovalClause::PropertyCovers
            | ApprovalClause::NoTautology
            | ApprovalClause::WitnessExists
            | ApprovalClause::CfgAccepted
            | ApprovalClause::RequirementsCovered => NodeName::GenerateInvariants,
            ApprovalClause::CheckIsFresh => NodeName::ModelCheck,
            ApprovalClause::StepsHaveContracts => NodeName::StepContracts,
            ApprovalClause::OpenPointsAccepted
            | ApprovalClause::AssumptionsAccepted
            | ApprovalClause::ReadingsAccepted
            | ApprovalClause::SurvivorsAccepted
            | ApprovalClause::LargerBoundsAccepted
            | ApprovalClause::ChangesNamed
            | ApprovalClause::ReviewerRead => NodeName::Review,
        }
    }

    /// Whether the clause reads the result of a check, so that it fails if there is none.
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

    /// Whether a review can make it hold by what it accepts, or by what the reviewer reads.
    pub fn is_up_to_the_review(self) -> bool {
        let accepts = [
            ApprovalClause::ActionsTaken,
            ApprovalClause::CfgAccepted,
            ApprovalClause::RequirementsCovered,
            ApprovalClause::SentencesAccounted,
            ApprovalClause::StepsHaveContracts,
        ];
        self.node() == NodeName::Review || accepts.contains(&self)
    }

    /// What it demands of what the lifeline `review` could know: causal past logic, over what the lifelines say.
    pub fn formula(self) -> &'static str {
        match self {
            ApprovalClause::InformalSpecExists => "@informal_spec.claims.readable = true",
            ApprovalClause::NotChangedInSilence => "claims.changed_steps = 0",
            ApprovalClause::ModuleAccepted => {
                "@validate.claims.accepted = true \
                 & @validate.claims.source = claims.source \
                 & @formalize.claims.source = claims.source \
                 & @formalize.claims.made_from = @informal_spec.claims.answer"
            }
            ApprovalClause::MergedAccepted => {
                "@generate_invariants.claims.accepted = true \
                 & (@generate_invariants.claims.module = claims.module \
                 & @generate_invariants.claims.cfg = claims.cfg \
                 | @step_contracts.claims.accepted = true \
                 & @step_contracts.claims.module = claims.module \
                 & @step_contracts.claims.cfg = claims.cfg \
                 & @step_contracts.claims.made_from = @generate_invariants.claims.module \
                 & @step_contracts.claims.made_from_cfg = @generate_invariants.claims.cfg)"
            }
            ApprovalClause::CheckIsFresh => {
                "@model_check.claims.module = claims.module & @model_check.claims.cfg = claims.cfg"
            }
            ApprovalClause::Evaluates => r#"@model_check.claims.verdict != "invalid""#,
            ApprovalClause::NothingViolated => r#"@model_check.claims.verdict != "violated""#,
            ApprovalClause::Decided => r#"@model_check.claims.verdict != "inconclusive""#,
            ApprovalClause::Complete => "@model_check.claims.complete = true",
            ApprovalClause::Moved => "@model_check.claims.moved = true",
            ApprovalClause::TypeOkChecked => "@model_check.claims.type_ok = true",
            ApprovalClause::PropertyCovers => "claims.covering > 0",
            ApprovalClause::NoTautology => "claims.constantly_true = 0",
            ApprovalClause::WitnessExists => "@model_check.claims.witnesses > 0",
            ApprovalClause::WitnessesReached => "@model_check.claims.unreached = 0",
            ApprovalClause::ActionsTaken => "claims.dead_actions = 0",
            ApprovalClause::CfgAccepted => "claims.unaccepted_cfg = 0",
            ApprovalClause::RequirementsCovered => "claims.uncovered = 0",
            ApprovalClause::OpenPointsAccepted => "claims.unaccepted_open_points = 0",
            ApprovalClause::AssumptionsAccepted => "claims.unaccepted_assumptions = 0",
            ApprovalClause::SentencesAccounted => "claims.unaccounted_sentences = 0",
            ApprovalClause::ReadingsAccepted => "claims.unaccepted_readings = 0",
            ApprovalClause::StepsHaveContracts => "claims.steps_without_contract = 0",
            ApprovalClause::SurvivorsAccepted => "claims.unaccepted_survivors = 0",
            ApprovalClause::LargerBoundsAccepted => "claims.unaccepted_bounds = 0",
            ApprovalClause::ChangesNamed => "claims.unnamed_changes = 0",
            ApprovalClause::ReviewerRead => "claims.unread = 0",
        }
    }

    /// The meaning of the formula.
    pub fn demands(self) -> &'static str {
        match self {
            ApprovalClause::InformalSpecExists => "there is a readable informal specification",
            ApprovalClause::NotChangedInSilence => {
                "it changes no step of the documented protocol, unless a confirmed flaw is being repaired"
            }
            ApprovalClause::ModuleAccepted => {
                "translator and parser accepted the newest module, and it was made from the newest informal specification, or a person went on with both"
            }
            ApprovalClause::MergedAccepted => {
                "the module and configuration under review are the merged ones that the last parse accepted, with the contracts that were made for them if there are any"
            }
            ApprovalClause::CheckIsFresh => "the last check was of exactly this module and configuration",
            ApprovalClause::Evaluates => "the check could evaluate the specification",
            ApprovalClause::NothingViolated => "the check found no violation",
            ApprovalClause::Decided => "the check came to a verdict",
            ApprovalClause::Complete => "nothing was left on its queue",
            ApprovalClause::Moved => "it explored more than the initial states",
            ApprovalClause::TypeOkChecked => "`TypeOK` was checked",
            ApprovalClause::PropertyCovers => "at least one other checked property covers a requirement",
            ApprovalClause::NoTautology => "no checked property and no witness is constantly TRUE",
            ApprovalClause::WitnessExists => "at least one witness takes a step to reach",
            ApprovalClause::WitnessesReached => "every witness was reached",
            ApprovalClause::ActionsTaken => "every action was taken, or is named in `intended_dead`",
            ApprovalClause::CfgAccepted => "whatever bounds the check is named in `accepted_cfg` with a reason",
            ApprovalClause::RequirementsCovered => "every requirement is covered, or named in `accepted_uncovered`",
            ApprovalClause::OpenPointsAccepted => "the reading of every open point is named in `accepted_open_points`",
            ApprovalClause::AssumptionsAccepted => "every assumption is named in `accepted_assumptions`",
            ApprovalClause::SentencesAccounted => {
                "the informal specification accounts for every normative sentence of the documents that were read, or the sentence is named in `accepted_sentences` with a reason"
            }
            ApprovalClause::ReadingsAccepted => {
                "with blind reading, every checked property that covers a requirement was read blindly, and is named in `accepted_readings`"
            }
            ApprovalClause::StepsHaveContracts => {
                "with contracts, every step has one that was checked, or is named in `accepted_without_contract` with a reason"
            }
            ApprovalClause::SurvivorsAccepted => {
                "if the run judges mutants, every one that survives, or that none could be judged, is named in `accepted_survivors`, with a reason"
            }
            ApprovalClause::LargerBoundsAccepted => {
                "every larger bound with which a property is violated, or that was not decided or not tried, is named in `accepted_bounds`, with a reason"
            }
            ApprovalClause::ChangesNamed => "every change since the baseline is named in `accepted_changes`",
            ApprovalClause::ReviewerRead => "the reviewer read module, configuration and outcome as they stand",
        }
    }

    /// What is wrong if the clause fails, for people and for the next prompt.
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
            ApprovalClause::Decided => "the last check came to no verdict".into(),
            ApprovalClause::Complete => "the exploration was not complete: states were left on the queue".into(),
            ApprovalClause::Moved => "no state beyond the initial ones was explored".into(),
            ApprovalClause::TypeOkChecked => "TypeOK was not among the checked invariants".into(),
            ApprovalClause::PropertyCovers => {
                let reasons: Vec<&str> = facts.uncovered.iter().filter(|one| one.contains('(')).map(String::as_str).collect();
                let reasons = if reasons.is_empty() { String::new() } else { format!(": {}", reasons.join(", ")) };
                format!("no property other than TypeOK that covers a requirement was checked{reasons}")
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
                let unaccepted: Vec<String> =
                    facts.weakening_lines.iter().filter(|l| !l.accepted).map(|l| l.line.clone()).collect();
                format!(
                    "the check is bounded by what no review accepted: {} (each is accepted word for word and with a \
                     reason, as `{{\"name\": LINE, \"reason\": …}}`)",
                    list(&unaccepted)
                )
            }
            ApprovalClause::RequirementsCovered => {
                format!("requirements that no checked property covers: {}", list(&facts.uncovered))
            }
            ApprovalClause::OpenPointsAccepted => format!(
                "open points whose reading the review does not accept (name their ids in `accepted_open_points`): {}",
                list(&facts.unaccepted_open_points)
            ),
            ApprovalClause::AssumptionsAccepted => format!(
                "assumptions that the review does not accept (name their ids in `accepted_assumptions`): {}",
                list(&facts.unaccepted_assumptions)
            ),
            ApprovalClause::SentencesAccounted => format!(
                "sentences of the documents that demand something, which the informal specification neither cites nor declares out \
                 of scope (a review accepts one by its id and with a reason in `accepted_sentences`): {}",
                facts.unaccounted_sentences.join("; ")
            ),
            ApprovalClause::ReadingsAccepted => format!(
                "properties that no blind reader has read, or whose blind reading the review does not accept (name them in \
                 `accepted_readings`): {}",
                list(&facts.unaccepted_readings)
            ),
            ApprovalClause::StepsHaveContracts if facts.steps_without_contract == [ALL_STEPS] => {
                "the contracts of the steps could not be used, so none was checked (no review can accept this: step_contracts \
                 writes them again)".into()
            }
            ApprovalClause::StepsHaveContracts => format!(
                "steps without a contract that was checked (name them in `accepted_without_contract`, each with a reason): {}",
                list(&facts.steps_without_contract)
            ),
            ApprovalClause::SurvivorsAccepted => format!(
                "mutants that no property notices and that the review does not accept (name them in `accepted_survivors`, each \
                 with the line of the documents that leaves it free, or with `no line`): {}",
                list(&facts.unaccepted_survivors)
            ),
            ApprovalClause::LargerBoundsAccepted => format!(
                "larger bounds with which a property is violated, or that were not decided or not tried, and that the review does not accept (name \
                 them in `accepted_bounds`, each with a reason): {}",
                list(&facts.unaccepted_bounds)
            ),
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

/// What the flaw guard rests on.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FlawFacts {
    /// The review names requirement, property and steps.
    pub described: bool,
    /// The property that the review names, as the checker spells it.
    #[serde(default)]
    pub property: String,
    /// It is violated and has a counterexample, but another one was found violated first.
    #[serde(default)]
    pub further: bool,
    /// It covers the named requirement, and the requirement exists.
    pub covers_requirement: bool,
    /// Since its violation was first known, neither its text, nor its coverage, nor the wording of the covered
    /// requirements has changed, except for changes that an earlier review accepted by name.
    pub property_unchanged: bool,
    #[serde(default)]
    pub changed_since: Vec<String>,
    /// Bounds that could be the only cause of the trace: constraints and views; a constant whose next larger value makes
    /// the violation vanish; a constant that delays a deadlock, if no document is cited for the bound.
    pub only_bounds: Vec<String>,
    /// Larger bounds for which the check did not decide whether the violation remains. The second reader sees them.
    #[serde(default)]
    pub open_bounds: Vec<String>,
    /// The check did not show that the behaviour is possible under weak fairness of every action, and no document is cited
    /// for it.
    pub unfair_lasso: bool,
    /// The result of the check under weak fairness, if the trace is an infinite behaviour.
    #[serde(default)]
    pub under_fairness: Option<String>,
    /// Steps of the trace that the review maps to no existing line of a document.
    pub unmapped_steps: Vec<usize>,
    /// Files that the reviewer had to read in their current version and did not.
    pub unread: Vec<String>,
}

/// The clauses of the flaw guard, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FlawClause {
    Described,
    ViolatedNow,
    NamesTheViolated,
    NotTypeOk,
    CoversRequirement,
    PropertyUnchanged,
    NotOnlyBounds,
    NotUnfair,
    StepsMapped,
    ReviewerRead,
}

impl FlawClause {
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

    pub fn name(self) -> String {
        name_of(&self)
    }

    /// What it demands of what the lifeline `review` could know, as [`ApprovalClause::formula`].
    pub fn formula(self) -> &'static str {
        match self {
            FlawClause::Described => "claims.flaw.described = true",
            FlawClause::ViolatedNow => {
                "@model_check.claims.verdict = \"violated\" \
                 & @model_check.claims.trace = true \
                 & @model_check.claims.module = claims.module \
                 & @model_check.claims.cfg = claims.cfg"
            }
            FlawClause::NamesTheViolated => "@model_check.claims.violated = claims.flaw.property | claims.flaw.further",
            FlawClause::NotTypeOk => r#"@model_check.claims.violated != "TypeOK" & claims.flaw.property != "TypeOK""#,
            FlawClause::CoversRequirement => "claims.flaw.covers_requirement = true",
            FlawClause::PropertyUnchanged => "claims.flaw.property_unchanged = true",
            FlawClause::NotOnlyBounds => "claims.flaw.only_bounds = 0",
            FlawClause::NotUnfair => "claims.flaw.unfair = false",
            FlawClause::StepsMapped => "claims.flaw.unmapped_steps = 0",
            FlawClause::ReviewerRead => "claims.unread = 0",
        }
    }

    /// The meaning of the formula.
    pub fn demands(self) -> &'static str {
        match self {
            FlawClause::Described => "the review names requirement, property and steps",
            FlawClause::ViolatedNow => "the last check of this very module and configuration is violated, with a trace",
            FlawClause::NamesTheViolated => "the property that the review names is violated",
            FlawClause::NotTypeOk => "it is not `TypeOK`",
            FlawClause::CoversRequirement => "it covers the named requirement",
            FlawClause::PropertyUnchanged => {
                "it has not changed since its violation was first known, but by what an earlier review accepted by name"
            }
            FlawClause::NotOnlyBounds => "no bound of the model alone causes the trace",
            FlawClause::NotUnfair => {
                "weak fairness of every action does not exclude it, or a line of the documents allows it"
            }
            FlawClause::StepsMapped => "every step is mapped to a line of the documents",
            FlawClause::ReviewerRead => "the reviewer read module, configuration and outcome as they stand",
        }
    }

    /// What is wrong if the clause fails, for people and for the next prompt.
    pub fn words(self, facts: &FlawFacts) -> String {
        match self {
            FlawClause::Described => "the review claims a flaw without naming requirement, property and steps".into(),
            FlawClause::ViolatedNow => "the last check of this module shows no violation with a trace".into(),
            FlawClause::NamesTheViolated => {
                "the property that the review names is not violated, or has no counterexample".into()
            }
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

/// The name under which a unit variant is serialised.
pub(in crate::pipeline) fn name_of(value: &impl Serialize) -> String {
    serde_json::to_value(value).ok().and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default()
}
