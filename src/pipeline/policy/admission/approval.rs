//! Checks that rules can be satisfied, and that some approved run satisfies those of severity `error`: together with the
//! steps of every approved run.

use std::collections::BTreeSet;

use super::consistency::{Scene, at_moment, is_possible, topic_of};
use super::error::AdmissionError;
use crate::monitor::{PolicyRule, Scope, Severity};
use crate::pipeline::machine::ApprovalClause;
use crate::pipeline::policy::default_policy::{DefaultRule, default_rules};
use crate::temporal::{Formula, Formulas, Node, Reading, Unary};

/// A step of every approved run: an event, with the default rule that demands it.
struct Milestone {
    default_rule: String,
    words: String,
    event: Formula,
    /// Which event it is, without what the event says.
    place: String,
}

const NODES: [&str; 5] = ["informal_spec", "formalize", "validate", "generate_invariants", "model_check"];

/// The steps of an approved run, in their order. The claims of the nodes come from the clauses of the approval guard.
fn milestones(formulas: &mut Formulas) -> Vec<Milestone> {
    let clauses: Vec<DefaultRule> =
        default_rules().into_iter().filter(|default_rule| default_rule.guard == "approval").collect();
    let mut all = Vec::new();
    let mut add = |formulas: &mut Formulas, (default_rule, words): (&str, &str), place: &str, claims: Option<&str>| {
        let text = claims.map_or_else(|| place.to_owned(), |claims| format!("{place} & ({claims})"));
        let event = formulas.parse(&text).expect("a milestone is written in this file or in that of the guards");
        all.push(Milestone {
            default_rule: default_rule.to_owned(),
            words: words.to_owned(),
            event,
            place: place.to_owned(),
        });
    };
    let began = ("journal/began", "a journal begins with `run_started`");
    add(formulas, began, "name = \"run_started\"", None);
    for node in NODES.into_iter().chain(["review"]) {
        let worked = format!("{} & lifeline = \"{node}\"", worked(node));
        if node == "model_check" {
            let default_rule = ("approval/check_is_fresh", ApprovalClause::CheckIsFresh.demands());
            add(formulas, default_rule, "name = \"check_finished\" & lifeline = \"model_check\"", None);
        }
        if node == "review" {
            let default_rule = ("approval/reviewer_read", ApprovalClause::ReviewerRead.demands());
            let read =
                "(name = \"answer_received\" | name = \"answer_accepted\") & lifeline = \"review\" & tool_call:Read";
            add(formulas, default_rule, read, None);
        }
        let mut said = false;
        for clause in &clauses {
            for part in local_parts(clause.formula, node) {
                said = true;
                let default_rule = format!("approval/{}", clause.name);
                add(formulas, (&default_rule, clause.words), &worked, Some(&part));
            }
        }
        if !said {
            add(formulas, ("routing", "every node works before the review"), &worked, None);
        }
    }
    for (words, event) in [
        (
            "every clause of the approval guard holds",
            "name = \"guard_evaluated\" & lifeline = \"review\" & guard = \"approval\" & holds = true",
        ),
        ("an approval takes the row `approved`", "name = \"routed\" & lifeline = \"review\" & row = \"approved\""),
        ("an approval closes its revision", "name = \"revision_closed\""),
        (
            "an approval ends the run",
            "name = \"run_finished\" & (outcome = \"approved\" | outcome = \"approved_repaired\")",
        ),
    ] {
        add(formulas, ("routing/approved", words), event, None);
    }
    all
}

/// The event after which a node has worked. A person can repair by hand what `informal_spec` to `generate_invariants`
/// make: then `claims_restored` at the start of a branch says so. A check and a review cannot be replaced by hand.
fn worked(node: &str) -> &'static str {
    match node {
        "model_check" | "review" => "name = \"attempt_finished\"",
        _ => "(name = \"attempt_finished\" | name = \"claims_restored\")",
    }
}

/// The conjuncts of a clause that read only one lifeline, as that lifeline itself would say them.
fn local_parts(clause: &str, lifeline: &str) -> Vec<String> {
    let mut formulas = Formulas::new();
    let whole = formulas.parse(clause).expect("a clause's formula is written in this crate");
    let parts = match formulas.node(whole) {
        Node::And(parts) => parts.to_vec(),
        _ => vec![whole],
    };
    let is_local = |part: &Formula| {
        formulas.subformulas(*part).into_iter().all(|f| match formulas.node(f) {
            Node::Atom(atom) => {
                formulas.atom(*atom).terms().iter().flat_map(|term| term.fields()).all(|(at, _)| match at {
                    Some(at) => at == lifeline,
                    None => lifeline == "review",
                })
            }
            Node::Not(_) | Node::And(_) | Node::Or(_) => true,
            _ => false,
        })
    };
    let local = parts.into_iter().filter(is_local).map(|part| formulas.text(part));
    local.map(|text| text.replace(&format!("@{lifeline}."), "")).collect()
}

