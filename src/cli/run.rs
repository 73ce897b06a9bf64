//! `tlaforge run`: documentation in, specification out.

use std::path::{Path, PathBuf};

use clap::Args as ClapArgs;

use super::completions::cases;
use super::failure::Failure;
use super::forge_args::{ForgeArgs, ForgeOutput};
use super::new_run::{DocumentSource, NewRun, start_and_drive};
use super::objective::read_objective;
use super::page::RunPageArgs;
use super::policy_file::PolicyFile;
use super::provider::AnswerSource;
use super::run_place::RunPlace;
use super::settings::load_settings;
use super::trust::make_paths_absolute;
use crate::config::Layer;
use crate::eval::Checklist;
use crate::exit::Exit;
use crate::files;
use crate::pipeline::Interface;

#[derive(Debug, ClapArgs)]
pub(super) struct RunArgs {
    /// Document, or folder of documents (.md .mdx .txt .rst .html .adoc). Hidden files, hidden folders and
    /// `node_modules` are skipped.
    #[arg(required_unless_present = "case")]
    pub docs: Option<PathBuf>,
    /// Evaluation case to draft from: uses its documents and the interface of its checklist.
    #[arg(long, value_name = "DIR", conflicts_with = "docs", add = cases())]
    pub case: Option<PathBuf>,
    /// Run folder to create, or address of the run in a shared store, such as `s3://BUCKET/PATH`.
    #[arg(long, value_name = "DIR", default_value = "specs")]
    pub out: PathBuf,
    /// Folder of exemplars (X.tla, X.cfg) [default: ./exemplars if it exists, otherwise the built-in ones].
    #[arg(long, value_name = "DIR")]
    pub exemplars: Option<PathBuf>,
    /// Single concern of the specification [default: the model chooses].
    #[arg(long, value_name = "TEXT")]
    pub concern: Option<String>,
    /// Name of the module, after which its files are named [default: the one that the documents fix, or `Spec`].
    #[arg(long, value_name = "NAME")]
    pub module: Option<String>,
    /// Words that make a sentence of the documents normative, separated by commas [default: must, shall, never, always,
    /// at no time, only if, at most, exactly once, exactly one, unless, is guaranteed, are guaranteed, cannot,
    /// eventually, at least, stay, stays, remain, remains, until, before, after; in a replay those of the recording].
    #[arg(long, value_name = "WORDS", value_delimiter = ',')]
    pub normative_words: Vec<String>,
    #[command(flatten)]
    pub forge: ForgeArgs,
    #[command(flatten)]
    pub output: ForgeOutput,
    #[command(flatten)]
    pub pages: RunPageArgs,
}

pub(super) async fn run(args: RunArgs) -> Result<Exit, Failure> {
    let (docs, interface, concern) = match (&args.docs, &args.case) {
        (Some(docs), _) => (docs.clone(), Interface::default(), None),
        (None, Some(case)) => read_case(case)?,
        (None, None) => return Err(Failure::usage("no documents: name a document or a folder")),
    };
    let concern = args.concern.clone().or(concern);
    let objective = read_objective(args.forge.objective.as_deref())?;
    let flags = Layer {
        exemplars: args.exemplars.clone(),
        concern,
        module: args.module.clone(),
        normative_words: args.normative_words.clone(),
        ..args.forge.layer()
    };
    let mut settings = load_settings(flags)?;
    make_paths_absolute(&mut settings);
    let policy = args.forge.policy.as_deref().map(PolicyFile::read).transpose()?;
    let job = NewRun {
        out: RunPlace::find(&args.out)?,
        docs: DocumentSource::Path(docs),
        interface,
        answers: AnswerSource::Configured,
        objective,
        policy,
        earlier: None,
    };
    start_and_drive(job, settings, (args.output.format, &args.output.findings), &args.pages).await
}

/// The documents of a case, and the interface and concern of its checklist.
pub(super) fn read_case(case: &Path) -> Result<(PathBuf, Interface, Option<String>), Failure> {
    let checklist = Checklist::read(case).map_err(|e| Failure::usage(e.to_string()).hint(e.remedy.clone()))?;
    let docs = case.join("docs");
    // A case may come from another person, and its documents are sent to a model.
    if docs.exists() && !files::is_within(case, Path::new("docs")) {
        return Err(Failure::usage(format!("{} is a link that leads out of the case", docs.display()))
            .hint("give the documents themselves: tlaforge run DOCS"));
    }
    Ok((docs, checklist.interface, checklist.concern))
}
