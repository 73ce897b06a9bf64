//! `tlaforge completions` and the answers to the requests of its scripts: a shell asks the program itself, so that it can
//! offer run folders, revisions and cases.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use clap::{Args as ClapArgs, Command, ValueEnum, ValueHint};
use clap_complete::engine::{ArgValueCompleter, CompletionCandidate, PathCompleter, ValueCompleter as _};
use clap_complete::env::{CompleteEnv, Shells};

use super::failure::{Fails, Failure};
use super::terminal::{print_message, write_stdout};
use crate::exit::Exit;
use crate::mutation::Operator;
use crate::pipeline::{Run, RunView};
use crate::report::decisive_revision;

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

/// Answers the request of a script. `None` if there was none.
pub(super) fn answer_completion_request(command: fn() -> Command) -> Option<Exit> {
    let here = std::env::current_dir().ok();
    let complete = CompleteEnv::with_factory(|| complete_paths(command())).var(VARIABLE);
    match complete.try_complete(std::env::args_os(), here.as_deref()) {
        Ok(false) => None,
        Ok(true) => Some(Exit::Ok),
        Err(error) => {
            let what = error.to_string();
            print_message(&format!("error: {VARIABLE}: {}", what.trim().trim_start_matches("error: ")));
            Some(Exit::Usage)
        }
    }
}

/// Gives every path without a completer of its own one that offers only plain paths.
fn complete_paths(command: Command) -> Command {
    let command = command.mut_args(|arg| {
        let is_path = arg.get_value_hint() == ValueHint::AnyPath;
        if is_path && arg.get::<ArgValueCompleter>().is_none() { arg.add(plain_paths()) } else { arg }
    });
    command.mut_subcommands(complete_paths)
}

fn plain_paths() -> ArgValueCompleter {
    ArgValueCompleter::new(|current: &OsStr| {
        PathCompleter::any().complete(current).into_iter().filter(is_plain).collect::<Vec<_>>()
    })
}

/// Whether a shell reads the value as one word. The scripts do not quote, and a name such as `$(rm x)` would be run.
fn is_plain(candidate: &CompletionCandidate) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._/-".contains(c);
    candidate.get_value().to_str().is_some_and(|value| value.chars().all(is_plain))
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
    let candidates = PathCompleter::dir().complete(current).into_iter().filter(is_plain);
    let marked = candidates.map(|candidate| {
        let is_marked = Path::new(candidate.get_value()).join(file).is_file();
        candidate.help(is_marked.then(|| help.into())).display_order(Some(usize::from(!is_marked)))
    });
    marked.collect()
}

/// The revisions of the run folder on the command line, or of `specs`.
pub(super) fn revisions() -> ArgValueCompleter {
    ArgValueCompleter::new(|current: &OsStr| {
        let entries = std::fs::read_dir(named_run().join("history")).into_iter().flatten().filter_map(Result::ok);
        candidates(entries.map(|entry| entry.file_name()).filter(|name| is_revision(name)), current)
    })
}

/// The run folder on the command line, or `specs`.
fn named_run() -> PathBuf {
    let run = std::env::args_os().map(PathBuf::from).find(|folder| Run::exists(folder));
    run.unwrap_or_else(|| PathBuf::from("specs"))
}

/// The requirements of the run folder on the command line, or of `specs`.
pub(super) fn requirements() -> ArgValueCompleter {
    ArgValueCompleter::new(|current: &OsStr| {
        let events = crate::journal::read(&named_run().join("journal.jsonl")).unwrap_or_default();
        let view = RunView::from_entries(&events);
        let requirements = decisive_revision(&view).map_or(&[][..], |revision| revision.requirements.as_slice());
        candidates(requirements.iter().map(|covered| covered.requirement.id.clone().into()), current)
    })
}

/// The cases of the suite on the command line: `--suite DIR` or `--suite=DIR`.
pub(super) fn cases_of_suite() -> ArgValueCompleter {
    ArgValueCompleter::new(|current: &OsStr| {
        let words: Vec<OsString> = std::env::args_os().collect();
        let after = words.windows(2).find(|pair| pair[0] == "--suite").map(|pair| PathBuf::from(&pair[1]));
        let joined = || words.iter().find_map(|word| Some(PathBuf::from(word.to_str()?.strip_prefix("--suite=")?)));
        let suite = after.or_else(joined).unwrap_or_default();
        let entries = std::fs::read_dir(suite).into_iter().flatten().filter_map(Result::ok);
        let cases =
            entries.filter(|entry| entry.path().join("checklist.json").is_file()).map(|entry| entry.file_name());
        candidates(cases, current)
    })
}

fn is_revision(name: &OsStr) -> bool {
    let number = name.to_str().and_then(|name| name.strip_prefix("rev_"));
    number.is_some_and(|number| !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()))
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
    values.into_iter().map(CompletionCandidate::new).filter(is_plain).collect()
}
