//! `tlaforge formula`: one formula, tried out.

use clap::{Args as ClapArgs, ValueEnum};
use std::fmt::Write as _;

use serde_json::{Value, json};

use super::excerpt::excerpt;
use super::failure::Failure;
use super::format::Format;
use super::terminal::{print_json_line, print_result};
use crate::exit::Exit;
use crate::report::counted;
use crate::temporal::{
    Dfa, FinalVerdict, Formula, Formulas, Labels, Letter, Limits, PrefixVerdict, Progression, Reading, Record,
    Value as Seen, check_trace, eval_all_positions,
};

#[derive(Debug, ClapArgs)]
pub(super) struct FormulaArgs {
    /// The formula.
    pub formula: String,
    /// States to try it on, separated by `;`, each the propositions that are true: `a; a b; ; b`.
    #[arg(long, value_name = "STATES")]
    pub trace: Option<String>,
    /// Print the minimal automaton: dot for Graphviz, or table.
    #[arg(long, value_enum, value_name = "dot|table", hide_possible_values = true)]
    pub dfa: Option<DfaChoice>,
    /// The most edges that --dfa prints; an automaton with more is refused, with their number.
    #[arg(long, default_value_t = 2_000, value_name = "N", requires = "dfa")]
    pub edges: usize,
    /// `json` prints one object.
    #[arg(long, value_enum, default_value = "text", hide_possible_values = true, value_name = "text|json")]
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
    let formula = formulas.parse(&args.formula).map_err(|e| {
        let (shown, before) = excerpt(&args.formula, e.offset);
        Failure::usage(format!("{e}\n  {shown}\n  {:>width$}", "^", width = before + 1))
            .hint("docs/formulas.md lists the operators")
    })?;
    let mut text = String::new();
    let mut object = json!({
        "schema": 1,
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
            "nothing takes it: it speaks of the future and of lifelines".to_owned()
        } else {
            format!("for {}", read.join(", "))
        }
    );
    let mut exit = Exit::Ok;
    if let Some(trace) = &args.trace {
        let tried = Tried::new(&formulas, formula, &states(trace))?;
        if !tried.holds {
            exit = Exit::Negative;
        }
        tried.tell(&mut text);
        object["trace"] = tried.json();
    }
    if let Some(choice) = args.dfa {
        let dfa = Dfa::build(&formulas, formula, Limits::default()).map_err(|e| Failure::usage(e.to_string()))?;
        let edges = edges_to_print(&dfa, args.edges)?;
        let shown = match choice {
            DfaChoice::Dot => dfa.dot(&formulas),
            DfaChoice::Table => table(&dfa, &formulas),
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

/// How many edges are counted beyond what may be printed, to say how many there are.
const COUNTED: usize = 1_000_000;

/// The number of edges; an error if it is larger than `most`.
fn edges_to_print(dfa: &Dfa, most: usize) -> Result<usize, Failure> {
    let states = counted(dfa.states() as u64, "state");
    match dfa.edge_count(most.max(COUNTED)) {
        Some(edges) if edges <= most => Ok(edges),
        Some(edges) => {
            Err(Failure::usage(format!("the automaton has {states} and {edges} edges, of which {most} may be printed"))
                .hint(format!("`--edges {edges}` prints them all")))
        }
        None => Err(Failure::usage(format!(
            "the automaton has {states} and more than {} edges, of which {most} may be printed",
            most.max(COUNTED)
        ))
        .hint("split the formula into parts, and draw the automaton of each")),
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

/// One state of a trace that was typed: the atoms that are true.
struct State(Vec<String>);

impl Record for State {
    fn field(&self, name: &str) -> Option<Seen<'_>> {
        self.0.iter().find_map(|atom| match atom.split_once('=') {
            Some((field, value)) if field == name => Some(match (value, value.parse::<f64>()) {
                ("true", _) => Seen::Bool(true),
                ("false", _) => Seen::Bool(false),
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

/// `a b; ; x=3`: states between semicolons, atoms between spaces or commas.
fn states(trace: &str) -> Vec<State> {
    if trace.trim().is_empty() {
        return Vec::new();
    }
    let atoms =
        |state: &str| state.split([' ', ',', '\t', '\n']).filter(|a| !a.is_empty()).map(str::to_owned).collect();
    trace.split(';').map(|state| State(atoms(state))).collect()
}

/// What a trace says of a formula.
struct Tried {
    holds: bool,
    values: Vec<bool>,
    because: Option<String>,
    /// After each step: what is owed and how it stands; nothing where progression does not read the formula.
    steps: Option<Vec<(String, &'static str)>>,
    ending: Option<&'static str>,
}

impl Tried {
    fn new(formulas: &Formulas, formula: Formula, states: &[State]) -> Result<Self, Failure> {
        let refused = |e: &dyn std::fmt::Display| Failure::usage(e.to_string());
        let labels = Labels::from_records(formulas, &[formula], states);
        let column = eval_all_positions(formulas, formula, &labels).map_err(|e| refused(&e))?;
        let check = check_trace(formulas, formula, &labels).map_err(|e| refused(&e))?;
        let mut progression = Progression::new();
        let (mut steps, mut ending) = (None, None);
        if let Ok(mut owed) = progression.begin(formulas, formula) {
            let mut told = Vec::new();
            let mut letter = Letter::new();
            for state in states {
                letter.assign_from_record(progression.formulas(), state);
                owed = progression.step(owed, &letter);
                // Bounded: what is owed shares its parts, and written out it can be a million times as long.
                told.push((progression.text(owed), standing(progression.prefix_verdict(owed))));
            }
            steps = Some(told);
            ending = Some(match progression.final_verdict(owed) {
                FinalVerdict::Satisfied => "satisfied",
                FinalVerdict::Violated => "violated",
                FinalVerdict::PresumablySatisfied => "presumably satisfied",
                FinalVerdict::PresumablyViolated => "presumably violated",
            });
        }
        Ok(Self {
            holds: check.holds(),
            values: (0..=states.len()).map(|position| column.holds_at(position)).collect(),
            because: check.explanation.as_ref().map(|e| e.text(formulas)),
            steps,
            ending,
        })
    }

    fn tell(&self, text: &mut String) {
        let last = self.values.len() - 1;
        let _ = writeln!(text, "\n{} on this trace", if self.holds { "holds" } else { "does not hold" });
        if let Some(because) = &self.because {
            let _ = writeln!(text, "because {because}");
        }
        let _ = writeln!(text, "\nposition  value  {}", if self.steps.is_some() { "owed after it" } else { "" });
        for (position, value) in self.values.iter().enumerate() {
            let name = if position == last { "end".to_owned() } else { position.to_string() };
            let owed = self.steps.as_ref().and_then(|steps| steps.get(position));
            let owed = owed.map_or_else(String::new, |(rest, standing)| format!("{rest}  ({standing})"));
            let line = format!("{name:>8}  {value:<5}  {owed}");
            let _ = writeln!(text, "{}", line.trim_end());
        }
        if let Some(ending) = self.ending {
            let _ = writeln!(text, "ending here: {ending}");
        }
    }

    fn json(&self) -> Value {
        let steps: Option<Vec<Value>> = self
            .steps
            .as_ref()
            .map(|steps| steps.iter().map(|(rest, standing)| json!({"owed": rest, "standing": standing})).collect());
        json!({"holds": self.holds, "holds_at": self.values, "because": self.because, "steps": steps, "ending": self.ending})
    }
}

fn standing(standing: PrefixVerdict) -> &'static str {
    match standing {
        PrefixVerdict::Satisfied => "satisfied",
        PrefixVerdict::Violated => "violated",
        PrefixVerdict::Undecided => "undecided",
    }
}

/// A line for each state and each of its edges.
fn table(dfa: &Dfa, formulas: &Formulas) -> String {
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
