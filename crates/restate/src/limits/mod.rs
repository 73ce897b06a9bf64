//! Money, requests and tokens per minute of one key of a provider, for all processes that use it: an object of the engine
//! decides, and a client asks it. Knows nothing of models.

mod client;
mod decision;
#[cfg(test)]
mod decision_tests;
mod messages;
mod object;
mod status;

pub use client::LimitsClient;
pub use messages::{Admission, Change, LimitName, Limits, LimitsChange, QuotaError, RequestUse};
pub(crate) use object::limits_service;
pub use object::TICK;
pub use status::{JobCount, LimitsStatus, count_jobs};

/// The service of the objects. All versions of a program share it; the number changes with the messages or the state.
fn limits_service_name(program: &str) -> String {
    format!("{program}-limits-1")
}

/// Whether a name can be the key of an object and a part of an address and of a query.
fn is_key_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'))
}
