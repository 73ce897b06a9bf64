---- MODULE multiple_assignment_mixed ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm Mixed
variables f = [i \in 1..3 |-> i], x = 0, r = [a |-> 0, b |-> [c |-> 1]];
begin
  A: f[1] := x || x := f[1] || r.a := 2 || r.b.c := x || f[2] := 9;
end algorithm; *)
====
