//! The parser of PlusCal, like the class `pcal.ParseAlgorithm` of the reference. This file parses the structure of an
//! algorithm: declarations, macros, procedures and processes; statements and expressions are in files of their own.

use std::collections::{HashSet, VecDeque};

use super::ast::{Algorithm, Binding, Body, Fairness, Procedure, Process, Variable};
use super::diagnostic::Diagnostic;
use super::expr::Expr;
use super::labels::{Labelling, Labels};
use super::macros::{Expansion, Macro, Macros};
use super::module_options::{self, Settings};
use super::options::{Fair, Options};
use super::parsed_statement::{ParsedStatement, nesting_depth};
use super::position::Position;
use super::source::{ParseResult, Source, SyntaxError, TranslationPlace, lines, syntax_error};
use super::token::{Lexeme, Lexer};

/// The first version of PlusCal that may omit `pc` and the disjunct for a finished algorithm, times 1000.
const OMITS_PC: u32 = 1500;

/// The parsed algorithm of a module.
#[derive(Debug, Clone)]
pub(super) struct Parsed {
    pub algorithm: Algorithm,
    /// The given options, changed by the module's own `PlusCal options` line.
    pub options: Options,
    pub place: TranslationPlace,
    pub warnings: Vec<String>,
}

/// Parses the algorithm in the text of a module; `None` if there is none.
pub(super) fn parse(text: &str, options: &Options) -> Result<Option<Parsed>, Vec<Diagnostic>> {
    let lines = lines(text);
    let Some(source) = Source::find(&lines).map_err(|problem| vec![problem])? else { return Ok(None) };
    let mut settings = module_options::read_options(&lines, options);
    let parser = Parser::new(Lexer::new(&source.code, source.start, settings.options.compat), &settings);
    let algorithm = parser
        .algorithm(source.fair, &mut settings)
        .map_err(|errors| errors.iter().map(|error| source.to_diagnostic(error)).collect::<Vec<_>>())?;
    let Settings { options, warnings, .. } = settings;
    Ok(Some(Parsed { algorithm, options, place: source.place, warnings }))
}

/// The two syntaxes of PlusCal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Syntax {
    /// `begin … end`.
    P,
    /// Braces.
    C,
}

/// Facts that the parser collects about the body of a procedure or process.
#[derive(Debug, Default)]
struct BodyFacts {
    /// Labels with a `-` or a `+`.
    minus: Vec<String>,
    plus: Vec<String>,
    /// Called procedures in order, and the same as a set.
    calls: Vec<String>,
    called: HashSet<String>,
}

