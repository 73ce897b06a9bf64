//! Logs of agents as traces: records of any shape become states that formulas read.

mod json;
mod mapping;
mod plan;
mod source;
mod step;

pub use mapping::{JOURNAL_LIFELINES, Mapping, Shape};
pub use plan::Plan;
pub use source::{Found, LONGEST_LINE, LogError, Manner, Places, scan_lines, scan_list, shape_of};
pub use step::{CALLS, Scalar, Step};
