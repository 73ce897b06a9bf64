---- MODULE missing_label_first_of_procedure ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm B
variables x = 0;
procedure P(a) begin x := a; R: return; end procedure;
begin
  A: call P(1);
end algorithm; *)
====
