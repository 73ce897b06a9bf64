//! The order of events, as partial as the logs leave it: for each event, the number of events of each process that come before it.
//! Sources: Fidge 1988 and Mattern 1989 for vector clocks; an event whose interval ends before another one starts precedes it
//! (Herlihy and Wing 1990).

use std::collections::{BTreeMap, BTreeSet};

use super::error::ConformError;
use super::line::LogLine;
use super::map::ConformMap;
use super::times::Clock;

/// The largest product of the numbers of events and processes.
const MAX_CELLS: usize = 50_000_000;

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
    pub(super) fn new(lines: &[LogLine], map: &ConformMap, files: usize) -> Result<Self, ConformError> {
        let keys = &map.log;
        let has_times = keys.time.is_some() || keys.start.is_some();
        let has_messages = map.events.iter().any(|rule| rule.sends.is_some() || rule.receives.is_some());
        let (processes, of_process) = if keys.overlap {
            chains(lines)
        } else if has_times || has_messages || keys.clock.is_some() {
            by(lines, |line| line.process.clone())
        } else if files > 1 {
            by(lines, |line| line.place.file.display().to_string())
        } else {
            // One sequence of all events.
            (vec!["all processes".to_owned()], vec![(0..lines.len()).collect()])
        };
        let mut order = Self {
            words: describe(map, files, has_messages),
            sequence: Vec::new(),
            process_of: Vec::new(),
            needs: Vec::new(),
            processes,
        };
        if keys.clock.is_some() {
            check_clocks(lines, &order.processes, &of_process)?;
        }
        if has_times {
            check_times(lines, &order.processes, &of_process)?;
        }
        let events: Vec<Vec<usize>> = of_process
            .iter()
            .map(|all| all.iter().copied().filter(|at| lines[*at].event.is_some()).collect())
            .collect();
        let start = |at: usize| lines[at].times.map_or(i128::MIN, |times| times.start);
        let cells = events.iter().map(Vec::len).sum::<usize>().saturating_mul(order.processes.len());
        if cells > MAX_CELLS {
            let what = format!(
                "the logs are too large to compare at once: their events, times {} processes, exceed {MAX_CELLS}",
                order.processes.len()
            );
            return Err(ConformError::at(&lines[0].place, what).with_hint("compare a part of the logs"));
        }
        order.sequence = events.iter().flatten().copied().collect();
        order.sequence.sort_by_key(|at| start(*at));
        let home: BTreeMap<usize, usize> =
            events.iter().enumerate().flat_map(|(process, all)| all.iter().map(move |at| (*at, process))).collect();
        order.process_of = order.sequence.iter().map(|at| home[at]).collect();
        let own: Vec<Vec<u64>> = events
            .iter()
            .zip(&order.processes)
            .map(|(all, process)| all.iter().map(|at| own_clock(&lines[*at], process)).collect())
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
                if has_times {
                    let before = ends[process].partition_point(|end| *end < start(*at));
                    needs[process] = needs[process].max(before);
                }
            }
            order.needs.push(needs.into_iter().map(|count| u32::try_from(count).unwrap_or(u32::MAX)).collect());
        }
        order.add_messages(lines)?;
        order.check_consistent(lines)?;
        Ok(order)
    }

    /// A message is sent before it is received.
    fn add_messages(&mut self, lines: &[LogLine]) -> Result<(), ConformError> {
        // For each message, its event, and how many events of its process have happened after it.
        let mut sent: BTreeMap<&str, (usize, u32)> = BTreeMap::new();
        let mut in_order: Vec<usize> = (0..self.sequence.len()).collect();
        in_order.sort_by_key(|number| self.sequence[*number]);
        let mut counts = vec![0_u32; self.processes.len()];
        for number in &in_order {
            let line = &lines[self.sequence[*number]];
            let process = self.process_of[*number];
            counts[process] += 1;
            for message in &line.sends {
                if let Some((other, _)) = sent.insert(message, (*number, counts[process])) {
                    let what =
                        format!("the message {message} is sent here and at {}", lines[self.sequence[other]].place);
                    return Err(ConformError::at(&line.place, what).with_hint(
                        "the field of `sends` has to name each message: with its sender and a number, for example",
                    ));
                }
            }
        }
        for number in in_order {
            let line = &lines[self.sequence[number]];
            for message in &line.receives {
                let Some((sender, count)) = sent.get(message.as_str()) else {
                    let what = format!("the message {message} is received, and no line sends it");
                    return Err(ConformError::at(&line.place, what).with_hint("give the logs of all processes"));
                };
                let process = self.process_of[*sender];
                if process != self.process_of[number] {
                    self.needs[number][process] = self.needs[number][process].max(*count);
                } else if self.sequence[*sender] > self.sequence[number] {
                    let what = format!(
                        "the message {message} is received before it is sent, at {}",
                        lines[self.sequence[*sender]].place
                    );
                    return Err(ConformError::at(&line.place, what));
                }
            }
        }
        Ok(())
    }

    /// Clocks and times of different machines can contradict each other.
    fn check_consistent(&self, lines: &[LogLine]) -> Result<(), ConformError> {
        if self.processes.len() == 1 {
            return Ok(());
        }
        let mut of_process = vec![Vec::new(); self.processes.len()];
        for (number, process) in self.process_of.iter().enumerate() {
            of_process[*process].push(number);
        }
        // Within a process, events are in the order of its lines.
        for events in &mut of_process {
            events.sort_by_key(|number| self.sequence[*number]);
        }
        let mut done = vec![0_u32; self.processes.len()];
        let next = |done: &[u32], process: usize| of_process[process].get(done[process] as usize).copied();
        loop {
            let is_possible =
                |number: &usize| self.needs[*number].iter().zip(&done).all(|(needed, done)| needed <= done);
            let open: Vec<usize> = (0..self.processes.len()).filter_map(|process| next(&done, process)).collect();
            match open.iter().copied().find(is_possible) {
                Some(number) => done[self.process_of[number]] += 1,
                None => {
                    let Some(first) = open.first() else { return Ok(()) };
                    let places: Vec<String> =
                        open.iter().map(|number| lines[self.sequence[*number]].place.to_string()).collect();
                    let what =
                        format!("the order contradicts itself: each of {} comes after another one", places.join(", "));
                    return Err(ConformError::at(&lines[self.sequence[*first]].place, what)
                        .with_hint("if the clocks of the machines differ, order the events by vector clocks alone"));
                }
            }
        }
    }
}

