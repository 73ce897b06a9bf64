//! What a model's server is asked when an answer is met or foreseen, and what the report says that it cost.

use crate::support::counter::{INFORMAL, answers, bench};
use crate::support::model_server::{ModelServer, Reply, Seen, Tokens};
use crate::support::{Bench, Done, name};
use serde_json::{Value, json};

fn policy(intervention: &str, more: &str) -> String {
    format!(
        "[[rule]]\nid = \"no-todo\"\nkind = \"forbidden_text\"\nparams = {{ text = \"TODO\" }}\nintervention = \"{intervention}\"\n\n{more}"
    )
}

/// A run with that provider and model, under the policy.
fn run(bench: &Bench, server: &ModelServer, provider: &str, model: &str, policy: &str) -> Done {
    bench.write("policy.toml", policy);
    let args = ["run", "docs", "--out", "specs", "--policy", "policy.toml", "--provider", provider, "--model", model];
    let url = server.url();
    let env =
        ["OPENAI", "ANTHROPIC"].map(|p| [(format!("{p}_BASE_URL"), url.clone()), (format!("{p}_API_KEY"), "k".into())]);
    let env: Vec<(&str, &str)> =
        env.iter().flatten().map(|(name, value): &(String, String)| (name.as_str(), value.as_str())).collect();
    bench.run_with(&args, &env)
}

fn is_informal(seen: &Seen) -> bool {
    seen.system().contains("You write informal")
}

/// What the server was sent.
fn bodies(server: &ModelServer) -> Vec<Value> {
    server.posts().into_iter().map(|seen| seen.body).collect()
}

fn without(body: &Value, field: &str) -> Value {
    let mut body = body.clone();
    body.as_object_mut().unwrap().remove(field).unwrap();
    body
}

#[test]
fn switch_sends_one_request_to_the_other_model_and_later_ones_to_the_first() {
    let bench = bench();
    let server = ModelServer::start(|seen| match seen.body["model"].as_str() {
        Some("first-1") if is_informal(seen) => Reply::text(format!("{INFORMAL}\n## Notes\nTODO: the rest\n")),
        _ => answers(seen),
    });
    let switch = policy("switch", "[intervening]\nfallback_model = \"careful-1\"\n");
    run(&bench, &server, "openai", "first-1", &switch).expect(0).prints(&["switch for no-todo prevented"]);
    let sent = bodies(&server);
    assert_eq!((&sent[0]["model"], &sent[1]["model"]), (&json!("first-1"), &json!("careful-1")));
    assert_eq!(without(&sent[0], "model"), without(&sent[1], "model"));
    let later: Vec<&Value> = sent[2..].iter().map(|body| &body["model"]).collect();
    assert!(later.len() >= 3 && later.iter().all(|model| **model == "first-1"), "{later:?}");

    // Where nobody else is named, the same model is asked with the rules behind the same prompt.
    let alone = crate::support::counter::bench();
    let mut asked = 0;
    let server = ModelServer::start(move |seen| {
        asked += usize::from(is_informal(seen));
        if is_informal(seen) && asked == 1 {
            Reply::text(format!("{INFORMAL}\n## Notes\nTODO\n"))
        } else {
            answers(seen)
        }
    });
    run(&alone, &server, "openai", "first-1", &policy("switch", "")).expect(0);
    let sent = bodies(&server);
    assert!(sent.iter().all(|body| body["model"] == "first-1"));
    assert_eq!(without(&sent[0], "messages"), without(&sent[1], "messages"));
    let told = |body: &Value| {
        body["messages"].as_array().unwrap().iter().map(|m| m["content"].to_string()).collect::<Vec<_>>()
    };
    let (first, second) = (told(&sent[0]), told(&sent[1]));
    assert_eq!((first.len(), first[0] == second[0]), (second.len(), true), "the role is the same");
    let (first, second) = (server.posts()[0].prompt(), server.posts()[1].prompt());
    let more = second.strip_prefix(first.trim_end()).unwrap();
    assert!(more.contains("This run is held to the following") && more.contains("TODO"), "{more}");
    let held = |body: &Value| body.to_string().contains("This run is held to the following");
    assert!(!sent[2..].iter().any(held), "what follows is asked as ever");
}

