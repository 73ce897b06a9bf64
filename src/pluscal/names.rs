//! Names that clash: labels, procedures and local variables become definitions and variables of one module, so two of
//! the same name cannot stand. Finds them, chooses new names, and renames throughout the algorithm.

use std::collections::{HashMap, HashSet};

use crate::tla::{Diagnostic, Stage};

use super::ast::{Algorithm, Body, Branch, Kind, Procedure, Process, Statement, Step, Variable};
use super::expr::{Around, Expr, MovedLeft, TokenKind};
use super::position::Position;

/// What a name stands for, in the order in which names keep their spelling.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Sort {
    Global,
    Label,
    Procedure,
    Process,
    ProcessVariable,
    ProcedureVariable,
    Parameter,
}

impl Sort {
    const ALL: [Self; 7] = [
        Self::Global,
        Self::Label,
        Self::Procedure,
        Self::Process,
        Self::ProcessVariable,
        Self::ProcedureVariable,
        Self::Parameter,
    ];

    fn title(self) -> &'static str {
        match self {
            Self::Global => "Global variable",
            Self::Label => "Label",
            Self::Procedure => "Procedure",
            Self::Process => "Process",
            Self::ProcessVariable => "Process variable",
            Self::ProcedureVariable => "Procedure variable",
            Self::Parameter => "Parameter",
        }
    }

    fn is_variable(self) -> bool {
        !matches!(self, Self::Label | Self::Procedure | Self::Process)
    }

    fn is_local(self) -> bool {
        matches!(self, Self::ProcessVariable | Self::ProcedureVariable | Self::Parameter)
    }
}

/// What a name is declared in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Owner<'a> {
    Algorithm,
    Procedure(&'a str),
    Process(&'a str),
}

impl<'a> Owner<'a> {
    fn name(self) -> &'a str {
        match self {
            Self::Algorithm => "",
            Self::Procedure(name) | Self::Process(name) => name,
        }
    }
}

#[derive(Debug)]
struct Symbol {
    sort: Sort,
    name: String,
    /// The procedure or process that it belongs to; empty for the algorithm's own.
    context: String,
    /// `" of process P"`, for the comment on its renaming.
    of: String,
    position: Position,
    /// The name in the translation.
    used: String,
}

/// The names of an algorithm.
#[derive(Debug, Default)]
pub(super) struct Names {
    symbols: Vec<Symbol>,
    /// By context and name.
    places: HashMap<String, HashMap<String, Vec<usize>>>,
    /// Contexts with a variable that has another name in the translation.
    renamed: HashSet<String>,
    /// A comment for each renaming, as the translation begins with.
    pub renamings: Vec<String>,
}

impl Names {
    /// Collects the names of an algorithm, chooses new ones where they clash, and renames.
    pub(super) fn resolve(algorithm: &mut Algorithm) -> Result<Self, Vec<Diagnostic>> {
        let mut names = Self::default();
        let mut errors = Vec::new();
        names.collect(algorithm, &mut errors);
        if !errors.is_empty() {
            return Err(errors);
        }
        names.disambiguate();
        names.rename(algorithm).map_err(|error| vec![error])?;
        Ok(names)
    }

    /// Where `defaultInitValue` is declared, which the translation declares itself when a variable has no value.
    pub(super) fn declares(&self, name: &str) -> Option<Position> {
        self.symbols.iter().find(|symbol| symbol.name == name).map(|symbol| symbol.position)
    }

    fn collect(&mut self, algorithm: &Algorithm, errors: &mut Vec<Diagnostic>) {
        let none = Position::default();
        self.add(Sort::Global, "pc", Owner::Algorithm, none);
        if !algorithm.procedures.is_empty() {
            self.add(Sort::Global, "stack", Owner::Algorithm, none);
        }
        self.declare(Sort::Global, &algorithm.variables, Owner::Algorithm, errors);
        for procedure in &algorithm.procedures {
            let Procedure { name, position, .. } = procedure;
            let owner = Owner::Procedure(name);
            self.unit(Sort::Procedure, name, *position, errors);
            self.declare(Sort::ProcedureVariable, &procedure.variables, owner, errors);
            self.declare(Sort::Parameter, &procedure.parameters, owner, errors);
            self.steps(&procedure.body, owner, errors);
        }
        match &algorithm.body {
            Body::Single(steps) => self.steps(steps, Owner::Algorithm, errors),
            Body::Processes(processes) => {
                for process in processes {
                    let owner = Owner::Process(&process.name);
                    self.unit(Sort::Process, &process.name, process.position, errors);
                    self.declare(Sort::ProcessVariable, &process.variables, owner, errors);
                    self.steps(&process.body, owner, errors);
                }
            }
        }
    }

