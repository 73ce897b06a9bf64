//! Splits steps into actions, like the class `pcal.PcalTranslate` of the reference (`Explode`): `while`, jumps, calls and
//! branches with labels become tests of `pc`, assignments to `pc` and `stack`, and separate actions.

use std::collections::HashMap;

use super::diagnostic::Diagnostic;

use super::ast::{Algorithm, Assignment, Binding, Body, Branch, Kind, Statement, Step, Variable};
use super::expr::{Expr, Token, TokenKind};
use super::names::error;
use super::position::Position;

/// One action of the translation: from a label to the next.
#[derive(Debug)]
pub(super) struct Action {
    pub label: String,
    pub position: Position,
    pub conjuncts: Vec<Conjunct>,
}

/// A conjunct of an action.
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

/// The actions of an algorithm.
#[derive(Debug)]
pub(super) struct Exploded {
    /// The actions of each procedure.
    pub procedures: Vec<Vec<Action>>,
    /// The actions of each process; a single entry for a uniprocess algorithm.
    pub bodies: Vec<Vec<Action>>,
}

/// Whether `pc` can be left out, and whether a finished algorithm may stutter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ControlFlow {
    /// The translation has no variable `pc`, because every process is one `while TRUE` with a single label.
    pub omit_pc: bool,
    /// Some process never ends, so the translation has no `Terminating` and no `Termination`.
    pub endless: bool,
}

impl ControlFlow {
    pub(super) fn analyze(algorithm: &Algorithm) -> Self {
        let mut omit_pc = algorithm.procedures.is_empty() && !algorithm.keeps_pc && !algorithm.has_goto;
        let mut endless = match &algorithm.body {
            Body::Single(steps) => {
                let found = Self::analyze_steps(steps);
                omit_pc &= found.omit_pc;
                found.endless && !algorithm.is_before_1_5
            }
            Body::Processes(processes) => processes.iter().fold(false, |endless, process| {
                let found = Self::analyze_steps(&process.body);
                omit_pc &= found.omit_pc;
                endless | found.endless
            }),
        };
        // A jump to `Done` ends the process, even out of a `while TRUE`.
        if algorithm.has_goto_done {
            (omit_pc, endless) = (false, false);
        }
        Self { omit_pc, endless }
    }

    fn analyze_steps(steps: &[Step]) -> Self {
        let ends = Self { omit_pc: false, endless: false };
        let [step] = steps else {
            return if steps.is_empty() { Self { omit_pc: true, endless: true } } else { ends };
        };
        let [Statement { kind: Kind::While { test, body }, .. }] = step.statements.as_slice() else {
            return if step.statements.is_empty() { Self { omit_pc: true, endless: true } } else { ends };
        };
        // `while (TRUE)` does not count here, although `is_true` accepts it.
        if !test.is_one_token() || test.first().is_none_or(|token| token.text != "TRUE") {
            return ends;
        }
        let has_labels = |statement: &Statement| matches!(statement.kind, Kind::LabelIf { .. } | Kind::LabelEither(_));
        Self { omit_pc: body.labeled.is_empty() && !body.unlabeled.iter().any(has_labels), endless: true }
    }
}

