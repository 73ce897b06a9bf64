//! Whether a policy of the user's own can govern a run, asked before anything is paid for.

mod admit;
mod approval;
mod consistency;
mod names;

pub(super) use admit::admitted;
pub use admit::{AdmissionError, Admitted, Idle, admit};
