---- MODULE if_c ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm Choose {
  variables x \in 0..2; y = 0;
  {
    A: if (x = 0) y := 1;
    B: y := y + 1;
  }
} *)
====
