//! Version and login of the installed Claude Code.

use std::fmt;
use std::path::PathBuf;

use serde::Deserialize;

/// A version of Claude Code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct ClaudeVersion {
    /// Major, minor, patch.
    pub numbers: [u32; 3],
}

impl ClaudeVersion {
    /// The oldest supported version: it has `--restricted` and `--safe-mode`, and reports denied reads.
    pub const OLDEST: Self = Self { numbers: [2, 1, 300] };

    /// Parses the output of `claude --version`, such as `2.1.329 (Claude Code)`.
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split_whitespace().next()?.split('.');
        let mut number = || {
            let part = parts.next()?;
            // Ignores a suffix such as `-beta.1`.
            part.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
        };
        Some(Self { numbers: [number()?, number()?, number()?] })
    }

    /// Whether it is new enough.
    pub fn is_supported(self) -> bool {
        self >= Self::OLDEST
    }
}

impl fmt::Display for ClaudeVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c] = self.numbers;
        write!(f, "{a}.{b}.{c}")
    }
}

/// The status of the program for `tlaforge doctor`. It contains no token and no name of a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaudeStatus {
    pub program: PathBuf,
    pub version: ClaudeVersion,
    /// Whether it is logged in.
    pub logged_in: bool,
    /// The kind of login, in its own terms (`claude.ai`, `api_key`, `oauth_token`, …).
    pub method: Option<String>,
    /// The kind of subscription, if it reports one.
    pub subscription: Option<String>,
}

/// The used part of `claude auth status --json`. The rest, such as the mail address, is not read.
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
    /// Parses the output. Values that are not short words are dropped, in case they are secrets.
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
        assert!(parse("2.1.300").unwrap().is_supported() && parse("2.2.0").unwrap().is_supported());
        assert!(parse("10.0.0").unwrap().is_supported(), "not by text");
        assert!(!parse("2.1.299").unwrap().is_supported() && !parse("1.99.999").unwrap().is_supported());
        for none in ["", "2.1", "Claude Code 2.1.329", "a.b.c", "2..3"] {
            assert_eq!(parse(none), None, "{none}");
        }
    }

    #[test]
    fn only_the_kind_of_the_login_is_read() {
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
