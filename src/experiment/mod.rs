//! The experiments of the TRAC paper (sections 5.1 to 5.3) with any model: judges against monitors on generated traces,
//! and interventions in a simulated task with rules.
//!
//! It asks through an [`Asker`], which makes every answer durable before anyone reads it and asks nothing twice. What it
//! asks is the same for the same sizes and seed. It knows no command line.

mod act;
mod asking;
mod episode;
mod estimate;
mod judge;
mod judge_text;
mod judging;
mod ledger;
mod steering;
mod trucks;
mod trucks_rules;
mod trucks_task;

pub use act::{Reading, read_action, read_actions};
pub use asking::{AskError, Asker, Question, Said, Spent, Tell};
pub use episode::{Episode, Look, Method, Terms};
pub use estimate::{Estimate, jackknife};
pub use judge::{Complexity, Dimension, JudgePlan, Judged, Judging, Setting, SizeError, Way};
pub use judge_text::{Verdicts, labels_in, verdicts_in};
pub use judging::{JudgeRow, LabelCount, judge};
pub use ledger::{Ledger, LedgerError};
pub use steering::{SteerPlan, SteerRow, steer};
pub use trucks::{Action, Impossible, Package, Truck, Whereabouts};
pub use trucks_rules::{Rule, Step, Watch};
pub use trucks_task::Task;
