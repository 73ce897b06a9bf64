//! `tlaforge formula`: parses a formula, evaluates it on a trace, and prints its automaton. Reads and writes no file.

use clap::{Args as ClapArgs, ValueEnum};
use std::fmt::Write as _;

use serde_json::{Value, json};

use super::failure::Failure;
use super::format::{Format, value_names};
use super::snippet::Snippet;
use super::terminal::{print_json_line, print_result};
use crate::exit::Exit;
use crate::report::counted;
use crate::temporal::{
    Dfa, FinalVerdict, Formula, Formulas, Labels, Letter, Limits, ParseError, PrefixVerdict, Progression, Reading,
    Record, Value as Seen, check_trace, eval_all_positions,
};

#[derive(Debug, ClapArgs)]
pub(super) struct FormulaArgs {
    /// Formula to parse, e.g. 'G (request -> F answer)'.
    pub formula: String,
    /// Trace to evaluate the formula on: states separated by `;`, each with the propositions that are true, e.g.
    /// `a; a b; ; b`.
    #[arg(long, value_name = "STATES")]
    pub trace: Option<String>,
    /// Print the minimal automaton, as `dot` (for Graphviz) or as `table`.
    #[arg(long, value_enum, value_name = value_names::<DfaChoice>(), hide_possible_values = true)]
    pub dfa: Option<DfaChoice>,
    /// Maximum number of edges that --dfa prints; a larger automaton is an error.
    #[arg(long, default_value_t = 2_000, value_name = "N", requires = "dfa")]
    pub edges: usize,
    /// Output format; `json` prints one object.
    #[arg(long, value_enum, default_value = "text", hide_possible_values = true, value_name = value_names::<Format>())]
    pub format: Format,
}

/// How an automaton is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum DfaChoice {
    /// For Graphviz.
    Dot,
    /// A line for each edge.
    Table,
}

pub(super) fn formula(args: &FormulaArgs) -> Result<Exit, Failure> {
    let mut formulas = Formulas::new();
    let formula = formulas
        .parse(&args.formula)
        .map_err(|e| formula_failure("FORMULA", &args.formula, e).hint("docs/src/formulas.md lists the operators"))?;
    let mut text = String::new();
    let mut object = json!({
        "schema": 2,
        "formula": formulas.text(formula),
        "subformulas": formulas.subformulas(formula).len(),
        "readings": readings(&formulas, formula),
    });
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{}", formulas.text(formula));
    let read = readings(&formulas, formula);
    let _ = writeln!(
        text,
        "{}; {}",
        counted(formulas.subformulas(formula).len() as u64, "distinct subformula"),
        if read.is_empty() {
            "no reading supports it: it combines future operators with lifelines".to_owned()
        } else {
            format!("for {}", read.join(", "))
        }
    );
    let mut exit = Exit::Ok;
    if let Some(trace) = &args.trace {
        let evaluation = Evaluation::new(&formulas, formula, &parse_trace(trace))?;
        if !evaluation.holds {
            exit = Exit::Negative;
        }
        evaluation.write_text(&mut text);
        object["trace"] = evaluation.json();
    }
    if let Some(choice) = args.dfa {
        let dfa = Dfa::build(&formulas, formula, Limits::default()).map_err(|e| Failure::usage(e.to_string()))?;
        let edges = count_edges(&dfa, args.edges)?;
        let shown = match choice {
            DfaChoice::Dot => dfa.dot(&formulas),
            DfaChoice::Table => dfa_table(&dfa, &formulas),
        };
        object["automaton"] = json!({ "states": dfa.states(), "edges": edges, "text": shown });
        if choice == DfaChoice::Dot {
            // Alone, so that it can be piped into Graphviz.
            text = shown;
        } else {
            let _ = write!(text, "\nMinimal automaton, {}:\n{shown}", counted(dfa.states() as u64, "state"));
        }
    }
    match args.format {
        Format::Text => print_result(&text),
        Format::Json => print_json_line(&object),
    }
    Ok(exit)
}

/// The syntax error of a formula that an argument contains. `argument` is its name.
pub(super) fn formula_failure(argument: &str, text: &str, error: ParseError) -> Failure {
    let failure = Failure::usage(error.message).at(Snippet::new(argument, text, error.span));
    error.hint.into_iter().fold(failure, Failure::hint)
}

/// Edges are counted up to this number, so that the error can name the size of a large automaton.
const MAX_COUNTED_EDGES: usize = 1_000_000;

/// Counts the edges; an error if there are more than `most`.
fn count_edges(dfa: &Dfa, most: usize) -> Result<usize, Failure> {
    let states = counted(dfa.states() as u64, "state");
    match dfa.edge_count(most.max(MAX_COUNTED_EDGES)) {
        Some(edges) if edges <= most => Ok(edges),
        Some(edges) => {
            Err(Failure::usage(format!("the automaton has {states} and {edges} edges, more than the limit of {most}"))
                .hint(format!("to print it, add --edges {edges}")))
        }
        None => Err(Failure::usage(format!(
            "the automaton has {states} and more than {} edges, more than the limit of {most}",
            most.max(MAX_COUNTED_EDGES)
        ))
        .hint("split the formula, and print the automaton of each part")),
    }
}

fn readings(formulas: &Formulas, formula: Formula) -> Vec<&'static str> {
    let all = [
        (Reading::Finite, "the finite-trace check"),
        (Reading::Progression, "progression"),
        (Reading::Causal, "causal guards"),
        (Reading::Automaton, "automata"),
    ];
    all.into_iter()
        .filter(|(reading, _)| formulas.check_reading(formula, *reading).is_ok())
        .map(|(_, name)| name)
        .collect()
}

