//! Writes that a crash cannot leave half done.

use std::fs::File;
use std::io::Write as _;
use std::path::Path;

use tempfile::NamedTempFile;

/// Writes a file under a temporary name in the same folder, syncs it to the disk and renames it, so that a crash leaves
/// either the old or the new content.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    // The rename would replace a device or a named pipe by a file.
    if path.metadata().is_ok_and(|there| !there.is_file()) {
        return Err(std::io::Error::new(std::io::ErrorKind::InvalidInput, "it is not a regular file"));
    }
    let (dir, file) = write_beside(path, bytes)?;
    file.persist(path).map_err(|e| e.error)?;
    // The rename is durable only after its folder is synced.
    File::open(dir)?.sync_all()
}

/// Like [`write_atomically`], but fails with `AlreadyExists` if there is a file, also if another process creates it meanwhile.
pub fn create_atomically(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let (dir, file) = write_beside(path, bytes)?;
    file.persist_noclobber(path).map_err(|e| e.error)?;
    File::open(dir)?.sync_all()
}

/// A durable file under a temporary name in the folder of `path`, and that folder.
fn write_beside<'a>(path: &'a Path, bytes: &[u8]) -> std::io::Result<(&'a Path, NamedTempFile)> {
    let dir = path.parent().ok_or_else(|| std::io::Error::other("no parent folder"))?;
    let mut file = tempfile::Builder::new().prefix(".new-").tempfile_in(dir)?;
    file.write_all(bytes)?;
    file.as_file().sync_data()?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // A temporary file is readable by its owner only.
        file.as_file().set_permissions(std::fs::Permissions::from_mode(0o644))?;
    }
    Ok((dir, file))
}
