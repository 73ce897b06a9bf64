//! How Claude Code reaches its account, and how what must stay hidden stays hidden.

use std::fmt;
use std::path::PathBuf;

/// A key or token. It goes into the child's environment and nowhere else.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Hidden(String);

impl Hidden {
    fn new(text: &str, what: &'static str) -> Result<Self, ClaudeKeyError> {
        let text = text.trim();
        if text.is_empty() {
            return Err(ClaudeKeyError { what, why: "is empty" });
        }
        if text.chars().any(|c| c.is_control() || c.is_whitespace()) {
            return Err(ClaudeKeyError { what, why: "holds a line break, a blank or a control character" });
        }
        Ok(Self(text.to_owned()))
    }

    pub(super) fn show_to_child(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Hidden {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(hidden)")
    }
}

/// A key or token that cannot be one. It is not shown.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what} {why}; set it again, in one piece")]
pub struct ClaudeKeyError {
    what: &'static str,
    why: &'static str,
}

/// Whose account pays.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClaudeLogin {
    /// The login that the program itself keeps (`claude auth login`).
    Kept {
        /// The user's `HOME`.
        home: PathBuf,
        /// The user's `CLAUDE_CONFIG_DIR`, where it is set.
        config_dir: Option<PathBuf>,
    },
    /// Made by [`ClaudeLogin::token`] or [`ClaudeLogin::key`]: the program gets a home of its own for each call.
    Given(ClaudeCredential),
}

/// A token or a key, which no output shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaudeCredential {
    pub(super) variable: &'static str,
    pub(super) value: Hidden,
}

impl ClaudeLogin {
    /// A subscription's long-lived token, as `claude setup-token` makes it (`CLAUDE_CODE_OAUTH_TOKEN`).
    pub fn token(token: &str) -> Result<Self, ClaudeKeyError> {
        let value = Hidden::new(token, "CLAUDE_CODE_OAUTH_TOKEN")?;
        Ok(Self::Given(ClaudeCredential { variable: "CLAUDE_CODE_OAUTH_TOKEN", value }))
    }

    /// An API key (`ANTHROPIC_API_KEY`): every call is paid by token.
    pub fn key(key: &str) -> Result<Self, ClaudeKeyError> {
        let value = Hidden::new(key, "ANTHROPIC_API_KEY")?;
        Ok(Self::Given(ClaudeCredential { variable: "ANTHROPIC_API_KEY", value }))
    }

    /// Whether calls are paid by an API key.
    pub(super) fn is_key(&self) -> bool {
        matches!(self, Self::Given(credential) if credential.variable == "ANTHROPIC_API_KEY")
    }

    /// A text without the credential, and without anything that looks like one.
    pub(super) fn redact(&self, text: &str) -> String {
        let mut text = text.to_owned();
        if let Self::Given(credential) = self {
            text = text.replace(credential.value.show_to_child(), HIDDEN);
        }
        redact_marked(&text)
    }
}

const HIDDEN: &str = "(hidden)";
/// How the keys and tokens of the service begin.
const MARK: &str = "sk-ant-";

/// The login that the program keeps is unknown to us, but its tokens are marked.
fn redact_marked(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(MARK) {
        out.push_str(&rest[..at]);
        out.push_str(HIDDEN);
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
    fn a_key_is_shown_by_nothing() {
        let login = ClaudeLogin::key(" planted-key-1\n").unwrap();
        assert!(login.is_key());
        assert!(!format!("{login:?} {login:#?}").contains("planted"));
        assert_eq!(login.redact("401: planted-key-1 is bad"), "401: (hidden) is bad");
        let token = ClaudeLogin::token("planted-2").unwrap();
        assert!(!token.is_key() && !format!("{token:?}").contains("planted"));
    }

    #[test]
    fn a_key_that_cannot_be_one_is_refused_without_being_shown() {
        for bad in ["", " \n", "planted\nx", "planted x", "planted\u{7}"] {
            let error = ClaudeLogin::key(bad).unwrap_err().to_string();
            assert!(error.starts_with("ANTHROPIC_API_KEY ") && !error.contains("planted"), "{error}");
        }
        assert!(ClaudeLogin::token("a\nb").unwrap_err().to_string().contains("CLAUDE_CODE_OAUTH_TOKEN"));
    }

    #[test]
    fn tokens_that_the_program_keeps_are_known_by_their_mark() {
        let login = ClaudeLogin::Kept { home: "/h".into(), config_dir: None };
        let text = "bearer sk-ant-oat01-AbC_9-x, and \"sk-ant-api03-zz\"; sk-ant-";
        assert_eq!(login.redact(text), "bearer (hidden), and \"(hidden)\"; (hidden)");
        assert_eq!(login.redact("nothing to hide"), "nothing to hide");
    }
}
