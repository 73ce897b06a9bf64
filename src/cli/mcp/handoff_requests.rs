//! The requests of a run that its client answers (provider `mcp`): the folders of the handoff provider, with its guarantees.
//! An answer is durable before the run reads it, and there is one answer for each request.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::io::ErrorKind;
use std::path::Path;

use rmcp::model::CallToolResult;
use serde_json::json;

use super::allowed_folders::AllowedPath;
use super::pending_requests::Pending;
use super::run_state::RunState;
use super::tool_arguments::{AnswerArguments, RequestFileArguments};
use super::tool_result::{complete, page};
use crate::cli::failure::{Fails, Failure};
use crate::exit::Exit;
use crate::files;
use crate::llm::MAX_ANSWER_BYTES;
use crate::pipeline::{Entry, RunEvent};

/// Largest number of files that an answer can claim to have read.
const MAX_FILES_READ: usize = 1_000;
/// Bytes of a request's text or of a file in one answer, about 6,000 tokens. Clients cut longer results without a word to us,
/// and what they cut would count as read.
const PAGE: usize = 24_000;

/// A page of a request, with what its answerer needs to know.
///
/// `open` are all requests that wait. With `is_named`, the caller answers this request itself.
pub(super) fn request_page(
    run: &AllowedPath,
    request: &Pending,
    open: &[u64],
    offset: usize,
    is_named: bool,
) -> Result<CallToolResult, Failure> {
    let whole = files::read_text_below(&run.path, &request.folder.join("request.md"), files::LARGE)
        .map_err(|e| Failure::usage(format!("cannot read request {}: {e}", request.seq)))?;
    // The provider's own words about answer files are for a person.
    let text = whole.find("## Your role").map_or(whole.as_str(), |start| &whole[start..]);
    // The files are read with `read_request_file`, so their folder would only mislead.
    let text = match text.split_once("\n\nAll paths are below `") {
        Some((before, after)) => format!("{before}{}", after.split_once("`.").map_or(after, |(_, after)| after)),
        None => text.to_owned(),
    };
    if offset > 0 && offset >= text.len() {
        let (seq, length) = (request.seq, text.len());
        return Err(Failure::usage(format!("offset {offset} is past the end of request {seq} ({length} bytes)"))
            .hint("leave `offset` out to read it from the beginning"));
    }
    let (part, next) = page_of(&text, offset);
    let job = run.relative();
    let mut shown = String::new();
    if offset == 0 {
        let _ = write!(shown, "Request {seq} of {job}, for {}.", request.node, seq = request.seq);
        if !is_named {
            shown.push_str(" Answer it yourself, or give its number to a fresh sub-agent.");
        }
        if let others @ [_, ..] = open.iter().filter(|seq| **seq != request.seq).collect::<Vec<_>>().as_slice() {
            let _ = write!(shown, " Also open: {others:?}; next_request with `request` returns one of them.");
        }
        let _ = write!(
            shown,
            " Use no tool for it but read_request_file (job {job:?}, request {seq}), for the files that it lists and only as \
             far as they are needed; look at no other file. Send the answer, and nothing else, with submit_answer (job \
             {job:?}, request {seq}).\n\n",
            seq = request.seq,
        );
    }
    shown.push_str(part);
    if let Some(next) = next {
        let _ = write!(shown, "\n\n[The request goes on: next_request with request {} and offset {next}]", request.seq);
    }
    let listed: Vec<_> = request.offered.iter().map(|file| json!({ "path": file.path, "bytes": file.bytes })).collect();
    let data = json!({
        "job": job, "state": "waiting_for_answer", "request": request.seq, "node": request.node,
        "purpose": request.purpose, "open": open, "next_offset": next, "files": listed,
    });
    Ok(page(shown, data, Vec::new()))
}

/// A page from this byte on, and where the next one begins.
fn page_of(text: &str, offset: usize) -> (&str, Option<usize>) {
    let from = floor_of_char(text, offset.min(text.len()));
    let to = floor_of_char(text, from.saturating_add(PAGE).min(text.len()));
    (&text[from..to], (to < text.len()).then_some(to))
}

