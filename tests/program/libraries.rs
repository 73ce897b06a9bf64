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

/// A jar with the files of a folder, made by Python: the tests need no JDK.
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
    bench.write("tlaforge.toml", "library = [\"none\"]\n");
    bench.run(&check).expect(2).says(&["cannot use the library none: there is no such folder or jar"]);
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
    // The definition in TLA+ could be a stub.
    check("embedded").expect(3).prints(&["module Answers has Java code in", "answers.jar", "--checker tlc"]);
    // A mutant's checks go to TLC, too.
    bench.write("M.cfg", "SPECIFICATION Spec\nINVARIANT TypeOK\n");
    let judged = bench.run(&["mutate", "M.tla", "--library", "answers.jar", "--sample", "1"]).expect(0).stdout;
    assert!(judged.contains("TLC") && !judged.contains("embedded checker"), "{judged}");
}

#[test]
fn a_module_that_cannot_be_read_is_replaced_by_no_library() {
    let bench = Bench::remembering();
    put(&bench);
    bench.write("one/Deeper.tla", DEEPER);
    bench.write("two/Steps.tla", STEPS);
    let commands = [&["check", "M.tla"][..], &["mutate", "M.tla"]];
    let run = |command: &[&str]| {
        let args = [command, &["--checker", "embedded", "--library", "one", "--library", "two"]].concat();
        bench.run(&args)
    };
    for command in commands {
        run(command).expect(0);
    }
    let latin = b"---- MODULE Steps ----\n\\* \xe9\n====\n";
    for unreadable in ["Steps.tla", "one/Steps.tla"] {
        bench.write(unreadable, latin);
        for command in commands {
            run(command).expect(2).says(&["cannot read the module", unreadable, "not UTF-8"]);
        }
        std::fs::remove_file(bench.path(unreadable)).unwrap();
    }
    // A link out of the library.
    bench.write("elsewhere/Steps.tla", STEPS);
    std::os::unix::fs::symlink(bench.path("elsewhere/Steps.tla"), bench.path("one/Steps.tla")).unwrap();
    run(commands[0]).expect(2).says(&["one/Steps.tla", "it leads out of"]);
}

#[test]
fn a_library_gives_modules_that_only_newer_tools_have() {
    let bench = Bench::remembering();
    bench.write("M.tla", MODULE.replace("Steps", "TLCExt").replace("Step(x)", "Own(x)"));
    bench.write("M.cfg", "SPECIFICATION Spec\nINVARIANT TypeOK\n");
    bench.write("one/TLCExt.tla", "---- MODULE TLCExt ----\nEXTENDS Naturals\nOwn(y) == (y + 1) % 3\n====\n");
    for checker in ["embedded", "tlc"] {
        let done = bench.run(&["check", "M.tla", "--checker", checker, "--library", "one"]);
        done.expect(0).prints(&["3 distinct"]);
    }
}

#[test]
fn a_jar_that_would_take_forever_or_split_the_class_path_is_refused() {
    let bench = Bench::remembering();
    put(&bench);
    bench.write("one/Steps.tla", STEPS);
    bench.write("one/Deeper.tla", DEEPER);
    make_jar(&bench, "one.jar", "one");
    std::fs::copy(bench.path("one.jar"), bench.path("on:e.jar")).unwrap();
    // Two entries with the same packed bytes, which inflate to nothing.
    let script = "import zipfile, copy\n\
        z = zipfile.ZipFile('same.jar', 'w')\n\
        z.writestr('A.tla', b'\\x00\\x00\\x00\\xff\\xff' * 20000 + b'\\x01\\x00\\x00\\xff\\xff')\n\
        e = z.filelist[0]\n\
        e.compress_type, e.file_size, e.CRC = 8, 0, 0\n\
        z.filelist.append(copy.copy(e))\n\
        z.filelist[1].filename = 'B.tla'\n\
        z.close()\n";
    let made = Command::new("python3").args(["-c", script]).current_dir(bench.dir.path()).output().unwrap();
    assert!(made.status.success(), "{made:?}");
    for (jar, why) in [("on:e.jar", "contains a colon"), ("same.jar", "its entries overlap")] {
        bench.run(&["check", "M.tla", "--library", jar]).expect(2).says(&["cannot use the library", jar, why]);
    }
}

#[test]
fn suggested_commands_name_the_libraries() {
    let bench = Bench::remembering();
    put(&bench);
    bench.write("a b/Steps.tla", STEPS);
    bench.write("a b/Deeper.tla", DEEPER);
    let check = ["check", "M.tla", "--checker", "embedded", "--library", "a b"];
    bench.run(&check).expect(0).says(&["next: tlaforge mutate M.tla --library 'a b'"]);
    bench.write("a b/Deeper.tla", DEEPER.replace('3', "4"));
    bench.run(&check).expect(1).says(&["next: tlaforge check M.tla --library 'a b' --explain"]);
    let mutate = ["mutate", "M.tla", "--checker", "embedded", "--library", "a b"];
    bench.run(&mutate).expect(6).says(&["(tlaforge check M.tla --library 'a b')"]);
}

