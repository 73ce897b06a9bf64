//! The prompt and files of each node: complete, and true at that point of the run.
#![allow(clippy::unwrap_used, reason = "a test fails where its own preparation does")]

use std::collections::BTreeMap;

use crate::support::counter::{
    CFG, DOC, INFORMAL, INVARIANTS, MODULE, WITNESSES, bench, fenced, good, good_sections, issue, sections,
};
use crate::support::{Bench, Script, name};
use serde_json::{Value, json};

/// The recording ends at the request that the test looks at.
const NO_ANSWER: i32 = 5;

/// A request as it was sent.
struct Asked {
    /// Role and prompt.
    prompt: String,
    /// The files that it points to, with their content.
    files: BTreeMap<String, String>,
}

/// The request of a run with this key.
#[track_caller]
fn asked(bench: &Bench, node: &str, place: u32, attempt: u32, purpose: &str) -> Asked {
    let key = json!({"node": node, "place": place, "attempt": attempt, "purpose": purpose, "candidate": 0});
    let journal = bench.journal("specs");
    let sent: Vec<&Value> = journal.iter().filter(|e| name(e) == "request_sent").map(|e| &e["data"]).collect();
    let keys: Vec<String> = sent.iter().map(|data| data["key"].to_string()).collect();
    let data = sent.iter().find(|data| data["key"] == key).unwrap_or_else(|| panic!("{key} not in {keys:#?}"));
    Asked {
        prompt: bench.read(&format!("specs/artifacts/{}", data["prompt"].as_str().unwrap())),
        files: data["offered"]
            .as_array()
            .unwrap()
            .iter()
            .map(|o| (o["path"].as_str().unwrap(), o["sha"].as_str().unwrap()))
            .map(|(path, sha)| (path.to_owned(), bench.read(&format!("specs/artifacts/{sha}"))))
            .collect(),
    }
}

impl Asked {
    #[track_caller]
    fn says(&self, words: &str) -> &Self {
        assert!(self.prompt.contains(words), "{words:?} is missing in\n{}", self.prompt);
        self
    }

    #[track_caller]
    fn never_says(&self, words: &str) -> &Self {
        assert!(!self.prompt.contains(words), "{words:?} stands in\n{}", self.prompt);
        self
    }

    #[track_caller]
    fn offers(&self, path: &str) -> &Self {
        assert!(self.files.contains_key(path), "{path} not in {:?}", self.files.keys());
        self
    }
}

const FLAWED_DOC: &str = "# The counter\nIt starts at zero.\nWhile it is not above the limit, a worker adds one.\nIt is never above the limit.\n";

const AGREES: &str = "{\"agrees\": true, \"why\": \"line 3 grants the last step\"}";

fn flaw() -> String {
    let steps: Vec<Value> = [(1, 2), (2, 3), (3, 3)]
        .iter()
        .map(|(step, line)| json!({"step": step, "file": "docs/counter.md", "line": line, "why": "it says so"}))
        .collect();
    json!({"verdict": "flaw", "summary": "it overshoots", "issues": [],
           "flaw": {"requirement": "R1", "property": "NeverAbove", "steps": steps}})
    .to_string()
}

fn limit_of_one() -> String {
    sections(INVARIANTS, "", WITNESSES, &CFG.replace("Max = 2", "Max = 1"))
}

/// A flaw that the second reader is asked about.
fn flawed() -> Script {
    good()
        .answer("formalize", 0, 1, "draft", &fenced(&MODULE.replace("n < Max", "n <= Max")))
        .answer("generate_invariants", 0, 1, "draft", &limit_of_one())
        .answer("review", 0, 1, "draft", &flaw())
        .having_read_all()
}

/// The same with its protocol mended in this way, and a review that finds a step missing.
fn repaired(informal: &str) -> Bench {
    let script = flawed()
        .answer("review", 0, 1, "second_reading", AGREES)
        .answer("informal_spec", 1, 1, "repair", informal)
        .answer("formalize", 1, 1, "repair", &fenced(MODULE))
        .answer("generate_invariants", 1, 1, "draft", &limit_of_one())
        .answer("review", 1, 1, "draft", &issue("major", "missing_behavior", "a step is missing"));
    let bench = bench();
    bench.write("docs/counter.md", FLAWED_DOC);
    bench.forge(&script, &["--repair"]).expect(NO_ANSWER);
    bench
}