fn floor_of_char(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// A file that a request lists, from a line on. The lines count as read.
pub(super) fn read_file(
    run: &AllowedPath,
    state: &RunState,
    given: &RequestFileArguments,
) -> Result<CallToolResult, Failure> {
    let request = find_pending(run, state, given.request)?;
    let Some(file) = request.offered.iter().find(|file| file.path == given.path) else {
        let list: Vec<&str> = request.offered.iter().map(|file| file.path.as_str()).collect();
        return Err(Failure::usage(format!("request {} does not list {:?}", request.seq, given.path))
            .hint(format!("it lists {}", list.join(", "))));
    };
    let workspace = run.path.join("workspace");
    let text = files::read_text_below(&run.path, &workspace.join(&file.path), files::LARGE)
        .map_err(|e| Failure::usage(format!("cannot read {}: {e}", file.path)))?;
    let total = text.lines().count();
    let from = given.from_line.unwrap_or(1).max(1);
    let width = total.to_string().len();
    let mut shown = String::new();
    let mut last = from - 1;
    let mut next_byte = None;
    for line in text.lines().skip(from - 1) {
        let offset = if last < from { given.from_byte.unwrap_or(0) } else { 0 };
        let (part, rest) = page_of(line, offset);
        if !shown.is_empty() && shown.len() + part.len() > PAGE {
            break;
        }
        last += 1;
        // Numbered like the files that a request includes, because answers cite lines.
        let _ = writeln!(shown, "{last:>width$} | {part}");
        // A line that fills a page is continued on the next one.
        if rest.is_some() {
            next_byte = rest;
            break;
        }
    }
    if last < from && total > 0 {
        return Err(Failure::usage(format!("{} has {total} lines", file.path)));
    }
    record_reads(&request.folder, &[format!("{}:{from}-{last}", file.path)])?;
    let next = if next_byte.is_some() { Some(last) } else { (last < total).then_some(last + 1) };
    let about = json!({
        "path": file.path, "from_line": from, "to_line": last, "lines": total, "next_line": next, "next_byte": next_byte,
    });
    let more = match (next, next_byte) {
        (Some(line), Some(byte)) => format!("; next: from_line {line}, from_byte {byte}"),
        (Some(line), None) => format!("; next: from_line {line}"),
        (None, _) => String::new(),
    };
    let heading = format!("{}, lines {from}-{last} of {total}{more}. The numbers are not part of it.\n\n", file.path);
    Ok(page(heading + &shown, about, Vec::new()))
}

/// Stores an answer, once.
pub(super) fn submit(run: &AllowedPath, state: &RunState, given: &AnswerArguments) -> Result<CallToolResult, Failure> {
    if given.text.trim().is_empty() {
        return Err(Failure::usage("the answer is empty"));
    }
    if given.text.len() as u64 > MAX_ANSWER_BYTES {
        return Err(Failure::usage(format!("the answer is longer than {} MiB", MAX_ANSWER_BYTES >> 20)));
    }
    if given.files_read.len() > MAX_FILES_READ {
        return Err(Failure::usage(format!("files_read has more than {MAX_FILES_READ} entries")));
    }
    if let Some(bad) = given.files_read.iter().find(|path| path.len() > 4096 || path.chars().any(char::is_control)) {
        return Err(Failure::usage(format!("files_read contains {bad:.80?}, which is no path")));
    }
    let request = find_pending(run, state, given.request)?;
    let is_offered = |read: &&String| {
        let path = read.split_once(':').map_or(read.as_str(), |(path, _)| path);
        request.offered.iter().any(|file| file.path == path)
    };
    if let Some(other) = given.files_read.iter().find(|read| !is_offered(read)) {
        let list: Vec<&str> = request.offered.iter().map(|file| file.path.as_str()).collect();
        return Err(Failure::usage(format!("files_read: request {} does not list {other:?}", request.seq))
            .hint(format!("it lists {}; the answer was not stored", list.join(", "))));
    }
    record_reads(&request.folder, &given.files_read)?;
    match files::create_atomically(&request.folder.join("answer.md"), given.text.as_bytes()) {
        Ok(()) => {}
        Err(e) if e.kind() == ErrorKind::AlreadyExists => return Err(has_answer(request.seq)),
        Err(e) => return Err(Failure::new(Exit::Tool, format!("cannot store the answer: {e}"))),
    }
    let next = if state.is_running { "next_request waits for the next one" } else { "forge_resume continues the run" };
    let data = json!({ "job": run.relative(), "request": request.seq, "accepted": true, "next": next });
    Ok(complete(format!("request {} is answered; {next}", request.seq), data, Vec::new()))
}

fn has_answer(seq: u64) -> Failure {
    Failure::usage(format!("request {seq} has an answer already, and an answer is final"))
        .hint("next_request has the next request")
}

pub(super) fn find_pending(run: &AllowedPath, state: &RunState, seq: u64) -> Result<Pending, Failure> {
    let pending = state.pending(&run.path);
    let found = pending.iter().find(|request| request.seq == seq).cloned();
    let request = found.ok_or_else(|| {
        let was_sent = |entry: &Entry| entry.seq == seq && matches!(entry.event, RunEvent::RequestSent(_));
        if state.entries.iter().any(was_sent) {
            return has_answer(seq);
        }
        let open: Vec<String> = pending.iter().map(|request| request.seq.to_string()).collect();
        let open = if open.is_empty() { "none".to_owned() } else { open.join(", ") };
        Failure::usage(format!("there is no request {seq} in {}", run.relative())).hint(format!("waiting: {open}"))
    })?;
    // The run folder may come from elsewhere, with a link in it.
    match files::check_below(&run.path, &request.folder) {
        Ok(()) => Ok(request),
        Err(error) => Err(Failure::usage(format!("the folder of request {seq} cannot be used: {error}"))),
    }
}

/// Adds lines to the list of files that were read.
fn record_reads(folder: &Path, lines: &[String]) -> Result<(), Failure> {
    if lines.is_empty() {
        return Ok(());
    }
    let path = folder.join("files_read.txt");
    let mut text = if path.exists() {
        files::read_text_below(folder, &path, files::SMALL).fails(Exit::Tool)?
    } else {
        String::new()
    };
    let mut known: HashSet<String> = text.lines().map(str::to_owned).collect();
    for line in lines {
        if known.insert(line.clone()) {
            text.push_str(line);
            text.push('\n');
        }
    }
    files::write_atomically(&path, text.as_bytes()).fails(Exit::Tool)
}
