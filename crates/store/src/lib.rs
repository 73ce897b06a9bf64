//! Runs in a shared store: S3, Google Cloud Storage, Azure Blob Storage or a folder, through the crate `object_store`.
//!
//! A run is worked on in a working copy, which never has more than the store. This crate knows no events: of a line of a
//! journal it reads the number, the number of lines that follow in its group, and the checksum.

mod address;
mod copy_lock;
mod error;
mod executor;
#[cfg(test)]
mod faulty_store;
mod objects;
mod shared_run;
#[cfg(test)]
mod tests;
mod worker_copy;
mod working_copy;

pub use address::Address;
pub use error::SharedStoreError;
pub use shared_run::{Notify, SharedRun, StoreClient, TAKEN_OVER};
pub use worker_copy::{WorkerCopy, remove_worker_copies};
pub use working_copy::Update;
