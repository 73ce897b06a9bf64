//! Progression: rewrites a formula by each step of a run into its *residual*, which the rest of the run must satisfy.
//!
//! Steps are cached by formula and by the values of the atoms that the formula reads at this step. The cache is in effect
//! a deterministic automaton that is built lazily along the run.

use std::collections::HashMap;

use super::formula::{AtomId, Binary, Connective, Formula, Formulas, Node, Unary};
use super::letter::Letter;
use super::normal_form::NormalForms;
use super::readings::{Reading, UnsupportedError};

/// Maximum number of cached steps; all caches are cleared beyond it.
const MAX_CACHED_STEPS: usize = 1 << 17;

/// Number of formulas and operands beyond which [`Progression::is_over_capacity`] holds.
const MAX_ARENA_SIZE: usize = 1 << 19;

/// What the rest of a run must satisfy: a formula if the run continues, a truth value if it ends now.
///
/// A handle into one [`Progression`]. Residuals whose normal forms are equal are equal. Like a [`Formula`], it does not know
/// its arena.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Residual {
    if_continued: Formula,
    if_ended: bool,
}

/// Verdict on a run in progress, over all its continuations: it ends now, ends later, or never ends. The three values of
/// LTL3 (Bauer, Leucker and Schallhart 2011).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PrefixVerdict {
    /// Every continuation satisfies the formula.
    Satisfied,
    /// No continuation satisfies the formula.
    Violated,
    /// Some continuations do and some do not, or the normal form does not show that the formula is decided.
    Undecided,
}

/// Verdict on a run that has ended. The four values of RV-LTL (Bauer, Leucker and Schallhart 2010).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FinalVerdict {
    /// Satisfied, and every continuation would have satisfied the formula.
    Satisfied,
    /// Violated, and every continuation would have violated the formula.
    Violated,
    /// The run satisfies the formula; a continuation might not have.
    PresumablySatisfied,
    /// The run does not satisfy the formula; a continuation might have.
    PresumablyViolated,
}

impl FinalVerdict {
    /// Whether the run as it ended satisfies the formula.
    pub fn holds(self) -> bool {
        matches!(self, Self::Satisfied | Self::PresumablySatisfied)
    }
}

/// How far a residual is from being satisfied, for ranking: steps first, then obligations. Smaller is better; a violated
/// formula has the maximum of both, [`u32::MAX`]. Sums that exceed it stay at it, so a formula that is not violated can have
/// it too: ask [`Progression::prefix_verdict`], not the cost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ResidualCost {
    /// A lower bound on the further steps until the run can end satisfied; 0 if it can end now, [`u32::MAX`] if never.
    pub steps: u32,
    /// The number of things that must still happen, by the alternative that needs the fewest.
    pub obligations: u32,
}

/// Cached steps from one formula.
#[derive(Debug, Clone)]
struct StepCache {
    /// The atoms that decide a step, as word indices of a letter with bit masks.
    read_words: Box<[(usize, u64)]>,
    steps: HashMap<Box<[u64]>, Residual>,
    last: Option<(Box<[u64]>, Residual)>,
}

