//! Detects whether a file was put into place by a rename. Its time stamps cannot show it: a rename right after the last
//! write falls into the same clock tick, and a change of mode looks the same. Linux reports the events of a folder
//! (inotify). On other systems, or if the folder cannot be watched, no rename is detected.

use std::path::Path;

#[cfg(target_os = "linux")]
pub(super) use linux::RenameWatch;

#[cfg(target_os = "linux")]
mod linux {
    use std::mem::MaybeUninit;
    use std::os::fd::OwnedFd;

    use rustix::fs::inotify::{CreateFlags, ReadFlags, Reader, WatchFlags, add_watch, init};

    use super::Path;

    /// Watches one file name in a folder.
    #[derive(Debug)]
    pub(in super::super) struct RenameWatch {
        watch: Option<OwnedFd>,
        name: &'static str,
        renamed: bool,
    }

    impl RenameWatch {
        pub(in super::super) fn new(folder: &Path, name: &'static str) -> Self {
            let events = WatchFlags::MOVED_TO
                | WatchFlags::MOVED_FROM
                | WatchFlags::CREATE
                | WatchFlags::MODIFY
                | WatchFlags::DELETE;
            // NONBLOCK, because `was_renamed` reads until no event is left; CLOEXEC, because a child must not inherit
            // the watch.
            let watch = init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC)
                .and_then(|watch| add_watch(&watch, folder, events).map(|_| watch));
            Self { watch: watch.ok(), name, renamed: false }
        }

        /// Whether a rename was the last event for the name.
        pub(in super::super) fn was_renamed(&mut self) -> bool {
            let Some(watch) = &self.watch else { return false };
            let mut buffer = [MaybeUninit::uninit(); 4096];
            let mut events = Reader::new(watch, &mut buffer);
            while let Ok(event) = events.next() {
                // After an overflow events are missing, so the last one is unknown.
                if event.events().contains(ReadFlags::QUEUE_OVERFLOW) {
                    self.renamed = false;
                } else if event.file_name().is_some_and(|name| name.to_bytes() == self.name.as_bytes()) {
                    // The last event decides: a write after a rename makes the file incomplete again.
                    self.renamed = event.events().contains(ReadFlags::MOVED_TO);
                }
            }
            self.renamed
        }
    }
}

/// Without inotify, no rename is detected.
#[cfg(not(target_os = "linux"))]
#[derive(Debug)]
pub(super) struct RenameWatch;

#[cfg(not(target_os = "linux"))]
impl RenameWatch {
    pub(super) fn new(_folder: &Path, _name: &'static str) -> Self {
        Self
    }

    pub(super) fn was_renamed(&mut self) -> bool {
        false
    }
}
