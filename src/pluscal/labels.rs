//! Labels: where one is missing, and from labelled statements to steps.

use std::collections::HashSet;

use super::ast::{Branch, Kind, Procedure, Statement, Step};
use super::draft::{Draft, DraftKind};
use super::position::Position;
use super::source::{Fault, Parsing, fault};

/// What happens where labels are missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Labelling {
    Add,
    Demand,
}

/// The labels of an algorithm.
#[derive(Debug)]
pub(super) struct Labels {
    /// Those that were written.
    written: HashSet<String>,
    /// What the name of an added one begins with.
    root: String,
    next: usize,
    /// Where labels were missing, and why.
    missing: Vec<Fault>,
    /// Parameters and variables of all procedures: a return assigns to all of them.
    of_procedures: HashSet<String>,
    /// The procedure that is looked at.
    procedure: Option<String>,
}

/// The variables assigned to since the step began, as far as it began in this sequence of statements; those from
/// before the sequence are in `before`.
struct Assigned<'a> {
    before: Option<&'a Assigned<'a>>,
    names: Names,
}

/// What is assigned to in one sequence.
#[derive(Debug, Default)]
struct Names {
    own: HashSet<String>,
    /// A return assigned to the variables of all procedures. They are not listed: there may be many returns.
    procedures: bool,
}

/// What is assigned to at the end of a sequence; `keeps` says whether that from before the sequence is part of it.
#[derive(Default)]
struct Ended {
    keeps: bool,
    names: Names,
}

impl Names {
    fn has(&self, name: &str, of_procedures: &HashSet<String>) -> bool {
        self.own.contains(name) || (self.procedures && of_procedures.contains(name))
    }

    fn has_any(&self, of_procedures: &HashSet<String>) -> bool {
        let listed = self.own.iter().any(|name| of_procedures.contains(name));
        listed || (self.procedures && !of_procedures.is_empty())
    }