/// Progression: rewrites a formula by each step of a run into its [`Residual`], which the rest of the run must satisfy.
/// Progresses any number of formulas, in an arena of its own.
///
/// Definition 9 of the TRAC paper (after Bacchus and Kabanza), extended to runs that may end after any step. `X f` and
/// `N f` both progress to `f` and differ only if the run ends, so a residual is a pair: a formula in normal form for the
/// case that the run continues, and one truth value for the case that it ends now. A run that ends has the value that
/// [`eval_all_positions`](super::eval_all_positions) defines.
///
/// A progression keeps no steps, so it cannot explain a violation. For the reason, keep the records and call
/// [`check_trace`](super::check_trace) on those so far.
///
/// # Panics
/// Methods may panic if they are given a residual of another progression, or one that [`Progression::retain`] did not keep.
/// One that is a formula here by chance is not detected.
///
/// # Examples
/// ```
/// use tlaforge_temporal::{FinalVerdict, Formulas, Letter, PrefixVerdict, Progression, Record, ResidualCost, Value};
///
/// # struct Step(&'static [&'static str]);
/// # impl Record for Step {
/// #     fn field(&self, name: &str) -> Option<Value<'_>> {
/// #         Some(Value::Bool(self.0.contains(&name)))
/// #     }
/// # }
/// let mut formulas = Formulas::new();
/// let rule = formulas.parse("!submit W test")?;
/// let mut progression = Progression::new();
/// let start = progression.begin(&formulas, rule)?;
///
/// // A step without either: nothing has changed, and the run could end here.
/// let letter = Letter::from_record(progression.formulas(), &Step(&[]));
/// let open = progression.step(start, &letter);
/// assert_eq!(progression.prefix_verdict(open), PrefixVerdict::Undecided);
/// assert_eq!(progression.final_verdict(open), FinalVerdict::PresumablySatisfied);
/// assert_eq!(progression.text(open), "!submit W test");
/// let words = "`submit` must not hold at any step from now on before the first at which `test` holds";
/// assert_eq!(progression.in_words(open), words);
///
/// // `submit` before `test`: no continuation repairs it.
/// let letter = Letter::from_record(progression.formulas(), &Step(&["submit"]));
/// let violated = progression.step(open, &letter);
/// assert_eq!(progression.prefix_verdict(violated), PrefixVerdict::Violated);
/// assert!(!progression.final_verdict(violated).holds());
/// assert_eq!(progression.cost(violated), ResidualCost { steps: u32::MAX, obligations: u32::MAX });
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Progression {
    forms: NormalForms,
    caches: HashMap<Formula, StepCache>,
    cached_steps: usize,
    costs: Vec<ResidualCost>,
    key: Vec<u64>,
}

impl Progression {
    /// A progression with an empty arena.
    pub fn new() -> Self {
        Self::default()
    }

    /// The residual of a formula of another arena before the first step.
    ///
    /// # Errors
    /// The formula has an operator of the past or of lifelines.
    pub fn begin(&mut self, source: &Formulas, formula: Formula) -> Result<Residual, UnsupportedError> {
        source.check_reading(formula, Reading::Progression)?;
        let rest = self.forms.normalize(source, formula);
        // The normal form preserves values on non-empty traces only, so the empty trace is evaluated on the source.
        Ok(Residual { if_continued: rest, if_ended: on_empty_trace(source, formula) })
    }

    /// The arena of the residuals. Letters are sets of its atoms, whose numbers differ from those of the source arena.
    pub fn formulas(&self) -> &Formulas {
        &self.forms.formulas
    }

    /// The residual after a step at which exactly the atoms of `letter` are true, a letter over the atoms of
    /// [`Progression::formulas`]. The numbers of another arena are not noticed and give a wrong result.
    pub fn step(&mut self, residual: Residual, letter: &Letter) -> Residual {
        if let Some(known) = self.cached_step(residual.if_continued, letter) {
            return known;
        }
        // Only here, not in `cache_step`: the loop below relies on every step that it has cached.
        if self.cached_steps > MAX_CACHED_STEPS {
            self.caches.clear();
            self.cached_steps = 0;
        }
        // Operands first, with an explicit stack, so that the depth of a formula costs no call stack.
        let mut open = vec![residual.if_continued];
        while let Some(top) = open.last().copied() {
            if self.cached_step(top, letter).is_some() {
                open.pop();
                continue;
            }
            let before = open.len();
            let node = self.forms.formulas.node(top).clone();
            for child in node.children() {
                if !is_next(&node) && self.cached_step(*child, letter).is_none() {
                    open.push(*child);
                }
            }
            if open.len() == before {
                open.pop();
                let after = self.progress_node(top, &node, letter);
                self.cache_step(top, letter, after);
            }
        }
        self.cached_step(residual.if_continued, letter).expect("the loop cached it last")
    }

