//! Formulas in English, for prompts and reports. Knows the operators only; an atom is quoted as it is written.

use super::formula::{Binary, Causal, Formula, Formulas, Node, Unary};

/// Limit for a description in English, in nodes of the formula as a tree; a longer sentence helps no reader.
pub(super) const MAX_DESCRIBED_SIZE: usize = 600;

/// The grammatical mood of a clause: "must hold" for what the formula requires, "holds" for a condition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mood {
    Must,
    Is,
}

/// The step at which a formula is evaluated, as the sentence names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Anchor {
    First,
    Next,
    That,
}

impl Anchor {
    fn at_step(self) -> &'static str {
        match self {
            Self::First => "at the first step",
            Self::Next => "at the next step",
            Self::That => "at that step",
        }
    }

    /// Restricts "at every step" to the steps from this one on.
    fn starting_at_step(self) -> &'static str {
        match self {
            Self::First => "",
            Self::Next => " from now on",
            Self::That => " from that step on",
        }
    }

    fn or_later(self) -> &'static str {
        match self {
            Self::First => "at some step",
            Self::Next => "at some step from now on",
            Self::That => "at that step or later",
        }
    }

    fn strictly_after(self) -> &'static str {
        match self {
            Self::First => "after the first step",
            Self::Next => "after the next step",
            Self::That => "after that step",
        }
    }
}

impl Formulas {
    /// The formula as an English sentence about a run, evaluated at its first step: `G !p` becomes "`p` must never
    /// hold". Never empty; beyond 600 nodes it only says how many parts the formula has.
    ///
    /// Brackets separate nested clauses, and *that step* always refers to the step mentioned last. The sentence does not
    /// know the reading: for a guard of the causal reading, "at the first step" means at the event of the guard.
    ///
    /// # Examples
    /// ```
    /// use tlaforge_temporal::Formulas;
    ///
    /// let mut formulas = Formulas::new();
    /// let rule = formulas.parse("G !p")?;
    /// assert_eq!(formulas.in_words(rule), "`p` must never hold");
    /// # Ok::<(), tlaforge_temporal::ParseError>(())
    /// ```
    pub fn in_words(&self, formula: Formula) -> String {
        self.describe(formula, Anchor::First)
    }

    pub(super) fn describe(&self, formula: Formula, anchor: Anchor) -> String {
        if self.unfolded_size(formula) > MAX_DESCRIBED_SIZE {
            return format!("a formula of {} parts, too long to put into words", self.subformulas(formula).len());
        }
        match self.node(formula) {
            Node::True => "nothing is required".to_owned(),
            Node::False => "something impossible is required".to_owned(),
            // Semicolons separate the conjuncts of the whole sentence, so only alternatives need brackets.
            Node::And(all) => {
                let each: Vec<String> = all.iter().map(|a| self.phrase(*a, anchor, Mood::Must)).collect();
                each.join("; ")
            }
            _ => self.phrase(formula, anchor, Mood::Must),
        }
    }

    /// The number of nodes of the formula as a tree, that is with shared subformulas counted at each occurrence.
    pub(super) fn unfolded_size(&self, formula: Formula) -> usize {
        let mut sizes = std::collections::HashMap::new();
        for part in self.subformulas(formula) {
            let size = self.node(part).children().iter().fold(1usize, |sum, child| sum.saturating_add(sizes[child]));
            sizes.insert(part, size);
        }
        sizes[&formula]
    }

    /// Whether the formula has no temporal operator, so that one step decides it.
    fn is_state_formula(&self, formula: Formula) -> bool {
        match self.node(formula) {
            Node::True | Node::False | Node::Atom(_) => true,
            Node::Not(a) => self.is_state_formula(*a),
            Node::And(all) | Node::Or(all) => all.iter().all(|a| self.is_state_formula(*a)),
            Node::Binary(Binary::Implies | Binary::Iff, both) => both.iter().all(|a| self.is_state_formula(*a)),
            _ => false,
        }
    }

