//! The modules in the folder of a module, and in libraries, that it needs. It does not know what they are used for.

use std::borrow::Cow;
use std::path::Path;

use tlaforge_files as files;
use tlaforge_tla::Module;
use tlaforge_tla::semantic::is_standard_module;

use super::{Libraries, SpecText};

/// Modules in the same folder, or else in the libraries, that the module extends or instantiates, directly or not: name and
/// text.
pub fn local_modules(spec: &Path, module: &Module, libraries: &Libraries) -> Vec<(String, String)> {
    let dir = spec.parent().unwrap_or(Path::new("."));
    let mut found: Vec<(String, String)> = Vec::new();
    let mut wanted = needed_modules(module);
    while let Some(name) = wanted.pop() {
        if name == module.name || found.iter().any(|(known, _)| *known == name) {
            continue;
        }
        // Usually a standard module. A local one that cannot be read is reported by the parser, which does not find
        // it.
        let beside = files::read_text(&dir.join(format!("{name}.tla")), files::MEDIUM).ok();
        let Some(text) = beside.or_else(|| libraries.find(&name)) else { continue };
        if let Ok(other) = Module::parse(&text) {
            wanted.extend(needed_modules(&other));
        }
        found.push((name, text));
    }
    found
}

/// Modules that a specification needs, has not, and that are no standard modules.
pub fn missing_modules(spec: &SpecText) -> Vec<String> {
    let texts = || std::iter::once(&spec.text).chain(spec.local_modules.iter().map(|(_, text)| text));
    let is_present = |name: &String| {
        let own = *name == spec.name || spec.local_modules.iter().any(|(known, _)| known == name);
        // An inner module has its header in one of the texts.
        own || is_standard_module(name) || texts().any(|text| text.contains(&format!("MODULE {name} ")))
    };
    let needed = texts().filter_map(|text| Module::parse(text).ok()).flat_map(|module| needed_modules(&module));
    let mut missing: Vec<String> = needed.filter(|name| !is_present(name)).collect();
    missing.sort();
    missing.dedup();
    missing
}

/// The specification with every module of the libraries that it needs and does not have.
pub(super) fn complete<'a>(libraries: &Libraries, spec: &'a SpecText) -> Cow<'a, SpecText> {
    let needed = |text: &str| Module::parse(text).map_or_else(|_| Vec::new(), |module| needed_modules(&module));
    let mut completed = Cow::Borrowed(spec);
    if libraries.is_empty() {
        return completed;
    }
    let texts = std::iter::once(&spec.text).chain(spec.local_modules.iter().map(|(_, text)| text));
    let mut wanted: Vec<String> = texts.flat_map(|text| needed(text)).collect();
    while let Some(name) = wanted.pop() {
        if completed.name == name || completed.local_modules.iter().any(|(known, _)| *known == name) {
            continue;
        }
        let Some(text) = libraries.find(&name) else { continue };
        wanted.extend(needed(&text));
        completed.to_mut().local_modules.push((name, text));
    }
    completed
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
    names
}
