//! The modules that stand beside a module on disk.

use std::path::Path;

use crate::files;
use crate::tla::Module;

/// Modules in the same folder that the module names, and those that they name.
pub fn local_modules(spec: &Path, module: &Module) -> Vec<(String, String)> {
    let dir = spec.parent().unwrap_or(Path::new("."));
    let mut found: Vec<(String, String)> = Vec::new();
    let mut wanted = needs(module);
    while let Some(name) = wanted.pop() {
        if name == module.name || found.iter().any(|(known, _)| *known == name) {
            continue;
        }
        let Ok(text) = files::read_text(&dir.join(format!("{name}.tla")), files::MEDIUM) else { continue };
        if let Ok(other) = Module::parse(&text) {
            wanted.extend(needs(&other));
        }
        found.push((name, text));
    }
    found
}

fn needs(module: &Module) -> Vec<String> {
    let mut names: Vec<String> = module.extends.iter().chain(&module.instances).cloned().collect();
    // `M == INSTANCE Other WITH …` names its module in its text.
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
