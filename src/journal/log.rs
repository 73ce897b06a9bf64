//! The append-only log. A record is durable before [`Journal::append`] returns; what is torn at the end was never acted
//! on and is cut off when the log is opened again.

use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::checksum::{Chain, FORMAT, is_whole_but_for_its_end};
use super::clocks::Clocks;
use super::event::{Clock, Event, Record};
use crate::files;

/// Journals from this size on are read on all cores.
const SHARED_BYTES: usize = 256 << 10;

/// Why a journal cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JournalError {
    /// The operating system refused.
    #[error("{what} {path}: {source}")]
    Io {
        /// What was tried.
        what: &'static str,
        /// On which file.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// A line that is not the torn last one is damaged.
    #[error("{path}, line {line}, is damaged ({what}); restore the file or move the folder away: nothing was changed")]
    Damaged {
        /// The journal.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong with it.
        what: String,
    },
}

/// What opening had to mend: a line or a group of lines that was not wholly written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Recovery {
    /// Bytes at the end that were cut off.
    pub torn_bytes: usize,
}

/// Where a crash test ends the process: before or after event `seq` is durable, or with half of its line written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Crash {
    /// Nothing of the event is on disk.
    Before(u64),
    /// Half of the line is on disk.
    Torn(u64),
    /// The event is durable, and nothing was done about it.
    After(u64),
}

/// Called with each event once it is durable.
pub type Observer = Box<dyn Fn(&Event) + Send + Sync>;

/// An open journal, the only writer of its file.
pub struct Journal {
    path: PathBuf,
    file: File,
    events: Vec<Event>,
    clock: Clock,
    clocks: Clocks,
    chain: Chain,
    crash: Option<Crash>,
    /// Called with each durable event.
    observer: Option<Observer>,
    damaged_tail: bool,
}

impl std::fmt::Debug for Journal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Journal").field("path", &self.path).field("events", &self.events.len()).finish_non_exhaustive()
    }
}

impl Journal {
    /// Opens or creates the journal at `path` and cuts off a torn last line. The caller holds the run's lock.
    pub fn open(path: &Path, clock: Clock) -> Result<(Self, Recovery), JournalError> {
        let io = |what| move |source| JournalError::Io { what, path: path.to_owned(), source };
        let is_new = !path.exists();
        let mut file = files::open_own(path).map_err(io("open"))?;
        if is_new && let Some(parent) = path.parent() {
            File::open(parent).and_then(|d| d.sync_all()).map_err(io("sync the folder of"))?;
        }
        let bytes = files::read_file(&mut file, files::LOG).map_err(io("read"))?;
        let (events, whole, chain) = parse(path, &bytes)?;
        let clocks = Clocks::of(&events).map_err(|at| JournalError::Damaged {
            path: path.to_owned(),
            line: at + 1,
            what: "its vector clock cannot be read".to_owned(),
        })?;
        let recovery = Recovery { torn_bytes: bytes.len() - whole };
        if recovery.torn_bytes > 0 {
            file.set_len(whole as u64).map_err(io("cut the torn end of"))?;
            file.sync_data().map_err(io("sync"))?;
        }
        file.seek(SeekFrom::End(0)).map_err(io("seek in"))?;
        let journal = Self {
            path: path.to_owned(),
            file,
            events,
            clock,
            clocks,
            chain,
            crash: None,
            observer: None,
            damaged_tail: false,
        };
        Ok((journal, recovery))
    }

    /// Arms a crash for a test.
    pub fn crash_at(&mut self, crash: Option<Crash>) {
        self.crash = crash;
    }

    /// Sets who sees each event once it is durable.
    pub fn observe(&mut self, observer: Observer) {
        self.observer = Some(observer);
    }

    /// All durable events.
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// The number that the next event gets.
    pub fn next_seq(&self) -> u64 {
        self.events.len() as u64 + 1
    }

    /// A group that begins where the journal ends, and nothing in it yet.
    pub fn draft(&self) -> Draft {
        Draft { first: self.next_seq(), at: (self.clock)(), clocks: self.clocks.clone(), events: Vec::new() }
    }

    /// Appends records as one group: one write, one flush to the disk. Returns the new events.
    pub fn append(&mut self, records: Vec<Record>) -> Result<&[Event], JournalError> {
        let mut draft = self.draft();
        draft.extend(records);
        self.commit(draft)
    }

