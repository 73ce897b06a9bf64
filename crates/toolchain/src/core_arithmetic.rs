//! Definitions of arithmetic and of other operators that stop where TLC stops: the checker computes on, or computes something else.

use std::rc::Rc;

use tla_mc::ast::{Ast, Def};

use super::core_syntax::{binary, define_operator, name, stop};

/// Prefix of the text that generated arithmetic stops with if TLC has no value.
pub(super) const UNDEFINED_PREFIX: &str = "tlaforge undefined: ";
/// Prefix of a message about a comparison at which TLC may stop.
pub(super) const COMPARISON_PREFIX: &str = "tlaforge comparison: ";
/// Prefix of the text that generated arithmetic stops with beyond TLC's integers.
pub(super) const LIMIT_PREFIX: &str = "tlaforge limit: ";

fn when(test: Ast, yes: Ast, no: Ast) -> Ast {
    Ast::If(Box::new(test), Box::new(yes), Box::new(no))
}

/// The largest base whose power fits into 32 bits.
pub(super) fn largest_base(exponent: u32) -> i64 {
    let fits = |base: i64| base.checked_pow(exponent).is_some_and(|power| power <= i64::from(i32::MAX));
    let (mut fitting, mut beyond) = (1_i64, 1 << 16);
    while beyond - fitting > 1 {
        let middle = fitting.midpoint(beyond);
        *(if fits(middle) { &mut fitting } else { &mut beyond }) = middle;
    }
    fitting
}

/// The definitions.
pub(super) fn arithmetic() -> Vec<Rc<Def>> {
    let limit = || stop(&format!("{LIMIT_PREFIX}a number beyond 32 bits"));
    let (a, b) = (|| name("a~"), || name("b~"));
    let num = Ast::Num;
    let within = when(
        Ast::Or(vec![binary(">", a(), num(i64::from(i32::MAX))), binary("<", a(), num(i64::from(i32::MIN)))]),
        limit(),
        a(),
    );
    let bounded = |operator: &'static str| Ast::Apply("within~".to_owned(), vec![binary(operator, a(), b())]);
    let minus = |one: Ast| Ast::Neg(Box::new(one));
    // The smallest number divided by -1 is no number of 32 bits.
    let negative = Ast::Apply("within~".to_owned(), vec![binary("\\div", minus(a()), minus(b()))]);
    let quotient = when(binary("<", b(), num(0)), negative, binary("\\div", a(), b()));
    let bases = Ast::Tuple((2..=31).map(|exponent| num(largest_base(exponent))).collect());
    let base = || Ast::App(Box::new(bases.clone()), vec![binary("-", b(), num(1))]);
    let small = Ast::SetEnum(vec![num(-1), num(0), num(1)]);
    let power = || binary("^", a(), b());
    let too_large = Ast::Or(vec![binary(">", a(), base()), binary(">", minus(a()), base())]);
    let undefined = |what: &str| stop(&format!("{UNDEFINED_PREFIX}{what}"));
    let exponentiation = when(
        binary("<", b(), num(0)),
        undefined("a negative exponent"),
        when(
            Ast::And(vec![binary("=", b(), num(0)), binary("=", a(), num(0))]),
            undefined("0^0"),
            when(
                Ast::Or(vec![binary("<", b(), num(2)), binary("\\in", a(), small)]),
                power(),
                when(binary(">", b(), num(31)), limit(), when(too_large, limit(), power())),
            ),
        ),
    );
    let c = || name("c~");
    let call = |operator: &str, operands: Vec<Ast>| Ast::Apply(operator.to_owned(), operands);
    let beyond = Ast::Or(vec![binary("<", b(), num(1)), binary(">", c(), call("Len", vec![a()]))]);
    let subsequence = when(
        Ast::And(vec![binary("<=", b(), c()), beyond]),
        undefined("a SubSeq that is not within the sequence"),
        call("SubSeq", vec![a(), b(), c()]),
    );
    // Nothing can be looked up in what is no set.
    let finite = when(
        call("IsFiniteSet", vec![a()]),
        Ast::Bool(true),
        when(binary("\\in", num(0), a()), Ast::Bool(false), Ast::Bool(false)),
    );
    let two = ["a~".to_owned(), "b~".to_owned()];
    vec![
        define_operator("within~", &two[..1], within),
        define_operator("+~", &two, bounded("+")),
        define_operator("-~", &two, bounded("-")),
        define_operator("*~", &two, bounded("*")),
        define_operator("\\div~", &two, quotient),
        define_operator("^~", &two, exponentiation),
        define_operator("SubSeq~", &["a~".to_owned(), "b~".to_owned(), "c~".to_owned()], subsequence),
        define_operator("IsFiniteSet~", &two[..1], finite),
    ]
}
