//! What each lifeline of a run can know: the guards evaluated on the causal past, by the vector clocks of the journal.

use std::sync::{Arc, LazyLock};

use serde_json::{Map, Value as Json};

use crate::journal::Kind;
use crate::monitor::causal_json::literal_json;
use crate::pipeline::machine::{ApprovalClause, ApprovalFacts, FlawClause, FlawFacts, NODE_LIFELINES, NodeName};
use crate::pipeline::records::{Claims, Entry, to_value};
use crate::temporal::causal::{self, CausalError, EmptyRecord, EventAction, Guards, Monitor, VectorClock};
use crate::temporal::{Atom, Formula, Formulas, Literal, Node, Record, Value};

/// Digits of a hash in messages.
const SHORT: usize = 8;

/// Digits of a whole SHA-256.
const DIGEST: usize = 64;

/// The compiled clauses of both guards: first those of the approval guard, then those of the flaw guard.
struct Clauses {
    formulas: Formulas,
    parsed: Vec<Formula>,
    guards: Guards,
}

static CLAUSES: LazyLock<Clauses> = LazyLock::new(|| {
    let mut formulas = Formulas::new();
    let texts = ApprovalClause::ALL.iter().map(|c| c.formula()).chain(FlawClause::ALL.iter().map(|c| c.formula()));
    let parse = |text: &str| formulas.parse(text).expect("a clause's formula is written in this crate");
    let parsed: Vec<Formula> = texts.map(parse).collect();
    let guards = Guards::new(&formulas, &parsed, &NODE_LIFELINES).expect("clauses speak of known lifelines");
    let review = guards.lifeline_index(NodeName::Review.name()).expect("the review is a lifeline");
    let guards = guards.restrict_to_owners(&vec![review; parsed.len()]);
    Clauses { formulas, parsed, guards }
});

/// What each lifeline can know of the others, after the events so far.
#[derive(Debug, Clone)]
pub(in crate::pipeline) struct CausalView {
    monitor: Monitor,
}

/// The values of all clauses at an event of `review` with these claims.
#[derive(Debug, Clone)]
pub struct Judgement {
    holds: Vec<bool>,
    /// The state after the event.
    monitor: Monitor,
    claims: Json,
}

impl Judgement {
    /// The first failing clause of the approval guard; `None` if all hold.
    pub fn approval(&self) -> Option<ApprovalClause> {
        ApprovalClause::ALL.into_iter().find(|clause| !self.holds(*clause))
    }

    /// The first failing clause of the flaw guard; `None` if all hold. The second reading comes after it.
    pub fn flaw(&self) -> Option<FlawClause> {
        let held = self.holds.iter().skip(ApprovalClause::ALL.len());
        FlawClause::ALL.into_iter().zip(held).find(|(_, holds)| !**holds).map(|(clause, _)| clause)
    }

    pub fn holds(&self, clause: ApprovalClause) -> bool {
        ApprovalClause::ALL.iter().position(|c| *c == clause).is_some_and(|at| self.holds[at])
    }

    /// Why a clause of the approval guard fails. If it compares hashes of module and configuration, with those that
    /// differ.
    pub(in crate::pipeline) fn refusal(&self, clause: ApprovalClause, facts: &ApprovalFacts) -> Refusal {
        let compares = [ApprovalClause::ModuleAccepted, ApprovalClause::MergedAccepted, ApprovalClause::CheckIsFresh];
        let differing =
            if compares.contains(&clause) { self.differing_values(approval_at(clause)) } else { Vec::new() };
        Refusal { clause: clause.name(), words: clause.words(facts), differing }
    }

    /// The same for a clause of the flaw guard.
    pub(in crate::pipeline) fn flaw_refusal(&self, clause: FlawClause, facts: &FlawFacts) -> Refusal {
        let compares = [FlawClause::ViolatedNow, FlawClause::NamesTheViolated];
        let differing = if compares.contains(&clause) { self.differing_values(flaw_at(clause)) } else { Vec::new() };
        Refusal { clause: clause.name(), words: clause.words(facts), differing }
    }

