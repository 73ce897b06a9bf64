//! Generates the text of `Next`, `Spec` and `Termination`.

use super::ast::{Binding, Body, Fairness, Process};
use super::call_graph::procedures_called_by;
use super::generate::Generator;
use super::layout::{spaces, width};
use super::options::Fair;

const OR: &str = " \\/ ";

impl Generator<'_> {
    /// Whether `Next` gets a step in which a finished algorithm does nothing.
    fn has_stuttering_step(&self) -> bool {
        !self.options.no_done_disjunct && !self.control.endless
    }

    pub(super) fn next(&mut self) {
        const NEXT: &str = "Next == ";
        // The only action is named `Next` already.
        if self.control.omit_pc && !self.is_multiprocess() {
            return;
        }
        if self.has_stuttering_step() {
            self.terminating();
        }
        let algorithm = self.algorithm;
        let line_width = self.options.line_width;
        let indent = spaces(NEXT.len() + 2);
        let mut lead = NEXT.to_owned();
        let single: Vec<&str> = match &algorithm.body {
            Body::Single(_) => algorithm
                .procedures
                .iter()
                .map(|procedure| &procedure.name)
                .chain(&self.main_labels)
                .map(String::as_str)
                .collect(),
            Body::Processes(processes) => processes
                .iter()
                .filter(|process| process.binding == Binding::Equals)
                .map(|process| process.name.as_str())
                .collect(),
        };
        let single = disjuncts(&single, "", line_width.saturating_sub(NEXT.len() + "\\/ ".len()));
        let mut lines = Vec::new();
        for line in &single {
            lines.push(format!("{lead}{line}"));
            lead = format!("{indent}{OR}");
        }
        let mut is_first = single.is_empty();
        if self.is_multiprocess() && !algorithm.procedures.is_empty() {
            // Any process may execute the steps of a procedure.
            const SOME: &str = "(\\E self \\in ProcSet: ";
            let names: Vec<&str> = algorithm.procedures.iter().map(|procedure| procedure.name.as_str()).collect();
            let room = line_width.saturating_sub(NEXT.len() + "\\/ ".len() + SOME.len() + "\\/ ".len());
            let mut calls = disjuncts(&names, "(self)", room);
            if let Some(last) = calls.last_mut() {
                last.push(')');
            }
            lead.push_str(SOME);
            let below = spaces(width(&lead));
            if calls.len() > 1 {
                lead.push_str(OR);
            }
            for line in calls {
                lines.push(format!("{lead}{line}"));
                lead = format!("{below}{OR}");
            }
            lead = format!("{indent}{OR}");
            is_first = false;
        }
        let sets = self.processes().iter().filter(|process| process.binding == Binding::In);
        for (number, process) in sets.enumerate() {
            let id = process.id.to_lines();
            let last = id.len().saturating_sub(1);
            for (row, line) in id.iter().enumerate() {
                const SOME: &str = "(\\E self \\in ";
                let before = if row == 0 { SOME.to_owned() } else { spaces(SOME.len()) };
                let after = if row == last { format!(": {}(self))", process.name) } else { String::new() };
                lines.push(format!("{lead}{before}{line}{after}"));
                let column = if is_first && number == 0 { NEXT.len() } else { NEXT.len() + 6 };
                lead = spaces(column);
            }
            lead = format!("{indent}{OR}");
        }
        if self.has_stuttering_step() {
            lines.push(format!("{lead}Terminating"));
        }
        self.layout.lines(lines);
        self.layout.blank();
    }

    fn terminating(&mut self) {
        self.layout.line("(* Allow infinite stuttering to prevent deadlock on termination. *)");
        if self.is_multiprocess() {
            self.layout.line("Terminating == /\\ \\A self \\in ProcSet: pc[self] = \"Done\"");
            self.layout.line("               /\\ UNCHANGED vars");
        } else {
            self.layout.line("Terminating == pc = \"Done\" /\\ UNCHANGED vars");
        }
        self.layout.blank();
    }

    pub(super) fn termination(&mut self) {
        if self.control.omit_pc || self.control.endless {
            return;
        }
        let pc = if self.is_multiprocess() { "\\A self \\in ProcSet: pc[self]" } else { "pc" };
        self.layout.line(format!("Termination == <>({pc} = \"Done\")"));
        self.layout.blank();
    }

    /// Writes `Spec` with the fairness of the options and of the algorithm.
    pub(super) fn spec(&mut self) {
        const SAFETY: &str = "Init /\\ [][Next]_vars";
        let algorithm = self.algorithm;
        let mut fair = self.options.fair.or(self.options.termination.then_some(Fair::Weak));
        // `--fair` overrides the options; with processes it adds to their own fairness, below.
        if algorithm.fair && !self.is_multiprocess() {
            fair = Some(Fair::Weak);
        }
        let mut conjuncts = Vec::new();
        if fair != Some(Fair::None) {
            let whole = match &algorithm.body {
                Body::Single(_) => fair.is_some(),
                Body::Processes(_) => fair == Some(Fair::Next) || algorithm.fair,
            };
            if whole {
                conjuncts.push("WF_vars(Next)".to_owned());
            }
            for process in self.processes() {
                let formula = match (process.fairness, fair) {
                    (Fairness::Weak, _) | (Fairness::Unfair, Some(Fair::Weak)) => "WF",
                    (Fairness::Strong, _) | (Fairness::Unfair, Some(Fair::Strong)) => "SF",
                    (Fairness::Unfair, _) => continue,
                };
                conjuncts.push(self.fairness(process, formula).format(FAIRNESS_COLUMN, self.options.line_width));
            }
        }
        if conjuncts.is_empty() {
            self.layout.line(format!("Spec == {SAFETY}"));
        } else {
            self.layout.line(format!("Spec == /\\ {SAFETY}"));
            for conjunct in conjuncts {
                // The formula of each called procedure ends with a line break, the last one too.
                for line in format!("        /\\ {conjunct}").trim_end_matches('\n').split('\n') {
                    self.layout.line(line);
                }
            }
        }
        self.layout.blank();
    }

    fn fairness(&self, process: &Process, formula: &str) -> ProcessFairness {
        let id = process.id.to_lines();
        let mut subject = "self".to_owned();
        let prefix = match (process.binding, id.as_slice()) {
            (Binding::Equals, [only]) => {
                subject.clone_from(only);
                Vec::new()
            }
            // An identifier of several lines is written once, in a LET.
            (Binding::Equals, _) => {
                let mut lines = quantified("LET self == ", &id, "");
                lines.push("IN ".to_owned());
                lines
            }
            (Binding::In, _) => quantified("\\A self \\in ", &id, " : "),
        };
        let parameter = if process.binding == Binding::In { "(self)" } else { "" };
        let own = fair(formula, &process.name, parameter, &process.minus_labels, &process.plus_labels, &subject);
        let parameter = format!("({subject})");
        let called = procedures_called_by(&self.algorithm.procedures, &process.calls).into_iter().map(|procedure| {
            fair(formula, &procedure.name, &parameter, &procedure.minus_labels, &procedure.plus_labels, &subject)
        });
        ProcessFairness { prefix, own, called: called.collect() }
    }
}

