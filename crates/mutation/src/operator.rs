//! The mutation operators: names, ids and one-line descriptions. `docs/src/mutation-operators.md` lists them.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A mutation operator. If two operators make the same text, the mutant belongs to the first in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Operator {
    DropGuard,
    NegateGuard,
    DropStatement,
    DropUpdate,
    SwapStatements,
    MergeLabels,
    SplitLabel,
    DropBranch,
    NarrowSet,
    WidenSet,
    OffByOne,
    InitialValue,
    StringSwap,
    ExceptIndex,
    WrongVariable,
    Relational,
    Arithmetic,
    SetOperator,
    Quantifier,
    Logical,
    Constant,
    WeakenFairness,
    DropFairness,
}

impl Operator {
    pub const ALL: [Self; 23] = [
        Self::DropGuard,
        Self::NegateGuard,
        Self::DropStatement,
        Self::DropUpdate,
        Self::SwapStatements,
        Self::MergeLabels,
        Self::SplitLabel,
        Self::DropBranch,
        Self::NarrowSet,
        Self::WidenSet,
        Self::OffByOne,
        Self::InitialValue,
        Self::StringSwap,
        Self::ExceptIndex,
        Self::WrongVariable,
        Self::Relational,
        Self::Arithmetic,
        Self::SetOperator,
        Self::Quantifier,
        Self::Logical,
        Self::Constant,
        Self::WeakenFairness,
        Self::DropFairness,
    ];

    /// The form in names of mutants: `drop guard`.
    pub fn words(self) -> &'static str {
        self.row().0
    }

    /// The form on the command line and in JSON: `drop-guard`.
    pub fn id(self) -> &'static str {
        self.row().1
    }

    /// Less than 100 characters, as in the table of `docs/src/mutation-operators.md`.
    pub fn describe(self) -> &'static str {
        self.row().2
    }

    /// The name of a mutant with the operator as the command line takes it: `Withdraw: drop-guard`. Journals and prompts
    /// keep the other form.
    pub fn name_with_id(self, name: &str) -> String {
        name.replacen(&format!(" {}", self.words()), &format!(" {}", self.id()), 1)
    }

    pub fn from_id(id: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|operator| operator.id() == id)
    }

    fn row(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::DropGuard => {
                ("drop guard", "drop-guard", "an `await`, a condition, or one conjunct of it, is no longer checked")
            }
            Self::NegateGuard => {
                ("negate guard", "negate-guard", "an `await`, a condition, or one conjunct of it, is negated")
            }
            Self::DropStatement => {
                ("drop statement", "drop-statement", "an assignment, call or goto of the algorithm becomes `skip`")
            }
            Self::DropUpdate => ("drop update", "drop-update", "an action leaves a variable as it is: `x' = x`"),
            Self::SwapStatements => (
                "swap statements",
                "swap-statements",
                "two neighbouring statements are swapped, in one step or across a label",
            ),
            Self::MergeLabels => ("merge labels", "merge-labels", "a label is removed: two steps become one"),
            Self::SplitLabel => {
                ("split label", "split-label", "a label is added in a step: other processes can interleave there")
            }
            Self::DropBranch => {
                ("drop branch", "drop-branch", "a branch of an `either`, or a disjunct of an action, is never taken")
            }
            Self::NarrowSet => {
                ("narrow set", "narrow-set", "the set that a value is chosen from loses an element or a part")
            }
            Self::WidenSet => {
                ("widen set", "widen-set", "the set that a value is chosen from gains an element, or loses its filter")
            }
            Self::OffByOne => {
                ("off by one", "off-by-one", "`+ 1` is dropped or doubled, a bound of an interval is one off")
            }
            Self::InitialValue => {
                ("initial value", "initial-value", "a variable starts with another string or truth value")
            }
            Self::StringSwap => {
                ("string swap", "string-swap", "a string becomes another one that the same variable has elsewhere")
            }
            Self::ExceptIndex => (
                "except index",
                "except-index",
                "another element of a function is updated, by an index of the same kind",
            ),
            Self::WrongVariable => {
                ("wrong variable", "wrong-variable", "another variable or parameter of the same kind is read")
            }
            Self::Relational => {
                ("relational", "relational", "a comparison moves its boundary, or is reversed: `<` to `<=`, `<` to `>`")
            }
            Self::Arithmetic => ("arithmetic", "arithmetic", "`+` and `-` are swapped; `*` to `+`, `\\div` to `*`"),
            Self::SetOperator => (
                "set operator",
                "set-operator",
                "`\\cup`, `\\cap` and `\\` are swapped; `\\in` to `\\notin`; the sides of `\\subseteq` are swapped",
            ),
            Self::Quantifier => ("quantifier", "quantifier", "`\\A` and `\\E` are swapped"),
            Self::Logical => ("logical", "logical", "`/\\` and `\\/` are swapped; `=>` to `/\\`; a `~` is removed"),
            Self::Constant => ("constant", "constant", "a number is one more or one less; TRUE and FALSE are swapped"),
            Self::WeakenFairness => (
                "weaken fairness",
                "weaken-fairness",
                "strong fairness becomes weak: `fair+` to `fair`, SF to WF, the `+` of a label is removed",
            ),
            Self::DropFairness => ("drop fairness", "drop-fairness", "`fair`, WF or SF is removed"),
        }
    }
}

impl fmt::Display for Operator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id())
    }
}

impl Serialize for Operator {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.id())
    }
}

impl<'de> Deserialize<'de> for Operator {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let id = String::deserialize(deserializer)?;
        Self::from_id(&id).ok_or_else(|| serde::de::Error::custom(format!("no mutation operator `{id}`")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operator_is_found_by_its_id_and_says_what_it_does() {
        for operator in Operator::ALL {
            assert_eq!(Operator::from_id(operator.id()), Some(operator));
            assert_eq!(operator.words().replace(' ', "-"), operator.id());
            assert!(operator.describe().len() < 100, "{}", operator.describe());
            let json = serde_json::to_string(&operator).expect("an id");
            assert_eq!(json, format!("\"{operator}\""));
            assert_eq!(serde_json::from_str::<Operator>(&json).expect("an operator"), operator);
        }
        assert!(Operator::ALL.is_sorted());
        assert!(serde_json::from_str::<Operator>("\"drop\"").is_err());
    }
}
