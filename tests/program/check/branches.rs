//! The branches of an action that no reachable step takes: which are listed, and where.

use crate::support::Bench;
use crate::support::checking::{bench_with, put};
use serde_json::Value;

/// Each branch that is never taken as `action:line kind name`. Both checkers have to give the same list.
#[track_caller]
fn never_taken(bench: &Bench) -> Vec<String> {
    let done = bench.run(&["check", "M.tla", "--checker", "both", "--format", "json"]).expect(0);
    let value: Value = serde_json::from_str(&done.stdout).expect("an object");
    let list = |value: &Value| -> Vec<String> {
        let words = |branch: &Value, field: &str| branch[field].as_str().unwrap_or_default().to_owned();
        let all = value["branches"]["never_taken"].as_array().into_iter().flatten();
        all.map(|b| format!("{}:{} {} {}", words(b, "action"), b["place"]["line"], words(b, "kind"), words(b, "name")))
            .collect()
    };
    let second = &value["second_check"];
    assert_eq!((value["checker"].as_str(), second["checker"].as_str()), (Some("tlc"), Some("embedded")));
    assert_eq!(value["branches"], second["branches"]);
    list(&value)
}

const BANK: &str = "---- MODULE Bank ----
EXTENDS Naturals
CONSTANT Procs
(* --algorithm Bank
variables total = 0, nobody = {}, mode = \"on\";
macro burn(n) begin
  await total > n;
  total := total - 1;
end macro;
process Client \\in Procs
variable mine = 0;
begin
Act:
  while TRUE do
    either \\* mint
      await total < 2;
      total := total + 1;
    or
      burn(0);
    or
      burn(7); mine := 0;
    or
      await total > 5; \\* far
      total := 0;
    or
      with x \\in nobody do
        total := x;
      end with;
    or
      if total > 7 then
        either mine := 1 or mine := 2 end either;
      elsif total = 1 then
        either mine := 2
        or await mine = 9; mine := 3;
        end either;
      else
        skip;
      end if;
    or
      if total < 7 then
        mine := 0;
      end if;
    or
      if total < 9 then mine := 1; else mine := 4; end if;
    end either;
  end while;
end process;
process Watch = \"w\"
begin
Look:
  await mode = \"off\";
  either mode := \"on\" or mode := \"off\" end either;
Wait:
  while total > 0 do skip; end while;
  goto Look;
end process;
end algorithm; *)
====
";

#[test]
fn branches_of_an_algorithm_are_named_with_the_line_of_their_first_statement() {
    let bench = bench_with(BANK, "SPECIFICATION Spec\nCONSTANT Procs = {p, q}\n");
    // Not listed: what is inside of these, the `else` with `skip`, the missing `else`, the branches of the action
    // `Look` and of what follows it, and the statements of `burn`, which the first call takes.
    let expected = [
        "Act:21 either burn",
        "Act:23 either await total > 5",
        "Act:26 either with x \\in nobody do",
        "Act:31 then either mine := 1 or mine := 2 end either",
        "Act:34 either await mine = 9",
        "Act:44 else mine := 4",
    ];
    assert_eq!(never_taken(&bench), expected);
    bench.run(&["check", "M.tla", "--checker", "embedded"]).expect(0).prints(&[
        "- Look: 0  NEVER TAKEN\n",
        "\n## Branches that are never taken\n\n- Act, line 21: burn (alternative of `either`)\n",
        "- Act, line 44: mine := 4 (`else`)\n",
    ]);
}

#[test]
fn an_algorithm_in_braces_has_the_same_branches() {
    let module = "---- MODULE M ----
EXTENDS Naturals
(* --algorithm M {
variables x = 0, y = 0;
{
A: while (x < 3) {
     either { x := x + 1; } or { await x > 9; (* reset *) x := 0; } or { (* skip it *) await y = 1; x := 3; };
     if (y = 5) { y := 0; } else y := y;
   };
B: while (y > 3) { y := y - 1; };
} } *)
====
";
    let bench = bench_with(module, "SPECIFICATION Spec\n");
    assert_eq!(
        never_taken(&bench),
        ["A:7 either await x > 9", "A:7 either skip it", "A:8 then y := 0", "B:10 loop y := y - 1"]
    );
    // A file that contains its translation gives the lines of the algorithm, too.
    bench.run(&["translate", "M.tla", "--in-place"]).expect(0);
    let translated = std::fs::read_to_string(bench.path("M.tla")).unwrap();
    assert!(translated.contains("BEGIN TRANSLATION"), "{translated}");
    assert_eq!(never_taken(&bench).len(), 4);
}

