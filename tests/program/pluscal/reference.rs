//! The reference translator and the comparison with it: token by token, and as text.
#![allow(
    dead_code,
    unreachable_pub,
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "each test binary uses a part of it"
)]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::time::Duration;

use sha2::{Digest, Sha256};
use tlaforge::pluscal::{Compat, Options, translate};

use crate::support::waiting::holds_within;
use crate::support::{jar, java, project};

/// What a translator makes of a module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Made {
    /// The whole module, its translation in place.
    Translated(String),
    /// It has no algorithm.
    Nothing,
    /// Places, from 1, and what was said.
    Rejected(Vec<(usize, usize)>, String),
}

/// Ours.
pub fn ours(text: &str, compat: Compat) -> Made {
    match translate(text, &Options { compat, ..Options::default() }) {
        Ok(Some(translated)) => Made::Translated(translated.text),
        Ok(None) => Made::Nothing,
        Err(diagnostics) => {
            assert!(!diagnostics.is_empty(), "a rejection says why");
            let message = diagnostics.iter().map(|d| format!("{d}")).collect::<Vec<_>>().join("; ");
            Made::Rejected(diagnostics.iter().map(|d| (d.line, d.column)).collect(), message)
        }
    }
}

/// A translator in Java.
pub struct Reference {
    java: PathBuf,
    class_path: String,
    memory: PathBuf,
    /// Whose translation of ours it is compared with.
    pub compat: Compat,
}

impl Reference {
    /// That of 2020, in the jar that the registries have.
    pub fn of_2020() -> Self {
        Self::at(jar().to_str().unwrap(), Compat::Y2020)
    }

    /// Today's, where `TLAFORGE_PCAL_TODAY` is a class path of it.
    pub fn of_today() -> Option<Self> {
        std::env::var("TLAFORGE_PCAL_TODAY").ok().map(|path| Self::at(&path, Compat::Today))
    }

    fn at(class_path: &str, compat: Compat) -> Self {
        let memory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("pcal-memory");
        std::fs::create_dir_all(&memory).unwrap();
        Self { java: java(), class_path: class_path.to_owned(), memory, compat }
    }

    /// What it makes of this module. What it once said of the same text is remembered.
    pub fn translate(&self, name: &str, text: &str) -> Made {
        let mut key = Sha256::new();
        for part in [self.class_path.as_str(), name, text] {
            key.update((part.len() as u64).to_le_bytes());
            key.update(part.as_bytes());
        }
        let key = key.finalize().iter().fold(String::new(), |mut hex, byte| {
            let _ = write!(hex, "{byte:02x}");
            hex
        });
        let entry = self.memory.join(key);
        let said = std::fs::read_to_string(&entry).unwrap_or_else(|_| {
            let said = self.ask(name, text);
            let mut file = tempfile::NamedTempFile::new_in(&self.memory).unwrap();
            std::io::Write::write_all(&mut file, said.as_bytes()).unwrap();
            file.persist(&entry).unwrap();
            said
        });
        match said.split_once('\n').unwrap() {
            ("translated", text) => Made::Translated(text.to_owned()),
            ("nothing", _) => Made::Nothing,
            (_, message) => Made::Rejected(places(message), message.trim().to_owned()),
        }
    }

    fn ask(&self, name: &str, text: &str) -> String {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join(format!("{name}.tla"));
        std::fs::write(&file, text).unwrap();
        let mut child = Command::new(&self.java)
            .args(["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Dfile.encoding=UTF-8", "-cp"])
            .arg(&self.class_path)
            .args(["pcal.trans", "-nocfg"])
            .arg(format!("{name}.tla"))
            .current_dir(dir.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // On some damaged modules it never ends.
        if !holds_within(Duration::from_secs(60), || child.try_wait().unwrap().is_some()) {
            child.kill().unwrap();
            child.wait().unwrap();
            return format!("rejected\n{HANGS}");
        }
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
        if said.contains("Translation completed") {
            format!("translated\n{}", std::fs::read_to_string(&file).unwrap())
        } else if said.contains("Beginning of algorithm string") {
            "nothing\n".to_owned()
        } else {
            let said = said.lines().filter(|l| !l.starts_with("pcal.trans Version")).collect::<Vec<_>>();
            format!("rejected\n{}", said.join("\n"))
        }
    }
}

/// Every `line N, column M` of a message; `line N.` alone has column 0.
pub fn places(message: &str) -> Vec<(usize, usize)> {
    let number = |text: &str| text.chars().take_while(char::is_ascii_digit).collect::<String>().parse().ok();
    message
        .match_indices("line ")
        .filter(|(at, _)| !message[..*at].ends_with("macro called at "))
        .filter_map(|(at, found)| {
            let rest = &message[at + found.len()..];
            let line = number(rest)?;
            let column = rest.trim_start_matches(|c: char| c.is_ascii_digit()).strip_prefix(", column ");
            Some((line, column.and_then(number).unwrap_or(0)))
        })
        .collect()
}

/// How two verdicts on the same module compare.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Comparison {
    /// The same text, or both reject, or neither finds an algorithm.
    Same,
    /// The same tokens.
    Layout,
    /// Other tokens.
    Different,
    /// Only ours rejects it.
    WeReject,
    /// Only the reference rejects it.
    TheyReject,
    /// The reference breaks, and says so.
    TheirDefect,
}

