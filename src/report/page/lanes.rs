//! A trace as swim lanes: a column for each process that acts and one for steps that no process is known to take, a row for
//! each state, arrows for messages and for the loop of a lasso.

use std::cmp::Ordering;

use serde::Serialize;
use serde_json::{Value, json};

use super::frame::{Html, render};
use super::messages::{Message, find_messages};
use crate::report::cut::cut;
use crate::tla::changes::Change;
use crate::tla::{Lasso, Step, Trace};

// All in pixels at the size in which the chart is drawn.
const ROW: usize = 38;
const HEAD: usize = 34;
const BOX_HEIGHT: usize = 26;
/// Between two boxes side by side.
const GAP: usize = 20;
/// For the numbers of the steps on the left, and for the arrow of a lasso on the right.
const MARGIN: usize = 40;
/// The width of a character of a label, rounded up.
const CHARACTER: usize = 7;

/// A lane for each of more processes would be wider than any screen.
const MAX_LANES: usize = 12;
/// Longest name of an element on its arrow, in characters.
const MAX_ELEMENT: usize = 14;

/// The lane of steps that no process is known to take.
const OTHERS: &str = "other steps";

#[derive(Serialize)]
struct Lane<'a> {
    name: &'a str,
    label: String,
    x: usize,
}

#[derive(Serialize)]
struct Node {
    at: usize,
    step: usize,
    label: String,
    x: usize,
    y: usize,
    width: usize,
    height: usize,
}

#[derive(Serialize)]
struct Arrow {
    path: String,
    title: String,
    label: String,
    /// The middle of the arrow.
    x: usize,
    y: usize,
    /// The rows of the step that adds the element and of the one that removes it.
    from: usize,
    to: usize,
}

/// The chart, with an arrow for each message. `id` is unique in the page. Of a long trace, what the script draws where it is
/// seen comes as data.
pub(super) fn lanes(
    id: &str,
    trace: &Trace,
    actors: &[Option<String>],
    changes: &[Vec<Change>],
    words: &str,
    is_long: bool,
) -> (Html, Option<Value>) {
    let layout = Layout::new(trace, actors);
    let steps = trace.steps.iter().enumerate();
    let nodes: Vec<Node> = steps.map(|(at, step)| layout.node(at, step)).collect();
    let arrows: Vec<Arrow> =
        find_messages(trace, changes, actors).iter().filter_map(|message| layout.arrow(message)).collect();
    let lane = |(at, name)| Lane { name, label: layout.cut(name), x: layout.center(at) };
    let lanes: Vec<Lane<'_>> = layout.names.iter().copied().enumerate().map(lane).collect();
    let bottom = HEAD + trace.steps.len() * ROW;
    let stutters = matches!(trace.lasso, Some(Lasso::Stuttering(true)));
    let back = layout.back(&nodes);
    let data = is_long.then(|| json!({ "nodes": nodes, "arrows": arrows, "row": ROW, "head": HEAD }));
    let html = render(
        "lanes",
        minijinja::context! {
            id, lanes, words, bottom, back,
            nodes => if is_long { Vec::new() } else { nodes },
            arrows => if is_long { Vec::new() } else { arrows },
            width => layout.width(),
            height => bottom + if stutters { ROW } else { 10 },
            head => HEAD,
            stutters => stutters.then_some(bottom + 16),
        },
    );
    (html, data)
}

struct Layout<'a> {
    trace: &'a Trace,
    actors: &'a [Option<String>],
    names: Vec<&'a str>,
    /// The width of a box.
    box_width: usize,
}

impl<'a> Layout<'a> {
    fn new(trace: &'a Trace, actors: &'a [Option<String>]) -> Self {
        // In the order in which they act, so that most arrows are short.
        let mut names: Vec<&str> = Vec::new();
        for name in actors.iter().flatten() {
            if !names.contains(&name.as_str()) {
                names.push(name);
            }
        }
        let has_others = actors.iter().skip(1).any(Option::is_none);
        if has_others || names.len() > MAX_LANES || names.is_empty() {
            names.truncate(MAX_LANES - 1);
            names.push(if names.is_empty() { "steps" } else { OTHERS });
        }
        let box_width = if names.len() > 3 { 112 } else { 140 };
        Self { trace, actors, names, box_width }
    }

