//! Macros: each call becomes the statements of the macro, with the arguments in place of the parameters.

use std::collections::{HashMap, HashSet};

use super::ast::Assignment;
use super::draft::{Draft, DraftKind, check_depth};
use super::expr::{Around, Expr, TokenKind};
use super::position::Position;
use super::source::{Fault, Parsing, fault};

/// How many statements and tokens the calls of macros may become in all.
const MAX_SIZE: usize = 1_000_000;

/// A macro. No call of another macro is left in its body.
#[derive(Debug, Clone)]
pub(super) struct Macro {
    pub position: Position,
    pub name: String,
    pub parameters: Vec<String>,
    pub body: Vec<Draft>,
    /// How deep the statements of its body are nested.
    pub height: usize,
}

/// The macros of an algorithm. Of two with the same name the later one counts.
#[derive(Debug, Default)]
pub(super) struct Macros {
    by_name: HashMap<String, Macro>,
    twice: Option<Fault>,
}

impl Macros {
    pub(super) fn add(&mut self, one: Macro) {
        let message = format!("the macro `{}` is defined twice", one.name);
        let fault = Fault { position: one.position, message };
        if self.by_name.insert(one.name.clone(), one).is_some() {
            self.twice.get_or_insert(fault);
        }
    }

    /// Refuses two macros with the same name.
    pub(super) fn check(&self) -> Parsing<()> {
        self.twice.clone().map_or(Ok(()), Err)
    }
}

/// A call that is being expanded.
struct Call<'a> {
    position: Position,
    by: HashMap<String, Expr>,
    /// Parameters that occur twice; using one is an error.
    twice: HashSet<String>,
    of: &'a Macro,
}

/// Expands calls, and counts what they become: a macro that calls another twice doubles it.
#[derive(Debug, Default)]
pub(super) struct Expansion {
    size: usize,
}

