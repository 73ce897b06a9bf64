---- MODULE missing_label_after_call ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm B
variables x = 0;
procedure P(a) begin P1: x := a; return; end procedure;
begin
  A: call P(1);
     x := 1;
end algorithm; *)
====
