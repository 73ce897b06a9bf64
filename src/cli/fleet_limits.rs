//! Limits that runs on many machines share, kept by the workers of an engine: the client of a run, and the commands that show
//! and change them.

use std::fmt::Write as _;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tlaforge_restate::{
    Admission as Answer, Change, EngineAddress, LimitName, Limits, LimitsChange, LimitsClient, LimitsStatus,
    QuotaError as EngineQuotaError, RequestUse as EngineUse, UnreadableKey,
};

use super::failure::{Fails, Failure};
use super::fleet::{PROGRAM, parse_address};
use super::fleet_args::{FleetLimitsArgs, LimitValue};
use super::format::Format;
use super::terminal::{print_json_line, print_message, print_result};
use crate::exit::Exit;
use crate::llm::{Admission, AdmissionFuture, Caller, QuotaError, RequestUse, Settlement, SharedLimits};
use crate::report::counted;
use crate::shell::shell_word;

/// Time without an answer after which a command gives up.
const COMMAND_PATIENCE: Duration = Duration::from_secs(30);

/// The limits of a key, for the requests of one run in one process.
#[derive(Debug)]
struct FleetLimits {
    client: LimitsClient,
    run: String,
    /// A random number that distinguishes the requests of this process from those of all others.
    process: u64,
    requests: AtomicU64,
}

/// Makes all requests of a caller count against the limits of its key, which all processes with this key share. `limits` are
/// set if the key has none yet; those that are in force are returned.
pub(super) async fn share_limits(
    caller: &mut Caller,
    engine: EngineAddress,
    run: &str,
    limits: Limits,
    patience: Duration,
) -> Result<Limits, Failure> {
    let client = LimitsClient::new(engine, PROGRAM, &caller.key_name(), patience, print_message).fails(Exit::Tool)?;
    let in_force = client.init_limits(limits).await.fails(Exit::Tool)?;
    let (run, process) = (run.to_owned(), fastrand::u64(..));
    caller.share_limits(Arc::new(FleetLimits { client, run, process, requests: AtomicU64::new(0) }));
    Ok(in_force)
}

impl FleetLimits {
    fn id(&self, request: u64) -> String {
        format!("{:016x}-{request}", self.process)
    }
}

impl SharedLimits for FleetLimits {
    fn new_id(&self) -> u64 {
        self.requests.fetch_add(1, Ordering::Relaxed)
    }

    fn admit(&self, id: u64, expected: RequestUse) -> AdmissionFuture<'_> {
        Box::pin(async move {
            let answer = self.client.admit(&self.id(id), &self.run, to_engine(expected)).await;
            let answer = answer.map_err(|e| e.to_string())?;
            let changed = answer.ask_again();
            match answer {
                Answer::Granted { .. } => Ok(Admission::Granted),
                Answer::Wait { why, .. } => Ok(Admission::Wait { why, changed: Box::pin(changed) }),
                Answer::Refused { why, limit } => {
                    let flag = match limit {
                        LimitName::MaxCost => "`tlaforge fleet limits --max-cost`",
                        LimitName::TokensPerMinute => "`tlaforge fleet limits --tokens-per-minute`",
                    };
                    Ok(Admission::Refused { what: why, flag })
                }
                Answer::Ended => Err("the request was settled before it was admitted".to_owned()),
            }
        })
    }

    fn settle(&self, id: u64, Settlement { used, quota }: Settlement) {
        let quota = quota.map(|QuotaError { why, reset_after }| EngineQuotaError {
            why,
            reset_after_ms: reset_after.map(|time| u64::try_from(time.as_millis()).unwrap_or(u64::MAX)),
        });
        self.client.settle(&self.id(id), to_engine(used), quota);
    }

    fn flush(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(self.client.flush())
    }

    fn waits_for_quota(&self) -> bool {
        true
    }
}

fn to_engine(RequestUse { cost_usd, tokens }: RequestUse) -> EngineUse {
    EngineUse { cost_usd, tokens }
}

/// Says if the engine does not know this key: its name may be misspelt, or no run has used it yet.
async fn note_new_key(engine: &EngineAddress, key: &str) {
    let Ok((keys, unreadable)) = LimitsStatus::read_all(PROGRAM, engine).await else { return };
    if !keys.iter().map(|status| &status.key).chain(unreadable.iter().map(|other| &other.key)).any(|known| known == key)
    {
        print_message(&format!(
            "note: {key} is new to the engine; `tlaforge fleet status` shows the keys that runs use"
        ));
    }
}

pub(super) async fn limits(args: FleetLimitsArgs) -> Result<Exit, Failure> {
    let engine = parse_address(&args.engine.engine)?;
    let change = LimitsChange {
        max_cost_usd: change(args.max_cost),
        requests_per_minute: change(args.requests_per_minute),
        tokens_per_minute: change(args.tokens_per_minute),
    };
    if args.resume || change != LimitsChange::default() {
        note_new_key(&engine, &args.key).await;
        let client = LimitsClient::new(engine.clone(), PROGRAM, &args.key, COMMAND_PATIENCE, print_message);
        client.fails(Exit::Usage)?.set_limits(change).await.map_err(|error| {
            Failure::new(Exit::Tool, error.to_string())
                .hint("the change may still take effect once a worker answers; check with `tlaforge fleet status`")
        })?;
    }
    let read = LimitsStatus::read_all(PROGRAM, &engine).await;
    let (mut keys, unreadable_keys) = read.map_err(|what| unreadable(&engine, &what))?;
    if let Some(UnreadableKey { key, why }) = unreadable_keys.iter().find(|unreadable| unreadable.key == args.key) {
        return Err(Failure::new(Exit::Tool, format!("the limits of {key} cannot be read: {why}")));
    }
    let names: Vec<String> = keys.iter().map(|status| status.key.clone()).collect();
    keys.retain(|status| status.key == args.key);
    let Some(status) = keys.first() else {
        let known =
            if names.is_empty() { "it knows none".to_owned() } else { format!("it knows {}", names.join(", ")) };
        return Err(Failure::usage(format!("the engine {engine} has no limits for the key {:?}; {known}", args.key))
            .hint("set a limit to begin, such as --max-cost 10"));
    };
    match args.engine.format {
        Format::Json => print_json_line(status),
        Format::Text => print_result(&key_text(status, &engine)),
    }
    Ok(Exit::Ok)
}

