//! `--watch`: repeats the work of a command after each save of its files. It compares contents, not times, so it does not
//! matter how an editor writes; it knows nothing of what the work is.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use notify::{RecommendedWatcher, RecursiveMode, Watcher};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use super::failure::{Fails, Failure};
use super::signals::cancel_on_signals;
use super::snippet_text::print_failure;
use super::terminal::print_message;
use crate::exit::Exit;
use crate::files;
use crate::process::Cancel;
use crate::tla::Module;
use crate::toolchain::{Libraries, SpecText, local_modules, missing_modules};

/// An editor that saves by several writes, or by a rename, is done after so long without an event.
const QUIET: Duration = Duration::from_millis(30);

/// Files by path with the hash of their content; `None` while there is no file.
type Contents = BTreeMap<PathBuf, Option<files::Sha>>;

/// The specification whose files are watched.
pub(super) struct WatchedSpec<'a> {
    pub spec: &'a Path,
    pub cfg: &'a Path,
    pub libraries: &'a Libraries,
}

impl WatchedSpec<'_> {
    /// The module, its configuration, and every place where a module that it needs is or could be.
    fn files(&self) -> BTreeSet<PathBuf> {
        let mut all = BTreeSet::from([self.spec.to_owned(), self.cfg.to_owned()]);
        let Ok(text) = files::read_text(self.spec, files::MEDIUM) else { return all };
        let Ok(module) = Module::parse(&text) else { return all };
        let local_modules = local_modules(self.spec, &module, self.libraries);
        let spec = SpecText { name: module.name, text, local_modules };
        let missing = missing_modules(&spec);
        for name in spec.local_modules.iter().map(|(name, _)| name).chain(&missing) {
            let file = format!("{name}.tla");
            all.insert(self.spec.with_file_name(&file));
            all.extend(self.libraries.paths().filter(|path| path.is_dir()).map(|path| path.join(&file)));
        }
        all
    }
}

/// Works once, and again whenever a file changes, until Ctrl-C. A save while the work goes on cancels it. `compare` says
/// what differs between two results.
pub(super) async fn repeat_on_change<R>(
    watched: &WatchedSpec<'_>,
    mut work: impl AsyncFnMut(Cancel) -> Result<R, Failure>,
    compare: impl Fn(&R, &R) -> String,
) -> Result<Exit, Failure> {
    let stop = cancel_on_signals();
    let mut saves = Changes::new(watched)?;
    let mut before = None;
    loop {
        let cancel = Cancel::new();
        let mut running = Box::pin(work(cancel.clone()));
        let mut is_running = true;
        let changed = loop {
            tokio::select! {
                biased;
                () = stop.cancelled() => {
                    cancel.cancel();
                    if is_running {
                        // Its children end before we do.
                        let _ = running.await;
                    }
                    return Ok(Exit::Ok);
                }
                done = &mut running, if is_running => {
                    is_running = false;
                    match done {
                        Ok(now) => {
                            if let Some(before) = &before {
                                print_message(&compare(before, &now));
                            }
                            before = Some(now);
                        }
                        // A half-written file must not end the watch.
                        Err(failure) => print_failure(&failure),
                    }
                    print_message("waiting for a change; Ctrl-C ends");
                }
                files = saves.next(watched) => break files,
            }
        };
        cancel.cancel();
        if is_running {
            print_message("cancelled by a newer save");
            let _ = running.await;
        }
        let time = jiff::Zoned::now().strftime("%H:%M:%S").to_string();
        let names: Vec<String> = changed.iter().map(|path| path.display().to_string()).collect();
        print_message(&format!("\n{time}  changed: {}", names.join(", ")));
    }
}

struct Changes {
    events: UnboundedReceiver<()>,
    watcher: RecommendedWatcher,
    folders: BTreeSet<PathBuf>,
    contents: Contents,
    /// An event arrived whose files have not been compared; a field, because `next` may be dropped at any time.
    is_pending: bool,
}

impl Changes {
    fn new(spec: &WatchedSpec<'_>) -> Result<Self, Failure> {
        let (sender, events) = unbounded_channel();
        let watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
            // Reading a file is an event, too, and we read them ourselves. After an error, compare to be safe.
            if event.map_or(true, |event| !event.kind.is_access()) {
                // The receiver is gone only at the end.
                let _ = sender.send(());
            }
        });
        let watcher = watcher.fails(Exit::Tool)?;
        let mut changes =
            Self { events, watcher, folders: BTreeSet::new(), contents: Contents::new(), is_pending: false };
        changes.watch_folders(&spec.files())?;
        changes.contents = read_contents(spec.files());
        Ok(changes)
    }

    /// Watches the folders of the files, not the files: an editor that saves by a rename replaces the file. A link's
    /// target is in another folder.
    fn watch_folders(&mut self, files: &BTreeSet<PathBuf>) -> Result<(), Failure> {
        let targets = files.iter().filter_map(|file| std::fs::canonicalize(file).ok());
        for file in files.iter().cloned().chain(targets) {
            let Ok(file) = std::path::absolute(file) else { continue };
            let Some(folder) = file.parent().filter(|folder| folder.is_dir()) else { continue };
            if !self.folders.contains(folder) {
                self.watcher
                    .watch(folder, RecursiveMode::NonRecursive)
                    .map_err(|e| Failure::new(Exit::Tool, format!("cannot watch {}: {e}", folder.display())))?;
                self.folders.insert(folder.to_owned());
            }
        }
        Ok(())
    }

    /// Waits until the content of a file differs, and returns the files that differ.
    async fn next(&mut self, watched: &WatchedSpec<'_>) -> Vec<PathBuf> {
        loop {
            if !self.is_pending {
                // The watcher has the sender, so the channel stays open.
                let _ = self.events.recv().await;
                self.is_pending = true;
            }
            while tokio::time::timeout(QUIET, self.events.recv()).await.is_ok() {}
            self.is_pending = false;
            let now = read_contents(watched.files());
            // A file that is watched from now on has not changed. Of one that is not needed any more, its user has.
            let is_changed = |(path, content): &(&PathBuf, &Option<files::Sha>)| {
                self.contents.get(*path).is_some_and(|old| old != *content)
            };
            let changed: Vec<PathBuf> = now.iter().filter(is_changed).map(|(path, _)| path.clone()).collect();
            if changed.is_empty() {
                continue;
            }
            let all: BTreeSet<PathBuf> = now.keys().cloned().collect();
            // While a half-written module cannot be read, its modules stay watched.
            self.contents.extend(now);
            if let Err(failure) = self.watch_folders(&all) {
                print_failure(&failure);
            }
            return changed;
        }
    }
}

fn read_contents(files: BTreeSet<PathBuf>) -> Contents {
    let hash = |path: &Path| files::read(path, files::MEDIUM).ok().map(files::Sha::digest);
    files.into_iter().map(|path| (path.clone(), hash(&path))).collect()
}
