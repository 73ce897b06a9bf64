//! TRAC: named formulas watched step by step, with a verdict for each at every step and a witness that a person can read.
//!
//! Algorithms 1 and 2 of the TRAC paper, over runs that may end. Two things are done otherwise than written there. After
//! a verdict the fresh formula reads the deciding step too (unless that step alone decides it), so that no obligation
//! which that step opens is lost. And a violation counts once, not again at each later step.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::labels::Observed;
use crate::temporal::{
    FinalVerdict, Formula, Formulas, Letter, PrefixVerdict, Progression, Record, Residual, ResidualCost,
    UnsupportedError,
};

/// What happens to a rule after its verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Reset {
    /// The verdict stays (Algorithm 1).
    #[default]
    Never,
    /// The rule starts again (Algorithm 2).
    AfterVerdict,
}

/// How much of a witness is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Entries for each rule; the oldest go first.
    pub entries: usize,
    /// Characters of an input or output.
    pub text: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { entries: 200, text: 400 }
    }
}

/// Why a rule is not watched.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MonitorError {
    /// Two rules of one name could not be told apart in a report.
    #[error("a rule named `{0}` is watched already")]
    Taken(String),
    /// The formula cannot be progressed.
    #[error("rule `{name}`: {why}")]
    Refused {
        /// The rule.
        name: String,
        /// What is refused.
        why: UnsupportedError,
    },
}

/// One step that changed what a rule owes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WitnessEntry {
    /// The step, from 1.
    pub step: u64,
    /// What was put to the agent, shortened.
    pub input: Arc<str>,
    /// What it answered, shortened.
    pub output: Arc<str>,
    /// The atoms of what was owed that were true at this step, as text.
    pub labels: Arc<[Arc<str>]>,
    /// What was owed before the step, as the text of a formula.
    pub before: Arc<str>,
    /// What was owed after it.
    pub after: Arc<str>,
}

/// The steps that led to where a rule stands.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Witness {
    /// The newest of them, oldest first.
    pub entries: std::collections::VecDeque<WitnessEntry>,
    /// How many older ones were dropped.
    pub dropped: u64,
}

/// A verdict that fell at a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Decision {
    /// No way to go on keeps the rule.
    Violated,
    /// No way to go on breaks it.
    Satisfied,
}

/// What one step did to one rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepReport {
    /// The rule.
    pub rule: Arc<str>,
    /// The verdict at this step; with [`Reset::AfterVerdict`] it is undecided again at the next.
    pub standing: PrefixVerdict,
    /// The verdict, at the step at which it falls.
    pub decision: Option<Decision>,
    /// The witness of that verdict.
    pub witness: Option<Witness>,
}

/// One rule as it stands.
#[derive(Debug, Clone)]
pub struct RuleState {
    name: Arc<str>,
    fresh: Residual,
    owed: Residual,
    standing: PrefixVerdict,
    violations: u64,
    satisfactions: u64,
    witness: Witness,
}

impl RuleState {
    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The verdict of the last step.
    pub fn standing(&self) -> PrefixVerdict {
        self.standing
    }

    /// How many violations were found; without reset at most one.
    pub fn violations(&self) -> u64 {
        self.violations
    }

    /// How many satisfactions were found; without reset at most one.
    pub fn satisfactions(&self) -> u64 {
        self.satisfactions
    }

    /// Whether it owes what it owes before any step.
    pub fn is_fresh(&self) -> bool {
        self.owed == self.fresh
    }

    /// The steps that changed what it owes, since the last reset.
    pub fn witness(&self) -> &Witness {
        &self.witness
    }
}

/// Rules watched together over one run.
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

/// Texts of residuals that are kept.
const TEXTS: usize = 4_096;

impl Monitor {
    /// No rule yet.
    pub fn new(reset: Reset) -> Self {
        Self { reset, ..Self::default() }
    }

    /// The same with other limits for witnesses.
    #[must_use]
    pub fn with_limits(self, limits: Limits) -> Self {
        Self { limits, ..self }
    }

