//! Resolves name clashes. Labels, procedures and local variables become definitions and variables of one module, so no two
//! may have the same name. This chooses new names and renames throughout the algorithm, like the class `pcal.PcalSymTab`
//! of the reference.

use std::collections::{HashMap, HashSet};

use super::diagnostic::Diagnostic;

use super::ast::{Algorithm, Body, Branch, Kind, Procedure, Process, Statement, Step, Variable};
use super::expr::{Expr, MovedLeft, TokenKind, Wrapping};
use super::position::Position;

/// The kind of a named thing. If names clash, the earlier kind in this order keeps its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum SymbolKind {
    Global,
    Label,
    Procedure,
    Process,
    ProcessVariable,
    ProcedureVariable,
    Parameter,
}

impl SymbolKind {
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

/// The scope in which a name is declared.
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
    kind: SymbolKind,
    name: String,
    /// The procedure or process that it belongs to; empty for the algorithm's own.
    context: String,
    /// `" of process P"`, for the comment about its renaming.
    owner_text: String,
    position: Position,
    /// The name in the translation.
    new_name: String,
}

/// The names of an algorithm.
#[derive(Debug, Default)]
pub(super) struct Names {
    symbols: Vec<Symbol>,
    /// Indices of symbols by context and name.
    indices: HashMap<String, HashMap<String, Vec<usize>>>,
    /// Contexts in which a variable is renamed.
    renamed: HashSet<String>,
    /// The comments at the start of the translation, one for each renaming.
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

    /// Where a name is declared, if it is.
    pub(super) fn position_of(&self, name: &str) -> Option<Position> {
        self.symbols.iter().find(|symbol| symbol.name == name).map(|symbol| symbol.position)
    }

    fn collect(&mut self, algorithm: &Algorithm, errors: &mut Vec<Diagnostic>) {
        let none = Position::default();
        // Reserved even if the translation has no `pc`.
        self.add(SymbolKind::Global, "pc", Owner::Algorithm, none);
        if !algorithm.procedures.is_empty() {
            self.add(SymbolKind::Global, "stack", Owner::Algorithm, none);
        }
        self.declare(SymbolKind::Global, &algorithm.variables, Owner::Algorithm, errors);
        for procedure in &algorithm.procedures {
            let Procedure { name, position, .. } = procedure;
            let owner = Owner::Procedure(name);
            self.add_unit(SymbolKind::Procedure, name, *position, errors);
            self.declare(SymbolKind::ProcedureVariable, &procedure.variables, owner, errors);
            self.declare(SymbolKind::Parameter, &procedure.parameters, owner, errors);
            self.steps(&procedure.body, owner, errors);
        }
        match &algorithm.body {
            Body::Single(steps) => self.steps(steps, Owner::Algorithm, errors),
            Body::Processes(processes) => {
                for process in processes {
                    let owner = Owner::Process(&process.name);
                    self.add_unit(SymbolKind::Process, &process.name, process.position, errors);
                    self.declare(SymbolKind::ProcessVariable, &process.variables, owner, errors);
                    self.steps(&process.body, owner, errors);
                }
            }
        }
    }

    /// Adds a symbol. Returns false if the name is already taken in its scope.
    fn add(&mut self, kind: SymbolKind, name: &str, owner: Owner<'_>, position: Position) -> bool {
        let context = owner.name();
        // A local variable may not have the name of a global one, nor of anything else in its scope. Of other symbols, only
        // two of one kind are an error here; all further clashes are resolved by renaming.
        let taken = if kind.is_local() {
            self.find(SymbolKind::Global, name, "").is_some() || self.find_first(name, context).is_some()
        } else {
            self.find(kind, name, context).is_some()
        };
        if taken {
            return false;
        }
        let owner_text = match owner {
            Owner::Algorithm => String::new(),
            Owner::Procedure(name) => format!(" of procedure {name}"),
            Owner::Process(name) => format!(" of process {name}"),
        };
        let index = self.symbols.len();
        let (name, context) = (name.to_owned(), context.to_owned());
        self.indices.entry(context.clone()).or_default().entry(name.clone()).or_default().push(index);
        self.symbols.push(Symbol { kind, new_name: name.clone(), name, context, owner_text, position });
        true
    }

