---- MODULE call_with_too_many ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm B
variables x = 0;
procedure P(a) begin P1: return; end procedure;
begin
  A: call P(1, 2);
end algorithm; *)
====
