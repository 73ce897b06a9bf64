//! What the stations share: a model to ask, tools to run, and a journal in which every answer is durable before anyone
//! reads it.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::intervene::taken;
use super::recording::recording_of;
use super::shelf::Shelf;
use crate::files;
use crate::journal::{Event, Kind, Sha, write_atomically};
use crate::llm::{
    Answer, Caller, FailureKind, FileRead, LlmError, Note, Offered, Place, Request, RequestKey, Usage, Used,
};
use crate::pipeline::{Attempt, Feedback, Halt, RunError, RunView, Station, StationError, StopReason, file};
use crate::process::Cancel;
use crate::prompt::{Document, PromptError, PromptLibrary, Readable, changes, index, index_path};
use crate::tla::{Diagnostic, UNCUT, outcome_text};
use crate::toolchain::{Limits, Progress, ToolContext, ToolError, Toolchain};

/// Everything that a station works with.
pub struct Desk {
    /// What answers prompts.
    pub caller: Caller,
    /// What decides.
    pub toolchain: Box<dyn Toolchain>,
    /// What judges mutants, where something quicker than that is at hand.
    pub quick: Option<Box<dyn Toolchain>>,
    /// The prompts.
    pub prompts: PromptLibrary,
    /// Limits of tool runs.
    pub limits: Limits,
    /// Ends everything early.
    pub cancel: Cancel,
    /// Called as the checker reports.
    pub progress: Box<dyn Fn(Progress) + Send + Sync>,
    /// Where the answers are recorded.
    pub record: Option<PathBuf>,
    /// Modules that were read.
    pub shelf: Shelf,
}

/// A question to a model.
pub(super) struct Ask<'a> {
    /// `draft`, `repair`, `second_reading`.
    pub purpose: &'static str,
    /// The node in the request's key.
    pub node: &'static str,
    /// The template of the role.
    pub role: String,
    /// The template of the prompt.
    pub prompt: String,
    /// What the prompt is rendered with.
    pub data: Value,
    /// Files in the workspace besides the documents.
    pub files: Vec<(String, String)>,
    /// Whether the documents are offered.
    pub docs: bool,
    /// Whether the exemplars are offered.
    pub exemplars: bool,
    /// The JSON schema of the answer, for models that can be held to one.
    pub schema: Option<Value>,
    /// The attempt.
    pub attempt: &'a Attempt<'a>,
}

impl<'a> Ask<'a> {
    /// A question with the station's own role and its prompt of that purpose. Nothing is offered with it yet.
    pub(super) fn at(station: Station, purpose: &'static str, attempt: &'a Attempt<'a>) -> Self {
        let node = station.name();
        Self {
            purpose,
            node,
            role: format!("{node}/role"),
            prompt: format!("{node}/{purpose}"),
            data: json!({}),
            files: Vec::new(),
            docs: false,
            exemplars: false,
            schema: None,
            attempt,
        }
    }
}

/// An answer that is durable.
pub(super) struct Reply {
    /// Its text.
    pub text: String,
    /// Its artifact.
    pub sha: Sha,
    /// What the model read.
    pub reads: Vec<FileRead>,
    /// It comes from a recording.
    pub replayed: bool,
}

/// An answer, and the event that made it durable.
pub(super) struct Sample {
    /// The answer.
    pub reply: Reply,
    /// `answer_received`, or `answer_taken`.
    pub event: Event,
    /// What a model has found true of it, where rules speak of that.
    pub labels: Option<Value>,
}

/// Where an event says of an answer what rules can speak of.
pub(super) const TOLD: &str = "told";
/// Where it stands while nobody knows whether the answer is taken: rules do not see it there.
pub(super) const HELD: &str = "held";

#[derive(Deserialize)]
struct Received {
    artifact: Sha,
    provider: String,
    reads: Vec<FileRead>,
}

/// The one tool of a model.
const READ: &str = "Read";

/// The provider whose answers come from a recording.
const REPLAY: &str = "replay";

