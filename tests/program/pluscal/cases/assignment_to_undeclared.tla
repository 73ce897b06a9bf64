---- MODULE assignment_to_undeclared ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm Undeclared
variables x = 0;
begin
  A: x := outside;
end algorithm; *)
outside == 3
====
