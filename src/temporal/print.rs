//! Formulas as text that reads back to the same formula, with as few parentheses as that allows.

use std::fmt::{self, Write as _};

use super::atom::{Arithmetic, Atom, Comparison, Literal, Quantifier, Term, ValueTest};
use super::formula::{Binary, Causal, Formula, Formulas, Node, Unary};
use super::lexer::{continues_name, starts_name};

/// Words that mean something other than a field.
const RESERVED: [&str; 17] =
    ["X", "N", "G", "F", "U", "W", "R", "M", "Y", "S", "O", "H", "true", "false", "TRUE", "FALSE", "null"];

/// Whether a word is an operator or a constant wherever it stands.
pub(super) fn is_reserved(name: &str) -> bool {
    RESERVED.contains(&name)
}

/// How tightly a printed formula binds, weakest first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Tightness {
    Arrow,
    Or,
    And,
    Until,
    Prefix,
    Atom,
}

impl Formulas {
    /// The formula as text; [`Formulas::parse`] reads it back to the same formula, unless it nests deeper than
    /// [`MAX_DEPTH`](super::MAX_DEPTH) or was not made by it from a text: an empty label, a formula of quantities.
    pub fn text(&self, formula: Formula) -> String {
        let mut out = String::new();
        self.write(&mut out, formula).expect("a String takes all that is written");
        out
    }

    /// The atom as text.
    pub fn atom_text(&self, atom: &Atom) -> String {
        let mut out = String::new();
        write_atom(&mut out, atom).expect("a String takes all that is written");
        out
    }

    fn tightness(&self, formula: Formula) -> Tightness {
        match self.node(formula) {
            Node::True | Node::False | Node::Causal(..) | Node::Seen(_) => Tightness::Atom,
            Node::Unary(Unary::Past, _) => Tightness::Atom,
            Node::Atom(_) | Node::Not(_) | Node::Unary(..) => Tightness::Prefix,
            Node::And(_) => Tightness::And,
            Node::Or(_) => Tightness::Or,
            Node::Binary(Binary::Implies | Binary::Iff, _) => Tightness::Arrow,
            Node::Binary(..) => Tightness::Until,
        }
    }

    /// Works off a list of what is still to be written, so that depth costs no stack.
    fn write(&self, out: &mut String, formula: Formula) -> fmt::Result {
        let mut left = vec![Piece::Formula(formula, Tightness::Arrow)];
        while let Some(piece) = left.pop() {
            match piece {
                Piece::Text(text) => out.push_str(text),
                Piece::Formula(formula, least) if self.tightness(formula) < least => {
                    out.push('(');
                    left.extend([Piece::Text(")"), Piece::Formula(formula, Tightness::Arrow)]);
                }
                Piece::Formula(formula, _) => self.begin(out, formula, &mut left)?,
            }
        }
        Ok(())
    }

    /// Writes what comes before the first operand, and leaves the rest, last piece first.
    fn begin<'a>(&'a self, out: &mut String, formula: Formula, left: &mut Vec<Piece<'a>>) -> fmt::Result {
        match self.node(formula) {
            Node::True => out.push_str("true"),
            Node::False => out.push_str("false"),
            Node::Atom(atom) => write_atom(out, self.atom(*atom))?,
            Node::Not(a) => {
                out.push('!');
                left.push(Piece::Formula(*a, Tightness::Prefix));
            }
            Node::And(all) => chain(left, all, " & ", Tightness::Until),
            Node::Or(all) => chain(left, all, " | ", Tightness::And),
            Node::Unary(Unary::Past, a) => {
                out.push_str("P(");
                left.extend([Piece::Text(")"), Piece::Formula(*a, Tightness::Arrow)]);
            }
            Node::Unary(operator, a) => {
                out.push_str(operator.symbol());
                out.push(' ');
                left.push(Piece::Formula(*a, Tightness::Prefix));
            }
            Node::Binary(operator, [a, b]) => {
                // Right-associative, so only the left operand must bind more tightly.
                let own = self.tightness(formula);
                let tighter = if own == Tightness::Until { Tightness::Prefix } else { Tightness::Or };
                left.extend([Piece::Formula(*b, own), Piece::Text(" "), Piece::Text(operator.symbol())]);
                left.extend([Piece::Text(" "), Piece::Formula(*a, tighter)]);
            }
            Node::Causal(operator, lifeline, a) => {
                out.push_str(if *operator == Causal::PastAt { "P@" } else { "@" });
                write_lifeline(out, lifeline)?;
                out.push('(');
                left.extend([Piece::Text(")"), Piece::Formula(*a, Tightness::Arrow)]);
            }
            Node::Seen(lifeline) => {
                out.push_str("Seen@");
                write_lifeline(out, lifeline)?;
            }
        }
        Ok(())
    }
}

/// What is still to be written.
enum Piece<'a> {
    Text(&'a str),
    /// A formula, in parentheses where it binds less tightly than this.
    Formula(Formula, Tightness),
}

fn chain<'a>(left: &mut Vec<Piece<'a>>, all: &[Formula], between: &'a str, least: Tightness) {
    for (i, a) in all.iter().enumerate().rev() {
        left.push(Piece::Formula(*a, least));
        if i > 0 {
            left.push(Piece::Text(between));
        }
    }
}

impl Unary {
    /// As it is written.
    pub fn symbol(self) -> &'static str {
        match self {
            Self::Next => "X",
            Self::WeakNext => "N",
            Self::Globally => "G",
            Self::Finally => "F",
            Self::Yesterday => "Y",
            Self::Once => "O",
            Self::Historically => "H",
            Self::Past => "P",
        }
    }
}

