//! A residual as text: as a formula, and in English, for prompts and reports.

use super::english::{Anchor, MAX_DESCRIBED_SIZE, Mood};
use super::formula::{Formula, Formulas, Node, Unary};
use super::progression::{PrefixVerdict, Progression, Residual};

/// Limit for the text of a residual, in nodes of the formula as a tree: shared subformulas can make it exponential.
const MAX_WRITTEN_SIZE: usize = 4_000;

impl Progression {
    /// The text of [`Progression::residual_formula`], with implications instead of `!a | b`; beyond 4,000 nodes, how many
    /// parts it has.
    ///
    /// `G false` in the text means that the run ends here, and `F true` that it goes on: `G false | a` requires `a` only if
    /// there is a next step.
    pub fn text(&mut self, residual: Residual) -> String {
        let formula = self.residual_formula(residual);
        let formulas = self.formulas();
        if formulas.unfolded_size(formula) > MAX_WRITTEN_SIZE {
            return format!("(a formula of {} parts)", formulas.subformulas(formula).len());
        }
        let mut shown = Formulas::new();
        let copy = formulas.with_implications(formula, &mut shown);
        shown.text(copy)
    }

    /// The residual as an English sentence, evaluated at the next step, in the words of [`Formulas::in_words`]. Never empty.
    /// If the formula is decided, the sentence says so.
    ///
    /// # Examples
    /// ```
    /// use tlaforge_temporal::{Formulas, Letter, Progression};
    ///
    /// let mut formulas = Formulas::new();
    /// let rule = formulas.parse("N a")?;
    /// let mut progression = Progression::new();
    /// let start = progression.begin(&formulas, rule)?;
    /// let next = progression.step(start, &Letter::new());
    /// assert_eq!(progression.text(next), "G false | a");
    /// assert_eq!(progression.in_words(next), "if there is a next step, `a` must hold at the next step");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn in_words(&mut self, residual: Residual) -> String {
        match self.prefix_verdict(residual) {
            PrefixVerdict::Satisfied => return "nothing: the rule is satisfied, whatever happens next".to_owned(),
            PrefixVerdict::Violated => return "the rule is violated, whatever happens next".to_owned(),
            PrefixVerdict::Undecided => {}
        }
        let formula = self.residual_formula(residual);
        let formulas = self.formulas();
        // `residual_formula` adds `G false` if the run may end here; in words that is a condition, not an alternative.
        if let Node::Or(parts) = formulas.node(formula)
            && let Some(empty) = parts.iter().position(|a| formulas.is_end_of_run(*a))
        {
            let rest: Vec<Formula> = parts.iter().enumerate().filter(|(i, _)| *i != empty).map(|(_, a)| *a).collect();
            return match rest.as_slice() {
                [one] => format!("if there is a next step, {}", formulas.describe(*one, Anchor::Next)),
                _ if formulas.unfolded_size(formula) > MAX_DESCRIBED_SIZE => formulas.describe(formula, Anchor::Next),
                many => format!(
                    "if there is a next step, either {}",
                    formulas.join_phrases(many, ", or ", Anchor::Next, Mood::Must)
                ),
            };
        }
        formulas.describe(formula, Anchor::Next)
    }
}

impl Formulas {
    /// `G false`, which only the empty trace satisfies.
    fn is_end_of_run(&self, formula: Formula) -> bool {
        matches!(self.node(formula), Node::Unary(Unary::Globally, a) if matches!(self.node(*a), Node::False))
    }
}
