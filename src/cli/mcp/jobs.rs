//! Child processes of one server: checks, mutation runs and the quick commands. They end with the server. A run is not a job.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::watch;

use super::own_program::OwnCommand;
use crate::cli::failure::Failure;
use crate::exit::Exit;
use crate::process::{Cancel, Ended};

/// Most jobs that run at the same time.
pub(super) const MAX_RUNNING: usize = 8;
/// Finished jobs whose results are kept.
const MAX_FINISHED: usize = 16;
/// Longest time of one job.
const TIME_LIMIT: Duration = Duration::from_secs(2 * 60 * 60);

/// What a job does; it decides how its result is summarized.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Work {
    Check,
    Translate,
    Explain,
    Test,
    Mutate,
    Drift,
    Audit,
    Formula,
    Conform,
    Explore,
}

impl Work {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Check => "check",
            Self::Translate => "translate",
            Self::Explain => "explain",
            Self::Test => "test",
            Self::Mutate => "mutate",
            Self::Drift => "drift",
            Self::Audit => "audit",
            Self::Formula => "formula",
            Self::Conform => "conform",
            Self::Explore => "explore",
        }
    }
}

pub(super) type JobEnd = Result<Arc<Ended>, String>;

#[derive(Debug)]
pub(super) struct Job {
    /// For example `check-3`.
    pub id: String,
    pub work: Work,
    pub started: Instant,
    pub cancel: Cancel,
    end: watch::Receiver<Option<JobEnd>>,
    /// Whether the client has received the result.
    is_delivered: AtomicBool,
}

impl Job {
    /// How it ended; `None` while it runs.
    pub(super) fn end(&self) -> Option<JobEnd> {
        self.end.borrow().clone()
    }

    pub(super) fn mark_delivered(&self) {
        self.is_delivered.store(true, Ordering::Relaxed);
    }

    pub(super) async fn wait(&self) -> JobEnd {
        let mut end = self.end.clone();
        let ended = end.wait_for(Option::is_some).await;
        ended.ok().and_then(|end| end.clone()).unwrap_or_else(|| Err("the job was lost".to_owned()))
    }
}

/// The jobs of this server.
#[derive(Debug, Default)]
pub(super) struct Jobs {
    jobs: Mutex<BTreeMap<u64, Arc<Job>>>,
}

impl Jobs {
    /// Starts a job, unless too many run.
    pub(super) fn start(&self, work: Work, command: OwnCommand) -> Result<Arc<Job>, Failure> {
        let mut jobs = self.jobs.lock().unwrap_or_else(PoisonError::into_inner);
        let running: Vec<&str> = jobs.values().filter(|job| job.end().is_none()).map(|job| job.id.as_str()).collect();
        if running.len() >= MAX_RUNNING {
            return Err(Failure::usage(format!("{MAX_RUNNING} jobs run already: {}", running.join(", ")))
                .hint("wait for one (job_status), or cancel one (job_cancel)"));
        }
        forget_oldest(&mut jobs);
        let number = jobs.last_key_value().map_or(1, |(last, _)| last + 1);
        let (sender, end) = watch::channel(None);
        let cancel = Cancel::new();
        let job = Arc::new(Job {
            id: format!("{}-{number}", work.name()),
            work,
            started: Instant::now(),
            cancel: cancel.clone(),
            end,
            is_delivered: AtomicBool::new(false),
        });
        jobs.insert(number, job.clone());
        tokio::spawn(async move {
            let ended = command.run(TIME_LIMIT, &cancel).await;
            sender.send_replace(Some(ended.map(Arc::new).map_err(|failure| failure.message)));
        });
        Ok(job)
    }

    pub(super) fn find(&self, id: &str) -> Result<Arc<Job>, Failure> {
        let jobs = self.jobs.lock().unwrap_or_else(PoisonError::into_inner);
        jobs.values().find(|job| job.id == id).cloned().ok_or_else(|| {
            Failure::new(Exit::Usage, format!("there is no job {id:?} in this server"))
                .hint("jobs end with their server, and only the last results are kept: call the tool again")
                .hint("for a run, call forge_status or forge_cancel")
        })
    }

    /// Ends all children.
    pub(super) fn cancel_all(&self) {
        let jobs = self.jobs.lock().unwrap_or_else(PoisonError::into_inner);
        jobs.values().for_each(|job| job.cancel.cancel());
    }
}

/// Drops results of finished jobs: first those that the client has received, the oldest first. The last job is always kept,
/// because the next number follows from it.
fn forget_oldest(jobs: &mut BTreeMap<u64, Arc<Job>>) {
    let last = jobs.last_key_value().map(|(number, _)| *number);
    let mut finished: Vec<(bool, u64)> = jobs
        .iter()
        .filter(|(_, job)| job.end().is_some())
        .map(|(number, job)| (!job.is_delivered.load(Ordering::Relaxed), *number))
        .collect();
    let surplus = (finished.len() + 1).saturating_sub(MAX_FINISHED);
    finished.retain(|(_, number)| Some(*number) != last);
    finished.sort_unstable();
    for (_, number) in finished.into_iter().take(surplus) {
        jobs.remove(&number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_that_was_not_received_outlives_those_that_were() {
        let mut jobs = BTreeMap::new();
        for number in 1..=100 {
            forget_oldest(&mut jobs);
            let job = Job {
                id: number.to_string(),
                work: Work::Check,
                started: Instant::now(),
                cancel: Cancel::new(),
                end: watch::channel(Some(Err("ended".to_owned()))).1,
                is_delivered: AtomicBool::new(number != 3),
            };
            jobs.insert(number, Arc::new(job));
        }
        assert!(jobs.contains_key(&3) && jobs.contains_key(&100) && jobs.len() <= MAX_FINISHED, "{:?}", jobs.keys());
    }
}
