//! Forgeries that are visible only in the parsed and resolved module.

use crate::support::counter::{INVARIANTS, MODULE};
use crate::{Answers, BOTH, TLC, approved, refused};

/// The counter without an algorithm, with these lines before its actions and this guard on its step.
fn plain(extends: &str, before: &str, guard: &str) -> Answers {
    Answers {
        module: format!(
            "---- MODULE Spec ----\nEXTENDS {extends}\nCONSTANT Max\nVARIABLE n\n{before}Init == n = 0\n\
             Inc == {guard} /\\ n < Max /\\ n' = n + 1\nReset == n = Max /\\ n' = 0\nNext == Inc \\/ Reset\n\
             Spec == Init /\\ [][Next]_n\n====\n"
        ),
        invariants: INVARIANTS.replace(" /\\ pc \\in {\"Add\", \"Done\"}", ""),
        ..Answers::default()
    }
}

#[test]
fn what_the_checker_knows_of_its_own_run_is_seen_in_every_spelling() {
    let level = |operator: &str| format!("{operator}(\"level\") < 9");
    for (extends, before, operator) in [
        ("Naturals", "T == INSTANCE TLC\n", "T ! TLCGet"),
        ("Naturals", "T == INSTANCE TLC\n", "T!(* x *)TLCGet"),
        ("Naturals", "T == INSTANCE TLC\n", "T!\\* x\n        TLCGet"),
        ("Naturals, TLC", "Level(x) == TLCGet(x)\n", "Level"),
        ("Naturals", "Get(x) == LET T == INSTANCE TLC IN T!TLCGet(x)\n", "Get"),
    ] {
        refused(&plain(extends, before, &level(operator)), &TLC, "cfg_accepted", "TLCGet");
    }
}

#[test]
fn an_operator_handed_on_as_an_argument_is_seen() {
    let applied = plain("Naturals, TLC", "Apply(F(_), x) == F(x)\n", "Apply(TLCGet, \"level\") < 9");
    refused(&applied, &TLC, "cfg_accepted", "TLCGet");
}

#[test]
fn an_operator_with_such_a_name_of_ones_own_is_no_bound() {
    let own = plain("Naturals", "JavaTime == 3\nM == [TLCGet |-> 1]\n", "JavaTime = 3 /\\ M.TLCGet = 1");
    approved(&own, &BOTH);
}

#[test]
fn chance_in_an_algorithm_is_seen() {
    let module = MODULE
        .replace("CONSTANT Max\n", "CONSTANT Max\nT == INSTANCE TLC\n")
        .replace("n := n + 1", "n := T ! (* x *) RandomElement({n + 1})");
    refused(&Answers { module, ..Answers::default() }, &TLC, "cfg_accepted", "RandomElement");
}
