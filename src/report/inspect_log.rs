//! The results of a suite as a log of Inspect AI (`EvalLog`, version 2), which `inspect view` and its API read. Inspect
//! describes the format only by the classes in its `log/_log.py`; `tests/data/inspect/` has their schema.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::Serialize;

use super::eval::{Entry, Outcome, evaluation as evaluation_text, evaluations, kill_words, status, tools};
use crate::eval::{BugOutcome, Case, Evaluation, ModelAnswers, Status, WEIGHTS};
use crate::journal::Sha;

/// The scores in their order; Inspect shows the first as the headline of the log.
const SCORES: [&str; 4] = ["score", "tier_1", "tier_2", "tier_3"];

/// What a case asks for, and the verdict that a good run ends with.
pub struct InspectTask {
    input: String,
    target: String,
}

impl InspectTask {
    pub fn new(case: &Case) -> Self {
        let mut input = format!("Case {}", case.name);
        if !case.checklist.name.is_empty() {
            let _ = write!(input, ": {}", case.checklist.name);
        }
        if let Some(concern) = &case.checklist.concern {
            let _ = write!(input, "\n\nConcern: {concern}");
        }
        let _ = write!(input, "\n\nDocuments:\n\n- {}", case.documents().join("\n- "));
        let target = match &case.checklist.expected_outcome {
            Some(expected) => match &expected.violates {
                Some(property) => format!("{}: {property}", expected.outcome),
                None => expected.outcome.clone(),
            },
            None => "approved".to_owned(),
        };
        Self { input, target }
    }
}

/// The log of a suite before it has results.
pub struct InspectLog {
    /// The folder of the suite, as the user named it.
    pub suite: String,
    /// RFC 3339 in UTC, like all times here.
    pub started: String,
    /// The cases that could be loaded, by name.
    pub tasks: BTreeMap<String, InspectTask>,
}

impl InspectLog {
    fn task(&self) -> String {
        let last = self.suite.rsplit(['/', '\\']).find(|part| !part.is_empty()).unwrap_or(&self.suite);
        // Inspect separates the parts of a file name by `_`.
        let plain = |c: char| if c.is_alphanumeric() || c == '.' { c } else { '-' };
        format!("tlaforge-{}", last.chars().map(plain).collect::<String>())
    }

    /// Of the length of the ids that Inspect makes.
    fn id(&self) -> String {
        let digest = Sha::digest(format!("{} {}", self.suite, self.started).as_bytes());
        digest.as_str().chars().take(22).collect()
    }

    /// A name in the form of Inspect's own. Its viewer lists only `.json` files whose names begin with a time.
    pub fn file_name(&self) -> String {
        let seconds = self.started.get(..19).unwrap_or(&self.started).replace(':', "-");
        format!("{seconds}+00-00_{}_{}.json", self.task(), self.id())
    }

    /// `contradicted`: two checkers contradict each other, so any result may be wrong.
    pub fn render(&self, entries: &[Entry], completed: &str, contradicted: bool) -> String {
        let samples: Vec<Sample<'_>> = entries.iter().map(|entry| self.sample(entry)).collect();
        let models = || evaluations(entries).map(|evaluation| &evaluation.models);
        let log = Log {
            version: 2,
            status: if contradicted { "error" } else { "success" },
            eval: Spec {
                eval_id: self.id(),
                run_id: self.id(),
                created: &self.started,
                task: self.task(),
                task_id: self.id(),
                dataset: Dataset {
                    name: self.suite.clone(),
                    location: &self.suite,
                    samples: samples.len(),
                    sample_ids: entries.iter().map(|entry| entry.case.as_str()).collect(),
                    shuffled: false,
                },
                model: model_names(models()),
                // Otherwise Inspect, when it computes the results again, takes its default instead of our mean.
                metrics: [MetricDefinition { name: "mean" }],
                // An error of one case does not end the suite.
                config: Config { epochs: 1, fail_on_error: false },
                packages: BTreeMap::from([("tlaforge", env!("CARGO_PKG_VERSION"))]),
            },
            plan: Plan { name: "tlaforge run", steps: [Step { solver: "tlaforge run" }] },
            results: results(&samples),
            stats: Stats {
                started_at: &self.started,
                completed_at: completed,
                model_usage: usage(&sum_by_model(models())),
            },
            error: contradicted.then(|| {
                LogError::new("two checkers contradict each other, so these results may be wrong".to_owned(), "")
            }),
            samples,
        };
        serde_json::to_string_pretty(&log).unwrap_or_default() + "\n"
    }

