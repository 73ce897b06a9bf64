//! `tlaforge conform`: logs held against a specification.

mod command;
mod comparison;
mod inputs;
mod oracle;
