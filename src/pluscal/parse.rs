//! The parser: from the text of a module to its algorithm. Here what stands around the statements: declarations,
//! macros, procedures and processes.

use std::collections::{HashSet, VecDeque};

use super::ast::{Algorithm, At, Binding, Body, Fairness, Procedure, Process, Variable};
use super::draft::{Draft, height};
use super::expr::{Expr, Token, TokenKind};
use super::labels::{Labelling, Labels};
use super::macros::{Expansion, Macro};
use super::module_options::{self, Settings};
use super::options::{Fair, Options};
use super::source::{Fault, Parsing, Place, Source, fault, lines};
use super::symbols;
use super::token::{Kind, Lexeme, Lexer};
use crate::tla::Diagnostic;

/// The version before which `pc` and the disjunct for a finished algorithm were always there, times 1000.
const OMITS_PC: u32 = 1500;

/// What a module says.
#[derive(Debug, Clone)]
pub(super) struct Parsed {
    pub algorithm: Algorithm,
    /// Those given, with what the module's own `PlusCal options` line asks for.
    pub options: Options,
    /// Where the translation goes.
    pub place: Place,
    pub warnings: Vec<String>,
}

/// Reads the algorithm in the text of a module; `None` where there is none.
pub(super) fn parse(text: &str, options: &Options) -> Result<Option<Parsed>, Vec<Diagnostic>> {
    let lines = lines(text);
    let Some(source) = Source::find(&lines).map_err(|problem| vec![problem])? else { return Ok(None) };
    let mut settings = module_options::read(&lines, options);
    let parser = Parser::new(Lexer::new(&source.code, source.start), &settings);
    let algorithm = parser
        .algorithm(source.fair, &mut settings)
        .map_err(|faults| faults.iter().map(|fault| source.locate(fault)).collect::<Vec<_>>())?;
    let Settings { options, warnings, .. } = settings;
    Ok(Some(Parsed { algorithm, options, place: source.place, warnings }))
}

/// Which of the two syntaxes an algorithm is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Syntax {
    /// `begin … end`.
    P,
    /// Braces.
    C,
}

/// A body with what was noticed while it was read.
#[derive(Debug, Default)]
struct Noticed {
    minus: Vec<String>,
    plus: Vec<String>,
    calls: Vec<String>,
}

pub(super) struct Parser<'a> {
    lexer: Lexer<'a>,
    ahead: VecDeque<Lexeme>,
    /// Where the token stands that was taken last.
    pub last: At,
    pub syntax: Syntax,
    /// How deep the statement that is read is nested.
    pub depth: usize,
    pub in_macro: bool,
    /// The procedure that is read.
    pub procedure: Option<String>,
    labels: HashSet<String>,
    noticed: Noticed,
    has_modifier: bool,
    has_goto: bool,
    has_goto_done: bool,
    has_default_value: bool,
}

/// What delimits an expression wherever it stands.
fn ends_expression(text: &str) -> bool {
    matches!(
        text,
        ";" | "do"
            | "then"
            | ":="
            | "≔"
            | "begin"
            | "variable"
            | "variables"
            | "||"
            | "‖"
            | "end"
            | "else"
            | "elsif"
            | "if"
            | "either"
            | "or"
            | "while"
            | "with"
            | "call"
            | "return"
            | "goto"
            | "print"
            | "assert"
            | "skip"
            | "procedure"
            | "define"
            | "process"
            | "fair"
    )
}

impl<'a> Parser<'a> {
    fn new(lexer: Lexer<'a>, settings: &Settings) -> Self {
        Self {
            last: lexer.at(),
            lexer,
            ahead: VecDeque::new(),
            syntax: Syntax::P,
            depth: 0,
            in_macro: false,
            procedure: None,
            labels: HashSet::new(),
            noticed: Noticed::default(),
            has_modifier: settings.version < OMITS_PC,
            has_goto: false,
            has_goto_done: false,
            has_default_value: false,
        }
    }

    // Tokens.

    /// The token after `skipped` others.
    pub(super) fn peek(&mut self, skipped: usize) -> Parsing<&Lexeme> {
        while self.ahead.len() <= skipped {
            match self.lexer.next()? {
                Some(lexeme) => self.ahead.push_back(lexeme),
                None => return fault(self.last, "the module ends before the algorithm does; is a comment not ended?"),
            }
        }
        Ok(&self.ahead[skipped])
    }

