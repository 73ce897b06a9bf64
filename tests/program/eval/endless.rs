//! Known bugs with an infinite state space: they cost a bounded number of runs, with a time limit derived from the
//! reference, and the report warns the user and the author of the case.

use crate::support::case::{CounterCase, counter, specs};
use crate::support::checking::{faking_all, frame};
use crate::support::waiting::HANG;
use crate::support::{Bench, Done};
use serde_json::Value;

const CFG: &str = "SPECIFICATION Spec\nCONSTANT N = 3\nINVARIANTS TypeOK Bounded Natural Small\nPROPERTY BySteps\n";
const PROPERTIES: &str = "TypeOK == n \\in 0..N + 9\nBounded == n <= N\nNatural == n >= 0\nSmall == n < 10\n\
                          BySteps == [][n' = n + 1 \\/ n' = 0]_n";

/// A counter with a log that never ends.
fn logging(name: &str, step: &str) -> String {
    counter(name, &format!("log' = log + 1 /\\ {step}"), "")
        .replace("VARIABLE n\n", "VARIABLES n, log\n")
        .replace("Init == n = 0", "Init == n = 0 /\\ log = 0")
        .replace("[Next]_n", "[Next]_<<n, log>>")
}

fn case() -> CounterCase {
    CounterCase::new()
        .bug_of("noticed", &logging("noticed", "n' = IF n <= N THEN n + 1 ELSE 0"), PLAIN, "Bounded")
        .bug_of("unnoticed", &logging("unnoticed", "n' = IF n < N THEN n + 1 ELSE 0"), PLAIN, "Bounded")
}

const PLAIN: &str = "SPECIFICATION Spec\nCONSTANT N = 3\n";

fn report(bench: &Bench, more: &[&str]) -> (Value, Done) {
    let done = bench.run(&[&["eval", "specs", "case"], more].concat()).expect(0);
    (serde_json::from_str(&bench.read("specs/eval_report.json")).unwrap(), done)
}

#[test]
fn the_limit_of_a_known_bug_comes_from_the_reference_and_its_author_is_warned() {
    let bench = Bench::without_tools();
    specs(&bench, "specs", &counter("Spec", "IF n < N THEN n' = n + 1 ELSE n' = 0", PROPERTIES), CFG);
    case().write(&bench, "case");
    let (report, done) = report(&bench, &["--checker", "embedded"]);
    let mutants = report["tier3"]["known_bugs"].as_array().unwrap();
    let [noticed, unnoticed] = [&mutants[0], &mutants[1]];
    assert_eq!((&noticed["outcome"], &noticed["killed_by"]), (&"killed".into(), &serde_json::json!(["Bounded"])));
    assert_eq!(unnoticed["outcome"], "inconclusive", "{unnoticed}");
    for mutant in [noticed, unnoticed] {
        let reason = mutant["inconclusive"][0]["reason"].as_str().unwrap();
        // The case allows 60 s for each run; the reference took far less than a second.
        let limit = reason.split_once("did not end within ").unwrap().1.split(' ').next().unwrap();
        assert!(limit.parse::<f64>().unwrap() < 60.0, "{reason}");
    }
    for name in ["noticed", "unnoticed"] {
        done.stdout.lines().find(|l| l.starts_with("note: ") && l.contains(&format!("/{name}.tla"))).unwrap();
    }
    let done = done.prints(&["the state space of the bug may be infinite", "properties: TypeOK, "]);
    done.says(&["judging 2 known bugs and 1 reference", "of 3 judged"]);
}

#[test]
fn all_properties_are_checked_together_before_single_ones() {
    // TLC finds a violation of Bounded in `noticed`, and does not terminate on the other bugs.
    let holds = frame(2193, "Model checking completed. No error has been found.")
        + &frame(2199, "9 states generated, 8 distinct states found, 0 states left on queue.");
    let violated = frame(2110, "Invariant Bounded is violated.").replace("2110:0", "2110:1")
        + &frame(2199, "9 states generated, 8 distinct states found, 1 states left on queue.");
    let bench = faking_all(&format!(
        "case \"$*\" in\n  *tla2sany.SANY*) for last; do :; done; echo \"Semantic processing of module ${{last%.tla}}\"; \
         exit 0 ;;\n  *tlc2.TLC*' -h') echo 'TLC2 Version 2.15 of a fake'; exit 1 ;;\nesac\n\
         for last; do :; done\necho \"$last\" >> \"$(dirname \"$0\")/runs\"\n\
         case \"$last\" in\n  noticed.tla) if grep -q 'INVARIANT Bounded' noticed.cfg; then {violated}exit 12; fi; \
         {HANG} ;;\n  unnoticed.tla) {HANG} ;;\nesac\n{holds}exit 0"
    ));
    specs(&bench, "specs", &counter("Spec", "IF n < N THEN n' = n + 1 ELSE n' = 0", PROPERTIES), CFG);
    case().write(&bench, "case");
    let (report, _) = report(&bench, &["--checker", "tlc", "--tlc-timeout", "2"]);
    assert_eq!(report["tier3"]["known_bugs"][0]["killed_by"], serde_json::json!(["Bounded"]), "{report}");
    let runs = bench.read("jre/bin/runs");
    let count = |file: &str| runs.lines().filter(|line| *line == file).count();
    // All five; then, because one killed the bug, the other four together, and none alone.
    assert_eq!(count("noticed.tla"), 2, "{runs}");
    // All five; then the invariants together, and the temporal property alone.
    assert_eq!(count("unnoticed.tla"), 3, "{runs}");
}
