---- MODULE odd_call_inside_with ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm B
variables x = 0;
procedure P(a) begin P1: x := a; return; end procedure;
begin
  A: with t \in {1, 2} do call P(t); end with;
end algorithm; *)
====
