//! Runs on the workers of an engine: how `forge-all --engine` submits a run, and what it learns of its end.

use std::path::Path;
use std::time::Duration;

use super::engine_args::EngineArgs;
use super::failure::{Fails, Failure};
use super::fleet::{PATIENCE, PROGRAM, VERSION, parse_address, random_key};
use super::forge_fleet::{JobEnd, NewWork};
use super::forge_job::{FORGE, ForgeJob, of_this_machine, refuse_for_workers};
use super::run_place::RunPlace;
use super::secrets::refuse_secrets;
use super::shared_place::{SharedPlace, connect_store, parse_address as parse_run_address};
use super::telemetry::traceparent;
use super::terminal::print_message;
use super::trust::default_folder;
use crate::exit::Exit;
use crate::pipeline::StoredFile;
use crate::process::Cancel;
use crate::prompt::{Document, Documents};
use tlaforge_restate::{CallError, Client};
use tlaforge_store::StoreClient;

/// How often a run is submitted that a worker could not begin or continue: another worker may be able to.
const ATTEMPTS: u32 = 3;

/// An engine whose workers forge, and the address above their runs.
pub(super) struct Fleet {
    client: Client,
    runs: String,
    /// Of all runs.
    store: StoreClient,
}

impl Fleet {
    pub(super) fn connect(args: &EngineArgs, runs: &str) -> Result<Self, Failure> {
        let address = parse_address(args.engine.as_deref().unwrap_or_default())?;
        let patience = args.engine_wait.map_or(PATIENCE, |seconds| Duration::from_secs(seconds.get()));
        let client = Client::new(address, PROGRAM, VERSION, FORGE, patience, print_message).fails(Exit::Tool)?;
        let store = connect_store(&parse_run_address(runs)?)?;
        Ok(Self { client, runs: runs.trim_end_matches('/').to_owned(), store })
    }

    /// The place of a run, whose working copy here is `folder`.
    pub(super) fn place(&self, run: &str, folder: &Path) -> Result<RunPlace, Failure> {
        Ok(SharedPlace::with_folder(&format!("{}/{run}", self.runs), folder, self.store.clone())?.into())
    }

    /// Lets a worker begin or continue a run, and waits until it ends or stops.
    pub(super) async fn forge(&self, place: &RunPlace, work: NewWork, cancel: &Cancel) -> Result<JobEnd, Failure> {
        let NewWork { documents: Documents { files, skipped }, interface, settings, objective, policy } = work;
        let settings = of_this_machine(settings);
        refuse_for_workers(&settings)?;
        for name in ["prompts", "exemplars"] {
            if default_folder(name)?.is_some() {
                return Err(Failure::usage(format!(
                    "a run would use the folder {name} here, which workers do not have"
                ))
                .hint("run the command in another folder, or forge without --engine"));
            }
        }
        for document in &files {
            refuse_secrets("the name of a document", &document.path)?;
            refuse_secrets(&document.path, &document.text)?;
        }
        let store = place.require_shared()?.clone();
        let address = store.address().to_owned();
        let stored = tokio::task::spawn_blocking(move || {
            let names = store.put_artifacts(files.iter().map(|document| document.text.as_str()))?;
            let files = files.into_iter().zip(names).map(|(Document { path, text }, sha)| {
                let bytes = text.len() as u64;
                StoredFile { path, sha, bytes }
            });
            Ok::<_, Failure>(files.collect::<Vec<_>>())
        });
        let interrupted = || Failure::new(Exit::Interrupted, "interrupted");
        let documents = tokio::select! {
            biased;
            () = cancel.cancelled() => return Err(interrupted()),
            stored = stored => stored.fails(Exit::Defect)??,
        };
        let tlaforge = VERSION.to_owned();
        let traceparent = traceparent();
        let job =
            ForgeJob { tlaforge, address, documents, skipped, interface, settings, objective, policy, traceparent };
        let request = serde_json::to_vec(&job).expect("a job is plain data");
        refuse_secrets("the job", &String::from_utf8_lossy(&request))?;
        let mut attempt = 1;
        loop {
            let end = tokio::select! {
                biased;
                () = cancel.cancelled() => return Err(interrupted()),
                end = self.submit(&job.address, &request) => end?,
            };
            if end.has_outcome() || attempt == ATTEMPTS {
                return Ok(end);
            }
            let address = &job.address;
            print_message(&format!("note: {address}: trying again, because {}", end.into_failure().one_line()));
            attempt += 1;
        }
    }

    async fn submit(&self, run: &str, request: &[u8]) -> Result<JobEnd, Failure> {
        // A new key for each call, so that a stored answer, such as "no API key", is not returned again. The object runs two jobs
        // of one run one after the other, and the journal prevents that the second repeats work.
        let answer = self.client.call(Some(run), &random_key(), request).await.map_err(|error| match error {
            CallError::Unavailable { .. } => Failure::new(Exit::Undecided, error.to_string()),
            CallError::TooLarge { .. } | CallError::Failed(_) => Failure::new(Exit::Tool, error.to_string()),
        })?;
        serde_json::from_str(answer.get()).fails(Exit::Tool)
    }

    /// Ends what was submitted and has not ended. The runs can be continued.
    pub(super) async fn cancel_submitted(&self) {
        self.client.cancel_submitted().await;
    }
}
