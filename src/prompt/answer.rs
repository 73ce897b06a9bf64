//! Reading a model's answer. What can be read beyond doubt is read; all else is a [`Problem`] that quotes what is wrong.

use serde::{Deserialize, Serialize};

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
}

/// Line ends and marks of the encoding.
pub fn normalise(text: &str) -> String {
    text.trim_start_matches('\u{feff}').replace("\r\n", "\n").replace('\r', "\n")
}

/// All fenced blocks, in order. A fence is closed by one at least as long, of the same mark (CommonMark, section 4.5).
pub fn fences(text: &str) -> Vec<Fence> {
    let mut found = Vec::new();
    let mut open: Option<(char, usize, Fence)> = None;
    for line in text.lines() {
        let trimmed = line.trim_start();
        let mark = trimmed.chars().next().unwrap_or(' ');
        let length = trimmed.chars().take_while(|c| *c == mark).count();
        let is_fence = (mark == '`' || mark == '~') && length >= 3;
        match &mut open {
            None if is_fence => {
                let info = trimmed[length..].trim().to_ascii_lowercase();
                open = Some((mark, length, Fence { info, body: String::new(), closed: false }));
            }
            None => {}
            Some((open_mark, open_length, _))
                if is_fence && mark == *open_mark && length >= *open_length && trimmed[length..].trim().is_empty() =>
            {
                if let Some((_, _, fence)) = open.take() {
                    found.push(Fence { closed: true, ..fence });
                }
            }
            Some((_, _, fence)) => {
                fence.body.push_str(line);
                fence.body.push('\n');
            }
        }
    }
    found.extend(open.map(|(_, _, fence)| fence));
    found
}

/// The first words of a text, for quoting.
fn quote(text: &str) -> String {
    let line = text.lines().find(|l| !l.trim().is_empty()).unwrap_or("").trim();
    let short: String = line.chars().take(80).collect();
    if short.len() < line.len() { format!("\"{short}…\"") } else { format!("\"{short}\"") }
}

/// The one TLA+ module named `name` that an answer holds, without prose around it.
pub fn module(answer: &str, name: &str) -> Result<Readable<String>, Problem> {
    let text = normalise(answer);
    let mut normalised = Vec::new();
    if text != answer {
        normalised.push("line ends or a byte-order mark".to_owned());
    }
    let blocks = fences(&text);
    let fenced: Vec<&Fence> = blocks.iter().filter(|f| header(&f.body).is_some()).collect();
    if let Some(open) = fenced.iter().find(|f| !f.closed && !has_end(&f.body)) {
        return Err(Problem::new(format!(
            "the module breaks off: its fence is not closed and there is no terminator (`====`) after {}",
            quote(open.body.lines().last().unwrap_or(""))
        )));
    }
    let mut modules: Vec<String> = fenced.iter().map(|f| cut(&f.body)).collect::<Result<_, _>>()?;
    if modules.is_empty() {
        if header(&text).is_none() {
            return Err(Problem::new(if text.trim().is_empty() {
                "the answer is empty".to_owned()
            } else {
                format!(
                    "there is no TLA+ module (`---- MODULE {name} ----`) in the answer, which begins {}",
                    quote(&text)
                )
            }));
        }
        modules.push(cut(&text)?);
        normalised.push("a module without a fence".to_owned());
    }
    let before = modules.len();
    modules.dedup();
    if modules.len() > 1 {
        return Err(Problem::new(format!(
            "the answer holds {} different modules; answer with the one module {name}",
            modules.len()
        )));
    }
    if before > 1 {
        normalised.push("the same module given twice".to_owned());
    }
    let Some(value) = modules.pop() else { return Err(Problem::new("the answer is empty")) };
    let found = header(&value).map(|(found, _)| found).unwrap_or_default();
    if found != name {
        return Err(Problem::new(format!("the module is named {found}; it must be named {name}")));
    }
    Ok(Readable { value, normalised })
}

/// Name and line number of the first module header.
fn header(text: &str) -> Option<(String, usize)> {
    text.lines().enumerate().find_map(|(i, line)| {
        let rest = line.trim().strip_prefix("----")?.trim_start_matches('-').trim_start().strip_prefix("MODULE")?;
        let name: String = rest.trim_start().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
        (rest.starts_with(char::is_whitespace) && !name.is_empty() && rest.contains("----")).then_some((name, i))
    })
}

fn is_end(line: &str) -> bool {
    let line = line.trim_end();
    line.len() >= 4 && line.trim_start().len() >= 4 && line.trim_start().chars().all(|c| c == '=')
}

