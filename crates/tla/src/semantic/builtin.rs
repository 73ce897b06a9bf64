//! The built-in operators, and the forms of expressions as operators, with their levels.
//!
//! Source: "Specifying Systems", section 17.2. An operator has a maximum level for each operand, and either includes
//! the operand's level in its own or does not (`'`, `[]`, `ENABLED`). In the latter case an equal expression may not
//! replace the operand.

use super::graph::{Level, Symbol, SymbolKind};
use super::graph::{Place, SymbolId};

#[derive(Debug)]
pub(super) struct BuiltIn {
    pub(super) name: &'static str,
    /// None if any number of operands is allowed.
    pub(super) arity: Option<usize>,
    pub(super) level: Level,
    /// The maximum level of each operand; with any number of operands, the one for all.
    pub(super) highest: &'static [Level],
    /// Whether the operands' levels are part of the operator's level.
    pub(super) counts: bool,
}

const fn named(name: &'static str, level: Level, highest: &'static [Level], counts: bool) -> BuiltIn {
    BuiltIn { name, arity: Some(highest.len()), level, highest, counts }
}

const fn form(name: &'static str, highest: &'static [Level]) -> BuiltIn {
    BuiltIn { name, arity: None, level: 0, highest, counts: true }
}

/// Indexed by row number; [`BuiltInForm`] names the rows of forms.
pub(super) const BUILT_INS: &[BuiltIn] = &[
    form("a tuple", &[2]),
    form("a set", &[2]),
    form("a product", &[2]),
    form("a conjunction", &[3]),
    form("a disjunction", &[3]),
    form("IF", &[3]),
    form("CASE", &[3]),
    form("an arm of CASE", &[3]),
    form("a record", &[3]),
    form("a set of records", &[2]),
    form("a field", &[3]),
    form("the selection of a field", &[2]),
    form("EXCEPT", &[2]),
    form("an update of EXCEPT", &[2]),
    form("a function", &[3]),
    form("a function's definition", &[3]),
    form("a set of functions", &[2]),
    form("the application of a function", &[2]),
    form("a filtered set", &[2]),
    form("a mapped set", &[2]),
    form("CHOOSE", &[2]),
    form("\\A", &[3]),
    form("\\E", &[3]),
    BuiltIn { name: "\\AA", arity: None, level: 3, highest: &[3], counts: false },
    BuiltIn { name: "\\EE", arity: None, level: 3, highest: &[3], counts: false },
    named("[A]_v", 2, &[2, 1], false),
    named("<<A>>_v", 2, &[2, 1], false),
    named("WF_v(A)", 3, &[2, 1], false),
    named("SF_v(A)", 3, &[2, 1], false),
    form("a proof step", &[3]),
    named("TRUE", 0, &[], true),
    named("FALSE", 0, &[], true),
    named("BOOLEAN", 0, &[], true),
    named("STRING", 0, &[], true),
    named("=", 0, &[2, 2], true),
    named("/=", 0, &[2, 2], true),
    named("'", 2, &[1], false),
    named("~", 0, &[3], true),
    named("/\\", 0, &[3, 3], true),
    named("\\/", 0, &[3, 3], true),
    named("<=>", 0, &[3, 3], true),
    named("=>", 0, &[3, 3], true),
    named("SUBSET", 0, &[2], true),
    named("UNION", 0, &[2], true),
    named("DOMAIN", 0, &[2], true),
    named("\\subseteq", 0, &[2, 2], true),
    named("\\in", 0, &[2, 2], true),
    named("\\notin", 0, &[2, 2], true),
    named("\\", 0, &[2, 2], true),
    named("\\cap", 0, &[2, 2], true),
    named("\\cup", 0, &[2, 2], true),
    named("\\times", 0, &[2, 2], true),
    named("~>", 3, &[3, 3], false),
    named("[]", 3, &[3], false),
    named("<>", 3, &[3], false),
    named("ENABLED", 1, &[2], false),
    named("UNCHANGED", 2, &[1], false),
    named("\\cdot", 2, &[2, 2], false),
    named("-+->", 3, &[3, 3], false),
];

/// The rows of [`BUILT_INS`] for forms of expressions, with the same numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub(super) enum BuiltInForm {
    Tuple,
    Set,
    Product,
    Conjunction,
    Disjunction,
    If,
    Case,
    CaseArm,
    Record,
    RecordSet,
    FieldValue,
    Selection,
    Except,
    Update,
    Function,
    FunctionDefinition,
    FunctionSet,
    Application,
    Filter,
    Map,
    Choose,
    All,
    Some,
    TemporalAll,
    TemporalSome,
    BoxAction,
    AngleAction,
    WeakFairness,
    StrongFairness,
    ProofStep,
}

impl BuiltInForm {
    /// The form of a row; `None` for an operator with a name.
    pub(super) fn of_row(row: usize) -> Option<Self> {
        use BuiltInForm as F;
        const ALL: [BuiltInForm; 30] = [
            F::Tuple,
            F::Set,
            F::Product,
            F::Conjunction,
            F::Disjunction,
            F::If,
            F::Case,
            F::CaseArm,
            F::Record,
            F::RecordSet,
            F::FieldValue,
            F::Selection,
            F::Except,
            F::Update,
            F::Function,
            F::FunctionDefinition,
            F::FunctionSet,
            F::Application,
            F::Filter,
            F::Map,
            F::Choose,
            F::All,
            F::Some,
            F::TemporalAll,
            F::TemporalSome,
            F::BoxAction,
            F::AngleAction,
            F::WeakFairness,
            F::StrongFairness,
            F::ProofStep,
        ];
        ALL.get(row).copied()
    }

    /// The built-in symbols come first in a graph, so their ids are the row numbers.
    pub(super) fn symbol(self) -> SymbolId {
        self as SymbolId
    }
}

pub(super) fn symbols() -> impl Iterator<Item = Symbol> {
    BUILT_INS.iter().enumerate().map(|(row, built_in)| Symbol {
        name: built_in.name.into(),
        kind: SymbolKind::BuiltIn(row),
        arity: built_in.arity.unwrap_or(0),
        place: Place { file: u32::MAX, offset: 0 },
        local: false,
        home: 0,
        origin: None,
        parameters: Vec::new(),
        body: None,
        recursive: None,
        section: None,
        function: None,
        labels: [].into(),
    })
}

/// Whether this is the operator `'`.
pub(super) fn is_prime(symbol: SymbolId) -> bool {
    BUILT_INS.get(symbol as usize).is_some_and(|row| row.name == "'")
}

/// Whether a module can use the row by name.
pub(super) fn has_a_name(row: usize) -> bool {
    row > BuiltInForm::ProofStep as usize
}

/// Whether this is the name of a built-in operator.
pub(super) fn is_named(name: &str) -> bool {
    BUILT_INS.iter().enumerate().any(|(row, built_in)| has_a_name(row) && built_in.name == name)
}
