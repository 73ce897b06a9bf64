//! The core: a closed specification in a small part of TLA+, which the embedded checker runs. `elaborate` makes it from
//! modules and a configuration. The book describes its grammar and its meaning (`docs/src/core.md`).
//!
//! Every name has one meaning. Only variables have primes: an expression in the next state is written out, and a
//! definition that is used in both states has two versions. Substitutions of instances and of the configuration are
//! applied. Operators with operators as parameters do not occur.

use std::collections::HashSet;

use super::graph::Place;

/// A specification with its configuration applied.
#[derive(Debug, Clone, Default)]
pub struct Core {
    /// The values that the configuration assigns.
    pub constants: Vec<(String, Constant)>,
    /// In the order of their declarations.
    pub variables: Vec<String>,
    pub definitions: Vec<CoreDefinition>,
    /// The initial predicate and the next-state relation; none if the configuration gives no behaviour.
    pub behaviour: Option<(CoreExpr, CoreExpr)>,
    /// The fairness conjuncts of the specification.
    pub fairness: Vec<CoreExpr>,
    /// Names of definitions.
    pub invariants: Vec<String>,
    /// Names of definitions.
    pub constraints: Vec<String>,
    /// Names and formulas.
    pub properties: Vec<(String, CoreExpr)>,
    pub symmetry: Option<CoreExpr>,
    pub view: Option<CoreExpr>,
    pub assumptions: Vec<Assumption>,
    /// Strings, model values and names in the order in which TLC first reads them. It decides how TLC orders values.
    pub interned: Vec<String>,
    /// The names of the modules, by the number in a [`Place`].
    pub files: Vec<String>,
    /// The modules, as far as they decide the order in which TLC keeps the variables.
    pub outlines: Vec<ModuleOutline>,
}

/// A formula after `ASSUME`.
#[derive(Debug, Clone)]
pub struct Assumption {
    pub formula: CoreExpr,
    /// Its position in TLC's words: `line 4, col 8 to line 4, col 12 of module M`.
    pub position: String,
}

/// What a module extends and declares, in the order of the text.
#[derive(Debug, Clone)]
pub struct ModuleOutline {
    pub name: String,
    pub extends: Vec<String>,
    pub symbols: Vec<OutlineSymbol>,
}

#[derive(Debug, Clone)]
pub enum OutlineSymbol {
    Name {
        name: String,
        is_local: bool,
        is_variable: bool,
    },
    /// `name == INSTANCE module`; the name is empty for `INSTANCE module`.
    Instance {
        name: String,
        module: String,
        is_local: bool,
    },
}

/// A value that a configuration can hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Constant {
    Number(i64),
    Text(String),
    Boolean(bool),
    ModelValue(String),
    Set(Vec<Constant>),
}

/// A definition of the specification or of a LET.
#[derive(Debug, Clone)]
pub struct CoreDefinition {
    pub name: String,
    pub parameters: Vec<String>,
    pub body: CoreBody,
}

#[derive(Debug, Clone)]
pub enum CoreBody {
    Expression(CoreExpr),
    /// `f[x \in S] == e`, where `e` may apply `f`.
    Function(Vec<CoreBound>, CoreExpr),
}

/// An expression with its place in the user's modules.
#[derive(Debug, Clone)]
pub struct CoreExpr {
    pub form: CoreForm,
    pub place: Place,
}

/// Names that take the values of a set.
#[derive(Debug, Clone)]
pub struct CoreBound {
    pub names: Vec<String>,
    /// Whether the names are the elements of a tuple; else each takes all values of the set.
    pub is_tuple: bool,
    /// `None` for a quantifier or a CHOOSE without a set, which cannot be evaluated.
    pub set: Option<CoreExpr>,
}

/// `![i].f = e` of EXCEPT.
#[derive(Debug, Clone)]
pub struct CoreUpdate {
    pub path: Vec<CoreStep>,
    /// The name of the old value in `value`.
    pub at: String,
    pub value: CoreExpr,
}

#[derive(Debug, Clone)]
pub enum CoreStep {
    Field(String),
    Index(CoreExpr),
}

