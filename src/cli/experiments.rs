//! `tlaforge experiments`: the experiments of the TRAC paper with any model. It is not in the help of the program:
//! `scripts/experiments` runs it, and `docs/experiments.md` tells of it.

use std::fmt::Write as _;
use std::num::{NonZeroU32, NonZeroU64, NonZeroUsize};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::{Args as ClapArgs, ValueEnum};

use super::failure::{Fails, Failure};
use super::format::Format;
use super::model_client::{ModelArgs, exit_of_failed_call};
use super::provider::{AnswerSource, create_caller};
use super::settings::load_settings;
use super::signals::cancel_on_signals;
use super::terminal::{is_interactive, print_json_line, print_message, print_result};
use super::trust::make_paths_absolute;
use crate::config::{Layer, Settings, seconds};
use crate::exit::Exit;
use crate::experiment::{
    AskError, Asker, Complexity, EpisodeSettings, InterventionPlan, JudgeCase, JudgeKind, JudgePlan, Lookahead, Method,
    RecordingFile, Task, compare_interventions, run_judges,
};
use crate::llm::{LlmError, Recorded, Recording};
use crate::report::{Experiments, Timed, counted, experiments_json, experiments_text};

/// One of the two.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Which {
    /// Evaluator against monitors.
    Judge,
    /// Interventions in the truck task.
    Interventions,
}

/// Kinds of constraints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum ComplexityChoice {
    /// One event, and later another.
    Simple,
    /// A tree of alternatives.
    Complex,
}

/// Who judges.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum WayChoice {
    /// The model, from constraint and trace.
    ZeroShot,
    /// The model, with two examples.
    FewShot,
    /// The model, with two examples and the true propositions of each step.
    FewShotLabels,
    /// The monitor, with the model as its labeler.
    Labeler,
    /// The monitor, with true labels; it asks nobody.
    Monitor,
}

/// How a violation that is coming is met.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum MethodChoice {
    /// Not at all.
    None,
    /// Several answers, of which the one that owes least is taken.
    Resample,
    /// What is owed goes into the prompt.
    Inject,
    /// A prompt with the rules alone.
    Switch,
}

/// Sizes that are tried, or none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Sizes(Vec<usize>);

impl FromStr for Sizes {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "none" {
            return Ok(Self(Vec::new()));
        }
        let all: Result<Vec<usize>, _> = text.split(',').map(|size| size.trim().parse()).collect();
        all.map(Self).map_err(|_| "it takes numbers with commas between them, like 1,10,100, or `none`".to_owned())
    }
}

