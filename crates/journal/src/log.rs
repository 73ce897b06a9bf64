//! The append-only log. A record is durable before [`Journal::append`] returns. An incomplete end was never acted on, and
//! is cut off when the log is opened again.

use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tracing::{debug, info, warn};

use super::checksum::{ChecksumChain, has_altered_line_end};
use super::clocks::Clocks;
use super::error::JournalError;
use super::event::{Clock, Entry, Event, Record, Unreadable, is_lifeline_name};
use super::format::FORMAT;
use super::replica::Replica;
use tlaforge_files as files;

/// Journals of at least this size, in bytes, are parsed on all cores.
const PARALLEL_BYTES: usize = 256 << 10;

/// The repair at opening: the removal of a line or group of lines that was not completely written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Recovery {
    /// Number of bytes that were cut off at the end.
    pub torn_bytes: usize,
}

/// The point at which a crash test kills the process, given by the number of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Crash {
    /// Before anything of the event is on disk.
    Before(u64),
    /// After half of its line is on disk.
    Torn(u64),
    /// After the event is durable, before anything acts on it.
    After(u64),
}

/// Called with each event once it is durable.
pub type Observer<E> = Box<dyn Fn(&Entry<E>) + Send + Sync>;

/// An open journal, the only writer of its file.
pub struct Journal<E> {
    path: PathBuf,
    file: File,
    entries: Vec<Entry<E>>,
    clock: Clock,
    clocks: Clocks,
    chain: ChecksumChain,
    crash: Option<Crash>,
    observer: Option<Observer<E>>,
    replica: Option<Arc<dyn Replica>>,
    /// An earlier write failed, so the end of the file may be incomplete, or the replica has more than the file.
    has_failed: bool,
}

impl<E> std::fmt::Debug for Journal<E> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Journal")
            .field("path", &self.path)
            .field("entries", &self.entries.len())
            .finish_non_exhaustive()
    }
}

impl<E: Event> Journal<E> {
    /// Opens or creates the journal at `path` and cuts off an incomplete end. The caller must hold the run's lock.
    pub fn open(path: &Path, clock: Clock) -> Result<(Self, Recovery), JournalError> {
        let io = |what| move |source| JournalError::Io { what, path: path.to_owned(), source };
        let is_new = !path.exists();
        let mut file = files::open_own(path).map_err(io("open"))?;
        // A new file survives a crash only if its folder is synced as well.
        if is_new && let Some(parent) = path.parent() {
            File::open(parent).and_then(|d| d.sync_all()).map_err(io("sync the folder of"))?;
        }
        let bytes = files::read_file(&mut file, files::LOG).map_err(io("read"))?;
        let (entries, whole, chain) = parse(path, &bytes)?;
        let clocks = Clocks::read(&entries).map_err(|index| JournalError::Damaged {
            path: path.to_owned(),
            line: index + 1,
            what: "its vector clock does not count its own lifeline".to_owned(),
        })?;
        let recovery = Recovery { torn_bytes: bytes.len() - whole };
        if recovery.torn_bytes > 0 {
            file.set_len(whole as u64).map_err(io("cut the torn end of"))?;
            file.sync_data().map_err(io("sync"))?;
        }
        info!(path = ?path, events = entries.len(), "journal opened");
        if recovery.torn_bytes > 0 {
            warn!(bytes = recovery.torn_bytes, "journal recovered: its torn end was cut off");
        }
        file.seek(SeekFrom::End(0)).map_err(io("seek in"))?;
        let journal = Self {
            path: path.to_owned(),
            file,
            entries,
            clock,
            clocks,
            chain,
            crash: None,
            observer: None,
            replica: None,
            has_failed: false,
        };
        Ok((journal, recovery))
    }

    /// Sets a crash point, for tests.
    pub fn crash_at(&mut self, crash: Option<Crash>) {
        self.crash = crash;
    }

    /// Every group also goes to `replica`, and there first: the file never has more than the replica.
    pub fn replicate(&mut self, replica: Option<Arc<dyn Replica>>) {
        self.replica = replica;
    }

