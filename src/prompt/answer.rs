//! Reading a model's answer. What can be read beyond doubt is read; all else is a [`Problem`] that quotes what is wrong.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::spelling::{Kind, Lexer, spelt};
use super::strict_json::Strict;

/// What a model is told when its answer could not be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Problem {
    /// In words, with a quotation.
    pub what: String,
}

impl Problem {
    /// A problem in these words.
    pub fn new(what: impl Into<String>) -> Self {
        Self { what: what.into() }
    }
}

/// Something read from an answer, and what had to be set aside to read it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Readable<T> {
    /// What was read.
    pub value: T,
    /// What was normalised, in words; empty where the answer was as asked.
    pub normalised: Vec<String>,
}

/// A fenced block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fence {
    /// What stands behind the opening fence, lower case.
    pub info: String,
    /// What stands between the fences.
    pub body: String,
    /// Whether it was closed.
    pub closed: bool,
    /// The marks of the opening fence.
    pub mark: String,
    /// Where it begins in the text.
    pub at: usize,
}

impl Fence {
    /// Whether this is one of the words behind the opening fence.
    pub(super) fn is_named(&self, name: &str) -> bool {
        self.info.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').any(|word| word == name)
    }

    /// Whether a module begins in it.
    pub(super) fn has_module(&self) -> bool {
        has_header(&self.body)
    }

    /// As it stood in the answer.
    pub(super) fn render(&self) -> String {
        let end = if self.closed { format!("{}\n", self.mark) } else { String::new() };
        format!("{}{}\n{}{end}", self.mark, self.info, self.body)
    }
}

/// Line ends and marks of the encoding.
pub fn normalise(text: &str) -> String {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    // Pieces that were put together bring their marks with them.
    text.trim_start_matches('\u{feff}').replace("\n\u{feff}", "\n")
}

/// Both, with what was done.
fn normalised(answer: &str) -> (String, Vec<String>) {
    let text = normalise(answer);
    let notes = if text == answer { Vec::new() } else { vec!["line ends or a byte-order mark".to_owned()] };
    (text, notes)
}

/// All fenced blocks, in order. A fence is closed by one at least as long, of the same mark (CommonMark, section 4.5).
pub fn fences(text: &str) -> Vec<Fence> {
    split(text).0
}

/// What stands outside of all fences.
pub(crate) fn outside_fences(text: &str) -> String {
    split(text).1
}

fn split(text: &str) -> (Vec<Fence>, String) {
    let mut found = Vec::new();
    let mut outside = String::new();
    let mut open: Option<Fence> = None;
    let mut at = 0;
    for whole_line in text.split_inclusive('\n') {
        let begin = at;
        at += whole_line.len();
        let line = whole_line.strip_suffix('\n').unwrap_or(whole_line);
        let trimmed = line.trim_start();
        let mark = trimmed.chars().next().filter(|c| *c == '`' || *c == '~');
        let length = mark.map_or(0, |mark| trimmed.chars().take_while(|c| *c == mark).count());
        let rest = &trimmed[length..];
        match &mut open {
            // Behind back-ticks none may follow: that is code within a line.
            None if length >= 3 && !(mark == Some('`') && rest.contains('`')) => {
                let info = rest.trim().to_ascii_lowercase();
                let mark = trimmed[..length].to_owned();
                open = Some(Fence { info, body: String::new(), closed: false, mark, at: begin });
            }
            None => {
                outside.push_str(line);
                outside.push('\n');
            }
            Some(fence)
                if length >= fence.mark.len()
                    && fence.mark.starts_with(mark.unwrap_or(' '))
                    && rest.trim().is_empty() =>
            {
                fence.closed = true;
                found.extend(open.take());
            }
            Some(fence) => {
                fence.body.push_str(line);
                fence.body.push('\n');
            }
        }
    }
    found.extend(open);
    (found, outside)
}

/// The inside of a fence that holds a whole answer with fences of its own, and nothing that is asked for itself.
pub(super) fn unwrapped(text: &str) -> Option<String> {
    let mut all = fences(text);
    let fence = all.pop().filter(|_| all.is_empty())?;
    let is_prose = ["", "markdown", "md", "text"].contains(&fence.info.as_str());
    (fence.closed && is_prose && fences(&fence.body).iter().any(is_section)).then_some(fence.body)
}