fn foresees(seen: &Seen) -> bool {
    seen.prompt().contains("Say how the run would most likely go on")
}

#[test]
fn an_empty_prediction_table_uses_the_defaults_and_the_report_shows_the_cost() {
    let bench = bench();
    // Of the first answer three in five samples lead to a violation within three steps, of the second two.
    let mut foreseen = 0;
    let server = ModelServer::start(move |seen| {
        let tokens = Tokens { input: 10_000, output: 1_000, cache_read: 0, cache_write: 0 };
        if !foresees(seen) {
            return answers(seen).tokens(tokens);
        }
        foreseen += 1;
        let third = if [1, 2, 3, 6, 7].contains(&foreseen) { "TODO" } else { "fine" };
        let ahead = json!({"answers": ["fine", "fine", third, "TODO beyond what is asked for"]});
        Reply::text(format!("```json\n{ahead}\n```\n")).tokens(tokens)
    });
    let bare = policy("resample", "[prediction]\n");
    let done = run(&bench, &server, "anthropic", "claude-sonnet-4-5", &bare).expect(0);
    let posts = server.posts();
    let of_informal: Vec<&Seen> = posts.iter().filter(|seen| is_informal(seen)).collect();
    let kinds: String = of_informal.iter().map(|seen| if foresees(seen) { 'f' } else { 'a' }).collect();
    assert_eq!(kinds, "afffffafffff", "each answer is foreseen five times");
    for seen in posts.iter().filter(|seen| foresees(seen)) {
        assert_eq!(seen.body["temperature"], 0.8);
        assert!(seen.prompt().contains("the next 3 answers"), "{}", seen.prompt());
    }
    assert!(of_informal[0].body["temperature"].is_null());
    let foreseen = posts.iter().filter(|seen| foresees(seen)).count();
    assert_eq!(foreseen, 25, "two answers of informal_spec, and one of each other node");

    let journal = bench.journal("specs");
    let predicted: Vec<&Value> = journal.iter().filter(|e| name(e) == "predicted").map(|e| &e["data"]).collect();
    assert_eq!(predicted.len(), 5);
    for one in &predicted {
        assert_eq!(
            [&one["how"], &one["pattern"], &one["steps"], &one["threshold"], &one["calls"], &one["tokens"]],
            [&json!("sampling"), &json!("F violated"), &json!(3), &json!(0.5), &json!(5), &json!(55_000)]
        );
    }
    let estimate = |one: &Value| (one["estimates"]["no-todo"].as_f64().unwrap() * 10.0).round() / 10.0;
    assert_eq!((estimate(predicted[0]), estimate(predicted[1])), (0.6, 0.4));

    // At 3 and 15 dollars for a million tokens an answer is 4.5 cents.
    let lines = [
        "  informal_spec: draft: resample for no-todo prevented a violation of no-todo; answer 2 was taken; \
         1 further answer, 11000 tokens, 0.04 USD\n",
        "  prediction: for 5 answers; 25 further answers, 275000 tokens, 1.12 USD\n",
    ];
    done.prints(&lines);
    bench.run(&["report", "specs"]).expect(0).prints(&lines);
    let report = bench.run(&["report", "specs", "--format", "json"]).expect(0).stdout;
    let report: Value = serde_json::from_str(&report).unwrap();
    let spent: f64 = report["predictions"].as_array().unwrap().iter().map(|p| p[1]["cost_usd"].as_f64().unwrap()).sum();
    assert!((spent - 1.125).abs() < 1e-9, "{spent}");
    let total = report["spent_total"]["cost_usd"].as_f64().unwrap();
    let turns = f64::from(u32::try_from(posts.len()).unwrap());
    assert!((total - 0.045 * turns).abs() < 1e-9, "all of it is in the total: {total} of {turns} turns");
}

#[test]
fn without_a_prediction_the_report_has_no_line_for_it() {
    let bench = bench();
    let server = ModelServer::start(answers);
    let done = run(&bench, &server, "openai", "first-1", &policy("resample", "")).expect(0);
    assert!(done.stdout.contains("Policy policy.toml") && !done.stdout.contains("prediction:"), "{}", done.stdout);
}
