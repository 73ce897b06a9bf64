//! Whether a file came by rename. Its times do not tell: a rename right after the last write falls into the same tick,
//! and a change of mode looks like one. Linux tells what happens in a folder; elsewhere, or where it cannot be watched,
//! nothing is known to have come by rename.

use std::path::Path;

#[cfg(target_os = "linux")]
pub(super) use linux::Renames;

#[cfg(target_os = "linux")]
mod linux {
    use std::mem::MaybeUninit;
    use std::os::fd::OwnedFd;

    use rustix::fs::inotify::{CreateFlags, ReadFlags, Reader, WatchFlags, add_watch, init};

    use super::Path;

    /// Watches one name in a folder.
    #[derive(Debug)]
    pub(in super::super) struct Renames {
        watch: Option<OwnedFd>,
        name: &'static str,
        renamed: bool,
    }

    impl Renames {
        pub(in super::super) fn of(folder: &Path, name: &'static str) -> Self {
            let events = WatchFlags::MOVED_TO
                | WatchFlags::MOVED_FROM
                | WatchFlags::CREATE
                | WatchFlags::MODIFY
                | WatchFlags::DELETE;
            let watch = init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC)
                .and_then(|watch| add_watch(&watch, folder, events).map(|_| watch));
            Self { watch: watch.ok(), name, renamed: false }
        }

        /// Whether a rename is the last thing that happened to the name.
        pub(in super::super) fn renamed(&mut self) -> bool {
            let Some(watch) = &self.watch else { return false };
            let mut buffer = [MaybeUninit::uninit(); 4096];
            let mut events = Reader::new(watch, &mut buffer);
            while let Ok(event) = events.next() {
                if event.events().contains(ReadFlags::QUEUE_OVERFLOW) {
                    self.renamed = false;
                } else if event.file_name().is_some_and(|name| name.to_bytes() == self.name.as_bytes()) {
                    self.renamed = event.events().contains(ReadFlags::MOVED_TO);
                }
            }
            self.renamed
        }
    }
}

/// Without a watch.
#[cfg(not(target_os = "linux"))]
#[derive(Debug)]
pub(super) struct Renames;

#[cfg(not(target_os = "linux"))]
impl Renames {
    pub(super) fn of(_folder: &Path, _name: &'static str) -> Self {
        Self
    }

    pub(super) fn renamed(&mut self) -> bool {
        false
    }
}
