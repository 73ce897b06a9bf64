//! The model configuration (`.cfg`) as data. Syntax: Lamport, "Specifying Systems", section 14.7.1, and TLC's `ModelConfig`.

use std::collections::BTreeMap;

/// A parsed configuration. The text stays the source of truth: this is a reading of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cfg {
    /// `SPECIFICATION`.
    pub specification: Option<String>,
    /// `INIT`.
    pub init: Option<String>,
    /// `NEXT`.
    pub next: Option<String>,
    /// Constant assignments `C = v`, and substitutions `C <- D` (then the value starts with `<- `).
    pub constants: BTreeMap<String, String>,
    /// `INVARIANT(S)`.
    pub invariants: Vec<String>,
    /// `PROPERTY`, `PROPERTIES`.
    pub properties: Vec<String>,
    /// `CONSTRAINT(S)`.
    pub constraints: Vec<String>,
    /// `ACTION_CONSTRAINT(S)`.
    pub action_constraints: Vec<String>,
    /// `SYMMETRY`.
    pub symmetry: Vec<String>,
    /// `VIEW`.
    pub view: Option<String>,
    /// `CHECK_DEADLOCK`; `None` where the file does not say (TLC then checks).
    pub check_deadlock: Option<bool>,
    /// `ALIAS`.
    pub alias: Option<String>,
    /// `POSTCONDITION`.
    pub postcondition: Option<String>,
    /// Names from `\* WITNESS Name` comment lines, in order.
    pub witnesses: Vec<String>,
}
