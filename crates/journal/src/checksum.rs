//! Checksums of the journal's lines. Each covers its own line and, through the digest before it, all lines above.
//!
//! A line ends in `,"sum":"<16 hex digits>"}`. The digits are the first 16 of the SHA-256 of the previous line's full digest
//! (64 hex digits, nothing for the first line) and the line without this field. They detect damage but are no signature:
//! a person who edits a journal can compute them again.

use std::io::{BufRead, BufReader};
use std::path::Path;

use super::error::JournalError;
use super::format::{LINE_START, wrong_version_of_line};
use tlaforge_files::{self as files, Sha};

const FIELD: &[u8] = b",\"sum\":\"";
const DIGITS: usize = 16;

/// The digest of the lines so far.
#[derive(Debug, Clone, Default)]
pub struct ChecksumChain {
    digest: Option<Sha>,
    /// Whether any of them had a checksum.
    has_checksums: bool,
}

impl ChecksumChain {
    /// Appends the checksum to a line without its line end.
    pub(super) fn seal(&mut self, line: &mut Vec<u8>) {
        self.extend(line);
        let digits = self.digits();
        // The closing brace, which follows the field again. The sum covers the line as it was without the field.
        line.pop();
        line.extend_from_slice(FIELD);
        line.extend_from_slice(digits.as_bytes());
        line.extend_from_slice(b"\"}");
        self.has_checksums = true;
    }

    /// Checks the next line. Lines without checksum are allowed before the first line of a journal, as in the log of another
    /// program that contains a journal.
    ///
    /// # Errors
    /// A message: the checksum is missing, or it does not match this line and those above.
    pub fn check(&mut self, line: &[u8]) -> Result<(), &'static str> {
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        let Some((body, digits)) = split_checksum(line) else {
            // After the first line of a journal, a line without checksum is one that was added or altered.
            if self.has_checksums || line.starts_with(LINE_START) {
                return Err("its checksum is missing");
            }
            self.extend(line);
            return Ok(());
        };
        self.extend(&[body, b"}"].concat());
        self.has_checksums = true;
        if self.digits().as_bytes() == digits { Ok(()) } else { Err("its checksum does not fit: it was altered") }
    }

    fn extend(&mut self, line: &[u8]) {
        let before = self.digest.as_ref().map_or("", Sha::as_str);
        self.digest = Some(Sha::digest([before.as_bytes(), line].concat()));
    }

    fn digits(&self) -> &str {
        self.digest.as_ref().map_or("", |sha| &sha.as_str()[..DIGITS])
    }
}

/// Splits a line into the text before the checksum, without the closing brace, and the digits.
fn split_checksum(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let line = line.strip_suffix(b"\"}")?;
    let (rest, digits) = line.split_at_checked(line.len().checked_sub(DIGITS)?)?;
    Some((rest.strip_suffix(FIELD)?, digits))
}

/// Whether a last line is complete except for its line end, which was altered. A crash cannot leave such a line: it leaves
/// only the beginning of one.
pub(super) fn has_altered_line_end(chain: &ChecksumChain, tail: &[u8]) -> bool {
    tail.split_last().is_some_and(|(_, line)| split_checksum(line).is_some() && chain.clone().check(line).is_ok())
}

/// Checks the checksums of a journal, and nothing else. Ignores an incomplete last line.
pub fn check_lines(path: &Path) -> Result<(), JournalError> {
    let io = |source| JournalError::Io { what: "read", path: path.to_owned(), source };
    check_lines_from(BufReader::new(files::open(path).map_err(io)?), path)
}

