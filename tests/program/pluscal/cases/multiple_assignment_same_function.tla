---- MODULE multiple_assignment_same_function ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm SwapIn
variables f = [i \in 1..3 |-> i];
begin
  A: f[1] := f[2] || f[2] := f[1];
  B: f[3] := 0 || f[1] := 1 || f[2] := f[3];
end algorithm; *)
====