/// The first words of a text, for quoting.
pub(super) fn quote(text: &str) -> String {
    let line = text.lines().find(|l| !l.trim().is_empty()).unwrap_or("").trim();
    let short: String = line.chars().take(80).collect();
    if short.len() < line.len() { format!("\"{short}…\"") } else { format!("\"{short}\"") }
}

/// The one TLA+ module named `name` that an answer holds, without prose around it.
pub fn module(answer: &str, name: &str) -> Result<Readable<String>, Problem> {
    let (text, mut notes) = normalised(answer);
    let (blocks, outside) = split(&text);
    let fenced: Vec<&Fence> = blocks.iter().filter(|f| f.has_module()).collect();
    let mut modules = Vec::new();
    for fence in &fenced {
        modules.extend(modules_of(&fence.body).map_err(|problem| {
            let open = if fence.closed { "" } else { ", and its fence is not closed" };
            Problem::new(format!("{}{open}", problem.what))
        })?);
        if !fence.closed {
            notes.push("a fence that is not closed".to_owned());
        }
    }
    if has_header(&outside) {
        modules.extend(modules_of(&outside)?);
        notes.push("a module without a fence".to_owned());
    }
    if modules.is_empty() {
        return Err(Problem::new(if text.trim().is_empty() {
            "the answer is empty".to_owned()
        } else {
            format!("there is no TLA+ module (`---- MODULE {name} ----`) in the answer, which begins {}", quote(&text))
        }));
    }
    let first = modules.remove(0);
    if let Some(other) = modules.iter().find(|other| !is_same(&other.text, &first.text)) {
        return Err(Problem::new(if other.name == first.name {
            let (one, two) = difference(&first.text, &other.text);
            format!(
                "the answer holds {} different modules named {}: where one says {one}, another says {two}; answer with \
                 the one module {name}",
                1 + modules.len(),
                first.name
            )
        } else {
            format!(
                "the answer holds two modules, {} and {}; answer with the one module {name}",
                first.name, other.name
            )
        }));
    }
    if !modules.is_empty() {
        notes.push("the same module given twice".to_owned());
    }
    if first.name != name {
        return Err(Problem::new(format!("the module is named {}; it must be named {name}", first.name)));
    }
    let (mut spelt, more) = spelt(vec![first.text])
        .map_err(|problem| Problem::new(format!("the module cannot be read: {}", problem.what)))?;
    notes.extend(more);
    Ok(Readable { value: spelt.remove(0), normalised: notes })
}

/// A module with its header and its end.
struct Found {
    name: String,
    text: String,
}

/// More than anybody needs to see.
const MANY: usize = 20;

/// All modules of a text, one behind the other; those inside another belong to it.
fn modules_of(text: &str) -> Result<Vec<Found>, Problem> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some((name, start)) = header(rest) {
        if found.len() == MANY {
            return Err(Problem::new(format!("the answer holds more than {MANY} modules; answer with one")));
        }
        let here = &rest[start..];
        let end = end_of(here).map_err(|at| breaks_off(&name, here, at))?;
        let mut text = here[..end].to_owned();
        if !text.ends_with('\n') {
            text.push('\n');
        }
        found.push(Found { name, text });
        rest = &here[end..];
    }
    Ok(found)
}

/// Where the module that begins a text ends, or where the comment begins that never does.
fn end_of(text: &str) -> Result<usize, Option<usize>> {
    let mut lexer = Lexer::new(text);
    let mut depth = 0usize;
    while let Some(range) = lexer.line() {
        let line = &text[range.clone()];
        let first = range.start + (line.len() - line.trim_start().len());
        if lexer.kinds.get(first) != Some(&Kind::Code) {
            continue;
        }
        if header_name(line).is_some() {
            depth += 1;
        }
        if is_end(line) {
            depth -= 1;
            if depth == 0 {
                return Ok(range.end);
            }
        }
    }
    Err(lexer.comment)
}

