//! Reads protocol documentation from a file or a folder, in a stable order, and reports every file that it skips.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use walkdir::WalkDir;

use tlaforge_files as files;

/// File endings that are read as documents.
pub(super) const ENDINGS: [&str; 6] = ["md", "mdx", "txt", "rst", "html", "adoc"];
/// Larger files are skipped: they exceed the context of any model.
const MAX_BYTES: u64 = 4 << 20;

/// A document, with the line ends and the byte-order mark normalised.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    /// Path below the folder that was given, with `/`.
    pub path: String,
    pub text: String,
}

/// A skipped file, and the reason.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize, JsonSchema)]
pub struct Skipped {
    /// Path below the folder that was given.
    pub path: String,
    pub reason: String,
}

/// All documents of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Documents {
    /// Sorted by path.
    pub files: Vec<Document>,
    pub skipped: Vec<Skipped>,
}

/// Why the documents cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum DocumentsError {
    /// The path does not exist.
    #[error("{path} does not exist; give a document or a folder of documents")]
    Missing { path: PathBuf },
    /// The folder contains no document.
    #[error("{path} holds no document ({endings}); skipped: {skipped}")]
    None {
        path: PathBuf,
        /// The accepted file endings.
        endings: String,
        /// The skipped files, in words.
        skipped: String,
    },
    /// A file cannot be read.
    #[error("cannot read {path}: {source}; make it readable or move it out of the folder")]
    Unreadable { path: PathBuf, source: std::io::Error },
}

/// Reads a file or every document of a folder, sorted by path.
pub fn read_documents(root: &Path) -> Result<Documents, DocumentsError> {
    let meta = match std::fs::metadata(root) {
        Ok(meta) => meta,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
            return Err(DocumentsError::Missing { path: root.to_owned() });
        }
        Err(source) => return Err(DocumentsError::Unreadable { path: root.to_owned(), source }),
    };
    let mut documents = Documents::default();
    if meta.is_file() {
        let name = Path::new(root.file_name().unwrap_or("document".as_ref()));
        add_document(root, name, meta.len(), Endings::Any, &mut documents)?;
    } else {
        // The documents may come from someone else. A link in them could send any file of the user to a model.
        let inside = std::fs::canonicalize(root)
            .map_err(|source| DocumentsError::Unreadable { path: root.to_owned(), source })?;
        let leaves = |entry: &walkdir::DirEntry| {
            entry.path_is_symlink() && !std::fs::canonicalize(entry.path()).is_ok_and(|p| p.starts_with(&inside))
        };
        let mut entries = WalkDir::new(root).follow_links(true).sort_by_file_name().into_iter();
        while let Some(entry) = entries.next() {
            match entry {
                Ok(entry) if entry.depth() > 0 && leaves(&entry) => {
                    let path = relative(root, entry.path());
                    documents.skipped.push(Skipped { path, reason: "a link that leads out of the folder".into() });
                    if entry.file_type().is_dir() {
                        entries.skip_current_dir();
                    }
                }
                Ok(entry)
                    if entry.depth() > 0
                        && let Some(reason) = skip_reason_by_name(&entry) =>
                {
                    documents.skipped.push(Skipped { path: relative(root, entry.path()), reason: reason.into() });
                    if entry.file_type().is_dir() {
                        entries.skip_current_dir();
                    }
                }
                Ok(entry) if entry.file_type().is_dir() => {
                    if is_run_folder(entry.path()) {
                        let path = match relative(root, entry.path()) {
                            path if path.is_empty() => ".".to_owned(),
                            path => path,
                        };
                        documents.skipped.push(Skipped { path, reason: "the folder of a run".into() });
                        entries.skip_current_dir();
                    }
                }
                Ok(entry) => {
                    if entry.file_type().is_file() {
                        let bytes = entry.metadata().map_or(0, |m| m.len());
                        let name = entry.path().strip_prefix(root).unwrap_or(entry.path());
                        add_document(entry.path(), name, bytes, Endings::Known, &mut documents)?;
                    } else {
                        let path = relative(root, entry.path());
                        documents.skipped.push(Skipped { path, reason: "not a regular file".into() });
                    }
                }
                Err(e) if e.loop_ancestor().is_some() => {
                    let path = e.path().map_or_else(String::new, |p| relative(root, p));
                    documents.skipped.push(Skipped { path, reason: "a link that leads back to itself".into() });
                }
                Err(e) => {
                    let path = e.path().unwrap_or(root).to_owned();
                    // A dangling link has no content. Any other error could hide a document.
                    if std::fs::symlink_metadata(&path).is_ok_and(|m| m.is_symlink()) {
                        let reason = "a link that leads nowhere".into();
                        documents.skipped.push(Skipped { path: relative(root, &path), reason });
                    } else {
                        let source = e.into_io_error().unwrap_or_else(|| std::io::Error::other("cannot be walked"));
                        return Err(DocumentsError::Unreadable { path, source });
                    }
                }
            }
        }
    }
    if documents.files.is_empty() {
        let skipped: Vec<String> =
            documents.skipped.iter().take(5).map(|s| format!("{} ({})", s.path, s.reason)).collect();
        return Err(DocumentsError::None {
            path: root.to_owned(),
            endings: ENDINGS.map(|e| format!(".{e}")).join(" "),
            skipped: if skipped.is_empty() { "nothing".into() } else { skipped.join(", ") },
        });
    }
    // The walk sorts each folder for itself, which differs from the order of whole paths.
    documents.files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(documents)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Endings {
    /// For a file that the user names directly.
    Any,
    /// For files in a folder.
    Known,
}

