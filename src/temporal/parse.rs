//! The one parser of the formula language, for all readings.
//!
//! Precedence as in Spot: comparison binds tightest, then `!` and the other operators with one operand, then
//! `U W R M S` (right-associative), `&`, `|`, and last `->` and `<->` (right-associative).

use std::fmt;
use std::ops::Range;

use super::atom::{Arithmetic, Atom, Comparison, Literal, Number, Term};
use super::formula::{Binary, Causal, Formula, Formulas, Unary};
use super::lexer::{Token, tokens};

/// How deep a formula may nest.
pub const MAX_DEPTH: usize = 1_000;

/// What is wrong with the text of a formula, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParseError {
    /// Byte offset in the text.
    pub at: usize,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// What is wrong, a lower-case fragment.
    pub message: String,
    /// What could be meant.
    pub hint: Option<String>,
}

impl ParseError {
    pub(super) fn new(text: &str, at: usize, message: impl Into<String>) -> Self {
        let before = &text[..at.min(text.len())];
        let line_start = before.rfind('\n').map_or(0, |i| i + 1);
        Self {
            at,
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
            message: message.into(),
            hint: None,
        }
    }

    pub(super) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            1 => write!(f, "column {}: {}", self.column, self.message)?,
            line => write!(f, "line {line}, column {}: {}", self.column, self.message)?,
        }
        match &self.hint {
            Some(hint) => write!(f, " ({hint})"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for ParseError {}

/// What a bare term stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Bare {
    /// The atom "this field is true"; the numbers 1 and 0 are the constants.
    Truth,
    /// A quantity.
    Quantity,
}

impl Formulas {
    /// Reads a formula.
    pub fn parse(&mut self, text: &str) -> Result<Formula, ParseError> {
        Parser::new(self, text, Bare::Truth)?.whole()
    }

    /// Reads a formula over quantities, as the predicates of an objective are: a bare term is its value.
    pub fn parse_quantity(&mut self, text: &str) -> Result<Formula, ParseError> {
        Parser::new(self, text, Bare::Quantity)?.whole()
    }
}

/// What has been read: a formula, or a term that may still become one.
enum Operand {
    Formula(Formula),
    Term(Term),
}

/// The numbers that are formulas.
const ONE: Number = Number::of(1.0);
const ZERO: Number = Number::of(0.0);

/// Binding powers, weakest first.
const ARROW: u8 = 1;
const OR: u8 = 2;
const AND: u8 = 3;
const UNTIL: u8 = 4;
const PREFIX: u8 = 5;
const COMPARE: u8 = 6;
const SUM: u8 = 7;
const PRODUCT: u8 = 8;
const NEGATE: u8 = 9;

struct Parser<'a> {
    formulas: &'a mut Formulas,
    text: &'a str,
    tokens: Vec<(Token, Range<usize>)>,
    at: usize,
    depth: usize,
    /// Arithmetic operators in the term that is being read, however it is nested: it is no deeper than that.
    links: usize,
    bare: Bare,
}

/// An operator between two operands.
enum Infix {
    Logic(u8, Binary),
    And,
    Or,
    Compare(Comparison),
    Arithmetic(u8, Arithmetic),
}

impl Infix {
    fn power(&self) -> u8 {
        match self {
            Self::Logic(power, _) | Self::Arithmetic(power, _) => *power,
            Self::And => AND,
            Self::Or => OR,
            Self::Compare(_) => COMPARE,
        }
    }
}

impl<'a> Parser<'a> {
    fn new(formulas: &'a mut Formulas, text: &'a str, bare: Bare) -> Result<Self, ParseError> {
        Ok(Self { formulas, text, tokens: tokens(text)?, at: 0, depth: 0, links: 0, bare })
    }

