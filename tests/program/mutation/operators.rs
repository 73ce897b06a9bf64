//! The mutants that are made of a specification: which, where, and that they are specifications again.

#![allow(clippy::print_stdout, reason = "the table of operators is for who runs the test with --nocapture")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use tlaforge::mutation::{Mutant, Operator, mutants};
use tlaforge::pluscal::{self, Options};
use tlaforge::tla::semantic::analyze;
use tlaforge::tla::{Cfg, Module};

const P_SYNTAX: &str = r#"---- MODULE Spec ----
EXTENDS Naturals, Sequences
CONSTANTS Procs, MAX
Free(l) == l = 0
(* --algorithm Lock
variables lock = 0, count = 0, turns = <<>>, owner = [p \in Procs |-> "none"];

macro take(l) begin
  l := 1;
end macro;

fair+ process proc \in Procs
variables mine = 0;
begin
  try:
    while mine < 2 do
      await Free(lock) /\ count < MAX;
      take(lock);
      owner[self] := "proc";
  work:
      count := count + 1;
      turns := Append(turns, count);
  leave:+
      either
        lock := 0;
      or
        skip;
      end either;
      with p \in Procs, n \in 1..3 do
        if owner[p] = "none" then
          mine := n || count := 0;
        else
          goto try;
        end if;
      end with;
    end while;
end process;
end algorithm; *)
TypeOK == lock \in {0, 1} /\ owner \in [Procs -> {"none", "proc", "lost"}]
====
"#;

const C_SYNTAX: &str = r#"---- MODULE Spec ----
EXTENDS Naturals, Sequences
CONSTANTS Procs, MAX
Free(l) == l = 0
(* --algorithm Lock {
variables lock = 0, count = 0, turns = <<>>, owner = [p \in Procs |-> "none"];

macro take(l) {
  l := 1;
}

fair+ process (proc \in Procs)
variables mine = 0;
{
  try:
    while (mine < 2) {
      await Free(lock) /\ count < MAX;
      take(lock);
      owner[self] := "proc";
  work:
      count := count + 1;
      turns := Append(turns, count);
  leave:+
      either {
        lock := 0;
      } or {
        skip;
      };
      with (p \in Procs, n \in 1..3) {
        if (owner[p] = "none") {
          mine := n || count := 0;
        } else {
          goto try;
        };
      };
    };
}
} *)
TypeOK == lock \in {0, 1} /\ owner \in [Procs -> {"none", "proc", "lost"}]
====
"#;

const TLA: &str = r#"---- MODULE Spec ----
EXTENDS Naturals
CONSTANTS Procs, MAX, None
VARIABLES lock, state, sent
vars == <<lock, state, sent>>
Quorum(S) == \A p \in Procs : p \in S \/ ~(p = None)
Init == /\ lock \in {1, 2}
        /\ state = [p \in Procs |-> "idle"]
        /\ sent = {}
Take(p, q) == /\ state[p] = "idle"
              /\ lock < MAX => Quorum(sent \cup {p})
              /\ state' = [state EXCEPT ![p] = "busy"]
              /\ IF p # q THEN /\ lock' = lock + 1
                               /\ sent' = sent \ {q}
                          ELSE UNCHANGED <<lock, sent>>
Send(p) == \E m \in sent \cap Procs : sent' = {m} /\ UNCHANGED <<lock, state>>
Next == \/ \E p, q \in Procs : Take(p, q)
        \/ \E p \in Procs : Send(p)
Spec == /\ Init /\ [][Next]_vars
        /\ SF_vars(Next)
        /\ \A p \in Procs : WF_vars(Send(p))
Bounded == lock <= MAX
TypeOK == lock \in Nat
====
"#;

