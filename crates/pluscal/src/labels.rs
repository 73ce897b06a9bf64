//! Adds missing labels, or reports them, and groups labelled statements into steps. The rules for labels are those of the
//! PlusCal manual.

use std::collections::HashSet;

use super::ast::{Branch, Kind, Procedure, Statement, Step};
use super::parsed_statement::{ParsedKind, ParsedStatement};
use super::position::Position;
use super::source::{ParseResult, SyntaxError, syntax_error};

/// What happens if labels are missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Labelling {
    Add,
    Report,
}

/// The labels of an algorithm.
#[derive(Debug)]
pub(super) struct Labels {
    /// Labels that the author wrote.
    written: HashSet<String>,
    /// The prefix of added labels.
    root: String,
    /// The number of the next added label.
    next: usize,
    /// An error for each missing label.
    missing: Vec<SyntaxError>,
    /// Parameters and variables of all procedures. The rules for labels treat a return as an assignment to all of them.
    procedure_variables: HashSet<String>,
    /// The procedure whose body is processed.
    procedure: Option<String>,
}

/// The variables assigned since the step began, as a linked list: one entry for this sequence of statements, and `before`
/// for the statements before the sequence that belong to the same step.
struct Assigned<'a> {
    before: Option<&'a Assigned<'a>>,
    names: Names,
}

/// A set of assigned variables.
#[derive(Debug, Default)]
struct Names {
    own: HashSet<String>,
    /// A return assigned the variables of all procedures. They are not listed in `own`, because there may be many returns.
    procedures: bool,
}

/// The variables assigned in the step that is current at the end of a sequence. If `keeps`, the step began before the
/// sequence, so the variables assigned before belong to it as well.
#[derive(Default)]
struct Ended {
    keeps: bool,
    names: Names,
}

impl Names {
    fn has(&self, name: &str, procedure_variables: &HashSet<String>) -> bool {
        self.own.contains(name) || (self.procedures && procedure_variables.contains(name))
    }

    fn has_any(&self, procedure_variables: &HashSet<String>) -> bool {
        let listed = self.own.iter().any(|name| procedure_variables.contains(name));
        listed || (self.procedures && !procedure_variables.is_empty())
    }

    fn join(&mut self, mut other: Self) {
        self.procedures |= other.procedures;
        // The smaller set is moved into the larger one.
        if self.own.len() < other.own.len() {
            std::mem::swap(&mut self.own, &mut other.own);
        }
        self.own.extend(other.own);
    }
}

impl<'a> Assigned<'a> {
    fn since(before: Option<&'a Self>) -> Self {
        Self { before, names: Names::default() }
    }

    /// The assigned variables of this sequence and of those before, from the inside out.
    fn all(&self) -> impl Iterator<Item = &Names> {
        std::iter::successors(Some(self), |one| one.before).map(|one| &one.names)
    }

    /// Starts a new step: nothing is assigned yet.
    fn clear(&mut self) {
        *self = Self::since(None);
    }

    /// Continues after a statement with nested statements.
    fn after(mut self, ended: Ended) -> Self {
        if !ended.keeps {
            self.clear();
        }
        self.names.join(ended.names);
        self
    }

    fn end(self) -> Ended {
        Ended { keeps: self.before.is_some(), names: self.names }
    }
}

impl Ended {
    fn join(&mut self, other: Self) {
        self.keeps |= other.keeps;
        self.names.join(other.names);
    }
}

/// The effect of a simple statement on labels.
struct Effect {
    names: Vec<String>,
    /// It assigns the variables of all procedures.
    procedures: bool,
    /// Why the statement after it needs a label; empty if it does not.
    next: &'static str,
}

/// Whether a sequence of statements is inside a `with`, where labels are not allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Inside {
    With,
    Open,
}

impl Labels {
    pub(super) fn new(written: HashSet<String>, root: String, procedures: &[Procedure]) -> Self {
        let variables = procedures.iter().flat_map(|one| one.parameters.iter().chain(&one.variables));
        Self {
            written,
            root,
            next: 1,
            missing: Vec::new(),
            procedure_variables: variables.map(|variable| variable.name.clone()).collect(),
            procedure: None,
        }
    }

