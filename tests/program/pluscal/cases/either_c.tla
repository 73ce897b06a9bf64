---- MODULE either_c ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm Either {
  variables x = 0; y = 0;
  {
    A: either x := 1; or { x := 2; y := 2; } or skip;
    B: y := x;
  }
} *)
====