/// Flags of `experiments`.
#[derive(Debug, ClapArgs)]
pub(super) struct ExperimentsArgs {
    /// One of the two experiments alone.
    #[arg(long, value_enum, value_name = "WHICH")]
    pub only: Option<Which>,
    /// Sizes with which both take some 50 short questions; any size may still be given.
    #[arg(long)]
    pub small: bool,
    /// Say how many questions there are, and ask none.
    #[arg(long)]
    pub plan: bool,
    /// What traces and tasks are drawn with.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
    /// Questions at a time.
    #[arg(long, value_name = "N", default_value = "4")]
    pub parallel: NonZeroUsize,
    /// Traces of each setting [default: 10; small: 2].
    #[arg(long, value_name = "N")]
    pub samples: Option<u32>,
    /// Steps between the events of a constraint [default: 1,10,100; small: 3].
    #[arg(long, value_name = "SIZES|none")]
    pub gaps: Option<Sizes>,
    /// Constraints on one trace [default: 1,5,10; small: 2].
    #[arg(long, value_name = "SIZES|none")]
    pub constraints: Option<Sizes>,
    /// Entities at a step [default: 1,5,20; small: 2].
    #[arg(long, value_name = "SIZES|none")]
    pub entities: Option<Sizes>,
    /// Steps of the traces of --constraints and --entities [default: 500 (complex: 1000) and 100; small: 32].
    #[arg(long, value_name = "N")]
    pub length: Option<usize>,
    /// Kinds of constraints [default: simple].
    #[arg(long, value_enum, value_name = "KINDS", value_delimiter = ',')]
    pub formulas: Vec<ComplexityChoice>,
    /// Who judges [default: all].
    #[arg(long, value_enum, value_name = "WHO", value_delimiter = ',')]
    pub judges: Vec<WayChoice>,
    /// Steps that a labeler is shown at a time.
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub label_steps: usize,
    /// Episodes for each method [default: 10; small: 2].
    #[arg(long, value_name = "N")]
    pub episodes: Option<u32>,
    /// Packages of a task, 2 to 9 [default: 5; small: 2].
    #[arg(long, value_name = "N")]
    pub packages: Option<usize>,
    /// Places of a task, 3 to 8 [default: 5; small: 3].
    #[arg(long, value_name = "N")]
    pub places: Option<usize>,
    /// Areas of the truck, 2 to 4 [default: 3; small: 2].
    #[arg(long, value_name = "N")]
    pub areas: Option<usize>,
    /// How violations are met [default: all].
    #[arg(long, value_enum, value_name = "HOW", value_delimiter = ',')]
    pub methods: Vec<MethodChoice>,
    /// AnswerSource after which an episode ends [default: 8 for each package; small: 6].
    #[arg(long, value_name = "N")]
    pub limit: Option<NonZeroU32>,
    /// AnswerSource of `resample`, the first one included [default: 5; small: 3].
    #[arg(long, value_name = "N")]
    pub candidates: Option<NonZeroU32>,
    /// Actions beyond the next one that are foreseen by asking the model for them; the paper has 3.
    #[arg(long, value_name = "STEPS", default_value_t = 0)]
    pub ahead: usize,
    /// How often they are asked for.
    #[arg(long, value_name = "N", default_value_t = 5)]
    pub futures: u32,
    /// The part of them, above 0 and 1 at most, that has to break a rule.
    #[arg(long, value_name = "SHARE", default_value_t = 0.5)]
    pub threshold: f64,
    #[command(flatten)]
    pub model: ModelArgs,
    /// How hard the model thinks, in the provider's words.
    #[arg(long, value_name = "WORD")]
    pub effort: Option<String>,
    /// The temperature of everything [default: 0.2 for judges, labels and actions, 0.8 for samples].
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    pub temperature: Option<f64>,
    /// Tokens that one answer may take.
    #[arg(long, value_name = "N")]
    pub max_output: Option<NonZeroU32>,
    /// Time that it may take from now on, e.g. 90s, 45m, 2h.
    #[arg(long, value_name = "TIME", value_parser = seconds)]
    pub max_time: Option<NonZeroU64>,
    /// Where answers are kept as they come; with the same file an experiment goes on [default: answers.jsonl in --out].
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,
    /// The folder of answers, of requests by handoff, and of the empty workspace.
    #[arg(long, value_name = "DIR", default_value = "experiments")]
    pub out: PathBuf,
    /// How results are printed.
    #[arg(long, value_enum, default_value = "text")]
    pub format: Format,
}

/// What is to be done, looked at before anything is asked.
struct Work {
    judge: Option<(JudgePlan, Vec<JudgeCase>)>,
    steer: Option<(InterventionPlan, Vec<Task>)>,
}