#[test]
fn alternatives_without_expressions_are_found_by_their_order() {
    let module = "---- MODULE M ----
EXTENDS Naturals
(* --algorithm M
variables x = 0, y = 0;
macro up() begin
  await x < 2; x := x + 1;
end macro;
macro never() begin
  await x > 7; x := 0;
end macro;
begin
A: either skip; or goto C; end either;
D: y := 1;
B: either up(); or never(); end either;
E: if x = 1 then either never(); or skip; end either; end if;
C: skip;
end algorithm; *)
====
";
    let bench = bench_with(module, "SPECIFICATION Spec\n");
    assert_eq!(never_taken(&bench), ["B:14 either never", "E:15 either never"]);
}

#[test]
fn disjuncts_and_conditionals_inside_an_action_are_branches() {
    let module = "---- MODULE M ----
EXTENDS Naturals
CONSTANT P
VARIABLES x, msgs, owner
vars == <<x, msgs, owner>>
Send(m) == \\/ /\\ m \\notin msgs
              /\\ msgs' = msgs \\cup {m}
           \\/ /\\ m = 17
              /\\ \\/ msgs' = {} \\/ msgs' = {1}
Inc == /\\ x < 3
       /\\ IF x > 5
            THEN x' = 0
            ELSE x' = x + 1
       /\\ Send(x)
       /\\ UNCHANGED owner
Receive(m) == /\\ m \\in msgs
              /\\ \\/ /\\ m > 40 /\\ owner' = owner
                 \\/ m < 3 /\\ owner' = owner
              /\\ x' = x /\\ msgs' = msgs \\ {m}
Dead == /\\ x > 10
        /\\ \\/ x' = 1
           \\/ x' = 2
        /\\ UNCHANGED <<msgs, owner>>
Cond == /\\ x = 1 \\/ x = 99
        /\\ owner' \\in P
        /\\ IF x = 1 THEN UNCHANGED <<x, msgs>> ELSE UNCHANGED <<msgs, x>>
Init == x = 0 /\\ msgs = {} /\\ owner \\in P
Next == Inc \\/ Dead \\/ Cond \\/ (\\E m \\in msgs : Receive(m))
Spec == Init /\\ [][Next]_vars
Small == x < 2
Sym == {[p \\in P |-> p]}
====
";
    let cfg = "SPECIFICATION Spec\nCONSTANT P = {a, b}\nCHECK_DEADLOCK FALSE\n";
    let bench = bench_with(module, cfg);
    let expected = ["Inc:12 then x' = 0", "Inc:8 disjunct m = 17", "Next:17 disjunct m > 40 /\\ owner' = owner"];
    assert_eq!(never_taken(&bench), expected);
    // In the states that a constraint cuts off, nothing is taken.
    put(&bench, &module.replace("x > 5", "x = 2"), &format!("{cfg}CONSTRAINT Small\n"));
    assert_eq!(never_taken(&bench), expected);
    put(&bench, &module.replace("x > 5", "x = 2"), cfg);
    assert_eq!(never_taken(&bench), expected[1..]);
}

#[test]
fn what_is_not_decided_is_said() {
    let module = "---- MODULE M ----
EXTENDS Naturals
VARIABLES x, y
Act == /\\ x' = 1 - x
       /\\ \\/ y' = 0
          \\/ y = 7 /\\ y' = 1
Init == x = 0 /\\ y = 0
Spec == Init /\\ [][Act]_<<x, y>>
Shown == <<x, y>>
Same == y' = y
====
";
    let undecided = |bench: &Bench, checker: &str, why: &str| {
        let done = bench.run(&["check", "M.tla", "--checker", checker]).expect(0);
        let done = done.prints(&[&format!("which branches are never taken was not decided: {why}\n")]);
        assert!(!done.stdout.contains("## Branches"), "{}", done.stdout);
    };
    let bench = bench_with(module, "SPECIFICATION Spec\nVIEW Shown\n");
    undecided(&bench, "tlc", "the configuration has a VIEW");
    undecided(&bench, "embedded", "the configuration has a VIEW");
    put(&bench, module, "SPECIFICATION Spec\nACTION_CONSTRAINT Same\n");
    undecided(&bench, "tlc", "an action constraint decides which steps are taken");
    let many = (0..101).fold(String::new(), |all, n| all + &format!("\n          \\/ y = 7 /\\ y' = {n}"));
    put(&bench, &module.replace("\n          \\/ y = 7 /\\ y' = 1", &many), "SPECIFICATION Spec\n");
    undecided(&bench, "embedded", "there are more than 100");
    // A violation ends the search.
    put(&bench, &module.replace("Shown == <<x, y>>", "Shown == x = 0"), "SPECIFICATION Spec\nINVARIANT Shown\n");
    let done = bench.run(&["check", "M.tla", "--checker", "tlc"]).expect(1);
    assert!(!done.stdout.contains("ranches"), "{}", done.stdout);
}

