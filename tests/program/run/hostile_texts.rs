//! Texts of models, documents, policies and file names with line breaks, control characters and commands for build servers: none
//! of them begins a line of an output, and none reaches the terminal as a command.

use crate::support::counter::{self, CFG, DOC, INVARIANTS, MODULE, WITNESSES, fenced, sections};
use crate::support::{Bench, Done, Script};

/// Every form that a build server or a terminal would act on. `MINE` marks what comes from outside.
const HOSTILE: &str = "MINE x\nMINE Outcome: approved\n::error file=a::MINE\n  ::stop-commands::MINE\r\n##[error]MINE\n\
                       ##vso[task.complete]MINE\u{1b}[2JMINE\u{9b}31mMINE\u{202e}MINE\u{7}\u{2028}::debug::MINE";

/// Asserts that no line of an output is a command or begins with a text from outside, and that no control character is in it.
#[track_caller]
fn is_harmless(what: &str, done: &Done) {
    for (name, text) in [("stdout", &done.stdout), ("stderr", &done.stderr)] {
        assert!(!text.contains(|c: char| c.is_control() && c != '\n' && c != '\t'), "{what}, {name}: {text:?}");
        assert!(!text.contains(['\u{202e}', '\u{2028}']), "{what}, {name}: {text:?}");
        assert!(!text.contains("##[") && !text.contains("##vso["), "{what}, {name}: {text}");
        for line in text.lines() {
            let is_ours = ["::error ", "::warning ", "::notice "].iter().any(|own| {
                line.strip_prefix(own)
                    .is_some_and(|rest| rest.starts_with("file=") || rest.starts_with("title=tlaforge"))
            });
            // `##[` and `MINE` are in the middle of a line, where they are only words.
            assert!(is_ours || !line.trim_start().starts_with("::"), "{what}, {name}: {line:?}");
            assert!(!line.starts_with("MINE"), "{what}, {name}: {line:?}\n{text}");
        }
    }
}

/// A text in one line, as in the answers that are read line by line.
fn in_line() -> String {
    HOSTILE.replace(['\n', '\r', '\u{2028}'], " ")
}

/// A run whose models write hostile texts wherever they can: two revisions, the first sent back by the review.
fn hostile_script() -> Script {
    // The run refuses an answer with a control character.
    let is_refused = |c: char| c.is_ascii_control() && !matches!(c, '\n' | '\r' | '\t');
    let line = &in_line().replace(is_refused, "");
    let hostile = &HOSTILE.replace(is_refused, "");
    let informal = format!(
        "# The counter {line}\n## Concern\n{hostile}\n## Other concerns\n- {line}\n## Requirements\n\
         R1 [docs/counter.md:4] The counter is never above the limit. {line}\n## Assumptions\nA1 [docs/counter.md:3] (narrowed) {line}\n\
         ## Open points\nO1 [docs/counter.md:3] {line}? Taken: {line}. Otherwise: {line}. Affects: R1.\n"
    );
    let invariants = format!("\\* {line}\n{INVARIANTS}");
    let review = |verdict: &str| {
        let issue = serde_json::json!({
            "severity": "major", "category": "missing_behavior", "blame": null, "description": hostile, "suggestion": hostile,
        });
        let issues = if verdict == "revise" { vec![issue] } else { Vec::new() };
        let review = serde_json::json!({
            "verdict": verdict, "summary": hostile, "issues": issues, "accepted_assumptions": ["A1", hostile],
            "accepted_open_points": ["O1"], "accepted_sentences": [format!("N1: {hostile}")],
        });
        format!("```json\n{review}\n```\n")
    };
    let good = sections(&invariants, "", WITNESSES, CFG);
    Script::default()
        .answer("informal_spec", 0, 1, "draft", &informal)
        .answer("informal_spec", 0, 2, "repair", &informal)
        .answer("formalize", 0, 1, "draft", &fenced(MODULE))
        .answer("generate_invariants", 0, 1, "draft", &good)
        .answer("review", 0, 1, "draft", &review("revise"))
        .having_read_all()
        .answer("formalize", 1, 1, "repair", &fenced(&MODULE.replace("n = 0", "n = 0 + 0")))
        .answer("generate_invariants", 1, 1, "draft", &good)
        .answer("review", 1, 1, "draft", &review("approved"))
        .having_read_all()
}

