//! How many files, and so connections, this process may have open.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Enough for some thousand connections. A program that closes every number it could have open would be slow with more.
const WANTED: u64 = 65_536;

/// Raises the soft limit, often 1,024, towards the hard one, which only an administrator can change. Children inherit it.
/// Without effect if the system refuses.
pub fn allow_many_open_files() {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let raised = maximum.map_or(WANTED, |hard| hard.min(WANTED));
    if current.is_some_and(|now| now < raised) {
        let _ = setrlimit(Resource::Nofile, Rlimit { current: Some(raised), maximum });
    }
}
