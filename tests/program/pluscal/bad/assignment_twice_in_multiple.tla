---- MODULE assignment_twice_in_multiple ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm B
variables x = 0;
begin
  A: x := 1 || x := 2;
end algorithm; *)
====
