//! The process that is the embedded checker. `tla-mc` keeps one specification per process and has no memory or time
//! limit, so our program starts itself with [`CHECKER_MARKER`](super::CHECKER_MARKER) in the environment and the
//! checker's arguments.

use std::ffi::OsStr;
use std::process::ExitCode;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use tlaforge_process::run_while_parent_lives;

use super::static_checks_child::{self, STATIC_CHECKS_PREFIX};
use super::{
    explanation, explanation_child, past_violations, past_violations_child, state_graph, state_graph_child, stepper,
    stepper_child,
};

/// Stack in bytes: the checker's parser recurses over the specification.
const STACK: usize = 64 << 20;

/// Runs the checker on the arguments of this process. The marker's value `memory` begins with a prefix if the child runs past
/// violations, lists states or does static checks instead; it then reads its task from standard input. The process
/// ends itself when its parent, which holds the other end of standard input, ends.
pub fn become_checker(memory: &OsStr) -> ExitCode {
    let value = memory.to_str().unwrap_or("");
    let (work, memory): (fn() -> ExitCode, &str) = if let Some(memory) = value.strip_prefix(STATIC_CHECKS_PREFIX) {
        (static_checks_child::serve_task, memory)
    } else if let Some(memory) = value.strip_prefix(past_violations::PREFIX) {
        (past_violations_child::serve_task, memory)
    } else if let Some(memory) = value.strip_prefix(state_graph::PREFIX) {
        (state_graph_child::serve_task, memory)
    } else if let Some(memory) = value.strip_prefix(explanation::PREFIX) {
        (explanation_child::serve_task, memory)
    } else if let Some(memory) = value.strip_prefix(stepper::PREFIX) {
        (stepper_child::serve_task, memory)
    } else {
        (|| tla_mc::cli::main(None), value)
    };
    // A value that is no number sets no limit; only our own program sets it.
    if let Ok(bytes) = memory.parse() {
        set_limit(Resource::Data, bytes);
    }
    // A crash must leave no core file behind.
    set_limit(Resource::Core, 0);
    // Without the abort, a thread that panics would leave the others waiting for it.
    let default_hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        default_hook(info);
        std::process::abort();
    }));
    run_while_parent_lives(STACK, work).unwrap_or(ExitCode::from(NO_THREAD))
}

/// Exit status if the system gives no thread for the checker, which never uses it itself.
const NO_THREAD: u8 = 71;

fn set_limit(what: Resource, bytes: u64) {
    let hard = getrlimit(what).maximum;
    let bytes = hard.map_or(bytes, |hard| hard.min(bytes));
    // If the system refuses the limit, the deadline still applies.
    let _ = setrlimit(what, Rlimit { current: Some(bytes), maximum: Some(bytes) });
}
