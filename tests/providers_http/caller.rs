//! The providers through the caller: what is tried again, how late, with which model, and what it costs.

use super::*;

/// A clock that only counts.
#[derive(Default)]
struct Clock {
    waited: Mutex<Vec<f64>>,
    left: Option<Duration>,
}

impl Pace for Clock {
    fn pause(&self, time: Duration) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        self.waited.lock().unwrap().push(time.as_secs_f64());
        Box::pin(std::future::ready(()))
    }

    fn jitter(&self) -> f64 {
        0.5
    }

    fn left(&self) -> Option<Duration> {
        self.left
    }
}

/// What came of a call through the caller.
struct Called {
    result: Result<tlaforge::llm::Answer, LlmError>,
    notes: Vec<Note>,
    waited: Vec<f64>,
    models: Vec<String>,
    took: Duration,
}

fn call(api: Api, replies: Vec<Reply>, fallback: Option<&str>, budget: Budget, left: Option<Duration>) -> Called {
    let server = ModelServer::replies(replies);
    let dir = tempfile::tempdir().unwrap();
    let clock = Arc::new(Clock { waited: Mutex::default(), left });
    let caller = Caller::new(
        api.provider(settings(&server.url())),
        Models { fallback: fallback.map(str::to_owned), ..Models::default() },
        RetryPolicy::default(),
        budget,
        Prices::load(None).unwrap(),
        2,
        Arc::clone(&clock) as Arc<dyn Pace>,
    );
    let mut notes = Vec::new();
    let started = Instant::now();
    let result = runtime().block_on(caller.call(&request(&dir), Used::default(), &Cancel::new(), &mut |note| {
        notes.push(note);
    }));
    let took = started.elapsed();
    let models = server.posts().iter().map(|s| s.body["model"].as_str().unwrap().to_owned()).collect();
    let waited = clock.waited.lock().unwrap().clone();
    Called { result, notes, waited, models, took }
}

fn kinds(notes: &[Note]) -> Vec<Kind> {
    let kind = |note: &Note| if let Note::Failed { kind, .. } = note { Some(*kind) } else { None };
    notes.iter().filter_map(kind).collect()
}

#[test]
fn what_passes_is_tried_again_as_late_as_the_server_asks() {
    for api in BOTH {
        let done = call(
            api,
            vec![
                error(429, "rate_limit_error", "slow").header("retry-after", "7"),
                error(500, "api_error", "oops"),
                Reply::text("x").cut_after(3),
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
        let told = serde_json::to_string(&done.notes).unwrap();
        assert!(!told.contains("planted"), "{told}");
        let Note::Failed { usage: Some(usage), cost_usd: Some(cost), .. } = &done.notes[3] else {
            panic!("{:?}", done.notes[3]);
        };
        assert_eq!(*usage, Usage { input: 100, output: 10, ..Usage::default() });
        assert!((cost - (100.0 * 3.0 + 10.0 * 15.0) / 1e6).abs() < 1e-12, "an empty answer costs what it took");
    }
}

#[test]
fn what_does_not_pass_is_tried_once_and_what_passes_not_for_ever() {
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
        assert!(matches!(&done.notes[3], Note::Switched { to, .. } if to == "claude-haiku-4-5"));
        assert_eq!(done.waited.len(), 2);
    }
}

#[test]
fn a_budget_that_does_not_allow_a_call_keeps_it_from_the_server() {
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
fn the_deadline_ends_an_answer_that_drips() {
    for api in BOTH {
        let slow = Reply::text("so slow").drip(Duration::from_millis(400));
        let done = call(api, vec![slow], None, Budget::default(), Some(Duration::from_secs(1)));
        assert!(matches!(done.result, Err(LlmError::Deadline)), "{:?}", done.result);
        assert!(done.took < Duration::from_secs(2), "{:?}", done.took);
    }
}
