//! The address of an engine's admin API, and requests to it.

use std::time::Duration;

use reqwest::{Client, RequestBuilder, Response, Url};

use crate::job::MAX_MESSAGE_BYTES;

/// Time limit of a request that the engine answers without waiting for a worker.
pub(crate) const QUICK: Duration = Duration::from_secs(10);

/// An address that is not the address of an engine.
#[derive(Debug, thiserror::Error)]
#[error("{text:?} is not an address of an engine: {what}")]
pub struct AddressError {
    pub text: String,
    pub what: &'static str,
}

/// The address of the admin API of an engine, `http://127.0.0.1:9070`.
#[derive(Debug, Clone)]
pub struct EngineAddress(Url);

impl std::str::FromStr for EngineAddress {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Self, AddressError> {
        // What may be a password is not repeated.
        let shown = if text.contains('@') { "URL" } else { text };
        let bad = |what| AddressError { text: shown.to_owned(), what };
        let url = Url::parse(text).map_err(|_| bad("it must be a URL such as http://127.0.0.1:9070"))?;
        if !url.username().is_empty() || url.password().is_some() {
            return Err(bad("it must not contain a user or a password"));
        }
        if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
            return Err(bad("it must begin with http:// or https://"));
        }
        if url.query().is_some() || url.fragment().is_some() {
            return Err(bad("it must not contain a query or a fragment"));
        }
        Ok(Self(url))
    }
}

impl std::fmt::Display for EngineAddress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.0.as_str().trim_end_matches('/'))
    }
}

impl EngineAddress {
    pub(crate) fn join(&self, path: &str) -> String {
        format!("{self}{path}")
    }

    /// The address with these segments of a path, in which any character is allowed.
    pub(crate) fn join_segments<'a>(&self, segments: impl Iterator<Item = &'a str>) -> Url {
        let mut url = self.0.clone();
        url.path_segments_mut().expect("it has a host").pop_if_empty().extend(segments);
        url
    }

    /// A client of HTTP for requests to this address.
    pub(crate) fn http_client(&self) -> Result<Client, reqwest::Error> {
        // reqwest takes the TLS provider of the process; a second call has no effect.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut builder = Client::builder().redirect(reqwest::redirect::Policy::none()).connect_timeout(QUICK);
        let host = self.0.host_str().unwrap_or("").trim_matches(['[', ']']);
        // A proxy from the environment cannot reach this machine's loopback interface.
        if host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback()) {
            builder = builder.no_proxy();
        }
        builder.build()
    }
}

/// An answer over HTTP, whatever its status.
pub(crate) struct Reply {
    pub status: u16,
    pub body: Vec<u8>,
}

impl Reply {
    /// The message of an error, in the engine's JSON or as text; at most 300 characters.
    pub(crate) fn message(&self) -> String {
        let object = serde_json::from_slice::<serde_json::Value>(&self.body).ok();
        let message = object.as_ref().and_then(|object| object["message"].as_str());
        let text = message.map_or_else(|| String::from_utf8_lossy(&self.body).into_owned(), str::to_owned);
        format!("status {}: {}", self.status, text.trim().chars().take(300).collect::<String>())
    }

    pub(crate) fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// Whether the same request may be accepted later.
    pub(crate) fn is_temporary(&self) -> bool {
        self.status >= 500 || matches!(self.status, 408 | 429)
    }
}

/// Sends a request and reads the answer up to the limit of a message. The error says what failed, with its causes.
pub(crate) async fn send(request: RequestBuilder, limit: Duration) -> Result<Reply, SendError> {
    let response: Response = request.timeout(limit).send().await.map_err(SendError::from_transport)?;
    let status = response.status().as_u16();
    let mut response = response;
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(SendError::from_transport)? {
        // Its JSON may escape each byte of the answer.
        if body.len() + chunk.len() > 2 * MAX_MESSAGE_BYTES {
            return Err(SendError { timed_out: false, what: "it answers with too much data".to_owned() });
        }
        body.extend_from_slice(&chunk);
    }
    Ok(Reply { status, body })
}

/// Why there is no answer.
pub(crate) struct SendError {
    pub timed_out: bool,
    pub what: String,
}

impl SendError {
    pub(crate) fn unreachable(&self) -> String {
        format!("the engine does not answer: {}", self.what)
    }

    fn from_transport(error: reqwest::Error) -> Self {
        let timed_out = error.is_timeout() && !error.is_connect();
        let error = error.without_url();
        let mut what = error.to_string();
        let mut source = std::error::Error::source(&error);
        while let Some(cause) = source {
            what = cause.to_string();
            source = cause.source();
        }
        Self { timed_out, what }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_url_of_a_server_is_an_address_of_an_engine() {
        for good in ["http://127.0.0.1:9070", "https://engine.example/restate/"] {
            assert!(good.parse::<EngineAddress>().is_ok(), "{good}");
        }
        let long = "x".repeat(100_000);
        for bad in [
            "",
            " ",
            "../x",
            "/etc/passwd",
            "engine",
            "file:///etc",
            "http://",
            "http://a b",
            "http://a\0b",
            long.as_str(),
        ] {
            assert!(bad.parse::<EngineAddress>().is_err(), "{bad:.50}");
        }
        // A line break ends no header and begins no line of a message.
        for text in ["http://a/\n::error::x", "\nhttp://a", "http://a\r\nX: y"] {
            let shown =
                text.parse::<EngineAddress>().map_or_else(|error| error.to_string(), |address| address.to_string());
            assert!(!shown.contains(['\r', '\n']), "{shown:?}");
        }
        // Any text can be a segment of a path, and stays one.
        let address: EngineAddress = "http://a/b".parse().unwrap();
        let url = address.join_segments(["..", "x/../y", "", "é\n"].into_iter());
        assert!(url.as_str().starts_with("http://a/b/"), "{url}");
    }
}