pub(super) async fn experiments(args: ExperimentsArgs) -> Result<Exit, Failure> {
    let work = args.work()?;
    if args.plan {
        print_result(&work.in_words());
        return Ok(Exit::Ok);
    }
    let (asker, answered_by, kept) = asker(&args).await?;
    let mut of = Experiments { answered_by, seed: args.seed, judge: None, interventions: None, times: Vec::new() };
    let progress = |line: String| {
        if is_interactive() {
            print_message(&line);
        }
    };
    let judging = async {
        let Some((plan, traces)) = &work.judge else { return Ok(None) };
        let each = |judging: &JudgeCase, way: JudgeKind, judged: &crate::experiment::JudgeResult| {
            let right =
                judged.verdicts.iter().zip(&judged.truths).filter(|(said, truth)| **said == Some(**truth)).count();
            let (name, number) = (judging.setting.name(), judging.number + 1);
            progress(format!("{name}, trace {number}, {}: {right} of {} right", way.name(), judged.truths.len()));
        };
        run_judges(plan, traces, &asker, &each).await.map(Some)
    };
    let steering = async {
        let Some((plan, tasks)) = &work.steer else { return Ok(None) };
        let each = |method: Method, number: u32, episode: &crate::experiment::Episode| {
            let violations = counted(episode.violations, "violation");
            let (name, delivered) = (method.name(), episode.delivered);
            progress(format!("episode {}, {name}: {violations}, {delivered} delivered", number + 1));
        };
        let rows = compare_interventions(plan, tasks, &asker, &each).await?;
        Ok(Some((plan_in_words(plan), rows)))
    };
    // A person who answers has the questions of both at once.
    let (judged, steered) = tokio::join!(judging, steering);
    (of.judge, of.interventions) = both(judged, steered).map_err(|error| failed(&error, kept.as_deref()))?;
    of.times = asker
        .times()
        .into_iter()
        .map(|(kind, (calls, time))| Timed { kind, calls, seconds: time.as_secs_f64() })
        .collect();
    match args.format {
        Format::Json => print_json_line(&experiments_json(&of)),
        Format::Text => print_result(&experiments_text(&of)),
    }
    for timed in &of.times {
        let each = timed.seconds / f64::from(u32::try_from(timed.calls).unwrap_or(u32::MAX));
        print_message(&format!("{}: {}, {each:.1} s each", timed.kind, counted(timed.calls, "call")));
    }
    Ok(Exit::Ok)
}

/// What both came to, or what halted them.
fn both<A, B>(a: Result<A, AskError>, b: Result<B, AskError>) -> Result<(A, B), AskError> {
    match (a, b) {
        (Ok(a), Ok(b)) => Ok((a, b)),
        (Err(AskError::Halted) | Ok(_), Err(error)) | (Err(error), _) => Err(error),
    }
}

fn plan_in_words(plan: &InterventionPlan) -> String {
    let look = plan.settings.lookahead.map_or(String::new(), |look| {
        format!(", and {} foreseen {}", counted(look.steps, "action"), counted(look.futures as usize, "time"))
    });
    format!(
        "{}, {}, {}; an episode ends after {}; the next action is looked at{look}",
        counted(plan.packages, "package"),
        counted(plan.places, "place"),
        counted(plan.areas, "area"),
        counted(plan.settings.limit as usize, "answer"),
    )
}

impl Work {
    fn in_words(&self) -> String {
        let mut text = String::new();
        if let Some((plan, traces)) = &self.judge {
            for way in &plan.judges {
                let all: usize = traces.iter().map(|judging| plan.question_count(*way, &judging.subject.trace)).sum();
                let _ = writeln!(
                    text,
                    "judge, {}: {} on {}",
                    way.name(),
                    counted(all, "question"),
                    counted(traces.len(), "trace")
                );
            }
        }
        if let Some((plan, _)) = &self.steer {
            let most = usize::try_from(plan.max_questions()).unwrap_or(usize::MAX);
            let _ = writeln!(
                text,
                "interventions, {}: at most {}; what several methods would ask alike is asked once",
                plan_in_words(plan),
                counted(most, "question")
            );
        }
        text
    }
}

impl ExperimentsArgs {
    /// The plan, with every size looked at.
    fn work(&self) -> Result<Work, Failure> {
        let judge = match self.only {
            Some(Which::Interventions) => None,
            _ => {
                let plan = self.judge_plan();
                let traces = plan.traces().fails(Exit::Usage)?;
                if traces.is_empty() {
                    return Err(Failure::usage(
                        "there is no trace to judge: --gaps, --constraints and --entities are `none`",
                    )
                    .hint("give one of them a size, or take --only interventions"));
                }
                Some((plan, traces))
            }
        };
        let steer = match self.only {
            Some(Which::Judge) => None,
            _ => {
                let plan = self.steer_plan()?;
                let tasks = plan.tasks().map_err(Failure::usage)?;
                Some((plan, tasks))
            }
        };
        Ok(Work { judge, steer })
    }

