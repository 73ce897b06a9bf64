//! The order of events, as partial as the logs leave it. Each event needs, of each process, that so many of its first events have
//! happened. Sources: Fidge 1988 and Mattern 1989 for vector clocks; an event whose interval ends before another one starts precedes it
//! (Herlihy and Wing 1990).

use std::collections::BTreeMap;

use serde_json::Value;

use super::error::ConformError;
use super::logs::{Line, process_name};
use super::map::ConformMap;

/// A vector clock: processes and numbers of their lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Clock(BTreeMap<String, u64>);

impl Clock {
    pub(super) fn parse(value: &Value) -> Result<Self, String> {
        let shape = || {
            format!("this is no vector clock, which is an object or a list of pairs of a process and a number: {value}")
        };
        let number = |value: &Value| value.as_u64().ok_or_else(shape);
        match value {
            Value::Object(all) => {
                let entries = all.iter().map(|(process, count)| Ok((process.clone(), number(count)?)));
                Ok(Self(entries.collect::<Result<_, String>>()?))
            }
            Value::Array(all) => {
                let mut clock = BTreeMap::new();
                for pair in all {
                    let [process, count] = pair.as_array().map_or(&[][..], Vec::as_slice) else { return Err(shape()) };
                    if clock.insert(process_name(process), number(count)?).is_some() {
                        return Err(format!("the vector clock names {} twice", process_name(process)));
                    }
                }
                Ok(Self(clock))
            }
            _ => Err(shape()),
        }
    }
}

/// Start and end of a step, in nanoseconds, or in billionths of the numbers of the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Times {
    start: i128,
    end: i128,
}

impl Times {
    pub(super) fn parse(start: &Value, end: &Value) -> Result<Self, String> {
        let times = Self { start: time(start)?, end: time(end)? };
        if times.end < times.start {
            Err(format!("the step ends ({end}) before it starts ({start})"))
        } else {
            Ok(times)
        }
    }
}

fn time(value: &Value) -> Result<i128, String> {
    match value {
        Value::String(text) => {
            let parsed: Result<jiff::Timestamp, _> = text.parse();
            parsed
                .map(jiff::Timestamp::as_nanosecond)
                .map_err(|_| format!("{text:?} is no time such as 2025-03-09T10:23:08.8Z"))
        }
        Value::Number(number) => number
            .as_i64()
            .map(|whole| i128::from(whole) * 1_000_000_000)
            .or_else(|| decimal(&number.to_string()))
            .ok_or_else(|| format!("{number} is no time")),
        _ => Err(format!("{value} is no time")),
    }
}

/// A decimal number in billionths: 1741515788.25.
fn decimal(text: &str) -> Option<i128> {
    let (whole, part) = text.split_once('.')?;
    let part: String = part.chars().chain("000000000".chars()).take(9).collect();
    let sign = if whole.starts_with('-') { -1 } else { 1 };
    Some(whole.parse::<i128>().ok()?.checked_mul(1_000_000_000)? + sign * part.parse::<i128>().ok()?)
}

/// The order of the events.
pub(super) struct Order {
    pub(super) processes: Vec<String>,
    /// The lines that are events: those that may be first come first.
    pub(super) sequence: Vec<usize>,
    /// By number in the sequence: the process.
    pub(super) process_of: Vec<usize>,
    /// By number in the sequence: how many events of each process come before.
    pub(super) needs: Vec<Vec<u32>>,
    pub(super) words: String,
}

