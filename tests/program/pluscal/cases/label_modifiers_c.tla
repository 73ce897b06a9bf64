---- MODULE label_modifiers_c ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm Modified {
  variables x = 0;
  fair process (P \in 1..2) { A:+ x := 1; B:- x := 2; C: x := 3; }
  fair+ process (Q = 3) { D:- x := 1; E: x := 2; }
} *)
====
