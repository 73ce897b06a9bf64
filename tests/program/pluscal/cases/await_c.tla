---- MODULE await_c ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm Wait {
  variables x = 0;
  {
    A: await x = 0;
       x := 1;
    B: when (x = 1);
       x := 2;
    C: x := 3;
       await x > 2;
  }
} *)
====