    /// Whether the name was free.
    fn add(&mut self, sort: Sort, name: &str, owner: Owner<'_>, position: Position) -> bool {
        let context = owner.name();
        let taken = if sort.is_local() {
            self.find(Sort::Global, name, "").is_some() || self.first(name, context).is_some()
        } else {
            self.find(sort, name, context).is_some()
        };
        if taken {
            return false;
        }
        let of = match owner {
            Owner::Algorithm => String::new(),
            Owner::Procedure(name) => format!(" of procedure {name}"),
            Owner::Process(name) => format!(" of process {name}"),
        };
        let number = self.symbols.len();
        let (name, context) = (name.to_owned(), context.to_owned());
        self.places.entry(context.clone()).or_default().entry(name.clone()).or_default().push(number);
        self.symbols.push(Symbol { sort, used: name.clone(), name, context, of, position });
        true
    }

    fn unit(&mut self, sort: Sort, name: &str, position: Position, errors: &mut Vec<Diagnostic>) {
        if !self.add(sort, name, Owner::Algorithm, position) {
            errors.push(twice(sort, name, position));
        }
    }

    fn declare(&mut self, sort: Sort, variables: &[Variable], owner: Owner<'_>, errors: &mut Vec<Diagnostic>) {
        for variable in variables {
            if !self.add(sort, &variable.name, owner, variable.position) {
                errors.push(twice(sort, &variable.name, variable.position));
            }
        }
    }

    fn steps(&mut self, steps: &[Step], owner: Owner<'_>, errors: &mut Vec<Diagnostic>) {
        for step in steps {
            if !self.add(Sort::Label, &step.label, owner, step.position) {
                errors.push(twice(Sort::Label, &step.label, step.position));
            }
            self.statements(&step.statements, owner, errors);
        }
    }

    fn statements(&mut self, statements: &[Statement], owner: Owner<'_>, errors: &mut Vec<Diagnostic>) {
        for statement in statements {
            match &statement.kind {
                Kind::While { body, .. } => self.branch(body, owner, errors),
                Kind::If { then, otherwise, .. } => {
                    self.statements(then, owner, errors);
                    self.statements(otherwise, owner, errors);
                }
                Kind::LabelIf { then, otherwise, .. } => {
                    self.branch(then, owner, errors);
                    self.branch(otherwise, owner, errors);
                }
                Kind::Either(clauses) => {
                    for clause in clauses {
                        self.statements(clause, owner, errors);
                    }
                }
                Kind::LabelEither(clauses) => {
                    for clause in clauses {
                        self.branch(clause, owner, errors);
                    }
                }
                Kind::With { body, .. } => self.statements(body, owner, errors),
                _ => {}
            }
        }
    }

    fn branch(&mut self, branch: &Branch, owner: Owner<'_>, errors: &mut Vec<Diagnostic>) {
        self.statements(&branch.unlabeled, owner, errors);
        self.steps(&branch.labeled, owner, errors);
    }

    /// Gives each symbol a name of its own: `a`, `a_`, `a_P`, `a_Pr`, … with the letters of its context.
    fn disambiguate(&mut self) {
        let mut users: HashMap<String, usize> = HashMap::new();
        for symbol in &self.symbols {
            *users.entry(symbol.used.clone()).or_default() += 1;
        }
        for sort in Sort::ALL.into_iter().skip(1) {
            for symbol in self.symbols.iter_mut().filter(|symbol| symbol.sort == sort) {
                let mut suffix = std::iter::once('_').chain(symbol.context.chars());
                while users.get(&symbol.used).is_some_and(|&count| count > 1) {
                    let next = suffix.next().unwrap_or(sort.digit());
                    if let Some(count) = users.get_mut(&symbol.used) {
                        *count -= 1;
                    }
                    symbol.used.push(next);
                    *users.entry(symbol.used.clone()).or_default() += 1;
                }
                if symbol.used != symbol.name {
                    let Symbol { name, of, position, used, .. } = symbol;
                    let title = sort.title();
                    self.renamings.push(format!(
                        "\\* {title} {name}{of} at line {} col {} changed to {used}",
                        position.line, position.column
                    ));
                    if sort.is_variable() {
                        self.renamed.insert(symbol.context.clone());
                    }
                }
            }
        }
    }

