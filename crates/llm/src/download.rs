//! A file from a server, over the HTTP client of the models, without any key.

use reqwest::{Client, Response, Url};

use super::http::{is_loopback, use_ring};
use super::http_failure::with_causes;

/// The bytes at an address, after redirects; at most `limit` of them. The error says why there are none.
pub async fn download(url: &str, limit: u64) -> Result<Vec<u8>, String> {
    let url = Url::parse(url).map_err(|e| e.to_string())?;
    use_ring();
    let shown = |e: reqwest::Error| with_causes(&e.without_url());
    let mut builder = Client::builder().user_agent(concat!("tlaforge/", env!("CARGO_PKG_VERSION")));
    if is_loopback(&url) {
        builder = builder.no_proxy();
    }
    let client = builder.build().map_err(shown)?;
    let mut response = client.get(url).send().await.and_then(Response::error_for_status).map_err(shown)?;
    let mut bytes = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(shown)? {
        bytes.extend_from_slice(&chunk);
        if bytes.len() as u64 > limit {
            return Err(format!("it is longer than {} MiB", limit >> 20));
        }
    }
    Ok(bytes)
}
