//! Single-call drafts (`--draft single_call`): in the first pass one answer holds the parts of three nodes. A node asks for a part
//! that is missing or unreadable.

use crate::support::counter::{DOC, INFORMAL, MODULE, bench, fenced, good, good_sections, issue, review};
use crate::support::ran::{NO_ANSWER, Ran, ran};
use crate::support::waiting::wait_until;
use crate::support::{Bench, PROGRAM, Script, name};
use serde_json::Value;

const WHOLE: [&str; 2] = ["--draft", "single_call"];

/// An answer of these parts.
fn whole(informal: &str, module: &str, sections: &str) -> String {
    let informal = match informal {
        "" => String::new(),
        text => format!("````markdown informal_spec\n{text}````\n\n"),
    };
    format!("All of it:\n\n{informal}{module}\n{sections}")
}

fn all() -> String {
    whole(INFORMAL, &fenced(MODULE), &good_sections())
}

/// A first pass that is drafted with this answer and approved.
fn drafted(answer: &str) -> Script {
    let review = review("approved");
    Script::default()
        .answer("informal_spec", 0, 1, "whole", answer)
        .answer("review", 0, 1, "draft", &review)
        .having_read_all()
}

/// What was asked, as `node purpose`.
fn asked(ran: &Ran) -> Vec<String> {
    let key = |e: &&Value| format!("{} {}", text(&e["data"]["key"]["node"]), text(&e["data"]["key"]["purpose"]));
    ran.events("request_sent").iter().map(key).collect()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or("?")
}

/// The finished attempts, as `lifeline: artifacts`.
fn products(journal: &[Value]) -> Vec<String> {
    let finished = journal.iter().filter(|e| name(e) == "attempt_finished");
    finished
        .map(|e| {
            let names: Vec<&String> =
                e["data"]["artifacts"].as_object().unwrap().keys().filter(|n| *n != "single_call.answer").collect();
            format!("{}: {names:?}", text(&e["lifeline"]))
        })
        .collect()
}

#[test]
fn one_answer_replaces_three_and_every_node_has_its_product() {
    let nodes = ran(&good(), &[], 0).ended("approved");
    let whole = ran(&drafted(&all()), &WHOLE, 0).ended("approved");
    assert_eq!(asked(&nodes).len(), 4);
    assert_eq!(asked(&whole), ["informal_spec whole", "review draft"]);
    assert_eq!(products(&whole.journal), products(&nodes.journal));
    for file in ["informal_spec.md", "Spec.tla", "Spec.cfg", "review.md"] {
        let path = format!("specs/{file}");
        assert_eq!(whole.bench.read(&path), nodes.bench.read(&path), "{file}");
    }
    assert_eq!(crate::support::routes(&whole.journal), crate::support::routes(&nodes.journal));
    // Each part says which answer it is of.
    let answer = &whole.events("answer_received")[0]["data"]["artifact"];
    let taken: Vec<&Value> = whole.events("part_taken");
    assert_eq!(taken.iter().map(|e| text(&e["lifeline"])).collect::<Vec<_>>(), ["formalize", "generate_invariants"]);
    assert!(taken.iter().all(|e| e["data"]["whole_answer"] == *answer));
    assert_eq!(whole.meta(0)["spent"]["answers"], 2);
    assert_eq!(whole.journal[0]["data"]["draft"], "single_call");
    assert_eq!(nodes.journal[0]["data"]["draft"], "nodes");
}

