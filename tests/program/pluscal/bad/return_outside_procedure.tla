---- MODULE return_outside_procedure ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm B
variables x = 0;
begin
  A: return;
end algorithm; *)
====
