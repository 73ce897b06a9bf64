//! Combines single reads of Claude Code into a record of which files the model read, and whether completely.

use std::path::{Component, Path, PathBuf};

use super::provider::{FileRead, Offered};
use tlaforge_files as files;
use tlaforge_files::Sha;

/// A part of a file that the program showed to the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ShownPart {
    /// Path below the workspace, with `/`.
    pub path: String,
    /// The lines; `None` if the program showed something other than text.
    pub lines: Option<ShownLines>,
}

/// Consecutive lines of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ShownLines {
    /// The first line, from 1.
    pub start: usize,
    /// The lines, without carriage returns.
    pub content: String,
    /// Number of lines of the whole file, as the program counts them.
    pub total: usize,
}

/// A path relative to the workspace; `None` if it leads outside.
pub(super) fn relative_path(named: &str, workspace: &Path) -> Option<String> {
    let named = Path::new(named);
    let real = workspace.canonicalize().ok();
    let path = if named.is_absolute() { named.to_owned() } else { workspace.join(named) };
    let path = normalise(&path);
    // The program reports a path as the model gave it or with links resolved, so both spellings of the workspace
    // count.
    let rest = [Some(normalise(workspace)), real]
        .into_iter()
        .flatten()
        .find_map(|root| path.strip_prefix(root).ok().map(Path::to_path_buf))?;
    let parts: Option<Vec<&str>> = rest.iter().map(|part| part.to_str()).collect();
    parts.filter(|parts| !parts.is_empty()).map(|parts| parts.join("/"))
}

