//! `tlaforge audit`: a log against the rules of a policy.

use std::collections::HashMap;
use std::io::{Cursor, Read};
use std::path::Path;
use std::sync::Arc;

use serde_json::json;

use super::audit_args::{AuditArgs, ShapeChoice};
use super::audit_fit::ReadLog;
use super::audit_labels::{WholeLog, label_log};
use super::excerpt::excerpt;
use super::failure::{Fails, Failure};
use super::format::Format;
use super::growing_log::{GrowingLog, open_log};
use super::policy_file::read_policy_text;
use super::secrets::refuse_secrets;
use super::signals::cancel_on_signals;
use super::terminal::{print_json_line, print_message, print_result};
use crate::exit::Exit;
use crate::files;
use crate::journal::{ArtifactStore, ChecksumChain, check_lines, check_lines_from, write_atomically, wrong_version_of_line};
use crate::monitor::log::{LogError, Mapping, ScanOptions, Shape, detect_shape};
use crate::monitor::trac::{Decision, Reset};
use crate::monitor::{
    AuditError, AuditReport, Auditor, KnownLabels, LabelPlan, LiveAudit, Policy, PolicyRule, SettledVerdict,
    Propositions, Rule, Scope, Severity, model_propositions,
};
use crate::pipeline::{
    Objection, RunView, Verification, changed_files, default_policy, journal_mapping, kept_texts, verify,
};
use crate::report::{audit_json, audit_junit, audit_text, laws_text, objections_text};
use crate::temporal::{FinalVerdict, Formulas, UnsupportedError};

/// What stands for the policy that is compiled in.
const DEFAULT: &str = "default";

/// How much of a log is looked at to tell its shape.
const BEGINNING: u64 = 4 << 20;

