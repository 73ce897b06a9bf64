//! Which requirements a definition says it covers: the `\* covers R1, R3` comment directly above it.

use std::collections::BTreeMap;

use super::cfg::Cfg;
use super::definition::Definition;
use super::module::Module;
use super::probe::{ASSERTION, DEADLOCK};

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

    /// Requirements by property, of those properties that the configuration lists; of `Deadlock` and `Assertion`, which
    /// have no definition, what its comments say (`\* Deadlock covers R4`).
    pub fn coverage_under(&self, cfg: &Cfg) -> BTreeMap<String, Vec<String>> {
        let mut covers = self.coverage();
        covers.retain(|name, _| cfg.invariants.contains(name) || cfg.properties.contains(name));
        covers.extend(cfg.covers.clone());
        covers
    }
}

impl Definition {
    /// The requirements that the comment above says this definition covers.
    pub fn covers(&self) -> Vec<String> {
        let mut found: Vec<String> = Vec::new();
        for line in self.comment.lines() {
            let line = line.trim().trim_start_matches(['\\', '*', '(']).trim_end_matches([')', '*']).trim();
            covered(line, &mut found);
        }
        found
    }
}

/// Adds what a line such as `covers R1, R3` names.
fn covered(line: &str, found: &mut Vec<String>) {
    let Some(head) = line.get(..6).filter(|head| head.eq_ignore_ascii_case("covers")) else { return };
    let rest = &line[head.len()..];
    if !rest.starts_with([' ', '\t', ':']) {
        return;
    }
    for word in rest.split(|c: char| c.is_whitespace() || matches!(c, ',' | ';' | ':' | '.' | '(' | ')')) {
        if let Some(id) = requirement_id(word) {
            if !found.contains(&id) {
                found.push(id);
            }
        } else if !(word.is_empty() || word.eq_ignore_ascii_case("and") || word == "&") {
            // What follows is a remark ("covers R1 because of R2").
            break;
        }
    }
}

/// What a comment of a configuration says of properties that have no definition: `\* Deadlock covers R4`.
pub(super) fn covered_by_comment(comment: &str, covers: &mut BTreeMap<String, Vec<String>>) {
    let line = comment.trim_start_matches("\\*").trim();
    for name in [DEADLOCK, ASSERTION] {
        if let Some(rest) = line.strip_prefix(name).filter(|rest| rest.starts_with([' ', '\t'])) {
            let mut ids = covers.remove(name).unwrap_or_default();
            covered(rest.trim_start(), &mut ids);
            if !ids.is_empty() {
                covers.insert(name.to_owned(), ids);
            }
        }
    }
}

/// The number of a requirement in its usual spelling: `R4` for `R04`. `None` for any other word.
pub fn requirement_id(word: &str) -> Option<String> {
    let digits = word.strip_prefix('R').filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))?;
    digits.parse::<u32>().ok().map(|number| format!("R{number}"))
}
