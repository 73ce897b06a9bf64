//! The parser: from the text of a module to its algorithm. Here what stands around the statements: declarations,
//! macros, procedures and processes.

use std::collections::{HashSet, VecDeque};

use super::ast::{Algorithm, Binding, Body, Fairness, Procedure, Process, Variable};
use super::expr::Expr;
use super::labels::{Labelling, Labels};
use super::macros::{Expansion, Macro, Macros};
use super::module_options::{self, Settings};
use super::options::{Fair, Options};
use super::parsed_statement::{ParsedStatement, nesting_depth};
use super::position::Position;
use super::source::{ParseResult, Source, SyntaxError, TranslationPlace, lines, syntax_error};
use super::token::{Lexeme, Lexer};
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
    pub place: TranslationPlace,
    pub warnings: Vec<String>,
}

/// Reads the algorithm in the text of a module; `None` where there is none.
pub(super) fn parse(text: &str, options: &Options) -> Result<Option<Parsed>, Vec<Diagnostic>> {
    let lines = lines(text);
    let Some(source) = Source::find(&lines).map_err(|problem| vec![problem])? else { return Ok(None) };
    let mut settings = module_options::read(&lines, options);
    let parser = Parser::new(Lexer::new(&source.code, source.start, settings.options.compat), &settings);
    let algorithm = parser
        .algorithm(source.fair, &mut settings)
        .map_err(|errors| errors.iter().map(|error| source.to_diagnostic(error)).collect::<Vec<_>>())?;
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
struct BodyFacts {
    minus: Vec<String>,
    plus: Vec<String>,
    calls: Vec<String>,
    called: HashSet<String>,
}

pub(super) struct Parser<'a> {
    pub lexer: Lexer<'a>,
    /// Tokens that were looked at and not taken.
    pub lookahead: VecDeque<Lexeme>,
    /// Where the token stands that was taken last.
    pub last: Position,
    pub syntax: Syntax,
    /// How deep the statement that is read is nested.
    pub depth: usize,
    pub in_macro: bool,
    /// The procedure that is read.
    pub procedure: Option<String>,
    labels: HashSet<String>,
    facts: BodyFacts,
    has_modifier: bool,
    has_goto: bool,
    has_goto_done: bool,
    has_default_value: bool,
}

impl<'a> Parser<'a> {
    fn new(lexer: Lexer<'a>, settings: &Settings) -> Self {
        Self {
            last: lexer.position(),
            lexer,
            lookahead: VecDeque::new(),
            syntax: Syntax::P,
            depth: 0,
            in_macro: false,
            procedure: None,
            labels: HashSet::new(),
            facts: BodyFacts::default(),
            has_modifier: settings.version < OMITS_PC,
            has_goto: false,
            has_goto_done: false,
            has_default_value: false,
        }
    }

    pub(super) fn record_label(&mut self, label: &str) -> ParseResult<()> {
        self.labels.insert(label.to_owned());
        if self.take_if("+")? {
            self.facts.plus.push(label.to_owned());
            self.has_modifier = true;
        } else if self.take_if("-")? {
            self.facts.minus.push(label.to_owned());
            self.has_modifier = true;
        }
        Ok(())
    }

    pub(super) fn record_call(&mut self, procedure: &str) {
        if self.facts.called.insert(procedure.to_owned()) {
            self.facts.calls.push(procedure.to_owned());
        }
    }

    /// `name` is the one that the reference compares with `Done`.
    pub(super) fn record_goto(&mut self, name: &str) {
        self.has_goto = true;
        self.has_goto_done |= name == "Done" || name == "\"Done\"";
    }

    fn algorithm(mut self, fair: bool, settings: &mut Settings) -> Result<Algorithm, Vec<SyntaxError>> {
        let (mut algorithm, macros, bodies) = self.whole(fair, settings).map_err(|error| vec![error])?;
        algorithm.has_goto = self.has_goto;
        algorithm.has_goto_done = self.has_goto_done;
        algorithm.has_default_value = self.has_default_value;
        algorithm.keeps_pc = self.has_modifier;
        let single = matches!(algorithm.body, Body::Single(_));
        let label = if settings.options.label || (single && self.labels.is_empty()) {
            Labelling::Add
        } else {
            Labelling::Report
        };
        let labels = Labels::new(self.labels, settings.label_root.clone(), &algorithm.procedures);
        finish(&mut algorithm, &macros, bodies, labels, label)?;
        Ok(algorithm)
    }

