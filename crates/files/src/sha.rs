//! Names by content.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// The SHA-256 of a content, as 64 lower-case hexadecimal digits. It is also the name of an artifact.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Sha(String);

impl Sha {
    /// The SHA-256 of these bytes.
    pub fn digest(bytes: impl AsRef<[u8]>) -> Self {
        use fmt::Write as _;
        let digest = Sha256::digest(bytes.as_ref());
        let mut name = String::with_capacity(64);
        for byte in digest {
            let _ = write!(name, "{byte:02x}");
        }
        Self(name)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Sha {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
