//! The mutation operators.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// What kind of flaw a mutant has. Where two operators make the same text, the first of them keeps it.
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
    /// All of them, in their order.
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

    /// As in the names of mutants: `drop guard`.
    pub fn words(self) -> &'static str {
        self.row().0
    }

    /// As on the command line: `drop-guard`.
    pub fn id(self) -> &'static str {
        self.row().1
    }

    /// What it does, in one line.
    pub fn describe(self) -> &'static str {
        self.row().2
    }

    /// The operator with this id.
    pub fn from_id(id: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|operator| operator.id() == id)
    }

    fn row(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::DropGuard => {
                ("drop guard", "drop-guard", "an `await`, a condition, or one conjunct of it, is not checked any more")
            }
            Self::NegateGuard => (
                "negate guard",
                "negate-guard",
                "an `await`, a condition, or one conjunct of it, asks for the opposite",
            ),
            Self::DropStatement => {
                ("drop statement", "drop-statement", "an assignment, call or goto of the algorithm becomes `skip`")
            }
            Self::DropUpdate => ("drop update", "drop-update", "an action leaves a variable as it is: `x' = x`"),
            Self::SwapStatements => (
                "swap statements",
                "swap-statements",
                "two neighbouring statements change places, in one step or across a label",
            ),
            Self::MergeLabels => ("merge labels", "merge-labels", "a label goes: two steps become one"),
            Self::SplitLabel => {
                ("split label", "split-label", "a label comes in the middle of a step: others can step in between")
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
                ("relational", "relational", "a comparison moves its boundary, or turns round: `<` to `<=`, `<` to `>`")
            }
            Self::Arithmetic => ("arithmetic", "arithmetic", "`+` and `-` trade places; `*` to `+`, `\\div` to `*`"),
            Self::SetOperator => (
                "set operator",
                "set-operator",
                "`\\cup`, `\\cap` and `\\` trade places; `\\in` to `\\notin`; the sides of `\\subseteq` change",
            ),
            Self::Quantifier => ("quantifier", "quantifier", "`\\A` and `\\E` trade places"),
            Self::Logical => ("logical", "logical", "`/\\` and `\\/` trade places; `=>` to `/\\`; a `~` goes"),
            Self::Constant => ("constant", "constant", "a number is one more or one less; TRUE and FALSE trade places"),
            Self::WeakenFairness => (
                "weaken fairness",
                "weaken-fairness",
                "strong fairness becomes weak: `fair+` to `fair`, SF to WF, a label's `+` goes",
            ),
            Self::DropFairness => ("drop fairness", "drop-fairness", "`fair`, WF or SF goes"),
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