impl Desk {
    /// Asks, unless the answer is already in the journal.
    pub(super) async fn ask(&self, view: &RunView, ask: Ask<'_>) -> Result<Reply, StationError> {
        let attempt = ask.attempt;
        let is_this = |data: &Value| data["purpose"] == ask.purpose && data[HELD].is_null();
        let is_offered = |data: &Value| data["purpose"] == ask.purpose;
        let decided = attempt.recall("answer_taken", is_this).or_else(|| attempt.recall("answer_offered", is_offered));
        if let Some(event) = decided.or_else(|| attempt.recall("answer_received", is_this)) {
            return Ok(self.recalled(event, attempt)?.reply);
        }
        let request = self.request(view, ask)?;
        match attempt.run.intervening() {
            // Whether it is taken is seen when the choice is made.
            None if attempt.candidate > 0 => Ok(self.sample(request, attempt, HELD).await?.reply),
            None => {
                let sample = self.sample(request, attempt, TOLD).await?;
                // It came while a policy with interventions held it back, and that policy was taken away.
                if !sample.event.data[HELD].is_null() {
                    attempt.run.append(vec![taken(&sample, attempt)])?;
                }
                Ok(sample.reply)
            }
            Some(intervening) => self.ask_under_policy(request, attempt, &intervening).await,
        }
    }

    /// An answer of the journal.
    fn recalled(&self, event: &Event, attempt: &Attempt<'_>) -> Result<Sample, StationError> {
        // Killed between the two, the answer is in the journal and not in the recording.
        self.write_record(attempt)?;
        let received = Received::deserialize(&event.data).map_err(|e| defect(&e))?;
        let text = attempt.run.store().text(&received.artifact).map_err(RunError::from)?;
        let replayed = received.provider == REPLAY;
        let reply = Reply { text, sha: received.artifact, reads: received.reads, replayed };
        Ok(Sample { reply, event: event.clone(), labels: None })
    }

    /// Lays the files out, and words the request.
    fn request(&self, view: &RunView, ask: Ask<'_>) -> Result<Request, StationError> {
        let attempt = ask.attempt;
        let offered = Self::lay_out(view, &ask)?;
        let mut data = ask.data.clone();
        if ask.docs {
            data["index"] = json!(index_path(view.settings.docs.iter().map(|d| d.path.as_str())));
        }
        let key = RequestKey {
            node: ask.node.to_owned(),
            place: attempt.place,
            attempt: attempt.attempt,
            purpose: ask.purpose.to_owned(),
            candidate: attempt.candidate,
        };
        Ok(Request {
            key,
            seq: 0,
            role: self.prompts.render(&ask.role, &json!({})).map_err(|e| prompt_trouble(&e))?,
            prompt: self.prompts.render(&ask.prompt, &data).map_err(|e| prompt_trouble(&e))?,
            workspace: attempt.workspace(),
            offered,
            choice: self.caller.choice(ask.node),
            schema: ask.schema,
        })
    }

    /// Whether a recording says that this candidate's answer came when the decision had been made.
    pub(super) fn comes_late(&self, attempt: &Attempt<'_>, station: Station) -> bool {
        self.caller.comes_late(&draft_key(attempt, station))
    }

    /// Whether the answers come from a recording. Every choice that depends on time is then made as the recording says,
    /// and never by the clock: another machine, or a busy one, must not choose otherwise.
    pub(super) fn replays(&self) -> bool {
        self.caller.name() == REPLAY
    }

