//! `tlaforge check` and the user's files: which are read, which are refused, and that none is changed.

use std::collections::BTreeMap;
use std::path::Path;

use crate::support::Bench;
use crate::support::checking::{ASSERTS, COUNTER, bench_with, faking, object, put, text};
use serde_json::json;

// Files

/// Every file of a folder with its content.
fn files(dir: &Path) -> BTreeMap<String, Vec<u8>> {
    walkdir(dir).into_iter().map(|path| (path.display().to_string(), std::fs::read(&path).unwrap())).collect()
}

fn walkdir(dir: &Path) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(walkdir(&path));
        } else {
            found.push(path);
        }
    }
    found
}

#[test]
fn the_users_files_stay_as_they_are_and_no_file_is_added() {
    let mut bench = Bench::real();
    std::fs::create_dir(bench.path("scratch")).unwrap();
    let scratch = bench.path("scratch");
    bench.set("TMPDIR", scratch.to_str().unwrap());
    // The file has the translation of another algorithm, and keeps it.
    let stale = ASSERTS.replace(
        "====",
        "\\* BEGIN TRANSLATION\nVARIABLE x\nInit == x = 7\nNext == UNCHANGED x\nSpec == Init /\\ [][Next]_x\n\\* END TRANSLATION\n====",
    );
    for (module, status) in [(stale.as_str(), 1), (ASSERTS, 1), (COUNTER, 0)] {
        put(&bench, module, "SPECIFICATION Spec\r\n\\* a comment\r\n");
        let before = files(bench.dir.path());
        text(&bench, status);
        assert_eq!(files(bench.dir.path()), before);
        assert_eq!(std::fs::read_dir(&scratch).unwrap().count(), 0, "temporary folders are removed");
    }
}

#[test]
fn local_modules_are_found() {
    let bench = Bench::remembering();
    let with = |line: &str, step: &str| {
        format!(
            "---- MODULE M ----\n{line}\nVARIABLE x\nInit == x = 0\nNext == x' = {step}\nSpec == Init /\\ [][Next]_x\nTypeOK == x \\in 0..2\n====\n"
        )
    };
    bench.write("spec/Deeper.tla", "---- MODULE Deeper ----\nEXTENDS Naturals\nModulus == 3\n====\n");
    bench.write("spec/Steps.tla", "---- MODULE Steps ----\nEXTENDS Deeper\nStep(y) == (y + 1) % Modulus\n====\n");
    bench.write("spec/M.cfg", "SPECIFICATION Spec\nINVARIANT TypeOK\n");
    for module in [
        with("EXTENDS Steps", "Step(x)"),
        with("EXTENDS Naturals\nINSTANCE Steps", "Step(x)"),
        with("EXTENDS Naturals\nS == INSTANCE Steps", "S!Step(x)"),
        with("EXTENDS Naturals\nLOCAL S == INSTANCE Steps", "S!Step(x)"),
    ] {
        bench.write("spec/M.tla", &module);
        bench.run(&["check", "spec/M.tla"]).expect(0).prints(&["holds: TypeOK", "3 distinct"]);
    }
    // An error in such a module names the module.
    bench.write("spec/Steps.tla", "---- MODULE Steps ----\nEXTENDS Deeper\n\nStep(y) == nowhere\n====\n");
    let by_tlc = ["check", "spec/M.tla", "--checker", "tlc"];
    bench.run(&by_tlc).expect(1).prints(&["in module Steps: Unknown operator: `nowhere'", "line 4"]);
}

#[test]
fn a_missing_module_is_reported_without_a_temporary_path() {
    let bench = Bench::real();
    put(&bench, &COUNTER.replace("Naturals, TLC", "Naturals, Elsewhere"), "SPECIFICATION Spec\n");
    let done = text(&bench, 1).prints(&["Cannot find source file for module Elsewhere"]);
    assert!(!done.stdout.contains("tlaforge-"), "{}", done.stdout);
}

#[test]
fn an_unreadable_file_is_a_usage_error_with_a_clear_message() {
    let bench = Bench::remembering();
    bench.run(&["check", "M.tla"]).expect(2).says(&["error: cannot read M.tla: No such file"]);
    bench.write("M.tla", COUNTER);
    bench.run(&["check", "M.tla"]).expect(2).says(&["cannot read M.cfg", "hint: ", "--config FILE"]);
    bench.run(&["check", "M.tla", "--config", "other.cfg"]).expect(2).says(&["cannot read other.cfg"]);
    bench.write("M.cfg", "SPECIFICATION Spec\n");
    for content in ["", "hello\n", "(* ---- nothing ---- *)"] {
        bench.write("M.tla", content);
        bench.run(&["check", "M.tla"]).expect(2).says(&["M.tla: no module: ", "---- MODULE Name ----", "hint: "]);
    }
    bench.write("M.tla", [0xff, 0xfe, 0x00]);
    bench.run(&["check", "M.tla"]).expect(2).says(&["cannot read M.tla"]);
    bench.run(&["check", "."]).expect(2).says(&["cannot read ."]);
    bench.run(&["check"]).expect(2);
    for done in [bench.run(&["check", "gone.tla"]), bench.run(&["check", "gone.tla", "--format", "json"])] {
        assert_eq!(done.stdout, "", "a result is a verdict, and there is none");
    }
}

