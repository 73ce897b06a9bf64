//! Specific to chat completions: servers that support only parts of the API.

use super::*;
use tlaforge::journal::Sha;
use tlaforge::llm::Offered;

fn openai(server: &ModelServer, settings: OpenAiSettings) -> OpenAi {
    OpenAi::new(super::settings(&server.url()), settings).unwrap()
}

/// A request that offers two files, one of them a document.
fn offering(dir: &tempfile::TempDir) -> Request {
    let mut request = request(dir);
    std::fs::create_dir_all(dir.path().join("docs")).unwrap();
    for (path, text) in [("a.md", "alpha\n"), ("docs/b.md", "beta\n")] {
        std::fs::write(dir.path().join(path), text).unwrap();
        let shared = path.starts_with("docs/");
        request.offered.push(Offered {
            path: path.into(),
            sha: Sha::digest(text),
            bytes: text.len() as u64,
            shared,
            is_index: false,
        });
    }
    request
}

#[test]
fn a_server_without_tools_gets_the_files_in_the_request() {
    let dir = tempfile::tempdir().unwrap();
    for (status, message) in [
        (400, "registry/gemma:2b does not support tools"),
        (404, "No endpoints found that support tool use"),
        (501, "tools are not implemented"),
        (500, "tools param requires --jinja flag"),
    ] {
        let server = ModelServer::start(move |seen| {
            if seen.tools().is_empty() { Reply::text("x") } else { error(status, "invalid_request_error", message) }
        });
        let provider = openai(&server, OpenAiSettings::default());
        let answer = ask(&provider, &offering(&dir)).unwrap();
        let reads: Vec<(&str, bool)> = answer.reads.iter().map(|r| (r.path.as_str(), r.whole)).collect();
        assert_eq!(reads, [("a.md", true), ("docs/b.md", true)], "{message}");
        ask(&provider, &offering(&dir)).unwrap();
        let posts = server.posts();
        assert_eq!(posts.len(), 3, "tools are not offered again");
        let prompt = posts[1].prompt();
        assert!(prompt.contains("     1→alpha") && prompt.contains("     1→beta") && prompt.ends_with("Read `a.md`."));
    }
}

#[test]
fn a_server_error_during_a_tool_call_is_no_rejection_of_tools() {
    let dir = tempfile::tempdir().unwrap();
    let server = ModelServer::replies(vec![error(500, "server_error", "the tool call parser crashed")]);
    let got = failure(ask(&openai(&server, OpenAiSettings::default()), &offering(&dir)));
    assert_eq!((got.kind, server.posts().len()), (Kind::Server, 1));
}

#[test]
fn files_that_do_not_fit_are_an_error_with_the_numbers_before_anything_is_sent() {
    let dir = tempfile::tempdir().unwrap();
    let server = ModelServer::replies(vec![Reply::text("x")]);
    let without_tools = |context_tokens| OpenAiSettings { tools: Some(false), context_tokens };
    let mut request = offering(&dir);
    request.choice.max_output = std::num::NonZeroU32::new(500);
    std::fs::write(dir.path().join("a.md"), "x".repeat(30_000)).unwrap();
    let got = failure(ask(&openai(&server, without_tools(Some(8192))), &request));
    assert_eq!(got.kind, Kind::PromptTooLong);
    for word in ["2 files", "30028 bytes", "10009 tokens", "500 more", "8192"] {
        assert!(got.message.contains(word), "{word}: {got}");
    }
    assert!(server.posts().is_empty());
    assert_eq!(ask(&openai(&server, without_tools(Some(20_000))), &request).unwrap().text, "x");
    assert_eq!(ask(&openai(&server, without_tools(None)), &request).unwrap().text, "x");
    std::fs::write(dir.path().join("a.md"), [0xff]).unwrap();
    let got = failure(ask(&openai(&server, without_tools(None)), &request));
    assert!(got.message.contains("a.md (6 bytes) cannot be part of a request"), "{got}");
}

#[test]
fn unsupported_parts_of_a_request_are_left_out() {
    let dir = tempfile::tempdir().unwrap();
    let server = ModelServer::start(|seen| {
        let body = &seen.body;
        if !body["stream_options"].is_null() {
            return error(400, "invalid_request_error", "Unrecognized request argument supplied: stream_options");
        }
        if !body["max_tokens"].is_null() {
            let message = "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.";
            return error(400, "invalid_request_error", message);
        }
        Reply::text("x")
    });
    let mut request = request(&dir);
    request.choice.max_output = std::num::NonZeroU32::new(9);
    let answer = ask(&openai(&server, OpenAiSettings::default()), &request).unwrap();
    assert_eq!((answer.text.as_str(), answer.usage), ("x", None), "what is not counted is not claimed");
    assert_eq!(server.posts()[2].body["max_completion_tokens"], 9);
}

