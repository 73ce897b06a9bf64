//! The embedded checker as a user runs it: `--checker`, the outputs without Java, and the files of a contradiction.

use std::path::Path;

use crate::support::checking::{COUNTER, ENDLESS, bench_with, faking, frame, put, shape};
use crate::support::counter::{DOC, INFORMAL, fenced, review, sections};
use crate::support::waiting::wait_until;
use crate::support::{Bench, Script};
use serde_json::Value;

const NOTE: &str = "checked without SANY and TLC";

fn object(bench: &Bench, more: &[&str], status: i32) -> Value {
    let done = bench.run(&[&["check", "M.tla", "--format", "json"], more].concat()).expect(status);
    let value: Value = serde_json::from_str(&done.stdout).expect("one object of JSON");
    shape(&value);
    value
}

/// A machine without Java.
fn machine_without_java() -> Bench {
    let mut bench = Bench::without_tools();
    bench.set("PATH", "/nowhere");
    bench
}

#[test]
fn without_java_the_embedded_checker_decides_and_every_output_says_so() {
    let bench = machine_without_java();
    put(&bench, COUNTER, "SPECIFICATION Spec\nINVARIANTS TypeOK\nPROPERTIES Reaches\n\\* WITNESS WitnessThree\n");
    let done = bench.run(&["check", "M.tla"]).expect(0);
    done.prints(&[
        "# Verdict of the embedded checker",
        &format!("holds: TypeOK, Reaches ({NOTE})\n"),
        "9 states generated, 8 distinct, depth 8, none left on the queue",
        "- WitnessThree: reached after 4 states\n",
        "- Inc: at least 1\n",
        "- Never: 0  NEVER TAKEN\n",
    ]);
    let value = object(&bench, &[], 0);
    assert_eq!((&value["checker"], &value["note"]), (&"embedded".into(), &NOTE.into()));
    assert_eq!(value["version"], "tla-mc 0.2.2");
    put(&bench, COUNTER, "SPECIFICATION Spec\nINVARIANTS NoReset\n");
    let done = bench.run(&["check", "M.tla"]).expect(1);
    done.prints(&[&format!("violated: invariant NoReset ({NOTE})\n"), "  2  Inc  M.tla:6\n", "  5  Reset  M.tla:7\n"]);
    assert_eq!(object(&bench, &[], 1)["trace"][4]["action"], "Reset");
    // A refusal is no verdict.
    let random =
        COUNTER.replace("Few ==", "Chance == RandomElement({1, 2}) > 0\nFew ==").replace("Naturals", "Naturals, TLC");
    put(&bench, &random, "SPECIFICATION Spec\nINVARIANTS Chance\n");
    let done = bench.run(&["check", "M.tla"]).expect(3);
    done.prints(&[
        "inconclusive: the embedded checker refuses it: ",
        "RandomElement of module TLC is not evaluated here",
    ]);
    // A configuration that does not match is rejected before any checker runs.
    put(&bench, COUNTER, "SPECIFICATION Spec\nINVARIANT Nowhere\n");
    bench.run(&["check", "M.tla"]).expect(1).prints(&["invalid: ", NOTE]);
    // The checker itself would accept these.
    for (cfg, word) in [
        ("SPECIFICATION Spec\nINIT Init\nNEXT Next\nINVARIANT TypeOK\n", "both SPECIFICATION and INIT"),
        ("SPECIFICATION Spec\nINVARIANT Nope\n", "does not define Nope"),
        ("SPECIFICATION Spec\nINVARIANT TypeOK\nVIEW x\n", "does not define x"),
        ("SPECIFICATION Spec\nINVARIANT TypeOK\nCONSTRAINT Nowhere\n", "does not define Nowhere"),
    ] {
        put(&bench, COUNTER, cfg);
        bench.run(&["check", "M.tla"]).expect(1).prints(&["invalid: ", word, NOTE]);
    }
}

#[test]
fn the_demo_needs_no_java_and_its_files_do_not_mention_sany() {
    let bench = machine_without_java();
    bench.run(&["demo", "--out", "specs"]).expect(0).prints(&[&format!("Outcome: approved ({NOTE})")]);
    let finished = bench.journal("specs").pop().unwrap();
    assert!(finished["data"]["why"].as_str().unwrap().ends_with(&format!("({NOTE})")), "{finished}");
    let facts = bench.read("specs/workspace/facts.md");
    assert!(facts.contains("static checks, not by SANY: yes"), "{facts}");
    assert!(bench.read("specs/review.md").starts_with(&format!("# Review: approved ({NOTE})\n")));
    assert!(bench.read("specs/history/rev_0/meta.json").contains(NOTE));
}

