---- MODULE goto_c ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm Jumps {
  variable x = 0;
  {
    A: x := x + 1;
       goto C;
    B: x := 10;
       goto Done;
    C: if (x < 2) goto A; else goto B;
  }
} *)
====
