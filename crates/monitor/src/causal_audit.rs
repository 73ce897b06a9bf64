//! Evaluation of the causal rules of a policy over the events of a log.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use super::causal_explanation::{Clause, explain_failure};
use super::finding::{EVALUATED_SHOWN, FAILING_SHOWN, RuleFinding, Verdict};
use super::log::{Mapping, Shape, Step, single_value_reads};
use super::policy::{PolicyRule, Scope};
use tlaforge_temporal::causal::{CausalError, Event, EventAction as Kind, GuardError, Guards, Monitor, VectorClock};
use tlaforge_temporal::{Formula, Formulas, Literal, Node};

/// Why causal rules cannot be evaluated on a log.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CausalAuditError {
    #[error("rule `{rule}` is causal, but no field of the log is mapped to the lifeline (map `lifeline`)")]
    NoLifelines { rule: String },
    #[error(transparent)]
    Guard(#[from] GuardError),
    /// An event that is not possible after those before it.
    #[error("line {line}: {why}")]
    Event { line: u64, why: CausalError },
    #[error("line {line}: an event is `act`, `choice`, `send` or `recv`, not `{kind}`")]
    Kind { line: u64, kind: String },
    /// A rule reads a field of one call.
    #[error(
        "rule `{rule}` is causal and sees each event as a whole, which may call several tools: instead of `{field}` write \
         `{spelling}`"
    )]
    OneCall {
        rule: String,
        field: String,
        /// What to write instead.
        spelling: String,
    },
    /// A lifeline of a rule has no event in the log.
    #[error("unknown lifeline `{lifeline}` (the log has: {known})")]
    Lifeline {
        lifeline: String,
        /// The lifelines of the log.
        known: String,
    },
}

/// Checks that a causal formula reads the fields of calls only by `any` and `every`, because it sees an event as a whole.
pub(super) fn check_reads_whole_events(
    formulas: &Formulas,
    formula: Formula,
    rule: &str,
    mapping: &Mapping,
) -> Result<(), CausalAuditError> {
    if mapping.tool_call.is_none() || mapping.shape == Some(Shape::Journal) {
        return Ok(());
    }
    match single_value_reads(formulas, &[formula]).into_iter().find(|(field, _)| is_call_field(field)) {
        Some((field, spelling)) => Err(CausalAuditError::OneCall { rule: rule.to_owned(), field, spelling }),
        None => Ok(()),
    }
}

/// Whether a field belongs to a tool call.
pub(super) fn is_call_field(field: &str) -> bool {
    matches!(field, "tool.name" | "tool.input") || field.starts_with("tool.input.")
}

/// A causal rule and its results so far. Its formulas are numbered guards of the monitor.
#[derive(Clone)]
struct CausalRule {
    /// The position of the rule in the policy.
    number: usize,
    rule: PolicyRule,
    owner: String,
    when: Option<usize>,
    guard: usize,
    /// The conjuncts of the formula, so that the explanation can name the false one; the formula itself if it is no
    /// conjunction.
    clauses: Vec<(usize, Clause)>,
    /// At how many events the rule was evaluated.
    evaluated: u64,
    evaluated_at: Vec<u64>,
    failing: Vec<u64>,
    failing_count: u64,
    explanation: Vec<String>,
}

/// The state of an audit by causal rules after some events.
#[derive(Clone)]
pub(super) struct CausalAudit {
    monitor: Monitor,
    rules: Vec<CausalRule>,
    /// The lifelines that the monitor knew from the beginning: those of the mapping, else those that rules name.
    known: BTreeSet<String>,
    /// The lifelines that have had an event.
    seen: BTreeSet<String>,
    /// The number of events of each lifeline.
    counts: HashMap<String, u64>,
    /// Whether the mapping lists all lifelines.
    is_closed: bool,
    /// The fields with the vector clock of an event, one for each lifeline.
    clock_fields: Vec<String>,
}

