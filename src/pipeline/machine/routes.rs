//! The routing table of a run. Each row is one [`Route`]: its name, the formula that decides it, its words and its
//! effect. A decision takes the first row whose formula holds.
//!
//! It knows formulas and the moves of the state machine, but no tool and no file.

use std::borrow::Cow;
use std::sync::LazyLock;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use strum::VariantArray as _;

use super::event::{Event, EventKind};
use super::guards::{ApprovalClause, name_of};
use super::node_name::NodeName::{
    Formalize, GenerateInvariants, InformalSpec, ModelCheck, Review, StepContracts, Validate,
};
use super::routing_facts::{PositionName, RoutingFacts};
use super::state::{Effect, Next, Outcome, Position, RoutingSettings, State};
use crate::temporal::{Atom, Formula, Formulas, Node, Record as _};

/// The name of a row of the routing table, in order of precedence. `tlaforge policy show` prints what each row means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, strum::VariantArray)]
#[serde(rename_all = "snake_case")]
pub enum Row {
    Stopped,
    Resumed,
    InformalAnswered,
    FormalizeAnswered,
    UnreadableOnce,
    StrongerDropped,
    UnreadableTwice,
    Validated,
    ValidateRetry,
    ValidateExhausted,
    ContractsDue,
    Merged,
    InvariantRetry,
    InvariantExhausted,
    ContractsMerged,
    ContractsRetry,
    ContractsLeftOut,
    MutantsDue,
    Checked,
    StrongerKept,
    Strengthen,
    MutantsJudged,
    PolicyViolated,
    OtherReadingApproved,
    Approved,
    FlawClaimed,
    OtherReading,
    AmbiguityFound,
    FlawRepaired,
    FlawFound,
    ObjectiveLost,
    RevisionLimit,
    ApprovalRefused,
    FlawRefused,
    Issues,
    NothingNamed,
    Ignored,
}

/// A row of the routing table.
pub(in crate::pipeline) struct Route {
    pub(in crate::pipeline) row: Row,
    /// A formula over the decision's [`RoutingFacts`]. The row is taken if this is the first that holds.
    pub(in crate::pipeline) guard: &'static str,
    /// What happened and where the run goes, for a person.
    pub(in crate::pipeline) words: &'static str,
    take: fn(&Decision) -> Next,
}

/// What a row's effect is computed from.
struct Decision {
    settings: RoutingSettings,
    state: State,
    event: Event,
}

