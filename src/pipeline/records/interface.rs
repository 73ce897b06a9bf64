//! The names that a specification must declare, so that the same properties can be checked on several specifications.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::prompt::FixedNames;
use crate::tla::{Diagnostic, Module, Stage};

/// Constants and variables that the specification must declare.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Interface {
    #[serde(default)]
    pub constants: Vec<Name>,
    #[serde(default)]
    pub variables: Vec<Name>,
    /// Labels of the algorithm, or actions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<Name>,
}

/// A name, with or without a description.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Name {
    Bare(String),
    Described {
        name: String,
        /// What the name means.
        #[serde(default)]
        description: Option<String>,
    },
}

impl Name {
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
    /// The names that the documents fix.
    pub fn fixed_by(names: &FixedNames) -> Self {
        let bare = |names: &[String]| names.iter().cloned().map(Name::Bare).collect();
        let FixedNames { constants, variables, labels, .. } = names;
        Self { constants: bare(constants), variables: bare(variables), labels: bare(labels) }
    }

    pub fn is_empty(&self) -> bool {
        self.constants.is_empty() && self.variables.is_empty() && self.labels.is_empty()
    }

    /// The interface in words, for prompts; `None` if it is empty.
    pub fn words(&self) -> Option<String> {
        let list = |names: &[Name]| names.iter().map(Name::words).collect::<Vec<_>>().join(", ");
        let part = |what: &str, names: &[Name]| (!names.is_empty()).then(|| format!("{what} {}", list(names)));
        let parts =
            [part("constants", &self.constants), part("variables", &self.variables), part("labels", &self.labels)];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        (!parts.is_empty()).then(|| parts.join("; "))
    }

    /// The names that a translated module does not declare as the interface says.
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
        let is_step = |name: &str| {
            let mut labels = module.algorithm.iter().flat_map(|algorithm| &algorithm.labels);
            labels.any(|label| label.name == name) || module.definition(name).is_some()
        };
        let labels = self.labels.iter().map(Name::name).filter(|name| !is_step(name));
        let names = constants.map(|n| ask("CONSTANT", n)).chain(variables.map(|n| ask("VARIABLE", n)));
        names.chain(labels.map(|n| ask("a label or action", n))).collect()
    }
}
