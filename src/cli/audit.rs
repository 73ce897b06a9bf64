//! `tlaforge audit`: evaluates the rules of a policy on a log, after the fact or while the log grows. `monitor` decides
//! how a log is read and what a rule means; this file opens files and chooses the exit status.

use std::collections::HashMap;
use std::io::Cursor;
use std::path::Path;
use std::sync::Arc;

use serde_json::json;

use super::audit_args::{AuditArgs, set_path};
use super::audit_fit::{ReadLog, doubts_of_followed, is_about_no_call};
use super::audit_labels::{WholeLog, label_log};
use super::audit_log::{DETECTION_BYTES, Log};
use super::audit_page::{journal_of, write_audit_page, write_junit};
use super::failure::Failure;
use super::format::{FindingsFormat, Format};
use super::formula::formula_failure;
use super::growing_log::GrowingLog;
use super::policy_file::{policy_failure, read_policy_text};
use super::secrets::refuse_secrets;
use super::signals::cancel_on_signals;
use super::terminal::{print_json_line, print_message, print_result};
use crate::exit::Exit;
use crate::journal::{ArtifactStore, ChecksumChain, wrong_version_of_line};
use crate::monitor::log::{LogError, Mapping, ScanOptions, Shape, detect_shape};
use crate::monitor::trac::{Decision, Reset};
use crate::monitor::{
    AuditError, AuditReport, Auditor, KnownLabels, LabelPlan, LiveAudit, Policy, PolicyRule, Propositions, Rule, Scope,
    SettledVerdict, Severity, model_propositions,
};
use crate::pipeline::{
    EventName, Objection, RunView, Verification, changed_files, default_policy, journal_mapping, kept_texts, verify,
};
use crate::report::{audit_findings, audit_json, audit_text, default_audit_text, objections_text};
use crate::temporal::{FinalVerdict, Formulas, UnsupportedError};

/// The value of `--policy` for the default policy.
// A policy file with this name can be given as `./default`.
const DEFAULT_POLICY: &str = "default";

/// Refuses what `--follow` cannot do.
fn check_follow(args: &AuditArgs) -> Result<(), Failure> {
    if is_default(args) {
        return Err(Failure::usage("--follow cannot be used with the default policy, which needs the whole journal")
            .hint("remove --follow"));
    }
    if args.page.html.is_some() {
        return Err(Failure::usage("--follow cannot write a page, which needs the whole log").hint("remove --follow"));
    }
    let is_plain = [FindingsFormat::Text, FindingsFormat::Json].contains(&args.format);
    if !(is_plain && args.findings.findings.is_empty()) {
        return Err(Failure::usage("--follow prints text or JSON").hint("remove --follow, or use --format json"));
    }
    Ok(())
}

