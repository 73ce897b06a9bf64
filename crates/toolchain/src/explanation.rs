//! A search for a behaviour of a specification that explains a log of a real system: what the embedded checker and its child
//! exchange, and the module that the child evaluates. The log is a partial order of events, each of which has to be one of certain steps.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use tlaforge_process::Status;
use tlaforge_tla::Cfg;

use super::core_arithmetic::{COMPARISON_PREFIX, LIMIT_PREFIX, UNDEFINED_PREFIX};
use super::core_program::{ASSUMPTION_PREFIX, Source};
use super::plan::{self, RunPlan, free_name};
use super::{CheckRequest, SpecText};

/// The start of the marker's value if the child explains a log.
pub(super) const PREFIX: &str = "explanation:";

/// What events of a kind are in the specification. Steps and observations are expressions of TLA+, in which `e` is the event, a record of
/// its fields.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventKind {
    pub name: String,
    /// What such an event may be: one of these sequences of actions.
    pub steps: Vec<Vec<String>>,
    /// What is known before the step.
    pub before: Vec<Observation>,
    /// What is known after the step.
    pub after: Vec<Observation>,
}

/// An expression over the variables, and the field of the event that says its value. An event without the field says nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Observation {
    pub expression: String,
    pub field: String,
}

/// The value of a field.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum FieldValue {
    /// Strings, whole numbers, Booleans, lists (sequences) and objects (records).
    Json(serde_json::Value),
    /// An expression of TLA+ without variables, and where it stands first: a field and a line.
    Tla { expression: String, origin: String },
}

/// The number of the value of a field that an event does not have.
pub const NO_VALUE: u32 = u32::MAX;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LogEvent {
    /// The number of its kind.
    pub kind: usize,
    /// For each of [`Log::fields`], the number of its value, or [`NO_VALUE`].
    pub fields: Vec<u32>,
    /// For each process, how many of its first events must have happened before this one; nothing if there is only one.
    pub needs: Vec<u32>,
}

/// Events in the order of each process, and what they mean.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Log {
    pub kinds: Vec<EventKind>,
    /// Actions that leave no event.
    pub hidden: Vec<String>,
    /// The largest number of them in a row.
    pub max_hidden: u32,
    /// The name of the event in steps and observations, such as `e`.
    pub event_name: String,
    /// The names of the fields of events.
    pub fields: Vec<String>,
    /// The different values of fields.
    pub values: Vec<FieldValue>,
    pub events: Vec<LogEvent>,
    /// The events of each process, by number, in order. Of several that may be next, the search tries the one with the lowest number
    /// first.
    pub processes: Vec<Vec<u32>>,
}

impl Log {
    /// Every string in its events: names of fields, string values, and keys of objects.
    pub(super) fn strings(&self) -> Vec<String> {
        let mut strings: BTreeSet<String> = self.fields.iter().cloned().collect();
        for value in &self.values {
            if let FieldValue::Json(json) = value {
                collect_strings(json, &mut strings);
            }
        }
        strings.into_iter().collect()
    }
}

fn collect_strings(json: &serde_json::Value, strings: &mut BTreeSet<String>) {
    match json {
        serde_json::Value::String(text) => drop(strings.insert(text.clone())),
        serde_json::Value::Array(all) => all.iter().for_each(|one| collect_strings(one, strings)),
        serde_json::Value::Object(all) => {
            for (name, one) in all {
                strings.insert(name.clone());
                collect_strings(one, strings);
            }
        }
        _ => {}
    }
}

/// How the search ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Explanation {
    /// A behaviour explains every event.
    Found(Behaviour),
    /// No behaviour does.
    NotFound(Box<LongestPrefix>),
    /// It is not known.
    Undecided {
        why: String,
        /// The event that could not be compared, if that is the reason.
        event: Option<u32>,
    },
}