    fn sample<'a>(&'a self, entry: &'a Entry) -> Sample<'a> {
        let evaluation = evaluations(std::slice::from_ref(entry)).next();
        let error = match &entry.outcome {
            Outcome::Evaluated(evaluation) => evaluation.unjudged().map(|why| LogError::new(why, "")),
            Outcome::Skipped(why) => Some(LogError::new(format!("not evaluated: {why}"), "")),
            Outcome::Failed { what, remedies } => Some(LogError::new(what.clone(), &remedies.join("\n"))),
        };
        let task = self.tasks.get(&entry.case);
        let input = task.map_or_else(|| format!("Case {}", entry.case), |task| task.input.clone());
        Sample {
            id: &entry.case,
            epoch: 1,
            target: task.map_or("", |task| &task.target),
            messages: evaluation.map(|evaluation| messages(&input, evaluation)).unwrap_or_default(),
            input,
            output: evaluation.map(Output::new),
            scores: evaluation.filter(|_| error.is_none()).map(scores),
            metadata: evaluation,
            model_usage: evaluation.map(|evaluation| usage(&evaluation.models)).unwrap_or_default(),
            total_time: evaluation.map(|evaluation| evaluation.seconds),
            error,
        }
    }
}

/// The viewer shows an output only as a message.
fn messages(input: &str, evaluation: &Evaluation) -> Vec<Message> {
    vec![
        Message { role: "user", content: input.to_owned() },
        Message { role: "assistant", content: answer(evaluation) },
    ]
}

/// The viewer renders Markdown, which would join the lines of a report.
fn answer(evaluation: &Evaluation) -> String {
    format!("{}\n\n````\n{}````\n", evaluation.verdict, evaluation_text(evaluation))
}

/// The scores that exist. One that is not known is left out: 0 would count, and the NaN by which Inspect marks an unscored
/// sample is no JSON. Inspect counts neither into a mean.
fn scores(evaluation: &Evaluation) -> BTreeMap<&'static str, Score> {
    let Evaluation { tier1, tier2, tier3, .. } = evaluation;
    let [first, second, third] = WEIGHTS.map(|weight| format!("{:.0} %", weight * 100.0));
    let outcome = evaluation.outcome.map(crate::pipeline::Outcome::name);
    let all = [
        (evaluation.score, format!("{first} tier 1, {second} tier 2, {third} tier 3")),
        (Some(f64::from(u8::from(tier1.passed()))), criteria_text(evaluation)),
        (
            // Without tier 1 or a number of states there is no efficiency, only the 0 of the total.
            (tier1.passed() && tier2.distinct_states.is_some()).then_some(tier2.efficiency),
            tier2.distinct_states.map_or_else(|| "states unknown".to_owned(), |n| format!("{n} distinct states")),
        ),
        (tier3.rate, bugs_text(evaluation)),
    ];
    let score =
        |(value, explanation): (Option<f64>, String)| Some(Score { value: value?, answer: outcome, explanation });
    SCORES.into_iter().zip(all).filter_map(|(name, one)| Some((name, score(one)?))).collect()
}

fn criteria_text(evaluation: &Evaluation) -> String {
    let criteria = evaluation.criteria();
    let missed = criteria.iter().filter(|(_, criterion)| criterion.status == Status::Failed);
    let missed = missed.map(|(name, c)| format!("{name}: {} {}", status(c), c.reason.as_deref().unwrap_or_default()));
    let vacuous = evaluation.tier1.vacuous.iter().map(|why| format!("vacuous: {why}"));
    let lines: Vec<String> = missed.chain(vacuous).collect();
    let all = if lines.is_empty() { "all criteria are met".to_owned() } else { lines.join("\n") };
    format!("{all}\n{}", tools(evaluation))
}

