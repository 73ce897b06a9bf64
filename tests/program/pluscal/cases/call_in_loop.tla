---- MODULE call_in_loop ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm CallLoop {
  variables n = 0;
  procedure Step(k) variables d = 1; { S1: n := n + d * k; return; }
  {
    L: while (n < 5) {
         call Step(1);
         M: call Step(2);
       }
  }
} *)
====
