---- MODULE while_with_empty_test ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm B {
  variables x = 0;
  { A: while () { x := 1; } }
} *)
====
