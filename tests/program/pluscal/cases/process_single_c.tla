---- MODULE process_single_c ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm Single {
  variables x = 0;
  process (Left = "left") {
    A: x := 1;
    B: x := 3;
  }
  process (Right = "right") {
    C: x := 2;
  }
} *)
====
