//! Keys and tokens from the environment, and how they are kept out of files and of the terminal. Lower layers get keys
//! from here and never read the environment.

use std::ffi::{OsStr, OsString};

use percent_encoding::percent_decode_str;

use super::environment::nonempty_variable;
use super::failure::{Fails, Failure};
use crate::exit::Exit;
use crate::llm::{Secret, redact_marked_keys};

const KEY_VARIABLES: [&str; 3] = ["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN"];

pub(super) fn secrets() -> Vec<Secret> {
    secrets_by_variable().into_iter().map(|(_, secret)| secret).collect()
}

/// Each secret with the variable that holds it.
fn secrets_by_variable() -> Vec<(String, Secret)> {
    let keys = KEY_VARIABLES.iter().filter_map(|name| Some(((*name).to_owned(), nonempty_variable(name)?)));
    let texts =
        std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    let (collectors, others): (Vec<_>, Vec<_>) = texts.partition(|(name, value)| is_collector_credential(name, value));
    let stores = others.into_iter().filter(|(name, _)| is_store_credential(name)).collect();
    let keys = keys.filter_map(|(name, value)| Some((Secret::new(&name, value.trim()).ok()?, name)));
    let parts = |credentials: Vec<(String, String)>, split: fn(&str, &str) -> Vec<String>| {
        credentials.into_iter().flat_map(move |(name, value)| {
            let parts = split(&name, &value).into_iter().filter_map(|part| Secret::new(&name, &part).ok());
            parts.map(|secret| (secret, name.clone())).collect::<Vec<_>>()
        })
    };
    let stores = parts(stores, |_, value| parts_of_credential(value).map(str::to_owned).collect());
    let collectors = parts(collectors, parts_of_collector_credential);
    keys.chain(stores).chain(collectors).map(|(secret, name)| (name, secret)).collect()
}

/// The environment of this process for a child that needs no model, no shared store and no collector.
pub(super) fn environment_without_keys() -> impl Iterator<Item = (OsString, OsString)> {
    std::env::vars_os().filter(|(name, value)| {
        !KEY_VARIABLES.iter().any(|key| name == key)
            && !name.to_str().is_some_and(is_store_credential)
            && !is_collector_variable(name, value)
    })
}

/// The keys for collectors of telemetry, for a child that is this program.
pub(super) fn collector_keys() -> impl Iterator<Item = (OsString, OsString)> {
    std::env::vars_os().filter(|(name, value)| is_collector_variable(name, value))
}

fn is_collector_variable(name: &OsStr, value: &OsStr) -> bool {
    name.to_str().is_some_and(|name| is_collector_credential(name, &value.to_string_lossy()))
}

/// Whether a variable holds headers for a collector of telemetry, or its address with a password.
fn is_collector_credential(name: &str, value: &str) -> bool {
    name.starts_with("OTEL_EXPORTER_OTLP_")
        && (name.ends_with("HEADERS") || name.ends_with("ENDPOINT") && value.contains('@'))
}

/// The secret parts of such a variable: as they are written, and as they are sent, without their percent-encoding.
fn parts_of_collector_credential(name: &str, value: &str) -> Vec<String> {
    let written: Vec<&str> = if name.ends_with("HEADERS") {
        values_of_headers(value).collect()
    } else {
        password_of_address(value).into_iter().collect()
    };
    let mut parts = Vec::new();
    for part in written {
        let sent = percent_decode_str(part).decode_utf8_lossy();
        if sent != part {
            parts.push(sent.into_owned());
        }
        parts.push(part.to_owned());
    }
    parts
}

/// A shorter header value or user name is not treated as a key: it may be a plain name that documents contain.
const MIN_COLLECTOR_KEY: usize = 20;

/// The long values of headers (`name=value,name=value`), without a scheme such as `Bearer%20`.
fn values_of_headers(headers: &str) -> impl Iterator<Item = &str> {
    let values = headers.split(',').filter_map(|header| Some(header.split_once('=')?.1.trim()));
    values
        .filter_map(|value| value.rsplit("%20").next()?.rsplit(' ').next())
        .filter(|value| value.len() >= MIN_COLLECTOR_KEY)
}

/// The password in the address of a server, or a long name without one, which may be a token. Also in an address that is not
/// valid.
fn password_of_address(address: &str) -> Option<&str> {
    let address = address.split_once("://").map_or(address, |(_, rest)| rest);
    let (user, _) = address.split(['/', '?', '#']).next()?.rsplit_once('@')?;
    user.split_once(':').map(|(_, password)| password).or_else(|| (user.len() >= MIN_COLLECTOR_KEY).then_some(user))
}

