---- MODULE multiple_assignment_c ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm Swap {
  variables x = 1; y = 2;
  {
    A: x := y || y := x;
    B: x := x + y;
       y := x;
  }
} *)
====