/// A behaviour that explains a log.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Behaviour {
    /// In order: the number of the event and of its step in the kind, or of a hidden action.
    pub steps: Vec<ExplainedStep>,
    /// How many pairs of a state and the events before it were visited.
    pub searched: u64,
    pub path: Path,
    /// If every behaviour that explains the log violates an invariant: the first such state of this one.
    pub violation: Option<ViolatingState>,
}

/// The states of a behaviour, each with the step that leads to it; the last [`MAX_PATH_STATES`] of them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Path {
    /// How many states come before.
    pub left_out: usize,
    pub states: Vec<PathState>,
}

/// A state as values of variables, and the step that leads to it; the initial state has none.
pub type PathState = (Option<ExplainedStep>, Vec<(String, String)>);

/// The largest number of states of a [`Path`].
pub const MAX_PATH_STATES: usize = 300;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum ExplainedStep {
    Event { event: u32, step: usize },
    Hidden(usize),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ViolatingState {
    pub invariants: Vec<String>,
    /// The event before it; `None` for an initial state.
    pub after: Option<u32>,
    /// Whether it is between the steps of that event.
    pub is_within: bool,
    pub state: Vec<(String, String)>,
}

/// The longest part of the log that a behaviour explains, and why it cannot be extended.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LongestPrefix {
    /// The largest number of events that a behaviour explains.
    pub explained: u32,
    /// These events, in an order in which they may have happened.
    pub before: Vec<u32>,
    /// The events that could be next, and why none is.
    pub next: Vec<RefusedEvent>,
    /// The state after the explained events.
    pub state: Vec<(String, String)>,
    /// The behaviour that leads there.
    pub path: Path,
    /// How many other states there are after as many events.
    pub other_states: u32,
    pub searched: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefusedEvent {
    pub event: u32,
    /// What the event says of the state before it, and what differs.
    pub before: Vec<Difference>,
    /// For each step that it could be, why it is not.
    pub steps: Vec<RefusedStep>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Difference {
    pub expression: String,
    /// The value in the specification; several if it depends on the step.
    pub specified: Vec<String>,
    pub logged: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum RefusedStep {
    /// This action of the sequence is not enabled: the first conjunct that is false, with the values of its sides.
    Disabled { part: usize, conjunct: Option<FalseConjunct> },
    /// It leads to other values.
    Differs(Vec<Difference>),
    /// This action of the sequence is possible, but no step of the specification.
    NotNext { part: usize },
    /// It could not be evaluated.
    Failed(String),
}

/// What single events say, each on its own: whether a step leads from the state before it to the one after it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Windows {
    /// The events that are a step of the specification.
    pub conforming: Vec<u32>,
    pub refused: Vec<RefusedEvent>,
    /// Events without a value for this variable before the step.
    pub incomplete: Vec<(u32, String)>,
    /// Events whose steps could not be evaluated, and why.
    pub undecided: Vec<(u32, String)>,
}

/// What the child prints.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Answer {
    Explanation(Explanation),
    Windows(Windows),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FalseConjunct {
    /// `line 4, column 8 of module M`, if it is in one of the modules.
    pub position: Option<String>,
    /// The source text from there to the end of the line.
    pub text: Option<String>,
    /// The values of both sides, if it compares two values.
    pub sides: Option<(String, String)>,
}

/// The child reads it from standard input.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Task {
    pub(super) source: Source,
    pub(super) log: Log,
    pub(super) prefix: String,
    pub(super) work: LogWork,
}

/// What is done with a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum LogWork {
    /// Search for a behaviour; at most so many pairs of a state and the events before it.
    Explain { max_searched: u64 },
    /// Compare each event on its own.
    Windows,
}

impl Task {
    pub(super) fn to_json(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }
}

/// Names of the operators for these expressions.
pub(super) struct Names<'a>(pub(super) &'a str);

