//! What a search found, for a reader: the verdict, how much was compared, and what differs.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use serde::Serialize;
use tlaforge_tla::Module;
use tlaforge_toolchain::{
    Behaviour, Difference, ExplainedStep, Explanation, FalseConjunct, LogEvent, LongestPrefix, NO_VALUE, RefusedStep,
};

use super::logs::ConformLog;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// A behaviour of the specification explains every event.
    Conforms,
    /// No behaviour does.
    Deviates,
    /// Each behaviour that explains the log violates an invariant.
    BreaksRequirement,
    Undecided,
}

/// How a log and a specification fit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Conformance {
    pub verdict: Verdict,
    /// The first line for a person.
    pub headline: String,
    /// What follows it.
    pub details: Vec<String>,
    /// The place of the first event that no behaviour explains, or after which an invariant is violated.
    pub place: Option<String>,
    pub events: usize,
    pub ignored: usize,
    pub processes: usize,
    pub order: String,
    /// Visited pairs of a state and the events before it.
    pub searched: Option<u64>,
    pub hidden_steps: usize,
    /// The labels of the algorithm that no step of the behaviour names.
    pub labels_not_named: Vec<String>,
    /// The variables that no compared observation names.
    pub unobserved_variables: Vec<String>,
    /// Observations that were never compared, because no line has their field.
    pub unused_observations: Vec<String>,
}

/// Says what a search found. `module` is the specification.
pub fn conformance(found: &Explanation, read: &ConformLog, module: &Module) -> Conformance {
    let mut conformance = Conformance {
        verdict: Verdict::Undecided,
        headline: String::new(),
        details: Vec::new(),
        place: None,
        events: read.log.events.len(),
        ignored: read.ignored,
        processes: read.processes.len(),
        order: read.order.clone(),
        searched: None,
        hidden_steps: 0,
        labels_not_named: Vec::new(),
        unobserved_variables: Vec::new(),
        unused_observations: Vec::new(),
    };
    observe(&mut conformance, read, module);
    match found {
        Explanation::Found(behaviour) => report_behaviour(&mut conformance, behaviour, read, module),
        Explanation::NotFound(prefix) => report_deviation(&mut conformance, prefix, read, module),
        Explanation::Undecided { why, event } => {
            conformance.place = event.map(|event| read.places[event as usize].to_string());
            let place = conformance.place.as_ref().map(|place| format!("{place}: ")).unwrap_or_default();
            conformance.headline = format!("undecided: {place}{why}");
        }
    }
    // A line break in an expression or a value begins no line.
    for text in std::iter::once(&mut conformance.headline).chain(&mut conformance.details) {
        if text.contains(['\n', '\r']) {
            let indent = text.len() - text.trim_start_matches(' ').len();
            *text = text[..indent].to_owned() + &text.split_whitespace().collect::<Vec<_>>().join(" ");
        }
    }
    conformance
}

impl Conformance {
    /// The text for a person.
    pub fn text(&self) -> String {
        let mut text = format!("{}\n", self.headline);
        for line in &self.details {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{line}");
        }
        let _ = writeln!(
            text,
            "\ncompared: {} ({} ignored), {}, ordered by {}",
            count(self.events, "event"),
            count(self.ignored, "line"),
            count(self.processes, if self.processes == 1 { "sequence" } else { "process" }),
            self.order
        );
        if let Some(searched) = self.searched {
            let _ = writeln!(text, "searched: {searched} pairs of a state and the events before it");
        }
        if self.hidden_steps > 0 {
            let _ = writeln!(text, "hidden steps used: {}", self.hidden_steps);
        }
        if !self.labels_not_named.is_empty() {
            let _ = writeln!(text, "labels that no step of it names: {}", self.labels_not_named.join(", "));
        }
        if !self.unused_observations.is_empty() {
            let _ =
                writeln!(text, "observations of which no line has the field: {}", self.unused_observations.join(", "));
        }
        if !self.unobserved_variables.is_empty() {
            let _ = writeln!(
                text,
                "variables that no compared observation names: {}",
                self.unobserved_variables.join(", ")
            );
        }
        text
    }
}

fn count(number: usize, thing: &str) -> String {
    let plural = if thing.ends_with('s') { format!("{thing}es") } else { format!("{thing}s") };
    format!("{number} {}", if number == 1 { thing.to_owned() } else { plural })
}

fn report_behaviour(conformance: &mut Conformance, behaviour: &Behaviour, read: &ConformLog, module: &Module) {
    conformance.searched = Some(behaviour.searched);
    conformance.hidden_steps = behaviour.steps.iter().filter(|step| matches!(step, ExplainedStep::Hidden(_))).count();
    let (mut taken, mut texts) = (BTreeSet::new(), BTreeSet::new());
    for step in &behaviour.steps {
        let text = match step {
            ExplainedStep::Event { event, step } => {
                let kind = read.log.events[*event as usize].kind;
                &read.log.kinds[kind].steps[*step]
            }
            ExplainedStep::Hidden(number) => &read.log.hidden[*number],
        };
        texts.insert(text.as_str());
        taken.extend(names_in(text));
    }
    let labels: Vec<&str> =
        module.algorithm.iter().flat_map(|algorithm| &algorithm.labels).map(|label| &*label.name).collect();
    // Steps such as `Next` do not name the labels that they take.
    if texts.iter().all(|text| labels.iter().any(|label| names_in(text).contains(label))) {
        let not_named = labels.into_iter().filter(|label| !taken.contains(label));
        conformance.labels_not_named = not_named.map(str::to_owned).collect();
    }
    let Some(violation) = &behaviour.violation else {
        conformance.verdict = Verdict::Conforms;
        conformance.headline = "conforms: a behaviour of the specification explains every event".into();
        return;
    };
    conformance.verdict = Verdict::BreaksRequirement;
    let invariants = violation.invariants.join(", ");
    let place = violation.after.map(|event| read.places[event as usize].to_string());
    let after = place.as_ref().map_or("in the initial state".to_owned(), |place| format!("after {place}"));
    conformance.headline = format!(
        "breaks a requirement: behaviours explain the log, but each of them violates {invariants}, this one {after}"
    );
    conformance.place = place;
    conformance.details.push("the state there:".to_owned());
    conformance.details.extend(violation.state.iter().map(|(name, value)| format!("  {name} = {value}")));
}

