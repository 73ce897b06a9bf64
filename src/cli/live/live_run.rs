//! A run as the subject of a live page.

use std::sync::{Mutex, MutexGuard, PoisonError};

use hyper::body::Bytes;

use super::followed_run::FollowedRun;
use super::status::Status;
use super::subject::{Subject, Update};
use super::watched_run::WatchedRun;
use crate::cli::page::page_of_run;
use crate::cli::run_folder::name_of_run;
use crate::report::{LivePage, live_page};

pub(super) struct LiveRun {
    run: WatchedRun,
    followed: Mutex<FollowedRun>,
    /// The last report, with the version of the run that it shows. Locked while a report is made: one at a time.
    report: Mutex<Option<(u64, Bytes)>>,
}

impl LiveRun {
    pub(super) fn new(run: WatchedRun) -> Self {
        Self { followed: Mutex::new(FollowedRun::new(&run)), report: Mutex::new(None), run }
    }

    fn followed(&self) -> MutexGuard<'_, FollowedRun> {
        self.followed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Subject for LiveRun {
    fn page(&self) -> LivePage {
        live_page(&name_of_run(self.run.folder()).display().to_string())
    }

    fn update(&self) -> Update {
        let status: Status = self.followed().status(&self.run);
        Update { is_last: status.is_finished(), json: serde_json::to_string(&status).unwrap_or_default() }
    }

    fn report(&self) -> Option<Result<Bytes, String>> {
        let mut last = self.report.lock().unwrap_or_else(PoisonError::into_inner);
        let snapshot = match self.followed().snapshot(&self.run) {
            Ok(snapshot) => snapshot,
            Err(why) => return Some(Err(why)),
        };
        if let Some((version, text)) = last.as_ref()
            && *version == snapshot.version
        {
            return Some(Ok(text.clone()));
        }
        let page = page_of_run(self.run.folder(), &snapshot.view, &snapshot.entries);
        Some(page.map_err(|failure| failure.message).map(|page| {
            let text = Bytes::from(page.html());
            *last = Some((snapshot.version, text.clone()));
            text
        }))
    }

    fn stop(&self) -> Option<Result<(), String>> {
        Some((self.run.stop)())
    }
}
