---- MODULE while_in_while ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm Nested {
  variables i = 0; j = 0;
  {
    Outer: while (i < 2) {
      j := 0;
      Inner: while (j < 2) {
        j := j + 1;
      };
      Next1: i := i + 1;
    }
  }
} *)
====
