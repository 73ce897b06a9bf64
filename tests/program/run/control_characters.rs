//! A control character in a text never wedges a run: it is asked for again, and written out where it gets into a request.

use crate::support::counter::{self, INFORMAL, MODULE, bench, fenced, good_sections, review};
use crate::support::model_server::{ModelServer, Reply, Seen};
use crate::support::{Bench, name, outcome};
use serde_json::Value;
use std::collections::BTreeSet;

/// The arguments of a run with this server.
fn args<'a>(url: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let own = ["run", "docs", "--out", "specs", "--provider", "openai", "--model", "m", "--base-url", url];
    own.into_iter().chain(more.iter().copied()).collect()
}

/// A server that refuses NUL, as many do. `first` replaces the first answer of each role whose request has these words.
fn refusing(first: Vec<(&'static str, String)>) -> impl FnMut(&Seen) -> Reply + Send + 'static {
    let mut given = BTreeSet::new();
    move |seen| {
        // After another backslash, the text `\u0000` itself is meant.
        let is_nul = |bytes: &[u8]| bytes[1..] == *b"\\u0000" && bytes[0] != b'\\';
        if seen.raw.windows(7).any(is_nul) || seen.raw.contains(&0) {
            return Reply::error(400, "invalid_request_error", "the request has a NUL");
        }
        let answer = if seen.system().contains("whose names say nothing") {
            Reply::text("{\"P1\": \"it forbids that v1 is above c1\"}")
        } else {
            counter::answers(seen)
        };
        let is_reading = seen.system().contains("You review") && seen.tool_results().is_empty();
        let bad = first.iter().find(|(role, _)| seen.system().contains(role)).filter(|_| !is_reading);
        match bad {
            Some((role, bad)) if given.insert(*role) => Reply::text(bad.as_str()),
            _ => answer,
        }
    }
}

const INFORMAL_ROLE: &str = "You write informal";
const MODULE_ROLE: &str = "You write PlusCal";
const PROPERTIES_ROLE: &str = "You write what a specification must satisfy";
const BLIND_ROLE: &str = "whose names say nothing";
const REVIEW_ROLE: &str = "You review";

/// An answer of each node with the character at each place where a text can hold it.
fn answers(c: char) -> Vec<(&'static str, String)> {
    let sections = good_sections();
    let escape = format!("\\u{:04x}", u32::from(c));
    let accepting = |summary: &str| review("approved").replace("\"s\"", &format!("\"{summary}\""));
    vec![
        (INFORMAL_ROLE, INFORMAL.replace("The limit.", &format!("The{c} limit."))),
        (INFORMAL_ROLE, INFORMAL.replace("R1 [", &format!("{c}\nR1 ["))),
        (MODULE_ROLE, fenced(&MODULE.replace("EXTENDS", &format!("\\* a{c}b\nEXTENDS")))),
        (MODULE_ROLE, format!("Here{c} it is:\n{}", fenced(MODULE))),
        (PROPERTIES_ROLE, sections.replace("TypeOK ==", &format!("\\* a{c}b\nTypeOK =="))),
        (PROPERTIES_ROLE, sections.replace("WitnessFull ==", &format!("(* a{c}b *)\nWitnessFull =="))),
        (PROPERTIES_ROLE, sections.replace("INVARIANTS", &format!("\\* a{c}b\nINVARIANTS"))),
        (BLIND_ROLE, format!("{{\"P1\": \"it forbids{c} nothing\"}}")),
        (BLIND_ROLE, format!("{{\"P1\": \"it forbids{escape} nothing\"}}")),
        (REVIEW_ROLE, accepting(&format!("a{c}b"))),
        (REVIEW_ROLE, accepting(&format!("a{escape}b"))),
        (REVIEW_ROLE, format!("{}{c}", review("approved"))),
    ]
}

#[test]
fn an_answer_with_a_control_character_is_asked_for_again() {
    for c in ['\0', '\u{1}', '\u{1b}', '\u{7f}'] {
        for (role, bad) in answers(c) {
            let reads_blindly = role == BLIND_ROLE;
            let server = ModelServer::start(refusing(vec![(role, bad.clone())]));
            let bench = bench();
            let (url, blind) = (server.url(), if reads_blindly { "on" } else { "off" });
            let done = bench.run(&args(&url, &["--blind-reading", blind]));
            let journal = bench.journal("specs");
            // The reader's sentence is accepted by nobody here; the run only has to go on.
            let expected = if reads_blindly { "not_approved" } else { "approved" };
            assert_eq!(outcome(&journal), expected, "{c:?} {bad:?}\n{}", done.stderr);
            let told = journal.iter().any(|e| {
                e["data"]["feedback"].to_string().contains(&format!("control character U+{:04X}", u32::from(c)))
            });
            assert!(told || reads_blindly, "{c:?} {bad:?}");
        }
    }
}

#[test]
fn a_control_character_of_a_document_or_a_setting_is_written_out() {
    let bench = bench();
    bench.write("docs/more.md", "# More\nForm feed\u{c} and bell\u{7} here.\n");
    bench.write("tlaforge.toml", "concern = \"the\\u0000 limit\"\n");
    let server = ModelServer::start(refusing(Vec::new()));
    bench.run(&args(&server.url(), &[])).expect(0);
    let seen: String = server.requests().iter().map(|seen| String::from_utf8_lossy(&seen.raw).into_owned()).collect();
    assert!(seen.contains("the<U+0000> limit"), "the setting is written out");
    let document = bench.read("specs/workspace/docs/more.md");
    assert!(document.contains("feed<U+000C> and bell<U+0007> here"), "{document:?}");
}

/// Puts a text into the run's folder in place of an artifact of the last attempt of a node.
fn replace_artifact(bench: &Bench, node: &str, file: &str, change: &dyn Fn(&str) -> String) {
    let mut journal = bench.events("specs");
    let event = journal.iter_mut().rfind(|e| name(e) == "attempt_finished" && e["lifeline"] == node).unwrap();
    let sha = event["data"]["artifacts"][file].as_str().unwrap().to_owned();
    let text = change(&bench.read(&format!("specs/artifacts/{sha}")));
    let changed = tlaforge::journal::Sha::digest(&text).to_string();
    bench.write(&format!("specs/artifacts/{changed}"), &text);
    for artifact in event["data"]["artifacts"].as_object_mut().unwrap().values_mut() {
        if artifact.as_str() == Some(sha.as_str()) {
            *artifact = Value::from(changed.as_str());
        }
    }
    bench.write("specs/journal.jsonl", journal.iter().map(|e| e.to_string() + "\n").collect::<String>());
}

/// Version 0.2 kept such texts, and each resume ended with status 5.
#[test]
fn a_run_that_holds_a_nul_already_goes_on() {
    for (node, file, stops_at) in [
        ("informal_spec", "informal_spec.md", MODULE_ROLE),
        ("formalize", "source.tla", PROPERTIES_ROLE),
        ("generate_invariants", "Spec.cfg", REVIEW_ROLE),
    ] {
        let bench = bench();
        let mut answers = refusing(Vec::new());
        let server = ModelServer::start(move |seen| {
            if seen.system().contains(stops_at) {
                return Reply::error(400, "invalid_request_error", "not now");
            }
            answers(seen)
        });
        bench.run(&args(&server.url(), &[])).expect(5);
        replace_artifact(&bench, node, file, &|text| match file {
            "informal_spec.md" => text.replace("The limit.", "The\0 limit."),
            "source.tla" => text.replace("EXTENDS", "\\* a\0b\nEXTENDS"),
            _ => format!("\\* a\0b\n{text}"),
        });
        let server = ModelServer::start(refusing(Vec::new()));
        let done = bench.run(&["resume", "specs", "--provider", "openai", "--model", "m", "--base-url", &server.url()]);
        assert_ne!(done.status, Some(5), "{node}: {}", done.stderr);
        assert!(server.requests().len() > 1, "{node}");
    }
}
