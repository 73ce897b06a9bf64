//! The run journal: append-only events, the artifact store, the lock, and recovery after a crash.
//!
//! It knows no node names, no verdicts and no models: the type of the events is the caller's.

mod checksum;
mod clocks;
mod event;
mod lock;
mod log;
mod store;
#[cfg(test)]
mod test_event;

pub use checksum::{Chain, check_lines, check_lines_of};
pub use event::{Clock, Entry, Event, Kind, Past, Record, VectorClock, is_apart, wrong_version_of};
pub use lock::{LockError, RunLock};
pub use log::{Crash, Draft, Journal, JournalError, Observer, Recovery, read, read_with_rest};
pub use store::{ArtifactStore, Sha, StoreError, write_atomically};
