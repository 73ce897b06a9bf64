//! Reading of a log of JSON lines by several threads, with its states in the order of the log.

use std::collections::BTreeMap;
use std::io::Read;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Mutex, mpsc};

use super::error::{LogError, RecordError};
use super::log_summary::{INVALID_SHOWN, LogSummary};
use super::plan::Plan;
use super::repeated_calls::CallRegister;
use super::sighting::Sighting;
use super::states::States;
use super::streamed_calls::{CutOffCalls, StreamedCalls, may_have_pieces};

/// How much a thread reads before it splits what it has into lines: small enough to stay in the cache, and to bound the
/// memory of all buffers.
const BLOCK: usize = 512 << 10;

/// The longest line that is read; a longer one is an error, so that memory stays bounded.
pub const LONGEST_LINE: usize = 256 << 20;

/// How a log is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScanOptions {
    /// Whether a line that is not a record is left out and reported, rather than an error.
    pub skip_invalid: bool,
    pub threads: usize,
}

/// What each line of a log is read with.
#[derive(Clone, Copy)]
struct LineReader<'a> {
    plan: &'a Plan,
    skip_invalid: bool,
}

/// Reads JSON lines. Several threads fold the states of each record, with its line, into parts; `take` gets the parts in
/// the order of the log.
pub fn scan_lines<A: Default + Send>(
    input: &mut (impl Read + Send),
    plan: &Plan,
    options: ScanOptions,
    fold: impl Fn(&mut A, &States, u64) + Sync,
    mut take: impl FnMut(A),
) -> Result<LogSummary, LogError> {
    let threads = options.threads.max(1);
    let reader = LineReader { plan, skip_invalid: options.skip_invalid };
    let mut summary = LogSummary::new(plan);
    // The number of buffers bounds what is read and not yet taken.
    let (free, buffers) = mpsc::channel();
    for _ in 0..2 * threads {
        free.send(Vec::new()).expect("the receiver is alive");
    }
    let (done, parts) = mpsc::channel();
    let streamed = plan.searches_calls().then(StreamedCalls::default);
    let blocks = BlockReader { input, buffers, rest: Vec::new(), line: 1, number: 0, ended: false, streamed };
    let blocks = Mutex::new(blocks);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            let (done, blocks, fold) = (done.clone(), &blocks, &fold);
            scope.spawn(move || {
                while let Some((number, block)) = next_block(blocks) {
                    let (block, part) = match block {
                        Ok(block) => {
                            // Pass a panic on: the receiver would wait forever for a part that never comes.
                            let part = catch_unwind(AssertUnwindSafe(|| reader.scan_block(&block, &[], fold)));
                            (block, part)
                        }
                        Err(error) => (Block::default(), Ok(Err(error))),
                    };
                    if done.send((number, block, part)).is_err() {
                        return;
                    }
                }
            });
        }
        drop(done);
        let mut waiting = BTreeMap::new();
        let mut wanted = 0;
        // Moved in here so that an early return drops it, which ends the threads that wait for a buffer.
        let free = free;
        let mut register = CallRegister::default();
        for (number, block, part) in parts {
            waiting.insert(number, (block, part));
            while let Some((block, part)) = waiting.remove(&wanted) {
                let (mut folded, mut part, sightings): (A, _, Vec<Sighting>) =
                    part.unwrap_or_else(|panic| resume_unwind(panic))?;
                let repeated = register.add(&sightings, &mut summary);
                if !repeated.is_empty() {
                    // Rare: whether a call repeats another is known only now, so the block is read again without it.
                    (folded, part, _) = reader.scan_block(&block, &repeated, &fold)?;
                }
                summary.append(part);
                take(folded);
                wanted += 1;
                let mut buffer = block.text;
                // A block with a very long line must not keep its memory.
                buffer.shrink_to(4 * BLOCK);
                // Fails if the threads have ended.
                _ = free.send(buffer);
            }
        }
        Ok(summary)
    })
}

/// Some whole lines of the log.
#[derive(Default)]
struct Block {
    text: Vec<u8>,
    first_line: u64,
    is_last: bool,
    /// The calls that the log has begun and not ended.
    cut_off: Option<CutOffCalls>,
}

/// Cuts the input into blocks.
struct BlockReader<'a, R> {
    input: &'a mut R,
    buffers: mpsc::Receiver<Vec<u8>>,
    /// The beginning of a line whose end is not read yet.
    rest: Vec<u8>,
    line: u64,
    number: u64,
    ended: bool,
    /// The calls of which pieces were read; `None` if rules do not use calls.
    streamed: Option<StreamedCalls>,
}

/// The next block and its number.
fn next_block<R: Read>(blocks: &Mutex<BlockReader<'_, R>>) -> Option<(u64, Result<Block, LogError>)> {
    let mut blocks = blocks.lock().expect("reading does not panic");
    if blocks.ended {
        return None;
    }
    let buffer = blocks.buffers.recv().ok()?;
    let block = blocks.fill(buffer).map(|block| blocks.join_pieces(block));
    blocks.ended = !matches!(block, Ok(Block { is_last: false, .. }));
    blocks.number += 1;
    Some((blocks.number - 1, block))
}