#[test]
fn the_heading_of_a_verdict_names_the_tool_that_gave_it() {
    let bench = bench_with(COUNTER, "SPECIFICATION Spec\nINVARIANTS TypeOK\n");
    let heading = |checker: &str, status: i32| {
        let done = bench.run(&["check", "M.tla", "--checker", checker]).expect(status);
        done.stdout.lines().next().unwrap().to_owned()
    };
    assert_eq!(heading("tlc", 0), "# Verdict of TLC");
    put(&bench, &COUNTER.replace("x = 0", "x = )"), "SPECIFICATION Spec\nINVARIANTS TypeOK\n");
    assert_eq!(heading("tlc", 1), "# Verdict of SANY");
    assert_eq!(heading("embedded", 1), "# Verdict of the embedded parser");
    put(&bench, COUNTER, "SPECIFICATION Spec\n\\* WITNESS Nowhere\n");
    assert_eq!(heading("tlc", 1), "# Verdict before any checker ran");
    // A result of the embedded checker is not attributed to TLC.
    put(&bench, &COUNTER.replace("x = 0 ", "x = [a \\in {1} |-> 0][2] "), "SPECIFICATION Spec\nINVARIANTS TypeOK\n");
    let done = bench.run(&["check", "M.tla", "--checker", "embedded"]);
    assert!(!done.stdout.replace("SANY and TLC", "").contains("TLC"), "{}", done.stdout);
}

#[test]
fn the_checker_is_chosen_by_flag_or_by_file() {
    let bench = bench_with(COUNTER, "SPECIFICATION Spec\nINVARIANTS TypeOK\n");
    assert_eq!(object(&bench, &[], 0)["checker"], "embedded");
    assert_eq!(object(&bench, &["--checker", "tlc"], 0)["checker"], "tlc");
    bench.write("tlaforge.toml", "checker = \"tlc\"\n");
    assert_eq!(object(&bench, &[], 0)["checker"], "tlc");
    assert_eq!(object(&bench, &["--checker", "auto"], 0)["checker"], "embedded");
    bench.write("tlaforge.toml", "checker = \"apalache\"\n");
    bench.run(&["check", "M.tla"]).expect(2).says(&["tlaforge.toml:1:11\n"]);
}

#[test]
fn two_checkers_that_agree_leave_nothing_behind() {
    let bench = bench_with(COUNTER, "SPECIFICATION Spec\nINVARIANTS TypeOK\n\\* WITNESS WitnessFour\n");
    let value = object(&bench, &["--checker", "both"], 1);
    assert_eq!((&value["checker"], &value["second_check"]["checker"]), (&"tlc".into(), &"embedded".into()));
    assert_eq!(value["statistics"]["distinct"], value["second_check"]["statistics"]["distinct"]);
    shape(&value["second_check"]);
    let done = bench.run(&["check", "M.tla", "--checker", "both"]).expect(1);
    done.prints(&["\nthe embedded checker: agrees\n"]);
    assert!(!bench.path("tlaforge-defects").exists());
    // A checker that gives up contradicts nothing.
    let bounded =
        COUNTER.replace("Few ==", "Seen == TLCGet(\"level\") < 100\nFew ==").replace("Naturals", "Naturals, TLC");
    put(&bench, &bounded, "SPECIFICATION Spec\nINVARIANTS TypeOK Seen\nCHECK_DEADLOCK FALSE\n");
    assert_eq!(object(&bench, &["--checker", "both"], 0)["second_check"]["verdict"], "inconclusive");
    let done = bench.run(&["check", "M.tla", "--checker", "both"]).expect(0);
    done.prints(&["\nthe embedded checker: inconclusive (the embedded checker refuses it: module M, line"]);
    assert!(!bench.path("tlaforge-defects").exists());
}

