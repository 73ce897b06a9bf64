//! The pure state machine of a run, the guards on its endings, and the driver that journals each event before it acts.
//!
//! It knows no tool, no provider and no node: nodes are names here, and what works at them comes through a trait.

mod admission;
mod again;
mod candidates;
mod claims;
mod covering;
mod driver;
mod errands;
mod events;
mod folder;
mod guard;
mod interface;
mod knowledge;
mod laws;
mod lifelines;
mod machine;
mod metrics;
mod node_name;
mod objective;
mod records;
mod routes;
mod routing_facts;
mod run;
mod strengthen;
mod view;
mod vocabulary;
mod watch;

pub use admission::{AdmissionError, Admitted, Idle, admit};
pub use again::{Again, Objection, again};
pub use candidates::{
    Candidate, Candidates, Chosen, ChosenBy, GivenUp, LEADERS, MAX_CANDIDATES, QuickCheck, Stage, best, leaders,
    lifeline_of,
};
pub use claims::{CandidateClaims, CheckClaims, Claims};
pub use driver::{Halt, Job, NodeError, Nodes, Working, drive, resume};
pub use errands::{Errand, Errands};
pub use events::{
    AnswerFacts, AnswerLabels, AnswerNormalised, AnswerOffered, AnswerReceived, AnswerTaken, AttemptFinished,
    CallFailed, CandidateFinished, CandidateReceived, CandidateStarted, Entry, Evaluation, GuardEvaluated, Labelled,
    LeadersNamed, ModelSwitched, MutantsJudged, PartLeftOut, PartMissing, PartTaken, ReadRefused, Record, RequestSent,
    Restored, Routed, RunEvent, ToolFinished, Unreadable,
};
pub use folder::{Kept, changed_files, reconcile};
pub use guard::{ApprovalClause, ApprovalFacts, CfgEntry, FlawClause, FlawFacts, WitnessState};
pub use interface::{Interface, Name};
pub use knowledge::Judgement;
pub use laws::{Law, default_policy, laws};
pub use lifelines::{CANDIDATE_LIFELINES, NODE_LIFELINES, is_lifeline, lifelines};
pub use machine::{
    Acceptance, Carried, Effect, Event, Outcome, Position, Resumable, ReviewFacts, Rules, State, StopReason,
};
pub use metrics::{METRICS, Metric, Metrics, Quantity, Source, known_metrics};
pub use node_name::{Blame, Category, Citation, Flaw, FlawStep, Issue, NodeName, Review, ReviewVerdict, Severity};
pub use objective::ObjectiveStep;
pub use records::{
    Branch, Changed, CheckRecord, ConfirmedFlaw, CoveredRequirement, Facts, Feedback, Finished, FirstViolated,
    InFlight, Product, PromptInUse, Quotes, Revision, Settings, Spent, Standing, Stored, file,
};
pub use routes::{Row, Transition, transition};
pub use routing_facts::{PositionName, RoutingFacts};
pub use run::{Attempt, Run, RunError, Surroundings, begin_branch};
pub use strengthen::{Judged, JudgedMutant, Round, Strengthened, Strengthening, Tally, ViolatedByTrial, unfit_check};
pub use view::{Made, RunView};
pub use vocabulary::{
    carriers, event_names, field_paths, has_field, is_field, is_list, journal_schema, makers, vocabulary_text,
};
pub use watch::{
    Forecast, Foreseen, Intervened, Owes, Predicted, RuleEnd, Sampled, Violation, WatchError, journal_mapping,
    kept_texts,
};
