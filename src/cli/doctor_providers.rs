//! What `doctor` shows of the providers: found, version, login or key, reachable, and what mends it.

use serde::Serialize;

use super::environment::nonempty_variable;
use super::failure::Failure;
use super::provider::{ANTHROPIC_URL, anthropic, base_url, claude, models, openai};
use super::secrets::scrub_secrets;
use crate::config::Settings;
use crate::llm::{CallFailure, FailureKind, LlmError};
use crate::process::Cancel;

/// One provider.
#[derive(Debug, Default, Serialize)]
pub(super) struct ProviderStatus {
    name: &'static str,
    /// It can be used as it stands, as far as was looked.
    ready: bool,
    /// What was found.
    found: String,
    /// Of a program.
    version: Option<String>,
    /// Of a program.
    logged_in: Option<bool>,
    /// Of a server; the key itself is not shown.
    key_set: Option<bool>,
    /// The server answered. Only where that was asked for.
    reachable: Option<bool>,
    /// What mends it.
    advice: Option<String>,
}

impl ProviderStatus {
    fn ready(name: &'static str, found: impl Into<String>) -> Self {
        Self { name, ready: true, found: found.into(), ..Self::default() }
    }

    fn lacks(name: &'static str, found: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { name, found: found.into(), advice: Some(advice.into()), ..Self::default() }
    }

    fn refused(name: &'static str, failure: Failure) -> Self {
        Self {
            name,
            found: scrub_secrets(&failure.message),
            advice: failure.hints.into_iter().next(),
            ..Self::default()
        }
    }

    /// Asks the server, unless nobody waits for it any more.
    async fn asked(
        self,
        reach: impl Future<Output = Result<(), CallFailure>>,
        variable: &str,
        cancel: &Cancel,
    ) -> Self {
        tokio::select! {
            reached = reach => self.reached(reached, variable),
            () = cancel.cancelled() => self,
        }
    }

    /// With what the server said. `variable` holds the key.
    fn reached(mut self, reached: Result<(), CallFailure>, variable: &str) -> Self {
        let Err(failure) = reached else {
            self.reachable = Some(true);
            self.found += ", reachable";
            return self;
        };
        self.reachable = Some(failure.status.is_some());
        if failure.status == Some(404) {
            // Not every server has such a list, and a model may answer all the same.
            self.found += ", reachable, no list of models";
            self.advice = Some("if calls fail, look at the base URL".to_owned());
            return self;
        }
        self.ready = false;
        self.found = format!("{}; {}", self.found, failure.message);
        self.advice = Some(match failure.kind {
            FailureKind::Auth | FailureKind::Permission if self.key_set == Some(true) => {
                format!("set {variable} to a key that this server takes")
            }
            FailureKind::Auth | FailureKind::Permission => format!("set {variable}: this server wants a key"),
            FailureKind::Connect => "look at the base URL and the network; is the server running?".to_owned(),
            FailureKind::Tls | FailureKind::Billing | FailureKind::SpendCap => {
                failure.kind.advice().trim_end_matches(", then resume").to_owned()
            }
            FailureKind::Malformed => "look at the base URL: something else answers there".to_owned(),
            _ => "try again later".to_owned(),
        });
        self
    }

    /// A line or two for a person.
    pub(super) fn text(&self) -> String {
        let state = if self.ready { "ready:" } else { "not ready:" };
        let advice = self.advice.as_ref().map_or_else(String::new, |a| format!("  {:<21} -> {a}\n", ""));
        format!("  {:<10} {state:<10} {}\n{advice}", self.name, self.found)
    }
}

/// Whom `run` asks without `--provider`: the provider that the settings file names, else one that is ready.
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
        // A run does not know beforehand whether the server takes the key.
        "anthropic" => c.key_set == Some(true) && !named,
        _ => false,
    };
    conditions.iter().find(|c| is_it(c)).map(|c| c.name.to_owned())
}

