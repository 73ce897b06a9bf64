//! Reading of a whole log: its shape, its states in order, and what was wrong with it.

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Mutex, mpsc};

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::elsewhere::Missed;
use super::kept::RecordError;
use super::mapping::Shape;
use super::plan::Plan;
use super::states::States;
use super::step::{Step, TOLD};

/// How much a thread reads before it looks at the lines in it: little enough to stay near, and memory a small multiple.
const BLOCK: usize = 512 << 10;

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
    /// A path that a rule reads as one value crosses a list.
    #[error("{place}: {message}")]
    List {
        /// The line or the message.
        place: String,
        /// What to write instead.
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
    listed: bool,
}

impl Places {
    fn push(&mut self, line: u64) {
        if self.number(self.states) != Some(line) {
            self.jumps.push((self.states, line));
        }
        self.states += 1;
    }

    fn append(&mut self, other: &Self) {
        for (state, line) in &other.jumps {
            let at = self.states + state;
            if self.number(at) != Some(*line) {
                self.jumps.push((at, *line));
            }
        }
        self.states += other.states;
    }

    /// How many states there are.
    pub fn states(&self) -> u64 {
        self.states
    }

    /// The line of a state, from 1; the state counts from 0. In a list there are no lines.
    pub fn line(&self, state: u64) -> Option<u64> {
        self.number(state).filter(|_| !self.listed)
    }

    /// Whether the records are those of a list, which has no lines.
    pub fn listed(&self) -> bool {
        self.listed
    }

    /// The line of a state or, in a list, the number of its message, from 1.
    pub fn number(&self, state: u64) -> Option<u64> {
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
    told: [bool; 3],
    /// For each name of the plan, whether any state has it.
    pub defined: Vec<bool>,
    /// For each name of the plan, whether any state has a value of it, which a list or an object is not.
    pub valued: Vec<bool>,
    /// Records with calls where the shape of the log has none; only looked at if rules ask for calls.
    pub missed: Missed,
}

impl Found {
    pub(in crate::monitor) fn of(plan: &Plan) -> Self {
        let none = vec![false; plan.names().len()];
        Self { defined: none.clone(), valued: none, ..Self::default() }
    }

    /// What some state tells: `tool_call`, `text`, `stop_reason`.
    pub fn told(&self) -> impl Iterator<Item = &'static str> + use<> {
        TOLD.into_iter().zip(self.told).filter(|(_, told)| *told).map(|(kind, _)| kind)
    }

    fn append(&mut self, other: Self) {
        self.records += other.records;
        self.places.append(&other.places);
        let room = 10usize.saturating_sub(self.invalid.len());
        self.invalid.extend(other.invalid.into_iter().take(room));
        self.invalid_count += other.invalid_count;
        self.torn = self.torn.or(other.torn);
        self.missed.append(other.missed);
        either(&mut self.told, other.told);
        either(&mut self.defined, other.defined);
        either(&mut self.valued, other.valued);
    }

    pub(in crate::monitor) fn note(&mut self, states: &States, place: u64) {
        for step in states.each() {
            self.note_state(step, place);
        }
    }

    fn note_state(&mut self, step: &Step, place: u64) {
        self.places.push(place);
        either(&mut self.told, step.told());
        either(&mut self.defined, step.defined());
        either(&mut self.valued, step.valued());
    }
}

