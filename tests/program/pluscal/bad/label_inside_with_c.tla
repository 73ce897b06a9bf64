---- MODULE label_inside_with_c ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm B {
  variables x = 0;
  { A: with (t \in {1, 2}) { C: x := t; } }
} *)
====
