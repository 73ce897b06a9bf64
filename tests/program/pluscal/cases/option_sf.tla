---- MODULE option_sf ----
EXTENDS Integers, Sequences, FiniteSets, TLC
\* PlusCal options (-sf)
(* --algorithm Sf {
  variables x = 0;
  process (P \in 1..2) { A: x := 1; }
  process (Q = 3) { B: x := 1; }
} *)
====
