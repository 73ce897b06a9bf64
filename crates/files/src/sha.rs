//! Names by content.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// Number of hexadecimal digits of a SHA-256.
const DIGITS: usize = 64;

/// The SHA-256 of a content, as 64 lower-case hexadecimal digits. It is also the name of an artifact, and thus of a file: no
/// other text can become one, so it never leads out of the folder of the artifacts.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub struct Sha(String);

/// A text that is not the SHA-256 of a content.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{shown} is no SHA-256: write 64 hexadecimal digits, in lower case")]
pub struct NotASha {
    /// The text, escaped and cut, because it can be anything.
    shown: String,
}

impl Sha {
    /// The SHA-256 of these bytes.
    pub fn digest(bytes: impl AsRef<[u8]>) -> Self {
        use fmt::Write as _;
        let digest = Sha256::digest(bytes.as_ref());
        let mut name = String::with_capacity(DIGITS);
        for byte in digest {
            let _ = write!(name, "{byte:02x}");
        }
        Self(name)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for Sha {
    type Error = NotASha;

    fn try_from(text: String) -> Result<Self, NotASha> {
        let is_sha = text.len() == DIGITS && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
        if is_sha { Ok(Self(text)) } else { Err(NotASha { shown: shown(&text) }) }
    }
}

impl FromStr for Sha {
    type Err = NotASha;

    fn from_str(text: &str) -> Result<Self, NotASha> {
        Self::try_from(text.to_owned())
    }
}

/// The beginning of a text, with its control characters escaped.
fn shown(text: &str) -> String {
    let start: String = text.chars().take(80).collect();
    let more = if start.len() < text.len() { "…" } else { "" };
    format!("{start:?}{more}")
}

impl fmt::Display for Sha {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl JsonSchema for Sha {
    fn schema_name() -> Cow<'static, str> {
        "Sha".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "The SHA-256 of a content, as 64 lower-case hexadecimal digits. It is also the name of an artifact.",
            "type": "string",
            "pattern": "^[0-9a-f]{64}$",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_of_an_artifact_is_64_lower_case_hexadecimal_digits_and_nothing_else() {
        let real = Sha::digest("hello");
        assert_eq!(real.as_str().parse(), Ok(real.clone()));
        assert_eq!(serde_json::from_value::<Sha>(serde_json::json!(real)).unwrap(), real);
        let hex = real.as_str();
        let hostile = [
            String::new(),
            " ".repeat(64),
            "../x".into(),
            format!("../../{}", &hex[6..]),
            format!("/{}", &hex[1..]),
            format!("{}/{}", &hex[..31], &hex[32..]),
            "/".repeat(64),
            ".".repeat(64),
            "g".repeat(64),
            hex.to_uppercase(),
            format!("{hex}\n"),
            format!("{}\n", &hex[1..]),
            format!("\0{}", &hex[1..]),
            format!("é{}", &hex[2..]),
            "٣".repeat(32),
            hex[1..].into(),
            format!("{hex}0"),
            hex.repeat(2),
            "a".repeat(1 << 20),
        ];
        for text in hostile {
            let why = text.parse::<Sha>().expect_err(&text).to_string();
            assert!(why.ends_with("write 64 hexadecimal digits, in lower case"), "{why}");
            assert!(why.len() < 400 && !why.contains(['\n', '\0']), "{why}");
            assert!(serde_json::from_value::<Sha>(serde_json::json!(text)).is_err(), "{text}");
        }
    }
}
