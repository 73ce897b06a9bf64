//! Runs one child process to its end.
//!
//! A child runs in its own process group, and the whole group ends with it. On a deadline, too much output or a cancel the
//! group gets SIGTERM, and SIGKILL after a grace period. If the child exits, the future is dropped or our own process is
//! killed, it gets SIGKILL at once. A process that leaves the group (`setsid`) survives.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Write as _};
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use rustix::process::Signal;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::time::Instant;
use tracing::field::Empty;
use tracing::{Instrument as _, Span, debug, info, info_span};

use super::Cancel;
use super::unfinished_span::UnfinishedSpan;
use super::watch::{Group, SHELL};

/// Default time between SIGTERM and SIGKILL.
const GRACE: Duration = Duration::from_secs(2);
/// Time to read on after the child has exited. Only a process that left the group can still hold the pipes open.
const DRAIN: Duration = Duration::from_millis(500);
/// Default limit of the output, in bytes.
const OUTPUT_CAP: u64 = 64 << 20;
/// A line longer than this, in bytes, reaches the callback in pieces.
const MAX_LINE: usize = 1 << 20;
/// Longest argument that the log shows, in bytes.
const MAX_LOGGED_ARG: usize = 200;

/// A child process to run. Environment and standard input are empty unless [`Command::env`] and [`Command::stdin`] set them.
#[derive(Debug, Clone)]
pub struct Command {
    program: PathBuf,
    args: Vec<OsString>,
    env: Vec<(OsString, OsString)>,
    cwd: Option<PathBuf>,
    stdin: Option<Vec<u8>>,
    deadline: Option<Duration>,
    grace: Duration,
    output_cap: u64,
    log: Option<PathBuf>,
    ends_with_parent: bool,
    reports_error_lines: bool,
}

/// How a child ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// It exited with this status.
    Exited(i32),
    /// It was killed by a signal that we did not send.
    Signalled(i32),
    /// We ended it at its deadline.
    DeadlineExceeded,
    /// We ended it because its output exceeded the cap.
    OutputFlood,
    /// We ended it because the caller cancelled.
    Cancelled,
}

/// The result of a child process.
#[derive(Debug, Clone)]
pub struct Ended {
    pub status: Status,
    /// Standard output, up to the cap.
    pub stdout: Vec<u8>,
    /// Standard error; it shares the cap with standard output.
    pub stderr: Vec<u8>,
    /// Wall time from start to end.
    pub wall: Duration,
}

/// A child process that could not be run. The way in which it ends is never an error.
#[derive(Debug, thiserror::Error)]
pub enum ProcessError {
    /// The system could not start it.
    #[error("start {program}")]
    Start { program: PathBuf, source: io::Error },
    /// Its log file could not be written.
    #[error("write the log {path}")]
    Log { path: PathBuf, source: io::Error },
    /// Reading its output or waiting for it failed.
    #[error("follow {program}")]
    Follow { program: PathBuf, source: io::Error },
}

impl Command {
    /// A child that runs the program at this path. The search path is not used.
    pub fn new(program: impl Into<PathBuf>) -> Self {
        Self {
            program: program.into(),
            args: Vec::new(),
            env: Vec::new(),
            cwd: None,
            stdin: None,
            deadline: None,
            grace: GRACE,
            output_cap: OUTPUT_CAP,
            log: None,
            ends_with_parent: false,
            reports_error_lines: false,
        }
    }

