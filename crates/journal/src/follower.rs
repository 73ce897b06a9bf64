//! Reads a journal while another process writes it: each time only what is new.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use super::checksum::ChecksumChain;
use super::error::JournalError;
use super::event::{Entry, Event};
use super::log::parse_after;
use tlaforge_files as files;

/// A reader that knows how far it has read.
#[derive(Debug)]
pub struct Follower {
    path: PathBuf,
    /// What was read so far; `None` before the first read.
    read: Option<ReadSoFar>,
}

#[derive(Debug)]
struct ReadSoFar {
    /// Device and inode of the file.
    file: (u64, u64),
    /// Length of the file when it was last read, and of the complete groups in it.
    length: u64,
    complete: u64,
    lines: usize,
    chain: ChecksumChain,
}

/// What was added to a journal.
#[derive(Debug)]
pub struct Appended<E> {
    /// The journal begins anew: it is another one, or a shorter one. `entries` are all of it.
    pub is_anew: bool,
    pub entries: Vec<Entry<E>>,
}

impl Follower {
    pub fn new(path: PathBuf) -> Self {
        Self { path, read: None }
    }

    /// The events of complete groups since the last call. After an error, the next call begins at the start.
    pub fn read_new<E: Event>(&mut self) -> Result<Appended<E>, JournalError> {
        let path = self.path.clone();
        let io = |source| JournalError::Io { what: "read", path: path.clone(), source };
        let mut file = files::open_below(path.parent().unwrap_or(&path), &path).map_err(io)?;
        let metadata = file.metadata().map_err(io)?;
        let (identity, length) = ((metadata.dev(), metadata.ino()), metadata.len());
        if let Some(before) = self.read.take_if(|read| read.file == identity && read.complete <= length) {
            if before.length == length {
                self.read = Some(before);
                return Ok(Appended { is_anew: false, entries: Vec::new() });
            }
            // An error here may mean that the file was written anew, in the same place.
            if let Ok((entries, read)) = read_after(&path, &mut file, &before) {
                self.read = Some(read);
                return Ok(Appended { is_anew: false, entries });
            }
        }
        let start = ReadSoFar { file: identity, length: 0, complete: 0, lines: 0, chain: ChecksumChain::default() };
        let (entries, read) = read_after(&path, &mut file, &start)?;
        self.read = Some(read);
        Ok(Appended { is_anew: true, entries })
    }
}

/// Reads what follows the complete groups of `before`.
fn read_after<E: Event>(
    path: &Path,
    file: &mut File,
    before: &ReadSoFar,
) -> Result<(Vec<Entry<E>>, ReadSoFar), JournalError> {
    let io = |source| JournalError::Io { what: "read", path: path.to_owned(), source };
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(before.complete)).map_err(io)?;
    file.take(files::LOG.saturating_sub(before.complete)).read_to_end(&mut bytes).map_err(io)?;
    let (entries, complete, chain) = parse_after(path, &bytes, before.lines, &before.chain)?;
    let read = ReadSoFar {
        file: before.file,
        length: before.complete + bytes.len() as u64,
        complete: before.complete + complete as u64,
        lines: before.lines + entries.len(),
        chain,
    };
    Ok((entries, read))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::{Journal, read};
    use crate::test_event::{Thing, record};

    fn journal(path: &Path) -> Journal<Thing> {
        Journal::open(path, std::sync::Arc::new(|| "2026-01-01T00:00:00Z".to_owned())).unwrap().0
    }

    fn read_new(follower: &mut Follower) -> (bool, Vec<u64>) {
        let Appended { is_anew, entries } = follower.read_new::<Thing>().unwrap();
        (is_anew, entries.iter().map(|entry| entry.seq).collect())
    }

    #[test]
    fn each_event_is_read_once_at_whatever_byte_the_file_ends() {
        let dir = tempfile::tempdir().unwrap();
        let (path, growing) = (dir.path().join("journal.jsonl"), dir.path().join("growing.jsonl"));
        let mut writer = journal(&path);
        for group in [1_u32, 3, 1, 2] {
            writer.append((0..group).map(record).collect()).unwrap();
        }
        let full = std::fs::read(&path).unwrap();
        for step in [1, 7, 100, full.len()] {
            let mut follower = Follower::new(growing.clone());
            let mut seen = Vec::new();
            std::fs::write(&growing, "").unwrap();
            for end in (0..full.len()).step_by(step).chain([full.len()]) {
                std::fs::write(&growing, &full[..end]).unwrap();
                let Appended { is_anew, entries } = follower.read_new::<Thing>().unwrap();
                assert_eq!(is_anew, end == 0);
                seen.extend(entries);
                assert_eq!(seen, read::<Thing>(&growing).unwrap());
            }
            assert_eq!(seen.len(), 7);
        }
    }

    #[test]
    fn a_journal_that_was_cut_or_replaced_is_read_from_its_start() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("journal.jsonl");
        let mut follower = Follower::new(path.clone());
        follower.read_new::<Thing>().unwrap_err();
        let mut writer = journal(&path);
        writer.append(vec![record(1)]).unwrap();
        writer.append(vec![record(2)]).unwrap();
        assert_eq!(read_new(&mut follower), (true, vec![1, 2]));
        assert_eq!(read_new(&mut follower), (false, vec![]));
        drop(writer);
        let full = std::fs::read_to_string(&path).unwrap();

        std::fs::write(&path, full.lines().next().unwrap().to_owned() + "\n").unwrap();
        assert_eq!(read_new(&mut follower), (true, vec![1]));
        // Another run in the same file, longer than what was read.
        let other = dir.path().join("other.jsonl");
        let mut writer = journal(&other);
        writer.append(vec![record(7)]).unwrap();
        writer.append(vec![record(8)]).unwrap();
        writer.append(vec![record(9)]).unwrap();
        std::fs::write(&path, std::fs::read(&other).unwrap()).unwrap();
        assert_eq!(read_new(&mut follower), (true, vec![1, 2, 3]));
        // Another file, in the end as long as the one before it.
        std::fs::write(&other, &full).unwrap();
        std::fs::rename(&other, &path).unwrap();
        assert_eq!(read_new(&mut follower), (true, vec![1, 2]));
        // Damage is an error, and what is good again is read anew.
        std::fs::write(&path, full.clone() + "{broken\n").unwrap();
        follower.read_new::<Thing>().unwrap_err();
        std::fs::write(&path, &full).unwrap();
        assert_eq!(read_new(&mut follower), (true, vec![1, 2]));
    }
}
