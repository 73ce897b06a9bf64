//! Reported times are waiting times: they include every start of a tool, not only the main run of the checker.

use crate::support::checking::{COUNTER, faking_all, frame, put};
use crate::support::{Bench, Done, name};

/// Time in seconds that each start of the fake `java` takes. The times are measured with the clock of the machine, so some
/// has to pass; a busy machine only adds to them.
const START: f64 = 0.2;

/// A machine whose `java` takes some time for each start, records the start, and then accepts everything.
fn bench_with_slow_java() -> Bench {
    let holds = frame(2193, "Model checking completed. No error has been found.")
        + &frame(2199, "9 states generated, 8 distinct states found, 0 states left on queue.");
    let accepts = "for last; do :; done; echo \"Semantic processing of module ${last%.tla}\"; exit 0";
    let bench = faking_all(&format!(
        "echo start >> \"$(dirname \"$0\")/starts\"\nsleep {START}\ncase \"$*\" in\n  *tla2sany.SANY*) {accepts} ;;\n  \
         *tlc2.TLC*' -h') echo 'TLC2 Version 2.15 of a fake'; exit 1 ;;\nesac\n{holds}exit 0"
    ));
    put(&bench, COUNTER, "SPECIFICATION Spec\nINVARIANT TypeOK\n");
    bench
}

fn count_starts(bench: &Bench) -> f64 {
    f64::from(u32::try_from(bench.read("jre/bin/starts").lines().count()).unwrap())
}

/// The number before ` s` in the first line with this beginning.
fn shown_seconds(done: &Done, line: &str) -> f64 {
    let line = done.stdout.lines().find(|found| found.starts_with(line)).unwrap_or_else(|| panic!("{}", done.stdout));
    let words: Vec<&str> = line.split([' ', ',']).collect();
    let at = words.iter().position(|word| *word == "s").unwrap_or_else(|| panic!("{line}"));
    words[at - 1].parse().unwrap()
}

#[test]
fn the_time_of_a_check_counts_every_start_of_a_tool() {
    let bench = bench_with_slow_java();
    let done = bench.run(&["check", "M.tla", "--checker", "tlc"]).expect(0);
    assert!(count_starts(&bench) >= 3.0, "the version, SANY and TLC");
    // Shown with one decimal.
    assert!(shown_seconds(&done, "Counts: ") >= START * count_starts(&bench) - 0.05, "{}", done.stdout);
}

#[test]
fn the_time_of_mutants_counts_every_start_of_a_tool() {
    let bench = bench_with_slow_java();
    let args = ["mutate", "M.tla", "--checker", "tlc", "--sample", "2", "--jobs", "1"];
    let done = bench.run(&args).expect(0);
    assert!(shown_seconds(&done, "Time: ") >= START * count_starts(&bench) - 0.05, "{}", done.stdout);
}

#[test]
fn the_time_of_an_evaluation_counts_every_start_of_a_tool() {
    let bench = bench_with_slow_java();
    bench.write("specs/Spec.tla", COUNTER.replace("MODULE M", "MODULE Spec"));
    bench.write("specs/Spec.cfg", "SPECIFICATION Spec\nINVARIANT TypeOK\n");
    bench.write("case/docs/counter.md", "# Counter\n");
    let bug = serde_json::json!({"file": "known_bugs/bug.tla", "description": "", "should_violate": "TypeOK"});
    let wanted = serde_json::json!({"name": "TypeOK", "category": "type_safety"});
    let checklist = serde_json::json!({"name": "c", "known_bugs": [bug], "required_invariants": [wanted]});
    bench.write("case/checklist.json", checklist.to_string());
    bench.write("case/known_bugs/bug.tla", COUNTER.replace("MODULE M", "MODULE bug"));
    bench.write("case/known_bugs/bug.cfg", "SPECIFICATION Spec\n");
    let done = bench.run(&["eval", "specs", "case", "--checker", "tlc", "--jobs", "1"]).expect(0);
    assert!(shown_seconds(&done, "Time: ") >= START * count_starts(&bench) - 0.05, "{}", done.stdout);
}

#[test]
fn the_time_of_a_check_in_a_run_counts_its_witnesses() {
    let mut bench = Bench::remembering();
    // The same `java`, with a delay before each start.
    let java = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("remembering-java/bin/java");
    let script = format!("#!/bin/sh\nsleep {START}\nexec {} \"$@\"\n", java.display());
    let slow = bench.write("slow/bin/java", script);
    std::fs::set_permissions(&slow, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let home = bench.path("slow");
    bench.set("JAVA_HOME", home.to_str().unwrap());
    bench.run(&["demo", "--out", "specs", "--checker", "tlc"]).expect(0);
    let checks = bench.events("specs").into_iter().filter(|event| name(event) == "check_finished");
    let checks: Vec<_> = checks.collect();
    assert!(!checks.is_empty());
    for check in checks {
        let statistics = &check["data"]["outcome"]["statistics"];
        let [waited, main] = ["total_seconds", "seconds"].map(|field| statistics[field].as_f64().unwrap_or_default());
        assert!(waited >= main + START, "the main run, then witnesses: {statistics}");
    }
}