const FOUND: &str = "has a flaw";
const ON_PURPOSE: &str = "replace what the documents say, on purpose";

#[test]
fn an_open_flaw_is_mentioned_and_afterwards_the_change_that_repairs_it() {
    let steps = "## Steps\n- Add: CHANGED: only below the limit; it replaces an Add at the limit.\n  Nothing else.\n\
                 - Stop: at the limit.\n## Requirements";
    let bench = repaired(&INFORMAL.replace("## Requirements", steps));
    asked(&bench, "review", 0, 1, "draft").never_says("CHANGED").never_says("repair");
    asked(&bench, "informal_spec", 1, 1, "repair").says(FOUND).says("Mark every changed step").never_says(ON_PURPOSE);
    let formalize = asked(&bench, "formalize", 1, 1, "repair");
    formalize.says(ON_PURPOSE).never_says(FOUND);
    // That the check found a violation is the flaw itself, and nothing that the module is to mend.
    let feedback = &formalize.files["feedback.md"];
    assert!(feedback.contains("has a new version") && !feedback.contains("violation"), "{feedback}");
    let added = "\n+- Add: CHANGED: only below the limit; it replaces an Add at the limit.\n";
    assert!(feedback.contains("What changed in `informal_spec.md`") && feedback.contains(added), "{feedback}");
    assert!(!feedback.contains("+# ") && feedback.contains("\n ## Requirements\n"), "{feedback}");
    asked(&bench, "review", 1, 1, "draft").says(ON_PURPOSE);
    // The flaw is mended; what is open now is another thing.
    asked(&bench, "informal_spec", 2, 1, "repair").says(ON_PURPOSE).never_says(FOUND);
    assert!(bench.read("specs/workspace/feedback.md").contains("a step is missing"));
}

#[test]
fn a_branch_from_a_flaw_that_is_to_be_repaired_says_so() {
    let bench = bench();
    bench.write("docs/counter.md", FLAWED_DOC);
    bench.forge(&flawed().answer("review", 0, 1, "second_reading", AGREES), &[]).expect(1);
    bench.run(&["resume", "specs", "--from", "rev_0", "--at", "informal_spec", "--repair"]).expect(NO_ANSWER);
    asked(&bench, "informal_spec", 0, 1, "repair").says(FOUND);
    let journal = bench.journal("specs");
    let branch = journal.iter().find(|e| e["name"] == "branch_started").unwrap();
    assert_eq!(branch["data"]["state"]["repaired"], true, "it can at best end as repaired");
}

#[test]
fn after_a_confirmed_flaw_no_approval_is_unqualified() {
    let bench = bench();
    bench.write("docs/counter.md", FLAWED_DOC);
    bench.forge(&flawed().answer("review", 0, 1, "second_reading", AGREES), &[]).expect(1);
    let before = bench.read("specs/journal.jsonl");
    let from = |node: &'static str, more: &[&'static str]| {
        bench.run(&[&["resume", "specs", "--from", "rev_0", "--at", node], more].concat())
    };
    // Without --repair nobody is to mend it; white space is no correction.
    let cfg = "specs/history/rev_0/Spec.cfg";
    let kept = bench.read(cfg);
    bench.write(cfg, format!("{kept}\n"));
    for node in ["informal_spec", "formalize", "generate_invariants", "model_check", "review"] {
        from(node, &[]).expect(2).says(&[
            "rev_0 ended in a confirmed flaw",
            "to repair the protocol, add --repair",
            "history/rev_0",
        ]);
    }
    assert_eq!(bench.read("specs/journal.jsonl"), before, "something was begun");
    bench.write(cfg, &kept);
    // With it, it can at best end as repaired, wherever the branch begins.
    for node in ["informal_spec", "formalize", "generate_invariants", "review"] {
        from(node, &["--repair"]).expect(NO_ANSWER);
        let journal = bench.journal("specs");
        let branch = journal.iter().rfind(|e| e["name"] == "branch_started").unwrap();
        assert_eq!(branch["data"]["state"]["repaired"], true, "{node}");
    }
}

