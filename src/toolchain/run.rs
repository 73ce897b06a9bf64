//! One run of one tool: a fresh folder that holds only the modules and the configuration, private temporary and
//! metadata folders, an environment that holds only what Java needs, and nothing left behind, also where we are
//! killed. It reads no output.
//!
//! The private `java.io.tmpdir` is not optional: TLC 2.15 unpacks the standard modules there under fixed names, and
//! one of 24 runs side by side failed on it.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::process::{Command, Ended, ProcessError, Scratch, Status};

use super::discover::Tools;
use super::{ToolContext, ToolError, trouble};

/// A tool of the jar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tool {
    Pcal,
    Sany,
    Tlc,
}

impl Tool {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Pcal => "pcal.trans",
            Self::Sany => "tla2sany.SANY",
            Self::Tlc => "tlc2.TLC",
        }
    }
}

/// How the JVM is tuned. Measured on a 10-state specification: the fast start saves 25 to 44 % of the CPU time; on a
/// long run the same flags would cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Jvm {
    FastStart,
    LongRun,
}

/// One run.
pub(crate) struct Job<'a> {
    pub(crate) tool: Tool,
    pub(crate) jvm: Jvm,
    pub(crate) args: Vec<String>,
    /// File names with their text.
    pub(crate) files: Vec<(String, &'a str)>,
    pub(crate) deadline: Duration,
    /// A file to read back when the tool has ended.
    pub(crate) read_back: Option<String>,
}

/// A run that ended.
pub(crate) struct Done {
    pub(crate) ended: Ended,
    /// The command line, for the raw output.
    pub(crate) line: String,
    /// The text of the file that was to be read back.
    pub(crate) file: Option<String>,
    /// Why its folder takes no more data, if it does not.
    full: Option<std::io::Error>,
}

/// How a child ends that the system's memory killer chose. Whoever sent the signal, nothing was decided.
pub(super) const KILLED: Status = Status::Signalled(9);
pub(super) const KILLED_IN_WORDS: &str = "it was killed from outside (signal 9), perhaps for want of memory";

/// So much must fit into the folder of a run after its end; otherwise what the tool objects to may be a lack of space.
/// SANY says of a full folder only that it does not find a module.
const ROOM: usize = 1 << 20;

impl Done {
    pub(crate) fn stdout(&self) -> String {
        String::from_utf8_lossy(&self.ended.stdout).into_owned()
    }

    pub(crate) fn stderr(&self) -> String {
        String::from_utf8_lossy(&self.ended.stderr).into_owned()
    }

    /// The last lines of all that it printed, for a message.
    pub(crate) fn tail(&self) -> String {
        let text = self.stdout() + &self.stderr();
        // The marks of TLC's frames and the lines of a stack trace tell a person nothing.
        let is_stack = |l: &str| l.trim_start().starts_with("at ") && l.ends_with(')');
        let shown = |l: &&str| !l.trim().is_empty() && !l.starts_with("@!@!@") && !is_stack(l);
        let lines: Vec<&str> = text.lines().filter(shown).collect();
        lines[lines.len().saturating_sub(12)..].join("\n")
    }

    /// The error if this machine kept the tool from working. To be asked before anything that the tool objects to is taken
    /// for its opinion.
    pub(crate) fn trouble(&self, tool: Tool) -> Option<ToolError> {
        let tool = tool.name().to_owned();
        if let Some(full) = &self.full {
            let what = format!("the folder for temporary files takes no more data: {full}");
            return Some(ToolError::Environment { tool, what });
        }
        if self.ended.status == KILLED {
            return Some(ToolError::Broke { tool, what: KILLED_IN_WORDS.to_owned() });
        }
        let what = trouble::in_output(&self.stdout()).or_else(|| trouble::in_output(&self.stderr()))?;
        Some(ToolError::Environment { tool, what })
    }

    /// The error for an end that says nothing about the specification.
    pub(crate) fn broke(&self, tool: Tool) -> ToolError {
        ToolError::Broke {
            tool: tool.name().to_owned(),
            what: format!("it ended with {:?}: {}", self.ended.status, self.tail()),
        }
    }
}

/// Runs a job to its end. A cancelled one is [`ToolError::Cancelled`]; a deadline is left to the caller.
pub(crate) async fn run(
    tools: &Tools,
    scratch: &Path,
    job: &Job<'_>,
    cx: &ToolContext<'_>,
    on_line: &mut (dyn FnMut(&str) + Send),
) -> Result<Done, ToolError> {
    if cx.cancel.is_cancelled() {
        return Err(ToolError::Cancelled);
    }
    let folder = Folder::new(scratch)?;
    for (name, text) in &job.files {
        let path = folder.spec.join(name);
        fs::write(&path, text).map_err(|source| io(format!("write {}", path.display()), source))?;
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
    let full = fs::write(&probe, vec![0; ROOM]).err();
    let file = job.read_back.as_ref().and_then(|name| fs::read(folder.spec.join(name)).ok());
    let file = file.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    // What the caller reads must not hang on the name of a folder that is gone.
    let hide = |text: &str| {
        [&folder.spec, folder.root.path()]
            .iter()
            .fold(text.to_owned(), |text, path| text.replace(&format!("{}/", path.display()), ""))
            .replace(&folder.root.path().display().to_string(), "")
    };
    for said in [&mut ended.stdout, &mut ended.stderr] {
        *said = hide(&String::from_utf8_lossy(said)).into_bytes();
    }
    Ok(Done { ended, line: hide(&command.command_line()), file, full })
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
}

fn command(tools: &Tools, folder: &Folder, job: &Job<'_>, cx: &ToolContext<'_>) -> Command {
    let mut flags: Vec<String> = match job.jvm {
        Jvm::FastStart => vec!["-XX:TieredStopAtLevel=1".to_owned(), "-XX:+UseSerialGC".to_owned()],
        Jvm::LongRun => vec!["-XX:+UseParallelGC".to_owned()],
    };
    // No file under /tmp/hsperfdata_*, and specifications are UTF-8 whatever the locale.
    flags.extend(["-XX:-UsePerfData", "-Dfile.encoding=UTF-8", "-Djava.awt.headless=true"].map(str::to_owned));
    if let Some(mib) = cx.limits.heap_mib
        && job.tool == Tool::Tlc
    {
        flags.push(format!("-Xmx{mib}m"));
    }
    let mut args: Vec<OsString> = Vec::new();
    if job.tool == Tool::Tlc {
        args.extend(["-metadir".into(), folder.meta.clone().into_os_string()]);
    }
    args.extend(job.args.iter().map(OsString::from));
    let tmp = folder.tmp.display();
    match tools {
        Tools::Jar { java, jar } => Command::new(java)
            .args(&flags)
            .arg(format!("-Djava.io.tmpdir={tmp}"))
            .arg("-cp")
            .arg(jar)
            .arg(job.tool.name())
            .args(args)
            .env("LC_ALL", "C.UTF-8"),
        Tools::Wrappers { pcal, sany, tlc, env } => {
            let program = match job.tool {
                Tool::Pcal => pcal,
                Tool::Sany => sany,
                Tool::Tlc => tlc,
            };
            flags.push(format!("-Djava.io.tmpdir=\"{tmp}\""));
            env.iter()
                .fold(Command::new(program), |command, (name, value)| command.env(name, value))
                .env("LC_ALL", "C.UTF-8")
                .env("JAVA_TOOL_OPTIONS", flags.join(" "))
                .args(args)
        }
    }
}

fn io(what: String, source: std::io::Error) -> ToolError {
    ToolError::Io { what, source }
}
