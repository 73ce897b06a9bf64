//! The files that a person sees: the top of the run folder and `history/rev_N/`. All of them can be rebuilt from journal
//! and artifacts, and a rebuild never overwrites a person's edit.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::{Path, PathBuf};

use super::open_run::{FileState, Run, RunError};
use crate::files;
use crate::journal::Sha;
use crate::pipeline::records::{Entry, Revision, RunView, file, to_value};

/// Files at the top that a person edited and that were therefore not overwritten.
pub type Kept = Vec<PathBuf>;

/// Brings the folder in line with the journal: writes missing history; the top shows the current artifacts, or those of
/// the best revision after the run has ended.
pub fn reconcile(run: &Run) -> Result<Kept, RunError> {
    let view = run.view();
    for revision in &view.revisions {
        history(run, &view, revision)?;
    }
    let (shown, module) = shown(&view);
    remove_renamed(run, &view, module)?;
    let mut kept = Vec::new();
    for name in file::VISIBLE {
        let Some(sha) = shown.get(name) else { continue };
        let path = run.root().join(file::visible_name(name, module));
        match holds(run, &path) {
            Holds::Artifact(held) if held == *sha => {}
            Holds::Artifact(_) | Holds::Nothing => {
                let state = write(&path, &run.store().get(sha)?)?;
                run.remember(&path, state, sha);
            }
            // A text without an artifact is an edit, unless it is the very text whose artifact was removed.
            Holds::Edit
                if files::read_below(run.root(), &path, files::LARGE)
                    .is_ok_and(|bytes| Sha::digest(&bytes) == *sha) =>
            {
                run.store().get(sha)?;
            }
            Holds::Edit => kept.push(path),
        }
    }
    Ok(kept)
}

/// Files at the top that a person edited, of those whose edits in `history/` a branch takes.
pub fn edited_visible_files(run: &Run) -> Kept {
    let view = run.view();
    let (shown, module) = shown(&view);
    let paths = [file::INFORMAL, file::MODULE, file::CFG].into_iter().filter(|name| shown.contains_key(*name));
    let paths = paths.map(|name| run.root().join(file::visible_name(name, module)));
    paths.filter(|path| matches!(holds(run, path), Holds::Edit)).collect()
}

/// Artifacts of a finished run that are missing, or differ from what the journal says: answers, and the texts of its
/// revisions. The files in `history/` and at the top are no evidence, since a person may edit them for a branch.
pub fn changed_files(root: &Path, view: &RunView, entries: &[Entry]) -> Vec<String> {
    if view.finished.is_none() {
        return Vec::new();
    }
    let answers = entries.iter().filter_map(|entry| entry.event.try_as_answer_received_ref());
    let texts = view.revisions.iter().flat_map(|revision| revision.hashes.values());
    let named = answers.map(|answer| &answer.artifact).chain(texts);
    let expected: BTreeMap<PathBuf, &Sha> = named.map(|sha| (Path::new("artifacts").join(sha.as_str()), sha)).collect();
    let what = |(path, sha): (PathBuf, &Sha)| match files::read_below(root, &root.join(&path), files::LARGE) {
        Ok(bytes) if Sha::digest(&bytes) == *sha => None,
        Ok(_) => Some(format!("{} is not what the journal says: it was changed", path.display())),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Some(format!("{} is missing", path.display())),
        Err(error) => Some(format!("{} cannot be read: {error}", path.display())),
    };
    expected.into_iter().filter_map(what).collect()
}

/// Removes the workspaces of the candidates.
pub(in crate::pipeline) fn remove_candidate_workspaces(run: &Run, view: &RunView) -> Result<(), RunError> {
    let Some(candidates) = view.candidates.get(&view.rev) else { return Ok(()) };
    for number in candidates.begun() {
        let dir = run.candidates().join(number.to_string());
        files::check_below(run.root(), &dir).map_err(|source| io("remove", &dir, source))?;
        match std::fs::remove_dir_all(&dir) {
            Err(source) if source.kind() != std::io::ErrorKind::NotFound => return Err(io("remove", &dir, source)),
            _ => {}
        }
    }
    // Fails if the folder holds other files; then it stays.
    let _ = std::fs::remove_dir(run.candidates());
    Ok(())
}

