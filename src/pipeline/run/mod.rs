//! A run on disk and its driver: the folder with journal and artifacts, the loop over the nodes, and the tasks that go on
//! beside them.

mod accepted_drift;
mod attempt;
mod background;
mod candidate_selection;
mod driver;
mod finishing;
mod nodes;
mod open_run;
mod routing_reason;
mod visible_files;

pub use accepted_drift::{
    AcceptedChange, AcceptedDrift, append_accepted_drift, informal_of, on_one_line, read_accepted_drift,
};
pub use attempt::Attempt;
pub use background::{BackgroundTask, BackgroundTasks};
pub use candidate_selection::{MAX_LEADERS, select_best, select_leaders};
pub use driver::{drive, resume, stop};
pub(super) use finishing::Finishing;
pub use nodes::{Halt, NodeError, NodeFuture, Nodes};
pub use open_run::{Run, RunEnvironment, RunError, begin_branch};
pub use visible_files::{Kept, changed_files, edited_visible_files, reconcile};
