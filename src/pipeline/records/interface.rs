//! The names that a specification must use, so that what is said about it can be said about others.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::tla::{Diagnostic, Module, Stage};

/// Constants and variables that the specification must declare.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Interface {
    /// CONSTANTS.
    #[serde(default)]
    pub constants: Vec<Name>,
    /// VARIABLES.
    #[serde(default)]
    pub variables: Vec<Name>,
}

/// A name, with what it stands for or without.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Name {
    /// The name alone.
    Bare(String),
    /// With what it stands for.
    Described {
        /// The name.
        name: String,
        /// What it stands for.
        #[serde(default)]
        description: Option<String>,
    },
}

impl Name {
    /// The name.
    pub fn name(&self) -> &str {
        match self {
            Self::Bare(name) | Self::Described { name, .. } => name,
        }
    }

    fn words(&self) -> String {
        match self {
            Self::Described { name, description: Some(description) } => format!("`{name}` ({description})"),
            _ => format!("`{}`", self.name()),
        }
    }
}

impl Interface {
    /// Whether it asks for nothing.
    pub fn is_empty(&self) -> bool {
        self.constants.is_empty() && self.variables.is_empty()
    }

    /// In words, for prompts; `None` where it asks for nothing.
    pub fn words(&self) -> Option<String> {
        let list = |names: &[Name]| names.iter().map(Name::words).collect::<Vec<_>>().join(", ");
        let part = |what: &str, names: &[Name]| (!names.is_empty()).then(|| format!("{what} {}", list(names)));
        let parts: Vec<String> =
            [part("constants", &self.constants), part("variables", &self.variables)].into_iter().flatten().collect();
        (!parts.is_empty()).then(|| parts.join("; "))
    }

    /// What a translated module does not declare of it.
    pub fn missing(&self, module: &Module) -> Vec<Diagnostic> {
        let declared = |name: &str| {
            let constant = module.constants.iter().any(|constant| constant.name == name);
            let variable = module.variables.iter().any(|variable| variable.name == name);
            (constant, variable)
        };
        let ask = |what: &str, name: &str| {
            let instead = match declared(name) {
                (true, _) => "it is declared as a constant",
                (_, true) => "it is declared as a variable",
                _ if module.definition(name).is_some() => "it is defined as an operator",
                _ => "it is not declared",
            };
            let message = format!("the interface asks for {what} {name}; {instead}");
            Diagnostic { stage: Stage::Analysis, line: 0, column: 0, message }
        };
        let constants = self.constants.iter().map(Name::name).filter(|name| !declared(name).0);
        let variables = self.variables.iter().map(Name::name).filter(|name| !declared(name).1);
        constants.map(|n| ask("CONSTANT", n)).chain(variables.map(|n| ask("VARIABLE", n))).collect()
    }
}
