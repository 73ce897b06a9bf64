---- MODULE if_without_parentheses_c ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm B {
  variables x = 0;
  { A: if x = 0 { x := 1; } }
} *)
====
