//! The settings of one source (flags, environment or file), and how sources are merged.

use std::collections::BTreeMap;
use std::num::{NonZeroU32, NonZeroU64, NonZeroUsize};
use std::ops::Range;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::de::{Error as _, IgnoredAny};
use serde::{Deserialize, Deserializer, Serialize};

use tracing::debug;

use crate::files;
use crate::llm::ModelChoice;

/// The settings file in the working folder.
pub const FILE_NAME: &str = "tlaforge.toml";
/// How many mutants are judged before a review, and before an approval, by default.
pub const DEFAULT_MUTANTS: u32 = 40;

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    #[error("cannot read {path}: {source}")]
    Io { path: PathBuf, source: std::io::Error },
    /// The content of the file is invalid.
    #[error("{path}: {}{what}", line_prefix(.place.as_deref()))]
    File {
        path: PathBuf,
        /// The problem with its setting, but without any value: a value may be a secret key in the wrong place.
        what: String,
        place: Option<Box<FilePlace>>,
    },
    /// An environment variable has an invalid value.
    #[error("the environment variable {name} is {value:?}; it must be {wanted}")]
    Env { name: &'static str, value: String, wanted: &'static str },
}

/// A place in a settings file.
#[derive(Debug, PartialEq, Eq)]
pub struct FilePlace {
    /// The file up to the place, without its values: earlier lines are empty, and in the last one `…` is the value.
    pub text: String,
    /// The byte range in `text`.
    pub span: Range<usize>,
    /// Whether the last line of `text` shows what is in the file.
    pub is_shown: bool,
}

fn line_prefix(place: Option<&FilePlace>) -> String {
    place.map(|place| format!("line {}: ", place.text.matches('\n').count() + 1)).unwrap_or_default()
}

/// Tools that translate, parse and check.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CheckerChoice {
    /// The embedded tools; the Java tools, if they are found, decide what those leave undecided, and confirm the rest.
    #[default]
    Auto,
    /// The Java tools.
    Tlc,
    /// The embedded tools.
    Embedded,
    /// Both side by side: the verdict is that of the Java tools, and each contradiction is reported.
    Both,
}

/// How the first revision is drafted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Draft {
    /// One request for each node that calls a model.
    #[default]
    Nodes,
    /// One request for all of them.
    SingleCall,
}

