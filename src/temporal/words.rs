//! Formulas in words.