fn breaks_off(name: &str, text: &str, comment: Option<usize>) -> Problem {
    let last = text.lines().rev().find(|l| !l.trim().is_empty()).unwrap_or("");
    let within = comment.map_or(String::new(), |at| {
        format!(" of its own: the comment that begins {} does not end", quote(&text[at..]))
    });
    Problem::new(format!("module {name} breaks off after {}: there is no terminator (`====`){within}", quote(last)))
}

/// Spaces at the ends of lines and the length of the terminator make no difference.
fn is_same(one: &str, two: &str) -> bool {
    let lines = |text: &str| -> Vec<String> {
        text.lines().map(|l| if is_end(l) { "====".to_owned() } else { l.trim_end().to_owned() }).collect()
    };
    lines(one) == lines(two)
}

/// The first lines in which two texts differ, quoted.
pub(super) fn difference(one: &str, two: &str) -> (String, String) {
    let (mut one, mut two) = (one.lines(), two.lines());
    loop {
        match (one.next(), two.next()) {
            (Some(a), Some(b)) if a.trim_end() == b.trim_end() => {}
            (a, b) => return (quote(a.unwrap_or("")), quote(b.unwrap_or(""))),
        }
    }
}

/// Name and place of the first module header.
fn header(text: &str) -> Option<(String, usize)> {
    let mut at = 0;
    text.split_inclusive('\n').find_map(|line| {
        at += line.len();
        header_name(line).map(|name| (name, at - line.len()))
    })
}

pub(super) fn has_header(text: &str) -> bool {
    header(text).is_some()
}

fn header_name(line: &str) -> Option<String> {
    let rest = line.trim().strip_prefix("----")?.trim_start_matches('-').trim_start().strip_prefix("MODULE")?;
    let name: String = rest.trim_start().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    (rest.starts_with(char::is_whitespace) && !name.is_empty() && rest.contains("----")).then_some(name)
}

fn is_end(line: &str) -> bool {
    let line = line.trim();
    line.len() >= 4 && line.chars().all(|c| c == '=')
}

/// The four sections that `generate_invariants` answers with.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sections {
    /// `TypeOK` and the other invariants, as definitions.
    pub invariants: String,
    /// Temporal properties, as definitions; may be empty.
    pub properties: String,
    /// Witnesses, as definitions.
    pub witnesses: String,
    /// The configuration.
    pub cfg: String,
}

/// What stands on the opening fences.
const NAMES: [&str; 4] = ["invariants", "properties", "witnesses", "cfg"];

/// Which section a fence holds, by the words behind it.
fn section_of(fence: &Fence) -> Option<usize> {
    let words: Vec<&str> = fence.info.split(|c: char| !c.is_ascii_alphanumeric()).collect();
    NAMES.iter().position(|n| words.iter().any(|w| w == n || (*n == "properties" && *w == "temporal")))
}

/// Whether a fence holds one of the four sections.
pub(super) fn is_section(fence: &Fence) -> bool {
    section_of(fence).is_some()
}

/// The four fenced sections of an answer: `invariants`, `properties`, `witnesses`, `cfg` on the opening fences.
pub fn sections(answer: &str) -> Result<Readable<Sections>, Problem> {
    let (mut text, mut notes) = normalised(answer);
    if let Some(inner) = unwrapped(&text) {
        text = inner;
        notes.push("the whole answer inside a fence".to_owned());
    }
    let fences = fences(&text);
    if fences.is_empty() {
        return Err(Problem::new(if text.trim().is_empty() {
            "the answer is empty".to_owned()
        } else {
            format!("the answer holds no fenced section; it begins {}", quote(&text))
        }));
    }
    let mut found: [Option<String>; 4] = [const { None }; 4];
    for fence in &fences {
        let Some(i) = section_of(fence) else {
            notes.push(format!("a fenced block that is no section ({})", quote(&fence.info)));
            continue;
        };
        if !fence.closed {
            return Err(Problem::new(format!("the section `{}` breaks off: its fence is not closed", NAMES[i])));
        }
        match &found[i] {
            Some(first) if *first != fence.body => {
                let (one, two) = difference(first, &fence.body);
                return Err(Problem::new(format!(
                    "the section `{}` stands twice with different content: where one says {one}, the other says {two}",
                    NAMES[i]
                )));
            }
            _ => found[i] = Some(fence.body.clone()),
        }
    }
    let missing: Vec<&str> = [0, 2, 3]
        .into_iter()
        .filter(|i| found[*i].as_ref().is_none_or(|s| s.trim().is_empty()))
        .map(|i| NAMES[i])
        .collect();
    if !missing.is_empty() {
        return Err(Problem::new(format!("these sections are missing or empty: {}", missing.join(", "))));
    }
    let found = found.into_iter().map(Option::unwrap_or_default).collect();
    let (spelt, more) =
        spelt(found).map_err(|problem| Problem::new(format!("the sections cannot be read: {}", problem.what)))?;
    notes.extend(more);
    let mut spelt = spelt.into_iter();
    let mut next = || spelt.next().unwrap_or_default();
    let value = Sections { invariants: next(), properties: next(), witnesses: next(), cfg: next() };
    Ok(Readable { value, normalised: notes })
}

