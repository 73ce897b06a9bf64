//! Whether a policy of the user's own can govern a run: asked before anything is paid for. Its rules have to speak of
//! what a journal holds, some run has to satisfy them, and an approved one, too, where they are of severity `error`.

use std::collections::HashMap;
use std::sync::Arc;

use super::laws::{Law, laws};
use super::machine::Outcome;
use super::routes::Row;
use crate::monitor::consistency::{Over, moment, possible};
use crate::monitor::log::{JOURNAL_LIFELINES, Mapping, Shape, is_journal_field, journal_events, journal_fields, near};
use crate::monitor::{
    AuditError, Auditor, Follower, How, Intervening, KnownLabels, Policy, PolicyError, PolicyRule, Propositions, Scope,
    Severity,
};
use crate::temporal::{Atom, Formula, Formulas, Literal, Node, Reading, Term, Unary};

/// Why a policy cannot govern a run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AdmissionError {
    /// It cannot be read.
    #[error(transparent)]
    Policy(#[from] PolicyError),
    /// It says where an agent's log keeps things.
    #[error("[log] says where an agent's log keeps things, and a run is watched by its own journal; take it out")]
    Log,
    /// What is foreseen has no labels.
    #[error(
        "line {line}: rule `{rule}` speaks of `model:{name}`, and answers that are foreseen are not labelled; let [prediction] \
         say `how = \"ask\"`, or take its `intervention` out"
    )]
    Foreseen {
        /// Where it begins, from 1.
        line: usize,
        /// Its name.
        rule: String,
        /// The proposition.
        name: String,
    },
    /// A rule speaks of what no run has.
    #[error("line {line}: rule `{rule}`: {what} `{name}`{}", told_near(.near))]
    Unknown {
        /// Where it begins, from 1.
        line: usize,
        /// Its name.
        rule: String,
        /// A kind of thing, and that there is none of that name.
        what: &'static str,
        /// The name.
        name: String,
        /// What is written much alike, or all there are.
        near: Vec<String>,
    },
    /// A rule cannot be watched.
    #[error(transparent)]
    Unfit(#[from] AuditError),
    /// No run satisfies a rule.
    #[error("line {line}: rule `{rule}`: no run can satisfy it: {words}")]
    Impossible {
        /// Where it begins, from 1.
        line: usize,
        /// Its name.
        rule: String,
        /// What it asks for.
        words: String,
    },
    /// Two rules that no approved run may break, and no run satisfies together.
    #[error(
        "line {line}: rule `{rule}` contradicts rule `{other}`: no run can satisfy both, so none could ever be approved"
    )]
    Together {
        /// Where the later one begins, from 1.
        line: usize,
        /// Its name.
        rule: String,
        /// The earlier one's.
        other: String,
    },
    /// A causal rule is never asked.
    #[error("line {line}: rule `{rule}`: its `when` holds at no event, so it would never be asked")]
    NeverAsked {
        /// Where it begins, from 1.
        line: usize,
        /// Its name.
        rule: String,
    },
    /// No approved run satisfies a rule that no approved run may break.
    #[error(
        "line {line}: rule `{rule}` contradicts the default policy, so no run could ever be approved: {law} ({words})"
    )]
    Contradicts {
        /// Where it begins, from 1.
        line: usize,
        /// Its name.
        rule: String,
        /// The law that it contradicts.
        law: String,
        /// What that law asks for.
        words: String,
    },
}

fn told_near(near: &[String]) -> String {
    match near {
        [] => String::new(),
        names => format!(" (near it: {})", names.join(", ")),
    }
}

/// Rules ready to follow a journal from its beginning, with nothing asked but that they can be read and followed: a run
/// that has begun under them goes on under them.
pub(super) fn admitted(policy: &str) -> Result<Admitted, AdmissionError> {
    let mut formulas = Formulas::new();
    let Policy { rules, log, intervening, labels } = Policy::read(policy, &mut formulas)?;
    let known = KnownLabels::new(&labels, HashMap::new());
    let auditor = Auditor::labelled(formulas, rules, log.over(Shape::Journal), known)?;
    Ok(Admitted { follower: Follower::new(Arc::new(auditor))?, intervening, labels })
}

