//! `tlaforge init`: the files that a project can keep beside its specifications. It never changes a file that exists,
//! except that it adds lines to `.gitignore`.

use std::fmt::Write as _;
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use clap::Args as ClapArgs;

use super::failure::Failure;
use super::terminal::print_message;
use super::trust::REFUSED_IN_FILE;
use crate::config::{FILE_NAME, Layer};
use crate::exit::Exit;
use crate::files;
use crate::report::counted;
use crate::shell::shell_word;

#[derive(Debug, ClapArgs)]
pub(super) struct InitArgs {
    /// Folder of the project; it is created if it does not exist.
    #[arg(default_value = ".")]
    pub dir: PathBuf,
}

const GITIGNORE: &str = ".gitignore";

/// The default output folders of the commands, which do not belong in version control.
const IGNORED: [&str; 3] = ["/demo-specs*/", "/mutants.out/", "/tlaforge-defects/"];

const POLICY: &str = r#"# Rules for runs: tlaforge run DOCS --policy policy.toml
# The same rules for any log: tlaforge audit LOG --policy policy.toml
# The rules that every run has anyway: tlaforge policy show

[[rule]]
id = "every-request-is-answered"
formula = 'G (name = "request_sent" -> F one_of(name, "answer_received", "call_failed"))'
severity = "warning"
description = "each request to a model is answered, or fails"

# Uncomment to report each answer of a model that contains this text.
#[[rule]]
#id = "nothing-left-to-do"
#kind = "forbidden_text"
#params = { text = "TODO" }
#severity = "warning"
#description = "no answer leaves something to be done"

# Uncomment to approve nothing on fewer than a thousand states.
#[[rule]]
#id = "large-enough"
#owner = "review"
#when = 'row = "approved"'
#formula = '@model_check.outcome.statistics.distinct > 1000'
#description = "nothing is approved on fewer than a thousand states"
"#;

const WORKFLOW: &str = r#"# Checks every module that has a configuration beside it, with the checker that needs no Java.
# The job fails until the project has a module with a configuration (.cfg) beside it.
name: tlaforge
on: [push, pull_request]
permissions:
  contents: read
jobs:
  check:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - run: exit 1  # install tlaforge here
      # Each configuration (.cfg) is a test; its comment "\* EXPECT violated NAME" says what its check must find.
      - run: tlaforge test . --checker embedded --format github
"#;

pub(super) fn init(args: &InitArgs) -> Result<Exit, Failure> {
    std::fs::create_dir_all(&args.dir).map_err(|e| cannot_write(&args.dir, &e))?;
    let settings = settings_file();
    let new_files =
        [(FILE_NAME, settings.as_str()), ("policy.toml", POLICY), (".github/workflows/tlaforge.yml", WORKFLOW)];
    // Everything that can be refused, before anything is written.
    for name in new_files.map(|(name, _)| name).into_iter().chain([GITIGNORE]) {
        refuse_link(&args.dir, name)?;
    }
    let gitignore = path_in(&args.dir, GITIGNORE);
    let ignored =
        read_if_exists(&gitignore).map_err(|e| Failure::usage(format!("cannot read {}: {e}", gitignore.display())))?;
    for (name, text) in new_files {
        let path = path_in(&args.dir, name);
        let is_new = create(&path, text).map_err(|e| cannot_write(&path, &e))?;
        let shown = path.display();
        print_message(&if is_new { format!("wrote {shown}") } else { format!("kept {shown}, which exists") });
    }
    let added = ignore_outputs(&gitignore, &ignored).map_err(|e| cannot_write(&gitignore, &e))?;
    print_message(&match added {
        0 => format!("kept {}, which has every line", gitignore.display()),
        added => format!("added {} to {}", counted(added, "line"), gitignore.display()),
    });
    let place = if args.dir == Path::new(".") { String::new() } else { format!("cd {} && ", shell_word(&args.dir)) };
    print_message(&format!("next: {place}tlaforge doctor"));
    Ok(Exit::Ok)
}

/// Refuses a file that a link leads out of the project, because it would be written there.
fn refuse_link(dir: &Path, name: &str) -> Result<(), Failure> {
    let parts = Path::new(name).ancestors().filter(|part| !part.as_os_str().is_empty());
    let is_dangling = |part: &Path| dir.join(part).is_symlink() && !dir.join(part).exists();
    match parts.into_iter().find(|part| is_dangling(part) || !files::is_within(dir, part)) {
        None => Ok(()),
        Some(part) => {
            Err(Failure::usage(format!("{} is a link that leads out of the project", dir.join(part).display()))
                .hint("nothing was written; remove the link"))
        }
    }
}

/// Without a `./` before it.
fn path_in(dir: &Path, name: &str) -> PathBuf {
    if dir == Path::new(".") { PathBuf::from(name) } else { dir.join(name) }
}

fn cannot_write(path: &Path, error: &std::io::Error) -> Failure {
    Failure::usage(format!("cannot write {}: {error}", path.display()))
}

/// Returns whether there was no such file.
fn create(path: &Path, text: &str) -> std::io::Result<bool> {
    // Absolute, so that it has a folder for the temporary file.
    let path = std::path::absolute(path)?;
    path.parent().map_or(Ok(()), std::fs::create_dir_all)?;
    match files::create_atomically(&path, text.as_bytes()) {
        Ok(()) => Ok(true),
        Err(e) if e.kind() == ErrorKind::AlreadyExists => Ok(false),
        Err(e) => Err(e),
    }
}