pub(super) struct Parser<'a> {
    pub lexer: Lexer<'a>,
    /// Tokens that were peeked at but not yet taken.
    pub lookahead: VecDeque<Lexeme>,
    /// The position of the token that was taken last.
    pub last_position: Position,
    pub syntax: Syntax,
    /// The nesting depth of the current statement.
    pub depth: usize,
    pub in_macro: bool,
    /// The procedure that is being parsed.
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
            last_position: lexer.position(),
            lexer,
            lookahead: VecDeque::new(),
            syntax: Syntax::P,
            depth: 0,
            in_macro: false,
            procedure: None,
            labels: HashSet::new(),
            facts: BodyFacts::default(),
            // An older version keeps `pc`, as if a label had a modifier.
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

    /// Records a `goto`. `name` is what the reference compares with `Done`, which is not always the label.
    pub(super) fn record_goto(&mut self, name: &str) {
        self.has_goto = true;
        self.has_goto_done |= name == "Done" || name == "\"Done\"";
    }

    fn algorithm(mut self, fair: bool, settings: &mut Settings) -> Result<Algorithm, Vec<SyntaxError>> {
        let (mut algorithm, macros, bodies) = self.algorithm_parts(fair, settings).map_err(|error| vec![error])?;
        algorithm.has_goto = self.has_goto;
        algorithm.has_goto_done = self.has_goto_done;
        algorithm.has_default_value = self.has_default_value;
        algorithm.keeps_pc = self.has_modifier;
        let single = matches!(algorithm.body, Body::Single(_));
        // By the manual, labels are added on request, or to a uniprocess algorithm that has none.
        let label = if settings.options.label || (single && self.labels.is_empty()) {
            Labelling::Add
        } else {
            Labelling::Report
        };
        // After everything is parsed: an added label must differ from all that are written, also further down.
        let labels = Labels::new(self.labels, settings.label_root.clone(), &algorithm.procedures);
        complete_bodies(&mut algorithm, &macros, bodies, labels, label)?;
        Ok(algorithm)
    }

    /// Parses everything, and returns the algorithm without bodies, the macros, and the bodies.
    fn algorithm_parts(&mut self, fair: bool, settings: &mut Settings) -> ParseResult<(Algorithm, Macros, Bodies)> {
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
            // A macro can call those above it only, so the expansion ends.
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
        let body = if self.next_is_process()? {
            Body::Processes(self.processes(&mut bodies, settings.options.fair)?)
        } else {
            self.uniprocess_body(fair, settings, &mut bodies, procedures.last_mut())?;
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

    fn next_is_process(&mut self) -> ParseResult<bool> {
        if !self.next_is(&["fair"])? {
            return self.next_is(&["process"]);
        }
        // In version 1.5, `fair` can also begin the body of a uniprocess algorithm.
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

    /// Parses the body of a uniprocess algorithm. As in the reference, its labels and calls are added to those of the last
    /// procedure.
    fn uniprocess_body(
        &mut self,
        fair: bool,
        settings: &mut Settings,
        bodies: &mut Bodies,
        procedure: Option<&mut Procedure>,
    ) -> ParseResult<()> {
        // Only version 1.5 has the keyword here; later ones write `--fair algorithm`.
        if settings.version == OMITS_PC && self.take_if("fair")? {
            self.take_if("+")?;
            settings.options.fair = Some(Fair::Weak);
        }
        if fair {
            if matches!(settings.options.fair, Some(Fair::Strong | Fair::None)) {
                settings.warnings.push("a fairness option is given for a `--fair` algorithm and ignored".into());
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

    /// Parses a list in parentheses; `one` parses a single element.
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
        let position = self.last_position;
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
        let position = self.last_position;
        let name = self.take()?.text;
        self.procedure = Some(name.clone());
        self.facts = BodyFacts::default();
        let parameters = self.parameters(Self::parameter)?;
        let mut variables = Vec::new();
        if !self.next_is(&["begin", "{"])? {
            self.variable_keyword()?;
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
        let position = self.last_position;
        if self.syntax == Syntax::C {
            self.expect("(")?;
        }
        let name = self.take()?.text;
        let binding = self.binding()?;
        let id = self.nonempty_expression("the identifier of the process")?;
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

    fn variable_keyword(&mut self) -> ParseResult<()> {
        if self.take_if("variables")? { Ok(()) } else { self.expect("variable") }
    }

    fn variables(&mut self) -> ParseResult<Vec<Variable>> {
        self.variable_keyword()?;
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
        let value = Some(self.nonempty_expression("the value of the variable")?);
        Ok(Variable { name, position, binding, value })
    }

    /// Parses a parameter or a variable of a procedure, which does not allow `\in`.
    fn parameter(&mut self) -> ParseResult<Variable> {
        let Lexeme { text: name, position, .. } = self.take()?;
        let mut value = None;
        if self.take_if("=")? {
            value = Some(self.nonempty_expression("the value of the variable")?);
        } else {
            self.has_default_value = true;
        }
        Ok(Variable { name, position, binding: Binding::Equals, value })
    }
}

/// The bodies of the procedures, and of the processes or of the algorithm itself.
#[derive(Default)]
struct Bodies {
    procedures: Vec<Vec<ParsedStatement>>,
    others: Vec<Vec<ParsedStatement>>,
    expansion: Expansion,
}

/// Expands macros, adds labels and groups statements into steps, in the order in which the reference numbers added labels.
fn complete_bodies(
    algorithm: &mut Algorithm,
    macros: &Macros,
    bodies: Bodies,
    mut labels: Labels,
    labelling: Labelling,
) -> Result<(), Vec<SyntaxError>> {
    let Bodies { procedures, others, mut expansion } = bodies;
    let single = |error: SyntaxError| vec![error];
    let mut others = others.into_iter();
    if let Body::Processes(processes) = &mut algorithm.body {
        for (process, body) in processes.iter_mut().zip(others.by_ref()) {
            let body = expansion.expand(body, macros, 0).map_err(single)?;
            process.body = labels.steps(body).map_err(single)?;
        }
    }
    let mut rest = Vec::new();
    for body in others {
        rest.push(expansion.expand(body, macros, 0).map_err(single)?);
    }
    for (procedure, body) in algorithm.procedures.iter_mut().zip(procedures) {
        let body = expansion.expand(body, macros, 0).map_err(single)?;
        labels.enter(&procedure.name);
        procedure.body = labels.steps(body).map_err(single)?;
    }
    // As in the reference, the last procedure is still current while the algorithm's own body is processed.
    for body in rest {
        algorithm.body = Body::Single(labels.steps(body).map_err(single)?);
    }
    labels.check(labelling)
}
