//! The real llama.cpp server with a tiny random model, to test the real wire format independent of the answers.
//!
//! `scripts/tiny-model/install` fetches it.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use super::*;
use crate::support::{Bench, project};
use tlaforge::journal::Sha;
use tlaforge::llm::Offered;

/// The server; it ends when it is dropped, and also when this process dies, for its input ends then.
struct Llama {
    child: Child,
    url: String,
}

impl Llama {
    fn start() -> Self {
        let dir = project().join("target/tiny-model");
        let model = dir.join("model.gguf");
        assert!(model.exists(), "the llama.cpp server: scripts/setup installs it");
        let mut child = Command::new("python3")
            .arg(project().join("scripts/tiny-model/serve.py"))
            .arg(model)
            .arg("0")
            .env("PYTHONPATH", dir.join("packages"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut url = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut url).unwrap();
        assert!(url.starts_with("http://"), "the server did not start: {url:?}");
        Self { child, url: url.trim().to_owned() }
    }
}

impl Drop for Llama {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_real_server_answers_through_both_providers() {
    let llama = Llama::start();
    let dir = tempfile::tempdir().unwrap();
    for api in BOTH {
        let provider = api.provider(HttpSettings::new(&*llama.url, None));
        let mut request = request(&dir);
        request.choice.max_output = std::num::NonZeroU32::new(60);
        // Noise that looks like the beginning of a tool's call is an error to this server, now and then.
        let answered = std::iter::repeat_with(|| ask(&*provider, &request)).take(5).find(|answered| {
            !matches!(answered, Err(LlmError::Failed(f)) if f.kind == Kind::Server && f.message.contains("peg-native"))
        });
        let (model, usage) = match answered.expect("an answer in five") {
            Ok(answer) => {
                assert!(!answer.text.trim().is_empty());
                (answer.model, answer.usage)
            }
            // A random model goes on to its limit, or ends at once.
            Err(LlmError::Failed(failure)) => {
                assert!(matches!(failure.kind, Kind::Truncated | Kind::Empty), "{api:?}: {failure:?}");
                (None, failure.usage)
            }
            other => panic!("{api:?}: {other:?}"),
        };
        // If its first token is not a whole character, this server leaves out `message_start`, which names the model and
        // counts the input: then the model is the one that was asked for, and nothing is counted.
        if api == Api::Messages && usage.is_none() {
            assert!(model.is_none() || model == request.choice.model, "{model:?}");
        } else {
            let usage = usage.expect("the server counts tokens");
            assert!(usage.output <= 61, "{api:?}: {usage:?}");
            assert!(usage.input + usage.cache_read > 10, "{api:?}: {usage:?}");
            assert!(model.is_none_or(|model| model.ends_with("model.gguf")), "the server names its model");
        }
        request.prompt = "x y z ".repeat(20_000);
        let got = failure(ask(&*provider, &request));
        assert_eq!((got.kind, got.status), (Kind::PromptTooLong, Some(400)), "{got:?}");
        assert!(got.message.contains("the context has 65536"), "{got}");
    }
}

#[test]
fn a_real_server_enforces_a_schema_and_gets_the_files() {
    let llama = Llama::start();
    let dir = tempfile::tempdir().unwrap();
    let mut request = request(&dir);
    request.offered =
        vec![Offered { path: "a.md".into(), sha: Sha::digest("alpha\n"), bytes: 6, shared: false, is_index: false }];
    request.schema = Some(json!({
        "type": "object", "properties": {"verdict": {"enum": ["approved", "revise"]}},
        "required": ["verdict"], "additionalProperties": false,
    }));
    for tools in [true, false] {
        let settings = OpenAiSettings { tools: Some(tools), context_tokens: Some(16_384) };
        let provider = OpenAi::new(HttpSettings::new(&*llama.url, None), settings).unwrap();
        let answer = ask(&provider, &request).unwrap();
        let verdict: Value = serde_json::from_str(&answer.text).unwrap();
        assert!(["approved", "revise"].contains(&verdict["verdict"].as_str().unwrap()), "{verdict}");
        assert_eq!(answer.reads.len(), usize::from(!tools), "what stands in the request was read");
    }
}

/// The whole program with a model that says nothing of use: it ends within its limits, and nothing is claimed. The other
/// interface only in a campaign: the model computes for a minute.
#[test]
fn noise_ends_a_run_as_not_approved() {
    let llama = Llama::start();
    let case = project().join("evals/uniswap_swap");
    let count = if std::env::var_os("TLAFORGE_CAMPAIGN").is_some() { BOTH.len() } else { 1 };
    for api in BOTH.into_iter().take(count) {
        let bench = Bench::remembering();
        let provider = api.say("anthropic", "openai");
        let args = ["run", "--case", case.to_str().unwrap(), "--provider", provider, "--model", "tiny-random"];
        let limits = ["--base-url", &llama.url, "--max-revisions", "1", "--max-time", "1h", "--out", "specs"];
        let done = bench.run(&[&args[..], &limits[..]].concat()).expect(1);
        let journal = bench.journal("specs");
        assert_eq!(crate::support::outcome(&journal), "not_approved", "{}", done.stderr);
        let answers = journal.iter().filter(|e| crate::support::name(e) == "answer_received").count();
        assert!(answers >= 4, "{answers}");
        assert!(bench.path("specs/history/rev_1/meta.json").exists(), "each revision is in the history");
    }
}
