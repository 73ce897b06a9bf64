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
/// Bytes of a request's text or of a file in one answer: about 10,000 tokens, which clients accept.
const PAGE: usize = 40_000;

/// A page of a request, with what its answerer needs to know.
pub(super) fn request_page(run: &AllowedPath, request: &Pending, offset: usize) -> Result<CallToolResult, Failure> {
    let whole = files::read_text_within(&run.path, &request.folder.join("request.md"), files::LARGE)
        .map_err(|e| Failure::usage(format!("cannot read request {}: {e}", request.seq)))?;
    // The provider's own words about answer files are for a person.
    let text = whole.find("## Your role").map_or(whole.as_str(), |start| &whole[start..]);
    let (part, next) = page_of(text, offset);
    let job = run.relative();
    let mut shown = String::new();
    if offset == 0 {
        let _ = write!(
            shown,
            "Request {seq} of {job} ({}). Answer it yourself, or give it to a fresh sub-agent. Use no tool for it but \
             read_request_file (job {job:?}, request {seq}), for the files that it lists and only as far as they are needed; \
             look at no other file. Send the answer, and nothing else, with submit_answer (job {job:?}, request {seq}).\n\n",
            request.purpose,
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
        "purpose": request.purpose, "text": shown, "next_offset": next, "files": listed,
    });
    Ok(page(&shown, data))
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
    let text = files::read_text_within(&workspace, &workspace.join(&file.path), files::LARGE)
        .map_err(|e| Failure::usage(format!("cannot read {}: {e}", file.path)))?;
    let total = text.lines().count();
    let from = given.from_line.unwrap_or(1).max(1);
    let mut shown = String::new();
    let mut last = from - 1;
    let mut next_byte = None;
    for line in text.lines().skip(from - 1) {
        let offset = if last < from { given.from_byte.unwrap_or(0) } else { 0 };
        let (part, rest) = page_of(line, offset);
        if !shown.is_empty() && shown.len() + part.len() > PAGE {
            break;
        }
        shown.push_str(part);
        shown.push('\n');
        last += 1;
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
    let data = json!({
        "path": file.path, "from_line": from, "to_line": last, "lines": total, "next_line": next,
        "next_byte": next_byte, "text": shown,
    });
    Ok(page(&shown, data))
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
    if files::is_within(&run.path, &request.folder) {
        Ok(request)
    } else {
        Err(Failure::usage(format!("the folder of request {seq} is a link that leads out of the run folder")))
    }
}

/// Adds lines to the list of files that were read.
fn record_reads(folder: &Path, lines: &[String]) -> Result<(), Failure> {
    if lines.is_empty() {
        return Ok(());
    }
    let path = folder.join("files_read.txt");
    let mut text = if path.exists() {
        files::read_text_within(folder, &path, files::SMALL).fails(Exit::Tool)?
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
