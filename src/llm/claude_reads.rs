//! What a model saw of the files in its workspace, put together from single reads.

use std::path::{Component, Path, PathBuf};

use super::contract::{FileRead, Offered};
use crate::files;
use crate::journal::Sha;

/// One piece of a file that the program showed to the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Shown {
    /// Below the workspace, with `/`.
    pub path: String,
    /// Its lines; `None` where the program showed something else than text.
    pub piece: Option<Piece>,
}

/// Lines of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Piece {
    /// The first line, from 1.
    pub start: usize,
    /// The lines, without carriage returns.
    pub content: String,
    /// How many lines the program counted in all of the file.
    pub total: usize,
}

/// A path that the model or the program named, below the workspace; `None` where it leads out of it.
pub(super) fn inside(named: &str, workspace: &Path) -> Option<String> {
    let named = Path::new(named);
    let real = workspace.canonicalize().ok();
    let path = if named.is_absolute() { named.to_owned() } else { workspace.join(named) };
    let path = plain(&path);
    let rest = [Some(plain(workspace)), real]
        .into_iter()
        .flatten()
        .find_map(|root| path.strip_prefix(root).ok().map(Path::to_path_buf))?;
    let parts: Option<Vec<&str>> = rest.iter().map(|part| part.to_str()).collect();
    parts.filter(|parts| !parts.is_empty()).map(|parts| parts.join("/"))
}

/// Without `.` and `..`.
fn plain(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                out.pop();
            }
            other => out.push(other),
        }
    }
    out
}

/// The record of what was read, in the order of first reads.
pub(super) fn reads(shown: &[Shown], offered: &[Offered], workspace: &Path) -> Vec<FileRead> {
    let mut paths: Vec<&str> = Vec::new();
    for one in shown {
        if !paths.contains(&one.path.as_str()) {
            paths.push(&one.path);
        }
    }
    paths
        .into_iter()
        .map(|path| {
            let pieces: Vec<Option<&Piece>> =
                shown.iter().filter(|s| s.path == path).map(|s| s.piece.as_ref()).collect();
            read(path, &pieces, offered.iter().find(|o| o.path == path), workspace)
        })
        .collect()
}

/// The name of the offered file counts only where every line that was shown is a line of that very file.
fn read(path: &str, pieces: &[Option<&Piece>], offered: Option<&Offered>, workspace: &Path) -> FileRead {
    if let Some(offered) = offered
        && let Ok(bytes) = files::read(&workspace.join(path), files::LARGE)
        && Sha::of(&bytes) == offered.sha
    {
        let text = as_shown(&bytes);
        let lines: Vec<&str> = text.split('\n').collect();
        if let Some(seen) = seen_lines(&lines, pieces) {
            // Behind the last line end there is no line.
            let end = if lines.len() > 1 && lines.last() == Some(&"") { lines.len() - 1 } else { lines.len() };
            let whole = seen[..end].iter().all(|seen| *seen);
            return FileRead { path: path.to_owned(), sha: offered.sha.clone(), whole };
        }
    }
    let largest = pieces.iter().flatten().max_by_key(|piece| piece.content.len());
    FileRead {
        path: path.to_owned(),
        sha: Sha::of(largest.map_or("", |piece| piece.content.as_str())),
        whole: largest.is_some_and(|piece| piece.start == 1 && piece.content.split('\n').count() >= piece.total),
    }
}

/// Which lines were shown; `None` where something was shown that is not in the file.
fn seen_lines(lines: &[&str], pieces: &[Option<&Piece>]) -> Option<Vec<bool>> {
    let mut seen = vec![false; lines.len()];
    for piece in pieces.iter().flatten() {
        if piece.total != lines.len() {
            return None;
        }
        for (i, line) in piece.content.split('\n').enumerate() {
            let at = piece.start.checked_sub(1)? + i;
            if lines.get(at) != Some(&line) {
                return None;
            }
            seen[at] = true;
        }
    }
    Some(seen)
}