#[test]
fn a_contradiction_is_saved_with_everything_needed_to_reproduce_it() {
    let holds = frame(2193, "Model checking completed. No error has been found.")
        + &frame(2199, "9 states generated, 7 distinct states found, 0 states left on queue.");
    let bench = faking(&(holds + "exit 0"));
    put(&bench, COUNTER, "SPECIFICATION Spec\nINVARIANT TypeOK\n");
    let done = bench.run(&["check", "M.tla", "--checker", "both"]).expect(70);
    let done = done.prints(&[
        "# Verdict of TLC\n\nholds: TypeOK\n",
        "\nthe embedded checker: differs: distinct states: TLC: 7; the embedded checker: 8\n",
    ]);
    let done =
        done.says(&["defect: the checkers contradict each other: distinct states: TLC: 7; the embedded checker: 8"]);
    assert_eq!(done.stderr.lines().filter(|line| line.starts_with("defect: ")).count(), 1, "{}", done.stderr);
    let said = bench.read("tlaforge-defects/M-1/difference.md");
    assert_eq!(said, "- distinct states: TLC: 7; the embedded checker: 8\n");
    assert_eq!(bench.read("tlaforge-defects/M-1/M.tla"), COUNTER);
    assert_eq!(bench.read("tlaforge-defects/M-1/M.cfg"), "SPECIFICATION Spec\nINVARIANT TypeOK\n");
    assert!(bench.read("tlaforge-defects/M-1/tlc.txt").contains("7 distinct"));
    assert!(bench.read("tlaforge-defects/M-1/embedded.txt").contains("8 distinct"));
    // If the reference breaks, the result of the other checker is still shown.
    let broken = faking("echo nonsense; exit 3");
    put(&broken, COUNTER, "SPECIFICATION Spec\nINVARIANT TypeOK\n");
    let done = broken.run(&["check", "M.tla", "--checker", "both"]).expect(3);
    done.prints(&["inconclusive: tlc2.TLC broke: ", "\nthe embedded checker: holds\n"]);
    // A contradicting verdict; it goes to the next folder.
    put(&bench, COUNTER, "SPECIFICATION Spec\nINVARIANT NoReset\n");
    let done = bench.run(&["check", "M.tla", "--checker", "both"]).expect(70);
    done.says(&["verdict: TLC: holds; the embedded checker: violated (invariant NoReset)"]);
    assert!(bench.path("tlaforge-defects/M-2/difference.md").exists());
}

const PLAIN: &str = "---- MODULE Spec ----
EXTENDS Naturals
CONSTANT Max
VARIABLE n
vars == <<n>>
Init == n = 0
Add == n < Max /\\ n' = n + 1
Rest == n = Max /\\ UNCHANGED n
Next == Add \\/ Rest
Spec == Init /\\ [][Next]_vars
====
";

fn plain(module: &str) -> Script {
    let invariants = "TypeOK == n \\in 0..10\n\\* covers R1\nNeverAbove == n <= Max\n";
    let cfg = "SPECIFICATION Spec\nCONSTANT Max = 2\nINVARIANTS TypeOK NeverAbove\n\\* WITNESS WitnessFull\n";
    Script::default()
        .answer("informal_spec", 0, 1, "draft", INFORMAL)
        .answer("formalize", 0, 1, "draft", &fenced(module))
        .answer("generate_invariants", 0, 1, "draft", &sections(invariants, "", "WitnessFull == n = Max\n", cfg))
        .answer("review", 0, 1, "draft", &review("approved"))
        .having_read_all()
}

#[test]
fn a_run_is_approved_without_java_and_says_so() {
    let bench = machine_without_java();
    bench.write("docs/counter.md", DOC);
    let done = bench.forge(&plain(PLAIN), &[]).expect(0);
    done.prints(&[
        &format!("Outcome: approved ({NOTE})\n"),
        &format!("Check (tla-mc 0.2.2): holds: TypeOK, NeverAbove ({NOTE})\n"),
    ]);
    bench.run(&["report", "specs"]).expect(0).prints(&[&format!("Outcome: approved ({NOTE})\n")]);
    let meta: Value = serde_json::from_str(&bench.read("specs/history/rev_0/meta.json")).unwrap();
    assert!(meta.to_string().contains("\"checker\":\"embedded\""), "{meta}");
    // Without TLC's coverage the report still shows actions that are never taken, and the run is not approved.
    let bench = machine_without_java();
    bench.write("docs/counter.md", DOC);
    let dead = PLAIN.replace("Next ==", "Idle == n > Max /\\ UNCHANGED n\nNext == Idle \\/");
    let done = bench.forge(&plain(&dead), &["--max-revisions", "0"]);
    assert_ne!(done.status, Some(0), "{}", done.stdout);
    let journal = crate::support::reasons(&bench.journal("specs")).join("\n");
    assert!(journal.contains("Idle"), "{journal}");
}