/// The routing table, in order of precedence.
pub(in crate::pipeline) static ROUTES: [Route; Row::VARIANTS.len()] = [
    Route {
        row: Row::Stopped,
        guard: r#"routing.event = "stop" & routing.under_way"#,
        words: "a budget, the deadline, a signal or a failing provider ends the run: it can be resumed",
        take: |d| d.state.stop(),
    },
    Route {
        row: Row::Resumed,
        guard: r#"routing.event = "resume" & routing.position = "stopped""#,
        words: "a stopped run continues where it was",
        take: |d| d.state.resume(),
    },
    Route {
        row: Row::InformalAnswered,
        guard: r#"routing.position = "informal_spec" & routing.event = "answered""#,
        words: "the informal specification could be read: formalize it",
        take: |d| {
            // What was accepted before was made from another specification.
            let state = State { informal: true, ..d.state.without_module() };
            state.moved_to(Formalize).perform()
        },
    },
    Route {
        row: Row::FormalizeAnswered,
        guard: r#"routing.position = "formalize" & routing.event = "answered""#,
        words: "the module could be read: validate it",
        take: |d| d.state.without_module().moved_to(Validate).perform(),
    },
    Route {
        row: Row::UnreadableOnce,
        guard: concat!(
            r#"routing.unreadable_before = false & ("#,
            r#"routing.event = "unreadable" & (routing.position = "informal_spec" | routing.position = "formalize""#,
            r#" | routing.position = "generate_invariants" | routing.position = "step_contracts""#,
            r#" | routing.position = "second_reading")"#,
            r#" | routing.event = "review_unreadable" & routing.position = "review")"#,
        ),
        words: "an answer could not be read: the same node once more, with the reason",
        take: |d| State { unreadable: true, ..d.state }.perform(),
    },
    Route {
        row: Row::StrongerDropped,
        guard: concat!(
            r#"routing.on_trial & (routing.position = "generate_invariants" & (routing.event = "unreadable""#,
            r#" | routing.event = "merged" & routing.accepted = false & routing.retries >= routing.retry_limit)"#,
            r#" | routing.position = "mutants" & routing.event = "judged" & routing.kills_more = false)"#,
        ),
        words: "properties on trial were rejected or kill no more mutants: those before them are restored",
        take: |d| d.state.drop_trial(&d.settings),
    },
    Route {
        row: Row::UnreadableTwice,
        guard: concat!(
            r#"routing.event = "unreadable""#,
            r#" & (routing.position = "informal_spec" | routing.position = "formalize" | routing.position = "generate_invariants")"#,
        ),
        words: "two answers in a row could not be read: review what there is",
        take: |d| d.state.moved_to(Review).perform(),
    },
    Route {
        row: Row::Validated,
        guard: r#"routing.position = "validate" & routing.event = "validated" & routing.accepted"#,
        words: "translator and parser accept the module: properties for it",
        take: |d| State { module_accepted: true, ..d.state }.moved_to(GenerateInvariants).perform(),
    },
    Route {
        row: Row::ValidateRetry,
        guard: concat!(
            r#"routing.position = "validate" & routing.event = "validated" & routing.accepted = false"#,
            r#" & routing.retries < routing.retry_limit"#,
        ),
        words: "the module is rejected: back to formalize with the diagnostics",
        take: |d| {
            let state = d.state.without_module();
            State { validate_retries: state.validate_retries + 1, ..state }.moved_to(Formalize).perform()
        },
    },
    Route {
        row: Row::ValidateExhausted,
        guard: concat!(
            r#"routing.position = "validate" & routing.event = "validated" & routing.accepted = false"#,
            r#" & routing.retries >= routing.retry_limit"#,
        ),
        words: "the module is rejected once too often: review sees the diagnostics, and no checker runs",
        take: |d| d.state.without_module().moved_to(Review).perform(),
    },
    Route {
        row: Row::ContractsDue,
        guard: r#"routing.position = "generate_invariants" & routing.event = "merged" & routing.accepted & routing.contracts"#,
        words: "module, properties and configuration parse together: contracts of the steps",
        take: |d| State { merged_accepted: true, ..d.state }.moved_to(StepContracts).perform(),
    },
    Route {
        row: Row::Merged,
        guard: r#"routing.position = "generate_invariants" & routing.event = "merged" & routing.accepted"#,
        words: "module, properties and configuration parse together: check them",
        take: |d| State { merged_accepted: true, ..d.state }.moved_to(ModelCheck).perform(),
    },
    Route {
        row: Row::InvariantRetry,
        guard: concat!(
            r#"routing.position = "generate_invariants" & routing.event = "merged" & routing.accepted = false"#,
            r#" & routing.retries < routing.retry_limit"#,
        ),
        words: "they do not parse together, or an invariant cannot be evaluated in an initial state: the properties once more, with the \
                diagnostics",
        take: |d| {
            let state = State { merged_accepted: false, ..d.state };
            State { invariant_retries: state.invariant_retries + 1, ..state }.moved_to(GenerateInvariants).perform()
        },
    },
    Route {
        row: Row::InvariantExhausted,
        guard: concat!(
            r#"routing.position = "generate_invariants" & routing.event = "merged" & routing.accepted = false"#,
            r#" & routing.retries >= routing.retry_limit"#,
        ),
        words: "they do not parse together, or an invariant cannot be evaluated in an initial state, once too often: review sees the \
                diagnostics, and no checker runs",
        take: |d| State { merged_accepted: false, ..d.state }.moved_to(Review).perform(),
    },
    Route {
        row: Row::ContractsMerged,
        guard: r#"routing.position = "step_contracts" & routing.event = "merged" & routing.accepted"#,
        words: "the contracts parse together with the specification: check them",
        take: |d| d.state.moved_to(ModelCheck).perform(),
    },
    Route {
        row: Row::ContractsRetry,
        guard: concat!(
            r#"routing.position = "step_contracts" & routing.event = "merged" & routing.accepted = false"#,
            r#" & routing.retries < routing.retry_limit"#,
        ),
        words: "the contracts do not parse together with the specification: once more, with the diagnostics",
        take: |d| {
            let state = State { contract_retries: d.state.contract_retries + 1, ..d.state };
            state.moved_to(StepContracts).perform()
        },
    },
    Route {
        row: Row::ContractsLeftOut,
        guard: concat!(
            r#"routing.position = "step_contracts""#,
            r#" & (routing.event = "unreadable" | routing.event = "merged" & routing.accepted = false)"#,
        ),
        words: "the contracts could not be used: the specification is checked without them, and cannot be approved in this \
                revision",
        take: |d| d.state.moved_to(ModelCheck).perform(),
    },
    Route {
        row: Row::MutantsDue,
        guard: concat!(
            r#"routing.position = "model_check" & routing.event = "checked""#,
            r#" & (routing.on_trial | routing.rounds < routing.round_limit | routing.judges_mutants)"#,
        ),
        words: "the check came to a verdict, and the run judges mutants or strengthens its properties: judge the mutants first",
        take: |d| d.state.moved_to_position(Position::Mutants).perform(),
    },
    Route {
        row: Row::Checked,
        guard: r#"routing.position = "model_check" & routing.event = "checked""#,
        words: "the check came to a verdict, whichever it is: review it",
        take: |d| d.state.moved_to(Review).perform(),
    },
    Route {
        row: Row::StrongerKept,
        guard: r#"routing.position = "mutants" & routing.event = "judged" & routing.on_trial"#,
        words: "the properties on trial kill more mutants: they are kept",
        take: |d| {
            let state = State { on_trial: false, ..d.state };
            let survivors = matches!(d.event, Event::Judged { survivors: true, .. });
            let is_round_left = state.rounds < d.settings.strengthen;
            if survivors && is_round_left { state.strengthen() } else { state.moved_to(Review).perform() }
        },
    },
    Route {
        row: Row::Strengthen,
        guard: r#"routing.position = "mutants" & routing.event = "judged" & routing.survivors & routing.rounds < routing.round_limit"#,
        words: "mutants survived: ask for properties that kill them",
        take: |d| State { on_trial: false, ..d.state }.strengthen(),
    },
    Route {
        row: Row::MutantsJudged,
        guard: r#"routing.position = "mutants" & routing.event = "judged""#,
        words: "the mutants are judged: review",
        take: |d| State { on_trial: false, ..d.state }.moved_to(Review).perform(),
    },
    Route {
        row: Row::PolicyViolated,
        guard: concat!(
            r#"routing.position = "review" & routing.event = "reviewed" & routing.verdict = "approved" & routing.issues = false"#,
            r#" & routing.approval & routing.violates_policy"#,
        ),
        words: "approved, and the guard holds, but a rule of the user's policy of severity `error` would be left \
                broken, or the mutation score is less than the user asks for: not approved",
        take: |d| d.state.finish(d.state.outcome_or_ambiguity(Outcome::NotApproved)),
    },
    Route {
        row: Row::OtherReadingApproved,
        guard: r#"routing.position = "review" & routing.event = "reviewed" & routing.verdict = "approved" & routing.issues = false & routing.approval & routing.other_reading"#,
        words: "approved under the other reading of an open point: which reading the documents mean is the question that \
                the run ends with",
        take: |d| d.state.finish(Outcome::AmbiguityFound),
    },
    Route {
        row: Row::Approved,
        guard: r#"routing.position = "review" & routing.event = "reviewed" & routing.verdict = "approved" & routing.issues = false & routing.approval"#,
        words: "approved, no issue above minor, and every clause of the approval guard holds",
        take: |d| d.state.finish(if d.state.repaired { Outcome::ApprovedRepaired } else { Outcome::Approved }),
    },
    Route {
        row: Row::FlawClaimed,
        guard: r#"routing.position = "review" & routing.event = "reviewed" & routing.verdict = "flaw" & routing.flaw"#,
        words: "a flaw is claimed and every clause of its guard holds: ask the second reader",
        take: |d| d.state.moved_to_position(Position::SecondReading).perform(),
    },
    Route {
        row: Row::OtherReading,
        guard: concat!(
            r#"routing.position = "second_reading" & routing.event = "second_read" & routing.agrees & routing.ambiguous"#,
            r#" & !routing.other_reading & routing.branch_index < routing.last_branch_index & !routing.objective_lost"#,
        ),
        words: "a requirement breaks under the reading that an open point takes: the other reading is tried",
        take: |d| State { other_reading: true, ..d.state }.next_revision(InformalSpec),
    },
    Route {
        row: Row::AmbiguityFound,
        guard: r#"routing.position = "second_reading" & routing.event = "second_read" & routing.agrees & routing.ambiguous"#,
        words: "a requirement breaks under the reading that an open point takes, and no other is tried: the run ends with \
                the question",
        take: |d| d.state.finish(Outcome::AmbiguityFound),
    },
    Route {
        row: Row::FlawRepaired,
        guard: concat!(
            r#"routing.position = "second_reading" & routing.event = "second_read" & routing.agrees"#,
            r#" & routing.repair & routing.branch_index < routing.last_branch_index & !routing.objective_lost"#,
        ),
        words: "the second reader agrees, and the protocol is to be repaired: the smallest change of it",
        take: |d| State { repaired: true, ..d.state }.next_revision(InformalSpec),
    },
    Route {
        row: Row::FlawFound,
        guard: r#"routing.position = "second_reading" & routing.event = "second_read" & routing.agrees"#,
        words: "the second reader agrees: the flaw is found",
        take: |d| d.state.finish(Outcome::FlawFound),
    },
    Route {
        row: Row::ObjectiveLost,
        guard: concat!(
            r#"routing.objective_lost"#,
            r#" & (routing.position = "review" & (routing.event = "reviewed" | routing.event = "review_unreadable")"#,
            r#" | routing.position = "second_reading" & routing.event = "second_read")"#,
        ),
        words: "something is left to mend and the objective cannot be reached any more: the run ends with its best \
                revision",
        take: finish_with_best,
    },
    Route {
        row: Row::RevisionLimit,
        guard: concat!(
            r#"routing.branch_index >= routing.last_branch_index"#,
            r#" & (routing.position = "review" & (routing.event = "reviewed" | routing.event = "review_unreadable")"#,
            r#" | routing.position = "second_reading" & routing.event = "second_read")"#,
        ),
        words: "something is left to mend and no revision is left: the run ends with its best one",
        take: finish_with_best,
    },
    Route {
        row: Row::ApprovalRefused,
        guard: r#"routing.position = "review" & routing.event = "reviewed" & routing.verdict = "approved" & routing.approval = false"#,
        words: "approved, but a clause of the guard fails: to the node of the first that does",
        take: mend_failing_clause,
    },
    Route {
        row: Row::FlawRefused,
        guard: concat!(
            r#"routing.position = "review" & routing.event = "reviewed" & routing.verdict = "flaw""#,
            r#" | routing.position = "second_reading" & routing.event = "second_read""#,
        ),
        words: "a clause of the flaw guard fails, or the second reader disagrees: formalize anew",
        take: |d| d.state.next_revision(Formalize),
    },
    Route {
        row: Row::Issues,
        guard: r#"routing.position = "review" & routing.event = "reviewed" & routing.issues"#,
        words: "issues above minor: to the earliest node that one names",
        take: |d| d.state.next_revision(d.event.earliest().unwrap_or(Formalize)),
    },
    Route {
        row: Row::NothingNamed,
        guard: r#"routing.position = "review" & (routing.event = "reviewed" | routing.event = "review_unreadable")"#,
        words: "a revision is asked for without issues, or two reviews could not be read: to the node of the first \
                clause that fails",
        take: mend_failing_clause,
    },
    Route {
        row: Row::Ignored,
        guard: "true",
        words: "the event does not belong to this state: nothing happens",
        take: |d| d.state.stay(),
    },
];

