//! The requests of a run that wait for an answer through its folder (provider `handoff`).

use std::path::{Path, PathBuf};

use crate::llm::Offered;
use crate::pipeline::{Entry, RunEvent};

/// A request that waits for its answer.
#[derive(Debug, Clone)]
pub(super) struct Pending {
    /// The number of its `request_sent`.
    pub seq: u64,
    pub node: String,
    pub purpose: String,
    pub offered: Vec<Offered>,
    /// The folder of `request.md`.
    pub folder: PathBuf,
}

/// The requests of the attempts in work, oldest first.
pub(super) fn pending_requests(entries: &[Entry], run: &Path) -> Vec<Pending> {
    let mut open: Vec<(&Entry, Pending)> = Vec::new();
    for entry in entries {
        match &entry.event {
            RunEvent::RequestSent(sent) if sent.provider == "handoff" => {
                let key = sent.key.to_string();
                // The wording has changed since the run was stopped, so the earlier request is not answered any more.
                open.retain(|(other, request)| {
                    let RunEvent::RequestSent(before) = &other.event else { return false };
                    other.lifeline != entry.lifeline || before.key.to_string() != key || request.seq == entry.seq
                });
                let folder = run.join("handoff").join(format!("{:04}-{}", entry.seq, sent.key.node));
                let (node, purpose, offered) = (sent.key.node.clone(), sent.purpose.clone(), sent.offered.clone());
                open.push((entry, Pending { seq: entry.seq, node, purpose, offered, folder }));
            }
            RunEvent::AnswerReceived(answer) => open.retain(|(_, request)| request.seq != answer.request),
            RunEvent::AttemptFinished(_) => open.retain(|(sent, _)| sent.lifeline != entry.lifeline),
            _ => {}
        }
    }
    let waits = |request: &Pending| {
        let has = |name| request.folder.join(name).symlink_metadata().is_ok();
        has("request.md") && !has("answer.md")
    };
    open.into_iter().map(|(_, request)| request).filter(waits).collect()
}