/// Checks the checksums of a journal from any input. Messages refer to it as `path`.
pub fn check_lines_from(mut input: impl BufRead, path: &Path) -> Result<(), JournalError> {
    let io = |source| JournalError::Io { what: "read", path: path.to_owned(), source };
    let (mut chain, mut line) = (ChecksumChain::default(), Vec::new());
    let mut is_over = false;
    for number in 1.. {
        line.clear();
        input.read_until(b'\n', &mut line).map_err(io)?;
        let damaged = |what: &str| JournalError::Damaged { path: path.to_owned(), line: number, what: what.to_owned() };
        // Empty lines are allowed only at the end of a journal: any line after one is an error.
        if line.ends_with(b"\n") && line.trim_ascii().is_empty() {
            is_over = true;
            continue;
        }
        if is_over && !line.is_empty() {
            return Err(damaged("it follows an empty line, which a journal has only at its end"));
        }
        if line.last() != Some(&b'\n') {
            if has_altered_line_end(&chain, &line) {
                return Err(damaged("its end of line was altered"));
            }
            break;
        }
        if let Some(what) = wrong_version_of_line(&line) {
            return Err(JournalError::Version { path: path.to_owned(), line: number, what });
        }
        chain.check(&line).map_err(damaged)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_event::{Thing, record};
    use crate::{Entry, Journal, Record};

    fn read(path: &Path) -> Result<Vec<Entry<Thing>>, JournalError> {
        crate::read(path)
    }

    fn written(dir: &Path) -> Vec<u8> {
        let path = dir.join("journal.jsonl");
        let clock = std::sync::Arc::new(|| "2026-01-01T00:00:00Z".to_owned());
        let (mut journal, _) = Journal::open(&path, clock).unwrap();
        let record = |n| Record { event: Thing::Thing { n, text: "a \u{e4} \n".to_owned() }, ..record(n) };
        journal.append(vec![record(1)]).unwrap();
        journal.append(vec![record(2), record(3)]).unwrap();
        std::fs::read(path).unwrap()
    }

    #[test]
    fn every_single_bit_flip_is_detected() {
        let dir = tempfile::tempdir().unwrap();
        let bytes = written(dir.path());
        let path = dir.path().join("damaged.jsonl");
        for at in 0..bytes.len() {
            for bit in 0..8 {
                let mut damaged = bytes.clone();
                damaged[at] ^= 1 << bit;
                std::fs::write(&path, &damaged).unwrap();
                assert!(read(&path).is_err(), "byte {at}, bit {bit}");
                assert!(check_lines(&path).is_err(), "byte {at}, bit {bit}");
            }
        }
        std::fs::write(&path, &bytes).unwrap();
        assert_eq!(read(&path).unwrap().len(), 3);
        check_lines(&path).unwrap();
        // Empty lines at the end are ignored; between other lines they are damage.
        std::fs::write(&path, [&bytes, b"\n \n\n".as_slice()].concat()).unwrap();
        assert_eq!(read(&path).unwrap().len(), 3);
        check_lines(&path).unwrap();
        let end = bytes.iter().position(|byte| *byte == b'\n').unwrap() + 1;
        std::fs::write(&path, [&bytes[..end], b"\n", &bytes[end..]].concat()).unwrap();
        assert!(read(&path).is_err() && check_lines(&path).is_err());
        // An incomplete last line is what a crash leaves, and no damage.
        for end in 0..bytes.len() {
            std::fs::write(&path, &bytes[..end]).unwrap();
            assert!(read(&path).is_ok() && check_lines(&path).is_ok(), "{end} bytes");
        }
    }

    #[test]
    fn a_line_of_another_version_names_the_release_that_reads_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("journal.jsonl");
        let bytes = written(dir.path());
        let this = String::from_utf8(bytes).unwrap();
        for (v, release) in [(1, "tlaforge 0.1 reads"), (2, "tlaforge 0.1 reads"), (4, "a newer tlaforge wrote")] {
            // The fields of another version may be others.
            for text in
                [this.replace("{\"v\":3,", &format!("{{\"v\":{v},")), format!("{{\"v\":{v},\"seq\":1,\"data\":1}}\n")]
            {
                std::fs::write(&path, &text).unwrap();
                for error in [read(&path).unwrap_err(), check_lines(&path).unwrap_err()] {
                    let said = error.to_string();
                    assert!(said.contains(&format!("version {v}, which {release}")), "{said}");
                    assert!(said.contains("reads version 3"), "{said}");
                }
            }
        }
    }
}
