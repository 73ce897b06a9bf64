//! Finds tool calls in places where the shape of a log has none: a log with lines of several shapes would otherwise
//! pass rules that it violates.

use std::collections::BTreeSet;

use super::log_summary::{LogSummary, MissedCalls};
use super::mapping::{Mapping, Shape};
use super::message_list::scan_list;
use super::plan::Plan;
use super::states::States;
use tlaforge_temporal::{Formulas, Record as _};

/// Paths of lists of blocks that may be calls.
const BLOCK_PATHS: [&str; 5] =
    ["message.content", "payload.content", "content", "choices.message.content", "messages.content"];

/// Keys of calls in a message as `OpenAI` writes it.
const CALL_KEYS: [&str; 2] = ["tool_calls", "function_call"];

/// Path prefixes of such messages.
const MESSAGE_PREFIXES: [&str; 5] = ["", "message.", "choices.message.", "messages.", "payload."];

/// Keys of records that are not plain. The last two count only together: a plain record may have either.
const NOT_PLAIN: [&str; 8] =
    ["message", "session_id", "sessionId", "payload", "messages", "choices", "role", "content"];

/// Reads records with all known paths of calls, to compare with what the log's own shape finds.
#[derive(Debug, Clone)]
pub(crate) struct MissedCallFinder {
    /// Paths of calls in structured records, and a plan to read them.
    structured: (Vec<String>, Plan),
    /// The same for plain records; `None` if the log's own shape is plain.
    plain: Option<(Vec<String>, Plan)>,
}

impl MissedCallFinder {
    /// `None` if the user said where calls are: then calls elsewhere are left out on purpose.
    pub(crate) fn new(mapping: &Mapping) -> Option<Self> {
        let shape = mapping.shape.filter(|shape| *shape != Shape::Journal)?;
        let defaults = Mapping::default().with_shape_defaults(shape);
        if mapping.tool_call != defaults.tool_call || mapping.only != defaults.only || mapping.values != defaults.values
        {
            return None;
        }
        // A request in an agentlog may repeat the calls of an earlier response.
        let is_searched =
            |path: &String| shape != Shape::Agentlog || !(path.starts_with("payload") || path.starts_with("messages"));
        let in_messages = MESSAGE_PREFIXES.iter().flat_map(|message| CALL_KEYS.map(|call| format!("{message}{call}")));
        let blocks: Vec<String> = BLOCK_PATHS.map(str::to_owned).into_iter().filter(is_searched).collect();
        let paths: Vec<String> = blocks.iter().cloned().chain(in_messages.filter(is_searched)).collect();
        let structured = Mapping { tool_call: Some(paths.clone()), text: Some(blocks), ..Mapping::default() };
        let make_plan = |mapping: &Mapping| Plan::new(mapping, &Formulas::new(), &[], &NOT_PLAIN);
        let jsonl = Mapping::default().with_shape_defaults(Shape::Jsonl);
        let plain = (shape != Shape::Jsonl).then(|| (jsonl.tool_call.clone().unwrap_or_default(), make_plan(&jsonl)));
        Some(Self { structured: (paths, make_plan(&structured)), plain })
    }

    /// Looks for calls in a line, of whose calls the log's own shape has found those in `states`.
    pub(crate) fn check_line(
        &self,
        line: &[u8],
        is_state: bool,
        states: &States,
        place: u64,
        summary: &mut LogSummary,
    ) {
        let found = if is_state { states.whole().tools.len() } else { 0 };
        if let Some(paths) = self.paths_in_line(line, found) {
            summary.missed_calls.add(place, paths);
        }
    }

    /// The paths of the calls of a line, if it has more than `found`.
    fn paths_in_line(&self, line: &[u8], found: usize) -> Option<BTreeSet<String>> {
        // Most lines have no call: look for the words of one before parsing the line a second time.
        let has = |text: &str| memchr::memmem::find(line, text.as_bytes()).is_some();
        if !["\"name\"", "tool", "function_call", "\\u"].into_iter().any(has) {
            return None;
        }
        let search = |(paths, plan): &(Vec<String>, Plan), is_plain: bool| {
            let mut states = plan.new_states();
            plan.read(line, &mut states).ok()?;
            more_calls(paths, &states, is_plain, found)
        };
        search(&self.structured, false).or_else(|| search(self.plain.as_ref()?, true))
    }

    /// Looks for calls in a list of messages that `plan` has read before.
    pub(crate) fn check_list(&self, text: &[u8], plan: &Plan, summary: &mut LogSummary) {
        let mut found = Vec::new();
        // The list was read before without an error.
        _ = scan_list(text, plan, |states, _| found.push(states.whole().tools.len()));
        for (is_plain, (paths, plan)) in
            std::iter::once((false, &self.structured)).chain(self.plain.as_ref().map(|plain| (true, plain)))
        {
            _ = scan_list(text, plan, |states, number| {
                let found = usize::try_from(number - 1).ok().and_then(|at| found.get_mut(at));
                let Some(found) = found else { return };
                if let Some(paths) = more_calls(paths, states, is_plain, *found) {
                    *found = states.whole().tools.len();
                    summary.missed_calls.add(number, paths);
                }
            });
        }
    }
}

fn more_calls(paths: &[String], states: &States, is_plain: bool, found: usize) -> Option<BTreeSet<String>> {
    let step = states.whole();
    let has = |key: &str| step.has(key);
    let [keys @ .., role, content] = NOT_PLAIN;
    let is_structured = keys.into_iter().any(has) || has(role) && has(content);
    if step.tools.len() <= found || is_plain && is_structured {
        return None;
    }
    // A call without a path is one by its `name` and parameters.
    Some(step.call_paths.iter().map(|path| paths.get(*path).map_or("name", String::as_str).to_owned()).collect())
}

impl MissedCalls {
    /// The command-line flags with which these calls are read besides those of the shape.
    pub fn flags(&self, shape: Shape) -> String {
        let defaults = Mapping::default().with_shape_defaults(shape);
        let calls = defaults.tool_call.into_iter().flatten().chain(self.paths.iter().cloned());
        let calls = calls.map(|path| format!("--map tool_call={path}"));
        // Lists of blocks may hold text too.
        let blocks = self.paths.iter().filter(|path| BLOCK_PATHS.contains(&path.as_str())).cloned();
        let texts = blocks.chain(defaults.text.into_iter().flatten()).map(|path| format!("--map text={path}"));
        // An agentlog has only `chat_response` records as states, so records of other kinds need another shape.
        let shape = (shape == Shape::Agentlog).then(|| "--shape jsonl".to_owned());
        let mut seen = BTreeSet::new();
        let flags = shape.into_iter().chain(calls).chain(texts).filter(|flag| seen.insert(flag.clone()));
        flags.collect::<Vec<_>>().join(" ")
    }
}
