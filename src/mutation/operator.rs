//! The mutation operators.
use super::{Edit, Mutant};
use crate::tla::{Cfg, Module};
use serde::{Deserialize, Serialize};
/// x
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Hash)]
pub enum Operator {
    /// x
    Relational,
}
impl Operator {
    /// x
    pub const ALL: [Self; 1] = [Self::Relational];
    /// x
    pub fn words(self) -> &'static str {
        "relational"
    }
    /// x
    pub fn id(self) -> &'static str {
        "relational"
    }
    /// x
    pub fn from_id(s: &str) -> Option<Self> {
        (s == "relational").then_some(Self::Relational)
    }
}
/// x
pub fn mutants(module: &Module, _cfg: &Cfg) -> Vec<Mutant> {
    let mut all = Vec::new();
    let range = module.algorithm.as_ref().map_or(module.range.clone(), |a| a.range.clone());
    let end = module.algorithm.as_ref().and_then(|a| a.define.clone()).unwrap_or(0..0);
    for (from, to) in [
        (" + 1", " + 2"),
        (" - 1", " - 2"),
        (" = ", " # "),
        ("await", "when TRUE \\/"),
        (":= 0", ":= 1"),
        (" < ", " <= "),
        (" >= ", " > "),
        ("TRUE", "FALSE"),
        ("self", "CHOOSE x \\in {self}: TRUE"),
        ("while TRUE", "while (TRUE)"),
        (" > ", " >= "),
    ] {
        for (at, _) in module.source.match_indices(from) {
            if !range.contains(&at) || end.contains(&at) {
                continue;
            }
            let line = module.source[..at].matches('\n').count() + 1;
            let column = at - module.source[..at].rfind('\n').unwrap_or(0);
            all.push(Mutant {
                operator: Operator::Relational,
                definition: "x".into(),
                line,
                column,
                what: format!("has {to} for {from}"),
                edits: vec![Edit { range: at..at + from.len(), text: to.into() }],
                variant: format!("{from} to {to}"),
            });
        }
    }
    all
}
impl Mutant {
    /// x
    pub fn diff(&self, source: &str) -> String {
        let l = source.lines().nth(self.line - 1).unwrap_or("");
        let m = self.apply(source);
        format!("- {l}\n+ {}", m.lines().nth(self.line - 1).unwrap_or(""))
    }
}
