//! `tlaforge init`: the files that a project can keep beside its specifications. It never changes a file that exists,
//! except that it adds lines to `.gitignore`.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use clap::Args as ClapArgs;

use super::failure::Failure;
use super::terminal::print_message;
use crate::config::{FILE_NAME, Layer};
use crate::exit::Exit;
use crate::files;
use crate::shell::shell_word;

#[derive(Debug, ClapArgs)]
pub(super) struct InitArgs {
    /// Folder of the project; it is created if it does not exist.
    #[arg(default_value = ".")]
    pub dir: PathBuf,
}

/// What commands write by default and nobody commits.
const IGNORED: [&str; 3] = ["/demo-specs*/", "/mutants.out/", "/tlaforge-defects/"];

const POLICY: &str = r#"# Rules for runs: tlaforge run DOCS --policy policy.toml
# The same rules for any log: tlaforge audit LOG --policy policy.toml
# The rules that every run has anyway: tlaforge policy show

[[rule]]
id = "every-request-is-answered"
formula = 'G (name = "request_sent" -> F one_of(name, "answer_received", "call_failed"))'
severity = "warning"
description = "each request to a model is answered, or fails"

# Without the marks, no answer of a model may contain this text.
#[[rule]]
#id = "nothing-left-to-do"
#kind = "forbidden_text"
#params = { text = "TODO" }
#severity = "warning"
#description = "no answer leaves something to be done"

# Without the marks, nothing is approved on fewer than a thousand states.
#[[rule]]
#id = "large-enough"
#owner = "review"
#when = 'row = "approved"'
#formula = '@model_check.outcome.statistics.distinct > 1000'
#description = "nothing is approved on fewer than a thousand states"
"#;

const WORKFLOW: &str = r#"# Checks every module that has a configuration beside it, with the checker that needs no Java.
name: tlaforge
on: [push, pull_request]
permissions:
  contents: read
jobs:
  check:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      # Replace this line by the way in which you install tlaforge.
      - run: pip install tlaforge
      # Each configuration (.cfg) is a test; its comment "\* EXPECT violated NAME" says what its check must find.
      - run: tlaforge test . --checker embedded --format github
"#;

pub(super) fn init(args: &InitArgs) -> Result<Exit, Failure> {
    for (name, text) in
        [(FILE_NAME, settings_file().as_str()), ("policy.toml", POLICY), (".github/workflows/tlaforge.yml", WORKFLOW)]
    {
        let path = path_in(&args.dir, name);
        let written = write_new(&path, text).map_err(|e| cannot_write(&path, &e))?;
        let shown = path.display();
        print_message(&if written { format!("wrote {shown}") } else { format!("kept {shown}, which exists") });
    }
    let path = path_in(&args.dir, ".gitignore");
    let added = ignore_outputs(&path).map_err(|e| cannot_write(&path, &e))?;
    print_message(&match added {
        0 => format!("kept {}, which has every line", path.display()),
        added => format!("added {added} lines to {}", path.display()),
    });
    let place = if args.dir == Path::new(".") { String::new() } else { format!("cd {} && ", shell_word(&args.dir)) };
    print_message(&format!("next: {place}tlaforge doctor"));
    Ok(Exit::Ok)
}

/// Without a `./` before it.
fn path_in(dir: &Path, name: &str) -> PathBuf {
    if dir == Path::new(".") { PathBuf::from(name) } else { dir.join(name) }
}

fn cannot_write(path: &Path, error: &std::io::Error) -> Failure {
    Failure::usage(format!("cannot write {}: {error}", path.display()))
}

/// Returns whether there was no such file.
fn write_new(path: &Path, text: &str) -> std::io::Result<bool> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    // A link that leads nowhere counts as a file, too.
    match std::fs::OpenOptions::new().write(true).create_new(true).open(path) {
        Ok(mut file) => file.write_all(text.as_bytes()).map(|()| true),
        Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists => Ok(false),
        Err(e) => Err(e),
    }
}

/// Adds the lines that are not there yet, and returns their number.
fn ignore_outputs(path: &Path) -> std::io::Result<usize> {
    let before = match files::read_text(path, files::SMALL) {
        Ok(text) => text,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(e) => return Err(e),
    };
    let missing: Vec<&str> = IGNORED.into_iter().filter(|line| !before.lines().any(|l| l.trim() == *line)).collect();
    if !missing.is_empty() {
        let separator = if before.is_empty() || before.ends_with('\n') { "" } else { "\n" };
        let mut file = std::fs::OpenOptions::new().append(true).create(true).open(path)?;
        write!(file, "{separator}# Outputs of tlaforge\n{}\n", missing.join("\n"))?;
    }
    Ok(missing.len())
}

/// Settings that a file may not have (`trust`).
const REFUSED: [&str; 4] = ["claude_path", "tla_tools", "allow_modules", "record"];

/// A value of each setting, and whether it is the default. Most others have no default, or one that depends on the
/// provider or the machine.
const VALUES: &[(&str, &str, bool)] = &[
    ("provider", r#""auto""#, true),
    ("model", r#""name-of-a-model""#, false),
    ("recording", r#""recording.jsonl""#, false),
    ("strict_replay", "false", true),
    ("prompts", r#""prompts""#, false),
    ("exemplars", r#""exemplars""#, true),
    ("concern", r#""the payment of an order""#, false),
    ("module", r#""Spec""#, true),
    ("normative_words", r#"["must", "shall", "never", "always", "at no time", "only if"]"#, true),
    ("draft", r#""nodes""#, false),
    ("candidates", "1", true),
    ("max_revisions", "3", true),
    ("repair", "false", true),
    ("strengthen", "0", true),
    ("mutants", "40", true),
    ("blind_reading", "true", true),
    ("bounds_budget", "60", true),
    ("checker", r#""auto""#, true),
    ("tlc_timeout", "300", true),
    ("workers", "2", false),
    ("heap_mib", "4096", false),
    ("base_url", r#""http://127.0.0.1:8080/v1""#, false),
    ("claude_api_key", "false", true),
    ("fallback_model", r#""name-of-another-model""#, false),
    ("effort", r#""high""#, false),
    ("temperature", "0.2", false),
    ("max_output", "32000", false),
    ("nodes", "{ review = { temperature = 0.2 } }", false),
    ("max_cost", "5.0", false),
    ("max_tokens", "2000000", false),
    ("max_time", r#""45m""#, false),
    ("max_retries", "5", false),
    ("retry_delay", "60", false),
    ("concurrency", "4", false),
    ("idle_timeout", "600", false),
    ("context_tokens", "32768", false),
    ("tools", "true", false),
    ("prices", r#""prices.toml""#, false),
    ("library", r#"["modules"]"#, false),
];

/// Every setting that a file may have, with its meaning, commented out.
fn settings_file() -> String {
    let schema = serde_json::to_value(schemars::schema_for!(Layer)).unwrap_or_default();
    let settings = schema["properties"].as_object().into_iter().flatten();
    let mut text = String::from(
        "# Settings of tlaforge in this folder. Flags and the environment override them.\n\
         # Remove the mark before a line to use it.\n",
    );
    for (key, setting) in settings.filter(|(key, _)| !REFUSED.contains(&key.as_str())) {
        text.push('\n');
        for line in wrapped(setting["description"].as_str().unwrap_or_default()) {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "# {line}");
        }
        // A test has a value for every key.
        let Some((_, value, is_default)) = VALUES.iter().find(|(name, _, _)| name == key) else { continue };
        let note = if *is_default { "the default" } else { "an example" };
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
