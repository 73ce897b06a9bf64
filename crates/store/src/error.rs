//! What can be wrong with a run in a shared store.

use std::path::PathBuf;

/// Why a run in a shared store cannot be opened or read.
#[derive(Debug, thiserror::Error)]
pub enum SharedStoreError {
    #[error(
        "{address}: {why}; an address is like s3://BUCKET/PATH, gs://BUCKET/PATH, az://CONTAINER/PATH or file:///PATH"
    )]
    Address { address: String, why: String },
    #[error("cannot {what} {address}: {why}")]
    Unavailable {
        /// The operation, as in `read ADDRESS`.
        what: &'static str,
        address: String,
        why: String,
    },
    /// Two processes could overwrite each other's events.
    #[error(
        "{address}: this store replaces an object that it should only create if it is absent, so two processes could overwrite \
         each other's events; use a store with conditional writes"
    )]
    NotConditional { address: String },
    #[error("{address}/{object} is damaged ({why}); restore it: nothing was changed")]
    Damaged { address: String, object: String, why: String },
    #[error("{what} {path}: {source}")]
    Io { what: &'static str, path: PathBuf, source: std::io::Error },
}
