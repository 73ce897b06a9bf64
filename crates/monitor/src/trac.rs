//! TRAC: monitors named formulas step by step, with a verdict at every step and a readable explanation.
//!
//! Algorithms 1 and 2 of the TRAC paper, for runs that can end, with two differences. After a reset, the fresh formula
//! reads the deciding step too (unless that step alone decides it), so that no obligation that the step opens is lost. And
//! a violation counts once, not again at each later step.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::labels::Observed;
use tlaforge_temporal::{
    FinalVerdict, Formula, Formulas, Letter, PrefixVerdict, Progression, Record, Residual, ResidualCost,
    UnsupportedError,
};

/// What happens to a rule after its verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Reset {
    /// The verdict stays (Algorithm 1).
    #[default]
    Never,
    /// The rule is reset (Algorithm 2).
    AfterVerdict,
}

/// Limits of an explanation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Maximum number of entries for each rule; the oldest are dropped first.
    pub entries: usize,
    /// Maximum number of characters of an input or output.
    pub text: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { entries: 200, text: 400 }
    }
}

/// Why a rule cannot be monitored.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MonitorError {
    /// Reports could not distinguish two rules of the same name.
    #[error("a rule named `{0}` is already monitored")]
    DuplicateName(String),
    /// Progression does not support the formula.
    #[error("rule `{name}`: {why}")]
    Refused { name: String, why: UnsupportedError },
}

/// A step that changed the residual of a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExplanationStep {
    /// From 1.
    pub step: u64,
    /// The input of the agent, shortened.
    pub input: Arc<str>,
    /// The output of the agent, shortened.
    pub output: Arc<str>,
    /// The atoms of `before` that were true at this step.
    pub labels: Arc<[Arc<str>]>,
    /// The residual before the step, as a formula.
    pub before: Arc<str>,
    /// The residual after the step.
    pub after: Arc<str>,
}

/// The steps that led to the current residual of a rule.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Explanation {
    /// The newest entries, oldest first.
    pub entries: std::collections::VecDeque<ExplanationStep>,
    /// The number of older entries that were dropped.
    pub dropped: u64,
}

/// A verdict that no further step changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Decision {
    /// Every continuation violates the rule.
    Violated,
    /// Every continuation satisfies the rule.
    Satisfied,
}

/// The effect of one step on one rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepReport {
    pub rule: Arc<str>,
    /// The verdict at this step; with [`Reset::AfterVerdict`] it is undecided again at the next.
    pub verdict: PrefixVerdict,
    /// Set at the step that decides.
    pub decision: Option<Decision>,
    /// The explanation of the decision.
    pub explanation: Option<Explanation>,
}

/// A monitored rule.
#[derive(Debug, Clone)]
pub struct RuleState {
    name: Arc<str>,
    /// The whole formula, as before the first step.
    fresh: Residual,
    residual: Residual,
    verdict: PrefixVerdict,
    violations: u64,
    satisfactions: u64,
    explanation: Explanation,
}

impl RuleState {
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The verdict after the last step.
    pub fn prefix_verdict(&self) -> PrefixVerdict {
        self.verdict
    }

    /// The number of violations; without reset at most 1.
    pub fn violations(&self) -> u64 {
        self.violations
    }

    /// The number of satisfactions; without reset at most 1.
    pub fn satisfactions(&self) -> u64 {
        self.satisfactions
    }

    /// Whether the residual is that before the first step.
    pub fn is_fresh(&self) -> bool {
        self.residual == self.fresh
    }

    /// The steps that changed the residual since the last reset.
    pub fn explanation(&self) -> &Explanation {
        &self.explanation
    }
}

/// Monitors rules over one run.
#[derive(Debug, Clone, Default)]
pub struct Monitor {
    progression: Progression,
    rules: Vec<RuleState>,
    reset: Reset,
    limits: Limits,
    steps: u64,
    letter: Letter,
    texts: HashMap<Residual, Arc<str>>,
}

/// Maximum number of cached texts of residuals.
const MAX_CACHED_TEXTS: usize = 4_096;

impl Monitor {
    /// A monitor without rules.
    pub fn new(reset: Reset) -> Self {
        Self { reset, ..Self::default() }
    }

    /// Sets the limits of explanations.
    #[must_use]
    pub fn with_limits(self, limits: Limits) -> Self {
        Self { limits, ..self }
    }

