//! What a live page shows: a run or a fleet.

use hyper::body::Bytes;

use crate::report::LivePage;

pub(in crate::cli) trait Subject: Send + Sync {
    fn page(&self) -> LivePage;

    /// How it is now. Does not wait.
    fn update(&self) -> Update;

    /// The page of a report so far, if there are reports. Can take seconds.
    fn report(&self) -> Option<Result<Bytes, String>> {
        None
    }

    /// Stops what is shown, if the page can do that.
    fn stop(&self) -> Option<Result<(), String>> {
        None
    }
}

/// What the page gets as an event.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::cli) struct Update {
    pub json: String,
    /// Whether nothing changes any more.
    pub is_last: bool,
}
