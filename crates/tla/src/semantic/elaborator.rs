//! What elaboration keeps while it reads a specification, and how it refuses one.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use super::core_form::CoreDefinition;
use super::graph::{Level, NodeId, Place, SubstitutionId, SymbolId};
use super::model::Model;

/// TLC has 32-bit integers.
const INTEGER_LIMIT: i64 = 1 << 31;
/// Maximum number of expressions of the core.
const MAX_EXPRESSIONS: usize = 1_000_000;

/// Why a specification has no core. The specification itself may be correct.
pub(super) struct Refusal {
    pub(super) place: Option<Place>,
    pub(super) message: String,
    /// Whether TLC would reject the configuration, too.
    pub(super) is_invalid: bool,
}

impl Refusal {
    pub(super) fn new(message: String) -> Self {
        Self { place: None, message, is_invalid: false }
    }

    pub(super) fn at(place: Place, message: String) -> Self {
        Self { place: (place.file != u32::MAX).then_some(place), ..Self::new(message) }
    }

    /// What has no form in the core.
    pub(super) fn not_evaluated(place: Place, what: &str) -> Self {
        Self::at(place, format!("{what} is not evaluated here"))
    }

    pub(super) fn invalid(message: String) -> Self {
        Self { place: None, message, is_invalid: true }
    }
}

pub(super) type Elaborated<T> = Result<T, Refusal>;

/// How a formula is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    /// It is evaluated.
    Value,
    /// It is an initial predicate: `x = e` chooses a value.
    Initial,
    /// It is an action: `x' = e` chooses a value.
    Action,
    /// It is a temporal formula, in which no LET may occur.
    Temporal,
}

/// The state in which an expression is read, and its use.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reading {
    pub(super) primed: bool,
    pub(super) usage: Use,
}

impl Reading {
    pub(super) const VALUE: Self = Self { primed: false, usage: Use::Value };

    /// The same state, as a value.
    pub(super) fn value(self) -> Self {
        Self { usage: Use::Value, ..self }
    }

    pub(super) fn of(usage: Use) -> Self {
        Self { primed: false, usage }
    }
}

/// The version of a definition of a module.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Version {
    pub(super) symbol: SymbolId,
    pub(super) frame: Option<usize>,
    pub(super) primed: bool,
    pub(super) is_initial: bool,
}

pub(super) struct Elaborator<'m> {
    pub(super) model: &'m Model,
    pub(super) definitions: Vec<CoreDefinition>,
    pub(super) versions: HashMap<Version, Rc<str>>,
    /// The numbers of the instances whose values have no local names, by substitution and the instance around, and
    /// whether their variables have any next values.
    pub(super) frames: HashMap<(SubstitutionId, Option<usize>, bool), usize>,
    /// Whether the expression is below ENABLED in an instance: see [`Elaborator::with_independent_next_values`].
    pub(super) is_below_enabled: bool,
    pub(super) declared: HashMap<SymbolId, Rc<HashSet<SymbolId>>>,
    pub(super) plain: HashMap<SymbolId, bool>,
    /// Whether a definition evaluates a parameter in any case.
    pub(super) strict: HashMap<(SymbolId, usize), bool>,
    /// Whether a definition may have no value.
    pub(super) failing: HashMap<SymbolId, bool>,
    pub(super) levels: HashMap<(SymbolId, Option<usize>), Level>,
    /// The definitions whose level is being computed.
    pub(super) measured: HashSet<NodeId>,
    /// Whether one of them was met again.
    pub(super) is_cut_short: bool,
    pub(super) nesting: usize,
    /// The names of definitions and bound variables, with the number of the last one of this name.
    pub(super) names: HashMap<String, usize>,
    expressions: usize,
}

impl<'m> Elaborator<'m> {
    pub(super) fn new(model: &'m Model) -> Self {
        Self {
            model,
            definitions: Vec::new(),
            versions: HashMap::new(),
            frames: HashMap::new(),
            is_below_enabled: false,
            declared: HashMap::new(),
            plain: HashMap::new(),
            strict: HashMap::new(),
            failing: HashMap::new(),
            levels: HashMap::new(),
            measured: HashSet::new(),
            is_cut_short: false,
            nesting: 0,
            names: HashMap::new(),
            expressions: 0,
        }
    }
    pub(super) fn too_much(&self, node: NodeId) -> Refusal {
        Refusal::at(self.model.graph.place(node), "this is nested too deeply, or expands to too much".to_owned())
    }

    pub(super) fn count_expression(&mut self, node: NodeId) -> Elaborated<()> {
        self.expressions += 1;
        if self.expressions > MAX_EXPRESSIONS { Err(self.too_much(node)) } else { Ok(()) }
    }

    /// The text from a place on.
    pub(super) fn text_at(&self, place: Place) -> &str {
        let module = self.model.modules().get(place.file as usize);
        module.and_then(|module| module.text.get(place.offset as usize..)).unwrap_or("")
    }

    /// A name that no other definition has. A definition that the root module sees keeps its own name.
    pub(super) fn fresh_name(&mut self, name: &str, is_in_root: bool) -> Rc<str> {
        if is_in_root && !self.names.contains_key(name) {
            self.names.insert(name.to_owned(), 1);
            return name.into();
        }
        loop {
            let number = self.names.entry(name.to_owned()).or_insert(1);
            *number += 1;
            let fresh = format!("{name}~{number}");
            if self.names.insert(fresh.clone(), 1).is_none() {
                return fresh.into();
            }
        }
    }

    /// A name for a bound variable, a parameter or a definition of a LET.
    pub(super) fn fresh_local(&mut self, name: &str) -> Rc<str> {
        self.fresh_name(name.rsplit('!').next().unwrap_or(name), false)
    }
}

/// The value of a number in any notation, if TLC has it.
pub(super) fn number(spelling: &str) -> Option<i64> {
    let radix = match spelling.as_bytes() {
        [b'\\', b'b' | b'B', ..] => 2,
        [b'\\', b'o' | b'O', ..] => 8,
        [b'\\', b'h' | b'H', ..] => 16,
        _ => 10,
    };
    let digits = if radix == 10 { spelling } else { spelling.get(2..)? };
    i64::from_str_radix(digits, radix).ok().filter(|value| (-INTEGER_LIMIT..INTEGER_LIMIT).contains(value))
}
