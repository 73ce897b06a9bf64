//! The rows of the routing table (design, section 3), each with the formula that decides it. The first row of
//! [`Row::ALL`] whose formula holds is taken.

use std::collections::HashMap;
use std::sync::LazyLock;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

use super::guard::name_of;
use super::lifelines::STATION_LIFELINES;
use super::machine::{Acceptance, Event, Position, Rules, State};
use super::station::{ReviewVerdict, Station};
use super::strengthen::MUTANTS;
use crate::temporal::{Formula, Formulas, Node, Record, Value};

/// The row of the routing table that a transition took.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Row {
    /// Any: budget, deadline or cancel.
    Stopped,
    /// A stopped run goes on.
    Resumed,
    /// `informal_spec` answered.
    InformalAnswered,
    /// `formalize` answered.
    FormalizeAnswered,
    /// An unreadable answer: the same station once more.
    UnreadableOnce,
    /// Unreadable twice: `review` with what there is.
    UnreadableTwice,
    /// `validate` accepted.
    Validated,
    /// `validate` rejected: back to `formalize`.
    ValidateRetry,
    /// `validate` rejected for the last time.
    ValidateExhausted,
    /// The merge parses.
    Merged,
    /// The merge does not parse: once more.
    InvariantRetry,
    /// The merge does not parse for the last time.
    InvariantExhausted,
    /// Any verdict of the checker.
    Checked,
    /// Any verdict of the checker, and the run strengthens its properties: the mutants come first.
    MutantsDue,
    /// The mutants are judged: `review`.
    MutantsJudged,
    /// Some survive: once more to `generate_invariants`.
    Strengthen,
    /// The properties on trial kill more: they stay.
    StrongerKept,
    /// The properties on trial kill no more, do not hold, or did not come so far: those before them stand again.
    StrongerDropped,
    /// Approved, and the guard holds, but the user's policy forbids it.
    PolicyViolated,
    /// Approved, and the guard holds.
    Approved,
    /// A flaw whose guard holds: the second reader is asked.
    FlawClaimed,
    /// The second reader agrees.
    FlawFound,
    /// The second reader agrees, and the protocol is to be repaired.
    FlawRepaired,
    /// The objective cannot be reached any more.
    ObjectiveLost,
    /// The limit of revisions.
    RevisionLimit,
    /// Approved, but the guard fails.
    ApprovalRefused,
    /// A flaw whose guard fails, or with which the second reader disagrees.
    FlawRefused,
    /// Issues above minor.
    Issues,
    /// A verdict to revise without issues, or unreadable twice.
    NothingNamed,
    /// The event does not belong to this state: nothing happens.
    Ignored,
}

impl Row {
    /// Every row that a run can take, in the order in which they are looked at.
    pub const ALL: [Row; 29] = [
        Row::Stopped,
        Row::Resumed,
        Row::InformalAnswered,
        Row::FormalizeAnswered,
        Row::UnreadableOnce,
        Row::StrongerDropped,
        Row::UnreadableTwice,
        Row::Validated,
        Row::ValidateRetry,
        Row::ValidateExhausted,
        Row::Merged,
        Row::InvariantRetry,
        Row::InvariantExhausted,
        Row::MutantsDue,
        Row::Checked,
        Row::StrongerKept,
        Row::Strengthen,
        Row::MutantsJudged,
        Row::PolicyViolated,
        Row::Approved,
        Row::FlawClaimed,
        Row::FlawRepaired,
        Row::FlawFound,
        Row::ObjectiveLost,
        Row::RevisionLimit,
        Row::ApprovalRefused,
        Row::FlawRefused,
        Row::Issues,
        Row::NothingNamed,
    ];

