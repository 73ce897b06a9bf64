//! The providers through the caller: retries, waits, fallback models and costs.

use std::sync::atomic::{AtomicUsize, Ordering};

use tlaforge::llm::{Estimate, FailedCall, ModelSwitch};
use tracing::field::{Field, Visit};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt as _};
use tracing_subscriber::util::SubscriberInitExt as _;

use super::*;

/// A clock that only counts. If the run has a time limit, it is over once the server has the request.
#[derive(Default)]
struct Clock {
    waited: Mutex<Vec<f64>>,
    left: Option<Duration>,
    server: Option<Arc<ModelServer>>,
}

impl CallTimer for Clock {
    fn pause(&self, time: Duration) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        self.waited.lock().unwrap().push(time.as_secs_f64());
        match &self.server {
            Some(server) if self.left == Some(time) => {
                Box::pin(wait_until_async("the server has the request", || !server.posts().is_empty()))
            }
            _ => Box::pin(std::future::ready(())),
        }
    }

    fn jitter(&self) -> f64 {
        0.5
    }

    fn time_left(&self) -> Option<Duration> {
        self.left
    }
}

/// What came of a call through the caller.
struct Called {
    result: Result<tlaforge::llm::Answer, LlmError>,
    notes: Vec<CallEvent>,
    waited: Vec<f64>,
    models: Vec<String>,
    estimate: Option<Estimate>,
}

fn call(api: Api, replies: Vec<Reply>, fallback: Option<&str>, budget: Budget, left: Option<Duration>) -> Called {
    let server = Arc::new(ModelServer::replies(replies));
    let dir = tempfile::tempdir().unwrap();
    let clock = Arc::new(Clock { waited: Mutex::default(), left, server: Some(server.clone()) });
    let caller = Caller::new(
        api.provider(settings(&server.url())),
        Models { fallback: fallback.map(str::to_owned), ..Models::default() },
        RetryPolicy::default(),
        budget,
        Prices::load(None).unwrap(),
        2,
        Arc::clone(&clock) as Arc<dyn CallTimer>,
    );
    let mut notes = Vec::new();
    let result = runtime().block_on(caller.call(&request(&dir), &Used::default, &Cancel::new(), &mut |note| {
        notes.push(note);
    }));
    let estimate = result.as_ref().ok().and_then(|answer| caller.estimate(&request(&dir), answer));
    let models = server.posts().iter().map(|s| s.body["model"].as_str().unwrap().to_owned()).collect();
    let waited = clock.waited.lock().unwrap().clone();
    Called { result, notes, waited, models, estimate }
}

fn kinds(notes: &[CallEvent]) -> Vec<Kind> {
    let kind =
        |note: &CallEvent| if let CallEvent::Failed(FailedCall { failure, .. }) = note { Some(*failure) } else { None };
    notes.iter().filter_map(kind).collect()
}

#[test]
fn transient_failures_are_retried_after_the_requested_wait() {
    for api in BOTH {
        let done = call(
            api,
            vec![
                error(429, "rate_limit_error", "slow").header("retry-after", "7"),
                error(500, "api_error", "oops"),
                Reply::text("half an answer").cut_after(3),
                Reply::turn(vec![]),
                Reply::text("there"),
            ],
            None,
            Budget::default(),
            None,
        );
        assert_eq!(done.result.unwrap().text, "there");
        assert_eq!(kinds(&done.notes), [Kind::RateLimit, Kind::Server, Kind::CutStream, Kind::Empty]);
        assert_eq!(done.waited, [7.5, 126.0, 189.0, 252.0]);
        let told = format!("{:?}", done.notes);
        assert!(!told.contains("planted"), "{told}");
        let CallEvent::Failed(FailedCall { usage: Some(usage), cost_usd: Some(cost), .. }) = &done.notes[3] else {
            panic!("{:?}", done.notes[3]);
        };
        assert_eq!(*usage, Usage { input: 100, output: 10, ..Usage::default() });
        assert!((cost - (100.0 * 3.0 + 10.0 * 15.0) / 1e6).abs() < 1e-12, "an empty answer costs what it took");
    }
}

