//! The names that documents fix for a model of their protocol, as an informal specification lists them below `## Names`.

use std::sync::LazyLock;

use regex::Regex;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::list_items::error;
use super::outline::Section;
use super::scope::list_items;

/// Names that a specification has to use as they are.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FixedNames {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub module: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub constants: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub variables: Vec<String>,
    /// Labels of an algorithm, or actions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<String>,
}

impl FixedNames {
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

static LINE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)^[*_`]*(module|constant|variable|label|action|deadlock)s?\b[*_`]*\s*:?\s*(.*)$")
        .expect("a valid pattern")
});

/// The places of the names, and remarks on them.
static BRACKETS: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"(^|[\s`,;])(?:\[[^\]]*\]|\([^)]*\))").expect("a valid pattern"));

static NAME: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"^[A-Za-z][A-Za-z0-9_]*$").expect("a valid pattern"));

/// Reads lines such as ``- variables `x`, `y` [docs/model.md:12]`` below the heading "Names".
pub fn fixed_names(informal: &str) -> FixedNames {
    let mut found = FixedNames::default();
    for item in list_items(informal, Section::Names).0 {
        let Some((kind, names, _)) = parse_line(&item.text) else { continue };
        match kind.as_str() {
            "module" => found.module = found.module.or_else(|| names.into_iter().next()),
            "constant" => found.constants.extend(names),
            "variable" => found.variables.extend(names),
            "deadlock" => {}
            _ => found.labels.extend(names),
        }
    }
    found
}

/// The kind of a line, its names, and the first part of it that is no name and no remark. After quoted names, words may
/// follow, but not a further name.
fn parse_line(text: &str) -> Option<(String, Vec<String>, Option<String>)> {
    let line = LINE.captures(text)?;
    let kind = line[1].to_lowercase();
    if kind == "deadlock" {
        return Some((kind, Vec::new(), None));
    }
    let listed = BRACKETS.replace_all(&line[2], "$1");
    let is_name = |name: &str| NAME.is_match(name);
    let (mut names, mut left) = (Vec::new(), None);
    let parts: Vec<&str> = listed.split('`').collect();
    let quoted = parts.iter().skip(1).step_by(2).copied();
    let is_quoted = parts.len() > 2;
    for name in quoted {
        if is_name(name) { names.push(name.to_owned()) } else { left = left.or(Some(name.to_owned())) }
    }
    let plain: String = parts.iter().step_by(2).copied().collect::<Vec<_>>().join(" , ");
    for part in plain.trim().trim_end_matches('.').split([',', ';']).map(str::trim) {
        let part = part.strip_prefix("and ").unwrap_or(part).trim();
        match () {
            () if part.is_empty() || part == "and" || part.eq_ignore_ascii_case("none") => {}
            () if is_quoted && !is_name(part) => {}
            () if is_name(part) && !is_quoted => names.push(part.to_owned()),
            () => left = left.or(Some(part.to_owned())),
        }
    }
    Some((kind, names, left))
}

/// The errors below "Names": what is neither a name nor a remark would be lost.
pub(super) fn name_errors(informal: &str) -> Vec<String> {
    let (items, mut errors) = list_items(informal, Section::Names);
    let mut module: Option<String> = None;
    for item in items {
        let why = match parse_line(&item.text) {
            _ if !item.is_marked => "it is no item of the list".to_owned(),
            None => "it names no kind (module, constants, variables, labels, deadlock)".to_owned(),
            Some((_, _, Some(left))) => format!("`{left}` is no name"),
            Some((kind, names, None)) if kind == "module" => {
                let other = names.iter().find(|name| module.as_ref().is_some_and(|first| first != *name));
                let why = other.map(|_| "there is another module above".to_owned());
                let why = why.or_else(|| (names.len() > 1).then(|| "it names several modules".to_owned()));
                module = module.or_else(|| names.into_iter().next());
                let Some(why) = why else { continue };
                why
            }
            Some(_) => continue,
        };
        let form = "write it as `- variables x, y [docs/file.md:13]`, with nothing but names, or `- none`";
        errors.push(error(item.number, &item.text, format!("{why}; {form}")));
    }
    errors
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fixed_names_are_read_in_the_notations_of_models() {
        let text = "# T\n## State\n- variable no\n## Names\n- module `Lock` [docs/a.md:3]\n* **Variables**: `held` [docs/a.md:4], `queue` and `next_1` (docs/a.md:4)\n\
            - constants N, MAX_Q [docs/a.md:5-6]\n- labels `Take`; not the others\n- action Crash.\n- deadlock: not checked [docs/a.md:9]\n\
            - module Other\n## Steps\n- label no\n";
        let found = fixed_names(text);
        assert_eq!(found.module.as_deref(), Some("Lock"));
        assert_eq!(found.variables, ["held", "queue", "next_1"]);
        assert_eq!(found.constants, ["N", "MAX_Q"]);
        assert_eq!(found.labels, ["Take", "Crash"]);
        let prose =
            fixed_names("## Names\n- constants: none\n- variable queue is a sequence\n- labels none [docs/a.md:1]\n");
        assert!(prose.is_empty(), "{prose:?}");
        for none in ["# T\n", "## Names\n- none\n", "## Names\nmodules are not named\n"] {
            assert!(fixed_names(none).is_empty(), "{none}");
        }
    }

    #[test]
    fn a_line_that_is_not_read_as_names_is_an_error() {
        for line in [
            "- variable queue is a sequence",
            "- variables x and y z",
            "- constants N = 3, M",
            "- labels `Take`, Release",
            "- properties `Mutex` [docs/a.md:3]",
            "variables x, y",
            "- variables `lock[c]`",
            "- module Lock, Other",
            "- module A\n- module B",
            "<!-- - module A -->",
            "```\n- module A\n```",
        ] {
            assert!(!name_errors(&format!("## Names\n{line}\n")).is_empty(), "{line}");
        }
        for line in [
            "- none",
            "- constants: none",
            "- module `Lock` [docs/a.md:3]",
            "- variables x, y,\n  z [docs/a.md:3]",
            "* **Variables**: `held` [docs/a.md:4], `queue` and `next_1` (docs/a.md:4)",
            "- labels `Take`; not the others",
            "- deadlock: not checked [docs/a.md:9]",
        ] {
            assert_eq!(name_errors(&format!("## Names\n{line}\n")), [""; 0], "{line}");
        }
    }
}
