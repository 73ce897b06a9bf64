---- MODULE fair_algorithm_c ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --fair algorithm Fair {
  variables x = 0;
  { A: x := 1; B: x := 2; }
} *)
====