pub(super) async fn audit(mut args: AuditArgs) -> Result<Exit, Failure> {
    let _following = args.find_log()?;
    let args = &args;
    let mut formulas = Formulas::new();
    let LoadedRules { rules, mapping, labels } = load_rules(args, &mut formulas)?;
    refuse_unused_labels(args, &labels)?;
    if args.follow {
        check_follow(args)?;
        return follow(args, formulas, rules, mapping).await;
    }
    args.page.check(None)?;
    // Checked now, because labelling can take long and cost money before the file is written.
    if let Some(dir) = args.junit.as_deref().and_then(Path::parent)
        && !(dir.as_os_str().is_empty() || dir.is_dir())
    {
        return Err(Failure::usage(format!("--junit: the folder {} does not exist", dir.display())));
    }
    let mut log = Log::open(&args.log)?;
    let detected = detect_shape(&log.beginning);
    let shape = args.selected_shape(&mapping).unwrap_or(detected);
    if is_default(args) && shape != Shape::Journal {
        let log = args.log_name();
        return Err(Failure::usage(format!("{log}: the default policy only applies to the journal of a run"))
            .hint("name a run folder, or use your own policy"));
    }
    if shape == Shape::Journal {
        log = log.with_checked_sums(&args.log)?;
    }
    let user_mapping = mapping.clone();
    let other_calls = args.reading_of_other_calls(shape == detected);
    let mapping = Mapping { other_calls, ..mapping };
    let auditor = create_auditor(&args.log, formulas, rules, mapping, shape, &labels)?;
    let auditor = if args.page.html.is_some() { auditor.with_timelines() } else { auditor };
    let beginning = log.beginning.clone();
    let read = |audited: Option<&AuditReport>| ReadLog {
        path: &args.log,
        shape,
        user_mapping: &user_mapping,
        beginning: &beginning,
        records: audited.map_or(0, |audited| audited.log.records),
        states: audited.map_or(0, |audited| audited.log.places.states()),
        found_kinds: audited.map(|audited| audited.log.observations().collect()).unwrap_or_default(),
        missed: audited.map(|audited| audited.log.missed_calls.clone()).unwrap_or_default(),
        is_list: audited.is_some_and(|audited| audited.log.places.is_list()),
        wanted_kinds: auditor.kinds_read(),
        other_calls,
        allow_no_calls: args.allow_no_calls,
    };
    let options = ScanOptions {
        skip_invalid: args.skip_invalid,
        threads: std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
    };
    let is_list = log.is_list;
    let audited = audit_log(args, log, &auditor, &labels, options).await?;
    let mut audited = match audited {
        Ok(audited) => audited,
        Err(error) => {
            // A log of another shape can fail in many ways; the shape that fits helps more than the symptom.
            let other = if is_list { read(None).explain_unreadable(&error.to_string()) } else { None };
            return Err(other.unwrap_or_else(|| failure(args, &error)));
        }
    };
    // Before any verdict is printed: in a log of the wrong shape most rules hold, because nothing in it is seen.
    let mut findings = std::mem::take(&mut audited.findings);
    let without_verdict = read(Some(&audited)).withdraw_verdicts(&mut findings, |rule| auditor.reads_calls(rule));
    audited.findings = findings;
    let without_verdict = match without_verdict {
        Some(failure) if audited.findings.iter().all(|finding| finding.no_verdict) => return Err(failure),
        other => other,
    };
    let verification = if is_default(args) { verify_journal(args)? } else { Verification::default() };
    if is_default(args) {
        require_decisions(args, &audited)?;
        forget_missing_fields(&mut audited);
    }
    write_junit(args, &audited, &verification)?;
    if is_default(args) {
        print_default_audit(args, shape, &audited, &verification)?;
    } else {
        print_audit(args, shape, &audited)?;
    }
    write_audit_page(args, shape.name(), &audited, &verification)?;
    let broken = !verification.objections.is_empty()
        || audited.findings.iter().any(|f| f.is_broken() && f.rule.severity == Severity::Error);
    match without_verdict {
        _ if broken => Ok(Exit::Negative),
        Some(failure) => Err(failure),
        None => {
            if args.allow_no_calls {
                audited.findings.iter_mut().for_each(|f| f.warnings.retain(|warning| !is_about_no_call(warning)));
            }
            refuse_doubts(args, &audited.doubts())
        }
    }
}

/// Evaluates the rules on a log, with the labels that a model gives to its states.
async fn audit_log(
    args: &AuditArgs,
    log: Log,
    auditor: &Auditor,
    labels: &Propositions,
    options: ScanOptions,
) -> Result<Result<AuditReport, AuditError>, Failure> {
    let reset = if args.reset { Reset::AfterVerdict } else { Reset::Never };
    let is_list = log.is_list;
    Ok(if !labels.is_empty() {
        // The log is read twice: to collect the states to label, and to evaluate the rules with their labels.
        let bytes = log.read_all()?;
        let lines = || Cursor::new(&bytes);
        let judged = if is_list {
            LabelPlan::of_records(auditor.plan(), &bytes)
        } else {
            LabelPlan::of_lines(auditor.plan(), &mut lines(), options)
        };
        let judged = judged.map_err(|e| failure(args, &e.into()))?;
        let whole = WholeLog { path: &args.log, bytes: &bytes, is_list };
        let (known, labelling) = label_log(&args.labels, &whole, &judged, labels).await?;
        let auditor = auditor.clone().with_labels(known);
        let audited = if is_list {
            auditor.audit_records(&bytes, reset)
        } else {
            auditor.audit_lines(&mut lines(), options, reset)
        };
        audited.map(|audited| AuditReport { labelling: Some(labelling), ..audited })
    } else if is_list {
        auditor.audit_records(&log.read_all()?, reset)
    } else {
        auditor.audit_lines(&mut log.input(), options, reset)
    })
}