/// A state of `--trace`: the atoms that are true.
struct State(Vec<String>);

impl Record for State {
    fn field(&self, name: &str) -> Option<Seen<'_>> {
        self.0.iter().find_map(|atom| match atom.split_once('=') {
            Some((field, value)) if field == name => Some(match (value, value.parse::<f64>()) {
                ("true", _) => Seen::Bool(true),
                ("false", _) => Seen::Bool(false),
                // As an integer if it is one: doubles are exact only up to 2^53.
                (_, Ok(number)) => value.parse().map_or(Seen::Number(number), Seen::integer),
                _ => Seen::Text(value.into()),
            }),
            None if atom == name => Some(Seen::Bool(true)),
            _ => None,
        })
    }

    fn label(&self, kind: &str, text: &str) -> Option<bool> {
        Some(self.0.iter().any(|atom| atom.split_once(':') == Some((kind, text))))
    }
}

/// Parses `a b; ; x=3`: states separated by semicolons, atoms by spaces or commas.
fn parse_trace(trace: &str) -> Vec<State> {
    if trace.trim().is_empty() {
        return Vec::new();
    }
    let atoms =
        |state: &str| state.split([' ', ',', '\t', '\n']).filter(|a| !a.is_empty()).map(str::to_owned).collect();
    trace.split(';').map(|state| State(atoms(state))).collect()
}

/// The result of evaluating a formula on a trace.
struct Evaluation {
    holds: bool,
    values: Vec<bool>,
    explanation: Option<String>,
    /// Residual and status after each state; `None` if progression does not support the formula.
    steps: Option<Vec<(String, &'static str)>>,
    ending: Option<&'static str>,
}

impl Evaluation {
    fn new(formulas: &Formulas, formula: Formula, states: &[State]) -> Result<Self, Failure> {
        let refused = |e: &dyn std::fmt::Display| Failure::usage(e.to_string());
        let labels = Labels::from_records(formulas, &[formula], states);
        let column = eval_all_positions(formulas, formula, &labels).map_err(|e| refused(&e))?;
        let check = check_trace(formulas, formula, &labels).map_err(|e| refused(&e))?;
        let mut progression = Progression::new();
        let (mut steps, mut ending) = (None, None);
        if let Ok(mut residual) = progression.begin(formulas, formula) {
            let mut after_states = Vec::new();
            let mut letter = Letter::new();
            for state in states {
                letter.assign_from_record(progression.formulas(), state);
                residual = progression.step(residual, &letter);
                // `text` is bounded: a residual shares subformulas, and expanded it can be a million times as long.
                after_states.push((progression.text(residual), status_name(progression.prefix_verdict(residual))));
            }
            steps = Some(after_states);
            ending = Some(match progression.final_verdict(residual) {
                FinalVerdict::Satisfied => "satisfied",
                FinalVerdict::Violated => "violated",
                FinalVerdict::PresumablySatisfied => "presumably satisfied",
                FinalVerdict::PresumablyViolated => "presumably violated",
            });
        }
        Ok(Self {
            holds: check.holds(),
            values: (0..=states.len()).map(|position| column.holds_at(position)).collect(),
            explanation: check.explanation.as_ref().map(|e| e.text(formulas)),
            steps,
            ending,
        })
    }

    fn write_text(&self, text: &mut String) {
        let last = self.values.len() - 1;
        let _ = writeln!(text, "\n{} on this trace", if self.holds { "holds" } else { "does not hold" });
        if let Some(explanation) = &self.explanation {
            let _ = writeln!(text, "because {explanation}");
        }
        let _ = writeln!(text, "\nposition  value  {}", if self.steps.is_some() { "residual" } else { "" });
        for (position, value) in self.values.iter().enumerate() {
            let name = if position == last { "end".to_owned() } else { position.to_string() };
            let step = self.steps.as_ref().and_then(|steps| steps.get(position));
            let step = step.map_or_else(String::new, |(residual, status)| format!("{residual}  ({status})"));
            let line = format!("{name:>8}  {value:<5}  {step}");
            let _ = writeln!(text, "{}", line.trim_end());
        }
        if let Some(ending) = self.ending {
            let _ = writeln!(text, "if the trace ends here: {ending}");
        }
    }

    fn json(&self) -> Value {
        let steps: Option<Vec<Value>> = self.steps.as_ref().map(|steps| {
            steps.iter().map(|(residual, status)| json!({"residual": residual, "status": status})).collect()
        });
        json!({"holds": self.holds, "holds_at": self.values, "explanation": self.explanation, "steps": steps, "ending": self.ending})
    }
}

fn status_name(standing: PrefixVerdict) -> &'static str {
    match standing {
        PrefixVerdict::Satisfied => "satisfied",
        PrefixVerdict::Violated => "violated",
        PrefixVerdict::Undecided => "undecided",
    }
}

/// One line per state and per edge.
fn dfa_table(dfa: &Dfa, formulas: &Formulas) -> String {
    let mut out = String::new();
    for state in 0..dfa.states() {
        let marks = [
            (state == Dfa::INITIAL, "initial"),
            (dfa.accepts(state), "accepting"),
            (dfa.is_goal(state), "goal"),
            (dfa.is_trap(state), "trap"),
        ];
        let marks: Vec<&str> = marks.iter().filter(|(is, _)| *is).map(|(_, mark)| *mark).collect();
        let distance = dfa.distance(state).map_or_else(String::new, |d| format!("  {d} to the goal"));
        let _ = writeln!(out, "{state}  {}{distance}", marks.join(", "));
        for edge in dfa.edges(state) {
            let _ = writeln!(out, "    -> {}  {}", edge.to, edge.guard.text(formulas));
        }
    }
    out
}
