//! One source of settings, and what all of them make together.

use std::num::{NonZeroU64, NonZeroUsize};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// The user's file, looked for in the working folder.
pub const FILE_NAME: &str = "tlaforge.toml";

/// Why the settings cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("cannot read {path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// The file is not as it should be.
    #[error("{path}: {what}")]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong, with the key and its place.
        what: String,
    },
    /// A variable of the environment is not as it should be.
    #[error("the environment variable {name} is {value:?}; it must be {wanted}")]
    Env {
        /// Its name.
        name: &'static str,
        /// Its value.
        value: String,
        /// What it may be.
        wanted: &'static str,
    },
}

/// What one source says; everything is optional. The same keys serve the file `tlaforge.toml`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Layer {
    /// `handoff` or `replay`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// The model's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The recording that `replay` answers from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recording: Option<PathBuf>,
    /// Refuse answers recorded for another wording.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub strict_replay: Option<bool>,
    /// Where answers are recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub record: Option<PathBuf>,
    /// A folder of prompts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompts: Option<PathBuf>,
    /// A folder of exemplars.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exemplars: Option<PathBuf>,
    /// The single concern.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub concern: Option<String>,
    /// Revisions after the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_revisions: Option<u32>,
    /// Change the protocol after a flaw.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repair: Option<bool>,
    /// `tla2tools.jar`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tla_tools: Option<PathBuf>,
    /// Seconds for each run of the checker.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tlc_timeout: Option<NonZeroU64>,
    /// Worker threads of the checker.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workers: Option<NonZeroUsize>,
    /// Heap of the checker in MiB.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub heap_mib: Option<NonZeroU64>,
    /// Modules such as `IOUtils` that may be used.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub allow_modules: Vec<String>,
}

impl Layer {
    /// Reads `tlaforge.toml` in `dir`; an empty layer where there is none.
    pub fn from_file(dir: &Path) -> Result<Self, ConfigError> {
        let path = dir.join(FILE_NAME);
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Self::default()),
            Err(source) => return Err(ConfigError::Io { path, source }),
        };
        toml::from_str(&text).map_err(|e| ConfigError::File { path, what: e.to_string().trim().to_owned() })
    }

    /// Reads `CLAUDE_MODEL` and `TLC_TIMEOUT`. An empty variable counts as not set.
    pub fn from_env(env: &dyn Fn(&str) -> Option<String>) -> Result<Self, ConfigError> {
        let get = |name: &str| env(name).filter(|v| !v.trim().is_empty());
        let tlc_timeout = match get("TLC_TIMEOUT") {
            None => None,
            Some(value) => match value.trim().parse() {
                Ok(seconds) => Some(seconds),
                Err(_) => {
                    let wanted = "a whole number of seconds above 0";
                    return Err(ConfigError::Env { name: "TLC_TIMEOUT", value, wanted });
                }
            },
        };
        Ok(Self { model: get("CLAUDE_MODEL"), tlc_timeout, ..Self::default() })
    }

    /// This layer over another: what it says wins.
    #[must_use]
    pub fn over(self, below: Self) -> Self {
        Self {
            provider: self.provider.or(below.provider),
            model: self.model.or(below.model),
            recording: self.recording.or(below.recording),
            strict_replay: self.strict_replay.or(below.strict_replay),
            record: self.record.or(below.record),
            prompts: self.prompts.or(below.prompts),
            exemplars: self.exemplars.or(below.exemplars),
            concern: self.concern.or(below.concern),
            max_revisions: self.max_revisions.or(below.max_revisions),
            repair: self.repair.or(below.repair),
            tla_tools: self.tla_tools.or(below.tla_tools),
            tlc_timeout: self.tlc_timeout.or(below.tlc_timeout),
            workers: self.workers.or(below.workers),
            heap_mib: self.heap_mib.or(below.heap_mib),
            allow_modules: if self.allow_modules.is_empty() { below.allow_modules } else { self.allow_modules },
        }
    }

    /// With the defaults below it.
    pub fn settle(self) -> Settings {
        Settings {
            provider: self.provider.clone().unwrap_or_else(|| "auto".into()),
            strict_replay: self.strict_replay.unwrap_or(false),
            max_revisions: self.max_revisions.unwrap_or(3),
            repair: self.repair.unwrap_or(false),
            tlc_timeout: self.tlc_timeout.map_or(300, NonZeroU64::get),
            given: self,
        }
    }
}

/// Settings with their defaults.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// What answers prompts.
    pub provider: String,
    /// Refuse answers recorded for another wording.
    pub strict_replay: bool,
    /// Revisions after the first.
    pub max_revisions: u32,
    /// Change the protocol after a flaw.
    pub repair: bool,
    /// Seconds for each run of the checker.
    pub tlc_timeout: u64,
    /// What was said, for everything that has no default.
    pub given: Layer,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_key_is_named_with_its_line() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join(FILE_NAME), "provider = \"handoff\"\nmax_revision = 2\n").unwrap();
        let error = Layer::from_file(dir.path()).unwrap_err().to_string();
        assert!(error.contains("max_revision") && error.contains("line 2"), "{error}");
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
        let settings = flags.over(env).over(file).settle();
        assert_eq!(settings.tlc_timeout, 1);
        assert_eq!(settings.given.model.as_deref(), Some("env"));
        assert_eq!(settings.given.workers, four);
        assert_eq!((settings.max_revisions, settings.provider.as_str()), (3, "auto"));
    }

    #[test]
    fn a_variable_that_is_no_number_is_an_error_that_says_what_it_must_be() {
        for bad in ["soon", "-1", "0", "1.5"] {
            let env = |name: &str| (name == "TLC_TIMEOUT").then(|| bad.to_owned());
            assert!(Layer::from_env(&env).unwrap_err().to_string().contains("whole number"), "{bad}");
        }
        assert_eq!(Layer::from_env(&|_| Some(String::new())).unwrap(), Layer::default());
    }
}