fn bugs_text(evaluation: &Evaluation) -> String {
    let tier3 = &evaluation.tier3;
    let mut text = format!("{} of {} known bugs detected", tier3.detected, tier3.total);
    for bug in tier3.known_bugs.iter().filter(|bug| bug.outcome != BugOutcome::Killed) {
        let _ = write!(text, "\n{}: {}, {}", bug.file, bug.outcome.words(), kill_words(bug));
    }
    for wrong in &tier3.wrong_properties {
        let _ = write!(text, "\nwrong: {} is violated by {}", wrong.property, wrong.reference);
    }
    text
}

fn results(samples: &[Sample<'_>]) -> Results {
    let metric = |name: &'static str| {
        let values: Vec<f64> =
            samples.iter().filter_map(|sample| Some(sample.scores.as_ref()?.get(name)?.value)).collect();
        #[expect(clippy::cast_precision_loss, reason = "a number of cases")]
        let mean = (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64);
        ScoreSummary {
            name,
            scorer: name,
            scored_samples: values.len(),
            unscored_samples: samples.len() - values.len(),
            metrics: mean.map(|value| ("mean", Metric { name: "mean", value })).into_iter().collect(),
        }
    };
    Results {
        total_samples: samples.len(),
        completed_samples: samples.iter().filter(|sample| sample.error.is_none()).count(),
        scores: SCORES.map(metric),
    }
}

type Models = BTreeMap<String, ModelAnswers>;

/// The models that answered in some runs; `unknown` if a run names none.
fn model_names<'a>(runs: impl Iterator<Item = &'a Models>) -> String {
    let mut names: Vec<&str> = Vec::new();
    for models in runs {
        names.extend(models.keys().map(String::as_str));
        names.extend(models.is_empty().then_some("unknown"));
    }
    if names.is_empty() {
        names.push("unknown");
    }
    names.sort_unstable();
    names.dedup();
    names.join(", ")
}

fn sum_by_model<'a>(runs: impl Iterator<Item = &'a Models>) -> Models {
    let mut models = Models::new();
    for run in runs {
        for (name, answers) in run {
            models.entry(name.clone()).and_modify(|known| *known = known.plus(answers)).or_insert(*answers);
        }
    }
    models
}

/// Models whose tokens are not all known are left out, because Inspect has no unknown number of tokens.
fn usage(models: &Models) -> BTreeMap<String, ModelUsage> {
    let one = |answers: &ModelAnswers| {
        let tokens = answers.usage?;
        Some(ModelUsage {
            input_tokens: tokens.input,
            output_tokens: tokens.output,
            total_tokens: tokens.total(),
            input_tokens_cache_write: tokens.cache_write,
            input_tokens_cache_read: tokens.cache_read,
            total_cost: answers.cost_usd,
        })
    };
    models.iter().filter_map(|(name, answers)| Some((name.clone(), one(answers)?))).collect()
}

// The fields as Inspect names them, without those whose default fits. Like Inspect, the log has no `null`: its readers accept
// it in some places only, whatever the schema says.

#[derive(Serialize)]
struct Log<'a> {
    version: u32,
    status: &'static str,
    eval: Spec<'a>,
    plan: Plan,
    results: Results,
    stats: Stats<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<LogError>,
    samples: Vec<Sample<'a>>,
}

#[derive(Serialize)]
struct Spec<'a> {
    eval_id: String,
    run_id: String,
    created: &'a str,
    task: String,
    task_id: String,
    dataset: Dataset<'a>,
    model: String,
    metrics: [MetricDefinition; 1],
    config: Config,
    packages: BTreeMap<&'static str, &'static str>,
}