impl Comparison {
    pub const ALL: [(Self, &'static str); 6] = [
        (Self::Same, "same"),
        (Self::Layout, "same but layout"),
        (Self::Different, "different"),
        (Self::WeReject, "we reject"),
        (Self::TheyReject, "they reject"),
        (Self::TheirDefect, "they break"),
    ];
}

/// Compares what we make of `source` with what the reference makes of it, and says where they first differ.
pub fn compare(source: &str, ours: &Made, theirs: &Made) -> (Comparison, String) {
    match (ours, theirs) {
        (Made::Translated(ours), Made::Translated(theirs)) => {
            if let Some(problem) = changed_outside(source, ours) {
                return (Comparison::Different, problem);
            }
            // Absent is allowed, wrong is not. That of 2020 leaves those of today as they are, and adds its own; today's
            // leaves those of a damaged line as they are.
            if let (Some(ours), Some(theirs)) = (checksums(ours), checksums(theirs))
                && ours != theirs
                && !theirs.contains("PCal-")
                && Some(theirs) != checksums(source)
            {
                return (Comparison::Different, format!("checksums: ours {ours}, theirs {theirs}"));
            }
            match (block(ours), block(theirs)) {
                (Some(ours), Some(theirs)) => compare_blocks(ours, theirs),
                (ours, _) => (Comparison::Different, format!("no markers in {}", whose(ours.is_none()))),
            }
        }
        (_, Made::Rejected(_, message)) if is_their_defect(message) => (Comparison::TheirDefect, message.clone()),
        (Made::Rejected(..), Made::Rejected(..)) | (Made::Nothing, Made::Nothing) => (Comparison::Same, String::new()),
        // What ends the reference before it looks for an algorithm.
        (Made::Nothing, Made::Rejected(..)) if !["--algorithm", "--fair"].iter().any(|word| source.contains(word)) => {
            (Comparison::Same, String::new())
        }
        (Made::Rejected(_, message), _) => (Comparison::WeReject, message.clone()),
        (_, Made::Rejected(_, message)) => (Comparison::TheyReject, message.replace('\n', " ")),
        (Made::Nothing, _) => (Comparison::WeReject, "we find no algorithm".to_owned()),
        (_, Made::Nothing) => (Comparison::TheyReject, "they find no algorithm".to_owned()),
    }
}

/// What is remembered of a reference that did not end.
const HANGS: &str = "it does not end";

/// The reference met a state that its author excluded; what it says is about itself, not about the algorithm.
pub fn is_their_defect(message: &str) -> bool {
    [HANGS, "You have discovered a bug", "Exception in thread"].iter().any(|m| message.contains(m))
}

fn whose(ours: bool) -> &'static str {
    if ours { "ours" } else { "theirs" }
}

/// Compares two translation blocks.
pub fn compare_blocks(ours: &str, theirs: &str) -> (Comparison, String) {
    let lines = |text: &str| text.lines().map(|l| l.trim_end().to_owned()).collect::<Vec<_>>();
    let (our_tokens, their_tokens) = (tokens(ours), tokens(theirs));
    if our_tokens != their_tokens {
        let same = our_tokens.iter().zip(&their_tokens).take_while(|(a, b)| a == b).count();
        let show = |tokens: &[String]| tokens[same.saturating_sub(6)..tokens.len().min(same + 8)].join(" ");
        let what = format!("ours: {}\n    theirs: {}", show(&our_tokens), show(&their_tokens));
        return (Comparison::Different, what);
    }
    let (our_lines, their_lines) = (lines(ours), lines(theirs));
    if our_lines != their_lines {
        let same = our_lines.iter().zip(&their_lines).take_while(|(a, b)| a == b).count();
        let show = |lines: &[String]| lines.get(same).cloned().unwrap_or_default();
        let what = format!("ours:   {}\n    theirs: {}", show(&our_lines), show(&their_lines));
        return (Comparison::Layout, what);
    }
    (Comparison::Same, String::new())
}

/// The line that holds both words, next to each other: where it starts and where the next one does.
fn marker(text: &str, first: &str, from: usize) -> Option<(usize, usize)> {
    let mut start = from;
    for line in text[from..].split_inclusive('\n') {
        let both = |(at, _): (usize, &str)| line[at + first.len()..].trim_start().starts_with("TRANSLATION");
        if line.match_indices(first).any(both) {
            return Some((start, start + line.len()));
        }
        start += line.len();
    }
    None
}

/// The checksums in the line that begins the translation, as today's translator writes them.
pub fn checksums(text: &str) -> Option<&str> {
    let (begin, end) = marker(text, "BEGIN", 0)?;
    let line = text[begin..end].trim_end();
    line.find("(chksum(").map(|at| &line[at..])
}

/// What stands between the lines of the two markers.
pub fn block(text: &str) -> Option<&str> {
    let (_, begin) = marker(text, "BEGIN", 0)?;
    let (end, _) = marker(text, "END", begin)?;
    Some(&text[begin..end])
}