/// With `--strict`, ends the audit without a verdict if there is a reason to doubt it.
fn refuse_doubts(args: &AuditArgs, doubts: &[String]) -> Result<Exit, Failure> {
    if doubts.is_empty() || !args.is_strict() {
        return Ok(Exit::Ok);
    }
    let what = format!("{}: no verdict: {}", args.log_name(), doubts.join("; "));
    Err(Failure::new(Exit::Undecided, what).hint("--lenient makes these cases warnings"))
}

fn forget_missing_fields(audited: &mut AuditReport) {
    for finding in &mut audited.findings {
        finding.warnings.clear();
        finding.missing_fields.clear();
    }
}

/// Refuses flags about labels that fit neither the rules nor `--follow`.
fn refuse_unused_labels(args: &AuditArgs, labels: &Propositions) -> Result<(), Failure> {
    if let (Some(flag), true) = (args.labels.unused_flag(), labels.is_empty()) {
        return Err(Failure::usage(format!("{flag} has no effect: no rule uses labels by a model"))
            .hint("docs/src/labels.md describes labels: [[label]] tables, and the atom model:NAME"));
    }
    if args.follow && !labels.is_empty() {
        return Err(Failure::usage("--follow cannot label a log with a model").hint("remove --follow"));
    }
    Ok(())
}

/// Creates the auditor for a log of this shape. The texts that a journal refers to are in `artifacts/` next to it.
fn create_auditor(
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
    let auditor = auditor.map_err(|e| rule_failure(&e))?;
    let folder = if log.is_dir() { Some(log) } else { log.parent() };
    let kept = folder.map(|folder| folder.join("artifacts")).filter(|dir| shape == Shape::Journal && dir.is_dir());
    // Without the texts, a rule about them would hold or fail for no reason.
    let Some(kept) = kept else {
        if shape == Shape::Journal && auditor.uses("text") {
            return Err(Failure::usage(format!(
                "{}: rules use texts, which are in the artifacts/ of the run; that folder is missing",
                log.display()
            ))
            .hint("name the run folder, with its artifacts/"));
        }
        return Ok(auditor);
    };
    let store = ArtifactStore::open(&kept).map_err(|e| Failure::usage(e.to_string()))?;
    Ok(auditor.with_text_store(kept_texts(store)))
}

fn is_default(args: &AuditArgs) -> bool {
    args.policy.as_deref().and_then(Path::to_str) == Some(DEFAULT_POLICY)
}

/// Refuses a run without any decision, of which every rule of the default policy holds.
fn require_decisions(args: &AuditArgs, audited: &AuditReport) -> Result<(), Failure> {
    let mut missing = audited.findings.iter().flat_map(|finding| &finding.warnings);
    // Every decision has this field, so a journal without it has no decision.
    if missing.any(|warning| warning.starts_with("no record has a field `routing.position`")) {
        let log = args.log_name();
        return Err(Failure::usage(format!(
            "{log}: the run has not made any decision yet, so there is nothing to audit"
        )));
    }
    Ok(())
}

