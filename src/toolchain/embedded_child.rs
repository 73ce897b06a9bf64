//! The process that is the embedded checker. `tla-mc` keeps one specification per process and has no memory or time
//! limit, so our program starts itself with [`CHECKER_MARKER`](super::CHECKER_MARKER) in the environment and the
//! checker's arguments.

use std::ffi::OsStr;
use std::process::ExitCode;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::static_checks_child::{STATIC_CHECKS_PREFIX, serve_task};

/// Stack in bytes: the checker's parser recurses over the specification.
const STACK: usize = 64 << 20;

/// Runs the checker on the arguments of this process, or static checks if the marker's value `memory` begins with
/// `STATIC_CHECKS_PREFIX`.
pub fn become_checker(memory: &OsStr) -> ExitCode {
    let value = memory.to_str().unwrap_or("");
    let (is_checker, memory) = match value.strip_prefix(STATIC_CHECKS_PREFIX) {
        Some(memory) => (false, memory),
        None => (true, value),
    };
    // A value that is no number sets no limit; only our own program sets it.
    if let Ok(bytes) = memory.parse() {
        set_limit(Resource::Data, bytes);
    }
    set_limit(Resource::Core, 0);
    // Without the abort, a thread that panics would leave the others waiting for it.
    let default_hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        default_hook(info);
        std::process::abort();
    }));
    let work = move || {
        if is_checker { tla_mc::cli::main(None) } else { serve_task() }
    };
    let checker = std::thread::Builder::new().stack_size(STACK).spawn(work);
    checker.ok().and_then(|thread| thread.join().ok()).unwrap_or(ExitCode::from(NO_THREAD))
}

/// Exit status if the system gives no thread for the checker, which never uses it itself.
const NO_THREAD: u8 = 71;

fn set_limit(what: Resource, bytes: u64) {
    let hard = getrlimit(what).maximum;
    let bytes = hard.map_or(bytes, |hard| hard.min(bytes));
    // If the system refuses the limit, the deadline still applies.
    let _ = setrlimit(what, Rlimit { current: Some(bytes), maximum: Some(bytes) });
}