// `Row::route` indexes the table by the row's number, so a route in the wrong place must not compile.
const _: () = {
    let mut at = 0;
    while at < ROUTES.len() {
        assert!(ROUTES[at].row as usize == at, "ROUTES must list the rows in the order of `Row`");
        at += 1;
    }
};

fn finish_with_best(d: &Decision) -> Next {
    let outcome = if d.event.best_inconclusive() { Outcome::Undecided } else { Outcome::NotApproved };
    d.state.finish(d.state.outcome_or_ambiguity(outcome))
}

fn mend_failing_clause(d: &Decision) -> Next {
    d.state.next_revision(d.event.refused_by().map_or(Formalize, ApprovalClause::node))
}

impl Row {
    /// Every row that a run can take, in order of precedence: all but [`Row::Ignored`], which is the last.
    pub const ALL: [Row; Row::VARIANTS.len() - 1] = *Row::VARIANTS.first_chunk().expect("`Ignored` is one row more");

    pub(in crate::pipeline) fn route(self) -> &'static Route {
        &ROUTES[self as usize]
    }

    /// The positions at which the row can be taken. The lifeline of that name decides there; a run that has ended or is
    /// stopped decides itself.
    pub(in crate::pipeline) fn owners(self) -> Vec<&'static str> {
        let can_take = |at: &&PositionName| TABLE.rows[**at as usize].iter().flatten().any(|(row, _)| *row == self);
        PositionName::VARIANTS.iter().filter(can_take).map(Into::into).collect()
    }

    /// Its name in the journal.
    pub fn name(self) -> String {
        name_of(&self)
    }
}

