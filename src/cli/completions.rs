//! `tlaforge completions` and the answers to the requests of its scripts: a shell asks the program itself, so that it can
//! offer run folders, revisions and cases.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use clap::{Args as ClapArgs, Command, ValueEnum};
use clap_complete::engine::{ArgValueCompleter, CompletionCandidate, PathCompleter, ValueCompleter as _};
use clap_complete::env::{CompleteEnv, Shells};

use super::failure::{Fails, Failure};
use super::terminal::write_stdout;
use crate::exit::Exit;
use crate::mutation::Operator;
use crate::pipeline::Run;

/// The variable by which a script asks.
const VARIABLE: &str = "TLAFORGE_COMPLETE";

#[derive(Debug, ClapArgs)]
pub(super) struct CompletionsArgs {
    /// Shell to print the script for.
    #[arg(value_enum)]
    pub shell: Shell,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Shell {
    Bash,
    Zsh,
    Fish,
    Powershell,
}

impl Shell {
    fn name(self) -> &'static str {
        match self {
            Self::Bash => "bash",
            Self::Zsh => "zsh",
            Self::Fish => "fish",
            Self::Powershell => "powershell",
        }
    }
}

pub(super) fn completions(args: &CompletionsArgs) -> Result<Exit, Failure> {
    let shells = Shells::builtins();
    let shell = shells.completer(args.shell.name()).expect("clap_complete knows the shell");
    let mut script = Vec::new();
    shell.write_registration(VARIABLE, "tlaforge", "tlaforge", "tlaforge", &mut script).fails(Exit::Tool)?;
    write_stdout(&script);
    Ok(Exit::Ok)
}

/// Answers the request of a script. Returns whether there was one.
pub(super) fn answer_completion_request(command: fn() -> Command) -> bool {
    let here = std::env::current_dir().ok();
    CompleteEnv::with_factory(command)
        .var(VARIABLE)
        .try_complete(std::env::args_os(), here.as_deref())
        // A shell shows what we print, and there is nobody to read an error.
        .unwrap_or(true)
}

/// Run folders, and folders that may hold one.
pub(super) fn run_folders() -> ArgValueCompleter {
    ArgValueCompleter::new(|current: &OsStr| folders_marked(current, "journal.jsonl", "a run"))
}

/// Folders of cases, and folders that may hold one.
pub(super) fn cases() -> ArgValueCompleter {
    ArgValueCompleter::new(|current: &OsStr| folders_marked(current, "checklist.json", "a case"))
}

fn folders_marked(current: &OsStr, file: &'static str, help: &'static str) -> Vec<CompletionCandidate> {
    let candidates = PathCompleter::dir().complete(current).into_iter();
    let marked = candidates.map(|candidate| {
        let is_marked = Path::new(candidate.get_value()).join(file).is_file();
        candidate.help(is_marked.then(|| help.into())).display_order(Some(usize::from(!is_marked)))
    });
    marked.collect()
}

/// The revisions of the run folder on the command line, or of `specs`.
pub(super) fn revisions() -> ArgValueCompleter {
    ArgValueCompleter::new(|current: &OsStr| {
        let run = std::env::args_os().map(PathBuf::from).find(|folder| Run::exists(folder));
        let history = run.unwrap_or_else(|| PathBuf::from("specs")).join("history");
        let entries = std::fs::read_dir(history).into_iter().flatten().filter_map(Result::ok);
        let names = entries.map(|entry| entry.file_name());
        candidates(names.filter(|name| name.to_string_lossy().starts_with("rev_")), current)
    })
}

/// The mutation operators.
pub(super) fn operators() -> ArgValueCompleter {
    ArgValueCompleter::new(|current: &OsStr| candidates(Operator::ALL.iter().map(|o| o.id().into()), current))
}

fn candidates(values: impl Iterator<Item = OsString>, current: &OsStr) -> Vec<CompletionCandidate> {
    let begins = |value: &OsString| value.to_string_lossy().starts_with(&*current.to_string_lossy());
    let mut values: Vec<OsString> = values.filter(begins).collect();
    // As numbers: rev_2 before rev_10.
    values.sort_by_key(|value| (value.len(), value.clone()));
    values.into_iter().map(CompletionCandidate::new).collect()
}
