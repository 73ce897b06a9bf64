//! Writes the core as syntax trees of the checker.
//! Source: `ast.rs` and `compile.rs` of tla-mc 0.2.2.

use std::rc::Rc;

use tla_mc::ast::{Ast, Bound, Def, PathEl};
use tla_mc::parser::UNBOUNDED;
use tlaforge_tla::semantic::{
    Constant, Core, CoreBody, CoreBound, CoreDefinition, CoreExpr, CoreForm, CoreStep, CoreUpdate, Primitive,
};

use super::core_syntax::{binary, define, define_operator, definition_name, name};

/// If all numbers are smaller than this, a sum of a few stays within 32 bits, so `+` and `-` need no guard.
const LARGE_NUMBER: i64 = 1 << 20;

fn has_large_numbers(core: &Core) -> bool {
    let mut open: Vec<&CoreExpr> = core.expressions().collect();
    while let Some(next) = open.pop() {
        if matches!(next.form, CoreForm::Number(value) if value >= LARGE_NUMBER) {
            return true;
        }
        open.extend(next.form.parts());
    }
    core.constants.iter().any(|(_, value)| is_large(value))
}

fn is_large(value: &Constant) -> bool {
    match value {
        Constant::Number(number) => number.abs() >= LARGE_NUMBER,
        Constant::Set(elements) => elements.iter().any(is_large),
        _ => false,
    }
}

/// Writes the core as syntax trees of the checker.
pub(super) struct Writer {
    is_large: bool,
    /// The names of the old values in the updates around.
    olds: Vec<String>,
}

impl Writer {
    pub(super) fn new(core: &Core) -> Self {
        Self { is_large: has_large_numbers(core), olds: Vec::new() }
    }

    fn all(&mut self, expressions: &[CoreExpr]) -> Vec<Ast> {
        expressions.iter().map(|expression| self.expression(expression)).collect()
    }

    fn boxed(&mut self, expression: &CoreExpr) -> Box<Ast> {
        Box::new(self.expression(expression))
    }

    pub(super) fn bounds(&mut self, bounds: &[CoreBound]) -> Vec<Bound> {
        let mut written = Vec::new();
        for bound in bounds {
            let set = bound.set.as_ref().map_or_else(|| name(UNBOUNDED), |set| self.expression(set));
            if bound.is_tuple {
                written.push(Bound { names: bound.names.clone(), tuple: true, set });
            } else {
                let each = |name: &String| Bound { names: vec![name.clone()], tuple: false, set: set.clone() };
                written.extend(bound.names.iter().map(each));
            }
        }
        written
    }

    fn bound(&mut self, bound: &CoreBound) -> Bound {
        let set = bound.set.as_ref().map_or_else(|| name(UNBOUNDED), |set| self.expression(set));
        Bound { names: bound.names.clone(), tuple: bound.is_tuple, set }
    }

    pub(super) fn definition(&mut self, definition: &CoreDefinition) -> Vec<Rc<Def>> {
        let name = definition_name(&definition.name);
        match &definition.body {
            CoreBody::Expression(body) => {
                vec![define_operator(&name, &definition.parameters, self.expression(body))]
            }
            CoreBody::Function(bounds, value) => self.function(&name, bounds, value),
        }
    }

    /// A function, and the operator that computes its value for one argument: the checker applies `f!app` for `f[x]`.
    fn function(&mut self, own: &str, bounds: &[CoreBound], value: &CoreExpr) -> Vec<Rc<Def>> {
        let bounds = self.bounds(bounds);
        let apply = format!("{own}!app");
        let argument = |bound: &Bound| {
            let mut names: Vec<Ast> = bound.names.iter().map(|own| name(own)).collect();
            if bound.tuple { Ast::Tuple(names) } else { names.remove(0) }
        };
        let (plain, _) = with_one_name_each(bounds.clone());
        let mut arguments: Vec<Ast> = plain.iter().map(argument).collect();
        let joined = if arguments.len() == 1 { arguments.remove(0) } else { Ast::Tuple(arguments) };
        let whole = Ast::FuncCons(plain, Box::new(Ast::Apply(apply.clone(), vec![joined])));
        let value = with_own_value(&self.expression(value), own, &apply, &whole);
        let parameter = format!("{own}!argument");
        let nth = |tuple: Ast, index: i64| Ast::App(Box::new(tuple), vec![Ast::Num(index)]);
        let (mut parts, mut within) = (Vec::new(), Vec::new());
        for (index, bound) in (1..).zip(&bounds) {
            let part = if bounds.len() == 1 { name(&parameter) } else { nth(name(&parameter), index) };
            within.push(binary("\\in", part.clone(), bound.set.clone()));
            if bound.tuple {
                let elements = (1..).zip(&bound.names);
                parts.extend(elements.map(|(element, own)| define(own, nth(part.clone(), element))));
            } else {
                parts.extend(bound.names.iter().map(|own| define(own, part.clone())));
            }
        }
        // An argument outside of the domain is an error: no arm of the CASE is for it.
        let body = Ast::Case(vec![(Ast::And(within), Ast::Let(parts, Box::new(value)))], None);
        vec![define_operator(&apply, &[parameter], body), define(own, whole)]
    }

