//! Creates the provider that settings and environment select. Unusable settings fail here, before a folder is created or a
//! model is called.

use std::ffi::OsString;
use std::future::Future;
use std::num::{NonZeroU64, NonZeroUsize};
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use tracing::info;

use super::environment::nonempty_variable;
use super::failure::{Fails, Failure};
use super::secrets::{read_key, secrets};
use super::terminal::print_message;
use crate::config::Settings;
use crate::exit::Exit;
use crate::llm::{
    Anthropic, Budget, CLAUDE_ENVIRONMENT, CallTimer, Caller, ClaudeCode, ClaudeLimits, ClaudeLogin, DEFAULT_MODEL,
    Handoff, HttpSettings, LlmError, ModelChoice, Models, OpenAi, OpenAiSettings, Prices, Provider, Recording,
    RedactingProvider, Replay, RetryPolicy, Secret,
};
use crate::monitor::LABEL_NODE;
use crate::pipeline::NodeName;
use crate::process::Cancel;

/// The hint for a missing or unknown provider.
pub(super) const PROVIDER_CHOICES: &str = "choose one:
  --provider claude     the Claude Code program, on your own login
  --provider anthropic  the Messages API, billed by token: set ANTHROPIC_API_KEY
  --provider openai     any OpenAI-compatible server: add --base-url URL and --model NAME
  --provider handoff    a person or another agent, through files
  --provider replay     a recording: add --recording FILE";
/// Default address of the Messages API.
pub(super) const ANTHROPIC_URL: &str = "https://api.anthropic.com";
/// Default number of parallel calls: a Claude Code child takes about 200 MB.
/// The message if no provider was chosen, and none was found.
pub(super) const NO_PROVIDER: &str = "no provider was chosen, and none was found";
const DEFAULT_CONCURRENCY: usize = 4;

/// Where answers come from.
pub(super) enum AnswerSource {
    /// The provider that the settings name.
    Configured,
    /// A recording in memory: that of a case, or the built-in example.
    Recorded(Recording),
}

/// Creates the provider with its retries and budget.
pub(super) async fn create_caller(
    settings: &Settings,
    answers: AnswerSource,
    out: &Path,
    cancel: &Cancel,
) -> Result<Caller, Failure> {
    let provider = create_provider(settings, answers, out, cancel).await?;
    info!(provider = provider.name(), model = settings.given.model, "provider chosen");
    let prices = Prices::load(settings.given.prices.as_deref()).fails(Exit::Usage)?;
    let models = models(settings, provider.name())?;
    let budget = budget(settings, provider.name(), &models, &prices)?;
    let given = &settings.given;
    let default = RetryPolicy::default();
    let retry = RetryPolicy {
        retries: given.max_retries.unwrap_or(default.retries),
        delay: given.retry_delay.map_or(default.delay, |s| Duration::from_secs(s.into())),
        ..default
    };
    let concurrency = given.concurrency.map_or(DEFAULT_CONCURRENCY, NonZeroUsize::get);
    let timer =
        SystemTimer { deadline: given.max_time.and_then(|s| Instant::now().checked_add(Duration::from_secs(s.get()))) };
    // Around every provider, so that no answer and no error message that repeats a key reaches the journal.
    let provider = Box::new(RedactingProvider::new(provider, secrets()));
    Ok(Caller::new(provider, models, retry, budget, prices, concurrency, Arc::new(timer)))
}

