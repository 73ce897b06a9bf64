---- MODULE assignment_to_undeclared ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm B
variables x = 0;
begin
  A: unknown := 1;
end algorithm; *)
====