fn report_deviation(conformance: &mut Conformance, prefix: &LongestPrefix, read: &ConformLog, module: &Module) {
    conformance.verdict = Verdict::Deviates;
    conformance.searched = Some(prefix.searched);
    let describe = |event: u32| {
        let kind = &read.log.kinds[read.log.events[event as usize].kind];
        format!("{} ({})", read.places[event as usize], kind.name)
    };
    let Some(first) = prefix.next.first() else {
        conformance.headline = "deviates: the specification has no initial state".into();
        return;
    };
    conformance.place = Some(read.places[first.event as usize].to_string());
    conformance.headline = if prefix.next.len() == 1 {
        format!("deviates: no behaviour of the specification explains {}", describe(first.event))
    } else {
        let all: Vec<String> = prefix.next.iter().map(|refused| describe(refused.event)).collect();
        format!("deviates: no behaviour of the specification explains what comes next: any of {}", all.join(", "))
    };
    let details = &mut conformance.details;
    details.push(format!("explained before it: {} of {} events", prefix.explained, read.log.events.len()));
    for refused in &prefix.next {
        let kind = &read.log.kinds[read.log.events[refused.event as usize].kind];
        if prefix.next.len() > 1 {
            details.push(format!("{}:", describe(refused.event)));
        }
        details.extend(refused.before.iter().map(|difference| format!("  before the step, {}", words(difference))));
        for (step, why) in kind.steps.iter().zip(&refused.steps) {
            match why {
                RefusedStep::Disabled(conjunct) => {
                    details.push(format!("  {step} is not possible{}", conjunct_words(conjunct.as_ref(), module)));
                }
                RefusedStep::NotNext => {
                    details.push(format!(
                        "  {step} is possible, but the next-state relation of the specification does not allow it"
                    ));
                }
                RefusedStep::Differs(differences) if differences.is_empty() => {
                    let why = if refused.before.is_empty() {
                        "but no next state has all logged values at once"
                    } else {
                        "in this state"
                    };
                    details.push(format!("  {step} is possible {why}"));
                }
                RefusedStep::Differs(differences) => {
                    let all: Vec<String> = differences.iter().map(words).collect();
                    details.push(format!("  after {step}, {}", all.join("; ")));
                }
            }
        }
    }
    details.push(match prefix.other_states {
        0 => "the state of the specification there:".to_owned(),
        others => format!("one of {} states of the specification there:", others + 1),
    });
    details.extend(prefix.state.iter().map(|(name, value)| format!("  {name} = {value}")));
    let last: Vec<String> = prefix.before.iter().rev().take(5).rev().map(|event| describe(*event)).collect();
    if !last.is_empty() {
        details.push(format!("the events before it: {}", last.join(", ")));
    }
}

fn words(difference: &Difference) -> String {
    let Difference { expression, specified, logged } = difference;
    format!("{expression} is {} in the specification and {logged} in the log", specified.join(" or "))
}

fn conjunct_words(conjunct: Option<&FalseConjunct>, module: &Module) -> String {
    let Some(FalseConjunct { position, text, sides }) = conjunct else { return String::new() };
    // The user's file may have no translation, or an older one.
    let place = position.as_ref().filter(|position| !is_in_translation(position, module));
    let place = place.map(|position| format!(" at {position}")).unwrap_or_default();
    let text = text.as_ref().map(|text| format!(" `{text}`")).unwrap_or_default();
    let values = sides.as_ref().map(|(left, right)| format!(" ({left} and {right})")).unwrap_or_default();
    if place.is_empty() && text.is_empty() {
        String::new()
    } else {
        format!(": the condition{text}{place} is false{values}")
    }
}

fn is_in_translation(position: &str, module: &Module) -> bool {
    let line =
        position.strip_prefix("line ").and_then(|rest| rest.split_once(',')).and_then(|(line, _)| line.parse().ok());
    let is_own = position.ends_with(&format!(" of module {}", module.name));
    let lines: Option<usize> = line;
    let Some(line) = lines.filter(|_| is_own) else { return false };
    let start: usize = module.source.split_inclusive('\n').take(line - 1).map(str::len).sum();
    module.in_translation(start)
}

/// The names in a text of TLA+.
fn names_in(text: &str) -> BTreeSet<&str> {
    text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).filter(|name| !name.is_empty()).collect()
}

/// Lists what was not compared.
fn observe(conformance: &mut Conformance, read: &ConformLog, module: &Module) {
    let mut observed = BTreeSet::new();
    for (number, kind) in read.log.kinds.iter().enumerate() {
        for observation in kind.before.iter().chain(&kind.after) {
            let at = read.log.fields.iter().position(|field| *field == observation.field);
            let has_field =
                |event: &LogEvent| event.kind == number && at.is_some_and(|at| event.fields[at] != NO_VALUE);
            if read.log.events.iter().any(has_field) {
                observed.extend(names_in(&observation.expression));
            } else {
                conformance.unused_observations.push(format!("{} of {}", observation.expression, kind.name));
            }
        }
    }
    let variables = module.variables.iter().map(|variable| variable.name.as_str());
    conformance.unobserved_variables = variables.filter(|name| !observed.contains(name)).map(str::to_owned).collect();
}
