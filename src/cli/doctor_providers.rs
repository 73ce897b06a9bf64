//! The state of each provider for `doctor`: found, version, login or key, reachable, and what to do about a problem.

use serde::Serialize;

use super::environment::nonempty_variable;
use super::failure::Failure;
use super::provider::{ANTHROPIC_URL, anthropic, base_url, claude, models, openai};
use super::secrets::scrub_secrets;
use crate::config::Settings;
use crate::llm::{CallFailure, FailureKind, LlmError};
use crate::process::Cancel;

#[derive(Debug, Default, Serialize)]
pub(super) struct ProviderStatus {
    name: &'static str,
    /// Whether it can be used, as far as was tested.
    ready: bool,
    /// What was found, in words.
    details: String,
    /// Only for a program.
    version: Option<String>,
    /// Only for a program.
    logged_in: Option<bool>,
    /// Only for a server.
    key_set: Option<bool>,
    /// Whether the server answered; only with `--online`.
    reachable: Option<bool>,
    /// What to do about a problem.
    advice: Option<String>,
}

impl ProviderStatus {
    fn ready(name: &'static str, found: impl Into<String>) -> Self {
        Self { name, ready: true, details: found.into(), ..Self::default() }
    }

    fn not_ready(name: &'static str, found: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { name, details: found.into(), advice: Some(advice.into()), ..Self::default() }
    }

    fn from_failure(name: &'static str, failure: Failure) -> Self {
        Self {
            name,
            details: scrub_secrets(&failure.message),
            advice: failure.hints.into_iter().next(),
            ..Self::default()
        }
    }

    /// Tests the server, unless the command is cancelled.
    async fn test_server(
        self,
        reach: impl Future<Output = Result<(), CallFailure>>,
        variable: &str,
        cancel: &Cancel,
    ) -> Self {
        tokio::select! {
            reached = reach => self.with_test_result(reached, variable),
            () = cancel.cancelled() => self,
        }
    }

    /// Adds the result of the test. `variable` is the environment variable of the key.
    fn with_test_result(mut self, reached: Result<(), CallFailure>, variable: &str) -> Self {
        let Err(failure) = reached else {
            self.reachable = Some(true);
            self.details += ", reachable";
            return self;
        };
        // Any HTTP status is an answer of the server.
        self.reachable = Some(failure.status.is_some());
        if failure.status == Some(404) {
            // Not every server has a list of models, and its models may still answer.
            self.details += ", reachable, no list of models";
            self.advice = Some("if calls fail, check the base URL".to_owned());
            return self;
        }
        self.ready = false;
        self.details = format!("{}; {}", self.details, failure.message);
        self.advice = Some(match failure.kind {
            FailureKind::Auth | FailureKind::Permission if self.key_set == Some(true) => {
                format!("set {variable} to a key that this server accepts")
            }
            FailureKind::Auth | FailureKind::Permission => format!("set {variable}: this server needs a key"),
            FailureKind::Connect => "check the base URL, the network, and that the server is running".to_owned(),
            FailureKind::Tls | FailureKind::Billing | FailureKind::SpendCap => {
                // Written for a run.
                failure.kind.advice().trim_end_matches(", then resume").to_owned()
            }
            FailureKind::Malformed => "check the base URL: another kind of server answers there".to_owned(),
            _ => "try again later".to_owned(),
        });
        self
    }

    pub(super) fn text(&self) -> String {
        let state = if self.ready { "ready:" } else { "not ready:" };
        let advice = self.advice.as_ref().map_or_else(String::new, |a| format!("  {:<21} -> {a}\n", ""));
        format!("  {:<10} {state:<10} {}\n{advice}", self.name, self.details)
    }
}

/// The provider of `run` without `--provider`: that of the settings file, otherwise the first that is ready.
pub(super) fn default_provider(
    in_file: Option<String>,
    settings: &Settings,
    conditions: &[ProviderStatus],
) -> Option<String> {
    if let Some(provider) = in_file.filter(|provider| provider != "auto") {
        return Some(provider);
    }
    let named = settings.given.claude_path.is_some();
    let is_it = |c: &ProviderStatus| match c.name {
        "claude" => c.ready,
        // A run does not test the server first, so a key is enough.
        "anthropic" => c.key_set == Some(true) && !named,
        _ => false,
    };
    conditions.iter().find(|c| is_it(c)).map(|c| c.name.to_owned())
}

/// Examines every provider. Sends requests to servers only with `online`.
pub(super) async fn provider_statuses(settings: &Settings, online: bool, cancel: &Cancel) -> Vec<ProviderStatus> {
    vec![
        claude_status(settings, cancel).await,
        anthropic_status(settings, online, cancel).await,
        openai_status(settings, online, cancel).await,
        ProviderStatus::ready("handoff", "a person or another agent answers through files (--provider handoff)"),
        ProviderStatus::ready("replay", "answers from a recording (--recording FILE)"),
    ]
}

