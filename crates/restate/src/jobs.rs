//! The jobs and the workers that an engine knows, read from its tables. No worker is needed for this.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use tokio::sync::OnceCell;

use crate::address::{EngineAddress, QUICK, send};
use crate::engine::{NoIngress, find_ingress, read_rows};
use crate::job::{Answer, BUSY, ENDING, OBJECT_TURN};

/// Jobs of objects that are read at most: those that have not ended first, then the newest.
const MAX_JOBS: usize = 5000;
/// An attempt that follows a failed one and lives longer has reached a worker.
const FIRST_MOMENT: Duration = Duration::from_secs(1);
/// Length of a reason in characters.
const MAX_REASON: usize = 200;

/// How many jobs of a service are in a state such as `running`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobCount {
    pub service: String,
    pub status: String,
    pub jobs: u64,
}

/// How far a job is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum JobState {
    /// A worker has it.
    Running,
    /// An attempt has failed; the engine tries it again.
    Retrying,
    /// It waits for a worker with a free place, or for another job of its object.
    Waiting,
    /// It was cancelled.
    Cancelled,
    /// It has no answer and never gets one.
    Failed,
    /// It has an answer.
    Ended,
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
    status: String,
    submitted: u64,
    started: Option<u64>,
    ended: Option<u64>,
    retry_count: Option<u64>,
    deployment: Option<String>,
    last_failure: Option<String>,
    completion_result: Option<String>,
    completion_failure: Option<String>,
    now: u64,
}

impl JobRow {
    fn state(&self) -> JobState {
        let waits_for_turn = self.last_failure.as_ref().is_some_and(|why| why.contains(BUSY) || why.contains(ENDING));
        // The engine does not say whether an attempt has reached a worker, or a free place there.
        let is_decided = match &self.last_failure {
            None => true,
            Some(_) if waits_for_turn => self.running_ms() > 2 * OBJECT_TURN.as_millis(),
            Some(_) => self.running_ms() > FIRST_MOMENT.as_millis(),
        };
        match self.status.as_str() {
            "completed" if self.completion_result.as_deref() == Some("success") => JobState::Ended,
            "completed" if self.completion_failure.as_ref().is_some_and(|why| why.contains("killed")) => {
                JobState::Cancelled
            }
            "completed" => JobState::Failed,
            "running" | "suspended" if is_decided => JobState::Running,
            "running" | "suspended" | "backing-off" | "paused" if !waits_for_turn => JobState::Retrying,
            _ => JobState::Waiting,
        }
    }

    fn running_ms(&self) -> u128 {
        self.started.map_or(0, |started| u128::from(self.now.saturating_sub(started)))
    }

    fn into_job(self, object: String, version: String) -> ObjectJob {
        let state = self.state();
        let failure = match state {
            JobState::Failed => self.completion_failure,
            JobState::Retrying | JobState::Running => self.last_failure.filter(|why| !why.contains(BUSY)),
            JobState::Waiting | JobState::Cancelled | JobState::Ended => None,
        };
        ObjectJob {
            id: self.id,
            object,
            version,
            state,
            submitted: self.submitted,
            started: self.started,
            ended: self.ended,
            attempts: self.retry_count,
            deployment: self.deployment,
            failure: failure.map(|why| first_line(&why)),
        }
    }
}

fn first_line(text: &str) -> String {
    text.trim().lines().next().unwrap_or_default().chars().take(MAX_REASON).collect()
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

    /// The last job of each object, in the order of the objects, for one kind of jobs of all versions.
    pub async fn last_of_objects(&self, job: &str) -> Result<Vec<ObjectJob>, String> {
        let prefix = format!("{}-{job}-", self.program);
        let sql = format!(
            "SELECT id, target_service_name AS service, target_service_key AS object, status, \
             CAST(created_at AS BIGINT) AS submitted, CAST(last_start_at AS BIGINT) AS started, \
             CAST(completed_at AS BIGINT) AS ended, retry_count, \
             COALESCE(last_attempt_deployment_id, pinned_deployment_id) AS deployment, last_failure, \
             completion_result, completion_failure, CAST(now() AS BIGINT) / 1000000 AS now \
             FROM sys_invocation WHERE starts_with(target_service_name, '{prefix}') \
             ORDER BY CASE WHEN status = 'completed' THEN 1 ELSE 0 END, created_at DESC LIMIT {MAX_JOBS}"
        );
        let mut last: BTreeMap<String, ObjectJob> = BTreeMap::new();
        for mut row in self.rows::<JobRow>(&sql).await? {
            let version = row.service.strip_prefix(&prefix).unwrap_or_default().to_owned();
            let Some(object) = row.object.take() else { continue };
            let job = row.into_job(object.clone(), version);
            // What a worker has, else what may still get one, else the newest.
            let is_before = |one: &ObjectJob, other: &ObjectJob| {
                let rank = |job: &ObjectJob| job.state.min(JobState::Cancelled);
                rank(one).cmp(&rank(other)).then(other.submitted.cmp(&one.submitted)).is_lt()
            };
            if last.get(&object).is_none_or(|known| is_before(&job, known)) {
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
            Ok(Answer::Failed(why)) => Ok(Err(why)),
            Err(_) => Err("the answer is not that of a worker".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_state_of_a_job_is_that_of_its_last_attempt() {
        let state = |status: &str, failure: Option<&str>, running_ms: u64, result: Option<&str>| {
            let text = |text: &str| text.to_owned();
            let (now, started) = (100_000, Some(100_000 - running_ms));
            let (last_failure, completion_failure) = (failure.map(text), failure.map(text));
            let (id, service, object) = (text("inv_1"), text("p-job-1"), Some(text("o")));
            let row = JobRow {
                id,
                service,
                object,
                status: text(status),
                submitted: 0,
                started,
                ended: None,
                retry_count: None,
                deployment: None,
                last_failure,
                completion_result: result.map(text),
                completion_failure,
                now,
            };
            row.state()
        };
        let refused = Some("connection refused");
        for (status, failure, running_ms, result, expected) in [
            ("pending", None, 0, None, JobState::Waiting),
            ("running", None, 0, None, JobState::Running),
            ("running", Some(BUSY), 20, None, JobState::Waiting),
            ("running", Some(BUSY), 500, None, JobState::Running),
            ("running", refused, 500, None, JobState::Retrying),
            ("running", refused, 5000, None, JobState::Running),
            ("backing-off", Some(BUSY), 0, None, JobState::Waiting),
            ("backing-off", Some(ENDING), 0, None, JobState::Waiting),
            ("backing-off", refused, 0, None, JobState::Retrying),
            ("paused", refused, 0, None, JobState::Retrying),
            ("completed", None, 0, Some("success"), JobState::Ended),
            ("completed", Some("[409] killed"), 0, Some("failure"), JobState::Cancelled),
            ("completed", Some("[500] out of memory"), 0, Some("failure"), JobState::Failed),
        ] {
            assert_eq!(state(status, failure, running_ms, result), expected, "{status} {failure:?} {running_ms}");
        }
    }
}