/// The settings of one source; all are optional. The field names are the keys of `tlaforge.toml`, and the comments are
/// their meanings on the settings page of the book.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
// A misspelled key is an error; otherwise the setting would silently have no effect.
#[serde(deny_unknown_fields, default)]
pub struct Layer {
    /// `claude`, `anthropic`, `openai`, `handoff` or `replay`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// Name of the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The recording that `replay` answers from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recording: Option<PathBuf>,
    /// Refuse recorded answers if the prompt or a document has changed since the recording.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub strict_replay: Option<bool>,
    /// File that answers are recorded in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub record: Option<PathBuf>,
    /// Prompts that replace the built-in ones of the same name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompts: Option<PathBuf>,
    /// Default: `./exemplars` if it exists, otherwise the built-in ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exemplars: Option<PathBuf>,
    /// What the specification is about, if the documents have several concerns; by default the model chooses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub concern: Option<String>,
    /// Name of the module, after which its files are named; by default the one that the documents fix, or `Spec`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub module: Option<String>,
    /// Words that make a sentence of the documents normative; the informal specification has to account for each such
    /// sentence. By default "must", "shall", "never", "always", "at no time", "only if", "at most", "exactly once",
    /// "exactly one", "unless", "is guaranteed", "are guaranteed", "cannot" and "eventually"; `[""]` looks for none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub normative_words: Vec<String>,
    /// How the first revision is drafted. By default, documents of up to 32 KiB together are drafted in a single call, and
    /// larger ones or several candidates node by node; a replay follows its recording.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub draft: Option<Draft>,
    /// Number of formalizations drafted side by side.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub candidates: Option<u32>,
    /// Maximum number of revisions after the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_revisions: Option<u32>,
    /// After a confirmed flaw, change the protocol; otherwise the run ends with the flaw.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repair: Option<bool>,
    /// Rounds in a revision that request properties which kill more mutants; 1 unless `mutants` is 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub strengthen: Option<u32>,
    /// Ask an author who has not seen the algorithm what the documents say of each step, and check it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contracts: Option<bool>,
    /// Maximum number of mutants that are judged before a review, and before an approval; 0 judges none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mutants: Option<u32>,
    /// Least mutation score of the sampled mutants with which a specification is approved, from 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_score: Option<f64>,
    /// Before an approval is possible, ask a reader who sees neither names nor documents what each property forbids.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blind_reading: Option<bool>,
    /// Maximum time in seconds for larger bounds after a check in which all properties hold; a file can also contain
    /// `"2m"`. 0 or `"off"` tries none.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "time_or_off")]
    pub bounds_budget: Option<u64>,
    /// Tools that translate, parse and check.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checker: Option<CheckerChoice>,
    /// Path of `tla2tools.jar`; refused in a settings file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tla_tools: Option<PathBuf>,
    /// Time limit of each run of the checker in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tlc_timeout: Option<NonZeroU64>,
    /// Worker threads of the checker; by default one per processor.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workers: Option<NonZeroUsize>,
    /// Memory limit of the checker in MiB.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub heap_mib: Option<NonZeroU64>,
    /// Address of the `openai` or `anthropic` server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base_url: Option<String>,
    /// Path of the Claude Code program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub claude_path: Option<PathBuf>,
    /// Let the Claude Code program use `ANTHROPIC_API_KEY` instead of the login.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub claude_api_key: Option<bool>,
    /// Model to use while the first one is overloaded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fallback_model: Option<String>,
    /// Reasoning effort, as the provider names it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effort: Option<String>,
    /// Sampling temperature, from 0 to 2; by default that of the provider.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// By default 32000 for `anthropic`, otherwise that of the provider.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_output: Option<NonZeroU32>,
    /// Settings of the model for single nodes.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub nodes: BTreeMap<String, ModelChoice>,
    /// Maximum cost of a run in US dollars.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_cost: Option<f64>,
    /// Maximum tokens of a run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<NonZeroU64>,
    /// Maximum time of a run in seconds; a file can also contain `"45m"`.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "time")]
    pub max_time: Option<NonZeroU64>,
    /// Maximum number of retries of a call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_retries: Option<u32>,
    /// Seconds before the first retry; multiplied by the number of the attempt for later ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_delay: Option<u32>,
    /// Maximum number of calls to the provider at a time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub concurrency: Option<NonZeroUsize>,
    /// Seconds without content after which a call fails.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idle_timeout: Option<NonZeroU64>,
    /// Context size of an `openai` server's model in tokens; limits the files that are sent with the prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_tokens: Option<u64>,
    /// Whether an `openai` server's model supports tool calls; otherwise files are sent with the prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<bool>,
    /// File with a price table.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prices: Option<PathBuf>,
    /// Modules with outside effects, such as `IOUtils`, that are allowed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub allow_modules: Vec<String>,
    /// Folders with modules that are not beside the specification, in the order in which they are searched. A jar, or a
    /// folder outside of this one, is refused in a settings file.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub library: Vec<PathBuf>,
}

fn time<'de, D: Deserializer<'de>>(value: D) -> Result<Option<NonZeroU64>, D::Error> {
    seconds(&time_text(value)?).map(Some).map_err(D::Error::custom)
}

fn time_or_off<'de, D: Deserializer<'de>>(value: D) -> Result<Option<u64>, D::Error> {
    seconds_or_off(&time_text(value)?).map(Some).map_err(D::Error::custom)
}

fn time_text<'de, D: Deserializer<'de>>(value: D) -> Result<String, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Time {
        Seconds(u64),
        Text(String),
        // Any other type gets our message, too; without this variant, serde only says that no variant matched.
        Other(IgnoredAny),
    }
    Ok(match Time::deserialize(value)? {
        Time::Seconds(seconds) => seconds.to_string(),
        Time::Text(text) => text,
        Time::Other(_) => String::new(),
    })
}

/// Parses a time such as `90`, `90s`, `45m` or `2h` into whole seconds.
pub fn seconds(text: &str) -> Result<NonZeroU64, String> {
    let span: jiff::SignedDuration = match text.parse::<u64>() {
        Ok(seconds) => jiff::SignedDuration::from_secs(i64::try_from(seconds).map_err(|e| e.to_string())?),
        Err(_) => text.parse().map_err(|_| "it must be like 90s, 45m or 2h".to_owned())?,
    };
    u64::try_from(span.as_secs())
        .ok()
        .and_then(NonZeroU64::new)
        .ok_or_else(|| "it must be at least a second, like 90s, 45m or 2h".to_owned())
}

/// The same, or 0 for `off`.
pub fn seconds_or_off(text: &str) -> Result<u64, String> {
    match text {
        "off" | "0" => Ok(0),
        time => seconds(time).map(NonZeroU64::get).map_err(|why| format!("{why}, or off")),
    }
}

