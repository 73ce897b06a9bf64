---- MODULE if_without_else_many_unchanged ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm Unch {
  variables a = 0; b = 0; c = 0;
  process (P \in 1..2)
    variables l = 0; m = 0;
  {
    A: if (a = 0) { l := 1; } else if (b = 0) { m := 2; c := 1; };
    B: if (l = 1) { C: a := 2; } ;
    D: with (z \in {1, 2}) { if (z = 1) b := z; else m := z; };
  }
} *)
====
