//! The names that documents fix for a model of their protocol, as an informal specification lists them below `## Names`.

use std::sync::LazyLock;

use regex::Regex;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::requirements::section_lines;

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
    Regex::new(r"(?i)^\s*[-*+•]\s*\**(module|constant|variable|label|action)s?\b\**\s*:?\s*(.*)$")
        .expect("a valid pattern")
});

/// The places of the names, and remarks on them.
static BRACKETS: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\[[^\]]*\]|\([^)]*\)").expect("a valid pattern"));

static NAME: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"^[A-Za-z][A-Za-z0-9_]*$").expect("a valid pattern"));

/// Reads lines such as ``- variables `x`, `y` [docs/model.md:12]`` below the heading "Names".
pub fn fixed_names(informal: &str) -> FixedNames {
    let mut found = FixedNames::default();
    let is_names = |title: &str| title.trim_matches(['*', ' ']).eq_ignore_ascii_case("names");
    for line in section_lines(informal, is_names).unwrap_or_default() {
        let Some(line) = LINE.captures(line) else { continue };
        let listed = BRACKETS.replace_all(&line[2], "");
        let quoted: Vec<&str> = listed.split('`').skip(1).step_by(2).collect();
        // Without marks: words between commas, up to the first that is more than a name.
        let plain = listed.trim_end_matches('.').split([',', ';']).map(str::trim).map_while(|part| {
            let part = part.strip_prefix("and ").unwrap_or(part);
            (part.is_empty() || !part.contains(' ')).then_some(part)
        });
        let all: Vec<&str> = if quoted.is_empty() { plain.collect() } else { quoted };
        let is_name = |name: &&str| NAME.is_match(name) && !name.eq_ignore_ascii_case("none");
        let names = all.into_iter().filter(is_name).map(str::to_owned);
        match line[1].to_lowercase().as_str() {
            "module" => found.module = found.module.or_else(|| names.into_iter().next()),
            "constant" => found.constants.extend(names),
            "variable" => found.variables.extend(names),
            _ => found.labels.extend(names),
        }
    }
    found
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
}
