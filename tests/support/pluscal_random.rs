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
enum Labels {
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
struct Scope {
    assignable: Vec<&'static str>,
    readable: Vec<String>,
    /// What a `with` binds.
    bound: Vec<&'static str>,
    process: bool,
    procedure: bool,
    depth: usize,
    in_with: bool,
    in_macro: bool,
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

struct Maker {
    rng: Rng,
    labels: Labels,
    /// Labels of the body that is being made.
    placed: Vec<String>,
    /// The beginning of each label of this body.
    prefix: &'static str,
    signs: bool,
    macros: Vec<Macro>,
    procedures: Vec<(&'static str, usize, Vec<String>)>,
    define: Vec<&'static str>,
    /// Statements that may still be made.
    budget: usize,
}

/// The algorithm of a seed.
pub fn algorithm(seed: u64) -> Algorithm {
    let mut rng = Rng::with_seed(seed);
    let labels = match rng.u32(0..20) {
        0..3 => Labels::None,
        3..5 => Labels::Careless,
        _ => Labels::Needed,
    };
    let budget = *pick(&mut rng, &[4, 8, 14, 24, 40]);
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

fn pick<'a, T>(rng: &mut Rng, items: &'a [T]) -> &'a T {
    &items[rng.usize(0..items.len())]
}

impl Maker {
    fn chance(&mut self, percent: u32) -> bool {
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
            Some(*pick(&mut self.rng, &["-label", "-label -labelRoot Auto"]))
        } else if self.chance(20) {
            let all = ["-wf", "-sf", "-wfNext", "-nof", "-termination", "-noDoneDisjunct", "-lineWidth 60", "-label"];
            Some(*pick(&mut self.rng, &all))
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
        let fairness = *pick(&mut self.rng, &["", "", "fair ", "fair+ "]);
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
        aim(&mut statements, &mut |to: &mut String| to.clone_from(pick(rng, &targets)));
        statements
    }