    /// When it is taken, unless one before it is: a formula over what is decided on (`on.…`).
    pub fn guard(self) -> &'static str {
        match self {
            Row::Stopped => r#"on.event = "stop" & on.working"#,
            Row::Resumed => r#"on.event = "resume" & on.at = "stopped""#,
            Row::InformalAnswered => r#"on.at = "informal_spec" & on.event = "answered""#,
            Row::FormalizeAnswered => r#"on.at = "formalize" & on.event = "answered""#,
            Row::UnreadableOnce => {
                r#"on.again = false & (on.event = "unreadable" & (on.at = "informal_spec" | on.at = "formalize" | on.at = "generate_invariants" | on.at = "second_reading") | on.event = "review_unreadable" & on.at = "review")"#
            }
            Row::StrongerDropped => {
                r#"on.on_trial & (on.at = "generate_invariants" & (on.event = "unreadable" | on.event = "merged" & on.accepted = false & on.retries >= on.retry_limit) | on.at = "mutants" & on.event = "judged" & on.better = false)"#
            }
            Row::UnreadableTwice => {
                r#"on.event = "unreadable" & (on.at = "informal_spec" | on.at = "formalize" | on.at = "generate_invariants")"#
            }
            Row::Validated => r#"on.at = "validate" & on.event = "validated" & on.accepted"#,
            Row::ValidateRetry => {
                r#"on.at = "validate" & on.event = "validated" & on.accepted = false & on.retries < on.retry_limit"#
            }
            Row::ValidateExhausted => {
                r#"on.at = "validate" & on.event = "validated" & on.accepted = false & on.retries >= on.retry_limit"#
            }
            Row::Merged => r#"on.at = "generate_invariants" & on.event = "merged" & on.accepted"#,
            Row::InvariantRetry => {
                r#"on.at = "generate_invariants" & on.event = "merged" & on.accepted = false & on.retries < on.retry_limit"#
            }
            Row::InvariantExhausted => {
                r#"on.at = "generate_invariants" & on.event = "merged" & on.accepted = false & on.retries >= on.retry_limit"#
            }
            Row::MutantsDue => {
                r#"on.at = "model_check" & on.event = "checked" & (on.on_trial | on.rounds < on.round_limit)"#
            }
            Row::Checked => r#"on.at = "model_check" & on.event = "checked""#,
            Row::StrongerKept => r#"on.at = "mutants" & on.event = "judged" & on.on_trial"#,
            Row::Strengthen => r#"on.at = "mutants" & on.event = "judged" & on.survivors & on.rounds < on.round_limit"#,
            Row::MutantsJudged => r#"on.at = "mutants" & on.event = "judged""#,
            Row::PolicyViolated => {
                r#"on.at = "review" & on.event = "reviewed" & on.verdict = "approved" & on.issues = false & on.approval & on.broken"#
            }
            Row::Approved => {
                r#"on.at = "review" & on.event = "reviewed" & on.verdict = "approved" & on.issues = false & on.approval"#
            }
            Row::FlawClaimed => r#"on.at = "review" & on.event = "reviewed" & on.verdict = "flaw" & on.flaw"#,
            Row::FlawRepaired => {
                r#"on.at = "second_reading" & on.event = "second_read" & on.agrees & on.repair & on.place < on.last_place & !on.objective_lost"#
            }
            Row::FlawFound => r#"on.at = "second_reading" & on.event = "second_read" & on.agrees"#,
            Row::ObjectiveLost => {
                r#"on.objective_lost & (on.at = "review" & (on.event = "reviewed" | on.event = "review_unreadable") | on.at = "second_reading" & on.event = "second_read")"#
            }
            Row::RevisionLimit => {
                r#"on.place >= on.last_place & (on.at = "review" & (on.event = "reviewed" | on.event = "review_unreadable") | on.at = "second_reading" & on.event = "second_read")"#
            }
            Row::ApprovalRefused => {
                r#"on.at = "review" & on.event = "reviewed" & on.verdict = "approved" & on.approval = false"#
            }
            Row::FlawRefused => {
                r#"on.at = "review" & on.event = "reviewed" & on.verdict = "flaw" | on.at = "second_reading" & on.event = "second_read""#
            }
            Row::Issues => r#"on.at = "review" & on.event = "reviewed" & on.issues"#,
            Row::NothingNamed => r#"on.at = "review" & (on.event = "reviewed" | on.event = "review_unreadable")"#,
            Row::Ignored => "true",
        }
    }

    /// What happened and where the run goes, in words.
    pub fn words(self) -> &'static str {
        match self {
            Row::Stopped => "a budget, the deadline, a signal or a failing provider ends the run: it can be resumed",
            Row::Resumed => "a stopped run goes on where it was",
            Row::InformalAnswered => "the informal specification could be read: formalize it",
            Row::FormalizeAnswered => "the module could be read: validate it",
            Row::UnreadableOnce => "an answer could not be read: the same station once more, told why",
            Row::StrongerDropped => {
                "properties on trial came to nothing or notice no more mutants: those before them stand again"
            }
            Row::UnreadableTwice => "two answers in a row could not be read: review what there is",
            Row::Validated => "translator and parser accept the module: properties for it",
            Row::ValidateRetry => "the module is rejected: back to formalize with the diagnostics",
            Row::ValidateExhausted => {
                "the module is rejected once too often: review sees the diagnostics, and no checker runs"
            }
            Row::Merged => "module, properties and configuration parse together: check them",
            Row::InvariantRetry => "they do not parse together: the properties once more, with the diagnostics",
            Row::InvariantExhausted => {
                "they do not parse together once too often: review sees the diagnostics, and no checker runs"
            }
            Row::MutantsDue => {
                "the check came to a verdict, and the run strengthens its properties: judge the mutants first"
            }
            Row::Checked => "the check came to a verdict, whichever it is: review it",
            Row::StrongerKept => "the properties on trial notice more mutants: they stay",
            Row::Strengthen => "mutants go unnoticed: ask for properties that notice them",
            Row::MutantsJudged => "the mutants are judged: review",
            Row::PolicyViolated => {
                "approved, and the guard holds, but a rule of the user's policy of severity `error` would be left broken: not approved"
            }
            Row::Approved => "approved, no issue above minor, and every clause of the approval guard holds",
            Row::FlawClaimed => "a flaw is claimed and every clause of its guard holds: ask the second reader",
            Row::FlawRepaired => {
                "the second reader agrees, and the protocol is to be repaired: the smallest change of it"
            }
            Row::FlawFound => "the second reader agrees: the flaw is found",
            Row::ObjectiveLost => {
                "something is left to mend and the objective cannot be reached any more: the run ends with its best revision"
            }
            Row::RevisionLimit => "something is left to mend and no revision is left: the run ends with its best one",
            Row::ApprovalRefused => "approved, but a clause of the guard fails: to the station of the first that does",
            Row::FlawRefused => "a clause of the flaw guard fails, or the second reader disagrees: formalize anew",
            Row::Issues => "issues above minor: to the earliest station that one names",
            Row::NothingNamed => {
                "a revision is asked for without issues, or two reviews could not be read: to the station of the first clause that fails"
            }
            Row::Ignored => "the event does not belong to this state: nothing happens",
        }
    }

    /// The places at which it can be taken: those that its formula names, or all where something works. What is decided
    /// there is decided by the lifeline of that name; a run that has ended or is stopped decides itself.
    pub(super) fn owners(self) -> Vec<&'static str> {
        let named = |place: &&str| self.guard().contains(&format!("on.at = \"{place}\""));
        let owners: Vec<&'static str> = places().filter(named).collect();
        let works = |place: &&str| !matches!(*place, DONE | STOPPED);
        if owners.is_empty() { places().filter(works).collect() } else { owners }
    }

    /// Its name in the journal.
    pub fn name(self) -> String {
        name_of(&self)
    }
}

