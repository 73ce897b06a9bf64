//! Random algorithms in both syntaxes. They are well-formed most of the time: labels stand where they must, or nowhere in
//! an algorithm that gets them added, and now and then where they happen to fall. The same seed gives the same text.
#![allow(dead_code, unreachable_pub, clippy::unwrap_used, reason = "each test binary uses a part of it")]

use fastrand::Rng;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Syntax {
    P,
    C,
}

#[derive(Debug, Clone)]
pub struct Algorithm {
    pub syntax: Syntax,
    pub fair: bool,
    pub option: Option<&'static str>,
    pub variables: Vec<Variable>,
    pub define: Vec<String>,
    pub macros: Vec<Macro>,
    pub procedures: Vec<Procedure>,
    pub processes: Vec<Process>,
    /// The body of an algorithm without processes.
    pub body: Vec<Statement>,
    /// How it is laid out: a seed of its own, so that a smaller algorithm keeps its manners.
    pub layout: u64,
}

#[derive(Debug, Clone)]
pub struct Variable {
    pub name: &'static str,
    /// `= e`, `\in e` or nothing.
    pub value: Option<(&'static str, String)>,
}

#[derive(Debug, Clone)]
pub struct Macro {
    pub name: &'static str,
    pub parameters: Vec<&'static str>,
    pub body: Vec<Statement>,
}

#[derive(Debug, Clone)]
pub struct Procedure {
    pub name: &'static str,
    pub parameters: Vec<Variable>,
    pub variables: Vec<Variable>,
    pub body: Vec<Statement>,
}

#[derive(Debug, Clone)]
pub struct Process {
    pub name: &'static str,
    pub fairness: &'static str,
    pub id: String,
    pub variables: Vec<Variable>,
    pub body: Vec<Statement>,
}

#[derive(Debug, Clone)]
pub struct Statement {
    /// With its `:`, `:+` or `:-`.
    pub label: Option<String>,
    pub kind: Kind,
}

#[derive(Debug, Clone)]
pub enum Kind {
    Skip,
    Assign(Vec<(String, String)>),
    If(Vec<(String, Vec<Statement>)>, Option<Vec<Statement>>),
    Either(Vec<Vec<Statement>>),
    While(String, Vec<Statement>),
    With(Vec<(&'static str, &'static str, String)>, Vec<Statement>),
    /// `await e`, `when e`, `assert e`, `print e`.
    Says(&'static str, String),
    Call(String, Vec<String>),
    Macro(&'static str, Vec<String>),
    Return,
    Goto(String),
}

/// How labels are put.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Labels {
    /// Where they must be, and elsewhere now and then.
    Needed,
    /// Nowhere.
    None,
    /// Anywhere.
    Careless,
}

const GLOBALS: [&str; 9] = ["x", "y", "flag", "queue", "table", "rec", "aRatherLongVariableName", "n1", "set_of"];
const LOCALS: [&str; 7] = ["t", "mine", "i", "temp", "local_with_long_name", "u2", "x_"];
const PARAMETERS: [&str; 5] = ["p", "arg", "t", "v", "key"];
const BOUND: [&str; 5] = ["e", "k", "z", "m", "w"];
const DEFINED: [&str; 3] = ["Sum", "Ready", "Max2"];
const MACROS: [&str; 3] = ["Take", "Give", "Set"];
const PROCEDURES: [&str; 3] = ["Work", "Log", "Recur"];
const PROCESSES: [&str; 4] = ["Worker", "Clock", "Env", "Main"];

/// What may be named where a statement or an expression stands.
#[derive(Clone, Default)]
pub struct Scope {
    pub assignable: Vec<&'static str>,
    pub readable: Vec<String>,
    /// What a `with` binds.
    pub bound: Vec<&'static str>,
    pub process: bool,
    pub procedure: bool,
    pub depth: usize,
    pub in_with: bool,
    pub in_macro: bool,
}

/// What a step has done since its label.
#[derive(Clone, Default)]
struct Step {
    assigned: Vec<String>,
    /// Nothing may follow without a label.
    over: bool,
}

impl Step {
    fn join(&mut self, other: &Step) {
        self.assigned.extend(other.assigned.iter().cloned());
        self.over |= other.over;
    }
}

pub struct Maker {
    pub rng: Rng,
    pub labels: Labels,
    /// Labels of the body that is being made.
    pub placed: Vec<String>,
    /// The beginning of each label of this body.
    pub prefix: &'static str,
    pub signs: bool,
    pub macros: Vec<Macro>,
    pub procedures: Vec<(&'static str, usize, Vec<String>)>,
    pub define: Vec<&'static str>,
    /// Statements that may still be made.
    pub budget: usize,
}

/// The algorithm of a seed.
pub fn algorithm(seed: u64) -> Algorithm {
    let mut rng = Rng::with_seed(seed);
    let labels = match rng.u32(0..20) {
        0..3 => Labels::None,
        3..5 => Labels::Careless,
        _ => Labels::Needed,
    };
    let budget = pick(&mut rng, &[4, 8, 14, 24, 40]);
    let mut maker = Maker {
        rng,
        labels,
        placed: Vec::new(),
        prefix: "L",
        signs: false,
        macros: Vec::new(),
        procedures: Vec::new(),
        define: Vec::new(),
        budget,
    };
    maker.algorithm()
}

/// One of them.
pub fn pick<T: Clone>(rng: &mut Rng, items: &[T]) -> T {
    items[rng.usize(0..items.len())].clone()
}

impl Maker {
    pub fn chance(&mut self, percent: u32) -> bool {
        self.rng.u32(0..100) < percent
    }

