//! The message sequence chart of a run, as text and for Mermaid.

use std::collections::BTreeSet;

use crate::support::counter::{CFG, INVARIANTS, MODULE, WITNESSES, bench_with_java, fenced, good, sections};
use crate::support::{Bench, Script};
use serde_json::{Value, json};

/// The chart as text, and for Mermaid, with what must hold of every one.
fn charts(bench: &Bench, run: &str) -> (String, String) {
    let text = bench.run(&["report", run, "--chart", "text"]).expect(0).stdout;
    for line in text.lines() {
        assert!(line.chars().count() <= 100, "{line}");
    }
    let mermaid = bench.run(&["report", run, "--chart", "mermaid"]).expect(0).stdout;
    sound(&mermaid);
    (text, mermaid)
}

/// Every participant is declared before it is used, and texts hold nothing that means something to Mermaid.
fn sound(mermaid: &str) {
    let mut lines = mermaid.lines();
    assert_eq!(lines.next(), Some("sequenceDiagram"));
    let mut declared = BTreeSet::new();
    for line in lines {
        let (head, text) = if let Some(rest) = line.trim().strip_prefix("participant ") {
            let (name, alias) = rest.split_once(" as ").unwrap();
            assert!(declared.insert(name.to_owned()), "{line}");
            (String::new(), alias)
        } else {
            let (head, text) = line.trim().split_once(": ").unwrap_or_else(|| panic!("{line}"));
            (head.to_owned(), text)
        };
        let names = head.strip_prefix("Note over ").unwrap_or(&head).replace("-->>", ",").replace("->>", ",");
        for name in names.replace("--x", ",").split(',').filter(|name| !name.is_empty()) {
            assert!(declared.contains(name), "{name} in {line}");
        }
        let mut rest = text.replace("<br/>", " ");
        while let Some((before, entity)) = rest.split_once('#') {
            let (number, after) = entity.split_once(';').unwrap_or_else(|| panic!("{line}"));
            assert!(number.parse::<u32>().is_ok(), "{line}");
            rest = format!("{before}{after}");
        }
        assert!(!rest.contains([';', '#', '"', '<', '>', '{', '}', ':', '%', '`', '$', '\\']), "{line}");
        assert!(line.len() < 1_000, "{line}");
    }
}

fn forged(script: &Script, more: &[&str], status: i32) -> Bench {
    let bench = bench_with_java();
    bench.forge(script, more).expect(status);
    bench
}

fn holds(text: &str, all: &[&str]) {
    for words in all {
        assert!(text.contains(words), "{words:?} is missing in\n{text}");
    }
}

#[test]
fn the_chart_has_messages_tools_and_guards() {
    let bench = forged(&good(), &[], 0);
    let (text, mermaid) = charts(&bench, "specs");
    holds(
        &text,
        &[
            "informal_answered",
            "draft: asks replay",
            "replay answers",
            "translate and parse: accepted",
            "distinct states: holds: ",
            "approval guard: every clause holds",
            "\u{2500}\u{2500}\u{2500} rev_0 ends: approved \u{2500}",
            "ends: approved",
        ],
    );
    assert!(!text.contains('\u{2225}'), "one thing after another\n{text}");
    holds(&mermaid, &["participant L0 as run\n", " as model\n", "Note over L0,L7: ", "L0->>L1: 2 begins\n"]);
    // The plain report stays.
    assert!(
        bench.run(&["report", "specs"]).expect(0).stdout.starts_with("Outcome: approved (confirmed by SANY and TLC)\n")
    );
    bench.run(&["report", "specs", "--chart", "svg"]).expect(2);
    bench.run(&["report", "specs", "--chart", "text", "--format", "json"]).expect(2);
}

#[test]
fn a_refused_approval_names_the_clause_that_failed() {
    let cfg = CFG.replace("INVARIANTS TypeOK NeverAbove", "INVARIANT NeverAbove");
    let script = good().answer("generate_invariants", 0, 1, "draft", &sections(INVARIANTS, "", WITNESSES, &cfg));
    let (text, mermaid) = charts(&forged(&script, &["--max-revisions", "0"], 1), "specs");
    holds(&text, &["approval guard: type_ok_checked fails: TypeOK was", "ends: not_approved"]);
    holds(&mermaid, &["approval guard#58; type_ok"]);
}

#[test]
fn a_rejected_module_goes_back_with_the_diagnostics() {
    let broken = fenced(&MODULE.replace("end while;", "end whle;"));
    let script =
        good().answer("formalize", 0, 1, "draft", &broken).answer("formalize", 0, 2, "repair", &fenced(MODULE));
    let bench = forged(&script, &[], 0);
    let (text, _) = charts(&bench, "specs");
    holds(&text, &["translate and parse: rejected, line ", "validate_retry", "(attempt 2)", "repair: asks replay"]);
}

