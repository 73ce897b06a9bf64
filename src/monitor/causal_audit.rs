//! The causal rules of a policy, followed over the events of a log.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use super::audit::{FAILING_SHOWN, RuleFinding, Verdict};
use super::causal_witness::{self, Clause};
use super::log::{Mapping, Shape, Step, read_as_one};
use super::policy::{PolicyRule, Scope};
use crate::temporal::causal::{CausalError, Event, EventAction as Kind, GuardError, Guards, Monitor, VectorClock};
use crate::temporal::{Formula, Formulas, Literal, Node};

/// Why causal rules and a log do not fit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Misfit {
    /// The log does not tell whose an event is.
    #[error("rule `{rule}` is causal, and nothing says which field of the log names the lifeline (map `lifeline`)")]
    NoLifelines {
        /// The rule.
        rule: String,
    },
    /// The guards cannot be loaded.
    #[error(transparent)]
    Guard(#[from] GuardError),
    /// An event that cannot be.
    #[error("line {line}: {why}")]
    Event {
        /// Its line.
        line: u64,
        /// Why.
        why: CausalError,
    },
    /// What an event is, is not known.
    #[error("line {line}: an event is `act`, `choice`, `send` or `recv`, not `{kind}`")]
    Kind {
        /// Its line.
        line: u64,
        /// What the log says.
        kind: String,
    },
    /// A rule reads a field of one call.
    #[error(
        "rule `{rule}` is causal and sees each event as a whole, which may call several tools: instead of `{field}` write \
         `{spelling}`"
    )]
    OneCall {
        /// The rule.
        rule: String,
        /// The field.
        field: String,
        /// What to write.
        spelling: String,
    },
    /// A lifeline of a rule has no event in the log.
    #[error("unknown lifeline `{lifeline}` (the log has: {known})")]
    Lifeline {
        /// Its name.
        lifeline: String,
        /// Those of the log.
        known: String,
    },
}

/// That a causal formula reads the fields of calls by `any` and `every` alone.
pub(super) fn sees_events_whole(
    formulas: &Formulas,
    formula: Formula,
    rule: &str,
    mapping: &Mapping,
) -> Result<(), Misfit> {
    if mapping.tool_call.is_none() || mapping.shape == Some(Shape::Journal) {
        return Ok(());
    }
    match read_as_one(formulas, &[formula]).into_iter().find(|(field, _)| is_of_call(field)) {
        Some((field, spelling)) => Err(Misfit::OneCall { rule: rule.to_owned(), field, spelling }),
        None => Ok(()),
    }
}

/// Whether a field is one of a tool call.
pub(super) fn is_of_call(field: &str) -> bool {
    matches!(field, "tool.name" | "tool.input") || field.starts_with("tool.input.")
}

/// A rule's guards, by number.
#[derive(Clone)]
struct Followed {
    /// The rule's place in the policy.
    number: usize,
    rule: PolicyRule,
    owner: String,
    when: Option<usize>,
    guard: usize,
    /// The parts of a conjunction, or the one that it is, so that the one that is false can be named.
    parts: Vec<(usize, Clause)>,
    asked: u64,
    failing: Vec<u64>,
    failing_count: u64,
    witness: Vec<String>,
}

/// Causal rules on their way through a log.
#[derive(Clone)]
pub(super) struct CausalAudit {
    monitor: Monitor,
    rules: Vec<Followed>,
    named: BTreeSet<String>,
    seen: BTreeSet<String>,
    /// How many events each lifeline has had.
    counts: HashMap<String, u64>,
    /// Whether the lifelines were known before the first event.
    closed: bool,
    /// Where an event tells how many events of each lifeline it could know of.
    clock_fields: Vec<String>,
}

