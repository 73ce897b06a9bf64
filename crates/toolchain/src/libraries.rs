//! Folders and jars with modules that are not beside the specification. They are read once, before any tool runs. It does
//! not know where the list of them comes from.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rawzip::{CompressionMethod, ZipArchive};
use tlaforge_files as files;
use tlaforge_tla::semantic::is_standard_module;

/// Why a library cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("cannot use the library {}: {what}", path.display())]
pub struct LibraryError {
    pub path: PathBuf,
    pub what: String,
}

/// The libraries in the order in which they are searched.
#[derive(Debug, Clone, Default)]
pub struct Libraries {
    all: Arc<Vec<Library>>,
}

#[derive(Debug)]
struct Library {
    path: PathBuf,
    /// The modules of a jar; a folder is read when a module is looked up.
    jar: Option<BTreeMap<String, String>>,
}

impl Libraries {
    pub fn open(paths: &[PathBuf]) -> Result<Self, LibraryError> {
        let open = |path: &PathBuf| {
            // Tools run in folders of their own.
            let absolute = std::path::absolute(path).unwrap_or_else(|_| path.clone());
            let jar = if absolute.is_dir() { None } else { Some(read_jar(&absolute)) };
            let jar = jar.transpose().map_err(|what| LibraryError { path: path.clone(), what })?;
            Ok(Library { path: absolute, jar })
        };
        Ok(Self { all: Arc::new(paths.iter().map(open).collect::<Result<_, _>>()?) })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        self.all.iter().map(|library| library.path.as_path())
    }

    /// For the class path of TLC, which finds Java overrides of operators there.
    pub(super) fn jars(&self) -> impl Iterator<Item = &Path> {
        self.all.iter().filter(|library| library.jar.is_some()).map(|library| library.path.as_path())
    }

    /// The text of a module. As in TLC, no library replaces a standard module.
    pub(super) fn find(&self, name: &str) -> Option<String> {
        if is_standard_module(name) {
            return None;
        }
        self.all.iter().find_map(|library| match &library.jar {
            Some(modules) => modules.get(name).cloned(),
            None => files::read_text(&library.path.join(format!("{name}.tla")), files::MEDIUM).ok(),
        })
    }
}

/// The name of the module in this entry of a jar, unless the entry is another file or is in a folder.
fn module_in_root(entry: &str) -> Option<&str> {
    entry.strip_suffix(".tla").filter(|module| !module.contains(['/', '\\']))
}

/// The modules in the root of a jar, which is where TLC looks for them.
fn read_jar(path: &Path) -> Result<BTreeMap<String, String>, String> {
    let bytes = files::read(path, files::LARGE).map_err(|e| match e.kind() {
        std::io::ErrorKind::NotFound => "there is no such folder or jar".to_owned(),
        _ => e.to_string(),
    })?;
    let unusual = |e: rawzip::Error| format!("it is neither a folder nor a jar: {e}");
    let archive = ZipArchive::from_slice(&bytes).map_err(unusual)?;
    let mut entries = archive.entries();
    let mut modules = BTreeMap::new();
    // For all modules together, because a small jar can inflate to any length.
    let mut room = usize::try_from(files::MEDIUM).unwrap_or(usize::MAX);
    while let Some(entry) = entries.next_entry().map_err(unusual)? {
        let name = String::from_utf8_lossy(entry.file_path().as_ref()).into_owned();
        let Some(module) = module_in_root(&name) else { continue };
        let packed = archive.get_entry(entry.wayfinder()).map_err(unusual)?;
        let unreadable = |what: &str| format!("{name} in it cannot be read: {what}");
        let text = match entry.compression_method() {
            CompressionMethod::STORE => packed.data().to_vec(),
            CompressionMethod::DEFLATE => miniz_oxide::inflate::decompress_to_vec_with_limit(packed.data(), room)
                .map_err(|e| unreadable(&e.to_string()))?,
            other => return Err(unreadable(&format!("it is compressed by {other:?}"))),
        };
        room = room.checked_sub(text.len()).ok_or_else(|| unreadable("the modules of the jar are too long"))?;
        if rawzip::crc32(&text) != entry.crc32() {
            return Err(unreadable("its checksum is wrong"));
        }
        let text = String::from_utf8(text).map_err(|_| unreadable("it is not UTF-8 text"))?;
        modules.insert(module.to_owned(), text);
    }
    Ok(modules)
}

/// What a jar is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JarKind {
    /// It has TLC.
    Tools,
    /// It has modules in its root.
    Library,
}

impl JarKind {
    /// By the names of what is in the jar; the error says why it is neither.
    pub fn of(bytes: &[u8]) -> Result<Self, String> {
        let unusual = |e: rawzip::Error| format!("it is no jar: {e}");
        let archive = ZipArchive::from_slice(bytes).map_err(unusual)?;
        let mut entries = archive.entries();
        let mut kind = Err("it has neither TLC nor modules in its root".to_owned());
        while let Some(entry) = entries.next_entry().map_err(unusual)? {
            let name = String::from_utf8_lossy(entry.file_path().as_ref()).into_owned();
            if name == "tlc2/TLC.class" {
                return Ok(Self::Tools);
            }
            if module_in_root(&name).is_some() {
                kind = Ok(Self::Library);
            }
        }
        kind
    }
}
