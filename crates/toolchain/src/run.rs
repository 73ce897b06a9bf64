//! One run of one Java tool: a fresh folder that has only the modules and the configuration, private temporary and
//! metadata folders, and an environment that has only what Java needs. Nothing is left behind, even if we are killed.
//! It does not parse the output.
//!
//! The private `java.io.tmpdir` is required: TLC 2.15 unpacks the standard modules there under fixed names, and one of
//! 24 parallel runs failed because of it. The fresh folder is required too: TLC loads and runs a `<Module>.class` that
//! it finds next to a specification.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tlaforge_process::{Command, Ended, ProcessError, Scratch, Status};

use super::discover::Tools;
use super::{ToolContext, ToolError, environment_failure};

/// A tool of the jar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tool {
    Pcal,
    Sany,
    Tlc,
}

impl Tool {
    pub fn name(self) -> &'static str {
        match self {
            Self::Pcal => "pcal.trans",
            Self::Sany => "tla2sany.SANY",
            Self::Tlc => "tlc2.TLC",
        }
    }
}

/// JVM flags. Measured on a 10-state specification, the fast start saves 25 to 44 % of the CPU time; a long run would
/// be slower with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Jvm {
    FastStart,
    LongRun,
}

pub(crate) struct ToolJob<'a> {
    pub tool: Tool,
    pub jvm: Jvm,
    pub args: Vec<String>,
    /// File names with their text.
    pub files: Vec<(String, &'a str)>,
    pub deadline: Duration,
    /// A file to read after the tool has ended.
    pub read_back: Option<String>,
    /// For a program of TLC's distributed mode. It needs the jar.
    pub rmi: Option<RmiProgram>,
}

/// A program of TLC's distributed mode, which talks to others by Java RMI.
pub(crate) struct RmiProgram {
    pub main_class: &'static str,
    /// Flags of the JVM. They set `java.rmi.server.hostname`, to which all listening sockets are bound.
    pub flags: Vec<String>,
}

/// Binds the sockets of RMI: see `crates/toolchain/java/BoundSockets.java`.
const BOUND_SOCKETS: &str = "BoundSockets";
const BOUND_SOCKETS_CLASS: &[u8] = include_bytes!("../java/BoundSockets.class");

pub struct ToolRun {
    pub ended: Ended,
    /// The command line, for the output.
    pub command_line: String,
    /// The text of the file that was to be read.
    pub read_back_text: Option<String>,
    /// The error if the folder takes no more data.
    folder_full: Option<std::io::Error>,
}

/// Whether a signal from outside ended a child: that of the out-of-memory killer, of a person or of a shutdown. Nothing was
/// decided then. A script that starts Java, and the JVM itself at SIGTERM, exit with 128 plus the number of the signal.
pub(super) fn killed_message(status: Status) -> Option<String> {
    let signal = match status {
        Status::Signalled(signal) => signal,
        Status::Exited(status) => status - 128,
        _ => return None,
    };
    // SIGHUP, SIGINT, SIGKILL, SIGTERM. Others, such as SIGSEGV and SIGABRT, come from the program itself.
    let is_from_outside = matches!(signal, 1 | 2 | 9 | 15);
    let perhaps = if signal == 9 { ", perhaps because the machine ran out of memory" } else { "" };
    is_from_outside.then(|| format!("{KILLED_MESSAGE} (signal {signal}){perhaps}"))
}

/// How [`killed_message`] begins.
pub(super) const KILLED_MESSAGE: &str = "it was killed from outside";

/// This much must fit into the folder after a run; otherwise an error of the tool may be due to missing space. SANY
/// reports a full folder only as a module that it does not find.
const REQUIRED_SPACE: usize = 1 << 20;

impl ToolRun {
    pub fn stdout(&self) -> String {
        String::from_utf8_lossy(&self.ended.stdout).into_owned()
    }

    pub fn stderr(&self) -> String {
        String::from_utf8_lossy(&self.ended.stderr).into_owned()
    }