    /// Sets the observer that is called with each event once it is durable.
    pub fn observe(&mut self, observer: Observer<E>) {
        self.observer = Some(observer);
    }

    /// All durable events.
    pub fn entries(&self) -> &[Entry<E>] {
        &self.entries
    }

    /// The number that the next event gets.
    pub fn next_seq(&self) -> u64 {
        self.entries.len() as u64 + 1
    }

    /// An empty group that follows the last event.
    pub fn draft(&self) -> Draft<E> {
        Draft { first: self.next_seq(), at: (self.clock)(), clocks: self.clocks.clone(), entries: Vec::new() }
    }

    /// Appends records as one group, with one write and one sync. Returns the new events.
    pub fn append(&mut self, records: Vec<Record<E>>) -> Result<&[Entry<E>], JournalError> {
        let mut draft = self.draft();
        draft.extend(records);
        self.commit(draft)
    }

    /// Appends a drafted group.
    ///
    /// # Panics
    /// If anything was appended since the draft began: its events would have the wrong numbers.
    pub fn commit(&mut self, draft: Draft<E>) -> Result<&[Entry<E>], JournalError> {
        assert_eq!(draft.first, self.next_seq(), "nothing was appended since the draft began");
        let from = self.entries.len();
        let Draft { first, clocks, entries: mut fresh, .. } = draft;
        let count = fresh.len();
        // An empty group has no number of its own: a replica would take the next one for its contradiction.
        if count == 0 {
            return Ok(&[]);
        }
        let mut bytes = Vec::new();
        // A copy, like the clocks of the draft: if the write fails, the journal is as it was.
        let mut chain = self.chain.clone();
        let mut torn = None;
        for (i, entry) in fresh.iter_mut().enumerate() {
            // Counts down to 0, so a reader sees at each line whether the group is complete.
            entry.more = u32::try_from(count - 1 - i).unwrap_or(u32::MAX);
            let mut line = serde_json::to_vec(entry).expect("an event has string keys only");
            chain.seal(&mut line);
            if self.crash == Some(Crash::Before(entry.seq)) {
                self.crash_after(&bytes);
            }
            if self.crash == Some(Crash::Torn(entry.seq)) {
                torn = Some(bytes.len() + line.len() / 2);
            }
            bytes.extend_from_slice(&line);
            bytes.push(b'\n');
        }
        self.refuse_after_failure()?;
        // An empty group would occupy the number of the next event in the replica.
        if fresh.is_empty() {
            return Ok(&[]);
        }
        if let Some(replica) = &self.replica {
            // After a failure, the replica may have the group or not. Another group with this number would contradict it.
            replica.put_group(first, &bytes).inspect_err(|_| self.has_failed = true)?;
        }
        if let Some(length) = torn {
            self.crash_after(&bytes[..length]);
        }
        // One write and one sync for the group: a sync took 3.7 ms on one of our machines.
        self.write(&bytes).inspect_err(|_| self.has_failed = true)?;
        debug!(events = count, bytes = bytes.len(), "journal written");
        for entry in &fresh {
            if self.crash == Some(Crash::After(entry.seq)) {
                die();
            }
        }
        self.clocks = clocks;
        self.chain = chain;
        self.entries.extend(fresh);
        if let Some(observer) = &self.observer {
            self.entries[from..].iter().for_each(observer);
        }
        Ok(&self.entries[from..])
    }

    /// Writes and syncs. A failed write restores the old length of the file, so that a full disk loses nothing and the run can
    /// be resumed.
    fn write(&mut self, bytes: &[u8]) -> Result<(), JournalError> {
        let io = |path: &Path, source| JournalError::Io { what: "write to", path: path.to_owned(), source };
        // Writes to a file that was removed or replaced would be lost without an error.
        files::check_in_place(&self.file, &self.path).map_err(|e| io(&self.path, e))?;
        let before = self.file.stream_position().map_err(|e| io(&self.path, e))?;
        // `fdatasync` suffices: POSIX has it write the new length of the file, too.
        if let Err(source) = self.file.write_all(bytes).and_then(|()| self.file.sync_data()) {
            // No write after this one: if the file cannot be cut to its old length, a new line would follow half of
            // an old one (`has_failed`).
            let _ = self.file.set_len(before);
            let _ = self.file.sync_data();
            return Err(io(&self.path, source));
        }
        Ok(())
    }

