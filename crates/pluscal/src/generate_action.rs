//! Generates the text of the actions: assignments with primes and subscripts, and the variables that each branch leaves
//! unchanged.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use super::diagnostic::Diagnostic;

use super::ast::{Assignment, Binding, Body};
use super::changed_variables::ChangedVariables;
use super::explode::{Action, Conjunct, Exploded};
use super::expr::{Expr, Token, TokenKind, Wrapping};
use super::generate::{Generator, Subscript};
use super::layout::{needs_parentheses, spaces, width, wrapped};
use super::names::{error, in_macro, moved_left};
use super::position::Position;

/// The longest name for which the reference writes `v' = v`; for longer ones it writes `UNCHANGED v`.
const MAX_SHORT_NAME: usize = 5;

const AND: &str = "/\\ ";

/// Limit on the length of all actions. Every action lists all variables, so a long algorithm with many variables becomes a
/// translation of many times its size.
const MAX_BYTES: usize = 64 << 20;

impl Generator<'_> {
    /// Writes all actions, and for each procedure and process the disjunction of its actions.
    pub(super) fn actions(&mut self, exploded: Exploded) -> Result<(), Diagnostic> {
        let algorithm = self.algorithm;
        for (procedure, actions) in algorithm.procedures.iter().zip(exploded.procedures) {
            self.subscript = self.is_multiprocess().then(Subscript::parameter);
            let labels = self.write_actions(actions, None)?;
            self.disjunction(&procedure.name, &labels);
        }
        match &algorithm.body {
            Body::Single(_) => {
                self.subscript = None;
                let actions = exploded.bodies.into_iter().flatten().collect();
                self.main_labels = self.write_actions(actions, Some("Next"))?;
            }
            Body::Processes(processes) => {
                for (process, actions) in processes.iter().zip(exploded.bodies) {
                    self.subscript = Some(match process.binding {
                        Binding::Equals => Subscript { expr: process.id.clone(), is_parameter: false },
                        Binding::In => Subscript::parameter(),
                    });
                    let labels = self.write_actions(actions, Some(&process.name))?;
                    if !self.control.omit_pc {
                        self.disjunction(&process.name, &labels);
                    }
                }
            }
        }
        Ok(())
    }

    /// `(self)` if the action has a parameter.
    fn parameter(&self) -> &'static str {
        if self.subscript.as_ref().is_some_and(|subscript| subscript.is_parameter) { "(self)" } else { "" }
    }

    /// Writes actions named by their labels, or by `unlabelled` if there is no `pc`. Returns the labels.
    fn write_actions(&mut self, actions: Vec<Action>, unlabelled: Option<&str>) -> Result<Vec<String>, Diagnostic> {
        let unlabelled = unlabelled.filter(|_| self.control.omit_pc);
        let mut labels = Vec::new();
        for Action { label, position, conjuncts } in actions {
            let start = self.layout.len();
            self.action(unlabelled.unwrap_or(&label), position, &conjuncts)
                // Tokens of the translator have no position of their own.
                .map_err(|problem| with_position(problem, position))?;
            self.bytes += self.layout.lines_mut(start).iter().map(|line| line.text.len()).sum::<usize>();
            if self.bytes > MAX_BYTES {
                return Err(error(
                    position,
                    format!("the translation takes more than {} MB up to here", MAX_BYTES >> 20),
                ));
            }
            labels.push(label);
        }
        Ok(labels)
    }

    /// Writes `P(self) == a(self) \/ b(self)`.
    fn disjunction(&mut self, name: &str, labels: &[String]) {
        /// The width that the reference reserves for each disjunct besides its name, a little more than ` \/ `.
        const ROOM: usize = 7;
        let parameter = self.parameter();
        let head = format!("{name}{parameter} == ");
        self.layout.write(&head);
        for (number, label) in labels.iter().enumerate() {
            if number > 0 {
                let needed = ROOM + label.len() + parameter.len();
                if self.layout.column() + needed > self.options.line_width {
                    self.layout.end_line();
                    self.layout.write(&spaces(head.len() + 2));
                }
                self.layout.write(" \\/ ");
            }
            self.layout.write(&format!("{label}{parameter}"));
        }
        self.layout.blank();
    }

    fn action(&mut self, name: &str, position: Position, conjuncts: &[Conjunct]) -> Result<(), Diagnostic> {
        let head = format!("{name}{} == ", self.parameter());
        let indent = width(&head);
        let start = self.layout.len();
        let mut changed = ChangedVariables::new(&self.variables);
        let and = format!("{}{AND}", spaces(indent));
        // An empty token, so that the name of the action has the position of its label.
        self.layout.write_from("", position);
        self.block(conjuncts, &mut changed, &format!("{head}{AND}"), &and)?;
        let unchanged = changed.unchanged(&self.variables);
        match unchanged.as_slice() {
            [] if conjuncts.len() == 1 => self.remove_single_and(start, indent),
            [] => {}
            [only] => {
                let line = format!("{and}{}", unchanged_conjunct(only));
                self.layout.line(line);
            }
            several => {
                let lines = unchanged_tuple(several, &and, self.options.line_width.saturating_sub(indent + AND.len()));
                self.layout.lines(lines);
            }
        }
        self.layout.blank();
        Ok(())
    }

    /// Removes the `/\` of the only conjunct of an action.
    fn remove_single_and(&mut self, start: usize, column: usize) {
        for (number, line) in self.layout.lines_mut(start).iter_mut().enumerate() {
            let from = if number == 0 { column } else { 0 };
            if number == 0 || line.text.len() > AND.len() {
                let range = from..from + AND.len();
                if line.text.get(range.clone()).is_some() {
                    line.text.replace_range(range, "");
                    // The text has moved left under its origins.
                    for origin in line.origins.iter_mut().filter(|origin| origin.column > from) {
                        origin.column -= AND.len().min(origin.column);
                    }
                }
            }
        }
    }

    /// Writes conjuncts, the first one after `first`, the others after `lead`.
    fn block(
        &mut self,
        conjuncts: &[Conjunct],
        changed: &mut ChangedVariables,
        first: &str,
        lead: &str,
    ) -> Result<(), Diagnostic> {
        for (number, conjunct) in conjuncts.iter().enumerate() {
            self.conjunct(conjunct, changed, if number == 0 { first } else { lead })?;
        }
        Ok(())
    }

    fn conjunct(&mut self, conjunct: &Conjunct, changed: &mut ChangedVariables, lead: &str) -> Result<(), Diagnostic> {
        match conjunct {
            Conjunct::Assign { position, macro_position, assignments } => {
                return self
                    .assign(*position, assignments, changed, lead)
                    .map_err(|problem| in_macro(problem, *macro_position));
            }
            Conjunct::If { test, then, otherwise } => return self.condition(test, then, otherwise, changed, lead),
            Conjunct::Either(clauses) => return self.either(clauses, changed, lead),
            Conjunct::With { variable, binding, value, body } => {
                let value = self.resolve_in_process(value, changed)?;
                let (before, after) = match binding {
                    Binding::Equals => (format!("LET {variable} == "), " IN"),
                    Binding::In => (format!("\\E {variable} \\in "), ":"),
                };
                self.layout.write(lead);
                self.layout.write(&before);
                self.layout.expression(&value);
                self.layout.write(after);
                self.layout.end_line();
                let indent = spaces(width(lead) + 2);
                let and = format!("{indent}{AND}");
                // A single conjunct gets no bullet.
                return self.block(body, changed, if body.len() > 1 { &and } else { &indent }, &and);
            }
            Conjunct::When(expr) => {
                let expr = self.resolve_in_process(expr, changed)?;
                self.layout.write(lead);
                self.layout.expression(&expr);
            }
            Conjunct::Print(expr) => {
                let expr = self.resolve_in_process(expr, changed)?;
                self.layout.write(&format!("{lead}PrintT("));
                self.layout.expression(&expr);
                self.layout.write(")");
            }
            Conjunct::Assert { position, macro_position, expr } => {
                self.assertion(*position, *macro_position, expr, changed, lead)?;
            }
            Conjunct::Skip => self.layout.write(&format!("{lead}TRUE")),
        }
        self.layout.end_line();
        Ok(())
    }

    fn assertion(
        &mut self,
        position: Position,
        macro_position: Option<Position>,
        expr: &Expr,
        changed: &ChangedVariables,
        lead: &str,
    ) -> Result<(), Diagnostic> {
        let expr = self.resolve_in_process(expr, changed)?;
        let head = format!("{lead}Assert(");
        self.layout.write(&head);
        self.layout.expression(&expr);
        let suffix = macro_position.map_or_else(String::new, |position| {
            format!(" of macro called at line {}, column {}", position.line, position.column)
        });
        let text = format!("\"Failure of assertion at line {}, column {}{suffix}.\")", position.line, position.column);
        let fits = self.layout.column() + ", ".len() + text.len() < self.options.line_width;
        self.layout.write(", ");
        if !fits {
            self.layout.end_line();
            self.layout.write(&spaces(width(&head)));
        }
        self.layout.write(&text);
        Ok(())
    }

    fn condition(
        &mut self,
        test: &Expr,
        then: &[Conjunct],
        otherwise: &[Conjunct],
        changed: &mut ChangedVariables,
        lead: &str,
    ) -> Result<(), Diagnostic> {
        let test = self.resolve_in_process(test, changed)?;
        let (mut by_then, mut by_else) = (changed.clone(), changed.clone());
        let indent = width(lead) + "IF ".len();
        let branch = indent + "THEN ".len();
        let and = format!("{}{AND}", spaces(branch));
        self.layout.write(&format!("{lead}IF "));
        self.layout.expression(&test);
        self.layout.end_line();
        let then_lead = format!("{}THEN {AND}", spaces(indent));
        self.block(then, &mut by_then, &then_lead, &and)?;
        let end_of_then = self.layout.len();
        let else_lead = format!("{}ELSE {AND}", spaces(indent));
        if otherwise.is_empty() {
            self.layout.line(format!("{else_lead}TRUE"));
        } else {
            self.block(otherwise, &mut by_else, &else_lead, &and)?;
        }
        let width = self.options.line_width;
        let rest = |missing: &[&str], lead: &str| match missing {
            [] => Vec::new(),
            [only] => vec![format!("{lead}{}", unchanged_conjunct(only))],
            several => unchanged_tuple(several, lead, width.saturating_sub(lead.len())),
        };
        // Only now is it known what each branch leaves unchanged that the other assigns, so the lines for THEN are
        // inserted afterwards.
        let lines = rest(&by_else.changed_only_in(&by_then, &self.variables), &and);
        self.layout.lines(lines);
        // An empty THEN consists only of what it leaves unchanged.
        let then_lead = if then.is_empty() { &then_lead } else { &and };
        let lines = rest(&by_then.changed_only_in(&by_else, &self.variables), then_lead);
        self.layout.insert(end_of_then, lines);
        changed.merge(&by_then);
        changed.merge(&by_else);
        Ok(())
    }

    fn either(
        &mut self,
        clauses: &[Vec<Conjunct>],
        changed: &mut ChangedVariables,
        lead: &str,
    ) -> Result<(), Diagnostic> {
        let indent = width(lead);
        let and = format!("{}{AND}", spaces(indent + "\\/ ".len()));
        let mut first = format!("{lead}\\/ {AND}");
        let mut all = changed.clone();
        let mut ends = Vec::new();
        for clause in clauses {
            let mut here = changed.clone();
            self.block(clause, &mut here, &first, &and)?;
            first = format!("{}\\/ {AND}", spaces(indent));
            all.merge(&here);
            ends.push((self.layout.len(), here));
        }
        // From the last clause on, so that the places of the others stay right.
        for (end, here) in ends.into_iter().rev() {
            let missing = here.changed_only_in(&all, &self.variables);
            let line = match missing.as_slice() {
                [] => continue,
                [only] => format!("{and}{}", unchanged_conjunct(only)),
                several => format!("{and}UNCHANGED <<{}>>", several.join(", ")),
            };
            self.layout.insert(end, vec![line]);
        }
        changed.merge(&all);
        Ok(())
    }

    fn assign(
        &mut self,
        position: Position,
        assignments: &[Assignment],
        changed: &mut ChangedVariables,
        lead: &str,
    ) -> Result<(), Diagnostic> {
        let mut sorted: Vec<&Assignment> = assignments.iter().collect();
        // By name, so that the assignments to parts of one variable come together. A stable sort keeps their order.
        sorted.sort_by(|a, b| a.variable.cmp(&b.variable));
        // The right-hand sides of one multiple assignment all read the values before it, so primes follow `changed`.
        let mut now = changed.clone();
        self.layout.write(lead);
        let groups: Vec<&[&Assignment]> = sorted.chunk_by(|a, b| a.variable == b.variable).collect();
        for (number, group) in groups.iter().enumerate() {
            let Assignment { variable, position: here, .. } = group[0];
            if !self.variables.contains(variable) {
                return Err(error(*here, format!("assignment to `{variable}`, which is not declared")));
            }
            let whole = group.iter().any(|assignment| assignment.subscript.is_empty());
            if !now.add(&self.variables, variable) || (group.len() > 1 && whole) {
                return Err(error(position, format!("`{variable}` is assigned twice in one step")));
            }
            if groups.len() > 1 {
                if number > 0 {
                    self.layout.end_line();
                    self.layout.write(&spaces(width(lead)));
                }
                self.layout.write(AND);
            }
            match group {
                [only] => self.assign_one(only, changed)?,
                several => self.assign_several(several, changed)?,
            }
        }
        self.layout.end_line();
        changed.merge(&now);
        Ok(())
    }

    fn is_by_process(&self, variable: &str) -> bool {
        self.is_multiprocess() && self.by_process.contains(variable)
    }

    fn assign_one(&mut self, assignment: &Assignment, changed: &ChangedVariables) -> Result<(), Diagnostic> {
        let name = &assignment.variable;
        let index = self.resolve_in_process(&assignment.subscript, changed)?;
        let value = self.resolve_in_process(&assignment.value, changed)?;
        match self.subscript.clone() {
            Some(process) if self.is_by_process(name) || name == "pc" || name == "stack" => {
                self.layout.write_from(name, assignment.position);
                self.layout.write(&format!("' = [{name} EXCEPT !["));
                self.layout.expression(&process.expr);
                self.layout.write("]");
            }
            _ if !assignment.subscript.is_empty() => {
                self.layout.write_from(name, assignment.position);
                self.layout.write(&format!("' = [{name} EXCEPT !"));
            }
            _ => {
                let parentheses = needs_parentheses(&value.to_lines());
                self.layout.write_from(name, assignment.position);
                self.layout.write(&format!("' = {}", if parentheses { "(" } else { "" }));
                self.layout.expression(&value);
                self.layout.write(if parentheses { ")" } else { "" });
                return Ok(());
            }
        }
        if !index.is_empty() {
            self.layout.expression(&index);
        }
        self.layout.write(" = ");
        self.layout.expression(&value);
        self.layout.write("]");
        Ok(())
    }

    /// Writes `f' = [f EXCEPT ![i] = a, ![j] = b]` with one assignment on each line.
    fn assign_several(&mut self, several: &[&Assignment], changed: &ChangedVariables) -> Result<(), Diagnostic> {
        let name = &several[0].variable;
        self.layout.write_from(name, several[0].position);
        self.layout.write(&format!("' = [{name} EXCEPT "));
        let indent = spaces(self.layout.column());
        for (number, assignment) in several.iter().enumerate() {
            let index = self.resolve_in_process(&assignment.subscript, changed)?;
            let value = self.resolve_in_process(&assignment.value, changed)?;
            if number > 0 {
                self.layout.write(",");
                self.layout.end_line();
                self.layout.write(&indent);
            }
            self.layout.write("!");
            if let Some(process) = self.subscript.clone().filter(|_| self.is_by_process(name)) {
                self.layout.write("[");
                self.layout.expression(&process.expr);
                self.layout.write("]");
            }
            self.layout.expression(&index);
            self.layout.write(" = ");
            self.layout.expression(&value);
        }
        self.layout.write("]");
        Ok(())
    }

    /// The expression with primes, and with the current process as subscript.
    fn resolve_in_process(&self, expr: &Expr, changed: &ChangedVariables) -> Result<Expr, Diagnostic> {
        let subscript = self.subscript.as_ref().map(Subscript::bracketed);
        self.resolve(expr, changed, subscript.as_ref())
    }

    /// The expression with `'` after the variables that were assigned before, and with the subscript after those that have
    /// a value for each process.
    pub(super) fn resolve(
        &self,
        expr: &Expr,
        changed: &ChangedVariables,
        subscript: Option<&Expr>,
    ) -> Result<Expr, Diagnostic> {
        let mut by = HashMap::new();
        for token in expr.tokens() {
            let is_name = token.kind == TokenKind::Ident;
            let is_primed = is_name && changed.contains(&self.variables, &token.text);
            let is_indexed = token.kind == TokenKind::Added || (is_name && self.is_by_process(&token.text));
            let subscript = subscript.filter(|_| is_indexed);
            if !is_primed && subscript.is_none() {
                continue;
            }
            let Entry::Vacant(place) = by.entry(token.text.clone()) else { continue };
            let mut value = Expr::default();
            value.push(Token::new(token.text.as_str(), 0, token.kind));
            if is_primed {
                value.push_after(Token::new("'", 0, TokenKind::Builtin), 0);
            }
            value.normalize();
            if let Some(subscript) = subscript {
                value.append(subscript.clone(), 0).map_err(moved_left)?;
            }
            place.insert(value);
        }
        let mut expr = expr.normalized();
        expr.substitute(&by, Wrapping::Nothing).map_err(moved_left)?;
        Ok(expr)
    }
}

/// Gives an error the position of the step if it has none, because it is about a token that the translator made.
fn with_position(problem: Diagnostic, position: Position) -> Diagnostic {
    if problem.line > 0 { problem } else { Diagnostic { line: position.line, column: position.column, ..problem } }
}

/// The conjunct for a variable that keeps its value.
fn unchanged_conjunct(name: &str) -> String {
    if name.len() > MAX_SHORT_NAME { format!("UNCHANGED {name}") } else { format!("{name}' = {name}") }
}

/// The lines of `UNCHANGED << a, b >>` after `lead`. `room` is the width available after `lead`.
fn unchanged_tuple(names: &[&str], lead: &str, room: usize) -> Vec<String> {
    const OPEN: &str = "UNCHANGED << ";
    let indent = spaces(width(lead) + OPEN.len());
    let mut lines = wrapped(names, room.saturating_sub(OPEN.len()));
    for (number, line) in lines.iter_mut().enumerate() {
        *line = if number == 0 { format!("{lead}{OPEN}{line}") } else { format!("{indent}{line}") };
    }
    if let Some(last) = lines.last_mut() {
        last.push_str(" >>");
    }
    lines
}