    /// Starts the body of a procedure.
    pub(super) fn enter(&mut self, procedure: &str) {
        self.procedure = Some(procedure.to_owned());
    }

    /// The steps of a body, after adding missing labels.
    pub(super) fn steps(&mut self, mut body: Vec<ParsedStatement>) -> ParseResult<Vec<Step>> {
        self.label(&mut body, "the first statement", Inside::Open, &Assigned::since(None))?;
        self.group_into_steps(body)
    }

    /// Reports the missing labels if they must not be added.
    pub(super) fn check(self, labelling: Labelling) -> Result<(), Vec<SyntaxError>> {
        match labelling {
            Labelling::Report if !self.missing.is_empty() => Err(self.missing),
            _ => Ok(()),
        }
    }

    /// Adds a label to a statement that has none, and records that it was missing.
    fn require_label(&mut self, statement: &mut ParsedStatement, why: &str) {
        if statement.label.is_some() {
            return;
        }
        let label = loop {
            let label = format!("{}{}", self.root, self.next);
            self.next += 1;
            if !self.written.contains(&label) {
                break label;
            }
        };
        // Also if missing labels are only reported: what needs a label further down depends on this one.
        statement.label = Some(label);
        let message = format!("a label is missing: {why}{}", macro_part(statement.macro_position));
        self.missing.push(SyntaxError { position: statement.position, message });
    }

    /// Adds labels to a sequence. Returns whether the statement after it needs a label, and the variables assigned at its
    /// end. `first` is the reason why the first statement needs a label; empty if it does not.
    fn label(
        &mut self,
        statements: &mut [ParsedStatement],
        first: &str,
        inside: Inside,
        before: &Assigned<'_>,
    ) -> ParseResult<(bool, Ended)> {
        let mut assigned = Assigned::since(Some(before));
        let mut why = first;
        let mut labelled = false;
        for statement in statements {
            if statement.label.is_some() {
                labelled = true;
                assigned.clear();
                if inside == Inside::With {
                    return syntax_error_in(statement, "a label is not allowed in a `with`");
                }
            }
            if !why.is_empty() {
                if inside == Inside::With {
                    return syntax_error_in(
                        statement,
                        "no statement may follow a `call`, `return` or `goto` in a `with`",
                    );
                }
                self.require_label(statement, why);
                labelled = true;
                assigned.clear();
            }
            why = "";
            match &mut statement.kind {
                ParsedKind::If { then, otherwise, .. } => {
                    let (one, mut ended) = self.label(then, "", inside, &assigned)?;
                    let (other, more) = self.label(otherwise, "", inside, &assigned)?;
                    ended.join(more);
                    assigned = assigned.after(ended);
                    if one || other {
                        why = "the `if` before it has a label, call, return or goto inside";
                    }
                }
                ParsedKind::Either(clauses) => {
                    let mut all = Ended::default();
                    for clause in clauses {
                        let (one, ended) = self.label(clause, "", inside, &assigned)?;
                        all.join(ended);
                        if one {
                            why = "the `either` before it has a label, call, return or goto inside";
                        }
                    }
                    assigned = assigned.after(all);
                }
                ParsedKind::While { .. } => {
                    if inside == Inside::With {
                        return syntax_error_in(statement, "a `while` is not allowed in a `with`");
                    }
                    self.require_label(statement, "a `while` starts a step");
                    labelled = true;
                    assigned.clear();
                    if let ParsedKind::While { body, .. } = &mut statement.kind {
                        // What the body assigned does not matter afterwards: the statements after a loop are executed
                        // instead of its body, not after it in the same step.
                        self.label(body, "", Inside::Open, &Assigned::since(None))?;
                    }
                }
                ParsedKind::With { body, .. } => {
                    let nothing = Assigned::since(None);
                    let known = if inside == Inside::With { before } else { &nothing };
                    let (one, ended) = self.label(body, "", Inside::With, known)?;
                    if one {
                        why = "the `with` before it has a call, return or goto inside";
                    }
                    let is_assigned_twice = inside == Inside::Open && self.intersects(before, &ended.names);
                    let kept = Some(before).filter(|_| ended.keeps && inside == Inside::With);
                    assigned = Assigned { before: kept, names: ended.names };
                    if is_assigned_twice {
                        self.require_label(
                            statement,
                            "the `with` assigns to a variable that the step assigned to before",
                        );
                        labelled = true;
                        assigned.clear();
                    }
                }
                _ => {
                    let Effect { names, procedures, next } = self.effect(&statement.kind);
                    why = next;
                    let new = Names { own: names.into_iter().collect(), procedures };
                    if let Some(what) = self.assigned_twice(&assigned, &new) {
                        if inside == Inside::With {
                            return syntax_error_in(statement, &format!("{what}, inside a `with`"));
                        }
                        self.require_label(statement, &what);
                        labelled = true;
                        assigned.clear();
                    }
                    assigned.names.join(new);
                }
            }
        }
        Ok((labelled || !why.is_empty(), assigned.end()))
    }