impl JsonSchema for Row {
    fn schema_name() -> Cow<'static, str> {
        "Row".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let name = |route: &Route| json_schema!({"description": route.words, "type": "string", "const": route.row});
        json_schema!({
            "description": "The row of the routing table that a transition took.",
            // An ignored event is never journaled.
            "oneOf": ROUTES.iter().filter(|route| route.row != Row::Ignored).map(name).collect::<Vec<Schema>>(),
        })
    }
}

/// The result of a transition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transition {
    /// The state after it.
    pub state: State,
    /// What to do, in order.
    pub effects: Vec<Effect>,
    /// The row taken.
    pub row: Row,
    /// What the row was chosen by.
    pub facts: RoutingFacts,
}

/// The transition function: pure, and defined for every state and event.
pub fn transition(settings: &RoutingSettings, state: &State, event: &Event) -> Transition {
    let facts = RoutingFacts::new(settings, state, event);
    let row = choose(state.position.into(), event.into(), &facts);
    let Next { state, effects } = (row.route().take)(&Decision { settings: *settings, state: *state, event: *event });
    Transition { state, effects, row, facts }
}

/// The parsed routing table.
struct Table {
    formulas: Formulas,
    /// The rows that can be taken at each position for each event, in order of precedence. The indexes are the numbers of
    /// the position and of the event.
    rows: Vec<Vec<Vec<(Row, Formula)>>>,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let mut formulas = Formulas::new();
    let parse = |route: &Route| (route.row, formulas.parse(route.guard).expect("a test parses every guard"));
    let all: Vec<(Row, Formula)> = ROUTES.iter().map(parse).collect();
    let rows_for = |at: &PositionName, event: &EventKind| {
        let known = RoutingFacts { event: Some(*event), ..RoutingFacts::of_position(*at) };
        let can_hold = |guard| evaluate(&formulas, guard, &|atom| holds_if_known(atom, &known)) != Some(false);
        all.iter().copied().filter(|(_, guard)| can_hold(*guard)).collect()
    };
    let rows_at = |at: &PositionName| EventKind::VARIANTS.iter().map(|event| rows_for(at, event)).collect();
    Table { rows: PositionName::VARIANTS.iter().map(rows_at).collect(), formulas }
});

