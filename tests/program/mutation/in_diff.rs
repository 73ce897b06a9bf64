//! `mutate --in-diff`: which file of a diff is the specification.

use std::process::Command;

use crate::support::Bench;

const MODULE: &str = "---- MODULE Spec ----\nEXTENDS Integers\nVARIABLE x\nInit == x = 0\nNext == x < 3 /\\ x' = x + 1\n\
    Back == x = 3 /\\ x' = 0\nAll == Next \\/ Back\nSpec == Init /\\ [][All]_x\nInv == x < 4\n====\n";

fn two_folders() -> Bench {
    let bench = Bench::without_tools();
    for folder in ["a", "b"] {
        bench.write(&format!("{folder}/Spec.tla"), MODULE);
        bench.write(&format!("{folder}/Spec.cfg"), "SPECIFICATION Spec\nINVARIANT Inv\n");
    }
    bench
}

/// A diff of line 5 between two paths.
fn diff(old: &str, new: &str) -> String {
    format!("--- {old}\n+++ {new}\n@@ -5 +5 @@\n-Next == x < 2 /\\ x' = x + 1\n+Next == x < 3 /\\ x' = x + 1\n")
}

fn listed(bench: &Bench, spec: &str, diff: &str) -> usize {
    bench.write("some.diff", diff);
    let done = bench.run(&["mutate", spec, "--in-diff", "some.diff", "--list"]).expect(0);
    assert!(done.stdout.lines().all(|line| line.starts_with("Spec.tla:5:")), "{}", done.stdout);
    done.stdout.lines().count()
}

#[test]
fn a_diff_of_one_folder_lists_no_mutant_of_another() {
    let bench = two_folders();
    let header = "diff --git a/b/Spec.tla b/b/Spec.tla\nindex 1..2 100644\n";
    for changed in [
        format!("{header}{}", diff("a/b/Spec.tla", "b/b/Spec.tla")),
        diff("b/Spec.tla", "b/Spec.tla"),
        diff("a/b/Spec.tla", "b/b/Spec.tla").replace('\n', "\r\n"),
        diff("old/b/Spec.tla\t2026-01-01 00:00:00", "new/b/Spec.tla\t2026-01-02 00:00:00"),
        diff("\"a/b/\\123pec.tla\"", "\"b/b/\\123pec.tla\""),
        diff(&bench.path("b/Spec.tla").display().to_string(), &bench.path("b/Spec.tla").display().to_string()),
    ] {
        assert_eq!(listed(&bench, "a/Spec.tla", &changed), 0, "{changed}");
        let own = listed(&bench, "b/Spec.tla", &changed);
        assert!(own > 0, "{changed}");
        assert_eq!(listed(&bench, &bench.path("b/Spec.tla").display().to_string(), &changed), own);
        assert_eq!(listed(&bench, "a/../b/Spec.tla", &changed), own);
    }
}

#[test]
fn a_diff_that_leaves_the_specification_alone_is_nothing_to_do() {
    let bench = two_folders();
    let other = diff("a/b/Spec.tla", "b/b/Spec.tla");
    let comment = "--- a/a/Spec.tla\n+++ b/a/Spec.tla\n@@ -2 +2 @@\n-EXTENDS Naturals\n+EXTENDS Integers\n";
    for (text, says) in [
        ("", "does not change a/Spec.tla"),
        (other.as_str(), "(it changes b/b/Spec.tla)"),
        (comment, "mutants is selected"),
        ("diff --git a/x b/x\nold mode 100644\nnew mode 100755\n", "does not change"),
    ] {
        bench.write("some.diff", text);
        let run = |more: &[&str]| {
            bench.run(&[&["mutate", "a/Spec.tla", "--in-diff", "some.diff", "--fail-under", "0.9"], more].concat())
        };
        run(&[]).expect(0).says(&[says]);
        let json: serde_json::Value = serde_json::from_str(&run(&["--format", "json"]).expect(0).stdout).unwrap();
        assert_eq!(json["mutants"], serde_json::json!([]));
        run(&["--format", "github"]).expect(0);
        assert!(!bench.path("mutants.out").exists());
    }
}

#[test]
fn a_diff_that_cannot_be_read_is_an_error() {
    let bench = two_folders();
    let whole = diff("a/a/Spec.tla", "b/a/Spec.tla");
    let cut = whole.lines().take(4).collect::<Vec<_>>().join("\n");
    let merge = "diff --cc a/Spec.tla\n--- a/a/Spec.tla\n+++ b/a/Spec.tla\n@@@ -5 -5 +5 @@@\n";
    for text in ["no diff\n", &cut, merge, &whole.replace("@@ -5 +5 @@", "@@ -5 +x @@"), &format!("{whole}{whole}")] {
        bench.write("some.diff", text);
        bench.run(&["mutate", "a/Spec.tla", "--in-diff", "some.diff", "--list"]).expect(2).says(&["some.diff"]);
    }
    bench.run(&["mutate", "a/Spec.tla", "--in-diff", "none.diff", "--list"]).expect(2).says(&["none.diff"]);
}

#[test]
fn a_path_that_two_files_have_is_named_with_both() {
    let bench = two_folders();
    bench.write("Spec.tla", MODULE);
    std::fs::create_dir(bench.path(".git")).unwrap();
    bench.write("some.diff", diff("a/Spec.tla", "b/Spec.tla"));
    let mut command: Command = bench.command(&["mutate", "Spec.tla", "--in-diff", "../some.diff", "--list"]);
    let done = command.current_dir(bench.path("a")).output().unwrap();
    let told = String::from_utf8_lossy(&done.stderr).into_owned();
    assert_eq!(done.status.code(), Some(2), "{told}");
    for path in ["Spec.tla", "a/Spec.tla"] {
        assert!(told.contains(&bench.path(path).display().to_string()), "{path}: {told}");
    }
    // From the root, it is the file of the root.
    assert_eq!(listed(&bench, "a/Spec.tla", &diff("a/Spec.tla", "b/Spec.tla")), 0);
}

#[test]
fn a_diff_without_lines_or_of_another_version_is_an_error_for_its_own_file_only() {
    let bench = two_folders();
    let binary =
        "diff --git a/b/Spec.tla b/b/Spec.tla\nindex 1..2 100644\nBinary files a/b/Spec.tla and b/b/Spec.tla differ\n";
    let stale = diff("a/b/Spec.tla", "b/b/Spec.tla").replace("@@ -5 +5 @@", "@@ -500 +500 @@");
    for (text, says) in [(binary, "as a binary difference"), (stale.as_str(), "the file has only")] {
        assert_eq!(listed(&bench, "a/Spec.tla", text), 0, "{text}");
        bench.write("some.diff", text);
        bench
            .run(&["mutate", "b/Spec.tla", "--in-diff", "some.diff", "--list"])
            .expect(2)
            .says(&[says, "hint: make the diff"]);
    }
}