#[derive(Debug, Clone)]
pub enum CoreForm {
    Boolean(bool),
    Number(i64),
    Text(String),
    /// A constant with a value of the configuration.
    Constant(String),
    Variable(String),
    /// A variable with a prime.
    NextVariable(String),
    /// A bound variable, or a parameter of a definition.
    Bound(String),
    /// A definition, applied to its arguments.
    Call(String, Vec<CoreExpr>),
    /// An operator of TLA+ or of a standard module.
    Primitive(Primitive, Vec<CoreExpr>),
    And(Vec<CoreExpr>),
    Or(Vec<CoreExpr>),
    If(Box<(CoreExpr, CoreExpr, CoreExpr)>),
    Case(Vec<(CoreExpr, CoreExpr)>, Option<Box<CoreExpr>>),
    /// A definition sees those before it, and itself.
    Let(Vec<CoreDefinition>, Box<CoreExpr>),
    /// `\A`
    All(Vec<CoreBound>, Box<CoreExpr>),
    /// `\E`
    Some(Vec<CoreBound>, Box<CoreExpr>),
    Choose(Box<CoreBound>, Box<CoreExpr>),
    Set(Vec<CoreExpr>),
    Filter(Box<CoreBound>, Box<CoreExpr>),
    Map(Box<CoreExpr>, Vec<CoreBound>),
    Tuple(Vec<CoreExpr>),
    Product(Vec<CoreExpr>),
    Function(Vec<CoreBound>, Box<CoreExpr>),
    FunctionSet(Box<(CoreExpr, CoreExpr)>),
    /// A function and its argument, which is a tuple if there are several.
    Apply(Box<(CoreExpr, CoreExpr)>),
    Record(Vec<(String, CoreExpr)>),
    RecordSet(Vec<(String, CoreExpr)>),
    Field(Box<CoreExpr>, String),
    Except(Box<CoreExpr>, Vec<CoreUpdate>),
    /// `SelectSeq`: the sequence, the name of an element, the test.
    SelectSequence(Box<CoreExpr>, String, Box<CoreExpr>),
    /// UNCHANGED of these variables.
    Unchanged(Vec<String>),
    Enabled(Box<CoreExpr>),
    Always(Box<CoreExpr>),
    Eventually(Box<CoreExpr>),
    LeadsTo(Box<(CoreExpr, CoreExpr)>),
    /// `[][A]_v`: the action, then the subscript.
    AlwaysStep(Box<(CoreExpr, CoreExpr)>),
    /// `<<A>>_v` in a temporal formula: the action, then the subscript.
    Angle(Box<(CoreExpr, CoreExpr)>),
    /// `WF_v(A)`: the action, then the subscript.
    WeakFairness(Box<(CoreExpr, CoreExpr)>),
    /// `SF_v(A)`: the action, then the subscript.
    StrongFairness(Box<(CoreExpr, CoreExpr)>),
}

/// Operators that the core does not define.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Primitive {
    Not,
    Implies,
    Equivalent,
    Equal,
    Unequal,
    In,
    NotIn,
    SubsetOrEqual,
    Intersection,
    Union,
    Without,
    PowerSet,
    UnionOfAll,
    Domain,
    Booleans,
    Strings,
    Naturals,
    Integers,
    Plus,
    Minus,
    Negative,
    Times,
    Quotient,
    Modulo,
    Power,
    Less,
    Greater,
    LessOrEqual,
    GreaterOrEqual,
    Interval,
    Sequences,
    Length,
    Concatenation,
    Append,
    Head,
    Tail,
    SubSequence,
    IsFiniteSet,
    Cardinality,
    /// `a :> b`
    Single,
    /// `f @@ g`
    Merged,
    Permutations,
    Print,
    PrintTrue,
    Assert,
}