    fn of(&self, name: &str, context: &str) -> &[usize] {
        self.places.get(context).and_then(|names| names.get(name)).map_or(&[], Vec::as_slice)
    }

    /// The symbol of this sort.
    fn find(&self, sort: Sort, name: &str, context: &str) -> Option<&Symbol> {
        self.of(name, context).iter().map(|&number| &self.symbols[number]).find(|symbol| symbol.sort == sort)
    }

    /// The symbol that was declared first, whatever it is.
    fn first(&self, name: &str, context: &str) -> Option<&Symbol> {
        self.of(name, context).first().map(|&number| &self.symbols[number])
    }

    fn used(&self, sort: Sort, name: &mut String, context: &str) {
        if let Some(symbol) = self.find(sort, name, context) {
            name.clone_from(&symbol.used);
        }
    }

    fn variable(&self, name: &mut String, context: &str) {
        if let Some(symbol) = self.first(name, context).filter(|symbol| symbol.sort.is_variable()) {
            name.clone_from(&symbol.used);
        }
    }

    fn rename(&self, algorithm: &mut Algorithm) -> Result<(), Diagnostic> {
        self.rename_variables(&mut algorithm.variables, "")?;
        for Procedure { name, parameters, variables, body, minus_labels, plus_labels, .. } in &mut algorithm.procedures
        {
            self.rename_variables(variables, name)?;
            self.rename_variables(parameters, name)?;
            self.rename_steps(body, name)?;
            for label in plus_labels.iter_mut().chain(minus_labels) {
                self.used(Sort::Label, label, name);
            }
            self.used(Sort::Procedure, name, "");
        }
        match &mut algorithm.body {
            Body::Single(steps) => self.rename_steps(steps, "")?,
            Body::Processes(processes) => {
                for Process { name, variables, body, minus_labels, plus_labels, .. } in processes {
                    self.rename_variables(variables, name)?;
                    self.rename_steps(body, name)?;
                    for label in plus_labels.iter_mut().chain(minus_labels) {
                        self.used(Sort::Label, label, name);
                    }
                    self.used(Sort::Process, name, "");
                }
            }
        }
        Ok(())
    }

    fn rename_variables(&self, variables: &mut [Variable], context: &str) -> Result<(), Diagnostic> {
        for variable in variables {
            self.variable(&mut variable.name, context);
            if let Some(value) = &mut variable.value {
                self.rename_in(value, context)?;
            }
        }
        Ok(())
    }

    fn rename_steps(&self, steps: &mut [Step], context: &str) -> Result<(), Diagnostic> {
        for step in steps {
            self.used(Sort::Label, &mut step.label, context);
            self.rename_statements(&mut step.statements, context)?;
        }
        Ok(())
    }

    fn rename_branch(&self, branch: &mut Branch, context: &str) -> Result<(), Diagnostic> {
        self.rename_statements(&mut branch.unlabeled, context)?;
        self.rename_steps(&mut branch.labeled, context)
    }

    fn rename_statements(&self, statements: &mut [Statement], context: &str) -> Result<(), Diagnostic> {
        for statement in statements {
            self.rename_statement(statement, context)?;
        }
        Ok(())
    }

