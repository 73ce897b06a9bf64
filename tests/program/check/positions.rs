//! Positions in a module with an algorithm: each refers to the user's file, not to the copy that the tools read.

use serde_json::Value;

use crate::support::Bench;
use crate::support::checking::put;

const CHECKERS: [&str; 2] = ["tlc", "embedded"];

fn check(bench: &Bench, more: &[&str]) -> Value {
    let done = bench.run(&[&["check", "M.tla", "--format", "json"], more].concat());
    serde_json::from_str(&done.stdout).unwrap_or_else(|e| panic!("{e}: {}{}", done.stdout, done.stderr))
}

/// Processes with a queue each, a macro and a procedure.
const QUEUES: &str = "---- MODULE M ----
EXTENDS Naturals, Sequences, TLC
CONSTANT P
(* --algorithm Queues
variables all = <<>>, n = 0;
define
  Small == n < 9
end define;
macro note(v) begin
  all := Append(all, v);
end macro;
procedure twice(what) begin
  One: note(what);
  Two: note(what + 1);
       return;
end procedure;
process W \\in P
variables own = <<>>;
begin
  Take: await n < 1;
        n := n + 1;
        own := <<self>>;
  Call: call twice(Len(own));
  Last: own := Tail(own);
        all := <<>>;
end process;
end algorithm; *)
Bound == n <= 1
====
";

/// The line and column of the first occurrence.
fn place(text: &str, what: &str) -> (u64, u64) {
    let line = text.lines().position(|line| line.contains(what)).unwrap();
    let column = text.lines().nth(line).unwrap().find(what).unwrap();
    (line as u64 + 1, column as u64 + 1)
}

const CFG: &str = "SPECIFICATION Spec\nCONSTANTS P = {p}\n defaultInitValue = defaultInitValue\nINVARIANT Bound\n\
                   CHECK_DEADLOCK FALSE\n";

#[test]
fn an_undefined_name_has_its_line_in_the_algorithm() {
    let bench = Bench::remembering();
    for (from, to) in [
        ("await n < 1", "await n < nowhere"),
        ("own := <<self>>", "own := <<self, nowhere>>"),
        ("twice(Len(own))", "twice(Len(nowhere))"),
        ("note(what + 1)", "note(nowhere + 1)"),
        ("Append(all, v)", "Append(all, <<v, nowhere>>)"),
        ("own = <<>>", "own = nowhere"),
        ("n < 9", "nowhere < 9"),
        ("\\in P\nvariables", "\\in nowhere\nvariables"),
        ("n = 0;", "n = 0, m \\in nowhere;"),
    ] {
        let module = QUEUES.replace(from, to);
        assert_ne!(module, QUEUES, "{from}");
        put(&bench, &module, CFG);
        for checker in CHECKERS {
            let value = check(&bench, &["--checker", checker]);
            let found = &value["diagnostics"][0];
            let at = (found["line"].as_u64().unwrap(), found["column"].as_u64().unwrap());
            assert_eq!(at, place(&module, "nowhere"), "{checker}: {to}: {value}");
            assert!(!found["message"].to_string().contains("in the translation"), "{value}");
        }
    }
}

#[test]
fn evaluation_and_type_errors_have_their_line_in_the_algorithm() {
    let bench = Bench::remembering();
    let module = QUEUES.replace("Tail(own)", "Tail(Tail(own))");
    put(&bench, &module, CFG);
    let value = check(&bench, &["--checker", "tlc"]);
    assert_eq!(value["violated"]["kind"], "evaluation", "{value}");
    assert_eq!(value["diagnostics"][0]["line"].as_u64().unwrap(), place(&module, "Tail(Tail").0, "{value}");
    // The embedded checker finds out itself that values of different kinds are compared.
    let module = QUEUES.replace("await n < 1", "await n # \"a\"");
    put(&bench, &module, CFG);
    let value = check(&bench, &["--checker", "embedded"]);
    let (line, _) = place(&module, "await");
    assert_eq!(value["diagnostics"][0]["line"].as_u64().unwrap(), line, "{value}");
    assert!(value["reason"].as_str().unwrap().contains("is compared with \"a\""), "{value}");
}

#[test]
fn an_assumption_after_the_algorithm_has_its_line_in_the_file() {
    let bench = Bench::remembering();
    let module = QUEUES.replace("Bound ==", "ASSUME P = {}\nBound ==");
    put(&bench, &module, CFG);
    let (line, _) = place(&module, "ASSUME");
    for checker in CHECKERS {
        let value = check(&bench, &["--checker", checker]);
        let wanted = format!("line {line}, col 8 to line {line}, col 13 of module M");
        assert_eq!(value["violated"]["name"], wanted, "{checker}: {value}");
    }
}

#[test]
fn an_outdated_translation_is_reported_and_can_be_kept() {
    let bench = Bench::remembering();
    put(&bench, QUEUES, CFG);
    bench.run(&["translate", "M.tla", "--in-place"]).expect(0);
    let translated = bench.read("M.tla");
    let differs = "the translation in the file differs from what its algorithm translates to";
    let warned = |value: &Value| value["warnings"].to_string().contains(differs);
    assert!(translated.contains("BEGIN TRANSLATION"), "{translated}");
    for checker in CHECKERS {
        put(&bench, &translated, CFG);
        let value = check(&bench, &["--checker", checker]);
        assert_eq!((&value["verdict"], warned(&value)), (&"holds".into(), false), "{value}");
        // The property holds for the algorithm, but not for the translation in the file.
        let edited = translated.replace("n' = n + 1", "n' = n + 2");
        assert_ne!(edited, translated);
        put(&bench, &edited, CFG);
        let value = check(&bench, &["--checker", checker]);
        assert_eq!((&value["verdict"], warned(&value)), (&"holds".into(), true), "{value}");
        let value = check(&bench, &["--checker", checker, "--keep-translation"]);
        assert_eq!((&value["verdict"], warned(&value)), (&"violated".into(), false), "{value}");
        // Without a translation there is nothing to keep.
        put(&bench, QUEUES, CFG);
        let value = check(&bench, &["--checker", checker, "--keep-translation"]);
        assert_eq!(value["verdict"], "invalid", "{value}");
    }
    // A position in the copy of a file with another translation refers to the algorithm.
    let shorter = translated.replace("n' = n + 1", "n' = nowhere").replace("n := n + 1", "n := nowhere + 1");
    let shorter = shorter.replace("\nvars ==", "\n\n\nvars ==");
    put(&bench, &shorter, CFG);
    let found = check(&bench, &["--checker", "embedded"])["diagnostics"][0].clone();
    let at = (found["line"].as_u64().unwrap(), found["column"].as_u64().unwrap());
    assert_eq!(at, place(&shorter, "nowhere + 1"), "{found}");
}