/// The program shows files without byte-order mark and carriage returns.
fn as_shown(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    text.strip_prefix('\u{feff}').unwrap_or(&text).replace("\r\n", "\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(path: &str, start: usize, content: &str, total: usize) -> Shown {
        Shown { path: path.into(), piece: Some(Piece { start, content: content.into(), total }) }
    }

    fn workspace(files: &[(&str, &str)]) -> (tempfile::TempDir, Vec<Offered>) {
        let dir = tempfile::tempdir().unwrap();
        let offered = files
            .iter()
            .map(|(path, text)| {
                std::fs::write(dir.path().join(path), text).unwrap();
                Offered { path: (*path).into(), sha: Sha::of(text), bytes: text.len() as u64, shared: false }
            })
            .collect();
        (dir, offered)
    }

    #[test]
    fn a_path_is_named_below_the_workspace_or_not_at_all() {
        let (dir, _) = workspace(&[]);
        let root = dir.path();
        let under = |path: &str| inside(path, root);
        assert_eq!(under("docs/a.md").as_deref(), Some("docs/a.md"));
        assert_eq!(under("./docs/../a.md").as_deref(), Some("a.md"));
        assert_eq!(under(root.join("a.md").to_str().unwrap()).as_deref(), Some("a.md"));
        assert_eq!(under("../a.md"), None);
        assert_eq!(under("docs/../../a.md"), None);
        assert_eq!(under("/etc/hostname"), None);
        assert_eq!(under("."), None);
        let sibling = format!("{}-other/a.md", root.display());
        assert_eq!(under(&sibling), None, "a folder whose name only begins alike");
        let link = dir.path().with_extension("link");
        std::os::unix::fs::symlink(root, &link).unwrap();
        assert_eq!(inside(root.canonicalize().unwrap().join("a.md").to_str().unwrap(), &link).as_deref(), Some("a.md"));
        std::fs::remove_file(link).unwrap();
    }

    #[test]
    fn a_file_is_read_whole_when_its_pieces_cover_it() {
        let (dir, offered) = workspace(&[("a", "one\ntwo\nthree\n"), ("b", "x"), ("e", "")]);
        let of = |shown: &[Shown]| reads(shown, &offered, dir.path());
        let all = of(&[piece("a", 1, "one\ntwo\nthree\n", 4), piece("b", 1, "x", 1), piece("e", 1, "", 1)]);
        assert_eq!(all.len(), 3);
        assert!(all.iter().zip(&offered).all(|(read, o)| read.whole && read.sha == o.sha && read.path == o.path));
        assert!(of(&[piece("a", 3, "three", 4), piece("a", 1, "one\ntwo", 4)])[0].whole);
        let gap = &of(&[piece("a", 1, "one", 4), piece("a", 3, "three", 4)])[0];
        assert!(!gap.whole && gap.sha == offered[0].sha);
        let other = &of(&[Shown { path: "a".into(), piece: None }])[0];
        assert!(!other.whole, "something was shown that is not text");
    }

    #[test]
    fn carriage_returns_and_a_byte_order_mark_are_not_shown_and_do_not_matter() {
        let (dir, offered) = workspace(&[("a", "\u{feff}one\r\ntwo\r\n")]);
        let all = reads(&[piece("a", 1, "one\ntwo\n", 3)], &offered, dir.path());
        assert!(all[0].whole && all[0].sha == offered[0].sha);
    }

    #[test]
    fn what_was_shown_of_another_content_never_counts_as_the_offered_file() {
        let (dir, offered) = workspace(&[("a", "one\ntwo\n")]);
        for shown in [
            piece("a", 1, "one\nTWO\n", 3),
            piece("a", 1, "one\ntwo\nthree\n", 4),
            piece("a", 2, "one", 3),
            piece("a", 0, "one", 3),
            piece("a", 9, "one", 3),
        ] {
            assert_ne!(reads(std::slice::from_ref(&shown), &offered, dir.path())[0].sha, offered[0].sha, "{shown:?}");
        }
        // Swapped before the read, and put back to something else since.
        std::fs::write(dir.path().join("a"), "swapped\n").unwrap();
        let read = &reads(&[piece("a", 1, "swapped\n", 2)], &offered, dir.path())[0];
        assert!(read.whole && read.sha == Sha::of("swapped\n"));
        let stranger = &reads(&[piece("z", 1, "z", 7)], &offered, dir.path())[0];
        assert!(!stranger.whole);
    }
}
