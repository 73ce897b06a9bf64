//! The finite-trace reading (`LTLf`): what a formula says of a trace that has ended.
//!
//! Position `i < n` reads record `i`; position `n` is what is left after the last record: there an atom is false, `G W R`
//! and `N` are true, `F U M` and `X` false. The past operators look at records only, so at `n` they say what they said of
//! the whole trace: `Y a` is `a` at the last record, and `O H S` keep their value of `n - 1` (of an empty trace: `H` true,
//! the others false).

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
