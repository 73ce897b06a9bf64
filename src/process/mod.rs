//! The only place that starts a child: own process group, clean environment, deadline, cancel, TERM then KILL, nothing
//! left behind even when we are killed, a closed result type. It knows nothing of Java, models or specifications.

mod cancel;
mod command;
mod watch;

pub use cancel::Cancel;
pub use command::{Command, Ended, ProcessError, Status};
pub use watch::Scratch;
