//! Keeps a worker registered, also if the engine loses its disk or other workers with the same services end.

use std::collections::BTreeSet;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::address::{EngineAddress, QUICK, Reply, send};
use crate::engine::read_rows;

#[cfg(test)]
#[path = "registration_tests.rs"]
mod tests;

/// Pauses between attempts to register.
const PAUSES: [Duration; 2] = [Duration::from_millis(100), Duration::from_secs(5)];

/// Why a worker, this one or another one at the same address, answers the engine with an error of its identity key.
const UNSIGNED: &str = "the worker that the engine reached does not accept its signature: it has another identity key, or \
                        the clocks of the two differ by more than a minute";
/// The code of an engine that does not reach a worker at an address.
const NOT_REACHED: &str = "META0003";

/// What a worker registers.
pub(crate) struct Registration {
    pub http: reqwest::Client,
    pub engine: EngineAddress,
    /// The address at which the engine looks for the services.
    pub address: String,
    pub services: Vec<String>,
    /// Whether other workers may have the same address.
    pub is_shared: bool,
    /// Time between two checks of the registration.
    pub interval: Duration,
}

/// Why a worker cannot be registered.
#[derive(Debug, thiserror::Error)]
pub enum RegistrationError {
    #[error("the engine {engine} refuses this worker: {what}")]
    Refused { engine: EngineAddress, what: String },
    #[error("workers at {address} also have {}, which this one does not have; registering it would take them away", .lacking.join(", "))]
    OtherServices {
        address: String,
        lacking: Vec<String>,
        /// The engine's name of the workers at this address.
        deployment: String,
    },
}

/// Why a worker is not registered yet.
enum Obstacle {
    /// The next attempt may succeed.
    Temporary(String),
    Permanent(RegistrationError),
}

#[derive(Deserialize)]
struct Deployment {
    id: String,
    /// The address; deployments of other kinds have none.
    uri: Option<String>,
    services: Vec<Named>,
}

#[derive(Deserialize)]
struct Named {
    name: String,
}

impl Deployment {
    fn has(&self, service: &str) -> bool {
        self.services.iter().any(|Named { name }| name == service)
    }
}

/// The deployment that gets the new messages to a service.
#[derive(Deserialize)]
struct Owner {
    name: String,
    deployment: String,
}

impl Registration {
    /// Registers the worker, and again whenever that is necessary. Returns only if the first registration is refused.
    pub(crate) async fn stay_registered(&self, note: &(dyn Fn(&str) + Send + Sync)) -> RegistrationError {
        if let Err(error) = self.register(note).await {
            return error;
        }
        let mut unreachable = BTreeSet::new();
        loop {
            tokio::time::sleep(self.interval).await;
            match self.check_registration(&mut unreachable, note).await {
                Ok(None) => {}
                Ok(Some(why)) => {
                    note(&format!("registering again: {why}"));
                    if let Err(error) = self.register(note).await {
                        // No reason to end a worker that may have jobs.
                        note(&error.to_string());
                    }
                }
                // It may be starting. Clients say that they wait for it.
                Err(what) => tracing::debug!(what, "the registration of this worker could not be looked at"),
            }
        }
    }