#[test]
fn findings_in_modules_of_libraries_are_in_files_that_exist() {
    let bench = Bench::remembering();
    put(&bench);
    bench.write("one/Steps.tla", STEPS.replace("Modulus", "Nothing"));
    bench.write("one/Deeper.tla", DEEPER);
    make_jar(&bench, "one.jar", "one");
    let check = |library: &str, format: &str| {
        bench.run(&["check", "M.tla", "--checker", "embedded", "--library", library, "--format", format]).expect(1)
    };
    let file = bench.path("one/Steps.tla").display().to_string();
    let in_folder = check("one", "github").stdout;
    assert!(in_folder.contains("one/Steps.tla,line=3"), "{in_folder}");
    check("one", "text").prints(&[&format!("{file}:3:")]);
    let in_jar = check("one.jar", "github").stdout;
    assert!(in_jar.contains("file=M.tla") && !in_jar.contains("line=") && in_jar.contains("module Steps"), "{in_jar}");
    check("one.jar", "text").prints(&["one.jar!/Steps.tla:3:"]);
}

#[test]
fn mutants_are_judged_again_with_another_jar() {
    let bench = Bench::remembering();
    put(&bench);
    // With a constant of its own, a mutant is killed; only verdicts are kept.
    bench.write("M.tla", MODULE.replace("Step(x)", "Step(x) + 0"));
    bench.write("one/Steps.tla", STEPS);
    bench.write("one/Deeper.tla", DEEPER);
    let mutate = ["mutate", "M.tla", "--checker", "embedded", "--library", "one.jar"];
    make_jar(&bench, "one.jar", "one");
    bench.run(&mutate).expect(0);
    bench.run(&mutate).expect(0).says(&["have results already"]);
    // The modules are the same, and its Java code may not be.
    bench.write("one/Other.class", "code");
    make_jar(&bench, "one.jar", "one");
    let again = bench.run(&mutate).expect(0).stderr;
    assert!(!again.contains("have results already"), "{again}");
}

#[test]
fn test_and_mutate_say_where_they_looked_for_modules() {
    let bench = Bench::remembering();
    put(&bench);
    bench.write("one/Steps.tla", STEPS);
    let note = "not found: Deeper.tla (searched: ., ";
    bench.run(&["mutate", "M.tla", "--checker", "embedded", "--library", "one"]).says(&[note, "/one)"]);
    bench.run(&["test", ".", "--checker", "embedded", "--library", "one"]).expect(1).prints(&["not found: Deeper.tla"]);
}

#[test]
fn a_bad_entry_of_the_environment_is_named_and_doctor_shows_the_rest() {
    let bench = Bench::remembering();
    put(&bench);
    bench.write("notes.txt", "no library");
    for command in [&["check", "M.tla"][..], &["doctor"]] {
        let done = bench.run_with(command, &[("TLA_PATH", "notes.txt")]).expect(2);
        let done = done.says(&["notes.txt", "neither a folder nor a jar", "an entry of TLA_PATH"]);
        assert_eq!(done.stdout.contains("Providers of models:"), command == ["doctor"]);
    }
}

#[test]
fn a_run_whose_library_has_moved_is_resumed_with_another_one() {
    let bench = Bench::remembering();
    bench.write("one/Steps.tla", STEPS);
    bench.write("two/Steps.tla", STEPS);
    let start = |out: &str| {
        let case = crate::support::project().join("evals/rw_lock");
        let recording = case.join("recording/run.jsonl");
        let [case, recording] = [&case, &recording].map(|path| path.to_str().unwrap());
        let run = [
            "run",
            "--case",
            case,
            "--recording",
            recording,
            "--checker",
            "embedded",
            "--library",
            "one",
            "--out",
            out,
        ];
        bench.run_with(&run, &[("TLAFORGE_CRASH", "after:8")]);
    };
    start("first");
    start("second");
    bench.run(&["resume", "first"]).expect(2).says(&["the journal names a library of modules", "--library"]);
    // The settings file of this folder names the same one.
    bench.write("tlaforge.toml", "library = [\"one\"]\n");
    bench.run(&["resume", "first"]).expect(0);
    std::fs::remove_file(bench.path("tlaforge.toml")).unwrap();
    std::fs::remove_dir_all(bench.path("one")).unwrap();
    bench.run(&["resume", "second", "--library", "two"]).expect(0);
}