    fn some(&mut self, from: &[&'static str], most: usize) -> Vec<&'static str> {
        let mut names = from.to_vec();
        self.rng.shuffle(&mut names);
        names.truncate(self.rng.usize(0..=most));
        names
    }

    fn algorithm(&mut self) -> Algorithm {
        let syntax = if self.rng.bool() { Syntax::P } else { Syntax::C };
        let uniprocess = self.chance(35);
        let mut scope = Scope { process: !uniprocess, ..Scope::default() };
        let mut globals = self.some(&GLOBALS, 6);
        if globals.is_empty() && self.chance(90) {
            globals.push("x");
        }
        let mut variables = Vec::new();
        for name in globals {
            variables.push(self.variable(name, &Scope::default(), true));
            scope.assignable.push(name);
            scope.readable.push(name.to_owned());
        }
        let define = if self.chance(30) { self.define(&scope) } else { Vec::new() };
        let macros = if self.chance(45) { self.rng.usize(1..=3) } else { 0 };
        for name in MACROS.iter().take(macros) {
            let made = self.a_macro(name, &scope);
            self.macros.push(made);
        }
        let count = if self.chance(40) { self.rng.usize(1..=3) } else { 0 };
        let procedures = self.procedures(count, &scope);
        let fair = self.chance(20);
        let mut body = Vec::new();
        let mut processes = Vec::new();
        if uniprocess {
            self.signs = self.chance(15);
            body = self.body("L", &scope);
        } else {
            for at in 0..self.rng.usize(1..=3) {
                processes.push(self.process(at, &scope));
            }
        }
        let needs_labels = self.labels == Labels::None && (!uniprocess || !procedures.is_empty());
        let option = if needs_labels && self.chance(80) {
            Some(pick(&mut self.rng, &["-label", "-label -labelRoot Auto"]))
        } else if self.chance(20) {
            let all = ["-wf", "-sf", "-wfNext", "-nof", "-termination", "-noDoneDisjunct", "-lineWidth 60", "-label"];
            Some(pick(&mut self.rng, &all))
        } else {
            None
        };
        let macros = std::mem::take(&mut self.macros);
        let layout = self.rng.u64(..);
        Algorithm { syntax, fair, option, variables, define, macros, procedures, processes, body, layout }
    }

    fn variable(&mut self, name: &'static str, scope: &Scope, set: bool) -> Variable {
        let value = match self.rng.u32(0..10) {
            0 => None,
            1..4 if set => Some(("\\in", self.set(scope))),
            _ => Some(("=", self.expression(scope, 2))),
        };
        Variable { name, value }
    }

    fn define(&mut self, scope: &Scope) -> Vec<String> {
        let mut made = Vec::new();
        for name in DEFINED.iter().take(self.rng.usize(0..=3)) {
            let mut inside = scope.clone();
            inside.readable.extend(["a", "b"].map(str::to_owned));
            made.push(format!("{name}(a, b) == {}", self.expression(&inside, 3)));
            self.define.push(name);
        }
        made
    }

    fn a_macro(&mut self, name: &'static str, scope: &Scope) -> Macro {
        let parameters = self.some(&PARAMETERS, 2);
        let mut inside = scope.clone();
        inside.in_macro = true;
        inside.depth = 1;
        inside.assignable.extend(&parameters);
        inside.readable.extend(parameters.iter().map(|&p| p.to_owned()));
        let labels = std::mem::replace(&mut self.labels, Labels::None);
        let (mut body, length) = (Vec::new(), self.rng.usize(1..=3));
        let mut step = Step::default();
        for _ in 0..length {
            let (statement, done) = self.statement(&inside, &step);
            if done.over || done.assigned.iter().any(|name| step.assigned.contains(name)) {
                continue;
            }
            step.join(&done);
            body.push(statement);
        }
        self.labels = labels;
        if body.is_empty() {
            body.push(Statement { label: None, kind: Kind::Skip });
        }
        Macro { name, parameters, body }
    }

    fn procedures(&mut self, count: usize, scope: &Scope) -> Vec<Procedure> {
        let mut made = Vec::new();
        for name in PROCEDURES.iter().take(count) {
            let parameters: Vec<_> = self.some(&PARAMETERS, 3);
            let mut locals = self.some(&LOCALS, 2);
            if self.chance(95) {
                locals.retain(|l| !parameters.contains(l));
            }
            let names = parameters.iter().chain(&locals).map(|&n| n.to_owned()).collect();
            self.procedures.push((name, parameters.len(), names));
            let parameters = parameters.into_iter().map(|p| self.variable(p, scope, false)).collect::<Vec<_>>();
            let locals = locals.into_iter().map(|l| self.variable(l, scope, false)).collect::<Vec<_>>();
            made.push(Procedure { name, parameters, variables: locals, body: Vec::new() });
        }
        for (at, procedure) in made.iter_mut().enumerate() {
            let mut inside = scope.clone();
            inside.procedure = true;
            for variable in procedure.parameters.iter().chain(&procedure.variables) {
                inside.assignable.push(variable.name);
                inside.readable.push(variable.name.to_owned());
            }
            let prefix = if self.chance(70) { ["R", "S", "T"][at] } else { "L" };
            procedure.body = self.body(prefix, &inside);
            if self.chance(95) {
                let label = (self.labels != Labels::None).then(|| format!("{prefix}_end:"));
                procedure.body.push(Statement { label, kind: Kind::Return });
            }
        }
        made
    }

    fn process(&mut self, at: usize, scope: &Scope) -> Process {
        let locals = self.some(&LOCALS, 3);
        let set = self.rng.bool();
        let id = if set {
            format!("\\in {}", ["1..3", "{\"a\", \"b\"}", "{10 + 1, 20}"][at])
        } else {
            format!("= {}", ["0", "\"main\"", "<<1, 2>>"][at])
        };
        let mut inside = scope.clone();
        inside.readable.push("self".to_owned());
        let mut variables = Vec::new();
        for name in locals {
            variables.push(self.variable(name, &inside, true));
            inside.assignable.push(name);
            inside.readable.push(name.to_owned());
        }
        self.signs = self.chance(25);
        let prefix = if self.chance(70) { ["A", "B", "C"][at] } else { "L" };
        let body = self.body(prefix, &inside);
        let fairness = pick(&mut self.rng, &["", "", "fair ", "fair+ "]);
        Process { name: PROCESSES[at], fairness, id, variables, body }
    }

    fn body(&mut self, prefix: &'static str, scope: &Scope) -> Vec<Statement> {
        self.placed = Vec::new();
        self.prefix = prefix;
        let length = self.rng.usize(1..=6);
        let (mut statements, _) = self.statements(scope, length, &Step { over: true, ..Step::default() });
        let mut targets: Vec<String> = self.placed.clone();
        targets.push("Done".to_owned());
        let rng = &mut self.rng;
        aim(&mut statements, &mut |to: &mut String| *to = pick(rng, &targets));
        statements
    }

    fn label(&mut self) -> String {
        let name = if self.chance(10) {
            format!("{}AQuiteLongLabel{}", self.prefix, self.placed.len())
        } else {
            format!("{}{}", self.prefix, self.placed.len())
        };
        self.placed.push(name.clone());
        let sign = if self.signs && self.chance(40) { pick(&mut self.rng, &["+", "-"]) } else { "" };
        format!("{name}:{sign}")
    }

    fn statements(&mut self, scope: &Scope, length: usize, before: &Step) -> (Vec<Statement>, Step) {
        let mut made = Vec::new();
        let (mut step, mut inner) = (before.clone(), Step::default());
        for _ in 0..length {
            // Where a label may not be, a statement that needs one is left out.
            let may = !scope.in_with && !scope.in_macro && self.labels != Labels::None;
            let wants = may && (self.chance(15) || self.labels == Labels::Careless && self.chance(40));
            let begins = if wants { Step::default() } else { step.clone() };
            let (mut statement, done) = self.statement(scope, &begins);
            let is_while = matches!(statement.kind, Kind::While(..));
            let clash = is_while || step.over || done.assigned.iter().any(|name| step.assigned.contains(name));
            if scope.in_with && clash {
                continue;
            }
            if wants || may && self.labels == Labels::Needed && clash {
                statement.label = Some(self.label());
                step = Step::default();
                inner.over = true;
            }
            step.join(&done);
            inner.join(&done);
            made.push(statement);
        }
        if made.is_empty() {
            made.push(Statement { label: None, kind: Kind::Skip });
        }
        (made, inner)
    }

    /// A statement, and what it adds to its step.
    fn statement(&mut self, scope: &Scope, before: &Step) -> (Statement, Step) {
        let mut done = Step::default();
        let simple = self.budget == 0 || scope.depth >= 4;
        self.budget = self.budget.saturating_sub(1);
        let deeper = Scope { depth: scope.depth + 1, ..scope.clone() };
        let kind = match self.rng.u32(0..if simple { 55 } else { 100 }) {
            0..30 => self.assignment(scope, before, &mut done),
            30..34 => Kind::Skip,
            34..40 => Kind::Says(pick(&mut self.rng, &["await", "when"]), self.expression(scope, 3)),
            40..43 => Kind::Says("assert", self.expression(scope, 2)),
            43..45 => Kind::Says("print", self.expression(scope, 2)),
            45..49 => self.macro_call(scope, &mut done),
            49..55 => self.jump(scope, &mut done),
            55..70 => {
                let arms = self.rng.usize(1..=3);
                let mut branches = Vec::new();
                for _ in 0..arms {
                    let test = self.expression(scope, 2);
                    branches.push((test, self.branch(&deeper, before, &mut done)));
                }
                let otherwise = self.chance(55).then(|| self.branch(&deeper, before, &mut done));
                Kind::If(branches, otherwise)
            }
            70..80 => {
                let arms = self.rng.usize(2..=3);
                Kind::Either((0..arms).map(|_| self.branch(&deeper, before, &mut done)).collect())
            }
            80..89 if !scope.in_with && !scope.in_macro => {
                let test = if self.chance(20) { "TRUE".to_owned() } else { self.expression(scope, 2) };
                let length = self.rng.usize(1..=3);
                let (body, inside) = self.statements(&deeper, length, &Step::default());
                done.join(&Step { over: false, ..inside });
                Kind::While(test, body)
            }
            _ => {
                let mut inside = Scope { in_with: true, ..deeper };
                let mut bindings = Vec::new();
                for _ in 0..pick(&mut self.rng, &[1, 1, 1, 2, 3]) {
                    let Some(name) = BOUND.iter().find(|b| !inside.bound.contains(b)) else { break };
                    let binding = pick(&mut self.rng, &["\\in", "="]);
                    let value = if binding == "=" { self.expression(&inside, 2) } else { self.set(&inside) };
                    bindings.push((*name, binding, value));
                    inside.bound.push(name);
                    inside.readable.push((*name).to_owned());
                }
                if bindings.is_empty() {
                    Kind::Skip
                } else {
                    let length = self.rng.usize(1..=3);
                    let (body, inner) = self.statements(&inside, length, before);
                    done.join(&inner);
                    Kind::With(bindings, body)
                }
            }
        };
        (Statement { label: None, kind }, done)
    }

    fn branch(&mut self, scope: &Scope, before: &Step, done: &mut Step) -> Vec<Statement> {
        let length = pick(&mut self.rng, &[1, 1, 1, 2, 3]);
        let (statements, inner) = self.statements(scope, length, before);
        done.join(&inner);
        statements
    }

    fn assignment(&mut self, scope: &Scope, before: &Step, done: &mut Step) -> Kind {
        let count = pick(&mut self.rng, &[1, 1, 1, 1, 2, 3]);
        let mut made: Vec<(String, String)> = Vec::new();
        let mut parts: Vec<&'static str> = Vec::new();
        for _ in 0..count {
            let mut free = scope.assignable.clone();
            if self.chance(90) {
                free.retain(|name| !before.assigned.iter().any(|a| a == name) || self.labels == Labels::Needed);
            }
            if free.is_empty() {
                break;
            }
            let name = pick(&mut self.rng, &free);
            let part = self.chance(35);
            let again = done.assigned.iter().any(|a| a == name);
            if again && !(part && parts.contains(&name)) && self.chance(99) {
                continue;
            }
            let left = if part {
                parts.push(name);
                let subscript = match self.rng.u32(0..6) {
                    0 => ".field".to_owned(),
                    1 => format!("[{}].a.b", self.expression(scope, 1)),
                    2 => format!("[{}, {}]", self.expression(scope, 1), self.expression(scope, 1)),
                    3 => format!("[{}][{}]", self.expression(scope, 1), self.expression(scope, 2)),
                    _ => format!("[{}]", self.expression(scope, 2)),
                };
                format!("{name}{subscript}")
            } else {
                name.to_owned()
            };
            done.assigned.push(name.to_owned());
            made.push((left, self.expression(scope, 3)));
        }
        if made.is_empty() { Kind::Skip } else { Kind::Assign(made) }
    }

    fn macro_call(&mut self, scope: &Scope, done: &mut Step) -> Kind {
        if self.macros.is_empty() {
            return Kind::Skip;
        }
        let called = pick(&mut self.rng, &self.macros);
        let mut assigned = Vec::new();
        assigned_in(&called.body, &mut assigned);
        let mut arguments = Vec::new();
        for parameter in &called.parameters {
            // What the macro assigns to must be a variable.
            let argument = if assigned.iter().any(|a| a == parameter) {
                if scope.assignable.is_empty() {
                    return Kind::Skip;
                }
                pick(&mut self.rng, &scope.assignable).to_owned()
            } else {
                self.expression(scope, 2)
            };
            if let Some(at) = assigned.iter().position(|a| a == parameter) {
                assigned[at].clone_from(&argument);
            }
            arguments.push(argument);
        }
        done.assigned.extend(assigned);
        Kind::Macro(called.name, arguments)
    }

    fn jump(&mut self, scope: &Scope, done: &mut Step) -> Kind {
        if scope.in_macro || scope.in_with && self.chance(90) {
            return Kind::Skip;
        }
        match self.rng.u32(0..3) {
            0 if !self.procedures.is_empty() => {
                let (name, count, names) = pick(&mut self.rng, &self.procedures);
                let count = if self.chance(98) { count } else { count + 1 };
                let arguments = (0..count).map(|_| self.expression(scope, 2)).collect();
                done.over = true;
                done.assigned.extend(names);
                done.assigned.push("stack".to_owned());
                Kind::Call(name.to_owned(), arguments)
            }
            1 if scope.procedure => {
                done.over = true;
                done.assigned.extend(self.procedures.iter().flat_map(|(_, _, names)| names.clone()));
                Kind::Return
            }
            2 if !self.placed.is_empty() || self.labels == Labels::None => {
                done.over = true;
                Kind::Goto(String::new())
            }
            _ => Kind::Skip,
        }
    }
}

/// Gives each `goto` its target.
fn aim(statements: &mut [Statement], give: &mut dyn FnMut(&mut String)) {
    for statement in statements {
        if let Kind::Goto(to) = &mut statement.kind {
            give(to);
        }
        for inner in inner_mut(&mut statement.kind) {
            aim(inner, give);
        }
    }
}

/// The lists of statements inside.
pub fn inner_mut(kind: &mut Kind) -> Vec<&mut Vec<Statement>> {
    match kind {
        Kind::If(branches, otherwise) => {
            branches.iter_mut().map(|(_, body)| body).chain(otherwise.iter_mut()).collect()
        }
        Kind::Either(branches) => branches.iter_mut().collect(),
        Kind::While(_, body) | Kind::With(_, body) => vec![body],
        _ => Vec::new(),
    }
}

fn assigned_in(statements: &[Statement], names: &mut Vec<String>) {
    for statement in statements {
        if let Kind::Assign(parts) = &statement.kind {
            let root = |left: &str| left.split(['[', '.']).next().unwrap_or("").to_owned();
            names.extend(parts.iter().map(|(left, _)| root(left)));
        }
        for inner in inner_mut(&mut statement.kind.clone()) {
            assigned_in(inner, names);
        }
    }
}
