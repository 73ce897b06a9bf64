//! Evaluates the operators that the core does not define, as TLC does.

use tla_mc::eval::{Bi, Bin, binop, boolean_set, builtin_apply};
use tla_mc::value::{Lazy, Value};
use tlaforge_tla::semantic::{CoreExpr, CoreForm, Place, Primitive};

use super::core_arithmetic::{LIMIT_PREFIX, UNDEFINED_PREFIX, largest_base};
use super::core_interpreter::{Env, Evaluated, Here, Interpreter};
use super::strict_values::{NotCompared, check_sets, contains, equal};

impl<'c> Interpreter<'c> {
    /// Whether a value is in a set, which may be infinite if it is written with operators for sets.
    pub(super) fn is_in(
        &self,
        element: &Value,
        set: &'c CoreExpr,
        place: Place,
        env: &Env<'c>,
        here: Here<'_>,
    ) -> Evaluated<bool> {
        match &set.form {
            // TLC may look into either set first, so both must be able to answer.
            CoreForm::Primitive(
                operator @ (Primitive::Union | Primitive::Intersection | Primitive::Without),
                operands,
            ) => {
                let [one, other] = [&operands[0], &operands[1]].map(|set| self.is_in(element, set, place, env, here));
                let (one, other) = (one?, other?);
                Ok(match operator {
                    Primitive::Union => one || other,
                    Primitive::Intersection => one && other,
                    _ => one && !other,
                })
            }
            CoreForm::Filter(bound, test) => {
                let range = bound.set.as_ref().ok_or_else(|| self.at(place, "a set without a range"))?;
                // TLC tests each element of a range that it enumerates.
                if let Ok(Value::Set(_)) = self.value(range, env, here) {
                    let set = self.value(set, env, here)?;
                    return contains(&set, element).map_err(|why| self.not_compared(place, why));
                }
                if !self.is_in(element, range, place, env, here)? {
                    return Ok(false);
                }
                let inner = self.bind(&bound.names, bound.is_tuple, element, env, place)?;
                self.truth(test, &inner, here)
            }
            _ => {
                let set = self.value(set, env, here)?;
                contains(&set, element).map_err(|why| self.not_compared(place, why))
            }
        }
    }

    pub(super) fn primitive(
        &self,
        primitive: Primitive,
        operands: &'c [CoreExpr],
        place: Place,
        env: &Env<'c>,
        here: Here<'_>,
    ) -> Evaluated<Value> {
        use Primitive as P;
        let failed = |what: String| self.failed(place, &what);
        let not_compared = |why: NotCompared| self.not_compared(place, why);
        match (primitive, operands) {
            (P::Not, [one]) => return Ok(Value::Bool(!self.truth(one, env, here)?)),
            (P::Implies, [one, other]) => {
                return Ok(Value::Bool(!self.truth(one, env, here)? || self.truth(other, env, here)?));
            }
            (P::In, [one, set]) => {
                let element = self.value(one, env, here)?;
                return Ok(Value::Bool(self.is_in(&element, set, place, env, here)?));
            }
            (P::NotIn, [one, set]) => {
                let element = self.value(one, env, here)?;
                return Ok(Value::Bool(!self.is_in(&element, set, place, env, here)?));
            }
            _ => {}
        }
        let values = self.all(operands, env, here)?;
        let number = |at: usize| values[at].as_int().map_err(failed);
        let both = |operator: Bin| binop(operator, values[0].clone(), values[1].clone()).map_err(failed);
        let built_in = |operator: Bi| builtin_apply(operator, values.clone()).map_err(failed);
        let undefined = |what: &str| Err(self.at(place, &format!("{UNDEFINED_PREFIX}{what}")));
        match primitive {
            P::Not | P::Implies | P::In | P::NotIn => Err(self.at(place, "an operator without operands")),
            P::Equivalent => {
                Ok(Value::Bool(values[0].as_bool().map_err(failed)? == values[1].as_bool().map_err(failed)?))
            }
            P::Equal => Ok(Value::Bool(equal(&values[0], &values[1]).map_err(not_compared)?)),
            P::Unequal => Ok(Value::Bool(!equal(&values[0], &values[1]).map_err(not_compared)?)),
            P::SubsetOrEqual | P::Union | P::Intersection | P::Without | P::PowerSet | P::UnionOfAll => {
                self.set_operation(primitive, &values, place)
            }
            P::Domain => values[0].domain().map_err(failed),
            P::Booleans => Ok(boolean_set()),
            P::Strings => Ok(Value::Lazy(Lazy::Strings.into())),
            P::Naturals => Ok(Value::Lazy(Lazy::Nat.into())),
            P::Integers => Ok(Value::Lazy(Lazy::Int.into())),
            P::Negative | P::Plus | P::Minus | P::Times | P::Quotient | P::Power => {
                self.arithmetic(primitive, &values, place)
            }
            P::Modulo => both(Bin::Mod),
            P::Less => both(Bin::Lt),
            P::Greater => both(Bin::Gt),
            P::LessOrEqual => both(Bin::Le),
            P::GreaterOrEqual => both(Bin::Ge),
            P::Interval => both(Bin::Range),
            P::Concatenation => both(Bin::Concat),
            P::Single => both(Bin::ColonGt),
            P::Merged => {
                let (one, other) = (values[0].domain().map_err(failed)?, values[1].domain().map_err(failed)?);
                check_sets(&one, &other).map_err(not_compared)?;
                both(Bin::AtAt)
            }
            P::Sequences => built_in(Bi::SeqSet),
            P::Length => built_in(Bi::Len),
            P::Append => built_in(Bi::Append),
            P::Head => built_in(Bi::Head),
            P::Tail => built_in(Bi::Tail),
            P::SubSequence => {
                let length = builtin_apply(Bi::Len, vec![values[0].clone()]).and_then(|length| length.as_int());
                let (length, from, to) = (length.map_err(failed)?, number(1)?, number(2)?);
                if from <= to && (from < 1 || to > length) {
                    return undefined(&format!("SubSeq from {from} to {to} of a sequence of {length}"));
                }
                built_in(Bi::SubSeq)
            }
            P::IsFiniteSet => match &values[0] {
                Value::Set(_) | Value::Lazy(_) => built_in(Bi::IsFiniteSet),
                other => Err(failed(format!("expected a set, got {other}"))),
            },
            P::Cardinality => built_in(Bi::Cardinality),
            P::Permutations => built_in(Bi::Permutations),
            P::Print => built_in(Bi::Print),
            P::PrintTrue => built_in(Bi::PrintT),
            // The text of a failed assertion is shown as it is.
            P::Assert => builtin_apply(Bi::Assert, values),
        }
    }

