//! Opens logs, and follows a log that is still being written. Fails if the part that was read changes.

use std::fs::{File, Metadata};
use std::io::{BufRead, BufReader, Read, Seek as _, SeekFrom};
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use sha2::{Digest as _, Sha256};

use super::failure::Failure;
use crate::exit::Exit;
use crate::files;
use crate::process::Cancel;

/// Time between two looks for further lines.
const POLL: Duration = Duration::from_millis(100);
/// Number of last-read bytes that are compared whenever the file has changed.
// Comparing everything would read the whole log again for each new line; `check_unchanged` does that once, at the end.
const TAIL: usize = 4096;

/// Opens the log at a path: a file, the journal of a run folder, or stdin.
pub(super) fn open_log(path: &Path) -> Result<Box<dyn Read + Send>, Failure> {
    if path == Path::new("-") {
        return Ok(Box::new(std::io::stdin()));
    }
    Ok(Box::new(open_log_file(path)?))
}

fn file_of(path: &Path) -> PathBuf {
    if path.is_dir() { path.join("journal.jsonl") } else { path.to_owned() }
}

/// Opens a file that the user names, or the journal of a run folder, which may have come from elsewhere.
fn open_log_file(named: &Path) -> Result<File, Failure> {
    let path = &file_of(named);
    // `audit <(command)`: the shell passes the output of a command as a named pipe.
    let is_pipe = std::fs::metadata(path).is_ok_and(|meta| meta.file_type().is_fifo());
    let from_shell = is_pipe && (path.starts_with("/dev") || path.starts_with("/proc"));
    let opened = match () {
        () if from_shell => File::open(path),
        () if named.is_dir() => files::open_below(named, path),
        () => files::open(path),
    };
    opened.map_err(|e| {
        Failure::usage(format!("cannot read {}: {e}", path.display()))
            .hint("name a run folder, a file of JSON lines, or - for stdin")
    })
}

/// The lines of a log that may still be written.
pub(super) struct GrowingLog {
    input: BufReader<Box<dyn Read + Send>>,
    pub is_stdin: bool,
    /// Number of the last line that was read, from 1.
    pub line: u64,
    /// The part of the next line that was read so far.
    ahead: Vec<u8>,
    /// What was read of the file; `None` for pipes.
    read: Option<ReadFile>,
}

impl GrowingLog {
    pub(super) fn open(path: &Path) -> Result<Self, Failure> {
        let is_stdin = path == Path::new("-");
        let mut read = None;
        let input: Box<dyn Read + Send> = if is_stdin {
            open_log(path)?
        } else {
            let file = open_log_file(path)?;
            let path = file_of(path);
            let meta = file.metadata().ok().filter(Metadata::is_file);
            read = meta.map(|meta| ReadFile {
                path,
                id: (meta.dev(), meta.ino()),
                digest: Sha256::new(),
                tail: Vec::new(),
                bytes: 0,
                seen: None,
            });
            Box::new(file)
        };
        Ok(Self { input: BufReader::new(input), is_stdin, line: 0, ahead: Vec::new(), read })
    }

    /// Waits for the next complete non-blank line; `None` at the end of stdin or when cancelled.
    pub(super) async fn next_line(&mut self, cancel: &Cancel) -> Result<Option<Vec<u8>>, Failure> {
        loop {
            if self.has_next_line()? {
                self.line += 1;
                return Ok(Some(std::mem::take(&mut self.ahead)));
            }
            if self.is_stdin || cancel.is_cancelled() {
                return Ok(None);
            }
            // At least one more look after a cancel: what was written before it counts.
            tokio::select! {
                () = tokio::time::sleep(POLL) => {}
                () = cancel.cancelled() => {}
            }
        }
    }

    /// Whether a complete non-blank line is available; does not wait for it.
    pub(super) fn has_next_line(&mut self) -> Result<bool, Failure> {
        while !self.ahead.ends_with(b"\n") {
            let before = self.ahead.len();
            let read = self
                .input
                .read_until(b'\n', &mut self.ahead)
                .map_err(|e| Failure::usage(format!("cannot read the log: {e}")))?;
            if let Some(file) = &mut self.read {
                file.append(&self.ahead[before..]);
            }
            if read == 0 {
                self.read.as_mut().map_or(Ok(()), ReadFile::check)?;
                // A last line without a line end is complete if stdin has ended. In a file it may still be being
                // written.
                return Ok(self.is_stdin && !self.ahead.trim_ascii().is_empty());
            }
            if self.ahead.ends_with(b"\n") && self.ahead.trim_ascii().is_empty() {
                self.line += 1;
                self.ahead.clear();
            }
        }
        Ok(true)
    }

    /// Fails if the file no longer begins with everything that was read.
    pub(super) fn check_unchanged(&self) -> Result<(), Failure> {
        self.read.as_ref().map_or(Ok(()), ReadFile::check_unchanged)
    }
}

/// The part of a file that was read, to detect changes.
struct ReadFile {
    path: PathBuf,
    /// Device and inode.
    id: (u64, u64),
    digest: Sha256,
    tail: Vec<u8>,
    bytes: u64,
    /// Size and modification time (seconds, nanoseconds) at the last comparison.
    seen: Option<(u64, i64, i64)>,
}

impl ReadFile {
    fn append(&mut self, read: &[u8]) {
        self.digest.update(read);
        self.bytes += read.len() as u64;
        self.tail.extend_from_slice(&read[read.len().saturating_sub(TAIL)..]);
        self.tail.drain(..self.tail.len().saturating_sub(TAIL));
    }

    /// Fails if the path leads to another file, or if the last bytes that were read have changed.
    fn check(&mut self) -> Result<(), Failure> {
        let meta = self.meta()?;
        // A file is only read again if its size or time has changed.
        let seen = Some((meta.len(), meta.mtime(), meta.mtime_nsec()));
        if seen != self.seen {
            let mut tail = Vec::new();
            self.open_at(self.bytes - self.tail.len() as u64)?
                .take(self.tail.len() as u64)
                .read_to_end(&mut tail)
                .map_err(|_| self.changed("rewritten"))?;
            if tail != self.tail {
                return Err(self.changed("rewritten"));
            }
            self.seen = seen;
        }
        Ok(())
    }

    fn check_unchanged(&self) -> Result<(), Failure> {
        self.meta()?;
        let mut digest = Sha256::new();
        let mut input = BufReader::new(self.open_at(0)?.take(self.bytes));
        while let Some(read) = input.fill_buf().ok().map(<[u8]>::len).filter(|read| *read > 0) {
            digest.update(input.buffer());
            input.consume(read);
        }
        let same = digest.finalize() == self.digest.clone().finalize();
        if same { Ok(()) } else { Err(self.changed("rewritten")) }
    }

    fn meta(&self) -> Result<Metadata, Failure> {
        let meta = std::fs::metadata(&self.path).map_err(|_| self.changed("removed"))?;
        match () {
            () if (meta.dev(), meta.ino()) != self.id => Err(self.changed("replaced")),
            () if meta.len() < self.bytes => Err(self.changed("truncated")),
            () => Ok(meta),
        }
    }

    fn open_at(&self, at: u64) -> Result<File, Failure> {
        let mut file = files::open(&self.path).map_err(|_| self.changed("removed"))?;
        file.seek(SeekFrom::Start(at)).map_err(|_| self.changed("removed"))?;
        Ok(file)
    }

    fn changed(&self, how: &str) -> Failure {
        let path = self.path.display();
        Failure::new(
            Exit::Undecided,
            format!("{path} was {how} while it was followed; the results above are for its earlier content"),
        )
        .hint("audit the log as it is now")
    }
}