fn either(all: &mut [bool], more: impl IntoIterator<Item = bool>) {
    for (one, more) in all.iter_mut().zip(more) {
        *one |= more;
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

pub(super) fn shape_of_record(record: &serde_json::Value) -> Shape {
    let has = |key: &str| record.get(key).is_some();
    let is_text = |key: &str| record.get(key).is_some_and(serde_json::Value::is_string);
    match () {
        () if has("v") && has("seq") && has("lifeline") && has("kind") => Shape::Journal,
        () if is_text("type") && (has("session_id") || has("message")) => Shape::Claude,
        () if is_text("kind") && has("payload") => Shape::Agentlog,
        () if has("choices") => Shape::Openai,
        () if record.get("messages").is_some_and(serde_json::Value::is_array) => Shape::Openai,
        () if is_text("role") && (has("content") || has("tool_calls") || has("function_call")) => Shape::Openai,
        () => Shape::Jsonl,
    }
}

/// Reads JSON lines; the states of each record, with its line, are folded by as many threads as wanted, and the folds handed over in the
/// log's order.
pub fn scan_lines<A: Default + Send>(
    input: &mut (impl Read + Send),
    plan: &Plan,
    manner: Manner,
    fold: impl Fn(&mut A, &States, u64) + Sync,
    mut take: impl FnMut(A),
) -> Result<Found, LogError> {
    let threads = manner.threads.max(1);
    let mut found = Found::of(plan);
    // As many buffers as there are bound what is read and not yet handed over.
    let (free, buffers) = mpsc::channel();
    for _ in 0..2 * threads {
        free.send(Vec::new()).expect("it is read from below");
    }
    let (done, parts) = mpsc::channel();
    let blocks = Mutex::new(Blocks { input, buffers, rest: Vec::new(), line: 1, number: 0, ended: false });
    std::thread::scope(|scope| {
        for _ in 0..threads {
            let (done, blocks, fold) = (done.clone(), &blocks, &fold);
            scope.spawn(move || {
                while let Some((number, block)) = next(blocks) {
                    let (buffer, part) = match block {
                        Ok(block) => {
                            // A panic is handed on: nobody may wait for a part that never comes.
                            let part = catch_unwind(AssertUnwindSafe(|| scan_block(&block, plan, manner, fold)));
                            (block.text, part)
                        }
                        Err(error) => (Vec::new(), Ok(Err(error))),
                    };
                    if done.send((number, buffer, part)).is_err() {
                        return;
                    }
                }
            });
        }
        drop(done);
        let mut waiting = BTreeMap::new();
        let mut wanted = 0;
        // Whatever ends this ends the threads, too: nobody gives them buffers any more.
        let free = free;
        for (number, buffer, part) in parts {
            waiting.insert(number, (buffer, part));
            while let Some((mut buffer, part)) = waiting.remove(&wanted) {
                let (folded, part): (A, Found) = part.unwrap_or_else(|panic| resume_unwind(panic))?;
                found.append(part);
                take(folded);
                wanted += 1;
                buffer.shrink_to(4 * BLOCK);
                // The threads may have ended.
                _ = free.send(buffer);
            }
        }
        Ok(found)
    })
}

/// Some whole lines.
struct Block {
    text: Vec<u8>,
    first: u64,
    is_last: bool,
}

/// What shares a log out.
struct Blocks<'a, R> {
    input: &'a mut R,
    buffers: mpsc::Receiver<Vec<u8>>,
    rest: Vec<u8>,
    line: u64,
    number: u64,
    ended: bool,
}

/// The next block and its number, for the thread that asks first.
fn next<R: Read>(blocks: &Mutex<Blocks<'_, R>>) -> Option<(u64, Result<Block, LogError>)> {
    let mut blocks = blocks.lock().expect("reading does not panic");
    if blocks.ended {
        return None;
    }
    let buffer = blocks.buffers.recv().ok()?;
    let block = blocks.fill(buffer);
    blocks.ended = !matches!(block, Ok(Block { is_last: false, .. }));
    blocks.number += 1;
    Some((blocks.number - 1, block))
}

impl<R: Read> Blocks<'_, R> {
    /// Whole lines, at least one.
    fn fill(&mut self, mut text: Vec<u8>) -> Result<Block, LogError> {
        text.clear();
        text.reserve(BLOCK + BLOCK / 4);
        text.append(&mut self.rest);
        let first = self.line;
        let mut looked = 0;
        loop {
            let read = self.input.by_ref().take(BLOCK as u64).read_to_end(&mut text)?;
            if read == 0 {
                return Ok(Block { text, first, is_last: true });
            }
            if let Some(end) = memchr::memrchr(b'\n', &text[looked..]) {
                let end = looked + end + 1;
                self.rest.extend_from_slice(&text[end..]);
                text.truncate(end);
                self.line += memchr::memchr_iter(b'\n', &text).count() as u64;
                return Ok(Block { text, first, is_last: false });
            }
            looked = text.len();
            if text.len() > LONGEST_LINE {
                let message = format!("longer than {} MB without an end of line", LONGEST_LINE >> 20);
                return Err(LogError::Line { line: first, message });
            }
        }
    }
}

