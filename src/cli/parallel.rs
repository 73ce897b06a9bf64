//! Does several pieces of work at a time: the cases of a suite, the runs of `forge-all`.

use futures_util::{StreamExt, stream};

use crate::exit::Exit;

/// Does all work, at most `jobs` pieces at a time, and returns the results in the order in which they ended. `ended` is
/// called after each, with the number that have ended.
pub(super) async fn do_in_parallel<W: Future>(
    work: impl IntoIterator<Item = W>,
    jobs: usize,
    mut ended: impl FnMut(&W::Output, usize),
) -> Vec<W::Output> {
    let mut running = stream::iter(work).buffer_unordered(jobs);
    let mut results = Vec::new();
    while let Some(result) = running.next().await {
        ended(&result, results.len() + 1);
        results.push(result);
    }
    results
}

/// The exit status of a command that did several pieces of work.
pub(super) fn worst_exit(all: impl IntoIterator<Item = Exit>) -> Exit {
    all.into_iter().max_by_key(|exit| rank(*exit)).unwrap_or(Exit::Ok)
}

/// A missing result ranks above a bad result.
fn rank(exit: Exit) -> u8 {
    match exit {
        Exit::Ok => 0,
        Exit::Negative => 1,
        Exit::Undecided => 2,
        Exit::Usage => 3,
        // Above a defect: after an interruption, the other results are incomplete.
        Exit::Interrupted => 9,
        Exit::Defect => 8,
        _ => 4,
    }
}
