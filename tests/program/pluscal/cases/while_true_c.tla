---- MODULE while_true_c ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm Forever {
  variable i = 0;
  { L: while (TRUE) { i := (i + 1) % 3; } }
} *)
====
