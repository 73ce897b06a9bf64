//! Which requirements the definitions of a module say they cover, by the comments `\* covers R1, R3` directly above
//! them.

use std::collections::BTreeMap;

use super::cfg::Cfg;
use super::definition::Definition;
use super::module::Module;
use super::requirement_comment::add_covered;

/// The requirements that each definition covers, in the order written, each once. Definitions that cover nothing are
/// left out. A text without a module header is read as a list of definitions.
pub fn requirements_by_definition(text: &str) -> BTreeMap<String, Vec<String>> {
    let module = Module::parse(text).or_else(|_| Module::parse(&format!("---- MODULE Scratch ----\n{text}\n====")));
    module.map(|module| module.requirements_by_definition()).unwrap_or_default()
}

impl Module {
    /// The same as the function [`requirements_by_definition`], for a parsed module.
    pub fn requirements_by_definition(&self) -> BTreeMap<String, Vec<String>> {
        let all = self.definitions_by_name();
        let covering = all.into_iter().map(|(name, definition)| (name.to_owned(), definition.covers()));
        covering.filter(|(_, covered)| !covered.is_empty()).collect()
    }

    /// The requirements that each property of the configuration covers. `Deadlock` and `Assertion` have no definition:
    /// comments of the configuration name theirs (`\* Deadlock covers R4`).
    pub fn requirements_by_property(&self, cfg: &Cfg) -> BTreeMap<String, Vec<String>> {
        let mut covers = self.requirements_by_definition();
        covers.retain(|name, _| cfg.invariants.contains(name) || cfg.properties.contains(name));
        covers.extend(cfg.covers.clone());
        covers
    }
}

impl Definition {
    /// The requirements that the comment above this definition names.
    pub fn covers(&self) -> Vec<String> {
        let mut found: Vec<String> = Vec::new();
        for line in self.comment.lines() {
            let line = line.trim().trim_start_matches(['\\', '*', '(']).trim_end_matches([')', '*']).trim();
            add_covered(line, &mut found);
        }
        found
    }
}