#[test]
fn permanent_failures_are_not_retried_and_transient_ones_not_forever() {
    for api in BOTH {
        for (reply, kind, tries) in [
            (error(401, "authentication_error", "no"), Kind::Auth, 1),
            (error(404, "not_found_error", "model: x not found"), Kind::ModelNotFound, 1),
            (error(400, "invalid_request_error", "prompt is too long"), Kind::PromptTooLong, 1),
            (error(402, "billing_error", "pay"), Kind::Billing, 1),
            (error(429, "rate_limit_error", "later").header("retry-after", "3600"), Kind::RateLimit, 1),
            (error(500, "api_error", "oops"), Kind::Server, 6),
        ] {
            let done = call(api, vec![reply], None, Budget::default(), None);
            assert_eq!(failure(done.result).kind, kind);
            assert_eq!((done.models.len(), done.waited.len()), (tries, tries - 1), "{kind:?}");
            assert_eq!(kinds(&done.notes), vec![kind; tries]);
        }
    }
}

/// Every way to fail, through the caller with one retry: tried again or not, how late, and what is noted for the journal.
#[test]
fn each_failure_is_retried_and_reported_by_its_kind() {
    for api in BOTH {
        for s in refusals(api).into_iter().chain(broken_answers(api)) {
            if s.kind == Kind::ToolLoop || s.idle < Duration::from_secs(1) {
                continue;
            }
            let server = ModelServer::replies(s.replies.clone());
            let clock = Arc::new(Clock::default());
            let caller = Caller::new(
                api.provider(settings(&server.url())),
                Models::default(),
                RetryPolicy { retries: 1, ..RetryPolicy::default() },
                Budget::default(),
                Prices::load(None).unwrap(),
                1,
                Arc::clone(&clock) as Arc<dyn CallTimer>,
            );
            let dir = tempfile::tempdir().unwrap();
            let mut notes = Vec::new();
            let (asked, cancel) = (request(&dir), Cancel::new());
            let mut note = |note| notes.push(note);
            let ended = runtime().block_on(caller.call(&asked, &Used::default, &cancel, &mut note));
            assert_eq!(failure(ended).kind, s.kind);
            let again = [Kind::RateLimit, Kind::Overloaded, Kind::Server, Kind::CutStream, Kind::Empty];
            let waits = match (again.contains(&s.kind), s.wait) {
                (false, _) => vec![],
                (true, Some(asked)) => vec![asked + 0.5],
                (true, None) => vec![63.0],
            };
            let name = format!("{api:?}, {}", s.name);
            assert_eq!(*clock.waited.lock().unwrap(), waits, "{name}");
            assert_eq!(server.posts().len(), waits.len() + 1, "{name}");
            for (i, note) in notes.iter().enumerate() {
                let CallEvent::Failed(FailedCall { failure: kind, status, tries, wait_seconds, usage, .. }) = note
                else {
                    panic!("{note:?}")
                };
                assert_eq!((*kind, *status, *tries as usize), (s.kind, s.status, i + 1), "{name}");
                assert_eq!(*wait_seconds, waits.get(i).copied(), "{name}");
                assert_eq!(usage.map(|u| u.total()), s.usage, "{name}");
            }
            assert_eq!(notes.len(), waits.len() + 1, "{name}");
        }
    }
}

#[test]
fn an_unreachable_server_is_retried_less_than_a_busy_one() {
    for api in BOTH {
        let clock = Arc::new(Clock::default());
        let caller = Caller::new(
            api.provider(settings("http://127.0.0.1:9")),
            Models::default(),
            RetryPolicy::default(),
            Budget::default(),
            Prices::load(None).unwrap(),
            1,
            Arc::clone(&clock) as Arc<dyn CallTimer>,
        );
        let dir = tempfile::tempdir().unwrap();
        let (asked, cancel) = (request(&dir), Cancel::new());
        let ended = runtime().block_on(caller.call(&asked, &Used::default, &cancel, &mut |_| {}));
        assert_eq!(failure(ended).kind, Kind::Connect);
        assert_eq!(*clock.waited.lock().unwrap(), [5.25, 10.5]);
    }
}

