//! Writes an algorithm as a TLA+ record, byte for byte as the method `toString` of `pcal.AST` in the reference, which
//! computes the checksum of an algorithm from this text. Its input is the algorithm after translation, in which the
//! branches of `if`, `either` and `with` that end a step already assign `pc` and `stack`.

use super::ast::{
    Algorithm, Assignment, Binding, Body, Branch, Fairness, Kind, Procedure, Process, Statement, Step, Variable,
};
use super::call_graph::{names_called_by, procedures_called_by};
use super::explode::initial_value;
use super::expr::{Expr, TokenKind};

/// The record of an algorithm.
pub(super) fn algorithm_record(algorithm: &Algorithm) -> String {
    let mut writer = RecordWriter { algorithm, text: String::new(), margins: Vec::new() };
    writer.algorithm();
    writer.text
}

struct RecordWriter<'a> {
    algorithm: &'a Algorithm,
    text: String,
    margins: Vec<usize>,
}

impl RecordWriter<'_> {
    fn put(&mut self, text: &str) {
        self.text.push_str(text);
    }

    fn line(&mut self) {
        let margin = self.margins.last().copied().unwrap_or(0);
        self.text.push('\n');
        self.text.extend(std::iter::repeat_n(' ', margin));
    }

    /// Writes `content` after `head`, with its lines indented by the length of `head`.
    fn under(&mut self, head: &str, content: impl FnOnce(&mut Self)) {
        let margin = self.margins.last().copied().unwrap_or(0);
        self.margins.push(margin + head.len());
        self.put(head);
        content(self);
        self.margins.pop();
    }

    fn sequence<T>(&mut self, items: &[T], mut item: impl FnMut(&mut Self, &T)) {
        self.listed("<<", items, &mut item, ">>");
    }

    fn listed<T>(&mut self, open: &str, items: &[T], item: &mut impl FnMut(&mut Self, &T), close: &str) {
        self.under(open, |writer| {
            for (number, one) in items.iter().enumerate() {
                if number > 0 {
                    writer.put(", ");
                    writer.line();
                }
                item(writer, one);
            }
            writer.put(close);
        });
    }

    /// A field of a record that is a sequence.
    fn field<T>(&mut self, head: &str, items: &[T], after: &str, item: impl FnMut(&mut Self, &T)) {
        self.under(head, |writer| {
            writer.sequence(items, item);
            writer.put(after);
        });
    }

    fn expr(&mut self, expr: &Expr) {
        self.put("<< ");
        let mut is_first = true;
        for (number, line) in expr.lines().iter().enumerate() {
            if number > 0 {
                self.put("\n");
            }
            for token in line {
                if !std::mem::take(&mut is_first) {
                    self.put(", ");
                }
                let (text, column) = (token.text.as_str(), token.column);
                let shown = match text {
                    _ if token.kind == TokenKind::String => format!(r#""\"", "{text}", "\"""#),
                    // The meaning of a bulleted list depends on the columns of these two operators, so the text has
                    // them.
                    "\\/" => format!(r#""(col{column}) \\/""#),
                    "/\\" => format!(r#""(col{column}) /\\""#),
                    _ if text.starts_with('\\') => format!(r#""\{text}""#),
                    _ => format!(r#""{text}""#),
                };
                self.put(&shown);
            }
        }
        self.put(" >>");
    }

    fn algorithm(&mut self) {
        let algorithm = self.algorithm;
        let no_define = Expr::default();
        let define = algorithm.define.as_ref().unwrap_or(&no_define);
        let name = &algorithm.name;
        let (decls, defs, prcds) = match &algorithm.body {
            Body::Single(_) => {
                self.put("[type     |-> \"uniprocess\", ");
                (" decls  |-> ", " defs   |-> ", " prcds  |-> ")
            }
            Body::Processes(_) => {
                self.put("[type    |-> \"multiprocess\", ");
                (" decls |-> ", " defs  |-> ", " prcds |-> ")
            }
        };
        self.line();
        self.put(&format!(" name  |-> \"{name}\", "));
        self.line();
        self.field(decls, &algorithm.variables, ",", Self::variable);
        self.line();
        self.put(defs);
        self.expr(define);
        self.put(",");
        self.line();
        self.field(prcds, &algorithm.procedures, ",", Self::procedure);
        self.line();
        match &algorithm.body {
            Body::Single(steps) => self.field(" body  |-> ", steps, "]", Self::step),
            Body::Processes(processes) => self.field(" procs |-> ", processes, "]", Self::process),
        }
    }

    fn variable(&mut self, variable: &Variable) {
        self.put(&format!("[var |-> \"{}\", eqOrIn |-> {}, val |-> ", variable.name, relation(variable.binding)));
        self.expr(&initial_value(variable));
        self.put("]");
    }

    fn names(&mut self, names: &[String]) {
        let quoted: Vec<_> = names.iter().map(|name| format!("\"{name}\"")).collect();
        self.put(&format!("<<{}>>", quoted.join(", ")));
    }

    fn labels_and_calls(&mut self, minus: &[String], plus: &[String], calls: &[String]) {
        // The missing blanks after some arrows are those of the reference; the checksum depends on every one.
        self.put("minusLabels |-> ");
        self.names(minus);
        self.put(", plusLabels |->");
        self.names(plus);
        self.put(", proceduresCalled |->");
        self.names(calls);
        self.put(",");
        self.line();
    }

    fn procedure(&mut self, procedure: &Procedure) {
        self.put(&format!("[name   |-> \"{}\", ", procedure.name));
        self.line();
        // Version 1.5 introduced these fields; of older algorithms the reference does not write them.
        if !self.algorithm.is_before_1_5 {
            let calls = match &self.algorithm.body {
                // The reference adds indirect calls only if there are processes, whose fairness needs them.
                Body::Single(_) => procedure.calls.clone(),
                Body::Processes(_) => names_called_by(&self.algorithm.procedures, procedure),
            };
            self.labels_and_calls(&procedure.minus_labels, &procedure.plus_labels, &calls);
        }
        self.field(" params |-> ", &procedure.parameters, ",", Self::variable);
        self.line();
        self.field(" decls  |-> ", &procedure.variables, ",", Self::variable);
        self.line();
        self.field(" body   |-> ", &procedure.body, "]", Self::step);
    }

    fn process(&mut self, process: &Process) {
        self.put(&format!("[name   |-> \"{}\",", process.name));
        if self.algorithm.is_before_1_5 {
            self.put(" ");
            self.line();
        } else {
            self.line();
            let fairness = match process.fairness {
                Fairness::Unfair => "unfair",
                Fairness::Weak => "wf",
                Fairness::Strong => "sf",
            };
            self.put(&format!(" fairness |-> \"{fairness}\", "));
            let calls: Vec<_> = procedures_called_by(&self.algorithm.procedures, &process.calls)
                .into_iter()
                .map(|procedure| procedure.name.clone())
                .collect();
            self.labels_and_calls(&process.minus_labels, &process.plus_labels, &calls);
        }
        self.put(&format!(" eqOrIn |-> {},", relation(process.binding)));
        self.line();
        self.put(" id     |-> ");
        self.expr(&process.id);
        self.put(",");
        self.line();
        self.field(" decls  |-> ", &process.variables, ",", Self::variable);
        self.line();
        self.field(" body   |-> ", &process.body, "]", Self::step);
    }

    fn step(&mut self, step: &Step) {
        self.put(&format!("[label |-> \"{}\",", step.label));
        self.line();
        self.field(" stmts |-> ", &step.statements, "]", Self::statement);
    }

    fn assignment(&mut self, assignment: &Assignment) {
        self.put(&format!("[lhs |-> [var |-> \"{}\", sub |-> ", assignment.variable));
        self.expr(&assignment.subscript);
        self.put("],");
        self.line();
        self.put(" rhs |-> ");
        self.expr(&assignment.value);
        self.put("]");
    }

    /// Writes `[type |-> "…",` and fields that are expressions, one on each line.
    fn record(&mut self, kind: &str, fields: &[(&str, &Expr)], close: &str) {
        self.put(kind);
        for (number, (head, expr)) in fields.iter().enumerate() {
            self.line();
            self.put(head);
            self.expr(expr);
            self.put(if number + 1 == fields.len() { close } else { "," });
        }
    }

    fn statement(&mut self, statement: &Statement) {
        match &statement.kind {
            Kind::While { test, body } => {
                self.record("[type    |-> \"while\", ", &[(" test    |-> ", test)], ",");
                self.line();
                self.field(" labDo   |-> ", &body.labeled, ",", Self::step);
                self.line();
                self.field(" unlabDo |-> ", &body.unlabeled, "]", Self::statement);
            }
            Kind::Assign(assignments) => {
                self.put("[type |-> \"assignment\",");
                self.line();
                self.field(" ass  |-> ", assignments, "]", Self::assignment);
            }
            Kind::If { test, then, otherwise } => {
                self.record("[type    |-> \"if\", ", &[(" test    |-> ", test)], ",");
                self.line();
                self.field(" then |-> ", then, ",", Self::statement);
                self.line();
                self.field(" else |-> ", otherwise, "]", Self::statement);
            }
            Kind::Either(clauses) => {
                self.put("[type |-> \"either\", ");
                self.line();
                self.under(" ors  |-> ", |writer| {
                    let mut clause =
                        |writer: &mut Self, clause: &Vec<Statement>| writer.sequence(clause, Self::statement);
                    writer.listed("<< ", clauses, &mut clause, " >>");
                    writer.put("]");
                });
            }
            Kind::With { variable, binding, value, body } => {
                self.put("[type   |-> \"with\", ");
                self.line();
                self.put(&format!(" var    |-> \"{variable}\","));
                self.line();
                self.put(&format!(" eqOrIn |-> {},", relation(*binding)));
                self.record("", &[(" exp    |-> ", value)], ",");
                self.line();
                self.field(" do     |-> ", body, "]", Self::statement);
            }
            Kind::When(expr) => self.record("[type |-> \"when\", ", &[(" exp |-> ", expr)], "]"),
            Kind::Print(expr) => self.record("[type |-> \"print\", ", &[(" exp |-> ", expr)], "]"),
            Kind::Assert(expr) => self.record("[type |-> \"assert\", ", &[(" exp |-> ", expr)], "]"),
            Kind::Skip => self.put("[type |-> \"skip\"]"),
            Kind::LabelIf { test, then, otherwise } => {
                self.record("[type      |-> \"labelIf\",", &[(" test      |-> ", test)], ",");
                let parts = [("Then", then, ","), ("Else", otherwise, "]")];
                for (name, branch, after) in parts {
                    self.line();
                    self.field(&format!(" unlab{name} |-> "), &branch.unlabeled, ",", Self::statement);
                    self.line();
                    self.field(&format!(" lab{name}   |-> "), &branch.labeled, after, Self::step);
                }
                self.line();
            }
            Kind::LabelEither(clauses) => {
                self.put("[type    |-> \"labelEither\",");
                self.line();
                self.field(" clauses |-> ", clauses, "]", Self::clause);
                self.line();
            }
            Kind::Call { procedure, arguments } => {
                self.put("[type     |-> \"call\",");
                self.line();
                self.put(" returnTo |-> \"\",");
                self.line();
                self.put(&format!(" to       |-> \"{procedure}\","));
                self.line();
                self.field(" args     |-> ", arguments, "]", Self::expr);
            }
            Kind::Return { from } => self.put(&format!("[type |-> \"return\", from |-> \"{}\"]", or_null(from))),
            Kind::CallReturn { from, procedure, arguments } => {
                self.call("callReturn", &format!(" from     |-> \"{}\",", or_null(from)), procedure, arguments);
            }
            Kind::CallGoto { procedure, arguments, to } => {
                self.call("callGoto", &format!(" after    |-> \"{to}\","), procedure, arguments);
            }
            Kind::Goto { to } => self.put(&format!("[type |-> \"goto\",  to |-> \"{to}\"]")),
        }
    }

    fn call(&mut self, kind: &str, field: &str, procedure: &str, arguments: &[Expr]) {
        self.put(&format!("[type     |-> \"{kind}\","));
        self.line();
        self.put(field);
        self.line();
        self.put(&format!(" to       |-> \"{procedure}\","));
        self.line();
        self.under("args     |-> ", |writer| {
            writer.sequence(arguments, Self::expr);
            writer.put("]");
            writer.line();
        });
    }

    fn clause(&mut self, clause: &Branch) {
        self.field("[unlabOr |-> ", &clause.unlabeled, ",", Self::statement);
        self.line();
        self.field(" labOr   |-> ", &clause.labeled, "]", Self::step);
        self.line();
    }
}

fn relation(binding: Binding) -> &'static str {
    match binding {
        Binding::Equals => "\"=\"",
        // The record is TLA+ text, in which a string has two backslashes for one.
        Binding::In => "\"\\\\in\"",
    }
}

fn or_null(name: &str) -> &str {
    if name.is_empty() { "null" } else { name }
}