    /// Whether the next token is one of these.
    pub(super) fn sees(&mut self, any: &[&str]) -> Parsing<bool> {
        let next = &self.peek(0)?.text;
        Ok(any.contains(&next.as_str()))
    }

    /// Takes the next token.
    pub(super) fn take(&mut self) -> Parsing<Lexeme> {
        self.last = self.peek(0)?.at;
        Ok(self.ahead.pop_front().expect("a token was just seen"))
    }

    /// Takes the next token if it is this one.
    pub(super) fn takes(&mut self, text: &str) -> Parsing<bool> {
        let there = self.sees(&[text])?;
        if there {
            self.take()?;
        }
        Ok(there)
    }

    /// Takes the next token, which must be this one.
    pub(super) fn expect(&mut self, text: &str) -> Parsing<()> {
        let found = self.take()?;
        if found.text == text {
            Ok(())
        } else {
            fault(found.at, format!("expected `{text}` but found `{}`", found.text))
        }
    }

    /// Takes a semicolon, which may be left out where what follows cannot be misread.
    pub(super) fn semicolon(&mut self) -> Parsing<()> {
        let next = self.peek(0)?;
        match next.text.as_str() {
            "end" | "begin" | "else" | "elsif" | "or" | "do" | "macro" | "procedure" | "process" | "fair"
            | "define" | "}" | "{" => Ok(()),
            "if" | "either" | "while" | "with" | "call" | "return" | "goto" | "print" | "assert" | "skip" => {
                fault(next.at, format!("expected `;` before `{}`", next.text))
            }
            _ => self.expect(";"),
        }
    }

    pub(super) fn comma_or_semicolon(&mut self) -> Parsing<()> {
        if self.takes(",")? { Ok(()) } else { self.semicolon() }
    }

    fn begin(&mut self) -> Parsing<()> {
        self.expect(if self.syntax == Syntax::P { "begin" } else { "{" })
    }

    /// The end of what this word began.
    pub(super) fn end(&mut self, word: &str) -> Parsing<()> {
        if self.syntax == Syntax::C {
            return self.expect("}");
        }
        self.expect("end")?;
        self.expect(word)
    }

    pub(super) fn binding(&mut self) -> Parsing<Binding> {
        let found = self.take()?;
        match found.text.as_str() {
            "=" => Ok(Binding::Equals),
            "\\in" | "∈" => Ok(Binding::In),
            other => fault(found.at, format!("expected `=` or `\\in` but found `{other}`")),
        }
    }

    /// An expression, which ends before the first token that cannot belong to it. It may be empty.
    pub(super) fn expression(&mut self) -> Parsing<Expr> {
        let mut lines: Vec<Vec<Token>> = Vec::new();
        let (mut depth, mut quantifier, mut before, mut line) = (0_usize, None, String::new(), None);
        loop {
            let next = self.peek(0)?;
            let (text, at) = (next.text.as_str(), next.at);
            let Kind::Token(kind) = next.kind else {
                return fault(at, format!("`{text}` may not stand in an expression"));
            };
            if kind != TokenKind::String {
                let field = kind == TokenKind::Ident && matches!(before.as_str(), "." | "[" | ",");
                let outside = (text == "," && quantifier.is_none()) || text == ")" || text == "}";
                if (ends_expression(text) && !field) || (outside && depth == 0) {
                    if depth > 0 {
                        let message = format!("`(`, `[`, `{{` or `<<` is not closed in the expression before `{text}`");
                        return fault(at, message);
                    }
                    if let Some(symbol) = quantifier {
                        return fault(at, format!("expected `:` after `{symbol}` in the expression before `{text}`"));
                    }
                    return Ok(Expr::from_lines(lines));
                }
            }
            if kind == TokenKind::Builtin {
                if symbols::opens(text) {
                    depth += 1;
                } else if symbols::closes(text) {
                    let Some(less) = depth.checked_sub(1) else {
                        return fault(at, format!("`{text}` closes nothing that was opened in the expression"));
                    };
                    depth = less;
                }
            }
            if depth == 0 && kind == TokenKind::Builtin {
                match text {
                    "\\A" | "∀" | "\\E" | "∃" => quantifier = Some(text.to_owned()),
                    ":" => quantifier = None,
                    _ => {}
                }
            }
            let taken = self.take()?;
            before = if kind == TokenKind::String { String::new() } else { taken.text.clone() };
            let from = *line.get_or_insert(taken.at.line);
            lines.resize(taken.at.line - from + 1, Vec::new());
            let token = Token { text: taken.text, column: taken.at.column - 1, kind, at: taken.at };
            lines.last_mut().expect("a line was just added").push(token);
        }
    }

