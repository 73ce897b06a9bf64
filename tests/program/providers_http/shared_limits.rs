//! Limits that several runs share, as the requests of a call meet them.

use tlaforge::llm::{Admission, AdmissionFuture, AnswerFuture, FailedCall, RequestUse, Settlement, SharedLimits};

use super::*;

/// Admits every second question, and writes down everything. While the account gets no answers, a question waits once.
#[derive(Debug, Default)]
struct Gate(Mutex<Gated>);

#[derive(Debug, Default)]
struct Gated {
    ids: u64,
    asked: Vec<(u64, RequestUse)>,
    settled: Vec<(u64, Settlement)>,
    refuses: bool,
}

impl SharedLimits for Gate {
    fn new_id(&self) -> u64 {
        let mut gated = self.0.lock().unwrap();
        gated.ids += 1;
        gated.ids
    }

    fn admit(&self, id: u64, expected: RequestUse) -> AdmissionFuture<'_> {
        let mut gated = self.0.lock().unwrap();
        gated.asked.push((id, expected));
        let admission = if gated.asked.len() % 2 == 1 {
            Admission::Wait { why: "its turn".to_owned(), changed: Box::pin(async {}) }
        } else if gated.refuses {
            Admission::Refused { what: "too much".to_owned(), flag: "--limit" }
        } else {
            Admission::Granted
        };
        Box::pin(std::future::ready(Ok(admission)))
    }

    fn settle(&self, id: u64, settlement: Settlement) {
        self.0.lock().unwrap().settled.push((id, settlement));
    }

    fn waits_for_quota(&self) -> bool {
        true
    }
}

#[derive(Debug)]
struct Clock;

impl CallTimer for Clock {
    fn pause(&self, _: Duration) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        panic!("a call waits for shared limits without a clock of its own")
    }

    fn jitter(&self) -> f64 {
        0.5
    }

    fn time_left(&self) -> Option<Duration> {
        None
    }
}

/// A program that a call starts, and that does not say when it sends a request.
struct Program;

impl Provider for Program {
    fn name(&self) -> &'static str {
        "program"
    }

    fn ask<'a>(&'a self, _: &'a Request, cancel: &'a Cancel) -> AnswerFuture<'a> {
        cancel.cancel();
        Box::pin(async { Err(LlmError::Cancelled) })
    }
}

fn caller(provider: Box<dyn Provider>, gate: &Arc<Gate>) -> Caller {
    let mut caller = Caller::new(
        provider,
        Models::default(),
        RetryPolicy::default(),
        Budget::default(),
        Prices::load(None).unwrap(),
        2,
        Arc::new(Clock),
    );
    caller.share_limits(gate.clone());
    caller
}

fn call(api: Api, replies: Vec<Reply>, gate: &Arc<Gate>) -> (Result<tlaforge::llm::Answer, LlmError>, Vec<CallEvent>) {
    let server = ModelServer::replies(replies);
    let dir = tempfile::tempdir().unwrap();
    let caller = caller(api.provider(settings(&server.url())), gate);
    let key = caller.key_name();
    let digits = key.strip_prefix(&format!("{}-", caller.name())).unwrap();
    assert!(digits.len() == 12 && digits.bytes().all(|digit| digit.is_ascii_hexdigit()), "{key}");
    let mut notes = Vec::new();
    let result = runtime().block_on(caller.call(&request(&dir), &Used::default, &Cancel::new(), &mut |note| {
        notes.push(note);
    }));
    (result, notes)
}

#[test]
fn an_account_without_credit_parks_a_call_and_it_goes_on() {
    for api in BOTH {
        let gate = Arc::new(Gate::default());
        let broke = || error(402, "billing_error", "no credit");
        let (result, notes) = call(api, vec![broke(), broke(), Reply::text("there")], &gate);
        assert_eq!(result.unwrap().text, "there");
        let waits = notes.iter().map(|note| match note {
            CallEvent::Failed(FailedCall { failure: Kind::Billing, wait_seconds, tries: 1, .. }) => *wait_seconds,
            other => panic!("{other:?}"),
        });
        assert_eq!(waits.collect::<Vec<_>>(), [Some(0.0), Some(0.0)]);
        let gated = gate.0.lock().unwrap();
        let asked: Vec<u64> = gated.asked.iter().map(|(id, _)| *id).collect();
        assert_eq!(asked, [1, 1, 2, 2, 3, 3], "each try is a request, and keeps its id while it waits");
        let settled: Vec<_> = gated.settled.iter().map(|(id, end)| (*id, end.quota.is_some())).collect();
        assert_eq!(settled, [(1, true), (2, true), (3, false)]);
        let why = &gated.settled[0].1.quota.as_ref().unwrap().why;
        assert!(why.contains("no credit") && gated.settled[0].1.used == RequestUse::default(), "{why}");
        assert_eq!(gated.settled[2].1.used.tokens, 110);
    }
}

#[test]
fn each_request_of_a_call_is_admitted_and_booked() {
    for api in BOTH {
        let gate = Arc::new(Gate::default());
        let (result, _) = call(api, vec![Reply::reads(&["a.md"]), Reply::text("there")], &gate);
        let used = result.unwrap().usage.unwrap().total();
        let gated = gate.0.lock().unwrap();
        assert_eq!(gated.settled.iter().map(|(id, _)| *id).collect::<Vec<_>>(), [1, 2]);
        assert_eq!(gated.settled.iter().map(|(_, end)| end.used.tokens).sum::<u64>(), used);
        assert!(gated.settled.iter().all(|(_, end)| end.used.cost_usd > 0.0));
        assert!(gated.asked.iter().all(|(_, expected)| expected.tokens > 4_000 && expected.cost_usd > 0.0));
    }
}

#[test]
fn a_refused_call_is_not_sent_and_not_settled() {
    let gate = Arc::new(Gate::default());
    gate.0.lock().unwrap().refuses = true;
    let (result, notes) = call(BOTH[0], vec![Reply::text("never")], &gate);
    let Err(LlmError::Budget { what, flag }) = result else { panic!("{result:?}") };
    assert_eq!((what.as_str(), flag, notes.len()), ("too much", "--limit", 0));
    assert!(gate.0.lock().unwrap().settled.is_empty());
}

/// Unlike the HTTP providers, which say when they send a request.
#[test]
fn a_cancelled_call_of_a_program_counts_as_spent() {
    let gate = Arc::new(Gate::default());
    let dir = tempfile::tempdir().unwrap();
    let caller = caller(Box::new(Program), &gate);
    let cancel = Cancel::new();
    let result = runtime().block_on(caller.call(&request(&dir), &Used::default, &cancel, &mut |_| {}));
    assert!(matches!(result, Err(LlmError::Cancelled)), "{result:?}");
    let gated = gate.0.lock().unwrap();
    let [(1, Settlement { used, quota: None })] = gated.settled.as_slice() else { panic!("{:?}", gated.settled) };
    assert_eq!(Some(*used), gated.asked.last().map(|(_, expected)| *expected));
    assert!(used.tokens > 4_000, "{used:?}");
}