/// The artifacts that the top of the folder shows, and the name of their module.
fn shown(view: &RunView) -> (&BTreeMap<String, Sha>, &str) {
    let best = view.finished.as_ref().and_then(|f| f.best);
    best.and_then(|best| view.revisions.iter().find(|r| r.revision == best))
        .map_or((&view.specification.artifacts, view.module_name()), |r| (&r.hashes, r.module_name()))
}

/// Removes module and configuration of a revision whose module has another name from the top of the folder, unless a
/// person edited them.
fn remove_renamed(run: &Run, view: &RunView, module: &str) -> Result<(), RunError> {
    let names = view.revisions.iter().map(Revision::module_name).chain([view.module_name()]);
    for other in names.filter(|name| *name != module).collect::<BTreeSet<_>>() {
        for name in [file::MODULE, file::CFG] {
            let path = run.root().join(file::visible_name(name, other));
            if matches!(holds(run, &path), Holds::Artifact(_)) {
                std::fs::remove_file(&path).map_err(|source| io("remove", &path, source))?;
            }
        }
    }
    Ok(())
}

fn folder(run: &Run, revision: u32) -> PathBuf {
    run.root().join("history").join(format!("rev_{revision}"))
}

/// Writes the missing files of a closed revision; existing files stay as they are.
fn history(run: &Run, view: &RunView, revision: &Revision) -> Result<(), RunError> {
    let candidates = view.candidates.get(&revision.revision);
    let dir = folder(run, revision.revision);
    files::create_folder_below(run.root(), &dir).map_err(|source| io("create the folder", &dir, source))?;
    for name in file::VISIBLE {
        let Some(sha) = revision.hashes.get(name) else { continue };
        let path = dir.join(file::visible_name(name, revision.module_name()));
        if is_missing(&path) {
            write(&path, &run.store().get(sha)?)?;
        }
    }
    if let Some(candidates) = candidates {
        let dir = dir.join("candidates");
        files::create_folder_below(run.root(), &dir).map_err(|source| io("create the folder", &dir, source))?;
        for (name, sha) in candidates.files() {
            let path = dir.join(name);
            if is_missing(&path) {
                write(&path, &run.store().get(sha)?)?;
            }
        }
    }
    let path = dir.join("meta.json");
    if is_missing(&path) {
        let mut meta = view.revision_json(revision);
        if let Some(candidates) = candidates {
            meta["candidates"] = to_value(candidates);
        }
        let mut text = serde_json::to_string_pretty(&meta).expect("plain data");
        text.push('\n');
        write(&path, text.as_bytes())?;
    }
    Ok(())
}

/// Whether a file does not exist, or is empty after a crash of the machine: these files are not synced.
fn is_missing(path: &Path) -> bool {
    path.metadata().map_or(true, |m| m.len() == 0)
}

/// The content of a file.
enum Holds {
    /// The file is missing, or empty after a crash of the machine.
    Nothing,
    /// An artifact of this run, which may be replaced.
    Artifact(Sha),
    /// Text of a person, or unreadable.
    Edit,
}

fn holds(run: &Run, path: &Path) -> Holds {
    if let Some(sha) = run.recall(path) {
        return Holds::Artifact(sha);
    }
    // Taken before the file is read, so a write in between makes the file be read again.
    let state = path.metadata().ok().as_ref().and_then(FileState::read);
    match files::read_below(run.root(), path, files::LARGE) {
        Ok(bytes) if bytes.is_empty() => Holds::Nothing,
        Ok(bytes) => {
            let sha = Sha::digest(&bytes);
            if !run.store().path(&sha).exists() {
                return Holds::Edit;
            }
            run.remember(path, state, &sha);
            Holds::Artifact(sha)
        }
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Holds::Nothing,
        Err(_) => Holds::Edit,
    }
}

/// Writes under a temporary name, then renames. Not synced: the file can be rebuilt.
fn write(path: &Path, bytes: &[u8]) -> Result<Option<FileState>, RunError> {
    let dir = path.parent().unwrap_or(Path::new("."));
    let go = || {
        let mut file = tempfile::Builder::new().prefix(".new-").tempfile_in(dir)?;
        file.write_all(bytes)?;
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            file.as_file().set_permissions(std::fs::Permissions::from_mode(0o644))?;
        }
        let state = FileState::read(&file.as_file().metadata()?);
        file.persist(path).map_err(|e| e.error)?;
        Ok(state)
    };
    go().map_err(|source| io("write", path, source))
}

fn io(what: &'static str, path: &Path, source: std::io::Error) -> RunError {
    RunError::Io { what, path: path.to_owned(), source }
}
