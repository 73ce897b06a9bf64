//! Downloads a file. It uses the HTTP client of the models, and sends no key.

use reqwest::redirect::Policy;
use reqwest::{Client, Response, Url};

use super::http::{is_loopback, use_ring};
use super::http_failure::with_causes;

/// Maximum number of redirects, as in the default of the HTTP client.
const MAX_REDIRECTS: usize = 10;

/// Downloads the file at an address, after redirects; at most `limit` bytes. The error says why there are none.
pub async fn download(url: &str, limit: u64) -> Result<Vec<u8>, String> {
    let url = Url::parse(url).map_err(|e| e.to_string())?;
    use_ring();
    let shown = |e: reqwest::Error| with_causes(&e.without_url());
    let mut builder = Client::builder().user_agent(concat!("tlaforge/", env!("CARGO_PKG_VERSION")));
    if is_loopback(&url) {
        // A proxy cannot reach this machine's loopback interface. Any other server has to be reached through it.
        let stay_here = Policy::custom(|attempt| match attempt.previous().len() {
            _ if !is_loopback(attempt.url()) => attempt.error("it redirects from this machine to another one"),
            MAX_REDIRECTS.. => attempt.error("it redirects too often"),
            _ => attempt.follow(),
        });
        builder = builder.no_proxy().redirect(stay_here);
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

/// An address for messages: without user, password, query and fragment, which can contain a secret.
pub fn url_without_secrets(url: &str) -> String {
    let address = url.split(['?', '#']).next().unwrap_or_default();
    match address.split_once("://") {
        Some((scheme, rest)) => {
            let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
            format!("{scheme}://{}{path}", host.rsplit('@').next().unwrap_or_default())
        }
        None => address.rsplit('@').next().unwrap_or_default().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shown_address_has_no_secrets() {
        for (url, shown) in [
            ("https://me:secret@host:1/a@b/x.jar?token=secret#secret", "https://host:1/a@b/x.jar"),
            ("https://host/x.jar", "https://host/x.jar"),
            ("https://me:se@cret@host", "https://host"),
            ("me:secret@host/x.jar?secret", "host/x.jar"),
            ("no address", "no address"),
        ] {
            assert_eq!(url_without_secrets(url), shown);
        }
    }
}