    /// Waits for an engine that cannot be reached yet.
    async fn register(&self, note: &(dyn Fn(&str) + Send + Sync)) -> Result<(), RegistrationError> {
        let mut last = String::new();
        let mut pause = PAUSES[0];
        loop {
            let what = match self.try_to_register().await {
                Ok(()) => {
                    note(&format!("registered at {} as {}", self.engine, self.address));
                    return Ok(());
                }
                Err(Obstacle::Permanent(error)) => return Err(error),
                Err(Obstacle::Temporary(what)) => what,
            };
            if what != last {
                note(&format!("cannot register at {} yet: {what}; trying again", self.engine));
                last = what;
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(PAUSES[1]);
        }
    }

    async fn try_to_register(&self) -> Result<(), Obstacle> {
        if self.is_shared {
            self.refuse_to_take_services().await?;
        }
        let request = json!({"uri": self.address, "force": true});
        let reply = send(self.http.post(self.engine.join("/deployments")).json(&request), QUICK).await;
        let reply = reply.map_err(|error| Obstacle::Temporary(error.what))?;
        if !reply.is_success() {
            return Err(self.obstacle(&reply));
        }
        match self.services.iter().find(|name| !has_service(&reply, name)) {
            None => Ok(()),
            // Another version answers at the address that this one advertises.
            Some(name) => Err(Obstacle::Temporary(format!("the engine did not find {name} at {}", self.address))),
        }
    }

    fn obstacle(&self, reply: &Reply) -> Obstacle {
        match reply.message() {
            // The engine cannot reach the advertised address, perhaps not yet, or starts.
            what if reply.status >= 500 && what.contains("verifying identity") => {
                Obstacle::Temporary(UNSIGNED.to_owned())
            }
            what if reply.status >= 500 => Obstacle::Temporary(what),
            what => Obstacle::Permanent(RegistrationError::Refused { engine: self.engine.clone(), what }),
        }
    }

    /// An error if workers at the same address have services that this one lacks. A registration replaces what the engine knows
    /// of an address by the services of the one worker that the load balancer has chosen.
    async fn refuse_to_take_services(&self) -> Result<(), Obstacle> {
        let deployments = self.read_deployments().await?;
        let Some(own) = deployments.into_iter().find(|other| self.is_own(other)) else { return Ok(()) };
        let names = own.services.into_iter().map(|Named { name }| name);
        let lacking: Vec<String> = names.filter(|name| !self.services.contains(name)).collect();
        if lacking.is_empty() {
            return Ok(());
        }
        let address = self.address.clone();
        Err(Obstacle::Permanent(RegistrationError::OtherServices { address, lacking, deployment: own.id }))
    }

    /// Returns why the worker must register again, or `None`. Without a reason, takes over what other workers left when they ended.
    /// `unreachable_before` holds the deployments that did not answer at the previous check: one failure may be a restart.
    async fn check_registration(
        &self,
        unreachable_before: &mut BTreeSet<String>,
        note: &(dyn Fn(&str) + Send + Sync),
    ) -> Result<Option<String>, String> {
        let deployments = self.read_deployments().await.map_err(|obstacle| match obstacle {
            Obstacle::Temporary(what) => what,
            Obstacle::Permanent(error) => error.to_string(),
        })?;
        let sql = "SELECT name, deployment_id AS deployment FROM sys_service";
        let owners: Vec<Owner> = read_rows(&self.http, &self.engine, sql).await?;
        let Some(own) = deployments.iter().find(|other| self.is_own(other)) else {
            return Ok(Some("the engine no longer knows this worker".to_owned()));
        };
        let mut own_services = Vec::new();
        let previous = std::mem::take(unreachable_before);
        for service in &self.services {
            let owner = owners.iter().find(|owner| owner.name == *service).map(|owner| &owner.deployment);
            if owner == Some(&own.id) {
                own_services.push(service);
                continue;
            }
            let owner = deployments.iter().find(|other| Some(&other.id) == owner);
            let Some(Deployment { id, uri: Some(address), .. }) = owner.filter(|_| own.has(service)) else {
                return Ok(Some(format!("the engine does not know that this worker has {service}")));
            };
            if self.is_reached(address, service).await? {
                continue;
            }
            if previous.contains(id) {
                return Ok(Some(format!("new messages for {service} go to {address}, which the engine cannot reach")));
            }
            unreachable_before.insert(id.clone());
        }
        if !own_services.is_empty() {
            let silent = self.find_silent(&own.id, &own_services, &deployments).await?;
            let silent_again: BTreeSet<&String> = silent.intersection(&previous).collect();
            self.take_over_started(&own.id, &own_services, &silent_again, note).await?;
            unreachable_before.extend(silent);
        }
        Ok(None)
    }

    /// Whether the engine reaches a worker with this service at an address. A dry run of a registration changes nothing.
    async fn is_reached(&self, address: &str, service: &str) -> Result<bool, String> {
        let request = json!({"uri": address, "force": true, "dry_run": true});
        match send(self.http.post(self.engine.join("/deployments")).json(&request), QUICK).await {
            Ok(reply) if reply.is_success() => Ok(has_service(&reply, service)),
            Ok(reply) if read_json(&reply)["restate_code"] == NOT_REACHED => Ok(false),
            Ok(reply) => Err(reply.message()),
            // The engine waits for minutes for something that accepts a connection and says nothing.
            Err(error) if error.timed_out => Ok(false),
            Err(error) => Err(error.unreachable()),
        }
    }

    /// The other deployments where messages that have failed once are tried again and the engine reaches no worker. An attempt to
    /// reach a host that accepts the connection and stays silent counts as running for a minute.
    async fn find_silent(
        &self,
        own: &str,
        services: &[&String],
        deployments: &[Deployment],
    ) -> Result<BTreeSet<String>, String> {
        #[derive(Deserialize)]
        struct Row {
            service: String,
            pinned: String,
        }
        let sql = format!(
            "SELECT DISTINCT target_service_name AS service, pinned_deployment_id AS pinned FROM sys_invocation \
             WHERE target_service_name IN ({}) AND status = 'running' AND last_failure IS NOT NULL \
             AND pinned_deployment_id IS NOT NULL",
            in_quotes(services)
        );
        let rows: Vec<Row> = read_rows(&self.http, &self.engine, &sql).await?;
        let mut silent = BTreeSet::new();
        for Row { service, pinned } in rows {
            let pinned = deployments.iter().find(|deployment| deployment.id == pinned && pinned != own);
            let Some(Deployment { id, uri: Some(address), .. }) = pinned else { continue };
            if silent.contains(id) {
                continue;
            }
            match self.is_reached(address, &service).await {
                Ok(true) => {}
                Ok(false) => drop(silent.insert(id.clone())),
                // Not known. What has failed at other deployments is taken over nevertheless.
                Err(what) => tracing::debug!(%id, what, "it is not known whether the engine reaches a deployment"),
            }
        }
        Ok(silent)
    }

    /// Takes over messages that started at another deployment and failed there, or run at one that is `silent`. The engine retries
    /// them only there, and they lock their objects: without this, they would be retried forever if no worker is left there or the
    /// deployment was removed. A job is bound to a deployment by its first journal entry, a message to the limits by its first read
    /// of the state.
    async fn take_over_started(
        &self,
        own: &str,
        services: &[&String],
        silent: &BTreeSet<&String>,
        note: &(dyn Fn(&str) + Send + Sync),
    ) -> Result<(), String> {
        #[derive(Deserialize)]
        struct Row {
            id: String,
            status: String,
            pinned: String,
        }
        // Paused ones are those that another worker was about to move when it ended.
        let sql = format!(
            "SELECT id, status, pinned_deployment_id AS pinned FROM sys_invocation WHERE target_service_name IN ({}) \
             AND (status IN ('backing-off', 'paused') OR (status = 'running' AND last_failure IS NOT NULL)) \
             AND pinned_deployment_id IS NOT NULL",
            in_quotes(services)
        );
        let rows: Vec<Row> = read_rows(&self.http, &self.engine, &sql).await?;
        let mut moved = 0;
        // A late pause by another worker can also hit what has come here already.
        for Row { id, status, pinned } in rows.into_iter().filter(|row| row.pinned != own || row.status == "paused") {
            let request = |what: &str| self.http.patch(self.engine.join(&format!("/invocations/{id}/{what}")));
            let is_running = status == "running";
            if is_running && !silent.contains(&pinned) {
                continue;
            }
            // The engine changes the deployment of a paused message only. Other workers may do the same at the same time: what
            // fails now is tried at the next check.
            if status != "paused" {
                send(request("pause"), QUICK).await.map_err(|error| error.unreachable())?;
            }
            if is_running {
                // It is paused only when the attempt fails.
                continue;
            }
            let resumed = send(request("resume?deployment=latest"), QUICK).await;
            moved += usize::from(resumed.map_err(|error| error.unreachable())?.is_success());
        }
        if moved > 0 {
            note(&format!("jobs and limit requests taken over from workers that have ended: {moved}"));
        }
        Ok(())
    }

    async fn read_deployments(&self) -> Result<Vec<Deployment>, Obstacle> {
        #[derive(Deserialize)]
        struct All {
            deployments: Vec<Deployment>,
        }
        let reply = send(self.http.get(self.engine.join("/deployments")), QUICK).await;
        let reply = reply.map_err(|error| Obstacle::Temporary(error.what))?;
        match serde_json::from_slice(&reply.body) {
            Ok(All { deployments }) if reply.is_success() => Ok(deployments),
            _ => Err(self.obstacle(&reply)),
        }
    }

    fn is_own(&self, deployment: &Deployment) -> bool {
        deployment.uri.as_ref().is_some_and(|address| address.trim_end_matches('/') == self.address)
    }
}

/// The names as a list in SQL.
fn in_quotes(names: &[&String]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("'{name}'")).collect();
    quoted.join(", ")
}

fn read_json(reply: &Reply) -> Value {
    serde_json::from_slice(&reply.body).unwrap_or_default()
}

/// Whether the engine has found a service, by its answer to a registration.
fn has_service(reply: &Reply, name: &str) -> bool {
    let object = read_json(reply);
    let mut services = object["services"].as_array().into_iter().flatten();
    services.any(|service| service["name"] == name)
}
