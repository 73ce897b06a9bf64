//! Calls that a record tells where its log's shape has none: lines of several shapes in one log.

use std::collections::BTreeSet;

use super::mapping::{Mapping, Shape};
use super::plan::Plan;
use super::source::{Found, scan_list};
use super::states::States;
use crate::temporal::{Formulas, Record as _};

/// Where blocks are that may be calls.
const BLOCKS: [&str; 5] =
    ["message.content", "payload.content", "content", "choices.message.content", "messages.content"];

/// Where calls of `OpenAI`'s are, in a message.
const CALLS: [&str; 2] = ["tool_calls", "function_call"];

/// Where such messages are.
const MESSAGES: [&str; 5] = ["", "message.", "choices.message.", "messages.", "payload."];

/// Keys of records that are no plain ones.
const NOT_PLAIN: [&str; 8] =
    ["message", "session_id", "sessionId", "payload", "messages", "choices", "role", "content"];

/// Looks for calls where the shape of a log has none.
#[derive(Debug, Clone)]
pub(super) struct Elsewhere {
    /// The places, and a plan to read them.
    anywhere: (Vec<String>, Plan),
    /// The same of plain records; `None` if those are of the log's own shape.
    plain: Option<(Vec<String>, Plan)>,
}

impl Elsewhere {
    /// `None` if the places of calls are not those of a shape, but what a user said.
    pub(super) fn new(mapping: &Mapping) -> Option<Self> {
        let shape = mapping.shape.filter(|shape| *shape != Shape::Journal)?;
        let own = Mapping::default().over(shape);
        if mapping.tool_call != own.tool_call || mapping.only != own.only || mapping.values != own.values {
            return None;
        }
        // A request in such a log may hold what an earlier response called.
        let is_looked_at =
            |path: &String| shape != Shape::Agentlog || !(path.starts_with("payload") || path.starts_with("messages"));
        let structured = MESSAGES.iter().flat_map(|message| CALLS.map(|call| format!("{message}{call}")));
        let blocks: Vec<String> = BLOCKS.map(str::to_owned).into_iter().filter(is_looked_at).collect();
        let paths: Vec<String> = blocks.iter().cloned().chain(structured.filter(is_looked_at)).collect();
        let anywhere = Mapping { tool_call: Some(paths.clone()), text: Some(blocks), ..Mapping::default() };
        let plan_of = |mapping: &Mapping| Plan::new(mapping, &Formulas::new(), &[], &NOT_PLAIN);
        let jsonl = Mapping::default().over(Shape::Jsonl);
        let plain = (shape != Shape::Jsonl).then(|| (jsonl.tool_call.clone().unwrap_or_default(), plan_of(&jsonl)));
        Some(Self { anywhere: (paths, plan_of(&anywhere)), plain })
    }

    /// Where a line tells more calls than were found.
    pub(super) fn in_line(&self, line: &[u8], found: usize) -> Option<BTreeSet<String>> {
        let has = |text: &str| memchr::memmem::find(line, text.as_bytes()).is_some();
        if !["\"name\"", "tool", "function_call", "\\u"].into_iter().any(has) {
            return None;
        }
        let more = |(paths, plan): &(Vec<String>, Plan), is_plain: bool| {
            let mut states = plan.states();
            plan.read(line, &mut states).ok()?;
            more_calls(paths, &states, is_plain, found)
        };
        more(&self.anywhere, false).or_else(|| more(self.plain.as_ref()?, true))
    }

    /// Looks through the messages of a list, of which `plan` has read what the shape has.
    pub(super) fn in_list(&self, text: &[u8], plan: &Plan, missed: &mut Missed) {
        let mut own = Vec::new();
        // The list was read before without an error.
        _ = scan_list(text, plan, |states, _| own.push(states.whole().tools.len()));
        for (is_plain, (paths, plan)) in
            std::iter::once((false, &self.anywhere)).chain(self.plain.as_ref().map(|plain| (true, plain)))
        {
            _ = scan_list(text, plan, |states, number| {
                let found = usize::try_from(number - 1).ok().and_then(|at| own.get_mut(at));
                let Some(found) = found else { return };
                if let Some(paths) = more_calls(paths, states, is_plain, *found) {
                    *found = states.whole().tools.len();
                    missed.note(number, paths);
                }
            });
        }
    }
}

fn more_calls(paths: &[String], states: &States, is_plain: bool, found: usize) -> Option<BTreeSet<String>> {
    let step = states.whole();
    let has = |key: &str| step.has(key);
    let [others @ .., role, content] = NOT_PLAIN;
    let is_other = others.into_iter().any(has) || has(role) && has(content);
    if step.tools.len() <= found || is_plain && is_other {
        return None;
    }
    // A call without a path is one by its name and parameters.
    Some(step.paths.iter().map(|path| paths.get(*path).map_or("name", String::as_str).to_owned()).collect())
}

/// Records with calls that the shape of their log does not have.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Missed {
    /// How many.
    pub records: u64,
    /// The line or message of the first.
    pub first: Option<u64>,
    /// Where their calls are.
    pub paths: BTreeSet<String>,
}

impl Missed {
    fn note(&mut self, place: u64, paths: BTreeSet<String>) {
        self.records += 1;
        self.first = Some(self.first.map_or(place, |first| first.min(place)));
        self.paths.extend(paths);
    }

    pub(super) fn append(&mut self, other: Self) {
        self.records += other.records;
        self.first = self.first.or(other.first);
        self.paths.extend(other.paths);
    }

    /// What to say on the command line so that these calls are read besides those of the shape.
    pub fn advice(&self, shape: Shape) -> String {
        let own = Mapping::default().over(shape);
        let calls = own.tool_call.into_iter().flatten().chain(self.paths.iter().cloned());
        let calls = calls.map(|path| format!("--map tool_call={path}"));
        // Blocks may be texts.
        let blocks = self.paths.iter().filter(|path| BLOCKS.contains(&path.as_str())).cloned();
        let texts = blocks.chain(own.text.into_iter().flatten()).map(|path| format!("--map text={path}"));
        // Records of other kinds are no states of that shape.
        let shape = (shape == Shape::Agentlog).then(|| "--shape jsonl".to_owned());
        let mut seen = BTreeSet::new();
        let flags = shape.into_iter().chain(calls).chain(texts).filter(|flag| seen.insert(flag.clone()));
        flags.collect::<Vec<_>>().join(" ")
    }
}

impl Found {
    /// Notes a line if it has calls where the shape has none.
    pub(in crate::monitor) fn note_missed(
        &mut self,
        plan: &Plan,
        line: &[u8],
        is_state: bool,
        states: &States,
        place: u64,
    ) {
        let Some(elsewhere) = &plan.elsewhere else { return };
        let found = if is_state { states.whole().tools.len() } else { 0 };
        if let Some(paths) = elsewhere.in_line(line, found) {
            self.missed.note(place, paths);
        }
    }

    /// The same of a list that was read.
    pub(in crate::monitor) fn note_missed_of_list(&mut self, plan: &Plan, text: &[u8]) {
        if let Some(elsewhere) = &plan.elsewhere {
            elsewhere.in_list(text, plan, &mut self.missed);
        }
    }
}
