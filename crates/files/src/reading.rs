//! Opens files that a user, a settings file or a downloaded folder names. Only regular files are opened, and each is read
//! up to a limit: a named pipe blocks forever, and a device never ends. It must not know what the files mean.

use std::fs::{File, OpenOptions};
use std::io::{Error, ErrorKind, Read as _, Result};
use std::os::unix::fs::{FileTypeExt as _, OpenOptionsExt as _};
use std::path::Path;

use rustix::fs::OFlags;

/// Limit for texts that a person writes: settings, prompts, exemplars, policies, price tables.
pub const SMALL: u64 = 4 << 20;
/// Limit for modules, configurations, recorded labels and results.
pub const MEDIUM: u64 = 32 << 20;
/// Limit for artifacts and other files of a run. A large trace of a checker has tens of MiB.
pub const LARGE: u64 = 256 << 20;
/// Limit for journals and other logs that are read as a whole.
pub const LOG: u64 = 2 << 30;

/// Opens a regular file for reading. Never blocks.
pub fn open(path: &Path) -> Result<File> {
    open_with(path, OpenOptions::new().read(true))
}

/// Opens a regular file with these options. Never blocks. The check before the call avoids the side effects of opening a
/// device; the check after it decides.
pub fn open_with(path: &Path, options: &OpenOptions) -> Result<File> {
    if let Ok(meta) = std::fs::metadata(path) {
        require_regular(meta.file_type())?;
    }
    let flags = (OFlags::NONBLOCK | OFlags::NOCTTY).bits();
    let file = options.clone().custom_flags(i32::try_from(flags).unwrap_or_default()).open(path)?;
    require_regular(file.metadata()?.file_type())?;
    Ok(file)
}

/// Opens a file of our own in a folder that may have come from elsewhere, for reading and writing. A link is refused: its
/// target may be a file of the user.
pub fn open_own(path: &Path) -> Result<File> {
    if std::fs::symlink_metadata(path).is_ok_and(|meta| meta.is_symlink()) {
        return Err(Error::new(
            ErrorKind::InvalidInput,
            "it is a link, and would be written to; put a regular file in its place",
        ));
    }
    open_with(path, OpenOptions::new().read(true).write(true).create(true).truncate(false))
}

pub(super) fn require_regular(kind: std::fs::FileType) -> Result<()> {
    let what = match () {
        () if kind.is_file() => return Ok(()),
        () if kind.is_dir() => "a folder",
        () if kind.is_fifo() => "a named pipe",
        () if kind.is_socket() => "a socket",
        () => "a device",
    };
    Err(Error::new(ErrorKind::InvalidInput, format!("it is {what}; give a regular file (copy the content into one)")))
}

/// Reads a regular file of at most `limit` bytes.
pub fn read(path: &Path, limit: u64) -> Result<Vec<u8>> {
    read_file(&mut open(path)?, limit)
}

/// Reads an open file of at most `limit` bytes. The size that the file system reports is checked first, so that a huge file
/// costs no time; files such as those in `/proc` report 0, so the bytes are counted as well.
pub fn read_file(file: &mut File, limit: u64) -> Result<Vec<u8>> {
    let too_large = || {
        let what = format!("it is larger than {} MiB, the limit for such a file; give a smaller one", limit >> 20);
        Error::new(ErrorKind::FileTooLarge, what)
    };
    let size = file.metadata()?.len();
    if size > limit {
        return Err(too_large());
    }
    let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or_default());
    file.by_ref().take(limit + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit { Err(too_large()) } else { Ok(bytes) }
}

/// Reads a regular file of at most `limit` bytes as UTF-8.
pub fn read_text(path: &Path, limit: u64) -> Result<String> {
    text(read(path, limit)?)
}

pub(super) fn text(bytes: Vec<u8>) -> Result<String> {
    String::from_utf8(bytes).map_err(|e| {
        let at = e.utf8_error().valid_up_to();
        Error::new(ErrorKind::InvalidData, format!("it is not UTF-8 text (byte {})", at + 1))
    })
}

/// Reads a text below `folder` that may be sent to a model. A link that leads out of the folder is an error.
pub fn read_text_within(folder: &Path, path: &Path, limit: u64) -> Result<String> {
    let resolved = std::fs::canonicalize(path)?;
    if !resolved.starts_with(std::fs::canonicalize(folder)?) {
        let what = format!("it leads out of {}; copy the file into that folder", folder.display());
        return Err(Error::new(ErrorKind::PermissionDenied, what));
    }
    text(read(&resolved, limit)?)
}