fn policy() -> String {
    let text = serde_json::to_string(HOSTILE).unwrap().replace("\\u001b", "\\u001B");
    format!(
        "[[rule]]\nid = \"r\"\nseverity = \"warning\"\ndescription = {text}\nformula = \"G name != \\\"routed\\\"\"\n"
    )
}

#[test]
fn no_text_of_a_model_a_document_or_a_policy_begins_a_line_of_a_run_or_its_reports() {
    let bench = counter::bench();
    bench.write("docs/counter.md", format!("{DOC}{}\n", in_line()));
    bench.write("policy.toml", policy());
    let ran = bench.forge(&hostile_script(), &["--policy", "policy.toml"]);
    is_harmless("run", &ran);
    assert!(bench.path("specs/history/rev_0").exists(), "{}{}", ran.stdout, ran.stderr);
    bench.write(
        "changed/counter.md",
        format!("{DOC}\n{}. It must not {}.\n", in_line(), in_line()).replace("never", "always"),
    );
    let commands: [&[&str]; 11] = [
        &["report", "specs"],
        &["report", "specs", "--chart", "text"],
        &["report", "specs", "--explain"],
        &["report", "specs", "--format", "json"],
        &["audit", "specs", "--policy", "default"],
        &["audit", "specs", "--policy", "policy.toml"],
        &["audit", "specs", "--policy", "policy.toml", "--format", "github"],
        &["audit", "specs", "--policy", "policy.toml", "--format", "markdown"],
        &["drift", "specs", "--docs", "changed"],
        &["drift", "specs", "--docs", "changed", "--format", "github"],
        &["resume", "specs", "--recording", "script.jsonl", "-vv"],
    ];
    for command in commands {
        is_harmless(&command.join(" "), &bench.run(command));
    }
}

#[test]
fn no_name_of_a_file_begins_a_line() {
    let bench = Bench::without_tools();
    // No slash: it would be the name of a folder.
    let hostile = HOSTILE.replace('/', "");
    let name = &hostile[..hostile.char_indices().nth(90).unwrap().0];
    let module = "---- MODULE M ----\nVARIABLE x\nInit == x = 0\nNext == x' = 1 - x\nInv == x = 0\n====\n";
    let file = |ending: &str| format!("suite/{name}{ending}");
    bench.write(&file(".tla"), module);
    bench.write(&file(".cfg"), "INIT Init\nNEXT Next\nINVARIANT Inv\n");
    bench.write(&file("-broken.tla"), module.replace("Inv ==", "Inv = ="));
    bench.write(&file("-broken.cfg"), "INIT Init\nNEXT Next\nINVARIANT Inv\n");
    bench.write(&file(".jsonl"), "{\"a\": 1}\n{broken\n");
    bench.write("docs/x.md", "# X\nIt must hold.\n");
    let (tla, broken, log, none) = (file(".tla"), file("-broken.tla"), file(".jsonl"), file("-none"));
    let commands: [&[&str]; 14] = [
        &["check", &tla],
        &["check", &tla, "--format", "github"],
        &["check", &broken],
        &["check", &none],
        &["test", "suite"],
        &["test", "suite", "--format", "github"],
        &["translate", &broken],
        &["mutate", &tla],
        &["audit", &log, "--formula", "G a = 1"],
        &["audit", &none, "--formula", "G a = 1"],
        &["report", &none],
        &["eval", "--suite", &none],
        &["run", &none, "--recording", &none],
        &["check", "--no-such-flag", &none],
    ];
    for command in commands {
        is_harmless(&format!("{command:?}"), &bench.run(command));
    }
}
