//! The folders that a client may read and write: those that it names as roots, and those of `--allow`. Every path of a call
//! passes through here; links are followed before a path is compared.

use std::path::{Component, Path, PathBuf};

use walkdir::{DirEntry, WalkDir};

use crate::cli::failure::Failure;

/// Longest path from a client, in bytes.
const MAX_PATH: usize = 4096;

/// The folders of one call, canonical.
#[derive(Debug, Clone)]
pub(super) struct AllowedFolders(Vec<PathBuf>);

/// A path below an allowed folder.
#[derive(Debug, Clone)]
pub(super) struct AllowedPath {
    /// Canonical.
    pub path: PathBuf,
    /// The allowed folder.
    pub root: PathBuf,
    /// Whether a relative path is looked up in that folder first.
    pub is_in_first: bool,
}

impl AllowedPath {
    /// The path that names a run in answers to the client: from the first allowed folder on, or absolute.
    pub(super) fn relative(&self) -> String {
        let relative = self.path.strip_prefix(&self.root).ok().filter(|_| self.is_in_first).unwrap_or(&self.path);
        if relative.as_os_str().is_empty() { ".".to_owned() } else { relative.display().to_string() }
    }
}

/// Where a path leads.
enum Target {
    Exists(PathBuf),
    /// Its first missing component would be created in an existing folder.
    Missing(PathBuf),
}

