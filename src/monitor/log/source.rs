//! Reading of a whole log: its shape, its states in order, and what was wrong with it.

use std::io::{self, Read};

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::mapping::Shape;
use super::plan::Plan;
use super::step::Step;

/// How much is read before the lines in it are shared out; memory stays a small multiple of it.
const BLOCK: usize = 4 << 20;

/// The longest line that is read; a longer one is an error, so that memory stays bounded.
pub const LONGEST_LINE: usize = 256 << 20;

/// Why a log cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    /// The file.
    #[error("cannot read the log")]
    Io(#[from] io::Error),
    /// A line that is no record.
    #[error("line {line}: {message}")]
    Line {
        /// Its number, from 1.
        line: u64,
        /// What is wrong.
        message: String,
    },
}

/// How a log is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Manner {
    /// Whether a line that is no record is left out, and told, rather than an error.
    pub skip_invalid: bool,
    /// How many threads read.
    pub threads: usize,
}

/// Which line a state came from.
#[derive(Debug, Clone, Default)]
pub struct Places {
    states: u64,
    /// State and line wherever states and lines do not go on side by side.
    jumps: Vec<(u64, u64)>,
}

impl Places {
    fn push(&mut self, line: u64) {
        if self.line(self.states) != Some(line) {
            self.jumps.push((self.states, line));
        }
        self.states += 1;
    }

    fn append(&mut self, other: &Self) {
        for (state, line) in &other.jumps {
            let at = self.states + state;
            if self.line(at) != Some(*line) {
                self.jumps.push((at, *line));
            }
        }
        self.states += other.states;
    }

    /// How many states there are.
    pub fn states(&self) -> u64 {
        self.states
    }

    /// The line (or, in a list, the number) of a state, from 1; the state counts from 0.
    pub fn line(&self, state: u64) -> Option<u64> {
        let before = self.jumps.partition_point(|(from, _)| *from <= state);
        let (from, line) = self.jumps.get(before.checked_sub(1)?)?;
        Some(line + (state - from))
    }
}

/// What was found besides the states.
#[derive(Debug, Clone, Default)]
pub struct Found {
    /// Lines, or elements of a list.
    pub records: u64,
    /// Where each state came from.
    pub places: Places,
    /// Lines that are no records, at most the first ten, with what is wrong.
    pub invalid: Vec<(u64, String)>,
    /// How many lines are no records.
    pub invalid_count: u64,
    /// The last line, where it was never finished.
    pub torn: Option<u64>,
    /// What some state tells: `tool_call`, `text`, `stop_reason`.
    pub told: std::collections::BTreeSet<&'static str>,
    /// For each name of the plan, whether any state has it.
    pub defined: Vec<bool>,
}

impl Found {
    fn append(&mut self, other: Self) {
        self.records += other.records;
        self.places.append(&other.places);
        let room = 10usize.saturating_sub(self.invalid.len());
        self.invalid.extend(other.invalid.into_iter().take(room));
        self.invalid_count += other.invalid_count;
        self.torn = self.torn.or(other.torn);
        self.told.extend(other.told);
        self.note_defined(other.defined.into_iter());
    }

    fn note_defined(&mut self, defined: impl Iterator<Item = bool>) {
        for (at, there) in defined.enumerate() {
            if self.defined.len() <= at {
                self.defined.push(false);
            }
            self.defined[at] |= there;
        }
    }
}

/// Tells the shape of a log from its beginning.
pub fn shape_of(beginning: &[u8]) -> Shape {
    let text = String::from_utf8_lossy(beginning);
    let text = text.trim_start_matches('\u{feff}').trim_start();
    if text.starts_with('[') {
        return Shape::Openai;
    }
    let records: Vec<serde_json::Value> =
        text.lines().filter(|l| !l.trim().is_empty()).take(20).filter_map(|l| serde_json::from_str(l).ok()).collect();
    if records.is_empty() && text.starts_with('{') && text.contains("\"messages\"") {
        // An object written over many lines.
        return Shape::Openai;
    }
    records.iter().map(shape_of_record).find(|shape| *shape != Shape::Jsonl).unwrap_or(Shape::Jsonl)
}

fn shape_of_record(record: &serde_json::Value) -> Shape {
    let has = |key: &str| record.get(key).is_some();
    let is_text = |key: &str| record.get(key).is_some_and(serde_json::Value::is_string);
    match () {
        () if has("v") && has("seq") && has("lifeline") && has("kind") => Shape::Journal,
        () if is_text("type") && (has("session_id") || has("message")) => Shape::Claude,
        () if is_text("kind") && has("payload") => Shape::Agentlog,
        () if has("choices") => Shape::Openai,
        () if record.get("messages").is_some_and(serde_json::Value::is_array) => Shape::Openai,
        () if is_text("role") && (has("content") || has("tool_calls")) => Shape::Openai,
        () => Shape::Jsonl,
    }
}

