//! The part of the parser for single tokens and for expressions.

use super::ast::Binding;
use super::expr::{Expr, Token, TokenKind};
use super::parse::{Parser, Syntax};
use super::source::{ParseResult, syntax_error};
use super::symbols;
use super::token::{Kind, Lexeme};

/// Whether the token ends an expression.
fn ends_expression(text: &str) -> bool {
    matches!(
        text,
        ";" | "do"
            | "then"
            | ":="
            | "≔"
            | "begin"
            | "variable"
            | "variables"
            | "||"
            | "‖"
            | "end"
            | "else"
            | "elsif"
            | "if"
            | "either"
            | "or"
            | "while"
            | "with"
            | "call"
            | "return"
            | "goto"
            | "print"
            | "assert"
            | "skip"
            | "procedure"
            | "define"
            | "process"
            | "fair"
    )
}

impl Parser<'_> {
    /// The next token after `skipped` others, without taking it.
    pub(super) fn peek(&mut self, skipped: usize) -> ParseResult<&Lexeme> {
        while self.lookahead.len() <= skipped {
            match self.lexer.next()? {
                Some(lexeme) => self.lookahead.push_back(lexeme),
                None => {
                    return syntax_error(
                        self.last_position,
                        "the module ends before the algorithm does; is a comment not closed?",
                    );
                }
            }
        }
        Ok(&self.lookahead[skipped])
    }

    /// Whether the next token is one of these.
    pub(super) fn next_is(&mut self, any: &[&str]) -> ParseResult<bool> {
        let next = &self.peek(0)?.text;
        Ok(any.contains(&next.as_str()))
    }

    pub(super) fn take(&mut self) -> ParseResult<Lexeme> {
        self.last_position = self.peek(0)?.position;
        Ok(self.lookahead.pop_front().expect("a token was just seen"))
    }

    /// Takes the next token if it is this one.
    pub(super) fn take_if(&mut self, text: &str) -> ParseResult<bool> {
        let there = self.next_is(&[text])?;
        if there {
            self.take()?;
        }
        Ok(there)
    }

    /// Takes the next token, which must be this one.
    pub(super) fn expect(&mut self, text: &str) -> ParseResult<()> {
        let found = self.take()?;
        if found.text == text {
            Ok(())
        } else {
            syntax_error(found.position, format!("expected `{text}` but found `{}`", found.text))
        }
    }

    /// Takes a semicolon, which may be missing if the next token shows that the statement has ended.
    pub(super) fn semicolon(&mut self) -> ParseResult<()> {
        let next = self.peek(0)?;
        match next.text.as_str() {
            "end" | "begin" | "else" | "elsif" | "or" | "do" | "macro" | "procedure" | "process" | "fair"
            | "define" | "}" | "{" => Ok(()),
            "if" | "either" | "while" | "with" | "call" | "return" | "goto" | "print" | "assert" | "skip" => {
                syntax_error(next.position, format!("expected `;` before `{}`", next.text))
            }
            _ => self.expect(";"),
        }
    }

    pub(super) fn comma_or_semicolon(&mut self) -> ParseResult<()> {
        if self.take_if(",")? { Ok(()) } else { self.semicolon() }
    }

    pub(super) fn begin(&mut self) -> ParseResult<()> {
        self.expect(if self.syntax == Syntax::P { "begin" } else { "{" })
    }

    /// Takes the end of the construct that this keyword starts.
    pub(super) fn end(&mut self, word: &str) -> ParseResult<()> {
        if self.syntax == Syntax::C {
            return self.expect("}");
        }
        self.expect("end")?;
        self.expect(word)
    }

    pub(super) fn binding(&mut self) -> ParseResult<Binding> {
        let found = self.take()?;
        match found.text.as_str() {
            "=" => Ok(Binding::Equals),
            "\\in" | "∈" => Ok(Binding::In),
            other => syntax_error(found.position, format!("expected `=` or `\\in` but found `{other}`")),
        }
    }

    /// Parses an expression, which ends before the first token that cannot belong to it. It may be empty.
    pub(super) fn expression(&mut self) -> ParseResult<Expr> {
        let mut lines: Vec<Vec<Token>> = Vec::new();
        // Without a grammar of TLA+: brackets and a few words decide where the expression ends.
        let (mut depth, mut quantifier, mut before, mut line) = (0_usize, None, String::new(), None);
        loop {
            let next = self.peek(0)?;
            let (text, position) = (next.text.as_str(), next.position);
            let Kind::Token(kind) = next.kind else {
                return syntax_error(position, format!("`{text}` is not allowed in an expression"));
            };
            if kind != TokenKind::String {
                // There a keyword is the name of a record field: `r.do`, `[end |-> 1]`.
                let field = kind == TokenKind::Ident && matches!(before.as_str(), "." | "[" | ",");
                // Between `\A` and its `:` a comma separates bound variables, as in `\A x \in S, y \in T : P`.
                let outside = (text == "," && quantifier.is_none()) || text == ")" || text == "}";
                if (ends_expression(text) && !field) || (outside && depth == 0) {
                    if depth > 0 {
                        let message = format!("`(`, `[`, `{{` or `<<` is not closed in the expression before `{text}`");
                        return syntax_error(position, message);
                    }
                    if let Some(symbol) = quantifier {
                        return syntax_error(
                            position,
                            format!("expected `:` after `{symbol}` in the expression before `{text}`"),
                        );
                    }
                    return Ok(Expr::from_lines(lines));
                }
            }
            if kind == TokenKind::Builtin {
                if symbols::opens(text) {
                    depth += 1;
                } else if symbols::closes(text) {
                    let Some(less) = depth.checked_sub(1) else {
                        return syntax_error(
                            position,
                            format!("`{text}` closes nothing that was opened in the expression"),
                        );
                    };
                    depth = less;
                }
            }
            if depth == 0 && kind == TokenKind::Builtin {
                match text {
                    "\\A" | "∀" | "\\E" | "∃" => quantifier = Some(text.to_owned()),
                    ":" => quantifier = None,
                    _ => {}
                }
            }
            let Lexeme { text, position, .. } = self.take()?;
            before = if kind == TokenKind::String { String::new() } else { text.clone() };
            let from = *line.get_or_insert(position.line);
            // Empty lines stay, so that the layout of the author does.
            lines.resize(position.line - from + 1, Vec::new());
            let last = lines.last_mut().expect("a line was just added");
            last.push(Token { text, column: position.column - 1, kind, position });
        }
    }

    /// Parses an expression that must not be empty; `expected` describes it in the error.
    pub(super) fn nonempty_expression(&mut self, expected: &str) -> ParseResult<Expr> {
        let expr = self.expression()?;
        if expr.is_empty() {
            let next = self.peek(0)?;
            return syntax_error(next.position, format!("expected {expected} but found `{}`", next.text));
        }
        Ok(expr)
    }
}
