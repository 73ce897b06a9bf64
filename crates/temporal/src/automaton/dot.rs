//! The automaton as a graph in DOT, the language of Graphviz.

use std::fmt::Write as _;

use super::super::formula::Formulas;
use super::dfa::Dfa;

impl Dfa {
    /// The automaton in DOT: accepting states are double circles, goals green, the trap red; edges show their guards.
    ///
    /// # Examples
    /// ```
    /// use tlaforge_temporal::{Dfa, Formulas, Limits};
    ///
    /// let mut formulas = Formulas::new();
    /// let rule = formulas.parse("F done")?;
    /// let dfa = Dfa::build(&formulas, rule, Limits::default())?;
    /// assert!(dfa.dot(&formulas).contains("0 -> 1 [label = \"done\"];"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn dot(&self, formulas: &Formulas) -> String {
        let mut out = String::from("digraph automaton {\n  rankdir = LR;\n  start [shape = point];\n  start -> 0;\n");
        for state in 0..self.states() {
            let shape = if self.accepts(state) { "doublecircle" } else { "circle" };
            let colour = match () {
                () if self.is_goal(state) => ", color = green, tooltip = goal",
                () if self.is_trap(state) => ", color = red, tooltip = trap",
                () => "",
            };
            writeln!(out, "  {state} [shape = {shape}{colour}];").expect("a String takes all that is written");
        }
        for state in 0..self.states() {
            for edge in self.edges(state) {
                let guard = edge.guard.text(formulas).replace('\\', "\\\\").replace('"', "\\\"");
                writeln!(out, "  {state} -> {} [label = \"{guard}\"];", edge.to)
                    .expect("a String takes all that is written");
            }
        }
        out.push_str("}\n");
        out
    }
}
