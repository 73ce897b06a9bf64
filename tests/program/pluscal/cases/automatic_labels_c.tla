---- MODULE automatic_labels_c ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm NoLabels {
  variables x = 0; y = 0;
  {
    x := 1;
    x := 2;
    y := x;
    while (y > 0) { y := y - 1; };
    x := 3;
  }
} *)
====