/// Whether a variable holds a credential of a shared store, under any of the names that its client reads.
fn is_store_credential(name: &str) -> bool {
    // A name that ends so has a place as its value.
    let is_place = ["_FILE", "_PATH", "_URI", "_URL"].iter().any(|end| name.ends_with(end));
    ["AWS_", "AZURE_", "GOOGLE_"].iter().any(|prefix| name.starts_with(prefix))
        && ["KEY", "TOKEN", "SECRET", "PASSWORD", "SAS"].iter().any(|word| name.contains(word))
        && !is_place
}

/// The secret parts of a credential of a shared store. That of a service account is a JSON object, perhaps on several lines,
/// and a shared access signature is a query: each of their long words and values, but no addresses and names of fields, which
/// documents may contain.
fn parts_of_credential(value: &str) -> impl Iterator<Item = &str> {
    const LONG: usize = 32;
    let value = value.trim();
    let whole = std::iter::once(value).filter(|value| !value.contains(char::is_whitespace));
    let is_separator = |c: char| c.is_whitespace() || "\"\\,&=?".contains(c);
    let is_part = move |part: &&str| part.len() >= LONG && !part.contains([':', '@']) && *part != value;
    // The lines of a key in JSON.
    whole.chain(value.split("\\n").flat_map(move |line| line.split(is_separator)).filter(is_part))
}

/// Refuses a text that would be written to files and contains a key. `place` names the text in the message.
pub(super) fn refuse_secrets(place: &str, text: &str) -> Result<(), Failure> {
    for (name, secret) in secrets_by_variable() {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_of_stores_are_known_by_their_names_and_in_parts() {
        for name in [
            "AWS_ACCESS_KEY_ID",
            "AWS_SECRET_ACCESS_KEY",
            "AWS_SESSION_TOKEN",
            "AZURE_STORAGE_ACCOUNT_KEY",
            "AZURE_CLIENT_SECRET",
            "AZURE_STORAGE_SAS_TOKEN",
            "GOOGLE_SERVICE_ACCOUNT_KEY",
        ] {
            assert!(is_store_credential(name), "{name}");
        }
        for name in
            ["AWS_REGION", "AWS_ENDPOINT", "AWS_WEB_IDENTITY_TOKEN_FILE", "GOOGLE_APPLICATION_CREDENTIALS", "KEY"]
        {
            assert!(!is_store_credential(name), "{name}");
        }
        let headers = "authorization=Bearer%20abcdefghijklmnopqrst==, x-scope-orgid=team,x-key=0123456789abcdefghijk";
        let values: Vec<&str> = values_of_headers(headers).collect();
        assert_eq!(values, ["abcdefghijklmnopqrst==", "0123456789abcdefghijk"]);
        let headers = "authorization=Bearer%20abcdefghijklm%2Bopqrst%3D,x-key=short";
        assert_eq!(
            parts_of_collector_credential("OTEL_EXPORTER_OTLP_HEADERS", headers),
            ["abcdefghijklm+opqrst=", "abcdefghijklm%2Bopqrst%3D"]
        );
        let address = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT";
        for (value, password) in [
            ("https://me:pass%2Fword@host:4318/v1/traces", &["pass/word", "pass%2Fword"][..]),
            ("https://telemetry@host", &[]),
            ("https://0123456789abcdefghijk@host", &["0123456789abcdefghijk"]),
            ("me:secret@host/v1", &["secret"]),
            ("https://me:a@b@host", &["a@b"]),
            ("https://host:4318/v1/traces@x", &[]),
        ] {
            assert!(is_collector_credential(address, value), "{value}");
            assert_eq!(parts_of_collector_credential(address, value), password, "{value}");
        }
        assert!(is_collector_credential("OTEL_EXPORTER_OTLP_HEADERS", "x=y"));
        assert!(!is_collector_credential("OTEL_EXPORTER_OTLP_ENDPOINT", "https://host:4318"));
        let parts = |value: &'static str| parts_of_credential(value).collect::<Vec<_>>();
        assert_eq!(parts(" abcdefgh\n"), ["abcdefgh"]);
        let account = r#"{"type": "service_account",
            "auth_uri": "https://accounts.example.com/o/oauth2/auth", "auth_provider_x509_cert_url": "",
            "private_key": "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASCAASC\nBKcw"}"#;
        assert_eq!(parts(account), ["MIIEvQIBADANBgkqhkiG9w0BAQEFAASCAASC"]);
        let signature = "sv=2024-11-04&sig=abcdefghijklmnopqrstuvwxyz01234%3D";
        assert_eq!(parts(signature), [signature, "abcdefghijklmnopqrstuvwxyz01234%3D"]);
    }
}
