---- MODULE call_with_too_few ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm B
variables x = 0;
procedure P(a, b) begin P1: return; end procedure;
begin
  A: call P(1);
end algorithm; *)
====
