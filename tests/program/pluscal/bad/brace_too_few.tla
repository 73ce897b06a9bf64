---- MODULE brace_too_few ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm B {
  variables x = 0;
  { A: x := 1;
} *)
====
