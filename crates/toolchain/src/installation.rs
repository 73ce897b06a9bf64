//! The Java tools on this machine: where they are, and what this version of TLC supports.

use std::path::{Path, PathBuf};

use serde::Serialize;
use tokio::sync::OnceCell;

use tlaforge_files::Sha;
use tlaforge_process::Status;

use super::discover::{ToolPaths, Tools};
use super::embedded::EmbeddedToolchain;
use super::fetch::FETCHED_JAR_SHA256;
use super::run::{self, Jvm, KILLED_MESSAGE, Tool, ToolJob, ToolRun};
use super::tlc_output::plain_version;
use super::{SpecText, ToolContext, ToolError};

/// Translator, parser and checker of the TLA+ project, in Java.
#[derive(Debug)]
pub struct JavaToolchain {
    pub tools: Tools,
    pub scratch: PathBuf,
    pub features: OnceCell<Features>,
    /// The embedded checker. It answers questions about vacuity before TLC, because it starts faster, and makes the searches
    /// with a limit of states, which TLC does not have.
    pub embedded: Option<EmbeddedToolchain>,
}

/// What this version of TLC supports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Features {
    pub version: String,
    /// Then it supports `ALIAS` and `POSTCONDITION`.
    pub is_newer_than_2_15: bool,
    /// Whether it can miss a violation of a temporal property if it has several workers.
    pub needs_one_worker_for_properties: bool,
    /// Whether it knows `-noGenerateSpecTE`. Without that flag such a TLC writes a module for each counterexample.
    pub can_suppress_trace_module: bool,
}

impl JavaToolchain {
    /// Finds the tools without starting them.
    pub fn discover(paths: &ToolPaths<'_>) -> Result<Self, ToolError> {
        Ok(Self { tools: paths.find()?, scratch: paths.scratch(), features: OnceCell::new(), embedded: None })
    }

    /// Adds the embedded checker. Without it, searches with a limit of states are undecided.
    #[must_use]
    pub fn with_embedded_checker(self, checker: EmbeddedToolchain) -> Self {
        Self { embedded: Some(checker), ..self }
    }

    /// SHA-256 of the programs themselves: others at the same paths may decide differently. Starts none of them.
    pub fn checksum(&self) -> std::io::Result<Sha> {
        let programs: Vec<&Path> = match &self.tools {
            Tools::Jar { java, jar } => vec![java, jar],
            Tools::Wrappers { pcal, sany, tlc, .. } => vec![pcal, sany, tlc],
        };
        let mut sums = String::new();
        for program in programs {
            sums.push_str(Sha::digest(std::fs::read(program)?).as_str());
            // The launcher of Java is the same in many versions; a file beside it names the version.
            let program = program.canonicalize()?;
            let release = program.parent().and_then(Path::parent).map(|home| home.join("release"));
            sums.push_str(Sha::digest(release.and_then(|path| std::fs::read(path).ok()).unwrap_or_default()).as_str());
        }
        Ok(Sha::digest(sums))
    }

    /// The answer of the jar that `doctor --fetch-tools` gets is known, which saves a start of Java. Any other TLC is
    /// asked.
    pub async fn features(&self, cx: &ToolContext<'_>) -> Result<&Features, ToolError> {
        self.features
            .get_or_try_init(|| async {
                match &self.tools {
                    Tools::Jar { jar, .. } if is_fetched_jar(jar) => {
                        Ok(Features::from_help(FETCHED_HELP).expect("a version"))
                    }
                    _ => self.query_features(cx).await,
                }
            })
            .await
    }

    /// Asks TLC for its version and usage.
    pub async fn query_features(&self, cx: &ToolContext<'_>) -> Result<Features, ToolError> {
        // 2.15 does not know `-h`, but prints its version and usage anyway.
        let done = self.run_briefly(Tool::Tlc, vec!["-h".to_owned()], cx).await?;
        Features::from_help(&(done.stdout() + &done.stderr())).ok_or_else(|| done.crash_error(Tool::Tlc))
    }

    pub async fn run_briefly(&self, tool: Tool, args: Vec<String>, cx: &ToolContext<'_>) -> Result<ToolRun, ToolError> {
        let job = ToolJob {
            tool,
            jvm: Jvm::FastStart,
            args,
            files: Vec::new(),
            deadline: cx.limits.parse,
            read_back: None,
            rmi: None,
        };
        run::run(&self.tools, &self.scratch, &job, cx, &mut |_| {}).await
    }
}

/// A module that every working tool accepts.
const TRIVIAL: &str = "---- MODULE Trivial ----
(* --algorithm Trivial
variables x = 0;
begin
A: x := 1;
end algorithm; *)
\\* BEGIN TRANSLATION
VARIABLE x
Init == x = 0
Next == x' = x
\\* END TRANSLATION
====
";

impl JavaToolchain {
    /// Decides what caused an end without an explanation: if the tool works on a trivial module, the given module is at
    /// fault, otherwise the tool.
    pub async fn attribute_failure(&self, error: ToolError, tool: Tool, cx: &ToolContext<'_>) -> ToolError {
        let what = match &error {
            // A signal from outside says nothing about the module.
            ToolError::Broke { what, .. } if !what.starts_with(KILLED_MESSAGE) => what.clone(),
            ToolError::Deadline { seconds, .. } => format!("it does not end within {seconds} s"),
            _ => return error,
        };
        match self.works_on_trivial_module(tool, cx).await {
            Ok(true) => ToolError::BreaksOnInput { tool: tool.name().to_owned(), what },
            Err(cancelled @ ToolError::Cancelled) => cancelled,
            // If the trivial module fails as well, the tool is broken, and the first error is the one to report.
            Ok(false) | Err(_) => error,
        }
    }