/// Counts the calls that are open, and the most that ever were.
struct Slow(Arc<(AtomicUsize, AtomicUsize)>);
impl Provider for Slow {
    fn name(&self) -> &'static str {
        "slow"
    }
    fn ask<'a>(&'a self, _: &'a Request, _: &'a Cancel) -> tlaforge::llm::AnswerFuture<'a> {
        Box::pin(async {
            let now = self.0.0.fetch_add(1, Ordering::SeqCst) + 1;
            self.0.1.fetch_max(now, Ordering::SeqCst);
            // Every other call is polled meanwhile, and begins if it may.
            for _ in 0..10 {
                tokio::task::yield_now().await;
            }
            self.0.0.fetch_sub(1, Ordering::SeqCst);
            Err(CallFailure::new(Kind::Auth, "no").into())
        })
    }
}

#[test]
fn no_more_calls_are_open_than_the_limit_allows() {
    let open = Arc::new((AtomicUsize::new(0), AtomicUsize::new(0)));
    let caller = Caller::new(
        Box::new(Slow(Arc::clone(&open))),
        Models::default(),
        RetryPolicy::default(),
        Budget::default(),
        Prices::load(None).unwrap(),
        2,
        Arc::new(Clock::default()),
    );
    let dir = tempfile::tempdir().unwrap();
    let request = request(&dir);
    let cancel = Cancel::new();
    runtime().block_on(async {
        let one = || async { caller.call(&request, &Used::default, &cancel, &mut |_| {}).await };
        let _ = tokio::join!(one(), one(), one(), one(), one());
    });
    assert_eq!(open.1.load(Ordering::SeqCst), 2);
}

/// A provider that repeats the key in everything.
struct Parrot;

impl Provider for Parrot {
    fn name(&self) -> &'static str {
        "parrot"
    }

    fn ask<'a>(&'a self, request: &'a Request, _: &'a Cancel) -> tlaforge::llm::AnswerFuture<'a> {
        let said = format!("{KEY} and sk-ant-unknown-1");
        let ids = vec![said.clone()];
        Box::pin(async move {
            if request.key.attempt > 1 {
                let mut failure = CallFailure::new(Kind::Auth, &*said);
                (failure.request_id, failure.refused_reads) = (Some(said), ids);
                return Err(failure.into());
            }
            Ok(tlaforge::llm::Answer {
                text: said.clone(),
                reads: Vec::new(),
                refused_reads: ids.clone(),
                usage: None,
                estimated: None,
                cost_usd: None,
                model: Some(said),
                stale: false,
                changed_documents: Vec::new(),
                stop_reason: None,
                request_ids: ids,
            })
        })
    }
}

#[test]
fn the_redacting_provider_hides_every_repeated_key() {
    let guarded = tlaforge::llm::RedactingProvider::new(Box::new(Parrot), vec![Secret::new("A_KEY", KEY).unwrap()]);
    let dir = tempfile::tempdir().unwrap();
    let mut request = request(&dir);
    let answer = ask(&guarded, &request).unwrap();
    assert_eq!(answer.text, "[key] and sk-ant-unknown-1", "what a model wrote is not bent for a mark");
    request.key.attempt = 2;
    let failed = failure(ask(&guarded, &request));
    for told in [&answer.model.unwrap(), &answer.request_ids[0], &answer.refused_reads[0], &failed.message] {
        assert_eq!(told, "[key] and [key]");
    }
    assert!(!format!("{failed:?}").contains("planted") && !format!("{failed:?}").contains("unknown"), "{failed:?}");
}

#[test]
fn overflowing_token_counts_only_end_the_budget() {
    for api in BOTH {
        let tokens = Tokens { input: u64::MAX / 2 + 9, output: u64::MAX / 2 + 9, cache_read: 0, cache_write: 0 };
        let budget = Budget { tokens: Some(50_000), ..Budget::default() };
        let done = call(api, vec![Reply::turn(vec![]).tokens(tokens)], None, budget, None);
        assert!(matches!(done.result, Err(LlmError::Budget { .. })), "{:?}", done.result);
        assert_eq!(done.models.len(), 1);
    }
}

#[test]
fn after_three_overloads_another_model_is_asked() {
    for api in BOTH {
        let busy = || error(529, "overloaded_error", "Overloaded");
        let replies = vec![busy(), busy(), busy(), Reply::text("there")];
        let done = call(api, replies, Some("claude-haiku-4-5"), Budget::default(), None);
        let sonnet = "claude-sonnet-4-5";
        assert_eq!(done.models, [sonnet, sonnet, sonnet, "claude-haiku-4-5"]);
        let answer = done.result.unwrap();
        assert_eq!(answer.model.as_deref(), Some("claude-haiku-4-5"));
        assert!((answer.cost_usd.unwrap() - 0.00015).abs() < 1e-9, "at the price of who answered");
        assert!(matches!(&done.notes[3], CallEvent::Switched(ModelSwitch { to, .. }) if to == "claude-haiku-4-5"));
        assert_eq!(done.waited.len(), 2);
    }
}