fn add_document(
    path: &Path,
    below: &Path,
    bytes: u64,
    endings: Endings,
    into: &mut Documents,
) -> Result<(), DocumentsError> {
    let ending = path.extension().map(|e| e.to_string_lossy().to_ascii_lowercase()).unwrap_or_default();
    let name = display_path(below);
    let mut skip = |reason: String| into.skipped.push(Skipped { path: name.clone(), reason });
    if endings == Endings::Known && !ENDINGS.contains(&ending.as_str()) {
        skip("not a document by its ending".into());
        return Ok(());
    }
    if !is_plain(below) {
        skip("its name holds what no prompt can carry (control characters, or bytes that are not UTF-8)".into());
        return Ok(());
    }
    if bytes > MAX_BYTES {
        skip(format!("{bytes} bytes, over the limit of {MAX_BYTES}"));
        return Ok(());
    }
    let content =
        files::read(path, MAX_BYTES).map_err(|source| DocumentsError::Unreadable { path: path.to_owned(), source })?;
    // A zero byte is valid UTF-8, but no text file has one.
    if content.contains(&0) {
        skip("binary".into());
        return Ok(());
    }
    match String::from_utf8(content) {
        Ok(text) if text.trim().is_empty() => skip("empty".into()),
        Ok(text) => {
            let text = text.strip_prefix('\u{feff}').unwrap_or(&text).replace("\r\n", "\n").replace('\r', "\n");
            into.files.push(Document { path: name, text });
        }
        Err(e) => skip(format!("not UTF-8 from byte {}", e.utf8_error().valid_up_to())),
    }
    Ok(())
}

/// Why an entry is not documentation, by its name. Tools keep their own files in such folders, for example the READMEs of
/// packages.
fn skip_reason_by_name(entry: &walkdir::DirEntry) -> Option<&'static str> {
    let (name, is_folder) = (entry.file_name(), entry.file_type().is_dir());
    match name.as_encoded_bytes().first() {
        Some(b'.') if is_folder => Some("a hidden folder"),
        Some(b'.') => Some("a hidden file"),
        _ => (is_folder && name == "node_modules").then_some("a folder of installed packages"),
    }
}

/// Whether this is the folder of a run, whose files are not documentation.
fn is_run_folder(folder: &Path) -> bool {
    folder.join("journal.jsonl").is_file() && folder.join("artifacts").is_dir()
}

/// Whether a name is UTF-8 without control characters, so that it is unique and readable in a prompt, an index and a line of
/// output.
fn is_plain(path: &Path) -> bool {
    path.to_str().is_some_and(|name| !name.chars().any(char::is_control))
}

fn relative(root: &Path, path: &Path) -> String {
    display_path(path.strip_prefix(root).unwrap_or(path))
}

/// A path with `/` for display. Control characters are escaped, so that they do not reach the terminal.
fn display_path(path: &Path) -> String {
    let path = path.components().map(|c| c.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/");
    path.chars().fold(String::new(), |mut out, c| {
        if c.is_control() {
            out.extend(c.escape_default());
        } else {
            out.push(c);
        }
        out
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_are_no_documents_are_skipped_and_reported() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        std::fs::create_dir(at("sub")).unwrap();
        std::fs::write(at("b.md"), "# B\r\ntext\r\n").unwrap();
        std::fs::write(at("sub/a.txt"), "\u{feff}A").unwrap();
        std::fs::write(at("pic.md"), [1, 0, 2]).unwrap();
        std::fs::write(at("latin.txt"), [b'a', 0xe9]).unwrap();
        std::fs::write(at("code.rs"), "fn main() {}").unwrap();
        std::fs::write(at("empty.md"), " \n").unwrap();
        std::fs::File::create(at("huge.md")).unwrap().set_len(50 << 20).unwrap();
        std::os::unix::fs::symlink(dir.path(), at("sub/loop")).unwrap();
        std::os::unix::fs::symlink("nowhere.md", at("dangling.md")).unwrap();
        let elsewhere = tempfile::tempdir().unwrap();
        std::fs::write(elsewhere.path().join("secret.md"), "secret").unwrap();
        std::os::unix::fs::symlink(elsewhere.path().join("secret.md"), at("out.md")).unwrap();
        std::os::unix::fs::symlink(elsewhere.path(), at("outside")).unwrap();
        let docs = read_documents(dir.path()).unwrap();
        assert_eq!(docs.files.iter().map(|f| f.path.as_str()).collect::<Vec<_>>(), ["b.md", "sub/a.txt"]);
        assert_eq!(docs.files[0].text, "# B\ntext\n");
        assert_eq!(docs.files[1].text, "A");
        let reasons: std::collections::BTreeMap<&str, &str> =
            docs.skipped.iter().map(|s| (s.path.as_str(), s.reason.as_str())).collect();
        assert_eq!(reasons["pic.md"], "binary");
        assert_eq!(reasons["latin.txt"], "not UTF-8 from byte 1");
        assert_eq!(reasons["code.rs"], "not a document by its ending");
        assert_eq!(reasons["empty.md"], "empty");
        assert!(reasons["huge.md"].starts_with("52428800 bytes"));
        assert_eq!(reasons["sub/loop"], "a link that leads back to itself");
        assert_eq!(reasons["dangling.md"], "a link that leads nowhere");
        assert_eq!(reasons["out.md"], "a link that leads out of the folder");
        assert_eq!(reasons["outside"], "a link that leads out of the folder");
    }

    #[test]
    fn a_folder_without_documents_is_an_error_that_lists_the_endings() {
        let dir = tempfile::tempdir().unwrap();
        assert!(read_documents(dir.path()).unwrap_err().to_string().contains(".md .mdx .txt"));
        let missing = read_documents(&dir.path().join("x")).unwrap_err();
        assert!(missing.to_string().contains("does not exist"));
    }
}