    /// Has a request answered, unless the answer is already in the journal. It says what rules can speak of under
    /// `tells`: [`TOLD`] where the answer is taken as it comes, [`HELD`] where that is still to be seen.
    pub(super) async fn sample(
        &self,
        mut request: Request,
        attempt: &Attempt<'_>,
        tells: &str,
    ) -> Result<Sample, StationError> {
        let RequestKey { purpose, candidate, .. } = request.key.clone();
        let is_this = |data: &Value| data["purpose"] == purpose && data["candidate"] == candidate;
        let known = attempt.recall("answer_received", is_this);
        if let Some(event) = known.filter(|event| !is_label(&purpose) || is_answer_to(event, &request, attempt)) {
            return self.recalled(event, attempt);
        }
        let wording = to_json(&request.wording());
        let place = self.place(&request, attempt).await?;
        // A request that was sent before a crash and not answered goes on under its number.
        let sent = attempt.recall("request_sent", |data| {
            is_this(data) && data["wording"] == wording && data["provider"] == self.caller.name()
        });
        request.seq = match sent {
            Some(event) => event.seq,
            None => self.send(&request, attempt)?,
        };
        let started = std::time::Instant::now();
        let answer = self.call(place, &request, attempt).await?;
        note_refused(attempt, &answer.refused_reads)?;
        let estimated = self.caller.estimate(&request, &answer);
        let sha = attempt.keep(&answer.text)?;
        let event = attempt.record(
            Kind::Recv,
            "answer_received",
            json!({
                "purpose": purpose, "candidate": candidate, "request": request.seq, "artifact": sha,
                "provider": self.caller.name(), "model": answer.model, "usage": answer.usage,
                "cost_usd": answer.cost_usd, "estimated": estimated, "stale": answer.stale, "reads": answer.reads,
                tells: told(&answer, &sha),
                "seconds": started.elapsed().as_secs_f64(), "request_ids": answer.request_ids,
            }),
        )?;
        self.write_record(attempt)?;
        let replayed = self.replays();
        Ok(Sample { reply: Reply { text: answer.text, sha, reads: answer.reads, replayed }, event, labels: None })
    }

