//! The arguments of each tool. The comments are the descriptions that the client sees; an unknown argument is an error.

use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::cli::failure::Failure;

/// Longest text of an argument that becomes an argument of a command, in bytes. Linux allows 128 KiB.
const MAX_TEXT: usize = 64 << 10;

pub(super) fn parse<T: DeserializeOwned>(tool: &str, arguments: Option<JsonObject>) -> Result<T, Failure> {
    let arguments = Value::Object(arguments.unwrap_or_default());
    serde_json::from_value(arguments).map_err(|e| Failure::usage(format!("the arguments of {tool} are wrong: {e}")))
}

/// A text that becomes an argument of a command.
pub(super) fn checked_text<'a>(what: &str, text: &'a str) -> Result<&'a str, Failure> {
    let problem = match text {
        text if text.trim().is_empty() => "is empty",
        text if text.len() > MAX_TEXT => "is longer than 64 KiB",
        text if text.starts_with('-') => "begins with `-`, like a flag",
        text if text.contains('\0') => "contains a NUL character",
        _ => return Ok(text),
    };
    Err(Failure::usage(format!("{what} {problem}")))
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum Checker {
    Auto,
    Tlc,
    Embedded,
    Both,
}

impl Checker {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Tlc => "tlc",
            Self::Embedded => "embedded",
            Self::Both => "both",
        }
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CheckArguments {
    /// Module (.tla) to check. It is never edited: a `PlusCal` algorithm is translated in a copy.
    pub spec: String,
    /// Configuration (.cfg) [default: the one with the name of the module, beside it].
    pub config: Option<String>,
    /// `tlc` needs Java, `embedded` does not, `both` compares the two [default: auto].
    pub checker: Option<Checker>,
    /// Time limit in seconds for each run of the checker [default: 300].
    pub timeout_seconds: Option<std::num::NonZeroU32>,
    /// Check the translation in the file instead of translating the algorithm again.
    pub keep_translation: Option<bool>,
    /// Folders with modules that are not beside the specification.
    #[serde(default)]
    pub libraries: Vec<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ConformArguments {
    /// Module (.tla) of the specification, or the folder of a run.
    pub spec: String,
    /// Logs of one system: JSON lines, a JSON list, spans of OpenTelemetry, or text that the map describes.
    pub logs: Vec<String>,
    /// The map (conform.toml), which says which lines are which steps.
    pub map: String,
    /// Configuration (.cfg) [default: the one with the name of the module, beside it].
    pub config: Option<String>,
    /// Compare each event on its own.
    pub windows: Option<bool>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ExploreArguments {
    /// Module (.tla) of the specification, or the folder of a run.
    pub spec: String,
    /// Commands in order: `steps`, the number of a step or its action such as `Enter(1)`, `why ACTION`, `undo N`, `state`, `path`,
    /// `eval EXPRESSION`, `goto EXPRESSION`. The exploration begins anew in each call.
    pub commands: Vec<String>,
    /// Configuration (.cfg) [default: the one with the name of the module, beside it].
    pub config: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct TranslateArguments {
    /// Module (.tla) with a `PlusCal` algorithm.
    pub spec: String,
    /// Write the translation into the file; otherwise it is only returned.
    pub write: Option<bool>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ExplainArguments {
    /// Module (.tla) to check; its counterexample is explained in sentences. Give this or `job`.
    pub spec: Option<String>,
    /// Configuration (.cfg) [default: the one with the name of the module, beside it].
    pub config: Option<String>,
    /// Run folder; the counterexamples that it found are explained, with the sentences of the documents. Give this or `spec`.
    pub job: Option<String>,
    /// `tlc` needs Java, `embedded` does not [default: auto].
    pub checker: Option<Checker>,
    /// Time limit in seconds for each run of the checker [default: 300].
    pub timeout_seconds: Option<std::num::NonZeroU32>,
    /// Folders with modules that are not beside the specification.
    #[serde(default)]
    pub libraries: Vec<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct MutateArguments {
    /// Module (.tla) whose properties are tested: which deliberate changes do they notice? It is never edited.
    pub spec: String,
    /// Configuration (.cfg) [default: the one with the name of the module, beside it].
    pub config: Option<String>,
    /// Folder of the results; mutants that it has results for are not judged again [default: mutants.out beside the module].
    pub out: Option<String>,
    /// Judge only this many mutants, chosen at random [default: all].
    pub sample: Option<std::num::NonZeroU32>,
    /// `tlc` needs Java, `embedded` does not [default: auto].
    pub checker: Option<Checker>,
    /// Folders with modules that are not beside the specification.
    #[serde(default)]
    pub libraries: Vec<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct TestArguments {
    /// Folder of models, with its subfolders: `M.cfg` and `M.….cfg` are tests of `M.tla`. A comment `\* EXPECT violated Inv`
    /// (or `deadlock`, `error`) in a configuration says what is expected [default: `holds`].
    pub folder: String,
    /// Run only tests whose path contains one of these texts [default: all].
    #[serde(default)]
    pub names: Vec<String>,
    /// `tlc` needs Java, `embedded` does not, `both` compares the two [default: auto].
    pub checker: Option<Checker>,
    /// Time limit in seconds for each run of the checker [default: 300].
    pub timeout_seconds: Option<std::num::NonZeroU32>,
    /// Folders with modules that are not beside the models.
    #[serde(default)]
    pub libraries: Vec<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct DriftArguments {
    /// Run folder, as `forge_start` returned it.
    pub job: String,
    /// Document or folder of documents, as it is now.
    pub docs: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct AuditArguments {
    /// Run folder, or log of an agent: JSON lines, a transcript of Claude Code, or a list of messages.
    pub log: String,
    /// Policy file, or `default` for the policy that governs every run. Give this, `formulas`, or both.
    pub policy: Option<String>,
    /// Formulas to check as rules.
    #[serde(default)]
    pub formulas: Vec<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct FormulaArguments {
    /// Temporal formula, for example `G (request -> F answer)`.
    pub formula: String,
    /// Trace to evaluate it on: states separated by `;`, each with the propositions that are true, for example `a; a b; ; b`.
    pub trace: Option<String>,
    /// Also return the minimal automaton as a table.
    pub automaton: Option<bool>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct JobArguments {
    /// Job id, as `check`, `test` or `mutate` returned it, for example `check-3`.
    pub job: String,
    /// Wait up to this many seconds for its end, at most 45 [default: 0].
    pub wait_seconds: Option<u32>,
}

/// Who answers the requests of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum ProviderName {
    /// The Claude Code program if it is logged in, otherwise the Messages API if its key is set.
    Auto,
    /// The Claude Code program.
    Claude,
    /// The Messages API; the server's environment has the key.
    Anthropic,
    /// Any compatible server; the server's environment has address and key.
    Openai,
    /// You: fetch each request with `next_request` and answer it with `submit_answer`.
    Mcp,
    /// The recording in `recording`.
    Replay,
}

impl ProviderName {
    /// The name for `--provider`; `None` for the default.
    pub(super) fn flag(self) -> Option<&'static str> {
        match self {
            Self::Auto => None,
            Self::Claude => Some("claude"),
            Self::Anthropic => Some("anthropic"),
            Self::Openai => Some("openai"),
            Self::Mcp => Some("handoff"),
            Self::Replay => Some("replay"),
        }
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ForgeArguments {
    /// Document or folder of documents to forge a specification from. Give this or `case`.
    pub docs: Option<String>,
    /// Evaluation case, whose documents and interface are used. Give this or `docs`.
    pub case: Option<String>,
    /// New run folder. It is also the id of the job.
    pub out: String,
    /// Who answers the requests [default: auto].
    pub provider: Option<ProviderName>,
    /// Recording of earlier answers; implies the provider `replay`.
    pub recording: Option<String>,
    /// Name of the model [default: the provider's].
    pub model: Option<String>,
    /// Single concern of the specification [default: the model chooses].
    pub concern: Option<String>,
    /// Name of the module [default: the one that the documents fix, or `Spec`].
    pub module: Option<String>,
    /// Number of formalizations to draft side by side, 1 to 8 [default: 1].
    #[schemars(range(min = 1, max = 8))]
    pub candidates: Option<u8>,
    /// Most revisions after the first [default: 3].
    pub max_revisions: Option<u32>,
    /// If the protocol is flawed, make the smallest change that repairs it and continue.
    pub repair: Option<bool>,
    /// Most mutants to judge before a review, and as many others before an approval [default: 40]; 0 judges none.
    pub mutants: Option<u32>,
    /// Most cost in US dollars [default: no limit].
    pub max_cost: Option<f64>,
    /// Most minutes from now on [default: no limit].
    pub max_minutes: Option<std::num::NonZeroU32>,
    /// `tlc` needs Java, `embedded` does not [default: auto].
    pub checker: Option<Checker>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RunArguments {
    /// Run folder, as `forge_start` returned it.
    pub job: String,
    /// Wait up to this many seconds until something changes, at most 45 [default: 0].
    pub wait_seconds: Option<u32>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RunFolderArguments {
    /// Run folder, as `forge_start` returned it.
    pub job: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct QuestionArguments {
    /// Run folder, as `forge_start` returned it.
    pub job: String,
    /// `a` or `b` as the question lists them, or the reading in your own words. Without it, the user is asked, if the client
    /// can; only the owner of the protocol can decide.
    pub answer: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct NextRequestArguments {
    /// Run folder of a run with the provider `mcp`.
    pub job: String,
    /// Wait up to this many seconds for a request, at most 45 [default: 20].
    pub wait_seconds: Option<u32>,
    /// Number of the request [default: the oldest that waits].
    pub request: Option<u64>,
    /// Byte of the request's text to continue at, as the last page returned it [default: 0].
    pub offset: Option<usize>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RequestFileArguments {
    /// Run folder of a run with the provider `mcp`.
    pub job: String,
    /// Number of the request that lists the file.
    pub request: u64,
    /// Path of the file, as the request lists it.
    pub path: String,
    /// First line to read, from 1 [default: 1].
    pub from_line: Option<usize>,
    /// Byte of that line to begin at, as the last page of a long line returned it [default: 0].
    pub from_byte: Option<usize>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct AnswerArguments {
    /// Run folder of a run with the provider `mcp`.
    pub job: String,
    /// Number of the request.
    pub request: u64,
    /// The answer, in the form that the request asks for, without any remark about it.
    pub text: String,
    /// Files of the request that were read by other means than `read_request_file` (`docs/a.md`, or `docs/a.md:1-40`).
    #[serde(default)]
    pub files_read: Vec<String>,
}
