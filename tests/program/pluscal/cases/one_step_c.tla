---- MODULE one_step_c ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm OneStep {
  variable x = 0;
  { Only: x := x + 1 }
} *)
====