impl Names<'_> {
    pub(super) fn step(&self, kind: usize, step: usize, part: usize) -> String {
        format!("{}Step{kind}_{step}_{part}", self.0)
    }

    pub(super) fn before(&self, kind: usize, at: usize) -> String {
        format!("{}Before{kind}_{at}", self.0)
    }

    pub(super) fn after(&self, kind: usize, at: usize) -> String {
        format!("{}After{kind}_{at}", self.0)
    }

    pub(super) fn hidden(&self, at: usize) -> String {
        format!("{}Hidden{at}", self.0)
    }

    pub(super) fn value(&self, at: usize) -> String {
        format!("{}Value{at}", self.0)
    }
}

/// The head of a definition, the expression, and what it is.
type DefinedText<'a> = (String, &'a str, String);

/// The specification, extended by a definition for each expression of a map and its log.
#[derive(Debug)]
pub(super) struct ExplanationPlan {
    pub(super) plan: RunPlan,
    pub(super) prefix: String,
    pub(super) operators: Vec<String>,
    /// The expressions of the map, with the line of each one's definition in the module.
    lines: Vec<(usize, String)>,
}

impl ExplanationPlan {
    pub(super) fn new(request: &CheckRequest, log: &Log) -> Self {
        let prefix = free_name(&request.spec, "TlaforgeLog".to_owned());
        let names = Names(&prefix);
        let event = format!("({})", log.event_name);
        let mut texts: Vec<DefinedText<'_>> = Vec::new();
        for (number, kind) in log.kinds.iter().enumerate() {
            for (at, row) in kind.steps.iter().enumerate() {
                for (part, step) in row.iter().enumerate() {
                    let head = names.step(number, at, part) + &event;
                    texts.push((head, step, format!("a step of the event {}", kind.name)));
                }
            }
            for (at, known) in kind.before.iter().enumerate() {
                let what = format!("`before` of the event {}", kind.name);
                texts.push((names.before(number, at) + &event, &known.expression, what));
            }
            for (at, known) in kind.after.iter().enumerate() {
                let what = format!("`after` of the event {}", kind.name);
                texts.push((names.after(number, at) + &event, &known.expression, what));
            }
        }
        for (at, step) in log.hidden.iter().enumerate() {
            texts.push((names.hidden(at), step, "a hidden step".to_owned()));
        }
        for (at, value) in log.values.iter().enumerate() {
            if let FieldValue::Tla { expression, origin } = value {
                texts.push((names.value(at), expression, origin.clone()));
            }
        }
        Self::define(request, &prefix, &event, texts)
    }

    /// The specification with a definition for each of these expressions, and their names.
    pub(super) fn of_expressions(
        request: &CheckRequest,
        expressions: &[String],
        keeps_constraints: bool,
    ) -> (Self, Vec<String>) {
        let prefix = free_name(&request.spec, "TlaforgeSteps".to_owned());
        let names: Vec<String> = (0..expressions.len()).map(|at| format!("{prefix}Value{at}")).collect();
        let texts = names.iter().zip(expressions);
        let texts = texts.map(|(name, text)| (name.clone(), text.as_str(), "the expression".to_owned())).collect();
        let mut plan = Self::define(request, &prefix, "", texts);
        if keeps_constraints {
            let cfg = Cfg {
                properties: Vec::new(),
                witnesses: Vec::new(),
                symmetry: Vec::new(),
                view: None,
                action_constraints: Vec::new(),
                ..request.cfg.clone()
            };
            plan.plan.cfg = plan::safety(&cfg).cfg;
        }
        (plan, names)
    }

    /// `parameter` is what the names of operators that have one end with.
    fn define(request: &CheckRequest, prefix: &str, parameter: &str, texts: Vec<DefinedText<'_>>) -> Self {
        let mut module = format!("---- MODULE {prefix} ----\nEXTENDS {}\n", request.spec.name);
        let (mut lines, mut operators) = (Vec::new(), Vec::new());
        for (head, text, what) in texts {
            lines.push((module.matches('\n').count() + 1, format!("{what} (`{}`)", text.trim())));
            // Its lines keep their columns relative to each other.
            let _ = writeln!(module, "{head} ==\n{}", indented(text));
            operators.push(head.strip_suffix(parameter).unwrap_or(&head).to_owned());
        }
        module.push_str("====\n");
        let cfg = Cfg {
            properties: Vec::new(),
            witnesses: Vec::new(),
            symmetry: Vec::new(),
            view: None,
            constraints: Vec::new(),
            action_constraints: Vec::new(),
            ..request.cfg.clone()
        };
        let plan = RunPlan {
            label: "log".to_owned(),
            wrapper: Some((prefix.to_owned(), module)),
            deadlock: false,
            coverage: false,
            ..plan::safety(&cfg)
        };
        Self { plan, prefix: prefix.to_owned(), operators, lines }
    }

