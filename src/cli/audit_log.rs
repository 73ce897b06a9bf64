//! The log that `tlaforge audit` reads: a file, a pipe or a run, as JSON lines.

use std::io::{Cursor, Read};
use std::path::Path;

use super::failure::{Fails, Failure};
use super::growing_log::open_log;
use crate::exit::Exit;
use crate::files;
use crate::journal::{check_lines, check_lines_from};
use crate::monitor::log::{document_lines, event_stream_lines, is_document, is_event_stream};

/// Number of bytes at the beginning of a log that its shape is detected from.
pub(super) const DETECTION_BYTES: u64 = 4 << 20;

/// An open log whose first bytes have been read.
pub(super) struct Log {
    pub beginning: Vec<u8>,
    /// Whether the log was one JSON document, whose records are now lines.
    pub is_list: bool,
    rest: Box<dyn Read + Send>,
}

impl Log {
    pub(super) fn open(path: &Path) -> Result<Self, Failure> {
        let mut rest = open_log(path)?;
        let mut beginning = Vec::new();
        rest.by_ref()
            .take(DETECTION_BYTES)
            .read_to_end(&mut beginning)
            .map_err(|e| Failure::usage(format!("cannot read {}: {e}", path.display())))?;
        if let Some((what, hint)) = unreadable_encoding(&beginning) {
            return Err(
                Failure::usage(format!("{} is {what}; tlaforge audit reads JSON in UTF-8", path.display())).hint(hint)
            );
        }
        if is_event_stream(&beginning) {
            let lines = event_stream_lines(&Self { beginning, is_list: false, rest }.read_all()?);
            let beginning = lines[..lines.len().min(4 << 20)].to_vec();
            let mut rest = Cursor::new(lines);
            rest.set_position(beginning.len() as u64);
            return Ok(Self { beginning, is_list: false, rest: Box::new(rest) });
        }
        let is_whole = (beginning.len() as u64) < DETECTION_BYTES;
        let log = Self { beginning, is_list: false, rest };
        if is_document(&log.beginning, is_whole) { log.with_lines_of_document(path) } else { Ok(log) }
    }

    /// Replaces a document by its records.
    fn with_lines_of_document(self, path: &Path) -> Result<Self, Failure> {
        let mut lines = self.read_all()?;
        let is_array = lines.trim_ascii_start().starts_with(b"[");
        let is_list = match document_lines(&lines) {
            Ok(records) => {
                lines = records;
                true
            }
            // Perhaps JSON lines of which the first is damaged.
            Err(_) if !is_array => false,
            Err(error) => return Err(Failure::usage(format!("{}: {error}", path.display()))),
        };
        let beginning = lines[..lines.len().min(4 << 20)].to_vec();
        let mut rest = Cursor::new(lines);
        rest.set_position(beginning.len() as u64);
        Ok(Self { beginning, is_list, rest: Box::new(rest) })
    }

    /// Verifies the checksums of a journal. A pipe can be read only once, so its bytes are kept.
    pub(super) fn with_checked_sums(self, path: &Path) -> Result<Self, Failure> {
        let journal = if path.is_dir() { path.join("journal.jsonl") } else { path.to_owned() };
        if journal.is_file() {
            check_lines(&journal).fails(Exit::Usage)?;
            return Ok(self);
        }
        let beginning = self.beginning.clone();
        let mut whole = Cursor::new(self.read_all()?);
        check_lines_from(&mut whole, path).fails(Exit::Usage)?;
        whole.set_position(beginning.len() as u64);
        Ok(Self { beginning, is_list: false, rest: Box::new(whole) })
    }

    pub(super) fn input(self) -> impl Read + Send {
        Cursor::new(self.beginning).chain(self.rest)
    }

    pub(super) fn read_all(self) -> Result<Vec<u8>, Failure> {
        let mut bytes = Vec::new();
        let mut input = self.input().take(files::LOG + 1);
        input.read_to_end(&mut bytes).map_err(|e| Failure::usage(format!("cannot read the log: {e}")))?;
        if bytes.len() as u64 > files::LOG {
            return Err(Failure::usage(format!(
                "the log is larger than {} MiB, the limit for a single JSON value and for a journal from a pipe",
                files::LOG >> 20
            ))
            .hint("a file of JSON lines can have any size"));
        }
        Ok(bytes)
    }
}

/// Recognizes compressed logs and UTF-16 by their first bytes. Returns what the log is, and the command that converts it.
fn unreadable_encoding(beginning: &[u8]) -> Option<(&'static str, &'static str)> {
    const ENCODINGS: [(&[u8], &str, &str); 6] = [
        (b"\x1f\x8b", "compressed with gzip", "gunzip -c LOG | tlaforge audit - …"),
        (b"\x28\xb5\x2f\xfd", "compressed with zstd", "zstd -dc LOG | tlaforge audit - …"),
        (b"BZh", "compressed with bzip2", "bunzip2 -c LOG | tlaforge audit - …"),
        (b"PK\x03\x04", "a zip archive", "unzip -p LOG | tlaforge audit - …"),
        (b"\xff\xfe", "text in UTF-16", "iconv -f UTF-16 -t UTF-8 LOG | tlaforge audit - …"),
        (b"\xfe\xff", "text in UTF-16", "iconv -f UTF-16 -t UTF-8 LOG | tlaforge audit - …"),
    ];
    let by_mark = ENCODINGS.iter().find(|(mark, ..)| beginning.starts_with(mark)).map(|(_, what, hint)| (*what, *hint));
    // Without a byte-order mark, a zero beside the opening bracket shows it.
    let by_zero = || match beginning {
        [0, b'{' | b'[', ..] => Some(("text in UTF-16", "iconv -f UTF-16BE -t UTF-8 LOG | tlaforge audit - …")),
        [b'{' | b'[', 0, ..] => Some(("text in UTF-16", "iconv -f UTF-16LE -t UTF-8 LOG | tlaforge audit - …")),
        _ => None,
    };
    by_mark.or_else(by_zero)
}