    /// A place for a call. Of a candidate, none is taken any more once what it is asked for has been decided.
    async fn place(&self, request: &Request, attempt: &Attempt<'_>) -> Result<Place<'_>, StationError> {
        let is_this =
            |data: &Value| data["purpose"] == request.key.purpose && data["kind"] == to_json(&FailureKind::Budget);
        let ended = attempt.recall("call_failed", is_this);
        let before = ended.and_then(|event| {
            let parts = [&event.data["usage"], &event.data["estimated"]["usage"]];
            parts.into_iter().filter_map(|usage| Usage::deserialize(usage).ok()).reduce(|a, b| a.plus(b))
        });
        let used = || {
            let spent = attempt.run.spent();
            let cost_usd = spent.cost_usd + spent.estimated_usd;
            let tokens = spent.tokens.saturating_add(spent.estimated_tokens);
            Used { cost_usd, tokens, before, ..Used::default() }
        };
        let place = self.caller.place(request, &used, &self.cancel);
        let place = match attempt.over.clone() {
            None => place.await,
            Some(mut over) => tokio::select! {
                biased;
                over = over.wait_for(|over| *over) => return Err(not_asked(over.is_ok()).into()),
                place = place => place,
            },
        };
        Ok(place.map_err(|e| self.provider_trouble(&e))?)
    }

    /// Calls the model; what fails on the way is journaled before it is tried again.
    async fn call(&self, place: Place<'_>, request: &Request, attempt: &Attempt<'_>) -> Result<Answer, StationError> {
        let mut trouble = None;
        let mut note = |note: Note| {
            if let Note::Failed { refused_reads, .. } = &note {
                trouble = trouble.take().or(note_refused(attempt, refused_reads).err());
            }
            let (kind, name) = match note {
                Note::Failed { .. } => (Kind::Recv, "call_failed"),
                Note::Switched { .. } => (Kind::Choice, "model_switched"),
                Note::LeftOut(_) => (Kind::Act, "left_out"),
            };
            let mut data = to_json(&note);
            data["purpose"] = json!(request.key.purpose);
            data["request"] = json!(request.seq);
            trouble = trouble.take().or(attempt.record(kind, name, data).err());
        };
        let answer = self.caller.call_in(place, request, &self.cancel, &mut note).await;
        match trouble {
            Some(trouble) => Err(trouble.into()),
            None => Ok(answer.map_err(|e| self.provider_trouble(&e))?),
        }
    }

    /// Brings the recording up to date with the journal.
    pub(super) fn write_record(&self, attempt: &Attempt<'_>) -> Result<(), StationError> {
        if let Some(path) = &self.record {
            let recording = recording_of(&attempt.run.events(), attempt.run.store()).map_err(RunError::from)?;
            write_atomically(path, recording.render().as_bytes()).map_err(|source| RunError::Io {
                what: "write the recording",
                path: path.clone(),
                source,
            })?;
        }
        Ok(())
    }

    fn send(&self, request: &Request, attempt: &Attempt<'_>) -> Result<u64, StationError> {
        let prompt = attempt.keep(&format!("{}\n\n{}", request.role, request.prompt))?;
        let start: String = request.prompt.chars().take(80).collect();
        let event = attempt.record(
            Kind::Send,
            "request_sent",
            json!({
                "purpose": request.key.purpose, "candidate": request.key.candidate, "key": request.key,
                "provider": self.caller.name(), "choice": request.choice, "prompt": prompt, "prompt_start": start,
                "wording": request.wording(), "offered": request.offered,
            }),
        )?;
        Ok(event.seq)
    }

    /// Lays the files of a request out in the workspace, and nothing else.
    fn lay_out(view: &RunView, ask: &Ask<'_>) -> Result<Vec<Offered>, StationError> {
        let run = ask.attempt.run;
        let mut files = ask.files.clone();
        if ask.docs {
            let documents = documents(view, ask.attempt)?;
            files.push((index_path(documents.iter().map(|d| d.path.as_str())), index(&documents)));
            files.extend(documents.into_iter().map(|d| (format!("docs/{}", d.path), d.text)));
        }
        if ask.exemplars {
            for exemplar in &view.settings.exemplars {
                let text = run.store().text(&exemplar.sha).map_err(RunError::from)?;
                files.push((format!("exemplars/{}", exemplar.path), text));
            }
        }
        let root = ask.attempt.workspace();
        let wanted: BTreeSet<PathBuf> = files.iter().map(|(path, _)| root.join(path)).collect();
        clear(&root, &wanted).map_err(|source| trouble_at("clear", &root, source))?;
        let mut offered = Vec::new();
        for (path, text) in files {
            offered.push(offer(ask.attempt, &path, &text)?);
        }
        Ok(offered)
    }

    /// The surroundings of a tool run.
    pub(super) fn tools(&self) -> ToolContext<'_> {
        ToolContext { limits: &self.limits, cancel: &self.cancel, progress: &*self.progress }
    }

    /// A model's failure, as a reason to stop.
    fn provider_trouble(&self, error: &LlmError) -> Halt {
        match error {
            LlmError::Cancelled => Halt::interrupted(),
            LlmError::Budget { .. } => Halt { reason: StopReason::Budget, message: error.to_string() },
            LlmError::Deadline => Halt { reason: StopReason::Deadline, message: error.to_string() },
            _ => {
                let unknown = matches!(error, LlmError::Failed(failure) if failure.kind == FailureKind::ModelNotFound);
                let reason = if unknown { StopReason::Settings } else { StopReason::Provider };
                Halt { reason, message: format!("{}: {error}", self.caller.name()) }
            }
        }
    }
}

/// The first request of a candidate at a station, as a recording names it.
pub(super) fn draft_key(attempt: &Attempt<'_>, station: Station) -> RequestKey {
    RequestKey {
        node: station.name().to_owned(),
        place: attempt.place,
        attempt: attempt.attempt,
        purpose: "draft".to_owned(),
        candidate: attempt.candidate,
    }
}

/// Labels are of the words and the text that were asked about, and of no others.
fn is_label(purpose: &str) -> bool {
    purpose.starts_with("label ") || purpose.starts_with("relabel ")
}

fn is_answer_to(answer: &Event, request: &Request, attempt: &Attempt<'_>) -> bool {
    let (number, wording) = (&answer.data["request"], to_json(&request.wording()));
    attempt.recall("request_sent", |data| data["wording"] == wording).is_some_and(|sent| *number == sent.seq)
}

