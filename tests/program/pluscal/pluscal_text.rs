//! The text of a random algorithm: its lines, blanks, remarks and semicolons are random too.
#![allow(dead_code, unreachable_pub, reason = "each test binary uses a part of it")]

use fastrand::Rng;

use super::pluscal_random::{Algorithm, Kind, Statement, Syntax, Variable};

impl Algorithm {
    /// The whole module.
    pub fn module(&self, name: &str) -> String {
        let mut text =
            Text { out: String::new(), column: 0, rng: Rng::with_seed(self.layout), plain: self.layout == 0 };
        text.put(&format!("---- MODULE {name} ----\nEXTENDS Integers, Sequences, FiniteSets, TLC\n"));
        if let Some(option) = self.option {
            text.put(&format!("\\* PlusCal options ({option})\n"));
        }
        text.put("(* ");
        if text.once(20) {
            text.put("some prose\n");
        }
        text.put(if self.fair { "--fair algorithm Random" } else { "--algorithm Random" });
        match self.syntax {
            Syntax::P => text.p_algorithm(self),
            Syntax::C => text.c_algorithm(self),
        }
        text.put(" *)");
        text.out.push_str("\n====\n");
        text.out
    }
}

struct Text {
    out: String,
    column: usize,
    rng: Rng,
    plain: bool,
}

impl Text {
    /// A text whose lines keep their columns relative to where it begins.
    fn put(&mut self, text: &str) {
        let begin = self.column;
        for (at, line) in text.split('\n').enumerate() {
            if at > 0 {
                self.out.push('\n');
                self.column = 0;
                if !line.is_empty() && begin > 0 {
                    self.out.push_str(&" ".repeat(begin));
                    self.column = begin;
                }
            }
            self.out.push_str(line);
            self.column += line.chars().count();
        }
    }

    fn once(&mut self, percent: u32) -> bool {
        !self.plain && self.rng.u32(0..100) < percent
    }

    fn line(&mut self, depth: usize) {
        if self.once(6) {
            self.put(" ");
            return;
        }
        if self.once(4) {
            self.put(" \\* a remark; x := 1");
        }
        if self.once(3) {
            self.put(" (* another (* inside *) *)");
        }
        self.out.push('\n');
        self.column = 0;
        let indent = depth * if self.once(10) { 3 } else { 2 };
        self.put(&" ".repeat(indent));
    }

    fn variables(&mut self, variables: &[Variable], depth: usize) {
        if variables.is_empty() {
            return;
        }
        self.line(depth);
        self.put(if variables.len() == 1 { "variable " } else { "variables " });
        for (at, variable) in variables.iter().enumerate() {
            if at > 0 {
                let separator = if self.once(30) { ";" } else { "," };
                self.put(separator);
                if self.once(40) {
                    self.line(depth + 1);
                } else {
                    self.put(" ");
                }
            }
            self.declare(variable);
        }
        self.put(";");
    }

    fn declare(&mut self, variable: &Variable) {
        self.put(variable.name);
        if let Some((binding, value)) = &variable.value {
            self.put(&format!(" {binding} "));
            self.put(value);
        }
    }

    fn list<T>(&mut self, items: &[T], mut each: impl FnMut(&mut Self, &T)) {
        self.put("(");
        for (at, item) in items.iter().enumerate() {
            if at > 0 {
                self.put(", ");
            }
            each(self, item);
        }
        self.put(")");
    }

    fn define(&mut self, algorithm: &Algorithm) {
        for definition in &algorithm.define {
            self.line_of_definition();
            self.put(definition);
        }
        self.line_of_definition();
    }

    fn line_of_definition(&mut self) {
        self.out.push('\n');
        self.column = 0;
        self.put("  ");
    }

    fn p_algorithm(&mut self, algorithm: &Algorithm) {
        self.variables(&algorithm.variables, 0);
        if !algorithm.define.is_empty() {
            self.line(0);
            self.put("define");
            self.define(algorithm);
            self.put("end define;");
        }
        for one in &algorithm.macros {
            self.line(0);
            self.put(&format!("macro {}", one.name));
            self.list(&one.parameters, |text, p| text.put(p));
            self.put(" begin");
            self.p_body(&one.body, 1);
            self.put("end macro;");
        }
        for one in &algorithm.procedures {
            self.line(0);
            self.put(&format!("procedure {}", one.name));
            self.list(&one.parameters, Text::declare);
            self.variables(&one.variables, 1);
            self.line(0);
            self.put("begin");
            self.p_body(&one.body, 1);
            self.put("end procedure;");
        }
        for one in &algorithm.processes {
            self.line(0);
            self.put(&format!("{}process {} {}", one.fairness, one.name, one.id));
            self.variables(&one.variables, 1);
            self.line(0);
            self.put("begin");
            self.p_body(&one.body, 1);
            self.put("end process;");
        }
        self.line(0);
        if algorithm.processes.is_empty() {
            self.put("begin");
            self.p_body(&algorithm.body, 1);
        }
        self.put("end algorithm");
        if self.once(50) {
            self.put(";");
        }
    }

    fn p_body(&mut self, body: &[Statement], depth: usize) {
        for (at, statement) in body.iter().enumerate() {
            self.line(depth);
            self.label(statement);
            self.p_statement(statement, depth);
            if at + 1 < body.len() || !self.once(20) {
                self.put(";");
            }
        }
        self.line(depth - 1);
    }

