//! Expands macros: replaces each call by the statements of the macro, with its arguments in place of the parameters.

use std::collections::{HashMap, HashSet};

use super::ast::Assignment;
use super::expr::{Expr, TokenKind, Wrapping};
use super::parsed_statement::{ParsedKind, ParsedStatement, check_depth};
use super::position::Position;
use super::source::{ParseResult, SyntaxError, syntax_error};

/// Limit on the statements and tokens that all macro calls expand to: a macro that calls another twice doubles it.
const MAX_SIZE: usize = 1_000_000;

/// A macro. The macro calls in its body are already expanded.
#[derive(Debug, Clone)]
pub(super) struct Macro {
    pub position: Position,
    pub name: String,
    pub parameters: Vec<String>,
    pub body: Vec<ParsedStatement>,
    /// The nesting depth of its body.
    pub depth: usize,
}

/// The macros of an algorithm. If two have the same name, calls refer to the later one.
#[derive(Debug, Default)]
pub(super) struct Macros {
    by_name: HashMap<String, Macro>,
    /// The error for the first macro that is defined twice.
    duplicate: Option<SyntaxError>,
}

impl Macros {
    pub(super) fn add(&mut self, one: Macro) {
        let message = format!("the macro `{}` is defined twice", one.name);
        let error = SyntaxError { position: one.position, message };
        if self.by_name.insert(one.name.clone(), one).is_some() {
            self.duplicate.get_or_insert(error);
        }
    }

    /// Rejects two macros with the same name.
    pub(super) fn check(&self) -> ParseResult<()> {
        self.duplicate.clone().map_or(Ok(()), Err)
    }
}

/// A call that is being expanded.
struct Call<'a> {
    position: Position,
    arguments: HashMap<String, Expr>,
    /// Parameters that are declared twice; using one is an error.
    duplicate_parameters: HashSet<String>,
    definition: &'a Macro,
}

/// Expands calls and counts the size of the result.
#[derive(Debug, Default)]
pub(super) struct Expansion {
    size: usize,
}

impl Expansion {
    /// Expands the calls in statements. `depth` is the nesting depth of the statements themselves.
    pub(super) fn expand(
        &mut self,
        statements: Vec<ParsedStatement>,
        macros: &Macros,
        depth: usize,
    ) -> ParseResult<Vec<ParsedStatement>> {
        let mut found = Vec::with_capacity(statements.len());
        for mut statement in statements {
            match &mut statement.kind {
                ParsedKind::MacroCall { name, arguments } => {
                    let call = call(statement.position, name, std::mem::take(arguments), macros)?;
                    // Before the expansion, which copies the body recursively.
                    check_depth(depth + call.definition.depth, call.position)?;
                    let mut body = self.sequence(&call.definition.body, &call)?;
                    // As in the reference, a macro without statements removes the label of its call.
                    if let Some(first) = body.first_mut() {
                        first.label = statement.label;
                    }
                    found.extend(body);
                    continue;
                }
                ParsedKind::While { body, .. } | ParsedKind::With { body, .. } => {
                    *body = self.expand(std::mem::take(body), macros, depth + 1)?;
                }
                ParsedKind::If { then, otherwise, .. } => {
                    *then = self.expand(std::mem::take(then), macros, depth + 1)?;
                    *otherwise = self.expand(std::mem::take(otherwise), macros, depth + 1)?;
                }
                ParsedKind::Either(clauses) => {
                    for clause in clauses {
                        *clause = self.expand(std::mem::take(clause), macros, depth + 1)?;
                    }
                }
                _ => {}
            }
            found.push(statement);
        }
        Ok(found)
    }

    fn count(&mut self, size: usize, call: &Call<'_>) -> ParseResult<()> {
        self.size = self.size.saturating_add(size);
        if self.size > MAX_SIZE {
            return syntax_error(
                call.position,
                format!("the macro calls expand to more than {MAX_SIZE} statements and symbols"),
            );
        }
        Ok(())
    }

    fn sequence(&mut self, statements: &[ParsedStatement], call: &Call<'_>) -> ParseResult<Vec<ParsedStatement>> {
        statements.iter().map(|statement| self.statement(statement, call)).collect()
    }

