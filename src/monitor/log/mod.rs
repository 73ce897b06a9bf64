//! Logs of agents as traces: records of any shape become states that formulas read.

mod block;
mod calls;
mod elsewhere;
mod fit;
mod json;
mod kept;
mod mapping;
mod plan;
mod reads;
mod source;
mod states;
mod step;

pub use elsewhere::Missed;
pub use fit::{Fit, best_fit, fits};
pub use kept::{KeptTexts, RecordError};
pub use mapping::{Mapping, Shape};
pub use plan::Plan;
pub use reads::{read_as_one, read_for_value};
pub use source::{Found, LONGEST_LINE, LogError, Manner, Places, scan_lines, scan_list, shape_of};
pub use states::States;
pub use step::{CALLS, FoundTrue, Scalar, Step};
