//! Parsing of `any(PATH, TEST)` and `every(PATH, TEST)`.
//!
//! A test is a comparison without its left side (`> 3`), or a predicate without its first argument: `contains "t"`, or
//! `one_of("a", "b")` for any number of the others.

use super::atom::{Atom, Quantifier, Term, ValueTest};
use super::lexer::Token;
use super::parse::{Operand, Parser, PartialTest, Pending, SUM, Start, TestHead};
use super::parse_error::ParseError;

impl Parser<'_> {
    /// After the parenthesis of `any(` or `every(`.
    pub(super) fn each(&mut self, quantifier: Quantifier) -> Result<Start, ParseError> {
        let spelling = format!("write `{0}(path, contains \"text\")` or `{0}(path, > 3)`", quantifier.name());
        let path = match self.peek() {
            Some(Token::Word(name) | Token::Quoted(name)) => name.clone(),
            _ => return Err(self.error(format!("expected a path, found {}", self.found())).hint(spelling)),
        };
        self.at += 1;
        if !self.eat(&Token::Comma) {
            return Err(self.error(format!("expected `,` and a test, found {}", self.found())).hint(spelling));
        }
        let head = match self.peek() {
            Some(Token::Compare(comparison)) => TestHead::Compare(*comparison),
            Some(Token::Word(name) | Token::Quoted(name)) => TestHead::CallOne(name.clone()),
            _ => return Err(self.error(format!("expected a test, found {}", self.found())).hint(spelling)),
        };
        self.at += 1;
        let head = match head {
            TestHead::CallOne(name) if self.eat(&Token::Open) => TestHead::CallWithList(name),
            head => head,
        };
        let test = PartialTest { quantifier, path, head, arguments: Vec::new() };
        if matches!(test.head, TestHead::CallWithList(_)) && self.eat(&Token::Close) {
            return self.end_each(test);
        }
        Ok(Start::Opens(Pending::Quantified(test), SUM))
    }

    /// After an argument of the test.
    pub(super) fn finish_each(
        &mut self,
        mut test: PartialTest,
        operand: Operand,
        inner: usize,
    ) -> Result<Start, ParseError> {
        test.arguments.push(self.as_term(operand, inner)?.0);
        if let TestHead::CallWithList(_) = test.head {
            if self.eat(&Token::Comma) {
                return Ok(Start::Opens(Pending::Quantified(test), SUM));
            }
            if !self.eat(&Token::Close) {
                return Err(self.error(format!("expected `,` or `)`, found {}", self.found())));
            }
        }
        self.end_each(test)
    }

    fn end_each(&mut self, test: PartialTest) -> Result<Start, ParseError> {
        if !self.eat(&Token::Close) {
            let quantifier = test.quantifier.name();
            return Err(self.error(format!("expected `)` after the test of `{quantifier}`, found {}", self.found())));
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
        Ok(Start::Operand(Operand::Formula(self.formulas.atomic(atom))))
    }
}