impl<R: Read> BlockReader<'_, R> {
    /// Puts the calls together of which the lines of a block have pieces.
    fn join_pieces(&mut self, mut block: Block) -> Block {
        let Some(streamed) = &mut self.streamed else { return block };
        if may_have_pieces(&block.text) {
            let mut text = Vec::with_capacity(block.text.len());
            for line in block.text.split_inclusive(|byte| *byte == b'\n') {
                match streamed.rewrite(line.trim_ascii_end()) {
                    Some(whole) => {
                        text.extend_from_slice(&whole);
                        text.extend_from_slice(&line[line.trim_ascii_end().len()..]);
                    }
                    None => text.extend_from_slice(line),
                }
            }
            block.text = text;
        }
        if block.is_last {
            block.cut_off = streamed.finish();
        }
        block
    }

    /// Reads whole lines, at least one.
    fn fill(&mut self, mut text: Vec<u8>) -> Result<Block, LogError> {
        text.clear();
        text.reserve(BLOCK + BLOCK / 4);
        text.append(&mut self.rest);
        let first_line = self.line;
        let mut searched = 0;
        loop {
            let read = self.input.by_ref().take(BLOCK as u64).read_to_end(&mut text)?;
            if read == 0 {
                return Ok(Block { text, first_line, is_last: true, cut_off: None });
            }
            if let Some(end) = memchr::memrchr(b'\n', &text[searched..]) {
                let end = searched + end + 1;
                self.rest.extend_from_slice(&text[end..]);
                text.truncate(end);
                self.line += memchr::memchr_iter(b'\n', &text).count() as u64;
                return Ok(Block { text, first_line, is_last: false, cut_off: None });
            }
            searched = text.len();
            if text.len() > LONGEST_LINE {
                let message = format!("longer than {} MB without an end of line", LONGEST_LINE >> 20);
                return Err(LogError::Line { line: first_line, message });
            }
        }
    }
}

/// What is read of a block, the summary, and its calls.
type Scanned<A> = (A, LogSummary, Vec<Sighting>);

impl LineReader<'_> {
    /// Reads the lines of a block without the `repeated` calls, which are pairs of a line and a number.
    fn scan_block<A: Default>(
        self,
        block: &Block,
        repeated: &[(u64, usize)],
        fold: &impl Fn(&mut A, &States, u64),
    ) -> Result<Scanned<A>, LogError> {
        let Block { text, first_line, is_last, cut_off } = block;
        let mut folded = A::default();
        let mut summary = LogSummary::new(self.plan);
        let mut states = self.plan.new_states();
        let mut sightings = Vec::new();
        let mut line = *first_line;
        let mut rest = text.strip_prefix(if line == 1 { "\u{feff}".as_bytes() } else { &[] }).unwrap_or(text);
        while !rest.is_empty() {
            let end = memchr::memchr(b'\n', rest);
            let (text, after) = end.map_or((rest, &rest[rest.len()..]), |end| (&rest[..end], &rest[end + 1..]));
            rest = after;
            if !text.trim_ascii().is_empty() {
                summary.records += 1;
                let is_unfinished = *is_last && end.is_none();
                if self.read_line(text, line, is_unfinished, repeated, &mut states, &mut summary)? {
                    summary.add(&states, line);
                    fold(&mut folded, &states, line);
                }
                sightings.extend(states.sightings_at(line));
            }
            line += 1;
        }
        if let Some(cut_off) = cut_off {
            // They belong to the last line.
            let line = line.saturating_sub(1).max(1);
            summary.cut_off_calls += cut_off.incomplete;
            if self.read_line(&cut_off.record, line, false, repeated, &mut states, &mut summary)? {
                summary.add(&states, line);
                fold(&mut folded, &states, line);
            }
            sightings.extend(states.sightings_at(line));
        }
        Ok((folded, summary, sightings))
    }

    /// Reads a line; returns whether it is a state.
    fn read_line(
        self,
        text: &[u8],
        line: u64,
        is_unfinished: bool,
        repeated: &[(u64, usize)],
        states: &mut States,
        summary: &mut LogSummary,
    ) -> Result<bool, LogError> {
        let from = repeated.partition_point(|(other, _)| *other < line);
        let of_line = repeated[from..].iter().take_while(|(other, _)| *other == line);
        let repeated: Vec<usize> = of_line.map(|(_, number)| *number).collect();
        match self.plan.read_without(text, states, &repeated) {
            Ok(is_state) => Ok(is_state),
            Err(RecordError::List(message)) => Err(LogError::List { place: format!("line {line}"), message }),
            Err(RecordError::Text(message)) => Err(LogError::Line { line, message }),
            // The writer was interrupted: the last line has no end and is not complete.
            Err(RecordError::Json(error)) if is_unfinished && error.is_eof() => {
                summary.torn = Some(line);
                Ok(false)
            }
            Err(RecordError::Json(error)) => {
                let message = describe_json_error(&error, text);
                if !self.skip_invalid {
                    return Err(LogError::Line { line, message });
                }
                summary.invalid_count += 1;
                if summary.invalid.len() < INVALID_SHOWN {
                    summary.invalid.push((line, message));
                }
                Ok(false)
            }
        }
    }
}

fn describe_json_error(error: &serde_json::Error, text: &[u8]) -> String {
    let message = error.to_string();
    // serde_json counts lines within the record, which is always line 1.
    let message = message.split(" at line ").next().unwrap_or(&message);
    let shown: String = String::from_utf8_lossy(text).chars().take(60).collect();
    format!("not a JSON record, column {}: {message}: {}", error.column(), shown.trim_end())
}
