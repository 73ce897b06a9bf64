//! The syntax tree of a module: units, definitions, expressions, proofs. Offsets are in bytes.

use crate::step_counter;

use super::operator::Operator;

#[derive(Debug, Clone)]
pub(super) struct Name {
    pub(super) text: String,
    pub(super) offset: usize,
}

/// A declared operator (`F(_, _)`, `_+_`) or parameter.
#[derive(Debug, Clone)]
pub(super) struct Declared {
    pub(super) name: Name,
    pub(super) arity: usize,
}

#[derive(Debug)]
pub(super) struct Module {
    pub(super) name: Name,
    pub(super) extends: Vec<Name>,
    pub(super) units: Vec<Unit>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Visibility {
    Local,
    Exported,
}

#[derive(Debug)]
pub(super) struct Definition {
    pub(super) visibility: Visibility,
    pub(super) name: Name,
    pub(super) parameters: Vec<Declared>,
    pub(super) body: Expr,
}

#[derive(Debug)]
pub(super) struct FunctionDefinition {
    pub(super) visibility: Visibility,
    pub(super) name: Name,
    pub(super) bounds: Vec<Bound>,
    pub(super) body: Expr,
}

/// `INSTANCE M WITH a <- b`
#[derive(Debug)]
pub(super) struct Instance {
    pub(super) module: Name,
    pub(super) substitutions: Vec<(Name, Expr)>,
    pub(super) offset: usize,
}

#[derive(Debug)]
pub(super) struct NamedInstance {
    pub(super) visibility: Visibility,
    pub(super) name: Name,
    pub(super) parameters: Vec<Declared>,
    pub(super) instance: Instance,
}

#[derive(Debug)]
pub(super) enum Unit {
    Variables(Vec<Name>, usize),
    Constants(Vec<Declared>, usize),
    Recursive(Vec<Declared>),
    Operator(Definition),
    Function(FunctionDefinition),
    Instance(Instance, Visibility),
    NamedInstance(NamedInstance),
    Assumption(Option<Name>, Expr, usize),
    Theorem(Theorem),
    Module(Module),
    Use(Facts),
}

#[derive(Debug)]
pub(super) struct Theorem {
    pub(super) name: Option<Name>,
    pub(super) statement: Statement,
    pub(super) proof: Option<Proof>,
    pub(super) offset: usize,
}

#[derive(Debug)]
pub(super) enum Statement {
    Formula(Expr),
    Sequent(Sequent),
}

/// `ASSUME … PROVE …`
#[derive(Debug)]
pub(super) struct Sequent {
    pub(super) assumptions: Vec<Assumed>,
    pub(super) goal: Expr,
}

#[derive(Debug)]
pub(super) enum Assumed {
    Sequent(Sequent),
    New { declared: Declared, level: NewKind, set: Option<Expr> },
    Formula(Expr),
}

/// The level of a `NEW` symbol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NewKind {
    Constant,
    Variable,
    State,
    Action,
    Temporal,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Purpose {
    #[default]
    Use,
    Hide,
}

/// The facts that `BY`, `USE` and `HIDE` list.
#[derive(Debug, Default)]
pub(super) struct Facts {
    pub(super) purpose: Purpose,
    pub(super) formulas: Vec<Expr>,
    pub(super) modules: Vec<Name>,
    pub(super) definitions: Vec<Expr>,
    pub(super) offset: usize,
}

#[derive(Debug)]
pub(super) enum Proof {
    /// `OBVIOUS`, `OMITTED`
    Empty,
    By(Facts),
    Steps(Vec<Step>),
}

#[derive(Debug)]
pub(super) struct Step {
    /// `<1>a`, if the step has a name.
    pub(super) name: Option<Name>,
    pub(super) body: StepBody,
    pub(super) proof: Option<Proof>,
}

#[derive(Debug)]
pub(super) enum StepBody {
    Use(Facts),
    Instance(Instance),
    Define(Vec<Unit>),
    Have(Expr),
    TakeBounded(Vec<Bound>),
    Take(Vec<Name>),
    Witness(Vec<Expr>),
    PickBounded(Vec<Bound>, Expr),
    Pick(Vec<Name>, Expr),
    Case(Expr),
    Assert(Statement),
    Suffices(Statement),
    Qed,
}

/// `x, y \in S` or `<<x, y>> \in S`
#[derive(Debug)]
pub(super) struct Bound {
    pub(super) names: Vec<Name>,
    /// Whether the names are the elements of a tuple.
    pub(super) is_tuple: bool,
    pub(super) set: Expr,
}

/// Maximum nesting of expressions, far above what a person writes: the analyses recurse over them.
pub(super) const MAX_DEPTH: u16 = 256;

#[derive(Debug)]
pub(super) struct Expr {
    pub(super) form: Form,
    pub(super) offset: usize,
    /// Where the last token ends.
    pub(super) end: usize,
    /// Nesting depth, including this expression.
    pub(super) depth: u16,
}

/// One part of `I(x)!Op(y)`, or a selector of a part of an expression.
#[derive(Debug)]
pub(super) struct Segment {
    pub(super) name: Name,
    pub(super) kind: SegmentKind,
    pub(super) arguments: Option<Vec<Expr>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SegmentKind {
    Name,
    /// `!1`, `!<<`, `!:`, `!@`, `!(x)`
    Selector,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Quantifier {
    All,
    Some,
    TemporalAll,
    TemporalSome,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Subscripted {
    /// `[A]_v`
    Square,
    /// `<<A>>_v`
    Angle,
    /// `WF_v(A)`
    Weak,
    /// `SF_v(A)`
    Strong,
}

#[derive(Debug)]
pub(super) enum Component {
    Field(String),
    Index(Vec<Expr>),
}

#[derive(Debug)]
pub(super) struct Update {
    pub(super) path: Vec<Component>,
    pub(super) value: Expr,
}

#[derive(Debug)]
pub(super) enum Form {
    Literal,
    Path(Vec<Segment>),
    /// A prefix, infix or postfix operator.
    Apply(&'static Operator, Vec<Expr>),
    Product(Vec<Expr>),
    List(Vec<Expr>, &'static Operator),
    Parenthesis(Box<Expr>),
    Tuple(Vec<Expr>),
    Set(Vec<Expr>),
    Filter(Box<Bound>, Box<Expr>),
    Map(Box<Expr>, Vec<Bound>),
    Function(Vec<Bound>, Box<Expr>),
    FunctionSet(Box<(Expr, Expr)>),
    Record(Vec<(Name, Expr)>),
    RecordSet(Vec<(Name, Expr)>),
    Except(Box<Expr>, Vec<Update>),
    Application(Box<Expr>, Vec<Expr>),
    Field(Box<Expr>, Name),
    /// The action, then its subscript.
    Action(Subscripted, Box<(Expr, Expr)>),
    Bounded(Quantifier, Vec<Bound>, Box<Expr>),
    Unbounded(Quantifier, Vec<Name>, Box<Expr>),
    /// The names, whether they are the elements of a tuple, the set, the predicate.
    Choose(Vec<Name>, bool, Option<Box<Expr>>, Box<Expr>),
    If(Box<(Expr, Expr, Expr)>),
    Case(Vec<(Expr, Expr)>, Option<Box<Expr>>),
    Let(Vec<Unit>, Box<Expr>),
    Label(Name, Vec<Name>, Box<Expr>),
    /// `+` as an argument.
    Operator(&'static Operator),
    Lambda(Vec<Name>, Box<Expr>),
    /// `[a, b]` without a function before it.
    Arguments(Vec<Expr>),
}

impl Expr {
    pub(super) fn new(form: Form, offset: usize) -> Self {
        let depth = depth_below(&form).saturating_add(1);
        Self { form, offset, end: offset, depth }
    }

    pub(super) fn ending(self, end: usize) -> Self {
        Self { end, ..self }
    }

    /// Where the first token begins; `offset` is where an error is reported.
    pub(super) fn start(&self) -> usize {
        match &self.form {
            Form::Apply(operator, operands) if !operator.is_prefix() => {
                operands.first().map_or(self.offset, |first| first.start().min(self.offset))
            }
            Form::Product(factors) => factors.first().map_or(self.offset, |first| first.start().min(self.offset)),
            Form::Application(inner, _) | Form::Field(inner, _) => inner.start(),
            _ => self.offset,
        }
    }
}

fn deepest<'a>(expressions: impl IntoIterator<Item = &'a Expr>) -> u16 {
    expressions
        .into_iter()
        .inspect(|_| step_counter::count_step())
        .map(|expression| expression.depth)
        .max()
        .unwrap_or(0)
}

fn deepest_bound(bounds: &[Bound]) -> u16 {
    deepest(bounds.iter().map(|bound| &bound.set))
}

fn depth_below(form: &Form) -> u16 {
    match form {
        Form::Literal | Form::Operator(_) => 0,
        Form::Path(segments) => {
            segments.iter().filter_map(|segment| segment.arguments.as_ref()).map(deepest).max().unwrap_or(0)
        }
        Form::Apply(_, all)
        | Form::Product(all)
        | Form::List(all, _)
        | Form::Tuple(all)
        | Form::Set(all)
        | Form::Arguments(all) => deepest(all),
        Form::Parenthesis(one)
        | Form::Field(one, _)
        | Form::Unbounded(_, _, one)
        | Form::Label(_, _, one)
        | Form::Lambda(_, one) => one.depth,
        Form::Filter(bound, body) => bound.set.depth.max(body.depth),
        Form::Map(body, bounds) | Form::Function(bounds, body) | Form::Bounded(_, bounds, body) => {
            deepest_bound(bounds).max(body.depth)
        }
        Form::FunctionSet(two) | Form::Action(_, two) => two.0.depth.max(two.1.depth),
        Form::Record(fields) | Form::RecordSet(fields) => deepest(fields.iter().map(|(_, value)| value)),
        Form::Except(base, updates) => updates.iter().fold(base.depth, |depth, update| {
            let index = update.path.iter().map(|component| match component {
                Component::Field(_) => 0,
                Component::Index(all) => deepest(all),
            });
            depth.max(update.value.depth).max(index.max().unwrap_or(0))
        }),
        Form::Application(function, arguments) => function.depth.max(deepest(arguments)),
        Form::Choose(_, _, set, body) => set.as_ref().map_or(0, |set| set.depth).max(body.depth),
        Form::If(three) => three.0.depth.max(three.1.depth).max(three.2.depth),
        Form::Case(arms, other) => {
            let arms = arms.iter().map(|(guard, value)| guard.depth.max(value.depth)).max().unwrap_or(0);
            arms.max(other.as_ref().map_or(0, |other| other.depth))
        }
        Form::Let(units, body) => units.iter().map(depth_of_unit).max().unwrap_or(0).max(body.depth),
    }
}

fn depth_of_unit(unit: &Unit) -> u16 {
    match unit {
        Unit::Operator(definition) => definition.body.depth,
        Unit::Function(definition) => definition.body.depth.max(deepest_bound(&definition.bounds)),
        Unit::NamedInstance(named) => deepest(named.instance.substitutions.iter().map(|(_, value)| value)),
        _ => 0,
    }
}

/// Calls `call` for each direct subexpression.
pub(super) fn for_each_part<'a>(expression: &'a Expr, call: &mut dyn FnMut(&'a Expr)) {
    match &expression.form {
        Form::Literal | Form::Operator(_) => {}
        Form::Path(segments) => {
            segments.iter().filter_map(|segment| segment.arguments.as_ref()).flatten().for_each(call);
        }
        Form::Apply(_, all)
        | Form::Product(all)
        | Form::List(all, _)
        | Form::Tuple(all)
        | Form::Set(all)
        | Form::Arguments(all) => {
            all.iter().for_each(call);
        }
        Form::Parenthesis(one)
        | Form::Field(one, _)
        | Form::Unbounded(_, _, one)
        | Form::Label(_, _, one)
        | Form::Lambda(_, one) => {
            call(one);
        }
        Form::Filter(bound, body) => {
            call(&bound.set);
            call(body);
        }
        Form::Map(body, bounds) | Form::Function(bounds, body) | Form::Bounded(_, bounds, body) => {
            for bound in bounds {
                call(&bound.set);
            }
            call(body);
        }
        Form::FunctionSet(two) | Form::Action(_, two) => {
            call(&two.0);
            call(&two.1);
        }
        Form::Record(fields) | Form::RecordSet(fields) => fields.iter().for_each(|(_, value)| call(value)),
        Form::Except(base, updates) => {
            call(base);
            for update in updates {
                for component in &update.path {
                    if let Component::Index(all) = component {
                        all.iter().for_each(&mut *call);
                    }
                }
                call(&update.value);
            }
        }
        Form::Application(function, arguments) => {
            call(function);
            arguments.iter().for_each(call);
        }
        Form::Choose(_, _, set, body) => {
            if let Some(set) = set {
                call(set);
            }
            call(body);
        }
        Form::If(three) => {
            call(&three.0);
            call(&three.1);
            call(&three.2);
        }
        Form::Case(arms, other) => {
            for (guard, value) in arms {
                call(guard);
                call(value);
            }
            if let Some(other) = other {
                call(other);
            }
        }
        Form::Let(_, body) => call(body),
    }
}
