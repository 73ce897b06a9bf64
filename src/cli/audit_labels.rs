//! Labels of a log's steps by a model, for `tlaforge audit`: what is to be judged, who is asked, what is kept, and how the
//! labels agree with a reference.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args as ClapArgs;
use serde_json::Value;

use super::failure::{Fails, Failure};
use super::model_client::{ModelArgs, ModelClient};
use super::provider::PROVIDER_CHOICES;
use super::secrets::refuse_secrets;
use super::settings::load_settings;
use super::terminal::print_message;
use crate::config::Settings;
use crate::exit::Exit;
use crate::files;
use crate::llm::Request;
use crate::monitor::labels::Labels;
use crate::monitor::{
    Agreement, KnownLabels, LABEL_NODE, LabelAccuracy, LabelCache, LabelPlan, Labelling, LabellingError, ModelLabeler,
    Propositions,
};
use crate::report::counted;

/// Flags of `audit` for rules that speak of what a model has to judge.
#[derive(Debug, ClapArgs)]
#[command(next_help_heading = "Labels by a model (rules that speak of model:NAME)")]
pub(super) struct LabelArgs {
    #[command(flatten)]
    pub model: ModelArgs,
    /// Record every answer into this file.
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,
    /// Where answers are kept, so that no step is asked twice [default: LOG.labels, or the folder `labels` of a run].
    #[arg(long, value_name = "DIR")]
    pub label_cache: Option<PathBuf>,
    /// The folder of requests and answers of `handoff`, and of the empty workspace [default: that of the answers].
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Labels to compare with: a field of the log's records, or a file with a line of JSON for each state. They are an
    /// object of truth values, or the list of what is true.
    #[arg(long, value_name = "FIELD|FILE")]
    pub reference: Option<String>,
}

impl LabelArgs {
    /// A flag that says nothing where no rule asks for labels.
    pub(super) fn unused_flag(&self) -> Option<&'static str> {
        let given = [
            ("--provider", self.model.provider.is_some()),
            ("--recording", self.model.recording.is_some()),
            ("--record", self.record.is_some()),
            ("--label-cache", self.label_cache.is_some()),
            ("--reference", self.reference.is_some()),
        ];
        given.into_iter().find(|(_, given)| *given).map(|(flag, _)| flag)
    }
}

/// A log that was read whole.
pub(super) struct WholeLog<'a> {
    /// As it was named.
    pub path: &'a Path,
    /// Its bytes.
    pub bytes: &'a [u8],
    /// Whether it is a list of messages.
    pub is_list: bool,
}

/// Labels what is to be judged. Whatever can be wrong with the reference, the provider and the log is found out before the
/// first request; each answer is kept before it is read.
pub(super) async fn label_log(
    args: &LabelArgs,
    log: &WholeLog<'_>,
    judged: &LabelPlan,
    propositions: &Propositions,
) -> Result<(KnownLabels, Labelling), Failure> {
    let reference = args.reference.as_deref().map(|of| Reference::read(of, log, judged, propositions)).transpose()?;
    if judged.unfetched > 0 {
        let (log, states) = (log.path.display(), counted(judged.unfetched, "state"));
        return Err(Failure::usage(format!(
            "{log}: the texts of {states} are not to be had, so nobody can judge them"
        ))
        .hint("give the folder of the run, with its artifacts/"));
    }
    let mut labelling = Labelling::new(judged);
    let mut labels: HashMap<_, Labels> = HashMap::new();
    let open = judged.texts_to_label();
    if labelling.labelled + labelling.recorded == 0 && !judged.states.is_empty() {
        let log = log.path.display();
        print_message(&format!(
            "warning: {log}: no state has a text or a tool call to judge, so every proposition is false; `[log]` or --map says \
             where they are"
        ));
    }
    if !open.is_empty() {
        let settings = chosen(args, propositions)?;
        for (number, _, text) in &open {
            refuse_secrets(&format!("{}, state {},", log.path.display(), number - 1), &text.render())?;
        }
        let kept = args.label_cache.clone().map_or_else(|| local_modules(log.path), Ok)?;
        let out = args.out.clone().unwrap_or_else(|| kept.clone());
        let mut asker = ModelClient::new(settings, args.record.as_deref(), &out).await?;
        let (provider, prompts) = (asker.caller.name(), Arc::clone(&asker.prompts));
        let choice = asker.caller.choice(LABEL_NODE);
        // A recording holds its answers already.
        let cache = if provider == "replay" { None } else { Some(LabelCache::open(&kept).fails(Exit::Usage)?) };
        let workspace = asker.workspace.clone();
        let labeler = ModelLabeler { prompts: &prompts, propositions, provider, choice, workspace, cache };
        let mut priced = true;
        for (done, (number, sha, text)) in open.iter().enumerate() {
            let mut ask = async |request: Request| {
                let wanted = request.key.to_string();
                let answer = asker.ask(request).await?;
                if answer.stale {
                    let what =
                        format!("the recording's answer to {wanted} is about another step or other propositions");
                    return Err(Failure::new(Exit::Provider, what).hint("record again: add --provider and --record"));
                }
                priced &= answer.cost_usd.is_some();
                Ok::<_, Failure>(answer)
            };
            match labeler.label(text, *number, &mut ask).await {
                Ok(step) => labelling.add_step(sha, step, &mut labels),
                Err(error) => {
                    let is_over = matches!(error, LabellingError::Unreadable { .. });
                    let failure = failure(error, number - 1);
                    let Some(cache) = labeler.cache.as_ref().filter(|_| !is_over) else { return Err(failure) };
                    let (of, kept) = (counted(open.len() as u64, "step"), cache.dir().display());
                    return Err(failure
                        .hint(format!("{done} of {of} are labelled, and kept in {kept}: the same command goes on")));
                }
            }
        }
        labelling.tokens = asker.used.tokens;
        labelling.cost_usd = Some(asker.used.cost_usd).filter(|_| priced);
    }
    labelling.accuracy = reference.map(|reference| reference.compared(judged, &labels, propositions));
    Ok((KnownLabels::new(propositions, labels), labelling))
}

