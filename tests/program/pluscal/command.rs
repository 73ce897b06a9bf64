//! The command `tlaforge translate`: what it prints, and which files it writes.

use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

use crate::support::Bench;
use serde_json::Value;

const MODULE: &str = "---- MODULE M ----
EXTENDS Naturals
(* --algorithm A
variables x = 0;
begin
  First: x := x + 1;
  Last: x := 0;
end algorithm; *)
After == x
====
";

fn bench() -> Bench {
    let bench = Bench::without_tools();
    bench.write("M.tla", MODULE);
    bench
}

fn object(text: &str) -> Value {
    assert_eq!(text.lines().count(), 1, "{text}");
    let value: Value = serde_json::from_str(text).expect("one object of JSON");
    assert_eq!(value["schema"], 1, "{value}");
    value
}

#[test]
fn without_java_a_module_is_printed_with_its_translation() {
    let bench = bench();
    let done = bench.run(&["translate", "M.tla"]).expect(0);
    assert_eq!(done.stderr, "");
    let (head, tail) = MODULE.split_once("After").unwrap();
    assert!(done.stdout.starts_with(head) && done.stdout.ends_with(&format!("After{tail}")), "{}", done.stdout);
    assert!(done.stdout.contains("\n\\* BEGIN TRANSLATION") && done.stdout.contains("\nVARIABLES pc, x\n"));
    assert_eq!(bench.read("M.tla"), MODULE, "the file is not touched");
    assert!(!bench.path("M.old").exists() && !bench.path("M.cfg").exists());
}

