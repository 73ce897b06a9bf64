//! The printer: formulas as text that parses back to the same formula, with the fewest parentheses that allow it.

use std::fmt::{self, Write as _};

use super::atom::{Arithmetic, Atom, Comparison, Literal, Quantifier, Term, ValueTest};
use super::formula::{Binary, Causal, Formula, Formulas, Node, Unary};
use super::lexer::{continues_name, starts_name};

/// Words that never name a field.
const RESERVED: [&str; 17] =
    ["X", "N", "G", "F", "U", "W", "R", "M", "Y", "S", "O", "H", "true", "false", "TRUE", "FALSE", "null"];

/// Whether a word is an operator or constant in every position.
pub(super) fn is_reserved(name: &str) -> bool {
    RESERVED.contains(&name)
}

/// Precedence of a printed formula, weakest first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Precedence {
    Arrow,
    Or,
    And,
    Until,
    Prefix,
    Atom,
}

impl Formulas {
    /// The formula as text. [`Formulas::parse`] returns the same formula for it, unless the formula nests deeper than
    /// [`MAX_DEPTH`](super::MAX_DEPTH) or contains atoms that `parse` cannot produce: an empty label, a quantity.
    ///
    /// # Examples
    /// ```
    /// use tlaforge_temporal::Formulas;
    ///
    /// let mut formulas = Formulas::new();
    /// let rule = formulas.parse("((a) && (b)) => ((c) U (d))")?;
    /// assert_eq!(formulas.text(rule), "a & b -> c U d");
    /// let (_, first) = formulas.atoms().next().expect("four atoms");
    /// assert_eq!(formulas.atom_text(first), "a");
    /// # Ok::<(), tlaforge_temporal::ParseError>(())
    /// ```
    pub fn text(&self, formula: Formula) -> String {
        let mut out = String::new();
        self.write(&mut out, formula).expect("a String takes all that is written");
        out
    }

    /// The atom as text in the formula language.
    pub fn atom_text(&self, atom: &Atom) -> String {
        let mut out = String::new();
        write_atom(&mut out, atom).expect("a String takes all that is written");
        out
    }

    fn precedence(&self, formula: Formula) -> Precedence {
        match self.node(formula) {
            Node::True | Node::False | Node::Causal(..) | Node::Seen(_) => Precedence::Atom,
            Node::Unary(Unary::Past, _) => Precedence::Atom,
            // A comparison binds more tightly than `!`, so an atom under a prefix operator needs no parentheses.
            Node::Atom(_) | Node::Not(_) | Node::Unary(..) => Precedence::Prefix,
            Node::And(_) => Precedence::And,
            Node::Or(_) => Precedence::Or,
            Node::Binary(Binary::Implies | Binary::Iff, _) => Precedence::Arrow,
            Node::Binary(..) => Precedence::Until,
        }
    }

    /// Writes a formula with an explicit stack of pending pieces, so that depth costs no call stack.
    fn write(&self, out: &mut String, formula: Formula) -> fmt::Result {
        let mut pending = vec![PendingPiece::Formula(formula, Precedence::Arrow)];
        while let Some(piece) = pending.pop() {
            match piece {
                PendingPiece::Text(text) => out.push_str(text),
                PendingPiece::Formula(formula, least) if self.precedence(formula) < least => {
                    out.push('(');
                    pending.extend([PendingPiece::Text(")"), PendingPiece::Formula(formula, Precedence::Arrow)]);
                }
                PendingPiece::Formula(formula, _) => self.write_head(out, formula, &mut pending)?,
            }
        }
        Ok(())
    }