    fn whole(mut self) -> Result<Formula, ParseError> {
        if self.tokens.is_empty() {
            return Err(ParseError::new(self.text, 0, "the formula is empty"));
        }
        let formula = self.formula(0)?;
        match self.peek() {
            None => Ok(formula),
            Some(Token::Close) => Err(self.error("this parenthesis closes nothing")),
            Some(_) => Err(self.error(format!("expected an operator or the end, found {}", self.found()))),
        }
    }

    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at).map(|(token, _)| token)
    }

    fn place(&self) -> usize {
        self.tokens.get(self.at).map_or(self.text.len(), |(_, range)| range.start)
    }

    fn error(&self, message: impl Into<String>) -> ParseError {
        ParseError::new(self.text, self.place(), message)
    }

    fn found(&self) -> String {
        match self.tokens.get(self.at) {
            Some((_, range)) => format!("`{}`", &self.text[range.clone()]),
            None => "the end".to_owned(),
        }
    }

    fn eat(&mut self, token: &Token) -> bool {
        let there = self.peek() == Some(token);
        self.at += usize::from(there);
        there
    }

    /// A formula whose operators bind at least as tightly as `power`.
    fn formula(&mut self, power: u8) -> Result<Formula, ParseError> {
        let start = self.place();
        let operand = self.operand(power)?;
        self.as_formula(operand, start)
    }

    fn operand(&mut self, power: u8) -> Result<Operand, ParseError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.error(format!("the formula nests deeper than {MAX_DEPTH}")));
        }
        let start = self.place();
        let mut left = self.prefix()?;
        while let Some(infix) = self.infix() {
            if infix.power() < power {
                break;
            }
            let place = self.place();
            self.at += 1;
            left = match infix {
                Infix::And | Infix::Or => self.chain(left, start, &infix)?,
                Infix::Logic(power, operator) => {
                    let a = self.as_formula(left, start)?;
                    let b = self.formula(power)?;
                    Operand::Formula(self.formulas.binary(operator, a, b))
                }
                Infix::Compare(comparison) => {
                    let a = self.as_term(left, place)?;
                    let after = self.place();
                    let b = self.operand(SUM)?;
                    let b = self.as_term(b, after)?;
                    self.links = 0;
                    if let Some(Infix::Compare(_)) = self.infix() {
                        return Err(self.error("comparisons do not chain").hint("write `a < b & b < c`"));
                    }
                    Operand::Formula(self.formulas.atomic(Atom::Compare(comparison, a, b)))
                }
                Infix::Arithmetic(power, operator) => {
                    self.links += 1;
                    if self.links > MAX_DEPTH {
                        return Err(self.error(format!("more than {MAX_DEPTH} operators in one term")));
                    }
                    let a = self.as_term(left, place)?;
                    let after = self.place();
                    let b = self.operand(power + 1)?;
                    let b = self.as_term(b, after)?;
                    Operand::Term(Term::Arithmetic(operator, Box::new(a), Box::new(b)))
                }
            };
        }
        self.depth -= 1;
        Ok(left)
    }

    /// The rest of a conjunction or disjunction; one node, however long.
    fn chain(&mut self, first: Operand, start: usize, infix: &Infix) -> Result<Operand, ParseError> {
        let mut parts = vec![self.as_formula(first, start)?];
        loop {
            parts.push(self.formula(infix.power() + 1)?);
            match (self.infix(), infix) {
                (Some(Infix::And), Infix::And) | (Some(Infix::Or), Infix::Or) => self.at += 1,
                _ => break,
            }
        }
        Ok(Operand::Formula(match infix {
            Infix::And => self.formulas.and(parts),
            _ => self.formulas.or(parts),
        }))
    }

    fn infix(&self) -> Option<Infix> {
        Some(match self.peek()? {
            Token::And => Infix::And,
            Token::Or => Infix::Or,
            Token::Implies => Infix::Logic(ARROW, Binary::Implies),
            Token::Iff => Infix::Logic(ARROW, Binary::Iff),
            Token::Equal => Infix::Compare(Comparison::Equal),
            Token::NotEqual => Infix::Compare(Comparison::NotEqual),
            Token::Less => Infix::Compare(Comparison::Less),
            Token::LessOrEqual => Infix::Compare(Comparison::LessOrEqual),
            Token::Greater => Infix::Compare(Comparison::Greater),
            Token::GreaterOrEqual => Infix::Compare(Comparison::GreaterOrEqual),
            Token::Plus => Infix::Arithmetic(SUM, Arithmetic::Add),
            Token::Minus => Infix::Arithmetic(SUM, Arithmetic::Subtract),
            Token::Times => Infix::Arithmetic(PRODUCT, Arithmetic::Multiply),
            Token::Divide => Infix::Arithmetic(PRODUCT, Arithmetic::Divide),
            Token::Word(word) => Infix::Logic(
                UNTIL,
                match word.as_str() {
                    "U" => Binary::Until,
                    "W" => Binary::WeakUntil,
                    "R" => Binary::Release,
                    "M" => Binary::StrongRelease,
                    "S" => Binary::Since,
                    _ => return None,
                },
            ),
            _ => return None,
        })
    }

    fn prefix(&mut self) -> Result<Operand, ParseError> {
        let place = self.place();
        let Some((token, range)) = self.tokens.get(self.at).cloned() else {
            return Err(self.error("expected a formula, found the end"));
        };
        self.at += 1;
        Ok(match token {
            Token::Not => {
                let a = self.formula(PREFIX)?;
                Operand::Formula(self.formulas.not(a))
            }
            Token::Minus => {
                let after = self.place();
                let operand = self.operand(NEGATE)?;
                Operand::Term(match self.as_term(operand, after)? {
                    Term::Literal(Literal::Number(number)) => number_term(-number.get()),
                    term => Term::Negate(Box::new(term)),
                })
            }
            Token::Open => {
                let inner = self.operand(0)?;
                if !self.eat(&Token::Close) {
                    let opened = ParseError::new(self.text, range.start, "");
                    return Err(self.error(format!(
                        "expected `)` for the parenthesis of column {}, found {}",
                        opened.column,
                        self.found()
                    )));
                }
                inner
            }
            Token::AtSign => self.at_lifeline(None)?,
            Token::Number(value) => Operand::Term(number_term(value)),
            Token::Text(text) => Operand::Term(Term::Literal(Literal::Text(text.into()))),
            Token::Quoted(name) => Operand::Term(Term::Field(name.into())),
            Token::Label { kind, text } => {
                if matches!(self.infix(), Some(Infix::Compare(_) | Infix::Arithmetic(..))) {
                    return Err(self.error(format!("`{kind}:{text}` is true or false and cannot be compared")));
                }
                Operand::Formula(self.formulas.atomic(Atom::Label { kind: kind.into(), text: text.into() }))
            }
            Token::Word(word) => self.word(&word, place)?,
            _ => {
                self.at -= 1;
                return Err(self.error(format!("expected a formula, found {}", self.found())));
            }
        })
    }

    fn word(&mut self, word: &str, place: usize) -> Result<Operand, ParseError> {
        let unary = match word {
            "X" => Some(Unary::Next),
            "N" => Some(Unary::WeakNext),
            "G" => Some(Unary::Globally),
            "F" => Some(Unary::Finally),
            "Y" => Some(Unary::Yesterday),
            "O" => Some(Unary::Once),
            "H" => Some(Unary::Historically),
            _ => None,
        };
        if let Some(operator) = unary {
            let a = self.formula(PREFIX)?;
            return Ok(Operand::Formula(self.formulas.unary(operator, a)));
        }
        let next_is = |token: &Token| self.peek() == Some(token);
        Ok(match word {
            "true" | "TRUE" => Operand::Term(Term::Literal(Literal::Bool(true))),
            "false" | "FALSE" => Operand::Term(Term::Literal(Literal::Bool(false))),
            "null" => Operand::Term(Term::Literal(Literal::Null)),
            "U" | "W" | "R" | "M" | "S" => {
                return Err(ParseError::new(self.text, place, format!("`{word}` stands between two formulas"))
                    .hint(format!("a proposition of this name is written `\"{word}\"`")));
            }
            "P" if next_is(&Token::Open) => {
                let a = self.formula(PREFIX)?;
                Operand::Formula(self.formulas.unary(Unary::Past, a))
            }
            "P" | "Seen" if next_is(&Token::AtSign) => {
                self.at += 1;
                self.at_lifeline(Some(word))?
            }
            _ if next_is(&Token::Open) => {
                self.at += 1;
                let arguments = self.arguments()?;
                Operand::Formula(self.formulas.atomic(Atom::Call(word.into(), arguments)))
            }
            _ => Operand::Term(Term::Field(word.into())),
        })
    }

    fn arguments(&mut self) -> Result<Box<[Term]>, ParseError> {
        let mut arguments = Vec::new();
        if self.eat(&Token::Close) {
            return Ok(arguments.into());
        }
        loop {
            let place = self.place();
            let operand = self.operand(SUM)?;
            arguments.push(self.as_term(operand, place)?);
            self.links = 0;
            if self.eat(&Token::Close) {
                return Ok(arguments.into());
            }
            if !self.eat(&Token::Comma) {
                return Err(self.error(format!("expected `,` or `)`, found {}", self.found())));
            }
        }
    }

    /// After `@`: a lifeline and what is said of it.
    fn at_lifeline(&mut self, operator: Option<&str>) -> Result<Operand, ParseError> {
        let lifeline = match self.peek() {
            Some(Token::Word(name) | Token::Quoted(name) | Token::Text(name)) => name.clone(),
            _ => return Err(self.error(format!("expected the name of a lifeline, found {}", self.found()))),
        };
        self.at += 1;
        if operator == Some("Seen") {
            return Ok(Operand::Formula(self.formulas.seen(&lifeline)));
        }
        if operator.is_none() && self.eat(&Token::Dot) {
            let field = match self.peek() {
                Some(Token::Word(name) | Token::Quoted(name)) => name.clone(),
                _ => return Err(self.error(format!("expected the name of a field, found {}", self.found()))),
            };
            self.at += 1;
            return Ok(Operand::Term(Term::FieldAt(lifeline.into(), field.into())));
        }
        if self.peek() != Some(&Token::Open) {
            return Err(self.error(format!("expected `(` after the lifeline, found {}", self.found())).hint(format!(
                "`@{lifeline}(formula)`, `@{lifeline}.field`, `P@{lifeline}(formula)`, `Seen@{lifeline}`"
            )));
        }
        let a = self.formula(PREFIX)?;
        let operator = if operator == Some("P") { Causal::PastAt } else { Causal::At };
        Ok(Operand::Formula(self.formulas.causal(operator, &lifeline, a)))
    }

    fn as_formula(&mut self, operand: Operand, place: usize) -> Result<Formula, ParseError> {
        let term = match operand {
            Operand::Formula(formula) => return Ok(formula),
            Operand::Term(term) => term,
        };
        self.links = 0;
        Ok(match (self.bare, term) {
            (_, Term::Literal(Literal::Bool(value))) => self.formulas.constant(value),
            (Bare::Truth, Term::Field(name)) => self.formulas.atomic(Atom::Name(name)),
            (Bare::Truth, Term::Literal(Literal::Text(text))) if !text.is_empty() => {
                self.formulas.atomic(Atom::Name(text))
            }
            (Bare::Truth, Term::Literal(Literal::Number(n))) if n == ONE => self.formulas.truth(),
            (Bare::Truth, Term::Literal(Literal::Number(n))) if n == ZERO => self.formulas.falsity(),
            (Bare::Truth, Term::FieldAt(lifeline, field)) => {
                let truth = Term::Literal(Literal::Bool(true));
                self.formulas.atomic(Atom::Compare(Comparison::Equal, Term::FieldAt(lifeline, field), truth))
            }
            (Bare::Quantity, term) if !matches!(term, Term::Literal(Literal::Null | Literal::Text(_))) => {
                self.formulas.atomic(Atom::Quantity(term))
            }
            _ => {
                return Err(ParseError::new(self.text, place, "this is a term, not a formula")
                    .hint("compare it with another: `x < 3`"));
            }
        })
    }

    fn as_term(&self, operand: Operand, place: usize) -> Result<Term, ParseError> {
        match operand {
            Operand::Term(term) => Ok(term),
            Operand::Formula(_) => Err(ParseError::new(
                self.text,
                place,
                "expected a term (a field, a number, a text) beside the comparison, found a formula",
            )),
        }
    }
}

fn number_term(value: f64) -> Term {
    Term::Literal(Literal::Number(Number::new(value).expect("the lexer reads no NaN")))
}
