//! Labels the states of a log with a model, for `tlaforge audit`: caches the answers, and compares the labels with a
//! reference.

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

/// Flags of `audit` for rules that use labels by a model.
#[derive(Debug, ClapArgs)]
#[command(next_help_heading = "Labels by a model (for rules that use model:NAME)")]
pub(super) struct LabelArgs {
    #[command(flatten)]
    pub model: ModelArgs,
    /// Record every answer in this file.
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,
    /// Folder that caches answers, so that no step is labelled twice [default: LOG.labels, or `labels` in a run folder].
    #[arg(long, value_name = "DIR")]
    pub label_cache: Option<PathBuf>,
    /// Folder for the requests and answers of `handoff` and for the empty workspace [default: that of --label-cache].
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Reference labels to compare with: a field of the records, or a file with one line of JSON per state. Labels are an
    /// object of truth values or the list of true propositions [default: no comparison].
    #[arg(long, value_name = "FIELD|FILE")]
    pub reference: Option<String>,
}

impl LabelArgs {
    /// A given flag that only has an effect if a rule uses labels.
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

/// A log in memory.
pub(super) struct WholeLog<'a> {
    pub path: &'a Path,
    pub bytes: &'a [u8],
    /// Whether the log is a list of messages.
    pub is_list: bool,
}

/// Labels the states in `judged`. Checks the reference, the provider and the log before the first request; caches each
/// answer before it is parsed.
pub(super) async fn label_log(
    args: &LabelArgs,
    log: &WholeLog<'_>,
    judged: &LabelPlan,
    propositions: &Propositions,
) -> Result<(KnownLabels, Labelling), Failure> {
    let reference =
        args.reference.as_deref().map(|source| Reference::read(source, log, judged, propositions)).transpose()?;
    if judged.unfetched > 0 {
        let (log, states) = (log.path.display(), counted(judged.unfetched, "state"));
        return Err(Failure::usage(format!("{log}: the texts of {states} are missing, so they cannot be labelled"))
            .hint("name the run folder, with its artifacts/"));
    }
    let mut labelling = Labelling::new(judged);
    let mut labels: HashMap<_, Labels> = HashMap::new();
    let open = judged.texts_to_label();
    if labelling.labelled + labelling.recorded == 0 && !judged.states.is_empty() {
        let log = log.path.display();
        print_message(&format!(
            "warning: {log}: no state has a text or a tool call, so every proposition is false; set their paths in the \
             [log] table or with --map"
        ));
    }
    // A log without a text to label needs no provider.
    if !open.is_empty() {
        let settings = load_provider_settings(args, propositions)?;
        for (number, _, text) in &open {
            // All texts before the first request. States count from 0, and requests from 1.
            refuse_secrets(&format!("{}, state {},", log.path.display(), number - 1), &text.render())?;
        }
        let cache_dir = args.label_cache.clone().map_or_else(|| default_cache_dir(log.path), Ok)?;
        let out = args.out.clone().unwrap_or_else(|| cache_dir.clone());
        let mut asker = ModelClient::new(settings, args.record.as_deref(), &out).await?;
        let (provider, prompts) = (asker.caller.name(), Arc::clone(&asker.prompts));
        let choice = asker.caller.choice(LABEL_NODE);
        // The answers of a replay are in the recording already.
        let cache = if provider == "replay" { None } else { Some(LabelCache::open(&cache_dir).fails(Exit::Usage)?) };
        let workspace = asker.workspace.clone();
        let labeler = ModelLabeler { prompts: &prompts, propositions, provider, choice, workspace, cache };
        let mut priced = true;
        for (done, (number, sha, text)) in open.iter().enumerate() {
            let mut ask = async |request: Request| {
                let wanted = request.key.to_string();
                let answer = asker.ask(request).await?;
                if answer.stale {
                    let what = format!("the recorded answer to {wanted} is for another step or other propositions");
                    return Err(Failure::new(Exit::Provider, what).hint("record again: add --provider and --record"));
                }
                priced &= answer.cost_usd.is_some();
                Ok::<_, Failure>(answer)
            };
            match labeler.label(text, *number, &mut ask).await {
                Ok(step) => labelling.add_step(sha, step, &mut labels),
                Err(error) => {
                    // The same command would read the same unusable answers from the cache, so it must not be
                    // recommended.
                    let is_over = matches!(error, LabellingError::Unreadable { .. });
                    let failure = labelling_failure(error, number - 1);
                    let Some(cache) = labeler.cache.as_ref().filter(|_| !is_over) else { return Err(failure) };
                    let (steps, kept) = (counted(open.len() as u64, "step"), cache.dir().display());
                    return Err(failure.hint(format!(
                        "{done} of {steps} are labelled and cached in {kept}: run the same command again to continue"
                    )));
                }
            }
        }
        labelling.tokens = asker.used.tokens;
        labelling.cost_usd = Some(asker.used.cost_usd).filter(|_| priced);
    }
    labelling.accuracy = reference.map(|reference| reference.measure_accuracy(judged, &labels, propositions));
    Ok((KnownLabels::new(propositions, labels), labelling))
}