    /// The algorithm without its bodies, its macros, and the bodies: those of procedures, then the others.
    fn whole(&mut self, fair: bool, settings: &mut Settings) -> ParseResult<(Algorithm, Macros, Bodies)> {
        if fair {
            let found = self.take()?;
            if found.text != "algorithm" {
                return syntax_error(
                    found.position,
                    format!("expected `algorithm` after `--fair` but found `{}`", found.text),
                );
            }
        }
        let name = self.take()?.text;
        if self.take_if("{")? {
            self.syntax = Syntax::C;
        }
        let variables = if self.next_is(&["variable", "variables"])? { self.variables()? } else { Vec::new() };
        let define = if self.next_is(&["define"])? { self.define()? } else { None };
        let mut expansion = Expansion::default();
        let mut macros = Macros::default();
        while self.next_is(&["macro"])? {
            let read = self.macro_definition(&macros, &mut expansion)?;
            macros.add(read);
        }
        let mut bodies = Bodies::default();
        let mut procedures = Vec::new();
        while self.next_is(&["procedure"])? {
            let (procedure, body) = self.procedure()?;
            procedures.push(procedure);
            bodies.procedures.push(body);
        }
        let body = if self.at_process()? {
            Body::Processes(self.processes(&mut bodies, settings.options.fair)?)
        } else {
            self.single(fair, settings, &mut bodies, procedures.last_mut())?;
            Body::Single(Vec::new())
        };
        macros.check()?;
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
        bodies.expansion = expansion;
        Ok((algorithm, macros, bodies))
    }

    fn at_process(&mut self) -> ParseResult<bool> {
        if !self.next_is(&["fair"])? {
            return self.next_is(&["process"]);
        }
        let next = self.peek(1)?.text.clone();
        Ok(next == "process" || (next == "+" && self.peek(2)?.text == "process"))
    }

