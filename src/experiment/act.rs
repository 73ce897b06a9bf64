//! Reading actions out of what a model answered.

use super::trucks::Action;
use super::trucks_task::Task;

/// What an answer says to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reading {
    /// This action.
    Action(Action),
    /// No action, or several.
    Unreadable,
}

/// The one action of an answer. Lines that begin with `Action:` are read alone where there are any; of the others, those
/// that are nothing but an action. Several different actions are none.
pub fn read_action(text: &str, task: &Task) -> Reading {
    let marked: Vec<&str> = text.lines().filter_map(marked).collect();
    let lines = if marked.is_empty() { text.lines().collect() } else { marked };
    let mut found: Vec<Action> = lines.into_iter().filter_map(|line| one(line, task)).collect();
    found.dedup();
    match found[..] {
        [action] => Reading::Action(action),
        _ => Reading::Unreadable,
    }
}

/// The actions of an answer in their order, at most so many; other lines are passed over.
pub fn read_actions(text: &str, task: &Task, most: usize) -> Vec<Action> {
    text.lines().filter_map(|line| one(marked(line).unwrap_or(line), task)).take(most).collect()
}

fn marked(line: &str) -> Option<&str> {
    let line = line.trim().trim_start_matches(['*', '-', '>', '`', ' ']);
    let (head, rest) = line.split_at_checked("action:".len())?;
    head.eq_ignore_ascii_case("action:").then_some(rest)
}

fn one(line: &str, task: &Task) -> Option<Action> {
    let line = line.trim();
    // A number before it, as in a list.
    let line = line.split_once(['.', ')']).filter(|(n, _)| n.parse::<u32>().is_ok()).map_or(line, |(_, rest)| rest);
    let bare = line.trim_matches(|c: char| c.is_whitespace() || "*-`>\"'.".contains(c)).to_lowercase();
    let words: Vec<&str> = bare.split_whitespace().collect();
    let numbered = |word: &str, mark: char, most: usize| {
        let number: usize = word.strip_prefix(mark)?.parse().ok()?;
        (1..=most).contains(&number).then(|| number - 1)
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
    fn an_answer_is_one_action_or_none() {
        let task = Task::random(1, 2, 3, 2).unwrap();
        let load = Reading::Action(Action::Load { package: 1, area: 0 });
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
            assert_eq!(read_action(text, &task), load, "{text}");
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
            assert_eq!(read_action(text, &task), Reading::Unreadable, "{text}");
        }
        assert_eq!(read_action("**Done.**", &task), Reading::Action(Action::Done));
    }

    #[test]
    fn a_plan_is_read_line_by_line() {
        let task = Task::random(1, 2, 3, 2).unwrap();
        let plan = "First:\n1. unload p1\n2) deliver p1\nAction: done\ndrive to mill";
        let read = read_actions(plan, &task, 3);
        assert_eq!(read, [Action::Unload { package: 0 }, Action::Deliver { package: 0 }, Action::Done]);
        assert_eq!(read_actions(plan, &task, 1).len(), 1);
    }
}
