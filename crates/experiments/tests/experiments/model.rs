//! A simulated model: as a judge it always says VALID, as a labeler it is exact, and as a driver it breaks a rule until an
//! intervention.

use crate::support::model_server::{ModelServer, Reply, Seen};

/// A server with such a model.
pub(crate) fn server() -> ModelServer {
    ModelServer::start(|seen| Reply::text(answer(seen)))
}

/// The answer of the model.
pub(crate) fn answer(seen: &Seen) -> String {
    let prompt = seen.prompt();
    if prompt.contains("Answer with these lines and nothing else") {
        return verdicts(&prompt);
    }
    if prompt.contains("which statement true?") {
        return labels(&prompt);
    }
    if prompt.contains("Name the next") {
        let one = action(&prompt, Mood::Hasty);
        return format!("{one}\ndone");
    }
    if prompt.contains("Your one concern") {
        return "Action: done".to_owned();
    }
    let held_back = prompt.contains("It was held back") || seen.body["temperature"] == 0.8;
    let mood = if held_back { Mood::Careful } else { Mood::Hasty };
    format!("Action: {}", action(&prompt, mood))
}

/// With labels it is correct. Without, it calls everything valid, and refuses constraints with words that begin with "b".
fn verdicts(prompt: &str) -> String {
    let asked = prompt.rsplit("This is what is asked for:").next().unwrap();
    let constraints: Vec<(&str, &str)> = asked
        .lines()
        .filter_map(|line| {
            line.split_once(": At some step, ")?.1.strip_suffix('.')?.split_once("; and at some strictly later step, ")
        })
        .collect();
    if !prompt.contains("makes no mistakes") && asked.contains("is \"b") {
        return "I would rather not say.".to_owned();
    }
    let verdict = |(first, second): &(&str, &str)| {
        if !prompt.contains("makes no mistakes") {
            return true;
        }
        let at = |what: &str| -> Vec<usize> {
            let steps = asked.lines().filter(|line| line.starts_with("Step "));
            let told = steps.map(|line| line.rsplit("[true: ").next().unwrap().trim_end_matches(']'));
            told.enumerate().filter(|(_, told)| told.split("; ").any(|one| one == what)).map(|(i, _)| i).collect()
        };
        at(first).iter().any(|i| at(second).iter().any(|j| i < j))
    };
    let word = |holds: bool| if holds { "VALID" } else { "INVALID" };
    let lines = constraints.iter().enumerate().map(|(i, c)| format!("Constraint {}: {}", i + 1, word(verdict(c))));
    lines.collect::<Vec<_>>().join("\n")
}

fn labels(prompt: &str) -> String {
    let statements: Vec<&str> = prompt
        .lines()
        .filter(|line| line.starts_with('s') && line[1..].starts_with(|c: char| c.is_ascii_digit()))
        .map(|line| line.split_once(": ").unwrap().1)
        .collect();
    let is_true = |statement: &str, step: &str| {
        let of_whom = statement.strip_prefix("Entity ").map(|rest| rest.split_once('\'').unwrap().0);
        let step = match of_whom {
            Some(n) => step.split_once(&format!("Entity {n}: ")).unwrap().1.split(" Entity ").next().unwrap(),
            None => step.split_once(": ").unwrap().1,
        };
        let value = statement.split_once(" is ").unwrap().1;
        match value.strip_prefix('"') {
            Some(word) => {
                let word = word.trim_end_matches('"');
                step.split(|c: char| !c.is_alphabetic()).any(|known| known == word)
            }
            None => step.contains(&format!("(number {value})")),
        }
    };
    let mut lines = Vec::new();
    for step in prompt.lines().filter(|line| line.starts_with("Step ")) {
        let here = statements.iter().enumerate().filter(|(_, statement)| is_true(statement, step));
        let here: Vec<String> = here.map(|(i, _)| format!("s{}", i + 1)).collect();
        if !here.is_empty() {
            lines.push(format!("{}: {}", step.split_once(':').unwrap().0, here.join(", ")));
        }
    }
    if lines.is_empty() { "none".to_owned() } else { lines.join("\n") }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mood {
    /// Loads into the deepest area, which breaks a rule.
    Hasty,
    /// Loads next to the door.
    Careful,
}

fn action(prompt: &str, mood: Mood) -> String {
    let word_after = |line: &str, mark: &str| {
        let rest = line.split_once(mark)?.1;
        Some(rest.split([';', ',', '.']).next().unwrap().to_owned())
    };
    let state = prompt.rsplit("How it stands:\n").next().unwrap();
    let at = word_after(state, "The truck is at ").unwrap();
    let goals: Vec<String> =
        prompt.lines().filter_map(|line| word_after(line, " at ").filter(|_| line.starts_with("Deliver p"))).collect();
    let mut order: Vec<usize> = (1..=goals.len()).collect();
    // The order that the rules require.
    order.chunks_exact_mut(2).for_each(|pair| pair.swap(0, 1));
    let areas = state.lines().next().unwrap().matches(" is free").count() + state.matches(" holds ").count();
    for p in order {
        let (goal, line) = (&goals[p - 1], |what: &str| {
            state.lines().find_map(|line| {
                line.strip_prefix(&format!("p{p} {what} ")).map(|rest| rest.trim_end_matches('.').to_owned())
            })
        });
        let drive = |to: &str| format!("drive to {to}");
        if let Some(lies) = line("lies at") {
            let area = if mood == Mood::Careful { 1 } else { areas };
            return match (lies == at, lies == *goal) {
                (true, true) => format!("deliver p{p}"),
                (true, false) => format!("load p{p} into a{area}"),
                (false, _) => drive(&lies),
            };
        }
        if line("is in").is_some() {
            return if at == *goal { format!("unload p{p}") } else { drive(goal) };
        }
    }
    "done".to_owned()
}