/// The column after `Spec == /\ `.
const FAIRNESS_COLUMN: usize = 11;

/// Names separated by `\/`, in lines of about `room` columns.
fn disjuncts(names: &[&str], parameter: &str, room: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    for name in names {
        if name.len() + parameter.len() + OR.len() + line.len() > room {
            lines.push(std::mem::take(&mut line));
        }
        if !line.is_empty() {
            line.push_str(OR);
        }
        line.push_str(name);
        line.push_str(parameter);
    }
    if !line.is_empty() {
        lines.push(line);
    }
    lines
}

fn quantified(before: &str, lines: &[String], after: &str) -> Vec<String> {
    let last = lines.len().saturating_sub(1);
    let line = |(number, line): (usize, &String)| {
        let before = if number == 0 { before.to_owned() } else { spaces(before.len()) };
        format!("{before}{line}{}", if number == last { after } else { "" })
    };
    lines.iter().enumerate().map(line).collect()
}

/// The fairness of a process or a procedure.
struct FairnessFormulas {
    /// Fairness of all its steps except those whose labels have a `-`.
    all: String,
    /// Strong fairness of the steps whose labels have a `+`.
    plus: Option<String>,
}

fn fair(
    formula: &str,
    name: &str,
    parameter: &str,
    minus: &[String],
    plus: &[String],
    subject: &str,
) -> FairnessFormulas {
    let except = match minus {
        [] => String::new(),
        [only] => format!("(pc[{subject}] # \"{only}\") /\\ "),
        several => format!("(pc[{subject}] \\notin {{\"{}\"}}) /\\ ", several.join("\", \"")),
    };
    let strong = || plus.iter().map(|label| format!("SF_vars({label}{parameter})")).collect::<Vec<_>>().join(AND);
    FairnessFormulas {
        all: format!("{formula}_vars({except}{name}{parameter})"),
        // In a strongly fair process, `+` adds nothing.
        plus: (formula == "WF" && !plus.is_empty()).then(strong),
    }
}

