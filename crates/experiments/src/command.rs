//! The flags, and what one execution does: plans the experiments, asks the model, and prints the tables.
//! `docs/src/experiments.md` describes it for users.

use std::fmt::Write as _;
use std::num::{NonZeroU32, NonZeroU64, NonZeroUsize};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::{Args as ClapArgs, ValueEnum};

use tlaforge::cli::toolkit::{
    Fails, Failure, Format, ModelArgs, create_configured_caller, exit_of_failed_call, is_interactive, load_settings,
    parse_positive, print_json_line, print_message, print_result,
};
use tlaforge::config::{Layer, Settings, seconds};
use tlaforge::exit::Exit;
use tlaforge::report::counted;
use tlaforge_llm::{LlmError, Recorded, Recording};

use super::asker::{AskError, Asker};
use super::episode::{Episode, EpisodeSettings, Lookahead, Method};
use super::interventions::{InterventionPlan, compare_interventions};
use super::judge_plan::{Complexity, JudgeCase, JudgeKind, JudgePlan, JudgeResult};
use super::judge_runs::run_judges;
use super::recording_file::RecordingFile;
use super::tables::{Experiments, Timed, experiments_json, experiments_text};
use super::truck_task::Task;

/// Experiment to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Which {
    /// Compare model judges with monitors.
    Judge,
    /// Compare interventions in the truck task.
    Interventions,
}

/// Kinds of constraints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum ComplexityChoice {
    /// One event, and later another event.
    Simple,
    /// A tree of alternatives.
    Complex,
}

/// Judge of a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum JudgeChoice {
    /// The model, from constraint and trace.
    ZeroShot,
    /// The model, with two examples.
    FewShot,
    /// The model, with two examples and the true propositions of each step.
    FewShotLabels,
    /// The monitor, with the model as its labeler.
    Labeler,
    /// The monitor, with the true labels and no model.
    Monitor,
}

/// Intervention before a predicted violation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum MethodChoice {
    /// No intervention.
    None,
    /// Request several answers and take the one with the smallest residual.
    Resample,
    /// Add the residual to the prompt.
    Inject,
    /// Use a prompt that contains only the rules.
    Switch,
}

/// Comma-separated sizes, or `none`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Sizes(Vec<usize>);

impl FromStr for Sizes {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "none" {
            return Ok(Self(Vec::new()));
        }
        let all: Result<Vec<usize>, _> = text.split(',').map(|size| size.trim().parse()).collect();
        all.map(Self).map_err(|_| "must be numbers separated by commas, like 1,10,100, or `none`".to_owned())
    }
}