impl Binary {
    /// As it is written.
    pub fn symbol(self) -> &'static str {
        match self {
            Self::Implies => "->",
            Self::Iff => "<->",
            Self::Until => "U",
            Self::WeakUntil => "W",
            Self::Release => "R",
            Self::StrongRelease => "M",
            Self::Since => "S",
        }
    }
}

impl Comparison {
    /// As it is written.
    pub fn symbol(self) -> &'static str {
        let written = Self::SYMBOLS.iter().rfind(|(_, comparison)| *comparison == self);
        written.expect("every comparison has a symbol").0
    }
}

fn write_atom(out: &mut String, atom: &Atom) -> fmt::Result {
    match atom {
        // The empty text is no atom, the field with the empty name is.
        Atom::Name(name) => write_name(out, name, if name.is_empty() { '`' } else { '"' }, false),
        Atom::Label { kind, text } => {
            write!(out, "{kind}:")?;
            // Inside a label only what could be taken for another token needs quotes.
            if !text.is_empty()
                && text.chars().all(|c| c.is_alphanumeric() || "_-./:=+*".contains(c))
                && !text.contains("=>")
                && !text.contains("->")
            {
                out.push_str(text);
                Ok(())
            } else {
                write_quoted(out, text, '"')
            }
        }
        Atom::Compare(comparison, a, b) => {
            write_term(out, a, 0)?;
            write!(out, " {} ", comparison.symbol())?;
            write_term(out, b, 0)
        }
        Atom::Call(name, terms) => {
            // `Seen(…)` is a call, but `P(…)` is an operator, and `any(…)` takes a test.
            write_name(out, name, '`', name.as_ref() != "P" && Quantifier::from_name(name).is_none())?;
            write_arguments(out, terms)
        }
        Atom::Quantified(quantifier, path, test) => {
            write!(out, "{}(", quantifier.name())?;
            write_term(out, path, 0)?;
            out.push_str(", ");
            match test {
                ValueTest::Compare(comparison, term) => {
                    write!(out, "{} ", comparison.symbol())?;
                    write_term(out, term, 0)?;
                }
                ValueTest::Call(name, terms) => {
                    write_name(out, name, '`', true)?;
                    // A word before a parenthesis would begin its arguments, and before a minus a difference.
                    if let [term @ Term::Literal(Literal::Text(_))] = &**terms {
                        out.push(' ');
                        write_term(out, term, 0)?;
                    } else {
                        write_arguments(out, terms)?;
                    }
                }
            }
            out.push(')');
            Ok(())
        }
        Atom::Quantity(term) => write_term(out, term, 0),
    }
}

fn write_arguments(out: &mut String, terms: &[Term]) -> fmt::Result {
    out.push('(');
    for (i, term) in terms.iter().enumerate() {
        if i > 0 {
            out.push_str(", ");
        }
        write_term(out, term, 0)?;
    }
    out.push(')');
    Ok(())
}

/// Writes a term that stands where operators bind at least as tightly as `least`: 0 sum, 1 product, 2 one operand.
fn write_term(out: &mut String, term: &Term, least: u8) -> fmt::Result {
    match term {
        Term::Field(name) => write_name(out, name, '`', true),
        Term::FieldAt(lifeline, name) => {
            out.push('@');
            write_lifeline(out, lifeline)?;
            out.push('.');
            write_name(out, name, '`', true)
        }
        Term::Literal(Literal::Text(text)) => write_quoted(out, text, '"'),
        Term::Literal(literal) => write!(out, "{}", literal.value()),
        Term::Negate(a) => {
            // `-(3)` is not the number `-3`. Elsewhere no parentheses that need not be: they count as nesting.
            let is_number = matches!(**a, Term::Literal(Literal::Number(_) | Literal::Integer(_)));
            out.push_str(if is_number { "-(" } else { "-" });
            write_term(out, a, 2)?;
            if is_number {
                out.push(')');
            }
            Ok(())
        }
        Term::Arithmetic(operator, a, b) => {
            let (symbol, own) = match operator {
                Arithmetic::Add => ("+", 0),
                Arithmetic::Subtract => ("-", 0),
                Arithmetic::Multiply => ("*", 1),
                Arithmetic::Divide => ("/", 1),
            };
            if own < least {
                out.push('(');
            }
            write_term(out, a, own)?;
            write!(out, " {symbol} ")?;
            write_term(out, b, own + 1)?;
            if own < least {
                out.push(')');
            }
            Ok(())
        }
    }
}

fn write_lifeline(out: &mut String, name: &str) -> fmt::Result {
    let plain = name.starts_with(starts_name) && name.chars().all(continues_name);
    if plain {
        out.push_str(name);
        return Ok(());
    }
    write_quoted(out, name, '`')
}

fn write_name(out: &mut String, name: &str, quote: char, is_term: bool) -> fmt::Result {
    let parts_plain = name.split('.').enumerate().all(|(i, part)| {
        let first = part.chars().next();
        first.is_some_and(|c| starts_name(c) || (i > 0 && c.is_ascii_digit())) && part.chars().all(continues_name)
    });
    let taken = RESERVED.contains(&name) || (!is_term && matches!(name, "P" | "Seen" | "any" | "every"));
    if parts_plain && !taken {
        out.push_str(name);
        return Ok(());
    }
    write_quoted(out, name, quote)
}

fn write_quoted(out: &mut String, text: &str, quote: char) -> fmt::Result {
    out.write_char(quote)?;
    for c in text.chars() {
        match c {
            '\n' => out.write_str("\\n")?,
            '\t' => out.write_str("\\t")?,
            '\r' => out.write_str("\\r")?,
            '\\' => out.write_str("\\\\")?,
            c if c == quote => write!(out, "\\{c}")?,
            c => out.write_char(c)?,
        }
    }
    out.write_char(quote)
}