/// A policy that a run can be put under.
#[derive(Clone)]
pub struct Admitted {
    /// Its rules, before the first event.
    pub(super) follower: Follower,
    /// How its interventions go.
    pub(super) intervening: Intervening,
    /// What a model has to judge of each answer.
    pub(super) labels: Propositions,
}

/// The same, where all of them can govern a run.
pub fn admit(text: &str) -> Result<Admitted, AdmissionError> {
    let mut formulas = Formulas::new();
    let policy = Policy::read(text, &mut formulas)?;
    let bare = Mapping { shape: policy.log.shape.filter(|shape| *shape == Shape::Journal), ..Mapping::default() };
    if policy.log != bare {
        return Err(AdmissionError::Log);
    }
    for rule in &policy.rules {
        known(&formulas, rule)?;
        let samples = policy.intervening.prediction.as_ref().is_some_and(|p| p.how == How::Sampling);
        if let Some(name) = rule.rests_on(&formulas).first().filter(|_| samples && rule.intervention.is_some()) {
            return Err(AdmissionError::Foreseen { line: rule.line, rule: rule.id.clone(), name: name.to_string() });
        }
    }
    // Whether each can be followed is told before what follows from it.
    let admitted = admitted(text)?;
    for rule in &policy.rules {
        match &rule.scope {
            Scope::Trace(_) => of_trace(&formulas, rule)?,
            Scope::Causal { owner, when } => of_moments(&formulas, rule, owner, *when)?,
        }
    }
    of_pairs(&formulas, &policy.rules)?;
    Ok(admitted)
}

/// That every name is one that a journal knows.
fn known(formulas: &Formulas, rule: &PolicyRule) -> Result<(), AdmissionError> {
    let mut all = vec![rule.formula];
    if let Scope::Causal { owner, when } = &rule.scope {
        lifeline(rule, owner)?;
        all.extend(when);
    }
    for part in formulas.subformulas_of(&all) {
        match formulas.node(part) {
            Node::Causal(_, name, _) | Node::Seen(name) => lifeline(rule, name)?,
            Node::Atom(atom) => atom_known(rule, formulas.atom(*atom))?,
            _ => {}
        }
    }
    Ok(())
}

fn unknown(rule: &PolicyRule, what: &'static str, name: &str, near: Vec<&str>) -> AdmissionError {
    AdmissionError::Unknown {
        line: rule.line,
        rule: rule.id.clone(),
        what,
        name: name.to_owned(),
        near: near.into_iter().map(str::to_owned).collect(),
    }
}

fn lifeline(rule: &PolicyRule, name: &str) -> Result<(), AdmissionError> {
    if JOURNAL_LIFELINES.contains(&name) {
        return Ok(());
    }
    let near = match near(name, JOURNAL_LIFELINES.into_iter()) {
        none if none.is_empty() => JOURNAL_LIFELINES.to_vec(),
        some => some,
    };
    Err(unknown(rule, "there is no node", name, near))
}