    fn update(&mut self, update: &CoreUpdate) -> (Vec<PathEl>, Ast) {
        let step = |step: &CoreStep, writer: &mut Self| match step {
            CoreStep::Field(name) => PathEl::Field(name.clone()),
            CoreStep::Index(index) => PathEl::Idx(vec![writer.expression(index)]),
        };
        let path = update.path.iter().map(|one| step(one, self)).collect();
        // Inside of another update `@` is the old value of that one.
        let is_hidden = is_used_in_update(&update.value, &update.at);
        self.olds.push(if is_hidden { String::new() } else { update.at.clone() });
        let value = self.expression(&update.value);
        self.olds.pop();
        (path, if is_hidden { Ast::Let(vec![define(&update.at, Ast::At)], Box::new(value)) } else { value })
    }

    pub(super) fn expression(&mut self, expression: &CoreExpr) -> Ast {
        match &expression.form {
            CoreForm::Boolean(value) => Ast::Bool(*value),
            CoreForm::Number(value) => Ast::Num(*value),
            CoreForm::Text(text) => Ast::Str(text.clone()),
            CoreForm::Bound(own) if self.olds.last() == Some(own) => Ast::At,
            CoreForm::Constant(own) | CoreForm::Variable(own) | CoreForm::Bound(own) => name(own),
            CoreForm::NextVariable(own) => Ast::Prime(Box::new(name(own))),
            CoreForm::Call(own, arguments) if arguments.is_empty() => name(&definition_name(own)),
            CoreForm::Call(own, arguments) => Ast::Apply(definition_name(own), self.all(arguments)),
            CoreForm::Primitive(primitive, operands) => self.primitive(*primitive, operands),
            CoreForm::And(all) => Ast::And(self.all(all)),
            CoreForm::Or(all) => Ast::Or(self.all(all)),
            CoreForm::If(three) => Ast::If(self.boxed(&three.0), self.boxed(&three.1), self.boxed(&three.2)),
            CoreForm::Case(arms, other) => {
                let written =
                    arms.iter().map(|(guard, value)| (self.expression(guard), self.expression(value))).collect();
                Ast::Case(written, other.as_ref().map(|other| self.boxed(other)))
            }
            CoreForm::Let(definitions, body) => {
                let written = definitions.iter().flat_map(|one| self.definition(one)).collect();
                Ast::Let(written, self.boxed(body))
            }
            CoreForm::All(bounds, body) => Ast::Quant(true, self.bounds(bounds), self.boxed(body)),
            CoreForm::Some(bounds, body) => Ast::Quant(false, self.bounds(bounds), self.boxed(body)),
            CoreForm::Choose(bound, body) => Ast::Choose(Box::new(self.bound(bound)), self.boxed(body)),
            CoreForm::Filter(bound, body) => Ast::SetFilter(Box::new(self.bound(bound)), self.boxed(body)),
            CoreForm::Map(body, bounds) => Ast::SetMap(self.boxed(body), self.bounds(bounds)),
            CoreForm::Function(bounds, body) => {
                let (bounds, parts) = with_one_name_each(self.bounds(bounds));
                let body = self.boxed(body);
                Ast::FuncCons(bounds, if parts.is_empty() { body } else { Box::new(Ast::Let(parts, body)) })
            }
            CoreForm::Set(all) => Ast::SetEnum(self.all(all)),
            CoreForm::Tuple(all) => Ast::Tuple(self.all(all)),
            CoreForm::Product(all) => Ast::Product(self.all(all)),
            CoreForm::FunctionSet(two) => Ast::FuncSet(self.boxed(&two.0), self.boxed(&two.1)),
            CoreForm::Apply(two) => Ast::App(self.boxed(&two.0), vec![self.expression(&two.1)]),
            CoreForm::Record(fields) => Ast::Record(self.fields(fields)),
            CoreForm::RecordSet(fields) => Ast::RecordSet(self.fields(fields)),
            CoreForm::Field(record, own) => Ast::Field(self.boxed(record), own.clone()),
            CoreForm::Except(base, updates) => {
                Ast::Except(self.boxed(base), updates.iter().map(|update| self.update(update)).collect())
            }
            CoreForm::SelectSequence(sequence, element, test) => {
                let test = Ast::Lambda(vec![element.clone()], self.boxed(test));
                Ast::Apply("SelectSeq".to_owned(), vec![self.expression(sequence), test])
            }
            CoreForm::Unchanged(variables) => {
                Ast::Unchanged(Box::new(Ast::Tuple(variables.iter().map(|own| name(own)).collect())))
            }
            CoreForm::Enabled(action) => Ast::Temporal("ENABLED", vec![self.expression(action)]),
            CoreForm::Always(formula) => Ast::Temporal("[]", vec![self.expression(formula)]),
            CoreForm::Eventually(formula) => Ast::Temporal("<>", vec![self.expression(formula)]),
            CoreForm::LeadsTo(two) => Ast::Temporal("~>", vec![self.expression(&two.0), self.expression(&two.1)]),
            CoreForm::AlwaysStep(two) => {
                let step = Ast::BoxAction(self.boxed(&two.0), self.boxed(&two.1));
                Ast::Temporal("[]", vec![step])
            }
            CoreForm::Angle(two) => Ast::Temporal("<<>>_", vec![self.expression(&two.0), self.expression(&two.1)]),
            CoreForm::WeakFairness(two) => Ast::Temporal("WF", vec![self.expression(&two.1), self.expression(&two.0)]),
            CoreForm::StrongFairness(two) => {
                Ast::Temporal("SF", vec![self.expression(&two.1), self.expression(&two.0)])
            }
        }
    }