async fn create_provider(
    settings: &Settings,
    answers: AnswerSource,
    out: &Path,
    cancel: &Cancel,
) -> Result<Box<dyn Provider>, Failure> {
    let given = &settings.given;
    match (settings.provider.as_str(), answers) {
        // Whatever provider the settings name.
        (_, AnswerSource::Recorded(recording)) => Ok(Box::new(Replay::new(recording, settings.strict_replay))),
        ("handoff", _) => {
            let out = std::path::absolute(out).fails(Exit::Usage)?;
            Ok(Box::new(Handoff::new(out.join("handoff"), SystemTime::now)))
        }
        ("replay", _) => {
            let Some(path) = &given.recording else {
                return Err(Failure::usage("`--provider replay` needs a recording").hint("add --recording FILE"));
            };
            let recording = Recording::load(path).fails(Exit::Usage)?;
            Ok(Box::new(Replay::new(recording, settings.strict_replay)))
        }
        ("claude", _) => {
            if given.base_url.is_some() {
                print_message("warning: the base URL is ignored: Claude Code uses ANTHROPIC_BASE_URL");
            }
            Ok(Box::new(claude(settings)?))
        }
        ("anthropic", _) => Ok(Box::new(anthropic(settings)?)),
        ("openai", _) => Ok(Box::new(openai(settings)?)),
        ("auto", _) => detect_provider(settings, cancel).await,
        (other, _) => Err(unknown_provider(other)),
    }
}

fn unknown_provider(provider: &str) -> Failure {
    Failure::usage(format!("unknown provider {provider:?}")).hint(PROVIDER_CHOICES)
}

pub(super) fn check_provider_name(provider: &str) -> Result<(), Failure> {
    let known = ["auto", "claude", "anthropic", "openai", "handoff", "replay"].contains(&provider);
    if known { Ok(()) } else { Err(unknown_provider(provider)) }
}

/// Chooses Claude Code if it is found and logged in, otherwise the Messages API if there is a key. If a setting names
/// Claude Code, the Messages API is not a fallback, because it is billed differently.
async fn detect_provider(settings: &Settings, cancel: &Cancel) -> Result<Box<dyn Provider>, Failure> {
    if settings.given.base_url.is_some() {
        return Err(Failure::usage("--base-url is given without a provider")
            .hint("add --provider openai, or --provider anthropic"));
    }
    let is_claude_named = settings.given.claude_path.is_some() || settings.given.claude_api_key == Some(true);
    let mut why = Vec::new();
    match claude(settings) {
        Ok(claude) => match claude.status(cancel).await {
            Ok(status) if status.logged_in => return Ok(Box::new(claude)),
            Ok(_) => why.push("Claude Code is not logged in; log in with `claude auth login`".to_owned()),
            // Otherwise Ctrl-C during the status check would select the provider that bills by token.
            Err(LlmError::Cancelled) => return Err(Failure::new(Exit::Interrupted, "interrupted")),
            Err(e) => why.push(format!("Claude Code: {e}")),
        },
        Err(failure) if is_claude_named => return Err(failure),
        Err(failure) => why.push([vec![failure.message], failure.hints].concat().join("; ")),
    }
    if nonempty_variable("ANTHROPIC_API_KEY").is_some() && !is_claude_named {
        let anthropic = anthropic(settings)?;
        print_message(&format!("using the Messages API, billed by token ({})", why.join("; ")));
        return Ok(Box::new(anthropic));
    }
    if nonempty_variable("ANTHROPIC_API_KEY").is_none() {
        why.push("ANTHROPIC_API_KEY is not set".to_owned());
    }
    let mut failure = Failure::usage(NO_PROVIDER).hint(PROVIDER_CHOICES);
    for line in why {
        failure = failure.hint(line);
    }
    Err(failure)
}

fn find_claude(settings: &Settings) -> Result<PathBuf, Failure> {
    let install = "install it (`npm install -g @anthropic-ai/claude-code`), or name it with --claude-path FILE";
    match &settings.given.claude_path {
        Some(path) if path.is_file() => Ok(path.clone()),
        Some(path) => Err(Failure::usage(format!("{} does not exist", path.display())).hint(install)),
        None => {
            which::which("claude").map_err(|_| Failure::usage("the Claude Code program was not found").hint(install))
        }
    }
}

