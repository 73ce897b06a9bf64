//! The configuration of an objective for an environment, as a TOML or JSON document.
//!
//! The fields are those of `TLObservationRewardConfig` of gym-tl-tools, except its parser: there is only one formula
//! language here.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use tlaforge_files as files;
use tlaforge_temporal::{
    EarlyTermination, Environment, Objective, ObjectiveError, ObjectiveReward, Predicate, RewardConfig, VariableValues,
};

/// Why a configuration cannot be read, or does not define an objective.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    #[error("read {}", path.display())]
    Read {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    /// The file's name ends in neither `.toml` nor `.json`.
    #[error("{}: neither .toml nor .json", path.display())]
    Format { path: PathBuf },
    /// A syntax error, or an unknown or missing key.
    #[error("read the objective: {0}")]
    Toml(#[from] toml::de::Error),
    /// A syntax error, or an unknown or missing key.
    #[error("read the objective: {0}")]
    Json(#[from] serde_json::Error),
    /// The specification or a predicate is wrong.
    #[error(transparent)]
    Objective(#[from] ObjectiveError),
    #[error("`{key}` is not a finite number")]
    Reward { key: &'static str },
    #[error("unknown variable value generator `{name}` (known: {known})")]
    Generator {
        name: String,
        /// The registered names, separated by commas.
        known: String,
    },
}

/// The format of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    Toml,
    Json,
}

impl Format {
    /// The format of a file, by its extension.
    pub fn from_path(path: &Path) -> Result<Self, ConfigError> {
        match path.extension().and_then(|e| e.to_str()) {
            Some("toml") => Ok(Self::Toml),
            Some("json") => Ok(Self::Json),
            _ => Err(ConfigError::Format { path: path.to_owned() }),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct NamedPredicate {
    name: String,
    formula: String,
}

mod predicates {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::{NamedPredicate, Predicate};

    pub(super) fn serialize<S: Serializer>(predicates: &[Predicate], to: S) -> Result<S::Ok, S::Error> {
        predicates
            .iter()
            .map(|p| NamedPredicate { name: p.name.clone(), formula: p.formula.clone() })
            .collect::<Vec<_>>()
            .serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Predicate>, D::Error> {
        let named = Vec::<NamedPredicate>::deserialize(from)?;
        Ok(named.into_iter().map(|p| Predicate { name: p.name, formula: p.formula }).collect())
    }
}

/// The rewards of steps; see [`RewardConfig`].
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RewardSettings {
    /// The reward in a goal state; its negative in a trap. 5 by default.
    pub terminal_state_reward: f64,
    /// The factor of the robustness of a transition. 100 by default.
    pub state_trans_reward_scale: f64,
    /// Whether steps without a transition are rewarded too. False by default.
    pub dense_reward: bool,
    /// The factor of the robustness in dense rewards. 0.01 by default.
    pub dense_reward_scale: f64,
}

impl Default for RewardSettings {
    fn default() -> Self {
        let RewardConfig { terminal_state_reward, state_trans_reward_scale, dense_reward, dense_reward_scale } =
            RewardConfig::default();
        Self { terminal_state_reward, state_trans_reward_scale, dense_reward, dense_reward_scale }
    }
}

impl RewardSettings {
    /// Checks that all rewards are finite.
    pub(super) fn check_finite(self) -> Result<(), ConfigError> {
        for (key, value) in [
            ("terminal_state_reward", self.terminal_state_reward),
            ("state_trans_reward_scale", self.state_trans_reward_scale),
            ("dense_reward_scale", self.dense_reward_scale),
        ] {
            if !value.is_finite() {
                return Err(ConfigError::Reward { key });
            }
        }
        Ok(())
    }
}

impl From<RewardSettings> for RewardConfig {
    fn from(settings: RewardSettings) -> Self {
        let RewardSettings { terminal_state_reward, state_trans_reward_scale, dense_reward, dense_reward_scale } =
            settings;
        Self { terminal_state_reward, state_trans_reward_scale, dense_reward, dense_reward_scale }
    }
}

/// The configuration of an [`ObjectiveReward`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ObjectiveConfig {
    /// The goal, a temporal formula.
    #[serde(default)]
    pub tl_spec: String,
    /// The predicates that the goal names.
    #[serde(with = "predicates")]
    pub atomic_predicates: Vec<Predicate>,
    /// The registered name of the generator that reads quantities from the environment.
    pub var_value_info_generator_cls: String,
    /// The arguments of the generator.
    #[serde(default)]
    pub var_value_info_generator_args: serde_json::Map<String, serde_json::Value>,
    #[serde(default)]
    pub reward_config: RewardSettings,
    /// Whether an episode ends in a goal or a trap. True by default.
    #[serde(default = "yes")]
    pub early_termination: bool,
    /// The key of the automaton state in observations. `aut_state` by default.
    #[serde(default = "aut_state")]
    pub dict_aut_state_key: String,
}

fn yes() -> bool {
    true
}

fn aut_state() -> String {
    "aut_state".to_owned()
}

/// Constructs a generator from its arguments.
pub type MakeVariables<V> = fn(&serde_json::Map<String, serde_json::Value>) -> V;

impl ObjectiveConfig {
    /// Reads a document.
    ///
    /// # Errors
    /// A syntax error, an unknown key, a missing one (`atomic_predicates`, `var_value_info_generator_cls`), and a reward
    /// that is not finite. The goal is parsed by [`ObjectiveConfig::objective`].
    pub fn from_text(text: &str, format: Format) -> Result<Self, ConfigError> {
        let config: Self = match format {
            Format::Toml => toml::from_str(text)?,
            Format::Json => serde_json::from_str(text)?,
        };
        config.reward_config.check_finite()?;
        Ok(config)
    }

    /// Reads a file whose name ends in `.toml` or `.json`.
    ///
    /// # Errors
    /// As [`ObjectiveConfig::from_text`], and a file that cannot be read or has another extension.
    pub fn from_file(path: &Path) -> Result<Self, ConfigError> {
        let format = Format::from_path(path)?;
        let text = files::read_text(path, files::SMALL)
            .map_err(|source| ConfigError::Read { path: path.to_owned(), source })?;
        Self::from_text(&text, format)
    }

    /// The objective in its initial state.
    ///
    /// # Errors
    /// An error in the goal or in a predicate.
    pub fn objective(&self) -> Result<Objective, ConfigError> {
        Ok(Objective::new(&self.tl_spec, &self.atomic_predicates)?)
    }

    /// Wraps an environment. `generators` are the registered generators, by name.
    ///
    /// # Errors
    /// As [`ObjectiveConfig::objective`], and a generator that is not registered.
    pub fn wrap<E: Environment, V: VariableValues<E>>(
        &self,
        environment: E,
        generators: &[(&str, MakeVariables<V>)],
    ) -> Result<ObjectiveReward<E, V>, ConfigError> {
        let name = &self.var_value_info_generator_cls;
        let Some((_, make)) = generators.iter().find(|(known, _)| known == name) else {
            let known = generators.iter().map(|(known, _)| *known).collect::<Vec<_>>().join(", ");
            return Err(ConfigError::Generator { name: name.clone(), known });
        };
        let early = if self.early_termination { EarlyTermination::AtGoalOrTrap } else { EarlyTermination::Never };
        let variables = make(&self.var_value_info_generator_args);
        Ok(ObjectiveReward::new(environment, self.objective()?, variables)
            .with_reward(self.reward_config.into())
            .with_early_termination(early)
            .with_key(&self.dict_aut_state_key))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails where its own preparation does")]

    use super::*;
    use tlaforge_temporal::{Info, Quantities, Step};

    const TOML: &str = r#"
tl_spec = "F(goal) & G(!pit)"
var_value_info_generator_cls = "distance"
early_termination = false
dict_aut_state_key = "mode"

[[atomic_predicates]]
name = "goal"
formula = "d < 1"

[[atomic_predicates]]
name = "pit"
formula = "d > 9"

[var_value_info_generator_args]
scale = 2

[reward_config]
dense_reward = true
"#;

    struct Line(f64);

    impl Environment for Line {
        type Observation = f64;
        type Action = f64;

        fn reset(&mut self, _: Option<u64>) -> (f64, Info) {
            self.0 = 3.0;
            (3.0, Info::new())
        }

        fn step(&mut self, action: f64) -> Step<f64> {
            self.0 += action;
            Step { observation: self.0, reward: 0.0, terminated: false, truncated: false, info: Info::new() }
        }
    }

    struct Distance(f64);

    impl VariableValues<Line> for Distance {
        fn values(&self, _: &Line, observation: &f64, _: &Info) -> Quantities {
            [("d", observation * self.0)].into_iter().collect()
        }
    }

    const GENERATORS: [(&str, MakeVariables<Distance>); 1] =
        [("distance", |arguments| Distance(arguments["scale"].as_f64().unwrap_or(1.0)))];

    #[test]
    fn reads_toml_and_json_files_and_wraps_an_environment() {
        let config = ObjectiveConfig::from_text(TOML, Format::Toml).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("objective.json");
        std::fs::write(&path, serde_json::to_string(&config).unwrap()).unwrap();
        assert_eq!(ObjectiveConfig::from_file(&path).unwrap(), config);
        assert_eq!(toml::from_str::<ObjectiveConfig>(&toml::to_string(&config).unwrap()).unwrap(), config);

        let mut line = config.wrap(Line(0.0), &GENERATORS).unwrap();
        let (first, _) = line.reset(None).unwrap();
        assert_eq!((&*first.key, first.aut_state), ("mode", 0));
        let step = line.step(1.0).unwrap();
        assert!((step.reward + 0.07).abs() < 1e-12, "dense: {}", step.reward);
        let step = line.step(-4.0).unwrap();
        assert!((step.reward - 100.0).abs() < 1e-12 && !step.terminated);
    }

    #[test]
    fn has_the_defaults_of_the_interface() {
        let least = r#"{"atomic_predicates": [], "var_value_info_generator_cls": "distance"}"#;
        let config = ObjectiveConfig::from_text(least, Format::Json).unwrap();
        assert!(config.early_termination && config.dict_aut_state_key == "aut_state" && config.tl_spec.is_empty());
        assert_eq!(RewardConfig::from(config.reward_config), RewardConfig::default());
        assert!(matches!(config.objective(), Err(ConfigError::Objective(_))));
    }

    #[test]
    fn reports_invalid_files() {
        let wrong = |text: &str| ObjectiveConfig::from_text(text, Format::Toml).unwrap_err().to_string();
        assert!(wrong(&TOML.replace("tl_spec", "tl_spek")).contains("tl_spek"));
        assert!(wrong(&TOML.replace("dense_reward = true", "terminal_state_reward = nan")).contains("finite"));
        assert!(wrong("").contains("atomic_predicates"));
        let config = ObjectiveConfig::from_text(&TOML.replace("\"distance\"", "\"other\""), Format::Toml).unwrap();
        let error = config.wrap(Line(0.0), &GENERATORS).err().unwrap();
        assert_eq!(error.to_string(), "unknown variable value generator `other` (known: distance)");
        assert!(matches!(ObjectiveConfig::from_file(Path::new("a.yaml")), Err(ConfigError::Format { .. })));
        assert!(matches!(ObjectiveConfig::from_file(Path::new("/none/a.toml")), Err(ConfigError::Read { .. })));
    }
}