    fn progress_node(&mut self, formula: Formula, node: &Node, letter: &Letter) -> Residual {
        let child = |progression: &mut Self, f: &Formula| {
            progression.cached_step(*f, letter).expect("operands are progressed before the formula")
        };
        // If the run ends here, a strong operator is not fulfilled and a weak one is.
        let unchanged = |if_ended| Residual { if_continued: formula, if_ended };
        match node {
            Node::True => self.decided(true),
            Node::False => self.decided(false),
            Node::Atom(atom) => self.decided(letter.holds(*atom)),
            Node::Not(a) => {
                // Negation occurs at atoms only, and an atom is decided by its step, so both parts of the residual are
                // the same.
                let Residual { if_ended: end, .. } = child(self, a);
                self.decided(!end)
            }
            Node::And(all) => {
                let parts: Vec<Residual> = all.iter().map(|a| child(self, a)).collect();
                self.join(Connective::And, &parts)
            }
            Node::Or(all) => {
                let parts: Vec<Residual> = all.iter().map(|a| child(self, a)).collect();
                self.join(Connective::Or, &parts)
            }
            Node::Unary(Unary::Next, a) => Residual { if_continued: *a, if_ended: false },
            Node::Unary(Unary::WeakNext, a) => Residual { if_continued: *a, if_ended: true },
            Node::Unary(Unary::Globally, a) => {
                let a = child(self, a);
                self.join(Connective::And, &[a, unchanged(true)])
            }
            // Only `F` is left: the reading refuses the operators of the past.
            Node::Unary(_, a) => {
                let a = child(self, a);
                self.join(Connective::Or, &[a, unchanged(false)])
            }
            Node::Binary(operator, [a, b]) => {
                let (a, b) = (child(self, a), child(self, b));
                let weak = matches!(operator, Binary::WeakUntil | Binary::Release);
                if matches!(operator, Binary::Until | Binary::WeakUntil) {
                    let going_on = self.join(Connective::And, &[a, unchanged(weak)]);
                    self.join(Connective::Or, &[b, going_on])
                } else {
                    let going_on = self.join(Connective::Or, &[a, unchanged(weak)]);
                    self.join(Connective::And, &[b, going_on])
                }
            }
            Node::Causal(..) | Node::Seen(_) => unreachable!("progression refuses causal operators"),
        }
    }

    fn decided(&mut self, value: bool) -> Residual {
        Residual { if_continued: self.forms.formulas.constant(value), if_ended: value }
    }

    fn join(&mut self, connective: Connective, parts: &[Residual]) -> Residual {
        let rest = self.forms.connect(connective, parts.iter().map(|part| part.if_continued).collect());
        let end = match connective {
            Connective::And => parts.iter().all(|part| part.if_ended),
            Connective::Or => parts.iter().any(|part| part.if_ended),
        };
        Residual { if_continued: rest, if_ended: end }
    }

    fn cached_step(&mut self, formula: Formula, letter: &Letter) -> Option<Residual> {
        let cache = self.caches.get_mut(&formula)?;
        self.key.clear();
        self.key.extend(cache.read_words.iter().map(|(word, bits)| letter.word(*word) & bits));
        // Consecutive steps often read the same values, and one comparison is cheaper than a hash.
        if let Some((key, residual)) = &cache.last
            && **key == *self.key
        {
            return Some(*residual);
        }
        let (key, residual) = cache.steps.get_key_value(self.key.as_slice())?;
        match &mut cache.last {
            Some((last, _)) if last.len() == key.len() => last.copy_from_slice(key),
            last => *last = Some((key.clone(), *residual)),
        }
        if let Some((_, last)) = &mut cache.last {
            *last = *residual;
        }
        Some(*residual)
    }

    fn cache_step(&mut self, formula: Formula, letter: &Letter, after: Residual) {
        if !self.caches.contains_key(&formula) {
            let read_words = self.atoms_read_now(formula);
            self.caches.insert(formula, StepCache { read_words, steps: HashMap::new(), last: None });
        }
        let cache = self.caches.get_mut(&formula).expect("inserted above");
        let key = cache.read_words.iter().map(|(word, bits)| letter.word(*word) & bits).collect();
        cache.steps.insert(key, after);
        self.cached_steps += 1;
    }

    /// The atoms that decide one step: those not below `X` or `N`, whose operands belong to the next step.
    fn atoms_read_now(&self, formula: Formula) -> Box<[(usize, u64)]> {
        let mut words: Vec<(usize, u64)> = Vec::new();
        let mut seen = std::collections::HashSet::from([formula]);
        let mut open = vec![formula];
        while let Some(top) = open.pop() {
            let node = self.forms.formulas.node(top);
            if let Node::Atom(atom) = node {
                let (word, bit) = (atom.index() / 64, 1 << (atom.index() % 64));
                match words.iter_mut().find(|(at, _)| *at == word) {
                    Some((_, bits)) => *bits |= bit,
                    None => words.push((word, bit)),
                }
            } else if !is_next(node) {
                open.extend(node.children().iter().filter(|child| seen.insert(**child)));
            }
        }
        words.into()
    }

