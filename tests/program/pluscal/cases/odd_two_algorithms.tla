---- MODULE odd_two_algorithms ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm First
variables x = 0;
begin
  A: x := 1;
end algorithm; *)
(* --algorithm Second
variables y = 0;
begin
  B: y := 1;
end algorithm; *)
====
