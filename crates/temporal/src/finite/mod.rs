//! The finite-trace reading (`LTLf`): evaluates a formula at every position of a trace that has ended.

mod backward;
mod bits;
mod bounds;
mod column;
mod decision;
mod decision_point;
mod explanation;
mod sweep;
mod trace;

pub use column::{Column, Labels};
pub use decision_point::DecisionPoint;
pub use explanation::{Explanation, Fact, Reason};
pub use sweep::eval_all_positions;
pub use trace::{TraceCheck, check_trace};
