//! From the arguments to the exit status. Every command runs inside of `dispatch`; nothing else ends the process,
//! except a second signal.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::{CommandFactory as _, Parser};

use super::args::{Args, Command};
use super::diagnostics::{DiagnosticsArgs, start};
use super::failure::Failure;
use super::secrets::refuse_secrets;
use super::snippet_text::print_failure;
use super::telemetry::{self, LAST_BATCH};
use super::terminal::{escape_control_characters, is_colored, stdout_error, write_stderr};
use super::{
    audit, check, completions, conform, demo, doctor, drift, eval, explore, fleet_command, forge_again, forge_all,
    formula, init, man, mcp, merge, mutate, policy, report, resume, run, schema, test, translate, watch, worker,
};
use tokio::signal::unix::{SignalKind, signal};
use tracing::{Instrument as _, info};

use crate::exit::Exit;
use crate::toolchain::{CHECKER_MARKER, become_checker};

/// Time for threads that a command has left to end.
const THREADS_TIME_LIMIT: Duration = Duration::from_secs(1);

pub fn main() -> ExitCode {
    // This process is a checker that another tlaforge process started.
    if let Some(memory) = std::env::var_os(CHECKER_MARKER) {
        return become_checker(&memory);
    }
    if let Some(exit) = completions::answer_completion_request(Args::command) {
        return ExitCode::from(exit.code());
    }
    run_program(
        |args: &Args| args.diagnostics,
        async |args: Args| {
            let span = telemetry::command_span((&args.command).into());
            // Boxed, because the future is as large as the largest of all commands.
            let ended = Box::pin(dispatch(args.command)).instrument(span.clone()).await;
            telemetry::record_end(&span, &ended);
            ended
        },
    )
}

/// Runs a command from the arguments to the exit status: parses the arguments, refuses a key among them, starts the
/// diagnostics, runs the command, and prints its failure.
pub fn run_program<A: Parser>(
    diagnostics: impl FnOnce(&A) -> DiagnosticsArgs,
    command: impl AsyncFnOnce(A) -> Result<Exit, Failure>,
) -> ExitCode {
    let began = Instant::now();
    let args = match A::try_parse() {
        Ok(args) => args,
        Err(e) => {
            print_argument_error(&e);
            let exit = if e.use_stderr() { Exit::Usage } else { Exit::Ok };
            return ExitCode::from(exit.code());
        }
    };
    // Refuse a key in the arguments: they can end up in the journal, and every process of this machine can read them.
    let line: Vec<_> = std::env::args_os().map(|arg| arg.to_string_lossy().into_owned()).collect();
    let ended =
        refuse_secrets("the command line", &line.join(" ")).and_then(|()| start(diagnostics(&args))).and_then(|()| {
            info!(version = env!("CARGO_PKG_VERSION"), pid = std::process::id(), "tlaforge started");
            block_on(command(args))
        });
    let exit = match ended {
        Ok(exit) => exit,
        Err(failure) => {
            print_failure(&failure);
            failure.exit
        }
    };
    info!(status = exit.code(), took = ?began.elapsed(), "tlaforge ended");
    telemetry::end(LAST_BATCH);
    // A status of success must not hide that a part of the result was not written.
    if let Some(why) = stdout_error() {
        print_failure(&Failure::new(Exit::Tool, format!("cannot write the result to stdout: {why}")));
        return ExitCode::from(Exit::Tool.code());
    }
    ExitCode::from(exit.code())
}

/// Prints help or an error about arguments, which quotes them.
fn print_argument_error(error: &clap::Error) {
    if error.use_stderr() && !is_colored(&std::io::stderr()) {
        write_stderr(&escape_control_characters(&error.render().to_string()));
    } else {
        // A broken pipe while printing help is not an error.
        let _ = error.print();
    }
}

fn block_on(command: impl Future<Output = Result<Exit, Failure>>) -> Result<Exit, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|e| Failure::new(Exit::Defect, format!("cannot start: {e}")))?;
    let ended = runtime.block_on(async {
        // SIGXFSZ kills a process that writes beyond `ulimit -f`; with a handler, the write returns an error instead.
        let _ = signal(SignalKind::from_raw(rustix::process::Signal::XFSZ.as_raw()));
        command.await
    });
    // After Ctrl-C, a thread may still wait for a store that cannot be reached. Its result is not needed.
    runtime.shutdown_timeout(THREADS_TIME_LIMIT);
    ended
}

async fn dispatch(command: Command) -> Result<Exit, Failure> {
    match command {
        Command::Run(args) => Box::pin(run::run(args)).await,
        Command::Demo(args) => demo::demo(args).await,
        Command::ForgeAll(args) => Box::pin(forge_all::forge_all(args)).await,
        Command::Resume(args) => match args.docs.clone() {
            Some(docs) => Box::pin(forge_again::forge_again(&args, &docs)).await,
            None => Box::pin(resume::resume(args)).await,
        },
        Command::Check(args) => check::check(args).await,
        Command::Test(args) => test::test(args).await,
        Command::Translate(args) => translate::translate(args).await,
        Command::Conform(args) => conform::conform(args).await,
        Command::Explore(args) => explore::explore(args).await,
        Command::Mutate(args) => mutate::mutate(args).await,
        Command::Eval(args) => Box::pin(eval::eval(args)).await,
        Command::Merge(args) => merge::merge(&args),
        Command::Audit(args) => audit::audit(args).await,
        Command::Policy(args) => policy::policy(&args).await,
        Command::Formula(args) => formula::formula(&args),
        Command::Drift(args) => drift::drift(&args),
        Command::Report(args) => report::report(&args).await,
        Command::Watch(args) => watch::watch(args).await,
        #[cfg(feature = "restate")]
        Command::ForgeJob(args) => Box::pin(super::forge_job::forge_job(args)).await,
        Command::Worker(args) => Box::pin(worker::worker(args)).await,
        Command::Fleet(args) => Box::pin(fleet_command::fleet(args)).await,
        Command::Mcp(args) => Box::pin(mcp::mcp(args)).await,
        Command::Schema(args) => schema::schema(&args),
        Command::Doctor(args) => doctor::doctor(args).await,
        Command::Init(args) => init::init(&args),
        Command::Completions(args) => completions::completions(&args),
        Command::Man(args) => man::man(&args, Args::command()),
    }
}
