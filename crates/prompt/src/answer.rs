//! Reads a model's answer. Unambiguous deviations from the required form are accepted; anything else is a [`Problem`] that
//! quotes the error.

use serde::{Deserialize, Serialize};

use tlaforge_tla::expand_tabs;

use super::invisible_characters::refuse_control;
use super::problem::{Problem, Readable, quote};
use super::spelling::{Kind, correct_spelling, kinds, open_comment};

/// A fenced code block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fence {
    /// The words after the opening fence, in lower case.
    pub info: String,
    /// The text between the fences.
    pub body: String,
    /// Whether it was closed; if not, the answer probably broke off.
    pub closed: bool,
    /// The backquotes or tildes of the opening fence.
    pub mark: String,
    /// Its start in the text, as a byte offset.
    pub start: usize,
}

impl Fence {
    /// Whether `name` is one of the words after the opening fence.
    pub(super) fn is_named(&self, name: &str) -> bool {
        self.info.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').any(|word| word == name)
    }

    /// Whether it contains the header of a TLA+ module.
    pub(super) fn has_module(&self) -> bool {
        has_header(&self.body)
    }

    /// The block as it was in the answer.
    pub(super) fn render(&self) -> String {
        let end = if self.closed { format!("{}\n", self.mark) } else { String::new() };
        format!("{}{}\n{}{end}", self.mark, self.info, self.body)
    }
}

/// Normalises line ends, removes byte-order marks, and expands tabs as SANY counts them: the columns of a bulleted list
/// decide its meaning, and everyone who reads the answer has to see the same ones.
pub fn normalise(text: &str) -> String {
    // A lone carriage return ends a line for TLC, so it does here.
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    // An answer that was joined from pieces can have a mark at the start of each.
    let text = text.trim_start_matches('\u{feff}').replace("\n\u{feff}", "\n");
    expand_tabs(&text)
}

/// The note on an answer that [`normalise`] changed.
pub const NORMALISED: &str = "line ends, tabs or a byte-order mark";

/// Normalises, with a note if anything changed.
///
/// # Errors
///
/// The text has a control character: no later request could show it to a model.
pub(super) fn normalise_with_notes(answer: &str) -> Result<(String, Vec<String>), Problem> {
    let text = normalise(answer);
    refuse_control(&text)?;
    let notes = if text == answer { Vec::new() } else { vec![NORMALISED.to_owned()] };
    Ok((text, notes))
}

/// All fenced blocks, in order. A fence is closed by one of the same character that is at least as long (CommonMark, section
/// 4.5).
pub fn fences(text: &str) -> Vec<Fence> {
    split(text).0
}

/// The text outside all fences.
pub fn outside_fences(text: &str) -> String {
    split(text).1
}