#[derive(Debug, ClapArgs)]
pub(super) struct ExperimentsArgs {
    /// Run only one of the two experiments [default: both].
    #[arg(long, value_enum, value_name = "WHICH")]
    pub only: Option<Which>,
    /// Use small sizes, about 50 short requests for both experiments; single sizes can still be set.
    #[arg(long)]
    pub small: bool,
    /// Print the number of requests without sending any.
    #[arg(long)]
    pub plan: bool,
    /// Seed of the generated traces and tasks.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
    /// Number of requests to send in parallel.
    #[arg(long, value_name = "N", default_value = "4", value_parser = parse_positive::<NonZeroUsize>)]
    pub parallel: NonZeroUsize,
    /// Number of traces per setting [default: 10; small: 2].
    #[arg(long, value_name = "N")]
    pub samples: Option<u32>,
    /// Numbers of steps between the events of a constraint [default: 1,10,100; small: 3].
    #[arg(long, value_name = "SIZES|none")]
    pub gaps: Option<Sizes>,
    /// Numbers of constraints on one trace [default: 1,5,10; small: 2].
    #[arg(long, value_name = "SIZES|none")]
    pub constraints: Option<Sizes>,
    /// Numbers of entities per step [default: 1,5,20; small: 2].
    #[arg(long, value_name = "SIZES|none")]
    pub entities: Option<Sizes>,
    /// Length of the traces of --constraints and --entities in steps [default: 500 (complex: 1000) and 100; small: 32].
    #[arg(long, value_name = "N")]
    pub length: Option<usize>,
    /// Kinds of constraints [default: simple].
    #[arg(long, value_enum, value_name = "KINDS", value_delimiter = ',')]
    pub formulas: Vec<ComplexityChoice>,
    /// Judges to compare [default: all].
    #[arg(long, value_enum, value_name = "JUDGES", value_delimiter = ',')]
    pub judges: Vec<JudgeChoice>,
    /// Number of steps per labelling request.
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub label_steps: usize,
    /// Number of episodes per method [default: 10; small: 2].
    #[arg(long, value_name = "N")]
    pub episodes: Option<u32>,
    /// Number of packages in a task, 2 to 9 [default: 5; small: 2].
    #[arg(long, value_name = "N")]
    pub packages: Option<usize>,
    /// Number of places in a task, 3 to 8 [default: 5; small: 3].
    #[arg(long, value_name = "N")]
    pub places: Option<usize>,
    /// Number of areas of the truck, 2 to 4 [default: 3; small: 2].
    #[arg(long, value_name = "N")]
    pub areas: Option<usize>,
    /// Interventions to compare [default: all].
    #[arg(long, value_enum, value_name = "METHODS", value_delimiter = ',')]
    pub methods: Vec<MethodChoice>,
    /// Maximum number of answers per episode [default: 8 per package; small: 6].
    #[arg(long, value_name = "N", value_parser = parse_positive::<NonZeroU32>)]
    pub limit: Option<NonZeroU32>,
    /// Number of answers that `resample` chooses from, including the first [default: 5; small: 3].
    #[arg(long, value_name = "N", value_parser = parse_positive::<NonZeroU32>)]
    pub candidates: Option<NonZeroU32>,
    /// Number of actions beyond the next one that the model predicts; the paper uses 3.
    #[arg(long, value_name = "STEPS", default_value_t = 0)]
    pub ahead: usize,
    /// Number of predictions per decision.
    #[arg(long, value_name = "N", default_value_t = 5)]
    pub futures: u32,
    /// Fraction of the predictions, above 0 and at most 1, that must violate a rule before an intervention.
    #[arg(long, value_name = "SHARE", default_value_t = 0.5)]
    pub threshold: f64,
    #[command(flatten)]
    pub model: ModelArgs,
    /// Reasoning effort, as the provider names it [default: the provider's].
    #[arg(long, value_name = "WORD")]
    pub effort: Option<String>,
    /// Sampling temperature of every request [default: 0.2 for judges, labels and actions, 0.8 for samples].
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    pub temperature: Option<f64>,
    /// Maximum tokens of one answer [default: the provider's].
    #[arg(long, value_name = "N", value_parser = parse_positive::<NonZeroU32>)]
    pub max_output: Option<NonZeroU32>,
    /// Maximum time from now on, e.g. 90s, 45m, 2h [default: no limit].
    #[arg(long, value_name = "TIME", value_parser = seconds)]
    pub max_time: Option<NonZeroU64>,
    /// File that keeps the answers; with the same file, an interrupted experiment continues [default: answers.jsonl in
    /// --out].
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,
    /// Folder for the answers, the requests of handoff, and the empty workspace.
    #[arg(long, value_name = "DIR", default_value = "experiments")]
    pub out: PathBuf,
    /// Output format; `json` prints one object.
    #[arg(long, value_enum, default_value = "text", hide_possible_values = true, value_name = "text|json")]
    pub format: Format,
}

/// The planned experiments, validated before the first request.
struct Work {
    judge: Option<(JudgePlan, Vec<JudgeCase>)>,
    interventions: Option<(InterventionPlan, Vec<Task>)>,
}

pub(super) async fn experiments(args: ExperimentsArgs) -> Result<Exit, Failure> {
    let work = args.plan_work()?;
    if args.plan {
        print_result(&work.describe());
        return Ok(Exit::Ok);
    }
    let (asker, answered_by, kept) = create_asker(&args).await?;
    let mut results = Experiments { answered_by, seed: args.seed, judge: None, interventions: None, times: Vec::new() };
    let progress = |line: String| {
        if is_interactive() {
            print_message(&line);
        }
    };
    let judging = async {
        let Some((plan, traces)) = &work.judge else { return Ok(None) };
        let each = |judging: &JudgeCase, judge: JudgeKind, judged: &JudgeResult| {
            let right = judged
                .verdicts
                .iter()
                .zip(&judged.truths)
                .filter(|(verdict, truth)| **verdict == Some(**truth))
                .count();
            let (name, number) = (judging.setting.name(), judging.number + 1);
            progress(format!("{name}, trace {number}, {}: {right} of {} right", judge.name(), judged.truths.len()));
        };
        run_judges(plan, traces, &asker, &each).await.map(Some)
    };
    let intervening = async {
        let Some((plan, tasks)) = &work.interventions else { return Ok(None) };
        let each = |method: Method, number: u32, episode: &Episode| {
            let violations = counted(episode.violations, "violation");
            let (name, delivered) = (method.name(), episode.delivered);
            progress(format!("episode {}, {name}: {violations}, {delivered} delivered", number + 1));
        };
        let rows = compare_interventions(plan, tasks, &asker, &each).await?;
        Ok(Some((describe_intervention_plan(plan), rows)))
    };
    // Both run at the same time, so that a person who answers by handoff sees all requests at once.
    let (judged, intervened) = tokio::join!(judging, intervening);
    (results.judge, results.interventions) =
        combine_results(judged, intervened).map_err(|error| ask_failure(&error, kept.as_deref()))?;
    results.times = asker
        .times()
        .into_iter()
        .map(|(kind, (calls, time))| Timed { kind, calls, seconds: time.as_secs_f64() })
        .collect();
    match args.format {
        Format::Json => print_json_line(&experiments_json(&results)),
        Format::Text => print_result(&experiments_text(&results)),
    }
    // On stderr, so that the result is the same for every replay of a recording.
    for timed in &results.times {
        let each = timed.seconds / f64::from(u32::try_from(timed.calls).unwrap_or(u32::MAX));
        print_message(&format!("{}: {}, {each:.1} s each", timed.kind, counted(timed.calls, "call")));
    }
    Ok(Exit::Ok)
}