/// Resolves `.` and `..` without the file system.
fn normalise(path: &Path) -> PathBuf {
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

/// The files that were read, in the order of their first reads.
pub(super) fn file_reads(shown: &[ShownPart], offered: &[Offered], workspace: &Path) -> Vec<FileRead> {
    let mut paths: Vec<&str> = Vec::new();
    for one in shown {
        if !paths.contains(&one.path.as_str()) {
            paths.push(&one.path);
        }
    }
    paths
        .into_iter()
        .map(|path| {
            let pieces: Vec<Option<&ShownLines>> =
                shown.iter().filter(|s| s.path == path).map(|s| s.lines.as_ref()).collect();
            file_read(path, &pieces, offered.iter().find(|o| o.path == path), workspace)
        })
        .collect()
}

/// Reports the SHA-256 of the offered file only if every shown line is a line of that file: the file can have been replaced
/// in between.
fn file_read(path: &str, pieces: &[Option<&ShownLines>], offered: Option<&Offered>, workspace: &Path) -> FileRead {
    if let Some(offered) = offered
        && let Ok(bytes) = files::read_below(workspace, &workspace.join(path), files::LARGE)
        && Sha::digest(&bytes) == offered.sha
    {
        let text = as_shown(&bytes);
        let lines: Vec<&str> = text.split('\n').collect();
        if let Some(seen) = seen_lines(&lines, pieces) {
            // The empty text after the last line end is not a line.
            let end = if lines.len() > 1 && lines.last() == Some(&"") { lines.len() - 1 } else { lines.len() };
            let whole = seen[..end].iter().all(|seen| *seen);
            return FileRead { path: path.to_owned(), sha: offered.sha.clone(), whole };
        }
    }
    let largest = pieces.iter().flatten().max_by_key(|piece| piece.content.len());
    FileRead {
        path: path.to_owned(),
        sha: Sha::digest(largest.map_or("", |piece| piece.content.as_str())),
        whole: largest.is_some_and(|piece| piece.start == 1 && piece.content.split('\n').count() >= piece.total),
    }
}

/// The lines that were shown, as flags; `None` if a shown line is not in the file.
fn seen_lines(lines: &[&str], pieces: &[Option<&ShownLines>]) -> Option<Vec<bool>> {
    let mut seen = vec![false; lines.len()];
    for piece in pieces.iter().flatten() {
        // Shown from a file of another length: the file changed in between.
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

/// The text as the program shows it: without byte-order mark and carriage returns.
fn as_shown(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    text.strip_prefix('\u{feff}').unwrap_or(&text).replace("\r\n", "\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(path: &str, start: usize, content: &str, total: usize) -> ShownPart {
        ShownPart { path: path.into(), lines: Some(ShownLines { start, content: content.into(), total }) }
    }

    fn workspace(files: &[(&str, &str)]) -> (tempfile::TempDir, Vec<Offered>) {
        let dir = tempfile::tempdir().unwrap();
        let offered = files
            .iter()
            .map(|(path, text)| {
                std::fs::write(dir.path().join(path), text).unwrap();
                Offered {
                    path: (*path).into(),
                    sha: Sha::digest(text),
                    bytes: text.len() as u64,
                    shared: false,
                    is_index: false,
                }
            })
            .collect();
        (dir, offered)
    }

    #[test]
    fn a_relative_path_exists_only_below_the_workspace() {
        let (dir, _) = workspace(&[]);
        let root = dir.path();
        let under = |path: &str| relative_path(path, root);
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
        assert_eq!(
            relative_path(root.canonicalize().unwrap().join("a.md").to_str().unwrap(), &link).as_deref(),
            Some("a.md")
        );
        std::fs::remove_file(link).unwrap();
    }

    #[test]
    fn a_file_is_read_whole_when_its_pieces_cover_it() {
        let (dir, offered) = workspace(&[("a", "one\ntwo\nthree\n"), ("b", "x"), ("e", "")]);
        let record = |shown: &[ShownPart]| file_reads(shown, &offered, dir.path());
        let all = record(&[piece("a", 1, "one\ntwo\nthree\n", 4), piece("b", 1, "x", 1), piece("e", 1, "", 1)]);
        assert_eq!(all.len(), 3);
        assert!(all.iter().zip(&offered).all(|(read, o)| read.whole && read.sha == o.sha && read.path == o.path));
        assert!(record(&[piece("a", 3, "three", 4), piece("a", 1, "one\ntwo", 4)])[0].whole);
        let gap = &record(&[piece("a", 1, "one", 4), piece("a", 3, "three", 4)])[0];
        assert!(!gap.whole && gap.sha == offered[0].sha);
        let other = &record(&[ShownPart { path: "a".into(), lines: None }])[0];
        assert!(!other.whole, "something was shown that is not text");
    }

    #[test]
    fn carriage_returns_and_a_byte_order_mark_are_not_shown_and_do_not_matter() {
        let (dir, offered) = workspace(&[("a", "\u{feff}one\r\ntwo\r\n")]);
        let all = file_reads(&[piece("a", 1, "one\ntwo\n", 3)], &offered, dir.path());
        assert!(all[0].whole && all[0].sha == offered[0].sha);
    }

    #[test]
    fn lines_of_other_content_never_count_as_the_offered_file() {
        let (dir, offered) = workspace(&[("a", "one\ntwo\n")]);
        for shown in [
            piece("a", 1, "one\nTWO\n", 3),
            piece("a", 1, "one\ntwo\nthree\n", 4),
            piece("a", 2, "one", 3),
            piece("a", 0, "one", 3),
            piece("a", 9, "one", 3),
        ] {
            assert_ne!(
                file_reads(std::slice::from_ref(&shown), &offered, dir.path())[0].sha,
                offered[0].sha,
                "{shown:?}"
            );
        }
        // Swapped before the read, and put back to something else since.
        std::fs::write(dir.path().join("a"), "swapped\n").unwrap();
        let read = &file_reads(&[piece("a", 1, "swapped\n", 2)], &offered, dir.path())[0];
        assert!(read.whole && read.sha == Sha::digest("swapped\n"));
        let stranger = &file_reads(&[piece("z", 1, "z", 7)], &offered, dir.path())[0];
        assert!(!stranger.whole);
    }
}