/// Splits the bodies of the algorithm into actions. The bodies are empty afterwards.
pub(super) fn explode(algorithm: &mut Algorithm, control: ControlFlow) -> Result<Exploded, Diagnostic> {
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

/// The initial value of a variable.
pub(super) fn initial_value(variable: &Variable) -> Expr {
    variable.value.clone().unwrap_or_else(|| Expr::single("defaultInitValue", TokenKind::Builtin))
}

/// The facts about a procedure that a call or a return needs.
struct Callee {
    /// Its first label, to which a call sets `pc`.
    entry: String,
    parameters: Vec<String>,
    locals: Vec<Variable>,
}

impl Callee {
    /// The variables that a call saves on the stack, in the order of the record.
    fn saved(&self) -> impl Iterator<Item = &str> {
        self.locals.iter().map(|variable| variable.name.as_str()).chain(self.parameters.iter().map(String::as_str))
    }
}

/// The result of splitting a sequence of statements.
#[derive(Default)]
pub(super) struct ExplodedBlock {
    /// The conjuncts of the step itself.
    pub conjuncts: Vec<Conjunct>,
    /// The actions for labels inside.
    actions: Vec<Action>,
    /// Control continues after the last statement, so `pc` still has to be set.
    falls_through: bool,
}

pub(super) struct Exploder {
    callees: HashMap<String, Callee>,
    omit_pc: bool,
    /// The procedure whose body is split; `None` in the algorithm's own body or a process.
    pub current: Option<String>,
}

impl Exploder {
    pub(super) fn new(algorithm: &Algorithm, control: ControlFlow) -> Self {
        let callees = algorithm.procedures.iter().map(|procedure| {
            let callee = Callee {
                entry: procedure.body.first().map_or_else(String::new, |step| step.label.clone()),
                parameters: procedure.parameters.iter().map(|variable| variable.name.clone()).collect(),
                locals: procedure.variables.clone(),
            };
            (procedure.name.clone(), callee)
        });
        Self { callees: callees.collect(), omit_pc: control.omit_pc, current: None }
    }

    /// The actions of consecutive steps; `next` is the label after the last one.
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
                return self.while_step((label, position), test, body, statements.collect(), next, actions);
            }
            first => first,
        };
        let ExplodedBlock { conjuncts: statements, actions: inner, .. } =
            self.block_with_goto(first.into_iter().chain(statements), next)?;
        if !self.omit_pc {
            let mut conjuncts = vec![pc_equals(&label)];
            conjuncts.extend(statements);
            actions.push(Action { label, position, conjuncts });
        }
        actions.extend(inner);
        Ok(())
    }

    /// A step that begins with `while test do body`; `rest` are the statements after the loop in the same step.
    fn while_step(
        &self,
        (label, position): (String, Position),
        test: Expr,
        body: Branch,
        rest: Vec<Statement>,
        next: &str,
        actions: &mut Vec<Action>,
    ) -> Result<(), Diagnostic> {
        // Without a label inside, the body returns to the test of the loop.
        let into = body.labeled.first().map_or(&label, |step| &step.label).clone();
        let within = self.block_with_goto(body.unlabeled, &into)?;
        let after = self.block_with_goto(rest, next)?;
        let mut conjuncts = Vec::new();
        if !self.omit_pc {
            conjuncts.push(pc_equals(&label));
        }
        // The statements after `while TRUE` are never reached and have no text in the translation.
        let forever = is_true(&test);
        let mut later = within.actions;
        if forever {
            conjuncts.extend(within.conjuncts);
        } else {
            conjuncts.push(Conjunct::If { test, then: within.conjuncts, otherwise: after.conjuncts });
            later.extend(after.actions);
        }
        let inner = self.sequence(body.labeled, &label)?;
        actions.push(Action { label, position, conjuncts });
        actions.extend(inner);
        actions.extend(later);
        Ok(())
    }

    /// The statements of a step. Only the last one can jump.
    fn block(&self, statements: impl IntoIterator<Item = Statement>, next: &str) -> Result<ExplodedBlock, Diagnostic> {
        let mut broken = ExplodedBlock::default();
        let mut last = None;
        for statement in statements {
            if let Some(earlier) = last.replace(statement) {
                broken.conjuncts.push(simple_statement(earlier)?);
            }
        }
        match last {
            Some(statement) => self.last_statement(statement, next, &mut broken)?,
            None => broken.falls_through = true,
        }
        // Without `pc` there is nothing to set.
        broken.falls_through &= !self.omit_pc;
        Ok(broken)
    }

    /// The same as [`Self::block`], with an assignment to `pc` at the end if control continues.
    pub(super) fn block_with_goto(
        &self,
        statements: impl IntoIterator<Item = Statement>,
        next: &str,
    ) -> Result<ExplodedBlock, Diagnostic> {
        let mut broken = self.block(statements, next)?;
        if broken.falls_through {
            broken.conjuncts.push(goto(next));
            broken.falls_through = false;
        }
        Ok(broken)
    }

    /// Adds the last statement of a sequence to `into`.
    pub(super) fn last_statement(
        &self,
        statement: Statement,
        next: &str,
        into: &mut ExplodedBlock,
    ) -> Result<(), Diagnostic> {
        let position = statement.position;
        match statement.kind {
            Kind::LabelIf { test, then, otherwise } => {
                let (then, inner) = self.branch(then, next)?;
                let (otherwise, inner_else) = self.branch(otherwise, next)?;
                into.conjuncts.push(Conjunct::If { test, then: then.conjuncts, otherwise: otherwise.conjuncts });
                // The order of the actions is that of the reference, here and in `either`, where it is another.
                for actions in [inner, inner_else, then.actions, otherwise.actions] {
                    into.actions.extend(actions);
                }
            }
            Kind::LabelEither(clauses) => {
                let mut ors = Vec::new();
                for clause in clauses {
                    let (clause, inner) = self.branch(clause, next)?;
                    ors.push(clause.conjuncts);
                    into.actions.extend(clause.actions);
                    into.actions.extend(inner);
                }
                into.conjuncts.push(Conjunct::Either(ors));
            }
            Kind::Goto { to } => into.conjuncts.push(goto(&to)),
            Kind::Call { procedure, arguments } => {
                into.conjuncts.extend(self.call(position, &procedure, arguments, next)?);
            }
            Kind::CallGoto { procedure, arguments, to } => {
                into.conjuncts.extend(self.call(position, &procedure, arguments, &to)?);
            }
            Kind::Return { from } => into.conjuncts.extend(self.return_from(position, &from)?),
            Kind::CallReturn { from, procedure, arguments } => {
                into.conjuncts.extend(self.call_and_return(position, &from, &procedure, arguments)?);
            }
            Kind::If { test, then, otherwise } => {
                let mut then = self.block(then, next)?;
                let mut otherwise = self.block(otherwise, next)?;
                // If both branches continue, one assignment to `pc` after the `if` is enough; otherwise each branch
                // has its own.
                into.falls_through = then.falls_through && otherwise.falls_through;
                if !into.falls_through {
                    for branch in [&mut then, &mut otherwise] {
                        if branch.falls_through {
                            branch.conjuncts.push(goto(next));
                        }
                    }
                }
                into.conjuncts.push(Conjunct::If { test, then: then.conjuncts, otherwise: otherwise.conjuncts });
                into.actions.extend(then.actions);
                into.actions.extend(otherwise.actions);
            }
            Kind::Either(clauses) => {
                let mut clauses: Vec<_> =
                    clauses.into_iter().map(|clause| self.block(clause, next)).collect::<Result<_, _>>()?;
                into.falls_through = clauses.iter().all(|clause| clause.falls_through);
                for clause in &mut clauses {
                    if clause.falls_through && !into.falls_through {
                        clause.conjuncts.push(goto(next));
                    }
                    into.actions.append(&mut clause.actions);
                }
                into.conjuncts.push(Conjunct::Either(clauses.into_iter().map(|clause| clause.conjuncts).collect()));
            }
            Kind::With { variable, binding, value, body } => {
                let body = self.block(body, next)?;
                into.falls_through = body.falls_through;
                into.conjuncts.push(Conjunct::With { variable, binding, value, body: body.conjuncts });
                into.actions.extend(body.actions);
            }
            kind => {
                into.conjuncts.push(simple_statement(Statement { kind, ..statement })?);
                into.falls_through = true;
            }
        }
        Ok(())
    }

    /// A branch with labels: the statements before the first label, and the actions of the labels.
    fn branch(&self, branch: Branch, next: &str) -> Result<(ExplodedBlock, Vec<Action>), Diagnostic> {
        let into = branch.labeled.first().map_or(next, |step| &step.label).to_owned();
        let broken = self.block_with_goto(branch.unlabeled, &into)?;
        Ok((broken, self.sequence(branch.labeled, next)?))
    }

    fn callee(&self, position: Position, procedure: &str, arguments: &[Expr]) -> Result<&Callee, Diagnostic> {
        let Some(callee) = self.callees.get(procedure) else {
            return Err(error(position, format!("call of the procedure `{procedure}`, which does not exist")));
        };
        let (wanted, given) = (callee.parameters.len(), arguments.len());
        if wanted != given {
            let arguments = if wanted == 1 { "argument" } else { "arguments" };
            return Err(error(
                position,
                format!("the procedure `{procedure}` takes {wanted} {arguments}, not {given}"),
            ));
        }
        Ok(callee)
    }

    fn call(
        &self,
        position: Position,
        procedure: &str,
        arguments: Vec<Expr>,
        back_to: &str,
    ) -> Result<Vec<Conjunct>, Diagnostic> {
        let callee = self.callee(position, procedure, &arguments)?;
        let mut frame = Frame::new(procedure);
        frame.field("pc", [(back_to, TokenKind::String)]);
        for name in callee.saved() {
            frame.field(name, [(name, TokenKind::Ident)]);
        }
        let stack = frame.push_on([("stack", TokenKind::Added)]);
        let mut assignments = vec![assignment(position, "stack", stack)];
        assignments.extend(parameter_assignments(position, callee, arguments));
        let mut conjuncts = vec![Conjunct::Assign { position, macro_position: None, assignments }];
        conjuncts.extend(local_initializations(position, callee));
        Ok(conjuncts)
    }

    fn return_from(&self, position: Position, from: &str) -> Result<Vec<Conjunct>, Diagnostic> {
        let outside = || error(position, "`return` outside a procedure");
        let from = if from.is_empty() { self.current.as_deref().ok_or_else(outside)? } else { from };
        let Some(callee) = self.callees.get(from) else {
            return Err(error(position, format!("the procedure `{from}` has the same name as something else")));
        };
        let assign = |name: &str, value| Conjunct::Assign {
            position,
            macro_position: None,
            assignments: vec![assignment(position, name, value)],
        };
        let mut conjuncts = vec![assign("pc", top_of_stack("pc"))];
        conjuncts.extend(callee.saved().map(|name| assign(name, top_of_stack(name))));
        // `stack` last: after its assignment, a read of it would be primed.
        let tail = [("Tail", TokenKind::Ident), ("(", TokenKind::Builtin), ("stack", TokenKind::Added)];
        conjuncts.push(assign("stack", adjacent_tokens(tail.into_iter().chain([(")", TokenKind::Builtin)]))));
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
        let callee = self.callee(position, procedure, &arguments)?;
        let Some(returning) = self.callees.get(from) else {
            return Err(error(position, format!("the procedure `{from}` has the same name as something else")));
        };
        let mut assignments = Vec::new();
        // A recursive call in the place of a return keeps its frame: the place to return to is the same.
        if from != procedure {
            for variable in &returning.locals {
                assignments.push(assignment(position, &variable.name, top_of_stack(&variable.name)));
            }
            let mut frame = Frame::new(procedure);
            frame.field("pc", HEAD_OF_STACK.into_iter().chain([("pc", TokenKind::Ident)]));
            for name in callee.saved() {
                frame.field(name, [(name, TokenKind::Ident)]);
            }
            let tail = [("Tail", TokenKind::Ident), ("(", TokenKind::Builtin), ("stack", TokenKind::Added)];
            let stack = frame.push_on(tail.into_iter().chain([(")", TokenKind::Builtin)]));
            assignments.push(assignment(position, "stack", stack));
        }
        assignments.extend(parameter_assignments(position, callee, arguments));
        let mut conjuncts = vec![Conjunct::Assign { position, macro_position: None, assignments }];
        conjuncts.extend(local_initializations(position, callee));
        Ok(conjuncts)
    }
}