    fn quote_atom(&self, formula: Formula) -> Option<String> {
        match self.node(formula) {
            Node::Atom(atom) => {
                let text = self.atom_text(self.atom(*atom));
                // As in Markdown, a text with a backtick is quoted by two.
                let fence = if text.contains('`') { "``" } else { "`" };
                Some(format!("{fence}{text}{fence}"))
            }
            _ => None,
        }
    }

    /// The quoted atom `a` of `!a`.
    fn negated_atom(&self, formula: Formula) -> Option<String> {
        match self.node(formula) {
            Node::Not(a) => self.quote_atom(*a),
            _ => None,
        }
    }

    fn is_literal(&self, formula: Formula) -> bool {
        matches!(self.node(formula), Node::Atom(_)) || self.negated_atom(formula).is_some()
    }

    /// The quoted atoms of `!a | !b` or `!(a & b)`, joined by "and".
    fn exclusive_atoms(&self, formula: Formula) -> Option<String> {
        let atoms: Option<Vec<String>> = match self.node(formula) {
            Node::Or(all) => all.iter().map(|a| self.negated_atom(*a)).collect(),
            Node::Not(a) => match self.node(*a) {
                Node::And(all) => all.iter().map(|a| self.quote_atom(*a)).collect(),
                _ => None,
            },
            _ => None,
        };
        Some(atoms?.join(" and "))
    }

    /// A state formula as a noun phrase: "`a` and not `b`".
    fn noun_phrase(&self, formula: Formula) -> String {
        if let Some(atom) = self.quote_atom(formula) {
            return atom;
        }
        let inner = |a: &Formula| match self.node(*a) {
            Node::And(_) | Node::Or(_) | Node::Binary(..) => format!("({})", self.noun_phrase(*a)),
            _ => self.noun_phrase(*a),
        };
        match self.node(formula) {
            Node::True => "`true`".to_owned(),
            Node::False => "`false`".to_owned(),
            Node::Not(a) => format!("not {}", inner(a)),
            Node::And(all) => all.iter().map(inner).collect::<Vec<_>>().join(" and "),
            Node::Or(all) => all.iter().map(inner).collect::<Vec<_>>().join(" or "),
            Node::Binary(Binary::Implies, [a, b]) => format!("{} or not {}", inner(b), inner(a)),
            Node::Binary(_, [a, b]) => format!("{} exactly when {}", inner(a), inner(b)),
            _ => format!("`{}`", self.text(formula)),
        }
    }

    /// "`a` must hold" or "`a` does not hold", for a state formula.
    fn state_clause(&self, formula: Formula, mood: Mood) -> String {
        match self.node(formula) {
            Node::And(all)
                if all.iter().all(|a| self.is_literal(*a)) && all.iter().any(|a| self.negated_atom(*a).is_some()) =>
            {
                return all.iter().map(|a| self.state_clause(*a, mood)).collect::<Vec<_>>().join(" and ");
            }
            Node::Or(_) | Node::Not(_) => {
                if let Some(atoms) = self.exclusive_atoms(formula) {
                    return format!("{atoms} {} together", must(mood, "must not hold", "do not hold"));
                }
            }
            _ => {}
        }
        match (self.negated_atom(formula), mood) {
            (Some(atom), Mood::Must) => format!("{atom} must not hold"),
            (Some(atom), Mood::Is) => format!("{atom} does not hold"),
            (None, Mood::Must) => format!("{} must hold", self.noun_phrase(formula)),
            (None, Mood::Is) => match self.node(formula) {
                Node::And(_) => format!("{} hold", self.noun_phrase(formula)),
                _ => format!("{} holds", self.noun_phrase(formula)),
            },
        }
    }

    /// [`Formulas::phrase`], in brackets if the phrase has more than one clause.
    fn bracketed(&self, formula: Formula, anchor: Anchor, mood: Mood) -> String {
        let phrase = self.phrase(formula, anchor, mood);
        // A phrase with a comma, or one that begins with "either" or "it", could run into the words after it.
        if !phrase.contains(',') && !phrase.starts_with("either ") && !phrase.starts_with("it ") {
            phrase
        } else {
            format!("[{phrase}]")
        }
    }

