//! Which results of `mutate` are kept, and what its score rests on.

use std::os::unix::fs::PermissionsExt;

use crate::support::{Bench, Done, java};
use serde_json::Value;

const LOCK: &str = "---- MODULE L ----
EXTENDS Integers
(* --algorithm L
variables lock = 0, inside = {};
process user \\in {1, 2}
begin
  enter:
    await lock = 0;
    lock := self;
    inside := inside \\cup {self};
  leave:
    inside := inside \\ {self};
    lock := 0;
end process;
end algorithm; *)

One == \\A a, b \\in inside : a = b
Nothing == inside = inside
====
";

fn object(done: &Done) -> Value {
    serde_json::from_str(&done.stdout).unwrap_or_else(|e| panic!("{e}: {}\n{}", done.stdout, done.stderr))
}

fn bench(invariants: &str) -> Bench {
    let bench = Bench::without_tools();
    bench.write("L.tla", LOCK);
    bench.write("L.cfg", format!("SPECIFICATION Spec\nINVARIANTS {invariants}\nCHECK_DEADLOCK FALSE\n"));
    bench
}

/// Each tool is killed once while it works on a mutant: the command goes on, names the mutant with the reason, and tries it
/// again the next time.
#[test]
fn a_tool_that_is_killed_leaves_one_mutant_for_the_next_run() {
    for (class, status) in [("pcal.trans", "kill -9 $$"), ("tla2sany.SANY", "kill -9 $$"), ("tlc2.TLC", "exit 137")] {
        let mut bench = bench("One");
        let home = bench.path("java-home");
        // The first start of each tool is for the specification itself.
        let script = format!(
            "#!/bin/sh\ncase \"$*\" in\n  *{class}*)\n    echo x >> {calls}\n    if [ -e {armed} ] && [ \"$(wc -l < \
             {calls})\" -eq 3 ]; then {status}; fi ;;\nesac\nexec {java} \"$@\"\n",
            calls = bench.path("calls").display(),
            armed = bench.path("armed").display(),
            java = java::java().display()
        );
        let program = bench.write("java-home/bin/java", script);
        std::fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).unwrap();
        bench.write("armed", "");
        bench.set("JAVA_HOME", home.to_str().unwrap());
        bench.set("TLA_TOOLS_JAR", java::jar().to_str().unwrap());
        let args =
            ["mutate", "L.tla", "--format", "json", "--checker", "tlc", "--operator", "drop-guard", "--jobs", "1"];
        let more = ["--operator", "swap-statements"];
        let run = || bench.run(&[&args[..], &more].concat()).expect(0);
        let first = object(&run());
        let mutants = first["mutants"].as_array().unwrap();
        let open: Vec<&Value> = mutants.iter().filter(|mutant| mutant["outcome"] == "inconclusive").collect();
        assert_eq!(open.len(), 1, "{class}: {first:#}");
        assert!(open[0]["reason"].as_str().unwrap().contains("killed from outside (signal 9)"), "{class}: {open:#?}");
        assert!(mutants.len() > 1, "{first:#}");
        std::fs::remove_file(bench.path("armed")).unwrap();
        let second = run();
        second.says(&[&format!("{} of {} mutants have results already", mutants.len() - 1, mutants.len())]);
    }
}

#[test]
fn a_result_is_kept_for_the_same_tools_and_settings_only() {
    let bench = bench("One");
    let has_results = |more: &[&str]| {
        let done = bench.run(&[&["mutate", "L.tla", "--operator", "drop-guard"], more].concat()).expect(0);
        done.stderr.contains("have results already")
    };
    let embedded = ["--checker", "embedded"];
    assert!(!has_results(&embedded));
    assert!(has_results(&embedded));
    assert!(has_results(&["--checker", "embedded", "--timeout", "60"]), "only a verdict is kept, and it needs no time");
    assert!(!has_results(&["--checker", "embedded", "--heap-mib", "700"]));
    // Without Java it is the same checker, but the next run may find Java.
    assert!(!has_results(&[]));
}