const AND: &str = " /\\ ";

impl FairnessFormulas {
    fn in_one_line(&self) -> String {
        match &self.plus {
            None => self.all.clone(),
            Some(plus) => format!("{}{AND}{plus}", self.all),
        }
    }

    /// A bulleted list of conjuncts at this column.
    fn as_list(&self, column: usize) -> String {
        match &self.plus {
            None => format!("/\\ {}", self.all),
            Some(plus) => format!("/\\ {}\n{}/\\ {plus}", self.all, spaces(column)),
        }
    }
}

/// The fairness of a process and of the procedures it calls.
struct ProcessFairness {
    /// `\A self \in S :` or `LET self == … IN`, line by line.
    prefix: Vec<String>,
    own: FairnessFormulas,
    called: Vec<FairnessFormulas>,
}

impl ProcessFairness {
    /// The width that the reference estimates: it counts neither a prefix of a single line nor every `/\`.
    fn width(&self) -> usize {
        let (above, mut line) = match self.prefix.as_slice() {
            [above @ .., last] if !above.is_empty() => {
                (above.iter().map(|line| width(line)).max().unwrap_or(0), width(last))
            }
            _ => (0, 0),
        };
        line += width(&self.own.all) + self.own.plus.as_deref().map_or(0, width);
        line += self.called.iter().map(|formulas| width(&formulas.in_one_line())).sum::<usize>();
        above.max(line)
    }

    /// The text with line breaks, for a position at this column.
    fn format(&self, column: usize, line_width: usize) -> String {
        let mut text = self.prefix.join(&format!("\n{}", spaces(column)));
        if column + self.width() <= line_width || (self.own.plus.is_none() && self.called.is_empty()) {
            let all: Vec<_> =
                std::iter::once(&self.own).chain(&self.called).map(FairnessFormulas::in_one_line).collect();
            text.push_str(&all.join(AND));
            return text;
        }
        let column = column + self.prefix.last().map_or(0, |line| width(line));
        let fits = |line: &str| column + width(line) + "/\\ ".len() <= line_width;
        let own = self.own.in_one_line();
        let own = if fits(&own) { format!("/\\ {own}") } else { self.own.as_list(column) };
        text.push_str(&own);
        for (number, formulas) in self.called.iter().enumerate() {
            if number == 0 {
                text.push('\n');
            }
            text.push_str(&spaces(column));
            let line = formulas.in_one_line();
            let line = if fits(&line) { format!("/\\ {line}\n") } else { formulas.as_list(column) };
            text.push_str(&line);
        }
        text
    }
}