    /// Monitors a rule from the next step on.
    pub fn add(&mut self, name: &str, source: &Formulas, formula: Formula) -> Result<(), MonitorError> {
        if self.rule(name).is_some() {
            return Err(MonitorError::DuplicateName(name.to_owned()));
        }
        let fresh = self
            .progression
            .begin(source, formula)
            .map_err(|why| MonitorError::Refused { name: name.to_owned(), why })?;
        let verdict = PrefixVerdict::Undecided;
        let (violations, satisfactions, explanation) = (0, 0, Explanation::default());
        let name = name.into();
        self.rules.push(RuleState { name, fresh, residual: fresh, verdict, violations, satisfactions, explanation });
        Ok(())
    }

    /// Stops monitoring a rule; returns its final state, if there is such a rule.
    pub fn remove(&mut self, name: &str) -> Option<RuleState> {
        let at = self.rules.iter().position(|rule| &*rule.name == name)?;
        Some(self.rules.remove(at))
    }

    /// The rules, in the order in which they were added.
    pub fn rules(&self) -> &[RuleState] {
        &self.rules
    }

    pub fn rule(&self, name: &str) -> Option<&RuleState> {
        self.rules.iter().find(|rule| &*rule.name == name)
    }

    /// The number of steps so far.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// The formulas whose atoms each step is evaluated for.
    pub fn formulas(&self) -> &Formulas {
        self.progression.formulas()
    }

    /// Evaluates one step; returns its effect on each rule, in order.
    pub fn step(&mut self, observed: &Observed<'_>) -> Vec<StepReport> {
        self.steps += 1;
        self.letter.assign_from_record(self.progression.formulas(), observed.record);
        let mut texts = None;
        let mut reports = Vec::with_capacity(self.rules.len());
        for at in 0..self.rules.len() {
            let mut context = StepContext { observed, texts: &mut texts };
            reports.push(self.step_rule(at, &mut context));
        }
        if self.progression.is_over_capacity() {
            self.texts.clear();
            self.progression.retain(self.rules.iter_mut().flat_map(|rule| [&mut rule.fresh, &mut rule.residual]));
        }
        reports
    }

    /// Evaluates one step without input and output texts.
    pub fn step_record(&mut self, record: &dyn Record) -> Vec<StepReport> {
        self.step(&Observed { input: "", output: "", record })
    }

    fn step_rule(&mut self, at: usize, context: &mut StepContext<'_>) -> StepReport {
        let before = self.rules[at].residual;
        let after = self.progression.step(before, &self.letter);
        self.rules[at].residual = after;
        if after != before {
            self.add_explanation_step(at, before, after, context);
        }
        let verdict = self.progression.prefix_verdict(after);
        let decided = match verdict {
            PrefixVerdict::Undecided => None,
            PrefixVerdict::Violated => Some(Decision::Violated),
            PrefixVerdict::Satisfied => Some(Decision::Satisfied),
        };
        let rule = &mut self.rules[at];
        let decision =
            decided.filter(|_| self.reset == Reset::AfterVerdict || rule.verdict == PrefixVerdict::Undecided);
        rule.verdict = verdict;
        let mut explanation = None;
        if let Some(decision) = decision {
            match decision {
                Decision::Violated => rule.violations += 1,
                Decision::Satisfied => rule.satisfactions += 1,
            }
            if self.reset == Reset::AfterVerdict {
                explanation = Some(std::mem::take(&mut rule.explanation));
                self.reset_rule(at, context);
            } else {
                explanation = Some(rule.explanation.clone());
            }
        }
        StepReport { rule: Arc::clone(&self.rules[at].name), verdict, decision, explanation }
    }

    fn reset_rule(&mut self, at: usize, context: &mut StepContext<'_>) {
        let fresh = self.rules[at].fresh;
        let opened = self.progression.step(fresh, &self.letter);
        if self.progression.prefix_verdict(opened) == PrefixVerdict::Undecided {
            self.rules[at].residual = opened;
            if opened != fresh {
                self.add_explanation_step(at, fresh, opened, context);
            }
        } else {
            self.rules[at].residual = fresh;
        }
    }

    fn add_explanation_step(&mut self, at: usize, before: Residual, after: Residual, context: &mut StepContext<'_>) {
        if self.limits.entries == 0 {
            self.rules[at].explanation.dropped += 1;
            return;
        }
        let limit = self.limits.text;
        let (input, output) = context.texts.get_or_insert_with(|| {
            (shortened(context.observed.input, limit), shortened(context.observed.output, limit))
        });
        let (input, output) = (Arc::clone(input), Arc::clone(output));
        let formulas = self.progression.formulas();
        let labels = self.progression.atoms_of(before).into_iter().filter(|atom| self.letter.holds(*atom));
        let labels = labels.map(|atom| formulas.atom_text(formulas.atom(atom)).into()).collect();
        let entry = ExplanationStep {
            step: self.steps,
            input,
            output,
            labels,
            before: self.text(before),
            after: self.text(after),
        };
        let explanation = &mut self.rules[at].explanation;
        if explanation.entries.len() >= self.limits.entries {
            explanation.entries.pop_front();
            explanation.dropped += 1;
        }
        explanation.entries.push_back(entry);
    }

