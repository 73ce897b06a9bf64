//! The rows of a message sequence chart, computed from the journal of a run. Rows are in the order of the journal, which
//! respects causality; if the vector clocks do not order two events, the later row says so.

use super::words;
use std::collections::BTreeMap;

use crate::pipeline::{Entry, Routed, RunEvent, is_lifeline, lifelines as run_lifelines};

/// The lifeline of the model, which has no events in the journal.
const MODEL: &str = "model";
const RUN: &str = "run";

/// A journal has an invalid vector clock.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("event {seq} of the journal has a vector clock that {what}")]
pub struct ChartError {
    pub seq: u64,
    pub what: &'static str,
}

/// A run as columns and rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chart {
    pub(in crate::report) lifelines: Vec<String>,
    pub(in crate::report) rows: Vec<Row>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::report) struct Row {
    pub(in crate::report) seq: u64,
    /// Earlier rows with events that are concurrent with this one.
    beside: Vec<u64>,
    pub(in crate::report) drawn: Drawn,
    words: String,
}

/// `from`, `to` and `at` are indices of lifelines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::report) enum Drawn {
    Arrow {
        from: usize,
        to: usize,
        line: Line,
    },
    Note {
        at: usize,
    },
    /// Across the whole chart.
    Separator,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::report) enum Line {
    Solid,
    /// An answer.
    Dashed,
    /// A failed call.
    Broken,
}

/// The number of events on each lifeline that an event could know of, by index of the lifeline.
type Counts = Vec<usize>;

impl Chart {
    /// Computes the chart of a journal.
    ///
    /// # Errors
    /// A vector clock that contradicts the events before it.
    pub fn new(events: &[Entry]) -> Result<Self, ChartError> {
        let lifelines = lifelines(events);
        let places: BTreeMap<&str, usize> =
            lifelines.iter().enumerate().map(|(at, name)| (name.as_str(), at)).collect();
        let clocks = read_clocks(events, &places)?;
        let journal = Journal { messages: find_messages(events, &places, &clocks), events, places: &places };
        let mut of_lifeline: Vec<Vec<u64>> = vec![Vec::new(); lifelines.len()];
        let mut rows = Vec::new();
        for (at, event) in events.iter().enumerate() {
            // The events of one lifeline are ordered. This event could know of the first `known` of them; the others
            // before it in the journal are concurrent with it.
            let mut beside: Vec<u64> = of_lifeline
                .iter()
                .zip(&clocks[at])
                .flat_map(|(seqs, known)| &seqs[*known.min(&seqs.len())..])
                .copied()
                .collect();
            beside.sort_unstable();
            of_lifeline[places[event.lifeline.as_str()]].push(event.seq);
            let row = |(drawn, words)| Row { seq: event.seq, beside: beside.clone(), drawn, words };
            rows.extend(journal.draw_event(at).into_iter().map(row));
        }
        Ok(Self { lifelines, rows })
    }

    /// Whether some events are not ordered by their clocks.
    pub(super) fn has_concurrent_events(&self) -> bool {
        self.rows.iter().any(|row| !row.beside.is_empty())
    }
}

impl Row {
    /// The words, with the numbers of concurrent events.
    pub(in crate::report) fn text(&self) -> String {
        if self.beside.is_empty() {
            self.words.clone()
        } else {
            format!("{BESIDE} {}: {}", ranges(&self.beside), self.words)
        }
    }
}

/// The sign for "parallel".
pub(super) const BESIDE: char = '\u{2225}';

/// What [`BESIDE`] means.
pub(super) const BESIDE_MEANS: &str = "before numbers: concurrent events; the order of their rows has no meaning";

/// Formats `3, 5-7`, with at most three ranges.
fn ranges(seqs: &[u64]) -> String {
    const SHOWN: usize = 3;
    let mut runs: Vec<(u64, u64)> = Vec::new();
    for &seq in seqs {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == seq => *last = seq,
            _ => runs.push((seq, seq)),
        }
    }
    let one = |(first, last): &(u64, u64)| if first == last { first.to_string() } else { format!("{first}-{last}") };
    let mut shown: Vec<String> = runs.iter().take(SHOWN).map(one).collect();
    if runs.len() > SHOWN {
        shown.push("\u{2026}".to_owned());
    }
    shown.join(", ")
}