    fn fields(&mut self, fields: &[(String, CoreExpr)]) -> Vec<(String, Ast)> {
        fields.iter().map(|(name, value)| (name.clone(), self.expression(value))).collect()
    }

    fn primitive(&mut self, primitive: Primitive, operands: &[CoreExpr]) -> Ast {
        use Primitive as P;
        let is_guarded = self.needs_guard(primitive, operands);
        let mut all = self.all(operands);
        let infix = |all: Vec<Ast>, operator: &'static str| match <[Ast; 2]>::try_from(all) {
            Ok([one, other]) if is_guarded => Ast::Apply(format!("{operator}~"), vec![one, other]),
            Ok([one, other]) => binary(operator, one, other),
            Err(all) => Ast::Apply(operator.to_owned(), all),
        };
        let call = |all: Vec<Ast>, own: &str| Ast::Apply(own.to_owned(), all);
        match primitive {
            P::Not => Ast::Not(Box::new(all.remove(0))),
            P::Negative if self.is_large => call(vec![Ast::Neg(Box::new(all.remove(0)))], "within~"),
            P::Negative => Ast::Neg(Box::new(all.remove(0))),
            P::PowerSet => Ast::Prefix("SUBSET", Box::new(all.remove(0))),
            P::UnionOfAll => Ast::Prefix("UNION", Box::new(all.remove(0))),
            P::Domain => Ast::Prefix("DOMAIN", Box::new(all.remove(0))),
            P::Booleans => name("BOOLEAN"),
            P::Strings => name("STRING"),
            P::Naturals => name("Nat"),
            P::Integers => name("Int"),
            P::Implies => infix(all, "=>"),
            P::Equivalent => infix(all, "<=>"),
            P::Equal => infix(all, "="),
            P::Unequal => infix(all, "#"),
            P::In => infix(all, "\\in"),
            P::NotIn => infix(all, "\\notin"),
            P::SubsetOrEqual => infix(all, "\\subseteq"),
            P::Intersection => infix(all, "\\cap"),
            P::Union => infix(all, "\\cup"),
            P::Without => infix(all, "\\"),
            P::Plus => infix(all, "+"),
            P::Minus => infix(all, "-"),
            P::Times => infix(all, "*"),
            P::Quotient => infix(all, "\\div"),
            P::Modulo => infix(all, "%"),
            P::Power => infix(all, "^"),
            P::Less => infix(all, "<"),
            P::Greater => infix(all, ">"),
            P::LessOrEqual => infix(all, "<="),
            P::GreaterOrEqual => infix(all, ">="),
            P::Interval => infix(all, ".."),
            P::Concatenation => infix(all, "\\o"),
            P::Single => infix(all, ":>"),
            P::Merged => infix(all, "@@"),
            P::Sequences => call(all, "Seq"),
            P::Length => call(all, "Len"),
            P::Append => call(all, "Append"),
            P::Head => call(all, "Head"),
            P::Tail => call(all, "Tail"),
            P::SubSequence => call(all, "SubSeq~"),
            P::IsFiniteSet => call(all, "IsFiniteSet~"),
            P::Cardinality => call(all, "Cardinality"),
            P::Permutations => call(all, "Permutations"),
            P::Print => call(all, "Print"),
            P::PrintTrue => call(all, "PrintT"),
            P::Assert => call(all, "Assert"),
        }
    }

    /// Whether TLC may stop here, or compute something else than the checker.
    fn needs_guard(&self, primitive: Primitive, operands: &[CoreExpr]) -> bool {
        let literal = |operand: &CoreExpr| match operand.form {
            CoreForm::Number(value) => Some(value),
            _ => None,
        };
        let two = (operands.first().and_then(literal), operands.get(1).and_then(literal));
        match (primitive, two) {
            // The guard is for negative divisors, and a literal is not negative.
            (Primitive::Quotient, (_, Some(_))) => false,
            (Primitive::Quotient | Primitive::Power, _) => true,
            (Primitive::Plus | Primitive::Minus, _) if !self.is_large => false,
            // The product of two numbers below 2^15 fits.
            (Primitive::Times | Primitive::Plus | Primitive::Minus, (Some(a), Some(b))) => a.max(b) >= 1 << 15,
            (Primitive::Times | Primitive::Plus | Primitive::Minus, _) => true,
            _ => false,
        }
    }
}

