---- MODULE assign_function_two_arguments ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm Grid
variables g = [i \in 1..2, j \in 1..2 |-> 0], h = [i \in 1..2 |-> [j \in 1..2 |-> 0]];
begin
  A: g[1, 2] := 5;
     h[1][2] := g[1, 2];
  B: h[2] := [h[2] EXCEPT ![1] = @ + 1];
end algorithm; *)
====
