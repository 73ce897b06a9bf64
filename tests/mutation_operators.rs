//! The mutants that are made of a specification: which, where, and that they are specifications again.
#![allow(clippy::unwrap_used, reason = "a test fails where its own preparation does")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use tlaforge::mutation::{Mutant, Operator, mutants};
use tlaforge::pluscal::{self, Options};
use tlaforge::tla::semantic::analyze;
use tlaforge::tla::{Cfg, Module};

fn specifications() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found: Vec<PathBuf> = ["exemplars", "evals"]
        .iter()
        .flat_map(|folder| walkdir::WalkDir::new(root.join(folder)))
        .map(|entry| entry.unwrap().into_path())
        .filter(|path| path.extension().is_some_and(|x| x == "tla") && path.with_extension("cfg").exists())
        .filter(|path| !path.to_string_lossy().contains("known_bugs"))
        .collect();
    found.sort();
    assert!(found.len() >= 8, "{found:?}");
    found
}

fn read(path: &Path) -> (Module, Cfg) {
    let text = std::fs::read_to_string(path).unwrap();
    let cfg = Cfg::parse(&std::fs::read_to_string(path.with_extension("cfg")).unwrap()).unwrap();
    (Module::parse(&text).unwrap(), cfg)
}

#[test]
fn nearly_all_mutants_are_specifications_again_and_no_property_is_touched() {
    let mut table: BTreeMap<Operator, [usize; 3]> = BTreeMap::new();
    for path in specifications() {
        let (module, cfg) = read(&path);
        let all = mutants(&module, &cfg);
        println!("{}: {}", path.display(), all.len());
        for mutant in all {
            let row = table.entry(mutant.operator).or_default();
            row[0] += 1;
            let text = mutant.apply(&module.source);
            if std::env::var("SHOW").is_ok() {
                println!(
                    "## {} | {} {}\n{}",
                    mutant.name("S.tla"),
                    mutant.definition,
                    mutant.what,
                    mutant.diff(&module.source)
                );
            }
            let translated = match pluscal::translate(&text, &Options::default()) {
                Ok(Some(translated)) => translated.text,
                Ok(None) => text,
                Err(errors) => {
                    println!("{} {}: not translated: {}", path.display(), mutant.name(""), errors[0]);
                    continue;
                }
            };
            row[1] += 1;
            let analysis = analyze(&module.name, &translated, &[]);
            if let Some(error) = analysis.errors.first() {
                println!("{} {}: {error}", path.display(), mutant.name(""));
                continue;
            }
            row[2] += 1;
        }
    }
    println!("{:<16} {:>5} {:>10} {:>8}", "operator", "made", "translates", "analyses");
    for (operator, [made, translates, analyses]) in &table {
        println!("{operator:<16} {made:>5} {translates:>10} {analyses:>8}");
    }
    let sum = |at: usize| table.values().map(|row| row[at]).sum::<usize>();
    println!("{:<16} {:>5} {:>10} {:>8}", "all", sum(0), sum(1), sum(2));
}