const SECOND_READING: &str = "second_reading";
const DONE: &str = "done";
const STOPPED: &str = "stopped";
/// All places where a run can be: its lifelines but the run itself, and where nothing works.
fn places() -> impl Iterator<Item = &'static str> {
    STATION_LIFELINES.into_iter().filter(|lifeline| *lifeline != "run").chain([DONE, STOPPED])
}

/// What a routing decision is made on: the fields `on.…` of the formulas, and of `routed` in the journal.
#[derive(Debug, Clone, Copy)]
pub(super) struct On<'a> {
    pub(super) rules: &'a Rules,
    pub(super) state: &'a State,
    pub(super) event: &'a Event,
}

impl On<'_> {
    /// Every field that may have a value.
    pub(super) const FIELDS: [&'static str; 24] = [
        "on.at",
        "on.event",
        "on.working",
        "on.again",
        "on.accepted",
        "on.retries",
        "on.retry_limit",
        "on.on_trial",
        "on.rounds",
        "on.round_limit",
        "on.survivors",
        "on.better",
        "on.verdict",
        "on.issues",
        "on.approval",
        "on.broken",
        "on.flaw",
        "on.agrees",
        "on.place",
        "on.last_place",
        "on.repair",
        "on.earliest",
        "on.best_inconclusive",
        "on.objective_lost",
    ];

    /// Where the run is, one of [`places`].
    fn at(&self) -> &'static str {
        match self.state.position {
            Position::At(station) => station.name(),
            Position::SecondReading => SECOND_READING,
            Position::Mutants => MUTANTS,
            Position::Done(_) => DONE,
            Position::Stopped(_) => STOPPED,
        }
    }

    fn event_name(&self) -> &'static str {
        match self.event {
            Event::Answered => "answered",
            Event::Unreadable => "unreadable",
            Event::Validated(_) => "validated",
            Event::Merged(_) => "merged",
            Event::Checked => "checked",
            Event::Judged { .. } => "judged",
            Event::Reviewed(_) => "reviewed",
            Event::ReviewUnreadable { .. } => "review_unreadable",
            Event::SecondRead { .. } => "second_read",
            Event::Stop(_) => "stop",
            Event::Resume => "resume",
        }
    }

    /// The fields that have a value, without their prefix, for the journal.
    pub(super) fn json(&self) -> Map<String, Json> {
        let known = Self::FIELDS.iter().filter_map(|name| {
            let value = match self.field(name)? {
                Value::Null => Json::Null,
                Value::Bool(value) => value.into(),
                Value::Text(text) => text.into(),
                Value::Integer(count) => i64::try_from(count).unwrap_or(i64::MAX).into(),
                Value::Number(number) => number.into(),
            };
            Some((name.trim_start_matches("on.").to_owned(), value))
        });
        known.collect()
    }
}