impl Expansion {
    /// The statements with the calls in them expanded. `depth` is how deep they are nested.
    pub(super) fn expand(&mut self, statements: Vec<Draft>, macros: &Macros, depth: usize) -> Parsing<Vec<Draft>> {
        let mut found = Vec::with_capacity(statements.len());
        for mut statement in statements {
            match &mut statement.kind {
                DraftKind::MacroCall { name, arguments } => {
                    let call = call(statement.position, name, std::mem::take(arguments), macros)?;
                    check_depth(depth + call.of.height, call.position)?;
                    let mut body = self.sequence(&call.of.body, &call)?;
                    // A macro without statements takes the label away with it.
                    if let Some(first) = body.first_mut() {
                        first.label = statement.label;
                    }
                    found.extend(body);
                    continue;
                }
                DraftKind::While { body, .. } | DraftKind::With { body, .. } => {
                    *body = self.expand(std::mem::take(body), macros, depth + 1)?;
                }
                DraftKind::If { then, otherwise, .. } => {
                    *then = self.expand(std::mem::take(then), macros, depth + 1)?;
                    *otherwise = self.expand(std::mem::take(otherwise), macros, depth + 1)?;
                }
                DraftKind::Either(clauses) => {
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

    fn count(&mut self, size: usize, call: &Call<'_>) -> Parsing<()> {
        self.size = self.size.saturating_add(size);
        if self.size > MAX_SIZE {
            return fault(
                call.position,
                format!("the calls of macros become more than {MAX_SIZE} statements and symbols"),
            );
        }
        Ok(())
    }

    fn sequence(&mut self, statements: &[Draft], call: &Call<'_>) -> Parsing<Vec<Draft>> {
        statements.iter().map(|statement| self.statement(statement, call)).collect()
    }

    fn statement(&mut self, statement: &Draft, call: &Call<'_>) -> Parsing<Draft> {
        self.count(1, call)?;
        let kind = match &statement.kind {
            DraftKind::While { test, body } => {
                DraftKind::While { test: self.expr(test, call)?, body: self.sequence(body, call)? }
            }
            DraftKind::Assign(all) => {
                DraftKind::Assign(all.iter().map(|one| self.assignment(one, call)).collect::<Parsing<_>>()?)
            }
            DraftKind::If { test, then, otherwise } => DraftKind::If {
                test: self.expr(test, call)?,
                then: self.sequence(then, call)?,
                otherwise: self.sequence(otherwise, call)?,
            },
            DraftKind::Either(clauses) => {
                DraftKind::Either(clauses.iter().map(|clause| self.sequence(clause, call)).collect::<Parsing<_>>()?)
            }
            DraftKind::With { variable, binding, value, body } => DraftKind::With {
                variable: variable.clone(),
                binding: *binding,
                value: self.expr(value, call)?,
                body: self.sequence(body, call)?,
            },
            DraftKind::When(expr) => DraftKind::When(self.expr(expr, call)?),
            DraftKind::Print(expr) => DraftKind::Print(self.expr(expr, call)?),
            DraftKind::Assert(expr) => DraftKind::Assert(self.expr(expr, call)?),
            DraftKind::Call { procedure, arguments } => {
                DraftKind::Call { procedure: procedure.clone(), arguments: self.exprs(arguments, call)? }
            }
            DraftKind::CallReturn { from, procedure, arguments } => DraftKind::CallReturn {
                from: from.clone(),
                procedure: procedure.clone(),
                arguments: self.exprs(arguments, call)?,
            },
            DraftKind::CallGoto { procedure, arguments, to } => DraftKind::CallGoto {
                procedure: procedure.clone(),
                arguments: self.exprs(arguments, call)?,
                to: to.clone(),
            },
            DraftKind::Skip | DraftKind::Return { .. } | DraftKind::Goto { .. } | DraftKind::MacroCall { .. } => {
                statement.kind.clone()
            }
        };
        Ok(Draft { position: statement.position, macro_position: Some(call.position), label: None, kind })
    }

    fn exprs(&mut self, exprs: &[Expr], call: &Call<'_>) -> Parsing<Vec<Expr>> {
        exprs.iter().map(|expr| self.expr(expr, call)).collect()
    }

    fn expr(&mut self, expr: &Expr, call: &Call<'_>) -> Parsing<Expr> {
        let size = |text: &str| call.by.get(text).map_or(1, |expr| expr.tokens().count());
        self.count(expr.tokens().map(|token| size(&token.text)).sum(), call)?;
        if let Some(token) = expr.tokens().find(|token| call.twice.contains(&token.text)) {
            let message = format!("the macro `{}` has two parameters `{}`", call.of.name, token.text);
            return fault(token.position, message);
        }
        let mut expr = expr.normalized();
        match expr.substitute(&call.by, Around::Parentheses) {
            Ok(()) => Ok(expr),
            Err(moved) => fault(
                moved.position,
                format!(
                    "{moved}: give the macro's parameter a shorter name, or start a line after it ({})",
                    called(call.position)
                ),
            ),
        }
    }

    /// In an assignment the first token of what is put in for the variable becomes the variable, and the rest stands
    /// before the subscript.
    fn assignment(&mut self, one: &Assignment, call: &Call<'_>) -> Parsing<Assignment> {
        let value = self.expr(&one.value, call)?;
        let mut subscript = self.expr(&one.subscript, call)?;
        let mut variable = one.variable.clone();
        if let Some(by) = call.by.get(&one.variable) {
            let mut tokens = by.lines().to_vec();
            let first = tokens.first_mut().filter(|line| !line.is_empty()).map(|line| line.remove(0));
            match first {
                Some(first) if first.kind == TokenKind::Ident => variable = first.text,
                other => {
                    let found = other.map(|token| token.text).unwrap_or_default();
                    let message =
                        format!("`{found}` is put in for the variable of an assignment ({})", called(call.position));
                    return fault(one.position, message);
                }
            }
            let mut rest = Expr::from_lines(tokens);
            if rest.append(subscript, 0).is_err() {
                return fault(one.position, "the subscript of the assignment cannot be aligned");
            }
            subscript = rest;
        }
        Ok(Assignment { position: one.position, variable, subscript, value })
    }
}

fn called(position: Position) -> String {
    format!("the macro is called at line {}, column {}", position.line, position.column)
}

fn call<'a>(position: Position, name: &str, arguments: Vec<Expr>, macros: &'a Macros) -> Parsing<Call<'a>> {
    let Some(of) = macros.by_name.get(name) else {
        return fault(position, format!("there is no macro `{name}` above the call"));
    };
    if of.parameters.len() != arguments.len() {
        let message = format!("the macro `{name}` takes {} arguments and not {}", of.parameters.len(), arguments.len());
        return fault(position, message);
    }
    let (mut by, mut twice) = (HashMap::new(), HashSet::new());
    for (parameter, argument) in of.parameters.iter().zip(arguments) {
        if by.contains_key(parameter) {
            twice.insert(parameter.clone());
        } else {
            by.insert(parameter.clone(), argument);
        }
    }
    Ok(Call { position, by, twice, of })
}
