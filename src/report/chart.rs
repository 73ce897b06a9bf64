//! The message sequence chart of a run, from its journal: a column for each lifeline and one for the model, an arrow for
//! each message, a note for what happened at one place. Rows stand in the journal's order, which respects causality;
//! where the clocks do not order two events, the later row says so.

mod mermaid;
mod text;
mod words;

use std::collections::BTreeMap;

use crate::pipeline::{Entry, Routed, RunEvent, is_lifeline, lifelines as run_lifelines};

pub use mermaid::chart_mermaid;
pub use text::chart_text;

/// The lifeline that the journal has no events of: whoever answers.
const MODEL: &str = "model";
const RUN: &str = "run";

/// Why a journal has no chart.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("event {seq} of the journal has a vector clock that {what}")]
pub struct ChartError {
    /// The event's number.
    pub seq: u64,
    /// What is wrong with its clock.
    pub what: &'static str,
}

/// A run as columns and rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chart {
    lifelines: Vec<String>,
    rows: Vec<Row>,
}

/// What is drawn of one event.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Row {
    seq: u64,
    /// Events further up that this one did not know of.
    beside: Vec<u64>,
    drawn: Drawn,
    words: String,
}

/// Places are those of lifelines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Drawn {
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
enum Line {
    Solid,
    /// An answer.
    Dashed,
    /// A call that brought none.
    Broken,
}

/// How many events of each lifeline an event could know of, by place.
type Counts = Vec<usize>;

impl Chart {
    /// The chart of a journal.
    ///
    /// # Errors
    /// A clock that does not follow from the events before it.
    pub fn of(events: &[Entry]) -> Result<Self, ChartError> {
        let lifelines = lifelines(events);
        let places: BTreeMap<&str, usize> =
            lifelines.iter().enumerate().map(|(at, name)| (name.as_str(), at)).collect();
        let clocks = clocks(events, &places)?;
        let journal = Journal { messages: messages(events, &places, &clocks), events, places: &places };
        let mut of_lifeline: Vec<Vec<u64>> = vec![Vec::new(); lifelines.len()];
        let mut rows = Vec::new();
        for (at, event) in events.iter().enumerate() {
            let mut beside: Vec<u64> = of_lifeline
                .iter()
                .zip(&clocks[at])
                .flat_map(|(seqs, known)| &seqs[*known.min(&seqs.len())..])
                .copied()
                .collect();
            beside.sort_unstable();
            of_lifeline[places[event.lifeline.as_str()]].push(event.seq);
            let row = |(drawn, words)| Row { seq: event.seq, beside: beside.clone(), drawn, words };
            rows.extend(journal.drawn(at).into_iter().map(row));
        }
        Ok(Self { lifelines, rows })
    }

    /// Whether some events are not ordered by their clocks.
    fn overlaps(&self) -> bool {
        self.rows.iter().any(|row| !row.beside.is_empty())
    }
}

impl Row {
    /// The words, with what the clocks leave open.
    fn told(&self) -> String {
        if self.beside.is_empty() {
            self.words.clone()
        } else {
            format!("{BESIDE} {}: {}", ranges(&self.beside), self.words)
        }
    }
}

/// Stands before the numbers of events with which one is not ordered.
const BESIDE: char = '\u{2225}';

/// What [`BESIDE`] means.
const BESIDE_MEANS: &str =
    "before numbers: neither knew of the other, and the order of the rows says nothing of theirs";

/// `3, 5-7`, at most three of them.
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

/// Lifelines with events, or to which a message was sent: those that every run has in their order, then others, then
/// the model.
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

/// What each event could know.
fn clocks(events: &[Entry], places: &BTreeMap<&str, usize>) -> Result<Vec<Counts>, ChartError> {
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
                _ => return Err(wrong("counts events that do not stand before it")),
            }
        }
        if clock[own] != counts[own] {
            return Err(wrong("does not count its own lifeline's events"));
        }
        all.push(clock);
    }
    Ok(all)
}

/// From a decision to the attempt, or the end of the run, that rests on it.
struct Message {
    sent: usize,
    to: usize,
    arrived: Option<usize>,
}