impl Record for On<'_> {
    fn field(&self, name: &str) -> Option<Value<'_>> {
        let (rules, state) = (self.rules, self.state);
        let text = |text: &'static str| Some(Value::Text(text.into()));
        let flag = |flag: bool| Some(Value::Bool(flag));
        let count = |count: u32| Some(Value::Integer(count.into()));
        let review = if let Event::Reviewed(review) = self.event { Some(review) } else { None };
        match name {
            "on.at" => text(self.at()),
            "on.event" => text(self.event_name()),
            "on.working" => flag(!matches!(state.position, Position::Done(_) | Position::Stopped(_))),
            "on.again" => flag(state.unreadable),
            "on.accepted" => match self.event {
                Event::Validated(said) | Event::Merged(said) => flag(*said == Acceptance::Accepted),
                _ => None,
            },
            "on.retries" => match state.position {
                Position::At(Station::Validate) => count(state.validate_retries),
                Position::At(Station::GenerateInvariants) => count(state.invariant_retries),
                _ => None,
            },
            "on.retry_limit" => match state.position {
                Position::At(Station::Validate) => count(rules.validate_retries),
                Position::At(Station::GenerateInvariants) => count(rules.invariant_retries),
                _ => None,
            },
            "on.on_trial" => flag(state.on_trial),
            "on.rounds" => count(state.rounds),
            "on.round_limit" => count(rules.strengthen),
            "on.survivors" => {
                if let Event::Judged { survivors, .. } = self.event {
                    flag(*survivors)
                } else {
                    None
                }
            }
            "on.better" => {
                if let Event::Judged { better, .. } = self.event {
                    flag(*better)
                } else {
                    None
                }
            }
            "on.verdict" => text(match review?.verdict {
                ReviewVerdict::Approved => "approved",
                ReviewVerdict::Revise => "revise",
                ReviewVerdict::Flaw => "flaw",
            }),
            "on.issues" => flag(review?.earliest.is_some()),
            "on.earliest" => text(review?.earliest?.name()),
            "on.approval" => match self.event {
                Event::Reviewed(_) | Event::ReviewUnreadable { .. } => flag(self.event.refused_by().is_none()),
                _ => None,
            },
            "on.broken" => flag(review?.broken),
            "on.flaw" => match review?.verdict {
                ReviewVerdict::Flaw => flag(review?.flaw.is_none()),
                _ => None,
            },
            "on.agrees" => {
                if let Event::SecondRead { agrees, .. } = self.event {
                    flag(*agrees)
                } else {
                    None
                }
            }
            "on.place" => count(state.place),
            "on.last_place" => count(rules.max_revisions),
            "on.repair" => flag(rules.repair),
            "on.best_inconclusive" => match self.event {
                Event::Reviewed(_) | Event::ReviewUnreadable { .. } | Event::SecondRead { .. } => {
                    flag(self.event.best_inconclusive())
                }
                _ => None,
            },
            "on.objective_lost" => flag(self.event.objective_lost()?),
            _ => None,
        }
    }
}

