//! The facts that a routing decision rests on. The formulas of the routing table read them as `routing.…`, and the event
//! `routed` journals them, so an audit can evaluate the same formulas again.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::event::{Acceptance, Event, EventKind, ReviewFacts};
use super::node_name::NodeName;
use super::review::ReviewVerdict;
use super::state::{Position, RoutingSettings, State};
use crate::temporal::{Record, Value};

/// Declares [`RoutingFacts`]. Each line is a field of the struct, a key of `routing` in the journal and a name `routing.…` in
/// formulas. Keys are journaled in this order.
macro_rules! routing_facts {
    ($($(#[$doc:meta])* $name:ident: $kind:ty,)+) => {
        /// What a routing decision rests on. A fact is `None` if it has no value for this position and event; then the
        /// journal omits it, and every comparison with it is false.
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub struct RoutingFacts {
            $(
                $(#[$doc])*
                #[serde(skip_serializing_if = "Option::is_none")]
                pub $name: Option<$kind>,
            )+
        }

        impl Record for RoutingFacts {
            fn field(&self, name: &str) -> Option<Value<'_>> {
                match name.strip_prefix("routing.")? {
                    $(stringify!($name) => self.$name.map(Fact::value),)+
                    _ => None,
                }
            }
        }
    };
}

routing_facts! {
    /// Where the run is.
    position: PositionName,
    /// What happened there.
    event: EventKind,
    /// Whether the run is under way: it has not ended and is not stopped.
    under_way: bool,
    /// Whether the previous answer at this position could not be read.
    unreadable_before: bool,
    /// Whether the translator and the parser accepted the module, or the merge of module and properties.
    accepted: bool,
    /// How often rejected answers of this position were sent back in this revision.
    retries: u32,
    /// The maximum of `retries`.
    retry_limit: u32,
    /// Whether the current properties are on trial.
    on_trial: bool,
    /// How many rounds of strengthening this revision has had.
    rounds: u32,
    /// How many it may have.
    round_limit: u32,
    /// Whether mutants survive.
    survivors: bool,
    /// Whether the properties on trial kill more mutants than those before them.
    kills_more: bool,
    /// The verdict of the review.
    verdict: ReviewVerdict,
    /// Whether the review has issues above minor.
    issues: bool,
    /// Whether the approval guard holds.
    approval: bool,
    /// Whether a rule of severity `error` of the user's policy, or `--min-score`, prevents an approval.
    violates_policy: bool,
    /// Whether the flaw guard holds; only if the review claims a flaw.
    flaw: bool,
    /// Whether the second reader confirms the flaw.
    agrees: bool,
    /// How many revisions precede this one on its branch.
    branch_index: u32,
    /// How many may.
    last_branch_index: u32,
    /// Whether the run repairs the protocol after a confirmed flaw.
    repair: bool,
    /// The earliest node that an issue above minor blames.
    earliest: NodeName,
    /// Whether the check of the best revision is inconclusive.
    best_inconclusive: bool,
    /// Whether the objective ends the run because it cannot be reached any more.
    objective_lost: bool,
    /// Whether a step of the confirmed claim is granted only by the reading that an open point takes.
    ambiguous: bool,
    /// Whether the run tries the other reading of an open point.
    other_reading: bool,
    /// Whether the run has contracts of its steps; no fact if it has none.
    contracts: bool,
    /// Whether the run judges mutants before each review; no fact if it does not.
    judges_mutants: bool,
}

/// A position of the machine by its name alone. All but the last two are the names of lifelines.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema, strum::IntoStaticStr, strum::VariantArray,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum PositionName {
    /// The node that writes the informal specification.
    InformalSpec,
    /// The node that writes the module.
    Formalize,
    /// The PlusCal translator and the parser.
    Validate,
    /// The node that writes properties and configuration.
    GenerateInvariants,
    /// The author of the step contracts.
    StepContracts,
    /// The model checker.
    ModelCheck,
    /// The semantic review.
    Review,
    /// The second, independent reader of a flaw.
    SecondReading,
    /// The judging of mutants.
    Mutants,
    /// The run has ended.
    Done,
    /// The run is stopped and can be resumed.
    Stopped,
}

impl From<Position> for PositionName {
    fn from(position: Position) -> Self {
        match position {
            Position::Node(NodeName::InformalSpec) => Self::InformalSpec,
            Position::Node(NodeName::Formalize) => Self::Formalize,
            Position::Node(NodeName::Validate) => Self::Validate,
            Position::Node(NodeName::GenerateInvariants) => Self::GenerateInvariants,
            Position::Node(NodeName::StepContracts) => Self::StepContracts,
            Position::Node(NodeName::ModelCheck) => Self::ModelCheck,
            Position::Node(NodeName::Review) => Self::Review,
            Position::SecondReading => Self::SecondReading,
            Position::Mutants => Self::Mutants,
            Position::Done(_) => Self::Done,
            Position::Stopped(_) => Self::Stopped,
        }
    }
}

impl RoutingFacts {
    /// All facts of one decision.
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "callers have all three by reference")]
    pub(super) fn new(settings: &RoutingSettings, state: &State, event: &Event) -> Self {
        let (retries, retry_limit) = match state.position {
            Position::Node(NodeName::Validate) => (Some(state.validate_retries), Some(settings.validate_retry_limit)),
            Position::Node(NodeName::GenerateInvariants) => {
                (Some(state.invariant_retries), Some(settings.invariant_retry_limit))
            }
            Position::Node(NodeName::StepContracts) => {
                (Some(state.contract_retries), Some(settings.invariant_retry_limit))
            }
            _ => (None, None),
        };
        let facts = Self {
            event: Some(event.into()),
            unreadable_before: Some(state.unreadable),
            retries,
            retry_limit,
            on_trial: Some(state.on_trial),
            rounds: Some(state.rounds),
            round_limit: Some(settings.strengthen),
            branch_index: Some(state.branch_index),
            last_branch_index: Some(settings.max_revisions),
            repair: Some(settings.repair),
            other_reading: Some(state.other_reading),
            contracts: settings.contracts.then_some(true),
            judges_mutants: settings.judges_mutants.then_some(true),
            ..Self::of_position(state.position.into())
        };
        match *event {
            Event::Answered | Event::Unreadable | Event::Checked | Event::Stop(_) | Event::Resume => facts,
            Event::Validated(acceptance) | Event::Merged(acceptance) => {
                Self { accepted: Some(acceptance == Acceptance::Accepted), ..facts }
            }
            Event::Judged { survivors, kills_more } => {
                Self { survivors: Some(survivors), kills_more: Some(kills_more), ..facts }
            }
            Event::Reviewed(review) => facts.with_review(review),
            Event::ReviewUnreadable { approval_refused_by, best_inconclusive, objective_lost } => Self {
                approval: Some(approval_refused_by.is_none()),
                best_inconclusive: Some(best_inconclusive),
                objective_lost: Some(objective_lost),
                ..facts
            },
            Event::SecondRead { agrees, ambiguous, best_inconclusive, objective_lost } => Self {
                agrees: Some(agrees),
                ambiguous: Some(ambiguous),
                best_inconclusive: Some(best_inconclusive),
                objective_lost: Some(objective_lost),
                ..facts
            },
        }
    }

    /// The facts as a version before ambiguities journaled them, if `journaled` is by such a version.
    pub(in crate::pipeline) fn without_facts_unknown_to(self, journaled: &Self) -> Self {
        let is_older = |now: Option<bool>, then: Option<bool>| now == Some(false) && then.is_none();
        let ambiguous = self.ambiguous.filter(|_| !is_older(self.ambiguous, journaled.ambiguous));
        let other_reading = self.other_reading.filter(|_| !is_older(self.other_reading, journaled.other_reading));
        Self { ambiguous, other_reading, ..self }
    }

    /// The facts that the position alone determines.
    pub(super) fn of_position(position: PositionName) -> Self {
        let under_way = !matches!(position, PositionName::Done | PositionName::Stopped);
        Self { position: Some(position), under_way: Some(under_way), ..Self::default() }
    }

    fn with_review(self, review: ReviewFacts) -> Self {
        let ReviewFacts {
            verdict,
            earliest,
            approval_refused_by,
            flaw_refused_by,
            best_inconclusive,
            objective_lost,
            violates_policy,
        } = review;
        Self {
            verdict: Some(verdict),
            issues: Some(earliest.is_some()),
            approval: Some(approval_refused_by.is_none()),
            violates_policy: Some(violates_policy),
            flaw: (verdict == ReviewVerdict::Flaw).then_some(flaw_refused_by.is_none()),
            earliest,
            best_inconclusive: Some(best_inconclusive),
            objective_lost: Some(objective_lost),
            ..self
        }
    }
}