/// `EvalMetricDefinition`.
#[derive(Serialize)]
struct MetricDefinition {
    name: &'static str,
}

#[derive(Serialize)]
struct Dataset<'a> {
    name: String,
    location: &'a str,
    samples: usize,
    sample_ids: Vec<&'a str>,
    shuffled: bool,
}

#[derive(Serialize)]
struct Config {
    epochs: u32,
    fail_on_error: bool,
}

#[derive(Serialize)]
struct Plan {
    name: &'static str,
    steps: [Step; 1],
}

#[derive(Serialize)]
struct Step {
    solver: &'static str,
}

#[derive(Serialize)]
struct Results {
    total_samples: usize,
    completed_samples: usize,
    scores: [ScoreSummary; SCORES.len()],
}

/// `EvalScore`.
#[derive(Serialize)]
struct ScoreSummary {
    name: &'static str,
    scorer: &'static str,
    scored_samples: usize,
    unscored_samples: usize,
    metrics: BTreeMap<&'static str, Metric>,
}

#[derive(Serialize)]
struct Metric {
    name: &'static str,
    value: f64,
}

#[derive(Serialize)]
struct Stats<'a> {
    started_at: &'a str,
    completed_at: &'a str,
    model_usage: BTreeMap<String, ModelUsage>,
}

#[derive(Serialize)]
struct ModelUsage {
    input_tokens: u64,
    output_tokens: u64,
    total_tokens: u64,
    input_tokens_cache_write: u64,
    input_tokens_cache_read: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    total_cost: Option<f64>,
}

#[derive(Serialize)]
struct Sample<'a> {
    id: &'a str,
    epoch: u32,
    input: String,
    target: &'a str,
    messages: Vec<Message>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<Output>,
    #[serde(skip_serializing_if = "Option::is_none")]
    scores: Option<BTreeMap<&'static str, Score>>,
    /// All that is known of the case, as in `eval_report.json`.
    #[serde(skip_serializing_if = "Option::is_none")]
    metadata: Option<&'a Evaluation>,
    model_usage: BTreeMap<String, ModelUsage>,
    #[serde(skip_serializing_if = "Option::is_none")]
    total_time: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<LogError>,
}

#[derive(Serialize)]
struct Score {
    value: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    answer: Option<&'static str>,
    explanation: String,
}

/// `EvalError`.
#[derive(Serialize)]
struct LogError {
    message: String,
    traceback: String,
    traceback_ansi: String,
}

impl LogError {
    fn new(message: String, remedies: &str) -> Self {
        let traceback = format!("{message}\n{remedies}").trim_end().to_owned();
        Self { message, traceback_ansi: traceback.clone(), traceback }
    }
}

/// `ModelOutput`.
#[derive(Serialize)]
struct Output {
    model: String,
    choices: [Choice; 1],
    completion: String,
}

#[derive(Serialize)]
struct Choice {
    message: Message,
    stop_reason: &'static str,
}

#[derive(Serialize)]
struct Message {
    role: &'static str,
    content: String,
}

impl Output {
    fn new(evaluation: &Evaluation) -> Self {
        let message = Message { role: "assistant", content: answer(evaluation) };
        Self {
            model: model_names(std::iter::once(&evaluation.models)),
            choices: [Choice { message, stop_reason: "stop" }],
            completion: answer(evaluation),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_that_two_checkers_dispute_are_an_error_of_the_whole_log() {
        let log = InspectLog { suite: "a/b".into(), started: "2026-01-02T03:04:05Z".into(), tasks: BTreeMap::new() };
        let read = |contradicted| {
            let text = log.render(&[], "2026-01-02T03:04:06Z", contradicted);
            serde_json::from_str::<serde_json::Value>(&text).expect("JSON")
        };
        assert_eq!((&read(false)["status"], &read(false)["error"]), (&"success".into(), &serde_json::Value::Null));
        assert_eq!(read(true)["status"], "error");
        assert!(read(true)["error"]["message"].as_str().is_some_and(|why| why.contains("contradict")));
    }
}