    /// The values that a clause of the approval guard saw, by the names in its formula; `null` for undefined ones.
    pub fn approval_values(&self, clause: ApprovalClause) -> Map<String, Json> {
        self.values(approval_at(clause))
    }

    /// The same for a clause of the flaw guard.
    pub fn flaw_values(&self, clause: FlawClause) -> Map<String, Json> {
        self.values(flaw_at(clause))
    }

    fn values(&self, clause: Option<usize>) -> Map<String, Json> {
        let all = atoms(clause).into_iter().flat_map(Atom::fields);
        all.map(|(lifeline, field)| self.named_value(lifeline, field)).collect()
    }

    /// The fields, with their values, in the comparisons of a clause that do not hold.
    fn differing_values(&self, clause: Option<usize>) -> Vec<String> {
        let seen = Seen { monitor: &self.monitor, claims: updates(Some(&self.claims)) };
        let failing = atoms(clause).into_iter().filter(|atom| !atom.holds(&seen));
        let seen: Map<String, Json> =
            failing.flat_map(Atom::fields).map(|(of, field)| self.named_value(of, field)).collect();
        seen.iter().map(|(name, value)| format!("{name} is {}", shorten(value))).collect()
    }

    /// A field by its name in a formula, and its value; `null` if it is undefined.
    fn named_value(&self, lifeline: Option<&str>, field: &str) -> (String, Json) {
        let seen = Seen { monitor: &self.monitor, claims: updates(Some(&self.claims)) };
        let (name, value) = match lifeline {
            Some(lifeline) => (format!("@{lifeline}.{field}"), seen.field_at(lifeline, field)),
            None => (field.to_owned(), seen.field(field)),
        };
        let value = value.and_then(|value| Literal::from_value(&value));
        (name, value.map_or(Json::Null, |value| literal_json(&value)))
    }
}

/// Why a clause fails.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::pipeline) struct Refusal {
    clause: String,
    words: String,
    differing: Vec<String>,
}

impl Refusal {
    /// The message with the values that differ.
    pub(in crate::pipeline) fn in_words(&self) -> String {
        let Self { words, differing, .. } = self;
        if differing.is_empty() { words.clone() } else { format!("{words} ({})", differing.join(", ")) }
    }

    /// The message with the name of the clause, for texts that do not show it otherwise.
    pub(in crate::pipeline) fn named(&self) -> String {
        let Self { clause, words, differing } = self;
        if differing.is_empty() {
            format!("{words} ({clause})")
        } else {
            format!("{words} ({clause}: {})", differing.join(", "))
        }
    }
}

/// What `review` knows at an event with these claims.
struct Seen<'a> {
    monitor: &'a Monitor,
    claims: Vec<(Arc<str>, Literal)>,
}

impl Record for Seen<'_> {
    fn field(&self, name: &str) -> Option<Value<'_>> {
        self.claims.iter().find(|(known, _)| **known == *name).map(|(_, value)| value.value())
    }

    fn field_at(&self, lifeline: &str, name: &str) -> Option<Value<'_>> {
        self.monitor.field_at(NodeName::Review.name(), lifeline, name)
    }
}

/// The index of a compiled clause.
fn approval_at(clause: ApprovalClause) -> Option<usize> {
    ApprovalClause::ALL.iter().position(|c| *c == clause)
}

fn flaw_at(clause: FlawClause) -> Option<usize> {
    FlawClause::ALL.iter().position(|c| *c == clause).map(|at| at + ApprovalClause::ALL.len())
}

/// The atoms of a clause.
fn atoms(clause: Option<usize>) -> Vec<&'static Atom> {
    let clauses = &*CLAUSES;
    let Some(formula) = clause.map(|at| clauses.parsed[at]) else { return Vec::new() };
    let parts = clauses.formulas.subformulas(formula).into_iter();
    let atom = |part| match clauses.formulas.node(part) {
        Node::Atom(atom) => Some(clauses.formulas.atom(*atom)),
        _ => None,
    };
    parts.filter_map(atom).collect()
}

