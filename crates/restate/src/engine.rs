//! What an engine says about itself on its admin API.

use reqwest::Client;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::address::{AddressError, EngineAddress, QUICK, Reply, SendError, send};

/// Why the address of the ingress is not known.
#[derive(Debug)]
pub(crate) enum NoIngress {
    /// The engine may be starting.
    NotNow(String),
    Never(String),
}

impl NoIngress {
    pub(crate) fn into_words(self) -> String {
        match self {
            Self::NotNow(what) | Self::Never(what) => what,
        }
    }
}

/// The address of the ingress, which takes messages to services.
pub(crate) async fn find_ingress(http: &Client, admin: &EngineAddress) -> Result<EngineAddress, NoIngress> {
    let reply = send(http.get(admin.join("/version")), QUICK).await;
    let reply = reply.map_err(|error| NoIngress::NotNow(error.unreachable()))?;
    let object: Value = serde_json::from_slice(&reply.body).map_err(|_| not_restate(&reply))?;
    let address = object["ingress_endpoint"].as_str().ok_or_else(|| not_restate(&reply))?;
    address.parse().map_err(|e: AddressError| {
        NoIngress::Never(format!("the engine names no address where jobs are submitted: {e}"))
    })
}

/// Asks the tables of the engine in SQL.
pub(crate) async fn query_tables(http: &Client, admin: &EngineAddress, sql: &str) -> Result<Reply, SendError> {
    let request = http.post(admin.join("/query")).header("accept", "application/json");
    send(request.json(&json!({"query": sql})), QUICK).await
}

/// Something else answers at this address, or only a proxy while the engine starts.
pub(crate) fn not_restate(reply: &Reply) -> NoIngress {
    match reply.message() {
        why if reply.status >= 500 => NoIngress::NotNow(format!("the engine cannot answer now: {why}")),
        why => {
            NoIngress::Never(format!("this is not the admin address of a Restate server, by default port 9070: {why}"))
        }
    }
}

/// The rows of the answer to a query. An error says what is wrong with the engine.
pub(crate) async fn read_rows<T: DeserializeOwned>(
    http: &Client,
    admin: &EngineAddress,
    sql: &str,
) -> Result<Vec<T>, String> {
    #[derive(Deserialize)]
    struct Rows<T> {
        rows: Vec<T>,
    }
    let reply = query_tables(http, admin, sql).await.map_err(|error| error.unreachable())?;
    if !reply.is_success() {
        return Err(not_restate(&reply).into_words());
    }
    let Rows { rows } = serde_json::from_slice(&reply.body).map_err(|_| not_restate(&reply).into_words())?;
    Ok(rows)
}