    /// The module with its texts, for the static checks.
    pub(super) fn spec(&self, request: &CheckRequest) -> SpecText {
        let (name, text) = self.plan.wrapper.clone().unwrap_or_default();
        let own = (request.spec.name.clone(), request.spec.text.clone());
        let local_modules = std::iter::once(own).chain(request.spec.local_modules.iter().cloned()).collect();
        SpecText { name, text, local_modules }
    }

    /// The expression of the map on a line of the module.
    pub(super) fn text_at(&self, line: usize) -> Option<&str> {
        // What ends too early is noticed where the next definition begins.
        let found = self.lines.iter().rev().find(|(head, _)| *head < line);
        found.map(|(_, what)| what.as_str())
    }

    /// A message with the text that it is about, instead of a place in a module that the user does not have.
    pub(super) fn readable(&self, message: &str) -> String {
        let message = &without_prefixes(message);
        // A failed evaluation has its place at the end.
        if let Some((what, place)) = message.rsplit_once(" (line ")
            && let Some((line, _)) = place.split_once(", column ")
            && place.ends_with(&format!(" of module {})", self.prefix))
            && let Some(text) = line.parse().ok().and_then(|line| self.text_at(line))
        {
            return format!("{what} ({text})");
        }
        let own = format!("module {}, line ", self.prefix);
        let Some((before, rest)) = message.split_once(&own) else { return message.to_owned() };
        let (line, rest) = rest.split_once(", column ").unwrap_or((rest, ""));
        let text = line.parse().ok().and_then(|line| self.text_at(line));
        let what = rest.split_once(": ").map_or(rest, |(_, what)| what);
        match text {
            Some(text) => format!("{before}{text}: {what}"),
            None => message.to_owned(),
        }
    }
}

/// A message of the interpreter without the words by which our own code knows its kind.
fn without_prefixes(message: &str) -> String {
    let compared = message.contains(UNDEFINED_PREFIX);
    let plain = [UNDEFINED_PREFIX, COMPARISON_PREFIX, LIMIT_PREFIX]
        .iter()
        .fold(message.to_owned(), |text, prefix| text.replace(prefix, ""));
    if compared { plain.replacen("this comparison", "this comparison is undefined", 1) } else { plain }
}

/// The lines of a text without the blanks that all of them begin with, below a definition.
fn indented(text: &str) -> String {
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let common = lines.iter().map(|line| line.len() - line.trim_start_matches(' ').len()).min().unwrap_or(0);
    lines.iter().map(|line| format!("    {}", &line[common..])).collect::<Vec<_>>().join("\n")
}

/// What the child printed.
pub(super) fn read(status: Status, stdout: &str, stderr: &str) -> Result<Answer, String> {
    if !matches!(status, Status::Exited(0 | 1)) || stderr.contains("has overflowed its stack") {
        let why = "the embedded checker ran out of stack or memory, or crashed, while it evaluated the specification"
            .to_owned();
        return Ok(Answer::Explanation(Explanation::Undecided { why, event: None }));
    }
    if status != Status::Exited(0) {
        let why = stderr.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("its run did not end");
        return Err(match why.split_once(ASSUMPTION_PREFIX) {
            Some((_, position)) => format!("the assumption at {} is false", position.trim_end_matches('"')),
            None => why.to_owned(),
        });
    }
    // What the specification prints comes before.
    serde_json::from_str(stdout.lines().next_back().unwrap_or_default()).map_err(|error| error.to_string())
}
