//! From steps to actions: `while`, jumps, calls and branches with labels become tests of `pc`, assignments to `pc` and
//! `stack`, and actions of their own.

use std::collections::HashMap;

use crate::tla::Diagnostic;

use super::ast::{Algorithm, Assignment, Binding, Body, Branch, Kind, Statement, Step, Variable};
use super::expr::{Expr, Token, TokenKind};
use super::names::error;
use super::position::Position;

/// One action of the translation: what is done from a label to the next.
#[derive(Debug)]
pub(super) struct Action {
    pub label: String,
    pub position: Position,
    pub conjuncts: Vec<Conjunct>,
}

/// What an action is made of.
#[derive(Debug)]
pub(super) enum Conjunct {
    Assign { position: Position, macro_position: Option<Position>, assignments: Vec<Assignment> },
    If { test: Expr, then: Vec<Conjunct>, otherwise: Vec<Conjunct> },
    Either(Vec<Vec<Conjunct>>),
    With { variable: String, binding: Binding, value: Expr, body: Vec<Conjunct> },
    When(Expr),
    Print(Expr),
    Assert { position: Position, macro_position: Option<Position>, expr: Expr },
    Skip,
}

/// An algorithm as actions; the bodies of the algorithm it was made from are empty now.
#[derive(Debug)]
pub(super) struct Exploded {
    /// In the order of the procedures.
    pub procedures: Vec<Vec<Action>>,
    /// In the order of the processes; one, for a uniprocess algorithm.
    pub bodies: Vec<Vec<Action>>,
}

/// Whether `pc` can be left out, and whether a finished algorithm may stutter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Control {
    /// No variable `pc`: every process is one `while TRUE` with a single label.
    pub omit_pc: bool,
    /// Some process never ends, so that there is no `Terminating` and no `Termination`.
    pub endless: bool,
}

impl Control {
    pub(super) fn of(algorithm: &Algorithm) -> Self {
        let mut omit_pc = algorithm.procedures.is_empty() && !algorithm.keeps_pc && !algorithm.has_goto;
        let mut endless = match &algorithm.body {
            Body::Single(steps) => {
                let found = Self::of_steps(steps);
                omit_pc &= found.omit_pc;
                found.endless && !algorithm.is_before_1_5
            }
            Body::Processes(processes) => processes.iter().fold(false, |endless, process| {
                let found = Self::of_steps(&process.body);
                omit_pc &= found.omit_pc;
                endless | found.endless
            }),
        };
        if algorithm.has_goto_done {
            (omit_pc, endless) = (false, false);
        }
        Self { omit_pc, endless }
    }

    fn of_steps(steps: &[Step]) -> Self {
        let ends = Self { omit_pc: false, endless: false };
        let [step] = steps else {
            return if steps.is_empty() { Self { omit_pc: true, endless: true } } else { ends };
        };
        let [Statement { kind: Kind::While { test, body }, .. }] = step.statements.as_slice() else {
            return if step.statements.is_empty() { Self { omit_pc: true, endless: true } } else { ends };
        };
        if !test.is_one_token() || test.first().is_none_or(|token| token.text != "TRUE") {
            return ends;
        }
        let broken = |statement: &Statement| matches!(statement.kind, Kind::LabelIf { .. } | Kind::LabelEither(_));
        Self { omit_pc: body.labeled.is_empty() && !body.unlabeled.iter().any(broken), endless: true }
    }
}

/// Takes the bodies out of the algorithm and breaks them into actions.
pub(super) fn explode(algorithm: &mut Algorithm, control: Control) -> Result<Exploded, Diagnostic> {
    let mut exploder = Exploder::new(algorithm, control);
    let mut procedures = Vec::new();
    for procedure in &mut algorithm.procedures {
        exploder.current = Some(procedure.name.clone());
        let body = std::mem::take(&mut procedure.body);
        procedures.push(exploder.sequence(body, "Error")?);
    }
    exploder.current = None;
    let mut bodies = Vec::new();
    match &mut algorithm.body {
        Body::Single(steps) => bodies.push(exploder.sequence(std::mem::take(steps), "Done")?),
        Body::Processes(processes) => {
            for process in processes {
                bodies.push(exploder.sequence(std::mem::take(&mut process.body), "Done")?);
            }
        }
    }
    Ok(Exploded { procedures, bodies })
}

/// The value that a variable begins with.
pub(super) fn initial(variable: &Variable) -> Expr {
    variable.value.clone().unwrap_or_else(|| Expr::single("defaultInitValue", TokenKind::Builtin))
}