    /// Watches a rule from the next step on.
    pub fn add(&mut self, name: &str, source: &Formulas, formula: Formula) -> Result<(), MonitorError> {
        if self.rule(name).is_some() {
            return Err(MonitorError::Taken(name.to_owned()));
        }
        let fresh = self
            .progression
            .begin(source, formula)
            .map_err(|why| MonitorError::Refused { name: name.to_owned(), why })?;
        let standing = PrefixVerdict::Undecided;
        let (violations, satisfactions, witness) = (0, 0, Witness::default());
        let name = name.into();
        self.rules.push(RuleState { name, fresh, owed: fresh, standing, violations, satisfactions, witness });
        Ok(())
    }

    /// Watches a rule no longer; what it had come to, if it was there.
    pub fn remove(&mut self, name: &str) -> Option<RuleState> {
        let at = self.rules.iter().position(|rule| &*rule.name == name)?;
        Some(self.rules.remove(at))
    }

    /// The rules, in the order in which they were added.
    pub fn rules(&self) -> &[RuleState] {
        &self.rules
    }

    /// One rule.
    pub fn rule(&self, name: &str) -> Option<&RuleState> {
        self.rules.iter().find(|rule| &*rule.name == name)
    }

    /// How many steps there were.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// The arena whose atoms the steps are read for.
    pub fn formulas(&self) -> &Formulas {
        self.progression.formulas()
    }

    /// Reads one step: what it does to each rule, in their order.
    pub fn step(&mut self, observed: &Observed<'_>) -> Vec<StepReport> {
        self.steps += 1;
        self.letter.assign_from_record(self.progression.formulas(), observed.record);
        let mut texts = None;
        let mut reports = Vec::with_capacity(self.rules.len());
        for at in 0..self.rules.len() {
            let mut context = Context { observed, texts: &mut texts };
            reports.push(self.step_rule(at, &mut context));
        }
        if self.progression.is_over_capacity() {
            self.texts.clear();
            self.progression.retain(self.rules.iter_mut().flat_map(|rule| [&mut rule.fresh, &mut rule.owed]));
        }
        reports
    }

    /// Reads one step that is nothing but a record.
    pub fn step_record(&mut self, record: &dyn Record) -> Vec<StepReport> {
        self.step(&Observed { input: "", output: "", record })
    }

    fn step_rule(&mut self, at: usize, context: &mut Context<'_>) -> StepReport {
        let before = self.rules[at].owed;
        let after = self.progression.step(before, &self.letter);
        self.rules[at].owed = after;
        if after != before {
            self.witness(at, before, after, context);
        }
        let standing = self.progression.prefix_verdict(after);
        let decided = match standing {
            PrefixVerdict::Undecided => None,
            PrefixVerdict::Violated => Some(Decision::Violated),
            PrefixVerdict::Satisfied => Some(Decision::Satisfied),
        };
        let rule = &mut self.rules[at];
        let decision =
            decided.filter(|_| self.reset == Reset::AfterVerdict || rule.standing == PrefixVerdict::Undecided);
        rule.standing = standing;
        let mut witness = None;
        if let Some(decision) = decision {
            match decision {
                Decision::Violated => rule.violations += 1,
                Decision::Satisfied => rule.satisfactions += 1,
            }
            if self.reset == Reset::AfterVerdict {
                witness = Some(std::mem::take(&mut rule.witness));
                self.start_again(at, context);
            } else {
                witness = Some(rule.witness.clone());
            }
        }
        StepReport { rule: Arc::clone(&self.rules[at].name), standing, decision, witness }
    }

    fn start_again(&mut self, at: usize, context: &mut Context<'_>) {
        let fresh = self.rules[at].fresh;
        let opened = self.progression.step(fresh, &self.letter);
        if self.progression.prefix_verdict(opened) == PrefixVerdict::Undecided {
            self.rules[at].owed = opened;
            if opened != fresh {
                self.witness(at, fresh, opened, context);
            }
        } else {
            self.rules[at].owed = fresh;
        }
    }

