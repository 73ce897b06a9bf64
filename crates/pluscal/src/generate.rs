//! Generates the text of the translation, like the class `pcal.PcalTLAGen` of the reference. This file holds the
//! declarations and `Init`; the actions and `Next`, `Spec` and `Termination` are in files of their own.

use std::collections::HashSet;

use super::diagnostic::Diagnostic;

use super::ast::{Algorithm, Binding, Body, Procedure, Process, Variable};
use super::changed_variables::{ChangedVariables, Variables};
use super::explode::{Action, ControlFlow, Exploded, initial_value};
use super::expr::{Expr, Token, TokenKind};
use super::layout::{Layout, needs_parentheses, spaces, width};
use super::names::{Names, error, moved_left};
use super::options::{Compat, Options};
use super::origin::Line;
use super::position::Position;

/// The lines of the translation, without its marker lines.
pub(super) fn generate(
    algorithm: &Algorithm,
    exploded: Exploded,
    names: &Names,
    control: ControlFlow,
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
        main_labels: Vec::new(),
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
        && let Some(position) = names.position_of("defaultInitValue")
    {
        return Err(error(position, "`defaultInitValue` is the value of variables without one and cannot be declared"));
    }
    Ok(generator.layout.into_lines())
}

/// The state of the generator.
pub(super) struct Generator<'a> {
    pub algorithm: &'a Algorithm,
    pub options: &'a Options,
    pub control: ControlFlow,
    pub layout: Layout,
    pub variables: Variables,
    /// The variables that have a value for each process: those of procedures and of process sets.
    pub by_process: HashSet<String>,
    /// The process that the current action belongs to; `None` in a uniprocess algorithm.
    pub subscript: Option<Subscript>,
    /// The labels of a uniprocess algorithm's own body, for `Next`.
    pub main_labels: Vec<String>,
    /// The length of all actions so far.
    pub bytes: usize,
}

/// The index of the current process in `pc[…]`.
#[derive(Debug, Clone)]
pub(super) struct Subscript {
    /// `self`, or the identifier of a single process.
    pub expr: Expr,
    /// It is the parameter of the action, `label(self)`.
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
            // As in the reference, the width does not count quotes; it decides how a list after the bracket is aligned.
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

    /// Writes `VARIABLES`, the `define` block between global and local variables, and `vars`. `first` is the position of
    /// the algorithm's first step, for errors.
    fn declarations(&mut self, first: Position) -> Result<(), Diagnostic> {
        let algorithm = self.algorithm;
        let mut global: Vec<&str> = algorithm.variables.iter().map(|variable| variable.name.as_str()).collect();
        if !self.control.omit_pc {
            // Today's translator declares `pc` before the variables of the algorithm, that of 2020 after them.
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
            // Procedures are called by several processes, so their variables have a value for each, as have those of a
            // process set.
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
        // The first line, whichever it is, begins with `Init ==`.
        let mut lead = INIT.to_owned();
        let indent = spaces(INIT.len());
        if !algorithm.variables.is_empty() {
            self.layout.line(format!("{lead}(* Global variables *)"));
            lead.clone_from(&indent);
            for variable in &algorithm.variables {
                self.initial_conjunct(variable, &lead);
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
                    // Nothing has been assigned yet, so nothing gets a prime; only the subscript is added.
                    let value = self.resolve(
                        &initial_value(variable),
                        &ChangedVariables::new(&Variables::default()),
                        Some(&Subscript::parameter().bracketed()),
                    )?;
                    self.layout.write(&format!("{lead}/\\ {} = [ self \\in ProcSet |-> ", variable.name));
                    self.layout.expression(&value);
                    self.layout.write("]");
                    self.layout.end_line();
                } else {
                    self.initial_conjunct(variable, &lead);
                }
            }
        }
        if let Body::Processes(processes) = &algorithm.body {
            for process in processes.iter().filter(|process| !process.variables.is_empty()) {
                self.layout.line(format!("{lead}(* Process {} *)", process.name));
                lead.clone_from(&indent);
                for variable in &process.variables {
                    self.initial_conjunct_of_process(process, variable, &lead)?;
                }
            }
        }
        if !algorithm.procedures.is_empty() {
            let empty = if self.is_multiprocess() { "[self \\in ProcSet |-> << >>]" } else { "<< >>" };
            self.layout.line(format!("{lead}/\\ stack = {empty}"));
            lead = indent;
        }
        if !self.control.omit_pc {
            self.initial_pc(&lead, bodies);
        }
        self.layout.blank();
        Ok(())
    }

    /// Writes `/\ x = value`.
    fn initial_conjunct(&mut self, variable: &Variable, lead: &str) {
        self.layout.write(&format!("{lead}/\\ "));
        self.layout.write_from(&variable.name, variable.position);
        self.layout.write(relation(variable.binding));
        let value = initial_value(variable);
        let parentheses = needs_parentheses(&value.to_lines());
        self.layout.write(if parentheses { "(" } else { "" });
        self.layout.expression(&value);
        self.layout.write(if parentheses { ")" } else { "" });
        self.layout.end_line();
    }

    /// Writes the initial value of a local variable of a process. For a process set, the variable is a function.
    fn initial_conjunct_of_process(
        &mut self,
        process: &Process,
        variable: &Variable,
        lead: &str,
    ) -> Result<(), Diagnostic> {
        let value = initial_value(variable);
        let subscript = match (process.binding, variable.binding) {
            (Binding::Equals, _) => {
                self.layout.write(&format!("{lead}/\\ {}{}", variable.name, relation(variable.binding)));
                self.layout.expression(&value);
                self.layout.end_line();
                return Ok(());
            }
            (Binding::In, Binding::Equals) => Subscript::parameter().bracketed(),
            // The value is a set of functions here, in which there is no `self`; the reference takes an arbitrary
            // process.
            (Binding::In, Binding::In) => chosen_process(&process.id)?,
        };
        let value = self.resolve(&value, &ChangedVariables::new(&Variables::default()), Some(&subscript))?;
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

    /// Writes `/\ pc = …`, the first label of each process.
    fn initial_pc(&mut self, lead: &str, bodies: &[Vec<Action>]) {
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

/// `[CHOOSE self \in S : TRUE]`, with the spacing of the reference.
fn chosen_process(set: &Expr) -> Result<Expr, Diagnostic> {
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
    chosen.prepend(before, 1).map_err(moved_left)?;
    chosen.append(after, 1).map_err(moved_left)?;
    Ok(chosen.normalized())
}
