//! The scripted server itself.

use std::io::{Read, Write};

use serde_json::json;

use crate::support::model_server::{ModelServer, Reply};
use crate::support::project;
use crate::support::recorded_model::RecordedModel;

/// One request over a connection of its own.
fn post(url: &str, path: &str, body: &serde_json::Value) -> String {
    let mut stream = std::net::TcpStream::connect(url.trim_start_matches("http://")).unwrap();
    let body = body.to_string();
    write!(stream, "POST {path} HTTP/1.1\r\nhost: x\r\ncontent-length: {}\r\n\r\n{body}", body.len()).unwrap();
    stream.shutdown(std::net::Shutdown::Write).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn the_scripted_server_speaks_both_apis_with_and_without_streams() {
    let server = ModelServer::start(|_| Reply::text("grüße"));
    for stream in [true, false] {
        for (path, end) in [("/v1/messages?beta=true", "message_stop"), ("/v1/chat/completions", "[DONE]")] {
            let body = json!({"model": "m", "stream": stream, "messages": [{"role": "user", "content": "hi"}]});
            let answer = post(&server.url(), path, &body);
            assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
            assert_eq!(answer.contains(end), stream, "{answer}");
            assert!(answer.contains(if stream { "gr\"" } else { "grüße" }), "{answer}");
        }
    }
    assert_eq!(server.posts().len(), 4);
    assert_eq!(server.posts()[0].prompt(), "hi");
}

#[test]
fn the_recorded_model_reads_before_it_answers() {
    let recording = project().join("evals/uniswap_swap/recording/run.jsonl");
    let server = ModelServer::start(RecordedModel::load(&recording).script());
    let prompt = json!({"role": "user", "content": "Read `docs/INDEX.md`, then `more.md`."});
    let mut body = json!({"stream": false, "tools": [{"name": "Read"}], "messages": [prompt]});
    let calls = post(&server.url(), "/v1/messages", &body);
    for path in ["docs/INDEX.md", "docs/pool.md", "docs/guarantees.md", "more.md"] {
        assert_eq!(calls.matches(path).count(), 1, "{calls}");
    }
    let results = json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "x", "content": "y"}]});
    body["messages"].as_array_mut().unwrap().push(results);
    assert!(post(&server.url(), "/v1/messages", &body).contains("# Swaps of one pool with two tokens"));
}