/// What has to be known of a procedure to call it or return from it.
struct Target {
    /// Its first label.
    entry: String,
    parameters: Vec<String>,
    locals: Vec<Variable>,
}

impl Target {
    /// The variables that are saved on the stack, in the order of the record.
    fn saved(&self) -> impl Iterator<Item = &str> {
        self.locals.iter().map(|variable| variable.name.as_str()).chain(self.parameters.iter().map(String::as_str))
    }
}

/// Statements that are broken up.
#[derive(Default)]
pub(super) struct Broken {
    /// What is done in the step itself.
    pub here: Vec<Conjunct>,
    /// The steps that come of labels inside.
    actions: Vec<Action>,
    /// Whether control runs on at the end, so that `pc` has still to be set.
    runs_on: bool,
}

pub(super) struct Exploder {
    targets: HashMap<String, Target>,
    omit_pc: bool,
    /// The procedure whose body it is.
    pub current: Option<String>,
}

impl Exploder {
    pub(super) fn new(algorithm: &Algorithm, control: Control) -> Self {
        let targets = algorithm.procedures.iter().map(|procedure| {
            let target = Target {
                entry: procedure.body.first().map_or_else(String::new, |step| step.label.clone()),
                parameters: procedure.parameters.iter().map(|variable| variable.name.clone()).collect(),
                locals: procedure.variables.clone(),
            };
            (procedure.name.clone(), target)
        });
        Self { targets: targets.collect(), omit_pc: control.omit_pc, current: None }
    }

    /// Steps one after the other, and then `next`.
    fn sequence(&self, steps: Vec<Step>, next: &str) -> Result<Vec<Action>, Diagnostic> {
        let mut actions = Vec::new();
        let mut steps = steps.into_iter().peekable();
        while let Some(step) = steps.next() {
            let after = steps.peek().map_or(next, |step| &step.label).to_owned();
            self.step(step, &after, &mut actions)?;
        }
        Ok(actions)
    }

    fn step(&self, step: Step, next: &str, actions: &mut Vec<Action>) -> Result<(), Diagnostic> {
        let Step { label, position, statements } = step;
        let mut statements = statements.into_iter();
        let first = match statements.next() {
            Some(Statement { kind: Kind::While { test, body }, .. }) => {
                return self.repeat((label, position), test, body, statements.collect(), next, actions);
            }
            first => first,
        };
        let Broken { here, actions: inner, .. } = self.block_with_goto(first.into_iter().chain(statements), next)?;
        if !self.omit_pc {
            let mut conjuncts = vec![at_label(&label)];
            conjuncts.extend(here);
            actions.push(Action { label, position, conjuncts });
        }
        actions.extend(inner);
        Ok(())
    }

    /// `while test do body`, and what follows it in the same step.
    fn repeat(
        &self,
        (label, position): (String, Position),
        test: Expr,
        body: Branch,
        rest: Vec<Statement>,
        next: &str,
        actions: &mut Vec<Action>,
    ) -> Result<(), Diagnostic> {
        let into = body.labeled.first().map_or(&label, |step| &step.label).clone();
        let within = self.block_with_goto(body.unlabeled, &into)?;
        let after = self.block_with_goto(rest, next)?;
        let mut conjuncts = Vec::new();
        if !self.omit_pc {
            conjuncts.push(at_label(&label));
        }
        let forever = is_true(&test);
        let mut later = within.actions;
        if forever {
            conjuncts.extend(within.here);
        } else {
            conjuncts.push(Conjunct::If { test, then: within.here, otherwise: after.here });
            later.extend(after.actions);
        }
        let inner = self.sequence(body.labeled, &label)?;
        actions.push(Action { label, position, conjuncts });
        actions.extend(inner);
        actions.extend(later);
        Ok(())
    }

    /// Statements of a step. Only the last can leave it.
    fn block(&self, statements: impl IntoIterator<Item = Statement>, next: &str) -> Result<Broken, Diagnostic> {
        let mut broken = Broken::default();
        let mut last = None;
        for statement in statements {
            if let Some(earlier) = last.replace(statement) {
                broken.here.push(plain(earlier)?);
            }
        }
        match last {
            Some(statement) => self.last(statement, next, &mut broken)?,
            None => broken.runs_on = true,
        }
        broken.runs_on &= !self.omit_pc;
        Ok(broken)
    }

    pub(super) fn block_with_goto(
        &self,
        statements: impl IntoIterator<Item = Statement>,
        next: &str,
    ) -> Result<Broken, Diagnostic> {
        let mut broken = self.block(statements, next)?;
        if broken.runs_on {
            broken.here.push(goto(next));
            broken.runs_on = false;
        }
        Ok(broken)
    }

