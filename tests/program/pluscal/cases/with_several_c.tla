---- MODULE with_several_c ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm Several {
  variables x = 0; y = 0;
  {
    A: with (a \in 1..2; b = a + 1, c \in {a, b}) {
         x := a + b;
         y := c;
       }
  }
} *)
====
