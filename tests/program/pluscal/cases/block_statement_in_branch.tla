---- MODULE block_statement_in_branch ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm BlocksIn {
  variables x = 0; y = 0;
  {
    A: if (x = 0) { { x := 1; y := 1 }; } else { { y := 2 } };
    B: either { { x := 2; }; } or { y := 3 };
  }
} *)
====