    fn refuse_after_failure(&self) -> Result<(), JournalError> {
        if !self.has_failed {
            return Ok(());
        }
        let source = std::io::Error::other("an earlier write failed; start again with `resume`");
        Err(JournalError::Io { what: "write to", path: self.path.clone(), source })
    }

    /// Kills the process after these bytes of a group.
    fn crash_after(&mut self, bytes: &[u8]) -> ! {
        let _ = self.file.write_all(bytes);
        let _ = self.file.sync_data();
        die();
    }
}

/// The events of a group that is not written yet, with numbers, time and vector clocks.
#[derive(Debug, Clone)]
pub struct Draft<E> {
    first: u64,
    at: String,
    clocks: Clocks,
    entries: Vec<Entry<E>>,
}

impl<E> Draft<E> {
    /// A draft that follows these entries; `None` if one of their clocks is wrong.
    pub fn begin_after(entries: &[Entry<E>]) -> Option<Self> {
        let at = entries.last().map(|entry| entry.at.clone()).unwrap_or_default();
        Some(Self { first: entries.len() as u64 + 1, at, clocks: Clocks::read(entries).ok()?, entries: Vec::new() })
    }

    /// Appends records to the draft.
    pub fn extend(&mut self, records: Vec<Record<E>>) {
        for record in records {
            let vc = self.clocks.tick(&record);
            self.entries.push(Entry {
                v: FORMAT,
                seq: self.first + self.entries.len() as u64,
                at: self.at.clone(),
                lifeline: record.lifeline,
                kind: record.kind,
                rev: record.rev,
                attempt: record.attempt,
                more: 0,
                vc,
                event: record.event,
            });
        }
    }

    /// The events so far. Their `more` is set when they are written.
    pub fn entries(&self) -> &[Entry<E>] {
        &self.entries
    }
}

/// Kills the process as a crash would: nothing is flushed, no destructor runs.
fn die() -> ! {
    let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
    std::process::abort();
}

/// Reads the events of a journal without opening it for writing. Leaves out an incomplete last line or group.
pub fn read<E: Event>(path: &Path) -> Result<Vec<Entry<E>>, JournalError> {
    Ok(read_with_incomplete(path)?.0)
}

/// Like [`read`], but also counts the complete lines of an incomplete last group.
pub fn read_with_incomplete<E: Event>(path: &Path) -> Result<(Vec<Entry<E>>, usize), JournalError> {
    let bytes = files::read_below(path.parent().unwrap_or(path), path, files::LOG)
        .map_err(|source| JournalError::Io { what: "read", path: path.to_owned(), source })?;
    let (entries, end, _) = parse(path, &bytes)?;
    let rest = bytes[end..]
        .split_inclusive(|byte| *byte == b'\n')
        .filter(|line| line.ends_with(b"\n") && !line.trim_ascii().is_empty());
    Ok((entries, rest.count()))
}

/// Returns the events of complete groups, their length in bytes, and the digest of their lines.
fn parse<E: Event>(path: &Path, bytes: &[u8]) -> Result<(Vec<Entry<E>>, usize, ChecksumChain), JournalError> {
    parse_after(path, bytes, 0, &ChecksumChain::default())
}

