//! `tlaforge mutate`, driven from outside.

use std::collections::BTreeSet;
use std::process::{Child, Stdio};

use crate::support::waiting::wait_until;
use crate::support::{Bench, Done, project};
use serde_json::Value;

/// A counter that two processes raise under a guard.
const COUNTER: &str = "---- MODULE Counter ----
EXTENDS Integers
CONSTANTS Max

(* --algorithm Counter
variables count = 0, raised = [p \\in {1, 2} |-> 0];
process raiser \\in {1, 2}
begin
  raise:
    while raised[self] < Max do
      await count < Max;
      count := count + 1;
      raised[self] := raised[self] + 1;
    end while;
end process;
end algorithm; *)

\\* covers R1
InRange == count \\in 0..Max
\\* covers R2
Together == count = raised[1] + raised[2]
WitnessFull == count = Max
====
";
const CFG: &str = "SPECIFICATION Spec\nCONSTANTS Max = 2\nINVARIANTS InRange Together\nCHECK_DEADLOCK FALSE\n\\* WITNESS WitnessFull\n";

fn bench(module: &str, cfg: &str) -> Bench {
    let bench = Bench::without_tools();
    bench.write("Counter.tla", module);
    bench.write("Counter.cfg", cfg);
    bench
}

fn object(done: &Done) -> Value {
    serde_json::from_str(&done.stdout).unwrap_or_else(|e| panic!("{e}: {}\n{}", done.stdout, done.stderr))
}

