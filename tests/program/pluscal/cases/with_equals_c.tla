---- MODULE with_equals_c ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm Let {
  variables x = 0; y = 0;
  { A: with (t = x + 1) { x := t; y := t + t; } }
} *)
====
