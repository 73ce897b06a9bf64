---- MODULE odd_brace_too_many ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm B {
  variables x = 0;
  { A: x := 1; } }
} *)
====