    /// An expression that may not be empty.
    pub(super) fn some_expression(&mut self, whose: &str) -> Parsing<Expr> {
        let expr = self.expression()?;
        if expr.is_empty() {
            let next = self.peek(0)?;
            return fault(next.at, format!("expected {whose} but found `{}`", next.text));
        }
        Ok(expr)
    }

    // What is noticed.

    pub(super) fn notice_label(&mut self, label: &str) -> Parsing<()> {
        self.labels.insert(label.to_owned());
        if self.takes("+")? {
            self.noticed.plus.push(label.to_owned());
            self.has_modifier = true;
        } else if self.takes("-")? {
            self.noticed.minus.push(label.to_owned());
            self.has_modifier = true;
        }
        Ok(())
    }

    pub(super) fn notice_call(&mut self, procedure: &str) {
        if !self.noticed.calls.iter().any(|known| known == procedure) {
            self.noticed.calls.push(procedure.to_owned());
        }
    }

    /// `name` is the one that the reference compares with `Done`.
    pub(super) fn notice_goto(&mut self, name: &str) {
        self.has_goto = true;
        self.has_goto_done |= name == "Done" || name == "\"Done\"";
    }

    // Around the statements.

    fn algorithm(mut self, fair: bool, settings: &mut Settings) -> Result<Algorithm, Vec<Fault>> {
        let (mut algorithm, macros, drafts) = self.whole(fair, settings).map_err(|fault| vec![fault])?;
        algorithm.has_goto = self.has_goto;
        algorithm.has_goto_done = self.has_goto_done;
        algorithm.has_default_value = self.has_default_value;
        algorithm.keeps_pc = self.has_modifier;
        let single = matches!(algorithm.body, Body::Single(_));
        let label = if settings.options.label || (single && self.labels.is_empty()) {
            Labelling::Add
        } else {
            Labelling::Demand
        };
        let labels = Labels::new(self.labels, settings.label_root.clone(), &algorithm.procedures);
        finish(&mut algorithm, &macros, drafts, labels, label)?;
        Ok(algorithm)
    }

    /// The algorithm without its bodies, its macros, and the bodies: those of procedures, then the others.
    fn whole(&mut self, fair: bool, settings: &mut Settings) -> Parsing<(Algorithm, Vec<Macro>, Drafts)> {
        if fair {
            let found = self.take()?;
            if found.text != "algorithm" {
                return fault(found.at, format!("expected `algorithm` after `--fair` but found `{}`", found.text));
            }
        }
        let name = self.take()?.text;
        if self.takes("{")? {
            self.syntax = Syntax::C;
        }
        let variables = if self.sees(&["variable", "variables"])? { self.variables()? } else { Vec::new() };
        let define = if self.sees(&["define"])? { self.define()? } else { None };
        let mut expansion = Expansion::new();
        let mut macros = Vec::new();
        while self.sees(&["macro"])? {
            let read = self.a_macro(&macros, &mut expansion)?;
            macros.push(read);
        }
        let mut drafts = Drafts::default();
        let mut procedures = Vec::new();
        while self.sees(&["procedure"])? {
            let (procedure, body) = self.procedure()?;
            procedures.push(procedure);
            drafts.procedures.push(body);
        }
        let body = if self.at_process()? {
            Body::Processes(self.processes(&mut drafts, settings.options.fair)?)
        } else {
            self.single(fair, settings, &mut drafts, procedures.last_mut())?;
            Body::Single(Vec::new())
        };
        macros_differ(&macros)?;
        let algorithm = Algorithm {
            name,
            fair,
            variables,
            define,
            procedures,
            body,
            has_goto: false,
            has_goto_done: false,
            has_default_value: false,
            keeps_pc: false,
            is_before_1_5: settings.version < OMITS_PC,
        };
        drafts.expansion = expansion;
        Ok((algorithm, macros, drafts))
    }

    fn at_process(&mut self) -> Parsing<bool> {
        if !self.sees(&["fair"])? {
            return self.sees(&["process"]);
        }
        let next = self.peek(1)?.text.clone();
        Ok(next == "process" || (next == "+" && self.peek(2)?.text == "process"))
    }

