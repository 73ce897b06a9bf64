//! What a search found, for a reader: the verdict, how much was compared, and what differs.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use serde::{Serialize, Serializer};
use tlaforge_tla::Module;
use tlaforge_toolchain::{
    Behaviour, Difference, ExplainedPath, ExplainedStep, Explanation, FalseConjunct, LogEvent, LongestPrefix, NO_VALUE,
    RefusedEvent, RefusedStep, Windows,
};

use super::line::LogPlace;
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
    /// Further lines of the report.
    pub details: Vec<String>,
    /// The place of the first event that no behaviour explains, or after which an invariant is violated.
    #[serde(serialize_with = "as_text")]
    pub place: Option<LogPlace>,
    pub events: usize,
    pub ignored: usize,
    pub processes: usize,
    pub order: String,
    /// The constants whose values the logs say.
    pub constants: BTreeMap<String, String>,
    /// Visited pairs of a state and the events before it.
    pub searched: Option<u64>,
    pub hidden_steps: usize,
    /// The labels of the algorithm that no step of the behaviour names.
    pub labels_not_named: Vec<String>,
    /// The variables that no compared observation names.
    pub unobserved_variables: Vec<String>,
    /// Observations that were never compared, because no line has their field.
    pub unused_observations: Vec<String>,
    /// The last states of the behaviour that explains the log, or its longest part.
    #[serde(skip)]
    pub path: Vec<PathStep>,
    /// How many states come before those.
    #[serde(skip)]
    pub left_out_states: usize,
}

/// A state with the step that leads to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathStep {
    /// The name of the action; `None` for the initial state, and if the step is not written as one action.
    pub action: Option<String>,
    /// The process of the log; `None` if it has only one.
    pub process: Option<String>,
    /// The place and the kind of the event; `None` for a hidden step.
    pub event: Option<String>,
    pub state: Vec<(String, String)>,
}

/// The module of a specification, and what the documents of its run say about its steps.
#[derive(Debug, Clone)]
pub struct ComparedSpec<'a> {
    pub module: &'a Module,
    /// What the documents say about a step, by its name.
    pub documented: BTreeMap<String, Vec<String>>,
}

/// Says what a search found.
pub fn conformance(found: &Explanation, read: &ConformLog, spec: &ComparedSpec<'_>) -> Conformance {
    let module = spec.module;
    let mut conformance = Conformance::new(read);
    observe(&mut conformance, read, module);
    match found {
        Explanation::Found(behaviour) => report_behaviour(&mut conformance, behaviour, read, module),
        Explanation::NotFound(prefix) => report_deviation(&mut conformance, prefix, read, spec),
        Explanation::Undecided { why, event } => {
            conformance.place = event.map(|event| read.places[event as usize].clone());
            let place = conformance.place.as_ref().map(|place| format!("{place}: ")).unwrap_or_default();
            conformance.headline = format!("undecided: {place}{why}");
        }
    }
    conformance.keep_lines();
    conformance
}

impl Conformance {
    fn new(read: &ConformLog) -> Self {
        Self {
            verdict: Verdict::Undecided,
            headline: String::new(),
            details: Vec::new(),
            place: None,
            events: read.log.events.len(),
            ignored: read.ignored,
            processes: read.processes.len(),
            order: read.order.clone(),
            constants: read.constants.clone(),
            searched: None,
            hidden_steps: 0,
            labels_not_named: Vec::new(),
            unobserved_variables: Vec::new(),
            unused_observations: Vec::new(),
            path: Vec::new(),
            left_out_states: 0,
        }
    }