/// A value for people; a hash is shortened.
fn shorten(value: &Json) -> String {
    match value {
        Json::Null => "not known".to_owned(),
        Json::String(sha) if sha.len() == DIGEST => sha.chars().take(SHORT).collect(),
        Json::String(text) => text.clone(),
        other => other.to_string(),
    }
}

impl CausalView {
    /// Before the first event.
    pub(in crate::pipeline) fn new() -> Self {
        Self { monitor: Monitor::new(&CLAUSES.guards) }
    }

    /// Applies the next event of the journal.
    ///
    /// # Errors
    /// A clock that does not follow from the events before it.
    pub(in crate::pipeline) fn add_event(&mut self, entry: &Entry) -> Result<(), CausalError> {
        if !NODE_LIFELINES.contains(&entry.lifeline.as_str()) {
            // No clause reads a candidate.
            return Ok(());
        }
        let mut step = causal::Event::new(&entry.lifeline, step_of(entry.kind));
        step.name = Some(entry.event.name().into());
        step.updates = updates(entry.event.claims().map(to_value).as_ref());
        self.step(&step, |name| entry.vc.get(name).copied())
    }

    fn step(&mut self, step: &causal::Event, count: impl Fn(&str) -> Option<u64>) -> Result<(), CausalError> {
        let clock = VectorClock(NODE_LIFELINES.iter().map(|name| count(name).unwrap_or(0)).collect());
        self.monitor.on_event_with_clock(step, &clock, &EmptyRecord).map(|_| ())
    }

    /// The verdicts of the guards if `review` published these claims now.
    pub(in crate::pipeline) fn judge(&self, claims: &Claims) -> Result<Judgement, CausalError> {
        self.judge_json(to_value(claims))
    }

    fn judge_json(&self, claims: Json) -> Result<Judgement, CausalError> {
        let review = NodeName::Review.name();
        let mut monitor = self.monitor.clone();
        let mut clock = monitor.clock(review)?;
        let own = monitor.guards().lifeline_index(review);
        clock.tick(own.unwrap_or_default());
        let mut event = causal::Event::new(review, step_of(Kind::Send));
        event.updates = updates(Some(&claims));
        let holds = monitor.on_event_with_clock(&event, &clock, &EmptyRecord)?.all();
        Ok(Judgement { holds, monitor, claims })
    }
}

fn step_of(kind: Kind) -> EventAction {
    match kind {
        Kind::Act => EventAction::Act,
        Kind::Choice => EventAction::Choice,
        // The clocks say which lifeline has seen which event, so messages need no names.
        Kind::Send => EventAction::Send { to: None, message: "".into() },
        Kind::Recv => EventAction::Recv { message: None },
    }
}

