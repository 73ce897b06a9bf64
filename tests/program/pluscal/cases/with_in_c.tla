---- MODULE with_in_c ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm Pick {
  variables x = 0; seen = {};
  {
    A: with (t \in (1..4) \ seen) {
         x := t;
         seen := seen \cup {t};
       };
    B: skip;
  }
} *)
====