/// Why a candidate was not asked: the choice had been made, or the run stopped.
fn not_asked(chosen: bool) -> Halt {
    let why =
        if chosen { "the choice had been made before its turn came" } else { "the run stopped before its turn came" };
    Halt { reason: StopReason::Provider, message: why.to_owned() }
}

/// What rules can speak of: the text (by the name of its artifact), the tools that were used, and why the model stopped.
/// A model's one tool is `Read`, and whatever brought a file before it has read it.
fn told(answer: &Answer, text: &Sha) -> Value {
    let read = !answer.reads.is_empty() || !answer.refused_reads.is_empty();
    let tools: &[&str] = if read { &[READ] } else { &[] };
    json!({"text": text, "tools": tools, "stop_reason": answer.stop_reason})
}

/// Lays a file out in the workspace.
pub(super) fn offer(attempt: &Attempt<'_>, path: &str, text: &str) -> Result<Offered, StationError> {
    let root = attempt.workspace();
    let at = root.join(path);
    let sha = attempt.keep(text)?;
    if !files::read(&at, files::LARGE).is_ok_and(|bytes| bytes == text.as_bytes()) {
        let dir = at.parent().unwrap_or(&root);
        std::fs::create_dir_all(dir).map_err(|source| trouble_at("create the folder", dir, source))?;
        std::fs::write(&at, text).map_err(|source| trouble_at("write", &at, source))?;
    }
    let shared = path.starts_with("docs/") || path.starts_with("exemplars/");
    Ok(Offered { path: path.to_owned(), sha, bytes: text.len() as u64, shared })
}

/// Takes a file out of the workspace again.
pub(super) fn withdraw(attempt: &Attempt<'_>, path: &str) -> Result<(), StationError> {
    let at = attempt.workspace().join(path);
    match std::fs::remove_file(&at) {
        Err(source) if source.kind() != std::io::ErrorKind::NotFound => Err(trouble_at("remove", &at, source).into()),
        _ => Ok(()),
    }
}

/// Journals what the model tried to read outside the workspace.
fn note_refused(attempt: &Attempt<'_>, paths: &[String]) -> Result<(), RunError> {
    for path in paths {
        attempt.record(Kind::Act, "read_refused", json!({"path": path, "why": "outside the workspace"}))?;
    }
    Ok(())
}

/// What was read of an answer; what had to be set aside for that is journaled.
pub(super) fn as_read<T>(attempt: &Attempt<'_>, read: Readable<T>) -> Result<T, StationError> {
    let is_there = attempt.recall("answer_normalised", |_| true).is_some();
    if !read.normalised.is_empty() && !is_there {
        attempt.record(Kind::Act, "answer_normalised", json!({"what": read.normalised}))?;
    }
    Ok(read.value)
}

/// A tool's failure, as a reason to stop.
pub(super) fn tool_trouble(error: &ToolError) -> Halt {
    match error {
        ToolError::Cancelled => Halt::interrupted(),
        _ => Halt { reason: StopReason::Tool, message: error.to_string() },
    }
}

/// The documents of the run.
pub(super) fn documents(view: &RunView, attempt: &Attempt<'_>) -> Result<Vec<Document>, StationError> {
    let mut documents = Vec::new();
    for stored in &view.settings.docs {
        let text = attempt.run.store().text(&stored.sha).map_err(RunError::from)?;
        documents.push(Document { path: stored.path.clone(), text });
    }
    Ok(documents)
}

/// The modules among the exemplars.
pub(super) fn exemplar_modules(view: &RunView) -> Vec<&str> {
    let paths = view.settings.exemplars.iter().map(|e| e.path.as_str());
    paths.filter(|p| Path::new(p).extension().is_some_and(|e| e == "tla")).collect()
}

/// A current artifact's text.
pub(super) fn current(view: &RunView, attempt: &Attempt<'_>, name: &str) -> Result<Option<String>, StationError> {
    Ok(attempt.run.current_text(view, name)?)
}

