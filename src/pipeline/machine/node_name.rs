//! The seven nodes of the pipeline.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A node of the pipeline, in its order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NodeName {
    /// Documents to a structured informal specification with numbered requirements.
    InformalSpec,
    /// Informal specification to a module with a PlusCal algorithm.
    Formalize,
    /// PlusCal translator and SANY.
    Validate,
    /// `TypeOK`, invariants, temporal properties, witnesses and the configuration.
    GenerateInvariants,
    /// Contracts of the steps, by an author who has not seen the algorithm.
    StepContracts,
    /// The model checker.
    ModelCheck,
    /// Semantic review.
    Review,
}

impl NodeName {
    pub const ALL: [NodeName; 7] = [
        NodeName::InformalSpec,
        NodeName::Formalize,
        NodeName::Validate,
        NodeName::GenerateInvariants,
        NodeName::StepContracts,
        NodeName::ModelCheck,
        NodeName::Review,
    ];

    /// The name in the journal, in folders and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            NodeName::InformalSpec => "informal_spec",
            NodeName::Formalize => "formalize",
            NodeName::Validate => "validate",
            NodeName::GenerateInvariants => "generate_invariants",
            NodeName::StepContracts => "step_contracts",
            NodeName::ModelCheck => "model_check",
            NodeName::Review => "review",
        }
    }

    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|s| s.name() == name)
    }
}

impl fmt::Display for NodeName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
