//! Money, requests and tokens per minute of one key of a provider, for all processes that use it: an object of the engine
//! decides, and a client asks it. Knows nothing of models.

mod client;
mod decision;
#[cfg(test)]
mod decision_tests;
mod messages;
mod names;
mod object;
mod status;

pub use client::LimitsClient;
pub use messages::{Admission, Change, LimitName, Limits, LimitsChange, QuotaError, RequestUse};
pub(crate) use names::limits_service_name;
pub use object::TICK;
pub(crate) use object::{LimitsObject, limits_service};
pub use status::{LimitsStatus, RunRequests, UnreadableKey};