    /// Writes the text before the first operand and pushes the remaining pieces, the last one first.
    fn write_head<'a>(
        &'a self,
        out: &mut String,
        formula: Formula,
        pending: &mut Vec<PendingPiece<'a>>,
    ) -> fmt::Result {
        match self.node(formula) {
            Node::True => out.push_str("true"),
            Node::False => out.push_str("false"),
            Node::Atom(atom) => write_atom(out, self.atom(*atom))?,
            Node::Not(a) => {
                out.push('!');
                pending.push(PendingPiece::Formula(*a, Precedence::Prefix));
            }
            Node::And(all) => push_operands(pending, all, " & ", Precedence::Until),
            Node::Or(all) => push_operands(pending, all, " | ", Precedence::And),
            Node::Unary(Unary::Past, a) => {
                out.push_str("P(");
                pending.extend([PendingPiece::Text(")"), PendingPiece::Formula(*a, Precedence::Arrow)]);
            }
            Node::Unary(operator, a) => {
                out.push_str(operator.symbol());
                out.push(' ');
                pending.push(PendingPiece::Formula(*a, Precedence::Prefix));
            }
            Node::Binary(operator, [a, b]) => {
                // Right-associative, so only the left operand must bind more tightly.
                let own = self.precedence(formula);
                let tighter = if own == Precedence::Until { Precedence::Prefix } else { Precedence::Or };
                pending.extend([
                    PendingPiece::Formula(*b, own),
                    PendingPiece::Text(" "),
                    PendingPiece::Text(operator.symbol()),
                ]);
                pending.extend([PendingPiece::Text(" "), PendingPiece::Formula(*a, tighter)]);
            }
            Node::Causal(operator, lifeline, a) => {
                out.push_str(if *operator == Causal::PastAt { "P@" } else { "@" });
                write_lifeline(out, lifeline)?;
                out.push('(');
                pending.extend([PendingPiece::Text(")"), PendingPiece::Formula(*a, Precedence::Arrow)]);
            }
            Node::Seen(lifeline) => {
                out.push_str("Seen@");
                write_lifeline(out, lifeline)?;
            }
        }
        Ok(())
    }
}

/// A piece of the text that is still to be written.
enum PendingPiece<'a> {
    Text(&'a str),
    /// A formula, which needs parentheses if its precedence is below this one.
    Formula(Formula, Precedence),
}

fn push_operands<'a>(pending: &mut Vec<PendingPiece<'a>>, all: &[Formula], between: &'a str, least: Precedence) {
    for (i, a) in all.iter().enumerate().rev() {
        pending.push(PendingPiece::Formula(*a, least));
        if i > 0 {
            pending.push(PendingPiece::Text(between));
        }
    }
}

impl Unary {
    /// The symbol in the formula language, such as `G` for [`Unary::Globally`].
    ///
    /// # Examples
    /// ```
    /// use tlaforge_temporal::{Binary, Unary};
    ///
    /// assert_eq!((Unary::Globally.symbol(), Binary::StrongRelease.symbol()), ("G", "M"));
    /// ```
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
    /// The symbol in the formula language, such as `->` for [`Binary::Implies`].
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
    /// The symbol in the formula language: `=`, not `==`, for [`Comparison::Equal`].
    pub fn symbol(self) -> &'static str {
        let written = Self::SYMBOLS.iter().rfind(|(_, comparison)| *comparison == self);
        written.expect("every comparison has a symbol").0
    }
}

fn write_atom(out: &mut String, atom: &Atom) -> fmt::Result {
    match atom {
        // `""` is the empty text, which is no atom, so a field with an empty name is written in backticks.
        Atom::Name(name) => write_name(out, name, if name.is_empty() { '`' } else { '"' }, false),
        Atom::Label { kind, text } => {
            write!(out, "{kind}:")?;
            // Inside a label only characters that could start another token need quotes.
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
            // `Seen(…)` parses as a call, but `P(…)` as an operator and `any(…)` as a quantifier.
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
                    // Other single arguments need parentheses: `p (a)` would parse as a list of arguments, and `p -1` as a
                    // difference.
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

/// Writes a term, in parentheses if its operator binds less tightly than `least`: 0 sum, 1 product, 2 unary.
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
            // `-(3)` is a negation, `-3` a literal. No other parentheses here, because they count as nesting when parsed.
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
            // Left-associative: `a - (b - c)` keeps its parentheses.
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
    // The last four are special before `(` or `@`, which never follow a term.
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
