---- MODULE either_labels_inside_c ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm Either {
  variables x = 0; y = 0;
  {
    A: either {
         x := 1;
         B: y := 1;
       } or {
         C: x := 2;
       } or {
         await x > 0;
         y := 2;
       };
    D: y := x;
  }
} *)
====