/// Prints the audit of a run by the default policy. Missing fields are not warnings here, because its names are known to be
/// right and many are optional.
fn print_default_audit(
    args: &AuditArgs,
    shape: Shape,
    audited: &AuditReport,
    verification: &Verification,
) -> Result<(), Failure> {
    let log = args.log_name();
    for warning in &audited.warnings {
        print_message(&format!("warning: {log}: {warning}"));
    }
    for what in &verification.unverified {
        print_message(&format!("warning: {log}: not verified: {what}"));
    }
    let printed = args.format.print(&args.findings, || audit_findings(&log, audited, verification))?;
    match args.format.plain() {
        _ if printed => {}
        Format::Text => {
            print_result(&(objections_text(verification) + &default_audit_text(&log, audited)));
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

/// Recomputes what the run must have decided, and compares. An unreadable journal is an error.
fn verify_journal(args: &AuditArgs) -> Result<Verification, Failure> {
    let journal = journal_of(&args.log);
    // A pipe can be read only once, and the audit has read it.
    if !journal.is_file() {
        return Ok(Verification {
            unverified: vec!["the whole journal, because it is not a file".to_owned()],
            ..Verification::default()
        });
    }
    let kept = journal.parent().map(|folder| folder.join("artifacts")).filter(|dir| dir.is_dir());
    let store = kept.map(|dir| ArtifactStore::open(&dir)).transpose().map_err(|e| Failure::usage(e.to_string()))?;
    let (events, rest) = crate::journal::read_with_incomplete(&journal).map_err(|e| Failure::usage(e.to_string()))?;
    let mut verification = verify(&events, store.as_ref());
    // A journal outside of a run folder has no files to compare.
    let root = journal.parent().filter(|root| root.join("history").is_dir() || root.join("artifacts").is_dir());
    if let Some(root) = root {
        let view = RunView::from_entries(&events);
        let event = events.last().map_or(0, |event| event.seq);
        let changed = changed_files(root, &view, &events).into_iter();
        verification.objections.extend(changed.map(|text| Objection { about: "artifact", event, text }));
    }
    if rest > 0 {
        let last = events.len();
        verification.unverified.push(format!("events {} to {}, an incomplete group at the end", last + 1, last + rest));
    }
    Ok(verification)
}

fn print_audit(args: &AuditArgs, shape: Shape, audited: &AuditReport) -> Result<(), Failure> {
    let log = args.log_name();
    for warning in &audited.warnings {
        print_message(&format!("warning: {log}: {warning}"));
    }
    let findings = || audit_findings(&log, audited, &Verification::default());
    let printed = args.format.print(&args.findings, findings)?;
    match args.format.plain() {
        _ if printed => {}
        Format::Text => print_result(&audit_text(&log, audited)),
        Format::Json => print_json_line(&audit_json(&log, shape.name(), audited)),
    }
    Ok(())
}

/// Evaluates the rules while the log grows, until Ctrl-C, the end of stdin, or the end of the run.
async fn follow(
    args: &AuditArgs,
    formulas: Formulas,
    rules: Vec<PolicyRule>,
    mapping: Mapping,
) -> Result<Exit, Failure> {
    let cancel = cancel_on_signals();
    let mut lines = GrowingLog::open(&args.log)?;
    // Detecting the shape needs the first record, so wait for it.
    let mut first = lines.next_line(&cancel).await?;
    let detected = first.as_deref().map_or(Shape::Jsonl, detect_shape);
    let shape = args.selected_shape(&mapping).unwrap_or(detected);
    let other_calls = args.reading_of_other_calls(shape == detected);
    let mapping = Mapping { other_calls, ..mapping };
    let user_mapping = mapping.clone();
    let mut beginning = Vec::new();
    if let Some(text) = &first
        && (text.trim_ascii_start().starts_with(b"[") || (shape == Shape::Openai && is_request(text)))
    {
        return Err(Failure::usage("--follow cannot read a list of messages, which is a single JSON value")
            .hint("--follow needs a log with one record a line"));
    }
    let auditor = create_auditor(&args.log, formulas, rules, mapping, shape, &Propositions::default())?;
    let auditor = Arc::new(auditor);
    let mut follower = LiveAudit::new(auditor.clone()).map_err(|e| failure(args, &e))?;
    // Rules that the end of a run violates are journaled after `run_finished`.
    let mut ended = false;
    let mut chain = ChecksumChain::default();
    let mut records = 0;
    let mut skipped = Vec::new();
    while let Some(text) = first.take() {
        if shape == Shape::Journal {
            let damaged =
                |what| Failure::usage(format!("{}, line {}, is damaged ({what})", args.log.display(), lines.line));
            // Each line is verified before a rule sees it, so that no verdict rests on a damaged line.
            if let Some(why) = wrong_version_of_line(&text) {
                return Err(Failure::usage(format!("{}, line {}: {why}", args.log.display(), lines.line)));
            }
            chain.check(&text).map_err(damaged)?;
        }
        if (beginning.len() as u64) < DETECTION_BYTES {
            beginning.extend_from_slice(&text);
        }
        records += 1;
        match follower.add_record(&text, lines.line) {
            Ok(decided) => decided.iter().for_each(|verdict| print_verdict(args.format.plain(), verdict)),
            Err(AuditError::Log(why @ LogError::Line { .. })) if args.skip_invalid => {
                print_message(&format!("warning: {why}; skipped"));
                skipped.push(lines.line);
            }
            Err(error) => return Err(failure(args, &error)),
        }
        // A resumed run continues after an earlier `run_finished`.
        ended = event_is(&text, EventName::RunFinished) || ended && event_is(&text, EventName::RuleViolated);
        if shape == Shape::Journal && !lines.is_stdin && ended && !lines.has_next_line()? {
            break;
        }
        first = lines.next_line(&cancel).await?;
    }
    follower.end_of_log(lines.line).map_err(|e| failure(args, &e))?.iter().for_each(|verdict| {
        print_verdict(args.format.plain(), verdict);
    });
    // `next_line` compares only the end of what was read; now the file is compared as a whole.
    lines.check_unchanged()?;
    let read = ReadLog {
        path: &args.log,
        shape,
        user_mapping: &user_mapping,
        beginning: &beginning,
        records,
        states: follower.states(),
        found_kinds: follower.log().observations().collect(),
        missed: follower.log().missed_calls.clone(),
        is_list: false,
        wanted_kinds: auditor.kinds_read(),
        other_calls,
        allow_no_calls: args.allow_no_calls,
    };
    end_of_followed(args, &auditor, &mut follower, &read, &skipped)
}

/// Prints how each rule stands at the end of a log that was followed, and returns the exit status.
fn end_of_followed(
    args: &AuditArgs,
    auditor: &Auditor,
    follower: &mut LiveAudit,
    read: &ReadLog<'_>,
    skipped: &[u64],
) -> Result<Exit, Failure> {
    let misfit = read.explain_misfit();
    let is_misfit = misfit.is_some();
    let without_verdict = misfit.or_else(|| read.explain_unread_calls());
    let has_no_verdict = |rule: &str| is_misfit || without_verdict.is_some() && auditor.reads_calls(rule);
    let mut doubts = doubts_of_followed(follower, skipped);
    let missing = follower.missing_inputs();
    let lacks_data: Vec<String> =
        missing.iter().filter(|(_, all)| !all.is_empty()).map(|(rule, _)| (*rule).to_owned()).collect();
    for (rule, warning) in missing.iter().flat_map(|(rule, all)| all.iter().map(move |one| (rule, one))) {
        if !(args.allow_no_calls && is_about_no_call(warning)) {
            doubts.push(format!("{rule}: {warning}"));
        }
        match args.format.plain() {
            Format::Text => print_result(&format!("{rule}: warning: {warning}\n")),
            Format::Json => print_json_line(&json!({"rule": rule, "warning": warning})),
        }
    }
    let severe = |id: &str| auditor.rules().iter().any(|rule| rule.id == id && rule.severity == Severity::Error);
    // A violation that rests on data of another shape is none.
    let counts = |id: &str| severe(id) && !(is_misfit && lacks_data.iter().any(|rule| rule == id));
    let mut broken = follower.failed_causal_rules().iter().any(|id| counts(id));
    for (rule, ending, residual) in follower.endings() {
        if ending != FinalVerdict::Violated && has_no_verdict(&rule) {
            continue;
        }
        broken |= !ending.holds() && counts(&rule);
        if let Some(residual) = residual.filter(|_| ending == FinalVerdict::PresumablyViolated) {
            match args.format.plain() {
                Format::Text => {
                    print_result(&format!("{rule}: not satisfied at the end of the log; residual: {residual}\n"));
                }
                Format::Json => {
                    print_json_line(&json!({"rule": rule, "verdict": "presumably_violated", "residual": residual}));
                }
            }
        }
    }
    match without_verdict {
        Some(failure) if broken => {
            print_message(&format!("warning: {}", failure.message));
            Ok(Exit::Negative)
        }
        None if broken => Ok(Exit::Negative),
        Some(failure) => Err(failure),
        None => refuse_doubts(args, &doubts),
    }
}

/// Whether a line is a request with a list of messages.
fn is_request(line: &[u8]) -> bool {
    serde_json::from_slice::<serde_json::Value>(line).is_ok_and(|record| record.get("messages").is_some())
}

fn event_is(line: &[u8], name: EventName) -> bool {
    serde_json::from_slice::<serde_json::Value>(line).is_ok_and(|event| event["name"] == <&str>::from(name))
}

fn print_verdict(format: Format, settled: &SettledVerdict) {
    let verdict = match settled.decision {
        Decision::Violated => "violated",
        Decision::Satisfied => "satisfied",
    };
    match format {
        Format::Text => {
            let why = settled.why.as_ref().map_or_else(String::new, |why| format!(": {why}"));
            print_result(&format!(
                "{}: {verdict} at state {} (line {}){why}\n",
                settled.rule, settled.state, settled.line
            ));
        }
        Format::Json => print_json_line(&json!({
            "rule": settled.rule, "verdict": verdict, "state": settled.state, "line": settled.line, "why": settled.why,
        })),
    }
}

fn failure(args: &AuditArgs, error: &AuditError) -> Failure {
    let AuditError::Log(why) = error else { return rule_failure(error) };
    let failure = Failure::usage(format!("{}: {error}", args.log.display()));
    match why {
        LogError::List { .. } => failure.hint("docs/src/logs.md describes any, every and the fields of tool calls"),
        LogError::Line { .. } if !args.skip_invalid => {
            failure.hint("use --skip-invalid to skip lines that are not records")
        }
        LogError::Line { .. } | LogError::Io(_) => failure,
    }
}

fn rule_failure(error: &AuditError) -> Failure {
    let failure = Failure::usage(error.to_string());
    match error {
        AuditError::Log(_) => failure,
        AuditError::Rule { why: UnsupportedError::Operator { reading: "progression", .. }, .. } => {
            failure.hint("--reset and --follow evaluate step by step, which supports only future operators")
        }
        AuditError::Rule { why: UnsupportedError::Operator { .. }, .. } => {
            failure.hint("a rule about lifelines needs an `owner` in a policy file")
        }
        AuditError::Rule { .. } => {
            failure.hint("set the paths of the log in the [log] table of the policy, or with --map")
        }
        AuditError::Causal(_) => {
            failure.hint("set the paths of events with --map lifeline=PATH, event=PATH and message=PATH")
        }
    }
}

struct LoadedRules {
    rules: Vec<PolicyRule>,
    /// Paths of the log, from the policy and the command line.
    mapping: Mapping,
    /// Propositions that a model has to label.
    labels: Propositions,
}

/// Loads the rules and the paths of the policy file and of the command line.
fn load_rules(args: &AuditArgs, formulas: &mut Formulas) -> Result<LoadedRules, Failure> {
    let mut rules = Vec::new();
    let mut mapping = Mapping::default();
    let mut labels = Propositions::default();
    if let Some(path) = &args.policy {
        let text = match path.to_str() {
            Some(DEFAULT_POLICY) => default_policy(),
            _ => read_policy_text(path).map_err(|e| Failure::usage(format!("cannot read {}: {e}", path.display())))?,
        };
        refuse_secrets(&path.display().to_string(), &text)?;
        let policy = Policy::read(&text, formulas).map_err(|e| {
            policy_failure(&path.display().to_string(), &text, &e).hint("docs/src/rules.md has an example")
        })?;
        rules = policy.rules;
        (mapping, labels) = (policy.log, policy.labels);
    }
    for (number, text) in (1..).zip(&args.formula) {
        let formula = formulas.parse(text).map_err(|e| {
            let argument = if args.formula.len() == 1 { "FORMULA" } else { &format!("FORMULA {number}") };
            formula_failure(argument, text, e).hint("to test a formula: tlaforge formula 'F'")
        })?;
        if let Some(name) =
            model_propositions(formulas, formula).into_iter().find(|name| !labels.names().any(|n| n == name))
        {
            return Err(Failure::usage(format!("--formula {text}: `model:{name}` is not defined"))
                .hint("define it in a [[label]] table of a policy file, with a rule that uses it"));
        }
        rules.push(PolicyRule {
            id: if args.formula.len() == 1 { "formula".to_owned() } else { format!("formula-{number}") },
            description: None,
            severity: Severity::Error,
            scope: Scope::Trace(Rule::LtlFormula { formula: text.clone() }),
            formula,
            intervention: None,
            // It is not in a file.
            line: 0,
            span: 0..0,
        });
    }
    for map in &args.map {
        set_path(&mut mapping, map)?;
    }
    Ok(LoadedRules { rules, mapping, labels })
}