    fn judge_plan(&self) -> JudgePlan {
        let preset = |usual: &[usize], small: usize| if self.small { vec![small] } else { usual.to_vec() };
        let sizes = |given: &Option<Sizes>, usual: &[usize], small: usize| {
            given.as_ref().map_or_else(|| preset(usual, small), |given| given.0.clone())
        };
        let ways = self.judges.iter().map(|way| match way {
            WayChoice::ZeroShot => JudgeKind::ZeroShot,
            WayChoice::FewShot => JudgeKind::FewShot,
            WayChoice::FewShotLabels => JudgeKind::FewShotLabels,
            WayChoice::Labeler => JudgeKind::Labeler,
            WayChoice::Monitor => JudgeKind::Monitor,
        });
        let formulas = self.formulas.iter().map(|choice| match choice {
            ComplexityChoice::Simple => Complexity::Simple,
            ComplexityChoice::Complex => Complexity::Complex,
        });
        JudgePlan {
            seed: self.seed,
            samples: self.samples.unwrap_or(if self.small { 2 } else { 10 }),
            gaps: sizes(&self.gaps, &[1, 10, 100], 3),
            constraints: sizes(&self.constraints, &[1, 5, 10], 2),
            entities: sizes(&self.entities, &[1, 5, 20], 2),
            formulas: each_once(formulas, &[Complexity::Simple]),
            length: self.length.or(self.small.then_some(32)),
            judges: each_once(ways, &JudgeKind::ALL),
            label_steps: self.label_steps,
        }
    }

    fn steer_plan(&self) -> Result<InterventionPlan, Failure> {
        let at_least_one = |flag: &str, value: u32| {
            let fine = (1..=10_000).contains(&value);
            if fine { Ok(value) } else { Err(Failure::usage(format!("{flag} is {value}; it must be from 1 to 10000"))) }
        };
        if !(self.threshold > 0.0 && self.threshold <= 1.0) {
            return Err(Failure::usage(format!(
                "--threshold is {}; it must be above 0, and 1 at most",
                self.threshold
            )));
        }
        if self.ahead > 20 {
            return Err(Failure::usage(format!("--ahead is {}; it must be 20 at most", self.ahead)));
        }
        let methods = self.methods.iter().map(|method| match method {
            MethodChoice::None => Method::None,
            MethodChoice::Resample => Method::Resample,
            MethodChoice::Inject => Method::Inject,
            MethodChoice::Switch => Method::Switch,
        });
        let packages = self.packages.unwrap_or(if self.small { 2 } else { 5 });
        let each = if self.small { 6 } else { 8 };
        let usual = u32::try_from(packages).unwrap_or(u32::MAX).saturating_mul(each);
        let look = Lookahead {
            steps: self.ahead,
            futures: at_least_one("--futures", self.futures)?,
            threshold: self.threshold,
        };
        Ok(InterventionPlan {
            seed: self.seed,
            episodes: at_least_one("--episodes", self.episodes.unwrap_or(if self.small { 2 } else { 10 }))?,
            packages,
            places: self.places.unwrap_or(if self.small { 3 } else { 5 }),
            areas: self.areas.unwrap_or(if self.small { 2 } else { 3 }),
            methods: each_once(methods, &Method::ALL),
            settings: EpisodeSettings {
                limit: self.limit.map_or(usual, NonZeroU32::get),
                samples: self.candidates.map_or(if self.small { 3 } else { 5 }, NonZeroU32::get),
                lookahead: (self.ahead > 0).then_some(look),
            },
        })
    }