/// Checks that `path` still names this open file. Writes to a file that was removed or replaced are lost.
pub fn check_in_place(file: &File, path: &Path) -> Result<()> {
    use std::os::unix::fs::MetadataExt as _;
    let gone = |what: &str| {
        Error::new(
            ErrorKind::NotFound,
            format!("it was {what} while this process was using it; put it back, then resume"),
        )
    };
    let named = match std::fs::symlink_metadata(path) {
        Ok(named) => named,
        Err(e) if e.kind() == ErrorKind::NotFound => return Err(gone("removed")),
        Err(e) => return Err(e),
    };
    let own = file.metadata()?;
    if (named.dev(), named.ino()) == (own.dev(), own.ino()) { Ok(()) } else { Err(gone("replaced")) }
}

/// Whether a relative path names a file below the folder that it is joined to, whatever is on the disk: it has no `..`, no root
/// and no empty name.
pub fn stays_below(path: &str) -> bool {
    use std::path::Component;
    !path.is_empty() && Path::new(path).components().all(|part| matches!(part, Component::Normal(_)))
}

/// Whether `path`, with every link followed, is `folder` or below it. If it does not exist, only its components are checked.
pub fn is_within(folder: &Path, path: &Path) -> bool {
    use std::path::Component;
    match (std::fs::canonicalize(folder), std::fs::canonicalize(folder.join(path))) {
        (Ok(folder), Ok(path)) => path.starts_with(folder),
        _ => path.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    use std::os::unix::fs::symlink;

    #[test]
    fn a_path_that_leads_out_of_its_folder_does_not_stay_below() {
        for path in ["", ".", "..", "../x", "a/../../x", "a/..", "/x", "./x", "a/./../x"] {
            assert!(!stays_below(path), "{path}");
        }
        for path in ["x", "a/x", "a//x", "..x", "a..b/x..", "a/./x"] {
            assert!(stays_below(path), "{path}");
        }
    }

    #[test]
    fn only_regular_files_up_to_the_limit_are_read() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        mknodat(CWD, at("pipe"), FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
        symlink("/dev/zero", at("endless")).unwrap();
        File::create(at("huge")).unwrap().set_len(1 << 40).unwrap();
        std::fs::write(at("text"), "text").unwrap();
        std::fs::write(at("latin"), [b'a', 0xe9]).unwrap();
        let error = |name: &str| read_text(&at(name), SMALL).unwrap_err().to_string();
        for (name, words) in [
            ("pipe", "a named pipe"),
            ("endless", "a device"),
            ("huge", "larger than 4 MiB"),
            (".", "a folder"),
            ("latin", "not UTF-8 text (byte 2)"),
        ] {
            assert!(error(name).contains(words), "{name}: {}", error(name));
        }
        assert_eq!(read_text(&at("none"), SMALL).unwrap_err().kind(), ErrorKind::NotFound);
        assert_eq!(read_text(&at("text"), 4).unwrap(), "text");
        assert_eq!(read_text(&at("text"), 3).unwrap_err().kind(), ErrorKind::FileTooLarge);
        assert!(read(Path::new("/proc/self/status"), 10).is_err(), "its size is reported as 0");
        symlink(at("text"), at("link")).unwrap();
        assert!(open_own(&at("link")).unwrap_err().to_string().contains("a link"));
        assert!(open_own(&at("pipe")).is_err());
        assert!(open_own(&at("new")).is_ok());
    }

    #[test]
    fn a_link_may_not_lead_out_of_its_folder() {
        let (dir, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let at = |name: &str| dir.path().join(name);
        std::fs::write(other.path().join("secret"), "secret").unwrap();
        std::fs::write(at("own"), "own").unwrap();
        std::fs::create_dir(at("sub")).unwrap();
        symlink(other.path().join("secret"), at("out")).unwrap();
        symlink(other.path(), at("outside")).unwrap();
        symlink("../own", at("sub/in")).unwrap();
        let read = |name: &str| read_text_within(dir.path(), &at(name), SMALL);
        assert!(read("out").unwrap_err().to_string().contains("it leads out of"));
        assert!(read("outside/secret").is_err());
        assert_eq!(read("sub/in").unwrap(), "own");
        assert!(is_within(dir.path(), Path::new("own")) && is_within(dir.path(), Path::new("not/yet")));
        for out in ["out", "..", "/etc", "../none", "/none", "outside/none/../x"] {
            assert!(!is_within(dir.path(), Path::new(out)), "{out}");
        }
    }
}