    fn label(&mut self, statement: &Statement) {
        if let Some(label) = &statement.label {
            self.put(label);
            self.put(" ");
        }
    }

    fn p_statement(&mut self, statement: &Statement, depth: usize) {
        match &statement.kind {
            Kind::If(branches, otherwise) => {
                for (at, (test, body)) in branches.iter().enumerate() {
                    self.put(if at == 0 { "if " } else { "elsif " });
                    self.put(test);
                    self.put(" then");
                    self.p_body(body, depth + 1);
                }
                if let Some(body) = otherwise {
                    self.put("else");
                    self.p_body(body, depth + 1);
                }
                self.put("end if");
            }
            Kind::Either(branches) => {
                for (at, body) in branches.iter().enumerate() {
                    self.put(if at == 0 { "either" } else { "or" });
                    self.p_body(body, depth + 1);
                }
                self.put("end either");
            }
            Kind::While(test, body) => {
                self.put("while ");
                self.put(test);
                self.put(" do");
                self.p_body(body, depth + 1);
                self.put("end while");
            }
            Kind::With(bindings, body) => {
                self.put("with ");
                self.bindings(bindings);
                self.put(" do");
                self.p_body(body, depth + 1);
                self.put("end with");
            }
            other => self.simple(other),
        }
    }

    fn bindings(&mut self, bindings: &[(&'static str, &'static str, String)]) {
        for (at, (name, binding, value)) in bindings.iter().enumerate() {
            if at > 0 {
                let separator = if self.once(50) { "; " } else { ", " };
                self.put(separator);
            }
            self.put(&format!("{name} {binding} "));
            self.put(value);
        }
    }

    fn simple(&mut self, kind: &Kind) {
        match kind {
            Kind::Assign(parts) => {
                for (at, (left, right)) in parts.iter().enumerate() {
                    if at > 0 {
                        self.put(" || ");
                    }
                    self.put(left);
                    self.put(" := ");
                    self.put(right);
                }
            }
            Kind::Says(word, text) => {
                self.put(word);
                self.put(" ");
                self.put(text);
            }
            Kind::Call(name, arguments) => {
                self.put(&format!("call {name}"));
                self.list(arguments, |text, a| text.put(a));
            }
            Kind::Macro(name, arguments) => {
                self.put(name);
                self.list(arguments, |text, a| text.put(a));
            }
            Kind::Return => self.put("return"),
            Kind::Goto(to) => self.put(&format!("goto {to}")),
            _ => self.put("skip"),
        }
    }

    fn c_algorithm(&mut self, algorithm: &Algorithm) {
        self.put(" {");
        self.variables(&algorithm.variables, 1);
        if !algorithm.define.is_empty() {
            self.line(1);
            self.put("define {");
            self.define(algorithm);
            self.put("}");
        }
        for one in &algorithm.macros {
            self.line(1);
            self.put(&format!("macro {}", one.name));
            self.list(&one.parameters, |text, p| text.put(p));
            self.c_block(&one.body, 2);
        }
        for one in &algorithm.procedures {
            self.line(1);
            self.put(&format!("procedure {}", one.name));
            self.list(&one.parameters, Text::declare);
            self.variables(&one.variables, 2);
            self.c_block(&one.body, 2);
        }
        for one in &algorithm.processes {
            self.line(1);
            self.put(&format!("{}process ({} {})", one.fairness, one.name, one.id));
            self.variables(&one.variables, 2);
            self.c_block(&one.body, 2);
        }
        if algorithm.processes.is_empty() {
            self.line(1);
            self.c_block(&algorithm.body, 2);
        }
        self.line(0);
        self.put("}");
    }

    fn c_block(&mut self, body: &[Statement], depth: usize) {
        self.put(" {");
        for (at, statement) in body.iter().enumerate() {
            self.line(depth);
            self.label(statement);
            self.c_statement(statement, depth);
            if at + 1 < body.len() || !self.once(20) {
                self.put(";");
            }
        }
        self.line(depth - 1);
        self.put("}");
    }

    /// Braces may be left out around one statement that cannot take the `else` or `or` behind it.
    fn c_branch(&mut self, body: &[Statement], depth: usize) {
        let alone = match body {
            [one] => one.label.is_none() && !matches!(one.kind, Kind::If(..) | Kind::Either(..)),
            _ => false,
        };
        if alone && self.once(50) {
            self.put(" ");
            self.c_statement(&body[0], depth);
        } else {
            self.c_block(body, depth);
        }
    }

    fn c_statement(&mut self, statement: &Statement, depth: usize) {
        match &statement.kind {
            Kind::If(branches, otherwise) => {
                for (at, (test, body)) in branches.iter().enumerate() {
                    self.put(if at == 0 { "if (" } else { " else if (" });
                    self.put(test);
                    self.put(")");
                    self.c_block(body, depth + 1);
                }
                if let Some(body) = otherwise {
                    self.put(" else");
                    self.c_branch(body, depth + 1);
                }
            }
            Kind::Either(branches) => {
                for (at, body) in branches.iter().enumerate() {
                    self.put(if at == 0 { "either" } else { " or" });
                    self.c_block(body, depth + 1);
                }
            }
            Kind::While(test, body) => {
                self.put("while (");
                self.put(test);
                self.put(")");
                self.c_branch(body, depth + 1);
            }
            Kind::With(bindings, body) => {
                self.put("with (");
                self.bindings(bindings);
                self.put(")");
                self.c_branch(body, depth + 1);
            }
            other => self.simple(other),
        }
    }
}