/// A text with line numbers, for repair prompts.
pub(super) fn numbered(text: &str) -> String {
    let width = text.lines().count().to_string().len();
    text.lines().enumerate().fold(String::new(), |mut out, (i, line)| {
        let _ = writeln!(out, "{:>width$} | {line}", i + 1);
        out
    })
}

/// Open feedback as a file; what `otherwise` says where there is none.
pub(super) fn feedback_file<'a>(open: impl Iterator<Item = &'a Feedback>, otherwise: &str) -> String {
    let mut text = String::from("# Still open\n");
    let mut any = false;
    for item in open {
        any = true;
        let _ = writeln!(text, "\n## From: {}\n\n{}", item.from, item.text.trim());
    }
    if !any {
        let _ = writeln!(text, "\n{otherwise}");
    }
    text
}

/// Offers the last check as `check.md`, and says to the prompt whether there is one and whether it is of what stands now.
pub(super) fn offer_check(view: &RunView, data: &mut Value, files: &mut Vec<(String, String)>) {
    let fresh = view.fresh_check();
    data["has_check"] = json!(view.check().is_some());
    data["check_is_older"] = json!(view.check().is_some() && fresh.is_none());
    let text = match (fresh, view.check()) {
        (Some(outcome), _) => outcome_text(outcome, UNCUT),
        (None, Some(check)) => format!(
            "This check was of an earlier version: the module, its properties or the configuration have changed since, \
             and that was not checked.\n\n{}",
            outcome_text(&check.outcome, UNCUT)
        ),
        (None, None) => return,
    };
    files.push(("check.md".to_owned(), text));
}

/// Whether the protocol in the current informal specification is marked as changed after a flaw, as `changed`.
pub(super) fn is_changed(view: &RunView, attempt: &Attempt<'_>) -> Result<bool, StationError> {
    let informal = current(view, attempt, file::INFORMAL)?.unwrap_or_default();
    Ok(view.state.repaired && !changes(&informal).is_empty())
}

/// Diagnostics as a list.
pub(super) fn diagnostics_text(diagnostics: &[Diagnostic]) -> String {
    diagnostics.iter().fold(String::new(), |mut out, diagnostic| {
        let _ = writeln!(out, "- {diagnostic}");
        out
    })
}

/// A schema that the program carries.
pub(super) fn schema_of(text: &str) -> Value {
    serde_json::from_str(text).expect("it is compiled in, and a test reads it")
}

pub(super) fn to_json(value: &impl Serialize) -> Value {
    serde_json::to_value(value).expect("plain data with string keys")
}

/// Data that this program wrote and cannot read is a defect, reported as a failure of the journal.
pub(super) fn defect(error: &serde_json::Error) -> RunError {
    RunError::Io {
        what: "understand an event of",
        path: "journal.jsonl".into(),
        source: std::io::Error::other(error.to_string()),
    }
}

pub(super) fn prompt_trouble(error: &PromptError) -> Halt {
    Halt { reason: StopReason::Provider, message: format!("{error}; mend the template and resume") }
}

fn trouble_at(what: &'static str, path: &Path, source: std::io::Error) -> RunError {
    RunError::Io { what, path: path.to_owned(), source }
}

/// Removes everything below `root` that is not wanted.
fn clear(root: &Path, wanted: &BTreeSet<PathBuf>) -> std::io::Result<()> {
    if std::fs::symlink_metadata(root).is_ok_and(|m| !m.is_dir()) {
        return Err(std::io::Error::other("it is not a folder"));
    }
    std::fs::create_dir_all(root)?;
    for entry in walkdir::WalkDir::new(root).contents_first(true).min_depth(1) {
        let entry = entry.map_err(std::io::Error::other)?;
        if entry.file_type().is_dir() {
            // Only empty folders go; the others hold something that is wanted.
            let _ = std::fs::remove_dir(entry.path());
        } else if !entry.file_type().is_file() || !wanted.contains(entry.path()) {
            std::fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}
