//! The temporal layer applied to logs of agents and to our own journals.

pub mod log;
