---- MODULE call_without_parentheses ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm B
variables x = 0;
procedure P() begin P1: return; end procedure;
begin
  A: call P;
end algorithm; *)
====
