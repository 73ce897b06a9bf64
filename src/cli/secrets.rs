//! Keys and tokens from the environment, and how they are kept out of files and of the terminal.

use super::environment::nonempty_variable;
use super::failure::{Fails, Failure};
use crate::exit::Exit;
use crate::llm::{Secret, redact_marked_keys};

/// The variables that hold keys and tokens.
const KEY_VARIABLES: [&str; 3] = ["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN"];

/// What must come out nowhere.
pub(super) fn secrets() -> Vec<Secret> {
    KEY_VARIABLES.iter().filter_map(|name| Secret::new(name, nonempty_variable(name)?.trim()).ok()).collect()
}

/// Refuses a text that would be journaled and holds a key. `place` says where it stands.
pub(super) fn refuse_secrets(place: &str, text: &str) -> Result<(), Failure> {
    for name in KEY_VARIABLES {
        let Some(secret) = nonempty_variable(name).and_then(|value| Secret::new(name, value.trim()).ok()) else {
            continue;
        };
        if secret.occurs_in(text) {
            return Err(Failure::usage(format!("{place} holds the value of {name}, which would come into files"))
                .hint(format!("take it out: the key is read from {name}, and needed nowhere else")));
        }
    }
    Ok(())
}

/// A text without the keys that are set; placeholders stay.
pub(super) fn hide_secrets(text: &str) -> String {
    let real = secrets().into_iter().filter(Secret::is_real);
    redact_marked_keys(&real.fold(text.to_owned(), |text, secret| secret.redact_whole(&text)))
}

/// A message of trouble, which may quote what was read: also without pieces of keys.
pub(super) fn scrub_secrets(text: &str) -> String {
    let real = secrets().into_iter().filter(Secret::is_real);
    redact_marked_keys(&real.fold(text.to_owned(), |text, secret| secret.redact_pieces(&text)))
}

/// The key in a variable. It is named in what goes wrong, and never shown.
pub(super) fn read_key(name: &str) -> Result<Option<Secret>, Failure> {
    nonempty_variable(name).map(|text| Secret::new(name, &text).fails(Exit::Usage)).transpose()
}
