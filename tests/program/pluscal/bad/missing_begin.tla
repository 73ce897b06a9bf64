---- MODULE missing_begin ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm B
variables x = 0;
  A: x := 1;
end algorithm; *)
====