fn atom_known(rule: &PolicyRule, atom: &Atom) -> Result<(), AdmissionError> {
    let field = |name: &str| {
        if is_journal_field(name) {
            return Ok(());
        }
        let fields: Vec<String> = journal_fields().collect();
        Err(unknown(rule, "no event of a run has a field", name, near(name, fields.iter().map(String::as_str))))
    };
    match atom {
        Atom::Name(name) => field(name)?,
        Atom::Label { kind, text } if &**kind == "tool_call" && &**text != "Read" => {
            return Err(unknown(rule, "no model of a run has a tool", text, vec!["Read"]));
        }
        Atom::Label { kind, text } if &**kind == "extra" => {
            field(text.split_once('=').map_or(&**text, |(name, _)| name))?;
        }
        _ => {}
    }
    for term in atom.terms() {
        for (at, name) in term.fields() {
            at.map_or(Ok(()), |at| lifeline(rule, at))?;
            field(name)?;
        }
    }
    // What `name` and `lifeline` are compared with is a name, too.
    let (of, with): (&Term, Vec<&Term>) = match atom {
        Atom::Compare(_, a @ (Term::Field(_) | Term::FieldAt(..)), b) => (a, vec![b]),
        Atom::Compare(_, b, a) => (a, vec![b]),
        Atom::Call(name, terms) if &**name == "one_of" && !terms.is_empty() => (&terms[0], terms[1..].iter().collect()),
        _ => return Ok(()),
    };
    let of = match of {
        Term::Field(name) | Term::FieldAt(_, name) => &**name,
        _ => return Ok(()),
    };
    for term in with {
        let Term::Literal(Literal::Text(text)) = term else { continue };
        match of {
            "lifeline" => lifeline(rule, text)?,
            "name" if !journal_events().any(|event| event == &**text) => {
                return Err(unknown(rule, "a run has no event", text, near(text, journal_events())));
            }
            field => {
                let values = values_of(field);
                if !values.is_empty() && !values.iter().any(|value| *value == **text) {
                    let near = match near(text, values.iter().map(String::as_str)) {
                        none if none.is_empty() => values.iter().map(String::as_str).collect(),
                        near => near,
                    };
                    return Err(unknown(rule, "no run has", &format!("{field} = {text:?}"), near));
                }
            }
        }
    }
    Ok(())
}

/// All values of a field that has few of them, whichever event carries it; none of another.
fn values_of(field: &str) -> Vec<String> {
    let fixed = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    match field {
        "row" => Row::ALL.iter().map(|row| row.name()).collect(),
        "outcome" => Outcome::ALL.iter().map(|outcome| outcome.name()).chain(["revised"]).map(str::to_owned).collect(),
        "guard" => fixed(&["approval", "flaw"]),
        "which" => fixed(&["resample", "inject", "switch"]),
        "on.verdict" => fixed(&["approved", "revise", "flaw"]),
        "outcome.verdict" | "check.verdict" => fixed(&["holds", "violated", "invalid", "inconclusive"]),
        _ => Vec::new(),
    }
}

/// What every approved run goes through, in this order: which law says so, in what words, and the event.
struct Milestone {
    law: String,
    words: String,
    event: Formula,
}

const STATIONS: [&str; 5] = ["informal_spec", "formalize", "validate", "generate_invariants", "model_check"];

/// The way of an approved run from its first event to its last. What the stations have said by then is read off the
/// clauses of the approval guard.
fn milestones(formulas: &mut Formulas) -> Vec<Milestone> {
    let clauses: Vec<Law> = laws().into_iter().filter(|law| law.guard == "approval").collect();
    let mut all = Vec::new();
    let mut add = |formulas: &mut Formulas, law: &str, words: &str, event: &str| {
        let event = formulas.parse(event).expect("a milestone is written in this file or in that of the guards");
        all.push(Milestone { law: law.to_owned(), words: words.to_owned(), event });
    };
    add(formulas, "journal/began", "a journal begins with `run_started`", "name = \"run_started\"");
    for station in STATIONS.into_iter().chain(["review"]) {
        let worked = format!("name = \"attempt_finished\" & lifeline = \"{station}\"");
        if station == "model_check" {
            let checked = "name = \"check_finished\" & lifeline = \"model_check\"";
            add(
                formulas,
                "approval/check_is_fresh",
                "the last check was of exactly this module and configuration",
                checked,
            );
        }
        if station == "review" {
            let read =
                "(name = \"answer_received\" | name = \"answer_taken\") & lifeline = \"review\" & tool_call:Read";
            let words = "the reviewer read module, configuration and outcome as they stand";
            add(formulas, "approval/reviewer_read", words, read);
        }
        let mut said = false;
        for clause in &clauses {
            for part in local_parts(clause.formula, station) {
                said = true;
                add(formulas, &format!("approval/{}", clause.name), clause.words, &format!("{worked} & ({part})"));
            }
        }
        if !said {
            add(formulas, "routing", "every station works before the review", &worked);
        }
    }
    let guard = "name = \"guard_evaluated\" & lifeline = \"review\" & guard = \"approval\" & holds = true";
    add(formulas, "routing/approved", "every clause of the approval guard holds", guard);
    let routed = "name = \"routed\" & lifeline = \"review\" & row = \"approved\"";
    add(formulas, "routing/approved", "an approval takes the row `approved`", routed);
    add(formulas, "routing/approved", "an approval closes its revision", "name = \"revision_closed\"");
    let ended = "name = \"run_finished\" & (outcome = \"approved\" | outcome = \"approved_repaired\")";
    add(formulas, "routing/approved", "an approval ends the run", ended);
    all
}

