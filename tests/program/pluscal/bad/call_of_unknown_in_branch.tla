---- MODULE call_of_unknown_in_branch ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm Unch2 {
  variables a = 0; b = 0;
  process (P \in 1..2)
    variables l = 0;
  {
    A: either { a := 1; B: l := 1; } or { l := 2; if (l = 2) { goto D; } } or { await b = 0; call Q(l); };
    C: b := l;
    D: skip;
  }
} *)
\* no procedure Q: this one is meant to be refused or not, whatever the reference does
====
