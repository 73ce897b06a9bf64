//! Compares our translator with the reference on all modules of a folder, for `scripts/pcal-diff`.

use std::path::{Path, PathBuf};

use crate::pluscal::reference::{Made, Reference, Table, compare, in_two_threads, name_of, ours};

fn collect_modules(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() && !path.is_symlink() {
            collect_modules(&path, found);
        } else if path.extension().is_some_and(|e| e == "tla") {
            found.push(path);
        }
    }
}

#[test]
#[ignore = "a tool: scripts/pcal-diff FOLDER [--compat 2020]"]
fn a_folder_is_compared() {
    let folder = PathBuf::from(std::env::var("PCAL_DIFF_FOLDER").expect("PCAL_DIFF_FOLDER"));
    let reference = match std::env::var("PCAL_DIFF_COMPAT").as_deref() {
        Ok("2020") => Reference::of_2020(),
        _ => Reference::of_today().expect("TLAFORGE_PCAL_TODAY: a class path of today's translator"),
    };
    let mut files = Vec::new();
    collect_modules(&folder, &mut files);
    let compared = in_two_threads(&files, |file| {
        let text = std::fs::read_to_string(file).ok()?;
        let ours = ours(&text, reference.compat);
        let mentioned = ["--algorithm", "--fair"].iter().any(|word| text.contains(word));
        let theirs = if mentioned { reference.translate(&name_of(file), &text) } else { Made::Nothing };
        (ours != Made::Nothing || theirs != Made::Nothing).then(|| compare(&text, &ours, &theirs))
    });
    let (mut table, mut algorithms) = (Table::default(), 0);
    for (file, compared) in files.iter().zip(compared) {
        let Some(compared) = compared else { continue };
        algorithms += 1;
        table.add(&file.strip_prefix(&folder).unwrap_or(file).display().to_string(), compared);
    }
    for difference in &table.differences {
        println!("{difference}");
    }
    println!("{} modules, {algorithms} with an algorithm\n{}", files.len(), table.rows());
}
