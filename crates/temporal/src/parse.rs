//! The parser of the formula language, which accepts the operators of all readings. It assigns them no meaning; each
//! reading checks which operators it supports. The crate's documentation describes the language.

use std::ops::Range;

use super::atom::{Arithmetic, Atom, Comparison, Literal, Number, Quantifier, Term, Value};
use super::formula::{Binary, Causal, Formula, Formulas, Unary};
use super::lexer::{Token, tokenize};
use super::parse_error::ParseError;

/// Maximum nesting depth of a formula that is parsed: recursive passes over terms and guards rely on it.
pub const MAX_DEPTH: usize = 1_000;

/// The meaning of a term that stands alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BareTerm {
    /// The atom "this field is true"; the numbers 1 and 0 are `true` and `false`.
    Truth,
    /// A quantity whose value is its robustness.
    Quantity,
}

impl Formulas {
    /// Parses a formula of [the language](crate#the-formula-language) and adds it to the arena.
    ///
    /// # Errors
    /// A syntax error with its position, or nesting deeper than [`MAX_DEPTH`].
    ///
    /// # Examples
    /// ```
    /// use tlaforge_temporal::Formulas;
    ///
    /// let mut formulas = Formulas::new();
    /// let rule = formulas.parse("G (tool_call:submit -> O tool_call:test)")?;
    /// assert_eq!(formulas.text(rule), "G (tool_call:submit -> O tool_call:test)");
    ///
    /// let error = formulas.parse("G (a -> ").expect_err("the formula is not complete");
    /// assert_eq!((error.line, error.column), (1, 9));
    /// let error = formulas.parse("[] a").expect_err("TLA+ syntax");
    /// assert_eq!(error.span, 0..2);
    /// assert_eq!(error.hint.as_deref(), Some("always is written `G`"));
    /// # Ok::<(), tlaforge_temporal::ParseError>(())
    /// ```
    pub fn parse(&mut self, text: &str) -> Result<Formula, ParseError> {
        Parser::new(self, text, BareTerm::Truth)?.parse_all()
    }

    /// Parses a predicate of an objective: as [`Formulas::parse`], but a term that stands alone is a quantity.
    ///
    /// # Errors
    /// As [`Formulas::parse`].
    ///
    /// # Examples
    /// ```
    /// use tlaforge_temporal::{Atom, Formulas};
    ///
    /// let mut formulas = Formulas::new();
    /// formulas.parse_quantity("speed - 3")?;
    /// let (_, atom) = formulas.atoms().next().expect("one atom");
    /// assert!(matches!(atom, Atom::Quantity(_)));
    /// assert!(formulas.parse("speed - 3").is_err(), "as a formula, a number is neither true nor false");
    /// # Ok::<(), tlaforge_temporal::ParseError>(())
    /// ```
    pub fn parse_quantity(&mut self, text: &str) -> Result<Formula, ParseError> {
        Parser::new(self, text, BareTerm::Quantity)?.parse_all()
    }
}

/// A parsed operand: a formula, or a term that may become a formula.
pub(super) enum Operand {
    Formula(Formula),
    Term(Term, Depth),
}

/// Nesting depth of a term. Terms are trees that are traversed recursively, so their depth must be limited.
pub(super) type Depth = usize;

/// The numbers that are also formulas.
const ONE: Number = Number::from_finite(1.0);
const ZERO: Number = Number::from_finite(0.0);

/// Binding powers, weakest first.
const ARROW: u8 = 1;
const OR: u8 = 2;
const AND: u8 = 3;
const UNTIL: u8 = 4;
const PREFIX: u8 = 5;
const COMPARE: u8 = 6;
pub(super) const SUM: u8 = 7;
const PRODUCT: u8 = 8;
const NEGATE: u8 = 9;

