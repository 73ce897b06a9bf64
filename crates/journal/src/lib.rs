//! The run journal: append-only events, the artifact store, the lock, and recovery after a crash.
//!
//! It knows no node names, verdicts or models: the caller defines the event type.

mod checksum;
mod clocks;
mod error;
mod event;
mod follower;
mod format;
mod lock;
mod log;
mod replica;
mod store;
#[cfg(test)]
mod test_event;

pub use checksum::{ChecksumChain, check_lines, check_lines_from};
pub use error::JournalError;
pub use event::{Clock, Entry, Event, Kind, Past, Record, VectorClock, is_parallel_lifeline};
pub use follower::{Appended, Follower};
pub use format::wrong_version_of_line;
pub use lock::{LockError, RunLock, this_host};
pub use log::{Crash, Draft, Journal, Observer, Recovery, read, read_with_incomplete};
pub use replica::{Replica, ReplicaError, WORKING_COPY_MARK, address_of_working_copy};
pub use store::{ArtifactStore, StoreError};
pub use tlaforge_files::{Sha, write_atomically};