/// As `-` and `+` lines without their numbers.
const IN_PLUSCAL: &[(Operator, &[&str])] = &[
    (
        Operator::DropGuard,
        &[
            r"-await Free(lock) /\ count < MAX; +await count < MAX;",
            r"-await Free(lock) /\ count < MAX; +await Free(lock);",
            r#"-if owner[p] = "none" then +if TRUE then"#,
        ],
    ),
    (
        Operator::NegateGuard,
        &[
            "-while mine < 2 do +while mine >= 2 do",
            r"-await Free(lock) /\ count < MAX; +await ~Free(lock) /\ count < MAX;",
            r"-await Free(lock) /\ count < MAX; +await Free(lock) /\ count >= MAX;",
            r#"-if owner[p] = "none" then +if owner[p] # "none" then"#,
        ],
    ),
    (
        Operator::DropStatement,
        &[
            "-l := 1; +skip;",
            "-take(lock); +skip;",
            r#"-owner[self] := "proc"; +skip;"#,
            "-count := count + 1; +skip;",
            "-turns := Append(turns, count); +skip;",
            "-lock := 0; +skip;",
            "-mine := n || count := 0; +count := 0;",
            "-mine := n || count := 0; +mine := n;",
            "-goto try; +skip;",
        ],
    ),
    (
        Operator::SwapStatements,
        &[
            r"-await Free(lock) /\ count < MAX; +take(lock); -take(lock); +await Free(lock) /\ count < MAX;",
            r#"-owner[self] := "proc"; +count := count + 1; -count := count + 1; +owner[self] := "proc";"#,
            "-count := count + 1; +turns := Append(turns, count); -turns := Append(turns, count); +count := count + 1;",
        ],
    ),
    (Operator::MergeLabels, &["-work:"]),
    (Operator::SplitLabel, &["+Split:", "+Split:", "+Split:", "+Split:"]),
    (Operator::DropBranch, &["-lock := 0; +await FALSE;", "-skip; +await FALSE;"]),
    (
        Operator::NarrowSet,
        &[
            r"-with p \in Procs, n \in 1..3 do +with p \in {el \in Procs : el # (CHOOSE any \in Procs : TRUE)}, n \in 1..3 do",
            r"-with p \in Procs, n \in 1..3 do +with p \in Procs, n \in 2..3 do",
            r"-with p \in Procs, n \in 1..3 do +with p \in Procs, n \in 1..2 do",
        ],
    ),
    (
        Operator::WidenSet,
        &[
            r"-with p \in Procs, n \in 1..3 do +with p \in Procs, n \in 0..3 do",
            r"-with p \in Procs, n \in 1..3 do +with p \in Procs, n \in 1..4 do",
        ],
    ),
    (Operator::OffByOne, &["-count := count + 1; +count := count + 2;"]),
    (
        Operator::InitialValue,
        &[
            r#"-variables lock = 0, count = 0, turns = <<>>, owner = [p \in Procs |-> "none"]; +variables lock = 0, count = 0, turns = <<>>, owner = [p \in Procs |-> "proc"];"#,
        ],
    ),
    (
        Operator::StringSwap,
        &[
            r#"-owner[self] := "proc"; +owner[self] := "none";"#,
            r#"-if owner[p] = "none" then +if owner[p] = "proc" then"#,
        ],
    ),
    (
        Operator::WrongVariable,
        &[
            "-while mine < 2 do +while count < 2 do",
            r"-await Free(lock) /\ count < MAX; +await Free(count) /\ count < MAX;",
            r"-await Free(lock) /\ count < MAX; +await Free(lock) /\ lock < MAX;",
            "-take(lock); +take(count);",
            "-count := count + 1; +count := lock + 1;",
            "-turns := Append(turns, count); +turns := Append(turns, lock);",
            r#"-if owner[p] = "none" then +if owner[self] = "none" then"#,
        ],
    ),
    (
        Operator::Relational,
        &[
            r"-Free(l) == l = 0 +Free(l) == l # 0",
            "-while mine < 2 do +while mine <= 2 do",
            r"-await Free(lock) /\ count < MAX; +await Free(lock) /\ count <= MAX;",
        ],
    ),
    (Operator::Arithmetic, &["-count := count + 1; +count := count - 1;"]),
    (Operator::Logical, &[r"-await Free(lock) /\ count < MAX; +await Free(lock) \/ count < MAX;"]),
    (
        Operator::Constant,
        &[
            "-Free(l) == l = 0 +Free(l) == l = 1",
            r#"-variables lock = 0, count = 0, turns = <<>>, owner = [p \in Procs |-> "none"]; +variables lock = 1, count = 0, turns = <<>>, owner = [p \in Procs |-> "none"];"#,
            r#"-variables lock = 0, count = 0, turns = <<>>, owner = [p \in Procs |-> "none"]; +variables lock = 0, count = 1, turns = <<>>, owner = [p \in Procs |-> "none"];"#,
            "-l := 1; +l := 0;",
            "-l := 1; +l := 2;",
            "-variables mine = 0; +variables mine = 1;",
            "-while mine < 2 do +while mine < 1 do",
            "-while mine < 2 do +while mine < 3 do",
            "-lock := 0; +lock := 1;",
            "-mine := n || count := 0; +mine := n || count := 1;",
        ],
    ),
    (Operator::WeakenFairness, &[r"-fair+ process proc \in Procs +fair process proc \in Procs", "-leave:+ +leave:"]),
    (Operator::DropFairness, &[r"-fair+ process proc \in Procs +process proc \in Procs"]),
];