fn choose(at: PositionName, event: EventKind, facts: &RoutingFacts) -> Row {
    let holds = |guard| evaluate(&TABLE.formulas, guard, &|atom| Some(atom.holds(facts))) == Some(true);
    let taken = TABLE.rows[at as usize][event as usize].iter().find(|(_, guard)| holds(*guard));
    taken.map_or(Row::Ignored, |(row, _)| *row)
}

/// Whether an atom holds; `None` if it reads a fact that is not known.
fn holds_if_known(atom: &Atom, known: &RoutingFacts) -> Option<bool> {
    let is_known = atom.fields().into_iter().all(|(_, name)| known.field(name).is_some());
    is_known.then(|| atom.holds(known))
}

/// The value of a formula in Kleene's three-valued logic; `None` if the atoms with a known value do not decide it.
fn evaluate(formulas: &Formulas, formula: Formula, atom: &impl Fn(&Atom) -> Option<bool>) -> Option<bool> {
    let value = |part: &Formula| evaluate(formulas, *part, atom);
    match formulas.node(formula) {
        Node::True => Some(true),
        Node::False => Some(false),
        Node::Atom(id) => atom(formulas.atom(*id)),
        Node::Not(part) => value(part).map(|value| !value),
        Node::And(parts) => combine(false, parts.iter().map(value)),
        Node::Or(parts) => combine(true, parts.iter().map(value)),
        // A decision is one moment. A test shows that no guard has a temporal operator.
        Node::Unary(..) | Node::Binary(..) | Node::Causal(..) | Node::Seen(_) => None,
    }
}