    fn layer(&self) -> Layer {
        Layer {
            effort: self.effort.clone(),
            temperature: self.temperature,
            max_output: self.max_output,
            max_time: self.max_time,
            concurrency: Some(self.parallel),
            ..self.model.layer()
        }
    }
}

/// What was chosen, without what was named again; where nothing was, what is usual.
fn each_once<T: Copy + PartialEq>(chosen: impl Iterator<Item = T>, usual: &[T]) -> Vec<T> {
    let mut all: Vec<T> = Vec::new();
    for one in chosen {
        if !all.contains(&one) {
            all.push(one);
        }
    }
    if all.is_empty() { usual.to_vec() } else { all }
}

/// Who is asked, by name, and where the answers are kept.
async fn asker(args: &ExperimentsArgs) -> Result<(Asker, Vec<String>, Option<PathBuf>), Failure> {
    let mut settings = load_settings(args.layer())?;
    make_paths_absolute(&mut settings);
    // AnswerSource of another model would come into the same figures.
    settings.given.fallback_model = None;
    if settings.provider == "replay" && args.record.is_some() {
        return Err(Failure::usage("a replay asks nobody, so there is nothing to record").hint("leave --record out"));
    }
    let cancel = cancel_on_signals();
    let caller = create_caller(&settings, AnswerSource::Configured, &args.out, &cancel).await?;
    let out = std::path::absolute(&args.out).fails(Exit::Usage)?;
    let (workspace, at_a_time) = (out.join("workspace"), args.parallel.get());
    let tell = Box::new(|line: &str| print_message(line));
    if caller.name() == "replay" {
        let answered_by = recorded_by(&settings)?;
        return Ok((Asker::new(caller, at_a_time, cancel, workspace, None, Vec::new(), tell), answered_by, None));
    }
    std::fs::create_dir_all(&workspace)
        .map_err(|e| Failure::usage(format!("cannot create {}: {e}", workspace.display())))?;
    let record = args.record.clone().unwrap_or_else(|| out.join("answers.jsonl"));
    let (ledger, held) = RecordingFile::open(&record).fails(Exit::Usage)?;
    let model = caller.choice("judge").model;
    ledger.check_model(&held, caller.name(), model.as_deref()).fails(Exit::Usage)?;
    if !held.is_empty() {
        print_message(&format!(
            "{} holds {}, which are not asked for again",
            record.display(),
            counted(held.len(), "answer")
        ));
    }
    let answered_by = vec![named(caller.name(), model.as_deref())];
    Ok((Asker::new(caller, at_a_time, cancel, workspace, Some(ledger), held, tell), answered_by, Some(record)))
}

fn named(provider: &str, model: Option<&str>) -> String {
    model.map_or_else(|| provider.to_owned(), |model| format!("{provider} ({model})"))
}

/// Who gave the answers of the recording.
fn recorded_by(settings: &Settings) -> Result<Vec<String>, Failure> {
    let Some(path) = &settings.given.recording else { return Ok(Vec::new()) };
    let recording = Recording::load(path).fails(Exit::Usage)?;
    let by = |answer: &Recorded| named(&answer.provider, answer.model.as_deref());
    let mut all: Vec<String> = recording.answers.iter().map(by).collect();
    all.sort();
    all.dedup();
    Ok(all)
}

fn failed(error: &AskError, kept: Option<&Path>) -> Failure {
    let exit = match error {
        AskError::Llm(error) => exit_of_failed_call(error),
        AskError::RecordingFile(_) => Exit::Usage,
        _ => Exit::Provider,
    };
    let failure = Failure::new(exit, error.to_string());
    match (error, kept) {
        (AskError::Llm(LlmError::ReplayMiss { .. }), _) => {
            failure.hint("a recording answers for the seed, the sizes and the methods that it was made with")
        }
        (_, Some(kept)) => {
            failure.hint(format!("every answer so far is in {}; the same command goes on from there", kept.display()))
        }
        _ => failure,
    }
}
