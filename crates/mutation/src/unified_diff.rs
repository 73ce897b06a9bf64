//! Reads unified diffs, as `git diff`, `diff -u` and other tools write them. Knows no folder and no mutant.

use std::collections::BTreeSet;

/// A diff that is not understood. Nothing is concluded from the part that was read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {what}")]
pub struct DiffError {
    /// From 1.
    pub line: usize,
    pub what: String,
}

/// A file that a diff changes or creates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedFile {
    /// The path of the new file as the diff writes it, without quotes: `b/specs/Spec.tla`.
    pub written: String,
    /// The path without the prefix that `git diff` puts before it; `None` if the path has no such prefix.
    pub without_prefix: Option<String>,
    /// The line of the diff that names it, from 1.
    pub line: usize,
    /// The lines that the diff adds or changes, and the neighbours of deleted lines, in the new file.
    pub lines: BTreeSet<usize>,
    /// Whether the diff only says that the file differs, and not in which lines.
    pub is_binary: bool,
}

const NO_FILE: &str = "/dev/null";

/// The files that a unified diff changes or creates; deleted files are left out.
pub fn parse_unified_diff(text: &str) -> Result<Vec<ChangedFile>, DiffError> {
    let mut reader = Reader { lines: text.lines().collect(), at: 0, files: Vec::new(), is_diff: false };
    let mut git = GitHeader::default();
    while let Some(line) = reader.peek() {
        if let Some(rest) = line.strip_prefix("diff --git ") {
            git = GitHeader { names: Some(rest.to_owned()), ..GitHeader::default() };
            reader.is_diff = true;
        } else if ["diff --cc ", "diff --combined ", "@@@ "].iter().any(|start| line.starts_with(start)) {
            let what = "this is the combined diff of a merge; give the diff of two versions, such as `git diff A B`";
            return Err(reader.error(what));
        } else if let Some(path) = line.strip_prefix("rename to ").or_else(|| line.strip_prefix("copy to ")) {
            git.renamed_to = Some(unquoted(path));
        } else if line.starts_with("Binary files ") || line.starts_with("GIT binary patch") {
            reader.is_diff = true;
            reader.binary_file(&git);
        } else if line.starts_with("--- ") && reader.next_starts_with("+++ ") {
            reader.is_diff = true;
            reader.file(&git)?;
            git = GitHeader::default();
            continue;
        } else if line.starts_with("@@ -") {
            return Err(reader.error("a hunk without the lines `---` and `+++` that name its file"));
        }
        reader.at += 1;
    }
    if !reader.is_diff && !text.trim().is_empty() {
        reader.at = 0;
        return Err(reader.error("this is no unified diff"));
    }
    Ok(reader.files)
}

/// What the lines of git before `---` say of a file.
#[derive(Default)]
struct GitHeader {
    /// What follows `diff --git`.
    names: Option<String>,
    renamed_to: Option<String>,
}

struct Reader<'a> {
    lines: Vec<&'a str>,
    at: usize,
    files: Vec<ChangedFile>,
    is_diff: bool,
}