fn scan_block<A: Default>(
    block: &Block,
    plan: &Plan,
    manner: Manner,
    fold: &impl Fn(&mut A, &States, u64),
) -> Result<(A, Found), LogError> {
    let Block { text, first, is_last } = block;
    let mut folded = A::default();
    let mut found = Found::of(plan);
    let mut states = plan.states();
    let mut line = *first;
    let mut rest = text.strip_prefix(if line == 1 { "\u{feff}".as_bytes() } else { &[] }).unwrap_or(text);
    while !rest.is_empty() {
        let end = memchr::memchr(b'\n', rest);
        let (text, after) = end.map_or((rest, &rest[rest.len()..]), |end| (&rest[..end], &rest[end + 1..]));
        rest = after;
        if !text.trim_ascii().is_empty() {
            found.records += 1;
            match plan.read(text, &mut states) {
                Ok(is_state) => {
                    found.note_missed(plan, text, is_state, &states, line);
                    if is_state {
                        found.note(&states, line);
                        fold(&mut folded, &states, line);
                    }
                }
                Err(RecordError::List(message)) => {
                    return Err(LogError::List { place: format!("line {line}"), message });
                }
                Err(RecordError::Text(message)) => return Err(LogError::Line { line, message }),
                Err(RecordError::Json(error)) if *is_last && end.is_none() && error.is_eof() => found.torn = Some(line),
                Err(RecordError::Json(error)) => {
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
pub fn scan_list(text: &[u8], plan: &Plan, mut each: impl FnMut(&States, u64)) -> Result<Found, LogError> {
    let mut found = Found::of(plan);
    found.places.listed = true;
    let text = text.strip_prefix("\u{feff}".as_bytes()).unwrap_or(text);
    let mut deserializer = serde_json::Deserializer::from_slice(text);
    let mut wrong = None;
    let list = List { plan, found: &mut found, each: &mut each, wrong: &mut wrong };
    let read = list.deserialize(&mut deserializer).and_then(|()| deserializer.end());
    if let Some(wrong) = wrong {
        return Err(wrong);
    }
    read.map_err(|error| LogError::Line {
        line: error.line() as u64,
        message: format!("not a list of messages: {error}"),
    })?;
    Ok(found)
}

struct List<'a, F> {
    plan: &'a Plan,
    found: &'a mut Found,
    each: &'a mut F,
    /// What is wrong with a message that is JSON.
    wrong: &'a mut Option<LogError>,
}

impl<'de, F: FnMut(&States, u64)> DeserializeSeed<'de> for List<'_, F> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de, F: FnMut(&States, u64)> Visitor<'de> for List<'_, F> {
    type Value = ();

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("an array of messages, or an object with `messages`")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        let mut states = self.plan.states();
        while let Some(read) = self.plan.element(&mut list, &mut states)? {
            self.found.records += 1;
            match read {
                Ok(true) => {
                    self.found.note(&states, self.found.records);
                    (self.each)(&states, self.found.records);
                }
                Ok(false) => {}
                Err(error) => {
                    let place = format!("message {}", self.found.records);
                    *self.wrong = Some(LogError::List { place, message: error.to_string() });
                    return Err(serde::de::Error::custom(error));
                }
            }
        }
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut there = false;
        while let Some(key) = map.next_key::<std::borrow::Cow<'_, str>>()? {
            if key == "messages" && !there {
                there = true;
                map.next_value_seed(List { plan: self.plan, found: self.found, each: self.each, wrong: self.wrong })?;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        if there { Ok(()) } else { Err(serde::de::Error::custom("the object has no `messages`")) }
    }
}