/// As `-` and `+` lines without their numbers.
const IN_TLA: &[(Operator, &[&str])] = &[
    (
        Operator::DropGuard,
        &[
            r#"-Take(p, q) == /\ state[p] = "idle" -/\ lock < MAX => Quorum(sent \cup {p}) +Take(p, q) == /\ lock < MAX => Quorum(sent \cup {p})"#,
            r"-/\ lock < MAX => Quorum(sent \cup {p})",
            r"-/\ IF p # q THEN /\ lock' = lock + 1 +/\ IF TRUE  THEN /\ lock' = lock + 1",
        ],
    ),
    (
        Operator::NegateGuard,
        &[
            r#"-Take(p, q) == /\ state[p] = "idle" +Take(p, q) == /\ state[p] # "idle""#,
            r"-/\ lock < MAX => Quorum(sent \cup {p}) +/\ ~(lock < MAX => Quorum(sent \cup {p}))",
            r"-/\ IF p # q THEN /\ lock' = lock + 1 +/\ IF p = q THEN /\ lock' = lock + 1",
        ],
    ),
    (
        Operator::DropUpdate,
        &[
            r#"-/\ state' = [state EXCEPT ![p] = "busy"] +/\ state' = state"#,
            r"-/\ IF p # q THEN /\ lock' = lock + 1 +/\ IF p # q THEN /\ lock' = lock",
            r"-/\ sent' = sent \ {q} +/\ sent' = sent",
            r"-Send(p) == \E m \in sent \cap Procs : sent' = {m} /\ UNCHANGED <<lock, state>> +Send(p) == \E m \in sent \cap Procs : sent' = sent /\ UNCHANGED <<lock, state>>",
        ],
    ),
    (
        Operator::DropBranch,
        &[
            r"-Next == \/ \E p, q \in Procs : Take(p, q) -\/ \E p \in Procs : Send(p) +Next == \/ \E p \in Procs : Send(p)",
            r"-\/ \E p \in Procs : Send(p)",
        ],
    ),
    (
        Operator::NarrowSet,
        &[
            r"-Init == /\ lock \in {1, 2} +Init == /\ lock \in {2}",
            r"-Init == /\ lock \in {1, 2} +Init == /\ lock \in {1}",
            r"-Next == \/ \E p, q \in Procs : Take(p, q) +Next == \/ \E p, q \in {el \in Procs : el # (CHOOSE any \in Procs : TRUE)} : Take(p, q)",
            r"-\/ \E p \in Procs : Send(p) +\/ \E p \in {el \in Procs : el # (CHOOSE any \in Procs : TRUE)} : Send(p)",
        ],
    ),
    (
        Operator::WidenSet,
        &[
            r"-Send(p) == \E m \in sent \cap Procs : sent' = {m} /\ UNCHANGED <<lock, state>> +Send(p) == \E m \in sent : sent' = {m} /\ UNCHANGED <<lock, state>>",
            r"-Send(p) == \E m \in sent \cap Procs : sent' = {m} /\ UNCHANGED <<lock, state>> +Send(p) == \E m \in Procs : sent' = {m} /\ UNCHANGED <<lock, state>>",
        ],
    ),
    (Operator::OffByOne, &[r"-/\ IF p # q THEN /\ lock' = lock + 1 +/\ IF p # q THEN /\ lock' = lock + 2"]),
    (Operator::InitialValue, &[r#"-/\ state = [p \in Procs |-> "idle"] +/\ state = [p \in Procs |-> "busy"]"#]),
    (
        Operator::StringSwap,
        &[
            r#"-Take(p, q) == /\ state[p] = "idle" +Take(p, q) == /\ state[p] = "busy""#,
            r#"-/\ state' = [state EXCEPT ![p] = "busy"] +/\ state' = [state EXCEPT ![p] = "idle"]"#,
        ],
    ),
    (
        Operator::ExceptIndex,
        &[r#"-/\ state' = [state EXCEPT ![p] = "busy"] +/\ state' = [state EXCEPT ![q] = "busy"]"#],
    ),
    (
        Operator::WrongVariable,
        &[
            r#"-Take(p, q) == /\ state[p] = "idle" +Take(p, q) == /\ state[q] = "idle""#,
            r"-/\ lock < MAX => Quorum(sent \cup {p}) +/\ lock < MAX => Quorum(sent \cup {q})",
            r"-/\ IF p # q THEN /\ lock' = lock + 1 +/\ IF q # q THEN /\ lock' = lock + 1",
            r"-/\ IF p # q THEN /\ lock' = lock + 1 +/\ IF p # p THEN /\ lock' = lock + 1",
            r"-/\ sent' = sent \ {q} +/\ sent' = sent \ {p}",
            r"-Next == \/ \E p, q \in Procs : Take(p, q) +Next == \/ \E p, q \in Procs : Take(q, q)",
            r"-Next == \/ \E p, q \in Procs : Take(p, q) +Next == \/ \E p, q \in Procs : Take(p, p)",
        ],
    ),
    (
        Operator::Relational,
        &[
            r"-Quorum(S) == \A p \in Procs : p \in S \/ ~(p = None) +Quorum(S) == \A p \in Procs : p \in S \/ ~(p # None)",
            r"-/\ lock < MAX => Quorum(sent \cup {p}) +/\ lock <= MAX => Quorum(sent \cup {p})",
            r"-/\ lock < MAX => Quorum(sent \cup {p}) +/\ lock > MAX => Quorum(sent \cup {p})",
        ],
    ),
    (Operator::Arithmetic, &[r"-/\ IF p # q THEN /\ lock' = lock + 1 +/\ IF p # q THEN /\ lock' = lock - 1"]),
    (
        Operator::SetOperator,
        &[
            r"-Quorum(S) == \A p \in Procs : p \in S \/ ~(p = None) +Quorum(S) == \A p \in Procs : p \notin S \/ ~(p = None)",
            r"-/\ lock < MAX => Quorum(sent \cup {p}) +/\ lock < MAX => Quorum(sent \cap {p})",
            r"-/\ lock < MAX => Quorum(sent \cup {p}) +/\ lock < MAX => Quorum(sent \ {p})",
            r"-/\ sent' = sent \ {q} +/\ sent' = sent \cup {q}",
            r"-Send(p) == \E m \in sent \cap Procs : sent' = {m} /\ UNCHANGED <<lock, state>> +Send(p) == \E m \in sent \cup Procs : sent' = {m} /\ UNCHANGED <<lock, state>>",
        ],
    ),
    (
        Operator::Quantifier,
        &[
            r"-Quorum(S) == \A p \in Procs : p \in S \/ ~(p = None) +Quorum(S) == \E p \in Procs : p \in S \/ ~(p = None)",
        ],
    ),
    (
        Operator::Logical,
        &[
            r"-Quorum(S) == \A p \in Procs : p \in S \/ ~(p = None) +Quorum(S) == \A p \in Procs : p \in S /\ ~(p = None)",
            r"-Quorum(S) == \A p \in Procs : p \in S \/ ~(p = None) +Quorum(S) == \A p \in Procs : p \in S \/ (p = None)",
            r"-/\ lock < MAX => Quorum(sent \cup {p}) +/\ lock < MAX /\ Quorum(sent \cup {p})",
        ],
    ),
    (
        Operator::Constant,
        &[
            r"-Init == /\ lock \in {1, 2} +Init == /\ lock \in {0, 2}",
            r"-Init == /\ lock \in {1, 2} +Init == /\ lock \in {1, 3}",
        ],
    ),
    (Operator::WeakenFairness, &[r"-/\ SF_vars(Next) +/\ WF_vars(Next)"]),
    (Operator::DropFairness, &[r"-/\ SF_vars(Next)", r"-/\ \A p \in Procs : WF_vars(Send(p))"]),
];

const CFG: &str = "SPECIFICATION Spec\nINVARIANTS TypeOK\n";

fn make_mutants(source: &str, cfg: &str) -> Vec<Mutant> {
    mutants(&Module::parse(source).unwrap(), &Cfg::parse(cfg).unwrap())
}

/// The changed lines of each operator's mutants, without their numbers.
fn changes(source: &str) -> BTreeMap<Operator, Vec<String>> {
    let line = |line: &str| line.split_once(": ").map(|(sign, text)| format!("{}{}", &sign[..1], text.trim())).unwrap();
    let mut by_operator: BTreeMap<Operator, Vec<String>> = BTreeMap::new();
    for mutant in make_mutants(source, CFG) {
        let change = mutant.diff(source).lines().map(line).collect::<Vec<_>>().join(" ");
        by_operator.entry(mutant.operator).or_default().push(change);
    }
    by_operator
}

fn assert_changes(source: &str, expected: &[(Operator, &[&str])]) {
    let mut actual = changes(source);
    for (operator, expected) in expected {
        assert_eq!(actual.remove(operator).unwrap_or_default(), *expected, "{operator}");
    }
    assert!(actual.is_empty(), "{actual:#?}");
}

#[test]
fn operators_make_the_expected_mutants_of_an_algorithm() {
    assert_changes(P_SYNTAX, IN_PLUSCAL);
}

#[test]
fn both_syntaxes_have_the_same_mutants() {
    let told = |source: &str| -> Vec<_> {
        let all = make_mutants(source, CFG).into_iter();
        all.map(|mutant| (mutant.line, mutant.operator, mutant.definition, mutant.variant)).collect()
    };
    assert_eq!(told(P_SYNTAX), told(C_SYNTAX));
}

#[test]
fn operators_make_the_expected_mutants_of_actions() {
    assert_changes(TLA, IN_TLA);
}

#[test]
fn every_operator_is_covered() {
    let seen: BTreeSet<Operator> = changes(P_SYNTAX).into_keys().chain(changes(TLA).into_keys()).collect();
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), Operator::ALL);
}

#[test]
fn mutants_have_names_and_descriptions() {
    let all = make_mutants(P_SYNTAX, CFG);
    let told = |place_and_name: &str| {
        let is_it = |mutant: &&Mutant| {
            let name = mutant.name();
            // Without the number.
            let name = name.split(" #").next().unwrap_or_default();
            format!("{} {name}", mutant.place("Spec.tla")) == place_and_name
        };
        let mutant = all.iter().find(is_it);
        mutant.map(|mutant| format!("{} {}", mutant.definition, mutant.what)).unwrap_or_default()
    };
    assert_eq!(told("Spec.tla:17:27 try: drop guard"), "try no longer checks `count < MAX`");
    assert_eq!(told("Spec.tla:16:16 try: relational < to <="), "try uses `<=` where `<` stood in `mine < 2`");
    assert_eq!(told("Spec.tla:9:3 take: drop statement"), "take no longer updates `l`");
    assert_eq!(
        told("Spec.tla:22:7 work: split label"),
        "work is split before `turns := Append(turns, count)`: another process can step in between"
    );
    assert_eq!(
        told("Spec.tla:20:3 work: merge labels"),
        "work is no step of its own: it is done together with what stands before it"
    );
    // A branch belongs to the step of its `either`.
    assert_eq!(told("Spec.tla:27:9 leave: drop branch"), "leave no longer has the branch `skip`");
    assert_eq!(told("Spec.tla:13:18 proc: constant 0 to 1"), "proc uses 1 where 0 stood in `mine = 0`");
    assert_eq!(told("Spec.tla:6:29 Lock: constant 0 to 1"), "Lock uses 1 where 0 stood in `count = 0`");
}

#[test]
fn names_stay_if_definitions_move() {
    // By name: the text that the mutant puts in place of another.
    let named = |source: &str| -> BTreeMap<String, Vec<String>> {
        let texts = |mutant: &Mutant| mutant.edits.iter().map(|edit| edit.text.clone()).collect();
        make_mutants(source, "SPECIFICATION Spec\n").iter().map(|mutant| (mutant.name(), texts(mutant))).collect()
    };
    let blank = TLA.replacen('\n', "\n\\* A comment.\n\n", 1);
    assert_eq!(named(TLA), named(&blank));
    // Two definitions change places.
    let [take, send, next] = ["Take(", "Send(", "Next =="].map(|start| TLA.find(start).unwrap());
    let moved = format!("{}{}{}{}", &TLA[..take], &TLA[send..next], &TLA[take..send], &TLA[next..]);
    assert_ne!(moved, TLA);
    assert_eq!(named(TLA), named(&moved));
    // A second mutant of a kind has a number, and keeps it if another definition gets one.
    assert!(named(TLA).keys().any(|name| name.ends_with(" #2")), "{:?}", named(TLA).keys());
}

#[test]
fn definitions_that_properties_use_are_not_mutated() {
    let definitions =
        |cfg: &str| -> BTreeSet<String> { make_mutants(TLA, cfg).into_iter().map(|m| m.definition).collect() };
    let all = definitions("SPECIFICATION Spec\n");
    assert_eq!(all.into_iter().collect::<Vec<_>>(), ["Init", "Next", "Quorum", "Send", "Spec", "Take"]);
    for cfg in ["PROPERTY Quorum", "\\* WITNESS Quorum", "CONSTRAINT Quorum", "CONSTANT None <- Quorum"] {
        let some = definitions(&format!("SPECIFICATION Spec\n{cfg}\n"));
        assert_eq!(some.into_iter().collect::<Vec<_>>(), ["Init", "Next", "Send", "Spec", "Take"], "{cfg}");
    }
    assert_eq!(definitions("INIT Init\nNEXT Send\n").into_iter().collect::<Vec<_>>(), ["Init", "Send"]);
    assert!(definitions("").is_empty());
}

/// PlusCal refuses such macros, but the mutants are made before the translator reads them.
#[test]
fn macros_that_call_each_other_end_the_search_for_variables() {
    let text = "---- MODULE M ----\n(* --algorithm A {\nvariables x = 0;\nmacro a() { x := 1; b(); }\n\
                macro b() { x := 2; a(); }\nmacro c() { c(); x := 3; }\n{ L: x := 1; b(); c(); M: skip; }\n} *)\n====\n";
    let all = mutants(&Module::parse(text).unwrap(), &Cfg::parse("SPECIFICATION Spec").unwrap());
    assert!(all.iter().any(|mutant| mutant.operator == Operator::DropStatement), "{all:?}");
}

#[test]
fn no_choose_is_made_from_symmetric_values() {
    let source = TLA.replace("lock, state, sent\n", "lock, state, sent, el\n");
    let narrowed = |cfg: &str| -> Vec<String> {
        let all = make_mutants(&source, cfg).into_iter().filter(|mutant| mutant.operator == Operator::NarrowSet);
        all.map(|mutant| mutant.diff(&source)).filter(|diff| diff.contains("CHOOSE")).collect()
    };
    let plain = narrowed(CFG);
    // `el` is taken.
    assert!(!plain.is_empty() && plain.iter().all(|diff| diff.contains("{el2 \\in Procs : el2 # ")), "{plain:?}");
    assert_eq!(narrowed("SPECIFICATION Spec\nSYMMETRY Perms\n"), [""; 0]);
}

#[test]
fn parentheses_are_added_where_the_grammar_needs_them() {
    let source = |guard: &str| {
        format!(
            "---- MODULE Spec ----\nEXTENDS Naturals\nVARIABLES x, y\nInit == x = 0 /\\ y = {{}}\nNext == IF {guard} THEN x' = 1 /\\ y' = y ELSE UNCHANGED <<x, y>>\nSpec == Init /\\ [][Next]_<<x, y>>\n====\n"
        )
    };
    let with = |guard: &str, operator: Operator| -> Vec<String> {
        let changes = changes(&source(guard)).remove(&operator).unwrap_or_default();
        let inside = |change: &str| {
            let new = change.rsplit_once("+Next == IF ").unwrap().1;
            new.split_once(" THEN").unwrap().0.to_owned()
        };
        changes.iter().filter(|change| change.contains("IF")).map(|change| inside(change)).collect()
    };
    assert_eq!(
        with("x \\in y \\cup y \\cup {1}", Operator::SetOperator),
        [
            "x \\in (y \\cap y) \\cup {1}",
            "x \\in (y \\ y) \\cup {1}",
            "x \\in (y \\cup y) \\cap {1}",
            "x \\in (y \\cup y) \\ {1}",
        ]
    );
    assert_eq!(with("x = 2 * x", Operator::Arithmetic), ["x = 2 + x"]);
    assert_eq!(with("x \\div 2 + 2 = 3", Operator::Arithmetic), ["x * 2 + 2 = 3", "x \\div 2 - 2 = 3"]);
    assert_eq!(
        with("x = 1 => x = 2 \\/ x = 3", Operator::Logical),
        ["x = 1 /\\ (x = 2 \\/ x = 3)", "x = 1 => x = 2 /\\ x = 3"]
    );
    assert_eq!(with("~(x = 1)", Operator::NegateGuard), ["(x = 1)"]);
    assert_eq!(with("x = 1 \\/ x = 2", Operator::NegateGuard), ["~(x = 1 \\/ x = 2)"]);
}

/// Whether every edit can be made, and every name stands for one mutant.
fn assert_well_formed(source: &str, all: &[Mutant]) {
    let mut names = BTreeSet::new();
    let mut texts = BTreeSet::from([source.to_owned()]);
    for mutant in all {
        assert!(names.insert(mutant.name()), "{}", mutant.name());
        assert!(texts.insert(mutant.apply(source)), "{} is none of its own", mutant.name());
        let mut end = 0;
        for edit in &mutant.edits {
            assert!(end <= edit.range.start && edit.range.start <= edit.range.end, "{mutant:?}");
            assert!(source.get(edit.range.clone()).is_some(), "{mutant:?}");
            end = edit.range.end;
        }
        assert!(!mutant.diff(source).is_empty());
        assert!(!mutant.what.is_empty() && !mutant.definition.is_empty());
    }
}

fn specifications() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folders = ["exemplars", "evals"].iter().flat_map(|folder| walkdir::WalkDir::new(root.join(folder)));
    let mut found: Vec<PathBuf> = folders
        .map(|entry| entry.unwrap().into_path())
        .filter(|path| path.extension().is_some_and(|x| x == "tla") && path.with_extension("cfg").exists())
        .filter(|path| !path.to_string_lossy().contains("known_bugs"))
        .collect();
    found.sort();
    assert!(found.len() >= 8, "{found:?}");
    found
}

