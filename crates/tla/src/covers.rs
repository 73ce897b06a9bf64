//! Which requirements the definitions of a module say they cover, by the comments `\* covers R1, R3` directly above
//! them.

use std::collections::BTreeMap;
use std::ops::Range;

use super::cfg::Cfg;
use super::definition::Definition;
use super::lexer::Token;
use super::module::Module;
use super::requirement_comment::{CoverLine, add_new, read_cover_lines};

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
        let lines: Vec<&str> = self.comment.lines().map(without_marks).collect();
        for line in read_cover_lines(&lines) {
            if let CoverLine::Covers(ids) = line {
                add_new(&mut found, ids);
            }
        }
        found
    }
}

/// A line of a comment without the marks of the comment.
fn without_marks(line: &str) -> &str {
    line.trim().trim_start_matches(['\\', '*', '(']).trim_end_matches([')', '*']).trim()
}

/// The comments of a section that seem to say what a property covers and have no effect: those whose meaning is not
/// certain, and those that are not above a definition which the configuration lists as a property. With the byte offset
/// of each line.
pub(super) fn comments_without_effect(module: &Module, tokens: &[Token], cfg: &Cfg) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let source = &module.source;
    for range in comment_blocks(source, tokens) {
        let mut offset = range.start;
        let comment = &source[range];
        let lines: Vec<&str> = comment.lines().map(without_marks).collect();
        for (line, read) in comment.split_inclusive('\n').zip(read_cover_lines(&lines)) {
            let why = match read {
                CoverLine::Nothing => None,
                CoverLine::Unclear => Some(
                    "it is not certain what this comment covers: write `\\* covers R1, R3` and nothing else, directly above \
                     the property, or say the rest in other words"
                        .to_owned(),
                ),
                CoverLine::Covers(_) => why_without_effect(module, offset, cfg),
            };
            found.extend(why.map(|why| (offset, format!("`{}`: {why}", line.trim()))));
            offset += line.len();
        }
    }
    found
}

/// The ranges of the comments. Comments that begin lines one below the other are one range.
fn comment_blocks(source: &str, tokens: &[Token]) -> Vec<Range<usize>> {
    let mut blocks: Vec<Range<usize>> = Vec::new();
    let mut is_open = false;
    for token in tokens.iter().filter(|token| token.is_comment()) {
        match blocks.last_mut() {
            Some(last) if is_open && is_line_break(&source[last.end..token.start]) => last.end = token.end,
            _ => blocks.push(token.start..token.end),
        }
        is_open = token.first;
    }
    blocks
}

fn is_line_break(between: &str) -> bool {
    between.trim().is_empty() && between.matches('\n').count() <= 1
}

/// Why a comment that names requirements covers none of them.
fn why_without_effect(module: &Module, offset: usize, cfg: &Cfg) -> Option<String> {
    let is_above = |definition: &&Definition| (definition.range.start..definition.code.start).contains(&offset);
    let Some(definition) = module.definitions.iter().find(is_above) else {
        return Some("it is not directly above a definition: put it above the property that covers this".to_owned());
    };
    let name = &definition.name;
    // Without a configuration nothing is known.
    let is_known = !cfg.invariants.is_empty() || !cfg.properties.is_empty();
    (is_known && !cfg.invariants.contains(name) && !cfg.properties.contains(name)).then(|| {
        format!("it is above {name}, which the configuration does not list as INVARIANT or PROPERTY: put it above the property that covers this, or list {name}")
    })
}