pub(super) fn claude(settings: &Settings) -> Result<ClaudeCode, Failure> {
    let program = std::path::absolute(find_claude(settings)?).fails(Exit::Usage)?;
    let login = if settings.given.claude_api_key == Some(true) {
        let Some(key) = nonempty_variable("ANTHROPIC_API_KEY") else {
            return Err(Failure::usage("--claude-api-key needs ANTHROPIC_API_KEY, which is not set")
                .hint("set it, or remove the flag to use the login"));
        };
        ClaudeLogin::key(&key).fails(Exit::Usage)?
    } else if let Some(token) = nonempty_variable("CLAUDE_CODE_OAUTH_TOKEN") {
        ClaudeLogin::token(&token).fails(Exit::Usage)?
    } else {
        let Some(home) = std::env::home_dir() else {
            return Err(Failure::usage("HOME is not set, so the login of Claude Code cannot be found"));
        };
        ClaudeLogin::Kept { home, config_dir: nonempty_variable("CLAUDE_CONFIG_DIR").map(PathBuf::from) }
    };
    let known = CLAUDE_ENVIRONMENT.iter().filter_map(|name| Some((OsString::from(name), std::env::var_os(name)?)));
    let mut limits = ClaudeLimits::default();
    if let Some(seconds) = settings.given.idle_timeout {
        limits.request = Duration::from_secs(seconds.get());
    }
    Ok(ClaudeCode::new(program, login).environment(known).limits(limits))
}

pub(super) fn anthropic(settings: &Settings) -> Result<Anthropic, Failure> {
    let url = base_url(settings, "anthropic");
    let key = read_key("ANTHROPIC_API_KEY")?;
    if key.is_none() && url.is_none() {
        return Err(Failure::usage("`--provider anthropic` needs a key").hint("set ANTHROPIC_API_KEY"));
    }
    Anthropic::new(http(settings, url.unwrap_or_else(|| ANTHROPIC_URL.to_owned()), key)).fails(Exit::Usage)
}

pub(super) fn openai(settings: &Settings) -> Result<OpenAi, Failure> {
    let given = &settings.given;
    let Some(url) = base_url(settings, "openai") else {
        return Err(Failure::usage("`--provider openai` needs the server's address")
            .hint("add --base-url http://localhost:11434 (Ollama), or set OPENAI_BASE_URL"));
    };
    let how = OpenAiSettings { tools: given.tools, context_tokens: given.context_tokens };
    OpenAi::new(http(settings, url, read_key("OPENAI_API_KEY")?), how).fails(Exit::Usage)
}

/// The address of a provider's server. The base URL in the settings only applies to the provider in the settings, so that
/// its server never receives another provider's key.
pub(super) fn base_url(settings: &Settings, provider: &str) -> Option<String> {
    let variable = if provider == "openai" { "OPENAI_BASE_URL" } else { "ANTHROPIC_BASE_URL" };
    settings.given.base_url.clone().filter(|_| settings.provider == provider).or_else(|| nonempty_variable(variable))
}

fn http(settings: &Settings, url: String, key: Option<Secret>) -> HttpSettings {
    let mut http = HttpSettings::new(url, key);
    if let Some(seconds) = settings.given.idle_timeout {
        http.idle_timeout = Duration::from_secs(seconds.get());
    }
    http.now = Some(SystemTime::now);
    http
}

/// The model of each node; refuses nodes that call no model, and values out of range.
pub(super) fn models(settings: &Settings, provider: &str) -> Result<Models, Failure> {
    let given = &settings.given;
    let model = match provider {
        "claude" | "anthropic" => Some(given.model.clone().unwrap_or_else(|| DEFAULT_MODEL.to_owned())),
        _ => given.model.clone(),
    };
    let all = ModelChoice {
        model,
        effort: given.effort.clone(),
        temperature: temperature(given.temperature)?,
        max_output: given.max_output,
    };
    let calls_model = |node: &&NodeName| !matches!(node, NodeName::Validate | NodeName::ModelCheck);
    for (node, own) in &given.nodes {
        if !NodeName::ALL.iter().filter(calls_model).any(|known| known.name() == node) && node != LABEL_NODE {
            return Err(Failure::usage(format!("[nodes.{node}] in the settings: there is no node with that name that calls a model"))
                .hint("the nodes are informal_spec, formalize, generate_invariants, step_contracts and review, and `label` for labels of answers"));
        }
        temperature(own.temperature)?;
    }
    let mut nodes = given.nodes.clone();
    // Settings that name a model for each node may be older than this node.
    let contracts = NodeName::StepContracts.name();
    if all.model.is_none() && !nodes.contains_key(contracts) {
        let of_properties = nodes.get(NodeName::GenerateInvariants.name()).cloned();
        nodes.extend(of_properties.map(|own| (contracts.to_owned(), own)));
    }
    // Without a model for all nodes, each node that calls one needs its own; `label` is none of them.
    let has_own_model = |node: &NodeName| nodes.get(node.name()).is_some_and(|own| own.model.is_some());
    let has_model = all.model.is_some() || NodeName::ALL.iter().filter(calls_model).all(has_own_model);
    if provider == "openai" && !has_model {
        return Err(Failure::usage("`--provider openai` needs the name of a model").hint("add --model NAME"));
    }
    Ok(Models { all, nodes, fallback: given.fallback_model.clone() })
}

