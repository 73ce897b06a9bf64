//! A whole run through the HTTP providers: documents in, a recorded model behind a server, an approved specification out.

use super::*;
use crate::support::recorded_model::{RecordedModel, without_added_reasons, words_of_recordings};
use crate::support::{Bench, project};

/// Bytes that two requests begin with.
fn shared(a: &[u8], b: &[u8]) -> usize {
    a.iter().zip(b).take_while(|(a, b)| a == b).count()
}

#[test]
fn the_swap_case_ends_approved_with_the_same_files_as_its_recording_and_no_key_in_any() {
    let case = project().join("evals/uniswap_swap");
    let recording = case.join("recording/run.jsonl");
    let replay = Bench::remembering();
    let args = ["run", "--case", case.to_str().unwrap(), "--out", "specs"];
    // Without larger bounds, as the runs of the model below.
    let recorded = ["--recording", recording.to_str().unwrap(), "--bounds-budget", "off"];
    replay.run(&[&args[..], &recorded].concat()).expect(0);
    for api in BOTH {
        let model = RecordedModel::load(&recording);
        let answers = model.answers();
        let mut script = model.script();
        let server = ModelServer::start(move |seen| match seen.number {
            // A model that looks around first.
            0 => Reply::reads(&["../journal.jsonl", "docs/INDEX.md"]),
            _ => script(seen),
        });
        let bench = Bench::remembering();
        let (provider, words) = (api.say("anthropic", "openai"), words_of_recordings());
        let more = [
            "--normative-words",
            &words,
            "--draft",
            "single_call",
            "--blind-reading",
            "on",
            "--contracts",
            "on",
            "--provider",
            provider,
            "--model",
            "claude-sonnet-4-5",
        ];
        let url = server.url();
        let env = match api {
            Api::Messages => [("ANTHROPIC_BASE_URL", url.as_str()), ("ANTHROPIC_API_KEY", KEY)],
            Api::Chat => [("OPENAI_BASE_URL", url.as_str()), ("OPENAI_API_KEY", KEY)],
        };
        let done = bench.run_with(&[&args[..], &more[..]].concat(), &env).expect(0).prints(&["Outcome: approved"]);
        for file in ["informal_spec.md", "Spec.tla", "Spec.cfg", "review.md"] {
            let made = without_added_reasons(&bench.read(&format!("specs/{file}")));
            assert_eq!(made, replay.read(&format!("specs/{file}")), "{api:?}: {file}");
        }
        let journal = bench.journal("specs");
        let named = |name: &str| journal.iter().filter(|e| crate::support::name(e) == name).collect::<Vec<_>>();
        let received = named("answer_received");
        assert_eq!(received.len(), answers);
        for event in &received {
            let data = &event["data"];
            assert!(data["usage"]["input"].as_u64() > Some(0) && data["cost_usd"].as_f64() > Some(0.0), "{event}");
            assert!(!data["reads"].as_array().unwrap().is_empty(), "{event}");
        }
        let refused = named("read_refused");
        assert_eq!(refused.len(), 1);
        assert_eq!(refused[0]["data"]["path"], "../journal.jsonl");
        let files = walkdir::WalkDir::new(bench.dir.path()).into_iter().map(Result::unwrap);
        for entry in files.filter(|e| e.file_type().is_file()) {
            let bytes = std::fs::read(entry.path()).unwrap();
            assert!(!bytes.windows(KEY.len()).any(|w| w == KEY.as_bytes()), "{}", entry.path().display());
        }
        assert!(!done.stderr.contains(KEY) && !done.stdout.contains(KEY));
        let posts = server.posts();
        // Marks of the cache are no part of what is cached.
        let mark = ",\"cache_control\":{\"type\":\"ephemeral\"}";
        let bodies: Vec<String> =
            posts.iter().map(|p| String::from_utf8(p.raw.clone()).unwrap().replace(mark, "")).collect();
        let sent: usize = bodies.iter().map(String::len).sum();
        let before =
            |i: usize| bodies[..i].iter().map(|b| shared(bodies[i].as_bytes(), b.as_bytes())).max().unwrap_or(0);
        let again: usize = (0..bodies.len()).map(before).sum();
        println!("{api:?}: {} requests, {sent} bytes sent, {again} of them in a prefix sent before", posts.len());
    }
}