/// The one JSON object of an answer, fenced or bare.
pub fn json_object(answer: &str) -> Result<Readable<Value>, Problem> {
    let (text, mut notes) = normalised(answer);
    let blocks = fences(&text);
    let fenced: Vec<&Fence> = blocks.iter().filter(|f| f.body.trim_start().starts_with('{')).collect();
    let value = match fenced.as_slice() {
        [] => {
            notes.push("a JSON object without a fence".to_owned());
            bare_object(&text, &mut notes)?
        }
        [first, rest @ ..] => {
            let value = parsed(first.body.trim(), &mut notes)?;
            for other in rest {
                if parsed(other.body.trim(), &mut Vec::new()).ok().as_ref() != Some(&value) {
                    return Err(Problem::new(format!(
                        "the answer holds {} JSON objects, one that begins {} and one that begins {}; answer with one",
                        fenced.len(),
                        quote(&first.body),
                        quote(&other.body)
                    )));
                }
            }
            if !rest.is_empty() {
                notes.push("the same object given twice".to_owned());
            }
            value
        }
    };
    Ok(Readable { value, normalised: notes })
}

fn parsed(text: &str, notes: &mut Vec<String>) -> Result<Value, Problem> {
    let mut error = match serde_json::from_str(text) {
        Ok(Strict(value)) => return Ok(value),
        Err(error) => error,
    };
    // With no straight quote in it, the others can only stand for them.
    if !text.contains('"') {
        match serde_json::from_str(&text.replace(['“', '”', '„', '‟'], "\"")) {
            Ok(Strict(value)) => {
                notes.push("typographic quotes".to_owned());
                return Ok(value);
            }
            Err(straightened) => error = straightened,
        }
    }
    let place = quote(text.lines().nth(error.line().saturating_sub(1)).unwrap_or(""));
    Err(Problem::new(format!("the JSON cannot be read: {error}, in the line {place}")))
}

/// Where an object seems to begin: braces stand in prose and in sets as well.
fn object_start(text: &str) -> Option<usize> {
    let begins = |at: &usize| text[at + 1..].trim_start().starts_with(['"', '“', '”', '„', '}']);
    text.match_indices('{').map(|(at, _)| at).find(begins)
}

