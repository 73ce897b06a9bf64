---- MODULE if_labels_inside_c ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm Branches {
  variables x \in 0..2; y = 0;
  {
    A: if (x = 0) {
         y := 1;
         B: y := 2;
       } else if (x = 1) {
         C: y := 3;
         D: y := 4;
       } else {
         y := 5;
       };
    E: y := 6;
  }
} *)
====