#[test]
fn the_request_has_the_rules_and_files_of_all_three_nodes() {
    let ran = ran(&drafted(&all()), &WHOLE, 0);
    let sent = &ran.events("request_sent")[0]["data"];
    let prompt = ran.bench.read(&format!("specs/artifacts/{}", text(&sent["prompt"])));
    for node in ["informal_spec", "formalize", "generate_invariants"] {
        let role =
            std::fs::read_to_string(crate::support::project().join(format!("prompts/{node}/role.md.hbs"))).unwrap();
        assert!(prompt.contains(role.trim()), "{node}:\n{prompt}");
    }
    for fence in ["````markdown informal_spec", "```tla module", "```tla invariants", "```tla witnesses", "```cfg"] {
        assert_eq!(prompt.matches(&format!("\n{fence}\n")).count(), 1, "{fence}:\n{prompt}");
    }
    assert!(prompt.contains("R1 [docs/file.md:12-14]") && prompt.contains("`Escrow.tla`"), "{prompt}");
    let offered: Vec<&str> = sent["offered"].as_array().unwrap().iter().map(|o| text(&o["path"])).collect();
    assert!(offered.contains(&"docs/counter.md") && offered.contains(&"exemplars/Escrow.tla"), "{offered:?}");
    let is_input =
        |path: &&str| path.starts_with("docs/") || path.starts_with("exemplars/") || **path == *"normative.md";
    assert!(offered.iter().all(is_input), "{offered:?}");
}

#[test]
fn a_missing_part_is_drafted_by_its_own_node() {
    let script =
        drafted(&whole(INFORMAL, &fenced(MODULE), "")).answer("generate_invariants", 0, 1, "draft", &good_sections());
    let done = ran(&script, &WHOLE, 0).ended("approved");
    assert_eq!(asked(&done), ["informal_spec whole", "generate_invariants draft", "review draft"]);
    assert!(text(&done.events("part_missing")[0]["data"]["why"]).contains("no section of properties"));
    // Properties for a module that is not there are not taken for another.
    let script = drafted(&whole(INFORMAL, "", &good_sections()))
        .answer("formalize", 0, 1, "draft", &fenced(MODULE))
        .answer("generate_invariants", 0, 1, "draft", &good_sections());
    let done = ran(&script, &WHOLE, 0).ended("approved");
    assert_eq!(asked(&done), ["informal_spec whole", "formalize draft", "generate_invariants draft", "review draft"]);
    assert_eq!(done.events("part_missing").len(), 2);
}

#[test]
fn an_unreadable_part_is_repaired_by_its_own_node() {
    let cut = fenced(MODULE).replace("====\n", "");
    let script = drafted(&whole(INFORMAL, &cut, &good_sections()))
        .answer("formalize", 0, 2, "repair", &fenced(MODULE))
        .answer("generate_invariants", 0, 1, "draft", &good_sections());
    let done = ran(&script, &WHOLE, 0).ended("approved").because("formalize", "breaks off");
    assert_eq!(asked(&done), ["informal_spec whole", "formalize repair", "generate_invariants draft", "review draft"]);
    // What it is shown is its own part, and nothing of the others.
    let offered = done.events("request_sent")[1]["data"]["offered"].as_array().unwrap().clone();
    let previous = offered.iter().find(|o| o["path"] == "previous.md").unwrap();
    let previous = done.bench.read(&format!("specs/artifacts/{}", text(&previous["sha"])));
    assert!(previous.contains("MODULE Spec") && !previous.contains("TypeOK") && !previous.contains("R1"), "{previous}");

    let half = good_sections().replace("```cfg", "```text");
    let script = drafted(&whole(INFORMAL, &fenced(MODULE), &half)).answer(
        "generate_invariants",
        0,
        2,
        "draft",
        &good_sections(),
    );
    let script = script.answer("generate_invariants", 0, 2, "repair", &good_sections());
    let done = ran(&script, &WHOLE, 0).ended("approved").because("generate_invariants", "missing or empty: cfg");
    assert_eq!(asked(&done), ["informal_spec whole", "generate_invariants repair", "review draft"]);
}

