---- MODULE odd_two_algorithms_in_one_comment ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm First
variables x = 0;
begin
  A: x := 1;
end algorithm;
--algorithm Second
begin
  B: skip;
end algorithm; *)
====