/// Checks that some run satisfies a rule about the whole journal and, if it is of severity `error`, some approved run
/// does.
pub(super) fn check_trace_rule(formulas: &Formulas, rule: &PolicyRule) -> Result<(), AdmissionError> {
    if formulas.check_reading(rule.formula, Reading::Automaton).is_err() {
        return Ok(());
    }
    let (mut all, formula) = alone(formulas, rule.formula);
    if is_possible(&mut all, &[formula], Scene::Events) == Some(false) {
        return Err(impossible(formulas, rule));
    }
    if rule.severity != Severity::Error {
        return Ok(());
    }
    let way = milestones(&mut all);
    let in_order = way.iter().rev().fold(None, |after: Option<(Formula, &str)>, milestone| {
        let here = match after {
            // Several claims of one event are one step.
            Some((after, last)) if last == milestone.place => all.and([milestone.event, after]),
            Some((after, _)) => {
                let later = all.unary(Unary::Finally, after);
                let next = all.unary(Unary::Next, later);
                all.and([milestone.event, next])
            }
            None => milestone.event,
        };
        Some((here, milestone.place.as_str()))
    });
    let Some((in_order, _)) = in_order else { return Ok(()) };
    let in_order = all.unary(Unary::Finally, in_order);
    if is_possible(&mut all, &[formula, in_order], Scene::Events) != Some(false) {
        return Ok(());
    }
    for milestone in &way {
        let comes = all.unary(Unary::Finally, milestone.event);
        if is_possible(&mut all, &[formula, comes], Scene::Events) == Some(false) {
            return Err(contradicts(rule, &milestone.default_rule, &milestone.words));
        }
    }
    Err(contradicts(rule, "routing", "the order in which an approved run goes through its nodes"))
}

/// A formula in a table of its own. In a table of all rules, each rule would cost more than the one before.
fn alone(formulas: &Formulas, formula: Formula) -> (Formulas, Formula) {
    let mut own = Formulas::new();
    match own.parse(&formulas.text(formula)) {
        Ok(formula) => (own, formula),
        Err(_) => (formulas.clone(), formula),
    }
}

/// How many pairs of rules are compared at most. Each comparison builds an automaton.
const MOST_PAIRS: usize = 1000;

/// Checks that no two rules of severity `error` about the whole journal exclude each other. Only rules with a common
/// field or label are compared. Returns how many pairs were left out.
pub(super) fn check_pairs(formulas: &Formulas, rules: &[PolicyRule]) -> Result<usize, AdmissionError> {
    let strict = |rule: &&PolicyRule| rule.severity == Severity::Error && matches!(rule.scope, Scope::Trace(_));
    let strict: Vec<&PolicyRule> = rules
        .iter()
        .filter(strict)
        .filter(|rule| formulas.check_reading(rule.formula, Reading::Automaton).is_ok())
        .collect();
    // `name = "a"` and `name != "a"` are different atoms about the same field.
    let topics = |rule: &&PolicyRule| -> BTreeSet<String> {
        formulas.atoms_of(rule.formula).into_iter().map(|atom| topic_of(formulas, atom)).collect()
    };
    let topics: Vec<BTreeSet<String>> = strict.iter().map(topics).collect();
    let mut pairs = 0_usize;
    for (at, rule) in strict.iter().enumerate() {
        for (other, theirs) in strict[..at].iter().zip(&topics) {
            if theirs.is_disjoint(&topics[at]) {
                continue;
            }
            pairs += 1;
            if pairs > MOST_PAIRS {
                continue;
            }
            let both = formulas.text(other.formula);
            let (mut all, formula) = alone(formulas, rule.formula);
            let Ok(other_formula) = all.parse(&both) else { continue };
            if is_possible(&mut all, &[other_formula, formula], Scene::Events) == Some(false) {
                return Err(AdmissionError::Together {
                    line: rule.line,
                    rule: rule.id.clone(),
                    other: other.id.clone(),
                });
            }
        }
    }
    Ok(pairs.saturating_sub(MOST_PAIRS))
}