/// The settings, where somebody was chosen to be asked: an audit costs nothing by itself, and a provider that is found does
/// not change that.
fn chosen(args: &LabelArgs, propositions: &Propositions) -> Result<Settings, Failure> {
    let settings = load_settings(args.model.layer())?;
    if settings.given.provider.is_some() {
        return Ok(settings);
    }
    let names: Vec<String> = propositions.names().map(|name| format!("model:{name}")).collect();
    Err(Failure::usage(format!(
        "the rules speak of {}, which a model has to judge, and nobody is named",
        names.join(", ")
    ))
    .hint(PROVIDER_CHOICES))
}

/// Where the answers are kept unless the user says otherwise.
fn local_modules(log: &Path) -> Result<PathBuf, Failure> {
    if log == Path::new("-") {
        return Err(Failure::usage("the log comes from stdin, so there is no place beside it where labels are kept")
            .hint("add --label-cache DIR"));
    }
    if log.is_dir() {
        return Ok(log.join("labels"));
    }
    let mut name = log.as_os_str().to_owned();
    name.push(".labels");
    Ok(name.into())
}

fn failure(error: LabellingError<Failure>, state: u32) -> Failure {
    match error {
        LabellingError::Ask(failure) => failure,
        LabellingError::Unreadable { problem, files } => {
            let failure = Failure::new(
                Exit::Provider,
                format!("state {state} has no labels: two answers could not be used, the second since {problem}"),
            );
            let kept: Vec<String> = files.iter().map(|path| path.display().to_string()).collect();
            let failure = failure.hint("take another model, or say the propositions in clearer words");
            if kept.is_empty() { failure } else { failure.hint(format!("to ask again, remove {}", kept.join(" and "))) }
        }
        LabellingError::Prompt(error) => Failure::usage(error.to_string()),
        LabellingError::Cache(error) => Failure::usage(error.to_string()),
    }
}

/// Reference labels, by state; none where the reference says nothing of it.
struct Reference {
    states: Vec<Option<MetricDomain>>,
}

/// The reference labels of a state.
struct MetricDomain {
    labels: Labels,
    /// What they speak of; a list of what is true speaks of everything.
    told: Option<BTreeSet<String>>,
}

impl MetricDomain {
    fn tells(&self, name: &str) -> bool {
        self.told.as_ref().is_none_or(|told| told.contains(name))
    }
}

