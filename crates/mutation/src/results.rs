//! The folder of a mutation run. One process at a time; each judgement is appended at once, so an interrupted run resumes.
//!
//! | file | content |
//! |---|---|
//! | `mutants.json` | the selected mutants, written before the first is judged |
//! | `outcomes.jsonl` | one judgement per line, in order of completion, with traces |
//! | `outcomes.json` | the complete result, written at the end |
//! | `killed.txt`, `survived.txt`, ... | names by class, written at the end |
//! | `run.lock` | lock file: process id and host of the running process |

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use tlaforge_files as files;
use tlaforge_files::write_atomically;

use super::{Judgement, Mutant, Outcome};

/// A file that could not be read or written.
#[derive(Debug, thiserror::Error)]
#[error("{path}: {source}")]
pub struct ResultsError {
    pub path: PathBuf,
    pub source: io::Error,
}

/// The open results folder of a mutation run.
#[derive(Debug)]
pub struct Results {
    dir: PathBuf,
    log: File,
    known: BTreeMap<String, Judgement>,
}

impl Results {
    /// Opens a folder, reads judgements of an earlier run in it, and removes an incomplete last line.
    pub fn open(dir: &Path) -> Result<Self, ResultsError> {
        let path = dir.join("outcomes.jsonl");
        let at = |path: &Path| {
            let path = path.to_owned();
            move |source| ResultsError { path, source }
        };
        if let Err(source) = std::fs::create_dir_all(dir) {
            let source = match source.kind() {
                io::ErrorKind::AlreadyExists => {
                    io::Error::new(source.kind(), "it is no folder; choose one for the results: --out DIR")
                }
                _ => source,
            };
            return Err(at(dir)(source));
        }
        // The folder may have come from elsewhere, and the target of a link may be a file of the user.
        files::check_below(dir, &path).map_err(at(&path))?;
        let text = match files::read_below(dir, &path, files::LOG) {
            Ok(bytes) => bytes,
            Err(e) if e.kind() == io::ErrorKind::NotFound => {
                refuse_foreign_files(dir)?;
                Vec::new()
            }
            Err(e) => return Err(at(&path)(e)),
        };
        let complete = text.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let lines = text[..complete].split(|byte| *byte == b'\n');
        // A judgement that this version cannot read is ignored, so its mutant is judged again.
        let judgements = lines.filter_map(|line| serde_json::from_slice::<Judgement>(line).ok());
        // The last one of a key counts: a mutant that timed out may have been judged again.
        let known = judgements.map(|judgement| (judgement.key.clone(), judgement)).collect();
        let log = files::open_with(&path, OpenOptions::new().create(true).append(true)).map_err(at(&path))?;
        // So that the next judgement begins on a line of its own.
        if complete < text.len() {
            log.set_len(complete as u64).map_err(at(&path))?;
        }
        Ok(Self { dir: dir.to_owned(), log, known })
    }

    /// The earlier judgement with this key.
    pub fn known(&self, key: &str) -> Option<&Judgement> {
        self.known.get(key)
    }

    /// Writes the list of selected mutants.
    pub fn plan(&self, file: &str, source: &str, mutants: &[Mutant]) -> Result<(), ResultsError> {
        let listed: Vec<Value> = mutants.iter().map(|mutant| mutant_json(mutant, file, source)).collect();
        self.write("mutants.json", &format!("{:#}\n", json!({"schema": 1, "mutants": listed})))
    }

    /// Appends one judgement as a line; a kill can lose only the line that is being written.
    pub fn append(&mut self, judgement: &Judgement) -> Result<(), ResultsError> {
        let mut line = serde_json::to_string(judgement).expect("a judgement is plain data");
        line.push('\n');
        self.log
            .write_all(line.as_bytes())
            .map_err(|source| ResultsError { path: self.dir.join("outcomes.jsonl"), source })
    }

    /// Writes the complete result, and the names of mutants by class.
    pub fn finish(&self, complete: &Value, judgements: &[Judgement]) -> Result<(), ResultsError> {
        self.write("outcomes.json", &format!("{complete:#}\n"))?;
        for outcome in Outcome::ALL {
            let names = judgements.iter().filter(|j| j.outcome == outcome).map(|j| format!("{}\n", j.name));
            self.write(&list_name(outcome), &names.collect::<String>())?;
        }
        Ok(())
    }

    fn write(&self, name: &str, text: &str) -> Result<(), ResultsError> {
        let path = self.dir.join(name);
        write_atomically(&path, text.as_bytes()).map_err(|source| ResultsError { path, source })
    }
}

/// Refuses a folder without `outcomes.jsonl` that contains files with names that a mutation run writes: they belong to
/// something else and would be overwritten.
fn refuse_foreign_files(dir: &Path) -> Result<(), ResultsError> {
    let lists = Outcome::ALL.map(list_name);
    let names = ["mutants.json", "outcomes.json"].into_iter().chain(lists.iter().map(String::as_str));
    match names.map(|name| dir.join(name)).find(|path| path.exists()) {
        Some(path) => {
            let what = "this file was not written by `tlaforge mutate` and would be overwritten; move it away, or choose \
                        another folder: --out DIR";
            Err(ResultsError { path, source: io::Error::new(io::ErrorKind::AlreadyExists, what) })
        }
        None => Ok(()),
    }
}

/// The file that lists the names of the mutants of a class.
fn list_name(outcome: Outcome) -> String {
    format!("{}.txt", outcome.key())
}

/// A mutant as JSON, before it is judged.
pub fn mutant_json(mutant: &Mutant, file: &str, source: &str) -> Value {
    json!({
        "name": mutant.name(),
        "place": mutant.place(file),
        "operator": mutant.operator,
        "definition": mutant.definition,
        "line": mutant.line,
        "column": mutant.column,
        "what": mutant.what,
        "diff": mutant.diff(source),
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_link_in_the_folder_is_not_written_through() {
        let dir = tempfile::tempdir().unwrap();
        let (results, other) = (dir.path().join("mutants.out"), dir.path().join("other"));
        std::fs::create_dir(&results).unwrap();
        for text in [None, Some("text")] {
            text.inspect(|text| std::fs::write(&other, text).unwrap());
            let _ = std::fs::remove_file(results.join("outcomes.jsonl"));
            std::os::unix::fs::symlink(&other, results.join("outcomes.jsonl")).unwrap();
            assert!(Results::open(&results).unwrap_err().to_string().contains("is a link"));
            assert_eq!(std::fs::read_to_string(&other).ok().as_deref(), text);
        }
        std::fs::write(&other, "text").unwrap();
        assert!(Results::open(&other).unwrap_err().to_string().contains("it is no folder"));
    }

    use super::*;

    #[test]
    fn files_of_other_programs_are_not_overwritten() {
        for name in ["mutants.json", "outcomes.json", "killed.txt"] {
            let dir = tempfile::tempdir().unwrap();
            std::fs::write(dir.path().join(name), "mine").unwrap();
            let error = Results::open(dir.path()).unwrap_err().to_string();
            assert!(error.contains(name) && error.contains("not written by `tlaforge mutate`"), "{error}");
            std::fs::write(dir.path().join("outcomes.jsonl"), "").unwrap();
            assert!(Results::open(dir.path()).is_ok(), "an earlier run was here");
        }
    }
}
