---- MODULE process_locals ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm Private {
  variable shared = [p \in 1..2 |-> 0];
  process (P \in 1..2)
    variables a = 0; b \in {self, 7}; c = [k \in 1..2 |-> self]; d;
  {
    A: a := a + 1;
       c[a] := b;
    B: shared[self] := a + c[1];
       d := shared;
  }
} *)
====