#[test]
fn a_second_reading_is_a_lifeline_of_its_own() {
    let flaw = json!({"requirement": "R1", "property": "GetsFull",
        "steps": [{"step": 1, "file": "docs/counter.md", "line": 2, "why": "so it begins"}],
        "unfair": {"file": "docs/counter.md", "line": 3, "why": "nobody must add"}});
    let claim = json!({"verdict": "flaw", "summary": "s", "issues": [], "flaw": flaw});
    let cfg = "SPECIFICATION Spec\nCONSTANT Max = 1\nINVARIANT TypeOK\nPROPERTY GetsFull\n\\* WITNESS WitnessFull\n";
    let properties = sections("TypeOK == n \\in 0..10\n", "\\* covers R1\nGetsFull == <>(n = Max)\n", WITNESSES, cfg);
    let script = good()
        .answer("generate_invariants", 0, 1, "draft", &properties)
        .answer("review", 0, 1, "draft", &claim.to_string())
        .having_read_all()
        .answer("review", 0, 1, "second_reading", "{\"agrees\": true, \"why\": \"so; it \\\"is\\\" #1 <b>\"}");
    let (text, mermaid) = charts(&forged(&script, &["--max-revisions", "0"], 1), "specs");
    holds(
        &text,
        &["second_reading", "second_reading: asks replay", "flaw guard: every clause holds", "ends: flaw_found"],
    );
    holds(&mermaid, &[" as second_reading\n"]);
}

/// The journal, changed by hand.
fn rewritten(bench: &Bench, change: impl FnOnce(&mut Vec<Value>)) {
    let mut journal = bench.journal("specs");
    change(&mut journal);
    let text: String = journal
        .iter_mut()
        .zip(1..)
        .map(|(event, seq)| {
            event["seq"] = json!(seq);
            event.to_string() + "\n"
        })
        .collect();
    bench.write("changed/journal.jsonl", text);
}

#[test]
fn events_without_causal_order_are_marked_and_a_wrong_clock_is_an_error() {
    let bench = forged(&good(), &[], 0);
    // The validation did not hear of the last three events of the formalization.
    rewritten(&bench, |journal| {
        for event in journal.iter_mut().filter(|event| event["lifeline"] == "validate") {
            event["vc"]["formalize"] = json!(2);
        }
    });
    let (text, mermaid) = charts(&bench, "changed");
    let routed = bench.journal("specs").iter().position(|e| e["name"] == "routed" && e["lifeline"] == "formalize");
    let routed = routed.unwrap() + 1;
    let beside = format!("\u{2225} {}-{routed}: begins", routed - 2);
    holds(&text, &[&beside, "\u{2225} before numbers: concurrent events"]);
    holds(&text, &["to validate, which has not received it:"]);
    holds(&mermaid, &["#8741; "]);
    for (count, words) in
        [(json!("x"), "line 9, is damaged"), (json!(99), "event 9 of the journal"), (Value::Null, "line 9, is damaged")]
    {
        rewritten(&bench, |journal| journal[8]["vc"]["informal_spec"] = count);
        for how in ["text", "mermaid"] {
            bench.run(&["report", "changed", "--chart", how]).expect(2).says(&[words]);
        }
    }
}

#[test]
fn mermaid_can_parse_the_chart_of_any_journal() {
    let bench = forged(&good(), &[], 0);
    let nasty = "a;b #quot; \"c\" <script>\r\n%% end: {x} `d` $$e$$ \\n style x:y#1; \u{fb02}\u{b0}\u{b0}1\u{b6}\u{df}";
    for nasty in [nasty.to_owned(), nasty.repeat(50), "\u{4e16}".repeat(500), String::new()] {
        rewritten(&bench, |journal| {
            for event in journal.iter_mut().filter(|event| event["name"] == "routed") {
                event["data"]["why"] = json!(nasty);
                event["data"]["from"] = json!(nasty);
            }
        });
        charts(&bench, "changed");
    }
}

#[test]
fn a_folder_without_a_run_or_with_a_damaged_one_has_no_chart() {
    let bench = Bench::without_tools();
    std::fs::create_dir(bench.path("empty")).unwrap();
    for how in ["text", "mermaid"] {
        bench.run(&["report", "empty", "--chart", how]).expect(2).says(&["empty"]);
        bench.write("damaged/journal.jsonl", "{\"v\":1\n");
        bench.run(&["report", "damaged", "--chart", how]).expect(2).says(&["line 1, is damaged"]);
    }
}