    pub(super) fn last(&self, statement: Statement, next: &str, into: &mut Broken) -> Result<(), Diagnostic> {
        let position = statement.position;
        match statement.kind {
            Kind::LabelIf { test, then, otherwise } => {
                let (then, inner) = self.branch(then, next)?;
                let (otherwise, inner_else) = self.branch(otherwise, next)?;
                into.here.push(Conjunct::If { test, then: then.here, otherwise: otherwise.here });
                for actions in [inner, inner_else, then.actions, otherwise.actions] {
                    into.actions.extend(actions);
                }
            }
            Kind::LabelEither(clauses) => {
                let mut ors = Vec::new();
                for clause in clauses {
                    let (clause, inner) = self.branch(clause, next)?;
                    ors.push(clause.here);
                    into.actions.extend(clause.actions);
                    into.actions.extend(inner);
                }
                into.here.push(Conjunct::Either(ors));
            }
            Kind::Goto { to } => into.here.push(goto(&to)),
            Kind::Call { procedure, arguments } => into.here.extend(self.call(position, &procedure, arguments, next)?),
            Kind::CallGoto { procedure, arguments, to } => {
                into.here.extend(self.call(position, &procedure, arguments, &to)?);
            }
            Kind::Return { from } => into.here.extend(self.give_back(position, &from)?),
            Kind::CallReturn { from, procedure, arguments } => {
                into.here.extend(self.call_and_return(position, &from, &procedure, arguments)?);
            }
            Kind::If { test, then, otherwise } => {
                let mut then = self.block(then, next)?;
                let mut otherwise = self.block(otherwise, next)?;
                into.runs_on = then.runs_on && otherwise.runs_on;
                if !into.runs_on {
                    for branch in [&mut then, &mut otherwise] {
                        if branch.runs_on {
                            branch.here.push(goto(next));
                        }
                    }
                }
                into.here.push(Conjunct::If { test, then: then.here, otherwise: otherwise.here });
                into.actions.extend(then.actions);
                into.actions.extend(otherwise.actions);
            }
            Kind::Either(clauses) => {
                let mut clauses: Vec<_> =
                    clauses.into_iter().map(|clause| self.block(clause, next)).collect::<Result<_, _>>()?;
                into.runs_on = clauses.iter().all(|clause| clause.runs_on);
                for clause in &mut clauses {
                    if clause.runs_on && !into.runs_on {
                        clause.here.push(goto(next));
                    }
                    into.actions.append(&mut clause.actions);
                }
                into.here.push(Conjunct::Either(clauses.into_iter().map(|clause| clause.here).collect()));
            }
            Kind::With { variable, binding, value, body } => {
                let body = self.block(body, next)?;
                into.runs_on = body.runs_on;
                into.here.push(Conjunct::With { variable, binding, value, body: body.here });
                into.actions.extend(body.actions);
            }
            kind => {
                into.here.push(plain(Statement { kind, ..statement })?);
                into.runs_on = true;
            }
        }
        Ok(())
    }

    /// A branch with labels: what is done before them, and the actions that they begin.
    fn branch(&self, branch: Branch, next: &str) -> Result<(Broken, Vec<Action>), Diagnostic> {
        let into = branch.labeled.first().map_or(next, |step| &step.label).to_owned();
        let broken = self.block_with_goto(branch.unlabeled, &into)?;
        Ok((broken, self.sequence(branch.labeled, next)?))
    }

    fn target(&self, position: Position, procedure: &str, arguments: &[Expr]) -> Result<&Target, Diagnostic> {
        let Some(target) = self.targets.get(procedure) else {
            return Err(error(position, format!("call of the procedure `{procedure}`, which does not exist")));
        };
        let (wanted, given) = (target.parameters.len(), arguments.len());
        if wanted != given {
            let arguments = if wanted == 1 { "argument" } else { "arguments" };
            return Err(error(
                position,
                format!("the procedure `{procedure}` takes {wanted} {arguments}, not {given}"),
            ));
        }
        Ok(target)
    }