#[test]
fn a_call_beyond_the_budget_is_not_sent() {
    for api in BOTH {
        for budget in
            [Budget { tokens: Some(100), ..Budget::default() }, Budget { cost_usd: Some(0.0001), ..Budget::default() }]
        {
            let done = call(api, vec![Reply::text("x")], None, budget, None);
            assert!(matches!(done.result, Err(LlmError::Budget { .. })), "{:?}", done.result);
            assert!(done.models.is_empty());
        }
        // What failed calls took counts: the second try is not made.
        let budget = Budget { tokens: Some(9_000), ..Budget::default() };
        let tokens = Tokens { input: 6_000, output: 100, cache_read: 0, cache_write: 0 };
        let done = call(api, vec![Reply::turn(vec![]).tokens(tokens)], None, budget, None);
        assert!(matches!(done.result, Err(LlmError::Budget { .. })), "{:?}", done.result);
        assert_eq!(done.models.len(), 1);
    }
}

#[test]
fn the_deadline_ends_a_slow_answer() {
    for api in BOTH {
        let slow = Reply::text("so slow").drip(Duration::from_secs(600));
        let left = Duration::from_secs(1800);
        let done = call(api, vec![slow], None, Budget::default(), Some(left));
        assert!(matches!(done.result, Err(LlmError::Deadline)), "{:?}", done.result);
        assert_eq!((done.waited, done.models.len()), (vec![left.as_secs_f64()], 1));
    }
}

#[test]
fn a_budget_ends_a_model_that_keeps_reading_and_its_use_is_reported() {
    for api in BOTH {
        let tokens = Tokens { input: 100_000, output: 10, cache_read: 0, cache_write: 0 };
        let budget = Budget { cost_usd: Some(0.70), ..Budget::default() };
        let done = call(api, vec![Reply::reads(&["a.md"]).tokens(tokens)], None, budget, None);
        let Err(LlmError::Budget { what, flag }) = &done.result else { panic!("{:?}", done.result) };
        assert_eq!(*flag, "--max-cost");
        // Two turns at 30 cents are one too many for a third.
        assert_eq!(done.models.len(), 2, "{what}");
        assert!(what.starts_with("the run has cost $0.60") && what.ends_with("the limit is $0.7"), "{what}");
        let [
            CallEvent::Failed(FailedCall {
                failure: kind,
                usage: Some(usage),
                cost_usd: Some(cost),
                wait_seconds: None,
                ..
            }),
        ] = &done.notes[..]
        else {
            panic!("{:?}", done.notes);
        };
        assert_eq!((*kind, usage.total()), (Kind::Budget, 200_020));
        assert!((cost - 0.6003).abs() < 1e-9, "{cost}");
        // Where nobody counts, what is sent is estimated.
        let budget = Budget { tokens: Some(6_000), ..Budget::default() };
        let done = call(api, vec![Reply::reads(&["a.md"]).uncounted()], None, budget, None);
        assert!(matches!(&done.result, Err(LlmError::Budget { flag: "--max-tokens", .. })), "{:?}", done.result);
        assert!((2..12).contains(&done.models.len()), "{}", done.models.len());
        let CallEvent::Failed(FailedCall { usage: None, estimated: Some(estimated), .. }) = &done.notes[0] else {
            panic!("{:?}", done.notes);
        };
        assert!((500..6_000).contains(&estimated.usage.input), "{estimated:?}");
    }
}

/// Values of `usage` that count nothing.
fn unusable_usages(api: Api) -> Vec<serde_json::Value> {
    use serde_json::json;
    let (input, output) = api.say(("input_tokens", "output_tokens"), ("prompt_tokens", "completion_tokens"));
    let both = |a: serde_json::Value, b: serde_json::Value| json!({input: a, output: b});
    vec![
        json!(null),
        json!({}),
        json!("100"),
        json!([100, 10]),
        both(json!(0), json!(0)),
        both(json!(100), json!(0)),
        both(json!(0), json!(10)),
        both(json!(-100), json!(-10)),
        both(json!(-100), json!(10)),
        both(json!("100"), json!("10")),
        both(json!(100.5), json!(10.5)),
        both(json!(null), json!(10)),
        both(json!(100), json!(null)),
        json!({input: 100}),
        json!({output: 10}),
    ]
}

