//! A store outside of the run folder that gets every artifact and every group of events before the folder does.

use std::fmt::Debug;
use std::path::Path;

use tlaforge_files::{self as files, Sha};

/// File in the working copy of a run of a shared store; it contains the address of the run.
pub const WORKING_COPY_MARK: &str = "shared-run.txt";

/// The address of the run, if `folder` is the working copy of a run of a shared store.
pub fn address_of_working_copy(folder: &Path) -> Option<String> {
    let text = files::read_text_below(folder, &folder.join(WORKING_COPY_MARK), files::SMALL).ok()?;
    // An address is shown in messages, so it has no character that a terminal would obey.
    text.lines().next().filter(|address| !address.chars().any(char::is_control)).map(str::to_owned)
}

/// The second place of a run. Every call returns after the store has the bytes durably; until then the caller waits.
pub trait Replica: Debug + Send + Sync {
    /// Stores an artifact. Storing it again changes nothing.
    fn put_artifact(&self, sha: &Sha, bytes: &[u8]) -> Result<(), ReplicaError>;

    /// Stores the lines of a group whose first event has the number `first`, unless another writer has stored a group
    /// with that number.
    fn put_group(&self, first: u64, lines: &[u8]) -> Result<(), ReplicaError>;
}

/// Why a store did not take something.
#[derive(Debug, thiserror::Error)]
pub enum ReplicaError {
    /// Another process has continued the run.
    #[error(
        "{address} was continued by {writer}: it has stored event {seq}, so this process has stopped and changed nothing"
    )]
    TakenOver {
        address: String,
        /// The number of the refused event.
        seq: u64,
        /// The process that stored another event with this number.
        writer: String,
    },
    #[error("cannot write to {address}: {why}")]
    Unavailable { address: String, why: String },
}