impl CausalAudit {
    /// `None` if no rule is causal.
    pub(super) fn new(
        formulas: &Formulas,
        rules: &[PolicyRule],
        mapping: &Mapping,
    ) -> Result<Option<Self>, CausalAuditError> {
        let mut formulas = formulas.clone();
        let mut guards = Vec::new();
        let mut owners = Vec::new();
        let mut causal_rules = Vec::new();
        let mut named = BTreeSet::new();
        for (number, rule) in rules.iter().enumerate() {
            let Scope::Causal { owner, when } = &rule.scope else { continue };
            if mapping.lifeline.is_none() {
                return Err(CausalAuditError::NoLifelines { rule: rule.id.clone() });
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
                // The monitor keeps only fields that its guards read, so add guards for the fields that an explanation shows.
                for read in clause.remote_reads(&mut formulas) {
                    add(&formulas, read);
                }
                clauses.push((add(&formulas, part), clause));
            }
            causal_rules.push(CausalRule {
                number,
                rule: rule.clone(),
                owner: owner.clone(),
                when,
                guard,
                clauses,
                evaluated: 0,
                evaluated_at: Vec::new(),
                failing: Vec::new(),
                failing_count: 0,
                explanation: Vec::new(),
            });
        }
        if causal_rules.is_empty() {
            return Ok(None);
        }
        if let Some(known) = &mapping.lifelines {
            if let Some(lifeline) = named.iter().find(|name| !known.contains(name)) {
                return Err(CausalAuditError::Lifeline { lifeline: lifeline.clone(), known: known.join(", ") });
            }
            named = known.iter().cloned().collect();
        }
        let lifelines: Vec<&str> = named.iter().map(String::as_str).collect();
        let compiled = Guards::new(&formulas, &guards, &lifelines)?;
        let number = |owner: &String| compiled.lifeline_index(owner).expect("every owner is a known lifeline");
        let owners: Vec<usize> = owners.iter().map(number).collect();
        let monitor = Monitor::new(&compiled.restrict_to_owners(&owners));
        let prefix = mapping.clock.as_deref().unwrap_or_default();
        let clock_fields = lifelines.iter().map(|name| format!("{prefix}.{name}")).collect();
        Ok(Some(Self {
            monitor,
            rules: causal_rules,
            known: named,
            seen: BTreeSet::new(),
            counts: HashMap::new(),
            is_closed: mapping.lifelines.is_some(),
            clock_fields,
        }))
    }

    /// Evaluates the rules at the next event. Records without a lifeline are not events.
    pub(super) fn add_event(
        &mut self,
        mapping: &Mapping,
        step: &Step,
        state: u64,
        line: u64,
    ) -> Result<(), CausalAuditError> {
        let mapped = |name: &Option<String>| name.as_deref().and_then(|name| step.text_of(name));
        let Some(lifeline) = mapped(&mapping.lifeline) else { return Ok(()) };
        if self.seen.insert(lifeline.clone().into_owned()) && !self.known.contains(&*lifeline) {
            self.monitor.add_lifeline(&lifeline)?;
        }
        let message = mapped(&mapping.message).map(|name| name.as_ref().into());
        let clocked = mapping.clock.is_some() && self.is_closed;
        let kind = match mapped(&mapping.event).as_deref() {
            None | Some("act") => Kind::Act,
            Some("choice") => Kind::Choice,
            // With vector clocks, messages need no names.
            Some("send") if clocked => Kind::Send { to: None, message: "".into() },
            Some("recv") if clocked => Kind::Recv { message: None },
            // Nothing can receive a message without a name.
            Some("send") => message.map_or(Kind::Act, |message| Kind::Send { to: None, message }),
            Some("recv") => Kind::Recv { message },
            Some(kind) => return Err(CausalAuditError::Kind { line, kind: kind.to_owned() }),
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
            return Err(CausalAuditError::Event { line, why });
        }
        let values = self.monitor.values(&lifeline).expect("it has just had an event");
        for rule in self.rules.iter_mut().filter(|rule| rule.owner == *lifeline) {
            if rule.when.is_some_and(|when| !values.holds(when)) {
                continue;
            }
            rule.evaluated += 1;
            if rule.evaluated_at.len() < EVALUATED_SHOWN {
                rule.evaluated_at.push(state);
            }
            if values.holds(rule.guard) {
                continue;
            }
            rule.failing_count += 1;
            if rule.failing.len() < FAILING_SHOWN {
                rule.failing.push(state);
            }
            if rule.explanation.is_empty() {
                let failed = rule.clauses.iter().filter(|(guard, _)| !values.holds(*guard)).map(|(_, clause)| clause);
                let explanation = explain_failure(failed, &self.monitor, &event);
                rule.explanation.push(format!("at {state}, an event of {lifeline}, {explanation}"));
            }
        }
        Ok(())
    }