/// Assigns the arguments to the parameters.
fn parameter_assignments(
    position: Position,
    callee: &Callee,
    arguments: Vec<Expr>,
) -> impl Iterator<Item = Assignment> {
    callee.parameters.iter().zip(arguments).map(move |(name, value)| assignment(position, name, value))
}

/// Initializes the local variables of the called procedure and sets `pc` to its first label.
fn local_initializations(position: Position, callee: &Callee) -> impl Iterator<Item = Conjunct> {
    let assign = move |variable: &Variable| Conjunct::Assign {
        position,
        macro_position: None,
        assignments: vec![assignment(position, &variable.name, initial_value(variable))],
    };
    callee.locals.iter().map(assign).chain([goto(&callee.entry)])
}

/// A statement that neither jumps nor contains a label.
fn simple_statement(statement: Statement) -> Result<Conjunct, Diagnostic> {
    let Statement { position, macro_position, kind } = statement;
    let block =
        |statements: Vec<Statement>| statements.into_iter().map(simple_statement).collect::<Result<Vec<_>, _>>();
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

/// Whether the test is `TRUE` or `(TRUE)`.
pub(super) fn is_true(test: &Expr) -> bool {
    let [line] = test.lines() else { return false };
    match line.as_slice() {
        [only] => only.text == "TRUE",
        [open, only, close] => open.text == "(" && only.text == "TRUE" && close.text == ")",
        _ => false,
    }
}

fn pc_equals(label: &str) -> Conjunct {
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

/// An expression of tokens without space between them.
fn adjacent_tokens<'a>(tokens: impl IntoIterator<Item = (&'a str, TokenKind)>) -> Expr {
    let mut expr = Expr::default();
    for (text, kind) in tokens {
        expr.push_after(Token::new(text, 0, kind), 0);
    }
    expr.normalize();
    expr
}

/// `Head(stack).`
const HEAD_OF_STACK: [(&str, TokenKind); 5] = [
    ("Head", TokenKind::Ident),
    ("(", TokenKind::Builtin),
    ("stack", TokenKind::Added),
    (")", TokenKind::Builtin),
    (".", TokenKind::Builtin),
];

/// `Head(stack).name`.
fn top_of_stack(name: &str) -> Expr {
    adjacent_tokens(HEAD_OF_STACK.into_iter().chain([(name, TokenKind::Ident)]))
}

/// The record that a call pushes on the stack: one line for each field, with the arrows aligned.
struct Frame(Expr);

impl Frame {
    /// The column of the names of all fields except the first.
    const NAMES: usize = 6;
    /// The column of the arrows if the names are short.
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

    /// `<< record >> \o rest`.
    fn push_on<'a>(mut self, rest: impl IntoIterator<Item = (&'a str, TokenKind)>) -> Expr {
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