/// The parts of a clause that speak of one lifeline alone, as that lifeline itself would say them.
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

/// A rule about the whole journal: that some run satisfies it and, where it is of severity `error`, an approved one.
fn of_trace(formulas: &Formulas, rule: &PolicyRule) -> Result<(), AdmissionError> {
    let mut all = formulas.clone();
    if all.readable(rule.formula, Reading::Automaton).is_err() {
        return Ok(());
    }
    if possible(&mut all, &[rule.formula], Over::Events) == Some(false) {
        return Err(impossible(formulas, rule));
    }
    if rule.severity != Severity::Error {
        return Ok(());
    }
    let way = milestones(&mut all);
    let in_order = way.iter().rev().fold(None, |after, milestone| {
        let here = match after {
            // Several things that one event says are one step of the way.
            Some((after, last)) if last == milestone.place(&all) => all.and([milestone.event, after]),
            Some((after, _)) => {
                let later = all.unary(Unary::Finally, after);
                let next = all.unary(Unary::Next, later);
                all.and([milestone.event, next])
            }
            None => milestone.event,
        };
        Some((here, milestone.place(&all)))
    });
    let Some((in_order, _)) = in_order else { return Ok(()) };
    let in_order = all.unary(Unary::Finally, in_order);
    if possible(&mut all, &[rule.formula, in_order], Over::Events) != Some(false) {
        return Ok(());
    }
    for milestone in &way {
        let comes = all.unary(Unary::Finally, milestone.event);
        if possible(&mut all, &[rule.formula, comes], Over::Events) == Some(false) {
            return Err(contradicts(rule, &milestone.law, &milestone.words));
        }
    }
    Err(contradicts(rule, "routing", "the order in which an approved run goes through its stations"))
}

/// That no two rules of severity `error` about the whole journal exclude each other. Only those are put together that
/// speak of the same.
fn of_pairs(formulas: &Formulas, rules: &[PolicyRule]) -> Result<(), AdmissionError> {
    let mut all = formulas.clone();
    let strict = |rule: &&PolicyRule| rule.severity == Severity::Error && matches!(rule.scope, Scope::Trace(_));
    let strict: Vec<&PolicyRule> = rules
        .iter()
        .filter(strict)
        .filter(|rule| formulas.readable(rule.formula, Reading::Automaton).is_ok())
        .collect();
    for (at, rule) in strict.iter().enumerate() {
        let atoms = formulas.atoms_of(rule.formula);
        for other in &strict[..at] {
            let is_shared = formulas.atoms_of(other.formula).iter().any(|atom| atoms.contains(atom));
            if is_shared && possible(&mut all, &[other.formula, rule.formula], Over::Events) == Some(false) {
                return Err(AdmissionError::Together {
                    line: rule.line,
                    rule: rule.id.clone(),
                    other: other.id.clone(),
                });
            }
        }
    }
    Ok(())
}

impl Milestone {
    /// Which event it speaks of.
    fn place(&self, formulas: &Formulas) -> String {
        let parts = match formulas.node(self.event) {
            Node::And(parts) => parts.to_vec(),
            _ => vec![self.event],
        };
        parts.into_iter().take(2).map(|part| formulas.text(part)).collect::<Vec<_>>().join(" & ")
    }
}

