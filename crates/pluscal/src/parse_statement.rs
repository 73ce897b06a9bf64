//! The part of the parser for statements.

use super::ast::Assignment;
use super::expr::Expr;
use super::parse::{Parser, Syntax};
use super::parsed_statement::{ParsedKind, ParsedStatement, check_depth};
use super::position::Position;
use super::source::{ParseResult, syntax_error};

/// Words that start a statement or end a sequence, so they cannot be labels.
const KEYWORDS: &[&str] = &[
    "while", "if", "assert", "print", "else", "elsif", "either", "or", "end", "with", "when", "await", "skip", "call",
    "return", "goto",
];

impl Parser<'_> {
    /// Parses statements up to the token that ends the sequence.
    pub(super) fn statements(&mut self) -> ParseResult<Vec<ParsedStatement>> {
        let ends: &[&str] = match self.syntax {
            Syntax::P => &["end", "else", "elsif", "or"],
            Syntax::C => &["}"],
        };
        let mut found = Vec::new();
        while !self.next_is(ends)? {
            found.extend(self.statement_or_block()?);
        }
        if self.syntax == Syntax::C && found.is_empty() {
            let position = self.peek(0)?.position;
            return syntax_error(position, "expected a statement but found `}`");
        }
        Ok(found)
    }

    /// Parses a statement with its label, or in c-syntax a block in braces.
    fn statement_or_block(&mut self) -> ParseResult<Vec<ParsedStatement>> {
        let label = self.label()?;
        if self.syntax == Syntax::P || !self.next_is(&["{"])? {
            let mut statement = self.statement()?;
            statement.label = label;
            return Ok(vec![statement]);
        }
        self.expect("{")?;
        self.depth += 1;
        check_depth(self.depth, self.last_position)?;
        let mut statements = self.statements()?;
        self.depth -= 1;
        self.expect("}")?;
        self.semicolon()?;
        if let (Some(first), Some(label)) = (statements.first_mut(), label) {
            if first.label.is_some() {
                return syntax_error(
                    first.position,
                    format!("the statement has a label of its own, and `{label}` before its block"),
                );
            }
            first.label = Some(label);
        }
        Ok(statements)
    }

    fn label(&mut self) -> ParseResult<Option<String>> {
        if self.next_is(KEYWORDS)? {
            return Ok(None);
        }
        // At the end of the module, the parser of statements reports the error.
        let Ok(after) = self.peek(1) else { return Ok(None) };
        if !after.starts_with(":") || after.starts_with(":=") {
            return Ok(None);
        }
        let label = self.take()?;
        if self.in_macro {
            return syntax_error(label.position, "a label is not allowed in a macro");
        }
        // The values of `pc` at the end of a process, and of a procedure that ends without `return`.
        if label.text == "Done" || label.text == "Error" {
            return syntax_error(label.position, format!("`{}` may not be used as a label", label.text));
        }
        self.expect(":")?;
        self.record_label(&label.text)?;
        Ok(Some(label.text))
    }

    fn statement(&mut self) -> ParseResult<ParsedStatement> {
        let next = self.peek(0)?;
        let (word, position) = (next.text.clone(), next.position);
        self.depth += 1;
        check_depth(self.depth, position)?;
        // After an error the depth is not restored: the first error ends the parse.
        let statement = match word.as_str() {
            "if" => self.if_statement(position),
            "either" => self.either_statement(position),
            "with" => self.with_statement(),
            "while" => self.while_statement(position),
            "when" | "await" => self.simple(position, "a condition", ParsedKind::When),
            "print" => self.simple(position, "an expression to print", ParsedKind::Print),
            "assert" => self.simple(position, "a condition", ParsedKind::Assert),
            "skip" => {
                self.take()?;
                self.semicolon()?;
                Ok(ParsedStatement::new(position, ParsedKind::Skip))
            }
            "call" => self.call(position),
            "return" => {
                self.take()?;
                self.semicolon()?;
                let from = self.procedure.clone().unwrap_or_default();
                Ok(ParsedStatement::new(position, ParsedKind::Return { from }))
            }
            "goto" => {
                self.take()?;
                let to = self.take()?.text;
                self.record_goto(&to);
                self.semicolon()?;
                Ok(ParsedStatement::new(position, ParsedKind::Goto { to }))
            }
            _ if self.peek(1).is_ok_and(|after| after.starts_with("(")) => self.macro_call(position),
            _ => self.assign(position),
        }?;
        self.depth -= 1;
        Ok(statement)
    }

    /// Parses a keyword, an expression and a semicolon.
    fn simple(
        &mut self,
        position: Position,
        expected: &str,
        kind: impl Fn(Expr) -> ParsedKind,
    ) -> ParseResult<ParsedStatement> {
        self.take()?;
        let expr = self.nonempty_expression(expected)?;
        self.semicolon()?;
        Ok(ParsedStatement::new(position, kind(expr)))
    }

    /// Parses a condition, which is in parentheses in c-syntax.
    fn test(&mut self, expected: &str) -> ParseResult<Expr> {
        if self.syntax == Syntax::P {
            return self.nonempty_expression(expected);
        }
        self.expect("(")?;
        let test = self.nonempty_expression(expected)?;
        self.expect(")")?;
        Ok(test)
    }

    fn while_statement(&mut self, position: Position) -> ParseResult<ParsedStatement> {
        self.expect("while")?;
        let test = self.test("the test of the `while`")?;
        let body = if self.syntax == Syntax::P {
            self.expect("do")?;
            let body = self.statements()?;
            self.end("while")?;
            self.semicolon()?;
            body
        } else {
            self.statement_or_block()?
        };
        if body.is_empty() {
            return syntax_error(position, "the `while` has no body");
        }
        Ok(ParsedStatement::new(position, ParsedKind::While { test, body }))
    }

    fn if_statement(&mut self, position: Position) -> ParseResult<ParsedStatement> {
        self.expect("if")?;
        if self.syntax == Syntax::C {
            let test = self.test("the test of the `if`")?;
            let then = self.statement_or_block()?;
            let otherwise = if self.take_if("else")? { self.statement_or_block()? } else { Vec::new() };
            return Ok(ParsedStatement::new(position, ParsedKind::If { test, then, otherwise }));
        }
        let outer = self.depth;
        let mut arms = Vec::new();
        let mut arm = position;
        let mut otherwise = Vec::new();
        loop {
            let test = self.nonempty_expression("the test of the `if`")?;
            self.expect("then")?;
            arms.push((arm, test, self.statements()?));
            arm = self.peek(0)?.position;
            if self.take_if("elsif")? {
                // It nests, although it does not look like it.
                self.depth += 1;
                check_depth(self.depth, arm)?;
            } else if self.take_if("else")? {
                otherwise = self.statements()?;
                break;
            } else if self.next_is(&["end"])? {
                break;
            } else {
                let found = self.peek(0)?;
                return syntax_error(
                    found.position,
                    format!("expected `else`, `elsif` or `end` but found `{}`", found.text),
                );
            }
        }
        self.end("if")?;
        self.semicolon()?;
        self.depth = outer;
        // From the last arm outwards: each `elsif` is an `if` in the `else` of the arm before.
        let mut statement = None;
        for (position, test, then) in arms.into_iter().rev() {
            otherwise.extend(statement.take());
            if then.is_empty() && otherwise.is_empty() {
                return syntax_error(position, "the `if` has neither a statement after `then` nor one after `else`");
            }
            statement = Some(ParsedStatement::new(
                position,
                ParsedKind::If { test, then, otherwise: std::mem::take(&mut otherwise) },
            ));
        }
        Ok(statement.expect("an `if` has an arm"))
    }

    fn either_statement(&mut self, position: Position) -> ParseResult<ParsedStatement> {
        self.expect("either")?;
        let mut clauses = Vec::new();
        loop {
            let clause = if self.syntax == Syntax::P { self.statements()? } else { self.statement_or_block()? };
            if clause.is_empty() {
                return syntax_error(position, "the `either` has an empty clause");
            }
            clauses.push(clause);
            if !self.take_if("or")? {
                break;
            }
        }
        if self.syntax == Syntax::P {
            self.end("either")?;
            self.semicolon()?;
        }
        if clauses.len() < 2 {
            return syntax_error(position, "the `either` has no `or`");
        }
        Ok(ParsedStatement::new(position, ParsedKind::Either(clauses)))
    }

    /// Parses a `with`. If it binds several names, it becomes nested statements. As in the reference, the position of each
    /// is that of the token before its name.
    fn with_statement(&mut self) -> ParseResult<ParsedStatement> {
        self.expect("with")?;
        if self.syntax == Syntax::C {
            self.expect("(")?;
        }
        let outer = self.depth;
        let mut bindings = Vec::new();
        loop {
            let position = self.last_position;
            let variable = self.take()?.text;
            let binding = self.binding()?;
            let value = self.expression()?;
            // In p-syntax `do` also ends the last binding: `semicolon` does not ask for one before it.
            let done = if self.syntax == Syntax::P { "do" } else { ")" };
            if self.syntax == Syntax::P || !self.next_is(&[done])? {
                self.comma_or_semicolon()?;
            }
            if value.is_empty() {
                return syntax_error(position, format!("expected a value for `{variable}`"));
            }
            bindings.push((position, variable, binding, value));
            if self.take_if(done)? {
                break;
            }
            self.depth += 1;
            check_depth(self.depth, position)?;
        }
        let mut body = if self.syntax == Syntax::P {
            let body = self.statements()?;
            self.end("with")?;
            self.semicolon()?;
            body
        } else {
            self.statement_or_block()?
        };
        self.depth = outer;
        if body.is_empty() {
            return syntax_error(bindings[0].0, "the `with` has no body");
        }
        for (position, variable, binding, value) in bindings.into_iter().rev() {
            body = vec![ParsedStatement::new(position, ParsedKind::With { variable, binding, value, body })];
        }
        Ok(body.pop().expect("a `with` binds a name"))
    }

    fn assign(&mut self, position: Position) -> ParseResult<ParsedStatement> {
        let mut all = Vec::new();
        loop {
            let variable = self.take()?;
            let subscript = self.expression()?;
            let sign = self.take()?;
            if sign.text != ":=" && sign.text != "≔" {
                return syntax_error(sign.position, format!("expected `:=` but found `{}`", sign.text));
            }
            let value = self.nonempty_expression("the right-hand side of the assignment")?;
            all.push(Assignment { position: variable.position, variable: variable.text, subscript, value });
            if !self.take_if("||")? && !self.take_if("‖")? {
                break;
            }
        }
        self.semicolon()?;
        Ok(ParsedStatement::new(position, ParsedKind::Assign(all)))
    }

    /// Parses the arguments of a procedure or a macro.
    fn arguments(&mut self) -> ParseResult<Vec<Expr>> {
        self.expect("(")?;
        let mut found = Vec::new();
        if !self.peek(0)?.starts_with(")") {
            loop {
                found.push(self.nonempty_expression("an argument")?);
                if self.next_is(&[")"])? {
                    break;
                }
                self.expect(",")?;
            }
        }
        self.expect(")")?;
        Ok(found)
    }

    fn macro_call(&mut self, position: Position) -> ParseResult<ParsedStatement> {
        let name = self.take()?.text;
        let arguments = self.arguments()?;
        self.semicolon()?;
        Ok(ParsedStatement::new(position, ParsedKind::MacroCall { name, arguments }))
    }

    /// Parses a call and an optional `return` or `goto` after it.
    fn call(&mut self, position: Position) -> ParseResult<ParsedStatement> {
        self.expect("call")?;
        let procedure = self.take()?.text;
        let arguments = self.arguments()?;
        self.semicolon()?;
        self.record_call(&procedure);
        let kind = if self.take_if("return")? {
            self.semicolon()?;
            let from = self.procedure.clone().unwrap_or_default();
            ParsedKind::CallReturn { from, procedure, arguments }
        } else if self.take_if("goto")? {
            let to = self.take()?.text;
            // The reference records the name of the procedure here, not the label.
            self.record_goto(&procedure);
            self.semicolon()?;
            ParsedKind::CallGoto { procedure, arguments, to }
        } else {
            ParsedKind::Call { procedure, arguments }
        };
        Ok(ParsedStatement::new(position, kind))
    }
}