/// The events of a lifeline at every approval, as formulas of that lifeline.
fn approving(owner: &str) -> Vec<(&'static str, &'static str)> {
    match owner {
        "review" => vec![
            ("approval", "name = \"attempt_finished\""),
            ("approval", "name = \"guard_evaluated\" & guard = \"approval\" & holds = true"),
            (
                "routing/approved",
                "name = \"routed\" & row = \"approved\" & (to = \"approved\" | to = \"approved_repaired\")",
            ),
            ("routing/approved", "name = \"revision_closed\""),
        ],
        "run" => vec![(
            "routing/approved",
            "name = \"run_finished\" & (outcome = \"approved\" | outcome = \"approved_repaired\")",
        )],
        node if NODES.contains(&node) => vec![("approval", worked(node))],
        _ => Vec::new(),
    }
}

/// Checks that a causal rule is evaluated at some event, can hold, and does not exclude what every approval rests on.
pub(super) fn check_causal_rule(
    formulas: &Formulas,
    rule: &PolicyRule,
    (owner, when): (&str, Option<Formula>),
) -> Result<(), AdmissionError> {
    let scene = Scene::MomentOf(owner);
    let mut all = Formulas::new();
    let holds = at_moment(formulas, rule.formula, owner, &mut all);
    let asked = match when {
        Some(when) => at_moment(formulas, when, owner, &mut all),
        None => all.truth(),
    };
    if is_possible(&mut all, &[asked], scene) == Some(false) {
        return Err(AdmissionError::NeverEvaluated { line: rule.line, rule: rule.id.clone(), owner: owner.to_owned() });
    }
    // A rule with a `when` may exclude the moments at which it is evaluated: it says that they never come. A rule without
    // one is evaluated whenever its owner works, so it has to hold at some moment.
    let is_strict = rule.severity == Severity::Error;
    let always_works = owner == "run" || (is_strict && !approving(owner).is_empty());
    if when.is_none() && always_works && is_possible(&mut all, &[holds], scene) == Some(false) {
        return Err(impossible(formulas, rule));
    }
    if !is_strict {
        return Ok(());
    }
    let mut read = Formulas::new();
    let mut clauses = Vec::new();
    for default_rule in default_rules().into_iter().filter(|default_rule| default_rule.guard == "approval") {
        let texts = match owner {
            // Both come after everything that led to the approval.
            "review" | "run" => vec![default_rule.formula.to_owned()],
            node => local_parts(default_rule.formula, node),
        };
        let speaker = if owner == "run" { "review" } else { owner };
        for text in texts {
            let parsed = read.parse(&text).expect("a clause's formula is written in this crate");
            clauses.push((default_rule.name.clone(), default_rule.words, at_moment(&read, parsed, speaker, &mut all)));
        }
    }
    let not_asked = all.not(asked);
    for (default_rule, event) in approving(owner) {
        let event = read.parse(event).expect("an event is written in this file");
        let event = at_moment(&read, event, owner, &mut all);
        let facts: Vec<Formula> = clauses.iter().map(|(_, _, clause)| *clause).chain([event]).collect();
        let all_of = |more: Formula| facts.iter().copied().chain([more]).collect::<Vec<_>>();
        if is_possible(&mut all, &all_of(not_asked), scene) != Some(false)
            || is_possible(&mut all, &all_of(holds), scene) != Some(false)
        {
            continue;
        }
        if is_possible(&mut all, &[holds], scene) == Some(false) {
            let (line, rule, words) = (rule.line, rule.id.clone(), formulas.in_words(rule.formula));
            return Err(AdmissionError::NeverHolds { line, rule, words });
        }
        if is_possible(&mut all, &[event, holds], scene) == Some(false) {
            return Err(contradicts(rule, default_rule, "what every approval does"));
        }
        for (name, words, clause) in &clauses {
            if is_possible(&mut all, &[*clause, event, holds], scene) == Some(false) {
                return Err(contradicts(rule, &format!("approval/{name}"), words));
            }
        }
        return Err(contradicts(rule, "approval", "every clause of its guard, taken together"));
    }
    Ok(())
}

fn impossible(formulas: &Formulas, rule: &PolicyRule) -> AdmissionError {
    AdmissionError::Impossible { line: rule.line, rule: rule.id.clone(), words: formulas.in_words(rule.formula) }
}

fn contradicts(rule: &PolicyRule, default_rule: &str, words: &str) -> AdmissionError {
    AdmissionError::Contradicts {
        line: rule.line,
        rule: rule.id.clone(),
        default_rule: default_rule.to_owned(),
        words: words.to_owned(),
    }
}
