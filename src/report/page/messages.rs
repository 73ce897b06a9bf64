//! What a trace shows of communication: which process takes a step, and which step receives what another has sent.

use crate::tla::changes::{Change, Difference, changes};
use crate::tla::{Module, Step, Trace, acting_process, first_process};

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

/// The messages of a trace, sent first received first if several elements are equal. `actors` are the processes of its
/// steps. A record, a tuple, an entry of a sequence or a string counts; a process, as in a set of lock holders, does not.
pub(super) fn find_messages(trace: &Trace, changes: &[Vec<Change>], actors: &[Option<String>]) -> Vec<Message> {
    let mut under_way: Vec<(usize, &str, &str)> = Vec::new();
    let mut found = Vec::new();
    for (at, change) in changes.iter().enumerate().flat_map(|(at, all)| all.iter().map(move |change| (at, change))) {
        let place = without_index(&change.path);
        match &change.difference {
            Difference::Added { value } if is_message(&trace.steps[at], &change.path, value, actors) => {
                under_way.push((at, place, value));
            }
            Difference::Removed { value } => {
                let sent = under_way
                    .iter()
                    .position(|(sent, known, element)| *sent < at && *known == place && element == value);
                if let Some((sent, _, element)) = sent.map(|at| under_way.remove(at)) {
                    found.push(Message { sent, received: at, element: element.to_owned() });
                }
            }
            Difference::Added { .. } | Difference::Replaced { .. } => {}
        }
    }
    found
}

fn is_message(step: &Step, path: &str, value: &str, actors: &[Option<String>]) -> bool {
    let is_structured = value.starts_with('[') || value.starts_with("<<");
    let variable = path.split(['[', '.']).next().unwrap_or(path);
    let is_sequence = step.state.get(variable).is_some_and(|whole| whole.trim_start().starts_with("<<"));
    let is_in_sequence = is_sequence && without_index(path) == variable && path != variable;
    let name = value.trim_matches('"');
    let is_process = actors.iter().flatten().any(|process| process == name || process == value);
    is_structured || is_in_sequence || value.starts_with('"') && !is_process
}

/// The place of a sequence, from that of one of its entries.
fn without_index(path: &str) -> &str {
    let index = path.strip_suffix(']').and_then(|rest| rest.rsplit_once('['));
    match index {
        Some((place, index)) if index.bytes().all(|byte| byte.is_ascii_digit()) => place,
        _ => path,
    }
}

/// The process that took each step: see [`acting_process`] and [`first_process`]. Traces of older journals do not name a
/// single process, so it is found by the label. `None` for the first state, and if the process is unknown.
pub(super) fn actors(trace: &Trace, module: Option<&Module>) -> Vec<Option<String>> {
    let single = |step: &Step| {
        let module = module?;
        let process = module.algorithm.as_ref()?.single_process(step.action.as_deref()?, &module.source)?;
        Some(process.to_owned())
    };
    let actor = |pair: &[Step]| {
        let step = &pair[1];
        acting_process(&pair[0], step).or_else(|| single(step)).or_else(|| first_process(step))
    };
    trace.steps.first().map(|_| None).into_iter().chain(trace.steps.windows(2).map(actor)).collect()
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
        let messages = |trace: &Trace| find_messages(trace, &changes_by_step(trace), &[None, Some("p".to_owned())]);
        let sets =
            trace(&[&[("msgs", "{}")], &[("msgs", "{<<1>>}")], &[("msgs", "{<<1>>, <<2>>}")], &[("msgs", "{<<2>>}")]]);
        let expected = Message { sent: 1, received: 3, element: "<<1>>".to_owned() };
        assert_eq!(messages(&sets), [expected]);
        let queue =
            trace(&[&[("q", "<<>>")], &[("q", "<<7>>")], &[("q", "<<7, 7>>")], &[("q", "<<7>>")], &[("q", "<<>>")]]);
        let places: Vec<(usize, usize)> = messages(&queue).iter().map(|m| (m.sent, m.received)).collect();
        assert_eq!(places, [(1, 3), (2, 4)]);
        // A lock that a process holds, and an entry of a function.
        for [before, after] in [["{}", "{p}"], ["{}", "{\"p\"}"], ["{}", "{7}"], ["(1 :> 0)", "(1 :> 0 @@ 2 :> 7)"]] {
            let held = trace(&[&[("held", before)], &[("held", after)], &[("held", before)]]);
            assert_eq!(messages(&held), [], "{after}");
        }
    }

    #[test]
    fn a_step_belongs_to_the_process_that_is_its_argument_or_whose_pc_changed() {
        let start: &[(&str, &str)] = &[("n", "(a :> 0 @@ b :> 0)"), ("pc", "(a :> 1 @@ b :> 1)")];
        let moved: &[(&str, &str)] = &[("n", "(a :> 0 @@ b :> 0)"), ("pc", "(a :> 2 @@ b :> 1)")];
        let counted: &[(&str, &str)] = &[("n", "(a :> 5 @@ b :> 0)"), ("pc", "(a :> 2 @@ b :> 1)")];
        let mut trace = trace(&[start, moved, counted]);
        // Whose entry of a function changes says nothing: a process may write into the entry of another one.
        assert_eq!(actors(&trace, None), [None, Some("a".to_owned()), None]);
        trace.steps[2].arguments = Some("b".to_owned());
        assert_eq!(actors(&trace, None)[2].as_deref(), Some("b"));
    }
}