pub(super) async fn audit(args: &AuditArgs) -> Result<Exit, Failure> {
    let mut formulas = Formulas::new();
    let Asked { rules, mapping, labels } = rules(args, &mut formulas)?;
    if let (Some(flag), true) = (args.labels.unused_flag(), labels.is_empty()) {
        return Err(Failure::usage(format!("{flag} is given, and no rule speaks of what a model has to judge"))
            .hint("docs/formulas.md says how a rule does that: [[label]] tables, and the atom model:NAME"));
    }
    if args.follow && !labels.is_empty() {
        return Err(Failure::usage("a log that still grows is not labelled by a model").hint("leave out --follow"));
    }
    if args.follow && is_default(args) {
        return Err(Failure::usage(
            "the default policy speaks of what could be known, which is asked of a whole journal",
        )
        .hint("leave out --follow"));
    }
    if args.follow {
        return follow(args, formulas, rules, mapping).await;
    }
    if let Some(dir) = args.junit.as_deref().and_then(Path::parent)
        && !(dir.as_os_str().is_empty() || dir.is_dir())
    {
        return Err(Failure::usage(format!("--junit: there is no folder {}", dir.display())));
    }
    let mut log = Log::open(&args.log)?;
    let shape = chosen(args, &mapping).unwrap_or_else(|| detect_shape(&log.beginning));
    if is_default(args) && shape != Shape::Journal {
        let log = args.log.display();
        return Err(Failure::usage(format!("{log}: the default policy speaks of a run's journal"))
            .hint("give a run folder, or a policy of your own"));
    }
    if shape == Shape::Journal {
        log = log.with_checked_sums(&args.log)?;
    }
    let said = mapping.clone();
    let auditor = auditor(&args.log, formulas, rules, mapping, shape, &labels)?;
    let beginning = log.beginning.clone();
    let read = |audited: Option<&AuditReport>| ReadLog {
        path: &args.log,
        shape,
        said: &said,
        beginning: &beginning,
        records: audited.map_or(0, |audited| audited.log.records),
        states: audited.map_or(0, |audited| audited.log.places.states()),
        told: audited.map(|audited| audited.log.observations().collect()).unwrap_or_default(),
        missed: audited.map(|audited| audited.log.missed_calls.clone()).unwrap_or_default(),
        is_list: audited.is_some_and(|audited| audited.log.places.is_list()),
        asked: auditor.kinds_read(),
    };
    let options = ScanOptions {
        skip_invalid: args.skip_invalid,
        threads: std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
    };
    let reset = if args.reset { Reset::AfterVerdict } else { Reset::Never };
    let log_is_list = log.is_array();
    let is_list = shape == Shape::Openai && log.is_list();
    let audited = if !labels.is_empty() {
        // It is read twice: for what is to be judged, and with the labels.
        let bytes = log.whole()?;
        let lines = || Cursor::new(&bytes);
        let judged = if is_list { LabelPlan::of_list(auditor.plan(), &bytes) } else { LabelPlan::of_lines(auditor.plan(), &mut lines(), options) };
        let judged = judged.map_err(|e| failure(&e.into()))?;
        let whole = WholeLog { path: &args.log, bytes: &bytes, is_list };
        let (known, labelling) = label_log(&args.labels, &whole, &judged, &labels).await?;
        let auditor = auditor.clone().with_labels(known);
        let audited =
            if is_list { auditor.audit_list(&bytes, reset) } else { auditor.audit_lines(&mut lines(), options, reset) };
        audited.map(|audited| AuditReport { labelling: Some(labelling), ..audited })
    } else if is_list {
        auditor.audit_list(&log.whole()?, reset)
    } else {
        auditor.audit_lines(&mut log.input(), options, reset)
    };
    let audited = match audited {
        Ok(audited) => audited,
        Err(error) => {
            let other = if is_list || log_is_list { read(None).unreadable(&error.to_string()) } else { None };
            return Err(other.unwrap_or_else(|| failure(&error)));
        }
    };
    if let Some(no_verdict) = read(Some(&audited)).no_verdict() {
        return Err(no_verdict);
    }
    let verification = if is_default(args) { verified(args)? } else { Verification::default() };
    write_junit(args, &audited, &verification)?;
    if is_default(args) {
        under_laws(args, shape, &audited, &verification)?;
    } else {
        tell(args, shape, &audited);
    }
    let broken = !verification.objections.is_empty()
        || audited.findings.iter().any(|f| !f.verdict.holds() && f.rule.severity == Severity::Error);
    Ok(if broken { Exit::Negative } else { Exit::Ok })
}

/// Writes the findings for a build server, with `--junit`.
fn write_junit(args: &AuditArgs, audited: &AuditReport, verification: &Verification) -> Result<(), Failure> {
    if let Some(path) = &args.junit {
        if path.canonicalize().is_ok_and(|target| args.log.canonicalize().is_ok_and(|log| log == target)) {
            return Err(Failure::usage(format!("--junit would overwrite the log {}", path.display())));
        }
        write_atomically(
            &std::path::absolute(path).fails(Exit::Usage)?,
            audit_junit(&args.log.display().to_string(), audited, verification).as_bytes(),
        )
        .map_err(|e| Failure::usage(format!("cannot write {}: {e}", path.display())))?;
    }
    Ok(())
}

/// The rules for a log of this shape. The texts that a run's journal names are kept in its folder.
fn auditor(
    log: &Path,
    formulas: Formulas,
    rules: Vec<PolicyRule>,
    mapping: Mapping,
    shape: Shape,
    labels: &Propositions,
) -> Result<Auditor, Failure> {
    let mapping = if shape == Shape::Journal { journal_mapping(mapping) } else { mapping.with_shape_defaults(shape) };
    let auditor = if labels.is_empty() {
        Auditor::new(formulas, rules, mapping)
    } else {
        Auditor::new_with_labels(formulas, rules, mapping, KnownLabels::new(labels, HashMap::new()))
    };
    let auditor = auditor.map_err(|e| failure(&e))?;
    let folder = if log.is_dir() { Some(log) } else { log.parent() };
    let kept = folder.map(|folder| folder.join("artifacts")).filter(|dir| shape == Shape::Journal && dir.is_dir());
    let Some(kept) = kept else {
        if shape == Shape::Journal && auditor.uses("text") {
            return Err(Failure::usage(format!(
                "{}: rules speak of texts, which a journal names and its artifacts/ hold: they are not beside it",
                log.display()
            ))
            .hint("give the folder of the run, with its artifacts/"));
        }
        return Ok(auditor);
    };
    let store = ArtifactStore::open(&kept).map_err(|e| Failure::usage(e.to_string()))?;
    Ok(auditor.with_text_store(kept_texts(store)))
}