    fn set_operation(&self, primitive: Primitive, values: &[Value], place: Place) -> Evaluated<Value> {
        use Primitive as P;
        let elements = |set: &Value| set.elems().map_err(|what| self.failed(place, &what));
        let is_in = |set: &Value, one: &Value| contains(set, one).map_err(|why| self.not_compared(place, why));
        match (primitive, values) {
            (P::SubsetOrEqual, [set, whole]) => {
                for element in elements(set)?.iter() {
                    if !is_in(whole, element)? {
                        return Ok(Value::Bool(false));
                    }
                }
                Ok(Value::Bool(true))
            }
            (P::Union, [one, other]) => {
                let (one, other) = (elements(one)?, elements(other)?);
                self.set(one.iter().chain(other.iter()).cloned().collect(), place)
            }
            // The elements of the first set are looked up in the second, which may be infinite.
            (P::Intersection | P::Without, [one, other]) => {
                let mut kept = Vec::new();
                for element in elements(one)?.iter() {
                    if is_in(other, element)? == (primitive == P::Intersection) {
                        kept.push(element.clone());
                    }
                }
                Value::set(kept).map_err(|what| self.failed(place, &what))
            }
            (P::PowerSet, [set]) => Ok(Value::Lazy(Lazy::Subset(set.clone()).into())),
            (P::UnionOfAll, [sets]) => {
                let mut joined = Vec::new();
                for set in elements(sets)?.iter() {
                    joined.extend(elements(set)?.iter().cloned());
                }
                self.set(joined, place)
            }
            _ => Err(self.at(place, "an operator of sets without its operands")),
        }
    }

    /// Arithmetic with the numbers of TLC, which have 32 bits.
    fn arithmetic(&self, primitive: Primitive, values: &[Value], place: Place) -> Evaluated<Value> {
        use Primitive as P;
        let number = |at: usize| values[at].as_int().map_err(|what| self.failed(place, &what));
        let within = |number: Option<i64>| match number {
            Some(number) if i32::try_from(number).is_ok() => Ok(Value::Int(number)),
            _ => Err(self.at(place, &format!("{LIMIT_PREFIX}a number beyond 32 bits"))),
        };
        let undefined = |what: &str| Err(self.at(place, &format!("{UNDEFINED_PREFIX}{what}")));
        match primitive {
            P::Negative => within(number(0)?.checked_neg()),
            P::Plus => within(number(0)?.checked_add(number(1)?)),
            P::Minus => within(number(0)?.checked_sub(number(1)?)),
            P::Times => within(number(0)?.checked_mul(number(1)?)),
            P::Quotient => match (number(0)?, number(1)?) {
                (_, 0) => Err(self.failed(place, "division by zero")),
                (a, b) if b < 0 => within(Some((-a).div_euclid(-b))),
                (a, b) => within(Some(a.div_euclid(b))),
            },
            P::Power => match (number(0)?, number(1)?) {
                (_, exponent) if exponent < 0 => undefined("a negative exponent"),
                (0, 0) => undefined("0^0"),
                (base, exponent) if exponent < 2 || (-1..=1).contains(&base) => {
                    let odd = if exponent % 2 == 0 { base * base } else { base };
                    Ok(Value::Int(if exponent == 0 { 1 } else { odd }))
                }
                (base, exponent) => {
                    let exponent = u32::try_from(exponent).unwrap_or(u32::MAX);
                    let fits = exponent <= 31 && base.abs() <= largest_base(exponent);
                    within(if fits { base.checked_pow(exponent) } else { None })
                }
            },
            _ => Err(self.at(place, "no arithmetic")),
        }
    }
}