    /// Whether a variable is in both sets.
    fn intersects(&self, assigned: &Assigned<'_>, new: &Names) -> bool {
        assigned.all().any(|names| new.own.iter().any(|name| names.has(name, &self.procedure_variables)))
            || (new.procedures && assigned.all().any(|names| names.has_any(&self.procedure_variables)))
    }

    /// The reason for a label if a variable would be assigned a second time in a step.
    fn assigned_twice(&self, assigned: &Assigned<'_>, new: &Names) -> Option<String> {
        let known = |name: &&String| assigned.all().any(|names| names.has(name, &self.procedure_variables));
        // The smallest name, because the order of a hash set is random.
        if let Some(name) = new.own.iter().filter(known).min() {
            return Some(format!("`{name}` is assigned to twice in one step"));
        }
        let met = self.intersects(assigned, new);
        met.then(|| "a variable of a procedure is assigned to before a `return` or recursive `call` in one step".into())
    }

    fn effect(&self, kind: &ParsedKind) -> Effect {
        // Calls and returns assign `stack`, so a step can have only one of them.
        let jump = |procedures, next| Effect { names: vec!["stack".into()], procedures, next };
        let plain = |names, next| Effect { names, procedures: false, next };
        match kind {
            ParsedKind::Assign(all) => plain(all.iter().map(|one| one.variable.clone()).collect(), ""),
            ParsedKind::Goto { .. } => plain(Vec::new(), "it follows a `goto`"),
            ParsedKind::Call { procedure, .. } | ParsedKind::CallGoto { procedure, .. } => {
                jump(self.procedure.as_ref() == Some(procedure), "it follows a `call`")
            }
            ParsedKind::Return { .. } | ParsedKind::CallReturn { .. } => jump(true, "it follows a `return`"),
            _ => plain(Vec::new(), ""),
        }
    }

    /// Groups labelled statements with the unlabelled ones after them.
    fn group_into_steps(&self, statements: Vec<ParsedStatement>) -> ParseResult<Vec<Step>> {
        let mut found = Vec::new();
        let mut statements = statements.into_iter().peekable();
        while let Some(mut first) = statements.next() {
            let Some(label) = first.label.take() else { return syntax_error_in(&first, "a label is missing") };
            let place = first.position;
            let mut inside = vec![first];
            while let Some(next) = statements.next_if(|next| next.label.is_none()) {
                inside.push(next);
            }
            // A label follows, or the body ends, so it does not matter how the step ends.
            let (statements, _) = self.sequence(inside)?;
            found.push(Step { label, position: place, statements });
        }
        Ok(found)
    }

    /// The statements before the first label, and the steps from there.
    fn branch(&self, mut statements: Vec<ParsedStatement>) -> ParseResult<(Branch, Ends)> {
        let first = statements.iter().position(|statement| statement.label.is_some()).unwrap_or(statements.len());
        let labeled = self.group_into_steps(statements.split_off(first))?;
        let (unlabeled, mut ends) = self.sequence(statements)?;
        if !labeled.is_empty() {
            ends = Ends::Labelled;
        }
        Ok((Branch { unlabeled, labeled }, ends))
    }