/// The one object in a text without fences, whatever is said before and after it.
fn bare_object(text: &str, notes: &mut Vec<String>) -> Result<Value, Problem> {
    let Some(from) = object_start(text) else {
        return Err(Problem::new(match (text.trim().is_empty(), text.find('{')) {
            (true, _) => "the answer is empty".to_owned(),
            (_, Some(at)) => {
                format!("the JSON cannot be read: no name in quotes follows the brace in {}", quote(&text[at..]))
            }
            (_, None) => format!("there is no JSON object in the answer, which begins {}", quote(text)),
        }));
    };
    let rest = &text[from..];
    let mut stream = serde_json::Deserializer::from_str(rest).into_iter::<Strict>();
    let Some(Ok(Strict(value))) = stream.next() else {
        let to = rest.rfind('}').map_or(rest.len(), |at| at + 1);
        return parsed(&rest[..to], notes);
    };
    let after = &rest[stream.byte_offset()..];
    match object_start(after) {
        Some(second) => Err(Problem::new(format!(
            "the answer holds 2 JSON objects, one that begins {} and one that begins {}; answer with one",
            quote(rest),
            quote(&after[second..])
        ))),
        None => Ok(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODULE: &str = "---- MODULE Spec ----\nx == 1\n====\n";

    #[test]
    fn a_module_is_read_from_fences_chatter_and_line_ends() {
        for answer in [
            MODULE.to_owned(),
            format!("Here it is:\n```tla\n{MODULE}```\nI hope it helps.\n"),
            format!("\u{feff}~~~~ TLA+\n{MODULE}~~~~"),
            format!("```\n{MODULE}```\n\nOnce more:\n\n```tla\n{MODULE}```"),
            MODULE.replace('\n', "\r\n"),
            format!(
                "{}====\n",
                MODULE.replace("====", "=============================================================")
            ),
        ] {
            let read = module(&answer, "Spec").unwrap_or_else(|p| panic!("{answer}: {}", p.what));
            assert!(read.value.starts_with("---- MODULE Spec"), "{answer}");
            assert_eq!(read.value.lines().count(), 3);
        }
    }

    #[test]
    fn what_cannot_be_read_beyond_doubt_is_a_problem_in_words() {
        for (answer, expected) in [
            (String::new(), "empty"),
            ("I am sorry, I cannot do this.".to_owned(), "begins \"I am sorry"),
            ("```tla\n---- MODULE Spec ----\nx == 1\n".to_owned(), "breaks off"),
            ("---- MODULE Spec ----\nx == 1\n".to_owned(), "breaks off after \"x == 1\""),
            (MODULE.replace("Spec", "Swap"), "named Swap; it must be named Spec"),
            (format!("```\n{MODULE}```\n```\n{}```", MODULE.replace('1', "2")), "2 different modules"),
            (format!("{MODULE}{}", MODULE.replace("Spec", "Other")), "two modules"),
        ] {
            let problem = module(&answer, "Spec").unwrap_err();
            assert!(problem.what.contains(expected), "{answer:?}: {}", problem.what);
        }
    }

    #[test]
    fn sections_are_found_by_their_fences_and_never_guessed() {
        let good = "```tla invariants\nTypeOK == TRUE\n```\n```tla properties\n```\n``` witnesses\nW == x = 1\n```\n```cfg\nINVARIANT TypeOK\n```";
        let read = sections(good).unwrap().value;
        assert_eq!(read.cfg, "INVARIANT TypeOK\n");
        assert_eq!(read.properties, "");
        for (answer, expected) in [
            (String::new(), "empty"),
            ("INVARIANT TypeOK".to_owned(), "no fenced section"),
            (good.replace("```cfg", "```text"), "missing or empty: cfg"),
            (good.trim_end_matches('`').to_owned(), "`cfg` breaks off"),
            (format!("{good}\n```cfg\nINVARIANT Other\n```"), "stands twice"),
        ] {
            let problem = sections(&answer).unwrap_err();
            assert!(problem.what.contains(expected), "{answer:?}: {}", problem.what);
        }
    }

    #[test]
    fn a_verdict_is_an_object_and_never_a_word_in_a_text() {
        assert_eq!(json_object("```json\n{\"verdict\":\"revise\"}\n```").unwrap().value["verdict"], "revise");
        assert_eq!(json_object("So: {\"a\":1} indeed").unwrap().value["a"], 1);
        assert!(json_object("APPROVED").unwrap_err().what.contains("no JSON object"));
        assert!(json_object("```\n{\"a\":1}\n```\n```\n{\"a\":2}\n```").unwrap_err().what.contains("2 JSON objects"));
        for twice in ["{\"a\":1,\"a\":1}", "So: {\"a\":[{\"b\":1,\"b\":2}]}", "```\n{“a”: 1, “a”: 2}\n```"] {
            assert!(json_object(twice).unwrap_err().what.contains("duplicate key"), "{twice}");
        }
        assert!(json_object("{\"verdict\": approved}").unwrap_err().what.contains("cannot be read"));
    }
}
