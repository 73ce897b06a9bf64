//! No file imports itself through others of its folder, and the folders of the pipeline depend on each other in one
//! direction. A name that a `mod.rs` re-exports counts as an import of the file that defines it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::rust_source::{Named, code, defined, module_of, module_path, named, sources};

/// The folders of the pipeline; each imports only from those before it.
const PIPELINE: [&str; 5] = ["machine", "records", "policy", "run", "replay"];

/// A module's path from the crate's root.
type Module = Vec<String>;

/// The modules of a crate, and which file each name comes from.
struct Files {
    by_module: BTreeMap<Module, PathBuf>,
    /// What each file names.
    named: BTreeMap<PathBuf, Vec<Named>>,
    /// What each file defines.
    defined: BTreeMap<PathBuf, BTreeSet<String>>,
}

impl Files {
    fn new(sources: impl IntoIterator<Item = (PathBuf, String)>) -> Self {
        let mut all = Self { by_module: BTreeMap::new(), named: BTreeMap::new(), defined: BTreeMap::new() };
        for (path, text) in sources {
            if !path.ends_with("main.rs") {
                all.by_module.insert(module_path(&path), path.clone());
            }
            let code = code(&text);
            all.named.insert(path.clone(), named(&path, &code));
            all.defined.insert(path, defined(&code));
        }
        all
    }

    /// The module that defines what a path names, and whether the path names that module itself. `None` for other crates.
    fn resolve(&self, from: &Module, path: &str, aliases: &BTreeMap<String, Module>) -> Option<(Module, bool)> {
        let mut parts: Vec<&str> = path.split("::").filter(|part| *part != "self").collect();
        let mut module = match parts.first().copied() {
            Some("crate") => {
                parts.remove(0);
                Module::new()
            }
            Some(first) => {
                let child: Module = from.iter().cloned().chain([first.to_owned()]).collect();
                if self.by_module.contains_key(&child) {
                    from.clone()
                } else {
                    let alias = aliases.get(first)?.clone();
                    parts.remove(0);
                    alias
                }
            }
            None => return None,
        };
        for (i, part) in parts.iter().enumerate() {
            let child: Module = module.iter().cloned().chain([(*part).to_owned()]).collect();
            if self.by_module.contains_key(&child) {
                module = child;
                continue;
            }
            let Some(origin) = self.reexported(&module, part) else {
                // A `mod.rs` defines nothing: here `super` was written in a module inside a file.
                return (!self.by_module[&module].ends_with("mod.rs")).then_some((module, false));
            };
            let rest: Vec<&str> = std::iter::once(origin.as_str()).chain(parts[i + 1..].iter().copied()).collect();
            return self.resolve(&module, &rest.join("::"), &BTreeMap::new());
        }
        Some((module, true))
    }

    /// The path from which a module imports this name, also by `*`.
    fn reexported(&self, module: &Module, name: &str) -> Option<String> {
        let file = &self.by_module[module];
        let named = &self.named[file];
        if self.defined[file].contains(name) {
            return None;
        }
        let of_name = |named: &&Named| {
            let own = named.alias.as_deref().or_else(|| named.path.rsplit("::").next());
            named.imported && own == Some(name)
        };
        let by_name = named.iter().find(of_name).map(|named| named.path.clone());
        by_name.or_else(|| {
            let mut globs =
                named.iter().filter(|named| named.imported).filter_map(|named| named.path.strip_suffix("::*"));
            let path = |glob: &str| {
                let (target, is_module) = self.resolve(module, glob, &BTreeMap::new())?;
                let has = is_module
                    && target != *module
                    && (self.defined[&self.by_module[&target]].contains(name)
                        || self.reexported(&target, name).is_some());
                has.then(|| format!("{glob}::{name}"))
            };
            globs.find_map(path)
        })
    }

    /// The files that each file imports from.
    fn arrows(&self) -> BTreeMap<PathBuf, BTreeSet<PathBuf>> {
        let arrows = |path: &PathBuf, named: &Vec<Named>| {
            let from = module_path(path);
            let mut aliases = BTreeMap::new();
            let mut targets = BTreeSet::new();
            for Named { path, alias, .. } in named.iter().filter(|named| named.imported) {
                match self.resolve(&from, path, &BTreeMap::new()) {
                    // A module that is imported is followed where the file names something in it.
                    Some((module, true)) => {
                        let name = alias.clone().or_else(|| module.last().cloned()).unwrap_or_default();
                        aliases.insert(name, module);
                    }
                    Some((module, false)) => {
                        targets.insert(module);
                    }
                    None => {}
                }
            }
            let used = named.iter().filter(|named| !named.imported);
            targets.extend(used.filter_map(|named| Some(self.resolve(&from, &named.path, &aliases)?.0)));
            targets.iter().map(|module| self.by_module[module].clone()).filter(|to| to != path).collect()
        };
        self.named.iter().map(|(path, named)| (path.clone(), arrows(path, named))).collect()
    }
}