fn is_default(args: &AuditArgs) -> bool {
    args.policy.as_deref().and_then(Path::to_str) == Some(DEFAULT)
}

/// Prints the audit of a run's own decisions. A field that no event has is not a warning here: some guards were never
/// evaluated. Only a run without any decision cannot be audited.
fn under_laws(args: &AuditArgs, shape: Shape, audited: &AuditReport, verification: &Verification) -> Result<(), Failure> {
    let log = args.log.display().to_string();
    let mut missing = audited.findings.iter().flat_map(|finding| &finding.warnings);
    if missing.any(|warning| warning.starts_with("no record has a field `on.at`")) {
        return Err(Failure::usage(format!("{log}: the run has made no decision yet, so there is nothing to audit")));
    }
    for warning in &audited.warnings {
        print_message(&format!("warning: {log}: {warning}"));
    }
    for what in &verification.unverified {
        print_message(&format!("warning: {log}: not computed again: {what}"));
    }
    match args.format {
        Format::Text => {
            print_result(&(objections_text(verification) + &laws_text(&log, audited)));
        }
        Format::Json => {
            let mut object = audit_json(&log, shape.name(), audited);
            object["objections"] = json!(verification.objections);
            object["unverified"] = json!(verification.unverified);
            print_json_line(&object);
        }
    }
    Ok(())
}

/// What a run's journal says and does not follow from it. One that cannot be read is an error: nobody knows.
fn verified(args: &AuditArgs) -> Result<Verification, Failure> {
    let journal = if args.log.is_dir() { args.log.join("journal.jsonl") } else { args.log.clone() };
    if !journal.is_file() {
        return Ok(Verification {
            unverified: vec!["all of it: it is not a file".to_owned()],
            ..Verification::default()
        });
    }
    let kept = journal.parent().map(|folder| folder.join("artifacts")).filter(|dir| dir.is_dir());
    let store = kept.map(|dir| ArtifactStore::open(&dir)).transpose().map_err(|e| Failure::usage(e.to_string()))?;
    let (events, rest) = crate::journal::read_with_incomplete(&journal).map_err(|e| Failure::usage(e.to_string()))?;
    let mut verification = verify(&events, store.as_ref());
    // A journal without its folder has no files beside it.
    let root = journal.parent().filter(|root| root.join("history").is_dir() || root.join("artifacts").is_dir());
    if let Some(root) = root {
        let view = RunView::from_entries(&events);
        let event = events.last().map_or(0, |event| event.seq);
        let changed = changed_files(root, &view, &events).into_iter();
        verification.objections.extend(changed.map(|text| Objection { about: "artifact", event, text }));
    }
    if rest > 0 {
        let last = events.len();
        verification.unverified.push(format!(
            "events {} to {}, a group that was not written to its end",
            last + 1,
            last + rest
        ));
    }
    Ok(verification)
}

fn tell(args: &AuditArgs, shape: Shape, audited: &AuditReport) {
    let log = args.log.display().to_string();
    for warning in &audited.warnings {
        print_message(&format!("warning: {log}: {warning}"));
    }
    match args.format {
        Format::Text => print_result(&audit_text(&log, audited)),
        Format::Json => print_json_line(&audit_json(&log, shape.name(), audited)),
    }
}

