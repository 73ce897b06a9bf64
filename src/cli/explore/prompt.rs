//! The prompt of `tlaforge explore`: a line with history and completion.

use std::borrow::Cow;

use rustyline::completion::{Completer, Pair};
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::MemHistory;
use rustyline::validate::Validator;
use rustyline::{Config, Context, Editor, Helper};

use super::commands::{COMMANDS, Command};
use super::exploration::Exploration;
use super::output::{overview, run_command};
use crate::cli::failure::Failure;
use crate::cli::terminal::{print_message, print_result};
use crate::exit::Exit;

/// Completes the names of commands and of the actions of the present state.
#[derive(Default)]
struct Names(Vec<String>);

impl Completer for Names {
    type Candidate = Pair;

    fn complete(&self, line: &str, end: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<Pair>)> {
        let start = line[..end].rfind(char::is_whitespace).map_or(0, |at| at + 1);
        let begun = &line[start..end];
        let commands =
            COMMANDS.iter().map(|(name, ..)| *name).filter(|name| start == 0 && *name == name.to_lowercase());
        let names = commands.chain(self.0.iter().map(String::as_str));
        let fitting = names.filter(|name| name.starts_with(begun));
        let pair = |name: &str| Pair { display: name.to_owned(), replacement: name.to_owned() };
        Ok((start, fitting.map(pair).collect()))
    }
}

impl Hinter for Names {
    type Hint = String;
}

impl Highlighter for Names {
    fn highlight<'l>(&self, line: &'l str, _: usize) -> Cow<'l, str> {
        Cow::Borrowed(line)
    }
}

impl Validator for Names {}
impl Helper for Names {}

/// Asks for commands until the end.
pub(super) async fn ask(exploration: &mut Exploration<'_>) -> Result<Exit, Failure> {
    let failure = |error: ReadlineError| Failure::usage(format!("the terminal cannot be read: {error}"));
    let mut editor: Editor<Names, MemHistory> =
        Editor::with_history(Config::builder().auto_add_history(true).build(), MemHistory::new()).map_err(failure)?;
    print_result(&(overview(exploration).text() + "\n"));
    print_message("`help` lists the commands");
    loop {
        editor.set_helper(Some(Names(exploration.action_names())));
        let line = match editor.readline("> ") {
            Ok(line) => line,
            Err(ReadlineError::Interrupted | ReadlineError::Eof) => return Ok(Exit::Ok),
            Err(error) => return Err(failure(error)),
        };
        let output = match Command::parse(&line) {
            Ok(Command::Quit) => return Ok(Exit::Ok),
            Ok(command) => run_command(exploration, &command).await,
            Err(_) if line.trim().is_empty() => continue,
            Err(why) => Err(why),
        };
        match output {
            Ok(output) => print_result(&(output.text() + "\n")),
            Err(why) => print_message(&format!("error: {why}")),
        }
    }
}
