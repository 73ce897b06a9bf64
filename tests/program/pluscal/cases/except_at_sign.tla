---- MODULE except_at_sign ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm At
variables f = [i \in 1..2 |-> [n |-> 0]];
begin
  A: f := [f EXCEPT ![1].n = @ + 1, ![2] = [n |-> 5]];
  B: f[1].n := f[1].n + 1;
end algorithm; *)
====