#[test]
fn another_configuration_can_be_named_and_the_file_has_the_name_of_its_module() {
    let bench = Bench::remembering();
    bench.write("M.tla", COUNTER);
    bench.write("small.cfg", "SPECIFICATION Spec\nINVARIANT TypeOK\n");
    bench.run(&["check", "M.tla", "--config", "small.cfg"]).expect(0).prints(&["holds: TypeOK"]);
    bench.write("M-final.tla", COUNTER);
    let done = bench.run(&["check", "M-final.tla", "--config", "small.cfg"]).expect(1);
    done.prints(&[
        "invalid: ",
        "(line 1, column 13)",
        "the module is named M and its file M-final.tla: they must be the same",
    ]);
}

// Refused modules

#[test]
fn a_module_with_side_effects_is_refused_unless_the_user_allows_it() {
    let bench = Bench::real();
    let module = COUNTER.replace("EXTENDS Naturals, TLC", "EXTENDS Naturals, TLC, IOUtils");
    put(&bench, &module, "SPECIFICATION Spec\nINVARIANT TypeOK\n");
    text(&bench, 1).prints(&[
        "invalid: it is refused (line 2, column 24): module `IOUtils` can reach outside the model (files, programs, \
         environment); it is refused unless allowed by name: --allow-module IOUtils, with IOUtils.tla beside the specification, or in a --library",
    ]);
    let value = object(&bench, 1);
    assert_eq!((&value["verdict"], &value["diagnostics"][0]["stage"]), (&json!("invalid"), &json!("lint")));
    // If it is allowed, the user's own module is used.
    bench.write("IOUtils.tla", "---- MODULE IOUtils ----\nHarmless == 1\n====\n");
    text(&bench, 1).prints(&["it is refused"]);
    bench.run(&["check", "M.tla", "--allow-module", "IOUtils"]).expect(0).prints(&["holds: TypeOK"]);
    bench.run(&["check", "M.tla", "--allow-module", "Json"]).expect(1).prints(&["it is refused"]);
}

#[test]
fn a_module_that_makes_the_checker_stop_early_is_refused() {
    let module = COUNTER.replace("Never == x > 100", "Never == TLCSet(\"exit\", TRUE)");
    let bench = bench_with(&module, "SPECIFICATION Spec\nINVARIANT NoReset\n");
    text(&bench, 1).prints(&["it is refused (line 8, column 10)", "stop and report success"]);
}

#[test]
fn a_string_that_tlcset_obeys_is_allowed_if_no_module_can_pass_it_on() {
    let module =
        COUNTER.replace("VARIABLES", "CONSTANT Last\nVARIABLES").replace("Never == x > 100", "Never == Last = \"a\"");
    let bench = bench_with(&module, "SPECIFICATION Spec\nINVARIANT NoReset\nCONSTANT Last = \"exit\"\n");
    assert_eq!(object(&bench, 1)["violated"]["name"], "NoReset");
    let module = module.replace("Never == Last = \"a\"", "Never == TLCSet(Last, TRUE)");
    put(&bench, &module, "SPECIFICATION Spec\nINVARIANT NoReset\nCONSTANT Last = \"exit\"\n");
    text(&bench, 1).prints(&["it is refused", "its register must be written as a number", "stop and report success"]);
}

#[test]
fn a_class_file_next_to_the_specification_is_never_loaded() {
    let bench = Bench::real();
    put(&bench, COUNTER, "SPECIFICATION Spec\nINVARIANT TypeOK\n");
    for name in ["M.class", "Counter.class", "Naturals.class", "tlc2/module/Naturals.class"] {
        bench.write(name, [0xca, 0xfe, 0xba, 0xbe, 0, 0, 0, 0]);
    }
    text(&bench, 0).prints(&["holds: TypeOK"]);
    // The tools run in a folder that has only the module and its configuration.
    let bench = faking("find . -type f | sort; exit 1");
    for name in ["M.class", "Other.tla", "tlc2/module/Naturals.class"] {
        bench.write(name, "");
    }
    let done = bench.run(&["check", "M.tla", "--checker", "tlc"]).expect(4).says(&["./M.cfg\n  ./M.tla\n"]);
    assert!(!done.stderr.contains(".class") && !done.stderr.contains("Other.tla"), "{}", done.stderr);
}
