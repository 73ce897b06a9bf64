//! `--watch` of `check` and `mutate`, from outside: a process whose output is read while files change.

use std::fs::File;
use std::process::{Child, Stdio};

use rustix::process::{Pid, Signal, kill_process};

use crate::support::Bench;
use crate::support::checking::ENDLESS;
use crate::support::waiting::wait_until;

const MODULE: &str = "---- MODULE M ----
EXTENDS Naturals, Limit
VARIABLE x
Init == x = 0
Next == x' = IF x < Top THEN x + 1 ELSE 0
Spec == Init /\\ [][Next]_x
TypeOK == x \\in 0..3
====
";

/// A process that watches, and everything that it has printed.
struct Watching<'a> {
    bench: &'a Bench,
    child: Child,
}

impl<'a> Watching<'a> {
    fn start(bench: &'a Bench, args: &[&str]) -> Self {
        let out = || Stdio::from(File::options().create(true).append(true).open(bench.path("out")).unwrap());
        let child = bench.command(args).stdout(out()).stderr(out()).spawn().unwrap();
        Self { bench, child }
    }

    /// Waits until the output has the words `count` times.
    fn wait_for(&self, words: &str, count: usize) {
        let seen = || self.bench.read("out").matches(words).count() >= count;
        wait_until(&format!("{words:?} is printed {count} times"), seen);
    }

    /// Ends it as Ctrl-C does, and returns its status.
    fn interrupt(mut self) -> Option<i32> {
        kill_process(Pid::from_child(&self.child), Signal::INT).unwrap();
        self.child.wait().unwrap().code()
    }
}

impl Drop for Watching<'_> {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn limit(top: &str) -> String {
    format!("---- MODULE Limit ----\nTop == {top}\n====\n")
}

fn put(bench: &Bench) {
    bench.write("M.tla", MODULE);
    bench.write("M.cfg", "SPECIFICATION Spec\nINVARIANT TypeOK\n");
    bench.write("Limit.tla", limit("3"));
}

#[test]
fn a_save_is_checked_with_what_differs_and_a_broken_file_does_not_end_the_watch() {
    let bench = Bench::without_tools();
    put(&bench);
    let watching = Watching::start(&bench, &["check", "M.tla", "--checker", "embedded", "--watch"]);
    watching.wait_for("waiting for a change", 1);
    // As an editor saves: a new file is renamed to the name of the old one.
    bench.write("new", limit("4"));
    std::fs::rename(bench.path("new"), bench.path("Limit.tla")).unwrap();
    watching.wait_for("changed: Limit.tla", 1);
    watching.wait_for("now violated: TypeOK", 1);
    // Half of a module, and no module at all.
    bench.write("M.tla", &MODULE[..60]);
    watching.wait_for("changed: M.tla", 1);
    watching.wait_for("waiting for a change", 3);
    bench.write("M.tla", "");
    watching.wait_for("waiting for a change", 4);
    bench.write("M.tla", MODULE);
    watching.wait_for("waiting for a change", 5);
    bench.write("Limit.tla", limit("2"));
    watching.wait_for("now holds: TypeOK", 1);
    bench.write("M.cfg", "SPECIFICATION Spec\n");
    watching.wait_for("changed: M.cfg", 1);
    watching.wait_for("no longer checked: TypeOK", 1);
    bench.write("M.cfg", "SPECIFICATION Spec\n\\* no property\n");
    watching.wait_for("same verdicts as before", 1);
    bench.write("Limit.tla", limit("Nothing"));
    watching.wait_for("now invalid", 1);
    assert_eq!(watching.interrupt(), Some(0));
}

#[test]
fn a_deadlock_that_is_gone_holds() {
    let bench = Bench::without_tools();
    let module = |next: &str| MODULE.replace(", Limit", "").replace("IF x < Top THEN x + 1 ELSE 0", next);
    bench.write("M.tla", module("x + 1 /\\ x < 2"));
    bench.write("M.cfg", "SPECIFICATION Spec\nINVARIANT TypeOK\n");
    let watching = Watching::start(&bench, &["check", "M.tla", "--checker", "embedded", "--watch"]);
    watching.wait_for("waiting for a change", 1);
    bench.write("M.tla", module("(x + 1) % 3"));
    watching.wait_for("now holds: Deadlock", 1);
    assert_eq!(watching.interrupt(), Some(0));
}

