---- MODULE while_c ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm Loop {
  variable i = 0;
  { L: while (i < 5) { i := i + 1; } }
} *)
====
