//! Compares the logs of a real system with a specification: the map says what the lines mean, the order of events is as partial as the
//! logs leave it, and a search in the specification says whether a behaviour explains them. Knows nothing of runs and models.

mod error;
mod line;
mod logs;
mod map;
mod order;
mod records;
mod report;
mod text_form;
mod times;

pub use error::ConformError;
pub use line::LogPlace;
pub use logs::ConformLog;
pub use map::ConformMap;
pub use report::{ComparedSpec, Conformance, Verdict, conformance, window_conformance};