/// Every mistake that is asked for once more and does not concern the model.
#[test]
fn a_correction_of_one_part_keeps_the_others() {
    let points = "## Open points\nO1 [docs/counter.md:3] Which worker? Taken: any. Otherwise: one. Affects: R1.\n";
    let assumed = "## Assumptions\nA1 [docs/counter.md:2] (bound) Max is 2.\n";
    let good = format!("{INFORMAL}{points}{assumed}");
    let accepting = serde_json::json!({
        "verdict": "approved", "summary": "s", "issues": [], "accepted_open_points": ["O1"], "accepted_assumptions": ["A1"],
    });
    for (wrong, right) in [
        ("R1 [docs/counter.md:141]", "R1 [docs/counter.md:4]"),
        ("O1 [docs/other.md:3]", "O1 [docs/counter.md:3]"),
        (" Otherwise: or else.", " Otherwise: one."),
        ("A1 [docs/counter.md:2] Max", "A1 [docs/counter.md:2] (bound) Max"),
    ] {
        let wrong = match wrong {
            " Otherwise: or else." => good.replace(right, ""),
            wrong => good.replace(right, wrong),
        };
        assert_ne!(wrong, good);
        let script = drafted(&whole(&wrong, &fenced(MODULE), &good_sections()))
            .answer("informal_spec", 0, 2, "repair", &good)
            .answer("review", 0, 1, "draft", &accepting.to_string())
            .having_read_all();
        let done = ran(&script, &WHOLE, 0).ended("approved");
        assert_eq!(asked(&done), ["informal_spec whole", "informal_spec repair", "review draft"], "{wrong}");
    }
    // Another requirement is another model.
    let more = format!("{INFORMAL}R2 [docs/counter.md:2] It starts at zero.\n");
    let script = drafted(&whole(&INFORMAL.replace(":4]", ":141]"), &fenced(MODULE), &good_sections()))
        .answer("informal_spec", 0, 2, "repair", &more)
        .answer("formalize", 0, 1, "draft", &fenced(MODULE))
        .answer("generate_invariants", 0, 1, "draft", &good_sections().replace("covers R1", "covers R1 R2"));
    let done = ran(&script, &WHOLE, 0).ended("approved");
    assert_eq!(done.events("part_missing").len(), 2);
}

#[test]
fn an_unreadable_informal_specification_invalidates_the_other_parts() {
    for broken in ["# The counter\nNo number.\n", ""] {
        let script = drafted(&whole(broken, &fenced(MODULE), &good_sections()))
            .answer("informal_spec", 0, 2, "repair", INFORMAL)
            .answer("formalize", 0, 1, "draft", &fenced(MODULE))
            .answer("generate_invariants", 0, 1, "draft", &good_sections());
        let done = ran(&script, &WHOLE, 0)
            .ended("approved")
            .went(&["informal_spec->informal_spec", "informal_spec->formalize"]);
        assert_eq!(asked(&done).len(), 5);
        assert!(done.events("part_taken").is_empty() && done.events("answer_received").len() == 5);
    }
}

#[test]
fn a_part_that_the_tools_reject_is_repaired_by_its_node() {
    let broken = MODULE.replace("n := n + 1;", "n := n + ;");
    let script = drafted(&whole(INFORMAL, &fenced(&broken), &good_sections())).answer(
        "formalize",
        0,
        2,
        "repair",
        &fenced(MODULE),
    );
    let done = ran(&script, &WHOLE, 0).ended("approved").went(&["validate->formalize", "formalize->validate"]);
    assert_eq!(asked(&done), ["informal_spec whole", "formalize repair", "review draft"]);
}

#[test]
fn guards_are_unchanged_and_later_passes_go_node_by_node() {
    // Nothing covers R1: the guard refuses, whatever the review says.
    let uncovered = good_sections().replace("\\* covers R1\n", "");
    let script = drafted(&whole(INFORMAL, &fenced(MODULE), &uncovered));
    ran(&script, &WHOLE, NO_ANSWER).went(&["review->generate_invariants"]);

    let script =
        drafted(&all()).answer("review", 0, 1, "draft", &issue("major", "missing_behavior", "a step is missing"));
    let done = ran(&script, &WHOLE, NO_ANSWER).went(&["review->informal_spec"]);
    assert_eq!(asked(&done).last().unwrap(), "informal_spec repair");
}

#[test]
fn a_branch_drafts_node_by_node() {
    let done = ran(&drafted(&all()), &WHOLE, 0);
    let bench = &done.bench;
    bench
        .run(&["resume", "specs", "--from", "rev_0", "--at", "informal_spec", "--draft", "single_call"])
        .expect(NO_ANSWER);
    let journal = bench.journal("specs");
    let last = journal.iter().rfind(|e| name(e) == "request_sent").unwrap();
    assert_eq!(last["data"]["purpose"], "repair");
    bench.run(&["resume", "specs", "--from", "rev_0", "--at", "formalize"]).expect(NO_ANSWER);
    let journal = bench.journal("specs");
    let last = journal.iter().rfind(|e| name(e) == "request_sent").unwrap();
    assert_eq!((text(&last["lifeline"]), text(&last["data"]["purpose"])), ("formalize", "repair"));
}