    fn label(&mut self) -> String {
        let name = if self.chance(10) {
            format!("{}AQuiteLongLabel{}", self.prefix, self.placed.len())
        } else {
            format!("{}{}", self.prefix, self.placed.len())
        };
        self.placed.push(name.clone());
        let sign = if self.signs && self.chance(40) { *pick(&mut self.rng, &["+", "-"]) } else { "" };
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
            34..40 => Kind::Says(*pick(&mut self.rng, &["await", "when"]), self.expression(scope, 3)),
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
                for _ in 0..*pick(&mut self.rng, &[1, 1, 1, 2, 3]) {
                    let Some(name) = BOUND.iter().find(|b| !inside.bound.contains(b)) else { break };
                    let binding = *pick(&mut self.rng, &["\\in", "="]);
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
        let length = *pick(&mut self.rng, &[1, 1, 1, 2, 3]);
        let (statements, inner) = self.statements(scope, length, before);
        done.join(&inner);
        statements
    }

    fn assignment(&mut self, scope: &Scope, before: &Step, done: &mut Step) -> Kind {
        let count = *pick(&mut self.rng, &[1, 1, 1, 1, 2, 3]);
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
            let name = *pick(&mut self.rng, &free);
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
        let called = pick(&mut self.rng, &self.macros).clone();
        let mut assigned = Vec::new();
        assigned_in(&called.body, &mut assigned);
        let mut arguments = Vec::new();
        for parameter in &called.parameters {
            // What the macro assigns to must be a variable.
            let argument = if assigned.iter().any(|a| a == parameter) {
                if scope.assignable.is_empty() {
                    return Kind::Skip;
                }
                (*pick(&mut self.rng, &scope.assignable)).to_owned()
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
                let (name, count, names) = pick(&mut self.rng, &self.procedures).clone();
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

    fn set(&mut self, scope: &Scope) -> String {
        match self.rng.u32(0..6) {
            0 => format!("1..{}", self.rng.u32(2..5)),
            1 => format!("{{{}, {}}}", self.expression(scope, 1), self.expression(scope, 1)),
            2 => "BOOLEAN".to_owned(),
            3 => {
                let name = self.fresh(scope);
                format!("{{{name} \\in {} : {}}}", self.name(scope), self.expression(&with(scope, name), 1))
            }
            4 => format!("SUBSET {}", self.name(scope)),
            _ => self.name(scope),
        }
    }

    fn name(&mut self, scope: &Scope) -> String {
        if scope.readable.is_empty() { "1".to_owned() } else { pick(&mut self.rng, &scope.readable).clone() }
    }

    /// A name to bind; rarely that of a variable.
    fn fresh(&mut self, scope: &Scope) -> &'static str {
        if self.chance(5) && !scope.assignable.is_empty() {
            *pick(&mut self.rng, &scope.assignable)
        } else {
            *pick(&mut self.rng, &["q", "r", "s"])
        }
    }

    fn expression(&mut self, scope: &Scope, depth: usize) -> String {
        if depth == 0 || self.chance(25) {
            return self.atom(scope);
        }
        let inner = depth - 1;
        match self.rng.u32(0..26) {
            0..7 => {
                let all = [
                    "+", "-", "*", "=", "#", "<", ">=", "\\in", "\\cup", "\\o", "..", "/\\", "\\/", "=>", "%", "\\div",
                ];
                let operator = *pick(&mut self.rng, &all);
                let space = if self.chance(85) { " " } else { "" };
                let space = if operator.starts_with('\\') { " " } else { space };
                let (left, right) = (self.operand(scope, inner), self.operand(scope, inner));
                lay(&[&left, space, operator, space, &right])
            }
            7 => lay(&["~", &self.operand(scope, inner)]),
            8 => lay(&["(", &self.expression(scope, inner), ")"]),
            9 => lay(&[&self.name(scope), "[", &self.expression(scope, inner), "]"]),
            10 => lay(&[&self.name(scope), ".", *pick(&mut self.rng, &["field", "x", "t", "a.b"])]),
            11 => lay(&["<<", &self.expression(scope, inner), ", ", &self.expression(scope, inner), ">>"]),
            12 => lay(&["{", &self.expression(scope, inner), "}"]),
            13 => {
                let field = *pick(&mut self.rng, &["field", "x", "t"]);
                lay(&[
                    "[",
                    field,
                    " |-> ",
                    &self.expression(scope, inner),
                    ", other |-> ",
                    &self.expression(scope, inner),
                    "]",
                ])
            }
            14 => {
                let name = self.fresh(scope);
                lay(&["[", name, " \\in ", &self.set(scope), " |-> ", &self.expression(&with(scope, name), inner), "]"])
            }
            15 => {
                let (f, at, value) = (self.name(scope), self.expression(scope, inner), self.expression(scope, inner));
                lay(&["[", &f, " EXCEPT ![", &at, "] = ", &value, ", !.field = @]"])
            }
            16 => {
                let test = self.expression(scope, inner);
                let (then, otherwise) = (self.expression(scope, inner), self.expression(scope, inner));
                if self.chance(40) {
                    let lines = [lay(&["IF ", &test]), lay(&["   THEN ", &then]), lay(&["   ELSE ", &otherwise])];
                    lines.join("\n")
                } else {
                    lay(&["IF ", &test, " THEN ", &then, " ELSE ", &otherwise])
                }
            }
            17 => lay(&["LET v1 == ", &self.expression(scope, inner), " IN v1 = ", &self.operand(scope, inner)]),
            18 | 19 => {
                let (name, quantifier) = (self.fresh(scope), *pick(&mut self.rng, &["\\A", "\\E", "CHOOSE"]));
                let set = self.set(scope);
                lay(&[
                    "(",
                    quantifier,
                    " ",
                    name,
                    " \\in ",
                    &set,
                    " : ",
                    &self.expression(&with(scope, name), inner),
                    ")",
                ])
            }
            20 | 21 => self.list(scope, inner),
            22 if !self.define.is_empty() => {
                let name = *pick(&mut self.rng, &self.define);
                lay(&[name, "(", &self.expression(scope, inner), ", ", &self.expression(scope, inner), ")"])
            }
            23 => {
                lay(&[*pick(&mut self.rng, &["Len", "Head", "Cardinality"]), "(", &self.expression(scope, inner), ")"])
            }
            24 if scope.process => lay(&["pc[", &self.expression(scope, inner), "]"]),
            _ => lay(&[
                "CASE ",
                &self.operand(scope, inner),
                " -> ",
                &self.operand(scope, inner),
                " [] OTHER -> ",
                &self.atom(scope),
            ]),
        }
    }

    /// A bulleted list, one item a line.
    fn list(&mut self, scope: &Scope, depth: usize) -> String {
        let bullet = *pick(&mut self.rng, &["/\\", "\\/"]);
        let items: Vec<String> = (0..self.rng.usize(2..=3))
            .map(|_| {
                let item = self.expression(scope, depth);
                lay(&[bullet, " ", &item])
            })
            .collect();
        items.join("\n")
    }

    /// A multi-line expression would lose its columns inside another one.
    fn operand(&mut self, scope: &Scope, depth: usize) -> String {
        let made = self.expression(scope, depth);
        let simple = made.chars().all(|c| c.is_alphanumeric() || "_.[]\"".contains(c));
        if simple {
            made
        } else if made.contains('\n') {
            self.atom(scope)
        } else {
            lay(&["(", &made, ")"])
        }
    }

    fn atom(&mut self, scope: &Scope) -> String {
        match self.rng.u32(0..10) {
            0..6 => self.name(scope),
            6 | 7 => self.rng.u32(0..20).to_string(),
            8 => (*pick(&mut self.rng, &["TRUE", "FALSE", "{}", "<<>>"])).to_owned(),
            _ => (*pick(&mut self.rng, &["\"idle\"", "\"a := b; (x)\"", "\"\"", "\"L1\""])).to_owned(),
        }
    }
}

/// Parts one after the other; lines of a part stay below its first.
fn lay(parts: &[&str]) -> String {
    let mut out = String::new();
    for part in parts {
        let column = out.chars().rev().take_while(|c| *c != '\n').count();
        out.push_str(&part.replace('\n', &format!("\n{}", " ".repeat(column))));
    }
    out
}

fn with(scope: &Scope, name: &str) -> Scope {
    let mut scope = scope.clone();
    scope.readable.extend([name.to_owned(), name.to_owned()]);
    scope
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

fn inner_mut(kind: &mut Kind) -> Vec<&mut Vec<Statement>> {
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

impl Algorithm {
    /// Algorithms with one thing less, the larger cuts first.
    pub fn smaller(&self) -> Vec<Algorithm> {
        let mut found = Vec::new();
        let mut cut = |change: &dyn Fn(&mut Algorithm)| {
            let mut copy = self.clone();
            change(&mut copy);
            found.push(copy);
        };
        for at in 0..self.processes.len() {
            if self.processes.len() > 1 {
                cut(&|a| drop(a.processes.remove(at)));
            }
            if !self.processes[at].fairness.is_empty() {
                cut(&|a| a.processes[at].fairness = "");
            }
        }
        for at in 0..self.procedures.len() {
            cut(&|a| drop(a.procedures.remove(at)));
        }
        for at in 0..self.macros.len() {
            cut(&|a| drop(a.macros.remove(at)));
        }
        let skip = || vec![Statement { label: None, kind: Kind::Skip }];
        let empty = |body: &[Statement]| matches!(body, [Statement { label: None, kind: Kind::Skip }]);
        for at in 0..self.clone().bodies_mut().len() {
            if !empty(self.clone().bodies_mut()[at]) {
                cut(&|a| *a.bodies_mut()[at] = skip());
            }
        }
        for list in 0..self.clone().variables_mut().len() {
            if !self.clone().variables_mut()[list].is_empty() {
                cut(&|a| a.variables_mut()[list].clear());
            }
        }
        if !self.define.is_empty() {
            cut(&|a| a.define.clear());
        }
        if self.option.is_some() {
            cut(&|a| a.option = None);
        }
        if self.fair {
            cut(&|a| a.fair = false);
        }
        if self.layout != 0 {
            cut(&|a| a.layout = 0);
        }
        for list in 0..self.clone().variables_mut().len() {
            for at in 0..self.clone().variables_mut()[list].len() {
                cut(&|a| drop(a.variables_mut()[list].remove(at)));
                let plain = Some(("=", "0".to_owned()));
                if self.clone().variables_mut()[list][at].value != plain {
                    cut(&|a| a.variables_mut()[list][at].value.clone_from(&plain));
                }
            }
        }
        for body in 0..self.clone().bodies_mut().len() {
            for (at, _) in places(self.clone().bodies_mut()[body]).iter().enumerate() {
                for way in 0..5 {
                    let mut copy = self.clone();
                    let list = places(copy.bodies_mut()[body])[at].clone();
                    if shrink_at(copy.bodies_mut()[body], &list, way) {
                        found.push(copy);
                    }
                }
            }
            let texts = texts_mut(self.clone().bodies_mut()[body]).len();
            for at in 0..texts {
                let mut copy = self.clone();
                let mut bodies = copy.bodies_mut();
                let mut all = texts_mut(bodies[body]);
                if all[at].len() > 1 {
                    *all[at] = "1".to_owned();
                    drop(all);
                    found.push(copy);
                }
            }
        }
        found
    }

    fn variables_mut(&mut self) -> Vec<&mut Vec<Variable>> {
        let mut all = vec![&mut self.variables];
        for procedure in &mut self.procedures {
            all.push(&mut procedure.parameters);
            all.push(&mut procedure.variables);
        }
        all.extend(self.processes.iter_mut().map(|p| &mut p.variables));
        all
    }

    fn bodies_mut(&mut self) -> Vec<&mut Vec<Statement>> {
        let mut all: Vec<_> = self.macros.iter_mut().map(|m| &mut m.body).collect();
        all.extend(self.procedures.iter_mut().map(|p| &mut p.body));
        all.extend(self.processes.iter_mut().map(|p| &mut p.body));
        all.push(&mut self.body);
        all
    }
}

/// The way to each statement: its place in its list, the number of the list inside, and so on.
fn places(body: &mut Vec<Statement>) -> Vec<Vec<usize>> {
    let mut found = Vec::new();
    for at in 0..body.len() {
        found.push(vec![at]);
        for (list, inner) in inner_mut(&mut body[at].kind).into_iter().enumerate() {
            found.extend(places(inner).into_iter().map(|rest| [vec![at, list], rest].concat()));
        }
    }
    found
}

fn shrink_at(body: &mut Vec<Statement>, way: &[usize], how: usize) -> bool {
    if let [at, list, rest @ ..] = way {
        return shrink_at(inner_mut(&mut body[*at].kind)[*list], rest, how);
    }
    let at = way[0];
    let label = body[at].label.clone();
    match how {
        0 if body.len() > 1 => drop(body.remove(at)),
        1 if inner_mut(&mut body[at].kind).len() > 1 || !inner_mut(&mut body[at].kind).is_empty() => {
            let mut inside = std::mem::take(inner_mut(&mut body[at].kind)[0]);
            if let (Some(first), Some(label)) = (inside.first_mut(), label) {
                first.label.get_or_insert(label);
            }
            body.splice(at..=at, inside);
        }
        2 => match &mut body[at].kind {
            Kind::If(branches, otherwise) => {
                if otherwise.take().is_none() && branches.len() > 1 {
                    branches.pop();
                } else {
                    return false;
                }
            }
            Kind::Either(branches) if branches.len() > 2 => drop(branches.pop()),
            Kind::Assign(parts) if parts.len() > 1 => drop(parts.pop()),
            Kind::With(bindings, _) if bindings.len() > 1 => drop(bindings.pop()),
            _ => return false,
        },
        3 if !matches!(body[at].kind, Kind::Skip) => body[at].kind = Kind::Skip,
        4 if label.is_some() => body[at].label = None,
        _ => return false,
    }
    true
}

/// Every expression.
fn texts_mut(body: &mut [Statement]) -> Vec<&mut String> {
    let mut all = Vec::new();
    for statement in body {
        match &mut statement.kind {
            Kind::Assign(parts) => all.extend(parts.iter_mut().map(|(_, right)| right)),
            Kind::Says(_, text) => all.push(text),
            Kind::Call(_, arguments) | Kind::Macro(_, arguments) => all.extend(arguments),
            Kind::If(branches, otherwise) => {
                for (test, body) in branches {
                    all.push(test);
                    all.extend(texts_mut(body));
                }
                all.extend(otherwise.iter_mut().flat_map(|body| texts_mut(body)));
            }
            Kind::Either(branches) => all.extend(branches.iter_mut().flat_map(|body| texts_mut(body))),
            Kind::While(text, body) => {
                all.push(text);
                all.extend(texts_mut(body));
            }
            Kind::With(bindings, body) => {
                all.extend(bindings.iter_mut().map(|(_, _, value)| value));
                all.extend(texts_mut(body));
            }
            Kind::Skip | Kind::Return | Kind::Goto(_) => {}
        }
    }
    all
}