    /// Appends a group that was drafted from the journal as it stands.
    ///
    /// # Panics
    /// Where something was appended since the draft began: its events have the wrong numbers.
    pub fn commit(&mut self, draft: Draft) -> Result<&[Event], JournalError> {
        assert_eq!(draft.first, self.next_seq(), "a draft follows the event that it was drafted behind");
        let from = self.events.len();
        let Draft { clocks, events: mut fresh, .. } = draft;
        let count = fresh.len();
        let mut bytes = Vec::new();
        let mut chain = self.chain.clone();
        for (i, event) in fresh.iter_mut().enumerate() {
            event.more = u32::try_from(count - 1 - i).unwrap_or(u32::MAX);
            let mut line = serde_json::to_vec(event).expect("an event has string keys only");
            chain.seal(&mut line);
            self.crash_before(event, &bytes, &line);
            bytes.extend_from_slice(&line);
            bytes.push(b'\n');
        }
        self.write(&bytes)?;
        for event in &fresh {
            if self.crash == Some(Crash::After(event.seq)) {
                die();
            }
        }
        self.clocks = clocks;
        self.chain = chain;
        self.events.extend(fresh);
        if let Some(observer) = &self.observer {
            self.events[from..].iter().for_each(observer);
        }
        Ok(&self.events[from..])
    }

    /// A failed write leaves the file as it was, so that a full disk loses nothing and can be retried after a restart.
    fn write(&mut self, bytes: &[u8]) -> Result<(), JournalError> {
        let io = |path: &Path, source| JournalError::Io { what: "write to", path: path.to_owned(), source };
        if self.damaged_tail {
            return Err(io(&self.path, std::io::Error::other("an earlier write failed; start again with `resume`")));
        }
        files::check_in_place(&self.file, &self.path).map_err(|e| io(&self.path, e))?;
        let before = self.file.stream_position().map_err(|e| io(&self.path, e))?;
        if let Err(source) = self.file.write_all(bytes).and_then(|()| self.file.sync_data()) {
            self.damaged_tail = true;
            let _ = self.file.set_len(before);
            let _ = self.file.sync_data();
            return Err(io(&self.path, source));
        }
        Ok(())
    }

    fn crash_before(&mut self, event: &Event, earlier: &[u8], line: &[u8]) {
        let torn: &[u8] = match self.crash {
            Some(Crash::Before(seq)) if seq == event.seq => &[],
            Some(Crash::Torn(seq)) if seq == event.seq => &line[..line.len() / 2],
            _ => return,
        };
        let _ = self.file.write_all(earlier);
        let _ = self.file.write_all(torn);
        let _ = self.file.sync_data();
        die();
    }
}

/// Events of a group that is not written yet: numbered, timed and with their clocks.
#[derive(Debug, Clone)]
pub struct Draft {
    first: u64,
    at: String,
    clocks: Clocks,
    events: Vec<Event>,
}

impl Draft {
    /// One that would have followed these events of a journal; `None` where a clock of theirs cannot be read.
    pub fn behind(events: &[Event]) -> Option<Self> {
        let at = events.last().map(|event| event.at.clone()).unwrap_or_default();
        Some(Self { first: events.len() as u64 + 1, at, clocks: Clocks::of(events).ok()?, events: Vec::new() })
    }

    /// Adds records behind those before.
    pub fn extend(&mut self, records: Vec<Record>) {
        for record in records {
            let vc = Some(self.clocks.tick(&record));
            self.events.push(Event {
                v: FORMAT,
                seq: self.first + self.events.len() as u64,
                at: self.at.clone(),
                lifeline: record.lifeline,
                kind: record.kind,
                name: record.name.to_owned(),
                rev: record.rev,
                attempt: record.attempt,
                more: 0,
                vc,
                data: record.data,
            });
        }
    }

    /// The events so far; how many of the group follow each is said when it is written.
    pub fn events(&self) -> &[Event] {
        &self.events
    }
}

/// Ends the process as SIGKILL would: nothing is flushed, no destructor runs.
fn die() -> ! {
    let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
    std::process::abort();
}

/// Reads the events of a journal without opening it for writing. What was torn at its end is left out: a line, or the events
/// of a group that was not written to its end.
pub fn read(path: &Path) -> Result<Vec<Event>, JournalError> {
    Ok(read_with_rest(path)?.0)
}

/// The same, and how many whole lines of a group stand behind them that was not written to its end.
pub fn read_with_rest(path: &Path) -> Result<(Vec<Event>, usize), JournalError> {
    let bytes = files::read(path, files::LOG).map_err(|source| JournalError::Io {
        what: "read",
        path: path.to_owned(),
        source,
    })?;
    let (events, end, _) = parse(path, &bytes)?;
    let rest = bytes[end..].split_inclusive(|byte| *byte == b'\n').filter(|line| line.ends_with(b"\n")).count();
    Ok((events, rest))
}