/// Whether no process works in this folder and it is empty.
fn is_abandoned(folder: &Path) -> bool {
    let inside = |entry: &std::fs::DirEntry| {
        std::fs::read_link(entry.path().join("cwd")).is_ok_and(|cwd| cwd.starts_with(folder))
    };
    std::fs::read_dir(folder).unwrap().next().is_none()
        && !std::fs::read_dir("/proc").unwrap().flatten().any(|entry| inside(&entry))
}

#[test]
fn a_killed_check_leaves_no_child_and_no_folder() {
    let mut bench = machine_without_java();
    bench.write("tmp/.keep", "");
    std::fs::remove_file(bench.path("tmp/.keep")).unwrap();
    let tmp = bench.path("tmp");
    bench.set("TMPDIR", tmp.to_str().unwrap());
    put(&bench, ENDLESS, "SPECIFICATION Spec\n");
    let mut child = bench.command(&["check", "M.tla"]).spawn().unwrap();
    wait_until("the checker begins", || !is_abandoned(&tmp));
    child.kill().unwrap();
    child.wait().unwrap();
    wait_until("neither a process nor a folder is left", || is_abandoned(&tmp));
}

/// A module with this many definitions.
fn long(definitions: usize) -> String {
    let definition = |n| format!("D{n} == x + {n} > 0 /\\ x < {n}\n");
    let more = (0..definitions).map(definition).collect::<Vec<_>>().concat();
    COUNTER.replace("====\n", &format!("{more}====\n"))
}

#[test]
fn a_long_module_is_checked_as_a_short_one_is() {
    let bench = machine_without_java();
    let more = ["--checker", "embedded"];
    put(&bench, &long(4_000), "SPECIFICATION Spec\nINVARIANTS TypeOK\n");
    assert!(bench.read("M.tla").len() > 64 << 10);
    assert_eq!(object(&bench, &more, 0)["verdict"], "holds");
    put(&bench, &long(4_000).replace("Few == x < 2", "Few == Nope"), "SPECIFICATION Spec\nINVARIANTS TypeOK\n");
    let value = object(&bench, &more, 1);
    assert!(value["reason"].as_str().unwrap().contains("Nope"), "{value}");
    put(&bench, &long(4_000), "SPECIFICATION Spec\nINVARIANTS Nope\n");
    assert!(object(&bench, &more, 1)["reason"].as_str().unwrap().contains("does not define Nope"));
    let algorithm = "(* --algorithm A\nvariables x = 0;\nbegin\n  Add: x := x + 1;\nend algorithm; *)\n";
    let (_, definitions) = long(4_000).split_once("Few == x < 2\n").map(|(a, b)| (a.to_owned(), b.to_owned())).unwrap();
    let module = format!("---- MODULE M ----\nEXTENDS Naturals\n{algorithm}TypeOK == x \\in 0..1\n{definitions}");
    put(&bench, &module, "SPECIFICATION Spec\nINVARIANTS TypeOK\n");
    assert_eq!(object(&bench, &more, 0)["verdict"], "holds");
}

#[test]
fn static_checks_that_take_too_long_are_ended_and_inconclusive() {
    let bench = machine_without_java();
    put(&bench, &long(20_000), "SPECIFICATION Spec\nINVARIANTS TypeOK\n");
    let done = bench.run(&["check", "M.tla", "--checker", "embedded", "--tlc-timeout", "1"]);
    // A very fast machine finishes in time.
    assert!([Some(0), Some(3)].contains(&done.status), "{}\n{}", done.stdout, done.stderr);
    let padded = COUNTER.replace("====\n", &format!("(* {} *)\n====\n", "x".repeat(4 << 20)));
    put(&bench, &padded, "SPECIFICATION Spec\nINVARIANTS TypeOK\n");
    let done = bench.run(&["check", "M.tla", "--checker", "embedded"]).expect(3);
    done.prints(&["inconclusive: ", "MiB long; at most 4 MiB are handled"]);
}