    /// The verdict while the run is in progress. `Satisfied` and `Violated` are always right; `Undecided` may be reported
    /// for a formula that is decided, because the normal form is not complete.
    pub fn prefix_verdict(&self, residual: Residual) -> PrefixVerdict {
        match (self.forms.formulas.node(residual.if_continued), residual.if_ended) {
            (Node::True, true) => PrefixVerdict::Satisfied,
            (Node::False, false) => PrefixVerdict::Violated,
            _ => PrefixVerdict::Undecided,
        }
    }

    /// The verdict if the run ends now, as [`Progression::prefix_verdict`] for the two definite values.
    pub fn final_verdict(&self, residual: Residual) -> FinalVerdict {
        match (self.prefix_verdict(residual), residual.if_ended) {
            (PrefixVerdict::Satisfied, _) => FinalVerdict::Satisfied,
            (PrefixVerdict::Violated, _) => FinalVerdict::Violated,
            (PrefixVerdict::Undecided, true) => FinalVerdict::PresumablySatisfied,
            (PrefixVerdict::Undecided, false) => FinalVerdict::PresumablyViolated,
        }
    }

    /// The residual as one formula: its value on the rest of the run, which may be empty, is the value of the original
    /// formula on the whole run.
    ///
    /// `G false` in it means that the run ends here, `F true` that it does not: `G false | a` is satisfied if the run has
    /// ended, and `F true & a` is not.
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
    /// // Satisfied if the run has ended, else `a` is required now.
    /// let rest = progression.residual_formula(next);
    /// assert_eq!(progression.formulas().text(rest), "G false | a");
    /// assert_eq!(progression.size(next), 1);
    /// assert_eq!(progression.atoms_of(next).len(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn residual_formula(&mut self, residual: Residual) -> Formula {
        if self.forms.empty_trace_value(residual.if_continued) == residual.if_ended {
            return residual.if_continued;
        }
        let formulas = &mut self.forms.formulas;
        if residual.if_ended {
            // `G false` holds on the empty trace only.
            let falsity = formulas.falsity();
            let empty = formulas.unary(Unary::Globally, falsity);
            match formulas.node(residual.if_continued) {
                Node::False => empty,
                _ => formulas.or([empty, residual.if_continued]),
            }
        } else {
            // `F true` holds on non-empty traces only.
            let truth = formulas.truth();
            let more = formulas.unary(Unary::Finally, truth);
            match formulas.node(residual.if_continued) {
                Node::True => more,
                _ => formulas.and([more, residual.if_continued]),
            }
        }
    }

    /// The number of distinct subformulas of the residual.
    pub fn size(&self, residual: Residual) -> usize {
        self.forms.formulas.subformulas(residual.if_continued).len()
    }

    /// The atoms that the residual still reads.
    pub fn atoms_of(&self, residual: Residual) -> Vec<AtomId> {
        self.forms.formulas.atoms_of(residual.if_continued)
    }

    /// The cost of a residual.
    ///
    /// # Examples
    /// ```
    /// use tlaforge_temporal::{Formulas, Progression, ResidualCost};
    ///
    /// let mut formulas = Formulas::new();
    /// let rule = formulas.parse("F (a & X F b)")?;
    /// let mut progression = Progression::new();
    /// let start = progression.begin(&formulas, rule)?;
    /// assert_eq!(progression.cost(start), ResidualCost { steps: 2, obligations: 2 });
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn cost(&mut self, residual: Residual) -> ResidualCost {
        match self.prefix_verdict(residual) {
            // A run that may end now costs nothing, even if a continuation could still violate the formula.
            _ if residual.if_ended => ResidualCost { steps: 0, obligations: 0 },
            PrefixVerdict::Violated => ResidualCost { steps: u32::MAX, obligations: u32::MAX },
            _ => {
                let cost = self.cost_of(residual.if_continued);
                // The run may not end now, so at least one more step is needed.
                ResidualCost { steps: cost.steps.max(1), obligations: cost.obligations.max(1) }
            }
        }
    }

    /// A lower bound on the length of a non-empty trace that satisfies the formula, and its obligations.
    fn cost_of(&mut self, formula: Formula) -> ResidualCost {
        for index in self.costs.len()..=formula.index() {
            let of = |f: &Formula| self.costs[f.index()];
            let step = |cost: ResidualCost, more: u32| ResidualCost { steps: cost.steps.saturating_add(more), ..cost };
            // One trace must be long enough for all; each counts its obligations, although one event may meet several.
            let all = |parts: &[Formula]| {
                parts.iter().map(of).fold(ResidualCost { steps: 1, obligations: 0 }, |a, b| ResidualCost {
                    steps: a.steps.max(b.steps),
                    obligations: a.obligations.saturating_add(b.obligations),
                })
            };
            let cost = match self.forms.formulas.node_at(index) {
                Node::False => ResidualCost { steps: u32::MAX, obligations: u32::MAX },
                Node::Atom(_) => ResidualCost { steps: 1, obligations: 1 },
                Node::And(parts) => all(parts),
                Node::Or(parts) => {
                    // By steps first, then by obligations: the order of `ResidualCost`.
                    let few = parts.iter().map(of).min();
                    few.expect("a disjunction has operands")
                }
                Node::Unary(Unary::Next, a) => step(of(a), 1),
                Node::Unary(Unary::Finally, a) => of(a),
                // A trace can satisfy these without any particular event, so they carry no obligation.
                Node::Unary(Unary::Globally, a) => ResidualCost { obligations: 0, ..of(a) },
                Node::Binary(Binary::Until, [_, b]) => of(b),
                Node::Binary(Binary::StrongRelease, both) => all(both),
                Node::Binary(Binary::WeakUntil, [a, b]) => {
                    ResidualCost { steps: of(a).steps.min(of(b).steps), obligations: 0 }
                }
                Node::Binary(Binary::Release, [_, b]) => ResidualCost { obligations: 0, ..of(b) },
                _ => ResidualCost { steps: 1, obligations: 0 },
            };
            self.costs.push(cost);
        }
        self.costs[formula.index()]
    }

    /// Whether to call [`Progression::retain`]: the arena grows without bound on runs with new residuals at every step.
    pub fn is_over_capacity(&self) -> bool {
        self.forms.formulas.len() + self.forms.operands > MAX_ARENA_SIZE
    }

    /// Rebuilds the arena with the given residuals only, and updates these. All other [`Residual`] and formula handles of
    /// this arena become invalid. Atoms keep their numbers.
    ///
    /// # Examples
    /// ```
    /// use tlaforge_temporal::{Formulas, Progression};
    ///
    /// let mut formulas = Formulas::new();
    /// let rule = formulas.parse("G (a -> F b)")?;
    /// let mut progression = Progression::new();
    /// let mut residual = progression.begin(&formulas, rule)?;
    /// if progression.is_over_capacity() {
    ///     progression.retain([&mut residual]);
    /// }
    /// # progression.retain([&mut residual]);
    /// assert_eq!(progression.text(residual), "G (a -> F b)");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn retain<'a>(&mut self, live: impl IntoIterator<Item = &'a mut Residual>) {
        // Atoms first and in their order: a caller keeps letters, which are sets of atom numbers.
        let old = std::mem::take(&mut self.forms);
        for (_, atom) in old.formulas.atoms() {
            self.forms.formulas.atom_id(atom.clone());
        }
        for residual in live {
            residual.if_continued = self.forms.normalize(&old.formulas, residual.if_continued);
        }
        self.caches.clear();
        self.cached_steps = 0;
        self.costs.clear();
    }
}

fn is_next(node: &Node) -> bool {
    matches!(node, Node::Unary(Unary::Next | Unary::WeakNext, _))
}

/// The value of a formula on the empty trace.
fn on_empty_trace(formulas: &Formulas, formula: Formula) -> bool {
    let mut values: HashMap<Formula, bool> = HashMap::new();
    for part in formulas.subformulas(formula) {
        let value = formulas.node(part).value_on_empty_trace(|f| values[f]);
        values.insert(part, value);
    }
    values[&formula]
}