/// Like [`parse`], for the rest of a journal after `before` lines with the digest `chain`.
pub(super) fn parse_after<E: Event>(
    path: &Path,
    bytes: &[u8],
    before: usize,
    chain: &ChecksumChain,
) -> Result<(Vec<Entry<E>>, usize, ChecksumChain), JournalError> {
    let bytes = without_blank_end(bytes);
    let whole = bytes.iter().rposition(|&b| b == b'\n').map_or(0, |i| i + 1);
    let lines: Vec<&[u8]> = bytes[..whole].split_inclusive(|&b| b == b'\n').collect();
    let mut entries: Vec<Entry<E>> = if whole < PARALLEL_BYTES {
        parse_lines(path, &lines, before)?
    } else {
        parse_in_parallel(path, &lines, before)?
    };
    let mut following = 0;
    for entry in &entries {
        // Inside a group every line counts one less than the line before it.
        if following > 0 && entry.more + 1 != following {
            return Err(JournalError::Damaged {
                path: path.to_owned(),
                line: usize::try_from(entry.seq).unwrap_or_default(),
                what: format!("{} more events of its group follow, where there are {}", entry.more, following - 1),
            });
        }
        following = entry.more;
    }
    // The last group is incomplete: its writer crashed, and nothing acted on it.
    while entries.last().is_some_and(|e| e.more > 0) {
        entries.pop();
    }
    let group_ends = lines[..entries.len()].iter().map(|line| line.len()).sum();
    // Over all lines, also those of the incomplete group: they can be altered as well.
    let chain = check_all(path, &lines, entries.len(), &bytes[whole..], before, chain)?;
    Ok((entries, group_ends, chain))
}

/// The bytes without empty lines at their end, such as an editor adds: they hold nothing, so nothing is lost with them.
fn without_blank_end(bytes: &[u8]) -> &[u8] {
    let end = bytes.trim_ascii_end().len();
    match bytes.get(end) {
        // Nothing but empty lines, as after all events that a follower has read.
        Some(_) if end == 0 => &[],
        Some(b'\n') => &bytes[..=end],
        _ => bytes,
    }
}

/// Checks the checksums of all lines, which follow `before` lines with the digest `chain`. Returns the digest of those and
/// of the first `kept` lines.
fn check_all(
    path: &Path,
    lines: &[&[u8]],
    kept: usize,
    tail: &[u8],
    before: usize,
    chain: &ChecksumChain,
) -> Result<ChecksumChain, JournalError> {
    let damaged = |line, what: &str| JournalError::Damaged { path: path.to_owned(), line, what: what.to_owned() };
    let (mut chain, mut kept_chain) = (chain.clone(), chain.clone());
    for (number, line) in (1..).zip(lines) {
        chain.check(line).map_err(|what| damaged(before + number, what))?;
        if number == kept {
            kept_chain = chain.clone();
        }
    }
    if has_altered_line_end(&chain, tail) {
        return Err(damaged(before + lines.len() + 1, "its end of line was altered"));
    }
    Ok(kept_chain)
}

/// Parses the lines of a long journal on all cores. Parsing dominates the time to resume a run, and lines are independent.
fn parse_in_parallel<E: Event>(path: &Path, lines: &[&[u8]], before: usize) -> Result<Vec<Entry<E>>, JournalError> {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let share = lines.len().div_ceil(cores).max(1);
    std::thread::scope(|scope| {
        let shares: Vec<_> = lines
            .chunks(share)
            .enumerate()
            .map(|(i, lines)| scope.spawn(move || parse_lines(path, lines, before + i * share)))
            .collect();
        let mut entries = Vec::with_capacity(lines.len());
        for share in shares {
            entries.extend(share.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?);
        }
        Ok(entries)
    })
}