fn names(object: &Value) -> BTreeSet<String> {
    object["mutants"].as_array().unwrap().iter().map(|m| m["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn every_mutant_is_judged_and_reported() {
    let bench = bench(COUNTER, CFG);
    let done = bench.run(&["mutate", "Counter.tla", "--format", "json"]).expect(0);
    let all = object(&done);
    assert_eq!((&all["schema"], &all["baseline"]["verdict"]), (&2.into(), &"holds".into()));
    let mutants = all["mutants"].as_array().unwrap();
    assert_eq!(names(&all).len(), mutants.len(), "names are told apart");
    let by_class = |class: &str| mutants.iter().filter(|m| m["outcome"] == class).collect::<Vec<_>>();
    let classes =
        ["killed", "survived", "restricting", "equivalent", "fairness_only", "invalid", "inconclusive", "timeout"];
    let told: usize = classes.iter().map(|class| by_class(class).len()).sum();
    assert_eq!(told, mutants.len());
    for class in classes {
        assert_eq!(all["summary"][class], by_class(class).len(), "{class}");
    }
    // Whoever does not raise the one raises the other alone.
    let dropped = mutants
        .iter()
        .find(|m| {
            m["diff"].as_str().unwrap().contains("- ") && m["what"].as_str().unwrap().contains("raised[self] + 1")
        })
        .unwrap();
    assert_eq!(dropped["outcome"], "killed", "{dropped:#}");
    for killed in by_class("killed") {
        assert!(!killed["killed_by"].as_array().unwrap().is_empty(), "{killed:#}");
        assert!(killed["trace"]["steps"].as_array().is_some_and(|s| !s.is_empty()), "{killed:#}");
    }
    assert!(by_class("inconclusive").is_empty(), "{:#?}", by_class("inconclusive"));
    // The guard on `count` alone keeps the counter in its range.
    let guard = mutants.iter().find(|m| m["operator"] == "drop-guard").unwrap();
    assert_eq!((&guard["outcome"], &guard["killed_by"][0]), (&"killed".into(), &"InRange".into()), "{guard:#}");

    let text = bench.run(&["mutate", "Counter.tla"]).expect(0);
    assert!(text.stderr.contains("have results already"), "{}", text.stderr);
    assert!(text.stdout.starts_with(&format!("# Mutants of Counter.tla: {}", mutants.len())), "{}", text.stdout);
    let survivor = by_class("survived");
    for one in survivor {
        let [place, definition, operator] =
            ["place", "definition", "operator"].map(|field| one[field].as_str().unwrap());
        assert!(text.stdout.contains(&format!("- {place} {definition}: {operator}")), "{}", text.stdout);
        let sentence = format!(
            "no property notices when `{}` {}",
            one["definition"].as_str().unwrap(),
            one["what"].as_str().unwrap()
        );
        assert!(text.stdout.contains(&sentence), "{sentence}\n{}", text.stdout);
    }
    for file in ["mutants.json", "outcomes.jsonl", "outcomes.json", "killed.txt", "survived.txt", "timed_out.txt"] {
        assert!(bench.path("mutants.out").join(file).is_file(), "{file}");
    }
}

#[test]
fn without_an_invariant_its_mutants_survive() {
    let score = |cfg: &str| {
        let done = bench(COUNTER, cfg).run(&["mutate", "Counter.tla", "--format", "json"]).expect(0);
        object(&done)["summary"]["score"].as_f64().unwrap()
    };
    let with = score(CFG);
    let without = score(&CFG.replace("InRange Together", "InRange"));
    assert!(with > without, "{with} {without}");
    let done = bench(COUNTER, CFG).run(&["mutate", "Counter.tla", "--fail-under", "1"]);
    assert_eq!(done.status, Some(i32::from(with < 1.0)));
}

#[test]
fn shards_operators_and_samples_select_mutants() {
    let bench = bench(COUNTER, CFG);
    let list = |more: &[&str]| {
        let mut args = vec!["mutate", "Counter.tla", "--list", "--format", "json"];
        args.extend(more);
        object(&bench.run(&args).expect(0))
    };
    let (whole, list) = (list, |more: &[&str]| names(&list(more)));
    let all = list(&[]);
    assert!(all.len() > 10, "{all:?}");
    let parts: Vec<BTreeSet<String>> = ["1/3", "2/3", "3/3"].iter().map(|part| list(&["--shard", part])).collect();
    assert_eq!(parts.iter().map(BTreeSet::len).sum::<usize>(), all.len());
    assert_eq!(parts.concat_all(), all);
    let guards = list(&["--operator", "drop-guard"]);
    assert!(!guards.is_empty() && guards.iter().all(|name| name.contains("drop guard")), "{guards:?}");
    let drawn = list(&["--sample", "5", "--seed", "7"]);
    assert_eq!((drawn.len(), &drawn), (5, &list(&["--sample", "5", "--seed", "7"])));
    assert_ne!(drawn, list(&["--sample", "5", "--seed", "8"]));
    assert!(!bench.path("mutants.out").exists(), "a list writes nothing");

    let line = COUNTER.lines().position(|l| l.contains("await")).unwrap() + 1;
    bench.write(
        "change.diff",
        format!("--- a/x/Counter.tla\n+++ b/x/Counter.tla\n@@ -{line},1 +{line},1 @@\n-      await TRUE;\n+      await count < Max;\n"),
    );
    let touched = whole(&["--in-diff", "change.diff"]);
    let touched = touched["mutants"].as_array().unwrap();
    assert!(!touched.is_empty() && touched.iter().all(|mutant| mutant["line"] == line), "{touched:?}");
    // The diff from stdin, and operators as `--operator` takes them.
    let mut command = bench.command(&["mutate", "Counter.tla", "--list", "--in-diff", "-", "--operator", "drop-guard"]);
    let output = command.stdin(std::fs::File::open(bench.path("change.diff")).unwrap()).output().unwrap();
    let listed = String::from_utf8(output.stdout).unwrap();
    assert!(listed.contains(&format!("Counter.tla:{line}:")) && listed.contains(" drop-guard: "), "{listed}");
}

trait Together {
    fn concat_all(&self) -> BTreeSet<String>;
}

impl Together for Vec<BTreeSet<String>> {
    fn concat_all(&self) -> BTreeSet<String> {
        self.iter().flatten().cloned().collect()
    }
}

#[test]
fn an_unusable_baseline_exits_with_6_and_its_reason() {
    let cases = [
        (
            COUNTER.to_owned(),
            CFG.replace("InRange Together", "InRange").replace("CHECK_DEADLOCK FALSE", ""),
            "itself violates Deadlock",
        ),
        (COUNTER.replace("0..Max", "0..1"), CFG.to_owned(), "itself violates InRange"),
        (COUNTER.to_owned(), CFG.replace("INVARIANTS InRange Together\n", ""), "lists no invariant and no property"),
        (
            COUNTER.replace("WitnessFull == count = Max", "WitnessFull == count > Max"),
            CFG.to_owned(),
            "WitnessFull is not reachable",
        ),
        (COUNTER.replace("end while", "end whil"), CFG.to_owned(), "PlusCal"),
        (COUNTER.replace("raised[1] + raised[2]", "raised[1] + raisd[2]"), CFG.to_owned(), "raisd"),
    ];
    for (module, cfg, reason) in cases {
        bench(&module, &cfg).run(&["mutate", "Counter.tla"]).expect(6).says(&[reason, "Counter.tla"]);
    }
}

#[test]
fn the_hint_for_a_bad_baseline_is_a_command_that_shows_the_problem() {
    let bench = bench(&COUNTER.replace("0..Max", "0..1"), CFG);
    std::fs::rename(bench.path("Counter.cfg"), bench.path("Own.cfg")).unwrap();
    let done = bench.run(&["mutate", "Counter.tla", "--config", "Own.cfg"]).expect(6);
    done.says(&["tlaforge check Counter.tla --config Own.cfg"]);
    bench.run(&["check", "Counter.tla", "--config", "Own.cfg"]).expect(1);
}

#[test]
fn a_timed_out_baseline_suggests_more_time_and_not_java() {
    let bench = Bench::real();
    let endless = COUNTER
        .replace("count < Max", "TRUE")
        .replace("raised[self] < Max", "TRUE")
        .replace("count \\in 0..Max", "count >= 0");
    bench.write("Counter.tla", endless);
    bench.write("Counter.cfg", CFG);
    let done = bench.run(&["mutate", "Counter.tla", "--checker", "embedded", "--tlc-timeout", "1"]).expect(3);
    assert!(!done.stderr.contains("install Java"), "{}", done.stderr);
    done.says(&["--tlc-timeout", "--checker tlc"]);
}

#[test]
fn wrong_arguments_are_named() {
    let bench = bench(COUNTER, CFG);
    bench.run(&["mutate", "Counter.tla", "--operator", "teleport"]).expect(2).says(&["teleport", "drop-guard"]);
    bench.run(&["mutate", "Counter.tla", "--shard", "4/3"]).expect(2).says(&["4/3"]);
    bench.run(&["mutate", "Counter.tla", "--fail-under", "80"]).expect(2).says(&["from 0 to 1"]);
    bench.run(&["mutate", "Missing.tla"]).expect(2).says(&["Missing.tla"]);
    bench.run(&["mutate", "Counter.tla", "--config", "No.cfg"]).expect(2).says(&["No.cfg", "--config"]);
    bench.write("notes.tla", "no module here");
    bench.run(&["mutate", "notes.tla"]).expect(2).says(&["notes.tla", "no module"]);
    bench.write("mutants.out", "a file");
    bench.run(&["mutate", "Counter.tla"]).expect(2).says(&["mutants.out"]);
}

#[test]
fn an_interrupted_run_resumes_without_repetition() {
    let bench = bench(COUNTER, CFG);
    let log = bench.path("mutants.out/outcomes.jsonl");
    let lines = || std::fs::read_to_string(&log).unwrap_or_default().lines().count();
    let mut rounds = 0;
    loop {
        let before = lines();
        let mut child = bench
            .command(&["mutate", "Counter.tla", "--jobs", "1"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let is_over = |child: &mut Child| child.try_wait().unwrap().is_some();
        wait_until("four more mutants are judged", || lines() >= before + 4 || is_over(&mut child));
        child.kill().unwrap();
        let ended = child.wait().unwrap();
        if ended.success() {
            break;
        }
        rounds += 1;
        assert!(rounds < 200);
        if rounds == 2 {
            // A line that the kill cut in two.
            let text = std::fs::read(&log).unwrap();
            std::fs::write(&log, [&text[..], &br#"{"name":"Counter.tla:1"#[..]].concat()).unwrap();
        }
    }
    assert!(rounds > 2, "it was too quick to be killed");
    let text = std::fs::read_to_string(&log).unwrap();
    let judged: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let names: BTreeSet<&str> = judged.iter().map(|j| j["name"].as_str().unwrap()).collect();
    assert_eq!(names.len(), judged.len(), "a mutant was judged twice");
    let whole = object(&bench.run(&["mutate", "Counter.tla", "--format", "json"]).expect(0));
    assert_eq!(whole["mutants"].as_array().unwrap().len(), judged.len());
    let fresh = self::bench(COUNTER, CFG);
    let fresh = object(&fresh.run(&["mutate", "Counter.tla", "--format", "json"]).expect(0));
    assert_eq!(whole["summary"], fresh["summary"]);
}

fn classes(bench: &Bench, spec: &str) -> Vec<(String, String, String)> {
    let all = object(&bench.run(&["mutate", spec, "--format", "json", "--checker", "embedded"]).expect(0));
    let text = |one: &Value, field: &str| one[field].as_str().unwrap_or_default().to_owned();
    let mutants = all["mutants"].as_array().unwrap().iter();
    mutants.map(|one| (text(one, "name"), text(one, "outcome"), text(one, "reason"))).collect()
}

/// Its variables stand in the module that it extends: the inclusion could not see them, and held for want of any.
#[test]
fn what_extends_a_module_beside_it_is_never_called_equivalent() {
    let bench = Bench::without_tools();
    bench.write(
        "Base.tla",
        "---- MODULE Base ----\nEXTENDS Integers\nVARIABLES x, y\nInv == x \\in 0..5 /\\ y \\in 0..5\n====\n",
    );
    bench.write(
        "MC.tla",
        "---- MODULE MC ----\nEXTENDS Base\nInit == x = 0 /\\ y = 0\nIncX == x < 3 /\\ x' = x + 1 /\\ UNCHANGED y\nIncY == y < 3 \
         /\\ y' = y + 1 /\\ UNCHANGED x\nNext == IncX \\/ IncY\n====\n",
    );
    bench.write("MC.cfg", "INIT Init\nNEXT Next\nINVARIANT Inv\nCHECK_DEADLOCK FALSE\n");
    let all = classes(&bench, "MC.tla");
    assert!(all.iter().any(|(_, class, _)| class == "killed"), "{all:?}");
    assert!(all.iter().all(|(_, class, _)| ["killed", "invalid", "inconclusive"].contains(&class.as_str())), "{all:?}");
}

/// `A(2)` is fair and no choice of the next-state relation: its steps are not seen where the two are compared.
#[test]
fn fairness_of_what_is_no_step_is_not_decided() {
    let bench = Bench::without_tools();
    let module = "---- MODULE G ----\nEXTENDS Integers\nVARIABLES active, c\nvars == <<active, c>>\nInit == active = {1} /\\ c = \
                  [p \\in {1, 2} |-> 0]\nA(p) == /\\ p \\in active\n        /\\ c' = [c EXCEPT ![p] = 1 - c[p]]\n        /\\ \
                  active' = active\nNext == \\E p \\in active : A(p)\nSpec == Init /\\ [][Next]_vars /\\ (\\A p \\in {1, 2} : \
                  WF_vars(A(p)))\nInv == c[2] = 0\n====\n";
    bench.write("G.tla", module);
    bench.write("G.cfg", "SPECIFICATION Spec\nINVARIANT Inv\nCHECK_DEADLOCK FALSE\n");
    let all = classes(&bench, "G.tla");
    let guard = all.iter().find(|(name, ..)| name.contains("drop guard")).unwrap();
    assert_eq!(guard.1, "inconclusive", "{guard:?}");
    assert!(guard.2.contains("fairness"), "{guard:?}");
}

#[test]
fn fairness_of_a_choice_is_decided_by_its_steps() {
    let reference = project().join("exemplars/RetryKey.tla");
    let all = classes(&Bench::without_tools(), reference.to_str().unwrap());
    assert!(all.iter().any(|(_, class, reason)| class == "equivalent" && reason.contains("fair action")), "{all:?}");
}

#[test]
fn an_assumption_is_no_property() {
    let bench = Bench::without_tools();
    bench.write(
        "V.tla",
        "---- MODULE V ----\nEXTENDS Integers\nCONSTANT N\nLim == N + 1\nASSUME Lim > N\nVARIABLE x\nInit == x = 0\nInc == x < \
         Lim /\\ x' = x + 1\nReset == x = Lim /\\ x' = 0\nNext == Inc \\/ Reset\nSpec == Init /\\ [][Next]_x\nInv == x \\in \
         0..9\n====\n",
    );
    bench.write("V.cfg", "SPECIFICATION Spec\nCONSTANT N = 2\nINVARIANT Inv\n");
    let all = classes(&bench, "V.tla");
    assert!(!all.is_empty() && all.iter().all(|(name, ..)| !name.starts_with("V.tla:4:")), "{all:?}");
}

#[test]
fn the_documentation_lists_every_operator() {
    let page = std::fs::read_to_string(project().join("docs/src/mutation-operators.md")).unwrap();
    for operator in tlaforge::mutation::Operator::ALL {
        let row = format!("| `{}` | {} |", operator.id(), operator.describe());
        assert!(page.contains(&row), "{row}");
    }
}

#[test]
fn the_viewers_schema_has_what_it_requires() {
    let bench = bench(COUNTER, CFG);
    bench.run(&["mutate", "Counter.tla", "--stryker", "mutation.json"]).expect(0);
    let report: Value = serde_json::from_str(&bench.read("mutation.json")).unwrap();
    assert_eq!(report["schemaVersion"], "2");
    assert!(report["thresholds"]["high"].is_u64() && report["thresholds"]["low"].is_u64());
    let file = &report["files"]["Counter.tla"];
    assert_eq!(file["source"], COUNTER);
    let lines: Vec<&str> = COUNTER.lines().collect();
    for mutant in file["mutants"].as_array().unwrap() {
        let status = mutant["status"].as_str().unwrap();
        assert!(["Killed", "Survived", "Ignored", "CompileError", "Pending", "Timeout"].contains(&status), "{mutant}");
        let place = |end: &str, part: &str| usize::try_from(mutant["location"][end][part].as_u64().unwrap()).unwrap();
        assert!(place("start", "line") >= 1 && place("start", "column") >= 1);
        assert!(place("end", "column") <= lines[place("end", "line") - 1].chars().count() + 1, "{mutant}");
    }
}

#[test]
fn the_first_result_comes_while_the_rest_is_open() {
    let reference = project().join("evals/cache_leases/expected/CacheLeases.tla");
    let bench = Bench::without_tools();
    let reference = reference.to_str().unwrap();
    let mut child = bench
        .command(&["mutate", reference, "--jobs", "1"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let log = bench.path("mutants.out/outcomes.jsonl");
    wait_until("a mutant is judged", || std::fs::read_to_string(&log).unwrap_or_default().lines().count() > 0);
    assert!(child.try_wait().unwrap().is_none(), "it had ended");
    let _ = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
}

/// The text with the edit that a result describes.
fn mutated(source: &str, mutant: &Value) -> String {
    let offset = |place: &Value| {
        let (line, column) = (place[0].as_u64().unwrap(), place[1].as_u64().unwrap());
        let before: usize = source.split_inclusive('\n').take(usize::try_from(line).unwrap() - 1).map(str::len).sum();
        before + usize::try_from(column).unwrap() - 1
    };
    let (start, end) = (offset(&mutant["start"]), offset(&mutant["end"]));
    format!("{}{}{}", &source[..start], mutant["replacement"].as_str().unwrap(), &source[end..])
}

#[test]
fn all_properties_that_notice_a_mutant_are_recorded() {
    let bench = bench(COUNTER, CFG);
    let done = bench.run(&["mutate", "Counter.tla", "--format", "json"]).expect(0);
    let all = object(&done);
    let mutants = all["mutants"].as_array().unwrap();
    let is_complete = |mutant: &&Value| mutant["has_all_killers"] == true;
    let killers = |mutant: &Value| -> BTreeSet<String> {
        mutant["killed_by"].as_array().unwrap().iter().map(|name| name.as_str().unwrap().to_owned()).collect()
    };
    // By checks of their own, each with one property.
    let mut seen = BTreeSet::new();
    for mutant in mutants.iter().filter(is_complete).filter(|mutant| seen.insert(killers(mutant))) {
        bench.write("one/Counter.tla", mutated(COUNTER, mutant));
        for property in ["InRange", "Together"] {
            bench.write("one/Counter.cfg", CFG.replace("InRange Together", property));
            let status = bench.run(&["check", "one/Counter.tla", "--checker", "embedded"]).status;
            let wanted = i32::from(killers(mutant).contains(property));
            assert_eq!(status, Some(wanted), "{property}: {mutant:#}");
        }
    }
    assert!(seen.iter().any(|names| names.len() == 2) && seen.iter().any(|names| names.len() == 1), "{seen:?}");
    for property in ["InRange", "Together"] {
        let only = BTreeSet::from([property.to_owned()]);
        let counted = mutants.iter().filter(is_complete).filter(|mutant| killers(mutant) == only).count();
        let only_by_it = &all["summary"]["noticed_only_by"][property];
        assert_eq!(only_by_it.as_u64().unwrap_or(0), counted as u64, "{property}");
        if counted > 0 {
            let text = bench.run(&["mutate", "Counter.tla"]).expect(0);
            text.prints(&["## Killed by\n", &format!("{property} (only by it: {counted})")]);
        }
    }
}

/// Without its guard, the counter has infinitely many states.
#[test]
fn the_search_for_other_properties_that_notice_a_mutant_ends_after_a_number_of_steps() {
    let module = "---- MODULE Counter ----\nEXTENDS Integers\nVARIABLE x\nInit == x = 0\nNext == x < 2 /\\ x' = x + 1\n\
                  Spec == Init /\\ [][Next]_x\nSmall == x <= 2\nSoon == x # 30\nLate == x # 3000\n====\n";
    let bench = bench(module, "SPECIFICATION Spec\nINVARIANTS Small Soon Late\nCHECK_DEADLOCK FALSE\n");
    let all = object(&bench.run(&["mutate", "Counter.tla", "--format", "json"]).expect(0));
    let mut mutants = all["mutants"].as_array().unwrap().iter();
    let mutant = mutants.find(|mutant| mutant["operator"] == "drop-guard").unwrap();
    assert_eq!(mutant["killed_by"], serde_json::json!(["Small", "Soon"]), "{mutant:#}");
    assert_ne!(mutant["has_all_killers"], true);
}