    fn call(
        &self,
        position: Position,
        procedure: &str,
        arguments: Vec<Expr>,
        back_to: &str,
    ) -> Result<Vec<Conjunct>, Diagnostic> {
        let target = self.target(position, procedure, &arguments)?;
        let mut frame = Frame::new(procedure);
        frame.field("pc", [(back_to, TokenKind::String)]);
        for name in target.saved() {
            frame.field(name, [(name, TokenKind::Ident)]);
        }
        let stack = frame.on([("stack", TokenKind::Added)]);
        let mut assignments = vec![assignment(position, "stack", stack)];
        assignments.extend(passed(position, target, arguments));
        let mut conjuncts = vec![Conjunct::Assign { position, macro_position: None, assignments }];
        conjuncts.extend(begun(position, target));
        Ok(conjuncts)
    }

    fn give_back(&self, position: Position, from: &str) -> Result<Vec<Conjunct>, Diagnostic> {
        let outside = || error(position, "`return` outside a procedure");
        let from = if from.is_empty() { self.current.as_deref().ok_or_else(outside)? } else { from };
        let Some(target) = self.targets.get(from) else {
            return Err(error(position, format!("the procedure `{from}` has the name of something else")));
        };
        let assign = |name: &str, value| Conjunct::Assign {
            position,
            macro_position: None,
            assignments: vec![assignment(position, name, value)],
        };
        let mut conjuncts = vec![assign("pc", top_of_stack("pc"))];
        conjuncts.extend(target.saved().map(|name| assign(name, top_of_stack(name))));
        let tail = [("Tail", TokenKind::Ident), ("(", TokenKind::Builtin), ("stack", TokenKind::Added)];
        conjuncts.push(assign("stack", run(tail.into_iter().chain([(")", TokenKind::Builtin)]))));
        Ok(conjuncts)
    }

    fn call_and_return(
        &self,
        position: Position,
        from: &str,
        procedure: &str,
        arguments: Vec<Expr>,
    ) -> Result<Vec<Conjunct>, Diagnostic> {
        let outside = || error(position, "`return` outside a procedure");
        let from = if from.is_empty() { self.current.as_deref().ok_or_else(outside)? } else { from };
        let target = self.target(position, procedure, &arguments)?;
        let Some(left) = self.targets.get(from) else {
            return Err(error(position, format!("the procedure `{from}` has the name of something else")));
        };
        let mut assignments = Vec::new();
        if from != procedure {
            for variable in &left.locals {
                assignments.push(assignment(position, &variable.name, top_of_stack(&variable.name)));
            }
            let mut frame = Frame::new(procedure);
            frame.field("pc", HEAD.into_iter().chain([("pc", TokenKind::Ident)]));
            for name in target.saved() {
                frame.field(name, [(name, TokenKind::Ident)]);
            }
            let tail = [("Tail", TokenKind::Ident), ("(", TokenKind::Builtin), ("stack", TokenKind::Added)];
            let stack = frame.on(tail.into_iter().chain([(")", TokenKind::Builtin)]));
            assignments.push(assignment(position, "stack", stack));
        }
        assignments.extend(passed(position, target, arguments));
        let mut conjuncts = vec![Conjunct::Assign { position, macro_position: None, assignments }];
        conjuncts.extend(begun(position, target));
        Ok(conjuncts)
    }
}

/// The parameters take the values of the arguments.
fn passed(position: Position, target: &Target, arguments: Vec<Expr>) -> impl Iterator<Item = Assignment> {
    target.parameters.iter().zip(arguments).map(move |(name, value)| assignment(position, name, value))
}

/// The called procedure's own variables take their first values, and control goes to its first label.
fn begun(position: Position, target: &Target) -> impl Iterator<Item = Conjunct> {
    let assign = move |variable: &Variable| Conjunct::Assign {
        position,
        macro_position: None,
        assignments: vec![assignment(position, &variable.name, initial(variable))],
    };
    target.locals.iter().map(assign).chain([goto(&target.entry)])
}

/// A statement that stays in its step.
fn plain(statement: Statement) -> Result<Conjunct, Diagnostic> {
    let Statement { position, macro_position, kind } = statement;
    let block = |statements: Vec<Statement>| statements.into_iter().map(plain).collect::<Result<Vec<_>, _>>();
    Ok(match kind {
        Kind::Assign(assignments) => Conjunct::Assign { position, macro_position, assignments },
        Kind::If { test, then, otherwise } => Conjunct::If { test, then: block(then)?, otherwise: block(otherwise)? },
        Kind::Either(clauses) => Conjunct::Either(clauses.into_iter().map(block).collect::<Result<_, _>>()?),
        Kind::With { variable, binding, value, body } => {
            Conjunct::With { variable, binding, value, body: block(body)? }
        }
        Kind::When(expr) => Conjunct::When(expr),
        Kind::Print(expr) => Conjunct::Print(expr),
        Kind::Assert(expr) => Conjunct::Assert { position, macro_position, expr },
        Kind::Skip => Conjunct::Skip,
        Kind::While { .. } => return Err(error(position, "a `while` must be labelled")),
        Kind::LabelIf { .. }
        | Kind::LabelEither(_)
        | Kind::Call { .. }
        | Kind::Return { .. }
        | Kind::CallReturn { .. }
        | Kind::CallGoto { .. }
        | Kind::Goto { .. } => return Err(error(position, "the statement after this one must be labelled")),
    })
}

