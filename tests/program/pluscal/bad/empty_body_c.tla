---- MODULE empty_body_c ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm B {
  variables x = 0;
  { }
} *)
====