/// The module that defines each primitive operator, empty for TLA+ itself; its name there; the primitive.
pub(super) const PRIMITIVES: &[(&str, &str, Primitive)] = &[
    ("", "~", Primitive::Not),
    ("", "=>", Primitive::Implies),
    ("", "<=>", Primitive::Equivalent),
    ("", "=", Primitive::Equal),
    ("", "/=", Primitive::Unequal),
    ("", "\\in", Primitive::In),
    ("", "\\notin", Primitive::NotIn),
    ("", "\\subseteq", Primitive::SubsetOrEqual),
    ("", "\\cap", Primitive::Intersection),
    ("", "\\cup", Primitive::Union),
    ("", "\\", Primitive::Without),
    ("", "SUBSET", Primitive::PowerSet),
    ("", "UNION", Primitive::UnionOfAll),
    ("", "DOMAIN", Primitive::Domain),
    ("", "BOOLEAN", Primitive::Booleans),
    ("", "STRING", Primitive::Strings),
    ("Naturals", "Nat", Primitive::Naturals),
    ("Integers", "Int", Primitive::Integers),
    ("Naturals", "+", Primitive::Plus),
    ("Naturals", "-", Primitive::Minus),
    ("Integers", "-.", Primitive::Negative),
    ("Naturals", "*", Primitive::Times),
    ("Naturals", "\\div", Primitive::Quotient),
    ("Naturals", "%", Primitive::Modulo),
    ("Naturals", "^", Primitive::Power),
    ("Naturals", "<", Primitive::Less),
    ("Naturals", ">", Primitive::Greater),
    ("Naturals", "\\leq", Primitive::LessOrEqual),
    ("Naturals", "\\geq", Primitive::GreaterOrEqual),
    ("Naturals", "..", Primitive::Interval),
    ("Sequences", "Seq", Primitive::Sequences),
    ("Sequences", "Len", Primitive::Length),
    ("Sequences", "\\o", Primitive::Concatenation),
    ("Sequences", "Append", Primitive::Append),
    ("Sequences", "Head", Primitive::Head),
    ("Sequences", "Tail", Primitive::Tail),
    ("Sequences", "SubSeq", Primitive::SubSequence),
    ("FiniteSets", "IsFiniteSet", Primitive::IsFiniteSet),
    ("FiniteSets", "Cardinality", Primitive::Cardinality),
    ("TLC", ":>", Primitive::Single),
    ("TLC", "@@", Primitive::Merged),
    ("TLC", "Permutations", Primitive::Permutations),
    ("TLC", "Print", Primitive::Print),
    ("TLC", "PrintT", Primitive::PrintTrue),
    ("TLC", "Assert", Primitive::Assert),
];

impl CoreExpr {
    pub(super) fn new(form: CoreForm, place: Place) -> Self {
        Self { form, place }
    }
}

impl CoreBody {
    /// The expressions of which it consists.
    pub fn parts(&self) -> Vec<&CoreExpr> {
        match self {
            CoreBody::Expression(expression) => vec![expression],
            CoreBody::Function(bounds, value) => sets(bounds).chain([value]).collect(),
        }
    }
}

fn sets(bounds: &[CoreBound]) -> impl Iterator<Item = &CoreExpr> {
    bounds.iter().filter_map(|bound| bound.set.as_ref())
}

impl CoreForm {
    /// Whether this is a temporal operator. ENABLED is none: it is about one state.
    pub fn is_temporal(&self) -> bool {
        matches!(
            self,
            CoreForm::Always(_)
                | CoreForm::Eventually(_)
                | CoreForm::LeadsTo(_)
                | CoreForm::AlwaysStep(_)
                | CoreForm::Angle(_)
                | CoreForm::WeakFairness(_)
                | CoreForm::StrongFairness(_)
        )
    }

