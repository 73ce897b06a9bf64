---- MODULE procedure_defined_twice ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm B
variables x = 0;
procedure P() begin P1: return; end procedure;
procedure P() begin P2: return; end procedure;
begin
  A: call P();
end algorithm; *)
====
