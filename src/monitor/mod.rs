//! Policies, guards, labelers, audits, interventions and objectives: the temporal layer applied to journals and to any
//! agent's log.

pub mod causal_json;