/// Combines both results; the error that caused the halt wins over `Halted`.
fn combine_results<A, B>(a: Result<A, AskError>, b: Result<B, AskError>) -> Result<(A, B), AskError> {
    match (a, b) {
        (Ok(a), Ok(b)) => Ok((a, b)),
        (Err(AskError::Halted) | Ok(_), Err(error)) | (Err(error), _) => Err(error),
    }
}

fn describe_intervention_plan(plan: &InterventionPlan) -> String {
    let look = plan.settings.lookahead.map_or(String::new(), |look| {
        format!(", and {} of {}", counted(look.futures as usize, "prediction"), counted(look.steps, "action"))
    });
    format!(
        "{}, {}, {}; at most {} per episode; the monitor checks the next action{look}",
        counted(plan.packages, "package"),
        counted(plan.places, "place"),
        counted(plan.areas, "area"),
        counted(plan.settings.limit as usize, "answer"),
    )
}

impl Work {
    fn describe(&self) -> String {
        let mut text = String::new();
        if let Some((plan, traces)) = &self.judge {
            for judge in &plan.judges {
                let all: usize = traces.iter().map(|judging| plan.question_count(*judge, &judging.subject.trace)).sum();
                let _ = writeln!(
                    text,
                    "judge, {}: {} on {}",
                    judge.name(),
                    counted(all, "question"),
                    counted(traces.len(), "trace")
                );
            }
        }
        if let Some((plan, _)) = &self.interventions {
            let most = usize::try_from(plan.max_questions()).unwrap_or(usize::MAX);
            let _ = writeln!(
                text,
                "interventions, {}: at most {}; requests that several methods share are sent once",
                describe_intervention_plan(plan),
                counted(most, "question")
            );
        }
        text
    }
}

impl ExperimentsArgs {
    /// Builds the plan and checks every size.
    fn plan_work(&self) -> Result<Work, Failure> {
        let judge = match self.only {
            Some(Which::Interventions) => None,
            _ => {
                let plan = self.judge_plan();
                let traces = plan.traces().fails(Exit::Usage)?;
                if traces.is_empty() {
                    return Err(Failure::usage(
                        "there is no trace to judge: --gaps, --constraints and --entities are `none`",
                    )
                    .hint("give one of them a size, or use --only interventions"));
                }
                Some((plan, traces))
            }
        };
        let interventions = match self.only {
            Some(Which::Judge) => None,
            _ => {
                let plan = self.intervention_plan()?;
                let tasks = plan.tasks().map_err(Failure::usage)?;
                Some((plan, tasks))
            }
        };
        Ok(Work { judge, interventions })
    }

