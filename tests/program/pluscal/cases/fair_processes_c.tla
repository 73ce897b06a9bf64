---- MODULE fair_processes_c ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm FairEach {
  variables x = 0;
  fair process (P \in 1..2) { A: x := 1; B: x := 2; }
  fair+ process (Q = 3) { C: x := 1; D: x := 2; }
  process (R = 4) { E: x := 1; }
} *)
====
