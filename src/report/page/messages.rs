//! What a trace shows of communication: which process takes a step, and which step receives what another has sent.

use std::collections::BTreeSet;

use super::listing::process_name;
use crate::tla::changes::{Change, Difference, changes};
use crate::tla::{Module, Trace, acting_process};

/// An element that one step adds to a set or a sequence and a later one removes. Both are indices of steps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Message {
    pub sent: usize,
    pub received: usize,
    pub element: String,
}

/// The changes of each step since the one before; none for the first state.
pub(super) fn changes_by_step(trace: &Trace) -> Vec<Vec<Change>> {
    let pairs = trace.steps.windows(2).map(|pair| changes(&pair[0], &pair[1]));
    trace.steps.first().map(|_| Vec::new()).into_iter().chain(pairs).collect()
}

/// The messages of a trace. What was sent first is received first if several elements are equal.
pub(super) fn find_messages(changes: &[Vec<Change>]) -> Vec<Message> {
    let mut under_way: Vec<(usize, &str, &str)> = Vec::new();
    let mut found = Vec::new();
    for (at, change) in changes.iter().enumerate().flat_map(|(at, all)| all.iter().map(move |change| (at, change))) {
        let place = without_index(&change.path);
        match &change.difference {
            Difference::Added { value } => under_way.push((at, place, value)),
            Difference::Removed { value } => {
                let sent = under_way
                    .iter()
                    .position(|(sent, known, element)| *sent < at && *known == place && element == value);
                if let Some((sent, _, element)) = sent.map(|at| under_way.remove(at)) {
                    found.push(Message { sent, received: at, element: element.to_owned() });
                }
            }
            Difference::Replaced { .. } => {}
        }
    }
    found
}

/// The place of a sequence, from that of one of its entries.
fn without_index(path: &str) -> &str {
    let index = path.strip_suffix(']').and_then(|rest| rest.rsplit_once('['));
    match index {
        Some((place, index)) if index.bytes().all(|byte| byte.is_ascii_digit()) => place,
        _ => path,
    }
}

/// The process that took each step: the argument of its action; otherwise the only one whose `pc` changed; otherwise the one known process whose entries of
/// functions changed; in a module without `pc`, the first argument of the action; otherwise the process in the algorithm that has
/// the label.
pub(super) fn actors(trace: &Trace, changes: &[Vec<Change>], module: Option<&Module>) -> Vec<Option<String>> {
    let by_pc = trace.steps.windows(2).map(|pair| acting_process(&pair[0], &pair[1]));
    let by_pc: Vec<Option<String>> = std::iter::once(None).chain(by_pc).collect();
    let known: BTreeSet<&str> = by_pc.iter().flatten().map(String::as_str).collect();
    let actor = |(at, found): (usize, &Option<String>)| {
        let keys: BTreeSet<&str> =
            changes[at].iter().filter_map(|change| first_key(&change.path)).filter(|key| known.contains(key)).collect();
        let by_key = || keys.first().filter(|_| keys.len() == 1).map(|key| (*key).to_owned());
        // With `pc`, the arguments are the process.
        let by_arguments = || {
            let arguments = trace.steps[at].arguments.as_deref()?;
            if known.is_empty() { first_argument(arguments) } else { Some(arguments.to_owned()) }
        };
        let by_call = || {
            let (_, arguments) = trace.steps[at].action.as_deref()?.split_once('(')?;
            first_argument(arguments).filter(|first| known.is_empty() && !first.starts_with("line "))
        };
        let by_label = || process_name(module?, trace.steps[at].action.as_deref()?).map(str::to_owned);
        by_arguments().or_else(|| found.clone()).or_else(by_key).or_else(by_call).or_else(by_label)
    };
    by_pc.iter().enumerate().take(trace.steps.len()).map(actor).collect()
}

fn first_argument(arguments: &str) -> Option<String> {
    let first = arguments.split([',', ')']).next()?.trim();
    (!first.is_empty()).then(|| first.to_owned())
}

/// The key of a function at the start of a path: `w1` of `ver[w1].x`.
fn first_key(path: &str) -> Option<&str> {
    path.split_once('[')?.1.split_once(']').map(|(key, _)| key)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn trace(states: &[&[(&str, &str)]]) -> Trace {
        let mut trace = Trace::default();
        for (at, state) in states.iter().enumerate() {
            let state: BTreeMap<String, String> =
                state.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
            trace.push(at + 1, Some("A".to_owned()), state);
        }
        trace
    }

    #[test]
    fn an_element_that_is_added_and_later_removed_is_a_message() {
        let sets = trace(&[&[("msgs", "{}")], &[("msgs", "{1}")], &[("msgs", "{1, 2}")], &[("msgs", "{2}")]]);
        let expected = Message { sent: 1, received: 3, element: "1".to_owned() };
        assert_eq!(find_messages(&changes_by_step(&sets)), [expected]);
        let queue =
            trace(&[&[("q", "<<>>")], &[("q", "<<7>>")], &[("q", "<<7, 7>>")], &[("q", "<<7>>")], &[("q", "<<>>")]]);
        let places: Vec<(usize, usize)> =
            find_messages(&changes_by_step(&queue)).iter().map(|m| (m.sent, m.received)).collect();
        assert_eq!(places, [(1, 3), (2, 4)]);
    }

    #[test]
    fn a_step_that_leaves_pc_belongs_to_the_process_whose_entry_changed() {
        let start: &[(&str, &str)] = &[("n", "(a :> 0 @@ b :> 0)"), ("pc", "(a :> 1 @@ b :> 1)")];
        let moved: &[(&str, &str)] = &[("n", "(a :> 0 @@ b :> 0)"), ("pc", "(a :> 2 @@ b :> 1)")];
        let counted: &[(&str, &str)] = &[("n", "(a :> 5 @@ b :> 0)"), ("pc", "(a :> 2 @@ b :> 1)")];
        let trace = trace(&[start, moved, counted]);
        let actors = actors(&trace, &changes_by_step(&trace), None);
        assert_eq!(actors, [None, Some("a".to_owned()), Some("a".to_owned())]);
    }
}
