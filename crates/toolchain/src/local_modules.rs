//! The modules in the folder of a module that it needs. It does not know what they are used for.

use std::path::Path;

use tlaforge_files as files;
use tlaforge_tla::Module;

/// Modules in the same folder that the module extends or instantiates, directly or not: name and text.
pub fn local_modules(spec: &Path, module: &Module) -> Vec<(String, String)> {
    let dir = spec.parent().unwrap_or(Path::new("."));
    let mut found: Vec<(String, String)> = Vec::new();
    let mut wanted = needed_modules(module);
    while let Some(name) = wanted.pop() {
        if name == module.name || found.iter().any(|(known, _)| *known == name) {
            continue;
        }
        // Usually a standard module. A local one that cannot be read is reported by the parser, which does not find
        // it.
        let Ok(text) = files::read_text(&dir.join(format!("{name}.tla")), files::MEDIUM) else { continue };
        if let Ok(other) = Module::parse(&text) {
            wanted.extend(needed_modules(&other));
        }
        found.push((name, text));
    }
    found
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