#[test]
fn deadlocks_alone_are_no_score() {
    let bench = bench("Nothing");
    bench.write("L.cfg", "SPECIFICATION Spec\nINVARIANT Nothing\n");
    let module = LOCK.replace("    lock := 0;\n", "    lock := 0;\n    goto enter;\n");
    bench.write("L.tla", &module);
    let args = ["mutate", "L.tla", "--checker", "embedded"];
    let text = bench.run(&args).expect(0);
    text.prints(&[
        "Score: no property notices any mutant",
        "noticed only by a deadlock",
        "Noticed nothing: Nothing",
        "Warning: Nothing cannot be violated",
    ]);
    let all = object(&bench.run(&[&args[..], &["--format", "json"]].concat()).expect(0));
    let summary = &all["summary"];
    assert!(summary["killed_only_by_deadlock"].as_u64().unwrap() > 0, "{summary:#}");
    assert_eq!(
        (&summary["killed_by_property"], &summary["noticed_nothing"]),
        (&0.into(), &serde_json::json!(["Nothing"]))
    );
    assert!(summary["score"].as_f64().unwrap_or(0.0) < 0.01, "{summary:#}");
    assert!(all["baseline"]["warnings"].to_string().contains("Nothing cannot be violated"), "{all:#}");
    bench.run(&[&args[..], &["--fail-under", "0.01"]].concat()).expect(1);
    bench.run(&[&args[..], &["--format", "markdown"]].concat()).expect(0).prints(&["no property notices any mutant"]);
    bench.run(&[&args[..], &["--html", "page.html", "--stryker", "s.json"]].concat()).expect(0);
    assert!(bench.read("page.html").contains("No property notices any mutant"));
    assert!(!bench.read("s.json").contains("\"Killed\""));

    // A property that notices something beside one that notices nothing.
    bench.write("L.cfg", "SPECIFICATION Spec\nINVARIANTS Nothing One\n");
    let text = bench.run(&args).expect(0).prints(&["Noticed nothing: Nothing", " killed or survived)"]);
    assert!(!text.stdout.contains("no property notices any mutant"), "{}", text.stdout);
}

#[test]
fn check_and_test_remark_on_a_property_that_does_not_depend_on_the_state() {
    let bench = bench("Nothing One");
    for property in [
        "inside = inside",
        "TRUE",
        "Off",
        "One \\/ Off",
        "\\A a \\in 2..N : lock = a",
        "N = 1",
        "lock \\in Int \\/ lock \\notin Int",
    ] {
        let module = LOCK.replace("Nothing == inside = inside", &format!("Nothing == {property}"));
        bench.write("L.tla", module.replace("EXTENDS Integers\n", "EXTENDS Integers\nCONSTANTS N, Off\n"));
        bench.write(
            "L.cfg",
            "SPECIFICATION Spec\nCONSTANTS N = 1 Off = TRUE\nINVARIANTS Nothing One\nCHECK_DEADLOCK FALSE\n",
        );
        let done = bench.run(&["check", "L.tla", "--checker", "embedded"]).expect(0);
        let told = done.stdout.clone() + &done.stderr;
        assert!(told.contains("Nothing cannot be violated"), "{property}: {told}");
        assert!(!told.contains("One cannot be violated"), "{property}: {told}");
    }
    let json = object(&bench.run(&["check", "L.tla", "--checker", "embedded", "--format", "json"]).expect(0));
    assert!(json["warnings"].to_string().contains("Nothing cannot be violated"), "{json:#}");
}

/// Both checkers say the same of an `Assert` in an invariant that is FALSE.
#[test]
fn an_assertion_in_an_invariant_is_violated_for_both_checkers() {
    let bench = Bench::real();
    let module = "---- MODULE A ----\nEXTENDS Integers, TLC\nVARIABLE x\nInit == x = 0\nNext == x' = (x + 1) % 4\n\
                  Spec == Init /\\ [][Next]_x\nInv == x >= 0 /\\ Assert(x < 2, \"too large\")\n====\n";
    bench.write("A.tla", module);
    bench.write("A.cfg", "SPECIFICATION Spec\nINVARIANT Inv\n");
    for checker in ["embedded", "tlc"] {
        let done = bench.run(&["check", "A.tla", "--checker", checker, "--format", "json"]).expect(1);
        let all = object(&done);
        let violated = serde_json::json!({"kind": "assertion", "name": "too large"});
        assert_eq!((&all["verdict"], &all["violated"]), (&"violated".into(), &violated), "{checker}: {all:#}");
        assert_eq!(all["trace"].as_array().map(Vec::len), Some(3), "{checker}: {all:#}");
    }
}

/// A result that an earlier version has written names the mutant by its place. It counts, under the name of today.
#[test]
fn a_kept_result_has_the_name_of_today() {
    let bench = bench("One");
    let args = ["mutate", "L.tla", "--format", "json", "--checker", "embedded", "--operator", "drop-guard"];
    let today = object(&bench.run(&args).expect(0));
    let lines = bench.read("mutants.out/outcomes.jsonl");
    let earlier = lines.lines().map(|line| {
        let mut result: Value = serde_json::from_str(line).unwrap();
        let fields = result.as_object_mut().unwrap();
        let place = fields.remove("place").unwrap();
        fields["name"] = format!("{} drop guard", place.as_str().unwrap()).into();
        format!("{result}\n")
    });
    bench.write("mutants.out/outcomes.jsonl", earlier.collect::<String>());
    let done = bench.run(&args).expect(0).says(&["have results already"]);
    assert_eq!(object(&done)["mutants"], today["mutants"]);
}