fn read(path: &Path) -> (Module, Cfg) {
    let text = std::fs::read_to_string(path).unwrap();
    let cfg = Cfg::parse(&std::fs::read_to_string(path.with_extension("cfg")).unwrap()).unwrap();
    (Module::parse(&text).unwrap(), cfg)
}

/// Made, translated, and accepted by the static checks.
fn judged(table: &mut BTreeMap<Operator, [usize; 3]>, module: &Module, mutant: &Mutant) {
    let row = table.entry(mutant.operator).or_default();
    row[0] += 1;
    let text = mutant.apply(&module.source);
    let translated = match pluscal::translate(&text, &Options::default()) {
        Ok(translated) => translated.map_or(text, |translated| translated.text),
        Err(errors) => return println!("{}: not translated: {}", mutant.name(), errors[0]),
    };
    row[1] += 1;
    let analysis = analyze(&module.name, &translated, &[]);
    if !analysis.is_accepted() {
        return println!("{}: {:?}", mutant.name(), analysis.errors.first());
    }
    row[2] += 1;
}

#[test]
fn nearly_all_mutants_parse_and_no_property_is_changed() {
    let mut table = BTreeMap::new();
    for path in specifications() {
        let (module, cfg) = read(&path);
        let all = mutants(&module, &cfg);
        assert!(all.len() > 10, "{}: {}", path.display(), all.len());
        assert_well_formed(&module.source, &all);
        let listed = cfg.listed_names().into_iter().filter(|(role, _)| *role != "SPECIFICATION").map(|(_, name)| name);
        let mut protected: BTreeSet<String> = listed.flat_map(|name| module.closure(name)).collect();
        protected.extend(
            cfg.listed_names().into_iter().filter(|(role, _)| *role != "SPECIFICATION").map(|(_, n)| n.to_owned()),
        );
        for mutant in &all {
            judged(&mut table, &module, mutant);
            let mutated = Module::parse(&mutant.apply(&module.source)).unwrap();
            for name in &protected {
                let text = |of: &Module| of.definition(name).map(|definition| definition.text.clone());
                assert_eq!(text(&module), text(&mutated), "{}", mutant.name());
            }
            assert_eq!(module.assumptions.len(), mutated.assumptions.len());
            for (old, new) in module.assumptions.iter().zip(&mutated.assumptions) {
                assert_eq!(old.normalised, new.normalised);
            }
        }
    }
    for source in [P_SYNTAX, C_SYNTAX, TLA] {
        let module = Module::parse(source).unwrap();
        let all = make_mutants(source, CFG);
        assert_well_formed(source, &all);
        for mutant in &all {
            judged(&mut table, &module, mutant);
        }
    }
    println!("{:<16} {:>5} {:>10} {:>8}", "operator", "made", "translates", "analyses");
    for (operator, [made, translates, analyses]) in &table {
        println!("{:<16} {made:>5} {translates:>10} {analyses:>8}", operator.id());
        assert!(analyses * 10 >= made * 6, "{operator}: {analyses} of {made}");
    }
    let sum = |at: usize| table.values().map(|row| row[at]).sum::<usize>();
    println!("{:<16} {:>5} {:>10} {:>8}", "all", sum(0), sum(1), sum(2));
    assert!(sum(2) * 10 >= sum(0) * 9, "{} of {}", sum(2), sum(0));
}