impl AllowedFolders {
    pub(super) fn new(folders: impl IntoIterator<Item = PathBuf>) -> Self {
        let canonical: Vec<PathBuf> = folders
            .into_iter()
            .filter_map(|folder| folder.canonicalize().ok())
            .filter(|folder| folder.is_dir())
            .collect();
        // A folder below another one, or named twice, would list its runs twice.
        let is_below = |folder: &Path, other: &Path| folder != other && folder.starts_with(other);
        let mut kept: Vec<PathBuf> = Vec::new();
        for folder in &canonical {
            if !kept.contains(folder) && !canonical.iter().any(|other| is_below(folder, other)) {
                kept.push(folder.clone());
            }
        }
        Self(kept)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Path> {
        self.0.iter().map(PathBuf::as_path)
    }

    /// A file or folder that exists.
    pub(super) fn existing(&self, what: &str, given: &str) -> Result<AllowedPath, Failure> {
        match self.locate(what, given)? {
            (Target::Exists(path), root) => Ok(self.allowed(path, root)),
            (Target::Missing(path), _) => Err(Failure::usage(format!("{what}: {given} does not exist"))
                .hint(format!("looked for {}", path.display()))),
        }
    }

    /// A module, or a folder of modules. Other modules and configurations in the folder can be read with it, so links among
    /// them must not lead elsewhere.
    pub(super) fn modules(&self, what: &str, given: &str) -> Result<AllowedPath, Failure> {
        let named = self.existing(what, given)?;
        let folder = if named.path.is_dir() { &named.path } else { named.path.parent().unwrap_or(&named.root) };
        self.check_links(WalkDir::new(folder).max_depth(1).into_iter())?;
        Ok(named)
    }

    /// A folder of models: modules and configurations, also in its subfolders.
    pub(super) fn models(&self, what: &str, given: &str) -> Result<AllowedPath, Failure> {
        let named = self.existing(what, given)?;
        let is_visible =
            |entry: &DirEntry| entry.depth() == 0 || !entry.file_name().as_encoded_bytes().starts_with(b".");
        self.check_links(WalkDir::new(&named.path).into_iter().filter_entry(is_visible))?;
        Ok(named)
    }

    /// Refuses links from modules and configurations to files outside.
    fn check_links(&self, entries: impl Iterator<Item = walkdir::Result<DirEntry>>) -> Result<(), Failure> {
        for entry in entries.flatten() {
            let path = entry.path();
            let is_read = path.extension().is_some_and(|end| end == "tla" || end == "cfg");
            let is_allowed = || path.canonicalize().is_ok_and(|to| self.0.iter().any(|root| to.starts_with(root)));
            if is_read && entry.file_type().is_symlink() && !is_allowed() {
                return Err(Failure::usage(format!(
                    "{}: this link leads outside of the allowed folders",
                    path.display()
                ))
                .hint("remove it, or replace it by the file"));
            }
        }
        Ok(())
    }

    /// A file or folder that may be created.
    pub(super) fn existing_or_new(&self, what: &str, given: &str) -> Result<AllowedPath, Failure> {
        let (Target::Exists(path) | Target::Missing(path), root) = self.locate(what, given)?;
        Ok(self.allowed(path, root))
    }

    pub(super) fn allowed(&self, path: PathBuf, root: PathBuf) -> AllowedPath {
        AllowedPath { path, is_in_first: self.0.first() == Some(&root), root }
    }

    /// The target in the first folder that has it; otherwise where it would be in the first folder that may hold it.
    fn locate(&self, what: &str, given: &str) -> Result<(Target, PathBuf), Failure> {
        if self.0.is_empty() {
            return Err(Failure::usage("no folder is allowed, so nothing can be read or written")
                .hint("name the project's folder as a root in the client")
                .hint("or start the server with it: tlaforge mcp --allow DIR"));
        }
        check_path_text(what, given)?;
        let mut missing = None;
        for folder in &self.0 {
            let Some(target) = follow(&folder.join(given)) else { continue };
            let (Target::Exists(path) | Target::Missing(path)) = &target;
            let Some(root) = self.0.iter().find(|root| path.starts_with(root)).cloned() else { continue };
            match target {
                Target::Exists(_) => return Ok((target, root)),
                Target::Missing(_) => missing = missing.or(Some((target, root))),
            }
        }
        missing.ok_or_else(|| {
            let list: Vec<String> = self.0.iter().map(|folder| folder.display().to_string()).collect();
            Failure::usage(format!("{what}: {given} is outside of the allowed folders ({})", list.join(", ")))
                .hint("allow another folder as a root of the client, or with --allow DIR")
        })
    }
}

fn check_path_text(what: &str, given: &str) -> Result<(), Failure> {
    let problem = match given {
        "" => "is empty",
        path if path.len() > MAX_PATH => "is too long for a path",
        path if path.starts_with('-') => "begins with `-`, like a flag",
        path if path.chars().any(char::is_control) => "contains control characters",
        _ => return Ok(()),
    };
    Err(Failure::usage(format!("{what}: the path {problem}")))
}

/// Follows every link; `None` if the path leads nowhere, such as through a file or a broken link, or upwards from a folder
/// that does not exist.
fn follow(path: &Path) -> Option<Target> {
    let mut missing: Vec<&std::ffi::OsStr> = Vec::new();
    let mut existing = path;
    loop {
        match existing.canonicalize() {
            Ok(canonical) if missing.is_empty() => return Some(Target::Exists(canonical)),
            Ok(canonical) if canonical.is_dir() => {
                return Some(Target::Missing(missing.iter().rev().fold(canonical, |path, part| path.join(part))));
            }
            Ok(_) => return None,
            // A broken link: writing through it would create its target.
            Err(_) if existing.symlink_metadata().is_ok() => return None,
            Err(_) => {
                let Some(Component::Normal(last)) = existing.components().next_back() else { return None };
                missing.push(last);
                existing = existing.parent()?;
            }
        }
    }
}

/// The folder of a `file://` address.
pub(super) fn folder_of_uri(uri: &str) -> Option<PathBuf> {
    let path = uri.strip_prefix("file://")?;
    let path = path.strip_prefix("localhost").unwrap_or(path);
    let path = percent_decoded(path)?;
    path.starts_with('/').then(|| PathBuf::from(path))
}

/// Replaces `%20` and the like; `None` if what results is not UTF-8.
pub(super) fn percent_decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        let code = (*first == b'%' && after.len() >= 2).then(|| std::str::from_utf8(&after[..2]).ok()).flatten();
        match code.and_then(|code| u8::from_str_radix(code, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8(bytes).ok()
}

/// Writes what is not a letter, a digit or one of `-_./` as `%20` and the like.
pub(super) fn percent_encoded(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./".contains(&byte);
    text.bytes().map(|b| if plain(b) { char::from(b).to_string() } else { format!("%{b:02X}") }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn only_paths_below_an_allowed_folder_are_found() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        for folder in ["root/sub", "root2", "outside"] {
            std::fs::create_dir_all(at(folder)).unwrap();
        }
        std::fs::write(at("root/a.tla"), "a").unwrap();
        std::fs::write(at("outside/b.tla"), "b").unwrap();
        symlink(at("outside"), at("root/out")).unwrap();
        symlink(at("root"), at("in")).unwrap();
        symlink(at("outside/new"), at("root/broken")).unwrap();
        let folders = AllowedFolders::new([at("root")]);
        let root = at("root").canonicalize().unwrap();
        let absolute = at("in/a.tla");
        for (given, relative) in
            [("a.tla", "a.tla"), ("sub/../a.tla", "a.tla"), (absolute.to_str().unwrap(), "a.tla"), (".", ".")]
        {
            let found = folders.existing("spec", given).unwrap();
            assert_eq!((found.relative().as_str(), &found.root), (relative, &root), "{given}");
        }
        let outside = at("outside/b.tla");
        for given in [
            "../outside/b.tla",
            outside.to_str().unwrap(),
            "out/b.tla",
            "out/new",
            "broken",
            "../root2/x",
            "no/../../root2",
            "a.tla/x",
            "/etc/passwd",
            "/",
        ] {
            let refused = folders.existing_or_new("spec", given).unwrap_err();
            assert!(refused.message.contains("outside of the allowed folders"), "{given}: {}", refused.message);
        }
        for given in ["-rf", "", "a\nb", &"x".repeat(5000)] {
            assert!(folders.existing_or_new("spec", given).unwrap_err().message.contains("the path "), "{given:.10}");
        }
        assert_eq!(folders.existing_or_new("out", "new/run").unwrap().path, root.join("new/run"));
        assert!(folders.existing("spec", "new").unwrap_err().message.contains("does not exist"));
        let none = AllowedFolders::new([]).existing("spec", "a.tla").unwrap_err();
        assert!(none.message.contains("no folder is allowed") && none.hints.len() == 2);
    }

    #[test]
    fn addresses_of_folders_are_decoded() {
        assert_eq!(folder_of_uri("file:///a%20b/%C3%A4"), Some(PathBuf::from("/a b/ä")));
        assert_eq!(folder_of_uri("file://localhost/a"), Some(PathBuf::from("/a")));
        for uri in ["https://a/b", "file://host/a", "file:a", "file:///%FF"] {
            assert_eq!(folder_of_uri(uri), None, "{uri}");
        }
        assert_eq!(percent_decoded(&percent_encoded("/ä b%20?&=")).as_deref(), Some("/ä b%20?&="));
    }
}
