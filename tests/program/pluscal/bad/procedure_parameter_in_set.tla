---- MODULE procedure_parameter_in_set ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm B
variables x = 0;
procedure P(a \in {1, 2}) begin P1: return; end procedure;
begin
  A: call P(1);
end algorithm; *)
====
