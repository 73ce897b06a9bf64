//! The child's side of [`Command::ends_with_parent`](super::Command::ends_with_parent): a child of our own program that
//! ends itself when its parent ends, so that it needs no watch.
//!
//! The kernel closes the files of a dead process, so standard input is at its end as soon as the parent is gone. On Linux a
//! parent-death signal would do the same, but it is sent when the *thread* ends that started the child, and a runtime's
//! worker threads end before the process does.

use std::os::fd::AsFd as _;
use std::thread::Builder;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::process::{Signal, getpid, kill_process};

/// Runs `work` on a thread with a stack of this many bytes. Kills this process if its parent ends first: the parent holds
/// the other end of standard input, which `work` may read up to a length that it knows. Returns `None` if the system gives
/// no thread.
pub fn run_while_parent_lives<T: Send + 'static>(stack: usize, work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    let (ends, held_by_work) = std::io::pipe().ok()?;
    let work = move || {
        let _held = held_by_work;
        work()
    };
    let worker = Builder::new().stack_size(stack).spawn(work).ok()?;
    let stdin = std::io::stdin();
    loop {
        // Without a requested event, only the end of the other side is reported.
        let mut watched = [stdin.as_fd(), ends.as_fd()].map(|end| PollFd::from_borrowed_fd(end, PollFlags::empty()));
        match poll(&mut watched, None) {
            Err(Errno::INTR) => {}
            Ok(_) if !watched[1].revents().is_empty() => return worker.join().ok(),
            Ok(_) if watched[0].revents().is_empty() => {}
            Ok(_) | Err(_) => {
                // Not an exit: that would wait for locks that `work` may hold.
                let _ = kill_process(getpid(), Signal::KILL);
            }
        }
    }
}
