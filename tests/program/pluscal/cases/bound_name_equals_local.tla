---- MODULE bound_name_equals_local ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm Bound
variables out = {};
process P \in 1..2
variables k = 0;
begin
  A: out := {k \in {1, 2} : k > 1};
  B: out := {[k |-> k]};
end process;
end algorithm; *)
====