    fn phrase(&self, formula: Formula, anchor: Anchor, mood: Mood) -> String {
        if self.is_state_formula(formula) {
            return match (self.node(formula), mood) {
                (Node::True, Mood::Must) => format!("nothing is required {}", anchor.at_step()),
                (Node::False, Mood::Must) => "something impossible is required".to_owned(),
                _ => format!("{} {}", self.state_clause(formula, mood), anchor.at_step()),
            };
        }
        if let Some(phrase) = self.phrase_within(formula, anchor, mood) {
            return phrase;
        }
        match self.node(formula) {
            Node::Not(a) => {
                format!(
                    "it {} the case that [{}]",
                    must(mood, "must not be", "is not"),
                    self.phrase(*a, anchor, Mood::Is)
                )
            }
            Node::And(all) => self.join_phrases(all, ", and ", anchor, mood),
            Node::Or(all) => match self.premise(all) {
                Some((premise, rest)) if mood == Mood::Must => {
                    format!(
                        "if {}, {}",
                        self.premise_clause(&premise, anchor),
                        self.join_phrases(&rest, ", or ", anchor, mood)
                    )
                }
                _ => format!("either {}", self.join_phrases(all, ", or ", anchor, mood)),
            },
            Node::Binary(Binary::Implies, [a, b]) => {
                format!("if {}, {}", self.bracketed(*a, anchor, Mood::Is), self.bracketed(*b, anchor, mood))
            }
            Node::Binary(Binary::Iff, [a, b]) => format!(
                "{}[{}] exactly when [{}]",
                must(mood, "it must be that ", ""),
                self.phrase(*a, anchor, Mood::Is),
                self.phrase(*b, anchor, Mood::Is)
            ),
            Node::Unary(operator, a) => self.phrase_unary(*operator, *a, anchor, mood),
            Node::Binary(operator, [a, b]) => self.phrase_binary(*operator, *a, *b, anchor, mood),
            Node::Causal(Causal::At, lifeline, a) => {
                format!("at the latest visible event of `{lifeline}`, {}", self.bracketed(*a, Anchor::That, mood))
            }
            Node::Causal(Causal::PastAt, lifeline, a) => {
                format!("at some visible event of `{lifeline}`, {}", self.bracketed(*a, Anchor::That, mood))
            }
            Node::Seen(lifeline) => {
                format!("some event of `{lifeline}` {} visible", must(mood, "must be", "is"))
            }
            Node::True | Node::False | Node::Atom(_) => unreachable!("state formulas return above"),
        }
    }

    pub(super) fn join_phrases(&self, all: &[Formula], between: &str, anchor: Anchor, mood: Mood) -> String {
        if let [one] = all {
            return self.phrase(*one, anchor, mood);
        }
        let each: Vec<String> = all.iter().map(|a| self.bracketed(*a, anchor, mood)).collect();
        each.join(between)
    }