    /// The last lines of the output, for a message.
    pub fn tail(&self) -> String {
        let text = self.stdout() + &self.stderr();
        // Frame marks of TLC and lines of a stack trace do not help a person.
        let is_stack = |l: &str| l.trim_start().starts_with("at ") && l.ends_with(')');
        let shown = |l: &&str| !l.trim().is_empty() && !l.starts_with("@!@!@") && !is_stack(l);
        let lines: Vec<&str> = text.lines().filter(shown).collect();
        lines[lines.len().saturating_sub(12)..].join("\n")
    }

    /// The error if this machine kept the tool from working. Call it before taking an objection of the tool for its
    /// verdict.
    pub fn environment_error(&self, tool: Tool) -> Option<ToolError> {
        let tool = tool.name().to_owned();
        if let Some(full) = &self.folder_full {
            let what = format!("the folder for temporary files takes no more data: {full}");
            return Some(ToolError::Environment { tool, what });
        }
        if let Some(what) = killed_message(self.ended.status) {
            return Some(ToolError::Broke { tool, what });
        }
        let what = environment_failure::find(&self.stdout()).or_else(|| environment_failure::find(&self.stderr()))?;
        Some(ToolError::Environment { tool, what })
    }

    /// The error for an end that says nothing about the specification.
    pub fn crash_error(&self, tool: Tool) -> ToolError {
        ToolError::Broke {
            tool: tool.name().to_owned(),
            what: format!("it ended with {:?}: {}", self.ended.status, self.tail()),
        }
    }
}

/// Runs a job to its end. Returns [`ToolError::Cancelled`] if cancelled; the caller handles a deadline.
pub(crate) async fn run(
    tools: &Tools,
    scratch: &Path,
    job: &ToolJob<'_>,
    cx: &ToolContext<'_>,
    on_line: &mut (dyn FnMut(&str) + Send),
) -> Result<ToolRun, ToolError> {
    if cx.cancel.is_cancelled() {
        return Err(ToolError::Cancelled);
    }
    let folder = Folder::new(scratch)?;
    for (name, text) in &job.files {
        let path = folder.spec.join(name);
        fs::write(&path, text).map_err(|source| io(format!("write {}", path.display()), source))?;
    }
    if job.rmi.is_some() {
        let path = folder.classes().join(format!("{BOUND_SOCKETS}.class"));
        let written = fs::create_dir(folder.classes()).and_then(|()| fs::write(&path, BOUND_SOCKETS_CLASS));
        written.map_err(|source| io(format!("write {}", path.display()), source))?;
    }
    let command =
        command(tools, &folder, job, cx).cwd(&folder.spec).deadline(job.deadline).output_cap(cx.limits.output);
    let mut ended = command.run(cx.cancel, on_line).await.map_err(|error| match error {
        ProcessError::Start { program, source } => io(format!("start {}", program.display()), source),
        ProcessError::Follow { source, .. } | ProcessError::Log { source, .. } => {
            io(format!("follow {}", job.tool.name()), source)
        }
    })?;
    if ended.status == Status::Cancelled {
        return Err(ToolError::Cancelled);
    }
    let probe = folder.root.path().join("room");
    // Tried, not computed: quotas and size limits do not show in the free space.
    let folder_full = fs::write(&probe, vec![0; REQUIRED_SPACE]).err();
    let read_back_text = job.read_back.as_ref().and_then(|name| fs::read(folder.spec.join(name)).ok());
    let read_back_text = read_back_text.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    // The output must not depend on the name of a temporary folder.
    let hide = |text: &str| {
        [&folder.spec, folder.root.path()]
            .iter()
            .fold(text.to_owned(), |text, path| text.replace(&format!("{}/", path.display()), ""))
            .replace(&folder.root.path().display().to_string(), "")
    };
    for stream in [&mut ended.stdout, &mut ended.stderr] {
        *stream = hide(&String::from_utf8_lossy(stream)).into_bytes();
    }
    Ok(ToolRun { ended, command_line: hide(&command.command_line()), read_back_text, folder_full })
}

struct Folder {
    root: Scratch,
    spec: PathBuf,
    tmp: PathBuf,
    meta: PathBuf,
}

