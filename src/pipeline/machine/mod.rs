//! The state machine of a run: nodes, positions, the routing table with its facts, and the two guards. Pure functions of
//! plain data; it knows no journal, no tool and no model.

mod accepted_item;
mod event;
mod guards;
mod lifelines;
mod node_name;
mod review;
mod routes;
mod routing_facts;
mod state;

pub use accepted_item::{AcceptedItem, NamedItem, is_reason, is_same_name};
pub use event::{Acceptance, Event, ReviewFacts};
pub use guards::ALL_MUTANTS;
pub(in crate::pipeline) use guards::ALL_STEPS;
pub use guards::{ApprovalClause, ApprovalFacts, CfgEntry, FlawClause, FlawFacts, WitnessState};
pub use lifelines::{CANDIDATE_LIFELINES, MAX_CANDIDATES, NODE_LIFELINES, candidate_lifeline, is_lifeline, lifelines};
pub(super) use lifelines::{LifelineGroup, SECOND_READING};
pub use node_name::NodeName;
pub use review::{Blame, Category, Citation, Flaw, FlawStep, Issue, Review, ReviewVerdict, Severity, says_no_line};
pub use routes::{Row, Transition, transition};
pub use routing_facts::{PositionName, RoutingFacts};
pub use state::{Activity, Carried, Effect, Outcome, Position, RoutingSettings, State, StopReason};