    fn rename_statement(&self, statement: &mut Statement, context: &str) -> Result<(), Diagnostic> {
        match &mut statement.kind {
            Kind::While { test, body } => {
                self.rename_branch(body, context)?;
                self.rename_in(test, context)?;
            }
            Kind::Assign(assignments) => {
                for assignment in assignments {
                    self.variable(&mut assignment.variable, context);
                    self.rename_in(&mut assignment.subscript, context)?;
                    self.rename_in(&mut assignment.value, context)?;
                }
            }
            Kind::If { test, then, otherwise } => {
                self.rename_statements(then, context)?;
                self.rename_statements(otherwise, context)?;
                self.rename_in(test, context)?;
            }
            Kind::LabelIf { test, then, otherwise } => {
                self.rename_in(test, context)?;
                self.rename_branch(then, context)?;
                self.rename_branch(otherwise, context)?;
            }
            Kind::Either(clauses) => {
                for clause in clauses {
                    self.rename_statements(clause, context)?;
                }
            }
            Kind::LabelEither(clauses) => {
                for clause in clauses {
                    self.rename_branch(clause, context)?;
                }
            }
            Kind::With { value, body, .. } => {
                self.rename_in(value, context)?;
                self.rename_statements(body, context)?;
            }
            Kind::When(expr) | Kind::Print(expr) | Kind::Assert(expr) => self.rename_in(expr, context)?,
            Kind::Skip => {}
            // The reference looks procedures up in the context of the statement, where only the algorithm's own body
            // finds them; so elsewhere a call of a renamed procedure fails.
            Kind::Call { procedure, arguments } => self.rename_call(procedure, arguments, context)?,
            Kind::Return { from } => self.used(Sort::Procedure, from, context),
            Kind::CallReturn { from, procedure, arguments } => {
                self.used(Sort::Procedure, from, context);
                self.rename_call(procedure, arguments, context)?;
            }
            Kind::CallGoto { procedure, arguments, to } => {
                self.used(Sort::Procedure, to, context);
                self.rename_call(procedure, arguments, context)?;
            }
            Kind::Goto { to } => {
                if to != "Done" && self.find(Sort::Label, to, context).is_none() {
                    let problem = error(statement.position, format!("goto to the label `{to}`, which does not exist"));
                    return Err(in_macro(problem, statement.macro_position));
                }
                self.used(Sort::Label, to, context);
            }
        }
        Ok(())
    }

    fn rename_call(&self, procedure: &mut String, arguments: &mut [Expr], context: &str) -> Result<(), Diagnostic> {
        self.used(Sort::Procedure, procedure, context);
        arguments.iter_mut().try_for_each(|argument| self.rename_in(argument, context))
    }

    fn rename_in(&self, expr: &mut Expr, context: &str) -> Result<(), Diagnostic> {
        if !self.renamed.contains(context) {
            return Ok(());
        }
        let mut by = HashMap::new();
        for token in expr.tokens().filter(|token| token.kind == TokenKind::Ident) {
            let mut used = token.text.clone();
            self.variable(&mut used, context);
            if used != token.text {
                by.entry(token.text.clone()).or_insert_with(|| Expr::single(used, TokenKind::Ident));
            }
        }
        expr.substitute(&by, Around::Nothing).map_err(moved)
    }
}

impl Sort {
    /// What is appended when the letters of the context are used up.
    fn digit(self) -> char {
        match self {
            Self::Global => '0',
            Self::Label => '1',
            Self::Procedure => '2',
            Self::Process => '3',
            Self::ProcessVariable => '4',
            Self::ProcedureVariable => '5',
            Self::Parameter => '6',
        }
    }
}

fn twice(sort: Sort, name: &str, position: Position) -> Diagnostic {
    let sort = sort.title().to_lowercase();
    error(
        position,
        match name {
            "pc" | "stack" => format!("{sort} `{name}`: this name is reserved, the translation declares it itself"),
            _ => format!("{sort} `{name}` is declared twice"),
        },
    )
}

/// A located error of the translation.
pub(super) fn error(position: Position, message: impl Into<String>) -> Diagnostic {
    Diagnostic { stage: Stage::Translate, line: position.line, column: position.column, message: message.into() }
}

/// The error with the place of the call, where it lies in a macro.
pub(super) fn in_macro(problem: Diagnostic, called: Option<Position>) -> Diagnostic {
    let Some(Position { line, column }) = called else { return problem };
    let message = format!("{} (the macro is called at line {line}, column {column})", problem.message);
    Diagnostic { message, ..problem }
}

/// The error for a layout that cannot be kept.
pub(super) fn moved(moved: MovedLeft) -> Diagnostic {
    error(moved.position, moved.to_string())
}