/// Reads JSON lines; states, each with its line, are folded by as many threads as wanted, and the folds handed over in the log's order.
pub fn scan_lines<A: Default + Send>(
    input: &mut impl Read,
    plan: &Plan,
    manner: Manner,
    fold: impl Fn(&mut A, &Step, u64) + Sync,
    mut take: impl FnMut(A),
) -> Result<Found, LogError> {
    let mut found = Found { defined: vec![false; plan.names().len()], ..Found::default() };
    let mut rest = Vec::new();
    let mut line = 1;
    loop {
        let mut blocks = Vec::new();
        let mut last = false;
        while blocks.len() < manner.threads.max(1) && !last {
            let (block, end) = next_block(input, &mut rest, line)?;
            last = end;
            let first = line;
            line += memchr::memchr_iter(b'\n', &block).count() as u64;
            blocks.push((block, first, end));
        }
        let parts: Vec<Result<(A, Found), LogError>> = std::thread::scope(|scope| {
            let workers: Vec<_> = blocks
                .iter()
                .map(|(block, first, end)| scope.spawn(|| scan_block(block, *first, *end, plan, manner, &fold)))
                .collect();
            workers.into_iter().map(|w| w.join().expect("reading a block does not panic")).collect()
        });
        for part in parts {
            let (folded, part) = part?;
            found.append(part);
            take(folded);
        }
        if last {
            return Ok(found);
        }
    }
}

/// Whole lines, at least one, and whether they are the last.
fn next_block(input: &mut impl Read, rest: &mut Vec<u8>, line: u64) -> Result<(Vec<u8>, bool), LogError> {
    let mut block = std::mem::take(rest);
    let mut looked = 0;
    loop {
        let read = input.by_ref().take(BLOCK as u64).read_to_end(&mut block)?;
        if read == 0 {
            return Ok((block, true));
        }
        if let Some(end) = memchr::memrchr(b'\n', &block[looked..]) {
            let end = looked + end + 1;
            *rest = block.split_off(end);
            return Ok((block, false));
        }
        looked = block.len();
        if block.len() > LONGEST_LINE {
            let message = format!("longer than {} MB without an end of line", LONGEST_LINE >> 20);
            return Err(LogError::Line { line, message });
        }
    }
}

fn scan_block<A: Default>(
    block: &[u8],
    first: u64,
    is_last: bool,
    plan: &Plan,
    manner: Manner,
    fold: &impl Fn(&mut A, &Step, u64),
) -> Result<(A, Found), LogError> {
    let mut folded = A::default();
    let mut found = Found { defined: vec![false; plan.names().len()], ..Found::default() };
    let mut step = plan.step();
    let mut line = first;
    let mut rest = if first == 1 { block.strip_prefix("\u{feff}".as_bytes()).unwrap_or(block) } else { block };
    while !rest.is_empty() {
        let end = memchr::memchr(b'\n', rest);
        let (text, after) = end.map_or((rest, &rest[rest.len()..]), |end| (&rest[..end], &rest[end + 1..]));
        rest = after;
        if !text.trim_ascii().is_empty() {
            found.records += 1;
            match plan.read(text, &mut step) {
                Ok(is_state) => {
                    if is_state {
                        found.places.push(line);
                        found.note_defined(step.defined());
                        found.told.extend(step.told());
                        fold(&mut folded, &step, line);
                    }
                }
                Err(error) if is_last && end.is_none() && error.is_eof() => found.torn = Some(line),
                Err(error) => {
                    let message = explain(&error, text);
                    if !manner.skip_invalid {
                        return Err(LogError::Line { line, message });
                    }
                    found.invalid_count += 1;
                    if found.invalid.len() < 10 {
                        found.invalid.push((line, message));
                    }
                }
            }
        }
        line += 1;
    }
    Ok((folded, found))
}

fn explain(error: &serde_json::Error, text: &[u8]) -> String {
    let said = error.to_string();
    let said = said.split(" at line ").next().unwrap_or(&said);
    let shown: String = String::from_utf8_lossy(text).chars().take(60).collect();
    format!("not a JSON record, column {}: {said}: {}", error.column(), shown.trim_end())
}

/// Reads a list of messages: an array, or an object with one under `messages`.
pub fn scan_list(text: &[u8], plan: &Plan, mut each: impl FnMut(&Step, u64)) -> Result<Found, LogError> {
    let mut found = Found { defined: vec![false; plan.names().len()], ..Found::default() };
    let text = text.strip_prefix("\u{feff}".as_bytes()).unwrap_or(text);
    let mut deserializer = serde_json::Deserializer::from_slice(text);
    let list = List { plan, found: &mut found, each: &mut each };
    list.deserialize(&mut deserializer).and_then(|()| deserializer.end()).map_err(|error| LogError::Line {
        line: error.line() as u64,
        message: format!("not a list of messages: {error}"),
    })?;
    Ok(found)
}

struct List<'a, F> {
    plan: &'a Plan,
    found: &'a mut Found,
    each: &'a mut F,
}

impl<'de, F: FnMut(&Step, u64)> DeserializeSeed<'de> for List<'_, F> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de, F: FnMut(&Step, u64)> Visitor<'de> for List<'_, F> {
    type Value = ();

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("an array of messages, or an object with `messages`")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        let mut step = self.plan.step();
        while let Some(is_state) = self.plan.element(&mut list, &mut step)? {
            self.found.records += 1;
            if is_state {
                self.found.places.push(self.found.records);
                self.found.note_defined(step.defined());
                self.found.told.extend(step.told());
                (self.each)(&step, self.found.records);
            }
        }
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut there = false;
        while let Some(key) = map.next_key::<std::borrow::Cow<'_, str>>()? {
            if key == "messages" && !there {
                there = true;
                map.next_value_seed(List { plan: self.plan, found: self.found, each: self.each })?;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        if there { Ok(()) } else { Err(serde::de::Error::custom("the object has no `messages`")) }
    }
}
