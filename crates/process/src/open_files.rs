//! How many files, and so connections, this process may have open.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Enough for tens of thousands of connections. Not more, because children inherit the limit, and some programs close every
/// possible file when they start.
const WANTED: u64 = 65_536;

/// Raises the soft limit, often 1,024, to 65,536 or to the hard limit, which only an administrator can raise. Without effect if the
/// system refuses.
pub fn allow_many_open_files() {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let raised = maximum.map_or(WANTED, |hard| hard.min(WANTED));
    if current.is_some_and(|now| now < raised) {
        let _ = setrlimit(Resource::Nofile, Rlimit { current: Some(raised), maximum });
    }
}