    /// The vector clock of the next event. Journals of older versions have none; then every earlier event is visible.
    fn clock(&mut self, step: &Step, lifeline: &str) -> VectorClock {
        *self.counts.entry(lifeline.to_owned()).or_default() += 1;
        let parse = |field: &String| step.text_of(field).and_then(|count| count.parse::<u64>().ok());
        let counts: Vec<Option<u64>> = self.clock_fields.iter().map(parse).collect();
        if counts.iter().any(Option::is_some) {
            return VectorClock(counts.into_iter().map(Option::unwrap_or_default).collect());
        }
        let count = |name: &Arc<str>| self.counts.get(&**name).copied().unwrap_or(0);
        VectorClock(self.monitor.guards().lifelines().iter().map(count).collect())
    }

    /// Each causal rule with the number of its failures and the first reason.
    pub(super) fn failures(&self) -> impl Iterator<Item = (&str, u64, Option<&str>)> {
        self.rules.iter().map(|r| (r.rule.id.as_str(), r.failing_count, r.explanation.first().map(String::as_str)))
    }

    /// Whether a rule was evaluated at any event; `None` for rules that are not causal.
    pub(super) fn was_evaluated(&self, rule: &str) -> Option<bool> {
        self.rules.iter().find(|r| r.rule.id == rule).map(|r| r.evaluated > 0)
    }

    /// The findings, by the positions of the rules in the policy.
    pub(super) fn findings(self, formulas: &Formulas) -> Result<HashMap<usize, RuleFinding>, CausalAuditError> {
        let unseen = |name: &&String| !self.is_closed && !self.seen.contains(*name);
        if let Some(lifeline) = self.known.iter().find(unseen) {
            let known: Vec<&str> = self.seen.iter().map(String::as_str).collect();
            let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
            return Err(CausalAuditError::Lifeline { lifeline: lifeline.clone(), known });
        }
        let finding = |rule: CausalRule| {
            let holds = rule.failing_count == 0;
            let never = format!("the rule applies to no event of {}", rule.owner);
            let finding = RuleFinding {
                formula: formulas.text(rule.rule.formula),
                verdict: if holds { Verdict::PresumablySatisfied } else { Verdict::Violated },
                decided_at: rule.failing.first().copied(),
                failing: rule.failing,
                failing_count: rule.failing_count,
                evaluated: Some(rule.evaluated),
                evaluated_at: rule.evaluated_at,
                when: match rule.rule.scope {
                    Scope::Causal { when, .. } => when.map(|when| formulas.text(when)),
                    Scope::Trace(_) => None,
                },
                violations: rule.failing_count,
                explanation: if rule.evaluated == 0 { vec![never] } else { rule.explanation },
                explained_at: Vec::new(),
                note: None,
                warnings: Vec::new(),
                missing_fields: Vec::new(),
                residual: None,
                no_verdict: false,
                untrusted: rule.rule.model_propositions(formulas),
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