/// A type of facts. Formulas compare names of positions, events, verdicts and nodes as text.
trait Fact {
    fn value(self) -> Value<'static>;
}

impl Fact for bool {
    fn value(self) -> Value<'static> {
        Value::Bool(self)
    }
}

impl Fact for u32 {
    fn value(self) -> Value<'static> {
        Value::integer(self.into())
    }
}

impl Fact for PositionName {
    fn value(self) -> Value<'static> {
        Value::Text(<&str>::from(self).into())
    }
}

impl Fact for EventKind {
    fn value(self) -> Value<'static> {
        Value::Text(<&str>::from(self).into())
    }
}

impl Fact for ReviewVerdict {
    fn value(self) -> Value<'static> {
        Value::Text(<&str>::from(self).into())
    }
}

impl Fact for NodeName {
    fn value(self) -> Value<'static> {
        Value::Text(self.name().into())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value as Json, json};
    use strum::VariantArray as _;

    use super::*;
    use crate::pipeline::machine::{Activity, Outcome, is_lifeline};

    #[test]
    fn formulas_and_the_journal_read_the_same_values() {
        let schema = schemars::schema_for!(RoutingFacts);
        let names: Vec<&String> = schema.as_value()["properties"].as_object().unwrap().keys().collect();
        let (settings, start) = (RoutingSettings::default(), State::start());
        let review = ReviewFacts {
            verdict: ReviewVerdict::Flaw,
            earliest: Some(NodeName::Formalize),
            approval_refused_by: None,
            flaw_refused_by: None,
            best_inconclusive: true,
            objective_lost: false,
            violates_policy: false,
        };
        let positions = [
            Position::Node(NodeName::InformalSpec),
            Position::Node(NodeName::Validate),
            Position::Node(NodeName::GenerateInvariants),
            Position::Node(NodeName::StepContracts),
            Position::SecondReading,
            Position::Mutants,
            Position::Done(Outcome::Approved),
            Position::Stopped(Activity::SecondReading),
        ];
        let events = [
            Event::Answered,
            Event::Validated(Acceptance::Rejected),
            Event::Judged { survivors: true, kills_more: false },
            Event::Reviewed(review),
            Event::ReviewUnreadable { approval_refused_by: None, best_inconclusive: false, objective_lost: true },
            Event::SecondRead { agrees: true, ambiguous: false, best_inconclusive: false, objective_lost: false },
        ];
        for position in positions {
            for event in &events {
                let facts = RoutingFacts::new(&settings, &State { position, ..start }, event);
                let journaled = serde_json::to_value(facts).unwrap();
                for name in &names {
                    let value = journaled.get(name).map(|value| match value {
                        Json::Bool(value) => Value::Bool(*value),
                        Json::String(text) => Value::Text(text.into()),
                        Json::Number(number) => Value::Number(number.as_f64().unwrap()),
                        other => panic!("{name} is {other}"),
                    });
                    assert_eq!(facts.field(&format!("routing.{name}")), value, "{name}");
                }
                assert_eq!(serde_json::from_value::<RoutingFacts>(journaled).unwrap(), facts);
            }
        }
    }

    #[test]
    fn facts_are_journaled_in_the_order_of_earlier_versions() {
        let text = |facts: RoutingFacts| serde_json::to_string(&facts).unwrap();
        let settings = RoutingSettings { repair: true, strengthen: 2, ..RoutingSettings::default() };
        let at = |position| State { position, branch_index: 1, on_trial: true, rounds: 1, ..State::start() };
        let merged = Event::Merged(Acceptance::Rejected);
        assert_eq!(
            text(RoutingFacts::new(&settings, &at(Position::Node(NodeName::GenerateInvariants)), &merged)),
            concat!(
                r#"{"position":"generate_invariants","event":"merged","under_way":true,"unreadable_before":false,"accepted":false,"#,
                r#""retries":0,"retry_limit":2,"on_trial":true,"rounds":1,"round_limit":2,"branch_index":1,"#,
                r#""last_branch_index":3,"repair":true,"other_reading":false}"#,
            )
        );
        let judged = Event::Judged { survivors: true, kills_more: false };
        assert_eq!(
            text(RoutingFacts::new(&settings, &at(Position::Mutants), &judged)),
            concat!(
                r#"{"position":"mutants","event":"judged","under_way":true,"unreadable_before":false,"on_trial":true,"rounds":1,"#,
                r#""round_limit":2,"survivors":true,"kills_more":false,"branch_index":1,"last_branch_index":3,"repair":true,"#,
                r#""other_reading":false}"#,
            )
        );
        let review = ReviewFacts {
            verdict: ReviewVerdict::Flaw,
            earliest: Some(NodeName::InformalSpec),
            approval_refused_by: None,
            flaw_refused_by: None,
            best_inconclusive: true,
            objective_lost: false,
            violates_policy: false,
        };
        assert_eq!(
            text(RoutingFacts::new(&settings, &at(Position::Node(NodeName::Review)), &Event::Reviewed(review))),
            concat!(
                r#"{"position":"review","event":"reviewed","under_way":true,"unreadable_before":false,"on_trial":true,"rounds":1,"#,
                r#""round_limit":2,"verdict":"flaw","issues":true,"approval":true,"violates_policy":false,"flaw":true,"#,
                r#""branch_index":1,"last_branch_index":3,"repair":true,"earliest":"informal_spec","best_inconclusive":true,"#,
                r#""objective_lost":false,"other_reading":false}"#,
            )
        );
        let second =
            Event::SecondRead { agrees: false, ambiguous: false, best_inconclusive: true, objective_lost: true };
        assert_eq!(
            text(RoutingFacts::new(&settings, &at(Position::SecondReading), &second)),
            concat!(
                r#"{"position":"second_reading","event":"second_read","under_way":true,"unreadable_before":false,"on_trial":true,"#,
                r#""rounds":1,"round_limit":2,"agrees":false,"branch_index":1,"last_branch_index":3,"repair":true,"#,
                r#""best_inconclusive":true,"objective_lost":true,"ambiguous":false,"other_reading":false}"#,
            )
        );
    }

    #[test]
    fn every_position_of_a_working_run_is_a_lifeline() {
        for at in PositionName::VARIANTS {
            let is_working = RoutingFacts::of_position(*at).under_way == Some(true);
            assert_eq!(is_lifeline(at.into()), is_working, "{at:?}");
        }
    }

    #[test]
    fn an_unknown_fact_in_a_journal_is_refused() {
        let error = serde_json::from_value::<RoutingFacts>(json!({"position": "review", "mood": "good"})).unwrap_err();
        assert!(error.to_string().contains("unknown field `mood`"), "{error}");
    }
}