impl CausalAudit {
    /// `None` where no rule is causal.
    pub(super) fn new(formulas: &Formulas, rules: &[PolicyRule], mapping: &Mapping) -> Result<Option<Self>, Misfit> {
        let mut formulas = formulas.clone();
        let mut guards = Vec::new();
        let mut owners = Vec::new();
        let mut followed = Vec::new();
        let mut named = BTreeSet::new();
        for (number, rule) in rules.iter().enumerate() {
            let Scope::Causal { owner, when } = &rule.scope else { continue };
            if mapping.lifeline.is_none() {
                return Err(Misfit::NoLifelines { rule: rule.id.clone() });
            }
            named.insert(owner.clone());
            let mut add = |formulas: &Formulas, formula: Formula| {
                named.extend(lifelines_of(formulas, formula));
                guards.push(formula);
                owners.push(owner.clone());
                guards.len() - 1
            };
            let guard = add(&formulas, rule.formula);
            let when = when.map(|when| add(&formulas, when));
            let parts = match formulas.node(rule.formula) {
                Node::And(parts) => parts.clone(),
                _ => Box::new([rule.formula]),
            };
            let mut clauses = Vec::new();
            for part in parts {
                let clause = Clause::new(&formulas, part, owner);
                // What is told of others has to be kept of them.
                for kept in clause.kept(&mut formulas) {
                    add(&formulas, kept);
                }
                clauses.push((add(&formulas, part), clause));
            }
            followed.push(Followed {
                number,
                rule: rule.clone(),
                owner: owner.clone(),
                when,
                guard,
                parts: clauses,
                asked: 0,
                failing: Vec::new(),
                failing_count: 0,
                witness: Vec::new(),
            });
        }
        if followed.is_empty() {
            return Ok(None);
        }
        if let Some(known) = &mapping.lifelines {
            if let Some(lifeline) = named.iter().find(|name| !known.contains(name)) {
                return Err(Misfit::Lifeline { lifeline: lifeline.clone(), known: known.join(", ") });
            }
            named = known.iter().cloned().collect();
        }
        let lifelines: Vec<&str> = named.iter().map(String::as_str).collect();
        let compiled = Guards::new(&formulas, &guards, &lifelines)?;
        let number = |owner: &String| compiled.lifeline_index(owner).expect("owners are named");
        let owners: Vec<usize> = owners.iter().map(number).collect();
        let monitor = Monitor::new(&compiled.restrict_to_owners(&owners));
        let prefix = mapping.clock.as_deref().unwrap_or_default();
        let clock_fields = lifelines.iter().map(|name| format!("{prefix}.{name}")).collect();
        Ok(Some(Self {
            monitor,
            rules: followed,
            named,
            seen: BTreeSet::new(),
            counts: HashMap::new(),
            closed: mapping.lifelines.is_some(),
            clock_fields,
        }))
    }

    /// Takes the next event. Records that belong to no lifeline are no events.
    pub(super) fn event(&mut self, mapping: &Mapping, step: &Step, state: u64, line: u64) -> Result<(), Misfit> {
        let of = |name: &Option<String>| name.as_deref().and_then(|name| step.text_of(name));
        let Some(lifeline) = of(&mapping.lifeline) else { return Ok(()) };
        if self.seen.insert(lifeline.clone().into_owned()) && !self.named.contains(&*lifeline) {
            self.monitor.add_lifeline(&lifeline)?;
        }
        let message = of(&mapping.message).map(|name| name.as_ref().into());
        let clocked = mapping.clock.is_some() && self.closed;
        let kind = match of(&mapping.event).as_deref() {
            None | Some("act") => Kind::Act,
            Some("choice") => Kind::Choice,
            // Where clocks tell who has seen what, messages need no names.
            Some("send") if clocked => Kind::Send { to: None, message: "".into() },
            Some("recv") if clocked => Kind::Recv { message: None },
            // A message that has no name tells nobody anything.
            Some("send") => message.map_or(Kind::Act, |message| Kind::Send { to: None, message }),
            Some("recv") => Kind::Recv { message },
            Some(kind) => return Err(Misfit::Kind { line, kind: kind.to_owned() }),
        };
        let mut event = Event::new(&lifeline, kind);
        event.name = step.text_of("name").map(|name| name.as_ref().into());
        let read = self.monitor.guards().fields();
        for (name, value) in step.fields() {
            if read.binary_search_by(|known| (**known).cmp(name)).is_err() {
                continue;
            }
            event.updates.extend(Literal::from_value(&value).map(|value| (name.into(), value)));
        }
        let refused = if clocked {
            let clock = self.clock(step, &lifeline);
            self.monitor.on_event_with_clock(&event, &clock, step).err()
        } else {
            self.monitor.on_event(&event, step).err()
        };
        if let Some(why) = refused {
            return Err(Misfit::Event { line, why });
        }
        let values = self.monitor.values(&lifeline).expect("it has just had an event");
        for rule in self.rules.iter_mut().filter(|rule| rule.owner == *lifeline) {
            if rule.when.is_some_and(|when| !values.holds(when)) {
                continue;
            }
            rule.asked += 1;
            if values.holds(rule.guard) {
                continue;
            }
            rule.failing_count += 1;
            if rule.failing.len() < FAILING_SHOWN {
                rule.failing.push(state);
            }
            if rule.witness.is_empty() {
                let wrong = rule.parts.iter().filter(|(guard, _)| !values.holds(*guard)).map(|(_, clause)| clause);
                let wrong = causal_witness::told(wrong, &self.monitor, &event);
                rule.witness.push(format!("at {state}, an event of {lifeline}, {wrong}"));
            }
        }
        Ok(())
    }

