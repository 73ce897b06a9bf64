//! With `auto` and Java, the embedded checker decides, and nothing is approved that the reference tools did not confirm.

use std::os::unix::fs::PermissionsExt;

use serde_json::Value;

use crate::support::checking::frame;
use crate::support::waiting::HANG;
use crate::support::{Bench, counter, name, outcome};

/// A bench whose `java` is this script. Without a case of its own, each tool succeeds: the translator changes nothing.
fn with_java(script: &str) -> Bench {
    let mut bench = counter::bench();
    let script = format!(
        "#!/bin/sh\ncase \"$*\" in *' -h') echo 'TLC2 Version 2.15 of a fake'; exit 1;; esac\n{script}\n\
         case \"$*\" in\n  *pcal.trans*) echo 'Translation completed.';;\n  *tla2sany.SANY*) echo 'Semantic processing of module \
         Spec';;\nesac\n"
    );
    let java = bench.write("jre/bin/java", script);
    std::fs::set_permissions(&java, std::fs::Permissions::from_mode(0o755)).unwrap();
    bench.write("tla2tools.jar", "a fake");
    for (variable, path) in [("JAVA_HOME", "jre"), ("TLA_TOOLS_JAR", "tla2tools.jar")] {
        let path = bench.path(path);
        bench.set(variable, path.to_str().unwrap());
    }
    bench
}

/// What TLC prints if it finds no violation in this number of states.
fn holds(distinct: u32) -> String {
    frame(2193, "Model checking completed. No error has been found.")
        + &frame(2199, &format!("9 states generated, {distinct} distinct states found, 0 states left on queue."))
}

fn check(bench: &Bench) -> Value {
    let events = bench.events("specs");
    let check = events.iter().find(|event| name(event) == "check_finished");
    check.map_or(Value::Null, |check| check["data"]["outcome"].clone())
}

#[test]
fn an_approval_is_confirmed_in_one_start_of_each_reference_tool() {
    let bench = counter::bench_with_java();
    let java = bench.variable("JAVA_HOME");
    let counting = bench.write(
        "counting/bin/java",
        format!("#!/bin/sh\necho \"$*\" >>'{}'\nexec {java}/bin/java \"$@\"\n", bench.path("started").display()),
    );
    std::fs::set_permissions(&counting, std::fs::Permissions::from_mode(0o755)).unwrap();
    bench.forge(&counter::good(), &[]).expect(0);
    std::fs::remove_dir_all(bench.path("specs")).unwrap();
    let home = bench.path("counting");
    let run = ["run", "docs", "--recording", "script.jsonl", "--out", "specs"];
    let done = bench.run_with(&run, &[("JAVA_HOME", home.to_str().unwrap())]).expect(0);
    done.prints(&[
        "Outcome: approved (confirmed by SANY and TLC)",
        "holds: TypeOK, NeverAbove (confirmed by SANY and TLC)",
    ]);
    let check = check(&bench);
    assert_eq!(check["checker"], "embedded");
    assert!(check["confirmation"]["by"].as_str().is_some_and(|by| by.starts_with("TLC2 Version")), "{check}");
    let started = bench.read("started");
    let tools: Vec<_> = ["pcal.trans", "tla2sany.SANY", "tlc2.TLC"].map(|tool| started.matches(tool).count()).into();
    assert_eq!(tools, [1, 0, 1], "{started}");
}

#[test]
fn what_the_reference_tools_do_not_confirm_is_not_approved() {
    let tlc = |end: &str| format!("case \"$*\" in *tlc2.TLC*) {end};; esac");
    let states = holds(4);
    // The control: nothing is missing.
    let bench = with_java(&tlc(&format!("{states}exit 0")));
    bench.forge(&counter::good(), &[]).expect(0);
    assert_eq!(outcome(&bench.journal("specs")), "approved");
    let rejects = "case \"$*\" in *pcal.trans*) echo; echo 'Unrecoverable error:'; echo ' -- Missing label at line 8, column 7.'; exit 255;; esac";
    let violated = frame(2110, "Invariant TypeOK is violated.").replace("2110:0", "2110:1")
        + &frame(2121, "The behavior up to this point is:").replace("2121:0", "2121:1")
        + &frame(2217, "1: <Initial predicate>\n/\\ n = 0\n/\\ pc = \"Add\"").replace("2217:0", "2217:4")
        + &frame(2199, "9 states generated, 1 distinct states found, 0 states left on queue.");
    let contradictions = [
        (tlc(&format!("{}exit 0", holds(5))), "distinct states: the embedded checker: 4; TLC: 5"),
        (tlc(&format!("{violated}exit 12")), "verdict: the embedded checker: holds; TLC: violated"),
        (rejects.to_owned(), "the reference translator rejects the algorithm (Missing label"),
    ];
    for (script, line) in contradictions {
        let bench = with_java(&script);
        let done = bench.forge(&counter::good(), &[]);
        let found = check(&bench);
        assert_eq!(found["verdict"], "inconclusive", "{script}\n{}", done.stderr);
        assert!(found["reason"].as_str().unwrap().contains(line), "{script}\n{found}");
        assert_eq!(done.status, Some(70), "{}", done.stderr);
        assert!(bench.read("specs/defects/Spec-1/difference.md").contains(line));
        assert_ne!(outcome(&bench.journal("specs")), "approved");
    }
    for (script, reason) in [
        (tlc(HANG), "TLC did not confirm it: TLC did not end within 1 s"),
        (
            tlc("echo 'java.lang.OutOfMemoryError: Java heap space' >&2; exit 1"),
            "TLC did not confirm it: the JVM ran out of memory",
        ),
    ] {
        let bench = with_java(&script);
        let done = bench.forge(&counter::good(), &["--tlc-timeout", "1"]);
        let found = check(&bench);
        assert_eq!(found["verdict"], "inconclusive", "{script}\n{}", done.stderr);
        assert!(found["reason"].as_str().unwrap().contains(reason), "{script}\n{found}");
        assert!(!bench.path("specs/defects").exists());
        assert_ne!(outcome(&bench.journal("specs")), "approved");
    }
    // A broken tool stops the run before anything is decided.
    let bench = with_java(&tlc("kill -9 $$"));
    bench.forge(&counter::good(), &[]).expect(4).says(&["tlc2.TLC broke"]);
    assert!(bench.events("specs").iter().all(|event| name(event) != "check_finished"));
}

#[test]
fn a_run_that_java_confirms_does_not_continue_without_it_unasked() {
    let bench = counter::bench_with_java();
    bench.forge(&counter::good(), &[]).expect(0);
    std::fs::remove_dir_all(bench.path("specs")).unwrap();
    let run = ["run", "docs", "--recording", "script.jsonl", "--out", "specs"];
    assert_eq!(bench.run_with(&run, &[("TLAFORGE_CRASH", "after:6")]).status, None);
    let before = bench.read("specs/journal.jsonl");
    let without = [("JAVA_HOME", "/nowhere"), ("PATH", "/nowhere")];
    let done = bench.run_with(&["resume", "specs"], &without).expect(4);
    done.says(&[
        "java was not found",
        "hint: the Java tools confirm the verdicts of this run; --checker embedded continues",
    ]);
    assert_eq!(bench.read("specs/journal.jsonl"), before);
    let done = bench.run_with(&["resume", "specs", "--checker", "embedded"], &without).expect(0);
    done.prints(&["Outcome: approved (checked without SANY and TLC)"]);
}
