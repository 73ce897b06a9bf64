//! Addresses of runs, and the clients of their stores.

use std::sync::Arc;
use std::time::Duration;

use object_store::aws::AmazonS3Builder;
use object_store::azure::MicrosoftAzureBuilder;
use object_store::gcp::GoogleCloudStorageBuilder;
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use object_store::{ObjectStore, RetryConfig};
use tlaforge_files::Sha;
use url::Url;

use super::error::SharedStoreError;

/// The address of a run in a shared store.
#[derive(Debug, Clone)]
pub struct Address {
    url: Url,
    prefix: Path,
}

impl Address {
    /// Reads an address. It can contain no credentials, because it is written to files and shown in messages.
    pub fn parse(text: &str) -> Result<Self, SharedStoreError> {
        let scheme = text.split_once("://").map_or("", |(scheme, _)| scheme);
        // What follows the first `@`, `?` or `#` is not repeated: it may be a credential.
        let has_more = text.contains(['@', '?', '#']);
        let shown = if has_more { format!("{scheme}://…") } else { text.to_owned() };
        let wrong = |why: &str| SharedStoreError::Address { address: shown.clone(), why: why.to_owned() };
        if !["s3", "gs", "az", "file"].contains(&scheme) {
            return Err(wrong("no store has this kind of address"));
        }
        if has_more {
            return Err(wrong(
                "an address has no user, key, query or fragment; credentials are read from the environment",
            ));
        }
        let mut url = Url::parse(text).map_err(|error| wrong(&error.to_string()))?;
        let trimmed = url.path().trim_end_matches('/').to_owned();
        url.set_path(&trimmed);
        let has_host = url.host_str().is_some_and(|host| !host.is_empty());
        match (scheme, has_host) {
            ("file", true) => return Err(wrong("a folder of this machine is file:///PATH, with three slashes")),
            ("file", false) => {}
            (_, false) => return Err(wrong("it names no bucket")),
            (_, true) => {}
        }
        let prefix = Path::from_url_path(&trimmed).map_err(|error| wrong(&error.to_string()))?;
        if prefix.as_ref().is_empty() {
            return Err(wrong("it names no folder for the run"));
        }
        Ok(Self { url, prefix })
    }

    pub fn text(&self) -> &str {
        self.url.as_str()
    }

    /// Whether this is an address below another one, of the same store.
    pub fn is_below(&self, above: &Self) -> bool {
        let place = |url: &Url| (url.scheme().to_owned(), url.host_str().map(str::to_owned), url.port());
        let parts = self.prefix.prefix_match(&above.prefix).map(Iterator::count);
        place(&self.url) == place(&above.url) && parts.is_some_and(|below| below > 0)
    }

    /// A name for the working copy, the same on every machine.
    pub fn key(&self) -> String {
        Sha::digest(self.text()).as_str().to_owned()
    }

    pub(crate) fn prefix(&self) -> &Path {
        &self.prefix
    }

    /// The client of the store, with the credentials and settings of these environment variables (`AWS_…`, `GOOGLE_…` or
    /// `AZURE_…`; the clients would also read short names such as `TOKEN`).
    pub(crate) fn store(
        &self,
        variables: impl Iterator<Item = (String, String)>,
    ) -> Result<Arc<dyn ObjectStore>, SharedStoreError> {
        // The provider of TLS for the process; if there is one already, it is the same.
        let _ = rustls::crypto::ring::default_provider().install_default();
        // Requests are tried again by `objects`, which knows what to do after an answer that was lost.
        let retry = RetryConfig { max_retries: 2, retry_timeout: Duration::from_secs(20), ..RetryConfig::default() };
        let prefix = match self.url.scheme() {
            "s3" => "AWS_",
            "gs" => "GOOGLE_",
            _ => "AZURE_",
        };
        let variables = variables.filter(|(name, _)| name.starts_with(prefix));
        let variables = variables.map(|(name, value)| (name.to_ascii_lowercase(), value));
        let text = self.text();
        let store: Result<Arc<dyn ObjectStore>, object_store::Error> = match self.url.scheme() {
            "s3" => {
                let builder = AmazonS3Builder::new().with_url(text).with_retry(retry);
                let known = variables.filter_map(|(name, value)| Some((name.parse().ok()?, value)));
                known.fold(builder, |builder, (key, value)| builder.with_config(key, value)).build().map(arc)
            }
            "gs" => {
                let builder = GoogleCloudStorageBuilder::new().with_url(text).with_retry(retry);
                let known = variables.filter_map(|(name, value)| Some((name.parse().ok()?, value)));
                known.fold(builder, |builder, (key, value)| builder.with_config(key, value)).build().map(arc)
            }
            "az" => {
                let builder = MicrosoftAzureBuilder::new().with_url(text).with_retry(retry);
                let known = variables.filter_map(|(name, value)| Some((name.parse().ok()?, value)));
                known.fold(builder, |builder, (key, value)| builder.with_config(key, value)).build().map(arc)
            }
            _ => Ok(Arc::new(LocalFileSystem::new().with_fsync(true))),
        };
        store.map_err(|error| SharedStoreError::Unavailable {
            what: "use",
            address: text.to_owned(),
            why: error.to_string(),
        })
    }
}

fn arc(store: impl ObjectStore) -> Arc<dyn ObjectStore> {
    Arc::new(store)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_names_a_store_and_a_folder_and_carries_no_credentials() {
        let address = Address::parse("s3://bucket/team/specs/").unwrap();
        assert_eq!((address.text(), address.prefix().as_ref()), ("s3://bucket/team/specs", "team/specs"));
        assert_eq!(address.key(), Address::parse("s3://bucket/team/specs").unwrap().key());
        assert_eq!(Address::parse("file:///tmp/a%20b").unwrap().prefix().as_ref(), "tmp/a b");
        let is_below =
            |inner: &str, outer: &str| Address::parse(inner).unwrap().is_below(&Address::parse(outer).unwrap());
        for (inner, outer) in [("s3://b/runs/x", "s3://b/runs/"), ("file:///my runs/x/y", "file:///my%20runs")] {
            assert!(is_below(inner, outer), "{inner}");
        }
        for (inner, outer) in [
            ("s3://b/runs", "s3://b/runs"),
            ("s3://b/runs2/x", "s3://b/runs"),
            ("s3://c/runs/x", "s3://b/runs"),
            ("gs://b/runs/x", "s3://b/runs"),
            ("file:///runs/%2e%2e/home/x", "file:///runs"),
            ("file:///runs/../home/x", "file:///runs"),
            ("file:///runs/.\t./x", "file:///runs"),
        ] {
            assert!(!is_below(inner, outer), "{inner}");
        }
        for wrong in [
            "http://host/x",
            "memory:///x",
            "s3:///x",
            "s3://bucket",
            "s3://bucket/",
            "file://host/x",
            "file:///",
            "s3://id:hidden@bucket/x",
            "az://container/x?sig=hidden",
        ] {
            let message = Address::parse(wrong).unwrap_err().to_string();
            assert!(message.contains("s3://BUCKET/PATH") && !message.contains("hidden"), "{message}");
        }
    }
}
