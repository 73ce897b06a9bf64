//! Random expressions of TLA+: well-formed, and of no type in particular, for a translator looks at neither.
#![allow(dead_code, unreachable_pub, reason = "each test binary uses a part of it")]

use super::pluscal_random::{Maker, Scope, pick};

impl Maker {
    pub fn set(&mut self, scope: &Scope) -> String {
        match self.rng.u32(0..6) {
            0 => format!("1..{}", self.rng.u32(2..5)),
            1 => format!("{{{}, {}}}", self.expression(scope, 1), self.expression(scope, 1)),
            2 => "BOOLEAN".to_owned(),
            3 => {
                let name = self.fresh(scope);
                format!("{{{name} \\in {} : {}}}", self.name(scope), self.expression(&with(scope, name), 1))
            }
            4 => format!("SUBSET {}", self.name(scope)),
            _ => self.name(scope),
        }
    }

    fn name(&mut self, scope: &Scope) -> String {
        if scope.readable.is_empty() { "1".to_owned() } else { pick(&mut self.rng, &scope.readable) }
    }

    /// A name to bind; rarely that of a variable.
    fn fresh(&mut self, scope: &Scope) -> &'static str {
        if self.chance(5) && !scope.assignable.is_empty() {
            pick(&mut self.rng, &scope.assignable)
        } else {
            pick(&mut self.rng, &["q", "r", "s"])
        }
    }

    pub fn expression(&mut self, scope: &Scope, depth: usize) -> String {
        if depth == 0 || self.chance(25) {
            return self.atom(scope);
        }
        let inner = depth - 1;
        match self.rng.u32(0..26) {
            0..7 => {
                let all = [
                    "+", "-", "*", "=", "#", "<", ">=", "\\in", "\\cup", "\\o", "..", "/\\", "\\/", "=>", "%", "\\div",
                ];
                let operator = pick(&mut self.rng, &all);
                let space = if self.chance(85) { " " } else { "" };
                let space = if operator.starts_with('\\') { " " } else { space };
                let (left, right) = (self.operand(scope, inner), self.operand(scope, inner));
                lay(&[&left, space, operator, space, &right])
            }
            7 => lay(&["~", &self.operand(scope, inner)]),
            8 => lay(&["(", &self.expression(scope, inner), ")"]),
            9 => lay(&[&self.name(scope), "[", &self.expression(scope, inner), "]"]),
            10 => lay(&[&self.name(scope), ".", pick(&mut self.rng, &["field", "x", "t", "a.b"])]),
            11 => lay(&["<<", &self.expression(scope, inner), ", ", &self.expression(scope, inner), ">>"]),
            12 => lay(&["{", &self.expression(scope, inner), "}"]),
            13 => {
                let field = pick(&mut self.rng, &["field", "x", "t"]);
                lay(&[
                    "[",
                    field,
                    " |-> ",
                    &self.expression(scope, inner),
                    ", other |-> ",
                    &self.expression(scope, inner),
                    "]",
                ])
            }
            14 => {
                let name = self.fresh(scope);
                lay(&["[", name, " \\in ", &self.set(scope), " |-> ", &self.expression(&with(scope, name), inner), "]"])
            }
            15 => {
                let (f, at, value) = (self.name(scope), self.expression(scope, inner), self.expression(scope, inner));
                lay(&["[", &f, " EXCEPT ![", &at, "] = ", &value, ", !.field = @]"])
            }
            16 => {
                let test = self.expression(scope, inner);
                let (then, otherwise) = (self.expression(scope, inner), self.expression(scope, inner));
                if self.chance(40) {
                    let lines = [lay(&["IF ", &test]), lay(&["   THEN ", &then]), lay(&["   ELSE ", &otherwise])];
                    lines.join("\n")
                } else {
                    lay(&["IF ", &test, " THEN ", &then, " ELSE ", &otherwise])
                }
            }
            17 => lay(&["LET v1 == ", &self.expression(scope, inner), " IN v1 = ", &self.operand(scope, inner)]),
            18 | 19 => {
                let (name, quantifier) = (self.fresh(scope), pick(&mut self.rng, &["\\A", "\\E", "CHOOSE"]));
                let set = self.set(scope);
                lay(&[
                    "(",
                    quantifier,
                    " ",
                    name,
                    " \\in ",
                    &set,
                    " : ",
                    &self.expression(&with(scope, name), inner),
                    ")",
                ])
            }
            20 | 21 => self.list(scope, inner),
            22 if !self.define.is_empty() => {
                let name = pick(&mut self.rng, &self.define);
                lay(&[name, "(", &self.expression(scope, inner), ", ", &self.expression(scope, inner), ")"])
            }
            23 => {
                lay(&[pick(&mut self.rng, &["Len", "Head", "Cardinality"]), "(", &self.expression(scope, inner), ")"])
            }
            24 if scope.process => lay(&["pc[", &self.expression(scope, inner), "]"]),
            _ => lay(&[
                "CASE ",
                &self.operand(scope, inner),
                " -> ",
                &self.operand(scope, inner),
                " [] OTHER -> ",
                &self.atom(scope),
            ]),
        }
    }

    /// A bulleted list, one item a line.
    fn list(&mut self, scope: &Scope, depth: usize) -> String {
        let bullet = pick(&mut self.rng, &["/\\", "\\/"]);
        let items: Vec<String> = (0..self.rng.usize(2..=3))
            .map(|_| {
                let item = self.expression(scope, depth);
                lay(&[bullet, " ", &item])
            })
            .collect();
        items.join("\n")
    }

    /// A multi-line expression would lose its columns inside another one.
    fn operand(&mut self, scope: &Scope, depth: usize) -> String {
        let made = self.expression(scope, depth);
        let simple = made.chars().all(|c| c.is_alphanumeric() || "_.[]\"".contains(c));
        if simple {
            made
        } else if made.contains('\n') {
            self.atom(scope)
        } else {
            lay(&["(", &made, ")"])
        }
    }

    fn atom(&mut self, scope: &Scope) -> String {
        match self.rng.u32(0..10) {
            0..6 => self.name(scope),
            6 | 7 => self.rng.u32(0..20).to_string(),
            8 => pick(&mut self.rng, &["TRUE", "FALSE", "{}", "<<>>"]).to_owned(),
            _ => pick(&mut self.rng, &["\"idle\"", "\"a := b; (x)\"", "\"\"", "\"L1\""]).to_owned(),
        }
    }
}

/// Parts one after the other; lines of a part stay below its first.
fn lay(parts: &[&str]) -> String {
    let mut out = String::new();
    for part in parts {
        let column = out.chars().rev().take_while(|c| *c != '\n').count();
        out.push_str(&part.replace('\n', &format!("\n{}", " ".repeat(column))));
    }
    out
}

fn with(scope: &Scope, name: &str) -> Scope {
    let mut scope = scope.clone();
    scope.readable.extend([name.to_owned(), name.to_owned()]);
    scope
}
