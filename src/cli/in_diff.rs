//! Finds the lines of a specification that a diff changes. A diff names files relative to a folder that it does not name,
//! often with a prefix, so its paths are compared with the files that exist.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use super::failure::Failure;
use super::snippet::Snippet;
use super::spec_files::{read_spec, read_spec_or_stdin};
use crate::mutation::{ChangedFile, parse_unified_diff};

/// What a diff says of one specification.
pub(super) struct LinesOfDiff {
    /// The changed lines; none if the diff leaves the file as it is.
    pub lines: BTreeSet<usize>,
    /// Why there are none, if the diff does not name the file.
    pub note: Option<String>,
}

/// The lines of `spec` that the diff in the file `diff` changes; `-` is stdin.
pub(super) fn lines_in_diff(diff: &Path, spec: &Path) -> Result<LinesOfDiff, Failure> {
    let text = read_spec_or_stdin(diff)?;
    let shown = if diff == Path::new("-") { "the diff on stdin".to_owned() } else { diff.display().to_string() };
    let files = parse_unified_diff(&text).map_err(|error| {
        let start = text.split_inclusive('\n').take(error.line.saturating_sub(1)).map(str::len).sum::<usize>();
        let failure = Failure::usage(format!("{shown} cannot be read as a unified diff: {}", error.what));
        let failure = failure.at(Snippet::new(shown.clone(), &text, start..start));
        failure.hint("give the output of `git diff` or `diff -u`")
    })?;
    let absolute = std::path::absolute(spec).unwrap_or_else(|_| spec.to_owned());
    let here = std::env::current_dir().unwrap_or_default();
    let root = absolute.ancestors().skip(1).find(|folder| folder.join(".git").exists()).map(Path::to_owned);
    let place = Place { given: spec.to_owned(), spec: without_dots(&absolute), here, root };
    let is_same = |one: &Path, other: &Path| match (one.canonicalize(), other.canonicalize()) {
        (Ok(one), Ok(other)) => one == other,
        _ => one == other,
    };
    match place.find(&files, &|path| path.is_file(), &is_same) {
        Ok(Some(file)) if file.is_binary => {
            let why = format!("{shown} has {} as a binary difference, without lines (line {})", spec.display(), file.line);
            Err(Failure::usage(why).hint("make the diff with `git diff --text`"))
        }
        Ok(Some(file)) => {
            let count = read_spec(spec).map_or(usize::MAX, |text| text.lines().count());
            match file.lines.last().filter(|last| **last > count.saturating_add(1)) {
                None => Ok(LinesOfDiff { lines: file.lines.clone(), note: None }),
                Some(last) => Err(Failure::usage(format!(
                    "{shown} does not fit {}: it changes line {last}, and the file has only {count} lines",
                    spec.display()
                ))
                .hint("make the diff from the files as they are now")),
            }
        }
        Ok(None) => Ok(LinesOfDiff { lines: BTreeSet::new(), note: Some(describe_missing_file(&shown, spec, &files)) }),
        Err(unclear) => Err(Failure::usage(format!("{shown}: {unclear}")).hint(
            "give one diff of two versions, and run the command at the root of the repository or where the diff was made",
        )),
    }
}

/// The note on a diff that does not name the specification. It lists files of the same name, because the user may mean one.
fn describe_missing_file(diff: &str, spec: &Path, files: &[ChangedFile]) -> String {
    let same_name = files.iter().filter(|file| Path::new(&file.written).file_name() == spec.file_name());
    let others: Vec<&str> = same_name.map(|file| file.written.as_str()).collect();
    let others = if others.is_empty() { String::new() } else { format!(" (it changes {})", others.join(", ")) };
    format!("{diff} does not change {}{others}: nothing to do", spec.display())
}

/// Where a specification is, and where the command runs.
struct Place {
    /// The path as it was given.
    given: PathBuf,
    /// Its absolute path.
    spec: PathBuf,
    /// The current folder.
    here: PathBuf,
    /// The root of the git repository around the specification.
    root: Option<PathBuf>,
}

/// How a path of a diff was recognised as the specification.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Match {
    /// The path ends with the path that the user gave, and leads to no file from any folder around the specification.
    ByEnd,
    /// The path leads to the specification from a folder around it.
    ByFolder,
}

