//! The jobs and the workers that an engine knows, read from its tables. No worker is needed for this.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use tokio::sync::OnceCell;

use crate::address::{EngineAddress, QUICK, send};
use crate::attempt::{ATTEMPT_COLUMNS, JobState, LastAttempt};
use crate::engine::{NoIngress, find_ingress, read_rows};
use crate::job::{Answer, NO_TURN, found_no_turn};

/// Length of a reason in characters.
const MAX_REASON: usize = 200;

/// How many jobs of a service are in a state such as `running`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobCount {
    pub service: String,
    pub status: String,
    pub jobs: u64,
}

/// The last job of an object. The engine forgets a job a day after its end. Times are milliseconds since 1970 by its clock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObjectJob {
    pub id: String,
    pub object: String,
    /// The version of the program.
    pub version: String,
    pub state: JobState,
    pub submitted: u64,
    /// When the present attempt began, if one has.
    pub started: Option<u64>,
    pub ended: Option<u64>,
    /// How often it was sent to a worker since the engine started. Attempts that found no free place count, too. `None` if it
    /// has ended or waits for another job of its object.
    pub attempts: Option<u64>,
    /// The deployment that it was sent to last.
    pub deployment: Option<String>,
    /// Why its last attempt failed, or why it has no answer.
    pub failure: Option<String>,
}

/// The workers of one version that share an address.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Deployment {
    pub id: String,
    pub address: String,
    pub version: String,
    /// The jobs that they do.
    pub jobs: Vec<String>,
    /// When one was registered last, in milliseconds since 1970.
    #[serde(skip)]
    pub registered: u64,
    /// Whether new jobs go there. If workers of one version advertise different addresses, only the last one gets them.
    pub gets_new_jobs: bool,
    /// Jobs that the engine has sent there and that have not ended.
    pub running: u64,
}

/// What an engine knows of the jobs of a program.
#[derive(Debug)]
pub struct JobReader {
    http: reqwest::Client,
    engine: EngineAddress,
    program: &'static str,
    ingress: OnceCell<EngineAddress>,
}

#[derive(Deserialize)]
struct JobRow {
    id: String,
    service: String,
    object: Option<String>,
    submitted: u64,
    ended: Option<u64>,
    retry_count: Option<u64>,
    deployment: Option<String>,
    completion_result: Option<String>,
    completion_failure: Option<String>,
    #[serde(flatten)]
    attempt: LastAttempt,
}

impl JobRow {
    fn state(&self) -> JobState {
        match self.attempt.status.as_str() {
            "completed" if self.completion_result.as_deref() == Some("success") => JobState::Ended,
            "completed" if self.completion_failure.as_ref().is_some_and(|why| why.contains("killed")) => {
                JobState::Cancelled
            }
            "completed" => JobState::Failed,
            _ => self.attempt.state(),
        }
    }

    fn into_job(self, object: String, version: String) -> ObjectJob {
        let state = self.state();
        let failure = match state {
            JobState::Failed => self.completion_failure,
            JobState::Retrying | JobState::Running => self.attempt.last_failure.filter(|why| !found_no_turn(why)),
            JobState::Waiting | JobState::Cancelled | JobState::Ended => None,
        };
        ObjectJob {
            id: self.id,
            object,
            version,
            state,
            submitted: self.submitted,
            started: self.attempt.started,
            ended: self.ended,
            attempts: self.retry_count,
            deployment: self.deployment,
            failure: failure.map(|why| first_line(&why)),
        }
    }
}

/// The first line, at most 200 characters of it.
pub(crate) fn first_line(text: &str) -> String {
    text.trim().lines().next().unwrap_or_default().chars().take(MAX_REASON).collect()
}

/// Whether `one` is shown instead of `other`, both jobs of one object: a running job first, then one that waits, then the last that
/// ended.
fn is_shown_before(one: &ObjectJob, other: &ObjectJob) -> bool {
    // Ended jobs have one rank, whatever their end.
    let rank = |job: &ObjectJob| job.state.min(JobState::Cancelled);
    let newest_first = (other.ended, other.submitted).cmp(&(one.ended, one.submitted));
    rank(one).cmp(&rank(other)).then(newest_first).is_lt()
}

