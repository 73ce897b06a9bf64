//! Parses the actions in an answer of a model. Knows the names in a task, and not the state of the truck.

use super::truck::Action;
use super::truck_task::Task;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParsedAction {
    Action(Action),
    /// The answer names no action, or several.
    Unreadable,
}

/// Parses the one action of an answer. If lines begin with `Action:`, only these count; otherwise all lines that consist of
/// an action. Several different actions make the answer unreadable.
pub fn parse_action(text: &str, task: &Task) -> ParsedAction {
    let marked: Vec<&str> = text.lines().filter_map(strip_action_prefix).collect();
    let lines = if marked.is_empty() { text.lines().collect() } else { marked };
    let mut found: Vec<Action> = lines.into_iter().filter_map(|line| parse_line(line, task)).collect();
    // A model may repeat its answer.
    found.dedup();
    match found[..] {
        [action] => ParsedAction::Action(action),
        _ => ParsedAction::Unreadable,
    }
}

/// Parses the actions of an answer in order, at most `max`. Other lines are skipped.
pub fn parse_actions(text: &str, task: &Task, max: usize) -> Vec<Action> {
    text.lines().filter_map(|line| parse_line(strip_action_prefix(line).unwrap_or(line), task)).take(max).collect()
}

fn strip_action_prefix(line: &str) -> Option<&str> {
    // Models often answer in Markdown.
    let line = line.trim().trim_start_matches(['*', '-', '>', '`', ' ']);
    let (head, rest) = line.split_at_checked("action:".len())?;
    head.eq_ignore_ascii_case("action:").then_some(rest)
}

fn parse_line(line: &str, task: &Task) -> Option<Action> {
    let line = line.trim();
    // A list number before the action.
    let line = line.split_once(['.', ')']).filter(|(n, _)| n.parse::<u32>().is_ok()).map_or(line, |(_, rest)| rest);
    let bare = line.trim_matches(|c: char| c.is_whitespace() || "*-`>\"'.".contains(c)).to_lowercase();
    let words: Vec<&str> = bare.split_whitespace().collect();
    let numbered = |word: &str, prefix: char, max: usize| {
        let number: usize = word.strip_prefix(prefix)?.parse().ok()?;
        (1..=max).contains(&number).then(|| number - 1)
    };
    let package = |word: &str| numbered(word, 'p', task.packages.len());
    Some(match words[..] {
        ["load", p, "into", a] => Action::Load { package: package(p)?, area: numbered(a, 'a', task.areas)? },
        ["unload", p] => Action::Unload { package: package(p)? },
        ["drive", "to", place] => Action::Drive { to: task.places.iter().position(|known| *known == place)? },
        ["deliver", p] => Action::Deliver { package: package(p)? },
        ["done"] => Action::Done,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_one_action_or_none() {
        let task = Task::random(1, 2, 3, 2).unwrap();
        let load = ParsedAction::Action(Action::Load { package: 1, area: 0 });
        for text in [
            "load p2 into a1",
            "Action: load p2 into a1",
            "p2 lies here, so I could drive to mill.\n**Action:** load p2 into a1".replace("**", "").as_str(),
            "I think.\n\nACTION: `Load p2 into a1`.",
            "- load p2 into a1",
            "1. load p2 into a1\n",
            "load p2 into a1\nload p2 into a1",
            "drive to mill\nAction: load p2 into a1",
        ] {
            assert_eq!(parse_action(text, &task), load, "{text}");
        }
        for text in [
            "",
            "I am sorry.",
            "load p2",
            "load p3 into a1",
            "load p2 into a3",
            "load p0 into a1",
            "drive to the mill",
            "drive to airfield",
            "load p2 into a1\nunload p2",
            "Action: done\nAction: unload p1",
            "Action: sleep\ndrive to mill",
        ] {
            assert_eq!(parse_action(text, &task), ParsedAction::Unreadable, "{text}");
        }
        assert_eq!(parse_action("**Done.**", &task), ParsedAction::Action(Action::Done));
    }

    #[test]
    fn parses_plans_line_by_line() {
        let task = Task::random(1, 2, 3, 2).unwrap();
        let plan = "First:\n1. unload p1\n2) deliver p1\nAction: done\ndrive to mill";
        let read = parse_actions(plan, &task, 3);
        assert_eq!(read, [Action::Unload { package: 0 }, Action::Deliver { package: 0 }, Action::Done]);
        assert_eq!(parse_actions(plan, &task, 1).len(), 1);
    }
}
