//! Parses `any(PATH, TEST)` and `every(PATH, TEST)`, for the parser's main loop.
//!
//! A test is a comparison without its left side (`> 3`), or a predicate without its first argument: `contains "t"`, or
//! `one_of("a", "b")` with any number of further arguments.

use super::atom::{Atom, Quantifier, Term, ValueTest};
use super::lexer::Token;
use super::parse::{Operand, OperandStart, Parser, PartialTest, Pending, SUM, TestHead};
use super::parse_error::ParseError;

impl Parser<'_> {
    /// Continues after `any(` or `every(`.
    pub(super) fn parse_quantified(&mut self, quantifier: Quantifier) -> Result<OperandStart, ParseError> {
        let spelling = format!("write `{0}(path, contains \"text\")` or `{0}(path, > 3)`", quantifier.name());
        let path = match self.peek() {
            Some(Token::Word(name) | Token::Quoted(name)) => name.clone(),
            _ => return Err(self.error(format!("expected a path, found {}", self.describe_next())).hint(spelling)),
        };
        self.position += 1;
        if !self.eat(&Token::Comma) {
            return Err(self.error(format!("expected `,` and a test, found {}", self.describe_next())).hint(spelling));
        }
        let head = match self.peek() {
            Some(Token::Compare(comparison)) => TestHead::Compare(*comparison),
            Some(Token::Word(name) | Token::Quoted(name)) => TestHead::CallOne(name.clone()),
            _ => return Err(self.error(format!("expected a test, found {}", self.describe_next())).hint(spelling)),
        };
        self.position += 1;
        let head = match head {
            TestHead::CallOne(name) if self.eat(&Token::Open) => TestHead::CallWithList(name),
            head => head,
        };
        let test = PartialTest { quantifier, path, head, arguments: Vec::new() };
        if matches!(test.head, TestHead::CallWithList(_)) && self.eat(&Token::Close) {
            return self.finish_quantified(test);
        }
        Ok(OperandStart::Opens(Pending::Quantified(test), SUM))
    }

    /// Continues after an argument of the test.
    pub(super) fn finish_argument(
        &mut self,
        mut test: PartialTest,
        operand: Operand,
        inner: usize,
    ) -> Result<OperandStart, ParseError> {
        test.arguments.push(self.to_term(operand, inner)?.0);
        if let TestHead::CallWithList(_) = test.head {
            if self.eat(&Token::Comma) {
                return Ok(OperandStart::Opens(Pending::Quantified(test), SUM));
            }
            if !self.eat(&Token::Close) {
                return Err(self.error(format!("expected `,` or `)`, found {}", self.describe_next())));
            }
        }
        self.finish_quantified(test)
    }

    fn finish_quantified(&mut self, test: PartialTest) -> Result<OperandStart, ParseError> {
        if !self.eat(&Token::Close) {
            let quantifier = test.quantifier.name();
            return Err(
                self.error(format!("expected `)` after the test of `{quantifier}`, found {}", self.describe_next()))
            );
        }
        let PartialTest { quantifier, path, head, mut arguments } = test;
        let test = match (head, arguments.pop()) {
            (TestHead::Compare(comparison), Some(term)) => ValueTest::Compare(comparison, term),
            (TestHead::Compare(_), None) => return Err(self.error("the comparison has no right side")),
            (TestHead::CallOne(name) | TestHead::CallWithList(name), last) => {
                arguments.extend(last);
                ValueTest::Call(name.into(), arguments.into())
            }
        };
        let atom = Atom::Quantified(quantifier, Term::Field(path.into()), test);
        Ok(OperandStart::Operand(Operand::Formula(self.formulas.atomic(atom))))
    }
}
