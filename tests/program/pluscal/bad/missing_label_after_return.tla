---- MODULE missing_label_after_return ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm B
variables x = 0;
procedure P(a) begin P1: return; x := a; end procedure;
begin
  A: call P(1);
end algorithm; *)
====