/// Combines the operands of `&`, which one false operand decides, or of `|`, which one true operand decides.
fn combine(decisive: bool, values: impl Iterator<Item = Option<bool>>) -> Option<bool> {
    let mut combined = Some(!decisive);
    for value in values {
        match value {
            Some(value) if value == decisive => return Some(decisive),
            Some(_) => {}
            None => combined = None,
        }
    }
    combined
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::temporal::Schema as KnownNames;

    #[test]
    fn guards_use_known_facts_and_no_temporal_operator() {
        let schema = schemars::schema_for!(RoutingFacts);
        let facts = schema.as_value()["properties"].as_object().unwrap().keys().map(|name| format!("routing.{name}"));
        let known =
            KnownNames { fields: Some(facts.collect()), lifelines: Some(BTreeSet::new()), ..KnownNames::default() };
        let mut formulas = Formulas::new();
        for route in &ROUTES {
            let guard = formulas.parse(route.guard).unwrap();
            formulas.check_schema(guard, &known).unwrap();
            for part in formulas.subformulas(guard) {
                let node = formulas.node(part);
                let is_of_one_moment =
                    matches!(node, Node::True | Node::Atom(_) | Node::Not(_) | Node::And(_) | Node::Or(_));
                assert!(is_of_one_moment, "{:?}: {node:?}", route.row);
            }
        }
    }

    #[test]
    fn each_row_is_owned_by_the_positions_that_its_guard_accepts() {
        let working = [
            "informal_spec",
            "formalize",
            "validate",
            "generate_invariants",
            "step_contracts",
            "model_check",
            "review",
            "second_reading",
            "mutants",
        ];
        let asking = ["informal_spec", "formalize", "generate_invariants"];
        for row in Row::ALL {
            let owners: &[&str] = match row {
                Row::Stopped => &working,
                Row::Resumed => &["stopped"],
                Row::InformalAnswered => &["informal_spec"],
                Row::FormalizeAnswered => &["formalize"],
                Row::UnreadableOnce => {
                    &["informal_spec", "formalize", "generate_invariants", "step_contracts", "review", "second_reading"]
                }
                Row::StrongerDropped => &["generate_invariants", "mutants"],
                Row::UnreadableTwice => &asking,
                Row::Validated | Row::ValidateRetry | Row::ValidateExhausted => &["validate"],
                Row::ContractsDue | Row::Merged | Row::InvariantRetry | Row::InvariantExhausted => {
                    &["generate_invariants"]
                }
                Row::ContractsMerged | Row::ContractsRetry | Row::ContractsLeftOut => &["step_contracts"],
                Row::MutantsDue | Row::Checked => &["model_check"],
                Row::StrongerKept | Row::Strengthen | Row::MutantsJudged => &["mutants"],
                Row::PolicyViolated | Row::OtherReadingApproved | Row::Approved | Row::FlawClaimed => &["review"],
                Row::OtherReading | Row::AmbiguityFound | Row::FlawRepaired | Row::FlawFound => &["second_reading"],
                Row::ObjectiveLost | Row::RevisionLimit | Row::FlawRefused => &["review", "second_reading"],
                Row::ApprovalRefused | Row::Issues | Row::NothingNamed => &["review"],
                Row::Ignored => unreachable!("no run takes it"),
            };
            assert_eq!(row.owners(), owners, "{row:?}");
        }
    }

    #[test]
    fn a_partly_known_formula_has_a_value_only_if_what_is_known_decides_it() {
        let known = RoutingFacts::of_position(PositionName::Review);
        let mut formulas = Formulas::new();
        for (text, value) in [
            (r#"routing.position = "review""#, Some(true)),
            (r#"routing.position != "review""#, Some(false)),
            (r#"!(routing.position = "review") & routing.issues"#, Some(false)),
            (r#"routing.position = "review" & routing.issues"#, None),
            (r#"routing.position = "review" | routing.issues"#, Some(true)),
            (r#"routing.position = "mutants" | routing.issues"#, None),
            ("!routing.issues", None),
            ("routing.under_way", Some(true)),
            ("!routing.under_way & routing.issues", Some(false)),
        ] {
            let formula = formulas.parse(text).unwrap();
            assert_eq!(evaluate(&formulas, formula, &|atom| holds_if_known(atom, &known)), value, "{text}");
        }
    }

    #[test]
    fn the_last_row_always_holds() {
        let last = &ROUTES[ROUTES.len() - 1];
        assert_eq!((last.row, last.guard), (Row::Ignored, "true"));
    }

    #[test]
    fn the_schema_of_a_row_names_and_describes_every_row() {
        let schema = schemars::schema_for!(Row);
        let rows = schema.as_value()["oneOf"].as_array().unwrap();
        let names: Vec<&str> = rows.iter().map(|row| row["const"].as_str().unwrap()).collect();
        let expected: Vec<String> = Row::ALL.iter().map(|row| row.name()).collect();
        assert_eq!(names, expected);
        assert_eq!(rows[0]["description"], Row::Stopped.route().words);
    }
}
