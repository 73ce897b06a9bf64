//! Snapshots of run folders.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::Bench;
use super::counter::{bench, good};

/// Every file below a folder with its content, except the lock, which names its last holder.
pub fn snapshot(root: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()) {
            if entry.is_dir() {
                folders.push(entry);
            } else if !entry.ends_with("run.lock") {
                files.insert(entry.clone(), std::fs::read(entry).unwrap());
            }
        }
    }
    files
}

/// A bench with the counter's document and a recording of it.
pub fn ready() -> Bench {
    let bench = bench();
    bench.write("script.jsonl", good().text());
    bench
}

pub const RUN: [&str; 6] = ["run", "docs", "--recording", "script.jsonl", "--out", "specs"];