/// Groups of files each of which imports, through the others, itself.
fn circles(arrows: &BTreeMap<PathBuf, BTreeSet<PathBuf>>) -> BTreeSet<Vec<PathBuf>> {
    let reachable = |from: &PathBuf| {
        let mut seen = BTreeSet::new();
        let mut left: Vec<&PathBuf> = arrows[from].iter().collect();
        while let Some(file) = left.pop() {
            if seen.insert(file.clone()) {
                left.extend(&arrows[file]);
            }
        }
        seen
    };
    let reached: BTreeMap<&PathBuf, BTreeSet<PathBuf>> = arrows.keys().map(|file| (file, reachable(file))).collect();
    let circle = |file: &PathBuf| {
        let back = |other: &&PathBuf| reached[other].contains(file);
        reached[file].iter().filter(back).cloned().collect::<Vec<PathBuf>>()
    };
    arrows.keys().map(circle).filter(|circle| !circle.is_empty()).collect()
}

#[test]
fn no_file_imports_itself_through_others() {
    let arrows = Files::new(sources()).arrows();
    let count: usize = arrows.values().map(BTreeSet::len).sum();
    assert!(count > 1000, "only {count} arrows were seen: the test has gone blind");
    let found: Vec<String> = circles(&arrows)
        .into_iter()
        .map(|circle| {
            let mut text = format!("{} files:\n", circle.len());
            for file in &circle {
                for to in arrows[file].iter().filter(|to| circle.contains(to)) {
                    text.push_str(&[file.display().to_string(), to.display().to_string()].join(" -> "));
                    text.push('\n');
                }
            }
            text
        })
        .collect();
    assert!(found.is_empty(), "{} circles of imports:\n{}", found.len(), found.join("\n"));
}

#[test]
fn the_pipeline_flows_one_way() {
    let floor = |path: &Path| {
        let folder = path.strip_prefix("pipeline").ok()?.components().next()?.as_os_str().to_str()?;
        PIPELINE.iter().position(|name| *name == folder)
    };
    let mut seen = 0;
    for (from, targets) in Files::new(sources()).arrows() {
        let in_pipeline = module_of(&from) == "pipeline" && !from.ends_with("pipeline/mod.rs");
        assert_eq!(in_pipeline, floor(&from).is_some(), "{} is in no folder of the pipeline", from.display());
        for to in targets {
            if let (Some(from_floor), Some(to_floor)) = (floor(&from), floor(&to)) {
                assert!(to_floor <= from_floor, "{} imports from {}", from.display(), to.display());
                seen += 1;
            }
        }
    }
    assert!(seen > 50, "only {seen} arrows were seen: the test has gone blind");
}

#[test]
fn circles_are_found_through_re_exports_aliases_and_folders() {
    let circles_of = |files: &[(&str, &str)]| {
        let files = files.iter().map(|(path, text)| (PathBuf::from(path), (*text).to_owned()));
        let found = circles(&Files::new(files).arrows());
        found
            .iter()
            .map(|c| c.iter().map(|p| p.display().to_string()).collect::<Vec<_>>().join(" "))
            .collect::<Vec<_>>()
    };
    let lib = ("lib.rs", "pub mod a; pub mod z; pub use a::*;");
    let folder = ("a/mod.rs", "mod x; mod y; pub use x::X; pub use y::{Y, Z as Other};");
    for (x, y, z, expected) in [
        ("use super::Y;", "use super::X;", "", &["a/x.rs a/y.rs"][..]),
        ("use super::y::Y;", "fn f() { super::X::new() }", "", &["a/x.rs a/y.rs"]),
        ("use super::Other;", "use crate::a::{X as Mine};", "", &["a/x.rs a/y.rs"]),
        ("use super::y;\nfn f() { y::g() }", "use super::x::{self, X};", "", &["a/x.rs a/y.rs"]),
        ("use crate::z::Z;", "", "use crate::a::X;", &["a/x.rs z.rs"]),
        ("use crate::z::Z;", "use super::X;", "fn f(y: crate::a::Y) {}", &["a/x.rs a/y.rs z.rs"]),
        ("use super::Y;", "use std::x::X;", "use crate::a::{X, Y};", &[]),
        ("use crate::Y;", "use crate::z::X;", "pub use crate::a::*;", &["a/x.rs a/y.rs"]),
        ("use super::Y;", "pub(in crate::a) fn f() {} mod inner { use super::Local; }", "use crate::a::X;", &[]),
        ("use super::Y;", "#[cfg(test)]\nmod tests { use super::super::X; }", "", &[]),
    ] {
        let found = circles_of(&[lib, folder, ("a/x.rs", x), ("a/y.rs", y), ("z.rs", z)]);
        assert_eq!(found, expected, "{x} | {y} | {z}");
    }
}
