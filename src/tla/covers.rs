//! Which requirements a definition says it covers: the `\* covers R1, R3` comment directly above it.

use std::collections::BTreeMap;

use super::definition::Definition;
use super::module::Module;

/// Definitions by name with the requirements they cover, in the order written, each once. Definitions that cover
/// nothing are left out.
///
/// A text without a module header is read as a list of definitions.
pub fn coverage_of(text: &str) -> BTreeMap<String, Vec<String>> {
    let module = Module::parse(text).or_else(|_| Module::parse(&format!("---- MODULE Scratch ----\n{text}\n====")));
    module.map(|module| module.coverage()).unwrap_or_default()
}

impl Module {
    /// As [`coverage_of`], for a module that is already read.
    pub fn coverage(&self) -> BTreeMap<String, Vec<String>> {
        let all = self.definitions_by_name();
        let covering = all.into_iter().map(|(name, definition)| (name.to_owned(), definition.covers()));
        covering.filter(|(_, covered)| !covered.is_empty()).collect()
    }
}

impl Definition {
    /// The requirements that the comment above says this definition covers.
    pub fn covers(&self) -> Vec<String> {
        let mut found: Vec<String> = Vec::new();
        for line in self.comment.lines() {
            let line = line.trim().trim_start_matches(['\\', '*', '(']).trim_end_matches([')', '*']).trim();
            let Some(head) = line.get(..6).filter(|head| head.eq_ignore_ascii_case("covers")) else { continue };
            let rest = &line[head.len()..];
            if !rest.starts_with([' ', '\t', ':']) {
                continue;
            }
            for word in rest.split(|c: char| c.is_whitespace() || matches!(c, ',' | ';' | ':' | '.' | '(' | ')')) {
                if is_requirement(word) {
                    if !found.iter().any(|known| known == word) {
                        found.push(word.to_owned());
                    }
                } else if !(word.is_empty() || word.eq_ignore_ascii_case("and") || word == "&") {
                    // What follows is a remark ("covers R1 because of R2").
                    break;
                }
            }
        }
        found
    }
}

/// `R` and a number.
fn is_requirement(word: &str) -> bool {
    word.strip_prefix('R').is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
}