fn change<T>(value: Option<LimitValue<T>>) -> Change<T> {
    match value {
        None => Change::Keep,
        Some(LimitValue::None) => Change::Remove,
        Some(LimitValue::At(limit)) => Change::Set(limit),
    }
}

pub(super) fn unreadable(engine: &EngineAddress, what: &str) -> Failure {
    Failure::new(Exit::Tool, format!("cannot read the state of the engine {engine}: {what}"))
}

pub(super) fn keys_text(keys: &[LimitsStatus], unreadable_keys: &[UnreadableKey], engine: &EngineAddress) -> String {
    let mut text = String::from("Keys\n");
    for UnreadableKey { key, why } in unreadable_keys {
        let _ = writeln!(text, "  {key}: cannot be read: {why}");
    }
    if keys.is_empty() && unreadable_keys.is_empty() {
        text.push_str("  none\n");
    }
    for status in keys {
        for line in key_text(status, engine).lines() {
            let _ = writeln!(text, "  {line}");
        }
    }
    text
}

/// A key with its limits and their use, a line for each.
fn key_text(status: &LimitsStatus, engine: &EngineAddress) -> String {
    let limit = |limit: Option<String>| limit.map_or_else(|| " (no limit)".to_owned(), |limit| format!(" of {limit}"));
    let Limits { max_cost_usd, requests_per_minute, tokens_per_minute } = status.limits;
    let mut text = format!("{}\n", status.key);
    let cost_limit = limit(max_cost_usd.map(|usd| format!("${usd}")));
    let _ = writeln!(text, "  cost: ${:.4}{cost_limit}, {} tokens", status.spent.cost_usd, status.spent.tokens);
    let _ = writeln!(
        text,
        "  last minute: {}{}, {} tokens{}",
        counted(status.requests_last_minute, "request"),
        limit(requests_per_minute.map(|limit| limit.to_string())),
        status.tokens_last_minute,
        limit(tokens_per_minute.map(|limit| limit.to_string())),
    );
    let (under_way, runs) = (counted(status.under_way, "request"), counted(status.runs, "run"));
    let _ = writeln!(
        text,
        "  under way: {under_way} of {runs}, ${:.4} and {} tokens expected; {} waiting",
        status.expected.cost_usd, status.expected.tokens, status.waiting
    );
    if status.unreported > 0 {
        let lost = counted(status.unreported, "request");
        let usd = status.unreported_use.cost_usd;
        let _ = writeln!(text, "  lost: the process of {lost} has died; ${usd:.4} is expected and counts as spent");
    }
    if let Some(why) = &status.stopped {
        let until = match status.stopped_seconds {
            Some(seconds) => format!("for {seconds} s more"),
            None => "until the command below".to_owned(),
        };
        let key = shell_word(&status.key);
        let _ = writeln!(
            text,
            "  stopped {until}: {why}\n  continue with: tlaforge fleet limits --engine {engine} --key {key} --resume"
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn a_key_is_shown_with_its_limits_what_was_used_and_how_to_continue() {
        let engine: EngineAddress = "http://127.0.0.1:9070".parse().unwrap();
        let using = |cost_usd, tokens| EngineUse { cost_usd, tokens };
        let mut status = LimitsStatus {
            key: "anthropic-0123456789ab".to_owned(),
            limits: Limits { max_cost_usd: Some(50.0), requests_per_minute: Some(40), tokens_per_minute: None },
            spent: using(1.25, 90_000),
            under_way: 3,
            runs: 1,
            expected: using(0.5, 12_000),
            waiting: 7,
            unreported: 1,
            unreported_use: using(0.25, 4_000),
            requests_last_minute: 12,
            tokens_last_minute: 34_000,
            stopped: Some("no credit".to_owned()),
            stopped_seconds: None,
            requests: BTreeMap::new(),
        };
        let text = "anthropic-0123456789ab\n  cost: $1.2500 of $50, 90000 tokens\n  \
                    last minute: 12 requests of 40, 34000 tokens (no limit)\n  \
                    under way: 3 requests of 1 run, $0.5000 and 12000 tokens expected; 7 waiting\n  \
                    lost: the process of 1 request has died; $0.2500 is expected and counts as spent\n  \
                    stopped until the command below: no credit\n  \
                    continue with: tlaforge fleet limits --engine http://127.0.0.1:9070 --key anthropic-0123456789ab --resume\n";
        assert_eq!(key_text(&status, &engine), text);
        status.stopped_seconds = Some(60);
        assert!(key_text(&status, &engine).contains("  stopped for 60 s more: no credit\n"));
        assert_eq!(keys_text(&[], &[], &engine), "Keys\n  none\n");
        let unreadable = UnreadableKey { key: "a-1".to_owned(), why: "its state is older".to_owned() };
        assert_eq!(keys_text(&[], &[unreadable], &engine), "Keys\n  a-1: cannot be read: its state is older\n");
    }
}
