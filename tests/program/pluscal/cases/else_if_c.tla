---- MODULE else_if_c ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm Chain {
  variables x \in 0..5; y = 0; z = 0;
  {
    A: if (x = 0) y := 1
       else if (x = 1) z := 2
       else if (x = 2) { y := 3; z := 3 }
       else skip;
  }
} *)
====