    fn lane_of(&self, at: usize) -> usize {
        // The last lane is also that of processes without a lane of their own.
        let name = self.actors[at].as_deref();
        self.names.iter().position(|known| Some(*known) == name).unwrap_or(self.names.len() - 1)
    }

    fn center(&self, lane: usize) -> usize {
        let lane_width = self.box_width + GAP;
        MARGIN + lane * lane_width + lane_width / 2
    }

    fn width(&self) -> usize {
        MARGIN * 2 + self.names.len() * (self.box_width + GAP)
    }

    /// The middle of a row.
    fn row(at: usize) -> usize {
        HEAD + at * ROW + ROW / 2
    }

    fn cut(&self, text: &str) -> String {
        cut(text, self.box_width / CHARACTER)
    }

    fn node(&self, at: usize, step: &Step) -> Node {
        let is_initial = at == 0 && step.action.is_none();
        let label = match &step.action {
            Some(action) => self.label(action, step.branch.as_deref()),
            None => self.cut(if is_initial { "initial state" } else { "unknown action" }),
        };
        // The initial state is the step of no process.
        let (x, width) = if is_initial {
            (MARGIN + GAP / 2, self.width() - 2 * MARGIN - GAP)
        } else {
            (self.center(self.lane_of(at)) - self.box_width / 2, self.box_width)
        };
        Node { at, step: step.step, label, x, y: Self::row(at) - BOX_HEIGHT / 2, width, height: BOX_HEIGHT }
    }

    /// The action with its branch, or the branch alone, or the action alone, whichever is short enough.
    fn label(&self, action: &str, branch: Option<&str>) -> String {
        let most = self.box_width / CHARACTER;
        let Some(branch) = branch else { return cut(action, most) };
        let own = branch.strip_prefix(action).and_then(|rest| rest.strip_prefix(": ")).unwrap_or(branch);
        let all = [format!("{action}: {own}"), own.to_owned()];
        all.into_iter().find(|label| label.chars().count() <= most).unwrap_or_else(|| cut(action, most))
    }

    /// `None` for a message of a process to itself, which crosses nothing.
    fn arrow(&self, message: &Message) -> Option<Arrow> {
        let Message { sent, received, element } = message;
        let (from, to) = (self.center(self.lane_of(*sent)), self.center(self.lane_of(*received)));
        let half = self.box_width / 2;
        let (leaves, arrives) = match from.cmp(&to) {
            Ordering::Less => (from + half, to - half - 5),
            Ordering::Greater => (from - half, to + half + 5),
            Ordering::Equal => return None,
        };
        let (top, bottom) = (Self::row(*sent), Self::row(*received));
        let number = |at: usize| self.trace.steps[at].step;
        Some(Arrow {
            path: format!("M{leaves} {top} L{arrives} {bottom}"),
            title: format!("{element}: added in step {}, removed in step {}", number(*sent), number(*received)),
            label: cut(element, MAX_ELEMENT),
            x: usize::midpoint(leaves, arrives),
            y: usize::midpoint(top, bottom),
            from: *sent,
            to: *received,
        })
    }

    /// The arrow from the last state to the one with which a lasso continues.
    fn back(&self, nodes: &[Node]) -> Option<String> {
        let Some(Lasso::BackTo(step)) = self.trace.lasso else { return None };
        let last = nodes.len().checked_sub(1)?;
        let to = nodes.iter().position(|node| node.step == step)?;
        let right = |at: usize| nodes[at].x + nodes[at].width;
        // A state that repeats alone gets a small loop.
        let (leaves, arrives) = (Self::row(last) + 5, Self::row(to) - if to == last { 5 } else { 0 });
        Some(format!("M{} {leaves} H{} V{arrives} H{}", right(last) + 2, self.width() - MARGIN + 18, right(to) + 7))
    }
}