#[test]
fn a_manual_correction_is_no_repair_and_the_reviewer_sees_what_it_corrects() {
    let bench = bench();
    bench.write("docs/counter.md", FLAWED_DOC);
    bench.forge(&flawed().answer("review", 0, 1, "second_reading", AGREES), &[]).expect(1);
    let spec = "specs/history/rev_0/Spec.tla";
    bench.write(spec, bench.read(spec).replace("n <= Max do", "n < Max do"));
    bench.write("script.jsonl", Script::default().answer("formalize", 9, 1, "draft", "").text());
    bench.run(&["resume", "specs", "--from", "rev_0", "--at", "model_check"]).expect(NO_ANSWER);
    let journal = bench.journal("specs");
    let branch = &journal.iter().rfind(|e| e["name"] == "branch_started").unwrap()["data"];
    assert_eq!((&branch["state"]["repaired"], &branch["feedback"]), (&json!(false), &json!([])));
    let facts = bench.read("specs/workspace/facts.md");
    assert!(
        facts.contains("comes from rev_0, which ended in a confirmed flaw")
            && facts.contains("R1 breaks, shown by NeverAbove"),
        "{facts}"
    );
    // The author is told nothing of it either.
    bench.run(&["resume", "specs", "--from", "rev_0", "--at", "informal_spec"]).expect(NO_ANSWER);
    let asked = bench.read("specs/workspace/feedback.md");
    assert!(asked.contains("Nothing in particular") && !asked.contains("flaw"), "{asked}");
}

#[test]
fn a_step_marked_as_changed_is_not_approved_without_a_repair() {
    let informal =
        INFORMAL.replace("## Requirements", "## Steps\n- Add: CHANGED: only below the limit.\n## Requirements");
    let script = good().answer("informal_spec", 0, 1, "draft", &informal);
    let bench = bench();
    bench.forge(&script, &[]).expect(NO_ANSWER);
    let journal = bench.journal("specs");
    let guard = &journal.iter().find(|e| name(e) == "guard_evaluated").unwrap()["data"];
    assert_eq!(guard["clause"], "not_changed_in_silence");
    assert!(guard["why"].as_str().unwrap().contains("- Add: CHANGED: only below the limit."), "{guard}");
    assert!(crate::support::routes(&journal).contains(&"review->informal_spec".to_owned()));
    assert!(bench.read("specs/workspace/feedback.md").contains("each must be as the documents say"));
}

#[test]
fn unmarked_changes_are_not_mentioned() {
    let bench = repaired(&INFORMAL.replace("The limit.", "The limit, to be kept."));
    asked(&bench, "formalize", 1, 1, "repair").never_says(ON_PURPOSE);
    asked(&bench, "review", 1, 1, "draft").never_says(ON_PURPOSE);
    asked(&bench, "informal_spec", 2, 1, "repair").never_says(ON_PURPOSE).never_says(FOUND);
}

#[test]
fn a_second_reader_of_a_changed_protocol_sees_what_was_changed() {
    let steps = "## Steps\n- Add: CHANGED: also at the limit, by two; it replaces an Add by one.\n  Nothing else.\n\
                 - Stop: above the limit.\n## Requirements";
    let script = flawed()
        .answer("review", 0, 1, "second_reading", AGREES)
        .answer("informal_spec", 1, 1, "repair", &INFORMAL.replace("## Requirements", steps))
        .answer("formalize", 1, 1, "repair", &fenced(&MODULE.replace("n < Max", "n <= Max")))
        .answer("generate_invariants", 1, 1, "draft", &limit_of_one())
        .answer("review", 1, 1, "draft", &flaw())
        .having_read_all();
    let bench = bench();
    bench.write("docs/counter.md", FLAWED_DOC);
    bench.forge(&script, &["--repair"]).expect(NO_ANSWER);
    asked(&bench, "review", 0, 1, "second_reading").never_says("was changed");
    asked(&bench, "review", 1, 1, "second_reading").says("was changed after").offers("claim.md");
    let claim = bench.read("specs/workspace/claim.md");
    assert!(claim.contains("- Add: CHANGED: also at the limit") && claim.contains("Nothing else."), "{claim}");
    assert!(!claim.contains("Stop") && !claim.contains("The protocol, as documented,"), "{claim}");
}