    fn processes(&mut self, drafts: &mut Drafts, fair: Option<Fair>) -> Parsing<Vec<Process>> {
        let mut processes = Vec::new();
        while self.sees(&["fair", "process"])? {
            let fairness = if self.takes("fair")? {
                if self.takes("+")? { Fairness::Strong } else { Fairness::Weak }
            } else {
                match fair {
                    Some(Fair::Weak) => Fairness::Weak,
                    Some(Fair::Strong) => Fairness::Strong,
                    _ => Fairness::Unfair,
                }
            };
            let (process, body) = self.process(fairness)?;
            processes.push(process);
            drafts.others.push(body);
        }
        self.end("algorithm")?;
        Ok(processes)
    }

    /// The body of a uniprocess algorithm. What is noticed in it is counted with the last procedure, as the reference
    /// does.
    fn single(
        &mut self,
        fair: bool,
        settings: &mut Settings,
        drafts: &mut Drafts,
        procedure: Option<&mut Procedure>,
    ) -> Parsing<()> {
        if settings.version == OMITS_PC && self.takes("fair")? {
            self.takes("+")?;
            settings.options.fair = Some(Fair::Weak);
        }
        if fair {
            if matches!(settings.options.fair, Some(Fair::Strong | Fair::None)) {
                settings.warnings.push("a fairness option is given for a `--fair` algorithm, and is not used".into());
            }
            settings.options.fair = Some(Fair::Weak);
        }
        self.begin()?;
        drafts.others.push(self.statements()?);
        if self.syntax == Syntax::C {
            self.expect("}")?;
        }
        self.end("algorithm")?;
        if let Some(procedure) = procedure {
            let Noticed { minus, plus, calls } = std::mem::take(&mut self.noticed);
            procedure.minus_labels.extend(minus);
            procedure.plus_labels.extend(plus);
            for call in calls {
                if !procedure.calls.contains(&call) {
                    procedure.calls.push(call);
                }
            }
        }
        Ok(())
    }

    fn define(&mut self) -> Parsing<Option<Expr>> {
        self.expect("define")?;
        if self.syntax == Syntax::C {
            self.expect("{")?;
        }
        let text = self.expression()?;
        self.end("define")?;
        self.semicolon()?;
        Ok(Some(text).filter(|text| !text.is_empty()))
    }

    /// The names between parentheses, read one by one.
    fn parameters<T>(&mut self, mut one: impl FnMut(&mut Self) -> Parsing<T>) -> Parsing<Vec<T>> {
        self.expect("(")?;
        let mut found = Vec::new();
        while !self.sees(&[")"])? {
            if !found.is_empty() {
                self.expect(",")?;
            }
            found.push(one(self)?);
        }
        self.expect(")")?;
        Ok(found)
    }

    fn a_macro(&mut self, known: &[Macro], expansion: &mut Expansion) -> Parsing<Macro> {
        self.in_macro = true;
        self.expect("macro")?;
        let at = self.last;
        let name = self.take()?.text;
        let parameters = self.parameters(|parser| Ok(parser.take()?.text))?;
        self.begin()?;
        let body = self.statements()?;
        self.end("macro")?;
        self.takes(";")?;
        let body = expansion.expand(body, known, 0)?;
        self.in_macro = false;
        Ok(Macro { at, name, parameters, height: height(&body), body })
    }

    fn procedure(&mut self) -> Parsing<(Procedure, Vec<Draft>)> {
        self.expect("procedure")?;
        let at = self.last;
        let name = self.take()?.text;
        self.procedure = Some(name.clone());
        self.noticed = Noticed::default();
        let parameters = self.parameters(Self::parameter)?;
        let mut variables = Vec::new();
        if !self.sees(&["begin", "{"])? {
            self.variable_word()?;
            while !self.sees(&["begin", "{"])? {
                variables.push(self.parameter()?);
                self.comma_or_semicolon()?;
            }
        }
        let body = self.body("procedure")?;
        self.procedure = None;
        let Noticed { minus, plus, calls } = std::mem::take(&mut self.noticed);
        let procedure = Procedure {
            name,
            at,
            parameters,
            variables,
            body: Vec::new(),
            minus_labels: minus,
            plus_labels: plus,
            calls,
        };
        Ok((procedure, body))
    }

