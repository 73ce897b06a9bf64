//! Whether a policy of the user's own can govern a run, decided before anything is paid for.

mod admit;
mod approval;
mod consistency;
mod error;
mod names;

pub(in crate::pipeline) use admit::load_unchecked;
pub use admit::{Admitted, admit};
pub use error::AdmissionError;
