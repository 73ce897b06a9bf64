//! The text of the translation: what is declared and how everything begins, then the actions, then `Next` and `Spec`.

use std::collections::HashSet;

use crate::tla::Diagnostic;

use super::ast::{Algorithm, Binding, Body, Procedure, Process, Variable};
use super::changed::{Changed, Variables};
use super::explode::{Action, Control, Exploded, initial};
use super::expr::{Expr, Token, TokenKind};
use super::layout::{Layout, needs_parentheses, spaces, width};
use super::names::{Names, error, moved};
use super::options::{Compat, Options};
use super::origin::Line;
use super::position::Position;

/// The lines between the markers.
pub(super) fn generate(
    algorithm: &Algorithm,
    exploded: Exploded,
    names: &Names,
    control: Control,
    options: &Options,
) -> Result<Vec<Line>, Diagnostic> {
    let mut generator = Generator {
        algorithm,
        options,
        control,
        layout: Layout::default(),
        variables: Variables::default(),
        by_process: HashSet::new(),
        subscript: None,
        main: Vec::new(),
        bytes: 0,
    };
    for comment in &names.renamings {
        generator.layout.line(comment);
    }
    let first = exploded.bodies.iter().flatten().next().map_or(Position::default(), |action| action.position);
    generator.declarations(first)?;
    generator.process_set();
    generator.init(&exploded.bodies)?;
    generator.actions(exploded)?;
    generator.next();
    generator.spec();
    generator.termination();
    if algorithm.has_default_value
        && let Some(position) = names.declares("defaultInitValue")
    {
        return Err(error(position, "`defaultInitValue` is the value of variables without one and cannot be declared"));
    }
    Ok(generator.layout.into_lines())
}

/// A translation while it is written.
pub(super) struct Generator<'a> {
    pub algorithm: &'a Algorithm,
    pub options: &'a Options,
    pub control: Control,
    pub layout: Layout,
    pub variables: Variables,
    /// The variables that have a value for each process: those of procedures and of process sets.
    pub by_process: HashSet<String>,
    /// The process that the action belongs to; none in a uniprocess algorithm.
    pub subscript: Option<Subscript>,
    /// The labels of a uniprocess algorithm, for `Next`.
    pub main: Vec<String>,
    /// How long the actions are so far.
    pub bytes: usize,
}

/// What stands in `pc[…]`.
#[derive(Debug, Clone)]
pub(super) struct Subscript {
    /// `self`, or the identifier of a single process.
    pub expr: Expr,
    /// The action is `label(self)`.
    pub is_parameter: bool,
}

impl Subscript {
    pub(super) fn parameter() -> Self {
        Self { expr: Expr::single("self", TokenKind::Ident), is_parameter: true }
    }

    /// `[self]`.
    pub(super) fn bracketed(&self) -> Expr {
        let mut lines = self.expr.lines().to_vec();
        for token in lines.iter_mut().flatten() {
            token.column += 1;
        }
        if let Some(first) = lines.first_mut() {
            first.insert(0, Token::new("[", 0, TokenKind::Builtin));
        }
        if let Some(last) = lines.last_mut() {
            // Quotes are not counted here, as in the reference: a list after a string in brackets is aligned by it.
            let column = last.last().map_or(0, |token| token.column + width(&token.text));
            last.push(Token::new("]", column, TokenKind::Builtin));
        }
        Expr::from_lines(lines)
    }
}