fn texts() -> Vec<(String, String)> {
    let read = |path: PathBuf| {
        let cfg = std::fs::read_to_string(path.with_extension("cfg")).unwrap();
        (std::fs::read_to_string(path).unwrap(), cfg)
    };
    let own = [P_SYNTAX, C_SYNTAX, TLA].map(|source| (source.to_owned(), CFG.to_owned()));
    specifications().into_iter().map(read).chain(own).collect()
}

/// The nearest end of a character at or before that share of a text.
fn place(text: &str, share: usize) -> usize {
    let at = share % (text.len() + 1);
    (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn mutants_of_a_damaged_module_can_be_applied(
        which in 0..100_usize,
        damages in prop::collection::vec((any::<usize>(), 0..60_usize, any::<usize>(), 0..4_u8), 1..4),
    ) {
        let texts = texts();
        let (mut text, cfg) = texts[which % texts.len()].clone();
        for (from, length, to, kind) in damages {
            let start = place(&text, from);
            let end = place(&text, (start + length).min(text.len()));
            let to = place(&text, to);
            let cut = text[start..end].to_owned();
            match kind {
                0 => text.replace_range(start..end, ""),
                1 => text.insert_str(to, &cut),
                2 => text.replace_range(start..end, "\u{2208} /\\ \t"),
                _ => text = text.replace('\n', "\r\n"),
            }
        }
        if let Ok(module) = Module::parse(&text) {
            assert_well_formed(&text, &mutants(&module, &Cfg::parse(&cfg).unwrap()));
        }
    }
}