    fn phrase_unary(&self, operator: Unary, a: Formula, anchor: Anchor, mood: Mood) -> String {
        let state = self.is_state_formula(a);
        match operator {
            Unary::Finally if matches!(self.node(a), Node::True) => match anchor {
                Anchor::First => format!("there {} a step", must(mood, "must be", "is")),
                Anchor::Next => format!("there {} a next step", must(mood, "must be", "is")),
                Anchor::That => format!("that step {}", must(mood, "must exist", "exists")),
            },
            Unary::Globally if matches!(self.node(a), Node::False) => match anchor {
                Anchor::First => format!("there {} no step", must(mood, "must be", "is")),
                _ => format!("the run {} here", must(mood, "must end", "ends")),
            },
            Unary::Finally if state && self.negated_atom(a).is_none() => {
                format!("{} {}", self.state_clause(a, mood), anchor.or_later())
            }
            Unary::Finally => {
                if let Node::Unary(Unary::Globally, b) = self.node(a)
                    && self.is_state_formula(*b)
                {
                    return format!("from some step on, {} at every step", self.state_clause(*b, mood));
                }
                format!("{} {}", anchor.or_later(), self.phrase_at_that_step(a, mood))
            }
            Unary::Globally => self.phrase_globally(a, anchor, mood),
            Unary::Next => match self.node(a) {
                Node::True => format!("there {} a step {}", must(mood, "must be", "is"), anchor.strictly_after()),
                Node::Unary(Unary::Finally, b) => {
                    format!("at some step {}, {}", anchor.strictly_after(), self.phrase_at_that_step(*b, mood))
                }
                _ if state => format!(
                    "there {} a step right {}, and {} there",
                    must(mood, "must be", "is"),
                    anchor.strictly_after(),
                    self.state_clause(a, mood)
                ),
                _ => format!(
                    "there {} a step right {}, and, starting there, {}",
                    must(mood, "must be", "is"),
                    anchor.strictly_after(),
                    self.bracketed(a, Anchor::That, mood)
                ),
            },
            Unary::WeakNext => match self.node(a) {
                Node::False => format!("there {} no step {}", must(mood, "must be", "is"), anchor.strictly_after()),
                Node::Unary(Unary::Globally, b) if self.is_state_formula(*b) => match self.negated_atom(*b) {
                    Some(atom) => {
                        format!("{atom} {} {}", must(mood, "must never hold", "never holds"), anchor.strictly_after())
                    }
                    None => format!("{} at every step {}", self.state_clause(*b, mood), anchor.strictly_after()),
                },
                _ if state => {
                    format!(
                        "{} at the step right {}, if there is one",
                        self.state_clause(a, mood),
                        anchor.strictly_after()
                    )
                }
                _ => format!(
                    "if there is a step right {}, then, starting there, {}",
                    anchor.strictly_after(),
                    self.bracketed(a, Anchor::That, mood)
                ),
            },
            Unary::Yesterday => format!("at the step before, {}", self.phrase_at_that_step(a, mood)),
            Unary::Once if state && self.negated_atom(a).is_none() => {
                format!("{} {} at or before that step", self.noun_phrase(a), must(mood, "must have held", "has held"))
            }
            Unary::Once => format!("at that step or an earlier one, {}", self.phrase_at_that_step(a, mood)),
            Unary::Historically => {
                format!("at that step and at every earlier one, {}", self.phrase_at_that_step(a, mood))
            }
            Unary::Past => format!("at some event in the causal past, {}", self.phrase_at_that_step(a, mood)),
        }
    }

    /// The phrase for a formula at the step that the sentence has just mentioned.
    fn phrase_at_that_step(&self, a: Formula, mood: Mood) -> String {
        match self.node(a) {
            _ if self.is_state_formula(a) => self.state_clause(a, mood),
            // Conjuncts about that step come first, so that "that step" in the others still refers to it.
            Node::And(all) => {
                let (now, later): (Vec<Formula>, Vec<Formula>) = all.iter().partition(|a| self.is_state_formula(**a));
                let mut phrases: Vec<String> = now.iter().map(|a| self.state_clause(*a, mood)).collect();
                match later.as_slice() {
                    [last] => phrases.push(self.phrase(*last, Anchor::That, mood)),
                    several => phrases.extend(several.iter().map(|a| self.bracketed(*a, Anchor::That, mood))),
                }
                phrases.join(", and ")
            }
            _ => self.bracketed(a, Anchor::That, mood),
        }
    }