impl Place {
    /// The entry of the diff for the specification. The error names the entries or files that match equally well.
    fn find<'f>(
        &self,
        files: &'f [ChangedFile],
        exists: &dyn Fn(&Path) -> bool,
        is_same: &dyn Fn(&Path, &Path) -> bool,
    ) -> Result<Option<&'f ChangedFile>, String> {
        let mut best: Option<((Match, usize), Vec<&ChangedFile>)> = None;
        let mut unclear = None;
        for file in files {
            match self.compare(file, exists, is_same) {
                Ok(None) => {}
                // Of two paths that end like the specification, the longer one says more.
                Ok(Some(rank)) => match &mut best {
                    Some((known, all)) if *known == rank => all.push(file),
                    Some((known, _)) if *known > rank => {}
                    _ => best = Some((rank, vec![file])),
                },
                Err(why) => unclear = unclear.or(Some(why)),
            }
        }
        match (best, unclear) {
            (Some((_, all)), _) if all.len() > 1 => {
                let all: Vec<String> =
                    all.iter().map(|file| format!("{} (line {})", file.written, file.line)).collect();
                Err(format!("each of {} can be {}", all.join(" and "), self.given.display()))
            }
            (Some(((Match::ByFolder, _), all)), _) => Ok(all.first().copied()),
            (_, Some(unclear)) => Err(unclear),
            (best, None) => Ok(best.and_then(|(_, all)| all.first().copied())),
        }
    }

    /// Whether a file of a diff is the specification, with the number of components that show it. The error names two files
    /// that it can be.
    fn compare(
        &self,
        file: &ChangedFile,
        exists: &dyn Fn(&Path) -> bool,
        is_same: &dyn Fn(&Path, &Path) -> bool,
    ) -> Result<Option<(Match, usize)>, String> {
        let normal = |path: &String| {
            // As Windows writes it.
            let path = if path.contains('/') { path.clone() } else { path.replace('\\', "/") };
            without_dots(Path::new(&path))
        };
        let readings: Vec<PathBuf> = file.without_prefix.iter().chain([&file.written]).map(normal).collect();
        let is_spec = |path: &PathBuf| is_same(path, &self.spec);
        for path in &readings {
            // Git writes paths from the root of the repository, other programs from where they run.
            let usual = [self.root.as_deref(), Some(&self.here)].into_iter().flatten().map(|folder| folder.join(path));
            let mut found: Vec<PathBuf> = usual.filter(|path| exists(path)).collect();
            found.dedup_by(|one, other| is_same(one, other));
            let rank = (Match::ByFolder, path.components().count());
            match found.as_slice() {
                [] => {}
                all if all.iter().all(is_spec) => return Ok(Some(rank)),
                all if all.iter().any(is_spec) => {
                    let all: Vec<String> = all.iter().map(|path| path.display().to_string()).collect();
                    return Err(format!("{} can be {}", file.written, all.join(" or ")));
                }
                _ => return Ok(None),
            }
        }
        let is_inside = |folder: &&Path| self.root.as_deref().is_none_or(|root| folder.starts_with(root));
        let around: Vec<&Path> = self.spec.ancestors().skip(1).take_while(is_inside).collect();
        for path in &readings {
            let mut found = around.iter().map(|folder| folder.join(path)).filter(|path| exists(path)).peekable();
            if found.peek().is_some() {
                return Ok(found.any(|path| is_spec(&path)).then(|| (Match::ByFolder, path.components().count())));
            }
        }
        let given = without_dots(&self.given);
        let ends_with_given = |path: &PathBuf| self.root.is_none() && given.is_relative() && path.ends_with(&given);
        Ok(readings.iter().any(ends_with_given).then(|| (Match::ByEnd, given.components().count())))
    }
}