/// Lifelines with events or received messages: first those of every run in their usual order, then others, then the
/// model.
fn lifelines(events: &[Entry]) -> Vec<String> {
    let mut seen: Vec<&str> = Vec::new();
    for event in events {
        let routed = event.event.try_as_routed_ref();
        let to = routed.map(|routed| routed.to.as_str()).filter(|to| is_lifeline(to));
        for name in std::iter::once(event.lifeline.as_str()).chain(to) {
            if !seen.contains(&name) {
                seen.push(name);
            }
        }
    }
    if events.iter().any(|event| event.event.is_routed()) && !seen.contains(&RUN) {
        seen.push(RUN);
    }
    let usual = |name: &&str| run_lifelines().position(|known| known == *name).unwrap_or(usize::MAX);
    // The sort is stable: other lifelines keep the order of their first events.
    seen.sort_by_key(usual);
    let is_asked = |event: &RunEvent| {
        matches!(event, RunEvent::RequestSent(_) | RunEvent::AnswerReceived(_) | RunEvent::CallFailed(_))
    };
    let asked = events.iter().any(|event| is_asked(&event.event));
    if asked && !seen.contains(&MODEL) {
        seen.push(MODEL);
    }
    seen.into_iter().map(str::to_owned).collect()
}

/// Converts the vector clocks, and validates them.
fn read_clocks(events: &[Entry], places: &BTreeMap<&str, usize>) -> Result<Vec<Counts>, ChartError> {
    let mut counts = vec![0; places.len()];
    let mut all = Vec::with_capacity(events.len());
    for event in events {
        let wrong = |what| ChartError { seq: event.seq, what };
        let own = places[event.lifeline.as_str()];
        counts[own] += 1;
        let mut clock = vec![0; places.len()];
        for (name, count) in &event.vc {
            let count = usize::try_from(*count).unwrap_or(usize::MAX);
            match places.get(name.as_str()) {
                Some(&at) if count <= counts[at] => clock[at] = count,
                _ => return Err(wrong("counts events that are not before it")),
            }
        }
        if clock[own] != counts[own] {
            return Err(wrong("does not count its own lifeline's events"));
        }
        all.push(clock);
    }
    Ok(all)
}

/// A message from a routing decision to the attempt, or end of the run, that it leads to.
struct Message {
    sent: usize,
    to: usize,
    arrived: Option<usize>,
}