#[test]
fn the_settings_file_has_the_key_and_the_flag_overrides_it() {
    let bench = bench();
    bench.write("tlaforge.toml", "draft = \"single_call\"\n");
    let args = ["run", "docs", "--recording", "script.jsonl"];
    bench.write("script.jsonl", good().text());
    bench.run(&[&args[..], &["--draft", "nodes", "--out", "one"]].concat());
    assert_eq!(bench.journal("one")[0]["data"]["draft"], "nodes");
    bench.write("script.jsonl", drafted(&all()).text());
    bench.run(&[&args[..], &["--out", "two"]].concat());
    assert_eq!(bench.journal("two")[0]["data"]["draft"], "single_call");
    bench.write("tlaforge.toml", "draft = \"halves\"\n");
    bench.run(&[&args[..], &["--out", "three"]].concat()).expect(2).says(&[
        "tlaforge.toml:1:9",
        "nodes",
        "single_call",
    ]);
    bench.write("tlaforge.toml", "");
    bench.run(&[&args[..], &["--out", "four", "--draft", "halves"]].concat()).expect(2).says(&["nodes", "single_call"]);
}

/// Runs until it is killed at that point of the journal.
fn kill(bench: &Bench, args: &[&str], at: &str) {
    let done = bench.run_with(args, &[("TLAFORGE_CRASH", at)]);
    assert_eq!(done.status, None, "{at} was not killed:\n{}\n{}", done.stdout, done.stderr);
}

fn of<'a>(journal: &'a [Value], wanted: &str) -> Vec<&'a Value> {
    journal.iter().filter(|e| name(e) == wanted).collect()
}

/// A recording of a run of this script, and the journal of replaying it undisturbed.
fn replayed(script: &Script) -> (String, Vec<Value>) {
    let first = bench();
    first.forge(script, &["--draft", "single_call", "--record", "recorded.jsonl"]).expect(0);
    let recorded = first.read("recorded.jsonl");
    let again = bench();
    again.write("recorded.jsonl", &recorded);
    again.run(&RUN).expect(0);
    (recorded, again.journal("specs"))
}

const RUN: [&str; 6] = ["run", "docs", "--recording", "recorded.jsonl", "--draft", "single_call"];

#[test]
fn a_run_killed_at_any_event_resumes_to_the_same_result_without_new_requests() {
    let missing = drafted(&whole(INFORMAL, "", &good_sections()))
        .answer("formalize", 0, 1, "draft", &fenced(MODULE))
        .answer("generate_invariants", 0, 1, "draft", &good_sections());
    for (script, points) in [(drafted(&all()), &["before", "torn", "after"][..]), (missing, &["after"])] {
        let (recorded, reference) = replayed(&script);
        let answers = of(&reference, "answer_received").len();
        assert_eq!(answers, recorded.lines().count());
        let campaign = std::env::var_os("TLAFORGE_CAMPAIGN").is_some();
        for seq in 1..=reference.len() {
            let turn = seq % points.len();
            for point in if campaign { points } else { &points[turn..=turn] } {
                let at = format!("{point}:{seq}");
                let bench = bench();
                bench.write("recorded.jsonl", &recorded);
                kill(&bench, &RUN, &at);
                if seq == 1 && *point != "after" {
                    bench.run(&RUN).expect(0);
                } else {
                    // How it was drafted is kept, and what was received counts whatever the flag says.
                    let journal = bench.read("specs/journal.jsonl");
                    let (whole_lines, _torn) = journal.rsplit_once('\n').unwrap();
                    let received = whole_lines.contains("\"answer_received\"");
                    let flag: &[&str] = if received { &["--draft", "nodes"] } else { &[] };
                    bench.run(&[&["resume", "specs"], flag].concat()).expect(0);
                }
                let journal = bench.journal("specs");
                for wanted in ["answer_received", "part_taken", "part_missing", "check_finished", "attempt_finished"] {
                    assert_eq!(of(&journal, wanted).len(), of(&reference, wanted).len(), "{wanted} after {at}");
                }
                assert_eq!(of(&journal, "request_sent").len(), answers, "{at}");
                assert_eq!(products(&journal), products(&reference), "{at}");
                assert_eq!(crate::support::outcome(&journal), "approved", "{at}");
            }
        }
    }
}

