//! Merges the settings of a command from flags, environment and the settings file. A resumed run does not come here:
//! its settings are in its journal (`resume`).

use tracing::debug;

use super::environment::{libraries_of_environment, variable};
use super::failure::{Fails, Failure};
use super::secrets::refuse_secrets;
use super::snippet::Snippet;
use super::trust::refuse_untrusted_file;
use crate::config::{ConfigError, FILE_NAME, Layer, Settings};
use crate::exit::Exit;

/// Merges the settings: flags override the environment, which overrides the file.
pub fn load_settings(flags: Layer) -> Result<Settings, Failure> {
    let here = std::env::current_dir().fails(Exit::Usage)?;
    let file = Layer::from_file(&here).map_err(settings_failure)?;
    // A settings file is often committed, and its settings are written to the journal.
    refuse_secrets(FILE_NAME, &serde_json::to_string(&file).unwrap_or_default())?;
    let provider = flags.provider.as_deref().or(file.provider.as_deref());
    let environment = environment_layer(provider)?;
    refuse_untrusted_file(FILE_NAME, &file, &flags, provider.unwrap_or_default())?;
    debug!(flags = ?flags.names(), environment = ?environment.names(), file = ?file.names(), "settings");
    Ok(flags.merge_over(environment).merge_over(file).settle())
}

fn settings_failure(error: ConfigError) -> Failure {
    let ConfigError::File { path, what, place: Some(place) } = error else { return Failure::usage(error.to_string()) };
    let snippet = Snippet::new(path.display().to_string(), &place.text, place.span.clone());
    Failure::usage(what).at(if place.is_shown { snippet } else { snippet.without_source() })
}

/// The settings from the environment. `CLAUDE_MODEL` is ignored for providers that do not offer Claude models.
pub(super) fn environment_layer(provider: Option<&str>) -> Result<Layer, Failure> {
    let library = libraries_of_environment();
    let all = Layer { library, ..Layer::from_env(&variable).fails(Exit::Usage)? };
    Ok(match provider {
        None | Some("auto" | "claude" | "anthropic") => all,
        Some(_) => Layer { model: None, ..all },
    })
}
