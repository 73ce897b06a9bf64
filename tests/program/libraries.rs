//! `--library`: modules in folders and jars, with both checkers.

use std::process::Command;

use crate::support::Bench;

const MODULE: &str = "---- MODULE M ----
EXTENDS Naturals, Steps
VARIABLE x
Init == x = 0
Next == x' = Step(x)
Spec == Init /\\ [][Next]_x
TypeOK == x \\in 0..2
====
";
const STEPS: &str = "---- MODULE Steps ----\nEXTENDS Deeper\nStep(y) == (y + 1) % Modulus\n====\n";
const DEEPER: &str = "---- MODULE Deeper ----\nEXTENDS Naturals\nModulus == 3\n====\n";

/// A specification whose modules are elsewhere.
fn put(bench: &Bench) {
    bench.write("M.tla", MODULE);
    bench.write("M.cfg", "SPECIFICATION Spec\nINVARIANT TypeOK\n");
}

/// A jar with the files of a folder, made by the `jar` of a JDK.
pub(crate) fn make_jar(bench: &Bench, jar: &str, folder: &str) {
    // Compressed, as real jars are; a folder named "." is the root.
    let made = Command::new("python3")
        .args(["-m", "zipfile", "-c", bench.path(jar).to_str().unwrap(), "."])
        .current_dir(bench.path(folder))
        .output()
        .unwrap();
    assert!(made.status.success(), "{made:?}");
}

#[test]
fn modules_of_folders_and_jars_are_found_by_both_checkers() {
    let bench = Bench::remembering();
    put(&bench);
    bench.write("one/Steps.tla", STEPS);
    bench.write("two/Deeper.tla", DEEPER);
    // A folder below the root of a jar is not searched, as TLC does not.
    bench.write("two/inner/Steps.tla", "---- MODULE Steps ----\nStep(y) == 7\n====\n");
    make_jar(&bench, "two.jar", "two");
    for checker in ["embedded", "tlc"] {
        let check = ["check", "M.tla", "--checker", checker, "--library", "one", "--library"];
        for second in ["two", "two.jar"] {
            bench.run(&[&check[..], &[second]].concat()).expect(0).prints(&["holds: TypeOK", "3 distinct"]);
        }
        // Without the second, the message says where it looked.
        let missing = bench.run(&check[..6]).expect(1);
        missing.says(&["not found: Deeper.tla (searched: ., ", "/one)", "--library DIR|JAR"]);
    }
}

#[test]
fn the_environment_names_libraries_and_a_module_beside_the_specification_comes_first() {
    let bench = Bench::remembering();
    put(&bench);
    bench.write("one/Steps.tla", STEPS);
    bench.write("one/Deeper.tla", DEEPER);
    let all = format!("nowhere:{}", bench.path("one").display());
    let check = ["check", "M.tla", "--checker", "embedded"];
    for name in ["TLA_PATH", "TLA-Library"] {
        bench.run_with(&check, &[(name, &all)]).expect(0).prints(&["3 distinct"]);
    }
    let options = format!("-Xshare:auto -DTLA-Library={all}");
    bench.run_with(&check, &[("JAVA_TOOL_OPTIONS", &options)]).expect(0).prints(&["3 distinct"]);
    bench.write("Deeper.tla", DEEPER.replace('3', "2"));
    bench.run_with(&check, &[("TLA_PATH", &all)]).expect(0).prints(&["2 distinct"]);
}

#[test]
fn no_library_replaces_a_standard_module() {
    let bench = Bench::remembering();
    bench.write("M.tla", MODULE.replace(", Steps", "").replace("Step(x)", "(x + 1) % 3"));
    bench.write("M.cfg", "SPECIFICATION Spec\nINVARIANT TypeOK\n");
    bench.write("one/Naturals.tla", "---- MODULE Naturals ----\na + b == 7\na % b == 7\na .. b == {}\n====\n");
    for checker in ["embedded", "tlc"] {
        let done = bench.run(&["check", "M.tla", "--checker", checker, "--library", "one"]);
        done.expect(0).prints(&["3 distinct"]);
    }
}

#[test]
fn mutants_are_judged_with_the_modules_of_a_library() {
    let bench = Bench::remembering();
    put(&bench);
    bench.write("one/Steps.tla", STEPS);
    bench.write("one/Deeper.tla", DEEPER);
    let done = bench.run(&["mutate", "M.tla", "--checker", "embedded", "--library", "one"]);
    done.expect(0).prints(&["killed"]);
}

#[test]
fn what_is_no_library_is_a_usage_error() {
    let bench = Bench::remembering();
    put(&bench);
    bench.write("text.jar", "no zip archive");
    for (path, why) in [("nowhere", "there is no such folder or jar"), ("text.jar", "neither a folder nor a jar")] {
        let done = bench.run(&["check", "M.tla", "--library", path]).expect(2);
        done.says(&["cannot use the library", path, why, "hint: --library takes a folder"]);
    }
}

#[test]
fn a_settings_file_names_only_folders_of_its_own() {
    let bench = Bench::remembering();
    put(&bench);
    bench.write("one/Steps.tla", STEPS);
    bench.write("one/Deeper.tla", DEEPER);
    make_jar(&bench, "one.jar", "one");
    let check = ["check", "M.tla", "--checker", "embedded"];
    bench.write("tlaforge.toml", "library = [\"one\"]\n");
    bench.run(&check).expect(0).prints(&["3 distinct"]);
    for foreign in ["one.jar", "/usr", "../"] {
        bench.write("tlaforge.toml", format!("library = [\"{foreign}\"]\n"));
        bench.run(&check).expect(2).says(&["names a library of modules", foreign, "TLA_PATH"]);
    }
}

#[test]
fn tlc_uses_what_a_jar_overrides_in_java() {
    let bench = Bench::real();
    bench.write("M.tla", MODULE.replace("Steps", "Answers").replace("Step(x)", "IF x = 0 THEN Answer ELSE x"));
    bench.write("M.cfg", "SPECIFICATION Spec\nINVARIANT TypeOK\n");
    bench.write("src/Answers.tla", "---- MODULE Answers ----\nAnswer == 1\n====\n");
    // Committed as it was compiled: the tests need no Java compiler.
    let class = crate::support::project().join("tests/data/libraries/Answers.class");
    bench.write("src/Answers.class", std::fs::read(class).unwrap());
    make_jar(&bench, "answers.jar", "src");
    bench.write("M.cfg", "SPECIFICATION Spec\nINVARIANT NotTwo\n");
    let module = bench.read("M.tla").replace("====", "NotTwo == x /= 2\n====");
    bench.write("M.tla", module);
    let check = |checker: &str| bench.run(&["check", "M.tla", "--checker", checker, "--library", "answers.jar"]);
    check("tlc").expect(1).prints(&["NotTwo"]);
    // The embedded checker reads the definition.
    check("embedded").expect(0);
}
