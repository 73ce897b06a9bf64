//! The commands of `tlaforge explore`.

/// The names of all commands, with their arguments and what they do.
pub(super) const COMMANDS: [(&str, &str, &str); 11] = [
    ("steps", "", "list the steps that are possible, and what each would change"),
    ("N", "", "take step N of the list; at the beginning, choose initial state N"),
    ("ACTION", "", "take the step of this action, such as Enter(1), if there is one"),
    ("why", "[ACTION]", "say which condition prevents an action, or each action that is not possible"),
    ("undo", "[N]", "go back by N steps, or by one"),
    ("state", "", "show the values of the variables"),
    ("path", "", "show the steps so far"),
    ("eval", "EXPRESSION", "show the value of an expression in this state"),
    ("goto", "EXPRESSION", "take the shortest path to a state in which an expression is TRUE, such as a witness"),
    (
        "save",
        "FILE",
        "write the path to a file, in the format that its name ends with (.itf.json, .json, .md, .mmd, .puml)",
    ),
    ("quit", "", "end"),
];

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Command {
    Steps,
    Take(usize),
    TakeAction(String),
    Why(Option<String>),
    Undo(usize),
    State,
    Path,
    Eval(String),
    Goto(String),
    Save(String),
    Help,
    Quit,
}

impl Command {
    /// Parses a line.
    ///
    /// # Errors
    /// It is no command.
    pub(super) fn parse(line: &str) -> Result<Self, String> {
        let line = line.trim();
        let (word, rest) = line.split_once(char::is_whitespace).map_or((line, ""), |(word, rest)| (word, rest.trim()));
        let needed = |what: &str| {
            if rest.is_empty() { Err(format!("`{word}` needs {what}")) } else { Ok(rest.to_owned()) }
        };
        let alone = |command: Self| {
            if rest.is_empty() { Ok(command) } else { Err(format!("`{word}` has no argument, and got `{rest}`")) }
        };
        match word {
            "" => Err("a command is missing; `help` lists them".to_owned()),
            "steps" | "ls" => alone(Self::Steps),
            "state" => alone(Self::State),
            "path" => alone(Self::Path),
            "help" | "?" => alone(Self::Help),
            "quit" | "exit" => alone(Self::Quit),
            "why" => Ok(Self::Why((!rest.is_empty()).then(|| rest.to_owned()))),
            "undo" if rest.is_empty() => Ok(Self::Undo(1)),
            "undo" => match rest.parse() {
                Ok(number) if number > 0 => Ok(Self::Undo(number)),
                _ => Err(format!("`undo` needs a number of steps, and got `{rest}`")),
            },
            "eval" => needed("an expression").map(Self::Eval),
            "goto" => needed("an expression that is TRUE in the state to go to").map(Self::Goto),
            "save" => needed("a file").map(Self::Save),
            _ => match line.parse() {
                Ok(number) => Ok(Self::Take(number)),
                Err(_) => Ok(Self::TakeAction(line.to_owned())),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_command_a_number_or_an_action() {
        for (line, wanted) in [
            (" 3 ", Ok(Command::Take(3))),
            ("Enter(1)", Ok(Command::TakeAction("Enter(1)".to_owned()))),
            ("eval x = 1", Ok(Command::Eval("x = 1".to_owned()))),
            ("undo", Ok(Command::Undo(1))),
            ("undo 2", Ok(Command::Undo(2))),
            ("why", Ok(Command::Why(None))),
        ] {
            assert_eq!(Command::parse(line), wanted, "{line}");
        }
        for line in ["", "undo x", "undo 0", "eval", "goto ", "steps all"] {
            assert!(Command::parse(line).is_err(), "{line}");
        }
    }
}
