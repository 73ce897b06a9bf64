//! The graph of the reachable states. The script draws it, because it can also be merged by a variable; without the script,
//! and of a larger graph, the page has the number of states by depth and of steps by action.

use serde::Serialize;
use serde_json::{Value, json};

use super::frame::{Section, render};
use crate::report::counted;
use crate::tla::{Trace, canonical};
use crate::toolchain::{GraphState, StateGraph};

/// Width of the longest bar in pixels.
const BAR: usize = 160;
/// More depths are counted together.
const MOST_DEPTHS: usize = 50;

/// The section, and its data for the script.
///
/// With a constraint, a state without listed successors may have some outside of it.
pub(super) fn graph_section(
    listed: &Result<StateGraph, String>,
    trace: Option<&Trace>,
    is_constrained: bool,
) -> (Section, Value) {
    let section = |note: Option<String>, body| Section { id: "states", title: "State graph".to_owned(), note, body };
    let graph = match listed {
        Ok(graph) => graph,
        Err(why) => {
            let lines = [format!("The states are not listed: {why}")];
            return (section(None, render("lines", minijinja::context! { lines })), Value::Null);
        }
    };
    let all: usize = graph.depths.iter().sum();
    let at_least = if graph.is_complete { "" } else { "at least " };
    let is_drawn = !graph.states.is_empty();
    let words = format!(
        "{at_least}{}{}, {} deep{}",
        counted(all as u64, "reachable state"),
        if is_constrained { " within the constraint" } else { "" },
        graph.depths.len().saturating_sub(1),
        if is_drawn { "" } else { ": too many to draw one by one" }
    );
    let depths = bars(depth_rows(&graph.depths));
    let actions = bars(graph.actions.iter().map(|(action, count)| (action.clone(), *count)));
    let body = render(
        "state_graph",
        minijinja::context! { words, is_drawn, is_constrained, depths, actions, variables => graph.variables },
    );
    (
        section(Some(format!("{at_least}{all}")), body),
        if is_drawn { data(graph, trace, is_constrained) } else { Value::Null },
    )
}

#[derive(Serialize)]
struct BarRow {
    name: String,
    count: usize,
    width: usize,
}

/// The number of states of each depth, or of each range of depths if there are many.
fn depth_rows(depths: &[usize]) -> impl Iterator<Item = (String, usize)> {
    let size = depths.len().div_ceil(MOST_DEPTHS).max(1);
    depths.chunks(size).enumerate().map(move |(at, counts)| {
        let (from, to) = (at * size, at * size + counts.len() - 1);
        (if from == to { from.to_string() } else { format!("{from} to {to}") }, counts.iter().sum())
    })
}

fn bars(rows: impl Iterator<Item = (String, usize)>) -> Vec<BarRow> {
    let rows: Vec<(String, usize)> = rows.collect();
    let most = rows.iter().map(|(_, count)| *count).max().unwrap_or(0).max(1);
    rows.into_iter().map(|(name, count)| BarRow { name, count, width: (count * BAR / most).max(1) }).collect()
}

fn data(graph: &StateGraph, trace: Option<&Trace>, is_constrained: bool) -> Value {
    let state = |state: &GraphState| json!([state.values, state.depth, state.violated, state.witnesses]);
    let number = |step: &crate::tla::Step| {
        let same = |state: &GraphState| {
            let mut pairs = graph.variables.iter().zip(&state.values);
            pairs.all(|(name, value)| step.state.get(name).is_some_and(|known| canonical(known) == canonical(value)))
        };
        graph.states.iter().position(same)
    };
    // Only a whole counterexample is chosen: without one of its states, it would seem to end elsewhere.
    let steps: Option<Vec<usize>> = trace.iter().flat_map(|trace| &trace.steps).map(number).collect();
    json!({
        "constrained": is_constrained,
        "variables": graph.variables,
        "states": graph.states.iter().map(state).collect::<Vec<_>>(),
        "edges": graph.edges.iter().map(|edge| json!([edge.from, edge.to, edge.action])).collect::<Vec<_>>(),
        "trace": steps,
    })
}