/// Whether the test is `TRUE`, perhaps in parentheses.
pub(super) fn is_true(test: &Expr) -> bool {
    let [line] = test.lines() else { return false };
    match line.as_slice() {
        [only] => only.text == "TRUE",
        [open, only, close] => open.text == "(" && only.text == "TRUE" && close.text == ")",
        _ => false,
    }
}

fn at_label(label: &str) -> Conjunct {
    let mut expr = Expr::default();
    expr.push_after(Token::new("pc", 0, TokenKind::Added), 0);
    expr.push_after(Token::new("=", 0, TokenKind::Builtin), 1);
    expr.push_after(Token::new(label, 0, TokenKind::String), 1);
    expr.normalize();
    Conjunct::When(expr)
}

fn goto(label: &str) -> Conjunct {
    let label = Expr::single(label, TokenKind::String);
    Conjunct::Assign {
        position: Position::default(),
        macro_position: None,
        assignments: vec![assignment(Position::default(), "pc", label)],
    }
}

fn assignment(position: Position, variable: &str, value: Expr) -> Assignment {
    Assignment { position, variable: variable.to_owned(), subscript: Expr::default(), value }
}

/// Tokens one after the other without space.
fn run<'a>(tokens: impl IntoIterator<Item = (&'a str, TokenKind)>) -> Expr {
    let mut expr = Expr::default();
    for (text, kind) in tokens {
        expr.push_after(Token::new(text, 0, kind), 0);
    }
    expr.normalize();
    expr
}

const HEAD: [(&str, TokenKind); 5] = [
    ("Head", TokenKind::Ident),
    ("(", TokenKind::Builtin),
    ("stack", TokenKind::Added),
    (")", TokenKind::Builtin),
    (".", TokenKind::Builtin),
];

/// `Head(stack).name`.
fn top_of_stack(name: &str) -> Expr {
    run(HEAD.into_iter().chain([(name, TokenKind::Ident)]))
}

/// The record that a call puts on the stack, a field a line, arrows below each other.
struct Frame(Expr);

impl Frame {
    /// Where the names of all fields but the first begin, and where the arrows stand when the names are short.
    const NAMES: usize = 6;
    const ARROWS: usize = 16;

    fn new(procedure: &str) -> Self {
        let mut frame = Self(Expr::default());
        frame.0.push(Token::new("<<", 1, TokenKind::Builtin));
        frame.0.push_after(Token::new("[", 0, TokenKind::Builtin), 1);
        frame.0.push_after(Token::new("procedure", 0, TokenKind::Ident), 1);
        frame.arrow([(procedure, TokenKind::String)]);
        frame
    }

    fn arrow<'a>(&mut self, value: impl IntoIterator<Item = (&'a str, TokenKind)>) {
        let column = self.0.last().map_or(0, Token::end) + 1;
        self.0.push(Token::new("|->", column.max(Self::ARROWS), TokenKind::Builtin));
        let mut spaces = 2;
        for (text, kind) in value {
            self.0.push_after(Token::new(text, 0, kind), spaces);
            spaces = 0;
        }
    }

    fn field<'a>(&mut self, name: &str, value: impl IntoIterator<Item = (&'a str, TokenKind)>) {
        self.0.push_after(Token::new(",", 0, TokenKind::Builtin), 0);
        self.0.add_line();
        self.0.push(Token::new(name, Self::NAMES, TokenKind::Ident));
        self.arrow(value);
    }

    /// The record before the rest of the stack.
    fn on<'a>(mut self, rest: impl IntoIterator<Item = (&'a str, TokenKind)>) -> Expr {
        self.0.push_after(Token::new("]", 0, TokenKind::Builtin), 1);
        self.0.push_after(Token::new(">>", 0, TokenKind::Builtin), 1);
        self.0.add_line();
        self.0.push(Token::new("\\o", 2, TokenKind::Builtin));
        let mut spaces = 1;
        for (text, kind) in rest {
            self.0.push_after(Token::new(text, 0, kind), spaces);
            spaces = 0;
        }
        self.0.normalize();
        self.0
    }
}