impl Folder {
    fn new(scratch: &Path) -> Result<Self, ToolError> {
        let failed = |source| io(format!("create a folder in {}", scratch.display()), source);
        let root = Scratch::new(scratch, "tlaforge-").map_err(failed)?;
        let [spec, tmp, meta] = ["spec", "tmp", "meta"].map(|name| root.path().join(name));
        for folder in [&spec, &tmp, &meta] {
            fs::create_dir(folder).map_err(failed)?;
        }
        Ok(Self { root, spec, tmp, meta })
    }

    /// For our own class. It is not beside the specification, where TLC would load any class.
    fn classes(&self) -> PathBuf {
        self.root.path().join("classes")
    }
}

fn command(tools: &Tools, folder: &Folder, job: &ToolJob<'_>, cx: &ToolContext<'_>) -> Command {
    let mut flags: Vec<String> = match job.jvm {
        // Only the first compiler, and a collector without threads of its own.
        Jvm::FastStart => vec!["-XX:TieredStopAtLevel=1".to_owned(), "-XX:+UseSerialGC".to_owned()],
        Jvm::LongRun => vec!["-XX:+UseParallelGC".to_owned()],
    };
    // No files under /tmp/hsperfdata_*, and specifications are UTF-8 whatever the locale.
    flags.extend(["-XX:-UsePerfData", "-Dfile.encoding=UTF-8", "-Djava.awt.headless=true"].map(str::to_owned));
    // Translator and parser need little, and a small heap meant for the checker would only make them fail.
    if let Some(mib) = cx.limits.heap_mib
        && job.tool == Tool::Tlc
    {
        flags.push(format!("-Xmx{mib}m"));
    }
    let mut args: Vec<OsString> = Vec::new();
    // Without it, TLC names its folder by the second, and a second run in that second fails (measured with 2.15).
    // The programs of the distributed mode do not have this option; their folder of metadata is in that of the specification.
    if job.tool == Tool::Tlc && job.rmi.is_none() {
        args.extend(["-metadir".into(), folder.meta.clone().into_os_string()]);
    }
    args.extend(job.args.iter().map(OsString::from));
    let tmp = folder.tmp.display();
    let mut main = vec![job.tool.name()];
    let mut own_classes = None;
    if let Some(rmi) = &job.rmi {
        flags.extend(rmi.flags.iter().cloned());
        main = vec![BOUND_SOCKETS, rmi.main_class];
        own_classes = Some(folder.classes());
    }
    match tools {
        Tools::Jar { java, jar } => Command::new(java)
            .args(&flags)
            .arg(format!("-Djava.io.tmpdir={tmp}"))
            .arg("-cp")
            .arg(class_path(jar, job.tool, own_classes.as_deref(), cx))
            .args(main)
            .args(args)
            .env("LC_ALL", "C.UTF-8"),
        Tools::Wrappers { pcal, sany, tlc, env } => {
            let program = match job.tool {
                Tool::Pcal => pcal,
                Tool::Sany => sany,
                Tool::Tlc => tlc,
            };
            // The JVM splits `JAVA_TOOL_OPTIONS` at blanks that are not in quotes.
            flags.push(format!("-Djava.io.tmpdir=\"{tmp}\""));
            env.iter()
                .fold(Command::new(program), |command, (name, value)| command.env(name, value))
                .env("LC_ALL", "C.UTF-8")
                .env("JAVA_TOOL_OPTIONS", flags.join(" "))
                .args(args)
        }
    }
}

/// The jar of the tools, our own classes if any, and for TLC the jars of libraries, which can override operators in Java.
fn class_path(jar: &Path, tool: Tool, own_classes: Option<&Path>, cx: &ToolContext<'_>) -> OsString {
    let libraries = cx.limits.libraries.jars().filter(|_| tool == Tool::Tlc);
    let parts = std::iter::once(jar).chain(own_classes).chain(libraries);
    parts.map(Path::as_os_str).collect::<Vec<_>>().join(OsStr::new(":"))
}

fn io(what: String, source: std::io::Error) -> ToolError {
    ToolError::Io { what, source }
}