impl Layer {
    /// Reads `tlaforge.toml` in `dir`; returns an empty layer if there is no file.
    pub fn from_file(dir: &Path) -> Result<Self, ConfigError> {
        let path = dir.join(FILE_NAME);
        let text = match files::read_text(&path, files::SMALL) {
            Ok(text) => text,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
                debug!(path = ?path, "no settings file");
                return Ok(Self::default());
            }
            Err(source) => return Err(ConfigError::Io { path, source }),
        };
        let layer: Self = toml::from_str(&text).map_err(|e| ConfigError::File {
            path,
            what: redact_message(e.message()),
            place: e.span().map(|span| Box::new(redact_place(&text, &span))),
        })?;
        debug!(settings = ?layer.names(), "settings file");
        Ok(layer)
    }

    /// Reads the settings of a table of another file.
    ///
    /// # Errors
    /// The problem with its setting, without any value.
    pub fn from_table(table: toml::Table) -> Result<Self, String> {
        table.try_into().map_err(|e: toml::de::Error| redact_message(e.message()))
    }

    /// Reads the variables that correspond to settings: `CLAUDE_MODEL`, `CLAUDE_MAX_RETRIES`, `CLAUDE_RETRY_DELAY`,
    /// `TLC_TIMEOUT`. An empty variable counts as not set.
    pub fn from_env(env: &dyn Fn(&str) -> Option<String>) -> Result<Self, ConfigError> {
        let get = |name: &str| env(name).filter(|v| !v.trim().is_empty());
        Ok(Self {
            model: get("CLAUDE_MODEL"),
            max_retries: parse_variable(env, "CLAUDE_MAX_RETRIES", "a whole number from 0")?,
            retry_delay: parse_variable(env, "CLAUDE_RETRY_DELAY", "a whole number of seconds from 0")?,
            tlc_timeout: parse_variable(env, "TLC_TIMEOUT", "a whole number of seconds above 0")?,
            ..Self::default()
        })
    }

    /// The names of the settings in this layer, for diagnostics; without values, because one may be a misplaced key.
    pub fn names(&self) -> Vec<String> {
        // By way of JSON, so that a new setting needs no line here.
        let fields = serde_json::to_value(self).ok();
        let fields = fields.as_ref().and_then(serde_json::Value::as_object).into_iter().flatten();
        let is_set = |value: &serde_json::Value| match value {
            serde_json::Value::Null => false,
            serde_json::Value::Array(all) => !all.is_empty(),
            serde_json::Value::Object(all) => !all.is_empty(),
            _ => true,
        };
        fields.filter(|(_, value)| is_set(value)).map(|(name, _)| name.clone()).collect()
    }

    /// Merges two layers; values of `self` win.
    #[must_use]
    pub fn merge_over(self, below: Self) -> Self {
        Self {
            // Field by field, so that the compiler asks for a new setting; `..below` would drop it.
            provider: self.provider.or(below.provider),
            model: self.model.or(below.model),
            recording: self.recording.or(below.recording),
            strict_replay: self.strict_replay.or(below.strict_replay),
            record: self.record.or(below.record),
            prompts: self.prompts.or(below.prompts),
            exemplars: self.exemplars.or(below.exemplars),
            concern: self.concern.or(below.concern),
            module: self.module.or(below.module),
            normative_words: if self.normative_words.is_empty() { below.normative_words } else { self.normative_words },
            draft: self.draft.or(below.draft),
            candidates: self.candidates.or(below.candidates),
            max_revisions: self.max_revisions.or(below.max_revisions),
            repair: self.repair.or(below.repair),
            strengthen: self.strengthen.or(below.strengthen),
            contracts: self.contracts.or(below.contracts),
            mutants: self.mutants.or(below.mutants),
            min_score: self.min_score.or(below.min_score),
            blind_reading: self.blind_reading.or(below.blind_reading),
            bounds_budget: self.bounds_budget.or(below.bounds_budget),
            checker: self.checker.or(below.checker),
            tla_tools: self.tla_tools.or(below.tla_tools),
            tlc_timeout: self.tlc_timeout.or(below.tlc_timeout),
            workers: self.workers.or(below.workers),
            heap_mib: self.heap_mib.or(below.heap_mib),
            base_url: self.base_url.or(below.base_url),
            claude_path: self.claude_path.or(below.claude_path),
            claude_api_key: self.claude_api_key.or(below.claude_api_key),
            fallback_model: self.fallback_model.or(below.fallback_model),
            effort: self.effort.or(below.effort),
            temperature: self.temperature.or(below.temperature),
            max_output: self.max_output.or(below.max_output),
            nodes: if self.nodes.is_empty() { below.nodes } else { self.nodes },
            max_cost: self.max_cost.or(below.max_cost),
            max_tokens: self.max_tokens.or(below.max_tokens),
            max_time: self.max_time.or(below.max_time),
            max_retries: self.max_retries.or(below.max_retries),
            retry_delay: self.retry_delay.or(below.retry_delay),
            concurrency: self.concurrency.or(below.concurrency),
            idle_timeout: self.idle_timeout.or(below.idle_timeout),
            context_tokens: self.context_tokens.or(below.context_tokens),
            tools: self.tools.or(below.tools),
            prices: self.prices.or(below.prices),
            // The only list that is extended: a flag adds a library to those of the environment.
            library: {
                let mut all = self.library;
                all.extend(below.library.into_iter().filter(|path| !all.contains(path)).collect::<Vec<_>>());
                all
            },
            allow_modules: if self.allow_modules.is_empty() { below.allow_modules } else { self.allow_modules },
        }
    }

    /// Fills in the defaults.
    pub fn settle(self) -> Settings {
        Settings {
            provider: self.provider.clone().unwrap_or_else(|| "auto".into()),
            strict_replay: self.strict_replay.unwrap_or(false),
            draft: self.draft,
            candidates: self.candidates.unwrap_or(1),
            max_revisions: self.max_revisions.unwrap_or(3),
            repair: self.repair.unwrap_or(false),
            strengthen: self.strengthen.unwrap_or_else(|| u32::from(self.mutants != Some(0))),
            contracts: self.contracts.unwrap_or(true),
            mutants: self.mutants.unwrap_or(DEFAULT_MUTANTS),
            blind_reading: self.blind_reading.unwrap_or(true),
            bounds_budget: self.bounds_budget.unwrap_or(120),
            checker: self.checker.unwrap_or_default(),
            tlc_timeout: self.tlc_timeout.map_or(300, NonZeroU64::get),
            given: self,
        }
    }
}

