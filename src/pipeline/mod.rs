//! The pure state machine of a run, the guards on its endings, and the driver that journals each event before it acts.
//!
//! It knows no tool, no provider and no node: stations are names here, and what works at them comes through a trait.

mod driver;
mod folder;
mod guard;
mod interface;
mod machine;
mod records;
mod run;
mod station;
mod strengthen;
mod view;

pub use driver::{Halt, Job, StationError, Stations, Working, drive, resume};
pub use folder::{Kept, reconcile};
pub use guard::{
    ApprovalClause, ApprovalFacts, CfgEntry, CheckVerdict, FlawClause, FlawFacts, WitnessState, approval, flaw,
};
pub use interface::{Interface, Name};
pub use machine::{
    Acceptance, Carried, Effect, Event, Outcome, Position, Resumable, ReviewFacts, Row, Rules, State, StopReason,
    Transition, transition,
};
pub use records::{
    Branch, Changed, CheckRecord, ConfirmedFlaw, CoveredRequirement, Facts, Feedback, Finished, FirstViolated,
    InFlight, Product, PromptInUse, Quotes, Revision, Settings, Spent, Standing, Stored, file,
};
pub use run::{Attempt, Run, RunError, Surroundings, begin_branch};
pub use station::{Blame, Category, Citation, Flaw, FlawStep, Issue, Review, ReviewVerdict, Severity, Station};
pub use strengthen::{Judged, JudgedMutant, Round, Strengthened, Strengthening, Tally, ViolatedByTrial, unfit_check};
pub use view::{FoldError, RunView};