    /// The clock of an event that is about to be taken. An older journal has none: then all that came before was seen.
    fn clock(&mut self, step: &Step, lifeline: &str) -> VectorClock {
        *self.counts.entry(lifeline.to_owned()).or_default() += 1;
        let told = |field: &String| step.text_of(field).and_then(|count| count.parse::<u64>().ok());
        let told: Vec<Option<u64>> = self.clock_fields.iter().map(told).collect();
        if told.iter().any(Option::is_some) {
            return VectorClock(told.into_iter().map(Option::unwrap_or_default).collect());
        }
        let count = |name: &Arc<str>| self.counts.get(&**name).copied().unwrap_or(0);
        VectorClock(self.monitor.guards().lifelines().iter().map(count).collect())
    }

    /// How often each causal rule has failed, with its name and the first reason.
    pub(super) fn failures(&self) -> impl Iterator<Item = (&str, u64, Option<&str>)> {
        self.rules.iter().map(|r| (r.rule.id.as_str(), r.failing_count, r.witness.first().map(String::as_str)))
    }

    /// Whether a rule was asked at any event; `None` of rules that are not causal.
    pub(super) fn was_asked(&self, rule: &str) -> Option<bool> {
        self.rules.iter().find(|r| r.rule.id == rule).map(|r| r.asked > 0)
    }

    /// What was found, by the rules' places in the policy.
    pub(super) fn findings(self, formulas: &Formulas) -> Result<HashMap<usize, RuleFinding>, Misfit> {
        let unseen = |name: &&String| !self.closed && !self.seen.contains(*name);
        if let Some(lifeline) = self.named.iter().find(unseen) {
            let known: Vec<&str> = self.seen.iter().map(String::as_str).collect();
            let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
            return Err(Misfit::Lifeline { lifeline: lifeline.clone(), known });
        }
        let finding = |rule: Followed| {
            let holds = rule.failing_count == 0;
            let never = format!("no event of {} was one to ask at", rule.owner);
            let finding = RuleFinding {
                formula: formulas.text(rule.rule.formula),
                verdict: if holds { Verdict::PresumablySatisfied } else { Verdict::Violated },
                culprit: rule.failing.first().copied(),
                failing: rule.failing,
                failing_count: rule.failing_count,
                asked: Some(rule.asked),
                violations: rule.failing_count,
                witness: if rule.asked == 0 { vec![never] } else { rule.witness },
                note: None,
                warnings: Vec::new(),
                owed: None,
                untrusted: rule.rule.rests_on(formulas),
                rule: rule.rule,
            };
            (rule.number, finding)
        };
        Ok(self.rules.into_iter().map(finding).collect())
    }
}

/// The lifelines that a formula names.
fn lifelines_of(formulas: &Formulas, formula: Formula) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for part in formulas.subformulas(formula) {
        match formulas.node(part) {
            Node::Causal(_, lifeline, _) | Node::Seen(lifeline) => _ = names.insert(lifeline.to_string()),
            Node::Atom(atom) => {
                let terms = formulas.atom(*atom).terms();
                names.extend(
                    terms.iter().flat_map(|t| t.fields()).filter_map(|(lifeline, _)| lifeline.map(str::to_owned)),
                );
            }
            _ => {}
        }
    }
    names
}