#[test]
fn a_usage_of_zero_is_estimated_against_the_budget() {
    for api in BOTH {
        for usage in unusable_usages(api) {
            let budget = Budget { tokens: Some(1_000_000), ..Budget::default() };
            let text = "a word ".repeat(40);
            let done = call(api, vec![Reply::text(&*text).usage(usage.clone())], None, budget, None);
            assert_eq!(done.result.unwrap().usage, None, "{api:?} {usage}");
            let estimate = done.estimate.expect("an estimate");
            assert!(estimate.usage.output > 50 && estimate.cost_usd > Some(0.0), "{api:?} {usage}: {estimate:?}");
        }
    }
}

#[test]
fn an_uncounted_turn_is_estimated_besides_a_counted_one() {
    for api in BOTH {
        for usage in unusable_usages(api) {
            for first in [true, false] {
                let of = |reply: Reply, broken: bool| if broken { reply.usage(usage.clone()) } else { reply };
                let replies = vec![of(Reply::reads(&["a.md"]), first), of(Reply::text("there"), !first)];
                let budget = Budget { tokens: Some(1_000_000), ..Budget::default() };
                let done = call(api, replies.clone(), None, budget, None);
                assert_eq!(done.result.unwrap().usage.map(|u| u.total()), Some(110), "{api:?} {usage}");
                let estimate = done.estimate.expect("an estimate");
                assert!(estimate.usage.input > 50 && estimate.cost_usd > Some(0.0), "{api:?} {usage}: {estimate:?}");
                let done = call(api, replies, None, Budget::default(), None);
                assert_eq!(done.estimate, None, "nothing is estimated without a budget");
            }
        }
    }
}

#[test]
fn uncounted_broken_tries_are_estimated_against_the_budget() {
    for api in BOTH {
        let cut = || Reply::text("half an answer").uncounted().cut_after(3);
        for (reply, kind) in [(cut(), Kind::CutStream), (Reply::status(200, "not a stream"), Kind::Malformed)] {
            let budget = Budget { tokens: Some(1_000_000), ..Budget::default() };
            let done = call(api, vec![reply.clone(), Reply::text("there")], None, budget, None);
            let CallEvent::Failed(FailedCall { failure: is, usage: None, estimated: Some(estimated), .. }) =
                &done.notes[0]
            else {
                panic!("{:?}", done.notes);
            };
            assert_eq!(*is, kind);
            assert!(estimated.usage.input > 50 && estimated.cost_usd > Some(0.0), "{estimated:?}");
        }
        // It counts: in the end nothing is left.
        let budget = Budget { tokens: Some(4_400), ..Budget::default() };
        let done = call(api, vec![cut()], None, budget, None);
        assert!(matches!(done.result, Err(LlmError::Budget { .. })), "{:?}", done.result);
        assert!(done.models.len() < 6, "{}", done.models.len());
        // A refusal took nothing.
        let done = call(
            api,
            vec![error(401, "authentication_error", "no")],
            None,
            Budget { tokens: Some(9_000), ..Budget::default() },
            None,
        );
        assert!(matches!(&done.notes[0], CallEvent::Failed(FailedCall { estimated: None, .. })), "{:?}", done.notes);
    }
}

#[test]
fn a_requested_wait_that_is_too_long_is_reported() {
    for api in BOTH {
        let reply = error(429, "rate_limit_error", "slow").header("retry-after", "900");
        let done = call(api, vec![reply], None, Budget::default(), None);
        let CallEvent::Failed(FailedCall { message, wait_seconds: None, asked_seconds: Some(asked), .. }) =
            &done.notes[0]
        else {
            panic!("{:?}", done.notes);
        };
        assert!((asked - 900.0).abs() < 1e-9);
        assert!(message.ends_with("it asks to wait 900 s"), "{message}");
        assert!(failure(done.result).to_string().contains("it asks to wait 900 s; wait and resume"));
        let reply = error(429, "rate_limit_error", "slow").header("retry-after", "7");
        let done = call(api, vec![reply, Reply::text("there")], None, Budget::default(), None);
        let CallEvent::Failed(FailedCall { message, asked_seconds: Some(_), wait_seconds: Some(_), .. }) =
            &done.notes[0]
        else {
            panic!("{:?}", done.notes);
        };
        assert!(!message.contains("asks to wait"), "{message}");
    }
}

