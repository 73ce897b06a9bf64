//! Opens files in a folder that may have come from elsewhere, such as a downloaded run. No part of a path below the folder may
//! be a link: its target may be a file of the user, whose text would be sent to a model or shown.

use std::fs::File;
use std::io::{Error, ErrorKind, Result};
use std::os::fd::OwnedFd;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, openat, statat};
use rustix::io::Errno;

use super::reading::{read_file, require_regular, text};

/// Opens a regular file for reading without blocking. `path` must begin with `folder`.
pub fn open_below(folder: &Path, path: &Path) -> Result<File> {
    let mut parts = parts_below(folder, path)?;
    let Some(last) = parts.pop() else { return Err(outside_error(folder, path)) };
    let parent = open_folders(folder, &parts)?;
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    // Before it is opened: opening a device has side effects.
    let kind = FileType::from_raw_mode(statat(&parent, last.as_path(), AtFlags::SYMLINK_NOFOLLOW)?.st_mode);
    match kind {
        FileType::RegularFile => {}
        FileType::Symlink => return Err(link_error(&last)),
        FileType::Directory => return Err(Error::new(ErrorKind::IsADirectory, "it is a folder; give a regular file")),
        FileType::Fifo => return Err(Error::new(ErrorKind::InvalidInput, "it is a named pipe; give a regular file")),
        _ => return Err(Error::new(ErrorKind::InvalidInput, "it is a device or a socket; give a regular file")),
    }
    let file = File::from(openat(&parent, last.as_path(), flags, Mode::empty()).map_err(|e| open_error(e, &last))?);
    require_regular(file.metadata()?.file_type())?;
    Ok(file)
}

/// Reads a regular file of at most `limit` bytes, as [`open_below`] opens it.
pub fn read_below(folder: &Path, path: &Path, limit: u64) -> Result<Vec<u8>> {
    read_file(&mut open_below(folder, path)?, limit)
}

/// Reads a regular file of at most `limit` bytes as UTF-8, as [`open_below`] opens it.
pub fn read_text_below(folder: &Path, path: &Path, limit: u64) -> Result<String> {
    text(read_below(folder, path, limit)?)
}

/// Checks that nothing of `path` below `folder` is a link, before something is written or removed there. What does not exist
/// yet is no link.
pub fn check_below(folder: &Path, path: &Path) -> Result<()> {
    let mut at = folder.to_owned();
    for part in parts_below(folder, path)? {
        at.push(&part);
        match std::fs::symlink_metadata(&at) {
            Ok(meta) if meta.is_symlink() => return Err(link_error(&part)),
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Creates a folder below `folder`, with the folders above it, and follows no link.
pub fn create_folder_below(folder: &Path, path: &Path) -> Result<()> {
    check_below(folder, path)?;
    std::fs::create_dir_all(path)
}

/// The parts of `path` below `folder`.
fn parts_below(folder: &Path, path: &Path) -> Result<Vec<PathBuf>> {
    let below = path.strip_prefix(folder).map_err(|_| outside_error(folder, path))?;
    let name = |part: Component<'_>| match part {
        Component::Normal(name) => Some(PathBuf::from(name)),
        _ => None,
    };
    below.components().map(name).collect::<Option<_>>().ok_or_else(|| outside_error(folder, path))
}

/// Opens `folder`, which may be a link itself, because the user named it, and in it one folder after the other.
fn open_folders(folder: &Path, parts: &[PathBuf]) -> Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let mut at = openat(CWD, folder, flags, Mode::empty())?;
    for part in parts {
        at = openat(&at, part.as_path(), flags | OFlags::NOFOLLOW, Mode::empty()).map_err(|error| {
            // The kernel's error for a link depends on the system and the flags.
            let meta = statat(&at, part.as_path(), AtFlags::SYMLINK_NOFOLLOW);
            let is_a_link = meta.is_ok_and(|meta| FileType::from_raw_mode(meta.st_mode) == FileType::Symlink);
            if is_a_link { link_error(part) } else { error.into() }
        })?;
    }
    Ok(at)
}

fn open_error(error: Errno, part: &Path) -> Error {
    if error == Errno::LOOP { link_error(part) } else { error.into() }
}

fn link_error(part: &Path) -> Error {
    let what = format!("{} is a link, and could lead out of the folder; put a copy in its place", part.display());
    Error::new(ErrorKind::PermissionDenied, what)
}

fn outside_error(folder: &Path, path: &Path) -> Error {
    Error::new(ErrorKind::PermissionDenied, format!("{} is not below {}", path.display(), folder.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn no_link_below_a_folder_is_followed() {
        let (dir, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let own = dir.path().join("own");
        let at = |name: &str| own.join(name);
        std::fs::create_dir_all(at("sub/deep")).unwrap();
        std::fs::write(at("sub/deep/text"), "text").unwrap();
        std::fs::write(other.path().join("secret"), "secret").unwrap();
        std::fs::create_dir(other.path().join("folder")).unwrap();
        symlink(other.path().join("secret"), at("out")).unwrap();
        symlink(other.path(), at("outside")).unwrap();
        symlink(other.path(), at("sub/outside")).unwrap();
        symlink("sub/deep/text", at("inside")).unwrap();
        symlink("none", at("dangling")).unwrap();
        symlink("loop", at("loop")).unwrap();
        symlink("/dev/zero", at("endless")).unwrap();
        rustix::fs::mknodat(CWD, at("pipe"), FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
        std::os::unix::net::UnixListener::bind(at("socket")).unwrap();
        // The folder itself may be a link: the user named it.
        symlink(&own, dir.path().join("link")).unwrap();
        for folder in [own.clone(), dir.path().join("link")] {
            let read = |name: &str| read_text_below(&folder, &folder.join(name), 100).map_err(|e| e.to_string());
            assert_eq!(read("sub/deep/text").unwrap(), "text");
            for (name, words) in [
                ("out", "a link"),
                ("outside/secret", "a link"),
                ("sub/outside/secret", "a link"),
                ("inside", "a link"),
                ("dangling", "a link"),
                ("loop", "a link"),
                ("endless", "a link"),
                ("pipe", "a named pipe"),
                ("socket", "a socket"),
                ("sub", "a folder"),
                ("", "is not below"),
                ("../own/sub/deep/text", "is not below"),
                ("/etc/passwd", "is not below"),
            ] {
                assert!(read(name).unwrap_err().contains(words), "{name}: {:?}", read(name));
            }
            assert!(read_below(&folder, &folder.join("sub/deep/text"), 3).is_err(), "it is too long");
            let kind = |name: &str| open_below(&folder, &folder.join(name)).unwrap_err().kind();
            assert_eq!((kind("none"), kind("none/none")), (ErrorKind::NotFound, ErrorKind::NotFound));
            for name in ["out", "outside/new", "sub/outside/folder", "inside", "dangling", "..", "/etc"] {
                assert!(check_below(&folder, &folder.join(name)).is_err(), "{name}");
                assert!(create_folder_below(&folder, &folder.join(name).join("new")).is_err(), "{name}");
            }
            for name in ["", "sub/deep", "sub/new/newer", "new"] {
                assert!(check_below(&folder, &folder.join(name)).is_ok(), "{name}");
            }
            create_folder_below(&folder, &folder.join("made/inside")).unwrap();
        }
        assert_eq!(std::fs::read_dir(other.path()).unwrap().count(), 2, "nothing was created there");
    }
}
