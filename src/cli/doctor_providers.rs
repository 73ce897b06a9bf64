//! What `doctor` shows of the providers: found, version, login or key, reachable, and what mends it.

use serde::Serialize;

use super::failure::Failure;
use super::provider::{ANTHROPIC_URL, anthropic, claude, openai, set};
use crate::config::Settings;
use crate::llm::CallFailure;
use crate::process::Cancel;

/// One provider.
#[derive(Debug, Serialize)]
pub(super) struct Condition {
    name: &'static str,
    /// It can be used as it stands, as far as was looked.
    ready: bool,
    /// What was found.
    found: String,
    /// Only where it was asked for and there is a server.
    reachable: Option<bool>,
    /// What mends it.
    advice: Option<String>,
}

impl Condition {
    fn ready(name: &'static str, found: impl Into<String>) -> Self {
        Self { name, ready: true, found: found.into(), reachable: None, advice: None }
    }

    fn lacks(name: &'static str, failure: Failure) -> Self {
        let advice = failure.hints.into_iter().next();
        Self { name, ready: false, found: failure.message, reachable: None, advice }
    }

    fn reached(mut self, reached: Result<(), CallFailure>) -> Self {
        self.reachable = Some(reached.is_ok());
        if let Err(failure) = reached {
            self.ready = false;
            self.found = format!("{}; {}", self.found, failure.message);
            self.advice = Some(failure.kind.advice().to_owned());
        }
        self
    }

    /// A line or two for a person.
    pub(super) fn text(&self) -> String {
        let state = if self.ready { "ready" } else { "not ready" };
        let reached = if self.reachable == Some(true) { ", reachable" } else { "" };
        let advice = self.advice.as_ref().map_or_else(String::new, |a| format!("      {a}\n"));
        format!("  {:<9} {state}: {}{reached}\n{advice}", self.name, self.found)
    }
}

/// Looks at all of them. Servers are asked only with `online`.
pub(super) async fn conditions(settings: &Settings, online: bool, cancel: &Cancel) -> Vec<Condition> {
    vec![
        of_claude(settings, cancel).await,
        of_anthropic(settings, online).await,
        of_openai(settings, online).await,
        Condition::ready("handoff", "a person or another agent answers through files"),
        Condition::ready("replay", "answers from a recording (--recording FILE)"),
    ]
}

async fn of_claude(settings: &Settings, cancel: &Cancel) -> Condition {
    let program = match claude(settings) {
        Ok(program) => program,
        Err(failure) => return Condition::lacks("claude", failure),
    };
    match program.status(cancel).await {
        Ok(status) => {
            let found = format!("{}, version {}", status.program.display(), status.version);
            if !status.logged_in {
                let advice = "log in with `claude auth login`".to_owned();
                let found = format!("{found}, not logged in");
                return Condition { ready: false, advice: Some(advice), ..Condition::ready("claude", found) };
            }
            let how: Vec<String> = status.method.into_iter().chain(status.subscription).collect();
            let how = if how.is_empty() { String::new() } else { format!(" ({})", how.join(", ")) };
            Condition::ready("claude", format!("{found}, logged in{how}"))
        }
        Err(e) => Condition { ready: false, ..Condition::ready("claude", e.to_string()) },
    }
}

async fn of_anthropic(settings: &Settings, online: bool) -> Condition {
    let url = settings.given.base_url.clone().or_else(|| set("ANTHROPIC_BASE_URL"));
    let url = url.unwrap_or_else(|| ANTHROPIC_URL.to_owned());
    match anthropic(settings) {
        Ok(server) => {
            let key = if set("ANTHROPIC_API_KEY").is_some() { "key set" } else { "no key" };
            let found = Condition::ready("anthropic", format!("{url}, {key}"));
            if online { found.reached(server.reach().await) } else { found }
        }
        Err(failure) => Condition::lacks("anthropic", failure),
    }
}

async fn of_openai(settings: &Settings, online: bool) -> Condition {
    let url = settings.given.base_url.clone().or_else(|| set("OPENAI_BASE_URL")).unwrap_or_default();
    match openai(settings) {
        Ok(server) => {
            let key = if set("OPENAI_API_KEY").is_some() { "key set" } else { "no key" };
            let found = Condition::ready("openai", format!("{url}, {key}"));
            if online { found.reached(server.reach().await) } else { found }
        }
        Err(failure) => Condition::lacks("openai", failure),
    }
}
