//! Files of results that the user names.

use std::path::Path;

use super::failure::Failure;
use crate::journal::write_atomically;

/// Why a file cannot be written; `None` if it can, as far as is known before it is.
pub(super) fn unwritable_reason(path: &Path) -> Option<String> {
    if path.is_dir() || path.file_name().is_none() {
        return Some("it is a folder".to_owned());
    }
    if path.metadata().is_ok_and(|there| !there.is_file() || there.permissions().readonly()) {
        return Some("it is not a writable file".to_owned());
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if !folder.is_dir() {
        return Some("its folder does not exist".to_owned());
    }
    tempfile::Builder::new().prefix(".new-").tempfile_in(folder).err().map(|error| error.kind().to_string())
}

pub(super) fn write_file(path: &Path, text: &str) -> Result<(), Failure> {
    let file = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    write_atomically(&file, text.as_bytes()).map_err(|e| {
        Failure::usage(format!("cannot write {}: {e}", path.display())).hint("name a file in an existing folder")
    })
}