impl Reference {
    /// From a file with that name, else from that field of the records.
    fn read(of: &str, log: &WholeLog<'_>, judged: &LabelPlan, propositions: &Propositions) -> Result<Self, Failure> {
        let file = Path::new(of);
        let all = if file.exists() { Self::lines(file, judged)? } else { Self::fields(of, log, judged)? };
        let mut named = BTreeSet::new();
        let mut states = Vec::new();
        for (place, json) in all {
            let Some(json) = json.filter(|json| !json.is_null()) else {
                states.push(None);
                continue;
            };
            let wrong = |what: String| Failure::usage(format!("--reference {of}: {place}: {what}")).hint(FORM);
            let no_truth = |values: &serde_json::Map<String, Value>| {
                values
                    .iter()
                    .find(|(_, value)| !value.is_boolean())
                    .map(|(name, value)| (name.clone(), value.to_string()))
            };
            if let Some((name, found)) = json.as_object().and_then(no_truth) {
                return Err(wrong(format!("`{name}`: a label must be true or false, found {found}")));
            }
            let (labels, told) = match &json {
                Value::Object(values) => {
                    let told = values.iter().filter_map(|(name, value)| Some((name.clone(), value.as_bool()?)));
                    let told: BTreeMap<String, bool> = told.collect();
                    (told.iter().filter(|(_, holds)| **holds).map(|(name, _)| name.as_str()).collect(), Some(told))
                }
                _ => (Labels::from_json(&json).map_err(|e| wrong(e.to_string()))?, None),
            };
            named.extend(match &told {
                Some(told) => told.keys().cloned().collect::<Vec<_>>(),
                None => labels.truths().map(str::to_owned).collect(),
            });
            states.push(Some(MetricDomain { labels, told: told.map(|told| told.into_keys().collect()) }));
        }
        let asked: BTreeSet<&str> = propositions.names().map(|name| &**name).collect();
        let unknown: Vec<&str> =
            named.iter().map(String::as_str).filter(|name| !asked.contains(name)).take(8).collect();
        if !unknown.is_empty() {
            print_message(&format!(
                "warning: reference labels that no [[label]] of the policy asks for, not compared: {}",
                unknown.join(", ")
            ));
        }
        for name in propositions.names().filter(|name| !named.contains(&***name)) {
            let known: Vec<&str> = named.iter().take(8).map(String::as_str).collect();
            let known = if known.is_empty() { "nothing".to_owned() } else { known.join(", ") };
            print_message(&format!(
                "warning: no reference label names `{name}`: it is false in every list of what is true, and not told by objects \
                 (named: {known})"
            ));
        }
        Ok(Self { states })
    }

    fn lines(file: &Path, judged: &LabelPlan) -> Result<Vec<(String, Option<Value>)>, Failure> {
        let shown = file.display();
        let text = files::read_text(file, files::LARGE)
            .map_err(|e| Failure::usage(format!("cannot read the reference {shown}: {e}")).hint(FORM))?;
        let lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
        let read = |(number, line): (usize, &str)| {
            let json = serde_json::from_str(line)
                .map_err(|e| Failure::usage(format!("{shown}: line {number}: not JSON: {e}")).hint(FORM))?;
            Ok((format!("line {number}"), Some(json)))
        };
        let all: Vec<_> = lines.map(read).collect::<Result<_, Failure>>()?;
        if all.len() == judged.states.len() {
            return Ok(all);
        }
        let (lines, states) = (counted(all.len() as u64, "line"), counted(judged.states.len() as u64, "state"));
        Err(Failure::usage(format!("{shown} has {lines}, and the log {states}"))
            .hint("a reference has a line for each state, in the log's order; `null` says nothing of its state"))
    }

    fn fields(field: &str, log: &WholeLog<'_>, judged: &LabelPlan) -> Result<Vec<(String, Option<Value>)>, Failure> {
        let bytes = log.bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(log.bytes);
        let records: Vec<Value> = if log.is_list {
            // It was read before, so it can be read.
            let all: Value = serde_json::from_slice(bytes).fails(Exit::Usage)?;
            let list = all.as_array().or_else(|| all["messages"].as_array());
            list.cloned().unwrap_or_default()
        } else {
            bytes.split(|b| *b == b'\n').map(|line| serde_json::from_slice(line).unwrap_or_default()).collect()
        };
        let of = |state: usize| {
            let number = judged.places.number(state as u64).unwrap_or(0);
            let record = usize::try_from(number).ok().and_then(|n| records.get(n.checked_sub(1)?));
            let value = field.split('.').try_fold(record?, |value, key| value.get(key));
            value.cloned()
        };
        let what = if log.is_list { "message" } else { "line" };
        let place = |state: usize| format!("{what} {}", judged.places.number(state as u64).unwrap_or(0));
        let all: Vec<_> = (0..judged.states.len()).map(|state| (place(state), of(state))).collect();
        if all.iter().all(|(_, value)| value.is_none()) {
            return Err(Failure::usage(format!(
                "--reference {field}: no record has such a field, and there is no such file"
            ))
            .hint(FORM));
        }
        Ok(all)
    }

    fn compared(
        &self,
        judged: &LabelPlan,
        labels: &HashMap<crate::journal::Sha, Labels>,
        of: &Propositions,
    ) -> LabelAccuracy {
        let mut all = Vec::new();
        for name in of.names() {
            let mut counts = Agreement::default();
            for (state, reference) in self.states.iter().enumerate() {
                if let Some(reference) = reference.as_ref().filter(|reference| reference.tells(name)) {
                    counts.count(judged.holds(state, name, labels), reference.labels.holds(name));
                }
            }
            all.push((Arc::clone(name), counts));
        }
        LabelAccuracy { propositions: all, compared: self.states.iter().flatten().count() as u64 }
    }
}

const FORM: &str = "reference labels are an object of truth values ({\"polite\": true}) or the list of what is true ([\"polite\"]): \
                    in a field of each record, or one a line in a file";
