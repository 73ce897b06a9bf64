---- MODULE while_empty_tail ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm JustWait {
  variable i = 0;
  {
    L: while (i < 1) { skip };
  }
} *)
====
