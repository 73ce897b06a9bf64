---- MODULE fair_algorithm_p ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --fair algorithm Fair
variables x = 0;
begin
  A: x := 1;
  B: x := 2;
end algorithm; *)
====
