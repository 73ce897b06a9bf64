//! The one parser of the formula language, for all readings.
//!
//! Precedence as in Spot: comparison binds tightest, then `!` and the other operators with one operand, then
//! `U W R M S` (right-associative), `&`, `|`, and last `->` and `<->` (right-associative).

use std::ops::Range;

use super::atom::{Arithmetic, Atom, Comparison, Literal, Number, Quantifier, Term, Value};
use super::formula::{Binary, Causal, Formula, Formulas, Unary};
use super::lexer::{Token, tokenize};
use super::parse_error::ParseError;

/// How deep a formula may nest.
pub const MAX_DEPTH: usize = 1_000;

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
pub(super) enum Operand {
    Formula(Formula),
    Term(Term, Depth),
}

/// How deep a term nests. Terms are trees, and what walks them recurses.
pub(super) type Depth = usize;

/// The numbers that are formulas.
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

/// Reads operands and operators off the tokens; what waits for an operand waits on a list, so that depth costs no stack.
pub(super) struct Parser<'a> {
    pub(super) formulas: &'a mut Formulas,
    text: &'a str,
    tokens: Vec<(Token, Range<usize>)>,
    pub(super) at: usize,
    bare: Bare,
    open: Vec<Open>,
    /// How tightly an operator must bind to belong to the operand that is being read.
    power: u8,
    /// Where this operand begins.
    start: usize,
}

/// What waits for an operand, with the state of the operand that it is itself a part of.
struct Open {
    pending: Pending,
    power: u8,
    start: usize,
}

/// What waits for an operand.
pub(super) enum Pending {
    Not,
    Unary(Unary),
    Negate,
    /// A parenthesis, by its place.
    Parenthesis(usize),
    /// A parenthesis that belongs to the operator before it: what follows it is not its operand.
    Enclosed(usize, Enclosing),
    Logic(Binary, Formula),
    /// A conjunction (true) or disjunction; one node, however long.
    Chain(bool, Vec<Formula>),
    Compare(Comparison, Term),
    Arithmetic(Arithmetic, Term, Depth),
    /// An application predicate and its arguments so far.
    Call(String, Vec<Term>),
    /// The test of a quantifier over a field.
    Quantified(PartialTest),
}

/// The test of a quantifier, as far as it is read.
pub(super) struct PartialTest {
    pub(super) quantifier: Quantifier,
    pub(super) path: String,
    pub(super) head: TestHead,
    pub(super) arguments: Vec<Term>,
}

/// What a test begins with.
pub(super) enum TestHead {
    Compare(Comparison),
    /// A predicate before its one argument.
    CallOne(String),
    /// A predicate before its arguments in parentheses.
    CallWithList(String),
}

/// What encloses its operand in parentheses.
pub(super) enum Enclosing {
    Past,
    Lifeline(Causal, String),
}

/// What stands where an operand begins.
pub(super) enum Start {
    Operand(Operand),
    /// Something that waits for an operand, whose operators bind at least so tightly.
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
    fn new(formulas: &'a mut Formulas, text: &'a str, bare: Bare) -> Result<Self, ParseError> {
        let tokens = tokenize(text)?;
        Ok(Self { formulas, text, tokens, at: 0, bare, open: Vec::new(), power: 0, start: 0 })
    }

    fn whole(mut self) -> Result<Formula, ParseError> {
        if self.tokens.is_empty() {
            return Err(ParseError::new(self.text, 0, "the formula is empty"));
        }
        self.start = self.place();
        let operand = self.operand()?;
        match self.peek() {
            None => self.as_formula(operand, self.start),
            Some(Token::Close) => Err(self.error("unmatched `)`")),
            Some(_) => Err(self.error(format!("expected an operator or the end, found {}", self.found()))),
        }
    }