/// The message of an error without the values of the file, which may be secret keys.
fn redact_message(message: &str) -> String {
    let mut shown = String::new();
    let mut is_quoted = false;
    let mut letters = message.trim().chars();
    while let Some(letter) = letters.next() {
        match letter {
            // An escaped quotation mark does not end the value.
            '\\' if is_quoted => _ = letters.next(),
            '"' => {
                shown += if is_quoted { "" } else { "\"…\"" };
                is_quoted = !is_quoted;
            }
            _ if is_quoted => {}
            other => shown.push(other),
        }
    }
    // serde writes other values in backticks, and names as well.
    for before_value in ["unknown variant `", "integer `", "floating point `", "boolean `", "character `"] {
        if let Some(at) = shown.find(before_value) {
            let begin = at + before_value.len();
            let end = shown[begin..].find('`').map_or(shown.len(), |length| begin + length);
            shown.replace_range(begin..end, "…");
        }
    }
    shown
}

/// The place without the values of the file. Of a line, only a name is shown, and only if it looks like that of a setting:
/// small letters and underscores. A key for a model has digits or capitals.
fn redact_place(text: &str, span: &Range<usize>) -> FilePlace {
    let before = text.get(..span.start).unwrap_or(text);
    let start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let line = text[start..].lines().next().unwrap_or_default();
    let empty_lines = "\n".repeat(before.matches('\n').count());
    let is_name = |name: &str| name.bytes().all(|b| b.is_ascii_lowercase() || b"_ .".contains(&b));
    let table = line.trim_end().strip_prefix('[').and_then(|line| line.strip_suffix(']')).filter(|name| is_name(name));
    // A line of a text of several lines is no key; most have blanks between words.
    let is_key = |key: &&str| is_name(key) && !key.trim().contains(' ');
    let key = line.split_once('=').map(|(key, _)| key).filter(is_key);
    let at = span.start - start;
    match (table, key) {
        (Some(_), _) => {
            let end = (span.end - start).clamp(at, line.trim_end().len());
            let span = empty_lines.len() + at..empty_lines.len() + end;
            FilePlace { text: empty_lines + line.trim_end(), span, is_shown: true }
        }
        (None, Some(key)) => {
            let value_at = key.len() + "= ".len();
            let shown = format!("{empty_lines}{key}= …");
            let in_line =
                if at <= key.len() { at..key.trim_end().len().max(at) } else { value_at..value_at + "…".len() };
            let span = empty_lines.len() + in_line.start..empty_lines.len() + in_line.end;
            FilePlace { text: shown, span, is_shown: true }
        }
        // Blanks, so that the column is right.
        (None, None) => {
            let column = before[start..].chars().count();
            let end = empty_lines.len() + column;
            FilePlace { text: empty_lines + &" ".repeat(column), span: end..end, is_shown: false }
        }
    }
}

