//! The working copy of a run: brought up to date from the store, and set aside if it differs.

use std::fs::File;
use std::io::{self, Seek as _, SeekFrom, Write as _};
use std::path::{Path as FilePath, PathBuf};

use bytes::Bytes;
use object_store::Error;
use object_store::path::Path;
use serde::Deserialize;
use tlaforge_files::{self as files, Sha, write_atomically};
use tlaforge_journal::{ChecksumChain, RunLock, WORKING_COPY_MARK};
use tracing::info;

use super::copy_lock::{beside, lock_working_copy};
use super::error::SharedStoreError;
use super::shared_run::{Header, SharedRun, TAKEN_OVER};
use super::worker_copy;

/// What an update changed.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Update {
    /// Number of events that the working copy lacked.
    pub events: u64,
    /// Where an earlier working copy is now that was none of this run.
    pub set_aside: Option<PathBuf>,
}

/// What this crate reads of a line of a journal.
#[derive(Deserialize)]
struct Line {
    seq: u64,
    #[serde(default)]
    more: u64,
}

/// The complete groups at the beginning of a text.
#[derive(Default)]
struct Groups {
    /// For each group, the number of its first event and where it begins.
    starts: Vec<(u64, usize)>,
    /// The end of the last group.
    end: usize,
    next_seq: u64,
    chain: ChecksumChain,
}

impl Groups {
    /// Groups that may follow these.
    fn following(self) -> Self {
        Self { starts: Vec::new(), end: 0, ..self }
    }

    fn none() -> Self {
        Self { next_seq: 1, ..Self::default() }
    }

    /// Reads the groups of a text that follows `before`. Leaves out an incomplete last one. The error says which line is wrong,
    /// and why.
    fn read(before: Self, bytes: &[u8]) -> Result<Self, String> {
        let mut groups = before.following();
        let (mut chain, mut seq, mut at, mut start) = (groups.chain.clone(), groups.next_seq, 0, None);
        for line in bytes.split_inclusive(|byte| *byte == b'\n').filter(|line| line.ends_with(b"\n")) {
            let read: Line = serde_json::from_slice(line).map_err(|error| format!("event {seq}: {error}"))?;
            if read.seq != seq {
                return Err(format!("event {} is in the place of event {seq}", read.seq));
            }
            chain.check(line).map_err(|what| format!("event {seq}: {what}"))?;
            let first = *start.get_or_insert((seq, at));
            (seq, at) = (seq + 1, at + line.len());
            if read.more == 0 {
                groups.starts.push(first);
                (groups.end, groups.next_seq, groups.chain) = (at, seq, chain.clone());
                start = None;
            }
        }
        Ok(groups)
    }
}

impl SharedRun {
    /// Keeps other processes of this machine from updating the working copy, until the file is dropped.
    pub fn lock_working_copy(&self) -> Result<File, SharedStoreError> {
        let locked = lock_working_copy(&self.folder)?;
        if !self.is_on_worker {
            worker_copy::remove_mark(&self.folder);
        }
        Ok(locked)
    }

    /// Like [`Self::update`], for a process that only reads. If a process of this machine works on the run, its working copy is
    /// up to date already.
    pub fn update_to_read(&self) -> Result<Update, SharedStoreError> {
        let _lock = self.lock_working_copy()?;
        if RunLock::is_held(&self.folder) { Ok(Update::default()) } else { self.update() }
    }