impl JobReader {
    pub fn new(program: &'static str, engine: EngineAddress) -> Result<Self, String> {
        let http = engine.http_client().map_err(|e| format!("cannot start a client of HTTP: {e}"))?;
        Ok(Self { http, engine, program, ingress: OnceCell::new() })
    }

    async fn rows<T: serde::de::DeserializeOwned>(&self, sql: &str) -> Result<Vec<T>, String> {
        read_rows(&self.http, &self.engine, sql).await
    }

    /// The clock of the engine, in milliseconds since 1970.
    pub async fn now(&self) -> Result<u64, String> {
        #[derive(Deserialize)]
        struct Row {
            now: u64,
        }
        let rows = self.rows::<Row>("SELECT CAST(now() AS BIGINT) / 1000000 AS now").await?;
        rows.first().map(|row| row.now).ok_or_else(|| "the engine does not say what time it is".to_owned())
    }

    /// The jobs that have not ended, by service and status; without the messages of limits.
    pub async fn count(&self) -> Result<Vec<JobCount>, String> {
        let program = self.program;
        let sql = format!(
            "SELECT target_service_name AS service, status, COUNT(*) AS jobs FROM sys_invocation \
             WHERE target_service_name LIKE '{program}-%' AND status <> 'completed' \
             GROUP BY target_service_name, status ORDER BY target_service_name, status"
        );
        self.rows(&sql).await
    }

    /// Returns the last job of each object for one kind of jobs, of all versions, ordered by object. Reads at most `max_jobs` jobs:
    /// running and failing ones first, then waiting ones, then those that ended last.
    pub async fn last_of_objects(&self, job: &str, max_jobs: usize) -> Result<Vec<ObjectJob>, String> {
        let prefix = format!("{}-{job}-", self.program);
        // A job that waits for a free place is sent to workers again and again, so its status alone does not say that it waits.
        let no_turn = NO_TURN.map(|part| format!("last_failure NOT LIKE '%{part}%'")).join(" AND ");
        let sql = format!(
            "SELECT id, target_service_name AS service, target_service_key AS object, \
             CAST(created_at AS BIGINT) AS submitted, CAST(completed_at AS BIGINT) AS ended, retry_count, \
             COALESCE(last_attempt_deployment_id, pinned_deployment_id) AS deployment, \
             completion_result, completion_failure, {ATTEMPT_COLUMNS} \
             FROM sys_invocation WHERE starts_with(target_service_name, '{prefix}') \
             ORDER BY CASE WHEN status = 'completed' THEN 2 WHEN status = 'running' THEN 0 \
             WHEN status IN ('backing-off', 'paused') AND {no_turn} THEN 0 ELSE 1 END, \
             completed_at DESC, created_at LIMIT {max_jobs}"
        );
        let mut last: BTreeMap<String, ObjectJob> = BTreeMap::new();
        for mut row in self.rows::<JobRow>(&sql).await? {
            let version = row.service.strip_prefix(&prefix).unwrap_or_default().to_owned();
            let Some(object) = row.object.take() else { continue };
            let job = row.into_job(object.clone(), version);
            if last.get(&object).is_none_or(|known| is_shown_before(&job, known)) {
                last.insert(object, job);
            }
        }
        Ok(last.into_values().collect())
    }