fn describe(map: &ConformMap, files: usize, has_messages: bool) -> String {
    let keys = &map.log;
    let order = match (&keys.clock, &keys.start, &keys.time) {
        (Some(_), Some(_), _) => "vector clocks and time intervals",
        (Some(_), None, _) => "vector clocks",
        (None, Some(_), _) if keys.overlap => "time intervals only",
        (None, Some(_), _) => "time intervals",
        (None, None, Some(_)) => "time",
        (None, None, None) if has_messages => "the order of each process",
        (None, None, None) if files > 1 => "the order of each file alone",
        (None, None, None) => "the order of the file",
    };
    if has_messages { format!("{order}, and messages") } else { order.to_owned() }
}

/// The lines of each process, or of each file.
fn by(lines: &[LogLine], name: impl Fn(&LogLine) -> String) -> (Vec<String>, Vec<Vec<usize>>) {
    let (mut processes, mut of_process): (Vec<String>, Vec<Vec<usize>>) = (Vec::new(), Vec::new());
    for (at, line) in lines.iter().enumerate() {
        let process = name(line);
        let number = processes.iter().position(|known| *known == process).unwrap_or_else(|| {
            processes.push(process);
            of_process.push(Vec::new());
            processes.len() - 1
        });
        of_process[number].push(at);
    }
    (processes, of_process)
}

/// The lines, which are sorted by their start, in as few sequences as possible in which each ends before the next one starts.
fn chains(lines: &[LogLine]) -> (Vec<String>, Vec<Vec<usize>>) {
    let mut chains: Vec<Vec<usize>> = Vec::new();
    // The end of each chain's last line.
    let mut ends: BTreeSet<(i128, usize)> = BTreeSet::new();
    for (at, line) in lines.iter().enumerate() {
        let Some(times) = line.times else { continue };
        let chain = match ends.first().copied() {
            Some((end, chain)) if end < times.start => {
                ends.pop_first();
                chain
            }
            _ => {
                chains.push(Vec::new());
                chains.len() - 1
            }
        };
        chains[chain].push(at);
        ends.insert((times.end, chain));
    }
    ((1..=chains.len()).map(|number| format!("sequence {number}")).collect(), chains)
}

/// The lines of a process are in the order in which its steps began, and ended.
fn check_times(lines: &[LogLine], processes: &[String], of_process: &[Vec<usize>]) -> Result<(), ConformError> {
    for (process, all) in processes.iter().zip(of_process) {
        for pair in all.windows(2) {
            let [before, after] = [pair[0], pair[1]].map(|at| lines[at].times);
            if let (Some(before), Some(after)) = (before, after)
                && (after.start < before.start || after.end < before.end)
            {
                let what = format!("the time of {process} goes backwards here");
                return Err(ConformError::at(&lines[pair[1]].place, what).with_hint(
                    "sort the lines of each process by time; with `start` and `end` alone, `overlap = true` in [log] says that steps overlap",
                ));
            }
        }
    }
    Ok(())
}

fn own_clock(line: &LogLine, process: &str) -> u64 {
    line.clock.as_ref().and_then(|Clock(clock)| clock.get(process).copied()).unwrap_or(0)
}

/// Each process numbers its lines 1, 2, 3, …, and no clock counts a line that is not in the logs.
fn check_clocks(lines: &[LogLine], processes: &[String], of_process: &[Vec<usize>]) -> Result<(), ConformError> {
    for (process, all) in processes.iter().zip(of_process) {
        let mut last = 0;
        for at in all {
            let line = &lines[*at];
            let own = own_clock(line, process);
            if own == 0 {
                let what = format!("the clock does not count the line itself, which is of {process}");
                return Err(ConformError::at(&line.place, what)
                    .with_hint("[log] has `process`, whose value is the name in the clock; a clock counts from 1"));
            }
            if own != last + 1 {
                let what = if own == last {
                    format!("the clock of {process} is {own} again, as on its previous line")
                } else {
                    format!(
                        "the clock of {process} goes from {last} to {own}: a line is missing, or in the wrong place"
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
                let what = format!("the clock counts {count} lines of {process}, and its logs have {known}");
                return Err(ConformError::at(&line.place, what).with_hint("give the logs of all processes"));
            }
        }
    }
    Ok(())
}
