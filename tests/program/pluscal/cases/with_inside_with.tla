---- MODULE with_inside_with ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm Inside {
  variables x = 0; y = 0;
  {
    A: with (s \in SUBSET {1, 2}) {
         await s # {};
         with (e \in s) {
           x := e;
           if (x > 1) y := x else y := 0;
         }
       }
  }
} *)
====
