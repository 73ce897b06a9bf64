//! The only place that starts a child: own process group, clean environment, deadline, cancel, TERM then KILL, a closed
//! result type. It knows nothing of Java, models or specifications.

mod cancel;
mod command;

pub use cancel::Cancel;
pub use command::{Command, Ended, ProcessError, Status};