    async fn works_on_trivial_module(&self, tool: Tool, cx: &ToolContext<'_>) -> Result<bool, ToolError> {
        // The success line as well as the status: SANY exits with 0 also if it rejects a module.
        let args: &[&str] = match tool {
            Tool::Pcal => &["-nocfg", "Trivial.tla"],
            Tool::Sany => &["Trivial.tla"],
            Tool::Tlc => &["-tool", "-deadlock", "-config", "Trivial.cfg", "Trivial.tla"],
        };
        let success_line = match tool {
            Tool::Pcal => "Translation completed",
            Tool::Sany => "Semantic processing of module Trivial",
            // The message code of "No error has been found".
            Tool::Tlc => "@!@!@STARTMSG 2193:0 @!@!@",
        };
        let job = ToolJob {
            tool,
            jvm: Jvm::FastStart,
            args: args.iter().map(|&arg| arg.to_owned()).collect(),
            files: vec![("Trivial.tla".to_owned(), TRIVIAL), ("Trivial.cfg".to_owned(), "INIT Init\nNEXT Next\n")],
            deadline: cx.limits.parse,
            read_back: None,
            rmi: None,
        };
        let done = run::run(&self.tools, &self.scratch, &job, cx, &mut |_| {}).await?;
        let is_success = |line: &str| line.trim_end().trim_end_matches('.') == success_line;
        Ok(done.ended.status == Status::Exited(0) && done.stdout().lines().any(is_success))
    }
}

impl Features {
    /// From the output of `-h`.
    fn from_help(help: &str) -> Option<Self> {
        let version = help.lines().find_map(|line| line.find("TLC2 Version").map(|at| plain_version(&line[at..])))?;
        let is_newer_than_2_15 = version_number(&version).is_some_and(|v| v > (2, 15));
        let needs_one_worker_for_properties = is_before_2_20(&version);
        let can_suppress_trace_module = help.contains("-noGenerateSpecTE");
        Some(Self { version, is_newer_than_2_15, needs_one_worker_for_properties, can_suppress_trace_module })
    }
}

/// How the answer of the jar [`FETCHED_JAR_SHA256`] begins; its usage has no `-noGenerateSpecTE`.
const FETCHED_HELP: &str = "TLC2 Version 2.15 (rev: d5b5a7f)";

fn is_fetched_jar(jar: &Path) -> bool {
    std::fs::read(jar).is_ok_and(|bytes| Sha::digest(bytes).as_str() == FETCHED_JAR_SHA256)
}

/// A public report of a wrong verdict of TLC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct KnownFault {
    /// The number of the issue in the repository tlaplus/tlaplus.
    pub issue: u32,
    pub what: &'static str,
}

/// The reported faults of the releases up to 1.7.4 (TLC 2.19), which are fixed only in later builds: issue 1332 lists them.
const FAULTS_UP_TO_2_19: [KnownFault; 6] = [
    KnownFault {
        issue: 1145,
        what: "`SubSeq` of a function that `EXCEPT` has changed can have the values from before",
    },
    KnownFault {
        issue: 1302,
        what: "`EXCEPT` can change another function, too: violations are missed or wrongly reported",
    },
    KnownFault { issue: 1112, what: "a wrong verdict about invariants or properties; see the issue for when" },
    KnownFault { issue: 725, what: "a wrong verdict about invariants or properties; see the issue for when" },
    KnownFault { issue: 742, what: "a wrong verdict about temporal properties; see the issue for when" },
    KnownFault {
        issue: 971,
        what: "violations of temporal properties can be missed with several workers; tlaforge checks them with one",
    },
];

/// The public reports of wrong verdicts that concern this version of TLC, given as TLC prints it; empty for a version whose
/// faults are not known here.
pub fn known_faults(version: &str) -> &'static [KnownFault] {
    if is_before_2_20(version) { &FAULTS_UP_TO_2_19 } else { &[] }
}

fn is_before_2_20(version: &str) -> bool {
    version_number(version).is_some_and(|number| number < (2, 20))
}

fn version_number(version: &str) -> Option<(u32, u32)> {
    let number = version.strip_prefix("TLC2 Version ")?.split(' ').next()?;
    let mut parts = number.split('.').map(str::parse::<u32>);
    Some((parts.next()?.ok()?, parts.next()?.ok()?))
}

/// The files of a specification: name and text.
pub(crate) fn module_files(spec: &SpecText) -> Vec<(String, &str)> {
    std::iter::once((&spec.name, &spec.text))
        .chain(spec.local_modules.iter().map(|(name, text)| (name, text)))
        .map(|(name, text)| (format!("{name}.tla"), text.as_str()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_as_numbers() {
        assert_eq!(version_number("TLC2 Version 2.15 of Day Month 20?? (rev: d5b5a7f)"), Some((2, 15)));
        assert!(version_number("TLC2 Version 2.9 of x") < version_number("TLC2 Version 2.20 of y"));
        assert_eq!(version_number("TLC2 Version 2026.01.02"), Some((2026, 1)));
    }
}