    /// A sequence of statements without labels, except possibly the first.
    fn sequence(&self, parsed: Vec<ParsedStatement>) -> ParseResult<(Vec<Statement>, Ends)> {
        let mut found = Vec::with_capacity(parsed.len());
        let mut ends = Ends::Plain;
        for statement in parsed {
            if ends > Ends::Plain {
                return syntax_error_in(
                    &statement,
                    "a label is missing: what is before it jumps or has a label inside",
                );
            }
            let (statement, one) = self.statement(statement)?;
            ends = one;
            found.push(statement);
        }
        Ok((found, ends))
    }

    fn statement(&self, statement: ParsedStatement) -> ParseResult<(Statement, Ends)> {
        let outside = || {
            self.procedure.is_none().then(|| SyntaxError {
                position: statement.position,
                message: format!("the `return` is not inside a procedure{}", macro_part(statement.macro_position)),
            })
        };
        let (kind, ends) = match statement.kind {
            ParsedKind::While { test, body } => {
                let (body, _) = self.branch(body)?;
                (Kind::While { test, body }, Ends::Plain)
            }
            ParsedKind::If { test, then, otherwise } => {
                let (then, one) = self.branch(then)?;
                let (otherwise, other) = self.branch(otherwise)?;
                let ends = one.max(other);
                let kind = if ends == Ends::Labelled {
                    Kind::LabelIf { test, then, otherwise }
                } else {
                    Kind::If { test, then: then.unlabeled, otherwise: otherwise.unlabeled }
                };
                (kind, ends)
            }
            ParsedKind::Either(clauses) => {
                let mut ends = Ends::Plain;
                let mut branches = Vec::with_capacity(clauses.len());
                for clause in clauses {
                    let (branch, one) = self.branch(clause)?;
                    ends = ends.max(one);
                    branches.push(branch);
                }
                let kind = if ends == Ends::Labelled {
                    Kind::LabelEither(branches)
                } else {
                    Kind::Either(branches.into_iter().map(|branch| branch.unlabeled).collect())
                };
                (kind, ends)
            }
            ParsedKind::With { variable, binding, value, body } => {
                let (body, ends) = self.sequence(body)?;
                if ends == Ends::Labelled {
                    return syntax_error(statement.position, "a label is not allowed in a `with`");
                }
                (Kind::With { variable, binding, value, body }, ends)
            }
            ParsedKind::Assign(all) => (Kind::Assign(all), Ends::Plain),
            ParsedKind::When(expr) => (Kind::When(expr), Ends::Plain),
            ParsedKind::Print(expr) => (Kind::Print(expr), Ends::Plain),
            ParsedKind::Assert(expr) => (Kind::Assert(expr), Ends::Plain),
            ParsedKind::Skip => (Kind::Skip, Ends::Plain),
            ParsedKind::Call { procedure, arguments } => (Kind::Call { procedure, arguments }, Ends::Jumps),
            ParsedKind::Return { from } => match outside() {
                Some(error) => return Err(error),
                None => (Kind::Return { from }, Ends::Jumps),
            },
            ParsedKind::CallReturn { from, procedure, arguments } => match outside() {
                Some(error) => return Err(error),
                None => (Kind::CallReturn { from, procedure, arguments }, Ends::Jumps),
            },
            ParsedKind::CallGoto { procedure, arguments, to } => {
                (Kind::CallGoto { procedure, arguments, to }, Ends::Jumps)
            }
            ParsedKind::Goto { to } => (Kind::Goto { to }, Ends::Jumps),
            ParsedKind::MacroCall { name, .. } => {
                return syntax_error(statement.position, format!("there is no macro `{name}`"));
            }
        };
        Ok((Statement { position: statement.position, macro_position: statement.macro_position, kind }, ends))
    }
}

/// How a sequence of statements ends, in the order of precedence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Ends {
    /// Control continues in the same step.
    Plain,
    /// It contains a call, return or goto.
    Jumps,
    /// It contains a label.
    Labelled,
}

fn syntax_error_in<T>(statement: &ParsedStatement, message: &str) -> ParseResult<T> {
    syntax_error(statement.position, format!("{message}{}", macro_part(statement.macro_position)))
}

fn macro_part(position: Option<Position>) -> String {
    position.map_or_else(String::new, |position| {
        format!(" (in the macro called at line {}, column {})", position.line, position.column)
    })
}