    pub(super) fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at).map(|(token, _)| token)
    }

    fn place(&self) -> usize {
        self.tokens.get(self.at).map_or(self.text.len(), |(_, range)| range.start)
    }

    pub(super) fn error(&self, message: impl Into<String>) -> ParseError {
        ParseError::new(self.text, self.place(), message)
    }

    pub(super) fn found(&self) -> String {
        match self.tokens.get(self.at) {
            Some((_, range)) => format!("`{}`", &self.text[range.clone()]),
            None => "the end".to_owned(),
        }
    }

    pub(super) fn eat(&mut self, token: &Token) -> bool {
        let there = self.peek() == Some(token);
        self.at += usize::from(there);
        there
    }

    /// The longest operand from here.
    fn operand(&mut self) -> Result<Operand, ParseError> {
        'operand: loop {
            let mut left = match self.prefix()? {
                Start::Operand(operand) => operand,
                Start::Opens(pending, power) => {
                    self.wait(pending, power)?;
                    continue;
                }
            };
            loop {
                if let Some(infix) = self.infix().filter(|infix| infix.power() >= self.power) {
                    let (pending, power) = self.begin(infix, left)?;
                    self.wait(pending, power)?;
                    continue 'operand;
                }
                let Some(open) = self.open.pop() else { return Ok(left) };
                let inner = std::mem::replace(&mut self.start, open.start);
                self.power = open.power;
                match self.finish(open.pending, left, inner)? {
                    Start::Operand(operand) => left = operand,
                    Start::Opens(pending, power) => {
                        self.wait(pending, power)?;
                        continue 'operand;
                    }
                }
            }
        }
    }

    fn wait(&mut self, pending: Pending, power: u8) -> Result<(), ParseError> {
        // A comparison is inside no other, and may be added to what is printed (`@A.x` is `@A.x = true`).
        if self.open.len() >= MAX_DEPTH && !matches!(pending, Pending::Compare(..)) {
            return Err(self.error(format!("the formula nests deeper than {MAX_DEPTH}")));
        }
        self.open.push(Open { pending, power: self.power, start: self.start });
        (self.power, self.start) = (power, self.place());
        Ok(())
    }

    /// An operator after its left operand.
    fn begin(&mut self, infix: Infix, left: Operand) -> Result<(Pending, u8), ParseError> {
        let place = self.place();
        self.at += 1;
        Ok(match infix {
            Infix::And => (Pending::Chain(true, vec![self.as_formula(left, self.start)?]), AND + 1),
            Infix::Or => (Pending::Chain(false, vec![self.as_formula(left, self.start)?]), OR + 1),
            Infix::Logic(power, operator) => (Pending::Logic(operator, self.as_formula(left, self.start)?), power),
            Infix::Compare(comparison) => (Pending::Compare(comparison, self.as_term(left, place)?.0), SUM),
            Infix::Arithmetic(power, operator) => {
                let (term, depth) = self.as_term(left, place)?;
                (Pending::Arithmetic(operator, term, depth), power + 1)
            }
        })
    }

    /// What waited, with its operand, which began at `inner`; it may wait for another.
    fn finish(&mut self, pending: Pending, operand: Operand, inner: usize) -> Result<Start, ParseError> {
        let formula = match pending {
            Pending::Parenthesis(open) => {
                self.close(open)?;
                return Ok(Start::Operand(operand));
            }
            Pending::Negate => {
                let (term, depth) = self.as_term(operand, inner)?;
                return self.deeper(Term::Negate(Box::new(term)), depth, inner);
            }
            Pending::Arithmetic(operator, left, left_depth) => {
                let (right, depth) = self.as_term(operand, inner)?;
                let term = Term::Arithmetic(operator, Box::new(left), Box::new(right));
                return self.deeper(term, depth.max(left_depth), inner);
            }
            Pending::Call(name, mut arguments) => {
                arguments.push(self.as_term(operand, inner)?.0);
                if self.eat(&Token::Comma) {
                    return Ok(Start::Opens(Pending::Call(name, arguments), SUM));
                }
                if !self.eat(&Token::Close) {
                    return Err(self.error(format!("expected `,` or `)`, found {}", self.found())));
                }
                self.formulas.atomic(Atom::Call(name.into(), arguments.into()))
            }
            Pending::Quantified(test) => return self.finish_each(test, operand, inner),
            Pending::Chain(is_and, mut parts) => {
                parts.push(self.as_formula(operand, inner)?);
                match (self.infix(), is_and) {
                    (Some(Infix::And), true) | (Some(Infix::Or), false) => {
                        self.at += 1;
                        return Ok(Start::Opens(Pending::Chain(is_and, parts), if is_and { AND + 1 } else { OR + 1 }));
                    }
                    (_, true) => self.formulas.and(parts),
                    (_, false) => self.formulas.or(parts),
                }
            }
            Pending::Compare(comparison, left) => {
                let (right, _) = self.as_term(operand, inner)?;
                if let Some(Infix::Compare(_)) = self.infix() {
                    return Err(self.error("comparisons do not chain").hint("write `a < b & b < c`"));
                }
                self.formulas.atomic(Atom::Compare(comparison, left, right))
            }
            Pending::Not => {
                let a = self.as_formula(operand, inner)?;
                self.formulas.not(a)
            }
            Pending::Unary(operator) => {
                let a = self.as_formula(operand, inner)?;
                self.formulas.unary(operator, a)
            }
            Pending::Logic(operator, left) => {
                let right = self.as_formula(operand, inner)?;
                self.formulas.binary(operator, left, right)
            }
            Pending::Enclosed(open, enclosing) => {
                let a = self.as_formula(operand, inner)?;
                self.close(open)?;
                match enclosing {
                    Enclosing::Past => self.formulas.unary(Unary::Past, a),
                    Enclosing::Lifeline(operator, lifeline) => self.formulas.causal(operator, &lifeline, a),
                }
            }
        };
        Ok(Start::Operand(Operand::Formula(formula)))
    }

    fn infix(&self) -> Option<Infix> {
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

    fn prefix(&mut self) -> Result<Start, ParseError> {
        let place = self.place();
        let Some((token, _)) = self.tokens.get(self.at).cloned() else {
            return Err(self.error("expected a formula, found the end"));
        };
        self.at += 1;
        Ok(Start::Operand(match token {
            Token::Not => return Ok(Start::Opens(Pending::Not, PREFIX)),
            Token::Minus => match self.peek() {
                // `-3` is a number, `-(3)` takes the negative of one: a printed term reads back as it was.
                Some(Token::Number(value)) => {
                    let term = number_term(&value.negated().expect("a number"));
                    self.at += 1;
                    Operand::Term(term, 0)
                }
                _ => return Ok(Start::Opens(Pending::Negate, NEGATE)),
            },
            Token::Open => return Ok(Start::Opens(Pending::Parenthesis(place), 0)),
            Token::AtSign => return self.at_lifeline(None),
            Token::Number(value) => Operand::Term(number_term(&value), 0),
            Token::Text(text) => Operand::Term(Term::Literal(Literal::Text(text.into())), 0),
            Token::Quoted(name) if self.eat(&Token::Open) => return Ok(self.call(name)),
            Token::Quoted(name) => Operand::Term(Term::Field(name.into()), 0),
            Token::Label { kind, text } => {
                if matches!(self.infix(), Some(Infix::Compare(_) | Infix::Arithmetic(..))) {
                    return Err(self.error(format!("`{kind}:{text}` is true or false and cannot be compared")));
                }
                Operand::Formula(self.formulas.atomic(Atom::Label { kind: kind.into(), text: text.into() }))
            }
            Token::Word(word) => return self.word(word, place),
            _ => {
                self.at -= 1;
                return Err(self.error(format!("expected a formula, found {}", self.found())));
            }
        }))
    }

    fn word(&mut self, word: String, place: usize) -> Result<Start, ParseError> {
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
            return Ok(Start::Opens(Pending::Unary(operator), PREFIX));
        }
        let opened = self.place();
        let term = match word.as_str() {
            "true" | "TRUE" => Term::Literal(Literal::Bool(true)),
            "false" | "FALSE" => Term::Literal(Literal::Bool(false)),
            "null" => Term::Literal(Literal::Null),
            "U" | "W" | "R" | "M" | "S" => {
                return Err(ParseError::new(self.text, place, format!("`{word}` needs a formula on both sides"))
                    .hint(format!("a proposition of this name is written `\"{word}\"`")));
            }
            "P" if self.eat(&Token::Open) => {
                return Ok(Start::Opens(Pending::Enclosed(opened, Enclosing::Past), 0));
            }
            "P" | "Seen" if self.eat(&Token::AtSign) => return self.at_lifeline(Some(&word)),
            _ if self.eat(&Token::Open) => match Quantifier::from_name(&word) {
                Some(quantifier) => return self.each(quantifier),
                None => return Ok(self.call(word)),
            },
            _ => Term::Field(word.into()),
        };
        Ok(Start::Operand(Operand::Term(term, 0)))
    }

    /// After the parenthesis of an application predicate.
    fn call(&mut self, name: String) -> Start {
        if self.eat(&Token::Close) {
            return Start::Operand(Operand::Formula(self.formulas.atomic(Atom::Call(name.into(), Box::default()))));
        }
        Start::Opens(Pending::Call(name, Vec::new()), SUM)
    }

    fn close(&mut self, open: usize) -> Result<(), ParseError> {
        if self.eat(&Token::Close) {
            return Ok(());
        }
        let opened = ParseError::new(self.text, open, "");
        let place = match opened.line {
            1 => format!("column {}", opened.column),
            line => format!("line {line}, column {}", opened.column),
        };
        Err(self.error(format!("expected `)` for the parenthesis of {place}, found {}", self.found())))
    }

    /// A term of which the deepest part nests `depth` deep.
    fn deeper(&self, term: Term, depth: Depth, place: usize) -> Result<Start, ParseError> {
        if depth >= MAX_DEPTH {
            return Err(ParseError::new(self.text, place, format!("the term nests deeper than {MAX_DEPTH}")));
        }
        Ok(Start::Operand(Operand::Term(term, depth + 1)))
    }

    /// After `@`: a lifeline and what is said of it.
    fn at_lifeline(&mut self, operator: Option<&str>) -> Result<Start, ParseError> {
        let lifeline = match self.peek() {
            Some(Token::Word(name) | Token::Quoted(name) | Token::Text(name)) => name.clone(),
            _ => return Err(self.error(format!("expected the name of a lifeline, found {}", self.found()))),
        };
        self.at += 1;
        if operator == Some("Seen") {
            return Ok(Start::Operand(Operand::Formula(self.formulas.seen(&lifeline))));
        }
        if operator.is_none() && self.eat(&Token::Dot) {
            let field = match self.peek() {
                Some(Token::Word(name) | Token::Quoted(name)) => name.clone(),
                _ => return Err(self.error(format!("expected the name of a field, found {}", self.found()))),
            };
            self.at += 1;
            return Ok(Start::Operand(Operand::Term(Term::FieldAt(lifeline.into(), field.into()), 0)));
        }
        let opened = self.place();
        if !self.eat(&Token::Open) {
            return Err(self.error(format!("expected `(` after the lifeline, found {}", self.found())).hint(format!(
                "`@{lifeline}(formula)`, `@{lifeline}.field`, `P@{lifeline}(formula)`, `Seen@{lifeline}`"
            )));
        }
        let operator = if operator == Some("P") { Causal::PastAt } else { Causal::At };
        Ok(Start::Opens(Pending::Enclosed(opened, Enclosing::Lifeline(operator, lifeline)), 0))
    }

    fn as_formula(&mut self, operand: Operand, place: usize) -> Result<Formula, ParseError> {
        let term = match operand {
            Operand::Formula(formula) => return Ok(formula),
            Operand::Term(term, _) => term,
        };
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

    pub(super) fn as_term(&self, operand: Operand, place: usize) -> Result<(Term, Depth), ParseError> {
        match operand {
            Operand::Term(term, depth) => Ok((term, depth)),
            Operand::Formula(_) => Err(ParseError::new(
                self.text,
                place,
                "expected a term (a field, a number, a text) beside the comparison, found a formula",
            )),
        }
    }
}

fn number_term(value: &Value<'_>) -> Term {
    Term::Literal(Literal::from_value(value).expect("the lexer reads finite numbers"))
}