    fn phrase_globally(&self, a: Formula, anchor: Anchor, mood: Mood) -> String {
        if let Some(atom) = self.negated_atom(a) {
            return format!("{atom} {}{}", must(mood, "must never hold", "never holds"), anchor.starting_at_step());
        }
        if let Some(atoms) = self.exclusive_atoms(a) {
            return format!(
                "{atoms} {} together{}",
                must(mood, "must never hold", "never hold"),
                anchor.starting_at_step()
            );
        }
        let whenever = if anchor == Anchor::That { "whenever, from that step on," } else { "whenever" };
        let implication = match self.node(a) {
            Node::Binary(Binary::Implies, [premise, rest]) => Some((vec![*premise], vec![*rest])),
            Node::Or(all) => self.premise(all),
            _ => None,
        };
        match implication {
            Some((premise, rest)) if mood == Mood::Must => {
                format!(
                    "{whenever} {}, {}",
                    self.premise_clause(&premise, Anchor::That),
                    self.join_phrases(&rest, ", or ", Anchor::That, mood)
                )
            }
            _ if self.is_state_formula(a) => {
                format!("{} at every step{}", self.state_clause(a, mood), anchor.starting_at_step())
            }
            _ => format!("at every step{}, {}", anchor.starting_at_step(), self.phrase_at_that_step(a, mood)),
        }
    }

    /// Reads a disjunction as an implication: the operands of its negated state formulas are the premise, the others
    /// the conclusion. `None` if one of the two is empty.
    fn premise(&self, all: &[Formula]) -> Option<(Vec<Formula>, Vec<Formula>)> {
        let (negated_atom, rest): (Vec<Formula>, Vec<Formula>) =
            all.iter().partition(|a| matches!(self.node(**a), Node::Not(_)) && self.is_state_formula(**a));
        let premise: Vec<Formula> = negated_atom.iter().flat_map(|a| self.node(*a).children().to_vec()).collect();
        (!premise.is_empty() && !rest.is_empty()).then_some((premise, rest))
    }

    fn premise_clause(&self, premise: &[Formula], anchor: Anchor) -> String {
        let states = premise.iter().all(|a| self.is_state_formula(*a));
        let suffix = if anchor == Anchor::That { String::new() } else { format!(" {}", anchor.at_step()) };
        match premise {
            [one] if states => format!("{}{suffix}", self.state_clause(*one, Mood::Is)),
            [one] => match self.node(*one) {
                Node::And(all) => {
                    let each = all.iter().map(|a| {
                        if self.is_state_formula(*a) {
                            self.state_clause(*a, Mood::Is)
                        } else {
                            self.bracketed(*a, anchor, Mood::Is)
                        }
                    });
                    each.collect::<Vec<_>>().join(" and ")
                }
                _ => self.bracketed(*one, anchor, Mood::Is),
            },
            many => {
                let nouns: Vec<String> = many.iter().map(|a| self.noun_phrase(*a)).collect();
                format!("{} hold{suffix}", nouns.join(" and "))
            }
        }
    }

    fn phrase_binary(&self, operator: Binary, a: Formula, b: Formula, anchor: Anchor, mood: Mood) -> String {
        let each = if self.negated_atom(a).is_some() { "any" } else { "every" };
        let before = match self.negated_atom(a) {
            Some(atom) => format!("{atom} {}", must(mood, "must not hold", "does not hold")),
            None if self.is_state_formula(a) => self.state_clause(a, mood),
            None => format!("[{}]", self.phrase(a, Anchor::That, mood)),
        };
        let comes = format!("{} {}", anchor.or_later(), self.phrase_at_that_step(b, mood));
        match operator {
            Binary::Until if self.is_state_formula(b) && self.negated_atom(b).is_none() => {
                format!("{} {}, and {before} at {each} step before it", self.state_clause(b, mood), anchor.or_later())
            }
            Binary::Until => format!("{comes}, and at every step before it {before}"),
            Binary::WeakUntil => format!(
                "{before} at {each} step{} before {}",
                anchor.starting_at_step(),
                if self.is_state_formula(b) {
                    format!("the first at which {}", self.state_clause(b, Mood::Is))
                } else {
                    format!("the first at which [{}]", self.phrase(b, Anchor::That, Mood::Is))
                }
            ),
            Binary::Release | Binary::StrongRelease => {
                let held = match self.negated_atom(b) {
                    Some(atom) => format!("{atom} {}", must(mood, "must not hold", "does not hold")),
                    None if self.is_state_formula(b) => self.state_clause(b, mood),
                    None => format!("[{}]", self.phrase(b, Anchor::That, mood)),
                };
                let first = if self.is_state_formula(a) {
                    format!("the first at which {}", self.state_clause(a, Mood::Is))
                } else {
                    format!("the first at which [{}]", self.phrase(a, Anchor::That, Mood::Is))
                };
                let tail = match operator {
                    Binary::Release => ", or at every step if there is no such step",
                    _ => must(mood, ", and there must be such a step", ", and there is such a step"),
                };
                format!("{held} at every step{} up to and including {first}{tail}", anchor.starting_at_step())
            }
            Binary::Since => {
                format!(
                    "at that step or an earlier one, {}, and {before} at every step since",
                    self.phrase_at_that_step(b, mood)
                )
            }
            Binary::Implies | Binary::Iff => unreachable!("the caller handles arrows"),
        }
    }