    /// Adds an argument.
    #[must_use]
    pub fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.args.push(arg.as_ref().to_owned());
        self
    }

    /// Adds arguments.
    #[must_use]
    pub fn args<A: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.args.extend(args.into_iter().map(|a| a.as_ref().to_owned()));
        self
    }

    /// Sets a variable of its environment.
    #[must_use]
    pub fn env(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        self.env.push((name.as_ref().to_owned(), value.as_ref().to_owned()));
        self
    }

    /// Sets its working folder.
    #[must_use]
    pub fn cwd(mut self, folder: impl AsRef<Path>) -> Self {
        self.cwd = Some(folder.as_ref().to_owned());
        self
    }

    /// Sets its standard input, which is closed after the last byte.
    #[must_use]
    pub fn stdin(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.stdin = Some(bytes.into());
        self
    }

    /// Sets its wall-time limit. Without one it can run forever.
    #[must_use]
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = Some(deadline);
        self
    }

    /// Sets the time between SIGTERM and SIGKILL.
    #[must_use]
    pub fn grace(mut self, grace: Duration) -> Self {
        self.grace = grace;
        self
    }

    /// Sets how many bytes it may write to standard output and standard error together.
    #[must_use]
    pub fn output_cap(mut self, bytes: u64) -> Self {
        self.output_cap = bytes;
        self
    }

    /// Copies its output into a file while it runs.
    #[must_use]
    pub fn log(mut self, file: impl AsRef<Path>) -> Self {
        self.log = Some(file.as_ref().to_owned());
        self
    }

    /// Promises that the program ends itself when its standard input reaches its end, which stays open until then, and that
    /// it starts no processes: see [`run_while_parent_lives`](super::run_while_parent_lives). Then no process has to watch
    /// over it, which saves 1 ms per run.
    #[must_use]
    pub fn ends_with_parent(mut self) -> Self {
        self.ends_with_parent = true;
        self
    }

    /// Also reports the lines of standard error as they arrive.
    #[must_use]
    pub fn reports_error_lines(mut self) -> Self {
        self.reports_error_lines = true;
        self
    }

    /// The command line, for messages and logs.
    pub fn command_line(&self) -> String {
        let mut line = self.program.to_string_lossy().into_owned();
        for arg in &self.args {
            line.push(' ');
            line.push_str(&arg.to_string_lossy());
        }
        line
    }

    /// Runs it to its end. Calls `on_line` with each line of standard output as it arrives, without its line end, and with those
    /// of standard error if [`Command::reports_error_lines`] was called.
    ///
    /// Dropping the future kills the whole group.
    pub async fn run(&self, cancel: &Cancel, on_line: &mut (dyn FnMut(&str) + Send)) -> Result<Ended, ProcessError> {
        let span = info_span!(
            target: "telemetry",
            "process",
            executable = %self.executable_name(),
            pid = Empty,
            status = Empty,
            error = Empty
        );
        let unfinished = UnfinishedSpan::new(span.clone());
        let ended = self.run_to_end(cancel, on_line).instrument(span).await;
        let span = unfinished.finish();
        match &ended {
            Ok(Ended { status: Status::Exited(status), .. }) => span.record("status", status),
            Ok(Ended { status: Status::Signalled(_), .. }) => span.record("error", "signal"),
            Ok(Ended { status: Status::DeadlineExceeded, .. }) => span.record("error", "deadline"),
            Ok(Ended { status: Status::OutputFlood, .. }) => span.record("error", "output"),
            Ok(Ended { status: Status::Cancelled, .. }) => span.record("error", "cancelled"),
            Err(_) => span.record("error", "_OTHER"),
        };
        ended
    }

    /// The name of the program without its folder.
    fn executable_name(&self) -> String {
        // `/proc/self/exe` is a link to this program.
        let resolved = self.program.starts_with("/proc").then(|| self.program.read_link().ok()).flatten();
        let program = resolved.as_ref().unwrap_or(&self.program);
        program.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    async fn run_to_end(&self, cancel: &Cancel, on_line: &mut (dyn FnMut(&str) + Send)) -> Result<Ended, ProcessError> {
        let started = Instant::now();
        let create = |path: &PathBuf| File::create(path).map_err(|source| log_error(path, source));
        let log_file = self.log.as_ref().map(create).transpose()?;
        let mut log = self.log.as_ref().zip(log_file);
        let watched = if self.ends_with_parent {
            None
        } else {
            Some(Group::watched().map_err(|source| ProcessError::Start { program: SHELL.into(), source })?)
        };
        let mut child = self.spawn(watched.as_ref()).inspect_err(|error| {
            info!(program = %self.program.display(), error = ?error, "process not started");
        })?;
        let pid = child.id();
        Span::current().record("pid", pid);
        info!(program = %self.program.display(), pid, arguments = self.args.len(), "process started");
        debug!(pid, arguments = ?self.loggable_args(), folder = ?self.cwd, deadline = ?self.deadline, "process");
        let mut group = watched.or_else(|| Group::led_by(pid));
        let mut input = child.stdin.take();
        // Keeps standard input open for a child that ends when it is closed.
        let mut lifeline = None;
        let mut unsent: &[u8] = self.stdin.as_deref().unwrap_or_default();
        let mut pipes = [
            Pipe::new(child.stdout.take().map(|p| Box::new(p) as Box<dyn AsyncRead + Send + Unpin>)),
            Pipe::new(child.stderr.take().map(|p| Box::new(p) as Box<dyn AsyncRead + Send + Unpin>)),
        ];
        let mut lines = [Lines::default(), Lines::default()];
        let mut remaining = self.output_cap;
        // Why we end it, if we do.
        let mut ended_by_us: Option<Status> = None;
        let mut exit: Option<ExitStatus> = None;
        // A deadline that overflows the clock is as good as none.
        let mut alarm = self.deadline.and_then(|d| started.checked_add(d));
        let cancelled = cancel.cancelled();
        tokio::pin!(cancelled);

        while exit.is_none() || pipes.iter().any(Pipe::is_open) {
            let [stdout, stderr] = &mut pipes;
            let (which, read) = tokio::select! {
                read = stdout.read(), if stdout.is_open() => (0, read),
                read = stderr.read(), if stderr.is_open() => (1, read),
                status = child.wait(), if exit.is_none() => {
                    exit = Some(status.map_err(|source| self.follow_error(source))?);
                    // Dropping the group kills the processes that the child left behind.
                    group = None;
                    alarm = Some(Instant::now() + DRAIN);
                    continue;
                }
                () = sleep_until(alarm), if alarm.is_some() => {
                    if exit.is_some() {
                        break;
                    }
                    alarm = if ended_by_us.is_none() {
                        ended_by_us = Some(Status::DeadlineExceeded);
                        signal(group.as_ref(), Signal::TERM);
                        Some(Instant::now() + self.grace)
                    } else {
                        signal(group.as_ref(), Signal::KILL);
                        None
                    };
                    continue;
                }
                () = &mut cancelled, if ended_by_us.is_none() && exit.is_none() => {
                    ended_by_us = Some(Status::Cancelled);
                    signal(group.as_ref(), Signal::TERM);
                    alarm = Some(Instant::now() + self.grace);
                    continue;
                }
                written = write_some(&mut input, unsent), if input.is_some() => {
                    match written {
                        Ok(n) if n > 0 && n < unsent.len() => unsent = &unsent[n..],
                        // A child that does not read its input is no error. Its exit status decides.
                        Ok(_) | Err(_) => lifeline = input.take().filter(|_| self.ends_with_parent),
                    }
                    continue;
                }
            };
            let count = read.map_err(|source| self.follow_error(source))?;
            let pipe = &mut pipes[which];
            if count == 0 {
                pipe.close();
                continue;
            }
            let kept = usize::try_from(remaining).map_or(count, |remaining| remaining.min(count));
            remaining -= kept as u64;
            let bytes = pipe.keep(kept);
            if let Some((path, file)) = &mut log {
                file.write_all(bytes).map_err(|source| log_error(path, source))?;
            }
            if which == 0 || self.reports_error_lines {
                lines[which].feed(bytes, on_line);
            }
            if kept < count && ended_by_us.is_none() && exit.is_none() {
                ended_by_us = Some(Status::OutputFlood);
                signal(group.as_ref(), Signal::TERM);
                alarm = Some(Instant::now() + self.grace);
            }
        }
        drop(lifeline);
        Lines::flush_all(&mut lines, on_line);
        let status = ended_by_us.unwrap_or_else(|| own_status(exit));
        let [stdout, stderr] = pipes.map(|p| p.kept);
        let wall = started.elapsed();
        info!(pid, ?status, took = ?wall, stdout = stdout.len(), stderr = stderr.len(), "process ended");
        Ok(Ended { status, stdout, stderr, wall })
    }

    /// The arguments for the log. A long or multi-line argument can contain a text for a model, so only its length is shown.
    fn loggable_args(&self) -> Vec<String> {
        let short = |arg: &OsString| {
            let text = arg.to_string_lossy();
            if text.len() > MAX_LOGGED_ARG || text.contains('\n') {
                format!("({} bytes)", arg.len())
            } else {
                text.into()
            }
        };
        self.args.iter().map(short).collect()
    }

    fn spawn(&self, group: Option<&Group>) -> Result<tokio::process::Child, ProcessError> {
        let mut command = tokio::process::Command::new(&self.program);
        command
            .args(&self.args)
            .env_clear()
            .envs(self.env.iter().map(|(name, value)| (name, value)))
            .stdin(if self.stdin.is_some() || self.ends_with_parent { Stdio::piped() } else { Stdio::null() })
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // 0 makes a group that the child leads.
            .process_group(group.map_or(0, Group::id))
            .kill_on_drop(true);
        if let Some(cwd) = &self.cwd {
            command.current_dir(cwd);
        }
        command.spawn().map_err(|source| ProcessError::Start { program: self.program.clone(), source })
    }

    fn follow_error(&self, source: io::Error) -> ProcessError {
        ProcessError::Follow { program: self.program.clone(), source }
    }
}

