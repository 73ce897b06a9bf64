//! Keys and tokens from the environment, and how they are kept out of files and of the terminal. Lower layers get keys
//! from here and never read the environment.

use std::ffi::OsString;

use super::environment::nonempty_variable;
use super::failure::{Fails, Failure};
use crate::exit::Exit;
use crate::llm::{Secret, redact_marked_keys};

const KEY_VARIABLES: [&str; 3] = ["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN"];

pub(super) fn secrets() -> Vec<Secret> {
    KEY_VARIABLES.iter().filter_map(|name| Secret::new(name, nonempty_variable(name)?.trim()).ok()).collect()
}

/// The environment of this process for a child that needs no model.
pub(super) fn environment_without_keys() -> impl Iterator<Item = (OsString, OsString)> {
    std::env::vars_os().filter(|(name, _)| !KEY_VARIABLES.iter().any(|key| name == key))
}

/// Refuses a text that would be written to files and contains a key. `place` names the text in the message.
pub(super) fn refuse_secrets(place: &str, text: &str) -> Result<(), Failure> {
    for name in KEY_VARIABLES {
        let Some(secret) = nonempty_variable(name).and_then(|value| Secret::new(name, value.trim()).ok()) else {
            continue;
        };
        if secret.occurs_in(text) {
            return Err(Failure::usage(format!(
                "{place} contains the value of {name}, which would be written to files"
            ))
            .hint(format!("remove it: tlaforge reads the key from {name} only")));
        }
    }
    Ok(())
}

/// Replaces the keys in a text. Placeholder values, which no server accepts, stay readable.
pub(super) fn hide_secrets(text: &str) -> String {
    let real = secrets().into_iter().filter(Secret::is_real);
    redact_marked_keys(&real.fold(text.to_owned(), |text, secret| secret.redact_whole(&text)))
}

/// Like [`hide_secrets`], for messages that quote input: also replaces fragments of keys.
pub(super) fn scrub_secrets(text: &str) -> String {
    let real = secrets().into_iter().filter(Secret::is_real);
    redact_marked_keys(&real.fold(text.to_owned(), |text, secret| secret.redact_pieces(&text)))
}

/// Reads a key; error messages name the variable and never show its value.
pub(super) fn read_key(name: &str) -> Result<Option<Secret>, Failure> {
    nonempty_variable(name).map(|text| Secret::new(name, &text).fails(Exit::Usage)).transpose()
}
