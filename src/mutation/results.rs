//! The folder of a mutation run. One process at a time; what was judged is appended at once and never taken back.
//!
//! | file | what |
//! |---|---|
//! | `mutants.json` | the mutants chosen, written before the first is judged |
//! | `outcomes.jsonl` | one judgement a line, as they come, with their traces |
//! | `outcomes.json` | the whole result, written at the end |
//! | `killed.txt`, `survived.txt`, ... | names by class, written at the end |
//! | `run.lock` | who works here |

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::files;
use crate::journal::write_atomically;

use super::{Judgement, Mutant, Outcome};

/// What could not be read or written.
#[derive(Debug, thiserror::Error)]
#[error("{path}: {source}")]
pub struct ResultsError {
    /// Where.
    pub path: PathBuf,
    /// Why not.
    pub source: io::Error,
}

/// The folder, open for this run.
#[derive(Debug)]
pub struct Results {
    dir: PathBuf,
    log: File,
    known: BTreeMap<String, Judgement>,
}

impl Results {
    /// Opens a folder, which may hold judgements of an earlier run, and cuts off a last line that was not written whole.
    pub fn open(dir: &Path) -> Result<Self, ResultsError> {
        let path = dir.join("outcomes.jsonl");
        let at = |path: &Path| {
            let path = path.to_owned();
            move |source| ResultsError { path, source }
        };
        std::fs::create_dir_all(dir).map_err(at(dir))?;
        let text = match files::read(&path, files::LOG) {
            Ok(bytes) => bytes,
            Err(e) if e.kind() == io::ErrorKind::NotFound => {
                refuse_strangers(dir)?;
                Vec::new()
            }
            Err(e) => return Err(at(&path)(e)),
        };
        let whole = text.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let lines = text[..whole].split(|byte| *byte == b'\n');
        // A judgement that this version does not read is made again.
        let judgements = lines.filter_map(|line| serde_json::from_slice::<Judgement>(line).ok());
        let known = judgements.map(|judgement| (judgement.key.clone(), judgement)).collect();
        let log = files::open_with(&path, OpenOptions::new().create(true).append(true)).map_err(at(&path))?;
        if whole < text.len() {
            log.set_len(whole as u64).map_err(at(&path))?;
        }
        Ok(Self { dir: dir.to_owned(), log, known })
    }

    /// The judgement of this key, where one was made before.
    pub fn known(&self, key: &str) -> Option<&Judgement> {
        self.known.get(key)
    }

    /// Writes down what is going to be judged.
    pub fn plan(&self, file: &str, source: &str, mutants: &[Mutant]) -> Result<(), ResultsError> {
        let listed: Vec<Value> = mutants.iter().map(|mutant| listed(mutant, file, source)).collect();
        self.write("mutants.json", &format!("{:#}\n", json!({"schema": 1, "mutants": listed})))
    }

    /// Appends one judgement.
    pub fn append(&mut self, judgement: &Judgement) -> Result<(), ResultsError> {
        let mut line = serde_json::to_string(judgement).expect("a judgement is plain data");
        line.push('\n');
        self.log
            .write_all(line.as_bytes())
            .map_err(|source| ResultsError { path: self.dir.join("outcomes.jsonl"), source })
    }

    /// Writes the whole result, and the names by class.
    pub fn finish(&self, whole: &Value, judgements: &[Judgement]) -> Result<(), ResultsError> {
        self.write("outcomes.json", &format!("{whole:#}\n"))?;
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

/// Refuses a folder without `outcomes.jsonl` that holds files under the names that a mutation run writes: no mutation run
/// put them there.
fn refuse_strangers(dir: &Path) -> Result<(), ResultsError> {
    let lists = Outcome::ALL.map(list_name);
    let names = ["mutants.json", "outcomes.json"].into_iter().chain(lists.iter().map(String::as_str));
    match names.map(|name| dir.join(name)).find(|path| path.exists()) {
        Some(path) => {
            let what = "no mutation run put this file here, and it would be overwritten; move it away, or give another \
                        folder with --out DIR";
            Err(ResultsError { path, source: io::Error::new(io::ErrorKind::AlreadyExists, what) })
        }
        None => Ok(()),
    }
}

/// The file that lists the names of the mutants of a class.
fn list_name(outcome: Outcome) -> String {
    format!("{}.txt", outcome.words().replace(' ', "_"))
}

/// A mutant as it is listed before it is judged.
pub fn listed(mutant: &Mutant, file: &str, source: &str) -> Value {
    json!({
        "name": mutant.name(file),
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
    use super::*;

    #[test]
    fn files_of_somebody_else_are_not_written_over() {
        for name in ["mutants.json", "outcomes.json", "killed.txt"] {
            let dir = tempfile::tempdir().unwrap();
            std::fs::write(dir.path().join(name), "mine").unwrap();
            let error = Results::open(dir.path()).unwrap_err().to_string();
            assert!(error.contains(name) && error.contains("no mutation run put this file here"), "{error}");
            std::fs::write(dir.path().join("outcomes.jsonl"), "").unwrap();
            assert!(Results::open(dir.path()).is_ok(), "an earlier run was here");
        }
    }
}