/// The bounds of a function with several arguments, of which none is a tuple of names, and definitions of these names: the
/// checker would join the elements of such a tuple with the other arguments.
fn with_one_name_each(bounds: Vec<Bound>) -> (Vec<Bound>, Vec<Rc<Def>>) {
    if bounds.len() == 1 {
        return (bounds, Vec::new());
    }
    let mut parts = Vec::new();
    let mut plain = Vec::new();
    for bound in bounds {
        if !bound.tuple {
            plain.push(bound);
            continue;
        }
        let whole = format!("{}!tuple", bound.names.join(","));
        let nth = |index: i64| Ast::App(Box::new(name(&whole)), vec![Ast::Num(index)]);
        parts.extend((1..).zip(&bound.names).map(|(index, own)| define(own, nth(index))));
        plain.push(Bound { names: vec![whole], tuple: false, set: bound.set });
    }
    (plain, parts)
}

/// Whether a name is used in the new value of an update within an expression.
fn is_used_in_update(expression: &CoreExpr, name: &str) -> bool {
    let inside = match &expression.form {
        CoreForm::Except(_, updates) => updates.iter().any(|update| is_used(&update.value, name)),
        _ => false,
    };
    inside || expression.form.parts().into_iter().any(|part| is_used_in_update(part, name))
}

fn is_used(expression: &CoreExpr, name: &str) -> bool {
    matches!(&expression.form, CoreForm::Bound(own) if own == name)
        || expression.form.parts().into_iter().any(|part| is_used(part, name))
}

/// The value of a function with its own applications written as those of the operator for one argument.
fn with_own_value(value: &Ast, own: &str, apply: &str, whole: &Ast) -> Ast {
    let is_own = |function: &Ast| matches!(function, Ast::Ident(name) if name == own);
    match value {
        Ast::App(function, arguments) if is_own(function) => {
            let mut arguments: Vec<Ast> = arguments.iter().map(|one| with_own_value(one, own, apply, whole)).collect();
            let argument = if arguments.len() == 1 { arguments.remove(0) } else { Ast::Tuple(arguments) };
            Ast::Apply(apply.to_owned(), vec![argument])
        }
        _ if is_own(value) => whole.clone(),
        _ => tla_mc::compile::map_children(value, &mut |part| with_own_value(part, own, apply, whole)),
    }
}