pub(super) fn split(text: &str) -> (Vec<Fence>, String) {
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
            // A backquote after the opening backquotes means inline code, not a fence (CommonMark, section 4.5).
            None if length >= 3 && !(mark == Some('`') && rest.contains('`')) => {
                let info = rest.trim().to_ascii_lowercase();
                let mark = trimmed[..length].to_owned();
                open = Some(Fence { info, body: String::new(), closed: false, mark, start: begin });
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

/// The content of a fence around the whole answer, if it has the required fences inside.
pub(super) fn unwrap_outer_fence(text: &str) -> Option<String> {
    let mut all = fences(text);
    let fence = all.pop().filter(|_| all.is_empty())?;
    let is_prose = ["", "markdown", "md", "text"].contains(&fence.info.as_str());
    (fence.closed && is_prose && fences(&fence.body).iter().any(is_section)).then_some(fence.body)
}

/// Extracts the one TLA+ module named `name` from an answer.
pub fn extract_module(answer: &str, name: &str) -> Result<Readable<String>, Problem> {
    let (text, mut notes) = normalise_with_notes(answer)?;
    let (blocks, outside) = split(&text);
    // By content, not by the word after the fence: models write `tla`, `tlaplus`, `TLA+` or nothing.
    let fenced: Vec<&Fence> = blocks.iter().filter(|f| f.has_module()).collect();
    let mut modules = Vec::new();
    for fence in &fenced {
        modules.extend(find_modules(&fence.body).map_err(|problem| {
            let open = if fence.closed { "" } else { ", and its fence is not closed" };
            Problem::new(format!("{}{open}", problem.what))
        })?);
        if !fence.closed {
            notes.push("a fence that is not closed".to_owned());
        }
    }
    if has_header(&outside) {
        // Also beside a fenced module: two different modules must not go unnoticed.
        modules.extend(find_modules(&outside)?);
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
    let (mut corrected, more) = correct_spelling(&[first.text])
        .map_err(|problem| Problem::new(format!("the module cannot be read: {}", problem.what)))?;
    notes.extend(more);
    Ok(Readable { value: corrected.remove(0), normalised: notes })
}

/// A module with its header and terminator.
struct FoundModule {
    name: String,
    text: String,
}

/// Maximum number of modules that are searched for.
const MAX_MODULES: usize = 20;

/// All modules of a text. A nested module belongs to the module around it.
fn find_modules(text: &str) -> Result<Vec<FoundModule>, Problem> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some((name, start)) = find_header(rest) {
        if found.len() == MAX_MODULES {
            return Err(Problem::new(format!("the answer holds more than {MAX_MODULES} modules; answer with one")));
        }
        let here = &rest[start..];
        let end = module_end(here).map_err(|comment| truncated(&name, here, comment))?;
        let mut text = here[..end].to_owned();
        if !text.ends_with('\n') {
            text.push('\n');
        }
        found.push(FoundModule { name, text });
        rest = &here[end..];
    }
    Ok(found)
}

/// The end of the module at the start of a text. If it has none, the start of the unclosed comment, if there is one.
fn module_end(text: &str) -> Result<usize, Option<usize>> {
    let kinds = kinds(text);
    let (mut depth, mut end) = (0usize, 0);
    for line in text.split_inclusive('\n') {
        let first = end + (line.len() - line.trim_start().len());
        end += line.len();
        // A row of `=` in a comment ends nothing.
        if kinds.get(first) != Some(&Kind::Code) {
            continue;
        }
        if header_name(line).is_some() {
            depth += 1;
        }
        if is_end(line) {
            depth -= 1;
            if depth == 0 {
                return Ok(end);
            }
        }
    }
    Err(open_comment(text))
}

fn truncated(name: &str, text: &str, comment: Option<usize>) -> Problem {
    let last = text.lines().rev().find(|l| !l.trim().is_empty()).unwrap_or("");
    let within = comment.map_or(String::new(), |at| {
        format!(" of its own: the comment that begins {} does not end", quote(&text[at..]))
    });
    Problem::new(format!("module {name} breaks off after {}: there is no terminator (`====`){within}", quote(last)))
}

/// Whether two modules are the same except for trailing spaces and the length of the terminator.
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

/// Name and byte offset of the first module header.
fn find_header(text: &str) -> Option<(String, usize)> {
    let mut at = 0;
    text.split_inclusive('\n').find_map(|line| {
        at += line.len();
        header_name(line).map(|name| (name, at - line.len()))
    })
}

pub(super) fn has_header(text: &str) -> bool {
    find_header(text).is_some()
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

/// The four sections of an answer of `generate_invariants`.
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

/// The names of the sections on the opening fences.
const SECTION_NAMES: [&str; 4] = ["invariants", "properties", "witnesses", "cfg"];

/// The index of the section that a fence holds, by the words after its opening.
fn section_index(fence: &Fence) -> Option<usize> {
    let words: Vec<&str> = fence.info.split(|c: char| !c.is_ascii_alphanumeric()).collect();
    SECTION_NAMES.iter().position(|n| words.iter().any(|w| w == n || (*n == "properties" && *w == "temporal")))
}

/// Whether a fence holds one of the four sections.
pub(super) fn is_section(fence: &Fence) -> bool {
    section_index(fence).is_some()
}

/// Extracts the four fenced sections of an answer: `invariants`, `properties`, `witnesses`, `cfg`. Properties may be missing
/// or empty.
pub fn extract_sections(answer: &str) -> Result<Readable<Sections>, Problem> {
    let (mut text, mut notes) = normalise_with_notes(answer)?;
    if let Some(inner) = unwrap_outer_fence(&text) {
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
        let Some(i) = section_index(fence) else {
            notes.push(format!("a fenced block that is no section ({})", quote(&fence.info)));
            continue;
        };
        if !fence.closed {
            return Err(Problem::new(format!(
                "the section `{}` breaks off: its fence is not closed",
                SECTION_NAMES[i]
            )));
        }
        match &found[i] {
            Some(first) if *first != fence.body => {
                let (one, two) = difference(first, &fence.body);
                return Err(Problem::new(format!(
                    "the section `{}` stands twice with different content: where one says {one}, the other says {two}",
                    SECTION_NAMES[i]
                )));
            }
            _ => found[i] = Some(fence.body.clone()),
        }
    }
    // Temporal properties may be missing: a protocol can have safety requirements only.
    let missing: Vec<&str> = [0, 2, 3]
        .into_iter()
        .filter(|i| found[*i].as_ref().is_none_or(|s| s.trim().is_empty()))
        .map(|i| SECTION_NAMES[i])
        .collect();
    if !missing.is_empty() {
        return Err(Problem::new(format!("these sections are missing or empty: {}", missing.join(", "))));
    }
    // All sections together, because whether an entity is meant as one depends on the whole answer.
    let found: Vec<String> = found.into_iter().map(Option::unwrap_or_default).collect();
    let (corrected, more) = correct_spelling(&found)
        .map_err(|problem| Problem::new(format!("the sections cannot be read: {}", problem.what)))?;
    notes.extend(more);
    let mut corrected = corrected.into_iter();
    let mut next = || corrected.next().unwrap_or_default();
    let value = Sections { invariants: next(), properties: next(), witnesses: next(), cfg: next() };
    Ok(Readable { value, normalised: notes })
}

/// Extracts the TLA+ definitions of an answer: all of its fenced blocks, or the whole answer if it has none.
///
/// # Errors
///
/// The answer has no definition, or a block breaks off.
pub fn extract_definitions(answer: &str) -> Result<Readable<String>, Problem> {
    let (text, mut notes) = normalise_with_notes(answer)?;
    let fences = fences(&text);
    if let Some(open) = fences.iter().find(|fence| !fence.closed) {
        return Err(Problem::new(format!("the block `{}` breaks off: its fence is not closed", open.info)));
    }
    let text = match fences.as_slice() {
        [] => text,
        blocks => blocks.iter().map(|block| block.body.as_str()).collect::<Vec<_>>().join("\n"),
    };
    if !text.contains("==") {
        return Err(Problem::new(format!("the answer holds no definition; it begins {}", quote(answer))));
    }
    let (mut corrected, more) = correct_spelling(&[text])
        .map_err(|problem| Problem::new(format!("the definitions cannot be read: {}", problem.what)))?;
    notes.extend(more);
    Ok(Readable { value: corrected.pop().unwrap_or_default(), normalised: notes })
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
            let read = extract_module(&answer, "Spec").unwrap_or_else(|p| panic!("{answer}: {}", p.what));
            assert!(read.value.starts_with("---- MODULE Spec"), "{answer}");
            assert_eq!(read.value.lines().count(), 3);
        }
    }

    #[test]
    fn an_ambiguous_answer_is_a_problem_in_words() {
        for (answer, expected) in [
            (String::new(), "empty"),
            ("I am sorry, I cannot do this.".to_owned(), "begins \"I am sorry"),
            ("```tla\n---- MODULE Spec ----\nx == 1\n".to_owned(), "breaks off"),
            ("---- MODULE Spec ----\nx == 1\n".to_owned(), "breaks off after \"x == 1\""),
            (MODULE.replace("Spec", "Swap"), "named Swap; it must be named Spec"),
            (format!("```\n{MODULE}```\n```\n{}```", MODULE.replace('1', "2")), "2 different modules"),
            (format!("{MODULE}{}", MODULE.replace("Spec", "Other")), "two modules"),
        ] {
            let problem = extract_module(&answer, "Spec").unwrap_err();
            assert!(problem.what.contains(expected), "{answer:?}: {}", problem.what);
        }
    }

    #[test]
    fn sections_are_found_by_their_fences_and_never_guessed() {
        let good = "```tla invariants\nTypeOK == TRUE\n```\n```tla properties\n```\n``` witnesses\nW == x = 1\n```\n```cfg\nINVARIANT TypeOK\n```";
        let read = extract_sections(good).unwrap().value;
        assert_eq!(read.cfg, "INVARIANT TypeOK\n");
        assert_eq!(read.properties, "");
        for (answer, expected) in [
            (String::new(), "empty"),
            ("INVARIANT TypeOK".to_owned(), "no fenced section"),
            (good.replace("```cfg", "```text"), "missing or empty: cfg"),
            (good.trim_end_matches('`').to_owned(), "`cfg` breaks off"),
            (format!("{good}\n```cfg\nINVARIANT Other\n```"), "stands twice"),
        ] {
            let problem = extract_sections(&answer).unwrap_err();
            assert!(problem.what.contains(expected), "{answer:?}: {}", problem.what);
        }
    }
}