    fn process(&mut self, fairness: Fairness) -> Parsing<(Process, Vec<Draft>)> {
        self.expect("process")?;
        let at = self.last;
        if self.syntax == Syntax::C {
            self.expect("(")?;
        }
        let name = self.take()?.text;
        let binding = self.binding()?;
        let id = self.some_expression("the identifier of the process")?;
        self.noticed = Noticed::default();
        if self.syntax == Syntax::C {
            self.expect(")")?;
        }
        let variables = if self.sees(&["begin", "{"])? { Vec::new() } else { self.variables()? };
        let body = self.body("process")?;
        let Noticed { minus, plus, calls } = std::mem::take(&mut self.noticed);
        let process = Process {
            name,
            at,
            fairness,
            binding,
            id,
            variables,
            body: Vec::new(),
            minus_labels: minus,
            plus_labels: plus,
            calls,
        };
        Ok((process, body))
    }

    fn body(&mut self, word: &str) -> Parsing<Vec<Draft>> {
        self.begin()?;
        let body = self.statements()?;
        self.end(word)?;
        self.takes(";")?;
        Ok(body)
    }

    fn variable_word(&mut self) -> Parsing<()> {
        if self.takes("variables")? { Ok(()) } else { self.expect("variable") }
    }

    fn variables(&mut self) -> Parsing<Vec<Variable>> {
        self.variable_word()?;
        let mut found = Vec::new();
        while !self.sees(&["begin", "{", "procedure", "process", "fair", "define", "macro"])? {
            found.push(self.variable()?);
            self.comma_or_semicolon()?;
        }
        Ok(found)
    }

    fn variable(&mut self) -> Parsing<Variable> {
        let Lexeme { text: name, at, .. } = self.take()?;
        if !self.sees(&["=", "\\in", "∈"])? {
            self.has_default_value = true;
            return Ok(Variable { name, at, binding: Binding::Equals, value: None });
        }
        let binding = self.binding()?;
        let value = Some(self.some_expression("the value of the variable")?);
        Ok(Variable { name, at, binding, value })
    }

    /// A parameter or a variable of a procedure, which takes no `\in`.
    fn parameter(&mut self) -> Parsing<Variable> {
        let Lexeme { text: name, at, .. } = self.take()?;
        let mut value = None;
        if self.takes("=")? {
            value = Some(self.some_expression("the value of the variable")?);
        } else {
            self.has_default_value = true;
        }
        Ok(Variable { name, at, binding: Binding::Equals, value })
    }
}

/// The bodies of an algorithm: those of its procedures, and that of the algorithm or those of its processes.
#[derive(Default)]
struct Drafts {
    procedures: Vec<Vec<Draft>>,
    others: Vec<Vec<Draft>>,
    expansion: Expansion,
}

fn macros_differ(macros: &[Macro]) -> Parsing<()> {
    let mut known = HashSet::new();
    match macros.iter().find(|one| !known.insert(one.name.as_str())) {
        Some(twice) => fault(twice.at, format!("the macro `{}` is defined twice", twice.name)),
        None => Ok(()),
    }
}

/// Expands macros, adds labels and makes steps, in the order in which the reference numbers its labels.
fn finish(
    algorithm: &mut Algorithm,
    macros: &[Macro],
    drafts: Drafts,
    mut labels: Labels,
    labelling: Labelling,
) -> Result<(), Vec<Fault>> {
    let Drafts { procedures, others, mut expansion } = drafts;
    let one = |fault: Fault| vec![fault];
    let mut others = others.into_iter();
    if let Body::Processes(processes) = &mut algorithm.body {
        for (process, body) in processes.iter_mut().zip(others.by_ref()) {
            let body = expansion.expand(body, macros, 0).map_err(one)?;
            process.body = labels.steps(body).map_err(one)?;
        }
    }
    let mut rest = Vec::new();
    for body in others {
        rest.push(expansion.expand(body, macros, 0).map_err(one)?);
    }
    for (procedure, body) in algorithm.procedures.iter_mut().zip(procedures) {
        let body = expansion.expand(body, macros, 0).map_err(one)?;
        labels.enter(&procedure.name);
        procedure.body = labels.steps(body).map_err(one)?;
    }
    // The reference does not leave the last procedure before it looks at the algorithm's own body.
    for body in rest {
        algorithm.body = Body::Single(labels.steps(body).map_err(one)?);
    }
    labels.check(labelling)
}