#[test]
fn an_unreadable_second_reading_is_requested_again_with_the_problem() {
    let bench = bench();
    bench.write("docs/counter.md", FLAWED_DOC);
    bench.forge(&flawed().answer("review", 0, 1, "second_reading", "I agree wholeheartedly."), &[]).expect(NO_ANSWER);
    asked(&bench, "review", 0, 1, "second_reading").never_says("previous.md");
    asked(&bench, "review", 0, 2, "second_reading")
        .says("could not be read")
        .says("independent second reader")
        .offers("claim.md")
        .offers("previous.md")
        .offers("feedback.md");
    assert!(bench.read("specs/workspace/previous.md").contains("I agree wholeheartedly."));
    let feedback = bench.read("specs/workspace/feedback.md");
    assert!(feedback.contains("there is no JSON object in the answer"), "{feedback}");
}

#[test]
fn a_repair_keeps_the_interface_that_the_draft_was_given() {
    let bench = bench();
    bench.write("case/docs/counter.md", DOC);
    let interface = json!({"interface": {"variables": [{"name": "n", "description": "the counter as it stands"}]}});
    bench.write("case/checklist.json", interface.to_string());
    let script = good()
        .answer("informal_spec", 0, 1, "draft", "")
        .answer("informal_spec", 0, 2, "repair", INFORMAL)
        .answer("formalize", 0, 1, "draft", "");
    bench.write("script.jsonl", script.text());
    bench.run(&["run", "--case", "case", "--recording", "script.jsonl", "--out", "specs"]).expect(NO_ANSWER);
    for (node, attempt, purpose) in [
        ("informal_spec", 1, "draft"),
        ("informal_spec", 2, "repair"),
        ("formalize", 1, "draft"),
        ("formalize", 2, "repair"),
    ] {
        asked(&bench, node, 0, attempt, purpose).says("expose this interface").says("the counter as it stands");
    }
}

#[test]
fn a_check_of_an_older_module_is_marked_as_such() {
    const OLDER: &str = "an earlier version";
    let broken = fenced(&MODULE.replace("n := n + 1;", "n := n + ;"));
    let script = good().answer("review", 0, 1, "draft", &issue("major", "extra_behavior", "it adds too much")).answer(
        "formalize",
        1,
        1,
        "repair",
        &broken,
    );
    let bench = bench();
    bench.forge(&script, &[]).expect(NO_ANSWER);
    asked(&bench, "formalize", 1, 1, "repair").says("`check.md`").never_says(OLDER).offers("check.md");
    asked(&bench, "formalize", 1, 2, "repair").says("`check.md`").says(OLDER).offers("check.md");
    assert!(bench.read("specs/workspace/check.md").contains(OLDER));
}

#[test]
fn a_check_of_older_properties_is_marked_as_such() {
    const OLDER: &str = "an earlier version";
    let misnamed = good_sections().replace("INVARIANTS TypeOK NeverAbove", "INVARIANTS TypeOK NeverBelow");
    let script = good()
        .answer("review", 0, 1, "draft", &issue("major", "wrong_invariant", "it says too little"))
        .answer("generate_invariants", 1, 1, "repair", &misnamed);
    let bench = bench();
    bench.forge(&script, &[]).expect(NO_ANSWER);
    asked(&bench, "generate_invariants", 1, 1, "repair").says("`check.md`").never_says(OLDER);
    asked(&bench, "generate_invariants", 1, 2, "repair").says("`check.md`").says(OLDER);
}

#[test]
fn reserved_names_are_in_the_prompts_about_properties() {
    let bench = bench();
    bench.forge(&good().answer("review", 0, 1, "draft", ""), &[]).expect(NO_ANSWER);
    asked(&bench, "generate_invariants", 0, 1, "draft")
        .says("`\\* Deadlock covers R5`")
        .says("`\\* Assertion covers R6`");
    for (attempt, purpose) in [(1, "draft"), (2, "repair")] {
        asked(&bench, "review", 0, attempt, purpose)
            .says("`Deadlock`")
            .says("`Assertion`")
            .says("{\"name\": ")
            .says("\"unfair\"");
    }
}