    /// Brings the working copy up to date. A copy that the store does not continue is set aside, and fetched again. The caller
    /// holds the lock of the working copy, and nothing works on the run in it.
    pub fn update(&self) -> Result<Update, SharedStoreError> {
        let stored = self.list_groups()?;
        let path = self.folder.join("journal.jsonl");
        let local = match files::read_below(&self.folder, &path, files::LOG) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(source) => return Err(SharedStoreError::Io { what: "read", path, source }),
        };
        let (update, kept, new) = match self.continue_local(&local, &stored)? {
            Some((kept, new, events)) => (Update { events, set_aside: None }, kept, new),
            None => {
                // Before the old copy is moved: an error leaves everything as it is.
                let (new, events) = self.fetch(Groups::none(), &stored)?;
                (Update { events, set_aside: Some(self.set_aside()?) }, 0, new)
            }
        };
        let has_run = !stored.is_empty();
        if has_run {
            let artifacts = self.folder.join("artifacts");
            files::check_below(&self.folder, &artifacts).map_err(|source| SharedStoreError::Io {
                what: "write to",
                path: artifacts.clone(),
                source,
            })?;
            create_folder(&artifacts)?;
            self.mark()?;
            // Before the events that name them.
            self.fetch_artifacts()?;
            append(&path, kept, &new).map_err(|source| SharedStoreError::Io { what: "write", path, source })?;
            let _ = std::fs::remove_file(self.folder.join(TAKEN_OVER));
        }
        info!(address = self.address(), ?update, "working copy is up to date");
        Ok(update)
    }

    /// Creates the working copy of a run that is not in the store yet.
    pub fn mark(&self) -> Result<(), SharedStoreError> {
        create_folder(&self.folder)?;
        let path = self.folder.join(WORKING_COPY_MARK);
        write_atomically(&path, format!("{}\n", self.address()).as_bytes()).map_err(|source| SharedStoreError::Io {
            what: "write",
            path,
            source,
        })
    }

    /// If the store continues the local journal: the length of its complete groups, what follows them, and the number of events
    /// in that.
    fn continue_local(&self, local: &[u8], stored: &[u64]) -> Result<Option<(usize, Vec<u8>, u64)>, SharedStoreError> {
        let Ok(groups) = Groups::read(Groups::none(), local) else { return Ok(None) };
        let Some(&(last, at)) = groups.starts.last() else {
            // Half of a first line is nothing; anything else would be an error above.
            return self.fetch(Groups::none(), stored).map(|(new, events)| Some((0, new, events)));
        };
        // Checksums cover all lines above, so if the last group is the same, all groups are.
        let Ok(from) = stored.binary_search(&last) else { return Ok(None) };
        let before = Groups::read(Groups::none(), &local[..at]).expect("it was read before");
        let (new, events) = match self.fetch(before, &stored[from..]) {
            Ok(fetched) => fetched,
            // Either is wrong. If it is the store, a fetch from the start says so.
            Err(SharedStoreError::Damaged { .. }) => return Ok(None),
            Err(error) => return Err(error),
        };
        let shared = groups.end - at;
        if !new.starts_with(&local[at..groups.end]) {
            return Ok(None);
        }
        Ok(Some((groups.end, new[shared..].to_vec(), events - (groups.next_seq - last))))
    }

    /// The lines of these groups, which follow `before`, and their number.
    fn fetch(&self, before: Groups, firsts: &[u64]) -> Result<(Vec<u8>, u64), SharedStoreError> {
        let bodies = self.get_all(firsts.iter().map(|first| self.group_path(*first)).collect());
        let bodies = bodies.map_err(|(path, error)| self.unreadable(&path, &error))?;
        let begin = before.next_seq;
        let (mut groups, mut lines) = (before, Vec::new());
        for (first, body) in firsts.iter().zip(bodies) {
            let damaged = |why: String| self.damaged(&self.group_path(*first), why);
            if *first != groups.next_seq {
                return Err(damaged(format!("it begins with event {first}, and event {} is missing", groups.next_seq)));
            }
            let end = body.iter().position(|byte| *byte == b'\n').map_or(body.len(), |end| end + 1);
            let (header, group) = body.split_at(end);
            serde_json::from_slice::<Header>(header)
                .map_err(|error| damaged(format!("its first line does not name its writer: {error}")))?;
            groups = Groups::read(groups, group).map_err(damaged)?;
            if groups.starts.len() != 1 || groups.end != group.len() {
                return Err(damaged("it is not one complete group of events".to_owned()));
            }
            lines.extend_from_slice(group);
        }
        Ok((lines, groups.next_seq - begin))
    }

    /// The numbers of the groups in the store, in order.
    fn list_groups(&self) -> Result<Vec<u64>, SharedStoreError> {
        let mut firsts = Vec::new();
        for path in self.list("journal")? {
            let name = path.filename().unwrap_or_default();
            let first = name.strip_suffix(".jsonl").filter(|digits| digits.len() == 20).and_then(|n| n.parse().ok());
            firsts.push(first.ok_or_else(|| self.damaged(&path, "no part of a journal has this name".to_owned()))?);
        }
        firsts.sort_unstable();
        Ok(firsts)
    }

    fn list(&self, folder: &str) -> Result<Vec<Path>, SharedStoreError> {
        let (folder, waiting) = (self.path(&[folder]), self.waiting());
        let listed = self.run(move |objects| async move { objects.list(&folder, waiting).await });
        listed.map_err(|error| self.unavailable("read", &error))
    }

    fn get_all(&self, paths: Vec<Path>) -> Result<Vec<Bytes>, (Path, Error)> {
        let waiting = self.waiting();
        self.run(move |objects| async move { objects.get_all(paths, waiting).await })
    }

    /// Fetches the artifacts that the working copy lacks, or whose content was changed there.
    fn fetch_artifacts(&self) -> Result<(), SharedStoreError> {
        let folder = self.folder.join("artifacts");
        let is_here = |name: &str| {
            files::read_below(&self.folder, &folder.join(name), files::LARGE)
                .is_ok_and(|bytes| Sha::digest(bytes).as_str() == name)
        };
        // Objects that others put there are no artifacts.
        let is_artifact = |name: &str| name.parse::<Sha>().is_ok();
        let missing = self.list("artifacts")?.into_iter().filter(|path| {
            let name = path.filename().unwrap_or_default();
            is_artifact(name) && !is_here(name)
        });
        let missing: Vec<Path> = missing.collect();
        let bodies = self.get_all(missing.clone());
        for (path, body) in missing.iter().zip(bodies.map_err(|(path, error)| self.unreadable(&path, &error))?) {
            let name = path.filename().unwrap_or_default();
            if Sha::digest(&body).as_str() != name {
                return Err(self.damaged(path, "its content does not have the SHA-256 in its name".to_owned()));
            }
            let path = folder.join(name);
            write_atomically(&path, &body).map_err(|source| SharedStoreError::Io { what: "write", path, source })?;
        }
        Ok(())
    }

    /// The text of an artifact, from the store.
    pub fn read_text(&self, sha: &Sha) -> Result<String, SharedStoreError> {
        let path = self.path(&["artifacts", sha.as_str()]);
        let body = self.get_all(vec![path.clone()]);
        let body = body.map_err(|(path, error)| self.unreadable(&path, &error))?.pop().unwrap_or_default();
        if Sha::digest(&body) != *sha {
            return Err(self.damaged(&path, "its content does not have the SHA-256 in its name".to_owned()));
        }
        String::from_utf8(body.to_vec()).map_err(|_| self.damaged(&path, "it is not a text".to_owned()))
    }

    /// Moves the working copy to a name that is free.
    fn set_aside(&self) -> Result<PathBuf, SharedStoreError> {
        let free = (1..u32::MAX).map(|n| beside(&self.folder, &format!("set-aside-{n}"))).find(|path| !path.exists());
        let to = free.expect("some number is free");
        std::fs::rename(&self.folder, &to).map_err(|source| SharedStoreError::Io {
            what: "move",
            path: self.folder.clone(),
            source,
        })?;
        Ok(to)
    }

    fn damaged(&self, path: &Path, why: String) -> SharedStoreError {
        let object = path.as_ref().strip_prefix(self.address.prefix().as_ref()).unwrap_or(path.as_ref());
        let object = object.trim_start_matches('/').to_owned();
        SharedStoreError::Damaged { address: self.address().to_owned(), object, why }
    }

    fn unreadable(&self, path: &Path, error: &Error) -> SharedStoreError {
        match error {
            Error::NotFound { .. } => self.damaged(path, "it was listed and is missing".to_owned()),
            error => self.unavailable("read", error),
        }
    }
}

fn create_folder(path: &FilePath) -> Result<(), SharedStoreError> {
    std::fs::create_dir_all(path).map_err(|source| SharedStoreError::Io {
        what: "create the folder",
        path: path.to_owned(),
        source,
    })
}

/// Writes `bytes` after the first `kept` bytes of a file, durably. A crash leaves an incomplete end, as in any journal.
fn append(path: &FilePath, kept: usize, bytes: &[u8]) -> io::Result<()> {
    let mut file = files::open_own(path)?;
    if bytes.is_empty() && file.metadata()?.len() == kept as u64 {
        return Ok(());
    }
    file.set_len(kept as u64)?;
    file.seek(SeekFrom::End(0))?;
    file.write_all(bytes)?;
    file.sync_all()
}