    fn text(&mut self, residual: Residual) -> Arc<str> {
        if let Some(text) = self.texts.get(&residual) {
            return Arc::clone(text);
        }
        if self.texts.len() >= MAX_CACHED_TEXTS {
            self.texts.clear();
        }
        let text: Arc<str> = self.progression.text(residual).into();
        self.texts.insert(residual, Arc::clone(&text));
        text
    }

    /// The residual of a rule, as a formula.
    pub fn residual(&mut self, name: &str) -> Option<Arc<str>> {
        let residual = self.rule(name)?.residual;
        Some(self.text(residual))
    }

    /// The residual of a rule, in words.
    pub fn residual_in_words(&mut self, name: &str) -> Option<String> {
        let residual = self.rule(name)?.residual;
        Some(self.progression.in_words(residual))
    }

    /// The verdict on a rule if the run ends now.
    pub fn ending(&self, name: &str) -> Option<FinalVerdict> {
        Some(self.progression.final_verdict(self.rule(name)?.residual))
    }

    /// The verdict on all rules together: violated if one is, satisfied if all are (also without rules).
    pub fn prefix_verdict(&self) -> PrefixVerdict {
        let mut all = PrefixVerdict::Satisfied;
        for rule in &self.rules {
            match rule.verdict {
                PrefixVerdict::Violated => return PrefixVerdict::Violated,
                PrefixVerdict::Undecided => all = PrefixVerdict::Undecided,
                PrefixVerdict::Satisfied => {}
            }
        }
        all
    }

    /// The rules by the cost of their residuals, the greatest first; rules with the same cost keep their order.
    pub fn rank(&mut self) -> Vec<(Arc<str>, ResidualCost)> {
        let mut ranked: Vec<(Arc<str>, ResidualCost)> =
            self.rules.iter().map(|rule| (Arc::clone(&rule.name), self.progression.cost(rule.residual))).collect();
        ranked.sort_by_key(|(_, cost)| std::cmp::Reverse(*cost));
        ranked
    }

    /// The number of violated rules, and the cost of the others' residuals together. Samples are compared by it: fewer violated
    /// rules, then fewer steps, then fewer obligations.
    pub fn residual_cost(&mut self) -> (usize, ResidualCost) {
        let mut violated = 0;
        let mut sum = ResidualCost { steps: 0, obligations: 0 };
        for rule in &self.rules {
            if self.progression.prefix_verdict(rule.residual) == PrefixVerdict::Violated {
                violated += 1;
                continue;
            }
            let cost = self.progression.cost(rule.residual);
            sum.steps = sum.steps.max(cost.steps);
            sum.obligations = sum.obligations.saturating_add(cost.obligations);
        }
        (violated, sum)
    }

    /// Begins another run: resets all rules and counts.
    pub fn restart(&mut self) {
        self.steps = 0;
        for rule in &mut self.rules {
            rule.residual = rule.fresh;
            rule.verdict = PrefixVerdict::Undecided;
            (rule.violations, rule.satisfactions) = (0, 0);
            rule.explanation = Explanation::default();
        }
    }

    /// The atoms that the rules still read, sorted: what a labeler has to label.
    pub fn propositions(&self) -> Vec<String> {
        let formulas = self.progression.formulas();
        let live: HashSet<_> = self
            .rules
            .iter()
            .flat_map(|rule| [rule.fresh, rule.residual])
            .flat_map(|residual| self.progression.atoms_of(residual))
            .collect();
        let mut names: Vec<String> = live.into_iter().map(|atom| formulas.atom_text(formulas.atom(atom))).collect();
        names.sort();
        names
    }
}

/// One step, and its shortened texts once an explanation needed them.
struct StepContext<'a> {
    observed: &'a Observed<'a>,
    texts: &'a mut Option<(Arc<str>, Arc<str>)>,
}

fn shortened(text: &str, limit: usize) -> Arc<str> {
    match text.char_indices().nth(limit) {
        Some((end, _)) => format!("{}…", &text[..end]).into(),
        None => text.into(),
    }
}