impl Reader<'_> {
    fn peek(&self) -> Option<&str> {
        self.lines.get(self.at).copied()
    }

    fn next_starts_with(&self, start: &str) -> bool {
        self.lines.get(self.at + 1).is_some_and(|line| line.starts_with(start))
    }

    fn error(&self, what: &str) -> DiffError {
        DiffError { line: self.at + 1, what: what.to_owned() }
    }

    /// Reads a line such as `Binary files a/x and b/x differ`, or the first one of a binary patch, whose file the header names.
    fn binary_file(&mut self, git: &GitHeader) {
        let line = self.lines[self.at];
        if let Some(new) = &git.renamed_to {
            let (line, lines) = (self.at + 1, BTreeSet::new());
            self.files.push(ChangedFile { written: new.clone(), without_prefix: None, line, lines, is_binary: true });
            return;
        }
        let pair = match line.strip_prefix("Binary files ").and_then(|rest| rest.strip_suffix(" differ")) {
            // The names may have the word, too; they are the same but for their prefixes.
            Some(rest) => rest
                .match_indices(" and ")
                .map(|(at, and)| (&rest[..at], &rest[at + and.len()..]))
                .find(|(old, new)| old.split_once('/').map(|(_, old)| old) == new.split_once('/').map(|(_, new)| new))
                .or_else(|| rest.rsplit_once(" and ")),
            // Both names are the same but for their prefixes.
            None => git.names.as_deref().and_then(|names| names.split_at_checked(names.len() / 2)),
        };
        let Some((old, new)) = pair.map(|(old, new)| (unquoted(old.trim()), unquoted(new.trim()))) else { return };
        if new != NO_FILE {
            let without_prefix = without_prefix(&old, &new, git);
            let (line, lines) = (self.at + 1, BTreeSet::new());
            self.files.push(ChangedFile { written: new, without_prefix, line, lines, is_binary: true });
        }
    }

    /// Reads the lines `---` and `+++`, and the hunks after them.
    fn file(&mut self, git: &GitHeader) -> Result<(), DiffError> {
        let line = self.at + 2;
        let old = path_of_header(self.lines[self.at]);
        let new = path_of_header(self.lines[self.at + 1]);
        self.at += 2;
        if !self.peek().is_some_and(|line| line.starts_with("@@ -")) {
            return Err(self.error("`---` and `+++` without a hunk `@@ … @@` after them"));
        }
        let mut lines = BTreeSet::new();
        while self.peek().is_some_and(|line| line.starts_with("@@ -")) {
            self.hunk(&mut lines)?;
        }
        if new != NO_FILE {
            let without_prefix = without_prefix(&old, &new, git);
            self.files.push(ChangedFile { written: new, without_prefix, line, lines, is_binary: false });
        }
        Ok(())
    }

    fn hunk(&mut self, found: &mut BTreeSet<usize>) -> Result<(), DiffError> {
        let header = self.peek().unwrap_or_default();
        let ranges =
            parse_hunk_header(header).ok_or_else(|| self.error("the line numbers of this hunk cannot be read"))?;
        let Ranges { old: (_, mut old_left), new: (start, mut new_left) } = ranges;
        // `+9,0` means after line 9.
        let too_large = || self.error("this line number is too large");
        let mut line = start.checked_add(usize::from(new_left == 0)).ok_or_else(too_large)?;
        self.at += 1;
        // Lines were deleted, and so far no line replaces them.
        let mut is_deleted = false;
        while old_left > 0 || new_left > 0 {
            let Some(text) = self.peek() else { return Err(self.error("the diff ends inside a hunk")) };
            let sign = text.bytes().next();
            let (takes_old, takes_new) = match sign {
                Some(b'+') => (0, 1),
                Some(b'-') => (1, 0),
                Some(b'\\') => (0, 0),
                // Some programs remove the blank of an empty line.
                Some(b' ' | b'\t') | None => (1, 1),
                Some(_) => return Err(self.error("a line of a hunk begins with none of ` `, `+`, `-` and `\\`")),
            };
            match sign {
                Some(b'+') => {
                    found.insert(line);
                    is_deleted = false;
                }
                Some(b'-') => is_deleted = true,
                Some(b'\\') => {}
                _ => {
                    if std::mem::take(&mut is_deleted) {
                        found.extend([line.saturating_sub(1), line]);
                    }
                }
            }
            let too_long = || self.error("this hunk is longer than its first line says");
            old_left = old_left.checked_sub(takes_old).ok_or_else(too_long)?;
            new_left = new_left.checked_sub(takes_new).ok_or_else(too_long)?;
            line = line.checked_add(takes_new).ok_or_else(|| self.error("this line number is too large"))?;
            self.at += 1;
        }
        if is_deleted {
            found.extend([line.saturating_sub(1), line]);
        }
        if self.peek().is_some_and(|line| line.starts_with("\\ ")) {
            self.at += 1;
        }
        // `-- ` is the signature below a mailed patch.
        let is_more =
            |line: &str| line.starts_with(['+', '-', ' ']) && !line.starts_with("--- ") && line.trim_end() != "--";
        if self.peek().is_some_and(is_more) {
            return Err(self.error("this hunk is longer than its first line says"));
        }
        Ok(())
    }
}

