//! Runs that several tests only read: each is made once in a test program, and every test gets a copy of its files.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock};

use super::folder::snapshot;
use super::{Bench, Done};

/// The output of a command and the files that it wrote, by their path in the test's folder. In memory: a static is never
/// dropped, so a temporary folder would remain.
struct Finished {
    done: Done,
    files: BTreeMap<PathBuf, Vec<u8>>,
}

/// By the arguments of the command.
static FINISHED: Mutex<BTreeMap<Vec<String>, Arc<OnceLock<Finished>>>> = Mutex::new(BTreeMap::new());

impl Bench {
    /// The result of the demo on the embedded checker, in `demo-specs/`.
    pub fn finished_demo(&self) -> Done {
        self.finished(&["demo", "--checker", "embedded"])
    }

    /// The result of a command that needs no tools and no files of this folder, and the files that it writes.
    pub fn finished(&self, args: &[&str]) -> Done {
        let key = args.iter().map(ToString::to_string).collect();
        let entry = FINISHED.lock().unwrap().entry(key).or_default().clone();
        let finished = entry.get_or_init(|| {
            let bench = Bench::without_tools();
            let done = bench.run(args);
            let root = bench.path("");
            let files =
                snapshot(&root).into_iter().map(|(path, text)| (path.strip_prefix(&root).unwrap().into(), text));
            Finished { done, files: files.collect() }
        });
        for (path, bytes) in &finished.files {
            let path = self.dir.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, bytes).unwrap();
        }
        finished.done.clone()
    }
}