fn parse_variable<T: std::str::FromStr>(
    env: &dyn Fn(&str) -> Option<String>,
    name: &'static str,
    wanted: &'static str,
) -> Result<Option<T>, ConfigError> {
    let Some(value) = env(name).filter(|v| !v.trim().is_empty()) else { return Ok(None) };
    value.trim().parse().map(Some).map_err(|_| ConfigError::Env { name, value, wanted })
}

#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    pub provider: String,
    /// Refuse recorded answers if the prompt or a document has changed since the recording.
    pub strict_replay: bool,
    /// How the first revision is drafted; by default that depends on the size of the documents.
    pub draft: Option<Draft>,
    /// Number of formalizations drafted side by side.
    pub candidates: u32,
    /// Maximum number of revisions after the first.
    pub max_revisions: u32,
    /// Repair a flawed protocol.
    pub repair: bool,
    /// Rounds in a revision that request properties which kill more mutants; 1 unless `mutants` is 0.
    pub strengthen: u32,
    /// Have contracts of the steps written and checked.
    pub contracts: bool,
    /// Maximum number of mutants that are judged before a review, and before an approval; 0 judges none.
    pub mutants: u32,
    /// Read properties blindly before an approval.
    pub blind_reading: bool,
    /// Maximum time in seconds for larger bounds after a check; 0 tries none.
    pub bounds_budget: u64,
    pub checker: CheckerChoice,
    /// Time limit of each run of the checker in seconds.
    pub tlc_timeout: u64,
    /// The merged layer, for settings without a default.
    pub given: Layer,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_key_is_reported_with_its_line() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join(FILE_NAME), "provider = \"handoff\"\nmax_revision = 2\n").unwrap();
        let error = Layer::from_file(dir.path()).unwrap_err().to_string();
        assert!(error.contains("max_revision") && error.contains("line 2"), "{error}");
    }

    #[test]
    fn max_time_accepts_the_same_values_as_the_flag() {
        let dir = tempfile::tempdir().unwrap();
        let read = |value: &str| {
            std::fs::write(dir.path().join(FILE_NAME), format!("max_time = {value}\n")).unwrap();
            Layer::from_file(dir.path()).map(|layer| layer.max_time.map(NonZeroU64::get))
        };
        for (value, wanted) in [("90", 90), ("\"90\"", 90), ("\"90s\"", 90), ("\"45m\"", 2_700), ("\"2h\"", 7_200)] {
            assert_eq!(read(value).unwrap(), Some(wanted), "{value}");
        }
        for value in ["0", "\"0s\"", "\"soon\"", "-1", "true"] {
            assert!(read(value).unwrap_err().to_string().contains("90s, 45m or 2h"), "{value}");
        }
    }

    #[test]
    fn flags_win_over_the_environment_and_that_over_the_file() {
        let (one, four) = (NonZeroUsize::MIN, NonZeroUsize::new(4));
        let file = Layer {
            tlc_timeout: Some(NonZeroU64::MIN),
            model: Some("file".into()),
            workers: Some(one),
            ..Layer::default()
        };
        let env = Layer::from_env(&|name| (name == "CLAUDE_MODEL").then(|| "env".to_owned())).unwrap();
        let flags = Layer { workers: four, ..Layer::default() };
        let settings = flags.merge_over(env).merge_over(file).settle();
        assert_eq!(settings.tlc_timeout, 1);
        assert_eq!(settings.given.model.as_deref(), Some("env"));
        assert_eq!(settings.given.workers, four);
        assert_eq!((settings.max_revisions, settings.provider.as_str(), settings.blind_reading), (3, "auto", true));
    }

    #[test]
    fn a_variable_that_is_not_a_number_is_an_error_that_names_the_expected_value() {
        for bad in ["soon", "-1", "0", "1.5"] {
            let env = |name: &str| (name == "TLC_TIMEOUT").then(|| bad.to_owned());
            assert!(Layer::from_env(&env).unwrap_err().to_string().contains("whole number"), "{bad}");
        }
        assert_eq!(Layer::from_env(&|_| Some(String::new())).unwrap(), Layer::default());
    }
}