/// The actions of the counterexample with their branches, by either checker, without their lines.
#[track_caller]
fn steps(bench: &Bench, checker: &str) -> Vec<String> {
    let done = bench.run(&["check", "M.tla", "--checker", checker]).expect(1);
    let heads = done.stdout.lines().filter_map(|line| {
        let (number, action) = line.trim_start().split_once("  ")?;
        let (action, _) = action.split_once("  M.tla:").unwrap_or((action, ""));
        number.parse::<usize>().ok().map(|_| action.to_owned())
    });
    heads.collect()
}

#[test]
fn a_step_of_a_counterexample_names_its_branch() {
    let ended = BANK.replace(
        "end algorithm; *)\n",
        "end algorithm; *)\n\\* BEGIN TRANSLATION\n\\* END TRANSLATION\nNever == ~(total = 1 /\\ mine[\"p\"] = 2)\n",
    );
    let bench = bench_with(&ended, "SPECIFICATION Spec\nCONSTANT Procs = {\"p\"}\nINVARIANT Never\n");
    for checker in ["tlc", "embedded"] {
        assert_eq!(steps(&bench, checker), ["initial state", "Act(\"p\"): mint", "Act(\"p\"): total = 1"], "{checker}");
    }
    // With one label the alternatives of its `either` are actions themselves.
    let single = "---- MODULE M ----
EXTENDS Naturals
(* --algorithm M
variables x = 0;
begin
Act:
  while TRUE do
    either x := x + 1; \\* one
    or \\* two at once
       await x > 0; x := x + 2;
    or await x = 3; x := 3 + 0;
    or await x = 3; x := 4 - 1;
    end either;
  end while;
end algorithm; *)
\\* BEGIN TRANSLATION
\\* END TRANSLATION
Small == x # 3
====
";
    put(&bench, single, "SPECIFICATION Spec\nINVARIANT Small\n");
    for checker in ["tlc", "embedded"] {
        assert_eq!(steps(&bench, checker), ["initial state", "Next: x := x + 1", "Next: two at once"], "{checker}");
    }
}

/// An `else` that begins with another choice has no name of its own.
#[test]
fn a_step_is_named_after_the_choice_inside_of_a_branch_that_begins_with_one() {
    let module = "---- MODULE M ----
EXTENDS Naturals
(* --algorithm M
variables x = 0, seen = FALSE, late = 0;
begin
Look:
  while x < 9 do
    if x = 7 then
      seen := TRUE;
    else
      with old = x, more = 1 do
        either \\* found
          await old > 0; x := old + 2;
        or \\* missing
          await old = 0; x := more;
        end either;
      end with;
    end if;
    if x > 5 then late := 1; end if;
  end while;
end algorithm; *)
\\* BEGIN TRANSLATION
\\* END TRANSLATION
Small == x < 5
====
";
    let bench = bench_with(module, "SPECIFICATION Spec\nINVARIANT Small\n");
    for checker in ["tlc", "embedded"] {
        assert_eq!(
            steps(&bench, checker),
            ["initial state", "Look: missing", "Look: found", "Look: found"],
            "{checker}"
        );
    }
}

#[test]
fn a_step_that_two_branches_explain_names_none() {
    let module = "---- MODULE M ----
EXTENDS Naturals
VARIABLES x, y
Act == /\\ x' = x + 1
       /\\ \\/ y' = 0
          \\/ x = 1 /\\ y' = 1
          \\/ x >= 1 /\\ y' = x
Init == x = 0 /\\ y = 7
Spec == Init /\\ [][Act]_<<x, y>>
Inv == y # 1 /\\ y # 2
First == y # 0
====
";
    let bench = bench_with(module, "SPECIFICATION Spec\nINVARIANT First\n");
    for checker in ["tlc", "embedded"] {
        assert_eq!(steps(&bench, checker), ["initial state", "Act: y' = 0"], "{checker}");
    }
    put(&bench, module, "SPECIFICATION Spec\nINVARIANT Inv\n");
    for checker in ["tlc", "embedded"] {
        assert_eq!(steps(&bench, checker), ["initial state", "Act: y' = 0", "Act"], "{checker}");
    }
}