    /// The expressions of which it consists.
    pub fn parts(&self) -> Vec<&CoreExpr> {
        match self {
            CoreForm::Boolean(_)
            | CoreForm::Number(_)
            | CoreForm::Text(_)
            | CoreForm::Constant(_)
            | CoreForm::Variable(_)
            | CoreForm::NextVariable(_)
            | CoreForm::Bound(_)
            | CoreForm::Unchanged(_) => Vec::new(),
            CoreForm::Call(_, all)
            | CoreForm::Primitive(_, all)
            | CoreForm::And(all)
            | CoreForm::Or(all)
            | CoreForm::Set(all)
            | CoreForm::Tuple(all)
            | CoreForm::Product(all) => all.iter().collect(),
            CoreForm::If(three) => vec![&three.0, &three.1, &three.2],
            CoreForm::Case(arms, other) => {
                arms.iter().flat_map(|(guard, value)| [guard, value]).chain(other.as_deref()).collect()
            }
            CoreForm::Let(definitions, body) => {
                definitions.iter().flat_map(|definition| definition.body.parts()).chain([&**body]).collect()
            }
            CoreForm::All(bounds, body)
            | CoreForm::Some(bounds, body)
            | CoreForm::Map(body, bounds)
            | CoreForm::Function(bounds, body) => sets(bounds).chain([&**body]).collect(),
            CoreForm::Choose(bound, body) | CoreForm::Filter(bound, body) => {
                bound.set.iter().chain([&**body]).collect()
            }
            CoreForm::FunctionSet(two)
            | CoreForm::Apply(two)
            | CoreForm::LeadsTo(two)
            | CoreForm::AlwaysStep(two)
            | CoreForm::Angle(two)
            | CoreForm::WeakFairness(two)
            | CoreForm::StrongFairness(two) => vec![&two.0, &two.1],
            CoreForm::Record(fields) | CoreForm::RecordSet(fields) => fields.iter().map(|(_, value)| value).collect(),
            CoreForm::Field(one, _) | CoreForm::Enabled(one) | CoreForm::Always(one) | CoreForm::Eventually(one) => {
                vec![one]
            }
            CoreForm::Except(base, updates) => {
                let mut parts = vec![&**base];
                for update in updates {
                    parts.extend(update.path.iter().filter_map(|step| match step {
                        CoreStep::Index(index) => Some(index),
                        CoreStep::Field(_) => None,
                    }));
                    parts.push(&update.value);
                }
                parts
            }
            CoreForm::SelectSequence(sequence, _, test) => vec![sequence, test],
        }
    }
}

impl Core {
    /// Adds all texts and names of fields to [`Core::interned`].
    pub fn intern_all(&mut self) {
        let mut names = Vec::new();
        let mut open: Vec<&CoreExpr> = self.expressions().collect();
        while let Some(expression) = open.pop() {
            match &expression.form {
                CoreForm::Text(name) | CoreForm::Field(_, name) => names.push(name.clone()),
                CoreForm::Record(fields) | CoreForm::RecordSet(fields) => {
                    names.extend(fields.iter().map(|(name, _)| name.clone()));
                }
                CoreForm::Except(_, updates) => {
                    let steps = updates.iter().flat_map(|update| &update.path);
                    names.extend(steps.filter_map(|step| match step {
                        CoreStep::Field(name) => Some(name.clone()),
                        CoreStep::Index(_) => None,
                    }));
                }
                _ => {}
            }
            open.extend(expression.form.parts());
        }
        self.interned.extend(names);
    }

    /// Whether the initial predicate, or a definition that it uses, has ENABLED.
    pub fn has_enabled_in_init(&self) -> bool {
        let mut open: Vec<&CoreExpr> = self.behaviour.iter().map(|(initial, _)| initial).collect();
        let mut seen = HashSet::new();
        while let Some(expression) = open.pop() {
            match &expression.form {
                CoreForm::Enabled(_) => return true,
                CoreForm::Call(name, _) if seen.insert(name) => {
                    let called = self.definitions.iter().filter(|definition| definition.name == *name);
                    open.extend(called.flat_map(|definition| definition.body.parts()));
                }
                _ => {}
            }
            open.extend(expression.form.parts());
        }
        false
    }

    /// All expressions that are no part of another one.
    pub fn expressions(&self) -> impl Iterator<Item = &CoreExpr> {
        let behaviour = self.behaviour.iter().flat_map(|(initial, next)| [initial, next]);
        self.definitions
            .iter()
            .flat_map(|definition| definition.body.parts())
            .chain(behaviour)
            .chain(&self.fairness)
            .chain(self.properties.iter().map(|(_, formula)| formula))
            .chain(&self.symmetry)
            .chain(&self.view)
            .chain(self.assumptions.iter().map(|assumption| &assumption.formula))
    }
}
