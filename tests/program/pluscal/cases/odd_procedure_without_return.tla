---- MODULE odd_procedure_without_return ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm B
variables x = 0;
procedure P(a) begin P1: x := a; end procedure;
begin
  A: call P(1);
end algorithm; *)
====