impl Generator<'_> {
    pub(super) fn processes(&self) -> &[Process] {
        match &self.algorithm.body {
            Body::Single(_) => &[],
            Body::Processes(processes) => processes,
        }
    }

    pub(super) fn is_multiprocess(&self) -> bool {
        matches!(self.algorithm.body, Body::Processes(_))
    }

    /// `VARIABLES`, the `define` statement between the global and the local ones, and `vars`. `first` is where the
    /// algorithm's first step stands.
    fn declarations(&mut self, first: Position) -> Result<(), Diagnostic> {
        let algorithm = self.algorithm;
        let mut global: Vec<&str> = algorithm.variables.iter().map(|variable| variable.name.as_str()).collect();
        if !self.control.omit_pc {
            let first = match self.options.compat {
                Compat::Today => 0,
                Compat::Y2020 => global.len(),
            };
            global.insert(first, "pc");
        }
        if !algorithm.procedures.is_empty() {
            global.push("stack");
        }
        let mut local: Vec<&str> = Vec::new();
        for Procedure { parameters, variables, .. } in &algorithm.procedures {
            for variable in parameters.iter().chain(variables) {
                local.push(&variable.name);
            }
        }
        if let Body::Processes(processes) = &algorithm.body {
            self.by_process.extend(local.iter().map(|&name| name.to_owned()));
            for process in processes {
                for variable in &process.variables {
                    local.push(&variable.name);
                    if process.binding == Binding::In {
                        self.by_process.insert(variable.name.clone());
                    }
                }
            }
        }
        for name in global.iter().chain(&local) {
            self.variables.push(name);
        }
        if algorithm.has_default_value {
            self.layout.line("CONSTANT defaultInitValue");
        }
        match algorithm.define.as_ref().filter(|define| !define.is_empty()) {
            None => {
                global.append(&mut local);
                self.variable_list(&global);
            }
            Some(define) => {
                self.variable_list(&global);
                self.layout.blank();
                self.layout.line("(* define statement *)");
                self.layout.expression(define);
                self.layout.blank();
                self.variable_list(&local);
                global.append(&mut local);
            }
        }
        self.layout.blank();
        if global.is_empty() {
            return Err(error(first, "the algorithm has no variables"));
        }
        self.layout.write("vars == << ");
        let indent = self.layout.column();
        self.name_list(&global, indent);
        if self.layout.column() + " >>".len() + 1 > self.options.line_width {
            self.layout.end_line();
            self.layout.write(&spaces("vars ==".len()));
        }
        self.layout.write(" >>");
        self.layout.blank();
        Ok(())
    }

    fn variable_list(&mut self, names: &[&str]) {
        if names.is_empty() {
            return;
        }
        self.layout.write(if names.len() > 1 { "VARIABLES " } else { "VARIABLE " });
        self.name_list(names, self.layout.column());
        self.layout.end_line();
    }

    fn name_list(&mut self, names: &[&str], indent: usize) {
        for (number, name) in names.iter().enumerate() {
            if number > 0 {
                self.layout.write(", ");
            }
            if self.layout.column() + width(name) + 1 > self.options.line_width {
                self.layout.end_line();
                self.layout.write(&spaces(indent));
            }
            self.layout.write(name);
        }
    }

    fn process_set(&mut self) {
        let Body::Processes(processes) = &self.algorithm.body else { return };
        self.layout.write("ProcSet == ");
        for (number, process) in processes.iter().enumerate() {
            if number > 0 {
                self.layout.write(" \\cup ");
            }
            let (open, close) = match process.binding {
                Binding::Equals => ("{", "}"),
                Binding::In => ("(", ")"),
            };
            self.layout.write(open);
            self.layout.expression(&process.id);
            self.layout.write(close);
        }
        self.layout.end_line();
        self.layout.blank();
    }

    fn init(&mut self, bodies: &[Vec<Action>]) -> Result<(), Diagnostic> {
        const INIT: &str = "Init == ";
        let algorithm = self.algorithm;
        let mut lead = INIT.to_owned();
        let indent = spaces(INIT.len());
        if !algorithm.variables.is_empty() {
            self.layout.line(format!("{lead}(* Global variables *)"));
            lead.clone_from(&indent);
            for variable in &algorithm.variables {
                self.begins(variable, &lead);
            }
        }
        for Procedure { name, parameters, variables, .. } in &algorithm.procedures {
            if parameters.is_empty() && variables.is_empty() {
                continue;
            }
            self.layout.line(format!("{lead}(* Procedure {name} *)"));
            lead.clone_from(&indent);
            for variable in parameters.iter().chain(variables) {
                if self.is_multiprocess() {
                    let value = self.state(
                        &initial(variable),
                        &Changed::none(&Variables::default()),
                        Some(&Subscript::parameter().bracketed()),
                    )?;
                    self.layout.write(&format!("{lead}/\\ {} = [ self \\in ProcSet |-> ", variable.name));
                    self.layout.expression(&value);
                    self.layout.write("]");
                    self.layout.end_line();
                } else {
                    self.begins(variable, &lead);
                }
            }
        }
        if let Body::Processes(processes) = &algorithm.body {
            for process in processes.iter().filter(|process| !process.variables.is_empty()) {
                self.layout.line(format!("{lead}(* Process {} *)", process.name));
                lead.clone_from(&indent);
                for variable in &process.variables {
                    self.begins_in(process, variable, &lead)?;
                }
            }
        }
        if !algorithm.procedures.is_empty() {
            let empty = if self.is_multiprocess() { "[self \\in ProcSet |-> << >>]" } else { "<< >>" };
            self.layout.line(format!("{lead}/\\ stack = {empty}"));
            lead = indent;
        }
        if !self.control.omit_pc {
            self.first_labels(&lead, bodies);
        }
        self.layout.blank();
        Ok(())
    }

    /// `/\ x = value`.
    fn begins(&mut self, variable: &Variable, lead: &str) {
        self.layout.write(&format!("{lead}/\\ "));
        self.layout.write_from(&variable.name, variable.position);
        self.layout.write(relation(variable.binding));
        let value = initial(variable);
        let parentheses = needs_parentheses(&value.to_lines());
        self.layout.write(if parentheses { "(" } else { "" });
        self.layout.expression(&value);
        self.layout.write(if parentheses { ")" } else { "" });
        self.layout.end_line();
    }

    /// A local variable of a process: a function of the processes where there is a set of them.
    fn begins_in(&mut self, process: &Process, variable: &Variable, lead: &str) -> Result<(), Diagnostic> {
        let value = initial(variable);
        let subscript = match (process.binding, variable.binding) {
            (Binding::Equals, _) => {
                self.layout.write(&format!("{lead}/\\ {}{}", variable.name, relation(variable.binding)));
                self.layout.expression(&value);
                self.layout.end_line();
                return Ok(());
            }
            (Binding::In, Binding::Equals) => Subscript::parameter().bracketed(),
            (Binding::In, Binding::In) => some_process(&process.id)?,
        };
        let value = self.state(&value, &Changed::none(&Variables::default()), Some(&subscript))?;
        let (open, arrow) = match variable.binding {
            Binding::Equals => (" = [self \\in ", " |-> "),
            Binding::In => (" \\in [", " -> "),
        };
        self.layout.write(&format!("{lead}/\\ {}{open}", variable.name));
        self.layout.expression(&process.id);
        self.layout.write(arrow);
        self.layout.expression(&value);
        self.layout.write("]");
        self.layout.end_line();
        Ok(())
    }

    /// `/\ pc = …`: the label that each process begins with.
    fn first_labels(&mut self, lead: &str, bodies: &[Vec<Action>]) {
        let mut labels = bodies.iter().map(|actions| actions.first().map_or("null", |action| action.label.as_str()));
        match &self.algorithm.body {
            Body::Single(_) => {
                self.layout.line(format!("{lead}/\\ pc = \"{}\"", labels.next().unwrap_or("null")));
            }
            Body::Processes(processes) if processes.len() == 1 => {
                let label = labels.next().unwrap_or("null");
                self.layout.line(format!("{lead}/\\ pc = [self \\in ProcSet |-> \"{label}\"]"));
            }
            Body::Processes(processes) => {
                let mut lead = format!("{lead}/\\ pc = [self \\in ProcSet |-> CASE ");
                let next = format!("{}[] ", spaces(lead.len() - "[] ".len()));
                for (number, (process, label)) in processes.iter().zip(labels).enumerate() {
                    self.layout.write(&format!("{lead}self{}", relation(process.binding)));
                    self.layout.expression(&process.id);
                    let close = if number + 1 == processes.len() { "]" } else { "" };
                    self.layout.write(&format!(" -> \"{label}\"{close}"));
                    self.layout.end_line();
                    lead.clone_from(&next);
                }
            }
        }
    }
}

fn relation(binding: Binding) -> &'static str {
    match binding {
        Binding::Equals => " = ",
        Binding::In => " \\in ",
    }
}

/// `[CHOOSE self \in S : TRUE]`, with the spaces of the reference.
fn some_process(set: &Expr) -> Result<Expr, Diagnostic> {
    let tokens = |tokens: &[(&str, usize, TokenKind)]| {
        Expr::from_lines(vec![tokens.iter().map(|&(text, column, kind)| Token::new(text, column, kind)).collect()])
    };
    let before = tokens(&[
        ("[", 0, TokenKind::Builtin),
        ("CHOOSE", 1, TokenKind::Builtin),
        ("self", 8, TokenKind::Ident),
        ("\\in ", 13, TokenKind::Builtin),
    ]);
    let after = tokens(&[(":", 0, TokenKind::Builtin), ("TRUE", 2, TokenKind::Builtin), ("]", 6, TokenKind::Builtin)]);
    let mut chosen = set.normalized();
    chosen.prepend(before, 1).map_err(moved)?;
    chosen.append(after, 1).map_err(moved)?;
    Ok(chosen.normalized())
}