/// The events, how many bytes they take, and the digest of their lines; what follows is torn.
fn parse(path: &Path, bytes: &[u8]) -> Result<(Vec<Event>, usize, Chain), JournalError> {
    let whole = bytes.iter().rposition(|&b| b == b'\n').map_or(0, |i| i + 1);
    let lines: Vec<&[u8]> = bytes[..whole].split_inclusive(|&b| b == b'\n').collect();
    let mut events = if whole < SHARED_BYTES { parse_lines(path, &lines, 0)? } else { parse_shared(path, &lines)? };
    let mut following = 0;
    for event in &events {
        if following > 0 && event.more + 1 != following {
            return Err(JournalError::Damaged {
                path: path.to_owned(),
                line: usize::try_from(event.seq).unwrap_or_default(),
                what: format!("{} more events of its group follow, where there are {}", event.more, following - 1),
            });
        }
        following = event.more;
    }
    while events.last().is_some_and(|e| e.more > 0) {
        events.pop();
    }
    let group_ends = lines[..events.len()].iter().map(|line| line.len()).sum();
    let chain = check(path, &lines, events.len(), &bytes[whole..])?;
    Ok((events, group_ends, chain))
}

/// Checks the checksums of all lines. Returns the digest of the first `kept` of them.
fn check(path: &Path, lines: &[&[u8]], kept: usize, tail: &[u8]) -> Result<Chain, JournalError> {
    let damaged = |line, what: &str| JournalError::Damaged { path: path.to_owned(), line, what: what.to_owned() };
    let (mut chain, mut of_kept) = (Chain::default(), Chain::default());
    for (number, line) in (1..).zip(lines) {
        chain.check(line).map_err(|what| damaged(number, what))?;
        if number == kept {
            of_kept = chain.clone();
        }
    }
    if is_whole_but_for_its_end(&chain, tail) {
        return Err(damaged(lines.len() + 1, "its end of line was altered"));
    }
    Ok(of_kept)
}

/// Reading the lines of a long journal is what resuming a run costs, and no line needs another.
fn parse_shared(path: &Path, lines: &[&[u8]]) -> Result<Vec<Event>, JournalError> {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let share = lines.len().div_ceil(cores).max(1);
    std::thread::scope(|scope| {
        let shares: Vec<_> = lines
            .chunks(share)
            .enumerate()
            .map(|(i, lines)| scope.spawn(move || parse_lines(path, lines, i * share)))
            .collect();
        let mut events = Vec::with_capacity(lines.len());
        for share in shares {
            events.extend(share.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?);
        }
        Ok(events)
    })
}