fn temperature(given: Option<f64>) -> Result<Option<f64>, Failure> {
    match given {
        Some(t) if !(0.0..=2.0).contains(&t) => {
            Err(Failure::usage(format!("the temperature is {t}; it must be from 0 to 2")))
        }
        other => Ok(other),
    }
}

/// A cost limit needs the price of every model that can be called.
fn budget(settings: &Settings, provider: &str, models: &Models, prices: &Prices) -> Result<Budget, Failure> {
    let given = &settings.given;
    let flag = given.max_cost.map(|_| "--max-cost").or(given.max_tokens.map(|_| "--max-tokens"));
    if let (Some(flag), "handoff") = (flag, provider) {
        return Err(Failure::usage(format!("{flag} cannot be enforced: the cost of answers by handoff is unknown"))
            .hint(format!("remove {flag}, or limit the run with --max-time")));
    }
    if let Some(limit) = given.max_cost {
        if !limit.is_finite() || limit <= 0.0 {
            return Err(Failure::usage(format!("--max-cost is {limit}; it must be a number of US dollars above 0")));
        }
        if let Some(unknown) = unpriced_model(models, prices) {
            return Err(Failure::usage(format!("--max-cost cannot be enforced: the price of {unknown} is not known"))
                .hint("add it to a price table (--prices FILE), or use --max-tokens"));
        }
    }
    Ok(Budget { cost_usd: given.max_cost, tokens: given.max_tokens.map(NonZeroU64::get) })
}

/// A model that can be called and has no known price.
fn unpriced_model<'a>(models: &'a Models, prices: &Prices) -> Option<&'a String> {
    let mut callable: Vec<&String> = models.all.model.iter().collect();
    callable.extend(models.nodes.values().filter_map(|n| n.model.as_ref()).chain(&models.fallback));
    callable.into_iter().find(|model| prices.price_of(model).is_none())
}

/// The name of a model that these settings can call and that has no known price.
pub(super) fn find_unpriced_model(settings: &Settings, provider: &str) -> Result<Option<String>, Failure> {
    let prices = Prices::load(settings.given.prices.as_deref()).fails(Exit::Usage)?;
    Ok(unpriced_model(&models(settings, provider)?, &prices).cloned())
}

/// Waits in real time.
struct SystemTimer {
    deadline: Option<Instant>,
}

impl CallTimer for SystemTimer {
    fn pause(&self, time: Duration) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(tokio::time::sleep(time))
    }

    fn jitter(&self) -> f64 {
        fastrand::f64()
    }

    fn time_left(&self) -> Option<Duration> {
        self.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Layer;

    #[test]
    fn without_a_model_for_all_nodes_each_node_needs_its_own() {
        let is_accepted = |names: &[&str]| {
            let own = ModelChoice { model: Some("m".to_owned()), ..ModelChoice::default() };
            let nodes = names.iter().map(|name| ((*name).to_owned(), own.clone())).collect();
            models(&Layer { nodes, ..Layer::default() }.settle(), "openai").is_ok()
        };
        let all = ["informal_spec", "formalize", "generate_invariants", "review"];
        assert!(is_accepted(&all) && is_accepted(&[&all[..], &["label"]].concat()));
        assert!(!is_accepted(&all[1..]) && !is_accepted(&[&all[1..], &["label"]].concat()));
    }
}
