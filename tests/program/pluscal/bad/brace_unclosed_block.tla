---- MODULE brace_unclosed_block ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm B {
  variables x = 0;
  { A: if (x = 0) { x := 1; ;
    B: x := 2; }
} *)
====
