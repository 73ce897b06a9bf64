---- MODULE empty_statement_lists ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm Blocks {
  variables x = 0;
  {
    A: { x := 1; };
    B: { { x := 2 }; C: { x := 3; } };
  }
} *)
====
