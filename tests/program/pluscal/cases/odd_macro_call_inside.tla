---- MODULE odd_macro_call_inside ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm B {
  variables x = 0;
  macro M(a) { call P(a); }
  procedure P(b) { P1: return; }
  { A: M(1); }
} *)
====