#[test]
fn a_missing_end_marker_and_a_stop_after_tool_calls_are_accepted() {
    let dir = tempfile::tempdir().unwrap();
    // role, two pieces of text, finish; then usage and [DONE]
    let server = ModelServer::replies(vec![Reply::text("both").short_after(4)]);
    assert_eq!(ask(&openai(&server, OpenAiSettings::default()), &request(&dir)).unwrap().text, "both");
    let server = ModelServer::start(|seen| match seen.tool_results().len() {
        0 => Reply::reads(&["a.md"]).stop("stop"),
        _ => Reply::text("read"),
    });
    let answer = ask(&openai(&server, OpenAiSettings::default()), &request(&dir)).unwrap();
    assert_eq!((answer.text.as_str(), answer.reads.len()), ("read", 1));
}

#[test]
fn a_model_must_be_named_and_a_model_that_declines_is_quoted() {
    let dir = tempfile::tempdir().unwrap();
    let chunk = json!({"choices": [{"delta": {"refusal": "I will not."}, "finish_reason": "stop"}]});
    let server = ModelServer::replies(vec![stream(format!("data: {chunk}\n\ndata: [DONE]\n\n"))]);
    let got = failure(ask(&openai(&server, OpenAiSettings::default()), &request(&dir)));
    assert_eq!(got.kind, Kind::Refusal);
    assert!(got.message.contains("I will not."));
    let mut nameless = request(&dir);
    nameless.choice.model = None;
    let got = failure(ask(&openai(&server, OpenAiSettings::default()), &nameless));
    assert!(got.to_string().contains("--model"), "{got}");
    assert_eq!(server.posts().len(), 1);
}

/// The events of an answer up to and with the one that says why it stopped.
fn until_its_reason(text: &str) -> String {
    let chunk = |choice: Value| format!("data: {}\n\n", json!({"model": "m", "choices": [choice]}));
    chunk(json!({"delta": {"content": text}})) + &chunk(json!({"delta": {}, "finish_reason": "stop"}))
}

#[test]
fn an_answer_with_a_finish_reason_is_complete_however_the_stream_ends() {
    let dir = tempfile::tempdir().unwrap();
    let whole = until_its_reason("there");
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n";
    let stalls = format!("{head}content-length: 100000\r\n\r\n{whole}");
    let breaks = format!("{head}transfer-encoding: chunked\r\n\r\n{:x}\r\n{whole}\r\n", whole.len());
    let counted =
        format!("{whole}data: {{\"choices\":[],\"usage\":{{\"prompt_tokens\":5,\"completion_tokens\":2}}}}\n\n");
    let counted = format!("{head}content-length: 100000\r\n\r\n{counted}");
    for (reply, usage) in [(stalls, None), (breaks, None), (counted, Some(7))] {
        let server = ModelServer::replies(vec![Reply::raw(reply.clone())]);
        let provider = Api::Chat.provider(patient(&server.url()));
        let (request, cancel) = (request(&dir), Cancel::new());
        let answer = runtime().block_on(end_of("the call ends", provider.ask(&request, &cancel))).unwrap();
        assert_eq!((answer.text.as_str(), answer.usage.map(|u| u.total())), ("there", usage), "{reply}");
        assert_eq!(server.posts().len(), 1);
    }
    // A signal that comes while only the last words are missing takes nothing away.
    let server = ModelServer::replies(vec![Reply::raw(format!("{head}content-length: 100000\r\n\r\n{whole}"))]);
    let provider = Api::Chat.provider(settings(&server.url()));
    let (cancel, request) = (Cancel::new(), request(&dir));
    let answer = runtime().block_on(async {
        let soon = async {
            server.wait_until_read().await;
            cancel.cancel();
        };
        tokio::join!(provider.ask(&request, &cancel), soon).0
    });
    assert_eq!(answer.unwrap().text, "there");
}

#[test]
fn missing_finish_reasons_and_lists_of_parts_are_accepted() {
    let dir = tempfile::tempdir().unwrap();
    let parts =
        json!({"choices": [{"delta": {"content": [{"type": "text", "text": "the"}, {"type": "text", "text": "re"}]}}]});
    let server = ModelServer::replies(vec![stream(format!("data: {parts}\n\ndata: [DONE]\n\n"))]);
    assert_eq!(ask(&*Api::Chat.provider(settings(&server.url())), &request(&dir)).unwrap().text, "there");
}
