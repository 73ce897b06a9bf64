//! Libraries: folders and jars with modules that are not beside the specification. Jars are read once, before any tool
//! runs. This module does not know where the list of libraries comes from.

use std::collections::{BTreeMap, BTreeSet};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rawzip::{CompressionMethod, ZipArchive};
use tlaforge_files as files;
use tlaforge_tla::semantic::is_in_every_tools_jar;

use super::community;

/// Maximum number of modules in a jar. Java overrides and other files do not count.
const MAX_MODULES: usize = 10_000;

/// Why a library cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("cannot use the library {}: {what}", path.display())]
pub struct LibraryError {
    pub path: PathBuf,
    pub what: String,
}

/// A module that a specification needs exists and cannot be read. The search ends with this error, because the module of
/// the next library may be another one.
#[derive(Debug, thiserror::Error)]
#[error("cannot read the module {}: {source}", path.display())]
pub struct UnreadableModule {
    pub path: PathBuf,
    pub source: std::io::Error,
}

/// The text of a module by the result of reading its file; `None` if there is no such file.
pub(super) fn unless_absent(path: PathBuf, read: std::io::Result<String>) -> Result<Option<String>, UnreadableModule> {
    match read {
        Ok(text) => Ok(Some(text)),
        Err(source) if source.kind() == ErrorKind::NotFound => Ok(None),
        Err(source) => Err(UnreadableModule { path, source }),
    }
}

/// The libraries in the order in which they are searched.
#[derive(Debug, Clone, Default)]
pub struct Libraries {
    all: Arc<Vec<Library>>,
}

/// Where a module is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ModulePlace {
    File(PathBuf),
    /// The jar that has it.
    Jar(PathBuf),
}

#[derive(Debug)]
struct Library {
    path: PathBuf,
    /// `None` for a folder, which is read when a module is looked up.
    jar: Option<Jar>,
}

#[derive(Debug)]
struct Jar {
    /// Name and text of the modules in its root.
    modules: BTreeMap<String, String>,
    /// Names of the modules with operators that TLC evaluates by Java code of this jar.
    overridden: BTreeSet<String>,
    sha256: files::Sha,
}

impl Library {
    fn file(&self, module: &str) -> PathBuf {
        self.path.join(format!("{module}.tla"))
    }
}