/// The decisions of the run, each with the first event of its receiver that knows of it.
fn messages(events: &[Entry], places: &BTreeMap<&str, usize>, clocks: &[Counts]) -> Vec<Message> {
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
                let to = places.get(routed.to.as_str()).or(places.get(RUN));
                let Some(&to) = to else { continue };
                under_way.push(all.len());
                all.push(Message { sent: at, to, arrived: None });
            }
            RunEvent::AttemptStarted(_) | RunEvent::RunFinished(_) => under_way.retain(|&n| {
                let arrives = all[n].to == here && knows(all[n].sent);
                if arrives {
                    all[n].arrived = Some(at);
                }
                !arrives
            }),
            // What had been decided before is left behind.
            RunEvent::BranchStarted(_) => under_way.retain(|&n| !knows(all[n].sent)),
            _ => {}
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
    fn drawn(&self, at: usize) -> Vec<(Drawn, String)> {
        let entry = &self.events[at];
        let here = self.places[entry.lifeline.as_str()];
        let model = self.places.get(MODEL).copied().unwrap_or(here);
        let note = Drawn::Note { at: here };
        let (drawn, request) = match &entry.event {
            RunEvent::AttemptFinished(_) => return Vec::new(),
            RunEvent::Routed(routed) => {
                let sent = self.messages.iter().filter(|m| m.sent == at);
                return sent.map(|m| self.sent(m, here, routed)).collect();
            }
            RunEvent::AttemptStarted(_) | RunEvent::RunFinished(_) => return self.arrivals(at, here),
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
            | RunEvent::GuardEvaluated(_)
            | RunEvent::ClaimsRestored(_)
            | RunEvent::RuleViolated(_) => (note, None),
        };
        let mut words = words::of(entry);
        if let Some(request) = request
            && at.checked_sub(1).is_some_and(|before| self.events[before].seq != request)
        {
            words = format!("to {request}: {words}");
        }
        vec![(drawn, words)]
    }

    /// An arrow, if only the closing of a revision lies between the decision and the event that knows of it. Otherwise
    /// the arrow is drawn at that event, and this is a note.
    fn sent(&self, message: &Message, from: usize, routed: &Routed) -> (Drawn, String) {
        let words = words::of(&self.events[message.sent]);
        let to = &routed.to;
        match message.arrived {
            Some(arrived) if self.at_once(message) => {
                let again = words::attempt(&self.events[arrived]);
                (Drawn::Arrow { from, to: message.to, line: Line::Solid }, format!("{words}{again}"))
            }
            Some(arrived) => {
                let heard = self.events[arrived].seq;
                (Drawn::Note { at: from }, format!("to {to}, which hears of it at {heard}: {words}"))
            }
            None => (Drawn::Note { at: from }, format!("to {to}, which has not heard of it: {words}")),
        }
    }

    fn at_once(&self, message: &Message) -> bool {
        let between = message.sent + 1..message.arrived.unwrap_or(message.sent + 1);
        self.events[between].iter().all(|entry| entry.event.is_revision_closed())
    }

    fn arrivals(&self, at: usize, here: usize) -> Vec<(Drawn, String)> {
        let event = &self.events[at];
        let again = words::attempt(event);
        let arrived: Vec<&Message> = self.messages.iter().filter(|m| m.arrived == Some(at)).collect();
        let late = arrived.iter().filter(|message| !self.at_once(message));
        let mut drawn: Vec<(Drawn, String)> = late
            .map(|message| {
                let sent = &self.events[message.sent];
                let from = self.places[sent.lifeline.as_str()];
                let row = sent.event.try_as_routed_ref().map(|routed| words::row(routed)).unwrap_or_default();
                let words = format!("sent at {}: {row}{again}", sent.seq);
                (Drawn::Arrow { from, to: here, line: Line::Solid }, words)
            })
            .collect();
        if event.event.is_run_finished() {
            drawn.push((Drawn::Note { at: here }, words::of(event)));
        } else if arrived.is_empty() {
            let from = self.places.get(RUN).copied().unwrap_or(here);
            drawn.push((Drawn::Arrow { from, to: here, line: Line::Solid }, format!("begins{again}")));
        }
        drawn
    }
}

/// A text as at most so many lines of a width; what does not fit is cut.
fn folded(text: &str, width: usize, most: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut line = String::new();
    let mut length = 0;
    for word in text.split_whitespace() {
        let chars: Vec<char> = word.chars().collect();
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
