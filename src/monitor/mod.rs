//! Policies, guards, labelers, audits, interventions and objectives: the temporal layer applied to our own journals and to
//! any agent's log.

pub mod causal_json;
pub mod log;