    fn judge_plan(&self) -> JudgePlan {
        let preset = |usual: &[usize], small: usize| if self.small { vec![small] } else { usual.to_vec() };
        let sizes = |given: &Option<Sizes>, usual: &[usize], small: usize| {
            given.as_ref().map_or_else(|| preset(usual, small), |given| given.0.clone())
        };
        let judges = self.judges.iter().map(|judge| match judge {
            JudgeChoice::ZeroShot => JudgeKind::ZeroShot,
            JudgeChoice::FewShot => JudgeKind::FewShot,
            JudgeChoice::FewShotLabels => JudgeKind::FewShotLabels,
            JudgeChoice::Labeler => JudgeKind::Labeler,
            JudgeChoice::Monitor => JudgeKind::Monitor,
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
            formulas: deduplicate_or_default(formulas, &[Complexity::Simple]),
            length: self.length.or(self.small.then_some(32)),
            judges: deduplicate_or_default(judges, &JudgeKind::ALL),
            label_steps: self.label_steps,
        }
    }

    fn intervention_plan(&self) -> Result<InterventionPlan, Failure> {
        let at_least_one = |flag: &str, value: u32| {
            let fine = (1..=10_000).contains(&value);
            if fine { Ok(value) } else { Err(Failure::usage(format!("{flag} is {value}; it must be from 1 to 10000"))) }
        };
        if !(self.threshold > 0.0 && self.threshold <= 1.0) {
            return Err(Failure::usage(format!("--threshold is {}; it must be above 0 and at most 1", self.threshold)));
        }
        if self.ahead > 20 {
            return Err(Failure::usage(format!("--ahead is {}; it must be at most 20", self.ahead)));
        }
        let methods = self.methods.iter().map(|method| match method {
            MethodChoice::None => Method::None,
            MethodChoice::Resample => Method::Resample,
            MethodChoice::Inject => Method::Inject,
            MethodChoice::Switch => Method::Switch,
        });
        let packages = self.packages.unwrap_or(if self.small { 2 } else { 5 });
        // A package takes five actions: two drives, loading, unloading and the delivery.
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
            methods: deduplicate_or_default(methods, &Method::ALL),
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

/// Removes duplicates from the choice; `default` if nothing was chosen.
fn deduplicate_or_default<T: Copy + PartialEq>(chosen: impl Iterator<Item = T>, default: &[T]) -> Vec<T> {
    let mut all: Vec<T> = Vec::new();
    for one in chosen {
        if !all.contains(&one) {
            all.push(one);
        }
    }
    if all.is_empty() { default.to_vec() } else { all }
}

/// Creates the asker; also returns the names of the providers that answer, and the file that keeps the answers.
async fn create_asker(args: &ExperimentsArgs) -> Result<(Asker, Vec<String>, Option<PathBuf>), Failure> {
    let mut settings = load_settings(args.layer())?;
    // The results must come from one model only.
    settings.given.fallback_model = None;
    if settings.provider == "replay" && args.record.is_some() {
        return Err(Failure::usage("--provider replay sends no requests, so there is nothing to record")
            .hint("remove --record"));
    }
    let (caller, cancel) = create_configured_caller(&mut settings, &args.out).await?;
    let out = std::path::absolute(&args.out).fails(Exit::Usage)?;
    let (workspace, at_a_time) = (out.join("workspace"), args.parallel.get());
    let print = Box::new(|line: &str| print_message(line));
    if caller.name() == "replay" {
        let answered_by = recorded_providers(&settings)?;
        return Ok((Asker::new(caller, at_a_time, cancel, workspace, None, Vec::new(), print), answered_by, None));
    }
    std::fs::create_dir_all(&workspace)
        .map_err(|e| Failure::usage(format!("cannot create {}: {e}", workspace.display())))?;
    let record = args.record.clone().unwrap_or_else(|| out.join("answers.jsonl"));
    let (ledger, held) = RecordingFile::open(&record).fails(Exit::Usage)?;
    let model = caller.choice("judge").model;
    ledger.check_model(&held, caller.name(), model.as_deref()).fails(Exit::Usage)?;
    if !held.is_empty() {
        print_message(&format!(
            "{} already contains {}, which are not requested again",
            record.display(),
            counted(held.len(), "answer")
        ));
    }
    let answered_by = vec![provider_with_model(caller.name(), model.as_deref())];
    Ok((Asker::new(caller, at_a_time, cancel, workspace, Some(ledger), held, print), answered_by, Some(record)))
}

fn provider_with_model(provider: &str, model: Option<&str>) -> String {
    model.map_or_else(|| provider.to_owned(), |model| format!("{provider} ({model})"))
}

/// Providers and models of the answers in the recording.
fn recorded_providers(settings: &Settings) -> Result<Vec<String>, Failure> {
    let Some(path) = &settings.given.recording else { return Ok(Vec::new()) };
    let recording = Recording::load(path).fails(Exit::Usage)?;
    let by = |answer: &Recorded| provider_with_model(&answer.provider, answer.model.as_deref());
    let mut all: Vec<String> = recording.answers.iter().map(by).collect();
    all.sort();
    all.dedup();
    Ok(all)
}

fn ask_failure(error: &AskError, kept: Option<&Path>) -> Failure {
    let exit = match error {
        AskError::Llm(error) => exit_of_failed_call(error),
        AskError::RecordingFile(_) => Exit::Usage,
        _ => Exit::Provider,
    };
    let failure = Failure::new(exit, error.to_string());
    match (error, kept) {
        (AskError::Llm(LlmError::ReplayMiss { .. }), _) => {
            failure.hint("a recording only answers for the seed, the sizes and the methods of its own experiment")
        }
        (_, Some(kept)) => failure
            .hint(format!("every answer so far is in {}; run the same command again to continue", kept.display())),
        _ => failure,
    }
}