impl Libraries {
    pub fn open(paths: &[PathBuf]) -> Result<Self, LibraryError> {
        let open = |path: &PathBuf| {
            // Tools run in folders of their own.
            let absolute = std::path::absolute(path).unwrap_or_else(|_| path.clone());
            let jar = if absolute.is_dir() { None } else { Some(Jar::read(&absolute)) };
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
    pub fn jars(&self) -> impl Iterator<Item = &Path> {
        self.all.iter().filter(|library| library.jar.is_some()).map(|library| library.path.as_path())
    }

    /// The checksums of the jars. Their Java code can change a verdict that the modules do not change.
    pub fn jar_checksums(&self) -> impl Iterator<Item = &files::Sha> {
        self.all.iter().filter_map(|library| Some(&library.jar.as_ref()?.sha256))
    }

    /// The text of a module, after all libraries that of our own module of this name. As in TLC, no library replaces a
    /// standard module.
    pub(super) fn find(&self, name: &str) -> Result<Option<String>, UnreadableModule> {
        if is_in_every_tools_jar(name) {
            return Ok(None);
        }
        for library in self.all.iter() {
            let found = match &library.jar {
                Some(jar) => jar.modules.get(name).cloned(),
                None => {
                    let file = library.file(name);
                    let read = files::read_text_within(&library.path, &file, files::MEDIUM);
                    unless_absent(file, read)?
                }
            };
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(community::find(name).map(str::to_owned))
    }

    /// Where a module is found.
    pub fn place_of(&self, name: &str) -> Option<ModulePlace> {
        self.all.iter().find_map(|library| match &library.jar {
            Some(jar) => jar.modules.contains_key(name).then(|| ModulePlace::Jar(library.path.clone())),
            None => Some(library.file(name)).filter(|file| file.is_file()).map(ModulePlace::File),
        })
    }

    /// The first of these modules that TLC evaluates by Java code, and the jar with that code. The definitions in TLA+ can
    /// be mere stubs.
    pub(super) fn find_override<'a>(
        &'a self,
        mut modules: impl Iterator<Item = &'a str>,
    ) -> Option<(&'a str, &'a Path)> {
        let of_module = |name: &'a str| {
            let has_override =
                |library: &&Library| library.jar.as_ref().is_some_and(|jar| jar.overridden.contains(name));
            self.all.iter().find(has_override).map(|library| (name, library.path.as_path()))
        };
        modules.find_map(of_module)
    }
}

/// The name of the module in this entry of a jar, unless the entry is another file or is in a folder.
fn module_in_root(entry: &str) -> Option<&str> {
    entry.strip_suffix(".tla").filter(|module| !module.contains(['/', '\\']))
}

/// The name of the module that a class in this entry of a jar overrides: TLC looks for a class with the name of the module,
/// and `CommunityModules` have theirs in `tlc2/overrides`.
fn overridden_module(entry: &str) -> Option<&str> {
    let class = entry.strip_suffix(".class")?;
    let name = class.strip_prefix("tlc2/overrides/").unwrap_or(class);
    (!name.contains('/')).then_some(name)
}

impl Jar {
    /// Reads the modules in the root of a jar, which is where TLC looks for them.
    fn read(path: &Path) -> Result<Self, String> {
        let bytes = files::read(path, files::LARGE).map_err(|e| match e.kind() {
            ErrorKind::NotFound => "there is no such folder or jar".to_owned(),
            _ => e.to_string(),
        })?;
        if path.as_os_str().as_encoded_bytes().contains(&b':') {
            return Err("its path contains a colon, which separates the entries of a class path; rename it".to_owned());
        }
        let not_a_jar = |e: rawzip::Error| format!("it is neither a folder nor a jar: {e}");
        let archive = ZipArchive::from_slice(&bytes).map_err(not_a_jar)?;
        let mut entries = archive.entries();
        let (mut modules, mut overridden) = (BTreeMap::new(), BTreeSet::new());
        // For all modules together, because a small jar can inflate to any length.
        let mut room = usize::try_from(files::MEDIUM).unwrap_or(usize::MAX);
        // Entries can share their packed bytes, and would be inflated again and again.
        let mut packed_room = bytes.len();
        while let Some(entry) = entries.next_entry().map_err(not_a_jar)? {
            let name = String::from_utf8_lossy(entry.file_path().as_ref()).into_owned();
            overridden.extend(overridden_module(&name).map(str::to_owned));
            let Some(module) = module_in_root(&name) else { continue };
            let packed = archive.get_entry(entry.wayfinder()).map_err(not_a_jar)?;
            let unreadable = |what: &str| format!("{name} in it cannot be read: {what}");
            packed_room =
                packed_room.checked_sub(packed.data().len()).ok_or_else(|| unreadable("its entries overlap"))?;
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
            if modules.len() > MAX_MODULES {
                return Err(format!("it has more than {MAX_MODULES} modules"));
            }
        }
        Ok(Self { modules, overridden, sha256: files::Sha::digest(&bytes) })
    }
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
    pub fn detect(bytes: &[u8]) -> Result<Self, String> {
        let not_a_jar = |e: rawzip::Error| format!("it is no jar: {e}");
        let archive = ZipArchive::from_slice(bytes).map_err(not_a_jar)?;
        let mut entries = archive.entries();
        let mut kind = Err("it has neither TLC nor modules in its root".to_owned());
        while let Some(entry) = entries.next_entry().map_err(not_a_jar)? {
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
