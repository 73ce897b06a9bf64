//! The reachable states and the steps between them, for a picture. A child of our own program lists them with the embedded
//! checker's interpreter. It decides nothing: the verdict comes from a check.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use tlaforge_process::Status;
use tlaforge_tla::{Cfg, Module, SpecificationFormula, Trace};

use super::actions::Actions;
use super::core_program::Source;
use super::lint::is_name;
use super::plan::RunPlan;
use super::{CheckRequest, plan};

/// Prefix of the marker's value if the child lists states.
pub(super) const PREFIX: &str = "state-graph:";

/// The states that are reachable under a configuration, or only how many there are at each depth.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StateGraph {
    pub variables: Vec<String>,
    /// In breadth-first order. Empty if there are more than [`GraphLimits::shown`].
    pub states: Vec<GraphState>,
    /// By source, then in the order of the next-state relation. Steps that change nothing are left out.
    pub edges: Vec<GraphEdge>,
    /// The number of distinct states at each depth; the initial ones first.
    pub depths: Vec<usize>,
    /// The number of steps of each action.
    pub actions: BTreeMap<String, usize>,
    /// Whether all reachable states were found within [`GraphLimits::explored`].
    pub is_complete: bool,
    /// For each witness that is true in one of these states, or in one that a constraint cuts off: a shortest path to the
    /// first one. Without those that have more states than [`MAX_PATH`].
    #[serde(default)]
    pub paths: BTreeMap<String, Trace>,
}

/// Longest path to a witness that is listed, in states.
pub const MAX_PATH: usize = 200;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GraphState {
    /// In the order of [`StateGraph::variables`], as TLA+ text.
    pub values: Vec<String>,
    /// The number of steps of a shortest path from an initial state.
    pub depth: usize,
    /// The invariants that are false here.
    pub violated: Vec<String>,
    /// The witnesses that are true here.
    pub witnesses: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GraphEdge {
    pub from: usize,
    pub to: usize,
    /// The action, if it is known; several that explain the same step are joined by `, `.
    pub action: Option<String>,
}

/// How much of the graph is listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct GraphLimits {
    /// The largest number of states that are listed one by one.
    pub shown: usize,
    /// The number of states after which the exploration ends.
    pub explored: usize,
    /// Whether it also ends once each witness was reached.
    pub ends_with_witnesses: bool,
}

/// The child reads it from standard input.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Task {
    pub(super) source: Source,
    pub(super) limits: GraphLimits,
    /// The variable that holds the number of the last action, and the names of the actions.
    pub(super) label: Option<(String, Vec<String>)>,
    /// The invariants that are witnesses.
    pub(super) witnesses: Vec<String>,
}

impl Task {
    pub(super) fn to_json(&self) -> Vec<u8> {
        // Only a path that is not UTF-8 fails; the child then reports an incomplete task.
        serde_json::to_vec(self).unwrap_or_default()
    }
}

/// What a run needs to list the states of a request.
pub(super) struct GraphPlan {
    pub(super) plan: RunPlan,
    pub(super) label: Option<(String, Vec<String>)>,
    pub(super) witnesses: Vec<String>,
}

/// The plan of the run. Its module records the action of each step in a variable of its own, if the next-state relation can
/// be split into actions; states are compared without that variable.
pub(super) fn plan_graph(request: &CheckRequest, with_actions: bool) -> GraphPlan {
    let witnesses: Vec<String> = request.cfg.witnesses.iter().filter(|name| is_name(name)).cloned().collect();
    let invariants = request.cfg.invariants.iter().chain(&witnesses).cloned().collect();
    let cfg = Cfg {
        invariants,
        properties: Vec::new(),
        witnesses: Vec::new(),
        symmetry: Vec::new(),
        view: None,
        ..request.cfg.clone()
    };
    let labelled = if with_actions { record_actions(request, &cfg) } else { None };
    let (wrapper, label, cfg) = match labelled {
        Some((wrapper, label, cfg)) => (Some(wrapper), Some(label), cfg),
        None => (None, None, cfg),
    };
    let plan =
        RunPlan { label: "state graph".to_owned(), wrapper, deadlock: false, coverage: false, ..plan::safety(&cfg) };
    GraphPlan { plan, label, witnesses }
}

type Labelled = ((String, String), (String, Vec<String>), Cfg);

fn record_actions(request: &CheckRequest, cfg: &Cfg) -> Option<Labelled> {
    let actions = Actions::list(request).ok()?;
    let module = Module::parse(&request.spec.text).ok()?;
    let behaviour = SpecificationFormula::parse(&module, &request.cfg).ok()?;
    let prefix = &actions.prefix;
    let mut body = format!("VARIABLE {prefix}Taken\n");
    let init: Vec<String> = behaviour.init.iter().map(|part| format!("({part})")).collect();
    // Writing to a string cannot fail.
    let _ = writeln!(body, "{prefix}Init == {} /\\ {prefix}Taken = 0", init.join(" /\\ "));
    let numbers = 0..actions.disjuncts.actions.len();
    for action in numbers.clone() {
        // A formula of several lines must keep its columns, so it gets a definition of its own.
        let _ = writeln!(body, "{prefix}Is{action} == {}", actions.formula(action));
    }
    let taken = numbers.map(|action| format!("({prefix}Is{action} /\\ {prefix}Taken' = {})", action + 1));
    let _ = writeln!(body, "{prefix}Next == {}", taken.collect::<Vec<_>>().join(" \\/ "));
    let cfg = Cfg {
        specification: None,
        init: Some(format!("{prefix}Init")),
        next: Some(format!("{prefix}Next")),
        ..cfg.clone()
    };
    let names = actions.disjuncts.actions.iter().map(|action| action.name.clone()).collect();
    Some((actions.module(&request.spec, &body), (format!("{prefix}Taken"), names), cfg))
}

/// The graph that the child printed, or why it printed none.
pub(super) fn read_graph(status: Status, stdout: &str, stderr: &str) -> Result<StateGraph, String> {
    if status != Status::Exited(0) {
        let why = stderr.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("its run did not end in time");
        return Err(why.to_owned());
    }
    // What the specification prints comes before.
    let last = stdout.lines().next_back().unwrap_or_default();
    serde_json::from_str(last).map_err(|error| error.to_string())
}
