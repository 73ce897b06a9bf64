//! Keys and tokens, and how they are kept out of messages, logs and recordings.
//!
//! A secret goes only into the header or the environment variable that carries it. Everything that a server, a program or
//! a model returns is redacted before it is shown or stored.

use std::fmt;

use reqwest::header::HeaderValue;
use tlaforge_files::Sha;

/// Replaces a secret in a text.
const REDACTED: &str = "[key]";
/// A secret with fewer bytes is a placeholder (`ollama`, `x`). Its pieces are not searched for.
const MIN_SECRET_BYTES: usize = 8;
/// Prefix of Anthropic's keys and tokens. It is all that we know about those that Claude Code keeps for itself.
const ANTHROPIC_PREFIX: &str = "sk-ant-";

/// A key or token. Its `Debug` shows nothing.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

/// A key or token that is not valid as one. The error does not show it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{name}: the key {what}; set it again, without quotes and line breaks")]
pub struct SecretError {
    /// The environment variable that held it.
    name: String,
    what: &'static str,
}

impl Secret {
    /// Checks a key from the variable `name`: a key that cannot be sent in a header is an error.
    pub fn new(name: &str, key: &str) -> Result<Self, SecretError> {
        let what = if key.trim().is_empty() {
            "is empty"
        } else if key.contains(['\n', '\r']) {
            "contains a line break"
        } else if key.contains(char::is_whitespace) {
            "contains a space"
        } else if !key.bytes().all(|b| b.is_ascii_graphic()) {
            "contains a character that a header cannot carry"
        } else {
            return Ok(Self(key.to_owned()));
        };
        Err(SecretError { name: name.to_owned(), what })
    }

    /// The header value that carries it, after a prefix such as `Bearer `.
    pub(super) fn header(&self, prefix: &str) -> HeaderValue {
        let mut value =
            HeaderValue::from_str(&format!("{prefix}{}", self.0)).expect("`new` takes only visible ASCII characters");
        // Keeps it out of `Debug` output and out of the header compression of HTTP/2.
        value.set_sensitive(true);
        value
    }

    /// The value for the environment variable of a child process.
    pub(super) fn reveal_to_child(&self) -> &str {
        &self.0
    }

    /// The first 12 hexadecimal digits of its SHA-256: enough to distinguish the keys of a company, and useless without the key.
    pub(super) fn fingerprint(&self) -> String {
        Sha::digest(&self.0).as_str()[..12].to_owned()
    }

    /// Whether it is long enough to be a secret and not a placeholder.
    pub fn is_real(&self) -> bool {
        self.0.len() >= MIN_SECRET_BYTES
    }

    /// Whether a text contains the whole secret. Always false for a placeholder, which occurs in many texts by chance.
    pub fn occurs_in(&self, text: &str) -> bool {
        self.is_real() && text.contains(&self.0)
    }

    /// Redacts whole occurrences only, for a model's answer: redacting pieces could damage its text.
    pub fn redact_whole(&self, text: &str) -> String {
        if self.occurs_in(text) { text.replace(&self.0, REDACTED) } else { text.to_owned() }
    }

    /// Redacts the secret and every piece of it of at least `MIN_SECRET_BYTES` bytes, as in a shortened error message.
    pub fn redact_pieces(&self, text: &str) -> String {
        let key = self.0.as_bytes();
        let bytes = text.as_bytes();
        let mut out = String::with_capacity(text.len());
        let mut from = 0;
        let mut at = 0;
        while at < bytes.len() {
            // A placeholder such as `x` is part of many words, so it is replaced only if it stands alone.
            let length = if key.len() < MIN_SECRET_BYTES {
                let is_boundary = |b: Option<&u8>| b.is_none_or(|b| !b.is_ascii_alphanumeric());
                let found = bytes[at..].starts_with(key)
                    && is_boundary(at.checked_sub(1).and_then(|i| bytes.get(i)))
                    && is_boundary(bytes.get(at + key.len()));
                if found { key.len() } else { 0 }
            } else {
                (0..=key.len() - MIN_SECRET_BYTES).map(|i| common_prefix(&key[i..], &bytes[at..])).max().unwrap_or(0)
            };
            if length >= MIN_SECRET_BYTES.min(key.len()) {
                // A key is ASCII, so both ends are character boundaries.
                out.push_str(&text[from..at]);
                out.push_str(REDACTED);
                at += length;
                from = at;
            } else {
                at += 1;
            }
        }
        out.push_str(&text[from..]);
        out
    }
}

/// Length of the common prefix.
fn common_prefix(a: &[u8], b: &[u8]) -> usize {
    a.iter().zip(b).take_while(|(a, b)| a == b).count()
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// Redacts everything with the prefix of Anthropic's keys and tokens, whoever they belong to.
pub fn redact_marked_keys(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(ANTHROPIC_PREFIX) {
        out.push_str(&rest[..at]);
        out.push_str(REDACTED);
        let end = |c: char| !(c.is_ascii_alphanumeric() || c == '-' || c == '_');
        rest = rest[at..].find(end).map_or("", |len| &rest[at + len..]);
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_that_cannot_be_sent_in_a_header_is_an_error_that_does_not_show_it() {
        for (key, word) in [
            ("", "empty"),
            (" ", "empty"),
            ("planted\n", "line break"),
            ("pl anted", "space"),
            ("planted\u{7f}", "cannot carry"),
            ("plänted", "cannot carry"),
        ] {
            let error = Secret::new("A_KEY", key).unwrap_err().to_string();
            assert!(error.starts_with("A_KEY: ") && error.contains(word) && !error.contains("anted"), "{error}");
        }
        let key = Secret::new("A_KEY", "sk-planted").unwrap();
        let shown = format!("{key:?} {:?}", key.header("Bearer "));
        assert!(!shown.contains("planted"), "{shown}");
    }

    #[test]
    fn no_piece_of_a_key_is_left_in_a_text() {
        let key = Secret::new("A_KEY", "sk-ant-0123456789-abcdefghij").unwrap();
        for (text, left) in [
            ("key sk-ant-0123456789-abcdefghij!", "key [key]!"),
            ("sk-ant-0123456789-abcdefghijsk-ant-0123456789-abcdefghij", "[key][key]"),
            ("begins sk-ant-01234", "begins [key]"),
            ("…56789-abcd", "…[key]"),
            ("sk-ant-*** ends 9-ab", "sk-ant-*** ends 9-ab"),
            ("", ""),
        ] {
            assert_eq!(key.redact_pieces(text), left);
        }
        let placeholder = Secret::new("A_KEY", "x").unwrap();
        assert_eq!(placeholder.redact_pieces("an example: x"), "an example: [key]");
        assert!(!placeholder.occurs_in("an example: x"));
        assert_eq!(placeholder.redact_whole("x' = x"), "x' = x");
    }

    #[test]
    fn unknown_tokens_are_recognised_by_their_prefix() {
        let text = "bearer sk-ant-oat01-AbC_9-x, and \"sk-ant-api03-zz\"; sk-ant-";
        assert_eq!(redact_marked_keys(text), "bearer [key], and \"[key]\"; [key]");
        assert_eq!(redact_marked_keys("nothing to hide"), "nothing to hide");
    }
}
