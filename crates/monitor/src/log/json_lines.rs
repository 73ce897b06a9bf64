//! Reading of a log of JSON lines by several threads, with its states in the order of the log.

use std::collections::BTreeMap;
use std::io::Read;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Mutex, mpsc};

use super::error::{LogError, RecordError};
use super::log_summary::{INVALID_SHOWN, LogSummary};
use super::missed_calls::MissedCallFinder;
use super::plan::Plan;
use super::states::States;

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
    missed_calls: Option<&'a MissedCallFinder>,
    skip_invalid: bool,
}

/// Reads JSON lines. Several threads fold the states of each record, with its line, into parts; `take` gets the parts in
/// the order of the log.
pub fn scan_lines<A: Default + Send>(
    input: &mut (impl Read + Send),
    plan: &Plan,
    options: ScanOptions,
    fold: impl Fn(&mut A, &States, u64) + Sync,
    take: impl FnMut(A),
) -> Result<LogSummary, LogError> {
    scan_lines_for_calls(input, plan, None, options, fold, take)
}

/// [`scan_lines`], which also looks for calls where the shape of the log has none.
pub(crate) fn scan_lines_for_calls<A: Default + Send>(
    input: &mut (impl Read + Send),
    plan: &Plan,
    missed_calls: Option<&MissedCallFinder>,
    options: ScanOptions,
    fold: impl Fn(&mut A, &States, u64) + Sync,
    mut take: impl FnMut(A),
) -> Result<LogSummary, LogError> {
    let threads = options.threads.max(1);
    let reader = LineReader { plan, missed_calls, skip_invalid: options.skip_invalid };
    let mut summary = LogSummary::new(plan.names().len());
    // The number of buffers bounds what is read and not yet taken.
    let (free, buffers) = mpsc::channel();
    for _ in 0..2 * threads {
        free.send(Vec::new()).expect("the receiver is alive");
    }
    let (done, parts) = mpsc::channel();
    let blocks = Mutex::new(BlockReader { input, buffers, rest: Vec::new(), line: 1, number: 0, ended: false });
    std::thread::scope(|scope| {
        for _ in 0..threads {
            let (done, blocks, fold) = (done.clone(), &blocks, &fold);
            scope.spawn(move || {
                while let Some((number, block)) = next_block(blocks) {
                    let (buffer, part) = match block {
                        Ok(block) => {
                            // Pass a panic on: the receiver would wait forever for a part that never comes.
                            let part = catch_unwind(AssertUnwindSafe(|| reader.scan_block(&block, fold)));
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
        // Moved in here so that an early return drops it, which ends the threads that wait for a buffer.
        let free = free;
        for (number, buffer, part) in parts {
            waiting.insert(number, (buffer, part));
            while let Some((mut buffer, part)) = waiting.remove(&wanted) {
                let (folded, part): (A, LogSummary) = part.unwrap_or_else(|panic| resume_unwind(panic))?;
                summary.append(part);
                take(folded);
                wanted += 1;
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
struct Block {
    text: Vec<u8>,
    first_line: u64,
    is_last: bool,
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
}

/// The next block and its number.
fn next_block<R: Read>(blocks: &Mutex<BlockReader<'_, R>>) -> Option<(u64, Result<Block, LogError>)> {
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

impl<R: Read> BlockReader<'_, R> {
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
                return Ok(Block { text, first_line, is_last: true });
            }
            if let Some(end) = memchr::memrchr(b'\n', &text[searched..]) {
                let end = searched + end + 1;
                self.rest.extend_from_slice(&text[end..]);
                text.truncate(end);
                self.line += memchr::memchr_iter(b'\n', &text).count() as u64;
                return Ok(Block { text, first_line, is_last: false });
            }
            searched = text.len();
            if text.len() > LONGEST_LINE {
                let message = format!("longer than {} MB without an end of line", LONGEST_LINE >> 20);
                return Err(LogError::Line { line: first_line, message });
            }
        }
    }
}

impl LineReader<'_> {
    fn scan_block<A: Default>(
        self,
        block: &Block,
        fold: &impl Fn(&mut A, &States, u64),
    ) -> Result<(A, LogSummary), LogError> {
        let Self { plan, missed_calls, skip_invalid } = self;
        let Block { text, first_line, is_last } = block;
        let mut folded = A::default();
        let mut summary = LogSummary::new(plan.names().len());
        let mut states = plan.new_states();
        let mut line = *first_line;
        let mut rest = text.strip_prefix(if line == 1 { "\u{feff}".as_bytes() } else { &[] }).unwrap_or(text);
        while !rest.is_empty() {
            let end = memchr::memchr(b'\n', rest);
            let (text, after) = end.map_or((rest, &rest[rest.len()..]), |end| (&rest[..end], &rest[end + 1..]));
            rest = after;
            if !text.trim_ascii().is_empty() {
                summary.records += 1;
                match plan.read(text, &mut states) {
                    Ok(is_state) => {
                        if let Some(finder) = missed_calls {
                            finder.check_line(text, is_state, &states, line, &mut summary);
                        }
                        if is_state {
                            summary.add(&states, line);
                            fold(&mut folded, &states, line);
                        }
                    }
                    Err(RecordError::List(message)) => {
                        return Err(LogError::List { place: format!("line {line}"), message });
                    }
                    Err(RecordError::Text(message)) => return Err(LogError::Line { line, message }),
                    // The writer was interrupted: the last line has no end and is not complete.
                    Err(RecordError::Json(error)) if *is_last && end.is_none() && error.is_eof() => {
                        summary.torn = Some(line);
                    }
                    Err(RecordError::Json(error)) => {
                        let message = describe_json_error(&error, text);
                        if !skip_invalid {
                            return Err(LogError::Line { line, message });
                        }
                        summary.invalid_count += 1;
                        if summary.invalid.len() < INVALID_SHOWN {
                            summary.invalid.push((line, message));
                        }
                    }
                }
            }
            line += 1;
        }
        Ok((folded, summary))
    }
}

fn describe_json_error(error: &serde_json::Error, text: &[u8]) -> String {
    let message = error.to_string();
    // serde_json counts lines within the record, which is always line 1.
    let message = message.split(" at line ").next().unwrap_or(&message);
    let shown: String = String::from_utf8_lossy(text).chars().take(60).collect();
    format!("not a JSON record, column {}: {message}: {}", error.column(), shown.trim_end())
}