async fn claude_status(settings: &Settings, cancel: &Cancel) -> ProviderStatus {
    let program = match claude(settings) {
        Ok(program) => program,
        Err(failure) => return ProviderStatus::from_failure("claude", failure),
    };
    match program.status(cancel).await {
        Ok(status) => {
            let mut found = format!("{}, version {}", status.program.display(), status.version);
            found += if status.logged_in { ", logged in" } else { ", not logged in" };
            let how: Vec<String> = status.method.into_iter().chain(status.subscription).collect();
            if status.logged_in && !how.is_empty() {
                found = format!("{found} ({})", how.join(", "));
            }
            let condition = if status.logged_in {
                ProviderStatus::ready("claude", found)
            } else {
                ProviderStatus::not_ready("claude", found, "log in: claude auth login")
            };
            ProviderStatus { version: Some(status.version.to_string()), logged_in: Some(status.logged_in), ..condition }
        }
        // The advice for a run is to use `doctor`, so give another one.
        Err(LlmError::Failed(failure)) => ProviderStatus::not_ready("claude", failure.message, INSTALL),
        Err(e) => ProviderStatus::not_ready("claude", e.to_string(), INSTALL),
    }
}

const INSTALL: &str = "install the current one: npm install -g @anthropic-ai/claude-code";

async fn anthropic_status(settings: &Settings, online: bool, cancel: &Cancel) -> ProviderStatus {
    let url = base_url(settings, "anthropic");
    let key_set = nonempty_variable("ANTHROPIC_API_KEY").is_some();
    if !key_set && url.is_none() {
        let status =
            ProviderStatus::not_ready("anthropic", "no key", "set ANTHROPIC_API_KEY (calls are billed by token)");
        return ProviderStatus { key_set: Some(false), ..status };
    }
    match anthropic(settings) {
        Ok(server) => {
            let url = url.unwrap_or_else(|| ANTHROPIC_URL.to_owned());
            let status = server_status("anthropic", &url, key_set);
            if online { status.test_server(server.check_access(), "ANTHROPIC_API_KEY", cancel).await } else { status }
        }
        Err(failure) => ProviderStatus::from_failure("anthropic", failure),
    }
}

async fn openai_status(settings: &Settings, online: bool, cancel: &Cancel) -> ProviderStatus {
    let Some(url) = base_url(settings, "openai") else {
        let advice = "set the address of your server with --base-url or OPENAI_BASE_URL (Ollama: http://localhost:11434), and a \
                      model with --model";
        return ProviderStatus::not_ready("openai", "no server", advice);
    };
    match openai(settings) {
        Ok(server) => {
            let status = server_status("openai", &url, nonempty_variable("OPENAI_API_KEY").is_some());
            let status =
                if online { status.test_server(server.check_access(), "OPENAI_API_KEY", cancel).await } else { status };
            if status.ready && !names_a_model(settings) {
                let advice = Some("choose one of its models: --model NAME".to_owned());
                return ProviderStatus {
                    ready: false,
                    details: status.details + ", no model is set",
                    advice,
                    ..status
                };
            }
            status
        }
        Err(failure) => ProviderStatus::from_failure("openai", failure),
    }
}

/// Whether a run with `openai` would have a model. If another provider is selected, the settings can contain the value of
/// `CLAUDE_MODEL`, which does not apply to `openai`.
fn names_a_model(settings: &Settings) -> bool {
    let mut given = settings.given.clone();
    if settings.provider != "openai" {
        given.model = given.model.filter(|model| nonempty_variable("CLAUDE_MODEL").as_ref() != Some(model));
    }
    models(&given.settle(), "openai").is_ok()
}

fn server_status(name: &'static str, url: &str, key_set: bool) -> ProviderStatus {
    let key = if key_set { "key set" } else { "no key" };
    ProviderStatus { key_set: Some(key_set), ..ProviderStatus::ready(name, format!("{url}, {key}")) }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::llm::{HttpSettings, OpenAi, OpenAiSettings};

    #[tokio::test]
    async fn a_hanging_server_is_reported_with_the_time_limit() {
        // The system accepts connections for it, and no request is ever answered.
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let default = HttpSettings::new(url.clone(), None);
        assert_eq!(default.connect_timeout, Duration::from_secs(15));
        let settings = HttpSettings { connect_timeout: Duration::from_secs(1), ..default };
        let server = OpenAi::new(settings, OpenAiSettings::default()).unwrap();
        let status = server_status("openai", &url, false);
        let status = status.test_server(server.check_access(), "OPENAI_API_KEY", &Cancel::new()).await;
        assert_eq!(status.details, format!("{url}, no key; nothing came from 127.0.0.1 for 1 s"));
        assert_eq!((status.ready, status.advice.as_deref()), (false, Some("try again later")));
    }
}