/// Reads a log as it grows, until Ctrl-C, the end of stdin, or the end of the run whose journal the file is.
async fn follow(
    args: &AuditArgs,
    formulas: Formulas,
    rules: Vec<PolicyRule>,
    mapping: Mapping,
) -> Result<Exit, Failure> {
    let cancel = cancel_on_signals();
    let mut lines = GrowingLog::open(&args.log)?;
    // The shape is told from the first record, which may not be there yet.
    let mut first = lines.next_line(&cancel).await?;
    let shape = chosen(args, &mapping).unwrap_or_else(|| first.as_deref().map_or(Shape::Jsonl, detect_shape));
    let said = mapping.clone();
    let mut beginning = Vec::new();
    if let Some(text) = &first
        && (text.trim_ascii_start().starts_with(b"[") || (shape == Shape::Openai && !is_message(text)))
    {
        return Err(Failure::usage("a list of messages is one value, which cannot be followed")
            .hint("--follow takes a log with a record a line"));
    }
    let auditor = auditor(&args.log, formulas, rules, mapping, shape, &Propositions::default())?;
    let auditor = Arc::new(auditor);
    let mut follower = LiveAudit::new(auditor.clone()).map_err(|e| failure(&e))?;
    // What the end of a run breaks is told behind it.
    let mut ended = false;
    let mut chain = ChecksumChain::default();
    let mut records = 0;
    while let Some(text) = first.take() {
        if shape == Shape::Journal {
            let damaged =
                |what| Failure::usage(format!("{}, line {}, is damaged ({what})", args.log.display(), lines.line));
            if let Some(why) = wrong_version_of_line(&text) {
                return Err(Failure::usage(format!("{}, line {}: {why}", args.log.display(), lines.line)));
            }
            chain.check(&text).map_err(damaged)?;
        }
        if (beginning.len() as u64) < BEGINNING {
            beginning.extend_from_slice(&text);
        }
        records += 1;
        match follower.add_record(&text, lines.line) {
            Ok(fallen) => fallen.iter().for_each(|f| told(args.format, f)),
            Err(AuditError::Log(why @ LogError::Line { .. })) if args.skip_invalid => {
                print_message(&format!("warning: {why}; left out"));
            }
            Err(error) => return Err(failure(&error)),
        }
        // A run that was resumed goes on behind its end.
        ended = event_is(&text, "run_finished") || ended && event_is(&text, "rule_violated");
        if shape == Shape::Journal && !lines.is_stdin && ended && !lines.has_next_line()? {
            break;
        }
        first = lines.next_line(&cancel).await?;
    }
    lines.check_unchanged()?;
    let read = ReadLog {
        path: &args.log,
        shape,
        said: &said,
        beginning: &beginning,
        records,
        states: follower.states(),
        told: follower.log().observations().collect(),
        missed: follower.log().missed_calls.clone(),
        is_list: false,
        asked: auditor.kinds_read(),
    };
    if let Some(no_verdict) = read.no_verdict() {
        return Err(no_verdict);
    }
    for (rule, warning) in
        follower.missing_inputs().iter().flat_map(|(rule, all)| all.iter().map(move |one| (rule, one)))
    {
        match args.format {
            Format::Text => print_result(&format!("{rule}: warning: {warning}\n")),
            Format::Json => print_json_line(&json!({"rule": rule, "warning": warning})),
        }
    }
    let severe = |id: &str| auditor.rules().iter().any(|rule| rule.id == id && rule.severity == Severity::Error);
    let mut broken = follower.failed_causal_rules().iter().any(|id| severe(id));
    for (rule, ending, owed) in follower.endings() {
        broken |= !ending.holds() && severe(&rule);
        if let Some(owed) = owed.filter(|_| ending == FinalVerdict::PresumablyViolated) {
            match args.format {
                Format::Text => print_result(&format!("{rule}: not satisfied as the log ends; still owed: {owed}\n")),
                Format::Json => print_json_line(&json!({"rule": rule, "verdict": "presumably_violated", "owed": owed})),
            }
        }
    }
    Ok(if broken { Exit::Negative } else { Exit::Ok })
}

/// Whether a line is a message, or an answer with one.
fn is_message(line: &[u8]) -> bool {
    serde_json::from_slice::<serde_json::Value>(line)
        .is_ok_and(|record| record.get("role").is_some() || record.get("choices").is_some())
}