fn log_error(path: &Path, source: io::Error) -> ProcessError {
    ProcessError::Log { path: path.to_owned(), source }
}

/// The status of a child that ended by itself.
fn own_status(exit: Option<ExitStatus>) -> Status {
    match exit.map(|e| (e.code(), e.signal())) {
        Some((Some(code), _)) => Status::Exited(code),
        Some((None, Some(signal))) => Status::Signalled(signal),
        // Unreachable: the caller's loop ends with an exit status, which has a code or a signal.
        Some((None, None)) | None => Status::Signalled(0),
    }
}

fn signal(group: Option<&Group>, signal: Signal) {
    if let Some(group) = group {
        group.signal(signal);
    }
}

async fn sleep_until(at: Option<Instant>) {
    if let Some(at) = at {
        tokio::time::sleep_until(at).await;
    }
}

async fn write_some(input: &mut Option<tokio::process::ChildStdin>, bytes: &[u8]) -> io::Result<usize> {
    match input {
        Some(input) => input.write(bytes).await,
        None => Ok(0),
    }
}

struct Pipe {
    from: Option<Box<dyn AsyncRead + Send + Unpin>>,
    buffer: Vec<u8>,
    kept: Vec<u8>,
}

impl Pipe {
    fn new(from: Option<Box<dyn AsyncRead + Send + Unpin>>) -> Self {
        Self { from, buffer: vec![0; 1 << 16], kept: Vec::new() }
    }