fn has_end(text: &str) -> bool {
    text.lines().any(is_end)
}

/// From the header to the module's own end; modules inside it are passed over.
fn cut(text: &str) -> Result<String, Problem> {
    let (name, start) = header(text).ok_or_else(|| Problem::new("there is no module"))?;
    let mut depth = 0usize;
    let mut out = String::new();
    for line in text.lines().skip(start) {
        if header(line).is_some() {
            depth += 1;
        }
        out.push_str(line);
        out.push('\n');
        if is_end(line) {
            depth -= 1;
            if depth == 0 {
                return match header(&text[text.find(&out).map_or(text.len(), |i| i + out.len())..]) {
                    Some((second, _)) if second != name => {
                        Err(Problem::new(format!("the answer holds two modules, {name} and {second}; answer with one")))
                    }
                    _ => Ok(out),
                };
            }
        }
    }
    let last = out.lines().rev().find(|l| !l.trim().is_empty()).unwrap_or("");
    Err(Problem::new(format!("module {name} breaks off after {}: there is no terminator (`====`)", quote(last))))
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

/// The four fenced sections of an answer: `invariants`, `properties`, `witnesses`, `cfg` on the opening fences.
pub fn sections(answer: &str) -> Result<Readable<Sections>, Problem> {
    let text = normalise(answer);
    let mut normalised = Vec::new();
    if text != answer {
        normalised.push("line ends or a byte-order mark".to_owned());
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
        let words: Vec<&str> = fence.info.split(|c: char| !c.is_ascii_alphanumeric()).collect();
        let Some(i) =
            NAMES.iter().position(|n| words.iter().any(|w| w == n || (*n == "properties" && *w == "temporal")))
        else {
            normalised.push(format!("a fenced block that is no section ({})", quote(&fence.info)));
            continue;
        };
        if !fence.closed {
            return Err(Problem::new(format!("the section `{}` breaks off: its fence is not closed", NAMES[i])));
        }
        match &found[i] {
            Some(first) if *first != fence.body => {
                return Err(Problem::new(format!("the section `{}` stands twice with different content", NAMES[i])));
            }
            _ => found[i] = Some(fence.body.clone()),
        }
    }
    let [invariants, properties, witnesses, cfg] = found;
    let missing: Vec<&str> = [(&invariants, 0), (&witnesses, 2), (&cfg, 3)]
        .into_iter()
        .filter(|(s, _)| s.as_ref().is_none_or(|s| s.trim().is_empty()))
        .map(|(_, i)| NAMES[i])
        .collect();
    if !missing.is_empty() {
        return Err(Problem::new(format!("these sections are missing or empty: {}", missing.join(", "))));
    }
    let value = Sections {
        invariants: invariants.unwrap_or_default(),
        properties: properties.unwrap_or_default(),
        witnesses: witnesses.unwrap_or_default(),
        cfg: cfg.unwrap_or_default(),
    };
    Ok(Readable { value, normalised })
}

/// The one JSON object of an answer, fenced or bare.
pub fn json_object(answer: &str) -> Result<Readable<serde_json::Value>, Problem> {
    let text = normalise(answer);
    let mut normalised = Vec::new();
    let blocks = fences(&text);
    let fenced: Vec<&Fence> = blocks.iter().filter(|f| f.body.trim_start().starts_with('{')).collect();
    let body = match fenced.as_slice() {
        [] => {
            let (Some(from), Some(to)) = (text.find('{'), text.rfind('}')) else {
                return Err(Problem::new(if text.trim().is_empty() {
                    "the answer is empty".to_owned()
                } else {
                    format!("there is no JSON object in the answer, which begins {}", quote(&text))
                }));
            };
            normalised.push("a JSON object without a fence".to_owned());
            text.get(from..=to).unwrap_or_default()
        }
        [one] => one.body.as_str(),
        [first, rest @ ..] if rest.iter().all(|f| f.body == first.body) => {
            normalised.push("the same object given twice".to_owned());
            first.body.as_str()
        }
        many => {
            return Err(Problem::new(format!("the answer holds {} JSON objects; answer with one", many.len())));
        }
    };
    let value = serde_json::from_str(body.trim()).map_err(|e| Problem::new(format!("the JSON cannot be read: {e}")))?;
    Ok(Readable { value, normalised })
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
        assert!(json_object("{\"verdict\": approved}").unwrap_err().what.contains("cannot be read"));
    }
}