struct Table {
    formulas: Formulas,
    /// The rows that can be taken at each place, in order.
    at: HashMap<&'static str, Vec<(Row, Formula)>>,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let mut formulas = Formulas::new();
    let guard = |row: Row| (row, formulas.parse(row.guard()).expect("a row's formula is written in this file"));
    let all: Vec<(Row, Formula)> = Row::ALL.into_iter().map(guard).collect();
    let at = |place| (place, all.iter().copied().filter(|(row, _)| row.owners().contains(&place)).collect());
    Table { at: places().map(at).collect(), formulas }
});

/// The row that is taken.
pub(super) fn choose(on: &On<'_>) -> Row {
    let found = TABLE.at[on.at()].iter().find(|(_, guard)| holds(&TABLE.formulas, *guard, on));
    found.map_or(Row::Ignored, |(row, _)| *row)
}

/// Whether a formula without temporal operators holds of a record: the rows have no others, as a test shows.
fn holds(formulas: &Formulas, formula: Formula, on: &On<'_>) -> bool {
    let holds = |part: &Formula| holds(formulas, *part, on);
    match formulas.node(formula) {
        Node::True => true,
        Node::Atom(atom) => formulas.atom(*atom).holds(on),
        Node::Not(a) => !holds(a),
        Node::And(all) => all.iter().all(holds),
        Node::Or(any) => any.iter().any(holds),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::temporal::Atom;

    #[test]
    fn the_rows_speak_of_the_moment_and_of_known_fields_alone() {
        for (row, guard) in TABLE.at.values().flatten() {
            for part in TABLE.formulas.subformulas(*guard) {
                match TABLE.formulas.node(part) {
                    Node::True | Node::Not(_) | Node::And(_) | Node::Or(_) => {}
                    Node::Atom(atom) => {
                        let atom = TABLE.formulas.atom(*atom);
                        if let Atom::Name(name) = atom {
                            assert!(On::FIELDS.contains(&&**name), "{row:?}: {name}");
                        }
                        let terms = atom.terms();
                        let mut fields = terms.iter().flat_map(|t| t.fields());
                        assert!(fields.all(|(at, name)| at.is_none() && On::FIELDS.contains(&name)), "{row:?}");
                    }
                    other => panic!("{row:?}: {other:?}"),
                }
            }
        }
    }
}