/// The routing decisions, each with the first event of the receiver that knows of it.
fn find_messages(events: &[Entry], places: &BTreeMap<&str, usize>, clocks: &[Counts]) -> Vec<Message> {
    let mut all: Vec<Message> = Vec::new();
    let mut under_way: Vec<usize> = Vec::new();
    for (at, event) in events.iter().enumerate() {
        let here = places[event.lifeline.as_str()];
        let knows = |sent: usize| {
            let from = places[events[sent].lifeline.as_str()];
            clocks[at][from] >= clocks[sent][from]
        };
        match &event.event {
            RunEvent::Routed(routed) => {
                // A decision that ends the run (`to` is an outcome) is received by the lifeline `run`.
                let to = places.get(routed.to.as_str()).or(places.get(RUN));
                let Some(&to) = to else { continue };
                under_way.push(all.len());
                all.push(Message { sent: at, to, arrived: None });
            }
            // Only these events receive a decision, and only if their clock includes it: with candidates, attempts run
            // in parallel.
            RunEvent::AttemptStarted(_) | RunEvent::RunFinished(_) => under_way.retain(|&n| {
                let arrives = all[n].to == here && knows(all[n].sent);
                if arrives {
                    all[n].arrived = Some(at);
                }
                !arrives
            }),
            // A branch abandons earlier decisions.
            RunEvent::BranchStarted(_) => under_way.retain(|&n| !knows(all[n].sent)),
            RunEvent::RunStarted(_)
            | RunEvent::RunResumed(_)
            | RunEvent::RequestSent(_)
            | RunEvent::AnswerReceived(_)
            | RunEvent::AnswerAccepted(_)
            | RunEvent::AnswerOffered(_)
            | RunEvent::Labelled(_)
            | RunEvent::Intervened(_)
            | RunEvent::Predicted(_)
            | RunEvent::AnswerNormalised(_)
            | RunEvent::PartTaken(_)
            | RunEvent::PartMissing(_)
            | RunEvent::CallFailed(_)
            | RunEvent::ModelSwitched(_)
            | RunEvent::RequestPartOmitted(_)
            | RunEvent::ReadRefused(_)
            | RunEvent::AnswerUnreadable(_)
            | RunEvent::ToolFinished(_)
            | RunEvent::CheckFinished(_)
            | RunEvent::CandidateStarted(_)
            | RunEvent::QuickCheckFinished(_)
            | RunEvent::CandidateFinished(_)
            | RunEvent::CandidateReceived(_)
            | RunEvent::CandidateAbandoned(_)
            | RunEvent::LeadersSelected(_)
            | RunEvent::LeaderNotified(_)
            | RunEvent::CandidateChosen(_)
            | RunEvent::MutantsJudged(_)
            | RunEvent::MutantsSampled(_)
            | RunEvent::PropertiesRead(_)
            | RunEvent::AttemptFinished(_)
            | RunEvent::GuardEvaluated(_)
            | RunEvent::ClaimsRestored(_)
            | RunEvent::RevisionClosed(_)
            | RunEvent::RuleViolated(_) => {}
        }
    }
    all
}

struct Journal<'a> {
    events: &'a [Entry],
    places: &'a BTreeMap<&'a str, usize>,
    messages: Vec<Message>,
}