fn event_is(line: &[u8], name: &str) -> bool {
    serde_json::from_slice::<serde_json::Value>(line).is_ok_and(|event| event["name"] == name)
}

fn told(format: Format, fallen: &SettledVerdict) {
    let verdict = match fallen.decision {
        Decision::Violated => "violated",
        Decision::Satisfied => "satisfied",
    };
    match format {
        Format::Text => {
            let why = fallen.why.as_ref().map_or_else(String::new, |why| format!(": {why}"));
            print_result(&format!(
                "{}: {verdict} at state {} (line {}){why}\n",
                fallen.rule, fallen.state, fallen.line
            ));
        }
        Format::Json => print_json_line(&json!({
            "rule": fallen.rule, "verdict": verdict, "state": fallen.state, "line": fallen.line, "why": fallen.why,
        })),
    }
}

fn failure(error: &AuditError) -> Failure {
    let failure = Failure::usage(error.to_string());
    match error {
        AuditError::Log(LogError::List { .. }) => {
            failure.hint("docs/formulas.md says what any, every and the fields of tool calls are")
        }
        AuditError::Log(_) => failure.hint("--skip-invalid leaves out lines that are no records"),
        AuditError::Rule { why: UnsupportedError::Operator { reading: "progression", .. }, .. } => {
            failure.hint("--reset and --follow watch step by step, which takes only operators of the future")
        }
        AuditError::Rule { why: UnsupportedError::Operator { .. }, .. } => {
            failure.hint("a rule that speaks of lifelines has an `owner` in a policy file")
        }
        AuditError::Rule { .. } => failure.hint("the policy's [log] table or --map says where the log keeps things"),
        AuditError::Causal(_) => {
            failure.hint("--map lifeline=PATH, event=PATH and message=PATH say where events are told")
        }
    }
}

/// What is asked of a log.
struct Asked {
    rules: Vec<PolicyRule>,
    /// What is said of the log.
    mapping: Mapping,
    /// What a model has to judge.
    labels: Propositions,
}

/// The rules of the file and of the command line, and what both say of the log.
fn rules(args: &AuditArgs, formulas: &mut Formulas) -> Result<Asked, Failure> {
    let mut rules = Vec::new();
    let mut mapping = Mapping::default();
    let mut labels = Propositions::default();
    if let Some(path) = &args.policy {
        let cannot = |e: &dyn std::fmt::Display| Failure::usage(format!("{}: {e}", path.display()));
        let text = match path.to_str() {
            Some(DEFAULT) => default_policy(),
            _ => read_policy_text(path).map_err(|e| cannot(&e))?,
        };
        refuse_secrets(&path.display().to_string(), &text)?;
        let policy = Policy::read(&text, formulas).map_err(|e| cannot(&e).hint("docs/formulas.md has an example"))?;
        rules = policy.rules;
        (mapping, labels) = (policy.log, policy.labels);
    }
    for (number, text) in (1..).zip(&args.formula) {
        let formula = formulas.parse(text).map_err(|e| {
            Failure::usage(format!("--formula {}: {e}", excerpt(text, e.offset).0)).hint("tlaforge formula 'F' tries one")
        })?;
        if let Some(name) =
            model_propositions(formulas, formula).into_iter().find(|name| !labels.names().any(|n| n == name))
        {
            return Err(Failure::usage(format!("--formula {text}: nothing says what `model:{name}` asks"))
                .hint("a [[label]] of a policy file does, with a rule that speaks of it"));
        }
        rules.push(PolicyRule {
            id: if args.formula.len() == 1 { "formula".to_owned() } else { format!("formula-{number}") },
            description: None,
            severity: Severity::Error,
            scope: Scope::Trace(Rule::LtlFormula { formula: text.clone() }),
            formula,
            intervention: None,
            line: 0,
        });
    }
    for map in &args.map {
        set(&mut mapping, map)?;
    }
    Ok(Asked { rules, mapping, labels })
}

