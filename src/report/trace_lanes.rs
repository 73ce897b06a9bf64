//! A trace as a sequence diagram with a lane for each process, in Mermaid and in `PlantUML`.

use std::fmt::Write as _;

use super::cut::cut;
use crate::tla::changes::{Change, Difference, changes};
use crate::tla::{Step, Trace, ValueParts, acting_process, first_process, lasso_line, step_title};

/// The lane of steps that belong to no process.
const SYSTEM: &str = "system";

/// Longest text of a change in a diagram, in characters.
const MAX_CHANGE: usize = 80;

/// Fields of a message that name its receiver.
const RECEIVERS: [&str; 6] = ["to", "dst", "dest", "destination", "receiver", "target"];

/// A step in its lane.
struct LaneStep {
    lane: usize,
    title: String,
    changes: Vec<Change>,
    /// The lane to which the step sends a message.
    receiver: Option<usize>,
}

struct Lanes {
    names: Vec<String>,
    steps: Vec<LaneStep>,
}

impl Lanes {
    fn new(trace: &Trace) -> Self {
        let pairs = || trace.steps.iter().zip(trace.steps.iter().skip(1));
        let mut names: Vec<String> = Vec::new();
        for (before, step) in pairs() {
            let name = lane_name(before, step);
            if !names.contains(&name) {
                names.push(name);
            }
        }
        let steps = pairs().map(|(before, step)| {
            let lane = names.iter().position(|name| *name == lane_name(before, step)).unwrap_or(0);
            let changes = changes(before, step);
            let receivers = changes.iter().filter_map(|change| receiver(change, &names));
            let receiver = receivers.into_iter().find(|other| *other != lane);
            let title = format!("{}  {}", step.step, step_title(Some(before), step));
            LaneStep { lane, title, changes, receiver }
        });
        let steps = steps.collect();
        Self { names, steps }
    }
}

fn lane_name(before: &Step, step: &Step) -> String {
    acting_process(before, step).or_else(|| first_process(step)).unwrap_or_else(|| SYSTEM.to_owned())
}

/// The lane that an added record names as its receiver.
fn receiver(change: &Change, names: &[String]) -> Option<usize> {
    let Difference::Added { value } = &change.difference else { return None };
    let Some(ValueParts::Record(fields)) = ValueParts::read(value) else { return None };
    let (_, to) = fields.into_iter().find(|(field, _)| RECEIVERS.contains(field))?;
    names.iter().position(|name| name == to)
}

fn change_words(Change { path, difference }: &Change) -> String {
    let words = match difference {
        Difference::Replaced { before, after } => format!("{path}: {before} -> {after}"),
        Difference::Added { value } => format!("{path}: + {value}"),
        Difference::Removed { value } => format!("{path}: - {value}"),
    };
    cut(&words, MAX_CHANGE)
}

/// A Mermaid sequence diagram.
pub fn trace_mermaid(trace: &Trace) -> String {
    let Lanes { names, steps } = Lanes::new(trace);
    // Mermaid reads `#` and `;` in a text, and the browser the rest.
    let escaped = |text: &str| {
        let entity = |c: char| match c {
            '#' | ';' | '<' | '>' | '&' | '"' | '{' | '}' => format!("#{};", u32::from(c)),
            c if c.is_control() => " ".to_owned(),
            c => c.to_string(),
        };
        text.chars().map(entity).collect::<String>()
    };
    let mut out = "sequenceDiagram\n".to_owned();
    for (at, name) in names.iter().enumerate() {
        // Writing to a string cannot fail.
        let _ = writeln!(out, "    participant p{at} as {}", escaped(name));
    }
    for LaneStep { lane, title, changes, receiver } in steps {
        let _ = writeln!(out, "    p{lane}->>p{}: {}", receiver.unwrap_or(lane), escaped(&title));
        let lines: Vec<String> = changes.iter().map(|change| escaped(&change_words(change))).collect();
        if !lines.is_empty() {
            let _ = writeln!(out, "    Note over p{lane}: {}", lines.join("<br/>"));
        }
    }
    if let (Some(line), false) = (lasso_line(trace), names.is_empty()) {
        let _ = writeln!(out, "    Note over p0: {}", escaped(&line));
    }
    out
}

/// A `PlantUML` sequence diagram.
pub fn trace_plantuml(trace: &Trace) -> String {
    let Lanes { names, steps } = Lanes::new(trace);
    // `~` before a character switches its meaning off; `<U+0022>` is a quote inside of quotes.
    let escaped = |text: &str| {
        let entity = |c: char| match c {
            '~' | '<' | '*' | '_' | '/' | '"' | '\\' | '#' => format!("<U+{:04X}>", u32::from(c)),
            c if c.is_control() => " ".to_owned(),
            c => c.to_string(),
        };
        text.chars().map(entity).collect::<String>()
    };
    let mut out = "@startuml\n".to_owned();
    for (at, name) in names.iter().enumerate() {
        let _ = writeln!(out, "participant \"{}\" as p{at}", escaped(name));
    }
    for LaneStep { lane, title, changes, receiver } in steps {
        let _ = writeln!(out, "p{lane} -> p{} : {}", receiver.unwrap_or(lane), escaped(&title));
        if !changes.is_empty() {
            let lines: Vec<String> = changes.iter().map(|change| escaped(&change_words(change))).collect();
            let _ = writeln!(out, "note over p{lane}\n{}\nend note", lines.join("\n"));
        }
    }
    if let (Some(line), false) = (lasso_line(trace), names.is_empty()) {
        let _ = writeln!(out, "note over p0 : {}", escaped(&line));
    }
    out + "@enduml\n"
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn trace() -> Trace {
        let mut trace = Trace::default();
        let state = |pc: &str, msgs: &str| {
            BTreeMap::from([("pc".to_owned(), pc.to_owned()), ("msgs".to_owned(), msgs.to_owned())])
        };
        trace.push(1, None, state("(a :> \"s\" @@ b :> \"r\")", "{}"));
        trace.push(2, Some("Send".into()), state("(a :> \"d\" @@ b :> \"r\")", "{[to |-> b, text |-> \"x; <b>\"]}"));
        trace.push(3, Some("Receive".into()), state("(a :> \"d\" @@ b :> \"d\")", "{}"));
        trace
    }

    #[test]
    fn each_process_has_a_lane_and_a_message_goes_to_its_receiver() {
        let text = trace_mermaid(&trace());
        assert_eq!(
            text,
            "sequenceDiagram\n    participant p0 as a\n    participant p1 as b\n    p0->>p1: 2  Send(a)\n    \
             Note over p0: msgs: + [to |-#62; b, text |-#62; #34;x#59; #60;b#62;#34;]<br/>pc[a]: #34;s#34; -#62; #34;d#34;\n    \
             p1->>p1: 3  Receive(b)\n    \
             Note over p1: msgs: - [to |-#62; b, text |-#62; #34;x#59; #60;b#62;#34;]<br/>pc[b]: #34;r#34; -#62; #34;d#34;\n"
        );
        let text = trace_plantuml(&trace());
        assert!(
            text.starts_with("@startuml\nparticipant \"a\" as p0\nparticipant \"b\" as p1\np0 -> p1 : 2  Send(a)\n")
        );
        assert!(text.ends_with("end note\n@enduml\n") && !text.contains("<b>"), "{text}");
    }
}