    /// A bounded eventuality as [`Formulas::finally_within`] builds it: `p | X (p | X p)` is "within three steps".
    fn phrase_within(&self, formula: Formula, anchor: Anchor, mood: Mood) -> Option<String> {
        let mut steps = 1u32;
        let mut at = formula;
        let mut held = None;
        while let Node::Or(all) = self.node(at) {
            // `finally_within` nests two operands per step; a longer disjunction is something else.
            let [a, b] = all[..] else { return None };
            let (now, later) = match (self.node(a), self.node(b)) {
                (_, Node::Unary(Unary::Next, later)) => (a, *later),
                (Node::Unary(Unary::Next, later), _) => (b, *later),
                _ => break,
            };
            if *held.get_or_insert(now) != now {
                return None;
            }
            steps += 1;
            at = later;
        }
        let held = held.filter(|held| *held == at && self.is_state_formula(*held))?;
        Some(match anchor {
            Anchor::First => format!("{} at one of the first {steps} steps", self.state_clause(held, mood)),
            Anchor::Next => format!("{} at one of the next {steps} steps", self.state_clause(held, mood)),
            Anchor::That => format!("{} at that step or one of the next {}", self.state_clause(held, mood), steps - 1),
        })
    }

    /// A copy of the formula in another arena, with `a -> b` instead of the `!a | b` of its normal form: easier to read.
    pub(super) fn with_implications(&self, formula: Formula, into: &mut Formulas) -> Formula {
        let mut made = std::collections::HashMap::new();
        for part in self.subformulas(formula) {
            let of = |f: &Formula| made[f];
            let copy = match self.node(part) {
                Node::True => into.truth(),
                Node::False => into.falsity(),
                Node::Atom(atom) => into.atomic(self.atom(*atom).clone()),
                Node::Not(a) => into.not(of(a)),
                // State formulas first, as a person would write the conjunction.
                Node::And(all) => {
                    let (now, later): (Vec<Formula>, Vec<Formula>) =
                        all.iter().partition(|a| self.is_state_formula(**a));
                    into.and(now.iter().chain(&later).map(of))
                }
                Node::Or(all) => match self.premise(all) {
                    Some((premise, rest)) => {
                        let premise = into.and(premise.iter().map(of));
                        let rest = into.or(rest.iter().map(of));
                        into.implies(premise, rest)
                    }
                    None => into.or(all.iter().map(of)),
                },
                Node::Unary(operator, a) => into.unary(*operator, of(a)),
                Node::Binary(operator, [a, b]) => into.binary(*operator, of(a), of(b)),
                Node::Causal(operator, lifeline, a) => into.causal(*operator, lifeline, of(a)),
                Node::Seen(lifeline) => into.seen(lifeline),
            };
            made.insert(part, copy);
        }
        made[&formula]
    }
}

/// Picks the wording for the mood.
fn must(mood: Mood, must: &'static str, is: &'static str) -> &'static str {
    match mood {
        Mood::Must => must,
        Mood::Is => is,
    }
}