    /// The workers that are registered, those that get new jobs first. That they are registered does not mean that one runs.
    pub async fn deployments(&self) -> Result<Vec<Deployment>, String> {
        #[derive(Deserialize)]
        struct Row {
            id: String,
            endpoint: Option<String>,
            registered: u64,
            services: Vec<String>,
        }
        #[derive(Deserialize)]
        struct Owner {
            name: String,
            deployment: String,
        }
        #[derive(Deserialize)]
        struct Running {
            deployment: Option<String>,
            jobs: u64,
        }
        let program = format!("{}-", self.program);
        let rows: Vec<Row> = self
            .rows("SELECT id, endpoint, CAST(created_at AS BIGINT) AS registered, services FROM sys_deployment")
            .await?;
        let owners: Vec<Owner> = self.rows("SELECT name, deployment_id AS deployment FROM sys_service").await?;
        let sql = format!(
            "SELECT last_attempt_deployment_id AS deployment, COUNT(*) AS jobs FROM sys_invocation \
             WHERE starts_with(target_service_name, '{program}') AND status = 'running' GROUP BY last_attempt_deployment_id"
        );
        let running: Vec<Running> = self.rows(&sql).await?;
        let mut all: Vec<Deployment> = rows
            .into_iter()
            .filter_map(|Row { id, endpoint, registered, services }| {
                let names = services.iter().filter_map(|name| name.strip_prefix(&program)?.split_once('-'));
                let mut jobs: Vec<String> = names.clone().map(|(job, _)| job.to_owned()).collect();
                jobs.sort();
                let version = names.clone().next()?.1.to_owned();
                let endpoint = endpoint.unwrap_or_default();
                // A worker adds the name of its version to the address that it advertises.
                let address = endpoint.trim_end_matches('/').trim_end_matches(&format!("/{program}{version}"));
                let is_owner = |owner: &Owner| owner.deployment == id && services.contains(&owner.name);
                let of_jobs = |owner: &&Owner| owner.name.starts_with(&program);
                Some(Deployment {
                    address: address.to_owned(),
                    version,
                    jobs,
                    registered,
                    gets_new_jobs: owners.iter().filter(of_jobs).any(is_owner),
                    running: running.iter().find(|r| r.deployment.as_ref() == Some(&id)).map_or(0, |r| r.jobs),
                    id,
                })
            })
            .collect();
        all.sort_by_key(|deployment| (!deployment.gets_new_jobs, std::cmp::Reverse(deployment.registered)));
        Ok(all)
    }

    /// The answer of a job that has ended: JSON, or why a worker could not do it.
    pub async fn answer(&self, id: &str) -> Result<Result<Box<RawValue>, String>, String> {
        let find = || find_ingress(&self.http, &self.engine);
        let ingress = self.ingress.get_or_try_init(find).await.map_err(NoIngress::into_words)?;
        let output = ingress.join(&format!("/restate/invocation/{id}/output"));
        let reply = send(self.http.get(output), QUICK).await.map_err(|error| error.unreachable())?;
        if !reply.is_success() {
            return Err(format!("the engine does not return the answer: {}", reply.message()));
        }
        match serde_json::from_slice(&reply.body) {
            Ok(Answer::Done(answer)) => Ok(Ok(answer)),
            Ok(Answer::Failed(why) | Answer::Refused(why)) => Ok(Err(why)),
            Err(_) => Err("the answer is not that of a worker".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(status: &str, result: Option<&str>, failure: Option<&str>) -> JobRow {
        let text = |text: &str| text.to_owned();
        JobRow {
            id: text("inv_1"),
            service: text("p-job-1"),
            object: Some(text("o")),
            submitted: 0,
            ended: None,
            retry_count: None,
            deployment: None,
            completion_result: result.map(text),
            completion_failure: failure.map(text),
            attempt: LastAttempt { status: text(status), last_failure: None, started: None, now: 0 },
        }
    }

    #[test]
    fn the_state_of_a_job_that_has_ended_is_that_of_its_end() {
        for (status, result, failure, expected) in [
            ("running", None, None, JobState::Running),
            ("completed", Some("success"), None, JobState::Ended),
            ("completed", Some("failure"), Some("[409] killed"), JobState::Cancelled),
            ("completed", Some("failure"), Some("[500] out of memory"), JobState::Failed),
        ] {
            assert_eq!(row(status, result, failure).state(), expected, "{status} {failure:?}");
        }
    }

    #[test]
    fn of_two_jobs_of_an_object_the_one_that_has_not_ended_is_shown_else_the_one_that_ended_last() {
        let job = |status: &str, submitted: u64, ended: Option<u64>| {
            let row = JobRow { submitted, ended, ..row(status, ended.map(|_| "success"), None) };
            row.into_job("o".to_owned(), "1".to_owned())
        };
        // Submitted before the other, and ended after it.
        let (long, short) = (job("completed", 10, Some(90)), job("completed", 20, Some(30)));
        assert!(is_shown_before(&long, &short) && !is_shown_before(&short, &long));
        let (running, waiting) = (job("running", 5, None), job("pending", 30, None));
        assert!(is_shown_before(&running, &long) && is_shown_before(&waiting, &long));
        assert!(is_shown_before(&running, &waiting) && !is_shown_before(&waiting, &running));
        let newer = job("pending", 40, None);
        assert!(is_shown_before(&newer, &waiting));
    }
}