/// First line and number of lines, in the old and in the new file.
struct Ranges {
    old: (usize, usize),
    new: (usize, usize),
}

fn parse_hunk_header(line: &str) -> Option<Ranges> {
    let (old, rest) = line.strip_prefix("@@ -")?.split_once(' ')?;
    let (new, _) = rest.strip_prefix('+')?.split_once(' ')?;
    let range = |part: &str| {
        let (start, count) = part.split_once(',').unwrap_or((part, "1"));
        Some((start.parse().ok()?, count.parse().ok()?))
    };
    Some(Ranges { old: range(old)?, new: range(new)? })
}

/// The path of a line that begins with `--- ` or `+++ `. A time may follow it after a tab.
fn path_of_header(line: &str) -> String {
    let path = line.get(4..).unwrap_or_default();
    if path.starts_with('"') { unquoted(path) } else { path.split('\t').next().unwrap_or(path).trim_end().to_owned() }
}

/// A path as git writes it: in quotes and with escapes if it has unusual characters.
fn unquoted(path: &str) -> String {
    let Some(inner) = path.strip_prefix('"') else { return path.trim_end().to_owned() };
    let (mut bytes, mut rest) = (Vec::new(), inner.bytes().peekable());
    while let Some(byte) = rest.next() {
        match byte {
            b'"' => break,
            b'\\' => {
                let escaped = rest.next().unwrap_or(b'\\');
                let octal = |byte: u8| (b'0'..=b'7').contains(&byte).then(|| u32::from(byte - b'0'));
                match octal(escaped) {
                    Some(mut value) => {
                        for _ in 0..2 {
                            let Some(digit) = rest.peek().copied().and_then(octal) else { break };
                            value = value * 8 + digit;
                            rest.next();
                        }
                        bytes.push(u8::try_from(value).unwrap_or(b'?'));
                    }
                    None => bytes.push(match escaped {
                        b'a' => 7,
                        b'b' => 8,
                        b't' => b'\t',
                        b'n' => b'\n',
                        b'v' => 11,
                        b'f' => 12,
                        b'r' => b'\r',
                        other => other,
                    }),
                }
            }
            other => bytes.push(other),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The path of the new file without its first component, if that is a prefix such as the `b/` of git: the old path has
/// another one before the same rest.
fn without_prefix(old: &str, new: &str, git: &GitHeader) -> Option<String> {
    let (prefix, rest) = new.split_once('/').filter(|(prefix, rest)| !prefix.is_empty() && !rest.is_empty())?;
    let has_prefix = if let Some(renamed) = &git.renamed_to {
        // Git writes these lines without a prefix.
        renamed == rest
    } else if old == NO_FILE {
        // A new file: only the line `diff --git a/X b/X` shows the prefix.
        match &git.names {
            Some(names) => !is_same_name_twice(names, new),
            None => prefix == "b",
        }
    } else {
        match old.split_once('/') {
            Some((old_prefix, old_rest)) => {
                old_prefix != prefix && (old_rest == rest || (old_prefix == "a" && prefix == "b"))
            }
            None => false,
        }
    };
    has_prefix.then(|| rest.to_owned())
}

/// `diff --git X X`, as `git diff --no-prefix` writes it.
fn is_same_name_twice(names: &str, name: &str) -> bool {
    if names.starts_with('"') {
        let both: Vec<String> =
            names.split("\" \"").map(|one| unquoted(&format!("\"{}", one.trim_matches('"')))).collect();
        return matches!(both.as_slice(), [one, other] if one == name && other == name);
    }
    names.trim_end() == format!("{name} {name}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines_of(diff: &str, file: &str) -> Option<BTreeSet<usize>> {
        let files = parse_unified_diff(diff).unwrap();
        files.into_iter().find(|one| one.without_prefix.as_ref().unwrap_or(&one.written) == file).map(|one| one.lines)
    }

    #[test]
    fn a_line_number_that_is_too_large_is_an_error() {
        for range in ["18446744073709551615", "18446744073709551614,3", "18446744073709551615,0"] {
            let lines = if range.ends_with(",3") {
                "+x\n+x\n+x\n"
            } else if range.ends_with(",0") {
                ""
            } else {
                "+x\n"
            };
            let diff = format!("--- a/S.tla\n+++ b/S.tla\n@@ -40 +{range} @@\n-x\n{lines}");
            assert!(parse_unified_diff(&diff).is_err(), "{range}");
        }
    }

    #[test]
    fn a_binary_difference_names_its_file_and_no_lines() {
        let header = "diff --git a/s/Spec.tla b/s/Spec.tla\nindex 1..2 100644\n";
        for rest in ["Binary files a/s/Spec.tla and b/s/Spec.tla differ\n", "GIT binary patch\nliteral 3\n"] {
            let files = parse_unified_diff(&format!("{header}{rest}")).unwrap();
            assert_eq!(files.len(), 1, "{rest}");
            assert!(files[0].is_binary && files[0].lines.is_empty(), "{files:?}");
            assert_eq!(files[0].without_prefix.as_deref(), Some("s/Spec.tla"), "{rest}");
        }
        let renamed = "diff --git a/Old.tla b/LockService.tla\nrename from Old.tla\nrename to LockService.tla\nGIT binary patch\n";
        assert_eq!(parse_unified_diff(renamed).unwrap()[0].written, "LockService.tla");
        let and = "Binary files a/Lock and key.tla and b/Lock and key.tla differ\n";
        assert_eq!(parse_unified_diff(and).unwrap()[0].without_prefix.as_deref(), Some("Lock and key.tla"));
        assert_eq!(parse_unified_diff("Binary files a/x.png and /dev/null differ\n").unwrap(), []);
    }

    #[test]
    fn lines_of_a_diff_are_those_of_the_new_file() {
        let diff = "diff --git a/s/Spec.tla b/s/Spec.tla\n--- a/s/Spec.tla\n+++ b/s/Spec.tla\n@@ -1,3 +1,4 @@\n a\n-b\n+B\n+C\n c\n@@ -10 +11,2 @@\n-x\n+++ y\n+z\n--- a/O.tla\n+++ b/O.tla\n@@ -1 +1 @@\n-1\n+2\n";
        assert_eq!(lines_of(diff, "s/Spec.tla"), Some(BTreeSet::from([2, 3, 11, 12])));
        assert_eq!(lines_of(diff, "O.tla"), Some(BTreeSet::from([1])));
        assert_eq!(lines_of(diff, "None.tla"), None);
        assert_eq!(lines_of(&diff.replace('\n', "\r\n"), "s/Spec.tla"), Some(BTreeSet::from([2, 3, 11, 12])));
    }

    #[test]
    fn a_deletion_touches_its_neighbours() {
        let of = |hunk: &str| lines_of(&format!("--- a/S.tla\n+++ b/S.tla\n{hunk}"), "S.tla").unwrap();
        assert_eq!(of("@@ -1,4 +1,3 @@\n a\n-b\n c\n d\n"), BTreeSet::from([1, 2]));
        assert_eq!(of("@@ -10,2 +9,0 @@\n-x\n-y\n"), BTreeSet::from([9, 10]));
        assert_eq!(of("@@ -1,4 +1,3 @@\n a\n-b\n-c\n+C\n d\n"), BTreeSet::from([2]));
        assert_eq!(of("@@ -8,3 +8,2 @@\n a\n b\n-c\n\\ No newline at end of file\n"), BTreeSet::from([9, 10]));
    }

    #[test]
    fn prefixes_are_told_from_folders() {
        let of = |header: &str| {
            let files = parse_unified_diff(&format!("{header}\n@@ -1 +1 @@\n-a\n+b\n")).unwrap();
            let [file] = files.as_slice() else { panic!("one file: {files:?}") };
            (file.written.clone(), file.without_prefix.clone().unwrap_or_default())
        };
        let is = |header: &str, written: &str, without: &str| {
            assert_eq!(of(header), (written.to_owned(), without.to_owned()), "{header}");
        };
        is("--- a/b/S.tla\n+++ b/b/S.tla", "b/b/S.tla", "b/S.tla");
        is("--- i/S.tla\n+++ w/S.tla", "w/S.tla", "S.tla");
        is("--- old/x/S.tla\t2026-01-01\n+++ new/x/S.tla\t2026-01-02", "new/x/S.tla", "x/S.tla");
        is("diff --git b/S.tla b/S.tla\n--- b/S.tla\n+++ b/S.tla", "b/S.tla", "");
        is("--- S.tla\n+++ S.tla", "S.tla", "");
        is("--- /x/S.tla\n+++ /x/S.tla", "/x/S.tla", "");
        is(
            "diff --git a/b/S.tla b/b/S.tla\nnew file mode 100644\n--- /dev/null\n+++ b/b/S.tla",
            "b/b/S.tla",
            "b/S.tla",
        );
        is("diff --git b/S.tla b/S.tla\nnew file mode 100644\n--- /dev/null\n+++ b/S.tla", "b/S.tla", "");
        let renamed = "diff --git a/x/Old.tla b/y/New.tla\nrename from x/Old.tla\nrename to y/New.tla\n";
        is(&format!("{renamed}--- a/x/Old.tla\n+++ b/y/New.tla"), "b/y/New.tla", "y/New.tla");
        let bare = "diff --git a/Old.tla b/New.tla\nrename from a/Old.tla\nrename to b/New.tla\n";
        is(&format!("{bare}--- a/Old.tla\n+++ b/New.tla"), "b/New.tla", "");
        is(
            "--- \"a/sp\\303\\251c \\\"1\\\"/S.tla\"\n+++ \"b/sp\\303\\251c \\\"1\\\"/S.tla\"",
            "b/spéc \"1\"/S.tla",
            "spéc \"1\"/S.tla",
        );
        is("--- a/my spec/S.tla\t\n+++ b/my spec/S.tla\t", "b/my spec/S.tla", "my spec/S.tla");
    }

    #[test]
    fn what_is_not_understood_is_an_error() {
        for (text, line) in [
            ("hello\nworld\n", 1),
            ("--- a/S\n+++ b/S\n", 3),
            ("--- a/S\n+++ b/S\n@@ -1,2 +1,2 @@\n a\n", 5),
            ("--- a/S\n+++ b/S\n@@ -x +1 @@\n-a\n+b\n", 3),
            ("--- a/S\n+++ b/S\n@@ -1 +1 @@\n-a\n-b\n+c\n", 5),
            ("--- a/S\n+++ b/S\n@@ -1,2 +1,2 @@\n-a\nb\n", 5),
            ("@@ -1 +1 @@\n-a\n+b\n", 1),
            ("--- a/S\n+++ b/S\n@@ -1 +1 @@\n-a\n+b\n+c\n", 6),
            ("diff --cc S\n--- a/S\n+++ b/S\n@@@ -1 -1 +1 @@@\n", 1),
        ] {
            assert_eq!(parse_unified_diff(text).map_err(|error| error.line), Err(line), "{text}");
        }
        for nothing in ["", "\n", "diff --git a/x b/x\nold mode 100644\nnew mode 100755\n"] {
            assert_eq!(parse_unified_diff(nothing), Ok(Vec::new()));
        }
        let deleted = "diff --git a/S b/S\ndeleted file mode 100644\n--- a/S\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n";
        assert_eq!(parse_unified_diff(deleted), Ok(Vec::new()));
    }
}
