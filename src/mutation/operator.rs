//! The mutation operators.