    fn witness(&mut self, at: usize, before: Residual, after: Residual, context: &mut Context<'_>) {
        if self.limits.entries == 0 {
            self.rules[at].witness.dropped += 1;
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
        let entry = WitnessEntry {
            step: self.steps,
            input,
            output,
            labels,
            before: self.text(before),
            after: self.text(after),
        };
        let witness = &mut self.rules[at].witness;
        if witness.entries.len() >= self.limits.entries {
            witness.entries.pop_front();
            witness.dropped += 1;
        }
        witness.entries.push_back(entry);
    }

    fn text(&mut self, owed: Residual) -> Arc<str> {
        if let Some(text) = self.texts.get(&owed) {
            return Arc::clone(text);
        }
        if self.texts.len() >= TEXTS {
            self.texts.clear();
        }
        let text: Arc<str> = self.progression.text(owed).into();
        self.texts.insert(owed, Arc::clone(&text));
        text
    }

    /// What a rule still owes, as the text of a formula.
    pub fn owed(&mut self, name: &str) -> Option<Arc<str>> {
        let owed = self.rule(name)?.owed;
        Some(self.text(owed))
    }

    /// What a rule still owes, in words.
    pub fn owed_in_words(&mut self, name: &str) -> Option<String> {
        let owed = self.rule(name)?.owed;
        Some(self.progression.in_words(owed))
    }

    /// The verdict on a rule if the run ends now.
    pub fn ending(&self, name: &str) -> Option<FinalVerdict> {
        Some(self.progression.final_verdict(self.rule(name)?.owed))
    }

    /// The verdict on all rules together: violated where one is, satisfied where all are (also where there is none).
    pub fn standing(&self) -> PrefixVerdict {
        let mut all = PrefixVerdict::Satisfied;
        for rule in &self.rules {
            match rule.standing {
                PrefixVerdict::Violated => return PrefixVerdict::Violated,
                PrefixVerdict::Undecided => all = PrefixVerdict::Undecided,
                PrefixVerdict::Satisfied => {}
            }
        }
        all
    }

    /// The rules and what they owe, most first; rules that owe alike keep their order.
    pub fn rank(&mut self) -> Vec<(Arc<str>, ResidualCost)> {
        let mut ranked: Vec<(Arc<str>, ResidualCost)> =
            self.rules.iter().map(|rule| (Arc::clone(&rule.name), self.progression.cost(rule.owed))).collect();
        ranked.sort_by_key(|(_, debt)| std::cmp::Reverse(*debt));
        ranked
    }

    /// What all rules owe together, by which candidates are compared: fewer violated rules, then fewer steps, then fewer
    /// obligations.
    pub fn debt(&mut self) -> (usize, ResidualCost) {
        let mut violated = 0;
        let mut sum = ResidualCost { steps: 0, obligations: 0 };
        for rule in &self.rules {
            if self.progression.prefix_verdict(rule.owed) == PrefixVerdict::Violated {
                violated += 1;
                continue;
            }
            let debt = self.progression.cost(rule.owed);
            sum.steps = sum.steps.max(debt.steps);
            sum.obligations = sum.obligations.saturating_add(debt.obligations);
        }
        (violated, sum)
    }

    /// Forgets the run: all rules start again, nothing is counted.
    pub fn restart(&mut self) {
        self.steps = 0;
        for rule in &mut self.rules {
            rule.owed = rule.fresh;
            rule.standing = PrefixVerdict::Undecided;
            (rule.violations, rule.satisfactions) = (0, 0);
            rule.witness = Witness::default();
        }
    }

    /// The atoms that the rules still read, as text, sorted: what a labeler has to know.
    pub fn propositions(&self) -> Vec<String> {
        let formulas = self.progression.formulas();
        let live: HashSet<_> = self
            .rules
            .iter()
            .flat_map(|rule| [rule.fresh, rule.owed])
            .flat_map(|owed| self.progression.atoms_of(owed))
            .collect();
        let mut names: Vec<String> = live.into_iter().map(|atom| formulas.atom_text(formulas.atom(atom))).collect();
        names.sort();
        names
    }
}

/// One step, and its texts where a witness needed them.
struct Context<'a> {
    observed: &'a Observed<'a>,
    texts: &'a mut Option<(Arc<str>, Arc<str>)>,
}

fn shortened(text: &str, limit: usize) -> Arc<str> {
    match text.char_indices().nth(limit) {
        Some((end, _)) => format!("{}…", &text[..end]).into(),
        None => text.into(),
    }
}
