//! The modules in the folder of a module, and in libraries, that it needs. It does not know what they are used for.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::path::Path;

use tlaforge_files as files;
use tlaforge_tla::Module;
use tlaforge_tla::semantic::is_in_every_tools_jar;

use super::community;
use super::libraries::{UnreadableModule, unless_absent};
use super::{Libraries, SpecText};

/// Modules that the module extends or instantiates, directly or not: name and text. They are after it in its file, in its
/// folder, or in the libraries, and the first of these counts.
///
/// # Errors
/// One of them exists and cannot be read.
pub fn local_modules(
    spec: &Path,
    module: &Module,
    libraries: &Libraries,
) -> Result<Vec<(String, String)>, UnreadableModule> {
    let in_file = following_modules(module);
    let find = |name: &str| {
        if let Some((_, text)) = in_file.iter().find(|(known, _)| known == name) {
            return Ok(Some(text.clone()));
        }
        let beside = spec.with_file_name(format!("{name}.tla"));
        let read = files::read_text(&beside, files::MEDIUM);
        unless_absent(beside, read).transpose().or_else(|| libraries.find(name).transpose()).transpose()
    };
    let mut found = Vec::new();
    add_needed(&module.name, needed_modules(module), &mut found, &find, &needed_by)?;
    Ok(found)
}

/// The modules after a module in its file: name and text.
fn following_modules(module: &Module) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut rest = module.terminator.as_ref().and_then(|end| module.source.get(end.end..)).unwrap_or("");
    while let Ok(next) = Module::parse(rest) {
        let Some(text) = rest.get(next.range.clone()).filter(|_| next.terminator.is_some()) else { break };
        found.push((next.name, format!("{text}\n")));
        rest = &rest[next.range.end..];
    }
    found
}

/// Adds the modules that are needed and were not found before. Most names without a file are standard modules.
fn add_needed(
    root: &str,
    mut wanted: Vec<String>,
    found: &mut Vec<(String, String)>,
    find: &dyn Fn(&str) -> Result<Option<String>, UnreadableModule>,
    needed_by: &dyn Fn(&str) -> Vec<String>,
) -> Result<(), UnreadableModule> {
    while let Some(name) = wanted.pop() {
        if name == root || found.iter().any(|(known, _)| *known == name) {
            continue;
        }
        let Some(text) = find(&name)? else { continue };
        wanted.extend(needed_by(&text));
        found.push((name, text));
    }
    Ok(())
}

/// Modules that a specification needs, that it does not have, and that not every jar of the tools has.
pub fn missing_modules(spec: &SpecText) -> Vec<String> {
    let texts = std::iter::once(&spec.text).chain(spec.local_modules.iter().map(|(_, text)| text));
    let modules: Vec<Module> = texts.filter_map(|text| Module::parse(text).ok()).collect();
    let mut present: BTreeSet<String> = modules.iter().flat_map(Module::inner_names).collect();
    present.insert(spec.name.clone());
    present.extend(spec.local_modules.iter().map(|(name, _)| name.clone()));
    let needed: BTreeSet<String> = modules.iter().flat_map(needed_modules).collect();
    needed.difference(&present).filter(|name| !is_in_every_tools_jar(name)).cloned().collect()
}

/// The specification with every module of the libraries that it needs and does not have. `needed_by_module` says which
/// modules another one needs; the specification itself is parsed here, because each mutant has another text.
pub(super) fn complete<'a>(
    libraries: &Libraries,
    spec: &'a SpecText,
    needed_by_module: &dyn Fn(&str) -> Vec<String>,
) -> Result<Cow<'a, SpecText>, UnreadableModule> {
    let mut texts = std::iter::once(&spec.text).chain(spec.local_modules.iter().map(|(_, text)| text));
    if libraries.is_empty() && !texts.any(|text| community::is_mentioned(text)) {
        return Ok(Cow::Borrowed(spec));
    }
    let mut wanted = needed_by(&spec.text);
    wanted.extend(spec.local_modules.iter().flat_map(|(_, text)| needed_by_module(text)));
    let mut found = Vec::new();
    let find = |name: &str| {
        let is_known = spec.local_modules.iter().any(|(known, _)| known == name);
        if is_known { Ok(None) } else { libraries.find(name) }
    };
    add_needed(&spec.name, wanted, &mut found, &find, needed_by_module)?;
    if found.is_empty() {
        return Ok(Cow::Borrowed(spec));
    }
    let local_modules = spec.local_modules.iter().cloned().chain(found).collect();
    Ok(Cow::Owned(SpecText { local_modules, ..spec.clone() }))
}

/// The modules that the module in this text needs; none if it cannot be parsed, which the tools report.
pub(super) fn needed_by(text: &str) -> Vec<String> {
    Module::parse(text).map_or_else(|_| Vec::new(), |module| needed_modules(&module))
}

fn needed_modules(module: &Module) -> Vec<String> {
    let mut names: Vec<String> = module.extends.iter().chain(&module.instances).cloned().collect();
    // `M == INSTANCE Other WITH …` is a definition, so the module's name is only in its text.
    for definition in &module.definitions {
        let mut words = definition.text.split_whitespace();
        while let Some(word) = words.next() {
            if word == "INSTANCE" {
                names.extend(words.next().map(str::to_owned));
            }
        }
    }
    // The word after `INSTANCE` in a comment can be anything, and a path must not be made of it.
    names.retain(|name| name.len() <= 200 && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_'));
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_after_a_module_in_its_file_are_found_first() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("B.tla"), "---- MODULE B ----\nof_folder == 1\n====\n").unwrap();
        let text = "---- MODULE A ----\nEXTENDS B, C\n====\nprose\n---- MODULE B ----\nEXTENDS D\n====\n\
                    ---- MODULE D ----\n====\n---- MODULE Unused ----\n====\n---- MODULE C ----\nno end";
        let module = Module::parse(text).unwrap();
        let found = local_modules(&folder.path().join("A.tla"), &module, &Libraries::default()).unwrap();
        let mut names: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
        names.sort_unstable();
        assert_eq!(names, ["B", "D"]);
        assert!(!found.iter().any(|(_, text)| text.contains("of_folder")));
    }

    #[test]
    fn inner_modules_are_present_and_modules_in_comments_are_missing() {
        let missing = |text: &str| missing_modules(&SpecText::alone(text.to_owned()));
        let inner = "---- MODULE M ----\n---- MODULE Inner----\nx == 1\n====\nI == INSTANCE Inner\n====\n";
        assert!(missing(inner).is_empty());
        let comment = "---- MODULE M ----\nEXTENDS Other, Naturals, Json\n\\* ---- MODULE Other ----\n====\n";
        assert_eq!(missing(comment), ["Json", "Other"]);
        // No name of a module.
        assert!(missing("---- MODULE M ----\nx == 1 \\* INSTANCE ../N\n====\n").is_empty());
    }
}