    fn add_unit(&mut self, kind: SymbolKind, name: &str, position: Position, errors: &mut Vec<Diagnostic>) {
        if !self.add(kind, name, Owner::Algorithm, position) {
            errors.push(declared_twice(kind, name, position));
        }
    }

    fn declare(&mut self, kind: SymbolKind, variables: &[Variable], owner: Owner<'_>, errors: &mut Vec<Diagnostic>) {
        for variable in variables {
            if !self.add(kind, &variable.name, owner, variable.position) {
                errors.push(declared_twice(kind, &variable.name, variable.position));
            }
        }
    }

    fn steps(&mut self, steps: &[Step], owner: Owner<'_>, errors: &mut Vec<Diagnostic>) {
        for step in steps {
            if !self.add(SymbolKind::Label, &step.label, owner, step.position) {
                errors.push(declared_twice(SymbolKind::Label, &step.label, step.position));
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

    /// Gives each symbol a unique name by appending letters of its context: `a`, `a_`, `a_P`, `a_Pr`, …
    fn disambiguate(&mut self) {
        let mut users: HashMap<String, usize> = HashMap::new();
        for symbol in &self.symbols {
            *users.entry(symbol.new_name.clone()).or_default() += 1;
        }
        // Global variables keep their names.
        for kind in SymbolKind::ALL.into_iter().skip(1) {
            for symbol in self.symbols.iter_mut().filter(|symbol| symbol.kind == kind) {
                let mut suffix = std::iter::once('_').chain(symbol.context.chars());
                while users.get(&symbol.new_name).is_some_and(|&count| count > 1) {
                    let next = suffix.next().unwrap_or(kind.digit());
                    if let Some(count) = users.get_mut(&symbol.new_name) {
                        *count -= 1;
                    }
                    symbol.new_name.push(next);
                    *users.entry(symbol.new_name.clone()).or_default() += 1;
                }
                if symbol.new_name != symbol.name {
                    let Symbol { name, owner_text, position, new_name, .. } = symbol;
                    let title = kind.title();
                    self.renamings.push(format!(
                        "\\* {title} {name}{owner_text} at line {} col {} changed to {new_name}",
                        position.line, position.column
                    ));
                    if kind.is_variable() {
                        self.renamed.insert(symbol.context.clone());
                    }
                }
            }
        }
    }

    fn indices_of(&self, name: &str, context: &str) -> &[usize] {
        self.indices.get(context).and_then(|names| names.get(name)).map_or(&[], Vec::as_slice)
    }

    /// The symbol of this kind.
    fn find(&self, kind: SymbolKind, name: &str, context: &str) -> Option<&Symbol> {
        self.indices_of(name, context).iter().map(|&index| &self.symbols[index]).find(|symbol| symbol.kind == kind)
    }

    /// The symbol that was declared first, of any kind.
    fn find_first(&self, name: &str, context: &str) -> Option<&Symbol> {
        self.indices_of(name, context).first().map(|&index| &self.symbols[index])
    }

    fn rename_symbol(&self, kind: SymbolKind, name: &mut String, context: &str) {
        if let Some(symbol) = self.find(kind, name, context) {
            name.clone_from(&symbol.new_name);
        }
    }

    fn rename_variable(&self, name: &mut String, context: &str) {
        if let Some(symbol) = self.find_first(name, context).filter(|symbol| symbol.kind.is_variable()) {
            name.clone_from(&symbol.new_name);
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
                self.rename_symbol(SymbolKind::Label, label, name);
            }
            self.rename_symbol(SymbolKind::Procedure, name, "");
        }
        match &mut algorithm.body {
            Body::Single(steps) => self.rename_steps(steps, "")?,
            Body::Processes(processes) => {
                for Process { name, variables, body, minus_labels, plus_labels, .. } in processes {
                    self.rename_variables(variables, name)?;
                    self.rename_steps(body, name)?;
                    for label in plus_labels.iter_mut().chain(minus_labels) {
                        self.rename_symbol(SymbolKind::Label, label, name);
                    }
                    self.rename_symbol(SymbolKind::Process, name, "");
                }
            }
        }
        Ok(())
    }

    fn rename_variables(&self, variables: &mut [Variable], context: &str) -> Result<(), Diagnostic> {
        for variable in variables {
            self.rename_variable(&mut variable.name, context);
            if let Some(value) = &mut variable.value {
                self.rename_in(value, context)?;
            }
        }
        Ok(())
    }

    fn rename_steps(&self, steps: &mut [Step], context: &str) -> Result<(), Diagnostic> {
        for step in steps {
            self.rename_symbol(SymbolKind::Label, &mut step.label, context);
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
                    self.rename_variable(&mut assignment.variable, context);
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
            // The reference looks up procedures in the context of the statement and so finds them only from the algorithm's
            // own body; elsewhere a call of a renamed procedure fails.
            Kind::Call { procedure, arguments } => self.rename_call(procedure, arguments, context)?,
            Kind::Return { from } => self.rename_symbol(SymbolKind::Procedure, from, context),
            Kind::CallReturn { from, procedure, arguments } => {
                self.rename_symbol(SymbolKind::Procedure, from, context);
                self.rename_call(procedure, arguments, context)?;
            }
            Kind::CallGoto { procedure, arguments, to } => {
                self.rename_symbol(SymbolKind::Procedure, to, context);
                self.rename_call(procedure, arguments, context)?;
            }
            Kind::Goto { to } => {
                if to != "Done" && self.find(SymbolKind::Label, to, context).is_none() {
                    let problem = error(statement.position, format!("goto to the label `{to}`, which does not exist"));
                    return Err(in_macro(problem, statement.macro_position));
                }
                self.rename_symbol(SymbolKind::Label, to, context);
            }
        }
        Ok(())
    }

    fn rename_call(&self, procedure: &mut String, arguments: &mut [Expr], context: &str) -> Result<(), Diagnostic> {
        self.rename_symbol(SymbolKind::Procedure, procedure, context);
        arguments.iter_mut().try_for_each(|argument| self.rename_in(argument, context))
    }

    fn rename_in(&self, expr: &mut Expr, context: &str) -> Result<(), Diagnostic> {
        // Most algorithms rename nothing, so their expressions need not be searched.
        if !self.renamed.contains(context) {
            return Ok(());
        }
        let mut by = HashMap::new();
        for token in expr.tokens().filter(|token| token.kind == TokenKind::Ident) {
            let mut new_name = token.text.clone();
            self.rename_variable(&mut new_name, context);
            if new_name != token.text {
                by.entry(token.text.clone()).or_insert_with(|| Expr::single(new_name, TokenKind::Ident));
            }
        }
        expr.substitute(&by, Wrapping::Nothing).map_err(moved_left)
    }
}

impl SymbolKind {
    /// The character that is appended when all letters of the context are used.
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

fn declared_twice(kind: SymbolKind, name: &str, position: Position) -> Diagnostic {
    let kind = kind.title().to_lowercase();
    error(
        position,
        match name {
            "pc" | "stack" => format!("{kind} `{name}`: this name is reserved, the translation declares it itself"),
            _ => format!("{kind} `{name}` is declared twice"),
        },
    )
}

/// An error of the translation with its position.
pub(super) fn error(position: Position, message: impl Into<String>) -> Diagnostic {
    Diagnostic { line: position.line, column: position.column, message: message.into() }
}

/// Adds the position of the macro call to an error inside a macro.
pub(super) fn in_macro(problem: Diagnostic, called: Option<Position>) -> Diagnostic {
    let Some(Position { line, column }) = called else { return problem };
    let message = format!("{} (the macro is called at line {line}, column {column})", problem.message);
    Diagnostic { message, ..problem }
}

/// The error for a layout that cannot be preserved.
pub(super) fn moved_left(moved: MovedLeft) -> Diagnostic {
    error(moved.position, moved.to_string())
}
