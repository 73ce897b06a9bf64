//! `tlaforge audit`: a log against the rules of a policy.

use std::fs::File;
use std::io::{BufRead, BufReader, Cursor, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::json;

use super::args::{AuditArgs, Format, ShapeChoice};
use super::failure::Failure;
use super::progress::{advice, json_line, result};
use super::surroundings::cancel_on_signals;
use crate::exit::Exit;
use crate::monitor::log::{Manner, Mapping, Shape, shape_of};
use crate::monitor::trac::{Decision, Reset};
use crate::monitor::{AuditError, Audited, Auditor, Fallen, Follower, Policy, PolicyRule, Rule, Scope, Severity};
use crate::report::{audit_json, audit_text};
use crate::temporal::{Ending, Formulas, Refused};

/// How much of a log is looked at to tell its shape.
const BEGINNING: u64 = 64 << 10;

pub(super) async fn audit(args: &AuditArgs) -> Result<Exit, Failure> {
    let mut formulas = Formulas::new();
    let (rules, mapping) = rules(args, &mut formulas)?;
    let log = Log::open(&args.log)?;
    let shape = shape(args, &mapping, &log);
    let mapping = mapping.over(shape);
    let auditor = Auditor::new(formulas, rules, mapping).map_err(|e| failure(&e))?;
    let manner = Manner {
        skip_invalid: args.skip_invalid,
        threads: std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
    };
    if args.follow {
        return follow(args, &auditor, log).await;
    }
    let reset = if args.reset { Reset::AfterVerdict } else { Reset::Never };
    let audited = if shape == Shape::Openai && log.is_list() {
        auditor.list(&log.whole()?, reset)
    } else {
        auditor.lines(&mut log.input(), manner, reset)
    };
    let audited = audited.map_err(|e| failure(&e))?;
    tell(args, shape, &audited);
    let broken = audited.findings.iter().any(|f| !f.verdict.holds() && f.rule.severity == Severity::Error);
    Ok(if broken { Exit::Negative } else { Exit::Ok })
}

fn tell(args: &AuditArgs, shape: Shape, audited: &Audited) {
    let log = args.log.display().to_string();
    for warning in &audited.warnings {
        advice(&format!("warning: {log}: {warning}"));
    }
    match args.format {
        Format::Text => result(&audit_text(&log, audited)),
        Format::Json => json_line(&audit_json(&log, shape.name(), audited)),
    }
}

/// Reads a log as it grows, until Ctrl-C, the end of stdin, or the end of the run whose journal it is.
async fn follow(args: &AuditArgs, auditor: &Auditor, log: Log) -> Result<Exit, Failure> {
    let cancel = cancel_on_signals();
    let mut follower = Follower::new(auditor).map_err(|e| failure(&e))?;
    let from_stdin = args.log == Path::new("-");
    let mut input = BufReader::new(log.input());
    let (mut text, mut line) = (Vec::new(), 1);
    loop {
        let read =
            input.read_until(b'\n', &mut text).map_err(|e| Failure::usage(format!("cannot read the log: {e}")))?;
        let whole = text.ends_with(b"\n") || (read == 0 && from_stdin);
        if whole && !text.trim_ascii().is_empty() {
            match follower.record(&text, line) {
                Ok(fallen) => fallen.iter().for_each(|f| told(args.format, f)),
                Err(AuditError::Log(why)) if args.skip_invalid => advice(&format!("warning: {why}; left out")),
                Err(error) => return Err(failure(&error)),
            }
        }
        if whole {
            let ended = text.windows(RUN_ENDED.len()).any(|part| part == RUN_ENDED.as_bytes());
            line += 1;
            text.clear();
            if ended {
                break;
            }
        }
        if read == 0 {
            if from_stdin || cancel.is_cancelled() {
                break;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }
    let endings = follower.endings();
    let broken = follower.causal_failed() || endings.iter().any(|(_, ending, _)| !ending.holds());
    for (rule, ending, owed) in endings {
        if let Some(owed) = owed.filter(|_| ending == Ending::PresumablyViolated) {
            match args.format {
                Format::Text => result(&format!("{rule}: not satisfied as the log ends; still owed: {owed}\n")),
                Format::Json => json_line(&json!({"rule": rule, "verdict": "presumably_violated", "owed": owed})),
            }
        }
    }
    Ok(if broken { Exit::Negative } else { Exit::Ok })
}

/// What a journal's last event says.
const RUN_ENDED: &str = "\"name\":\"run_finished\"";

fn told(format: Format, fallen: &Fallen) {
    let verdict = match fallen.decision {
        Decision::Violated => "violated",
        Decision::Satisfied => "satisfied",
    };
    match format {
        Format::Text => {
            let why = fallen.why.as_ref().map_or_else(String::new, |why| format!(": {why}"));
            result(&format!("{}: {verdict} at state {} (line {}){why}\n", fallen.rule, fallen.state, fallen.line));
        }
        Format::Json => json_line(&json!({
            "rule": fallen.rule, "verdict": verdict, "state": fallen.state, "line": fallen.line, "why": fallen.why,
        })),
    }
}

fn failure(error: &AuditError) -> Failure {
    let failure = Failure::usage(error.to_string());
    match error {
        AuditError::Log(_) => failure.hint("--skip-invalid leaves out lines that are no records"),
        AuditError::Rule { why: Refused::Operator { reading: "progression", .. }, .. } => {
            failure.hint("--reset and --follow watch step by step, which takes only operators of the future")
        }
        AuditError::Rule { why: Refused::Operator { .. }, .. } => {
            failure.hint("a rule that speaks of lifelines has an `owner` in a policy file")
        }
        AuditError::Rule { .. } => failure.hint("the policy's [log] table or --map says where the log keeps things"),
        AuditError::Causal(_) => {
            failure.hint("--map lifeline=PATH, event=PATH and message=PATH say where events are told")
        }
    }
}

/// The rules of the file and of the command line, and what both say of the log.
fn rules(args: &AuditArgs, formulas: &mut Formulas) -> Result<(Vec<PolicyRule>, Mapping), Failure> {
    let mut rules = Vec::new();
    let mut mapping = Mapping::default();
    if let Some(path) = &args.policy {
        let cannot = |e: &dyn std::fmt::Display| Failure::usage(format!("{}: {e}", path.display()));
        let text = std::fs::read_to_string(path).map_err(|e| cannot(&e))?;
        let policy = Policy::read(&text, formulas).map_err(|e| cannot(&e).hint("docs/formulas.md has an example"))?;
        rules = policy.rules;
        mapping = policy.log;
    }
    for (number, text) in (1..).zip(&args.formula) {
        let formula = formulas
            .parse(text)
            .map_err(|e| Failure::usage(format!("--formula {text}: {e}")).hint("tlaforge formula 'F' tries one"))?;
        rules.push(PolicyRule {
            id: if args.formula.len() == 1 { "formula".to_owned() } else { format!("formula-{number}") },
            description: None,
            severity: Severity::Error,
            scope: Scope::Trace(Rule::LtlFormula { formula: text.clone() }),
            formula,
            line: 0,
        });
    }
    for map in &args.map {
        set(&mut mapping, map)?;
    }
    Ok((rules, mapping))
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

fn shape(args: &AuditArgs, mapping: &Mapping, log: &Log) -> Shape {
    let chosen = args.shape.map(|choice| match choice {
        ShapeChoice::Journal => Shape::Journal,
        ShapeChoice::Jsonl => Shape::Jsonl,
        ShapeChoice::Claude => Shape::Claude,
        ShapeChoice::Openai => Shape::Openai,
        ShapeChoice::Agentlog => Shape::Agentlog,
    });
    chosen.or(mapping.shape).unwrap_or_else(|| shape_of(&log.beginning))
}

/// A log whose beginning was looked at.
struct Log {
    beginning: Vec<u8>,
    rest: Box<dyn Read>,
}

impl Log {
    fn open(path: &Path) -> Result<Self, Failure> {
        let mut rest: Box<dyn Read> = if path == Path::new("-") {
            Box::new(std::io::stdin())
        } else {
            let path: PathBuf = if path.is_dir() { path.join("journal.jsonl") } else { path.to_owned() };
            Box::new(File::open(&path).map_err(|e| {
                Failure::usage(format!("cannot read {}: {e}", path.display()))
                    .hint("give a run folder, a file of JSON lines, or - for stdin")
            })?)
        };
        let mut beginning = Vec::new();
        rest.by_ref()
            .take(BEGINNING)
            .read_to_end(&mut beginning)
            .map_err(|e| Failure::usage(format!("cannot read {}: {e}", path.display())))?;
        Ok(Self { beginning, rest })
    }

    /// Whether it is one JSON value rather than a line for each record.
    fn is_list(&self) -> bool {
        let text = self.beginning.strip_prefix("\u{feff}".as_bytes()).unwrap_or(&self.beginning).trim_ascii_start();
        let first_line = text.split(|b| *b == b'\n').next().unwrap_or_default();
        text.starts_with(b"[")
            || !serde_json::from_slice::<serde_json::Value>(first_line).is_ok_and(|record| record.get("role").is_some())
    }

    fn input(self) -> impl Read {
        Cursor::new(self.beginning).chain(self.rest)
    }

    fn whole(self) -> Result<Vec<u8>, Failure> {
        let mut bytes = Vec::new();
        self.input().read_to_end(&mut bytes).map_err(|e| Failure::usage(format!("cannot read the log: {e}")))?;
        Ok(bytes)
    }
}
