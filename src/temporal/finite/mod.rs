//! The finite-trace reading (`LTLf`): evaluates a formula at every position of a trace that has ended.
//!
//! Position `i < n` reads record `i`. Position `n` is the empty suffix after the last record: there an atom is false,
//! `G W R N` are true and `F U M X` false. Past operators read records only, so at `n` `Y a` is `a` at the last record, and
//! `O H S` have their value of `n - 1` (on the empty trace: `H` true, the others false).

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
