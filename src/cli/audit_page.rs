//! The files that `tlaforge audit` writes: with `--html` a page, with the records of the log that it cites, and with
//! `--junit` a report for a CI server.

use std::collections::{BTreeMap, BTreeSet};
use std::io::BufRead as _;
use std::path::{Path, PathBuf};

use super::audit_args::AuditArgs;
use super::failure::{Fails, Failure};
use super::page::write_page;
use crate::exit::Exit;
use crate::journal::write_atomically;
use crate::monitor::{AuditReport, log::Shape};
use crate::pipeline::{RunView, Verification};
use crate::report::{AuditSource, audit_junit, audit_page, cited_states};

pub(super) fn write_audit_page(
    args: &AuditArgs,
    shape: &str,
    audited: &AuditReport,
    verification: &Verification,
) -> Result<(), Failure> {
    let Some(path) = &args.page.html else { return Ok(()) };
    let records = read_records(&args.log, audited);
    let log = args.log_name();
    let outcome = (shape == Shape::Journal.name()).then(|| run_outcome(&args.log)).flatten();
    write_page(path, &audit_page(&AuditSource { log: &log, shape, outcome, audited, verification, records }))
}

pub(super) fn write_junit(args: &AuditArgs, audited: &AuditReport, verification: &Verification) -> Result<(), Failure> {
    if let Some(path) = &args.junit {
        // Compares the files and not the paths, because a link can lead to the log.
        if path.canonicalize().is_ok_and(|target| args.log.canonicalize().is_ok_and(|log| log == target)) {
            return Err(Failure::usage(format!("--junit would overwrite the log {}", path.display())));
        }
        write_atomically(
            &std::path::absolute(path).fails(Exit::Usage)?,
            audit_junit(&args.log_name(), audited, verification).as_bytes(),
        )
        .map_err(|e| Failure::usage(format!("cannot write {}: {e}", path.display())))?;
    }
    Ok(())
}

/// How the run of a journal ended.
fn run_outcome(log: &Path) -> Option<String> {
    let (events, _) = crate::journal::read_with_incomplete(&journal_of(log)).ok()?;
    let finished = RunView::from_entries(&events).finished;
    Some(finished.map_or_else(
        || "not finished".to_owned(),
        |finished| format!("ended as {}", finished.outcome.name().replace('_', " ")),
    ))
}

/// The journal of a run folder, or the file that the user names. That may be a link; a journal in a run folder may not.
pub(super) fn journal_of(log: &Path) -> PathBuf {
    if log.is_dir() { log.join("journal.jsonl") } else { log.canonicalize().unwrap_or_else(|_| log.to_owned()) }
}

/// The lines of the log that a page cites. The audit has read the log as a stream, so they are read again; a log that can be
/// read only once has none.
fn read_records(log: &Path, audited: &AuditReport) -> BTreeMap<u64, String> {
    let places = &audited.log.places;
    let wanted: BTreeSet<u64> = cited_states(audited).into_iter().filter_map(|state| places.line(state)).collect();
    let journal = journal_of(log);
    let Some(last) = wanted.last().filter(|_| journal.is_file()) else { return BTreeMap::new() };
    let Ok(file) = crate::files::open(&journal) else { return BTreeMap::new() };
    let lines = std::io::BufReader::new(file).split(b'\n').map_while(Result::ok);
    (1..=*last)
        .zip(lines)
        .filter(|(number, _)| wanted.contains(number))
        .map(|(number, line)| (number, String::from_utf8_lossy(&line).into_owned()))
        .collect()
}