#[test]
fn a_draft_of_single_nodes_is_not_requested_again_as_a_single_call() {
    let bench = bench();
    let script = good();
    bench.forge(&script, &["--record", "recorded.jsonl"]).expect(0);
    let journal = bench.journal("specs");
    let received = of(&journal, "answer_received")[0]["seq"].as_u64().unwrap();
    std::fs::remove_dir_all(bench.path("specs")).unwrap();
    kill(&bench, &["run", "docs", "--recording", "recorded.jsonl"], &format!("after:{received}"));
    bench.run(&["resume", "specs", "--draft", "single_call"]).expect(0);
    let journal = bench.journal("specs");
    assert_eq!(of(&journal, "request_sent").len(), 4);
    assert_eq!(of(&journal, "run_resumed")[0]["data"]["draft"], "single_call", "journaled");
}

#[test]
fn a_run_from_before_the_setting_existed_continues_node_by_node() {
    let bench = bench();
    bench.write("recorded.jsonl", good().text());
    kill(&bench, &["run", "docs", "--recording", "recorded.jsonl"], "after:2");
    let journal = bench.read("specs/journal.jsonl");
    let (first, rest) = journal.split_once('\n').unwrap();
    let mut first: Value = serde_json::from_str(first).unwrap();
    first["data"].as_object_mut().unwrap().remove("draft").unwrap();
    first["data"]["prompts"].as_object_mut().unwrap().retain(|name, _| !name.starts_with("single_call/"));
    bench.write("specs/journal.jsonl", format!("{first}\n{rest}"));
    let done = bench.run(&["resume", "specs"]);
    assert!(!done.stderr.contains("prompts have changed"), "{}", done.stderr);
    assert_eq!(of(&bench.journal("specs"), "request_sent")[0]["data"]["purpose"], "draft");
}

/// The title of the first request of a run with this document and these arguments, which choose nothing about the draft.
fn first_request(document: &str, args: &[&str]) -> String {
    let bench = bench();
    bench.write("docs/counter.md", document);
    let folder = bench.path("specs/handoff");
    let mut child = std::process::Command::new(PROGRAM)
        .args(["run", "docs", "--provider", "handoff", "--out", "specs"])
        .args(args)
        .current_dir(bench.path(""))
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let mut request = String::new();
    wait_until("the first request", || {
        let mut found = std::fs::read_dir(&folder).into_iter().flatten().map(|entry| entry.unwrap().path());
        let text = found.find_map(|path| std::fs::read_to_string(path.join("request.md")).ok());
        request = text.unwrap_or_default();
        !request.is_empty()
    });
    child.kill().unwrap();
    child.wait().unwrap();
    request.lines().next().unwrap_or_default().to_owned()
}

#[test]
fn small_documents_are_drafted_in_a_single_call_by_default() {
    let large = format!("{DOC}{}", "A line that says nothing of the protocol.\n".repeat(800));
    for (document, args, wanted) in [
        (DOC, &[][..], "whole"),
        (DOC, &["--draft", "nodes"], "draft"),
        (DOC, &["--candidates", "2"], "draft"),
        (&large, &[], "draft"),
        (&large, &["--draft", "single_call"], "whole"),
    ] {
        let title = first_request(document, args);
        assert!(title.contains(&format!(": {wanted} of informal_spec")), "{} bytes, {args:?}: {title}", document.len());
    }
    // A replay follows its recording.
    ran(&drafted(&all()), &[], 0).ended("approved");
    ran(&good(), &[], 0).ended("approved");
}
