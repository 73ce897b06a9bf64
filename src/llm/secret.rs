//! Keys and tokens: where they go, and how they are kept out of everything else.
//!
//! A secret is handed to the one header or the one variable that carries it. What a server, a program or a model gives
//! back is cleaned of it before anyone sees it.

use std::fmt;

use reqwest::header::HeaderValue;

/// What stands in the place of a secret.
const GONE: &str = "[key]";
/// A secret shorter than this is a placeholder (`ollama`, `x`); pieces of it are not looked for.
const REAL: usize = 8;
/// How the keys and tokens of Anthropic begin. Those that Claude Code keeps for itself are unknown to us but for this.
const MARK: &str = "sk-ant-";

/// A key or token. Its `Debug` shows nothing.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

/// A key or token that cannot be one. It is not shown.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{name}: the key {what}; set it again, without quotes and line breaks")]
pub struct SecretError {
    /// The variable.
    name: String,
    what: &'static str,
}

impl Secret {
    /// Takes a key as it was set in the variable `name`. One that cannot stand in a header is refused.
    pub fn new(name: &str, key: &str) -> Result<Self, SecretError> {
        let what = if key.trim().is_empty() {
            "is empty"
        } else if key.contains(['\n', '\r']) {
            "holds a line break"
        } else if key.contains(char::is_whitespace) {
            "holds a blank"
        } else if !key.bytes().all(|b| b.is_ascii_graphic()) {
            "holds a character that cannot be sent"
        } else {
            return Ok(Self(key.to_owned()));
        };
        Err(SecretError { name: name.to_owned(), what })
    }

    /// For the one header that carries it.
    pub(super) fn header(&self, before: &str) -> HeaderValue {
        let mut value =
            HeaderValue::from_str(&format!("{before}{}", self.0)).expect("`new` takes only visible ASCII characters");
        value.set_sensitive(true);
        value
    }

    /// For the one variable of a child that carries it.
    pub(super) fn show_to_child(&self) -> &str {
        &self.0
    }

    /// Whether it is long enough to be one, and no placeholder.
    pub fn is_real(&self) -> bool {
        self.0.len() >= REAL
    }

    /// Whether a text holds it as a whole. A placeholder is in many texts and says nothing.
    pub fn is_in(&self, text: &str) -> bool {
        self.is_real() && text.contains(&self.0)
    }

    /// The text without the secret as a whole: what a model wrote is not bent for a piece.
    pub fn hide(&self, text: &str) -> String {
        if self.is_in(text) { text.replace(&self.0, GONE) } else { text.to_owned() }
    }

    /// The text without the secret, and without pieces of it that are long enough to be of use to someone.
    pub fn scrub(&self, text: &str) -> String {
        let key = self.0.as_bytes();
        let bytes = text.as_bytes();
        let mut out = String::with_capacity(text.len());
        let mut from = 0;
        let mut at = 0;
        while at < bytes.len() {
            let length = if key.len() < REAL {
                let alone = |b: Option<&u8>| b.is_none_or(|b| !b.is_ascii_alphanumeric());
                let found = bytes[at..].starts_with(key)
                    && alone(at.checked_sub(1).and_then(|i| bytes.get(i)))
                    && alone(bytes.get(at + key.len()));
                if found { key.len() } else { 0 }
            } else {
                (0..=key.len() - REAL).map(|i| common(&key[i..], &bytes[at..])).max().unwrap_or(0)
            };
            if length >= REAL.min(key.len()) {
                // A key is ASCII, so both ends are ends of characters.
                out.push_str(&text[from..at]);
                out.push_str(GONE);
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

/// How many bytes both begin with.
fn common(a: &[u8], b: &[u8]) -> usize {
    a.iter().zip(b).take_while(|(a, b)| a == b).count()
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// A text without what is marked as a key or token of Anthropic, whosever it is.
pub fn without_marked(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(MARK) {
        out.push_str(&rest[..at]);
        out.push_str(GONE);
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
    fn a_key_that_cannot_stand_in_a_header_is_refused_without_being_shown() {
        for (key, word) in [
            ("", "empty"),
            (" ", "empty"),
            ("planted\n", "line break"),
            ("pl anted", "blank"),
            ("planted\u{7f}", "cannot be sent"),
            ("plänted", "cannot be sent"),
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
            assert_eq!(key.scrub(text), left);
        }
        let placeholder = Secret::new("A_KEY", "x").unwrap();
        assert_eq!(placeholder.scrub("an example: x"), "an example: [key]");
        assert!(!placeholder.is_in("an example: x"));
        assert_eq!(placeholder.hide("x' = x"), "x' = x");
    }

    #[test]
    fn tokens_that_nobody_told_us_are_known_by_their_mark() {
        let text = "bearer sk-ant-oat01-AbC_9-x, and \"sk-ant-api03-zz\"; sk-ant-";
        assert_eq!(without_marked(text), "bearer [key], and \"[key]\"; [key]");
        assert_eq!(without_marked("nothing to hide"), "nothing to hide");
    }
}
