//! A trace as swim lanes: a column for each process that acts and one for steps that no process is known to take, a row for
//! each state, arrows for messages and for the loop of a lasso.

use std::collections::BTreeMap;

use serde::Serialize;

use super::frame::{Html, render};
use super::messages::{Message, find_messages};
use crate::tla::changes::Change;
use crate::tla::{Lasso, Trace};

/// All in pixels at the size in which the chart is drawn.
const ROW: usize = 38;
const HEAD: usize = 34;
const LANE: usize = 138;
const BOX: usize = 118;
/// For the numbers of the steps on the left, and for the arrow of a lasso on the right.
const MARGIN: usize = 40;
/// Number of characters of a label that fit into a box.
const LABEL: usize = 16;
/// A lane for each of more processes would be wider than any screen.
const MAX_LANES: usize = 12;

/// The lane of steps that no process is known to take.
const OTHERS: &str = "other steps";

#[derive(Serialize)]
struct Lane {
    name: String,
    label: String,
    x: usize,
}

#[derive(Serialize)]
struct Node {
    step: usize,
    label: String,
    title: String,
    /// The left edge, and the top.
    x: usize,
    y: usize,
    width: usize,
}

#[derive(Serialize)]
struct Arrow {
    path: String,
    title: String,
}

/// The chart, with an arrow for each message.
pub(super) fn lanes(trace: &Trace, actors: &[Option<String>], changes: &[Vec<Change>], words: &str) -> Html {
    let names = lane_names(actors);
    let place_of = |at: usize| {
        let name = actors[at].as_deref().unwrap_or(OTHERS);
        names.iter().position(|known| known == name).unwrap_or(names.len().saturating_sub(1))
    };
    let center = |lane: usize| MARGIN + lane * LANE + LANE / 2;
    let row = |at: usize| HEAD + at * ROW + ROW / 2;
    let width = MARGIN * 2 + names.len().max(1) * LANE;
    let nodes: Vec<Node> = trace
        .steps
        .iter()
        .enumerate()
        .map(|(at, step)| {
            let is_initial = at == 0 && step.action.is_none();
            let action = step.action.as_deref().unwrap_or(if is_initial { "initial state" } else { "unknown action" });
            // The initial state is nobody's step.
            let (x, wide) = if is_initial {
                (MARGIN + 10, names.len().max(1) * LANE - 20)
            } else {
                (center(place_of(at)) - BOX / 2, BOX)
            };
            let by = actors[at].as_ref().map_or_else(String::new, |name| format!(" of {name}"));
            Node {
                step: step.step,
                label: shorten(action),
                title: format!("Step {}: {action}{by}", step.step),
                x,
                y: row(at) - 13,
                width: wide,
            }
        })
        .collect();
    let arrows = find_messages(changes).into_iter().filter_map(|Message { sent, received, element }| {
        let (from, to) = (place_of(sent), place_of(received));
        // Between a lane and itself there is nothing to cross.
        let (leaves, arrives) = match from.cmp(&to) {
            std::cmp::Ordering::Less => (center(from) + BOX / 2, center(to) - BOX / 2 - 5),
            std::cmp::Ordering::Greater => (center(from) - BOX / 2, center(to) + BOX / 2 + 5),
            std::cmp::Ordering::Equal => return None,
        };
        let title = format!(
            "{element}: sent in step {}, received in step {}",
            trace.steps[sent].step, trace.steps[received].step
        );
        Some(Arrow { path: format!("M{leaves} {} L{arrives} {}", row(sent), row(received)), title })
    });
    let arrows: Vec<Arrow> = arrows.collect();
    let lanes: Vec<Lane> = names
        .iter()
        .enumerate()
        .map(|(at, name)| Lane { name: name.clone(), label: shorten(name), x: center(at) })
        .collect();
    let last = trace.steps.len().saturating_sub(1);
    let end = width - MARGIN + 4;
    let right_edge = |at: usize| nodes.get(at).map_or(end, |node| node.x + node.width + 2);
    let back = match trace.lasso {
        Some(Lasso::BackTo(step)) => {
            let to = trace.steps.iter().position(|known| known.step == step).unwrap_or(last);
            // A state that repeats alone gets a small loop.
            let (from_y, to_y) = (row(last) + 5, row(to) - if to == last { 5 } else { 0 });
            let (leaves, arrives, side) = (right_edge(last), right_edge(to) + 5, end + 14);
            Some(format!("M{leaves} {from_y} H{side} V{to_y} H{arrives}"))
        }
        _ => None,
    };
    let stutters = matches!(trace.lasso, Some(Lasso::Stuttering(true)));
    let height = HEAD + trace.steps.len() * ROW + if stutters { ROW } else { 10 };
    render(
        "lanes",
        minijinja::context! {
            width, height, lanes, nodes, arrows, back, words,
            head => HEAD,
            bottom => HEAD + trace.steps.len() * ROW,
            box_height => 26,
            stutters => stutters.then(|| HEAD + trace.steps.len() * ROW + 16),
        },
    )
}

fn lane_names(actors: &[Option<String>]) -> Vec<String> {
    let mut seen: BTreeMap<&str, ()> = BTreeMap::new();
    // Sorted by name, so that two traces of one model have the same order; the lane without a process comes last.
    for name in actors.iter().flatten() {
        seen.insert(name, ());
    }
    let mut names: Vec<String> = seen.into_keys().map(str::to_owned).collect();
    let has_others = actors.iter().skip(1).any(Option::is_none);
    if has_others || names.len() > MAX_LANES || names.is_empty() {
        names.truncate(MAX_LANES - 1);
        names.push(OTHERS.to_owned());
    }
    names
}

fn shorten(text: &str) -> String {
    if text.chars().count() <= LABEL {
        return text.to_owned();
    }
    text.chars().take(LABEL - 1).chain(['\u{2026}']).collect()
}