#[test]
fn settings_and_a_library_that_is_replaced_are_watched() {
    let bench = Bench::without_tools();
    put(&bench);
    std::fs::remove_file(bench.path("Limit.tla")).unwrap();
    bench.write("one/Limit.tla", limit("3"));
    bench.write("two/Limit.tla", limit("4"));
    bench.write("tlaforge.toml", "library = [\"one\"]\n");
    let watching = Watching::start(&bench, &["check", "M.tla", "--checker", "embedded", "--watch"]);
    watching.wait_for("waiting for a change; press Ctrl-C to stop", 1);
    bench.write("tlaforge.toml", "library = [\"two\"]\n");
    watching.wait_for("changed: tlaforge.toml", 1);
    watching.wait_for("now violated: TypeOK", 1);
    std::fs::remove_dir_all(bench.path("two")).unwrap();
    watching.wait_for("there is no such folder or jar", 1);
    watching.wait_for("waiting for a change", 3);
    bench.write("two/Limit.tla", limit("2"));
    watching.wait_for("now holds: TypeOK", 1);
    // The new folder is watched, too.
    bench.write("two/Limit.tla", limit("5"));
    watching.wait_for("now violated: TypeOK", 2);
    assert_eq!(watching.interrupt(), Some(0));
}

#[test]
fn a_log_that_grows_in_the_folder_delays_no_check() {
    let bench = Bench::without_tools();
    put(&bench);
    let watching = Watching::start(&bench, &["check", "M.tla", "--checker", "embedded", "--watch"]);
    watching.wait_for("waiting for a change", 1);
    let mut growing = std::process::Command::new("sh")
        .args(["-c", "while echo line >> log; do sleep 0.01; done"])
        .current_dir(bench.dir.path())
        .spawn()
        .unwrap();
    wait_until("the log grows", || bench.path("log").exists());
    bench.write("Limit.tla", limit("4"));
    watching.wait_for("now violated: TypeOK", 1);
    growing.kill().unwrap();
    growing.wait().unwrap();
    assert_eq!(watching.interrupt(), Some(0));
}

#[test]
fn what_cannot_be_watched_is_refused() {
    let bench = Bench::without_tools();
    put(&bench);
    for path in ["none/M.tla", "N.tla"] {
        bench.run(&["check", path, "--checker", "embedded", "--watch"]).expect(2).says(&["cannot read", path]);
    }
    let mutate = ["mutate", "M.tla", "--checker", "embedded", "--watch", "--in-diff", "-"];
    bench.run(&mutate).expect(2).says(&["stdin", "--in-diff FILE"]);
}

#[test]
fn a_newer_save_cancels_the_running_check() {
    let bench = Bench::without_tools();
    bench.write("M.tla", ENDLESS);
    bench.write("M.cfg", "SPECIFICATION Spec\nINVARIANT TypeOK\n");
    let watching = Watching::start(&bench, &["check", "M.tla", "--checker", "embedded", "--watch"]);
    watching.wait_for("checking M.tla", 1);
    bench.write("M.tla", ENDLESS.replace("x' = x + 1", "x' = (x + 1) % 5"));
    watching.wait_for("cancelled by a newer save", 1);
    watching.wait_for("5 distinct", 1);
    assert_eq!(watching.interrupt(), Some(0));
}

#[test]
fn ctrl_c_ends_a_watch_whose_check_is_running() {
    let bench = Bench::without_tools();
    bench.write("M.tla", ENDLESS);
    bench.write("M.cfg", "SPECIFICATION Spec\nINVARIANT TypeOK\n");
    let watching = Watching::start(&bench, &["check", "M.tla", "--checker", "embedded", "--watch"]);
    watching.wait_for("checking M.tla", 1);
    assert_eq!(watching.interrupt(), Some(0));
}

#[test]
fn mutants_are_judged_again_after_a_save() {
    let bench = Bench::without_tools();
    put(&bench);
    bench.write("M.tla", MODULE.replace("====\n", "Steps == [][x' = (x + 1) % (Top + 1)]_x\n====\n"));
    let watching = Watching::start(&bench, &["mutate", "M.tla", "--checker", "embedded", "--watch"]);
    watching.wait_for("waiting for a change", 1);
    bench.write("M.cfg", "SPECIFICATION Spec\nINVARIANT TypeOK\nPROPERTY Steps\n");
    watching.wait_for("noticed by properties (before: ", 1);
    bench.write("M.cfg", "SPECIFICATION Spec\n\\* the same\nINVARIANT TypeOK\nPROPERTY Steps\n");
    watching.wait_for("same score as before", 1);
    assert_eq!(watching.interrupt(), Some(0));
}
