---- MODULE process_set_c ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm Set {
  variables x = 0;
  process (P \in 1..3) {
    A: x := x + self;
    B: skip;
  }
} *)
====
