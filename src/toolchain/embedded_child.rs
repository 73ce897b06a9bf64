//! The checker that this program carries. It keeps one specification a process and knows no limits, so the program
//! starts itself once more, with [`CHECKER_MARKER`](super::CHECKER_MARKER) in the environment and the checker's arguments; that child is the
//! checker and nothing else.

use std::ffi::OsStr;
use std::process::ExitCode;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::static_checks_child::{STATIC_CHECKS_PREFIX, serve_task};

/// Its parser recurses over the specification.
const STACK: usize = 64 << 20;

/// Runs the checker on the arguments of this process; `memory` is the marker's value. Behind
/// `STATIC_CHECKS_PREFIX`, the child does static checks instead.
pub fn become_checker(memory: &OsStr) -> ExitCode {
    let value = memory.to_str().unwrap_or("");
    let (is_checker, memory) = match value.strip_prefix(STATIC_CHECKS_PREFIX) {
        Some(memory) => (false, memory),
        None => (true, value),
    };
    // A value that is no number bounds nothing; only our own program sets it.
    if let Ok(bytes) = memory.parse() {
        set_limit(Resource::Data, bytes);
    }
    set_limit(Resource::Core, 0);
    // A thread that panics would leave the others waiting for it.
    let tell = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |what| {
        tell(what);
        std::process::abort();
    }));
    let work = move || {
        if is_checker { tla_mc::cli::main(None) } else { serve_task() }
    };
    let checker = std::thread::Builder::new().stack_size(STACK).spawn(work);
    checker.ok().and_then(|thread| thread.join().ok()).unwrap_or(ExitCode::from(NO_THREAD))
}

/// The status where the system gives no thread for the checker; it has none such itself.
const NO_THREAD: u8 = 71;

fn set_limit(what: Resource, bytes: u64) {
    let hard = getrlimit(what).maximum;
    let bytes = hard.map_or(bytes, |hard| hard.min(bytes));
    // Where the system refuses a limit the deadline still stands.
    let _ = setrlimit(what, Rlimit { current: Some(bytes), maximum: Some(bytes) });
}
