---- MODULE algorithm_without_name ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm
begin
  A: skip;
end algorithm; *)
====
