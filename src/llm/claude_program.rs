//! Which Claude Code is there: its version, and whose login it has.

use std::fmt;
use std::path::PathBuf;

use serde::Deserialize;

/// A version of Claude Code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct ClaudeVersion {
    /// The three numbers.
    pub numbers: [u32; 3],
}

impl ClaudeVersion {
    /// The oldest that is used: it has `--restricted` and `--safe-mode`, and says what it did.
    pub const OLDEST: Self = Self { numbers: [2, 1, 300] };

    /// Reads what `claude --version` writes, like `2.1.329 (Claude Code)`.
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split_whitespace().next()?.split('.');
        let mut number = || {
            let part = parts.next()?;
            part.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
        };
        Some(Self { numbers: [number()?, number()?, number()?] })
    }

    /// Whether it can be used.
    pub fn is_enough(self) -> bool {
        self >= Self::OLDEST
    }
}

impl fmt::Display for ClaudeVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c] = self.numbers;
        write!(f, "{a}.{b}.{c}")
    }
}

/// What `tlaforge doctor` shows of the program. It holds no token and no name of a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaudeStatus {
    /// Where it is.
    pub program: PathBuf,
    /// Its version.
    pub version: ClaudeVersion,
    /// Whether it can ask a model.
    pub logged_in: bool,
    /// How it is logged in, in its own words (`claude.ai`, `api_key`, `oauth_token`, …).
    pub method: Option<String>,
    /// The kind of subscription, where it says.
    pub subscription: Option<String>,
}

/// The part of `claude auth status --json` that is of use; the rest, like the mail address, is not read.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct AuthStatus {
    pub logged_in: bool,
    #[serde(default)]
    pub auth_method: Option<String>,
    #[serde(default)]
    pub subscription_type: Option<String>,
}

impl AuthStatus {
    /// Reads the output, and keeps short words only.
    pub(super) fn parse(stdout: &str) -> Option<Self> {
        let mut status: Self = serde_json::from_str(stdout.trim()).ok()?;
        let word = |text: String| {
            let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | ' ');
            Some(text).filter(|t| !t.is_empty() && t.len() <= 40 && t != "none" && t.chars().all(plain))
        };
        status.auth_method = status.auth_method.and_then(word);
        status.subscription_type = status.subscription_type.and_then(word);
        Some(status)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_and_compared_by_number() {
        let parse = |text: &str| ClaudeVersion::parse(text);
        assert_eq!(parse("2.1.329 (Claude Code)\n").unwrap().numbers, [2, 1, 329]);
        assert_eq!(parse("2.1.329-beta.1").unwrap().to_string(), "2.1.329");
        assert!(parse("2.1.300").unwrap().is_enough() && parse("2.2.0").unwrap().is_enough());
        assert!(parse("10.0.0").unwrap().is_enough(), "not by text");
        assert!(!parse("2.1.299").unwrap().is_enough() && !parse("1.99.999").unwrap().is_enough());
        for none in ["", "2.1", "Claude Code 2.1.329", "a.b.c", "2..3"] {
            assert_eq!(parse(none), None, "{none}");
        }
    }

    #[test]
    fn of_the_login_only_its_kind_is_read() {
        let text = r#"{"loggedIn":true,"authMethod":"claude.ai","email":"a@b.c","orgName":"o",
            "subscriptionType":"max","token":"sk-ant-planted"}"#;
        let status = AuthStatus::parse(text).unwrap();
        assert!(status.logged_in);
        assert_eq!(status.auth_method.as_deref(), Some("claude.ai"));
        assert_eq!(status.subscription_type.as_deref(), Some("max"));
        assert!(!format!("{status:?}").contains("planted"));
        let none = AuthStatus::parse(r#"{"loggedIn":false,"authMethod":"none"}"#).unwrap();
        assert!(!none.logged_in && none.auth_method.is_none());
        assert!(AuthStatus::parse("Not logged in").is_none());
    }
}
