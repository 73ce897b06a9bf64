---- MODULE fair_without_process ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm B
variables x = 0;
fair begin
  A: x := 1;
end algorithm; *)
====
