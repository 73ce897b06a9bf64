//! Parsing of `any(PATH, TEST)` and `every(PATH, TEST)`.
//!
//! A test is a comparison without its left side (`> 3`), or a predicate without its first argument: `contains "t"`, or
//! `one_of("a", "b")` for any number of the others.

use super::atom::{Atom, Comparison, Quantifier, Term, Test};
use super::lexer::Token;
use super::parse::{Operand, ParseError, Parser, Pending, SUM, Start};

/// The test of a quantifier, as far as it is read.
pub(super) struct EachTest {
    quantifier: Quantifier,
    path: String,
    head: Head,
    arguments: Vec<Term>,
}

/// What a test begins with.
enum Head {
    Compare(Comparison),
    /// A predicate before its one argument.
    Call(String),
    /// A predicate before its arguments in parentheses.
    CallOf(String),
}

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
            Some(Token::Compare(comparison)) => Head::Compare(*comparison),
            Some(Token::Word(name) | Token::Quoted(name)) => Head::Call(name.clone()),
            _ => return Err(self.error(format!("expected a test, found {}", self.found())).hint(spelling)),
        };
        self.at += 1;
        let head = match head {
            Head::Call(name) if self.eat(&Token::Open) => Head::CallOf(name),
            head => head,
        };
        let test = EachTest { quantifier, path, head, arguments: Vec::new() };
        if matches!(test.head, Head::CallOf(_)) && self.eat(&Token::Close) {
            return self.end_each(test);
        }
        Ok(Start::Opens(Pending::Each(test), SUM))
    }

    /// After an argument of the test.
    pub(super) fn finish_each(
        &mut self,
        mut test: EachTest,
        operand: Operand,
        inner: usize,
    ) -> Result<Start, ParseError> {
        test.arguments.push(self.as_term(operand, inner)?.0);
        if let Head::CallOf(_) = test.head {
            if self.eat(&Token::Comma) {
                return Ok(Start::Opens(Pending::Each(test), SUM));
            }
            if !self.eat(&Token::Close) {
                return Err(self.error(format!("expected `,` or `)`, found {}", self.found())));
            }
        }
        self.end_each(test)
    }

    fn end_each(&mut self, test: EachTest) -> Result<Start, ParseError> {
        if !self.eat(&Token::Close) {
            let quantifier = test.quantifier.name();
            return Err(self.error(format!("expected `)` after the test of `{quantifier}`, found {}", self.found())));
        }
        let EachTest { quantifier, path, head, mut arguments } = test;
        let test = match (head, arguments.pop()) {
            (Head::Compare(comparison), Some(term)) => Test::Compare(comparison, term),
            (Head::Compare(_), None) => return Err(self.error("the comparison has no right side")),
            (Head::Call(name) | Head::CallOf(name), last) => {
                arguments.extend(last);
                Test::Call(name.into(), arguments.into())
            }
        };
        let atom = Atom::Each(quantifier, Term::Field(path.into()), test);
        Ok(Start::Operand(Operand::Formula(self.formulas.atomic(atom))))
    }
}
