//! The login of Claude Code, and the redaction of its credentials.

use std::path::PathBuf;

use super::secret::{Secret, SecretError, redact_marked_keys};

/// The account that pays for calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClaudeLogin {
    /// The login that the program itself keeps (`claude auth login`).
    Kept {
        /// The user's `HOME`, in which the program finds its login.
        home: PathBuf,
        /// The user's `CLAUDE_CONFIG_DIR`, if it is set.
        config_dir: Option<PathBuf>,
    },
    /// A token or key from [`ClaudeLogin::token`] or [`ClaudeLogin::key`]. The program gets a private home for each call.
    Given(ClaudeCredential),
}

/// A token or key. Its `Debug` output does not show it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaudeCredential {
    pub(super) variable: &'static str,
    pub(super) value: Secret,
}

impl ClaudeLogin {
    /// A subscription's long-lived token, as `claude setup-token` makes it (`CLAUDE_CODE_OAUTH_TOKEN`).
    pub fn token(token: &str) -> Result<Self, SecretError> {
        let value = Secret::new("CLAUDE_CODE_OAUTH_TOKEN", token)?;
        Ok(Self::Given(ClaudeCredential { variable: "CLAUDE_CODE_OAUTH_TOKEN", value }))
    }

    /// An API key (`ANTHROPIC_API_KEY`): every call is paid by token.
    pub fn key(key: &str) -> Result<Self, SecretError> {
        let value = Secret::new("ANTHROPIC_API_KEY", key)?;
        Ok(Self::Given(ClaudeCredential { variable: "ANTHROPIC_API_KEY", value }))
    }

    /// Whether calls are paid by an API key.
    pub(super) fn is_key(&self) -> bool {
        matches!(self, Self::Given(credential) if credential.variable == "ANTHROPIC_API_KEY")
    }

    /// A name of the credential. That of a login that the program keeps is not known here.
    pub(super) fn fingerprint(&self) -> Option<String> {
        match self {
            Self::Given(credential) => Some(credential.value.fingerprint()),
            Self::Kept { .. } => None,
        }
    }

    /// Redacts the credential in a text.
    pub(super) fn redact(&self, text: &str) -> String {
        match self {
            Self::Given(credential) => redact_marked_keys(&credential.value.redact_pieces(text)),
            Self::Kept { .. } => redact_marked_keys(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_output_shows_the_key() {
        let login = ClaudeLogin::key("planted-key-1").unwrap();
        assert!(login.is_key());
        assert!(!format!("{login:?} {login:#?}").contains("planted"));
        assert_eq!(login.redact("401: planted-key-1 is bad"), "401: [key] is bad");
        let token = ClaudeLogin::token("planted-2").unwrap();
        assert!(!token.is_key() && !format!("{token:?}").contains("planted"));
        assert!(ClaudeLogin::token("a\nb").unwrap_err().to_string().contains("CLAUDE_CODE_OAUTH_TOKEN"));
    }
}