impl Journal<'_> {
    fn draw_event(&self, at: usize) -> Vec<(Drawn, String)> {
        let entry = &self.events[at];
        let here = self.places[entry.lifeline.as_str()];
        let model = self.places.get(MODEL).copied().unwrap_or(here);
        let note = Drawn::Note { at: here };
        let (drawn, request) = match &entry.event {
            // The decision that follows it is drawn instead.
            RunEvent::AttemptFinished(_) => return Vec::new(),
            RunEvent::Routed(routed) => {
                let sent = self.messages.iter().filter(|m| m.sent == at);
                return sent.map(|m| self.draw_sent(m, here, routed)).collect();
            }
            RunEvent::AttemptStarted(_) | RunEvent::RunFinished(_) => return self.draw_arrivals(at, here),
            RunEvent::RequestSent(_) => (Drawn::Arrow { from: here, to: model, line: Line::Solid }, None),
            RunEvent::AnswerReceived(answer) => {
                (Drawn::Arrow { from: model, to: here, line: Line::Dashed }, Some(answer.request))
            }
            RunEvent::CallFailed(failed) => {
                (Drawn::Arrow { from: model, to: here, line: Line::Broken }, Some(failed.request))
            }
            RunEvent::BranchStarted(_) | RunEvent::RevisionClosed(_) => (Drawn::Separator, None),
            RunEvent::RunStarted(_)
            | RunEvent::RunResumed(_)
            | RunEvent::AnswerAccepted(_)
            | RunEvent::AnswerOffered(_)
            | RunEvent::Labelled(_)
            | RunEvent::Intervened(_)
            | RunEvent::Predicted(_)
            | RunEvent::AnswerNormalised(_)
            | RunEvent::PartTaken(_)
            | RunEvent::PartMissing(_)
            | RunEvent::ModelSwitched(_)
            | RunEvent::RequestPartOmitted(_)
            | RunEvent::ReadRefused(_)
            | RunEvent::AnswerUnreadable(_)
            | RunEvent::ToolFinished(_)
            | RunEvent::CheckFinished(_)
            | RunEvent::CandidateStarted(_)
            | RunEvent::QuickCheckFinished(_)
            | RunEvent::CandidateFinished(_)
            | RunEvent::CandidateReceived(_)
            | RunEvent::CandidateAbandoned(_)
            | RunEvent::LeadersSelected(_)
            | RunEvent::LeaderNotified(_)
            | RunEvent::CandidateChosen(_)
            | RunEvent::MutantsJudged(_)
            | RunEvent::MutantsSampled(_)
            | RunEvent::PropertiesRead(_)
            | RunEvent::GuardEvaluated(_)
            | RunEvent::ClaimsRestored(_)
            | RunEvent::RuleViolated(_) => (note, None),
        };
        let mut words = words::describe(entry);
        // An answer right after its request needs no number to show what it answers.
        if let Some(request) = request
            && at.checked_sub(1).is_some_and(|before| self.events[before].seq != request)
        {
            words = format!("to {request}: {words}");
        }
        vec![(drawn, words)]
    }

    /// An arrow, if at most the closing of a revision lies between the decision and the receiving event. Otherwise this is a
    /// note, and the arrow is drawn at the receiving event.
    fn draw_sent(&self, message: &Message, from: usize, routed: &Routed) -> (Drawn, String) {
        let words = words::describe(&self.events[message.sent]);
        let to = &routed.to;
        match message.arrived {
            Some(arrived) if self.is_immediate(message) => {
                let attempt = words::attempt_suffix(&self.events[arrived]);
                (Drawn::Arrow { from, to: message.to, line: Line::Solid }, format!("{words}{attempt}"))
            }
            Some(arrived) => {
                let heard = self.events[arrived].seq;
                (Drawn::Note { at: from }, format!("to {to}, which receives it at {heard}: {words}"))
            }
            None => (Drawn::Note { at: from }, format!("to {to}, which has not received it: {words}")),
        }
    }

    fn is_immediate(&self, message: &Message) -> bool {
        let between = message.sent + 1..message.arrived.unwrap_or(message.sent + 1);
        self.events[between].iter().all(|entry| entry.event.is_revision_closed())
    }

    fn draw_arrivals(&self, at: usize, here: usize) -> Vec<(Drawn, String)> {
        let event = &self.events[at];
        let attempt = words::attempt_suffix(event);
        let arrived: Vec<&Message> = self.messages.iter().filter(|m| m.arrived == Some(at)).collect();
        let late = arrived.iter().filter(|message| !self.is_immediate(message));
        let mut drawn: Vec<(Drawn, String)> = late
            .map(|message| {
                let sent = &self.events[message.sent];
                let from = self.places[sent.lifeline.as_str()];
                let row = sent.event.try_as_routed_ref().map(|routed| words::row_name(routed)).unwrap_or_default();
                let words = format!("sent at {}: {row}{attempt}", sent.seq);
                (Drawn::Arrow { from, to: here, line: Line::Solid }, words)
            })
            .collect();
        if event.event.is_run_finished() {
            drawn.push((Drawn::Note { at: here }, words::describe(event)));
        } else if arrived.is_empty() {
            let from = self.places.get(RUN).copied().unwrap_or(here);
            drawn.push((Drawn::Arrow { from, to: here, line: Line::Solid }, format!("begins{attempt}")));
        }
        drawn
    }
}

/// Wraps a text to at most `most` lines of `width` characters, and cuts off the rest.
pub(super) fn wrap(text: &str, width: usize, most: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut line = String::new();
    let mut length = 0;
    for word in text.split_whitespace() {
        let chars: Vec<char> = word.chars().collect();
        // A word that is longer than a line is broken.
        for piece in chars.chunks(width.max(1)) {
            let gap = usize::from(length > 0);
            if length + gap + piece.len() > width {
                lines.push(std::mem::take(&mut line));
                length = 0;
            } else if gap > 0 {
                line.push(' ');
                length += 1;
            }
            line.extend(piece);
            length += piece.len();
        }
    }
    lines.push(line);
    if lines.len() > most {
        lines.truncate(most);
        if let Some(last) = lines.last_mut() {
            *last = last.chars().take(width.saturating_sub(1)).collect();
            last.push('\u{2026}');
        }
    }
    lines
}