    fn is_open(&self) -> bool {
        self.from.is_some()
    }

    fn close(&mut self) {
        self.from = None;
    }

    async fn read(&mut self) -> io::Result<usize> {
        match &mut self.from {
            Some(from) => from.read(&mut self.buffer).await,
            None => Ok(0),
        }
    }

    /// Keeps the first `count` bytes of the last read and returns them.
    fn keep(&mut self, count: usize) -> &[u8] {
        self.kept.extend_from_slice(&self.buffer[..count]);
        &self.buffer[..count]
    }
}

#[derive(Default)]
struct Lines {
    partial: Vec<u8>,
}

impl Lines {
    fn flush_all(all: &mut [Self], on_line: &mut (dyn FnMut(&str) + Send)) {
        for lines in all {
            lines.flush(on_line);
        }
    }

    fn feed(&mut self, bytes: &[u8], on_line: &mut (dyn FnMut(&str) + Send)) {
        for piece in bytes.split_inclusive(|b| *b == b'\n') {
            self.partial.extend_from_slice(piece);
            if piece.ends_with(b"\n") || self.partial.len() >= MAX_LINE {
                self.flush(on_line);
            }
        }
    }

    fn flush(&mut self, on_line: &mut (dyn FnMut(&str) + Send)) {
        if !self.partial.is_empty() {
            let line = String::from_utf8_lossy(&self.partial);
            on_line(line.trim_end_matches(['\n', '\r']));
            self.partial.clear();
        }
    }
}