/// The fields of claims by their full names.
fn updates(claims: Option<&Json>) -> Vec<(Arc<str>, Literal)> {
    let mut all = Vec::new();
    let mut open = vec![("claims".to_owned(), claims)];
    while let Some((name, value)) = open.pop() {
        let value = match value {
            None | Some(Json::Array(_)) => continue,
            Some(Json::Object(fields)) => {
                open.extend(fields.iter().map(|(key, value)| (format!("{name}.{key}"), Some(value))));
                continue;
            }
            Some(Json::Null) => Some(Value::Null),
            Some(Json::Bool(value)) => Some(Value::Bool(*value)),
            Some(Json::Number(value)) => {
                let whole = value.as_i64().map(|whole| Value::Integer(whole.into()));
                whole.or_else(|| value.as_f64().map(Value::Number))
            }
            Some(Json::String(text)) => Some(Value::Text(text.as_str().into())),
        };
        all.extend(value.and_then(|value| Literal::from_value(&value)).map(|value| (name.as_str().into(), value)));
    }
    all
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::json;

    use super::*;

    /// A run in which each lifeline said what an approval needs.
    fn good() -> BTreeMap<&'static str, Json> {
        BTreeMap::from([
            ("informal_spec", json!({"readable": true, "answer": 1})),
            ("formalize", json!({"made_from": 1, "source": "s1"})),
            ("validate", json!({"accepted": true, "source": "s1"})),
            ("generate_invariants", json!({"accepted": true, "module": "m1", "cfg": "c1"})),
            (
                "model_check",
                json!({"module": "m1", "cfg": "c1", "verdict": "holds", "complete": true, "moved": true, "type_ok": true,
                       "witnesses": 1, "unreached": 0, "trace": false, "violated": null}),
            ),
            (
                "review",
                json!({"source": "s1", "module": "m1", "cfg": "c1", "changed_steps": 0, "covering": 1,
                       "constantly_true": 0, "dead_actions": 0, "unaccepted_cfg": 0, "uncovered": 0,
                       "unaccepted_open_points": 0, "unaccepted_assumptions": 0, "unaccounted_sentences": 0,
                       "unaccepted_readings": 0, "steps_without_contract": 0, "unaccepted_survivors": 0,
                       "unaccepted_bounds": 0, "unnamed_changes": 0,
                       "unread": 0}),
            ),
        ])
    }

    /// One in which a flaw may be claimed.
    fn flawed() -> BTreeMap<&'static str, Json> {
        let mut said = good();
        let check = said.get_mut("model_check").unwrap();
        (check["verdict"], check["trace"], check["violated"]) = (json!("violated"), json!(true), json!("Safe"));
        said.get_mut("review").unwrap()["flaw"] = json!({"described": true, "property": "Safe",
            "covers_requirement": true, "property_unchanged": true, "only_bounds": 0, "unfair": false,
            "unmapped_steps": 0});
        said
    }

    /// Follows an event of a lifeline that claims this.
    fn add_event(view: &mut CausalView, lifeline: &str, clock: &BTreeMap<&str, u64>, claims: &Json) {
        let mut step = causal::Event::new(lifeline, step_of(Kind::Send));
        step.updates = updates(Some(claims));
        view.step(&step, |name| clock.get(name).copied()).unwrap();
    }

    fn judged(said: &BTreeMap<&'static str, Json>) -> Judgement {
        let mut view = CausalView::new();
        let mut clock = BTreeMap::new();
        for (lifeline, claims) in said.iter().filter(|(lifeline, _)| **lifeline != "review") {
            clock.insert(*lifeline, 1);
            add_event(&mut view, lifeline, &clock, claims);
        }
        clock.insert("review", 1);
        add_event(&mut view, "review", &clock, &Json::Null);
        view.judge_json(said["review"].clone()).unwrap()
    }

    /// One way to break each clause and none that comes before it: a lifeline, a field, a value.
    const APPROVAL: [(ApprovalClause, &str, &str, &str); 27] = [
        (ApprovalClause::InformalSpecExists, "informal_spec", "readable", "false"),
        (ApprovalClause::NotChangedInSilence, "review", "changed_steps", "2"),
        (ApprovalClause::ModuleAccepted, "validate", "accepted", "false"),
        (ApprovalClause::MergedAccepted, "generate_invariants", "accepted", "false"),
        (ApprovalClause::CheckIsFresh, "model_check", "module", "\"m0\""),
        (ApprovalClause::Evaluates, "model_check", "verdict", "\"invalid\""),
        (ApprovalClause::NothingViolated, "model_check", "verdict", "\"violated\""),
        (ApprovalClause::Decided, "model_check", "verdict", "\"inconclusive\""),
        (ApprovalClause::Complete, "model_check", "complete", "false"),
        (ApprovalClause::Moved, "model_check", "moved", "false"),
        (ApprovalClause::TypeOkChecked, "model_check", "type_ok", "false"),
        (ApprovalClause::PropertyCovers, "review", "covering", "0"),
        (ApprovalClause::NoTautology, "review", "constantly_true", "1"),
        (ApprovalClause::WitnessExists, "model_check", "witnesses", "0"),
        (ApprovalClause::WitnessesReached, "model_check", "unreached", "1"),
        (ApprovalClause::ActionsTaken, "review", "dead_actions", "null"),
        (ApprovalClause::CfgAccepted, "review", "unaccepted_cfg", "1"),
        (ApprovalClause::RequirementsCovered, "review", "uncovered", "3"),
        (ApprovalClause::OpenPointsAccepted, "review", "unaccepted_open_points", "1"),
        (ApprovalClause::AssumptionsAccepted, "review", "unaccepted_assumptions", "1"),
        (ApprovalClause::SentencesAccounted, "review", "unaccounted_sentences", "1"),
        (ApprovalClause::ReadingsAccepted, "review", "unaccepted_readings", "1"),
        (ApprovalClause::StepsHaveContracts, "review", "steps_without_contract", "1"),
        (ApprovalClause::SurvivorsAccepted, "review", "unaccepted_survivors", "1"),
        (ApprovalClause::LargerBoundsAccepted, "review", "unaccepted_bounds", "1"),
        (ApprovalClause::ChangesNamed, "review", "unnamed_changes", "1"),
        (ApprovalClause::ReviewerRead, "review", "unread", "1"),
    ];

    #[test]
    fn the_approval_guard_holds_only_if_every_clause_does() {
        assert_eq!(judged(&good()).approval(), None);
        // Each alone, and each pair: the earlier clause is the one that is named.
        for (i, (clause, lifeline, field, value)) in APPROVAL.iter().enumerate() {
            assert_eq!(*clause, ApprovalClause::ALL[i]);
            for (other, lifeline_2, field_2, value_2) in &APPROVAL[i..] {
                let mut said = good();
                said.get_mut(lifeline_2).unwrap()[*field_2] = value_2.parse().unwrap();
                said.get_mut(lifeline).unwrap()[*field] = value.parse().unwrap();
                let judgement = judged(&said);
                assert_eq!(judgement.approval(), Some(*clause), "with {other:?}");
                let values = judgement.approval_values(*clause);
                let name = if *lifeline == "review" {
                    format!("claims.{field}")
                } else {
                    format!("@{lifeline}.claims.{field}")
                };
                assert_eq!(values[&name], value.parse::<Json>().unwrap(), "{values:?}");
            }
        }
    }

    #[test]
    fn a_refusal_names_its_clause_and_only_the_values_that_differ() {
        let facts = ApprovalFacts::default();
        let digest = |digit: &str| json!(digit.repeat(DIGEST));
        let mut said = good();
        said.get_mut("model_check").unwrap()["module"] = digest("a");
        for lifeline in ["generate_invariants", "review"] {
            said.get_mut(lifeline).unwrap()["module"] = digest("b");
        }
        let refusal = judged(&said).refusal(ApprovalClause::CheckIsFresh, &facts);
        let values = "@model_check.claims.module is aaaaaaaa, claims.module is bbbbbbbb";
        assert_eq!(refusal.named(), format!("{} (check_is_fresh: {values})", refusal.words));
        assert_eq!(refusal.in_words(), format!("{} ({values})", refusal.words));

        let mut said = good();
        said.get_mut("formalize").unwrap().as_object_mut().unwrap().remove("made_from");
        let refusal = judged(&said).refusal(ApprovalClause::ModuleAccepted, &facts);
        assert_eq!(
            refusal.differing,
            ["@formalize.claims.made_from is not known", "@informal_spec.claims.answer is 1"]
        );

        let mut said = flawed();
        said.get_mut("model_check").unwrap()["verdict"] = json!("inconclusive");
        let refusal = judged(&said).flaw_refusal(FlawClause::ViolatedNow, &FlawFacts::default());
        assert_eq!(refusal.differing, ["@model_check.claims.verdict is inconclusive"]);
        let refusal = judged(&good()).refusal(ApprovalClause::ReviewerRead, &facts);
        assert_eq!(refusal.named(), format!("{} (reviewer_read)", refusal.words));
    }

    #[test]
    fn a_missing_claim_makes_a_guard_fail() {
        let lifelines: Vec<&str> = good().into_keys().collect();
        for lifeline in lifelines {
            let fields: Vec<String> = good()[lifeline].as_object().unwrap().keys().cloned().collect();
            for field in fields.iter().filter(|field| !matches!(field.as_str(), "trace" | "violated")) {
                let mut said = good();
                said.get_mut(lifeline).unwrap().as_object_mut().unwrap().remove(field);
                assert!(judged(&said).approval().is_some(), "{lifeline} {field}");
            }
        }
        let claim = flawed()["review"]["flaw"].as_object().unwrap().clone();
        for field in claim.keys() {
            let mut said = flawed();
            said.get_mut("review").unwrap()["flaw"].as_object_mut().unwrap().remove(field);
            assert!(judged(&said).flaw().is_some(), "{field}");
        }
    }

    #[test]
    fn the_flaw_guard_names_the_first_clause_that_fails() {
        assert_eq!(judged(&flawed()).flaw(), None);
        let breakers = [
            (FlawClause::Described, "review", "/flaw/described", "false"),
            (FlawClause::ViolatedNow, "model_check", "/module", "\"m0\""),
            (FlawClause::NamesTheViolated, "review", "/flaw/property", "\"Other\""),
            (FlawClause::CoversRequirement, "review", "/flaw/covers_requirement", "false"),
            (FlawClause::PropertyUnchanged, "review", "/flaw/property_unchanged", "false"),
            (FlawClause::NotOnlyBounds, "review", "/flaw/only_bounds", "1"),
            (FlawClause::NotUnfair, "review", "/flaw/unfair", "true"),
            (FlawClause::StepsMapped, "review", "/flaw/unmapped_steps", "2"),
            (FlawClause::ReviewerRead, "review", "/unread", "1"),
        ];
        for (i, (clause, ..)) in breakers.iter().enumerate() {
            for last in i..breakers.len() {
                let mut said = flawed();
                for (_, lifeline, path, value) in breakers[i..=last].iter().rev() {
                    *said.get_mut(lifeline).unwrap().pointer_mut(path).unwrap() = value.parse().unwrap();
                }
                assert_eq!(judged(&said).flaw(), Some(*clause));
            }
        }
        let mut type_ok = flawed();
        type_ok.get_mut("model_check").unwrap()["violated"] = json!("TypeOK");
        type_ok.get_mut("review").unwrap()["flaw"]["property"] = json!("TypeOK");
        assert_eq!(judged(&type_ok).flaw(), Some(FlawClause::NotTypeOk));
    }

    #[test]
    fn only_a_draft_that_the_review_can_know_of_counts() {
        let newer = |seen: bool| {
            let mut view = CausalView::new();
            let said = good();
            let mut clock = BTreeMap::new();
            for (lifeline, claims) in said.iter().filter(|(lifeline, _)| **lifeline != "review") {
                clock.insert(*lifeline, 1);
                add_event(&mut view, lifeline, &clock, claims);
            }
            // The draft overtakes the check on its way, or is overtaken by it.
            let mut theirs = clock.clone();
            theirs.insert("formalize", 2);
            add_event(&mut view, "formalize", &theirs, &json!({"made_from": 1, "source": "s2"}));
            let mut ours = if seen { theirs } else { clock };
            ours.insert("review", 1);
            add_event(&mut view, "review", &ours, &Json::Null);
            view.judge_json(said["review"].clone()).unwrap().approval()
        };
        assert_eq!(newer(true), Some(ApprovalClause::ModuleAccepted));
        assert_eq!(newer(false), None);
    }
}