#[test]
fn in_place_replaces_only_the_file() {
    let bench = bench();
    let printed = bench.run(&["translate", "M.tla"]).expect(0).stdout;
    std::fs::set_permissions(bench.path("M.tla"), std::fs::Permissions::from_mode(0o640)).unwrap();
    let before: Vec<_> = std::fs::read_dir(bench.dir.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
    let done = bench.run(&["translate", "M.tla", "--in-place"]).expect(0).says(&["M.tla: translated"]);
    assert_eq!(done.stdout, "");
    assert_eq!(bench.read("M.tla"), printed);
    assert_eq!(std::fs::metadata(bench.path("M.tla")).unwrap().mode() & 0o777, 0o640);
    let after: Vec<_> = std::fs::read_dir(bench.dir.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(before.len(), after.len(), "{after:?}");
    // A second run changes nothing.
    bench.run(&["translate", "M.tla", "--in-place"]).expect(0);
    assert_eq!(bench.read("M.tla"), printed);
}

#[test]
fn in_place_keeps_a_link() {
    let bench = bench();
    std::fs::create_dir(bench.path("links")).unwrap();
    symlink("../M.tla", bench.path("links/L.tla")).unwrap();
    bench.run(&["translate", "links/L.tla", "--in-place"]).expect(0);
    assert!(bench.path("links/L.tla").is_symlink());
    assert!(bench.read("M.tla").contains("VARIABLES pc, x"));
}

#[test]
fn in_place_does_not_change_a_rejected_or_read_only_file() {
    let bench = Bench::without_tools();
    let bad = MODULE.replace("x := 0", "x := ");
    bench.write("M.tla", &bad);
    bench.run(&["translate", "M.tla", "--in-place"]).expect(1).says(&["error: ", " --> M.tla:7:"]);
    assert_eq!(bench.read("M.tla"), bad);
    bench.write("M.tla", MODULE);
    std::fs::set_permissions(bench.path("M.tla"), std::fs::Permissions::from_mode(0o444)).unwrap();
    bench.run(&["translate", "M.tla", "--in-place"]).expect(2).says(&["cannot write M.tla", "read-only"]);
    assert_eq!(bench.read("M.tla"), MODULE);
}

#[test]
fn line_ends_and_other_bytes_are_preserved() {
    let bench = Bench::without_tools();
    let text = format!("\u{1b}[31m prose \u{7}\n{MODULE}behind it ∈").replace('\n', "\r\n");
    bench.write("M.tla", &text);
    let done = bench.run(&["translate", "M.tla"]).expect(0);
    assert!(
        done.stdout.starts_with("\u{1b}[31m prose \u{7}\r\n---- MODULE M")
            && done.stdout.ends_with("====\r\nbehind it ∈")
    );
    assert_eq!(done.stdout.matches('\n').count(), done.stdout.matches("\r\n").count());
}

#[test]
fn a_rejection_has_a_position_and_prints_no_module() {
    let bench = Bench::without_tools();
    bench.write("M.tla", MODULE.replace("Last: x", "x"));
    let done = bench.run(&["translate", "M.tla"]).expect(1).says(&["error: ", " --> M.tla:7:3\n"]);
    assert_eq!(done.stdout, "");
    let value = object(&bench.run(&["translate", "M.tla", "--format", "json"]).expect(1).stdout);
    assert_eq!(value["outcome"], "rejected");
    assert_eq!(
        (&value["diagnostics"][0]["line"], &value["diagnostics"][0]["column"]),
        (&7.into(), &3.into()),
        "{value}"
    );
    assert!(value["module"].is_null());
}

#[test]
fn a_module_without_algorithm_is_reported() {
    let bench = Bench::without_tools();
    let plain = "---- MODULE M ----\nx == 1\n====\n";
    bench.write("M.tla", plain);
    let done = bench.run(&["translate", "M.tla"]).expect(1).says(&["M.tla: no PlusCal algorithm"]);
    assert_eq!(done.stdout, "");
    bench.run(&["translate", "M.tla", "--in-place"]).expect(1);
    assert_eq!(bench.read("M.tla"), plain);
    let value = object(&bench.run(&["translate", "M.tla", "--format", "json"]).expect(1).stdout);
    assert_eq!((value["outcome"].as_str(), value["translator"].as_str()), (Some("no_algorithm"), Some("embedded")));
}

#[test]
fn json_contains_the_module_unless_it_was_written_to_a_file() {
    let bench = bench();
    let printed = bench.run(&["translate", "M.tla"]).expect(0).stdout;
    let value = object(&bench.run(&["translate", "M.tla", "--format", "json"]).expect(0).stdout);
    assert_eq!((value["outcome"].as_str(), value["module"].as_str()), (Some("translated"), Some(printed.as_str())));
    let args = ["translate", "M.tla", "--format", "json", "--in-place"];
    let value = object(&bench.run(&args).expect(0).stdout);
    assert!(value["outcome"] == "translated" && value["module"].is_null(), "{value}");
    assert_eq!(bench.read("M.tla"), printed);
}

#[test]
fn renamed_names_are_reported() {
    let bench = Bench::without_tools();
    let process = |name: &str| format!("process {name} = \"{name}\"\nbegin\n  First: x := 1;\nend process;\n");
    let body = format!("variables x = 0;\n{}{}", process("P"), process("Q"));
    bench.write(
        "M.tla",
        format!("---- MODULE M ----\nEXTENDS Naturals\n(* --algorithm A\n{body}end algorithm *)\n====\n"),
    );
    bench.run(&["translate", "M.tla"]).expect(0).says(&["warning: M.tla: ", "First"]).prints(&["First_ == "]);
}

#[test]
fn an_unreadable_file_is_a_usage_error() {
    let bench = Bench::without_tools();
    bench.run(&["translate", "Missing.tla"]).expect(2).says(&["cannot read Missing.tla"]);
    bench.write("M.tla", b"\xff\xfe not text");
    bench.run(&["translate", "M.tla"]).expect(2).says(&["cannot read M.tla"]);
    bench.run(&["translate", "."]).expect(2).says(&["cannot read ."]);
    bench.run(&["translate", "M.tla", "--compat", "2019"]).expect(2).says(&["2019", "2020"]);
}

#[test]
fn compat_2020_translates_like_the_jar_of_2020() {
    let bench = Bench::real();
    bench.write("M.tla", MODULE);
    let ours = bench.run(&["translate", "M.tla", "--compat", "2020"]).expect(0).prints(&["\nVARIABLES x, pc\n"]);
    let theirs = bench.run(&["translate", "M.tla", "--translator", "java"]).expect(0);
    let lines = |text: &str| -> Vec<String> {
        text.lines().filter(|line| !line.contains(" TRANSLATION")).map(|line| line.trim_end().to_owned()).collect()
    };
    assert_eq!(lines(&ours.stdout), lines(&theirs.stdout));
    bench.run(&["translate", "M.tla", "--translator", "java", "--compat", "2020"]).expect(2).says(&["--tla-tools"]);
}

#[test]
fn the_java_translator_rejects_in_the_same_manner() {
    let bench = Bench::real();
    bench.write("M.tla", MODULE.replace("Last: x", "x"));
    bench.run(&["translate", "M.tla", "--translator", "java"]).expect(1).says(&["error: ", " --> M.tla:7:3\n"]);
    bench.write("M.tla", "---- MODULE M ----\nx == 1\n====\n");
    bench.run(&["translate", "M.tla", "--translator", "java"]).expect(1).says(&["no PlusCal algorithm"]);
}

#[test]
fn without_java_the_error_says_how_to_install_it() {
    let bench = bench();
    bench
        .run_with(&["translate", "M.tla", "--translator", "java"], &[("PATH", "/nowhere")])
        .expect(4)
        .says(&["hint: "]);
}