    fn statement(&mut self, statement: &ParsedStatement, call: &Call<'_>) -> ParseResult<ParsedStatement> {
        self.count(1, call)?;
        let kind = match &statement.kind {
            ParsedKind::While { test, body } => {
                ParsedKind::While { test: self.expr(test, call)?, body: self.sequence(body, call)? }
            }
            ParsedKind::Assign(all) => {
                ParsedKind::Assign(all.iter().map(|one| self.assignment(one, call)).collect::<ParseResult<_>>()?)
            }
            ParsedKind::If { test, then, otherwise } => ParsedKind::If {
                test: self.expr(test, call)?,
                then: self.sequence(then, call)?,
                otherwise: self.sequence(otherwise, call)?,
            },
            ParsedKind::Either(clauses) => ParsedKind::Either(
                clauses.iter().map(|clause| self.sequence(clause, call)).collect::<ParseResult<_>>()?,
            ),
            ParsedKind::With { variable, binding, value, body } => ParsedKind::With {
                variable: variable.clone(),
                binding: *binding,
                value: self.expr(value, call)?,
                body: self.sequence(body, call)?,
            },
            ParsedKind::When(expr) => ParsedKind::When(self.expr(expr, call)?),
            ParsedKind::Print(expr) => ParsedKind::Print(self.expr(expr, call)?),
            ParsedKind::Assert(expr) => ParsedKind::Assert(self.expr(expr, call)?),
            ParsedKind::Call { procedure, arguments } => {
                ParsedKind::Call { procedure: procedure.clone(), arguments: self.exprs(arguments, call)? }
            }
            ParsedKind::CallReturn { from, procedure, arguments } => ParsedKind::CallReturn {
                from: from.clone(),
                procedure: procedure.clone(),
                arguments: self.exprs(arguments, call)?,
            },
            ParsedKind::CallGoto { procedure, arguments, to } => ParsedKind::CallGoto {
                procedure: procedure.clone(),
                arguments: self.exprs(arguments, call)?,
                to: to.clone(),
            },
            ParsedKind::Skip | ParsedKind::Return { .. } | ParsedKind::Goto { .. } | ParsedKind::MacroCall { .. } => {
                statement.kind.clone()
            }
        };
        // Macros have no labels. The position of an inner call is overwritten: calls in macros were expanded first.
        Ok(ParsedStatement { position: statement.position, macro_position: Some(call.position), label: None, kind })
    }

    fn exprs(&mut self, exprs: &[Expr], call: &Call<'_>) -> ParseResult<Vec<Expr>> {
        exprs.iter().map(|expr| self.expr(expr, call)).collect()
    }

    fn expr(&mut self, expr: &Expr, call: &Call<'_>) -> ParseResult<Expr> {
        // Counted before the replacement, which is what takes the memory.
        let size = |text: &str| call.arguments.get(text).map_or(1, |expr| expr.tokens().count());
        self.count(expr.tokens().map(|token| size(&token.text)).sum(), call)?;
        if let Some(token) = expr.tokens().find(|token| call.duplicate_parameters.contains(&token.text)) {
            let message = format!("the macro `{}` has two parameters `{}`", call.definition.name, token.text);
            return syntax_error(token.position, message);
        }
        let mut expr = expr.normalized();
        match expr.substitute(&call.arguments, Wrapping::Parentheses) {
            Ok(()) => Ok(expr),
            Err(moved) => syntax_error(
                moved.position,
                format!(
                    "{moved}: give the macro's parameter a shorter name, or start a line after it ({})",
                    call_position(call.position)
                ),
            ),
        }
    }

    /// Expands an assignment. If its variable is a parameter, the first token of the argument becomes the variable and
    /// the rest of the argument precedes the subscript.
    fn assignment(&mut self, one: &Assignment, call: &Call<'_>) -> ParseResult<Assignment> {
        let value = self.expr(&one.value, call)?;
        let mut subscript = self.expr(&one.subscript, call)?;
        let mut variable = one.variable.clone();
        if let Some(by) = call.arguments.get(&one.variable) {
            // `x := 1` with the argument `f[i]` for `x` becomes an assignment to `f` with the subscript `[i]`.
            let mut tokens = by.lines().to_vec();
            let first = tokens.first_mut().filter(|line| !line.is_empty()).map(|line| line.remove(0));
            match first {
                Some(first) if first.kind == TokenKind::Ident => variable = first.text,
                other => {
                    let found = other.map(|token| token.text).unwrap_or_default();
                    let message =
                        format!("`{found}` replaces the variable of an assignment ({})", call_position(call.position));
                    return syntax_error(one.position, message);
                }
            }
            let mut rest = Expr::from_lines(tokens);
            if rest.append(subscript, 0).is_err() {
                return syntax_error(one.position, "the subscript of the assignment cannot be aligned");
            }
            subscript = rest;
        }
        Ok(Assignment { position: one.position, variable, subscript, value })
    }
}

fn call_position(position: Position) -> String {
    format!("the macro is called at line {}, column {}", position.line, position.column)
}

fn call<'a>(position: Position, name: &str, arguments: Vec<Expr>, macros: &'a Macros) -> ParseResult<Call<'a>> {
    let Some(definition) = macros.by_name.get(name) else {
        return syntax_error(position, format!("there is no macro `{name}` above the call"));
    };
    if definition.parameters.len() != arguments.len() {
        let message =
            format!("the macro `{name}` takes {} arguments and not {}", definition.parameters.len(), arguments.len());
        return syntax_error(position, message);
    }
    let (mut values, mut duplicate_parameters) = (HashMap::new(), HashSet::new());
    for (parameter, argument) in definition.parameters.iter().zip(arguments) {
        if values.contains_key(parameter) {
            duplicate_parameters.insert(parameter.clone());
        } else {
            values.insert(parameter.clone(), argument);
        }
    }
    Ok(Call { position, arguments: values, duplicate_parameters, definition })
}
