//! Where an evaluation failed: the file, the line and the column, by both checkers; and who decides by default.

use crate::support::Bench;

const QUEUE: &str = "---- MODULE Queue ----
EXTENDS Naturals, Sequences
CONSTANT K
VARIABLE q
Pop == q' = Tail(q)
Pick == q' = <<CHOOSE n \\in 1..K : n > K>>
Read == q' = <<q[1].size>>
====
";

/// What is in the module `M`, and the place of the failure.
const FAILURES: [(&str, &str); 7] = [
    (
        "EXTENDS Sequences\nVARIABLE q\nI == INSTANCE Queue WITH K <- 3\nInit == q = <<>>\nNext == I!Pop",
        "Queue.tla:5:13",
    ),
    ("EXTENDS Sequences\nVARIABLE q\nINSTANCE Queue WITH K <- 3\nInit == q = <<>>\nNext == Pop", "Queue.tla:5:13"),
    ("EXTENDS Queue\nInit == q = <<>>\nNext == Pop", "Queue.tla:5:13"),
    (
        "EXTENDS Naturals\nVARIABLE q\nI == INSTANCE Queue WITH K <- 3\nInit == q = <<>>\nNext == I!Pick",
        "Queue.tla:6:16",
    ),
    ("EXTENDS Sequences\nVARIABLE q\nInit == q = <<>>\nNext == /\\ Len(q) = 0\n        /\\ q' = Tail(q)", "M.tla:6:17"),
    ("EXTENDS Naturals\nVARIABLE q\nInit == q = 0\nNext == q' = CHOOSE n \\in 1..3 : n > 5", "M.tla:5:14"),
    ("EXTENDS Naturals\nVARIABLE q\nInit == q = 0\nNext == q' = 1 + (IF q = 0 THEN TRUE ELSE 2)", "M.tla:5:"),
];

fn bench(body: &str) -> Bench {
    let bench = Bench::remembering();
    bench.write("Queue.tla", QUEUE);
    bench.write("M.tla", format!("---- MODULE M ----\n{body}\n====\n"));
    bench.write(
        "M.cfg",
        if body.contains("EXTENDS Queue") {
            "INIT Init\nNEXT Next\nCONSTANT K = 3\n"
        } else {
            "INIT Init\nNEXT Next\n"
        },
    );
    bench
}

#[test]
fn a_failed_evaluation_has_the_place_in_the_file_that_has_it() {
    for (body, place) in FAILURES {
        let bench = bench(body);
        for checker in ["embedded", "tlc"] {
            let done = bench.run(&["check", "M.tla", "--checker", checker]).expect(1);
            assert!(done.stdout.contains(&format!(" --> {place}")), "{checker}: {body}\n{}", done.stdout);
        }
    }
}

#[test]
fn a_step_that_leaves_a_variable_open_has_its_place() {
    const HEAD: &str = "EXTENDS Naturals\nVARIABLES x, y\nInit == x = 1 /\\ y = 1\n";
    for (rest, place) in [
        ("A == x' = 2\nB == y' = 2 /\\ x' = x\nNext == B \\/ A", "M.tla:5:6"),
        ("Set(n) == x' = n\nNext == \\E n \\in 1..2 : Set(n)", "M.tla:5:11"),
        ("Next == LET n == 2 IN \\/ UNCHANGED <<x, y>>\n                      \\/ y' = n", "M.tla:6:26"),
        ("Next == IF x = 1 THEN x' = 2 ELSE y' = 2 /\\ x' = x", "M.tla:5:9"),
    ] {
        let done = bench(&format!("{HEAD}{rest}")).run(&["check", "M.tla", "--checker", "embedded"]).expect(1);
        assert!(done.stdout.contains(&format!(" --> {place}")), "{rest}\n{}", done.stdout);
        done.prints(&["unassigned", "UNCHANGED"]);
    }
}

#[test]
fn by_default_the_embedded_checker_decides_and_tlc_what_it_leaves_open() {
    let head = "EXTENDS Naturals, TLC\nVARIABLE q\nInit == q = 0\nNext == q' = 1 - q\n";
    let bench = bench(&format!("{head}Inv == q < 2"));
    bench.write("M.cfg", "INIT Init\nNEXT Next\nINVARIANT Inv\n");
    bench
        .run(&["check", "M.tla"])
        .expect(0)
        .prints(&["Verdict of the embedded checker", "holds: Inv (checked without SANY and TLC)"]);
    bench.write("M.tla", format!("---- MODULE M ----\n{head}Inv == q < 2 /\\ TLCGet(\"level\") < 9\n====\n"));
    bench.run(&["check", "M.tla", "--checker", "embedded"]).expect(3);
    bench.run(&["check", "M.tla"]).expect(0).prints(&["Verdict of TLC", "holds: Inv\n"]);
    // A valid module that only the embedded parser rejects.
    let proof = "THEOREM t == ASSUME label :: ASSUME TRUE PROVE TRUE PROVE TRUE\nPROOF BY t!label\n";
    bench.write("M.tla", format!("---- MODULE M ----\n{head}Inv == q < 2\n{proof}====\n"));
    bench.run(&["check", "M.tla", "--checker", "embedded"]).expect(1);
    bench.run(&["check", "M.tla"]).expect(0).prints(&["Verdict of TLC", "holds: Inv\n"]);
    // The jar does not read such operators.
    bench.write("M.tla", format!("---- MODULE M ----\n{head}Inv ≜ q ∈ 0..1\n====\n"));
    bench.run(&["check", "M.tla", "--checker", "tlc"]).expect(1).prints(&["use --checker embedded"]);
    bench.run(&["check", "M.tla"]).expect(0).prints(&["holds: Inv (checked without SANY and TLC)"]);
    // Both reject it.
    bench.write("M.tla", format!("---- MODULE M ----\n{head}Inv == q != 2\n====\n"));
    bench.run(&["check", "M.tla"]).expect(1).prints(&["`!=` is not TLA+"]);
}
