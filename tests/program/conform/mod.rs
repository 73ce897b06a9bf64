//! `tlaforge conform`: logs held against a specification.

mod command;
mod comparison;
mod implementations;
mod inputs;
mod oracle;