/// The events of lines of which `before` others stand in front.
fn parse_lines(path: &Path, lines: &[&[u8]], before: usize) -> Result<Vec<Event>, JournalError> {
    let mut events: Vec<Event> = Vec::with_capacity(lines.len());
    for (number, line) in (before + 1..).zip(lines) {
        let damaged = |what: String| JournalError::Damaged { path: path.to_owned(), line: number, what };
        let event: Event = serde_json::from_slice(line).map_err(|e| damaged(e.to_string()))?;
        if !(1..=FORMAT).contains(&event.v) {
            let what = format!("format version {} is not among 1 to {FORMAT}: a newer tlaforge wrote it", event.v);
            return Err(damaged(what));
        }
        if event.seq != number as u64 {
            return Err(damaged(format!("event {} stands where {number} belongs", event.seq)));
        }
        events.push(event);
    }
    Ok(events)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::{Kind, Past};
    use serde_json::json;

    fn clock() -> Clock {
        std::sync::Arc::new(|| "2026-01-01T00:00:00Z".to_owned())
    }

    fn record(n: u32) -> Record {
        Record {
            lifeline: "run".into(),
            kind: Kind::Act,
            name: "thing",
            rev: 0,
            attempt: n,
            past: Past::Lifeline,
            data: json!({"n": n}),
        }
    }

    #[test]
    fn a_torn_last_line_is_cut_at_every_possible_byte() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("journal.jsonl");
        let (mut journal, _) = Journal::open(&path, clock()).unwrap();
        journal.append(vec![record(1), record(2)]).unwrap();
        journal.append(vec![record(3)]).unwrap();
        drop(journal);
        let full = std::fs::read(&path).unwrap();
        let ends: Vec<usize> = full.iter().enumerate().filter(|(_, b)| **b == b'\n').map(|(i, _)| i + 1).collect();
        for cut in 0..=full.len() {
            std::fs::write(&path, &full[..cut]).unwrap();
            let (mut journal, recovery) = Journal::open(&path, clock()).unwrap();
            // The first two events are one group: half of it is nothing.
            let kept = match ends.iter().filter(|e| **e <= cut).count() {
                1 => 0,
                whole => whole,
            };
            assert_eq!(journal.events().len(), kept);
            assert_eq!(recovery.torn_bytes, cut - ends[..kept].last().copied().unwrap_or(0));
            assert_eq!(journal.append(vec![record(9)]).unwrap()[0].seq, kept as u64 + 1);
            assert_eq!(read(&path).unwrap().len(), kept + 1);
        }
    }

    #[test]
    fn damage_before_the_end_stops_with_its_line_number() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("journal.jsonl");
        let (mut journal, _) = Journal::open(&path, clock()).unwrap();
        journal.append(vec![record(1), record(2), record(3)]).unwrap();
        drop(journal);
        let full = std::fs::read_to_string(&path).unwrap();
        let lines: Vec<&str> = full.lines().collect();
        for (text, line) in [
            (format!("{}\n{{broken\n{}\n", lines[0], lines[2]), 2),
            (format!("{}\n{}\n", lines[0], lines[2]), 2),
            (format!("{}\n\n", lines[0]), 2),
            (lines[0].replace("\"v\":2", "\"v\":7") + "\n", 1),
        ] {
            std::fs::write(&path, &text).unwrap();
            let Err(JournalError::Damaged { line: at, .. }) = Journal::open(&path, clock()) else { panic!("{text}") };
            assert_eq!(at, line);
            assert_eq!(std::fs::read_to_string(&path).unwrap(), text, "nothing is changed");
        }
    }

    #[test]
    fn a_long_journal_is_read_as_a_short_one_is() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("journal.jsonl");
        let (mut journal, _) = Journal::open(&path, clock()).unwrap();
        let long = "x".repeat(SHARED_BYTES / 100);
        for n in 0..201 {
            let data = json!({"text": long});
            let records = vec![Record { data, ..record(n) }, record(n)];
            journal.append(records).unwrap();
        }
        let written = journal.events().to_vec();
        drop(journal);
        assert!(path.metadata().unwrap().len() > SHARED_BYTES as u64);
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
        let (mut journal, _) = Journal::open(&path, clock()).unwrap();
        journal.append(vec![record(1)]).unwrap();
        // /dev/full accepts no byte: the nearest thing to a full disk that needs no file system of its own.
        journal.file = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        journal.path = "/dev/full".into();
        assert!(matches!(journal.append(vec![record(2)]), Err(JournalError::Io { .. })));
        assert_eq!(journal.events().len(), 1);
        assert_eq!(read(&path).unwrap().len(), 1);
    }

    #[test]
    fn an_event_has_the_clock_of_what_it_could_know_of() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("journal.jsonl");
        let of = |lifeline: &str, past| Record { lifeline: lifeline.into(), past, ..record(0) };
        let (mut journal, _) = Journal::open(&path, clock()).unwrap();
        journal.append(vec![of("run", Past::Journal)]).unwrap();
        journal.append(vec![of("a", Past::Journal), of("a", Past::Lifeline)]).unwrap();
        // Two that work side by side know nothing of each other, until one looks at the whole.
        journal.append(vec![of("b", Past::Lifeline)]).unwrap();
        journal.append(vec![of("a", Past::Lifeline)]).unwrap();
        drop(journal);
        let (mut journal, _) = Journal::open(&path, clock()).unwrap();
        journal.append(vec![of("b", Past::Journal), of("run", Past::Lifeline)]).unwrap();
        let clocks = |events: &[Event]| events.iter().map(|e| e.vc.clone().unwrap()).collect::<Vec<_>>();
        let expected = [
            json!({"run": 1}),
            json!({"a": 1, "run": 1}),
            json!({"a": 2, "run": 1}),
            json!({"b": 1}),
            json!({"a": 3, "run": 1}),
            json!({"a": 3, "b": 2, "run": 1}),
            json!({"run": 2}),
        ];
        assert_eq!(clocks(journal.events()), expected);
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, text.replace("\"b\":2,", "\"b\":\"x\",")).unwrap();
        assert!(matches!(Journal::open(&path, clock()), Err(JournalError::Damaged { line: 6, .. })));
    }

    #[test]
    fn in_a_journal_from_before_there_were_clocks_each_event_has_seen_all_before_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("journal.jsonl");
        let of = |lifeline: &str, past| Record { lifeline: lifeline.into(), past, ..record(0) };
        let (mut journal, _) = Journal::open(&path, clock()).unwrap();
        journal.append(vec![of("a", Past::Lifeline), of("b", Past::Lifeline), of("a", Past::Lifeline)]).unwrap();
        drop(journal);
        let mut events = read(&path).unwrap();
        let line = |event: &mut Event| {
            (event.v, event.vc) = (1, None);
            serde_json::to_string(event).unwrap() + "\n"
        };
        std::fs::write(&path, events.iter_mut().map(line).collect::<String>()).unwrap();
        let (mut journal, _) = Journal::open(&path, clock()).unwrap();
        let fresh = journal.append(vec![of("b", Past::Lifeline), of("a", Past::Lifeline)]).unwrap();
        assert_eq!(fresh[0].vc, Some(json!({"a": 1, "b": 2})));
        assert_eq!(fresh[1].vc, Some(json!({"a": 3, "b": 1})));
    }
}