    fn processes(&mut self, bodies: &mut Bodies, fair: Option<Fair>) -> ParseResult<Vec<Process>> {
        let mut processes = Vec::new();
        while self.next_is(&["fair", "process"])? {
            let fairness = if self.take_if("fair")? {
                if self.take_if("+")? { Fairness::Strong } else { Fairness::Weak }
            } else {
                match fair {
                    Some(Fair::Weak) => Fairness::Weak,
                    Some(Fair::Strong) => Fairness::Strong,
                    _ => Fairness::Unfair,
                }
            };
            let (process, body) = self.process(fairness)?;
            processes.push(process);
            bodies.others.push(body);
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
        bodies: &mut Bodies,
        procedure: Option<&mut Procedure>,
    ) -> ParseResult<()> {
        if settings.version == OMITS_PC && self.take_if("fair")? {
            self.take_if("+")?;
            settings.options.fair = Some(Fair::Weak);
        }
        if fair {
            if matches!(settings.options.fair, Some(Fair::Strong | Fair::None)) {
                settings.warnings.push("a fairness option is given for a `--fair` algorithm, and is not used".into());
            }
            settings.options.fair = Some(Fair::Weak);
        }
        self.begin()?;
        bodies.others.push(self.statements()?);
        if self.syntax == Syntax::C {
            self.expect("}")?;
        }
        self.end("algorithm")?;
        if let Some(procedure) = procedure {
            let BodyFacts { minus, plus, calls, .. } = std::mem::take(&mut self.facts);
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

    fn define(&mut self) -> ParseResult<Option<Expr>> {
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
    fn parameters<T>(&mut self, mut one: impl FnMut(&mut Self) -> ParseResult<T>) -> ParseResult<Vec<T>> {
        self.expect("(")?;
        let mut found = Vec::new();
        while !self.next_is(&[")"])? {
            if !found.is_empty() {
                self.expect(",")?;
            }
            found.push(one(self)?);
        }
        self.expect(")")?;
        Ok(found)
    }

    fn macro_definition(&mut self, known: &Macros, expansion: &mut Expansion) -> ParseResult<Macro> {
        self.in_macro = true;
        self.expect("macro")?;
        let position = self.last;
        let name = self.take()?.text;
        let parameters = self.parameters(|parser| Ok(parser.take()?.text))?;
        self.begin()?;
        let body = self.statements()?;
        self.end("macro")?;
        self.take_if(";")?;
        let body = expansion.expand(body, known, 0)?;
        self.in_macro = false;
        Ok(Macro { position, name, parameters, depth: nesting_depth(&body), body })
    }

    fn procedure(&mut self) -> ParseResult<(Procedure, Vec<ParsedStatement>)> {
        self.expect("procedure")?;
        let position = self.last;
        let name = self.take()?.text;
        self.procedure = Some(name.clone());
        self.facts = BodyFacts::default();
        let parameters = self.parameters(Self::parameter)?;
        let mut variables = Vec::new();
        if !self.next_is(&["begin", "{"])? {
            self.variable_word()?;
            while !self.next_is(&["begin", "{"])? {
                variables.push(self.parameter()?);
                self.comma_or_semicolon()?;
            }
        }
        let body = self.body("procedure")?;
        self.procedure = None;
        let BodyFacts { minus, plus, calls, .. } = std::mem::take(&mut self.facts);
        let procedure = Procedure {
            name,
            position,
            parameters,
            variables,
            body: Vec::new(),
            minus_labels: minus,
            plus_labels: plus,
            calls,
        };
        Ok((procedure, body))
    }

    fn process(&mut self, fairness: Fairness) -> ParseResult<(Process, Vec<ParsedStatement>)> {
        self.expect("process")?;
        let position = self.last;
        if self.syntax == Syntax::C {
            self.expect("(")?;
        }
        let name = self.take()?.text;
        let binding = self.binding()?;
        let id = self.some_expression("the identifier of the process")?;
        self.facts = BodyFacts::default();
        if self.syntax == Syntax::C {
            self.expect(")")?;
        }
        let variables = if self.next_is(&["begin", "{"])? { Vec::new() } else { self.variables()? };
        let body = self.body("process")?;
        let BodyFacts { minus, plus, calls, .. } = std::mem::take(&mut self.facts);
        let process = Process {
            name,
            position,
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

    fn body(&mut self, word: &str) -> ParseResult<Vec<ParsedStatement>> {
        self.begin()?;
        let body = self.statements()?;
        self.end(word)?;
        self.take_if(";")?;
        Ok(body)
    }

    fn variable_word(&mut self) -> ParseResult<()> {
        if self.take_if("variables")? { Ok(()) } else { self.expect("variable") }
    }

    fn variables(&mut self) -> ParseResult<Vec<Variable>> {
        self.variable_word()?;
        let mut found = Vec::new();
        while !self.next_is(&["begin", "{", "procedure", "process", "fair", "define", "macro"])? {
            found.push(self.variable()?);
            self.comma_or_semicolon()?;
        }
        Ok(found)
    }

    fn variable(&mut self) -> ParseResult<Variable> {
        let Lexeme { text: name, position, .. } = self.take()?;
        if !self.next_is(&["=", "\\in", "∈"])? {
            self.has_default_value = true;
            return Ok(Variable { name, position, binding: Binding::Equals, value: None });
        }
        let binding = self.binding()?;
        let value = Some(self.some_expression("the value of the variable")?);
        Ok(Variable { name, position, binding, value })
    }

    /// A parameter or a variable of a procedure, which takes no `\in`.
    fn parameter(&mut self) -> ParseResult<Variable> {
        let Lexeme { text: name, position, .. } = self.take()?;
        let mut value = None;
        if self.take_if("=")? {
            value = Some(self.some_expression("the value of the variable")?);
        } else {
            self.has_default_value = true;
        }
        Ok(Variable { name, position, binding: Binding::Equals, value })
    }
}

/// The bodies of an algorithm: those of its procedures, and that of the algorithm or those of its processes.
#[derive(Default)]
struct Bodies {
    procedures: Vec<Vec<ParsedStatement>>,
    others: Vec<Vec<ParsedStatement>>,
    expansion: Expansion,
}

/// Expands macros, adds labels and makes steps, in the order in which the reference numbers its labels.
fn finish(
    algorithm: &mut Algorithm,
    macros: &Macros,
    bodies: Bodies,
    mut labels: Labels,
    labelling: Labelling,
) -> Result<(), Vec<SyntaxError>> {
    let Bodies { procedures, others, mut expansion } = bodies;
    let one = |error: SyntaxError| vec![error];
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