/// An operator-precedence parser. Operators that wait for an operand are kept on an explicit stack, so that nesting costs
/// no call stack.
pub(super) struct Parser<'a> {
    pub(super) formulas: &'a mut Formulas,
    text: &'a str,
    tokens: Vec<(Token, Range<usize>)>,
    pub(super) position: usize,
    bare: BareTerm,
    open: Vec<OpenOperand>,
    /// The minimum binding power of an operator that belongs to the current operand.
    power: u8,
    /// The byte offset at which the current operand begins.
    start: usize,
}

/// A stack entry: an operator that waits for an operand, and the parser state of the operand around it.
struct OpenOperand {
    pending: Pending,
    power: u8,
    start: usize,
}

/// An operator that waits for an operand.
pub(super) enum Pending {
    Not,
    Unary(Unary),
    Negate,
    /// A parenthesis, by its byte offset.
    Parenthesis(usize),
    /// The parenthesis of `P(…)` or `@A(…)`, by its byte offset. The operator applies to its content only.
    Enclosed(usize, Enclosing),
    Logic(Binary, Formula),
    /// A conjunction (true) or disjunction (false) with its operands so far: one node, however many operands.
    Chain(bool, Vec<Formula>),
    Compare(Comparison, Term),
    Arithmetic(Arithmetic, Term, Depth),
    /// A predicate of the application with its arguments so far.
    Call(String, Vec<Term>),
    /// `any(…)` or `every(…)`.
    Quantified(PartialTest),
}

/// The part of `any(…)` or `every(…)` that is already parsed.
pub(super) struct PartialTest {
    pub(super) quantifier: Quantifier,
    pub(super) path: String,
    pub(super) head: TestHead,
    pub(super) arguments: Vec<Term>,
}

/// The first token of a test.
pub(super) enum TestHead {
    Compare(Comparison),
    /// A predicate with one argument and no parentheses.
    CallOne(String),
    /// A predicate with its arguments in parentheses.
    CallWithList(String),
}

/// An operator that encloses its operand in parentheses.
pub(super) enum Enclosing {
    Past,
    Lifeline(Causal, String),
}

/// The result of parsing the start of an operand.
pub(super) enum OperandStart {
    Operand(Operand),
    /// An operator that waits for an operand, and the minimum binding power of operators in that operand.
    Opens(Pending, u8),
}

/// An operator between two operands.
#[derive(Clone, Copy)]
enum Infix {
    Logic(u8, Binary),
    And,
    Or,
    Compare(Comparison),
    Arithmetic(u8, Arithmetic),
}

impl Infix {
    fn power(self) -> u8 {
        match self {
            Self::Logic(power, _) | Self::Arithmetic(power, _) => power,
            Self::And => AND,
            Self::Or => OR,
            Self::Compare(_) => COMPARE,
        }
    }
}

impl<'a> Parser<'a> {
    fn new(formulas: &'a mut Formulas, text: &'a str, bare: BareTerm) -> Result<Self, ParseError> {
        let tokens = tokenize(text)?;
        Ok(Self { formulas, text, tokens, position: 0, bare, open: Vec::new(), power: 0, start: 0 })
    }

    fn parse_all(mut self) -> Result<Formula, ParseError> {
        if self.tokens.is_empty() {
            return Err(ParseError::new(self.text, 0..0, "the formula is empty"));
        }
        self.start = self.offset();
        let operand = self.parse_operand()?;
        match self.peek() {
            None => self.make_formula(operand, self.start),
            Some(Token::Close) => Err(self.error("unmatched `)`")),
            Some(_) => Err(self.error(format!("expected an operator or the end, found {}", self.describe_next()))),
        }
    }