    fn join(&mut self, mut other: Self) {
        self.procedures |= other.procedures;
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

    /// What is assigned to here and, from the inside out, before.
    fn all(&self) -> impl Iterator<Item = &Names> {
        std::iter::successors(Some(self), |one| one.before).map(|one| &one.names)
    }

    /// A new step begins.
    fn clear(&mut self) {
        *self = Self::since(None);
    }

    /// After a statement with others in it.
    fn after(mut self, ended: Ended) -> Self {
        if !ended.keeps {
            self.clear();
        }
        self.names.join(ended.names);
        self
    }

    /// When what was before is out of sight.
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

/// What a statement without others in it does to labels.
struct Effect {
    names: Vec<String>,
    /// It assigns to the variables of all procedures.
    procedures: bool,
    /// Why the statement after it needs a label; empty where it does not.
    next: &'static str,
}

/// Whether a sequence of statements stands in a `with`, where no label may be.
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
            of_procedures: variables.map(|variable| variable.name.clone()).collect(),
            procedure: None,
        }
    }

    /// What follows is the body of this procedure.
    pub(super) fn enter(&mut self, procedure: &str) {
        self.procedure = Some(procedure.to_owned());
    }

    /// The steps of a body, with the labels added that are missing.
    pub(super) fn steps(&mut self, mut body: Vec<Draft>) -> Parsing<Vec<Step>> {
        self.label(&mut body, "the first statement", Inside::Open, &Assigned::since(None))?;
        self.steps_of(body)
    }

    /// Tells of the missing labels where they may not be added.
    pub(super) fn check(self, labelling: Labelling) -> Result<(), Vec<Fault>> {
        match labelling {
            Labelling::Demand if !self.missing.is_empty() => Err(self.missing),
            _ => Ok(()),
        }
    }

    fn need(&mut self, statement: &mut Draft, why: &str) {
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
        statement.label = Some(label);
        let message = format!("a label is missing: {why}{}", macro_part(statement.macro_position));
        self.missing.push(Fault { position: statement.position, message });
    }

    /// Adds labels to a sequence. Gives whether what follows it needs one, and what is assigned to at its end.
    /// `first` says why its first statement needs one; empty where it does not.
    fn label(
        &mut self,
        statements: &mut [Draft],
        first: &str,
        inside: Inside,
        before: &Assigned<'_>,
    ) -> Parsing<(bool, Ended)> {
        let mut assigned = Assigned::since(Some(before));
        let mut why = first;
        let mut labelled = false;
        for statement in statements {
            if statement.label.is_some() {
                labelled = true;
                assigned.clear();
                if inside == Inside::With {
                    return fault_in(statement, "a label may not stand in a `with`");
                }
            }
            if !why.is_empty() {
                if inside == Inside::With {
                    return fault_in(statement, "nothing may follow a `call`, `return` or `goto` in a `with`");
                }
                self.need(statement, why);
                labelled = true;
                assigned.clear();
            }
            why = "";
            match &mut statement.kind {
                DraftKind::If { then, otherwise, .. } => {
                    let (one, mut ended) = self.label(then, "", inside, &assigned)?;
                    let (other, more) = self.label(otherwise, "", inside, &assigned)?;
                    ended.join(more);
                    assigned = assigned.after(ended);
                    if one || other {
                        why = "the `if` before it has a label, call, return or goto inside";
                    }
                }
                DraftKind::Either(clauses) => {
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
                DraftKind::While { .. } => {
                    if inside == Inside::With {
                        return fault_in(statement, "a `while` may not stand in a `with`");
                    }
                    self.need(statement, "a `while` starts a step");
                    labelled = true;
                    assigned.clear();
                    if let DraftKind::While { body, .. } = &mut statement.kind {
                        self.label(body, "", Inside::Open, &Assigned::since(None))?;
                    }
                }
                DraftKind::With { body, .. } => {
                    let nothing = Assigned::since(None);
                    let known = if inside == Inside::With { before } else { &nothing };
                    let (one, ended) = self.label(body, "", Inside::With, known)?;
                    if one {
                        why = "the `with` before it has a call, return or goto inside";
                    }
                    let twice = inside == Inside::Open && self.meets(before, &ended.names);
                    let kept = Some(before).filter(|_| ended.keeps && inside == Inside::With);
                    assigned = Assigned { before: kept, names: ended.names };
                    if twice {
                        self.need(statement, "the `with` assigns to a variable that the step assigned to before");
                        labelled = true;
                        assigned.clear();
                    }
                }
                _ => {
                    let Effect { names, procedures, next } = self.effect(&statement.kind);
                    why = next;
                    let new = Names { own: names.into_iter().collect(), procedures };
                    if let Some(what) = self.twice(&assigned, &new) {
                        if inside == Inside::With {
                            return fault_in(statement, &format!("{what}, inside a `with`"));
                        }
                        self.need(statement, &what);
                        labelled = true;
                        assigned.clear();
                    }
                    assigned.names.join(new);
                }
            }
        }
        Ok((labelled || !why.is_empty(), assigned.end()))
    }

    /// Whether something is assigned to in both.
    fn meets(&self, assigned: &Assigned<'_>, new: &Names) -> bool {
        assigned.all().any(|names| new.own.iter().any(|name| names.has(name, &self.of_procedures)))
            || (new.procedures && assigned.all().any(|names| names.has_any(&self.of_procedures)))
    }

    /// What would be assigned to a second time.
    fn twice(&self, assigned: &Assigned<'_>, new: &Names) -> Option<String> {
        let known = |name: &&String| assigned.all().any(|names| names.has(name, &self.of_procedures));
        // The smallest, so that the message does not depend on how a set is ordered.
        if let Some(name) = new.own.iter().filter(known).min() {
            return Some(format!("`{name}` is assigned to twice in one step"));
        }
        let met = self.meets(assigned, new);
        met.then(|| "a variable of a procedure is assigned to before a `return` or recursive `call` in one step".into())
    }

    fn effect(&self, kind: &DraftKind) -> Effect {
        let jump = |procedures, next| Effect { names: vec!["stack".into()], procedures, next };
        let plain = |names, next| Effect { names, procedures: false, next };
        match kind {
            DraftKind::Assign(all) => plain(all.iter().map(|one| one.variable.clone()).collect(), ""),
            DraftKind::Goto { .. } => plain(Vec::new(), "it follows a `goto`"),
            DraftKind::Call { procedure, .. } | DraftKind::CallGoto { procedure, .. } => {
                jump(self.procedure.as_ref() == Some(procedure), "it follows a `call`")
            }
            DraftKind::Return { .. } | DraftKind::CallReturn { .. } => jump(true, "it follows a `return`"),
            _ => plain(Vec::new(), ""),
        }
    }

    /// Labelled statements with those that follow them.
    fn steps_of(&self, statements: Vec<Draft>) -> Parsing<Vec<Step>> {
        let mut found = Vec::new();
        let mut statements = statements.into_iter().peekable();
        while let Some(mut first) = statements.next() {
            let Some(label) = first.label.take() else { return fault_in(&first, "a label is missing") };
            let place = first.position;
            let mut inside = vec![first];
            while let Some(next) = statements.next_if(|next| next.label.is_none()) {
                inside.push(next);
            }
            let (statements, _) = self.sequence(inside)?;
            found.push(Step { label, position: place, statements });
        }
        Ok(found)
    }

    /// What is done before the first label, and the steps from there.
    fn branch(&self, mut statements: Vec<Draft>) -> Parsing<(Branch, Ends)> {
        let first = statements.iter().position(|statement| statement.label.is_some()).unwrap_or(statements.len());
        let labeled = self.steps_of(statements.split_off(first))?;
        let (unlabeled, mut ends) = self.sequence(statements)?;
        if !labeled.is_empty() {
            ends = Ends::Labelled;
        }
        Ok((Branch { unlabeled, labeled }, ends))
    }

    /// Statements of which none but the first has a label.
    fn sequence(&self, drafts: Vec<Draft>) -> Parsing<(Vec<Statement>, Ends)> {
        let mut found = Vec::with_capacity(drafts.len());
        let mut ends = Ends::Plain;
        for draft in drafts {
            if ends > Ends::Plain {
                return fault_in(&draft, "a label is missing: what is before it jumps or has a label inside");
            }
            let (statement, one) = self.statement(draft)?;
            ends = one;
            found.push(statement);
        }
        Ok((found, ends))
    }

    fn statement(&self, draft: Draft) -> Parsing<(Statement, Ends)> {
        let outside = || {
            self.procedure.is_none().then(|| Fault {
                position: draft.position,
                message: format!("the `return` does not stand in a procedure{}", macro_part(draft.macro_position)),
            })
        };
        let (kind, ends) = match draft.kind {
            DraftKind::While { test, body } => {
                let (body, _) = self.branch(body)?;
                (Kind::While { test, body }, Ends::Plain)
            }
            DraftKind::If { test, then, otherwise } => {
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
            DraftKind::Either(clauses) => {
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
            DraftKind::With { variable, binding, value, body } => {
                let (body, ends) = self.sequence(body)?;
                if ends == Ends::Labelled {
                    return fault(draft.position, "a label may not stand in a `with`");
                }
                (Kind::With { variable, binding, value, body }, ends)
            }
            DraftKind::Assign(all) => (Kind::Assign(all), Ends::Plain),
            DraftKind::When(expr) => (Kind::When(expr), Ends::Plain),
            DraftKind::Print(expr) => (Kind::Print(expr), Ends::Plain),
            DraftKind::Assert(expr) => (Kind::Assert(expr), Ends::Plain),
            DraftKind::Skip => (Kind::Skip, Ends::Plain),
            DraftKind::Call { procedure, arguments } => (Kind::Call { procedure, arguments }, Ends::Jumps),
            DraftKind::Return { from } => match outside() {
                Some(fault) => return Err(fault),
                None => (Kind::Return { from }, Ends::Jumps),
            },
            DraftKind::CallReturn { from, procedure, arguments } => match outside() {
                Some(fault) => return Err(fault),
                None => (Kind::CallReturn { from, procedure, arguments }, Ends::Jumps),
            },
            DraftKind::CallGoto { procedure, arguments, to } => {
                (Kind::CallGoto { procedure, arguments, to }, Ends::Jumps)
            }
            DraftKind::Goto { to } => (Kind::Goto { to }, Ends::Jumps),
            DraftKind::MacroCall { name, .. } => return fault(draft.position, format!("there is no macro `{name}`")),
        };
        Ok((Statement { position: draft.position, macro_position: draft.macro_position, kind }, ends))
    }
}

/// How a sequence of statements ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Ends {
    /// What follows goes on in the same step.
    Plain,
    /// A call, return or goto is inside.
    Jumps,
    /// A label is inside.
    Labelled,
}

fn fault_in<T>(statement: &Draft, message: &str) -> Parsing<T> {
    fault(statement.position, format!("{message}{}", macro_part(statement.macro_position)))
}

fn macro_part(position: Option<Position>) -> String {
    position.map_or_else(String::new, |position| {
        format!(" (in the macro called at line {}, column {})", position.line, position.column)
    })
}