/// The path without `.` and `..`.
fn without_dots(path: &Path) -> PathBuf {
    let mut clean = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir if clean.file_name().is_some() => _ = clean.pop(),
            other => clean.push(other),
        }
    }
    clean
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lines that a diff of these new paths gives for a specification: the number of the entry.
    fn found(
        given: &str,
        here: &str,
        root: Option<&str>,
        existing: &[&str],
        paths: &[&str],
    ) -> Result<Option<usize>, String> {
        let files: Vec<ChangedFile> = paths
            .iter()
            .enumerate()
            .map(|(at, path)| ChangedFile {
                written: (*path).to_owned(),
                without_prefix: path.strip_prefix("b/").map(str::to_owned),
                line: at,
                lines: BTreeSet::new(),
                is_binary: false,
            })
            .collect();
        let place = Place {
            given: PathBuf::from(given),
            spec: without_dots(&Path::new(here).join(given)),
            here: PathBuf::from(here),
            root: root.map(PathBuf::from),
        };
        let exists = |path: &Path| existing.iter().any(|known| Path::new(known) == path);
        place.find(&files, &exists, &|one, other| one == other).map(|file| file.map(|file| file.line))
    }

    #[test]
    fn a_specification_is_found_by_its_folder_and_not_by_its_name_alone() {
        let two = ["/r/a/Spec.tla", "/r/b/Spec.tla"];
        for root in [None, Some("/r")] {
            for (given, here) in
                [("a/Spec.tla", "/r"), ("Spec.tla", "/r/a"), ("../a/Spec.tla", "/r/b"), ("/r/a/Spec.tla", "/")]
            {
                let of = |paths: &[&str]| found(given, here, root, &two, paths);
                if here != "/r/b" && here != "/" {
                    assert_eq!(of(&["b/b/Spec.tla"]), Ok(None), "{given} in {here}");
                }
                assert_eq!(of(&["b/a/Spec.tla"]), Ok(Some(0)), "{given} in {here}");
                assert_eq!(of(&["a/Spec.tla"]), Ok(Some(0)), "{given} in {here}");
                assert_eq!(of(&["/r/a/Spec.tla"]), Ok(Some(0)), "{given} in {here}");
                assert_eq!(of(&["/r/b/Spec.tla"]), Ok(None), "{given} in {here}");
                assert_eq!(of(&["b/b/Spec.tla", "b/a/Spec.tla"]), Ok(Some(1)), "{given} in {here}");
                assert_eq!(of(&["b/O.tla"]), Ok(None));
            }
        }
    }

    #[test]
    fn a_path_that_two_files_have_is_an_error_with_both() {
        let two = ["/r/Spec.tla", "/r/a/Spec.tla"];
        let why = found("Spec.tla", "/r/a", Some("/r"), &two, &["b/Spec.tla"]).unwrap_err();
        assert!(why.contains("/r/Spec.tla") && why.contains("/r/a/Spec.tla"), "{why}");
        // Another entry that can only be this one decides.
        assert_eq!(found("Spec.tla", "/r/a", Some("/r"), &two, &["b/Spec.tla", "b/a/Spec.tla"]), Ok(Some(1)));
        assert_eq!(found("a/Spec.tla", "/r", Some("/r"), &two, &["b/Spec.tla"]), Ok(None));
        assert_eq!(found("Spec.tla", "/r", Some("/r"), &two, &["b/Spec.tla", "b/a/Spec.tla"]), Ok(Some(0)));
        let why = found("Spec.tla", "/r", None, &two, &["b/Spec.tla", "Spec.tla"]).unwrap_err();
        assert!(why.contains("b/Spec.tla (line 0)") && why.contains("Spec.tla (line 1)"), "{why}");
    }

    #[test]
    fn a_diff_from_another_folder_counts_if_no_other_file_has_its_path() {
        assert_eq!(found("Spec.tla", "/w", None, &["/w/Spec.tla"], &["b/x/Spec.tla"]), Ok(Some(0)));
        assert_eq!(found("a/Spec.tla", "/w", None, &["/w/a/Spec.tla"], &["b/x/Spec.tla"]), Ok(None));
        assert_eq!(found("Spec.tla", "/w", Some("/w"), &["/w/Spec.tla"], &["b/x/Spec.tla"]), Ok(None));
        // Of a diff of two folders, the second one is here.
        let both = ["/w/a/Spec.tla", "/w/b/Spec.tla"];
        assert_eq!(found("b/Spec.tla", "/w", None, &both, &["b/Spec.tla"]), Ok(Some(0)));
        assert_eq!(found("a/Spec.tla", "/w", None, &both, &["b/Spec.tla"]), Ok(None));
    }
}
