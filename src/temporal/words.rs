//! Formulas in English words, for prompts and reports.
//!
//! Everything is said of steps. Where one thing is said inside another, brackets keep them apart, and *that step* is
//! the one spoken of last.

use super::formula::{Binary, Causal, Formula, Formulas, Node, Unary};
use super::progression::{Owed, Progression, Standing};

/// A formula with more nodes than this, written out, is not put into words.
const SAID: usize = 600;

/// A formula with more nodes than this is not written out.
const WRITTEN: usize = 4_000;

/// What is said of a formula: that it must be so, or that it is so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mood {
    Must,
    Is,
}

/// The step that a formula speaks of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Here {
    First,
    Next,
    That,
}

impl Here {
    fn at(self) -> &'static str {
        match self {
            Self::First => "at the first step",
            Self::Next => "at the next step",
            Self::That => "at that step",
        }
    }

    /// What narrows "at every step" down to those from this one on.
    fn on(self) -> &'static str {
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
    /// What a formula asks of a run, said from its first step. Never empty.
    pub fn words(&self, formula: Formula) -> String {
        self.said(formula, Here::First)
    }

    fn said(&self, formula: Formula, here: Here) -> String {
        let unfolded = self.unfolded(formula);
        if unfolded > SAID {
            return format!("what a formula of {} parts asks", self.subformulas(formula).len());
        }
        match self.node(formula) {
            Node::True => "nothing is asked".to_owned(),
            Node::False => "what cannot be is asked".to_owned(),
            // At the top, brackets are needed around nothing but alternatives.
            Node::And(all) => {
                let each: Vec<String> = all.iter().map(|a| self.say(*a, here, Mood::Must)).collect();
                each.join("; ")
            }
            _ => self.say(formula, here, Mood::Must),
        }
    }

    /// How many nodes a formula has where shared ones are written out each time.
    fn unfolded(&self, formula: Formula) -> usize {
        let mut sizes = std::collections::HashMap::new();
        for part in self.subformulas(formula) {
            let size = self.node(part).children().iter().fold(1usize, |sum, child| sum.saturating_add(sizes[child]));
            sizes.insert(part, size);
        }
        sizes[&formula]
    }

    /// Whether it speaks of one step alone.
    fn is_state(&self, formula: Formula) -> bool {
        match self.node(formula) {
            Node::True | Node::False | Node::Atom(_) => true,
            Node::Not(a) => self.is_state(*a),
            Node::And(all) | Node::Or(all) => all.iter().all(|a| self.is_state(*a)),
            Node::Binary(Binary::Implies | Binary::Iff, both) => both.iter().all(|a| self.is_state(*a)),
            _ => false,
        }
    }

    fn atom_words(&self, formula: Formula) -> Option<String> {
        match self.node(formula) {
            Node::Atom(atom) => {
                let text = self.atom_text(self.atom(*atom));
                let fence = if text.contains('`') { "``" } else { "`" };
                Some(format!("{fence}{text}{fence}"))
            }
            _ => None,
        }
    }

    /// The atom of `!a`, in words.
    fn denied(&self, formula: Formula) -> Option<String> {
        match self.node(formula) {
            Node::Not(a) => self.atom_words(*a),
            _ => None,
        }
    }

    fn is_literal(&self, formula: Formula) -> bool {
        matches!(self.node(formula), Node::Atom(_)) || self.denied(formula).is_some()
    }

    /// The atoms of `!a | !b` or `!(a & b)`, in words.
    fn all_denied(&self, formula: Formula) -> Option<String> {
        let atoms: Option<Vec<String>> = match self.node(formula) {
            Node::Or(all) => all.iter().map(|a| self.denied(*a)).collect(),
            Node::Not(a) => match self.node(*a) {
                Node::And(all) => all.iter().map(|a| self.atom_words(*a)).collect(),
                _ => None,
            },
            _ => None,
        };
        Some(atoms?.join(" and "))
    }

    /// A formula about one step as a noun: `a` and not `b`.
    fn noun(&self, formula: Formula) -> String {
        if let Some(atom) = self.atom_words(formula) {
            return atom;
        }
        let inner = |a: &Formula| match self.node(*a) {
            Node::And(_) | Node::Or(_) | Node::Binary(..) => format!("({})", self.noun(*a)),
            _ => self.noun(*a),
        };
        match self.node(formula) {
            Node::True => "anything".to_owned(),
            Node::False => "the impossible".to_owned(),
            Node::Not(a) => format!("not {}", inner(a)),
            Node::And(all) => all.iter().map(inner).collect::<Vec<_>>().join(" and "),
            Node::Or(all) => all.iter().map(inner).collect::<Vec<_>>().join(" or "),
            Node::Binary(Binary::Implies, [a, b]) => format!("{} or not {}", inner(b), inner(a)),
            Node::Binary(_, [a, b]) => format!("{} exactly when {}", inner(a), inner(b)),
            _ => format!("`{}`", self.text(formula)),
        }
    }

    /// "`a` must hold" or "`a` does not hold", for a formula about one step.
    fn holds(&self, formula: Formula, mood: Mood) -> String {
        match self.node(formula) {
            Node::And(all)
                if all.iter().all(|a| self.is_literal(*a)) && all.iter().any(|a| self.denied(*a).is_some()) =>
            {
                return all.iter().map(|a| self.holds(*a, mood)).collect::<Vec<_>>().join(" and ");
            }
            Node::Or(_) | Node::Not(_) => {
                if let Some(atoms) = self.all_denied(formula) {
                    return format!("{atoms} {} together", must(mood, "must not hold", "do not hold"));
                }
            }
            _ => {}
        }
        match (self.denied(formula), mood) {
            (Some(atom), Mood::Must) => format!("{atom} must not hold"),
            (Some(atom), Mood::Is) => format!("{atom} does not hold"),
            (None, Mood::Must) => format!("{} must hold", self.noun(formula)),
            (None, Mood::Is) => match self.node(formula) {
                Node::And(_) => format!("{} hold", self.noun(formula)),
                _ => format!("{} holds", self.noun(formula)),
            },
        }
    }

    /// The same in brackets, where it is more than one thing.
    fn enclosed(&self, formula: Formula, here: Here, mood: Mood) -> String {
        let said = self.say(formula, here, mood);
        if !said.contains(',') && !said.starts_with("either ") && !said.starts_with("it ") {
            said
        } else {
            format!("[{said}]")
        }
    }

    fn say(&self, formula: Formula, here: Here, mood: Mood) -> String {
        if self.is_state(formula) {
            return match (self.node(formula), mood) {
                (Node::True, Mood::Must) => format!("nothing is asked {}", here.at()),
                (Node::False, Mood::Must) => "what cannot be is asked".to_owned(),
                _ => format!("{} {}", self.holds(formula, mood), here.at()),
            };
        }
        if let Some(said) = self.say_within(formula, here, mood) {
            return said;
        }
        match self.node(formula) {
            Node::Not(a) => {
                format!("it {} the case that [{}]", must(mood, "must not be", "is not"), self.say(*a, here, Mood::Is))
            }
            Node::And(all) => self.listed(all, ", and ", here, mood),
            Node::Or(all) => match self.premise(all) {
                Some((premise, rest)) if mood == Mood::Must => {
                    format!("if {}, {}", self.premise_words(&premise, here), self.listed(&rest, ", or ", here, mood))
                }
                _ => format!("either {}", self.listed(all, ", or ", here, mood)),
            },
            Node::Binary(Binary::Implies, [a, b]) => {
                format!("if {}, {}", self.enclosed(*a, here, Mood::Is), self.enclosed(*b, here, mood))
            }
            Node::Binary(Binary::Iff, [a, b]) => format!(
                "{}[{}] exactly when [{}]",
                must(mood, "it must be that ", ""),
                self.say(*a, here, Mood::Is),
                self.say(*b, here, Mood::Is)
            ),
            Node::Unary(operator, a) => self.say_unary(*operator, *a, here, mood),
            Node::Binary(operator, [a, b]) => self.say_binary(*operator, *a, *b, here, mood),
            Node::Causal(Causal::At, lifeline, a) => {
                format!("at the latest visible event of `{lifeline}`, {}", self.enclosed(*a, Here::That, mood))
            }
            Node::Causal(Causal::PastAt, lifeline, a) => {
                format!("at some visible event of `{lifeline}`, {}", self.enclosed(*a, Here::That, mood))
            }
            Node::Seen(lifeline) => {
                format!("some event of `{lifeline}` {} visible", must(mood, "must be", "is"))
            }
            Node::True | Node::False | Node::Atom(_) => unreachable!("these speak of one step and were said above"),
        }
    }

    fn listed(&self, all: &[Formula], between: &str, here: Here, mood: Mood) -> String {
        if let [one] = all {
            return self.say(*one, here, mood);
        }
        let each: Vec<String> = all.iter().map(|a| self.enclosed(*a, here, mood)).collect();
        each.join(between)
    }

    fn say_unary(&self, operator: Unary, a: Formula, here: Here, mood: Mood) -> String {
        let state = self.is_state(a);
        match operator {
            Unary::Finally if matches!(self.node(a), Node::True) => match here {
                Here::First => format!("there {} a step", must(mood, "must be", "is")),
                Here::Next => format!("there {} a next step", must(mood, "must be", "is")),
                Here::That => format!("there {} that step", must(mood, "must be", "is")),
            },
            Unary::Globally if matches!(self.node(a), Node::False) => match here {
                Here::First => format!("there {} no step", must(mood, "must be", "is")),
                _ => format!("the run {} here", must(mood, "must end", "ends")),
            },
            Unary::Finally if state && self.denied(a).is_none() => {
                format!("{} {}", self.holds(a, mood), here.or_later())
            }
            Unary::Finally => {
                if let Node::Unary(Unary::Globally, b) = self.node(a)
                    && self.is_state(*b)
                {
                    return format!("from some step on, {} at every step", self.holds(*b, mood));
                }
                format!("{} {}", here.or_later(), self.at_that(a, mood))
            }
            Unary::Globally => self.say_always(a, here, mood),
            Unary::Next => match self.node(a) {
                Node::True => format!("there {} a step {}", must(mood, "must be", "is"), here.strictly_after()),
                Node::Unary(Unary::Finally, b) => {
                    format!("at some step {}, {}", here.strictly_after(), self.at_that(*b, mood))
                }
                _ if state => format!(
                    "there {} a step right {}, and {} at it",
                    must(mood, "must be", "is"),
                    here.strictly_after(),
                    self.holds(a, mood)
                ),
                _ => format!(
                    "there {} a step right {}, and, seen from it, {}",
                    must(mood, "must be", "is"),
                    here.strictly_after(),
                    self.enclosed(a, Here::That, mood)
                ),
            },
            Unary::WeakNext => match self.node(a) {
                Node::False => format!("there {} no step {}", must(mood, "must be", "is"), here.strictly_after()),
                Node::Unary(Unary::Globally, b) if self.is_state(*b) => match self.denied(*b) {
                    Some(atom) => {
                        format!("{atom} {} {}", must(mood, "must never hold", "never holds"), here.strictly_after())
                    }
                    None => format!("{} at every step {}", self.holds(*b, mood), here.strictly_after()),
                },
                _ if state => {
                    format!("{} at the step right {}, if there is one", self.holds(a, mood), here.strictly_after())
                }
                _ => format!(
                    "if there is a step right {}, then, seen from it, {}",
                    here.strictly_after(),
                    self.enclosed(a, Here::That, mood)
                ),
            },
            Unary::Yesterday => format!("at the step before, {}", self.at_that(a, mood)),
            Unary::Once if state && self.denied(a).is_none() => {
                format!("{} {} at or before that step", self.noun(a), must(mood, "must have held", "has held"))
            }
            Unary::Once => format!("at some step up to there, {}", self.at_that(a, mood)),
            Unary::Historically => format!("at every step up to there, {}", self.at_that(a, mood)),
            Unary::Past => format!("at some event in the causal past, {}", self.at_that(a, mood)),
        }
    }

    /// What is said of a step that was just named.
    fn at_that(&self, a: Formula, mood: Mood) -> String {
        match self.node(a) {
            _ if self.is_state(a) => self.holds(a, mood),
            // The first part speaks of that step, the others go on from it.
            Node::And(all) => {
                let (now, later): (Vec<Formula>, Vec<Formula>) = all.iter().partition(|a| self.is_state(**a));
                let mut said: Vec<String> = now.iter().map(|a| self.holds(*a, mood)).collect();
                match later.as_slice() {
                    [last] => said.push(self.say(*last, Here::That, mood)),
                    several => said.extend(several.iter().map(|a| self.enclosed(*a, Here::That, mood))),
                }
                said.join(", and ")
            }
            _ => self.enclosed(a, Here::That, mood),
        }
    }

    fn say_always(&self, a: Formula, here: Here, mood: Mood) -> String {
        if let Some(atom) = self.denied(a) {
            return format!("{atom} {}{}", must(mood, "must never hold", "never holds"), here.on());
        }
        if let Some(atoms) = self.all_denied(a) {
            return format!("{atoms} {} together{}", must(mood, "must never hold", "never hold"), here.on());
        }
        let whenever = if here == Here::That { "whenever, from that step on," } else { "whenever" };
        let implication = match self.node(a) {
            Node::Binary(Binary::Implies, [premise, rest]) => Some((vec![*premise], vec![*rest])),
            Node::Or(all) => self.premise(all),
            _ => None,
        };
        match implication {
            Some((premise, rest)) if mood == Mood::Must => {
                format!(
                    "{whenever} {}, {}",
                    self.premise_words(&premise, Here::That),
                    self.listed(&rest, ", or ", Here::That, mood)
                )
            }
            _ if self.is_state(a) => format!("{} at every step{}", self.holds(a, mood), here.on()),
            _ => format!("at every step{}, {}", here.on(), self.at_that(a, mood)),
        }
    }

    /// What an alternative denies, as what it takes for the rest to be asked.
    fn premise(&self, all: &[Formula]) -> Option<(Vec<Formula>, Vec<Formula>)> {
        let (denied, rest): (Vec<Formula>, Vec<Formula>) =
            all.iter().partition(|a| matches!(self.node(**a), Node::Not(_)) && self.is_state(**a));
        let premise: Vec<Formula> = denied.iter().flat_map(|a| self.node(*a).children().to_vec()).collect();
        (!premise.is_empty() && !rest.is_empty()).then_some((premise, rest))
    }

    fn premise_words(&self, premise: &[Formula], here: Here) -> String {
        let states = premise.iter().all(|a| self.is_state(*a));
        let suffix = if here == Here::That { String::new() } else { format!(" {}", here.at()) };
        match premise {
            [one] if states => format!("{}{suffix}", self.holds(*one, Mood::Is)),
            [one] => match self.node(*one) {
                Node::And(all) => {
                    let each = all.iter().map(|a| {
                        if self.is_state(*a) { self.holds(*a, Mood::Is) } else { self.enclosed(*a, here, Mood::Is) }
                    });
                    each.collect::<Vec<_>>().join(" and ")
                }
                _ => self.enclosed(*one, here, Mood::Is),
            },
            many => {
                let nouns: Vec<String> = many.iter().map(|a| self.noun(*a)).collect();
                format!("{} hold{suffix}", nouns.join(" and "))
            }
        }
    }

    fn say_binary(&self, operator: Binary, a: Formula, b: Formula, here: Here, mood: Mood) -> String {
        let each = if self.denied(a).is_some() { "any" } else { "every" };
        let before = match self.denied(a) {
            Some(atom) => format!("{atom} {}", must(mood, "must not hold", "does not hold")),
            None if self.is_state(a) => self.holds(a, mood),
            None => format!("[{}]", self.say(a, Here::That, mood)),
        };
        let comes = format!("{} {}", here.or_later(), self.at_that(b, mood));
        match operator {
            Binary::Until if self.is_state(b) && self.denied(b).is_none() => {
                format!("{} {}, and {before} at {each} step before it", self.holds(b, mood), here.or_later())
            }
            Binary::Until => format!("{comes}, and at every step before it {before}"),
            Binary::WeakUntil => format!(
                "{before} at {each} step{} before {}",
                here.on(),
                if self.is_state(b) {
                    format!("the first at which {}", self.holds(b, Mood::Is))
                } else {
                    format!("the first of which this is so: [{}]", self.say(b, Here::That, Mood::Is))
                }
            ),
            Binary::Release | Binary::StrongRelease => {
                let held = match self.denied(b) {
                    Some(atom) => format!("{atom} {}", must(mood, "must not hold", "does not hold")),
                    None if self.is_state(b) => self.holds(b, mood),
                    None => format!("[{}]", self.say(b, Here::That, mood)),
                };
                let first = if self.is_state(a) {
                    format!("the first at which {}", self.holds(a, Mood::Is))
                } else {
                    format!("the first of which this is so: [{}]", self.say(a, Here::That, Mood::Is))
                };
                let tail = if operator == Binary::Release { ", or for ever if none is" } else { ", which must come" };
                format!("{held} at every step{} up to and with {first}{tail}", here.on())
            }
            Binary::Since => {
                format!("at some step up to there, {}, and {before} at every step since", self.at_that(b, mood))
            }
            Binary::Implies | Binary::Iff => unreachable!("said by the caller"),
        }
    }

    /// `p | X (p | X p)`: within three steps.
    fn say_within(&self, formula: Formula, here: Here, mood: Mood) -> Option<String> {
        let mut steps = 1u32;
        let mut at = formula;
        let mut held = None;
        while let Node::Or(all) = self.node(at) {
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
        let held = held.filter(|held| *held == at && self.is_state(*held))?;
        Some(match here {
            Here::First => format!("{} at one of the first {steps} steps", self.holds(held, mood)),
            Here::Next => format!("{} at one of the next {steps} steps", self.holds(held, mood)),
            Here::That => format!("{} at that step or one of the next {}", self.holds(held, mood), steps - 1),
        })
    }

    /// The formula with `a -> b` where its normal form has `!a | b`, written into another arena.
    fn with_arrows(&self, formula: Formula, into: &mut Formulas) -> Formula {
        let mut made = std::collections::HashMap::new();
        for part in self.subformulas(formula) {
            let of = |f: &Formula| made[f];
            let copy = match self.node(part) {
                Node::True => into.truth(),
                Node::False => into.falsity(),
                Node::Atom(atom) => into.atomic(self.atom(*atom).clone()),
                Node::Not(a) => into.not(of(a)),
                // What is said of one step goes first.
                Node::And(all) => {
                    let (now, later): (Vec<Formula>, Vec<Formula>) = all.iter().partition(|a| self.is_state(**a));
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

impl Progression {
    /// What is owed as the text of a formula; where that would be very long, how many parts it has.
    pub fn text(&mut self, owed: Owed) -> String {
        let residual = self.residual(owed);
        let formulas = self.formulas();
        if formulas.unfolded(residual) > WRITTEN {
            return format!("(a formula of {} parts)", formulas.subformulas(residual).len());
        }
        let mut shown = Formulas::new();
        let copy = formulas.with_arrows(residual, &mut shown);
        shown.text(copy)
    }

    /// What is owed in words, said before the next step. Never empty.
    pub fn words(&mut self, owed: Owed) -> String {
        match self.standing(owed) {
            Standing::Satisfied => return "nothing: the rule is satisfied whatever comes".to_owned(),
            Standing::Violated => return "the rule is violated, and nothing can repair it".to_owned(),
            Standing::Undecided => {}
        }
        let residual = self.residual(owed);
        let formulas = self.formulas();
        if let Node::Or(parts) = formulas.node(residual)
            && let Some(empty) = parts.iter().position(|a| formulas.is_empty_run(*a))
        {
            let rest: Vec<Formula> = parts.iter().enumerate().filter(|(i, _)| *i != empty).map(|(_, a)| *a).collect();
            return match rest.as_slice() {
                [one] => format!("if there is a next step, {}", formulas.said(*one, Here::Next)),
                _ if formulas.unfolded(residual) > SAID => formulas.said(residual, Here::Next),
                many => format!(
                    "if there is a next step, either {}",
                    formulas.listed(many, ", or ", Here::Next, Mood::Must)
                ),
            };
        }
        formulas.said(residual, Here::Next)
    }
}

impl Formulas {
    /// `G false`, which is true of the empty run alone.
    fn is_empty_run(&self, formula: Formula) -> bool {
        matches!(self.node(formula), Node::Unary(Unary::Globally, a) if matches!(self.node(*a), Node::False))
    }
}

fn must(mood: Mood, must: &'static str, is: &'static str) -> &'static str {
    match mood {
        Mood::Must => must,
        Mood::Is => is,
    }
}