fn read_if_exists(path: &Path) -> std::io::Result<String> {
    match files::read_text(path, files::SMALL) {
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(String::new()),
        read => read,
    }
}

/// Adds the lines that are not there yet, and returns their number.
fn ignore_outputs(path: &Path, before: &str) -> std::io::Result<usize> {
    let missing: Vec<&str> = IGNORED.into_iter().filter(|line| !before.lines().any(|l| l.trim() == *line)).collect();
    if !missing.is_empty() {
        let separator = if before.is_empty() || before.ends_with('\n') { "" } else { "\n" };
        // The project may have come from elsewhere, and the target of a link may be a file of the user.
        files::check_below(path.parent().unwrap_or(Path::new("")), path)?;
        let mut file = std::fs::OpenOptions::new().append(true).create(true).open(path)?;
        write!(file, "{separator}# Outputs of tlaforge\n{}\n", missing.join("\n"))?;
    }
    Ok(missing.len())
}

const DEFAULT: &str = "the default";
const EXAMPLE: &str = "an example";
const EXAMPLE_FILE: &str = "an example; the file must exist";
const EXAMPLE_FOLDER: &str = "an example; the folder must exist";

/// A value of each setting, and what it is. Most of those that are examples have no default, or one that depends on the
/// provider, the folder or the machine.
const VALUES: &[(&str, &str, &str)] = &[
    ("provider", r#""auto""#, DEFAULT),
    ("model", r#""name-of-a-model""#, EXAMPLE),
    ("recording", r#""recording.jsonl""#, EXAMPLE_FILE),
    ("strict_replay", "false", DEFAULT),
    ("prompts", r#""prompts""#, EXAMPLE_FOLDER),
    ("exemplars", r#""exemplars""#, EXAMPLE_FOLDER),
    ("concern", r#""the payment of an order""#, EXAMPLE),
    ("module", r#""Spec""#, EXAMPLE),
    (
        "normative_words",
        r#"["must", "shall", "never", "always", "at no time", "only if", "at most", "exactly once", "exactly one", "unless", "is guaranteed", "are guaranteed", "cannot", "eventually", "at least", "stay", "stays", "remain", "remains", "until", "before", "after"]"#,
        DEFAULT,
    ),
    ("draft", r#""nodes""#, EXAMPLE),
    ("candidates", "1", DEFAULT),
    ("max_revisions", "3", DEFAULT),
    ("repair", "false", DEFAULT),
    ("strengthen", "1", DEFAULT),
    ("mutants", "40", DEFAULT),
    ("min_score", "0.9", EXAMPLE),
    ("blind_reading", "true", DEFAULT),
    ("contracts", "true", DEFAULT),
    ("bounds_budget", "120", DEFAULT),
    ("checker", r#""auto""#, DEFAULT),
    ("tlc_timeout", "300", DEFAULT),
    ("workers", "2", EXAMPLE),
    ("heap_mib", "4096", EXAMPLE),
    ("base_url", r#""http://127.0.0.1:8080/v1""#, EXAMPLE),
    ("claude_api_key", "false", DEFAULT),
    ("fallback_model", r#""name-of-another-model""#, EXAMPLE),
    ("effort", r#""high""#, EXAMPLE),
    ("temperature", "0.2", EXAMPLE),
    ("max_output", "32000", EXAMPLE),
    ("nodes", "{ review = { temperature = 0.2 } }", EXAMPLE),
    ("max_cost", "5.0", EXAMPLE),
    ("max_tokens", "2000000", EXAMPLE),
    ("max_time", r#""45m""#, EXAMPLE),
    ("max_retries", "5", EXAMPLE),
    ("retry_delay", "60", EXAMPLE),
    ("concurrency", "4", EXAMPLE),
    ("idle_timeout", "600", EXAMPLE),
    ("context_tokens", "32768", EXAMPLE),
    ("tools", "true", EXAMPLE),
    ("prices", r#""prices.toml""#, EXAMPLE_FILE),
    ("library", r#"["modules"]"#, EXAMPLE_FOLDER),
];

/// Every setting that a file may have, with its meaning, commented out.
fn settings_file() -> String {
    let schema = serde_json::to_value(schemars::schema_for!(Layer)).unwrap_or_default();
    let settings = schema["properties"].as_object().into_iter().flatten();
    let mut text = String::from(
        "# Settings of tlaforge in this folder. Flags and the environment override them.\n\
         # Remove the `#` before a line to use it.\n",
    );
    for (key, setting) in settings.filter(|(key, _)| !REFUSED_IN_FILE.contains(&key.as_str())) {
        text.push('\n');
        for line in wrapped(setting["description"].as_str().unwrap_or_default()) {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "# {line}");
        }
        // A test has a value for every key.
        let Some((_, value, note)) = VALUES.iter().find(|(name, _, _)| name == key) else { continue };
        let _ = writeln!(text, "#{key} = {value}  # {note}");
    }
    text
}

/// The words in lines of at most 100 characters.
fn wrapped(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.len() + 1 + word.len() <= 100 => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}
