---- MODULE assign_function_p ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm Point
variables f = [i \in 1..3 |-> 0], i = 1;
begin
  A: f[i] := f[i] + 1;
     i := i + 1;
  B: f[i] := i;
end algorithm; *)
====