/// The events at which an approval makes its owner decide, as formulas of that owner.
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
        station if STATIONS.contains(&station) => vec![("approval", "name = \"attempt_finished\"")],
        _ => Vec::new(),
    }
}

/// A causal rule: that it is asked somewhere, that it can hold, and that it does not forbid what an approval rests on.
fn of_moments(
    formulas: &Formulas,
    rule: &PolicyRule,
    owner: &str,
    when: Option<Formula>,
) -> Result<(), AdmissionError> {
    let mut all = Formulas::new();
    let holds = moment(formulas, rule.formula, owner, &mut all);
    let asked = match when {
        Some(when) => moment(formulas, when, owner, &mut all),
        None => all.truth(),
    };
    if possible(&mut all, &[asked], Over::Moment) == Some(false) {
        return Err(AdmissionError::NeverAsked { line: rule.line, rule: rule.id.clone() });
    }
    // A rule that is asked only sometimes may well forbid its own moment: it says that this never comes.
    if when.is_none() && possible(&mut all, &[holds], Over::Moment) == Some(false) {
        return Err(impossible(formulas, rule));
    }
    if rule.severity != Severity::Error {
        return Ok(());
    }
    let mut read = Formulas::new();
    let mut clauses = Vec::new();
    for law in laws().into_iter().filter(|law| law.guard == "approval") {
        let texts = match owner {
            // Both look back on all that led to the approval.
            "review" | "run" => vec![law.formula.to_owned()],
            station => local_parts(law.formula, station),
        };
        let speaker = if owner == "run" { "review" } else { owner };
        for text in texts {
            let parsed = read.parse(&text).expect("a clause's formula is written in this crate");
            clauses.push((law.name.clone(), law.words, moment(&read, parsed, speaker, &mut all)));
        }
    }
    let not_asked = all.not(asked);
    for (law, event) in approving(owner) {
        let event = read.parse(event).expect("an event is written in this file");
        let event = moment(&read, event, owner, &mut all);
        let facts: Vec<Formula> = clauses.iter().map(|(_, _, clause)| *clause).chain([event]).collect();
        let all_of = |more: Formula| facts.iter().copied().chain([more]).collect::<Vec<_>>();
        if possible(&mut all, &all_of(not_asked), Over::Moment) != Some(false)
            || possible(&mut all, &all_of(holds), Over::Moment) != Some(false)
        {
            continue;
        }
        if possible(&mut all, &[event, holds], Over::Moment) == Some(false) {
            return Err(contradicts(rule, law, "what every approval does"));
        }
        for (name, words, clause) in &clauses {
            if possible(&mut all, &[*clause, event, holds], Over::Moment) == Some(false) {
                return Err(contradicts(rule, &format!("approval/{name}"), words));
            }
        }
        return Err(contradicts(rule, "approval", "every clause of its guard, taken together"));
    }
    Ok(())
}

fn impossible(formulas: &Formulas, rule: &PolicyRule) -> AdmissionError {
    AdmissionError::Impossible { line: rule.line, rule: rule.id.clone(), words: formulas.words(rule.formula) }
}