/// Looks at all of them. Servers are asked only with `online`.
pub(super) async fn provider_statuses(settings: &Settings, online: bool, cancel: &Cancel) -> Vec<ProviderStatus> {
    vec![
        of_claude(settings, cancel).await,
        of_anthropic(settings, online, cancel).await,
        of_openai(settings, online, cancel).await,
        ProviderStatus::ready("handoff", "a person or another agent answers through files (--provider handoff)"),
        ProviderStatus::ready("replay", "answers from a recording (--recording FILE)"),
    ]
}

async fn of_claude(settings: &Settings, cancel: &Cancel) -> ProviderStatus {
    let program = match claude(settings) {
        Ok(program) => program,
        Err(failure) => return ProviderStatus::refused("claude", failure),
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
                ProviderStatus::lacks("claude", found, "log in: claude auth login")
            };
            ProviderStatus { version: Some(status.version.to_string()), logged_in: Some(status.logged_in), ..condition }
        }
        // The advice for a run sends people here.
        Err(LlmError::Failed(failure)) => ProviderStatus::lacks("claude", failure.message, INSTALL),
        Err(e) => ProviderStatus::lacks("claude", e.to_string(), INSTALL),
    }
}

const INSTALL: &str = "install the current one: npm install -g @anthropic-ai/claude-code";

async fn of_anthropic(settings: &Settings, online: bool, cancel: &Cancel) -> ProviderStatus {
    let url = base_url(settings, "anthropic");
    let key_set = nonempty_variable("ANTHROPIC_API_KEY").is_some();
    if !key_set && url.is_none() {
        let lacks = ProviderStatus::lacks("anthropic", "no key", "set ANTHROPIC_API_KEY (calls are paid by token)");
        return ProviderStatus { key_set: Some(false), ..lacks };
    }
    match anthropic(settings) {
        Ok(server) => {
            let url = url.unwrap_or_else(|| ANTHROPIC_URL.to_owned());
            let found = of_server("anthropic", &url, key_set);
            if online { found.asked(server.check_access(), "ANTHROPIC_API_KEY", cancel).await } else { found }
        }
        Err(failure) => ProviderStatus::refused("anthropic", failure),
    }
}

async fn of_openai(settings: &Settings, online: bool, cancel: &Cancel) -> ProviderStatus {
    let Some(url) = base_url(settings, "openai") else {
        let advice = "name your server with --base-url or OPENAI_BASE_URL (Ollama: http://localhost:11434), and a \
                      model with --model";
        return ProviderStatus::lacks("openai", "no server", advice);
    };
    match openai(settings) {
        Ok(server) => {
            let found = of_server("openai", &url, nonempty_variable("OPENAI_API_KEY").is_some());
            let found = if online { found.asked(server.check_access(), "OPENAI_API_KEY", cancel).await } else { found };
            if found.ready && !names_a_model(settings) {
                let advice = Some("name a model that it has: --model NAME".to_owned());
                return ProviderStatus { ready: false, found: found.found + ", no model is named", advice, ..found };
            }
            found
        }
        Err(failure) => ProviderStatus::refused("openai", failure),
    }
}

/// Whether a run by `openai` would know whom to ask for. Where another provider was chosen, `CLAUDE_MODEL` stands among the
/// settings, and it counts for those.
fn names_a_model(settings: &Settings) -> bool {
    let mut given = settings.given.clone();
    if settings.provider != "openai" {
        given.model = given.model.filter(|model| nonempty_variable("CLAUDE_MODEL").as_ref() != Some(model));
    }
    models(&given.settle(), "openai").is_ok()
}

fn of_server(name: &'static str, url: &str, key_set: bool) -> ProviderStatus {
    let key = if key_set { "key set" } else { "no key" };
    ProviderStatus { key_set: Some(key_set), ..ProviderStatus::ready(name, format!("{url}, {key}")) }
}