/// Loads the settings. They must name a provider: `audit` never chooses one that costs money by itself.
fn load_provider_settings(args: &LabelArgs, propositions: &Propositions) -> Result<Settings, Failure> {
    let settings = load_settings(args.model.layer())?;
    if settings.given.provider.is_some() {
        return Ok(settings);
    }
    let names: Vec<String> = propositions.names().map(|name| format!("model:{name}")).collect();
    Err(Failure::usage(format!(
        "the rules use {}, which a model has to label, and no provider is chosen",
        names.join(", ")
    ))
    .hint(PROVIDER_CHOICES))
}

fn default_cache_dir(log: &Path) -> Result<PathBuf, Failure> {
    if log == Path::new("-") {
        return Err(Failure::usage("a log from stdin has no default folder for labels").hint("add --label-cache DIR"));
    }
    if log.is_dir() {
        let dir = log.join("labels");
        files::check_below(log, &dir).map_err(|e| Failure::usage(format!("cannot use {}: {e}", dir.display())))?;
        return Ok(dir);
    }
    let mut name = log.as_os_str().to_owned();
    name.push(".labels");
    Ok(name.into())
}

fn labelling_failure(error: LabellingError<Failure>, state: u32) -> Failure {
    match error {
        LabellingError::Ask(failure) => failure,
        LabellingError::Unreadable { problem, files } => {
            let failure = Failure::new(
                Exit::Provider,
                format!("state {state} has no labels: two answers were unusable, the second because {problem}"),
            );
            let kept: Vec<String> = files.iter().map(|path| path.display().to_string()).collect();
            let failure = failure.hint("use another model, or word the propositions more clearly");
            if kept.is_empty() {
                failure
            } else {
                failure.hint(format!("to request new answers, remove {}", kept.join(" and ")))
            }
        }
        LabellingError::Prompt(error) => Failure::usage(error.to_string()),
        LabellingError::Cache(error) => Failure::usage(error.to_string()),
    }
}

/// Reference labels by state; `None` for states without reference.
struct Reference {
    states: Vec<Option<ReferenceLabels>>,
}

/// The reference labels of a state.
struct ReferenceLabels {
    labels: Labels,
    /// The propositions with a value; `None` for a list of true propositions, which gives every proposition a value.
    valued: Option<BTreeSet<String>>,
}

impl ReferenceLabels {
    fn has_value(&self, name: &str) -> bool {
        self.valued.as_ref().is_none_or(|valued| valued.contains(name))
    }
}

impl Reference {
    /// Reads the file `source` if it exists, otherwise the field `source` of the records.
    fn read(
        source: &str,
        log: &WholeLog<'_>,
        judged: &LabelPlan,
        propositions: &Propositions,
    ) -> Result<Self, Failure> {
        let file = Path::new(source);
        let all = if file.exists() { Self::read_lines(file, judged)? } else { Self::read_fields(source, log, judged)? };
        let mut named = BTreeSet::new();
        let mut states = Vec::new();
        for (place, json) in all {
            let Some(json) = json.filter(|json| !json.is_null()) else {
                states.push(None);
                continue;
            };
            let wrong =
                |what: String| Failure::usage(format!("--reference {source}: {place}: {what}")).hint(REFERENCE_FORMAT);
            let find_non_boolean = |values: &serde_json::Map<String, Value>| {
                values
                    .iter()
                    .find(|(_, value)| !value.is_boolean())
                    .map(|(name, value)| (name.clone(), value.to_string()))
            };
            if let Some((name, found)) = json.as_object().and_then(find_non_boolean) {
                return Err(wrong(format!("`{name}`: a label must be true or false, found {found}")));
            }
            let (labels, values) = match &json {
                Value::Object(values) => {
                    let values = values.iter().filter_map(|(name, value)| Some((name.clone(), value.as_bool()?)));
                    let values: BTreeMap<String, bool> = values.collect();
                    (values.iter().filter(|(_, holds)| **holds).map(|(name, _)| name.as_str()).collect(), Some(values))
                }
                _ => (Labels::from_json(&json).map_err(|e| wrong(e.to_string()))?, None),
            };
            named.extend(match &values {
                Some(values) => values.keys().cloned().collect::<Vec<_>>(),
                None => labels.truths().map(str::to_owned).collect(),
            });
            states.push(Some(ReferenceLabels { labels, valued: values.map(|values| values.into_keys().collect()) }));
        }
        let asked: BTreeSet<&str> = propositions.names().map(|name| &**name).collect();
        let unknown: Vec<&str> =
            named.iter().map(String::as_str).filter(|name| !asked.contains(name)).take(8).collect();
        // Only a warning: a reference can hold more than this policy asks for.
        if !unknown.is_empty() {
            print_message(&format!(
                "warning: these reference labels are not compared, because the policy has no [[label]] for them: {}",
                unknown.join(", ")
            ));
        }
        // Probably a misspelled name, which would count as false everywhere.
        for name in propositions.names().filter(|name| !named.contains(&***name)) {
            let known: Vec<&str> = named.iter().take(8).map(String::as_str).collect();
            let known = if known.is_empty() { "nothing".to_owned() } else { known.join(", ") };
            print_message(&format!(
                "warning: no reference label names `{name}`: lists of true propositions count it as false, objects are not \
                 compared (named: {known})"
            ));
        }
        Ok(Self { states })
    }