fn set(mapping: &mut Mapping, map: &str) -> Result<(), Failure> {
    let Some((what, path)) = map.split_once('=').filter(|(_, path)| !path.is_empty()) else {
        return Err(Failure::usage(format!("--map {map}: expected WHAT=PATH, such as tool_call=payload.tool")));
    };
    let list = |paths: &mut Option<Vec<String>>| paths.get_or_insert_default().push(path.to_owned());
    let one = |field: &mut Option<String>| *field = Some(path.to_owned());
    match what {
        "tool_call" => list(&mut mapping.tool_call),
        "text" => list(&mut mapping.text),
        "stop_reason" => list(&mut mapping.stop_reason),
        "lifeline" => one(&mut mapping.lifeline),
        "event" => one(&mut mapping.event),
        "message" => one(&mut mapping.message),
        "time" => one(&mut mapping.time),
        "within" => one(&mut mapping.within),
        _ => {
            return Err(Failure::usage(format!("--map {what}: unknown"))
                .hint("known are tool_call, text, stop_reason, lifeline, event, message, time and within"));
        }
    }
    Ok(())
}

/// The shape that was asked for.
fn chosen(args: &AuditArgs, mapping: &Mapping) -> Option<Shape> {
    let chosen = args.shape.map(|choice| match choice {
        ShapeChoice::Journal => Shape::Journal,
        ShapeChoice::Jsonl => Shape::Jsonl,
        ShapeChoice::Claude => Shape::Claude,
        ShapeChoice::Openai => Shape::Openai,
        ShapeChoice::Agentlog => Shape::Agentlog,
    });
    chosen.or(mapping.shape)
}

/// A log whose beginning was looked at.
struct Log {
    beginning: Vec<u8>,
    rest: Box<dyn Read + Send>,
}

impl Log {
    fn open(path: &Path) -> Result<Self, Failure> {
        let mut rest = open_log(path)?;
        let mut beginning = Vec::new();
        rest.by_ref()
            .take(BEGINNING)
            .read_to_end(&mut beginning)
            .map_err(|e| Failure::usage(format!("cannot read {}: {e}", path.display())))?;
        Ok(Self { beginning, rest })
    }

    /// Checks the checksums of a run's journal. What comes through a pipe is read only once, and kept.
    fn with_checked_sums(self, path: &Path) -> Result<Self, Failure> {
        let journal = if path.is_dir() { path.join("journal.jsonl") } else { path.to_owned() };
        if journal.is_file() {
            check_lines(&journal).fails(Exit::Usage)?;
            return Ok(self);
        }
        let beginning = self.beginning.clone();
        let mut whole = Cursor::new(self.whole()?);
        check_lines_from(&mut whole, path).fails(Exit::Usage)?;
        whole.set_position(beginning.len() as u64);
        Ok(Self { beginning, rest: Box::new(whole) })
    }

    /// Whether it is a list.
    fn is_array(&self) -> bool {
        self.text().starts_with(b"[")
    }

    fn text(&self) -> &[u8] {
        self.beginning.strip_prefix("\u{feff}".as_bytes()).unwrap_or(&self.beginning).trim_ascii_start()
    }

    /// Whether it is one JSON value rather than a line for each record.
    fn is_list(&self) -> bool {
        let text = self.text();
        self.is_array() || !text.split(|b| *b == b'\n').next().is_some_and(is_message)
    }

    fn input(self) -> impl Read + Send {
        Cursor::new(self.beginning).chain(self.rest)
    }

    fn whole(self) -> Result<Vec<u8>, Failure> {
        let mut bytes = Vec::new();
        let mut input = self.input().take(files::LOG + 1);
        input.read_to_end(&mut bytes).map_err(|e| Failure::usage(format!("cannot read the log: {e}")))?;
        if bytes.len() as u64 > files::LOG {
            return Err(Failure::usage(format!(
                "the log is larger than {} MiB, and is one JSON value or a journal from a pipe",
                files::LOG >> 20
            ))
            .hint("a file with one record a line (JSON lines) may have any size"));
        }
        Ok(bytes)
    }
}