#[test]
fn parts_left_out_for_a_server_are_recorded_with_its_message() {
    for api in BOTH {
        let said = api.say("output_config: schema is not supported", "response_format is not supported");
        let server = ModelServer::replies(vec![
            error(400, "invalid_request_error", &format!("{said}, {KEY}")),
            Reply::text("there"),
        ]);
        let caller = Caller::new(
            Box::new(tlaforge::llm::RedactingProvider::new(api.provider(settings(&server.url())), Vec::new())),
            Models::default(),
            RetryPolicy::default(),
            Budget::default(),
            Prices::load(None).unwrap(),
            1,
            Arc::new(Clock::default()),
        );
        let dir = tempfile::tempdir().unwrap();
        let asked = Request { schema: Some(serde_json::json!({"type": "object"})), ..request(&dir) };
        let mut notes = Vec::new();
        let cancel = Cancel::new();
        let answer = runtime().block_on(caller.call(&asked, &Used::default, &cancel, &mut |note| notes.push(note)));
        assert_eq!(answer.unwrap().text, "there");
        let [CallEvent::LeftOut(left)] = &notes[..] else { panic!("{notes:?}") };
        assert_eq!(left.part, "the JSON schema of the answer");
        assert!(left.said.contains(said) && !left.said.contains("planted"), "{left:?}");
    }
}

#[test]
fn a_failure_message_has_one_advice() {
    for api in BOTH {
        for reply in [
            Reply::status(404, "{\"detail\":\"Not Found\"}"),
            Reply::status(200, "<html>hello</html>").content_type("text/html"),
            Reply::status(302, "").header("location", "https://other.example/v1"),
        ] {
            let told = failure(call(api, vec![reply], None, Budget::default(), None).result).to_string();
            assert_eq!(told.matches("base URL").count(), 1, "{told}");
            assert!(
                !told.contains("model,") && !told.contains("another model") && told.ends_with("then resume"),
                "{told}"
            );
        }
    }
}

/// The errors of spans: the name of the span, and the error.
#[derive(Clone, Default)]
struct Errors(Arc<Mutex<Vec<(&'static str, String)>>>);

impl<S: tracing::Subscriber + for<'a> tracing_subscriber::registry::LookupSpan<'a>> Layer<S> for Errors {
    fn on_record(&self, id: &tracing::span::Id, values: &tracing::span::Record<'_>, cx: Context<'_, S>) {
        let mut error = ErrorField(None);
        values.record(&mut error);
        if let Some(error) = error.0 {
            self.0.lock().unwrap().push((cx.span(id).unwrap().name(), error));
        }
    }
}

struct ErrorField(Option<String>);

impl Visit for ErrorField {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        if field.name() == "error" {
            self.0 = Some(format!("{value:?}").trim_matches('"').to_owned());
        }
    }
}

#[test]
fn an_abandoned_call_says_so_in_its_spans() {
    let server = ModelServer::replies(vec![Reply::nothing()]);
    let (dir, errors) = (tempfile::tempdir().unwrap(), Errors::default());
    // If there is only one, a span that another thread makes first is off for all threads.
    let _second = tracing::Dispatch::new(tracing_subscriber::registry());
    let _guard = tracing_subscriber::registry().with(errors.clone()).set_default();
    let caller = Caller::new(
        Api::Messages.provider(settings(&server.url())),
        Models::default(),
        RetryPolicy::default(),
        Budget::default(),
        Prices::load(None).unwrap(),
        1,
        Arc::new(Clock::default()),
    );
    runtime().block_on(async {
        let (request, cancel, mut note) = (request(&dir), Cancel::new(), |_| {});
        tokio::select! {
            ended = caller.call(&request, &Used::default, &cancel, &mut note) => panic!("{ended:?}"),
            () = wait_until_async("the server has the request", || !server.posts().is_empty()) => {}
        }
    });
    let cancelled = ["model_request", "model_call"].map(|span| (span, "cancelled".to_owned()));
    assert_eq!(*errors.0.lock().unwrap(), cancelled);
}
