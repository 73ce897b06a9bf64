---- MODULE fair_without_algorithm ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --fair B
variables x = 0;
begin
  A: x := 1;
end algorithm; *)
====