/// All but the translation and its marker lines stands in the result byte for byte.
fn changed_outside(source: &str, result: &str) -> Option<String> {
    let around = |text: &str| -> Option<(String, String)> {
        let (begin, inside) = marker(text, "BEGIN", 0)?;
        let (_, end) = marker(text, "END", inside)?;
        Some((text[..begin].to_owned(), text[end..].to_owned()))
    };
    let Some((before, after)) = around(result) else { return Some("our result has no markers".to_owned()) };
    let kept = match around(source) {
        Some((first, last)) => first == before && last == after,
        // A last line without its end gets one.
        None => before.clone() + &after == source || before + &after == format!("{source}\n"),
    };
    (!kept).then(|| "ours changes text outside the translation".to_owned())
}

/// Operators of more than one character, longest first.
const OPERATORS: [&str; 48] = [
    "<=>", "|->", "...", "(+)", "(-)", "(.)", "(/)", "(\\X)", "-+->", ":=", "::=", "<<", ">>", "->", "<-", "=>", "==",
    "/\\", "\\/", "||", "..", "[]", "<>", "~>", "/=", "<=", "=<", ">=", "(*", "*)", "\\*", "++", "--", "**", "//",
    "^^", "^+", "^*", "^#", "&&", "%%", "##", "$$", "??", "!!", "|-", "-|", "|=",
];

/// White space goes; a comment is compared like the rest.
pub fn tokens(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let word = |c: char| c.is_alphanumeric() || c == '_';
        let length = if word(first) {
            rest.find(|c| !word(c)).unwrap_or(rest.len())
        } else if first == '"' {
            string_length(rest)
        } else if let Some(operator) = OPERATORS.iter().find(|o| rest.starts_with(**o)) {
            operator.len()
        } else if first == '\\' {
            1 + rest[1..].find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len() - 1)
        } else {
            first.len_utf8()
        };
        found.push(rest[..length].to_owned());
        rest = rest[length..].trim_start();
    }
    found
}

fn string_length(rest: &str) -> usize {
    let mut escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' | '\n' => return at + 1,
            _ => {}
        }
    }
    rest.len()
}

/// The modules of a folder below `tests/program/pluscal`, by name.
pub fn modules(folder: &str) -> BTreeMap<String, String> {
    let dir = project().join("tests/program/pluscal").join(folder);
    let entries = std::fs::read_dir(&dir).unwrap().map(|e| e.unwrap().path());
    let entries = entries.filter(|p| p.extension().is_some_and(|e| e == "tla"));
    entries.map(|p| (name_of(&p), std::fs::read_to_string(&p).unwrap())).collect()
}

pub fn name_of(path: &Path) -> String {
    path.file_stem().unwrap().to_str().unwrap().to_owned()
}

/// Runs a function over all of them in two threads; results come in order.
pub fn in_two_threads<T: Send + Sync, R: Send>(items: &[T], each: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = Mutex::new(0..items.len());
    let mut results: Vec<(usize, R)> = std::thread::scope(|scope| {
        let work = || {
            let mut done = Vec::new();
            while let Some(at) = { next.lock().unwrap().next() } {
                done.push((at, each(&items[at])));
            }
            done
        };
        let threads: Vec<_> = (0..2).map(|_| scope.spawn(work)).collect();
        threads.into_iter().flat_map(|t| t.join().unwrap()).collect()
    });
    results.sort_by_key(|(at, _)| *at);
    results.into_iter().map(|(_, result)| result).collect()
}

/// A count for each comparison, and what differs.
#[derive(Default)]
pub struct Table {
    counts: BTreeMap<Comparison, usize>,
    pub differences: Vec<String>,
}

impl Table {
    pub fn add(&mut self, name: &str, (comparison, what): (Comparison, String)) {
        *self.counts.entry(comparison).or_default() += 1;
        if comparison != Comparison::Same {
            let kind = Comparison::ALL.iter().find(|(c, _)| *c == comparison).unwrap().1;
            self.differences.push(format!("{name}: {kind}\n    {what}"));
        }
    }

    pub fn count(&self, comparison: Comparison) -> usize {
        self.counts.get(&comparison).copied().unwrap_or(0)
    }

    /// One line of figures.
    pub fn figures(&self) -> String {
        let each = Comparison::ALL.iter().map(|(c, name)| format!("{} {name}", self.count(*c)));
        each.collect::<Vec<_>>().join(", ")
    }

    /// A line for each comparison.
    pub fn rows(&self) -> String {
        let each = Comparison::ALL.iter().map(|(c, name)| format!("{:>6}  {name}", self.count(*c)));
        each.collect::<Vec<_>>().join("\n")
    }

    /// What is not the same token for token.
    #[track_caller]
    pub fn assert_same_tokens(&self) {
        let wrong: usize = [Comparison::Different, Comparison::WeReject, Comparison::TheyReject]
            .into_iter()
            .map(|c| self.count(c))
            .sum();
        assert_eq!(wrong, 0, "{}\n{}", self.figures(), self.differences.join("\n"));
    }
}