    pub(super) fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.position).map(|(token, _)| token)
    }

    fn offset(&self) -> usize {
        self.tokens.get(self.position).map_or(self.text.len(), |(_, range)| range.start)
    }

    /// An error at the next token, or at the end of the text.
    pub(super) fn error(&self, message: impl Into<String>) -> ParseError {
        let end = self.text.len();
        let span = self.tokens.get(self.position).map_or(end..end, |(_, range)| range.clone());
        ParseError::new(self.text, span, message)
    }

    /// An error of the operand that began at this byte offset and ends before the next token.
    fn operand_error(&self, offset: usize, message: impl Into<String>) -> ParseError {
        let last = self.tokens[..self.position].last().map_or(offset, |(_, range)| range.end);
        ParseError::new(self.text, offset..last.max(offset), message)
    }

    pub(super) fn describe_next(&self) -> String {
        match self.tokens.get(self.position) {
            Some((_, range)) => format!("`{}`", &self.text[range.clone()]),
            None => "the end".to_owned(),
        }
    }

    pub(super) fn eat(&mut self, token: &Token) -> bool {
        let matched = self.peek() == Some(token);
        self.position += usize::from(matched);
        matched
    }

    /// Parses the longest operand from the current token.
    fn parse_operand(&mut self) -> Result<Operand, ParseError> {
        'operand: loop {
            let mut left = match self.parse_prefix()? {
                OperandStart::Operand(operand) => operand,
                OperandStart::Opens(pending, power) => {
                    self.push_pending(pending, power)?;
                    continue;
                }
            };
            loop {
                if let Some(infix) = self.peek_infix().filter(|infix| infix.power() >= self.power) {
                    let (pending, power) = self.begin_infix(infix, left)?;
                    self.push_pending(pending, power)?;
                    continue 'operand;
                }
                let Some(open) = self.open.pop() else { return Ok(left) };
                // No operator continues the operand here, so it belongs to the innermost operator that waits for one.
                let inner = std::mem::replace(&mut self.start, open.start);
                self.power = open.power;
                match self.finish(open.pending, left, inner)? {
                    OperandStart::Operand(operand) => left = operand,
                    OperandStart::Opens(pending, power) => {
                        self.push_pending(pending, power)?;
                        continue 'operand;
                    }
                }
            }
        }
    }

    fn push_pending(&mut self, pending: Pending, power: u8) -> Result<(), ParseError> {
        // The printer adds a comparison to `@A.x` (`@A.x = true`). A comparison contains no other, so one more level is
        // harmless, and without it a printed formula of maximum depth could not be parsed.
        if self.open.len() >= MAX_DEPTH && !matches!(pending, Pending::Compare(..)) {
            return Err(self.error(format!("the formula nests deeper than {MAX_DEPTH}")));
        }
        self.open.push(OpenOperand { pending, power: self.power, start: self.start });
        (self.power, self.start) = (power, self.offset());
        Ok(())
    }

    /// Starts an infix operator after its left operand.
    fn begin_infix(&mut self, infix: Infix, left: Operand) -> Result<(Pending, u8), ParseError> {
        let offset = self.offset();
        self.position += 1;
        Ok(match infix {
            // One more than the own power ends an operand of a chain at the next `&`, so that the chain is one node.
            // The same makes arithmetic left-associative. With the own power, arrows and `U W R M S` nest to the
            // right.
            Infix::And => (Pending::Chain(true, vec![self.make_formula(left, self.start)?]), AND + 1),
            Infix::Or => (Pending::Chain(false, vec![self.make_formula(left, self.start)?]), OR + 1),
            Infix::Logic(power, operator) => (Pending::Logic(operator, self.make_formula(left, self.start)?), power),
            Infix::Compare(comparison) => (Pending::Compare(comparison, self.to_term(left, offset)?.0), SUM),
            Infix::Arithmetic(power, operator) => {
                let (term, depth) = self.to_term(left, offset)?;
                (Pending::Arithmetic(operator, term, depth), power + 1)
            }
        })
    }

    /// Completes a pending operator with its operand, which began at byte offset `inner`. Operators with several operands
    /// may wait for another one.
    fn finish(&mut self, pending: Pending, operand: Operand, inner: usize) -> Result<OperandStart, ParseError> {
        let formula = match pending {
            Pending::Parenthesis(open) => {
                // The operand as it is: whether `(x)` is a term or a formula depends on what follows.
                self.expect_close(open)?;
                return Ok(OperandStart::Operand(operand));
            }
            Pending::Negate => {
                let (term, depth) = self.to_term(operand, inner)?;
                return self.wrap_term(Term::Negate(Box::new(term)), depth, inner);
            }
            Pending::Arithmetic(operator, left, left_depth) => {
                let (right, depth) = self.to_term(operand, inner)?;
                let term = Term::Arithmetic(operator, Box::new(left), Box::new(right));
                return self.wrap_term(term, depth.max(left_depth), inner);
            }
            Pending::Call(name, mut arguments) => {
                arguments.push(self.to_term(operand, inner)?.0);
                if self.eat(&Token::Comma) {
                    return Ok(OperandStart::Opens(Pending::Call(name, arguments), SUM));
                }
                if !self.eat(&Token::Close) {
                    return Err(self.error(format!("expected `,` or `)`, found {}", self.describe_next())));
                }
                self.formulas.atomic(Atom::Call(name.into(), arguments.into()))
            }
            Pending::Quantified(test) => return self.finish_argument(test, operand, inner),
            Pending::Chain(is_and, mut parts) => {
                parts.push(self.make_formula(operand, inner)?);
                match (self.peek_infix(), is_and) {
                    (Some(Infix::And), true) | (Some(Infix::Or), false) => {
                        self.position += 1;
                        return Ok(OperandStart::Opens(
                            Pending::Chain(is_and, parts),
                            if is_and { AND + 1 } else { OR + 1 },
                        ));
                    }
                    (_, true) => self.formulas.and(parts),
                    (_, false) => self.formulas.or(parts),
                }
            }
            Pending::Compare(comparison, left) => {
                let (right, _) = self.to_term(operand, inner)?;
                if let Some(Infix::Compare(_)) = self.peek_infix() {
                    return Err(self.error("comparisons do not chain").hint("write `a < b & b < c`"));
                }
                self.formulas.atomic(Atom::Compare(comparison, left, right))
            }
            Pending::Not => {
                let a = self.make_formula(operand, inner)?;
                self.formulas.not(a)
            }
            Pending::Unary(operator) => {
                let a = self.make_formula(operand, inner)?;
                self.formulas.unary(operator, a)
            }
            Pending::Logic(operator, left) => {
                let right = self.make_formula(operand, inner)?;
                self.formulas.binary(operator, left, right)
            }
            Pending::Enclosed(open, enclosing) => {
                let a = self.make_formula(operand, inner)?;
                self.expect_close(open)?;
                match enclosing {
                    Enclosing::Past => self.formulas.unary(Unary::Past, a),
                    Enclosing::Lifeline(operator, lifeline) => self.formulas.causal(operator, &lifeline, a),
                }
            }
        };
        Ok(OperandStart::Operand(Operand::Formula(formula)))
    }

    fn peek_infix(&self) -> Option<Infix> {
        Some(match self.peek()? {
            Token::And => Infix::And,
            Token::Or => Infix::Or,
            Token::Implies => Infix::Logic(ARROW, Binary::Implies),
            Token::Iff => Infix::Logic(ARROW, Binary::Iff),
            Token::Compare(comparison) => Infix::Compare(*comparison),
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

    fn parse_prefix(&mut self) -> Result<OperandStart, ParseError> {
        let offset = self.offset();
        let Some((token, _)) = self.tokens.get(self.position).cloned() else {
            return Err(self.error("expected a formula, found the end"));
        };
        self.position += 1;
        Ok(OperandStart::Operand(match token {
            Token::Not => return Ok(OperandStart::Opens(Pending::Not, PREFIX)),
            Token::Minus => match self.peek() {
                // `-3` is a literal, `-(3)` a negation: the printer distinguishes them, so that a printed term parses back
                // to the same term.
                Some(Token::Number(value)) => {
                    let term = number_term(&value.negated().expect("a number"));
                    self.position += 1;
                    Operand::Term(term, 0)
                }
                _ => return Ok(OperandStart::Opens(Pending::Negate, NEGATE)),
            },
            Token::Open => return Ok(OperandStart::Opens(Pending::Parenthesis(offset), 0)),
            Token::AtSign => return self.parse_lifeline(None),
            Token::Number(value) => Operand::Term(number_term(&value), 0),
            Token::Text(text) => Operand::Term(Term::Literal(Literal::Text(text.into())), 0),
            Token::Quoted(name) if self.eat(&Token::Open) => return Ok(self.start_call(name)),
            Token::Quoted(name) => Operand::Term(Term::Field(name.into()), 0),
            Token::Label { kind, text } => {
                if matches!(self.peek_infix(), Some(Infix::Compare(_) | Infix::Arithmetic(..))) {
                    return Err(self.error(format!("`{kind}:{text}` is true or false and cannot be compared")));
                }
                Operand::Formula(self.formulas.atomic(Atom::Label { kind: kind.into(), text: text.into() }))
            }
            Token::Word(word) => return self.parse_word(word, offset),
            _ => {
                self.position -= 1;
                return Err(self.error(format!("expected a formula, found {}", self.describe_next())));
            }
        }))
    }

    fn parse_word(&mut self, word: String, offset: usize) -> Result<OperandStart, ParseError> {
        let unary = match word.as_str() {
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
            return Ok(OperandStart::Opens(Pending::Unary(operator), PREFIX));
        }
        let opened = self.offset();
        let term = match word.as_str() {
            // A term for now: `x = true` compares, and `make_formula` turns a constant that stands alone into a
            // formula.
            "true" | "TRUE" => Term::Literal(Literal::Bool(true)),
            "false" | "FALSE" => Term::Literal(Literal::Bool(false)),
            "null" => Term::Literal(Literal::Null),
            "U" | "W" | "R" | "M" | "S" => {
                return Err(self
                    .operand_error(offset, format!("`{word}` needs a formula on both sides"))
                    .hint(format!("a proposition of this name is written `\"{word}\"`")));
            }
            // `P` and `Seen` are operators only before these tokens; elsewhere they are names like any other.
            "P" if self.eat(&Token::Open) => {
                return Ok(OperandStart::Opens(Pending::Enclosed(opened, Enclosing::Past), 0));
            }
            "P" | "Seen" if self.eat(&Token::AtSign) => return self.parse_lifeline(Some(&word)),
            _ if self.eat(&Token::Open) => match Quantifier::from_name(&word) {
                Some(quantifier) => return self.parse_quantified(quantifier),
                None => return Ok(self.start_call(word)),
            },
            _ => Term::Field(word.into()),
        };
        Ok(OperandStart::Operand(Operand::Term(term, 0)))
    }

    /// Continues after `name(` of a predicate of the application.
    fn start_call(&mut self, name: String) -> OperandStart {
        if self.eat(&Token::Close) {
            return OperandStart::Operand(Operand::Formula(
                self.formulas.atomic(Atom::Call(name.into(), Box::default())),
            ));
        }
        OperandStart::Opens(Pending::Call(name, Vec::new()), SUM)
    }

    fn expect_close(&mut self, open: usize) -> Result<(), ParseError> {
        if self.eat(&Token::Close) {
            return Ok(());
        }
        let opened = ParseError::new(self.text, open..open, "");
        let place = match opened.line {
            1 if !self.text.contains('\n') => format!("column {}", opened.column),
            line => format!("line {line}, column {}", opened.column),
        };
        Err(self.error(format!("expected `)` for the parenthesis of {place}, found {}", self.describe_next())))
    }

    /// A term with one more level than its deepest part, which has `depth` levels.
    fn wrap_term(&self, term: Term, depth: Depth, offset: usize) -> Result<OperandStart, ParseError> {
        if depth >= MAX_DEPTH {
            return Err(self.operand_error(offset, format!("the term nests deeper than {MAX_DEPTH}")));
        }
        Ok(OperandStart::Operand(Operand::Term(term, depth + 1)))
    }

    /// Continues after `@`: the lifeline, and a formula or field at it. `operator` is the word before the `@`, if any.
    fn parse_lifeline(&mut self, operator: Option<&str>) -> Result<OperandStart, ParseError> {
        let lifeline = match self.peek() {
            Some(Token::Word(name) | Token::Quoted(name) | Token::Text(name)) => name.clone(),
            _ => return Err(self.error(format!("expected the name of a lifeline, found {}", self.describe_next()))),
        };
        self.position += 1;
        if operator == Some("Seen") {
            return Ok(OperandStart::Operand(Operand::Formula(self.formulas.seen(&lifeline))));
        }
        if operator.is_none() && self.eat(&Token::Dot) {
            let field = match self.peek() {
                Some(Token::Word(name) | Token::Quoted(name)) => name.clone(),
                _ => return Err(self.error(format!("expected the name of a field, found {}", self.describe_next()))),
            };
            self.position += 1;
            return Ok(OperandStart::Operand(Operand::Term(Term::FieldAt(lifeline.into(), field.into()), 0)));
        }
        let opened = self.offset();
        if !self.eat(&Token::Open) {
            return Err(self.error(format!("expected `(` after the lifeline, found {}", self.describe_next())).hint(
                format!("`@{lifeline}(formula)`, `@{lifeline}.field`, `P@{lifeline}(formula)`, `Seen@{lifeline}`"),
            ));
        }
        let operator = if operator == Some("P") { Causal::PastAt } else { Causal::At };
        Ok(OperandStart::Opens(Pending::Enclosed(opened, Enclosing::Lifeline(operator, lifeline)), 0))
    }

    fn make_formula(&mut self, operand: Operand, offset: usize) -> Result<Formula, ParseError> {
        let term = match operand {
            Operand::Formula(formula) => return Ok(formula),
            Operand::Term(term, _) => term,
        };
        Ok(match (self.bare, term) {
            (_, Term::Literal(Literal::Bool(value))) => self.formulas.constant(value),
            (BareTerm::Truth, Term::Field(name)) => self.formulas.atomic(Atom::Name(name)),
            // As in Spot, a name may be quoted, and `1` and `0` are constants.
            (BareTerm::Truth, Term::Literal(Literal::Text(text))) if !text.is_empty() => {
                self.formulas.atomic(Atom::Name(text))
            }
            (BareTerm::Truth, Term::Literal(Literal::Number(n))) if n == ONE => self.formulas.truth(),
            (BareTerm::Truth, Term::Literal(Literal::Number(n))) if n == ZERO => self.formulas.falsity(),
            (BareTerm::Truth, Term::FieldAt(lifeline, field)) => {
                // No atom of its own: `@A.x` is short for `@A.x = true`.
                let truth = Term::Literal(Literal::Bool(true));
                self.formulas.atomic(Atom::Compare(Comparison::Equal, Term::FieldAt(lifeline, field), truth))
            }
            (BareTerm::Quantity, term) if !matches!(term, Term::Literal(Literal::Null | Literal::Text(_))) => {
                self.formulas.atomic(Atom::Quantity(term))
            }
            _ => {
                return Err(self
                    .operand_error(offset, "this is a term, not a formula")
                    .hint("compare it with another: `x < 3`"));
            }
        })
    }

    pub(super) fn to_term(&self, operand: Operand, offset: usize) -> Result<(Term, Depth), ParseError> {
        match operand {
            Operand::Term(term, depth) => Ok((term, depth)),
            Operand::Formula(_) => Err(self.operand_error(
                offset,
                "expected a term (a field, a number, a text) beside the comparison, found a formula",
            )),
        }
    }
}

fn number_term(value: &Value<'_>) -> Term {
    Term::Literal(Literal::from_value(value).expect("the lexer reads finite numbers"))
}