impl Order {
    pub(super) fn new(lines: &[Line], map: &ConformMap, files: usize) -> Result<Self, ConformError> {
        let keys = &map.log;
        let is_partial = keys.clock.is_some() || keys.start.is_some();
        let (processes, of_process) = if is_partial || (keys.time.is_none() && files > 1) {
            by_process(lines)
        } else {
            // One sequence of all events.
            (vec!["all processes".to_owned()], vec![in_one_sequence(lines, keys.time.is_some())?])
        };
        let mut order = Self {
            words: words(map, files),
            sequence: Vec::new(),
            process_of: Vec::new(),
            needs: Vec::new(),
            processes,
        };
        if keys.clock.is_some() {
            check_clocks(lines, &order.processes, &of_process)?;
        }
        let events: Vec<Vec<usize>> = of_process
            .iter()
            .map(|all| all.iter().copied().filter(|at| lines[*at].event.is_some()).collect())
            .collect();
        let start = |at: usize| lines[at].times.map_or(i128::MIN, |times| times.start);
        order.sequence = events.iter().flatten().copied().collect();
        order.sequence.sort_by_key(|at| start(*at));
        let home: BTreeMap<usize, usize> =
            events.iter().enumerate().flat_map(|(process, all)| all.iter().map(move |at| (*at, process))).collect();
        order.process_of = order.sequence.iter().map(|at| home[at]).collect();
        let own: Vec<Vec<u64>> = events
            .iter()
            .zip(&order.processes)
            .map(|(all, process)| all.iter().map(|at| own_count(&lines[*at], process)).collect())
            .collect();
        let ends: Vec<Vec<i128>> = events
            .iter()
            .map(|all| all.iter().map(|at| lines[*at].times.map_or(i128::MAX, |times| times.end)).collect())
            .collect();
        for (number, at) in order.sequence.iter().enumerate() {
            if order.processes.len() == 1 {
                order.needs.push(Vec::new());
                continue;
            }
            let mut needs = vec![0; order.processes.len()];
            for (process, name) in
                order.processes.iter().enumerate().filter(|(other, _)| *other != order.process_of[number])
            {
                if let Some(Clock(clock)) = &lines[*at].clock {
                    let seen = clock.get(name).copied().unwrap_or(0);
                    needs[process] = own[process].partition_point(|count| *count <= seen);
                }
                if keys.start.is_some() {
                    let before = ends[process].partition_point(|end| *end < start(*at));
                    needs[process] = needs[process].max(before);
                }
            }
            order.needs.push(needs.into_iter().map(|count| u32::try_from(count).unwrap_or(u32::MAX)).collect());
        }
        Ok(order)
    }
}

fn words(map: &ConformMap, files: usize) -> String {
    let keys = &map.log;
    match (&keys.clock, &keys.start, &keys.time) {
        (Some(_), Some(_), _) => "vector clocks and time intervals",
        (Some(_), None, _) => "vector clocks",
        (None, Some(_), _) => "time intervals",
        (None, None, Some(_)) => "time",
        (None, None, None) if files > 1 => "the order of each file alone",
        (None, None, None) => "the order of the file",
    }
    .to_owned()
}

fn by_process(lines: &[Line]) -> (Vec<String>, Vec<Vec<usize>>) {
    let (mut processes, mut of_process): (Vec<String>, Vec<Vec<usize>>) = (Vec::new(), Vec::new());
    for (at, line) in lines.iter().enumerate() {
        let number = processes.iter().position(|known| *known == line.process).unwrap_or_else(|| {
            processes.push(line.process.clone());
            of_process.push(Vec::new());
            processes.len() - 1
        });
        of_process[number].push(at);
    }
    (processes, of_process)
}

fn in_one_sequence(lines: &[Line], by_time: bool) -> Result<Vec<usize>, ConformError> {
    let mut sequence: Vec<usize> = (0..lines.len()).collect();
    if !by_time {
        return Ok(sequence);
    }
    let time = |at: usize| lines[at].times.map(|times| times.start);
    for (at, line) in lines.iter().enumerate().skip(1) {
        let is_same = lines[at - 1].process == line.process && lines[at - 1].place.file == line.place.file;
        if is_same && time(at) < time(at - 1) {
            let what = format!("the time of {} goes backwards here", line.process);
            return Err(ConformError::at(&line.place, what).with_hint(
                "order the events by something else than `time`: by the file, a vector clock, or intervals",
            ));
        }
    }
    sequence.sort_by_key(|at| time(*at));
    Ok(sequence)
}

fn own_count(line: &Line, process: &str) -> u64 {
    line.clock.as_ref().and_then(|Clock(clock)| clock.get(process).copied()).unwrap_or(0)
}

/// Each process counts its lines from 1, and nobody knows of lines that no log has.
fn check_clocks(lines: &[Line], processes: &[String], of_process: &[Vec<usize>]) -> Result<(), ConformError> {
    for (process, all) in processes.iter().zip(of_process) {
        let mut last = 0;
        for at in all {
            let line = &lines[*at];
            let own = own_count(line, process);
            if own != last + 1 {
                let what = if own == last {
                    format!("the clock of {process} stands at {own}, as in its line before")
                } else {
                    format!(
                        "the clock of {process} stands at {own} after {last}: a line of its log is missing, or in another place"
                    )
                };
                return Err(ConformError::at(&line.place, what));
            }
            last = own;
        }
    }
    for line in lines {
        let Some(Clock(clock)) = &line.clock else { continue };
        for (process, count) in clock {
            let known = processes.iter().position(|name| name == process).map_or(0, |at| of_process[at].len() as u64);
            if *count > known {
                let what = format!("the clock names line {count} of {process}, whose logs have {known}");
                return Err(ConformError::at(&line.place, what).with_hint("give the logs of all processes"));
            }
        }
    }
    Ok(())
}