    fn set_path(&mut self, path: &ExplainedPath, read: &ConformLog) {
        let mut process_of = vec![0; read.log.events.len()];
        for (process, events) in read.log.processes.iter().enumerate() {
            for event in events {
                process_of[*event as usize] = process;
            }
        }
        // Sequences of overlapping intervals, and a single one, are no processes.
        let has_processes = read.processes.len() > 1 && read.order != OVERLAPPING;
        self.left_out_states = path.left_out;
        for (step, state) in &path.states {
            let (texts, event) = match step {
                None => (&[][..], None),
                Some(ExplainedStep::Hidden(number)) => (std::slice::from_ref(&read.log.hidden[*number]), None),
                Some(ExplainedStep::Event { event, step }) => {
                    let kind = &read.log.kinds[read.log.events[*event as usize].kind];
                    (kind.steps[*step].as_slice(), Some((*event, &kind.name)))
                }
            };
            let name = |text: &str| {
                text.trim().split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).next().map(str::to_owned)
            };
            self.path.push(PathStep {
                action: texts.last().and_then(|text| name(text)).filter(|name| !name.is_empty()),
                process: event
                    .filter(|_| has_processes)
                    .map(|(event, _)| read.processes[process_of[event as usize]].clone()),
                event: event.map(|(event, kind)| format!("{} ({kind})", read.places[event as usize])),
                state: state.clone(),
            });
        }
    }

    /// Replaces line breaks in expressions and values by blanks, so that none begins a line of the report.
    fn keep_lines(&mut self) {
        for text in std::iter::once(&mut self.headline).chain(&mut self.details) {
            if text.contains(['\n', '\r']) {
                let indent = text.len() - text.trim_start_matches(' ').len();
                *text = text[..indent].to_owned() + &text.split_whitespace().collect::<Vec<_>>().join(" ");
            }
        }
    }

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
            count(
                self.processes,
                if self.processes == 1 || self.order == OVERLAPPING { "sequence" } else { "process" }
            ),
            self.order
        );
        for (name, value) in &self.constants {
            let _ = writeln!(text, "from the logs: {name} = {value}");
        }
        if let Some(searched) = self.searched {
            let _ = writeln!(text, "searched: {searched} pairs of a state and the events before it");
        }
        if self.hidden_steps > 0 {
            let _ = writeln!(text, "hidden steps used: {}", self.hidden_steps);
        }
        if !self.labels_not_named.is_empty() {
            let _ = writeln!(text, "labels that no step names: {}", self.labels_not_named.join(", "));
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

#[expect(clippy::ref_option, reason = "serde passes a reference to the field")]
fn as_text<S: Serializer>(place: &Option<LogPlace>, serializer: S) -> Result<S::Ok, S::Error> {
    match place {
        Some(place) => serializer.collect_str(place),
        None => serializer.serialize_none(),
    }
}

/// How events that may overlap within a process are ordered.
const OVERLAPPING: &str = "time intervals only";

fn count(number: usize, thing: &str) -> String {
    let plural = if thing.ends_with('s') { format!("{thing}es") } else { format!("{thing}s") };
    format!("{number} {}", if number == 1 { thing.to_owned() } else { plural })
}

fn report_behaviour(conformance: &mut Conformance, behaviour: &Behaviour, read: &ConformLog, module: &Module) {
    conformance.searched = Some(behaviour.searched);
    conformance.set_path(&behaviour.path, read);
    conformance.hidden_steps = behaviour.steps.iter().filter(|step| matches!(step, ExplainedStep::Hidden(_))).count();
    let (mut taken, mut texts) = (BTreeSet::new(), BTreeSet::new());
    for step in &behaviour.steps {
        let text = match step {
            ExplainedStep::Event { event, step } => {
                let kind = read.log.events[*event as usize].kind;
                read.log.kinds[kind].steps[*step].as_slice()
            }
            ExplainedStep::Hidden(number) => std::slice::from_ref(&read.log.hidden[*number]),
        };
        texts.extend(text.iter().map(String::as_str));
        taken.extend(text.iter().flat_map(|text| names_in(text)));
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
    let place = violation.after.map(|event| read.places[event as usize].clone());
    let when = if violation.is_within { "between the steps of" } else { "after" };
    let after = place.as_ref().map_or("in the initial state".to_owned(), |place| format!("{when} {place}"));
    conformance.headline = format!(
        "breaks a requirement: each behaviour that explains the log violates an invariant; the one shown violates {invariants} {after}"
    );
    conformance.place = place;
    conformance.details.push("the state there:".to_owned());
    conformance.details.extend(violation.state.iter().map(|(name, value)| format!("  {name} = {value}")));
}

fn report_deviation(conformance: &mut Conformance, prefix: &LongestPrefix, read: &ConformLog, spec: &ComparedSpec<'_>) {
    conformance.verdict = Verdict::Deviates;
    conformance.searched = Some(prefix.searched);
    conformance.set_path(&prefix.path, read);
    let describe = |event: u32| {
        let kind = &read.log.kinds[read.log.events[event as usize].kind];
        format!("{} ({})", read.places[event as usize], kind.name)
    };
    let Some(first) = prefix.next.first() else {
        conformance.headline = "deviates: the specification has no initial state".into();
        return;
    };
    conformance.place = Some(read.places[first.event as usize].clone());
    conformance.headline = if prefix.next.len() == 1 {
        format!("deviates: no behaviour of the specification explains {}", describe(first.event))
    } else {
        let all: Vec<String> = prefix.next.iter().map(|refused| describe(refused.event)).collect();
        format!("deviates: no behaviour of the specification explains what comes next: any of {}", all.join(", "))
    };
    let details = &mut conformance.details;
    details.push(format!("explained before it: {} of {} events", prefix.explained, read.log.events.len()));
    for refused in &prefix.next {
        if prefix.next.len() > 1 {
            details.push(format!("{}:", describe(refused.event)));
        }
        details.extend(refusal_lines(refused, read, spec));
    }
    details.push(match prefix.other_states {
        0 => "the state of the specification there:".to_owned(),
        others => {
            format!("one of {} states of the specification there, which contradicts the log least:", others + 1)
        }
    });
    details.extend(prefix.state.iter().map(|(name, value)| format!("  {name} = {value}")));
    let last: Vec<String> = prefix.before.iter().rev().take(5).rev().map(|event| describe(*event)).collect();
    if !last.is_empty() {
        details.push(format!("the events before it: {}", last.join(", ")));
    }
}

/// Why none of the steps of an event is possible, a line for each reason.
fn refusal_lines(refused: &RefusedEvent, read: &ConformLog, spec: &ComparedSpec<'_>) -> Vec<String> {
    let module = spec.module;
    let mut lines: Vec<String> =
        refused.before.iter().map(|difference| format!("  before the step, {}", words(difference))).collect();
    let kind = &read.log.kinds[read.log.events[refused.event as usize].kind];
    for (row, why) in kind.steps.iter().zip(&refused.steps) {
        let part = |part: &usize| match row.get(*part) {
            Some(step) if row.len() > 1 => format!("{step} (step {} of {})", part + 1, row.len()),
            Some(step) => step.clone(),
            None => String::new(),
        };
        let all = row.join(", then ");
        lines.push(match why {
            RefusedStep::Disabled { part: at, conjunct } => {
                format!("  {} is not possible{}", part(at), conjunct_words(conjunct.as_ref(), module))
            }
            RefusedStep::NotNext { part: at } => {
                format!(
                    "  {} is possible, but the next-state relation of the specification does not allow it",
                    part(at)
                )
            }
            RefusedStep::Failed(what) => format!("  {all} could not be evaluated: {what}"),
            RefusedStep::Differs(differences) if differences.is_empty() => {
                let why = if refused.before.is_empty() {
                    "but no next state has all logged values at once"
                } else {
                    "in this state"
                };
                format!("  {all} is possible {why}")
            }
            RefusedStep::Differs(differences) => {
                let differences: Vec<String> = differences.iter().map(words).collect();
                format!("  after {all}, {}", differences.join("; "))
            }
        });
    }
    let named: BTreeSet<&str> = kind.steps.iter().flatten().flat_map(|step| names_in(step)).collect();
    for (step, sentences) in &spec.documented {
        if named.iter().any(|name| name.eq_ignore_ascii_case(step)) {
            lines.extend(sentences.iter().map(|sentence| format!("  the documents on {step}: {sentence}")));
        }
    }
    lines
}

/// The largest number of single events that are shown.
const MAX_SHOWN: usize = 5;

/// Says what single events are, each compared on its own.
pub fn window_conformance(windows: &Windows, read: &ConformLog, spec: &ComparedSpec<'_>) -> Conformance {
    let mut conformance = Conformance::new(read);
    observe(&mut conformance, read, spec.module);
    let Windows { conforming, refused, incomplete, undecided } = windows;
    let place = |event: u32| read.places[event as usize].to_string();
    let kind = |event: u32| read.log.events[event as usize].kind;
    let compared = conforming.len() + refused.len() + undecided.len();
    let details = &mut conformance.details;
    for (number, rule) in read.log.kinds.iter().enumerate() {
        let of_kind = |events: &mut dyn Iterator<Item = u32>| events.filter(|event| kind(*event) == number).count();
        let good = of_kind(&mut conforming.iter().copied());
        let bad = of_kind(&mut refused.iter().map(|one| one.event));
        let open = of_kind(&mut undecided.iter().map(|(event, _)| *event));
        let left_out = of_kind(&mut incomplete.iter().map(|(event, _)| *event));
        let mut line = format!("  {}: {good} of {}", rule.name, count(good + bad + open, "step"));
        if open > 0 {
            let _ = write!(line, ", {open} undecided");
        }
        if left_out > 0 {
            let _ = write!(line, ", {left_out} not compared");
        }
        details.push(line);
    }
    for one in refused.iter().take(MAX_SHOWN) {
        details.push(format!("{} ({}):", place(one.event), read.log.kinds[kind(one.event)].name));
        details.extend(refusal_lines(one, read, spec));
    }
    if refused.len() > MAX_SHOWN {
        details.push(format!("and {} more", refused.len() - MAX_SHOWN));
    }
    details.push("invariants were not checked".to_owned());
    if let Some((event, variable)) = incomplete.first() {
        details.push(format!(
            "not compared: {}, the first of them {}, because the value of {variable} before the step is not known",
            count(incomplete.len(), "event"),
            place(*event)
        ));
    }
    (conformance.verdict, conformance.headline) = if let Some(first) = refused.first() {
        conformance.place = Some(read.places[first.event as usize].clone());
        (
            Verdict::Deviates,
            format!(
                "deviates: {} of {} are no steps of the specification, the first at {}",
                refused.len(),
                count(compared, "compared event"),
                place(first.event)
            ),
        )
    } else if let Some((event, why)) = undecided.first() {
        conformance.place = Some(read.places[*event as usize].clone());
        (Verdict::Undecided, format!("undecided: {}: a step could not be evaluated: {why}", place(*event)))
    } else if compared == 0 {
        (Verdict::Undecided, "undecided: no event could be compared on its own".to_owned())
    } else {
        (
            Verdict::Conforms,
            match compared {
                1 => "conforms: the compared event is a step of the specification".to_owned(),
                _ => format!("conforms: all {compared} compared events are steps of the specification"),
            },
        )
    };
    conformance.keep_lines();
    conformance
}

fn words(difference: &Difference) -> String {
    let Difference { expression, specified, logged } = difference;
    format!("{expression} is {} in the specification and {logged} in the log", specified.join(" or "))
}

fn conjunct_words(conjunct: Option<&FalseConjunct>, module: &Module) -> String {
    let Some(FalseConjunct { position, text, sides }) = conjunct else { return String::new() };
    // The user's file may have no translation, or an older one.
    let place = position.as_ref().filter(|position| !module.has_in_translation(position));
    let place = place.map(|position| format!(" at {position}")).unwrap_or_default();
    let text = text.as_ref().map(|text| format!(" `{text}`")).unwrap_or_default();
    let values = sides.as_ref().map(|(left, right)| format!(" ({left} and {right})")).unwrap_or_default();
    if place.is_empty() && text.is_empty() {
        String::new()
    } else {
        format!(": the condition{text}{place} is false{values}")
    }
}

/// The names in a text of TLA+.
fn names_in(text: &str) -> BTreeSet<&str> {
    text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).filter(|name| !name.is_empty()).collect()
}

/// Lists what was not compared.
fn observe(conformance: &mut Conformance, read: &ConformLog, module: &Module) {
    let mut observed = BTreeSet::new();
    for (number, kind) in read.log.kinds.iter().enumerate() {
        let observations =
            kind.before.iter().map(|one| (one, "before")).chain(kind.after.iter().map(|one| (one, "after")));
        for (observation, when) in observations {
            let at = read.log.fields.iter().position(|field| *field == observation.field);
            let has_field =
                |event: &LogEvent| event.kind == number && at.is_some_and(|at| event.fields[at] != NO_VALUE);
            if read.log.events.iter().any(has_field) {
                observed.extend(names_in(&observation.expression));
            } else {
                conformance.unused_observations.push(format!("{} {when} {}", observation.expression, kind.name));
            }
        }
    }
    let variables = module.variables.iter().map(|variable| variable.name.as_str());
    conformance.unobserved_variables = variables.filter(|name| !observed.contains(name)).map(str::to_owned).collect();
}