/// Parses lines that follow `before` other lines.
fn parse_lines<E: Event>(path: &Path, lines: &[&[u8]], before: usize) -> Result<Vec<Entry<E>>, JournalError> {
    let mut entries: Vec<Entry<E>> = Vec::with_capacity(lines.len());
    for (number, line) in (before + 1..).zip(lines) {
        let damaged = |what: String| JournalError::Damaged { path: path.to_owned(), line: number, what };
        let entry = Entry::parse(line).map_err(|why| match why {
            Unreadable::Version(what) => JournalError::Version { path: path.to_owned(), line: number, what },
            Unreadable::Damaged(what) => damaged(what),
        })?;
        if entry.seq != number as u64 {
            return Err(damaged(format!("its number is {}, and {number} is expected", entry.seq)));
        }
        if let Some(name) = std::iter::once(&entry.lifeline).chain(entry.vc.keys()).find(|name| !is_lifeline_name(name))
        {
            return Err(damaged(format!("{:?} is no name of a lifeline", name.chars().take(80).collect::<String>())));
        }
        entries.push(entry);
    }
    Ok(entries)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::Past;
    use crate::test_event::{Thing, record};

    fn read(path: &Path) -> Result<Vec<Entry<Thing>>, JournalError> {
        super::read(path)
    }

    fn open(path: &Path) -> Result<(Journal<Thing>, Recovery), JournalError> {
        Journal::open(path, clock())
    }

    fn clock() -> Clock {
        std::sync::Arc::new(|| "2026-01-01T00:00:00Z".to_owned())
    }

    #[test]
    fn a_torn_last_line_is_cut_at_every_possible_byte() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("journal.jsonl");
        let (mut journal, _) = open(&path).unwrap();
        assert_eq!(journal.append(Vec::new()).unwrap(), []);
        journal.append(vec![record(1), record(2)]).unwrap();
        journal.append(vec![record(3)]).unwrap();
        drop(journal);
        let full = std::fs::read(&path).unwrap();
        let ends: Vec<usize> = full.iter().enumerate().filter(|(_, b)| **b == b'\n').map(|(i, _)| i + 1).collect();
        for cut in 0..=full.len() {
            std::fs::write(&path, &full[..cut]).unwrap();
            let (mut journal, recovery) = open(&path).unwrap();
            // The first two events are one group, so one line of it counts for nothing.
            let kept = match ends.iter().filter(|e| **e <= cut).count() {
                1 => 0,
                whole => whole,
            };
            assert_eq!(journal.entries().len(), kept);
            assert_eq!(recovery.torn_bytes, cut - ends[..kept].last().copied().unwrap_or(0));
            assert_eq!(journal.append(vec![record(9)]).unwrap()[0].seq, kept as u64 + 1);
            assert_eq!(read(&path).unwrap().len(), kept + 1);
        }
    }

    #[test]
    fn damage_before_the_end_stops_with_its_line_number() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("journal.jsonl");
        let (mut journal, _) = open(&path).unwrap();
        journal.append(vec![record(1), record(2), record(3)]).unwrap();
        drop(journal);
        let full = std::fs::read_to_string(&path).unwrap();
        let lines: Vec<&str> = full.lines().collect();
        for (text, line) in [
            (format!("{}\n{{broken\n{}\n", lines[0], lines[2]), 2),
            (format!("{}\n{}\n", lines[0], lines[2]), 2),
            (format!("{}\n\n{}\n", lines[0], lines[1]), 2),
            (lines[0].replace("\"kind\":\"act\"", "\"kind\":\"ach\"") + "\n", 1),
            (lines[0].replace("\"name\":\"thing\"", "\"name\":\"think\"") + "\n", 1),
            (lines[0].replace("\"n\":1", "\"n\":\"1\"") + "\n", 1),
        ] {
            std::fs::write(&path, &text).unwrap();
            let Err(JournalError::Damaged { line: at, .. }) = open(&path) else { panic!("{text}") };
            assert_eq!(at, line);
            assert_eq!(std::fs::read_to_string(&path).unwrap(), text, "nothing is changed");
        }
    }

    #[test]
    fn a_lifeline_with_another_name_than_a_word_is_damage() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("journal.jsonl");
        let (mut journal, _) = open(&path).unwrap();
        for good in ["run", "formalize_12", "model_check", "A-b"] {
            journal.append(vec![Record { lifeline: good.into(), ..record(1) }]).unwrap();
        }
        drop(journal);
        assert_eq!(read(&path).unwrap().len(), 4);
        for bad in ["", " ", "../x", "/etc/passwd", "a b", "a\n::error::b", "a\0", "\u{1b}[31m", "ä", &"x".repeat(101)]
        {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("journal.jsonl");
            let (mut journal, _) = open(&path).unwrap();
            journal.append(vec![Record { lifeline: bad.into(), ..record(1) }]).unwrap();
            let error = read(&path).unwrap_err();
            assert!(matches!(&error, JournalError::Damaged { line: 1, .. }), "{error}");
            assert!(!error.to_string().contains(['\n', '\0', '\u{1b}']), "{error}");
        }
    }

    #[test]
    fn a_long_journal_is_read_like_a_short_one() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("journal.jsonl");
        let (mut journal, _) = open(&path).unwrap();
        let long = "x".repeat(PARALLEL_BYTES / 100);
        for n in 0..201 {
            let event = Thing::Thing { n, text: long.clone() };
            let records = vec![Record { event, ..record(n) }, record(n)];
            journal.append(records).unwrap();
        }
        let written = journal.entries().to_vec();
        drop(journal);
        assert!(path.metadata().unwrap().len() > PARALLEL_BYTES as u64);
        assert_eq!(read(&path).unwrap(), written);
        let full = std::fs::read_to_string(&path).unwrap();
        for line in [1, 2, 200, 201, 202, 203, 401, 402] {
            let mut lines: Vec<&str> = full.lines().collect();
            lines[line - 1] = "{broken";
            std::fs::write(&path, lines.join("\n") + "\n").unwrap();
            assert!(matches!(read(&path), Err(JournalError::Damaged { line: at, .. }) if at == line));
        }
        std::fs::write(&path, full.trim_end().rsplit_once('\n').unwrap().0.to_owned() + "\n").unwrap();
        assert_eq!(read(&path).unwrap().len(), 400, "half of the last group is nothing");
    }

    #[test]
    fn a_full_disk_is_an_error_and_loses_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("journal.jsonl");
        let (mut journal, _) = open(&path).unwrap();
        journal.append(vec![record(1)]).unwrap();
        // /dev/full accepts no byte: the nearest thing to a full disk that needs no file system of its own.
        journal.file = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        journal.path = "/dev/full".into();
        assert!(matches!(journal.append(vec![record(2)]), Err(JournalError::Io { .. })));
        assert_eq!(journal.entries().len(), 1);
        assert_eq!(read(&path).unwrap().len(), 1);
    }

    #[test]
    fn an_event_has_the_clock_of_its_causal_past() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("journal.jsonl");
        let of = |lifeline: &str, past| Record { lifeline: lifeline.into(), past, ..record(0) };
        let (mut journal, _) = open(&path).unwrap();
        journal.append(vec![of("run", Past::Journal)]).unwrap();
        journal.append(vec![of("a", Past::Journal), of("a", Past::Lifeline)]).unwrap();
        // Parallel lifelines are not in each other's past until an event takes the whole journal as its past.
        journal.append(vec![of("b", Past::Lifeline)]).unwrap();
        journal.append(vec![of("a", Past::Lifeline)]).unwrap();
        drop(journal);
        let (mut journal, _) = open(&path).unwrap();
        journal.append(vec![of("b", Past::Journal), of("run", Past::Lifeline)]).unwrap();
        let clocks =
            |entries: &[Entry<Thing>]| entries.iter().map(|e| serde_json::to_value(&e.vc).unwrap()).collect::<Vec<_>>();
        let expected = [
            json!({"run": 1}),
            json!({"a": 1, "run": 1}),
            json!({"a": 2, "run": 1}),
            json!({"b": 1}),
            json!({"a": 3, "run": 1}),
            json!({"a": 3, "b": 2, "run": 1}),
            json!({"run": 2}),
        ];
        assert_eq!(clocks(journal.entries()), expected);
        let text = std::fs::read_to_string(&path).unwrap();
        for other in ["\"b\":\"x\",", "\"c\":2,"] {
            std::fs::write(&path, text.replace("\"b\":2,", other)).unwrap();
            assert!(matches!(open(&path), Err(JournalError::Damaged { line: 6, .. })));
        }
    }
}