fn contradicts(rule: &PolicyRule, law: &str, words: &str) -> AdmissionError {
    AdmissionError::Contradicts { line: rule.line, rule: rule.id.clone(), law: law.to_owned(), words: words.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(rule: &str) -> String {
        match admit(&format!("[[rule]]\nid = \"r\"\n{rule}\n")) {
            Ok(_) => String::new(),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn what_no_approved_run_can_keep_is_refused_with_the_law_that_it_contradicts() {
        for (rule, law) in [
            ("kind = \"no_call\"\nparams = { tool = \"Read\" }", "approval/reviewer_read"),
            ("formula = 'G name != \"check_finished\"'", "approval/check_is_fresh"),
            ("formula = 'G (defined(says.verdict) -> says.verdict = \"violated\")'", "approval/nothing_violated"),
            ("formula = 'G !(name = \"run_finished\" & outcome != \"stopped\")'", "routing/approved"),
            ("formula = 'G (lifeline = \"formalize\" -> G name != \"check_finished\")'", "the order"),
            ("owner = \"review\"\nformula = '@model_check.says.verdict = \"violated\"'", "approval/nothing_violated"),
            ("owner = \"review\"\nwhen = 'row = \"approved\"'\nformula = 'says.unread > 0'", "approval/reviewer_read"),
            (
                "owner = \"run\"\nwhen = 'name = \"run_finished\"'\nformula = 'outcome = \"flaw_found\"'",
                "routing/approved",
            ),
            (
                "owner = \"model_check\"\nwhen = 'name = \"attempt_finished\"'\nformula = 'says.complete = false'",
                "approval/complete",
            ),
        ] {
            let told = refused(rule);
            assert!(told.contains("contradicts the default policy") && told.contains(law), "{rule}: {told}");
            let milder = refused(&format!("severity = \"warning\"\n{rule}"));
            assert_eq!(milder, "", "{rule}");
        }
    }

    #[test]
    fn rules_that_exclude_each_other_are_refused_where_no_approved_run_may_break_them() {
        let pair = |a: &str, b: &str, severity: &str| {
            let rule = |id: &str, formula: &str| format!("[[rule]]\nid = \"{id}\"\nformula = '{formula}'\n");
            let text = format!("{}{}severity = \"{severity}\"\n", rule("a", a), rule("b", b));
            admit(&text).map_or_else(|error| error.to_string(), |_| String::new())
        };
        for (a, b) in [
            ("G !text_contains:\"TODO\"", "F text_contains:\"TODO\""),
            ("F (name = \"read_refused\" & attempt = 3)", "G !(name = \"read_refused\")"),
        ] {
            let told = pair(a, b, "error");
            assert!(told.starts_with("line 4: rule `b` contradicts rule `a`"), "{a}, {b}: {told}");
            assert_eq!(pair(a, b, "warning"), "", "{a}, {b}");
        }
        assert_eq!(pair("G !text_contains:\"TODO\"", "F text_contains:\"R1\"", "error"), "");
        assert_eq!(pair("F text_contains:\"TODO\"", "F !text_contains:\"TODO\"", "error"), "");
    }

    #[test]
    fn a_value_that_a_field_never_has_is_named_with_its_field() {
        let told = refused("formula = 'F (outcome = \"aproved\")'");
        assert!(told.contains("no run has `outcome = \"aproved\"` (near it: approved"), "{told}");
        let told = refused("formula = 'F (outcome.verdict = \"hold\")'");
        assert!(told.contains("no run has `outcome.verdict = \"hold\"` (near it: holds"), "{told}");
    }

    #[test]
    fn what_an_approved_run_may_keep_or_break_is_taken() {
        for rule in [
            "formula = 'G (name = \"request_sent\" -> F one_of(name, \"answer_received\", \"call_failed\"))'",
            "formula = 'F text_contains:\"R1\"'",
            "formula = 'G !text_contains:\"TODO\"'",
            "formula = 'G name != \"read_refused\"'",
            "formula = 'G rev < 2'",
            "kind = \"must_call_before\"\nparams = { first = \"Read\", then = \"Read\" }",
            "kind = \"required_stop_reason\"\nparams = { allowed = \"end_turn\" }",
            "owner = \"review\"\nwhen = 'name = \"guard_evaluated\"'\nformula = 'Seen@model_check & @model_check(O name = \"check_finished\")'",
            // A review may come before any check, where the module was not accepted.
            "formula = '(name != \"check_finished\") U (lifeline = \"review\" & name = \"routed\")'",
            "owner = \"review\"\nwhen = 'name = \"read_refused\"'\nformula = 'false'",
            "owner = \"formalize\"\nwhen = 'name = \"attempt_finished\"'\nformula = '!(@model_check.says.verdict = \"holds\")'",
            "owner = \"review\"\nwhen = 'row = \"approved\"'\nformula = '@model_check.outcome.statistics.distinct > 10'",
        ] {
            assert_eq!(refused(rule), "", "{rule}");
        }
    }
}
