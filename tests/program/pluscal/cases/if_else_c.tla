---- MODULE if_else_c ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm Choose {
  variables x \in 0..2; y = 0; z = 0;
  {
    A: if (x = 0) { y := 1; } else { z := 1; };
    B: y := y + 1;
  }
} *)
====
