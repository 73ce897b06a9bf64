//! `--watch`: repeats the work of a command after each save of its files. It compares contents, not times, so it does not
//! matter how an editor writes. It knows nothing about the work itself.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use notify::{RecommendedWatcher, RecursiveMode, Watcher};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::time::{Instant, timeout};

use super::failure::{Fails, Failure};
use super::settings::load_settings;
use super::signals::cancel_on_signals;
use super::snippet_text::print_failure;
use super::spec_files::read_spec;
use super::terminal::print_message;
use super::tool_args::ToolArgs;
use super::tools::tool_limits;
use crate::config::FILE_NAME;
use crate::exit::Exit;
use crate::files;
use crate::process::Cancel;
use crate::tla::Module;
use crate::toolchain::{SpecText, local_modules, missing_modules};

/// An editor that saves by several writes, or by a rename, is done after this time without an event.
const QUIET: Duration = Duration::from_millis(30);
/// Time after which files are compared even if events go on, as in a folder with a log that is being written.
const MAX_DELAY: Duration = Duration::from_millis(300);

/// Files by path with the hash of their content; `None` while there is no file.
type Contents = BTreeMap<PathBuf, Option<files::Sha>>;

/// The specification whose files are watched.
pub(super) struct WatchedSpec<'a> {
    pub spec: &'a Path,
    pub cfg: &'a Path,
    pub tools: &'a ToolArgs,
}

impl WatchedSpec<'_> {
    /// The module, its configuration, the settings file, the jars, and every place where a module that it needs is or could
    /// be. `Err` has the files that are known while a file cannot be read.
    fn files(&self) -> Result<BTreeSet<PathBuf>, BTreeSet<PathBuf>> {
        let mut all = BTreeSet::from([self.spec.to_owned(), self.cfg.to_owned(), PathBuf::from(FILE_NAME)]);
        // Each time, because the settings file or a jar may be what has changed.
        let Ok(settings) = load_settings(self.tools.layer()) else { return Err(all) };
        // A folder has no content. It is listed so that its own folder is watched: it can be replaced by another one.
        all.extend(settings.given.library.iter().cloned());
        let (Ok(limits), Ok(text)) = (tool_limits(&settings), files::read_text(self.spec, files::MEDIUM)) else {
            return Err(all);
        };
        let Ok(module) = Module::parse(&text) else { return Err(all) };
        let Ok(local_modules) = local_modules(self.spec, &module, &limits.libraries) else { return Err(all) };
        let spec = SpecText { name: module.name, text, local_modules };
        let missing = missing_modules(&spec);
        for name in spec.local_modules.iter().map(|(name, _)| name).chain(&missing) {
            let file = format!("{name}.tla");
            all.insert(self.spec.with_file_name(&file));
            all.extend(limits.libraries.paths().filter(|path| path.is_dir()).map(|path| path.join(&file)));
        }
        Ok(all)
    }
}

/// Works once, and again whenever a file changes, until Ctrl-C. A save during the work cancels it. `work` writes its result
/// into the cell as soon as it is printed, also if it fails later; `compare` says what differs between two results.
pub(super) async fn repeat_on_change<R>(
    watched: &WatchedSpec<'_>,
    mut work: impl AsyncFnMut(Cancel, &RefCell<Option<R>>) -> Result<(), Failure>,
    compare: impl Fn(&R, &R) -> String,
) -> Result<Exit, Failure> {
    // A wrong path would be watched forever.
    read_spec(watched.spec)?;
    let stop = cancel_on_signals();
    let mut saves = Changes::new(watched)?;
    let mut before: Option<R> = None;
    let printed = RefCell::new(None);
    let print_difference = |before: &mut Option<R>| {
        let Some(now) = printed.take() else { return };
        if let Some(before) = &*before {
            print_message(&compare(before, &now));
        }
        *before = Some(now);
    };
    loop {
        let cancel = Cancel::new();
        let mut running = Box::pin(work(cancel.clone(), &printed));
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
                    print_difference(&mut before);
                    // A half-written file must not end the watch.
                    if let Err(failure) = done {
                        print_failure(&failure);
                    }
                    print_message("waiting for a change; press Ctrl-C to stop");
                }
                files = saves.next(watched) => break files,
            }
        };
        cancel.cancel();
        if is_running {
            print_message("cancelled by a newer save");
            let _ = running.await;
            print_difference(&mut before);
        }
        let time = jiff::Zoned::now().strftime("%H:%M:%S").to_string();
        let names: Vec<String> = changed.iter().map(|path| path.display().to_string()).collect();
        print_message(&format!("\n{time}  changed: {}", names.join(", ")));
    }
}

struct Changes {
    events: UnboundedReceiver<()>,
    watcher: RecommendedWatcher,
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
        let mut changes = Self { events, watcher, contents: Contents::new(), is_pending: false };
        let files = spec.files().unwrap_or_else(|known| known);
        changes.watch_folders(&files)?;
        changes.contents = read_contents(files);
        Ok(changes)
    }

    /// Watches the folders of the files, not the files: an editor that saves by a rename replaces the file. A link's
    /// target is in another folder. A folder that is watched already may be another one by now.
    fn watch_folders(&mut self, files: &BTreeSet<PathBuf>) -> Result<(), Failure> {
        let targets = files.iter().filter_map(|file| std::fs::canonicalize(file).ok());
        let absolute = files.iter().filter_map(|file| std::path::absolute(file).ok()).chain(targets);
        let folders: BTreeSet<PathBuf> = absolute.filter_map(|file| Some(file.parent()?.to_owned())).collect();
        for folder in folders.iter().filter(|folder| folder.is_dir()) {
            self.watcher
                .watch(folder, RecursiveMode::NonRecursive)
                .map_err(|e| Failure::new(Exit::Tool, format!("cannot watch {}: {e}", folder.display())))?;
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
            let began = Instant::now();
            while began.elapsed() < MAX_DELAY && timeout(QUIET, self.events.recv()).await.is_ok() {}
            while self.events.try_recv().is_ok() {}
            self.is_pending = false;
            let changed = self.compare(watched);
            if !changed.is_empty() {
                return changed;
            }
        }
    }

    fn compare(&mut self, watched: &WatchedSpec<'_>) -> Vec<PathBuf> {
        let files = watched.files();
        let is_complete = files.is_ok();
        let needed = files.unwrap_or_else(|known| known);
        let all: BTreeSet<PathBuf> = needed.iter().chain(self.contents.keys()).cloned().collect();
        // Before the files are read, so that no later write is missed.
        if let Err(failure) = self.watch_folders(&all) {
            print_failure(&failure);
        }
        let mut now = read_contents(all);
        let (mut changed, mut new) = (Vec::new(), Vec::new());
        for (path, content) in &now {
            match self.contents.get(path) {
                Some(old) if old != content => changed.push(path.clone()),
                None if content.is_some() => new.push(path.clone()),
                _ => {}
            }
        }
        if is_complete {
            // While a file is half-written, the modules that it needed stay watched.
            now.retain(|path, _| needed.contains(path));
        }
        self.contents = now;
        // A file that is needed from now on has changed only if nothing else has: a library's folder is back.
        if changed.is_empty() { new } else { changed }
    }
}

fn read_contents(files: BTreeSet<PathBuf>) -> Contents {
    let hash = |path: &Path| files::read(path, files::LARGE).ok().map(files::Sha::digest);
    files.into_iter().map(|path| (path.clone(), hash(&path))).collect()
}
