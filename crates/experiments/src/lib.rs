//! The experiments of the TRAC paper (sections 5.1 to 5.3) with any model: judges against monitors on generated traces,
//! and interventions in a simulated task with rules. Apart from them, [`scale`] simulates many runs on a fleet.
//!
//! All questions go through an [`Asker`], which stores every answer durably before it is used and never sends a recorded question again.
//! The same sizes and seed make the same questions. Only `command`, `scale_command` and `program` know
//! of the command line.

mod action_parser;
mod asker;
mod command;
mod episode;
mod estimate;
mod interventions;
mod judge_plan;
mod judge_prompts;
mod judge_runs;
mod program;
mod recording_file;
mod scale_command;
mod tables;
mod truck;
mod truck_monitor;
mod truck_task;

pub mod scale;

pub use action_parser::{ParsedAction, parse_action, parse_actions};
pub use asker::{AskError, Asker, Costs, Question, Reply, ReportProgress};
pub use episode::{Episode, EpisodeSettings, Lookahead, Method};
pub use estimate::{Estimate, jackknife};
pub use interventions::{InterventionPlan, InterventionRow, compare_interventions};
pub use judge_plan::{Complexity, Dimension, JudgeCase, JudgeKind, JudgePlan, JudgeResult, Setting, SizeError};
pub use judge_prompts::{Verdicts, parse_labels, parse_verdicts};
pub use judge_runs::{JudgeRow, LabelCount, run_judges};
pub use program::main;
pub use recording_file::{RecordingFile, RecordingFileError};
pub use tables::{Experiments, Timed, experiments_json, experiments_text};
pub use truck::{Action, ActionError, PackageLocation, Truck};
pub use truck_monitor::{ActionRecord, RuleMonitor};
pub use truck_task::{Package, Rule, Task};
