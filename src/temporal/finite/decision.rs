//! When a trace's verdict was decided: after how many records no continuation could have changed it.

use super::super::formula::{Formula, Node};
use super::bounds;
use super::column::Labels;
use super::future::Future;
use super::sweep::{Readable, Table};

/// What decided a verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Decided {
    /// Nothing: every trace has this verdict.
    FromTheStart,
    /// The record at this position: before it, another verdict was still possible; after it, no continuation changes the
    /// verdict, and ending there does not.
    ByRecord(usize),
    /// The end of the trace: some continuation of the whole trace has the other verdict.
    ByTheEnd,
}

/// What decided the verdict of `root`, and whether that is exact; if not, it may have been decided earlier, never later.
///
/// Atoms are taken to be independent of each other in what could have followed.
pub(super) fn decided(readable: &Readable<'_>, table: &Table<'_>, root: Formula, labels: &Labels) -> (Decided, bool) {
    let holds = |part| super::words::bit(table.words(part), 0);
    let verdict = holds(root);
    let by_future = |part| Future::new(readable, part)?.decided(table, labels.len(), verdict);
    if let Some(found) = by_future(root) {
        return found;
    }
    // A violated conjunct violates the conjunction, a satisfied disjunct satisfies the disjunction.
    let bound = bounds::decided(readable, root, labels, verdict);
    let parts = match (readable.formulas.node(root), verdict) {
        (Node::And(parts), false) | (Node::Or(parts), true) => &**parts,
        _ => &[],
    };
    let parts = parts.iter().filter(|part| holds(**part) == verdict);
    (parts.filter_map(|part| by_future(*part)).map(|(decided, _)| decided).fold(bound, Decided::min), false)
}