    fn read_lines(file: &Path, judged: &LabelPlan) -> Result<Vec<(String, Option<Value>)>, Failure> {
        let shown = file.display();
        let text = files::read_text(file, files::LARGE)
            .map_err(|e| Failure::usage(format!("cannot read the reference {shown}: {e}")).hint(REFERENCE_FORMAT))?;
        let lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
        let read = |(number, line): (usize, &str)| {
            let json = serde_json::from_str(line)
                .map_err(|e| Failure::usage(format!("{shown}: line {number}: not JSON: {e}")).hint(REFERENCE_FORMAT))?;
            Ok((format!("line {number}"), Some(json)))
        };
        let all: Vec<_> = lines.map(read).collect::<Result<_, Failure>>()?;
        if all.len() == judged.states.len() {
            return Ok(all);
        }
        let (lines, states) = (counted(all.len() as u64, "line"), counted(judged.states.len() as u64, "state"));
        Err(Failure::usage(format!("{shown} has {lines}, and the log {states}"))
            .hint("a reference has one line per state, in the order of the log; `null` for a state without reference"))
    }

    fn read_fields(
        field: &str,
        log: &WholeLog<'_>,
        judged: &LabelPlan,
    ) -> Result<Vec<(String, Option<Value>)>, Failure> {
        let bytes = log.bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(log.bytes);
        // `--skip-invalid` has skipped the unreadable lines; as null they keep the numbers of the others.
        let records: Vec<Value> =
            bytes.split(|b| *b == b'\n').map(|line| serde_json::from_slice(line).unwrap_or_default()).collect();
        let field_at = |state: usize| {
            let number = judged.places.number(state as u64).unwrap_or(0);
            let record = usize::try_from(number).ok().and_then(|n| records.get(n.checked_sub(1)?));
            let value = field.split('.').try_fold(record?, |value, key| value.get(key));
            value.cloned()
        };
        let what = if log.is_list { "message" } else { "line" };
        let place = |state: usize| format!("{what} {}", judged.places.number(state as u64).unwrap_or(0));
        let all: Vec<_> = (0..judged.states.len()).map(|state| (place(state), field_at(state))).collect();
        if all.iter().all(|(_, value)| value.is_none()) {
            return Err(Failure::usage(format!(
                "--reference {field}: no record has this field, and there is no file with this name"
            ))
            .hint(REFERENCE_FORMAT));
        }
        Ok(all)
    }

    fn measure_accuracy(
        &self,
        judged: &LabelPlan,
        labels: &HashMap<crate::journal::Sha, Labels>,
        propositions: &Propositions,
    ) -> LabelAccuracy {
        let mut all = Vec::new();
        for name in propositions.names() {
            let mut counts = Agreement::default();
            for (state, reference) in self.states.iter().enumerate() {
                if let Some(reference) = reference.as_ref().filter(|reference| reference.has_value(name)) {
                    counts.count(judged.holds(state, name, labels), reference.labels.holds(name));
                }
            }
            all.push((Arc::clone(name), counts));
        }
        LabelAccuracy { propositions: all, compared: self.states.iter().flatten().count() as u64 }
    }
}

const REFERENCE_FORMAT: &str = "reference labels are an object of truth values ({\"polite\": true}) or a list of true propositions \
                                ([\"polite\"]), in a field of each record or one a line in a file";
